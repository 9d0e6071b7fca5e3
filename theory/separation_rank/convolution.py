"""Convolutional arithmetic circuits beside attention: their separation rank depends on who owns which tokens, that of attention does not.

A layer multiplies every token by one matrix and then neighbours by each other, coordinate by coordinate, which halves the number of tokens; after
L layers one is left of N = 2^L. The output is linear in each token, so its separation rank is that of the matrix of its coefficients, which are
its values at the unit vectors.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..claim import Case, Claim, Control, Source
from ..values import Exact
from .linear_attention import PRIME
from .measured import rank_mod

__all__ = ["circuit", "claims", "coefficient_matrix", "measured_circuit"]

Residues = NDArray[np.int64]


def circuit(weights: Residues, last: Residues, tokens: Residues) -> Residues:
    """The output of a convolutional arithmetic circuit modulo `PRIME`: y_i = (W y_{2i}) * (W y_{2i+1}) layer by layer, then a scalar product.

    Args:
        weights: array (L, d, d) of residues, one matrix for each layer, shared by all positions.
        last: array (d,), which reads the token that is left.
        tokens: array (..., 2^L, d).

    Returns:
        Array (...).

    Raises:
        ValueError: when the tokens are not 2^L in number.

    Cost: about 2^(L+1) d^2 operations for each input.

    >>> circuit(np.array([[[1, 2], [3, 4]]]), np.array([1, 1]), np.array([[1, 0], [0, 1]])).item()  # 1 * 2 + 3 * 4
    14
    """
    y = np.asarray(tokens)
    if y.shape[-2] != 2 ** len(weights):
        raise ValueError(f"{y.shape[-2]} tokens and {len(weights)} layers: accepted are 2^L tokens for L layers")
    for matrix in weights:
        y = _times(matrix, y)
        y = y[..., ::2, :] * y[..., 1::2, :] % PRIME
    return _times(last[None], y)[..., 0, 0]


def _times(matrix: Residues, y: Residues) -> Residues:
    # Products of residues stay below 2^62; they are reduced before they are added.
    return (matrix * y[..., None, :] % PRIME).sum(axis=-1) % PRIME


def coefficient_matrix(weights: Residues, last: Residues, alternating: bool) -> Residues:
    """The coefficients of the output, monomials of one side against those of the other: array (d^(N/2), d^(N/2)).

    Args:
        weights, last: as in `circuit`.
        alternating: whether the sides own the tokens in turn; otherwise they are the first and the second half.

    Cost: d^N values of the circuit.
    """
    half, width = 2 ** (len(weights) - 1), len(last)
    side = np.eye(width, dtype=np.int64)[list(itertools.product(range(width), repeat=half))]
    tokens = np.empty((len(side), 2 * half, width), dtype=np.int64)
    own, other = (slice(0, None, 2), slice(1, None, 2)) if alternating else (slice(0, half), slice(half, None))
    tokens[:, other] = side
    values = np.empty((len(side), len(side)), dtype=np.int64)
    for row, left in enumerate(side):
        tokens[:, own] = left
        values[row] = circuit(weights, last, tokens)
    return values


def measured_circuit(case: Case, seed: int) -> Exact:
    """The rank of the coefficients at random weights modulo a prime; a minor has degree 2 N - 1 in the weights for each of its rows."""
    rng = case.rng(seed)
    weights, last = rng.integers(0, PRIME, (case.depth, case.width, case.width)), rng.integers(0, PRIME, case.width)
    matrix = coefficient_matrix(weights, last, case.alternating)
    rank = rank_mod(matrix)
    return Exact(rank, misses=0.0 if rank == len(matrix) else (rank + 1) * (2 * 2**case.depth - 1) / PRIME)


# --- claims ----------------------------------------------------------------------------------------------------------------------

_TOKENS = {"N = 2^L": lambda c: c.tokens == 2**c.depth}
_IN_TURN = {"the sides own the tokens in turn": lambda c: c.alternating}
_HALVES = {"the sides are the first and the second half": lambda c: not c.alternating}
_SHAPES = {"quick": ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2), (3, 3)), "theory": ((2, 4), (4, 3), (8, 2), (16, 2))}


def claims() -> Iterator[Claim]:
    """The claims of this module; they belong to separation_rank."""
    from sympy import Eq

    from ..glossary import symbol

    d, N, sep = symbol("width"), symbol("tokens"), symbol("sep")
    source = Source("cohen2016", "convolutional arithmetic circuits with shared weights and windows of two tokens")
    yield Claim(
        key="separation_rank/convolution_in_turn", title="a convolutional circuit, sides in turn: the largest rank",
        text="For a convolutional arithmetic circuit of width d_x and depth L on N = 2^L tokens, sides that own the tokens in turn and almost all "
              "weights, sep = d_x^(N/2), in every case measured.",
        statement=Eq(sep, d ** (N / 2)), source=source, wording="derived", kind="identity", holds_for="almost every", measured=measured_circuit,
        assumes={**_TOKENS, **_IN_TURN}, grid=_grid(alternating=True),
        control=Control(Case(width=2, depth=2, tokens=4, alternating=False), "the first half and the second: the rank is d_x"),
        note="No function that is linear in each token has a larger rank: the matrix is no larger, so that only a smaller rank could show. For these "
             "sides it grows exponentially with N, while that of attention never exceeds S(d_x, L), whatever N is and whichever tokens a "
             "side owns (dimension_count). At equal width and depth L = log_2 N it is the smaller one all the same until N is large: 4, 16 "
             "and 256 at d_x = 2, N = 4, 8 and 16, where S is 18, 232 and 4538.")
    yield Claim(
        key="separation_rank/convolution_halves", title="a convolutional circuit, one half and the other: the width",
        text="For the same circuit, if the sides are the first and the second half of the tokens, sep = d_x for almost all weights, in every case "
              "measured.",
        statement=Eq(sep, d), source=source, wording="derived", kind="identity", holds_for="almost every", measured=measured_circuit,
        assumes={**_TOKENS, **_HALVES}, grid=_grid(alternating=False),
        control=Control(Case(width=2, depth=2, tokens=4, alternating=True), "sides in turn: the rank is d_x^(N/2)"),
        note="The halves meet in the last layer only, in a sum of d_x products, so that sep <= d_x for all weights. So whether a convolutional net "
             "has a high separation rank depends on the sides; attention without a mask has the same rank for all sides of equal size.")


def _grid(alternating: bool) -> dict[str, tuple[Case, ...]]:
    return {suite: tuple(Case(width=d, depth=L, tokens=2**L, alternating=alternating) for d, L in shapes) for suite, shapes in _SHAPES.items()}
