"""Verdicts and progress in a terminal."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.printing import definitions, symbols
from depthlaw.theory.claims.printing import text as written
from depthlaw.theory.claims.symbols import TERMS
from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict

from ..records.run import Run
from ..running.index import claims_index
from ..text import clean
from ..verdicts.claim_set import claim_set
from ..verdicts.display import (
    by_chance,
    duration,
    expectation,
    judged,
    measured_side,
    prediction,
    relation,
    slack,
    statement_latex,
    statement_text,
)
from ..verdicts.report import NOT_RUN, PREMISE_REFUTED, ClaimResult, marked
from .tables import CHANGED, plain_table, print_table

if TYPE_CHECKING:
    from ..verdicts.evidence_tree import Ground

STYLES: dict[str, str] = {
    Verdict.PROVED: "bold green",
    Verdict.ARGUED: "bold green",
    Verdict.HOLDS: "green",
    Verdict.FAILS: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.CONDITIONAL: "cyan",
    PREMISE_REFUTED: "bold red",
    Verdict.OUT_OF_SCOPE: "dim",
    NOT_RUN: "dim",
}


@contextmanager
def progress(
    console: Console, seconds: Mapping[str, float], quiet: bool
) -> Iterator[Callable[[Run], None]]:
    """A progress bar over runs with these expected seconds; nothing without a terminal."""
    if quiet or not console.is_terminal or not seconds:
        yield lambda run: None
        return
    done = 0
    columns = (
        BarColumn(bar_width=20),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[count]} {task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=sum(seconds.values()), count=f"0/{len(seconds)}")

        def finished(run: Run) -> None:
            nonlocal done
            done += 1
            bar.update(
                task,
                advance=seconds.get(run.id, 0.0),
                count=f"{done}/{len(seconds)}",
                description=str(run)[: console.width - 42],
            )

        yield finished


def verdict_table(results: list[ClaimResult]) -> Table:
    """One row per claim that has cases in the suite, grouped by topic: verdict, cases decided,
    tightest slack, source; at the end how many have none."""
    table = plain_table()
    table.add_column("claim", overflow="fold", min_width=28)
    table.add_column("verdict", no_wrap=True, min_width=7)
    table.add_column("cases", justify="right", no_wrap=True, min_width=7)
    table.add_column("slack", no_wrap=True, min_width=6)
    table.add_column("source, wording", overflow="fold", min_width=15)
    topic = ""
    listed = [
        result
        for result in results
        if result.cases or result.proof or result.failures or result.unexpected
    ]
    for result in listed:
        if result.claim.topic != topic:
            topic = result.claim.topic
            table.add_row(Text(topic, style="bold"), "", "", "", "")
        mark = "!" if result.unexpected else ", known" if result.verdict is Verdict.FAILS else ""
        table.add_row(
            " " + clean(result.claim.name),
            Text(marked(result) + mark, style=STYLES[result.verdict]),
            f"{len(result.decided)}/{len(result.in_scope)}",
            slack(result.tightest) + ("~" if result.vacuous else ""),
            f"{result.claim.source.key} {result.claim.wording}",
        )
    if left := len(results) - len(listed):
        table.add_row(f"{plural(left, 'claim')} without cases here", "", "", "", "")
    return table


LEGEND = f"""cases: decided / in scope.  slack: tightest ratio of both sides
(x1: tight; below x1: violated by that factor)
PROVED: checked certificates of every case of a finite statement.
ARGUED: a written proof; its algebra is machine-checked, its joints are prose.
HOLDS: every case agrees.  FAILS: a case refutes it.
(settled): one observation decides the case, without chance.
UNDECIDED: what was measured does not tell.
CONDITIONAL: rests on claims that are neither PROVED nor ARGUED.
PREMISE REFUTED: rests on a claim that FAILS.
known: was known to fail   ! unexpected   ~ vacuous (both sides a million apart)
{CHANGED}
wording: printed = read in the source, reported = in a restatement,
recalled = from memory (check against the paper), derived = our own,
universal = a vague sentence read as one about all instances
`depthlaw why KEY` shows what a verdict rests on."""


def show(
    console: Console,
    result: ClaimResult,
    suite: str,
    known: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Everything about one claim, in the order in which a sceptical reader asks. Piped, each fact
    is one line, however long.

    Args:
        known: what `claims_index` says of the claims among which it stands, by default of those
            that come with depthlaw.
    """
    claim, known = result.claim, claims_index() if known is None else known
    console.print(
        Text(f"{claim.key}: {clean(claim.title)}", style="bold"), soft_wrap=not console.is_terminal
    )
    for name, text in _facts(result, suite, known):
        if not console.is_terminal:
            console.file.write(f"{name:12}{clean(text)}\n")
            continue
        table = Table.grid(padding=(0, 1))
        table.add_column(width=11, style="dim")
        table.add_column(overflow="fold")
        table.add_row(name, Text(clean(text)))
        console.print(table)
    if result.measured and result.claim.table is None:
        if constant := _constant(result):
            console.print(
                Text(f"\nin every case: {Case(**constant)}"), soft_wrap=not console.is_terminal
            )
        print_table(console, _case_table(result))
    own_table(console, [result])


def own_table(console: Console, results: list[ClaimResult]) -> None:
    """The tables that claims bring along, once for claims that share one."""
    makers: dict[Any, list[ClaimResult]] = {}
    for result in results:
        if result.claim.table is not None and result.measured:
            makers.setdefault(result.claim.table, []).append(result)
    for maker, group in makers.items():
        found = maker([row for result in group for row in result.cases])
        table = plain_table()
        for heading in found.columns:
            table.add_column(
                heading, no_wrap=True, justify="left" if heading in found.words else "right"
            )
        for row in found.rows:
            cells = (
                duration(cell.total_seconds()) if isinstance(cell, timedelta) else cell
                for cell in row
            )
            table.add_row(*cells)
        print_table(console, table)
        console.print(Text(f"\n{found.legend}\n", style="dim"))


# How many are shown unless all are asked for; of a premise none.
_SHOWN = {"case": 3, "step": 3, "record": 1, "certificate": 1}


def grounds(console: Console, root: Ground, *, whole: bool = False) -> None:
    """What a verdict rests on, as a tree; `whole`: with every case, step and record.

    Piped, everything is one line, however long.
    """
    shown = root if whole else _pruned(root, _SHOWN)
    if console.is_terminal:
        console.print(_branches(shown))
        return
    wide = Console(file=io.StringIO(), width=10**6, highlight=False)
    for line in wide.render_lines(_branches(shown), pad=False):
        console.file.write(f"{''.join(segment.text for segment in line).rstrip()}\n")


def hint(console: Console, text: str) -> None:
    """Commands that go on from what was shown."""
    console.print(Text(f"\n{clean(text)}", style="dim"), soft_wrap=True)


def _pruned(ground: Ground, most: Mapping[str, int]) -> Ground:
    """A tree without most cases, steps and records, each kind followed by how many were left
    out."""
    most = dict.fromkeys(most, 0) if ground.kind == "premise" else most
    below: list[Ground] = []
    # Steps that are not confirmed first; cases are in the order of what they decide.
    for kind, group in groupby(ground.below, lambda each: each.kind):
        listed = sorted(group, key=lambda each: kind == "step" and each.verdict == "confirmed")
        kept = most.get(kind, len(listed))
        below += [_pruned(each, most) for each in listed[:kept]]
        if kept and listed[kept:]:
            counts = Counter(each.verdict for each in listed[kept:])
            words = ", ".join(
                f"{n} more {verdict or plural(n, kind).partition(' ')[2]}"
                for verdict, n in counts.items()
            )
            below.append(
                replace(ground, kind="left out", name="", says=words, verdict="", below=())
            )
    return replace(ground, below=tuple(below))


def _branches(ground: Ground) -> Tree:
    tree = Tree(_line(ground), guide_style="dim")
    for below in ground.below:
        tree.children.append(_branches(below))
    return tree


# What stands before the text of a ground; the others have lines of their own.
_BEFORE = {
    "statement": "states ",
    "reason": "because ",
    "attention": "ATTENTION: ",
    "cases": "",
    "remedy": "would decide: ",
    "proof": "proof: ",
    "reading": "to be read: ",
    "assumption": "assumes ",
    "left out": "",
    "changed": "* changed after data were seen: ",
}
_STEP = {"confirmed": "ok", "BROKEN": "BROKEN", "open": "?"}


def _line(ground: Ground) -> Text:
    """A ground in one line of text."""
    name, says = clean(ground.name), clean(ground.says)
    verdict = (ground.verdict, STYLES.get(ground.verdict, ""))
    match ground.kind:
        case "claim":
            return Text.assemble((name, "bold"), ": ", verdict, f", {says}")
        case "premise":
            return Text.assemble("premise ", (name, "bold"), ": ", verdict, f", {says}")
        case "case":
            return Text.assemble(verdict, f" at {name}: {says}")
        case "step":
            return Text(f"[{_STEP[ground.verdict]}] {says}")
        case "certificate":
            return Text(f"certificate {name}: {says}")
        case "source":
            wording = f" (wording {ground.verdict})" if ground.verdict else ""
            return Text(f"source {name}{wording}: {says}")
        case "named":
            return Text(f"the source names {name}: {says}")
        case "control":
            found = "fails, as it must" if ground.verdict == Verdict.FAILS else ground.verdict
            return Text(f"negative control {found}: {says}; at {name}")
        case "record":
            return Text(f"record {name[:10]}: {says}", style="dim")
        case "records":
            return Text(f"{says}; manifest {name}", style="dim")
    return Text(f"{_BEFORE[ground.kind]}{says}", style="dim" if ground.kind == "left out" else "")


def _facts(
    result: ClaimResult, suite: str, known: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    claim = result.claim
    yield "verdict", _verdict(result, suite)
    if result.news:
        yield "news", result.news
    if result.measured and claim.post_hoc:
        yield "*", f"changed after data were seen: {claim.post_hoc}"
    if result.measured and claim.known:
        yield "expected", expectation(claim)
    if claim.cited:
        yield "at stake", claim.cited
    if claim.supports:
        yield "supports", f"{claim.supports}: {known[claim.supports]['title']}"
    yield "statement", statement_text(claim)
    if how := judged(claim):
        yield "", how
    yield "in words", claim.text
    for place, made in enumerate(definitions(claim.statement)):
        yield "" if place else "with", made.text + (f": {made.meaning}" if made.meaning else "")
    # A claim from a file of the user's may use symbols that are not declared.
    declared = [(s, TERMS.get(s.name)) for s in symbols(claim.statement)]
    yield (
        "where",
        "; ".join(f"{written(s)}: {t.meaning if t else 'of this claim'}" for s, t in declared),
    )
    yield "LaTeX", statement_latex(claim)
    yield "kind", f"{claim.kind}; quantifier: {claim.holds_for}"
    check = "; check against the paper" if claim.wording == "recalled" else ""
    yield "source", f"{claim.source} (wording {claim.wording}{check})"
    if claim.assumes:
        yield "assumes", "; ".join(claim.assumes)
    for place, row in enumerate(supporting(claim.key, known)):
        released = claim_set().claims.get(row["key"])
        verdict = f" {released.verdict}" if released else ""
        yield "" if place else "below it", f"{row['key']}{verdict}: {row['title']}"
    if claim.note:
        yield "note", claim.note
    if not result.measured:
        yield "control", f"{NOT_RUN}: {claim.control.why}"
        return
    if claim.rests_on:
        yield "rests on", claim.rests_on
    for key, found in result.premises.items():
        yield "premise", f"{key}: {found}"
    found = result.control.decision.verdict.value if result.control else NOT_RUN
    said = "fails, as it must" if found == Verdict.FAILS else found
    yield "control", f"{said}: {claim.control.why}"
    for place, step in enumerate(result.proof or ()):
        state = {True: "ok", False: "BROKEN", None: "?"}[step.holds]
        yield "" if place else "proof", f"[{state}] {step.says}"


def supporting(
    key: str,
    known: Mapping[str, Mapping[str, str]],
) -> list[Mapping[str, str]]:
    """What is known of the claims that support a cited one."""
    return [row for row in known.values() if row["supports"] == key]


def _verdict(result: ClaimResult, suite: str) -> str:
    if not result.measured:
        return f"{NOT_RUN} (suite {suite})"
    failing = sum(c.decision.verdict is Verdict.FAILS for c in result.cases)
    counts = f"{len(result.decided)} of {len(result.in_scope)} cases of suite {suite} decided"
    verdict = f"{marked(result)}: {counts}"
    verdict += f", {plural(failing, 'counterexample')}" if failing else ""
    # Where a case fails, the tightest is by how much it does: no slack.
    if result.tightest is not None and not failing:
        verdict += f", tightest slack {slack(result.tightest, vacuous=result.vacuous)}"
    return verdict + (f"; ATTENTION: {result.unexpected}" if result.unexpected else "")


def _constant(result: ClaimResult) -> dict[str, Any]:
    """The fields that are the same in all of several cases."""
    first, *others = [row.case.fields() for row in result.cases]
    return {
        name: value
        for name, value in first.items()
        if others and all(name in fields and fields[name] == value for fields in others)
    }


def _case_table(result: ClaimResult) -> Table:
    claim, constant = result.claim, _constant(result)
    table = plain_table(2)
    for heading in (
        "case",
        written(claim.statement.lhs),
        f"{relation(claim)} stated",
        "verdict",
        "slack",
    ):
        width = 18 if heading == "case" else 12
        whole = heading not in ("case", "verdict")
        table.add_column(heading, overflow="fold", no_wrap=whole, min_width=width)
    for row in result.cases:
        decision = row.decision
        settled = " (settled)" if decision.certain else ""
        text = row.verdict_name + (f": {decision.reason}" if decision.reason else settled)
        text += f"; {chance}" if (chance := by_chance(result, row)) else ""
        verdict = Text(clean(text), style=STYLES[decision.verdict])
        sides = measured_side(claim, row), prediction(claim, row)
        varying = {k: v for k, v in row.case.fields().items() if k not in constant}
        table.add_row(str(Case(**varying)), *sides, verdict, slack(decision.slack))
    return table
