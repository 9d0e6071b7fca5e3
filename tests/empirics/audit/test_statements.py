"""Published statements against models whose answer is known by how they were made."""

from __future__ import annotations

import numpy as np
import pytest

from depthlaw.empirics.audit.measures import Values
from depthlaw.empirics.audit.statements import (
    Answers,
    Statement,
    counted_is_lost_first,
    one_layer_does_nothing,
    order_depends_on_text,
    repetition_degrades,
)

RNG = np.random.default_rng(0)


def repeats(changes: list[float], noise: float = 0.01) -> Values:
    """Of each layer a change of a loss of 2 nats, on 32 documents."""
    table = np.array(changes)[:, None] + noise * RNG.standard_normal((len(changes), 32))
    blocks = tuple((i, i) for i in range(len(changes)))
    return Values("repeat", "plain", blocks, table, "nats", 0.0, np.full(32, 2.0))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [([0.2, 0.3, 0.0], "HOLDS"), ([-0.2, -0.3, 0.1], "FAILS"), ([0.2, 0.0, 0.0], "UNDECIDED")],
)
def test_usually_is_more_than_half_and_surely(changes: list[float], verdict: str) -> None:
    assert str(repetition_degrades({"net": repeats(changes)}).verdict) == verdict


def test_noise_alone_degrades_nothing_however_many_blocks() -> None:
    """400 blocks without a change: at 95 % each, 10 would count as degraded."""
    said = repetition_degrades({"net": repeats([0.0] * 400)}).numbers["net"]
    assert said["degraded"] + said["improved"] <= 2


def test_one_layer_against_the_tolerance() -> None:
    small, large = repeats([0.001, -0.002], 0.001), repeats([0.001, 0.2], 0.001)
    assert str(one_layer_does_nothing({"a": small}, 0.01).verdict) == "HOLDS"
    assert str(one_layer_does_nothing({"a": small, "b": large}, 0.01).verdict) == "FAILS"
    assert str(one_layer_does_nothing({"a": repeats([0.02], 0.1)}, 0.01).verdict) == "UNDECIDED"


def answers(counted: float, looked_up: float) -> Answers:
    """Two layers, 100 questions of two answers; shares of what lies beyond chance that are lost."""
    before = np.arange(100) < 90
    after = np.array([np.arange(100) < 90 - round(40 * lost) for lost in (counted, looked_up)])
    return Answers(
        ("parity", "recall"),
        np.full((2, 100), 0.5),
        np.stack([before, before]),
        np.stack([after, after]),
    )


def test_what_is_lost_first_is_a_share_of_what_was_had() -> None:
    def lost(counted: float, looked_up: float, nets: str = "abcd") -> Statement:
        return counted_is_lost_first({net: answers(counted, looked_up) for net in nets})

    assert str(lost(0.75, 0.25).verdict) == "HOLDS"
    assert lost(0.75, 0.25).numbers["a"]["mean difference"] == pytest.approx(0.5)
    assert str(lost(0.25, 0.75).verdict) == "FAILS"
    assert str(lost(0.5, 0.5).verdict) == "UNDECIDED"
    # Two layers of each net: three nets are six removals, too few.
    assert str(lost(0.25, 0.75, "abc").verdict) == "UNDECIDED"


def test_two_orders_and_two_halves_of_one() -> None:
    one = np.array([0.1, 0.5, 0.9])[:, None] + 0.05 * RNG.standard_normal((3, 64))
    said = order_depends_on_text({"net": (one, one[::-1])})
    assert str(said.verdict) == "HOLDS"
    assert said.numbers["net"]["halves of one"]["high"] == 1
    assert str(order_depends_on_text({"net": (one, one)}).verdict) == "FAILS"
