"""Depth of formal languages: certificates of lower bounds, expressions, claims one off."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

from depthlaw.theory.atlas.tasks import language_task
from depthlaw.theory.claims.values import Case
from depthlaw.theory.formal_languages import hard_attention, star_free
from depthlaw.theory.formal_languages.automaton import block_language, minimal, words
from depthlaw.theory.formal_languages.formula_nets import of_formula
from depthlaw.theory.formal_languages.temporal_logic import in_order, kinds, once
from depthlaw.theory.nets.json_format import changed


def test_a_clash_is_a_pair_that_the_depth_cannot_tell_apart() -> None:
    accepts, listed = minimal("a*b*").accepts, list(words(6))
    first, second = hard_attention.clash(accepts, lambda word: kinds(word, 1), listed) or ("", "")
    assert accepts(first) != accepts(second)
    assert kinds(first, 1) == kinds(second, 1)
    assert hard_attention.clash(accepts, lambda word: kinds(word, 2), listed) is None


def test_a_wrong_network_and_a_wasteful_one_are_not_certified() -> None:
    _, expression, right = hard_attention.LANGUAGES["ends in b"]
    one, two = in_order("1"), in_order("11")
    formulas = (one, ("and", right, one), ("and", right, ("or", two, ("not", two))))
    task = language_task(expression, "ab")
    found = [
        hard_attention.least_layers(of_formula(formula, "ab", "right"), task, 4).value
        for formula in formulas
    ]
    assert found == [-1, 1, -1]


def test_a_net_with_one_weight_changed_is_not_certified() -> None:
    net, task = hard_attention.blocks_net(Case(blocks=3)), language_task(block_language(3), "ab")
    assert hard_attention.least_layers(net, task, 5).value == 2
    wrong = changed(net, "layers", 1, "mlp", "bias", 0, to=1)
    assert hard_attention.least_layers(wrong, task, 5).value == -1
    # Heads to the left are of another class.
    left = of_formula(once("a"), "ab", "left")
    assert hard_attention.least_layers(left, language_task("b*a(a|b)*", "ab"), 5).value == -1


# A star-free expression: a letter, ("cat" | "or" | "and", x, y), ("not", x), or "0" for no word.
Expression = str | tuple[Any, ...]


def concatenation(first: Expression, *more: Expression) -> Expression:
    return ("cat", first, concatenation(*more)) if more else first


EVERY: Expression = ("not", "0")
EMPTY_WORD: Expression = ("not", ("or", ("cat", "a", EVERY), ("cat", "b", EVERY)))
REPEATED = (concatenation(EVERY, letter, letter, EVERY) for letter in "ab")
STAR_FREE: dict[str, Expression] = {
    "(ab)*": (
        "or",
        EMPTY_WORD,
        ("and", ("and", ("cat", "a", EVERY), ("cat", EVERY, "b")), ("not", ("or", *REPEATED))),
    ),
    "a*b*": ("not", concatenation(EVERY, "b", EVERY, "a", EVERY)),
    "a*": ("not", concatenation(EVERY, "b", EVERY)),
    "(a|b)*b": ("cat", EVERY, "b"),
    "a+b+a+": (
        "and",
        ("and", concatenation("a", EVERY, "b", EVERY), ("cat", EVERY, "a")),
        ("not", concatenation(EVERY, "b", EVERY, "a", EVERY, "b", EVERY)),
    ),
    "(a|b)*aa(a|b)*": concatenation(EVERY, "a", "a", EVERY),
}


def language(node: Expression) -> DFA:
    if isinstance(node, str):
        return DFA.from_finite_language(set("ab"), {node} - {"0"})
    first, *rest = (language(part) for part in node[1:])
    if node[0] == "not":
        return first.complement()
    if node[0] == "cat":
        both = NFA.from_dfa(first).concatenate(NFA.from_dfa(rest[0]))
        return DFA.from_nfa(both, minify=True)
    return first.union(rest[0]) if node[0] == "or" else first.intersection(rest[0])


@pytest.mark.parametrize("starred", STAR_FREE)
def test_expressions_without_star_denote_starred_languages(starred: str) -> None:
    """On all words."""
    assert starred in star_free.STARRED
    found = language(STAR_FREE[starred])
    same = [
        found == DFA.from_nfa(NFA.from_regex(other, input_symbols=set("ab")))
        for other in (starred, "b*a*")
    ]
    assert same == [True, False]


@pytest.mark.parametrize(("blocks", "longest"), [(1, 7), (2, 7), (3, 7), (4, 7), (5, 9)])
def test_k_blocks_are_piecewise_testable_of_level_k(blocks: int, longest: int) -> None:
    """Subsequences of up to k letters tell a word of exactly k blocks from all others; those of up
    to k - 1 do not."""
    accepts = minimal(block_language(blocks)).accepts

    def decided_by(level: int) -> bool:
        seen: dict[frozenset[tuple[str, ...]], bool] = {}
        return all(
            seen.setdefault(
                frozenset(part for n in range(level + 1) for part in combinations(word, n)),
                accepts(word),
            )
            == accepts(word)
            for word in words(longest)
        )

    assert [decided_by(level) for level in (blocks - 1, blocks)] == [False, True]
