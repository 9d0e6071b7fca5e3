"""Engines: the same runs in this process, in a pool of processes, or on a Ray cluster; `execute`
stores what comes back.

An engine takes runs and yields each with what became of it, in any order. It decides nothing: which
runs are needed and what is recorded is the same on every engine, and so is the manifest.
"""

from __future__ import annotations

import heapq
import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import cycle
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import wait as wait_for_end
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from traceback import walk_tb
from typing import Any, Protocol

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.definition import Case, Claim

from ..records.environment import THREAD_VARIABLES, cores, installing
from ..records.run import Failure, Run
from ..records.store import Record, Store
from .interrupts import TIME_IS_UP, Stopped, stoppable, whole

LOADER = "depthlaw.theory.claims.definition:find"

# Small matrices gain nothing from threads, and two processes with two threads each fight over two
# cores.
THREADS = dict.fromkeys(THREAD_VARIABLES, "1")

# Seconds that a process may take to start and import its first claim, on a busy machine, besides
# the time of its run; and between two times that the disk is waited for: most runs take less.
STARTING, SETTLING = 120.0, 0.5
# Runs that a process has in hand, so that it need not wait while one is recorded.
IN_HAND = 4

# What comes back: the parts of a record, or one line that says why there is none. Plain data, so
# that it can travel.
TaskAnswer = tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | str
Outcomes = Generator[tuple[Run, Record | Failure], None, None]


class Engine(Protocol):
    """Executes runs. Closing the iterator abandons what is in flight; what was yielded is
    finished."""

    def outcomes(self, runs: Sequence[Run]) -> Outcomes:
        """Every run with its record or the reason why it has none, as they finish."""
        ...


def perform(
    loader: str, key: str, case: Mapping[str, Any] | None, seed: int, device: str, *more: Any
) -> TaskAnswer:
    """Execute a run where it has arrived. `loader`, "module:function" or
    "module:function:argument", finds a claim by its key."""
    try:
        at = Case(**case) if case is not None else None
        record = Run(_claim(loader, key), at, seed, device, *more).execute()
    except (Exception, SystemExit) as error:
        return reason(error)
    return dict(record.inputs), dict(record.result), dict(record.facts)


@cache
def _claim(loader: str, key: str) -> Claim:
    module, function, *argument = loader.split(":", 2)
    return getattr(import_module(module), function)(*argument, key)


def reason(error: BaseException) -> str:
    """An exception in one line, with its place in a user's file of claims."""
    said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
    places = [
        f" ({Path(frame.f_code.co_filename).name}, line {line})"
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").startswith("depthlaw.own.")
    ]
    return said + (places[-1] if places else "")


def _outcome(run: Run, answer: TaskAnswer) -> Record | Failure:
    if isinstance(answer, str):
        return Failure(run, answer)
    record = Record(*answer)
    if record.id != run.id:
        advice = "install the same version of depthlaw everywhere"
        return Failure(run, f"the worker runs other code than the driver: {advice}")
    return record


def _task(run: Run, loader: str) -> tuple[Any, ...]:
    """The run as what `perform` takes: plain data, so that it can travel."""
    case = run.case.fields() if run.case is not None else None
    return loader, run.claim.key, case, run.seed, run.device, run.control, dict(run.options)


@dataclass(frozen=True)
class Inline:
    """In this process, one after the other: no overhead, but a run that kills its process takes the
    driver with it."""

    def outcomes(self, runs: Sequence[Run]) -> Outcomes:
        """See `Engine`."""
        for run in runs:
            try:
                outcome: Record | Failure = run.execute()
            except Exception as error:
                outcome = Failure(run, reason(error), error)
            yield run, outcome


@dataclass(frozen=True)
class ProcessPool:
    """In processes of this machine: `concurrent.futures`, one executor per process, started anew
    when its process dies. They are forked off a server, which has imported SymPy.

    With an executor for each process it is known which run killed it, and no other run is
    disturbed.

    Attributes:
        processes: how many; by default one per GPU, or per core this process may use.
        timeout: seconds, whatever the clock says, after which a run counts as hung and its process
            is killed.
        memory: bytes of address space each process may take, or None.
        retries: how often a run is tried again after its process died, with growing pauses.
        gpus: ids of the devices; each process is pinned to one by CUDA_VISIBLE_DEVICES.
        loader: where a process finds the claims.
    """

    processes: int = 0
    timeout: float | None = 3600.0
    memory: int | None = None
    retries: int = 2
    gpus: tuple[str, ...] = ()
    loader: str = LOADER

    def outcomes(self, runs: Sequence[Run]) -> Outcomes:
        """See `Engine`."""
        todo, deaths = _bundles(runs), Counter[str]()
        # Runs that wait for another try, by the time (of a clock that nobody can set) when their
        # pause is over.
        resting: list[tuple[float, int, Run]] = []
        count = self.processes or len(self.gpus) or cores()
        # Importing what an extra brings takes seconds: as few processes do it as the work allows.
        places = zip(range(min(count, len(runs))), cycle(self.gpus or (None,)), cycle(list(todo)))
        slots = [_Slot(self, gpu, extra) for _, gpu, extra in places]
        try:
            while any(todo.values()) or resting or any(slot.runs for slot in slots):
                # Stopped in its middle, this could leave a process that nobody knows, lose a run
                # that is over, or keep a lock that `stop` then waits for.
                with whole():
                    while resting and resting[0][0] <= time.monotonic():
                        again = heapq.heappop(resting)[2]
                        todo[_extra(again)].append([again])
                    for slot in slots:
                        slot.fill(todo, len(slots))
                    for slot in _finished(slots, resting[0][0] if resting else float("inf")):
                        run, answer = slot.finish()
                        if isinstance(answer, _Died) and not answer.hung:
                            deaths[run.id] += 1
                            if deaths[run.id] <= self.retries:
                                due = time.monotonic() + 0.1 * 4 ** deaths[run.id]
                                heapq.heappush(resting, (due, sum(deaths.values()), run))
                                continue
                        # The process gets its next run before this one is recorded: it computes
                        # while the disk is waited for.
                        slot.fill(todo, len(slots))
                        yield run, self._outcome(run, answer, deaths[run.id])
        finally:
            # All of them before the first is waited for, which another signal may cut short.
            for slot in slots:
                slot.kill()
            for slot in slots:
                slot.stop()

    def _outcome(self, run: Run, answer: TaskAnswer | _Died, deaths: int) -> Record | Failure:
        if isinstance(answer, _Died):
            why = f"exit code {answer.code}: killed, out of memory, or crashed"
            hung = f"hung: stopped after {self.timeout:g} s"
            answer = hung if answer.hung else f"its process died {deaths} times ({why})"
        return _outcome(run, answer)


@dataclass(frozen=True)
class _Died:
    """A process ended without an answer: by itself, or stopped because it hung."""

    code: int | None
    hung: bool = False


def _bundles(runs: Sequence[Run]) -> dict[str, deque[list[Run]]]:
    """By the extra that they need, the runs in lists, last one first, of those that one process
    should do.

    Claims of a topic that ask about the same case, but for the fields that a claim only `reads`,
    share what they compute there through caches of the process. Every list stands where its first
    run does; proofs stand alone.
    """
    bundles: dict[object, list[Run]] = {}
    for run in runs:
        together = (run.claim.topic, run.measurement, run.seed) if run.case is not None else run.id
        bundles.setdefault(together, []).append(run)
    by_extra: dict[str, deque[list[Run]]] = {}
    for bundle in bundles.values():
        by_extra.setdefault(_extra(bundle[0]), deque()).append(bundle[::-1])
    return by_extra


def _extra(run: Run) -> str:
    """The extra that measuring a run needs, or "" where it needs none."""
    return run.claim.needs if run.case is not None else ""


class _Slot:
    """A place for one process, with the runs that it has in hand, of which it does the first, and
    the extra whose runs it does first."""

    def __init__(self, pool: ProcessPool, gpu: str | None, extra: str) -> None:
        self.pool, self.gpu, self.extra = pool, gpu, extra
        self.runs: deque[tuple[Run, Future[Any]]] = deque()
        self.since = float("inf")
        self._bundle: list[Run] = []
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self._start: Future[Any] | None = None

    def fill(self, todo: Mapping[str, deque[list[Run]]], slots: int) -> None:
        """Give the process the next runs of its bundle, or of the first bundle that waits, if
        possible of its extra: while so many wait that every other process has some too, as many
        as it may have in hand, else one."""
        while len(self.runs) < (IN_HAND if sum(map(len, todo.values())) > slots * IN_HAND else 1):
            waiting = [todo.get(self.extra, deque()), *todo.values()]
            if not self._bundle and (bundles := next(filter(None, waiting), None)):
                self._bundle = bundles.popleft()
            if not self._bundle:
                return
            try:
                self._submit(self._bundle[-1])
            except BrokenProcessPool:
                if self.runs:  # It died of the first, whose end says so.
                    return
                # It died while it had nothing to do, which is no fault of this run.
                self.stop()
                self._submit(self._bundle[-1])
            self._bundle.pop()

    def _submit(self, run: Run) -> None:
        if self._executor is None:
            context = start_server()
            here = dict(os.environ) | THREADS
            started = (self.pool.memory, self.gpu, here, self.pool.loader, run.claim.key)
            others = set(multiprocessing.active_children())
            with _deaf():
                self._executor = ProcessPoolExecutor(1, context, _prepare, started)
                self._start = self._executor.submit(os.getpid)
            # Submitting has started the process, which can be ended from now on.
            self._process = next(iter(set(multiprocessing.active_children()) - others), None)
        if not self.runs:
            # Starting takes seconds, which are not the run's.
            self.since = time.monotonic() + (STARTING if self._start is not None else 0.0)
        future = self._executor.submit(perform, *_task(run, self.pool.loader))
        self.runs.append((run, future))

    def advance(self) -> bool:
        """Whether the first run is over: answered, died or hung."""
        if self._start is not None and self._start.done():
            self._start, self.since = None, time.monotonic()
        return self.runs[0][1].done() or self.left() <= 0

    def left(self) -> float:
        """Seconds until the first run counts as hung."""
        if self.pool.timeout is None:
            return float("inf")
        return self.since + self.pool.timeout - time.monotonic()

    def finish(self) -> tuple[Run, TaskAnswer | _Died]:
        """The run that is over, with what became of it."""
        run, future = self.runs.popleft()
        self.since = time.monotonic()
        if not future.done():
            return run, _Died(self.stop(), hung=True)
        try:
            return run, future.result()
        except BrokenProcessPool:
            return run, _Died(self.stop())
        except BaseException as error:
            return run, reason(error)

    def kill(self) -> None:
        """Kill the process, without waiting for its end."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> int | None:
        """End the process, which keeps nothing that could be lost, and return its exit code."""
        process, executor, self._process, self._executor = self._process, self._executor, None, None
        self._start = None
        while self.runs:
            self._bundle.append(self.runs.pop()[0])
        if process is not None:
            process.kill()
            process.join()
        if executor is not None:
            # Waits for the executor's own thread, which may have collected the process, and so its
            # exit code; and which, left alone, would close its pipe while an exiting interpreter
            # writes to it.
            executor.shutdown(wait=process is not None, cancel_futures=True)
        return process.exitcode if process is not None else None


def _finished(slots: Sequence[_Slot], due: float) -> list[_Slot]:
    """The slots whose run is over, after waiting a moment for the first, or until `due`."""
    busy = [slot for slot in slots if slot.runs]
    # Not longer than a signal may wait.
    seconds = max(0.0, min([0.2, due - time.monotonic(), *(slot.left() for slot in busy)]))
    if busy:
        wait([slot.runs[0][1] for slot in busy], seconds, FIRST_COMPLETED)
    else:
        time.sleep(seconds)
    return [slot for slot in busy if slot.advance()]


def start_server(imports: str = "depthlaw.theory.claims.definition") -> ForkServerContext:
    """Start, if it does not run yet, the server of processes, which imports a module once for all
    that it forks, while this process goes on."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([imports])
    before = dict(os.environ)
    with _deaf():
        os.environ.update(THREADS)  # which linear algebra reads when it is loaded
        try:
            forkserver.ensure_running()
        finally:
            for name in THREADS:
                os.environ.pop(name)
            os.environ.update(before)
    return context


@contextmanager
def _deaf() -> Iterator[None]:
    """What is started inside does not hear Ctrl-C or that the terminal is closed, which every
    process is sent: it would say so at length, and the driver ends it anyway."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        # It inherits this, ignores Ctrl-C, and started below would let it through again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(
    memory: int | None, gpu: str | None, here: Mapping[str, str], loader: str, key: str
) -> None:
    """What a process of the pool does first, before PyTorch is imported."""
    os.environ.update(here)  # which may not be what it was when the server started
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    threading.Thread(target=_end_with_driver, daemon=True).start()
    if memory is not None:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with suppress(Exception):
        # What goes wrong here goes wrong again in the task, and is reported there.
        _claim(loader, key)


def _end_with_driver() -> None:
    """A run can take hours; nobody would collect its result after the driver was killed."""
    if parent := multiprocessing.parent_process():
        wait_for_end([parent.sentinel])
        os._exit(1)


@dataclass(frozen=True)
class Ray:
    """On a Ray cluster: this machine alone (address "local"), or a running cluster ("auto" or its
    address). Memory is not capped.

    Attributes:
        retries: how often Ray tries a run again after its worker or node died.
        gpus_per_run: the share of a GPU, such as 0.25; Ray sets CUDA_VISIBLE_DEVICES.
    """

    address: str = "local"
    timeout: float | None = 3600.0
    retries: int = 4
    gpus_per_run: float = 0.0
    loader: str = LOADER

    def outcomes(self, runs: Sequence[Run]) -> Outcomes:
        """See `Engine`."""
        try:
            import ray
        except ImportError:
            advice = f"{installing('ray')}, or take --engine pool"
            raise UsageError(f"the engine ray needs Ray; {advice}") from None
        started_here = not ray.is_initialized()
        if started_here:
            dashboard = False if self.address == "local" else None
            how = {"log_to_driver": False, "include_dashboard": dashboard}
            try:
                # Where it is, Ray says at level INFO, in the middle of our lines.
                ray.init(address=self.address, logging_level=logging.WARNING, **how)
            except (ConnectionError, ValueError) as error:
                advice = "start one, or take --address local"
                raise UsageError(
                    f"no Ray cluster at {self.address!r} ({reason(error)}); {advice}"
                ) from None
        needs = {"num_cpus": 1, "num_gpus": self.gpus_per_run, "max_retries": self.retries}
        remote = ray.remote(**needs, runtime_env={"env_vars": THREADS})(perform_within)
        todo, pending, window = deque(runs), dict[Any, Run](), 0
        try:
            python, its = ray.get(ray.remote(num_cpus=1)(_package_of_worker()).remote())
            if its != (ours := version("depthlaw")):
                other = f"with depthlaw {its}, not" if its else "without depthlaw"
                raise UsageError(
                    f"workers run {python} {other} {ours}; install it there, or start Ray from the "
                    "environment that has it"
                )
            while todo or pending:
                if len(pending) <= window // 2:
                    # Not the whole of a long suite: each wait takes time in proportion to what is
                    # pending.
                    window = max(64, 4 * int(ray.cluster_resources().get("CPU", 1)))
                    while todo and len(pending) < window:
                        run = todo.popleft()
                        pending[remote.remote(self.timeout, *_task(run, self.loader))] = run
                done, _ = ray.wait(list(pending), num_returns=1)
                for reference in done:
                    run = pending.pop(reference)
                    try:
                        outcome = _outcome(run, ray.get(reference))
                    except ray.exceptions.RayTaskError as error:
                        # `perform` returns what goes wrong in a run: it was never called.
                        why = str(error).strip().splitlines()[-1]
                        raise UsageError(
                            f"a worker cannot load depthlaw ({why}); install the same version in "
                            "the Python of every node"
                        ) from None
                    except ray.exceptions.RayError as error:
                        outcome = Failure(run, f"Ray lost it: {reason(error)}")
                    yield run, outcome
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)
            if started_here:
                ray.shutdown()


def _package_of_worker() -> Callable[[], tuple[str, str]]:
    """What tells a worker's Python and its version of depthlaw, "" if it has none. A function made
    inside another travels whole: the worker need not import this module."""

    def package() -> tuple[str, str]:
        import sys
        from importlib.metadata import PackageNotFoundError, version

        try:
            return sys.executable, version("depthlaw")
        except PackageNotFoundError:
            return sys.executable, ""

    return package


def perform_within(timeout: float | None, loader: str, key: str, *more: Any) -> TaskAnswer:
    """`perform`, given up after a time limit by an alarm. It needs the main thread, in which Ray
    runs tasks."""

    def give_up(number: int, frame: object) -> None:
        raise _TooLong

    with suppress(Exception):
        # Importing the claim is not part of the run.
        _claim(loader, key)
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, timeout or 0.0)
    try:
        return perform(loader, key, *more)
    except _TooLong:
        return f"hung: stopped after {timeout:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class _TooLong(BaseException):
    """The time limit of a run; no `except Exception` of a measurement swallows it."""


def execute(
    runs: Sequence[Run],
    store: Store,
    engine: Engine,
    *,
    finished: Callable[[Run], None] = lambda run: None,
    minutes: float | None = None,
) -> list[Failure]:
    """Run what has no record yet and record it at once. Returns the runs that failed, with reasons.

    Args:
        finished: called after every run that had to be executed.

    Raises:
        Stopped: at SIGINT, SIGTERM, SIGHUP or after so many minutes. What was finished is recorded.
        StoreError: when records can no longer be written.
    """
    # Where a claim stores what it need not compute twice, such as trainings.
    folder = {"folder": str(store.root / "cache")}
    todo = [replace(run, options={**run.options, **folder}) for run in runs if run.id not in store]
    if not todo:
        return []
    failures, due = [], time.monotonic()
    seconds = None if minutes is None else 60 * minutes
    deadline = math.inf if seconds is None else due + seconds
    with ExitStack() as stack:
        stack.enter_context(stoppable(seconds))
        stack.callback(store.settle)
        for run, outcome in stack.enter_context(closing(engine.outcomes(todo))):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                with whole():
                    store.put(outcome, settle=False)
                    # What took long is not lost for what comes next, which may take hours.
                    long = outcome.facts.get("timing", {}).get("wall_s", 0) >= SETTLING
                    if (now := time.monotonic()) > due or long:
                        store.settle()
                        due = now + SETTLING
            finished(run)
            if time.monotonic() > deadline:
                raise Stopped(TIME_IS_UP)
    return failures
