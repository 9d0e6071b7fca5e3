"""Whatever happens to the processes, the disk or the files: no finished record is lost, nothing
that does not verify is accepted, and going on ends in the manifest of an undisturbed run. Each test
counts its rounds; docs/reliability.md shows the counts.
"""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, cycle
from pathlib import Path

import pytest

from depthlaw.ledger.records.store import Store, StoreError, canonical, digest, manifest
from depthlaw.ledger.running import engines
from depthlaw.ledger.running.engines import Inline, ProcessPool, execute
from depthlaw.ledger.running.interrupts import Stopped
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import Case


def start(faulty, folder: Path, engine: str = "pool", **options) -> subprocess.Popen[str]:
    """A driver, by default with a pool of two, in a process group of its own."""
    command = [sys.executable, faulty.__file__, str(folder), engine]
    return subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.PIPE, text=True, **options
    )


def go_on(faulty, folder: Path) -> None:
    """Finish the suite undisturbed."""
    assert execute(plan(faulty.claims(), "quick"), Store(folder), Inline()) == []


def number_of_records(folder: Path) -> int:
    return sum(1 for _ in (folder / "runs").rglob("*.json"))


def alive(group: int) -> bool:
    """Whether a process group has a process that is more than an entry waiting to be collected by
    init."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    return any(
        int(line.split()[0]) == group and not line.split()[1].startswith("Z")
        for line in listed.splitlines()
    )


@pytest.mark.slow
def test_kills_of_the_driver(faulty, tmp_path, monkeypatch, fault):
    """SIGKILL to a driver without workers, to one with workers, and to its workers too; from its
    first moments to the middle of its work."""
    monkeypatch.setenv("FAULTY_MILLISECONDS", "8")
    counted = fault("the driver is killed", "SIGKILL at random moments")
    moments, folder = random.Random(50), tmp_path / "killed"
    added = []
    for n in range(50):
        before = number_of_records(folder)
        # It never runs out of work, and each round adds little.
        monkeypatch.setenv("FAULTY_RUNS", str(before + 60))
        driver = start(faulty, folder, "pool" if n % 2 else "inline")
        if n % 5:
            while driver.poll() is None and number_of_records(folder) == before:
                time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.06))
        with suppress(ProcessLookupError):  # where this process had to wait for long, it is done
            (os.killpg if n % 4 == 1 else os.kill)(driver.pid, signal.SIGKILL)
        # Until nobody holds its end of the pipe: workers that outlived their driver would hang
        # here.
        driver.communicate()
        while alive(driver.pid):
            time.sleep(0.02)
        added.append(counted.survived(folder))
    assert sum(n > 0 for n in added) >= 40
    go_on(faulty, folder)
    said = "nothing can be said; the same command goes on"
    counted.ended(folder, plan(faulty.claims(), "quick"), said)


@pytest.mark.slow
def test_kills_of_workers(faulty, tmp_path, monkeypatch, fault):
    """SIGKILL to one worker after the other, at work, idle or just starting; the driver goes on by
    itself."""
    from multiprocessing import process

    monkeypatch.setenv("FAULTY_RUNS", "400")
    monkeypatch.setenv("FAULTY_MILLISECONDS", "20")
    counted, moments = fault("a worker is killed", "SIGKILL at random moments"), random.Random(51)
    over = threading.Event()

    def kill() -> None:
        while counted.rounds < 50 and not over.wait(moments.uniform(0, 0.2)):
            # Not active_children(), which would reap them in this thread.
            pids = [child.pid for child in list(process._children) if child.pid]
            with suppress(ProcessLookupError, IndexError):  # none, or one that is just over
                os.kill(moments.choice(pids), signal.SIGKILL)
                counted.survived(tmp_path)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        runs = plan(faulty.claims(), "quick")
        pool = ProcessPool(2, retries=50, loader=faulty.LOADER)
        failures = execute(runs, Store(tmp_path), pool)
    finally:
        over.set()
        killer.join()
    assert failures == []
    assert counted.rounds == 50
    counted.ended(tmp_path, runs, "nothing; each run is tried again, up to twice by default")


INJECTED = {
    "kill": "SIGKILL from inside",
    "hog": "8 GiB asked for under RLIMIT_AS of 2 GiB",
    "hang": "600 s of sleep, timeout 5 s",
    "wrong": "ValueError",
}


def some_spoiled(tmp_path: Path, how: str, number: int) -> tuple[Case, ...]:
    """Cases of which some go_wrong the first time they are met."""
    flags = ({how: 1, "after": str(tmp_path / f"{how}-{n}")} if n < number else {} for n in count())
    return tuple(Case(depth=1 + n, n=n, **next(flags)) for n in range(number + 8))


@pytest.mark.slow
@pytest.mark.usefixtures("only_what_hangs_is_timed")
@pytest.mark.parametrize(
    ("how", "name", "changes", "said"),
    [
        ("kill", "a task kills its process", {"retries": 0}, "its process died 1 times (exit"),
        ("hog", "a worker runs out of memory", {"memory": 2**31}, "MemoryError"),
        ("hang", "a task hangs", {"timeout": 5}, "hung: stopped after 5 s"),
        ("wrong", "a task raises", {}, "ValueError: no such luck"),
    ],
)
def test_tasks_that_go_wrong(faulty, tmp_path, fault, how, name, changes, said):
    runs = plan(faulty.claims(*some_spoiled(tmp_path, how, 4)), "quick")
    counted, folder = fault(name, INJECTED[how]), tmp_path / "r"
    pool = ProcessPool(2, loader=faulty.LOADER, **changes)
    failures = execute(runs, Store(folder), pool)
    assert [failure.why[: len(said)] for failure in failures] == [said] * 4
    assert {failure.run.id for failure in failures} == {run.id for run in runs[:4]}
    counted.rounds = len(failures) - 1
    counted.survived(folder)
    assert execute(runs, Store(folder), replace(pool, timeout=None)) == []
    counted.ended(folder, runs, failures[0].why)


def error_line(driver: subprocess.Popen[str]) -> str:
    _, said = driver.communicate()
    assert driver.returncode == 1
    assert said.startswith("error: ")
    assert said.count("\n") == 1, said
    return said.removeprefix("error: ").strip()


@pytest.mark.slow
def test_a_file_cannot_grow(faulty, tmp_path, fault):
    """RLIMIT_FSIZE: writing stops after so many bytes, in the middle of a record."""
    counted = fault("the disk is full in mid-write", "RLIMIT_FSIZE, 0 bytes to nearly a record")
    said = []
    for limit, engine in zip((0, 1, 40, 200, 400, 600), cycle(("pool", "inline"))):
        capped = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        said.append(error_line(start(faulty, tmp_path, engine, preexec_fn=capped)))
        counted.survived(tmp_path)
        assert "File too large" in said[-1]
    assert list((tmp_path / "tmp").iterdir()) == []
    go_on(faulty, tmp_path)
    counted.ended(tmp_path, plan(faulty.claims(), "quick"), said[-1])


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Callable[[str], Path] | None]:
    """A file system in memory: call it with mount options to change it. None where this user may
    not mount file systems."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "depthlaw", str(place)]
        subprocess.run(command, check=True, capture_output=True)
        return place

    try:
        mount("size=60k")
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    yield lambda options: mount(f"remount,{options}")
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_the_disk_is_full(faulty, tmp_path, fault, small_disk):
    """A disk that fills up again and again, each time with a little more room."""
    if small_disk is None:
        pytest.skip("this user may not mount file systems")
    counted, said = fault("the disk is full", "a tmpfs of 60 to 160 KiB"), []
    for kibibytes, engine in zip(range(60, 161, 20), cycle(("pool", "inline"))):
        folder = small_disk(f"size={kibibytes}k") / "r"
        said.append(error_line(start(faulty, folder, engine)))
        counted.survived(folder)
        assert "No space left" in said[-1]
    assert 0 < number_of_records(folder) < 60
    small_disk("size=8m")
    go_on(faulty, folder)
    counted.ended(folder, plan(faulty.claims(), "quick"), said[-1])


@pytest.mark.slow
def test_the_folder_is_read_only(faulty, tmp_path, fault, small_disk):
    if small_disk is None:
        pytest.skip("this user may not mount file systems")
    counted, said = fault("the folder is read-only", "a tmpfs mounted read-only"), []
    folder = small_disk("size=8m") / "r"
    for n in (20, 40):
        execute(plan(faulty.claims(), "quick")[:n], Store(folder), Inline())
        small_disk("ro")
        said.append(error_line(start(faulty, folder)))
        counted.survived(folder)
        assert len(Store(folder, read_only=True)) == n
        small_disk("rw")
    assert "Read-only file system" in said[-1]
    assert "--results DIR" in said[-1]
    go_on(faulty, folder)
    counted.ended(folder, plan(faulty.claims(), "quick"), said[-1])


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (errno.EROFS, "the folder becomes read-only"),
        (errno.EACCES, "the folder becomes forbidden"),
        (errno.EIO, "the disk fails"),
        (errno.EDQUOT, "the quota is used up"),
    ],
)
@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_writing_fails_in_mid_suite(faulty, tmp_path, monkeypatch, fault, number, name, where):
    counted = fault(name, f"{errno.errorcode[number]} from {where} in mid-suite")
    moments = random.Random(number)
    real = getattr(os, where)
    runs = plan(faulty.claims(), "quick")
    for _ in range(5):
        store = Store(tmp_path)
        left = moments.randrange(2, 20)

        def fails(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(number, os.strerror(number))
            return real(*arguments, **options)

        monkeypatch.setattr(os, where, fails)
        monkeypatch.setattr(engines, "SETTLING", 0.0)
        with pytest.raises(StoreError) as error:
            execute(runs, store, Inline())
        monkeypatch.undo()
        assert os.strerror(number) in str(error.value)
        assert "\n" not in str(error.value)
        counted.survived(tmp_path)
    go_on(faulty, tmp_path)
    counted.ended(tmp_path, runs, str(error.value))


@pytest.mark.slow
@pytest.mark.usefixtures("only_what_hangs_is_timed")
def test_the_clock_jumps_backwards(faulty, tmp_path, monkeypatch, fault):
    """The clock goes back by an hour whenever it is read: pauses, timeouts, the time limit and
    recorded times do not depend on it."""
    counted = fault("the clock jumps backwards", "time.time() goes back an hour at each call")
    now, hours = time.time(), count()
    monkeypatch.setattr(time, "time", lambda: now - 3600 * next(hours))
    cases = (
        Case(depth=1, hang=1, after=str(tmp_path / "hung")),
        Case(depth=2, kill=1, after=str(tmp_path / "killed")),
        *(Case(depth=1, n=n, milliseconds=10) for n in range(200)),
    )
    runs, folder = plan(faulty.claims(*cases), "quick"), tmp_path / "r"
    pool = ProcessPool(2, timeout=0.5, loader=faulty.LOADER)
    with pytest.raises(Stopped, match="--minutes"):
        execute(runs, Store(folder), pool, minutes=0.8 / 60)
    counted.survived(folder)
    (tmp_path / "hung").unlink(missing_ok=True)
    failures = execute(runs, Store(folder), pool)
    counted.survived(folder)
    assert [failure.why for failure in failures] == ["hung: stopped after 0.5 s"]
    assert execute(runs, Store(folder), Inline()) == []
    assert all(record.facts["timing"]["wall_s"] >= 0 for record in Store(folder))
    counted.ended(folder, runs, "nothing; only elapsed time is used")


@pytest.mark.slow
def test_two_drivers_share_a_folder(faulty, tmp_path, monkeypatch, fault):
    monkeypatch.setenv("FAULTY_MILLISECONDS", "5")
    counted = fault("two drivers on one folder", "started together")
    for n, named in enumerate((("pool", "pool"), ("pool", "inline"), ("inline", "inline"))):
        both = [start(faulty, tmp_path / str(n), engine) for engine in named]
        assert [driver.communicate()[1] for driver in both] == ["", ""]
        assert [driver.returncode for driver in both] == [0, 0]
        assert Store(tmp_path / str(n)).set_aside == []
        assert manifest(Store(tmp_path / str(n)))["hash"] == manifest(Store(tmp_path / "0"))["hash"]
        counted.rounds += 1
    counted.ended(tmp_path / "0", plan(faulty.claims(), "quick"), "nothing; both end well")


def sealed(body: dict) -> bytes:
    body.pop("seal", None)
    return canonical(body | {"seal": digest(body)}) + b"\n"


def truncate(path: Path, chance: random.Random) -> None:
    # Without its last byte alone, a line feed, a record is whole, and found out by another check.
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size - 1)])


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def duplicate(path: Path, chance: random.Random) -> None:
    copy = path.parent / f"{chance.randrange(16**64):064x}.json"
    copy.write_bytes(path.read_bytes())


def edit(path: Path, chance: random.Random) -> None:
    body = json.loads(path.read_bytes())
    body["result"]["exact"] = str(chance.randrange(10**9))
    path.write_bytes(canonical(body) + b"\n")


def forge(path: Path, chance: random.Random) -> None:
    """A careful hand: the seal is made anew."""
    body = json.loads(path.read_bytes())
    body["result"]["exact"] = str(chance.randrange(10**9))
    path.write_bytes(sealed(body))


def modernise(path: Path, chance: random.Random) -> None:
    path.write_bytes(sealed(json.loads(path.read_bytes()) | {"schema": chance.randrange(2, 99)}))


@pytest.mark.parametrize(
    ("spoil", "name", "said"),
    [
        (truncate, "a record is truncated", "truncated or foreign"),
        (flip, "a bit of a record is flipped", ""),
        (duplicate, "a record is copied under another name", "file name does not match"),
        (edit, "a record is edited by hand", "does not match its seal"),
        (forge, "a record is edited and sealed again", "result hash"),
        (modernise, "a record has a newer schema", "this version of depthlaw reads schema"),
    ],
)
def test_damaged_records(faulty, tmp_path, monkeypatch, fault, spoil, name, said):
    """Damage is found, named and moved aside; what was damaged is measured again, and all else is
    kept."""
    monkeypatch.setenv("FAULTY_RUNS", "12")
    counted, chance = fault(name, "a random record, at a random place"), random.Random(name)
    go_on(faulty, tmp_path)
    for _ in range(20):
        victim = chance.choice(sorted((tmp_path / "runs").rglob("*.json")))
        spoil(victim, chance)
        store = Store(tmp_path)
        (item,) = store.set_aside
        assert said in item.why
        assert item.moved_to.is_file()
        assert len(store) == (12 if spoil is duplicate else 11)
        depths = ((record.inputs["case"]["depth"], record.result["exact"]) for record in store)
        counted.accepted += sum(exact != str(3**depth) for depth, exact in depths)
        go_on(faulty, tmp_path)
        counted.survived(tmp_path)
    said = f"not trusted: FILE ({item.why}); set aside as PLACE, not used"
    counted.ended(tmp_path, plan(faulty.claims(), "quick"), said)
