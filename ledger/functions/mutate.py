"""Perturb constants of statements; see which changes are noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from depthlaw.advisor.base.quantities import UsageError

from ..records.store import Store
from ..running.claims_index import select
from ..running.user_claims import all_claims
from ..suite import check_suite
from ..verdicts.mutation import Mutant, mutate as mutants_of, unexplained
from ..verdicts.reference_ledger import collection
from ..verdicts.suite_verdicts import ClaimResult, results as judged_on
from .report import Report, as_list, as_path


@dataclass(frozen=True, repr=False)
class Mutations(Report):
    """Each claim, as it was judged on the records of a store, with what became of its mutants."""

    mutants: tuple[tuple[ClaimResult, tuple[Mutant, ...]], ...]
    store: Store

    @property
    def alarms(self) -> int:
        """How many mutants of exact or argued claims survived without a known reason."""
        return sum(row["unexplained"] for row in self.to_json())

    def rows(self) -> list[dict[str, Any]]:
        """One for each mutant: claim, change, fate and reason."""
        return [
            {"key": result.claim.key, "change": m.change, "fate": m.fate, "reason": m.reason}
            for result, mutants in self.mutants
            for m in mutants
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """What `depthlaw mutate --json` prints: counts for each claim."""
        return [_counted(result, mutants) for result, mutants in self.mutants]

    def summary(self) -> str:
        """How many are noticed."""
        rows = self.to_json()
        mutants, turned = (sum(row[name] for row in rows) for name in ("mutants", "turned"))
        return f"{turned} of {mutants} mutants noticed"


def _counted(result: ClaimResult, mutants: tuple[Mutant, ...]) -> dict[str, Any]:
    fates = Counter(m.fate for m in mutants)
    return {
        "key": result.claim.key,
        "mutants": len(mutants),
        "turned": fates["data"] + fates["proof"],
        "by_data": fates["data"],
        "by_proof": fates["proof"],
        "turn_undecided": fates["undecided"],
        "forms": sum(m.form for m in mutants),
        "forms_turned": sum(m.form and m.turned for m in mutants),
        "unexplained": len(unexplained(result, mutants)),
        "survivors": [[m.change, m.reason] for m in mutants if m.fate == "survives"],
        "undecided": [[m.change, m.reason] for m in mutants if m.fate == "undecided"],
    }


def mutate(
    keys: str | Iterable[str] | None = None,
    suite: str = "theory",
    *,
    file: str | Path | None = None,
    results: str | Path | None = None,
) -> Mutations:
    """Perturb every constant of the statements, and their form, and see what notices: `depthlaw
    mutate`.

    Args:
        keys: of claims, or topics; by default those of `file`, else all.
        suite: whose records are judged again.
        file: a Python file with claims of one's own.
        results: folder of the records, a ledger file, or "reference".

    Raises:
        UsageError: for what is unknown, and where nothing is recorded.

    Cost: a second for each claim.

    >>> from tempfile import TemporaryDirectory
    >>> from depthlaw import verify
    >>> key = "separation_rank/degree"
    >>> with TemporaryDirectory() as folder:
    ...     _ = verify(only=key, results=folder)
    ...     found = mutate(key, "quick", results=folder)
    >>> found
    <Mutations: 5 of 5 mutants noticed>
    >>> found.alarms
    0
    """
    own = as_path(file)
    everything, store = all_claims(own), collection(as_path(results))
    named = as_list(keys)
    mine = [key for key, claim in everything.items() if claim.own]
    chosen = {key: everything[key] for key in select(named or mine, everything)}
    judged = judged_on(chosen, check_suite(suite), store)
    if not any(result.decided for result in judged):
        of = f" --claims {quote(str(own))}" if own else ""
        only = "".join(f" --only {key}" for key in named)
        raise UsageError(
            f"no record of suite {suite} in {store.root}; run `depthlaw verify "
            f"{suite}{of}{only}` first, or name your folder with --results"
        )
    return Mutations(tuple((result, tuple(mutants_of(result))) for result in judged), store)
