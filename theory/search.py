"""Continuous families of instances in which `depthlaw falsify` looks for counterexamples.

A `Search` maps a real vector to one instance of a case. Its objective is a fast float estimate of the measured quantity, which an
optimiser pushes; its `measured` is the rigorous value at a rational point, which alone can refute.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .rank_collapse.softmax_attention import composite_norm, gamma
from .values import Ball, Case, Measured

if TYPE_CHECKING:
    from flint import arb, arb_mat

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Search:
    """One case's instances, parametrised by `size` real numbers.

    Attributes:
        case: the case; its assumptions hold for every instance.
        size: how many real numbers fix an instance.
        objective: (vector) -> float estimate of the measured quantity; nan where the vector gives no instance.
        measured: (rational point) -> the rigorous value there.
    """

    case: Case
    size: int
    objective: Callable[[np.ndarray], float]
    measured: Callable[[Point], Measured]


def searches(key: str) -> tuple[Search, ...]:
    """The searches of a claim; empty for a claim that has none (then only seeds can be varied)."""
    if key in ("rank_collapse/one_layer_cubic", "rank_collapse/one_layer_cubic_v1"):
        return tuple(_one_layer(case, per_gamma=not key.endswith("v1")) for case in _ONE_LAYER_CASES)
    if key in ("rank_collapse/softmax_perturbation", "rank_collapse/softmax_perturbation_below"):
        side = -1 if key.endswith("below") else 1
        return tuple(_softmax(Case(instance="searched", range=r, tokens=n), side) for n in (2, 3, 4) for r in ("1/1000", "1", "157/125"))
    return ()


# Small logits, where the cubic law is exact to first order, and logits at the edge of the lemma's range.
_ONE_LAYER_CASES = tuple(
    Case(tokens=n, width=d, residual=r, qk_norm=q, value_norm="1", qk_width=1, bias=0)
    for n, d in ((2, 1), (4, 1), (4, 2), (6, 3)) for r, q in (("1/1000", "1"), ("1", "1/2")))


def _one_layer(case: Case, *, per_gamma: bool) -> Search:
    """Tokens R, -R (so that the token mean is the best centre), one head; all norms are those the case names."""
    size = case.tokens // 2 * case.width + 2 * case.width**2
    return Search(case, size, lambda vector: _residual_estimate(case, vector, per_gamma), lambda point: _residual(case, point, per_gamma))


def _split(case: Case, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens, query-key matrix and value matrix, not yet scaled to their norms."""
    n, d = case.tokens, case.width
    half = n // 2 * d
    R = vector[:half].reshape(n // 2, d)
    return np.vstack([R, -R]), vector[half:half + d * d].reshape(d, d), vector[half + d * d:].reshape(d, d)


def _residual_estimate(case: Case, vector: np.ndarray, per_gamma: bool) -> float:
    R, qk, value = _split(case, vector)
    norms = composite_norm(R), np.abs(qk).sum(axis=0).max(), composite_norm(value)
    if min(norms) == 0:
        return float("nan")
    R = R * (float(case.rational("residual")) / norms[0])
    E = R @ (qk * (float(case.rational("qk_norm")) / norms[1])) @ R.T / np.sqrt(case.qk_width)
    # P - q with q uniform (the centre is zero), by expm1: the plain difference would lose all digits of a small residual.
    low = np.expm1(E)
    mean = low.mean(axis=1, keepdims=True)
    moved = (low - mean) / (1 + mean) / case.tokens @ R @ (value / norms[2])
    norm = float(composite_norm(moved - moved.mean(axis=0)))
    return norm / gamma(E) if per_gamma else norm


def _residual(case: Case, point: Point, per_gamma: bool) -> Ball:
    from .rank_collapse.measured import resolved
    from .rank_collapse.softmax_attention import Head, attention, ball_composite_norm, ball_norms, centred, largest, perturbation, row_ranges

    def once() -> arb:
        R, qk, value = (_scaled(matrix) for matrix in _split(case, np.array(point, dtype=object)))
        R = R * (_arb(case.rational("residual")) / ball_composite_norm(R))
        qk = qk * (_arb(case.rational("qk_norm")) / ball_norms(qk)[0])
        head = Head(qk, value * (1 / ball_composite_norm(value)), case.qk_width)
        norm = ball_composite_norm(centred(attention(R, [head])))
        if not per_gamma:
            return norm
        E = perturbation(R, head)
        ranges = row_ranges(E)
        return norm / ((sum(ranges) * largest(ranges)).sqrt() / (2 * ball_norms(E)[0]))

    return Ball.of(resolved(once))


def _softmax(case: Case, side: int) -> Search:
    """A row of logits and a row of perturbations whose range is the one the case names."""
    n, D = case.tokens, float(case.rational("range"))

    def objective(vector: np.ndarray) -> float:
        E, base = vector[:n], vector[n:] * 10
        width = E.max() - E.min()
        if width == 0:
            return float("nan")
        E = E * (D / width)
        q = np.exp(base - base.max())
        q /= q.sum()
        mean = float(q @ np.expm1(E))
        return float(np.max(side * (np.expm1(E) - mean) / (1 + mean))) / D

    def measured(point: Point) -> Ball:
        from .rank_collapse.measured import resolved
        from .rank_collapse.softmax_attention import largest

        E, base = point[:n], point[n:]
        scale = case.rational("range") / (max(E) - min(E))

        def once() -> arb:
            shift = [_arb(v * scale) for v in E]
            weights = [_arb(10 * v).exp() for v in base]
            mean = sum(w * s.exp() for w, s in zip(weights, shift, strict=True)) / sum(weights)
            return largest([side * (s.exp() / mean - 1) / _arb(case.rational("range")) for s in shift])

        return Ball.of(resolved(once))

    return Search(case, 2 * n, objective, measured)


def _scaled(matrix: np.ndarray) -> arb_mat:
    from flint import arb_mat

    return arb_mat([[_arb(v) for v in row] for row in matrix])


def _arb(value: Fraction) -> arb:
    from .exact.enclosure import from_fraction

    return from_fraction(value)
