"""Parallel machines: the protocol against its capacity, the formula against integer logarithms, summaries of edges, the verdicts."""
from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case
from depthlaw.theory.connectivity import parallel_computation_measured
from depthlaw.theory.connectivity.parallel_computation import claims, rounds_per_layer
from depthlaw.theory.connectivity.parallel_computation_measured import Machines, attention_rounds, edge_summaries, edges_min
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}


@pytest.mark.parametrize("key", CLAIMS)
def test_quick_cases_hold(key: str) -> None:
    claim = CLAIMS[key]
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")} == {Verdict.HOLDS}


@given(st.integers(1, 10**12), st.integers(2, 1000))
def test_rounds_are_two_ceilings_of_a_logarithm_and_three(tokens: int, branching: int) -> None:
    levels = (rounds_per_layer(tokens, branching) - 3) // 2
    assert branching**levels >= tokens
    assert levels == 0 or branching ** (levels - 1) < tokens


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", True, None])
def test_bad_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="tokens=.*accepted are whole numbers from 1 on"):
        rounds_per_layer(bad, 2)
    with pytest.raises(ValueError, match="branching=.*accepted are whole numbers from 2 on"):
        rounds_per_layer(2, bad)


def test_one_token_needs_no_round() -> None:
    assert attention_rounds(1, 2, np.random.default_rng(0)) == 0


@given(st.integers(1, 12), st.integers(2, 4), st.integers(0, 99))
def test_the_protocol_computes_attention_within_the_printed_rounds(tokens: int, branching: int, seed: int) -> None:
    assert attention_rounds(tokens, branching, np.random.default_rng(seed)) == rounds_per_layer(tokens, branching) - 3


def test_a_machine_beyond_its_capacity_takes_more_rounds() -> None:
    machines = Machines(capacity=4)
    machines.exchange(Counter({(0, 0): 4}), Counter({(0, 1): 4}))
    assert machines.rounds == 1
    machines.exchange(Counter({(0, 0): 4}), Counter({(0, 1): 5}))
    assert machines.rounds == 3


def test_the_way_down_is_executed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every machine but the token's own receives a query, a key and a value once, and sends its two sums once."""
    sent: Counter[tuple[int, int]] = Counter()
    received: Counter[tuple[int, int]] = Counter()

    def recorded(machines: Machines, out: Counter[tuple[int, int]], into: Counter[tuple[int, int]]) -> None:
        machines.rounds += 1
        sent.update(out)
        received.update(into)

    monkeypatch.setattr(Machines, "exchange", recorded)
    n = 7
    attention_rounds(n, 3, np.random.default_rng(0))
    assert sum(sent.values()) == sum(received.values()) == n * (n - 1) * (1 + 2 + 2)
    assert all(received[i, j] >= 3 for i in range(n) for j in range(n) if i != j)


def test_a_lost_message_on_the_way_down_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = parallel_computation_measured._levels
    monkeypatch.setattr(parallel_computation_measured, "_levels", lambda tokens, branching: list(right(tokens, branching))[:-1])
    with pytest.raises((KeyError, ArithmeticError)):
        attention_rounds(8, 2, np.random.default_rng(0))


def test_less_capacity_than_the_way_down_sends_fails() -> None:
    for key, words in (("connectivity/mpc_rounds", 2), ("connectivity/mpc_rounds_printed", 1)):
        claim = CLAIMS[key]
        assert claim.control.case.capacity == words
        assert judge(claim, claim.control.case, claim.measured(claim.control.case, 0), force=True).verdict is Verdict.FAILS


def test_edge_summaries_are_partitions() -> None:
    assert [edge_summaries(Case(vertices=n), 0).value for n in (1, 2, 3, 4)] == [1, 2, 5, 15]


def test_edges_min_is_the_first_integer_beyond() -> None:
    assert edges_min(Case(depth=4, width=128), 0).value == 4**4 * 128**2 + 1
