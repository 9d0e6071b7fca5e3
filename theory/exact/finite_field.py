"""Linear algebra over F_p by float64 BLAS, for odd primes below 2^26: product, rank, PLE, solving.

The elimination halves the columns recursively, so nearly all of its work is in large products;
these are exact, and the reduction modulo p waits until an entry is used (see `residues`). It takes
no random choices. Matrices are of all types that `centred` takes; others raise a ValueError.

The same code runs on NumPy arrays and on arrays of any library with NumPy's names (torch tensors,
on a GPU too); only the panels, 64 columns wide, are eliminated on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import flint
import numpy as np

from .panel_elimination import Integers, eliminate_panel, permute
from .residues import (
    PANEL,
    TILE,
    Array,
    PrimeField,
    centred,
    checked_prime,
    default_prime,
    inverses_of,
    matrix_of,
    pieces,
    residues,
    room,
    unit_inverse,
)

__all__ = [
    "PLE",
    "EliminationCost",
    "RankProfile",
    "Relations",
    "centred",
    "default_prime",
    "elimination_cost",
    "flint_side",
    "matmul",
    "ple",
    "rank",
    "rank_profile",
    "relations",
    "triangular_solve",
]

# Up to this side python-flint finds most ranks faster, although every entry reaches it as a Python
# integer; beyond, that alone costs more than the elimination. Measured: docs/finite-field.md.
FLINT_SIDE = 120


# --- products -------------------------------------------------------------------------------------


def matmul(a: Array, b: Array, p: int) -> Array:
    """The product of two matrices over F_p: centred residues as float64, zero for k = 0.

    >>> matmul([[1, 2], [3, 4]], [[1], [1]], 5).tolist()
    [[-2.0], [2.0]]

    Cost: 2 m n k operations of BLAS, ceil(k / room) reductions of m n entries. Memory: both
    arguments as float64, the result and two tiles of 8 MB.
    """
    left, right = matrix_of(a), matrix_of(b)
    field = PrimeField(p, left)
    if left.shape[1] != right.shape[0]:
        raise ValueError(
            f"shapes {tuple(left.shape)} and {tuple(right.shape)} do not multiply: "
            "the inner lengths differ"
        )
    left, right = residues(left, field), residues(right, field)
    c = field.zeros((left.shape[0], right.shape[1]))
    left *= -1.0
    field.subtract_product(c, left, right)
    # Twice, as the first leaves |c| <= p//2 + 2.
    field.reduce(c)
    field.reduce(c)
    return c


def triangular_solve(
    t: Array, b: Array, p: int, *, lower: bool = True, unit: bool = False
) -> Array:
    """The solution x of t x = b over F_p for a triangular t, by n^2 k operations of BLAS.

    Args:
        t: shape (n, n), with no zero on the diagonal; entries beyond the triangle do not matter.
        b: shape (n, k).
        lower, unit: whether t is lower triangular, else upper, and its diagonal is taken as ones.

    >>> triangular_solve([[2, 0], [1, 1]], [[2], [4]], 7).tolist()
    [[1.0], [3.0]]
    """
    triangle, x = matrix_of(t), matrix_of(b)
    if not triangle.shape[0] == triangle.shape[1] == x.shape[0]:
        raise ValueError(
            f"shapes {tuple(triangle.shape)} and {tuple(x.shape)}: needed are (n, n) and (n, k)"
        )
    field = PrimeField(p, triangle)
    triangle, x = residues(triangle, field), residues(x, field)
    if not unit:
        # Row by row divided by the diagonal: a triangle with ones, and the same solution.
        inverses = field.from_host(inverses_of(field.to_host(triangle.diagonal()), field))[:, None]
        for array in (triangle, x):
            array *= inverses
            field.reduce(array)
    _solve_unit(field, triangle, x, lower)
    field.reduce(x)
    return x


def _solve_unit(field: PrimeField, t: Array, x: Array, lower: bool, waiting: int = 0) -> None:
    """x = t^-1 x in place for a triangle with ones; its diagonal blocks are inverted in stacks."""
    n, b = t.shape[0], field.panel
    if not n or not x.shape[1]:
        return
    whole = [t[i : i + b, i : i + b] for i in range(0, n - n % b, b)]
    rest = [t[n - n % b :, n - n % b :]] if n % b else []
    inverses = [
        *(unit_inverse(field, field.xp.stack(whole), lower) if whole else []),
        *(unit_inverse(field, r, lower) for r in rest),
    ]
    _solve_blocks(field, t, x, lower, waiting, inverses)


def _solve_blocks(
    field: PrimeField, t: Array, x: Array, lower: bool, waiting: int, inverses: list[Array]
) -> None:
    """By halves. No inner function: one that calls itself is a cycle of references, which keeps t
    and x in memory."""
    if len(inverses) == 1:
        for cols in pieces(x.shape[1], 16 * field.tile):
            part = x[:, cols]
            if waiting:
                field.reduce(part)
            field.product(inverses[0], part, out=part)
        return
    middle = len(inverses) // 2
    cut = middle * field.panel
    top, bottom = (slice(cut), inverses[:middle]), (slice(cut, None), inverses[middle:])
    (first, some), (second, others) = (top, bottom) if lower else (bottom, top)
    _solve_blocks(field, t[first, first], x[first], lower, waiting, some)
    waiting = field.subtract_product(x[second], t[second, first], x[first], waiting)
    _solve_blocks(field, t[second, second], x[second], lower, waiting, others)


# --- elimination ----------------------------------------------------------------------------------


class RankProfile(NamedTuple):
    """The first linearly independent rows and columns; the minor they select is not zero."""

    rows: Integers
    columns: Integers


class PLE(NamedTuple):
    """a[order] = lower @ upper mod p; the first r of `order` are the pivot rows. lower (m, r) has
    ones on its diagonal; row i of upper (r, n) starts at columns[i], and columns increase."""

    order: Integers
    columns: Integers
    lower: Array
    upper: Array


def flint_side(p: int) -> int:
    """Up to which side python-flint is the faster route to a rank modulo p.

    The elimination takes twice as long modulo a small prime, where a leading minor vanishes in most
    panels, and modulo one whose room is less than 16, where every product is cut into pieces.

    >>> flint_side(default_prime(100)), flint_side(3), flint_side(67108859)
    (120, 240, 240)
    """
    return FLINT_SIDE if p > 1000 and room(p) >= 16 else 2 * FLINT_SIDE


def rank(a: Array, p: int, *, overwrite: bool = False) -> int:
    """The rank of a matrix over F_p; of a small NumPy array by python-flint, see `flint_side`.

    For an integer matrix it is at most the rank over the rationals: a minor that is not zero modulo
    p is not zero. So it proves a lower bound, with `rank_profile` as the witness.

    Args:
        a: shape (m, n).
        p: an odd prime below 2^26.
        overwrite: a, a float64 matrix of centred residues, may be worked in, so that no copy is
            made. Peak memory is the copy and a few tiles.

    >>> rank([[1, 2], [3, 6], [1, 1]], 101)
    2

    Cost: 2 (m n r - (m + n) r^2/2 + r^3/3) operations; see `elimination_cost`.

    References: Jeannerod, Pernet, Storjohann 2013, arXiv:1112.5717v3 (recursive elimination in time
    that follows the rank); Dumas, Giorgi, Pernet 2008, arXiv:cs/0601133v3 (delayed reduction).
    """
    matrix = matrix_of(a)
    field = PrimeField(p, matrix)
    if field.host and max(matrix.shape) <= flint_side(int(p)):
        entries = residues(matrix, field, overwrite).astype(np.int64).ravel().tolist()
        # Through a matrix of integers, into which entries are read faster.
        integers = flint.fmpz_mat(matrix.shape[0], matrix.shape[1], entries)
        return int(flint.nmod_mat(integers, int(p)).rank())
    return len(rank_profile(matrix, p, overwrite=overwrite).columns)


def rank_profile(a: Array, p: int, *, overwrite: bool = False) -> RankProfile:
    """The lexicographically first independent rows and columns of a matrix over F_p.

    Their number is the rank, and a[rows][:, columns] is invertible modulo p: a witness that is
    checked by one determinant. They are the first ones because the pivot of each column is its
    topmost non-zero entry: then a row changes only by pivot rows above it.

    >>> profile = rank_profile([[0, 0, 1], [0, 0, 2], [0, 5, 0]], 101)
    >>> profile.rows.tolist(), profile.columns.tolist()
    ([0, 2], [1, 2])

    References: Dumas, Pernet, Sultan 2015, arXiv:1501.05239v2.
    """
    matrix = matrix_of(a)
    field = PrimeField(p, matrix)
    # A matrix that is not tall is finished when its rows are used up, mostly after as many columns.
    tall = matrix.shape[0] > matrix.shape[1] and not overwrite
    work = residues(matrix.T if tall else matrix, field, overwrite)
    order, columns = _eliminate(field, work)
    rows = np.arange(work.shape[0], dtype=np.int64)
    rows[: len(order)] = order
    selected = np.sort(rows[: len(columns)]), np.array(columns, dtype=np.int64)
    return RankProfile(*(selected[::-1] if tall else selected))


def ple(a: Array, p: int) -> PLE:
    """The PLE decomposition a[order] = lower upper over F_p: LU with pivoting for all matrices.

    Cost: as `rank`; peak memory is that of a, lower and upper.

    >>> result = ple([[0, 2], [3, 1]], 7)
    >>> result.order.tolist(), result.columns.tolist(), result.lower.tolist(), result.upper.tolist()
    ([1, 0], [0, 1], [[1.0, 0.0], [0.0, 1.0]], [[3.0, 1.0], [0.0, 2.0]])

    References: Jeannerod, Pernet, Storjohann 2013, arXiv:1112.5717v3.
    """
    matrix = matrix_of(a)
    field = PrimeField(p, matrix)
    work = residues(matrix, field)
    order, columns = _eliminate(field, work, whole=True)
    rows, r = np.arange(work.shape[0], dtype=np.int64), len(columns)
    rows[: len(order)] = order
    lower = field.xp.tril(work[:, columns], -1)
    lower[:r] += field.from_host(np.eye(r))
    upper = work[:r] + 0.0
    upper[:, columns] = field.xp.triu(upper[:, columns])
    field.reduce(lower)
    field.reduce(upper)
    return PLE(rows, np.array(columns, dtype=np.int64), lower, upper)


class Relations(NamedTuple):
    """Rows (axis 0) or columns (axis 1) of a matrix: those chosen are independent, others combine:
    a[:, others] = a[:, chosen] @ coefficients, a[others] = coefficients.T @ a[chosen] mod p."""

    chosen: Integers
    others: Integers
    coefficients: Array
    axis: int

    def refined(self, more: Array, p: int) -> Relations:
        """The relations with `more` below (axis 1) or beside (axis 0); the rank is len(chosen).

        Of the basis of vanishing combinations, one for each of `others`, `more` makes lines whose
        rank is what it adds to the rank, and whose relations are those that are left.

        >>> relations([[1, 2, 3]], 101).refined([[1, 2, 4]], 101).chosen.tolist()
        [0, 2]

        Cost: 2 r e operations for each row (column) of `more`, e = len(others), and 2 r e s where
        the rank grows by s. Memory: `more` three times as float64, and the new coefficients.
        """
        matrix = matrix_of(more)
        field, x, r = PrimeField(p, matrix), self.coefficients, len(self.chosen)
        lines = r + len(self.others)
        if matrix.shape[self.axis] != lines:
            raise ValueError(
                f"shape {tuple(matrix.shape)}: needed are {lines} along axis "
                f"{self.axis}, as in the first part"
            )
        matrix = residues(matrix, field)
        left = matrix[:, self.others.tolist()] if self.axis else matrix[self.others.tolist()]
        if self.axis:
            field.subtract_product(left, matrix, x, columns=self.chosen.tolist())
        else:
            field.subtract_product(left, x.T, matrix[self.chosen.tolist()])
        other_relations = relations(left if self.axis else left.T, p)
        if not len(other_relations.chosen):
            return self
        refined = field.zeros((r + len(other_relations.chosen), len(other_relations.others)))
        two = field.from_host(other_relations.others)
        for rows in field.parts(x):
            refined[:r][rows] = x[rows][:, two]
        refined[r:] = other_relations.coefficients
        field.subtract_product(
            refined[:r], x, other_relations.coefficients, columns=other_relations.chosen.tolist()
        )
        field.reduce(refined)
        field.reduce(refined)
        chosen = np.concatenate([self.chosen, self.others[other_relations.chosen]])
        return Relations(chosen, self.others[other_relations.others], refined, self.axis)


def relations(a: Array, p: int, *, axis: int = 1, overwrite: bool = False) -> Relations:
    """Which columns (axis 1) or rows (axis 0) are independent, and how the others combine them.

    By `Relations.refined` the rest of a matrix too large to be eliminated follows, piece by piece.

    Arguments and cost are those of `rank`, and r^2 e operations where e lines depend on r others.
    With `overwrite` the coefficients (r, e) stand in the memory of a; where the first columns are
    not the independent ones, a quarter of the matrix is needed beside it at most.

    >>> found = relations([[1, 2, 3], [0, 0, 1]], 101)
    >>> found.chosen.tolist(), found.others.tolist(), found.coefficients.tolist()
    ([0, 2], [1], [[2.0], [0.0]])
    """
    matrix = matrix_of(a)
    field = PrimeField(p, matrix)
    work = residues(matrix, field, overwrite)
    # Where rows are used up, they have no relations; else the elimination sees all columns anyway.
    order, columns = _eliminate(field, work, whole=axis == 1)
    r, (m, n) = len(columns), work.shape
    lines = np.array([*columns, *sorted(set(range(n)) - set(columns))], dtype=np.int64)
    if (lines[:r] != np.arange(r)).any():
        moved = field.from_host(lines)
        for rows in field.parts(work):
            work[rows] = work[rows][:, moved]
    if axis:
        t, x = work[:r, :r], work[:r, r:]
        # U1 and U2 of a[order] = L (U1 U2), with ones on the diagonal of U1.
        scale = field.from_host(inverses_of(field.to_host(t.diagonal()), field))[:, None]
        for rows in field.parts(work[:r]) if r < n else ():
            work[:r][rows] *= scale[rows]
            field.reduce(work[:r][rows])
    else:
        # L1 and L2, one above the other, times U.
        lines = np.arange(m, dtype=np.int64)
        lines[: len(order)] = order
        t, x = work[:r, :r].T, work[r:, :r].T
    _solve_unit(field, t, x, lower=False)
    field.reduce(x)
    return Relations(lines[:r], lines[r:], x if overwrite else x + 0.0, axis)


def _eliminate(
    field: PrimeField, a: Array, whole: bool = False, waiting: int = 0
) -> tuple[Integers, list[int]]:
    """PLE in place, U on and right of the pivots, L below: (order of the first rows, columns).

    Without `whole` the columns after the last row is used up are left as they are. Rows that are
    not chosen keep their order. Entries are reduced when their panel is reached.
    """
    m, n = a.shape
    if not _any(field, a):
        return np.arange(0), []
    if n <= field.panel:
        if waiting:
            field.reduce(a)
        return eliminate_panel(field, a)
    half = -(-n // field.panel) // 2 * field.panel
    left, right = a[:, :half], a[:, half:]
    order, columns = _eliminate(field, left, whole, waiting)
    r = len(columns)
    if r == m and not whole:
        return order, columns
    permute(field, right, order)
    if r:
        # The pivot columns are mostly the first ones: then nothing is gathered.
        first = columns[-1] == r - 1
        triangle = left[:r, :r] if first else left[:r][:, columns]
        _solve_unit(field, triangle, right[:r], lower=True, waiting=waiting)
        factor, chosen = (left[r:, :r], None) if first else (left[r:], columns)
        waiting = field.subtract_product(right[r:], factor, right[:r], waiting, chosen)
    below, more = _eliminate(field, right[r:], whole, waiting)
    permute(field, left[r:], below)
    return _joined(order, below, r), columns + [half + c for c in more]


def _any(field: PrimeField, a: Array) -> bool:
    """Whether an entry is not zero modulo p; reduces the parts up to the first that has one."""
    if bool(field.xp.remainder(a[:1], field.p).any()):
        return True
    for rows in field.parts(a):
        field.reduce(a[rows])
        if bool(a[rows].any()):
            return True
    return False


def _joined(first: Integers, second: Integers, start: int) -> Integers:
    """The order that comes of `first` and then of `second`, which acts on rows from `start` on."""
    if not len(second):
        return first
    joined = np.arange(max(len(first), start + len(second)), dtype=np.int64)
    joined[: len(first)] = first
    joined[start : start + len(second)] = joined[start : start + len(second)][second]
    return joined


# --- cost -----------------------------------------------------------------------------------------


class EliminationCost(NamedTuple):
    """Operations of BLAS, bytes moved by reductions, and the peak of memory with a float64 copy."""

    operations: int
    bytes_moved: int
    peak_bytes: int


def elimination_cost(m: int, n: int, p: int, r: int | None = None) -> EliminationCost:
    """What the elimination of an m x n matrix takes whose first r rows and columns are independent.

    Operations are counted product by product, about 2 (m n r - (m + n) r^2/2 + r^3/3); bytes moved
    are 32 for every entry of a product and 16 for the copy; peak bytes are the copy, a few tiles
    and panels, without the argument. By default the rank r is full.

    >>> cost = elimination_cost(8192, 8192, 4194287)
    >>> cost.operations / (2 / 3 * 8192**3) < 1.1
    True
    """
    m, n = min(m, n), max(m, n)
    r = m if r is None else r
    if not 0 <= r <= m:
        raise ValueError(f"r={r}: an {m} x {n} matrix has a rank from 0 to {m}")
    terms = room(checked_prime(p))
    products = list(_products(m, n, r, min(PANEL, terms)))
    operations = 2 * sum(rows * columns * inner for rows, columns, inner in products)
    moved = sum(rows * columns * -(-inner // terms) for rows, columns, inner in products)
    peak = 8 * (m * n + 2 * TILE**2 + TILE * r + 8 * PANEL * n)
    return EliminationCost(operations, 32 * moved + 16 * m * n, peak)


def _products(m: int, n: int, r: int, panel: int) -> Iterator[tuple[int, int, int]]:
    """(rows, columns, inner length) of the products of _eliminate, pivots in the first r rows."""
    if not m or not n or not r:
        return
    if n <= panel:
        yield m, n, min(r, n)
        return
    half = -(-n // panel) // 2 * panel
    left = min(r, half)
    yield from _products(m, half, left, panel)
    if left < m:
        yield left, n - half, (left + 1) // 2
        yield m - left, n - half, left
        yield from _products(m - left, n - half, r - left, panel)
