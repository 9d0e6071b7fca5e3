"""The dimension count S(d, L) as a bound on the separation rank, which one head often attains.

With one token on each side the count is smaller: parts by bidegree in place of moments.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sympy import Integer, Min, Piecewise, Sum, binomial

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.evaluation import MOST_DIGITS
from ..claims.symbols import tokens as N
from ..claims.values import PowerOfTen
from .dimension_count import dimension_count as count, log3_dimension_count
from .rank_symbols import ONE_HEAD, C, D, Eq, Le, d, dimension_sum, k
from .value_rank import measured_rank, sep

SMALL = (
    *Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=(2, 4)),
    *Case.grid(width=3, depth=2, heads=(1, 3), tokens=(2, 4)),
    *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=4),
)
LARGER = (
    *Case.grid(width=(3, 4), depth=1, heads=1, tokens=(2, 4)),
    *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=2),
    *Case.grid(width=(2, 3, 4), depth=2, heads=1, tokens=(6, 8, 10)),
    *Case.grid(width=5, depth=2, heads=(1, 5), tokens=(2, 4, 6)),
    *Case.grid(width=6, depth=2, heads=(1, 2, 3, 6), tokens=2),
)
LARGEST = (
    *Case.grid(width=6, depth=2, heads=(1, 2, 3, 6), tokens=4),
    *Case.grid(width=3, depth=3, heads=(1, 3), tokens=2),
    *Case.grid(width=2, depth=4, heads=(1, 2), tokens=2),
)
RESIDUAL = {
    "quick": (
        *Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=6, residual=True),
        *Case.grid(width=3, depth=(1, 2), heads=(1, 3), tokens=4, residual=True),
    ),
    "theory": (
        *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=(4, 6), residual=True),
        *Case.grid(width=2, depth=3, heads=(1, 2), tokens=6, residual=True),
    ),
}

_AFTER_LEVINE = Source(
    "depthlaw", "dimension count in the moments, after eqs. (3)-(4) of levine2020"
)


def _count(case: Case) -> Integer | PowerOfTen:
    """S(d, L) by its closed form, at any size."""
    log10 = log3_dimension_count(case.width, case.depth)[1] * math.log10(3)
    if log10 > MOST_DIGITS:
        return PowerOfTen(1, Fraction(log10))
    return Integer(count(case.width, case.depth))


@claim(
    # SymPy compares the sides of a relation that is not told to stay as it is; for S that takes
    # longer than all else that is made here.
    Le(sep, dimension_sum()),
    source=_AFTER_LEVINE,
    headline="The upper bound on separation ranks, for all weights, that exact ranks are held to.",
    cases={
        "quick": (*SMALL, *RESIDUAL["quick"]),
        "theory": (*LARGER, *RESIDUAL["theory"]),
        "full": LARGEST,
    },
    closed=_count,
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=4),
        "one output polynomial in place of $d$",
        Le(sep, Sum(Min(binomial(D + k - 1, k), binomial(D + C - k - 1, C - k)), (k, 0, C))),
    ),
    cited="Decides whether $S(d, L)$ may be used as a cap on the rank of linearised attention.",
    formal=Formal(
        "SeparationRank.dimension_count_checked",
        "Counts.S_value {width} {depth}",
        "Nothing: the net, any two sides of its tokens, and sums of products of functions of them, "
        "as in the claim, over every commutative ring.",
    ),
)
def dimension_count(case: Case, seed: int) -> Exact:
    r"""The dimension count $S(d, L)$ bounds the rank.

    For all weights, heads and tokens, with or without residual connections, $\operatorname{sep}
    \leq S(d, L) = \sum_{k = 0}^C \min(d \binom{D+k-1}{k}, \binom{D+C-k-1}{C-k})$, $D = d(d+1)/2$.

    The $k$-th term bounds the rank of a catalecticant matrix, which pairs derivatives of order $k$
    with forms of degree $C - k$. With residual connections the degrees in the two sides' moments
    add up to at most $C$ in place of exactly $C$, and the bound is the closed form of $S$. Random
    weights have the largest rank of all but a chance of at most `misses`, so they test the bound
    for all weights. The page docs/separation-rank-dimension-count.md proves it for all weights; the
    proof that the kernel has checked takes the way of that page for residual connections.
    """
    return measured_rank(case, seed)


@claim(
    Eq(sep, Piecewise((binomial(d + C, C), Eq(N, 2)), (dimension_sum(), True))),
    source=_AFTER_LEVINE,
    holds_for="almost every",
    assumes=ONE_HEAD,
    cases={
        "quick": (
            *Case.grid(width=2, depth=(1, 2, 3), heads=1, tokens=4),
            *Case.grid(width=(3, 4), depth=(1, 2), heads=1, tokens=4),
            *Case.grid(width=2, depth=(1, 2, 3), heads=1, tokens=2),
            *Case.grid(width=(3, 4, 5), depth=(1, 2), heads=1, tokens=2),
        ),
        "theory": (
            *Case.grid(width=(2, 3, 4), depth=2, heads=1, tokens=(6, 8, 10)),
            *Case.grid(width=(5, 6), depth=2, heads=1, tokens=4),
            Case(width=3, depth=3, heads=1, tokens=2),
        ),
        "full": (
            Case(width=2, depth=4, heads=1, tokens=2),
            Case(width=10, depth=2, heads=1, tokens=4),
        ),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=2),
        "$S(2, 2) = 18$ with one token on each side too",
        Eq(sep, dimension_sum()),
    ),
    supports="separation_rank/exact",
)
def generic_one_head(case: Case, seed: int) -> Exact:
    r"""One head attains the count of its tokens in small cases.

    For one head and almost all weights, in every case here, $\operatorname{sep} = S(d, L)$ with at
    least four tokens, and $\operatorname{sep} = \binom{d_x + C(L)}{C(L)}$ with two, one on each
    side; not in general.

    In these cases, not for all $d$ and $L$: fails at (4, 3), see exact_below_count, and at (3, 3)
    with four tokens, see four_tokens. With two tokens it is never larger, for all weights
    (two_tokens_upper). With several heads the rank is mostly smaller and never larger.
    """
    return measured_rank(case, seed)
