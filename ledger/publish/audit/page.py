"""One page on an audit: Markdown for a model card, and HTML or PDF by the appendix's programs.

The same text serves all three. Where a card is written, text is escaped for any reader of
Markdown; for the appendix's programs formulas are set, and pictures stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..appendix.formats import Document, check_programs
from ..appendix.provenance import DATE
from ..appendix.typesetting import md, pipe_table, prose
from . import sentences
from .pictures import ladder_panels, layer_panels

if TYPE_CHECKING:
    from depthlaw.empirics.audit.audit import Audit, Row, Table
    from depthlaw.empirics.audit.ladder import RungResult
    from depthlaw.empirics.audit.statistics import Estimate, Telling
    from depthlaw.empirics.audit.theory_beside import TheoryValue

ENDS = (".md", ".html", ".pdf")
# Columns of the table of hidden states and read-outs: heading, measure, variant.
_STATES = (
    ("block influence", "block_influence", "mean"),
    ("angular distance", "angular_distance", "last_token"),
    ("settled", "settling_depth", "share"),
    ("exit loss", "exit_loss", "loss"),
    ("attention", "contribution", "attention"),
    ("MLP", "contribution", "mlp"),
)
# Letters of a line of a column, at most.
_WIDEST = 40


@dataclass(frozen=True)
class _Form:
    """How one kind of Markdown is written.

    Attributes:
        text: plain text as Markdown.
        card: a card of any reader, without pictures; else pandoc's.
    """

    text: Callable[[str], str]
    card: bool

    def section(self, title: str) -> str:
        return f"{'##' if self.card else '#'} {title}"

    def said(self, *sentences: str) -> str:
        return self.text(" ".join(filter(None, sentences)))

    def listed(self, lines: Iterable[str]) -> str:
        return "\n".join(f"- {self.text(line)}" for line in lines)

    def table(self, caption: str, heading: str, rows: Sequence[Sequence[str]]) -> str:
        """A table under its caption; columns are as wide as what stands in them."""
        titles = heading.split(" | ")
        wide = [max(len(line[place]) for line in (titles, *rows)) for place in range(len(titles))]
        sides = (("-", ":") if title.endswith(":") else (":", "-") for title in titles)
        marks = (
            f"{left}{'-' * max(8, min(_WIDEST, cells + 2))}{right}"
            for (left, right), cells in zip(sides, wide, strict=True)
        )
        top, _, *below = pipe_table(heading, [map(self.text, row) for row in rows]).split("\n")
        drawn = "\n".join([top, f"|{'|'.join(marks)}|", *below])
        told = self.text(caption)
        return f"*{told}*\n\n{drawn}" if self.card else f"{drawn}\n\n: {told}"

    def figure(self, name: str, caption: str) -> str:
        return "" if self.card else f"![{self.text(caption)}](figures/{name}.svg)"


def markdown(audit: Audit) -> str:
    """The page as Markdown, for a model card."""
    return f"# {md(_title(audit))}\n\n{_page(audit, _Form(_card, card=True))}"


def written(audit: Audit, suffix: str) -> bytes:
    """The page in the format of a file's end: .md, .html or .pdf.

    Raises:
        UsageError: for another end, and where the extra that writes HTML and PDF is missing.

    Cost: of HTML and PDF seconds.
    """
    if suffix not in ENDS:
        raise UsageError(
            f"no page is written as {quoted(suffix or 'a file without an ending')}; accepted are "
            ".md, .html and .pdf; try --html audit.html"
        )
    if suffix == ".md":
        return markdown(audit).encode()
    check_programs("the page")
    from ..drawing.line_plot import line_plot

    figures = {}
    if drawn := layer_panels(audit):
        figures["layers.svg"] = line_plot(drawn, "svg", columns=3)
    if drawn := ladder_panels(audit):
        figures["ladder.svg"] = line_plot(drawn, "svg", columns=3)
    document = Document(
        _page(audit, _Form(prose, card=False)),
        _title(audit),
        f"{plural(audit.model.layers, 'layer')}, width {audit.model.width:,}, {_sample(audit)}",
        f"depthlaw {audit.versions.get('depthlaw', '')}: depthlaw audit",
        DATE,
        "",
        figures,
    )
    return document.html().encode() if suffix == ".html" else document.pdf()


def _card(text: str) -> str:
    """Plain text as Markdown, in which code stays code and intervals are read as they stand.

    >>> _card("`a_b` is [0.9, 1.8] <x>")
    '`a_b` is [0.9, 1.8] \\\\<x\\\\>'
    """
    parts = (p if place % 2 else md(p) for place, p in enumerate(text.split("`")))
    return re.sub(r"\\\[([-\d., e]+)\\\]", r"[\1]", "`".join(parts))


def _title(audit: Audit) -> str:
    return f"Is the depth of {audit.model.name} used?"


def _sample(audit: Audit) -> str:
    text = audit.text
    kind = "of text" if text.law == "text" else f"of random tokens ({text.law})"
    return f"{plural(text.documents, 'document')} {kind}"


def _page(audit: Audit, form: _Form) -> str:
    parts = [
        form.section("Answer"),
        form.said(sentences.answer(audit), sentences.compared(audit), sentences.settling(audit)),
        form.section("How sure is it"),
        form.listed(_sure(audit)),
        form.section("What this does not say"),
        form.listed(sentences.limits(audit)),
        *_by_layer(audit, form),
        *_search(audit, form),
        *_nulls(audit, form),
        *_theory(audit, form),
        *_ladder(audit, form),
        *_reproduction(audit, form),
        *_definitions(audit, form),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _sure(audit: Audit) -> list[str]:
    found = [
        sentences.sample(audit),
        f"Documents are the sample. Each interval is at a level of {100 * audit.level:g} %, of the "
        "mean over documents.",
    ]
    if searches := audit.searches:
        found.append(
            "The cheapest block is chosen among many, and the interval is corrected for it: "
            f"{sentences.corrected(searches[0])}."
        )
    if len(searches) > 1:
        found.append(
            f"{len(searches)} sizes were searched, each at the full level; one of them may be "
            "wrong more often."
        )
    told = [telling for table in audit.tables for telling in table.told.values()]
    if told and all(telling.about == "nets" for telling in told):
        found.append(
            "Each null model was drawn once: what is told apart is that draw, and another may "
            "differ."
        )
    found += [*sentences.nulls(audit), sentences.planted(audit), sentences.objectives(audit)]
    found.append(sentences.copies(audit))
    found += [
        f"{sentences.capital(sentences.NULLS[key])}: not drawn. {why}."
        for key, why in audit.refused.items()
    ]
    return [said for said in found if said]


# --- tables ---------------------------------------------------------------------------------------


def _by_layer(audit: Audit, form: _Form) -> list[str]:
    removal, divergence = audit.table("removal", "loss"), audit.table("removal", "divergence")
    parts = []
    if removal and removal.rows:
        nulls = list(removal.rows[0].nulls)
        rows, beside = [], []
        for place, row in enumerate(removal.rows):
            nats = sentences.number(row.estimate)
            cells = [_layer(audit, row), sentences.percent(row.share) if row.share else ""]
            cells += [row.call.value if row.call else "", nats]
            other = divergence.rows[place].estimate if divergence else None
            rows.append([*cells, sentences.number(other) if other else ""])
            null = (sentences.number(row.nulls[key]) for key in nulls)
            beside.append([_layer(audit, row), nats, *null])
        caption = (
            f"What it costs to remove a layer{sentences.on(audit)}: two objectives, the loss and "
            "the change of the output (KL). A call is made against a share of "
            f"{100 * audit.tolerance:g} %, at a level divided by {len(rows)}."
        )
        parts.append(form.table(caption, "layer: | share of loss | call | loss | KL", rows))
        if nulls:
            heading = " | ".join(["layer:", "this model", *(sentences.SHORT[n] for n in nulls)])
            caption = f"What removal adds to the loss, beside null models{sentences.on(audit)}."
            parts.append(form.table(caption, heading, beside))
    shown = [
        (name, table)
        for name, key, variant in _STATES
        if (table := audit.table(key, variant)) and len(table.rows) == audit.model.layers
    ]
    if shown:
        rows = [
            [_layer(audit, row), *(sentences.number(t.rows[place].estimate) for _, t in shown)]
            for place, row in enumerate(shown[0][1].rows)
        ]
        heading = " | ".join(["layer:", *(name for name, _ in shown)])
        caption = (
            f"Hidden states and read-outs by layer{sentences.on(audit)}. Definitions stand at the "
            "end."
        )
        parts.append(form.table(caption, heading, rows))
        parts.append(
            form.figure("layers", f"Measures by layer and their null models{sentences.on(audit)}.")
        )
    return [form.section("Layer by layer"), *parts] if parts else []


def _layer(audit: Audit, row: Row) -> str:
    """Its number, and its kind where layers differ."""
    kinds = audit.model.kinds
    return f"{row.first + 1}" + (f" {kinds[row.first]}" if len(set(kinds)) > 1 else "")


def _search(audit: Audit, form: _Form) -> list[str]:
    if not audit.searches:
        return []
    rows = [
        [
            str(search.size),
            sentences.span(search.first, search.last),
            str(search.chosen.candidates),
            sentences.corrected(search),
            sentences.percent(search.chosen.estimate),
            search.call.value,
            sentences.percent(search.random),
        ]
        for search in audit.searches
    ]
    heading = "size: | cheapest | candidates: | correction | share of loss | call | random layers"
    caption = (
        f"The cheapest block of each size{sentences.on(audit)}. Random layers are as many, drawn "
        "without a choice."
    )
    return [form.section("The search"), form.table(caption, heading, rows)]


def _nulls(audit: Audit, form: _Form) -> list[str]:
    tables = [table for table in audit.tables if table.rows and table.told]
    parts = []
    if tables:
        keys = list(dict.fromkeys(key for table in tables for key in table.told))
        rows = [
            [
                _measure(table),
                _range([row.estimate for row in table.rows]),
                *(_against(table, key) for key in keys),
            ]
            for table in tables
        ]
        caption = (
            f"Least and greatest mean of a layer, of the model and of null models"
            f'{sentences.on(audit)}. "Alike" says that the measure does not tell the model from '
            "the null model."
        )
        heading = " | ".join(["measure", "this model", *(sentences.SHORT[key] for key in keys)])
        parts.append(form.table(caption, heading, rows))
    if audit.planted:
        rows = [
            [
                _name(one.key, one.variant),
                f"{one.estimate.value:.3g}",
                f"{one.identity:g}",
                "yes" if sentences.nothing(one) else "no",
            ]
            for one in audit.planted
        ]
        caption = (
            f"A layer that adds zero, put behind layer {audit.planted[0].behind + 1}"
            f"{sentences.on(audit)}: what each measure says of it, and what it must say."
        )
        parts.append(form.table(caption, "measure | said: | must say: | agrees", rows))
    return [form.section("Null models"), *parts] if parts else []


def _measure(table: Table) -> str:
    return _name(table.key, table.variant)


def _name(key: str, variant: str) -> str:
    return f"`{key}`, {variant.replace('_', ' ')}"


def _range(found: Sequence[Estimate]) -> str:
    values = [one.value for one in found]
    ends = dict.fromkeys(f"{value:.3g}" for value in (min(values), max(values)))
    return " to ".join(ends)


def _against(table: Table, key: str) -> str:
    found = [row.nulls[key] for row in table.rows if key in row.nulls]
    telling = table.told.get(key)
    if not found or telling is None:
        return ""
    return f"{_range(found)}{_told(telling)}"


def _told(telling: Telling) -> str:
    return {True: "", False: ": alike", None: ": unknown"}[telling.told]


def _theory(audit: Audit, form: _Form) -> list[str]:
    if not audit.theory:
        return []
    rows = [
        [
            sentences.THEORY.get(row.key, row.key),
            _stated(row),
            row.unit,
            "vacuous: " + "; ".join(sentences.REASONS.get(why, why) for why in row.reasons)
            if row.reasons
            else "yes",
            row.source,
        ]
        for row in audit.theory
    ]
    caption = (
        'What theorems say of a model of this size. "Vacuous" says that the theorem says '
        "nothing of this model, and why."
    )
    heading = "theorem | value | of what | speaks of this model | source"
    return [form.section("Theory beside the numbers"), form.table(caption, heading, rows)]


def _stated(row: TheoryValue) -> str:
    if row.value is None:
        return ""
    ends = "" if row.low is None or row.high is None else f" ({row.low:.4g} to {row.high:.4g})"
    return f"{row.value:.4g}{ends}"


def _ladder(audit: Audit, form: _Form) -> list[str]:
    if not audit.ladder:
        return []
    changed = any(result.after for result in audit.ladder)
    heads = ["rung", "chance:", "right", *(("after", "state") if changed else ()), "least depth"]
    caption = (
        "Share of questions answered right, with Clopper and Pearson's interval. Least depth is "
        "that of the task in a class of idealised nets."
    )
    if changed:
        caption += (
            " Lost: the share fell. Kept: it fell by less than 0.1. Beyond: fewer layers are left."
        )
    table = form.table(caption, " | ".join(heads), [_rung(r, changed) for r in audit.ladder])
    figure = form.figure("ladder", "The ladder of abilities: share right by difficulty.")
    return [
        form.section("Ladder of abilities"),
        form.said(
            f"The model was asked {plural(len(audit.ladder), 'rung')}: "
            f"{sentences.climbed(audit.ladder)}."
        ),
        table,
        figure,
    ]


def _rung(result: RungResult, changed: bool) -> list[str]:
    rung = result.rung
    cells = [f"{rung.ladder} {rung.level}", f"{result.chance:.2f}", sentences.number(result.before)]
    if changed:
        cells += [sentences.number(result.after) if result.after else "", result.state or ""]
    least = "" if rung.least is None else f"{rung.least:g}"
    return [*cells, f"{least}, beyond" if result.beyond else least]


# --- how to repeat it, and what the words mean ----------------------------------------------------


def _reproduction(audit: Audit, form: _Form) -> list[str]:
    text, model = audit.text, audit.model
    lines = [
        f"Model: {model.kind}, {model.parameters:,} parameters.",
        f"Documents: {text.source}, {text.documents} of {text.tokens} tokens.",
        "SHA-256 of the model and of the documents:",
        f"`{model.sha256}`",
        f"`{text.sha256}`",
    ]
    if text.cut:
        cut = "; ".join(f"{name}: {value}" for name, value in text.cut.items())
        lines.append(f"How the text was cut: {cut}.")
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    lines.append(f"Versions: {versions}; seed {audit.seed}.")
    return [
        form.section("How to repeat it"),
        form.listed(lines),
        f"```\n{_command(audit)}\n```",
    ]


def _command(audit: Audit) -> str:
    """The command of these numbers, FOLDER and FILE for what only the asker knows."""
    text = audit.text
    words = ["depthlaw audit", "FOLDER"]
    fresh = " with fresh weights"
    if audit.model.name.endswith(fresh):
        words[1] = quote(audit.model.name.removesuffix(fresh))
    words.append("--text FILE" if text.law == "text" else f"--law {text.law}")
    words.append(f"--documents {text.documents} --tokens {text.tokens} --seed {audit.seed}")
    if measures := _groups(audit):
        words.append(f"--measures {','.join(measures)}")
    words.append(f"--tolerance {100 * audit.tolerance:g}% --level {audit.level:g}")
    if sizes := ",".join(str(search.size) for search in audit.searches if search.size > 1):
        words.append(f"--blocks {sizes}")
    if audit.ladder:
        words.append(f"--ladder --questions {audit.ladder[0].before.n}")
    return " ".join(words)


def _groups(audit: Audit) -> list[str]:
    """Groups of measures, where they are not the usual ones."""
    from depthlaw.empirics.audit.audit import GROUPS, USUAL

    there = {(table.key, table.variant) for table in audit.tables}
    found = [name for name, pairs in GROUPS.items() if there.issuperset(pairs)]
    same = set(found) == set(USUAL) or (not audit.model.objective and set(found) < set(USUAL))
    return [] if same else found


def _definitions(audit: Audit, form: _Form) -> list[str]:
    from depthlaw.empirics.audit.measures import MEASURES

    rows = []
    for key in dict.fromkeys(table.key for table in audit.tables):
        of = MEASURES[key]
        asked = [table.variant for table in audit.tables if table.key == key]
        ways = "; ".join(f"{name.replace('_', ' ')}: {of.variants[name].words}" for name in asked)
        beside = f" (here: {of.beside})" if of.beside else ""
        rows.append([f"`{key}`", of.definition, ways, f"{of.source}{beside}"])
    lines = (
        "The stream is the hidden state of each token, which layers change one after the other.",
        "The head makes a prediction, its logits, of the stream. A nat is the unit of the loss.",
        "KL is the Kullback-Leibler divergence of two predictions, 0 where they are equal.",
    )
    caption = "Measures, their variants and sources."
    return [
        form.section("What the measures are"),
        form.said(*lines),
        form.table(caption, "measure | what it is | variants | source", rows),
    ]
