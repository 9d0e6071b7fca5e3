"""How long `depthlaw depth 3B` takes from the shell, next to `python -c "import numpy"` in the same
run (aim: at most 3 times).

Run with `pytest benchmarks --benchmark-only`. The ratio of the medians is printed and stored with
the benchmark.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

import pytest

DEPTH = [sys.executable, "-m", "depthlaw.ledger.cli.arguments", "depth", "3B"]
NUMPY = [sys.executable, "-c", "import numpy"]
ROUNDS = 15


def start(command: list[str]) -> float:
    """Wall time of one process in seconds."""
    before = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before


@pytest.mark.benchmark(group="startup")
def test_depth_against_import_numpy(benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    peer: list[float] = []
    # The peer runs before every round, so that both see the same machine.
    benchmark.pedantic(
        start,
        args=(DEPTH,),
        setup=lambda: peer.append(start(NUMPY)),
        rounds=ROUNDS,
        warmup_rounds=1,
    )
    mine = benchmark.stats.stats.median if benchmark.stats else median(start(DEPTH) for _ in peer)
    ratio = mine / median(peer)
    benchmark.extra_info["times import numpy"] = ratio
    with capsys.disabled():
        sys.stdout.write(
            f"\ndepthlaw depth 3B: {mine:.3f} s, import numpy: {median(peer):.3f} "
            f"s, ratio {ratio:.2f}\n"
        )
    assert len(peer) >= ROUNDS
