"""How long runs take; and for claims with a plan, what runs where within a budget of memory."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.budget import Cost

from ..records.environment import cores, installing
from ..records.run import Run
from ..records.store import Record, Store
from .engines import Engine, Inline, ProcessPool

DEFAULT_MEMORY = "8GB"


@dataclass(frozen=True)
class TimeEstimate:
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


def estimate(runs: Sequence[Run], store: Store) -> TimeEstimate:
    """Expected times of runs: the time of the same case where it was recorded, else the claim's
    median, else the median of all."""
    if not runs:
        return TimeEstimate({}, 0)
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
    return TimeEstimate(expected, sum(run.claim.key in by_claim for run in runs))


@dataclass(frozen=True)
class Stage:
    """Runs that are done together, the engine, and bytes that each of its processes may take."""

    runs: list[Run]
    engine: Engine
    memory: int | None = None


def check_device(device: str) -> None:
    """Refuse a device that nothing can be measured on here.

    Raises:
        UsageError: for a name that is neither cpu nor cuda, and for cuda where there is none.
    """
    if device not in ("cpu", "cuda"):
        raise UsageError(
            f"--device {quoted(device)}: accepted are cpu, and cuda for claims that can use it"
        )
    if device == "cpu":
        return
    try:
        import torch
    except ImportError:
        raise UsageError(
            f"--device cuda needs PyTorch; {installing('empirics')}, or take --device cpu"
        ) from None
    if not torch.cuda.is_available():
        raise UsageError("--device cuda: PyTorch finds no GPU here; take --device cpu")


def budgeted(
    runs: Sequence[Run], store: Store, engine: Engine, memory: int
) -> tuple[list[Stage], TimeEstimate]:
    """Stages of runs within a budget of memory, and what they should take.

    The cheapest group comes first, and claims without a plan last. The estimate's `known` are the
    runs that a plan or records of the same claim tell about.

    Raises:
        UsageError: when the budget is too small for a run.
    """
    seconds = expected_seconds(runs)
    others = [run for run in runs if not _planned(run)]
    work = [*stages(list(seconds), engine, memory), *([Stage(others, engine)] if others else [])]
    by_records = estimate(others, store)
    known = {run.id: expected for run, expected in seconds.items()}
    return work, TimeEstimate(known | dict(by_records.seconds), len(known) + by_records.known)


def stages(runs: Sequence[Run], engine: Engine, memory: int) -> Iterator[Stage]:
    """Runs that fit into a process's share of the memory go to the pool; larger ones follow in this
    process, with all threads. Each is given the bytes that its process may take.

    Raises:
        UsageError: when the budget does not hold what a run cannot do without.
    """
    costs = {run.id: _cost(run) for run in runs}
    for run in runs:
        least = costs[run.id].least_bytes
        if least > memory:
            raise UsageError(
                f"--memory: {run} needs {least / 2**30:.1f} GB besides its matrix; "
                "give at least that"
            )
    if not isinstance(engine, ProcessPool):
        yield _stage(runs, engine, memory)
        return
    count = engine.processes or cores()
    share = memory // count
    small = [run for run in runs if costs[run.id].peak_bytes <= share]
    large = [run for run in runs if costs[run.id].peak_bytes > share]
    if small:
        yield _stage(small, replace(engine, processes=count), share)
    if large:
        yield _stage(large, Inline(), memory)


def _stage(runs: Sequence[Run], engine: Engine, memory: int) -> Stage:
    limited = [replace(run, options={**run.options, "memory": memory}) for run in runs]
    return Stage(limited, engine, memory)


def expected_seconds(runs: Iterable[Run], processes: int = 0) -> dict[Run, float]:
    """The runs of claims with a plan, with their expected seconds.

    The cheapest group comes first, so that a time limit leaves whole groups behind. The first runs
    of a group, one for each process, also take what is prepared for it.
    """
    seconds: dict[Run, float] = {}
    started: dict[Any, int] = {}
    total: dict[Any, float] = {}
    for run in filter(_planned, runs):
        group = _group(run)
        started[group] = started.get(group, 0) + 1
        first = started[group] <= (processes or cores())
        seconds[run] = _cost(run).seconds(run.claim.plan.rates, first=first)
        total[group] = total.get(group, 0.0) + seconds[run]
    return dict(sorted(seconds.items(), key=lambda item: (total[_group(item[0])], _group(item[0]))))


def _planned(run: Run) -> bool:
    return run.case is not None and run.claim.plan is not None


def _cost(run: Run) -> Cost:
    assert run.case is not None
    return run.claim.plan.cost(run.case)


def _group(run: Run) -> tuple[Any, ...]:
    assert run.case is not None
    return (run.claim.plan.group, *run.claim.plan.group_of(run.case))


def memory_check(work: Sequence[Stage], records: Callable[[str], Record | None]) -> Iterator[str]:
    """Where a process of runs that are just done took more than its share of the memory.

    Args:
        work: the stages that were executed.
        records: (run id) -> record, such as `Store.get`.
    """
    for stage in work:
        done = [(run, record) for run in stage.runs if (record := records(run.id)) is not None]
        if stage.memory is None or not done:
            continue
        run, record = max(done, key=lambda row: _peak(row[1]))
        if _peak(record) > stage.memory:
            yield (
                f"memory: a process took {_peak(record) / 2**30:.1f} GB, more than its share of "
                f"{stage.memory / 2**30:.1f} GB, at the latest in {run}"
            )


def _peak(record: Record) -> int:
    return int(record.facts["compute"]["peak_bytes_of_process"])
