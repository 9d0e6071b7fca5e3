"""The metered net and the arrays a layer stores, against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.counting import operation_count as count
from depthlaw.theory.counting.operation_count import Meter, forward, layer_arrays, training


def test_meter_multiplies_and_counts() -> None:
    meter = Meter()
    a, b = [[1, 2], [3, 4], [5, 6]], [[7, 8, 9], [1, 2, 3]]
    assert np.array_equal(np.array(meter.times(a, b)), np.array(a) @ np.array(b) % 97)
    assert meter.multiplications == meter.additions == 3 * 2 * 3
    assert meter.by_weights == 0


def test_meter_leaves_masked_entries_out() -> None:
    meter = Meter()
    entries = [(0, 0), (1, 0), (1, 1)]
    assert meter.times([[1], [1]], [[1, 1]], entries=entries) == [[1, 0], [1, 1]]
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


def test_stored_arrays_take_34_bytes_per_token_and_coordinate_and_five_per_score() -> None:
    assert sum(a.nbytes for a in layer_arrays(1, 1, 1, 1)) == 39
    assert sum(a.nbytes for a in layer_arrays(1, 3, 2, 1) if a.ndim == 4) == 5 * 9


@pytest.mark.parametrize(
    "claim",
    [count.forward_products, count.attention_ratio, count.training_six, count.causal_forward],
    ids=lambda c: c.name,
)
def test_identities_are_proved(claim: Claim) -> None:
    assert claim.proof is not None
    assert claim.evidence == "argument"
    assert 0 < len(claim.rests_on) <= 160
    assert all(step.holds for step in claim.proof(claim.statement))
    assert not all(step.holds for step in claim.proof(claim.control.statement))


def test_textbook_flops_counts_multiplications_by_weights() -> None:
    for case in count.textbook_flops.cases("quick"):
        found = judge(count.textbook_flops, case, count.textbook_flops.measure(case)).verdict
        exact = case.what == "multiplications by weights"
        assert found is (Verdict.HOLDS if exact else Verdict.FAILS)


@pytest.mark.parametrize(
    "claim", [count.textbook_flops, count.textbook_memory], ids=lambda c: c.name
)
def test_approximations_read_as_equalities_are_marked(claim: Claim) -> None:
    assert claim.wording == "universal"
