"""Floors that no training can beat: the best error at a given rank, and the widths at which it is
gone.

A function of separation rank at most r has values of rank at most r on every grid, so it differs
from a target there, in the Frobenius norm, by at least the root of the sum of the squares of the
target's singular values beyond the r-th.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Rational, symbols
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, at, claim
from ..claims.proof_steps import remark, vanish
from ..claims.symbols import quantity
from ..depth_choice.inversion import first
from ..exact.singular_values import Tails, tails
from .dimension_count import dimension_count, moments_degree
from .rank_symbols import Eq, Ge, L, d
from .value_rank import separation_rank

squared_error = quantity(
    "squared_error",
    r"\|F - G\|_F^2 / \|F\|_F^2",
    "squared distance of a matrix to one of rank at most r, relative to its squared norm",
    "nonnegative real",
)
squared_tail = quantity(
    "squared_tail",
    r"\sum_{i>r} \sigma_i^2 / \|F\|_F^2",
    "share of the squared singular values from the (r+1)-th on",
    "nonnegative real",
)
width_needed = quantity(
    "width_needed",
    "d_s",
    "least width at which a random net of $L_s$ layers, one head, has the rank of one of $L_t$ "
    "layers",
)
least = quantity(
    "least_width",
    r"\min\{d : S(d, L_s) \geq S(d_t, L_t)\}",
    "least width at which the dimension count of $L_s$ layers reaches that of the teacher",
)


def rank_bound(width: int, depth: int, tokens: int, vocabulary: int) -> int:
    """A bound on the separation rank of every linearised net that reads V ids through an embedding
    of width d, without residual connections, with so many tokens on each side; a ValueError for
    numbers below 1.

    The embedded tokens span at most m = min(d, V) dimensions, in which the output has the form of
    one of width m. So its rank is at most S(m, L), and with one token on each side at most
    binom(m + C, C), C = (3^L-1)/2. Both bounds are theorems that a proof kernel has
    checked (dimension_count, two_tokens_upper; for m < d SeparationRank.separation_rank_low_rank).

    >>> rank_bound(4, 2, tokens=2, vocabulary=64), rank_bound(4, 2, tokens=1, vocabulary=64)
    (110, 70)
    >>> rank_bound(100, 1, tokens=2, vocabulary=64)
    65

    References: `separation_rank/dimension_count`, `two_tokens_upper`, `low_rank_inputs`.
    """
    if min(width, depth, tokens, vocabulary) < 1:
        raise ValueError(
            f"width={width}, depth={depth}, tokens={tokens}, vocabulary={vocabulary}: "
            "accepted are numbers from 1 on"
        )
    m, degree = min(width, vocabulary), moments_degree(depth)
    count = dimension_count(m, depth)
    return min(count, comb(m + degree, degree)) if tokens == 1 else count


def least_width(goal: int, depth: int) -> int:
    """The least width whose rank bound reaches a rank, given enough token ids.

    >>> [least_width(232, depth) for depth in (1, 2, 3)]
    [231, 6, 2]
    """
    width = 1
    while rank_bound(width, depth, 2, width) < goal:
        width += 1
    return width


# --- Eckart and Young -----------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _drawn(case: Case, seed: int) -> tuple[NDArray[Any], Tails]:
    """An integer matrix with rows of growing size, so that its tails differ, and its tails."""
    rng = case.rng(seed)
    sizes = 2 ** np.arange(case.side)
    matrix = (rng.integers(-9, 10, (case.side, case.side)) * sizes[:, None]).astype(object)
    return matrix, tails(matrix)


def _tail_squared(statement: Relational, case: Case) -> Ball:
    factor = Fraction(str(statement.rhs / squared_tail))
    ball = _drawn(Case(side=case.side), 0)[1].at(case.rank)
    return Ball(factor * ball.low**2, factor * ball.high**2)


def _relative(matrix: NDArray[Any], other: NDArray[Any]) -> Exact:
    square, off = (
        sum((Fraction(value) ** 2 for value in part.flat), Fraction(0))
        for part in (matrix, matrix - other)
    )
    return Exact(off / square)


def _approximated(case: Case, more: int = 0) -> Exact:
    """The exact squared error of a matrix of rank at most r: one factor random, or of rounded
    singular vectors; the other the best for it up to rounding."""
    matrix, rank = _drawn(Case(side=case.side), 0)[0], case.rank + more
    rough = matrix.astype(float)
    if case.factor == "rounded":
        left = np.rint(256 * np.linalg.svd(rough)[0][:, :rank]) / 256
    else:
        left = np.linalg.qr(case.rng(1).normal(size=(case.side, rank)))[0]
    exact = [
        np.array([[Fraction(float(x)) for x in row] for row in part], dtype=object)
        for part in (left, np.linalg.lstsq(left, rough, rcond=None)[0])
    ]
    return _relative(matrix, exact[0] @ exact[1])


@claim(
    Ge(squared_error, squared_tail),
    source=Source(
        "eckart1936", "best approximation in the Frobenius norm, as textbooks on matrices have it"
    ),
    wording="reported",
    cases={
        "quick": Case.grid(side=(4, 8), rank=(1, 3), factor=("rounded", "random")),
        "theory": Case.grid(side=24, rank=(1, 5, 12, 20), factor=("rounded", "random")),
    },
    predicted=_tail_squared,
    control=Control(
        Case(side=8, rank=1, factor="rounded"),
        "one and a half times the tail",
        Ge(squared_error, Rational(3, 2) * squared_tail),
    ),
    # The candidates are LAPACK's: another NumPy rounds them in another way.
    portable=False,
    supports="trained_rank/floor_holds",
)
def error_floor(case: Case) -> Exact:
    r"""No matrix of rank $r$ comes closer than the tail.

    For every real matrix $F$ and every $G$ of rank at most $r$, $\|F - G\|_F^2$ is at least the sum
    of the squares of the singular values of $F$ from the ($r+1$)-th on.

    Measured is the exact squared distance, relative to $\|F\|_F^2$, to matrices of rank $r$ with
    dyadic entries; predicted is a rigorous enclosure of the tail. The singular vectors of the
    closest ones are rounded to 8 bits: rounded to float64, they would lie above the tail by less
    than it is enclosed to. A textbook theorem, and numbers that agree with it: four of the eight
    quick cases would notice a bound twice as large, three one that is 1 % larger. The theorem's
    wording is recalled; the argument below is complete without it.
    """
    return _approximated(case)


def _spare(statement: Relational, count: int, rank: int) -> Any:
    """What of the error exceeds the stated tail, less terms that are not negative, relative to
    ||F||_F^2: from eigenvalues of F^T F and the diagonal of P in their basis."""
    values, shares = (symbols(f"{name}1:{count + 1}", nonnegative=True) for name in ("lambda", "p"))
    last, total = values[rank - 1], sum(values)
    error = total - sum(value * share for value, share in zip(values, shares, strict=True))
    tail = statement.rhs.subs(squared_tail, sum(values[rank:]) / total) * total
    terms = (
        last * (rank - sum(shares))
        + sum((values[i] - last) * (1 - shares[i]) for i in range(rank))
        + sum((last - values[i]) * shares[i] for i in range(rank, count))
    )
    return (error - tail - terms) / total


@error_floor.argument(
    "A textbook proof, most of it prose: the spectral theorem, the projection on the row space, "
    "and that its diagonal in an orthonormal basis lies between 0 and 1 and adds up to at most "
    "$r$. The machine confirms the last identity, for up to five eigenvalues; for more it is "
    "the same, term by term."
)
def _(statement: Relational) -> Iterator[Step]:
    """With P the projection on the row space of G, ||F-G||^2 >= ||F||^2 - tr(P F^T F), and the
    trace is a sum of eigenvalues with weights in [0, 1] that add up to at most r."""
    yield remark("G = G P, so ||F - G||^2 - ||F (I - P)||^2 = ||(F - G) P||^2 >= 0")
    yield remark(
        "||F (I - P)||^2 = ||F||^2 - tr(P F^T F), and the trace is sum_i lambda_i p_i: "
        "eigenvalues lambda_i of F^T F, and weights 0 <= p_i <= 1 of sum at most r"
    )
    holds = vanish("", *(_spare(statement, n, r) for n in range(2, 6) for r in range(1, n))).holds
    yield Step(
        "sum_i lambda_i - sum_i lambda_i p_i is the stated tail plus "
        "lambda_r (r - sum_i p_i) + sum_{i<=r} (lambda_i - lambda_r) (1 - p_i) "
        "+ sum_{i>r} (lambda_r - lambda_i) p_i",
        statement.rel_op == ">=" and statement.lhs == squared_error and holds,
    )
    yield remark("no factor of these terms is negative, for lambda_1 >= lambda_2 >= ... >= 0")


# --- the width at which a floor is gone -----------------------------------------------------------


def _least(statement: Relational, case: Case) -> Any:
    if statement.rhs != least:
        return at(statement.rhs, case)
    return least_width(dimension_count(case.width, case.depth), case.student_depth)


def _rank_at(width: int, depth: int, seed: int, enough: int) -> int:
    """The rank of a random net with two tokens a side, or `enough` where it is at least that."""
    rng = Case(width=width, depth=depth).rng(seed)
    return int(separation_rank(rng, width=width, depth=depth, tokens=4, inputs=enough).value)


@claim(
    Eq(width_needed, least),
    predicted=_least,
    kind="two-sided",
    source=Source("depthlaw", "from separation_rank/dimension_count and generic_one_head"),
    holds_for="almost every",
    assumes={"$L_s < L_t$": lambda c: c.student_depth < c.depth},
    premises=("separation_rank/dimension_count",),
    cases={
        "quick": Case.grid(width=(2, 3), depth=2, student_depth=1),
        "theory": (Case(width=2, depth=3, student_depth=2),),
        "full": (Case(width=4, depth=2, student_depth=1),),
    },
    control=Control(
        Case(width=3, depth=2, student_depth=1), "width times depth", Eq(width_needed, d * L)
    ),
    supports="trained_rank/floor_holds",
)
def width_without_floor(case: Case, seed: int) -> Exact:
    r"""A shallow student has rank enough once its dimension count reaches the teacher's.

    For one head, two tokens a side and almost all weights, the least width at which a net of $L_s$
    layers has the separation rank of one of width $d_t$ and $L_t$ layers is min{$d$ :
    $S(d, L_s) \geq S(d_t, L_t)$}, in every case measured.

    Below it every student of $L_s$ layers, with any number of heads, has an error floor on some
    grid; from it on the rank excludes nothing, but no net is shown to attain the teacher: enough
    rank is necessary, not sufficient. Beside Corollaries 1 and 2: both are about other sizes
    ($d_x > 3^L$ with $d_x - H > 2 \cdot 3^{L-2}$, and $L \geq 100 \delta$), so neither says
    anything of these. The bound $(d' + H')^{C(L')}$ that Corollary 1 rests on would allow, at
    $H' = 1$, width 3 for (2, 3) and two layers, where 6 is needed; for one layer it is $d' + 1$, as
    $S$. Measured: the ranks of random nets at width $d$ and $d - 1$ over a prime field, for the
    first $d$ that is wide enough.
    """
    goal = _rank_at(case.width, case.depth, seed, dimension_count(case.width, case.depth))
    return Exact(first(lambda d: _rank_at(d, case.student_depth, seed, goal) >= goal))
