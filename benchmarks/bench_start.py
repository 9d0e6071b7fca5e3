"""How long a user waits for the advisor, next to the import of NumPy in the same run; the table
prints the ratios in brackets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "depthlaw depth 1.3B": [str(Path(sys.executable).with_name("depthlaw")), "depth", "1.3B"],
    "depthlaw depth --task hops": [
        str(Path(sys.executable).with_name("depthlaw")),
        "depth",
        "--task",
        "hops",
        "--hops",
        "16",
    ],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.benchmark(group="start")
def test_start(benchmark: BenchmarkFixture, name: str) -> None:
    done = benchmark.pedantic(
        subprocess.run,
        args=(COMMANDS[name],),
        kwargs={"capture_output": True},
        rounds=15,
        warmup_rounds=2,
    )
    assert done.returncode == 0, done.stderr
