"""The recursion of the curse of depth by hand, and that no constants give more."""

import math
from fractions import Fraction

import numpy as np

from depthlaw.theory.signal_propagation import layernorm_scaling as ls

ONE = Fraction(1)


def test_two_steps_by_hand():
    assert ls.product_variance(3, ONE, ONE, ONE).overlaps(
        2 + ls.product_variance(2, ONE, ONE, ONE).sqrt()
    )
    assert abs(float(ls.scaled_variance(3, ONE)) - 3) < 1e-12  # 1 + 1 + sqrt(2)/sqrt(2)


def test_no_other_constants_within_theta_give_more():
    least, largest, n = Fraction(1, 9), Fraction(4), 40
    extreme = float(ls.product_variance(n, ONE, least, largest))
    rng = np.random.default_rng(0)
    for _ in range(200):
        product, deviation = 1.0, 1.0
        for _ in range(n - 1):
            product *= 1 + 1 / deviation
            deviation = math.sqrt(rng.uniform(float(least), float(largest)) * product)
        assert deviation**2 <= extreme
