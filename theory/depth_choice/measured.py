"""Evidence for depth_choice by other routes than its formulas: roots isolated with balls, weights counted, errors by differentiation,
and the arguments that cover every budget. The constants of Levine's fit are typed here a second time, so that neither copy can drift."""
from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values import Ball, Case, Step

if TYPE_CHECKING:
    from flint import arb

# Levine's fit ln d = a + b L and its covariance; exact copies of the published decimals.
A, B = Fraction("5.039"), Fraction("5.55e-2")
VAR_A, VAR_B, COV = Fraction("9.4e-4"), Fraction("1.74e-6"), Fraction("-3.74e-5")
# Real depths are compared as integers: floor(10^9 L).
UNITS = 10**9


def threshold_size(depth: arb) -> arb:
    """12 L 9^L in balls."""
    import flint

    return 12 * depth * flint.arb(9) ** depth


def fit_size(depth: arb) -> arb:
    """12 L (e^(a + b L))^2 in balls."""
    from ..exact.enclosure import from_fraction

    width = (from_fraction(A) + from_fraction(B) * depth).exp()
    return 12 * depth * width * width


def root(increasing: Callable[[arb], arb], target: int) -> Fraction:
    """The root of an increasing function on x > 0, rounded down to nine decimals, by bisection on integers.

    Args:
        increasing: the function, evaluated in balls.
        target: the value it must reach.

    Returns:
        k / 10^9 with f(k / 10^9) < target < f((k + 1) / 10^9), both inequalities decided by balls of 256 bits.

    Raises:
        ValueError: when a grid point is too close to the root for these balls.
    """
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(256):
        def reached(k: int) -> bool:
            value = increasing(from_fraction(Fraction(k, UNITS))) - target
            if not (value > 0 or value < 0):
                raise ValueError(f"{k} / {UNITS} is the root or too close to it to tell; take a budget one parameter larger")
            return bool(value > 0)

        high = UNITS
        while not reached(high):
            high *= 2
        return Fraction(_last(lambda k: k == 0 or not reached(k), 0, high), UNITS)


def widest(depth: int) -> int:
    """The largest d with log_3(d) <= L: d - 1 has at most L digits in base 3."""
    def fits(width: int) -> bool:
        digits, rest = 0, width - 1
        while rest:
            digits, rest = digits + 1, rest // 3
        return digits <= depth

    return _last(fits, 1, 4**depth + 1)


def weights(depth: int, width: int) -> int:
    """Entries of all weight matrices: query, key, value, output, and the two of a feed-forward network of width 4 d, per layer."""
    return sum(rows * columns for rows, columns in [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)]) * depth


def nearest_width(depth: int) -> int:
    """The integer nearest to the width at which the form L(d) = (ln d - a) / b gives L, by bisection; balls decide the order."""
    from sympy import Integer, Rational, log

    from ..exact.enclosure import sign

    def below(width: int) -> bool:
        return sign((log(Integer(2 * width - 1) / 2) - Rational(A)) / Rational(B) - depth) == -1

    high = 2
    while below(high):
        high *= 2
    return _last(below, 1, high)


@cache
def projections() -> tuple[dict[str, str], ...]:
    """Levine's table of projected shapes as recalled, every row, and the depth that the authors' page gives (projections.csv).

    >>> len(projections())
    10
    """
    with (Path(__file__).parent / "projections.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def projected(case: Case) -> int:
    """The projected depth as stated for a model in one of the two places."""
    return next(int(r["projected_depth"]) for r in projections() if (r["model"], r["stated_in"]) == (case.model, case.stated_in))


def projected_width(name: str) -> int:
    """The projected width of a model in the one place that states it."""
    return next(int(r["projected_width"]) for r in projections() if r["model"] == name and r["projected_width"])


def width_gap(parameters: int, depth: int, width: int) -> Ball:
    """Distance of a printed width from sqrt(N / (12 L)), in units of its third digit, enclosed."""
    import flint

    from ..exact.enclosure import from_fraction

    unit = 10 ** (len(str(width)) - 3)
    with flint.ctx.workprec(128):
        return Ball.of(abs(from_fraction(Fraction(parameters, 12 * depth)).sqrt() - width) / unit).widened()


def propagated(depth: int) -> Fraction:
    """J S J^T / N^2 with the Jacobian J of N(a, b) = 12 L e^(2a) e^(2bL) in (a, b), by symbolic differentiation at one depth."""
    from sympy import exp, simplify, symbols

    a, b = symbols("a b", real=True)
    size = 12 * depth * exp(2 * a) * exp(2 * b * depth)
    value = simplify(_quadratic([size.diff(a), size.diff(b)]) / size**2)
    return Fraction(int(value.p), int(value.q))


def _quadratic(gradient: list[Any]) -> Any:
    from sympy import Rational

    da, db = gradient
    return Rational(VAR_A) * da**2 + Rational(VAR_B) * db**2 + 2 * Rational(COV) * da * db


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last integer at which a decreasing predicate holds; it holds at `low` and not at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def threshold_proof(statement: Any) -> Iterable[Step]:
    """The closed form solves 12 L 9^L = N, and that size is where L = log_3(d)."""
    from sympy import Symbol, log, simplify

    L, d = Symbol("L", positive=True), Symbol("d", positive=True)
    size = 12 * L * 9**L
    yield Step("at L = log_3(d), 12 L 9^L is the size 12 L d^2", simplify((size - 12 * L * d**2).subs(L, log(d) / log(3))) == 0)
    yield from _inversion(statement, size, L)


def fit_proof(statement: Any) -> Iterable[Step]:
    """The closed form solves 12 L e^(2 a + 2 b L) = N."""
    from sympy import Rational, Symbol, exp

    L = Symbol("L", positive=True)
    yield from _inversion(statement, 12 * L * exp(2 * (Rational(A) + Rational(B) * L)), L)


def _inversion(statement: Any, size: Any, L: Any) -> Iterator[Step]:
    """Substitute the closed form into the size. W(z) = w means z = w e^w, so with w as the variable only exponentials remain."""
    from sympy import LambertW, Symbol, exp, floor, simplify, solve

    from ..glossary import symbol

    yield Step("the size grows with L, so at most one depth has it", bool(size.diff(L).is_positive))
    rounded = statement.rhs * UNITS
    lambert = list(rounded.atoms(LambertW))
    readable = isinstance(rounded, floor) and len(lambert) == 1
    yield Step("the statement rounds a closed form with one Lambert W down to nine decimals", readable)
    if not readable:
        return
    w, N = Symbol("w", positive=True), symbol("parameters")
    budget = solve(lambert[0].args[0] - w * exp(w), N)
    yield Step("every N > 0 belongs to one w > 0, since W(z) = w iff z = w e^w", len(budget) == 1 and bool(simplify(budget[0]).is_positive))
    closed = rounded.args[0].subs(lambert[0], w) / UNITS
    yield Step("substituting the closed form for L returns the budget", simplify(size.subs(L, closed) - budget[0]) == 0)


def error_proof(statement: Any) -> Iterable[Step]:
    """The squared relative error is the gradient of ln N through a positive definite covariance, for every depth."""
    from sympy import Symbol, exp, simplify

    from ..glossary import symbol

    a, b, L = Symbol("a", real=True), Symbol("b", real=True), symbol("depth")
    size = 12 * L * exp(2 * a + 2 * b * L)
    yield Step("the covariance matrix is positive definite", VAR_A > 0 and VAR_A * VAR_B > COV**2)
    gradient = [simplify(size.diff(s) / size) for s in (a, b)]
    yield Step("the statement is the gradient of ln N through the covariance", simplify(_quadratic(gradient) - statement.rhs) == 0)
