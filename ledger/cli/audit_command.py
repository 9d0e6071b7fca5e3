"""`depthlaw audit`: is the depth of a trained model used?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, quoted

from ..functions.audit import AuditReport, audit as audited, audit_schema
from ..publish.appendix.formats import check_programs
from ..publish.audit import sentences
from ..publish.audit.page import written
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
    from depthlaw.empirics.audit.audit import Audit
    from depthlaw.empirics.audit.statistics import Estimate

# Measures whose rows a terminal shows beside removal: heading, key, variant.
_SHOWN = (
    ("influence", "block_influence", "mean"),
    ("angle", "angular_distance", "last_token"),
    ("settled", "settling_depth", "share"),
    ("exit loss", "exit_loss", "loss"),
    ("residual", "residual", "composite"),
    ("size", "growth", "rms"),
)


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
    for name, sentence in sentences.lines(report.audit):
        paragraph(sentence, f"{name:<11} ", " " * 12 if columns() >= 60 else "  ")
    _print_removal(report.audit)
    _print_states(report.audit)
    if report.audit.ladder:
        _print_ladder(report)
    for key, why in report.audit.refused.items():
        note(f"no null model {key}: {why}")


def _print_removal(audit: Audit) -> None:
    removal = audit.table("removal", "loss")
    if removal is None or not removal.rows:
        return
    heading("\nLoss without a layer")
    rows = [
        [
            str(row.first + 1),
            sentences.percent(row.share) if row.share else "",
            sentences.called(audit, row),
            _short(row.estimate),
            *map(_short, row.nulls.values()),
        ]
        for row in removal.rows
    ]
    nulls = (sentences.WORDS["short"][key] for key in removal.rows[0].nulls)
    names = ("layer", "share of loss", "call", "nats", *nulls)
    print_table(stdout(), text_table(*names, rows=rows))
    paragraph(
        f"call: against {100 * audit.tolerance:g} % of the loss, at a level divided by the number "
        "of layers. nats: what removal adds to the loss of this model, then of null "
        f"models{sentences.on(audit)}."
    )


def _print_states(audit: Audit) -> None:
    found = [(name, audit.table(key, variant)) for name, key, variant in _SHOWN]
    tables = [(name, t) for name, t in found if t and len(t.rows) == audit.model.layers]
    shown = tables[: max(1, (columns() - 8) // 12)]
    if not shown:
        return
    heading("\nHidden states and read-outs")
    rows = [
        [str(layer + 1), *(_short(table.rows[layer].estimate) for _, table in shown)]
        for layer in range(audit.model.layers)
    ]
    print_table(stdout(), text_table("layer", *(name for name, _ in shown), rows=rows))
    paragraph(
        f"Means over documents{sentences.on(audit)}. --json has intervals, variants, null models."
    )


def _short(estimate: Estimate) -> str:
    return f"{estimate.value:.3g}"


def _print_ladder(report: AuditReport) -> None:
    heading("\nLadder of abilities")
    changed = any(result.after for result in report.audit.ladder)
    rows = []
    for result in report.audit.ladder:
        least = result.rung.least
        cells = [
            f"{result.rung.ladder} {result.rung.level}",
            f"{result.baseline.share:.2f}",
            sentences.number(result.before),
        ]
        if changed and result.after is not None:
            cells += [sentences.number(result.after), result.state or ""]
        rows.append([*cells, "" if least is None else f"{least:g}"])
    after = ("after", "") if changed else ()
    headings = ("rung", "baseline", "right", *after, "least depth at some length")
    print_table(stdout(), text_table(*headings, rows=rows, left=("rung",)))
    paragraph(
        "right: share of questions, with Clopper-Pearson's interval. baseline: the best of simple "
        "strategies that do not solve the questions (--json names it). least depth: layers needed "
        "at some length, or known to suffice, in idealised nets (`depthlaw tasks list`). It is no "
        "test of this model."
    )
