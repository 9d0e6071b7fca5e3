"""The enumerations and integrals behind signal_propagation, on answers known by hand."""
import math
from fractions import Fraction

import flint
import pytest
import sympy

from depthlaw.theory.signal_propagation import measured as measured
from depthlaw.theory.values import Case, Exact


def test_half_of_a_gaussian():
    assert measured.half_gaussian_moment(sympy.Integer(1)) == sympy.Rational(1, 2)
    assert measured.relu_squared_norm(Case(width=3, input_variance="2/3"), 0).value == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_post_ln_sums_do_not_depend_on_the_layers_before(seed):
    assert measured.post_ln_sum(Case(width=3, layer=4), seed).value == Fraction(3, 2)


def test_enumerated_streams_stay_between_their_ends():
    identical, opposite = (measured.pre_ln_mean_square(Case(width=2, layer=2, tokens=2, start=s), 0).value for s in ("identical", "opposite"))
    assert identical == 4
    assert 2 < opposite < 4


def test_the_wide_recursion_meets_one_layer_by_hand():
    # Two orthogonal tokens: the mean of two unit vectors has square 1/2, the feed-forward branch adds 1/2.
    with flint.ctx.workprec(64):
        assert measured.wide_pre_ln(1, 2) == 2
        assert measured.wide_pre_ln(0, 2) == 1


def test_a_third_of_the_tokens_is_refused():
    token = (7, 0, -1, 0)
    with pytest.raises(ValueError, match="take two tokens"):
        measured._attention({(token, token, (-7, 0, 1, 0)): 1})


@pytest.mark.parametrize(("token", "sign"), [((0, 2, 3, 0), -1), ((0, 3, 3, 0), 1), ((1, -1, 0, 0), -1), ((2, -1, 0, 0), 1), ((-1, -1, 0, 0), -1)])
def test_the_sign_of_a_number_with_a_root(token, sign):
    u, v = token[0] - token[2], token[1] - token[3]
    assert measured._normed_sign(token) == sign == math.copysign(1, u + v * math.sqrt(2))


def test_jacobian_by_dual_numbers_has_the_two_null_directions():
    R, scale = measured.layernorm_jacobian([4, 1, 1])
    assert scale == Fraction(3, 6)
    assert all(sum(row) == 0 for row in R)
    assert all(2 * row[0] - row[1] - row[2] == 0 for row in R)


def test_rounding_down_refuses_a_straddling_ball():
    with pytest.raises(ArithmeticError, match="raise the precision"):
        measured.rounded_down(flint.arb(1, 1e-3))
    assert measured.rounded_down(flint.arb(2).sqrt()) == Exact(Fraction(1_414_213_562, 10**9))


def test_fraction_refuses_what_is_irrational():
    with pytest.raises(ValueError, match="not a rational number"):
        measured.fraction(sympy.sqrt(2))
