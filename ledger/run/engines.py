"""Engines: the same runs in this process, in a pool of processes, or on a Ray cluster.

An engine takes runs and yields each with what became of it, in any order. It decides nothing: which runs are needed, what is kept
and what a record means is the same on every engine, so the records and the manifest are the same too.
"""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Protocol

from depthlaw.advisor.quantities import UsageError
from depthlaw.theory.claim import Case, Claim

from .records import Record
from .suite import Failure, Run

# A task that travels: the function that loads the claims ("module:function" or "module:function:argument"), claim key, case (None for a
# proof), seed, whether it is a negative control.
Task = tuple[str, str, dict[str, Any] | None, int, bool]

# What comes back: the parts of a record, or one line that says why there is none. Plain data, so that engines can send it anywhere.
Answer = tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | str

# What a process says once it has imported the claims.
READY = b"ready"

LOADER = "depthlaw.theory.claim:registry"

# Small matrices gain nothing from threads, and two processes with two threads each fight over two cores.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Engine(Protocol):
    """Executes runs. Closing the iterator abandons what is in flight; what was yielded is finished."""

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """Every run with its record or the reason why it has none, as they finish."""
        ...


def perform(task: Task) -> Answer:
    """Execute a task where it has arrived. Returns the parts of its record, or why it failed, as plain data."""
    loader, key, case, seed, control = task
    try:
        record = Run(_claims(loader)[key], Case(**case) if case is not None else None, seed, control=control).execute()
    except Exception as error:
        return _reason(error)
    return dict(record.inputs), dict(record.result), dict(record.facts)


@cache
def _claims(loader: str) -> Mapping[str, Claim]:
    module, function, *argument = loader.split(":", 2)
    return getattr(import_module(module), function)(*argument)


def _reason(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")


def _outcome(run: Run, answer: Answer) -> Record | Failure:
    if isinstance(answer, str):
        return Failure(run, answer)
    record = Record(*answer)
    if record.id != run.id:
        return Failure(run, "the worker runs other code than the driver: install the same version of depthlaw everywhere")
    return record


def _task(run: Run, loader: str) -> Task:
    return loader, run.claim.key, run.case.fields() if run.case is not None else None, run.seed, run.control


@dataclass(frozen=True)
class Inline:
    """In this process, one after the other: no overhead, but a run that kills its process takes the driver with it."""

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """See `Engine`."""
        for run in runs:
            try:
                outcome: Record | Failure = run.execute()
            except Exception as error:
                outcome = Failure(run, _reason(error))
            yield run, outcome


@dataclass(frozen=True)
class Pool:
    """In spawned processes of this machine, each with a pipe of its own: one that is killed can neither block nor garble another.

    Attributes:
        processes: how many; by default one per GPU, or per core this process may use.
        timeout: seconds after which a run counts as hung and its process is killed; not influenced by changes of the clock.
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

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """See `Engine`."""
        todo, again, deaths = _bundles(runs), _Retries(), Counter[str]()
        workers = [_Worker(self, gpu) for gpu in self._slots()[: len(runs)]]
        try:
            while todo or again or any(worker.run for worker in workers):
                todo.extendleft([run] for run in again.due())
                for worker in workers:
                    if worker.run is None:
                        worker.start_next(todo)
                for worker in _speaking(workers, again.pause()):
                    run, answer = worker.finish()
                    if isinstance(answer, _Died) and not answer.hung:
                        deaths[run.id] += 1
                        if deaths[run.id] <= self.retries:
                            again.add(run, 0.1 * 4 ** deaths[run.id])
                            continue
                    # The process gets its next run before this one is recorded: it computes while the disk is waited for.
                    worker.start_next(todo)
                    yield run, self._outcome(run, answer, deaths[run.id])
        finally:
            for worker in workers:
                worker.stop()

    def _slots(self) -> list[str | None]:
        """One entry per process: the GPU that it is pinned to, if any."""
        count = self.processes or len(self.gpus) or cores()
        return [self.gpus[n % len(self.gpus)] if self.gpus else None for n in range(count)]

    def _outcome(self, run: Run, answer: Answer | _Died, deaths: int) -> Record | Failure:
        if not isinstance(answer, _Died):
            return _outcome(run, answer)
        if answer.hung:
            return Failure(run, f"hung: stopped after {self.timeout:g} s")
        return Failure(run, f"its process died {deaths} times (exit code {answer.code}: killed, out of memory, or crashed)")


@dataclass(frozen=True)
class _Died:
    """A process ended without an answer: by itself, or stopped because it hung."""

    code: int | None
    hung: bool = False


def _bundles(runs: Sequence[Run]) -> deque[list[Run]]:
    """The runs in lists, last one first, of those that one process should do: claims of a stem that ask about the same case, but for the
    fields that a claim only `reads`, share what they compute there through caches of the process. Every list stands where its first
    run does; proofs stand alone."""
    found: dict[object, list[Run]] = {}
    for run in runs:
        found.setdefault((run.claim.topic, run.measurement, run.seed) if run.case is not None else run.id, []).append(run)
    return deque(bundle[::-1] for bundle in found.values())


class _Retries:
    """Runs that wait for another try. Times are monotonic, so that a clock that is set back delays nothing."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, Run]] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, run: Run, seconds: float) -> None:
        self._waiting.append((time.monotonic() + seconds, run))

    def due(self) -> list[Run]:
        """Take out the runs whose pause is over."""
        now = time.monotonic()
        ready = [run for when, run in self._waiting if when <= now]
        self._waiting = [(when, run) for when, run in self._waiting if when > now]
        return ready

    def pause(self) -> float:
        """How long to wait for news at most."""
        return max(0.0, min([1.0, *(when - time.monotonic() for when, _ in self._waiting)]))


class _Worker:
    """A place for one process: starts it when there is a run, and anew after it died."""

    def __init__(self, pool: Pool, gpu: str | None) -> None:
        self.pool, self.gpu = pool, gpu
        self.run: Run | None = None
        self._bundle: list[Run] = []
        self._answer: Answer | _Died = ""
        self._since = 0.0
        self._process: SpawnProcess | None = None
        self.pipe: Connection | None = None

    def start_next(self, todo: deque[list[Run]]) -> None:
        """Give the process the next run of its bundle, or of the first bundle that waits; it has none."""
        if not self._bundle and todo:
            self._bundle = todo.popleft()
        if self._bundle:
            self._start(self._bundle.pop())

    def _start(self, run: Run) -> None:
        self.run, self._since = run, time.monotonic()
        try:
            self._connected().send(_task(run, self.pool.loader))
        except OSError:
            # It died while it had nothing to do, which is no fault of this run.
            self.stop()
            self._connected().send(_task(run, self.pool.loader))

    def _connected(self) -> Connection:
        if self.pipe is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self.pool.loader, self.pool.memory, self.gpu), daemon=True)
            self._process.start()
            theirs.close()
        return self.pipe

    def left(self) -> float:
        """Seconds until the run counts as hung."""
        return self._since + self.pool.timeout - time.monotonic() if self.pool.timeout is not None else float("inf")

    def has_news(self) -> bool:
        """Whether the run is over: answered, died or hung."""
        try:
            while self.pipe is not None and self.pipe.poll():
                if (message := self.pipe.recv()) != READY:
                    self._answer = message
                    return True
                # Importing the claims takes seconds, which are not the run's.
                self._since = time.monotonic()
        except (EOFError, OSError):
            # Its pipe closes a moment before it has ended.
            self._answer = _Died(self.stop(patience=1.0))
            return True
        if self.left() <= 0:
            self._answer = _Died(self.stop(), hung=True)
            return True
        return False

    def finish(self) -> tuple[Run, Answer | _Died]:
        """The run that is over, with what became of it."""
        run, self.run = self.run, None
        assert run is not None
        return run, self._answer

    def stop(self, patience: float = 0.0) -> int | None:
        """End the process, which keeps nothing that could be lost, and return its exit code."""
        process, self._process = self._process, None
        if self.pipe is not None:
            self.pipe.close()
            self.pipe = None
        if process is None:
            return None
        process.join(patience)
        process.kill()
        process.join()
        return process.exitcode


def _speaking(workers: Sequence[_Worker], pause: float) -> list[_Worker]:
    """The workers whose run is over, after waiting a moment for the first."""
    busy = [worker for worker in workers if worker.run is not None]
    seconds = max(0.0, min([pause, *(worker.left() for worker in busy)]))
    if busy:
        wait([worker.pipe for worker in busy if worker.pipe is not None], seconds)
    else:
        time.sleep(seconds)
    return [worker for worker in busy if worker.has_news()]


def cores() -> int:
    """The cores that this process may use, which on a shared machine are fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(pipe: Connection, loader: str, memory: int | None, gpu: str | None) -> None:
    """The life of a process of the pool: it answers tasks until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Before anything heavy is imported.
    os.environ.update(THREADS)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    threading.Thread(target=_end_with_driver, daemon=True).start()
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(Exception):
        # What goes wrong here goes wrong again in the first task, and is reported there.
        _claims(loader)
    with suppress(EOFError, OSError):
        pipe.send(READY)
        while True:
            pipe.send(perform(pipe.recv()))


def _end_with_driver() -> None:
    """A run can take hours; nobody would collect its result after the driver was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@dataclass(frozen=True)
class Ray:
    """On a Ray cluster: this machine alone (address "local"), or a running cluster ("auto" or its address).

    Attributes:
        address: where the cluster is.
        timeout: seconds after which a run counts as hung.
        retries: how often Ray tries a run again after its worker or node died.
        gpus_per_run: the share of a GPU that each run asks for, such as 0.25; Ray sets CUDA_VISIBLE_DEVICES, memory is not capped.
        loader: where a worker finds the claims.
    """

    address: str = "local"
    timeout: float | None = 3600.0
    retries: int = 4
    gpus_per_run: float = 0.0
    loader: str = LOADER

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """See `Engine`."""
        try:
            import ray
        except ImportError:
            raise UsageError("the engine ray needs Ray; pip install 'depthlaw[ray]', or take --engine pool") from None
        started_here = not ray.is_initialized()
        if started_here:
            self._connect(ray)
        remote = ray.remote(num_cpus=1, num_gpus=self.gpus_per_run, max_retries=self.retries, runtime_env={"env_vars": THREADS})(perform_within)
        todo, pending, window = deque(runs), dict[Any, Run](), 0
        try:
            while todo or pending:
                if len(pending) <= window // 2:
                    # Not the whole of a long suite: each wait takes time in proportion to what is pending.
                    window = max(64, 4 * int(ray.cluster_resources().get("CPU", 1)))
                    while todo and len(pending) < window:
                        run = todo.popleft()
                        pending[remote.remote(_task(run, self.loader), self.timeout)] = run
                done, _ = ray.wait(list(pending), num_returns=1)
                for reference in done:
                    run = pending.pop(reference)
                    try:
                        outcome = _outcome(run, ray.get(reference))
                    except ray.exceptions.RayError as error:
                        outcome = Failure(run, f"Ray lost it: {_reason(error)}")
                    yield run, outcome
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)
            if started_here:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        try:
            ray.init(address=self.address, log_to_driver=False, include_dashboard=False if self.address == "local" else None)
        except (ConnectionError, ValueError) as error:
            raise UsageError(f"no Ray cluster at {self.address!r} ({_reason(error)}); start one, or take --address local") from None


def perform_within(task: Task, timeout: float | None) -> Answer:
    """`perform`, given up after a time limit by an alarm. It needs the main thread, in which Ray runs tasks."""
    def give_up(number: int, frame: object) -> None:
        raise _TooLong

    # Importing the claims is not part of the run.
    with suppress(Exception):
        _claims(task[0])
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, timeout or 0.0)
    try:
        return perform(task)
    except _TooLong:
        return f"hung: stopped after {timeout:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class _TooLong(BaseException):
    """The time limit of a run; no `except Exception` of a measurement swallows it."""
