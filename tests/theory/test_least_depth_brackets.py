"""Nested brackets, k-grams and partially ordered automata: independent routes."""

from __future__ import annotations

import random
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any

import pytest

from depthlaw.theory.atlas.tasks import language_task
from depthlaw.theory.claims.values import Case
from depthlaw.theory.formal_languages import fixed_precision
from depthlaw.theory.formal_languages.automaton import (
    Automaton,
    block_language,
    cycle,
    minimal,
    words,
)
from depthlaw.theory.formal_languages.formula_nets import of_formula
from depthlaw.theory.formal_languages.temporal_logic import (
    depth,
    kinds,
    kinds_both_ways,
    leftmost_kinds,
    means,
)
from depthlaw.theory.least_depth import brackets, markov_order
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.right import right_on


def erased(word: str) -> str:
    """What stays when matching neighbours are crossed out as often as there are any."""
    shorter = re.sub(r"\(\)|\[\]|\{\}", "", word)
    return word if shorter == word else erased(shorter)


def grown(rng: random.Random) -> str:
    """Brackets put into one another seven times; of every other word one letter is drawn anew."""
    word = ""
    for _ in range(7):
        place = rng.randint(0, len(word))
        word = word[:place] + rng.choice(("()", "[]")) + word[place:]
    place = rng.randrange(2 * len(word))
    return word[:place] + rng.choice("([)]") + word[place + 1 :] if place < len(word) else word


@pytest.mark.parametrize("deepest", [1, 2, 3, 4])
def test_the_network_accepts_what_can_be_crossed_out(deepest: int) -> None:
    """All words of up to five letters, and longer ones that are nested, or are but for a letter."""
    net = brackets.brackets_net(Case(bracket_types=2, nesting=deepest))
    rng, seen = random.Random(deepest), Counter[Any]()
    listed = [word for length in range(6) for word in product("([)]", repeat=length)]
    for letters, answer in answers(net, [*listed, *(tuple(grown(rng)) for _ in range(400))]):
        word = "".join(letters)
        heights = [sum(1 if c in "([" else -1 for c in word[: i + 1]) for i in range(len(word))]
        assert answer == (erased(word) == "" and max(heights, default=0) <= deepest)
        seen[bool(answer), len(word) > 5] += 1
    assert net.depth == deepest + 1
    assert len(seen) == 4
    assert min(seen.values()) > 5


def test_the_pair_is_told_apart_by_the_last_layer_only() -> None:
    assert [brackets.alike(deepest, deepest) for deepest in range(1, 13)] == [True] * 12
    assert [brackets.alike(deepest, deepest + 1) for deepest in range(1, 13)] == [False] * 12


@pytest.mark.parametrize("deepest", [1, 2, 3])
def test_looking_both_ways_the_pair_is_told_apart_by_the_last_layer_only(deepest: int) -> None:
    told = [not brackets.alike_both_ways(deepest, 2, layers) for layers in range(deepest + 3)]
    assert told == [False] * (deepest + 1) + [True] * 2


def test_too_few_copies_and_the_words_for_one_way_are_told_apart_a_layer_earlier() -> None:
    assert [brackets.alike_both_ways(deepest, 1, deepest) for deepest in (1, 2, 3)] == [1, 0, 0]
    for deepest in (2, 3, 4):
        closing = ")" * deepest
        one, other = "(" * deepest + closing, "(" * (deepest + 1) + closing
        assert kinds(one, deepest) == kinds(other, deepest)
        assert kinds_both_ways(one, deepest) != kinds_both_ways(other, deepest)


def test_both_ways_tell_apart_what_one_way_does_and_more() -> None:
    listed = list(words(6))
    one_way, both = ({w: see(w, 2) for w in listed} for see in (kinds, kinds_both_ways))
    assert len(set(one_way.values())) < len(set(both.values()))
    assert len({(one_way[w], both[w]) for w in listed}) == len(set(both.values()))
    # In one layer the end sees what leftmost and rightmost heads see of the past together.
    left = leftmost_kinds
    pairs = {(kinds(w, 1), left(w, 1), kinds_both_ways(w, 1)) for w in listed}
    assert len(pairs) == len({(a, b) for a, b, _ in pairs}) == len({c for *_, c in pairs})


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5])
def test_both_ways_tell_a_power_apart_from_one_letter_more_up_to_an_odd_length(layers: int) -> None:
    for see, most in ((kinds_both_ways, 2 * layers - 1), (kinds, layers)):
        told = [see("a" * n, layers) != see("a" * (n + 1), layers) for n in range(3 * layers + 3)]
        assert told == [n < most for n in range(len(told))]


@pytest.mark.parametrize("k", range(1, 10))
def test_letters_are_counted_from_both_sides_at_lengths_beyond_the_claims(k: int) -> None:
    rng, formula = random.Random(k), brackets.from_both_sides(k)
    for _ in range(100):
        word = "".join(rng.choices("ab", k=rng.randrange(3 * k + 3)))
        assert means(formula, word) == (word.count("a") >= k)
    # One letter a too few, wherever others stand.
    spread = "b".join("a" * (k - 1))
    assert not means(formula, spread)
    assert means(formula, spread + "ba")
    assert depth(formula) == k // 2 + 1


def blocks_of_two(k: int) -> str:
    return "".join(letter * 2 for letter, _ in zip("ab" * k, range(k), strict=False))


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_both_ways_tell_blocks_apart_up_to_four_for_each_layer_above_one(layers: int) -> None:
    """Of one letter each one block more; heads that look back tell half as many apart."""
    for see, word, most in (
        (kinds_both_ways, blocks_of_two, 4 * (layers - 1)),
        (kinds_both_ways, lambda k: ("ab" * k)[:k], 4 * (layers - 1) + 1),
        (kinds, blocks_of_two, 2 * layers - 1),
    ):
        told = [see(word(k), layers) != see(word(k + 2), layers) for k in range(most + 4)]
        assert told == [k <= most for k in range(most + 4)]


@pytest.mark.parametrize("k", range(2, 14))
def test_blocks_are_counted_from_both_sides_at_lengths_beyond_the_claims(k: int) -> None:
    rng, answers, formula = random.Random(k), set(), brackets.blocks_from_both_sides(k)
    assert depth(formula) == (k + 3) // 4 + 1
    for _ in range(60):
        sizes = [rng.randint(1, 4) for _ in range(max(1, k + rng.randint(-2, 2)))]
        start = rng.randrange(2)
        word = "".join("ab"[(start + i) % 2] * size for i, size in enumerate(sizes))
        wanted = start == 0 and len(sizes) == k
        assert means(formula, word) == wanted
        answers.add(wanted)
    assert answers == {False, True}


# --- which languages some depth does at fixed precision ---


def test_both_routes_agree_on_every_automaton_of_three_states() -> None:
    accepting = frozenset({0})
    agreed = {True: 0, False: 0}
    for moves in product(product(range(3), repeat=3), repeat=2):
        automaton = Automaton("ab", moves, accepting)
        ordered = cycle(automaton) is None
        assert ordered == (fixed_precision.largest_r_class(automaton) == 1)
        agreed[ordered] += 1
    assert min(agreed.values()) > 50


def equation_holds(automaton: Automaton) -> bool:
    """(x y)^w x = (x y)^w for all x, y of the monoid, another definition of R-trivial."""
    from depthlaw.theory.formal_languages.automaton import images

    monoid = list(images(automaton, tuple(range(automaton.states))))

    def times(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(y[state] for state in x)

    for x, y in product(monoid, repeat=2):
        power = xy = times(x, y)
        while times(power, power) != power:
            power = times(power, xy)
        if times(power, x) != power:
            return False
    return True


@pytest.mark.parametrize("language", [*fixed_precision.LANGUAGES])
def test_the_equation_of_r_trivial_monoids_decides_the_same(language: str) -> None:
    expression, alphabet, size = fixed_precision.LANGUAGES[language]
    automaton = minimal(expression, alphabet)
    assert equation_holds(automaton) == (size == 1) == (cycle(automaton) is None)


@pytest.mark.parametrize("expression", ["a*b*", "a(a|b)*", block_language(3)])
def test_the_formula_of_an_automaton_means_its_language(expression: str) -> None:
    automaton = minimal(expression)
    formula = fixed_precision.past_formula(automaton)
    assert all(means(formula, word) == automaton.accepts(word) for word in words(6))
    net = of_formula(formula, "ab", "left")
    assert right_on(net, language_task(expression, "ab")).every_length
    assert not right_on(net, language_task("(ab)*", "ab"))


def test_with_a_cycle_there_is_no_formula() -> None:
    with pytest.raises(ValueError, match="partially ordered"):
        fixed_precision.past_formula(minimal("(ab)*"))


# --- k-grams ---


def code_gram(word: tuple[int, ...], k: int) -> tuple[int, int]:
    """What followed, by regular expressions that may overlap."""
    text = "".join(map(str, word))
    context = text[len(text) - k :]
    found = re.findall(f"(?={context}(.))", text)
    return found.count("0"), found.count("1")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_network_predicts_what_followed(k: int) -> None:
    for word in product((0, 1), repeat=k + 5):
        zeros, ones = code_gram(word, k)
        if zeros + ones:
            found, layers = markov_order.network(word, k, 2)
            assert (found[0], layers) == (Fraction(zeros, zeros + ones), 2)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_four_words_contradict_each_other_for_every_order(k: int, more: int) -> None:
    four = markov_order.signed_words(k, 2, 3 * k + 3 + more)
    assert markov_order.contradicts(four, k, 1)
    assert not markov_order.contradicts(four, k, 2)
    signs = [1 if zeros > ones else -1 for zeros, ones in (code_gram(w, k) for _, w in four)]
    assert signs == [sign for sign, _ in four]
    for position in zip(*(word for _, word in four), strict=True):
        assert sum(position[:2]) == sum(position[2:])


@pytest.mark.parametrize(("k", "heads"), [(1, 1), (2, 1), (2, 2), (3, 3), (4, 2)])
def test_words_of_the_cube_deceive_as_many_heads_as_symbols_count(k: int, heads: int) -> None:
    """Every product of that many functions of one position has signed sum 0."""
    signed = markov_order.signed_words(k, 3, 2**k * (k + 1) + k + 2)
    rng = random.Random(k)
    for _ in range(50):
        reads = [
            (rng.randrange(len(signed[0][1])), [rng.randrange(-9, 10) for _ in range(3)])
            for _ in range(heads)
        ]
        assert sum(s * prod(f[w[i]] for i, f in reads) for s, w in signed) == 0
    for sign, word in signed:
        context = "".join(map(str, word)).split("0" * k)
        # One window of zeros, and what follows it; the other is the end of the word.
        assert len(context) == 3
        assert context[1][0] == ("1" if sign > 0 else "2")


def test_a_word_of_the_cube_with_another_sign_is_noticed() -> None:
    (sign, word), *others = markov_order.signed_words(2, 3, 14)
    assert not markov_order.contradicts([(-sign, word), *others], 2, 2)
    assert not markov_order.contradicts(others, 2, 2)


def test_shorter_words_that_end_alike_do_not_contradict_in_pairs() -> None:
    """At length 5, k = 1, no four words of two symbols do."""
    sides: dict[bool, set[tuple[int, ...]]] = {True: set(), False: set()}
    of: dict[bool, list[tuple[int, ...]]] = {True: [], False: []}
    for head in product((0, 1), repeat=4):
        zeros, ones = code_gram((*head, 0), 1)
        if zeros != ones:
            of[zeros > ones].append(head)
    for side, listed in of.items():
        for pair in combinations_with_replacement(listed, 2):
            sides[side].add(tuple(map(sum, zip(*pair, strict=True))))
    assert not sides[True] & sides[False]
