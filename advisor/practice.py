"""What of a shape somebody built, computed from the dense decoders of models.csv, each shape once.

A share of recipes that is "most" is three in four: `Practice.factors` are the nearest ends, by
their ratio, between which the d_ff / d of so many lie.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache
from itertools import accumulate
from math import ceil, log
from typing import NamedTuple

from .architecture import Architecture
from .models import models

_MOST = 3 / 4

Ends = tuple[float, float]


class Practice(NamedTuple):
    """Ranges and sets over what was built."""

    factors: dict[bool, Ends]  # d_ff / d of most nets, gated and not
    all_factors: dict[bool, Ends]  # and of all
    head_widths: tuple[int, ...]  # even ones, the most usual first
    usual_head_widths: tuple[int, ...]  # the fewest that most nets have
    heads: frozenset[tuple[int, int]]  # with the width
    kv_heads: frozenset[int]  # where they are fewer than the query heads
    layers: int  # the most
    width: int


class Unbuilt(NamedTuple):
    """A part of a shape that no listed model has."""

    part: str  # d_ff, heads, kv-heads, head-width, layers, width
    value: float


@cache
def practice() -> Practice:
    """What the listed dense decoders have.

    >>> practice().usual_head_widths, practice().factors[False]
    ((128, 64), (4.0, 4.0))
    """
    parts = ("kv_heads", "d_ff", "matrices")
    listed = (m for m in models() if m.complete and m.kind == "decoder")
    nets = {(m.layers, m.width, m.heads, *(m.sizes[part] for part in parts)): m for m in listed}
    dense = nets.values()
    factors = {
        gated: sorted(m.sizes["d_ff"] / m.width for m in dense if m.sizes["matrices"] == 2 + gated)
        for gated in (False, True)
    }
    head_widths = Counter(m.sizes["head_width"] for m in dense).most_common()
    so_far = accumulate(number for _, number in head_widths)
    usual = bisect_left(list(so_far), _MOST * len(dense)) + 1
    return Practice(
        {gated: _most(found) for gated, found in factors.items()},
        {gated: (found[0], found[-1]) for gated, found in factors.items()},
        tuple(width for width, _ in head_widths if width % 2 == 0),
        tuple(width for width, _ in head_widths[:usual]),
        frozenset((m.width, m.heads) for m in dense),
        frozenset(m.sizes["kv_heads"] for m in dense if m.sizes["kv_heads"] < m.heads),
        max(m.layers for m in dense),
        max(m.width for m in dense),
    )


def _most(numbers: list[float]) -> Ends:
    """The nearest ends, by the ratio, between which most of some sorted numbers lie."""
    many = ceil(_MOST * len(numbers))
    ends = zip(numbers, numbers[many - 1 :], strict=False)
    return min(ends, key=lambda pair: log(pair[1] / pair[0]))


@cache
def heads_built(heads: int, width: int) -> bool:
    """Whether nets of half to twice the width have fewer or as many and more or as many heads, and
    some net exactly so many, unless 4 GPUs share them.

    >>> [heads_built(heads, 1024) for heads in (8, 11, 12, 17, 64)]
    [True, False, True, True, False]
    """
    built = practice().heads
    near = [number for wide, number in built if width / 2 <= wide <= 2 * width]
    exactly = heads % 4 == 0 or any(number == heads for _, number in built)
    return exactly and bool(near) and min(near) <= heads <= max(near)


def kv_heads_built(kv_heads: int, heads: int) -> bool:
    """Whether somebody built so many; one for every query head is the plain net."""
    return kv_heads == heads or kv_heads in practice().kv_heads


def unbuilt(a: Architecture) -> tuple[Unbuilt, ...]:
    """What no listed dense decoder has of a net; the inner widths of experts are not compared.

    >>> from .architecture import Architecture
    >>> [found.part for found in unbuilt(Architecture(32, 1408, 11, 14080, 32000, kv_heads=11))]
    ['d_ff', 'heads']
    """
    built, factor = practice(), a.d_ff / a.width
    ends = built.all_factors[a.gated]
    found = [
        (Unbuilt("d_ff", factor), not a.experts and not ends[0] <= factor <= ends[1]),
        (Unbuilt("heads", a.heads), not heads_built(a.heads, a.width)),
        (Unbuilt("kv-heads", a.key_heads), not kv_heads_built(a.key_heads, a.heads)),
        (Unbuilt("head-width", a.head_size), a.head_size not in built.head_widths),
        (Unbuilt("layers", a.layers), a.layers > built.layers),
        (Unbuilt("width", a.width), a.width > built.width),
    ]
    return tuple(part for part, there in found if there)
