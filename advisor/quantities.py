"""What people type on a command line, read exactly: parameter budgets such as 1.3B, and counts."""
from __future__ import annotations

import re
from fractions import Fraction

# From a toy to a hundred times the largest nets: outside, a zero too many or too few is likelier.
LEAST, MOST = 10**3, 10**15
MOST_COUNT = 10**15

_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)?(?:\.[\d_]*)?)"
    r"(?:e(?P<power>[+-]?\d+))?\s*(?P<suffix>[kmbgt]?)", re.ASCII | re.IGNORECASE)
_ACCEPTED = "give a number from 1K to 1000T, such as 1.3B, 350M or 7e9"


class UsageError(Exception):
    """Something the user can mend: what was wrong, what is accepted, what to try. Exit code 2."""


def parse_budget(text: str) -> int:
    """A parameter budget as an exact integer.

    Args:
        text: a number, with an optional power of ten, commas or underscores between digits, and a
            suffix K, M, B or G, T (thousand to trillion), in any case.

    Raises:
        UsageError: for anything else, and outside 1e3 to 1e15, with what is accepted.

    >>> parse_budget("1.3B"), parse_budget("350M"), parse_budget("7e9"), parse_budget("1,300,000")
    (1300000000, 350000000, 7000000000, 1300000)
    """
    budget = f"the budget {quoted(text)}"
    if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise UsageError(f"{budget} is not a finite number; {_ACCEPTED}")
    found = _read(text)
    if found is None:
        raise UsageError(f"cannot read {budget}; {_ACCEPTED}")
    number, value = found
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
            raise UsageError(f"{budget} has a power of ten and a suffix, together more than 1e15: "
                             f"give one of them; {_ACCEPTED}")
    bound = "more than 1e15" if large else "less than 1e3"
    raise UsageError(f"{budget} is {bound} parameters, out of range; {_ACCEPTED}")


def parse_count(text: str, what: str, example: str, least: int = 1) -> int:
    """A whole number of at least `least`, such as a diameter: 64, 1,000 or 1e3, read exactly.

    >>> parse_count("64", "diameter", "--diameter 64"), parse_count("1e12", "size", "--size 3")
    (64, 1000000000000)

    Raises:
        UsageError: for anything else, such as 1.5, and above 1e15.
    """
    number, value = _read(text) or (None, None)
    if (number and value is not None and value.denominator == 1 and least <= value <= MOST_COUNT
            and number["sign"] != "-" and not number["suffix"]):
        return int(value)
    raise UsageError(f"the {what} {quoted(text)} is not a whole number from {least} to 1e15; "
                     f"try {example}")


def parse_bytes(text: str) -> int:
    """An amount of memory in bytes: a number with an optional unit K, M, G or T (powers of 1024).

    Raises:
        UsageError: for anything else, and below one byte.

    >>> parse_bytes("8GB"), parse_bytes("512m")
    (8589934592, 536870912)
    """
    found = re.fullmatch(
        r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip(), re.ASCII | re.IGNORECASE)
    if not found or not Fraction(found[1]):
        raise UsageError(f"cannot read the amount of memory {quoted(text)}; give a number with a "
                         "unit, such as 8GB")
    return int(Fraction(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))


def quoted(text: str) -> str:
    """Foreign text in quotes, shortened, with control characters escaped.

    >>> quoted("a" * 50)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    return ascii(text if len(text) <= 32 else text[:29] + "...")


def _read(text: str) -> tuple[re.Match[str], Fraction | None] | None:
    """The parts of a number and its value without sign and suffix, None where the power decides."""
    compact = text.strip()
    found = _NUMBER.fullmatch(compact) if len(compact) <= 100 else None
    if not found or not re.search(r"\d", found["digits"]):
        return None
    mantissa = Fraction(re.sub("[_,]", "", found["digits"]).rstrip("."))
    power = int((found["power"] or "0")[:9])
    decisive = abs(power) > 99 + len(found["digits"])
    return found, None if decisive else mantissa * Fraction(10) ** power
