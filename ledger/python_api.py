"""What `import depthlaw` offers: the answers of the command line as data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.budgets import Budget
    from depthlaw.theory.claims.definition import Claim

    from .verdicts.suite_verdicts import ClaimResult


def recommend(budget: str | float | Budget | None = None, **options: Any) -> Answer:
    """How deep a net should be, in one buildable shape: the answer of `depthlaw depth` as data.

    Args:
        budget: all parameters, as a number (1.3e9) or as it is typed ("1.3B").
        options: those of `depthlaw depth`, as numbers or as they are typed (the fields of
            depthlaw.advisor.question.Question): what else there is to spend (gpu="H100", gpus=64,
            time="2 weeks"), what the shape must obey (pipeline=4), a `config` to judge, or a
            `task`.

    Returns:
        One `Answer`: `shape` is recommended, `interval` and `laws` stand beside it. Printed, it
        is what the command prints.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when something is missing, unknown or cannot
            be built, in one line.

    Cost: milliseconds; loads neither NumPy nor SymPy.

    >>> answer = recommend("1.3B")
    >>> answer.floor.layers, answer.floor.source
    (8, 'levine2020, arXiv:2006.12467v1, abstract; inverted here')
    >>> recommend(task="hops", hops=16).tasks[0].numbers[0].layers
    6
    """
    from depthlaw.advisor.recommendation import recommend as answer

    from .notebook import show_answers

    show_answers()
    return answer(budget, **options)


class _Claims(dict[str, "Claim"]):
    """Claims by key, which know the nearest key to one that there is none of."""

    def __missing__(self, key: str) -> Claim:
        from .running.claims_index import unknown

        raise KeyError(unknown(str(key), self))


def claims(words: str | Path | None = None, *, file: str | Path | None = None) -> dict[str, Claim]:
    """Every claim by key, in reading order; those that mention some words, as `depthlaw claims`
    lists them; with those of a Python file of one's own.

    Args:
        words: such as "sanford" or "rank upper", or the Python file.
        file: a Python file with claims of one's own.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when the file cannot be used, or no claim
            mentions the words, in one line.
        KeyError: by the result, for what is no key, with the nearest one.

    Cost: about a second; imports SymPy.

    >>> claims()["hops/depth_corrected"].kind
    'construction'
    >>> float(claims("levine threshold")["depth_choice/threshold_never_binds"].at(width=81))
    4.0
    """
    from depthlaw.advisor.base.quantities import UsageError, quoted

    from .notebook import show_claims
    from .running.claims_index import mentioning, unknown
    from .running.user_claims import all_claims

    show_claims()
    if isinstance(words, Path) or (words is not None and (".py" in words or Path(words).is_file())):
        words, file = None, words
    every = _Claims(all_claims(None if file is None else Path(file)))
    if words is None:
        return every
    rows = mentioning(words.split())[1]
    if not rows:
        hint = unknown(words, every).partition("; ")[2]
        raise UsageError(f"no claim mentions {quoted(words)}; {hint}")
    return _Claims({row["key"]: every[row["key"]] for row in rows})


def verify(
    suite: str = "quick",
    *,
    only: Iterable[str] = (),
    file: str | Path | None = None,
    results: str | Path | None = None,
    engine: str = "inline",
    processes: int = 0,
    minutes: float | None = None,
) -> dict[str, ClaimResult]:
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
    from .notebook import show_claims
    from .running.interrupts import TIME_IS_UP, Stopped
    from .running.options import Options
    from .suite import prepare

    show_claims()
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
