"""What people type on a command line, read exactly: budgets such as 1.3B, 6.5e19, 2 weeks, 24GB.
And numbers as they are printed.

What a `parse_` function cannot read, or what lies outside its limits, is a UsageError that says
what is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

# From a toy to a hundred times the largest nets: outside, a zero too many or too few is likelier.
LEAST, MOST = 10**3, 10**15

_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)?(?:\.[\d_]*)?)"
    r"(?:e(?P<power>[+-]?\d+))?\s*(?P<suffix>[kmbgt]?)",
    re.ASCII | re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?P<number>[+-]?[\d.,_]*(?:e[+-]?\d+)?)\s*(?P<unit>[^\d]*)", re.ASCII | re.IGNORECASE
)
_ACCEPTED = "give a number from 1K to 1000T, such as 1.3B, 350M or 7e9"


class UsageError(ValueError):
    """Something the user can mend: what was wrong, what is accepted, what to try. Exit code 2."""


def parse_budget(text: str) -> int:
    """A parameter budget from 1e3 to 1e15 as an exact integer: a number, with an optional power of
    ten, commas or underscores between digits, and a suffix K, M, B or G, T, in any case.
    """
    budget = f"the budget {quoted(text)}"
    if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise UsageError(f"{budget} is not a finite number; {_ACCEPTED}")
    parsed = _read(text)
    if parsed is None:
        raise UsageError(f"cannot read {budget}; {_ACCEPTED}")
    number, value = parsed
    zero = not re.search("[1-9]", number["digits"])
    if zero or number["sign"] == "-":
        raise UsageError(f"{budget} is {'zero' if zero else 'negative'}; {_ACCEPTED}")
    large = "-" not in (number["power"] or "")
    if value is not None:
        value *= _SUFFIXES[number["suffix"].lower()]
        if LEAST <= value <= MOST:
            return round(value)
        large = value > MOST
        if large and number["power"] and number["suffix"]:
            raise UsageError(
                f"{budget} has a power of ten and a suffix, together more than 1e15: "
                f"give one of them; {_ACCEPTED}"
            )
    bound = "more than 1e15" if large else "less than 1e3"
    raise UsageError(f"{budget} is {bound} parameters, out of range; {_ACCEPTED}")


def parse_count(text: str, what: str, example: str, least: int = 1) -> int:
    """A whole number from `least` to 1e15, such as a diameter: 64, 1,000 or 1e3."""
    number, value = _read(text) or (None, None)
    if (
        number
        and value is not None
        and value.denominator == 1
        and least <= value <= MOST
        and number["sign"] != "-"
        and not number["suffix"]
    ):
        return int(value)
    large = value is not None and value > MOST
    wrong = "more than 1e15" if large else f"not a whole number of at least {least}"
    if number and number["suffix"]:
        # A context of 128k is 128,000 tokens in some papers and 131,072 in others.
        many = ", and k may be 1,000 or 1,024" if number["suffix"] in "kK" else ""
        wrong = f"not a number without a unit{many}"
    raise UsageError(f"the {what} {quoted(text)} is {wrong}; try {example}")


def parse_tokens(text: str) -> int:
    """A number of tokens from 1 to 1e18: 300B, 1.5T, 3e11."""
    return round(_quantity(text, "number of tokens", _TOKENS, (1, 10**18), "such as 300B or 3e11"))


def parse_bytes(text: str) -> int:
    """An amount of memory in bytes, at least one: a number with an optional unit K, M, G or T,
    which are powers of 1024, as memory is sold (GB and GiB alike).
    """
    example = "with a unit, such as 8GB (of 1024^3 bytes)"
    return int(_quantity(text, "amount of memory", _BYTES, (1, 2**60), example))


def parse_milliseconds(text: str) -> Fraction:
    """Milliseconds per token, 1e-6 to 1e9: 20, 20ms, 0.02s, or a rate: 50/s, 50 tokens/s."""
    limits, example = (Fraction(1, 10**6), 10**9), "such as 20ms or 50/s"
    rate = re.fullmatch(
        r"(.*?)(?:tokens?|tok|t)?\s*/\s*s(?:ec)?", text.strip(), re.ASCII | re.IGNORECASE
    )
    if rate and len(text) < 100:
        return 1000 / _quantity(rate[1], "number of tokens per second", {"": 1}, limits, example)
    return _quantity(text, "time per token", _MILLISECONDS, limits, example)


def parse_share(text: str, what: str = "utilisation") -> Fraction:
    """A share above 0 and at most 1: 40%, 0.4. The error for 40 says that 40% may be meant."""
    example = "up to 100%, such as 40% or 0.4"
    units: dict[str, int | Fraction] = {"": 1, "%": Fraction(1, 100)}
    return _quantity(text, what, units, (Fraction(1, 10**6), 1), example)


def parse_ratio(text: str) -> int:
    """A whole ratio: 4, or 4:1."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:[:/]\s*(\d{1,6}))?\s*", text, re.ASCII)
    above, below = (int(match[1]), int(match[2] or 1)) if match else (0, 1)
    if not above or not below or above % below:
        raise UsageError(
            f"the ratio of query to key heads {quoted(text)} is not a whole ratio; give one such "
            "as 4 or 4:1"
        )
    return above // below


def parse_factor(text: str) -> Fraction:
    """A positive factor: 4, 2.67 or 8/3."""
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,17})?)\s*(?:/\s*(\d{1,6})\s*)?", text, re.ASCII)
    above, below = (Fraction(match[1]), int(match[2] or 1)) if match else (Fraction(), 1)
    if not above or not below:
        raise UsageError(
            f"cannot read the factor {quoted(text)}; give a positive number such as 4, 2.67 or 8/3"
        )
    return above / below


def _units(base: int, units: str, endings: str) -> dict[str, int]:
    """Units such as gb and gib with their sizes."""
    sizes = {letter: base**i for i, letter in enumerate(units.split("."))}
    return {letter + end: size for letter, size in sizes.items() for end in endings.split(".")}


_PF_DAYS = ("pf-day", "pf-days", "pflop/s-day", "pflop/s-days")
_FLOPS = _units(1000, ".k.m.g.t.p.e.z.y", ".flop.flops") | dict.fromkeys(_PF_DAYS, 864 * 10**17)
_TOKENS = {u + end: n for u, n in _SUFFIXES.items() for end in ("", "tokens", "token", "tok")}
_BYTES = {**_units(1024, ".k.m.g.t", ".b"), **_units(1024, ".k.m.g.t", "ib")}
# B is a byte and b a bit; what ends in bps is bits, unless it is written Bps. Where no spelling
# fits, the one in lower case does.
_BANDWIDTH: dict[str, int | Fraction] = {
    spelling: value
    for unit, size in {**_units(1000, ".k.m.g.t", "b"), **_units(1024, ".k.m.g.t", "ib")}.items()
    for prefix in (unit[:-1], unit[:-1].capitalize())
    for value, spellings in (
        (size, (f"{unit}/s", f"{prefix}Bps")),
        (
            Fraction(size, 8),
            (f"{unit}ps", f"{unit}it/s", f"{unit}its/s", *([f"{prefix}b/s"] * prefix.istitle())),
        ),
    )
    for spelling in spellings
}
_HOURS: dict[str, int | Fraction] = {
    **dict.fromkeys(("", "h", "hr", "hrs", "hour", "hours"), 1),
    **dict.fromkeys(("s", "sec", "second", "seconds"), Fraction(1, 3600)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), Fraction(1, 60)),
    **dict.fromkeys(("d", "day", "days"), 24),
    **dict.fromkeys(("w", "wk", "week", "weeks"), 168),
    **dict.fromkeys(("month", "months"), 730),
    **dict.fromkeys(("y", "year", "years"), 8766),
}
_MILLISECONDS: dict[str, int | Fraction] = {
    **dict.fromkeys(("", "ms", "msec", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("us", "microseconds"), Fraction(1, 1000)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1000),
}


def _quantity(
    text: str,
    what: str,
    units: Mapping[str, int | Fraction],
    limits: tuple[int | Fraction, int],
    example: str,
) -> Fraction:
    """A positive number with a unit, exact."""
    label = f"the {what} {quoted(text)}"
    accepted = f"give a positive number {example}"
    match = _MEASURE.fullmatch(text.strip()) if len(text) <= 100 else None
    unit = "".join(match["unit"].split()) if match else ""
    unit = unit if unit in units else unit.lower()
    number = _read(match["number"]) if match else None
    if number is None and match and re.fullmatch(r"[+-]?(nan|inf|infinity)", text.strip().lower()):
        raise UsageError(f"{label} is not a finite number; {accepted}")
    if number is None:
        raise UsageError(f"cannot read {label}; {accepted}")
    if unit not in units:
        why = f"has no unit that is known ({quoted(unit)})" if unit else "has no unit"
        raise UsageError(f"{label} {why}; {accepted}")
    parts, value = number
    if parts["sign"] == "-" or not re.search("[1-9]", parts["digits"]):
        raise UsageError(f"{label} is not positive; {accepted}")
    low, high = limits
    if value is not None and low <= value * units[unit] <= high:
        return value * units[unit]
    large = value * units[unit] > high if value is not None else "-" not in parts["power"]
    if large and high == 1 and not unit and value is not None and value <= 100:
        accepted = f"did you mean {text.strip()}%?"
    bound = f"more than {float(high):g}" if large else f"less than {float(low):g}"
    raise UsageError(f"{label} is {bound}; {accepted}")


def parse_flops(text: str) -> Fraction:
    """Training FLOPs, 1 to 1e35; a petaflop/s-day is 1e15 * 86400 of them."""
    return _quantity(text, "number of FLOPs", _FLOPS, (1, 10**35), "such as 6.5e19 or 1.2 ZFLOP")


def parse_bandwidth(text: str) -> Fraction:
    """A bandwidth in bytes per second. Units are powers of 1000 (GiB/s: of 1024), and there must be
    one; b/s in lower case, which some write for bytes, is refused.
    """
    if len(text) <= 100 and re.search(r"(?<![A-Za-z])(?:[kmgt]i?)?b\s*/\s*s$", text.strip()):
        raise UsageError(
            f"the bandwidth {quoted(text)} may be bits or bytes; "
            "give bits such as 50Gbit/s, or bytes such as 50GB/s"
        )
    example = "with a unit, such as 50GB/s, 3.35TB/s or 400Gbit/s (of bits)"
    return _quantity(text, "bandwidth", _BANDWIDTH, (1, 10**18), example)


def parse_hours(text: str) -> Fraction:
    """A duration from a second to 1e7 hours, in hours: 336h, 14d, 2 weeks, a week."""
    one = re.fullmatch(r"(?:an?|one)\s+([a-z]+)", text.strip().lower())
    return _quantity(
        f"1 {one[1]}" if one and one[1] in _HOURS else text,
        "duration",
        _HOURS,
        (Fraction(1, 3600), 10**7),
        "such as 336h, 14d, 2 weeks or a week",
    )


def quoted(text: str) -> str:
    """Foreign text in quotes, shortened, with control characters escaped.

    >>> quoted("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return ascii(text if len(text) <= 32 else text[:29] + "...")


def size(number: float) -> str:
    """A large number to three digits.

    >>> [size(n) for n in (3_012_345_678, 350e6, 999_600, 12, 1e15, 2.5e18, 0)]
    ['3.01B', '350M', '1M', '12', '1,000T', '2.5e+18', '0']
    """
    for unit, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if 0.9995 * unit <= number < 0.9995e16:
            return f"{three_digits(number / unit)}{suffix}"
    return f"{number:.3g}"


def binary(count: float) -> str:
    """Bytes in powers of 1024, as memory is sold and as limits of it are read.

    >>> binary(2**31), binary(12_345_678), binary(1.34e15), binary(512)
    ('2 GiB', '11.8 MiB', '1,220 TiB', '0.5 KiB')
    """
    for unit, suffix in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB")):
        if count >= unit:
            return f"{three_digits(count / unit)} {suffix}"
    return f"{count / 2**10:.3g} KiB"


def three_digits(number: float) -> str:
    """A number that is not small, to three digits and without a power of ten.

    >>> [three_digits(x) for x in (2.0, 1.2345, 999.7, 96_612)]
    ['2', '1.23', '1,000', '96,600']
    """
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def few_digits(number: float, digits: int = 2) -> str:
    """A number to so many digits, from 0.0001 to 1e15 without a power of ten.

    >>> [few_digits(x) for x in (0.0374, 5.66, 99.7, 2_900_123)], few_digits(14.04, 3)
    (['0.037', '5.7', '100', '2,900,000'], '14')
    """
    return f"{float(f'{number:.{digits}g}'):,.15g}"


def plural(number: int, what: str) -> str:
    """So many things.

    >>> plural(1, "layer"), plural(1234, "head")
    ('1 layer', '1,234 heads')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """A value that a program passed, quoted; also an integer too long to be printed.

    >>> shown(12.5), shown(10**5000)
    ("'12.5'", 'with thousands of digits')
    """
    try:
        return quoted(str(value))
    except ValueError:
        return "with thousands of digits"


def _read(text: str) -> tuple[re.Match[str], Fraction | None] | None:
    """The parts of a number and its value without sign and suffix, None where the power decides."""
    compact = text.strip()
    match = _NUMBER.fullmatch(compact) if len(compact) <= 100 else None
    if not match or not re.search(r"\d", match["digits"]):
        return None
    mantissa = Fraction(re.sub("[_,]", "", match["digits"]).rstrip("."))
    power = int((match["power"] or "0")[:9])
    decisive = abs(power) > 99 + len(match["digits"])
    return match, None if decisive else mantissa * Fraction(10) ** power
