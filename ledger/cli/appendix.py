"""`depthlaw appendix`: write the appendix of a suite from its records."""
from __future__ import annotations

from pathlib import Path

from depthlaw.advisor.quantities import UsageError
from depthlaw.theory.claim import registry

from ..publish.appendix import AppendixError, write_appendix
from ..run.plan import plan
from ..run.records import manifest, open_store
from ..suite import check_suite
from ..verdicts.reference import Ledger, shipped
from ..verdicts.report import results
from .output import dump, notes, report_set_aside, say, stdout


def appendix(directory: Path, suite: str, folder: Path | None, json_output: bool, *,
             from_reference: bool = False) -> int:
    """Write the appendix of a suite from its records, or from the ledger that comes with
    depthlaw."""
    claims, suite = registry(), check_suite(suite)
    store = _reference() if from_reference else open_store(folder, read_only=True)
    report_set_aside(store)
    if from_reference:
        say(notes(), "from the reference ledger that comes with depthlaw, not from records of this "
                     "machine")
    judged = results(claims, suite, store)
    missing = sum(c.measured is None for result in judged for c in result.in_scope)
    if missing:
        say(notes(), f"{missing} cases of suite {suite} have no record yet; "
                     f"`depthlaw verify {suite}` would measure those that can be")
    listed = manifest(r for run in plan(claims, suite) if (r := store.get(run.id)))
    try:
        written = write_appendix(directory, judged, suite, listed, store)
    except AppendixError as error:
        raise UsageError(str(error)) from None
    if json_output:
        dump({"written": [str(p) for p in written], "manifest": listed["hash"]})
    else:
        for path in written:
            say(stdout(), str(path))
    return 0


def _reference() -> Ledger:
    known = shipped()
    if known is None:
        raise UsageError("this installation holds no reference ledger; run `depthlaw verify quick` "
                         "and leave --reference out")
    return known
