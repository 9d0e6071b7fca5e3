"""Claims, cases and results made by hand, for what is published of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from depthlaw.ledger.records.store import Record, encode
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, Claim, Control, Source
from depthlaw.theory.claims.values import Exact, Measured, Step
from depthlaw.theory.claims.verdict import Decision, Verdict

ONE = Exact(1)


def record(
    value: Measured | tuple[Step, ...] = ONE,
    claim: str = "a/b",
    seed: int = 0,
    code: str = "old",
    **case: Any,
) -> Record:
    """A record of what was measured in a case; without one, of steps."""
    inputs = {"claim": claim, "case": case or None, "seed": seed, "code": code, "device": "cpu"}
    facts = {"environment": {"cpu": "x\x1b[31m"}, "timing": {"wall_s": 0.123456, "cpu_s": 0.25}}
    return Record(inputs, encode(value), facts)


def row(
    case: Case,
    value: Measured | None,
    verdict: Verdict = Verdict.HOLDS,
    *,
    seeds: int = 1,
    reason: str = "",
    facts: Mapping[str, Any] | None = None,
) -> CaseResult:
    """A case with a record for each seed; none where there is no value."""
    inputs = {"case": case.fields(), "device": "cpu", "code": "c0de"}
    records = tuple(
        Record(inputs | {"seed": seed}, encode(value), facts or {})
        for seed in range(seeds)
        if value is not None
    )
    return CaseResult(case, value, Decision(verdict, 0.5, False, reason), records)


def claim(statement: object, *cases: Case, **changes: Any) -> Claim:
    """A claim of suite quick that cannot be measured."""
    made = Claim(
        key="topic/name",
        title="t",
        text="W.",
        statement=statement,
        source=Source("depthlaw", "here"),
        wording="derived",
        kind="upper",
        holds_for="all",
        measured=None,
        grid={"quick": cases},
        control=Control(cases[0], "never"),
    )
    return replace(made, **changes)


def result(
    statement: object, *rows: CaseResult, control: Verdict | None = None, **changes: Any
) -> ClaimResult:
    """A claim of suite quick, with what came of its cases and of its control."""
    made = claim(statement, *(row.case for row in rows), **changes)
    ran = control and CaseResult(rows[0].case, Exact(10), Decision(control))
    return ClaimResult(made, rows, None, None, control=ran, suite="quick")
