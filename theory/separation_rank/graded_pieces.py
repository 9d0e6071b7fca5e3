"""Catalecticants of linearised attention over F_p at scale, without one polynomial product.

The row vector e_p^T T_L(M_L) ... T_1(M_1) is a word in constant matrices and the moment matrix M:
T_l(M_l) = sum_h A_h M_l B_h and M_{l+1} = T_l(M_l) M_l T_l(M_l)^T. So the d_x forms grow from
constants by multiplications with M alone, which only move coefficients: `products_with_variables`
is where. The same tables find mu + nu for all entries of a catalecticant, one gather for each step
down a tree of exponents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact.finite_field import matmul
from ..exact.residues import default_prime, pieces
from .linear_attention import LinearAttentionNet, random_net

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

# The largest prime for which 2048 products add up without a reduction.
PRIME = default_prime(2048)

# A random choice of the longer side exceeds the shorter one by this much. What it misses is not
# left to chance: `piece_rank.graded_rank` looks at all of the rest where the choice falls short.
# (That it rarely does is seen, not proved: the entries of a catalecticant are not independent.)
SPARE = 64

# Coefficients of one form that are worked on together.
_CHUNK = 1 << 16


# --- monomials ------------------------------------------------------------------------------------


def partial_sums(variables: int, degree: int, numbers: Integers) -> Integers:
    """s_i = e_1 + ... + e_i, i < D, of the exponents of monomials: array (D - 1, len(numbers)).

    A monomial's number is sum_i binom(s_i + i - 1, i): the combinatorial number system of the bars
    s_i + i - 1 between the variables.

    >>> partial_sums(3, 2, np.arange(6)).tolist()
    [[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    """
    sums = np.empty((variables - 1, len(numbers)), dtype=np.int16)
    rest = np.asarray(numbers, dtype=np.int64).copy()
    for i in range(variables - 1, 0, -1):
        terms = np.array([math.comb(s + i - 1, i) for s in range(degree + 1)], dtype=np.int64)
        sums[i - 1] = np.searchsorted(terms, rest, side="right") - 1
        rest -= terms[sums[i - 1]]
    return sums


def exponents_of(variables: int, degree: int, numbers: Integers) -> Integers:
    """The exponents of the monomials with these numbers: array (D, len(numbers)) of int16."""
    sums = partial_sums(variables, degree, numbers)
    edge = np.zeros((1, len(numbers)), dtype=np.int16)
    return np.diff(np.concatenate([edge, sums, edge + np.int16(degree)]), axis=0)


@lru_cache(maxsize=128)
def products_with_variables(variables: int, degree: int) -> Integers:
    """The number that each monomial of a degree j gets by each variable: (D, binom(D + j - 1, j)).
    A ValueError for 2^31 monomials or more.

    >>> products_with_variables(2, 1).tolist()  # y and x times x, times y, among y^2, xy, x^2
    [[1, 2], [0, 1]]
    """
    if variables < 1 or degree < 0 or math.comb(variables + degree, degree + 1) >= 2**31:
        raise ValueError(
            f"variables={variables}, degree={degree}: accepted are at least one "
            "variable and fewer than 2^31 monomials"
        )
    numbers = np.arange(math.comb(variables + degree - 1, degree))
    sums = partial_sums(variables, degree, numbers)
    table = np.empty((variables, len(numbers)), dtype=np.int32)
    table[-1] = numbers
    for i in range(variables - 1, 0, -1):
        # Variable v adds one to s_i for every i >= v: binom(s_i + i - 1, i - 1) to the number.
        growth = np.array([math.comb(s + i - 1, i - 1) for s in range(degree + 1)], dtype=np.int32)
        table[i - 1] = table[i] + growth[sums[i - 1]]
    return table


def _factorials(variables: int, degree: int, prime: int) -> Floats:
    """alpha! modulo the prime for every monomial alpha of a degree.

    The monomials of degree j are those with s_(D-1) = 0, 1, ..., j, each part numbered as the
    monomials of degree s in one variable less: the last part of an array is that for D - 1.
    """
    factorial = [1]
    for n in range(1, degree + 1):
        factorial.append(factorial[-1] * n % prime)
    values = [
        np.full(math.comb(variables + j - 1, j), factorial[j], dtype=np.int64)
        for j in range(degree + 1)
    ]
    for D in range(2, variables + 1):
        sizes = [math.comb(D + s - 2, s) for s in range(degree + 1)]
        # From the highest degree down: lower ones are still those of one variable less.
        for j in range(degree, 0, -1):
            start = len(values[j]) - sum(sizes[: j + 1])
            for s in range(j):
                part = values[s][len(values[s]) - sizes[s] :]
                np.remainder(
                    part * factorial[j - s], prime, out=values[j][start : start + sizes[s]]
                )
                start += sizes[s]
    return values[degree].astype(np.float64)


# --- the forms ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Forms:
    """d_x forms of degree C(L), each coefficient times the factorials of its exponents: an array
    (d_x, binom(D + C - 1, C)) of centred residues modulo a prime above C(L)."""

    scaled: Floats
    degree: int
    prime: int

    @property
    def width(self) -> int:
        """d_x."""
        return len(self.scaled)

    @property
    def variables(self) -> int:
        """D = d_x (d_x + 1) / 2."""
        return self.width * (self.width + 1) // 2


def dense_forms(net: LinearAttentionNet) -> Floats:
    """The coefficients of P_1, ..., P_d, with y_1 = sum_a x_a P_a(M), in M_ab, a <= b row by row:
    array (d_x, binom(D + C - 1, C)) of centred residues.

    Raises:
        ValueError: for a net with residual connections, over Z, or modulo a p not taken here.
    """
    if net.residual or net.prime is None:
        raise ValueError("the forms need a net modulo a prime and without residual connections")
    row = np.zeros((net.width, 1))
    row[0] = 1.0
    places, heads = range(net.depth), range(net.heads)
    left = [[matmul(net.output[n, h], net.value[n, h], net.prime) for h in heads] for n in places]
    right = [[matmul(net.key[n, h].T, net.query[n, h], net.prime) for h in heads] for n in places]
    word = _Word(net.prime, net.width, left, right)
    for layer in reversed(range(net.depth)):
        row, degree = word.times_layer(row, (3**net.depth - 3 ** (layer + 1)) // 2, layer)
    assert degree == (3**net.depth - 1) // 2
    return row


@dataclass(frozen=True, eq=False)
class _Word:
    """Multiplication of a row of forms from the right; a step takes and gives (forms, degree)."""

    prime: int
    width: int
    left: list[list[Floats]]
    right: list[list[Floats]]

    def times_layer(
        self, row: Floats, degree: int, layer: int, transposed: bool = False
    ) -> tuple[Floats, int]:
        """row T_l(M_l) = sum_h (row A_h) M_l B_h; transposed, sum_h (row B_h^T) M_l A_h^T."""
        total = None
        for a, b in zip(self.left[layer], self.right[layer], strict=True):
            before, after = (b.T, a.T) if transposed else (a, b)
            mixed = self._times(before, row, np.empty_like(row))
            part, reached = self.times_moments(mixed, degree, layer)
            self._times(after, part, part)
            total = part if total is None else np.add(total, part, out=total)
        assert total is not None
        if len(self.left[layer]) > 1:
            total = _centred(total, self.prime)
        return total, reached

    def times_moments(self, row: Floats, degree: int, layer: int) -> tuple[Floats, int]:
        """row M_l, with M_1 = M and M_{l+1} = T_l(M_l) M_l T_l(M_l)^T."""
        if layer == 0:
            return self._times_m(row, degree), degree + 1
        row, degree = self.times_layer(row, degree, layer - 1)
        row, degree = self.times_moments(row, degree, layer - 1)
        return self.times_layer(row, degree, layer - 1, transposed=True)

    def _times(self, constant: Floats, row: Floats, out: Floats) -> Floats:
        """row constant, into `out`, which may be the row."""
        for part in pieces(row.shape[1], _CHUNK):
            out[:, part] = matmul(constant.T, row[:, part], self.prime)
        return out

    def _times_m(self, row: Floats, degree: int) -> Floats:
        """row M: the coefficient of every monomial moves to its product with M_ab."""
        table = products_with_variables(self.width * (self.width + 1) // 2, degree)
        product = np.zeros((self.width, math.comb(len(table) + degree, degree + 1)))
        pairs = [(a, b) for a in range(self.width) for b in range(a, self.width)]
        for place, (a, b) in zip(table, pairs, strict=True):
            product[b, place] += row[a]
            if a != b:
                product[a, place] += row[b]
        return _centred(product, self.prime)


def _centred(x: Floats, prime: int) -> Floats:
    """Centred residues of sums of at most a thousand residues, in place, form by form."""
    for form in x:
        for part in pieces(len(form), _CHUNK):
            quotient = np.rint(form[part] * (1 / prime))
            quotient *= prime
            form[part] -= quotient
    return x


def scaled_forms(net: LinearAttentionNet) -> Forms:
    """`dense_forms`, each coefficient times the factorials of its exponents; a ValueError unless
    the prime exceeds C(L)."""
    degree = (3**net.depth - 1) // 2
    if net.prime is not None and net.prime <= degree:
        raise ValueError(
            f"p={net.prime} does not exceed the degree {degree} of the forms, so "
            f"derivatives vanish; try {PRIME}"
        )
    coefficients = dense_forms(net)
    assert net.prime is not None
    factorials = _factorials(net.width * (net.width + 1) // 2, degree, net.prime)
    # Below 2^52: a residue of 2^25 times one of 2^26.
    coefficients *= factorials
    for _ in range(2):
        _centred(coefficients, net.prime)
    return Forms(coefficients, degree, net.prime)


def frontier_net(width: int, depth: int, heads: int = 1, seed: int = 0) -> LinearAttentionNet:
    """The random net modulo PRIME that a shape and a seed determine."""
    rng = np.random.default_rng([width, depth, heads, seed])
    return random_net(rng, width=width, depth=depth, heads=heads, prime=PRIME)


@lru_cache(maxsize=1)
def frontier_forms(width: int, depth: int, heads: int = 1, seed: int = 0) -> Forms:
    """The forms of `frontier_net`, kept until those of another net are asked for."""
    # The forms and tables of another net can take more memory than is left for this one.
    frontier_forms.cache_clear()
    products_with_variables.cache_clear()
    return scaled_forms(frontier_net(width, depth, heads, seed))


# --- one piece ------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Some rows (a, mu), numbered a binom(D+k-1, k) + mu, and columns nu of a catalecticant."""

    rows: Integers
    columns: Integers


def piece_shape(width: int, depth: int, order: int) -> tuple[int, int]:
    """Rows and columns of Cat_k: d binom(D+k-1, k) and binom(D+C-k-1, C-k); a ValueError unless k
    is from 0 to C(L).

    >>> piece_shape(4, 3, 6)
    (20020, 11440)
    """
    degree, variables = (3**depth - 1) // 2, width * (width + 1) // 2
    if not 0 <= order <= degree:
        raise ValueError(f"order={order}: the orders of depth {depth} go from 0 to {degree}")
    rows, rest = width * math.comb(variables + order - 1, order), degree - order
    return rows, math.comb(variables + rest - 1, rest)


def selection(shape: tuple[int, int], rng: np.random.Generator, spare: int = SPARE) -> Piece:
    """All of the shorter side, and a random choice of the longer one, larger by `spare`."""
    most = min(shape) + spare
    rows, columns = (
        np.arange(size) if size <= most else np.sort(rng.choice(size, most, replace=False))
        for size in shape
    )
    return Piece(rows, columns)


def catalecticant_part(
    forms: Forms, order: int, piece: Piece, make: Callable[[tuple[int, int]], Floats] = np.empty
) -> Floats:
    """Some rows and columns of Cat_k, entries (mu + nu)! [M^(mu+nu)] P_a; transposed for k > C - k.

    Args:
        forms, order, piece: from `scaled_forms`; k; rows and columns, increasing.
        make: makes an array of a shape, for instance on disk.

    Cost: between one and min(k, C - k) + 1 gathers for each entry, mostly below three.
    """
    size, rest = forms.scaled.shape[1], forms.degree - order
    form, mu = np.divmod(piece.rows, math.comb(forms.variables + order - 1, order))
    # The tree of exponents runs over the side of smaller degree; the other side is one vector.
    if order <= rest:
        matrix = make((len(piece.rows), len(piece.columns)))
        sorting = np.argsort(mu, kind="stable")
        monomials, starts = np.unique(mu[sorting], return_index=True)
        groups = np.split(sorting, starts[1:])
        everything = forms.variables, order, monomials, rest, piece.columns
        for place, products in _products_with_all(*everything):
            for row in groups[place]:
                np.take(forms.scaled[form[row]], products, out=matrix[row], mode="clip")
        return matrix
    matrix = make((len(piece.columns), len(piece.rows)))
    offsets = form * size
    everything = forms.variables, rest, piece.columns, order, mu
    for place, products in _products_with_all(*everything):
        np.take(forms.scaled.reshape(-1), offsets + products, out=matrix[place], mode="clip")
    return matrix


def _products_with_all(
    variables: int, degree: int, monomials: Integers, other_degree: int, others: Integers
) -> Iterator[tuple[int, Integers]]:
    """For each monomial: its place, and the numbers of its products with all of the others. Each
    takes over the products of the longest beginning it shares with the last."""
    exponents = exponents_of(variables, degree, monomials)
    letters = np.tile(np.arange(variables), len(monomials))
    words = np.repeat(letters, exponents.T.reshape(-1)).reshape(len(monomials), degree)
    tables = [products_with_variables(variables, other_degree + step) for step in range(degree)]
    path: list[Integers] = [np.asarray(others)]
    last: list[int] = []
    for place in np.lexsort(words.T[::-1]) if degree else range(len(monomials)):
        word = words[place].tolist()
        pairs = enumerate(zip(word, last, strict=False))
        shared = next((n for n, (a, b) in pairs if a != b), len(last))
        del path[shared + 1 :]
        for step in range(shared, degree):
            path.append(tables[step][word[step]][path[-1]])
        last = word
        yield int(place), path[-1]


# --- cost of the forms ----------------------------------------------------------------------------


def forms_bytes(width: int, depth: int) -> int:
    """Bytes that the forms of one head and the tables kept take at most, while they are made too.

    Twice the rows of degree C - 1 and some of their products beside those of degree C, or the
    factorials of all degrees as integers and those of degree C as floats.
    """
    C, D = (3**depth - 1) // 2, width * (width + 1) // 2
    last, before = (math.comb(D + j - 1, j) for j in (C, C - 1))
    growing = (2 * width + 1) * before + 4 * width * min(last, _CHUNK)
    factorials = math.comb(D + C, C) + last
    tables = 4 * D * math.comb(D + C - 1, C - 1) + 2 * D * before
    return 8 * (width * last + max(growing, factorials)) + tables


def forms_entries(width: int, depth: int) -> int:
    """How many numbers are moved to make the forms of one head: of every degree below C d_x^2
    coefficients, D places of each, and d_x forms that are reduced and mixed."""
    C, D = (3**depth - 1) // 2, width * (width + 1) // 2
    below, last = math.comb(D + C - 1, C - 1), math.comb(D + C - 1, C)
    return below * (width**2 + D + width) + last * width
