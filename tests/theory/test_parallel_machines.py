"""Parallel machines: the protocol against its capacity and its prediction, summaries of edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.connectivity import parallel_machines
from depthlaw.theory.connectivity.parallel_machines import (
    Machine,
    attention_rounds,
    message_passing_bound_vacuous,
    mpc_rounds,
    mpc_rounds_printed,
    one_layer_summaries,
)


def test_one_token_needs_no_round() -> None:
    assert attention_rounds(Case(tokens=1, branching=2), 0) == 0


@given(st.integers(2, 12), st.integers(2, 4), st.integers(0, 99))
def test_the_protocol_computes_attention_in_the_rounds_stated(n: int, b: int, seed: int) -> None:
    case = Case(tokens=n, branching=b)
    rounds = attention_rounds(case, seed)
    assert rounds == mpc_rounds.predict(case) == mpc_rounds_printed.predict(case) - 3


def test_the_way_down_is_executed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every machine but the token's own receives a query, a key and a value, and sends two sums."""
    received: Counter[Machine] = Counter()

    def recorded(messages: Iterable[tuple[Machine, Machine, int]], capacity: int) -> int:
        for _, target, words in messages:
            received[target] += words
        return 1

    monkeypatch.setattr(parallel_machines, "message_rounds", recorded)
    n = 7
    attention_rounds(Case(tokens=n, branching=3), 0)
    assert received.total() == n * (n - 1) * (1 + 2 + 2)
    assert all(received[i, j] >= 3 for i in range(n) for j in range(n) if i != j)


def test_a_lost_message_on_the_way_down_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = parallel_machines._levels
    monkeypatch.setattr(parallel_machines, "_levels", lambda *sizes: list(right(*sizes))[:-1])
    with pytest.raises((KeyError, ArithmeticError)):
        attention_rounds(Case(tokens=8, branching=2), 0)


@pytest.mark.parametrize(
    ("claim", "words"), [(mpc_rounds, 2), (mpc_rounds_printed, 1)], ids=["ours", "printed"]
)
def test_less_capacity_than_the_way_down_sends_fails(claim, words: int) -> None:
    case = claim.control.case
    assert case.capacity == words
    assert judge(claim, case, claim.measure(case), force=True).verdict is Verdict.FAILS


def test_edge_summaries_are_partitions() -> None:
    found = [one_layer_summaries.measure(Case(vertices=n)).value for n in (1, 2, 3, 4)]
    assert found == [1, 2, 5, 15]


def test_the_least_number_of_edges_is_the_first_integer_beyond() -> None:
    case = Case(depth=4, width=128)
    assert message_passing_bound_vacuous.measure(case).value == 4**4 * 128**2 + 1
