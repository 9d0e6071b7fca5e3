"""Steps that several machine-checked arguments share: identities, orders, hockey sticks, factorials."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .values import Step

__all__ = ["equal", "factorial_steps", "hockey_stick_steps", "logarithm_step", "nonnegative", "vanish"]


def vanish(says: str, *expressions: Any) -> Step:
    """Every expression is identically zero."""
    import sympy

    return Step(says, all(sympy.simplify(sympy.expand(e)) == 0 for e in expressions))


def equal(says: str, left: Any, right: Any) -> Step:
    """The two sides are the same function, with logarithms expanded (all arguments are positive) and factorials reduced.

    >>> import sympy
    >>> n = sympy.Symbol("n", integer=True, positive=True)
    >>> equal("n! n = (n+1)! - n!", n * sympy.factorial(n), sympy.factorial(n + 1) - sympy.factorial(n)).holds
    True
    """
    import sympy

    gap = left - right
    if gap.has(sympy.binomial, sympy.factorial, sympy.gamma):
        gap = sympy.gammasimp(gap.rewrite(sympy.gamma))
    gap = sympy.expand_log(gap, force=True)
    return Step(says, sympy.simplify(sympy.expand_log(sympy.expand(gap), force=True)) == 0)


def nonnegative(says: str, *expressions: Any) -> Step:
    """Every expression, multiplied out, is a sum of terms none of which is negative."""
    import sympy

    def holds(expression: Any) -> bool:
        return bool(sympy.expand(sympy.together(expression)).is_nonnegative) or bool(sympy.factor(expression).is_nonnegative)

    return Step(says, all(holds(sympy.sympify(e)) for e in expressions))


def logarithm_step(statement: Any, name: str) -> Step:
    """The left side of the statement is log_3 of the measured quantity."""
    import sympy

    from .glossary import symbol

    return Step(f"the left side is log_3 of {name}", statement.lhs == sympy.log(symbol(name)) / sympy.log(3))


def hockey_stick_steps() -> Iterator[Step]:
    """sum_{j=0}^h binom(D+j-1, j) = binom(D+h, h), by induction over h."""
    import sympy

    D, h = (sympy.Symbol(n, integer=True, positive=True) for n in "Dh")
    stick = sympy.binomial(D + h, h)
    yield Step("hockey stick: one term, binom(D-1, 0) = binom(D, 0)", stick.subs(h, 0) == sympy.binomial(D - 1, 0))
    # Divided by the binomial, so that only rational functions remain.
    yield Step("hockey stick: from h to h + 1 the sum grows by binom(D+h, h+1)", sympy.simplify(sympy.gammasimp(
        ((stick.subs(h, h + 1) - stick - sympy.binomial(D + h, h + 1)) / stick).rewrite(sympy.gamma))) == 0)


def factorial_steps() -> Iterator[Step]:
    """binom(m, n) <= (e m / n)^n for 1 <= n <= m: binom(m, n) <= m^n / n!, and n! >= (n/e)^n by induction over n."""
    import sympy

    x, n = sympy.Symbol("x", positive=True), sympy.Symbol("n", integer=True, positive=True)
    gap = x - sympy.log(1 + x)
    yield Step("log(1+x) <= x: equal at 0, and the difference has derivative x/(1+x) > 0",
               gap.subs(x, 0) == 0 and bool(sympy.simplify(sympy.diff(gap, x)).is_positive))
    yield Step("n! >= (n/e)^n at n = 1: 1 >= 1/e", bool((sympy.E - 1).is_positive))
    # Both sides grow by n + 1 and by (n+1)^(n+1) / (e n^n); the quotient is e (n/(n+1))^n.
    grown = sympy.log(n + 1) - ((n + 1) * (sympy.log(n + 1) - 1) - n * (sympy.log(n) - 1))
    yield Step("from n to n + 1 the quotient grows by exp(1 - n log(1 + 1/n)) >= 1",
               sympy.simplify(sympy.expand(grown - (1 - n * (sympy.log(n + 1) - sympy.log(n))))) == 0)
    i, m = sympy.Symbol("i", integer=True, nonnegative=True), sympy.Symbol("m", integer=True, positive=True)
    yield Step("binom(m, n) is a product of n factors (m - i)/(n - i), each numerator at most m", bool((m - (m - i)).is_nonnegative))
