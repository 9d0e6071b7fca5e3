"""The published experiment: exact counts against every sequence, the table against the text."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.hops import published_experiment
from depthlaw.theory.hops.pointers import find
from depthlaw.theory.hops.published_experiment import (
    best_guess_error,
    counted,
    error_rows,
    expected_counts,
    hop_errors,
    return_probability,
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


def test_four_layers_do_eight_hops_with_dropout_off() -> None:
    """What the note says of the rows that are there for the reader."""
    on, off = (
        {(r.hops, r.depth): r.error for r in error_rows(dropout, "reported")}
        for dropout in ("on", "off")
    )
    assert on.keys() == off.keys() == {(k, depth) for k in (1, 8) for depth in (2, 3, 4, 5)}
    assert all(off[cell] < on[cell] for cell in on)
    assert round(float(off[8, 4]), 3) == 0.065


@pytest.mark.parametrize("alphabet", [2, 3, 4])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_expected_counts_are_those_of_all_sequences(alphabet: int, hops: int) -> None:
    for tokens in range(1, 7):
        assert expected_counts(tokens, hops, alphabet) == counted(tokens, hops, alphabet)


def test_two_symbols_alternate() -> None:
    assert [best_guess_error(hops, tokens=9, alphabet=2) for hops in (1, 2, 3)] == [0, 0, 0]
    assert return_probability.measure(Case(alphabet=2)).value == 1


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


def test_best_guess_is_a_constant_guess_only_for_odd_returns() -> None:
    assert best_guess_error(1) == Fraction(2, 3)
    guesses = [best_guess_error(2), Fraction(1, 2), *map(best_guess_error, (4, 16)), Fraction(3, 4)]
    assert guesses == sorted(set(guesses))


def test_all_sequences_but_few_have_97_minus_3k_positions_with_an_answer() -> None:
    """So pooling positions and taking the mean over sequences are all but the same."""
    surplus = {k: expected_counts(98, k, 4)[0] - (97 - 3 * k) for k in range(1, 17)}
    assert max(surplus, key=lambda k: surplus[k]) == 16
    assert Fraction(2, 10_000) < surplus[16] < Fraction(3, 10_000)
    assert min(surplus.values()) >= 0
    for a, tokens in ((3, 7), (4, 6)):
        for x in product(range(a), repeat=tokens):
            if all(s != t for s, t in pairwise(x)):
                for k in (1, 2, 3):
                    assert sum(p > 0 for p in find(x, k)) >= tokens - 1 - (a - 1) * k


def standard_errors(k: int, error: Fraction, other: Fraction = Fraction(0)) -> float:
    """The difference of two errors in standard errors, as if all answers were independent coins."""
    variance = error * (1 - error) + other * (1 - other)
    return float(abs(error - other)) / math.sqrt(variance / (100 * (97 - 3 * k)))


def test_neighbours_that_noise_does_not_tell_apart_are_named_and_the_claim_is_ours() -> None:
    claim = CLAIMS["experiment_deeper_is_better"]
    rows = error_rows("on", "printed")
    near = {
        (k, row.depth): standard_errors(k, row.error, deeper.error)
        for k in (1, 2, 4, 8, 16)
        for row, deeper in pairwise(r for r in rows if r.hops == k)
    }
    assert [cell for cell, ratio in near.items() if ratio < 1] == [(1, 4)]
    assert sum(ratio < 2.3 for ratio in near.values()) == 1 + 3
    assert (claim.source.key, claim.wording) == ("depthlaw", "derived")
    assert "dropout left on" in claim.note


def test_the_margin_over_the_best_guess_is_about_two_standard_errors() -> None:
    rows = error_rows("on", "printed")
    error = next(r.error for r in rows if (r.hops, r.depth) == (16, 2))
    assert round(float(best_guess_error(16) - error), 3) == 0.013
    assert 100 * (97 - 3 * 16) == 4900
    gap = float(best_guess_error(16) - error)
    assert gap / math.sqrt(float(error * (1 - error)) / 4900) == pytest.approx(2.06, abs=0.01)


def test_table_has_every_cell_once() -> None:
    rows = [(r.hops, r.depth, r.dropout, r.status) for r in hop_errors()]
    assert len(rows) == len(set(rows)) == 25 + 8 + 8
    assert all(0 <= r.error < 1 for r in hop_errors())
    assert {r.status for r in hop_errors()} == {"printed", "reported"}
