"""Exponents: slopes of logarithms against the logarithm of a size, one for each net.

The powers of width and depth that are told apart are multiples of 1/4. An exponent counts as the
stated one if its interval lies within 1/8 of it, so that no other such power is as near.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Ball, Case, Sample, at

TOLERANCE = Fraction(1, 8)


def within(statement: Relational, case: Case) -> Ball:
    """The stated exponent, up to `TOLERANCE`."""
    exact = Fraction(str(at(statement.rhs, case)))
    return Ball(exact - TOLERANCE, exact + TOLERANCE)


def doublings(smallest: int, largest: int) -> tuple[int, ...]:
    """smallest, 2 smallest, 4 smallest, ... up to largest.

    >>> doublings(2, 16)
    (2, 4, 8, 16)
    """
    return tuple(smallest << k for k in range((largest // smallest).bit_length()))


def exponents(sizes: Sequence[int], values: ArrayLike) -> np.ndarray:
    """The e of value = c size^e by least squares on log scales, for each column of positive values
    (sizes, nets), of at least two sizes.

    >>> exponents((1, 2, 4), [[3.0], [12.0], [48.0]]).round(9).tolist()
    [2.0]
    """
    return np.asarray(np.polynomial.polynomial.polyfit(np.log(sizes), np.log(values), 1)[1])


def sample(values: ArrayLike) -> Sample:
    """One observation per net, of six digits: the rest depends on the order in which a machine's
    linear algebra adds."""
    return Sample(tuple(float(f"{v:.6g}") for v in np.asarray(values).ravel()))
