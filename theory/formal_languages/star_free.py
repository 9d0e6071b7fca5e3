"""Periods of monoids: 1 exactly for the star-free languages, which are within reach of masked hard
attention without positions."""

from __future__ import annotations

from ..claims.definition import Case, Control, Exact, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from .automaton import counter, minimal, monoid_period
from .hard_attention import after_masked

period = quantity("monoid_period", "p", "period of the transition monoid of the minimal automaton")
modulus = quantity("modulus", "m", "modulus to which letters are counted; 1 where none are")

STARRED = (
    "(ab)*",
    "a*b*",
    "a*",
    "(a|b)*b",
    "a+b+a+",
    "(a|b)*aa(a|b)*",
    "(ab|ba)*",
    "(aab)*",
    "(a(ab)*b)*",
    "a+b+a+b+",
)


def modular(m: int) -> str:
    """The words over a, b whose number of a is divisible by m."""
    return "(b|" + "ab*" * m + ")*"


@claim(
    Eq(period, modulus),
    source=after_masked("abstract: hard attention recognises exactly the star-free languages"),
    cases={
        "quick": (
            *Case.grid(modulus=range(1, 8)),
            *(Case(expression=expression, modulus=1) for expression in STARRED),
        )
    },
    control=Control(
        Case(expression="(aba|b)*", modulus=1),
        "ab exchanges two states of its automaton, though nothing is counted in sight",
    ),
    supports="formal_languages/network",
)
def syntactic_period(case: Case) -> Exact:
    """Counting letters modulo $m$ gives period $m$, the listed languages 1.

    The words whose number of a is divisible by $m$ have a syntactic monoid of period $m$; so they
    are star-free, and within reach of masked hard attention without positions, only for $m = 1$.
    The listed languages that are written with a star, among them (ab)*, a*b*, (aab)*, (ab|ba)* and
    brackets nested to depth 2, have period 1: they are star-free.

    The period is found twice: in the monoid, and by a search for a word that permutes states of the
    minimal automaton. From the period to what attention can do lead two published theorems, which
    are not tested: Schuetzenberger's, and the source's. Six of the listed languages are compared
    with expressions without a star in a test.
    """
    expression = case.get("expression", modular(case.modulus))
    automaton = minimal(expression)
    exponent = monoid_period(automaton)
    if (exponent > 1) != (counter(automaton) is not None):
        raise AssertionError(f"the monoid and the search for counters disagree about {expression}")
    return Exact(exponent)
