"""Where the numbers of exact nets live: the rationals, with a real root, or residues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import isfinite
from typing import Any

import sympy

from depthlaw.advisor.base.quantities import UsageError, quoted

Number = Any
Vector = list[Number]
# SymPy evaluates what it parses: of a file it gets nothing but arithmetic in x.
_POLYNOMIAL = re.compile(r"[\d\sx+\-*/^().]+")
_X = sympy.Symbol("x")
# The number that stands in most places of a matrix is one object.
_fraction = lru_cache(4096)(Fraction)


def _polynomial(text: str) -> sympy.Expr:
    """Arithmetic in x; a ValueError for anything else."""
    if not _POLYNOMIAL.fullmatch(text):
        raise ValueError(f"{text!r} is no polynomial in x")
    return sympy.sympify(text.replace("^", "**"), {"x": _X})


@dataclass(frozen=True)
class Field:
    """Where numbers live: the rationals, with a real root of a polynomial, or residues."""

    domain: Any = None
    root: Any = None

    def number(self, text: Any) -> Number:
        """An integer, a string or a binary fraction such as 0.5 as a number of the field.

        Raises:
            UsageError: for anything else.
        """
        if isinstance(text, float) and self.domain is None and isfinite(text):
            if Fraction(text) == Fraction(repr(text)):
                return Fraction(text)
            raise UsageError(
                f"the number {text} is no binary fraction, which a file would round; write the "
                f'string "{Fraction(repr(text))}"'
            )
        if isinstance(text, int) and not isinstance(text, bool):
            return _fraction(text) if self.domain is None else self.domain.convert(text)
        if isinstance(text, str) and (self.domain is None or self.root is not None):
            try:
                if self.domain is None:
                    if "e" in text.lower():
                        raise ValueError  # 1e9999 would take the memory of the machine
                    return Fraction(text.replace(" ", ""))
                value = self.domain.zero
                for coefficient in sympy.Poly(_polynomial(text), _X, domain="QQ").all_coeffs():
                    value = value * _element(self) + self.domain.from_sympy(coefficient)
                return value
            except (ValueError, ZeroDivisionError, sympy.SympifyError, sympy.PolynomialError):
                pass
        raise UsageError(
            f"cannot read the number {quoted(str(text))}; accepted are whole numbers and strings "
            'such as "1/3"'
            + ("" if self.domain is None else ', or polynomials in x such as "1/2*x + 1"')
        )

    def numbers(self, entries: Iterable[Any]) -> Vector:
        """`number` of each entry; of integers alone in a tenth of the time."""
        listed = list(entries)
        if self.domain is None and set(map(type, listed)) <= {int}:
            return list(map(_fraction, listed))
        return [self.number(entry) for entry in listed]

    def largest(self, numbers: Sequence[Number]) -> int:
        """The place of the first of the largest numbers."""
        best = 0
        for k in range(1, len(numbers)):
            if self.sign(numbers[k] - numbers[best]) > 0:
                best = k
        return best

    def sign(self, value: Number) -> int:
        """-1, 0 or 1, exactly."""
        if self.domain is None:
            return (value > 0) - (value < 0)
        if not value:
            return 0
        exact, digits = self.domain.to_sympy(value), 30
        while True:  # It is not zero, so that enough digits show its sign.
            found = exact.evalf(digits)
            if abs(found) > sympy.Float(10) ** (10 - digits):
                return 1 if found > 0 else -1
            digits *= 2


@cache
def _element(field: Field) -> Number:
    """The root as an element of its field."""
    return field.domain.from_sympy(field.root)


def field_of(body: Mapping[str, Any]) -> Field:
    """The field that a file names: `"generator": {"polynomial": "x^2 - 2", "above": "1"}` is the
    least root above that number; `"modulus": 7` the residues; by default the rationals."""
    modulus = body.get("modulus")
    if modulus is not None:
        if not isinstance(modulus, int) or modulus is True or not sympy.isprime(modulus):
            raise UsageError(f"the modulus {quoted(str(modulus))} is no prime")
        if body.get("family") != "recurrent":
            raise UsageError("residues have no order: with a modulus the family is recurrent")
        return Field(sympy.GF(modulus, symmetric=False))
    named = body.get("generator")
    if named is None:
        return Field()
    try:
        polynomial = sympy.Poly(_polynomial(named["polynomial"]), _X)
        above = Fraction(str(named.get("above", 0)))
        roots = [root for root in sympy.real_roots(polynomial) if root > above]
    except (KeyError, TypeError, AttributeError, ValueError, sympy.PolynomialError) as error:
        raise UsageError(f"cannot read the generator {quoted(str(named))} ({error})") from None
    if not roots:
        raise UsageError(f"the generator {quoted(str(named))} has no real root above {above}")
    return Field(sympy.QQ.algebraic_field(roots[0]), roots[0])


def letters_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The alphabet of a file.

    Raises:
        UsageError: unless it is a list of strings.
    """
    alphabet = body["alphabet"]
    if not isinstance(alphabet, list) or not all(isinstance(letter, str) for letter in alphabet):
        raise UsageError('the alphabet is a list of letters, each a string: ["a", "b"]')
    return tuple(alphabet)


def dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    """The inner product of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(matrix: Sequence[Sequence[Number]], vector: Sequence[Number]) -> Vector:
    """A matrix times a vector."""
    return [dot(row, vector) for row in matrix]


def integers(value: Any) -> Any:
    """Whole rationals in lists and tuples as integers, which are faster."""
    if isinstance(value, list | tuple):
        return type(value)(map(integers, value))
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def plus(one: Sequence[Number], other: Sequence[Number]) -> Vector:
    """The sum of two vectors."""
    return [a + b for a, b in zip(one, other, strict=True)]
