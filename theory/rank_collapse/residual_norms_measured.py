"""Evidence on norms, centres and layer normalisation: rational matrices, and the machine-checked arguments.

Everything here is exact: norms of rational matrices are rational, and only their product has a root.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Ball, Case, Exact, Step

if TYPE_CHECKING:
    import sympy
    from sympy.core.relational import Relational

Matrix = list[list[Fraction]]


def norms(matrix: Matrix) -> tuple[Fraction, Fraction]:
    """||A||_1 and ||A||_inf: the largest column sum and the largest row sum of |A|.

    >>> norms([[Fraction(1), Fraction(-2)], [Fraction(0), Fraction(3)]])
    (Fraction(5, 1), Fraction(3, 1))
    """
    columns = [sum((abs(v) for v in column), Fraction(0)) for column in zip(*matrix, strict=True)]
    return max(columns), max(sum((abs(v) for v in row), Fraction(0)) for row in matrix)


def squared_norm(matrix: Matrix) -> Fraction:
    """The square of the composite norm."""
    one, infinity = norms(matrix)
    return one * infinity


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product."""
    columns = list(zip(*right, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in left]


def random_matrix(case: Case, rows: int, columns: int, salt: int = 0) -> Matrix:
    """Integers from -9 to 9; `salt` gives a second, independent matrix of the same case."""
    return [[Fraction(int(v)) for v in row] for row in case.rng(salt).integers(-9, 10, (rows, columns))]


def root(square: Fraction) -> Exact | Ball:
    """The root of a rational number: exact where it is rational, a ball otherwise."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Exact(Fraction(top, bottom))
    from ..exact.enclosure import from_fraction

    return Ball.of(from_fraction(square).sqrt())


# --- norms and centres ---


def triangle_ratio(case: Case, seed: int) -> Exact:
    """(|A + A^T| / (|A| + |A^T|))^2 for the matrix whose first row is ones; |A| = |A^T|, so no root remains."""
    n = case.tokens
    A = [[Fraction(int(i == 0)) for _ in range(n)] for i in range(n)]
    both = [[A[i][j] + A[j][i] for j in range(n)] for i in range(n)]
    return Exact(squared_norm(both) / (4 * squared_norm(A)))


def product_ratio(case: Case, seed: int) -> Exact:
    """(|AB| / (|A| |B|))^2 for all-ones or random matrices."""
    n = case.tokens
    if case.instance == "ones":
        A = B = [[Fraction(1)] * n for _ in range(n)]
    else:
        A, B = random_matrix(case, n, n), random_matrix(case, n, n, 1)
    return Exact(squared_norm(product(A, B)) / (squared_norm(A) * squared_norm(B)))


def centre_ratio(case: Case, seed: int) -> Exact | Ball:
    """|X - 1 mean^T| / |X - 1 x^T|: the identity with x = 0, or random tokens with a random centre."""
    n = case.tokens
    if case.instance == "identity":
        X, centre = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)], [Fraction(0)] * n
    else:
        X, centre = random_matrix(case, n, case.width), random_matrix(case, 1, case.width, 1)[0]
    mean = [sum(column, Fraction(0)) / n for column in zip(*X, strict=True)]
    return root(squared_norm(_minus(X, mean)) / squared_norm(_minus(X, centre)))


def _minus(X: Matrix, centre: Sequence[Fraction]) -> Matrix:
    return [[v - c for v, c in zip(row, centre, strict=True)] for row in X]


def logits(case: Case) -> Matrix:
    """A logit matrix: the identity, random integers, one row of both signs, or the matrix that attains the largest gamma."""
    n = case.tokens
    if case.instance == "random":
        return random_matrix(case, n, n)
    E = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    if case.instance != "identity":
        E[0] = [Fraction(1), Fraction(-1), *[Fraction(0)] * (n - 2)]
        E[1:] = [row if i > 1 and case.instance == "extremal" else [Fraction(0)] * n for i, row in enumerate(E[1:], start=1)]
    return E


def ranges(E: Matrix) -> tuple[Fraction, Fraction]:
    """||D1||_1 and ||D1||_inf, D_ii = max_j E_ij - min_j E_ij: the sum and the largest of the row ranges."""
    D = [max(row) - min(row) for row in E]
    return sum(D, Fraction(0)), max(D)


def gamma_square(case: Case, seed: int) -> Exact:
    """gamma^2 of the case's logit matrix."""
    E = logits(case)
    total, largest = ranges(E)
    return Exact(total * largest / (4 * norms(E)[0] ** 2))


def range_sum_ratio(case: Case, seed: int) -> Exact:
    """||D1||_1 / ||E||_1 of the case's logit matrix."""
    E = logits(case)
    return Exact(ranges(E)[0] / norms(E)[0])


def range_ratio(case: Case, seed: int) -> Exact:
    """||D1||_inf / (||W||_1 ||R||_1 ||R||_inf) for E = R W R^T: R the identity and W of both signs, or both random."""
    n = case.tokens
    if case.instance == "random":
        R, W = random_matrix(case, n, case.width), random_matrix(case, case.width, case.width, 1)
    else:
        R, W = logits(Case(instance="identity", tokens=n)), logits(case)
    E = product(product(R, W), [list(column) for column in zip(*R, strict=True)])
    return Exact(ranges(E)[1] / (norms(W)[0] * squared_norm(R)))


# --- layer normalisation ---


def token_set(case: Case) -> Matrix:
    """Tokens of width 4 with rational standard deviations, and with zero feature mean except for `shifted`: e + 1 and 2e + 3, e of mean 0."""
    e, f, g = ([Fraction(v) for v in row] for row in ((1, 1, -1, -1), (1, -1, 1, -1), (1, -1, -1, 1)))

    def add(a: Fraction, b: Fraction) -> list[Fraction]:
        return [a * x + b * y for x, y in zip(e, f, strict=True)]

    if case.instance == "multiples":
        return [add(Fraction(c), Fraction(0)) for c in (1, 2)]
    if case.instance == "shifted":
        return [[v + 1 for v in e], [2 * v + 3 for v in e]]
    if case.instance == "collinear":
        return [add(Fraction(1), t) for t in (Fraction(0), Fraction(3, 4), Fraction(4, 3))]
    return [e, [2 * v for v in f], [3 * v for v in g]]


def layer_norm(tokens: Matrix) -> Matrix:
    """(x - mean) / standard deviation of each row, without gain and bias; refused where a deviation is irrational or zero.

    >>> layer_norm([[Fraction(1), Fraction(3)]])
    [[Fraction(-1, 1), Fraction(1, 1)]]
    """
    rows = []
    for row in tokens:
        mean = sum(row, Fraction(0)) / len(row)
        deviation = root(sum(((v - mean) ** 2 for v in row), Fraction(0)) / len(row))
        if not isinstance(deviation, Exact) or deviation.value == 0:
            raise ValueError(f"the standard deviation of {row} must be rational and positive; choose other tokens")
        rows.append([(v - mean) / deviation.value for v in row])
    return rows


def rank(matrix: Matrix) -> int:
    """Rank over the rationals."""
    from flint import fmpq, fmpq_mat

    return int(fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in matrix]).rank())


def affine_rank_after(case: Case, seed: int) -> Exact:
    """Dimension of the affine hull after layer normalisation; refused when the case names a wrong one before."""
    tokens = token_set(case)
    if rank(_minus(tokens, tokens[0])) != case.affine_rank:
        raise ValueError(f"the tokens of [{case}] have affine rank {rank(_minus(tokens, tokens[0]))}")
    after = layer_norm(tokens)
    return Exact(rank(_minus(after, after[0])))


def centred_rank_after(case: Case, seed: int) -> Exact:
    """Rank after layer normalisation; refused when the case names a wrong rank of the centred tokens before."""
    tokens = token_set(case)
    centred = [[v - sum(row, Fraction(0)) / len(row) for v in row] for row in tokens]
    if rank(centred) != case.centred_rank:
        raise ValueError(f"the centred tokens of [{case}] have rank {rank(centred)}")
    return Exact(rank(layer_norm(tokens)))


# --- arguments ---


def at_least(larger: sympy.Expr, smaller: sympy.Expr) -> bool:
    """Whether algebra shows that one expression is at least another, for all values that their symbols may take.

    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> at_least(x + 1, x), at_least(x, x + 1)
    (True, False)
    """
    import sympy

    return bool(sympy.simplify(larger - smaller).is_nonnegative)


def sum_step(says: str, sign: int = 1) -> Step:
    """For weights w_k >= 0 and numbers a_k <= m, sum_k w_k a_k <= m sum_k w_k, by induction on the number of terms.

    Args:
        says: what the sum is in the argument.
        sign: 1 for numbers that are at most m, -1 for numbers that are at least m.
    """
    import sympy

    m = sympy.Symbol("m", real=True)
    gap, weights, w, s = sympy.symbols("gap weights w s", nonnegative=True)
    # Without terms both sides are 0; `gap` is what lies between them after some terms, and the next number is m - s or m + s.
    before = m * weights - sign * gap
    after = before + w * (m - sign * s)
    return Step(f"{says}: by induction on the number of terms, each of which adds w s >= 0 to the gap",
                sympy.expand(sign * (m * (weights + w) - after) - (gap + w * s)) == 0)


def product_steps() -> Iterator[Step]:
    """|AB| <= |A| |B| for the largest column sum, the largest row sum (by transposition), and so for the root of their product."""
    import sympy

    x, y = sympy.symbols("x y", nonnegative=True)
    signs = [(sx * x + sy * y) ** 2 for sx in (1, -1) for sy in (1, -1)]
    yield Step("|x + y| <= |x| + |y|: for every choice of signs the squares differ by 0 or 4 |x| |y|",
               all(sympy.expand((x + y) ** 2 - square).is_nonnegative for square in signs))
    yield sum_step("sum_k a_k b_k <= m sum_k b_k when every column sum a_k of |A| is at most m")


def prove_triangle(statement: Relational) -> Iterator[Step]:
    """A has the entries delta_i1, so A + A^T has delta_i1 + delta_j1 and is symmetric; all sums are taken for a symbolic N."""
    import sympy

    from ..glossary import symbol

    N, j = symbol("tokens"), sympy.Symbol("j", integer=True)
    one = sympy.KroneckerDelta(j, 1)

    def total(entry: sympy.Expr) -> sympy.Expr:
        return sympy.summation(entry, (j, 1, N))

    first, others = total(1 + one), total(one)
    yield Step("row 1 of A + A^T has the sum N + 1, and every other row the sum 1, which is not above that",
               at_least(first, others) and sympy.expand(first - (N + 1)) == 0)
    squared = total(sympy.Integer(1)) * total(one)
    yield Step("A has one row of sum N, others of sum 0, and columns of sum 1, so |A|^2 = |A^T|^2 = N", sympy.expand(squared - N) == 0)
    yield Step("so the squared ratio is (N + 1)^2 / (2 |A|)^2, as stated", sympy.simplify(first**2 / (4 * squared) - statement.rhs) == 0)


def prove_identity_gamma(statement: Relational) -> Iterator[Step]:
    """Every row of c I_N has the range c, and every column sum is c; both sums are taken for a symbolic N."""
    import sympy

    from ..glossary import symbol

    N, c, i = symbol("tokens"), sympy.Symbol("c", positive=True), sympy.Symbol("i", integer=True)
    column = sympy.summation(c * sympy.KroneckerDelta(i, 1), (i, 1, N))
    yield Step("every column of |E| has the sum c, so |E|_1 = c", column == c)
    ranges = sympy.summation(c, (i, 1, N))
    yield Step("a row of c and N - 1 >= 1 zeros has the range c, so gamma^2 = |D1|_1 |D1|_inf / (4 |E|_1^2) is the stated value",
               sympy.simplify(ranges * c / (4 * column**2) - statement.rhs) == 0)


def prove_product(statement: Relational) -> Iterator[Step]:
    """The composite norm is sub-multiplicative, for matrices of every shape."""
    import sympy

    yield from product_steps()
    yield Step("so the ratio is at most 1, and the stated bound is not below that", at_least(statement.rhs, sympy.Integer(1)))


def prove_centre(statement: Relational) -> Iterator[Step]:
    """X - 1 mean^T = (I - J/N)(X - 1 x^T) for every x; then the norm of I - J/N and sub-multiplicativity."""
    import sympy

    from ..glossary import symbol

    N = symbol("tokens")
    row = [1 - 1 / N, -(N - 1) / N]
    yield Step("I - J/N takes 1 to 0, so the centre x drops out", sympy.simplify(sum(row)) == 0)
    yield from product_steps()
    absolute = (1 - 1 / N) + (N - 1) / N
    yield Step("every row and column of |I - J/N| has the sum 2 (1 - 1/N), which the stated factor is not below",
               at_least(statement.rhs, absolute))
    yield Step("for X = I and x = 0 that sum is the ratio itself, since |I| = 1", sympy.simplify(absolute - 2 * (1 - 1 / N)) == 0)


def range_steps() -> Iterator[Step]:
    """D_ii <= |max| + |min| of a row: at most its absolute sum, and at most twice its largest entry."""
    import sympy

    p, q = sympy.symbols("p q", nonnegative=True)
    differences = [sp * p - sq * q for sp in (1, -1) for sq in (1, -1)]
    yield Step("max - min <= |max| + |min| for all signs, hence D_ii is at most the row sum of |E| and at most 2 max_j |E_ij|",
               all(sympy.expand(p + q - d).is_nonnegative for d in differences))


def prove_gamma(statement: Relational) -> Iterator[Step]:
    """||D1||_1 <= sum_ij |E_ij| <= N ||E||_1 and ||D1||_inf <= 2 ||E||_1."""
    import sympy

    from ..glossary import symbol

    e, N = sympy.Symbol("e", positive=True), symbol("tokens")
    yield from range_steps()
    yield Step("so gamma^2 <= (N e)(2 e) / (4 e^2) with e = |E|_1, which the stated bound is not below",
               at_least(statement.rhs, N * e * 2 * e / (4 * e**2)))
    yield Step("rows (1, -1, 0, ..), 0, e_3, .., e_N have column sums 1 and ranges 2, 0, 1, .., 1, so gamma^2 = (2 + (N - 2)) 2 / 4 = N/2",
               sympy.expand((2 + (N - 2)) * 2 / sympy.Integer(4) - N / 2) == 0)


def prove_range(statement: Relational) -> Iterator[Step]:
    """D_ii <= 2 max |E_ij| <= 2 ||E||_1 <= 2 ||R||_1 ||W||_1 ||R^T||_1 and ||R^T||_1 = ||R||_inf."""
    import sympy

    yield from range_steps()
    yield from product_steps()
    yield Step("so the ratio is at most 2, and the stated bound is not below that", at_least(statement.rhs, sympy.Integer(2)))
