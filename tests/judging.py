"""Claims judged in tests, also with parts of them changed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from depthlaw.theory.claims.definition import Case, Claim, registry
from depthlaw.theory.claims.verdict import Verdict, judge


def claims(topic: str) -> dict[str, Claim]:
    """The claims of a topic, by their name in it."""
    return {claim.name: claim for claim in registry().values() if claim.topic == topic}


def value(claim: Claim, **fields: Any) -> int | Fraction:
    """The exact number that is measured at a case."""
    return claim.measure(Case(**fields)).value


def verdict(claim: Claim, case: Case, **changed: Any) -> Verdict:
    """What the measurement at a case says of the claim, or of one with other fields."""
    return judge(replace(claim, **changed), case, claim.measure(case)).verdict


def verdicts(claim: Claim, suite: str = "quick", **changed: Any) -> dict[Case, Verdict]:
    """The verdicts on all cases of a suite."""
    return {case: verdict(claim, case, **changed) for case in claim.cases(suite)}


def failing(claim: Claim, suite: str = "quick", **changed: Any) -> list[Case]:
    """The cases of a suite that refute the claim."""
    return [c for c, v in verdicts(claim, suite, **changed).items() if v is Verdict.FAILS]


def control_verdict(claim: Claim) -> Verdict:
    """What the negative control of a claim comes to, which has to be FAILS."""
    control = claim.control
    stated = claim.statement if control.statement is None else control.statement
    wrong = replace(claim, statement=stated)
    value = claim.measure(control.case, control.seed, control=control.measured is not None)
    return judge(wrong, control.case, value, force=True).verdict
