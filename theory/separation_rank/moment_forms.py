"""Linearised attention as d_x forms in the moments, multiplied out, and their catalecticants.

With T_l and M_l as in linear_attention, y_1 = sum_a x_a P_a(M), P_a = (e_1^T T_L(M_L) ...
T_1(M_1))_a. A catalecticant pairs the partial derivatives of order k of the P_a with the monomials
of degree C - k; the ranks over all k add up to the separation rank.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from flint import Ordering, nmod_mpoly_ctx
from numpy.typing import NDArray

from .linear_attention import PRIME, AttentionNet, layer_matrix
from .value_rank import rank_mod

Exponents = tuple[int, ...]


def moment_forms(net: AttentionNet) -> list[dict[Exponents, int]]:
    """P_1, ..., P_d: from exponents of M_ab, a <= b row by row, to coefficients modulo the prime.

    Raises:
        ValueError: for a net with residual connections or over Z.

    Cost: about d_x^3 products of polynomials with binom(D + C - 1, C) terms.

    >>> from .linear_attention import random_net
    >>> forms = moment_forms(random_net(np.random.default_rng(0), width=2, depth=2))
    >>> len(forms), {sum(exponents) for form in forms for exponents in form}
    (2, {4})
    """
    if net.residual or net.prime is None:
        raise ValueError("the forms need a net modulo a prime and without residual connections")
    d, pairs = net.width, [(a, b) for a in range(net.width) for b in range(a, net.width)]
    names = [f"m{a}_{b}" for a, b in pairs]
    ring = nmod_mpoly_ctx.get(names, modulus=net.prime, ordering=Ordering.degrevlex)
    moment = np.empty((d, d), dtype=object)
    for (a, b), variable in zip(pairs, ring.gens(), strict=True):
        moment[a, b] = moment[b, a] = variable
    query, key, value, output = (
        _python_integers(w) for w in (net.query, net.key, net.value, net.output)
    )
    lifted = AttentionNet(query, key, value, output, prime=None)
    matrices = []
    for layer in range(net.depth):
        matrices.append(layer_matrix(lifted, layer, moment))
        if layer < net.depth - 1:
            moment = matrices[-1] @ moment @ matrices[-1].T
    row = matrices[-1][:1]
    for matrix in reversed(matrices[:-1]):
        row = row @ matrix
    return [
        {tuple(map(int, exponents)): int(c) for exponents, c in form.to_dict().items()}
        for form in row[0]
    ]


def _python_integers(array: NDArray[Any]) -> NDArray[Any]:
    # NumPy's own integers would try to take a polynomial apart.
    return np.array(array.tolist(), dtype=object)


def catalecticant(
    forms: list[dict[Exponents, int]], order: int, prime: int = PRIME
) -> NDArray[np.int64]:
    """All derivatives of order k: rows (a, mu), columns nu, entries (mu + nu)! [M^(mu+nu)] P_a.

    Raises:
        ValueError: when the order is out of range.
    """
    degree = max(sum(exponents) for form in forms for exponents in form)
    if not 0 <= order <= degree:
        raise ValueError(f"order={order}: accepted are orders from 0 to the degree {degree}")
    variables = len(next(iter(next(form for form in forms if form))))
    radix = (degree + 1) ** np.arange(variables, dtype=np.int64)
    factorial = [1]
    for i in range(1, degree + 1):
        factorial.append(factorial[-1] * i % prime)
    rows, columns = (_monomials(variables, k) @ radix for k in (order, degree - order))
    blocks = []
    for form in forms:
        keys = np.array([np.dot(exponents, radix) for exponents in form], dtype=np.int64)
        values = [_scaled(exponents, c, factorial, prime) for exponents, c in form.items()]
        sorting = np.argsort(keys)
        keys, entries = keys[sorting], np.array(values, dtype=np.int64)[sorting]
        wanted = rows[:, None] + columns[None, :]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        blocks.append(np.where(keys[place] == wanted, entries[place], 0))
    return np.concatenate(blocks)


def _scaled(exponents: Exponents, coefficient: int, factorial: list[int], prime: int) -> int:
    for e in exponents:
        coefficient = coefficient * factorial[e] % prime
    return coefficient


def _monomials(variables: int, degree: int) -> NDArray[np.int64]:
    """Exponents of all monomials of a degree: stars and bars."""
    if variables == 1:
        return np.array([[degree]])
    places = degree + variables - 1
    bars = np.array(list(itertools.combinations(range(places), variables - 1)), dtype=np.int64)
    ends = (np.full((len(bars), 1), end) for end in (-1, places))
    return np.diff(np.hstack([next(ends), bars, next(ends)]), axis=1) - 1


def catalecticant_sum(net: AttentionNet) -> int:
    """The sum of their ranks: the separation rank at these weights with enough tokens.

    >>> from .linear_attention import random_net
    >>> catalecticant_sum(random_net(np.random.default_rng(0), width=2, depth=2))
    18
    """
    prime, forms = net.prime, moment_forms(net)
    assert prime is not None
    orders = range((3**net.depth + 1) // 2)
    return sum(rank_mod(catalecticant(forms, order, prime), prime) for order in orders)
