"""Printed numbers: a printed 62.3 stands for the interval [62.25, 62.35] that it was rounded from.

So FAILS means that no choice of the lost digits saves a sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from ..claims.symbols import quantity
from ..claims.values import Ball

gain = quantity("gain", "g", "by how much one net is better than another in a table", "real")


def rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a table of this package.

    >>> len(rows("wide_attention"))
    55
    """
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def interval(printed: Iterable[tuple[int, str]]) -> Ball:
    """The sum of printed numbers with integer factors, each standing for its interval."""
    middle = radius = Fraction(0)
    for factor, text in printed:
        middle += factor * Fraction(text)
        radius += abs(factor) * Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    return Ball(middle - radius, middle + radius)
