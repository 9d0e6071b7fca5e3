"""What pages, the appendix and `depthlaw exercise` show of what was measured: for each question the
claims that answer it, and its picture, whose numbers stand in tables below."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from typing import Any

from depthlaw.advisor.laws import layers_for_diameter, layers_for_hops, reach
from depthlaw.advisor.rules import rule
from depthlaw.empirics.depth_width.by_updates import SIZE, points
from depthlaw.empirics.depth_width.fits import optimum
from depthlaw.empirics.depth_width.fixed_budgets import times_smaller_in_all
from depthlaw.empirics.exercises import (
    depth_ablation,
    gradient_flow,
    initial_scales,
    layer_probing,
    remove_layer,
)
from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.empirics.trained_rank.ranks_in_training import ATTENTIONS
from depthlaw.theory.claims.definition import Case, at, find
from depthlaw.theory.claims.rounding import LEVEL
from depthlaw.theory.claims.values import Ball, Exact, Measured, Outside, Proportion, Sample
from depthlaw.theory.claims.verdict import judge
from depthlaw.theory.separation_rank.dimension_count import dimension_count

from .drawing.panels import (
    Found,
    Panel,
    Rows,
    Series,
    Table,
    curve,
    curves,
    named,
    over_seeds,
    rows,
    split,
    stated,
    upright,
)
from .printed_intervals import CONFIDENCE

Drawn = Callable[[Found], Iterable[Panel]]
Said = Callable[[Found], Iterable[str]]


@dataclass(frozen=True)
class PageQuestion:
    """What is shown of a few claims, all from what is recorded of them: a page shows the picture
    where it says `<!-- measured: NAME -->`, and numbers and verdicts at `<!-- numbers: NAME -->`.

    Attributes:
        title: of its picture, in one line.
        claims: keys of the claims that measure it.
        drawn: the picture.
        beside: keys of further claims that it shows numbers of, whose verdicts stand elsewhere.
        table: what no picture shows.
        says: sentences that state what was found, with its numbers.
        below: how its bands and lines are read, where that is not what `page_blocks` says of all.
    """

    title: str
    claims: tuple[str, ...]
    drawn: Drawn
    beside: tuple[str, ...] = ()
    table: Callable[[Found], Table] | None = None
    says: Said = lambda _: ()
    below: str = ""

    def panels(self, results: Found) -> tuple[Panel, ...]:
        """The picture; partial records leave some panels with nothing but what a theory says, which
        are left out."""
        return tuple(
            panel
            for panel in self.drawn(results)
            if any(series.kind != "reference" for series in panel.series)
        )


QUESTIONS: dict[str, PageQuestion] = {}
# Title, `claims`, `beside` and `below` of every question.
_LISTED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], str]] = {
    name: (
        row["title"],
        tuple(row.get("claims", ())),
        tuple(row.get("beside", ())),
        row.get("below", "").replace("CONFIDENCE", CONFIDENCE),
    )
    for name, row in tomllib.loads(
        (files(__package__) / "questions.toml").read_text(encoding="utf-8")
    ).items()
} | {name: (exercise.title, exercise.claims, (), "") for name, exercise in exercises().items()}


def _shows(
    name: str, table: Callable[[Found], Table] | None = None, says: Said = lambda _: ()
) -> Callable[[Drawn], Drawn]:
    def keep(drawn: Drawn) -> Drawn:
        title, claims, beside, below = _LISTED[name]
        QUESTIONS[name] = PageQuestion(title, claims, drawn, beside, table, says, below)
        return drawn

    return keep


def _keys(topic: str, names: str) -> tuple[str, ...]:
    return tuple(f"{topic}/{name}" for name in names.split())


# --- cycles ---------------------------------------------------------------------------------------

_ON_ROWS = _keys("trained_depth", "wall_within wall_beyond")
_LAYERS = {1: "one layer", 2: "two layers", 3: "three layers"}


def _longest(part: Rows) -> Rows:
    most = max((case.updates for case, _ in part), default=0)
    return [row for row in part if row[0].updates == most]


_AGAINST = {"row": "against distance 14", "other": "against unconnected"}
_MEDIAN = "median of the seeds"
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
            f"{_LAYERS[layers]} {'see' if many else 'sees'} distance {last}"
            + (
                f": {'they are' if many else 'it is'} right on more than 55 % of the questions, "
                f"the worst of them on {100 * min(map(_centre, seen)):.0f} %."
                if seen
                else "."
            )
        )
        them = f"all {len(nets)}" if blind == len(nets) else f"{blind} of the {len(nets)}"
        around = longest[0][0].around
        yield (
            f"At distances {last + 1} to {farthest} {them} are right on at most 55 %, and a coin "
            f"on 50 %; in training, on cycles of {around}, nothing lay farther than {around // 2}."
        )


def _centre(ball: Ball) -> float:
    return float(ball.low + ball.high) / 2


@_shows("walls", says=_walls_say)
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
                stated("explicit weights; rule of radius 3^L", exact),
                stated("95 %", {places[0]: 0.95, places[-1]: 0.95}),
                upright("3^L", reach(layers), 0.45, 1.0),
            ),
        )
    third = rows(results, "trained_depth/third_layer_passes")
    if third:
        places = sorted({case.distance for case, _ in third})
        lines = [
            replace(line, label=f"{net}, {_AGAINST[asked]}")
            for (net, asked), part in split(third, "net", "asked")
            for line in curves(part, "distance", "depth", str)
        ]
        yield Panel(
            f"L = 3, {third[0][0].updates:,} updates, from 10 on",
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
            yield (
                f"{_LAYERS[layers].capitalize()} ({net}) see"
                f"{'s' * (layers == 1)} {line.y[0]:.1f} steps after {line.x[0]:,} updates and "
                f"{line.y[-1]:.1f} after {line.x[-1]:,}."
            )


@_shows("wall-by-updates", says=_reach_says)
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


# --- short paths ----------------------------------------------------------------------------------

_ON_PATHS = _keys("trained_depth", "connectivity_within connectivity_far")
_PAIRS = ("distance of the connected pair", "share of choices right")


def _of_largest(results: Found, *keys: str) -> Rows:
    """What is recorded on the largest graphs."""
    every = rows(results, *keys)
    largest = max(((case.vertices, case.diameter) for case, _ in every), default=None)
    return [row for row in every if (row[0].vertices, row[0].diameter) == largest]


@_shows("short-paths")
def _short_paths(results: Found) -> Iterator[Panel]:
    for (net,), part in split(_of_largest(results, *_ON_PATHS), "net"):
        walls = [
            upright(f"3^{layers} = {reach(layers)}", reach(layers), 0.5, 1.0, f"L = {layers}")
            for (layers,), _ in split(part, "depth")
        ]
        lines = curves(part, "distance", "depth", "L = {}".format)
        yield Panel(f"Trained, {net}", *_PAIRS, (*lines, *walls))


@_shows("local-baseline")
def _local_baseline(results: Found) -> Iterator[Panel]:
    misses = _of_largest(results, "trained_depth/local_baseline_misses")
    nearest = _of_largest(results, "trained_depth/local_baseline")
    for (layers,), part in split(_of_largest(results, *_ON_PATHS), "depth"):
        radii = {reach(layers)} | {
            int(end)
            for case, value in nearest
            if case.depth == layers and isinstance(value, Ball)
            for end in (value.low, value.high)
        }
        rules = [row for row in misses if row[0].radius in radii]
        yield Panel(
            f"L = {layers}, 3^L = {reach(layers)}",
            *_PAIRS,
            (
                *curves(part, "distance", "net", "trained, {}".format, "points"),
                *curves(rules, "distance", "radius", "local baseline, radius {}".format),
            ),
        )


def _least(part: Rows, x: str, name: str, series: tuple[Series, ...], law: Any) -> Panel:
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


@_shows("least-depth")
def _least_depth(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_depth/connectivity_least_depth", seeds="median")
    lines = curves(part, "diameter", "net", "trained, {}".format)
    law = ("ceil(log_3 D)", layers_for_diameter)
    yield _least(part, "diameter", "largest distance D", lines, law)


# --- hops -----------------------------------------------------------------------------------------

_HOPS = _keys("trained_depth", "hops_enough hops_needed")


@_shows("hops")
def _hops(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_depth/hops_by_depth", task="hop_k")
    depths = sorted({case.depth for case, _ in part}) or [1]
    lines = curves(
        part, "depth", "hops", lambda k: f"k = {k}, expected at L = {layers_for_hops(k)}"
    )
    bar = stated("95 %", {depths[0]: 0.95, depths[-1]: 0.95})
    yield Panel("Positions answered", "layers", "share right", (*lines, bar))
    median = rows(results, *_HOPS, task="hop_k", seeds="median")
    least = curves(median, "hops", "seeds", lambda _: "trained")
    yield _least(median, "hops", "hops k", least, ("ceil(log_2 k) + 2", layers_for_hops))


# Of the nets of hops_enough with 24 symbols and k up to 4, by training_table.csv.
HOP_UPDATES = 5_000


def _by_updates(results: Found) -> Iterator[tuple[str, dict[str, Rows]]]:
    """Title and kinds of nets, each with its cases of several numbers of updates."""
    more = rows(
        results, "trained_depth/hops_enough", task="hop_k", symbols=24, hops_max=4, seeds="median"
    )
    hops = [
        *rows(results, "trained_depth/hops_by_updates"),
        *((Case(**case.fields() | {"updates": HOP_UPDATES}), value) for case, value in more),
    ]
    paths = rows(results, "trained_depth/connectivity_by_updates")
    if any(case.updates != HOP_UPDATES for case, _ in hops):
        yield "Hops", {f"k = {k}": part for (k,), part in split(hops, "hops")}
    yield (
        "Connectivity",
        {f"D = {D}, {net}": part for (D, net), part in split(paths, "diameter", "net")},
    )


def _least_by_updates_say(results: Found) -> Iterator[str]:
    for title, kinds in _by_updates(results):
        for kind, part in kinds.items():
            found = [
                f"{_in_words(value, case.tried)} after {case.updates:,}"
                for case, value in sorted(part, key=lambda row: row[0].updates)
                if isinstance(value, Ball)
            ]
            if found:
                yield f"{title}, {kind}: least depth {', '.join(found)} updates."


def _in_words(depth: Ball, tried: int) -> str:
    low, high = int(depth.low), int(depth.high)
    if low > tried:
        return f"more than {tried}"
    if high > tried:
        return f"{low} or more"
    return (
        str(low) if low == high else f"{low} or {high}" if high == low + 1 else f"{low} to {high}"
    )


@_shows("least-depth-by-updates", says=_least_by_updates_say)
def _least_by_updates(results: Found) -> Iterator[Panel]:
    for title, kinds in _by_updates(results):
        lines = [
            curve(label, {case.updates: value for case, value in part})
            for label, part in kinds.items()
        ]
        yield Panel(
            title,
            "updates",
            "least depth (one above tried: beyond)",
            tuple(filter(None, lines)),
            x_scale="log",
        )


# --- learnt, needed and enough --------------------------------------------------------------------

_LEARNT = _keys("trained_depth", "sufficient_is_learnt necessary_binds_training")


# What tasks of the atlas are called, by sizes of a case.
_CALLED = {
    "letters": "at least {size} letters 1",
    "brackets": "brackets to depth {size}",
    "stair": "{size} zeros in a row, twos left out",
    "blocks": "{size} blocks",
    "composition": "{size} maps in context",
    "kgram": "conditional {size}-grams",
    "S3 words": "products in S_3",
    "A5 words": "products in A_5",
}


def _called(case: Case) -> str:
    return _CALLED.get(str(case.task), str(case.task)).format(**case.fields())


def _by_task(results: Found) -> dict[str, dict[str, Ball]]:
    """Least depths by the best, the median and the worst seed of each task that is recorded."""
    tasks: dict[str, dict[str, Ball]] = {}
    for case, value in rows(results, *_LEARNT):
        if isinstance(value, Ball):
            tasks.setdefault(_called(case), {})[str(case.seeds)] = value
    return {task: seeds for task, seeds in tasks.items() if len(seeds) == 3}


def _learnt_says(results: Found) -> Iterator[str]:
    bounds = {
        _called(c): (c.needed, c.enough, c.updates, c.tried) for c, _ in rows(results, *_LEARNT)
    }
    kinds: dict[str, list[str]] = {"none": [], "more": [], "as many": [], "fewer": [], "open": []}
    for task, seeds in _by_task(results).items():
        median, (needed, enough, _, tried) = seeds["median"], bounds[task]
        if seeds["best"].low > tried:
            kinds["none"].append(task)
        elif median.low > enough:
            kinds["more"].append(task)
        elif median.high < needed:
            kinds["fewer"].append(task)
        elif median.low >= needed and median.high <= enough:
            kinds["as many"].append(task)
        else:
            kinds["open"].append(task)
    said = {
        "more": "more layers than suffice",
        "as many": "as many layers as are needed and suffice",
        "fewer": "fewer layers than the class near by needs (for some, only at all lengths)",
    }
    for kind, tasks in kinds.items():
        if tasks:
            _, _, updates, tried = bounds[tasks[0]]
            names = "; ".join(tasks)
            if kind == "none":
                yield f"With 1 to {tried} layers no seed learns by {updates:,} updates: {names}."
            elif kind == "open":
                yield f"Open, at the level of the verdicts: {names}."
            else:
                yield f"By {updates:,} updates half of the seeds take {said[kind]}: {names}."


@_shows("learnt-layers", says=_learnt_says)
def _learnt_layers(results: Found) -> Iterator[Panel]:
    tasks = _by_task(results)
    bounds = {_called(c): (c.needed, c.enough) for c, _ in rows(results, *_LEARNT)}
    places = range(1, len(tasks) + 1)
    trained = [
        (
            float(s["best"].low),
            float(s["median"].low + s["median"].high) / 2,
            float(s["worst"].high),
        )
        for s in tasks.values()
    ]
    series = [
        Series(f"layers {word}, in a class near to it", tuple(places), depths, kind="points")
        for word, depths in (
            ("needed", tuple(bounds[task][0] for task in tasks)),
            ("that suffice", tuple(bounds[task][1] for task in tasks)),
        )
    ]
    if tasks:
        low, middle, high = zip(*trained, strict=True)
        label = "trained: half of eight seeds (best to all)"
        series.insert(0, Series(label, tuple(places), middle, low, high, "points"))
        yield Panel(
            "Layers that training takes",
            "",
            "layers (one more than tried: beyond)",
            tuple(series),
            x_names=tuple(tasks),
        )


_DROPOUT = {"left on": "published_dropout_on", "off": "published_dropout_off"}


@_shows("published-errors")
def _published(results: Found) -> Iterator[Panel]:
    for word, name in _DROPOUT.items():
        part = [
            (case, Proportion(value.trials - value.right, value.trials))
            for case, value in rows(results, f"trained_depth/{name}")
            if isinstance(value, Proportion)
        ]
        published = [
            stated(
                f"published, L = {layers}",
                {case.hops: float(case.published_error) for case, _ in own},
                f"L = {layers}",
            )
            for (layers,), own in split(part, "depth")
        ]
        lines = curves(part, "hops", "depth", "L = {}".format)
        yield Panel(
            f"Dropout {word}",
            "hops k",
            "share of positions wrong",
            (*lines, *published),
            x_scale="log",
        )


# --- convolution beside attention -----------------------------------------------------------------


@_shows("convolution-beside-attention")
def _convolution(results: Found) -> Iterator[Panel]:
    """Ranks of a partition of eight tokens of each type, then those of two partitions for more."""
    circuits, ratios = (
        {
            (len(case.channels.split("-")), str(case.side)): Fraction(value.value)
            for case, value in rows(results, f"separation_rank/{name}", features=2, shared=True)
            if set(case.channels) == set("2-") and isinstance(value, Exact)
        }
        for name in ("convolution_shared", "convolution_below_attention")
    )
    attention = {key: circuits[key] / ratio for key, ratio in ratios.items() if key in circuits}
    eight = [key for _, key in sorted((circuits[k], k) for k in attention) if key[0] == 3]
    if eight:
        yield named(
            "Eight tokens, width 2",
            "tokens of one side",
            "separation rank",
            {
                label: [(" ".join(key[1]), Exact(ranks[key])) for key in eight]
                for label, ranks in (
                    ("convolutional circuit", circuits),
                    ("linearised attention, three layers", attention),
                )
            },
            {"2^4: circuits have no more": 16},
        )
    lines = curves(
        rows(results, "separation_rank/convolution_sides", width=2),
        "tokens",
        "alternating",
        lambda turn: "circuit, sides in turn" if turn else "circuit, first and second half",
        "points",
    )
    beside = curve(
        "linearised attention",
        {2**layers: Exact(rank) for (layers, _), rank in attention.items()},
        "points",
    )
    deep = range(1, 8)
    yield Panel(
        "Width 2, log_2 N layers",
        "tokens N",
        "separation rank",
        (
            # Circuits first, attention second, as on the left.
            *lines[:1],
            *filter(None, [beside]),
            *lines[1:],
            stated(
                "largest possible: 2^(N/2)",
                {2**L: 2.0**2 ** (L - 1) for L in deep},
                "circuit, sides in turn",
            ),
            stated(
                "S(2, log_2 N), the bound for attention",
                {2**L: dimension_count(2, L) for L in deep},
            ),
        ),
        x_scale="log",
        y_scale="log",
    )


# --- depth against width --------------------------------------------------------------------------

_LEARN = "depth_width/losses_by_updates"


def size_name(parameters: int) -> str:
    """A size as texts write it.

    >>> size_name(36_000), size_name(5_320_000)
    ('36k', '5.32M')
    """
    return f"{parameters / 1e6:g}M" if parameters >= 10**6 else f"{parameters // 1000}k"


def _is_made(case: Case) -> bool:
    return "brackets" in case.corpus


def _best_depths(results: Found) -> Iterator[str]:
    """How far two layers lie from one; which depth has the lowest mean loss after each number of
    updates, which others cannot be told from it, seed by seed, and what the worst loses."""
    part = rows(results, _LEARN, parameters=SIZE)
    gaps = _two_from_one([(case, value) for case, value in part if not _is_made(case)])
    ends = {case.depth for case, _ in part}
    if len(ends) > 1:
        smaller = times_smaller_in_all(SIZE, min(ends), max(ends))
        yield (
            f"Weights are equal in the layers; in all, the net of {_layers(max(ends))} is "
            f"{smaller} times smaller than that of {_layers(min(ends))}."
        )
    if gaps:
        listed = ", ".join(f"{gap:+.1f} % after {steps:,}" for steps, gap in gaps.items())
        yield f"Mean loss of two layers beside that of one: {listed} updates."
    for (corpus, steps), there in split(part, "corpus", "steps"):
        losses = {c.depth: value.values for c, value in there if isinstance(value, Sample)}
        if len(losses) > 1:
            means = {depth: math.fsum(of) / len(of) for depth, of in losses.items()}
            best, worst = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            alike = [d for d, of in losses.items() if d != best and _alike(of, losses[best])]
            text = f"On {corpus}, after" if _is_made(there[0][0]) else "After"
            yield (
                f"{text} {steps:,} updates {_layers(best)} had the lowest mean loss of depths "
                f"{', '.join(map(str, sorted(losses)))}: {means[best]:.2f} nats a token"
                + (f", not distinguishable from {_either(alike)}" if alike else "")
                + f"; that of {_layers(worst)} was {100 * (means[worst] / means[best] - 1):.1f} % "
                "higher."
            )


def _two_from_one(part: Rows) -> dict[int, float]:
    """By number of updates, in per cent of the mean loss of one layer."""
    means = {
        (case.steps, case.depth): value.mean for case, value in part if isinstance(value, Sample)
    }
    ends = sorted({steps for steps, _ in means})
    return {
        steps: 100 * (means[steps, 2] / means[steps, 1] - 1)
        for steps in ends
        if {(steps, 1), (steps, 2)} <= set(means)
    }


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether the 95 % interval of the mean difference of two depths, seed by seed, holds 0."""
    difference = Sample(tuple(a - b for a, b in zip(one, other, strict=True)))
    low, high = difference.interval(LEVEL)
    return low <= 0 <= high


def _either(depths: Sequence[int]) -> str:
    return " or ".join(map(str, depths))


def _layers(number: float) -> str:
    return f"{number:g} layer{'s' * (number != 1)}"


def _rates_table(results: Found) -> Table:
    """Every loss, with the learning rate that was chosen."""
    chosen = dict(rows(results, "depth_width/chosen_rate"))
    listed = []
    for case, value in rows(results, _LEARN):
        rate = chosen.get(case)
        listed.append(
            (
                size_name(case.parameters),
                "made here" if _is_made(case) else "Python's library",
                case.steps,
                case.depth,
                round(value.mean, 4) if isinstance(value, Sample) else None,
                f"2^{rate.value}" if isinstance(rate, Exact) else None,
            )
        )
    return Table(
        ("12 L d^2", "text", "updates", "layers", "mean loss", "learning rate"), tuple(listed)
    )


@_shows("depth-by-updates", _rates_table, _best_depths)
def _depth_by_updates(results: Found) -> Iterator[Panel]:
    for (made, parameters), part in split(
        [
            (Case(**case.fields() | {"made": _is_made(case)}), value)
            for case, value in rows(results, _LEARN)
        ],
        "made",
        "parameters",
    ):
        text = "chains and brackets" if made else "Python's library"
        several = {case.steps for case, _ in part}
        # One curve has no legend.
        text += f", {min(several):,} updates" if len(several) == 1 else ""
        yield Panel(
            f"12 L d^2 = {size_name(parameters)}, {text}",
            "layers",
            "validation loss, nats per token",
            curves(part, "depth", "steps", "{:,} updates".format),
            x_scale="log",
        )
    best: dict[int, list[tuple[int, Any]]] = {}
    for (parameters, steps), there in points(results.get(_LEARN, {})).items():
        if len({p.depth for p in there}) > 2 and (fitted := optimum(there)).depth:
            best.setdefault(parameters, []).append((steps, fitted))
    lines = [
        Series(
            f"12 L d^2 = {size_name(parameters)}",
            tuple(steps for steps, _ in found),
            tuple(o.depth for _, o in found),
            tuple(max(o.low, o.depths[0]) for _, o in found),
            tuple(min(o.high, o.depths[-1]) for _, o in found),
        )
        for parameters, found in best.items()
    ]
    ends = sorted({x for line in lines for x in line.x})
    if len(ends) < 2:
        return
    rules = [
        stated(f"{rule(key).name}, {size_name(SIZE)}", dict.fromkeys(ends, rule(key).depth(SIZE)))
        for key in ("threshold", "knee", "levine", "nanochat", "delusion")
    ]
    yield Panel(
        "The best depth",
        "updates",
        "layers",
        (*lines, *rules),
        x_scale="log",
        y_scale="log",
    )


# --- ranks in training ----------------------------------------------------------------------------


def _floors_say(results: Found) -> Iterator[str]:
    drawn = [
        float(value.low) / floor
        for case, value in rows(results, "trained_rank/floor_holds")
        if isinstance(value, Ball) and (floor := _floor(case)) > _NO_FLOOR
    ]
    asked = rows(results, "trained_rank/floor_attained")
    means = [value.mean for _, value in asked if isinstance(value, Sample)]
    widest = ", ".join(
        f"{max(case.width for case, _ in part)} ({_LAYERS[layers]})"
        for (layers,), part in split(asked, "depth")
    )
    starts = [
        float(value.low)
        for _, value in rows(results, "trained_rank/best_of_many_stays_above_floor")
        if isinstance(value, Ball)
    ]
    for text, ratios in (
        ("Of the students drawn, all of one teacher, the best seed of Adam ends at", drawn),
        (f"Of widths up to {widest}, the mean over seeds ends at", means),
        ("The best of 64 starts of L-BFGS, for the smallest student, ends at", starts),
    ):
        if ratios:
            low, high = f"{min(ratios):.3g}", f"{max(ratios):.3g}"
            yield f"{text} {low if low == high else f'{low} to {high}'} times the floor."


# A logarithmic scale has no 0.
_NO_FLOOR = 1e-6


def _floor(case: Case) -> float:
    return float(find("trained_rank/floor_holds").predict(case).low)


@_shows("rank-floor", says=_floors_say)
def _floors(results: Found) -> Iterator[Panel]:
    # Enclosed is the rounding of an evaluation, which no picture shows.
    part = [
        (case, Exact((value.low + value.high) / 2))
        for case, value in rows(results, "trained_rank/floor_holds")
        if isinstance(value, Ball)
    ]
    floors = [
        stated(
            f"L = {layers}, floor",
            {width: y for width in widths if (y := _floor(widths[width])) > _NO_FLOOR},
            f"L = {layers}, trained",
        )
        for (layers,), own in split(part, "depth")
        for widths in [{case.width: case for case, _ in own}]
    ]
    yield Panel(
        "Error of the best student, and the floor of its rank",
        "width of the student",
        "relative error",
        (
            *curves(part, "width", "depth", "L = {}, trained".format),
            *(series for series in floors if series.x),
        ),
        x_scale="log",
        y_scale="log",
    )


@_shows("rank-in-training")
def _ranks(results: Found) -> Iterator[Panel]:
    kinds = {
        "rank_stays_generic": "exact",
        "part_of_rank_shows": "above 1/1000",
        "half_of_rank_matters": "effective",
    }
    shapes = split(rows(results, *_keys("trained_rank", " ".join(kinds))), "width", "depth")
    for (width, layers), _ in shapes:
        drawn = tuple(
            series
            for name, label in kinds.items()
            for series in curves(
                rows(results, f"trained_rank/{name}", width=width, depth=layers),
                # A logarithmic axis has no 0.
                lambda case: case.step + 1,
                "attention",
                f"{label}, {{}}".format,
            )
        )
        if len(drawn) > 1:
            yield Panel(
                f"d = {width}, L = {layers} (3^L {'<' if 3**layers < width else '>='} d)",
                "updates + 1",
                "rank",
                drawn,
                x_scale="log",
                y_scale="log",
            )


# A prediction of the linearised theory, and the claim that asks it of linearised and of softmax
# nets.
_TRANSFER = {
    "no error below the floor of rank S": ("trained_rank/students_respect_floor",),
    "the rank is S, and never more": (
        "trained_rank/rank_stays_generic",
        "trained_rank/softmax_exceeds_count",
    ),
    "effective rank below half of min(S, side)": ("trained_rank/half_of_rank_matters",),
    "a layer adds more rank where 3^L < d": ("trained_rank/wide_nets_gain_more_by_layers",),
    "L layers see 3^L steps": ("trained_depth/wall_within",),
    "no more than 3^L steps": ("trained_depth/wall_beyond",),
    "ceil(log_3 D) layers are enough and needed": ("trained_depth/connectivity_least_depth",),
    "ceil(log_2 k) + 2 layers are enough": ("trained_depth/hops_enough",),
}
# Chance of a false alarm of each verdict: no more than that of the verdicts on the page.
_ALPHA = 1e-7


def _transfer_table(results: Found) -> Table:
    """Where the linearised theory transfers to softmax nets, and where not: of each prediction the
    verdicts of a claim on cases of one kind of attention alone. A claim may state the opposite of
    the prediction, as its title says."""
    listed = []
    for prediction, keys in _TRANSFER.items():
        cells = [
            _of_attention(results, key, attention)
            for key, attention in zip((keys * 2)[:2], ATTENTIONS, strict=True)
        ]
        if any(cells):
            listed.append((prediction, *(part for cell in cells for part in cell or (None,) * 3)))
    heads = [f"{head}, {kind}" for kind in ATTENTIONS for head in ("asked", "verdicts", "measured")]
    return Table(("prediction of the linearised theory", *heads), tuple(listed))


def _of_attention(results: Found, key: str, attention: str) -> tuple[str, str, str] | None:
    """Title of the claim, verdicts by how many cases, and the range of what was measured; None
    where nothing is recorded of such nets."""
    # Cases that do not say are linearised where the floors of linearised students are asked about.
    silent = "linearised" if key.startswith("trained_rank/") else "softmax"
    cases = {
        case: value
        for case, value in rows(results, key)
        if case.get("attention", case.get("net", silent)) == attention
    }
    if not cases:
        return None
    asked = find(key)
    counts = Counter(
        str(judge(asked, case, value, alpha=_ALPHA).verdict) for case, value in cases.items()
    )
    line = curve("", {n: v for n, v in enumerate(cases.values()) if not isinstance(v, Outside)})
    span = dict.fromkeys(f"{end:.3g}" for end in (min(line.y), max(line.y))) if line else ()
    return (
        asked.plain.title,
        ", ".join(f"{verdict} {count}" for verdict, count in counts.items()),
        " to ".join(span),
    )


@_shows("linearised-against-softmax", _transfer_table)
def _softmax(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_rank/softmax_fits_worse")
    widths = sorted({case.width for case, _ in part}) or [1]
    yield Panel(
        "Softmax minus linearised error on a linearised teacher",
        "width of the students",
        "difference of relative errors",
        (
            *curves(part, "width", "depth", "L = {}".format),
            stated("equal errors", {widths[0]: 0.0, widths[-1]: 0.0}),
        ),
        x_scale="log",
    )


# --- exercises ------------------------------------------------------------------------------------

_LOSS = "validation loss, nats per token"


@_shows("depth-ablation")
def _depth_ablation(results: Found) -> Iterator[Panel]:
    deepest, shallowest = depth_ablation.DEPTHS[0], depth_ablation.DEPTHS[-1]
    learnt = rows(results, "exercises/language_models_learn")
    # The deepest net is compared with the wide one alone.
    gains = [row for row in rows(results, "exercises/deeper_is_better") if row[0].depth < deepest]
    yield Panel(
        "Loss against depth",
        "layers",
        _LOSS,
        curves(learnt, "depth", "width", "width {}".format),
        x_scale="log",
    )
    yield Panel(
        "What doubling the depth gains",
        "layers after doubling",
        "loss gained, nats per token",
        (
            *curves(gains, lambda case: 2 * case.depth, "width", lambda _: "measured", "points"),
            stated("no gain", {2 * shallowest: 0.0, deepest: 0.0}),
        ),
        x_scale="log",
    )


@_shows("initialisation")
def _initialisation(results: Found) -> Iterator[Panel]:
    learnt = rows(results, *_keys("exercises", "random_stalls scaled_learn"))
    for title, y_label, part, law, height in (
        (
            "Loss after training",
            _LOSS,
            learnt,
            "equal chances",
            math.log(next((case.vocabulary for case, _ in learnt), 1)),
        ),
        (
            "Variance before training",
            "doublings, first layer to last",
            rows(results, "exercises/variance_is_not_geometric"),
            "doubling with each layer",
            initial_scales.LAYERS - 1.0,
        ),
    ):
        order = sorted(part, key=lambda row: list(initial_scales.OF_NAME).index(_drawn_by(row)))
        values = [(_drawn_by(row), row[1]) for row in order]
        yield named(title, "initialisation", y_label, {"measured": values}, {law: height})


def _drawn_by(row: tuple[Case, Measured]) -> str:
    return str(row[0].initialisation)


@_shows("gradient-flow")
def _gradient_flow(results: Found) -> Iterator[Panel]:
    layers, left = gradient_flow.LAYERS, float(gradient_flow.LEFT)
    every = rows(results, *_keys("exercises", "gradients_vanish residuals_preserve"), depth=layers)
    # Without residuals on the left, with them on the right.
    for (steps, scheme, residual), part in split(every, "steps", "scheme", "residual"):
        stays = {at: 1.0 if residual else left ** (layers - at) for at in range(1, layers + 1)}
        yield Panel(
            f"{'With' if residual else 'Without'} residuals, {scheme}, "
            + (f"{steps} updates" if steps else "not trained"),
            "layer",
            "gradient over that at the last",
            (
                *map(_of_logs, curves(part, "layer", "norm", "norm: {}".format)),
                stated("1" if residual else f"{left}^(L - l)", stays),
            ),
            y_scale="linear" if residual and scheme == "gpt2" and not steps else "log",
        )


def _of_logs(series: Series) -> Series:
    """Geometric means over nets, of logarithms; the last layer is what others are compared with."""
    y, low, high = (
        (*(math.exp(log) for log in part or series.y), 1.0)
        for part in (series.y, series.low, series.high)
    )
    return Series(series.label, (*series.x, gradient_flow.LAYERS), y, low, high)


@_shows("layer-probing")
def _layer_probing(results: Found) -> Iterator[Panel]:
    ends = {"trained": "embeddings and read-out trained too", "frozen": "nothing else trained"}
    alone = rows(results, "exercises/each_layer_alone_helps")
    yield Panel(
        f"One of {layer_probing.LAYERS} layers trained",
        "layer that is trained",
        "loss taken off, nats per token",
        curves(alone, "layer", "ends", lambda which: ends[which]),
    )
    read = rows(results, "exercises/every_layer_is_read")
    # The current token is read so well that beside it the others would look alike.
    for which, current in (("the current token", True), ("other tokens", False)):
        part = [row for row in read if (row[0].target == "current") is current]
        yield Panel(
            f"Probes of {which}",
            "layer that is read",
            "accuracy above most frequent",
            curves(
                part,
                "layer",
                "target",
                lambda which: "after last copy" if which == "after" else which,
            ),
        )


@_shows("remove-layer")
def _remove_layer(results: Found) -> Iterator[Panel]:
    added = rows(results, "exercises/every_layer_matters")
    most = remove_layer.LAYERS
    parts = {
        "without this layer": {c.first: v for c, v in added if c.first == c.last},
        "without this layer and all below": {c.last: v for c, v in added if c.first == 1},
        "without all layers above this one": {c.first - 1: v for c, v in added if c.last == most},
    }
    one, *stacks = (curve(label, part) for label, part in parts.items())
    label = "loss added, nats per token"
    yield Panel("One layer removed", "layer", label, tuple(filter(None, [one])), y_scale="log")
    yield Panel("A stack removed", "layer", label, tuple(filter(None, stacks)))


# --- rank collapse --------------------------------------------------------------------------------


@_shows("doubly-exponential")
def _layers_seen(results: Found) -> Iterator[Panel]:
    """The doubly exponential law and what breaks it, on two tokens of width one: -log10 of the
    residual against layers, by balls, whose exponents have no limit."""
    from flint import arb, arb_mat

    from depthlaw.theory.rank_collapse.doubly_exponential import next_pair
    from depthlaw.theory.rank_collapse.softmax_attention import Head

    layers = range(9)
    drawn: list[Series] = []
    for label, weights, skip in (
        ("attention alone", None, False),
        ("causal mask", arb_mat([[1, 0], [1, 1]]), False),
        ("skip connection", None, True),
    ):
        mean, moved, heights = arb_mat([[0]]), arb_mat([["0.01"], ["-0.01"]]), []
        for layer in layers:
            if layer:
                head = Head(arb_mat([[1]]), arb_mat([[1]]))
                mean, moved = next_pair(mean, moved, [head], weights, skip)
            heights.append(float(-abs(moved[0, 0]).log() / arb(10).log()))
        drawn.append(Series(label, tuple(layers), tuple(heights)))
    law = stated("3^l times the start", {layer: drawn[0].y[0] * 3**layer for layer in layers})
    yield Panel(
        "Orders of magnitude that the residual has lost",
        "layer l",
        "-log10 of the residual",
        (*drawn, law),
        y_scale="log",
    )


_BERT = {
    "attention alone": ("bert_init_collapse", "bert_plateau_is_rounding"),
    "the whole net": ("bert_init_full_curve",),
}


@_shows("bert-residuals")
def _bert(results: Found) -> Iterator[Panel]:
    series: list[Series] = []
    for label, names in _BERT.items():
        part = rows(results, *_keys("rank_collapse", " ".join(names)))
        line = curve(label, {case.layer: value for case, value in part}, "points")
        first = f"rank_collapse/{names[0]}"
        says = find(first).statement.rhs
        predicted = {int(case.layer): float(at(says, case)) for case, _ in rows(results, first)}
        if line:
            series += [line, stated(f"{label}, published", predicted, label)]
    yield Panel("BERT-base by layer", "layer", "relative residual", tuple(series), y_scale="log")


# Of the exact nets: the slope of log(-log r_l) where logits come from hidden states alone, and
# where the logits hold or add something else.
_EXACT = {"causal": "causal mask", "positions": "positions", "skip": "with skips"}
_DROPS = {"cubic_drop": "hidden states alone", "slower_with_positions_or_mask": "positions or mask"}
_NAMES = {
    "bert": "BERT",
    "albert": "ALBERT",
    "xlnet": "XLNet",
    "t5": "T5",
    "gpt2": "GPT-2",
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
}


@_shows("rank-collapse")
def _collapse(results: Found) -> Iterator[Panel]:
    slopes = [
        ("attention alone", value)
        for _, value in rows(results, "rank_collapse/doubly_exponential_slope")
    ]
    below = rows(results, "rank_collapse/slope_below_cubic")
    slopes += [(_EXACT[c.logits], value) for c, value in below if c.logits in _EXACT]
    yield named(
        "Exact nets", "", "slope of log(-log r)", {"one net": slopes}, {"log 3: cubic": math.log(3)}
    )
    yield named(
        "Architectures",
        "",
        "growth of the drop by layer",
        {label: _largest(rows(results, f"rank_collapse/{name}")) for name, label in _DROPS.items()},
        {"3: cubic": 3, "1: exponential": 1},
    )
    yield from _bert(results)


def _largest(part: Rows) -> list[tuple[str, Measured]]:
    """Of each model without skips and MLPs the widest net."""
    alone = [row for row in part if row[0].get("variant") == "san"]
    widest: Mapping[str, tuple[Case, Measured]] = {
        row[0].model: row for row in sorted(alone, key=lambda row: row[0].width)
    }
    return [
        (_NAMES.get(model, model) + ", no pos." * (case.get("positions", 1) == 0), value)
        for model, (case, value) in widest.items()
    ]


_PARTS = {"whole": "whole", "attention": "attention alone"}


@_shows("memory")
def _memory(results: Found) -> Iterator[Panel]:
    part = rows(results, "rank_collapse/amnesia_is_near")
    lines = [
        curve(
            f"{_PARTS[case_part]}, {'trained' if learns else 'as drawn'}",
            {case.layer: value for case, value in of},
        )
        for (case_part, learns), of in split(part, "part", "learns")
    ]
    layers = {case.layer: 1 for case, _ in part}
    yield Panel(
        "Texts whose first half is equal",
        "layer",
        "distance of last states over its bound",
        (*filter(None, lines), stated("bound", layers)),
        y_scale="log",
    )


@_shows("paths")
def _paths(results: Found) -> Iterator[Panel]:
    """Claims about a fall from each length to the next."""
    score = "score at l minus score at l + 1"
    for name, method, title, y_label in (
        ("paths_deteriorate", "alone", "Sums over all paths of length l", score),
        ("paths_deteriorate", "isolated", "Random paths of length l, run alone", score),
        (
            "longer_paths_flatter",
            "alone",
            "Tokens of the sums over all paths of length l",
            "fall of the log10 residual to l + 1",
        ),
    ):
        lines = curves(
            rows(results, f"rank_collapse/{name}", method=method), "length", "task", kind="points"
        )
        longest = max((x for line in lines for x in line.x), default=1)
        bound = stated("stated: at least 0", {1: 0, longest: 0})
        yield Panel(title, "path length l", y_label, (*lines, bound))
