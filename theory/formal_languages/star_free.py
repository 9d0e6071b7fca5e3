"""Star-free languages, within reach of masked hard attention without positions, and monoids."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from .automaton import (
    Expression,
    block_language,
    counter,
    minimal,
    monoid_period,
    star_free_language,
    words,
)
from .hard_attention import after_masked, blocks, wrong_words

period = quantity("monoid_period", "p", "period of the transition monoid of the minimal automaton")
modulus = quantity("modulus", "m", "modulus to which letters are counted")
level = quantity(
    "subsequence_level", "m", "length of subsequences that decide membership", "integer"
)

star_free = partial(
    claim,
    source=after_masked("abstract: hard attention recognises exactly the star-free languages"),
)


def _cat(first: Expression, *more: Expression) -> Expression:
    return ("cat", first, _cat(*more)) if more else first


ALL: Expression = ("not", "0")
EMPTY_WORD: Expression = ("not", ("or", _cat("a", ALL), _cat("b", ALL)))
STAR_FREE: dict[str, Expression] = {
    "(ab)*": (
        "or",
        EMPTY_WORD,
        (
            "and",
            ("and", _cat("a", ALL), _cat(ALL, "b")),
            ("not", ("or", _cat(ALL, "a", "a", ALL), _cat(ALL, "b", "b", ALL))),
        ),
    ),
    "a*b*": ("not", _cat(ALL, "b", ALL, "a", ALL)),
    "a*": ("not", _cat(ALL, "b", ALL)),
    "(a|b)*b": _cat(ALL, "b"),
    "a+b+a+": (
        "and",
        ("and", _cat("a", ALL, "b", ALL), _cat(ALL, "a")),
        ("not", _cat(ALL, "b", ALL, "a", ALL, "b", ALL)),
    ),
    "(a|b)*aa(a|b)*": _cat(ALL, "a", "a", ALL),
}


def _period(expression: str) -> Exact:
    """Period of the monoid; the search for counters must agree whether it is 1."""
    automaton = minimal(expression)
    found = monoid_period(automaton)
    if (found > 1) != (counter(automaton) is not None):
        raise AssertionError(f"the monoid and the search for counters disagree about {expression}")
    return Exact(found)


def modular(m: int) -> str:
    """The words over a, b whose number of a is divisible by m."""
    return "(b|" + "ab*" * m + ")*"


@star_free(
    Eq(period, modulus),
    cases={"quick": Case.grid(modulus=range(1, 8))},
    control=Control(Case(modulus=3), "period 2", statement=Eq(period, 2)),
    supports="formal_languages/network",
)
def modular_counting(case: Case) -> Exact:
    """Counting letters modulo m gives a monoid of period m.

    The words whose number of a is divisible by m have a syntactic monoid of period m; so they are
    star-free, and within reach of masked hard attention without positions, only for m = 1.

    The period is found twice: in the monoid, and by a search for a word that permutes states of the
    minimal automaton. From the period to what attention can do lead two published theorems, which
    are not tested: Schuetzenberger's, and the source's.
    """
    return _period(modular(case.modulus))


@star_free(
    Eq(period, 1),
    cases={
        "quick": [
            Case(expression=e) for e in (*STAR_FREE, "(ab|ba)*", "(aab)*", "(a(ab)*b)*", "a+b+a+b+")
        ]
    },
    control=Control(
        Case(expression="(aba|b)*"),
        "ab exchanges two states of its automaton, though nothing is counted in sight",
    ),
    supports="formal_languages/network",
)
def aperiodic(case: Case) -> Exact:
    """Languages with a star that are star-free.

    The listed regular languages, among them (ab)*, a*b*, (aab)*, (ab|ba)* and brackets nested to
    depth 2, have a syntactic monoid of period 1: they are star-free.
    """
    return _period(case.expression)


@star_free(
    Eq(wrong_words, 0),
    kind="construction",
    holds_for="exists",
    cases={"quick": [Case(expression=e, star_free=e) for e in STAR_FREE]},
    control=Control(
        Case(expression="(ab)*", star_free="a*b*"), "the expression of another language"
    ),
    supports="formal_languages/network",
)
def star_free_expressions(case: Case) -> Exact:
    """Expressions without star for starred languages.

    (ab)*, a*b*, a*, (a|b)*b, a+b+a+ and (a|b)*aa(a|b)* are denoted by expressions with complement,
    union, intersection and product but without star.

    Compared as minimal automata, so on all words; the words up to length 9 are counted as well.
    """
    first, second = minimal(case.expression), star_free_language(STAR_FREE[case.star_free])
    wrong = sum(first.accepts(word) != second.accepts(word) for word in words(9))
    if (first == second) != (wrong == 0):
        raise AssertionError(f"words and automata disagree about {case.expression}")
    return Exact(wrong)


@claim(
    Eq(level, blocks),
    source=Source("depthlaw", "docs/coverage/formal_languages.md"),
    cases={
        "quick": Case.grid(blocks=(1, 2, 3, 4), longest=7),
        "theory": (Case(blocks=5, longest=9),),
    },
    control=Control(Case(blocks=3, longest=7), "a level more", statement=Eq(level, blocks + 1)),
    supports="formal_languages/blocks_hard_attention",
)
def blocks_piecewise_testable(case: Case) -> Exact:
    """k blocks are piecewise testable of level k.

    For every k, whether a word has exactly k blocks beginning with a is determined by its
    subsequences of length up to k, and not by those up to k - 1.

    The alternation of k letters that begins with a occurs, the one that begins with b does not.
    Computed on all words up to the length, k <= 5 tried.
    """
    accepts = minimal(block_language(case.blocks)).accepts
    listed = [(word, accepts(word)) for word in words(case.longest)]
    for m in range(case.longest + 1):
        seen: dict[Any, bool] = {}
        parts = (
            frozenset(part for n in range(m + 1) for part in combinations(word, n))
            for word, _ in listed
        )
        if all(
            seen.setdefault(part, inside) == inside
            for part, (_, inside) in zip(parts, listed, strict=True)
        ):
            return Exact(m)
    return Exact(-1)
