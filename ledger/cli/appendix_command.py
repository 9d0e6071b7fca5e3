"""`depthlaw appendix`: what a paper attaches, from the reference ledger or from records of one's
own."""

from __future__ import annotations

from pathlib import Path

from ..functions.appendix import appendix as written
from ..verdicts.reference_ledger import Ledger
from .plain import dump, note, notes, report_set_aside, report_unnamed, say
from .terminal import waiting


def appendix(
    directory: Path,
    named: str | None,
    topic: str | None,
    suite: str,
    folder: Path | None,
    json_output: bool,
    *,
    everything: bool,
) -> None:
    """Write the appendix: of the headlines, of the claims or the topic named (keys with commas
    between them, or a Python file of one's own), or of everything."""
    own = named if named and named.endswith(".py") else None
    with waiting(notes(), "reading claims and records", json_output) as doing:
        made = written(
            directory,
            None if own else named,
            topic=topic,
            everything=everything,
            suite=suite,
            file=own,
            results=folder,
            doing=doing,
        )
    report_set_aside(made.store)
    report_unnamed(made.claims)
    if json_output:
        dump(made.to_json())
    else:
        for path in made.written:
            say(str(path))
        reference = "the reference ledger that comes with depthlaw"
        note(f"records of {reference if isinstance(made.store, Ledger) else made.store.root}")
