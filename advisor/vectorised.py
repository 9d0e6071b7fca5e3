"""Recommendations for arrays of sizes, the same as one by one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import numpy.typing as npt

from .architecture import Architecture
from .base.quantities import LEAST, MOST, UsageError
from .recommendation import depths_within, ladder_for
from .shape_search import FARTHEST, middles
from .shapes import Constraints, Measure

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shapes:
    """A recommended shape for each of an array of sizes, every field of the sizes' form."""

    size: Integers  # parameters, by the count that the sizes were given in
    layers: Integers
    width: Integers
    heads: Integers
    kv_heads: Integers
    d_ff: Integers
    low: Integers  # the least depth within 1 % of the best loss; 0 where no grid says
    high: Integers  # the greatest


def recommend_depths(
    parameters: npt.ArrayLike,
    constraints: Constraints | None = None,
    of: Measure = "total",
    known_by: int | None = None,
) -> Shapes:
    """The shapes that `recommend` gives for many sizes at once.

    Args:
        parameters: an array of any form of sizes, 1e3 to 1e15.
        constraints: what every shape must obey.
        of: what the sizes count: total, nonembedding or active parameters.
        known_by: as of a year.

    Raises:
        UsageError: for sizes that are not finite or out of range, and where no shape can be built.

    Cost: 0.2 ms for each 0.8 % between the least and the greatest size, once; then a lookup.

    >>> recommend_depths([1e8, 1e9, 1e10]).layers.tolist() == [
    ...     recommend_depths(size).layers.item() for size in (1e8, 1e9, 1e10)]
    True
    """
    sizes = np.asarray(parameters, dtype=float)
    if not (np.isfinite(sizes).all() and (sizes >= LEAST).all() and (sizes <= MOST).all()):
        raise UsageError(f"sizes must be finite numbers from {LEAST:g} to {MOST:g}, such as 3e9")
    if not sizes.size:
        return Shapes(*(np.zeros(sizes.shape, dtype=np.int64) for _ in fields(Shapes)))
    demanded = constraints or Constraints()
    rungs = ladder_for(demanded, of, known_by).around(float(sizes.min()), float(sizes.max()))
    place = np.searchsorted(np.array(middles(rungs)), sizes)
    table = np.zeros((len(rungs), len(fields(Shapes))), dtype=np.int64)
    for used in np.unique(place) if rungs else ():
        table[used] = (rungs[used].size, *_row(rungs[used].architecture, demanded, known_by))
    rows = table[place] if rungs else np.zeros((*sizes.shape, len(fields(Shapes))), dtype=np.int64)
    far = rows[..., 0] == 0
    far |= np.abs(np.log(np.where(far, 1, rows[..., 0]) / sizes)) > FARTHEST
    if far.any():
        raise UsageError(
            f"no shape near {sizes[far].flat[0]:.3g} parameters and near the "
            "recommended depth can be built; relax a constraint or leave it out"
        )
    return Shapes(*np.moveaxis(rows, -1, 0))


@cache
def _row(a: Architecture, c: Constraints, known_by: int | None) -> tuple[int, ...]:
    within = depths_within(a, c, known_by)
    return (
        a.layers,
        a.width,
        a.heads,
        a.key_heads,
        a.d_ff,
        *((within.low, within.high) if within else (0, 0)),
    )
