"""What `import depthlaw` offers: the answers of the command line as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.budgets import Budget
    from depthlaw.theory.atlas.check import Compared
    from depthlaw.theory.atlas.ends import Ends
    from depthlaw.theory.claims.definition import Claim
    from depthlaw.theory.nets.classes import ExactNet

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


def atlas(
    task: str | None = None,
    class_: str | None = None,
    *,
    tables: str | Path | None = None,
    **numbers: int | str,
) -> list[Ends]:
    """How many layers tasks need and how many suffice: `depthlaw tasks` at numbers of your own.

    Args:
        task, class_: keys of the atlas; by default all.
        tables: a folder with tables of your own (docs/how-to/add-a-task.md).
        numbers: what the letters of formulas stand for (k=3, n=1000), or a `group`.

    Returns:
        For each class what is known: `needed`, `suffices` and `gap`, and of each end (`lower`,
        `upper`) its value, formula, source and verdict. A value that is no number says why.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) for an unknown task, class or letter.

    >>> [(row.class_, row.needed, row.suffices) for row in atlas("blocks", k=6)][:2]
    [('counting', 6, 6), ('counting-both', 4, 4)]
    >>> atlas("blocks", "counting")[0].lower.value
    NoNumber(why='letter', what='k')
    """
    from depthlaw.theory.atlas.ends import rows_at

    return rows_at(task, class_, tables, numbers)


def check(
    given: str | Path | Mapping[str, Any] | ExactNet,
    task: str | None = None,
    class_: str | None = None,
    *,
    length: int | None = None,
    tables: str | Path | None = None,
    **parameters: Any,
) -> Compared:
    """Check explicit weights or a lower bound against the atlas: `depthlaw tasks check` as data.

    Args:
        given: a file (docs/how-to/check-a-net.md), its JSON object, or a net.
        task, class_, parameters: of a net that is no file; of a file they take the place of its
            own.
        length: of the longest word that is run.
        tables: a folder with tables of your own, which extend the atlas.

    Returns:
        `right`, `result` (how the depth compares), `found` (what was run, and the first wrong word)
        and `ends` (what is known).

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) for what cannot be read, is not of its class,
            or belongs to no task.

    Cost: that of the words that are run.

    >>> bound = {"family": "bound", "language": "a*b*", "alphabet": "ab", "class": "uhat-left",
    ...          "layers": 1, "words": ["ab", "aba"]}
    >>> found = check(bound)
    >>> found.right, found.result.value, found.ends.needed
    (True, 'equal', 2)
    """
    from depthlaw.theory.atlas import check as of_atlas

    return of_atlas.check(given, task, class_, length=length, tables=tables, **parameters)
