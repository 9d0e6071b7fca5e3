"""`depthlaw show`: one claim with the evidence recorded so far."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from depthlaw.theory.claim import Claim, find
from depthlaw.theory.symbols import latex, plain

from ..run.index import claims_index, select
from ..run.own_claims import all_claims, with_premises
from ..run.records import open_store
from ..verdicts.report import as_json, results
from ..verdicts.shown import from_reference, largest_recorded_suite, runs_of
from . import terminal
from .output import dump, notes, report_set_aside, say, stdout


def show(key: str, folder: Path | None, json_output: bool, own: Path | None = None) -> int:
    """Show one claim: from the user's records, else from the ledger that comes with depthlaw."""
    everything = {} if own is None else all_claims(own)
    claim = _found(key, everything) if own is not None else _found(key)
    key = claim.key
    store = open_store(folder, lazy=True)
    suite = largest_recorded_suite(claim, store)
    needs = "" if claim.measurable else f" (needs the extra: pip install 'depthlaw[{claim.needs}]')"
    if not any(run.id in store
               for run in runs_of(claim, [suite])) and (known := from_reference(claim)):
        where, (store, today) = store.root, known
        suite = largest_recorded_suite(claim, store)
        age = "" if today else ", measured by an older version of the code"
        say(notes(), f"nothing is recorded for {key} in {where} yet; this is the reference ledger "
                     "that comes with "
                     f"depthlaw{age}; `depthlaw verify {suite} --only {key}` measures here{needs}")
    chosen = {key: claim} if own is None else with_premises({key: claim}, everything)
    result = results(chosen, suite, store)[0]
    report_set_aside(store)
    if json_output:
        dump(as_json(result)
             | {"statement": plain(claim.statement), "latex": latex(claim.statement),
                "text": claim.text, "assumes": list(claim.assumes), "note": claim.note})
        return 0
    terminal.show(stdout(), result, suite)
    if not result.records:
        say(notes(), f"nothing is recorded for {claim.key} in {store.root} yet; "
                     f"run `depthlaw verify {suite} --only {key}`{needs}")
    return 0


def _found(key: str, known: Mapping[str, Claim] | None = None) -> Claim:
    """The claim of a key; what is no key gets the hint of `select`."""
    try:
        return find(key) if known is None else known[key]
    except KeyError:
        (first, *_) = select([key], claims_index() if known is None else known)
        return find(first)
