"""Norms by hand, and rounding."""

import math
from fractions import Fraction

import flint
import pytest

from depthlaw.theory.claims.values import Exact
from depthlaw.theory.signal_propagation import norms, signal_symbols


def test_the_wide_recursion_meets_one_layer_by_hand():
    # Two orthogonal tokens: the mean of unit vectors has square 1/2, the feed-forward branch 1/2.
    with flint.ctx.workprec(64):
        assert norms.wide_mean_square(1, 2) == 2
        assert norms.wide_mean_square(0, 2) == 1


@pytest.mark.parametrize(
    ("token", "sign"),
    [
        *(((0, 2, 3, 0), -1), ((0, 3, 3, 0), 1), ((1, -1, 0, 0), -1)),
        *(((2, -1, 0, 0), 1), ((-1, -1, 0, 0), -1)),
    ],
)
def test_the_sign_of_a_number_with_a_root(token, sign):
    u, v = token[0] - token[2], token[1] - token[3]
    assert norms._normed_sign(token) == sign == math.copysign(1, u + v * math.sqrt(2))


def test_rounding_down_refuses_a_straddling_ball():
    with pytest.raises(ArithmeticError, match="raise the precision"):
        signal_symbols.rounded_down(flint.arb(1, 1e-3))
    assert signal_symbols.rounded_down(flint.arb(2).sqrt()) == Exact(Fraction(1_414_213_562, 10**9))
