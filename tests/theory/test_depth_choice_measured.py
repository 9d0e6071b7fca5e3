"""The measuring routes of depth_choice: root isolation, counting and differentiation, on answers known by hand."""
from __future__ import annotations

from fractions import Fraction

import pytest

from depthlaw.theory.depth_choice import measured as measured_by


def test_root_is_rounded_down_and_bracketed() -> None:
    assert measured_by.root(lambda x: x * x, 2) == Fraction(1_414_213_562, 10**9)
    assert measured_by.root(lambda x: x * x * x, 10**30 + 1) == 10**10


def test_root_on_a_grid_point_is_refused_and_not_guessed() -> None:
    with pytest.raises(ValueError, match="one parameter larger"):
        measured_by.root(measured_by.threshold_size, 12 * 9)


@pytest.mark.parametrize("depth", [1, 2, 5, 40])
def test_widest_is_a_power_of_three(depth: int) -> None:
    assert measured_by.widest(depth) == 3**depth


def test_weights_of_one_layer_are_counted_matrix_by_matrix() -> None:
    assert measured_by.weights(1, 1) == 12
    assert measured_by.weights(12, 768) == 84_934_656


def test_nearest_width_and_propagated_error() -> None:
    assert [measured_by.nearest_width(depth) for depth in (6, 24, 48)] == [215, 585, 2215]
    assert measured_by.propagated(24) == 4 * (Fraction("9.4e-4") + 24**2 * Fraction("1.74e-6") - 2 * 24 * Fraction("3.74e-5"))
