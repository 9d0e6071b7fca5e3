"""Statements at values of one's own: hand answers, names, domains, arrays, symbols, logarithms."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from depthlaw.advisor import laws
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims import known_bounds
from depthlaw.theory.claims.definition import OutOfDomain, PowerOfTen, find
from depthlaw.theory.separation_rank.dimension_count import dimension_count

COUNT, DEEP = find("separation_rank/dimension_count"), find("separation_rank/upper_bound_deep")
SHALLOW = find("separation_rank/upper_bound_shallow")


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "width", [768, 768.0, "768", Fraction(768), Decimal(768), np.int64(768), np.float32(768)]
)
def test_numbers_of_any_type_are_the_same_number(width: Any) -> None:
    # 2 d L + L + log_3 d - 2 d log_3(d sqrt(2) / (4 e)), by hand.
    bound = 2 * 768 * 12 + 12 + math.log(768, 3)
    bound -= 2 * 768 * math.log(768 * math.sqrt(2) / 4 / math.e, 3)
    assert float(DEEP.at(width=width, depth=12)) == pytest.approx(bound, rel=1e-12)


def test_a_float_is_the_decimal_that_it_prints_as() -> None:
    collapse = find("rank_collapse/collapse_condition")
    values = {"cubic_coefficient": 1, "depth": 2}
    assert collapse.at(residual=0.1, **values) == collapse.at(residual="1/10", **values)
    assert collapse.at(residual=0.1, **values) == sympy.Rational(1, 10**9)


def test_names_are_those_of_cases_or_those_in_print() -> None:
    assert DEEP.at(d_x=768, L=12) == DEEP.at(width=768, depth=12)
    with pytest.raises(
        UsageError, match=r"has no 'widht'; did you mean width\? accepted are depth"
    ):
        DEEP.at(widht=768, depth=12)
    with pytest.raises(UsageError, match="d_x and width are the same"):
        DEEP.at(width=768, d_x=768, depth=12)


@pytest.mark.parametrize("bad", [1.5, 0, -1, math.nan, math.inf, None, "twelve", 1j])
def test_what_is_no_depth_is_refused_in_one_line(bad: Any) -> None:
    with pytest.raises(UsageError, match=r"^depth=[^\n]*accepted[^\n]*$"):
        DEEP.at(width=768, depth=bad)


def test_values_that_break_an_assumption_are_refused_by_its_name() -> None:
    with pytest.raises(OutOfDomain, match=r"breaks its assumption L > log_3\(d_x\)") as refused:
        DEEP.at(width=768, depth=6)  # 3^6 = 729
    assert refused.value.condition == "L > log_3(d_x)"
    DEEP.at(width=728, depth=6)
    SHALLOW.at(width=768, depth=6, heads=12)


# --- what has too many digits ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "inside", "outside"),
    [
        ("connectivity/log_depth_lengths", "depth=5 fixed_layers=5 per_doubling=4", "depth=3"),
        ("connectivity/mpc_rounds", "tokens=16 branching=2", "branching=1"),
        ("separation_rank/convolution_sides", "width=2 tokens=8 alternating=1", "tokens=6"),
        ("hops/one_lookup_per_layer", "hops=16 strict=1", "strict=2"),
    ],
)
def test_a_bound_has_no_value_outside_its_range(key: str, inside: str, outside: str) -> None:
    claim, (values, others) = find(key), map(known_bounds._values, (inside, outside))
    assert claim.at(**values) > 0
    with pytest.raises(UsageError, match="says nothing at|has no value there"):
        claim.at(**values | others)


@pytest.mark.parametrize(("width", "depth"), [(2, 3), (3, 4), (2, 12)])
def test_a_count_of_few_digits_is_exact(width: int, depth: int) -> None:
    assert COUNT.at(width=width, depth=depth) == dimension_count(width, depth)


def test_a_large_count_lies_between_two_binomials() -> None:
    # The last derivative that is the smaller one, and twice the largest binomial, by log-gamma.
    count = COUNT.at(width=768, depth=12)
    assert isinstance(count, PowerOfTen)
    D, C = 768 * 769 // 2, (3**12 - 1) // 2

    def digits(n: int, k: int) -> float:
        return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(10)

    assert digits(D + C // 2, D) < count.log10 < digits(D + C // 2 + 1, D) + math.log10(2 * 768)
    assert COUNT.at(width=768, depth=12, log10=True) == float(count.log10)
    assert str(count).startswith("10^(115")


def test_powers_of_ten_compare_with_all_numbers() -> None:
    small, large = (find("separation_rank/degree").at(depth=n) for n in (9_100, 10**6))
    assert small.log10 == pytest.approx(9_100 * math.log10(3), rel=1e-12)
    assert 10**4_000 < small < large
    assert sorted([large, sympy.Integer(5), small]) == [5, small, large]
    assert 0 < PowerOfTen(1, Fraction(-5_000)) < 1e-300
    with pytest.raises(TypeError):
        float(large)


def test_a_doubly_exponential_rate_is_given_by_its_logarithm() -> None:
    collapse = find("rank_collapse/collapse_condition")
    found = collapse.at(cubic_coefficient="1/2", residual="1/2", depth=12)
    by_hand = -((3**12 - 1) // 2 + 3**12) * math.log10(2)
    assert isinstance(found, PowerOfTen)
    assert float(found.log10) == pytest.approx(by_hand, rel=1e-14)
    # From the residual 1 on with coefficient 1 nothing collapses.
    assert collapse.at(cubic_coefficient=1, residual=1, depth=12) == 1


# --- arrays and symbols ---------------------------------------------------------------------------


def test_arrays_are_broadcast() -> None:
    depths = find("hops/depth_corrected").at(hops=np.array([[1, 2], [16, 17]]))
    assert depths.tolist() == [[2, 3], [6, 7]]
    grid = find("connectivity/reach").at(depth=np.arange(1, 4)[:, None], diameter=[5, 1000])
    assert grid.tolist() == [[3, 3], [5, 9], [5, 27]]
    both = find("signal_propagation/pre_ln_norm").at(layer=[2, 12])
    assert both.tolist() == [[2, 4], [7, 19]]
    with pytest.raises(UsageError, match="log10=True gives decimal logarithms"):
        COUNT.at(width=768, depth=[2, 12])
    assert COUNT.at(width=768, depth=[2, 12], log10=True)[0] == pytest.approx(
        math.log10(43827094849)
    )


def test_symbols_give_an_expression() -> None:
    d, L = sympy.symbols("d L", positive=True)
    bound = DEEP.at(width=d, depth=2 * L)
    assert bound.free_symbols == {d, L}
    value = bound.subs({d: 768, L: 6})
    assert float(value) == pytest.approx(float(DEEP.at(width=768, depth=12)), rel=1e-12)
    # Symbols of one's own are not those of a statement.
    assert DEEP.statement.rhs.subs({sympy.Symbol("d_x"): 768}) == DEEP.statement.rhs


# --- the laws of the advisor ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "field", "law"),
    [
        ("connectivity/reach", "depth", laws.reach),
        ("connectivity/layers_for_diameter", "diameter", laws.layers_for_diameter),
        ("hops/depth_corrected", "hops", laws.layers_for_hops),
        ("hops/depth_printed", "hops", laws.layers_for_hops_printed),
        ("connectivity/log_depth_uniform", "vertices", lambda n: laws.universal_layers(n) - 18),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 27])
def test_a_law_of_the_advisor_is_its_claim(key: str, field: str, law: Any, size: int) -> None:
    far = {"diameter": 3**size} if field == "depth" else {}
    assert law(size) == find(key).at(**{field: size}, **far)


@pytest.mark.parametrize("budget", [10**6, 1_300_000_000, 10**12])
def test_depths_for_a_budget_are_those_of_their_claims(budget: int) -> None:
    for key, law in (
        ("depth_choice/threshold_budget", laws.threshold_depth),
        ("depth_choice/levine_fit_depth", laws.transition_depth),
    ):
        assert law(budget) == pytest.approx(float(find(key).at(parameters=budget)), abs=1.001e-9)
    width = round(laws.width_at(budget, 8))
    asked = find("depth_choice/threshold_never_binds").at(width=width)
    assert (asked < 8) == (width < 3**8)
