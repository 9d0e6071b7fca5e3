"""Lipschitz constants and distances: exact and ball routes against numpy."""
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case
from depthlaw.theory.rank_collapse import attention_lipschitz as al
from depthlaw.theory.rank_collapse import attention_lipschitz_measured as measured


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_squared_distance_agrees_with_numpy(rows):
    X = np.array(rows, dtype=float)
    exact = measured.squared_distance([[Fraction(v) for v in row] for row in rows])
    assert math.isclose(float(exact), ((X - X.mean(axis=0)) ** 2).sum(), abs_tol=1e-10)  # at most 15 squares of size 18^2


@pytest.mark.parametrize(("tokens", "width"), [(2, 1), (7, 4)])
def test_l2_bound_solves_its_equation(tokens, width):
    y = (al.l2_attention_bound(tokens, width) - 1 / math.sqrt(width)) / 4
    assert math.isclose(y * math.exp(y + 1), tokens - 1, rel_tol=1e-12)


@pytest.mark.parametrize("bad", [(0, 1), (2, 0)])
def test_l2_bound_refuses_bad_counts(bad):
    with pytest.raises(ValueError, match="at least 1"):
        al.l2_attention_bound(*bad)


def test_an_even_number_of_tokens_is_refused():
    with pytest.raises(ValueError, match="must be odd"):
        measured.dot_product_entry(Case(tokens=4, key_size="1"), 0)


def test_dot_product_entry_agrees_with_finite_differences():
    x, h = np.array([0.0, 3.0, -3.0]), 2.0**-18

    def first(x1):
        tokens = np.array([x1, *x[1:]])
        w = np.exp(x1 * tokens)
        return (w * tokens).sum() / w.sum()

    slope = (first(h) - first(-h)) / (2 * h)
    assert abs(slope - float(measured.dot_product_entry(Case(tokens=3, key_size="3"), 0).value)) < 1e-6  # h^2 times a third derivative near 10^3


def test_l2_jacobian_agrees_with_finite_differences():
    """Width one, unit weights, tokens s, 0: f_i = sum_j P_ij x_j with P from -(x_i - x_j)^2."""
    s, h = 1.25, 2.0**-18

    def f(x):
        w = np.exp(-((x[:, None] - x[None, :]) ** 2))
        return (w / w.sum(axis=1, keepdims=True)) @ x

    x = np.array([s, 0.0])
    J = np.column_stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)])
    infinity = measured.l2_jacobian(Case(norm="infinity", tokens=2, width=1, spread="5/4"), 0)
    assert abs(float(infinity.low) - np.abs(J).sum(axis=1).max()) < 1e-8
    spectral = measured.l2_jacobian(Case(norm="spectral", tokens=2, width=1, spread="5/4"), 0)
    assert float(spectral.low) - 1e-8 <= np.linalg.norm(J, 2) <= float(spectral.high) + 1e-8


def test_top_eigenvalue_encloses_numpy():
    gram = [[Fraction(2), Fraction(1)], [Fraction(1), Fraction(3)]]
    assert abs(float(measured._top_eigenvalue(gram)) - np.linalg.eigvalsh(np.array(gram, dtype=float))[-1]) < 1e-12


def test_an_aligned_value_matrix_attains_its_singular_value():
    assert measured.value_contraction(Case(instance="aligned", tokens=3, width=2), 0).value == 1
