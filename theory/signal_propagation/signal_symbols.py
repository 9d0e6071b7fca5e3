"""How statements of this topic are written: irrational values rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb
from sympy import floor, nan
from sympy.core.relational import Relational

from ..claims.definition import Exact
from ..claims.symbols import quantity

expected_exponent = quantity(
    "expected_exponent", "e", "exponent that is stated of a net, in the case itself", "real"
)

# Irrational values are compared as floor(10^9 x): equality of rationals can be decided.
UNITS = 10**9
ROUNDS = "the statement rounds a closed form down to nine decimals"


def fraction(value: Any) -> Fraction:
    """A SymPy rational as a Fraction; anything else is refused."""
    if not value.is_Rational:
        raise ValueError(f"{value} is not a rational number; choose a case whose value is rational")
    return Fraction(int(value.p), int(value.q))


def rounded_down(value: arb, units: int = UNITS) -> Exact:
    """A ball rounded down to a multiple of 1/units; an ArithmeticError when it straddles one."""
    whole = (value * units).floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(
            f"{value} may be a multiple of 1/{units}; raise the precision or take another case"
        )
    return Exact(Fraction(int(whole), units))


def nine_decimals(value: Any) -> Any:
    """The same rounding in a statement."""
    return floor(value * UNITS, evaluate=False) / UNITS


def before_rounding(statement: Relational) -> Any:
    """x of a right side floor(10^9 x)/10^9, or nan."""
    scaled = statement.rhs * UNITS
    return scaled.args[0] / UNITS if isinstance(scaled, floor) else nan
