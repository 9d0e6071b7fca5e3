"""Linear algebra over F_p by float64 BLAS: matrix product, rank, rank profile, PLE decomposition, triangular solve, for odd primes below 2^26.

Residues are integers stored in float64 and centred, |r| <= p/2, which gives sums two bits more room than residues from 0 on.
A product of inner length k is exact as long as k (p/2)^2 stays below 2^53, so that BLAS multiplies and the reduction modulo p waits
until the room is used up. The elimination halves the columns recursively, so nearly all of its work is in large products.

The same code runs on NumPy arrays and on arrays of any library with NumPy's names (torch tensors, on a GPU too), found through the
array's type; only the panels, 64 columns wide, are eliminated on the host. Threads are left to the BLAS.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLE", "Cost", "RankProfile", "centred", "default_prime", "elimination_cost", "matmul", "ple", "rank", "rank_profile",
           "triangular_solve"]

Array = Any
Integers = NDArray[np.int64]

EXACT = 2**53
PRIME_LIMIT = 2**26

# Widths and sizes chosen by measurement; see docs/finite-field.md. A panel of 64 columns costs as much as the products beside it.
PANEL = 64
TILE = 1024
CACHED = 2**16
GPU_TILE = 2**13


# --- primes ----------------------------------------------------------------------------------------------------------------------


def default_prime(n: int) -> int:
    """The largest prime for which sums of min(n, 2048) products are exact without a reduction in between.

    Larger primes make an accidental loss of rank rarer (probability at most degree / p over random points), smaller ones save
    reductions: beyond 2048 terms they no longer matter beside the product.

    Args:
        n: inner length of the products, for an elimination the smaller side; 0 or more.

    Returns:
        A prime from 4194301 (n >= 2048) to 67108859 (n <= 7).

    Raises:
        ValueError: for n < 0.

    >>> default_prime(10**6), default_prime(0)
    (4194301, 67108859)
    """
    if n < 0:
        raise ValueError(f"n={n}: a size is 0 or more")
    terms = min(max(n, 1), 2048)
    p = min(2 * int((EXACT / terms) ** 0.5), PRIME_LIMIT) + 5
    while _room(p) < terms or p >= PRIME_LIMIT or not _is_prime(p):
        p -= 1
    return p


def _room(p: int) -> int:
    """How many products of residues may be added to a residue: k m^2 + m <= 2^53 - p with |residue| <= m = p//2 + 2, see _Field.reduce."""
    m = p // 2 + 2
    return min((EXACT - p - m) // m**2, 2**20)


def _is_prime(p: int) -> bool:
    import flint

    return bool(flint.fmpz(p).is_prime())


def _checked_prime(p: int) -> int:
    if int(p) != p or not 3 <= p < PRIME_LIMIT:
        raise ValueError(f"p={p}: products in float64 are exact for odd primes up to 67108859; try default_prime(n)")
    if not _is_prime(int(p)):
        raise ValueError(f"p={p} is not prime, so there is no field of that size; try default_prime(n)")
    return int(p)


# --- residues --------------------------------------------------------------------------------------------------------------------


class _Field:
    """F_p on the arrays of one library: exact reduction, products, and the scratch memory they share."""

    def __init__(self, p: int, like: Array) -> None:
        self.p, self.inverse = float(_checked_prime(p)), 1 / float(p)
        self.room = _room(int(p))
        self.panel = max(1, min(PANEL, self.room))
        self.xp = _namespace(like)
        self.host = self.xp is np
        self.device = {} if self.host else {"device": like.device}
        self.round = getattr(self.xp, "rint", None) or self.xp.round
        on_gpu = not self.host and "cpu" not in str(like.device)
        self.tile, self.chunk = (GPU_TILE, GPU_TILE**2) if on_gpu else (TILE, CACHED)
        self._scratch: dict[str, Array] = {}

    def scratch(self, name: str, shape: tuple[int, ...]) -> Array:
        """Memory used again and again, contiguous and of undefined content."""
        size = math.prod(shape)
        have = self._scratch.get(name)
        if have is None or have.shape[0] < size:
            have = self._scratch[name] = self.xp.empty(size, dtype=self.xp.float64, **self.device)
        return have[:size].reshape(shape)

    def reduce(self, x: Array, out: Array | None = None) -> None:
        """x - p round(x / p) in place or into `out`; exact for integers |x| <= 2^53 - p.

        The quotient q = rint(fl(x * fl(1/p))) errs before rounding by at most 2^-52 |x|/p (1 + 2^-52), so |x/p - q| <= 1/2 + 2/p + tiny
        and |x - p q| <= p//2 + 2. Then |p q| <= |x| + p//2 + 2 <= 2^53: product and difference are integers below 2^53, hence exact.
        For |x| < 2^51 the error times p is below 1/2, and the residue is the centred one, |x - p q| <= p//2.
        Zero is the only multiple of p among residues: p//2 + 2 < p from p = 5 on, and p = 3 keeps |x| below 2^51 (see _room).
        """
        out = x if out is None else out
        for rows in self.parts(x):
            part = x[rows]
            q = self.scratch("quotient", tuple(part.shape))
            self.xp.multiply(part, self.inverse, out=q)
            self.round(q, out=q)
            q *= self.p
            self.xp.subtract(part, q, out=out[rows])

    def parts(self, x: Array) -> Iterator[slice]:
        """Consecutive rows of x that fit into the cache."""
        return _pieces(x.shape[0], max(1, self.chunk // max(1, math.prod(x.shape[1:]))))

    def subtract_product(self, c: Array, a: Array, b: Array, waiting: int = 0, columns: list[int] | None = None) -> int:
        """c -= a[:, columns] b in place, reduced only where the room requires it.

        Args:
            c: residues minus the sum of `waiting` products of residues; a, b: residues.

        Returns:
            How many products wait now.
        """
        after = waiting
        for rows in _pieces(c.shape[0], self.tile):
            left = a[rows] if columns is None else a[rows][:, columns]
            for cols in _pieces(c.shape[1], self.tile):
                target, after = c[rows, cols], waiting
                product = self.scratch("product", tuple(target.shape))
                for inner in _pieces(b.shape[0], self.room):
                    self.xp.matmul(left[:, inner], b[inner, cols], out=product)
                    terms = inner.stop - inner.start
                    if after + terms > self.room:
                        self.reduce(target)
                        after = 0
                    target -= product
                    after += terms
        return after

    def product(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """a b of residues or of stacks of them, into `out`, which may be a or b; the inner length is at most the room."""
        c = self.xp.matmul(a, b, out=None if out is None else self.scratch("product", tuple(out.shape)))
        self.reduce(c, out)
        return c if out is None else out

    def zeros(self, shape: tuple[int, ...]) -> Array:
        return self.xp.zeros(shape, dtype=self.xp.float64, **self.device)

    @property
    def on_host(self) -> _Field:
        """The same field on NumPy arrays."""
        return self if self.host else _Field(int(self.p), np.empty(0))

    def to_host(self, x: Array) -> NDArray[np.float64]:
        return x if self.host else np.from_dlpack(x.cpu())  # type: ignore[no-any-return]

    def from_host(self, x: NDArray) -> Array:
        return x if self.host else self.xp.asarray(x, **self.device)


def _namespace(x: Array) -> Any:
    """The module whose functions work on x: that of its type, else NumPy."""
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    return module if hasattr(module, "matmul") else np


def _pieces(length: int, step: int) -> Iterator[slice]:
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def centred(a: Array, p: int) -> Array:
    """The residues of integers modulo p as float64 from -(p//2) to p//2, in new memory.

    Args:
        a: integers of any integer type, Python integers, or floats that are integers of size below 2^53; any shape.
        p: an odd prime below 2^26.

    Returns:
        A float64 array of the same shape, library and device.

    Raises:
        ValueError: for a p that is no such prime and for entries that are no such integers.

    >>> centred([[6, 7, 8]], 7).tolist()
    [[-1.0, 0.0, 1.0]]
    """
    x = a if _namespace(a) is not np else np.asarray(a)
    return _residues(x, _Field(p, x))


def _residues(a: Array, field: _Field, overwrite: bool = False) -> Array:
    xp = field.xp
    if overwrite and a.dtype != xp.float64:
        raise ValueError(f"entries of type {a.dtype} cannot be overwritten by residues; give float64, or leave overwrite out")
    out = a if overwrite else xp.empty(tuple(a.shape), dtype=xp.float64, **field.device)
    source, target = (a.reshape(1), out.reshape(1)) if out.ndim == 0 else (a, out)

    for rows in field.parts(target):
        x = target[rows]
        x[...] = _integers(source[rows], field)
        largest = float(abs(x).max()) if math.prod(x.shape) else 0.0
        # NaN compares as false.
        if not largest <= EXACT - PRIME_LIMIT or not bool((field.round(x) == x).all()):
            raise ValueError("entries of F_p are whole numbers, as floats below 2^53 - 2^26; give larger ones as integers")
        # Twice: the first brings any float below 2^53 under 2^51, from where the second finds the centred residue.
        for _ in range(0 if largest <= field.p // 2 else 2):
            x -= field.p * field.round(x * field.inverse)

    return out


def _integers(a: Array, field: _Field) -> Array:
    """Entries that float64 holds exactly, of the same residues."""
    kind = str(a.dtype)
    if "float" in kind:
        return a
    if "int" in kind or "bool" in kind:
        return (a if kind == "uint64" else field.xp.asarray(a, dtype=field.xp.int64)) % int(field.p)
    if kind == "object" and all(isinstance(entry, int) for entry in a.flat):
        return a % int(field.p)
    raise ValueError(f"entries of type {kind}: accepted are integers and floats that are whole numbers")


def _matrix(a: Array) -> Array:
    matrix = a if _namespace(a) is not np else np.asarray(a)
    if matrix.ndim != 2:
        raise ValueError(f"an array of shape {tuple(matrix.shape)}: a matrix has two dimensions; reshape it")
    return matrix


# --- products --------------------------------------------------------------------------------------------------------------------


def matmul(a: Array, b: Array, p: int) -> Array:
    """The product of two matrices over F_p.

    Args:
        a, b: integers modulo p, shapes (m, k) and (k, n); see `centred` for the types.
        p: an odd prime below 2^26.

    Returns:
        Centred residues as float64, shape (m, n); zero for k = 0. Peak memory: both arguments, the result and 16 MB.

    Raises:
        ValueError: for shapes that do not match, and as `centred`.

    >>> matmul([[1, 2], [3, 4]], [[1], [1]], 5).tolist()
    [[-2.0], [2.0]]

    Cost: 2 m n k operations of BLAS, ceil(k / room) reductions of m n entries with room = (2^53 - 3p/2) / (p/2 + 2)^2.
    """
    left, right = _matrix(a), _matrix(b)
    field = _Field(p, left)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"shapes {tuple(left.shape)} and {tuple(right.shape)} do not multiply: the inner lengths differ")
    left, right = _residues(left, field), _residues(right, field)
    c = field.zeros((left.shape[0], right.shape[1]))
    left *= -1.0
    field.subtract_product(c, left, right)
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
    triangle, x = _matrix(t), _matrix(b)
    if not triangle.shape[0] == triangle.shape[1] == x.shape[0]:
        raise ValueError(f"shapes {tuple(triangle.shape)} and {tuple(x.shape)}: needed are (n, n) and (n, k)")
    field = _Field(p, triangle)
    triangle, x = _residues(triangle, field), _residues(x, field)
    if not unit:
        # Row by row divided by the diagonal: a triangle with ones, and the same solution.
        inverses = field.from_host(_inverses(field.to_host(triangle.diagonal()), field))[:, None]
        for array in (triangle, x):
            array *= inverses
            field.reduce(array)
    _solve_unit(field, triangle, x, lower)
    field.reduce(x)
    return x


def _inverses(values: NDArray, field: _Field) -> NDArray[np.float64]:
    p = int(field.p)
    residues = [int(v) % p for v in values]
    if 0 in residues:
        raise ValueError(f"the triangle has 0 on its diagonal (row {residues.index(0)}), so it is singular modulo {p}")
    half = p // 2
    return np.array([(pow(v, -1, p) + half) % p - half for v in residues], dtype=np.float64)


def _solve_unit(field: _Field, t: Array, x: Array, lower: bool, waiting: int = 0) -> None:
    """x = t^-1 x in place for a triangle with ones on its diagonal, by halves; blocks on the diagonal are inverted in stacks."""
    n, b = t.shape[0], field.panel
    whole = [t[i:i + b, i:i + b] for i in range(0, n - n % b, b)]
    rest = [t[n - n % b:, n - n % b:]] if n % b else []
    inverses = [*(_unit_inverse(field, field.xp.stack(whole), lower) if whole else []), *(_unit_inverse(field, r, lower) for r in rest)]

    def solve(start: int, stop: int, waiting: int) -> None:
        rows = slice(start * b, min(stop * b, n))
        if stop - start == 1:
            for cols in _pieces(x.shape[1], 16 * field.tile):
                part = x[rows, cols]
                if waiting:
                    field.reduce(part)
                field.product(inverses[start], part, out=part)
            return
        middle = (start + stop) // 2
        first, second = slice(rows.start, middle * b), slice(middle * b, rows.stop)
        if lower:
            solve(start, middle, waiting)
            solve(middle, stop, field.subtract_product(x[second], t[second, first], x[first], waiting))
        else:
            solve(middle, stop, waiting)
            solve(start, middle, field.subtract_product(x[first], t[first, second], x[second], waiting))

    if n and x.shape[1]:
        solve(0, len(inverses), waiting)


def _unit_inverse(field: _Field, t: Array, lower: bool) -> Array:
    """(1 - s)^-1 = (1 + s)(1 + s^2)(1 + s^4)... for nilpotent s: matrices or stacks of them, log2(n) doublings."""
    n = t.shape[-1]
    one = field.from_host(np.eye(n))
    power = -(field.xp.tril(t, -1) if lower else field.xp.triu(t, 1))
    inverse = one + power
    size = 2
    while size < n:
        power = field.product(power, power)
        inverse = inverse + field.product(inverse, power)
        field.reduce(inverse)
        size *= 2
    return inverse


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
        overwrite: work in the memory of a float64 matrix of centred residues, which is lost. Peak memory is then 25 MB beyond
            the argument, else one float64 copy more.

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
    matrix = _matrix(a)
    field = _Field(p, matrix)
    # A matrix that is not tall is finished as soon as its rows are used up, mostly after as many columns.
    tall = matrix.shape[0] > matrix.shape[1] and not overwrite
    work = _residues(matrix.T if tall else matrix, field, overwrite)
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
    matrix = _matrix(a)
    field = _Field(p, matrix)
    work = _residues(matrix, field)
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


def _eliminate(field: _Field, a: Array, whole: bool = False, waiting: int = 0) -> tuple[Integers, list[int]]:
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
        _solve_unit(field, left[:r, :r] if chosen is None else left[:r][:, chosen], right[:r], lower=True, waiting=waiting)
        waiting = field.subtract_product(right[r:], left[r:, :r] if chosen is None else left[r:], right[:r], waiting, chosen)
    below, more = _eliminate(field, right[r:], whole, waiting)
    _permute(field, left[r:], below)
    return _joined(order, below, r), columns + [half + c for c in more]


def _any(field: _Field, a: Array) -> bool:
    """Whether an entry is not zero modulo p; looks no further than the first part that has one."""
    for rows in (slice(0, 1), *field.parts(a)):
        part = field.xp.remainder(a[rows], field.p) if rows.stop == 1 else a[rows]
        if rows.stop > 1:
            field.reduce(part)
        if bool(part.any()):
            return True
    return False


def _permute(field: _Field, a: Array, order: Integers) -> None:
    """a[:len(order)] = a[order] in place, few columns at a time."""
    moved = np.flatnonzero(order != np.arange(len(order)))
    if not len(moved):
        return
    to, source = field.from_host(moved), field.from_host(order[moved])
    for cols in _pieces(a.shape[1], max(1, 16 * field.chunk // len(moved))):
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


def _panel(field: _Field, a: Array) -> tuple[Integers, list[int]]:
    """PLE of at most `field.panel` columns: without pivoting while no leading minor of the square on top is zero, else with it."""
    m, b = a.shape
    if m >= b:
        top = np.array(field.to_host(a[:b]))
        if _factor_square(top, int(field.p)):
            a[:b] = field.from_host(top)
            if m > b:
                inverse = field.from_host(_upper_inverse(field.on_host, top))
                for rows in _pieces(m - b, field.tile * 16):
                    field.product(a[b:][rows], inverse, out=a[b:][rows])
            return np.arange(0), list(range(b))
    packed, order, columns = _factor_pivoting(field.on_host, field.to_host(a))
    a[...] = field.from_host(packed)
    return order, columns


def _factor_square(d: NDArray, p: int) -> bool:
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


def _upper_inverse(field: _Field, u: NDArray) -> NDArray:
    """The inverse of the upper triangle of u: that of a triangle with ones, times that of the diagonal."""
    scale = _inverses(u.diagonal(), field)
    unit = u * scale[:, None]
    field.reduce(unit)
    inverse = _unit_inverse(field, unit, lower=False) * scale
    field.reduce(inverse)
    return inverse


def _factor_pivoting(field: _Field, a: NDArray) -> tuple[NDArray, Integers, list[int]]:
    """PLE of a panel, column by column: (packed L and U, order, pivot columns); the pivot is the topmost entry that is not zero.

    A column is brought up to date by one product when its turn comes, rows stay where they are to the end, and the columns of L
    are divided by their pivots all at once, so that a step reads the panel once and reduces one column.
    """
    m, b = a.shape
    p, lower, upper = int(field.p), np.zeros((m, b)), np.zeros((b, b))
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
        scale = _inverses(c[i:i + 1], field)[0]
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


def _packed(field: _Field, a: NDArray, lower: NDArray, upper: NDArray, rows: list[int],
            columns: list[int]) -> tuple[NDArray, Integers, list[int]]:
    """What _factor_pivoting found, in the layout of _eliminate: pivot rows on top, U from the pivots on, a unit L below them."""
    r = len(rows)
    last = max(rows, default=-1) + 1
    chosen = set(rows)
    order = np.array([*rows, *(i for i in range(last) if i not in chosen)], dtype=np.int64)
    if rows == list(range(r)):
        order = order[:0]
    lower, upper = lower[:, :r], upper[:r]
    pivots = lower[rows, range(r)]
    lower *= _inverses(pivots, field)
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
        bytes_moved: 24 for every entry reduced (the entry read and written, the product read) and 16 for the conversion.
        peak_bytes: the copy, the scratch memory and the inverses of the diagonal blocks; the argument is not counted.

    Raises:
        ValueError: for a rank that such a matrix cannot have.

    >>> cost = elimination_cost(8192, 8192, 4194301)
    >>> cost.operations / (2 / 3 * 8192**3) < 1.1
    True
    """
    m, n = min(m, n), max(m, n)
    r = m if r is None else r
    if not 0 <= r <= m:
        raise ValueError(f"r={r}: an {m} x {n} matrix has a rank from 0 to {m}")
    room = _room(_checked_prime(p))
    products = list(_products(m, n, r, max(1, min(PANEL, room))))
    moved = sum(rows * columns * -(-inner // room) for rows, columns, inner in products)
    return Cost(2 * sum(rows * columns * inner for rows, columns, inner in products), 24 * moved + 16 * m * n,
                8 * (m * n + 4 * TILE**2 + 4 * r * PANEL))


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
