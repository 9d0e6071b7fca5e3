"""Run a suite and judge it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from ..notebook import show_claims
from ..running.claims_index import unknown
from ..running.interrupts import TIME_IS_UP, Stopped
from ..running.options import Options
from ..suite import prepare
from ..verdicts.suite_verdicts import ClaimResult, as_json, marked
from .report import Report, as_list, as_path


class Verdicts(Report, dict[str, ClaimResult]):
    """The results of claims by key, which know the nearest key to one that there is none of."""

    def to_json(self) -> list[dict[str, Any]]:
        """What `depthlaw verify --json` prints under `claims`."""
        return [as_json(result) for result in self.values()]

    def summary(self) -> str:
        """How many claims have which verdict."""
        names = [marked(result) for result in self.values()]
        return ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))

    def __missing__(self, key: str) -> ClaimResult:
        raise KeyError(unknown(str(key), self))


def verify(
    suite: str = "quick",
    *,
    only: str | Iterable[str] = (),
    file: str | Path | None = None,
    results: str | Path | None = None,
    engine: Literal["inline", "pool", "ray"] = "inline",
    processes: int = 0,
    minutes: float | None = None,
) -> Verdicts:
    """Run a suite, skipping what is recorded, and judge it: `depthlaw verify` as data.

    Args:
        suite: quick, theory, full, frontier, exercises, training, long or gpu.
        only: keys or topics; by default the claims of `file`, else all that have cases in the
            suite.
        file: a Python file with claims of one's own.
        results: the folder of the records; by default depthlaw's folder among the user's data.
        engine: "inline" (this process), "pool" or "ray". The processes of a pool import the main
            module again, which therefore needs `if __name__ == "__main__":` around this call.
        processes: of the pool; 0: one per core.
        minutes: stop after this long; what is then not recorded is "not run" or UNDECIDED in the
            results.

    Returns:
        The result of every claim by key: `verdict`, `unexpected`, `cases` and more.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) for options or a folder that cannot be used,
            in one line.
        KeyboardInterrupt: when interrupted; the records stay.

    Cost: that of the runs that are not recorded yet.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = verify(only=["separation_rank/degree"], results=folder)
    >>> found["separation_rank/degree"].unexpected
    ''
    """
    show_claims()
    options = Options(engine, processes, minutes=minutes)
    work = prepare(suite, as_path(results), only=as_list(only), own=as_path(file), options=options)
    failures = []
    try:
        failures = work.execute(minutes=minutes)
    except Stopped as stop:
        if str(stop) != TIME_IS_UP:
            raise
    return Verdicts((result.claim.key, result) for result in work.judged(failures))
