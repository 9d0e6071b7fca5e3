"""Budgets and counts: exact values, and one clear line for everything else."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.base.quantities import (
    LEAST,
    MOST,
    UsageError,
    parse_bandwidth,
    parse_budget,
    parse_bytes,
    parse_count,
    parse_factor,
    parse_flops,
    parse_hours,
    parse_milliseconds,
    parse_ratio,
    parse_share,
    parse_tokens,
    quoted,
)


def diameter(text: str) -> int:
    return parse_count(text, "diameter", "--diameter 64")


@pytest.mark.parametrize(
    ("parse", "values"),
    [
        (
            parse_budget,
            {"350m": 350 * 10**6, " 7 B ": 7 * 10**9, "+7b": 7 * 10**9, ".5M": 5 * 10**5},
        ),
        (parse_budget, {"1K": LEAST, "1000T": MOST, "12,345.5M": 12_345_500_000, "7e9": 7 * 10**9}),
        (parse_budget, dict.fromkeys(("1.3B", "1.3e0B", "1.3G", "0.0000013e15"), 13 * 10**8)),
        (parse_budget, dict.fromkeys(("1_300_000_000", "1,300,000,000"), 13 * 10**8)),
        (parse_budget, {"1,300,000": 13 * 10**5}),
        (diameter, {"64": 64, "1e3": 1000, "1.5e3": 1500, "1,000": 1000, "20e-1": 2}),
        (diameter, {"1000000000000000": 10**15, "1e12": 10**12}),
        (parse_flops, {"6.5e19": 65 * 10**18, "1.2 ZFLOP": 12 * 10**20, "2ZFLOPs": 2 * 10**21}),
        (parse_flops, {"1 PF-day": 864 * 10**17, "3640 pflop/s-days": 3640 * 864 * 10**17}),
        (parse_tokens, {"300B": 3 * 10**11, "1.4T tokens": 14 * 10**11, "26,000,000": 26 * 10**6}),
        (parse_bytes, {"24GB": 24 * 2**30, "0.5T": 2**39, "1024": 1024, "512m": 2**29}),
        (parse_bytes, {"1.5 GiB": 3 * 2**29, "8GB": 2**33}),
        (parse_bandwidth, {"50GB/s": 5 * 10**10, "800 GiB/s": 800 * 2**30, "819GBps": 819 * 10**9}),
        (parse_bandwidth, {"8kbits/s": 1000, "8 Gib/s": 2**30, "8 GiBps": 8 * 2**30}),
        (parse_bandwidth, dict.fromkeys(("50GBIT/S", "50Gbps", "50 gbps", "50Gb/s"), 625 * 10**7)),
        (
            parse_bandwidth,
            {"50Gbit/s": 625 * 10**7, "50 Gbit/s": 625 * 10**7, "50GBps": 5 * 10**10},
        ),
        (
            parse_hours,
            {"336": 336, "2W": 336, "1 day": 24, "A week": 168, "90 min": Fraction(3, 2)},
        ),
        (
            parse_hours,
            {"one month": 730, "1 month": 730, "3600 s": 1, "an hour": 1, "2 weeks": 336},
        ),
        (parse_hours, {"a week": 168}),
        (parse_milliseconds, {"20": 20, "0.02 s": 20, "50tok/s": 20, "50 t/sec": 20}),
        (parse_milliseconds, {"3/s": Fraction(1000, 3), "500 us": Fraction(1, 2)}),
        (parse_milliseconds, {"20ms": 20, "50/s": 20}),
        (parse_share, {"1": 1, "100 %": 1, ".35": Fraction(7, 20)}),
        (parse_share, {"40%": Fraction(2, 5), "0.4": Fraction(2, 5)}),
        (parse_ratio, {" 32 : 8 ": 4, "8/1": 8, "4:1": 4, "8": 8, "32:8": 4}),
        (parse_factor, {"4": 4, "8/3": Fraction(8, 3), "3.5/1": Fraction(7, 2)}),
        (parse_factor, {" 2.67 ": Fraction(267, 100), "2.5": Fraction(5, 2)}),
    ],
)
def test_quantities_are_read_exactly(
    parse: Callable[[str], Fraction | int], values: dict[str, Fraction | int]
) -> None:
    assert {text: parse(text) for text in values} == values


LONG = "9" * 5000
REFUSED = {
    "cannot read": ("", "1.3.3", "\u0663", LONG, "\x1b[2J3"),
    "cannot read|unit": ("1 2", "0x10"),
    "not positive": ("-3", "0"),
    "not a finite": ("nan", "-inf"),
    "more than": ("1e999999999",),
    "less than": ("1e-999999999",),
    "no unit": ("3 parsecs",),
}
EVERYWHERE = (parse_flops, parse_tokens, parse_bytes, parse_hours, parse_milliseconds, parse_share)
FACTORS = (
    "4/",
    "4_0",
    "\u0664",
    "/3",
    "1/0",
    "0",
    "-4",
    "+4",
    "nan",
    "inf",
    "1e3",
    "",
    "8/3/2",
    "4 0",
)


@pytest.mark.parametrize(
    ("parse", "why", "texts"),
    [
        *((parse, why, texts) for parse in EVERYWHERE for why, texts in REFUSED.items()),
        (parse_flops, "more than 1e.35", ("6e40",)),
        (parse_flops, "no unit that is known", ("3 FLOP/s",)),
        (parse_bytes, "no unit that is known", ("24 GB/s",)),
        (parse_bytes, "less than 1", ("0.1",)),
        (parse_bandwidth, "has no unit", ("50",)),
        (parse_bandwidth, "no unit that is known", ("50GB",)),
        (parse_bandwidth, "may be bits or bytes", ("50gb/s",)),
        (parse_hours, "more than 1e.07", ("1e9h",)),
        (parse_milliseconds, "cannot read|unit", ("20/h",)),
        (parse_milliseconds, "not positive", ("0/s",)),
        (parse_share, "did you mean 40%", ("40",)),
        (parse_share, "more than 1; give .* up to 100%", ("140%", "400%", "400", "1e999999")),
        (parse_ratio, "whole ratio", ("0", "3:2", "4:0", "4:1:1", LONG)),
        (parse_factor, "cannot read the factor", FACTORS),
        (parse_budget, "negative", ("-1.3B",)),
        (parse_budget, "zero", ("0", "0e999")),
        (parse_budget, "not a finite", ("nan", "-inf")),
        (parse_budget, "more than 1e15", ("1e40", "1e999999999999999")),
        (parse_budget, "less than 1e3", ("999", "1e-999999999999999")),
        (parse_budget, "a power of ten and a suffix", ("1.3e9B",)),
        (parse_budget, "cannot read", ("", "big", "1,3B", "1.3GB", "1,3000", "0x10", "1.3.3B")),
        (parse_budget, "cannot read", ("\u0661B", LONG, "\x1b[2J1B", "1B\n2B")),
    ],
)
def test_bad_quantities_get_one_clear_line(
    parse: Callable[[str], object], why: str, texts: tuple[str, ...]
) -> None:
    helped = "1.3B, 350M or 7e9" if parse is parse_budget else "such as|did you mean"
    for text in texts:
        with pytest.raises(UsageError, match=why) as caught:
            parse(text)
        message = str(caught.value)
        assert message.isprintable()
        assert len(message) < 200
        assert re.search(helped, message)


@pytest.mark.parametrize(
    "text",
    ["0", "-3", "1.5", "", "1.55e1", "1e999999999999", "nan", "1" * 5000, "\u0661"],
)
def test_bad_count_names_what_it_should_be(text: str) -> None:
    wrong = "(not a whole number of at least 1|more than 1e15)"
    message = rf"^the diameter .* is {wrong}; try --diameter 64$"
    with pytest.raises(UsageError, match=message):
        diameter(text)


def test_foreign_text_is_quoted_short_and_harmless() -> None:
    assert quoted("\x1b[2J") == r"'\x1b[2J'"
    assert len(quoted("a" * 10**6)) < 40


@settings(max_examples=40)
@given(st.text(max_size=40) | st.from_regex(r"[0-9.,e+-]{1,8} ?[a-zA-Z%/]{0,6}", fullmatch=True))
def test_any_text_is_a_quantity_or_a_usage_error(text: str) -> None:
    for parse in (*EVERYWHERE, parse_budget, parse_bandwidth, parse_ratio, parse_factor):
        said = ""
        try:
            assert parse(text) > 0
        except UsageError as error:
            said = str(error)
        assert said.isprintable()


@pytest.mark.parametrize(
    ("text", "says"),
    [("128k", "without a unit, and k may be 1,000 or 1,024; try"), ("2M", "without a unit; try")],
)
def test_a_count_with_a_unit_says_that_it_takes_none(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        diameter(text)
