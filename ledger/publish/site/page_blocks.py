"""The parts of pages that records fill: questions with their pictures, of claims what they measured
and their verdicts, and the file of data beside a page."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import DEVICE_OF, Claim
from depthlaw.theory.claims.known_bounds import known_bounds
from depthlaw.theory.claims.rounding import interval
from depthlaw.theory.claims.symbols import term_of
from depthlaw.theory.claims.values import Ball, Statistical

from ...verdicts.display import measured_side, predicted, prediction, relation, statement_latex
from ...verdicts.estimates import CONFIDENCE, estimate, middle
from ...verdicts.known_verdicts import shared_fields
from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import CaseResult, ClaimResult, marked
from ...verdicts.undecided_advice import remedies
from ..appendix.data import Row, results_csv, rows as data_rows
from ..appendix.typesetting import cite, code, maths, md, pipe_table, prose, span, value, verdict
from ..drawing.inline_svg import inline_svg, together
from ..drawing.panels import Found, Number, Panel, Table, points_csv, table_csv
from ..questions import QUESTIONS, PageQuestion

# Cases of a claim that a list names one by one, lines that a page shows unfolded, and letters of a
# statement in a table.
_FEW, _LINES, _LETTERS = 2, 4, 120


# --- questions -----------------------------------------------------------------------------------


def question(name: str, recorded: Recorded, folder: Path) -> str:
    """What was found, in sentences of which the first is the picture's title, and the picture of a
    question, a panel beside the other; and those of larger cases on another device. Empty where
    nothing is recorded.

    Args:
        folder: where the picture and its numbers go as files.
    """
    asked = QUESTIONS[name]

    def seen(there: Sequence[ClaimResult], suite: str) -> str:
        match = _found(there)
        panels = asked.panels(match)
        if not panels:
            return ""
        first, *others = [md(sentence) for sentence in asked.says(match)] or [md(asked.title)]
        measured = [value for of_claim in match.values() for value in of_claim.values()]
        below = prose(asked.below)
        if not below and any(isinstance(value, Statistical) for value in measured):
            wider = "Verdicts use wider ones."
            below = f"Bars and bands of means and shares: {CONFIDENCE} intervals. {wider}"
        elif not below and any(isinstance(v, Ball) and v.low < v.high for v in measured):
            below = "Bands: what is left open at the level of the verdicts; lines: its middle."
        file = folder / "-".join(filter(None, (name, suite)))
        shown = picture(asked.title, panels, file, asked.table(match) if asked.table else None)
        said = " ".join([f"**{first}**", *others])
        return "\n\n".join(filter(None, (said, shown, below and f"*{below}*")))

    return _blocks(asked, recorded, seen)


def picture(title: str, panels: Sequence[Panel], file: Path, table: Table | None = None) -> str:
    """Panels beside each other, as SVG in the page, with links to one picture of all and to its
    numbers.

    Args:
        title: for screen readers.
        file: without suffix, where the files go.
        table: further numbers, which no curve shows.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    file.with_suffix(".csv").write_text(points_csv(panels), encoding="utf-8", newline="")
    links = [f"[picture](/figures/{file.name}.svg)", f"[numbers](/figures/{file.name}.csv)"]
    if table and table.rows:
        more = file.with_name(f"{file.name}-table.csv")
        more.write_text(table_csv(table), encoding="utf-8", newline="")
        links.append(f"[table](/figures/{more.name})")
    drawn = [inline_svg(panel, f"{file.name}-{n}") for n, panel in enumerate(panels)]
    file.with_suffix(".svg").write_text(together(drawn), encoding="utf-8")
    group = f'<div class="panels" role="group" aria-label="{escape(title)}">{"".join(drawn)}</div>'
    return f"{group}\n\n{prose(title[:1].upper() + title[1:])}. Download: {', '.join(links)}."


def numbers(name: str, recorded: Recorded) -> str:
    """The verdicts of a question, and the table of one that has no picture; empty where nothing is
    recorded."""
    asked = QUESTIONS[name]

    def told(there: Sequence[ClaimResult], suite: str) -> str:
        match = _found(there)
        own = asked.table(match) if asked.table and not asked.panels(match) else None
        measuring = [r for r in there if r.claim.key in asked.claims]
        return "\n\n".join([*([_table(own)] if own and own.rows else []), _verdicts(measuring)])

    return _blocks(asked, recorded, told)


def _blocks(
    asked: PageQuestion, recorded: Recorded, shown: Callable[[Sequence[ClaimResult], str], str]
) -> str:
    """What is shown of a question's claims, and of those with cases on another device, where
    something is recorded of its own claims."""
    keys = (*asked.claims, *asked.beside)
    parts = {"": [r for key in keys if (r := recorded.judged(key))]}
    for suite in DEVICE_OF if keys else ():
        parts[suite] = [r for key in keys for there, r in recorded.elsewhere(key) if there == suite]
    blocks = [
        (f"**Larger, on {DEVICE_OF[suite]} (suite {suite}).**\n\n" if suite else "") + block
        for suite, there in parts.items()
        if not asked.claims or any(r.claim.key in asked.claims and _rows(r) for r in there)
        if (block := shown([r for r in there if _rows(r)], suite))
    ]
    return "\n\n".join(blocks)


def _found(there: Sequence[ClaimResult]) -> Found:
    """What is recorded of some claims, by key and case."""
    return {
        r.claim.key: {row.case: row.measured for row in _rows(r) if row.measured is not None}
        for r in there
    }


def settings() -> str:
    """How the nets of docs/what-training-finds.md are trained, folded."""
    text = files("depthlaw.empirics.trained_depth").joinpath("training_table.csv")
    heading, *rows = csv.reader(text.read_text(encoding="utf-8").splitlines())
    cells = tuple(tuple(int(cell) if cell.isdigit() else cell for cell in row) for row in rows)
    return _folded("Settings", _table(Table(tuple(heading), cells)))


# The claim that says whether nets of one layer are trained out, and those it bears on.
_TRAINED_OUT = "trained_depth/wall_is_trained_out"
_ASKED = [f"trained_depth/wall_{name}" for name in ("within", "beyond", "seen", "reached")]
_UPDATES = re.compile("updates|iterations")


def trained(recorded: Recorded) -> str:
    """The claims on long training, with the answer of the test, and the number of those without."""
    asked = recorded.judged(_TRAINED_OUT)
    answer = {"HOLDS": "yes", "FAILS": "no"}.get(str(asked.verdict) if asked else "", "open")
    listed = [
        (
            _word(recorded, key),
            f"[{prose(recorded.claims[key].entitled)}](/claims/{key}.md)",
            f"one layer: {answer}; two: not asked",
        )
        for key in _ASKED
    ]
    of_nets = (c for c in recorded.claims.values() if c.needs and _UPDATES.search(c.entitled))
    rest = sum(claim.key not in (*_ASKED, _TRAINED_OUT) for claim in of_nets)
    table = pipe_table("verdict | claim | levelled off (two nets of one layer tested)", listed)
    return (
        f"{table}\n\nThe titles of {rest} other claims name their updates. We did not test whether "
        "twice as many would change those verdicts."
    )


def _word(recorded: Recorded, key: str) -> str:
    result = recorded.judged(key)
    return verdict(marked(result)) if result else "not recorded"


def compact(table: str) -> str:
    """A wide table, which pages print small."""
    return f":::{{container}} compact\n\n{table}\n:::"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _table(table: Table) -> str:
    """Plain data in Markdown."""
    heading = (
        md(name) + ("" if any(isinstance(row[i], str) for row in table.rows) else ":")
        for i, name in enumerate(table.columns)
    )
    return pipe_table(" | ".join(heading), (map(_cell, row) for row in table.rows))


def _cell(cell: str | Number | None) -> str:
    if isinstance(cell, str):
        return prose(cell)
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


# --- claims --------------------------------------------------------------------------------------


def verdicts(keys: Sequence[str], recorded: Recorded) -> str:
    """Of each claim the verdict, the statement and what was expected before; empty where nothing is
    recorded."""
    judged = [r for key in keys if (r := recorded.judged(key)) is not None]
    return _verdicts(judged) if judged else ""


def values(keys: Sequence[str], recorded: Recorded) -> str:
    """Every recorded case of the claims: measured, with its 95 % interval where there is one, and
    stated; empty where nothing is recorded."""
    judged = [r for key in keys if (r := recorded.judged(key)) is not None]
    heading = "verdict | claim | case | measured | stated"
    return pipe_table(heading, _values(judged)) if judged else ""


def bounds(recorded: Recorded) -> str:
    """A row for each bound that a source is known for: what states it, how it is evaluated, and an
    example of that."""
    rows = []
    for bound in known_bounds():
        claim = recorded.claims.get(bound.claim)
        if claim is None:
            continue
        given = " ".join(f"{name}={value}" for name, value in bound.at.items())
        stated = claim.at(**bound.at)
        shown = f"{float(stated):.6g}" if getattr(stated, "is_Rational", False) else ""
        shown = shown if shown and not stated.is_Integer else predicted(stated)
        who = "ours" if bound.source == "depthlaw" else cite(bound.source)
        rows.append(
            (
                _word(recorded, bound.claim),
                f"{who}, [{prose(bound.known_for)}](/claims/{claim.key}.md): {_states(claim)}",
                f"{code(claim.key)} {code(given)}",
                f"{prose(relation(claim))} {value(shown)}",
                f"counts {prose(bound.unit)}; {_range(claim)}",
            )
        )
    heading = "verdict | bound | function, at | example | range"
    return compact(pipe_table(heading, rows)) if rows else ""


def _range(claim: Claim) -> str:
    """The domains of the quantities of a right side, then the assumptions."""
    domains: dict[str, list[str]] = {}
    for name, symbol in sorted(claim.symbols.items()):
        term = term_of(symbol)
        domains.setdefault(term.domain if term else "number", []).append(name)
    parts = [f"{prose(', '.join(names))}: {domain}" for domain, names in domains.items()]
    return "; ".join([*parts, *map(prose, claim.assumes)])


def _rows(result: ClaimResult) -> list[CaseResult]:
    return [row for row in result.cases if row.records]


def _verdicts(judged: Sequence[ClaimResult]) -> str:
    """A row for each claim, the verdict first; below, what would decide the undecided."""
    listed = pipe_table(
        "verdict | claim | expected | cases:",
        (
            (
                verdict(marked(r)),
                f"[{prose(r.claim.entitled)}](/claims/{r.claim.key}.md)",
                r.claim.expected,
                f"{len(r.decided)} of {len(r.in_scope)}",
            )
            for r in judged
        ),
    )
    open_ = [f"* `{r.claim.name}`, {prose(line)}" for r in judged for line in undecided(r)]
    return "\n\n".join(filter(None, [listed, _list("What would decide it", open_)]))


def _states(claim: Claim) -> str:
    """The statement, where it fits a table."""
    text = statement_latex(claim)
    return maths(text) if len(text) <= _LETTERS else "see its page"


def undecided(result: ClaimResult) -> Iterator[str]:
    """What would decide a claim, in plain text: of a few cases each, of many the range."""
    if result.unfinished:
        asked = len(result.in_scope)
        yield f"{len(result.missing)} of {asked} cases are declared and not recorded yet"
    rows = list(remedies(result))
    if len(rows) <= _FEW:
        yield from (f"{row.where}: {row}" for row in rows)
        return
    cases = f"of {len(result.in_scope)} cases"
    for what in sorted({row.what for row in rows if row.what}):
        own = [row for row in rows if row.what == what]
        enough = [row.enough for row in own if row.enough]
        parts = [f"about {span(enough)} would"] if enough else []
        if len(enough) < len(own):
            parts.append(f"in {plural(len(own) - len(enough), 'case')} none would")
        there = span([row.there for row in own])
        yield f"{len(own)} {cases}: {there} {what} do not decide; {', '.join(parts)}"
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        yield f"{sum(row.reason == reason for row in rows)} {cases}: {reason}"


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    text = "\n".join(items)
    return f"{title}:\n\n{text}" if len(items) <= _LINES else _folded(title, text)


def _values(judged: Sequence[ClaimResult]) -> Iterator[tuple[str, ...]]:
    for result in judged:
        rows = _rows(result)
        same = shared_fields(row.case for row in rows)
        for row in rows:
            own = " ".join(f"{k}={v}" for k, v in row.case.fields().items() if k not in same)
            name = code(result.claim.name)
            measured, stated, word = _cells(result, row)
            yield word, name, code(own or str(row.case)), measured, stated


def _cells(result: ClaimResult, row: CaseResult) -> tuple[str, str, str]:
    """Of a case what was measured, with both intervals of an estimate, what is stated, and the
    verdict."""
    if (found := estimate(result, row)) is None:
        measured = value(measured_side(result.claim, row))
    else:
        parts = [f"{value(middle(found.value))}, {plural(found.count, found.what)}"]
        parts += [f"{CONFIDENCE}: {value(interval(*found.ends))}"] if found.ends else []
        parts += [f"decided by {prose(found.decided_by)}"] if found.deciding else []
        measured = "; ".join(parts)
    why = f": {prose(row.decision.reason)}" if row.decision.reason else ""
    return measured, value(prediction(result.claim, row)), f"{row.verdict_name}{why}"


# --- the data beside a page ----------------------------------------------------------------------


def data(keys: Sequence[str], recorded: Recorded, file: Path) -> str:
    """Write every recorded case of the claims as CSV, with the columns of an appendix, and return a
    sentence with a link to the file; empty where nothing is recorded."""
    cases: list[Row] = []
    for key in keys:
        first = recorded.judged(key)
        there = [*([first] if first else []), *(r for _, r in recorded.elsewhere(key))]
        cases += [row for row in data_rows(there) if row["records"]]
    if not cases:
        return ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(results_csv(cases))
    devices = sorted({device for row in cases for device in row["device"].split()})
    return f"[All cases, intervals, ids of records](/data/{file.name}) ({', '.join(devices)})."
