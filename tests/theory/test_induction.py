"""One layer: the reduction on all words, the searches against arithmetic, bad input, the verdicts."""
from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from sympy import Rational

from depthlaw.theory.claim import Case, Exact
from depthlaw.theory.hops import hop_k
from depthlaw.theory.hops.induction import claims, one_layer_bits
from depthlaw.theory.hops.induction_measured import (
    composition_error,
    failing_inputs,
    hops_ask_for_every_bit,
    hops_index_sequence,
    index_sequence,
    prompt_min,
    summaries,
    tokens_min,
)
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}


@pytest.mark.parametrize("key", CLAIMS)
def test_quick_cases_hold(key: str) -> None:
    claim = CLAIMS[key]
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")} == {Verdict.HOLDS}


def test_induction_reads_off_the_bit_asked_for() -> None:
    for bits in product((0, 1), repeat=5):
        for i in range(5):
            sequence = index_sequence(bits, i)
            assert hop_k(sequence, 1)[-1] == bits[i]
            assert tuple(sequence[1::2]) == bits
            assert set(sequence) <= {0, 1, 2}


@pytest.mark.parametrize("hops", [1, 2, 3, 6, 17])
def test_more_hops_ask_for_the_same_bits_behind_a_tail_of_their_own(hops: int) -> None:
    assert hops_ask_for_every_bit(hops)
    asked = [hops_index_sequence(bits, i, hops) for bits in product((0, 1), repeat=3) for i in range(3)]
    assert {len(sequence) for sequence in asked} == {7 + 2 * (hops - 1)}
    assert len({tuple(sequence[6:]) for sequence in asked}) == 1


def test_summaries_are_counted_in_the_bits_of_the_formula() -> None:
    for tokens in (1, 3, 9, 15):
        assert summaries(Case(tokens=tokens), 0).value == 2 ** one_layer_bits(tokens)


def test_more_precision_leaves_fewer_failing_inputs_and_enough_leaves_none() -> None:
    failing = [failing_inputs(more)(Case(tokens=11, precision=1), 0).value for more in (0, 4, 20)]
    assert failing[0] >= failing[1] >= failing[2] == 0


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", True, None])
def test_bad_token_counts_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="accepted are whole numbers from 1 on"):
        one_layer_bits(bad)


def test_without_a_summary_one_guess_is_right_once_in_n() -> None:
    for n in (1, 2, 3, 4):
        assert composition_error()(Case(domain_size=n, summary_bits=0), 0).value == Fraction(n - 1, n)


def test_a_complete_summary_never_errs() -> None:
    assert composition_error()(Case(domain_size=2, summary_bits=2), 0).value == 0


def test_the_control_of_the_composition_error_runs_the_search() -> None:
    claim = next(c for c in claims() if c.key == "hops/composition_error")
    twin = claim.control
    assert twin.measured is not None
    assert twin.statement is None
    value = twin.measured(twin.case, 0)
    assert value == Exact(Fraction(1, 4))
    assert claim.predict(twin.case) == Rational(1, 3)
    assert judge(claim, twin.case, value, force=True).verdict is Verdict.FAILS
    assert (claim.source.key, claim.wording) == ("depthlaw", "derived")
    assert "n >= 2" in claim.text


def test_thresholds_are_the_first_integers_beyond() -> None:
    assert prompt_min(Case(depth=1, state_bits=10), 0).value == 10**16
    assert tokens_min(Case(hops=3, width=128), 0).value == 128 * 729 + 1
