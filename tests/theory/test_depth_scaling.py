"""DeepNorm: printed constants; powers of n that are refused."""

from fractions import Fraction

import pytest
from judging import claims

from depthlaw.theory.claims.values import Case
from depthlaw.theory.signal_propagation import depth_scaling as ds

CLAIMS = claims("signal_propagation")


def scales(stack, **sizes):
    """alpha and beta."""
    return [CLAIMS["deepnorm_scales"].measure(c).value for c in ds.deepnorm_cases(stack, **sizes)]


@pytest.mark.parametrize(
    ("layers", "printed"), [(6, ["1.8612", "0.3799"]), (100, ["3.7606", "0.1880"])]
)
def test_the_tabulated_constants(layers, printed):
    assert [f"{float(x):.4f}" for x in scales("alone", depth=layers)] == printed


def test_the_printed_encoder_constants_are_the_exact_ones_rounded():
    exact = scales("encoder", depth=1, decoder_depth=1)
    assert [f"{float(x):.2f}" for x in exact] == ["0.81", "0.87"]


def test_a_transcription_lost_the_sign_of_an_exponent():
    """v_d^2 + w_d^2 = (3 M)^(1/2) is printed in one; at M = 3, beta = 1/sqrt(6) makes it 1/3."""
    assert float(2 * scales("decoder", depth=3)[1] ** 2) == pytest.approx((3 * 3) ** -0.5)


def test_two_printed_digits_make_the_encoders_sum_overshoot():
    """At N = M = 1, where N^4 M = 1 and the printed coefficients are the scales."""
    total = ds._update_sum(
        Case(stack="encoder", depth=1, decoder_depth=1),
        Fraction(81, 100) ** 2,
        Fraction(87, 100) ** 2,
    )
    assert round(float(total) ** 0.25, 4) == 1.0122


def test_what_is_no_power_law_or_not_rational_is_refused():
    with pytest.raises(ArithmeticError, match="not a power law"):
        ds.slope(lambda n: Fraction(n + 1))
    with pytest.raises(ValueError, match="powers of 16"):
        ds.power(8, Fraction(1, 4))
