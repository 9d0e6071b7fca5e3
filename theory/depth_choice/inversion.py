"""Sizes solved for the depth: closed forms by Lambert's W, against roots that balls isolate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import flint
from flint import arb
from sympy import Expr, LambertW, Symbol, exp, floor, simplify, solve
from sympy.core.relational import Relational

from ..claims.symbols import parameters
from ..claims.values import Step
from ..exact.enclosure import from_fraction

# Equality of rationals can be decided, of reals it cannot: depths are compared as floor(10^9 L).
UNITS = 10**9


def nine_decimals(depth: Expr) -> Expr:
    """A real depth rounded down to nine decimals."""
    return floor(depth * UNITS) / UNITS


def root(increasing: Callable[[arb], arb], target: int) -> Fraction:
    """The root of an increasing function on x > 0, rounded down to nine decimals: k / 10^9 with
    f(k / 10^9) < target < f((k + 1) / 10^9), both decided by balls of 256 bits. A ValueError when a
    grid point is too close to the root for these."""
    with flint.ctx.workprec(256):

        def reached(k: int) -> bool:
            value = increasing(from_fraction(Fraction(k, UNITS))) - target
            if not (value > 0 or value < 0):
                raise ValueError(
                    f"{k} / {UNITS} is the root or too close to it to tell; "
                    "take a budget one parameter larger"
                )
            return bool(value > 0)

        high = UNITS
        while not reached(high):
            high *= 2
        return Fraction(last(lambda k: k == 0 or not reached(k), 0, high), UNITS)


def last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last integer where a predicate holds that holds at `low`, and from some point on not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def first(holds: Callable[[int], bool]) -> int:
    """The least positive integer where a predicate holds that holds from there on, by doubling."""
    high = 1
    while not holds(high):
        high *= 2
    return 1 + last(lambda k: not holds(k), high // 2, high)


def inversion_steps(statement: Relational, size: Expr, depth: Symbol) -> Iterator[Step]:
    """Substitute the closed form into the size, written in w with W(z) = w, that is z = w e^w."""
    yield Step(
        "the size grows with L, so at most one depth has it", bool(size.diff(depth).is_positive)
    )
    rounded = statement.rhs * UNITS
    lambert = list(rounded.atoms(LambertW))
    readable = isinstance(rounded, floor) and len(lambert) == 1
    yield Step(
        "the statement rounds a closed form with one Lambert W down to nine decimals", readable
    )
    if not readable:
        return
    w = Symbol("w", positive=True)
    budget = solve(lambert[0].args[0] - w * exp(w), parameters)
    yield Step(
        "every N > 0 belongs to one w > 0, since W(z) = w iff z = w e^w",
        len(budget) == 1 and bool(simplify(budget[0]).is_positive),
    )
    closed = rounded.args[0].subs(lambert[0], w) / UNITS
    yield Step(
        "substituting the closed form for L returns the budget",
        simplify(size.subs(depth, closed) - budget[0]) == 0,
    )
