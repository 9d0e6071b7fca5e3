"""The recursion of the curse of depth against plain iterations, and wrong growths."""

import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.signal_propagation import layernorm_scaling as ls

ONE = Fraction(1)


def test_two_steps_by_hand():
    assert ls.product_variance(3, ONE, ONE, ONE).overlaps(
        2 + ls.product_variance(2, ONE, ONE, ONE).sqrt()
    )
    assert abs(float(ls.scaled_variance(3, ONE)) - 3) < 1e-12  # 1 + 1 + sqrt(2)/sqrt(2)


@pytest.mark.parametrize("first", [1, 7])
def test_the_product_is_the_recursion_sigma_squared_plus_sigma(first):
    variance = float(first) ** 2
    for _ in range(299):
        variance += math.sqrt(variance)
    found = float(ls.product_variance(300, Fraction(first), ONE, ONE))
    assert found == pytest.approx(variance, rel=1e-12)


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
