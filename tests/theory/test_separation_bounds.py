"""The algebra behind the bounds: coefficients against definitions, and verdicts that a wrong constant turns."""
import dataclasses
import math
from fractions import Fraction

import pytest
import sympy

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.measurement import Exact
from depthlaw.theory.separation_rank.bounds import claims
from depthlaw.theory.separation_rank.bounds_measured import (
    measured_beta_two,
    measured_multiset,
    measured_tenths,
    measured_widened,
    measured_width_factor,
    multiset_coefficient,
)

CLAIMS = {c.key.split("/")[1]: c for c in claims()}
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
