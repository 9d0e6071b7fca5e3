"""Recommendations per second for an array of sizes, next to one by one in the same run (aim: at
least 100,000 per second on two cores).

Run with `pytest benchmarks --benchmark-only`. Both numbers and their ratio are printed and stored
with the benchmark.
"""

from __future__ import annotations

import math
import random
import sys
import time
from statistics import median

import pytest

from depthlaw.advisor import recommend, vectorised
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.recommendation import ladder_for

MANY, FEW, ROUNDS = 100_000, 100, 5


def forget() -> None:
    """Empty what arrays keep between calls, so that every round builds its ladder."""
    vectorised._ladder.cache_clear()
    vectorised._row.cache_clear()
    ladder_for.cache_clear()


@pytest.mark.benchmark(group="advisor")
def test_arrays_against_one_by_one(benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(0)
    sizes = [math.exp(chance.uniform(math.log(1e8), math.log(1e12))) for _ in range(MANY)]
    before = time.perf_counter()
    single = []
    for size in sizes[:FEW]:
        forget()
        single.append(recommend(Budget(total=size)))
    peer = (time.perf_counter() - before) / FEW
    found = benchmark.pedantic(
        vectorised.recommend_depths, args=(sizes,), setup=forget, rounds=ROUNDS
    )
    mine = (benchmark.stats.stats.median if benchmark.stats else median([1.0])) / MANY
    benchmark.extra_info |= {"per second": 1 / mine, "times one by one": peer / mine}
    with capsys.disabled():
        sys.stdout.write(
            f"\n{1 / mine:,.0f} recommendations a second in an array of {MANY:,}, "
            f"{1 / peer:,.0f} one by one, ratio {peer / mine:,.0f}\n"
        )
    assert [a.shape.architecture.layers for a in single] == found.layers[:FEW].tolist()
