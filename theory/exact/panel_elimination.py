"""PLE of a panel, a few columns over F_p, on the host: the end of the recursion of `finite_field`.

Without pivoting while no leading minor of the square on top is zero, else column by column with it.
Both leave U on and right of the pivots and a unit L below them, in place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .residues import Array, Floats, PrimeField, inverses_of, pieces, unit_inverse

Integers = NDArray[np.int64]


def eliminate_panel(field: PrimeField, a: Array) -> tuple[Integers, list[int]]:
    """PLE of at most `field.panel` columns: (order of the first rows, pivot columns)."""
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
    """LU without pivoting in place, reduced row by row; False where a leading minor is zero."""
    n, inverse, half = len(d), 1 / p, p // 2
    line, quotients = np.empty(2 * n), np.empty(2 * n)
    for j in range(n):
        # Column and row of this step, one behind the other, so that one reduction serves both.
        size = n - j
        x, q = line[: 2 * size - 1], quotients[: 2 * size - 1]
        np.subtract(d[j:, j], d[j:, :j] @ d[:j, j], out=x[:size])
        np.subtract(d[j, j + 1 :], d[j, :j] @ d[:j, j + 1 :], out=x[size:])
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
        d[j + 1 :, j], d[j, j + 1 :], d[j, j] = column, x[size:], pivot
    return True


def _upper_inverse(field: PrimeField, u: Floats) -> Floats:
    """The inverse of the upper triangle of u: of a triangle with ones, times the diagonal's."""
    scale = inverses_of(u.diagonal(), field)
    unit = u * scale[:, None]
    field.reduce(unit)
    inverse: Floats = unit_inverse(field, unit, lower=False) * scale
    field.reduce(inverse)
    return inverse


def _factor_pivoting(field: PrimeField, a: Floats) -> tuple[Floats, Integers, list[int]]:
    """PLE by columns, the pivot the topmost entry that is not zero: (packed, order, columns).

    A column is brought up to date by one product when its turn comes, and rows stay where they are
    to the end, so that a step reads the panel once and reduces one column.
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
        scale = inverses_of(c[i : i + 1], field)[0]
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


def _packed(
    field: PrimeField, a: Floats, lower: Floats, upper: Floats, rows: list[int], columns: list[int]
) -> tuple[Floats, Integers, list[int]]:
    """In the layout of _eliminate: pivot rows on top, U from the pivots on, a unit L below them."""
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
    permute(field, lower, order)
    packed = np.zeros(a.shape)
    packed[:, columns] = lower
    packed[:r, columns] = np.tril(lower[:r], -1)
    packed[:r] += upper
    return packed, order, columns


def permute(field: PrimeField, a: Array, order: Integers) -> None:
    """a[:len(order)] = a[order] in place, few columns at a time."""
    moved = np.flatnonzero(order != np.arange(len(order)))
    if not len(moved):
        return
    to, source = field.from_host(moved), field.from_host(order[moved])
    for cols in pieces(a.shape[1], max(1, 16 * field.chunk // len(moved))):
        a[to, cols] = a[source, cols]
