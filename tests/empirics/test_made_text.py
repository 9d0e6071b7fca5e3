"""The text of pointer chains and nested brackets, against a reader of its own."""

from __future__ import annotations

import numpy as np
import pytest

from depthlaw.empirics.tasks import made_text as text
from depthlaw.empirics.tasks.made_text import (
    ASK,
    ASSIGN,
    CLOSE,
    DIGITS,
    END,
    OPEN,
    VOCABULARY,
    brackets,
    pointers,
)


@pytest.mark.parametrize("seed", range(20))
def test_answers_are_at_the_end_of_their_chains(seed: int) -> None:
    tokens = pointers(np.random.default_rng(seed))
    memory: dict[int, int] = {}
    asked = 0
    for place in range(0, len(tokens), 4):
        first, second, third, end = tokens[place : place + 4]
        assert end == END
        if second == ASSIGN:
            memory[first] = third
        else:
            assert first == ASK
            value = second
            while value not in DIGITS:
                value = memory[value]
            assert third == value
            asked += 1
    assert (len(memory), asked) == (6, 2)


@pytest.mark.parametrize("seed", range(20))
def test_brackets_are_balanced(seed: int) -> None:
    *tokens, end = brackets(np.random.default_rng(seed))
    stack: list[int] = []
    for token in tokens:
        if token in OPEN:
            stack.append(OPEN.index(token))
        else:
            assert stack.pop() == CLOSE.index(token)
    assert not stack
    assert (len(tokens), end) == (32, END)


def test_the_text_is_long_and_the_two_parts_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the text only the beginning is made, which takes less."""
    assert (text._TRAINING, text._VALIDATION) == (1_160_000, 120_000)
    monkeypatch.setattr(text, "_TRAINING", 200_000)
    monkeypatch.setattr(text, "_VALIDATION", 20_000)
    training, validation = text.made_text.__wrapped__()
    assert (len(training), len(validation)) == (200_000, 20_000)
    assert training.max() == VOCABULARY - 2
    assert (training[:1000] != validation[:1000]).any()
    # Chains are long enough to need more than two lookups, and brackets nest.
    depth = np.cumsum(np.isin(training, OPEN).astype(int) - np.isin(training, CLOSE))
    assert depth.max() > 8
