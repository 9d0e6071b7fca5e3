"""Hard attention and temporal logic: networks against the definition, kinds against formulas."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings, strategies as st

from depthlaw.theory.formal_languages.automaton import words
from depthlaw.theory.formal_languages.formula_nets import of_formula
from depthlaw.theory.formal_languages.temporal_logic import depth, kinds, means, neither

FORMULAS = st.recursive(
    st.sampled_from(["a", "b", "1"]),
    lambda inner: st.one_of(
        inner.map(neither), st.tuples(st.sampled_from(["and", "or", "since"]), inner, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=30)
@given(FORMULAS, st.text("ab", max_size=7))
def test_network_agrees_with_the_definition_and_runs_a_layer_per_level(formula, word) -> None:
    net = of_formula(formula, "ab", "right")
    assert (net.answer(word), net.depth) == (means(formula, word), depth(formula))


@settings(max_examples=30)
@given(FORMULAS, st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_words_of_one_kind_satisfy_the_same_formulas(formula, first: str, second: str) -> None:
    if kinds(first, depth(formula)) == kinds(second, depth(formula)):
        assert means(formula, first) == means(formula, second)


def test_kinds_of_depth_one_are_what_all_formulas_of_depth_one_tell_apart() -> None:
    def subset(letters: str):
        return ("or", letters[0], subset(letters[1:])) if letters else neither("1")

    formulas = [("since", subset(x), subset(y)) for x, y in product(["", "a", "b", "ab"], repeat=2)]
    listed = list(words(5))
    by_formulas = {word: tuple(means(f, word) for f in formulas) for word in listed}
    by_kinds = {word: kinds(word, 1) for word in listed}
    for first, second in product(listed, repeat=2):
        assert (by_formulas[first] == by_formulas[second]) == (by_kinds[first] == by_kinds[second])
