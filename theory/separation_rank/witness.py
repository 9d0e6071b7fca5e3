"""Witnesses: one choice of weights proves a lower bound on the separation rank for almost all.

A minor of the value matrix is a polynomial in the weights. If it is not zero at one choice of
weights, for instance modulo a prime, it is zero on a null set only, so the separation rank is at
least its size for almost all weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray
from sympy import Integer

from ..claims.definition import Ball, Case, Control, Exact, Source, claim
from ..claims.relations import Eq, Ge, Le
from ..claims.symbols import quantity
from .linear_attention import (
    AttentionNet,
    measured_degree,
    random_net,
    random_tokens,
    value_matrix,
)
from .rank_symbols import L
from .value_rank import rank_mod

p = quantity("prime", "p", "a prime")
R = quantity("minor_size", "R", "rows and columns of a minor of the value matrix")
degree_of_minor = quantity(
    "minor_degree",
    r"\deg\det",
    "degree in the weights of the determinant of R x R values of one output coordinate",
)
share = quantity(
    "zero_fraction",
    r"\zeta",
    "share of the weights over F_p at which an R x R minor vanishes",
    "nonnegative real",
)
loss = quantity(
    "rank_loss",
    r"r_{\mathbb{Q}} - r_p",
    "rank of an integer value matrix over Q minus its rank modulo p",
    "integer",
)

_NAMES = ("query", "key", "value", "output")
_DEGREE = 2 * R * (3**L - 1)


@claim(
    Eq(degree_of_minor, _DEGREE),
    source=Source("depthlaw", "after cohen2016, Lemma 5"),
    cases={
        "quick": (
            *Case.grid(width=2, depth=1, heads=(1, 2), minor_size=(1, 2, 3)),
            Case(width=2, depth=2, heads=1, minor_size=2),
        ),
        "theory": Case.grid(width=2, depth=(2, 3), heads=2, minor_size=(2, 3)),
    },
    control=Control(
        Case(width=2, depth=1, heads=1, minor_size=2),
        "one weight per node in place of four",
        statement=Eq(degree_of_minor, R * (3**L - 1) / 2),
    ),
    supports="separation_rank/exact",
)
def minor_degree(case: Case, seed: int) -> Exact | Ball:
    """A minor is a form in the weights.

    For all inputs, an R x R minor of the values of an output coordinate, as a polynomial in the
    weights, is 0 or a form of degree 4 C(L) R = 2 R (3^L - 1).
    """
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None)
    left, right = (
        rng.integers(1, 2**15, (case.minor_size, 1, case.width)).astype(object) for _ in range(2)
    )
    shapes = [getattr(net, name).shape for name in _NAMES]
    cuts = np.cumsum([math.prod(shape) for shape in shapes])

    def minor(weights: NDArray[Any]) -> Any:
        parts = zip(np.split(weights, cuts[:-1]), shapes, strict=True)
        query, key, value, output = (part.reshape(shape) for part, shape in parts)
        at_weights = AttentionNet(query, key, value, output, prime=None)
        return _determinant(value_matrix(at_weights, left, right))

    base, direction = (rng.integers(1, 2**31, int(cuts[-1])).astype(object) for _ in range(2))
    found = measured_degree(minor, base, direction)
    # Schwartz and Zippel, for a degree below 2^11 and 2^31 values of each coordinate.
    return Exact(found.value, misses=2.0**-20) if isinstance(found, Exact) else found


def _determinant(matrix: NDArray[Any]) -> Any:
    if len(matrix) == 1:
        return matrix[0, 0]
    minors = (_determinant(np.delete(matrix, row, axis=0)[:, 1:]) for row in range(len(matrix)))
    terms = [(-1) ** row * matrix[row, 0] * minor for row, minor in enumerate(minors)]
    return sum(terms[1:], terms[0])


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
        statement=Le(share, R * (3**L - 1) / p),
    ),
    supports="separation_rank/exact",
)
def one_witness(case: Case, seed: int) -> Exact:
    """A minor that is not zero once is rarely zero.

    Over F_p, an R x R minor that is not the zero polynomial in the weights vanishes for a share of
    at most 4 C(L) R / p of them.

    At width 1 every choice of weights over F_p is looked at, otherwise every point of one random
    line of weights. Over the reals the zeros of such a minor are a null set (Caron and Traynor), so
    that one witness gives sep >= R for almost all weights: cited, not measured.
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


def _weights(net: AttentionNet, prime: int, rng: np.random.Generator) -> Iterator[AttentionNet]:
    """All weights at width 1, otherwise all of a random line through those of the net."""
    if net.width == 1 and net.depth == 1:
        for entries in itertools.product(range(prime), repeat=4):
            query, key, value, output = (np.array(e).reshape(1, 1, 1, 1) for e in entries)
            yield AttentionNet(query, key, value, output, prime)
        return
    direction = random_net(rng, width=net.width, depth=net.depth, heads=net.heads, prime=prime)
    for t in range(prime):
        query, key, value, output = (
            (getattr(net, name) + t * getattr(direction, name)) % prime for name in _NAMES
        )
        yield AttentionNet(query, key, value, output, prime)


@claim(
    Ge(loss, Integer(0)),
    source=Source("depthlaw", "a minor that is not 0 modulo p is not 0"),
    cases={
        "quick": (
            *Case.grid(width=2, depth=2, heads=(1, 2), minor_size=18, prime=(2, 3, 5, 2**31 - 1)),
            *Case.grid(width=3, depth=(1, 2), heads=1, minor_size=12, prime=(2, 7, 2**31 - 1)),
        )
    },
    control=Control(
        Case(width=2, depth=2, heads=1, minor_size=18, prime=2),
        "a prime as small as 2 loses rank: no equality",
        statement=Le(loss, 0),
    ),
    supports="separation_rank/exact",
)
def finite_field(case: Case, seed: int) -> Exact:
    """A rank modulo a prime never exceeds the rational rank.

    For integer weights and inputs and every prime p, the rank of the value matrix modulo p is at
    most its rank over Q, so a rank modulo p is a lower bound on the separation rank, whatever p.

    Small primes lose rank: inputs and weights coincide modulo p, powers coincide (x^p = x), and
    binomial factors vanish for p <= C(L). 2^31 - 1 avoids all three in these cases. The rank modulo
    p is that of the net reduced modulo p, by its own token recursion.
    """
    rng, size = case.rng(seed), case.minor_size
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None)
    sides = [random_tokens(rng, net, size, 1) for _ in range(2)]
    entries = [int(value) for value in value_matrix(net, *sides).ravel()]
    weights = [getattr(net, name) for name in _NAMES]
    query, key, value, output, left, right = (
        (array % case.prime).astype(np.int64) for array in (*weights, *sides)
    )
    reduced = AttentionNet(query, key, value, output, prime=case.prime)
    modular = rank_mod(value_matrix(reduced, left, right), case.prime)
    return Exact(int(fmpz_mat(size, size, entries).rank()) - modular)
