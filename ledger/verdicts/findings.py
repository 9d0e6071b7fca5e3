"""What a reader must know about a suite's verdicts, in the order of its weight: the same groups for
the page and for the appendix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.verdict import Verdict

from .suite_verdicts import NOT_RUN, PREMISE_REFUTED, ClaimResult, verdict_name

# Theorems before steps of their proofs, before measurements, before the arithmetic of printed
# numbers.
WEIGHTS = ("theorem", "step", "measurement", "arithmetic")
# What stands for itself before what supports it.
TIERS = ("cited", "supporting")


class FindingKind(StrEnum):
    """The kinds of findings by their headings, in the order of their weight."""

    FAILS_AS_SOURCE = "Fails as printed, reported or recalled"
    FAILS_AS_OURS = "Fails, and was our own"
    READING_FAILS = "Reading fails"
    PREMISE_REFUTED = "Premise refuted"
    ATTENTION = "Needs attention"
    UNDECIDED = "Undecided"
    IN_PART = "Decided in part"
    VACUOUS = "Vacuous"
    CONDITIONAL = "Conditional"
    NOT_RUN = "Not run"


_MEANINGS = {
    FindingKind.FAILS_AS_SOURCE: "A source's statement, as printed, as another text reports it, or "
    "as we recall it: a recalled wording may differ from the source's. Each has a recorded "
    "counterexample.",
    FindingKind.FAILS_AS_OURS: "We derived or expected this statement here; no source is at fault.",
    FindingKind.READING_FAILS: "We read a source's vague sentence as one about all instances, to "
    "test it, and refute that reading (READING FAILS). The source may have meant less.",
    FindingKind.PREMISE_REFUTED: "The statement rests on a claim that fails.",
    FindingKind.ATTENTION: "A run failed, a proof or a negative control broke, or a verdict "
    "differs from the expected one.",
    FindingKind.UNDECIDED: "The measurements leave both answers possible.",
    FindingKind.IN_PART: "Some cases are undecided or have no record; the verdict rests on the "
    "others.",
    FindingKind.VACUOUS: "The bound holds on every decided case by so large a factor that it "
    "says nothing about the case.",
    FindingKind.CONDITIONAL: "Rests on a conjecture, or on a claim that is neither PROVED nor "
    "ARGUED.",
    FindingKind.NOT_RUN: "There is no record.",
}


@dataclass(frozen=True)
class Group:
    """Findings of one kind: what it means, and the claims, heaviest first."""

    heading: FindingKind
    meaning: str
    results: tuple[ClaimResult, ...]


def groups(judged: Iterable[ClaimResult]) -> list[Group]:
    """Every group of findings, the empty ones too: an empty one says that there is none.

    A claim stands in the first of the groups on failure that it belongs to, and in every other that
    it belongs to.
    """
    ordered = sorted(judged, key=lambda r: (importance(r.claim), not r.unexpected))
    kinds = [(result, _kinds(result)) for result in ordered]
    return [
        Group(kind, meaning, tuple(result for result, those in kinds if kind in those))
        for kind, meaning in _MEANINGS.items()
    ]


def _kinds(result: ClaimResult) -> set[FindingKind]:
    kind, verdict, name = FindingKind, result.verdict, verdict_name(result)
    of_failure = {"derived": kind.FAILS_AS_OURS, "universal": kind.READING_FAILS}
    belongs = {
        of_failure.get(result.claim.wording, kind.FAILS_AS_SOURCE): verdict is Verdict.FAILS,
        kind.PREMISE_REFUTED: name == PREMISE_REFUTED,
        kind.ATTENTION: result.unexpected,
        kind.UNDECIDED: name == Verdict.UNDECIDED,
        kind.IN_PART: result.measured
        and verdict is not Verdict.UNDECIDED
        and (result.undecided or result.missing),
        kind.VACUOUS: result.vacuous and verdict is not Verdict.FAILS,
        kind.CONDITIONAL: name == Verdict.CONDITIONAL,
        kind.NOT_RUN: name == NOT_RUN,
    }
    return {each for each, whether in belongs.items() if whether}


def importance(claim: Claim) -> tuple[int, int]:
    """By what lists of claims are sorted: tier, then weight."""
    return TIERS.index(claim.tier), WEIGHTS.index(claim.weight)


def reason(result: ClaimResult) -> str:
    """Why a claim stands in the group it stands in, in one line; empty where the group says it
    all."""
    if result.unexpected:
        return f"unexpected: {result.unexpected}"
    if verdict_name(result) == PREMISE_REFUTED:
        return f"rests on {result.premise_refuted}, which fails"
    if result.verdict is Verdict.FAILS:
        wording = result.claim.wording
        return f"known to fail as {'read here' if wording == 'universal' else wording}"
    open_cases = [c.decision.reason for c in (*result.undecided, *result.missing)]
    if open_cases:
        counted = Counter(open_cases).most_common()
        return "; ".join(f"{plural(n, 'case')}: {why}" for why, n in counted)
    if verdict_name(result) == Verdict.CONDITIONAL:
        named = ", ".join(f"{key} ({verdict})" for key, verdict in result.premises.items())
        return f"rests on {named}" if named else result.claim.note
    return ""
