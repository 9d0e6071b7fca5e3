"""One page on an audit: Markdown for a model card, and HTML or PDF by the appendix's programs.

The same text serves all three; pictures stand in HTML and PDF.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ...verdicts.citations import entries
from ..appendix.formats import Document, check_programs
from ..appendix.provenance import DATE
from ..appendix.typesetting import md, pipe_table, prose
from . import sentences, tables
from .pictures import ladder_panels, layer_panels
from .sentences import WORDS, number, percent, say

if TYPE_CHECKING:
    from depthlaw.empirics.audit.results import Audit, Table
    from depthlaw.empirics.audit.statistics import Estimate
    from depthlaw.empirics.audit.theory_beside import TheoryValue

# Letters of a line of a column, at most.
_WIDEST = 40

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class _Form:
    """How one kind of Markdown is written.

    Attributes:
        on: what the numbers are of, for captions.
        drawn: what those of null models are, behind captions.
        text: plain text as Markdown.
        card: a card for any reader, without pictures; else pandoc's.
    """

    on: str
    drawn: str
    text: Callable[[str], str]
    card: bool

    def section(self, key: str, *parts: str) -> str:
        """A section of what there is; "" of nothing."""
        found = list(filter(None, parts))
        title = f"{'##' if self.card else '#'} {WORDS['section'][key]}"
        return "\n\n".join([title, *found]) if found else ""

    def said(self, *sentences: str) -> str:
        return self.text(" ".join(filter(None, sentences)))

    def listed(self, lines: Iterable[str]) -> str:
        return "\n".join(f"- {self.text(line)}" for line in lines if line)

    def table(self, key: str, rows: Rows, heads: Sequence[str] = (), **known: object) -> str:
        """A table under its caption; columns are as wide as what stands in them."""
        if not rows:
            return ""
        titles = list(heads) or WORDS["heads"][key].split(" | ")
        wide = [max(len(line[place]) for line in (titles, *rows)) for place in range(len(titles))]
        sides = (("-", ":") if title.endswith(":") else (":", "-") for title in titles)
        marks = (
            f"{left}{'-' * max(8, min(_WIDEST, cells + 2))}{right}"
            for (left, right), cells in zip(sides, wide, strict=True)
        )
        top, _, *below = pipe_table(
            " | ".join(titles), [map(self.text, row) for row in rows]
        ).split("\n")
        drawn = "\n".join([top, f"|{'|'.join(marks)}|", *below])
        told = self.text(self._caption(key, **known))
        return f"*{told}*\n\n{drawn}" if self.card else f"{drawn}\n\n: {told}"

    def figure(self, name: str, caption: str, **known: object) -> str:
        told = self.text(self._caption(caption, **known))
        return "" if self.card else f"![{told}](figures/{name}.svg)"

    def _caption(self, key: str, **known: object) -> str:
        return WORDS["caption"][key].format(on=self.on, drawn=self.drawn, **known)


def _card(text: str) -> str:
    r"""Plain text as Markdown, in which code stays code and intervals are read as they stand.

    >>> _card("`a_b` is [0.9, 1.8] <x>")
    '`a_b` is [0.9, 1.8] \\<x\\>'
    """
    parts = (p if place % 2 else md(p) for place, p in enumerate(text.split("`")))
    return re.sub(r"\\\[([-\d., e]+)\\\]", r"[\1]", "`".join(parts))


def markdown(audit: Audit) -> str:
    """The page as Markdown, for a model card."""
    form = _Form(sentences.on(audit), sentences.drawn(audit), _card, card=True)
    return f"# {_card(_title(audit))}\n\n{_page(audit, form)}"


def written(audit: Audit, suffix: str) -> bytes:
    """The page in the format of a file's end: .md, .html or .pdf.

    Raises:
        UsageError: for another end, and where the extra that writes HTML and PDF is missing.

    Cost: of HTML and PDF seconds.
    """
    if suffix not in (".md", ".html", ".pdf"):
        raise UsageError(
            f"cannot write a page as {quoted(suffix or 'a file without an ending')}; accepted are "
            ".md, .html and .pdf; try --html audit.html"
        )
    if suffix == ".md":
        return markdown(audit).encode()
    check_programs("the page")
    from ..drawing.line_plot import line_plot

    # A screen may be narrow, and a page of paper is short.
    columns = 2 if suffix == ".html" else 3
    drawn = {"layers": layer_panels(audit), "ladder": ladder_panels(audit)}
    text, model = audit.text, audit.model
    kind = f"of {sentences.kind(text.law)}"
    document = Document(
        _page(audit, _Form(sentences.on(audit), sentences.drawn(audit), prose, card=False)),
        _title(audit),
        f"{plural(model.layers, 'layer')}, width {model.width:,}, "
        f"{plural(text.documents, 'document')} {kind}",
        f"depthlaw audit, version {audit.versions.get('depthlaw', 'unknown')}",
        DATE,
        "",
        {f"{key}.svg": line_plot(of, "svg", columns=columns) for key, of in drawn.items() if of},
    )
    return document.html().encode() if suffix == ".html" else document.pdf()


def _title(audit: Audit) -> str:
    return f"Is the depth of {audit.model.name} used?"


def _page(audit: Audit, form: _Form) -> str:
    sections = (
        form.section("answer", form.said(*sentences.headline(audit))),
        form.section("sure", form.listed(_sure(audit))),
        form.section("limits", form.listed(sentences.limits(audit))),
        form.section("layers", *_layers(audit, form)),
        form.section("search", _search(audit, form), _least(audit, form)),
        form.section("nulls", _nulls(audit, form), _planted(audit, form)),
        form.section("theory", _theory(audit, form)),
        form.section("ladder", *_ladder(audit, form)),
        form.section("repeat", form.listed(_origin(audit)), f"```\n{_command(audit)}\n```"),
        form.section("measures", form.said(say("words")), _measures(audit, form)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _by_sizes(audit: Audit) -> str:
    rows = "the rows of single layers"
    return sentences.strict(audit.level, len(audit.searches), what="sizes", half=rows)


def _sure(audit: Audit) -> list[str]:
    from depthlaw.empirics.audit.audit import NULL_DOCUMENTS

    searches, few = audit.searches, min(NULL_DOCUMENTS, audit.text.documents)
    told = [telling for table in audit.tables for telling in table.told.values()]
    law = any(telling.about == "law" for telling in told)
    drawn = "law" if law else "drawn_once" if audit.draws == 1 else "few_draws"
    return [
        sentences.sample(audit),
        say("intervals", level=f"{100 * audit.level:g}"),
        say("windows") if audit.text.cut.get("way") == "windows" else "",
        say("corrected", corrected=sentences.corrected(searches[0])) if searches else "",
        say("sizes", strict=_by_sizes(audit))
        if searches and searches[0].chosen.rule == "split"
        else "",
        say(drawn, documents=few, draws=audit.draws, fewer=sentences.fewer(audit)) if told else "",
        *sentences.nulls(audit),
        sentences.planted(audit),
        sentences.objectives(audit),
        sentences.copies(audit),
        *(
            say("refused", Null=sentences.capital(WORDS["null"][key]), why=why)
            for key, why in audit.refused.items()
        ),
        *(
            say("missing", Null=sentences.capital(WORDS["null"][key]), measure=name, why=why)
            for name, key, why in _missing(audit)
        ),
    ]


def _missing(audit: Audit) -> list[tuple[str, str, str]]:
    """Measures that null models have no number of: which, of which, and why; each once."""
    found = ((t.key, key, why) for t in audit.tables for key, why in t.missing.items())
    return list(dict.fromkeys(found))


# --- tables ---------------------------------------------------------------------------------------


def _heads(first: str, nulls: Iterable[str]) -> list[str]:
    return [first, "this model", *(WORDS["short"][key] for key in nulls)]


def _search(audit: Audit, form: _Form) -> str:
    rows = [
        [
            str(search.size),
            sentences.span(search.first, search.last),
            str(search.chosen.candidates),
            percent(search.chosen.estimate),
            search.call.value if search.call else "",
            percent(search.neighbours),
            percent(search.random),
        ]
        for search in audit.searches
    ]
    corrected = sentences.capital(sentences.corrected(*audit.searches))
    return form.table("search", rows, corrected=corrected)


def _least(audit: Audit, form: _Form) -> str:
    rows = [
        [
            _name(one.key, one.variant),
            str(one.size),
            sentences.block(one),
            str(one.chosen.candidates),
            (percent if one.key != "angular_distance" else number)(one.chosen.estimate),
            {True: "yes", False: "no", None: ""}[one.gain],
        ]
        for one in audit.least
    ]
    heads = WORDS["heads"]["least"].split(" | ")
    of_loss = [one.key != "angular_distance" for one in audit.least]
    if not any(of_loss):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    columns = (("again", any(of_loss)), ("turned", not all(of_loss)))
    said = [WORDS["column"][column] for column, there in columns if there]
    if any(one.chosen.rule == "split" for one in audit.least):
        said.append(say("judged", strict=sentences.strict(audit.level, len(rows), what="rows")))
    corrected = sentences.capital(sentences.corrected(*audit.least))
    return form.table("least", rows, heads, columns=" ".join(said), corrected=corrected)


def _nulls(audit: Audit, form: _Form) -> str:
    from depthlaw.empirics.audit.audit import NULL_DOCUMENTS

    tables = [table for table in audit.tables if table.rows and table.told]
    keys = list(dict.fromkeys(key for table in tables for key in table.told))
    rows = [
        [
            _name(table.key, table.variant),
            _range([row.estimate for row in table.rows]),
            *(_against(table, key) for key in keys),
        ]
        for table in tables
    ]
    few = min(NULL_DOCUMENTS, audit.text.documents)
    known = {"drawn_all": sentences.drawn(audit, "drawn_all"), "few": few}
    return form.table("nulls", rows, _heads("measure", keys), **known)


def _name(key: str, variant: str) -> str:
    return f"`{key}`, {variant.replace('_', ' ')}"


def _range(found: Sequence[Estimate]) -> str:
    several = found[0].rule == "range"
    values = [end for one in found for end in ((one.low, one.high) if several else (one.value,))]
    return " to ".join(dict.fromkeys(f"{value:.3g}" for value in (min(values), max(values))))


def _against(table: Table, key: str) -> str:
    found = [row.nulls[key] for row in table.rows if key in row.nulls]
    if not found or key not in table.told:
        return ""
    return _range(found) + {True: "", False: ": not told", None: ": unknown"}[table.told[key].told]


def _planted(audit: Audit, form: _Form) -> str:
    rows = [
        [
            WORDS["short"][one.how],
            _name(one.key, one.variant),
            f"{one.estimate.value:.3g}",
            f"{one.identity:.3g}",
            "yes" if sentences.agrees(one) else "no",
        ]
        for one in audit.planted
        if one.identity is not None
    ]
    behind = audit.planted[0].behind + 1 if rows else 0
    return form.table("planted", rows, behind=behind)


def _theory(audit: Audit, form: _Form) -> str:
    """A row for each theorem; one line where all are silent."""
    if all(row.reasons for row in audit.theory):
        return form.said(sentences.theory(audit))
    return form.table("theory", list(map(_theorem, audit.theory)))


def _theorem(row: TheoryValue) -> list[str]:
    ends = "" if row.low is None or row.high is None else f" ({row.low:.4g} to {row.high:.4g})"
    value = "" if row.value is None else f"{row.value:.4g}{ends}"
    why = "; ".join(WORDS["reason"][reason] for reason in row.reasons)
    speaks = f"vacuous: {why}" if why else "yes"
    source = re.sub(
        r"\b([a-z]+)(\d{4})[a-z]?\b",
        lambda key: f"{sentences.capital(key[1])} {key[2]}" if key[0] in entries() else key[0],
        re.sub(r"\$\\sqrt\{?(\w+)\}?\$", r"sqrt(\1)", row.source),
    )
    return [WORDS["theorem"][row.key], value, row.unit, speaks, source]


def _layers(audit: Audit, form: _Form) -> list[str]:
    shown = [form.table(of.key, of.rows, of.heads, **of.known) for of in tables.by_layer(audit)]
    known = {"level": sentences.share(audit.level)}
    return [*shown, form.figure("layers", "layers", **known) if layer_panels(audit) else ""]


def _ladder(audit: Audit, form: _Form) -> list[str]:
    if not audit.ladder:
        return []
    key, heads, rows, known = tables.ladder(audit)
    return [
        form.said(*sentences.ladder(audit.ladder, audit.changed)),
        form.table(key, rows, heads, **known),
        form.figure("ladder", "climbed"),
    ]


# --- how to repeat it, and what the words mean ----------------------------------------------------


def _origin(audit: Audit) -> list[str]:
    text, model, name = audit.text, audit.model, PurePath(audit.text.source).name
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    return [
        say("model", kind=model.kind, parameters=model.parameters),
        say("documents", source=name, documents=text.documents, tokens=text.tokens),
        say("hash_model", hash=model.sha256),
        say("hash_documents", hash=text.sha256),
        sentences.cut(text.cut),
        say("hash_task", hash=audit.task.sample.sha256) if audit.task else "",
        say("versions", versions=versions, seed=audit.seed),
    ]


def _command(audit: Audit) -> str:
    """The command of these numbers, with FOLDER and FILE for what only the asker knows."""
    text, fresh = audit.text, audit.model.name.removesuffix(" with fresh weights")
    sizes = ",".join(map(str, sorted({table.size for table in audit.tables} - {1})))
    words = (
        "depthlaw audit",
        "FOLDER" if fresh == audit.model.name else quote(fresh),
        {"text": "--text FILE", "words": ""}.get(text.law, f"--law {text.law}"),
        f"--documents {text.documents} --tokens {text.tokens} --seed {audit.seed}",
        f"--tolerance {100 * audit.tolerance:g}% --level {audit.level:g}",
        f"--draws {audit.draws}" if audit.draws > 1 else "",
        _groups(audit),
        f"--blocks {sizes}" if sizes else "",
        f"--task {audit.task.ladder or 'FILE'}" if audit.task else "",
        f"--ladder --questions {audit.ladder[0].before.n}" if audit.ladder else "",
        *(f"--{name} {quote(what)}" for name, what in audit.changed.items()),
    )
    return " ".join(filter(None, words))


def _groups(audit: Audit) -> str:
    """The option of groups of measures, where they are not the usual ones."""
    from depthlaw.empirics.audit.audit import GROUPS, USUAL

    there = {(table.key, table.variant) for table in audit.tables}
    found = {name for name, pairs in GROUPS.items() if there.issuperset(pairs)}
    usual = set(USUAL) if audit.model.objective else found & set(USUAL)
    return "" if found == usual else f"--measures {','.join(n for n in GROUPS if n in found)}"


def _measures(audit: Audit, form: _Form) -> str:
    from depthlaw.empirics.audit.measures import MEASURES

    rows = []
    for key in dict.fromkeys(table.key for table in audit.tables):
        of = MEASURES[key]
        asked = dict.fromkeys(table.variant for table in audit.tables if table.key == key)
        ways = "; ".join(f"{name.replace('_', ' ')}: {of.variants[name].words}" for name in asked)
        beside = f" (here: {of.beside})" if of.beside else ""
        rows.append([f"`{key}`", of.definition, ways, f"{of.source}{beside}"])
    return form.table("measures", rows)
