"""Intervals in print: rounded outward, with digits enough for how wide they are."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

# Of the intervals that tables and pictures show. Those of verdicts are wider: see
# `verdict.FALSE_ALARM_BUDGET`.
LEVEL = 0.05

# Significant digits of the width of an interval, and of each of its ends at least.
_OF_WIDTH, _OF_END = 2, 3
# Of the larger end at most, where those of the width ask for more: beyond them lies rounding.
_MOST = 9
# Of a mean, and places behind the point of a share, at least.
_OF_MEAN, _OF_SHARE = 4, 4


def interval(low: float | Fraction, high: float | Fraction) -> str:
    """An interval in plain text: the printed one contains it, its ends differ where they do, and it
    reaches 0 only where it does. It is wider by a tenth at most, or by one of the ninth digit.

    >>> interval(1.10149, 1.10251), interval(0.99897, 0.99994), interval(Fraction(2), Fraction(3))
    ('[1.1014, 1.1026]', '[0.99897, 0.99994]', '[2, 3]')
    >>> interval(0.00041234, 0.9), interval(-1e-9, 2.5e-7), interval(0.1, 0.2)
    ('[0.000412, 0.9]', '[-1e-09, 2.5e-07]', '[0.1, 0.2]')
    """
    ends = _exact(low), _exact(high)
    place = _finest(*ends)
    return (
        "["
        + ", ".join(
            _decimal(_cut(end, min(place, _place(end) - _OF_END + 1) if end else place, up=up))
            for end, up in zip(ends, (False, True), strict=True)
        )
        + "]"
    )


def centre(mean: float, ends: tuple[float, float] | None, *, share: bool = False) -> str:
    """The mean of a sample, or a share, with digits enough for its interval in print to contain it;
    without an interval with four.

    >>> centre(1.10196, (1.10190, 1.10199)), centre(2 / 3, None), centre(12345.6, (12345, 12346))
    ('1.10196', '0.6667', '12345.6')
    >>> centre(1.0, (0.9999, 1.0), share=True), centre(44684 / 44685, (0.99988, 1.0), share=True)
    ('1.0000', '0.99998')
    """
    exact = _exact(mean)
    least = -_OF_SHARE if share else _place(exact) - _OF_MEAN + 1
    if exact and ends is not None:
        least = min(least, _finest(*map(_exact, ends)))
    if share:
        places = _OF_SHARE if (exact * 10**_OF_SHARE).denominator == 1 else -least
        return f"{mean:.{places}f}"
    return _decimal(round(exact / Fraction(10) ** least) * Fraction(10) ** least)


def _finest(low: Fraction, high: Fraction) -> int:
    """The place of the last digit that the width of an interval asks for."""
    most = _place(max(abs(low), abs(high))) - _MOST + 1
    return max(most, _place(high - low) - _OF_WIDTH + 1) if low < high else most


def _exact(number: float | Fraction) -> Fraction:
    """A float is the shortest decimal that it stands for, so that 0.1 is rounded nowhere."""
    if isinstance(number, Fraction):
        if max(abs(number.numerator), number.denominator).bit_length() > 1000:
            return number
        if number != Fraction(float(number)):
            return number
    return Fraction(repr(float(number)))


def _place(number: Fraction) -> int:
    """Of its first digit: 0 for 1 to 9, -1 for 0.1 to 0.9; 0 for 0."""
    if not number:
        return 0
    size = abs(number)
    place = math.floor(math.log10(size.numerator) - math.log10(size.denominator))
    # Logarithms may err next to a power of ten.
    if Fraction(10) ** place > size:
        return place - 1
    return place + 1 if Fraction(10) ** (place + 1) <= size else place


def _cut(number: Fraction, place: int, *, up: bool) -> Fraction:
    unit = Fraction(10) ** place
    return (math.ceil if up else math.floor)(number / unit) * unit


def _decimal(number: Fraction) -> str:
    """A decimal fraction in full, as Python writes a float of this size."""
    if number.denominator == 1 and abs(number) < 10**6:
        return str(number)
    context = Context(prec=400, Emin=-(10**9), Emax=10**9)
    value = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    value = value.normalize(context)
    place = value.adjusted()
    if -5 < place < 16 and abs(number) < 10**6:
        return f"{value:f}"
    sign, digits, _ = value.as_tuple()
    text = "".join(map(str, digits))
    mantissa = text[0] + ("." + text[1:] if text[1:] else "")
    return f"{'-' * sign}{mantissa}e{'-' if place < 0 else '+'}{abs(place):02d}"
