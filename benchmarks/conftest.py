"""What benchmarks share."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print a line, which pytest does not hold back."""

    def line(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")

    return line


@pytest.fixture(scope="session")
def seconds() -> Callable[..., float]:
    """Wall time of one call."""

    def taken(work: Callable[..., object], *arguments: object) -> float:
        before = time.perf_counter()
        work(*arguments)
        return time.perf_counter() - before

    return taken
