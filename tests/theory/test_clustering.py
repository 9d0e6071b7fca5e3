"""The flow on the sphere: reductions against a simulation of all tokens in float64."""
import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.rank_collapse import clustering as cl
from depthlaw.theory.rank_collapse import clustering_measured as measured


def simplex(n, rho):
    """n unit vectors with equal cosines."""
    return np.linalg.cholesky((1 - rho) * np.eye(n) + rho * np.ones((n, n)))


def velocity(X, beta, usa=False):
    W = np.exp(beta * X @ X.T)
    Y = W @ X / (len(X) if usa else W.sum(axis=1, keepdims=True))
    return Y - (Y * X).sum(axis=1, keepdims=True) * X


@pytest.mark.parametrize(("n", "rho", "beta"), [(2, 0.5, 0.0), (5, 0.3, 2.0), (4, -0.2, 1.0)])
def test_velocity_agrees_with_the_flow_of_all_tokens(n, rho, beta):
    X = simplex(n, rho)
    rates = velocity(X, beta) @ X.T
    rates = rates + rates.T
    off = rates[~np.eye(n, dtype=bool)]
    assert np.abs(off - cl.cosine_velocity(rho, n, beta)).max() < 1e-14


@pytest.mark.parametrize("flow", ["SA", "USA"])
def test_exact_rate_agrees_with_float64(flow):
    case = Case(flow=flow, tokens=5, common_cosine="1/2", exp_beta="4")
    X = simplex(5, 0.5)
    rates = velocity(X, math.log(4), usa=flow == "USA") @ X.T
    assert abs(float(measured.cosine_rate(case, 0).value) - (rates[0, 1] + rates[1, 0])) < 1e-14


@pytest.mark.parametrize("bad", [(1.5, 3), (-0.6, 3), (0.0, 1)])
def test_impossible_cosines_are_refused(bad):
    with pytest.raises(ValueError, match="equiangular"):
        cl.cosine_velocity(*bad, 1.0)


def test_rational_powers():
    assert measured.rational_power(Fraction(27, 8), Fraction(2, 3)) == Fraction(9, 4)
    with pytest.raises(ValueError, match="irrational"):
        measured.rational_power(Fraction(2), Fraction(1, 2))


def test_figure_agrees_with_a_simulation():
    rho, h = 0.1, 1e-3
    for _ in range(2000):
        k1 = cl.cosine_velocity(rho, 16, 2.0)
        k2 = cl.cosine_velocity(rho + h / 2 * k1, 16, 2.0)
        rho += h * k2
    exact = measured.cosine_figure(Case(tokens=16, inverse_temperature=2, common_cosine="1/10", time="2", digits=6), 0).value
    assert abs(exact / 10**6 - (1 - rho)) < 1e-5  # the midpoint rule errs by h^2 times derivatives of size a few


def test_long_context_refuses_irrational_sizes():
    with pytest.raises(ValueError, match="must be whole"):
        measured.rounded_cosine(Case(common_cosine="1/7", logit_growth="1"), 0)


def test_rescaled_tokens_need_stochastic_rows():
    assert measured.rescaled_errors(Case(tokens=4, width=3, time="1/2"), 0).value == 0
    assert measured.rescaled_errors(Case(tokens=4, width=3, time="1/2", scale=2), 0).value > 0
