"""How many layers of a hybrid are attention, and which: the one grid that compares ratios, and what
theory says beside it (hybrids.csv). The rest are layers of a mixer (mixers.csv)."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .base.quantities import UsageError
from .counting import count

if TYPE_CHECKING:
    from .architecture import Architecture


class HybridReason(NamedTuple):
    """Why, or what is not known, and whose it is."""

    code: str
    source: str
    wording: str


class HybridAdvice(NamedTuple):
    """The attention layers of a hybrid."""

    mixer: str  # key in mixers.csv, of the other layers
    name: str
    atlas_class: str  # of the atlas, in which theory knows the mixer; empty for none
    advised: bool  # whether the authors of the grid recommend the mixer
    every: tuple[int, int]  # one attention layer in so many, most often and most seldom
    least: int  # attention layers, of all
    most: int
    places: tuple[int, ...]  # layers, counted from 1, where one in every[0] is attention
    extrapolated: bool  # a size that the grid does not reach
    reasons: tuple[HybridReason, ...]


def hybrid_advice(a: Architecture, mixer: str, known_by: int | None = None) -> HybridAdvice:
    """How many layers of a net are attention, where the others are of a mixer.

    Args:
        a: whose depth and size are asked about.
        mixer: a key of mixers.csv.
        known_by: leaves out what was published in later years.

    Raises:
        UsageError: for a year before the grid, and a net too shallow for two kinds of layers.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> found = hybrid_advice(Architecture(24, 2048, 16, 8192, 32000), "gated-deltanet")
    >>> found.least, found.most, found.places
    (4, 6, (4, 8, 12, 16, 20, 24))
    """
    rows = {
        row["code"]: row
        for row in _table("hybrids")
        if known_by is None or int(row["year"]) <= known_by
    }
    if "ratio" not in rows:
        raise UsageError(
            f"no grid compared hybrids by {known_by}: the one there is is of "
            f"{_table('hybrids')[0]['year']}; leave out --mixer, or give a later --known-by"
        )
    grid = rows.pop("ratio")
    often, seldom = int(grid["least"]), int(grid["most"])
    if a.layers < often:
        raise UsageError(
            f"{a.layers} layers are too few for one of attention in {often}; give more layers, or "
            "leave out --mixer"
        )
    known = next(row for row in _table("mixers") if row["key"] == mixer)
    size = count(a).total
    return HybridAdvice(
        mixer,
        known["name"],
        known["class"],
        bool(known["advised"]),
        (often, seldom),
        max(1, math.ceil(a.layers / seldom)),
        a.layers // often,
        tuple(range(often, a.layers + 1, often)),
        not float(grid["smallest"]) <= size <= float(grid["largest"]),
        tuple(HybridReason(code, row["source"], row["wording"]) for code, row in rows.items()),
    )


@cache
def _table(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
