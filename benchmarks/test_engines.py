"""The pool next to the inline engine on claims of suite theory, and what a run costs besides its
measurement, in the same run.

Run with `pytest benchmarks/test_engines.py --benchmark-only`. BENCHMARK_LARGE=1 takes the whole
suite. The time of the pool includes starting its processes and importing the claims in each; both
engines write their records. Ratios are printed, nothing depends on them.
"""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path

import pytest

from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Engine, Inline, ProcessPool, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import registry

TOPICS = ("hops", "connectivity")
RUNS = 1000


def seconds(engine: Engine, runs: list, folder: Path) -> float:
    """Wall time of recording the runs in a fresh folder."""
    store = Store(folder)
    before = time.perf_counter()
    assert execute(runs, store, engine) == []
    return time.perf_counter() - before


@pytest.mark.benchmark(group="engines")
def test_pool_against_inline(benchmark, say, tmp_path: Path) -> None:
    everything = os.environ.get("BENCHMARK_LARGE", "") == "1"
    wanted = (c for c in registry().values() if not c.needs and (everything or c.topic in TOPICS))
    runs = plan({c.key: c for c in wanted}, "theory")
    alone: list[float] = []
    names = iter(range(100))

    def peer() -> None:
        alone.append(seconds(Inline(), runs, tmp_path / str(next(names))))

    together: list[float] = []
    benchmark.pedantic(
        lambda: together.append(seconds(ProcessPool(2), runs, tmp_path / str(next(names)))),
        setup=peer,
        rounds=1,
    )
    ratio = alone[0] / together[0]
    benchmark.extra_info["inline / pool of 2"] = ratio
    say(
        f"{len(runs)} runs: inline {alone[0]:.1f} s, pool of two "
        f"{together[0]:.1f} s, ratio {ratio:.2f}"
    )


@pytest.mark.parametrize("engine", ["inline", "pool of 1", "pool of 2"])
@pytest.mark.benchmark(group="cost of a run")
def test_cost_of_a_run(
    benchmark, say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    folder = str(Path(__file__).resolve().parents[1] / "tests" / "ledger")
    monkeypatch.setenv("PYTHONPATH", folder)
    monkeypatch.syspath_prepend(folder)
    faulty = import_module("faulty")
    # Runs that do nothing: what is left is the cost of the engine and of the record.
    monkeypatch.setenv("FAULTY_RUNS", str(RUNS))
    runs, times, names = plan(faulty.claims(), "quick"), list[float](), iter(range(100))
    made = Inline() if engine == "inline" else ProcessPool(int(engine[-1]), loader=faulty.LOADER)
    benchmark.pedantic(
        lambda: times.append(seconds(made, runs, tmp_path / str(next(names)))), rounds=3
    )
    say(f"{engine}: {min(times) / RUNS * 1e3:.2f} ms per run with its record, starting included")
