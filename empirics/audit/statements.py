"""Four published sentences on the layers of trained models, put to the test on audits.

The models are few and small: a verdict is of these models, not of all, and says where one would
have to look for a model of the other kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthlaw.theory.claims.verdict import Verdict

from .audit import Audit, Table
from .ladder import NEVER, RungResult
from .statistics import Estimate, agreement, proportion

# Rungs that stand for arithmetic and brackets, and for what is only looked up.
COUNTED, LOOKED_UP = ("brackets", "words", "parity"), ("copying", "recall")


@dataclass(frozen=True)
class Statement:
    """A sentence and what became of it.

    Attributes:
        says: the sentence, in words.
        source: the paper, and how its sentence is known here.
        reading: what it is taken to say of these models.
        verdict: HOLDS, FAILS or UNDECIDED, of these models.
        numbers: what decided it, by model.
    """

    key: str
    says: str
    source: str
    reading: str
    verdict: Verdict
    numbers: dict[str, Any]


def repetition_degrades(tables: dict[str, Table]) -> Statement:
    """Of "naive block reapplication usually degrades": `tables` are `repeat` (plain) by model, with
    intervals of shares of the loss. A block counts as degraded, or improved, where the
    interval lies on one side of 0."""
    numbers = {}
    for name, table in tables.items():
        shares = [row.share for row in table.rows if row.share]
        numbers[name] = {
            "blocks": len(shares),
            "degraded": sum(share.low > 0 for share in shares),
            "improved": sum(share.high < 0 for share in shares),
        }
    verdict = _usually(
        [
            (n["degraded"], n["blocks"] - n["degraded"] - n["improved"], n["improved"])
            for n in numbers.values()
        ]
    )
    return Statement(
        "repetition-degrades",
        "Running a block of layers again usually degrades a model.",
        "arXiv:2605.23872, abstract",
        "In each model the loss rises for more than half of the blocks, and surely.",
        verdict,
        numbers,
    )


def _usually(counts: Sequence[tuple[int, int, int]]) -> Verdict:
    """(for, undecided, against) of each model: more than half in each, whatever is undecided."""
    if not counts:
        return Verdict.UNDECIDED
    if all(yes > unknown + no for yes, unknown, no in counts):
        return Verdict.HOLDS
    if any(no >= yes + unknown and no for yes, unknown, no in counts):
        return Verdict.FAILS
    return Verdict.UNDECIDED


def one_layer_does_nothing(tables: dict[str, Table], tolerance: float) -> Statement:
    """Of "single-layer duplication does nothing": the loss of every layer run twice lies within
    `tolerance` of the whole's; `tables` as above, of single layers."""
    numbers, states = {}, []
    for name, table in tables.items():
        shares = [row.share for row in table.rows if row.share and row.first == row.last]
        beyond = [abs(s.value) for s in shares if s.low > tolerance or s.high < -tolerance]
        inside = sum(-tolerance <= s.low and s.high <= tolerance for s in shares)
        numbers[name] = {
            "layers": len(shares),
            "beyond": len(beyond),
            "within": inside,
            "largest": max((abs(s.value) for s in shares), default=None),
        }
        states.append((bool(beyond), inside == len(shares)))
    verdict = Verdict.UNDECIDED
    if any(beyond for beyond, _ in states):
        verdict = Verdict.FAILS
    elif states and all(within for _, within in states):
        verdict = Verdict.HOLDS
    return Statement(
        "one-layer-does-nothing",
        "Running a single layer twice does nothing.",
        "Ng 2024 (RYS), printed; its author found gains by single layers later, reported",
        f"The loss of every model with any one layer run twice changes by at most {tolerance:.0%}.",
        verdict,
        numbers,
    )


def counted_is_lost_first(falls: dict[str, list[tuple[RungResult, ...]]]) -> Statement:
    """Of "arithmetic and brackets are lost first": for each model, what the ladder says without
    each single layer. Compared are the mean falls of the rungs that the whole model has, of
    `COUNTED` and `LOOKED_UP`; each removal is one pair."""
    numbers, pairs = {}, []
    for name, climbs in falls.items():
        own = []
        for results in climbs:
            fall = {
                group: [
                    -result.change.value
                    for result in results
                    if result.rung.ladder in group and result.state != NEVER and result.change
                ]
                for group in (COUNTED, LOOKED_UP)
            }
            if all(fall.values()):
                own.append(float(np.mean(fall[COUNTED]) - np.mean(fall[LOOKED_UP])))
        pairs += own
        numbers[name] = {
            "removals": len(own),
            "counted falls further": sum(difference > 0 for difference in own),
            "mean difference": float(np.mean(own)) if own else None,
        }
    more, all_ = sum(difference > 0 for difference in pairs), len(pairs)

    verdict = Verdict.UNDECIDED
    if all_:
        share = proportion(more, all_)
        numbers["all removals"] = {"share": share.value, "low": share.low, "high": share.high}
        verdict = (
            Verdict.HOLDS if share.low > 0.5 else Verdict.FAILS if share.high < 0.5 else verdict
        )
    return Statement(
        "counted-is-lost-first",
        "Arithmetic and balanced brackets are lost first when depth is cut.",
        "arXiv:2602.01997, abstract",
        "Without one layer, products, parity and brackets fall further than copying and recall for "
        "more than half of all single layers.",
        verdict,
        numbers,
    )


def order_depends_on_text(removals: dict[str, tuple[np.ndarray, np.ndarray]]) -> Statement:
    """Of "which layers are redundant depends on the calibration text": losses after removal of each
    model on two texts, (layers, documents); some pair of layers has surely another order."""
    numbers = {}
    for name, (one, other) in removals.items():
        n = min(one.shape[1], other.shape[1])
        numbers[name] = agreement(one[:, :n], other[:, :n])
    verdict = Verdict.UNDECIDED
    if numbers and any(tau.high < 1 for tau in numbers.values()):
        verdict = Verdict.HOLDS
    elif numbers and all(tau.low == 1 for tau in numbers.values()):
        verdict = Verdict.FAILS
    return Statement(
        "order-depends-on-text",
        "Which layers are redundant depends on the calibration text.",
        "arXiv:2604.24938v3, abstract",
        "In some model two layers are surely in another order of cost on another text.",
        verdict,
        {name: _number(tau) for name, tau in numbers.items()},
    )


def _number(estimate: Estimate) -> dict[str, float]:
    return {"tau": estimate.value, "low": estimate.low, "high": estimate.high}


def repeat_tables(audits: dict[str, Audit]) -> dict[str, Table]:
    """The tables of plain repetition of audits that have one."""
    found = {name: audit.table("repeat", "plain") for name, audit in audits.items()}
    return {name: table for name, table in found.items() if table is not None and table.rows}
