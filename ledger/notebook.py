"""Claims, verdicts and answers in a notebook: `_repr_html_`.

They are attached to the classes here: a method in the body of a class of theory or advisor would be
part of the code that records are known by.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

    from .verdicts.suite_verdicts import ClaimResult

# Rows of cases on a card.
_MOST = 12


def show_answers() -> None:
    """Let notebooks show answers of the advisor as tables, `print` what the command prints, a
    prompt one line, and pandas a row. Light to call: loads no SymPy."""
    from depthlaw.advisor.answer import Answer, as_json
    from depthlaw.advisor.words import as_html, as_text, in_brief

    from .functions.sweep import flat

    methods: dict[str, Callable[[Answer], Any]] = {"_repr_html_": as_html, "to_json": as_json}
    methods |= {"__str__": as_text, "__repr__": in_brief}
    methods["rows"] = lambda answer: flat([answer.budget], [answer])
    for name, method in methods.items():
        setattr(Answer, name, method)


def show_claims() -> None:
    """Let notebooks show claims and their results with set formulas, and a prompt a claim in one
    line."""
    from depthlaw.theory.claims.definition import Claim

    from .verdicts.suite_verdicts import ClaimResult

    for shown, name, method in (
        (Claim, "_repr_html_", claim_html),
        (Claim, "__repr__", _in_brief),
        (ClaimResult, "_repr_html_", result_html),
    ):
        setattr(shown, name, method)


def _in_brief(claim: Claim) -> str:
    """Its key and its title."""
    return f"<Claim: {claim.key}, {claim.plain.entitled}>"


def claim_html(claim: Claim) -> str:
    """Title, statement, symbols and source of a claim; formulas are LaTeX that notebooks set.

    >>> from depthlaw.theory.claims.definition import find
    >>> "$$L_{\\\\min} = \\\\lceil \\\\log_3 D \\\\rceil$$" in claim_html(
    ...     find("connectivity/layers_for_diameter"))
    True
    """
    from depthlaw.theory.claims.printing import definitions, latex, symbols
    from depthlaw.theory.claims.readable import readable
    from depthlaw.theory.claims.symbols import term_of

    from .verdicts.display import statement_latex

    where = "; ".join(
        [f"${escape(d.latex)}$" for d in definitions(claim.statement)]
        + [
            f"${escape(latex(s))}$: {_plain(readable(term.meaning))}"
            for s in symbols(claim.statement)
            if (term := term_of(s))
        ]
    )
    parts = (
        f"$${escape(statement_latex(claim))}$$",
        _plain(claim.plain.text),
        where and f"Here {where}.",
        _plain(f"{claim.plain.source} ({claim.wording})"),
    )
    paragraphs = "".join(f"<p>{part}</p>" for part in parts if part)
    return f"<div>{_heading(claim)}{paragraphs}</div>"


def result_html(result: ClaimResult) -> str:
    """The verdict card of a claim: verdict, statement, how many cases are decided, and the first
    dozen of them."""
    from .functions.report import html_table
    from .verdicts.display import measured_side, prediction, slack, statement_latex
    from .verdicts.suite_verdicts import marked

    claim = result.claim
    said = f"{len(result.decided)} of {len(result.in_scope)} cases decided"
    if worst := slack(result.tightest, vacuous=result.vacuous):
        said += f", slack {worst}"
    if result.unexpected:
        said += f"; {result.unexpected}"
    rows = [
        (
            str(row.case),
            measured_side(claim, row),
            prediction(claim, row) if row.measured is not None else "-",
            row.verdict_name,
            slack(row.decision.slack),
        )
        for row in result.cases[:_MOST]
    ]
    names = ("Case", "Measured", "Stated", "Verdict", "Slack")
    table = html_table(names, rows, len(result.cases), _plain, " style='text-align:left'")
    return (
        f"<div>{_heading(claim)}<p>${escape(statement_latex(claim))}$</p>"
        f"<p><strong>{escape(marked(result).replace('_', ' '))}</strong>: {_plain(said)}</p>"
        f"{table}</div>"
    )


def _heading(claim: Claim) -> str:
    return f"<strong>{_plain(claim.plain.entitled)}</strong> <code>{escape(claim.key)}</code>"


def _plain(text: str) -> str:
    r"""Text as HTML in which a notebook finds no formula: MathJax reads neither over tags nor
    within them.

    >>> print(_plain(r"a < $5 and \(x"))
    a &lt; <span>$</span>5 and <span>\</span>(x
    """
    return re.sub(r"[$\\]", r"<span>\g<0></span>", escape(text))
