"""What `import depthlaw` offers: the answers of the command line as data; and how notebooks show
them (`_repr_html_`).

What notebooks show is attached to the classes here: a method in the body of a class of theory or
advisor would be part of the code that records are known by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
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

    show_answers()
    return answer(budget, **options)


def claims(file: str | Path | None = None) -> dict[str, Claim]:
    """Every claim by key, in reading order; with those of a Python file of one's own.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when the file cannot be used, in one line.

    Cost: about a second; imports SymPy.

    >>> claims()["hops/depth_corrected"].kind
    'construction'
    """
    from .running.user_claims import all_claims

    show_claims()
    return all_claims(None if file is None else Path(file))


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
    from .running.engines import TIME_IS_UP, Options, Stopped
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


# --- in a notebook -------------------------------------------------------------------------------

# Rows of cases on a card.
_MOST = 12


def show_answers() -> None:
    """Let notebooks show answers of the advisor as tables, `print` what the command prints, and a
    prompt one line. Light to call: loads no SymPy."""
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.answer_text import as_html, as_text, in_brief

    for name, method in (("_repr_html_", as_html), ("__str__", as_text), ("__repr__", in_brief)):
        setattr(Answer, name, method)


def show_claims() -> None:
    """Let notebooks show claims and their results with set formulas."""
    from depthlaw.theory.claims.definition import Claim

    from .verdicts.suite_verdicts import ClaimResult

    for shown, as_html in ((Claim, claim_html), (ClaimResult, result_html)):
        setattr(shown, "_repr_html_", as_html)  # noqa: B010


def claim_html(claim: Claim) -> str:
    """Title, statement, symbols and source of a claim; formulas are LaTeX that notebooks set.

    >>> from depthlaw.theory.claims.definition import find
    >>> "$$L_{\\\\min} = \\\\lceil \\\\log_3 D \\\\rceil$$" in claim_html(
    ...     find("connectivity/layers_for_diameter"))
    True
    """
    from depthlaw.theory.claims.printing import definitions, latex, symbols
    from depthlaw.theory.claims.readable import readable
    from depthlaw.theory.claims.symbols import TERMS

    from .verdicts.display import statement_latex

    where = "; ".join(
        [f"${escape(d.latex)}$" for d in definitions(claim.statement)]
        + [
            f"${escape(latex(s))}$: {_plain(readable(TERMS[s.name].meaning))}"
            for s in symbols(claim.statement)
        ]
    )
    parts = (
        f"$${escape(statement_latex(claim))}$$",
        _plain(claim.plain.text),
        where and f"Here {where}.",
        _plain(f"{claim.plain.source} ({claim.wording})"),
    )
    return (
        f"<div>{_heading(claim)}" + "".join(f"<p>{part}</p>" for part in parts if part) + "</div>"
    )


def result_html(result: ClaimResult) -> str:
    """The verdict card of a claim: verdict, statement, how many cases are decided, and the first
    dozen of them."""
    from .verdicts.display import measured_side, prediction, slack, statement_latex
    from .verdicts.suite_verdicts import marked

    claim = result.claim
    name = marked(result)
    worst = slack(result.tightest, vacuous=result.vacuous)
    counts = f"{len(result.decided)} of {len(result.in_scope)} cases decided" + (
        f", slack {worst}" if worst else ""
    )
    rows = [("Case", "Measured", "Stated", "Verdict", "Slack")] + [
        (
            str(row.case),
            measured_side(claim, row),
            prediction(claim, row) if row.measured is not None else "-",
            row.verdict_name,
            slack(row.decision.slack),
        )
        for row in result.cases[:_MOST]
    ]
    table = "".join(
        "<tr>"
        + "".join(f"<{cell} style='text-align:left'>{_plain(part)}</{cell}>" for part in row)
        + "</tr>"
        for row, cell in zip(rows, ["th"] + ["td"] * len(rows), strict=False)
    )
    more = len(result.cases) - _MOST
    return (
        f"<div>{_heading(claim)}<p>${escape(statement_latex(claim))}$</p>"
        f"<p><strong>{escape(name.replace('_', ' '))}</strong>: {_plain(counts)}"
        + (f"; {_plain(result.unexpected)}" if result.unexpected else "")
        + f"</p><table>{table}</table>"
        + (f"<p>and {more} more</p>" if more > 0 else "")
        + "</div>"
    )


def _heading(claim: Claim) -> str:
    return f"<strong>{_plain(claim.plain.title)}</strong> <code>{escape(claim.key)}</code>"


def _plain(text: str) -> str:
    r"""Text as HTML in which a notebook finds no formula: MathJax reads neither over tags nor
    within them.

    >>> print(_plain(r"a < $5 and \(x"))
    a &lt; <span>$</span>5 and <span>\</span>(x
    """
    return re.sub(r"[$\\]", r"<span>\g<0></span>", escape(text))
