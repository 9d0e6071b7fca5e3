"""What rules of depth say of a budget, beside the depth that was best in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from depthlaw.advisor import laws
from depthlaw.advisor.rules import Rule, rule, rules
from depthlaw.theory.claims.verdict import Verdict

from .fits import FORM, Law, Optimum

Reading = Literal["near", "at least", "at most", "within 3 % of loss", "within 1 % of loss"]
# A rule's depth is near the best one within this factor, and within half a layer, to which it is
# rounded when a net is built.
NEAR = 1.25
_HALF = 0.5
# The legend of Kaplan et al. 2020, Figure 6, lumps all nets of more layers together (recalled).
KAPLAN_LAYERS = 6
# Beyond so many times the seeds it is said that seeds will not do.
_MOST_SEEDS = 100
_READINGS: dict[str, Reading] = {
    "floor": "at least",
    "maximum": "at most",
    "within 3 %": "within 3 % of loss",
    "within 1 %": "within 1 % of loss",
}
# What is built is nobody's prediction, and residual streams other than the plain one are not what
# files hold.
_LEFT_OUT = ("built", "attnres")


@dataclass(frozen=True)
class PredictionRow:
    """One prediction for one budget.

    Attributes:
        key, name: of the rule.
        reading: what is judged. near: the best depth lies within a factor 1.25, or half a layer,
            of the rule's. at least, at most: the best depth is not less, not more. within 3 % of
            loss: the net of the rule's depth loses at most so much more than the best trained
            shape.
        predicted: the rule's depth at this budget, and the ends of its own interval.
        measured: the best depth (None where there is none) and its interval.
        reason: for UNDECIDED, what would decide.
        extrapolates: the budget lies outside what the rule was measured on.
    """

    key: str
    name: str
    reading: Reading
    parameters: float
    tokens: float
    predicted: tuple[float, float, float]
    measured: tuple[float | None, float, float]
    verdict: Verdict
    reason: str
    source: str
    wording: str
    extrapolates: bool
    remark: str


def compare(optima: Sequence[Optimum]) -> tuple[PredictionRow, ...]:
    """Every rule at every budget, rule by rule.

    The rules are those of `depthlaw.advisor.rules`, which a file's parametrisation may not suit
    (said in the row's remark), the threshold read as an optimum too, and Kaplan's 6 layers, after
    which more depth is read to gain nothing.
    """
    return tuple(_row(prediction, optimum) for prediction in _predictions() for optimum in optima)


def _predictions() -> Iterator[Rule]:
    for published in rules():
        if published.key not in _LEFT_OUT:
            yield published
        if published.key == "threshold":
            yield replace(
                published,
                key="threshold-optimum",
                name="L = log_3(d), read as an optimum",
                meaning="optimum",
            )
    yield Rule(
        "kaplan-layers",
        "Kaplan's 6 layers",
        f"L = {KAPLAN_LAYERS}",
        "maximum",
        lambda size: float(KAPLAN_LAYERS),
        "kaplan2020, arXiv:2001.08361, Figure 6",
        "recalled",
        rule("kaplan").year,
        None,
        remark="the legend tells 0 to 3, 6 and more than 6 layers apart; read as: beyond 6 "
        "layers more depth gains nothing at equal size",
    )


def _row(law: Rule, best: Optimum) -> PredictionRow:
    reading = _READINGS.get(law.meaning, "near")
    depth = _depth(law, best)
    size = 12 * best.volume_at(depth)
    error = law.standard_error(size) or 0.0
    half = float(special.ndtri(1 - best.alpha / 2)) * error
    low, high = depth - half, depth + half
    verdict, reason = (
        _loss(reading, depth, best)
        if reading.startswith("within")
        else _judged(reading, low, high, best)
    )
    applies = law.applies
    suits = "" if applies.parametrisation == "standard" else f"for {applies.parametrisation}"
    return PredictionRow(
        law.key,
        law.name,
        reading,
        best.parameters,
        best.tokens,
        (depth, low, high),
        (best.depth, best.low, best.high),
        verdict,
        reason,
        law.source,
        law.wording,
        law.extrapolates(size),
        "; ".join(filter(None, (suits, law.remark))),
    )


def _depth(law: Rule, best: Optimum) -> float:
    """The rule's depth for this budget: where L is the rule's depth for a net of L layers in it.

    L d^2 varies little over the nets of a budget, so that steps towards it converge.
    """
    depth = law.depth(12 * best.volume)
    for _ in range(60):
        depth = math.sqrt(depth * law.depth(12 * best.volume_at(depth)))
    return depth


def _judged(reading: Reading, low: float, high: float, best: Optimum) -> tuple[Verdict, str]:
    """The interval of the best depth against what the reading allows."""

    def allowed(low: float, high: float) -> tuple[float, float]:
        if reading == "near":
            return min(low / NEAR, low - _HALF), max(high * NEAR, high + _HALF)
        return (low, math.inf) if reading == "at least" else (0.0, high)

    # What satisfies each depth of the rule's own interval, and what satisfies one of them.
    sure, may = allowed(high, low), allowed(low, high)
    if sure[0] <= best.low and best.high <= sure[1] and (best.low > 0 or reading == "at most"):
        return Verdict.HOLDS, ""
    if best.high < may[0] or best.low > may[1]:
        return Verdict.FAILS, ""
    return Verdict.UNDECIDED, _remedy(may, best)


def _remedy(allowed: tuple[float, float], best: Optimum) -> str:
    """What would decide."""
    if best.equal:
        return "the losses are equal: more of their digits, or depths farther apart"
    if not best.free:
        return "no error is known: train more depths, or several seeds"
    if best.at_edge and best.best in (best.depths[0], best.depths[-1]):
        where, then = (
            ("greatest", "deeper") if best.best == best.depths[-1] else ("least", "shallower")
        )
        return f"the loss is least at the {where} trained depth: train {then} nets"
    if best.at_edge:
        return "the curve has no minimum inside: more seeds, or depths near the best"
    if not best.bounded:
        return "the interval has no end inside the trained depths: more seeds, or more depths"
    if best.depth is None:
        return "fewer than five depths for the curve: train more"
    ends = [end for end in allowed if 0 < end < math.inf]
    distance = min(abs(math.log(best.depth / end)) for end in ends)
    # What curves of other kinds add to an interval no seed takes away.
    form = math.log(FORM)
    half = math.log(best.high / best.low) / 2 - form
    factor = (half / max(distance - form, 1e-9)) ** 2
    if factor > _MOST_SEEDS:
        return "the best depth lies where the prediction ends: seeds alone will not decide"
    return f"about {max(2, math.ceil(factor))} times as many seeds"


def _loss(reading: Reading, depth: float, best: Optimum) -> tuple[Verdict, str]:
    """The loss of the net of this depth against the best one."""
    excess = best.excess(depth)
    if excess is None:
        first, last = best.depths[0], best.depths[-1]
        if not first <= depth <= last:
            return (
                Verdict.UNDECIDED,
                "the predicted depth lies outside the trained ones: train a net of that depth",
            )
        return Verdict.UNDECIDED, "no error is known: train more depths, or several seeds"
    allowed = math.log1p(float(reading.split()[1]) / 100)
    if excess[1] <= allowed:
        return Verdict.HOLDS, ""
    return (Verdict.FAILS, "") if excess[0] > allowed else (Verdict.UNDECIDED, "more seeds")


def levine_distance(law: Law) -> float:
    """The chance of coefficients at least so far from Levine's fit if both estimate the same law
    (Wald, with both covariances).

    Args:
        law: the exponential one.
    """
    off = np.array([law.a - laws.FIT_A, law.b - laws.FIT_B])
    own = np.array([[laws.FIT_VAR_A, laws.FIT_COV], [laws.FIT_COV, laws.FIT_VAR_B]])
    return float(special.chdtrc(2, off @ np.linalg.solve(np.array(law.covariance) + own, off)))
