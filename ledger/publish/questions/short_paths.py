"""What nets trained on short paths answer by distance, and the least depth that connects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from depthlaw.advisor.laws import layers_for_diameter, reach
from depthlaw.theory.claims.values import Ball

from ..drawing.panels import (
    Found,
    Panel,
    Rows,
    Series,
    curves,
    middles,
    over_seeds,
    rows,
    same_scale,
    split,
    spread,
    stated,
    upright,
)
from .question import keys, question
from .walls import LAYERS

_ON_PATHS = keys("trained_depth", "connectivity_within connectivity_far")
_PAIRS = ("distance of the connected pair", "share of choices right")


def _of_largest(results: Found, *keys: str) -> Rows:
    """What is recorded on the largest graphs."""
    every = rows(results, *keys)
    largest = max(((case.vertices, case.diameter) for case, _ in every), default=None)
    return [row for row in every if (row[0].vertices, row[0].diameter) == largest]


def in_words(depth: Ball, tried: int) -> str:
    """A least depth: one, two or several, or more than was tried.

    >>> in_words(Ball(3, 4), 4), in_words(Ball(5, 5), 4)
    ('3 or 4', 'more than 4')
    """
    low, high = int(depth.low), int(depth.high)
    if high > tried:
        return f"more than {tried}" if low > tried else f"{low} or more"
    return str(low) if low == high else f"{low} {'or' if high == low + 1 else 'to'} {high}"


def _worst_say(results: Found) -> Iterator[str]:
    part = split(_of_largest(results, *_ON_PATHS), "depth")
    least = [f"{min(middles(own)):.0%} ({LAYERS[layers]})" for (layers,), own in part]
    if least:
        yield f"At their worst distance nets are right on {', '.join(least)}.".replace("%", " %")


@question("short-paths", says=_worst_say)
def _short_paths(results: Found) -> Iterator[Panel]:
    for (net,), part in split(_of_largest(results, *_ON_PATHS), "net"):
        walls = [
            upright(f"3^{layers} = {reach(layers)}", reach(layers), 0.5, 1.0, f"L = {layers}")
            for (layers,), _ in split(part, "depth")
        ]
        lines = curves(part, "distance", "depth", "L = {}".format)
        yield Panel(f"Trained, {net}", *_PAIRS, (*lines, *walls))


def _radii(nearest: Rows) -> dict[int, tuple[int, int]]:
    """By layers the radii of the rules that come nearest to a net, from the least to the most."""
    ends = {
        layers: [int(end) for _, v in own if isinstance(v, Ball) for end in (v.low, v.high)]
        for (layers,), own in split(nearest, "depth")
    }
    return {layers: (min(of), max(of)) for layers, of in ends.items() if of}


def _nearest_say(results: Found) -> Iterator[str]:
    radii = _radii(_of_largest(results, "trained_depth/local_baseline"))
    listed = [f"{spread(ends, 'd')} ({LAYERS[layers]})" for layers, ends in radii.items()]
    if listed:
        yield f"Trained nets answer most nearly as rules of radius {', '.join(listed)}."


@question("local-baseline", says=_nearest_say)
def _local_baseline(results: Found) -> Iterator[Panel]:
    misses = _of_largest(results, "trained_depth/local_baseline_misses")
    radii = _radii(_of_largest(results, "trained_depth/local_baseline"))

    def drawn() -> Iterator[Panel]:
        for (layers,), part in split(_of_largest(results, *_ON_PATHS), "depth"):
            low, high = radii.get(layers, (0, 0))
            near = [row for row in misses if low <= row[0].radius <= high]
            own = [row for row in misses if row[0].radius == reach(layers)]
            rules = curves(near, "distance", "radius", "local baseline, radius {}".format)
            yield Panel(
                f"L = {layers}, 3^L = {reach(layers)}",
                *_PAIRS,
                (
                    *curves(part, "distance", "net"),
                    *over_seeds(f"radius {spread((low, high), 'd')}", rules),
                    *curves(own, "distance", "radius", "radius {}".format),
                ),
            )

    yield from same_scale(drawn())


def least_depths(part: Rows, x: str, name: str, series: tuple[Series, ...], law: Any) -> Panel:
    """Least depths of the median seed beside a law."""
    there = sorted({case.get(x) for case, _ in part})
    label, layers = law
    return Panel(
        "Least depth by the median seed",
        name,
        "layers (one more than tried: beyond)",
        (*series, stated(label, {n: layers(n) for n in there})),
        x_scale="log",
    )


def _least_depth_says(results: Found) -> Iterator[str]:
    """Of the largest distance."""
    part = rows(results, "trained_depth/connectivity_least_depth", seeds="median")
    for (most,), own in [*split(part, "diameter")][-1:]:
        nets = (
            f"{in_words(value, case.tried)} layers ({case.net})"
            for case, value in sorted(own, key=lambda row: str(row[0].net))
            if isinstance(value, Ball)
        )
        yield f"All pairs up to distance {most} take {', '.join(nets)}, by the median seed."


@question("least-depth", says=_least_depth_says)
def _least_depth(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_depth/connectivity_least_depth", seeds="median")
    lines = curves(part, "diameter", "net")
    law = ("ceil(log_3 D)", layers_for_diameter)
    yield least_depths(part, "diameter", "largest distance D", lines, law)
