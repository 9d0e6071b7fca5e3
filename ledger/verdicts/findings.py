"""What a reader must know about a suite's verdicts, in the order of its weight: the same groups for
the page and for the appendix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
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

    FAILS_AS_SOURCE = "Fails as its source has it"
    FAILS_AS_OURS = "Fails, and was our own"
    READING_FAILS = "Reading fails"
    PREMISE_REFUTED = "Premise refuted"
    ATTENTION = "Needs attention"
    UNDECIDED = "Undecided"
    IN_PART = "Decided in part"
    VACUOUS = "Vacuous"
    CONDITIONAL = "Conditional"
    NOT_RUN = "Not run"


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

    def fails(*readings: str) -> Callable[[ClaimResult], bool]:
        return lambda r: r.verdict is Verdict.FAILS and r.claim.wording in readings

    def named(name: str) -> Callable[[ClaimResult], bool]:
        return lambda r: verdict_name(r) == name

    table: list[tuple[FindingKind, str, Callable[[ClaimResult], bool]]] = [
        (
            FindingKind.FAILS_AS_SOURCE,
            "A statement of a source, as printed, as reported in another text, or as recalled from "
            "memory: a recalled wording may differ from the source's. A counterexample is recorded "
            "for each.",
            fails("printed", "reported", "recalled"),
        ),
        (
            FindingKind.FAILS_AS_OURS,
            "A statement derived or expected here; no source is at fault.",
            fails("derived"),
        ),
        (
            FindingKind.READING_FAILS,
            "A vague sentence of a source, hardened here into one about all instances so that it "
            "can be tested, is refuted in that form (READING FAILS). The source's own sentence "
            "stands, and may have meant less.",
            fails("universal"),
        ),
        (
            FindingKind.PREMISE_REFUTED,
            "The statement rests on another claim that fails.",
            named(PREMISE_REFUTED),
        ),
        (
            FindingKind.ATTENTION,
            "A run failed, a proof or a negative control broke, or a verdict is "
            "another one than expected.",
            lambda r: bool(r.unexpected),
        ),
        (FindingKind.UNDECIDED, "Measured, and neither side is certain.", named(Verdict.UNDECIDED)),
        (
            FindingKind.IN_PART,
            "Some cases are measured and undecided, or have no record; the verdict "
            "rests on the others.",
            lambda r: (
                r.measured and r.verdict is not Verdict.UNDECIDED and bool(r.undecided or r.missing)
            ),
        ),
        (
            FindingKind.VACUOUS,
            "The bound holds, but on every decided case by so large a factor that it says "
            "nothing about them.",
            lambda r: r.vacuous and r.verdict is not Verdict.FAILS,
        ),
        (
            FindingKind.CONDITIONAL,
            "Rests on a conjecture, or on a claim that is neither PROVED nor ARGUED.",
            named(Verdict.CONDITIONAL),
        ),
        (FindingKind.NOT_RUN, "Nothing is recorded.", named(NOT_RUN)),
    ]
    return [
        Group(heading, meaning, tuple(filter(belongs, ordered)))
        for heading, meaning, belongs in table
    ]


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
