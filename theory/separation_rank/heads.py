"""The separation rank with several heads, with four tokens, and with a causal mask.

With H > 1 heads the first layer sees only w = d_x^2 / H linear forms of the D = d_x (d_x + 1) / 2
moments. In the tau = D - w moments that are left the output has degree C(L - 1) in place of C(L),
which clears a corner of every catalecticant: docs/separation-rank.md.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
from flint import Ordering, fmpz_mat, fmpz_mpoly_ctx
from numpy.typing import NDArray
from sympy import Expr, Min, Sum, binomial, floor

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.symbols import quantity, tokens as N
from ..exact.finite_field import matmul, rank
from .graded_pieces import (
    PRIME,
    Piece,
    catalecticant_part,
    exponents_of,
    frontier_forms,
    piece_shape,
)
from .piece_rank import graded_rank
from .rank_symbols import ONE_HEAD, D, Eq, H, L, catalecticant_rank, d, index as i, k
from .value_rank import measured_rank, sep

cut = quantity(
    "cut",
    "s",
    "largest degree of the rows, in the moments that the first layer does not see, "
    "that a bound on a rank counts",
    "integer",
)
restricted = quantity(
    "restricted",
    r"r_k",
    "rank of the part of the output of degree $2 k+1$ in the tokens of the side that is read "
    "and $2(C-k)$ in the others",
)

ON_THE_PAGE: dict[str, Any] = {
    "source": Source("depthlaw", "docs/separation-rank.md"),
    "holds_for": "almost every",
}


# --- several heads --------------------------------------------------------------------------------


def heads_bounds(width: int, depth: int, heads: int, order: int) -> dict[int, int]:
    """The right side of heads_exact at each cut: bounds on rank Cat_k for all weights.

    >>> [min(heads_bounds(4, 2, 4, k).values()) for k in range(5)]
    [4, 36, 34, 10, 1]
    """
    degree, unseen = (3**depth - 1) // 2, (3 ** (depth - 1) - 1) // 2
    rows, columns = (
        [0, *accumulate(_by_unseen_degree(width, heads, n))] for n in (order, degree - order)
    )
    return {
        cut: width * rows[min(cut + 1, order + 1)] + columns[min(unseen - cut, degree - order + 1)]
        for cut in range(-1, unseen + 1)
    }


def _by_unseen_degree(width: int, heads: int, degree: int) -> list[int]:
    """How many monomials have degree 0, 1, ... in the tau moments that the first layer misses.

    A head reads the (d_x/H)^2 entries of W^V M (W^K)^T, all heads together d_x^2/H forms.
    """
    moments = width * (width + 1) // 2
    seen = min(moments, width**2 // heads)
    return [_forms(moments - seen, j) * _forms(seen, degree - j) for j in range(degree + 1)]


def _forms(variables: int, degree: int) -> int:
    return math.comb(variables + degree - 1, degree) if variables else int(degree == 0)


def best_cut(width: int, depth: int, heads: int, order: int) -> int:
    """The first cut at which `heads_bounds` is least.

    >>> best_cut(4, 2, 4, 1)
    0
    """
    bounds = heads_bounds(width, depth, heads, order)
    return min(bounds, key=lambda cut: bounds[cut])


def _cases(*shapes: tuple[int, int, int], largest: int = 800) -> list[Case]:
    """All graded pieces of some nets (d, L, H) whose shorter side is not too large."""
    return [
        Case(width=d, depth=L, heads=H, order=k, cut=best_cut(d, L, H, k))
        for d, L, H in shapes
        for k in range((3**L + 1) // 2)
        if min(piece_shape(d, L, k)) <= largest
    ]


def _by_degrees(degree: Expr) -> Expr:
    return binomial(D - d**2 / H + i - 1, i) * binomial(d**2 / H + degree - i - 1, degree - i)


# C(L - 1), whole for every constant: SymPy does not end on a sum to a negative fraction.
_REACH = floor(3 ** (L - 1) / 2)
_REST = (3**L - 1) / 2 - k


@claim(
    Eq(
        catalecticant_rank,
        d * Sum(_by_degrees(k), (i, 0, cut)) + Sum(_by_degrees(_REST), (i, 0, _REACH - 1 - cut)),
    ),
    **ON_THE_PAGE,
    assumes={r"$H \geq 2$": lambda c: c.heads >= 2},
    cases={
        "quick": _cases((2, 1, 2), (2, 2, 2), (2, 3, 2), (3, 2, 3), (4, 2, 2), (4, 2, 4)),
        "theory": _cases(
            (2, 4, 2),
            (3, 3, 3),
            (5, 2, 5),
            (6, 2, 2),
            (6, 2, 3),
            (6, 2, 6),
            (4, 3, 2),
            (8, 2, 4),
            (8, 2, 8),
        ),
        "full": [
            *_cases((4, 3, 4)),
            *_cases((2, 5, 2), (9, 2, 3), (10, 2, 2), (10, 2, 5), (10, 2, 10), largest=3000),
        ],
    },
    control=Control(
        Case(width=4, depth=2, heads=4, order=2, cut=0),
        "a cut that is not the best one: the bound is not attained",
    ),
    cited="Bears on whether ranks of one head may be quoted for several.",
)
def heads_exact(case: Case, seed: int) -> Exact:
    r"""In the cases measured one formula with a listed cut gives the ranks of several heads.

    For $H \geq 2$ and almost all weights, in every case measured, rank $\mathrm{Cat}_k = d_x
    \sum_{i \leq s} \binom{\tau+i-1}{i} \binom{w+k-i-1}{k-i} + \sum_{j \leq C(L-1)-1-s}
    \binom{\tau+j-1}{j} \binom{w+C-k-j-1}{C-k-j}$ with $w = d_x^2/H$ and $\tau = D -
    w$, at the cut $s$ that is listed.

    For all weights and every cut $-1 \leq s \leq C(L-1)$ the right side is an upper bound: argued
    in words on the page named as the source, no machine has checked that, so that the verdict is
    HOLDS. The lower half is a rank modulo a prime. Not claimed for all $d_x$, $L$ and $H$: one head
    falls short at (4, 3), see count_loss. With enough tokens $\operatorname{sep}$ is the sum over
    $k$. For $H \geq 2$ and $L \geq 2$ that is below $S(d_x, L)$, so that several heads have a
    smaller rank than one where one attains $S$: argued in words, for all shapes and weights, on
    that page, and compared in a test.
    """
    forms = frontier_forms(case.width, case.depth, case.heads, seed)
    measured = graded_rank(forms, case.order, seed=seed)
    # The staircase bounds the rank at all weights, as the page argues.
    most = min(_staircase(case), *piece_shape(case.width, case.depth, case.order))
    return Exact(measured, misses=0.0 if measured == most else 1.0)


def _staircase(case: Case) -> int:
    """The largest matching of rows with columns of unseen degrees i + j <= C(L-1), where entries
    need not vanish."""
    degree, reach = (3**case.depth - 1) // 2, (3 ** (case.depth - 1) - 1) // 2
    rows = [case.width * n for n in _by_unseen_degree(case.width, case.heads, case.order)]
    columns = _by_unseen_degree(case.width, case.heads, degree - case.order)
    matched = free = start = 0
    # Columns of high degree have the fewest rows to go with, which go with every later column.
    for j in range(min(reach, len(columns) - 1), -1, -1):
        free += sum(rows[start : reach - j + 1])
        start = reach - j + 1
        taken = min(free, columns[j])
        matched, free = matched + taken, free - taken
    return matched


_W = d**2 / H


@claim(
    Eq(
        sep,
        d
        + Min(d * D, d * _W + binomial(_W + 2, 3), evaluate=False)
        + binomial(D + 1, 2)
        - binomial(D - _W + 1, 2)
        + D
        + 1,
    ),
    **ON_THE_PAGE,
    assumes={
        "$L = 2$": lambda c: c.depth == 2,
        r"$H \geq 2$": lambda c: c.heads >= 2,
        r"$N \geq 4$": lambda c: c.tokens >= 4,
    },
    cases={
        "quick": (
            Case(width=2, depth=2, heads=2, tokens=4),
            Case(width=3, depth=2, heads=3, tokens=4),
            *Case.grid(width=4, depth=2, heads=(2, 4), tokens=(4, 8)),
        ),
        "theory": (
            Case(width=5, depth=2, heads=5, tokens=4),
            Case(width=6, depth=2, heads=6, tokens=4),
        ),
        "full": Case.grid(width=6, depth=2, heads=(2, 3), tokens=4),
    },
    control=Control(Case(width=4, depth=2, heads=4, tokens=2), "one token on each side"),
    supports="separation_rank/heads_exact",
)
def heads_two_layers(case: Case, seed: int) -> Exact:
    r"""In the cases measured a closed form gives the rank of two layers with several heads.

    For $L = 2$, $H \geq 2$, at least four tokens and almost all weights, in every case measured
    $\operatorname{sep} = d_x + \min(d_x D, d_x w + \binom{w+2}{3}) + \binom{D+1}{2} -
    \binom{D-w+1}{2} + D + 1$ with $w = d_x^2/H$: less than $S(d_x, 2)$.

    By values at tokens, another route than heads_exact. For all weights it is no larger, as argued
    there. One head attains $S$ here: 17 of 18 at $d = 2$; 43 of 49 at $d = H = 3$; 107 and 85 of
    110 at $d = 4$ with two and four heads; in a test, at $L = 3$, 215 of 232 at $d = 2$. At $L = 1$
    several heads attain $S = d + 1$. The second term of the minimum is the smaller one only for
    $H = d_x \geq 4$.
    """
    return measured_rank(case, seed)


# --- four tokens ----------------------------------------------------------------------------------


def _two_rows(p: Expr, q: Expr) -> Expr:
    """The dimension of the irreducible GL_d-module of the partition (p, q)."""
    return (p - q + 1) / (p + 1) * binomial(p + d - 1, p) * binomial(q + d - 2, q)


def _pieces(*shapes: tuple[int, int]) -> list[Case]:
    return [
        Case(width=d, depth=L, heads=1, tokens=4, order=k)
        for d, L in shapes
        for k in range((3**L + 1) // 2)
    ]


@claim(
    Eq(
        restricted,
        Min(
            Sum(_two_rows(2 * k + 1 - i, i), (i, 0, k)),
            Sum(_two_rows(2 * _REST - 2 * i, 2 * i), (i, 0, floor(_REST / 2))),
            evaluate=False,
        ),
    ),
    **ON_THE_PAGE,
    assumes={**ONE_HEAD, "$N = 4$": lambda c: c.tokens == 4, r"$d \geq 2$": lambda c: c.width >= 2},
    cases={
        "quick": _pieces((2, 2), (3, 2), (4, 2), (2, 3)),
        "theory": _pieces((3, 3), (5, 2), (6, 2)),
    },
    control=Control(
        Case(width=3, depth=3, heads=1, order=6, tokens=6),
        "three tokens on each side: at width 3 the whole catalecticant",
    ),
    supports="separation_rank/exact",
)
def four_tokens(case: Case, seed: int) -> Exact:
    r"""In the cases measured dimensions of modules give one head's ranks with four tokens.

    For one head, two tokens on each side and almost all weights, in every case measured, the part
    of order $k$ has rank $\min(a, b)$: a and $b$ add up the dimensions of the GL_d-modules of the
    partitions $(2 k+1-q, q)$, and $(2 e-2 q, 2 q)$ with $e = C - k$.

    For all weights and heads it is no larger: argued in words, as for heads_exact. Adds up to $S$
    where that is known to be reached with four tokens, but at $d_x = 3$, $L = 3$ to 2640, not
    $S = 3102$.
    """
    forms, half = frontier_forms(case.width, case.depth, case.heads, seed), case.tokens // 2
    rest, rng = forms.degree - case.order, case.rng(seed)
    shape = piece_shape(case.width, case.depth, case.order)
    odd = sum(_module(case.width, 2 * case.order + 1 - q, q) for q in range(case.order + 1))
    even = sum(_module(case.width, 2 * rest - q, q) for q in range(0, rest + 1, 2))
    most = min(odd, even) if half == 2 else min(shape)
    left, right = (rng.integers(0, forms.prime, (most + 2, half, case.width)) for _ in range(2))
    # E_u Cat_k E_v^T, with the monomials of either side at random inputs.
    rows = _divided_powers(left, case.order)
    rows = (left[:, 0, :, None] * rows[:, None, :] % forms.prime).reshape(len(left), -1)
    matrix = catalecticant_part(forms, case.order, Piece(*map(np.arange, shape)))
    if 2 * case.order > forms.degree:
        matrix = matrix.T
    columns = _divided_powers(right, rest).T
    measured = rank(matmul(matmul(rows, matrix, forms.prime), columns, forms.prime), forms.prime)
    return Exact(measured, misses=0.0 if measured == most else 1.0)


def _divided_powers(tokens: NDArray[np.int64], degree: int) -> NDArray[np.int64]:
    """M^mu / mu! modulo the prime for all mu of a degree, at each input: array (inputs, mu)."""
    width = tokens.shape[-1]
    moments = np.einsum("nta,ntb->nab", tokens, tokens % PRIME) % PRIME
    values = [moments[:, a, b] for a in range(width) for b in range(a, width)]
    monomials = math.comb(len(values) + degree - 1, degree)
    exponents = exponents_of(len(values), degree, np.arange(monomials))
    product = np.ones((len(tokens), monomials), dtype=np.int64)
    for value, powers in zip(values, exponents, strict=True):
        table = np.ones((len(tokens), degree + 1), dtype=np.int64)
        for e in range(1, degree + 1):
            table[:, e] = table[:, e - 1] * value % PRIME * pow(e, -1, PRIME) % PRIME
        product = product * table[:, powers] % PRIME
    return product


def _module(width: int, p: int, q: int) -> int:
    """The same dimension by the determinant of Jacobi and Trudi."""
    corner = _forms(width, p + 1) * _forms(width, q - 1) if q else 0
    return _forms(width, p) * _forms(width, q) - corner


# --- the causal mask ------------------------------------------------------------------------------


@claim(
    Eq(sep, 2 * N + 1),
    **ON_THE_PAGE,
    assumes={
        "$d = 1$": lambda c: c.width == 1,
        "$L = 2$": lambda c: c.depth == 2,
        "the sides own the tokens in turn": lambda c: c.get("alternating", True),
    },
    cases={
        "quick": Case.grid(width=1, depth=2, tokens=(2, 4, 6, 8)),
        "theory": Case.grid(width=1, depth=2, tokens=(10, 12, 16)),
    },
    control=Control(
        Case(width=1, depth=2, tokens=6, alternating=False),
        "one side before the other: $5 = S(1, 2)$, however many tokens",
    ),
    cited="Decides whether rank bounds without $N$ may be used for causal decoders.",
)
def causal_alternating(case: Case) -> Exact:
    r"""With a causal mask the rank grows with the tokens.

    For a causal mask, width 1, depth 2, the last position, sides that own the tokens in turn, and
    all weights that are not zero, $\operatorname{sep} = 2 N + 1$.

    Argued in words for all $N$ on the page named as the source; a test confirms its expansion for
    $N \leq 8$. Without the mask $\operatorname{sep} \leq S(1, 2) = 5$. If it is so for all $N$, no
    bound without $N$ survives the mask where sides alternate: weights of any width may use one
    coordinate only.
    """
    # Up to its weights and the last token, the output is a polynomial in the squares of the tokens,
    # which fill an open set: the rank is that of the matrix of its coefficients over Q.
    names = [f"s{i}" for i in range(case.tokens)]
    ring = fmpz_mpoly_ctx.get(names, ordering=Ordering.degrevlex)
    squares, output = list(ring.gens()), ring.constant(1)
    for _ in range(case.depth):
        sums = [sum(squares[1 : j + 1], squares[0]) for j in range(len(squares))]
        output = output * sums[-1]
        squares = [s * m * m for s, m in zip(squares, sums, strict=True)]
    sides = (range(0, case.tokens, 2), range(1, case.tokens, 2))
    if not case.get("alternating", True):
        sides = (range(case.tokens // 2), range(case.tokens // 2, case.tokens))
    return Exact(_coefficient_rank(output.to_dict(), sides))


def _coefficient_rank(polynomial: dict[Any, Any], sides: tuple[range, range]) -> int:
    """The rank of the coefficients, with a row for each monomial of one side."""
    numbers: tuple[dict[tuple[int, ...], int], ...] = ({}, {})
    entries = []
    for exponents, coefficient in polynomial.items():
        place = []
        for seen, side in zip(numbers, sides, strict=True):
            place.append(seen.setdefault(tuple(int(exponents[i]) for i in side), len(seen)))
        entries.append((*place, int(coefficient)))
    matrix = fmpz_mat(*map(len, numbers))
    for row, column, coefficient in entries:
        matrix[row, column] = coefficient
    return int(matrix.rank())
