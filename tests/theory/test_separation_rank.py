"""Degree, threshold, count and Theorem 2's upper bound: verdicts, and wrong constants in them."""

import pytest
import sympy
from judging import claims

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import degree
from depthlaw.theory.separation_rank.degree import triplings

CLAIMS = claims("separation_rank")


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
