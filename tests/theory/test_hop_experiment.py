"""The published experiment: exact counts against going through every sequence, the table against the text, the verdicts."""
from __future__ import annotations

from fractions import Fraction

import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.hops import experiment_measured
from depthlaw.theory.hops.experiment import claims
from depthlaw.theory.hops.experiment_measured import (
    PRINTED_PARAMETERS,
    best_guess_error,
    counted,
    counted_parameters,
    error_rows,
    expected_counts,
    hop_errors,
    return_probability,
)
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}


@pytest.mark.parametrize("key", [key for key, claim in CLAIMS.items() if claim.awaited == "HOLDS"])
def test_quick_cases_hold(key: str) -> None:
    claim = CLAIMS[key]
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")} == {Verdict.HOLDS}


def test_a_rerun_that_no_code_here_repeats_decides_nothing() -> None:
    claim = CLAIMS["hops/experiment_dropout"]
    assert claim.known == "UNDECIDED"
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")} == {Verdict.UNDECIDED}
    assert claim.note.startswith("Measured outside this repository; no code here re-runs it")
    assert "hops/experiment_capacity_without_dropout" not in CLAIMS


def test_no_claim_is_decided_by_reported_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other claim says the same when the reported rows are gone."""
    def decided() -> dict[str, set[Verdict]]:
        return {key: {judge(c, case, c.measured(case, 0)).verdict for case in c.cases("quick")} for key, c in CLAIMS.items()
                if key != "hops/experiment_dropout"}

    before, printed = decided(), tuple(row for row in hop_errors() if row.status == "printed")
    monkeypatch.setattr(experiment_measured, "hop_errors", lambda: printed)
    assert decided() == before


def test_reported_errors_are_lower_without_dropout_and_four_layers_do_eight_hops() -> None:
    """What the note says of the rows that are kept for the reader."""
    on, off = ({(r.hops, r.depth): r.error for r in error_rows(dropout, "reported")} for dropout in ("on", "off"))
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
    assert return_probability(Case(alphabet=2), 0).value == 1


def test_copy_probability_tends_to_the_law_of_the_return() -> None:
    # b_k = P(copy) - 1/|Sigma| obeys b_(k+1) = (b_(k-1) - b_k)/|Sigma| on an endless sequence; at position i it is off by at most the
    # probability that k hops do not exist there.
    a, late, early = 4, 70, 69
    law = [1 - Fraction(1, a), -Fraction(1, a)]
    for _ in range(6):
        law.append((law[-2] - law[-1]) / a)
    for hops in range(1, 7):
        exists, copies = (x - y for x, y in zip(expected_counts(late, hops, a), expected_counts(early, hops, a), strict=True))
        assert copies <= law[hops] + Fraction(1, a) <= copies + 1 - exists
        assert 1 - exists < Fraction(1, 1000)


def test_best_guess_is_a_constant_guess_only_for_odd_returns() -> None:
    assert best_guess_error(1) == Fraction(2, 3)
    assert best_guess_error(2) < Fraction(1, 2) < best_guess_error(4) < best_guess_error(16) < Fraction(3, 4)


def test_parameters_are_the_sizes_of_all_tensors() -> None:
    assert {shape: counted_parameters(*shape) for shape in PRINTED_PARAMETERS} == PRINTED_PARAMETERS


def test_table_has_every_cell_once() -> None:
    rows = [(r.hops, r.depth, r.dropout, r.status) for r in hop_errors()]
    assert len(rows) == len(set(rows)) == 25 + 8 + 8
    assert all(0 <= r.error < 1 for r in hop_errors())
    assert {r.status for r in hop_errors()} == {"printed", "reported"}


def test_reported_errors_with_dropout_are_close_to_the_printed_ones() -> None:
    printed = {(r.hops, r.depth): r.error for r in error_rows("on", "printed")}
    assert max(abs(r.error - printed[r.hops, r.depth]) for r in error_rows("on", "reported")) < Fraction(1, 100)
