"""What would decide an undecided case: so many seeds or examples, if mean and spread stayed as they
are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from depthlaw.theory.claims.values import Case, Proportion, Sample
from depthlaw.theory.claims.verdict import bounds, level
from depthlaw.theory.exact.enclosure import enclose

from .failing_case import in_words, own_fields
from .suite_verdicts import CaseResult, ClaimResult

# Beyond so many none is named.
_MOST_SEEDS, _MOST_EXAMPLES = 10**4, 10**9


@dataclass(frozen=True)
class Remedy:
    """What would decide one case.

    Attributes:
        where: the case, by what those of the claim differ in, in words.
        there, what: how many seeds or examples there are; 0 and "" where their number is not what
            decides.
        enough: about how many would decide; 0 where no number of them would.
        reason: in words, where their number is not what decides.
    """

    case: Case
    where: str
    there: int = 0
    what: str = ""
    enough: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """In words, without the case."""
        if self.reason:
            return self.reason
        would = (
            f"about {self.enough:,} would decide it" if self.enough else "no number of them would"
        )
        return f"{self.there:,} {self.what} leave it open; {would}"


def remedies(result: ClaimResult) -> Iterator[Remedy]:
    """Of each undecided case, what would decide it.

    For means, the number of seeds whose Student interval would leave the bound outside; for shares,
    the number of examples whose Clopper-Pearson interval would. Both at the level of the verdict,
    and if mean and spread stayed as they are. Else the reason of the verdict.

    Cost: some thousand evaluations of a quantile for each case.
    """
    cases = [row.case for row in result.cases]
    for row in result.undecided:
        own = own_fields(result.claim.key, row.case, cases) if len(cases) > 1 else {}
        yield _remedy(in_words(result.claim.key, own)[0] or "here", result, row)


def _remedy(where: str, result: ClaimResult, row: CaseResult) -> Remedy:
    value, alpha = row.measured, level(result.claim, row.case)
    if result.claim.undecidable:
        return Remedy(row.case, where, reason=result.claim.plain.undecidable)
    if not (isinstance(value, Sample | Proportion) and result.claim.statement.lhs.is_Symbol):
        return Remedy(row.case, where, reason=row.decision.reason)
    stated = [float(enclose(end).mid()) for end in bounds(result.claim.predict(row.case))]
    if isinstance(value, Proportion):
        there, what, most = value.trials, "examples", _MOST_EXAMPLES
    else:
        there, what, most = len(value.values), "seeds", _MOST_SEEDS
        if there < 2:
            return Remedy(row.case, where, reason="one seed gives no interval; two would give one")

    def decides(count: int) -> bool:
        low, high = _interval(value, count, alpha)
        return not any(low <= bound <= high for bound in stated)

    return Remedy(row.case, where, there, what, _least(decides, there, most))


def _interval(value: Proportion | Sample, count: int, alpha: float) -> tuple[float, float]:
    """Of the same share of so many examples, or of the same mean and spread of so many seeds."""
    from scipy import special

    if isinstance(value, Proportion):
        return Proportion(round(value.mean * count), count).interval(alpha)
    squares = math.fsum((v - value.mean) ** 2 for v in value.values)
    spread = math.sqrt(squares / (len(value.values) - 1))
    half = float(special.stdtrit(count - 1, 1 - alpha / 2)) * spread / math.sqrt(count)
    return value.mean - half, value.mean + half


def _least(decides: Callable[[int], bool], there: int, most: int) -> int:
    """The least number, from what is there on, that decides; 0 beyond `most`: by halves, since
    intervals shrink with the number."""
    high = max(there, 2)
    while high < most and not decides(high):
        high *= 2
    if not decides(min(high, most)):
        return 0
    low, high = there, min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high
