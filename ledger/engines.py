"""Engines: the same runs in this process, in a pool of processes, or on a Ray cluster.

An engine takes runs and yields each with what became of it, in any order. It decides nothing: which runs are needed, what is kept
and what a record means is the same on every engine, so the records and the manifest are the same too.
"""
from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, TimeoutError, wait
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from depthlaw.theory.claim import Case

from .budget import UsageError
from .records import Record
from .suite import Failure, Run

# A task that travels: the function that loads the claims ("module:function"), claim key, case (None for a proof), seed.
Task = tuple[str, str, dict[str, Any] | None, int]

LOADER = "depthlaw.ledger.suite:load_claims"

# Small matrices gain nothing from threads, and two processes with two threads each fight over two cores.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Engine(Protocol):
    """Executes runs. Closing the iterator abandons what is in flight; what was yielded is finished."""

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """Every run with its record or the reason why it has none, as they finish."""
        ...


def perform(task: Task) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | str:
    """Execute a task where it has arrived. Returns the parts of its record, or why it failed, as plain data."""
    loader, key, case, seed = task
    module, _, function = loader.partition(":")
    try:
        claim = getattr(import_module(module), function)()[key]
        record = Run(claim, Case(**case) if case is not None else None, seed).execute()
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return dict(record.inputs), dict(record.result), dict(record.facts)


def _outcome(run: Run, answer: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | str) -> Record | Failure:
    if isinstance(answer, str):
        return Failure(run, answer)
    record = Record(*answer)
    if record.id != run.id:
        return Failure(run, "the worker runs other code than the driver: install the same version of depthlaw everywhere")
    return record


def _task(run: Run, loader: str) -> Task:
    return loader, run.claim.key, run.case.fields() if run.case is not None else None, run.seed


@dataclass(frozen=True)
class Inline:
    """In this process, one after the other: no overhead, but a run that kills its process takes the driver with it."""

    def outcomes(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Record | Failure]]:
        """See `Engine`."""
        for run in runs:
            try:
                outcome: Record | Failure = run.execute()
            except Exception as error:
                outcome = Failure(run, f"{type(error).__name__}: {error}".splitlines()[0])
            yield run, outcome


@dataclass(frozen=True)
class Pool:
    """In spawned processes of this machine.

    Attributes:
        processes: how many; by default one per core.
        timeout: seconds after which a run counts as hung and its process is killed.
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
        from pebble import ProcessPool

        context = multiprocessing.get_context("spawn")
        slots = context.Queue()
        for gpu in self.gpus:
            slots.put(gpu)
        workers = self.processes or os.cpu_count() or 1
        pool = ProcessPool(max_workers=min(workers, max(len(runs), 1)), context=context, initializer=_prepare_process,
                           initargs=(self.memory, slots if self.gpus else None))
        pending: dict[Future[Any], Run] = {}
        again: list[tuple[float, Run]] = []
        attempts: dict[str, int] = {}

        def start(run: Run) -> None:
            pending[pool.schedule(perform, args=[_task(run, self.loader)], timeout=self.timeout)] = run

        try:
            for run in runs:
                start(run)
            while pending or again:
                due = [run for when, run in again if when <= time.monotonic()]
                again = [(when, run) for when, run in again if run not in due]
                for run in due:
                    start(run)
                done, _ = wait(pending, timeout=0.05 if again else 1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    run = pending.pop(future)
                    outcome = self._finished(run, future)
                    if outcome is None:
                        attempts[run.id] = attempts.get(run.id, 0) + 1
                        if attempts[run.id] <= self.retries:
                            again.append((time.monotonic() + 0.1 * 4 ** attempts[run.id], run))
                            continue
                        outcome = Failure(run, f"its process died {attempts[run.id]} times (killed, or out of memory)")
                    yield run, outcome
        finally:
            pool.stop()
            pool.join()

    def _finished(self, run: Run, future: Future[Any]) -> Record | Failure | None:
        """The outcome, or None when the process died and the run may be tried again."""
        from pebble import ProcessExpired

        try:
            return _outcome(run, future.result())
        except TimeoutError:
            return Failure(run, f"hung: stopped after {self.timeout:g} s")
        except ProcessExpired:
            return None


def _prepare_process(memory: int | None, slots: Any) -> None:
    """Thread counts, memory cap and GPU of a worker, set before it imports anything heavy; interrupts are the driver's business."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(THREADS)
    if slots is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = slots.get()
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


@dataclass(frozen=True)
class Ray:
    """On a Ray cluster: this machine alone (address "local"), or a running cluster ("auto" or its address).

    Attributes:
        address: where the cluster is.
        retries: how often Ray tries a run again after its worker or node died.
        gpus_per_run: the share of a GPU that each run asks for, such as 0.25; Ray sets CUDA_VISIBLE_DEVICES, memory is not capped.
        loader: where a worker finds the claims.
    """

    address: str = "local"
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
            try:
                ray.init(address=self.address, log_to_driver=False, include_dashboard=False, runtime_env={"env_vars": THREADS})
            except (ConnectionError, ValueError) as error:
                raise UsageError(f"no Ray cluster at {self.address!r} ({str(error).splitlines()[0]}); start one, or take --address local") from None
        remote = ray.remote(num_cpus=1, num_gpus=self.gpus_per_run, max_retries=self.retries)(perform)
        pending = {remote.remote(_task(run, self.loader)): run for run in runs}
        try:
            while pending:
                done, _ = ray.wait(list(pending), num_returns=1)
                for reference in done:
                    run = pending.pop(reference)
                    try:
                        outcome = _outcome(run, ray.get(reference))
                    except ray.exceptions.RayError as error:
                        outcome = Failure(run, f"Ray lost it: {str(error).splitlines()[0]}")
                    yield run, outcome
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)
            if started_here:
                ray.shutdown()
