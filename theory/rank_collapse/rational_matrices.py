"""Rational matrices: their norms and products are exact, and only the composite norm has a root."""
from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from ..exact.enclosure import from_fraction
from ..values import Ball, Case, Exact

Matrix = list[list[Fraction]]


def norms(matrix: Matrix) -> tuple[Fraction, Fraction]:
    """||A||_1 and ||A||_inf: the largest column sum and the largest row sum of |A|.

    >>> norms([[Fraction(1), Fraction(-2)], [Fraction(0), Fraction(3)]])
    (Fraction(5, 1), Fraction(3, 1))
    """
    columns, rows = (
        max(sum((abs(v) for v in line), Fraction(0)) for line in lines)
        for lines in (transposed(matrix), matrix))
    return columns, rows


def squared_norm(matrix: Matrix) -> Fraction:
    """The square of the composite norm."""
    one, infinity = norms(matrix)
    return one * infinity


def transposed(matrix: Matrix) -> Matrix:
    """The transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product."""
    columns = transposed(right)
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
             for column in columns] for row in left]


def rank(matrix: Matrix) -> int:
    """Rank over the rationals."""
    return int(fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in matrix]).rank())


def random_matrix(case: Case, rows: int, columns: int, salt: int = 0) -> Matrix:
    """Integers from -9 to 9; `salt` gives a second, independent matrix of the same case."""
    entries = case.rng(salt).integers(-9, 10, (rows, columns))
    return [[Fraction(int(v)) for v in row] for row in entries]


def root(square: Fraction) -> Exact | Ball:
    """The root of a rational number: exact where it is rational, a ball otherwise."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Exact(Fraction(top, bottom))
    return Ball.of(from_fraction(square).sqrt())


def rational_array(entries: Any) -> np.ndarray:
    """Integers or fractions as an array of fractions, on which +, @ and / are exact."""
    array: Any = np.asarray(entries, dtype=object)
    return array + Fraction(0)


def row_stochastic(weights: Any) -> np.ndarray:
    """Each row of an array of fractions over its sum."""
    array = rational_array(weights)
    return array / array.sum(axis=1, keepdims=True)
