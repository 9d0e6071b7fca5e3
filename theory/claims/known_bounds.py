"""Bounds that sources are known for, as functions of one's own sizes: which claim states each, and
an example."""

import csv
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class KnownBound(NamedTuple):
    """The claim that states it, the `source` known for it, what it counts, values of an example."""

    claim: str
    source: str
    known_for: str
    unit: str
    at: dict[str, Any]


@cache
def known_bounds() -> tuple[KnownBound, ...]:
    """Every bound, in reading order.

    >>> known_bounds()[0].claim, known_bounds()[0].at
    ('depth_choice/threshold_never_binds', {'width': 768})
    """
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return tuple(
        KnownBound(claim, source, known_for, unit, _values(at))
        for claim, source, known_for, unit, at in rows
    )


def _values(text: str) -> dict[str, int | str]:
    pairs = (one.split("=") for one in text.split())
    return {name: int(value) if value.isdigit() else value for name, value in pairs}
