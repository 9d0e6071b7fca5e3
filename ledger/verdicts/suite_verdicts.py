"""From records to verdicts: what a suite's records say about each claim."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from depthlaw.theory.claims.definition import AS_IT_COMES, SUITES, Case, Claim, Measured, Step, find
from depthlaw.theory.claims.formal import said, stale
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Ball, Outside, Statistical, joined
from depthlaw.theory.claims.verdict import FAILING, Decision, Verdict, judge, level, worded

from ..records.run import Failure, Run, control_run
from ..records.store import Record, Store, decode, encode
from .decision_cache import Decisions
from .known_verdicts import known, known_at
from .sign_test import normality, sign_test

# What stands in the place of a verdict: nothing is recorded (UNDECIDED is an answer, this is none);
# a premise of what would be CONDITIONAL is recorded as FAILS; a run failed.
NOT_RUN, PREMISE_REFUTED, NOT_COMPLETE = "not run", "PREMISE REFUTED", "not complete"
# Every word that a report prints as a verdict, in the order of its counts.
VERDICT_NAMES = (
    *dict.fromkeys(
        word
        for verdict in Verdict
        for word in (FAILING.values() if verdict is Verdict.FAILS else [verdict.value])
    ),
    PREMISE_REFUTED,
    NOT_COMPLETE,
    NOT_RUN,
)

# A judgement of a statement that has no value ends in one of these.
NO_VALUE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)

# A bound that holds by a factor of a million says nothing about the case at hand.
VACUOUS = 6.0


def size(case: Case) -> int:
    """The sum of the numbers of a case, by which the smallest counterexample is chosen.

    >>> size(Case(tokens=5, hops=2, weights="graded"))
    7
    """
    return sum(value for value in case.fields().values() if isinstance(value, int))


@dataclass(frozen=True)
class CaseResult:
    """One case of a claim: what was measured (None: nothing yet), what was decided, and the records
    behind it."""

    case: Case
    measured: Measured | None
    decision: Decision
    records: tuple[Record, ...] = ()

    @property
    def fails(self) -> bool:
        """True if it is a counterexample."""
        return self.decision.verdict is Verdict.FAILS

    @property
    def verdict_name(self) -> str:
        """The verdict as every report prints it: "not run" where a case in scope has no record."""
        missing = self.measured is None and self.decision.verdict is not Verdict.OUT_OF_SCOPE
        return NOT_RUN if missing else self.decision.verdict.value


@dataclass(frozen=True)
class ClaimResult:
    """A claim's verdict on a suite, with everything it rests on.

    Attributes:
        control: the negative control as it was measured and judged; None: not recorded.
        premises: the verdict of every premise, or that it is not run here.
        suite: the smallest suite that has just these cases.
    """

    claim: Claim
    cases: tuple[CaseResult, ...]
    proof: tuple[Step, ...] | None
    proof_record: Record | None
    failures: tuple[Failure, ...] = ()
    control: CaseResult | None = None
    premises: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""

    def alpha(self, row: CaseResult) -> float:
        """The false-alarm rate that a case of this claim is judged with."""
        value = row.measured
        return level(self.claim, row.case) if value is None else alpha(self.claim, row.case, value)

    @cached_property
    def decided(self) -> list[CaseResult]:
        """The cases with a HOLDS or a FAILS."""
        return [c for c in self.cases if c.decision.verdict in (Verdict.HOLDS, Verdict.FAILS)]

    @cached_property
    def in_scope(self) -> list[CaseResult]:
        """The cases that satisfy every assumption."""
        return [c for c in self.cases if c.decision.verdict is not Verdict.OUT_OF_SCOPE]

    @property
    def outside(self) -> list[CaseResult]:
        """The cases that break an assumption."""
        return [c for c in self.cases if c.decision.verdict is Verdict.OUT_OF_SCOPE]

    @property
    def missing(self) -> list[CaseResult]:
        """The cases in scope that have no record."""
        return [c for c in self.in_scope if c.measured is None]

    @property
    def undecided(self) -> list[CaseResult]:
        """The cases that were measured and are undecided."""
        open_cases = (c for c in self.cases if c.decision.verdict is Verdict.UNDECIDED)
        return [c for c in open_cases if c.measured is not None]

    @property
    def by_chance(self) -> bool:
        """True if what some case says depends on a rate of false alarms: of a mean or a share, of a
        rank that may miss, or of an interval that is read off trained nets."""
        return any(
            isinstance(c.measured, Statistical)
            or 0 < getattr(c.measured, "misses", 0.0) < 1
            or (isinstance(c.measured, Ball) and bool(self.claim.needs))
            for c in self.cases
        )

    @property
    def certified(self) -> bool:
        """True if a two-sided claim, which is about its cases and no others, is settled on every
        one of them, each by a certificate that was checked."""
        covers, certificate = self.claim.certified, self.claim.evidence == "certificate"
        about_its_cases = self.claim.kind == "two-sided" and bool(self.in_scope)
        if not (about_its_cases and self.confirmed and certificate and covers):
            return False
        return all(covers(c.case) and c.decision.certain for c in self.in_scope)

    @cached_property
    def kernel_checked(self) -> bool:
        """True if a proof kernel has checked the theorem behind the claim as it stands."""
        formal = self.claim.formal
        return formal is not None and not formal.refutes and not stale(self.claim)

    @cached_property
    def kernel_refuted(self) -> bool:
        """True if a proof kernel has checked a theorem that contradicts the claim as it stands."""
        return self.claim.formal is not None and not self.kernel_checked and not stale(self.claim)

    @property
    def confirmed(self) -> bool:
        """True if there are proof steps and a machine confirmed every one."""
        return bool(self.proof) and all(step.holds for step in self.proof or ())

    @property
    def measured(self) -> bool:
        """True if anything was measured or argued at all."""
        return any(c.records for c in self.cases) or self.proof_record is not None

    @property
    def premise_refuted(self) -> str:
        """The first premise that FAILS, or an empty string."""
        refuted = FAILING.values()
        return next((key for key, verdict in self.premises.items() if verdict in refuted), "")

    @property
    def weak(self) -> list[str]:
        """The premises that are neither PROVED nor ARGUED, each with its verdict."""
        strong = (Verdict.PROVED, Verdict.ARGUED)
        return [f"{key} ({word})" for key, word in self.premises.items() if word not in strong]

    @property
    def unfinished(self) -> bool:
        """True if cases are missing of a suite that is recorded as it comes."""
        return self.suite in AS_IT_COMES and bool(self.missing)

    @cached_property
    def verdict(self) -> Verdict:
        """The strongest word that the evidence bears; see docs/decisions/0007.

        One case is enough for FAILS, and one undecided case for UNDECIDED, as is one that is not
        recorded yet where a suite is recorded as it comes. CONDITIONAL rests on a premise that is
        neither PROVED nor ARGUED. PROVED needs a theorem that a proof kernel has checked, or a
        checked certificate of every case of a statement about its cases; ARGUED a written proof
        over the whole domain with every machine step confirmed; HOLDS is agreement of every case.
        """
        verdicts = {c.decision.verdict for c in self.cases if c.measured is not None}
        if Verdict.FAILS in verdicts:
            return Verdict.FAILS
        # A proof that names no joints for a reader to check asks for no stronger word than its
        # cases give.
        written = self.claim.evidence == "argument" and self.proof is not None
        argued, proved = written and bool(self.claim.rests_on), self.kernel_checked
        if self.cases and not self.in_scope and not (argued or proved):
            return Verdict.OUT_OF_SCOPE
        unproved = self.proof is not None and not self.confirmed
        said = self.decided or argued or proved
        if Verdict.UNDECIDED in verdicts or self.unfinished or unproved or not said:
            return Verdict.UNDECIDED
        if self.claim.kind == "conditional" or self.weak:
            return Verdict.CONDITIONAL
        if proved or self.certified:
            return Verdict.PROVED
        return Verdict.ARGUED if argued else Verdict.HOLDS

    @cached_property
    def unexpected(self) -> str:
        """Why this result needs somebody's attention, or an empty string."""
        if self.failures:
            return f"{len(self.failures)} runs failed: {self.failures[0].why}"
        if self.control and not self.control.fails:
            word, why = self.control.decision.verdict.value, self.claim.plain.control.why
            return f"the negative control {word}, where it must fail: {why}"
        if broken := [step.says for step in self.proof or () if not step.holds]:
            return f"the proof breaks at: {broken[0]}"
        if self.cases and not self.in_scope:
            return "every case is outside the assumptions"
        if contradiction := next(filter(self._contradicts, self.cases), None):
            why = contradiction.decision.reason
            return self._otherwise_at(contradiction) + (f": {why}" if why else "")
        return self._weaker or ("" if self.claim.awaited != "FAILS" else self._otherwise)

    def _otherwise_at(self, row: CaseResult) -> str:
        how = "known" if known(self.claim.key) else "expected"
        before = known_at(self.claim, row.case)
        return f"{row.verdict_name} at [{row.case}], where {before} was {how}"

    def _contradicts(self, row: CaseResult) -> bool:
        """True if a case is decided against what is known of it; entered or left the domain of the
        statement; or is no longer decided, or now is, though no chance was involved, whether of
        sampling or of how a machine rounds."""
        expected, verdict = known_at(self.claim, row.case), row.decision.verdict.value
        if row.verdict_name == NOT_RUN or expected in ("", verdict):
            return False
        if verdict == Verdict.OUT_OF_SCOPE:
            # Of a claim of one's own nothing says which cases are in scope.
            return known(self.claim.key) is not None
        chance = isinstance(row.measured, Statistical) or not self.claim.portable
        return not (chance and "UNDECIDED" in (verdict, expected) and not row.decision.defect)

    @property
    def _complete(self) -> bool:
        """True if everything that the verdict can rest on is recorded."""
        argued = self.claim.proof is None or self.proof is not None
        unknown = any(word.startswith(NOT_RUN) for word in self.premises.values())
        return bool(self.in_scope) and not self.missing and argued and not unknown

    @property
    def _weaker(self) -> str:
        """That a claim is no longer PROVED or ARGUED."""
        listed = known(self.claim.key)
        word = listed.words.get(self.suite, "") if listed else ""
        if word in (Verdict.PROVED, Verdict.ARGUED) and self._complete and self.verdict != word:
            return f"{self.verdict.value} in suite {self.suite}, where {word} was known"
        return ""

    @property
    def _otherwise(self) -> str:
        """That a claim of which nothing is known by case is not what it is awaited to be."""
        claim, decided = self.claim, self.verdict not in (Verdict.FAILS, Verdict.UNDECIDED)
        if known(claim.key) or claim.awaited == "HOLDS" or not (self._complete and decided):
            return ""
        how = "known" if claim.known else "expected"
        return f"{how} to be {claim.awaited}, but is {self.verdict.value}"

    @cached_property
    def news(self) -> str:
        """Which case chance decides here, or leaves undecided, otherwise than is known: no
        contradiction. An empty string where there is none."""
        for row in (row for row in self.cases if row.measured is not None):
            before = known_at(self.claim, row.case)
            if before not in ("", row.decision.verdict.value) and not self._contradicts(row):
                return self._otherwise_at(row)
        return self._otherwise if self.claim.awaited == "UNDECIDED" else ""

    @property
    def failing(self) -> list[CaseResult]:
        """The cases that fail, in grid order."""
        return [c for c in self.cases if c.fails]

    @cached_property
    def counterexample(self) -> CaseResult | None:
        """The smallest case that fails: of the least sum of its numbers, in grid order where
        several have it."""
        return min(self.failing, key=lambda row: size(row.case), default=None)

    @cached_property
    def tightest(self) -> float | None:
        """The smallest slack over the decided cases, in orders of magnitude; negative when
        violated."""
        slacks = (c.decision.slack for c in self.decided)
        return min((slack for slack in slacks if slack is not None), default=None)

    @property
    def vacuous(self) -> bool:
        """True if the bound holds by more than a factor of a million on every decided case."""
        return self.tightest is not None and self.tightest >= VACUOUS

    @property
    def records(self) -> list[Record]:
        """Every record behind the verdict, and that of the negative control."""
        rows = [*self.cases, *([self.control] if self.control else [])]
        records = [*(r for c in rows for r in c.records), self.proof_record]
        return list({r.id: r for r in records if r}.values())


def results(
    claims: Mapping[str, Claim], suite: str, store: Store, failures: Iterable[Failure] = ()
) -> list[ClaimResult]:
    """Judge every claim on its own records of a suite: no other claim changes its verdict, but for
    the premises that it names."""
    failures = list(failures)
    decisions, judged = Decisions(store), {}
    for key, claim in claims.items():
        cases = claim.cases(suite)
        rows = (_decided(claim, c, *_values(claim, c, store), store, decisions) for c in cases)
        record = store.get(Run(claim, None).id) if claim.proof else None
        steps = decode(record.result) if record else None
        judged[key] = ClaimResult(
            claim,
            tuple(rows),
            steps if isinstance(steps, tuple) else None,
            record,
            tuple(f for f in failures if f.run.claim.key == key),
            _control(claim, store, decisions),
            suite=next((s for s in SUITES if claim.cases(s) == cases), suite),
        )
    decisions.save()
    premises = _premises(judged, suite, store)
    return [
        replace(result, premises={key: premises[key] for key in result.claim.premises})
        for result in judged.values()
    ]


def decide(run: Run, store: Store, decisions: Decisions) -> None:
    """Decide the case of a run, or its control, on what is recorded, for a later call of
    `results`."""
    if run.control:
        _control(run.claim, store, decisions)
    elif run.case is not None:
        values = _values(run.claim, run.case, store)
        _decided(run.claim, run.case, *values, store, decisions)


def alpha(claim: Claim, case: Case, value: Measured) -> float:
    """The false-alarm rate that one value is judged with: seeds that may miss are a comparison
    each, samples are pooled over the seeds of their case."""
    return level(claim, case) / (1 if isinstance(value, Statistical) else claim.seeds)


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
            mutated, (record,), None, lambda: (0, judge(mutated, control.case, value, force=True))
        )
    except NO_VALUE as error:
        decision = _not_judged(error)
    return CaseResult(control.case, value, decision, (record,))


def _premises(judged: Mapping[str, ClaimResult], suite: str, store: Store) -> dict[str, str]:
    """The verdict of every premise, on the records of this suite, else of any that has some."""
    wanted = sorted({key for result in judged.values() for key in result.claim.premises})
    verdicts = {}
    for key in wanted:
        claim = judged[key].claim if key in judged else find(key)
        others = dict.fromkeys((suite, *SUITES)) if key not in judged else ()
        elsewhere = (results({key: claim}, other, store)[0] for other in others)
        here = itertools.chain([judged[key]] if key in judged else [], elsewhere)
        premise = next((result for result in here if result.measured), None)
        unknown = f"{NOT_RUN} here; known: {claim.awaited}"
        verdicts[key] = worded(claim, premise.verdict) if premise else unknown
    return verdicts


def _values(claim: Claim, case: Case, store: Store) -> tuple[list[Measured], tuple[Record, ...]]:
    # What another machine measured counts here too, also where PyTorch is missing.
    if claim.broken(case) is not None:
        return [], ()
    # On whatever device they were done.
    each = (Run(claim, case, seed) for seed in range(claim.seeds))
    found = (store.get(run.id) or store.get(replace(run, device="cuda").id) for run in each)
    records = tuple(record for record in found if record)
    values = [(value, r) for r in records if not isinstance(value := decode(r.result), tuple)]
    # A seed whose instance breaks an assumption says nothing, for or against; the others do.
    inside = [(value, r) for value, r in values if not isinstance(value, Outside)]
    chosen = inside or values[:1]
    return joined([value for value, _ in chosen]), tuple(r for _, r in chosen)


def _decided(
    claim: Claim,
    case: Case,
    values: list[Measured],
    records: tuple[Record, ...],
    store: Store,
    decisions: Decisions,
) -> CaseResult:
    if (broken := claim.broken(case)) is not None:
        values = [Outside(broken)]
    if values and isinstance(values[0], Outside):
        return CaseResult(case, None, judge(claim, case, values[0]), records)
    if not values:
        needs = f"needs the extra {claim.needs}"
        why = store.lacks or ("no record" if claim.measurable else needs)
        return CaseResult(case, None, Decision(Verdict.UNDECIDED, reason=why))

    def worst() -> tuple[int, Decision]:
        """The most damaging verdict over the seeds: one counterexample refutes."""
        order = [Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS]
        each = [judge(claim, case, value, alpha=alpha(claim, case, value)) for value in values]
        return min(enumerate(each), key=lambda d: (order.index(d[1].verdict), d[1].slack or 0.0))

    try:
        index, decision = decisions.get(claim, records, level(claim, case), worst)
    except NO_VALUE as error:
        index, decision = 0, _not_judged(error)
    return CaseResult(case, values[index], decision, records)


def _not_judged(error: Exception) -> Decision:
    """The statement has no value here, a defect of the claim; other verdicts stay."""
    why = f"cannot be judged: {type(error).__name__}: {error}".splitlines()[0]
    return Decision(Verdict.UNDECIDED, reason=why, defect=True, no_value=True)


@dataclass(frozen=True)
class Chance:
    """Of claims whose verdict chance may turn: how many were fixed before data were seen, and how
    many changed after, and at most how many false alarms to expect of each."""

    fixed: int
    starred: int
    alarms_fixed: float
    alarms_starred: float


def chance(judged: Iterable[ClaimResult]) -> Chance:
    """What to expect of chance. Claims that were split off one another share a false-alarm level,
    so each of them counts its part. What was changed after data were seen was chosen by them: for a
    starred claim the number is the level, not what the choice made of it."""
    parts: dict[bool, list[float]] = {False: [], True: []}
    for claim in (result.claim for result in judged if result.by_chance):
        parts[bool(claim.post_hoc)].append(FALSE_ALARM_BUDGET / (1 + len(claim.shares)))
    fixed, starred = parts[False], parts[True]
    return Chance(len(fixed), len(starred), math.fsum(fixed), math.fsum(starred))


def incomplete(result: ClaimResult) -> str:
    """That runs of a claim failed, in place of a verdict."""
    failed = len(result.failures)
    return f"{NOT_COMPLETE}: {failed} of {failed + len(result.records)} runs failed"


def outcome(result: ClaimResult) -> str:
    """What the evidence amounts to, whosever the sentence is: "not run" where nothing was measured
    or argued, "not complete" where a run failed and no case refutes, PREMISE REFUTED for
    CONDITIONAL on what FAILS."""
    verdict = result.verdict
    if result.failures and verdict is not Verdict.FAILS:
        return NOT_COMPLETE
    if verdict is Verdict.CONDITIONAL and result.premise_refuted and result.measured:
        return PREMISE_REFUTED
    return verdict.value if result.measured or verdict is Verdict.OUT_OF_SCOPE else NOT_RUN


def verdict_name(result: ClaimResult) -> str:
    """The verdict as every report prints it: `outcome`, where FAILS says whose sentence fails."""
    word = outcome(result)
    return worded(result.claim, result.verdict) if word == Verdict.FAILS else word


def marked(result: ClaimResult) -> str:
    """`verdict_name` with a * where something was changed after data were seen."""
    return verdict_name(result) + ("*" if result.claim.post_hoc and result.measured else "")


def in_full(result: ClaimResult) -> str:
    """`marked`, but how many runs failed where a claim is not complete."""
    return incomplete(result) if verdict_name(result) == NOT_COMPLETE else marked(result)


def as_json(result: ClaimResult) -> dict[str, Any]:
    """A claim's result for machines."""
    claim, control, formal = result.claim.plain, result.control, result.claim.plain.formal

    def of_claim(names: str) -> dict[str, Any]:
        return {name: getattr(claim, name) for name in names.split()}

    return {
        "key": claim.key,
        "title": claim.entitled,
        "verdict": outcome(result),
        "outcome": verdict_name(result),
        **of_claim("tier cited supports expected known"),
        "unexpected": result.unexpected,
        "news": result.news,
        "post_hoc": claim.post_hoc,
        "shares": list(claim.shares),
        "evidence": claim.evidence if claim.proof else "",
        "rests_on": claim.rests_on,
        "premises": dict(result.premises),
        "control": control and {"why": claim.control.why, "fails": control.fails},
        **of_claim("kind holds_for wording"),
        "source": str(claim.source),
        "decided": len(result.decided),
        "cases_in_scope": len(result.in_scope),
        "cases": len(result.cases),
        "missing": len(result.missing),
        "undecided": len(result.undecided),
        "weight": claim.weight,
        "tightest_slack_log10": result.tightest,
        "vacuous": result.vacuous,
        "proof": [[s.says, s.holds] for s in result.proof] if result.proof else None,
        "formal": formal
        and {
            "theorem": formal.theorem,
            "says": said(result.claim),
            "proves": result.kernel_checked,
            "refutes": result.kernel_refuted,
        },
        "results": [
            {
                "case": c.case.fields(),
                "verdict": c.verdict_name,
                "certain": c.decision.certain,
                "slack_log10": c.decision.slack,
                "reason": c.decision.reason,
                "measured": encode(c.measured) if c.measured else None,
                "known": known_at(claim, c.case),
                "level": result.alpha(c),
                "rests_on_normality": normality(result, c),
                "sign_test": asdict(test) if (test := sign_test(claim, c)) else None,
                "records": [r.id for r in c.records],
            }
            for c in result.cases
        ],
    }
