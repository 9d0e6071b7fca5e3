"""The published experiment: exact counts against every sequence, the table against the text."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.hops import published_experiment
from depthlaw.theory.hops.pointers import find
from depthlaw.theory.hops.published_experiment import (
    counted,
    expected_counts,
    hop_errors,
)

CLAIMS = {c.name: c for c in vars(published_experiment).values() if isinstance(c, Claim)}


def verdicts(claim: Claim) -> set[Verdict]:
    return {judge(claim, case, claim.measure(case)).verdict for case in claim.cases("quick")}


def test_no_claim_is_decided_by_reported_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other claim says the same when the reported rows are gone."""
    others = [claim for name, claim in CLAIMS.items() if name != "experiment_dropout"]
    before = [verdicts(claim) for claim in others]
    printed = tuple(row for row in hop_errors() if row.status == "printed")
    monkeypatch.setattr(published_experiment, "hop_errors", lambda: printed)
    assert [verdicts(claim) for claim in others] == before


@pytest.mark.parametrize("alphabet", [2, 3, 4])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_expected_counts_are_those_of_all_sequences(alphabet: int, hops: int) -> None:
    for tokens in range(1, 7):
        assert expected_counts(tokens, hops, alphabet) == counted(tokens, hops, alphabet)


def test_copy_probability_tends_to_the_law_of_the_return() -> None:
    # b_k = P(copy) - 1/|Sigma| obeys b_(k+1) = (b_(k-1) - b_k)/|Sigma| on an endless sequence; at
    # position i it is off by at most the probability that k hops do not exist there.
    a, late, early = 4, 70, 69
    law = [1 - Fraction(1, a), -Fraction(1, a)]
    for _ in range(6):
        law.append((law[-2] - law[-1]) / a)
    for hops in range(1, 7):
        counts = expected_counts(late, hops, a), expected_counts(early, hops, a)
        exists, copies = (x - y for x, y in zip(*counts, strict=True))
        assert copies <= law[hops] + Fraction(1, a) <= copies + 1 - exists
        assert 1 - exists < Fraction(1, 1000)


def test_all_sequences_but_few_have_97_minus_3k_positions_with_an_answer() -> None:
    """So pooling positions and taking the mean over sequences are all but the same."""
    surplus = {k: expected_counts(98, k, 4)[0] - (97 - 3 * k) for k in range(1, 17)}
    assert max(surplus, key=lambda k: surplus[k]) == 16
    assert Fraction(2, 10_000) < surplus[16] < Fraction(3, 10_000)
    assert min(surplus.values()) >= 0
    for a, tokens in ((3, 6), (4, 5)):
        for x in product(range(a), repeat=tokens):
            if all(s != t for s, t in pairwise(x)):
                for k in (1, 2, 3):
                    assert sum(p > 0 for p in find(x, k)) >= tokens - 1 - (a - 1) * k
