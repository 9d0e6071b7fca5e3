"""What seeds say without a normal law: the sign test of the observations of a case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.values import Sample
from depthlaw.theory.claims.verdict import Verdict, bounds
from depthlaw.theory.exact.enclosure import enclose

if TYPE_CHECKING:
    from .suite_verdicts import CaseResult, ClaimResult


@dataclass(frozen=True)
class SignTest:
    """How the observations of a case lie about a bound of what is stated.

    Attributes:
        agreeing: how many lie on the side of the bound on which their mean lies.
        seeds: how many there are.
        p: two-sided: how often would a fair coin fall as unevenly as those off the bound?
        bound: the nearer end, where what is stated is an interval.
    """

    agreeing: int
    seeds: int
    p: float
    bound: float

    def __str__(self) -> str:
        """In place of a level that so many seeds cannot carry.

        >>> print(SignTest(8, 8, 2 / 2**8, 0.0))
        8 of 8 seeds, p = .008
        """
        return f"{self.agreeing} of {self.seeds} seeds, p = {f'{self.p:.1g}'.lstrip('0')}"


def sign_test(claim: Claim, row: CaseResult) -> SignTest | None:
    """The two-sided sign test of the observations of a case against a bound of what is stated.

    It asks about the median and supposes no normal law, which a Student interval of few seeds does.
    None where there is no sample, or no observation off the bound.

    >>> from depthlaw.theory.claims.definition import find
    >>> from depthlaw.theory.claims.verdict import Decision
    >>> from .suite_verdicts import CaseResult
    >>> claim = find("depth_width/depth_gains_by_updates")
    >>> decision = Decision(Verdict.UNDECIDED)
    >>> row = CaseResult(claim.every_case[0], Sample((-.1, -.2, -.1, -.3)), decision)
    >>> sign_test(claim, row)
    SignTest(agreeing=4, seeds=4, p=0.125, bound=0.0)
    """
    value = row.measured
    if not isinstance(value, Sample) or not claim.statement.lhs.is_Symbol:
        return None
    ends = [float(enclose(end).mid()) for end in bounds(claim.predict(row.case))]
    bound = min(ends, key=lambda end: abs(end - value.mean))
    below = sum(observation < bound for observation in value.values)
    above = sum(observation > bound for observation in value.values)
    count = below + above
    if not count:
        return None
    agreeing = below if value.mean < bound else above
    # Of the side that the mean is on, which an outlier may have to itself: then p is 1.
    tail = sum(math.comb(count, k) for k in range(count - agreeing + 1)) / 2**count
    return SignTest(agreeing, len(value.values), min(1.0, 2 * tail), bound)


def normality(result: ClaimResult, row: CaseResult) -> bool:
    """Whether a verdict on a mean rests on normality: it is at a level that the sign test cannot
    reach with so many observations, however they fall: all that carries it is the normal law that
    Student's interval supposes.

    >>> from depthlaw.theory.claims.definition import find
    >>> from depthlaw.theory.claims.verdict import Decision
    >>> from .suite_verdicts import CaseResult, ClaimResult
    >>> claim = find("depth_width/depth_gains_by_updates")
    >>> row = CaseResult(claim.every_case[0], Sample((.1, .2, .1, .3)), Decision(Verdict.HOLDS))
    >>> normality(ClaimResult(claim, (row,), None, None), row)
    True
    """
    value = row.measured
    return (
        isinstance(value, Sample)
        and row.decision.verdict in (Verdict.HOLDS, Verdict.FAILS)
        and 2.0 ** (1 - len(value.values)) > result.alpha(row)
    )
