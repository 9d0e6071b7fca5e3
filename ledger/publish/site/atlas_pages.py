"""The pages of the atlas of least depth: the table with its open gaps, and one page for each task
with every bound in order of time and the words of its source."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from depthlaw.advisor.atlas import (
    GAPS,
    NONE,
    AtlasBound,
    AtlasRow,
    atlas_rows,
    bounds,
    classes,
    formula,
    tasks,
)

from ...verdicts.suite_verdicts import ClaimResult, marked
from ..appendix.typesetting import cite, md, pipe_table, prose, template, verdict
from .page_blocks import compact

Judged = Callable[[str], ClaimResult | None]


def pages(judged: Judged, folder: Path) -> dict[Path, str]:
    """Every page by its path.

    Args:
        judged: the verdict on a claim by its key; None where nothing is recorded.
        folder: where they go.
    """
    return {
        folder / "index.md": _index(judged),
        **{folder / f"{key}.md": _task(key, judged) for key in tasks()},
    }


def _index(judged: Judged) -> str:
    rows = list(atlas_rows())
    return template("atlas.md", __package__).render(
        rows=rows,
        tasks=tasks(),
        classes=classes().values(),
        checked=sum(any(end and end.claim for end in (row.lower, row.upper)) for row in rows),
        open=[row for row in rows if row.gap == "open"],
        gaps=GAPS,
        table=partial(_table, judged=judged),
    )


def _table(rows: list[AtlasRow], judged: Judged) -> str:
    cells = (
        (
            f"[{md(row.task.name)}]({row.task.key}.md)",
            md(row.class_.name),
            *(_depth(row.needed), _depth(row.suffices), row.gap),
            *(_check(end, judged) for end in (row.lower, row.upper)),
        )
        for row in rows
    )
    heading = "task | class | needed | suffices | gap | checked below | checked above"
    return compact(pipe_table(heading, cells))


def _task(key: str, judged: Judged) -> str:
    task = tasks()[key]
    parts = [f"# {md(task.name)}", prose(task.definition)]
    for row in atlas_rows(key):
        own = [b for b in bounds() if (b.task, b.class_) == (key, row.class_.key)]
        parts += [
            f"## {md(row.class_.name)}",
            f"{prose(row.class_.definition)} Depth counts {md(row.class_.unit)}.",
            pipe_table(
                "year | bound | depth | who, and where | checked here",
                ((str(b.year), *_bound(b, judged)) for b in sorted(own, key=lambda b: b.year)),
            ),
            *dict.fromkeys(
                f"> “{md(b.quote)}” ({cite(b.source)}, {md(b.place)})" for b in own if b.quote
            ),
        ]
        known = f"needed: {_depth(row.needed)}; suffices: {_depth(row.suffices)}"
        parts.append(
            f"*Open* ({known}; a dash: no bound is known to us)."
            if row.gap == "open"
            else f"*{row.gap.capitalize()}*: {GAPS[row.gap]}."
        )
    if any(b.task == key and not b.ours for b in bounds()):
        parts.append(
            "Quotations are the words of the source, formulas in plain text. Of a published bound "
            "without one no sentence is quoted here."
        )
    return "\n\n".join(parts) + "\n"


def _bound(bound: AtlasBound, judged: Judged) -> tuple[str, str, str, str]:
    gone = f" (until {bound.superseded})" if bound.superseded else ""
    who = "ours" if bound.ours else cite(bound.source)
    what = "; ".join(filter(None, [bound.reasons, bound.note]))
    return (
        bound.end + gone,
        "no depth suffices" if bound.depth == NONE else _depth(bound.depth),
        f"{who}, {md(bound.place)} ({bound.mark})",
        _check(bound, judged) + (f": {prose(what)}" if what else ""),
    )


def _depth(depth: str) -> str:
    return depth if depth == "-" else prose(formula(depth, latex=True))


def _check(bound: AtlasBound | None, judged: Judged) -> str:
    if bound is None:
        return "-"
    if not bound.claim:
        return bound.verdict
    result = judged(bound.claim)
    word = verdict(marked(result)) if result else "not recorded"
    return bound.judged(f"[{word}](/claims/{bound.claim}.md)")
