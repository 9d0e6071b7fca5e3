"""The published errors as cases, and the intervals that a mean over few sequences leaves open."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from depthlaw.empirics.trained_depth.experiment import accuracy as answered
from depthlaw.empirics.trained_depth.published import LEVEL, SEQUENCES, cells, mean_ends, predicted
from depthlaw.theory.claims.definition import Claim, registry
from depthlaw.theory.claims.symbols import published_error
from depthlaw.theory.claims.values import Ball, Case
from depthlaw.theory.hops.published_experiment import error_rows

ON, OFF = (registry()[f"trained_depth/published_dropout_{state}"] for state in ("on", "off"))


def test_all_25_cells_are_asked_about_and_say_what_is_printed() -> None:
    table = {(case.hops, case.depth): case.published_error for case in cells(dropout=True)}
    assert set(table) == {(hops, depth) for hops in (1, 2, 4, 8, 16) for depth in range(2, 7)}
    assert (table[1, 2], table[8, 4], table[16, 6]) == ("0.0100", "0.2163", "0.0616")
    assert {(c.hops, c.depth): c.rational("published_error") for c in ON.grid["gpu"]} == {
        (row.hops, row.depth): row.error for row in error_rows("on", "printed")
    }
    for claim, dropout in ((ON, True), (OFF, False)):
        assert set(claim.grid) == {"gpu"}
        assert {
            (c.task, c.symbols, c.alphabet, c.hops_max, c.dropout) for c in claim.grid["gpu"]
        } == {("hop_k", 98, 4, 16, dropout)}
        assert {"dropout", "published_error"} <= set(claim.reads)


shares = st.floats(0, 1, allow_subnormal=False)


@given(shares, st.integers(1, 400), st.floats(1e-9, 0.5))
def test_the_ends_hold_the_mean_mirror_and_lie_within_the_plain_inequality(
    share: float, count: int, level: float
) -> None:
    low, high = mean_ends(share, count, level)
    assert 0 <= low <= share <= high <= 1
    # KL(x, p) is at least 2 (x - p)^2, so these ends are never wider than those of Hoeffding's
    # inequality in its plain form; bisection stops within 2^-60 of the end, rounding adds a few
    # units in the last place.
    half = math.sqrt(math.log(2 / level) / (2 * count)) + 1e-12
    assert share - half <= low
    assert high <= share + half
    mirrored = mean_ends(1 - share, count, level)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_the_interval_misses_no_more_often_than_it_says_and_half_of_it_would() -> None:
    """Exactly, for coins, where Hoeffding's inequality is loosest against nothing: the chance that
    an end lies on the wrong side."""
    count, level = 100, 0.05
    right = np.arange(count + 1)
    ends = np.array([mean_ends(each / count, count, level) for each in right])

    def missed(ends: np.ndarray) -> float:
        return max(
            float(stats.binom.pmf(right, count, p)[(p < ends[:, 0]) | (p > ends[:, 1])].sum())
            for p in np.linspace(0.01, 0.99, 99)
        )

    assert missed(ends) <= level < missed((right[:, None] / count + ends) / 2)


def test_every_prediction_holds_the_published_number_with_room_for_its_noise() -> None:
    for case in ON.grid["gpu"]:
        found, accuracy = ON.predict(case), 1 - case.rational("published_error")
        assert isinstance(found, Ball)
        low, high = mean_ends(float(accuracy), SEQUENCES, LEVEL)
        assert found.low <= low
        assert found.high >= high
        # Outwards by the rounding to four places, which moves an end by little more than itself,
        # and to six.
        assert float(found.high - found.low) == pytest.approx(high - low, abs=1e-3)
        assert OFF.predict(Case(**(case.fields() | {"dropout": False}))) == accuracy


def test_a_right_side_that_is_no_share_is_refused() -> None:
    from sympy import Eq

    case = ON.grid["gpu"][0]
    for right in (2 - published_error, -published_error, answered):
        wrong: Claim = replace(ON, statement=Eq(answered, right, evaluate=False))
        with pytest.raises(ValueError, match="share from 0 to 1"):
            predicted(wrong.statement, case)
