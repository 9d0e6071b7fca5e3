"""Counting logic: truth at every position by hand, formulas for blocks against expressions."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from depthlaw.theory.formal_languages.automaton import words
from depthlaw.theory.formal_languages.counting_logic import depth, in_block, truths, with_blocks


def test_truths_count_up_to_each_position() -> None:
    assert truths(("least", "a", 2), "abab") == [False, False, True, True]
    assert truths(("and", "b", ("not", ("least", "b", 2))), "abb") == [False, True, False]
    assert truths("a", "") == []


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_blocks_formula_is_the_regular_expression(k: int) -> None:
    pattern = "".join(("a+", "b+")[i % 2] for i in range(k))
    assert all(
        truths(with_blocks(k), word)[-1] == bool(re.fullmatch(pattern, word))
        for word in words(8)
        if word
    )
    assert depth(with_blocks(k)) == k


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_position_in_a_block_on_words_that_begin_with_a(k: int) -> None:
    for word in words(8):
        if word.startswith("a"):
            changes = [
                1 + sum(x != y for x, y in pairwise(word[: i + 1])) for i in range(len(word))
            ]
            assert truths(in_block(k), word) == [n >= k and n % 2 == k % 2 for n in changes]
    assert depth(in_block(k)) == k - 2
