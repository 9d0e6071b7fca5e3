"""Evidence for initialisation: signs of all weights and all patterns of dropped layers enumerated, printed rules run, exact throughout."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from ..values import Case, Exact, Step

if TYPE_CHECKING:
    from sympy.core.relational import Relational

SIGNS = (-1, 1)


def layer_variance(case: Case, seed: int, *, relu: bool) -> Exact:
    """Mean square of a coordinate after layer l over all signs of all weights, relative to layer 1, for a net of equal widths."""
    after: list[Fraction] = []
    states: dict[tuple[int, ...], int] = {tuple(range(1, case.width + 1)): 1}
    for _ in range(case.layer):
        following: dict[tuple[int, ...], int] = defaultdict(int)
        for state, count in states.items():
            inputs = [max(v, 0) for v in state] if relu and after else state
            outputs = [sum(s * v for s, v in zip(signs, inputs, strict=True)) for signs in product(SIGNS, repeat=case.width)]
            for row in product(outputs, repeat=case.width):
                following[row] += count
        states = following
        after.append(Fraction(sum(c * sum(v * v for v in x) for x, c in states.items()), case.width * sum(states.values())))
    return Exact(after[-1] / after[0] * (case.rational("layer_growth") / case.width) ** (case.layer - 1))


def grown_variance(case: Case, seed: int) -> Exact:
    """1 after layer 1, times the growth for every further layer."""
    value = Fraction(1)
    for _ in range(case.layer - 1):
        value *= case.rational("layer_growth")
    return Exact(value)


def uniform_variance(case: Case, seed: int) -> Exact:
    """The integral of x^2 against the uniform density on [-b, b], b = sqrt(6/(n_in + n_out))."""
    from sympy import Rational, Symbol, integrate, sqrt

    x, b = Symbol("x", real=True), sqrt(Rational(6, case.fan_in + case.fan_out))
    value = integrate(x**2 / (2 * b), (x, -b, b)).simplify()
    return Exact(Fraction(int(value.p), int(value.q)))


def xavier_gain(case: Case, seed: int) -> Exact:
    """Mean square of an output coordinate over that of an input coordinate, over all signs of weights of Xavier's variance."""
    x = range(1, case.fan_in + 1)
    outputs = [sum(s * v for s, v in zip(signs, x, strict=True)) for signs in product(SIGNS, repeat=case.fan_in)]
    squares = [sum(v * v for v in row) for row in product(outputs, repeat=case.fan_out)]
    output = Fraction(sum(squares), len(squares) * case.fan_out) * Fraction(2, case.fan_in + case.fan_out)
    return Exact(output / Fraction(sum(v * v for v in x), case.fan_in))


def stream_variance(case: Case, seed: int, *, scaled: bool) -> Exact:
    """E x^2 of x = 1 + w W, W a walk of 2L steps +-f(W) with f = 1 or -1 by the state: exact distribution of W."""
    walk: dict[int, Fraction] = {0: Fraction(1)}
    for _ in range(2 * case.depth):
        following: dict[int, Fraction] = defaultdict(Fraction)
        for place, weight in walk.items():
            branch = 1 if place >= 0 else -1
            for sign in SIGNS:
                following[place + sign * branch] += weight / 2
        walk = following
    square = case.rational("branch_variance") / (2 * case.depth if scaled else 1)
    if sum(p * w for p, w in walk.items()):
        raise ArithmeticError("the branches correlate with the stream")
    return Exact(1 + square * sum(p * p * w for p, w in walk.items()))


def decay(case: Case, seed: int) -> Exact:
    """(9/10)^100, all its digits."""
    return Exact(Fraction(9, 10) ** case.depth)


def shrinking_product(case: Case, seed: int) -> Exact:
    """The product of the factors of a chain, each below 1."""
    value = Fraction(1)
    for i in range(1, case.depth + 1):
        value *= 1 - Fraction(1, (i + 1) ** 2) if case.factors == "1 - 1/(i+1)^2" else Fraction(case.factors)
    return Exact(value)


def residual_gradient(case: Case, seed: int) -> Exact:
    """The derivative of x -> x + f_i(x), f_i(x) = slope x, through all layers, by a finite difference of linear maps."""
    def net(x: Fraction) -> Fraction:
        for _ in range(case.depth):
            x = x + case.rational("branch_slope") * x
        return x

    return Exact(net(Fraction(1)) - net(Fraction(0)))


def rate_ratio(case: Case, seed: int) -> Exact:
    """The printed function base * 0.9 ** (n_layers - layer_idx) at two neighbouring layers."""
    def rate(layer: int) -> Fraction:
        return Fraction(3, 10**4) * Fraction(9, 10) ** (case.depth - layer)

    return Exact(rate(case.layer + 1) / rate(case.layer))


def kept_layers(case: Case, seed: int) -> Exact:
    """The mean number of layers kept: the exact distribution of the count, layer by layer, p_l falling linearly to p_L."""
    counts: dict[int, Fraction] = {0: Fraction(1)}
    for layer in range(1, case.depth + 1):
        keep = 1 - Fraction(layer, case.depth) * (1 - case.rational("survival"))
        following: dict[int, Fraction] = defaultdict(Fraction)
        for kept, weight in counts.items():
            following[kept + 1] += weight * keep
            following[kept] += weight * (1 - keep)
        counts = following
    return Exact(sum((kept * weight for kept, weight in counts.items()), Fraction(0)))


def mean_of_dropped(case: Case, seed: int, *, falling: bool) -> Exact:
    """The mean of x_L/x_0 over all 2^L patterns of kept layers, each kept layer mapping x to x + a x."""
    a, last = case.rational("branch_slope"), case.rational("survival")
    keeps = [1 - Fraction(layer, case.depth) * (1 - last) if falling else last for layer in range(1, case.depth + 1)]
    total = Fraction(0)
    for pattern in product((False, True), repeat=case.depth):
        weight, x = Fraction(1), Fraction(1)
        for kept, keep in zip(pattern, keeps, strict=True):
            weight *= keep if kept else 1 - keep
            x += a * x if kept else 0
        total += weight * x
    return Exact(total)


# --- arguments for every width and depth -----------------------------------------------------------------------------------------

def _induction(statement: Relational, name: str, base: tuple[int, Any], step: Callable[[Any], Any], says: str) -> Iterator[Step]:
    """The right side has the base value, and `step` takes it from n to n + 1."""
    from sympy import simplify

    from ..glossary import symbol

    n, start = symbol(name), base[0]
    yield Step(f"base: at {name} = {start} the right side is {base[1]}", simplify(statement.rhs.subs(n, start) - base[1]) == 0)
    yield Step("step: " + says, simplify(statement.rhs.subs(n, n + 1) - step(statement.rhs)) == 0)


def prove_growth(statement: Relational, *, relu: bool) -> Iterator[Step]:
    """Induction on layers."""
    from sympy import Integer, Max, Symbol

    from ..glossary import symbol

    g = symbol("layer_growth")
    if relu:
        values = (Symbol("z", positive=True), Symbol("z", negative=True), Integer(0))
        yield Step("ReLU(z)^2 + ReLU(-z)^2 = z^2, so a symmetric input loses half its mean square",
                   all(Max(z, 0) ** 2 + Max(-z, 0) ** 2 == z**2 for z in values))
    factor = g / 2 if relu else g
    yield from _induction(statement, "layer", (1, 1), lambda v: factor * v,
                          "an output is a sum of n_in uncorrelated terms of variance g/n_in times the mean square that comes in")


def prove_uniform(statement: Relational) -> Iterator[Step]:
    """One integral with a symbolic bound."""
    from sympy import Symbol, integrate, simplify, sqrt

    from ..glossary import symbol

    x, b = Symbol("x", real=True), Symbol("b", positive=True)
    variance = integrate(x**2 / (2 * b), (x, -b, b))
    yield Step("uniform on [-b, b] with b^2 = 6/(n_in + n_out) has the stated variance",
               simplify(variance.subs(b, sqrt(6 / (symbol("fan_in") + symbol("fan_out")))) - statement.rhs) == 0)


def prove_stream(statement: Relational, *, scaled: bool) -> Iterator[Step]:
    """2L branch writes with mean zero given the stream, so their variances add."""
    from sympy import Symbol, expand, simplify

    from ..glossary import symbol

    x, f, L, s2 = Symbol("x", real=True), Symbol("f", real=True), symbol("depth"), symbol("branch_variance")
    average = (expand((x + f) ** 2) + expand((x - f) ** 2)) / 2
    yield Step("a write f with a random sign adds f^2 to the mean of x^2", simplify(average - x**2 - f**2) == 0)
    write = s2 / (2 * L) if scaled else s2
    yield Step("2L writes add 2L times one variance to the initial 1", simplify(statement.rhs - (1 + 2 * L * write)) == 0)


def prove_expected_depth(statement: Relational) -> Iterator[Step]:
    """The sum of the keep probabilities in closed form."""
    from sympy import Symbol, simplify, summation

    from ..glossary import symbol

    layer, L, last = Symbol("l", integer=True, positive=True), symbol("depth"), symbol("survival")
    total = summation(1 - layer / L * (1 - last), (layer, 1, L))
    yield Step("the mean count is the sum of the keep probabilities, and that sum is the right side", simplify(total - statement.rhs) == 0)


def prove_mean_output(statement: Relational) -> Iterator[Step]:
    """The mean of a product of independent factors is the product of their means."""
    from sympy import Product, simplify

    from ..glossary import symbol

    layer, L, last, a = (symbol(n) for n in ("layer", "depth", "survival", "branch_slope"))
    keep, right = 1 - layer / L * (1 - last), statement.rhs
    yield Step("the right side is a product over the layers 1 to L", isinstance(right, Product) and right.limits == ((layer, 1, L),))
    if isinstance(right, Product):
        yield Step("a layer kept with probability p multiplies by 1 + a or 1, on average by p (1 + a) + 1 - p, and layers are independent",
                   simplify(right.function - (keep * (1 + a) + 1 - keep)) == 0)
