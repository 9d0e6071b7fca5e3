"""`depthlaw claims` and `depthlaw cite`: answered from the index, without importing a claim."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..running.claims_index import claims_index, unknown
from ..verdicts.citations import bibtex_for
from ..verdicts.claim_set import claim_set
from .output import dump, note, stdout


def claims(text: str, json_output: bool, *, everything: bool = False) -> int:
    """List the cited claims that mention a text in what is printed of them, in words, source,
    wording or kind; `everything`: those that support them, too."""
    wanted = text.lower()
    fields = ("key", "title", "text", "source", "wording", "kind", "cited", "supports")
    matching = [
        row
        for row in claims_index().values()
        if wanted in " ".join(row[field] for field in fields).lower()
    ]
    if not matching:
        hint = unknown(text, claims_index()).partition("; ")[2]
        raise UsageError(f"no claim mentions {quoted(text)}; {hint}")
    rows = matching if everything else [row for row in matching if row["tier"] == "cited"]
    # Where no cited claim mentions it, what others say is the answer.
    listed(rows or matching, json_output)
    if not rows:
        note(
            f"no cited claim mentions {quoted(text)}; "
            f"{'this one supports' if len(matching) == 1 else 'these support'} one"
        )
    elif left := len(matching) - len(rows):
        more = shlex.join(["depthlaw", "claims", *([text] if text else []), "--all"])
        rest = "supports" if left == 1 else "support"
        note(f"{plural(len(rows), 'cited claim')}; {left} more {rest} these or others: `{more}`")
    return 0


def listed(rows: Iterable[Mapping[str, str]], json_output: bool) -> int:
    """Print a list of claims, the cited ones first, each followed by what supports it, with the
    verdicts of the newest claim set, where they are in it."""
    # A test holds them to the shipped ledger.
    rows, released = list(rows), claim_set().claims
    verdicts = {
        row["key"]: released[row["key"]].verdict if row["key"] in released else "" for row in rows
    }
    if json_output:
        fields = "key title wording kind holds_for source statement post_hoc tier cited supports"
        dump(
            [
                {field: row[field] for field in fields.split()} | {"verdict": verdicts[row["key"]]}
                for row in rows
            ]
        )
        return 0
    from .terminal import CHANGED, claims_table, print_table

    console = stdout()
    table = claims_table(_by_tier(rows, indented=console.is_terminal), verdicts)
    print_table(console, table)
    if any(str(cell).endswith("*") for cell in table.columns[1].cells):
        console.print(CHANGED, style="dim", soft_wrap=not console.is_terminal)
    return 0


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


def cite(keys: list[str], json_output: bool) -> int:
    """Print the BibTeX entries behind claims or bibliography keys."""
    try:
        entries = bibtex_for(keys)
    except KeyError as unknown_key:
        raise UsageError(unknown_key.args[0]) from None
    if json_output:
        dump(entries)
    else:
        print("\n\n".join(entries.values()))
    return 0
