"""The driver: sends the runs that have no record to an engine, records what comes back, and stops
in good order.

Whatever stops it (an interrupt, a time limit, SIGKILL, a full disk) costs at most the runs in
flight; the same command goes on.
"""
from __future__ import annotations

import signal
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from .engines import Engine
from .records import Record, Store
from .suite import Failure, Run

TIME_IS_UP = "the time limit of --minutes is reached"


class Stopped(KeyboardInterrupt):
    """A signal or the time limit stopped the driver; the message says which. No `except Exception`
    on the way may swallow it."""


@dataclass(frozen=True)
class Estimate:
    """How long runs will take, from records of earlier runs.

    Attributes:
        seconds: (run id) -> expected seconds, for every run asked about.
        known: how many of these rest on records of the same claim; the others are given the median
            of all records.
    """

    seconds: Mapping[str, float]
    known: int

    @property
    def total(self) -> float:
        """Expected seconds altogether, one run after the other."""
        return sum(self.seconds.values())


def estimate(runs: Sequence[Run], store: Store) -> Estimate:
    """Expected times of runs: the time of the same case where it was recorded, else the claim's
    median, else the median of all."""
    by_case, by_claim = defaultdict(list), defaultdict(list)
    for record in store:
        seconds = record.facts.get("timing", {}).get("wall_s")
        if isinstance(seconds, int | float) and seconds >= 0:
            by_case[record.inputs["claim"], str(record.inputs["case"])].append(float(seconds))
            by_claim[record.inputs["claim"]].append(float(seconds))
    everything = [s for values in by_claim.values() for s in values]
    fallback = statistics.median(everything) if everything else 0.1
    expected = {}
    for run in runs:
        case = str(run.case.fields()) if run.case is not None else "None"
        values = by_case.get((run.claim.key, case)) or by_claim.get(run.claim.key)
        expected[run.id] = statistics.median(values) if values else fallback
    return Estimate(expected, sum(run.claim.key in by_claim for run in runs))


def execute(runs: Sequence[Run], store: Store, engine: Engine, *,
            finished: Callable[[Run], None] = lambda run: None,
            minutes: float | None = None) -> list[Failure]:
    """Run what has no record yet and record it at once. Returns the runs that failed, with reasons.

    Args:
        finished: called after every run that had to be executed.
        minutes: stop after this long.

    Raises:
        Stopped: at SIGINT, SIGTERM or the time limit. What was finished is recorded.
        StoreError: when records can no longer be written.
    """
    # Where a claim stores what it need not compute twice, such as trainings.
    folder = {"folder": str(store.root / "cache")}
    todo = [replace(run, options={**run.options, **folder}) for run in runs if run.id not in store]
    if not todo:
        return []
    failures = []
    seconds = 60 * minutes if minutes is not None else None
    deadline = time.monotonic() + seconds if seconds is not None else None
    with _signals_raise(seconds), closing(_stoppable(engine, todo, deadline)) as outcomes:
        for run, outcome in outcomes:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.put(outcome)
            finished(run)
    return failures


def _stoppable(engine: Engine, todo: Sequence[Run],
               deadline: float | None) -> Generator[tuple[Run, Record | Failure], None, None]:
    outcomes = engine.outcomes(todo)
    try:
        for item in outcomes:
            yield item
            if deadline is not None and time.monotonic() > deadline:
                raise Stopped(TIME_IS_UP)
    finally:
        close = getattr(outcomes, "close", None)
        if close is not None:
            close()


@contextmanager
def _signals_raise(seconds: float | None) -> Iterator[None]:
    """Turn SIGINT, SIGTERM and the end of the time into `Stopped`; engines then close."""
    reasons = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
    if hasattr(signal, "SIGALRM") and seconds is not None:
        reasons[signal.SIGALRM] = TIME_IS_UP

    def stop(number: int, frame: object) -> None:
        raise Stopped(reasons[signal.Signals(number)])

    try:
        before = {number: signal.signal(number, stop) for number in reasons}
    except ValueError:
        # Not in the main thread: whoever owns the process handles its signals.
        yield
        return
    try:
        with _alarm(seconds):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """SIGALRM after so many seconds, and then what others had set."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    started = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        rest = max(left - (time.monotonic() - started), 0.001) if left else 0.0
        signal.setitimer(signal.ITIMER_REAL, rest, interval)
