"""Claims judged on what one store holds of them, in whatever suites that is: what `show`, pages and
the appendix say of a claim; and whose records `show` speaks of: the user's own, else those of the
ledger that comes with depthlaw.

Here a claim's runs are counted whether or not they can be measured on this machine: what needs
PyTorch is recorded elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from depthlaw.theory.claims.definition import ALONE, AS_IT_COMES, DEVICE_OF, SUITES, Claim, find

from ..records.run import Run, control_run
from ..records.store import Record, Store, StoreError, canonical, open_store
from .reference_ledger import Ledger, by_run, shipped
from .suite_verdicts import CaseResult, ClaimResult, results

# Not the order of `SUITES`: a claim is told by its longest trainings, then by `full`,
# which contains `theory` and `quick`, and only where `full` has none of it by `frontier`, whose
# long runs few repeat. Suites for another device follow on their own.
_SUITES = ("long", "training", "exercises", "full", "frontier", "theory", "quick")


@dataclass(frozen=True)
class Recorded:
    """Claims, judged on the records of one store as `depthlaw verify` judges them. Each is judged
    once: what is stored later is not seen."""

    claims: Mapping[str, Claim]
    store: Store
    _judged: dict[tuple[str, str], ClaimResult] = field(default_factory=dict)

    def judged(self, key: str) -> ClaimResult | None:
        """The claim in the first suite of `_SUITES` of which every case is recorded (of what is
        recorded as it comes, any case), else in the one of which most are; None where nothing
        is."""
        some = []
        for suite in _SUITES:
            if (result := self.of(suite, key)) is None:
                continue
            recorded = _any(result)
            if (result.cases and not result.missing) or (recorded and suite in AS_IT_COMES):
                return result
            some += [result] * recorded
        return min(some, key=lambda r: len(r.missing), default=None)

    def elsewhere(self, key: str) -> Iterator[tuple[str, ClaimResult]]:
        """The claim in each suite of which something is recorded and that needs another device."""
        for suite in DEVICE_OF:
            if (result := self.of(suite, key)) is not None and _any(result):
                yield suite, result

    def rows(self, *keys: str) -> list[CaseResult]:
        """The recorded cases of claims, each case once, in all suites and on any device."""
        results = (self.of(suite, key) for key in keys for suite in self.claims[key].grid)
        rows = (row for result in results if result for row in result.cases if row.records)
        return list({row.case: row for row in rows}.values())

    def of(self, suite: str, key: str) -> ClaimResult | None:
        """The claim in a suite; None where it has no cases there or is not known."""
        claim = self.claims.get(key)
        if claim is None or not claim.cases(suite):
            return None
        if (suite, key) not in self._judged:
            # Premises from a file of the user's are found nowhere else.
            own = {c.key: c for c in self.claims.values() if c.own}
            self._judged[suite, key] = results({key: claim} | own, suite, self.store)[0]
        return self._judged[suite, key]


def _any(result: ClaimResult) -> bool:
    """Whether any case is recorded."""
    return any(row.records for row in result.cases)


@dataclass(frozen=True)
class RecordSource:
    """A claim judged on the records of one place.

    Attributes:
        judged: judges another claim on the same records, such as a premise.
        said: which records these are, where they are not the user's; else "".
        verify: the command that measures the claim here.
    """

    result: ClaimResult
    judged: Callable[[str], ClaimResult | None]
    store: Store
    said: str
    verify: str


def evidence(
    claim: Claim, folder: Path | None, everything: Mapping[str, Claim] | None = None
) -> RecordSource:
    """A claim judged on the user's records, else on those that come with depthlaw.

    Args:
        folder: of the user's records; by default depthlaw's among the user's data.
        everything: every claim, where a file of the user's adds some.
    """
    store, said = open_store(folder, lazy=True), ""
    result = _judged(claim, store, everything)
    if result is None and (known := from_reference(claim)):
        store, today = known
        result = _judged(claim, store, everything)
        older = "" if today else ", measured by an older version of the code"
        said = f"this is the reference ledger that comes with depthlaw{older}"
    if result is None:
        result = results({claim.key: claim}, largest_recorded_suite(claim, store), store)[0]
    device = f" --device {DEVICE_OF[result.suite]}" if result.suite in DEVICE_OF else ""
    command = f"`depthlaw verify {result.suite} --only {claim.key}{device}`"

    def judged(key: str) -> ClaimResult | None:
        return _judged(find(key) if everything is None else everything[key], store, everything)

    return RecordSource(result, judged, store, said, command)


def _judged(
    claim: Claim, store: Store, everything: Mapping[str, Claim] | None
) -> ClaimResult | None:
    """The claim as `verify` judges it; None where nothing is recorded."""
    alone = Recorded({claim.key: claim} if everything is None else everything, store)
    return alone.judged(claim.key) or next((r for _, r in alone.elsewhere(claim.key)), None)


def runs_of(claim: Claim, suites: Iterable[str] = ("full", *ALONE)) -> Iterator[Run]:
    """Every run that a claim asks for in some suites, on any machine: proof, cases, negative
    control."""
    if claim.proof is not None:
        yield Run(claim, None)
    cases = (case for suite in suites for case in claim.cases(suite))
    yield from (Run(claim, case, seed) for case in cases for seed in range(claim.seeds))
    yield control_run(claim)


def wanted(claims: Mapping[str, Claim]) -> frozenset[str]:
    """The ids of every run that some suite asks for, on any machine: also those that cannot be
    measured here."""
    return frozenset(run.id for claim in claims.values() for run in runs_of(claim))


def largest_recorded_suite(claim: Claim, store: Store) -> str:
    """The last suite of which a case of its own is recorded, else the first in which the claim has
    cases."""
    known = [suite for suite in SUITES if claim.cases(suite)]

    def some(suite: str) -> bool:
        cases, seeds = claim.grid.get(suite, ()), range(claim.seeds)
        return any(Run(claim, case, seed).id in store for case in cases for seed in seeds)

    return next(filter(some, reversed(known)), known[0])


def from_reference(claim: Claim) -> tuple[Store, bool] | None:
    """The ledger that comes with depthlaw, where it holds runs of this claim, and whether today's
    code would do the same runs again.

    Where only older code did them, their values stand for today's runs of the same cases: they are
    judged by today's statement.
    """
    try:
        known = shipped()
    except StoreError:
        return None
    runs = list(runs_of(claim))
    if known is None or any(run.id in known for run in runs):
        return None if known is None else (known, True)
    recorded = by_run(record for record in known if record.inputs["claim"] == claim.key)
    keys = {r.id: (claim.key, canonical(r.inputs["case"]), r.seed, r.control) for r in runs}
    held = {run: recorded[key] for run, key in keys.items() if key in recorded}
    return (_Relabelled(known, held), False) if held else None


class _Relabelled(Ledger):
    """A ledger's records under the ids of other runs."""

    def __init__(self, known: Ledger, held: Mapping[str, Record]) -> None:
        self.root, self.header, self.read_only, self.set_aside = known.root, known.header, True, []
        self._records = dict(held)
