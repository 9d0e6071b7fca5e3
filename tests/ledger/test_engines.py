"""The same runs give the same records on every engine, whatever happens to the processes."""

import builtins
import json
import logging
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from importlib import metadata
from types import FunctionType, ModuleType, SimpleNamespace

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.records.run import Failure
from depthlaw.ledger.records.store import Record, Store
from depthlaw.ledger.running import engines
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


@pytest.mark.usefixtures("only_what_hangs_is_timed")
def test_tasks_that_go_wrong_are_reported_and_take_no_other_with_them(faulty):
    wrong = {
        "kill": "its process died 2 times (exit code -9: killed, out of memory, or crashed)",
        "hang": "hung: stopped after 1.5 s",
        "wrong": "ValueError: no such luck",
        "hog": "MemoryError",
        "leave": "SystemExit: gone",
    }
    runs = runs_with(
        faulty, *(Case(depth=1, **{how: 1}) for how in wrong), *(Case(depth=d) for d in range(1, 5))
    )
    found = outcomes(pool(timeout=1.5, memory=3 * 2**30, retries=1), runs)
    assert [found[run.id].why for run in runs[:5]] == list(wrong.values())
    assert [found[run.id].result["exact"] for run in runs[5:]] == ["3", "9", "27", "81"]


def test_a_process_that_dies_once_is_tried_again_on_its_gpu(faulty, tmp_path):
    """Each process of the pool sees one of the devices, and one that takes a dead one's place sees
    the same; no device is needed. Both must be there at once to go on."""
    both = {"depth": 1, "gpu": 1, "kill": 1, "meet": str(tmp_path / "met")}
    cases = (Case(**both, after=str(tmp_path / name)) for name in ("a", "b"))
    found = outcomes(pool(processes=0, gpus=("3", "5")), runs_with(faulty, *cases))
    assert {o.result["exact"] for o in found.values()} == {"3", "5"}


@pytest.mark.parametrize(
    ("number", "word", "engine"),
    [
        (signal.SIGINT, "interrupted", pool()),
        (signal.SIGTERM, "terminated", Inline()),
        (signal.SIGHUP, "the terminal is closed", pool()),
    ],
)
def test_signals_stop_in_good_order(faulty, tmp_path, number, word, engine):
    runs = plan(faulty.claims(), "quick")
    with pytest.raises(Stopped, match=word):
        execute(runs, Store(tmp_path), engine, finished=lambda run: signal.raise_signal(number))
    assert 1 <= len(Store(tmp_path)) < len(runs)


def test_under_nohup_a_closed_terminal_stops_nothing(faulty, tmp_path):
    def hang_up(run):
        signal.raise_signal(signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        execute(plan(faulty.claims(), "quick"), Store(tmp_path), Inline(), finished=hang_up)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert len(Store(tmp_path)) > 1


def test_ray_is_asked_to_say_nothing_at_level_info(faulty, monkeypatch):
    asked = {}

    def init(**given):
        asked.update(given)
        raise ConnectionError("none")

    ray = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(UsageError, match="no Ray cluster at 'local'"):
        next(Ray().outcomes(plan(faulty.claims(), "quick")))
    assert asked["logging_level"] == logging.WARNING
    assert asked["log_to_driver"] is False


@pytest.mark.parametrize(("twice", "word"), [(False, "terminated"), (True, "interrupted")])
def test_a_record_is_written_whole_before_a_signal_stops(
    faulty, tmp_path, monkeypatch, twice, word
):
    """Only a second signal cuts off what hangs."""

    def put(store, record, **more):
        signal.raise_signal(signal.SIGTERM)
        kept(store, record, **more)
        if twice:
            signal.raise_signal(signal.SIGINT)
            pytest.fail("a second signal does not wait")

    kept = Store.put
    monkeypatch.setattr(Store, "put", put)
    with pytest.raises(Stopped, match=word):
        execute(plan(faulty.claims(), "quick"), Store(tmp_path), Inline())
    assert len(Store(tmp_path)) == 1


def test_whatever_ends_it_what_was_recorded_is_on_the_disk(faulty, tmp_path, monkeypatch):
    """Files and folders that were waited for, by their numbers in the file system."""
    real, waited = os.fsync, set()

    def fsync(descriptor):
        waited.add(os.fstat(descriptor).st_ino)
        real(descriptor)

    def stop(run):
        if run.id == runs[9].id:
            signal.raise_signal(signal.SIGTERM)

    runs, store = plan(faulty.claims(), "quick"), Store(tmp_path)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(Stopped):
        execute(runs, store, Inline(), finished=stop)
    files = [store.file_of(record.id) for record in store]
    assert len(files) == 10
    assert {path.stat().st_ino for file in files for path in (file, file.parent)} <= waited
    store.put(runs[20].execute(), settle=False)
    assert store.file_of(runs[20].id).stat().st_ino not in waited


def test_a_signal_while_a_process_starts_leaves_none_behind(faulty, tmp_path, monkeypatch):
    """The pool has started it and does not know it yet."""

    def children():
        if found := listed():
            signal.raise_signal(signal.SIGTERM)
        return found

    listed = multiprocessing.active_children
    monkeypatch.setattr(multiprocessing, "active_children", children)
    with pytest.raises(Stopped, match="terminated"):
        execute(plan(faulty.claims(), "quick"), Store(tmp_path), pool(processes=1))
    assert listed() == []


def test_processes_do_not_hear_ctrl_c(faulty):
    """Not even while they start."""
    (outcome,) = outcomes(pool(processes=1), runs_with(faulty, Case(depth=1, deaf=1))).values()
    assert outcome.result == {"exact": "1"}


def test_the_time_limit_stops_and_keeps(faulty, tmp_path, monkeypatch):
    """The time is up once the first run is recorded: so says the alarm, or the clock, should the
    alarm go astray."""

    def alarm(run):
        signal.setitimer(signal.ITIMER_REAL, 0.01)

    def clock(run):
        signal.setitimer(signal.ITIMER_REAL, 0)
        monkeypatch.setattr(engines, "time", SimpleNamespace(monotonic=lambda: math.inf))

    runs = runs_with(faulty, Case(depth=1), Case(depth=2, hang=1))
    for says in (alarm, clock):
        store = Store(tmp_path / says.__name__)
        with pytest.raises(Stopped, match="--minutes"):
            execute(runs, store, Inline(), finished=says, minutes=60)
        assert len(store) == 1


def test_the_time_limit_does_not_wait_for_a_long_run(faulty, tmp_path):
    for engine in (Inline(), pool(processes=1)):
        store = Store(tmp_path)
        with pytest.raises(Stopped, match="--minutes"):
            execute(runs_with(faulty, Case(depth=1, hang=1)), store, engine, minutes=0.2 / 60)
        assert len(store) == 0
    assert signal.getsignal(signal.SIGALRM) is not None


def test_estimates_come_from_records(faulty, tmp_path):
    runs = plan(faulty.claims(), "quick")[:20]
    store = Store(tmp_path)
    assert estimate(runs, store).known == 0
    for run in runs[:10]:
        done = run.execute()
        assert done.facts["timing"]["wall_s"] >= 0
        store.put(replace(done, facts={"timing": {"wall_s": 0.5}}))
    expected = estimate(runs[10:], store)
    assert (expected.known, expected.total) == (10, 5.0)


def test_a_queue_is_worked_off_in_order_and_other_code_is_refused(faulty):
    runs = runs_with(faulty, *(Case(depth=1 + n % 30, n=n) for n in range(60)))
    # The driver asks for a run of other code than its worker has.
    runs[7].__dict__["code"] = "other"
    found = outcomes(pool(processes=1), runs)
    assert list(found) == [run.id for run in runs]
    failed = [outcome.why for outcome in found.values() if isinstance(outcome, Failure)]
    assert len(failed) == 1
    assert "other code" in failed[0]


EXACT = ("separation_rank/degree", "connectivity/reach", "rank_collapse/gamma_free_bound")


def test_exact_results_do_not_depend_on_engine_or_threads(tmp_path):
    """Bit for bit: every record of these claims, inline with one thread, as every test has it, and
    with two, and in the pool."""
    assert os.environ["OMP_NUM_THREADS"] == "1"
    runs = plan({key: find(key) for key in EXACT}, "quick")
    code = f"""
import json
from depthlaw.ledger.running.engines import Inline
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import find
runs = plan({{key: find(key) for key in {EXACT!r}}}, "quick")
print(json.dumps({{run.id: done.result_hash for run, done in Inline().outcomes(runs)}}))
"""
    two = os.environ | dict.fromkeys(engines.THREADS, "2")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=two) as other:
        one, pooled = (
            {run: outcome.result_hash for run, outcome in outcomes(engine, runs).items()}
            for engine in (Inline(), ProcessPool(1))
        )
        assert json.loads(other.stdout.read()) == one == pooled
    assert len(one) > 10


def test_engines_by_name():
    assert isinstance(Options("inline").made(), Inline)
    assert isinstance(Options("ray", address="auto").made(), Ray)
    pinned = ProcessPool(0, 3600.0, 2**31, gpus=("0", "1"))
    assert Options("pool", max_memory="2GB", gpus="0, 1").made() == pinned


class FakeRay(ModuleType):
    """A cluster in this process. Ray sends a function made inside another as its code, and others
    by their names; a worker without the package has neither those nor this module's globals."""

    def __init__(self, its: str, error: str = "") -> None:
        super().__init__("ray")
        self.version, self.error = its, error
        self.exceptions = SimpleNamespace(
            RayError=Exception, RayTaskError=type("RayTaskError", (Exception,), {})
        )
        self.is_initialized = lambda: True
        self.cluster_resources = lambda: {"CPU": 2}
        self.cancel = lambda reference, force: None
        self.wait = lambda references, num_returns: (references[:1], references[1:])

    def remote(self, **options):
        return lambda function: SimpleNamespace(remote=partial(partial, function))

    def get(self, task):
        if task.func.__qualname__ == task.func.__name__:
            if self.error:
                raise self.exceptions.RayTaskError(self.error)
            return task()
        with pytest.MonkeyPatch.context() as worker:
            worker.setattr(metadata, "version", self.found)
            return FunctionType(task.func.__code__, {"__builtins__": builtins})()

    def found(self, package):
        if not self.version:
            raise metadata.PackageNotFoundError(package)
        return self.version


OURS = metadata.version("depthlaw")


@pytest.mark.parametrize(
    ("its", "error", "said"),
    [
        ("", "", f"workers run {sys.executable} without depthlaw {OURS}; "),
        ("0.1.0", "", f"workers run {sys.executable} with depthlaw 0.1.0, not {OURS}; "),
        (
            OURS,
            "ray::perform_within() (pid=1)\n  File\nModuleNotFoundError: No module named 'flint'",
            "a worker cannot load depthlaw (ModuleNotFoundError: No module named 'flint'); ",
        ),
    ],
    ids=["none", "another", "broken"],
)
def test_workers_without_the_package_are_one_line(faulty, monkeypatch, its, error, said):
    monkeypatch.setitem(sys.modules, "ray", FakeRay(its, error))
    runs = runs_with(faulty, *(Case(depth=d) for d in range(1, 5)))
    with pytest.raises(UsageError) as caught:
        outcomes(Ray(loader="faulty:find"), runs)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_workers_with_the_package_do_the_runs(faulty, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", FakeRay(OURS))
    runs = runs_with(faulty, *(Case(depth=d) for d in range(1, 5)))
    found = outcomes(Ray(loader="faulty:find"), runs)
    assert [found[run.id].result["exact"] for run in runs] == ["3", "9", "27", "81"]


def test_a_worker_that_dies_while_it_has_nothing_to_do_is_started_again(faulty, monkeypatch):
    """Killed after a run and before it is given the next, which is not blamed."""
    submit, killed = engines._Slot._submit, []

    def submit_to_a_dead_process(slot, run):
        if slot._executor is not None and not killed:
            killed.append(slot._process.pid)
            os.kill(slot._process.pid, signal.SIGKILL)
            slot._process.join()
            time.sleep(0.2)
        submit(slot, run)

    monkeypatch.setattr(engines._Slot, "_submit", submit_to_a_dead_process)
    runs = runs_with(faulty, Case(depth=2), Case(depth=3))
    found = outcomes(pool(processes=1, retries=0), runs)
    assert [found[run.id].result["exact"] for run in runs] == ["9", "27"]
    assert len(killed) == 1


def test_of_the_runs_in_hand_only_the_first_is_blamed_for_a_death(faulty, monkeypatch):
    in_hand, submit = [], engines._Slot._submit

    def counted(slot, run):
        submit(slot, run)
        in_hand.append(len(slot.runs))

    monkeypatch.setattr(engines._Slot, "_submit", counted)
    cases = (Case(depth=d, kill=1) if d == 3 else Case(depth=d) for d in range(1, 13))
    runs = runs_with(faulty, *cases)
    found = outcomes(pool(processes=1, retries=0), runs)
    assert max(in_hand) == engines.IN_HAND
    failed = [run for run in runs if isinstance(found[run.id], Failure)]
    assert [str(run.case) for run in failed] == [str(Case(depth=3, kill=1))]


def test_a_process_that_hangs_while_it_starts_is_ended(faulty, monkeypatch):
    monkeypatch.setattr(engines, "STARTING", 0.0)
    monkeypatch.setenv("FAULTY_START_SECONDS", "60")
    (outcome,) = outcomes(pool(processes=1, timeout=0.5), runs_with(faulty, Case(depth=2))).values()
    assert outcome.why == "hung: stopped after 0.5 s"
