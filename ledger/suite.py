"""Running a suite: from what was asked for to its verdicts, without printing. The command line and
`depthlaw.verify` share it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, parse_bytes, quoted
from depthlaw.theory.claims.code_version import remember
from depthlaw.theory.claims.definition import ALONE, AS_IT_COMES, DEVICE_OF, SUITES, Claim, registry
from depthlaw.theory.claims.inputs import INPUTS
from depthlaw.theory.claims.values import Case

from .records.run import Failure, Run
from .records.store import Record, Store, open_store
from .running.claims_index import select
from .running.engines import Inline, ProcessPool, execute, start_server
from .running.options import Options
from .running.plan import plan
from .running.scheduling import Stage, TimeEstimate, budgeted, check_device, estimate
from .running.user_claims import all_claims, loader_of, with_premises
from .verdicts.decision_cache import Decisions
from .verdicts.suite_verdicts import ClaimResult, decide, results

if TYPE_CHECKING:
    from .running.interrupts import Stopped


@dataclass(frozen=True)
class Work:
    """What a suite asks for, and how what is missing of it will be done.

    Attributes:
        claims, runs: what was asked for, by key, and everything that the suite asks for of it.
        todo: what is not recorded yet.
        stages: what is done together, in order.
        expected: how long it should take, and what that rests on.
    """

    suite: str
    claims: dict[str, Claim]
    runs: list[Run]
    todo: list[Run]
    store: Store
    stages: list[Stage]
    expected: TimeEstimate
    basis: str

    def execute(
        self, finished: Callable[[Run], None] = lambda run: None, minutes: float | None = None
    ) -> list[Failure]:
        """Do what is not recorded yet, one stage after the other, and decide each case as soon as
        it is measured, while other processes go on. Returns the runs that failed; raises what
        `running.engines.execute` does."""
        started, failures, left = time.monotonic(), list[Failure](), minutes
        decisions = Decisions(self.store)
        missing = Counter((run.claim.key, run.case, run.control) for run in self.todo)

        def decided(run: Run) -> None:
            missing[run.claim.key, run.case, run.control] -= 1
            if not missing[run.claim.key, run.case, run.control]:
                decide(run, self.store, decisions)
            finished(run)

        for stage in self.stages:
            if minutes is not None:
                left = max(minutes - (time.monotonic() - started) / 60, 1e-3)
            done = execute(stage.runs, self.store, stage.engine, finished=decided, minutes=left)
            failures += done
        decisions.save()
        return failures

    def judged(self, failures: Iterable[Failure] = ()) -> list[ClaimResult]:
        """The verdict of every claim on what is recorded."""
        judged = results(self.claims, self.suite, self.store, failures)
        remember()
        return judged

    def left_by(self, stop: Stopped) -> str:
        """What is said when something stopped it."""
        done = f"{len(self.recorded)} of {len(self.runs)} runs are recorded in {self.store.root}"
        return f"{stop}: {done}; the same command goes on from there"

    @property
    def recorded(self) -> list[Record]:
        """The records of the runs."""
        return [record for run in self.runs if (record := self.store.get(run.id))]


def prepare(
    suite: str,
    folder: Path | None,
    *,
    only: Iterable[str] = (),
    own: Path | None = None,
    options: Options | None = None,
    given: Mapping[str, Path | None] | None = None,
) -> Work:
    """What a suite asks for, and what of it is missing in a results folder.

    Args:
        suite: one of `SUITES`.
        folder: of the records; by default depthlaw's folder among the user's data.
        only: keys or topics; by default the claims of `own`, else all that have cases in the suite.
        own: a Python file with claims of one's own.
        options: who does the work.
        given: files of the user's in place of inputs that cases name, by field, such as a corpus;
            None: the standard one, made ready as they are.

    Raises:
        UsageError: for anything that cannot be used, before a record is written.
    """
    options = options or Options()
    if suite in AS_IT_COMES and options.timeout == Options.timeout:
        # Several trainings of half an hour in one run are not hung.
        options = replace(options, timeout=24 * Options.timeout)
    check_device(options.device)
    engine = options.made(loader_of(own))
    if isinstance(engine, ProcessPool) and not only:
        start_server(imports="depthlaw.ledger.running.all_claims")
    asked = _asked(list(only), check_suite(suite), options.device, own)
    claims, inputs = dict(asked), dict[str, Any]()
    for name, file in (given or {}).items():
        _check_input(name, asked.values(), suite)
        inputs[name] = INPUTS[name].read(file) if file else None
        digest = inputs[name].digest if file else INPUTS[name].standard
        claims = {key: on_input(claim, name, digest) for key, claim in claims.items()}
    runs = plan(claims, suite, options.device)
    if not runs:
        if DEVICE_OF.get(suite, options.device) != options.device:
            raise UsageError(f"suite {suite} is for a GPU; add --device {DEVICE_OF[suite]}")
        here = [claim for claim in claims.values() if claim.measurable]
        others = [name for name in SUITES if any(claim.cases(name) for claim in here)]
        advice = (
            f"try {' or '.join(others)}" if others else "`depthlaw doctor` says what is missing"
        )
        what = f"suite {suite} has no case that can be measured here for the claims asked for"
        raise UsageError(f"{what}; {advice}")
    store = open_store(folder)
    todo = [run for run in runs if run.id not in store]
    remember()
    for name, value in inputs.items():
        cases = [run.case for run in todo if run.case is not None and name in run.case]
        INPUTS[name].prepare(value, cases, str(store.root / "cache"))
    if options.device != "cpu":
        engine = Inline()
    planned = any(run.claim.plan for run in runs)
    if options.memory or (planned and suite in ALONE):
        if not planned:
            raise UsageError(
                "--memory is a budget for claims that plan theirs, such as those of "
                "suite frontier; --max-memory caps each process of the pool"
            )
        memory = parse_bytes(options.memory) if options.memory else None
        work, expected = budgeted(todo, store, engine, memory)
        return Work(suite, claims, runs, todo, store, work, expected, "by the cost model")
    expected = estimate(todo, store)
    short = expected.total < 5 and len(todo) < 200
    if isinstance(engine, ProcessPool) and short and options.processes == 0:
        # Starting processes costs seconds.
        engine = Inline()
    # Recorded cases are mostly the smaller ones, and of claims that share a training one was timed
    # with it.
    basis = "by records of other cases"
    return Work(suite, claims, runs, todo, store, [Stage(todo, engine)], expected, basis)


def on_input(claim: Claim, field: str, digest: str) -> Claim:
    """The claim with its cases on another input, see `theory.claims.inputs`; a claim whose cases
    name none stays as it is."""

    def moved(case: Case) -> Case:
        return Case(**case.fields() | {field: digest}) if field in case else case

    return replace(
        claim,
        control=replace(claim.control, case=moved(claim.control.case)),
        grid={suite: tuple(map(moved, cases)) for suite, cases in claim.grid.items()},
    )


def _check_input(name: str, claims: Iterable[Claim], suite: str) -> None:
    """Refuse a user's own input where no claim reads one."""
    if name not in INPUTS:
        registry()

    def reads(claim: Claim, suite: str) -> bool:
        return any(name in case for case in claim.cases(suite))

    if not any(reads(claim, suite) for claim in claims):
        everywhere = ((each, claim) for each in SUITES for claim in registry().values())
        reader = next(f"{s} --only {c.topic}" for s, c in everywhere if reads(c, s))
        what = f"none of the claims asked for {INPUTS[name].use}"
        raise UsageError(f"--{name}: {what}; try depthlaw verify {reader}")


def check_suite(name: str) -> str:
    """The name of a suite, if it is one."""
    if name not in SUITES:
        near = get_close_matches(name, SUITES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"unknown suite {name!r}; {hint}accepted: {', '.join(SUITES)}")
    return name


def _asked(only: list[str], suite: str, device: str, own: Path | None) -> dict[str, Claim]:
    everything = all_claims(own)
    mine = [key for key in everything if own is not None and key.startswith(f"{own.stem}/")]
    claims = {key: everything[key] for key in select(only or mine, everything)}
    if own is not None:
        claims = with_premises(claims, everything)
    if suite in ALONE and not only:
        claims = {key: claim for key, claim in claims.items() if claim.cases(suite)}
    if device == "cpu":
        return claims
    able = {k: c for k, c in claims.items() if c.accepts("device") and c.cases(suite)}
    if not able:
        raise UsageError(
            f"--device {quoted(device)}: suite {suite} has no claim among those "
            "asked for that can use it; take --device cpu"
        )
    return able
