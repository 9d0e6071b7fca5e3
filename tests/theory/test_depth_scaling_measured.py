"""The exact routes behind depth_scaling: bisection, shares and exponents on answers known by hand."""
from fractions import Fraction

import pytest

from depthlaw.theory.signal_propagation import depth_scaling_measured as measured
from depthlaw.theory.values import Case


def test_scales_that_are_rational_are_found_exactly():
    assert measured.deepnorm_scale(Case(depth=8, decoder=False), 0, residual=True).value == 2
    assert measured.deepnorm_scale(Case(depth=2, decoder=False), 0, residual=False).value == Fraction(1, 2)
    assert measured.deepnorm_scale(Case(decoder_depth=27, decoder=True), 0, residual=True).value == 3


def test_shares_by_hand():
    assert measured.amplification(Case(sublayers=3), 0, post=False).value == Fraction(1, 2) + Fraction(1, 3) + Fraction(1, 4)
    assert measured.amplification(Case(sublayers=3), 0, post=True).value == Fraction(3, 2)
    assert measured.admin_share(Case(sublayers=3), 0).value == Fraction(1, 4)


def test_gradients_by_the_chain_rule():
    # h_3 = (1 + w_1/2)(1 + w_2/2) at w = (2, 4): the factors are 2 and 3.
    assert measured._gradients([Fraction(2), Fraction(4)], Fraction(1, 2)) == [Fraction(3, 2), Fraction(1)]


@pytest.mark.parametrize(("what", "exponent"), [("variance", Fraction(-1, 2)), ("gradient", Fraction(-3, 4)), ("adam", Fraction(-1, 4)),
                                                ("sgd", Fraction(1, 2))])
def test_exponents_at_three_quarters(what, exponent):
    assert measured.depth_exponent(Case(depth_power="3/4"), 0, what=what).value == exponent


def test_one_rate_for_all_widths_grows_with_width():
    assert measured.width_exponent(Case(matrix="hidden", optimiser="adam", rates="standard"), 0).value == 1
    assert measured.width_exponent(Case(matrix="input", optimiser="sgd", rates="standard"), 0).value == -1


def test_what_is_no_power_law_or_not_rational_is_refused():
    with pytest.raises(ArithmeticError, match="not a power law"):
        measured._slope(lambda n: Fraction(n + 1))
    with pytest.raises(ValueError, match="powers of 16"):
        measured._power(8, Fraction(1, 4))
    with pytest.raises(ValueError, match="try 3, 12 or 27"):
        measured.decoder_weight_scales(Case(decoder_depth=5), 0)
