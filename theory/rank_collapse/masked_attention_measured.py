"""Evidence on masks and positions: products of rational attention matrices, and small forward passes in ball arithmetic."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..values import Ball, Case, Exact, Outside, Step
from .residual_norms_measured import Matrix, at_least, product, sum_step

if TYPE_CHECKING:
    from flint import arb
    from sympy.core.relational import Relational

# --- two tokens ---


def position_difference(case: Case, seed: int) -> Exact:
    """x_1 - x_2 after L layers with the fixed attention rows (p, 1 - p) and (q, 1 - q), in rational numbers."""
    p, q = case.rational("first_weight"), case.rational("second_weight")
    X = [[case.rational("difference") + 5], [Fraction(5)]]
    for _ in range(case.depth):
        X = product([[p, 1 - p], [q, 1 - q]], X)
    return Exact(X[0][0] - X[1][0])


def causal_difference(case: Case, seed: int) -> Ball:
    """x_2 - x_1 after L causal softmax layers of width one with W_V = 1, by the plain forward pass on balls."""
    from .measured import arb_of, resolved

    def difference() -> arb:
        w = arb_of(case.rational("qk_weight"))
        first = arb_of(case.rational("token_bound") - case.rational("difference"))
        second = arb_of(case.rational("token_bound"))
        for _ in range(case.depth):
            to_first, to_second = (w * second * first).exp(), (w * second * second).exp()
            second = (to_first * first + to_second * second) / (to_first + to_second)
        return second - first

    return Ball.of(resolved(difference))


# --- products of attention matrices ---


def attention_matrix(case: Case, layer: int) -> Matrix:
    """A row-stochastic matrix with at least `least_weight` wherever the mask allows a token to look, over Q.

    `tight` pays exactly the least to all but one token: that of the row itself, or the last allowed one.
    """
    n, least = case.tokens, case.rational("least_weight")
    extra = case.rng(layer).integers(0, 10, (n, n)).tolist()
    rows = []
    for i in range(n):
        seen = _seen(case, i)
        if least * len(seen) > 1:
            raise ValueError(f"token {i + 1} sees {len(seen)} tokens and cannot pay each at least {least}")
        weights = [Fraction(int(extra[i][k]) if case.instance == "random" else int(k == i)) for k in seen]
        weights = weights if any(weights) else [Fraction(1)] * len(seen)
        share = {k: least + (1 - least * len(seen)) * weight / sum(weights) for k, weight in zip(seen, weights, strict=True)}
        rows.append([share.get(k, Fraction(0)) for k in range(n)])
    return rows


def _seen(case: Case, i: int) -> list[int]:
    """The positions that token i (from 0) may look at."""
    n, mask = case.tokens, case.mask
    if mask == "window":
        return list(range(max(0, i - case.window + 1), i + 1))
    if mask == "prefix":
        return list(range(max(i + 1, case.position - 1)))
    if mask == "chain":
        return sorted({max(0, i - 1), i})
    if mask == "star":
        return sorted({0, i})
    return list(range(i + 1 if mask == "causal" else n))


def tail_mass(case: Case, seed: int) -> Exact:
    """The largest weight that a row of A^(L) ... A^(1) puts on the positions j and later, over rows."""
    n = case.tokens
    total: Matrix = [[Fraction(int(i == k)) for k in range(n)] for i in range(n)]
    for layer in range(case.depth):
        total = product(attention_matrix(case, layer), total)
    return Exact(max(sum(row[case.position - 1:], Fraction(0)) for row in total))


def spread_ratio(case: Case, seed: int) -> Exact | Outside:
    """max - min of scalar tokens after L layers over that before; outside where the mask has a larger radius than the case names."""
    if _radius(case) > case.radius:
        return Outside("all tokens reach the centre within r steps")
    n = case.tokens
    X = [[Fraction(0)], *[[Fraction(1)]] * (n - 1)]
    for layer in range(case.depth):
        X = product(attention_matrix(case, layer), X)
    values = [row[0] for row in X]
    return Exact(max(values) - min(values))


def _radius(case: Case) -> int:
    """Steps until every token can have looked at the first one, through the mask."""
    reached, steps = {0}, 0
    while len(reached) < case.tokens:
        reached |= {i for i in range(case.tokens) if reached & set(_seen(case, i))}
        steps += 1
    return steps


# --- causal attention with rows of unit norm ---


def basin_count(case: Case, seed: int) -> Exact:
    """Start directions, of K equally spaced ones, from which the second of two tokens never meets the first, on balls.

    A start is decided once it is within 10^-6 of one of the two attracting points, (0, 1) and the one with first coordinate -1/eta.
    """
    import flint

    from .measured import arb_of

    count = 0
    with flint.ctx.workprec(256):
        eta = arb_of(case.rational("feature_gain"))
        for index in range(case.start_angles):
            angle = arb_of(Fraction(2 * index + 1, case.start_angles))
            a, b = _steps(-angle.sin_pi(), angle.cos_pi(), eta, 90)
            apart, together = abs(a + 1 / eta) < 1e-6 and b < 0, abs(a) < 1e-6 and b > 0
            if not (apart or together):
                raise ArithmeticError(f"start {index} of [{case}] is not decided after 90 layers: ({a}, {b})")
            count += apart
    return Exact(count)


def _steps(a: arb, b: arb, eta: arb, layers: int) -> tuple[arb, arb]:
    """The second token after layers that add the first token (0, 1), apply the value matrix and rescale to unit norm."""
    for _ in range(layers):
        b = eta * a + b + 1
        size = (a * a + b * b).sqrt()
        a, b = a / size, b / size
    return a, b


def limit_digits(case: Case, seed: int) -> Exact:
    """floor(10^9 |a|) for the first coordinate a of x_2 after many steps from a start inside the basin, on balls."""
    import flint

    from .measured import arb_of, whole_part

    with flint.ctx.workprec(4096):
        a, _ = _steps(arb_of(Fraction(-4, 5)), arb_of(Fraction(-3, 5)), arb_of(case.rational("feature_gain")), 120)
        return Exact(whole_part(abs(a) * 10**9))


# --- arguments ---


def prove_position(statement: Relational) -> Iterator[Step]:
    """Induction on L: the rows (p, 1 - p) and (q, 1 - q) take x + delta, x to two numbers that differ by (p - q) delta."""
    import sympy

    from ..glossary import symbol

    L, p, q, start = (symbol(name) for name in ("depth", "first_weight", "second_weight", "difference"))
    x, delta = sympy.symbols("x delta")
    after = (p * (x + delta) + (1 - p) * x) - (q * (x + delta) + (1 - q) * x)
    yield Step("base: with no layer the difference is that of the input", statement.rhs.subs(L, 0) == start)
    yield Step("step: a layer multiplies the difference by what the stated right side gains from L to L + 1",
               sympy.expand(after - delta * (p - q)) == 0
               and sympy.simplify(sympy.powsimp(statement.rhs.subs(L, L + 1) / statement.rhs) - (p - q)) == 0)


def prove_causal(statement: Relational) -> Iterator[Step]:
    """delta' = sigma(w x_2 delta) delta with sigma increasing, and |w x_2 delta| <= S = w B delta_0 for ever."""
    import sympy

    from ..glossary import symbol

    L, w, B, start = (symbol(name) for name in ("depth", "qk_weight", "token_bound", "difference"))
    s, x, delta = sympy.symbols("s x delta", real=True)
    S = w * B * start
    first, second = sympy.exp(w * x * (x - delta)), sympy.exp(w * x * x)
    moved = (first * (x - delta) + second * x) / (first + second) - (x - delta)
    sigma = 1 / (1 + sympy.exp(-s))
    yield Step("the second token moves to distance delta sigma(w x_2 delta) from the first",
               sympy.simplify(moved - delta * sigma.subs(s, w * x * delta)) == 0)
    yield Step("sigma grows with s, and lies in (0, 1), so x_2 stays between its start and x_1 and |w x_2 delta| <= S",
               bool(sympy.simplify(sympy.diff(sigma, s) * (1 + sympy.exp(-s)) ** 2 - sympy.exp(-s)) == 0))
    yield Step("base: with no layer the bound is at most the difference of the input", at_least(sympy.log(start), statement.rhs.subs(L, 0)))
    gain = sympy.expand(statement.rhs.subs(L, L + 1) - statement.rhs)
    yield Step("step: a layer multiplies by at least sigma(-S), and the bound gains no more than log sigma(-S)",
               at_least(-sympy.log(1 + sympy.exp(S)), gain))


def prove_tail(statement: Relational) -> Iterator[Step]:
    """T(i), the weight of row i on positions >= j, is 0 for i < j; a layer takes T(i) to sum_{m >= j} A_im T(m)."""
    import sympy

    from ..glossary import symbol

    L, j, least = symbol("depth"), symbol("position"), symbol("least_weight")
    kept = 1 - (j - 1) * least
    yield sum_step("sum_m A_im T(m) <= max T sum_{m >= j} A_im")
    yield Step("base: with no layer the bound is at least 1", at_least(statement.rhs.subs(L, 0), sympy.Integer(1)))
    ratio = sympy.simplify(statement.rhs.subs(L, L + 1) / statement.rhs)
    yield Step("step: row i keeps at most 1 - (j - 1) epsilon for the positions >= j, and the bound falls by no more than that factor",
               at_least(ratio, kept))


def prove_fixed(statement: Relational) -> Iterator[Step]:
    """At a = -1/eta the second coordinate does not move: eta a + b + 1 = b, for both signs of b."""
    import sympy

    from ..glossary import symbol

    eta = symbol("feature_gain")
    stated = statement.rhs.args[0] / sympy.Integer(10) ** 9
    b = sympy.Symbol("b", real=True)
    yield Step("the stated size a makes (-a, b) a fixed point: eta (-a) + b + 1 = b", sympy.simplify(-eta * stated + 1) == 0)
    yield Step("it has unit norm for b = -sqrt(1 - a^2)", sympy.simplify(stated**2 + (-sympy.sqrt(1 - stated**2)) ** 2 - 1) == 0)
    # (a, b) = (-sin s, cos s); the step takes the angle to atan2 of (sin s, cos s + 1 - eta sin s), whose slope at the fixed point is:
    slope = (sympy.diff(sympy.atan2(sympy.sin(b), sympy.cos(b) + 1 - eta * sympy.sin(b)), b))
    at_point = sympy.simplify(slope.subs({sympy.sin(b): 1 / eta, sympy.cos(b): -sympy.sqrt(1 - 1 / eta**2)}))
    yield Step("the point with b < 0 attracts: the angle's derivative there is 1 - sqrt(1 - 1/eta^2)",
               sympy.simplify(at_point - (1 - sympy.sqrt(1 - 1 / eta**2))) == 0)
    yield Step("and the statement takes its whole part", isinstance(statement.rhs, sympy.floor))
