"""Which records `depthlaw show` speaks of: the user's own, else those of the ledger that comes with
depthlaw.

Here a claim's runs are counted whether or not they can be measured on this machine: what needs
PyTorch is recorded elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from depthlaw.theory.claims.definition import ALONE, SUITES, Claim

from ..records.run import Run, control_run
from ..records.store import Record, Store, StoreError, canonical
from .reference import Ledger, by_run, shipped

__all__ = ["from_reference", "largest_recorded_suite", "runs_of", "wanted"]


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
