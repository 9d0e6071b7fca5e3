"""How statements of this topic are written: d, L, H, k, D, C, the count S, named assumptions."""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy
from sympy import Expr, Max, Min, Mul, Rational, Sum, binomial

from ..claims.definition import Source
from ..claims.symbols import depth as L, heads as H, order as k, quantity, width as d

__all__ = ["H", "L", "d", "k"]

# Relations as they are written. SymPy would compare their sides first: a second for this topic.
Eq, Ge, Le, Lt = (
    partial(kind, evaluate=False) for kind in (sympy.Eq, sympy.Ge, sympy.Le, sympy.Lt)
)

index = quantity("index", "i", "an index of summation", "nonnegative integer")

# The second moments of all tokens, and the degree in them; not evaluated, to print as one fraction.
D = d * (d + 1) / 2
C = Mul(Rational(1, 2), 3**L - 1, evaluate=False)

# The rank of the catalecticant of order k, its rows and columns, and the fewer and more of them.
catalecticant_rank = quantity(
    "catalecticant",
    r"\operatorname{rank}\,\mathrm{Cat}_k",
    "dimension of the span of the order-k derivatives of the d_x forms in the moments",
)
ROWS = d * binomial(D + k - 1, k)
COLUMNS = binomial(D + (3**L - 1) / 2 - k - 1, (3**L - 1) / 2 - k)
SHORTER, LONGER = Min(ROWS, COLUMNS, evaluate=False), Max(ROWS, COLUMNS, evaluate=False)


def dimension_sum(smaller: Any = Min, d: Expr = d, C: Expr = C) -> Sum:
    """S(d, L) = sum_k min(d binom(D+k-1, k), binom(D+C-k-1, C-k)), open to other parts."""
    D = d * (d + 1) / 2
    terms = d * binomial(D + k - 1, k), binomial(D + C - k - 1, C - k)
    return Sum(smaller(*terms, evaluate=False), (k, 0, C))


def levine(place: str) -> Source:
    """A place in Levine et al. 2020, in the version that all statements were recalled from."""
    return Source("levine2020", place, "arXiv:2006.12467v3")


COUNT_PAGE = Source("depthlaw", "docs/separation-rank-dimension-count.md")

SHALLOW = {r"$L < \log_3(d_x)$": lambda c: 3**c.depth < c.width}
DEEP = {"L > log_3(d_x)": lambda c: 3**c.depth > c.width}
AT_LEAST_THRESHOLD = {r"$3^L \geq d_x$": lambda c: 3**c.depth >= c.width}
SPARE_WIDTH = {"H < d_x": lambda c: c.heads < c.width}
ONE_HEAD = {"$H = 1$": lambda c: c.heads == 1}
