"""The algebra behind the bounds: coefficients against definitions, and verdicts that a wrong constant turns."""
import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.separation_rank import claims as all_claims
from depthlaw.theory.separation_rank import linear_attention
from depthlaw.theory.separation_rank.bounds import claims
from depthlaw.theory.separation_rank.bounds_measured import (
    measured_beta_two,
    measured_multiset,
    measured_tenths,
    measured_widened,
    measured_width_factor,
    multiset_coefficient,
)
from depthlaw.theory.values import Exact

CLAIMS = {c.key.split("/")[1]: c for c in claims()}
ALL = {c.key: c for c in all_claims()}
d, L, H = symbol("width"), symbol("depth"), symbol("heads")
LOG3 = sympy.log(3)


def confirmed(claim: Claim, right: sympy.Expr | None = None) -> bool:
    """Whether every step of the claim's proof holds, with another right side or its own."""
    assert claim.proof is not None
    statement = claim.statement if right is None else claim.statement.func(claim.statement.lhs, right, evaluate=False)
    return all(step.holds for step in claim.proof(statement))


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("k", range(5))
def test_multiset_coefficient_counts_multisets(n, k):
    from itertools import combinations_with_replacement

    assert multiset_coefficient(n, k) == len(list(combinations_with_replacement(range(n), k)))


def test_multiset_coefficient_at_one_half_is_the_central_binomial():
    assert [multiset_coefficient(Fraction(1, 2), k) for k in range(6)] == [Fraction(math.comb(2 * k, k), 4**k) for k in range(6)]


def test_intermediate_step_of_theorem_2_is_false_at_one_half_only():
    """binom(n+k-1, k) >= (k/n)^(n-1), squared so that half-integers stay rational."""
    for k in (1, 3, 9, 27):
        for twice in range(1, 12):
            n = Fraction(twice, 2)
            assert (multiset_coefficient(n, k) ** 2 >= (k / n) ** (twice - 2)) == (twice > 1)


@pytest.mark.parametrize("name", sorted(name for name, claim in CLAIMS.items() if claim.proof is not None))
def test_arguments_hold(name):
    assert confirmed(CLAIMS[name])


@pytest.mark.parametrize(("name", "wrong"), [
    ("multiset_shallow", 3 ** (L - 2) * (sympy.log(d - H) / LOG3 - L + 2)),
    ("multiset_deep", d * L / 2 - L * (H / 2 + 2) - d * (1 + sympy.log((d - H) / 2) / LOG3 / 2)),
    ("exponent_count", 2 * d * L + L + sympy.log(d) / LOG3 - 2 * d * sympy.log(2 * d / (2 * sympy.E)) / LOG3),
    ("exponent_count_recalled", 2 * d * L + L + sympy.log(d) / LOG3 - 2 * d * sympy.log(d / sympy.E) / LOG3),
    ("two_tokens_upper", sympy.binomial(d + (3**L - 1) / 2, (3**L - 3) / 2)),
    ("corollary_1", sympy.Rational(2, 9) * 3 ** (L - symbol("shallow_depth")) * (sympy.log(d - H) / LOG3 - L + 2)),
    ("corollary_reading", sympy.log(d) / LOG3 + 2 * symbol("beta_two")),
    ("corollary_43", sympy.ceiling(sympy.log(9 * d * L / 2) / LOG3)),
])
def test_arguments_refuse_another_constant(name, wrong):
    assert not confirmed(CLAIMS[name], wrong)


def test_widened_is_the_least():
    case = Case(width=100, depth=4, heads=4, shallow_depth=2)
    x, (n, k) = measured_widened(case, 0).value, (48, 9)
    assert Fraction(x) ** 4 >= Fraction(n, k) ** k > Fraction(x - 1) ** 4


def test_width_factor_is_linear_in_the_depth_ratio():
    factors = [measured_width_factor(Case(width=4, depth=200 * ratio, depth_ratio=ratio, heads=1), 0).value for ratio in (1, 2, 4)]
    # Between the slope (d + 1) delta of S and (d + 2) delta.
    assert all(5 * ratio < factor <= 6 * ratio for ratio, factor in zip((1, 2, 4), factors, strict=True))


def test_shallow_net_needs_logarithmically_many_layers():
    betas = [measured_beta_two(Case(width=9, depth=depth, heads=1), 0).value for depth in (10, 90, 810)]
    assert betas == sorted(betas)
    assert betas[-1] - betas[0] <= 5  # 81 times deeper: log_3(81) = 4, and one for rounding


def test_tenths_round_to_nearest():
    assert [measured_tenths(Case(width=w), 0).value for w in (1, 3, 9, 1000)] == [0, 10, 20, 63]


def test_half_integers_are_exact():
    assert measured_multiset(Case(width=4, depth=2, heads=1), 0) == Exact(Fraction(3, 2))


def test_a_wrong_slope_fails():
    claim = CLAIMS["corollary_2"]
    case = claim.cases("quick")[0]
    weak = dataclasses.replace(claim, statement=sympy.Le(symbol("width_factor"), 5 * symbol("depth_ratio"), evaluate=False))
    value = claim.measured(case, 0)
    assert judge(claim, case, value).verdict is Verdict.HOLDS
    assert judge(weak, case, value).verdict is Verdict.FAILS


# --- lower bounds: what a truncated measurement may say -----------------------------------------------------------------------


LOWER = [ALL[f"separation_rank/lower_bound_{name}"] for name in ("multiset", "shallow", "deep")]
FEW = [("multiset", {"width": 8, "depth": 2, "heads": 2, "inputs": 3}), ("multiset", {"width": 8, "depth": 3, "heads": 2, "inputs": 10}),
       ("multiset", {"width": 10, "depth": 3, "heads": 2, "inputs": 20}), ("shallow", {"width": 28, "depth": 3, "heads": 1, "inputs": 100}),
       ("deep", {"width": 8, "depth": 7, "heads": 1, "inputs": 240})]


@pytest.mark.parametrize("claim", LOWER, ids=lambda claim: claim.key)
def test_lower_bounds_have_twice_the_inputs_they_ask_for(claim):
    """Full rank of the inputs decides every case, and half of that rank would still be no counterexample."""
    cases = [case for suite in claim.grid.values() for case in suite]
    assert len(cases) >= 7
    for case in cases:
        if "inputs" in case:
            assert judge(claim, case, Exact(case.inputs, misses=1.0, truncated=True)).verdict is Verdict.HOLDS
            assert judge(claim, case, Exact(case.inputs // 2)).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("name", "fields"), FEW)
def test_as_many_inputs_as_the_bound_decide_nothing(name, fields):
    claim, case = ALL[f"separation_rank/lower_bound_{name}"], Case(tokens=4, **fields)
    # The larger ones were measured once: they have the full rank of their inputs.
    full = Exact(case.inputs, misses=1.0, truncated=True)
    value = claim.measured(case, 0) if case.inputs < 100 else full
    assert value == full
    assert judge(claim, case, value).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("inputs", [1, 5, 9])
def test_fewer_inputs_than_the_bound_are_no_counterexample(inputs):
    claim, case = ALL["separation_rank/lower_bound_multiset"], Case(width=8, depth=3, heads=2, tokens=4, inputs=inputs)
    assert claim.predict(case) == 10
    assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.UNDECIDED


def test_a_rank_below_the_bound_would_fail():
    """With more inputs than the bound asks for, a smaller rank is seen and is a counterexample."""
    claim = ALL["separation_rank/lower_bound_multiset"]
    case = next(c for c in claim.cases("quick") if (c.width, c.depth) == (10, 3))
    assert judge(claim, case, Exact(19, misses=1e-9)).verdict is Verdict.FAILS


# --- corollaries rest on bounds that are recalled -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "premises"), [
    ("corollary_1", ("lower_bound_shallow", "dimension_count", "count_below_theorem_1")),
    ("corollary_2", ("lower_bound_deep", "dimension_count")), ("corollary_2_recalled", ("upper_bound_deep", "lower_bound_deep")),
    ("corollary_43", ("lower_bound_multiset", "multiset_shallow", "dimension_count"))])
def test_corollaries_name_the_bounds_they_rest_on(name, premises):
    claim = CLAIMS[name]
    assert claim.premises == tuple(f"separation_rank/{premise}" for premise in premises)
    assert claim.text.startswith("If ")
    # One premise at least is no more than measured, so that the verdict is CONDITIONAL.
    assert any(ALL[key].proof is None for key in claim.premises)


def test_the_recalled_corollary_rests_on_a_bound_that_fails():
    assert [key for key in CLAIMS["corollary_2_recalled"].premises if ALL[key].known == "FAILS"] == ["separation_rank/upper_bound_deep"]


@pytest.mark.parametrize(("name", "no_net"), [
    ("corollary_1", Case(width=3000, depth=7, heads=96, shallow_depth=2)), ("corollary_43", Case(width=729, depth=12, heads=8)),
    ("corollary_2", Case(width=7, depth=400, depth_ratio=2, heads=3))])
def test_cases_of_corollaries_are_nets(name, no_net):
    claim = CLAIMS[name]
    for case in (case for suite in claim.grid.values() for case in suite):
        assert case.width % case.heads == 0
        if name == "corollary_43":
            assert (case.width - case.heads) % 2 == 0
    assert judge(claim, no_net, claim.measured(no_net, 0)).verdict is Verdict.OUT_OF_SCOPE


# --- what a proof amounts to --------------------------------------------------------------------------------------------------


def test_what_only_inverts_a_power_is_no_argument():
    assert {key for key, claim in ALL.items() if claim.evidence == "checks"} == {
        "separation_rank/threshold", "separation_rank/corollary_reading"}


def test_the_sign_of_the_other_token_passes_through_every_layer(monkeypatch):
    """The output there must change its sign too, or the induction over layers breaks."""
    def even(net, tokens, *, position=0, coordinate=0):
        found = forward(net, tokens, position=position, coordinate=coordinate)
        return np.asarray(found**2) if position else found

    forward = linear_attention.forward
    assert confirmed(CLAIMS["two_tokens_upper"])
    monkeypatch.setattr(linear_attention, "forward", even)
    assert not confirmed(CLAIMS["two_tokens_upper"])


@pytest.mark.parametrize(("name", "more"), [
    ("count_below_theorem_1", "sep"), ("several_heads", "attains"), ("residual_gain", "never smaller"), ("heads_exact", "all weights"),
    ("heads_two_layers", "no larger"), ("four_tokens", "no larger"), ("two_tokens", "at most"), ("one_witness", "reals"),
    ("residual_parts", "without residuals")])
def test_words_say_no_more_than_what_is_judged(name, more):
    """What is argued elsewhere, or in words only, stands in the note."""
    claim = ALL[f"separation_rank/{name}"]
    assert more not in claim.text.replace("almost all weights", "")
    assert len(claim.note) > 40
