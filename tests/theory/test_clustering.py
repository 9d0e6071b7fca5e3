"""The flow on the sphere: reductions against a simulation of all tokens in float64."""

import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.rank_collapse import clustering as cl


def simplex(n, rho):
    """n unit vectors with equal cosines."""
    return np.linalg.cholesky((1 - rho) * np.eye(n) + rho * np.ones((n, n)))


def velocity(X, beta, usa=False):
    W = np.exp(beta * X @ X.T)
    Y = W @ X / (len(X) if usa else W.sum(axis=1, keepdims=True))
    return Y - (Y * X).sum(axis=1, keepdims=True) * X


@pytest.mark.parametrize("claim", [cl.equiangular_sa, cl.equiangular_usa])
@pytest.mark.parametrize(("n", "rho", "beta"), [(2, 0.5, 0.0), (5, 0.3, 2.0), (4, -0.2, 1.0)])
def test_stated_rate_agrees_with_the_flow_of_all_tokens(claim, n, rho, beta):
    X = simplex(n, rho)
    rates = velocity(X, beta, usa=claim is cl.equiangular_usa) @ X.T
    off = (rates + rates.T)[~np.eye(n, dtype=bool)]
    stated = float(claim.statement.rhs.subs({cl.n: n, cl.rho: rho, cl.B: math.exp(beta)}))
    assert np.abs(off - stated).max() < 1e-14


@pytest.mark.parametrize("claim", [cl.equiangular_sa, cl.equiangular_usa])
def test_exact_rate_agrees_with_float64(claim):
    flow = claim.name.removeprefix("equiangular_").upper()
    exact = claim.measure(Case(flow=flow, tokens=5, common_cosine="1/2", exp_beta="4")).value
    X = simplex(5, 0.5)
    rates = velocity(X, math.log(4), usa=flow == "USA") @ X.T
    assert abs(float(exact) - (rates[0, 1] + rates[1, 0])) < 1e-14


def test_impossible_cosines_are_out_of_scope():
    (possible,) = cl.equiangular_sa.assumes.values()
    scope = [("3/2", 3), ("-3/5", 3), ("-1/2", 3), ("1", 2)]
    assert [possible(Case(common_cosine=rho, tokens=n)) for rho, n in scope] == [0, 0, 1, 1]


def test_rational_powers():
    assert cl.rational_power(Fraction(27, 8), Fraction(2, 3)) == Fraction(9, 4)
    with pytest.raises(ValueError, match="irrational"):
        cl.rational_power(Fraction(2), Fraction(1, 2))


def test_figure_agrees_with_a_simulation_of_all_tokens():
    X, h = simplex(16, 0.1), 1e-2
    for _ in range(200):
        X = X + h * velocity(X + h / 2 * velocity(X, 2.0), 2.0)
    case = Case(tokens=16, inverse_temperature=2, common_cosine="1/10", time="2", digits=6)
    exact = cl.equiangular_figures.measure(case).value / 10**6
    # The midpoint rule errs by h^2 times derivatives of size a few.
    assert abs(exact - (1 - X[0] @ X[1])) < 1e-5


def test_long_context_refuses_irrational_sizes():
    with pytest.raises(ValueError, match="must be whole"):
        cl.long_context.measure(Case(common_cosine="1/7", logit_growth="1"))


def test_rescaled_tokens_need_stochastic_rows():
    case = {"tokens": 4, "width": 3, "time": "1/2"}
    assert cl.rescaled_tokens.measure(Case(**case)).value == 0
    assert cl.rescaled_tokens.measure(Case(**case, scale=2)).value > 0
