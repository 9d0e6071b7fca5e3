"""What the commands do, apart from parsing their arguments: verify, claims, show, appendix, cite."""
from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from depthlaw.advisor.quantities import UsageError, parse_bytes, quoted
from depthlaw.theory.claim import ALONE, SUITES, WITHDRAWN, Claim, registry
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.symbols import latex, plain

from ..run.driver import Estimate, Stopped, estimate, execute
from ..run.engines import Engine, Inline, Pool
from ..run.frontier import BELOW, DEFAULT_MEMORY, KEY, Rates, Stage, by_cost, cost_check, entries, frontier_claims, stages, table
from ..run.frontier import LEGEND as FRONTIER_LEGEND
from ..run.options import Effort
from ..run.own_claims import all_claims, loader_of, only_own, with_premises
from ..run.records import Record, Store, StoreError, manifest
from ..run.suite import Failure, Run, plan
from ..verdicts.reference import Agreement, Ledger, compare, run_name, shipped, write_file
from ..verdicts.report import VERDICT_NAMES, ClaimResult, as_json, results, verdict_name
from . import terminal
from .shown import from_reference, largest_recorded_suite, runs_of


def verify(suite: str, folder: Path | None, *, only: Iterable[str] = (), own: Path | None = None, effort: Effort | None = None,
           json_output: bool = False, quiet: bool = False) -> int:
    """Run a suite, or the claims of a file in it, skipping what is recorded, and print the verdicts.

    Returns:
        The exit code: 0, 1 (something unexpected), 130 (interrupted or out of time; the records are kept).
    """
    effort = effort or Effort()
    engine = effort.made(loader_of(own))
    everything = claims_with(own)
    claims = asked(everything, only, suite, effort.device, own)
    runs = [replace(run, device=effort.device) for run in plan(claims, _suite(suite))]
    if not runs:
        raise UsageError(f"suite {suite} has no case that can be measured here for the claims asked for; try quick")
    store = open_store(folder)
    notes = Console(stderr=True, highlight=False)
    _report_set_aside(store, notes)
    todo = [run for run in runs if run.id not in store]
    work, expected, basis = work_of(todo, store, engine, effort, suite)
    silent = quiet or json_output
    if not silent:
        known = f"; about {terminal.duration(expected.total)} of work, {basis}" if expected.known else ""
        _say(notes, f"depthlaw {version('depthlaw')}: suite {suite}, {len(runs)} runs, {len(runs) - len(todo)} already recorded in "
                    f"{store.root}{known if todo else ''}")
    try:
        with terminal.progress(notes, expected.seconds, silent) as finished:
            failures = execute_all(work, store, finished, effort.minutes)
    except Stopped as stop:
        kept = sum(run.id in store for run in runs)
        _say(notes, f"{stop}: {kept} of {len(runs)} runs are recorded in {store.root}; the same command goes on from there")
        if suite == "frontier" and not silent:
            _print_frontier(results(claims, suite, store), everything)
        return 130
    judged = results(claims, suite, store, failures)
    listed = manifest(_recorded(runs, store))
    store.write_manifest(listed)
    agreement = _agreement(_recorded(runs, store), notes)
    if suite == "frontier" and not json_output:
        _print_frontier(judged, everything, expected.seconds, runs, work)
    _print_verdicts(judged, suite, listed, store, failures, json_output, agreement, complete=not list(only) and own is None)
    return 1 if any(result.unexpected for result in judged) else 0


def claims_with(own: Path | None) -> dict[str, Claim]:
    """Every claim by key, with those of a file of the user's."""
    return registry() if own is None else all_claims(str(own))


def asked(everything: dict[str, Claim], only: Iterable[str], suite: str, device: str, own: Path | None) -> dict[str, Claim]:
    """The claims to run: those asked for; else those of the file, if one is given; else all that a suite has cases for."""
    only = list(only)
    claims = select(everything, only or (only_own(everything) if own else ()))
    if own is not None:
        claims = with_premises(claims, everything)
    if suite in ALONE and not only:
        claims = {key: claim for key, claim in claims.items() if claim.cases(suite)}
    if device != "cpu":
        return frontier_claims(claims, suite, device)
    # The trainings of suite gpu would take days on a CPU.
    return {key: claim for key, claim in claims.items() if not claim.needs} if suite == "gpu" else claims


def work_of(todo: list[Run], store: Store, engine: Engine, effort: Effort, suite: str) -> tuple[list[Stage], Estimate, str]:
    """What is done together, in which order, how long it should take, and what that rests on."""
    if suite == "frontier" or effort.device != "cpu":
        seconds, trained = by_cost(todo, Rates.measured()) if todo else {}, [run for run in todo if run.claim.reads]
        memory, engine = parse_bytes(effort.memory or DEFAULT_MEMORY), engine if effort.device == "cpu" else Inline()
        work = [*stages(list(seconds), engine, memory), *([Stage(trained, engine)] if trained else [])]
        return work, Estimate({run.id: s for run, s in seconds.items()} | dict(estimate(trained, store).seconds), len(seconds)), "by the cost model"
    if effort.memory:
        raise UsageError("--memory is the budget of suite frontier; --max-memory caps each process of the pool")
    expected = estimate(todo, store)
    if isinstance(engine, Pool) and expected.total < 5 and len(todo) < 200 and effort.processes == 0:
        # Starting processes costs seconds.
        engine = Inline()
    return [Stage(todo, engine)], expected, "by earlier records"


def execute_all(work: list[Stage], store: Store, finished: Callable[[Run], None], minutes: float | None) -> list[Failure]:
    """Execute one stage after the other. Returns the runs that failed."""
    started, failures = time.monotonic(), list[Failure]()
    for stage in work:
        left = None if minutes is None else max(minutes - (time.monotonic() - started) / 60, 1e-3)
        with stage.budget():
            failures += execute(stage.runs, store, stage.engine, finished=finished, minutes=left)
    return failures


def _print_frontier(judged: list[ClaimResult], claims: dict[str, Claim], predicted: Mapping[str, float] | None = None,
                    runs: Iterable[Run] = (), work: Sequence[Stage] = ()) -> None:
    """The table of exact values, and how well the cost model did on what was just run."""
    console = Console(highlight=False)
    found = sorted((entry for result in judged if result.claim.key in (KEY, BELOW) for entry in entries(result, claims)),
                   key=lambda entry: (entry.width, entry.depth))
    terminal.print_table(console, table(found))
    console.print(Text(f"\n{FRONTIER_LEGEND}", style="dim"))
    for line in cost_check(judged, predicted or {}, runs, work):
        _say(console, line)
    console.print()


def claims(filter_text: str, json_output: bool) -> int:
    """List the claims whose key, title or words contain the text."""
    wanted = filter_text.lower()
    found = [c for c in registry().values() if wanted in f"{c.key} {c.title} {c.text} {c.source} {c.wording} {c.kind}".lower()]
    if not found:
        raise UsageError(f"no claim mentions {filter_text!r}; `depthlaw claims` lists all of them")
    if json_output:
        _dump([{"key": c.key, "title": c.title, "wording": c.wording, "kind": c.kind, "holds_for": c.holds_for,
                "source": str(c.source), "statement": plain(c.statement)} for c in found])
    else:
        terminal.print_table(Console(highlight=False), terminal.claims_table(found))
    return 0


def show(key: str, folder: Path | None, json_output: bool, own: Path | None = None) -> int:
    """Show one claim with the evidence recorded so far."""
    everything = claims_with(own)
    claim = next(iter(select(everything, [key]).values()))
    store = open_store(folder, read_only=True)
    _report_set_aside(store, Console(stderr=True, highlight=False))
    suite = largest_recorded_suite(claim, store)
    needs = f" (needs the extra: pip install 'depthlaw[{claim.needs}]')" if claim.measured is None else ""
    if not any(run.id in store for run in runs_of(claim, [suite])) and (known := from_reference(claim)) is not None:
        where, (store, today) = store.root, known
        suite = largest_recorded_suite(claim, store)
        age = "" if today else ", measured by an older version of the code"
        _say(Console(stderr=True, highlight=False), f"nothing is recorded for {key} in {where} yet; this is the reference ledger that comes "
             f"with depthlaw{age}; `depthlaw verify {suite} --only {key}` measures here{needs}")
    result = results(with_premises({key: claim}, everything) if own else {key: claim}, suite, store)[0]
    if json_output:
        _dump(as_json(result) | {"statement": plain(claim.statement), "latex": latex(claim.statement),
                                 "text": claim.text, "assumes": list(claim.assumes), "note": claim.note})
    else:
        terminal.show(Console(highlight=False), result, suite, cases=key not in (KEY, BELOW))
        if key in (KEY, BELOW) and result.measured:
            _print_frontier([result], registry())
        if not result.records:
            _say(Console(stderr=True, highlight=False), f"nothing is recorded for {claim.key} in {store.root} yet; "
                                                        f"run `depthlaw verify {suite} --only {key}`{needs}")
    return 0


def falsify(key: str, minutes: float, changes: list[str], folder: Path | None, json_output: bool) -> int:
    """Search for a counterexample of one claim. Returns 1 when one is found that nobody expected, otherwise 0."""
    from ..verdicts.falsify import falsify as search
    from ..verdicts.falsify import store

    if not 0 < minutes < 10**6:
        raise UsageError(f"--minutes {minutes} is not a positive number of minutes; try 1")
    claim = next(iter(select(registry(), [key]).values()))
    notes = Console(stderr=True, highlight=False)
    found = search(claim, minutes, changes, lambda line: None if json_output else _say(notes, line))
    refuted = found.decision.verdict is Verdict.FAILS
    path = store(found, open_store(folder).root) if refuted else None
    if json_output:
        _dump(found.certificate() | {"slack_log10": found.decision.slack, "tried": found.tried, "certificate": str(path) if path else None})
    else:
        console = Console(highlight=False)
        _say(console, f"statement  {plain(found.claim.statement)}")
        _say(console, f"{found.tried} instances tried; closest at [{found.case}]: {terminal.number(found.value)}")
        outcome = "a counterexample, judged rigorously" if refuted else "no counterexample"
        _say(console, f"{found.decision.verdict.value}: {outcome}, slack {terminal.slack(found.decision.slack) or 'not defined'}")
        if path:
            _say(console, f"certificate {path}")
    return 1 if refuted and claim.awaited != "FAILS" else 0


def recheck(path: Path, json_output: bool) -> int:
    """Verify a certificate from its file alone. Returns 0 when it stands, 1 when it does not."""
    from ..verdicts.falsify import finding
    from ..verdicts.falsify import recheck as verified

    data, steps = verified(path)
    stands = all(step.holds for step in steps)
    found = finding(data) if stands else None
    if json_output:
        _dump({"kind": data["kind"], "claim": data["claim"], "stands": stands, "established": found.says if found else None,
               "independent": found.independent if found else None, "steps": [[s.says, s.holds] for s in steps]})
    else:
        console = Console(highlight=False)
        for step in steps:
            _say(console, f"[{'ok' if step.holds else 'BROKEN'}] {step.says}")
        if found:
            _say(console, f"{found.says}; independent of the measuring code: {found.independent}")
        _say(console, "the certificate stands" if stands else "the certificate does not stand")
    return 0 if stands else 1


def certify(width: int, depth: int, file: Path, heads: int, force: bool) -> int:
    """Write the certificate of a lower bound on the separation rank."""
    if min(width, depth, heads) < 1 or width % heads or depth > 6:
        raise UsageError(f"width {width}, depth {depth}, heads {heads}: all must be positive, heads divide width, depth at most 6")
    if file.exists() and not force:
        raise UsageError(f"{file} exists; add --force to replace it, or choose another name")
    from depthlaw.theory.separation_rank.graded_pieces import piece_shape
    from depthlaw.theory.separation_rank.rank_certificate import LARGEST, certificate

    largest = max(min(piece_shape(width, depth, order)) for order in range((3**depth + 1) // 2))
    if largest > LARGEST:
        raise UsageError(f"width {width}, depth {depth}: the largest piece has {largest} rows, accepted are {LARGEST}; "
                         "try a smaller shape")
    data = certificate(width, depth, heads=heads)
    text = json.dumps(data, separators=(",", ":"))
    write_file(file, (text + "\n").encode())
    _say(Console(highlight=False), f"sep >= {data['rank']} for almost all weights; certificate {file} ({len(text) / 2**20:.1f} MB): check it by "
                                   f"`depthlaw recheck {file}`")
    return 0


def mutate(keys: Iterable[str], suite: str, folder: Path | None, json_output: bool) -> int:
    """Perturb every constant of the statements and report what notices. Returns 1 when an exact or argued claim has a survivor."""
    from ..run.archive import collection
    from ..verdicts.mutation import mutate as mutants_of
    from ..verdicts.mutation import unexplained

    found, store = select(registry(), keys), collection(folder)
    console = Console(highlight=False)
    _report_set_aside(store, Console(stderr=True, highlight=False))
    rows: list[dict[str, Any]] = []
    judged = results(found, _suite(suite), store)
    if not any(result.decided for result in judged):
        raise UsageError(f"nothing is recorded for suite {suite} in {store.root}; run `depthlaw verify {suite}` first")
    for result in judged:
        mutants = mutants_of(result)
        fates = Counter(m.fate for m in mutants)
        alive = [m for m in mutants if not m.turned]
        rows.append({"key": result.claim.key, "mutants": len(mutants), "turned": fates["data"] + fates["proof"], "by_data": fates["data"],
                     "by_proof": fates["proof"], "turn_undecided": fates["undecided"], "unexplained": len(unexplained(result, mutants)),
                     "survivors": [[m.change, m.reason] for m in alive if m.fate == "survives"],
                     "undecided": [[m.change, m.reason] for m in alive if m.fate == "undecided"]})
        if not json_output:
            _say(console, f"{result.claim.key}: {_fates(rows[-1])}")
            for m in alive:
                _say(console, f"    {'survives: ' if m.fate == 'survives' else ''}{m.change} ({m.reason})")
    alarms = sum(row["unexplained"] for row in rows)
    if json_output:
        _dump(rows)
    else:
        total = {name: sum(row[name] for row in rows) for name in ("mutants", "by_data", "by_proof", "turn_undecided")}
        _say(console, f"{_fates(total)}; {alarms} survivors of exact or argued claims without a reason")
    return 1 if alarms else 0


def _fates(counts: Mapping[str, Any]) -> str:
    said = f"{counts['by_data'] + counts['by_proof']} of {counts['mutants']} mutants noticed, {counts['by_data']} by data and " \
           f"{counts['by_proof']} by proof"
    return said + (f"; {counts['turn_undecided']} turn UNDECIDED, which verify would report" if counts["turn_undecided"] else "")


def appendix(directory: Path, suite: str, folder: Path | None, json_output: bool, *, from_reference: bool = False) -> int:
    """Write the appendix of a suite from its records, or from the ledger that comes with depthlaw."""
    from ..publish.appendix import AppendixError, write_appendix

    found, suite = registry(), _suite(suite)
    store = _reference() if from_reference else open_store(folder, read_only=True)
    notes = Console(stderr=True, highlight=False)
    _report_set_aside(store, notes)
    if from_reference:
        _say(notes, "from the reference ledger that comes with depthlaw, not from records of this machine")
    judged = results(found, suite, store)
    missing = sum(c.measured is None for result in judged for c in result.in_scope)
    if missing:
        _say(notes, f"{missing} cases of suite {suite} have no record yet; `depthlaw verify {suite}` would measure those that can be")
    listed = manifest(_recorded(plan(found, suite), store))
    try:
        written = write_appendix(directory, judged, suite, listed, store)
    except AppendixError as error:
        raise UsageError(str(error)) from None
    if json_output:
        _dump({"written": [str(p) for p in written], "manifest": listed["hash"]})
    else:
        for path in written:
            print(path)
    return 0


def _reference() -> Ledger:
    known = shipped()
    if known is None:
        raise UsageError("this installation holds no reference ledger; run `depthlaw verify quick` and leave --reference out")
    return known


def cite(keys: list[str], json_output: bool) -> int:
    """Print the BibTeX entries behind claims or bibliography keys."""
    from ..publish.citations import bibtex_for

    try:
        entries = bibtex_for(keys)
    except KeyError as unknown:
        raise UsageError(unknown.args[0]) from None
    if json_output:
        _dump(entries)
    else:
        print("\n\n".join(entries.values()))
    return 0


def _say(console: Console, message: str) -> None:
    """One line of plain text, never wrapped: messages hold paths and commands that people copy."""
    console.print(Text(terminal.clean(message)), soft_wrap=True)


def open_store(folder: Path | None, *, read_only: bool = False) -> Store:
    """The store of a results folder; by default depthlaw's folder among the user's data.

    Raises:
        StoreError: when the folder cannot be used, or is to be read and does not exist although somebody named it.
    """
    if folder is not None and read_only and not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise StoreError(f"the results folder {folder} {what}; give one that `depthlaw verify --results DIR` has written")
    if folder is None:
        from platformdirs import user_data_path

        folder = user_data_path("depthlaw") / "results"
    return Store(folder, read_only=read_only)


def select(found: dict[str, Claim], keys: Iterable[str]) -> dict[str, Claim]:
    """The claims with these keys, or of these stems (all of them when none is given)."""
    keys = [key for asked in keys for key in [k for k in found if k.startswith(f"{asked}/")] or [asked]]
    for key in keys:
        if key in WITHDRAWN:
            raise UsageError(f"the claim {key} was withdrawn: {WITHDRAWN[key]}")
        if key not in found:
            close = get_close_matches(key, found, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "`depthlaw claims` lists them"
            raise UsageError(f"unknown claim {key!r}; {hint}")
    return {key: found[key] for key in keys} if keys else found


def _suite(name: str) -> str:
    if name not in SUITES:
        raise UsageError(f"unknown suite {name!r}; accepted: {', '.join(SUITES)}")
    return name


def _recorded(runs: list[Run], store: Store) -> list[Record]:
    return [record for run in runs if (record := store.get(run.id))]


def _report_set_aside(store: Store, notes: Console) -> None:
    for item in store.set_aside:
        fate = "left in place" if store.read_only else f"set aside as {item.moved_to}"
        _say(notes, f"not trusted: {item.name} ({item.why}); {fate}, not used")


def _print_verdicts(judged: list[ClaimResult], suite: str, listed: dict[str, Any], store: Store, failures: list[Failure],
                    json_output: bool, agreement: Agreement | None, *, complete: bool) -> None:
    if json_output:
        _dump({"suite": suite, "complete": complete, "manifest": listed["hash"], "runs": len(listed["runs"]), "results_folder": str(store.root),
               "set_aside": [[item.name, item.why] for item in store.set_aside],
               "reference": agreement.as_json() if agreement else None,
               "claims": [as_json(r) for r in judged]})
        return
    console = Console(highlight=False)
    terminal.print_table(console, terminal.verdict_table(judged))
    console.print(Text(f"\n{terminal.LEGEND}\n", style="dim"))
    for failure in failures:
        _say(console, f"failed: {failure.run}: {failure.why}")
    for result in judged:
        if result.unexpected:
            console.print(Text(terminal.clean(f"! {result.claim.key}: {result.unexpected}"), style="bold red"))
    for result in judged:
        if result.premise_refuted:
            _say(console, f"premise refuted: {result.claim.key} rests on {result.premise_refuted}, which FAILS")
    counts = Counter(verdict_name(result) for result in judged)
    _say(console, ", ".join(f"{counts[v]} {v}" for v in VERDICT_NAMES if counts[v]) + f"; claims: {len(judged)}")
    elsewhere = sum(not r.cases for r in judged)
    if elsewhere:
        _say(console, f"{elsewhere} of those not run have no case in suite {suite}; `depthlaw show KEY` names a suite that has")
    lacking = Counter(r.claim.needs for r in judged if r.cases and r.claim.needs and r.claim.measured is None)
    for extra, number in lacking.items():
        _say(console, f"{number} claims cannot be run here; they need the extra {extra}: pip install '.[{extra}]'")
    partial = "" if complete else " (of the claims chosen, not of the suite)"
    _say(console, f"{len(listed['runs'])} runs; to cite them, cite their manifest{partial}:\n{listed['hash']}")
    if agreement:
        _say(console, agreement.line)
        if agreement.disagreements:
            _say(console, "  a run whose code has changed since the reference was recorded may differ for that reason")
        for key, here, there in agreement.disagreements[:3]:
            _say(console, f"  differs: {run_name(key)}: here {quoted(str(here))}, reference {quoted(str(there))}")


def _agreement(recorded: list[Record], notes: Console) -> Agreement | None:
    """How these records compare with the ledger that comes with depthlaw; None where it holds none of the runs."""
    try:
        reference = shipped()
    except StoreError as error:
        _say(notes, f"no comparison: {error}")
        return None
    found = compare(recorded, reference or ())
    return found if found.compared else None


def _dump(value: object) -> None:
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
