"""Softmax attention layers, propagated without losing the small numbers: in float64 by (centre, residual), and in ball arithmetic.

A layer maps tokens X (rows) to the sum over heads of P X W_V, where P = softmax((X W_QK X^T + 1 (X b)^T) / sqrt(d_qk)) by rows. Its
residual, X minus its token mean, shrinks so fast with depth that a plain float64 forward pass shows only rounding after two or three
layers. `propagate` carries the centre and the residual apart, the latter with its logarithmic scale; `attention` is the plain forward
pass on python-flint matrices, where every loss of digits shows as a wider ball.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from flint import arb, arb_mat

__all__ = [
    "Head", "State", "attention", "ball_composite_norm", "ball_norms", "centred", "composite_norm", "gamma", "largest", "perturbation",
    "propagate", "row_ranges", "softmax_rows", "step",
]


class Head(NamedTuple):
    """One head: numpy arrays for `propagate`, flint matrices for `attention`.

    Attributes:
        qk: W_QK = W_Q W_K^T, shape (d, d), not yet divided by sqrt(d_qk).
        value: W_V W_O^T, shape (d, d): the matrix that acts on the right.
        qk_width: d_qk, the query/key width of the head.
        qk_bias: W_K b_Q, shape (d,) or for flint (d, 1); None means zero.
    """

    qk: Any
    value: Any
    qk_width: int = 1
    qk_bias: Any = None


class State(NamedTuple):
    """Tokens X = 1 centre^T + exp(log_norm) residual, where `residual` has composite norm 1, or is 0 with log_norm = -inf."""

    centre: np.ndarray
    residual: np.ndarray
    log_norm: float


def composite_norm(matrix: np.ndarray) -> np.ndarray:
    """The composite norm sqrt(||A||_1 ||A||_inf) of the last two axes: largest column sum and largest row sum of |A|.

    It is positive and homogeneous but violates the triangle inequality. The root is taken of each factor, never of their product,
    which underflows once the norm is below 1e-154.

    Args:
        matrix: shape (..., n, d).

    Returns:
        shape (...).

    >>> A = np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> [round(float(norm), 6) for norm in (composite_norm(A + A.T), composite_norm(A) + composite_norm(A.T))]
    [3.0, 2.828427]
    >>> float(composite_norm(np.full((1, 1), 1e-300)))
    1e-300

    Cost O(n d). Reference: Dong, Cordonnier, Loukas 2021, arXiv:2103.03404 (as reported).
    """
    size = np.abs(np.asarray(matrix, dtype=float))
    return np.sqrt(size.sum(axis=-2).max(axis=-1)) * np.sqrt(size.sum(axis=-1).max(axis=-1))


def gamma(perturbation: np.ndarray) -> float:
    """The factor gamma = sqrt(||D1||_1 ||D1||_inf) / (2 ||E||_1) with D_ii = max_j E_ij - min_j E_ij; at most sqrt(n), and 0 where D = 0.

    The exact wording of this factor in version 2 of the paper is not available to us; this is the value the proof needs.

    Args:
        perturbation: the logits' residual part E, shape (n, n).

    >>> gamma(np.eye(16))
    2.0
    """
    E = np.asarray(perturbation, dtype=float)
    if E.ndim != 2 or E.shape[0] != E.shape[1] or not np.isfinite(E).all():
        raise ValueError(f"gamma needs a finite square matrix of logits, got shape {E.shape}")
    ranges = E.max(axis=1) - E.min(axis=1)
    if not ranges.any():
        return 0.0
    return float(math.sqrt(ranges.sum()) * math.sqrt(ranges.max()) / (2 * np.abs(E).sum(axis=0).max()))


def propagate(centre: np.ndarray, residual: np.ndarray, layers: Sequence[Sequence[Head]]) -> list[State]:
    """The tokens 1 centre^T + residual before, between and after attention layers, with the residual's norm at any size.

    Args:
        centre: shape (d,).
        residual: shape (n, d); a non-zero mean is moved into the centre.
        layers: the heads of each layer, first layer first.

    Returns:
        len(layers) + 1 states; `log_norm` is the natural logarithm of the composite norm of X minus its token mean.

    Raises:
        ValueError: for shapes that do not fit, entries that are not finite, or a residual that grows beyond float64.

    A zero residual stays zero (log_norm = -inf).

    >>> pair = np.array([[0.1], [-0.1]])
    >>> states = propagate(np.zeros(1), pair, [[Head(np.eye(1), np.eye(1))]] * 8)
    >>> [round(s.log_norm / math.log(10), 2) for s in states[1:]]
    [-2.85, -8.85, -26.85, -80.85, -242.85, -728.85, -2186.86, -6560.88]

    Cost O(L H (n^2 d + n d^2)). The recursion is derived at `step`.
    """
    x, R = np.asarray(centre, dtype=float), np.asarray(residual, dtype=float)
    if R.ndim != 2 or x.shape != R.shape[1:]:
        raise ValueError(f"the centre must have shape (d,) and the residual (n, d); got {x.shape} and {R.shape}")
    if not (np.isfinite(x).all() and np.isfinite(R).all()):
        raise ValueError("the centre and the residual must be finite; look for an overflow where they were made")
    states = [_state(x, R, 0.0)]
    for heads in layers:
        states.append(step(states[-1], heads))
    return states


def step(state: State, heads: Sequence[Head]) -> State:
    """One attention layer on a `State`.

    With E = R W_QK R^T / sqrt(d_qk), r the logits' part that is the same in each row, and q = softmax(r), row i of the attention is
    P_ij - q_j = q_j (expm1(E_ij) - z_i) / (1 + z_i), z_i = sum_m q_m expm1(E_im), so the new residual sum_h (P - 1 q^T) R W_V and the
    new centre sum_h W_V^T (x + R^T q) need no subtraction of nearly equal numbers.

    Raises:
        ValueError: when the cube of the residual's norm is beyond float64.
    """
    if state.log_norm > 230:
        raise ValueError(f"the residual has grown to exp({state.log_norm:.0f}); its cube leaves float64, scale the weights down")
    square, scale = math.exp(2 * state.log_norm), math.exp(state.log_norm)
    x, R = state.centre, state.residual
    residual, centre = np.zeros_like(R), np.zeros_like(x)
    for head in heads:
        root = math.sqrt(head.qk_width)
        shared = R @ (head.qk.T @ x) if head.qk_bias is None else R @ (head.qk.T @ x + head.qk_bias)
        q = _softmax(scale * shared / root)
        residual = residual + _deviation((R @ head.qk @ R.T) / root, square, q) @ R @ head.value
        centre = centre + (x + scale * (q @ R)) @ head.value
    return _state(centre, residual, 3 * state.log_norm)


def _state(centre: np.ndarray, residual: np.ndarray, log_scale: float) -> State:
    """The state with tokens 1 centre^T + exp(log_scale) residual, its residual free of the mean."""
    mean = residual.mean(axis=0)
    residual = residual - mean
    norm = float(composite_norm(residual))
    if norm == 0.0:
        return State(centre + math.exp(log_scale) * mean, np.zeros_like(residual), -math.inf)
    return State(centre + math.exp(log_scale) * mean, residual / norm, log_scale + math.log(norm))


def _softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _deviation(E: np.ndarray, square: float, q: np.ndarray) -> np.ndarray:
    """(P - 1 q^T) / square for logits square * E; a shift of a row of E changes nothing, and makes overflow impossible."""
    shifted = E - E.max(axis=1, keepdims=True)
    if square * np.abs(shifted).max() < 2.0**-60:
        # expm1(y) = y to float64 here, and square itself may have underflown.
        return np.asarray(q * (shifted - (shifted @ q)[:, None]))
    small = np.expm1(square * shifted)
    z = (small @ q)[:, None]
    return np.asarray(q * (small - z) / (1 + z) / square)


# --- the same layer in ball arithmetic, as the plain forward pass ---


def attention(tokens: arb_mat, heads: Sequence[Head]) -> arb_mat:
    """The plain softmax attention layer on balls, at the working precision: rigorous, and blind to how `propagate` is derived.

    >>> from flint import arb_mat
    >>> one = Head(arb_mat([[1]]), arb_mat([[1]]))
    >>> abs(attention(arb_mat([[1], [-1]]), [one])[0, 0] - 0.7615941559557649) < 1e-15
    True
    """
    total = None
    for head in heads:
        logits = tokens * head.qk * tokens.transpose()
        if head.qk_bias is not None:
            from flint import arb_mat

            logits += arb_mat(tokens.nrows(), 1, [1] * tokens.nrows()) * (tokens * head.qk_bias).transpose()
        part = softmax_rows(logits * _inverse_root(head.qk_width)) * tokens * head.value
        total = part if total is None else total + part
    if total is None:
        raise ValueError("a layer needs at least one head")
    return total


def softmax_rows(logits: arb_mat) -> arb_mat:
    """Softmax of each row, on balls."""
    from flint import arb_mat

    rows = [[entry.exp() for entry in row] for row in logits.tolist()]
    return arb_mat([[entry / sum(row) for entry in row] for row in rows])


def perturbation(residual: arb_mat, head: Head) -> arb_mat:
    """E = R W_QK R^T / sqrt(d_qk), on balls: the part of the logits that differs between rows."""
    return residual * head.qk * residual.transpose() * _inverse_root(head.qk_width)


def row_ranges(E: arb_mat) -> list[arb]:
    """D_ii = max_j E_ij - min_j E_ij, on balls."""
    return [largest(row) + largest([-entry for entry in row]) for row in E.tolist()]


def centred(tokens: arb_mat) -> arb_mat:
    """Tokens minus their mean, on balls."""
    from flint import arb_mat

    n = tokens.nrows()
    return arb_mat([[entry - sum(column) / n for entry in column] for column in tokens.transpose().tolist()]).transpose()


def ball_norms(matrix: arb_mat) -> tuple[arb, arb]:
    """||A||_1 and ||A||_inf (largest column sum and largest row sum of |A|), on balls."""
    from flint import arb

    rows = [[abs(entry) for entry in row] for row in matrix.tolist()]
    return largest([sum(column, arb(0)) for column in zip(*rows, strict=True)]), largest([sum(row, arb(0)) for row in rows])


def ball_composite_norm(matrix: arb_mat) -> arb:
    """The composite norm, on balls."""
    one, infinity = ball_norms(matrix)
    return one.sqrt() * infinity.sqrt()


def largest(entries: Sequence[arb]) -> arb:
    """The maximum of balls."""
    best = entries[0]
    for entry in entries[1:]:
        best = best.max(entry)
    return best


def _inverse_root(width: int) -> arb:
    from flint import arb

    return arb(width).rsqrt()
