"""Verdicts on the claims that laws rest on, from the ledger that comes with depthlaw.

They stand in verdicts.csv, which `make reference` writes with that ledger, because reading the
ledger itself takes seconds and SymPy.
"""
from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("verdicts.csv")


def verdict(claim: str | None) -> str | None:
    """The verdict on a claim by its key; None where the reference ledger has none.

    >>> verdict("depth_choice/threshold_budget"), verdict("no/claim"), verdict(None)
    ('ARGUED', None, None)
    """
    return _verdicts()[claim][0] if claim in _verdicts() else None


def title(claim: str) -> str | None:
    """What that claim is about; None where the reference ledger has none.

    >>> title("depth_choice/threshold_budget")
    'Least depth above log_3(d) for a budget'
    """
    return _verdicts()[claim][1] if claim in _verdicts() else None


@cache
def _verdicts() -> dict[str | None, tuple[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {claim: (found, about) for claim, found, about in rows}
