"""Matrices of fractions, as arrays on which +, @ and / are exact; only the norm has a root."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from ..claims.values import Ball, Case, Exact
from ..exact.enclosure import from_fraction


def rational_array(entries: Any) -> np.ndarray:
    """Integers or fractions as an array of fractions."""
    array: Any = np.asarray(entries, dtype=object)
    return array + Fraction(0)


def random_matrix(case: Case, rows: int, columns: int, salt: int = 0) -> np.ndarray:
    """Integers from -9 to 9; `salt` gives a second, independent matrix of the same case."""
    return rational_array(case.rng(salt).integers(-9, 10, (rows, columns)))


def row_stochastic(weights: Any) -> np.ndarray:
    """Each row of an array of fractions over its sum."""
    array = rational_array(weights)
    return array / array.sum(axis=1, keepdims=True)


def norms(matrix: np.ndarray) -> tuple[Fraction, Fraction]:
    """||A||_1 and ||A||_inf: the largest column sum and the largest row sum of |A|.

    >>> norms(rational_array([[1, -2], [0, 3]]))
    (Fraction(5, 1), Fraction(3, 1))
    """
    size = np.abs(matrix)
    return size.sum(axis=0).max(), size.sum(axis=1).max()


def squared_norm(matrix: np.ndarray) -> Fraction:
    """The square of the composite norm."""
    one, infinity = norms(matrix)
    return one * infinity


def rank(matrix: np.ndarray) -> int:
    """Rank over the rationals."""
    return int(fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in matrix]).rank())


def root(square: Fraction) -> Exact | Ball:
    """The root of a rational number: exact where it is rational, a ball otherwise."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Exact(Fraction(top, bottom))
    return Ball.of(from_fraction(square).sqrt())
