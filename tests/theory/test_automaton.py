"""Automata: regular expressions, monoids, and two tests of star-freeness that must agree."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.theory.formal_languages.automaton import counter, minimal, monoid_period, words

EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b"]),
    lambda inner: st.one_of(
        inner.map(lambda x: f"({x})*"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}|{p[1]})"),
        st.tuples(inner, inner).map("".join),
    ),
    max_leaves=6,
)


def moved(automaton, state: int, word: str) -> int:
    for letter in word:
        state = automaton.moves["ab".index(letter)][state]
    return state


@settings(max_examples=30)
@given(EXPRESSIONS)
def test_minimal_automaton_accepts_what_the_expression_matches(expression: str) -> None:
    automaton = minimal(expression)
    assert all(automaton.accepts(word) == bool(re.fullmatch(expression, word)) for word in words(5))


@settings(max_examples=30)
@given(EXPRESSIONS)
def test_monoid_and_counters_agree_and_a_counter_counts(expression: str) -> None:
    automaton = minimal(expression)
    found = counter(automaton)
    assert (monoid_period(automaton) == 1) == (found is None)
    if found is not None:
        word, cycle = found
        assert [moved(automaton, state, word) for state in cycle] == [*cycle[1:], cycle[0]]


def test_unreadable_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot read"):
        minimal("(a")
