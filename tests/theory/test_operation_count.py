"""The metered net and the arrays a layer keeps, against counts by hand."""
from __future__ import annotations

import numpy as np
import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.counting import operation_count
from depthlaw.theory.counting.operation_count import Meter, forward, kept, training
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {c.key: c for c in operation_count.claims()}


def test_meter_multiplies_and_counts() -> None:
    meter = Meter()
    a, b = [[1, 2], [3, 4], [5, 6]], [[7, 8, 9], [1, 2, 3]]
    assert np.array_equal(np.array(meter.times(a, b)), np.array(a) @ np.array(b) % 97)
    assert meter.multiplications == meter.additions == 3 * 2 * 3
    assert meter.by_weights == 0


def test_meter_leaves_masked_entries_out() -> None:
    meter = Meter()
    assert meter.times([[1], [1]], [[1, 1]], entries=[(0, 0), (1, 0), (1, 1)]) == [[1, 0], [1, 1]]
    assert meter.multiplications == 3


def test_one_token_of_width_one() -> None:
    meter = forward(Case(depth=1, width=1, tokens=1))
    assert (meter.by_weights, meter.multiplications) == (12, 14)


def test_a_backward_pass_costs_twice_the_forward_pass() -> None:
    case = Case(depth=2, width=4, heads=2, tokens=3)
    assert training(case).multiplications == 3 * forward(case).multiplications


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="give a divisor"):
        forward(Case(depth=1, width=4, heads=3, tokens=2))


def test_kept_arrays_take_34_bytes_per_token_and_coordinate_and_five_per_score() -> None:
    assert sum(a.nbytes for a in kept(1, 1, 1, 1).values()) == 39
    assert sum(a.nbytes for name, a in kept(1, 3, 2, 1).items() if a.ndim == 4) == 5 * 9


@pytest.mark.parametrize("key", ["forward_products", "attention_ratio", "training_six", "causal_forward"])
def test_identities_are_proved(key: str) -> None:
    claim = CLAIMS["counting/" + key]
    assert claim.proof is not None
    assert claim.evidence == "argument"
    assert 0 < len(claim.rests_on) <= 160
    assert all(step.holds for step in claim.proof(claim.statement))
    assert not all(step.holds for step in claim.proof(claim.control.statement))


def test_textbook_flops_counts_multiplications_by_weights() -> None:
    claim = CLAIMS["counting/textbook_flops"]
    assert claim.measured is not None
    for case in claim.cases("quick"):
        verdict = judge(claim, case, claim.measured(case, 0)).verdict
        assert verdict is (Verdict.HOLDS if case.what == "multiplications by weights" else Verdict.FAILS)
