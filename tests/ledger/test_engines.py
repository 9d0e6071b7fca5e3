"""The same runs give the same records on every engine, whatever happens to the processes."""
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from depthlaw.ledger.budget import UsageError
from depthlaw.ledger.commands import Effort
from depthlaw.ledger.driver import Stopped, estimate, execute
from depthlaw.ledger.engines import Inline, Pool, Ray
from depthlaw.ledger.records import Record, Store, manifest
from depthlaw.ledger.suite import Failure, load_claims, plan

# A module that worker processes import: real claims, measured by functions that misbehave on chosen cases.
MISCHIEF = """
import os, signal, time
from dataclasses import replace
from depthlaw.ledger.suite import load_claims as real
from depthlaw.theory.claim import Case, Exact

def measured(case, seed):
    if case.get("kill") and not os.path.exists(case.get("after", "")):
        if "after" in case:
            open(case.after, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if case.get("hang"):
        time.sleep(600)
    if case.get("hog"):
        return Exact(len(bytearray(8 * 2**30)))
    if case.get("wrong"):
        raise ValueError("no such luck")
    time.sleep(case.get("milliseconds", 0) / 1000)
    return Exact(3 ** case.depth)

def grid():
    return tuple(Case(depth=1 + n % 6, milliseconds=5, n=n) for n in range(60))

def claims():
    claim = real()["separation_rank/degree"]
    return {claim.key: replace(claim, measured=measured, proof=None, assumes={}, grid={"quick": grid()})}

def drive(folder):
    from pathlib import Path
    from depthlaw.ledger.driver import execute
    from depthlaw.ledger.engines import Pool
    from depthlaw.ledger.records import Store
    from depthlaw.ledger.suite import plan
    execute(plan(claims(), "quick"), Store(Path(folder)), Pool(2, loader="mischief:claims"))
"""


@pytest.fixture
def mischief(tmp_path, monkeypatch):
    (tmp_path / "mischief.py").write_text(textwrap.dedent(MISCHIEF))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    import mischief

    yield mischief
    sys.modules.pop("mischief", None)


def pool(**changes) -> Pool:
    return Pool(**({"processes": 2, "loader": "mischief:claims"} | changes))


def runs_with(mischief, *cases):
    from dataclasses import replace

    claim = mischief.claims()["separation_rank/degree"]
    return plan({claim.key: replace(claim, grid={"quick": cases})}, "quick")


def outcomes(engine, runs) -> dict[str, Record | Failure]:
    return {run.id: outcome for run, outcome in engine.outcomes(runs)}


def test_the_pool_gives_the_records_of_the_inline_engine():
    claims = {key: claim for key, claim in load_claims().items() if key in ("separation_rank/degree", "hops/doubling", "rank_collapse/cubic_rate")}
    runs = plan(claims, "quick")
    alone, together = outcomes(Inline(), runs), outcomes(Pool(2), runs)
    assert manifest(alone.values())["hash"] == manifest(together.values())["hash"]
    assert {r.id for r in alone.values()} == {run.id for run in runs}


def test_a_task_that_kills_its_process_takes_no_other_with_it(mischief, tmp_path):
    from depthlaw.theory.claim import Case

    runs = runs_with(mischief, Case(depth=1, kill=1), *(Case(depth=d) for d in range(1, 9)))
    found = outcomes(pool(retries=1), runs)
    failures = [o for o in found.values() if isinstance(o, Failure)]
    assert [f.why for f in failures] == ["its process died 2 times (killed, or out of memory)"]
    assert len(found) == 9


def test_a_process_that_dies_once_is_tried_again(mischief, tmp_path):
    from depthlaw.theory.claim import Case

    found = outcomes(pool(), runs_with(mischief, Case(depth=2, kill=1, after=str(tmp_path / "died"))))
    assert [o.result for o in found.values()] == [{"exact": "9"}]


def test_hanging_failing_and_greedy_tasks_are_reported(mischief):
    from depthlaw.theory.claim import Case

    runs = runs_with(mischief, Case(depth=1, hang=1), Case(depth=1, wrong=1), Case(depth=1, hog=1), Case(depth=3))
    found = outcomes(pool(timeout=4.0, memory=3 * 2**30), runs)
    why = [found[run.id].why if isinstance(found[run.id], Failure) else "" for run in runs]
    assert why[0] == "hung: stopped after 4 s"
    assert why[1] == "ValueError: no such luck"
    assert why[2].startswith("MemoryError")
    assert why[3] == ""


def test_fifty_kills_of_the_driver_lose_nothing(mischief, tmp_path):
    """SIGKILL to the driver and its workers at random moments, fifty rounds; then the manifest is that of an undisturbed run."""
    import random

    folder, moments, kept = tmp_path / "killed", random.Random(50), set()
    for _ in range(50):
        process = subprocess.Popen([sys.executable, "-c", f"import mischief; mischief.drive({str(folder)!r})"], start_new_session=True,
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + moments.uniform(0.3, 1.2)
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        present = {p.name for p in (folder / "runs").rglob("*.json")}
        assert kept <= present
        kept = present
    runs = plan(mischief.claims(), "quick")
    store = Store(folder)
    assert store.set_aside == []
    execute(runs, store, pool())
    undisturbed = Store(tmp_path / "undisturbed")
    execute(runs, undisturbed, Inline())
    assert manifest(store)["hash"] == manifest(undisturbed)["hash"]


def test_two_drivers_share_a_folder(mischief, tmp_path):
    command = [sys.executable, "-c", f"import mischief; mischief.drive({str(tmp_path / 'shared')!r})"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.communicate(timeout=120)[1] for p in both] == ["", ""]
    assert [p.returncode for p in both] == [0, 0]
    store = Store(tmp_path / "shared")
    assert store.set_aside == []
    assert len(store) == 60


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_signals_stop_in_good_order(mischief, tmp_path, number, word):
    runs = plan(mischief.claims(), "quick")
    store = Store(tmp_path / "r")

    def interrupt(run) -> None:
        signal.raise_signal(number)

    with pytest.raises(Stopped, match=word):
        execute(runs, store, pool(), finished=interrupt)
    assert 1 <= len(Store(tmp_path / "r")) < len(runs)


def test_the_time_limit_stops_and_keeps(mischief, tmp_path):
    runs = plan(mischief.claims(), "quick")
    store = Store(tmp_path)
    with pytest.raises(Stopped, match="--minutes"):
        execute(runs, store, Inline(), minutes=0.02 / 60)
    assert 1 <= len(store) < len(runs)


def test_a_worker_with_other_code_is_refused(mischief):
    class Other(Pool):
        def _finished(self, run, future):
            from depthlaw.ledger.engines import _outcome

            inputs, result, facts = future.result()
            return _outcome(run, (inputs | {"code": "other"}, result, facts))

    found = outcomes(Other(processes=1, loader="mischief:claims"), plan(mischief.claims(), "quick")[:1])
    assert ["other code" in o.why for o in found.values()] == [True]


def test_estimates_come_from_records(mischief, tmp_path):
    runs = plan(mischief.claims(), "quick")
    store = Store(tmp_path)
    assert estimate(runs, store).known == 0
    execute(runs[:30], store, Inline())
    expected = estimate(runs[30:], store)
    assert expected.known == 30
    assert 30 * 0.004 < expected.total < 30 * 1.0


def test_gpu_slots_pin_each_process(mischief, monkeypatch):
    """Each process of the pool sees one of the devices; no device is needed to check that."""
    from depthlaw.theory.claim import Case

    code = Path(mischief.__file__).read_text().replace("return Exact(3 ** case.depth)", 'return Exact(int(os.environ["CUDA_VISIBLE_DEVICES"]))')
    Path(mischief.__file__).write_text(code)
    runs = runs_with(mischief, *(Case(depth=1, n=n, milliseconds=200) for n in range(8)))
    found = outcomes(pool(gpus=("3", "5")), runs)
    assert {o.result["exact"] for o in found.values()} == {"3", "5"}


@pytest.mark.parametrize("changes", [{"engine": "slurm"}, {"processes": -1}, {"timeout": 0.0}, {"minutes": float("nan")}, {"max_memory": "lots"}])
def test_options_that_make_no_sense(changes):
    with pytest.raises(UsageError):
        Effort(**changes).made()


def test_engines_by_name():
    assert isinstance(Effort("inline").made(), Inline)
    assert isinstance(Effort("ray", address="auto").made(), Ray)
    assert Effort("pool", max_memory="2GB", gpus="0, 1").made() == Pool(0, 3600.0, 2**31, gpus=("0", "1"))
