"""What people see: tables that wrap in a terminal and are whole when piped, with control characters and markup neutralised."""
from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from math import log10

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from depthlaw.theory.claim import Claim
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.symbols import latex, plain, term
from depthlaw.theory.values import Ball, Exact, Measured, Outside, Proportion, Statistical

from ..run.suite import Run
from ..verdicts.report import NOT_RUN, CaseResult, ClaimResult, verdict_name

STYLES = {Verdict.PROVED: "bold green", Verdict.ARGUED: "bold green", Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.UNDECIDED: "yellow",
          Verdict.CONDITIONAL: "cyan", Verdict.OUT_OF_SCOPE: "dim"}


def clean(text: str) -> str:
    """The text without control characters, which could rewrite what a terminal shows.

    >>> clean("a" + chr(27) + "[2Jb")
    'a[2Jb'
    """
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)


def slack(value: float | None, *, vacuous: bool = False) -> str:
    """A slack as a factor: how far the two sides are apart on the permitted side.

    >>> slack(0.0), slack(0.30103), slack(12.4), slack(-0.02), slack(None)
    ('x1', 'x2', 'x10^12.4', 'x0.955', '')
    """
    if value is None:
        return ""
    text = f"x{10 ** value:.3g}" if abs(value) < 2.5 else f"x10^{value:.1f}" if abs(value) < 1e5 else f"x10^{value:.2g}"
    return text + (" (vacuous here)" if vacuous else "")


def number(value: Measured | None) -> str:
    """A measured value in one short piece of text."""
    if value is None:
        return "-"
    if isinstance(value, Exact):
        text = str(value.value)
        return text if len(text) <= 24 else f"{text[:6]}...{text[-4:]} ({len(text)} digits)"
    if isinstance(value, Ball):
        low, high = (_decimal(x) for x in (value.low, value.high))
        return low if low == high else f"[{low}, {high}]"
    if isinstance(value, Proportion):
        return f"{value.mean:.4g} of {value.trials}"
    if isinstance(value, Outside):
        return "-"
    return f"mean {value.mean:.4g} of {len(value.values)}"


def _decimal(value: Fraction) -> str:
    if value == 0 or 1e-300 < abs(value) < 1e300:
        return f"{float(value):.6g}"
    digits = log10(abs(value.numerator)) - log10(value.denominator)
    return f"{'-' if value < 0 else ''}10^{digits:.2f}"


def duration(seconds: float) -> str:
    """A time for people, with as much precision as an estimate deserves.

    >>> duration(3.2), duration(100), duration(9000)
    ('3 s', '2 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress(console: Console, seconds: Mapping[str, float], quiet: bool) -> Iterator[Callable[[Run], None]]:
    """A progress bar over runs with these expected seconds: done / total, time left, last run; nothing without a terminal."""
    if quiet or not console.is_terminal or not seconds:
        yield lambda run: None
        return
    done = 0
    last = TextColumn("{task.fields[count]} {task.description}", markup=False)
    with Progress(BarColumn(bar_width=20), TimeRemainingColumn(compact=True), last, console=console, transient=True) as bar:
        task = bar.add_task("", total=sum(seconds.values()), count=f"0/{len(seconds)}")

        def finished(run: Run) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=seconds.get(run.id, 0.0), count=f"{done}/{len(seconds)}", description=str(run)[: console.width - 42])

        yield finished


def print_table(console: Console, table: Table) -> None:
    """Print a table without cutting anything.

    Piped, every row is one line, however long. In a terminal columns that may wrap do so down to their least width; where even that does
    not fit, every row becomes a block: its first cell, then the others with their headings.
    """
    cells = [[_text(cell) for cell in column.cells] for column in table.columns]
    headings = [str(column.header) for column in table.columns]
    natural = [max(cell_len(text.plain) for text in (Text(heading), *column)) for heading, column in zip(headings, cells, strict=True)]
    gaps = table.padding[1] * len(table.columns)
    if not console.is_terminal:
        for size, column in zip(natural, table.columns, strict=True):
            column.width = size
        whole = Console(file=io.StringIO(), width=sum(natural) + gaps, highlight=False)
        with whole.capture() as captured:
            whole.print(table)
        console.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
        return
    widths = [size if column.no_wrap else min(size, column.min_width or size) for size, column in zip(natural, table.columns, strict=True)]
    left = console.width - sum(widths) - gaps
    if left >= 0:
        # Left to itself rich would cut where columns of a least width do not fit beside each other.
        for place, column in reversed(list(enumerate(table.columns))):
            column.width = min(natural[place], widths[place] + left)
            left -= column.width - widths[place]
        console.print(table)
        return
    for first, *others in zip(*cells, strict=True):
        console.print(first)
        shown = Text("  ").join(Text.assemble((f"{heading} ", "dim"), cell) for heading, cell in zip(headings[1:], others, strict=True) if cell)
        if shown:
            console.print(Padding(shown, (0, 0, 0, 3)))


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def verdict_table(results: list[ClaimResult]) -> Table:
    """One row per claim, grouped by topic: verdict, cases decided, tightest slack, source."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("claim", overflow="fold", min_width=28)
    table.add_column("verdict", no_wrap=True, min_width=7)
    table.add_column("cases", justify="right", no_wrap=True, min_width=7)
    table.add_column("slack", no_wrap=True, min_width=6)
    table.add_column("source, wording", overflow="fold", min_width=15)
    stem = ""
    for result in results:
        if result.claim.topic != stem:
            stem = result.claim.topic
            table.add_row(Text(stem, style="bold"), "", "", "", "")
        mark = "!" if result.unexpected else "*" if result.verdict is Verdict.FAILS else ""
        table.add_row(" " + clean(result.claim.key.partition("/")[2]), Text(verdict_name(result) + mark, style=STYLES[result.verdict]),
                      f"{len(result.decided)}/{len(result.in_scope)}", slack(result.tightest) + ("~" if result.vacuous else ""),
                      f"{result.claim.source.key} {result.claim.wording}")
    return table


LEGEND = """cases: decided / in scope.  slack: tightest ratio of both sides (x1: tight)
PROVED: checked certificates of every case of a finite statement.
ARGUED: a written proof; its algebra is machine-checked, its joints are prose.
* known to fail   ! unexpected   ~ vacuous
wording: printed = read in the source, reported = in a restatement,
recalled = from memory (check against the paper), derived = our own,
universal = a vague sentence read as one about all instances"""

def claims_table(claims: list[Claim]) -> Table:
    """Every claim with its title and how we know its wording."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("key", overflow="fold", min_width=40)
    table.add_column("wording", no_wrap=True)
    table.add_column("title", overflow="fold", min_width=20)
    for claim in claims:
        table.add_row(clean(claim.key), claim.wording, Text(clean(claim.title)))
    return table


def show(console: Console, result: ClaimResult, suite: str, *, cases: bool = True) -> None:
    """Everything about one claim, in the order in which a sceptical reader asks; without `cases`, all but the table of them."""
    claim = result.claim
    console.print(Text(f"{claim.key}: {clean(claim.title)}", style="bold"))
    for name, text in _facts(result, suite):
        table = Table.grid(padding=(0, 1))
        table.add_column(width=11, style="dim")
        table.add_column(overflow="fold")
        table.add_row(name, Text(clean(text)))
        console.print(table)
    if result.measured and cases:
        print_table(console, _case_table(result))


def _facts(result: ClaimResult, suite: str) -> Iterator[tuple[str, str]]:
    claim = result.claim
    yield "statement", plain(claim.statement)
    yield "in words", claim.text
    used = sorted(claim.statement.free_symbols, key=lambda s: s.name)
    # A claim from a file of the user's may use symbols of its own.
    yield "where", "; ".join(f"{plain(s)}: {term(s.name).meaning if term(s.name) else 'of this claim'}" for s in used)
    yield "LaTeX", latex(claim.statement)
    yield "kind", f"{claim.kind}; quantifier: {claim.holds_for}"
    yield "source", f"{claim.source} (wording {claim.wording}{'; check against the paper' if claim.wording == 'recalled' else ''})"
    if claim.assumes:
        yield "assumes", "; ".join(claim.assumes)
    if claim.note:
        yield "note", claim.note
    if not result.measured:
        yield "control", f"{NOT_RUN}: {claim.control.why}"
        yield "verdict", f"{NOT_RUN} (suite {suite})"
        return
    failing = sum(c.decision.verdict is Verdict.FAILS for c in result.cases)
    verdict = f"{verdict_name(result)}: {len(result.decided)} of {len(result.in_scope)} cases of suite {suite} decided"
    verdict += f", {failing} counterexample{'s' if failing > 1 else ''}" if failing else ""
    if result.tightest is not None:
        verdict += f", tightest slack {slack(result.tightest, vacuous=result.vacuous)}"
    yield "verdict", verdict + (f"; ATTENTION: {result.unexpected}" if result.unexpected else "")
    if claim.known:
        yield "expected", f"{claim.expected} before anything was measured; known since: {claim.known}"
    if claim.rests_on:
        yield "rests on", claim.rests_on
    for key, found in result.premises.items():
        yield "premise", f"{key}: {found}"
    control = result.control
    yield "control", f"{NOT_RUN}: {claim.control.why}" if control is None else (
        f"{'fails, as it must' if control.decision.verdict is Verdict.FAILS else control.decision.verdict.value}: {claim.control.why}")
    for place, step in enumerate(result.proof or ()):
        state = {True: "ok", False: "BROKEN", None: "?"}[step.holds]
        yield "" if place else "proof", f"[{state}] {step.says}"


def _case_table(result: ClaimResult) -> Table:
    claim = result.claim
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    relation = claim.statement.rel_op.replace("==", "=")
    for heading in ("case", plain(claim.statement.lhs), f"{relation} stated", "verdict", "slack"):
        table.add_column(heading, overflow="fold", no_wrap=heading not in ("case", "verdict"), min_width=18 if heading == "case" else 12)
    for row in result.cases:
        decision = row.decision
        text = row.verdict_name + (f": {decision.reason}" if decision.reason else " (settled)" if decision.certain else "")
        verdict = Text(clean(text), style=STYLES[decision.verdict])
        table.add_row(str(row.case), measured_side(claim, row), prediction(claim, row), verdict, slack(decision.slack))
    return table


def measured_side(claim: Claim, row: CaseResult) -> str:
    """The left side of the statement at the measured value, in one short piece of text: comparable with the prediction."""
    value = row.measured
    left = claim.statement.lhs
    if value is None or left.is_Symbol or isinstance(value, Statistical | Outside):
        return number(value)
    from depthlaw.theory.claim import at, measured_symbol
    from depthlaw.theory.exact.enclosure import ball, enclose

    low, high = (value.low, value.high) if isinstance(value, Ball) else (Fraction(value.value), Fraction(value.value))
    return f"{float(enclose(at(left, row.case), {measured_symbol(claim.statement, row.case): ball(low, high)}).mid()):.6g}"


def prediction(claim: Claim, row: CaseResult) -> str:
    """The predicted side at one case, in one short piece of text."""
    if row.decision.verdict is Verdict.OUT_OF_SCOPE:
        return "-"
    value = claim.predict(row.case)
    if isinstance(value, Measured):
        return number(value)
    import sympy

    from depthlaw.theory.exact.enclosure import enclose

    expression = sympy.sympify(value)
    if expression.is_Rational:
        return number(Exact(Fraction(int(expression.p), int(expression.q))))
    return f"{float(enclose(expression).mid()):.6g}"
