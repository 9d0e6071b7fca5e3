"""The forms of one head as a word with few different constants, and words like it over F_p.

Up to a mixing of the forms, the output of one head is the row a^T M s_1 M s_2 ... s_{C-1} M, with
C = (3^L - 1)/2 letters M. There are only L different separators: s_i is one of c_1, ..., c_L or a
transpose.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.finite_field import matmul
from .graded_pieces import PRIME, Forms, exponents_of, products_with_variables

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]


def separators(depth: int) -> tuple[int, ...]:
    """Which constants stand between the letters of one head: l for c_l, -l for its transpose.

    W_1 = M, W_{l+1} = W_l c_l W_l c_l^T W_l, and the word is W_L c_L W_{L-1} c_{L-1} ... c_2 W_1.

    Raises:
        ValueError: for a depth below 1.

    >>> separators(2)
    (1, -1, 2)
    """
    if depth < 1:
        raise ValueError(f"depth={depth}: accepted are positive depths")
    inner: tuple[int, ...] = ()
    word: tuple[int, ...] = ()
    for layer in range(1, depth + 1):
        word = (*inner, layer, *word) if layer > 1 else ()
        inner = (*inner, layer, *inner, -layer, *inner)
    return word


def kept_letters(word: Sequence[int], forbidden: Collection[int], first: bool) -> int:
    """The largest number of letters kept with no two neighbours joined by a forbidden separator.

    Args:
        word: the separators between the letters, as `separators` gives them.
        forbidden: numbers l of separators, their transposes included.
        first: whether the first letter must go.

    >>> kept_letters(separators(3), {1, 2}, first=True)
    6
    """
    gone, kept = 0, 0 if first else 1
    for separator in word:
        before = gone if abs(separator) in forbidden else max(gone, kept)
        gone, kept = max(gone, kept), 1 + before
    return max(gone, kept)


def word_forms(first: Integers, constants: Sequence[Integers], prime: int = PRIME) -> Forms:
    """The d forms of the row a^T M s_1 M ... s_{C-1} M modulo a prime, for `graded_rank`.

    Args:
        first: a, array (d,) of residues.
        constants: s_1, ..., s_{C-1}, arrays (d, d).
        prime: above C.

    Raises:
        ValueError: for a prime that does not exceed C.

    Cost: d^2 moves of the coefficients of each degree.

    >>> word_forms(np.array([1, 2]), []).scaled.tolist()  # M_11 + 2 M_12, M_12 + 2 M_22; last first
    [[0.0, 2.0, 1.0], [2.0, 1.0, 0.0]]
    """
    degree, width = len(constants) + 1, len(first)
    if prime <= degree:
        raise ValueError(
            f"p={prime} does not exceed the {degree} letters, so derivatives vanish; try {PRIME}"
        )
    row = _times_moments(np.asarray(first, dtype=np.float64)[:, None], 0, prime)
    for place, constant in enumerate(constants, 1):
        row = _times_moments(matmul(np.asarray(constant).T, row, prime), place, prime)
    scaled = row * _factorials(width * (width + 1) // 2, degree, prime)
    return Forms(_centred(_centred(scaled, prime), prime), degree, prime)


def _times_moments(row: Floats, degree: int, prime: int) -> Floats:
    """row M, degree by degree: (row M)_b = sum_a row_a M_ab."""
    width = len(row)
    table = products_with_variables(width * (width + 1) // 2, degree)
    product = np.zeros((width, math.comb(len(table) + degree, degree + 1)))
    pairs = [(a, b) for a in range(width) for b in range(a, width)]
    for place, (a, b) in zip(table, pairs, strict=True):
        for here, there in {(a, b), (b, a)}:
            product[there, place] += row[here]
    return _centred(product, prime)


def _centred(x: Floats, prime: int) -> Floats:
    return x - prime * np.rint(x / prime)


def _factorials(variables: int, degree: int, prime: int) -> Floats:
    """alpha! modulo the prime, for the monomials alpha of a degree."""
    numbers = np.arange(math.comb(variables + degree - 1, degree))
    table = np.array([math.factorial(n) % prime for n in range(degree + 1)], dtype=np.int64)
    product = np.ones(len(numbers), dtype=np.int64)
    for exponents in exponents_of(variables, degree, numbers):
        product = product * table[exponents] % prime
    return product.astype(np.float64)
