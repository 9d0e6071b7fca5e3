"""Where one head falls short of the dimension count: the derivatives of its forms share zeros.

The forms are words (see head_word) with L different separators. In every term of a derivative of
order k < C/2 two kept letters stand beside each other, at one of the places i = 2, 4, ... for odd L
and 1, 3, ... for even L, or, for odd L, the first letter is kept. At M = v v^T these terms have a
factor v^T c_l v or a^T v: they lie in the ideal of L forms, which in degree 2 (C - k) is not
everything when d > L. docs/separation-rank.md tells how the machine-checked steps make a proof.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from sympy import Expr, Integer, Matrix, Piecewise, Sum, Symbol, binomial, floor, symbols
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, at, claim
from ..claims.evaluation import summed
from ..claims.proof_steps import equal, nonnegative, vanish
from .dimension_count import moments_degree
from .graded_pieces import piece_shape
from .head_word import kept_letters, separators
from .piece_rank import rank_of_piece
from .rank_symbols import COLUMNS, L, Le, catalecticant_rank, d, index as i, k

# --- the loss -------------------------------------------------------------------------------------


def ideal_codimension(variables: int, squares: int, linear: int, degree: int) -> int:
    """How many monomials of a degree n avoid x_1^2, ..., x_q^2 and further variables y_1, ..., y_j.

    By the lemma of docs/separation-rank.md, q quadrics and j linear forms, whatever they are, leave
    at least so many forms of the degree outside the ideal they generate. A ValueError unless
    d >= q + j.

    >>> ideal_codimension(4, 2, 1, 14), ideal_codimension(3, 2, 1, 2)
    (4, 1)
    """
    free = variables - squares - linear
    if free < 0:
        raise ValueError(
            f"variables={variables}: {squares} squares and {linear} variables are "
            "more than there are; give fewer"
        )

    def others(rest: int) -> int:
        return math.comb(rest + free - 1, rest) if free else int(rest == 0)

    most = min(squares, degree)
    return sum(math.comb(squares, x) * others(degree - x) for x in range(most + 1))


def piece_bound(width: int, depth: int, order: int) -> int:
    """min(rows, columns - loss) of Cat_k for one head: no weights have a larger rank.

    The loss is positive for d > L and 2 k < C(L): then [t^(2 (C-k))] (1 + t)^q / (1 - t)^(d - L),
    with q = L for even L and L - 1 for odd L.

    >>> piece_bound(4, 3, 6), piece_bound(4, 3, 5)
    (11436, 8008)
    """
    rows, columns = piece_shape(width, depth, order)
    left = moments_degree(depth) - order
    if width > depth and order < left:
        columns -= ideal_codimension(width, depth - depth % 2, depth % 2, 2 * left)
    return min(rows, columns)


def _codimension(squares: Any, degree: Any, free: Any) -> Sum:
    """[t^degree] (1 + t)^squares / (1 - t)^free, as statements write it."""
    terms = binomial(squares, i) * binomial(degree - i + free - 1, free - 1)
    return Sum(terms, (i, 0, squares))


_FEWER = _codimension(2 * floor(L / 2), 3**L - 1 - 2 * k, d - L)
# What Cat_k loses for d > L.
LOSS = Piecewise((_FEWER, 4 * k < 3**L - 1), (0, True))
_BOUND = COLUMNS - _FEWER

# --- the claim ------------------------------------------------------------------------------------

_SOURCE = Source("depthlaw", "docs/separation-rank.md, Where one head falls short")


@claim(
    Le(catalecticant_rank, _BOUND),
    source=_SOURCE,
    assumes={
        "$H = 1$": lambda c: c.heads == 1,
        "$d_x > L$": lambda c: c.width > c.depth,
        "$2 k < C$": lambda c: 2 * c.order < moments_degree(c.depth),
    },
    cases={
        "quick": (
            *Case.grid(width=(2, 3, 4, 5), depth=1, heads=1, order=0),
            *Case.grid(width=(3, 4, 5), depth=2, heads=1, order=(0, 1)),
        ),
        "theory": (
            Case(width=6, depth=2, heads=1, order=1),
            *Case.grid(width=4, depth=3, heads=1, order=(1, 2, 3)),
        ),
    },
    control=Control(
        Case(width=2, depth=1, heads=1, order=1),
        r"derivatives of order $k \geq C/2$: constants, of which none is lost",
    ),
    supports="separation_rank/exact_below_count",
)
def count_loss(case: Case, seed: int) -> Exact:
    r"""One head's derivatives span less than the forms of their degree, for $d_x > L$.

    For one head, $d_x > L$, $2 k < C$ and all weights, rank $\mathrm{Cat}_k \leq \binom{D+e-1}{e}$
    - [$t^{2 e}$] $(1+t)^q/(1-t)^{d_x-L}$ with $e = C - k$, and $q = L$ for even $L$, $q = L - 1$
    for odd $L$.

    At (4, 3), $k = 6$ it says $11436 = 11440 - 4$, which is attained (exact_below_count). It is
    below both sides of the matrix, so that one head does not attain $S$, in the cases listed on the
    page. At (4, 3), $k = 6$ every finite check is complete.
    """
    # Whatever is known about how large it can be.
    return rank_of_piece(case, seed, most=min(piece_shape(case.width, case.depth, case.order)))


# Up to this depth words are gone through letter by letter, beside the argument for all depths; up
# to the other one, subset by subset.
_DEEPEST, _SUBSETS = 6, 3


@count_loss.argument(
    "Checked for all sizes: the recursion of the word, the place of $c_L$, the pairs of letters, "
    r"relations and number of monomials. Prose: $\operatorname{rank} \mathrm{Cat}_k$ is a "
    r"dimension of derivatives, the product rule, pigeonholes (each term only for $L \leq 3$), the "
    "image of $M = v v^T$, general forms leave no less than monomials."
)
def _(statement: Relational) -> Iterator[Step]:
    """For all d > L and 2 k < C."""
    yield Step(
        "the right side is binom(D+e-1, e) - sum_i binom(q, i) binom(2e-i+d-L-1, d-L-1) "
        "with e = C - k, q = 2 floor(L/2)",
        statement.rhs == _BOUND,
    )
    yield from _recursion_steps()
    yield from _place_steps()
    yield from _pair_steps()
    yield Step(
        f"L <= {_SUBSETS}: at M = v v^T every term of a derivative of order k < C/2 has a "
        "factor a^T v or v^T c_l v as named",
        all(
            _always_a_factor(separators(depth), *_forbidden(depth))
            for depth in range(1, _SUBSETS + 1)
        ),
    )
    yield from _ideal_steps()
    yield from _monomial_steps()
    m, n = symbols("m k", integer=True, nonnegative=True)
    yield vanish(
        "L = 2m: q = 2m, j = 0; L = 2m + 1: q = 2m, j = 1; so q + j = L, and 2e = "
        "2 (C - k) = 3^L - 1 - 2k, for all L",
        2 * m - (2 * m + 0),
        2 * m + 1 - (2 * m + 1),
        2 * ((3**m - 1) / 2 - n) - (3**m - 1 - 2 * n),
    )

    def agrees(width: int, depth: int, order: int) -> bool:
        middle, first = _forbidden(depth)
        case = Case(width=width, depth=depth, order=order)
        fewer = at(summed(COLUMNS - _BOUND, case), case)
        degree = 3**depth - 1 - 2 * order
        return bool(fewer == ideal_codimension(width, len(middle), int(first), degree))

    yield Step(
        "the sum of the statement is this number with the forms that give a factor, q "
        "quadrics and j = 1 for odd L, 0 for even L, n = 2e: L <= 4, d <= 7, 2 k < C",
        all(
            agrees(width, depth, order)
            for depth in range(1, 5)
            for width in range(depth + 1, 8)
            for order in range((3**depth + 1) // 4)
        ),
    )


# --- the word of one head -------------------------------------------------------------------------

# Words are tuples of names; a name that ends in ' is a transpose. M and the W_l are symmetric.
Factors = tuple[str, ...]


def transposed(word: Factors) -> Factors:
    """The letters in reverse, each transposed; W is symmetric.

    >>> transposed(("A", "W", "B'"))
    ('B', 'W', "A'")
    """

    def turned(name: str) -> str:
        return name if name == "W" else name[:-1] if name.endswith("'") else name + "'"

    return tuple(turned(name) for name in reversed(word))


def _recursion_steps() -> Iterator[Step]:
    """By induction: M_l = P_l W_l P_l^T, T_l ... T_1 = P_{l+1} V_l B_1, V_{l+1} = W c_{l+1} V_l."""
    P, W, A, B, V = (("P",), ("W",), ("A",), ("B",), ("V",))
    moments = P + W + transposed(P)
    layer = A + moments + B
    c = transposed(P) + B + P
    ahead, inner = A + P, W + c + W + transposed(c) + W
    yield Step("M_1 = M and T_1 = A_1 M B_1: W_1 = V_1 = M, P_1 = 1, P_2 = A_1", transposed(W) == W)
    yield Step(
        "T_l = A_l M_l B_l, M_{l+1} = T_l M_l T_l^T, M_l = P W P^T: M_{l+1} = P_{l+1} "
        "(W c W c^T W) P_{l+1}^T, P_{l+1} = A_l P, c = P^T B_l P",
        layer + moments + transposed(layer) == ahead + inner + transposed(ahead),
    )
    yield Step("W c W c^T W is symmetric if W is", transposed(inner) == inner)
    yield Step(
        "T_l (P_l V_{l-1} B_1) = P_{l+1} (W_l c_l V_{l-1}) B_1", layer + P + V == ahead + W + c + V
    )


def _place_steps() -> Iterator[Step]:
    """c_L occurs once and at an odd place; C has the parity of L."""
    m = Symbol("m", integer=True, nonnegative=True)
    yield vanish(
        "|W_1| = 1, and |W_{l+1}| = 3 |W_l| is odd if |W_l| is: so is the place |W_L| = "
        "3^(L-1) of c_L, which neither W_L nor V_{L-1} holds",
        3 * (2 * m + 1) - (2 * (3 * m + 1) + 1),
    )
    yield vanish(
        "C(L+1) = 3 C(L) + 1 is even if C(L) is odd, and odd if it is even; C(1) = 1",
        3 * (2 * m + 1) + 1 - 2 * (3 * m + 2),
        3 * (2 * m) + 1 - (2 * (3 * m) + 1),
    )
    words = {depth: separators(depth) for depth in range(1, _DEEPEST + 1)}

    def as_said(depth: int, word: tuple[int, ...]) -> bool:
        last = [place for place, s in enumerate(word, 1) if abs(s) == depth]
        used = set(range(1, depth + 1)) if depth > 1 else set()
        return (
            len(word) + 1 == (3**depth - 1) // 2
            and {abs(s) for s in word} == used
            and (depth == 1 or last == [3 ** (depth - 1)])
        )

    yield Step(
        f"and so for L <= {_DEEPEST}, letter by letter",
        all(as_said(*item) for item in words.items()),
    )
    yield Step(
        f"L <= {_DEEPEST}: letters kept without a factor are at most floor(C/2)",
        all(
            kept_letters(word, *_forbidden(depth)) == (len(word) + 1) // 2
            for depth, word in words.items()
        ),
    )


def _forbidden(depth: int) -> tuple[set[int], bool]:
    """Which separators give a factor, and whether a^T does: c_1 to c_{L-1} and a^T, or all c_l."""
    return set(range(1, depth + 1 - depth % 2)), depth % 2 == 1


def _pair_steps() -> Iterator[Step]:
    """Pigeonholes: C - k > C/2 kept letters, and no more than C/2 of them without a factor."""
    m, rest = symbols("m rest", integer=True, nonnegative=True)
    yield vanish(
        "C = 2m + 1: the first letter and the pairs (2, 3), ..., (2m, 2m+1) are all "
        "letters; without a factor one of each pair is kept, m",
        1 + 2 * m - (2 * m + 1),
    )
    yield vanish(
        "C = 2m: the pairs (1, 2), ..., (2m-1, 2m); or the first letter, m - 1 pairs "
        "(2, 3), ... and the last letter: m again",
        2 * m - m * 2,
        1 + 2 * (m - 1) + 1 - 2 * m,
        (m - 1) + 1 - m,
    )
    # k = m - rest for C = 2m + 1, and k = m - 1 - rest for C = 2m.
    yield nonnegative(
        "2 k < C means C - k > m",
        (2 * m + 1) - (m - rest) - (m + 1),
        2 * m - (m - 1 - rest) - (m + 1),
    )


def _always_a_factor(word: tuple[int, ...], forbidden: set[int], first: bool) -> bool:
    """Whether every choice of more than half of the letters leaves a factor a^T v or v^T c v."""
    count = len(word) + 1
    return all(
        (first and 0 in kept)
        or any(
            place in kept and place + 1 in kept and abs(separator) in forbidden
            for place, separator in enumerate(word)
        )
        for size in range(count // 2 + 1, count + 1)
        for kept in itertools.combinations(range(count), size)
    )


# --- the ideal ------------------------------------------------------------------------------------


def _ideal_steps() -> Iterator[Step]:
    """Forms of degree e in M become all of degree 2e in v; f_i f_j - f_j f_i = 0 are relations."""
    f, g = symbols("f g")
    sizes = [*itertools.product(range(1, 5), range(1, 4)), (4, 7)]
    yield Step(
        "every monomial of degree 2e in v is a product of e entries of v v^T, letters "
        "paired in any order: d <= 4, e <= 3, and d = 4, e = 7",
        all(
            _paired(n, e) == set(itertools.combinations_with_replacement(range(n), 2 * e))
            for n, e in sizes
        ),
    )
    yield vanish(
        "the product of f and g is one form, however it is written: e_i f_j - e_j f_i is "
        "a relation among the multiples of f_i and f_j",
        f * g - g * f,
    )


def _paired(variables: int, pairs: int) -> set[tuple[int, ...]]:
    """The products of so many entries of v v^T, as sorted letters."""
    entries = list(itertools.combinations_with_replacement(range(variables), 2))
    return {
        tuple(sorted(itertools.chain(*chosen)))
        for chosen in itertools.combinations_with_replacement(entries, pairs)
    }


def _monomial_steps() -> Iterator[Step]:
    """At x_1^2, ..., x_q^2, y_1, ... these relations are all: so general forms have no fewer."""
    yield Step(
        "t = 1, ..., 8 multiples of monomials without a common variable that are one "
        "monomial: the relations e_i - e_j have rank t - 1",
        all(_difference_rank(t) == t - 1 for t in range(1, 9)),
    )
    t = Symbol("t", integer=True, positive=True)
    i, j = symbols("i j")
    n, q, f = symbols("n q f", integer=True, positive=True)
    yield equal(
        "all sizes: a further x_i occurs once or not at all: Pascal's rule for binom(q, i)",
        _pascal(q + 1, n),
        Integer(0),
    )
    yield equal(
        "all sizes: a further variable divides or not, degree n - 1 with it and n without "
        "it: Pascal's rule for binom(n+f, f)",
        _pascal(n + f, f),
        Integer(0),
    )
    yield vanish(
        "all t: e_1 - e_2, ..., e_1 - e_t are independent, and e_i - e_j = (e_1 - e_j) - "
        "(e_1 - e_i); t multiples less t - 1 relations: 1",
        (i - j) - ((t - j) - (t - i)),
        t - (t - 1) - 1,
    )
    sizes = [
        (n, q, j, degree)
        for n in range(1, 6)
        for q in range(n)
        for j in range(min(2, n - q))
        for degree in range(7)
    ]
    yield Step(
        "monomials of degree n that no x_i^2, i <= q, and no y divides: sum_i binom(q, i) "
        "binom(n-i+d-q-j-1, d-q-j-1); d <= 5, n <= 6, and 4 for d = 4, q = 2, j = 1, n = 14",
        all(_avoiding(*size) == ideal_codimension(*size) for size in sizes)
        and _avoiding(4, 2, 1, 14) == 4,
    )


def _pascal(n: Expr, m: Expr) -> Expr:
    return binomial(n, m) - binomial(n - 1, m) - binomial(n - 1, m - 1)


def _difference_rank(multiples: int) -> int:
    pairs = itertools.combinations(range(multiples), 2)
    rows = [[int(place == i) - int(place == j) for place in range(multiples)] for i, j in pairs]
    return int(Matrix(rows).rank()) if rows else 0


def _avoiding(variables: int, squares: int, linear: int, degree: int) -> int:
    """By going through all monomials."""

    def avoids(monomial: tuple[int, ...]) -> bool:
        return all(monomial.count(x) < 2 for x in range(squares)) and not any(
            monomial.count(squares + y) for y in range(linear)
        )

    return sum(map(avoids, itertools.combinations_with_replacement(range(variables), degree)))
