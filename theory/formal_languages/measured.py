"""Formal languages measured: networks and formulas run on every word up to a length, monoids generated, kinds of words compared."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

from ..values import Case, Exact
from . import counting_logic
from .automaton import Expression, counter, minimal, monoid_period, star_free_language, words
from .temporal_logic import Formula, depth, every, kinds, means, neither, once, previous, rightmost, run

# Published whole-string accuracies on L_4 by depth, in percent.
ACCURACY_L4 = {1: "21.7", 2: "100"}


def block_language(k: int) -> str:
    """The regular expression a+ b+ a+ ... with k blocks.

    >>> block_language(3)
    'a+b+a+'
    """
    if k < 1:
        raise ValueError(f"a word of this family has at least one block, got {k}")
    return "".join(("a+", "b+")[i % 2] for i in range(k))


# --- hard attention -----------------------------------------------------------------------------------------------------------

def alternation(m: int, last: str) -> Formula:
    """An alternation of m letters, `last` being the last, ends at this position (at the first of its block, for m > 2).

    One `since` sees two changes of letter: the letter before differs, and this letter occurred earlier.
    """
    other = "b" if last == "a" else "a"
    if m == 1:
        return last
    if m == 2:
        return ("and", last, once(other))
    return every(last, previous(other), once(alternation(m - 2, last)))


def blocks_formula(k: int) -> Formula:
    """Exactly k blocks, beginning with a: an alternation of k letters begins with a and none begins with b. Depth floor(k / 2) + 1."""
    last, other = ("a", "b") if k % 2 else ("b", "a")
    return ("and", once(alternation(k, last)), neither(once(alternation(k, other))))


def at_least(k: int) -> Formula:
    """The word has at least k letters: `once` nested k times."""
    formula: Formula = "1"
    for _ in range(k):
        formula = once(formula)
    return formula


_REPEATS = ("or", ("and", "a", previous("a")), ("and", "b", previous("b")))
LANGUAGES: dict[str, tuple[str, Formula]] = {
    "ends in b": ("(a|b)*b", previous("b")),
    "begins with a": ("a(a|b)*", once(("and", "a", neither(once("1"))))),
    "contains ab": ("(a|b)*ab(a|b)*", once(("and", "b", previous("a")))),
    "sorted": ("a*b*", neither(once(("and", "a", once("b"))))),
    "alternating": ("(ab)*", every(neither(once(_REPEATS)), neither(once(("and", "b", neither(once("1"))))), neither(previous("a")))),
    "a, b, a in order": ("(a|b)*a(a|b)*b(a|b)*a(a|b)*", once(alternation(3, "a"))),
    "a, b, a, b in order": ("(a|b)*a(a|b)*b(a|b)*a(a|b)*b(a|b)*", once(alternation(4, "b"))),
}


def wrong_words(case: Case, seed: int, head: Callable[[list[int], list[int]], list[int]] = rightmost) -> Exact:
    """Words up to length 6 on which the network of a random formula differs from the formula, or runs another number of layers."""
    rng = case.rng(seed)

    def formula(layers: int) -> Formula:
        if layers == 0:
            return str(rng.choice(["a", "b", "1"]))
        deep, flat = formula(layers - 1), formula(int(rng.integers(0, layers)))
        pair = (deep, flat) if rng.integers(2) else (flat, deep)
        since = ("since", *(neither(x) if rng.integers(2) else x for x in pair))
        return ("and" if rng.integers(2) else "or", since, formula(int(rng.integers(0, layers + 1)) if layers < 2 else layers - 1))

    chosen = [formula(case.depth) for _ in range(case.formulas)]
    return Exact(sum(run(f, word, head) != (means(f, word), depth(f)) for f in chosen for word in words(6)))


def attention_layers(accepts: Callable[[str], bool], formula: Formula, longest: int) -> Exact:
    """The least number of layers for a language: the formula's network is right on every word, and below its depth two words look alike.

    Returns:
        The depth; -1 when the network is wrong on a word up to the length, or when no two words show that fewer layers fail.
    """
    listed = list(words(longest))
    layers = depth(formula)
    if any(run(formula, word) != (accepts(word), layers) for word in listed):
        return Exact(-1)
    return Exact(layers if layers == 0 or clash(accepts, layers - 1, listed) is not None else -1)


def clash(accepts: Callable[[str], bool], layers: int, listed: list[str]) -> tuple[str, str] | None:
    """Two words of which one is in the language and which no network of so many layers tells apart: a certificate of a lower bound."""
    seen: dict[Any, str] = {}
    for word in listed:
        other = seen.setdefault(kinds(word, layers), word)
        if accepts(other) != accepts(word):
            return other, word
    return None


def listed_layers(name: str, longest: int) -> Exact:
    """Least number of layers of a language of LANGUAGES."""
    expression, formula = LANGUAGES[name]
    return attention_layers(minimal(expression).accepts, formula, longest)


def block_layers(k: int, longest: int) -> Exact:
    """Least number of layers for k blocks."""
    return attention_layers(minimal(block_language(k)).accepts, blocks_formula(k), longest)


def length_layers(k: int) -> Exact:
    """Least number of layers for the words with at least k letters."""
    return attention_layers(partial(_at_least, k), at_least(k), k + 1)


def _at_least(k: int, word: str) -> bool:
    return len(word) >= k


def unary_kinds(layers: int, strict: bool = True) -> Exact:
    """How many of the words 1, a, aa, ... up to length 2 t + 3 a depth t tells apart."""
    return Exact(len({kinds("a" * n, layers, strict) for n in range(0 if strict else 1, 2 * layers + 4)}))


def stutter_pairs(layers: int, longest: int, strict: bool) -> Exact:
    """Pairs of a word and the same word with one letter doubled that a depth tells apart."""
    return Exact(sum(kinds(word, layers, strict) != kinds(word[:i] + word[i] + word[i:], layers, strict)
                     for word in words(longest) for i in range(len(word))))


# --- star-free languages ------------------------------------------------------------------------------------------------------

ALL: Expression = ("not", "0")


def _cat(first: Expression, *more: Expression) -> Expression:
    return ("cat", first, _cat(*more)) if more else first


EMPTY_WORD: Expression = ("not", ("or", _cat("a", ALL), _cat("b", ALL)))
STAR_FREE: dict[str, Expression] = {
    "(ab)*": ("or", EMPTY_WORD, ("and", ("and", _cat("a", ALL), _cat(ALL, "b")),
                                 ("not", ("or", _cat(ALL, "a", "a", ALL), _cat(ALL, "b", "b", ALL))))),
    "a*b*": ("not", _cat(ALL, "b", ALL, "a", ALL)),
    "a*": ("not", _cat(ALL, "b", ALL)),
    "(a|b)*b": _cat(ALL, "b"),
    "a+b+a+": ("and", ("and", _cat("a", ALL, "b", ALL), _cat(ALL, "a")), ("not", _cat(ALL, "b", ALL, "a", ALL, "b", ALL))),
    "(a|b)*aa(a|b)*": _cat(ALL, "a", "a", ALL),
}


def expression_period(expression: str) -> Exact:
    """Period of the transition monoid of the minimal automaton; the search for counters must agree whether it is 1."""
    automaton = minimal(expression)
    found = monoid_period(automaton)
    if (found > 1) != (counter(automaton) is not None):
        raise AssertionError(f"the monoid and the search for counters disagree about {expression}")
    return Exact(found)


def modular(modulus: int) -> str:
    """The words over a, b whose number of a is divisible by the modulus."""
    return "(b|" + "ab*" * modulus + ")*"


def star_free_difference(expression: str, star_free: str) -> Exact:
    """Words up to length 9 on which a regular expression and a star-free one differ; the automata must agree whether there are any.

    Args:
        expression: the regular expression.
        star_free: the key of the star-free one in STAR_FREE.
    """
    first, second = minimal(expression), star_free_language(STAR_FREE[star_free])
    wrong = sum(first.accepts(word) != second.accepts(word) for word in words(9))
    if (first == second) != (wrong == 0):
        raise AssertionError(f"words and automata disagree about {expression}")
    return Exact(wrong)


def subsequence_level(k: int, longest: int) -> Exact:
    """The least m such that membership in the language of k blocks depends on the subsequences of length up to m, on all listed words."""
    accepts = minimal(block_language(k)).accepts
    listed = [(word, accepts(word)) for word in words(longest)]
    for m in range(longest + 1):
        seen: dict[Any, bool] = {}
        if all(seen.setdefault(_subsequences(word, m), inside) == inside for word, inside in listed):
            return Exact(m)
    return Exact(-1)


def _subsequences(word: str, m: int) -> frozenset[tuple[str, ...]]:
    return frozenset(part for length in range(m + 1) for part in combinations(word, length))


# --- counting -----------------------------------------------------------------------------------------------------------------

def counting_depth(k: int, longest: int) -> Exact:
    """Depth of the counting formula for k blocks, or -1 when it is wrong on a non-empty word up to the length."""
    formula, accepts = counting_logic.blocks(k), minimal(block_language(k)).accepts
    right = all(counting_logic.truths(formula, word)[-1] == accepts(word) for word in words(longest) if word)
    return Exact(counting_logic.depth(formula) if right else -1)


def prediction_depth(k: int, longest: int, anywhere: bool = False) -> Exact:
    """Depth of the counting formula that says at each prefix of a word of L_k whether the prefix is in L_k, or -1 when it is wrong.

    Args:
        k, longest: blocks of L_k, and letters of the longest word.
        anywhere: take every word, not only those of L_k, on which the formula need not be right.
    """
    formula, accepts = counting_logic.in_block(k), minimal(block_language(k)).accepts
    for word in words(longest) if anywhere else filter(accepts, words(longest)):
        if counting_logic.truths(formula, word) != [accepts(word[:i + 1]) for i in range(len(word))]:
            return Exact(-1)
    return Exact(counting_logic.depth(formula))


def equal_counts(k: int, longest: int) -> Exact:
    """1 when two words with the same letter counts and the same last letter differ in membership, so that depth 1 fails; else 0."""
    accepts, seen = minimal(block_language(k)).accepts, dict[Any, bool]()
    return Exact(int(any(seen.setdefault((word.count("a"), word.count("b"), word[-1]), accepts(word)) != accepts(word)
                         for word in words(longest) if word)))


def perfect_depth() -> Exact:
    """The least depth with a published accuracy of 100 % on L_4."""
    return Exact(min(depth for depth, accuracy in ACCURACY_L4.items() if accuracy == "100"))
