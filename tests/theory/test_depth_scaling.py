"""DeepNorm, ADMIN and depth exponents: the functions against their defining equations, wrong constants against the claims."""
import math
from dataclasses import replace

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.signal_propagation import depth_scaling as ds
from depthlaw.theory.values import Case

CLAIMS = {c.key.partition("/")[2]: c for c in ds.claims()}
ROUNDING = 16 * 2.0**-52


@given(st.integers(1, 2000), st.booleans())
def test_deepnorm_satisfies_both_equations(layers, cross):
    alpha, beta = ds.deepnorm(layers, cross_attention=cross)
    n = (3 if cross else 2) * layers
    assert math.isclose(n * 2 * beta**2 / alpha**2, 1, rel_tol=ROUNDING)
    assert math.isclose(2 * (alpha * beta) ** 2, 1, rel_tol=ROUNDING)


@pytest.mark.parametrize(("layers", "alpha", "beta"), [(6, "1.8612", "0.3799"), (100, "3.7606", "0.1880")])
def test_the_tabulated_constants(layers, alpha, beta):
    assert [f"{x:.4f}" for x in ds.deepnorm(layers)] == [alpha, beta]


@given(st.integers(1, 200), st.integers(1, 200))
def test_deepnorm_encoder_satisfies_both_equations(n, m):
    alpha, beta = ds.deepnorm_encoder(n, m)
    alpha_d, v = ds.deepnorm(m, cross_attention=True)
    assert math.isclose(m * v * v / alpha_d * 2 * n * 2 * beta**2 / alpha**2, 1, rel_tol=4 * ROUNDING)
    assert math.isclose(2 * (alpha * beta) ** 2, 1, rel_tol=4 * ROUNDING)


def test_the_printed_encoder_constants_are_the_exact_ones_rounded():
    assert [f"{x:.2f}" for x in ds.deepnorm_encoder(1, 1)] == ["0.81", "0.87"]


def test_two_printed_digits_make_the_encoders_sum_overshoot():
    n, m = 18, 7
    size, (alpha_d, v) = (n**4 * m) ** (1 / 16), ds.deepnorm(m, cross_attention=True)
    assert round(m * v * v / alpha_d * 2 * n * 2 * (0.87 / size) ** 2 / (0.81 * size) ** 2, 4) == 1.0122


POWER_COUNTING = {"branch_variance_exponent", "depth_gradient_exponent", "completep_learning_rate", "depth_sgd_learning_rate", "lazy_second_order"}


def test_power_counting_is_no_argument_and_speaks_of_its_scalar_model():
    for name in POWER_COUNTING:
        claim = CLAIMS[name]
        assert claim.evidence == "checks", name
        assert claim.wording == "derived", name
        assert "scalar" in claim.text, name
        assert "power counting" in claim.rests_on, name


def test_equations_that_nobody_printed_are_derived():
    for name, claim in CLAIMS.items():
        if name.startswith("deepnorm_") and "2 alpha^2 beta^2 = 1" in claim.text:
            assert claim.wording == "derived", name
            assert "derived here" in claim.text, name


def test_bounds_on_the_sum_of_shares_are_of_one_side_and_of_the_model_alone():
    assert {name: c.kind for name, c in CLAIMS.items() if name.startswith("amplification")} == {
        "amplification_post_ln": "identity", "amplification_pre_ln_lower": "lower", "amplification_pre_ln_upper": "upper"}
    for name in ("amplification_post_ln", "amplification_pre_ln_lower", "amplification_pre_ln_upper", "admin_share"):
        assert CLAIMS[name].text.startswith("In the model of branches"), name


def test_omegas_accumulate():
    assert ds.admin_omegas([3.0, 5.0, 7.0]) == [1.0, 2.0, 3.0]
    assert ds.admin_omegas([]) == []


def test_depth_exponents_at_both_ends():
    assert ds.depth_exponents(0.5) == (-0.5, -0.5, 0.0, -0.5)
    assert ds.depth_exponents(1) == (-1, 0, 1, -1)


@pytest.mark.parametrize(("name", "wrong"), [
    ("deepnorm_alpha", lambda: sympy.Eq(symbol("residual_scale"), ds.nine_decimals((3 * symbol("depth")) ** sympy.Rational(1, 4)))),
    ("deepnorm_encoder_beta", lambda: sympy.Eq(symbol("init_scale"), ds.nine_decimals(
        sympy.Rational(87, 100) * (symbol("depth") ** 4 * symbol("decoder_depth")) ** sympy.Rational(-1, 16)))),
    ("amplification_pre_ln_upper", lambda: sympy.Le(symbol("amplification"), sympy.log(symbol("sublayers")))),
    ("amplification_pre_ln_lower", lambda: sympy.Ge(symbol("amplification"), sympy.log(symbol("sublayers") + 2) - sympy.Rational(1, 2))),
    ("completep_learning_rate", lambda: sympy.Eq(symbol("adam_exponent"), symbol("depth_power"))),
    ("branch_variance_exponent", lambda: sympy.Eq(symbol("variance_exponent"), 1 - symbol("depth_power"))),
    ("lazy_second_order", lambda: sympy.Eq(symbol("second_order_exponent"), symbol("depth_power") - 2)),
])
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong())
    assert not all(step.holds for step in mutated.proof(mutated.statement))
    assert Verdict.FAILS in [judge(mutated, case, mutated.measured(case, 0)).verdict for case in mutated.cases("quick")]


def test_below_one_half_the_branches_write_a_growing_variance():
    found = CLAIMS["branch_variance_exponent"].measured(Case(depth_power="1/4"), 0)
    assert found.value > 0


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ds.deepnorm(0), "at least one layer"),
    (lambda: ds.deepnorm_encoder(1, 0), "at least one layer"),
    (lambda: ds.admin_omegas([-1.0]), "not negative"),
    (lambda: ds.depth_exponents(0.25), "alpha must lie in"),
])
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
