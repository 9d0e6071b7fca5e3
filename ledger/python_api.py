"""What `import depthlaw` offers: the answers of the command line as data."""
from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depthlaw.advisor.answers import Advice
    from depthlaw.theory.claim import Claim

    from .verdicts.report import ClaimResult

__all__ = ["claims", "recommend", "verify"]


def recommend(budget: str | float | None = None, *, task: str | None = None,
              diameter: int | str | None = None, hops: int | str | None = None,
              vertices: int | str | None = None) -> tuple[Advice, ...]:
    """How deep a net should be, and who says so: the answer of `depthlaw depth` as data.

    Args:
        budget: parameters without embeddings, as a number (1.3e9) or as it is typed ("1.3B").
        task: "connectivity", with `diameter` and perhaps `vertices`, or "hops", with `hops`.

    Returns:
        One `Advice` for the budget, one for the task, and one for both together when both are
        given. `as_json()` is plain data.

    Raises:
        UsageError: (depthlaw.advisor.quantities) when something is missing, unknown or unreadable,
            in one line.

    Cost: milliseconds; loads neither NumPy nor SymPy.

    >>> answer, = recommend("1.3B")
    >>> answer.minimum.layers, answer.minimum.source
    (8, 'levine2020, arXiv:2006.12467v1, abstract')
    >>> recommend(task="hops", hops=16)[0].numbers[0].layers
    6
    """
    from depthlaw.advisor.answers import answer

    return tuple(answer(*(None if value is None else str(value)
                          for value in (budget, task, diameter, hops, vertices))))


def claims(file: str | Path | None = None) -> dict[str, Claim]:
    """Every claim by key, in reading order; with those of a Python file of one's own.

    Raises:
        UsageError: (depthlaw.advisor.quantities) when the file cannot be used, in one line.

    Cost: about a second; imports SymPy.

    >>> claims()["hops/depth_corrected"].kind
    'construction'
    """
    from .run.own_claims import all_claims

    return all_claims(None if file is None else Path(file))


def verify(suite: str = "quick", *, only: Iterable[str] = (), file: str | Path | None = None,
           results: str | Path | None = None, engine: str = "inline", processes: int = 0,
           minutes: float | None = None) -> dict[str, ClaimResult]:
    """Run a suite, skipping what is recorded, and judge it: `depthlaw verify` as data.

    Args:
        suite: quick, theory, full, frontier or gpu.
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
        UsageError: (depthlaw.advisor.quantities) for options or a folder that cannot be used, in
            one line.
        KeyboardInterrupt: when interrupted; the records stay.

    Cost: that of the runs that are not recorded yet.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = verify(only=["separation_rank/degree"], results=folder)
    >>> found["separation_rank/degree"].unexpected
    ''
    """
    from .run.options import Options
    from .run.signals import TIME_IS_UP, Stopped
    from .suite import prepare

    options = Options(engine, processes, minutes=minutes)
    own, folder = (None if path is None else Path(path) for path in (file, results))
    work = prepare(suite, folder, only=only, own=own, options=options)
    failures = []
    try:
        failures = work.execute(minutes=minutes)
    except Stopped as stop:
        if str(stop) != TIME_IS_UP:
            raise
    return {result.claim.key: result for result in work.judged(failures)}
