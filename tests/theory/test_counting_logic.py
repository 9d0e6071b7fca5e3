"""Counting logic: truth at every position by hand, formulas for blocks against expressions."""

from __future__ import annotations

from depthlaw.theory.formal_languages.counting_logic import truths


def test_truths_count_up_to_each_position() -> None:
    assert truths(("least", "a", 2), "abab") == [False, False, True, True]
    assert truths(("and", "b", ("not", ("least", "b", 2))), "abb") == [False, True, False]
    assert truths("a", "") == []
