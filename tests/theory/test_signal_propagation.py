"""Norms and Jacobians by hand, and every claim of the topic against its expected verdict."""

import math
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy
from sympy import Eq, Le, Rational, exp

from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.relations import between
from depthlaw.theory.claims.symbols import layer, width
from depthlaw.theory.claims.values import Case, Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.signal_propagation import norms, signal_symbols

CLAIMS = {c.name: c for c in registry().values() if c.topic == "signal_propagation" and not c.needs}
PROVED = {name: claim for name, claim in CLAIMS.items() if claim.proof}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_expected_verdict(claim):
    found = {judge(claim, case, claim.measure(case)).verdict for case in claim.cases("quick")}
    assert Verdict.FAILS in found if claim.awaited == "FAILS" else found == {Verdict.HOLDS}


@pytest.mark.parametrize("claim", PROVED.values(), ids=PROVED)
def test_every_step_of_the_argument_is_confirmed(claim):
    steps = list(claim.proof(claim.statement))
    assert steps
    assert [step.says for step in steps if step.holds is not True] == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("relu_norm", Eq(norms.squared_norm, norms.input_variance * width / 3)),
        ("post_ln_norm", Eq(norms.sum_mean_square, Rational(5, 2))),
        ("pre_ln_norm", between(1 + layer / 2, norms.mean_square, 1 + layer)),
        ("pre_ln_norm", between(1 + layer, norms.mean_square, 1 + 3 * layer / 2)),
        (
            "layernorm_jacobian",
            Eq(norms.jacobian_square, norms.directions * (width - 1) / norms.centred_square),
        ),
        (
            "layernorm_jacobian",
            Eq(norms.jacobian_square, (width - 1) * width / norms.centred_square),
        ),
        (
            "norm_concentration",
            Le(norms.excess_probability, exp(-width * norms.relative_excess**2 / 7)),
        ),
    ],
)
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong)
    assert not all(step.holds for step in mutated.proof(wrong))
    assert Verdict.FAILS in [
        judge(mutated, case, mutated.measure(case)).verdict for case in mutated.cases("theory")
    ]


def test_every_proof_is_short_about_what_it_rests_on_and_two_sided_is_what_has_two_bounds():
    for name, claim in CLAIMS.items():
        assert len(claim.rests_on) <= 160, name
        assert (claim.kind == "two-sided") is (claim.statement.rel_op == "in"), name


def test_no_proof_that_only_retypes_its_statement_is_an_argument():
    assert {name for name, claim in PROVED.items() if claim.evidence != "argument"} == {
        "residual_stream",
        "depth_exponents",
    }
    assert all(claim.evidence != "certificate" for claim in CLAIMS.values())


def test_half_of_a_gaussian():
    assert norms.half_gaussian_moment(sympy.Integer(1)) == Rational(1, 2)
    assert CLAIMS["relu_norm"].measure(Case(width=3, input_variance="2/3")).value == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_post_ln_sums_do_not_depend_on_the_layers_before(seed):
    found = CLAIMS["post_ln_norm"].measure(Case(width=3, layer=4), seed)
    assert found.value == Fraction(3, 2)


def test_enumerated_streams_stay_between_their_ends():
    assert norms.mean_square_of_two(2, identical=True) == 4
    assert 2 < norms.mean_square_of_two(2, identical=False) < 4


def test_the_wide_recursion_meets_one_layer_by_hand():
    # Two orthogonal tokens: the mean of unit vectors has square 1/2, the feed-forward branch 1/2.
    with flint.ctx.workprec(64):
        assert norms.wide_mean_square(1, 2) == 2
        assert norms.wide_mean_square(0, 2) == 1


@pytest.mark.parametrize(
    ("token", "sign"),
    [
        ((0, 2, 3, 0), -1),
        ((0, 3, 3, 0), 1),
        ((1, -1, 0, 0), -1),
        ((2, -1, 0, 0), 1),
        ((-1, -1, 0, 0), -1),
    ],
)
def test_the_sign_of_a_number_with_a_root(token, sign):
    u, v = token[0] - token[2], token[1] - token[3]
    assert norms._normed_sign(token) == sign == math.copysign(1, u + v * math.sqrt(2))


def test_jacobian_by_dual_numbers_has_the_two_null_directions():
    R, scale = norms.scaled_jacobian([4, 1, 1])
    assert scale == flint.fmpq(3, 6)
    assert R * flint.fmpq_mat([[1, 2], [1, -1], [1, -1]]) == flint.fmpq_mat(3, 2)


@pytest.mark.parametrize("row", [[4, 1, 1], [3, -1, 4, 1], [-9, 9, 2, 0, 0, 5]])
def test_jacobian_against_the_projections_in_floating_point(row):
    x, d = np.array(row, dtype=float), len(row)
    y = x - x.mean()
    both = (np.eye(d) - np.outer(y, y) / (y @ y)) @ (np.eye(d) - 1 / d)
    R, scale = norms.scaled_jacobian(row)
    ours = [[float(v.p) / float(v.q) for v in entries] for entries in R.tolist()]
    np.testing.assert_allclose(ours, both, atol=1e-14)
    assert scale == flint.fmpq(d**2, round(d * (y @ y)))


def test_rounding_down_refuses_a_straddling_ball():
    with pytest.raises(ArithmeticError, match="raise the precision"):
        signal_symbols.rounded_down(flint.arb(1, 1e-3))
    assert signal_symbols.rounded_down(flint.arb(2).sqrt()) == Exact(Fraction(1_414_213_562, 10**9))


def test_fraction_refuses_what_is_irrational():
    with pytest.raises(ValueError, match="not a rational number"):
        signal_symbols.fraction(sympy.sqrt(2))
