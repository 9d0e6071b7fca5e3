"""Verdicts on the claims that laws rest on, from the ledger that comes with depthlaw.

They stand in verdicts.csv, which `make reference` writes with that ledger, because reading the
ledger itself takes seconds and SymPy.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("verdicts.csv")


def about(claim: str | None) -> str:
    """What of a number the claim beside it is about, to stand before its verdict; empty where it is
    about all that the number says (caveats.csv).

    >>> about("depth_choice/threshold_budget").partition(", ")[0], about(None)
    ('we check the equation solved for a size', '')
    """
    return _rows("caveats").get(claim or "", ("",))[0]


def verdict(claim: str | None) -> str | None:
    """The verdict on a claim by its key; None where the reference ledger has none.

    >>> verdict("depth_choice/threshold_budget"), verdict("no/claim"), verdict(None)
    ('ARGUED', None, None)
    """
    return _rows("verdicts").get(claim or "", (None,))[0]


def title(claim: str) -> str | None:
    """What that claim is about; None where the reference ledger has none.

    >>> title("depth_choice/threshold_budget")
    "Lambert's function gives the least depth above log_3(d) for a budget"
    """
    return _rows("verdicts").get(claim, (None, None))[1]


@cache
def _rows(table: str) -> dict[str, tuple[str, ...]]:
    """The other cells of a table by claim."""
    with FILE.with_stem(table).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {claim: tuple(cells) for claim, *cells in rows}
