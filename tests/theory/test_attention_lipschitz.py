"""Lipschitz constants: Jacobians against finite differences, eigenvalues against numpy."""

import math

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case, at
from depthlaw.theory.rank_collapse import attention_lipschitz as al
from depthlaw.theory.rank_collapse.rational_matrices import rational_array


def test_l2_jacobian_agrees_with_finite_differences():
    """Width one, unit weights, tokens s, 0: f_i = sum_j P_ij x_j with P from -(x_i - x_j)^2."""
    s, h = 1.25, 2.0**-18

    def f(x):
        w = np.exp(-((x[:, None] - x[None, :]) ** 2))
        return (w / w.sum(axis=1, keepdims=True)) @ x

    x = np.array([s, 0.0])
    J = np.column_stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)])
    shape = {"tokens": 2, "width": 1, "spread": "5/4"}
    infinity = al.l2_attention.measure(Case(norm_order_inverse="0", **shape))
    assert abs(float(infinity.low) - np.abs(J).sum(axis=1).max()) < 1e-8
    spectral = al.l2_attention.measure(Case(norm_order_inverse="1/2", **shape))
    assert float(spectral.low) - 1e-8 <= np.linalg.norm(J, 2) <= float(spectral.high) + 1e-8


@pytest.mark.parametrize("tokens", [2, 7])
def test_the_stated_factor_solves_its_equation(tokens):
    """phi^-1(N - 1) of the statement is the y with y e^(y+1) = N - 1."""
    for order, rest, factor in (("0", 1 / 2, 1), ("1/2", 1, math.sqrt(tokens / 4))):
        case = Case(norm_order_inverse=order, tokens=tokens, width=4)
        y = (float(at(al.l2_attention.statement.rhs, case)) / factor - rest) / 4
        assert math.isclose(y * math.exp(y + 1), tokens - 1, rel_tol=1e-12)


def test_top_eigenvalue_encloses_numpy():
    found = float(al.top_eigenvalue(rational_array([[2, 1], [1, 3]])))
    assert abs(found - np.linalg.eigvalsh(np.array([[2.0, 1.0], [1.0, 3.0]]))[-1]) < 1e-12
