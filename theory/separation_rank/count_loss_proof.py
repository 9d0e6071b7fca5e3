"""The machine-checked steps of the bound on the derivatives of one head: docs/separation-rank.md tells how they make a proof.

Words are tuples of names; a name that ends in ' is a transpose. M and the W_l are symmetric.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ..proof_steps import equal, nonnegative, vanish
from ..values import Step
from .count_loss import columns_less_loss, ideal_codimension, kept_letters, separators, word_bound

__all__ = ["count_loss_proof", "word_loss_proof"]

Word = tuple[str, ...]

# Up to this depth words are gone through letter by letter, beside the argument for all depths; up to the other one, subset by subset.
_DEEPEST, _SUBSETS = 6, 3


def count_loss_proof(statement: Any) -> Iterator[Step]:
    """For all d > L and 2 k < C."""
    import sympy

    yield Step("the right side is binom(D+e-1, e) - sum_i binom(q, i) binom(2e-i+d-L-1, d-L-1) with e = C - k, q = 2 floor(L/2)",
               statement.rhs == columns_less_loss())
    yield from _recursion_steps()
    yield from _place_steps()
    yield from _pair_steps()
    yield Step(f"L <= {_SUBSETS}: at M = v v^T every term of a derivative of order k < C/2 has a factor a^T v or v^T c_l v as named",
               all(_always_a_factor(separators(L), *_forbidden(L)) for L in range(1, _SUBSETS + 1)))
    yield from _ideal_steps()
    yield from _monomial_steps()
    m, k = sympy.symbols("m k", integer=True, nonnegative=True)
    yield vanish("L = 2m: q = 2m, j = 0; L = 2m + 1: q = 2m, j = 1; so q + j = L, and 2e = 2 (C - k) = 3^L - 1 - 2k, for all L",
                 2 * m - (2 * m + 0), 2 * m + 1 - (2 * m + 1), 2 * ((3**m - 1) / 2 - k) - (3**m - 1 - 2 * k))
    yield Step("the sum of the statement is this number with the forms that give a factor, q quadrics and j = 1 for odd L, 0 for even L, n = 2e: "
               "L <= 4, d <= 7, 2 k < C", all(_stated(d, L, k) == ideal_codimension(d, len(middle), int(first), 3**L - 1 - 2 * k)
                              for L in range(1, 5) for middle, first in [_forbidden(L)] for d in range(L + 1, 8) for k in range((3**L + 1) // 4)))


def word_loss_proof(statement: Any) -> Iterator[Step]:
    """For words with q matrices at the even places, d >= q + 2, 2 q < C and 2 k < C."""
    yield Step("the right side is binom(D+e-1, e) - sum_i binom(q, i) binom(2e-i+d-q-2, d-q-2) with e = C - k", statement.rhs == word_bound())
    yield from _pair_steps()
    # q = 1; with more of them a term has the same factor with another name.
    yield Step("C <= 11: at M = v v^T every term of a derivative of order k < C/2 has a factor a^T v or v^T s v, s at an even place",
               all(_always_a_factor(tuple(1 + place % 2 for place in range(C - 1)), {2}, True) for C in range(1, 12)))
    yield from _ideal_steps()
    yield from _monomial_steps()
    yield Step("the sum of the statement is this number with j = 1, n = 2e: d <= 6, q + 2 <= d, 2 q < C <= 11, 2 k < C", all(
        _stated_of_words(d, C, q, k) == ideal_codimension(d, q, 1, 2 * (C - k))
        for d in range(3, 7) for q in range(1, d - 1) for C in range(2 * q + 1, 12) for k in range((C + 1) // 2)))


# --- the word of one head ---------------------------------------------------------------------------------------------------------


def transposed(word: Word) -> Word:
    """The letters in reverse, each transposed; W is symmetric.

    >>> transposed(("A", "W", "B'"))
    ('B', 'W', "A'")
    """
    return tuple(name if name == "W" else name[:-1] if name.endswith("'") else name + "'" for name in reversed(word))


def _recursion_steps() -> Iterator[Step]:
    """By induction over l: M_l = P_l W_l P_l^T and T_l ... T_1 = P_{l+1} V_l B_1, with V_{l+1} = W_{l+1} c_{l+1} V_l."""
    P, W, A, B, V = (("P",), ("W",), ("A",), ("B",), ("V",))
    moments = P + W + transposed(P)
    layer = A + moments + B
    c = transposed(P) + B + P
    ahead = A + P
    yield Step("M_1 = M and T_1 = A_1 M B_1: W_1 = V_1 = M, P_1 = 1, P_2 = A_1", transposed(W) == W)
    yield Step("T_l = A_l M_l B_l, M_{l+1} = T_l M_l T_l^T, M_l = P W P^T: M_{l+1} = P_{l+1} (W c W c^T W) P_{l+1}^T, P_{l+1} = A_l P, c = P^T B_l P",
               layer + moments + transposed(layer) == ahead + W + c + W + transposed(c) + W + transposed(ahead))
    yield Step("W c W c^T W is symmetric if W is", transposed(W + c + W + transposed(c) + W) == W + c + W + transposed(c) + W)
    yield Step("T_l (P_l V_{l-1} B_1) = P_{l+1} (W_l c_l V_{l-1}) B_1", layer + P + V == ahead + W + c + V)


def _place_steps() -> Iterator[Step]:
    """c_L occurs once and at an odd place; C has the parity of L."""
    import sympy

    m = sympy.Symbol("m", integer=True, nonnegative=True)
    yield vanish("|W_1| = 1, and |W_{l+1}| = 3 |W_l| is odd if |W_l| is: so is the place |W_L| = 3^(L-1) of c_L, which neither W_L nor V_{L-1} holds",
                 3 * (2 * m + 1) - (2 * (3 * m + 1) + 1))
    yield vanish("C(L+1) = 3 C(L) + 1 is even if C(L) is odd, and odd if it is even; C(1) = 1",
                 3 * (2 * m + 1) + 1 - 2 * (3 * m + 2), 3 * (2 * m) + 1 - (2 * (3 * m) + 1))
    words = {L: separators(L) for L in range(1, _DEEPEST + 1)}
    yield Step(f"and so for L <= {_DEEPEST}, letter by letter", all(
        len(word) + 1 == (3**L - 1) // 2 and (L == 1 or [place for place, s in enumerate(word, 1) if abs(s) == L] == [3 ** (L - 1)])
        and {abs(s) for s in word} == (set(range(1, L + 1)) if L > 1 else set()) for L, word in words.items()))
    yield Step(f"L <= {_DEEPEST}: letters kept without a factor are at most floor(C/2)", all(
        kept_letters(word, *_forbidden(L)) == (len(word) + 1) // 2 for L, word in words.items()))


def _forbidden(depth: int) -> tuple[set[int], bool]:
    """Which separators give a factor, and whether a^T does: c_1 to c_{L-1} and a^T for odd L, c_1 to c_L for even L."""
    return set(range(1, depth + 1 - depth % 2)), depth % 2 == 1


def _pair_steps() -> Iterator[Step]:
    """Pigeonholes: C - k > C/2 kept letters, and no more than C/2 of them without a factor."""
    import sympy

    m, rest = (sympy.Symbol(name, integer=True, nonnegative=True) for name in ("m", "rest"))
    yield vanish("C = 2m + 1: the first letter and the pairs (2, 3), ..., (2m, 2m+1) are all letters; without a factor one of each pair is kept, m",
                 1 + 2 * m - (2 * m + 1))
    yield vanish("C = 2m: the pairs (1, 2), ..., (2m-1, 2m); or the first letter, m - 1 pairs (2, 3), ... and the last letter: m again",
                 2 * m - m * 2, 1 + 2 * (m - 1) + 1 - 2 * m, (m - 1) + 1 - m)
    # k = m - rest for C = 2m + 1, and k = m - 1 - rest for C = 2m.
    yield nonnegative("2 k < C means C - k > m", (2 * m + 1) - (m - rest) - (m + 1), 2 * m - (m - 1 - rest) - (m + 1))


def _always_a_factor(word: tuple[int, ...], forbidden: set[int], first: bool) -> bool:
    """Whether every choice of more than half of the letters leaves a factor, with v v^T in place of kept letters and E of the others."""
    letters = len(word) + 1
    return all(_has_factor(_term(word, set(kept)), forbidden, first)
               for size in range(letters // 2 + 1, letters + 1) for kept in itertools.combinations(range(letters), size))


def _term(word: tuple[int, ...], kept: set[int]) -> list[str]:
    term = ["a'"]
    for place in range(len(word) + 1):
        term += ["v", "v'"] if place in kept else ["E"]
        if place < len(word):
            term.append(f"c{abs(word[place])}")
    return term


def _has_factor(term: list[str], forbidden: set[int], first: bool) -> bool:
    middle = {f"c{s}" for s in forbidden}
    return (first and term[1] == "v") or any(
        (a, c) == ("v'", "v") and b in middle for a, b, c in zip(term, term[1:], term[2:], strict=False))


# --- the ideal --------------------------------------------------------------------------------------------------------------------


def _ideal_steps() -> Iterator[Step]:
    """Forms of degree e in M become forms of degree 2e in v, all of them; the f_i f_j - f_j f_i = 0 are relations."""
    import sympy

    f, g = sympy.symbols("f g")
    yield Step("every monomial of degree 2e in v is a product of e entries of v v^T, letters paired in any order: d <= 4, e <= 3, and d = 4, e = 7",
               all(_paired(d, e) == set(itertools.combinations_with_replacement(range(d), 2 * e))
                   for d, e in [*itertools.product(range(1, 5), range(1, 4)), (4, 7)]))
    yield vanish("the product of f and g is one form, however it is written: e_i f_j - e_j f_i is a relation among the multiples of f_i and f_j",
                 f * g - g * f)


def _paired(variables: int, pairs: int) -> set[tuple[int, ...]]:
    """The products of so many entries of v v^T, as sorted letters."""
    entries = list(itertools.combinations_with_replacement(range(variables), 2))
    return {tuple(sorted(itertools.chain(*chosen))) for chosen in itertools.combinations_with_replacement(entries, pairs)}


def _monomial_steps() -> Iterator[Step]:
    """At x_1^2, ..., x_q^2, y_1, ... these relations are all: for each monomial t - 1 of t multiples. So general forms have no fewer."""
    import sympy

    yield Step("t = 1, ..., 8 multiples of monomials without a common variable that are one monomial: the relations e_i - e_j have rank t - 1",
               all(_difference_rank(t) == t - 1 for t in range(1, 9)))
    t = sympy.Symbol("t", integer=True, positive=True)
    i, j = sympy.symbols("i j")
    n, q, f = sympy.symbols("n q f", integer=True, positive=True)
    pascal = sympy.binomial(q + 1, n) - sympy.binomial(q, n) - sympy.binomial(q, n - 1)
    others = sympy.binomial(n + f, f) - sympy.binomial(n + f - 1, f) - sympy.binomial(n + f - 1, f - 1)
    yield equal("all sizes: a further x_i occurs once or not at all: Pascal's rule for binom(q, i)", pascal, sympy.Integer(0))
    yield equal("all sizes: a further variable divides or not, degree n - 1 with it and n without it: Pascal's rule for binom(n+f, f)",
                others, sympy.Integer(0))
    yield vanish("all t: e_1 - e_2, ..., e_1 - e_t are independent, and e_i - e_j = (e_1 - e_j) - (e_1 - e_i); t multiples less t - 1 relations: 1",
                 (i - j) - ((t - j) - (t - i)), t - (t - 1) - 1)
    yield Step("monomials of degree n that no x_i^2, i <= q, and no y divides: sum_i binom(q, i) binom(n-i+d-q-j-1, d-q-j-1); d <= 5, n <= 6, and "
               "4 for d = 4, q = 2, j = 1, n = 14",
               all(_avoiding(d, q, j, n) == ideal_codimension(d, q, j, n)
                   for d in range(1, 6) for q in range(d) for j in range(min(2, d - q)) for n in range(7)) and _avoiding(4, 2, 1, 14) == 4)


def _difference_rank(multiples: int) -> int:
    import sympy

    rows = [[int(place == i) - int(place == j) for place in range(multiples)] for i, j in itertools.combinations(range(multiples), 2)]
    return int(sympy.Matrix(rows).rank()) if rows else 0


def _avoiding(variables: int, squares: int, linear: int, degree: int) -> int:
    """By going through all monomials."""
    return sum(all(monomial.count(x) < 2 for x in range(squares)) and not any(monomial.count(squares + y) for y in range(linear))
               for monomial in itertools.combinations_with_replacement(range(variables), degree))


def _stated(width: int, depth: int, order: int) -> int:
    """What the statement takes off the columns."""
    import math

    from ..claim import Case, at

    columns = math.comb(width * (width + 1) // 2 + (3**depth - 1) // 2 - order - 1, (3**depth - 1) // 2 - order)
    return columns - int(at(columns_less_loss(), Case(width=width, depth=depth, order=order)))


def _stated_of_words(width: int, letters: int, squares: int, order: int) -> int:
    """What the statement about words takes off the columns."""
    import math

    from ..claim import Case, at

    columns = math.comb(width * (width + 1) // 2 + letters - order - 1, letters - order)
    return columns - int(at(word_bound(), Case(width=width, word_letters=letters, shared_separators=squares, order=order)))
