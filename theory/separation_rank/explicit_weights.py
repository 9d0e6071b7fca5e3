"""Weights of 0 and 1 for which every layer multiplies by a linear form of the moments.

Their separation rank is known exactly, and almost all weights of the same shape have at least that.
"""

from __future__ import annotations

import math
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..claims.values import Exact
from .linear_attention import PRIME, LinearAttentionNet, forward, moments, random_tokens

Array = NDArray[Any]


def coordinate_net(
    width: int, depth: int, prime: int | None = None, heads: int | None = None
) -> LinearAttentionNet:
    """A net whose layers each multiply by one moment, on as many coordinates as there are heads.

    Head h of layer l has W^O = e_h, W^Q = e_h^T, W^V = e_a^T and W^K = e_b^T. So T_l(M) = M_ab P
    with P the projection on the first H coordinates. The pairs a <= b <= H run through the
    H (H + 1) / 2 moments of these coordinates; later layers repeat the last pair. H divides the
    width, which is its default.
    """
    heads = width if heads is None else heads
    pairs = [(a, b) for a in range(heads) for b in range(a, heads)]
    shape, dtype = (depth, heads, width // heads, width), np.int64 if prime else object
    query, key, value = (np.zeros(shape, dtype=dtype) for _ in range(3))
    for layer in range(depth):
        a, b = pairs[min(layer, len(pairs) - 1)]
        query[layer, range(heads), 0, range(heads)] = 1
        value[layer, :, 0, a] = key[layer, :, 0, b] = 1
    return LinearAttentionNet(query, key, value, np.swapaxes(query, -1, -2), prime)


def certified_rank(net: LinearAttentionNet) -> Exact:
    """The separation rank of a net whose layers each multiply by a linear form, N >= 2 (d_x + 1).

    If T_l(M) = f_l(M) P for every l, with P the projection on some coordinates, p among them, and
    f_l a form in their moments, then y_p = x_p prod f_j(M)^(e_j) over the distinct forms. With
    M = U + V, U from one side and V from the other, a power splits into e_j + 1 products
    f_j(U)^k f_j(V)^(e_j - k) with non-zero binomial coefficients; when the forms are linearly
    independent these products are different monomials, so the rank is prod (e_j + 1).
    N >= 2 (d_x + 1) makes (x, U) and V fill Zariski-dense sets. The value is a lower bound for
    almost all weights of the shape. Every premise is checked exactly.

    Raises:
        ArithmeticError: when a layer is no such multiple, the forms are dependent, or a value
            differs.

    >>> certified_rank(coordinate_net(2, 3)).value  # exponents 9, 3, 1
    80
    """
    forms = linear_forms(net)
    distinct = sorted(set(forms))
    exponents = form_exponents(forms, distinct)
    rank = flint.fmpz_mat([list(form) for form in distinct]).rank()
    if rank != len(distinct):
        raise ArithmeticError(f"the {len(distinct)} linear forms span only {rank} dimensions")
    _require_values(net, distinct, exponents)
    return Exact(math.prod(e + 1 for e in exponents), misses=1.0)


def linear_forms(net: LinearAttentionNet) -> list[tuple[int, ...]]:
    """f_1, ..., f_L with T_l(M) = f_l(M) P for all M: coefficients of M_ab, a <= b, row by row.

    Raises:
        ArithmeticError: when a layer is no such multiple of one projection P on coordinates, the
            one that is read among them.
    """
    images = [_images(net, layer) for layer in range(net.depth)]
    kept = np.array([images[0][:, i, i].any() for i in range(net.width)])
    upper = np.triu_indices(net.width)
    outside = ~(kept[upper[0]] & kept[upper[1]])
    forms = []
    for layer, image in enumerate(images):
        form = image[:, 0, 0]
        multiple = (image == form[:, None, None] * np.diag(kept)).all()
        if not kept[0] or not multiple or form[outside].any():
            raise ArithmeticError(
                f"layer {layer} does not multiply every token by one linear form of the moments"
            )
        forms.append(tuple(int(c) for c in form))
    return forms


def _images(net: LinearAttentionNet, layer: int) -> Array:
    """T_l, which is linear in M, at each symmetric basis matrix: array (D, d_x, d_x)."""
    weights = [w[layer] for w in (net.output, net.value, net.key, net.query)]
    sizes = [max(1, int(abs(w).max())) for w in weights]
    if math.prod(sizes) * net.width**3 >= 2**62:
        raise ArithmeticError("the weights are too large for exact 64-bit sums; scale them down")
    output, value, key, query = (w.astype(np.int64) for w in weights)
    left, right = output @ value, np.swapaxes(key, -1, -2) @ query
    image = np.tensordot(left, right, axes=(0, 0)).transpose(1, 2, 0, 3)
    upper = np.triu_indices(net.width)
    both = image[upper] + image[upper[::-1]]
    both[upper[0] == upper[1]] //= 2
    return both


def form_exponents(forms: list[tuple[int, ...]], distinct: list[tuple[int, ...]]) -> list[int]:
    """The exponent of each distinct form in y_p, by the recursion over layers."""
    # M_l = c_l M for a scalar c_l: a layer contributes f_l(c_l M) = c_l f_l(M), and
    # c_{l+1} = (c_l f_l(M))^2 c_l.
    product, scale = [0] * len(distinct), [0] * len(distinct)
    for form in forms:
        used = [int(form == other) for other in distinct]
        product = [p + c + u for p, c, u in zip(product, scale, used, strict=True)]
        scale = [3 * c + 2 * u for c, u in zip(scale, used, strict=True)]
    return product


def _require_values(
    net: LinearAttentionNet, forms: list[tuple[int, ...]], exponents: list[int]
) -> None:
    """Raise unless the token recursion gives x_p prod f^e at four random inputs modulo PRIME."""
    weights = (net.query, net.key, net.value, net.output)
    query, key, value, output = ((w % PRIME).astype(np.int64) for w in weights)
    reduced = LinearAttentionNet(query, key, value, output, PRIME, net.residual)
    tokens = random_tokens(np.random.default_rng(0), reduced, 4, 2 * net.width + 2)
    outputs, seen = forward(reduced, tokens), moments(reduced, tokens)
    upper = np.triu_indices(net.width)
    for product, moment, y in zip(tokens[:, 0, 0].tolist(), seen, outputs, strict=True):
        for form, exponent in zip(forms, exponents, strict=True):
            linear = sum(c * int(m) for c, m in zip(form, moment[upper], strict=True))
            product = product * pow(linear, exponent, PRIME) % PRIME
        if product != int(y):
            raise ArithmeticError("the token recursion differs from the product of linear forms")
