"""The one comparison rule: the whole interval on the right side HOLDS, on the wrong side FAILS, anything else is UNDECIDED."""
from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .claim import Claim, at, quantity
from .evidence import Ball, Case, Exact, Measured, Sample

if TYPE_CHECKING:
    import sympy
    from flint import arb

# Chance that a full run of every suite reports a FAILS that is only sampling noise; it is divided by the number of statistical
# comparisons in the run, so every tolerance of a statistical verdict follows from it.
FALSE_ALARM_BUDGET = 1e-3


class Verdict(StrEnum):
    """What a claim's evidence amounts to; see docs/architecture.md."""

    PROVED = "PROVED"
    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    CONDITIONAL = "CONDITIONAL"


@dataclass(frozen=True)
class Decision:
    """The verdict on one case.

    Attributes:
        slack: how many orders of magnitude (log10 of the ratio of the two sides) lie between them on the permitted side; negative
            when violated, None when it has no meaning.
        certain: no probability was involved, so HOLDS of an existence or almost-everywhere lower bound proves this case, and FAILS is
            a counterexample.
        reason: one line for people.
    """

    verdict: Verdict
    slack: float | None = None
    certain: bool = False
    reason: str = ""


def judge(claim: Claim, case: Case, value: Measured, *, alpha: float = FALSE_ALARM_BUDGET, force: bool = False) -> Decision:
    """Apply the comparison rule to one measured value.

    Args:
        claim: the claim, or a mutation of it.
        case: where it was measured.
        value: what was measured.
        alpha: chance of a false alarm allowed to this comparison, when it is statistical.
        force: judge even where an assumption is broken (used by the failing twins).

    Returns:
        OUT_OF_SCOPE when an assumption is broken; otherwise HOLDS, FAILS or UNDECIDED.
    """
    if not force:
        for name, holds in claim.assumes.items():
            if not holds(case):
                return Decision(Verdict.OUT_OF_SCOPE, reason=f"assumption broken: {name}")
    relation = claim.statement.rel_op
    predicted = claim.predict(case)
    if isinstance(value, Exact) and not isinstance(predicted, Ball):
        return _judge_exact(claim, case, relation, value, predicted, alpha)
    return _judge_interval(claim, case, relation, value, predicted, alpha)


def _judge_exact(claim: Claim, case: Case, relation: str, value: Exact, predicted: Any, alpha: float) -> Decision:
    import sympy

    from .enclosure import sign

    left = _left(claim, case, sympy.Rational(value.value.numerator, value.value.denominator))
    right = sympy.sympify(predicted)
    order = sign(left - right)
    slack = _slack(claim, case, left, right)
    if order is None:
        return Decision(Verdict.UNDECIDED, slack, reason="balls at the highest precision do not separate the two sides")
    holds = {"==": order == 0, "<=": order <= 0, "<": order < 0, ">=": order >= 0, ">": order > 0, "!=": order != 0}[relation]
    # The value may fall short of the truth with probability `misses`; a verdict that a larger value would overturn is not certain.
    certain = value.misses == 0 or (order > 0 if relation in ("==", "<=", "<") else holds and relation in (">=", ">"))
    if not certain and value.misses > alpha:
        return Decision(Verdict.UNDECIDED, slack, reason=f"the measurement misses with probability up to {value.misses:.1e} > {alpha:.1e}")
    return Decision(Verdict.HOLDS if holds else Verdict.FAILS, slack, certain)


def _judge_interval(claim: Claim, case: Case, relation: str, value: Measured, predicted: Any, alpha: float) -> Decision:
    import flint

    from .enclosure import ball, enclose, from_fraction

    with flint.ctx.workprec(768):
        if isinstance(value, Sample):
            low, high = value.interval(alpha)
            if not (math.isfinite(low) and math.isfinite(high)):
                return Decision(Verdict.UNDECIDED, reason="too few seeds for an interval")
            measured = ball(Fraction(low), Fraction(high))
        elif isinstance(value, Ball):
            measured = ball(value.low, value.high)
        else:
            measured = from_fraction(value.value)
        symbol = quantity(claim.statement, case)
        left = enclose(at(claim.statement.lhs, case), {symbol: measured}, precision=768)
        right = ball(predicted.low, predicted.high) if isinstance(predicted, Ball) else _as_ball(predicted)
        below, above = bool(left <= right), bool(left >= right)
        strictly_below, strictly_above = bool(left < right), bool(left > right)
        inside = bool(right.contains(left))
    holds, fails = {
        "==": (inside, strictly_below or strictly_above),
        "<=": (below, strictly_above), "<": (strictly_below, above),
        ">=": (above, strictly_below), ">": (strictly_above, below),
        "!=": (strictly_below or strictly_above, False),
    }[relation]
    slack = _slack_of(claim, relation, float(left.mid()), float(right.mid()))
    if holds or fails:
        return Decision(Verdict.HOLDS if holds else Verdict.FAILS, slack, certain=not isinstance(value, Sample))
    return Decision(Verdict.UNDECIDED, slack, reason="the intervals overlap; more seeds or more precision would decide")


def _as_ball(predicted: Any) -> arb:
    import sympy

    from .enclosure import enclose

    return enclose(sympy.sympify(predicted), precision=768)


def _left(claim: Claim, case: Case, value: sympy.Rational) -> sympy.Expr:
    return at(claim.statement.lhs, case).subs(quantity(claim.statement, case), value)


def _slack(claim: Claim, case: Case, left: sympy.Expr, right: sympy.Expr) -> float | None:
    if claim.statement.rel_op in ("==", "!="):
        return None
    from .enclosure import enclose

    base = log_base(claim.statement.lhs)
    if base is None and left.is_positive and right.is_positive:
        import sympy

        # Through logarithms, since the two sides may be integers with thousands of digits.
        return _slack_of(claim, claim.statement.rel_op, *(float(enclose(sympy.log(x) / sympy.log(10), precision=64).mid()) for x in (left, right)), 1.0)
    return _slack_of(claim, claim.statement.rel_op, float(enclose(left, precision=64).mid()), float(enclose(right, precision=64).mid()))


def _slack_of(claim: Claim, relation: str, left: float, right: float, digits: float | None = None) -> float | None:
    """log10 of the ratio of the sides, from the sides or (digits given) from their logarithms."""
    if relation in ("==", "!="):
        return None
    if digits is None:
        base = log_base(claim.statement.lhs)
        if base is not None:
            digits = math.log10(base)
        elif left > 0 and right > 0:
            left, right, digits = math.log10(left), math.log10(right), 1.0
        else:
            return None
    gap = (right - left) * digits
    return gap if relation in ("<=", "<") else -gap


def log_base(left: sympy.Expr) -> float | None:
    """b when the left side of a statement is the logarithm to base b of the measured quantity, otherwise None."""
    import sympy

    if isinstance(left, sympy.log):
        return math.e
    if isinstance(left, sympy.Mul) and len(left.args) == 2:
        outer, inner = sorted(left.args, key=lambda a: isinstance(a, sympy.log))
        if isinstance(inner, sympy.log) and isinstance(1 / outer, sympy.log):
            return float((1 / outer).args[0])
    return None
