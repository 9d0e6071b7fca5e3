"""Curves and tables as plain data, and how they are made of what is recorded of claims."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from statistics import median
from typing import Any, Literal

from depthlaw.theory.claims.rounding import centre, interval
from depthlaw.theory.claims.values import Ball, Case, Exact, Measured, Statistical

from ...verdicts.estimates import interval_at

# By the key of a claim: what is recorded of its cases. A case that is not recorded yet is missing.
Found = Mapping[str, Mapping[Case, Measured]]
Rows = Sequence[tuple[Case, Measured]]
Number = int | float
Scale = Literal["linear", "log"]
SeriesKind = Literal["line", "points", "thin", "reference"]


@dataclass(frozen=True)
class Series:
    """One curve.

    Attributes:
        label: in the legend.
        x, y: the points, in the order in which a line joins them.
        low, high: ends of an interval around each y; None where there is none.
        kind: how it is drawn; "reference" is what a theory or a paper says, dashed; "thin" is one
            of those that a curve sums up, without intervals and outside the legend.
        like: of a reference or a thin curve: the label of the curve that it is about, whose colour
            it takes.

    Raises:
        ValueError: where the lengths differ.
    """

    label: str
    x: tuple[Number, ...]
    y: tuple[Number, ...]
    low: tuple[Number, ...] | None = None
    high: tuple[Number, ...] | None = None
    kind: SeriesKind = "line"
    like: str = ""

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.x, self.y, self.low, self.high) if part is not None}
        if len(lengths) != 1 or (self.low is None) != (self.high is None):
            accepted = "x, y and both ends, or neither, of one length"
            raise ValueError(f"series {self.label!r}: {accepted}; got {sorted(lengths)}")


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes.

    Attributes:
        x_names: what the places 1, 2, ... are called, where they are things and not numbers; they
            stand below each other.
        y_range: the least and the greatest height that the axes hold, where panels that compare
            have one scale; else those of its curves.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_names: tuple[str, ...] = ()
    y_range: tuple[float, float] | None = None

    def seen(self, series: Series) -> list[int]:
        """The places of a curve's points that the axes can show."""
        any_x, any_y = self.x_scale == "linear", self.y_scale == "linear"
        points = enumerate(zip(series.x, series.y, strict=True))
        return [
            i for i, (x, y) in points if math.isfinite(y) and (any_x or x > 0) and (any_y or y > 0)
        ]

    def heights(self) -> Iterator[Number]:
        """Every height that must lie within the axes."""
        for series in self.series:
            seen = self.seen(series)
            yield from (series.y[i] for i in seen)
            if series.kind != "reference":
                ends = (end[i] for end in (series.low, series.high) if end for i in seen)
                linear = self.y_scale == "linear"
                yield from (y for y in ends if math.isfinite(y) and (linear or y > 0))

    def extent(self) -> tuple[float, float] | None:
        """The least and the greatest height that is shown; None where nothing is. An interval on a
        logarithmic axis that nearly reaches zero is cut off, not followed."""
        heights = list(self.heights())
        if self.y_range or not heights:
            return self.y_range
        low, high = float(min(heights)), float(max(heights))
        if self.y_scale == "log":
            centres = [y for s in self.series for y in (s.y[i] for i in self.seen(s))]
            low = max(low, float(min(centres)) / 10)
        return low, high


def same_scale(panels: Iterable[Panel]) -> Iterator[Panel]:
    """Panels that compare, on one vertical scale."""
    listed = list(panels)
    ranges = [ends for panel in listed if (ends := panel.extent())]
    lows, highs = zip(*ranges, strict=True) if ranges else ((), ())
    shared = (min(lows), max(highs)) if ranges else None
    yield from (replace(panel, y_range=shared) for panel in listed)


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


# --- curves of what is recorded -------------------------------------------------------------------


def rows(results: Found, *keys: str, **fields: object) -> Rows:
    """What is recorded of the cases of some claims that have these values."""
    return [
        (case, value)
        for key in keys
        for case, value in results.get(key, {}).items()
        if all(case.get(name) == wanted for name, wanted in fields.items())
    ]


def split(recorded: Rows, *fields: str) -> Iterator[tuple[tuple[Any, ...], Rows]]:
    """The values of some fields, in order, each with the cases that have them."""
    parts: dict[tuple[Any, ...], list[tuple[Case, Measured]]] = {}
    for case, value in recorded:
        parts.setdefault(tuple(case.get(name) for name in fields), []).append((case, value))
    yield from sorted(parts.items())


def curves(
    recorded: Rows,
    x: str | Callable[[Case], Number],
    by: str,
    label: Callable[[Any], str] = str,
    kind: SeriesKind = "line",
) -> tuple[Series, ...]:
    """A curve for each value of a field.

    Args:
        x: the field, or what is made of a case, that stands below.
    """
    place = (lambda case: case.get(x)) if isinstance(x, str) else x
    drawn = (
        curve(label(value), {place(case): measured for case, measured in part}, kind)
        for (value,), part in split(recorded, by)
    )
    return tuple(filter(None, drawn))


def curve(
    label: str, points: Mapping[Any, Measured | Number], kind: SeriesKind = "line", like: str = ""
) -> Series | None:
    """Numbers, means, shares or enclosures against places, with their 95 % intervals or ends; None
    where there is no point."""
    there = {x: ends for x, value in sorted(points.items()) if (ends := _ends(value)) is not None}
    if not there:
        return None
    low, middle, high = zip(*there.values(), strict=True)
    least, most = (None, None) if low == middle == high else (low, high)
    return Series(label, tuple(there), middle, least, most, kind, like)


def _ends(value: Measured | Number) -> tuple[float, float, float] | None:
    """Low end, middle and high end; None of what is outside of what was assumed."""
    if isinstance(value, Ball):
        return float(value.low), float(value.low + value.high) / 2, float(value.high)
    if isinstance(value, Statistical):
        low, high = interval_at(value) or (value.mean, value.mean)
        return low, value.mean, high
    if isinstance(value, Exact):
        value = float(value.value)
    return (value, value, value) if isinstance(value, int | float) else None


def middles(recorded: Rows) -> list[float]:
    """Numbers, means, shares and middles of enclosures, of cases that have one."""
    return [ends[1] for _, value in recorded if (ends := _ends(value)) is not None]


def spread(values: Sequence[float], form: str) -> str:
    """From the least to the greatest value, in one word where both read alike.

    >>> spread([0.58, 0.81], ".0%"), spread([3.0, 3.0], ".3g")
    ('58 % to 81 %', '3')
    """
    ends = (f"{end:{form}}".replace("%", " %") for end in (min(values), max(values)))
    return " to ".join(dict.fromkeys(ends))


def over_seeds(label: str, curves: Sequence[Series]) -> tuple[Series, ...]:
    """The median of several curves at each place that all of them have, in a band from the least to
    the greatest, and each of them, thin.

    >>> each = [Series(f"seed {n}", (1, 2), (n, 2 * n), (0, 0), (9, 9)) for n in (1, 2, 4, 6)]
    >>> over_seeds("median", each)[0]
    Series(label='median', x=(1, 2), y=(3.0, 6.0), low=(1, 2), high=(6, 12), kind='line', like='')
    """
    if not curves:
        return ()
    heights = [dict(zip(one.x, one.y, strict=True)) for one in curves]
    there = [x for x in curves[0].x if all(x in of for of in heights)]
    found = [[of[x] for of in heights] for x in there]
    low, middle, high = (
        tuple(of(ys) for ys in found) for of in (min, lambda ys: float(median(ys)), max)
    )
    thin = (replace(one, low=None, high=None, kind="thin", like=label) for one in curves)
    return (Series(label, tuple(there), middle, low, high), *thin)


def stated(label: str, points: Mapping[Any, Number], like: str = "") -> Series:
    """What a theory or a paper says, at each place."""
    x, y = zip(*sorted(points.items()), strict=True) if points else ((), ())
    return Series(label, x, y, kind="reference", like=like)


def named(
    title: str,
    x_label: str,
    y_label: str,
    parts: Mapping[str, Iterable[tuple[str, Measured]]],
    laws: Mapping[str, Number],
) -> Panel:
    """Values of things that have no order: each thing has a row, and may have several values.

    Args:
        parts: by the label of a curve, its things and their values.
        laws: what is stated of all of them.
    """
    listed = {
        label: [(name, ends) for name, value in part if (ends := _ends(value)) is not None]
        for label, part in parts.items()
    }
    names = tuple(dict.fromkeys(name for part in listed.values() for name, _ in part))
    series = []
    for label, part in listed.items():
        if part:
            low, middle, high = zip(*(ends for _, ends in part), strict=True)
            places = tuple(names.index(name) + 1 for name, _ in part)
            series.append(Series(label, places, middle, low, high, "points"))
    lines = [stated(law, {0.5: y, len(names) + 0.5: y}) for law, y in laws.items()]
    return Panel(title, x_label, y_label, (*series, *lines), x_names=names)


def upright(label: str, x: Number, low: Number, high: Number, like: str = "") -> Series:
    """A vertical line."""
    return Series(label, (x, x), (low, high), kind="reference", like=like)


# --- numbers of curves ----------------------------------------------------------------------------


def pivot(panel: Panel) -> Table:
    """The numbers of a panel: a row for each measured place, a column for each curve but for lines
    of one height or one place.

    >>> line = Series("all", (1, 2), (3, 3), kind="reference")
    >>> pivot(Panel("t", "L", "y", (Series("ours", (1, 2), (0.5, 0.25)), line)))
    Table(columns=('L', 'ours'), rows=((1, '0.5'), (2, '0.25')))
    """
    shown = [
        series
        for series in panel.series
        if series.kind != "reference"
        or len(series.x) == 1
        or min(len(set(series.x)), len(set(series.y))) > 1
    ]
    cells = [{x: cell(series, i) for i, x in enumerate(series.x)} for series in shown]
    places = sorted({x for series in shown if series.kind != "reference" for x in series.x})
    names: dict[Number, str] = dict(enumerate(panel.x_names, 1))
    listed = tuple((names.get(x, x), *(column.get(x) for column in cells)) for x in places)
    return Table((panel.x_label, *(series.label for series in shown)), listed)


def cell(series: Series, place: int) -> str:
    """One point of a curve, with the ends of its interval, rounded outward."""
    y = series.y[place]
    if series.low is None or series.high is None:
        return f"{y:,}" if isinstance(y, int) else f"{y:.4g}"
    ends = series.low[place], series.high[place]
    if ends[0] == ends[1]:
        return f"{y:.4g}"
    return f"{centre(y, ends)} {interval(*ends)}"


def points_csv(panels: Iterable[Panel]) -> str:
    """Every point of every curve as CSV: panel, curve, how it is drawn, place, name of the place,
    value, ends of its interval."""
    listed = [
        (panel.title, series.label, series.kind, x, names.get(x, ""), *point)
        for panel in panels
        for names in [dict[Number, str](enumerate(panel.x_names, 1))]
        for series in panel.series
        for x, *point in zip(
            series.x, series.y, series.low or _NO_ENDS, series.high or _NO_ENDS, strict=False
        )
    ]
    return table_csv(Table(("panel", "curve", "kind", "x", "name", "y", "low", "high"), (*listed,)))


_NO_ENDS = repeat("")


def table_csv(table: Table) -> str:
    """A table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def written(panels: Iterable[Panel]) -> list[tuple[str, Table]]:
    """The numbers of each panel that has some, under its title."""
    tables = [(panel.title, pivot(panel)) for panel in panels]
    return [(title, table) for title, table in tables if table.rows]
