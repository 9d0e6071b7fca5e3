"""The separation rank of a linearised net at given weights, such as those that training found.

Floating-point weights are integers over a power of two, which no rank notices, so that the ranks of
the graded pieces are those of integer matrices. They are found modulo primes drawn at random: a
rank modulo p is never too large, and too small only where p divides a minor, which few primes do.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray
from sympy import primepi

from ..claims.values import Exact
from .graded_pieces import piece_shape, scaled_forms
from .linear_attention import LinearAttentionNet, normal_form
from .piece_rank import graded_rank

Array = NDArray[Any]

# Primes have this many bits: the most that the elimination takes. A first one has fewer: with it
# an elimination takes half the time, and shows nearly always that the rank is full.
_BITS, _FEWER = 26, 22
# The chance of a miss that ends the search, and the most primes that are tried.
_RARE, _DRAWS = 1e-6, 12


def whole_numbers(weights: Array) -> Array:
    """The integers of least size that are the floating-point weights times one power of two, as
    Python integers.

    Raises:
        ValueError: for weights that are not finite.

    >>> whole_numbers(np.array([[0.75, -1.5], [0.0, 3.0]])).tolist()
    [[3, -6], [0, 12]]
    >>> whole_numbers(np.array([1, 2**-1074])).tolist() == [2**1074, 1]
    True
    """
    if not np.isfinite(weights).all():
        raise ValueError("weights that are not finite have no rank; the net has diverged")
    exact = [Fraction(float(w)) for w in np.asarray(weights).ravel()]
    # All denominators are powers of two.
    largest = max((w.denominator for w in exact), default=1)
    scaled = [w.numerator * (largest // w.denominator) for w in exact]
    common = math.gcd(*scaled) or 1
    power = common & -common
    return np.array([w // power for w in scaled], dtype=object).reshape(np.shape(weights))


def integer_net(
    query: Array, key: Array, value: Array, output: Array, read_out: Array | None = None
) -> LinearAttentionNet:
    """The net over Z whose output is that of floating-point weights times a constant.

    Args:
        query, key, value, output: see `LinearAttentionNet`; each matrix of a layer is scaled by a
            power of two of its own.
        read_out: shape (d_x,), a linear map of what leaves the last layer, which becomes the
            coordinate that is read; None reads the first. A ValueError for one that is not finite.

    >>> quarter = np.full((1, 1, 1, 1), 0.25)
    >>> net = integer_net(quarter, quarter, quarter, quarter, np.array([3.0]))
    >>> net.query.item(), net.output.item()
    (1, 3)
    """
    query, key, value, output = (
        np.stack([whole_numbers(layer) for layer in weights])
        for weights in (query, key, value, output)
    )
    if read_out is not None:
        # The first coordinate, of every head alike; the others are not read.
        row = whole_numbers(read_out) @ output[-1]
        output[-1] = 0
        output[-1, :, 0] = row
    return LinearAttentionNet(query, key, value, output, None)


def modulo(net: LinearAttentionNet, prime: int) -> LinearAttentionNet:
    """A net over Z modulo a prime.

    >>> from .linear_attention import random_net
    >>> modulo(random_net(np.random.default_rng(0), width=2, depth=1, prime=None), 7).prime
    7
    """
    query, key, value, output = (
        (part % prime).astype(np.int64) for part in (net.query, net.key, net.value, net.output)
    )
    return LinearAttentionNet(query, key, value, output, prime, net.residual)


def rank_at(net: LinearAttentionNet, rng: np.random.Generator) -> Exact:
    """The separation rank of a net over Z at its very weights, with N >= 2 (d_x + 1) tokens.

    It is the sum of the ranks of the graded pieces (separation_rank/graded_rank), each at most its
    shorter side. Modulo a prime p that `rng` draws from those of 26 bits, the rank is too small
    only where p divides every minor of the size of the true rank. The minors of size r are integers
    of at most r log2(C! P) + r log2(r) / 2 bits (Hadamard), where P bounds the sum of the absolute
    coefficients; so at most a 25th of so many primes divide one of them that is not zero. Pieces
    that stay below their shorter side are tried with more primes, until the chance that all of them
    divide a minor, which is `misses`, is below 1e-6; 0 where all pieces reach it. A prime of 22
    bits comes first, and is not counted. The net has no residual connections; a ValueError for one
    modulo a prime.

    Cost: that of `scaled_forms` and `graded_rank` of all pieces for each prime.

    >>> from .linear_attention import random_net
    >>> net = random_net(np.random.default_rng(0), width=2, depth=2, prime=None)
    >>> rank_at(net, np.random.default_rng(1))
    Exact(value=18, misses=0, truncated=False)
    """
    if net.prime is not None:
        raise ValueError("the rank at given weights needs them over Z; see integer_net")
    orders = range((3**net.depth + 1) // 2)
    sides = [min(piece_shape(net.width, net.depth, order)) for order in orders]
    best, misses = [0] * len(orders), 1.0
    for draw in range(_DRAWS):
        forms = scaled_forms(modulo(net, _drawn_prime(rng, _BITS if draw else _FEWER)))
        for order in orders:
            if best[order] < sides[order]:
                best[order] = max(best[order], graded_rank(forms, order, seed=draw))
        misses = sum(
            _one_miss(net, best_side + 1) ** draw
            for best_side, side in zip(best, sides, strict=True)
            if best_side < side
        )
        if misses < _RARE:
            break
    return Exact(sum(best), misses=min(1.0, misses))


def _one_miss(net: LinearAttentionNet, size: int) -> float:
    """The chance at most that a random prime divides a minor of this size that is not zero."""
    bits = size * _entry_bits(net) + size * math.log2(size) / 2
    return min(1.0, bits / (_BITS - 1) / _primes())


def _entry_bits(net: LinearAttentionNet) -> int:
    """Bits of an entry of a catalecticant at most, a coefficient times C(L)!: the absolute weights
    bound all coefficients, and with ones in place of the moments these add up."""
    query, key, value, output = map(np.abs, (net.query, net.key, net.value, net.output))
    ones = np.full((net.width, net.width), 1, dtype=object)
    total = int(normal_form(LinearAttentionNet(query, key, value, output, None), ones, ones[0])[()])
    return (total * math.factorial((3**net.depth - 1) // 2)).bit_length()


def _drawn_prime(rng: np.random.Generator, bits: int) -> int:
    while not flint.fmpz(p := int(rng.integers(2 ** (bits - 1), 2**bits))).is_prime():
        pass
    return p


@cache
def _primes() -> int:
    """How many primes have 26 bits."""
    return int(primepi(2**_BITS) - primepi(2 ** (_BITS - 1)))
