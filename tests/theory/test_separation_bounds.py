"""Degree, threshold and Levine's bounds: coefficients, and verdicts that a wrong rank turns."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import sympy
from judging import claims

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import degree, upper_bounds
from depthlaw.theory.separation_rank.degree import triplings
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count
from depthlaw.theory.separation_rank.lower_bounds import multiset_coefficient

CLAIMS = claims("separation_rank")


def confirmed(claim: Claim) -> bool:
    return all(step.holds for step in claim.proof(claim.statement))


def test_multiset_coefficient_counts_multisets():
    for n, k in product(range(1, 6), range(5)):
        assert multiset_coefficient(n, k) == len(list(combinations_with_replacement(range(n), k)))


def test_intermediate_step_of_theorem_2_is_false_at_one_half_only():
    """binom(n+k-1, k) >= (k/n)^(n-1), squared so that half-integers stay rational."""
    for k in (1, 3, 9, 27):
        for twice in range(1, 12):
            n = Fraction(twice, 2)
            larger = multiset_coefficient(n, k) ** 2 >= (k / n) ** (twice - 2)
            assert larger == (twice > 1)


def test_the_sign_of_the_other_token_passes_through_every_layer(monkeypatch):
    """The output there must change its sign too, or the induction over layers breaks."""

    def even(net, tokens, *, position=0, coordinate=0):
        found = forward(net, tokens, position=position, coordinate=coordinate)
        return np.asarray(found**2) if position else found

    forward = upper_bounds.forward
    monkeypatch.setattr(upper_bounds, "forward", even)
    assert not confirmed(CLAIMS["two_tokens_upper"])


LOWER = {name: CLAIMS[f"lower_bound_{name}"] for name in ("multiset", "shallow", "deep")}


@pytest.mark.parametrize("depth", range(1, 9))
def test_lower_bounds_stay_below_the_count(depth):
    for width in (4, 10, 30, 100, 1000):
        claim = LOWER["shallow" if 3**depth < width else "deep"]
        bound = claim.predict(Case(width=width, depth=depth, heads=1))
        assert float(bound) <= log3_dimension_count(width, depth)[0]


@pytest.mark.parametrize("claim", LOWER.values(), ids=LOWER)
def test_lower_bounds_have_twice_the_inputs_they_ask_for(claim):
    """Full rank of the inputs decides every case; half of it would be no counterexample yet."""
    cases = [case for suite in claim.grid.values() for case in suite]
    assert len(cases) >= 7
    for case in cases:
        if "inputs" in case:
            full = Exact(case.inputs, misses=1.0, truncated=True)
            assert judge(claim, case, full).verdict is Verdict.HOLDS
            assert judge(claim, case, Exact(case.inputs // 2)).verdict is Verdict.HOLDS


def test_a_rank_below_the_bound_would_fail():
    """With more inputs than the bound asks for, a smaller rank is seen and is a counterexample."""
    claim = LOWER["multiset"]
    case = next(c for c in claim.cases("quick") if (c.width, c.depth) == (10, 3))
    assert judge(claim, case, Exact(19, misses=1e-9)).verdict is Verdict.FAILS


def test_threshold_by_tripling():
    """The depth at which the degree of the output, 3^L, is the width: log_3 of it."""
    for depth in (0, 1, 3, 40, 200):
        assert triplings(3**depth) == depth == sympy.log(sympy.Integer(3) ** depth, 3)
    with pytest.raises(ValueError, match="no power of three"):
        triplings(10)


def test_the_normal_form_is_a_step_of_the_degree_in_the_moments(monkeypatch):
    """Moments that are not the sum of x x^T break it."""
    moments = degree.moments
    monkeypatch.setattr(degree, "moments", lambda net, tokens: 2 * moments(net, tokens))
    assert not confirmed(CLAIMS["moments_degree"])


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
