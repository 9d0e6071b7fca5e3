"""How far nets trained on cycles see in one row of attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from depthlaw.advisor.laws import reach
from depthlaw.theory.claims.values import Ball

from ..drawing.panels import (
    Found,
    Panel,
    Rows,
    curve,
    curves,
    middles,
    over_seeds,
    rows,
    split,
    spread,
    stated,
    upright,
)
from .question import keys, question

_ON_ROWS = keys("trained_depth", "wall_within wall_beyond")
LAYERS = {1: "one layer", 2: "two layers", 3: "three layers"}


def _longest(part: Rows) -> Rows:
    most = max((case.updates for case, _ in part), default=0)
    return [row for row in part if row[0].updates == most]


_AGAINST = {"row": "against distance 14", "other": "against unconnected"}
_MEDIAN = "median seed"
# More than this share is above what `wall_beyond` calls chance.
_CHANCE = Fraction(55, 100)


def _walls_say(results: Found) -> Iterator[str]:
    """How many nets of a number of layers see 3^L, and whether one sees farther: surely no more
    than `_CHANCE`."""
    for (layers,), part in split(rows(results, *_ON_ROWS, asked="row"), "depth"):
        longest, last = _longest(part), reach(layers)
        nets: dict[tuple[Any, ...], dict[int, Ball]] = {}
        for case, value in longest:
            if isinstance(value, Ball):
                nets.setdefault((case.net, case.first), {})[case.distance] = value
        if not all(last in of_net and last + 1 in of_net for of_net in nets.values()):
            continue
        seen = [of_net[last] for of_net in nets.values() if of_net[last].low > _CHANCE]
        blind = sum(
            all(share.high <= _CHANCE for at, share in of_net.items() if at > last)
            for of_net in nets.values()
        )
        farthest = max(at for of_net in nets.values() for at in of_net)
        many = len(seen) > 1
        yield (
            f"After {longest[0][0].updates:,} updates {len(seen)} of {len(nets)} nets of "
            f"{LAYERS[layers]} {'see' if many else 'sees'} distance {last}."
        )
        if seen:
            worst = min(float(ball.low + ball.high) / 2 for ball in seen)
            right = f"{'They are' if many else 'It is'} right on more than 55 % of the questions"
            yield f"{right}, the worst of them on {100 * worst:.0f} %."
        them = f"all {len(nets)}" if blind == len(nets) else f"{blind} of the {len(nets)}"
        around = longest[0][0].around
        yield (
            f"At distances {last + 1} to {farthest} {them} are right on at most 55 %, and a coin "
            f"on 50 %; in training, on cycles of {around}, nothing lay farther than {around // 2}."
        )


@question("walls", says=_walls_say)
def _walls(results: Found) -> Iterator[Panel]:
    for (layers, net), part in split(rows(results, *_ON_ROWS, asked="row"), "depth", "net"):
        longest = _longest(part)
        updates = longest[0][0].updates
        places = sorted({case.distance for case, _ in longest})
        # Both are exact: connectivity/reach and cycles_look_alike.
        exact = {at: 1.0 if at <= reach(layers) else 0.5 for at in places}
        yield Panel(
            f"L = {layers}, {net}, {updates:,} updates",
            "distance in a cycle of 28 to 40",
            "share of right answers",
            (
                *over_seeds(_MEDIAN, curves(longest, "distance", "first", "seed {}".format)),
                stated("radius 3^L", exact),
                stated("95 %", {places[0]: 0.95, places[-1]: 0.95}),
                upright("3^L", reach(layers), 0.45, 1.0),
            ),
        )


def _third_layer_says(results: Found) -> Iterator[str]:
    """The best and the worst answers at the greatest distance."""
    third = rows(results, "trained_depth/third_layer_passes")
    farthest = max((case.distance for case, _ in third), default=0)
    shares = middles([row for row in third if row[0].distance == farthest])
    if shares:
        nets = f"At distance {farthest} nets of {LAYERS[third[0][0].depth]} are right on"
        yield f"{nets} {spread(shares, '.0%')} of the questions."


@question("third-layer", says=_third_layer_says)
def _third_layer(results: Found) -> Iterator[Panel]:
    third = rows(results, "trained_depth/third_layer_passes")
    if third:
        places = sorted({case.distance for case, _ in third})
        lines = [
            replace(line, label=f"{net}, {_AGAINST[asked]}")
            for (net, asked), part in split(third, "net", "asked")
            for line in curves(part, "distance", "depth", str)
        ]
        yield Panel(
            f"L = 3, {third[0][0].updates:,} updates",
            "distance in a cycle of 28 to 40",
            "share of right answers",
            (*lines, stated("95 %", {places[0]: 0.95, places[-1]: 0.95})),
        )


def _reach_says(results: Found) -> Iterator[str]:
    """The first and the last number of updates of each kind of net."""
    for (net, layers), part in split(
        rows(results, "trained_depth/wall_by_updates"), "net", "depth"
    ):
        line = curve("", {case.updates: value for case, value in part})
        if line and len(line.x) > 1:
            first, last = (f"{line.y[n]:.1f}" for n in (0, -1))
            see = f"{LAYERS[layers].capitalize()} ({net}) see{'s' if layers == 1 else ''}"
            then = f"updates and {last} after {line.x[-1]:,}"
            yield f"{see} {first} steps after {line.x[0]:,} {then}."


@question("wall-by-updates", says=_reach_says)
def _wall_by_updates(results: Found) -> Iterator[Panel]:
    for (net,), part in split(rows(results, "trained_depth/wall_by_updates"), "net"):
        ends = [case.updates for case, _ in part]
        walls = [
            stated(f"3^{L}", dict.fromkeys((min(ends), max(ends)), reach(L)), f"L = {L}")
            for (L,), _ in split(part, "depth")
        ]
        yield Panel(
            str(net),
            "updates",
            "reach in a row",
            (*curves(part, "updates", "depth", "L = {}".format), *walls),
            x_scale="log",
        )
