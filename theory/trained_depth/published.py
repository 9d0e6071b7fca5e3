"""The published errors of hop_k as cases beside which trained nets are put, and what their own noise leaves open.

The table is that of Sanford, Hsu and Telgarsky 2024 (arXiv:2402.09268v1, Figures 2, 6 and 8, and the authors' results file) for 4 heads and
width 128; it stands in theory/hops/hop_errors.csv, which the claims about the published models read too.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ..claim import Ball, Case, at
from ..hops.experiment import error_rows

if TYPE_CHECKING:
    from sympy.core.relational import Relational

__all__ = ["LEVEL", "SCHEDULE", "SEQUENCES", "Cell", "cells", "mean_ends", "predicted"]

# Sequences for each k behind a published error, and the places it is printed to.
SEQUENCES, _PLACES = 100, 4

# How often the expectation behind one published number may lie outside its interval: `judgement.FALSE_ALARM_BUDGET` shared by the 25 cells,
# apart from what the suite's own samples spend. Written out, so that a change of the comparison rule does not train these nets again.
LEVEL = 1e-3 / 25

SCHEDULE = ("The published L = 6 is read from the file of step 100000 of a schedule of 200001 steps, at about half its peak rate; ours, like "
            "the others, has decayed to about 0 by then.")


class Cell(NamedTuple):
    """One published error, as it is printed: for hop_k, by a model of so many layers."""

    hops: int
    depth: int
    error: str

    def case(self, *, dropout: bool, symbols: int = 98, hops_max: int = 16) -> Case:
        """The case that puts trained nets beside it; by default of the published size."""
        return Case(task="hop_k", symbols=symbols, alphabet=4, hops_max=hops_max, hops=self.hops, depth=self.depth, dropout=dropout,
                    published_error=self.error)


def cells() -> Iterator[Cell]:
    """The 25 published errors with dropout left on, k = 1, 2, 4, 8, 16 by L = 2..6.

    >>> [cell.error for cell in cells() if cell.depth == 2]
    ['0.0100', '0.1401', '0.4226', '0.6581', '0.7365']

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Figures 2, 6 and 8.
    """
    for row in error_rows("on", "printed"):
        yield Cell(row.hops, row.depth, f"{float(row.error):.{_PLACES}f}")


def mean_ends(share: float, count: int, level: float) -> tuple[float, float]:
    """What can be expected where so many independent numbers from [0, 1] have that mean.

    With expectation p, a mean of x or more (for x >= p; of x or less for x <= p) has probability at most exp(-n KL(x, p)), where KL is the
    relative entropy of two coins. The ends are the p at which this is half the level, on either side. This needs neither equal
    distributions nor a variance; for coins it is a little wider than the interval of Clopper and Pearson.

    Args:
        share: the mean, in [0, 1].
        count: n.
        level: how often the interval may miss, in (0, 1).

    Returns:
        Low and high end, in [0, 1]; bisection stops outside.

    Raises:
        ValueError: for arguments outside these ranges.

    >>> [round(end, 3) for end in mean_ends(0.5, 100, 4e-5)], [round(end, 3) for end in mean_ends(0.0, 100, 4e-5)]
    ([0.279, 0.721], [0.0, 0.103])

    Cost: O(1). References: Hoeffding 1963, Probability Inequalities for Sums of Bounded Random Variables, Theorem 1, (2.1).
    """
    if not (0 <= share <= 1 and count >= 1 and 0 < level < 1):
        raise ValueError(f"a mean of {share:g} of {count} numbers at level {level:g}: accepted are 0 to 1, at least 1, and between 0 and 1")
    return max(0.0, 1 - _highest(1 - share, count, level)), _highest(share, count, level)


def _highest(share: float, count: int, level: float) -> float:
    inside, outside = share, 1.0
    for _ in range(60):
        middle = (inside + outside) / 2
        if middle < 1 and count * _relative_entropy(share, middle) <= math.log(2 / level):
            inside = middle
        else:
            outside = middle
    return outside


def _relative_entropy(share: float, chance: float) -> float:
    """KL(x, p) of a coin of chance x from one of chance p, 0 < p < 1, in nats."""
    ones = share * math.log(share / chance) if share else 0.0
    return ones + ((1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0)


def predicted(statement: Relational, case: Case) -> Ball:
    """The accuracies that a published error leaves open, see `mean_ends`, for what its rounding leaves open; outwards to six places.

    Raises:
        ValueError: where the right side is no share.

    >>> from sympy import Eq, Symbol
    >>> found = predicted(Eq(Symbol("a"), 1 - Symbol("published_error")), Case(published_error="0.1401"))
    >>> float(found.low), float(found.high)
    (0.654488, 0.96891)
    """
    right = at(statement.rhs, case)
    if not (right.is_Rational and 0 <= right <= 1):
        raise ValueError(f"a published accuracy of {right}: accepted is a share from 0 to 1")
    accuracy, half = Fraction(int(right.p), int(right.q)), Fraction(1, 2 * 10**_PLACES)
    low, _ = mean_ends(float(max(Fraction(0), accuracy - half)), SEQUENCES, LEVEL)
    _, high = mean_ends(float(min(Fraction(1), accuracy + half)), SEQUENCES, LEVEL)
    return Ball(Fraction(math.floor(low * 10**6), 10**6), Fraction(math.ceil(high * 10**6), 10**6))
