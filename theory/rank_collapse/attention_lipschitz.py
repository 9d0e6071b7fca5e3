"""How far a layer moves tokens: Lipschitz constants of attention, distances to equal tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
import sympy
from flint import acb_mat, arb, arb_mat
from sympy import Expr, Integer, LambertW, Rational, Symbol, exp, simplify
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import at_least, vanish
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity, tokens as N, width
from ..exact.enclosure import from_fraction
from .rational_matrices import random_matrix, rational_array, row_stochastic
from .softmax_attention import ball_norms, largest, softmax_rows

ratio = quantity(
    "distance_ratio",
    r"\kappa",
    "squared $d_M$ after a map over squared $d_M$ before it and the stated factor",
    "nonnegative real",
)
entry = quantity(
    "jacobian_entry",
    r"\partial_1 f_1",
    "derivative of the first token after attention in the first token",
    "real",
)
norm = quantity(
    "jacobian_norm",
    r"\|J\|",
    "norm of the Jacobian of an attention layer at one input",
    "positive real",
)
s = quantity("key_size", "s", "size of the other tokens", "positive real")

# --- Jacobians ---


@claim(
    Eq(entry, ((N - 1) * s**2 + 1) / N),
    source=Source("kim2021", "dot-product attention is not Lipschitz", "arXiv:2006.04710"),
    cases={"quick": Case.grid(tokens=(3, 7), key_size=("1/2", "1", "1000"))},
    assumes={"$N$ is odd and at least 3": lambda c: c.tokens % 2 == 1 and c.tokens > 1},
    control=Control(Case(tokens=3, key_size="1000"), "bounded by the weights", Eq(entry, 1 / N)),
    cited="Decides whether dot-product attention has a Lipschitz constant on all inputs.",
    formal=Formal(
        "Softmax.dot_product_not_lipschitz",
        "Softmax.dot_product_value {tokens} {key_size.numerator} {key_size.denominator}",
        "Nothing: softmax over Coq's real numbers; the derivative at every odd number of tokens, "
        "no Lipschitz constant from three on.",
    ),
)
def dot_product_not_lipschitz(case: Case) -> Exact:
    """Dot-product attention has no Lipschitz constant.

    For attention of width one with unit weights at the tokens 0, $s$, $-s$, ..., $s$, $-s$ ($N
    \\geq 3$ odd), the derivative of the first output in the first token is $((N - 1) s^2 + 1)/N$,
    which grows without bound.

    The theorem (reported) says only that no constant exists, for any $p$-norm; a single entry
    suffices, since every operator norm bounds it. Counterexample: one token at 0 and growing key
    variance.
    """
    n, size = case.tokens, case.rational("key_size")
    if n % 2 == 0:
        raise ValueError(f"the tokens are 0 and pairs s, -s: their number must be odd, got {n}")
    x = rational_array([0, *([size, -size] * (n // 2))])
    # At x_1 = 0 all logits x_1 x_j vanish. Their derivatives are x_j, and 2 x_1 = 0 for j = 1, so
    # the uniform softmax 1/n moves by (x - mean x)/n.
    return Exact(((x - x.sum() / n) / n) @ x + Fraction(1, n))


@dot_product_not_lipschitz.argument(
    "Argument: the derivative is computed for every $n$ and $s$. Prose: the $(N - 1)/2$ pairs "
    "$s$, $-s$ enter the softmax average alike."
)
def _(statement: Relational) -> Iterator[Step]:
    """At x_1 = 0 it is 1/n and the variance of the tokens, (n - 1) s^2 / n for pairs s, -s."""
    x = Symbol("x1", real=True)
    up, down = exp(x * s), exp(-x * s)
    pairs = (N - 1) / 2
    average = (exp(x**2) * x + pairs * s * (up - down)) / (exp(x**2) + pairs * (up + down))
    yield Step(
        "differentiating the softmax average at x_1 = 0 gives the stated value, for every n and s",
        simplify(sympy.diff(average, x).subs(x, 0) - statement.rhs) == 0,
    )
    half = Symbol("half", integer=True, positive=True)
    yield Step(
        "which grows with s without bound for every odd n >= 3",
        sympy.limit(statement.rhs.subs(N, 2 * half + 1), s, sympy.oo) == sympy.oo,
    )


inverse = LambertW((N - 1) / sympy.E)
p = quantity(
    "norm_order_inverse", "1/p", "1/2 for the 2-norm, 0 for the infinity norm", "nonnegative real"
)
_ORDERS = ("0", "1/2")
_L2_BOUND = (N / width) ** p * (4 * inverse + width ** (p - Rational(1, 2)))


@claim(
    Le(norm, _L2_BOUND),
    source=Source("kim2021", "Lipschitz bounds of L2 attention", "arXiv:2006.04710"),
    wording="recalled",
    # Tokens that lie `spread` apart, where the attention reacts most, or random ones.
    cases={
        "quick": (
            *Case.grid(
                norm_order_inverse=_ORDERS, tokens=(2, 4), width=1, spread=("1/10", "5/4", "3")
            ),
            *Case.grid(norm_order_inverse=_ORDERS, tokens=3, width=2, spread=("1/10", "1/2")),
        ),
        "theory": Case.grid(norm_order_inverse=_ORDERS, tokens=5, width=3, spread=("1/8", "1")),
    },
    control=Control(
        Case(norm_order_inverse="0", tokens=2, width=1, spread="5/4"),
        "half of the bound",
        Le(norm, _L2_BOUND / 2),
    ),
    supports="rank_collapse/dot_product_not_lipschitz",
)
def l2_attention(case: Case) -> Ball:
    r"""L2 attention is Lipschitz in the infinity norm and in the 2-norm.

    For one head of L2 attention with $W_Q = W_K$ on $N$ tokens of width $D$, the infinity norm of
    the Jacobian at every input is at most $4 \phi^{-1}(N - 1) + 1/\sqrt{D}$, and its 2-norm at most
    $\sqrt{N/D} (4 \phi^{-1}(N - 1) + 1)$, times the norms of its weights, $\phi(x) = x e^{x+1}$.

    As recalled; check against the paper. The statement writes both bounds as one, with the power
    $1/p$. Measured with one head and $W_O = I$; $\phi^{-1}(y) = W_0(y/e)$ with Lambert's $W$ is
    ours. Weight norms are $\|W_Q\|_\infty \|W_Q^T\|_\infty \|W_V^T\|_\infty$, and
    $\|W_Q\|_2^2 \|W_V\|_2$. In the infinity norm the best case reaches 1/1.36 of the bound, so the
    constant 4 is not tested: with 3 every case would hold too.
    """
    with flint.ctx.workprec(192):
        J, Wq, Wv = _l2_jacobian(case)
        if case.norm_order_inverse == "0":
            weights = [ball_norms(matrix)[1] for matrix in (Wq, Wq.transpose(), Wv.transpose())]
            return Ball.of(ball_norms(J)[1] / (weights[0] * weights[1] * weights[2]))
        # Spectral norms are bracketed to a few percent, so more bits would not sharpen the ball.
        return Ball.of(_spectral(J) / (_spectral(Wq) ** 2 * _spectral(Wv)))


def _l2_jacobian(case: Case) -> tuple[arb_mat, arb_mat, arb_mat]:
    """The Jacobian of f_i = sum_j P_ij W_V^T A x_j, A = W_Q W_Q^T / sqrt(D), with W_Q and W_V.

    The logits are L_ij = -|W_Q^T (x_i - x_j)|^2 / sqrt(D), and dL_ij/dx_i = -2 A (x_i - x_j).
    """
    n, d, rng = case.tokens, case.width, case.rng(0)

    def integers(rows: int) -> arb_mat:
        return arb_mat((rng.integers(1, 5, (rows, d)) * rng.choice([-1, 1], (rows, d))).tolist())

    def row(matrix: arb_mat, i: int) -> arb_mat:
        return arb_mat([matrix.tolist()[i]])

    Wq, Wv = (arb_mat([[1]]), arb_mat([[1]])) if d == 1 else (integers(d), integers(d))
    size = from_fraction(case.rational("spread"))
    X = arb_mat([[int(i == 0)] for i in range(n)]) * size if d == 1 else integers(n) * (size / 16)
    A = Wq * Wq.transpose() * arb(d).rsqrt()
    gaps = [[(row(X, i) - row(X, j)).transpose() for j in range(n)] for i in range(n)]
    logits = [[-(gap.transpose() * A * gap)[0, 0] for gap in line] for line in gaps]
    P = softmax_rows(arb_mat(logits))
    values, output = X * A * Wv, P * X * A * Wv
    blocks = [[arb_mat(d, d) for _ in range(n)] for _ in range(n)]
    for i, j in itertools.product(range(n), repeat=2):
        moved = (row(values, j) - row(output, i)).transpose()
        pull = 2 * P[i, j] * moved * (A * gaps[i][j]).transpose()
        blocks[i][i] += -1 * pull
        blocks[i][j] += pull + P[i, j] * (A * Wv).transpose()
    lines = [[v for block in line for v in block.tolist()[r]] for line in blocks for r in range(d)]
    return arb_mat(lines), Wq, Wv


def _spectral(matrix: arb_mat) -> arb:
    """The largest singular value: s <= ||G^16||_F^(1/32) <= s N^(1/64), G = M^T M."""
    power = matrix.transpose() * matrix
    for _ in range(4):
        power = power * power
    frobenius = sum((v * v for line in power.tolist() for v in line), arb(0)).sqrt().log()
    upper = (frobenius / 32).exp()
    return upper.union(upper * (-arb(matrix.ncols()).log() / 64).exp())


# --- distance to equal tokens ---


def squared_distance(H: np.ndarray) -> Fraction:
    """d_M(H)^2: the squared Frobenius norm of an array of fractions minus its token mean.

    >>> squared_distance(rational_array([[1], [-1]]))
    Fraction(2, 1)
    """
    return Fraction(((H - H.sum(axis=0) / len(H)) ** 2).sum())


def top_eigenvalue(symmetric: np.ndarray) -> arb:
    """The largest eigenvalue of a symmetric array of fractions, enclosed."""
    with flint.ctx.workprec(256):
        balls = acb_mat([[from_fraction(v) for v in row] for row in symmetric])
        return largest([value.real for value in balls.eig()])


def _after_attention(case: Case) -> Exact | Ball:
    n = case.tokens
    if case.instance == "attained":
        # The eigenvalue of this symmetric A is (2p - 1)^2 exactly.
        p, H = case.rational("weight"), rational_array([[1], [-1]])
        moved = np.array([[p, 1 - p], [1 - p, p]]) @ H
        return Exact(squared_distance(moved) / ((2 * p - 1) ** 2 * squared_distance(H)))
    A = row_stochastic(np.abs(random_matrix(case, n, n)) + 1)
    H = random_matrix(case, n, case.width, 1)
    shrunk = from_fraction(squared_distance(A @ H) / squared_distance(H))
    return Ball.of(shrunk / top_eigenvalue(A.T @ (A - A.sum(axis=0) / n)))


def _after_relu(case: Case) -> Exact:
    H = random_matrix(case, case.tokens, case.width)
    H = np.abs(H) if case.instance == "attained" else H
    return Exact(squared_distance(H * (H > 0)) / squared_distance(H))


def _after_values(case: Case) -> Exact | Ball:
    n, d = case.tokens, case.width
    if case.instance == "attained":
        # The largest singular value of this W is its last entry d.
        W, H = np.diag(np.arange(1, d + 1)), rational_array(np.zeros((n, d), int))
        H[:, -1] = rational_array(np.arange(n) ** 2)
        return Exact(squared_distance(H @ W) / (d**2 * squared_distance(H)))
    H, W = (random_matrix(case, rows, d, salt) for rows, salt in ((n, 0), (d, 1)))
    stretched = from_fraction(squared_distance(H @ W) / squared_distance(H))
    return Ball.of(stretched / top_eigenvalue(W.T @ W))


@claim(
    Le(ratio, 1),
    wording="recalled",
    source=Source("shi2022", "lemmas on attention, ReLU and linear maps", "arXiv:2202.08625"),
    cases={
        "quick": (
            *Case.grid(map="attention", instance="attained", tokens=2, weight=("1/4", "9/10")),
            Case(map="relu", instance="attained", tokens=3, width=2),
            Case(map="values", instance="attained", tokens=3, width=2),
            *Case.grid(map="attention", instance="random", tokens=(3, 6), width=(1, 3)),
            *Case.grid(map="relu", instance="random", tokens=(3, 6), width=(1, 4)),
            *Case.grid(map="values", instance="random", tokens=(3, 6), width=(2, 4)),
        )
    },
    control=Control(
        Case(map="values", instance="attained", tokens=3, width=2),
        "0.9 in place of 1",
        Le(ratio, Rational(9, 10)),
    ),
    supports="rank_collapse/mask_exponential",
)
def distance_to_equal(case: Case) -> Exact | Ball:
    r"""Each part of a layer stretches distances to equal tokens by at most a known factor.

    For all tokens $H$, with $d_M(H) = \min_C \|H - 1 C\|_F$:
    $d_M(A H)^2 \leq \lambda_{\mathrm{max}} d_M(H)^2$ for every row-stochastic $A$,
    $\lambda_{\mathrm{max}}$ the top eigenvalue of $A^T (I - 11^T/n)$ $A$;
    $d_M(\mathrm{ReLU}\, H) \leq d_M(H)$; and $d_M(H W) \leq s d_M(H)$ for every $W$ with largest
    singular value $s$.

    As recalled; check against the paper. Measured as squares, divided by the stated factor.
    Attained by two tokens, by tokens without negative entries, and by a diagonal $W$ and tokens
    along its top direction.
    """
    of = {"attention": _after_attention, "relu": _after_relu, "values": _after_values}
    return of[case.map](case)


@distance_to_equal.argument(
    "Argument. Prose: a quadratic form is at most its top eigenvalue times the square, column "
    "by column, row by row; $d_M^2$ is a sum over pairs."
)
def _(statement: Relational) -> Iterator[Step]:
    """d_M(H) is |R| with R = H - 1 m of columns of sum 0; A and W act on R, ReLU on pairs."""
    A, C, R, W, m, ones = (
        Symbol(name, commutative=False) for name in ("A", "C", "R", "W", "m", "ones")
    )

    def centred(tokens: Expr) -> Expr:
        """C H for C = I - 11^T/n, with A 1 = 1 and C 1 = 0."""
        return sympy.expand(C * tokens).subs(A * ones, ones).subs(C * ones, 0)

    yield Step(
        "C A (R + 1 m) = C A R, so d_M(A H)^2 is the trace of R^T A^T C A R, as C^T C = C",
        centred(A * (R + ones * m)) == C * A * R,
    )
    yield Step(
        "C (R + 1 m) W = C R W = R W, so d_M(H W)^2 is the trace of R W W^T R^T",
        centred((R + ones * m) * W).subs(C * R, R) == R * W,
    )
    a, b = sympy.symbols("a b", nonnegative=True)
    # With n numbers of sum S and squares Q: over ordered pairs (h_i - h_j)^2 sums to 2 n Q - 2 S^2.
    n, S, Q = sympy.symbols("n S Q", positive=True)
    yield vanish(
        "sum over unordered pairs of (h_i - h_j)^2 / n is Q - S^2/n, the squared distance",
        (n * Q + n * Q - 2 * S * S) / 2 / n - (Q - S**2 / n),
    )
    cases: list[tuple[Expr, Expr]] = [(a - b, a - b), (a + b, a), (b - a, Integer(0))]
    yield Step(
        "(max(x, 0) - max(y, 0))^2 <= (x - y)^2 for both positive, one positive and none positive",
        all(sympy.factor(before**2 - after**2).is_nonnegative for before, after in cases),
    )
    yield Step("the stated factor is at least 1", at_least(statement.rhs, Integer(1)))
