"""The enumerations, integrals and dual numbers behind token_correlation, on answers known by hand."""
from fractions import Fraction

import flint
import pytest

from depthlaw.theory.signal_propagation import token_correlation_measured as measured
from depthlaw.theory.values import Case


def test_one_layer_over_both_signs_by_hand():
    # Tokens 1 and 3 of width 1, a = 1: both get the mean 2 with one sign, so (3, 5) or (-1, 1).
    case = Case(rows="1; 3", tokens=2, attention_square="1", mlp_square="0", layer=1)
    assert measured.moments(case) == (Fraction(64 + 0, 2), Fraction(34 + 2, 2))
    assert measured.correlation(case, 0).value == Fraction(32 - 18, 18)


def test_an_mlp_branch_multiplies_the_total():
    case = Case(rows="1; 3", tokens=2, attention_square="0", mlp_square="1", layer=1)
    assert measured.moments(case) == (2 * 16, 2 * 10)


def test_the_root_of_a_square_and_of_what_is_none():
    assert measured.rational_root(Fraction(9, 16)) == Fraction(3, 4)
    with pytest.raises(ValueError, match="choose a.2/d"):
        measured.rational_root(Fraction(1, 2))


def test_integers_that_would_overflow_are_refused():
    with pytest.raises(OverflowError, match="fewer layers"):
        measured.moments(Case(rows="1000000001; 1000000000", tokens=2, attention_square="1/4", mlp_square="0", layer=2))


def test_kernel_at_known_angles():
    with flint.ctx.workprec(64):
        pi = flint.arb.pi()
        assert measured.kernel_by_integral(flint.arb(0)).overlaps(1 / pi)
        half = measured.kernel_by_integral(flint.arb(1) / 2)  # angle pi/3
        assert half.overlaps((flint.arb(3).sqrt() / 2 + pi / 3) / pi)


def test_derivative_of_softmax_sums_to_zero():
    derivative = measured._softmax_derivative([3, 0, -1])
    assert sum(derivative) == 0
    assert derivative[0] == Fraction(3 * 3 - 2, 9)


@pytest.mark.parametrize(("k", "value", "slope"), [(1, 1, 1), (2, 3, 4), (3, 15, 27)])
def test_power_kernels_at_one(k, value, slope):
    # E z^(2k), and E (k z^(k-1))^2 by Price's theorem.
    assert measured._power_kernel_at_one(k, Fraction(1)) == (value, slope)
    assert value == measured.gaussian_moment(2 * k)
    assert slope == k * k * measured.gaussian_moment(2 * k - 2)


def test_condensation_is_zero_at_small_beta_and_a_gamma_ratio_beyond():
    assert measured.participation(Case(overlap="0", sharpness="1"), 0).value == 0
    assert measured.participation(Case(overlap="0", sharpness="2"), 0).value == Fraction(292_893_218, 10**9)
