"""From records to verdicts: what a suite's records say about each claim."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from depthlaw.theory.claim import SUITES, Case, Claim, find
from depthlaw.theory.judgement import FALSE_ALARM_BUDGET, Decision, Verdict, judge
from depthlaw.theory.values import Measured, Outside, Statistical, Step, joined

from ..run.records import Record, Store, decode, digest, encode
from ..run.run import Failure, Run, control_run
from .decisions import Decisions

# What stands in the place of a verdict where nothing is recorded; UNDECIDED is an answer, this is
# none.
NOT_RUN = "not run"

# What stands in the place of CONDITIONAL where a premise is recorded as FAILS.
PREMISE_REFUTED = "PREMISE REFUTED"
# Every word that a report prints as a verdict, in the order of its counts.
VERDICT_NAMES = (*(v.value for v in Verdict), PREMISE_REFUTED, NOT_RUN)

# A judgement of a statement that has no value ends in one of these.
_NO_VALUE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)

# A bound that holds by a factor of a million says nothing about the case at hand.
VACUOUS = 6.0


@dataclass(frozen=True)
class CaseResult:
    """One case of a claim: what was measured (None: nothing yet), what was decided, and the records
    behind it."""

    case: Case
    measured: Measured | None
    decision: Decision
    records: tuple[Record, ...] = ()

    @property
    def verdict_name(self) -> str:
        """The verdict as every report prints it: "not run" where a case in scope has no record."""
        missing = self.measured is None and self.decision.verdict is not Verdict.OUT_OF_SCOPE
        return NOT_RUN if missing else self.decision.verdict.value

    @property
    def undecided(self) -> bool:
        """Whether it was measured, and neither side is certain."""
        return self.measured is not None and self.decision.verdict is Verdict.UNDECIDED


@dataclass(frozen=True)
class ClaimResult:
    """A claim's verdict on a suite, with everything it rests on.

    Attributes:
        control: the negative control as it was measured and judged; None: not recorded.
        premises: the verdict of every premise, or that it is not run here.
        alphas: the false-alarm rates that one sample and one measurement that may miss were judged
            with.
        suite: the smallest suite that has just these cases.
    """

    claim: Claim
    cases: tuple[CaseResult, ...]
    proof: tuple[Step, ...] | None
    proof_record: Record | None
    failures: tuple[Failure, ...] = ()
    control: CaseResult | None = None
    premises: Mapping[str, str] = field(default_factory=dict)
    alphas: tuple[float, float] = (FALSE_ALARM_BUDGET, FALSE_ALARM_BUDGET)
    suite: str = ""

    def alpha(self, value: Measured) -> float:
        """The false-alarm rate that a value of this claim is judged with."""
        return self.alphas[0] if isinstance(value, Statistical) else self.alphas[1]

    @property
    def decided(self) -> list[CaseResult]:
        """The cases with a HOLDS or a FAILS."""
        return [c for c in self.cases if c.decision.verdict in (Verdict.HOLDS, Verdict.FAILS)]

    @property
    def in_scope(self) -> list[CaseResult]:
        """The cases that satisfy every assumption."""
        return [c for c in self.cases if c.decision.verdict is not Verdict.OUT_OF_SCOPE]

    @property
    def missing(self) -> list[CaseResult]:
        """The cases in scope that have no record."""
        return [c for c in self.in_scope if c.measured is None]

    @property
    def undecided(self) -> list[CaseResult]:
        """The cases that were measured and are undecided."""
        return [c for c in self.cases if c.undecided]

    @property
    def settled(self) -> bool:
        """Whether a two-sided claim, which is about its cases and no others, is settled on every
        one of them."""
        return (self.claim.kind == "two-sided" and bool(self.in_scope)
                and all(c.decision.certain for c in self.in_scope))

    @property
    def by_chance(self) -> bool:
        """Whether what some case says depends on the rate of false alarms."""
        return any(isinstance(c.measured, Statistical) or 0 < getattr(c.measured, "misses", 0.0) < 1
                   for c in self.cases)

    @property
    def certified(self) -> bool:
        """Whether the claim is about its cases alone, and a certificate that was checked decides
        every one of them."""
        covers = self.claim.certified
        return bool(self.confirmed and self.claim.evidence == "certificate" and covers
                    and self.in_scope and all(covers(c.case) for c in self.in_scope))

    @property
    def confirmed(self) -> bool:
        """Whether there are proof steps and a machine confirmed every one."""
        return bool(self.proof) and all(step.holds for step in self.proof or ())

    @property
    def measured(self) -> bool:
        """Whether anything was measured or argued at all."""
        return any(c.records for c in self.cases) or self.proof_record is not None

    @property
    def premise_refuted(self) -> str:
        """The first premise that FAILS, or an empty string."""
        return next((key for key, verdict in self.premises.items() if verdict == Verdict.FAILS), "")

    @property
    def verdict(self) -> Verdict:
        """The strongest word that the evidence bears; see docs/decisions/0007.

        One case is enough for FAILS, and one undecided case for UNDECIDED. CONDITIONAL rests on a
        premise that is neither PROVED nor ARGUED. PROVED needs a checked certificate of every case
        of a statement about its cases, ARGUED a written proof over the whole domain with every
        machine step confirmed; HOLDS is agreement of every case.
        """
        verdicts = {c.decision.verdict for c in self.cases if c.measured is not None}
        # A proof that names no joints for a reader to check asks for no stronger word than its
        # cases give.
        argued = (self.claim.evidence == "argument" and self.proof is not None
                  and bool(self.claim.rests_on))
        if Verdict.FAILS in verdicts:
            return Verdict.FAILS
        if self.cases and not self.in_scope and not argued:
            return Verdict.OUT_OF_SCOPE
        if (Verdict.UNDECIDED in verdicts or not (self.decided or argued)
            or (self.proof is not None and not self.confirmed)):
            return Verdict.UNDECIDED
        if (self.claim.kind == "conditional"
            or any(v not in (Verdict.PROVED, Verdict.ARGUED) for v in self.premises.values())):
            return Verdict.CONDITIONAL
        if self.certified and self.settled:
            return Verdict.PROVED
        return Verdict.ARGUED if argued else Verdict.HOLDS

    @property
    def unexpected(self) -> str:
        """Why this result needs somebody's attention, or an empty string."""
        if self.failures:
            return f"{len(self.failures)} runs failed: {self.failures[0].why}"
        if self.control and self.control.decision.verdict is not Verdict.FAILS:
            return ("the negative control does not fail but "
                    f"{self.control.decision.verdict.value}: {self.claim.control.why}")
        broken = [step.says for step in self.proof or () if not step.holds]
        if broken:
            return f"the proof breaks at: {broken[0]}"
        if self.cases and not self.in_scope:
            return "every case is outside the assumptions"
        if not self.measured:
            return ""
        awaited, complete = self.claim.awaited, self.in_scope and not self.missing
        if self.verdict is Verdict.FAILS and awaited != "FAILS":
            return f"FAILS at [{self.counterexample.case}]" if self.counterexample else "FAILS"
        if self.undecided and awaited == "HOLDS":
            first = self.undecided[0]
            return f"UNDECIDED at [{first.case}], where HOLDS was expected: {first.decision.reason}"
        if complete and awaited in ("FAILS", "UNDECIDED") and self.verdict.value != awaited:
            return f"known to be {awaited}, but is {self.verdict.value}"
        return ""

    @property
    def counterexample(self) -> CaseResult | None:
        """The smallest case that fails, in grid order."""
        return next((c for c in self.cases if c.decision.verdict is Verdict.FAILS), None)

    @property
    def tightest(self) -> float | None:
        """The smallest slack over the decided cases, in orders of magnitude; negative when
        violated."""
        return min((c.decision.slack for c in self.decided if c.decision.slack is not None),
                   default=None)

    @property
    def vacuous(self) -> bool:
        """Whether the bound holds by more than a factor of a million on every decided case."""
        return self.tightest is not None and self.tightest >= VACUOUS

    @property
    def records(self) -> list[Record]:
        """Every record behind the verdict, and that of the negative control."""
        rows = [*self.cases, *([self.control] if self.control else [])]
        found = ([r for c in rows for r in c.records]
                 + ([self.proof_record] if self.proof_record else []))
        return list({r.id: r for r in found}.values())


def results(
    claims: Mapping[str, Claim], suite: str, store: Store, failures: Iterable[Failure] = (), *,
    alphas: tuple[float, float] | None = None,
) -> list[ClaimResult]:
    """Judge every claim on the records of a suite. The false-alarm budget is shared by the
    statistical comparisons of these claims, or was shared before (`levels`)."""
    failures = list(failures)
    found = _found(claims, suite, store)
    alphas, decisions, judged = alphas or _shared(found), Decisions(store), {}
    for key, claim in claims.items():
        cases = zip(claim.cases(suite), found[key], strict=True)
        rows = tuple(_decided(claim, case, values, records, alphas, decisions)
                     for case, (values, records) in cases)
        record = store.get(Run(claim, None).id) if claim.proof else None
        steps = decode(record.result) if record else None
        judged[key] = ClaimResult(claim, rows, steps if isinstance(steps, tuple) else None, record,
                                  tuple(f for f in failures if f.run.claim.key == key),
                                  _control(claim, store, decisions), alphas=alphas,
                                  suite=next((s for s in SUITES
                                              if claim.cases(s) == claim.cases(suite)), suite))
    decisions.save()
    premises = _premises(judged, suite, store)
    return [replace(result, premises={key: premises[key] for key in result.claim.premises})
            for result in judged.values()]


def levels(claims: Mapping[str, Claim], suite: str, store: Store) -> tuple[float, float]:
    """The false-alarm rates of `ClaimResult.alphas` that claims leave each other in a suite: what
    some of them are judged with elsewhere, so that a verdict is the same everywhere."""
    return _shared(_found(claims, suite, store))


def _found(
    claims: Mapping[str, Claim], suite: str, store: Store,
) -> dict[str, list[tuple[list[Measured], tuple[Record, ...]]]]:
    return {key: [_values(claim, case, store) for case in claim.cases(suite)]
            for key, claim in claims.items()}


def _control(claim: Claim, store: Store, decisions: Decisions) -> CaseResult | None:
    """The negative control, judged on what was recorded of it; None where nothing was."""
    run, control = control_run(claim), claim.control
    record = store.get(run.id) or store.get(replace(run, device="cuda").id)
    value = decode(record.result) if record else None
    if record is None or value is None or isinstance(value, tuple):
        return None
    mutated = claim if control.statement is None else replace(claim, statement=control.statement)
    try:
        _, decision = decisions.get(
            mutated, (record,), None, lambda: (0, judge(mutated, control.case, value, force=True)))
    except _NO_VALUE as error:
        decision = _not_judged(error)
    return CaseResult(control.case, value, decision, (record,))


def _premises(judged: Mapping[str, ClaimResult], suite: str, store: Store) -> dict[str, str]:
    """The verdict of every premise, on the records of this suite, else of any that has some."""
    wanted = sorted({key for result in judged.values() for key in result.claim.premises})
    verdicts = {}
    for key in wanted:
        claim = judged[key].claim if key in judged else find(key)
        here = [judged[key]] if key in judged else (
            result for other in dict.fromkeys((suite, *SUITES))
            for result in results({key: claim}, other, store))
        found = next((result for result in here if result.measured), None)
        verdicts[key] = found.verdict.value if found else f"{NOT_RUN} here; known: {claim.awaited}"
    return verdicts


def _shared(
    found: Mapping[str, list[tuple[list[Measured], tuple[Record, ...]]]],
) -> tuple[float, float]:
    """The false-alarm rates allowed to one sample, and to one measurement that may miss.

    By the union bound all of them together stay within the budget.

    Measurements that miss with a known probability take exactly that; claims that judge the same
    case with the same seed look at the same random draw, so it counts once. The samples share what
    is left. Where the misses alone exceed nine tenths of the budget, every comparison gets an equal
    share instead, and those that need more stay UNDECIDED.
    """
    draws: dict[str, float] = {}
    samples = comparisons = 0
    for rows in found.values():
        for values, records in rows:
            for value, record in zip(values, records, strict=False):
                misses = getattr(value, "misses", 0.0)
                if 0 < misses < 1:
                    draws[digest([record.inputs["case"], record.inputs["seed"], misses])] = misses
            samples += sum(isinstance(v, Statistical) for v in values)
            comparisons += sum(isinstance(v, Statistical) or 0 < getattr(v, "misses", 0.0) < 1
                               for v in values)
    spent = sum(draws.values())
    if spent > 0.9 * FALSE_ALARM_BUDGET:
        equal = FALSE_ALARM_BUDGET / max(comparisons, 1)
        return equal, equal
    return (FALSE_ALARM_BUDGET - spent) / max(samples, 1), max(draws.values(), default=0.0)


def _values(claim: Claim, case: Case, store: Store) -> tuple[list[Measured], tuple[Record, ...]]:
    # What another machine measured counts here too, also where PyTorch is missing.
    if not all(holds(case) for holds in claim.assumes.values()):
        return [], ()
    records = tuple(r for seed in range(claim.seeds) if (r := _record(claim, case, seed, store)))
    found = [(value, r) for r in records if not isinstance(value := decode(r.result), tuple)]
    # A seed whose instance breaks an assumption says nothing, for or against; the others do.
    inside = [(value, r) for value, r in found if not isinstance(value, Outside)]
    chosen = inside or found[:1]
    return joined([value for value, _ in chosen]), tuple(r for _, r in chosen)


def _record(claim: Claim, case: Case, seed: int, store: Store) -> Record | None:
    """The record of a run on whatever device did it."""
    return store.get(Run(claim, case, seed).id) or store.get(Run(claim, case, seed, "cuda").id)


def _decided(claim: Claim, case: Case, values: list[Measured], records: tuple[Record, ...],
             alphas: tuple[float, float], decisions: Decisions) -> CaseResult:
    broken = next((name for name, holds in claim.assumes.items() if not holds(case)), None)
    if broken is not None:
        return CaseResult(case, None,
                          Decision(Verdict.OUT_OF_SCOPE, reason=f"assumption broken: {broken}"))
    if values and isinstance(values[0], Outside):
        return CaseResult(case, None, judge(claim, case, values[0]), records)
    if not values:
        why = f"needs the extra {claim.needs}" if not claim.measurable else "no record"
        return CaseResult(case, None, Decision(Verdict.UNDECIDED, reason=why))
    try:
        index, decision = decisions.get(
            claim, records, alphas, lambda: _worst(claim, case, values, alphas))
    except _NO_VALUE as error:
        return CaseResult(case, values[0], _not_judged(error), records)
    return CaseResult(case, values[index], decision, records)


def _worst(claim: Claim, case: Case, values: list[Measured],
           alphas: tuple[float, float]) -> tuple[int, Decision]:
    """The most damaging verdict over the seeds: one counterexample refutes."""
    order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS]
    decisions = [judge(claim, case, value, alpha=alphas[not isinstance(value, Statistical)])
                 for value in values]
    return min(enumerate(decisions),
               key=lambda d: (order.index(d[1].verdict),
                              d[1].slack if d[1].slack is not None else 0.0))


def _not_judged(error: Exception) -> Decision:
    """The statement has no value here, a defect of the claim; other verdicts stay."""
    why = f"cannot be judged: {type(error).__name__}: {error}".splitlines()[0]
    return Decision(Verdict.UNDECIDED, reason=why)


def verdict_name(result: ClaimResult) -> str:
    """The verdict as every report prints it: "not run" where nothing was measured or argued,
    PREMISE REFUTED for CONDITIONAL on what FAILS."""
    verdict = result.verdict
    if verdict is Verdict.CONDITIONAL and result.premise_refuted and result.measured:
        return PREMISE_REFUTED
    return verdict.value if result.measured or verdict is Verdict.OUT_OF_SCOPE else NOT_RUN


def as_json(result: ClaimResult) -> dict[str, Any]:
    """A claim's result for machines."""
    claim = result.claim
    return {
        "key": claim.key, "title": claim.title, "verdict": verdict_name(result),
        "expected": claim.expected, "known": claim.known, "unexpected": result.unexpected,
        "evidence": claim.evidence if claim.proof else "", "rests_on": claim.rests_on,
        "premises": dict(result.premises),
        "control": {
            "why": claim.control.why,
            "fails": result.control.decision.verdict is Verdict.FAILS} if result.control else None,
        "kind": claim.kind, "holds_for": claim.holds_for, "wording": claim.wording,
        "source": str(claim.source), "decided": len(result.decided),
        "cases_in_scope": len(result.in_scope), "cases": len(result.cases),
        "missing": len(result.missing), "undecided": len(result.undecided), "weight": claim.weight,
        "tightest_slack_log10": result.tightest, "vacuous": result.vacuous,
        "proof": [[s.says, s.holds] for s in result.proof] if result.proof else None,
        "results": [{"case": c.case.fields(), "verdict": c.verdict_name,
                     "certain": c.decision.certain, "slack_log10": c.decision.slack,
                     "reason": c.decision.reason,
                     "measured": encode(c.measured) if c.measured else None,
                     "records": [r.id for r in c.records]} for c in result.cases]}
