"""Depth for a budget: roots known by hand, and rows of tables that are asked."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from judging import claims
from scipy.special import lambertw

from depthlaw.advisor.models import models
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.depth_choice import levine_fit, threshold
from depthlaw.theory.depth_choice.inversion import root

CLAIMS = claims("depth_choice")


def test_root_is_rounded_down_and_bracketed() -> None:
    assert root(lambda x: x * x, 2) == Fraction(1_414_213_562, 10**9)
    assert root(lambda x: x * x * x, 10**30 + 1) == 10**10


def test_root_on_a_grid_point_is_refused_and_not_guessed() -> None:
    with pytest.raises(ValueError, match="one parameter larger"):
        threshold.threshold_budget.measure(Case(parameters=12 * 9))


def test_every_row_of_the_projection_table_is_asked_and_none_that_fails_is_left_out() -> None:
    claim = levine_fit.gpt3_projection
    cases = claim.cases("quick")
    assert [(c.model, c.stated_in) for c in cases] == [
        (r["model"], r["stated_in"]) for r in levine_fit.PROJECTIONS
    ]
    assert [claim.predict(case) for case in cases] == [23, 32, 37, 42, 47, 54, 60, 80, 95, 95]
    # Neither the lost digits of the constants nor a nominal size for 12 L d^2 turns 37 into 38.
    for a in (5.039 - 5e-4, 5.039 + 5e-4):
        for b in (5.55e-2 - 5e-5, 5.55e-2 + 5e-5):
            moved = lambertw(b * 679477248 / 6 * math.exp(-2 * a)).real / 2 / b
            assert 37.36 < moved < 37.45


def test_projections_repeat_the_trained_shapes() -> None:
    for row in levine_fit.PROJECTIONS:
        if row["trained_depth"]:
            depth, width = int(row["trained_depth"]), int(row["trained_width"])
            assert int(row["parameters"]) == 12 * depth * width**2


def test_never_binds_is_complete() -> None:
    listed = {m.name for m in models() if m.parameters > 10**8}
    assert {case.model for case in threshold.threshold_never_binds.cases("theory")} == listed
    assert len(listed) > 150
