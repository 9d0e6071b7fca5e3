"""Certificates of lower bounds on depth, and languages against their expressions."""
from __future__ import annotations

import pytest

from depthlaw.theory.formal_languages import claims, counting_logic
from depthlaw.theory.formal_languages import measured as measured_by
from depthlaw.theory.formal_languages.automaton import minimal, words
from depthlaw.theory.formal_languages.temporal_logic import depth, kinds, run


@pytest.mark.parametrize("name", list(measured_by.LANGUAGES))
def test_network_of_a_listed_language_accepts_its_regular_expression(name: str) -> None:
    expression, formula = measured_by.LANGUAGES[name]
    automaton = minimal(expression)
    assert all(run(formula, word) == (automaton.accepts(word), depth(formula)) for word in words(7))


def test_a_clash_is_a_pair_that_the_depth_cannot_tell_apart() -> None:
    accepts = minimal("a*b*").accepts
    pair = measured_by.clash(accepts, 1, list(words(6)))
    assert pair is not None
    assert accepts(pair[0]) != accepts(pair[1])
    assert kinds(pair[0], 1) == kinds(pair[1], 1)
    assert measured_by.clash(accepts, 2, list(words(6))) is None


def test_a_wrong_network_and_a_wasteful_one_are_not_certified() -> None:
    accepts = minimal("(a|b)*b").accepts
    assert measured_by.attention_layers(accepts, measured_by.at_least(1), 4).value == -1
    assert measured_by.attention_layers(accepts, ("and", measured_by.LANGUAGES["ends in b"][1], measured_by.at_least(1)), 4).value == 1
    wasteful = ("and", measured_by.LANGUAGES["ends in b"][1], ("or", measured_by.at_least(2), ("not", measured_by.at_least(2))))
    assert measured_by.attention_layers(accepts, wasteful, 4).value == -1


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_blocks_formula_has_the_stated_depth(k: int) -> None:
    assert depth(measured_by.blocks_formula(k)) == k // 2 + 1


def test_no_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one block"):
        measured_by.block_language(0)


def test_modular_languages_count() -> None:
    automaton = minimal(measured_by.modular(3))
    assert all(automaton.accepts(word) == (word.count("a") % 3 == 0) for word in words(7))


def test_star_free_difference_counts_words() -> None:
    assert measured_by.star_free_difference("(ab)*", "(ab)*").value == 0
    assert measured_by.star_free_difference("a*", "a*b*").value == sum(1 for n in range(10) for _ in range(n)), "the words a^i b^j with j > 0"


def test_the_prediction_formula_is_wrong_on_words_that_are_not_of_k_blocks() -> None:
    claim = next(c for c in claims() if c.key == "formal_languages/crasp_prediction")
    formula, accepts = counting_logic.in_block(4), minimal(measured_by.block_language(4)).accepts
    assert not accepts("bab")
    assert counting_logic.truths(formula, "bab")[-1]
    assert measured_by.prediction_depth(4, 9).value == 2
    assert claim.control.measured is not None
    assert claim.control.measured(claim.control.case, 0).value == measured_by.prediction_depth(4, 3, anywhere=True).value == -1
    assert (claim.source.key, claim.wording) == ("depthlaw", "derived")


def test_depth_one_counting_defines_one_block_only() -> None:
    assert [measured_by.equal_counts(k, 8).value for k in (1, 2, 3)] == [0, 1, 1]
