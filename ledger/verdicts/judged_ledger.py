"""Claims judged on what one store holds of them, in whatever suites that is: what `show`, pages and
the appendix say of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from depthlaw.theory.claims.definition import DEVICE_OF, Claim, topics

from ..records.store import Store
from .suite_verdicts import CaseResult, ClaimResult, results

# Not the order of `SUITES`: a claim is told by the trainings that it is about, then by `full`,
# which contains `theory` and `quick`, and only where `full` has none of it by `frontier`, whose
# long runs few repeat. Suites for another device follow on their own.
_SUITES = ("training", "exercises", "full", "frontier", "theory", "quick")


@dataclass(frozen=True)
class Recorded:
    """Claims, judged on the records of one store as `depthlaw verify` judges them. Each is judged
    once: what is stored later is not seen.

    Attributes:
        claims: every claim, by key.
        store: of the records.
    """

    claims: Mapping[str, Claim]
    store: Store
    _judged: dict[tuple[str, str], ClaimResult] = field(default_factory=dict)

    def judged(self, key: str) -> ClaimResult | None:
        """The claim in the first suite of `_SUITES` of which every case is recorded, else in the
        one of which most are; None where nothing is."""
        some = []
        for suite in _SUITES:
            result = self.of(suite, key)
            if result is not None and result.cases and not result.missing:
                return result
            some += [result] if result is not None and _any(result) else []
        return min(some, key=lambda r: len(r.missing), default=None)

    def elsewhere(self, key: str) -> Iterator[tuple[str, ClaimResult]]:
        """The claim in each suite of which something is recorded and that needs another device."""
        for suite in DEVICE_OF:
            if (result := self.of(suite, key)) is not None and _any(result):
                yield suite, result

    def rows(self, *keys: str) -> list[CaseResult]:
        """The recorded cases of claims, each case once, in all suites and on any device."""
        results = (self.of(suite, key) for key in keys for suite in self.claims[key].grid)
        rows = (row for result in results if result for row in result.cases if row.records)
        return list({row.case: row for row in rows}.values())

    def of(self, suite: str, key: str) -> ClaimResult | None:
        """The claim in a suite; None where it has no cases there or is not known."""
        claim = self.claims.get(key)
        if claim is None or not claim.cases(suite):
            return None
        if (suite, key) not in self._judged:
            # Premises from a file of the user's are found nowhere else.
            shipped = set(topics())
            own = {c.key: c for c in self.claims.values() if c.topic not in shipped}
            self._judged[suite, key] = results({key: claim} | own, suite, self.store)[0]
        return self._judged[suite, key]


def _any(result: ClaimResult) -> bool:
    """Whether any case is recorded."""
    return any(row.records for row in result.cases)
