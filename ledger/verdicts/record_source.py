"""Which records `depthlaw show` speaks of: the user's own, else those of the ledger that comes with
depthlaw.

Here a claim's runs are counted whether or not they can be measured on this machine: what needs
PyTorch is recorded elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthlaw.theory.claims.definition import ALONE, DEVICE_OF, SUITES, Claim, find

from ..records.run import Run, control_run
from ..records.store import Record, Store, StoreError, canonical, open_store
from .judged_ledger import Recorded
from .reference_ledger import Ledger, by_run, shipped
from .suite_verdicts import ClaimResult, results


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
    claim: Claim,
    folder: Path | None,
    everything: Mapping[str, Claim] | None = None,
    reference: Callable[[], Ledger | None] = shipped,
) -> RecordSource:
    """A claim judged on the user's records, else on those that come with depthlaw.

    Args:
        folder: of the user's records; by default depthlaw's among the user's data.
        everything: every claim, where a file of the user's adds some.
        reference: reads the ledger that comes with depthlaw.
    """
    store, said = open_store(folder, lazy=True), ""
    result = _judged(claim, store, everything)
    if result is None and (known := from_reference(claim, reference)):
        store, today = known
        result = _judged(claim, store, everything)
        said = "this is the reference ledger that comes with depthlaw" + (
            "" if today else ", measured by an older version of the code"
        )
    if result is None:
        result = results({claim.key: claim}, largest_recorded_suite(claim, store), store)[0]
    device = f" --device {DEVICE_OF[result.suite]}" if result.suite in DEVICE_OF else ""
    return RecordSource(
        result,
        lambda key: _judged(
            find(key) if everything is None else everything[key], store, everything
        ),
        store,
        said,
        f"`depthlaw verify {result.suite} --only {claim.key}{device}`",
    )


def _judged(
    claim: Claim, store: Store, everything: Mapping[str, Claim] | None
) -> ClaimResult | None:
    """The claim as `verify` judges it; None where nothing is recorded."""
    alone = Recorded({claim.key: claim} if everything is None else everything, store)
    return alone.judged(claim.key) or next(
        (result for _, result in alone.elsewhere(claim.key)), None
    )


def runs_of(claim: Claim, suites: Iterable[str] = ("full", *ALONE)) -> Iterator[Run]:
    """Every run that a claim asks for in some suites, on any machine: proof, cases, negative
    control."""
    if claim.proof is not None:
        yield Run(claim, None)
    for suite in suites:
        yield from (
            Run(claim, case, seed) for case in claim.cases(suite) for seed in range(claim.seeds)
        )
    yield control_run(claim)


def wanted(claims: Mapping[str, Claim]) -> frozenset[str]:
    """The ids of every run that some suite asks for, on any machine: also those that cannot be
    measured here."""
    return frozenset(run.id for claim in claims.values() for run in runs_of(claim))


def largest_recorded_suite(claim: Claim, store: Store) -> str:
    """The last suite of which a case of its own is recorded, else the first in which the claim has
    cases."""
    known = [suite for suite in SUITES if claim.cases(suite)]
    done = [
        suite
        for suite in known
        if any(
            Run(claim, case, seed).id in store
            for case in claim.grid.get(suite, ())
            for seed in range(claim.seeds)
        )
    ]
    return (done or known)[-1 if done else 0]


def from_reference(
    claim: Claim, reference: Callable[[], Ledger | None] = shipped
) -> tuple[Store, bool] | None:
    """The ledger that comes with depthlaw, where it holds runs of this claim, and whether today's
    code would do the same runs again.

    Where only older code did them, their values stand for today's runs of the same cases: they are
    judged by today's statement.
    """
    try:
        known = reference()
    except StoreError:
        return None
    runs = list(runs_of(claim))
    if known is None or any(run.id in known for run in runs):
        return None if known is None else (known, True)
    recorded = by_run(record for record in known if record.inputs["claim"] == claim.key)
    held = {
        run.id: recorded[key]
        for run in runs
        if (key := (claim.key, canonical(run.inputs["case"]), run.seed, run.control)) in recorded
    }
    return (_Relabelled(known, held), False) if held else None


class _Relabelled(Ledger):
    """A ledger's records under the ids of other runs."""

    def __init__(self, known: Ledger, held: Mapping[str, Record]) -> None:
        self.root, self.header, self.read_only, self.set_aside = known.root, known.header, True, []
        self._records = dict(held)
