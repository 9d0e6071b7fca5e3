"""S(d, L): closed form against the sum itself, and balls for huge sizes against exact integers."""

import math

import flint
import pytest

from depthlaw.theory.exact.enclosure import from_fraction
from depthlaw.theory.separation_rank import dimension_count as dc


def by_definition(d: int, depth: int) -> int:
    D, C = d * (d + 1) // 2, (3**depth - 1) // 2
    return sum(
        min(d * math.comb(D + k - 1, k), math.comb(D + C - k - 1, C - k)) for k in range(C + 1)
    )


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 20])
def test_two_hockey_sticks_are_the_sum(width):
    for depth in (1, 2, 3, 4, 5):
        assert dc.dimension_count(width, depth) == by_definition(width, depth)


@pytest.mark.parametrize("width", [1, 2, 3, 6, 11, 30])
@pytest.mark.parametrize("depth", [1, 2, 3, 6, 30, 80])
def test_bounds_enclose_the_exact_logarithm(width, depth):
    low, high = dc.log3_dimension_count(width, depth)
    with flint.ctx.workprec(256):
        exact = from_fraction(dc.dimension_count(width, depth)).log() / flint.arb(3).log()
        assert flint.arb(low) <= exact <= flint.arb(high)
    # Tight: the gap left by 64 bits of bisection, and one rounding outwards on each side.
    assert high - low <= 4 * math.ulp(high)


def test_huge_sizes_stay_finite_and_ordered():
    widths, depths = (1, 10, 1000, 10**6), (1, 10, 200)
    table = [[dc.log3_dimension_count(d, L) for L in depths] for d in widths]
    for row in (*table, *zip(*table, strict=True)):
        assert all(0 < low < high < math.inf for low, high in row)
        assert [low for low, _ in row] == sorted({low for low, _ in row})


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, True])
def test_bad_input_is_refused(bad):
    for function, sizes in ((dc.dimension_count, (bad, 1)), (dc.log3_dimension_count, (2, bad))):
        with pytest.raises(ValueError, match="whole numbers"):
            function(*sizes)


def test_null_cases_and_what_is_too_large():
    assert dc.moments_degree(0) == 0
    with pytest.raises(ValueError, match="log3_dimension_count"):
        dc.dimension_count(10**6, 200)


@pytest.mark.parametrize("width", [1, 3, 10, 100])
@pytest.mark.parametrize("depth", [60, 200])
def test_far_beyond_the_knee_each_layer_adds_the_number_of_moments(width, depth):
    low, high = dc.log3_dimension_count(width, depth)
    next_low, next_high = dc.log3_dimension_count(width, depth + 1)
    assert round(next_low - high) == round(next_high - low) == width * (width + 1) // 2
