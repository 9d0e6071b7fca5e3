"""Values, slacks, times and both sides of a case in one short piece of text: what every report
prints them as."""
from __future__ import annotations

from fractions import Fraction
from math import log10

import sympy

from depthlaw.theory.claim import Claim, at, measured_symbol
from depthlaw.theory.exact.enclosure import ball, enclose
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.notation import latex, text
from depthlaw.theory.values import Ball, Case, Exact, Measured, Outside, Proportion, Statistical

from .report import CaseResult


def relation(claim: Claim) -> str:
    """The sign between both sides of a statement as they are judged: ≈ where the cases allow an
    interval around what the right side says.

    >>> from depthlaw.theory.claim import find
    >>> relation(find("separation_rank/degree"))
    '='
    """
    return "≈" if interval(claim) else str(claim.statement.rel_op).replace("==", "=")


def slack(value: float | None, *, vacuous: bool = False) -> str:
    """A slack as a factor: how far the two sides are apart on the permitted side.

    >>> slack(0.0), slack(0.30103), slack(12.4), slack(-0.02), slack(None)
    ('x1', 'x2', 'x10^12.4', 'x0.955', '')
    """
    if value is None:
        return ""
    form = f"10^{value:.1f}" if abs(value) < 1e5 else f"10^{value:.2g}"
    text = f"x{10 ** value:.3g}" if abs(value) < 2.5 else f"x{form}"
    return text + (" (vacuous here)" if vacuous else "")


def number(value: Measured | None) -> str:
    """A measured value in one short piece of text.

    >>> number(Exact(10**30)), number(Exact(10**5000)), number(Exact(Fraction(1, 3)))
    ('100000...0000 (31 digits)', '10^5000.00', '1/3')
    """
    if value is None:
        return "-"
    if isinstance(value, Exact):
        # Python refuses to print an integer of more than 4,300 digits.
        if max(abs(value.value.numerator), value.value.denominator).bit_length() > 13_000:
            return _decimal(Fraction(value.value))
        text = str(value.value)
        if len(text) <= 24:
            return text
        if value.value.denominator > 1:
            return _decimal(Fraction(value.value))
        return f"{text[:6]}...{text[-4:]} ({len(text)} digits)"
    if isinstance(value, Ball):
        low, high = (_decimal(x) for x in (value.low, value.high))
        return low if low == high else f"[{low}, {high}]"
    if isinstance(value, Proportion):
        return f"{value.mean:.4g} of {value.trials}"
    if isinstance(value, Outside):
        return "-"
    return f"mean {value.mean:.4g} of {len(value.values)}"


def _decimal(value: Fraction) -> str:
    if value == 0 or 1e-300 < abs(value) < 1e300:
        return f"{float(value):.6g}"
    digits = log10(abs(value.numerator)) - log10(value.denominator)
    return f"{'-' if value < 0 else ''}10^{digits:.2f}"


def duration(seconds: float) -> str:
    """A time for people, with as much precision as an estimate deserves.

    >>> duration(3.2), duration(100), duration(9000)
    ('3 s', '2 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def expectation(claim: Claim) -> str:
    """What was expected before anything was measured, and what is known since; HOLDS is what is
    expected of every claim that does not say otherwise."""
    default = " by default" if claim.expected == "HOLDS" else ""
    return f"{claim.expected}{default}, before anything was measured; known since: {claim.known}"


def measured_side(claim: Claim, row: CaseResult) -> str:
    """The left side of the statement at the measured value, in one short piece of text: comparable
    with the prediction."""
    value = row.measured
    left = claim.statement.lhs
    if value is None or left.is_Symbol or isinstance(value, Statistical | Outside):
        return number(value)
    exact = Fraction(0) if isinstance(value, Ball) else Fraction(value.value)
    low, high = (value.low, value.high) if isinstance(value, Ball) else (exact, exact)
    enclosed = {measured_symbol(claim.statement, row.case): ball(low, high)}
    return f"{float(enclose(at(left, row.case), enclosed).mid()):.6g}"


# What stands in print for the = of a statement whose cases are judged by an interval.
_EQUAL = {"text": (" = ", " ≈ "), "latex": (" = ", r" \approx ")}
# What a prediction of a claim of one's own may raise.
_NO_VALUE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)


def interval(claim: Claim) -> tuple[Case, Ball] | None:
    """The first case, of a statement with =, that is judged by an interval around the right side,
    and the interval; None where equality itself is judged.

    Cost: a prediction of a case; of all of them where each is a point.
    """
    if claim.predicted is None or claim.statement.rel_op != "==":
        return None
    for case in dict.fromkeys(case for cases in claim.grid.values() for case in cases):
        try:
            found = claim.predict(case)
        except _NO_VALUE:
            continue
        if isinstance(found, Ball) and found.low < found.high:
            return case, found
    return None


def judged(claim: Claim) -> str:
    """What is judged where it is no equality, as a clause of plain text; else empty."""
    found = interval(claim)
    return "" if found is None else (
        "judged: within the interval that the words or the cases state, not equality; "
        f"{number(found[1])} at {found[0]}")


def stated(claim: Claim, row: CaseResult) -> str:
    """The relation and the predicted side at one case: "= 9", "within [1, 2]"."""
    side = prediction(claim, row)
    return f"within {side}" if side[0] == "[" and interval(claim) else f"{relation(claim)} {side}"


def statement_text(claim: Claim) -> str:
    """The statement in plain text, with the relation that is judged."""
    return text(claim.statement).replace(*_EQUAL["text"], 1 if interval(claim) else 0)


def statement_latex(claim: Claim) -> str:
    """The statement in LaTeX, with the relation that is judged."""
    return latex(claim.statement).replace(*_EQUAL["latex"], 1 if interval(claim) else 0)


def prediction(claim: Claim, row: CaseResult) -> str:
    """The predicted side at one case, in one short piece of text."""
    if row.decision.verdict is Verdict.OUT_OF_SCOPE:
        return "-"
    value = claim.predict(row.case)
    if isinstance(value, Measured):
        return number(value)
    expression = sympy.sympify(value)
    if expression.is_Rational:
        return number(Exact(Fraction(int(expression.p), int(expression.q))))
    return f"{float(enclose(expression).mid()):.6g}"
