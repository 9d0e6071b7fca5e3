"""Claims, verdicts and answers in a notebook: `_repr_html_` and `_repr_latex_`.

They are attached to the classes here: a method in the body of a class of theory or advisor would be
part of the code that records are known by.
"""

from __future__ import annotations

import re
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from depthlaw.theory.claims.definition import Claim

    from .verdicts.suite_verdicts import CaseResult, ClaimResult

# Rows of cases on a card.
_MOST = 12


def show_answers() -> None:
    """Let notebooks show answers of the advisor as tables, `print` what the command prints, and a
    prompt one line. Light to call: loads no SymPy."""
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.answer_text import as_html, as_text, in_brief

    _attach(Answer, _repr_html_=as_html, __str__=as_text, __repr__=in_brief)


def show_claims() -> None:
    """Let notebooks show claims and their results with set formulas."""
    from depthlaw.theory.claims.definition import Claim

    from .verdicts.display import statement_latex
    from .verdicts.suite_verdicts import ClaimResult

    _attach(Claim, _repr_html_=claim_html, _repr_latex_=lambda c: f"${statement_latex(c)}$")
    _attach(
        ClaimResult,
        _repr_html_=result_html,
        plot=plot,
        _repr_latex_=lambda r: f"${statement_latex(r.claim)}$",
    )


def _attach(to: type, **methods: Any) -> None:
    for name, method in methods.items():
        setattr(to, name, method)


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


def plot(result: ClaimResult, x: str = "", axes: Axes | None = None) -> Axes:
    """Draw what was measured, with its interval, and what is stated, against a field of the cases:
    `result.plot()` in a notebook. Cases without a number on both sides are left out.

    Args:
        result: of `depthlaw.verify`.
        x: the field; by default depth, else the first field of numbers that varies.
        axes: where to draw; by default a new figure of matplotlib.pyplot.

    Raises:
        UsageError: for a field that the cases do not have, and where nothing was measured.
    """
    from depthlaw.advisor.base.quantities import UsageError
    from depthlaw.theory.claims.printing import text

    rows = [(row, sides) for row in result.cases if (sides := _sides(result, row))]
    if not rows:
        raise UsageError(
            f"{result.claim.key}: no case has a number to draw; run it with depthlaw.verify first"
        )
    fields = {name: [row.case.get(name) for row, _ in rows] for name in rows[0][0].case.fields()}
    names = [
        name
        for name, values in fields.items()
        if all(isinstance(value, int | float) for value in values)
    ]
    varying = [name for name in names if len(set(fields[name])) > 1]
    if x and x not in names:
        raise UsageError(
            f"{result.claim.key}: its cases have no number {x!r}; "
            f"choose from {', '.join(names) or 'none'}"
        )
    x = x or ("depth" if "depth" in varying else (varying or names)[0])
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots()[1]
    places = fields[x]
    middle = [(low + high) / 2 for _, (low, high, _) in rows]
    spread = [(high - low) / 2 for _, (low, high, _) in rows]
    axes.errorbar(places, middle, yerr=spread, fmt="o", capsize=3, label="measured")
    axes.plot(
        places,
        [stated for _, (_, _, stated) in rows],
        "_",
        color="black",
        markersize=14,
        label=f"stated ({result.claim.statement.rel_op})",
    )
    axes.set(xlabel=x, ylabel=text(result.claim.statement.lhs), title=result.claim.plain.title)
    axes.legend()
    return axes


def _sides(result: ClaimResult, row: CaseResult) -> tuple[float, float, float] | None:
    """Both ends of the left side of the statement, and the right side; None without numbers."""
    from depthlaw.theory.claims.values import Ball, Statistical

    from .verdicts.display import measured_side, prediction

    value = row.measured
    if value is None:
        return None
    try:
        stated = float(Fraction(prediction(result.claim, row)))
        if isinstance(value, Statistical):
            return *value.interval(result.alpha(row)), stated
        if isinstance(value, Ball) and result.claim.statement.lhs.is_Symbol:
            return float(value.low), float(value.high), stated
        side = float(Fraction(measured_side(result.claim, row)))
        return side, side, stated
    except (ValueError, OverflowError):
        return None
