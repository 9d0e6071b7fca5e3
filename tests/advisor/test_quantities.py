"""Budgets and counts: exact values, and one clear line for everything else."""
from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.advisor.quantities import LEAST, MOST, UsageError, parse_budget, parse_count, quoted


@pytest.mark.parametrize(("text", "value"), [
    ("1.3B", 1_300_000_000), ("350M", 350_000_000), ("7e9", 7_000_000_000), ("350m", 350_000_000),
    (" 7 B ", 7_000_000_000), ("1_300_000_000", 1_300_000_000), ("+7b", 7_000_000_000),
    (".5M", 500_000), ("5.B", 5_000_000_000), ("1K", LEAST), ("1000T", MOST), ("1e15", MOST),
    ("0.0000013e15", 1_300_000_000), ("1.1B", 1_100_000_000), ("1.3e0B", 1_300_000_000),
    ("1,300,000,000", 1_300_000_000), ("12,345.5M", 12_345_500_000), ("1,300", 1300),
    ("1.3G", 1_300_000_000), ("7g", 7_000_000_000),
])
def test_budget_is_read_exactly(text: str, value: int) -> None:
    assert parse_budget(text) == value


@given(st.integers(LEAST, MOST))
def test_every_integer_and_its_billions_read_back(value: int) -> None:
    assert parse_budget(str(value)) == value
    whole, rest = divmod(value, 10**9)
    assert parse_budget(f"{whole}.{rest:09d}B") == value


@pytest.mark.parametrize(("text", "why"), [
    ("-1.3B", "negative"), ("0", "zero"), ("-0", "zero"), ("0.0B", "zero"), ("0e999", "zero"),
    ("nan", "not a finite"), ("-inf", "not a finite"), ("Infinity", "not a finite"),
    ("1e40", "more than 1e15"), ("1001T", "more than 1e15"),
    ("1e999999999999999", "more than 1e15"), ("1e999999999999999B", "more than 1e15"),
    ("999", "less than 1e3"), ("1e-5", "less than 1e3"), ("1e-999999999999999", "less than 1e3"),
    ("1.3e9B", "a power of ten and a suffix"), ("1.3e12g", "give one of them"),
    *((text, "cannot read") for text in (
        "", "big", "1,3B", "1.3GB", "1,3000", ",300", "1300,000", "1,300,", "B", ".", "0x10",
        "1.3.3B", "\u0661B", "1" * 5000, "\x1b[2J1B", "1B\n2B")),
])
def test_bad_budget_gets_one_clear_line(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse_budget(text)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
    assert "1.3B, 350M or 7e9" in message


@given(st.text(max_size=60))
def test_any_text_is_a_budget_in_range_or_a_usage_error(text: str) -> None:
    try:
        said = str(parse_budget(text))
    except UsageError as error:
        said = str(error)
    assert said.isprintable()
    assert not said.isdigit() or LEAST <= int(said) <= MOST


@given(st.decimals(min_value=LEAST, max_value=10**9, places=3))
def test_fractions_of_a_parameter_are_rounded(value) -> None:
    assert abs(parse_budget(f"{value:f}") - Fraction(value)) <= Fraction(1, 2)


@pytest.mark.parametrize(("text", "value"), [
    ("64", 64), (" 1 ", 1), ("1000000000000000", 10**15), ("+3", 3), ("1e3", 1000),
    ("1e12", 10**12), ("1.5e3", 1500), ("1,000", 1000), ("20e-1", 2)])
def test_count(text: str, value: int) -> None:
    assert parse_count(text, "diameter", "--diameter 64") == value


@pytest.mark.parametrize("text", [
    "0", "-3", "1.5", "", "x", "1e", "1.55e1", "1e16", "1e999999999999", "1e-9", "1K", "nan",
    "1000000000000001", "1" * 5000, "\u0661"])
def test_bad_count_names_what_it_should_be(text: str) -> None:
    message = r"^the diameter .* is not a whole number from 1 to 1e15; try --diameter 64$"
    with pytest.raises(UsageError, match=message):
        parse_count(text, "diameter", "--diameter 64")


def test_a_count_may_start_at_zero() -> None:
    assert parse_count("0", "diameter", "--diameter 64", least=0) == 0


def test_foreign_text_is_quoted_short_and_harmless() -> None:
    assert quoted("\x1b[2J") == r"'\x1b[2J'"
    assert len(quoted("a" * 10**6)) < 40
