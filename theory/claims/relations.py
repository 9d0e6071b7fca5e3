"""Relations as statements are written with: SymPy's, but not evaluated.

SymPy would first try to decide each of them, which takes a third of the time in which all claims
are imported. They print, compare and substitute as SymPy's do.

>>> Le(2, 3)
2 <= 3
>>> between(1, 2, 3)
1 <= 2 <= 3
"""

from functools import partial
from typing import Any

import sympy
from sympy.core.relational import Relational

Eq, Ge, Gt, Le, Lt, Ne = (
    partial(kind, evaluate=False)
    for kind in (sympy.Eq, sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt, sympy.Ne)
)


class Within(Relational):
    """A quantity lies between two bounds, both included; the right side is the pair of them."""

    rel_op = "in"

    def __new__(cls, lhs: Any, rhs: Any, evaluate: bool = False) -> "Within":
        """From the quantity and the pair; nothing is evaluated."""
        low, high = rhs
        return sympy.Basic.__new__(cls, sympy.sympify(lhs), sympy.Tuple(low, high))

    def _sympystr(self, printer: Any) -> str:
        low, high = self.rhs
        return " <= ".join(printer.doprint(part) for part in (low, self.lhs, high))


def between(low: Any, quantity: Any, high: Any) -> Within:
    """low <= quantity <= high: a bound from below and one from above of the same measurement."""
    return Within(quantity, (low, high))
