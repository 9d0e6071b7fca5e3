"""Linear algebra over F_p by float64 BLAS: product, rank, rank profile, PLE decomposition, triangular solve, for odd primes below 2^26.

The elimination halves the columns recursively, so nearly all of its work is in large products; these are exact, and the reduction
modulo p waits until an entry is used (see `residues`). Against structured matrices it pivots, and takes no random choices: the result
depends on the matrix and the prime alone.

The same code runs on NumPy arrays and on arrays of any library with NumPy's names (torch tensors, on a GPU too), found through the
array's type; only the panels, 64 columns wide, are eliminated on the host. Threads are left to the BLAS.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .residues import (
    PANEL,
    TILE,
    Array,
    Field,
    Floats,
    centred,
    checked_prime,
    default_prime,
    inverses_of,
    matrix_of,
    pieces,
    residues,
    room,
    solve_unit,
    unit_inverse,
)

__all__ = ["PLE", "Cost", "RankProfile", "centred", "default_prime", "elimination_cost", "matmul", "ple", "rank", "rank_profile",
           "triangular_solve"]

Integers = NDArray[np.int64]


# --- products --------------------------------------------------------------------------------------------------------------------


def matmul(a: Array, b: Array, p: int) -> Array:
    """The product of two matrices over F_p.

    Args:
        a, b: integers modulo p, shapes (m, k) and (k, n); see `centred` for the types.
        p: an odd prime below 2^26.

    Returns:
        Centred residues as float64, shape (m, n); zero for k = 0. Peak memory: both arguments as float64, the result and two tiles of 8 MB.

    Raises:
        ValueError: for shapes that do not match, and as `centred`.

    >>> matmul([[1, 2], [3, 4]], [[1], [1]], 5).tolist()
    [[-2.0], [2.0]]

    Cost: 2 m n k operations of BLAS, ceil(k / room) reductions of m n entries with room = (2^53 - 3p/2) / (p/2 + 2)^2.
    """
    left, right = matrix_of(a), matrix_of(b)
    field = Field(p, left)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"shapes {tuple(left.shape)} and {tuple(right.shape)} do not multiply: the inner lengths differ")
    left, right = residues(left, field), residues(right, field)
    c = field.zeros((left.shape[0], right.shape[1]))
    left *= -1.0
    field.subtract_product(c, left, right)
    # Twice, as the first leaves |c| <= p//2 + 2.
    field.reduce(c)
    field.reduce(c)
    return c


def triangular_solve(t: Array, b: Array, p: int, *, lower: bool = True, unit: bool = False) -> Array:
    """The solution x of t x = b over F_p for a triangular t; entries of t beyond the triangle are not looked at.

    Args:
        t: integers modulo p, shape (n, n), with no zero on the diagonal.
        b: integers modulo p, shape (n, k).
        p: an odd prime below 2^26.
        lower: whether t is lower triangular, else upper.
        unit: take the diagonal as ones.

    Returns:
        Centred residues as float64, shape (n, k).

    Raises:
        ValueError: for shapes that do not match, a zero on the diagonal, and as `centred`.

    >>> triangular_solve([[2, 0], [1, 1]], [[2], [4]], 7).tolist()
    [[1.0], [3.0]]

    Cost: n^2 k operations of BLAS.
    """
    triangle, x = matrix_of(t), matrix_of(b)
    if not triangle.shape[0] == triangle.shape[1] == x.shape[0]:
        raise ValueError(f"shapes {tuple(triangle.shape)} and {tuple(x.shape)}: needed are (n, n) and (n, k)")
    field = Field(p, triangle)
    triangle, x = residues(triangle, field), residues(x, field)
    if not unit:
        # Row by row divided by the diagonal: a triangle with ones, and the same solution.
        inverses = field.from_host(inverses_of(field.to_host(triangle.diagonal()), field))[:, None]
        for array in (triangle, x):
            array *= inverses
            field.reduce(array)
    solve_unit(field, triangle, x, lower)
    field.reduce(x)
    return x


# --- elimination -----------------------------------------------------------------------------------------------------------------


class RankProfile(NamedTuple):
    """The first rows, and the first columns, that are linearly independent; the minor they select is not zero."""

    rows: Integers
    columns: Integers


class PLE(NamedTuple):
    """a[order] = lower @ upper mod p: lower is unit lower trapezoidal (m, r), upper an echelon form (r, n) with pivots in `columns`."""

    order: Integers
    columns: Integers
    lower: Array
    upper: Array


def rank(a: Array, p: int, *, overwrite: bool = False) -> int:
    """The rank of a matrix over F_p.

    For an integer matrix it is at most the rank over the rationals, for every p: a minor that is not zero modulo p is not zero.
    So it proves a lower bound, with `rank_profile` as the witness that others can check.

    Args:
        a: integers modulo p, shape (m, n); see `centred` for the types.
        p: an odd prime below 2^26.
        overwrite: work in the memory of a float64 matrix of centred residues, which is lost. Peak memory is the float64 copy,
            or with `overwrite` nothing of that size, and a few tiles; see `elimination_cost`.

    Raises:
        ValueError: as `centred`.

    >>> rank([[1, 2], [3, 6], [1, 1]], 101)
    2

    Null case: 0 for matrices without rows, columns or non-zero entries.

    Cost: 2 (m n r - (m + n) r^2/2 + r^3/3) operations, 2/3 n^3 for an invertible matrix; see `elimination_cost`.

    References: Jeannerod, Pernet, Storjohann 2013, arXiv:1112.5717v3 (recursive elimination in time that follows the rank);
    Dumas, Giorgi, Pernet 2008, arXiv:cs/0601133v3 (delayed reduction).
    """
    return len(rank_profile(a, p, overwrite=overwrite).columns)


def rank_profile(a: Array, p: int, *, overwrite: bool = False) -> RankProfile:
    """The lexicographically first independent rows and columns of a matrix over F_p.

    The number of rows selected is the rank, and the submatrix a[rows][:, columns] is invertible modulo p: a witness for the rank
    that is checked by one determinant of that size. Both are the first ones because the pivot of each column is its topmost
    non-zero entry: then a row changes only by pivot rows above it (Dumas, Pernet, Sultan 2015).

    Args, Raises, Cost: as `rank`.

    >>> profile = rank_profile([[0, 0, 1], [0, 0, 2], [0, 5, 0]], 101)
    >>> profile.rows.tolist(), profile.columns.tolist()
    ([0, 2], [1, 2])

    References: Dumas, Pernet, Sultan 2015, arXiv:1501.05239v2.
    """
    matrix = matrix_of(a)
    field = Field(p, matrix)
    # A matrix that is not tall is finished as soon as its rows are used up, mostly after as many columns.
    tall = matrix.shape[0] > matrix.shape[1] and not overwrite
    work = residues(matrix.T if tall else matrix, field, overwrite)
    order, columns = _eliminate(field, work)
    rows = np.arange(work.shape[0], dtype=np.int64)
    rows[:len(order)] = order
    selected = np.sort(rows[:len(columns)]), np.array(columns, dtype=np.int64)
    return RankProfile(*(selected[::-1] if tall else selected))


def ple(a: Array, p: int) -> PLE:
    """The PLE decomposition a[order] = lower upper over F_p: LU with pivoting for matrices of any shape and rank.

    Args, Raises, Cost: as `rank`; peak memory is that of a, lower and upper.

    Returns:
        order: a permutation of the rows whose first r are the pivot rows; columns: the pivot columns, increasing;
        lower (m, r): ones on the diagonal, zeros above; upper (r, n): row i is zero before its pivot in columns[i].

    >>> result = ple([[0, 2], [3, 1]], 7)
    >>> result.order.tolist(), result.columns.tolist(), result.lower.tolist(), result.upper.tolist()
    ([1, 0], [0, 1], [[1.0, 0.0], [0.0, 1.0]], [[3.0, 1.0], [0.0, 2.0]])

    References: Jeannerod, Pernet, Storjohann 2013, arXiv:1112.5717v3.
    """
    matrix = matrix_of(a)
    field = Field(p, matrix)
    work = residues(matrix, field)
    order, columns = _eliminate(field, work, whole=True)
    rows, r = np.arange(work.shape[0], dtype=np.int64), len(columns)
    rows[:len(order)] = order
    lower = field.xp.tril(work[:, columns], -1)
    lower[:r] += field.from_host(np.eye(r))
    upper = work[:r] + 0.0
    upper[:, columns] = field.xp.triu(upper[:, columns])
    field.reduce(lower)
    field.reduce(upper)
    return PLE(rows, np.array(columns, dtype=np.int64), lower, upper)


def _eliminate(field: Field, a: Array, whole: bool = False, waiting: int = 0) -> tuple[Integers, list[int]]:
    """PLE in place: (order of the first rows, pivot columns). U stands on and right of the pivots, L below them.

    Without `whole` the columns after the last row is used up are left as they are. The order is that of the first len(order) rows;
    rows that are not chosen keep their order. Entries are reduced when their panel is reached, or when `waiting` would exceed the room.
    """
    m, n = a.shape
    if not _any(field, a):
        return np.arange(0), []
    if n <= field.panel:
        if waiting:
            field.reduce(a)
        return _panel(field, a)
    half = -(-n // field.panel) // 2 * field.panel
    left, right = a[:, :half], a[:, half:]
    order, columns = _eliminate(field, left, whole, waiting)
    r = len(columns)
    if r == m and not whole:
        return order, columns
    _permute(field, right, order)
    if r:
        # The pivot columns are mostly the first ones: then nothing is gathered.
        chosen = None if columns[-1] == r - 1 else columns
        solve_unit(field, left[:r, :r] if chosen is None else left[:r][:, chosen], right[:r], lower=True, waiting=waiting)
        waiting = field.subtract_product(right[r:], left[r:, :r] if chosen is None else left[r:], right[:r], waiting, chosen)
    below, more = _eliminate(field, right[r:], whole, waiting)
    _permute(field, left[r:], below)
    return _joined(order, below, r), columns + [half + c for c in more]


def _any(field: Field, a: Array) -> bool:
    """Whether an entry is not zero modulo p; looks no further than the first part that has one, and reduces what it looked at."""
    if bool(field.xp.remainder(a[:1], field.p).any()):
        return True
    for rows in field.parts(a):
        field.reduce(a[rows])
        if bool(a[rows].any()):
            return True
    return False


def _permute(field: Field, a: Array, order: Integers) -> None:
    """a[:len(order)] = a[order] in place, few columns at a time."""
    moved = np.flatnonzero(order != np.arange(len(order)))
    if not len(moved):
        return
    to, source = field.from_host(moved), field.from_host(order[moved])
    for cols in pieces(a.shape[1], max(1, 16 * field.chunk // len(moved))):
        a[to, cols] = a[source, cols]


def _joined(first: Integers, second: Integers, start: int) -> Integers:
    """The order that comes of `first` and then of `second`, which acts on the rows from `start` on."""
    if not len(second):
        return first
    joined = np.arange(max(len(first), start + len(second)), dtype=np.int64)
    joined[:len(first)] = first
    joined[start:start + len(second)] = joined[start:start + len(second)][second]
    return joined


# --- panels ----------------------------------------------------------------------------------------------------------------------


def _panel(field: Field, a: Array) -> tuple[Integers, list[int]]:
    """PLE of at most `field.panel` columns: without pivoting while no leading minor of the square on top is zero, else with it."""
    m, b = a.shape
    if m >= b:
        top = np.array(field.to_host(a[:b]))
        if _factor_square(top, int(field.p)):
            a[:b] = field.from_host(top)
            if m > b:
                inverse = field.from_host(_upper_inverse(field.on_host, top))
                for rows in pieces(m - b, field.tile * 16):
                    field.product(a[b:][rows], inverse, out=a[b:][rows])
            return np.arange(0), list(range(b))
    packed, order, columns = _factor_pivoting(field.on_host, field.to_host(a))
    a[...] = field.from_host(packed)
    return order, columns


def _factor_square(d: Floats, p: int) -> bool:
    """LU without pivoting in place, unless a leading minor is zero (then False). Rows and columns are reduced when their turn comes."""
    n, inverse, half = len(d), 1 / p, p // 2
    line, quotients = np.empty(2 * n), np.empty(2 * n)
    for j in range(n):
        # Column and row of this step, one behind the other, so that one reduction serves both.
        size = n - j
        x, q = line[:2 * size - 1], quotients[:2 * size - 1]
        np.subtract(d[j:, j], d[j:, :j] @ d[:j, j], out=x[:size])
        np.subtract(d[j, j + 1:], d[j, :j] @ d[:j, j + 1:], out=x[size:])
        np.multiply(x, inverse, out=q)
        np.rint(q, out=q)
        q *= p
        x -= q
        pivot = int(x[0])
        if not pivot:
            return False
        column, q = x[1:size], q[1:size]
        column *= (pow(pivot, -1, p) + half) % p - half
        np.multiply(column, inverse, out=q)
        np.rint(q, out=q)
        q *= p
        column -= q
        d[j + 1:, j], d[j, j + 1:], d[j, j] = column, x[size:], pivot
    return True


def _upper_inverse(field: Field, u: Floats) -> Floats:
    """The inverse of the upper triangle of u: that of a triangle with ones, times that of the diagonal."""
    scale = inverses_of(u.diagonal(), field)
    unit = u * scale[:, None]
    field.reduce(unit)
    inverse: Floats = unit_inverse(field, unit, lower=False) * scale
    field.reduce(inverse)
    return inverse


def _factor_pivoting(field: Field, a: Floats) -> tuple[Floats, Integers, list[int]]:
    """PLE of a panel, column by column: (packed L and U, order, pivot columns); the pivot is the topmost entry that is not zero.

    A column is brought up to date by one product when its turn comes, rows stay where they are to the end, and the columns of L
    are divided by their pivots all at once, so that a step reads the panel once and reduces one column.
    """
    m, b = a.shape
    lower, upper = np.zeros((m, b)), np.zeros((b, b))
    rows: list[int] = []
    columns: list[int] = []
    for j in range(b):
        r = len(rows)
        c = a[:, j] - lower[:, :r] @ upper[:r, j]
        field.reduce(c)
        c[rows] = 0.0
        i = int(np.argmax(c != 0.0))
        if c[i] == 0.0:
            continue
        # L holds the column as it is, U the row divided by the pivot.
        scale = inverses_of(c[i:i + 1], field)[0]
        row = a[i, j:] - lower[i, :r] @ upper[:r, j:]
        field.reduce(row)
        row *= scale
        field.reduce(row)
        lower[:, r], upper[r, j:] = c, row
        rows.append(i)
        columns.append(j)
        if r + 1 == m:
            break
    return _packed(field, a, lower, upper, rows, columns)


def _packed(field: Field, a: Floats, lower: Floats, upper: Floats, rows: list[int],
            columns: list[int]) -> tuple[Floats, Integers, list[int]]:
    """What _factor_pivoting found, in the layout of _eliminate: pivot rows on top, U from the pivots on, a unit L below them."""
    r = len(rows)
    last = max(rows, default=-1) + 1
    chosen = set(rows)
    order = np.array([*rows, *(i for i in range(last) if i not in chosen)], dtype=np.int64)
    if rows == list(range(r)):
        order = order[:0]
    lower, upper = lower[:, :r], upper[:r]
    pivots = lower[rows, range(r)]
    lower *= inverses_of(pivots, field)
    upper *= pivots[:, None]
    field.reduce(lower)
    field.reduce(upper)
    _permute(field, lower, order)
    packed = np.zeros(a.shape)
    packed[:, columns] = lower
    packed[:r, columns] = np.tril(lower[:r], -1)
    packed[:r] += upper
    return packed, order, columns


# --- cost ------------------------------------------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """Operations of BLAS, bytes moved by the reductions, and peak bytes of memory with the input's float64 copy."""

    operations: int
    bytes_moved: int
    peak_bytes: int


def elimination_cost(m: int, n: int, p: int, r: int | None = None) -> Cost:
    """What `rank` does for an m x n matrix of rank r (default: full) whose first r rows and columns are independent.

    Args:
        m, n: the shape; p: the prime; r: the rank, from 0 to min(m, n).

    Returns:
        operations: 2 for every multiplication and addition, counted product by product; about 2 (m n r - (m + n) r^2/2 + r^3/3).
        bytes_moved: 32 for every entry of a product, which is written and read beside the entry it is taken from, and 16 for the copy.
        peak_bytes: the copy, a few tiles and panels; the argument is not counted.

    Raises:
        ValueError: for a rank that such a matrix cannot have.

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
    moved = sum(rows * columns * -(-inner // terms) for rows, columns, inner in products)
    return Cost(2 * sum(rows * columns * inner for rows, columns, inner in products), 32 * moved + 16 * m * n,
                8 * (m * n + 2 * TILE**2 + TILE * r + 8 * PANEL * n))


def _products(m: int, n: int, r: int, panel: int) -> Iterator[tuple[int, int, int]]:
    """(rows, columns, inner length) of the products of _eliminate when the pivots stand in the first r rows and columns."""
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
