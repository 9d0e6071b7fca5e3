"""What people type on a command line, read exactly: parameter budgets such as 1.3B, and counts."""
from __future__ import annotations

import re
from fractions import Fraction

# From a toy to a hundred times the largest nets: outside, a zero too many or too few is likelier than a net.
LEAST, MOST = 10**3, 10**15
MOST_COUNT = 10**15

_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(r"(?P<sign>[+-]?)(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)?(?:\.[\d_]*)?)(?:e(?P<power>[+-]?\d+))?\s*"
                     r"(?P<suffix>[kmbgt]?)", re.ASCII | re.IGNORECASE)
_ACCEPTED = "give a number from 1K to 1000T, such as 1.3B, 350M or 7e9"


class UsageError(Exception):
    """Something the user can mend: what was wrong, what is accepted, what to try, in one line. Exit code 2."""


def parse_budget(text: str) -> int:
    """A parameter budget as an exact integer.

    Args:
        text: a number, with an optional power of ten (7e9), commas or underscores between digits (1,300,000,000), and a suffix K, M, B
            or G, T (thousand to trillion), in any case.

    Raises:
        UsageError: for anything else, and outside 1e3 to 1e15. The message says what is accepted.

    >>> parse_budget("1.3B"), parse_budget("350M"), parse_budget("7e9"), parse_budget("1,300,000,000")
    (1300000000, 350000000, 7000000000, 1300000000)
    """
    shown = quoted(text)
    compact = text.strip()
    if compact.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise UsageError(f"the budget {shown} is not a finite number; {_ACCEPTED}")
    found = _NUMBER.fullmatch(compact) if len(compact) <= 100 else None
    if not found or not re.search(r"\d", found["digits"]):
        raise UsageError(f"cannot read the budget {shown}; {_ACCEPTED}")
    mantissa = Fraction(re.sub("[_,]", "", found["digits"]).rstrip(".") or "0")
    if mantissa == 0 or found["sign"] == "-":
        raise UsageError(f"the budget {shown} is {'zero' if mantissa == 0 else 'negative'}; {_ACCEPTED}")
    power = int((found["power"] or "0")[:9])
    # An exponent of this size decides by itself; the power is never computed.
    if abs(power) > 99 + len(found["digits"]):
        raise _out_of_range(shown, power > 0)
    value = mantissa * Fraction(10) ** power * _SUFFIXES[found["suffix"].lower()]
    if value > MOST and found["power"] and found["suffix"]:
        raise UsageError(f"the budget {shown} has a power of ten and a suffix, together more than 1e15: give one of them; {_ACCEPTED}")
    if not LEAST <= value <= MOST:
        raise _out_of_range(shown, value > MOST)
    return round(value)


def parse_count(text: str, what: str, example: str, least: int = 1) -> int:
    """A whole number of at least `least`, such as a diameter or a number of hops: 64, 1,000 or 1e3, read exactly.

    >>> parse_count("64", "diameter", "--diameter 64"), parse_count("1e12", "number of hops", "--hops 16")
    (64, 1000000000000)

    Raises:
        UsageError: for anything else, such as 1.5, and above 1e15.
    """
    compact = text.strip()
    found = _NUMBER.fullmatch(compact) if len(compact) <= 100 else None
    if found and re.search(r"\d", found["digits"]) and found["sign"] != "-" and not found["suffix"]:
        mantissa, power = Fraction(re.sub("[_,]", "", found["digits"]).rstrip(".")), int((found["power"] or "0")[:9])
        # An exponent of this size decides by itself; the power is never computed.
        value = mantissa * Fraction(10) ** power if abs(power) <= 99 + len(found["digits"]) else Fraction(-1)
        if value.denominator == 1 and least <= value <= MOST_COUNT:
            return int(value)
    raise UsageError(f"the {what} {quoted(text)} is not a whole number from {least} to 1e15; try {example}")


def quoted(text: str) -> str:
    """Foreign text in quotes, shortened, with control characters escaped.

    >>> quoted("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return ascii(text if len(text) <= 32 else text[:29] + "...")


def _out_of_range(shown: str, large: bool) -> UsageError:
    return UsageError(f"the budget {shown} is {'more than 1e15' if large else 'less than 1e3'} parameters, out of range; {_ACCEPTED}")


def parse_bytes(text: str) -> int:
    """An amount of memory in bytes.

    Args:
        text: a number with an optional unit K, M, G or T (powers of 1024), with or without B.

    Raises:
        UsageError: for anything else, and below one byte.

    >>> parse_bytes("8GB"), parse_bytes("512m")
    (8589934592, 536870912)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip(), re.ASCII | re.IGNORECASE)
    if not found or not Fraction(found[1]):
        raise UsageError(f"cannot read the amount of memory {quoted(text)}; give a number with a unit, such as 8GB")
    return int(Fraction(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))
