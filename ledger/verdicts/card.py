"""A claim with its evidence as plain text: from what is judged to what `show` prints.

python -m depthlaw.ledger.verdicts.card     # write the answers that come with depthlaw again, and
                                            # the verdicts beside laws, advisor/verdicts.csv
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from depthlaw.advisor import claim_verdicts
from depthlaw.advisor.atlas import bounds
from depthlaw.advisor.base.quantities import plural
from depthlaw.advisor.initialisation_advice import advised_claims
from depthlaw.advisor.rules import rules
from depthlaw.advisor.task_depths import answer_task
from depthlaw.theory.claims.definition import SUITES, find, registry
from depthlaw.theory.claims.formal import said
from depthlaw.theory.claims.printing import definitions, symbols, text as written
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.symbols import term_of
from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, worded

from ..records.store import write_file
from ..running.claims_index import claims_index
from . import display
from .claim_set import claim_set
from .display import slack
from .evidence_tree import because, grounds, telling_first
from .failing_case import failing_instance
from .known_verdicts import shared_fields
from .record_source import evidence, from_reference, largest_recorded_suite, runs_of
from .shipped_answers import FILE, Card, OwnTable, ShippedAnswer, write_answers
from .suite_verdicts import NOT_RUN, CaseResult, ClaimResult, in_full, results, size


def card(result: ClaimResult, known: Mapping[str, Mapping[str, str]] | None = None) -> Card:
    """A claim with its evidence; `known` is what `claims_index` says of the claims among which it
    stands, by default of those that come with depthlaw."""
    claim = result.claim
    known = claims_index() if known is None else known
    lead, facts = (
        tuple((name, readable(text)) for name, text in part)
        for part in (_lead(result), _facts(result, known))
    )
    heading = f"{claim.key}: {claim.plain.entitled}"
    if not result.measured:
        return Card(heading, lead, facts)
    if claim.table is not None:
        return Card(heading, lead, facts, own=next(own_tables([result])))
    constant = shared_fields(row.case for row in result.cases)
    return Card(
        heading,
        lead,
        facts,
        str(Case(**constant)) if constant else "",
        (written(claim.statement.lhs), display.relation(claim)),
        tuple(_row(result, row, constant) for row in result.cases),
    )


def own_tables(results: Iterable[ClaimResult]) -> Iterator[OwnTable]:
    """The tables that claims bring along, once for claims that share one."""
    makers: dict[Any, list[CaseResult]] = {}
    for result in results:
        if result.claim.table is not None and result.measured:
            makers.setdefault(result.claim.table, []).extend(result.cases)

    def cell(content: str | timedelta) -> str:
        return content if isinstance(content, str) else display.duration(content.total_seconds())

    for maker, rows in makers.items():
        table = maker(rows)
        columns, words = (tuple(map(readable, names)) for names in (table.columns, table.words))
        cells = tuple(tuple(map(cell, row)) for row in table.rows)
        yield OwnTable(columns, words, cells, table.legend)


def _lead(result: ClaimResult) -> Iterator[tuple[str, str]]:
    """What a reader wants first: verdict, sentence, number, source."""
    claim = result.claim
    yield "verdict", _verdict(result)
    if result.unexpected:
        yield "ATTENTION", result.unexpected
    if result.news:
        yield "news", result.news
    if result.measured and claim.post_hoc:
        yield "*", f"changed after data were seen: {claim.post_hoc}"
    yield "sentence", claim.text
    if failing := failing_instance(result):
        yield "fails at", str(failing)
    elif number := _number(result):
        yield "number", number
    check = "; check against the paper" if claim.wording == "recalled" else ""
    yield "source", f"{claim.source} (wording {claim.wording}{check})"


def _number(result: ClaimResult) -> str:
    """The case that decides where none fails, with what was measured and what is stated; empty
    where nothing was measured at any case."""
    rows = [r for r in telling_first(result) if r.measured is not None and r in result.in_scope]
    if not rows:
        return ""
    row = rows[0]
    if row.decision.verdict is Verdict.HOLDS and row.decision.slack is None:
        row, name = max(rows, key=lambda row: size(row.case)), "largest case"
    else:
        name = "tightest case" if row.decision.verdict is Verdict.HOLDS else "undecided"
    constant = shared_fields(row.case for row in result.cases)
    at = Case(**{k: v for k, v in row.case.fields().items() if k not in constant})
    said = f"{name}{f' at {at}' if str(at) else ''}: {written(result.claim.statement.lhs)} "
    said += f"measured {display.measured_side(result.claim, row)}"
    if not row.decision.no_value:
        said += f", stated {display.stated(result.claim, row)}"
    if name == "tightest case":
        said += f" (slack {slack(row.decision.slack)})"
    return said


def _facts(
    result: ClaimResult, known: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """The rest, in the order in which a sceptical reader asks."""
    claim = result.claim
    if result.measured:
        yield "cases", _counts(result)
    if result.measured and claim.known:
        yield "expected", display.expectation(claim)
    if claim.cited:
        yield "at stake", claim.cited
    if claim.supports:
        yield "supports", f"{claim.supports}: {known[claim.supports]['title']}"
    yield "statement", display.statement_text(claim)
    if how := display.judged(claim):
        yield "", how
    for place, definition in enumerate(definitions(claim.statement)):
        meaning = f": {definition.meaning}" if definition.meaning else ""
        yield "" if place else "with", definition.text + meaning
    # A claim from a file of the user's may use symbols that are not declared.
    declared = [(written(s), term_of(s)) for s in symbols(claim.statement)]
    yield "where", "; ".join(f"{s}: {t.meaning if t else 'of this claim'}" for s, t in declared)
    yield "LaTeX", display.statement_latex(claim)
    draws = f"; {claim.draws}" if claim.own and claim.draws else ""
    yield "kind", f"{claim.kind}; quantifier: {claim.holds_for}{draws}"
    if claim.assumes:
        yield "assumes", "; ".join(claim.assumes)
    for place, row in enumerate(supporting(claim.key, known)):
        released = claim_set().claims.get(row["key"])
        verdict = f" {released.verdict}" if released else ""
        yield "" if place else "below it", f"{row['key']}{verdict}: {row['title']}"
    if claim.note:
        yield "note", claim.note
    if kernel := said(claim):
        yield "kernel", kernel
    if not result.measured:
        yield "control", f"{NOT_RUN}: {claim.control.why}"
        return
    if claim.rests_on:
        yield "rests on", claim.rests_on
    for key, verdict_word in result.premises.items():
        yield "premise", f"{key}: {verdict_word}"
    verdict_word = result.control.decision.verdict.value if result.control else NOT_RUN
    verdict_text = "fails, as it must" if verdict_word == Verdict.FAILS else verdict_word
    yield "control", f"{verdict_text}: {claim.control.why}"
    for place, step in enumerate(result.proof or ()):
        state = {True: "ok", False: "BROKEN", None: "?"}[step.holds]
        yield "" if place else "proof", f"[{state}] {step.says}"


def supporting(key: str, known: Mapping[str, Mapping[str, str]]) -> list[Mapping[str, str]]:
    """What is known of the claims that support a cited one."""
    return [row for row in known.values() if row["supports"] == key]


def _verdict(result: ClaimResult) -> str:
    if not result.measured:
        return f"{NOT_RUN} (suite {result.suite})"
    return f"{in_full(result)}: {because(result)}"


def _counts(result: ClaimResult) -> str:
    failing = len(result.failing)
    said = f"{len(result.decided)} of {len(result.in_scope)} cases of suite {result.suite} decided"
    said += f", {plural(failing, 'counterexample')}" if failing else ""
    # Where a case fails, the tightest is by how much it does: no slack.
    if result.tightest is not None and not failing:
        said += f", tightest slack {slack(result.tightest, vacuous=result.vacuous)}"
    return said


def _row(result: ClaimResult, row: CaseResult, constant: Mapping[str, Any]) -> tuple[str, ...]:
    claim, decision = result.claim, row.decision
    settled = " (settled)" if decision.certain else ""
    text = row.verdict_name + (f": {decision.reason}" if decision.reason else settled)
    text += f"; {chance}" if (chance := display.by_chance(result, row)) else ""
    varying = {k: v for k, v in row.case.fields().items() if k not in constant}
    sides = display.measured_side(claim, row), display.prediction(claim, row)
    return str(Case(**varying)), *sides, text, slack(decision.slack), decision.verdict.value


def answers(keys: Iterable[str]) -> Iterator[ShippedAnswer]:
    """What the reference ledger says of claims, where it holds records of them.

    Cost: a tenth of a second for each claim.
    """
    with TemporaryDirectory() as empty:
        for key in keys:
            claim = registry()[key]
            place = evidence(claim, Path(empty))
            if not place.said:
                continue
            devices = ("cpu", "cuda") if claim.accepts("device") else ("cpu",)
            cases = [run for run in runs_of(claim, SUITES) if run.case and not run.control]
            runs = {replace(run, device=device).id for run in cases for device in devices}
            shown = card(place.result), grounds(place.result, place.judged)
            said = place.verify, place.said
            yield ShippedAnswer(key, claim.needs, *said, tuple(sorted(runs)), *shown)


def advised_verdicts() -> dict[str, tuple[str, str]]:
    """Verdict and title of every claim that a rule, a task, advice or the atlas names, by key, as
    the shipped ledger has it. What is not recorded there is left out.

    Cost: some seconds.
    """
    tasks = (
        answer_task("connectivity", diameter="64"),
        answer_task("hops", hops="5"),
        answer_task("regular", length="64"),
    )
    named = {rule.claim for rule in rules()} | {n.claim for task in tasks for n in task.numbers}
    named |= {bound.claim for bound in bounds()} | advised_claims()
    verdicts = {}
    for claim in map(find, sorted(filter(None, named))):
        if known := from_reference(claim):
            suite = largest_recorded_suite(claim, known[0])
            (judged,) = results({claim.key: claim}, suite, known[0])
            verdicts[claim.key] = worded(claim, judged.verdict), claim.plain.entitled
    return verdicts


def main() -> None:
    """Write the verdicts that the advisor reads, and the answers, which follow from them too."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("claim", "verdict", "title"))
    table.writerows((claim, *verdict) for claim, verdict in advised_verdicts().items())
    write_file(claim_verdicts.FILE, text.getvalue().encode())
    write_answers(answers(registry()))
    print(f"{FILE}: {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
