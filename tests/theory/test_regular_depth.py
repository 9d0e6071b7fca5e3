"""Regular languages of a user's own: which depth, by brute force over words and other routes."""

from __future__ import annotations

import random
from functools import partial

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.formal_languages import regular_depth
from depthlaw.theory.formal_languages.automaton import (
    Automaton,
    block_language,
    counter,
    minimal,
    monoid_period,
    words,
)
from depthlaw.theory.formal_languages.fixed_precision import (
    LANGUAGES,
    largest_r_class,
    nested,
    past_formula,
    stair,
)
from depthlaw.theory.formal_languages.hard_attention import clash
from depthlaw.theory.formal_languages.regular_depth import (
    Least,
    Pumped,
    around_a_cycle,
    asked_of_depth,
    counted,
    deceived,
    formula_layers,
    least_layers,
    monoid,
    permuted,
    read_language,
    search,
    solvable,
)
from depthlaw.theory.formal_languages.star_free import STARRED, modular
from depthlaw.theory.formal_languages.temporal_logic import depth, kinds, leftmost_kinds


def drawn(seed: int) -> str:
    """A random expression over a, b."""
    rng = random.Random(seed)

    def expression(size: int) -> str:
        if size <= 1:
            return rng.choice("ab")
        if rng.random() < 0.35:
            return f"({expression(size - 1)})*"
        left = rng.randrange(1, size)
        sign = rng.choice(["", "", "|"])
        return f"({expression(left)}{sign}{expression(size - left)})"

    return expression(rng.randrange(2, 9))


AUTOMATA = [
    *(read_language(expression, alphabet) for expression, alphabet, _ in LANGUAGES.values()),
    *(read_language(expression, "ab") for expression in STARRED),
    *(read_language(drawn(seed), "ab") for seed in range(60)),
]


# --- does any depth do? ---


def test_the_decisions_are_those_of_other_routes() -> None:
    found = set()
    for automaton in AUTOMATA:
        elements = monoid(automaton)
        r_trivial = around_a_cycle(automaton) is None
        star_free = counted(automaton, elements) is None
        assert r_trivial == (largest_r_class(automaton) == 1)
        assert star_free == (counter(automaton) is None) == (monoid_period(automaton) == 1)
        found.add((r_trivial, star_free))
    # Every R-trivial language is star-free.
    assert found == {(True, True), (False, True), (False, False)}


def test_where_no_depth_does_the_words_deceive_every_depth_tried() -> None:
    seen = 0
    for automaton in AUTOMATA:
        if around := around_a_cycle(automaton):
            assert all(deceived(automaton, around, True, layers) for layers in range(4))
        if pumped := counted(automaton, monoid(automaton)):
            loop, step = pumped[0].loop, pumped[0].step
            assert loop == step * pumped[1]
            assert all(deceived(automaton, pumped[0], False, layers) for layers in range(4))
            seen += 1
    assert seen >= 5


def test_words_of_few_rounds_do_not_deceive_more_layers() -> None:
    automaton = minimal("(aa)*")
    once = Pumped("", "", "a", "")
    assert not deceived(automaton, once, False, 1)
    # Of (ab)* no number of rounds deceives two rightmost layers.
    assert not any(
        deceived(minimal("(ab)*"), Pumped("", "ab" * n, "a", ""), False, 2) for n in range(1, 6)
    )


def test_groups_in_the_monoid_are_solvable_or_not() -> None:
    def with_sink(automaton: Automaton) -> Automaton:
        n = automaton.states
        moves = tuple((*move, n) for move in automaton.moves)
        return Automaton("abc", (*moves, (n,) * (n + 1)), automaton.accepting)

    for n in range(2, 7):
        for automaton in (permuted(n), with_sink(permuted(n))):
            assert solvable(monoid(automaton)) == (n < 5)
    # A cycle of five states and one that merges two: no group but those of the cycle.
    cycled = Automaton("ab", ((1, 2, 3, 4, 0), (0, 0, 2, 3, 4)), frozenset([0]))
    assert solvable(monoid(cycled))
    assert len(monoid(cycled)) > 60


# --- how many layers ---

# Layers of leftmost and rightmost heads; None where no depth is enough.
KNOWN = {
    "a*b*": (2, 2),
    "(a|b)*aa(a|b)*": (None, 2),
    "(ab)*": (None, 2),
    "(a|b)*b": (None, 1),
    "a(a|b)*": (1, 2),
    "(a|b)*ab(a|b)*": (2, 2),
    "(aa)*": (None, None),
    modular(2): (None, None),
    nested(1): (None, 2),
    nested(2): (None, 3),
    nested(3): (None, 4),
    **{block_language(k): (k, k // 2 + 1) for k in range(1, 6)},
}


@pytest.mark.parametrize("expression", KNOWN)
def test_known_languages(expression) -> None:
    automaton = read_language(expression, "ab")
    asked = asked_of_depth(automaton, 3_000)
    for least, known in zip((asked.leftmost, asked.rightmost), KNOWN[expression], strict=True):
        assert (least and least.needed) == known
        assert least is None or least.enough in (known, None)


def test_stairs_over_three_letters() -> None:
    for k in range(1, 5):
        least = least_layers(read_language(stair(k)), False, 3_000)
        assert least.needed == k
        assert (around_a_cycle(read_language(stair(k))) is None) == (k == 1)


@pytest.mark.parametrize("leftmost", [True, False])
def test_a_search_finds_what_brute_force_over_words_finds(leftmost) -> None:
    seen = leftmost_kinds if leftmost else kinds
    listed = [word for word in words(8) if word]
    for automaton in (a for a in AUTOMATA if a.alphabet == "ab"):
        for layers in range(3):
            told = partial(seen, layers=layers)
            found = search(automaton, layers, leftmost)
            brute = clash(automaton.accepts, told, listed)
            if found.pair is None:
                assert brute is None
                continue
            assert seen(found.pair[0], layers) == seen(found.pair[1], layers)
            assert automaton.accepts(found.pair[0]) != automaton.accepts(found.pair[1])
            assert found.length == max(map(len, found.pair))
            # As short as can be.
            if found.length <= 8:
                assert brute is not None
                assert max(map(len, brute)) == found.length
                shorter = [word for word in listed if len(word) < found.length]
                assert clash(automaton.accepts, told, shorter) is None


def test_a_search_that_ends_early_says_nothing_of_longer_words() -> None:
    automaton = read_language(block_language(4))
    pair = ("abbaab", "abbaaba")
    assert search(automaton, 3, True) == (pair, 7)
    assert search(automaton, 3, True, most=50) == (None, 4)
    assert least_layers(automaton, True, most=50) == Least(3, ("abab", "ababa"), None, 4)


def test_letters_that_move_all_states_alike_are_one() -> None:
    """Of `contains ab` over five letters the search ends as over three."""
    many, few = (f"({letters})*ab({letters})*" for letters in ("a|b|c|d|e", "a|b|c"))
    for leftmost in (False, True):
        for most in (400, 30_000):
            found = least_layers(read_language(many), leftmost, most)
            assert found == least_layers(read_language(few), leftmost, most)
    # Without that more words of a length are to be searched.
    assert search(read_language(many), 2, False, 400).length == 3
    assert search(read_language(few), 2, False, 400).length == 5


def test_a_letter_in_front_of_all_words_changes_nothing() -> None:
    """So nets with a start token are meant by the bounds, too."""
    listed = [word for word in words(6) if word]
    for layers in range(4):
        for seen in (kinds, leftmost_kinds):
            for one, other in zip(listed, listed[7:], strict=False):
                same = seen(one, layers) == seen(other, layers)
                assert same == (seen("<" + one, layers) == seen("<" + other, layers))


def test_the_depth_of_a_formula_is_counted_without_it() -> None:
    for automaton in AUTOMATA:
        if around_a_cycle(automaton) is None and automaton.states < 9:
            formula = depth(past_formula(automaton))
            assert formula_layers(automaton) == formula
            least = least_layers(automaton, True, 2_000)
            assert least.needed <= (least.enough or formula) <= formula


@pytest.mark.parametrize("leftmost", [True, False])
@pytest.mark.parametrize("expression", ["a" * 21, "a+b+" * 6, "(ab)?c" * 4, "(a|b)*aba"])
def test_the_least_number_of_layers_is_that_of_a_search_one_by_one(expression, leftmost) -> None:
    automaton = read_language(expression)
    if leftmost and around_a_cycle(automaton):
        return
    pairs = [search(automaton, layers, leftmost, 600).pair for layers in range(40)]
    first = pairs.index(None)
    found = least_layers(automaton, leftmost, 600)
    # No pair comes back with more layers: what they tell apart, still more of them do.
    assert (found.needed, found.pair, set(pairs[first:])) == (first, pairs[first - 1], {None})


def test_hundreds_of_layers_are_found() -> None:
    found = [least_layers(read_language("a" * 150), leftmost) for leftmost in (True, False)]
    assert [(least.needed, least.enough) for least in found] == [(151, 151)] * 2


# --- reading ---


@pytest.mark.parametrize(
    ("expression", "alphabet", "says"),
    [
        ("(a", None, "cannot read '(a': it has unclosed parentheses; write letters and digits"),
        ("*a", None, "* cannot appear at the start of an expression"),
        ("a||b", None, "| cannot appear immediately before |"),
        ("a b", None, "cannot read ' ' in the expression"),
        ("a{9}", None, "cannot read '{' in the expression"),
        ("a$", None, "cannot read '$' in the expression"),
        ("", None, "the expression has no letter; name the alphabet"),
        ("(", None, "the expression has unclosed parentheses, and no letter; try (ab)*"),
        ("abc", "ab", "has the letter 'c', which the alphabet 'ab' lacks; try the alphabet abc"),
        ("ab", "aab", "write each letter or digit once"),
        ("ab", "ab,", "cannot read the alphabet 'ab,'"),
        ("(a|b)*a" + "(a|b)" * 12, None, "more than 1,000 states"),
        ("a" * 501, None, "has 501 characters; accepted are up to 500"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(expression, alphabet, says) -> None:
    with pytest.raises(UsageError) as error:
        read_language(expression, alphabet)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_monoid_that_is_too_large_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(regular_depth, "MOST_ELEMENTS", 5)
    with pytest.raises(UsageError, match="more than 5 elements"):
        asked_of_depth(minimal("(ab)*"))


def test_letters_are_those_of_the_expression_or_as_given() -> None:
    assert read_language("a*").accepting == {0}
    assert read_language("a*", "ab").states == 2
    # "1" is a letter here, and true in formulas.
    assert asked_of_depth(read_language("0*1*")).leftmost == (2, ("01", "010"), 2, None)
