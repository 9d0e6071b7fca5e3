"""Steps that several arguments share: identities, orders, sums, hockey sticks, factorials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sympy
from sympy import E, Symbol, binomial, expand, expand_log, factorial, gamma, log, simplify, symbols

from .values import Step

# What a step starts with that holds by its form, whatever is claimed. It is read, and not counted.
_REMARK = "remark: "


def remark(says: str) -> Step:
    """A line of an argument that no computation can refute, such as a square being at least 0."""
    return Step(_REMARK + says, True)


def counted(steps: Iterable[Step]) -> list[Step]:
    """The steps that a machine had something to confirm about: all but remarks.

    >>> [step.says for step in counted([remark("x - x = 0"), Step("2 + 2 = 4", True)])]
    ['2 + 2 = 4']
    """
    return [step for step in steps if not step.says.startswith(_REMARK)]


def vanish(says: str, *expressions: Any) -> Step:
    """Every expression is identically zero."""
    return Step(says, all(simplify(expand(e)) == 0 for e in expressions))


def equal(says: str, left: Any, right: Any) -> Step:
    """The two sides are the same function, for positive arguments of every logarithm.

    >>> n = Symbol("n", integer=True, positive=True)
    >>> equal("n! n = (n+1)! - n!", n * factorial(n), factorial(n + 1) - factorial(n)).holds
    True
    """
    gap = left - right
    if gap.has(binomial, factorial, gamma):
        gap = sympy.gammasimp(gap.rewrite(gamma))
    gap = expand_log(gap, force=True)
    return Step(says, simplify(expand_log(expand(gap), force=True)) == 0)


def nonnegative(says: str, *expressions: Any) -> Step:
    """Every expression, multiplied out, is a sum of terms none of which is negative."""

    def holds(expression: Any) -> bool:
        forms = expand(sympy.together(expression)), sympy.factor(expression)
        return any(bool(form.is_nonnegative) for form in forms)

    return Step(says, all(holds(sympy.sympify(e)) for e in expressions))


def at_least(larger: Any, smaller: Any) -> bool:
    """Whether algebra shows that one expression is at least another, whatever their symbols are.

    >>> x = Symbol("x", positive=True)
    >>> at_least(x + 1, x), at_least(x, x + 1)
    (True, False)
    """
    return bool(simplify(larger - smaller).is_nonnegative)


def logarithm_step(statement: Any, name: str) -> Step:
    """The left side of the statement is log_3 of the quantity of this name."""
    left = statement.lhs
    matching = [s for s in left.free_symbols if s.name == name]
    return Step(
        f"the left side is log_3 of {name}", bool(matching) and left == log(matching[0]) / log(3)
    )


def sum_step(says: str, sign: int = 1) -> Step:
    """For weights w_k >= 0 and numbers a_k <= m, sum_k w_k a_k <= m sum_k w_k, by induction.

    Args:
        says: what the sum is in the argument.
        sign: 1 for numbers that are at most m, -1 for numbers that are at least m.
    """
    m = Symbol("m", real=True)
    gap, weights, w, s = symbols("gap weights w s", nonnegative=True)
    # Without terms both sides are 0; `gap` lies between them after some; the next number is m -+ s.
    before = m * weights - sign * gap
    after = before + w * (m - sign * s)
    return Step(
        f"{says}: by induction on the number of terms, each of which adds w s >= 0 to the gap",
        expand(sign * (m * (weights + w) - after) - (gap + w * s)) == 0,
    )


def hockey_stick_steps() -> Iterator[Step]:
    """sum_{j=0}^h binom(D+j-1, j) = binom(D+h, h), by induction over h."""
    D, h = symbols("D h", integer=True, positive=True)
    stick = binomial(D + h, h)
    yield Step(
        "hockey stick: one term, binom(D-1, 0) = binom(D, 0)",
        stick.subs(h, 0) == binomial(D - 1, 0),
    )
    # Divided by the binomial, so that only rational functions remain.
    growth = (stick.subs(h, h + 1) - stick - binomial(D + h, h + 1)) / stick
    yield Step(
        "hockey stick: from h to h + 1 the sum grows by binom(D+h, h+1)",
        simplify(sympy.gammasimp(growth.rewrite(gamma))) == 0,
    )


def factorial_steps() -> Iterator[Step]:
    """binom(m, n) <= (e m / n)^n for 1 <= n <= m: binom(m, n) <= m^n / n!, and n! >= (n/e)^n."""
    x, n = Symbol("x", positive=True), Symbol("n", integer=True, positive=True)
    gap = x - log(1 + x)
    yield Step(
        "log(1+x) <= x: equal at 0, and the difference has derivative x/(1+x) > 0",
        gap.subs(x, 0) == 0 and bool(simplify(gap.diff(x)).is_positive),
    )
    yield Step("n! >= (n/e)^n at n = 1: 1 >= 1/e", bool((E - 1).is_positive))
    # Both sides grow by n + 1 and by (n+1)^(n+1) / (e n^n); the quotient is e (n/(n+1))^n.
    grown = log(n + 1) - ((n + 1) * (log(n + 1) - 1) - n * (log(n) - 1))
    yield Step(
        "from n to n + 1 the quotient grows by exp(1 - n log(1 + 1/n)) >= 1",
        simplify(expand(grown - (1 - n * (log(n + 1) - log(n))))) == 0,
    )
    i, m = Symbol("i", integer=True, nonnegative=True), Symbol("m", integer=True, positive=True)
    yield Step(
        "binom(m, n) is a product of n factors (m - i)/(n - i), each numerator at most m",
        bool((m - (m - i)).is_nonnegative),
    )
