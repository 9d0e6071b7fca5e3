"""One claim whose measurement goes wrong on chosen cases. Worker processes import it."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from depthlaw.theory.claims.definition import Case, Claim, Control, Exact, Source

KEY = "faulty/power"
LOADER = "faulty:find"


def measured(case: Case, seed: int) -> Exact:
    if "after" not in case or not Path(case.after).exists():
        if "after" in case:
            Path(case.after).touch()
        go_wrong(case)
    if "meet" in case:
        # Until there are two processes here.
        folder = Path(case.meet)
        folder.mkdir(exist_ok=True)
        (folder / str(os.getpid())).touch()
        while len(list(folder.iterdir())) < 2:
            time.sleep(0.01)
    time.sleep((case.get("milliseconds") or int(os.environ.get("FAULTY_MILLISECONDS", "0"))) / 1000)
    if case.get("deaf"):
        return Exact(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    if case.get("gpu"):
        return Exact(int(os.environ["CUDA_VISIBLE_DEVICES"]))
    return Exact(3**case.depth)


def go_wrong(case: Case) -> None:
    """In the way that the case names, if any; a case that names a file does so only the first
    time."""
    if "kill" in case:
        os.kill(os.getpid(), signal.SIGKILL)
    if "hang" in case:
        time.sleep(600)
    if "hog" in case:
        bytearray(8 * 2**30)
    if "leave" in case:
        sys.exit("gone")
    if "wrong" in case:
        raise ValueError("no such luck")


def claims(*cases: Case) -> dict[str, Claim]:
    """The claim with these cases; by default as many as FAULTY_RUNS says, each of
    FAULTY_MILLISECONDS."""
    cases = cases or tuple(
        Case(depth=1 + n % 60, n=n) for n in range(int(os.environ.get("FAULTY_RUNS", "60")))
    )
    # Never judged, so it needs no statement.
    statement: Any = None
    claim = Claim(
        KEY,
        "a power of three",
        "The power.",
        statement,
        Source("none", ""),
        "derived",
        "identity",
        "all",
        measured,
        {"quick": cases},
        Control(cases[0], "it is never judged"),
    )
    return {KEY: claim}


def find(key: str) -> Claim:
    """The claim, as a process of the pool finds it."""
    time.sleep(float(os.environ.get("FAULTY_START_SECONDS", "0")))
    return claims()[key]


def drive(folder: str, engine: str) -> None:
    """A driver as a process of its own; it says in one line why it cannot go on."""
    from depthlaw.advisor.base.quantities import UsageError
    from depthlaw.ledger.records.store import Store
    from depthlaw.ledger.running.engines import Inline, ProcessPool, execute
    from depthlaw.ledger.running.plan import plan

    used = ProcessPool(2, loader=LOADER) if engine == "pool" else Inline()
    try:
        failures = execute(plan(claims(), "quick"), Store(Path(folder)), used)
    except UsageError as error:
        sys.exit(f"error: {error}")
    if failures:
        sys.exit(f"{len(failures)} runs failed: {failures[0].why}")


if __name__ == "__main__":
    drive(*sys.argv[1:])
