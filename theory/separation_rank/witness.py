"""Witnesses: one choice of weights proves a lower bound on the separation rank for almost all.

A minor of the value matrix is a polynomial in the weights. If it is not zero at one choice of
weights, for instance modulo a prime, it is zero on a null set only, so the separation rank is at
least its size for almost all weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import nmod_mat

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Le
from ..claims.symbols import quantity
from .linear_attention import LinearAttentionNet, random_net, value_matrix
from .rank_symbols import L

p = quantity("prime", "p", "a prime")
R = quantity("minor_size", "R", "rows and columns of a minor of the value matrix")
share = quantity(
    "zero_fraction",
    r"\zeta",
    r"share of the weights over $F_p$ at which an $R \times R$ minor vanishes",
    "nonnegative real",
)

_NAMES = ("query", "key", "value", "output")
_DEGREE = 2 * R * (3**L - 1)


@claim(
    Le(share, _DEGREE / p),
    source=Source("caron2005", "zero set of a polynomial; Schwartz and Zippel"),
    cases={
        "quick": (
            Case(width=1, depth=1, heads=1, minor_size=1, prime=7),
            *Case.grid(width=2, depth=1, heads=(1, 2), minor_size=2, prime=199),
        ),
        "theory": (
            Case(width=1, depth=1, heads=1, minor_size=1, prime=11),
            *Case.grid(width=2, depth=2, heads=(1, 2), minor_size=3, prime=499),
        ),
    },
    control=Control(
        Case(width=1, depth=1, heads=1, minor_size=1, prime=7),
        "half the degree",
        Le(share, R * (3**L - 1) / p),
    ),
    supports="separation_rank/exact",
)
def one_witness(case: Case, seed: int) -> Exact:
    r"""A minor that is not zero once is rarely zero.

    Over $F_p$, an $R \times R$ minor of the values of an output coordinate that is not the zero
    polynomial in the weights vanishes for a share of at most $4 C(L) R/p$ of them.

    $4 C(L) R = 2 R (3^L - 1)$ is its degree: for all inputs it is 0 or a form of that degree in the
    weights, as a test confirms. At width 1 every choice of weights over $F_p$ is looked at,
    otherwise every point of one random line of weights. Over the reals the zeros of such a minor
    are a null set (Caron and Traynor), so that one witness gives $\operatorname{sep} \geq R$ for
    almost all weights: cited, not measured. A minor that is not 0 modulo $p$ is not 0 over $Q$
    either, so that a rank modulo $p$, of the net reduced modulo $p$, never exceeds the rational
    one, whatever $p$. Small primes lose rank: inputs and weights coincide modulo $p$, powers
    coincide ($x^p = x$), and binomial factors vanish for $p \leq C(L)$.
    """
    prime, size, rng = case.prime, case.minor_size, case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=prime)
    left, right = (rng.permutation(prime**case.width)[:size] for _ in range(2))
    tokens = [
        np.stack([side // prime**i % prime for i in range(case.width)], axis=-1)[:, None, :]
        for side in (left, right)
    ]
    zeros = total = 0
    for weights in _weights(net, prime, rng):
        entries = value_matrix(weights, *tokens).ravel().tolist()
        zeros += int(nmod_mat(size, size, entries, prime).det()) == 0
        total += 1
    if zeros == total:
        raise ArithmeticError(f"[{case}]: the minor vanishes everywhere; use other inputs")
    return Exact(Fraction(zeros, total))


def _weights(
    net: LinearAttentionNet, prime: int, rng: np.random.Generator
) -> Iterator[LinearAttentionNet]:
    """All weights at width 1, otherwise all of a random line through those of the net."""
    if net.width == 1 and net.depth == 1:
        for entries in itertools.product(range(prime), repeat=4):
            query, key, value, output = (np.array(e).reshape(1, 1, 1, 1) for e in entries)
            yield LinearAttentionNet(query, key, value, output, prime)
        return
    direction = random_net(rng, width=net.width, depth=net.depth, heads=net.heads, prime=prime)
    for t in range(prime):
        query, key, value, output = (
            (getattr(net, name) + t * getattr(direction, name)) % prime for name in _NAMES
        )
        yield LinearAttentionNet(query, key, value, output, prime)
