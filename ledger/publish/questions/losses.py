"""Losses of language models by depth, width and number of updates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from depthlaw.advisor.rules import rule
from depthlaw.empirics.depth_width.by_updates import SIZE, points
from depthlaw.empirics.depth_width.fits import optimum
from depthlaw.empirics.depth_width.fixed_budgets import times_smaller_in_all
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.rounding import LEVEL
from depthlaw.theory.claims.values import Exact, Measured, Sample

from ..drawing.panels import (
    Found,
    Panel,
    Rows,
    Series,
    Table,
    curves,
    rows,
    same_scale,
    split,
    stated,
)
from .question import question

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
    yield from _deepest_from_one([row for row in part if not _is_made(row[0])])
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
            alike = [str(d) for d, of in losses.items() if d != best and _alike(of, losses[best])]
            text = f"On {corpus}, after" if _is_made(there[0][0]) else "After"
            same = f", not distinguishable from {' or '.join(alike)}" if alike else ""
            higher = f"{100 * (means[worst] / means[best] - 1):.1f} % higher"
            yield (
                f"{text} {steps:,} updates {_layers(best)} had the lowest mean loss of depths "
                f"{', '.join(map(str, sorted(losses)))}: {means[best]:.2f} nats a token{same}; "
                f"that of {_layers(worst)} was {higher}."
            )


def _deepest_from_one(part: Rows) -> Iterator[str]:
    """After the most updates, the loss of the deepest net beside that of one layer."""
    longest = max((case.steps for case, _ in part), default=0)
    means = {c.depth: v.mean for c, v in part if c.steps == longest and isinstance(v, Sample)}
    deepest = max(means, default=1)
    if 1 in means and deepest > 1:
        apart = 100 * (means[deepest] / means[1] - 1)
        yield (
            f"After {longest:,} updates the mean loss of {_layers(deepest)} is {abs(apart):.1f} % "
            f"{'above' if apart > 0 else 'below'} that of one."
        )


def _two_from_one(part: Rows) -> dict[int, float]:
    """By number of updates, in per cent of the mean loss of one layer."""
    means = {
        (case.steps, case.depth): value.mean for case, value in part if isinstance(value, Sample)
    }
    both = sorted(n for n, depth in means if depth == 1 and (n, 2) in means)
    return {steps: 100 * (means[steps, 2] / means[steps, 1] - 1) for steps in both}


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether the 95 % interval of the mean difference of two depths, seed by seed, holds 0."""
    difference = Sample(tuple(a - b for a, b in zip(one, other, strict=True)))
    low, high = difference.interval(LEVEL)
    return low <= 0 <= high


def _layers(number: float) -> str:
    return f"{number:g} layer{'' if number == 1 else 's'}"


def _rates_table(results: Found) -> Table:
    """Every loss, with the learning rate that was chosen."""
    chosen = dict(rows(results, "depth_width/chosen_rate"))
    listed = (
        (
            size_name(case.parameters),
            "made here" if _is_made(case) else "Python's library",
            *(case.steps, case.depth),
            round(value.mean, 4) if isinstance(value, Sample) else None,
            f"2^{rate.value}" if isinstance(rate := chosen.get(case), Exact) else None,
        )
        for case, value in rows(results, _LEARN)
    )
    columns = ("12 L d^2", "text", "updates", "layers", "mean loss", "learning rate")
    return Table(columns, tuple(listed))


@question("depth-by-updates", table=_rates_table, says=_best_depths)
def _depth_by_updates(results: Found) -> Iterator[Panel]:
    yield from same_scale(_from_one_layer(results))
    yield from _best_depth(results)


def _from_one_layer(results: Found) -> Iterator[Panel]:
    """Losses relative to that of one layer of the same seed."""
    every = rows(results, _LEARN)
    one = {
        (case.corpus, case.parameters, case.steps): value.values
        for case, value in every
        if case.depth == 1 and isinstance(value, Sample)
    }
    losses: list[tuple[Case, Measured]] = []
    for case, value in every:
        shallow = one.get((case.corpus, case.parameters, case.steps))
        if shallow and isinstance(value, Sample):
            pairs = zip(value.values, shallow, strict=True)
            above = Sample(tuple(100 * (deep / few - 1) for deep, few in pairs))
            losses.append((Case(**case.fields() | {"made": _is_made(case)}), above))
    for (made, parameters), part in split(losses, "made", "parameters"):
        text = "chains and brackets" if made else "Python's library"
        several = {case.steps for case, _ in part}
        # One curve has no legend.
        text += f", {min(several):,} updates" if len(several) == 1 else ""
        yield Panel(
            f"12 L d^2 = {size_name(parameters)}, {text}",
            "layers",
            "loss above that of one layer, %",
            curves(part, "depth", "steps", "{:,} updates".format),
            x_scale="log",
        )


def _best_depth(results: Found) -> Iterator[Panel]:
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
        "The best depth", "updates", "layers", (*lines, *rules), x_scale="log", y_scale="log"
    )
