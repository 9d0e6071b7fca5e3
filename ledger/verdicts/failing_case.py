"""Where a statement fails, for a reader: the input, what is expected and what was got, in one line
that every report prints."""

from __future__ import annotations

from collections.abc import Iterable

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.printing import latex
from depthlaw.theory.claims.values import Case, Instance

from .display import measured_side, stated
from .known_verdicts import shared_fields
from .suite_verdicts import CaseResult, ClaimResult

# Fields of a case that a reader has nothing to do with: how often it is measured, and a hash.
_APART = ("corpus", "nets", "repeats", "replicas", "seeds", "trials", "tried")
# What others are called where they would say something else.
_CALLED = {"first": "seed", "other": "other depth"}


def failing_instance(result: ClaimResult) -> Instance | None:
    """The instance that a claim brings along to show that it fails, else its smallest case that
    does; None where none does."""
    worst = result.counterexample
    if worst is None:
        return None
    claim, cases = result.claim, (row.case for row in result.cases)
    return claim.instance() if claim.instance else instance_at(claim, worst, cases)


def instance_at(claim: Claim, row: CaseResult, cases: Iterable[Case] = ()) -> Instance:
    """A case that fails: its input, the statement there, and the measured side.

    Args:
        cases: what else the claim is asked about; fields that all share are left out.
    """
    same = shared_fields(cases).items()
    telling = {k: v for k, v in row.case.fields().items() if k not in _APART}
    own = {k: v for k, v in telling.items() if (k, v) not in same} or telling
    asked = ", ".join(f"{_CALLED.get(k, k).replace('_', ' ')} {_word(v)}" for k, v in own.items())
    expected = f"${latex(claim.statement.lhs)}$ {stated(claim, row)}"
    return Instance(asked, expected, measured_side(claim, row))


def _word(value: int | str | bool) -> str:
    # Not by a table: 1 would be found under True.
    if isinstance(value, bool):
        return ("no", "yes")[value]
    return f"{value:,}" if isinstance(value, int) else value
