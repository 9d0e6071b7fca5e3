"""Ten thousand recorded runs: opening the folder, skipping all of them, listing them. The peer is
reading and hashing the same files without understanding them; medians and ratios are printed and
stored, nothing depends on them.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from depthlaw.ledger.cli.records_commands import list_records
from depthlaw.ledger.records.environment import environment
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Record, Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import Case, Claim, registry

RUNS = 10_000
ROUNDS = 3


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    """One claim with ten thousand cases."""
    claim = registry()["separation_rank/degree"]
    return {
        claim.key: replace(
            claim,
            proof=None,
            assumes={},
            grid={"quick": tuple(Case(depth=1 + n % 6, n=n) for n in range(RUNS))},
        )
    }


@pytest.fixture(scope="module")
def folder(claims: dict[str, Claim], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder that holds all of them, of the size that real records have."""
    root = tmp_path_factory.mktemp("many")
    store = Store(root)
    facts = {"environment": environment(), "timing": {"wall_s": 0.001, "cpu_s": 0.001}}
    for run in plan(claims, "quick"):
        assert run.case is not None
        record = Record(run.inputs, {"exact": str(3**run.case.depth)}, facts)
        # Without the fsync of `put`, which would take most of a minute here.
        path = store.file_of(record.id)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(record.to_bytes())
    return root


def read_and_hash(folder: Path) -> float:
    """Seconds that the peer takes."""
    before = time.perf_counter()
    for path in sorted(folder.glob("runs/*/*.json")):
        hashlib.sha256(path.read_bytes()).hexdigest()
    return time.perf_counter() - before


def measure(benchmark, say, folder: Path, name: str, work: Callable[[], object]) -> None:
    peer = read_and_hash(folder)
    benchmark.pedantic(work, rounds=ROUNDS, warmup_rounds=0)
    if benchmark.stats:
        mine = benchmark.stats.stats.median
        benchmark.extra_info.update({"records": RUNS, "times the peer": mine / peer})
        say(
            f"{name} {RUNS} records: {mine:.2f} s, {mine / peer:.1f} times "
            f"reading and hashing the files ({peer:.2f} s)"
        )


@pytest.mark.benchmark(group="ten thousand records")
def test_open(benchmark, say, folder: Path) -> None:
    measure(benchmark, say, folder, "open", lambda: Store(folder, read_only=True))
    assert len(Store(folder, read_only=True)) == RUNS


@pytest.mark.benchmark(group="ten thousand records")
def test_skip(benchmark, say, folder: Path, claims: dict[str, Claim]) -> None:
    executed: list[Run] = []

    def skip() -> None:
        execute(plan(claims, "quick"), Store(folder), Inline(), finished=executed.append)

    measure(benchmark, say, folder, "skip", skip)
    assert executed == []


@pytest.mark.benchmark(group="ten thousand records")
def test_list(benchmark, say, folder: Path) -> None:
    said = io.StringIO()

    def listing() -> None:
        with contextlib.redirect_stdout(said):
            list_records(folder, "", "", False)

    measure(benchmark, say, folder, "list", listing)
    assert len(said.getvalue().splitlines()) > RUNS
