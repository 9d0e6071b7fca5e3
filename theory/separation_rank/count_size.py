"""How large the dimension count S(d, L) is: its closed form, bounds, knee and slope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
from sympy import Expr, Integer, Min, Symbol, binomial, ceiling, expand, floor, log, symbols
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Step, claim
from ..claims.proof_steps import (
    equal,
    factorial_steps,
    hockey_stick_steps,
    logarithm_step,
    nonnegative,
)
from ..claims.relations import Within, between
from ..claims.symbols import quantity
from .dimension_count import dimension_count
from .rank_symbols import COUNT_PAGE, C, D, Eq, L, d

S = quantity("count", "S", "the dimension count $S(d_x, L)$, an upper bound on the separation rank")
knee_depth = quantity(
    "knee",
    "L_{knee}",
    "first depth at which $C(L)/2$ is at least the number $D$ of moments",
    "nonnegative integer",
)

MIDDLE = binomial(D + floor(C / 2), D)


def _count(case: Case) -> Exact:
    """S(d, L) by its closed form."""
    return Exact(dimension_count(case.width, case.depth))


_LEAST = log(MIDDLE, 3)
_MOST = (log((d + 1) * MIDDLE, 3), D * L, C * log(d + 1, 3))


@claim(
    between(_LEAST, log(S, 3), Min(*_MOST, evaluate=False)),
    source=COUNT_PAGE,
    cases={
        "quick": (
            *Case.grid(width=(1, 2, 3, 5, 6, 9, 20), depth=(1, 2, 3, 4)),
            *Case.grid(width=(1, 2, 5, 9), depth=(5, 8, 20, 30)),
        ),
        "theory": (
            *Case.grid(width=(4, 11, 40, 100), depth=(1, 2, 4, 5, 6, 7)),
            *Case.grid(width=(12, 20), depth=(7, 40, 90)),
            Case(width=30, depth=6),
            Case(width=100, depth=8),
        ),
    },
    control=Control(
        Case(width=20, depth=1), "$d$, not $d + 1$", between(_LEAST, log(S, 3), log(d * MIDDLE, 3))
    ),
    supports="separation_rank/knee",
    formal=Formal(
        "Counts.count_bounds_checked",
        "Counts.count_bounds_value {width} {depth}",
        r"The logarithms; that $\log_3 S$ is at most the line in $L$ with $e$ once $h \geq D$; "
        r"what a layer adds far beyond the knee. For $\operatorname{sep}$, "
        "SeparationRank.separation_rank_theorem_1 has the upper bound.",
        logarithm=True,
    ),
)
def count_bounds(case: Case) -> Exact:
    r"""The dimension count is one binomial coefficient up to $d + 1$.

    For every $d$ and $L$, with $h = \lfloor C/2 \rfloor$ and $D = d(d+1)/2$,
    $\binom{D+h}{D} \leq S(d, L) \leq (d + 1) \binom{D+h}{D}$, $S \leq 3^{D L}$, and
    $S \leq (d + 1)^C$, the upper bound of Theorem 1, as recalled, with $H$ replaced by 1. So
    $S \geq 2^h$ while $h \leq D$, which is doubly exponential in the depth, and
    $\log_3 S \leq D L + D \log_3(e/(d (d + 1))) + \log_3(d + 1)$ once $h \geq D$: linear in depth.

    With $\operatorname{sep} \leq S$ (separation_rank/dimension_count) it gives
    $\operatorname{sep} \leq (d + 1)^C \leq (d + H)^C$, the upper bound of Theorem 1, at every
    depth, for all weights and any number of heads. Far beyond the knee each layer adds $D$ to
    $\log_3 S$, to the nearest integer, at the sizes of a test: $S$ is a polynomial of degree $D$ in
    $3^L$ up to a factor $d + 1$. From which depth on it is so is not claimed.
    """
    return _count(case)


@count_bounds.argument(
    "Monotone terms, hockey sticks, the lengths of both sums and the chains to each bound are "
    r"checked for all sizes, for odd and even $C$; prose: $C - k \geq k$ for $k \leq C/2$, a sum "
    "of minima is at most any split of it, and a product of factors that are each bounded."
)
def _(statement: Relational) -> Iterator[Step]:
    """The sum is bounded by its first half from below, and by a split from above; what is left is
    to bound one binomial coefficient."""
    yield logarithm_step(statement, "count")
    low, high = statement.rhs if isinstance(statement, Within) else (statement.rhs, statement.rhs)
    yield Step("S is at least binom(D + floor(C/2), D)", _plain(low) == _plain(_LEAST))
    yield Step(
        "and at most the least of (d + 1) binom(D + floor(C/2), D), 3^(D L) and (d + 1)^C",
        isinstance(high, Min) and {*map(_plain, high.args)} == {*map(_plain, _MOST)},
    )
    # From below: for k <= C/2 both terms are at least binom(D+k-1, k), which add up.
    yield from _monotone_steps()
    yield from _upper_steps()
    yield from linear_steps()
    yield from _theorem_1_steps()
    yield from _growth_steps()


def _upper_steps() -> Iterator[Step]:
    """Splitting bounds the sum; at k = floor((C-1)/2) both sticks are at most floor(C/2) long."""
    yield from _split_steps()
    g, n = symbols("g D", integer=True, positive=True)
    shorter = sympy.gammasimp(
        (binomial(n + g, g) / binomial(n + g - 1, g - 1)).rewrite(sympy.gamma)
    )
    yield nonnegative(
        "C = 2g: binom(D+g-1, g-1) <= binom(D+g, g), the ratio being (D+g)/g",
        sympy.simplify(shorter - 1),
    )


def linear_steps() -> Iterator[Step]:
    """S <= (d+1) binom(D+h, D) <= (d+1) (h+1)^D <= (d+1) 2^-D 3^(D L) <= 3^(D L)."""
    yield from _upper_steps()
    i, h = symbols("i h", integer=True, nonnegative=True)
    yield nonnegative("(h+i)/i <= h + 1 for i >= 1", sympy.together(h + 1 - (h + i + 1) / (i + 1)))
    more = Symbol("t", nonnegative=True)
    yield nonnegative(
        "h + 1 <= C/2 + 1 = (3^L + 3)/4 <= 3^L/2, since 3^L = 3 + t",
        expand((3 + more) / 2 - ((3 + more) + 3) / 4),
    )
    yield equal("C/2 + 1 = (3^L + 3)/4", C / 2 + 1, (3**L + 3) / 4)
    yield Step(
        "d + 1 <= 2^d <= 2^D: equal at d = 1, and 2^d doubles while d + 1 grows by one",
        Integer(2) ** 1 == 1 + 1 and bool((2 * (d + 1) - (d + 2)).is_positive),
    )


def _theorem_1_steps() -> Iterator[Step]:
    """binom(D+h, h) has h factors (D+i)/i <= (d+1)^2; the rest is one or two factors d + 1."""
    i, n = Symbol("i", integer=True, nonnegative=True), Symbol("D", positive=True)
    # With i + 1 in place of i, so that i >= 0.
    yield nonnegative(
        "(D+i)/i <= D + 1 for i >= 1", sympy.together((n + 1) - (n + i + 1) / (i + 1))
    )
    yield nonnegative("D + 1 <= (d + 1)^2", (d + 1) ** 2 - (D + 1))
    yield equal("C = 2h+1: (d + 1) (d + 1)^(2h) = (d + 1)^C", 2 * i + 1, 1 + 2 * i)
    yield nonnegative("C = 2g: d + (D+g)/g <= d + D + 1 <= (d + 1)^2", (d + 1) ** 2 - (d + D + 1))


def _growth_steps() -> Iterator[Step]:
    """binom(D+h, h) = prod_{i<=h} (D+i)/i >= 2^h for h <= D; binom(D+h, D) <= (2 e h/D)^D for
    h >= D, with h <= C/2 < 3^L/4."""
    i, rest = symbols("i rest", integer=True, nonnegative=True)
    yield nonnegative(
        "h <= D: (D+i)/i is at least 2 for 1 <= i <= D",
        sympy.together((2 * (i + 1) + rest) / (i + 1) - 2),
    )
    yield from factorial_steps()
    n, more = symbols("n more", nonnegative=True)
    yield nonnegative("D + h <= 2 h when h >= D", 2 * (n + more) - (n + n + more))
    yield nonnegative("h <= C/2 <= 3^L/4", expand(3**L / 4 - C / 2))
    yield equal(
        "log_3 of (d+1) (2 e 3^L/(4 D))^D is the bound that is linear in depth",
        log(d + 1) + D * (1 + L * log(3) - log(d) - log(d + 1)),
        (D * L + D * log(sympy.E / (d * (d + 1)), 3) + log(d + 1, 3)) * log(3),
    )


@claim(
    Eq(knee_depth, ceiling(log(2 * d**2 + 2 * d + 1, 3))),
    source=COUNT_PAGE,
    kind="threshold",
    headline=r"Where the count's doubly exponential growth ends: near $2 \log_3(d_x)$, not "
    r"$\log_3(d_x)$.",
    cases={
        "quick": Case.grid(width=(1, 2, 3, 6, 11, 100, 1000)),
        "theory": Case.grid(width=(10**6, 10**12)),
    },
    control=Control(Case(width=1000), r"$\log_3 d$", Eq(knee_depth, ceiling(log(d, 3)))),
    cited=r"Decides whether advice on depth that rests on $S$ turns near $\log_3(d_x)$ or at twice "
    "that.",
    formal=Formal(
        "Counts.knee_checked",
        "Reach.layers_value (2 * {width} * {width} + 2 * {width} + 1)",
        "Nothing: the knee is the first depth at which C(L)/2 reaches D, as in the claim.",
    ),
)
def knee(case: Case) -> Exact:
    r"""The dimension count has its knee at depth $\lceil \log_3(2 d^2 + 2 d + 1) \rceil$.

    The first depth at which $C(L)/2 \geq D$ is $\lceil \log_3(2 d^2 + 2 d + 1) \rceil$, where
    $\log_3(2 d^2 + 2 d + 1) = 2 \log_3 d + \log_3 2 + \log_3(1 + 1/d + 1/(2
    d^2))$: about twice $\log_3 d$.

    The knee of this measure of expressivity; whether a task needs it is another question. At
    $d = 12288$ it is 18.
    """
    depth, degree = 0, 0
    while degree < case.width * (case.width + 1):
        depth, degree = depth + 1, 3 * degree + 1
    return Exact(depth)


@knee.argument(
    "$C/2 = D$ at the depth that is rounded up, and $C$ grows with $L$; prose: so the first "
    "whole depth is that one rounded up."
)
def _(statement: Relational) -> Iterator[Step]:
    """C/2 = D exactly at 3^L = 2 d^2 + 2 d + 1, and C grows with L."""
    rounds = isinstance(statement.rhs, ceiling)
    yield Step("the right side rounds a depth up", rounds)
    power = sympy.simplify(3 ** (statement.rhs.args[0] if rounds else Integer(0)))
    yield equal("at that depth C/2 = D", (power - 1) / 4, D)
    x = Symbol("x", real=True)
    yield Step("C grows strictly with L", bool(sympy.diff((3**x - 1) / 4, x).is_positive))


# --- steps that several arguments share -----------------------------------------------------------


def _plain(expression: Expr) -> Expr:
    """One spelling for the arguments of floors and binomials, so that equal ones are one tree."""

    def flat(n: Any, m: Any) -> Expr:
        return binomial(expand(n), expand(m), evaluate=False)

    return expression.replace(floor, lambda x: floor(expand(x))).replace(binomial, flat)


def _monotone_steps() -> Iterator[Step]:
    """binom(D+j-1, j) grows with j; so the first term of the minimum grows and the second falls."""
    j, n = symbols("j D", integer=True, positive=True)
    term = binomial(n + j - 1, j)
    ratio = sympy.simplify(sympy.gammasimp((term.subs(j, j + 1) / term).rewrite(sympy.gamma)))
    yield equal("binom(D+j, j+1) / binom(D+j-1, j) = (D+j)/(j+1)", ratio, (n + j) / (j + 1))
    yield nonnegative("which is at least 1, since D >= 1", (n + j) - (j + 1) - (n - 1), (n - 1))
    e = Symbol("e", integer=True, nonnegative=True)
    yield nonnegative("D >= d = 1 + e", expand((1 + e) * (2 + e) / 2 - (1 + e)))


def _split_steps() -> Iterator[Step]:
    """S <= sum_{k<=m} first terms + sum_{k>m} second terms, for m = floor((C-1)/2)."""
    yield from hockey_stick_steps()
    h = Symbol("h", integer=True, nonnegative=True)
    g = h + 1
    yield Step(
        "C = 2h+1, m = h: sums d binom(D+h, h) + binom(D+h, h), the second over orders 0, "
        "..., C-h-1 = h",
        expand((2 * h + 1) - h - 1 - h) == 0,
    )
    yield Step(
        "C = 2g, m = g-1: sums d binom(D+g-1, g-1) + binom(D+g, g), the second over orders "
        "0, ..., C-g = g",
        expand(2 * g - (g - 1) - 1 - g) == 0,
    )
