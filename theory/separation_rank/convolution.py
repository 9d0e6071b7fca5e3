"""Convolutional arithmetic circuits beside attention: who owns which tokens decides their rank.

A layer multiplies every token by one matrix and then neighbours by each other, coordinate by
coordinate, which halves the number of tokens; after L layers one is left of N = 2^L. The output is
linear in each token, so its separation rank is that of the matrix of its coefficients, which are
its values at the unit vectors.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from sympy import Piecewise

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity, tokens as N
from .linear_attention import PRIME
from .rank_symbols import d
from .value_rank import rank_mod, sep

Residues = NDArray[np.int64]


def circuit(weights: Residues, last: Residues, tokens: Residues) -> Residues:
    """The output modulo `PRIME`: y_i = (W y_{2i}) * (W y_{2i+1}) layer by layer, then last . y_1.

    Args:
        weights: array (L, d, d) of residues, one matrix for each layer, shared by all positions.
        last: array (d,), which reads the token that is left.
        tokens: array (..., 2^L, d).

    Raises:
        ValueError: when the tokens are not 2^L in number.

    >>> circuit(np.array([[[1, 2], [3, 4]]]), np.array([1, 1]), np.eye(2, dtype=int)).item()
    14
    """
    y = np.asarray(tokens)
    if y.shape[-2] != 2 ** len(weights):
        raise ValueError(f"{y.shape[-2]} tokens and {len(weights)} layers: accepted are 2^L tokens")
    for matrix in weights:
        y = _times(matrix, y)
        y = y[..., ::2, :] * y[..., 1::2, :] % PRIME
    return _times(last[None], y)[..., 0, 0]


def _times(matrix: Residues, y: Residues) -> Residues:
    # Products of residues stay below 2^62; they are reduced before they are added.
    return (matrix * y[..., None, :] % PRIME).sum(axis=-1) % PRIME


def coefficient_matrix(weights: Residues, last: Residues, alternating: bool) -> Residues:
    """The coefficients, monomials of one side against those of the other: (d^(N/2), d^(N/2)).

    Args:
        weights, last: as in `circuit`.
        alternating: whether the sides own the tokens in turn, otherwise the first and second half.

    Cost: d^N values of the circuit.
    """
    half, width = 2 ** (len(weights) - 1), len(last)
    side = np.eye(width, dtype=np.int64)[list(itertools.product(range(width), repeat=half))]
    tokens = np.empty((len(side), 2 * half, width), dtype=np.int64)
    own, other = slice(0, half), slice(half, None)
    if alternating:
        own, other = slice(0, None, 2), slice(1, None, 2)
    tokens[:, other] = side
    values = np.empty((len(side), len(side)), dtype=np.int64)
    for row, left in enumerate(side):
        tokens[:, own] = left
        values[row] = circuit(weights, last, tokens)
    return values


SHAPES = {
    "quick": ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2), (3, 3)),
    "theory": ((2, 4), (4, 3), (8, 2), (16, 2)),
}
in_turn = quantity(
    "alternating", "a", "1 where the sides own the tokens in turn, else 0", "nonnegative integer"
)


@claim(
    Eq(sep, Piecewise((d ** (N / 2), Eq(in_turn, 1)), (d, True))),
    source=Source(
        "cohen2016",
        "convolutional arithmetic circuits with shared weights and windows of two tokens",
    ),
    holds_for="almost every",
    assumes={"$N = 2^L$": lambda c: c.tokens == 2**c.depth},
    cases={
        suite: [
            Case(width=d, depth=L, tokens=2**L, alternating=alternating)
            for alternating in (True, False)
            for d, L in shapes
        ]
        for suite, shapes in SHAPES.items()
    },
    control=Control(
        Case(width=2, depth=2, tokens=4, alternating=False),
        "the first half and the second, by the rank of sides in turn",
        Eq(sep, d ** (N / 2)),
    ),
    cited="Decides which rank of a convolutional circuit a comparison with attention may use.",
)
def convolution_sides(case: Case, seed: int) -> Exact:
    r"""Sides decide a convolutional circuit's rank: the largest, or the width.

    For a convolutional arithmetic circuit of width $d_x$ and depth $L$ on $N = 2^L$ tokens and
    almost all weights, $\operatorname{sep} = d_x^{N/2}$ if the sides own the tokens in turn, and
    $\operatorname{sep} = d_x$ if they are the first and the second half, in every case measured.

    No function that is linear in each token has a larger rank than $d_x^{N/2}$: the matrix is no
    larger, so that only a smaller rank could show. The halves meet in the last layer only, in a sum
    of $d_x$ products, so that $\operatorname{sep} \leq d_x$ for all weights. Attention without a
    mask has the same rank for all sides of equal size. In turn it grows exponentially with $N$,
    while that of attention never exceeds $S(d_x, L)$, whatever $N$ is and whichever tokens a side
    owns (dimension_count). At equal width and depth $L = \log_2 N$ it is the smaller one all the
    same until $N$ is large: 4, 16 and 256 at $d_x = 2$, $N = 4$, 8 and 16, where $S$ is 18, 232 and
    4538.
    """
    rng, width = case.rng(seed), case.width
    weights = rng.integers(0, PRIME, (case.depth, width, width))
    matrix = coefficient_matrix(weights, rng.integers(0, PRIME, width), case.alternating)
    rank = rank_mod(matrix)
    # A minor has degree 2 N - 1 in the weights for each of its rows.
    miss = (rank + 1) * (2 * 2**case.depth - 1) / PRIME
    return Exact(rank, misses=0.0 if rank == len(matrix) else miss)
