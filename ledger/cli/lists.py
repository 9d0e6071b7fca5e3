"""`depthlaw claims` and `depthlaw cite`: answered from the index, without importing a claim."""
from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from depthlaw.advisor.quantities import UsageError

from ..run.index import claims_index, unknown
from ..verdicts.citations import bibtex_for


def claims(filter_text: str, json_output: bool) -> int:
    """List the claims whose key, title, text, source, wording or kind contains a text."""
    wanted = filter_text.lower()
    fields = ("key", "title", "text", "source", "wording", "kind")
    found = [row for row in claims_index().values()
             if wanted in " ".join(row[field] for field in fields).lower()]
    if not found:
        raise UsageError(f"no claim mentions that: {unknown(filter_text, claims_index())}")
    return listed(found, json_output)


def listed(rows: Iterable[Mapping[str, str]], json_output: bool) -> int:
    """Print a list of claims."""
    if json_output:
        shown = ("key", "title", "wording", "kind", "holds_for", "source", "statement")
        _dump([{field: row[field] for field in shown} for row in rows])
        return 0
    from rich.console import Console

    from .tables import claims_table, print_table

    print_table(Console(highlight=False), claims_table(rows))
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
