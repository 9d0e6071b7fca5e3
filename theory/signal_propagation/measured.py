"""Evidence for signal_propagation: weights enumerated, Gaussian integrals solved, LayerNorm differentiated, arguments for all depths.

Weights that are +-1 times a common scale have the second moments and the symmetry of Gaussian ones, and the mean squares here depend on
nothing else, so an average over all signs is exact.
"""
from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from ..values import Ball, Case, Exact, Step

if TYPE_CHECKING:
    from flint import arb
    from sympy.core.relational import Relational

SIGNS = (-1, 1)
# Irrational values are compared as integers: floor(10^9 x).
UNITS = 10**9
# A token of width 2 as (u + v sqrt(2))/5 per coordinate: u1, v1, u2, v2.
Token = tuple[int, int, int, int]
FIFTHS = 5


def fraction(value: Any) -> Fraction:
    """A SymPy rational as a Fraction; anything else is refused."""
    if not value.is_Rational:
        raise ValueError(f"{value} is not a rational number; choose a case whose value is rational")
    return Fraction(int(value.p), int(value.q))


def rounded_down(value: arb, units: int = UNITS) -> Exact:
    """A ball rounded down to a multiple of 1/units.

    Raises:
        ArithmeticError: when the ball straddles such a multiple.
    """
    whole = (value * units).floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(f"{value} may be a multiple of 1/{units}; raise the precision or take another case")
    return Exact(Fraction(int(whole), units))


def nine_decimals(value: Any) -> Any:
    """The same rounding in a statement: equality of rationals can be decided, equality of two irrational numbers cannot."""
    from sympy import floor

    return floor(value * UNITS) / UNITS


def half_gaussian_moment(variance: Any) -> Any:
    """The integral of x^2 against a centred Gaussian over x > 0, where ReLU is not zero; a SymPy number or formula."""
    from sympy import Symbol, exp, integrate, oo, pi, sqrt

    x = Symbol("x", real=True)
    return integrate(x**2 * exp(-(x**2) / (2 * variance)) / sqrt(2 * pi * variance), (x, 0, oo))


def relu_squared_norm(case: Case, seed: int) -> Exact:
    """E ||ReLU(X)||^2, one integral per coordinate."""
    from sympy import Rational

    one = fraction(half_gaussian_moment(Rational(str(case.get("input_variance")))))
    return Exact(sum((one for _ in range(case.width)), Fraction(0)))


# --- residual sums ---------------------------------------------------------------------------------------------------------------

def post_ln_sum(case: Case, seed: int) -> Exact:
    """E ||x^{post,5}||^2 / d for one token: the last feed-forward sublayer over all signs of both matrices, layers before at random.

    LayerNorm gives s c with c an integer row that sums to zero and s^2 = d / ||c||^2; all later maps are homogeneous, so s comes out.
    """
    import numpy as np

    rng, d = case.rng(seed), case.width
    # Python's integers: the direction c has more digits with every layer.
    signs = np.array(list(product(SIGNS, repeat=d * d)), dtype=object).reshape(-1, d, d)

    def layer_norm(row: Any) -> Any:
        row = d * row - row.sum()
        return row // max(math.gcd(*row), 1)

    x = layer_norm(np.array([3, 1, -5, 2, 7, -4][:d], dtype=object))
    for index in range(2 * case.layer - 1):
        step = layer_norm(x + (x @ signs[rng.integers(len(signs))] if index % 2 == 0 else
                               np.maximum(x @ signs[rng.integers(len(signs))], 0) @ signs[rng.integers(len(signs))]))
        x = step if step.any() else x
    sums = d * x + np.maximum(x @ signs, 0) @ signs[:, None]
    mean = Fraction(int((sums**2).sum()), len(signs) ** 2 * d**2)
    return Exact(mean * Fraction(d, int((x**2).sum())) / d)


def pre_ln_mean_square(case: Case, seed: int) -> Exact | Ball:
    """E ||x_l||^2 / d: width 2 with all signs of all matrices, or infinite width from orthogonal tokens."""
    if case.start == "orthogonal":
        import flint

        with flint.ctx.workprec(128):
            return Ball.of(wide_pre_ln(case.layer, case.tokens))
    first = (7, 0, -1, 0)
    other = first if case.start == "identical" else (-7, 0, 1, 0)
    states: dict[tuple[Token, ...], int] = {(first, other): 1}
    for _ in range(case.layer):
        states = _feed_forward(_attention(states))
    rational = sum(count * (u1**2 + u2**2 + 2 * (v1**2 + v2**2)) for ((u1, v1, u2, v2), _), count in states.items())
    if sum(count * (u1 * v1 + u2 * v2) for ((u1, v1, u2, v2), _), count in states.items()):
        raise ArithmeticError("the mean square is not rational; the enumeration lost its symmetry")
    return Exact(Fraction(rational, 2 * FIFTHS**2 * sum(states.values())))


def _normed_sign(token: Token) -> int:
    """LayerNorm of a token of width 2 is this sign times (1, -1): the sign of x1 - x2 = (u + v sqrt(2))/5, never zero for our start."""
    u, v = token[0] - token[2], token[1] - token[3]
    if u * v >= 0:
        return 1 if u + v > 0 else -1
    return (1 if u > 0 else -1) if u * u > 2 * v * v else (1 if v > 0 else -1)


def _attention(states: dict[tuple[Token, ...], int]) -> dict[tuple[Token, ...], int]:
    """Uniform attention: all tokens get mu (w11 - w21, w12 - w22), mu the mean of the signs; each difference is +-sqrt(2) or twice 0."""
    after: dict[tuple[Token, ...], int] = defaultdict(int)
    for tokens, count in states.items():
        total = sum(map(_normed_sign, tokens))
        mu = FIFTHS * total // len(tokens)
        if mu * len(tokens) != FIFTHS * total:
            raise ValueError(f"the mean of {len(tokens)} signs is not a multiple of 1/5; take two tokens")
        for a, b in product((-1, 0, 0, 1), repeat=2):
            after[tuple((u1, v1 + mu * a, u2, v2 + mu * b) for u1, v1, u2, v2 in tokens)] += count
    return after


def _feed_forward(states: dict[tuple[Token, ...], int]) -> dict[tuple[Token, ...], int]:
    """Hidden units ReLU(+-(w11 - w21)), which are 0 or sqrt(2), times a second matrix of +-1/sqrt(2)."""
    after: dict[tuple[Token, ...], int] = defaultdict(int)
    for tokens, count in states.items():
        signs = [FIFTHS * _normed_sign(token) for token in tokens]
        for a, b in product((-1, 0, 0, 1), repeat=2):
            hidden = [(max(s * a, 0), max(s * b, 0)) for s in signs]
            for w11, w12, w21, w22 in product(SIGNS, repeat=4):
                after[tuple((u1 + h * w11 + k * w21, v1, u2 + h * w12 + k * w22, v2)
                            for (u1, v1, u2, v2), (h, k) in zip(tokens, hidden, strict=True))] += count
    return after


def relu_kernel_ball(cosine: arb) -> arb:
    """k(c) in balls, with the ball of the cosine cut off at 1, which it may exceed by rounding only."""
    import flint

    c = cosine.min(flint.arb(1))
    return ((1 - c * c).max(flint.arb(0)).sqrt() + c * (flint.arb.pi() - c.acos())) / flint.arb.pi()


def wide_pre_ln(layers: int, tokens: int) -> arb:
    """q_l of the infinitely wide pre-LN net: q is the mean square, p the mean product of two tokens, orthogonal at the start."""
    import flint

    q, p = flint.arb(1), flint.arb(0)
    for _ in range(layers):
        mean = (1 + (tokens - 1) * (p / q)) / tokens
        q, p = q + mean, p + mean
        q, p = q + flint.arb(1) / 2, p + relu_kernel_ball(p / q) / 2
    return q


# --- gradients ---------------------------------------------------------------------------------------------------------------

def layernorm_jacobian(row: list[int]) -> tuple[list[list[Fraction]], Fraction]:
    """(R, s) with J = sqrt(s) R, by dual numbers: y + t dy over the root of its squared norm, differentiated at t = 0."""
    d = len(row)
    mean = Fraction(sum(row), d)
    y = [v - mean for v in row]
    square = sum((v * v for v in y), Fraction(0))
    columns = []
    for k in range(d):
        dy = [Fraction(int(i == k)) - Fraction(1, d) for i in range(d)]
        square_change = sum(2 * a * b for a, b in zip(y, dy, strict=True))
        columns.append([b - a * square_change / (2 * square) for a, b in zip(y, dy, strict=True)])
    return [list(entries) for entries in zip(*columns, strict=True)], d / square


def jacobian_size(case: Case, seed: int, *, spectral: bool) -> Exact:
    """The largest eigenvalue of J J^T, a root of its exact characteristic polynomial, or its trace."""
    from flint import fmpq, fmpq_mat

    R, scale = layernorm_jacobian([int(v) for v in case.row.split()])
    J = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in r] for r in R])
    gram = J * J.transpose()
    if not spectral:
        trace = sum((gram[i, i] for i in range(gram.nrows())), fmpq(0))
        return Exact(scale * Fraction(int(trace.p), int(trace.q)))
    roots = [-factor[0] / factor[1] for factor, _ in gram.charpoly().factor()[1] if factor.degree() == 1]
    if sum(multiplicity for factor, multiplicity in gram.charpoly().factor()[1] if factor.degree() == 1) < gram.nrows():
        raise ArithmeticError("an eigenvalue of J J^T is irrational")
    return Exact(scale * max(Fraction(int(r.p), int(r.q)) for r in roots))


def gaussian_tail(case: Case, seed: int) -> Ball:
    """P(chi^2_d > (1 + eps) d) = Gamma(d/2, (1 + eps) d/2) / Gamma(d/2) in balls."""
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(256):
        return Ball.of(from_fraction((1 + case.rational("relative_excess")) * case.width / 2).gamma_upper(flint.arb(case.width) / 2, 1))


# --- arguments for every width and depth -----------------------------------------------------------------------------------------

def prove_relu_norm(statement: Relational) -> Iterator[Step]:
    """d times one integral."""
    from sympy import simplify

    from ..glossary import symbol

    v, d = symbol("input_variance"), symbol("width")
    yield Step("the right side is d times the integral over one coordinate", simplify(statement.rhs - d * half_gaussian_moment(v)) == 0)


def _branches() -> Iterator[Step]:
    from sympy import Rational, symbols

    n, S1, S2 = symbols("n S1 S2", positive=True)
    yield Step("a hidden unit sees N(0, ||x||^2/d) = N(0, 1), so its mean square after ReLU is 1/2 and the second matrix, of variance "
               "1/d and mean zero, writes a mean square of 1/2 uncorrelated with the stream", half_gaussian_moment(Rational(1)) == Rational(1, 2))
    pairs = n * S2 - 2 * S1**2 + n * S2
    yield Step("uniform attention writes the mean of n vectors of mean square 1: at least 0, and at most 1 since n sum x_i^2 - (sum x_i)^2 "
               "is half the sum of all (x_i - x_j)^2", (pairs / 2 - (n * S2 - S1**2)).expand() == 0)


def prove_post_ln(statement: Relational) -> Iterator[Step]:
    """LayerNorm leaves mean square 1, the feed-forward branch adds a half."""
    from sympy import Rational

    yield from _branches()
    yield Step("1 + 1/2 is the right side", bool(statement.rhs == 1 + half_gaussian_moment(Rational(1))))


def prove_pre_ln(statement: Relational, side: int) -> Iterator[Step]:
    """Induction on layers: a layer adds between 1/2 and 3/2."""
    from sympy import Rational, simplify

    from ..glossary import symbol

    layer, bound = symbol("layer"), statement.rhs
    yield from _branches()
    step = simplify(bound.subs(layer, layer + 1) - bound)
    extreme = Rational(3, 2) if side > 0 else Rational(1, 2)
    yield Step("base: at l = 0 the bound admits mean square 1", bool((side * (bound.subs(layer, 0) - 1)).is_nonnegative))
    yield Step(f"step: from l to l + 1 the bound moves by at {'least' if side > 0 else 'most'} {extreme}",
               bool((side * (step - extreme)).is_nonnegative))
    yield Step("the relation points the same way", statement.rel_op == ("<=" if side > 0 else ">="))


def prove_jacobian(statement: Relational, *, spectral: bool) -> Iterator[Step]:
    """J = sqrt(d)/||y|| (1 - a)(1 - b), a and b projections on y and on the ones, which are orthogonal since y sums to zero."""
    from sympy import Rational, Symbol, diff, simplify, sqrt, symbols

    from ..glossary import symbol

    d, square = symbol("width"), symbol("centred_square")
    t, y, h, p, q = symbols("t y h p q", real=True)
    n = Symbol("n", positive=True)
    quotient = diff((y + t * h) / sqrt(n + 2 * t * p + t**2 * q), t).subs(t, 0)
    yield Step("(y + t h)/||y + t h|| has derivative h/||y|| - y (y.h)/||y||^3 at t = 0",
               simplify(quotient - h / sqrt(n) + y * p / n ** Rational(3, 2)) == 0)
    a, b = symbols("a b")
    both = ((1 - a) * (1 - b)).expand()

    def reduced(expression: Any) -> Any:
        for old, new in ((a**2, a), (b**2, b), (a * b, 0)):
            expression = expression.expand().subs(old, new)
        return expression

    yield Step("(1 - a)(1 - b) is a projection, since a a = a, b b = b, a b = 0", simplify(reduced(reduced(both**2)) - reduced(both)) == 0)
    rank = reduced(both).subs({a: 1, b: 1}) + d - 1
    yield Step("its rank, the trace of 1 - a - b, is d - 2", simplify(rank - (d - 2)) == 0)
    value = d / square if spectral else rank * d / square
    yield Step("the right side is d/||y||^2 times " + ("1, its largest eigenvalue when d >= 3" if spectral else "the rank"),
               simplify(statement.rhs - value) == 0)


def prove_tail(statement: Relational) -> Iterator[Step]:
    """Chernoff at t = eps / (2 (1 + eps)), then one inequality on the whole of 0 < eps <= 8/5."""
    from sympy import Rational, Symbol, exp, expand_log, integrate, log, oo, pi, simplify, solve, sqrt

    from ..exact.enclosure import enclose
    from ..glossary import symbol

    eps, d = symbol("relative_excess"), symbol("width")
    x, s, t = Symbol("x", real=True), Symbol("s", positive=True), eps / (2 * (1 + eps))
    yield Step("E exp(t X^2) = s where 1 - 2 t = 1/s^2", simplify(integrate(exp(-(x**2) / (2 * s**2)), (x, -oo, oo)) / sqrt(2 * pi) - s) == 0)
    rate = (eps - log(1 + eps)) / 2
    yield Step("Markov's inequality at t = eps/(2 (1 + eps)), where 1 - 2 t = 1/(1 + eps), gives exp(-d (eps - log(1 + eps))/2)",
               simplify((1 - 2 * t) * (1 + eps)) == 1 and simplify(-t * (1 + eps) * d + d / 2 * log(1 + eps) + d * rate) == 0)
    gap = simplify(rate + expand_log(log(statement.rhs), force=True) / d)
    free_of_width = d not in gap.free_symbols
    yield Step("the gap between the exponents is d times a function of eps that is 0 at 0", free_of_width and bool(gap.subs(eps, 0) == 0))
    if not free_of_width:
        return
    slope = simplify(gap.diff(eps))
    turning = [root for root in solve(slope, eps) if root.is_positive]
    rises = [bool(enclose(slope.subs(eps, root / 2)) > 0) for root in turning]
    yield Step("it rises from 0 and turns at most once, so on [0, 8/5] it is least at an end",
               len(turning) <= 1 and all(rises) and bool(enclose(slope.subs(eps, Rational(1, 100))) > 0))
    yield Step("it is positive at 8/5", bool(enclose(gap.subs(eps, Rational(8, 5))) > 0))
