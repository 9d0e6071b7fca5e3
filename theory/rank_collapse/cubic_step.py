"""One layer of softmax attention cubes the distance to rank one (Dong, Cordonnier & Loukas 2021).

The proof of the cubic law writes the attention as P = 1 q^T plus a deviation that the softmax
perturbation lemma bounds. The claims are the law, the steps of that proof, as they hold and as they
were written, and a bound for small logits that needs no gamma.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial

import flint
import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Eq, Expr, Le, Rational, Symbol, diff, exp, expand, floor, simplify, sqrt, symbols
from sympy.core.relational import Relational

from ..claim import Ball, Case, Control, Exact, Outside, Source, Step, claim
from ..exact.enclosure import ball, enclose, from_fraction, sign
from ..proof_steps import at_least, sum_step
from ..search import Point, Search
from ..symbols import quantity, residual
from .rational_matrices import norms, random_matrix
from .residual_norms import logits, product_steps, range_steps, ranges
from .softmax_attention import (
    Head,
    about_best_centre,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    composite_norm,
    gamma,
    instance,
    largest,
    lies_above,
    residual_norm,
    resolved,
    row_ranges,
    whole_part,
)
from .softmax_perturbation import LARGEST_RANGE, small_range, softmax_steps, two_attentions

V1, V2 = "arXiv:2103.03404v1", "arXiv:2103.03404v2"
_HERE = "theory/rank_collapse/cubic_step.py, "

qk_width = quantity("qk_width", "d_{qk}", "query/key width of one head")
qk_norm = quantity(
    "qk_norm", r"\|W_{QK}\|_1", "largest column sum of |W_Q W_K^T|, the same for every head",
    "positive real")
value_norm = quantity(
    "value_norm", r"\|W_V\|_{1,\infty}", "composite norm of the value matrix of a head",
    "positive real")
residual_next = quantity(
    "residual_next", "r_1", "composite norm of the tokens minus their centre after one layer",
    "positive real")
residual_per_gamma = quantity(
    "residual_per_gamma", r"r_1/\gamma",
    "composite norm of the residual after one layer, divided by gamma", "positive real")
cubic_slope = quantity(
    "cubic_slope", r"\partial\log r_1/\partial\log r_0",
    "slope of log r_1 against log r_0 when the input residual is halved", "positive real")
logit_max = quantity(
    "logit_max", "M", "largest |E_ij|, E the part of the logits that differs between rows",
    "positive real")
gamma_free_ratio = quantity(
    "gamma_free_ratio", r"\phi", "residual after one layer over |E|_1 |R| |W_V|", "positive real")
gamma_free_digits = quantity(
    "gamma_free_digits", "m^*",
    "whole part of 10^10 M, M the largest size of logits for which 2 e^M (e^M - 1)/M <= 4")
chain_ratio = quantity(
    "chain_ratio", r"\chi", "residual after one layer over sqrt(|D1|_1 |D1|_inf) |R| |W_V|",
    "positive real")
signed_ratio = quantity(
    "signed_ratio", r"\varsigma",
    "largest |((P - Q) R)_ik| / (D_ii (Q |R|)_ik) over entries, P and Q two attention matrices",
    "nonnegative real")
signed_excess = quantity(
    "signed_excess", r"\varsigma_+",
    "largest (P R - (I + 2D) Q R)_ik over entries, P and Q two attention matrices", "real")
head_sum_ratio = quantity(
    "head_sum_ratio", r"\eta",
    "sum_h g_h a_h sum_h g'_h b_h over max_h(g_h g'_h) sum_h a_h sum_h b_h", "positive real")
pair_digits = quantity(
    "pair_digits", "p",
    "whole part of 10^12 times the first token after one layer, for two tokens rho and -rho",
    "nonnegative integer")
pair_half = quantity(
    "pair_half", r"\rho", "the first of two tokens rho and -rho of width one", "positive real")
qk_weight = quantity("qk_weight", "w", "W_Q W_K^T of width one", "positive real")
nonzero_gradients = quantity(
    "nonzero_gradients", r"\#_{\nabla}",
    "non-zero derivatives of outputs in entries of W_Q and W_K", "nonnegative integer")


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
    Le(signed_ratio, 2), source=Source("depthlaw", _HERE + "signed step"),
    assumes={"0 < D_ii <= 1.256": small_range},
    cases={"quick": (
        Case(instance="two tokens", range="157/125"), Case(instance="two tokens", range="1/1000"),
        *Case.grid(instance="random", range=("1/2", "157/125"), tokens=(3, 8))),
        "theory": Case.grid(instance="random", range=("1", "157/125"), tokens=(12, 24))},
    control=Control(Case(instance="two tokens", range="13/10"),
                    "D = 1.3 is beyond the root 1.2564 of e^x = 1 + 2x"))
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
        return largest([abs(moved[i, k]) / (D[i] * weight[i, k])
                        for i in range(R.nrows()) for k in range(R.ncols())])

    return Ball.of(resolved(ratio))


@signed_step.argument(
    "Argument. Prose: both sides of the softmax lemma give |P - Q| <= 2 D Q; then the triangle "
    "inequality in each entry of (P - Q) R.")
def _(statement: Relational) -> Iterator[Step]:
    """-D Q <= P - Q <= k D Q entrywise, so |P - Q| <= k D Q; the triangle inequality does R."""
    yield from _signed_steps(statement.rhs)


def _signed_steps(k: Expr | int) -> Iterator[Step]:
    yield from softmax_steps(k, 1)
    yield from softmax_steps(1, -1)
    yield Step("the constant covers the lower side too", at_least(k, 1))
    yield from product_steps()


@claim(
    Le(signed_excess, 0), source=Source("dong2021", "proof of the one-layer lemma", V2),
    wording="reported", known="FAILS", weight="step", assumes={"0 < D_ii <= 1.256": small_range},
    cases={"quick": (Case(instance="two tokens", range="1/1000"),
                     Case(instance="two tokens", range="1/1000", direction=1),
                     Case(instance="random", range="1/2", tokens=3))},
    control=Control(Case(instance="random", range="1/2", tokens=3), "at most minus 100",
                    statement=Le(signed_excess, -100)))
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
        return largest([left[i, k] - (1 + 2 * D[i]) * right[i, k]
                        for i in range(R.nrows()) for k in range(R.ncols())])

    return Ball.of(resolved(excess))


# --- one layer, from its logits ---


def _grid(sizes: Iterable[str], shapes: Iterable[tuple[int, int]]) -> tuple[Case, ...]:
    return tuple(
        Case(tokens=n, width=d, residual="1", qk_norm="1", value_norm="1", qk_width=1, bias=bias,
             logit_max=M)
        for n, d in shapes for M in sizes for bias in (0, 1))


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
    Le(chain_ratio, 2), wording="reported",
    source=Source("dong2021", "proof of the one-layer lemma, first chain", V2),
    # A fact of the construction: `scaled_layer` scales W_QK so that max |E_ij| is the case's.
    assumes={"2 max |E_ij| <= 1.256, so that D_ii <= 1.256":
             lambda case: 2 * case.rational("logit_max") <= LARGEST_RANGE},
    cases={"quick": _grid(("1/1000", "1/2", "157/250"), ((2, 1), (6, 3))),
           "theory": _grid(("1/4",), ((12, 5), (4, 8)))},
    control=Control(_SMALLEST, "a twentieth of the constant",
                    statement=Le(chain_ratio, Rational(1, 10))))
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
    "centres; norms factor by factor.")
def _(statement: Relational) -> Iterator[Step]:
    """|R'| <= k D 1 (q^T |R|) |W_V|: column sums |D1|_1 q^T |R|, row sums D_ii q^T |R| 1."""
    yield from chain_steps(statement.rhs)


def chain_steps(k: Expr | int) -> Iterator[Step]:
    """The signed step with constant k, and what a mean of rows is at most."""
    yield from _signed_steps(k)
    yield sum_step("a mean is at most the largest number, so (q^T |R|)_k <= |R|_1 and "
                   "q^T |R| 1 <= |R|_inf")


_GAMMA_FREE = 2 * exp(logit_max) * (exp(logit_max) - 1) / logit_max


@claim(
    Le(gamma_free_ratio, _GAMMA_FREE),
    source=Source("depthlaw", _HERE + "one layer without gamma"),
    cases={"quick": _grid(("1/1000", "1/2", "3"), ((2, 1), (6, 3))),
           "theory": _grid(("1/10", "2"), ((12, 5), (4, 8)))},
    control=Control(_SMALLEST, "a tenth of the constant",
                    statement=Le(gamma_free_ratio, _GAMMA_FREE / 10)))
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
    "bound times |R|, then |W_V|.")
def _(statement: Relational) -> Iterator[Step]:
    """|P_ij - q_j| <= q_j e^M kappa (|E_ij| + sum_m q_m |E_im|), kappa = constant / (2 e^M)."""
    yield from _gamma_free_steps(statement.rhs)


def _gamma_free_steps(constant: Expr) -> Iterator[Step]:
    M, x = logit_max, Symbol("x", nonnegative=True)
    kappa = simplify(constant / (2 * exp(M)))
    gap = kappa * x - (exp(x) - 1)
    yield Step("e^x - 1 <= kappa x on [0, M]: the gap is concave and zero at 0",
               bool((-diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0))
    yield Step("and it is not negative at M", at_least(gap.subs(x, M), 0))
    yield Step("e^M - 1 >= M: the gap is convex, zero and flat at 0",
               _convex_zero_and_flat(exp(x) - 1 - x, x))
    yield Step("1 - e^-x <= x <= kappa x: the first gap is convex, zero and flat at 0, and "
               "kappa >= 1 since kappa M >= e^M - 1 >= M",
               _convex_zero_and_flat(x - 1 + exp(-x), x))
    q, a, Z = symbols("q a Z", positive=True)
    yield Step("P_ij - q_j = q_j ((e^{E_ij} - 1) - (Z_i - 1)) / Z_i",
               simplify(q * a / Z - q - q * ((a - 1) - (Z - 1)) / Z) == 0)
    yield sum_step("a mean of numbers that are at least e^-M is at least e^-M", -1)
    q, e, r, b = symbols("q e r b", nonnegative=True)
    yield Step("column sums: q_j (sum_i |E_ij| + sum_m q_m sum_i |E_im|) <= q_j (e + e) with "
               "e = |E|_1; row sums: at most 2 max |E_ij| <= 2 e",
               expand(q * ((e - r) + (e - b)) - 2 * q * e + q * (r + b)) == 0)
    yield from product_steps()


def _convex_zero_and_flat(gap: Expr, x: Symbol) -> bool:
    slope = diff(gap, x)
    return bool(diff(slope, x).is_positive and gap.subs(x, 0) == 0 and slope.subs(x, 0) == 0)


@claim(
    Eq(gamma_free_digits, 4563239156), source=Source("depthlaw", _HERE + "one layer without gamma"),
    cases={"quick": (Case(interval="(0, 1]"),)},
    control=Control(Case(interval="(0, 1]"), "the last digit off by one",
                    statement=Eq(gamma_free_digits, 4563239157)))
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
        raise ArithmeticError(f"the crossing is not isolated: undecided on [{first}, {last}], "
                              f"decided up to {after} and from {before}")
    return Exact(int(first * 10**10))


@gamma_free_range.argument(
    "Argument. Prose: a convex gap that is zero and falls at 0 has one positive root; its signs "
    "beside the digits are enclosed.")
def _(statement: Relational) -> Iterator[Step]:
    """e^{2M} - e^M - 2M has one positive root; its sign at both ends of the stated digit."""
    M = logit_max
    gap = exp(2 * M) - exp(M) - 2 * M
    yield Step("the constant is at most 4 exactly where the gap is at most 0",
               simplify(gap - (_GAMMA_FREE - 4) * M / 2) == 0)
    yield Step("the gap is convex: its second derivative e^M (4 e^M - 1) is positive",
               expand(diff(gap, M, 2) - exp(M) * (4 * exp(M) - 1)) == 0)
    yield Step("it is zero and falls at 0", gap.subs(M, 0) == 0 and diff(gap, M).subs(M, 0) == -1)
    ends = (sign(gap.subs(M, (statement.rhs + unit) / sympy.Integer(10) ** 10)) for unit in (0, 1))
    yield Step("it is negative at the stated digits and positive one unit later",
               list(ends) == [-1, 1])
    yield Step("the constant tends to 2 as M tends to 0", sympy.limit(_GAMMA_FREE, M, 0) == 2)


# --- the cubic law ---

# Small, unit and large residuals: a wrong exponent of r_0 shows at the ends, a wrong constant
# everywhere.
SIZES = (("1/1000", "100"), ("1", "1/2"), ("100", "1/20000"))
_CUBIC = 4 * qk_norm * value_norm / sqrt(qk_width) * residual**3
_PAIR = Case(
    tokens=2, width=1, residual="1/1000", qk_norm="1", value_norm="1", qk_width=1, bias=0)


def _layers(
    shapes: Iterable[tuple[int, int]], sizes: Iterable[tuple[str, str]] = SIZES, qk_width: int = 1,
) -> tuple[Case, ...]:
    return tuple(
        Case(tokens=n, width=d, residual=r, qk_norm=w, value_norm="1", qk_width=qk_width, bias=bias)
        for n, d in shapes for r, w in sizes for bias in (0, 1))


def _small_range(case: Case) -> bool:
    # `instance` scales weights and tokens to exactly the norms of the case; see logit_range_chain.
    return bool((2 * _logits(case)) ** 2 <= LARGEST_RANGE**2 * case.get("qk_width", 1))


def _logits(case: Case) -> Fraction:
    return case.rational("qk_norm") * case.rational("residual") ** 2


def _after_layer(tokens: arb_mat, head: Head, per_gamma: bool) -> arb:
    """The residual after one layer, divided by gamma of its input where asked."""
    norm = residual_norm(attention(tokens, [head]))
    if not per_gamma:
        return norm
    one, infinity = head.gammas(centred(tokens))
    return norm / (one * infinity).sqrt()


def after_one_layer(case: Case, *, per_gamma: bool = False) -> Ball:
    """`_after_layer` on the instance of the case."""
    def once() -> arb:
        tokens, [[head]] = instance(case)
        return _after_layer(tokens, head, per_gamma)

    return about_best_centre(resolved(once), case)


def _searches(per_gamma: bool) -> tuple[Search, ...]:
    """Small logits, where the law is exact to first order, and logits at the edge of its range."""
    return tuple(
        _search(Case(tokens=n, width=d, residual=r, qk_norm=w, value_norm="1", qk_width=1, bias=0),
                per_gamma)
        for n, d in ((2, 1), (4, 1), (4, 2), (6, 3)) for r, w in (("1/1000", "1"), ("1", "1/2")))


def _search(case: Case, per_gamma: bool) -> Search:
    """Tokens R, -R, whose mean is the best centre, and one head, of the norms the case names."""
    n, d, r, w = case.tokens, case.width, case.rational("residual"), case.rational("qk_norm")
    half = n // 2 * d

    def split(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens, query-key matrix and value matrix, not yet scaled to their norms."""
        R = vector[:half].reshape(n // 2, d)
        qk, value = vector[half:].reshape(2, d, d)
        return np.vstack([R, -R]), qk, value

    def objective(vector: np.ndarray) -> float:
        R, qk, value = split(vector)
        sizes = composite_norm(R), np.abs(qk).sum(axis=0).max(), composite_norm(value)
        if min(sizes) == 0:
            return float("nan")
        R = R * (float(r) / sizes[0])
        E = R @ (qk * (float(w) / sizes[1])) @ R.T / np.sqrt(case.qk_width)
        # P - q with q uniform (the centre is zero), by expm1: the plain difference would lose all
        # digits of a small residual.
        low = np.expm1(E)
        mean = low.mean(axis=1, keepdims=True)
        moved = (low - mean) / (1 + mean) / n @ R @ (value / sizes[2])
        norm = float(composite_norm(moved - moved.mean(axis=0)))
        return norm / gamma(E) if per_gamma else norm

    def measured(point: Point) -> Ball:
        def once() -> arb:
            R, qk, value = (arb_mat([[from_fraction(v) for v in row] for row in matrix])
                            for matrix in split(np.array(point, dtype=object)))
            R = R * (from_fraction(r) / ball_composite_norm(R))
            qk = qk * (from_fraction(w) / ball_norms(qk)[0])
            value = value * (1 / ball_composite_norm(value))
            return _after_layer(R, Head(qk, value, case.qk_width), per_gamma)

        return Ball.of(resolved(once))

    return Search(case, half + 2 * d * d, objective, measured)


_law = partial(
    claim, wording="reported",
    assumes={"2 |W_QK|_1 r_0^2 <= 1.256 sqrt(d_qk), so that the logits range over at most 1.256":
             _small_range},
    cases={"quick": _layers([(2, 1), (4, 3), (8, 4)]),
           "theory": _layers([(16, 8), (6, 12)]) + _layers([(4, 4)], qk_width=4)})


@_law(
    Le(residual_per_gamma, _CUBIC), source=Source("dong2021", "one-layer, one-head lemma", V2),
    search=partial(_searches, per_gamma=True),
    control=Control(_PAIR, "0.4 in place of 4", statement=Le(residual_per_gamma, _CUBIC / 10)))
def one_layer_cubic(case: Case) -> Ball:
    """One attention layer cubes the residual, constant 4 gamma.

    For every input whose logits range over at most 1.256 and one head, the residual after a softmax
    attention layer is at most 4 gamma |W_QK|_1 |W_V|_(1,inf) / sqrt(d_qk) times the cube of the
    residual before it, with gamma = sqrt(|D1|_1 |D1|_inf) / (2 |E|_1) of its logits.

    gamma is the value that the proof needs; the paper's wording of it is not available to us. The
    residual is the minimum over centres; inputs are chosen so that the token mean attains it.
    """
    return after_one_layer(case, per_gamma=True)


@one_layer_cubic.argument(
    "Argument: residual_chain with |D1|_1 |D1|_inf = (2 gamma |E|_1)^2. Prose: the joints of that "
    "claim; |E|_1 <= |W_QK|_1 |R|^2 / sqrt(d_qk).")
def _(statement: Relational) -> Iterator[Step]:
    """The chain with constant 2, gamma's definition, |E|_1 <= |W_QK|_1 |R|^2 / sqrt(d_qk)."""
    yield from chain_steps(2)
    yield from range_steps()
    yield Step("2 sqrt(|D1|_1 |D1|_inf) = 4 gamma |E|_1, and the stated bound is at least "
               "4 |W_QK|_1 |W_V| r^3 / sqrt(d_qk)", at_least(_constant(statement), 4))


def _constant(statement: Relational) -> Expr:
    """The bound over |W_QK|_1 |W_V| r^3 / sqrt(d_qk): a number where it has that form."""
    return simplify(statement.rhs * sqrt(qk_width) / (qk_norm * value_norm * residual**3))


@_law(
    Le(residual_next, _CUBIC), source=Source("dong2021", "one-layer, one-head lemma", V1),
    search=partial(_searches, per_gamma=False),
    control=Control(_PAIR, "0.4 in place of 4", statement=Le(residual_next, _CUBIC / 10)))
def one_layer_cubic_v1(case: Case) -> Ball:
    """One attention layer cubes the residual, constant 4.

    For every input whose logits range over at most 1.256 and one head, the residual after a softmax
    attention layer is at most 4 |W_QK|_1 |W_V|_(1,inf) / sqrt(d_qk) times the cube of the residual
    before it.

    The proof of version 1 (as reported) has a gap: it needs |D1|_1 <= 2 |E|_1, which E = I refutes
    for n >= 3. No counterexample to the statement is known; for small logits there is an argument,
    see one_layer_small_logits. The residual is the minimum over centres; inputs are chosen so that
    the token mean attains it.
    """
    return after_one_layer(case)


# Below the root of 2 e^M (e^M - 1)/M = 4; see gamma_free_range.
SMALL_LOGITS = Fraction(4563, 10000)


@claim(
    Le(residual_next, _CUBIC),
    source=Source("dong2021", "one-layer, one-head lemma, small logits", V1),
    assumes={"|W_QK|_1 r_0^2 <= 0.4563 sqrt(d_qk), so that |E_ij| <= 0.4563":
             lambda case: _logits(case) ** 2 <= SMALL_LOGITS**2 * case.qk_width},
    cases={"quick": _layers(
        [(2, 1), (6, 4)], [("1/1000", "1"), ("1/2", "9/5"), ("30", "1/2000")])},
    control=Control(_PAIR, "0.4 in place of 4", statement=Le(residual_next, _CUBIC / 10)))
def one_layer_small_logits(case: Case) -> Ball:
    """Version 1's cubic bound, for small logits.

    For every input and one head with |W_QK|_1 r_0^2 <= 0.4563 sqrt(d_qk), the residual after a
    softmax attention layer is at most 4 |W_QK|_1 |W_V| / sqrt(d_qk) times the cube of the residual
    before it: no gamma.

    Beyond that range the statement of version 1 has neither an argument nor a counterexample: see
    one_layer_cubic_v1.
    """
    return after_one_layer(case)


@one_layer_small_logits.argument(
    "Argument: gamma_free_bound at M = 0.4563. Prose: max |E_ij| <= |E|_1 <= "
    "|W_QK|_1 r_0^2 / sqrt(d_qk) <= M, and its joints.")
def _(statement: Relational) -> Iterator[Step]:
    """The gamma-free bound, and its constant at the largest logits allowed."""
    M, stated = logit_max, _constant(statement)
    at_end = enclose(_GAMMA_FREE.subs(M, Rational(4563, 10000)))
    yield from _gamma_free_steps(_GAMMA_FREE)
    yield Step(
        "for 0 < M <= 0.4563 the constant grows with M and is below the stated one at the end",
        bool(stated.is_number) and bool(at_end < enclose(stated)))
    series = expand((M - 1) * exp(M) + 1)
    yield Step("(e^M - 1)/M grows with M: M^2 times its derivative is (M - 1) e^M + 1, zero at 0 "
               "with derivative M e^M",
               series.subs(M, 0) == 0 and simplify(diff(series, M) - M * exp(M)) == 0)


WELL_CONDITIONED = "the condition number of the first-order term is at most `condition`"


def _slopes(
    residuals: Iterable[str], shapes: Iterable[tuple[int, int, str]],
) -> tuple[Case, ...]:
    return tuple(
        Case(tokens=n, width=d, condition=k, residual=r, qk_norm="1", value_norm="1", qk_width=1)
        for n, d, k in shapes for r in residuals)


def _around(statement: Relational, case: Case) -> Ball:
    """The interval around the slope that the second-order remainder of the softmax allows.

    softmax(tE) has second t-derivative at most q_j e^D D^2 entrywise, so with
    M = ||W_QK||_1 r^2 / sqrt(d_qk) >= D/2 each norm of the output is ||F|| (1 +- eta),
    eta = kappa M e^(2M), and at most eta/4 after halving:
    |slope - 3| <= (-log(1-eta) - log(1-eta/4)) / log 2.
    """
    with flint.ctx.workprec(128):
        M = from_fraction(_logits(case)) / from_fraction(case.get("qk_width", 1)).sqrt()
        eta = from_fraction(case.rational("condition")) * M * (2 * M).exp()
        error = Ball.of(-((1 - eta) * (1 - eta / 4)).log() / from_fraction(2).log()).high
    slope = Fraction(int(statement.rhs.p), int(statement.rhs.q))
    return Ball(slope - error, slope + error)


@claim(
    Eq(cubic_slope, 3), kind="rate", holds_for="almost every", predicted=_around,
    source=Source("depthlaw", "theory/rank_collapse/__init__.py, slope of one layer"),
    assumes={"remainder below one: condition * |W_QK|_1 r^2 < 1/4":
             lambda case: case.rational("condition") * _logits(case) < Fraction(1, 4)},
    cases={"quick": _slopes(
        ("1/20", "1/1000", "1/1000000"), ((2, 1, "9/4"), (4, 3, "6"), (6, 4, "8"))),
        "theory": _slopes(("1/1000", "1/10000000000"), ((8, 8, "12"),))},
    control=Control(_slopes(("1/1000",), ((2, 1, "9/4"),))[0], "slope 2",
                    statement=Eq(cubic_slope, 2)))
def cubic_rate(case: Case) -> Ball | Outside:
    """One layer's residual is of third order in the input's.

    For almost every symmetric input and one head, log of the residual after a layer against log of
    the residual before it has slope 3 in the limit of small residuals, within the second-order
    remainder of the softmax.

    Every prediction is an interval around 3 whose width is proportional to the squared residual.
    Out of scope unless the condition number of the first-order term is at most `condition`, which
    is computed on the layer that is drawn. The interval's width is derived in prose.
    """
    def condition() -> arb:
        """The largest of D ||1 b|| / ||F|| in both norms, b = q^T |R W|.

        F = (q (E - E q)) R W is the layer to first order in E.
        """
        R, [[head]] = instance(case)
        E, RW, n = head.perturbation(R), R * head.value, case.tokens
        F = arb_mat([[(entry - sum(row) / n) / n for entry in row] for row in E.tolist()]) * RW
        b = [sum(abs(entry) for entry in column) / n for column in RW.transpose().tolist()]
        (one, infinity), D = ball_norms(F), largest(row_ranges(E))
        return (D * n * largest(b) / one).max(D * sum(b) / infinity)

    def slope() -> arb:
        whole, halved = (
            residual_norm(attention(tokens, layers[0]))
            for tokens, layers in (instance(case, shrink) for shrink in (1, 2)))
        return (whole / halved).log() / from_fraction(2).log()

    if lies_above(Ball.of(resolved(condition)), case.rational("condition")):
        return Outside(WELL_CONDITIONED)
    return Ball.of(resolved(slope))


# --- what is exact ---


@claim(
    Eq(pair_digits, floor(10**12 * pair_half * sympy.tanh(qk_weight * pair_half**2))),
    source=Source("depthlaw", _HERE + "two tokens"),
    cases={"quick": Case.grid(pair_half=("1/100", "1/3", "2"), qk_weight=("1/7", "1", "3")),
           "theory": Case.grid(pair_half=("1/1000", "7/5"), qk_weight=("1/50", "11/10"))},
    control=Control(
        Case(pair_half="1/3", qk_weight="1/7"), "sinh in place of tanh", statement=Eq(
            pair_digits, floor(
                10**12 * pair_half * sympy.sinh(qk_weight * pair_half**2).rewrite("exp")))))
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


@pair_tanh.argument(
    "Argument: the layer on both tokens is computed in symbols, for all rho and w.")
def _(statement: Relational) -> Iterator[Step]:
    """The layer on rho, -rho in symbols: logits w x_i x_j, a softmax of each row, and W_V = 1."""
    pair = (pair_half, -pair_half)
    weights = [[exp(qk_weight * own * other) for other in pair] for own in pair]
    first, second = (
        sum(e * x for e, x in zip(row, pair, strict=True)) / sum(row) for row in weights)
    stated = statement.rhs.args[0] / sympy.Integer(10) ** 12
    yield Step("the two tokens stay opposite", simplify(first + second) == 0)
    yield Step("the stated token is the first one", simplify((first - stated).rewrite(exp)) == 0)
    yield Step("and the statement takes its whole part", isinstance(statement.rhs, floor))


_HEADS = Case(instance="identity/identity", tokens=16, balance="1/10")


@claim(
    Le(head_sum_ratio, 1), known="FAILS", weight="step", source=Source(
        "depthlaw", _HERE + "one gamma for all heads, after dong2021, Theorem 2.3"),
    cases={"quick": (_HEADS, Case(instance="both signs/both signs", tokens=4, balance="1/10"),
                     Case(instance="identity/both signs", tokens=16, balance="1/10"))},
    control=Control(_HEADS, "half", statement=Le(2 * head_sum_ratio, 1)))
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
    Eq(nonzero_gradients, 0), wording="reported", source=Source(
        "noci2022", "vanishing query/key gradients, at exact rank collapse", "arXiv:2206.03126"),
    assumes={"all tokens are equal": lambda case: case.instance == "collapsed"},
    cases={"quick": Case.grid(instance="collapsed", tokens=(2, 5), width=(1, 3)),
           "theory": (Case(instance="collapsed", tokens=8, width=4),)},
    control=Control(Case(instance="generic", tokens=3, width=2), "tokens that differ"))
def zero_query_key_gradient(case: Case) -> Exact:
    """Collapsed tokens give queries and keys no gradient.

    At X = 1 x^T every derivative of a softmax attention layer's output in an entry of W_Q or W_K is
    zero, for all weights.

    The paper's statement is about expected gradients at initialisation; this is its exact case, and
    says nothing on W_V.
    """
    n, d = case.tokens, case.width
    Wq, Wk, Wv = (random_matrix(case, d, d, salt) for salt in (1, 2, 3))
    X = random_matrix(case, n, d)
    # The logits must be constant along every row: then the attention is uniform, and rational.
    if case.instance == "collapsed":
        X[1:] = X[0]
    else:
        Wq *= 0
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    if np.ptp(Q @ K.T, axis=1).any():
        raise ValueError(f"the logits of [{case}] differ along a row: the attention is irrational")
    count = 0
    for i, j in np.ndindex(d, d):
        dX = np.zeros_like(X)
        dX[:, j] = X[:, i]
        for dA in (dX @ K.T, Q @ dX.T):
            # Uniform attention 1/n has the derivative (dA - row mean of dA) / n.
            dP = (dA - dA.mean(axis=1, keepdims=True)) / n
            count += int(np.count_nonzero(dP @ V))
    return Exact(count)


@zero_query_key_gradient.argument(
    "Argument: the derivative in a logit is computed for a symbolic number of tokens. Prose: the "
    "chain rule through the logits.")
def _(statement: Relational) -> Iterator[Step]:
    """At X = 1 x^T every output is a softmax average of n equal values."""
    n = Symbol("n", integer=True, positive=True)
    j, k = symbols("j k", integer=True)
    a, value = sympy.IndexedBase("a"), Symbol("v")
    total = sympy.Sum(exp(a[j]) * value, (j, 1, n))
    slope = simplify(diff(total / sympy.Sum(exp(a[j]), (j, 1, n)), a[k]))
    yield Step("the derivative of sum_j e^(a_j) v / sum_j e^(a_j) in a_k is 0 for every number n "
               "of tokens and every k", slope == 0)
    yield Step("so by the chain rule through the logits no derivative differs from zero, as stated",
               statement.rhs == slope)
