"""Verdicts and progress in a terminal."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.readable import readable

from ..text import clean
from .tables import CHANGED, plain_table, print_table, text_table

# Nothing here loads SymPy, without which `show` and `why` can answer.
if TYPE_CHECKING:
    from rich.tree import Tree

    from ..records.run import Run
    from ..verdicts.shipped_answers import Card, Ground, OwnTable
    from ..verdicts.suite_verdicts import ClaimResult

STYLES: dict[str, str] = {
    "PROVED": "bold green",
    "ARGUED": "bold green",
    "HOLDS": "green",
    "FAILS": "bold red",
    "FAILS (as reported)": "bold red",
    "FAILS (as recalled)": "bold red",
    "READING FAILS": "red",
    "UNDECIDED": "yellow",
    "CONDITIONAL": "cyan",
    "PREMISE REFUTED": "bold red",
    "OUT_OF_SCOPE": "dim",
    "not complete": "bold red",
    "not run": "dim",
}


@contextmanager
def progress(
    console: Console, seconds: Mapping[str, float], quiet: bool
) -> Iterator[Callable[[Run], None]]:
    """A progress bar over runs with these expected seconds; nothing without a terminal."""
    if quiet or not console.is_terminal or not seconds:
        yield lambda run: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

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


@contextmanager
def waiting(console: Console, what: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """What is being done, and for how long already, in a line that goes when it is done; it can be
    told anew. Nothing without a terminal."""
    if quiet or not console.is_terminal:
        yield lambda what: None
        return
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as line:
        task = line.add_task(what, total=None)
        yield lambda what: line.update(task, description=what)


def verdict_table(results: list[ClaimResult]) -> Table:
    """One row per claim that has cases in the suite, grouped by topic: verdict, cases decided,
    tightest slack, source; at the end how many have none."""
    from ..verdicts.display import slack
    from ..verdicts.suite_verdicts import NOT_COMPLETE, incomplete, marked, verdict_name

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
        fails, word = result.verdict == "FAILS", verdict_name(result)
        mark = "!" if result.unexpected else ", known" if fails else ""
        said = incomplete(result) if word == NOT_COMPLETE else marked(result) + mark
        failing = sum(row.decision.verdict == "FAILS" for row in result.cases)
        table.add_row(
            " " + clean(result.claim.name),
            Text(said, style=STYLES[word]),
            f"{failing} of {len(result.in_scope)} fail{'s' if failing == 1 else ''}"
            if fails
            else f"{len(result.decided)}/{len(result.in_scope)}",
            slack(result.tightest) + ("~" if result.vacuous else ""),
            f"{result.claim.source.key} {result.claim.wording}",
        )
    if left := len(results) - len(listed):
        table.add_row(f"{plural(left, 'claim')} without cases here", "", "", "", "")
    return table


_LEGEND = f"""cases: decided / in scope, or how many of these fail.
slack: ratio of the two sides where it is tightest (x1: equal; below x1: violated)
PROVED: a proof kernel checked the theorem, or certificates settle all cases.
ARGUED: a written proof; a machine checked its algebra, its joints are prose.
HOLDS: every case agrees.
FAILS: a case refutes it.
FAILS (as reported): a case refutes the sentence as another text reports it.
FAILS (as recalled): a case refutes the sentence as we recall it.
READING FAILS: a case refutes our reading of a vague sentence; the source may mean less.
(settled): one observation decides the case, without chance.
UNDECIDED: the measurement leaves both answers possible.
CONDITIONAL: rests on claims that are neither PROVED nor ARGUED.
PREMISE REFUTED: rests on a claim that FAILS.
, known: we knew before this run that it fails.
not complete: a run failed.
!: unexpected.
~: vacuous (both sides differ by a factor of a million).
{CHANGED}
printed: read in the source.
reported: read in a restatement.
recalled: from memory (check against the paper).
derived: our own.
universal: our reading of a vague sentence as one about all instances."""


def legend(table: Table, *, own: bool = False) -> str:
    """What signs and words of a table of verdicts mean, those that stand in it; `own`: it has
    claims of a user's file, which are not ours."""
    cells = "\n".join(str(cell) for column in table.columns[1:] for cell in column.cells)
    known = _LEGEND.replace("our own", "of the author of its file; else ours") if own else _LEGEND
    said, *lines = known.split("\n")
    return "\n".join([said, lines[0], *(x for x in lines[1:] if x.partition(":")[0] in cells)])


def show(console: Console, card: Card, *, whole: bool = False) -> None:
    """One claim: verdict, sentence, number and source; `whole`: with all its evidence. Piped, each
    fact is one line, however long."""
    console.print(Text(clean(card.heading), style="bold"), soft_wrap=not console.is_terminal)
    for name, text in card.lead + card.facts * whole:
        if not console.is_terminal:
            console.file.write(f"{name:12}{clean(text)}\n")
            continue
        table = Table.grid(padding=(0, 1))
        table.add_column(width=11, style="dim")
        table.add_column(overflow="fold")
        style = next((STYLES[w] for w in STYLES if text.startswith(w)), "") * (name == "verdict")
        table.add_row(name, Text(clean(text), style=style))
        console.print(table)
    if not whole:
        return
    if card.constant:
        console.print(Text(f"\nin every case: {card.constant}"), soft_wrap=not console.is_terminal)
    if card.sides:
        print_table(console, _case_table(card, *card.sides))
    if card.own:
        own_table(console, card.own)


def _case_table(card: Card, left: str, sign: str) -> Table:
    table = plain_table(2)
    for heading in ("case", left, f"{sign} stated", "verdict", "slack"):
        width = 18 if heading == "case" else 12
        whole = heading not in ("case", "verdict")
        table.add_column(heading, overflow="fold", no_wrap=whole, min_width=width)
    for case, measured, stated, text, slack, verdict in card.cases:
        table.add_row(case, measured, stated, Text(clean(text), style=STYLES[verdict]), slack)
    return table


def own_table(console: Console, own: OwnTable) -> None:
    """A table that a claim brings along."""
    print_table(console, text_table(*own.columns, rows=own.rows, left=own.words, gap=1))
    console.print(Text(f"\n{own.legend}\n", style="dim"))


# How many are shown unless all are asked for; of a premise none.
_SHOWN = {"case": 3, "step": 3, "record": 1, "certificate": 1}


def grounds(console: Console, root: Ground, *, whole: bool = False) -> None:
    """What a verdict rests on, as a tree; `whole`: with every case, step and record.

    Piped, everything is one line, however long.
    """
    pruned = root if whole else _pruned(root, _SHOWN)
    if console.is_terminal:
        console.print(_branches(pruned))
        return
    wide = Console(file=io.StringIO(), width=10**6, highlight=False)
    for line in wide.render_lines(_branches(pruned), pad=False):
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
    for kind, group in groupby(ground.below, lambda child: child.kind):
        listed = sorted(group, key=lambda child: kind == "step" and child.verdict == "confirmed")
        kept = most.get(kind, len(listed))
        below += [_pruned(child, most) for child in listed[:kept]]
        if kept and listed[kept:]:
            counts = Counter(child.verdict for child in listed[kept:])
            words = ", ".join(
                f"{n} more {verdict or plural(n, kind).partition(' ')[2]}"
                for verdict, n in counts.items()
            )
            below.append(
                replace(ground, kind="left out", name="", says=words, verdict="", below=())
            )
    return replace(ground, below=tuple(below))


def _branches(ground: Ground) -> Tree:
    from rich.tree import Tree

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
    "formal proof": "kernel: ",
    "reading": "to be read: ",
    "assumption": "assumes ",
    "left out": "",
    "changed": "* changed after data were seen: ",
}
_STEP = {"confirmed": "ok", "BROKEN": "BROKEN", "open": "?"}


def _line(ground: Ground) -> Text:
    """A ground in one line of text."""
    name, says = clean(ground.name), readable(clean(ground.says))
    verdict = (ground.verdict, STYLES.get(ground.verdict, ""))
    match ground.kind:
        case "claim" | "premise":
            before = "premise " if ground.kind == "premise" else ""
            return Text.assemble(before, (name, "bold"), ": ", verdict, f", {says}")
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
            verdict_word = "fails, as it must" if ground.verdict == "FAILS" else ground.verdict
            return Text(f"negative control {verdict_word}: {says}; at {name}")
        case "record":
            return Text(f"record {name[:10]}: {says}", style="dim")
        case "records":
            return Text(f"{says}; manifest {name}", style="dim")
    return Text(f"{_BEFORE[ground.kind]}{says}", style="dim" if ground.kind == "left out" else "")
