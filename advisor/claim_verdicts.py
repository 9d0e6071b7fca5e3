"""Verdicts on the claims that laws rest on, from the ledger that comes with depthlaw.

They stand in verdicts.csv, which `make reference` writes with that ledger, because reading the
ledger itself takes seconds and SymPy.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("verdicts.csv")


# What of a number the claim beside it is about, where that is less than what the number says.
_ABOUT = {
    "connectivity/layers_for_diameter": "executed on small graphs",
    "connectivity/log_depth_lengths": "that so many layers suffice is as printed, not checked "
    "here; checked is the arithmetic of the count",
    "connectivity/log_depth_uniform": "18 layers beside the doublings are as printed, not "
    "executed here; checked are the doublings",
    "depth_choice/levine_fit_depth": "whether nets obey the fit is not checked here; checked is "
    "the fit solved for a size",
    "depth_choice/threshold_budget": "the theorem behind it is as printed, not checked here; "
    "checked is the equation solved for a size",
    "evidence/best_depth": "about the released nets and three other series",
    "evidence/critical_depth_exponent": "no loss is checked by it, but its two printed forms "
    "against each other",
    "hops/depth_printed": "the count as printed",
    "separation_rank/knee": "whether nets or tasks follow it is not checked here; checked is the "
    "count of dimensions",
}


def about(claim: str | None) -> str:
    """What of a number the claim beside it is about, to stand before its verdict; empty where it is
    about all that the number says.

    >>> about("depth_choice/threshold_budget").rpartition("; ")[2], about(None)
    ('checked is the equation solved for a size', '')
    """
    return _ABOUT.get(claim or "", "")


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
    return {claim: (verdict_word, about) for claim, verdict_word, about in rows}
