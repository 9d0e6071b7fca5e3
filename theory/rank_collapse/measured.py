"""Evidence on rank collapse: networks with prescribed norms, run forward in ball arithmetic, and the machine-checked arguments.

Every measuring function runs the plain forward pass `softmax_attention.attention` on balls and subtracts the token mean at the end, at
whatever precision leaves enough digits; no formula of `rank_collapse` is used.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from ..values import Ball, Case, Exact, Outside, Step
from .residual_norms_measured import sum_step
from .softmax_attention import (
    Head,
    attention,
    ball_composite_norm,
    ball_norms,
    centred,
    largest,
    perturbation,
    row_ranges,
    softmax_rows,
)

if TYPE_CHECKING:
    import numpy as np
    import sympy
    from flint import arb, arb_mat
    from sympy.core.relational import Relational

# The largest range of a row of logit perturbations that the softmax perturbation lemma allows: `rank_collapse.softmax_constant`, truncated.
LARGEST_RANGE = Fraction(1256, 1000)


def arb_of(value: Fraction | int) -> arb:
    """A ball around a rational number; python-flint is loaded on the first call."""
    from ..exact.enclosure import from_fraction

    return from_fraction(value)


def whole_part(value: arb) -> int:
    """floor(value), where the ball leaves no doubt about it."""
    whole = value.floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(f"the whole part of {value} is not decided; raise the precision")
    return int(whole)


def resolved(quantity: Callable[[], arb]) -> arb:
    """The quantity at the first working precision that leaves it 60 correct bits; cancellation costs 3^L times the digits."""
    import flint

    bits = 192
    while bits <= 2**16:
        with flint.ctx.workprec(bits):
            value = quantity()
        if value.is_finite() and value.rel_accuracy_bits() >= 60:
            with flint.ctx.workprec(96):
                return value * 1
        bits *= 2
    raise ArithmeticError(f"{bits // 2} bits do not resolve the measured quantity; the residual is too small for this case")


def instance(case: Case, shrink: int = 1) -> tuple[arb_mat, list[list[Head]]]:
    """Tokens and layers that have exactly the norms the case names, from random integers.

    The tokens are centre + R with R a set closed under x -> -x, so the token mean is also a minimiser of the composite norm over all
    centres, and "residual" has one meaning. Without `bias` the centre and the query bias are zero and every layer keeps that symmetry.
    """
    from flint import arb_mat

    if case.tokens % 2:
        raise ValueError(f"the tokens come in pairs x, -x: their number must be even, got {case.tokens}")
    rng, n, d = case.rng(0), case.tokens, case.width
    half = _integers(rng, n // 2, d)
    R = arb_mat(half + [[-v for v in row] for row in half])
    R = R * (arb_of(case.rational("residual") / shrink) / ball_composite_norm(R))
    beta, value_norm = case.get("beta"), Fraction(case.get("value_norm", 1))
    qk_norm = case.rational("qk_norm") if beta is None else Fraction(beta) / value_norm
    bias = arb_mat(d, 1, [arb_of(int(v) / case.rational("residual")) for v in rng.integers(-1, 2, d)]) if case.get("bias", 0) else None

    def head() -> Head:
        qk, value = arb_mat(_integers(rng, d, d)), arb_mat(_integers(rng, d, d))
        qk, value = qk * (arb_of(qk_norm) / ball_norms(qk)[0]), value * (arb_of(value_norm) / ball_composite_norm(value))
        return Head(qk, value, case.get("qk_width", 1), bias)

    layers = [[head() for _ in range(case.get("heads", 1))] for _ in range(case.get("depth", 1))]
    centre = [int(v) for v in rng.integers(-3, 4, d)] if case.get("bias", 0) else [0] * d
    return R + arb_mat([centre] * n), layers


def _integers(rng: np.random.Generator, rows: int, columns: int) -> list[list[int]]:
    """Random integers of size 1 to 9, none zero, so that no norm vanishes."""
    return [[int(v) for v in row] for row in rng.integers(1, 10, (rows, columns)) * rng.choice([-1, 1], (rows, columns))]


def _forward(case: Case) -> Iterator[tuple[arb_mat, list[Head]]]:
    """The residual before each layer with that layer's heads, then the last residual with no heads."""
    tokens, layers = instance(case)
    for heads in layers:
        yield centred(tokens), heads
        tokens = attention(tokens, heads)
        if "lipschitz" in case:
            tokens = _mlp(tokens, arb_of(case.rational("lipschitz")))
    yield centred(tokens), []


def _mlp(tokens: arb_mat, constant: arb) -> arb_mat:
    """lambda (x + sin x) / 2 of every entry: odd, and lambda-Lipschitz in every norm of absolute values, with nothing to spare at 0."""
    from flint import arb_mat

    return arb_mat([[constant * (entry + entry.sin()) / 2 for entry in row] for row in tokens.tolist()])


def _gammas(residual: arb_mat, head: Head) -> tuple[arb, arb]:
    """||D1||_1 / (2 ||E||_1) and ||D1||_inf / (2 ||E||_1); gamma is the root of their product."""
    E = perturbation(residual, head)
    ranges, double = row_ranges(E), 2 * ball_norms(E)[0]
    return sum(ranges) / double, largest(ranges) / double


@cache
def largest_over_layers(case: Case, what: str) -> Ball:
    """The largest gamma or the largest logit range over all layers and heads of the case's network."""
    def gamma_of(residual: arb_mat, head: Head) -> arb:
        one, infinity = _gammas(residual, head)
        return (one * infinity).sqrt()

    measure = {"gamma": gamma_of, "range": lambda residual, head: largest(row_ranges(perturbation(residual, head)))}[what]
    return Ball.of(resolved(lambda: largest([measure(residual, head) for residual, heads in _forward(case) for head in heads])))


# What claims assume of the network that was drawn. No case can promise it, so the measuring functions look and answer `Outside`.
SMALL_RANGES = "logit ranges at most 1.256 at every layer and head"
GAMMA_BOUNDS = "gamma bounds the computed gamma at every layer and head"
WELL_CONDITIONED = "the condition number of the first-order term is at most `condition`"


def _above(value: Ball, bound: Fraction) -> bool:
    """Whether a rigorously enclosed number of the network lies above a bound.

    Raises:
        ArithmeticError: when the enclosure, which has 60 correct bits, holds the bound, so that neither side is certain.
    """
    if value.low <= bound < value.high:
        raise ArithmeticError(f"the network lies within 60 bits of the bound {bound}; choose a case that does not")
    return value.low > bound


def outside_small_ranges(case: Case) -> Outside | None:
    """The broken assumption when some layer and head of the case's network has a logit range above 1.256."""
    return Outside(SMALL_RANGES) if _above(largest_over_layers(case, "range"), LARGEST_RANGE) else None


def outside_gamma(case: Case) -> Outside | None:
    """The broken assumption when some layer and head of the case's network has a larger gamma than the case states."""
    return Outside(GAMMA_BOUNDS) if _above(largest_over_layers(case, "gamma"), case.rational("gamma")) else None


def softmax_ratio(case: Case, side: int) -> Ball:
    """The maximum over entries of side * (P_ij / Q_ij - 1) / D_ii, where Q = softmax(A - E), P = softmax(A)."""
    from flint import arb_mat

    E, base = softmax_instance(case)

    def ratio() -> arb:
        shift = arb_mat([[arb_of(v) for v in row] for row in E])
        Q = arb_mat([[arb_of(v) for v in row] for row in base])
        P = softmax_rows(Q + shift)
        Q = softmax_rows(Q)
        ranges = row_ranges(shift)
        return largest([side * (P[i, j] / Q[i, j] - 1) / ranges[i] for i in range(P.nrows()) for j in range(P.ncols())])

    return Ball.of(resolved(ratio))


def softmax_instance(case: Case) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Perturbation E with largest row range case.range, and base logits; `two tokens` puts nearly all attention on the other token."""
    D = case.rational("range")
    if case.instance == "two tokens":
        return [[D, Fraction(0)], [-D, Fraction(0)]], [[Fraction(0), Fraction(200)]] * 2
    rng, n = case.rng(0), case.tokens
    raw = [[Fraction(int(v)) for v in row] for row in rng.integers(-1000, 1001, (n, n))]
    widest = max(max(row) - min(row) for row in raw)
    base = [[Fraction(int(v), 100) for v in row] for row in rng.normal(0, 300, (n, n)).round()]
    return [[v * D / widest for v in row] for row in raw], base


def residual_after_one_layer(case: Case, seed: int, *, per_gamma: bool) -> Ball:
    """The residual after one layer by the plain forward pass, divided by gamma of its input where asked."""
    def once() -> arb:
        tokens, layers = instance(case)
        norm = ball_composite_norm(centred(attention(tokens, layers[0])))
        if per_gamma:
            one, infinity = _gammas(centred(tokens), layers[0][0])
            norm = norm / (one * infinity).sqrt()
        return norm

    norm = resolved(once)
    # With a bias the outputs lose the symmetry, and the minimum over centres lies between these two.
    return Ball.of(norm.union(norm / (2 - arb_of(Fraction(2, case.tokens)))) if case.get("bias", 0) else norm)


def last_residual(case: Case, seed: int, *, any_range: bool = False) -> Ball | Outside:
    """The residual after all layers by the plain forward pass; outside where the network has a larger gamma than the case states, or a
    logit range above 1.256, which `any_range` allows."""
    broken = (None if any_range else outside_small_ranges(case)) or outside_gamma(case)
    return broken or Ball.of(resolved(lambda: [ball_composite_norm(R) for R, _ in _forward(case)][-1]))


def scaled_residual(case: Case, seed: int) -> Ball | Outside:
    """r_L / prod_l k_l^(3^(L-l)), k_l = sqrt(sum_h g1_h a_h * sum_h ginf_h b_h) / sqrt(d_qk), a_h = ||W_QK||_1 ||W_V||_1, b_h with inf;
    outside where the network has a logit range above 1.256."""
    broken = outside_small_ranges(case)
    if broken:
        return broken

    def scaled() -> arb:
        product, norm = arb_of(1), arb_of(1)
        for residual, heads in _forward(case):
            if not heads:
                norm = ball_composite_norm(residual)
                break
            columns, rows = arb_of(0), arb_of(0)
            for head in heads:
                (one, infinity), qk, (a, b) = _gammas(residual, head), ball_norms(head.qk)[0], ball_norms(head.value)
                columns, rows = columns + one * qk * a, rows + infinity * qk * b
            product = product**3 * (columns * rows / case.get("qk_width", 1)).sqrt()
        return norm / product

    return Ball.of(resolved(scaled))


def halving_slope(case: Case, seed: int) -> Ball | Outside:
    """log2 of the ratio of the residuals after one layer, for input residuals R and R/2; outside where the network is conditioned worse than
    the case states."""
    if _above(condition_number(case), case.rational("condition")):
        return Outside(WELL_CONDITIONED)

    def slope() -> arb:
        norms = []
        for shrink in (1, 2):
            tokens, layers = instance(case, shrink)
            norms.append(ball_composite_norm(centred(attention(tokens, layers[0]))))
        return (norms[0] / norms[1]).log() / arb_of(2).log()

    return Ball.of(resolved(slope))


@cache
def condition_number(case: Case) -> Ball:
    """The largest of D ||1 b|| / ||F|| in both norms, b = q^T |R W|, and F = (q (E - E q)) R W the layer to first order in E."""
    from flint import arb_mat

    def kappa() -> arb:
        residual, layers = instance(case)
        head, n = layers[0][0], case.tokens
        E, RW = perturbation(residual, head), residual * head.value
        first = arb_mat([[(entry - sum(row) / n) / n for entry in row] for row in E.tolist()]) * RW
        b = [sum(abs(entry) for entry in column) / n for column in RW.transpose().tolist()]
        F1, Finf = ball_norms(first)
        D = largest(row_ranges(E))
        return (D * n * largest(b) / F1).max(D * sum(b) / Finf)

    return Ball.of(resolved(kappa))


def around_slope(statement: Relational, case: Case) -> Ball:
    """The interval around the stated slope that the second-order remainder of the softmax allows.

    softmax(tE) has second t-derivative at most q_j e^D D^2 entrywise, so with M = ||W_QK||_1 r^2 / sqrt(d_qk) >= D/2 each norm of the
    output is ||F|| (1 +- eta), eta = kappa M e^(2M), and at most eta/4 after halving: |slope - 3| <= (-log(1-eta) - log(1-eta/4)) / log 2.
    """
    import flint

    with flint.ctx.workprec(128):
        M = arb_of(case.rational("qk_norm") * case.rational("residual") ** 2) / arb_of(case.get("qk_width", 1)).sqrt()
        eta = arb_of(case.rational("condition")) * M * (2 * M).exp()
        error = Ball.of(-((1 - eta) * (1 - eta / 4)).log() / arb_of(2).log()).high
    slope = Fraction(int(statement.rhs.p), int(statement.rhs.q))
    return Ball(slope - error, slope + error)


def cubic_recurrence(case: Case, seed: int) -> Exact:
    """The recurrence r -> c r^3, iterated in rational numbers."""
    r, c = case.rational("residual"), case.rational("cubic_coefficient")
    for _ in range(case.depth):
        r = c * r**3
    return Exact(r)


def prove_softmax(statement: Relational, side: int) -> Iterator[Step]:
    """P_ij / Q_ij = e^{E_ij} / (mean of e^{E_im} under Q) lies between e^{-D} and e^D; two one-variable inequalities finish."""
    import sympy

    yield _softmax_ratio()
    x, k = sympy.Symbol("x", nonnegative=True), statement.rhs
    yield sum_step("the mean of e^E under Q is at least the smallest e^E", -1)
    yield sum_step("and at most the largest")
    if side > 0:
        yield from _exponential_below_line(k, LARGEST_RANGE)
    else:
        gap = sympy.exp(-x) - 1 + k * x
        yield Step(f"1 - {k} x <= e^-x for x >= 0: the gap is convex, zero and not decreasing at 0",
                   bool(sympy.diff(gap, x, 2).is_positive and gap.subs(x, 0) == 0 and sympy.diff(gap, x).subs(x, 0) >= 0))


def _softmax_ratio() -> Step:
    """With s = sum_m e^{A_m} and s' = sum_m e^{A_m - E_m}: Q_m e^{E_m} = e^{A_m}/s' term by term, so the mean of e^E under Q is s/s'."""
    import sympy

    A, E = (sympy.IndexedBase(name, real=True) for name in "AE")
    j, m = sympy.symbols("j m", integer=True)
    s, s_less = sympy.symbols("s s_less", positive=True)
    term_of_mean = sympy.exp(A[m] - E[m]) / s_less * sympy.exp(E[m])
    ratio = (sympy.exp(A[j]) / s) / (sympy.exp(A[j] - E[j]) / s_less)
    return Step("P_j / Q_j = e^(E_j) / mean of e^E under Q, for any number of tokens: both sides agree term by term",
                sympy.simplify(term_of_mean - sympy.exp(A[m]) / s_less) == 0 and sympy.simplify(ratio - sympy.exp(E[j]) / (s / s_less)) == 0)


def _exponential_below_line(k: Any, end: Fraction) -> Iterator[Step]:
    """e^x <= 1 + kx on [0, end]: the gap is concave, zero at 0, and positive at the end."""
    import sympy

    from ..exact.enclosure import enclose

    x = sympy.Symbol("x", real=True)
    gap = 1 + k * x - sympy.exp(x)
    yield Step(f"1 + {k} x - e^x is concave and zero at 0", bool((-sympy.diff(gap, x, 2)).is_positive and gap.subs(x, 0) == 0))
    at_end = enclose(gap.subs(x, sympy.Rational(end.numerator, end.denominator)))
    yield Step(f"1 + {k} x - e^x > 0 at {float(end)}, so by concavity it is >= 0 on the whole of [0, {float(end)}]", bool(at_end > 0))


def prove_root(statement: Relational) -> Iterator[Step]:
    """The root rounds to the stated decimals, and e^x <= 1 + 2x up to there; the gap is concave and zero at 0, so it has no other root."""
    import sympy

    from ..exact.enclosure import enclose

    interval = rounded_decimal(statement)
    yield from _exponential_below_line(sympy.Integer(2), interval.low)
    x = sympy.Rational(interval.high.numerator, interval.high.denominator)
    yield Step(f"e^x > 1 + 2x at {float(interval.high)}: the only positive root lies between", bool(enclose(sympy.exp(x) - 1 - 2 * x) > 0))


def rounded_decimal(statement: Relational) -> Ball:
    """All numbers that round to the stated eleven decimals."""
    value = Fraction(int(statement.rhs.p), int(statement.rhs.q))
    return Ball(value - Fraction(5, 10**12), value + Fraction(5, 10**12))


def prove_recurrence(statement: Relational) -> Iterator[Step]:
    """Induction on the number of layers, for every c and r_0."""
    import sympy

    from ..glossary import symbol

    L, c, r = symbol("depth"), symbol("cubic_coefficient"), symbol("residual")

    def same(left: sympy.Expr, right: sympy.Expr) -> bool:
        return bool(sympy.simplify(sympy.expand_log(sympy.log(left) - sympy.log(right), force=True)) == 0)

    yield Step("base: at L = 0 the right side is r_0", same(statement.rhs.subs(L, 0), r))
    yield Step("step: c times the cube of the right side at L is the right side at L + 1",
               same(c * statement.rhs**3, statement.rhs.subs(L, L + 1)))
    yield Step("the right side is c^(-1/2) (sqrt(c) r_0)^(3^L), so it tends to 0 exactly when sqrt(c) r_0 < 1",
               same(statement.rhs, (sympy.sqrt(c) * r) ** (3**L) / sympy.sqrt(c)))
