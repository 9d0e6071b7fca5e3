"""Norms and Jacobians: the functions against independent routes, and every claim of the stem against its expected verdict."""
import math
from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory import signal_propagation as sp
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {c.key.partition("/")[2]: c for c in sp.claims()}


def verdicts(claim):
    return [judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_expected_verdict(claim):
    found = set(verdicts(claim))
    assert Verdict.FAILS in found if claim.awaited == "FAILS" else found == {Verdict.HOLDS}


@pytest.mark.parametrize("claim", [c for c in CLAIMS.values() if c.proof], ids=[k for k, c in CLAIMS.items() if c.proof])
def test_every_step_of_the_argument_is_confirmed(claim):
    steps = list(claim.proof(claim.statement))
    assert steps
    assert [step.says for step in steps if step.holds is not True] == []


@pytest.mark.parametrize(("name", "wrong"), [
    ("relu_norm", lambda d, layer: sympy.Eq(symbol("squared_norm"), symbol("input_variance") * d / 3)),
    ("post_ln_norm", lambda d, layer: sympy.Eq(symbol("sum_mean_square"), sympy.Rational(5, 2))),
    ("pre_ln_norm_upper", lambda d, layer: sympy.Le(symbol("mean_square"), 1 + layer)),
    ("pre_ln_norm_lower", lambda d, layer: sympy.Ge(symbol("mean_square"), 1 + layer)),
    ("layernorm_jacobian", lambda d, layer: sympy.Eq(symbol("jacobian_square"), (d - 1) / symbol("centred_square"))),
    ("layernorm_jacobian_rank", lambda d, layer: sympy.Eq(symbol("jacobian_trace"), d * (d - 1) / symbol("centred_square"))),
    ("norm_concentration", lambda d, layer: sympy.Le(symbol("excess_probability"), sympy.exp(-d * symbol("relative_excess") ** 2 / 7))),
])
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong(symbol("width"), symbol("layer")))
    assert not all(step.holds for step in mutated.proof(mutated.statement))
    larger = [judge(mutated, case, mutated.measured(case, 0)).verdict for case in mutated.cases("theory")]
    assert Verdict.FAILS in larger


@pytest.mark.parametrize("case", CLAIMS["norm_concentration"].cases("theory"))
def test_the_tail_bound_covers_its_cases(case):
    claim = CLAIMS["norm_concentration"]
    eps = float(case.rational("relative_excess"))
    assert float(claim.measured(case, 0).high) <= sp.norm_excess_bound(case.width, eps)


@given(st.lists(st.integers(-9, 9), min_size=3, max_size=8).filter(lambda row: len(set(row)) > 1))
def test_layernorm_jacobian_norm_against_singular_values(row):
    x = np.array(row, dtype=float)
    d, y = len(x), x - x.mean()
    J = math.sqrt(d) / np.linalg.norm(y) * (np.eye(d) - np.outer(y, y) / (y @ y)) @ (np.eye(d) - 1 / d)
    norm = sp.layernorm_jacobian_norm(row)
    assert abs(np.linalg.norm(J, 2) - norm) <= 64 * d * 2.0**-52 * norm


def test_layernorm_has_no_derivative_direction_left_at_width_two():
    assert sp.layernorm_jacobian_norm([1, 2]) == 0


def test_the_embedding_has_mean_square_one():
    assert sp.pre_ln_mean_square(0) == (1, 1)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: sp.pre_ln_mean_square(-1), "0 .the embedding. or more"),
    (lambda: sp.layernorm_jacobian_norm([2, 2, 2]), "at least two different entries"),
    (lambda: sp.layernorm_jacobian_norm([]), "at least two different entries"),
    (lambda: sp.norm_excess_bound(8, 1.7), "an excess in"),
    (lambda: sp.norm_excess_bound(0, 0.5), "widths from 1"),
])
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_every_proof_says_what_it_rests_on_and_one_sided_bounds_are_one_sided():
    for key, claim in CLAIMS.items():
        assert bool(claim.rests_on) == (claim.proof is not None), key
        assert len(claim.rests_on) <= 160, key
        assert claim.kind != "two-sided", key


def test_no_proof_that_only_retypes_its_statement_is_an_argument():
    assert {key for key, claim in CLAIMS.items() if claim.proof and claim.evidence != "argument"} == {
        "residual_unscaled", "residual_scaled", "branch_variance_exponent", "depth_gradient_exponent", "completep_learning_rate",
        "depth_sgd_learning_rate", "lazy_second_order"}
    assert all(claim.evidence != "certificate" for claim in CLAIMS.values())
