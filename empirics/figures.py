"""Curves and tables as plain data: what a measurement hands to those who draw and print it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Panel", "Scale", "Series", "Table"]

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

    Raises:
        ValueError: where the lengths differ.
    """

    label: str
    x: tuple[Number, ...]
    y: tuple[Number, ...]
    low: tuple[Number, ...] | None = None
    high: tuple[Number, ...] | None = None
    kind: Literal["line", "points", "reference"] = "line"

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.x, self.y, self.low, self.high) if part is not None}
        if len(lengths) != 1 or (self.low is None) != (self.high is None):
            raise ValueError(f"series {self.label!r}: x, y and both ends, or neither, of one "
                             f"length; got {sorted(lengths)}")


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"


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
