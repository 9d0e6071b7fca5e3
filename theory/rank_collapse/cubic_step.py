"""The steps of the proof of the cubic law, as they hold and as they were written.

The proof writes the attention as P = 1 q^T plus a deviation that the softmax perturbation lemma
bounds. Beside its steps stand a bound for small logits that needs no gamma, and a pair of tokens
for which the layer is known in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import flint
import sympy
from flint import arb, arb_mat
from sympy import Expr, Rational, Symbol, diff, exp, expand, floor, simplify, symbols
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import at_least, sum_step
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity
from ..exact.enclosure import ball, from_fraction, sign
from .rational_matrices import norms
from .residual_norms import V2, logits, product_steps, ranges
from .softmax_attention import (
    Head,
    about_best_centre,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    instance,
    largest,
    residual_norm,
    resolved,
    row_ranges,
    whole_part,
)
from .softmax_perturbation import LARGEST_RANGE, small_range, softmax_steps, two_attentions

_HERE = "theory/rank_collapse/cubic_step.py, "

logit_max = quantity(
    "logit_max",
    "M",
    "largest |E_ij|, E the part of the logits that differs between rows",
    "positive real",
)
gamma_free_ratio = quantity(
    "gamma_free_ratio", r"\phi", "residual after one layer over |E|_1 |R| |W_V|", "positive real"
)
gamma_free_digits = quantity(
    "gamma_free_digits",
    "m^*",
    "whole part of 10^10 M, M the largest size of logits for which 2 e^M (e^M - 1)/M <= 4",
)
chain_ratio = quantity(
    "chain_ratio",
    r"\chi",
    "residual after one layer over sqrt(|D1|_1 |D1|_inf) |R| |W_V|",
    "positive real",
)
signed_ratio = quantity(
    "signed_ratio",
    r"\varsigma",
    "largest |((P - Q) R)_ik| / (D_ii (Q |R|)_ik) over entries, P and Q two attention matrices",
    "nonnegative real",
)
signed_excess = quantity(
    "signed_excess",
    r"\varsigma_+",
    "largest (P R - (I + 2D) Q R)_ik over entries, P and Q two attention matrices",
    "real",
)
head_sum_ratio = quantity(
    "head_sum_ratio",
    r"\eta",
    "sum_h g_h a_h sum_h g'_h b_h over max_h(g_h g'_h) sum_h a_h sum_h b_h",
    "positive real",
)
pair_digits = quantity(
    "pair_digits",
    "p",
    "whole part of 10^12 times the first token after one layer, for two tokens rho and -rho",
    "nonnegative integer",
)
pair_half = quantity(
    "pair_half", r"\rho", "the first of two tokens rho and -rho of width one", "positive real"
)
qk_weight = quantity("qk_weight", "w", "W_Q W_K^T of width one", "positive real")


# --- the step of the proof ---


def _signed(case: Case) -> tuple[arb_mat, arb_mat, list[arb], arb_mat]:
    """P, Q, the ranges D, and a signed R: plus or minus the first unit vector, or random."""
    P, Q, D = two_attentions(case)
    if case.instance == "two tokens":
        R = [[int(case.get("direction", -1)) * int(i == 0)] for i in range(len(D))]
    else:
        R = [[int(v) for v in row] for row in case.rng(1).integers(-9, 10, (len(D), 3))]
    return P, Q, D, arb_mat(R)


@claim(
    Le(signed_ratio, 2),
    source=Source("depthlaw", _HERE + "signed step"),
    assumes={"0 < D_ii <= 1.256": small_range},
    cases={
        "quick": (
            Case(instance="two tokens", range="157/125"),
            Case(instance="two tokens", range="1/1000"),
            *Case.grid(instance="random", range=("1/2", "157/125"), tokens=(3, 8)),
        ),
        "theory": Case.grid(instance="random", range=("1", "157/125"), tokens=(12, 24)),
    },
    control=Control(
        Case(instance="two tokens", range="13/10"),
        "D = 1.3 is beyond the root 1.2564 of e^x = 1 + 2x",
    ),
    supports="rank_collapse/one_layer_cubic",
)
def signed_step(case: Case) -> Ball:
    """The softmax lemma times a signed matrix, repaired.

    For all logits A, E with row ranges D_ii <= 1.256 and every matrix R, entrywise
    |(P - Q) R| <= 2 D Q |R| with P = softmax(A) and Q = softmax(A - E).

    |R| has the norms of R, so the repair costs nothing. Two tokens come within 0.03 % of the
    constant.
    """

    def ratio() -> arb:
        P, Q, D, R = _signed(case)
        moved, weight = (P - Q) * R, Q * arb_mat([[abs(v) for v in row] for row in R.tolist()])
        return largest(
            [
                abs(moved[i, k]) / (D[i] * weight[i, k])
                for i in range(R.nrows())
                for k in range(R.ncols())
            ]
        )

    return Ball.of(resolved(ratio))


@signed_step.argument(
    "Argument. Prose: both sides of the softmax lemma give |P - Q| <= 2 D Q; then the triangle "
    "inequality in each entry of (P - Q) R."
)
def _(statement: Relational) -> Iterator[Step]:
    """-D Q <= P - Q <= k D Q entrywise, so |P - Q| <= k D Q; the triangle inequality does R."""
    yield from _signed_steps(statement.rhs)


def _signed_steps(k: Expr | int) -> Iterator[Step]:
    yield from softmax_steps(k, 1)
    yield from softmax_steps(1, -1)
    yield Step("the constant covers the lower side too", at_least(k, 1))
    yield from product_steps()


@claim(
    Le(signed_excess, 0),
    source=Source("dong2021", "proof of the one-layer lemma", V2),
    wording="reported",
    known="FAILS",
    weight="step",
    assumes={"0 < D_ii <= 1.256": small_range},
    cases={
        "quick": (
            Case(instance="two tokens", range="1/1000"),
            Case(instance="two tokens", range="1/1000", direction=1),
            Case(instance="random", range="1/2", tokens=3),
        )
    },
    control=Control(
        Case(instance="two tokens", range="1/1000", direction=1),
        "by 2e-90 less",
        statement=Le(signed_excess, -Rational(2, 10**90)),
    ),
    supports="rank_collapse/one_layer_cubic",
)
def signed_step_as_written(case: Case) -> Ball:
    """The softmax lemma times a signed matrix, as written.

    For all logits A, E with row ranges D_ii <= 1.256 and every matrix R, entrywise
    P R <= (I + 2D) Q R.

    An entrywise inequality may not be multiplied by a matrix with negative entries: R = -e_1 turns
    it round. The norms that the proof needs survive, see signed_step. The step stands in a
    restatement of the proof; the paper itself was not read.
    """

    def excess() -> arb:
        P, Q, D, R = _signed(case)
        left, right = P * R, Q * R
        return largest(
            [
                left[i, k] - (1 + 2 * D[i]) * right[i, k]
                for i in range(R.nrows())
                for k in range(R.ncols())
            ]
        )

    return Ball.of(resolved(excess))


# --- one layer, from its logits ---


def _grid(sizes: Iterable[str], shapes: Iterable[tuple[int, int]]) -> tuple[Case, ...]:
    return tuple(
        Case(
            tokens=n,
            width=d,
            residual="1",
            qk_norm="1",
            value_norm="1",
            qk_width=1,
            bias=bias,
            logit_max=M,
        )
        for n, d in shapes
        for M in sizes
        for bias in (0, 1)
    )


_SMALLEST = _grid(("1/1000",), ((2, 1),))[0]


def scaled_layer(case: Case) -> tuple[arb_mat, Head]:
    """Tokens and one head with max |E_ij| = case.logit_max, from an instance of norms one."""
    tokens, [[head]] = instance(case)
    size = largest([abs(entry) for entry in head.perturbation(centred(tokens)).entries()])
    return tokens, head._replace(qk=head.qk * (from_fraction(case.rational("logit_max")) / size))


def _residual_over(case: Case, size: Callable[[arb_mat], arb]) -> Ball:
    """The residual after the scaled layer over size(E) |R| |W_V|."""

    def ratio() -> arb:
        tokens, head = scaled_layer(case)
        R = centred(tokens)
        before = size(head.perturbation(R)) * ball_composite_norm(R)
        after = residual_norm(attention(tokens, [head]))
        return after / (before * ball_composite_norm(head.value))

    return about_best_centre(resolved(ratio), case)


@claim(
    Le(chain_ratio, 2),
    wording="reported",
    source=Source("dong2021", "proof of the one-layer lemma, first chain", V2),
    # A fact of the construction: `scaled_layer` scales W_QK so that max |E_ij| is the case's.
    assumes={
        "2 max |E_ij| <= 1.256, so that D_ii <= 1.256": lambda case: (
            2 * case.rational("logit_max") <= LARGEST_RANGE
        )
    },
    cases={
        "quick": _grid(("1/1000", "1/2", "157/250"), ((2, 1), (6, 3))),
        "theory": _grid(("1/4",), ((12, 5), (4, 8))),
    },
    control=Control(
        _SMALLEST, "a twentieth of the constant", statement=Le(chain_ratio, Rational(1, 10))
    ),
    supports="rank_collapse/one_layer_cubic",
)
def residual_chain(case: Case) -> Ball:
    """Residual after a layer, from the row ranges of the logits.

    For every input and one head whose logit ranges D_ii are at most 1.256,
    |res(SA(X))| <= 2 sqrt(|D1|_1 |D1|_inf) |R| |W_V|.
    """

    def size(E: arb_mat) -> arb:
        return (sum(row_ranges(E)) * largest(row_ranges(E))).sqrt()

    return _residual_over(case, size)


@residual_chain.argument(
    "Argument. Prose: logits are 1 r^T + E up to constants per row; 1 q^T R W_V is one of the "
    "centres; norms factor by factor."
)
def _(statement: Relational) -> Iterator[Step]:
    """|R'| <= k D 1 (q^T |R|) |W_V|: column sums |D1|_1 q^T |R|, row sums D_ii q^T |R| 1."""
    yield from chain_steps(statement.rhs)


def chain_steps(k: Expr | int) -> Iterator[Step]:
    """The signed step with constant k, and what a mean of rows is at most."""
    yield from _signed_steps(k)
    yield sum_step(
        "a mean is at most the largest number, so (q^T |R|)_k <= |R|_1 and q^T |R| 1 <= |R|_inf"
    )


GAMMA_FREE = 2 * exp(logit_max) * (exp(logit_max) - 1) / logit_max


@claim(
    Le(gamma_free_ratio, GAMMA_FREE),
    source=Source("depthlaw", _HERE + "one layer without gamma"),
    cases={
        "quick": _grid(("1/1000", "1/2", "3"), ((2, 1), (6, 3))),
        "theory": _grid(("1/10", "2"), ((12, 5), (4, 8))),
    },
    control=Control(
        _SMALLEST, "a tenth of the constant", statement=Le(gamma_free_ratio, GAMMA_FREE / 10)
    ),
    supports="rank_collapse/column_ranges_v1",
)
def gamma_free_bound(case: Case) -> Ball:
    """One layer without gamma: constant 2 e^M (e^M - 1)/M.

    For every input, head and bias with |E_ij| <= M for all i, j, the residual after a softmax
    attention layer is at most 2 e^M ((e^M - 1)/M) |E|_1 |R| |W_V|, with
    E = R W_QK R^T / sqrt(d_qk).

    Repairs version 1 of the theorem for small logits; gamma is an artefact of the proof there.
    """
    return _residual_over(case, lambda E: ball_norms(E)[0])


@gamma_free_bound.argument(
    "Argument. Prose: |P - 1 q^T| bounded entry by entry, then the column and row sums of that "
    "bound times |R|, then |W_V|."
)
def _(statement: Relational) -> Iterator[Step]:
    """The steps with the stated constant."""
    yield from gamma_free_steps(statement.rhs)


def gamma_free_steps(constant: Expr) -> Iterator[Step]:
    """|P_ij - q_j| <= q_j e^M kappa (|E_ij| + sum_m q_m |E_im|), kappa = constant / (2 e^M)."""
    M, x = logit_max, Symbol("x", nonnegative=True)
    kappa = simplify(constant / (2 * exp(M)))
    gap = kappa * x - (exp(x) - 1)
    yield Step(
        "e^x - 1 <= kappa x on [0, M]: the gap is concave and zero at 0",
        bool((-diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0),
    )
    yield Step("and it is not negative at M", at_least(gap.subs(x, M), 0))
    yield Step(
        "e^M - 1 >= M: the gap is convex, zero and flat at 0",
        _convex_zero_and_flat(exp(x) - 1 - x, x),
    )
    yield Step(
        "1 - e^-x <= x <= kappa x: the first gap is convex, zero and flat at 0, and "
        "kappa >= 1 since kappa M >= e^M - 1 >= M",
        _convex_zero_and_flat(x - 1 + exp(-x), x),
    )
    q, a, Z = symbols("q a Z", positive=True)
    yield Step(
        "P_ij - q_j = q_j ((e^{E_ij} - 1) - (Z_i - 1)) / Z_i",
        simplify(q * a / Z - q - q * ((a - 1) - (Z - 1)) / Z) == 0,
    )
    yield sum_step("a mean of numbers that are at least e^-M is at least e^-M", -1)
    q, e, r, b = symbols("q e r b", nonnegative=True)
    yield Step(
        "column sums: q_j (sum_i |E_ij| + sum_m q_m sum_i |E_im|) <= q_j (e + e) with "
        "e = |E|_1; row sums: at most 2 max |E_ij| <= 2 e",
        expand(q * ((e - r) + (e - b)) - 2 * q * e + q * (r + b)) == 0,
    )
    yield from product_steps()


def _convex_zero_and_flat(gap: Expr, x: Symbol) -> bool:
    slope = diff(gap, x)
    return bool(diff(slope, x).is_positive and gap.subs(x, 0) == 0 and slope.subs(x, 0) == 0)


@claim(
    Eq(gamma_free_digits, 4563239156),
    source=Source("depthlaw", _HERE + "one layer without gamma"),
    cases={"quick": (Case(interval="(0, 1]"),)},
    control=Control(
        Case(interval="(0, 1]"),
        "the last digit off by one",
        statement=Eq(gamma_free_digits, 4563239157),
    ),
    supports="rank_collapse/column_ranges_v1",
)
def gamma_free_range(case: Case) -> Exact:
    """The gamma-free constant is at most 4 up to M = 0.4563239156.

    For M > 0, 2 e^M (e^M - 1)/M <= 4 exactly when M is at most a number that begins with
    0.4563239156; the constant tends to 2 as M tends to 0.
    """
    # Intervals whose sign is not decided are halved. Every other one is decided as a whole, so no
    # sample points are involved; 4 - constant must be positive before and negative after.
    todo, undecided = [(Fraction(0), Fraction(1))], []
    before, after = Fraction(1), Fraction(0)
    while todo:
        low, high = todo.pop()
        M = ball(low, high)
        # (e^M - 1)/M lies between 1 and e^high on [0, high], also where the interval begins at 0.
        quotient = (M.exp() - 1) / M if low else from_fraction(1).union(M.exp())
        gap = 4 - 2 * M.exp() * quotient
        if gap > 0:
            after = max(after, high)
        elif gap < 0:
            before = min(before, low)
        elif high - low < Fraction(1, 10**14):
            undecided.append((low, high))
        else:
            todo += [(low, (low + high) / 2), ((low + high) / 2, high)]
    first, last = min(undecided)[0], max(undecided)[1]
    if not after <= first < last <= before or int(first * 10**10) != int(last * 10**10):
        raise ArithmeticError(
            f"the crossing is not isolated: undecided on [{first}, {last}], "
            f"decided up to {after} and from {before}"
        )
    return Exact(int(first * 10**10))


@gamma_free_range.argument(
    "Argument. Prose: a convex gap that is zero and falls at 0 has one positive root; its signs "
    "beside the digits are enclosed."
)
def _(statement: Relational) -> Iterator[Step]:
    """e^{2M} - e^M - 2M has one positive root; its sign at both ends of the stated digit."""
    M = logit_max
    gap = exp(2 * M) - exp(M) - 2 * M
    yield Step(
        "the constant is at most 4 exactly where the gap is at most 0",
        simplify(gap - (GAMMA_FREE - 4) * M / 2) == 0,
    )
    yield Step(
        "the gap is convex: its second derivative e^M (4 e^M - 1) is positive",
        expand(diff(gap, M, 2) - exp(M) * (4 * exp(M) - 1)) == 0,
    )
    yield Step("it is zero and falls at 0", gap.subs(M, 0) == 0 and diff(gap, M).subs(M, 0) == -1)
    ends = (sign(gap.subs(M, (statement.rhs + unit) / sympy.Integer(10) ** 10)) for unit in (0, 1))
    yield Step(
        "it is negative at the stated digits and positive one unit later", list(ends) == [-1, 1]
    )
    yield Step("the constant tends to 2 as M tends to 0", sympy.limit(GAMMA_FREE, M, 0) == 2)


_HEADS = Case(instance="identity/identity", tokens=16, balance="1/10")


@claim(
    Le(head_sum_ratio, 1),
    known="FAILS",
    weight="step",
    source=Source("depthlaw", _HERE + "one gamma for all heads, after dong2021, Theorem 2.3"),
    cases={
        "quick": (
            _HEADS,
            Case(instance="both signs/both signs", tokens=4, balance="1/10"),
            Case(instance="identity/both signs", tokens=16, balance="1/10"),
        )
    },
    control=Control(_HEADS, "half", statement=Le(2 * head_sum_ratio, 1)),
    supports="rank_collapse/layers_product",
)
def heads_common_gamma(case: Case) -> Exact:
    """One gamma for all heads in the sum over heads.

    When g_h g'_h <= gamma^2 for every head, with g_h = |D1|_1 / (2 |E|_1) and
    g'_h = |D1|_inf / (2 |E|_1), then sum_h g_h a_h sum_h g'_h b_h <= gamma^2 sum_h a_h sum_h b_h
    for all a_h, b_h > 0.

    A step that suggests itself for the sum over heads, not one of the paper. False: gamma bounds
    only the product g_h g'_h, and heads whose value matrices favour different norms pair the
    largest g with the largest g'. The step needs both factors per head, as in layers_product, or
    one bound for each of g and g'. The multi-head theorem itself is not refuted by this.
    """
    # The value matrices of the two heads favour different norms.
    small = case.rational("balance")
    a, b = (Fraction(1), small), (small, Fraction(1))
    heads = [logits(Case(instance=name, tokens=case.tokens)) for name in case.instance.split("/")]
    g = [[part / (2 * norms(E)[0]) for part in ranges(E)] for E in heads]
    columns, rows = (g[0][k] * w[0] + g[1][k] * w[1] for k, w in ((0, a), (1, b)))
    return Exact(columns * rows / (max(one * other for one, other in g) * sum(a) * sum(b)))


@claim(
    Eq(pair_digits, floor(10**12 * pair_half * sympy.tanh(qk_weight * pair_half**2))),
    source=Source("depthlaw", _HERE + "two tokens"),
    cases={
        "quick": Case.grid(pair_half=("1/100", "1/3", "2"), qk_weight=("1/7", "1", "3")),
        "theory": Case.grid(pair_half=("1/1000", "7/5"), qk_weight=("1/50", "11/10")),
    },
    control=Control(
        Case(pair_half="1/3", qk_weight="1/7"),
        "sinh in place of tanh",
        statement=Eq(
            pair_digits,
            floor(10**12 * pair_half * sympy.sinh(qk_weight * pair_half**2).rewrite("exp")),
        ),
    ),
    supports="rank_collapse/one_layer_cubic",
)
def pair_tanh(case: Case) -> Exact:
    """Two opposite tokens: rho becomes rho tanh(w rho^2).

    For all rho, w > 0, one attention layer of width one with W_QK = w and W_V = 1 takes the tokens
    rho, -rho to x, -x with x = rho tanh(w rho^2); the statement compares floor(10^12 x).

    For small logits it is w rho^3, an eighth of what the constant 4 allows for this pair (residual
    sqrt(2) rho).
    """
    with flint.ctx.workprec(192):
        rho, w = (from_fraction(case.rational(name)) for name in ("pair_half", "qk_weight"))
        after = attention(arb_mat([[rho], [-rho]]), [Head(arb_mat([[w]]), arb_mat([[1]]))])
        return Exact(whole_part(after[0, 0] * 10**12))


@pair_tanh.argument("Argument: the layer on both tokens is computed in symbols, for all rho and w.")
def _(statement: Relational) -> Iterator[Step]:
    """The layer on rho, -rho in symbols: logits w x_i x_j, a softmax of each row, and W_V = 1."""
    pair = (pair_half, -pair_half)
    weights = [[exp(qk_weight * own * other) for other in pair] for own in pair]
    first, second = (
        sum(e * x for e, x in zip(row, pair, strict=True)) / sum(row) for row in weights
    )
    stated = statement.rhs.args[0] / sympy.Integer(10) ** 12
    yield Step("the two tokens stay opposite", simplify(first + second) == 0)
    yield Step("the stated token is the first one", simplify((first - stated).rewrite(exp)) == 0)
    yield Step("and the statement takes its whole part", isinstance(statement.rhs, floor))
