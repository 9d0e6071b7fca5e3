"""Evidence on how much attention can stretch or shrink differences: exact distances to equal tokens, and Jacobians in ball arithmetic."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Ball, Case, Exact, Step
from .residual_norms_measured import Matrix, at_least, product, random_matrix

if TYPE_CHECKING:
    from flint import arb, arb_mat
    from sympy.core.relational import Relational

# --- distance to equal tokens ---


def squared_distance(H: Matrix) -> Fraction:
    """d_M(H)^2: the squared Frobenius norm of H minus its token mean.

    >>> squared_distance([[Fraction(1)], [Fraction(-1)]])
    Fraction(2, 1)
    """
    n = len(H)
    return sum((sum((v * v for v in column), Fraction(0)) - sum(column) ** 2 / n for column in zip(*H, strict=True)), Fraction(0))


def attention_contraction(case: Case, seed: int) -> Exact | Ball:
    """d_M(AH)^2 / (lambda_max d_M(H)^2), lambda_max the top eigenvalue of A^T (I - J/n) A.

    `pair` has two tokens and a symmetric A, whose eigenvalue is (2p - 1)^2 exactly; `random` encloses it by arb.
    """
    n = case.tokens
    if case.instance == "pair":
        p = case.rational("weight")
        A, H, largest = [[p, 1 - p], [1 - p, p]], [[Fraction(1)], [Fraction(-1)]], (2 * p - 1) ** 2
        return Exact(squared_distance(product(A, H)) / (largest * squared_distance(H)))
    raw = [[abs(v) + 1 for v in row] for row in random_matrix(case, n, n)]
    A, H = [[v / sum(row) for v in row] for row in raw], random_matrix(case, n, case.width, 1)
    ratio = squared_distance(product(A, H)) / squared_distance(H)
    centred = [[v - sum(column) / n for v, column in zip(row, zip(*A, strict=True), strict=True)] for row in A]
    from .measured import arb_of

    return Ball.of(arb_of(ratio) / _top_eigenvalue(product([list(column) for column in zip(*A, strict=True)], centred)))


def _top_eigenvalue(symmetric: Matrix) -> arb:
    """The largest eigenvalue of a symmetric matrix, enclosed."""
    import flint
    from flint import acb_mat

    from .measured import arb_of
    from .softmax_attention import largest

    with flint.ctx.workprec(256):
        return largest([value.real for value in acb_mat([[arb_of(v) for v in row] for row in symmetric]).eig()])


def relu_contraction(case: Case, seed: int) -> Exact:
    """d_M(ReLU H)^2 / d_M(H)^2, for tokens without negative entries or random ones."""
    H = random_matrix(case, case.tokens, case.width)
    if case.instance == "nonnegative":
        H = [[abs(v) for v in row] for row in H]
    return Exact(squared_distance([[max(v, Fraction(0)) for v in row] for row in H]) / squared_distance(H))


def value_contraction(case: Case, seed: int) -> Exact | Ball:
    """d_M(HW)^2 / (s^2 d_M(H)^2), s the largest singular value of W.

    `aligned` has a diagonal W, whose s is its largest entry, and tokens that are multiples of the unit vector of that entry; `random` a
    random W, whose s is enclosed.
    """
    from .measured import arb_of

    if case.instance == "aligned":
        diagonal = [Fraction(1 + i) for i in range(case.width)]
        W = [[v if i == j else Fraction(0) for j in range(case.width)] for i, v in enumerate(diagonal)]
        H = [[*[Fraction(0)] * (case.width - 1), Fraction(i * i)] for i in range(case.tokens)]
        return Exact(squared_distance(product(H, W)) / (max(diagonal) ** 2 * squared_distance(H)))
    H, W = random_matrix(case, case.tokens, case.width), random_matrix(case, case.width, case.width, 1)
    gram = product([list(column) for column in zip(*W, strict=True)], W)
    return Ball.of(arb_of(squared_distance(product(H, W)) / squared_distance(H)) / _top_eigenvalue(gram))


# --- Jacobians ---


def dot_product_entry(case: Case, seed: int) -> Exact:
    """The derivative of f_1 = sum_j P_1j x_j in x_1 at x = (0, s, -s, ...), over Q: at x_1 = 0 all logits of row 1 vanish."""
    n, s = case.tokens, case.rational("key_size")
    if n % 2 == 0:
        raise ValueError(f"the tokens are 0 and pairs s, -s: their number must be odd, got {n}")
    x = [Fraction(0), *([s, -s] * (n // 2))]
    # Logits x_1 x_j have the derivative x_j, and 2 x_1 = 0 for j = 1; the uniform softmax 1/n moves by (dA - mean dA)/n.
    dA = [2 * x[0], *x[1:]]
    dP = [(v - sum(dA) / n) / n for v in dA]
    return Exact(sum((a * b for a, b in zip(dP, x, strict=True)), Fraction(0)) + Fraction(1, n))


def l2_jacobian(case: Case, seed: int) -> Ball:
    """The infinity norm or spectral norm of the Jacobian of one-head L2 attention with W_Q = W_K, divided by the norms of its weights.

    f_i = sum_j P_ij W_V^T A x_j with A = W_Q W_Q^T / sqrt(D) and logits -|W_Q^T (x_i - x_j)|^2 / sqrt(D). The derivatives are
    dL_ij/dx_i = -2 A (x_i - x_j) = -dL_ij/dx_j. Tokens lie `spread` apart, where the attention reacts most, or are random.
    """
    import flint

    # Spectral norms are bracketed to a few percent by `_spectral`, so more bits would not sharpen the ball.
    with flint.ctx.workprec(192):
        return Ball.of(_scaled_jacobian(case))


def _scaled_jacobian(case: Case) -> arb:
    from flint import arb, arb_mat

    from .measured import arb_of
    from .softmax_attention import softmax_rows

    n, d, rng = case.tokens, case.width, case.rng(0)

    def integers(rows: int) -> arb_mat:
        return arb_mat([[int(v) for v in row] for row in rng.integers(1, 5, (rows, d)) * rng.choice([-1, 1], (rows, d))])

    Wq, Wv = (arb_mat([[1]]), arb_mat([[1]])) if d == 1 else (integers(d), integers(d))
    size = arb_of(case.rational("spread"))
    X = arb_mat([[int(i == 0)] for i in range(n)]) * size if d == 1 else integers(n) * (size / 16)
    A = Wq * Wq.transpose() * arb(d).rsqrt()
    gaps = [[(arb_mat([X.tolist()[i]]) - arb_mat([X.tolist()[j]])).transpose() for j in range(n)] for i in range(n)]
    P = softmax_rows(arb_mat([[-(gaps[i][j].transpose() * A * gaps[i][j])[0, 0] for j in range(n)] for i in range(n)]))
    values, output = X * A * Wv, P * X * A * Wv
    J = [[arb(0)] * (n * d) for _ in range(n * d)]

    def add(i: int, k: int, block: arb_mat) -> None:
        for r in range(d):
            for c in range(d):
                J[i * d + r][k * d + c] += block[r, c]

    for i in range(n):
        for j in range(n):
            moved = (arb_mat([values.tolist()[j]]) - arb_mat([output.tolist()[i]])).transpose()
            pull = 2 * P[i, j] * moved * (A * gaps[i][j]).transpose()
            add(i, i, -1 * pull)
            add(i, j, pull + P[i, j] * (A * Wv).transpose())
    return _norm(case, J) / _weights(case, Wq, Wv)


def _norm(case: Case, J: list[list[arb]]) -> arb:
    from flint import arb_mat

    from .softmax_attention import ball_norms

    matrix = arb_mat(J)
    return ball_norms(matrix)[1] if case.norm == "infinity" else _spectral(matrix)


def _weights(case: Case, Wq: arb_mat, Wv: arb_mat) -> arb:
    from .softmax_attention import ball_norms

    if case.norm == "infinity":
        return ball_norms(Wq)[1] * ball_norms(Wq.transpose())[1] * ball_norms(Wv.transpose())[1]
    return _spectral(Wq) ** 2 * _spectral(Wv)


def _spectral(matrix: arb_mat) -> arb:
    """The largest singular value, from above and below: ||G^16||_F^(1/32) / N^(1/64) <= s <= ||G^16||_F^(1/32), G = M^T M."""
    from .measured import arb_of

    power = matrix.transpose() * matrix
    for _ in range(4):
        power = power * power
    frobenius = sum((v * v for row in power.tolist() for v in row), arb_of(0)).sqrt().log()
    upper = (frobenius / 32).exp()
    return upper.union(upper * (-arb_of(matrix.ncols()).log() / 64).exp())


# --- arguments ---


def prove_relu(statement: Relational) -> Iterator[Step]:
    """d_M^2 = sum over pairs of |h_i - h_j|^2 / n, and |max(a, 0) - max(b, 0)| <= |a - b|."""
    import sympy

    a, b = sympy.symbols("a b", nonnegative=True)
    # With n numbers of sum S and squares Q: sum over ordered pairs of (h_i - h_j)^2 is 2 n Q - 2 S^2.
    n, S, Q = sympy.symbols("n S Q", positive=True)
    yield Step("sum over unordered pairs of (h_i - h_j)^2 / n is Q - S^2/n, the squared distance",
               sympy.simplify((n * Q + n * Q - 2 * S * S) / 2 / n - (Q - S**2 / n)) == 0)
    cases = [((a, b), (a, b)), ((a, -b), (a, 0)), ((-a, -b), (0, 0))]
    yield Step("(max(x, 0) - max(y, 0))^2 <= (x - y)^2 for both positive, one positive and none positive",
               all(sympy.factor((p - q) ** 2 - (sympy.sympify(r) - s) ** 2).is_nonnegative for (p, q), (r, s) in cases))
    yield Step("the stated factor is at least 1", at_least(statement.rhs, sympy.Integer(1)))


def prove_dot_product(statement: Relational) -> Iterator[Step]:
    """d f_1/dx_1 = variance of the tokens + 1/n at x_1 = 0; with (n - 1)/2 pairs s, -s the variance is (n - 1) s^2 / n."""
    import sympy

    from ..glossary import symbol

    n, s = symbol("tokens"), symbol("key_size")
    x1 = sympy.Symbol("x1", real=True)
    pairs = (n - 1) / 2
    Z = sympy.exp(x1**2) + pairs * (sympy.exp(x1 * s) + sympy.exp(-x1 * s))
    f = (sympy.exp(x1**2) * x1 + pairs * s * (sympy.exp(x1 * s) - sympy.exp(-x1 * s))) / Z
    yield Step("differentiating the softmax average at x_1 = 0 gives the stated value, for every n and s",
               sympy.simplify(sympy.diff(f, x1).subs(x1, 0) - statement.rhs) == 0)
    half = sympy.Symbol("half", integer=True, positive=True)
    yield Step("which grows with s without bound for every odd n >= 3", sympy.limit(statement.rhs.subs(n, 2 * half + 1), s, sympy.oo) == sympy.oo)
