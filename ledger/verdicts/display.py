"""Values, slacks, times and both sides of a case in one short piece of text: what every report
prints them as."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from math import log10
from typing import Any

import sympy

from depthlaw.theory.claims.definition import Ball, Claim, Exact, Measured, at, measured_symbol
from depthlaw.theory.claims.printing import latex, text
from depthlaw.theory.claims.rounding import interval as in_print
from depthlaw.theory.claims.values import Case, Outside, PowerOfTen, Proportion, Sample, Statistical
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.exact.enclosure import ball, enclose

from .estimates import estimate, middle
from .suite_verdicts import NO_VALUE, CaseResult, ClaimResult


def relation(claim: Claim) -> str:
    """The sign between both sides of a statement as they are judged: ≈ where the cases allow an
    interval around what the right side says.

    >>> from depthlaw.theory.claims.definition import find
    >>> relation(find("separation_rank/degree"))
    '='
    """
    return "≈" if interval(claim) else str(claim.statement.rel_op).replace("==", "=")


def slack(value: float | None, *, vacuous: bool = False) -> str:
    """A slack as a factor: how far the two sides are apart on the permitted side, rounded towards
    1, so that they are at least as far apart as it says.

    >>> slack(0.0), slack(0.30103), slack(0.75259), slack(12.4), slack(-0.02), slack(None)
    ('x1', 'x2', 'x5.65', 'x10^12.4', 'x0.955', '')
    """
    if value is None:
        return ""
    up = value < 0
    if abs(value) < 2.5:
        text = f"x{_cut(10**value, 3, up=up):.3g}"
    elif abs(value) < 1e5:
        text = f"x10^{_cut(value, int(log10(abs(value))) + 2, up=up):.1f}"
    else:
        text = f"x10^{_cut(value, 2, up=up):.2g}"
    return f"{text} (vacuous here)" if vacuous else text


# Of a last digit: what a float may lack of it.
_TIE = 1e-6


def _cut(value: float, digits: int, *, up: bool) -> float:
    """A number other than 0 with at most so many significant digits, rounded up or down."""
    unit = 10.0 ** (math.floor(log10(abs(value))) + 1 - digits)
    whole = math.ceil(value / unit - _TIE) if up else math.floor(value / unit + _TIE)
    return whole * unit


# The largest denominator that a reader turns into a number; a longer fraction is a decimal.
_READ = 999


def number(value: Measured | None) -> str:
    """A measured value in one short piece of text.

    >>> number(Exact(10**30)), number(Exact(10**5000)), number(Exact(Fraction(1, 3)))
    ('100000...0000 (31 digits)', '10^5000.00', '1/3')
    >>> number(Exact(Fraction(67763507, 200000000))), number(Exact(Fraction(-1, 512)))
    ('0.338818', '-1/512')
    >>> number(Proportion(44684, 44685)), number(Sample((1.0, 2.0))), number(Proportion(3, 4))
    ('share 0.99998 (n = 44,685)', 'mean 1.5 (n = 2)', 'share 0.7500 (n = 4)')
    """
    if value is None or isinstance(value, Outside):
        return "-"
    if isinstance(value, Exact):
        exact = value.value
        # Python refuses to print an integer of more than 4,300 digits.
        huge = max(abs(exact.numerator), exact.denominator).bit_length() > 13_000
        text = "" if huge else str(exact)
        if huge or exact.denominator > _READ or (len(text) > 24 and exact.denominator > 1):
            return _decimal(Fraction(exact))
        return text if len(text) <= 24 else f"{text[:6]}...{text[-4:]} ({len(text)} digits)"
    if isinstance(value, Ball):
        low, high = (_decimal(x) for x in (value.low, value.high))
        if low == high:
            return low
        moderate = all(end == 0 or 1e-300 < abs(end) < 1e300 for end in (value.low, value.high))
        return in_print(value.low, value.high) if moderate else f"[{low}, {high}]"
    kind = "share" if isinstance(value, Proportion) else "mean"
    count = value.trials if isinstance(value, Proportion) else len(value.values)
    return f"{kind} {middle(value)} (n = {count:,})"


def by_chance(result: ClaimResult, row: CaseResult) -> str:
    """What a verdict on a mean or a share rests on: the interval at the level of the verdict, and
    for a mean the number of observations and the sign test, in place of a level that only a normal
    law carries; else empty."""
    if isinstance(row.measured, Ball) and result.claim.needs:
        return "the interval comes from counts, at a level that the note names"
    found = estimate(result, row)
    if found is None or found.deciding is None:
        return ""
    decided, test = in_print(*found.deciding), found.test
    if found.normality:
        return f"{decided} if normal; {found.carried}"
    seeds = f"; n = {found.count:,}" if isinstance(found.value, Sample) else ""
    by_signs = f", sign test against {test.bound:.3g}: p = {test.p:.2g}" if test else ""
    return f"{decided} at level {found.level:.2g}{seeds}{by_signs}"


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
    ends = (value.low, value.high) if isinstance(value, Ball) else [Fraction(value.value)] * 2
    enclosed = {measured_symbol(claim.statement, row.case): ball(*ends)}
    return f"{float(enclose(at(left, row.case), enclosed).mid()):.6g}"


def interval(claim: Claim) -> tuple[Case, Ball] | None:
    """The first case, of a statement with =, that is judged by an interval around the right side,
    and the interval; None where equality itself is judged.

    Cost: a prediction of a case; of all of them where each is a point.
    """
    by_interval = claim.predicted is not None and claim.statement.rel_op == "=="
    for case in claim.every_case if by_interval else ():
        with suppress(*NO_VALUE):
            predicted = claim.predict(case)
            if isinstance(predicted, Ball) and predicted.low < predicted.high:
                return case, predicted
    return None


def judged(claim: Claim) -> str:
    """What is judged where it is no equality, as a clause of plain text; else empty."""
    if (first := interval(claim)) is None:
        return ""
    how = "judged: within the interval that the words or the cases state, not equality"
    return f"{how}; {number(first[1])} at {first[0]}"


def stated(claim: Claim, row: CaseResult) -> str:
    """The relation and the predicted side at one case: "= 9", "within [1, 2]"."""
    side = prediction(claim, row)
    inside = claim.statement.rel_op == "in"
    if side[0] == "[" and (inside or interval(claim)):
        return f"within {side}"
    return f"= {side}" if inside else f"{relation(claim)} {side}"


def statement_text(claim: Claim) -> str:
    """The statement in plain text, with the relation that is judged."""
    return text(claim.statement).replace(" = ", " ≈ ", 1 if interval(claim) else 0)


def statement_latex(claim: Claim) -> str:
    """The statement in LaTeX, with the relation that is judged."""
    return latex(claim.statement).replace(" = ", r" \approx ", 1 if interval(claim) else 0)


def prediction(claim: Claim, row: CaseResult) -> str:
    """The predicted side at one case, in one short piece of text."""
    if row.decision.verdict is Verdict.OUT_OF_SCOPE:
        return "-"
    return predicted(claim.predict(row.case))


def predicted(value: Any) -> str:
    """What a claim predicts, in one short piece of text."""
    if isinstance(value, Measured):
        return number(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(predicted, value))}]"
    if isinstance(value, PowerOfTen | float):
        return str(value) if isinstance(value, PowerOfTen) else f"{value:.6g}"
    if isinstance(value, sympy.Tuple):
        if all(end.is_Rational for end in value):
            first, *_, last = map(predicted, value)
            return first if first == last else f"[{first}, {last}]"
        low, high = (Ball.of(enclose(end)) for end in value)
        return number(Ball(low.low, high.high))
    expression = sympy.sympify(value)
    if expression.is_Rational:
        return number(Exact(Fraction(int(expression.p), int(expression.q))))
    return f"{float(enclose(expression).mid()):.6g}"
