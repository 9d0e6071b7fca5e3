"""Intervals in print: of an estimate both the 95 % interval that people read and the wider one that
its verdict was decided by, each with its level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from depthlaw.theory.claims.rounding import LEVEL, centre, interval
from depthlaw.theory.claims.values import Case, Exact, Measured, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict, judge

from ..verdicts.sign_test import SignTest, normality, sign_test
from ..verdicts.suite_verdicts import CaseResult, ClaimResult

CONFIDENCE = f"{100 * (1 - LEVEL):.0f} %"


@dataclass(frozen=True)
class Estimate:
    """A mean of seeds or a share of trials, as far as it can be known.

    Attributes:
        mean, count: of how many observations, or trials.
        what: "observation" or "trial".
        ends: of the 95 % interval; None where there is none.
        deciding: of the interval that the verdict was decided by; None where there is none.
        level: of the deciding interval: the chance that it misses the truth.
        test: the sign test against what is stated, which needs no normal law; None where there is
            none.
        normality: whether the verdict is at a level that the sign test cannot reach with so many
            observations.
    """

    mean: float
    count: int
    what: str
    ends: tuple[float, float] | None
    deciding: tuple[float, float] | None
    level: float
    test: SignTest | None
    normality: bool = False

    @property
    def middle(self) -> str:
        """The mean or the share, with digits enough for its interval in print to contain it."""
        return centre(self.mean, self.ends, share=self.what == "trial")

    @property
    def decided_by(self) -> str:
        """The interval and the level of the verdict, and the sign test, as prose; in place of a
        level that only a normal law carries how many seeds agree. Empty where the estimate has no
        interval.

        >>> test = SignTest(8, 8, 2 / 2**8, 0.0)
        >>> Estimate(2.0, 8, "observation", None, (1.0, 3.0), 1e-3, test).decided_by
        '[1, 3] at level 0.001; sign test $p$ = 0.0078'
        >>> Estimate(2.0, 8, "observation", None, (1.0, 3.0), 1e-3, test, True).decided_by
        '[1, 3] if normal; 8 of 8 seeds, $p$ = .008'
        """
        if self.deciding is None:
            return ""
        if self.normality:
            carried = self.test or f"n = {self.count}"
            return f"{written(self.deciding)} if normal; {carried}".replace(" p ", " $p$ ")
        return f"{written(self.deciding)} at level {self.level:.2g}" + (
            "" if self.test is None else f"; sign test $p$ = {self.test.p:.2g}"
        )


def estimate(result: ClaimResult, row: CaseResult) -> Estimate | None:
    """The estimate of a case; None where what was measured is none."""
    value = row.measured
    if not isinstance(value, Sample | Proportion):
        return None
    level = result.alpha(row)
    count, what = (
        (len(value.values), "observation") if isinstance(value, Sample) else (value.trials, "trial")
    )
    return Estimate(
        value.mean,
        count,
        what,
        _finite(value.interval(LEVEL)),
        _finite(value.interval(level)),
        level,
        sign_test(result.claim, row),
        normality(result, row),
    )


@dataclass(frozen=True)
class Leaning:
    """How many of the estimates of a claim contradict it: by the mean, and by the 95 % interval."""

    cases: int
    means: int
    intervals: int


def leaning(result: ClaimResult) -> Leaning:
    """What the estimates of a claim say, decided or not."""
    rows = [
        (row.case, row.measured)
        for row in result.in_scope
        if isinstance(row.measured, Sample | Proportion)
    ]

    def fail(case: Case, value: Measured) -> bool:
        return judge(result.claim, case, value, alpha=LEVEL).verdict is Verdict.FAILS

    return Leaning(
        len(rows),
        sum(fail(case, Exact(Fraction(value.mean))) for case, value in rows),
        sum(fail(case, value) for case, value in rows),
    )


def written(ends: tuple[float, float]) -> str:
    """An interval in plain text, rounded outward."""
    return interval(*ends)


def _finite(ends: tuple[float, float]) -> tuple[float, float] | None:
    return ends if math.isfinite(ends[0]) and math.isfinite(ends[1]) else None
