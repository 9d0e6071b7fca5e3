"""Every case of an appendix as data: CSV for people and scripts, Parquet with types."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.values import Ball, Exact, Sample
from depthlaw.theory.claims.verdict import Verdict, bounds
from depthlaw.theory.exact.enclosure import enclose

from ...records.environment import installing
from ...verdicts.display import measured_side, prediction, relation
from ...verdicts.estimates import CONFIDENCE, estimate
from ...verdicts.suite_verdicts import CaseResult, ClaimResult
from ..tables import csv_rows

Row = Mapping[str, Any]


# Name: type in Parquet, and what it holds.
COLUMNS = {row["name"]: (row["type"], row["holds"]) for row in csv_rows(__package__, "columns.csv")}
# Only its record has an exact number with more digits.
_DIGITS = 100


def rows(results: Sequence[ClaimResult]) -> list[Row]:
    """One row for each case of the claims: `COLUMNS` by name, None where something is not known.

    Cost: milliseconds for each case, whose prediction is evaluated.
    """
    return [_row(result, case) for result in results for case in result.cases]


def results_csv(rows: Sequence[Row]) -> bytes:
    """Rows as CSV; lists are joined by spaces, what is not known is empty.

    >>> results_csv([]).decode().split(",")[:3]
    ['claim', 'suite', 'case']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_written(row[name]) for name in COLUMNS)
    return text.getvalue().encode()


def results_parquet(rows: Sequence[Row]) -> bytes:
    """Rows as a Parquet file, whose bytes depend on them and the version of pyarrow.

    Raises:
        UsageError: where pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(f"Parquet needs pyarrow; {installing('appendix')}") from None
    types = {
        "string": pyarrow.string(),
        "text": pyarrow.string(),
        "double": pyarrow.float64(),
        "count": pyarrow.int64(),
        "flag": pyarrow.bool_(),
        "int": pyarrow.list_(pyarrow.int64()),
        "ids": pyarrow.list_(pyarrow.string()),
    }
    fields = [
        pyarrow.field(name, types[kind], metadata={"description": holds})
        for name, (kind, holds) in COLUMNS.items()
    ]
    buffer = pyarrow.BufferOutputStream()
    table = pyarrow.Table.from_pylist(list(rows), pyarrow.schema(fields))
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue().to_pybytes()


def _written(cell: Any) -> str:
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return "" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)


def _row(result: ClaimResult, row: CaseResult) -> Row:
    claim, decision = result.claim, row.decision
    inputs = [record.inputs for record in row.records]
    fields: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "claim": claim.key,
        "suite": result.suite,
        "case": str(row.case),
        "seed_ids": sorted({int(run["seed"]) for run in inputs}),
        **_measured(result, row),
        "relation": relation(claim),
        "verdict": row.verdict_name,
        # Near zero it is the difference of two logarithms, and has no more digits than they.
        "settled": decision.certain,
        "slack_log10": None if decision.slack is None else round(decision.slack, 9),
        "reason": decision.reason or None,
        "device": " ".join(sorted({str(run.get("device", "")) for run in inputs})),
        "code": " ".join(sorted({str(run.get("code", "")) for run in inputs})),
        "records": [record.id for record in row.records],
    }
    if row.measured is not None and decision.verdict is not Verdict.OUT_OF_SCOPE:
        # Both ends are one where the prediction is no interval.
        low, high = (_float(enclose(end).mid()) for end in bounds(claim.predict(row.case)))
        fields |= {"left": measured_side(claim, row), "predicted": prediction(claim, row)}
        fields |= {"predicted_low": low, "predicted_high": high}
    return fields


def rigorous(claim: Claim) -> bool:
    """Whether the intervals of a claim are enclosures: of ball arithmetic, or of proven bounds;
    those of trained nets and of published numbers are estimated, or rounded."""
    return not claim.needs and claim.weight != "measurement" and claim.kind != "empirical fit"


def _measured(result: ClaimResult, row: CaseResult) -> dict[str, Any]:
    value, guess = row.measured, estimate(result, row)
    if guess is not None:
        name = "Student" if isinstance(value, Sample) else "Clopper-Pearson"
        low, high = guess.ends or (None, None)
        least, most = guess.deciding or (None, None)
        return {
            "measured": guess.value.mean,
            "low": low,
            "high": high,
            "interval": f"{CONFIDENCE} {name}" if guess.ends else None,
            "decision_low": least,
            "decision_high": most,
            "decision_level": guess.level if guess.deciding else None,
            "sign_test_p": guess.test.p if guess.test else None,
            "sign_test_agreeing": guess.test.agreeing if guess.test else None,
            "rests_on_normality": guess.normality,
            "observations": guess.count,
        }
    if isinstance(value, Ball):
        return {
            "measured": _float((value.low + value.high) / 2),
            **dict.fromkeys(("low", "decision_low"), _float(value.low)),
            **dict.fromkeys(("high", "decision_high"), _float(value.high)),
            "interval": "enclosure" if rigorous(result.claim) else "interval (see the claim)",
        }
    if isinstance(value, Exact):
        size = max(value.value.numerator.bit_length(), value.value.denominator.bit_length())
        short = size < _DIGITS / math.log10(2)
        return {"measured": _float(value.value), "exact": str(value.value) if short else None}
    return {}


def _float(number: Any) -> float | None:
    """As a float; None beyond its range."""
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
