"""Norms of the residual: the composite norm, mean against best centre, gamma, layer normalisation.

The residual of tokens X is X - 1 x^T with the centre x that minimises the composite norm
sqrt(|A|_1 |A|_inf); practice takes the token mean for x. The claims say what that choice costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from sympy import KroneckerDelta, Rational, Symbol, expand, simplify, summation, symbols
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity, tokens
from .rational_matrices import norms, random_matrix, rank, rational_array, root, squared_norm

V1, V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"

triangle_ratio = quantity(
    "triangle_ratio",
    r"\tau^2",
    "squared ratio of |A + A^T| to |A| + |A^T| in the composite norm, A = e_1 1^T",
    "positive real",
)
product_ratio = quantity(
    "product_ratio",
    r"\pi^2",
    "squared ratio of |AB| to |A| |B| in the composite norm",
    "nonnegative real",
)
centre_ratio = quantity(
    "centre_ratio",
    r"\mu",
    "ratio of |X - 1 mean^T| to |X - 1 x^T| in the composite norm, x another centre",
    "nonnegative real",
)
gamma_square = quantity(
    "gamma_square",
    r"\gamma^2",
    "|D1|_1 |D1|_inf / (4 |E|_1^2) of one logit matrix E, D_ii the range of its row i",
    "nonnegative real",
)
range_sum_ratio = quantity(
    "range_sum_ratio",
    r"\|D1\|_1/\|E\|_1",
    "sum of the row ranges of E over its largest column sum",
    "nonnegative real",
)
range_ratio = quantity(
    "range_ratio",
    r"\|D1\|_\infty/(\|W\|_1\|R\|^2)",
    "largest row range of E = R W R^T over |W|_1 |R|_1 |R|_inf",
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
centred_rank = quantity(
    "centred_rank",
    "c",
    "rank of the tokens, each minus the mean of its features",
    "nonnegative integer",
)
centred_rank_after = quantity(
    "centred_rank_after",
    "c'",
    "rank of the tokens after layer normalisation",
    "nonnegative integer",
)


# --- the composite norm ---


@claim(
    Eq(triangle_ratio, (tokens + 1) ** 2 / (4 * tokens)),
    source=Source("dong2021", "remark on the composite norm", V2),
    holds_for="exists",
    cases={"quick": Case.grid(tokens=(2, 3, 5, 16))},
    control=Control(Case(tokens=2), "the triangle inequality", statement=Eq(triangle_ratio, 1)),
    supports="rank_collapse/layers_product",
)
def composite_norm_triangle(case: Case) -> Exact:
    """The composite norm violates the triangle inequality without bound.

    For the N x N matrix A whose first row is ones and its other rows zero,
    (|A + A^T| / (|A| + |A^T|))^2 = (N + 1)^2 / (4 N) in the composite norm, which is above 1 for
    every N > 1.

    That the inequality fails is as the paper says (reported); the family and its ratio are ours. At
    N = 2 the norms are 3 > 2 sqrt(2).
    """
    A = rational_array(np.zeros((case.tokens, case.tokens), int))
    A[0] += 1
    # |A| = |A^T|, so no root remains.
    return Exact(squared_norm(A + A.T) / (4 * squared_norm(A)))


@composite_norm_triangle.argument(
    "Argument: the sums of entries are computed for a symbolic N. Prose: which row and column sums "
    "are the largest."
)
def _(statement: Relational) -> Iterator[Step]:
    """A has the entries delta_i1, so A + A^T has delta_i1 + delta_j1 and is symmetric."""
    j = Symbol("j", integer=True)
    one = KroneckerDelta(j, 1)
    first, others, ones = (summation(entry, (j, 1, tokens)) for entry in (1 + one, one, 1))
    yield Step(
        "row 1 of A + A^T has the sum N + 1, and every other row the sum 1, which is not "
        "above that",
        at_least(first, others) and expand(first - (tokens + 1)) == 0,
    )
    squared = ones * others
    yield Step(
        "A has one row of sum N, others of sum 0, and columns of sum 1, so |A|^2 = |A^T|^2 = N",
        expand(squared - tokens) == 0,
    )
    yield Step(
        "so the squared ratio is (N + 1)^2 / (2 |A|)^2, as stated",
        simplify(first**2 / (4 * squared) - statement.rhs) == 0,
    )


@claim(
    Le(product_ratio, 1),
    source=Source("dong2021", "proof of the one-layer lemma", V2),
    cases={
        "quick": (
            *Case.grid(instance="ones", tokens=(2, 5)),
            *Case.grid(instance="random", tokens=(2, 3, 8)),
        ),
        "theory": Case.grid(instance="random", tokens=(4, 16)),
    },
    control=Control(
        Case(instance="ones", tokens=2),
        "0.9 in place of 1",
        statement=Le(product_ratio, Rational(9, 10)),
    ),
    supports="rank_collapse/one_layer_cubic",
)
def composite_norm_product(case: Case) -> Exact:
    """The composite norm is sub-multiplicative.

    For all matrices A and B whose product exists, |AB| <= |A| |B| in the composite norm.

    All-ones matrices attain it.
    """
    n = case.tokens
    A = B = rational_array(np.ones((n, n), int))
    if case.instance == "random":
        A, B = random_matrix(case, n, n), random_matrix(case, n, n, 1)
    return Exact(squared_norm(A @ B) / (squared_norm(A) * squared_norm(B)))


@composite_norm_product.argument(
    "Argument. Prose: the two sums in a column of |A| |B| exchanged, the triangle inequality for "
    "many terms, transposition for rows."
)
def _(statement: Relational) -> Iterator[Step]:
    """The composite norm is sub-multiplicative, for matrices of every shape."""
    yield from product_steps()
    yield Step(
        "so the ratio is at most 1, and the stated bound is not below that",
        at_least(statement.rhs, 1),
    )


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
        Case(instance="identity", tokens=3),
        "no factor: the mean taken for the minimiser",
        statement=Le(centre_ratio, 1),
    ),
    supports="rank_collapse/one_layer_cubic",
)
def mean_centre_factor(case: Case) -> Exact | Ball:
    """Token mean against best centre: a factor 2 (1 - 1/N).

    For all N tokens X and every centre x, |X - 1 mean^T| <= 2 (1 - 1/N) |X - 1 x^T| in the
    composite norm; N unit vectors with x = 0 attain it.

    So the mean does not minimise the composite norm (it minimises the Frobenius norm), and
    |X - 1 mean^T| / |X| can exceed 1.
    """
    if case.instance == "identity":
        X, centre = logits(case), rational_array([0])
    else:
        X = random_matrix(case, case.tokens, case.width)
        centre = random_matrix(case, 1, case.width, 1)
    return root(squared_norm(X - X.mean(axis=0)) / squared_norm(X - centre))


@mean_centre_factor.argument(
    "Argument. Prose: X - 1 mean^T = (I - J/N)(X - 1 x^T), whose row and column sums are read off; "
    "then composite_norm_product."
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

_GAMMA = Source("dong2021", "the factor gamma of version 2", V2)


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


def _gamma_square(case: Case) -> Exact:
    E = logits(case)
    total, largest = ranges(E)
    return Exact(total * largest / (4 * norms(E)[0] ** 2))


@claim(
    Le(gamma_square, tokens / 2),
    source=_GAMMA,
    cases={
        "quick": (
            *Case.grid(instance="extremal", tokens=(2, 3, 8)),
            *Case.grid(instance="random", tokens=(2, 5, 9)),
        ),
        "theory": Case.grid(instance=("extremal", "random"), tokens=(17, 40)),
    },
    control=Control(
        Case(instance="extremal", tokens=3),
        "a bound that does not grow with N",
        statement=Le(gamma_square, 1),
    ),
    supports="rank_collapse/layers_product",
)
def gamma_bound(case: Case) -> Exact:
    """gamma is at most sqrt(N/2).

    For every N x N logit matrix E, gamma^2 = |D1|_1 |D1|_inf / (4 |E|_1^2) <= N/2 with D_ii the
    range of row i; attained for every N >= 2.

    So gamma <= sqrt(N) always, with room: a uniform gamma costs the factor sqrt(N/2) at most in the
    base of the power.
    """
    return _gamma_square(case)


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


@claim(
    Eq(gamma_square, tokens / 4),
    source=_GAMMA,
    cases={"quick": Case.grid(instance="identity", tokens=(2, 3, 16))},
    control=Control(
        Case(instance="identity", tokens=16),
        "gamma = 1, as version 1 has it",
        statement=Eq(gamma_square, 1),
    ),
    supports="rank_collapse/column_ranges_v1",
)
def gamma_of_identity(case: Case) -> Exact:
    """gamma of logits c I is sqrt(N)/2.

    For E = c I_N with N >= 2 and c > 0, gamma^2 = N/4, so that gamma grows with the number of
    tokens.
    """
    return _gamma_square(case)


@gamma_of_identity.argument(
    "Argument: the sums are computed for a symbolic N. Prose: the range of a row of c and zeros is "
    "c."
)
def _(statement: Relational) -> Iterator[Step]:
    """Every row of c I_N has the range c, and every column sum is c."""
    c, i = Symbol("c", positive=True), Symbol("i", integer=True)
    column = summation(c * KroneckerDelta(i, 1), (i, 1, tokens))
    yield Step("every column of |E| has the sum c, so |E|_1 = c", column == c)
    total = summation(c, (i, 1, tokens))
    yield Step(
        "a row of c and N - 1 >= 1 zeros has the range c, so gamma^2 = |D1|_1 |D1|_inf / "
        "(4 |E|_1^2) is the stated value",
        simplify(total * c / (4 * column**2) - statement.rhs) == 0,
    )


@claim(
    Le(range_sum_ratio, 2),
    known="FAILS",
    weight="step",
    source=Source("dong2021", "step of the proof of the one-layer lemma", V1),
    cases={
        "quick": (
            *Case.grid(instance="identity", tokens=(2, 3, 16)),
            Case(instance="random", tokens=5),
        )
    },
    control=Control(
        Case(instance="identity", tokens=2), "half the constant", statement=Le(range_sum_ratio, 1)
    ),
    cited="Decides whether the proof in version 1, whose bound lacks gamma, may still be quoted.",
)
def column_ranges_v1(case: Case) -> Exact:
    """Sum of row ranges at most 2 |E|_1, as version 1 needs.

    For every logit matrix E with row ranges D_ii, |D1|_1 <= 2 |E|_1.

    False: |D1|_1 sums over all rows, and E = I_3 gives 3 > 2. The proof of version 1, as reported,
    needs it; the factor gamma of version 2 repairs it. The statement of version 1 is not refuted by
    this, see one_layer_cubic_v1 and one_layer_small_logits.
    """
    E = logits(case)
    return Exact(ranges(E)[0] / norms(E)[0])


@claim(
    Le(range_ratio, 2),
    source=Source("dong2021", "proof of the one-layer lemma, second chain", V2),
    cases={
        "quick": (
            Case(instance="both signs", tokens=2),
            Case(instance="both signs", tokens=5),
            *Case.grid(instance="random", tokens=(2, 6), width=(1, 3)),
        ),
        "theory": Case.grid(instance="random", tokens=(12, 20), width=5),
    },
    control=Control(
        Case(instance="both signs", tokens=2), "half the constant", statement=Le(range_ratio, 1)
    ),
    supports="rank_collapse/one_layer_cubic",
)
def logit_range_chain(case: Case) -> Exact:
    """Logit ranges are at most 2 |W_QK|_1 |R|^2.

    For all R and W with E = R W R^T, |D1|_inf <= 2 max |E_ij| <= 2 |E|_1 <= 2 |W|_1 |R|_1 |R|_inf;
    divide by sqrt(d_qk) on both sides.

    Attained by R = I and one row of W of both signs.
    """
    n = case.tokens
    if case.instance == "random":
        R = random_matrix(case, n, case.width)
        W = random_matrix(case, case.width, case.width, 1)
    else:
        R, W = rational_array(np.eye(n, dtype=int)), logits(case)
    return Exact(ranges(R @ W @ R.T)[1] / (norms(W)[0] * squared_norm(R)))


@logit_range_chain.argument(
    "Argument. Prose: an entry is at most its column sum; |R W R^T|_1 <= |R|_1 |W|_1 |R^T|_1, and "
    "|R^T|_1 = |R|_inf."
)
def _(statement: Relational) -> Iterator[Step]:
    """D_ii <= 2 max |E_ij| <= 2 ||E||_1 <= 2 ||R||_1 ||W||_1 ||R^T||_1."""
    yield from range_steps()
    yield from product_steps()
    yield Step(
        "so the ratio is at most 2, and the stated bound is not below that",
        at_least(statement.rhs, 2),
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
    """Tokens of width 4 with rational standard deviations.

    Their feature means are zero but for `shifted`: e + 1 and 2e + 3, where e has mean 0.
    """
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
    """(x - mean) / standard deviation of each row, without gain and bias.

    Raises:
        ValueError: where a deviation is irrational or zero.

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


def _affine_rank_after(case: Case) -> Exact:
    """Dimension of the affine hull after layer normalisation.

    Raises:
        ValueError: when the case names a wrong one before.
    """
    before = token_set(case)
    found = rank(before - before[0])
    if found != case.affine_rank:
        raise ValueError(f"the tokens of [{case}] have affine rank {found}")
    after = layer_norm(before)
    return Exact(rank(after - after[0]))


_HULLS = (
    Case(instance="simplex", affine_rank=2),
    Case(instance="multiples", affine_rank=1),
    Case(instance="collinear", affine_rank=1),
)


@claim(
    Le(affine_rank_after, affine_rank),
    source=Source("dong2021", "remark on layer normalisation", V2),
    wording="reported",
    cases={"quick": _HULLS},
    known="FAILS",
    weight="step",
    control=Control(
        _HULLS[0], "rank falls below", statement=Le(affine_rank_after, affine_rank - 1)
    ),
    cited=(
        "Decides whether a collapse proof may treat layer normalisation as a right multiplication."
    ),
)
def layernorm_right_multiplication(case: Case) -> Exact:
    """Layer normalisation as a right multiplication.

    LN(Y) = Y W + 1 b^T for some matrix W and vector b, so that layer normalisation never raises the
    affine rank of the tokens.

    False: three tokens on a line, (1, 0), (1, 3/4), (1, 4/3) in an orthonormal basis, become
    (1, 0), (4/5, 3/5), (3/5, 4/5), and no affine map bends a line, so the formula has no W and b,
    not even ones that depend on Y. The statement measures what the formula implies. LN divides each
    row by its own deviation: a left multiplication by a diagonal matrix.
    """
    return _affine_rank_after(case)


@claim(
    Eq(affine_rank_after, affine_rank),
    source=Source("cirrincione2026", "abstract", "arXiv:2604.23681"),
    wording="universal",
    cases={"quick": _HULLS},
    known="FAILS",
    control=Control(_HULLS[0], "one more", statement=Eq(affine_rank_after, affine_rank + 1)),
    supports="rank_collapse/layernorm_right_multiplication",
)
def layernorm_affine_rank(case: Case) -> Exact:
    """Layer normalisation preserves the affine rank, read literally.

    For all tokens, layer normalisation keeps the dimension of their affine hull.

    The sentence: layer normalisation "preserves the affine rank of the token representation set
    exactly". "For all tokens" and "dimension of the affine hull" are ours: only the abstract is
    known to us, and its affine rank may mean something else. So read it fails in both directions: u
    and 2u become equal, and three tokens on a line become independent.
    """
    return _affine_rank_after(case)


@claim(
    Eq(centred_rank_after, centred_rank),
    source=Source("depthlaw", "theory/rank_collapse/residual_norms.py, LN as row scaling"),
    cases={
        "quick": (
            Case(instance="simplex", centred_rank=3),
            Case(instance="multiples", centred_rank=1),
            Case(instance="collinear", centred_rank=2),
            Case(instance="shifted", centred_rank=1),
        )
    },
    control=Control(
        Case(instance="simplex", centred_rank=3),
        "one less",
        statement=Eq(centred_rank_after, centred_rank - 1),
    ),
    supports="rank_collapse/layernorm_right_multiplication",
)
def layernorm_centred_rank(case: Case) -> Exact:
    """Layer normalisation keeps the rank of the centred tokens.

    For all tokens with positive deviations, LN without gain and bias, D^-1 X (I - 11^T/d), has the
    rank of X (I - 11^T/d).

    Matrix rank is blind to collapse in direction: u and 2u have rank one before and after, and are
    equal after.
    """
    before = token_set(case)
    found = rank(_centred(before))
    if found != case.centred_rank:
        raise ValueError(f"the centred tokens of [{case}] have rank {found}")
    return Exact(rank(layer_norm(before)))
