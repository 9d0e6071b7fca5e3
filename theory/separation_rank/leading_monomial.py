"""Lower bounds from one monomial: a net of weights 0 and 1 whose output has a leading monomial.

Give every moment M_ab a weight, and let M_ab become t^w M_ab. As t grows the part of largest weight
of a polynomial F leads, and the rank of the coefficients of F(U + V) is at least that of its
leading part: substituting multiples does not change a rank, and a limit cannot have a larger one.
If the leading part is one monomial M^e, its rank is prod (e_j + 1), the number of ways to split it
between U and V. So sep >= prod (e_j + 1) for these weights, for N >= 2 (d_x + 1) tokens, and so for
almost all weights of the shape. For weights that are not negative no terms cancel, and the leading
monomial follows the recursion over layers with max and + in place of + and times. The exponents add
up to C(L) = (3^L - 1)/2. With all D moments in use the logarithm to base 3 grows by D for each
layer, and from width 4 on that exceeds 2 d_x + 1, the slope of Theorem 2's recalled bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..claims.values import Exact
from .linear_attention import LinearAttentionNet

# Found by simulated annealing over weights 0 and 1 and the grading, at width 4 with two heads and
# all layers alike: all ten moments lead.
GRADING = (37, 5, 36, 39, 0, 37, 38, 5, 37, 46)
_VALUE = (((1, 0, 0, 0), (0, 1, 0, 0)), ((0, 0, 1, 0), (1, 0, 0, 0)))
_OUTPUT = (((1, 0, 0, 1), (0, 1, 0, 0)), ((0, 0, 1, 0), (1, 0, 0, 0)))
_KEY = (((0, 1, 0, 0), (0, 0, 0, 0)), ((0, 0, 0, 1), (0, 0, 1, 0)))
_QUERY = (((1, 0, 1, 0), (0, 0, 0, 0)), ((0, 1, 0, 0), (0, 0, 0, 1)))

# The leading monomial of an entry: its weight and exponents, which are None where two monomials
# have that weight. None is the entry 0.
_Entry = tuple[int, tuple[int, ...] | None] | None
_Matrix = list[list[_Entry]]


def graded_net(depth: int) -> LinearAttentionNet:
    """The net of width 4 with two heads, over Z, that has all ten moments in its leading monomial.

    >>> graded_net(34).query.shape
    (34, 2, 2, 4)
    """
    query, key, value, output = (
        np.array([part] * depth, dtype=object) for part in (_QUERY, _KEY, _VALUE, _OUTPUT)
    )
    return LinearAttentionNet(query, key, value, np.swapaxes(output, -1, -2), prime=None)


def leading_rank(net: LinearAttentionNet, grading: Sequence[int]) -> Exact:
    """prod (e_j + 1) over a leading monomial: a lower bound for almost all weights of the shape.

    >>> leading_rank(graded_net(2), GRADING).value
    16
    """
    return Exact(_splits(leading_monomial(net, grading)), misses=1.0)


def leading_monomial(
    net: LinearAttentionNet, grading: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """Of the `leading_monomials`, the one of the largest rank."""
    return max(leading_monomials(net, grading), key=_splits)


def _splits(found: tuple[int, tuple[int, ...]]) -> int:
    return math.prod(e + 1 for e in found[1])


def leading_monomials(
    net: LinearAttentionNet, grading: Sequence[int]
) -> list[tuple[int, tuple[int, ...]]]:
    """(a, exponents) for every P_a that has one leading monomial, where y_1 = sum_a x_a P_a(M).

    Args:
        net: weights over Z, none negative.
        grading: the weight of M_ab, a <= b, row by row; an ArithmeticError where no P_a has one.

    Cost: O(L H d_x^3) comparisons of integers of about L log2(3) bits.
    """
    weights = (net.query, net.key, net.value, net.output)
    if net.prime is not None or any((np.asarray(w) < 0).any() for w in weights):
        raise ArithmeticError(
            "leading monomials need weights over Z that are not negative, since others may cancel"
        )
    d = net.width
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    M: _Matrix = [[None] * d for _ in range(d)]
    for n, (a, b) in enumerate(pairs):
        M[a][b] = M[b][a] = grading[n], tuple(int(m == n) for m in range(len(pairs)))
    one = 0, (0,) * len(pairs)
    product: _Matrix = [[one if a == b else None for b in range(d)] for a in range(d)]
    for layer in range(net.depth):
        T = _layer(net, layer, M)
        product = _times(T, product)
        M = _times(_times(T, M), [list(row) for row in zip(*T, strict=True)])
    monomials = [
        (a, entry[1]) for a, entry in enumerate(product[0]) if entry and entry[1] is not None
    ]
    if not monomials:
        raise ArithmeticError("no leading part is one monomial; choose another grading")
    return monomials


def _layer(net: LinearAttentionNet, layer: int, M: _Matrix) -> _Matrix:
    """The leading terms of T(M) = sum_h W^O W^V M (W^K)^T W^Q."""
    every = range(net.width)
    heads = [
        (net.output[layer, h] @ net.value[layer, h], net.key[layer, h].T @ net.query[layer, h])
        for h in range(net.heads)
    ]
    return [
        [
            _sum(
                M[b][c]
                for left, right in heads
                for b in every
                if left[p, b]
                for c in every
                if right[c, a]
            )
            for a in every
        ]
        for p in every
    ]


def _sum(terms: Iterable[_Entry]) -> _Entry:
    best: _Entry = None
    for term in terms:
        if term is None:
            continue
        if best is None or term[0] > best[0]:
            best = term
        elif term[0] == best[0] and term[1] != best[1]:
            best = (best[0], None)
    return best


def _product(x: _Entry, y: _Entry) -> _Entry:
    if x is None or y is None:
        return None
    if x[1] is None or y[1] is None:
        return x[0] + y[0], None
    return x[0] + y[0], tuple(a + b for a, b in zip(x[1], y[1], strict=True))


def _times(a: _Matrix, b: _Matrix) -> _Matrix:
    columns = list(zip(*b, strict=True))
    return [
        [_sum(_product(x, y) for x, y in zip(row, column, strict=True)) for column in columns]
        for row in a
    ]
