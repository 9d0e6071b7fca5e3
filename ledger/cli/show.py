"""`depthlaw show` and `depthlaw why`: one claim with the evidence recorded so far, and what its
verdict rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthlaw.advisor.base.quantities import UsageError, plural, quoted
from depthlaw.theory.claims.definition import DEVICE_OF, Claim, find
from depthlaw.theory.claims.symbols import plain

from ..records.store import Store, open_store
from ..running.index import claims_index, described, unknown
from ..running.user_claims import all_claims
from ..verdicts.display import judged, statement_latex
from ..verdicts.judged_ledger import Recorded
from ..verdicts.record_source import from_reference, largest_recorded_suite
from ..verdicts.report import ClaimResult, as_json, results
from . import lists, terminal
from .output import dump, notes, report_set_aside, say, stdout

__all__ = ["show", "why"]


@dataclass(frozen=True)
class _Evidence:
    """A claim judged on the records of one place.

    Attributes:
        judged: judges another claim on the same records, such as a premise.
        said: what a reader must know of the place beforehand, or "".
        hint: how to record it here.
    """

    result: ClaimResult
    judged: Callable[[str], ClaimResult | None]
    store: Store
    said: str
    hint: str


def show(key: str, folder: Path | None, json_output: bool, own: Path | None = None) -> int:
    """Show one claim, or list those of a topic: from the user's records, else from the ledger that
    comes with depthlaw."""
    everything = None if own is None else all_claims(own)
    if of_topic := _of_topic(key, everything):
        rows = (
            claims_index()[k] if everything is None else described(everything[k]) for k in of_topic
        )
        return lists.listed(rows, json_output)
    found = _evidence(_found(key, everything), folder, everything)
    result, claim = found.result, found.result.claim
    if found.said:
        say(notes(), found.said)
    report_set_aside(found.store)
    known = claims_index() | {
        k: described(c) for k, c in (everything or {}).items() if k not in claims_index()
    }
    if json_output:
        dump(
            as_json(result)
            | {"supported_by": [row["key"] for row in terminal.supporting(claim.key, known)]}
            | {
                "statement": plain(claim.statement),
                "latex": statement_latex(claim),
                "judged": judged(claim),
                "text": claim.text,
                "assumes": list(claim.assumes),
                "note": claim.note,
            }
        )
        return 0
    terminal.show(stdout(), result, result.suite, known)
    if not result.records:
        say(notes(), found.hint)
    return 0


def why(
    key: str,
    folder: Path | None,
    json_output: bool,
    own: Path | None = None,
    *,
    whole: bool = False,
) -> int:
    """Print what the verdict on a claim rests on, down to records, proofs and sources; `whole`:
    every case, step and record."""
    everything = None if own is None else all_claims(own)
    found = _evidence(_found(key, everything), folder, everything)
    if found.said:
        say(notes(), found.said)
    report_set_aside(found.store)
    from ..verdicts.evidence_tree import as_json as tree_as_json
    from ..verdicts.evidence_tree import grounds

    root = found.store.root
    tree = grounds(found.result, found.judged, root if root.is_dir() else None)
    if json_output:
        dump({"records_in": str(root), "suite": found.result.suite} | tree_as_json(tree))
        return 0
    terminal.grounds(stdout(), tree, whole=whole)
    place = " --results reference" if root.is_file() else f" --results {folder}" if folder else ""
    rest = "" if whole else f"\n`depthlaw why {found.result.claim.key} --all`: every case and step"
    if found.result.records:
        terminal.hint(stdout(), f"`depthlaw records show ID{place}`: a record whole{rest}")
    else:
        say(notes(), found.hint)
    return 0


def _evidence(
    claim: Claim, folder: Path | None, everything: Mapping[str, Claim] | None
) -> _Evidence:
    """A claim judged on the user's records, else on those that come with depthlaw."""
    store: Store = open_store(folder, lazy=True)
    key, said, here = claim.key, "", store.root
    result = _judged(claim, store, everything)
    if result is None and (known := from_reference(claim)):
        store, today = known
        result = _judged(claim, store, everything)
        said = "; this is the reference ledger that comes with depthlaw" + (
            "" if today else ", measured by an older version of the code"
        )
    if result is None:
        result = results({key: claim}, largest_recorded_suite(claim, store), store)[0]
    needs = "" if claim.measurable else f" (needs the extra: pip install 'depthlaw[{claim.needs}]')"
    device = f" --device {DEVICE_OF[result.suite]}" if result.suite in DEVICE_OF else ""
    verify = f"`depthlaw verify {result.suite} --only {key}{device}`"
    nothing = f"nothing is recorded for {key} in {here} yet"
    return _Evidence(
        result,
        lambda other: _judged(_known(other, everything), store, everything),
        store,
        said and f"{nothing}{said}; {verify} measures here{needs}",
        f"{nothing}; run {verify}{needs}",
    )


def _judged(
    claim: Claim, store: Store, everything: Mapping[str, Claim] | None
) -> ClaimResult | None:
    """The claim as `verify` judges it; None where nothing is recorded."""
    alone = Recorded({claim.key: claim} if everything is None else everything, store)
    found = alone.judged(claim.key)
    if found is None:
        found = next((result for _, result in alone.elsewhere(claim.key)), None)
    return found


def _known(key: str, everything: Mapping[str, Claim] | None) -> Claim:
    return find(key) if everything is None else everything[key]


def _found(key: str, everything: Mapping[str, Claim] | None) -> Claim:
    """The claim of a key.

    Raises:
        UsageError: for a topic, and for what is no key, with the nearest one.
    """
    if of_topic := _of_topic(key, everything):
        raise UsageError(
            f"{quoted(key)} is a topic of {plural(len(of_topic), 'claim')}; "
            f"`depthlaw show {key}` lists them; give one, such as {of_topic[0]}"
        )
    try:
        return _known(key, everything)
    except KeyError:
        raise UsageError(
            unknown(key, claims_index() if everything is None else everything)
        ) from None


def _of_topic(key: str, everything: Mapping[str, Claim] | None) -> list[str]:
    """The keys of a topic; none where there is no topic of that name."""
    return [
        k
        for k in (claims_index() if everything is None else everything)
        if k.startswith(f"{key.rstrip('/')}/")
    ]
