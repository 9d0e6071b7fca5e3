"""Levine's bounds and corollaries: coefficients, verdicts that a wrong constant turns, premises."""

import dataclasses
import math
import re
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
import sympy
from judging import claims
from sympy import binomial, ceiling, log

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import upper_bounds
from depthlaw.theory.separation_rank.corollaries import ratio, shallow_depth
from depthlaw.theory.separation_rank.degree import triplings
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count
from depthlaw.theory.separation_rank.lower_bounds import multiset_coefficient
from depthlaw.theory.separation_rank.rank_symbols import H, L, d

CLAIMS = claims("separation_rank")


def confirmed(claim: Claim, right: sympy.Expr | None = None) -> bool:
    """Whether every step of the claim's proof holds, with another right side or its own."""
    statement = claim.statement
    if right is not None:
        statement = statement.func(statement.lhs, right, evaluate=False)
    return all(step.holds for step in claim.proof(statement))


def value(name: str, **fields: int) -> int | Fraction:
    return CLAIMS[name].measure(Case(**fields)).value


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("k", range(5))
def test_multiset_coefficient_counts_multisets(n, k):
    assert multiset_coefficient(n, k) == len(list(combinations_with_replacement(range(n), k)))


def test_multiset_coefficient_at_one_half_is_the_central_binomial():
    half = [multiset_coefficient(Fraction(1, 2), k) for k in range(6)]
    assert half == [Fraction(math.comb(2 * k, k), 4**k) for k in range(6)]


def test_intermediate_step_of_theorem_2_is_false_at_one_half_only():
    """binom(n+k-1, k) >= (k/n)^(n-1), squared so that half-integers stay rational."""
    for k in (1, 3, 9, 27):
        for twice in range(1, 12):
            n = Fraction(twice, 2)
            larger = multiset_coefficient(n, k) ** 2 >= (k / n) ** (twice - 2)
            assert larger == (twice > 1)


SHALLOW, DEEP = sorted(CLAIMS["multiset_bounds"].statement.rhs.args, key=lambda bound: bound.is_Add)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("multiset_bounds", sympy.Max(3 ** (L - 2) * (log(d - H, 3) - L + 2), DEEP)),
        (
            "multiset_bounds",
            sympy.Max(SHALLOW, d * L / 2 - L * (H / 2 + 2) - d * (1 + log((d - H) / 2, 3) / 2)),
        ),
        ("multiset_bounds", SHALLOW),
        ("multiset_bounds", DEEP),
        ("exponent_count", 2 * d * L + L + log(d, 3) - 2 * d * log(2 * d / (2 * sympy.E), 3)),
        ("exponent_count", upper_bounds.RECALLED),
        ("two_tokens_upper", binomial(d + (3**L - 1) / 2, (3**L - 3) / 2)),
        ("corollary_1", sympy.Rational(2, 9) * 3 ** (L - shallow_depth) * (log(d - H, 3) - L + 2)),
        ("corollary_43", ceiling(log(9 * d * L / 2, 3))),
    ],
)
def test_arguments_refuse_another_constant(name, wrong):
    assert not confirmed(CLAIMS[name], wrong)


def test_the_sign_of_the_other_token_passes_through_every_layer(monkeypatch):
    """The output there must change its sign too, or the induction over layers breaks."""

    def even(net, tokens, *, position=0, coordinate=0):
        found = forward(net, tokens, position=position, coordinate=coordinate)
        return np.asarray(found**2) if position else found

    forward = upper_bounds.forward
    monkeypatch.setattr(upper_bounds, "forward", even)
    assert not confirmed(CLAIMS["two_tokens_upper"])


@pytest.mark.parametrize("delta", [1, 2])
def test_width_factor_is_linear_in_the_depth_ratio(delta):
    """Between the slope (d + 1) delta of S and (d + 2) delta."""
    found = value("corollary_2", width=4, depth=200 * delta, depth_ratio=delta, heads=1)
    assert 5 * delta < found <= 6 * delta


@pytest.mark.parametrize("beta", [0, 1, 4])
def test_only_one_reading_puts_the_shallower_net_at_its_threshold(beta):
    """Its depth is log_3(d_x) + beta_2; the other reading, width 3^(beta_2 d_x), has the threshold
    beta_2 d_x."""
    for width in (3, 81, 729):
        assert triplings(3**beta * width) == triplings(width) + beta
        assert triplings(3 ** (beta * width)) == beta * width != triplings(width) + beta


def test_the_width_factor_is_larger_at_a_size_that_the_note_names():
    claim, case = CLAIMS["corollary_2"], Case(width=16, depth=200, depth_ratio=2, heads=8)
    assert claim.measure(case).value == 37 > claim.predict(case) == 18 * 2
    assert re.search(r"d_x = 16, L = 200, delta = 2, H = 8 .{,30}is 37, above 36", claim.plain.note)


def test_a_wrong_slope_fails():
    claim = CLAIMS["corollary_2"]
    lower = sympy.Le(claim.statement.lhs, 5 * ratio, evaluate=False)
    weak = dataclasses.replace(claim, statement=lower)
    case = Case(width=4, depth=200, depth_ratio=2, heads=1)
    assert judge(claim, case, claim.measure(case)).verdict is Verdict.HOLDS
    assert judge(weak, case, claim.measure(case)).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("name", "no_net"),
    [
        ("corollary_1", Case(width=3000, depth=7, heads=96, shallow_depth=2)),
        ("corollary_43", Case(width=729, depth=12, heads=8)),
        ("corollary_2", Case(width=7, depth=400, depth_ratio=2, heads=3)),
    ],
)
def test_cases_of_corollaries_are_nets(name, no_net):
    claim = CLAIMS[name]
    for case in (case for suite in claim.grid.values() for case in suite):
        assert case.width % case.heads == 0
        assert name != "corollary_43" or (case.width - case.heads) % 2 == 0
    assert judge(claim, no_net, claim.measure(no_net)).verdict is Verdict.OUT_OF_SCOPE


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


@pytest.mark.parametrize(
    ("name", "width", "depth", "heads", "inputs"),
    [
        ("multiset", 8, 2, 2, 3),
        ("multiset", 8, 3, 2, 10),
        ("multiset", 10, 3, 2, 20),
        ("shallow", 28, 3, 1, 100),
        ("deep", 8, 7, 1, 240),
    ],
)
def test_as_many_inputs_as_the_bound_decide_nothing(name, width, depth, heads, inputs):
    claim = LOWER[name]
    case = Case(width=width, depth=depth, heads=heads, inputs=inputs, tokens=4)
    full = Exact(inputs, misses=1.0, truncated=True)
    # The larger ones were measured once: they have the full rank of their inputs.
    assert inputs >= 100 or claim.measure(case) == full
    assert judge(claim, case, full).verdict is Verdict.UNDECIDED


def test_a_rank_below_the_bound_would_fail():
    """With more inputs than the bound asks for, a smaller rank is seen and is a counterexample."""
    claim = LOWER["multiset"]
    case = next(c for c in claim.cases("quick") if (c.width, c.depth) == (10, 3))
    assert judge(claim, case, Exact(19, misses=1e-9)).verdict is Verdict.FAILS
