"""What a reader must know about a suite's verdicts, in the order of its weight: the same groups for
the page and for the appendix."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.verdict import Verdict

from .suite_verdicts import NOT_RUN, PREMISE_REFUTED, ClaimResult, verdict_name

# Theorems before steps of their proofs, before measurements, before the arithmetic of printed
# numbers.
WEIGHTS = ("theorem", "step", "measurement", "arithmetic")
# What stands for itself before what supports it.
TIERS = ("cited", "supporting")


@dataclass(frozen=True)
class Group:
    """Findings of one kind: a heading, what it means, and the claims, heaviest first."""

    heading: str
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

    table: list[tuple[str, str, Callable[[ClaimResult], bool]]] = [
        (
            "Fails as its source has it",
            "A statement of a source, as printed, as reported in another text, or as recalled from "
            "memory: a recalled wording may differ from the source's. A counterexample is recorded "
            "for each.",
            fails("printed", "reported", "recalled"),
        ),
        (
            "Fails, and was our own",
            "A statement derived or expected here; no source is at fault.",
            fails("derived"),
        ),
        (
            "Reading fails",
            "A vague sentence of a source, hardened here into one about all instances so that it "
            "can be tested, is refuted in that form (READING FAILS). The source's own sentence "
            "stands, and may have meant less.",
            fails("universal"),
        ),
        (
            "Premise refuted",
            "The statement rests on another claim that fails.",
            named(PREMISE_REFUTED),
        ),
        (
            "Needs attention",
            "A run failed, a proof or a negative control broke, or a verdict is "
            "another one than expected.",
            lambda r: bool(r.unexpected),
        ),
        ("Undecided", "Measured, and neither side is certain.", named(Verdict.UNDECIDED)),
        (
            "Decided in part",
            "Some cases are measured and undecided, or have no record; the verdict "
            "rests on the others.",
            lambda r: (
                r.measured and r.verdict is not Verdict.UNDECIDED and bool(r.undecided or r.missing)
            ),
        ),
        (
            "Vacuous",
            "The bound holds, but on every decided case by so large a factor that it says "
            "nothing about them.",
            lambda r: r.vacuous and r.verdict is not Verdict.FAILS,
        ),
        (
            "Conditional",
            "Rests on a conjecture, or on a claim that is neither PROVED nor ARGUED.",
            named(Verdict.CONDITIONAL),
        ),
        ("Not run", "Nothing is recorded.", named(NOT_RUN)),
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
        return (
            "known to fail as "
            f"{'read here' if result.claim.wording == 'universal' else result.claim.wording}"
        )
    open_cases = [c.decision.reason for c in (*result.undecided, *result.missing)]
    if open_cases:
        counted = {why: open_cases.count(why) for why in open_cases}
        return "; ".join(
            f"{n} {'case' if n == 1 else 'cases'}: {why}"
            for why, n in sorted(counted.items(), key=lambda item: -item[1])
        )
    if verdict_name(result) == Verdict.CONDITIONAL:
        named = ", ".join(f"{key} ({verdict})" for key, verdict in result.premises.items())
        return f"rests on {named}" if named else result.claim.note
    return ""
