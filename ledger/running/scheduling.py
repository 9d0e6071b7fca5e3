"""How long runs take; and for claims with a plan, what runs where within a budget of memory."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.budget import Cost

from ..records.environment import cores, installing
from ..records.run import Run
from ..records.store import Record, Store
from .engines import Engine, Inline, ProcessPool

# Bytes, where nothing else is asked for.
DEFAULT_MEMORY = 8 * 2**30


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
        case = str(run.case and run.case.fields())
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
    """Refuse a device that nothing can be measured on here, by a UsageError."""
    if device not in ("cpu", "cuda"):
        raise UsageError(
            f"--device {quoted(device)}: accepted are cpu, and cuda for claims that can use it"
        )
    if device == "cpu":
        return
    try:
        import torch
    except ImportError:
        how = f"{installing('empirics')}, or take --device cpu"
        raise UsageError(f"--device cuda needs PyTorch; {how}") from None
    if not torch.cuda.is_available():
        raise UsageError("--device cuda: PyTorch finds no GPU here; take --device cpu")


def budgeted(
    runs: Sequence[Run], store: Store, engine: Engine, memory: int | None = None
) -> tuple[list[Stage], TimeEstimate]:
    """Stages of runs within a budget of memory, and what they should take: of claims with a plan
    the cheapest group first, so that a time limit leaves whole groups behind, then the others. The
    estimate's `known` are the runs that a plan or records of the same claim tell about.

    Runs that fit into a process's share of the memory go to the pool; larger ones follow in this
    process, with all threads. Each is given the bytes that its process may take.

    Raises:
        UsageError: when the budget does not hold what a run cannot do without.
    """
    memory = memory or DEFAULT_MEMORY
    costs = {run: run.claim.plan.cost(run.case) for run in runs if run.case and run.claim.plan}
    for run, cost in costs.items():
        if cost.least_bytes > memory:
            least = f"{cost.least_bytes / 2**30:.1f} GB besides its matrix"
            raise UsageError(f"--memory: {run} needs {least}; give at least that")
    seconds = _by_group(costs)
    parts: list[tuple[list[Run], Engine, int]] = [(list(seconds), engine, memory)]
    if isinstance(engine, ProcessPool):
        count = engine.processes or cores()
        small = [run for run in seconds if costs[run].peak_bytes <= memory // count]
        large = [run for run in seconds if costs[run].peak_bytes > memory // count]
        pool = replace(engine, processes=count)
        parts = [(small, pool, memory // count), (large, Inline(), memory)]
    work = [
        Stage([replace(run, options={**run.options, "memory": most}) for run in part], by, most)
        for part, by, most in parts
        if part
    ]
    others = [run for run in runs if run not in costs]
    work += [Stage(others, engine)] if others else []
    by_records = estimate(others, store)
    known = {run.id: expected for run, expected in seconds.items()} | dict(by_records.seconds)
    return work, TimeEstimate(known, len(seconds) + by_records.known)


def _by_group(costs: Mapping[Run, Cost]) -> dict[Run, float]:
    """Runs with their expected seconds, the cheapest group first. The first runs of a group, one
    for each core, also take what is prepared for it."""
    groups: dict[Any, list[tuple[Run, float]]] = {}
    for run, cost in costs.items():
        plan = run.claim.plan
        of_group = groups.setdefault((plan.group, *plan.group_of(run.case)), [])
        of_group.append((run, cost.seconds(plan.rates, first=len(of_group) < cores())))
    totals = {group: sum(seconds for _, seconds in of) for group, of in groups.items()}
    ordered = sorted(groups, key=lambda group: (totals[group], group))
    return {run: seconds for group in ordered for run, seconds in groups[group]}


def memory_check(work: Sequence[Stage], records: Callable[[str], Record | None]) -> Iterator[str]:
    """Where a process of stages that are just done took more than its share of the memory;
    `records` gives the record of a run's id."""
    for stage in work:
        peaks = [
            (record.facts["compute"]["peak_bytes_of_process"], run)
            for run in stage.runs
            if stage.memory is not None and (record := records(run.id)) is not None
        ]
        peak, run = max(peaks, key=lambda row: row[0], default=(0, None))
        if stage.memory is not None and peak > stage.memory:
            yield (
                f"memory: a process took {peak / 2**30:.1f} GB, more than its share of "
                f"{stage.memory / 2**30:.1f} GB, at the latest in {run}"
            )
