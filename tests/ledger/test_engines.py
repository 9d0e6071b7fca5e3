"""The same runs give the same records on every engine, whatever happens to the processes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from depthlaw.ledger.records.run import Failure
from depthlaw.ledger.records.store import Record, Store
from depthlaw.ledger.running.engines import Inline, ProcessPool, Ray, execute
from depthlaw.ledger.running.interrupts import Stopped
from depthlaw.ledger.running.options import Options
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.running.scheduling import estimate
from depthlaw.theory.claims.definition import Case, find


def pool(**changes) -> ProcessPool:
    return ProcessPool(**({"processes": 2, "loader": "faulty:find"} | changes))


def runs_with(faulty, *cases):
    return plan(faulty.claims(*cases), "quick")


def outcomes(engine, runs) -> dict[str, Record | Failure]:
    return {run.id: outcome for run, outcome in engine.outcomes(runs)}


def test_a_task_that_kills_its_process_takes_no_other_with_it(faulty, tmp_path):
    runs = runs_with(faulty, Case(depth=1, kill=1), *(Case(depth=d) for d in range(1, 9)))
    found = outcomes(pool(retries=1), runs)
    failures = [o for o in found.values() if isinstance(o, Failure)]
    assert [f.why for f in failures] == [
        "its process died 2 times (exit code -9: killed, out of memory, or crashed)"
    ]
    assert len(found) == 9


def test_a_process_that_dies_once_is_tried_again(faulty, tmp_path):
    found = outcomes(pool(), runs_with(faulty, Case(depth=2, kill=1, after=str(tmp_path / "died"))))
    assert [o.result for o in found.values()] == [{"exact": "9"}]


def test_hanging_failing_and_greedy_tasks_are_reported(faulty):
    runs = runs_with(
        faulty, Case(depth=1, hang=1), Case(depth=1, wrong=1), Case(depth=1, hog=1), Case(depth=3)
    )
    found = outcomes(pool(timeout=4.0, memory=3 * 2**30), runs)
    why = [found[run.id].why if isinstance(found[run.id], Failure) else "" for run in runs]
    assert why[0] == "hung: stopped after 4 s"
    assert why[1] == "ValueError: no such luck"
    assert why[2].startswith("MemoryError")
    assert why[3] == ""


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_signals_stop_in_good_order(faulty, tmp_path, number, word):
    runs = plan(faulty.claims(), "quick")
    store = Store(tmp_path / "r")

    def interrupt(run) -> None:
        signal.raise_signal(number)

    with pytest.raises(Stopped, match=word):
        execute(runs, store, pool(), finished=interrupt)
    assert 1 <= len(Store(tmp_path / "r")) < len(runs)


def test_the_time_limit_stops_and_keeps(faulty, tmp_path, monkeypatch):
    monkeypatch.setenv("FAULTY_MILLISECONDS", "30")
    runs = plan(faulty.claims(), "quick")
    store = Store(tmp_path)
    with pytest.raises(Stopped, match="--minutes"):
        execute(runs, store, Inline(), minutes=0.5 / 60)
    assert 1 <= len(store) < len(runs)


def test_a_worker_with_other_code_is_refused(faulty, monkeypatch):
    from depthlaw.ledger.records import run as run_module

    (run,) = runs_with(faulty, Case(depth=2))
    monkeypatch.setattr(run_module, "code_version", lambda function: "other")
    # The driver asks for a run of other code than its worker has; in the worker nothing is patched.
    (outcome,) = outcomes(pool(processes=1), [run]).values()
    assert "other code" in outcome.why


def test_estimates_come_from_records(faulty, tmp_path, monkeypatch):
    monkeypatch.setenv("FAULTY_MILLISECONDS", "5")
    runs = plan(faulty.claims(), "quick")
    store = Store(tmp_path)
    assert estimate(runs, store).known == 0
    execute(runs[:30], store, Inline())
    expected = estimate(runs[30:], store)
    assert expected.known == 30
    assert 30 * 0.004 < expected.total < 30 * 1.0


def test_gpu_slots_pin_each_process(faulty, tmp_path):
    """Each process of the pool sees one of the devices, and one that takes a dead one's place sees
    the same; no device is needed."""
    deaths = (Case(depth=1, n=n, gpu=1, kill=1, after=str(tmp_path / str(n))) for n in range(3))
    runs = runs_with(
        faulty,
        *deaths,
        # Enough for a process that starts seconds late to find some left.
        *(Case(depth=1, n=n, gpu=1, milliseconds=400) for n in range(20)),
    )
    found = outcomes(pool(processes=0, gpus=("3", "5")), runs)
    assert {o.result["exact"] for o in found.values()} == {"3", "5"}


def test_a_long_queue_is_worked_off_in_order(faulty):
    runs = runs_with(faulty, *(Case(depth=1 + n % 30, n=n) for n in range(500)))
    assert [run.id for run, _ in pool(processes=1).outcomes(runs)] == [run.id for run in runs]


def test_the_time_limit_does_not_wait_for_a_long_run(faulty, tmp_path):
    for engine in (Inline(), pool()):
        started = time.monotonic()
        with pytest.raises(Stopped, match="--minutes"):
            execute(
                runs_with(faulty, Case(depth=1, hang=1)), Store(tmp_path), engine, minutes=0.5 / 60
            )
        assert time.monotonic() - started < 30
    assert signal.getsignal(signal.SIGALRM) is not None


EXACT = ("separation_rank/degree", "connectivity/reach", "rank_collapse/gamma_free_bound")


def test_exact_results_do_not_depend_on_engine_or_threads(tmp_path):
    """Bit for bit: every record of these claims, inline with one thread, as every test has it, and
    with two, and in the pool."""
    assert os.environ["OMP_NUM_THREADS"] == "1"
    runs = plan({key: find(key) for key in EXACT}, "quick")
    code = (
        "import sys, json; from depthlaw.ledger.running.engines import Inline; from "
        "depthlaw.ledger.running.plan import plan; "
        "from depthlaw.theory.claims.definition import find\n"
        f"runs = plan({{key: find(key) for key in {EXACT!r}}}, 'quick')\n"
        "print(json.dumps({r.id: o.result_hash for r, o in Inline().outcomes(runs)}))"
    )
    two = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=two, check=True
    )
    hashes = [
        json.loads(done.stdout),
        *(
            {run: outcome.result_hash for run, outcome in outcomes(engine, runs).items()}
            for engine in (Inline(), ProcessPool(2))
        ),
    ]
    assert len(hashes[0]) > 10
    assert hashes[0] == hashes[1] == hashes[2]


def test_engines_by_name():
    assert isinstance(Options("inline").made(), Inline)
    assert isinstance(Options("ray", address="auto").made(), Ray)
    assert Options("pool", max_memory="2GB", gpus="0, 1").made() == ProcessPool(
        0, 3600.0, 2**31, gpus=("0", "1")
    )


def test_a_worker_that_dies_before_its_first_run_is_started_again(faulty, monkeypatch):
    """Killed after it has started and before it is given its run."""
    from depthlaw.ledger.running import engines

    submit, killed = engines._Slot._submit, []

    def submit_to_a_dead_process(slot):
        if slot._executor is not None and not killed:
            killed.append(slot._process.pid)
            os.kill(slot._process.pid, signal.SIGKILL)
            slot._process.join()
            time.sleep(0.5)
        submit(slot)

    monkeypatch.setattr(engines._Slot, "_submit", submit_to_a_dead_process)
    (outcome,) = outcomes(pool(processes=1), runs_with(faulty, Case(depth=2))).values()
    assert outcome.result == {"exact": "9"}
    assert len(killed) == 1


def test_a_process_that_hangs_while_it_starts_is_ended(faulty, monkeypatch):
    from depthlaw.ledger.running import engines

    monkeypatch.setattr(engines, "STARTING", 0.0)
    monkeypatch.setenv("FAULTY_START_SECONDS", "60")
    started = time.monotonic()
    (outcome,) = outcomes(pool(processes=1, timeout=3.0), runs_with(faulty, Case(depth=2))).values()
    assert outcome.why == "hung: stopped after 3 s"
    assert time.monotonic() - started < 30


def test_a_run_that_exits_is_a_failure_of_its_own(faulty):
    runs = runs_with(faulty, Case(depth=1, leave=1), Case(depth=2))
    found = outcomes(pool(processes=1), runs)
    assert found[runs[0].id].why == "SystemExit: gone"
    assert found[runs[1].id].result == {"exact": "9"}
