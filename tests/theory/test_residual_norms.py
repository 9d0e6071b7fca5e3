"""Norms, centres, gamma and layer normalisation: exact functions against float64 and against each other."""
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.rank_collapse import residual_norms as rn
from depthlaw.theory.rank_collapse import residual_norms_measured as measured
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm, gamma
from depthlaw.theory.values import Ball, Case, Exact

entries = st.integers(-9, 9)
squares = st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n))


@given(squares)
def test_exact_norms_agree_with_numpy(rows):
    one, infinity = measured.norms([[Fraction(v) for v in row] for row in rows])
    assert one == np.abs(rows).sum(axis=0).max() == np.linalg.norm(rows, 1)
    assert infinity == np.linalg.norm(rows, np.inf)
    assert math.isclose(math.sqrt(one * infinity), composite_norm(np.array(rows, dtype=float)), rel_tol=4 * 2.0**-52)


@given(squares)
def test_gamma_never_exceeds_its_bound(rows):
    if np.ptp(rows, axis=1).any():
        assert gamma(np.array(rows, dtype=float)) <= rn.largest_gamma(len(rows)) * (1 + 8 * 2.0**-52)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_extremal_logits_attain_the_largest_gamma(n):
    E = measured.logits(Case(instance="extremal", tokens=n))
    assert math.isclose(gamma(np.array(E, dtype=float)), rn.largest_gamma(n), rel_tol=8 * 2.0**-52)
    assert measured.gamma_square(Case(instance="extremal", tokens=n), 0).value == Fraction(n, 2)


def test_the_printed_example_of_the_triangle_inequality():
    A = np.array([[1.0, 1.0], [0.0, 0.0]])
    ratio = composite_norm(A + A.T) / (composite_norm(A) + composite_norm(A.T))
    exact = measured.triangle_ratio(Case(tokens=2), 0).value
    assert exact == Fraction(9, 8)
    assert math.isclose(ratio**2, exact, rel_tol=8 * 2.0**-52)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_unit_vectors_attain_the_mean_centre_factor(n):
    X = np.eye(n)
    assert math.isclose(composite_norm(X - X.mean(axis=0)), rn.mean_centre_factor(n), abs_tol=8 * 2.0**-52)


@pytest.mark.parametrize("call", [lambda: rn.mean_centre_factor(0), lambda: rn.largest_gamma(0)])
def test_bad_counts_are_refused(call):
    with pytest.raises(ValueError, match="at least 1"):
        call()


def test_root_is_exact_where_it_can_be():
    assert measured.root(Fraction(9, 4)) == Exact(Fraction(3, 2))
    ball = measured.root(Fraction(2))
    assert isinstance(ball, Ball)
    assert ball.low**2 < 2 < ball.high**2


@pytest.mark.parametrize("instance", ["simplex", "multiples", "collinear"])
def test_layer_norm_agrees_with_float64(instance):
    tokens = measured.token_set(Case(instance=instance))
    X = np.array(tokens, dtype=float)
    expected = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    assert np.abs(np.array(measured.layer_norm(tokens), dtype=float) - expected).max() <= 16 * 2.0**-52


def test_layer_norm_refuses_irrational_and_zero_deviations():
    for row in ([Fraction(1), Fraction(2), Fraction(4)], [Fraction(1)] * 2):
        with pytest.raises(ValueError, match="must be rational and positive"):
            measured.layer_norm([row])


def test_the_collinear_tokens_become_a_triangle_and_the_multiples_meet():
    line = measured.layer_norm(measured.token_set(Case(instance="collinear")))
    assert measured.rank([[a - b for a, b in zip(row, line[0], strict=True)] for row in line[1:]]) == 2
    pair = measured.layer_norm(measured.token_set(Case(instance="multiples")))
    assert pair[0] == pair[1]


def test_a_wrongly_named_rank_is_refused():
    for call, case in ((measured.affine_rank_after, Case(instance="multiples", affine_rank=2)),
                       (measured.centred_rank_after, Case(instance="multiples", centred_rank=2))):
        with pytest.raises(ValueError, match="rank 1"):
            call(case, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_induction_over_terms_is_confirmed_on_both_sides(sign):
    assert measured.sum_step("a sum", sign).holds


def test_order_of_expressions_is_decided_by_algebra():
    x = sympy.Symbol("x", positive=True)
    assert measured.at_least(x**2 + x, x)
    assert not measured.at_least(x, x**2)  # false for large x, and not decided by sign alone


def test_the_centred_rank_is_not_the_rank_of_the_tokens():
    """e + 1 and 2e + 3 span a plane; without their feature means they span a line, before and after."""
    case = Case(instance="shifted", centred_rank=1)
    assert measured.rank(measured.token_set(case)) == 2
    assert measured.centred_rank_after(case, 0).value == 1
