"""Where one head falls short of the dimension count: the forms are words with few different constants, and their derivatives share zeros.

Up to a mixing of the forms, the output of one head is the row a^T M s_1 M s_2 ... s_{C-1} M, with C = (3^L - 1)/2 letters M. There are only L
different separators: s_i is one of c_1, ..., c_L or a transpose. A derivative of order k < C/2 keeps so many letters that in every term of it
two kept letters stand beside each other, at one of the places i = 2, 4, ... for odd L and 1, 3, ... for even L, or, for odd L, the first letter is
kept. At M = v v^T these terms have a factor v^T c_l v or a^T v. So the derivatives of order k are few: restricted to M = v v^T they lie in the
ideal of L forms, which in degree 2 (C - k) is not everything when d > L: the forms are fewer than the entries of v.
"""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..claim import Case, Claim, Control, Source
from ..exact.finite_field import matmul
from ..values import Exact
from .dimension_count import moments_degree
from .graded_pieces import PRIME, Forms, partial_sums, piece_shape, products_with_variables
from .piece_rank import graded_rank, rank_of_piece

if TYPE_CHECKING:
    import sympy

__all__ = ["claims", "corrected_count", "ideal_codimension", "kept_letters", "loss", "measured_word", "piece_bound", "separators", "word_forms"]

Integers = NDArray[np.integer[Any]]


# --- counting ---------------------------------------------------------------------------------------------------------------------


def separators(depth: int) -> tuple[int, ...]:
    """Which constant stands between neighbouring letters M of the word of one head: l for c_l, -l for its transpose.

    W_1 = M, W_{l+1} = W_l c_l W_l c_l^T W_l, and the word is W_L c_L W_{L-1} c_{L-1} ... c_2 W_1.

    Args:
        depth: L, at least 1.

    Returns:
        C(L) - 1 numbers, those at places 1, 2, ...

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
    """The largest number of letters that can be kept with no two neighbours joined by a forbidden separator.

    Args:
        word: the separators between the letters, as `separators` gives them.
        forbidden: numbers l of separators, their transposes included.
        first: whether the first letter must go.

    Cost: linear in the letters.

    >>> kept_letters(separators(3), {1, 2}, first=True)
    6
    """
    gone, kept = 0, 0 if first else 1
    for separator in word:
        gone, kept = max(gone, kept), 1 + (gone if abs(separator) in forbidden else max(gone, kept))
    return max(gone, kept)


def ideal_codimension(variables: int, squares: int, linear: int, degree: int) -> int:
    """How many monomials of a degree avoid x_1^2, ..., x_q^2 and further variables y_1, ..., y_j.

    By the lemma of docs/separation-rank.md, q quadrics and j linear forms, whatever they are, leave at least so many forms of the degree outside
    the ideal they generate.

    Args:
        variables, squares, linear, degree: d >= q + j, q, j, and the degree n >= 0.

    Returns:
        sum_i binom(q, i) times the number of monomials of degree n - i in the d - q - j other variables.

    Raises:
        ValueError: when d < q + j.

    >>> ideal_codimension(4, 2, 1, 14), ideal_codimension(3, 2, 1, 2)
    (4, 1)
    """
    free = variables - squares - linear
    if free < 0:
        raise ValueError(f"variables={variables}: {squares} squares and {linear} variables are more than there are; give fewer")

    def others(rest: int) -> int:
        return math.comb(rest + free - 1, rest) if free else int(rest == 0)

    return sum(math.comb(squares, i) * others(degree - i) for i in range(min(squares, degree) + 1))


def loss(width: int, depth: int, order: int) -> int:
    """By how much the rank of Cat_k of one head stays below its number of columns, at least, for all weights.

    It is positive for d > L and 2 k < C(L): then [t^(2 (C-k))] (1 + t)^q / (1 - t)^(d - L), with q = L for even L and L - 1 for odd L.

    Args:
        width, depth: d_x and L, positive.
        order: k, from 0 to C(L).

    Raises:
        ValueError: for an order out of range.

    >>> loss(4, 3, 6), loss(5, 3, 6), loss(5, 4, 19), loss(3, 3, 6)
    (4, 56, 16, 0)
    """
    degree = moments_degree(depth)
    if not 0 <= order <= degree:
        raise ValueError(f"order={order}: the orders of depth {depth} go from 0 to {degree}")
    if width <= depth or 2 * order >= degree:
        return 0
    return ideal_codimension(width, depth - depth % 2, depth % 2, 2 * (degree - order))


def piece_bound(width: int, depth: int, order: int) -> int:
    """min(rows, columns - `loss`) of Cat_k for one head: no weights have a larger rank.

    >>> piece_bound(4, 3, 6), piece_bound(4, 3, 5)
    (11436, 8008)
    """
    rows, columns = piece_shape(width, depth, order)
    return min(rows, columns - loss(width, depth, order))


def corrected_count(width: int, depth: int) -> int:
    """The sum of `piece_bound` over all orders: an upper bound on the separation rank of one head for all weights, at most S(d, L).

    Args:
        width, depth: d_x and L, positive.

    Cost: C(L) binomial coefficients.

    >>> corrected_count(4, 3), corrected_count(5, 3), corrected_count(3, 3)
    (31456, 248008, 3102)
    """
    return sum(piece_bound(width, depth, order) for order in range(moments_degree(depth) + 1))


# --- words over a prime field -------------------------------------------------------------------------------------------------------


def word_forms(first: Integers, constants: Sequence[Integers], prime: int = PRIME) -> Forms:
    """The d forms of the row a^T M s_1 M ... s_{C-1} M modulo a prime, as `graded_rank` takes them.

    Args:
        first: a, array (d,) of residues.
        constants: s_1, ..., s_{C-1}, arrays (d, d).
        prime: above C.

    Raises:
        ValueError: for a prime that does not exceed C.

    Cost: d^2 moves of the coefficients of each degree.

    >>> word_forms(np.array([1, 2]), []).scaled.tolist()  # M_11 + 2 M_12 and M_12 + 2 M_22, the last variable first
    [[0.0, 2.0, 1.0], [2.0, 1.0, 0.0]]
    """
    degree, width = len(constants) + 1, len(first)
    if prime <= degree:
        raise ValueError(f"p={prime} does not exceed the {degree} letters, so derivatives vanish; try {PRIME}")
    row = _times_moments(np.asarray(first, dtype=np.float64)[:, None], 0, prime)
    for place, constant in enumerate(constants, 1):
        row = _times_moments(matmul(np.asarray(constant).T, row, prime), place, prime)
    return Forms(_centred(_centred(row * _factorials(width * (width + 1) // 2, degree, prime), prime), prime), degree, prime)


def _times_moments(row: NDArray[np.float64], degree: int, prime: int) -> NDArray[np.float64]:
    """row M, degree by degree: (row M)_b = sum_a row_a M_ab."""
    width = len(row)
    table = products_with_variables(width * (width + 1) // 2, degree)
    product = np.zeros((width, math.comb(len(table) + degree, degree + 1)))
    pairs = [(a, b) for a in range(width) for b in range(a, width)]
    for place, (a, b) in zip(table, pairs, strict=True):
        for here, there in {(a, b), (b, a)}:
            product[there, place] += row[here]
    return _centred(product, prime)


def _centred(x: NDArray[np.float64], prime: int) -> NDArray[np.float64]:
    return x - prime * np.rint(x / prime)


def _factorials(variables: int, degree: int, prime: int) -> NDArray[np.float64]:
    """alpha! modulo the prime, for the monomials alpha of a degree."""
    sums = partial_sums(variables, degree, np.arange(math.comb(variables + degree - 1, degree)))
    edge = np.zeros((1, sums.shape[1]), dtype=sums.dtype)
    table = np.array([math.factorial(n) % prime for n in range(degree + 1)], dtype=np.int64)
    product = np.ones(sums.shape[1], dtype=np.int64)
    for exponents in np.diff(np.concatenate([edge, sums, edge + degree]), axis=0):
        product = product * table[exponents] % prime
    return product.astype(np.float64)


def measured_word(case: Case, seed: int) -> Exact:
    """The rank of the derivatives of order k of a word whose separators at even places come from so many random matrices, modulo a prime.

    Each is transposed or not at random; those at odd places are other random matrices. Weights are drawn until the chance that all of them
    missed a larger rank is below 1e-6: a minor has degree C in the weights for each row.
    """
    return _word_rank(case, seed, shared=True)


def measured_free_word(case: Case, seed: int) -> Exact:
    """The same where the separators at even places are other random matrices each, which is outside the claim on words."""
    return _word_rank(case, seed, shared=False)


def _word_rank(case: Case, seed: int, shared: bool) -> Exact:
    rng, best, misses = case.rng(seed), 0, 1.0
    d, C = case.width, case.word_letters
    while misses > _RARE:
        first, fresh = rng.integers(0, PRIME, d), rng.integers(0, PRIME, (C - 1, d, d))
        few, turned = rng.integers(0, PRIME, (case.shared_separators, d, d)), rng.integers(0, 2, C - 1)
        if shared:
            for place in range(1, C - 1, 2):
                chosen = few[place // 2 % len(few)]
                fresh[place] = chosen.T if turned[place] else chosen
        best = max(best, graded_rank(word_forms(first, list(fresh)), case.order, seed=seed))
        misses *= C * (best + 1) / PRIME
    return Exact(best, misses=misses)


_RARE = 1e-6


def measured_loss(case: Case, seed: int) -> Exact:
    """The rank of a catalecticant at random weights modulo a prime, whatever is known about how large it can be."""
    return rank_of_piece(case, seed, most=min(piece_shape(case.width, case.depth, case.order)))


# --- claims -----------------------------------------------------------------------------------------------------------------------

_SOURCE = Source("depthlaw", "docs/separation-rank.md, Where one head falls short")
_RESTS = ("Checked for all sizes: {checked}, relations and number of monomials. Prose: rank Cat_k is a dimension of derivatives, the "
          "product rule, pigeonholes (each term only for {range}), the image of M = v v^T, general forms leave no less than monomials.")


def claims() -> Iterator[Claim]:
    """The claims of this module; that the bound is attained at (4, 3) is a claim of `exact`."""
    yield _loss_claim()
    yield _word_claim()


def columns_less_loss() -> sympy.Expr:
    """binom(D+e-1, e) - sum_i binom(q, i) binom(2e-i+d-L-1, d-L-1), e = C - k and q = 2 floor(L/2): right for d > L and 2 k < C."""
    from sympy import binomial

    from ..glossary import symbol

    d = symbol("width")
    e = (3 ** symbol("depth") - 1) / 2 - symbol("order")
    return binomial(d * (d + 1) / 2 + e - 1, e) - _stated_loss()


def loss_of_columns() -> sympy.Expr:
    """`loss` for d > L, as an expression: 0 for 2 k >= C."""
    from sympy import Piecewise

    from ..glossary import symbol

    return Piecewise((_stated_loss(), 4 * symbol("order") < 3 ** symbol("depth") - 1), (0, True))


def _stated_loss() -> sympy.Expr:
    from sympy import floor

    from ..glossary import symbol

    d, L, k = symbol("width"), symbol("depth"), symbol("order")
    return _codimension(2 * floor(L / 2), 3**L - 1 - 2 * k, d - L)


def word_bound() -> sympy.Expr:
    """The same for words: binom(D+e-1, e) - sum_i binom(q, i) binom(2e-i+d-q-2, d-q-2), e = C - k."""
    from sympy import binomial

    from ..glossary import symbol

    d, C, q, k = (symbol(name) for name in ("width", "word_letters", "shared_separators", "order"))
    return binomial(d * (d + 1) / 2 + C - k - 1, C - k) - _codimension(q, 2 * (C - k), d - q - 1)


def _codimension(squares: Any, degree: Any, free: Any) -> sympy.Expr:
    from sympy import Sum, binomial

    from ..glossary import symbol

    i = symbol("index")
    return Sum(binomial(squares, i) * binomial(degree - i + free - 1, free - 1), (i, 0, squares))


def _loss_claim() -> Claim:
    from sympy import Le

    from ..glossary import symbol
    from .count_loss_proof import count_loss_proof

    return Claim(
        key="separation_rank/count_loss", title="one head: fewer derivatives than forms of their degree",
        text="For one head, d_x > L, 2 k < C and all weights, rank Cat_k <= binom(D+e-1, e) - [t^(2e)] (1+t)^q/(1-t)^(d_x-L) with e = C - k, "
              "and q = L for even L, q = L - 1 for odd L.",
        statement=Le(symbol("catalecticant"), columns_less_loss()), source=_SOURCE, wording="derived", kind="upper", holds_for="all",
        measured=measured_loss, proof=count_loss_proof,
        rests_on=_RESTS.format(checked="the recursion of the word, the place of c_L, the pairs of letters", range="L <= 3"),
        assumes={"H = 1": lambda c: c.heads == 1, "d_x > L": lambda c: c.width > c.depth, "2 k < C": lambda c: 2 * c.order < moments_degree(c.depth)},
        grid={"quick": (*Case.grid(width=(2, 3, 4, 5), depth=1, heads=1, order=0), *Case.grid(width=(3, 4, 5), depth=2, heads=1, order=(0, 1))),
              "theory": (Case(width=6, depth=2, heads=1, order=1), *Case.grid(width=4, depth=3, heads=1, order=(1, 2, 3)))},
        control=Control(Case(width=2, depth=1, heads=1, order=1), "derivatives of order k >= C/2: constants, of which none is lost"),
        note="At (4, 3), k = 6 it says 11436 = 11440 - 4, which is attained (exact_below_count). It is below both sides of the matrix, so that one "
             "head does not attain S, in the cases listed on the page. At (4, 3), k = 6 every finite check is complete.")


def _word_claim() -> Claim:
    from sympy import Le

    from ..glossary import symbol
    from .count_loss_proof import word_loss_proof

    def cases(*shapes: tuple[int, int, int]) -> tuple[Case, ...]:
        return tuple(Case(width=d, word_letters=C, shared_separators=q, order=(C - 1) // 2) for d, C, q in shapes)

    return Claim(
        key="separation_rank/word_loss", title="words with few separators at even places have fewer derivatives",
        text="For a row a^T M s_1 M ... s_{C-1} M whose separators at even places are among q matrices and their transposes, d_x >= q + 2, 2 q < C, "
              "2 k < C, the derivatives of order k span at most binom(D+e-1, e) - [t^(2e)] (1+t)^q/(1-t)^(d_x-q-1) dimensions, e = C - k.",
        statement=Le(symbol("catalecticant"), word_bound()), source=_SOURCE, wording="derived", kind="upper", holds_for="all",
        measured=measured_word, proof=word_loss_proof,
        rests_on=_RESTS.format(checked="the pairs of letters", range="one matrix and C <= 11"),
        assumes={"d_x >= q + 2": lambda c: c.width >= c.shared_separators + 2, "2 q < C": lambda c: 2 * c.shared_separators < c.word_letters,
                 "2 k < C": lambda c: 2 * c.order < c.word_letters},
        grid={"quick": cases((3, 5, 1), (3, 7, 1), (4, 5, 1), (4, 5, 2)), "theory": cases((3, 9, 1), (4, 7, 1), (4, 7, 2), (5, 7, 2), (5, 7, 3))},
        control=Control(Case(width=3, word_letters=5, shared_separators=1, order=2), "two matrices in place of one: 56, not 54",
                       measured=measured_free_word),
        note="The small model of what happens at (4, 3). Attained in every case here but d_x = 4 with one matrix, where the rank is smaller by "
             "two more: the bound is not the rank of every word. 2 q < C says that there are no more matrices than even places.")
