"""`depthlaw verify`: run a suite and print its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from rich.text import Text

from depthlaw.advisor.base.quantities import plural, quoted
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET

from ..records.environment import installing
from ..records.run import Failure
from ..records.store import StoreError, manifest
from ..running.claims_index import claims_index, select
from ..running.interrupts import TIME_IS_UP, Stopped
from ..running.options import Options
from ..running.scheduling import memory_check
from ..suite import Work, prepare
from ..text import clean
from ..verdicts.card import own_tables
from ..verdicts.display import duration
from ..verdicts.failing_case import failing_instance
from ..verdicts.reference_ledger import Agreement, compare, run_name, shipped
from ..verdicts.suite_answers import SuiteAnswer, copied, keep_answer
from ..verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    ClaimResult,
    as_json,
    chance,
    verdict_name,
)
from . import terminal
from .plain import dump, note, notes, report_set_aside, report_unnamed, say, stdout, tell
from .tables import print_table


def verify(
    suite: str,
    folder: Path | None,
    *,
    only: list[str] | None,
    own: Path | None,
    corpus: Path | None,
    json_output: bool,
    quiet: bool,
    **typed: Any,
) -> int:
    """Run a suite, or the claims of a file in it, and print the verdicts. The exit code is 0, 1 (a
    decided verdict against a decided one, a failed run, a control that does not fail, a broken
    proof) or 130 (interrupted); out of --minutes it is 0, and a line says what is missing. `typed`:
    the fields of `Options`."""
    asked = {"suite": suite, "only": only, "json_output": json_output, "quiet": quiet, **typed}
    only, options = only or [], Options(**typed)
    if own is None:
        select(only, claims_index())  # before anything is imported
    given = {"corpus": corpus} if corpus is not None else {}
    work = prepare(suite, folder, only=only, own=own, options=options, given=given)
    report_set_aside(work.store)
    report_unnamed(work.claims.values())
    silent = quiet or json_output
    if not silent:
        known = ""
        if work.todo and work.expected.known:
            known = f"; at least {duration(work.expected.total)} of work, {work.basis}"
        note(
            f"depthlaw {version('depthlaw')}: suite {work.suite}, {len(work.runs)} runs, "
            f"{len(work.runs) - len(work.todo)} already recorded in {work.store.root}{known}"
        )
    try:
        with terminal.progress(notes(), work.expected.seconds, silent) as finished:
            failures = work.execute(finished, options.minutes)
    except Stopped as stop:
        note(work.left_by(stop))
        if not silent:
            for table in own_tables(work.judged()):
                terminal.own_table(stdout(), table)
        # A time limit that was asked for is no interruption.
        return 0 if str(stop) == TIME_IS_UP else 130
    listed = manifest(work.recorded)
    work.store.write_manifest(listed)
    agreement, said = _agreement(work)
    for line in said:
        note(line)
    complete = not only and own is None and corpus is None
    with copied() as printed:
        judged, more = work.judged(failures), {"json_output": json_output, "complete": complete}
        code = _report(work, judged, failures, listed, agreement, own, **more)
    if not (failures or own or corpus):
        answer = SuiteAnswer(printed.getvalue(), code, len(work.runs), listed["hash"], said)
        keep_answer(work.store, asked, answer)
    return code


def _report(
    work: Work,
    judged: list[ClaimResult],
    failures: list[Failure],
    listed: Mapping[str, Any],
    agreement: Agreement | None,
    own: Path | None,
    *,
    json_output: bool,
    complete: bool,
) -> int:
    """Print the verdicts. Returns the exit code."""
    if json_output:
        dump(
            {
                "suite": work.suite,
                "complete": complete,
                "manifest": listed["hash"],
                "runs": len(listed["runs"]),
                "results_folder": str(work.store.root),
                "set_aside": [[item.name, item.why] for item in work.store.set_aside],
                "reference": agreement.as_json() if agreement else None,
                "false_alarms_expected": asdict(chance(judged)),
                "claims": [as_json(r) for r in judged],
            }
        )
    else:
        for line in memory_check(work.stages, work.store.get):
            say(line)
        _print_summary(judged, agreement)
        _print(judged, failures, f" --claims {quote(str(own))}" if own else "")
        of = "" if complete else " (the chosen claims alone, not the suite)"
        runs = plural(len(listed["runs"]), "run")
        if listed["runs"]:
            tell(f"{runs}. Their manifest, to cite{of}:")
            say(listed["hash"])
        if agreement is not None and agreement.disagreements:
            say(
                "  a run whose code has changed since the reference was recorded may differ "
                "for that reason"
            )
            for key, here, there in agreement.disagreements[:3]:
                differs = f"here {quoted(str(here))}, reference {quoted(str(there))}"
                say(f"  differs: {run_name(key)}: {differs}")
        if len(judged) > _SCREEN:
            # The first line has scrolled away.
            wrong = sum(bool(result.unexpected) for result in judged)
            said = f"{wrong} UNEXPECTED, marked ! above" if wrong else "nothing unexpected"
            asked = sum(verdict_name(result) != NOT_RUN for result in judged)
            tell(f"{plural(asked, 'claim')} judged: {said}")
    return 1 if any(result.unexpected for result in judged) else 0


# Claims that fit a screen.
_SCREEN = 20


def _print(judged: list[ClaimResult], failures: list[Failure], file: str) -> None:
    console = stdout()
    for table in own_tables(judged):
        terminal.own_table(console, table)
    verdicts = terminal.verdict_table(judged)
    print_table(console, verdicts)
    why = f"`depthlaw why KEY{file}` shows what a verdict rests on."
    legend = terminal.legend(verdicts, own=any(result.claim.own for result in judged))
    console.print(Text(f"\n{legend}\n{why}\n", style="dim"))
    # Runs that failed for one reason, whatever case it names, are one line.
    failed: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        reason = failure.why.replace(str(failure.run.case), "")
        failed.setdefault((failure.run.claim.key, reason), []).append(failure)
    for first, *others in failed.values():
        also = f" and {plural(len(others), 'more run')}" if others else ""
        say(f"failed: {first.run}{also}: {first.why}")
    for result in judged:
        if failing := failing_instance(result):
            tell(f"{result.claim.key} fails at {readable(str(failing))}")
    for result in judged:
        if result.unexpected:
            wrong = clean(f"! {result.claim.key}: {result.unexpected}")
            console.print(Text(wrong, style="bold red"))
    for result in judged:
        if premise := result.premise_refuted:
            say(f"premise refuted: {result.claim.key} rests on {premise}, which FAILS")
    for result in judged:
        if result.news:
            say(f"news: {result.claim.key}: {result.news}")
    lacking = Counter(
        r.claim.needs for r in judged if r.cases and r.claim.needs and not r.claim.measurable
    )
    for extra, number in lacking.items():
        needs = "it needs" if number == 1 else "they need"
        here = f"{plural(number, 'claim')} cannot be run here; {needs}"
        say(f"{here} the extra {extra}: {installing(extra)}")


def _print_summary(judged: list[ClaimResult], agreement: Agreement | None) -> None:
    """The answer, before its table: how many claims have which verdict, how many of the verdicts
    chance may have turned, and how the runs compare with the reference."""
    console, counts = stdout(), Counter(verdict_name(result) for result in judged)
    asked = len(judged) - counts[NOT_RUN]
    unexpected = sum(bool(result.unexpected) for result in judged)
    named = ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v] and v != NOT_RUN)
    lines = [
        f"{plural(asked, 'claim')} judged: {named or 'none'}; "
        + (f"{unexpected} UNEXPECTED" if unexpected else "nothing unexpected")
    ]
    turned = chance(judged)
    if both := turned.fixed + turned.starred:
        starred = (
            f", and {turned.alarms_starred:.2g} of the {turned.starred} changed after data were "
            "seen (`*`), not counting what that change chose"
        )
        lines.append(
            f"chance: {plural(both, 'claim')} may err by sampling, each with probability at most "
            f"{FALSE_ALARM_BUDGET:g} (under normality, where its intervals assume it): at most "
            f"{turned.alarms_fixed:.2g} false alarms to expect of the {turned.fixed} fixed "
            f"beforehand{starred if turned.starred else ''}"
        )
    drawn: dict[str, list[str]] = {}
    for claim in (result.claim for result in judged if result.cases):
        if claim.own and claim.draws:
            drawn.setdefault(claim.draws, []).append(claim.key)
    lines += [f"random instances: {n} ({', '.join(keys)})" for n, keys in drawn.items()]
    if agreement is not None:
        lines.append(agreement.line)
    for line in lines:
        console.print(Text(clean(line)), soft_wrap=not console.is_terminal)


def _agreement(work: Work) -> tuple[Agreement | None, tuple[str, ...]]:
    """How the records compare with the ledger that comes with depthlaw, None where it holds none;
    and what is said where it cannot be read."""
    try:
        reference = shipped()
    except StoreError as error:
        return None, (f"no comparison: {error}",)
    agreement = compare(work.recorded, reference or (), lambda key: work.claims[key].portable)
    return agreement if agreement.compared + agreement.by_verdict else None, ()
