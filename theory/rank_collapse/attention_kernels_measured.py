"""Evidence on prescribed attention kernels: Cholesky factors over the rationals or in balls, and attention at its initial weights."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Case, Exact, Step
from .residual_norms_measured import Matrix, at_least, product, random_matrix, root

if TYPE_CHECKING:
    from flint import arb_mat
    from sympy.core.relational import Relational


def cholesky(matrix: Matrix) -> Matrix:
    """The lower triangular L with L L^T = matrix and positive diagonal, where its entries are rational.

    >>> cholesky([[Fraction(1), Fraction(3, 5)], [Fraction(3, 5), Fraction(1)]])[1]
    [Fraction(3, 5), Fraction(4, 5)]
    """
    n = len(matrix)
    L = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            left = matrix[i][j] - sum((L[i][k] * L[j][k] for k in range(j)), Fraction(0))
            if i == j:
                pivot = root(left)
                if not isinstance(pivot, Exact):
                    raise ValueError(f"the pivot {left} is not the square of a rational number")
                L[i][i] = Fraction(pivot.value)
            else:
                L[i][j] = left / L[j][j]
    return L


def kernel_errors(case: Case, seed: int) -> Exact:
    """Entries of A_1..A_L that are negative or above the diagonal, and of A_L ... A_1 A_1^T ... A_L^T - Sigma_L that are not zero.

    A_l = L_l L_{l-1}^{-1} from the Cholesky factors of Sigma_l = (a_l^|i-j|), a_l = e^{-g_l}, Sigma_0 = I. Rational where 1 - a_l^2 is
    the square of a rational number.
    """
    n = case.tokens
    factors = [cholesky([[a ** abs(i - j) for j in range(n)] for i in range(n)]) for a in [Fraction(0), *_levels(case)]]
    errors, total = 0, factors[0]
    for before, after in itertools.pairwise(factors):
        A = product(after, _inverse(before))
        errors += sum(v < 0 or (j > i and v != 0) for i, row in enumerate(A) for j, v in enumerate(row))
        total = product(A, total)
    last = _levels(case)[-1]
    reached = product(total, [list(column) for column in zip(*total, strict=True)])
    return Exact(errors + sum(reached[i][j] != last ** abs(i - j) for i in range(n) for j in range(n)))


def _levels(case: Case) -> list[Fraction]:
    return [Fraction(level) for level in str(case.levels).split()]


def _inverse(matrix: Matrix) -> Matrix:
    from flint import fmpq, fmpq_mat

    inverse = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in matrix]).inv()
    return [[Fraction(int(v.p), int(v.q)) for v in row] for row in inverse.tolist()]


def uniform_kernel_errors(case: Case, seed: int) -> Exact:
    """Entries of A_1..A_L for Sigma_l = (1 - rho_l) I + rho_l 11^T that are not positive on and below the diagonal, decided on balls."""
    import flint
    from flint import arb

    from .measured import arb_of

    n, errors = case.tokens, 0
    with flint.ctx.workprec(192):
        def factor(rho: Fraction) -> arb_mat:
            return _ball_cholesky([[arb(1) if i == j else arb_of(rho) for j in range(n)] for i in range(n)])

        before = factor(Fraction(0))
        for rho in _levels(case):
            after = factor(rho)
            A = after * before.inv()
            for i in range(n):
                for j in range(i + 1):
                    if not (A[i, j] > 0 or A[i, j] < 0):
                        raise ArithmeticError(f"entry {i + 1}, {j + 1} of [{case}] has no certain sign: {A[i, j]}")
                    errors += bool(A[i, j] < 0)
            before = after
    return Exact(errors)


def _ball_cholesky(matrix: list[list]) -> arb_mat:
    from flint import arb, arb_mat

    n = len(matrix)
    L = [[arb(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            left = matrix[i][j] - sum((L[i][k] * L[j][k] for k in range(j)), arb(0))
            L[i][j] = left.sqrt() if i == j else left / L[j][j]
    return arb_mat(L)


def identity_errors(case: Case, seed: int) -> Exact:
    """Entries of the attention matrix at initialisation that differ from the identity, over Q.

    `shaped`: alpha I + beta A(X) - gamma C with causal A at W_Q = 0 and C the uniform causal matrix, alpha = beta = 1 and gamma from the
    case. `value-skipinit`: alpha I + beta A(X) with alpha = 1, beta = 0 and any A.
    """
    n = case.tokens
    scores = random_matrix(case, n, n)
    if case.variant == "shaped":
        # W_Q = 0 makes the logits of a row equal whatever the keys are; the exponential of each is the same number.
        scores = [[Fraction(0)] * n for _ in range(n)]
    weights = [[2 ** (v + 9) if j <= i else Fraction(0) for j, v in enumerate(row)] for i, row in enumerate(scores)]
    A = [[w / sum(row) for w in row] for row in weights]
    beta, gamma = (Fraction(1), case.rational("gamma")) if case.variant == "shaped" else (Fraction(0), Fraction(0))
    C = [[Fraction(1, i + 1) if j <= i else Fraction(0) for j in range(n)] for i in range(n)]
    total = [[int(i == j) + beta * A[i][j] - gamma * C[i][j] for j in range(n)] for i in range(n)]
    return Exact(sum(total[i][j] != int(i == j) for i in range(n) for j in range(n)))


# --- arguments ---


def prove_decay_kernel(statement: Relational) -> Iterator[Step]:
    """Closed forms: L_i1 = a^(i-1), L_ij = s_a a^(i-j), s_a = sqrt(1 - a^2); the inverse is bidiagonal, so every A_ij is closed."""
    import sympy

    b, gap = sympy.symbols("b gap", nonnegative=True)
    sa, sb = sympy.symbols("s_a s_b", positive=True)
    a = b + gap
    k, x = sympy.Symbol("k", integer=True, positive=True), sympy.Symbol("x", positive=True)
    yield Step("sum_k L_ik L_jk = a^(i-j): 1 a^(2j-2) + s_a^2 (a^0 + ... + a^(2j-4)) = 1, by the geometric sum",
               sympy.simplify((1 - x**2) * ((1 - x ** (2 * k)) / (1 - x**2)) + x ** (2 * k) - 1) == 0)
    # A_ij = (L(a)_ij - b L(a)_{i,j+1}) / s_b for j >= 2, with x = a^(i-j-1).
    inner = sympy.factor((sa * a * x - b * sa * x) / sb)
    yield Step("off the first column and below the diagonal A_ij = s_a a^(i-j-1) (a - b) / s_b >= 0 for a >= b; on it s_a / s_b > 0",
               bool(inner.is_nonnegative) and bool((sa / sb).is_positive))
    first = sympy.expand(a**2 * (1 - b**2) - b**2 * (1 - a**2))
    yield Step("in the first column A_i1 = a^(i-2) (a - b s_a / s_b) >= 0, since a^2 s_b^2 - b^2 s_a^2 = a^2 - b^2 >= 0",
               at_least(first, sympy.Integer(0)))
    yield Step("and the product telescopes to L_L, so no entry is wrong, as stated", at_least(sympy.Integer(0), statement.rhs)
               and at_least(statement.rhs, sympy.Integer(0)))
