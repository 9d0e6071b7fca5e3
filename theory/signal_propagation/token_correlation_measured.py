"""Evidence for token_correlation: nets of integer tokens over all signs of all weights, dual numbers, Gaussian integrals in balls."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, isqrt, prod
from typing import TYPE_CHECKING, Any

from ..values import Ball, Case, Exact, Step
from .measured import UNITS, relu_kernel_ball, rounded_down

if TYPE_CHECKING:
    from flint import arb
    from sympy.core.relational import Relational

ONE = Fraction(1)


def tokens_of(case: Case) -> list[list[int]]:
    """The tokens that a case writes as "1 0; 0 1", one row each."""
    return [[int(v) for v in row.split()] for row in case.rows.split(";")]


def _same_direction(x: list[int], y: list[int]) -> bool:
    xx, yy, xy = (sum(u * v for u, v in zip(p, q, strict=True)) for p, q in ((x, x), (y, y), (x, y)))
    return xy * xy == xx * yy and xy > 0


def directions_differ(case: Case) -> bool:
    """Whether no token is zero and some two of them point in different directions."""
    tokens = tokens_of(case)
    return all(map(any, tokens)) and not all(_same_direction(tokens[0], y) for y in tokens)


def orthogonal(case: Case) -> bool:
    """Whether all tokens are orthogonal to one another and of one norm."""
    products = [[sum(u * v for u, v in zip(x, y, strict=True)) for y in tokens_of(case)] for x in tokens_of(case)]
    return all(value == (products[0][0] if i == j else 0) for i, row in enumerate(products) for j, value in enumerate(row))


def moments_of_activation(case: Case) -> bool:
    """Whether a case's E phi(sz)^2 and E phi'(sz)^2 are those of its activation: ReLU or x^k."""
    s2 = case.rational("weight_square")
    if case.activation == "relu":
        true = s2 / 2, Fraction(1, 2)
    else:
        k = int(case.activation[2:])
        true = s2**k * gaussian_moment(2 * k), k * k * s2 ** (k - 1) * gaussian_moment(2 * k - 2)
    return (case.rational("activation_moment"), case.rational("derivative_moment")) == true


def rational_root(value: Fraction) -> Fraction:
    """The root of a rational square.

    Raises:
        ValueError: when it is irrational.
    """
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if Fraction(top * top, bottom * bottom) != value:
        raise ValueError(f"{value} is not the square of a rational number; choose a^2/d so that it is")
    return Fraction(top, bottom)


def _signs(width: int) -> Any:
    import numpy as np

    return np.array(list(product((-1, 1), repeat=width * width)), dtype=np.int64).reshape(-1, width, width)


def moments(case: Case) -> tuple[Fraction, Fraction]:
    """(E C_l, E N_l) over all signs of all weights: X + a A X W with A uniform, then X + a_2 X W, layer by layer."""
    import numpy as np

    X = np.array(tokens_of(case), dtype=np.int64)
    (n, d), scale = X.shape, Fraction(1)
    signs, states = _signs(d), X[None]
    a, m = (rational_root(case.rational(name) / d) for name in ("attention_square", "mlp_square"))
    for _ in range(case.layer):
        written = states.sum(1)[:, None] @ signs[:, None, None]
        states = (n * a.denominator * states + a.numerator * written).reshape(-1, n, d)
        scale /= n * a.denominator
        if m:
            written = states @ signs[:, None]
            states = (m.denominator * states + m.numerator * written).reshape(-1, n, d)
            scale /= m.denominator
    if states.size * int(np.abs(states).max()) ** 2 * n >= 2**62:
        raise OverflowError("the integers of this enumeration do not fit in 64 bits; take fewer layers or a smaller width")
    common, total = int((states.sum(1) ** 2).sum()), int((states**2).sum())
    return scale**2 * Fraction(common, len(states)), scale**2 * Fraction(total, len(states))


def common_norm(case: Case, seed: int) -> Exact:
    """E C_l."""
    return Exact(moments(case)[0])


def total_norm(case: Case, seed: int) -> Exact:
    """E N_l."""
    return Exact(moments(case)[1])


def correlation(case: Case, seed: int) -> Exact:
    """(E C_l - E N_l)/((n - 1) E N_l) from the enumeration."""
    common, total = moments(case)
    return Exact((common - total) / ((case.tokens - 1) * total))


def limit_correlation(case: Case, seed: int) -> Exact:
    """The correlation of orthogonal tokens after L = 2^100 layers with a^2 = t^2/L: the two-by-two map of (C, N) squared 100 times."""
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(512):
        n = case.tokens
        square = from_fraction(case.rational("scaled_square")) / flint.arb(2) ** 100
        step = flint.arb_mat([[1 + square, 0], [square / n, 1]])
        for _ in range(100):
            step = step * step
        common, total = (entry[0] for entry in (step * flint.arb_mat([[n], [n]])).tolist())
        return rounded_down((common - total) / ((n - 1) * total))


# --- the ReLU branch -----------------------------------------------------------------------------------------------------------

def kernel_by_integral(cosine: arb) -> arb:
    """2 E ReLU(u) ReLU(v) in polar coordinates: (2/pi) times the integral of cos(f) cos(f - theta) over the arc where both are positive."""
    import flint

    theta, half = cosine.acos(), flint.arb.pi() / 2
    return 2 * flint.acb.integral(lambda f, _: f.cos() * (f - theta).cos(), theta - half, half).real / flint.arb.pi()


def kernel_value(case: Case, seed: int) -> Ball:
    """k(c) by the integral, as a ball."""
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(128):
        return Ball.of(kernel_by_integral(from_fraction(case.rational("cosine")))).widened()


def kernel_digits(case: Case, seed: int) -> Exact:
    """k(c) by the integral, to nine decimals."""
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(128):
        return rounded_down(kernel_by_integral(from_fraction(case.rational("cosine"))))


def relu_branch_growth(case: Case, seed: int) -> Ball:
    """E C'/C of X + a_2 ReLU(X W_1) W_2 with He's W_1: C + a_2^2 sum_ij ||x_i|| ||x_j|| k(c_ij), by the integral, over C."""
    import flint

    from ..exact.enclosure import from_fraction

    X = tokens_of(case)
    with flint.ctx.workprec(128):
        total = flint.arb(0)
        for x, y in product(X, repeat=2):
            xx, yy, xy = (sum(u * v for u, v in zip(p, q, strict=True)) for p, q in ((x, x), (y, y), (x, y)))
            size = flint.arb(xx * yy).sqrt()
            total += size if _same_direction(x, y) else size * kernel_by_integral(flint.arb(xy) / size)
        common = sum(sum(column) ** 2 for column in zip(*X, strict=True))
        return Ball.of(1 + from_fraction(case.rational("mlp_square")) * total / common).widened()


# --- gradients of one attention layer ----------------------------------------------------------------------------------------------

def query_gradient(case: Case, seed: int) -> Exact:
    """E ||dS/dW_Q||^2 at W_Q = 0 over all signs of W_K and W_V, softmax differentiated by dual numbers.

    The three factors 1/sqrt(d), of W_K, of W_V and of the logits, are taken out of the squares.
    """
    X, d = tokens_of(case), case.width
    squares, count = Fraction(0), 0
    for key in map(tuple, _signs(d).tolist()):
        XK = [[sum(x[k] * key[k][b] for k in range(d)) for b in range(d)] for x in X]
        for a, b in product(range(d), repeat=2):  # W_Q = t E_ab, so the logits are t X[i][a] XK[j][b]
            tilt = [_softmax_derivative([x[a] * row[b] for row in XK]) for x in X]
            moved = [[sum((w * x[k] for w, x in zip(weights, X, strict=True)), Fraction(0)) for k in range(d)] for weights in tilt]
            for value in _signs(d).tolist():
                count += a == b == 0
                for row in moved:
                    squares += sum(sum((row[k] * value[k][c] for k in range(d)), Fraction(0)) ** 2 for c in range(d))
    return Exact(squares / count / d**3)


def _softmax_derivative(logits: list[int]) -> list[Fraction]:
    """d/dt of softmax(t z) at t = 0: numerators e^{t z} = 1 + t z over their sum n + t sum z."""
    n = len(logits)
    return [Fraction(z * n - sum(logits), n * n) for z in logits]


def value_gradient(case: Case, seed: int) -> Exact:
    """||dS/dW_V||^2 with uniform attention: S is linear in W_V, so the derivative by an entry is S at that unit matrix."""
    X, d = tokens_of(case), case.width
    n = len(X)
    means = [Fraction(sum(x[k] for x in X), n) for k in range(d)]
    squares = Fraction(0)
    for a, b in product(range(d), repeat=2):
        unit = [[int((i, j) == (a, b)) for j in range(d)] for i in range(d)]
        row = [sum((means[k] * unit[k][c] for k in range(d)), Fraction(0)) for c in range(d)]
        squares += n * sum(v * v for v in row)
    return Exact(squares)


# --- maps of q and p -----------------------------------------------------------------------------------------------------------

def first_correlation(case: Case, seed: int) -> Exact:
    """p/q after the first layer of the reference run (q = 1, p = 1/5, beta = 1/10, alpha = 1, sigma_w^2 = 1/5, sigma_b = 1/50), four decimals."""
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(128):
        q, p = flint.arb(1), from_fraction(Fraction(1, 5))
        w2, b2 = from_fraction(Fraction(1, 5)), from_fraction(Fraction(1, 2500))
        if not from_fraction(Fraction(1, 10)) < (2 / (q * (q - p))).sqrt():
            raise ArithmeticError("the reference run lies below the condensation point")
        common = flint.arb(0) if case.gain_controlled else p / q  # below it attention averages: q_att = p_att = p
        q, p = q + common, p + common
        if not case.pre_norm:
            q, p = flint.arb(1), p / q
        c = p / q
        q1, p1 = w2 + b2, w2 * c + b2
        q, p = q + w2 * q1 / 2 + b2, p + w2 * q1 * relu_kernel_ball(p1 / q1) / 2 + b2
        return rounded_down(p / q + from_fraction(Fraction(1, 2 * 10**4)), 10**4)


def participation(case: Case, seed: int) -> Exact:
    """E sum P_j^2 for the points of a Poisson process of intensity m x^(-m-1), m = beta_c/beta, over their sum: Gamma(2-m)/Gamma(1-m).

    By E sum x^2/S^2 = integral of t E[sum x^2 e^(-tS)] dt = integral of m Gamma(2-m) t^(m-1) exp(-Gamma(1-m) t^m) dt.
    """
    import flint

    from ..exact.enclosure import from_fraction

    with flint.ctx.workprec(128):
        q, p, beta = flint.arb(1), from_fraction(case.rational("overlap")), from_fraction(case.rational("sharpness"))
        m = (2 / (q * (q - p))).sqrt() / beta
        if not m < 1:
            return Exact(0)
        return rounded_down((2 - m).gamma() / (1 - m).gamma())


def attention_contraction(case: Case, seed: int) -> Exact:
    """(1 - p'/q')/(1 - p/q) at q = 1, p = 1 - e for e -> 0: values and e-derivatives through uniform attention with its skip."""
    a2, n = case.rational("attention_square"), case.tokens
    q, dq, p, dp = ONE, Fraction(0), ONE, -ONE
    mean, dmean = (q + (n - 1) * p) / n, (dq + (n - 1) * dp) / n
    q, dq, p, dp = (1 - a2) * q + a2 * mean, (1 - a2) * dq + a2 * dmean, (1 - a2) * p + a2 * mean, (1 - a2) * dp + a2 * dmean
    return Exact(-(dp * q - p * dq) / q**2)


def mlp_contraction(case: Case, seed: int) -> Exact:
    """The same for the MLP block, from the value and slope at c = 1 of its kernel K(c) = E phi(s u) phi(s v)."""
    a2, s2 = case.rational("mlp_square"), case.rational("weight_square")
    value, slope = _relu_kernel_at_one(s2) if case.activation == "relu" else _power_kernel_at_one(int(case.activation[2:]), s2)
    q, p_slope = (1 - a2) + a2 * value, (1 - a2) + a2 * slope
    return Exact(p_slope / q)


def _power_kernel_at_one(k: int, s2: Fraction) -> tuple[Fraction, Fraction]:
    """phi(x) = x^k: with u = c v + sqrt(1 - c^2) w, E u^k v^k = sum_j binom(k, 2j) c^(k-2j) (1-c^2)^j E w^2j E v^(2k-2j)."""
    from sympy import Poly, Symbol

    c = Symbol("c")
    terms = [comb(k, 2 * j) * c ** (k - 2 * j) * (1 - c**2) ** j * gaussian_moment(2 * j) * gaussian_moment(2 * k - 2 * j)
             for j in range(k // 2 + 1)]
    kernel = Poly(sum(terms), c)
    return s2**k * int(kernel.eval(1)), s2**k * int(kernel.diff(c).eval(1))


def _relu_kernel_at_one(s2: Fraction) -> tuple[Fraction, Fraction]:
    from sympy import Symbol, acos, limit, pi, simplify, sqrt

    c = Symbol("c", real=True)
    kernel = (sqrt(1 - c**2) + c * (pi - acos(c))) / pi
    return s2 / 2 * int(kernel.subs(c, 1)), s2 / 2 * int(limit(simplify(kernel.diff(c)), c, 1, "-"))


def gaussian_moment(order: int) -> int:
    """E z^order for a standard Gaussian: (order - 1)!! for even orders, 0 for odd ones.

    >>> [gaussian_moment(k) for k in range(7)]
    [1, 0, 1, 0, 3, 0, 15]
    """
    return 0 if order % 2 else prod(range(1, order, 2))


# --- arguments for every width and depth -----------------------------------------------------------------------------------------

def _solved() -> tuple[Any, Any]:
    """(E C_l, E N_l) in closed form."""
    from ..glossary import symbol

    a, m, layer, C, N = (symbol(x) for x in ("attention_square", "mlp_square", "layer", "common_start", "total_start"))
    return ((1 + a) * (1 + m)) ** layer * C, (1 + m) ** layer * (N + C / symbol("tokens") * ((1 + a) ** layer - 1))


def prove_moments(statement: Relational, *, common: bool) -> Iterator[Step]:
    """Induction on layers for the pair (E C, E N)."""
    from sympy import Symbol, expand_power_base, expand_power_exp, simplify

    from ..glossary import symbol

    a, m, layer, C, N, n = (symbol(x) for x in ("attention_square", "mlp_square", "layer", "common_start", "total_start", "tokens"))
    d, y = Symbol("d", positive=True), Symbol("y", positive=True)
    yield Step("E ||y W||^2 = ||y||^2 for independent entries of variance 1/d, and W has mean zero: d coordinates of ||y||^2/d each",
               simplify(d * (y / d) - y) == 0)
    pair = _solved()
    right, total = (statement.rhs, pair[1]) if common else (pair[0], statement.rhs)
    yield Step("base: at l = 0 the pair is (C_0, N_0)", right.subs(layer, 0) == C and simplify(total.subs(layer, 0) - N) == 0)
    moved = ((1 + m) * (1 + a) * right, (1 + m) * (total + a * right / n))
    gaps = [expand_power_exp(expand_power_base(after.subs(layer, layer + 1) - before)) for after, before in zip((right, total), moved, strict=True)]
    powers = {(1 + a) ** layer: Symbol("P"), (1 + m) ** layer: Symbol("Q")}
    yield Step("step: attention adds a^2 C to C and a^2 C/n to N, the MLP multiplies both by 1 + a_2^2",
               all(gap.subs(powers).expand() == 0 for gap in gaps))


def prove_correlation(statement: Relational) -> Iterator[Step]:
    """The solved pair at C_0 = N_0, since orthogonal tokens have no common part, without an MLP."""
    from sympy import Symbol, limit, oo, simplify

    from ..glossary import symbol

    n, C, N, rho = (symbol(x) for x in ("tokens", "common_start", "total_start", "correlation"))
    common, total = (e.subs({symbol("mlp_square"): 0, C: N}) for e in _solved())
    yield from prove_moments(type(statement)(rho, _solved()[0]), common=True)
    yield Step("(C - N)/((n - 1) N) is the right side", simplify((common - total) / ((n - 1) * total) - statement.rhs) == 0)
    power = Symbol("P", positive=True)
    grown = statement.rhs.subs((1 + symbol("attention_square")) ** symbol("layer"), power)
    yield Step("it tends to 1 as the power (1 + a^2)^l grows", symbol("layer") not in grown.free_symbols and limit(grown, power, oo) == 1)


def prove_limit(statement: Relational) -> Iterator[Step]:
    """(1 + t^2/L)^L tends to e^(t^2), in the exact correlation."""
    from sympy import Symbol, exp, floor, limit, oo, simplify

    from ..glossary import symbol

    L, t2, n, power = Symbol("L", positive=True), symbol("scaled_square"), symbol("tokens"), Symbol("P", positive=True)
    scaled = statement.rhs * UNITS
    yield Step("the statement rounds a closed form down to nine decimals", isinstance(scaled, floor))
    yield Step("(1 + t^2/L)^L tends to e^(t^2)", limit((1 + t2 / L) ** L, L, oo) == exp(t2))
    if isinstance(scaled, floor):
        exact = (power - 1) / (n - 1 + power)
        yield Step("the closed form is the correlation (P - 1)/(n - 1 + P) at P = e^(t^2)",
                   simplify(exact.subs(power, exp(t2)) - scaled.args[0] / UNITS) == 0)


def _kernel() -> tuple[Any, Any]:
    from sympy import acos, pi, sqrt

    from ..glossary import symbol

    c = symbol("cosine")
    return c, (sqrt(1 - c**2) + c * (pi - acos(c))) / pi


def prove_kernel(statement: Relational) -> Iterator[Step]:
    """The polar integral in closed form."""
    from sympy import Symbol, acos, cos, exp, floor, integrate, oo, pi, simplify

    theta, f, r = Symbol("theta", positive=True), Symbol("f", real=True), Symbol("r", positive=True)
    c, _ = _kernel()
    arc = 2 * integrate(cos(f) * cos(f - theta), (f, theta - pi / 2, pi / 2)) / pi
    scaled = statement.rhs * UNITS
    yield Step("the radial integral of r^3 exp(-r^2/2) is 2", integrate(r**3 * exp(-(r**2) / 2), (r, 0, oo)) == 2)
    yield Step("the statement rounds a closed form down to nine decimals", isinstance(scaled, floor))
    if isinstance(scaled, floor):
        yield Step("the closed form is (2/pi) times the integral over the arc at c = cos(theta)",
                   simplify(arc.subs(theta, acos(c)) - scaled.args[0] / UNITS) == 0)


def prove_kernel_above(statement: Relational) -> Iterator[Step]:
    """k - c falls strictly on [-1, 1] and is 0 at the end, so it is positive before: the whole interval, no sampling."""
    from sympy import Gt, acos, pi, simplify

    c, kernel = _kernel()
    gap = kernel - statement.rhs
    yield Step("k(1) - 1 = 0", gap.subs(c, 1) == 0)
    yield Step("the derivative of k - c is -arccos(c)/pi, negative for every c < 1", simplify(gap.diff(c) + acos(c) / pi) == 0)
    yield Step("the relation is strict and points upwards", isinstance(statement, Gt))


def prove_mlp_contraction(statement: Relational) -> Iterator[Step]:
    """For every phi with a Hermite series sum_k h_k He_k: K(c) = sum_k h_k^2 k! c^k (s = 1), so the slope at 1 is E phi'^2."""
    from sympy import Symbol, factorial, gamma, gammasimp, simplify

    from ..glossary import symbol

    k, c = Symbol("k", integer=True, positive=True), Symbol("c", positive=True)
    h, a2, s2, M, D = Symbol("h"), *(symbol(x) for x in ("mlp_square", "weight_square", "activation_moment", "derivative_moment"))
    yield Step("a term h He_k gives the kernel h^2 k! c^k, of slope h^2 k k! at c = 1; its derivative h k He_(k-1) has mean square h^2 k^2 (k-1)!",
               gammasimp(((h**2 * factorial(k) * c**k).diff(c).subs(c, 1) - h**2 * k**2 * factorial(k - 1)).rewrite(gamma)) == 0)
    K, e = Symbol("K"), Symbol("e")
    q, p = (1 - a2) + a2 * M, (1 - a2) * (1 - e) + a2 * (M - e * K)
    ratio = ((1 - p / q) / e).simplify()
    yield Step("with K'(1) = s^2 E phi'(sz)^2 the factor of 1 - p/q is the right side", simplify(ratio.subs(K, s2 * D) - statement.rhs) == 0)
