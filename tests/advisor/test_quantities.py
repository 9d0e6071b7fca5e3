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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.3B", 1_300_000_000),
        ("350m", 350_000_000),
        (" 7 B ", 7_000_000_000),
        ("1_300_000_000", 1_300_000_000),
        ("+7b", 7_000_000_000),
        (".5M", 500_000),
        ("1K", LEAST),
        ("1000T", MOST),
        ("0.0000013e15", 1_300_000_000),
        ("1.3e0B", 1_300_000_000),
        ("1,300,000,000", 1_300_000_000),
        ("12,345.5M", 12_345_500_000),
        ("1.3G", 1_300_000_000),
    ],
)
def test_budget_is_read_exactly(text: str, value: int) -> None:
    assert parse_budget(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-1.3B", "negative"),
        ("0", "zero"),
        ("0e999", "zero"),
        ("nan", "not a finite"),
        ("-inf", "not a finite"),
        ("1e40", "more than 1e15"),
        ("1e999999999999999", "more than 1e15"),
        ("999", "less than 1e3"),
        ("1e-999999999999999", "less than 1e3"),
        ("1.3e9B", "a power of ten and a suffix"),
        *(
            (text, "cannot read")
            for text in (
                "",
                "big",
                "1,3B",
                "1.3GB",
                "1,3000",
                "0x10",
                "1.3.3B",
                "\u0661B",
                "1" * 5000,
                "\x1b[2J1B",
                "1B\n2B",
            )
        ),
    ],
)
def test_bad_budget_gets_one_clear_line(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse_budget(text)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
    assert "1.3B, 350M or 7e9" in message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        ("1000000000000000", 10**15),
        ("1e3", 1000),
        ("1.5e3", 1500),
        ("1,000", 1000),
        ("20e-1", 2),
    ],
)
def test_count(text: str, value: int) -> None:
    assert parse_count(text, "diameter", "--diameter 64") == value


@pytest.mark.parametrize(
    "text",
    ["0", "-3", "1.5", "", "1.55e1", "1e999999999999", "nan", "1" * 5000, "\u0661"],
)
def test_bad_count_names_what_it_should_be(text: str) -> None:
    wrong = "(not a whole number of at least 1|more than 1e15)"
    message = rf"^the diameter .* is {wrong}; try --diameter 64$"
    with pytest.raises(UsageError, match=message):
        parse_count(text, "diameter", "--diameter 64")


def test_foreign_text_is_quoted_short_and_harmless() -> None:
    assert quoted("\x1b[2J") == r"'\x1b[2J'"
    assert len(quoted("a" * 10**6)) < 40


# --- everything but parameters --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parse_flops, "6.5e19", Fraction(65 * 10**18)),
        (parse_flops, "1.2 ZFLOP", 12 * 10**20),
        (parse_flops, "2ZFLOPs", 2 * 10**21),
        (parse_flops, "1 PF-day", 864 * 10**17),
        (parse_flops, "3640 pflop/s-days", 3640 * 864 * 10**17),
        (parse_tokens, "300B", 3 * 10**11),
        (parse_tokens, "1.4T tokens", 14 * 10**11),
        (parse_tokens, "26,000,000", 26 * 10**6),
        (parse_bytes, "24GB", 24 * 2**30),
        (parse_bytes, "0.5T", 2**39),
        (parse_bytes, "1024", 1024),
        (parse_bandwidth, "50GB/s", 5 * 10**10),
        (parse_bandwidth, "800 GiB/s", 800 * 2**30),
        (parse_bandwidth, "819GBps", 819 * 10**9),
        (parse_bandwidth, "50GBIT/S", 625 * 10**7),
        (parse_bandwidth, "50Gbps", 625 * 10**7),
        (parse_bandwidth, "50 gbps", 625 * 10**7),
        (parse_bandwidth, "50Gb/s", 625 * 10**7),
        (parse_bandwidth, "50Gbit/s", 625 * 10**7),
        (parse_bandwidth, "8kbits/s", 1000),
        (parse_bandwidth, "8 Gib/s", 2**30),
        (parse_bandwidth, "8 GiBps", 8 * 2**30),
        (parse_hours, "336", 336),
        (parse_hours, "2W", 336),
        (parse_hours, "90 min", Fraction(3, 2)),
        (parse_hours, "1 day", 24),
        (parse_hours, "A week", 168),
        (parse_hours, "one month", 730),
        (parse_hours, "3600 s", 1),
        (parse_hours, "1 month", 730),
        (parse_milliseconds, "20", 20),
        (parse_milliseconds, "0.02 s", 20),
        (parse_milliseconds, "50tok/s", 20),
        (parse_milliseconds, "50 t/sec", 20),
        (parse_milliseconds, "3/s", Fraction(1000, 3)),
        (parse_milliseconds, "500 us", Fraction(1, 2)),
        (parse_share, "1", 1),
        (parse_share, "100 %", 1),
        (parse_share, ".35", Fraction(7, 20)),
        (parse_ratio, " 32 : 8 ", 4),
        (parse_ratio, "8/1", 8),
    ],
)
def test_quantities_are_read_exactly(
    parse: Callable[[str], Fraction | int], text: str, value: Fraction | int
) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "why"),
    [
        *(
            (parse, text, why)
            for parse in (
                parse_flops,
                parse_tokens,
                parse_bytes,
                parse_hours,
                parse_milliseconds,
                parse_share,
            )
            for text, why in (
                ("", "cannot read"),
                ("-3", "not positive"),
                ("0", "not positive"),
                ("nan", "not a finite"),
                ("-inf", "not a finite"),
                ("1e999999999", "more than"),
                ("1e-999999999", "less than"),
                ("3 parsecs", "no unit"),
                ("1.3.3", "cannot read"),
                ("\u0663", "cannot read"),
                ("9" * 5000, "cannot read"),
                ("\x1b[2J3", "cannot read"),
                ("1 2", "cannot read|unit"),
                ("0x10", "cannot read|unit"),
            )
        ),
        (parse_flops, "6e40", "more than 1e.35"),
        (parse_flops, "3 FLOP/s", "no unit that is known"),
        (parse_bytes, "24 GB/s", "no unit that is known"),
        (parse_bytes, "0.1", "less than 1"),
        (parse_bandwidth, "50", "has no unit"),
        (parse_bandwidth, "50GB", "no unit that is known"),
        (parse_bandwidth, "50gb/s", "may be bits or bytes"),
        (parse_hours, "1e9h", "more than 1e.07"),
        (parse_milliseconds, "20/h", "cannot read|unit"),
        (parse_milliseconds, "0/s", "not positive"),
        (parse_share, "40", "did you mean 40%"),
        (parse_share, "140%", "more than 1"),
        (parse_ratio, "0", "whole ratio"),
        (parse_ratio, "3:2", "whole ratio"),
        (parse_ratio, "4:0", "whole ratio"),
        (parse_ratio, "4:1:1", "whole ratio"),
        (parse_ratio, "4" * 5000, "whole ratio"),
    ],
)
def test_bad_quantities_get_one_clear_line(
    parse: Callable[[str], object], text: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        parse(text)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
    assert re.search("such as|did you mean", message)


@settings(max_examples=40)
@given(st.text(max_size=40) | st.from_regex(r"[0-9.,e+-]{1,8} ?[a-zA-Z%/]{0,6}", fullmatch=True))
def test_any_text_is_a_quantity_or_a_usage_error(text: str) -> None:
    for parse in (
        parse_budget,
        parse_flops,
        parse_tokens,
        parse_bytes,
        parse_bandwidth,
        parse_hours,
        parse_milliseconds,
        parse_share,
        parse_ratio,
    ):
        try:
            assert parse(text) > 0
        except UsageError as error:
            said = str(error)
        else:
            continue
        assert said.isprintable()


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), ("8/3", Fraction(8, 3)), (" 2.67 ", Fraction(267, 100)), ("3.5/1", Fraction(7, 2))],
)
def test_a_factor_is_read_exactly(text: str, value: Fraction) -> None:
    assert parse_factor(text) == value


@pytest.mark.parametrize(
    "text",
    ["4/", "4_0", "\u0664", "/3", "1/0", "0", "-4", "+4", "nan", "inf", "1e3", "", "8/3/2", "4 0"],
)
def test_what_is_no_factor_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot read the factor") as caught:
        parse_factor(text)
    assert str(caught.value).isprintable()
