"""`depthlaw tasks`: the atlas of least depth as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from depthlaw.advisor.atlas import GAPS, NONE, Atlas, AtlasBound, AtlasRow, atlas, formula

from ..functions.tasks import tasks as known_tasks
from .output import dump, heading, note, say, stdout, tell
from .tables import plain_table, print_table

# Columns that a cell of a table may shrink to; all formulas fit.
_LEAST = 22


def list_tasks(
    task: str | None, known_by: int | None, tables: Path | None, json_output: bool
) -> int:
    """The table, or with a task its rows with sources."""
    table_of = known_tasks(task, known_by=known_by, tables=tables)
    if json_output:
        dump(table_of.to_json())
        return 0
    known, rows = atlas(tables), table_of.known
    if task is None:
        _overview(known, rows)
        return 0
    tell(f"{known.tasks[task].name}: {known.tasks[task].definition}")
    table = plain_table(2)
    for heading_ in ("class", "needed", "suffices", "gap", "checked"):
        table.add_column(heading_, no_wrap=heading_ in ("class", "gap"), min_width=_LEAST)
    for row in rows:
        cells = (row.class_.key, formula(row.needed), formula(row.suffices), row.gap, row.checked)
        table.add_row(*cells)
    print_table(stdout(), table)
    for word in dict.fromkeys(row.gap for row in rows):
        note(f"{word}: {GAPS[word]}")
    for row in rows:
        say("")
        tell(f"{row.class_.key}: {row.class_.definition} Counted: {row.class_.unit}.")
        for end in filter(None, (row.lower, row.upper)):
            tell(bound_line(end), "  ")
        for quote in dict.fromkeys(end.quote for end in (row.lower, row.upper) if end):
            if quote:
                tell(f"“{quote}”", "  ")
    return 0


def _overview(known: Atlas, rows: Sequence[AtlasRow]) -> None:
    """What each task is, and its rows in a line each; piped, these begin with the task."""
    piped, subject = not stdout().is_terminal, ""
    for task in known.tasks.values():
        if not (own := [row for row in rows if row.task == task]):
            continue
        if task.subject != subject:
            heading(f"\n{task.subject}" if subject else task.subject)
            subject = task.subject
        tell(f"{task.key}: {task.definition}")
        for row in own:
            says = f"{row.class_.key}: {row.summary}; {row.checked}"
            tell(says, f"{task.key}, " if piped else "  ")
    note(
        "Letters are those of the task or the class: `depthlaw tasks list TASK` defines both, and "
        "says who found each bound"
    )


def bound_line(end: AtlasBound) -> str:
    """A bound in a line."""
    who = "ours" if end.ours else end.source
    says = "no depth suffices" if end.depth == NONE else f"{end.end} bound {formula(end.depth)}"
    rest = f"; {end.note}" if end.note else ""
    check = f"claim {end.claim}: {end.verdict}" if end.claim else end.verdict
    if end.reasons:
        check += f": {end.reasons}"
    elif not end.claim:
        check += ", not checked here"
    if not end.ours and not end.quote:
        check += "; no sentence quoted"
    return f"{says}: {who}, {end.year}, {end.place} ({end.mark}); {check}{rest}"
