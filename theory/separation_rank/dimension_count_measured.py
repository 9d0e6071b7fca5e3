"""Evidence for the claims on the dimension count S(d, L): its values, its knee, and arguments that cover every width and depth."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..proof_steps import equal, factorial_steps, hockey_stick_steps, logarithm_step, nonnegative
from ..values import Case, Exact, Step


def measured_count(case: Case, seed: int) -> Exact:
    """S(d, L) by its closed form."""
    from .dimension_count import dimension_count

    return Exact(dimension_count(case.width, case.depth))


def measured_late_slope(case: Case, seed: int) -> Exact:
    """log_3 S(d, L+1) - log_3 S(d, L) to the nearest integer.

    Raises:
        ArithmeticError: when the enclosure does not decide the integer.
    """
    from .dimension_count import log3_dimension_count

    low, high = log3_dimension_count(case.width, [case.depth, case.depth + 1])
    nearest = {round(float(low[1] - high[0])), round(float(high[1] - low[0]))}
    if len(nearest) != 1:
        raise ArithmeticError(f"[{case}]: the growth lies between two integers; go deeper")
    return Exact(nearest.pop())


def measured_knee(case: Case, seed: int) -> Exact:
    """The first depth with C(L)/2 >= D, by going through the depths."""
    depth, degree = 0, 0
    while degree < case.width * (case.width + 1):
        depth, degree = depth + 1, 3 * degree + 1
    return Exact(depth)


# --- arguments -------------------------------------------------------------------------------------------------------------------


def _symbols() -> tuple[Any, Any, Any, Any]:
    """d, L, D and C as in the statements."""
    from ..glossary import symbol

    d, L = symbol("width"), symbol("depth")
    return d, L, d * (d + 1) / 2, (3**L - 1) / 2


def _middle() -> tuple[Any, Any]:
    """h = floor(C/2), and binom(D + h, D)."""
    import sympy

    _, _, D, C = _symbols()
    half = sympy.floor(sympy.expand(C / 2))
    return half, sympy.binomial(D + half, D)


def _plain(expression: Any) -> Any:
    """One spelling for the arguments of floors and binomials, so that equal expressions are the same tree."""
    import sympy

    inner = expression.replace(sympy.floor, lambda x: sympy.floor(sympy.expand(x)))
    return inner.replace(sympy.binomial, lambda n, k: sympy.binomial(sympy.expand(n), sympy.expand(k), evaluate=False))


def _monotone_steps() -> Iterator[Step]:
    """binom(D+j-1, j) grows with j, and so the first term of the minimum grows with k and the second falls."""
    import sympy

    j, D = (sympy.Symbol(n, integer=True, positive=True) for n in "jD")
    term = sympy.binomial(D + j - 1, j)
    ratio = sympy.simplify(sympy.gammasimp((term.subs(j, j + 1) / term).rewrite(sympy.gamma)))
    yield equal("binom(D+j, j+1) / binom(D+j-1, j) = (D+j)/(j+1)", ratio, (D + j) / (j + 1))
    yield nonnegative("which is at least 1, since D >= 1", (D + j) - (j + 1) - (D - 1), (D - 1))
    e = sympy.Symbol("e", integer=True, nonnegative=True)
    yield nonnegative("D >= d = 1 + e", sympy.expand((1 + e) * (2 + e) / 2 - (1 + e)))


def closed_form_proof(statement: Any) -> Iterator[Step]:
    """The first term grows with k, the second falls, the first is smaller at k = 0: one crossing, and a hockey stick on each side."""
    import sympy

    from ..glossary import symbol

    d, _, D, C = _symbols()
    k, total = symbol("order"), statement.rhs
    first, second = d * sympy.binomial(D + k - 1, k), sympy.binomial(D + C - k - 1, C - k)
    whole = isinstance(total, sympy.Sum) and isinstance(total.function, sympy.Min)
    named = set(total.function.args) if whole else set()
    yield Step("S sums min(d binom(D+k-1, k), binom(D+C-k-1, C-k)) over k = 0, ..., C", whole and len(named) == 2
               and {_plain(t) for t in named} == {_plain(t) for t in (first, second)}
               and total.limits[0][0] == k and total.limits[0][1] == 0 and sympy.expand(total.limits[0][2] - C) == 0)
    yield from _monotone_steps()
    yield equal("at k = 0 the terms are d and binom(D+C-1, C), which is at least its value D >= d at C = 1",
                sympy.binomial(D + 1 - 1, 1) - d, d * (d - 1) / 2)
    yield from hockey_stick_steps()


def count_lower_proof(statement: Any) -> Iterator[Step]:
    """For k <= C/2 both terms are at least binom(D+k-1, k), and these add up to binom(D + floor(C/2), D)."""
    _, middle = _middle()
    yield Step("the right side is binom(D + floor(C/2), D)", _plain(statement.rhs) == _plain(middle))
    yield from _monotone_steps()
    yield from hockey_stick_steps()


def count_upper_proof(statement: Any) -> Iterator[Step]:
    """Splitting the sum at any k bounds it; at k = floor((C-1)/2) both hockey sticks have length at most floor(C/2)."""
    import sympy

    d, _, _, _ = _symbols()
    _, middle = _middle()
    factor, rest = _plain(statement.rhs).as_independent(sympy.floor, as_Add=False)
    yield Step("the right side is (d + 1) binom(D + floor(C/2), D)",
               rest == _plain(middle) and sympy.expand(factor - (d + 1)) == 0)
    yield from _split_steps()
    g, D = (sympy.Symbol(n, integer=True, positive=True) for n in "gD")
    shorter = sympy.gammasimp((sympy.binomial(D + g, g) / sympy.binomial(D + g - 1, g - 1)).rewrite(sympy.gamma))
    yield nonnegative("C = 2g: binom(D+g-1, g-1) <= binom(D+g, g), the ratio being (D+g)/g", sympy.simplify(shorter - 1))


def _split_steps() -> Iterator[Step]:
    """S <= sum_{k<=m} first terms + sum_{k>m} second terms, with m + 1 + (C-m) terms; m = floor((C-1)/2)."""
    import sympy

    yield from hockey_stick_steps()
    h = sympy.Symbol("h", integer=True, nonnegative=True)
    g = h + 1
    yield Step("C = 2h+1, m = h: sums d binom(D+h, h) + binom(D+h, h), the second over orders 0, ..., C-h-1 = h",
               sympy.expand((2 * h + 1) - h - 1 - h) == 0)
    yield Step("C = 2g, m = g-1: sums d binom(D+g-1, g-1) + binom(D+g, g), the second over orders 0, ..., C-g = g",
               sympy.expand(2 * g - (g - 1) - 1 - g) == 0)


def count_below_theorem_1_proof(statement: Any) -> Iterator[Step]:
    """binom(D+h, h) is a product of h factors (D+i)/i <= D + 1 <= (d+1)^2; the rest is one or two factors d + 1."""
    import sympy

    d, _, D, C = _symbols()
    base, exponent = statement.rhs.as_base_exp()
    yield Step("the right side is (d + 1)^C", sympy.expand(base - (d + 1)) == 0 and sympy.expand(exponent - C) == 0)
    yield from _split_steps()
    i, E = sympy.Symbol("i", integer=True, nonnegative=True), sympy.Symbol("D", positive=True)
    # With i + 1 in place of i, so that i >= 0.
    yield nonnegative("(D+i)/i <= D + 1 for i >= 1", sympy.together((E + 1) - (E + i + 1) / (i + 1)))
    yield nonnegative("D + 1 <= (d + 1)^2", (d + 1) ** 2 - (D + 1))
    yield equal("C = 2h+1: (d + 1) (d + 1)^(2h) = (d + 1)^C", 2 * i + 1, 1 + 2 * i)
    yield nonnegative("C = 2g: d + (D+g)/g <= d + D + 1 <= (d + 1)^2", (d + 1) ** 2 - (d + D + 1))


def before_knee_proof(statement: Any) -> Iterator[Step]:
    """binom(D+h, h) = prod_{i<=h} (D+i)/i, and every factor is at least 2 when h <= D."""
    import sympy

    half, middle = _middle()
    base, exponent = _plain(statement.rhs).as_base_exp()
    i, rest = (sympy.Symbol(n, integer=True, nonnegative=True) for n in ("i", "rest"))
    yield Step("the exponent on the right is floor(C/2)", sympy.expand(exponent - half) == 0)
    yield nonnegative("(D+i)/i is at least the base for 1 <= i <= D", sympy.together((2 * (i + 1) + rest) / (i + 1) - base))
    yield Step("and the base is the largest such number", base == 2)
    yield from count_lower_proof(statement.func(statement.lhs, middle, evaluate=False))


def after_knee_proof(statement: Any) -> Iterator[Step]:
    """S <= (d+1) binom(D+h, D) <= (d+1) (e (D+h)/D)^D <= (d+1) (2 e h/D)^D, with h <= C/2 < 3^L/4."""
    import sympy

    d, L, D, C = _symbols()
    yield logarithm_step(statement, "count")
    yield from count_upper_proof(sympy.Le(statement.lhs, (d + 1) * _middle()[1], evaluate=False))
    yield from factorial_steps()
    n, rest = (sympy.Symbol(s, nonnegative=True) for s in ("n", "rest"))
    yield nonnegative("D + h <= 2 h when h >= D", 2 * (n + rest) - (n + n + rest))
    yield nonnegative("h <= C/2 <= 3^L/4", sympy.expand(3**L / 4 - C / 2))
    yield equal("log_3 of (d+1) (2 e 3^L/(4 D))^D is the right side",
                sympy.log(d + 1) + D * (1 + L * sympy.log(3) - sympy.log(d) - sympy.log(d + 1)),
                statement.rhs * sympy.log(3))


def count_linear_proof(statement: Any) -> Iterator[Step]:
    """S <= (d+1) binom(D+h, D) <= (d+1) (h+1)^D <= (d+1) 2^-D 3^(D L) <= 3^(D L)."""
    import sympy

    d, L, D, C = _symbols()
    yield equal("log_3 of the right side is D L", sympy.log(statement.rhs), D * L * sympy.log(3))
    yield from count_upper_proof(sympy.Le(statement.lhs, (d + 1) * _middle()[1], evaluate=False))
    i, h = (sympy.Symbol(s, integer=True, nonnegative=True) for s in "ih")
    yield nonnegative("(h+i)/i <= h + 1 for i >= 1", sympy.together(h + 1 - (h + i + 1) / (i + 1)))
    more = sympy.Symbol("t", nonnegative=True)
    yield nonnegative("h + 1 <= C/2 + 1 = (3^L + 3)/4 <= 3^L/2, since 3^L = 3 + t", sympy.expand((3 + more) / 2 - ((3 + more) + 3) / 4))
    yield equal("C/2 + 1 = (3^L + 3)/4", C / 2 + 1, (3**L + 3) / 4)
    yield Step("d + 1 <= 2^d <= 2^D: equal at d = 1, and 2^d doubles while d + 1 grows by one",
               sympy.Integer(2) ** 1 == 1 + 1 and bool((2 * (d + 1) - (d + 2)).is_positive))


def knee_proof(statement: Any) -> Iterator[Step]:
    """C/2 = D exactly at 3^L = 2 d^2 + 2 d + 1, and C grows with L."""
    import sympy

    _, _, D, _ = _symbols()
    inner = statement.rhs.args[0] if isinstance(statement.rhs, sympy.ceiling) else None
    yield Step("the right side rounds a depth up", inner is not None)
    power = sympy.simplify(3 ** (inner if inner is not None else sympy.Integer(0)))
    yield equal("at that depth C/2 = D", (power - 1) / 4, D)
    x = sympy.Symbol("x", real=True)
    yield Step("C grows strictly with L", bool(sympy.diff((3**x - 1) / 4, x).is_positive))
