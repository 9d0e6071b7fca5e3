"""How many layers of a hybrid are attention, and which: the one grid that compares ratios, and what
theory says beside it (hybrids.csv). The rest are layers of a mixer (mixers.csv)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .base.quantities import UsageError, plural
from .counting import count
from .initialisation_advice import rows

if TYPE_CHECKING:
    from .architecture import Architecture


# Sizes of a grid are nominal: one so many times larger or smaller is of the grid.
_NOMINAL = 1.25


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
    layers: int  # with weights of their own
    least: int  # attention layers among these
    most: int
    places: tuple[int, ...]  # layers, counted from 1, where one in every[0] is attention
    extrapolated: bool  # a size that the grid does not reach
    reasons: tuple[HybridReason, ...]


def hybrid_advice(a: Architecture, mixer: str, known_by: int | None = None) -> HybridAdvice:
    """How many layers of a net are attention, where the others are of a mixer, a key of mixers.csv,
    by what was published by a year.

    Raises:
        UsageError: for a year before the grid, and a net that is no decoder or too shallow.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> found = hybrid_advice(Architecture(24, 2048, 16, 8192, 32000), "gated-deltanet")
    >>> found.least, found.most, found.places
    (4, 6, (4, 8, 12, 16, 20, 24))
    """
    grid, *reasons = rows("hybrids")
    if known_by is not None and known_by < int(grid["year"]):
        raise UsageError(f"no grid compared hybrids by {known_by}; try --known-by {grid['year']}")
    often, seldom = int(grid["least"]), int(grid["most"])
    if a.kind != "decoder":
        raise UsageError(
            f"--mixer is about decoders, as the grid of hybrids is; this is an {a.kind}"
        )
    layers, size = a.own_layers, count(a).total
    if layers < often:
        few = plural(layers, "own layer")
        raise UsageError(f"{few} cannot have one of attention in {often}; leave out --mixer")
    known = next(row for row in rows("mixers") if row["key"] == mixer)
    return HybridAdvice(
        mixer,
        known["name"],
        known["class"],
        bool(known["advised"]),
        (often, seldom),
        layers,
        math.ceil(layers / seldom),
        layers // often,
        tuple(range(often, layers + 1, often)),
        not float(grid["smallest"]) / _NOMINAL <= size <= float(grid["largest"]) * _NOMINAL,
        tuple(
            HybridReason(row["code"], row["source"], row["wording"])
            for row in reasons
            if row["of"] in ("", known["class"])
            and (known_by is None or int(row["year"]) <= known_by)
        ),
    )
