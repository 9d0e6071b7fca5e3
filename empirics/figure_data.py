"""Curves, tables and sentences as plain data: what a measurement hands to those who draw and print
it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from depthlaw.theory.claims.rounding import centre, interval
from depthlaw.theory.claims.values import Ball, Case, Exact, Measured, Proportion, Sample

__all__ = [
    "LEVEL",
    "Found",
    "Panel",
    "Question",
    "Scale",
    "Series",
    "Table",
    "curve",
    "half_width",
    "mean",
    "written",
]

# By the name of a claim (the second part of its key): what is recorded of its cases. A case that
# is not recorded yet is missing.
Found = Mapping[str, Mapping[Case, Measured]]

# Of the intervals that tables and pictures show. Those of verdicts are wider: see
# `verdict.FALSE_ALARM_BUDGET`.
LEVEL = 0.05

Scale = Literal["linear", "log"]
Number = int | float


@dataclass(frozen=True)
class Series:
    """One curve.

    Attributes:
        label: in the legend.
        x, y: the points, in the order in which a line joins them.
        low, high: ends of an interval around each y; None where there is none.
        kind: how it is drawn; "reference" is what a theory or a paper says, dashed.
        like: of a reference: the label of the curve that it is about, whose colour it takes.

    Raises:
        ValueError: where the lengths differ.
    """

    label: str
    x: tuple[Number, ...]
    y: tuple[Number, ...]
    low: tuple[Number, ...] | None = None
    high: tuple[Number, ...] | None = None
    kind: Literal["line", "points", "reference"] = "line"
    like: str = ""

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.x, self.y, self.low, self.high) if part is not None}
        if len(lengths) != 1 or (self.low is None) != (self.high is None):
            raise ValueError(
                f"series {self.label!r}: x, y and both ends, or neither, of one "
                f"length; got {sorted(lengths)}"
            )


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes.

    Attributes:
        x_names: what the places 1, 2, ... are called, where they are things and not numbers; they
            stand below each other.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Rows under column heads; None where there is no value.

    Raises:
        ValueError: for a row of another length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number | None, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells under {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Question:
    """What a page shows of a few claims, all from what is recorded of them: a picture, a few
    sentences, a table; their verdicts stand below.

    A page names it by its module: `<!-- measured: trained_depth.path_and_hop_figures.HOPS -->`.

    Attributes:
        name: of its picture.
        title: of its picture, in one line.
        claims: keys of the claims that measure it.
        panels, says, table: the picture, at most three short sentences, and the numbers. Where what
            they show is not recorded there is no panel, no sentence and no row.
        beside: keys of further claims that these show numbers of, whose verdicts stand elsewhere.
    """

    name: str
    title: str
    claims: tuple[str, ...]
    panels: Callable[[Found], tuple[Panel, ...]]
    says: Callable[[Found], str]
    table: Callable[[Found], Table]
    beside: tuple[str, ...] = ()


def mean(value: Measured | None) -> float | None:
    """The mean of a sample; None where nothing is recorded."""
    return value.mean if isinstance(value, Sample) else None


def half_width(value: Measured | None) -> float | None:
    """Half the 95 % Student interval of a sample's mean; None where there is none.

    >>> round(half_width(Sample((1.0, 2.0, 3.0))), 3)
    2.484
    """
    if not isinstance(value, Sample):
        return None
    low, high = value.interval(LEVEL)
    return (high - low) / 2 if math.isfinite(high) else None


def written(value: Measured | None, digits: int = 3) -> str:
    """What was measured, with its 95 % interval, as sentences write it.

    >>> from fractions import Fraction
    >>> written(Sample((1.0, 2.0, 3.0))), written(None)
    ('2.000 +- 2.484', 'not recorded')
    >>> written(Proportion(98, 100)), written(Ball(Fraction(6), Fraction(7)))
    ('0.9800 [0.929, 0.998]', '6 to 7')
    """
    if isinstance(value, Proportion):
        ends = value.interval(LEVEL)
        return f"{centre(value.mean, ends, share=True)} {interval(*ends)}"
    if isinstance(value, Ball):
        least, most = (f"{float(end):.{digits + 1}g}" for end in (value.low, value.high))
        return least if least == most else f"{least} to {most}"
    if isinstance(value, Exact):
        return str(value.value)
    if not isinstance(value, Sample):
        return "not recorded"
    half = half_width(value)
    return f"{value.mean:.{digits}f}" + ("" if half is None else f" +- {half:.{digits}f}")


def curve(
    label: str, points: Mapping[int, Measured | None], *, kind: Literal["line", "points"] = "line"
) -> Series | None:
    """Means or shares against whole numbers, with their 95 % intervals; None where nothing is
    recorded."""
    there = {
        x: value for x, value in sorted(points.items()) if isinstance(value, Sample | Proportion)
    }
    if not there:
        return None
    means = tuple(value.mean for value in there.values())
    ends = [value.interval(LEVEL) for value in there.values()]
    low, high = (
        tuple(
            end[side] if math.isfinite(end[side]) else middle
            for end, middle in zip(ends, means, strict=True)
        )
        for side in (0, 1)
    )
    return Series(label, tuple(there), means, low, high, kind)
