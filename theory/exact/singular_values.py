"""Rigorous enclosures of what the best approximations of each rank leave of an exact matrix.

The distance of F to the matrices of rank at most r, in the Frobenius norm, is the root of the sum
of the squares of its singular values from the (r+1)-th on (Eckart & Young 1936). Distances to a set
change by no more than the matrix does. So a float64 decomposition U diag(s) V^T serves, however it
was found, where s descends: with orthonormal U and V its own distances are sums of squares of s,
and what F differs from it by, and U and V from orthonormal ones, is bounded in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from ..claims.values import Ball
from .enclosure import from_fraction

_BITS = 256


@dataclass(frozen=True)
class Tails:
    """Enclosures of sqrt(sum_{i>r} sigma_i^2) / ||F||_F for r from 0 to the shorter side, where it
    is 0. A low end of 0: too small for float64 vectors to tell it from 0."""

    balls: tuple[Ball, ...]

    def at(self, rank: int) -> Ball:
        """The tail beyond a rank, which is not negative; 0 from the shorter side on."""
        if rank < 0:
            raise ValueError(f"rank={rank}: accepted are ranks from 0 on")
        return self.balls[min(rank, len(self.balls) - 1)]

    def floats(self) -> NDArray[np.float64]:
        """The low ends as floats, for pictures."""
        return np.array([float(ball.low) for ball in self.balls])


def tails(matrix: NDArray[Any] | Sequence[Sequence[int | Fraction]]) -> Tails:
    """Enclosures of the tails of a matrix of whole or rational numbers, for all ranks at once.

    With E = ||U^T U - I||_F < 1 there is an orthonormal Q with ||U - Q||_F <= E (the polar factor:
    |s - 1| <= |s^2 - 1|), likewise P for V. So F is within
    ||F - U S V^T|| + (E_U ||V||_2 + E_V) ||S||_F of Q S P^T, and its tails are within that of those
    of S.

    Args:
        matrix: shape (m, n), of Python integers of any size, or fractions; not all 0.

    Returns:
        Balls of a width that grows with the sides: less than 1e-13 at n = 64, relative to ||F||_F.

    Raises:
        ValueError: for a matrix that is empty, or 0.
        TypeError: for floats, which are not exact.

    Cost: one float64 decomposition and three products of n x n matrices of balls: about a second at
    n = 300.

    >>> found = tails([[3, 0], [0, 4]])
    >>> [round(float(ball.low), 12) for ball in found.balls], float(found.at(2).high)
    ([1.0, 0.6, 0.0], 0.0)

    References: C. Eckart and G. Young, Psychometrika 1 (1936) 211-218.
    """
    exact = np.asarray(matrix, dtype=object)
    if exact.ndim != 2 or not exact.size:
        raise ValueError(f"the matrix has shape {exact.shape}; accepted is (m, n), not empty")
    if any(isinstance(value, float | np.floating) for value in exact.flat):
        raise TypeError("floats are not exact: give whole numbers or fractions")
    (rows, columns), fractions = exact.shape, [Fraction(value) for value in exact.flat]
    largest = max(map(abs, fractions))
    if not largest:
        raise ValueError("the matrix is 0: its tails relative to its norm are not defined")
    scaled = [value / largest for value in fractions]
    rounded = np.array([float(value) for value in scaled]).reshape(exact.shape)
    left, sizes, right = np.linalg.svd(rounded, full_matrices=False)
    with flint.ctx.workprec(_BITS):
        f = arb_mat(rows, columns, [from_fraction(value) for value in scaled])
        u, s, v = _balls(left), _balls(np.diag(sizes)), _balls(right)
        loose = _defect(u.transpose() * u), _defect(v * v.transpose())
        if not all(defect < 1 for defect in loose):
            raise ArithmeticError("the float64 decomposition is not orthonormal")
        squares = [arb(0)]
        for size in sizes[::-1]:
            squares.append(squares[-1] + arb(float(size)) ** 2)
        near = squares[::-1]
        norm = near[0].sqrt()
        off = _norm(f - u * s * v) + (loose[0] * (1 + loose[1]) + loose[1]) * norm
        whole = _norm(f)
        balls = [Ball(Fraction(1), Fraction(1))]
        for square in near[1:-1]:
            ball = square.sqrt()
            low, high = (ball - off) / whole, (ball + off) / whole
            balls.append(Ball(max(Fraction(0), Ball.of(low).low), Ball.of(high).high))
    return Tails((*balls, Ball(Fraction(0), Fraction(0))))


def _balls(matrix: NDArray[np.float64]) -> arb_mat:
    return arb_mat(len(matrix), matrix.shape[1], [arb(float(value)) for value in matrix.flat])


def _norm(matrix: arb_mat) -> arb:
    """The Frobenius norm."""
    return sum((entry**2 for entry in matrix.entries()), arb(0)).sqrt()


def _defect(gram: arb_mat) -> arb:
    """||G - I||_F."""
    for i in range(gram.nrows()):
        gram[i, i] -= 1
    return _norm(gram)
