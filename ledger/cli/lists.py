"""`depthlaw claims` and `depthlaw cite`: answered from the index, without importing a claim."""
from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from depthlaw.advisor.base.quantities import UsageError, quoted

from ..running.index import claims_index, unknown
from ..verdicts.citations import bibtex_for
from ..verdicts.claim_set import claim_set


def claims(filter_text: str, json_output: bool) -> int:
    """List the claims whose key, title, text, source, wording or kind contains a text."""
    wanted = filter_text.lower()
    fields = ("key", "title", "text", "source", "wording", "kind")
    found = [row for row in claims_index().values()
             if wanted in " ".join(row[field] for field in fields).lower()]
    if not found:
        hint = unknown(filter_text, claims_index()).partition("; ")[2]
        raise UsageError(f"no claim mentions {quoted(filter_text)}; {hint}")
    return listed(found, json_output)


def listed(rows: Iterable[Mapping[str, str]], json_output: bool) -> int:
    """Print a list of claims, with the verdicts of the newest claim set, where they are in it."""
    # A test holds them to the shipped ledger.
    rows, released = list(rows), claim_set().claims
    verdicts = {row["key"]: released[row["key"]].verdict if row["key"] in released else ""
                for row in rows}
    if json_output:
        shown = ("key", "title", "wording", "kind", "holds_for", "source", "statement", "post_hoc")
        _dump([{field: row[field] for field in shown} | {"verdict": verdicts[row["key"]]}
               for row in rows])
        return 0
    from rich.console import Console

    from .tables import CHANGED, claims_table, print_table

    console = Console(highlight=False)
    table = claims_table(rows, verdicts)
    print_table(console, table)
    if any(str(cell).endswith("*") for cell in table.columns[1].cells):
        console.print(CHANGED, style="dim", soft_wrap=not console.is_terminal)
    return 0


def cite(keys: list[str], json_output: bool) -> int:
    """Print the BibTeX entries behind claims or bibliography keys."""
    try:
        entries = bibtex_for(keys)
    except KeyError as unknown_key:
        raise UsageError(unknown_key.args[0]) from None
    if json_output:
        _dump(entries)
    else:
        print("\n\n".join(entries.values()))
    return 0


def _dump(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
