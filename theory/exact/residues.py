"""Residues modulo a prime as float64: exact reduction, products that wait for it, triangles.

A residue is an integer with |r| <= p//2 + 2 stored in float64. k products of them add up exactly as
long as about k (p/2)^2 < 2^53, so BLAS multiplies and the reduction waits until then.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

Array = Any
Floats = NDArray[np.float64]

EXACT = 2**53
PRIME_LIMIT = 2**26

# Chosen by measurement, see docs/finite-field.md: columns of a panel, side of a product's tile,
# entries whose passes stay in the cache.
PANEL = 64
TILE = 1024
CACHED = 2**16
GPU_TILE = 2**13


# --- primes ---------------------------------------------------------------------------------------


def default_prime(n: int) -> int:
    """The largest prime for which sums of min(n, 2048) products need no reduction in between.

    Larger primes make an accidental loss of rank rarer (at most degree / p over random points),
    smaller ones save reductions, up to 2048 terms. For an elimination n is the smaller side.

    >>> default_prime(10**6), default_prime(0)
    (4194287, 67108859)
    """
    if n < 0:
        raise ValueError(f"n={n}: a size is 0 or more")
    terms = min(max(n, 1), 2048)
    p = min(2 * int((EXACT / terms) ** 0.5), PRIME_LIMIT) + 5
    while room(p) < terms or p >= PRIME_LIMIT or not _is_prime(p):
        p -= 1
    return p


def room(p: int) -> int:
    """How many products of residues may be added to a residue, see PrimeField.reduce: the largest k
    with k m^2 + m <= 2^53 - p, where m = p//2 + 2."""
    m = p // 2 + 2
    return min((EXACT - p - m) // m**2, 2**20)


def _is_prime(p: int) -> bool:
    return bool(flint.fmpz(p).is_prime())


def checked_prime(p: int) -> int:
    """The prime itself, or a ValueError that says why it is none of those accepted."""
    if int(p) != p or not 3 <= p < PRIME_LIMIT:
        raise ValueError(
            f"p={p}: products in float64 are exact for odd primes up to 67108859; "
            "try default_prime(n)"
        )
    if not _is_prime(int(p)):
        raise ValueError(
            f"p={p} is not prime, so there is no field of that size; try default_prime(n)"
        )
    return int(p)


# --- residues -------------------------------------------------------------------------------------


class PrimeField:
    """F_p on the arrays of one library: exact reduction, products, and their scratch memory."""

    def __init__(self, p: int, like: Array) -> None:
        self.p, self.inverse = float(checked_prime(p)), 1 / float(p)
        self.room = room(int(p))
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

        The quotient q = rint(fl(x * fl(1/p))) errs before rounding by at most
        2^-52 |x|/p (1 + 2^-52), so |x/p - q| <= 1/2 + 2/p + tiny and |x - p q| <= p//2 + 2. Then
        |p q| <= |x| + p//2 + 2 <= 2^53: product and difference are integers below 2^53, hence
        exact. For |x| < 2^51 the error times p is below 1/2, and the residue is the centred one,
        |x - p q| <= p//2. Zero is the only multiple of p among residues: p//2 + 2 < p from p = 5
        on, and p = 3 keeps |x| below 2^51 (see room).
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
        return pieces(x.shape[0], max(1, self.chunk // max(1, math.prod(x.shape[1:]))))

    def subtract_product(
        self, c: Array, a: Array, b: Array, waiting: int = 0, columns: list[int] | None = None
    ) -> int:
        """c -= a[:, columns] b in place, reduced only where the room requires it.

        Args:
            c: residues minus the sum of `waiting` products of residues; a, b: residues.

        Returns:
            How many products wait now.
        """
        after = waiting
        for rows in pieces(c.shape[0], self.tile):
            left = a[rows] if columns is None else a[rows][:, columns]
            for cols in pieces(c.shape[1], self.tile):
                target, after = c[rows, cols], waiting
                product = self.scratch("product", tuple(target.shape))
                for inner in pieces(b.shape[0], self.room):
                    self.xp.matmul(left[:, inner], b[inner, cols], out=product)
                    terms = inner.stop - inner.start
                    if after + terms > self.room:
                        self.reduce(target)
                        after = 0
                    target -= product
                    after += terms
        return after

    def product(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """a b of residues or stacks, into `out`, even a or b; inner length at most the room."""
        target = None if out is None else self.scratch("product", tuple(out.shape))
        c = self.xp.matmul(a, b, out=target)
        self.reduce(c, out)
        return c if out is None else out

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """New memory."""
        return self.xp.zeros(shape, dtype=self.xp.float64, **self.device)

    @property
    def on_host(self) -> PrimeField:
        """The same field on NumPy arrays."""
        return self if self.host else PrimeField(int(self.p), np.empty(0))

    def to_host(self, x: Array) -> Floats:
        """As a NumPy array, which shares memory where it can."""
        return x if self.host else np.asarray(np.from_dlpack(x.cpu()), dtype=np.float64)

    def from_host(self, x: NDArray[Any]) -> Array:
        """As an array of the field's library on its device."""
        return x if self.host else self.xp.asarray(x, **self.device)


def _namespace(x: Array) -> Any:
    """The module whose functions work on x: that of its type, else NumPy."""
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    return module if hasattr(module, "matmul") else np


def pieces(length: int, step: int) -> Iterator[slice]:
    """Slices of `step` that cover range(length)."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def centred(a: Array, p: int) -> Array:
    """The residues of integers modulo p as float64 from -(p//2) to p//2, in new memory of the same
    shape, library and device.

    Args:
        a: integers of any type, or floats that are integers of size below 2^53; any shape.
        p: an odd prime below 2^26.

    Raises:
        ValueError: for a p that is no such prime and for entries that are no such integers.

    >>> centred([[6, 7, 8]], 7).tolist()
    [[-1.0, 0.0, 1.0]]
    """
    x = a if _namespace(a) is not np else np.asarray(a)
    return residues(x, PrimeField(p, x))


def residues(a: Array, field: PrimeField, overwrite: bool = False) -> Array:
    """Centred residues of any integers, see `centred`; with `overwrite` in the memory of a."""
    xp = field.xp
    if overwrite and a.dtype != xp.float64:
        raise ValueError(
            f"entries of type {a.dtype} cannot be overwritten by residues; give "
            "float64, or leave overwrite out"
        )
    out = a if overwrite else xp.empty(tuple(a.shape), dtype=xp.float64, **field.device)
    source, target = (a.reshape(1), out.reshape(1)) if out.ndim == 0 else (a, out)
    for rows in field.parts(target):
        x = target[rows]
        x[...] = _integers(source[rows], field)
        largest = float(abs(x).max()) if math.prod(x.shape) else 0.0
        # NaN compares as false.
        if not largest <= EXACT - PRIME_LIMIT or not bool((field.round(x) == x).all()):
            raise ValueError(
                "entries of F_p are whole numbers, as floats below 2^53 - 2^26; give "
                "larger ones as integers"
            )
        # Twice: the first brings any float under 2^51, where the second finds the centred residue.
        for _ in range(0 if largest <= field.p // 2 else 2):
            x -= field.p * field.round(x * field.inverse)
    return out


def _integers(a: Array, field: PrimeField) -> Array:
    """Entries that float64 holds exactly, of the same residues."""
    kind = str(a.dtype)
    if "float" in kind:
        return a
    if "int" in kind or "bool" in kind:
        return (a if kind == "uint64" else field.xp.asarray(a, dtype=field.xp.int64)) % int(field.p)
    if kind == "object" and all(isinstance(entry, int) for entry in a.flat):
        return a % int(field.p)
    raise ValueError(
        f"entries of type {kind}: accepted are integers and floats that are whole numbers"
    )


def matrix_of(a: Array) -> Array:
    """An array of two dimensions."""
    matrix = a if _namespace(a) is not np else np.asarray(a)
    if matrix.ndim != 2:
        raise ValueError(
            f"an array of shape {tuple(matrix.shape)}: a matrix has two dimensions; reshape it"
        )
    return matrix


# --- triangles ------------------------------------------------------------------------------------


def inverses_of(values: Floats, field: PrimeField) -> Floats:
    """The inverse of each entry of a diagonal, centred."""
    p, half = int(field.p), int(field.p) // 2
    entries = [int(v) % p for v in values]
    if 0 in entries:
        raise ValueError(
            f"the triangle has 0 on its diagonal (row {entries.index(0)}), so it is "
            f"singular modulo {p}"
        )
    return np.array([(pow(v, -1, p) + half) % p - half for v in entries], dtype=np.float64)


def unit_inverse(field: PrimeField, t: Array, lower: bool) -> Array:
    """(1 - s)^-1 = (1 + s)(1 + s^2)(1 + s^4)... for a nilpotent s, or a stack of them."""
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
