"""Suite frontier: exact separation ranks, piece by piece within a memory budget, and the table of what is known."""
from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log
from typing import Any

from rich.table import Table
from rich.text import Text

from depthlaw.theory.claim import ALONE, Case, Claim
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.measurement import Exact

from .budget import UsageError, quoted
from .engines import Engine, Inline, Pool
from .report import CaseResult, ClaimResult
from .suite import Run
from .terminal import STYLES, duration, number

KEY, SHORT = "separation_rank/exact", "separation_rank/count_attained"

# The bounds of the literature that a value is held against, as their claims state them.
BOUNDS = ("separation_rank/lower_bound_shallow", "separation_rank/upper_bound_shallow", "separation_rank/lower_bound_deep",
          "separation_rank/upper_bound_deep")

# What an interpreter with NumPy, SymPy and the claims takes for a piece of no size: 0.3 GB in the records of the smallest entries.
BASE_BYTES = 320 * 2**20

DEFAULT_MEMORY = "8GB"

# The variable that separation_rank.exact reads; named here too, so that commands start without NumPy.
MEMORY = "DEPTHLAW_MEMORY"


@dataclass(frozen=True)
class Rates:
    """What this machine does in a second, one thread or all, measured in a moment: the constants of the cost model.

    Attributes:
        operations: of float64 matrix products.
        bytes: moved by passes over arrays larger than the cache.
        entries: gathered from a table.
        column: seconds that one column of an elimination takes beside all that.
    """

    operations: float
    bytes: float
    entries: float
    column: float

    @classmethod
    def measured(cls) -> Rates:
        """Measure them; less than two seconds."""
        import numpy as np

        from depthlaw.theory.finite_field import elimination_cost, rank
        from depthlaw.theory.separation_rank.graded_pieces import PRIME

        rng = np.random.default_rng(0)
        a = rng.integers(0, PRIME, (1536, 1536)).astype(np.float64)
        big, places = np.zeros(2**23), rng.integers(0, 2**17, 2**22)
        operations = 2 * 1536**3 / _seconds(lambda: a @ a)
        moved = 2 * big.nbytes / _seconds(lambda: np.multiply(big, 1.0, out=big))
        entries = 2**22 / _seconds(lambda: np.take(big, places))
        cost = elimination_cost(768, 768, PRIME)
        spent = _seconds(lambda: rank(a[:768, :768], PRIME)) - cost.operations / operations - cost.bytes_moved / moved
        return cls(operations, moved, entries, max(spent, 0.0) / 768)

    def seconds(self, case: Case, share: float = 1.0) -> float:
        """The time that a piece should take; `share` is the part of the forms' making that falls to it."""
        from depthlaw.theory.separation_rank.graded_pieces import forms_entries, piece_cost, piece_shape

        cost = piece_cost(case.width, case.depth, case.order)
        gathers = 2 * cost.entries + share * forms_entries(case.width, case.depth)
        columns = min(piece_shape(case.width, case.depth, case.order))
        return cost.operations / self.operations + cost.bytes_moved / self.bytes + gathers / self.entries + columns * self.column


def _seconds(work: Any) -> float:
    times = []
    for _ in range(3):
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return max(min(times), 1e-9)


# --- running -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """Runs that are done together: the engine, and the bytes that each of its processes may take."""

    runs: list[Run]
    engine: Engine
    memory: int | None = None

    @contextmanager
    def budget(self) -> Iterator[None]:
        """Tell this process, and those it starts, how much memory a piece may take."""
        before = os.environ.get(MEMORY)
        if self.memory is not None:
            os.environ[MEMORY] = str(max(self.memory - BASE_BYTES, 1))
        try:
            yield
        finally:
            if self.memory is not None:
                os.environ.pop(MEMORY)
                if before is not None:
                    os.environ[MEMORY] = before


def stages(runs: Sequence[Run], engine: Engine, memory: int) -> Iterator[Stage]:
    """Pieces that fit into a process's share of the memory go to the pool; the larger ones follow in this process, with all threads.

    Raises:
        UsageError: when the budget does not even hold the forms of a piece.
    """
    needed = {run.id: _needed(run) for run in runs}
    for run in runs:
        least = needed[run.id][0]
        if least > memory:
            raise UsageError(f"--memory: {run} needs {least / 2**30:.1f} GB besides its matrix; give at least that")
    if not isinstance(engine, Pool):
        yield Stage(list(runs), engine, memory)
        return
    count = engine.processes or _cores()
    small = [run for run in runs if needed[run.id][1] <= memory // count]
    if small:
        yield Stage(small, replace(engine, processes=count), memory // count)
    large = [run for run in runs if needed[run.id][1] > memory // count]
    if large:
        yield Stage(large, Inline(), memory)


def _needed(run: Run) -> tuple[int, int]:
    """Bytes that a piece takes with its matrix on disk, and in memory."""
    from depthlaw.theory.separation_rank.graded_pieces import piece_cost

    assert run.case is not None
    cost = piece_cost(run.case.width, run.case.depth, run.case.order)
    return BASE_BYTES + cost.peak_bytes - cost.matrix_bytes, BASE_BYTES + cost.peak_bytes


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def by_cost(runs: Iterable[Run], rates: Rates) -> dict[Run, float]:
    """The runs with their expected seconds: the cheapest entry first, so that a time limit leaves whole entries behind."""
    runs = list(runs)
    pieces: dict[tuple[int, int], int] = {}
    for run in runs:
        pieces[_entry(run)] = pieces.get(_entry(run), 0) + 1
    seconds = {run: rates.seconds(run.case, 1 / pieces[_entry(run)]) for run in runs if run.case is not None}
    total: dict[tuple[int, int], float] = {}
    for run, expected in seconds.items():
        total[_entry(run)] = total.get(_entry(run), 0.0) + expected
    return dict(sorted(seconds.items(), key=lambda item: (total[_entry(item[0])], _entry(item[0]))))


def _entry(run: Run) -> tuple[int, int]:
    assert run.case is not None
    return int(run.case.width), int(run.case.depth)


def frontier_claims(claims: Mapping[str, Claim], suite: str, device: str) -> dict[str, Claim]:
    """The claim of the frontier with its matrices eliminated on a GPU.

    Raises:
        UsageError: for another device or suite, and where there is no GPU.
    """
    if device != "cuda" or suite not in ALONE or KEY not in claims:
        raise UsageError(f"--device {quoted(device)}: accepted are cpu, and cuda for suites frontier and gpu of {KEY}")
    try:
        from depthlaw.empirics.separation_rank import gpu_is_there, piece_on_gpu
    except ImportError:
        raise UsageError("--device cuda needs PyTorch; pip install 'depthlaw[empirics]', or take --device cpu") from None
    if not gpu_is_there():
        raise UsageError("--device cuda: PyTorch finds no GPU here; take --device cpu")
    return {key: replace(claims[key], measured=piece_on_gpu) for key in (KEY, SHORT) if key in claims}


def cost_check(judged: Iterable[ClaimResult], predicted: Mapping[str, float], runs: Iterable[Run], work: Sequence[Stage]) -> Iterator[str]:
    """Predicted and measured time, entry by entry where it matters, and where a process took more than its share, of what was just run."""
    judged, runs = list(judged), list(runs)
    yield from _memory_check(judged, work)
    spent: dict[tuple[int, int], list[float]] = {}
    records = {record.id: record for result in judged for record in result.records}
    for run in runs:
        if run.id in predicted and run.id in records:
            pair = spent.setdefault(_entry(run), [0.0, 0.0])
            pair[0] += predicted[run.id]
            pair[1] += records[run.id].facts["timing"]["wall_s"]
    if not spent:
        return
    yield "cost model, this run (seconds predicted / measured): " + ", ".join(
        f"({d}, {L}) {a:.1f} / {b:.1f}" for (d, L), (a, b) in sorted(spent.items()) if b >= 1)
    total = [sum(pair[i] for pair in spent.values()) for i in (0, 1)]
    yield f"altogether {total[0]:.0f} / {total[1]:.0f} s of work"


def _memory_check(judged: Iterable[ClaimResult], work: Sequence[Stage]) -> Iterator[str]:
    """A line for every stage in which a process grew beyond its share of the budget."""
    records = {record.id: record for result in judged for record in result.records}
    for stage in work:
        peaks = {run: records[run.id].facts["compute"]["peak_bytes_of_process"] for run in stage.runs if run.id in records}
        if stage.memory and peaks and max(peaks.values()) > stage.memory:
            run = max(peaks, key=lambda r: peaks[r])
            yield (f"memory: a process took {peaks[run] / 2**30:.1f} GB, more than its share of {stage.memory / 2**30:.1f} GB, "
                   f"at the latest in {run}")


# --- the table ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """A bound of the literature at one entry: its claim, the verdict on it, and log sep / log bound where that has a meaning."""

    claim: str
    verdict: Verdict
    ratio: float | None


@dataclass(frozen=True)
class Entry:
    """One (d_x, L): the sum of its graded pieces and what it cost.

    Attributes:
        done, pieces: pieces recorded, of how many.
        settled: whether every piece is as large as its matrix allows, so that the value is exact for almost all weights.
        rank: the sum over the pieces recorded; a lower bound unless settled.
        count: S(d_x, L).
        operations: of the eliminations recorded.
        seconds: that they took.
        peak_bytes: the largest process among them, or 0.
        bounds: where the literature stands, for a complete entry.
    """

    width: int
    depth: int
    done: int
    pieces: int
    settled: bool
    rank: int
    count: int
    operations: int
    seconds: float
    peak_bytes: int
    bounds: tuple[Bound, ...]

    @property
    def complete(self) -> bool:
        """Whether all pieces are recorded."""
        return self.done == self.pieces

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {"width": self.width, "depth": self.depth, "pieces": self.pieces, "recorded": self.done, "exact": self.settled,
                "rank": str(self.rank), "dimension_count": str(self.count), "operations": self.operations, "seconds": self.seconds,
                "peak_bytes": self.peak_bytes,
                "bounds": [{"claim": b.claim, "verdict": b.verdict.value, "log_ratio": b.ratio} for b in self.bounds]}


def entries(result: ClaimResult, claims: Mapping[str, Claim]) -> list[Entry]:
    """The entries that anything is recorded of, by width and depth."""
    found: dict[tuple[int, int], dict[int, CaseResult]] = {}
    for row in result.cases:
        if row.measured is not None:
            found.setdefault((row.case.width, row.case.depth), {})[row.case.order] = row
    return [_entry_of(width, depth, rows, claims) for (width, depth), rows in sorted(found.items())]


def _entry_of(width: int, depth: int, rows: Mapping[int, CaseResult], claims: Mapping[str, Claim]) -> Entry:
    from depthlaw.theory.separation_rank import dimension_count
    from depthlaw.theory.separation_rank.graded_pieces import piece_cost

    pieces = (3**depth + 1) // 2
    settled = len(rows) == pieces and all(row.decision.certain and row.decision.verdict is Verdict.HOLDS for row in rows.values())
    rank = sum(int(row.measured.value) for row in rows.values() if isinstance(row.measured, Exact))
    facts = [record.facts for row in rows.values() for record in row.records]
    return Entry(
        width, depth, len(rows), pieces, settled, rank, dimension_count(width, depth),
        sum(piece_cost(width, depth, order).operations for order in rows),
        sum(fact.get("timing", {}).get("wall_s", 0.0) for fact in facts),
        max((fact.get("compute", {}).get("peak_bytes_of_process", 0) for fact in facts), default=0),
        tuple(_bounds(width, depth, rank, claims)) if settled else ())


def _bounds(width: int, depth: int, rank: int, claims: Mapping[str, Claim]) -> Iterator[Bound]:
    """The bounds that apply at this width and depth, judged rigorously; ratio: log sep over the logarithm of the bound."""
    case = Case(width=width, depth=depth, heads=1, tokens=2 * width + 2)
    for key in BOUNDS:
        claim = claims[key]
        decision = judge(claim, case, Exact(rank))
        if decision.verdict is Verdict.OUT_OF_SCOPE:
            continue
        stated = float(claim.predict(case))
        # One of the four bounds the rank itself, the others its logarithm to base 3.
        height = stated if claim.statement.lhs.has(type(_log())) else log(stated) / log(3) if stated > 0 else 0.0
        yield Bound(key, decision.verdict, log(rank) / log(3) / height if height > 0 and rank > 1 else None)


def _log() -> Any:
    import sympy

    return sympy.log(sympy.Symbol("x"))


def table(found: Sequence[Entry]) -> Table:
    """The frontier at 80 columns: value, S, verdict, cost, and the bounds of Theorems 1 and 2."""
    shown = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("d_x", "L", "sep", "S(d_x, L)", "pieces"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("verdict", no_wrap=True)
    for heading in ("operations", "time", "memory"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("lower, upper", no_wrap=True)
    for entry in found:
        verdict = Verdict.PROVED if entry.settled else Verdict.UNDECIDED
        shown.add_row(str(entry.width), str(entry.depth), ("" if entry.settled else ">= ") + number(Exact(entry.rank)),
                      number(Exact(entry.count)), f"{entry.done}/{entry.pieces}",
                      Text("exact" if entry.settled else "part" if not entry.complete else "bound", style=STYLES[verdict]),
                      f"{entry.operations:.1e}", duration(entry.seconds), f"{entry.peak_bytes / 2**30:.1f} GB" if entry.peak_bytes else "-",
                      ", ".join(standing(entry, side) for side in ("lower", "upper")))
    return shown


def standing(entry: Entry, side: str) -> str:
    """How a bound stands at an entry: the ratio of logarithms, and ! where it is violated."""
    bound = next((b for b in entry.bounds if f"/{side}_" in b.claim), None)
    if bound is None:
        return "-"
    mark = "!" if bound.verdict is Verdict.FAILS else ""
    return (f"{bound.ratio:.2f}" if bound.ratio is not None else "none") + mark


LEGEND = """sep: exact for almost all weights of one head (PROVED) where it meets S(d_x, L)
time: of all pieces, one after the other; memory: the largest process
lower, upper: log sep / log of the bound of Theorem 1 or 2 as recalled (the one
that applies; none: it says nothing); ! violated"""
