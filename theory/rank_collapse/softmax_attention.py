"""Softmax attention layers in ball arithmetic, and instances with prescribed norms.

A layer maps tokens X (rows) to the sum over heads of P X W_V, where P is the softmax by rows of
(X W_QK X^T + 1 (X b)^T) / sqrt(d_qk), run forward as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import flint
import numpy as np
from flint import arb, arb_mat

from ..claims.values import Ball, Case
from ..exact.enclosure import from_fraction


class SoftmaxHead(NamedTuple):
    """One head: W_QK = W_Q W_K^T, shape (d, d), not yet divided by sqrt(d_qk); W_V W_O^T, shape
    (d, d), which acts on the right; d_qk; and W_K b_Q, shape (d, 1), or None for zero."""

    qk: arb_mat
    value: arb_mat
    qk_width: int = 1
    qk_bias: arb_mat | None = None

    def perturbation(self, residual: arb_mat) -> arb_mat:
        """E = R W_QK R^T / sqrt(d_qk): the part of the logits that differs between rows."""
        return residual * self.qk * residual.transpose() * arb(self.qk_width).rsqrt()

    def gammas(self, residual: arb_mat) -> tuple[arb, arb]:
        """||D1||_1 / (2 ||E||_1) and ||D1||_inf / (2 ||E||_1); gamma^2 is their product."""
        E = self.perturbation(residual)
        ranges, double = row_ranges(E), 2 * ball_norms(E)[0]
        return sum(ranges) / double, largest(ranges) / double


# --- in float64 ---


def composite_norm(matrix: np.ndarray) -> np.ndarray:
    """The composite norm sqrt(||A||_1 ||A||_inf) of the last two axes, shape (..., n, d).

    The root is taken of each factor: their product underflows once the norm is below 1e-154.

    >>> A = np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> [float(norm.round(6)) for norm in (composite_norm(A + A.T), composite_norm(A) * 2)]
    [3.0, 2.828427]
    """
    size = np.abs(np.asarray(matrix, dtype=float))
    columns, rows = size.sum(axis=-2).max(axis=-1), size.sum(axis=-1).max(axis=-1)
    return np.sqrt(columns) * np.sqrt(rows)


def gamma(E: np.ndarray) -> float:
    """sqrt(||D1||_1 ||D1||_inf) / (2 ||E||_1), D_ii = max_j E_ij - min_j E_ij; 0 where D = 0.

    How version 2 of the paper words it is not available to us; this is the value the proof needs.

    >>> gamma(np.eye(16))
    2.0
    """
    ranges = E.max(axis=1) - E.min(axis=1)
    if not ranges.any():
        return 0.0
    root = math.sqrt(ranges.sum()) * math.sqrt(ranges.max())
    return float(root / (2 * np.abs(E).sum(axis=0).max()))


# --- in balls ---


def attention(tokens: arb_mat, heads: Sequence[SoftmaxHead]) -> arb_mat:
    """The attention layer, at the working precision.

    >>> one = SoftmaxHead(arb_mat([[1]]), arb_mat([[1]]))
    >>> abs(attention(arb_mat([[1], [-1]]), [one])[0, 0] - 0.7615941559557649) < 1e-15
    True
    """
    total = None
    for head in heads:
        logits = tokens * head.qk * tokens.transpose()
        if head.qk_bias is not None:
            ones = arb_mat(tokens.nrows(), 1, [1] * tokens.nrows())
            logits += ones * (tokens * head.qk_bias).transpose()
        part = softmax_rows(logits * arb(head.qk_width).rsqrt()) * tokens * head.value
        total = part if total is None else total + part
    if total is None:
        raise ValueError("a layer needs at least one head")
    return total


def softmax_rows(logits: arb_mat) -> arb_mat:
    """Softmax of each row."""
    rows = [[entry.exp() for entry in row] for row in logits.tolist()]
    return arb_mat([[entry / sum(row) for entry in row] for row in rows])


def row_ranges(E: arb_mat) -> list[arb]:
    """D_ii = max_j E_ij - min_j E_ij."""
    return [largest(row) + largest([-entry for entry in row]) for row in E.tolist()]


def centred(tokens: arb_mat) -> arb_mat:
    """Tokens minus their mean."""
    n, columns = tokens.nrows(), tokens.transpose().tolist()
    moved = [[entry - sum(column) / n for entry in column] for column in columns]
    return arb_mat(moved).transpose()


def ball_norms(matrix: arb_mat) -> tuple[arb, arb]:
    """||A||_1 and ||A||_inf: the largest column sum and the largest row sum of |A|."""
    rows = [[abs(entry) for entry in row] for row in matrix.tolist()]
    columns = [sum(column, arb(0)) for column in zip(*rows, strict=True)]
    return largest(columns), largest([sum(row, arb(0)) for row in rows])


def ball_composite_norm(matrix: arb_mat) -> arb:
    """The composite norm."""
    one, infinity = ball_norms(matrix)
    return one.sqrt() * infinity.sqrt()


def residual_norm(tokens: arb_mat) -> arb:
    """The composite norm of the tokens minus their mean."""
    return ball_composite_norm(centred(tokens))


def largest(entries: Sequence[arb]) -> arb:
    """The maximum."""
    best = entries[0]
    for entry in entries[1:]:
        best = best.max(entry)
    return best


def resolved(quantity: Callable[[], arb]) -> arb:
    """The quantity at the first working precision that leaves it 60 correct bits: cancellation
    costs 3^L times the digits after L layers."""
    bits = 192
    while bits <= 2**16:
        with flint.ctx.workprec(bits):
            value = quantity()
        if value.is_finite() and value.rel_accuracy_bits() >= 60:
            with flint.ctx.workprec(96):
                return value * 1
        bits *= 2
    raise ArithmeticError(
        f"{bits // 2} bits do not resolve the measured quantity; "
        "the residual is too small for this case"
    )


def lies_above(value: Ball, bound: Fraction) -> bool:
    """Whether a rigorously enclosed number of a network lies above a bound; an ArithmeticError
    when the enclosure, which has 60 correct bits, holds it."""
    if value.low <= bound < value.high:
        raise ArithmeticError(
            f"the network lies within 60 bits of the bound {bound}; choose a case that does not"
        )
    return value.low > bound


# --- instances ---


def instance(case: Case) -> tuple[arb_mat, list[list[SoftmaxHead]]]:
    """Tokens and layers that have exactly the norms the case names, from random integers.

    The tokens are centre + R with R a set closed under x -> -x, so the token mean is also a
    minimiser of the composite norm over all centres, and "residual" has one meaning. Without `bias`
    the centre and the query bias are zero and every layer keeps that symmetry.
    """
    if case.tokens % 2:
        raise ValueError(
            f"the tokens come in pairs x, -x: their number must be even, got {case.tokens}"
        )
    rng, n, d, residual = case.rng(0), case.tokens, case.width, case.rational("residual")

    def integers(rows: int) -> list[list[int]]:
        """Of size 1 to 9, none zero, so that no norm vanishes."""
        drawn = rng.integers(1, 10, (rows, d)) * rng.choice([-1, 1], (rows, d))
        return [[int(v) for v in row] for row in drawn]

    half = integers(n // 2)
    R = arb_mat(half + [[-v for v in row] for row in half])
    R = R * (from_fraction(residual) / ball_composite_norm(R))
    beta, value_norm = case.get("beta"), Fraction(case.get("value_norm", 1))
    qk_norm = case.rational("qk_norm") if beta is None else Fraction(beta) / value_norm
    bias, centre = None, [0] * d
    if case.get("bias", 0):
        drawn = rng.integers(-1, 2, d)
        bias = arb_mat(d, 1, [from_fraction(int(v) / residual) for v in drawn])

    def head() -> SoftmaxHead:
        qk, value = arb_mat(integers(d)), arb_mat(integers(d))
        qk = qk * (from_fraction(qk_norm) / ball_norms(qk)[0])
        value = value * (from_fraction(value_norm) / ball_composite_norm(value))
        return SoftmaxHead(qk, value, case.get("qk_width", 1), bias)

    layers = [[head() for _ in range(case.get("heads", 1))] for _ in range(case.get("depth", 1))]
    if bias is not None:
        centre = [int(v) for v in rng.integers(-3, 4, d)]
    return R + arb_mat([centre] * n), layers


def about_best_centre(norm: arb, case: Case) -> Ball:
    """The residual about the best centre, from the one about the mean.

    With a bias the outputs lose their symmetry, and the mean is only within 2 (1 - 1/n) of it.
    """
    if case.get("bias", 0):
        norm = norm.union(norm / (2 - from_fraction(Fraction(2, case.tokens))))
    return Ball.of(norm)
