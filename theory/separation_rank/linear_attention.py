"""Linearised self-attention as an exact polynomial: forward pass, normal form, values, degrees.

A layer keeps query times key times value, and drops the softmax, the feed-forward block and the
layer norm. Every entry of the output is then a polynomial in the tokens and the weights, so its
values are exact (Python integers, rationals, polynomials over Z, or residues modulo a prime).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..claims.values import Ball, Exact

Array = NDArray[Any]

# The largest prime below 2^31: products of residues, split in halves, add up in int64.
PRIME = 2**31 - 1

# Entries of arrays that are worked on at once, so that they stay in the cache.
_CHUNK = 1 << 16


@dataclass(frozen=True)
class LinearAttentionNet:
    """The weights of a linearised attention net, over Z (Python integers) or modulo a prime.

    Attributes:
        query, key, value: arrays of shape (L, H, d_a, d_x).
        output: array of shape (L, H, d_x, d_a).
        prime: a prime below 2^31, or None for exact integers and rationals.
        residual: whether a layer adds its input to its output.
    """

    query: Array
    key: Array
    value: Array
    output: Array
    prime: int | None = PRIME
    residual: bool = False

    @property
    def depth(self) -> int:
        """Number of layers."""
        return int(self.query.shape[0])

    @property
    def heads(self) -> int:
        """Heads per layer."""
        return int(self.query.shape[1])

    @property
    def width(self) -> int:
        """Width of the representation."""
        return int(self.query.shape[3])


def random_net(
    rng: np.random.Generator,
    *,
    width: int,
    depth: int,
    heads: int = 1,
    prime: int | None = PRIME,
    residual: bool = False,
) -> LinearAttentionNet:
    """Uniform weights: residues modulo the prime, or over Z non-zero integers of at most 3 in size;
    a ValueError for a shape or a prime that no net has.

    >>> random_net(np.random.default_rng(0), width=4, depth=3, heads=2).query.shape
    (3, 2, 2, 4)
    """
    if min(width, depth, heads) < 1 or width % heads:
        raise ValueError(
            f"width={width}, depth={depth}, heads={heads}: all must be positive and "
            "heads must divide width"
        )
    if prime is not None and not 2 <= prime < 2**31:
        raise ValueError(
            f"prime={prime} must lie below 2^31, where sums of products fit in 64 bits; use PRIME"
        )
    head = width // heads
    shapes = 3 * [(depth, heads, head, width)] + [(depth, heads, width, head)]
    query, key, value, output = (_draw(rng, shape, prime) for shape in shapes)
    return LinearAttentionNet(query, key, value, output, prime, residual)


def random_tokens(rng: np.random.Generator, net: LinearAttentionNet, *shape: int) -> Array:
    """Tokens drawn like the weights: an array of shape (*shape, width)."""
    return _draw(rng, (*shape, net.width), net.prime)


def forward(
    net: LinearAttentionNet, tokens: Array, *, position: int = 0, coordinate: int = 0
) -> Array:
    """Entry `coordinate` of the output at `position` for each input, by the recursion over tokens.

    y^{l+1,i} = sum_h W^O_h sum_j <W^Q_h y^{l,i}, W^K_h y^{l,j}> W^V_h y^{l,j}, with y^{0,i} = x^i;
    all N positions attend (Levine et al. 2020, arXiv:2006.12467v3, eqs. (3)-(4)).

    Args:
        tokens: array (..., N, d_x) of residues, or of Python numbers (integers, fractions,
            polynomials) for a net over Z; a ValueError for another width.

    >>> net = random_net(np.random.default_rng(0), width=2, depth=2, prime=None)
    >>> x = np.array([[1, 2], [3, 4]], dtype=object)
    >>> bool(forward(net, 2 * x) == 2**9 * forward(net, x))
    True
    """
    y = np.asarray(tokens)
    if y.ndim < 2 or y.shape[-1] != net.width:
        raise ValueError(
            f"the tokens have shape {y.shape}, but this net reads (..., N, {net.width})"
        )
    return _behind(net, y, _mapped(net, 0, y, y), position)[..., coordinate]


def _mapped(net: LinearAttentionNet, layer: int, asking: Array, tokens: Array) -> list[Array]:
    """Queries of the tokens that ask, keys and values of all, (..., heads, N, d_a) each."""
    maps = ((asking, net.query), (tokens, net.key), (tokens, net.value))
    return [_by_head(net, y, weights[layer]) for y, weights in maps]


def _behind(
    net: LinearAttentionNet, tokens: Array, mapped: Sequence[Array], position: int
) -> Array:
    """The output at a position, (..., d_x), from what the first layer makes of the tokens."""
    y, (query, key, value) = tokens, mapped
    read = np.s_[..., position : position + 1, :]
    for layer in range(net.depth):
        last = layer == net.depth - 1
        asking = y[read] if last else y
        if layer:
            query, key, value = _mapped(net, layer, asking, y)
        elif last:
            query = query[read]
        y = _attended(net, layer, asking, query, key, value)
    return y[..., 0, :]


def _attended(
    net: LinearAttentionNet, layer: int, asking: Array, query: Array, key: Array, value: Array
) -> Array:
    tokens, width = key.shape[-2:]
    transposed = np.swapaxes(key, -1, -2)
    # Products of matrices in the order that makes the smaller one first.
    if tokens > width:
        seen = _product(net, query, _product(net, transposed, value))
    else:
        seen = _product(net, _product(net, query, transposed), value)
    seen = np.swapaxes(seen, -2, -3)
    # All heads side by side, with their output matrices one above the other: their sum.
    seen = seen.reshape(*seen.shape[:-2], -1)
    total = _product(net, seen, np.concatenate(list(net.output[layer]), axis=-1).T)
    if not net.residual:
        return total
    total = asking + total
    return total if net.prime is None else total % net.prime


def _by_head(net: LinearAttentionNet, tokens: Array, weights: Array) -> Array:
    """W_h y for every head h: an array (..., heads, N, rows of W_h), by one product."""
    mapped = _product(net, tokens, np.concatenate(list(weights)).T)
    return np.swapaxes(mapped.reshape(*mapped.shape[:-1], *weights.shape[:2]), -2, -3)


def _product(net: LinearAttentionNet, a: Array, b: Array) -> Array:
    p, inner = net.prime, a.shape[-1]
    if p is None:
        return np.matmul(a, b)
    if inner <= 2:
        return np.matmul(a, b) % p
    if inner <= 4:
        # One factor is centred: four products of 2^31 and 2^30 stay below 2^63.
        return np.matmul(a, (b + p // 2) % p - p // 2) % p
    if inner >= 2**15:
        raise ValueError(
            f"an inner dimension of {inner} can overflow 64 bits; at most {2**15 - 1} is exact"
        )
    # a = 2^16 high + low: each partial sum stays below 2^15 * 2^47 = 2^62.
    high, low = a >> 16, a & 0xFFFF
    if b.ndim == 2 and inner <= 2**6:
        # Below 2^53, where floats are exact and their product is the fastest.
        rows, right = (-1, inner), b.astype(float)
        high, low = (np.matmul(part.reshape(rows).astype(float), right) for part in (high, low))
        shape = (*a.shape[:-1], b.shape[-1])
        high, low = (part.astype(np.int64).reshape(shape) for part in (high, low))
    else:
        high, low = np.matmul(high, b), np.matmul(low, b)
    return ((high % p << 16) + low) % p


def _draw(rng: np.random.Generator, shape: tuple[int, ...], prime: int | None) -> Array:
    if prime is not None:
        return rng.integers(0, prime, shape)
    return (rng.integers(1, 4, shape) * rng.choice((-1, 1), shape)).astype(object)


# --- the normal form ------------------------------------------------------------------------------


def moments(net: LinearAttentionNet, tokens: Array) -> Array:
    """M = sum_j x^j (x^j)^T, all that the output sees of the other tokens: array (..., d, d)."""
    return _product(net, np.swapaxes(tokens, -1, -2), tokens)


def layer_matrix(net: LinearAttentionNet, layer: int, moment: Array) -> Array:
    """T_l(M) = sum_h W^O W^V M (W^K)^T W^Q, which maps every token of layer l to its output."""
    parts = []
    for h in range(net.heads):
        before = _product(net, net.output[layer, h], net.value[layer, h])
        after = _product(net, net.key[layer, h].T, net.query[layer, h])
        parts.append(_product(net, _product(net, before, moment), after))
    total = sum(parts[1:], start=parts[0])
    return total if net.prime is None else total % net.prime


def normal_form(
    net: LinearAttentionNet, moment: Array, token: Array, *, coordinate: int = 0
) -> Array:
    """The same output e_p^T T_L(M_L) ... T_1(M_1) x; M_1 = M, M_{l+1} = T_l(M_l) M_l T_l(M_l)^T.

    Args:
        net: the weights, without residual connections, else a ValueError.
        moment: symmetric array (..., d_x, d_x), not necessarily a sum over tokens.
        token: array (..., d_x), the token at the position that is read.

    >>> net = random_net(np.random.default_rng(0), width=3, depth=3)
    >>> x = random_tokens(np.random.default_rng(1), net, 4)
    >>> bool(normal_form(net, moments(net, x), x[0]) == forward(net, x))
    True
    """
    if net.residual:
        raise ValueError("the normal form needs a net without residual connections; use forward")
    vector = token[..., None]
    for layer in range(net.depth):
        matrix = layer_matrix(net, layer, moment)
        vector = _product(net, matrix, vector)
        moment = _product(net, _product(net, matrix, moment), np.swapaxes(matrix, -1, -2))
    return vector[..., coordinate, 0]


def measured_degree(
    function: Callable[[Array], Any], base: Array, direction: Array
) -> Exact | Ball:
    """The degree of a homogeneous polynomial over Z, from its exact values.

    Two routes must agree: f(2v) / f(v), a power of two for a homogeneous f, and the degree of
    t -> f(u + t v), which is run over Z[t]. `base` and `direction` are u and v, object arrays.

    Returns:
        The degree, or a ball around log_2 f(2v) / f(v) when that shows that f is not homogeneous.

    Raises:
        ArithmeticError: when f(v) = 0, which says nothing, or when the two routes disagree.

    >>> u, v = (np.array(pair, dtype=object) for pair in ([1, 5], [3, 2]))
    >>> measured_degree(lambda v: v[0] * v[0] * v[1], u, v).value
    3
    """
    one, two = function(direction), function(2 * direction)
    if not one:
        raise ArithmeticError(
            "the polynomial vanishes at the direction, so its degree cannot be "
            "read there; draw another point"
        )
    ratio = Fraction(int(two), int(one))
    power = ratio.numerator.bit_length() - 1
    if ratio != 2**power:
        # Enough bits to tell the logarithm from a whole number, however large the values.
        bits = ratio.numerator.bit_length() + ratio.denominator.bit_length()
        with flint.ctx.workprec(64 + bits):
            size = abs(flint.arb(flint.fmpq(ratio.numerator, ratio.denominator)))
            return Ball.of(size.log() / flint.arb(2).log())
    line = np.frompyfunc(lambda u, v: flint.fmpz_poly([int(u), int(v)]), 2, 1)(base, direction)
    degree = int(function(line).degree())
    if degree != power:
        raise ArithmeticError(
            f"doubling the input multiplies by 2^{power}, but the degree along a line is {degree}"
        )
    return Exact(degree)


def value_matrix(net: LinearAttentionNet, left: Array, right: Array) -> Array:
    """The values y_1(left_r, right_s) at position 0, on the left: arrays (R, N_A, d_x) and
    (S, N_B, d_x). The rank never exceeds the separation rank."""
    rows, columns = len(left), len(right)
    values = np.empty((rows, columns), dtype=left.dtype)
    step = max(1, _CHUNK // (columns * (left.shape[1] + right.shape[1]) * net.width))
    # What the first layer makes of a token does not depend on the other side.
    sides = [[side, *_mapped(net, 0, side, side)] for side in (left, right)]
    for start in range(0, rows, step):
        rows_of = [part[start : start + step] for part in sides[0]]
        tokens, *mapped = (
            np.concatenate(
                (
                    np.broadcast_to(a[:, None], (len(a), columns, *a.shape[1:])),
                    np.broadcast_to(b, (len(a), *b.shape)),
                ),
                axis=-2,
            )
            for a, b in zip(rows_of, sides[1], strict=True)
        )
        values[start : start + step] = _behind(net, tokens, mapped, 0)[..., 0]
    return values
