"""Parallel machines: the protocol against its capacity and its prediction, summaries of edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import ceil

import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.connectivity import parallel_machines
from depthlaw.theory.connectivity.parallel_machines import Machine, attention_rounds


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


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("gap", [Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(1, 10)])
def test_the_depth_of_a_tree_depends_on_exponents_only(alpha: Fraction, gap: Fraction) -> None:
    """What the note of mpc_rounds says of Theorem 3.4: ceil((1 + alpha)/gap) levels, for any N."""
    for scale in (1, 5, 20):
        bits = scale * alpha.denominator * gap.denominator  # N = 2^bits has whole powers
        levels, reached = 0, 1
        while reached < 2 ** int((1 + alpha) * bits):
            levels, reached = levels + 1, reached * 2 ** int(gap * bits)
        assert levels == ceil((1 + alpha) / gap)
