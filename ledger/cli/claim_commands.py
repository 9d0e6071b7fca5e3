"""`depthlaw claims` and `depthlaw cite`, answered from the index, without importing a claim;
`depthlaw show` and `depthlaw why`: one claim with the evidence recorded so far, and what its
verdict rests on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..functions.cite import cite as cited
from ..functions.show import ClaimCard, claim_of, known_claims, of_topic
from ..records.store import Store, open_store
from ..running.claims_index import claims_index, mentioning, unknown
from ..verdicts.citations import entries, sources
from ..verdicts.claim_set import claim_set, listing, plain_verdict
from ..verdicts.shipped_answers import ShippedAnswer, shipped_answer
from . import terminal
from .plain import axes_of, dump, note, report_set_aside, say, stdout
from .tables import CHANGED, claims_table, print_table

# SymPy is loaded where no shipped answer does.
if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

    from ..verdicts.record_source import RecordSource


def claims(words: list[str] | None, json_output: bool, *, everything: bool = False) -> None:
    """List the cited claims that mention all words, and what a source of that name is known for;
    `everything`: those that support them, too."""
    text = " ".join(words or ())
    matching, rows = mentioning(words or ())
    rows = matching if everything else rows
    listed(rows, json_output, at=bool(words))
    if not any(row["tier"] == "cited" for row in rows):
        note(
            f"no cited claim mentions {quoted(text)}; "
            f"{'this one supports' if len(rows) == 1 else 'these support'} one"
        )
    elif left := len(matching) - len(rows):
        more = shlex.join(["depthlaw", "claims", *(words or ()), "--all"])
        rest = "supports" if left == 1 else "support"
        cited = sum(row["tier"] == "cited" for row in rows)
        shown = plural(cited, "cited claim")
        shown += f" and {len(rows) - cited} that support them" if cited < len(rows) else ""
        note(f"{shown}; {left} more {rest} these or others: `{more}`")
    _note_unchecked(text.lower().split())


def _note_unchecked(words: Sequence[str]) -> None:
    """Name the published bounds of the atlas, by source and task, that no claim checks."""
    from depthlaw.advisor.atlas import bounds

    found = [
        bound
        for bound in bounds()
        if words
        and not (bound.claim or bound.superseded)
        and all(word in f"{bound.source} {bound.task}".lower() for word in words)
    ]
    for task in dict.fromkeys(bound.task for bound in found):
        of_task = [bound for bound in found if bound.task == task]
        depths = ", ".join(dict.fromkeys(f"{b.end} {b.depth} ({b.source})" for b in of_task))
        note(
            f"published bounds that no claim checks: {task}: {depths}; `depthlaw tasks list {task}`"
        )


def listed(rows: Iterable[Mapping[str, str]], json_output: bool, *, at: bool = True) -> None:
    """Print a list of claims, the cited ones first, each followed by what supports it, with the
    verdicts of the newest claim set, where they are in it; `at`: and with what --at takes."""
    # A test holds them to the shipped ledger.
    rows = list(rows)
    listed_rows = listing(rows)
    if json_output:
        return dump(listed_rows)
    verdicts = {row["key"]: row["outcome"] for row in listed_rows}
    console = stdout()
    # What comes with depthlaw is ours where nobody is named; a claim of a user's file is not.
    rows = [
        row
        if row["key"] in claims_index()
        else {**row, "title": f"{row['title']} ({row['bibliography']})"}
        for row in rows
    ]
    table = claims_table(_by_tier(rows, indented=console.is_terminal), verdicts, at=at)
    print_table(console, table)
    if any(str(cell).endswith("*") for cell in table.columns[1].cells):
        console.print(CHANGED, style="dim", soft_wrap=not console.is_terminal)


def _by_tier(rows: Sequence[Mapping[str, str]], *, indented: bool) -> list[Mapping[str, str]]:
    """Each cited claim followed by what supports it; then what supports others. `indented`: what
    stands below its cited claim is indented in place of saying so."""
    cited = [row for row in rows if row["tier"] == "cited"]
    keys = {row["key"] for row in cited}

    def supporting(row: Mapping[str, str]) -> Mapping[str, str]:
        if indented and row["supports"] in keys:
            return {**row, "key": f"  {row['key']}"}
        return {**row, "title": f"{row['title']} (supports {row['supports']})"}

    ordered = [
        supporter
        for row in cited
        for supporter in (
            row,
            *(supporting(supporter) for supporter in rows if supporter["supports"] == row["key"]),
        )
    ]
    return ordered + [
        supporting(row)
        for row in rows
        if row["tier"] == "supporting" and row["supports"] not in keys
    ]


def cite(keys: list[str], json_output: bool) -> None:
    """Print the BibTeX entries behind claims or bibliography keys."""
    found = cited(*keys)
    if json_output:
        dump(found.to_json())
    else:
        print(found)


# --- one claim ------------------------------------------------------------------------------------


def show(
    key: str,
    folder: Path | None,
    json_output: bool,
    own: Path | None = None,
    at: list[str] | None = None,
    values: list[str] | None = None,
    *,
    whole: bool = False,
) -> None:
    """Show one claim, or list those of a topic or of a source: from the user's records, else from
    the ledger that comes with depthlaw.

    Args:
        at, values: print the statement at these values instead.
        whole: with all evidence.
    """
    if at:
        everything = _everything(own)
        claim = claim_of(key, everything)
        verdict = _verdict(claim, folder, everything)
        return _stated_at(claim, verdict, [*at, *(values or ())], own, json_output)
    if values:
        raise UsageError(f"one claim at a time, {quoted(values[0])} too many; values follow --at")
    if not json_output and (answer := _shipped(key, folder, own)):
        terminal.show(stdout(), answer.card, whole=whole)
        return _show_more(key, "", whole=whole)
    everything = _everything(own)
    known = known_claims(everything)
    if keys := of_topic(key, known) or _of_source(key, known):
        return listed([known[k] for k in keys], json_output)
    # Before SymPy is loaded, which an answer needs and a slip of the keys does not.
    if key not in known:
        raise UsageError(unknown(key, known))
    from ..verdicts.card import card

    place = _evidence(key, folder, everything)
    if json_output:
        return dump(ClaimCard(place, known).to_json())
    result = place.result
    terminal.show(stdout(), card(result, known), whole=whole)
    _show_more(key, _of_file(own) + _of_folder(folder), whole=whole)
    if not result.records:
        _hint(place)


def _stated_at(
    claim: Claim, verdict: str, typed: list[str], own: Path | None, json_output: bool
) -> None:
    """Print what a statement says at values, "name=value" or "name=value,value": a line for each
    combination. The verdict goes with it."""
    from depthlaw.theory.claims.evaluation import stated
    from depthlaw.theory.claims.printing import text as written
    from depthlaw.theory.claims.values import Case

    from ..verdicts.display import predicted, relation

    def shown(value: Any) -> str:
        """A fraction as a decimal, where it is one: if a decimal was typed, or it is shorter and no
        fraction was typed."""
        text, given = predicted(value), "".join(typed)
        with suppress(ValueError):
            exact = Fraction(text)
            decimal = f"{Decimal(exact.numerator) / exact.denominator:f}"
            shorter = "." in given or ("/" not in given and len(decimal) < len(text))
            return decimal if shorter and Fraction(decimal) == exact else text
        return text

    axes = axes_of(typed, "width=768 depth=6,12")
    rows = [(case, *stated(claim, case.fields())) for case in Case.grid(**axes)]
    if json_output:
        return dump(
            [
                dict[str, Any](case.fields())
                | {
                    "key": claim.key,
                    "at": case.fields(),
                    "relation": relation(claim),
                    "value": shown(value),
                    "exact": str(value),
                    "outside_condition": broken or None,
                    "verdict": plain_verdict(verdict),
                    "outcome": verdict,
                }
                for case, value, broken in rows
            ]
        )
    left = written(claim.statement.lhs)
    for case, value, broken in rows:
        outside = f"; outside its condition {broken}" if broken else ""
        say(f"{case}: {left} {relation(claim)} {shown(value)}{outside}")
    more = f"depthlaw show {claim.key}{_of_file(own)}"
    note(f"{claim.key}: {verdict or 'no verdict here'}; `{more}` says more")


def _verdict(claim: Claim, folder: Path | None, everything: Mapping[str, Claim] | None) -> str:
    """That of the newest claim set; of a claim of the user's own, that of his records."""
    if not claim.own:
        released = claim_set().claims
        return released[claim.key].verdict if claim.key in released else ""
    from ..verdicts.record_source import evidence
    from ..verdicts.suite_verdicts import marked

    result = evidence(claim, folder, everything).result
    return marked(result) if result.measured else ""


def why(
    key: str,
    folder: Path | None,
    json_output: bool,
    own: Path | None = None,
    *,
    whole: bool = False,
) -> None:
    """Print what the verdict on a claim rests on, down to records, proofs and sources; `whole`:
    every case, step and record."""
    if not json_output and (answer := _shipped(key, folder, own)):
        terminal.grounds(stdout(), answer.tree, whole=whole)
        return _go_on(key, " --results reference", "", whole=whole)
    place = _evidence(key, folder, _everything(own))
    root = place.store.root
    if json_output:
        return dump(ClaimCard(place, {}).why())
    from ..verdicts.evidence_tree import grounds

    tree = grounds(place.result, place.judged, root if root.is_dir() else None)
    terminal.grounds(stdout(), tree, whole=whole)
    named = " --results reference" if root.is_file() else ""
    named = named or _of_folder(folder)
    if place.result.records:
        _go_on(key, named, _of_file(own) + _of_folder(folder), whole=whole)
    else:
        _hint(place)


def _shipped(key: str, folder: Path | None, own: Path | None) -> ShippedAnswer | None:
    """The answer that comes with depthlaw, where nothing else is asked for and no record here says
    another; what is answered from is said."""
    if own is not None or key not in claims_index():
        return None
    store = open_store(folder, lazy=True)
    answer = shipped_answer(key, store.root)
    if answer is not None:
        said = f"{answer.said}; run {answer.verify} to measure it here"
        _nothing_recorded(key, store, said, answer.needs)
    return answer


def _evidence(
    key: str, folder: Path | None, everything: Mapping[str, Claim] | None
) -> RecordSource:
    """A claim with its evidence; whose it is is said."""
    claim = claim_of(key, everything)
    from ..verdicts.record_source import evidence

    place = evidence(claim, folder, everything)
    if place.said:
        said = f"{place.said}; run {place.verify} to measure it here"
        _nothing_recorded(key, open_store(folder, lazy=True), said, place.result.claim.needs)
    report_set_aside(place.store)
    return place


def _hint(place: RecordSource) -> None:
    claim = place.result.claim
    _nothing_recorded(claim.key, place.store, f"run {place.verify}", claim.needs)


def _nothing_recorded(key: str, store: Store, what: str, extra: str) -> None:
    """Say so, and what is done about it; and how to install the extra that it needs, where that is
    not installed."""
    text = f"no record of {key} in {store.root} yet; {what}"
    if extra and not find_spec("transformers" if extra == "hf" else "torch"):
        from ..records.environment import installing

        text += f" (needs the extra: {installing(extra)})"
    note(text)


def _show_more(key: str, more: str, *, whole: bool) -> None:
    """Name the commands that say more than `show` did."""
    rest = "" if whole else f"`depthlaw show {key} --all{more}`: every case, steps, notes\n"
    terminal.hint(stdout(), f"{rest}`depthlaw why {key}{more}`: what the verdict rests on")


def _go_on(key: str, place: str, more: str, *, whole: bool) -> None:
    rest = "" if whole else f"\n`depthlaw why {key} --all{more}`: every case and step"
    terminal.hint(stdout(), f"`depthlaw records show ID{place}`: one record in full{rest}")


def _of_file(own: Path | None) -> str:
    """The option that names a file of claims again."""
    return f" --claims {shlex.quote(str(own))}" if own else ""


def _of_folder(folder: Path | None) -> str:
    """The option that names a results folder again."""
    return f" --results {shlex.quote(str(folder))}" if folder else ""


def _everything(own: Path | None) -> Mapping[str, Claim] | None:
    """Every claim, where a file of the user's adds some."""
    if own is None:
        return None
    from ..running.user_claims import all_claims

    return all_claims(own)


def _of_source(key: str, known: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The keys of the claims whose source is, or names, an entry of the bibliography."""
    if key not in entries():
        return []
    return [k for k, row in known.items() if key in sources(row["source"])]
