"""The laws: each is what its claim states, and refuses what is no size; W against other routes."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
from hypothesis import given, strategies as st
from scipy.special import lambertw

from depthlaw.advisor import laws
from depthlaw.theory.claims.definition import SUITES, Case, at, find

budgets = st.integers(12, 10**18)


def stated(key: str, **case: int) -> float:
    """What a claim says for a case."""
    return at(find(key).statement.rhs, Case(**case))


# --- the law of each claim -----------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [12, 10**6, 1_300_000_000, 10**12, 10**18])
def test_real_depths_for_a_budget_are_those_of_the_claims(parameters: int) -> None:
    # Claims state real depths rounded down to nine decimals.
    fit = laws.transition_depth(parameters)
    for key, depth in (
        ("threshold_budget", laws.threshold_depth(parameters)),
        ("levine_fit_depth", fit),
    ):
        said = float(stated(f"depth_choice/{key}", parameters=parameters))
        assert depth == pytest.approx(said, abs=1.001e-9)
    # L moves by L / (1 + 2 b L) per relative change of N, whose variance a claim states.
    variance = find("depth_choice/levine_fit_error").statement.rhs
    error = math.sqrt(variance.subs(dict.fromkeys(variance.free_symbols, fit)))
    passed_on = fit / (1 + 2 * laws.FIT_B * fit)
    assert laws.transition_depth_error(parameters) == pytest.approx(passed_on * error, rel=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 60])
def test_threshold_asks_for_a_layer_more_beyond_the_largest_budget_of_a_depth(depth: int) -> None:
    largest = 12 * depth * 9**depth  # width 3^L
    assert laws.threshold_layers(largest) == depth
    assert laws.threshold_layers(largest + 1) == depth + 1


@given(budgets)
def test_threshold_layers_are_the_closed_form_rounded_up(parameters: int) -> None:
    layers, real = laws.threshold_layers(parameters), laws.threshold_depth(parameters)
    slope = 1 / (1 / real + math.log(9))  # dL / d ln N
    assert layers - 1 - slope * 1e-13 <= real <= layers + slope * 1e-13


@pytest.mark.parametrize("depth", [6, 12, 24, 48])
def test_fit_turns_at_the_width_of_its_other_form(depth: int) -> None:
    width = round(math.exp(laws.FIT_A + laws.FIT_B * depth))
    sizes = (12 * depth * Fraction(2 * width + side, 2) ** 2 for side in (-1, 1))
    below, above = map(laws.transition_depth, sizes)
    assert below < depth < above


@pytest.mark.parametrize("size", [1, 2, 4, 17, 64, 3**20, 3**20 + 1])
def test_layers_for_a_task_are_those_of_the_claims(size: int) -> None:
    reach = stated("connectivity/layers_for_diameter", diameter=size)
    assert laws.layers_for_diameter(size) == reach
    assert laws.layers_for_hops(size) == stated("hops/depth_corrected", hops=size)
    assert laws.layers_for_hops_printed(size) == stated("hops/depth_printed", hops=size)


@pytest.mark.parametrize("depth", [0, 1, 5, 40])
def test_reach_is_that_of_its_claim(depth: int) -> None:
    assert laws.reach(depth) == stated("connectivity/reach", depth=depth, diameter=3**depth)
    assert laws.layers_for_diameter(laws.reach(depth)) == depth


def test_every_hop_up_to_the_largest_was_executed() -> None:
    cases = [c for suite in SUITES for c in find("hops/depth_corrected").cases(suite)]
    executed = {case.hops for case in cases}
    assert executed == set(range(1, laws.LARGEST_EXECUTED + 1))


# --- rules that no claim states ------------------------------------------------------------------


@given(st.integers(1, 10**4), st.floats(0.5, 500))
def test_aspect_and_logarithmic_rules_return_their_own_shapes(depth: int, scale: float) -> None:
    width = scale * depth
    assert laws.aspect_depth(12 * depth * width**2, scale) == pytest.approx(depth, rel=1e-14)
    c = depth / math.log(width) if width > 1.5 else depth
    shape = math.exp(depth / c)
    size = 12 * depth * shape**2
    # L = (c/2) W(e^y): y is off by a few units of ln N, which dL/dy <= c/2 * 2 L / c = L passes on.
    error = 64 * 2.0**-52 * (1 + abs(math.log(size)) + abs(math.log(6 * c)))
    assert laws.logarithmic_depth(size, c) == pytest.approx(depth, rel=error)
    assert laws.width_at(size, depth) == pytest.approx(shape, rel=1e-15)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
@pytest.mark.parametrize(
    "law",
    [
        laws.threshold_depth,
        laws.threshold_layers,
        laws.transition_depth,
        laws.transition_depth_error,
        lambda n: laws.aspect_depth(n, 64),
        lambda n: laws.aspect_depth(64, n),
        lambda n: laws.logarithmic_depth(n, 2.43),
        lambda n: laws.width_at(n, 8),
        lambda n: laws.width_at(8, n),
    ],
)
def test_bad_numbers_are_refused_in_one_line(law, bad: float) -> None:
    with pytest.raises(ValueError, match=r"^the .* must be a positive finite number, got [^\n]*$"):
        law(bad)


# --- Lambert's W ---------------------------------------------------------------------------------


def w_error(y: float) -> float:
    """Permitted error: the last step, and dw/dy = w / (1 + w) times the rounding of y.

    Newton stops at a relative step of 1e-15; the root then carries the rounding of y + 1 - ln w, at
    most 4 units of max(|y|, 1).
    """
    w = laws.lambert_w_exp(y)
    return 4 * 2.0**-52 * (w + w / (1 + w) * max(abs(y), 1.0))


@pytest.mark.parametrize("y", [-700.0, -30.0, -1.0, 0.0, 0.5, 1.0, 1.5, 20.0, 700.0])
def test_lambert_w_agrees_with_balls_and_scipy(y: float) -> None:
    with flint.ctx.workprec(200):
        exact = flint.arb(y).exp().lambertw()
        assert abs(flint.arb(laws.lambert_w_exp(y)) - exact) <= w_error(y)
    reference = lambertw(math.exp(y)).real
    # SciPy stops at a relative step of 1e-8 of a cubically convergent iteration; its argument e^y
    # is off by |y| units.
    assert abs(laws.lambert_w_exp(y) - reference) <= 2.0**-52 * reference * (8 + 2 * abs(y))


@given(st.floats(-1e300, 1e300))
def test_lambert_w_solves_its_equation_everywhere(y: float) -> None:
    w = laws.lambert_w_exp(y)
    if y < -700:
        assert w == math.exp(y)
    else:
        assert abs(w + math.log(w) - y) <= w_error(y) * (1 + 1 / w)


# --- the sum of width, depth and tokens -----------------------------------------------------------


def test_the_terms_of_the_sum_are_those_printed_beside_its_fit() -> None:
    """Of the net of the least loss, 40 x 3584 after 3.2e11 tokens, the notebook prints each."""
    tokens, printed = 317754489343.9688, (0.11236475266608222, 0.06042401073346225)
    (m, a), (k, b) = laws.ADDED_WIDTH, laws.ADDED_DEPTH
    assert m * 3584**-a == pytest.approx(printed[0], rel=1e-9)
    assert k * 4000**-b == pytest.approx(printed[1], rel=1e-9)
    last = laws.added_loss(40, 3584, tokens) - laws.ADDED_LIMIT - sum(printed)
    assert last == pytest.approx(0.19190516726774523, rel=1e-6)
    assert laws.added_loss(40, 3584, tokens) == pytest.approx(2.0773942450664395, rel=0.02)


@given(st.floats(1e7, 1e12), st.floats(1e8, 1e14))
def test_the_best_depth_of_the_sum_is_no_better_on_either_side_for_any_tokens(
    parameters: float, tokens: float
) -> None:
    def loss(depth: float) -> float:
        return laws.added_loss(depth, laws.width_at(parameters, depth), tokens)

    best = laws.added_depth(parameters)
    assert all(loss(best) < loss(best * factor) for factor in (0.5, 0.9, 1.1, 2.0))
    low, high = laws.added_range(parameters, tokens, 0.01)
    assert low < best < high
    assert loss(low) == pytest.approx(1.01 * loss(best)) == loss(high)
    # Fewer tokens, a greater loss, and so a wider range.
    fewer = laws.added_range(parameters, tokens / 10, 0.01)
    assert fewer[0] < low < high < fewer[1]
