"""The right side of a statement at values of one's own: numbers, arrays or symbols; in logarithms
where numbers have too many digits to be written down."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING, Any

import flint
import sympy
from flint import arb, fmpq

from depthlaw.advisor.base.quantities import UsageError, quoted

from ..exact.enclosure import enclose, endpoints
from .printing import text as printed
from .readable import readable
from .symbols import term_of
from .values import Ball, Case, PowerOfTen, Scalar

if TYPE_CHECKING:
    from .definition import Claim

# Numerators and denominators that are taken, and terms of a sum: a second's work.
LARGEST_VALUE, MOST_TERMS = 10**15, 10**5
# Longer numbers are given by their logarithm: Python prints none of them.
MOST_DIGITS = 4300
# SymPy's Bell numbers take seconds beyond it.
_LARGEST_BELL = 1100
# Bits in which logarithms are computed, until enough of them are right.
_PRECISIONS, _RIGHT_BITS = (256, 1024, 4096, 16384), 64


class OutOfDomain(UsageError):
    """Values at which a claim says nothing, since they break an assumption of it: `condition`."""

    def __init__(self, message: str, condition: str) -> None:
        super().__init__(message)
        self.condition = condition


def at(expression: sympy.Expr, case: Case) -> sympy.Expr:
    """The expression with every symbol that the case names replaced by the case's exact value."""
    # xreplace rebuilds every node with its new arguments, so integer powers of integers become
    # integers; far faster than subs.
    values = _values(expression, case)
    replaced = expression.xreplace(values | _rounded(expression, values))
    return replaced.doit() if replaced.has(sympy.Sum, sympy.Product) else replaced


def _rounded(
    expression: sympy.Expr, values: Mapping[sympy.Basic, sympy.Rational]
) -> dict[sympy.Basic, sympy.Rational]:
    """The floors and ceilings of irrational numbers that balls decide, much faster than SymPy."""
    rounded = dict[sympy.Basic, sympy.Rational]()
    for node in expression.atoms(sympy.floor, sympy.ceiling):
        inner = node.args[0].xreplace(values)
        if not (inner.free_symbols or inner.is_Rational):
            with suppress(TypeError, ValueError):
                whole = enclose(node.func(inner, evaluate=False)).unique_fmpz()
                if whole is not None:
                    rounded[node] = sympy.Integer(int(whole))
    return rounded


def summed(expression: sympy.Expr, case: Case) -> sympy.Expr:
    """The expression with numbers in place of its sums of rational terms: SymPy would compare the
    terms of a Min with an index that has no value yet."""
    sums = {}
    for total in expression.atoms(sympy.Sum):
        index, low, high = total.limits[0]
        ends = at(low, case), at(high, case)
        if len(total.limits) == 1 and all(end.is_Integer for end in ends):
            places = range(int(ends[0]), int(ends[1]) + 1)
            terms = [at(total.function, Case(**case.fields() | {index.name: k})) for k in places]
            if all(term.is_Rational for term in terms):
                sums[total] = sympy.Add(*terms)
    return expression.xreplace(sums)


def value_at(claim: Claim, values: Mapping[str, Any], *, log10: bool = False) -> Any:
    """What `Claim.at` returns.

    Raises:
        UsageError: see `Claim.at`.
    """
    named = _by_name(claim, values)
    if any(isinstance(v, sympy.Basic) and v.free_symbols for v in named.values()):
        return _symbolic(claim, named)
    if any(isinstance(v, list | tuple) or getattr(v, "ndim", 0) for v in named.values()):
        return array_at(claim, named, log10=log10)
    value, broken = stated(claim, {name: _scalar(name, v) for name, v in named.items()})
    if broken:
        given = ", ".join(f"{name}={value}" for name, value in named.items())
        raise OutOfDomain(
            f"{claim.key} says nothing at {given}, which breaks its assumption {broken}; give "
            "values that meet it",
            broken,
        )
    return log10_of(value) if log10 else value


def stated(claim: Claim, values: Mapping[str, Scalar]) -> tuple[Any, str]:
    """What the right side says at values, and the assumption that they break, in plain text; an
    assumption on what was not given is met.

    Raises:
        UsageError: see `Claim.at`.
    """
    named = _by_name(claim, values)
    needed = claim.symbols
    for name, value in named.items():
        if name not in needed or _within(needed[name], value):
            continue
        # A claim may measure what its symbol's domain leaves out, such as no layer.
        measured = {case.get(name) for case in claim.every_case if name in case}
        if value not in measured:
            term = term_of(needed[name])
            domain = term.domain if term else "number"
            also = "" if "integer" in domain else ", or a fraction of two such integers, as 3/4"
            more = sorted(str(other) for other in measured if not _within(needed[name], other))
            raise UsageError(
                f"{name}={value} is outside its domain; accepted is "
                + " or ".join([f"a {domain} up to {LARGEST_VALUE:.0e}{also}", *more])
            )
    if missing := sorted(set(needed) - set(named)):
        raise UsageError(f"{claim.key} needs {', '.join(missing)}; accepted are {accepted(claim)}")
    case, broken = Case(**named), None
    with suppress(AttributeError, TypeError):
        broken = claim.broken(case)
    try:
        value = _value(claim, case)
        if isinstance(value, sympy.Expr) and value.has(sympy.zoo, sympy.nan):
            raise ValueError("a division by zero")
        return value, readable(broken or "")
    except UsageError:
        raise
    except (AttributeError, KeyError) as error:
        raise UsageError(f"{claim.key}: {error.args[0]}; accepted are {accepted(claim)}") from None
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        raise UsageError(f"the right side of {claim.key} has no value there") from None


def array_at(claim: Claim, values: Mapping[str, Any], *, log10: bool = False) -> Any:
    """`value_at` on arrays or lists, broadcast against each other: an array of floats; of a
    statement with two bounds its last axis holds both."""
    import numpy as np

    broadcast = np.broadcast(*(np.asarray(value, dtype=object) for value in values.values()))
    found = []
    for point in broadcast:
        value = value_at(claim, dict(zip(values, point, strict=True)), log10=log10)
        try:
            found.append([float(end) for end in _ends(value) or (value,)])
        except (OverflowError, TypeError):
            raise UsageError(
                f"{claim.key} is too large there for an array of floats; log10=True gives decimal "
                "logarithms"
            ) from None
    sides = len(found[0]) if found else 1
    return np.array(found).reshape(broadcast.shape + (sides,) * (sides > 1))


def log10_of(value: Any) -> Any:
    """The decimal logarithm of a value, or of both ends of an interval."""
    if ends := _ends(value):
        return tuple(log10_of(end) for end in ends)
    if not isinstance(value, PowerOfTen):
        exact = sympy.Rational(value) if isinstance(value, float | Fraction) else value
        number = enclose(sympy.sympify(exact), precision=256)
        if not number > 0:
            raise UsageError(f"{float(number.mid()):.6g} has no logarithm; leave log10 out")
        value = _power_of_ten(number)
    if value.sign < 0:
        raise UsageError(f"{value} has no logarithm; leave log10 out")
    return float(value.log10)


def _ends(value: Any) -> tuple[Any, ...]:
    """Of an interval; nothing of a number."""
    if isinstance(value, Ball):
        return value.low, value.high
    return tuple(value) if isinstance(value, sympy.Tuple | tuple) else ()


def _value(claim: Claim, case: Case) -> Any:
    if claim.closed:
        return claim.closed(case)
    if claim.predicted:
        return claim.predict(case)
    expression = claim.statement.rhs
    for total in expression.atoms(sympy.Sum, sympy.Product):
        _, low, high = total.limits[0]
        if not _small(high - low, case) or at(high - low, case) > MOST_TERMS:
            raise UsageError(
                f"{claim.key} is a sum of more than {MOST_TERMS:,} terms there; accepted are "
                "smaller values"
            )
    if _small(expression, case):
        return claim.predict(case)
    if isinstance(expression, sympy.Tuple):
        return tuple(_enclosed(end, case) for end in expression)
    return _enclosed(expression, case)


def _enclosed(expression: sympy.Expr, case: Case) -> Any:
    """The value by balls: a float where there is one, else a power of ten."""
    values = _values(expression, case)
    expression = expression.replace(
        lambda node: isinstance(node, sympy.Piecewise),
        lambda node: node.func(*((value, when.xreplace(values)) for value, when in node.args)),
    )
    for precision in _PRECISIONS:
        number = enclose(expression, _balls(expression, case, precision), precision)
        if number.is_finite() and number.rel_accuracy_bits() >= _RIGHT_BITS:
            fits = 1e-300 < abs(number) < 1e300 or number == 0
            return float(number.mid()) if fits else _power_of_ten(number)
    raise ValueError("no precision is enough")


def _power_of_ten(number: arb) -> PowerOfTen:
    logarithm = abs(number).log() / arb(10).log()
    if abs(logarithm.mid().man_exp()[1]) > 1 << 20:
        raise ValueError("its logarithm has too many digits")
    low, high = endpoints(logarithm)
    return PowerOfTen(1 if number > 0 else -1, (low + high) / 2)


def _small(expression: sympy.Expr, case: Case) -> bool:
    """Whether SymPy would meet no number of more than `MOST_DIGITS` digits on the way."""
    growing = expression.atoms(
        sympy.Pow, sympy.exp, sympy.binomial, sympy.factorial, sympy.gamma, sympy.bell
    )
    for node in growing:
        try:
            if isinstance(node, sympy.bell):
                if enclose(node.args[0], _balls(node, case, 128)) > _LARGEST_BELL:
                    raise UsageError(
                        f"{printed(node)}: accepted are arguments up to {_LARGEST_BELL}"
                    )
                continue
            size = abs(enclose(node, _balls(node, case, 128)))
            known = size > 0 and size.is_finite()
            if known and abs(float(size.log().mid())) > MOST_DIGITS * math.log(10):
                return False
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # an index of a sum, or a part that has no value
    return True


def _balls(expression: sympy.Basic, case: Case, precision: int) -> dict[sympy.Symbol, arb]:
    with flint.ctx.workprec(precision):
        return {s: arb(fmpq(value.p, value.q)) for s, value in _values(expression, case).items()}


def _values(expression: sympy.Basic, case: Case) -> dict[sympy.Basic, sympy.Rational]:
    """The symbols that the case names, with the case's exact values."""
    return {
        s: sympy.Rational(str(int(v) if isinstance(v := case.get(s.name), bool) else v))
        for s in expression.free_symbols
        if s.name in case
    }


# --- names and values as they are given -----------------------------------------------------------


def _names(claim: Claim) -> dict[str, str]:
    """What values may be given by: the names of fields and symbols, and symbols as printed."""
    needed = claim.symbols
    known = {name for case in claim.every_case for name in case.fields()}
    names = {name: name for name in (*known, *needed)}
    for name, symbol in needed.items():
        names.setdefault(printed(symbol), name)
    return names


def accepted(claim: Claim, among: Iterable[str] = ()) -> str:
    """The names that values may be given by, or some of them, with symbols as printed, in a line.

    >>> from .definition import find
    >>> claim = find("separation_rank/upper_bound_deep")
    >>> accepted(claim, claim.symbols)
    'depth (L), width (d_x)'
    """
    names = _names(claim)
    also = {name: alias for alias, name in names.items() if alias != name}
    asked = sorted(set(among) or set(names.values()))
    listed = [f"{n} ({also[n]})" if n in also else n for n in asked]
    return ", ".join(listed) or "none"


def _by_name(claim: Claim, values: Mapping[str, Any]) -> dict[str, Any]:
    names, named = _names(claim), {}
    for name, value in values.items():
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                f"{claim.key} has no {quoted(name)}; {hint}accepted are {accepted(claim)}"
            )
        if names[name] in named:
            raise UsageError(f"{name} and {names[name]} are the same; give one of them")
        named[names[name]] = value
    return named


def _symbolic(claim: Claim, values: Mapping[str, Any]) -> sympy.Basic:
    """The right side with expressions for some symbols; the others stay as they are."""
    needed = claim.symbols
    if not needed:
        raise UsageError(f"{claim.key} has no formula to put symbols in; give numbers")
    exact = {
        needed[name]: value if isinstance(value, sympy.Basic) else sympy.Rational(str(value))
        for name, value in values.items()
        if name in needed
    }
    return claim.statement.rhs.xreplace(exact)


def _scalar(name: str, value: Any) -> Scalar:
    """A number as cases hold it: whole, or the text of a fraction. A float is the shortest decimal
    that stands for it: 0.1 is a tenth."""
    item = value.item() if hasattr(value, "item") and not isinstance(value, Sequence) else value
    if isinstance(item, bool | int | str):
        return item
    try:
        exact = Fraction(str(item)) if isinstance(item, Number | sympy.Number) else None
    except (ValueError, ZeroDivisionError):
        exact = None
    if exact is None:
        raise UsageError(
            f"{name}={item}: accepted are numbers, arrays of them, and SymPy's symbols"
        )
    return int(exact) if exact.denominator == 1 else str(exact)


def _within(symbol: sympy.Symbol, value: Scalar) -> bool:
    """Whether a value is in the domain of a quantity."""
    text = str(int(value) if isinstance(value, bool) else value)
    if len(text) > 40 or re.search(r"[eE][+-]?\d{3}", text):  # not worth the work of reading it
        return False
    try:
        number = sympy.Rational(text)
    except (ArithmeticError, TypeError, ValueError):
        return False
    if not number.is_finite or abs(number.p) > LARGEST_VALUE or number.q > LARGEST_VALUE:
        return False
    return all(
        getattr(number, f"is_{domain}") is not False
        for domain in ("integer", "positive", "nonnegative")
        if getattr(symbol, f"is_{domain}")
    )
