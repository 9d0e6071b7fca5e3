"""Norms of the residual: the composite norm, mean against best centre, gamma, layer normalisation.

The residual of tokens X is X - 1 x^T with the centre x that minimises the composite norm
sqrt(|A|_1 |A|_inf); practice takes the token mean for x. The claims say what that choice costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from sympy import KroneckerDelta, Symbol, expand, simplify, summation, symbols
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity, tokens
from .rational_matrices import norms, random_matrix, rank, rational_array, root, squared_norm

V1, V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"

centre_ratio = quantity(
    "centre_ratio",
    r"\mu",
    r"ratio of $|X - 1 \mathrm{mean}^T|$ to $|X - 1 x^T|$ in the composite norm, $x$ another "
    "centre",
    "nonnegative real",
)
gamma_square = quantity(
    "gamma_square",
    r"\gamma^2",
    r"$\|D 1\|_1 \|D 1\|_\infty/(4 \|E\|_1^2)$ of one logit matrix $E$, $D_{ii}$ the range of "
    "its row $i$",
    "nonnegative real",
)
affine_rank = quantity(
    "affine_rank", "a", "dimension of the affine hull of the tokens", "nonnegative integer"
)
affine_rank_after = quantity(
    "affine_rank_after",
    "a'",
    "dimension of the affine hull of the tokens after layer normalisation",
    "nonnegative integer",
)

# --- the composite norm ---


def product_steps() -> Iterator[Step]:
    """|AB| <= |A| |B| for the largest column sum, the largest row sum, so the root of both."""
    x, y = symbols("x y", nonnegative=True)
    signs = [(sx * x + sy * y) ** 2 for sx in (1, -1) for sy in (1, -1)]
    yield Step(
        "|x + y| <= |x| + |y|: for every choice of signs the squares differ by 0 or 4 |x| |y|",
        all(expand((x + y) ** 2 - square).is_nonnegative for square in signs),
    )
    yield sum_step("sum_k a_k b_k <= m sum_k b_k when every column sum a_k of |A| is at most m")


# --- the centre ---


@claim(
    Le(centre_ratio, 2 * (1 - 1 / tokens)),
    source=Source("dong2021", "definition of the residual, with the mean of the authors' code", V1),
    cases={
        "quick": (
            *Case.grid(instance="identity", tokens=(2, 3, 7)),
            *Case.grid(instance="random", tokens=(2, 5), width=(1, 4)),
        ),
        "theory": Case.grid(instance="random", tokens=(8, 32), width=8),
    },
    control=Control(
        Case(instance="identity", tokens=3), "the mean taken for the minimiser", Le(centre_ratio, 1)
    ),
    supports="rank_collapse/one_layer_cubic",
)
def mean_centre_factor(case: Case) -> Exact | Ball:
    r"""The residual from the token mean is at most $2 (1 - 1/N)$ times that from any centre.

    For all $N$ tokens $X$ and every centre $x$,
    $|X - 1 \mathrm{mean}^T| \leq 2 (1 - 1/N) |X - 1 x^T|$ in the composite norm; $N$ unit vectors
    with $x = 0$ attain it.

    So the mean does not minimise the composite norm (it minimises the Frobenius norm), and
    $|X - 1 \mathrm{mean}^T|/|X|$ can exceed 1.
    """
    if case.instance == "identity":
        X, centre = logits(case), rational_array([0])
    else:
        X = random_matrix(case, case.tokens, case.width)
        centre = random_matrix(case, 1, case.width, 1)
    return root(squared_norm(X - X.mean(axis=0)) / squared_norm(X - centre))


@mean_centre_factor.argument(
    r"Argument. Prose: $X - 1 \mathrm{mean}^T = (I - J/N)(X - 1 x^T)$, whose row and column sums "
    r"are read off; then $|A B| \leq |A| |B|$."
)
def _(statement: Relational) -> Iterator[Step]:
    """X - 1 mean^T = (I - J/N)(X - 1 x^T); the norm of I - J/N and sub-multiplicativity."""
    N = tokens
    yield Step(
        "I - J/N takes 1 to 0, so the centre x drops out", simplify((1 - 1 / N) - (N - 1) / N) == 0
    )
    yield from product_steps()
    absolute = (1 - 1 / N) + (N - 1) / N
    yield Step(
        "every row and column of |I - J/N| has the sum 2 (1 - 1/N), which the stated factor "
        "is not below",
        at_least(statement.rhs, absolute),
    )
    yield Step(
        "for X = I and x = 0 that sum is the ratio itself, since |I| = 1",
        simplify(absolute - 2 * (1 - 1 / N)) == 0,
    )


# --- gamma ---


def logits(case: Case) -> np.ndarray:
    """The identity, random integers, one row of both signs, or what attains the largest gamma."""
    n = case.tokens
    if case.instance == "random":
        return random_matrix(case, n, n)
    E = np.eye(n, dtype=int)
    if case.instance != "identity":
        E[: 2 if case.instance == "extremal" else n] = 0
        E[0, :2] = 1, -1
    return rational_array(E)


def ranges(E: np.ndarray) -> tuple[Fraction, Fraction]:
    """||D1||_1 and ||D1||_inf: the sum and the largest of the row ranges D_ii."""
    D = E.max(axis=1) - E.min(axis=1)
    return D.sum(), D.max()


@claim(
    Le(gamma_square, tokens / 2),
    source=Source("dong2021", r"the factor $\gamma$ of version 2", V2),
    cases={
        "quick": (
            *Case.grid(instance="extremal", tokens=(2, 3, 8)),
            *Case.grid(instance="identity", tokens=(2, 3, 16)),
            *Case.grid(instance="random", tokens=(2, 5, 9)),
        ),
        "theory": Case.grid(instance=("extremal", "random"), tokens=(17, 40)),
    },
    control=Control(Case(instance="extremal", tokens=3), "no growth with $N$", Le(gamma_square, 1)),
    supports="rank_collapse/layers_product",
)
def gamma_bound(case: Case) -> Exact:
    r"""$\gamma$ is at most $\sqrt{N/2}$.

    For every $N \times N$ logit matrix $E$,
    $\gamma^2 = \|D 1\|_1 \|D 1\|_\infty/(4 \|E\|_1^2) \leq N/2$ with $D_{ii}$ the range of row $i$;
    attained for every $N \geq 2$.

    So $\gamma \leq \sqrt{N}$ always, with room: a uniform $\gamma$ costs the factor $\sqrt{N/2}$ at
    most in the base of the power. It grows with the number of tokens for logits $c$ I, too, whose
    $\gamma$ is $\sqrt{N}/2$.
    """
    E = logits(case)
    total, largest = ranges(E)
    return Exact(total * largest / (4 * norms(E)[0] ** 2))


@gamma_bound.argument(
    "Argument. Prose: a row's largest and smallest entry stand at two places, so its range is at "
    "most its absolute sum; sums exchanged."
)
def _(statement: Relational) -> Iterator[Step]:
    """||D1||_1 <= sum_ij |E_ij| <= N ||E||_1 and ||D1||_inf <= 2 ||E||_1."""
    e, N = Symbol("e", positive=True), tokens
    yield from range_steps()
    yield Step(
        "so gamma^2 <= (N e)(2 e) / (4 e^2) with e = |E|_1, which the stated bound is not below",
        at_least(statement.rhs, N * e * 2 * e / (4 * e**2)),
    )
    yield Step(
        "rows (1, -1, 0, ..), 0, e_3, .., e_N have column sums 1 and ranges 2, 0, 1, .., 1, "
        "so gamma^2 = (2 + (N - 2)) 2 / 4 = N/2",
        expand((2 + (N - 2)) * 2 / 4 - N / 2) == 0,
    )
    c, i = Symbol("c", positive=True), Symbol("i", integer=True)
    yield Step(
        "c I has column sums c and N rows of range c, so gamma^2 = N c c / (4 c^2) = N/4",
        summation(c * KroneckerDelta(i, 1), (i, 1, N)) == c
        and expand(summation(c, (i, 1, N)) * c / (4 * c**2) - N / 4) == 0,
    )


def range_steps() -> Iterator[Step]:
    """D_ii <= |max| + |min| of a row: at most its absolute sum, and twice its largest entry."""
    p, q = symbols("p q", nonnegative=True)
    differences = [sp * p - sq * q for sp in (1, -1) for sq in (1, -1)]
    yield Step(
        "max - min <= |max| + |min| for all signs, hence D_ii is at most the row sum of |E| "
        "and at most 2 max_j |E_ij|",
        all(expand(p + q - d).is_nonnegative for d in differences),
    )


# --- layer normalisation ---


def token_set(case: Case) -> np.ndarray:
    """Tokens of width 4 with rational standard deviations, and feature means 0 but for `shifted`:
    e + 1 and 2e + 3, where e has mean 0."""
    e, f, g = rational_array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    return np.array(
        {
            "multiples": [e, 2 * e],
            "shifted": [e + 1, 2 * e + 3],
            "simplex": [e, 2 * f, 3 * g],
            "collinear": [e, e + Fraction(3, 4) * f, e + Fraction(4, 3) * f],
        }[case.instance]
    )


def layer_norm(rows: np.ndarray) -> np.ndarray:
    """(x - mean) / standard deviation of each row; a ValueError where that is irrational or 0.

    >>> layer_norm(rational_array([[1, 3]])).tolist()
    [[Fraction(-1, 1), Fraction(1, 1)]]
    """
    normalised = []
    for row in _centred(rows):
        deviation = root((row**2).mean())
        if not isinstance(deviation, Exact) or deviation.value == 0:
            raise ValueError(
                f"the standard deviation of {row} must be rational and positive; "
                "choose other tokens"
            )
        normalised.append(row / deviation.value)
    return np.array(normalised)


def _centred(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


_HULLS = (
    Case(instance="simplex", affine_rank=2),
    Case(instance="multiples", affine_rank=1),
    Case(instance="collinear", affine_rank=1),
)


@claim(
    Eq(affine_rank_after, affine_rank),
    source=Source("cirrincione2026", "abstract, and dong2021v2, remark on layer normalisation"),
    wording="universal",
    cases={"quick": _HULLS},
    known="FAILS",
    control=Control(_HULLS[0], "one more", Eq(affine_rank_after, affine_rank + 1)),
    cited="Decides whether collapse proofs may take layer norm for a right multiplication.",
)
def layernorm_affine_rank(case: Case) -> Exact:
    r"""Layer normalisation keeps the affine rank of the tokens.

    For all tokens, layer normalisation keeps the dimension of their affine hull (cirrincione2026);
    it never raises it, since $\mathrm{LN}(Y) = Y W + 1 b^T$ for some matrix $W$ and vector $b$
    (dong2021).

    The sentence: layer normalisation "preserves the affine rank of the token representation set
    exactly". "For all tokens" and "dimension of the affine hull" are ours: only the abstract is
    known to us, and its affine rank may mean something else. So read it fails in both directions:
    $u$ and $2 u$ become equal, and three tokens on a line become independent. The latter refutes
    the formula too: (1, 0), (1, 3/4), (1, 4/3) in an orthonormal basis become (1, 0), (4/5, 3/5),
    (3/5, 4/5), and no affine map bends a line, so that no $W$ and $b$ exist, not even ones that
    depend on $Y$. LN divides each row by its own deviation: a left multiplication by a diagonal
    matrix, which keeps the rank of the tokens minus the means of their features.
    """
    before = token_set(case)
    rank_before = rank(before - before[0])
    if rank_before != case.affine_rank:
        raise ValueError(f"the tokens of [{case}] have affine rank {rank_before}")
    after = layer_norm(before)
    return Exact(rank(after - after[0]))
