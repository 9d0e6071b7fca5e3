"""Means of seeds and shares of trials as far as they can be known: of each both the 95 % interval
that people read and the wider one that its verdict was decided by, with its level."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from depthlaw.theory.claims.rounding import LEVEL, centre, interval
from depthlaw.theory.claims.values import Case, Exact, Measured, Proportion, Statistical
from depthlaw.theory.claims.verdict import Verdict, judge

from .sign_test import SignTest, normality, sign_test
from .suite_verdicts import CaseResult, ClaimResult

CONFIDENCE = f"{100 * (1 - LEVEL):.0f} %"


def interval_at(value: Statistical, level: float = LEVEL) -> tuple[float, float] | None:
    """The ends of the interval of a level; None where it is not finite."""
    ends = value.interval(level)
    return ends if all(map(math.isfinite, ends)) else None


def middle(value: Statistical) -> str:
    """A mean or a share with digits enough for its interval in print to contain it."""
    return centre(value.mean, interval_at(value), share=isinstance(value, Proportion))


@dataclass(frozen=True)
class Estimate:
    """A mean or a share with what its verdict rests on.

    Attributes:
        level: of the interval that decides: the chance that it misses the truth.
        test: the sign test against what is stated, where there is one; it needs no normal law.
        normality: whether the verdict is at a level that no sign test reaches with so many seeds.
    """

    value: Statistical
    level: float
    test: SignTest | None
    normality: bool = False

    @property
    def count(self) -> int:
        """Of how many observations, or trials."""
        return self.value.trials if isinstance(self.value, Proportion) else len(self.value.values)

    @property
    def what(self) -> str:
        """What is counted, in the singular."""
        return "trial" if isinstance(self.value, Proportion) else "observation"

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of the 95 % interval; None where there is none."""
        return interval_at(self.value)

    @property
    def deciding(self) -> tuple[float, float] | None:
        """The ends of the interval that the verdict was decided by; None where there is none."""
        return interval_at(self.value, self.level)

    @property
    def carried(self) -> str:
        """What stands in place of a level that only a normal law carries: how many seeds agree."""
        return str(self.test or f"n = {self.count:,}")

    @property
    def decided_by(self) -> str:
        """The interval and the level of the verdict, and the sign test, as prose; empty where the
        estimate has no interval.

        >>> from depthlaw.theory.claims.values import Sample
        >>> test = SignTest(3, 3, 2 / 2**3, 0.0)
        >>> Estimate(Sample((1.5, 2.0, 2.5)), 0.05, test).decided_by
        '[0.757, 3.25] at level 0.05; sign test $p$ = 0.25'
        >>> Estimate(Sample((1.5, 2.0, 2.5)), 0.05, test, normality=True).decided_by
        '[0.757, 3.25] if normal; 3 of 3 seeds, $p$ = .2'
        """
        if self.deciding is None:
            return ""
        if self.normality:
            return f"{interval(*self.deciding)} if normal; {self.carried}".replace(" p ", " $p$ ")
        test = f"; sign test $p$ = {self.test.p:.2g}" if self.test else ""
        return f"{interval(*self.deciding)} at level {self.level:.2g}{test}"


def estimate(result: ClaimResult, row: CaseResult) -> Estimate | None:
    """The estimate of a case; None where what was measured is none."""
    value = row.measured
    if not isinstance(value, Statistical):
        return None
    test = sign_test(result.claim, row)
    return Estimate(value, result.alpha(row), test, normality(result, row))


@dataclass(frozen=True)
class Leaning:
    """How many of the estimates of a claim contradict it: by the mean, and by the 95 % interval."""

    cases: int
    means: int
    intervals: int


def leaning(result: ClaimResult) -> Leaning:
    """What the estimates of a claim say, decided or not."""
    rows = [
        (row.case, value)
        for row in result.in_scope
        if isinstance(value := row.measured, Statistical)
    ]

    def failing(values: Iterable[tuple[Case, Measured]]) -> int:
        decisions = (judge(result.claim, case, value, alpha=LEVEL) for case, value in values)
        return sum(decision.verdict is Verdict.FAILS for decision in decisions)

    means = ((case, Exact(Fraction(value.mean))) for case, value in rows)
    return Leaning(len(rows), failing(means), failing(rows))
