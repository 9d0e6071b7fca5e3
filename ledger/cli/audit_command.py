"""`depthlaw audit`: is the depth of a trained model used?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from ..functions.audit import AuditReport, audit as audited, audit_schema
from ..publish.appendix.formats import check_programs
from ..publish.audit import sentences, tables
from ..publish.audit.page import written
from ..publish.audit.pictures import DRAWN
from .plain import (
    columns,
    dump,
    heading,
    note,
    notes,
    paragraph,
    picture_format,
    refuse_place,
    stdout,
    write_named,
)
from .tables import print_table, text_table

if TYPE_CHECKING:
    from depthlaw.empirics.audit.statistics import Estimate


def audit(
    model: str,
    *,
    text: Path | None,
    blocks: str,
    measures: str,
    ladder: bool,
    task: str,
    tolerance: str,
    html: Path | None,
    pdf: Path | None,
    markdown: Path | None,
    plot: Path | None,
    force: bool,
    json_output: bool,
    schema: bool,
    **asked: Any,
) -> None:
    """Audit a model and print what was found, or JSON; write a page or a picture where a file is
    named."""
    if schema:
        return dump(audit_schema())
    if not model:
        raise UsageError(
            "no model: give a folder as save_pretrained writes it, or a name of `depthlaw measure`"
        )
    pages = {".html": html, ".pdf": pdf, ".md": markdown}
    for end, file in pages.items():
        if file is not None:
            if file.suffix != end:
                raise UsageError(f"{quoted(file.name)}: accepted is a name that ends in {end}")
            refuse_place(file, force)
            if end != ".md":
                check_programs("the page")
    named = [file for file in pages.values() if file]
    if plot is not None and not ladder and not _drawn(measures):
        raise UsageError(
            f"--plot draws the measures {', '.join(DRAWN[:-1])} and {DRAWN[-1]}, and the ladder, "
            "none of which was asked; add usual to --measures"
        )
    form = picture_format(plot, force and not (named and plot is None))
    given = asked | {"text": text, "tolerance": tolerance, "ladder": ladder, "measures": measures}
    given["task"] = task or None
    report = _measured(model, _sizes(blocks), given, quiet=json_output)
    if plot is not None:
        write_named(plot, report.plot().drawn(form))
    for file in named:
        write_named(file, written(report.audit, file.suffix))
    if json_output:
        dump(report.to_json())
    else:
        _print(report)


def _drawn(measures: str) -> bool:
    """Whether one of the groups that are named has a panel."""
    return not {"usual", "all", *DRAWN}.isdisjoint(re.split(r"[,\s]+", measures))


def _sizes(typed: str) -> tuple[int, ...]:
    if not typed.strip():
        return ()
    parts = [part for part in re.split(r"[,\s]+", typed.strip()) if part]
    if not parts or not all(re.fullmatch(r"\d{1,5}", part) for part in parts):
        raise UsageError(f"--blocks {quoted(typed)}: give sizes of blocks, such as 4 or 2,4")
    return tuple(map(int, parts))


def _measured(
    model: str, sizes: tuple[int, ...], given: dict[str, Any], *, quiet: bool
) -> AuditReport:
    console = notes()
    if quiet or not console.is_terminal:
        return audited(model, blocks=sizes, announce=note, **given)
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("reading the model", total=None)

        def tick(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        return audited(model, blocks=sizes, announce=note, tick=tick, **given)


def _print(report: AuditReport) -> None:
    found = report.audit
    for name, sentence in sentences.lines(found):
        if narrow := columns() < 60:
            heading(name)
        paragraph(sentence, "  " if narrow else f"{name:<11} ", "  " if narrow else " " * 12)
    rungs = [tables.ladder(found)] if found.ladder else []
    for key, heads, rows, known in (*tables.by_layer(found, _short), *rungs):
        heading(f"\n{sentences.WORDS['title'][key]}")
        left = [head for head in heads if not head.endswith(":")]
        names = (head.removesuffix(":") for head in heads)
        print_table(stdout(), text_table(*names, rows=rows, left=left))
        said = sentences.WORDS["caption"][key]
        on, drawn = sentences.on(found), sentences.drawn(found)
        paragraph(said.format(on=on, drawn=drawn, **known))
    for key, why in found.refused.items():
        note(f"no null model {key}: {why}")


def _short(estimate: Estimate) -> str:
    return f"{estimate.value:.3g}"
