"""Rigorous evaluation of closed formulas: from a SymPy number to a ball that contains its value.

SymPy states a formula and python-flint's `arb` evaluates it, so no verdict rests on rounding.
`sign` gives three answers, and alone in the project it decides the order of two real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce

import flint
import sympy
from flint import arb, fmpq

# Bits with which `sign` tries to tell a number from zero before it asks for a symbolic proof.
PRECISIONS = (64, 192, 768, 3072)


def enclose(
    expression: sympy.Expr, values: Mapping[sympy.Symbol, arb] | None = None, precision: int = 128
) -> arb:
    """A ball that contains the value of an expression, computed with `precision` bits; `values`:
    balls for its free symbols.

    Raises:
        TypeError: for a float, which is not exact, and a node that has no rigorous rule here.

    >>> enclose(sympy.log(9, 3) - 2).contains(0)
    True
    """
    with flint.ctx.workprec(precision):
        return _ball(expression, values or {})


def sign(expression: sympy.Expr) -> int | None:
    """The sign of a real number: -1, 0 or 1, or None when neither balls nor algebra decide it.

    Balls at growing precision decide every non-zero number of moderate size; zero needs a symbolic
    proof, which SymPy gives for the usual identities of logarithms and powers.

    >>> sign(sympy.log(3) - sympy.Rational(11, 10)), sign(sympy.log(8, 2) - 3)
    (-1, 0)
    """
    expression = sympy.sympify(expression)
    if expression.is_Rational:
        return (expression.p > 0) - (expression.p < 0)
    if expression in (sympy.oo, sympy.S.NegativeInfinity):
        return 1 if expression is sympy.oo else -1
    for precision in PRECISIONS:
        ball = enclose(expression, precision=precision)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        if not ball.is_finite() and precision == PRECISIONS[-1]:
            return None
    return 0 if sympy.simplify(sympy.expand_log(expression, force=True)) == 0 else None


def endpoints(ball: arb) -> tuple[Fraction, Fraction]:
    """The exact rational end points of a finite ball.

    >>> endpoints(arb(3))
    (Fraction(3, 1), Fraction(3, 1))
    """
    if not ball.is_finite():
        raise ValueError(
            f"{ball} has no finite end points: the enclosure is too wide or the value is infinite"
        )
    return _dyadic(ball.mid()) - _dyadic(ball.rad()), _dyadic(ball.mid()) + _dyadic(ball.rad())


def ball(low: Fraction, high: Fraction) -> arb:
    """The smallest ball this precision can express around the interval [low, high]."""
    return from_fraction(low).union(from_fraction(high))


def from_fraction(value: Fraction | int) -> arb:
    """A ball around a rational number."""
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def _dyadic(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ball(node: sympy.Expr, values: Mapping[sympy.Symbol, arb]) -> arb:
    if node.is_Rational:
        return arb(fmpq(int(node.p), int(node.q)))
    if node.is_Symbol:
        return values[node]
    if isinstance(node, sympy.Float):
        raise TypeError(f"{node} is a float and floats are not exact; write it as a Rational")
    if isinstance(node, sympy.Pow):
        return _power(node, values)
    if isinstance(node, sympy.Sum | sympy.Product):
        explicit = node.doit()
        if explicit.func is node.func:
            raise TypeError(f"the range of {node} is not explicit")
        return _ball(explicit, values)
    if isinstance(node, sympy.Piecewise):
        value, when = next((p for p in node.args if p[1] is not sympy.false), (None, None))
        if when is not sympy.true:
            raise TypeError(f"no branch of {node} is decided")
        return _ball(value, values)
    rule = _RULES.get(node.func)
    if rule is None:
        raise TypeError(f"no rigorous rule for {node.func.__name__} in {node}")
    return rule(*(_ball(argument, values) for argument in node.args))


def _power(node: sympy.Expr, values: Mapping[sympy.Symbol, arb]) -> arb:
    base, exponent = node.as_base_exp()
    if exponent.is_Integer:
        return _ball(base, values) ** int(exponent)
    if exponent.is_Rational and exponent.q == 2 and exponent.p == 1:
        return _ball(base, values).sqrt()
    return _ball(base, values) ** _ball(exponent, values)


def _fold(operation: Callable[[arb, arb], arb]) -> Callable[..., arb]:
    return lambda *balls: reduce(operation, balls)


_RULES: dict[type, Callable[..., arb]] = {
    sympy.Add: _fold(lambda a, b: a + b),
    sympy.Mul: _fold(lambda a, b: a * b),
    sympy.Min: _fold(lambda a, b: a.min(b)),
    sympy.Max: _fold(lambda a, b: a.max(b)),
    sympy.exp: lambda a: a.exp(),
    sympy.log: lambda a: a.log(),
    sympy.Abs: lambda a: abs(a),
    sympy.floor: lambda a: a.floor(),
    sympy.ceiling: lambda a: a.ceil(),
    sympy.tanh: lambda a: a.tanh(),
    sympy.sin: lambda a: a.sin(),
    sympy.cos: lambda a: a.cos(),
    sympy.acos: lambda a: a.acos(),
    sympy.asin: lambda a: a.asin(),
    sympy.gamma: lambda a: a.gamma(),
    sympy.factorial: lambda a: (a + 1).gamma(),
    sympy.binomial: lambda n, k: (n + 1).gamma() / ((k + 1).gamma() * (n - k + 1).gamma()),
    sympy.LambertW: lambda a: a.lambertw(),
    sympy.pi.func: arb.pi,
    sympy.E.func: arb.const_e,
}
