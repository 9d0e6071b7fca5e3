"""DeepNorm, branch shares and exponents: answers known by hand, and wrong constants."""

from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import Eq, Ge, Le, Rational, log

from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.symbols import depth
from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.signal_propagation import depth_scaling as ds

CLAIMS = {c.name: c for c in registry().values() if c.topic == "signal_propagation"}
POWER_COUNTING = {
    "branch_variance_exponent",
    "depth_gradient_exponent",
    "completep_learning_rate",
    "depth_sgd_learning_rate",
    "lazy_second_order",
}


def value(name, **fields):
    return CLAIMS[name].measure(Case(**fields)).value


def test_scales_that_are_rational_are_found_exactly():
    assert value("deepnorm_alpha", depth=8, decoder=False) == 2
    assert value("deepnorm_beta", depth=2, decoder=False) == Fraction(1, 2)
    assert value("deepnorm_decoder_alpha", decoder_depth=27, decoder=True) == 3


@pytest.mark.parametrize(
    ("layers", "alpha", "beta"), [(6, "1.8612", "0.3799"), (100, "3.7606", "0.1880")]
)
def test_the_tabulated_constants(layers, alpha, beta):
    found = [value(f"deepnorm_{name}", depth=layers, decoder=False) for name in ("alpha", "beta")]
    assert [f"{float(x):.4f}" for x in found] == [alpha, beta]


def test_the_printed_encoder_constants_are_the_exact_ones_rounded():
    for name, printed in (("alpha", "0.81"), ("beta", "0.87")):
        exact = value(f"deepnorm_encoder_{name}", depth=1, decoder_depth=1)
        assert f"{float(exact):.2f}" == printed


def test_two_printed_digits_make_the_encoders_sum_overshoot():
    """At N = M = 1, where N^4 M = 1 and the printed coefficients are the scales."""
    total = ds._update_sum(
        Case(depth=1, decoder_depth=1), Fraction(81, 100) ** 2, Fraction(87, 100) ** 2
    )
    assert round(float(total) ** 0.25, 4) == 1.0122


def test_power_counting_is_no_argument_and_speaks_of_its_scalar_model():
    for name in POWER_COUNTING:
        claim = CLAIMS[name]
        assert claim.evidence == "checks", name
        assert claim.wording == "derived", name
        assert "scalar" in claim.text, name
        assert "power counting" in claim.rests_on, name


def test_equations_that_nobody_printed_are_derived():
    stacks = [c for c in CLAIMS.values() if "2 alpha^2 beta^2 = 1" in c.text]
    assert len(stacks) == 6
    for claim in stacks:
        assert claim.wording == "derived", claim.key
        assert "derived here" in claim.text, claim.key
        assert claim.weight == "arithmetic", claim.key
        assert "Nothing is shown on stability" in claim.note, claim.key


@pytest.mark.parametrize(
    "name",
    [
        "deepnorm_alpha",
        "deepnorm_beta",
        "deepnorm_decoder_alpha",
        "deepnorm_decoder_beta",
        "deepnorm_encoder_alpha",
        "deepnorm_encoder_beta",
    ],
)
@pytest.mark.parametrize(
    "slip",
    [
        lambda update, balance: (update, balance + 1 / 2),
        lambda update, balance: (2 * update + 1, balance),
        lambda update, balance: (update, balance**2 + 1),
    ],
)
def test_a_slip_in_one_of_the_two_equations_breaks_the_argument(name, slip, monkeypatch):
    true = ds._equations
    monkeypatch.setattr(ds, "_equations", lambda *symbols: slip(*true(*symbols)))
    claim = CLAIMS[name]
    assert not all(step.holds for step in claim.proof(claim.statement))


def test_bounds_on_the_sum_of_shares_are_of_one_side_and_of_the_model_alone():
    shares = {name: c for name, c in CLAIMS.items() if name.startswith("amplification")}
    assert {name: c.kind for name, c in shares.items()} == {
        "amplification_post_ln": "identity",
        "amplification_pre_ln_lower": "lower",
        "amplification_pre_ln_upper": "upper",
    }
    for claim in (*shares.values(), CLAIMS["admin_share"]):
        assert claim.text.startswith("In the model of branches"), claim.key


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("deepnorm_alpha", Eq(ds.residual_scale, ds.nine_decimals((3 * depth) ** Rational(1, 4)))),
        (
            "deepnorm_encoder_beta",
            Eq(
                ds.init_scale,
                ds.nine_decimals(
                    Rational(87, 100) * (depth**4 * ds.decoder_depth) ** Rational(-1, 16)
                ),
            ),
        ),
        ("amplification_pre_ln_upper", Le(ds.amplification, log(ds.sublayers))),
        (
            "amplification_pre_ln_lower",
            Ge(ds.amplification, log(ds.sublayers + 2) - Rational(1, 2)),
        ),
        ("completep_learning_rate", Eq(ds.adam_exponent, ds.alpha)),
        ("branch_variance_exponent", Eq(ds.variance_exponent, 1 - ds.alpha)),
        ("lazy_second_order", Eq(ds.second_order_exponent, ds.alpha - 2)),
    ],
)
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong)
    assert not all(step.holds for step in mutated.proof(wrong))
    assert Verdict.FAILS in [
        judge(mutated, case, mutated.measure(case)).verdict for case in mutated.cases("quick")
    ]


def test_what_is_not_rounded_is_no_closed_form_of_a_scale():
    claim = CLAIMS["deepnorm_alpha"]
    steps = list(claim.proof(Eq(ds.residual_scale, (2 * depth) ** Rational(1, 4))))
    assert [step.holds for step in steps] == [True, True, False, False]


def test_below_one_half_the_branches_write_a_growing_variance():
    assert value("branch_variance_exponent", depth_power="1/4") > 0


def test_shares_by_hand():
    shares = Fraction(1, 2) + Fraction(1, 3) + Fraction(1, 4)
    assert value("amplification_pre_ln_lower", sublayers=3) == shares
    assert value("amplification_pre_ln_upper", sublayers=3) == shares
    assert value("amplification_post_ln", sublayers=3) == Fraction(3, 2)
    assert value("admin_share", sublayers=3) == Fraction(1, 4)


def test_gradients_by_the_chain_rule():
    # h_3 = (1 + w_1/2)(1 + w_2/2) at w = (2, 4): the factors are 2 and 3.
    assert ds.gradients([Fraction(2), Fraction(4)], Fraction(1, 2)) == [Fraction(3, 2), Fraction(1)]


@pytest.mark.parametrize(
    ("name", "exponent"),
    [
        ("branch_variance_exponent", Fraction(-1, 2)),
        ("depth_gradient_exponent", Fraction(-3, 4)),
        ("completep_learning_rate", Fraction(-1, 4)),
        ("depth_sgd_learning_rate", Fraction(1, 2)),
    ],
)
def test_exponents_at_three_quarters(name, exponent):
    assert value(name, depth_power="3/4") == exponent


def test_one_rate_for_all_widths_grows_with_width():
    one_rate = {"name": "mup_learning_rates", "rates": "standard"}
    assert value(matrix="hidden", optimiser="adam", **one_rate) == 1
    assert value(matrix="input", optimiser="sgd", **one_rate) == -1


def test_what_is_no_power_law_or_not_rational_is_refused():
    with pytest.raises(ArithmeticError, match="not a power law"):
        ds.slope(lambda n: Fraction(n + 1))
    with pytest.raises(ValueError, match="powers of 16"):
        ds.power(8, Fraction(1, 4))
    with pytest.raises(ValueError, match="try 3 or 12"):
        value("deepnorm_transcribed_exponent", decoder_depth=5)
