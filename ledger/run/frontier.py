"""Suite frontier: exact separation ranks, piece by piece within a memory budget, and the table of what is known."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from depthlaw.advisor.quantities import UsageError, quoted
from depthlaw.theory.claim import ALONE, Case, Claim
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.values import Exact

from ..cli.terminal import STYLES, duration, number
from ..verdicts.report import CaseResult, ClaimResult
from .engines import THREADS, Engine, Inline, Pool
from .suite import Run, on_gpu

if TYPE_CHECKING:
    from depthlaw.theory.separation_rank.piece_rank import PieceCost

KEY, BELOW = "separation_rank/exact", "separation_rank/exact_below_count"

# The bounds of the literature that a value is held against, as their claims state them.
BOUNDS = ("separation_rank/lower_bound_shallow", "separation_rank/upper_bound_shallow", "separation_rank/lower_bound_deep",
          "separation_rank/upper_bound_deep")

# What an interpreter with NumPy, SymPy and the claims takes for a piece of no size: 0.1 GB in the records of the smallest entries, and 0.3 GB
# where PyTorch is loaded too.
BASE_BYTES = 320 * 2**20

DEFAULT_MEMORY = "8GB"

# The variable that separation_rank.exact reads; named here too, so that commands start without NumPy.
MEMORY = "DEPTHLAW_MEMORY"


@dataclass(frozen=True)
class Rates:
    """What this machine does in a second while all its cores do the same, one thread each: the constants of the cost model.

    Attributes:
        processes: that were measured at the same time, and share the pieces of an entry, each of them with forms that it makes itself.
        operations: of float64 matrix products, at the size of the tiles that an elimination works on.
        bytes: of the entries of products, as an elimination reduces them: from a matrix of 2048 columns, less its operations and columns.
        column: seconds that a column takes whatever its length: from a matrix of 256 columns. It makes the rate of small matrices fall.
        gathers: numbers looked up for the entries of a catalecticant.
        line: seconds that a row or column of one takes whatever its length.
        numbers: moved to make the forms.
    """

    processes: int
    operations: float
    bytes: float
    column: float
    gathers: float
    line: float
    numbers: float

    @classmethod
    def measured(cls) -> Rates:
        """Measure them in as many processes as the pool has; a few seconds."""
        count = _cores()
        before = {name: os.environ.get(name) for name in THREADS}
        os.environ.update(THREADS)
        try:
            with ProcessPoolExecutor(count, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
                found = list(pool.map(_rates_of_a_process, range(count)))
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
        return cls(count, *(sum(values) / count for values in zip(*found, strict=True)))

    def seconds(self, case: Case, forms: bool = True) -> float:
        """The time that a piece should take, with or without the time for the forms.

        A piece that is known to fall short of what bounds it is done with several choices of weights, and each needs forms of its own.
        """
        from depthlaw.theory.separation_rank.graded_pieces import forms_entries

        cost, times = _cost(case)
        elimination = cost.operations / self.operations + cost.bytes_moved / self.bytes + cost.columns * self.column
        filling = cost.gathers / self.gathers + cost.lines * self.line
        made = times if forms else times - 1
        return times * (elimination + filling) + made * forms_entries(case.width, case.depth) / self.numbers


def _cost(case: Case) -> tuple[PieceCost, int]:
    """What a piece takes for one choice of weights, and how many choices it is done with."""
    from depthlaw.theory.separation_rank.exact import RANKS, draws
    from depthlaw.theory.separation_rank.piece_rank import piece_cost

    shape = case.width, case.depth, case.order
    return piece_cost(*shape, rank=RANKS.get(shape)), draws(*shape)


def _rates_of_a_process(_: int) -> tuple[float, ...]:
    """The rates of this process, in the order of `Rates` from `operations` on."""
    import numpy as np

    from depthlaw.theory.exact.finite_field import elimination_cost, rank
    from depthlaw.theory.separation_rank.graded_pieces import PRIME, forms_entries, frontier_forms

    def forms() -> None:
        frontier_forms.cache_clear()
        frontier_forms(4, 3)

    a = np.random.default_rng(0).integers(0, PRIME, (2048, 2048)).astype(np.float64)
    tile, cost = a[:1024, :1024], elimination_cost(2048, 2048, PRIME)
    operations = 2 * 1024**3 / _seconds(lambda: tile @ tile)
    column = _seconds(lambda: rank(a[:256, :256], PRIME)) / 256
    passes = _left_of(_seconds(lambda: rank(a, PRIME)), cost.operations / operations + 2048 * column)
    small, _, lines = _filling(2, 4, 10)
    large, gathers, more = _filling(10, 2, 2)
    looking = _left_of(large, more * small / lines)
    return operations, cost.bytes_moved / passes, column, gathers / looking, small / lines, forms_entries(4, 3) / _seconds(forms)


def _filling(width: int, depth: int, order: int) -> tuple[float, int, int]:
    """Seconds that the matrix of a piece takes, the look-ups and the lines."""
    import numpy as np

    from depthlaw.theory.separation_rank.graded_pieces import catalecticant_part, frontier_forms, piece_shape, selection

    forms, (cost, _) = frontier_forms(width, depth), _cost(Case(width=width, depth=depth, order=order))
    piece = selection(piece_shape(width, depth, order), np.random.default_rng(0))
    return _seconds(lambda: catalecticant_part(forms, order, piece)), cost.gathers, cost.lines


def _left_of(seconds: float, known: float) -> float:
    """What is not known yet of a time; a tenth of it at least, as two measurements on a busy machine can disagree."""
    return max(seconds - known, seconds / 10)


def _seconds(work: Callable[[], object]) -> float:
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
    assert run.case is not None
    cost, _ = _cost(run.case)
    return BASE_BYTES + cost.peak_bytes - cost.matrix_bytes, BASE_BYTES + cost.peak_bytes


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def by_cost(runs: Iterable[Run], rates: Rates) -> dict[Run, float]:
    """The pieces with their expected seconds: the cheapest entry first, so that a time limit leaves whole entries behind.

    The first pieces of an entry, one for each process, take the time for the forms.
    """
    seconds: dict[Run, float] = {}
    started: dict[tuple[int, int], int] = {}
    total: dict[tuple[int, int], float] = {}
    for run in runs:
        if run.case is not None and not run.claim.reads:
            entry = _entry(run)
            started[entry] = started.get(entry, 0) + 1
            seconds[run] = rates.seconds(run.case, forms=started[entry] <= rates.processes)
            total[entry] = total.get(entry, 0.0) + seconds[run]
    return dict(sorted(seconds.items(), key=lambda item: (total[_entry(item[0])], _entry(item[0]))))


def _entry(run: Run) -> tuple[int, int]:
    assert run.case is not None
    return int(run.case.width), int(run.case.depth)


def frontier_claims(claims: Mapping[str, Claim], suite: str, device: str) -> dict[str, Claim]:
    """The claims of the frontier with their matrices eliminated on a GPU, and those that are measured by training with the training there.

    Raises:
        UsageError: for another device or suite, and where there is no GPU.
    """
    if device != "cuda" or suite not in ALONE or not (KEY in claims or BELOW in claims or on_gpu(claims, suite)):
        raise UsageError(f"--device {quoted(device)}: accepted are cpu, and cuda for suites frontier and gpu of {KEY} and of trained_depth")
    try:
        from depthlaw.empirics.separation_rank import gpu_is_there, piece_on_gpu
    except ImportError:
        raise UsageError("--device cuda needs PyTorch; pip install 'depthlaw[empirics]', or take --device cpu") from None
    if not gpu_is_there():
        raise UsageError("--device cuda: PyTorch finds no GPU here; take --device cpu")
    return {key: replace(claims[key], measured=piece_on_gpu) for key in (KEY, BELOW) if key in claims} | on_gpu(claims, suite)


def cost_check(judged: Iterable[ClaimResult], predicted: Mapping[str, float], runs: Iterable[Run], work: Sequence[Stage]) -> Iterator[str]:
    """The cost model beside what was measured, entry by entry, and where a process took more than its share, of what was just run."""
    judged, runs = list(judged), list(runs)
    yield from _memory_check(judged, work)
    records = {record.id: record for result in judged for record in result.records}
    spent: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        if run.case is not None and run.id in predicted and run.id in records:
            spent.setdefault(_entry(run), []).append(run)
    if not spent:
        return
    measured = {run.id: float(records[run.id].facts["timing"]["wall_s"]) for done in spent.values() for run in done}
    yield "cost model and measurement, this run; memory: of the process so far"
    yield f"{'d_x, L':>7} {'operations':>10} {'GB moved':>8}  {'seconds':>9} {'measured':>8}  {'GB needed':>9} {'measured':>8}"
    for shape, done in sorted(spent.items()):
        costs = [(cost, times) for run in done if run.case is not None for cost, times in [_cost(run.case)]]
        operations, moved = (sum(times * getattr(cost, name) for cost, times in costs) for name in ("operations", "bytes_moved"))
        peak = max(records[run.id].facts["compute"]["peak_bytes_of_process"] for run in done)
        yield (f"{f'{shape[0]}, {shape[1]}':>7} {operations:>10.1e} {moved / 2**30:>8.1f}  {sum(predicted[run.id] for run in done):>9.1f} "
               f"{sum(measured[run.id] for run in done):>8.1f}  {max(_needed(run)[1] for run in done) / 2**30:>9.1f} {peak / 2**30:>8.1f}")
    yield f"altogether {sum(predicted[name] for name in measured):.0f} s predicted, {sum(measured.values()):.0f} s measured"
    ratios = sorted(measured[name] / predicted[name] for name in measured if measured[name] >= 1)
    if ratios:
        yield (f"measured / predicted, {len(ratios)} pieces of 1 s and more: median {ratios[len(ratios) // 2]:.2f}, "
               f"from {ratios[0]:.2f} to {ratios[-1]:.2f}")


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
        settled: whether every piece is as large as any weights allow, so that the value is exact for almost all of them.
        rank: the sum over the pieces recorded; a lower bound unless settled.
        count: S(d_x, L).
        operations: of the eliminations recorded, for all choices of weights.
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

    pieces = (3**depth + 1) // 2
    settled = len(rows) == pieces and all(row.decision.certain and row.decision.verdict is Verdict.HOLDS for row in rows.values())
    rank = sum(int(row.measured.value) for row in rows.values() if isinstance(row.measured, Exact))
    facts = [record.facts for row in rows.values() for record in row.records]
    return Entry(
        width, depth, len(rows), pieces, settled, rank, dimension_count(width, depth),
        sum(times * cost.operations for cost, times in (_cost(row.case) for row in rows.values())),
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


LEGEND = """sep: exact for almost all weights of one head, unless it says >=;
it is below S(d_x, L) where separation_rank/count_loss says so
time: of all pieces, one after the other; memory: the largest process
lower, upper: log sep / log of the bound of Theorem 1 or 2 as recalled (the one
that applies; none: it says nothing); ! violated"""
