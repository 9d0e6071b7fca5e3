"""Runs of claims with a plan: what runs where, in which order, how long, and what is refused."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running import scheduling
from depthlaw.ledger.running.engines import Inline, ProcessPool
from depthlaw.theory.claims.budget import Cost, Plan
from depthlaw.theory.claims.definition import Case, find

GB = 2**30
RATES = {"operations": 2.0, "bytes": 4.0, "numbers": 50.0}


def cost(case):
    size = case.size
    work = {"operations": size**2, "bytes": 8 * size}
    return Cost(work, {"numbers": 100.0}, size * GB // 4, size * GB)


PLANNED = Plan(cost, RATES, group=("family",))
CLAIM = replace(find("separation_rank/exact"), plan=PLANNED)
RUNS = [Run(CLAIM, Case(family=f, size=n)) for f, n in (("b", 6), ("a", 1), ("b", 2), ("a", 3))]
UNPLANNED = Run(replace(CLAIM, plan=None), Case(family="c", size=1))


def sizes(runs):
    return [run.case.size for run in runs]


def test_seconds_are_work_over_rates_with_what_is_prepared():
    one = cost(Case(size=4))
    assert one.seconds(RATES) == 16 / 2 + 32 / 4 + 100 / 50
    assert one.seconds(RATES, first=False) == 16 / 2 + 32 / 4


@pytest.mark.parametrize(("processes", "prepared"), [(1, [2, 0, 2, 0]), (2, [2, 2, 2, 2])])
def test_the_first_run_of_each_process_prepares_and_cheap_groups_come_first(
    processes, prepared, tmp_path, monkeypatch
):
    monkeypatch.setattr(scheduling, "cores", lambda: processes)
    work, expected = scheduling.budgeted([*RUNS, UNPLANNED], Store(tmp_path), Inline(), 6 * GB)
    (only, rest), seconds = work, expected.seconds
    assert (only.engine, only.memory, sizes(rest.runs)) == (Inline(), 6 * GB, [1])
    assert sizes(only.runs) == [1, 3, 6, 2], "groups in order of cost, none torn apart"
    made = [seconds[r.id] - cost(r.case).seconds(RATES, first=False) for r in only.runs]
    assert made == pytest.approx(prepared)


def test_a_budget_that_is_too_small_for_a_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"--memory: .*size=6.* needs 1.5 GB besides its matrix"):
        scheduling.budgeted(RUNS, Store(tmp_path), ProcessPool(2), GB)


def test_large_runs_wait_for_the_whole_memory_and_claims_without_a_plan_come_last(tmp_path):
    pool = ProcessPool(2)
    work, expected = scheduling.budgeted([UNPLANNED, *RUNS], Store(tmp_path), pool, 6 * GB)
    assert [sizes(stage.runs) for stage in work] == [[1, 3, 2], [6], [1]]
    assert [stage.memory for stage in work] == [3 * GB, 6 * GB, None]
    assert [stage.engine for stage in work] == [pool, Inline(), pool]
    assert {run.options["memory"] for run in work[0].runs} == {3 * GB}
    assert set(expected.seconds) == {run.id for run in [*RUNS, UNPLANNED]}
    assert expected.known == len(RUNS)


def record(seconds, peak):
    timing, compute = {"wall_s": seconds}, {"peak_bytes_of_process": peak}
    return SimpleNamespace(facts={"timing": timing, "compute": compute})


def test_a_process_beyond_its_share_is_named():
    records = {run.id: record(1.0, run.case.size * GB) for run in RUNS}
    work = [scheduling.Stage(RUNS, Inline(), 5 * GB)]
    (said,) = scheduling.memory_check(work, records.get)
    assert "took 6.0 GB, more than its share of 5.0 GB" in said
    assert "size=6" in said
    large = [scheduling.Stage(RUNS, Inline(), 6 * GB)]
    assert list(scheduling.memory_check(large, records.get)) == []


@pytest.mark.parametrize(
    ("device", "why"),
    [("tpu", "'tpu': accepted are cpu, and cuda"), ("cuda", "PyTorch finds no GPU here")],
)
def test_devices_that_are_not_here_are_refused(device, why, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    scheduling.check_device("cpu")
    with pytest.raises(UsageError, match=why):
        scheduling.check_device(device)


def test_a_gpu_needs_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match="needs PyTorch"):
        scheduling.check_device("cuda")
