"""Relations as statements are written with: SymPy's, but not evaluated.

SymPy would first try to decide each of them, which takes a third of the time in which all claims
are imported. A statement that it can decide, whatever is measured, is no claim; a test looks for
such. They print, compare and substitute as SymPy's do.

>>> Le(2, 3)
2 <= 3
"""

from functools import partial

import sympy

__all__ = ["Eq", "Ge", "Gt", "Le", "Lt", "Ne"]

Eq, Ge, Gt, Le, Lt, Ne = (
    partial(kind, evaluate=False)
    for kind in (sympy.Eq, sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt, sympy.Ne)
)
