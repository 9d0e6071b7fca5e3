"""Evidence for depth_scaling: DeepNorm's constants solved from the equations they must satisfy, exponents read off exact small nets."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from ..values import Case, Exact, Step
from .measured import UNITS

if TYPE_CHECKING:
    from sympy.core.relational import Relational


def _solution(exceeds: Callable[[Fraction], bool]) -> Exact:
    """The least x > 0 at which a quantity that falls (or rises) with x crosses its target, rounded down to nine decimals.

    `exceeds(x)` says, in rational numbers, whether x lies beyond the solution.
    """
    low, high = 0, 1
    while not exceeds(Fraction(high, UNITS)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exceeds(Fraction(middle, UNITS)) else (middle, high)
    return Exact(Fraction(low, UNITS))


def sublayer_count(case: Case) -> int:
    """Residual sublayers of the stack: two per layer, three in a decoder with cross-attention."""
    return 3 * case.decoder_depth if case.decoder else 2 * case.depth


def deepnorm_scale(case: Case, seed: int, *, residual: bool) -> Exact:
    """Solve n (beta^2 + beta^2)/alpha^2 = 1 over the n sublayers, together with 2 alpha^2 beta^2 = 1."""
    n = sublayer_count(case)

    def update_sum(x: Fraction) -> Fraction:
        alpha2 = x * x if residual else 1 / (2 * x * x)
        beta2 = 1 / (2 * x * x) if residual else x * x
        return sum(((beta2 + beta2) / alpha2 for _ in range(n)), Fraction(0))

    return _solution(lambda x: update_sum(x) < 1 if residual else update_sum(x) > 1)


def _cross_fourth(decoder_depth: int) -> Fraction:
    """The fourth power of the cross term M v_d w_d/alpha_d: v_d^4 = w_d^4 = 1/(12 M), alpha_d^4 = 3 M."""
    return Fraction(decoder_depth**4, (12 * decoder_depth) ** 2 * 3 * decoder_depth)


def encoder_scale(case: Case, seed: int, *, residual: bool) -> Exact:
    """Solve (M v_d w_d/alpha_d) 2N (2 beta^2)/alpha^2 = 1 with 2 alpha^2 beta^2 = 1, in fourth powers to stay rational."""
    cross = _cross_fourth(case.decoder_depth)

    def update_fourth(x: Fraction) -> Fraction:
        square = x * x
        ratio = 1 / (2 * square * square) if residual else 2 * square * square  # beta^2/alpha^2
        return cross * (4 * case.depth * ratio) ** 4

    return _solution(lambda x: update_fourth(x) < 1 if residual else update_fourth(x) > 1)


def decoder_weight_scales(case: Case, seed: int) -> Exact:
    """v_d^2 + w_d^2 with v_d = w_d = (12 M)^(-1/4): twice the root of 1/(12 M), where that is rational."""
    root = isqrt(3 * case.decoder_depth)
    if root * root != 3 * case.decoder_depth:
        raise ValueError(f"3 M must be a square number for a rational value, got M={case.decoder_depth}; try 3, 12 or 27")
    return Exact(2 * Fraction(1, 2 * root))


# --- amplification ---------------------------------------------------------------------------------------------------------------

def _shares(variances: Iterable[Fraction], omega_squared: Callable[[int, Fraction], Fraction], normalised: bool) -> Iterator[Fraction]:
    """The share of branch i in b_i = omega x + f_i; the stream starts with variance 1 and is reset to 1 where it is normalised."""
    stream, written = Fraction(1), Fraction(1)
    for i, branch in enumerate(variances, 1):
        total = stream * omega_squared(i, written) + branch
        yield branch / total
        stream, written = Fraction(1) if normalised else total, written + branch


def amplification(case: Case, seed: int, *, post: bool) -> Exact:
    """The sum of the shares in a post-LN or pre-LN net of unit branches."""
    return Exact(sum(_shares([Fraction(1)] * case.sublayers, lambda i, written: Fraction(1), post), Fraction(0)))


def admin_share(case: Case, seed: int) -> Exact:
    """The last share of ADMIN: profile with omega = 1, then omega_i^2 = the variance of the stream's start and of all branches before i."""
    profiled = [Fraction(1) for _ in range(case.sublayers)]  # a branch sees a normalised input, so it writes variance 1
    return Exact(list(_shares(profiled, lambda i, written: written, True))[-1])


# --- exponents in depth and width --------------------------------------------------------------------------------------------------

def _power(base: int, exponent: Fraction) -> Fraction:
    """base^exponent for a base that is a power of 16 and an exponent in quarters."""
    fourth = isqrt(isqrt(base))
    if fourth**4 != base or (4 * exponent).denominator != 1:
        raise ValueError(f"{base}^({exponent}) is not rational; use powers of 16 and exponents in quarters")
    return Fraction(fourth) ** int(4 * exponent)


def _slope(quantity: Callable[[int], Fraction]) -> Fraction:
    """The exponent e of a quantity that goes as n^e, from n = 16 to n = 256, as an exact multiple of 1/4."""
    ratio, exponent = quantity(256) / quantity(16), 0
    while ratio >= 2:
        ratio, exponent = ratio / 2, exponent + 1
    while ratio < 1:
        ratio, exponent = ratio * 2, exponent - 1
    if ratio != 1:
        raise ArithmeticError("the quantity is not a power law on this grid")
    return Fraction(exponent, 4)


def depth_exponent(case: Case, seed: int, *, what: str) -> Exact:
    """Exponents of the net h <- h + L^(-alpha) w_l h with L scalar branches, at w = 0.

    `what` is "variance" (of all writes with unit weights), "gradient" (of one weight), or the optimiser ("adam", "sgd") whose learning
    rate must undo the growth of the output's first-order change when every weight takes one step.
    """
    alpha = case.rational("depth_power")

    def change(depth: int) -> Fraction:
        m = _power(depth, -alpha)
        if what == "variance":
            return sum((m * m for _ in range(depth)), Fraction(0))
        gradients = _gradients([Fraction(0)] * depth, m)
        if what == "gradient":
            return gradients[0]
        return sum((g * (g if what == "sgd" else _sign(g)) for g in gradients), Fraction(0))

    slope = _slope(change)
    return Exact(-slope if what in ("adam", "sgd") else slope)


def _gradients(weights: list[Fraction], multiplier: Fraction) -> list[Fraction]:
    """dh_L/dw_l for all branches: values forward, then the chain rule backward."""
    values = [Fraction(1)]
    for w in weights:
        values.append(values[-1] * (1 + multiplier * w))
    after, found = Fraction(1), []
    for w, value in zip(reversed(weights), reversed(values[:-1]), strict=True):
        found.append(after * multiplier * value)
        after *= 1 + multiplier * w
    return found[::-1]


def second_order(case: Case, seed: int) -> Exact:
    """The branch L^(-alpha) u w h, u = w = 1, after a step eta = L^(alpha-1) in both weights: eta^2 part over eta part."""
    alpha = case.rational("depth_power")

    def ratio(depth: int) -> Fraction:
        eta, m = _power(depth, alpha - 1), _power(depth, -alpha)
        full, at_start = m * (1 + eta) * (1 + eta), m
        half = m * (1 + eta / 2) * (1 + eta / 2)
        quadratic = 2 * (full - 2 * half + at_start)  # from the second difference of a quadratic
        return quadratic / (full - at_start - quadratic)

    return Exact(_slope(ratio))


def width_exponent(case: Case, seed: int) -> Exact:
    """The change of an activation by one step in x -> u -> W -> v of width n, at muP's initial sizes and learning rates.

    W is a Hadamard matrix over sqrt(n), so W u is spread evenly for the sign vector u(i, j) = (-1)^(i.j), as for random weights.
    """
    def change(n: int) -> Fraction:
        half = (n.bit_length() - 1) // 2
        u = [Fraction((-1) ** ((i >> half) & i & (2**half - 1)).bit_count()) for i in range(n)]
        rows = [[(-1) ** (i & j).bit_count() for j in range(n)] for i in range(n)]
        h1 = u
        h2 = [Fraction(sum(s * int(x) for s, x in zip(row, h1, strict=True)), isqrt(n)) for row in rows]
        v = [x / n for x in u]
        rate = _mup_rate(case, n)
        if case.matrix == "input":  # the gradient of u is W^T v times the input, which is 1
            gradient = [sum((s * x for s, x in zip(row, v, strict=True)), Fraction(0)) / isqrt(n) for row in rows]
            step = [(g if case.optimiser == "sgd" else _sign(g)) * rate for g in gradient]
            return _mean_square(step)
        if case.matrix == "hidden":  # the gradient of W is v h1^T
            inner = sum((x * x for x in h1), Fraction(0)) if case.optimiser == "sgd" else sum((abs(x) for x in h1), Fraction(0))
            return _mean_square([(x if case.optimiser == "sgd" else _sign(x)) * inner * rate for x in v])
        return (rate * sum((x * x if case.optimiser == "sgd" else abs(x) for x in h2), Fraction(0))) ** 2

    return Exact(_slope(change) / 2)


def _mup_rate(case: Case, n: int) -> Fraction:
    """muP's learning rates (Table 3): Adam 1, 1/n, 1/n and SGD n, 1, 1/n for input, hidden and output weights; or one rate for all."""
    if case.get("rates") == "standard":
        return Fraction(1)
    one, inverse = Fraction(1), Fraction(1, n)
    table = {"adam": (one, inverse, inverse), "sgd": (Fraction(n), one, inverse)}
    return table[case.optimiser][("input", "hidden", "output").index(case.matrix)]


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def _mean_square(values: list[Fraction]) -> Fraction:
    return sum((x * x for x in values), Fraction(0)) / len(values)


# --- arguments for every depth -----------------------------------------------------------------------------------------------------

def _inner(statement: Relational) -> Any:
    """x of a right side floor(10^9 x)/10^9, or None."""
    from sympy import floor

    scaled = statement.rhs * UNITS
    return scaled.args[0] / UNITS if isinstance(scaled, floor) else None


def prove_scale(statement: Relational, *, residual: bool, sublayers: Any, cross: Any = 1) -> Iterator[Step]:
    """Substitute the closed form into both equations; each has one solution since its left side is monotone."""
    from sympy import Symbol, simplify

    x = Symbol("x", positive=True)
    ratio = 1 / (2 * x**4) if residual else 2 * x**4
    update = cross * sublayers * 2 * ratio
    yield Step("with 2 alpha^2 beta^2 = 1 the update sum is monotone, so one scale makes it 1",
               bool(simplify(update.diff(x) * x).is_negative if residual else simplify(update.diff(x) * x).is_positive))
    closed = _inner(statement)
    yield Step("the statement rounds a closed form down to nine decimals", closed is not None)
    if closed is not None:
        yield Step("the closed form makes the update sum 1", simplify(update.subs(x, closed) - 1) == 0)


def cross_term(decoder_depth: Any) -> Any:
    """M v_d w_d/alpha_d in SymPy."""
    from sympy import Rational

    m = decoder_depth
    return m * (12 * m) ** Rational(-1, 2) / (3 * m) ** Rational(1, 4)


def prove_harmonic(statement: Relational, side: int) -> Iterator[Step]:
    """Induction on n: the bound grows by more (or less) than the next share 1/(n + 2), on the whole of n >= 0."""
    from sympy import Symbol, expand_log, limit, oo, simplify

    from ..exact.enclosure import enclose
    from ..glossary import symbol

    n, x = symbol("sublayers"), Symbol("x", positive=True)
    bound = statement.rhs.subs(n, x)
    gap = side * (bound.subs(x, x + 1) - bound - 1 / (x + 2))
    yield Step("base: at one sublayer the bound admits the share 1/2", bool(enclose(side * (2 * bound.subs(x, 1) - 1)) > 0))
    slope = simplify(gap.diff(x))
    yield Step("the gain of the bound minus the next share falls with n", bool(simplify(-slope).together().is_positive))
    combined = simplify(expand_log(gap, force=True))
    yield Step("and tends to 0, so it is positive for every n", limit(combined, x, oo) == 0)


def prove_exponent(statement: Relational, value: Any, says: str) -> Iterator[Step]:
    """The exponent of a product of powers of L is the sum of their exponents."""
    from sympy import Symbol, expand_log, log, simplify

    L = Symbol("L", positive=True)
    exponent = simplify(expand_log(log(value(L)), force=True) / log(L))
    yield Step(says, simplify(exponent - statement.rhs) == 0)
