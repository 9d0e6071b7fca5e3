"""How long `depthlaw depth 3B` takes from the shell, next to `python -c "import numpy"` in the same
run (aim: at most 3 times), and commands about what is recorded next to `import sympy` (aims: `show`
and `why` 1.5 times, `doctor` 2, `verify quick` with everything recorded 4).

Run with `pytest benchmarks --benchmark-only`. The ratios are printed and stored with the benchmark:
of the medians for `depth`, of the least processor times for the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

import pytest

DEPTH = [sys.executable, "-m", "depthlaw.ledger.cli.arguments", "depth", "3B"]
NUMPY = [sys.executable, "-c", "import numpy"]
ROUNDS = 15


@pytest.mark.benchmark(group="startup")
def test_depth_against_import_numpy(benchmark, say, seconds) -> None:
    def start(command: list[str]) -> float:
        return seconds(partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL))

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
    say(f"depthlaw depth 3B: {mine:.3f} s, import numpy: {median(peer):.3f} s, ratio {ratio:.2f}")
    assert len(peer) >= ROUNDS


# Each beside the library that its work needs.
COMMANDS = {
    "depth --task hops --hops 16": "numpy",
    "claims": "sympy",
    "show separation_rank/exact": "sympy",
    "why separation_rank/upper_bound_deep": "sympy",
    "doctor": "sympy",
    "verify quick": "sympy",
}


def processor_seconds(*arguments: str) -> float:
    """Processor time of a Python process and its children."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = os.times()
    mine = after.children_user - before.children_user
    return mine + after.children_system - before.children_system


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.benchmark(group="startup")
def test_command_against_an_import(
    benchmark, say, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = COMMANDS[command]
    # Not the user's records: none, but for what `verify` recorded in the round before the first.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    started = ["-m", "depthlaw", *command.split()]
    processor_seconds(*started)
    peers: list[float] = []
    times: list[float] = []

    def both() -> None:
        peers.append(processor_seconds("-c", f"import {peer}"))
        times.append(processor_seconds(*started))

    benchmark.pedantic(both, rounds=5)
    ratio = min(times) / min(peers)
    benchmark.extra_info[f"times import {peer}"] = ratio
    say(f"{command:38}{min(times):6.2f} s {ratio:6.2f} x import {peer}")
