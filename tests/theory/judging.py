"""Claims judged in tests: verdicts on cases, with parts of the claim changed, and proofs."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.verdict import Verdict, judge


def claims_of(*modules: ModuleType) -> dict[str, Claim]:
    """The claims that modules hold, by name."""
    return {c.name: c for m in modules for c in vars(m).values() if isinstance(c, Claim)}


def verdict(claim: Claim, case: Case, **changed: Any) -> Verdict:
    """What the measurement at a case says of the claim, or of one with other fields."""
    return judge(replace(claim, **changed), case, claim.measure(case)).verdict


def verdicts(claim: Claim, suite: str = "quick", **changed: Any) -> dict[Case, Verdict]:
    """The verdicts on all cases of a suite."""
    return {case: verdict(claim, case, **changed) for case in claim.cases(suite)}


def failing(claim: Claim, suite: str = "quick", **changed: Any) -> list[Case]:
    """The cases of a suite that refute the claim."""
    return [c for c, v in verdicts(claim, suite, **changed).items() if v is Verdict.FAILS]


def with_right(claim: Claim, right: Any) -> Claim:
    """The claim with another right side."""
    statement = claim.statement.func(claim.statement.lhs, right, evaluate=False)
    return replace(claim, statement=statement)


def confirmed(claim: Claim, statement: Relational | None = None) -> bool:
    """Whether every step of the proof holds, of another statement or of the claim's."""
    return all(step.holds for step in claim.proof(statement or claim.statement))


def breaks_both(claim: Claim, wrong: Relational, suite: str = "quick") -> bool:
    """Whether neither the argument nor the evidence lets another statement pass."""
    return not confirmed(claim, wrong) and bool(failing(claim, suite, statement=wrong))
