"""The one comparison rule: all of an interval on one side HOLDS or FAILS, else it is UNDECIDED."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import sympy

from ..exact.enclosure import enclose, sign
from .definition import Claim, at, measured_symbol
from .readable import readable
from .values import FALSE_ALARM_BUDGET, Ball, Case, Exact, Measured, Outside, Statistical

# Why a truncated measurement decides nothing, as the reports print it.
TRUNCATED = "measurement truncated"
TWICE = "at least twice the inputs that the statement asks for"


class Verdict(StrEnum):
    """The verdict on a claim by its evidence; see docs/decisions/0007."""

    PROVED = "PROVED"
    ARGUED = "ARGUED"
    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    CONDITIONAL = "CONDITIONAL"


# What stands in the place of FAILS where a hardening of ours is refuted, and not its source.
READING_FAILS = "READING FAILS"
# What a claim with a counterexample is called, by how its wording is known.
FAILING: Mapping[str, str] = {
    "printed": Verdict.FAILS.value,
    "derived": Verdict.FAILS.value,
    "reported": f"{Verdict.FAILS} (as reported)",
    "recalled": f"{Verdict.FAILS} (as recalled)",
    "universal": READING_FAILS,
}


def worded(claim: Claim, verdict: Verdict) -> str:
    """A verdict on a claim as every report prints it: FAILS says whose sentence fails.

    >>> from .definition import find
    >>> worded(find("separation_rank/upper_bound_deep"), Verdict.FAILS)
    'FAILS (as recalled)'
    >>> worded(find("connectivity/reach"), Verdict.HOLDS)
    'HOLDS'
    """
    return FAILING[claim.wording] if verdict is Verdict.FAILS else verdict.value


@dataclass(frozen=True)
class Decision:
    """The verdict on one case.

    Attributes:
        slack: how many orders of magnitude lie between the two sides, on the permitted side;
            negative when violated, None when it has no meaning.
        certain: the observation settles this case without probability: see `_settles`.
        reason: one line for people.
        defect: it is undecided for another reason than what was measured: `no_value`, or too few
            seeds for an interval.
        no_value: the statement has no value at the case.
        truncated: it is undecided since the measurement stopped too early.
    """

    verdict: Verdict
    slack: float | None = None
    certain: bool = False
    reason: str = ""
    defect: bool = False
    no_value: bool = False
    truncated: bool = False


def level(claim: Claim, case: Case) -> float:
    """The false-alarm rate of one case: the budget of its claim and of those that `shares` names,
    divided equally over all declared cases of all suites (union bound). Cases for another kind of
    device have a budget of their own, and so has a case that is not declared.

    >>> from .definition import find
    >>> claim = find("connectivity/reach")
    >>> level(claim, claim.every_case[0]) * len(claim.every_case) <= FALSE_ALARM_BUDGET * 1.000001
    True
    """
    return FALSE_ALARM_BUDGET / (1 + len(claim.shares)) / claim.families.get(case, 1)


def judge(
    claim: Claim,
    case: Case,
    value: Measured,
    *,
    alpha: float = FALSE_ALARM_BUDGET,
    force: bool = False,
) -> Decision:
    """Apply the comparison rule to a value that was measured at a case.

    Args:
        claim: the claim, or a mutation of it.
        alpha: chance of a false alarm allowed to this comparison, when it is statistical.
        force: judge even where an assumption is broken (used by negative controls).

    Returns:
        OUT_OF_SCOPE when an assumption is broken; otherwise HOLDS, FAILS or UNDECIDED.
    """
    if not force and (broken := claim.broken(case)) is not None:
        return Decision(Verdict.OUT_OF_SCOPE, reason=f"assumption broken: {readable(broken)}")
    if isinstance(value, Outside):
        return Decision(Verdict.OUT_OF_SCOPE, reason=f"assumption broken: {value.broken}")
    low, high = _interval(value, alpha)
    if low in (-math.inf, math.inf) or high in (-math.inf, math.inf):
        return Decision(Verdict.UNDECIDED, reason="too few seeds for an interval", defect=True)
    a = _left(claim, case, low)
    b = a if high == low else _left(claim, case, high)
    c, d = bounds(claim.predict(case))
    relation = claim.statement.rel_op
    holds, fails = _compare(relation, a, b, c, d)
    slack = _slack(claim, (a, b), (c, d))
    if not (holds or fails):
        remedy = "more seeds" if isinstance(value, Statistical) else "a sharper measurement"
        why = f"the measured interval overlaps the prediction: {remedy} would decide"
        return Decision(Verdict.UNDECIDED, reason=claim.plain.undecidable or why)
    if isinstance(value, Exact) and value.truncated and not _shown(claim, case, value, holds, a, d):
        why = f"{TRUNCATED} at {value.value}: {TWICE} would decide"
        return Decision(Verdict.UNDECIDED, slack, reason=why, truncated=True)
    misses = getattr(value, "misses", 0.0)
    # The truth may be larger than the value with probability `misses`; a verdict that a larger
    # value would overturn is not safe.
    safe = not isinstance(value, Statistical) and (
        misses == 0 or _survives_larger(relation, holds, a, d)
    )
    if misses > alpha and not safe:
        why = f"the measurement misses with probability up to {misses:.1e}, more than {alpha:.1e}"
        return Decision(Verdict.UNDECIDED, slack, reason=why)
    if misses == 1 and holds:
        # How far the truth lies above a value that only bounds it from below is not known.
        slack = None
    certain = safe and _settles(claim, holds)
    return Decision(Verdict.HOLDS if holds else Verdict.FAILS, slack, certain)


def _shown(
    claim: Claim, case: Case, value: Exact, holds: bool, a: sympy.Expr, d: sympy.Expr
) -> bool:
    """Whether a truncated value decides all the same: a violation that a larger truth only makes
    larger, or twice what a lower bound asks for, where a rank below it would have shown."""
    relation = claim.statement.rel_op
    if holds:
        half = _left(claim, case, Fraction(value.value) / 2)
        return relation in (">=", ">") and _compare(relation, half, half, d, d)[0]
    return _survives_larger(relation, holds, a, d)


def _settles(claim: Claim, holds: bool) -> bool:
    """Whether one safe observation settles its case.

    A violation refutes a statement about (almost) all, an example proves one about some, and one
    witness an almost-everywhere lower bound; or an equality of kind two-sided, whose other half is
    built into what is measured, such as a rank that is the size of its matrix.
    """
    if not holds:
        return claim.holds_for in ("all", "almost every")
    if claim.holds_for == "almost every":
        relation = claim.statement.rel_op
        return relation in (">=", ">") or (claim.kind == "two-sided" and relation == "==")
    return claim.holds_for == "exists"


def _interval(value: Measured, alpha: float) -> tuple[Fraction | float, Fraction | float]:
    if isinstance(value, Exact):
        return Fraction(value.value), Fraction(value.value)
    if isinstance(value, Ball):
        return value.low, value.high
    assert not isinstance(value, Outside)
    return value.interval(alpha)


def _left(claim: Claim, case: Case, value: Fraction | float) -> sympy.Expr:
    """The left side at a value of the measured quantity, with which it must grow."""
    measured, left = measured_symbol(claim.statement, case), at(claim.statement.lhs, case)
    if left != measured and log_base(left) is None and not sympy.diff(left, measured).is_positive:
        raise ValueError(
            f"the left side {left} of {claim.key} does not visibly grow with "
            f"{measured}; state the claim the other way round"
        )
    return left.subs(measured, _rational(Fraction(value)))


def bounds(predicted: Any) -> tuple[sympy.Expr, sympy.Expr]:
    """Both ends of a prediction, which are one where it is no interval.

    >>> bounds(sympy.Integer(3)), bounds(sympy.Tuple(1, 2))
    ((3, 3), (1, 2))
    """
    if isinstance(predicted, sympy.Tuple):
        return tuple(predicted)
    if isinstance(predicted, Ball):
        return _rational(predicted.low), _rational(predicted.high)
    value = _rational(predicted) if isinstance(predicted, Fraction) else sympy.sympify(predicted)
    return value, value


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _compare(
    relation: str, a: sympy.Expr, b: sympy.Expr, c: sympy.Expr, d: sympy.Expr
) -> tuple[bool, bool]:
    """Whether [a, b] relation [c, d] certainly holds, and whether it certainly fails; equality, as
    "in", means: measured inside predicted."""
    orders: dict[tuple[sympy.Expr, sympy.Expr], int | None] = {}

    def is_(left: sympy.Expr, right: sympy.Expr, *signs: int) -> bool:
        if (left, right) not in orders:
            orders[left, right] = sign(left - right)
        return orders[left, right] in signs

    if relation in ("==", "in"):
        return is_(a, c, 0, 1) and is_(b, d, -1, 0), is_(b, c, -1) or is_(a, d, 1)
    if relation == "!=":
        return is_(b, c, -1) or is_(a, d, 1), bool(a == b and c == d) and is_(a, c, 0)
    if relation in ("<=", ">"):
        below, above = is_(b, c, -1, 0), is_(a, d, 1)
    else:
        below, above = is_(b, c, -1), is_(a, d, 0, 1)
    return (below, above) if relation in ("<=", "<") else (above, below)


def _survives_larger(relation: str, holds: bool, a: sympy.Expr, d: sympy.Expr) -> bool:
    if holds:
        return relation in (">=", ">")
    return relation in ("<=", "<") or (relation in ("==", "in") and sign(a - d) == 1)


def _slack(
    claim: Claim, measured: tuple[sympy.Expr, sympy.Expr], stated: tuple[sympy.Expr, sympy.Expr]
) -> float | None:
    """log10 of the ratio of the two sides, of the nearer of two bounds; None for equalities."""
    (a, b), (c, d) = measured, stated
    relation = claim.statement.rel_op
    if relation in ("==", "!="):
        return None
    if relation in ("<=", "<"):
        return _ratio(claim, b, c)
    if relation in (">=", ">"):
        above = _ratio(claim, a, d)
        return None if above is None else 0.0 - above
    above, below = _ratio(claim, a, c), _ratio(claim, b, d)
    if c.is_nonpositive:
        # A lower bound that bounds nothing.
        return below
    return None if above is None or below is None else min(0.0 - above, below)


def _ratio(claim: Claim, left: sympy.Expr, right: sympy.Expr) -> float | None:
    """log10 of right over left, where it has a meaning."""
    base = log_base(claim.statement.lhs)
    if base is not None:
        gap = (right - left) * sympy.log(base) / sympy.log(10)
    elif left.is_positive and right.is_positive:
        # Through logarithms, since the two sides may be integers with thousands of digits.
        gap = (sympy.log(right) - sympy.log(left)) / sympy.log(10)
    else:
        return None
    ball = enclose(gap)
    return 0.0 if ball.contains(0) else float(ball.mid())


def log_base(left: sympy.Expr) -> sympy.Expr | None:
    """b when the left side of a statement is the logarithm to base b of what is measured."""
    if isinstance(left, sympy.log):
        return sympy.E
    if isinstance(left, sympy.Mul) and len(left.args) == 2:
        outer, inner = sorted(left.args, key=lambda a: isinstance(a, sympy.log))
        if isinstance(inner, sympy.log) and isinstance(1 / outer, sympy.log):
            return (1 / outer).args[0]
    return None
