"""What nets trained on short paths answer by distance, and the least depth that connects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from depthlaw.advisor.laws import layers_for_diameter, reach
from depthlaw.theory.claims.values import Ball

from ..drawing.panels import Found, Panel, Rows, Series, curves, rows, split, stated, upright
from .question import keys, question

_ON_PATHS = keys("trained_depth", "connectivity_within connectivity_far")
_PAIRS = ("distance of the connected pair", "share of choices right")


def _of_largest(results: Found, *keys: str) -> Rows:
    """What is recorded on the largest graphs."""
    every = rows(results, *keys)
    largest = max(((case.vertices, case.diameter) for case, _ in every), default=None)
    return [row for row in every if (row[0].vertices, row[0].diameter) == largest]


@question("short-paths")
def _short_paths(results: Found) -> Iterator[Panel]:
    for (net,), part in split(_of_largest(results, *_ON_PATHS), "net"):
        walls = [
            upright(f"3^{layers} = {reach(layers)}", reach(layers), 0.5, 1.0, f"L = {layers}")
            for (layers,), _ in split(part, "depth")
        ]
        lines = curves(part, "distance", "depth", "L = {}".format)
        yield Panel(f"Trained, {net}", *_PAIRS, (*lines, *walls))


@question("local-baseline")
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


@question("least-depth")
def _least_depth(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_depth/connectivity_least_depth", seeds="median")
    lines = curves(part, "diameter", "net", "trained, {}".format)
    law = ("ceil(log_3 D)", layers_for_diameter)
    yield least_depths(part, "diameter", "largest distance D", lines, law)
