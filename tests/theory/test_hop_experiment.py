"""The published experiment: exact counts against every sequence, the table against the text."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from judging import claims, verdicts

from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.hops import published_experiment
from depthlaw.theory.hops.published_experiment import counted, expected_counts, hop_errors

CLAIMS = claims("hops")


def test_no_claim_is_decided_by_reported_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other claim says the same when the reported rows are gone."""
    of_the_table = {"experiment_beats_guess", "experiment_deeper_is_better", "experiment_capacity"}
    others = [CLAIMS[name] for name in of_the_table]
    before = [verdicts(claim) for claim in others]
    printed = tuple(row for row in hop_errors() if row.status == "printed")
    monkeypatch.setattr(published_experiment, "hop_errors", lambda: printed)
    assert [verdicts(claim) for claim in others] == before


@pytest.mark.parametrize("alphabet", [2, 3, 4])
def test_expected_counts_are_those_of_all_sequences(alphabet: int) -> None:
    for tokens, hops in product(range(1, 7), range(4)):
        assert expected_counts(tokens, hops, alphabet) == counted(tokens, hops, alphabet)


def test_positions_with_an_answer_are_97_minus_3k_to_the_nearest_thousandth() -> None:
    """What the note of scored_positions says."""
    surplus = [expected_counts(98, k, 4)[0] - (97 - 3 * k) for k in (1, 8, 16)]
    assert surplus == sorted(surplus)
    assert surplus[0] >= 0
    assert Fraction(2, 10_000) < surplus[-1] < Fraction(3, 10_000)


def test_the_capacity_reads_so_for_limits_in_one_window_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """6.16 % is the largest error that it must admit, 14.01 % the least that it must not."""
    claim = CLAIMS["experiment_capacity"]

    def with_limit(limit: str) -> set[Verdict]:
        monkeypatch.setattr(published_experiment, "LEARNED", Fraction(limit))
        return set(verdicts(claim).values())

    limits = ("0.0616", "0.06161", "0.1", "0.1401", "0.14011")
    assert [Verdict.FAILS in with_limit(limit) for limit in limits] == [True, *[False] * 3, True]
    assert claim.post_hoc
    assert "6.16%" in claim.note
    assert "14.01%" in claim.note
