"""Degree, threshold, count and Theorem 2's upper bound: verdicts, and wrong constants in them."""

import math

import numpy as np
import pytest
import sympy
from judging import claims

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import degree
from depthlaw.theory.separation_rank.degree import triplings
from depthlaw.theory.separation_rank.rank_symbols import L, d

CLAIMS = claims("separation_rank")


@pytest.mark.parametrize(
    ("width", "depth", "rank"),
    [(2, 1, 3), (2, 2, 18), (2, 3, 232), (3, 1, 4), (3, 2, 49), (4, 2, 110)],
)
def test_one_head_attains_the_count(width, depth, rank):
    claim = CLAIMS["generic_one_head"]
    case = Case(width=width, depth=depth, heads=1, tokens=4)
    assert claim.measure(case).value == claim.predict(case) == rank


def test_residual_connections_are_out_of_scope_and_leave_no_degree():
    claim, case = CLAIMS["degree"], Case(width=2, depth=2, residual=True)
    assert claim.measure(Case(width=2, depth=2)).value == 9
    mixed = claim.measure(case)
    assert isinstance(mixed, Ball)
    assert math.floor(mixed.low) == math.floor(mixed.high) < mixed.low
    assert judge(claim, case, mixed).verdict is Verdict.OUT_OF_SCOPE
    assert judge(claim, case, mixed, force=True).verdict is Verdict.FAILS


def test_threshold_by_tripling():
    """The depth at which the degree of the output, 3^L, is the width: log_3 of it."""
    for depth in (0, 1, 3, 40, 200):
        assert triplings(3**depth) == depth == sympy.log(sympy.Integer(3) ** depth, 3)
    with pytest.raises(ValueError, match="no power of three"):
        triplings(10)


def test_the_normal_form_is_a_step_of_the_degree_in_the_moments(monkeypatch):
    """Moments that are not the sum of x x^T break it."""
    claim, moments = CLAIMS["moments_degree"], degree.moments
    monkeypatch.setattr(degree, "moments", lambda net, tokens: 2 * moments(net, tokens))
    assert not all(step.holds for step in claim.proof(claim.statement))


@pytest.mark.parametrize(("width", "depth"), [(6, 30), (4, 61)])
def test_explicit_weights_exceed_the_recalled_bound(width, depth):
    claim, shape = CLAIMS["upper_bound_deep"], {"heads": width, "tokens": 2 * width + 2}
    case = Case(width=width, depth=depth, weights="coordinate", **shape)
    decision = judge(claim, case, claim.measure(case))
    assert decision.verdict is Verdict.FAILS
    assert decision.certain
    # One layer less in the same family is not yet a counterexample.
    shorter = Case(width=width, depth=depth - 1, weights="coordinate", **shape)
    assert judge(claim, shorter, claim.measure(shorter)).verdict is not Verdict.FAILS


@pytest.mark.parametrize(
    ("width", "first"),
    [(2, None), (3, None), (4, 62), (5, 32), (6, 30), (8, 36), (16, 67), (32, 130), (64, 258)],
)
def test_depths_at_which_the_recalled_bound_gives_way(width, first):
    """Distinct moments only; when the last one is used again, as for width 4, it is earlier."""
    depths = np.arange(math.floor(math.log(width, 3)) + 1, 400)
    bound = sympy.lambdify((d, L), CLAIMS["upper_bound_deep"].statement.rhs)(width, depths)
    moments = width * (width + 1) // 2
    reached = [
        sum(math.log(3 ** (n - layer) + 1, 3) for layer in range(1, min(n, moments) + 1))
        for n in depths.tolist()
    ]
    over = depths[np.array(reached) > bound]
    assert (int(over[0]) if over.size else None) == first
