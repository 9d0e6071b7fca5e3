"""How large the dimension count S(d, L) is: its closed form, bounds, knee and slope."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from sympy import (
    E,
    Expr,
    Integer,
    Max,
    Min,
    Sum,
    Symbol,
    binomial,
    ceiling,
    diff,
    expand,
    floor,
    gamma,
    gammasimp,
    log,
    simplify,
    symbols,
    together,
)
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Step, claim
from ..claims.proof_steps import (
    equal,
    factorial_steps,
    hockey_stick_steps,
    logarithm_step,
    nonnegative,
)
from ..claims.symbols import quantity
from .dimension_count import dimension_count, log3_dimension_count, moments_degree
from .rank_symbols import COUNT_PAGE, C, D, Eq, Ge, L, Le, d, dimension_sum, k

S = quantity("count", "S", "the dimension count S(d_x, L), an upper bound on the separation rank")
knee_depth = quantity(
    "knee",
    "L_{knee}",
    "first depth at which C(L)/2 is at least the number D of moments",
    "nonnegative integer",
)
slope = quantity(
    "late_slope",
    r"\Delta\log_3 S",
    "growth of log_3 S from depth L to L + 1, to the nearest integer",
    "nonnegative integer",
)

MIDDLE = binomial(D + floor(C / 2), D)

_on_the_page = partial(claim, source=COUNT_PAGE)
_SPLIT = (
    "Hockey sticks and the lengths of both sums are checked for all sizes, for odd and even "
    "C; prose: a sum of minima is at most any split of it."
)


def _count(case: Case) -> Exact:
    """S(d, L) by its closed form."""
    return Exact(dimension_count(case.width, case.depth))


@_on_the_page(
    Eq(S, dimension_sum()),
    cases={
        "quick": Case.grid(width=(1, 2, 3, 5), depth=(1, 2, 3)),
        "theory": Case.grid(width=(2, 4, 7, 12), depth=(4, 5)),
    },
    control=Control(
        Case(width=2, depth=2), "max in place of min", statement=Eq(S, dimension_sum(Max))
    ),
    supports="separation_rank/dimension_count",
)
def count_closed_form(case: Case) -> Exact:
    """The dimension count is two hockey sticks.

    For every d and L, S(d, L) = sum_k min(d binom(D+k-1, k), binom(D+C-k-1, C-k)) equals
    d binom(D+m, m) + binom(D+C-m-1, C-m-1), with m the last k at which the first term is not the
    larger one.

    Measured is the closed form, by binary search for m; predicted is the sum.
    """
    return _count(case)


@count_closed_form.argument(
    "Monotone terms and hockey sticks are checked for all sizes; prose: that the terms therefore "
    "cross once."
)
def _(statement: Relational) -> Iterator[Step]:
    """The first term grows, the second falls, the first is smaller at k = 0: one crossing."""
    total = statement.rhs
    terms = {d * binomial(D + k - 1, k), binomial(D + C - k - 1, C - k)}
    minimum = isinstance(total, Sum) and isinstance(total.function, Min)
    named = set(total.function.args) if minimum else set()
    yield Step(
        "S sums min(d binom(D+k-1, k), binom(D+C-k-1, C-k)) over k = 0, ..., C",
        minimum
        and len(named) == 2
        and {_plain(t) for t in named} == {*map(_plain, terms)}
        and total.limits[0][:2] == (k, 0)
        and expand(total.limits[0][2] - C) == 0,
    )
    yield from _monotone_steps()
    yield equal(
        "at k = 0 the terms are d and binom(D+C-1, C), which is at least its value D >= d at C = 1",
        binomial(D + 1 - 1, 1) - d,
        d * (d - 1) / 2,
    )
    yield from hockey_stick_steps()


_SIZES = {
    "quick": Case.grid(width=(1, 2, 3, 6, 20), depth=(1, 2, 3, 4)),
    "theory": Case.grid(width=(4, 11, 40, 100), depth=(1, 2, 5, 6, 7)),
}


@_on_the_page(
    Ge(S, MIDDLE),
    cases=_SIZES,
    control=Control(
        Case(width=2, depth=2),
        "the whole of C in place of half",
        statement=Ge(S, binomial(D + C, D)),
    ),
    supports="separation_rank/knee",
)
def count_lower(case: Case) -> Exact:
    """Lower bound on the dimension count.

    For every d and L, S(d, L) >= binom(D + floor(C/2), D).
    """
    return _count(case)


@count_lower.argument(
    "Monotone terms and hockey sticks are checked for all sizes; prose: C - k >= k for k <= C/2, "
    "term by term."
)
def _lower_steps(statement: Relational) -> Iterator[Step]:
    """For k <= C/2 both terms are at least binom(D+k-1, k); these add up to the right side."""
    yield Step(
        "the right side is binom(D + floor(C/2), D)", _plain(statement.rhs) == _plain(MIDDLE)
    )
    yield from _monotone_steps()
    yield from hockey_stick_steps()


@_on_the_page(
    Le(S, (d + 1) * MIDDLE),
    cases=_SIZES,
    control=Control(Case(width=1, depth=1), "without the factor", statement=Le(S, MIDDLE)),
    supports="separation_rank/knee",
)
def count_upper(case: Case) -> Exact:
    """The dimension count up to a factor d + 1.

    For every d and L, S(d, L) <= (d + 1) binom(D + floor(C/2), D), so the binomial coefficient is S
    up to a factor d + 1.
    """
    return _count(case)


@count_upper.argument(_SPLIT)
def _upper_steps(statement: Relational) -> Iterator[Step]:
    """Splitting bounds the sum; at k = floor((C-1)/2) both sticks are at most floor(C/2) long."""
    factor, rest = _plain(statement.rhs).as_independent(floor, as_Add=False)
    yield Step(
        "the right side is (d + 1) binom(D + floor(C/2), D)",
        rest == _plain(MIDDLE) and expand(factor - (d + 1)) == 0,
    )
    yield from _split_steps()
    g, n = symbols("g D", integer=True, positive=True)
    shorter = gammasimp((binomial(n + g, g) / binomial(n + g - 1, g - 1)).rewrite(gamma))
    yield nonnegative(
        "C = 2g: binom(D+g-1, g-1) <= binom(D+g, g), the ratio being (D+g)/g", simplify(shorter - 1)
    )


@_on_the_page(
    Le(S, (d + 1) ** C),
    cases={
        "quick": Case.grid(width=(1, 2, 3, 6, 20), depth=(1, 2, 3)),
        "theory": Case.grid(width=(4, 11, 40), depth=(4, 5)),
    },
    control=Control(Case(width=3, depth=1), "d in place of d + 1", statement=Le(S, d**C)),
    supports="separation_rank/dimension_count",
)
def count_below_theorem_1(case: Case) -> Exact:
    """The count implies the upper bound of Theorem 1.

    For every d and L, S(d, L) <= (d + 1)^C(L), which is the upper bound of Theorem 1, as recalled,
    with H replaced by 1.

    With sep <= S (separation_rank/dimension_count) it gives sep <= (d + 1)^C <= (d + H)^C, the
    upper bound of Theorem 1, at every depth, for all weights and any number of heads.
    """
    return _count(case)


@count_below_theorem_1.argument(
    _SPLIT + " The factors of the binomial are compared one by one, for all sizes."
)
def _(statement: Relational) -> Iterator[Step]:
    """binom(D+h, h) has h factors (D+i)/i <= (d+1)^2; the rest is one or two factors d + 1."""
    base, exponent = statement.rhs.as_base_exp()
    yield Step(
        "the right side is (d + 1)^C", expand(base - (d + 1)) == 0 and expand(exponent - C) == 0
    )
    yield from _split_steps()
    i, n = Symbol("i", integer=True, nonnegative=True), Symbol("D", positive=True)
    # With i + 1 in place of i, so that i >= 0.
    yield nonnegative("(D+i)/i <= D + 1 for i >= 1", together((n + 1) - (n + i + 1) / (i + 1)))
    yield nonnegative("D + 1 <= (d + 1)^2", (d + 1) ** 2 - (D + 1))
    yield equal("C = 2h+1: (d + 1) (d + 1)^(2h) = (d + 1)^C", 2 * i + 1, 1 + 2 * i)
    yield nonnegative("C = 2g: d + (D+g)/g <= d + D + 1 <= (d + 1)^2", (d + 1) ** 2 - (d + D + 1))


def _beyond_knee(case: Case) -> int:
    """floor(C/2) - D."""
    return moments_degree(case.depth) // 2 - case.width * (case.width + 1) // 2


@_on_the_page(
    Ge(S, 2 ** floor(C / 2)),
    assumes={"floor(C/2) <= D": lambda c: _beyond_knee(c) <= 0},
    cases={
        "quick": (
            *Case.grid(width=(1, 2, 5, 9), depth=1),
            *Case.grid(width=(2, 5, 9), depth=2),
            *Case.grid(width=(5, 9), depth=3),
            Case(width=9, depth=4),
        ),
        "theory": (*Case.grid(width=(30, 100), depth=6), *Case.grid(width=100, depth=(7, 8))),
    },
    control=Control(
        Case(width=1, depth=1), "four times as much", statement=Ge(S, 4 * 2 ** floor(C / 2))
    ),
    supports="separation_rank/knee",
)
def growth_before_knee(case: Case) -> Exact:
    """Doubly exponential growth before the knee.

    While floor(C(L)/2) <= D, S(d, L) >= 2^floor(C(L)/2), which is doubly exponential in the depth.
    """
    return _count(case)


@growth_before_knee.argument(
    "The lower bound of count_lower, whose steps are repeated, and each factor of the binomial, "
    "for all sizes; prose: their product."
)
def _(statement: Relational) -> Iterator[Step]:
    """binom(D+h, h) = prod_{i<=h} (D+i)/i, and every factor is at least 2 when h <= D."""
    base, exponent = _plain(statement.rhs).as_base_exp()
    i, rest = symbols("i rest", integer=True, nonnegative=True)
    yield Step(
        "the exponent on the right is floor(C/2)", expand(exponent - _plain(floor(C / 2))) == 0
    )
    yield nonnegative(
        "(D+i)/i is at least the base for 1 <= i <= D",
        together((2 * (i + 1) + rest) / (i + 1) - base),
    )
    yield Step("and the base is the largest such number", base == 2)
    yield from _lower_steps(count_lower.statement)


@_on_the_page(
    Le(log(S, 3), D * L + D * log(E / (d * (d + 1)), 3) + log(d + 1, 3)),
    assumes={"floor(C/2) >= D": lambda c: _beyond_knee(c) >= 0},
    cases={
        "quick": (
            *Case.grid(width=(1, 2), depth=(3, 5, 20)),
            *Case.grid(width=(5, 9), depth=(5, 8, 20)),
        ),
        "theory": Case.grid(width=(12, 20), depth=(7, 40, 90)),
    },
    control=Control(
        Case(width=1, depth=3),
        "a ninth of the bound",
        statement=Le(log(S, 3), D * L + D * log(E / (d * (d + 1)), 3) + log(d + 1, 3) - 2),
    ),
    supports="separation_rank/knee",
)
def growth_after_knee(case: Case) -> Exact:
    """Slope d(d+1)/2 after the knee.

    Once floor(C(L)/2) >= D, log_3 S(d, L) <= D L + D log_3(e / (d (d + 1))) + log_3(d + 1): linear
    in depth.
    """
    return _count(case)


@growth_after_knee.argument(
    _SPLIT + " The chain from there to the right side is checked inequality by inequality."
)
def _(statement: Relational) -> Iterator[Step]:
    """S <= (d+1) binom(D+h, D) <= (d+1) (2 e h/D)^D, with h <= C/2 < 3^L/4."""
    yield logarithm_step(statement, "count")
    yield from _upper_steps(count_upper.statement)
    yield from factorial_steps()
    n, rest = symbols("n rest", nonnegative=True)
    yield nonnegative("D + h <= 2 h when h >= D", 2 * (n + rest) - (n + n + rest))
    yield nonnegative("h <= C/2 <= 3^L/4", expand(3**L / 4 - C / 2))
    yield equal(
        "log_3 of (d+1) (2 e 3^L/(4 D))^D is the right side",
        log(d + 1) + D * (1 + L * log(3) - log(d) - log(d + 1)),
        statement.rhs * log(3),
    )


@_on_the_page(
    Le(S, 3 ** (D * L)),
    cases={"quick": Case.grid(width=(1, 2, 5), depth=(1, 2, 5, 30))},
    control=Control(Case(width=1, depth=1), "half of the bound", statement=Le(S, 3 ** (D * L) / 2)),
    supports="separation_rank/knee",
)
def count_linear(case: Case) -> Exact:
    """The count never exceeds 3^(D L).

    For every d and L, S(d, L) <= 3^(D L) with D = d(d+1)/2.
    """
    return _count(case)


@count_linear.argument(
    _SPLIT + " The chain from there to 3^(D L) is checked inequality by inequality."
)
def linear_steps(statement: Relational) -> Iterator[Step]:
    """S <= (d+1) binom(D+h, D) <= (d+1) (h+1)^D <= (d+1) 2^-D 3^(D L) <= 3^(D L)."""
    yield equal("log_3 of the right side is D L", log(statement.rhs), D * L * log(3))
    yield from _upper_steps(count_upper.statement)
    i, h = symbols("i h", integer=True, nonnegative=True)
    yield nonnegative("(h+i)/i <= h + 1 for i >= 1", together(h + 1 - (h + i + 1) / (i + 1)))
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


@_on_the_page(
    Eq(slope, D),
    kind="rate",
    cases={
        "quick": Case.grid(width=(1, 2, 3, 6, 10), depth=(40, 100)),
        "theory": Case.grid(width=(30, 100), depth=(60, 200)),
    },
    control=Control(
        Case(width=6, depth=40), "2 d, the slope of Theorem 2", statement=Eq(slope, 2 * d)
    ),
    supports="separation_rank/knee",
)
def late_slope(case: Case) -> Exact:
    """Late slope of the dimension count.

    Far beyond the knee each layer adds D = d(d+1)/2 to log_3 S(d, L), to the nearest integer, in
    every case measured.

    The reason: by count_lower and count_upper, S is binom(D + floor(C/2), D) up to a factor d + 1,
    a polynomial of degree D in 3^L. From which depth on it is so is not claimed.
    """
    low, high = log3_dimension_count(case.width, case.depth)
    next_low, next_high = log3_dimension_count(case.width, case.depth + 1)
    least, most = round(next_low - high), round(next_high - low)
    if least != most:
        raise ArithmeticError(f"[{case}]: the growth lies between two integers; go deeper")
    return Exact(least)


@_on_the_page(
    Eq(knee_depth, ceiling(log(2 * d**2 + 2 * d + 1, 3))),
    kind="threshold",
    headline=(
        "Where the count stops growing doubly exponentially: near 2 log_3(d_x), not at log_3(d_x)."
    ),
    cases={
        "quick": Case.grid(width=(1, 2, 3, 6, 11, 100, 1000)),
        "theory": Case.grid(width=(10**6, 10**12)),
    },
    control=Control(Case(width=1000), "log_3 d", statement=Eq(knee_depth, ceiling(log(d, 3)))),
    cited="Decides whether advice on depth that rests on S turns near log_3(d_x) or at twice that.",
)
def knee(case: Case) -> Exact:
    """The knee of the dimension count.

    The first depth at which C(L)/2 >= D is ceil(log_3(2 d^2 + 2 d + 1)), where
    log_3(2 d^2 + 2 d + 1) = 2 log_3 d + log_3 2 + log_3(1 + 1/d + 1/(2 d^2)): about twice log_3 d.

    The knee of this measure of expressivity; whether a task needs it is another question. At
    d = 12288 it is 18.
    """
    depth, degree = 0, 0
    while degree < case.width * (case.width + 1):
        depth, degree = depth + 1, 3 * degree + 1
    return Exact(depth)


@knee.argument(
    "C/2 = D at the depth that is rounded up, and C grows with L; prose: so the first "
    "whole depth is that one rounded up."
)
def _(statement: Relational) -> Iterator[Step]:
    """C/2 = D exactly at 3^L = 2 d^2 + 2 d + 1, and C grows with L."""
    rounds = isinstance(statement.rhs, ceiling)
    yield Step("the right side rounds a depth up", rounds)
    power = simplify(3 ** (statement.rhs.args[0] if rounds else Integer(0)))
    yield equal("at that depth C/2 = D", (power - 1) / 4, D)
    x = Symbol("x", real=True)
    yield Step("C grows strictly with L", bool(diff((3**x - 1) / 4, x).is_positive))


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
    ratio = simplify(gammasimp((term.subs(j, j + 1) / term).rewrite(gamma)))
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
