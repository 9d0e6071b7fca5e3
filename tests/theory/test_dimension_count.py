"""S(d, L): the closed form against the sum itself, and the balls for huge sizes against exact integers."""
import math

import numpy as np
import pytest

from depthlaw.theory.exact.enclosure import from_fraction
from depthlaw.theory.separation_rank.dimension_count import claims, dimension_count, log3_dimension_count, moments_degree, two_token_rank
from depthlaw.theory.separation_rank.dimension_count_measured import measured_knee
from depthlaw.theory.values import Case


def by_definition(d: int, depth: int) -> int:
    D, C = d * (d + 1) // 2, (3**depth - 1) // 2
    return sum(min(d * math.comb(D + k - 1, k), math.comb(D + C - k - 1, C - k)) for k in range(C + 1))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 20])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_two_hockey_sticks_are_the_sum(width, depth):
    assert dimension_count(width, depth) == by_definition(width, depth)


def test_known_values():
    assert [dimension_count(*shape) for shape in ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2))] == [3, 18, 232, 4, 49, 110]
    assert [two_token_rank(*shape) for shape in ((2, 2), (3, 2), (5, 1))] == [15, 35, 6]
    assert moments_degree(0) == 0
    assert dimension_count(1, 3) == 14  # one moment: C + 1 products of its powers


@pytest.mark.parametrize("width", [1, 2, 3, 6, 11, 30])
@pytest.mark.parametrize("depth", [1, 2, 3, 6, 30, 80])
def test_bounds_enclose_the_exact_logarithm(width, depth):
    import flint

    low, high = log3_dimension_count(width, depth)
    with flint.ctx.workprec(256):
        exact = from_fraction(dimension_count(width, depth)).log() / flint.arb(3).log()
        assert flint.arb(float(low)) <= exact <= flint.arb(float(high))
    # Tight: the gap left by 64 bits of bisection, and one rounding outwards on each side.
    assert high - low <= 4 * np.spacing(high)


def test_huge_sizes_stay_finite_and_ordered():
    width, depth = np.array([1, 10, 1000, 10**6])[:, None], np.array([1, 10, 200])
    low, high = log3_dimension_count(width, depth)
    assert low.shape == high.shape == (4, 3)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    assert (low < high).all()
    assert (np.diff(low, axis=0) > 0).all()
    assert (np.diff(low, axis=1) > 0).all()


def test_late_slope_is_the_number_of_moments():
    # S is about binom(D + C/2, D) for C much larger than D, and C triples with each layer.
    low, high = log3_dimension_count(10, [200, 201])
    assert low[1] - high[0] <= 55 <= high[1] - low[0]


def test_null_cases_and_bad_input():
    assert log3_dimension_count([], [])[0].shape == (0,)
    for bad in (0, -1, 1.5, math.nan, math.inf, True):
        with pytest.raises(ValueError, match="whole numbers"):
            dimension_count(bad, 1)
        with pytest.raises(ValueError, match="whole numbers"):
            log3_dimension_count(2, [1, bad])
    with pytest.raises(ValueError, match="log3_dimension_count"):
        dimension_count(10**6, 200)


# --- the claims ----------------------------------------------------------------------------------------------------------------

CLAIMS = {c.key.split("/")[1]: c for c in claims()}
PROVED = sorted(name for name, claim in CLAIMS.items() if claim.proof is not None)


@pytest.mark.parametrize("name", PROVED)
def test_arguments_hold_and_refuse_every_mutant(name):
    from depthlaw.ledger.verdicts.mutation import mutants

    claim = CLAIMS[name]
    assert all(step.holds for step in claim.proof(claim.statement))
    for change, mutant in mutants(claim.statement):
        if mutant.func is claim.statement.func and mutant.lhs == claim.statement.lhs:
            assert not all(step.holds for step in claim.proof(mutant)), change


@pytest.mark.parametrize("width", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_count_lies_between_its_bounds(width, depth):
    D, C = width * (width + 1) // 2, (3**depth - 1) // 2
    middle, count = math.comb(D + C // 2, D), dimension_count(width, depth)
    assert middle <= count <= (width + 1) * middle
    assert count <= min((width + 1) ** C, 3 ** (D * depth))


def test_knee_is_about_twice_the_threshold():
    assert [measured_knee(Case(width=w), 0).value for w in (1, 9, 12288)] == [2, 5, 18]
