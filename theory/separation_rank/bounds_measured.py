"""Evidence for the algebra behind the bounds on the separation rank: multiset coefficients, exponent counts, depth against width."""
from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..proof_steps import equal, factorial_steps, hockey_stick_steps, logarithm_step, nonnegative, vanish
from ..values import Case, Exact, Step

if TYPE_CHECKING:
    from flint import arb


def multiset_coefficient(n: Fraction | int, k: int) -> Fraction:
    """binom(n + k - 1, k) for any rational n, as the product of (n + j)/(j + 1) over j < k.

    >>> multiset_coefficient(3, 2), multiset_coefficient(Fraction(1, 2), 2)
    (Fraction(6, 1), Fraction(3, 8))
    """
    n = Fraction(n)
    if n.denominator == 1:
        return Fraction(math.comb(int(n) + k - 1, k))
    top = math.prod(n.numerator + j * n.denominator for j in range(k))
    return Fraction(top, math.factorial(k) * n.denominator**k)


def measured_multiset(case: Case, seed: int) -> Exact:
    """The multiset coefficient with n = (d_x - H)/2 and k = 3^(L-2)."""
    return Exact(multiset_coefficient(Fraction(case.width - case.heads, 2), 3 ** (case.depth - 2)))


def measured_exponent_count(case: Case, seed: int) -> Exact:
    """d_x 3^L times the number of multisets of size 3^L from 2 d_x coordinates."""
    degree = 3**case.depth
    return Exact(case.width * degree * math.comb(2 * case.width + degree - 1, degree))


def measured_widened(case: Case, seed: int) -> Exact:
    """The least whole x with x^C(L') >= (n/k)^k, n = (d_x - H)/2, k = 3^(L-2): integers only, by bisection."""
    n, k = Fraction(case.width - case.heads, 2), 3 ** (case.depth - 2)
    goal, power = (n / k) ** k, (3**case.shallow_depth - 1) // 2
    low, high = 0, 1
    while high**power < goal:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**power >= goal else (middle, high)
    return Exact(high)


def measured_width_factor(case: Case, seed: int) -> Exact:
    """The least whole w for which Theorem 2's lower bound at depth L/delta and width w d_x reaches an upper bound at (d_x, L).

    The upper bound is S(d_x, L), or the recalled one when the case says bound=recalled.

    Raises:
        ArithmeticError: when the enclosures do not decide some w.
    """
    import flint

    with flint.ctx.workprec(256):
        goal = _recalled_upper(case) if case.get("bound") == "recalled" else _log3_count(case.width, case.depth)
        factor, reached = 0, False
        while not reached:
            factor += 1
            width = factor * case.width
            if width <= case.heads:
                continue
            reached = _at_least(_deep_lower(width, case.depth // case.depth_ratio, case.heads), goal)
        return Exact(factor)


def measured_beta_two(case: Case, seed: int) -> Exact:
    """The least whole beta_2 for which log_3 (n/k)^k at width 3^beta_2 d_x and depth log_3 d_x + beta_2 reaches log_3 S(d_x, L)."""
    import flint

    base = measured_power(case.width)
    with flint.ctx.workprec(256):
        goal, beta = _log3_count(case.width, case.depth), 0
        while True:
            n, k = Fraction(3**beta * case.width - case.heads, 2), Fraction(3) ** (base + beta - 2)
            ratio = n / k
            if base + beta >= 2 and ratio > 1 and _at_least(_rational(k) * _rational(ratio).log() / flint.arb(3).log(), goal):
                return Exact(beta)
            beta += 1


def measured_power(width: int) -> int:
    """log_3 of a power of three, by tripling."""
    from .degree import triplings

    return triplings(width)


def measured_shallow_threshold(case: Case, seed: int) -> Exact:
    """The depth whose degree equals the width 3^beta_2 d_x, by tripling."""
    return Exact(measured_power(3**case.beta_two * case.width))


def measured_tenths(case: Case, seed: int) -> Exact:
    """10 log_3(d_x) to the nearest integer: the largest t with 3^(2t-1) <= d_x^20."""
    tenths = 0
    while 3 ** (2 * tenths + 1) <= case.width**20:
        tenths += 1
    return Exact(tenths)


def _at_least(left: arb, right: arb) -> bool:
    if left >= right:
        return True
    if left < right:
        return False
    raise ArithmeticError("the enclosures overlap: the two bounds are too close to tell")


def _rational(value: Fraction | int) -> arb:
    from ..exact.enclosure import from_fraction

    return from_fraction(value)


def _log3_count(width: int, depth: int) -> arb:
    from ..exact.enclosure import ball
    from .dimension_count import log3_dimension_count

    low, high = log3_dimension_count(width, depth)
    return ball(Fraction(float(low)), Fraction(float(high)))


def _recalled_upper(case: Case) -> arb:
    from flint import arb

    d, depth, log3 = arb(case.width), case.depth, arb(3).log()
    return 2 * d * depth + depth - 2 * d * ((d / (2 * arb(2).sqrt())).log() - 1) / log3 + d.log() / log3


def _deep_lower(width: int, depth: int, heads: int) -> arb:
    from flint import arb

    free = (_rational(Fraction(width - heads, 2)).log()) / arb(3).log()
    return _rational(Fraction(width * depth, 2) - Fraction(depth * (heads + 2), 2)) - width * (1 + free / 2)


# --- arguments -------------------------------------------------------------------------------------------------------------------


def _chain() -> tuple[Any, Any, Any, Any, Any]:
    """d, L, H, n = (d - H)/2 and k = 3^(L-2)."""
    from ..glossary import symbol

    d, L, H = symbol("width"), symbol("depth"), symbol("heads")
    return d, L, H, (d - H) / 2, 3 ** (L - 2)


def multiset_shallow_proof(statement: Any) -> Iterator[Step]:
    """binom(n+k-1, k) is a product of k factors (n+j)/(j+1), each at least n/k, for every real n > 0."""
    import sympy

    _, L, _, n, _ = _chain()
    yield logarithm_step(statement, "multiset")
    yield equal("k log_3(n/k) is the right side", 3 ** (L - 2) * (sympy.log(n) - (L - 2) * sympy.log(3)), statement.rhs * sympy.log(3))
    N, j, more = sympy.Symbol("n", positive=True), *(sympy.Symbol(s, integer=True, nonnegative=True) for s in ("j", "more"))
    K = j + 1 + more  # j runs from 0 to k - 1
    yield nonnegative("(n+j)/(j+1) >= n/k: multiplied out, n (k-1-j) + k j >= 0", sympy.expand(K * (N + j) - N * (j + 1)))
    yield equal("the product of the factors is the multiset coefficient: it starts at 1 and grows by (n+k)/(k+1)",
                sympy.gammasimp(sympy.gamma(N + j + 1) * sympy.gamma(j + 1) / (sympy.gamma(j + 2) * sympy.gamma(N + j))),
                (N + j) / (j + 1))


def multiset_deep_proof(statement: Any) -> Iterator[Step]:
    """binom(n+k-1, k) >= (k/n)^(n-1) for n = 1, 3/2, 2, ...; the case n = 1/2 apart; then a non-negative term is dropped."""
    import sympy

    _, L, H, n, _ = _chain()
    log, log3 = sympy.log, sympy.log(3)
    yield logarithm_step(statement, "multiset")
    dropped = (H / 2 + 1) * (2 * log3 + log(n))
    yield equal("(n-1) log_3(k/n) is the right side plus (H/2 + 1)(2 + log_3 n)",
                (n - 1) * ((L - 2) * log3 - log(n)), statement.rhs * log3 + dropped)
    yield Step("2 + log_3 n >= 2 - log_3 2 > 0, since n >= 1/2", bool((2 * log3 - log(2)).is_positive))
    k, j, more = (sympy.Symbol(s, integer=True, positive=p, nonnegative=True) for s, p in (("k", True), ("j", None), ("more", None)))
    yield nonnegative("whole n: n - 1 factors (k+i)/i >= k/n for i = 1, ..., n - 1",
                      sympy.together((k + j + 1) / (j + 1) - k / (j + 2 + more)))
    half = sympy.Rational(1, 2)
    yield Step("c_k = binom(k-1/2, k) >= 1/(2 sqrt k): equal at k = 1", half == sympy.Rational(1, 2) / sympy.sqrt(1))
    yield nonnegative("c_(k+1)/c_k = (2k+1)/(2k+2) >= sqrt(k/(k+1)): squared and multiplied out", (2 * k + 1) ** 2 - 4 * k * (k + 1))
    yield nonnegative("n = m + 1/2, m >= 1: the factor (k+1/2)/(1/2) times 1/(2 sqrt k) is at least sqrt k >= sqrt(k/n)",
                      (2 * k + 1) - 2 * k)
    yield nonnegative("n = m + 1/2: the m - 1 other factors (k+i-1/2)/(i-1/2), 2 <= i <= m, are at least k/n",
                      sympy.together((k + j + sympy.Rational(3, 2)) / (j + sympy.Rational(3, 2)) - k / (j + sympy.Rational(5, 2) + more)))
    yield Step("n = 1/2: log_3 c_k >= -log_3(2 sqrt k), above -log_3(2 k)/2 - (3/2)(2 - log_3 2), the right side at its largest",
               bool((-log(2) + log(2) / 2 + sympy.Rational(3, 2) * (2 * log3 - log(2))).is_positive))


def exponent_count_proof(statement: Any) -> Iterator[Step]:
    """binom(2d+K-1, K) <= binom(2d+K, 2d) <= (e (2d+K)/(2d))^(2d) <= (3 e K/(2d))^(2d), K = 3^L >= d."""
    import sympy

    yield from _exponent_steps()
    yield logarithm_step(statement, "exponent_count")
    yield equal("log_3 of d K (3 e K/(2d))^(2d) is the right side", _exponent_bound(), statement.rhs * sympy.log(3))


def exponent_count_recalled_proof(statement: Any) -> Iterator[Step]:
    """The recalled bound is d K (2 sqrt(2) e K/d)^(2d), and 3/2 < 2 sqrt(2)."""
    import sympy

    from ..glossary import symbol

    d = symbol("width")
    yield from _exponent_steps()
    yield logarithm_step(statement, "exponent_count")
    yield equal("the right side is the derived bound plus 2 d log_3(4 sqrt(2)/3)",
                _exponent_bound() + 2 * d * (sympy.log(4) + sympy.log(2) / 2 - sympy.log(3)), statement.rhs * sympy.log(3))
    yield Step("4 sqrt(2)/3 > 1", bool((4 * sympy.sqrt(2) / 3 - 1).is_positive))


def _exponent_bound() -> Any:
    """Natural logarithm of d K (3 e K/(2d))^(2d)."""
    import sympy

    from ..glossary import symbol

    d, L = symbol("width"), symbol("depth")
    log_k = L * sympy.log(3)
    return sympy.log(d) + log_k + 2 * d * (1 + sympy.log(3) + log_k - sympy.log(2) - sympy.log(d))


def _exponent_steps() -> Iterator[Step]:
    import sympy

    d, K = (sympy.Symbol(s, integer=True, positive=True) for s in ("d", "K"))
    more = sympy.Symbol("more", nonnegative=True)
    ratio = sympy.gammasimp((sympy.binomial(2 * d + K, K) / sympy.binomial(2 * d + K - 1, K)).rewrite(sympy.gamma))
    yield nonnegative("binom(2d+K-1, K) <= binom(2d+K, K), the ratio being (2d+K)/(2d)", sympy.simplify(ratio - 1))
    yield from factorial_steps()
    yield nonnegative("2d + K <= 3K for K >= d", 3 * (d + more) - (2 * d + d + more))


def two_tokens_upper_proof(statement: Any) -> Iterator[Step]:
    """Parts of bidegree (3^L - 2k, 2k), k = 0, ..., C, each of rank at most the smaller number of monomials."""
    import sympy

    from ..glossary import symbol

    d, L = symbol("width"), symbol("depth")
    C = (3**L - 1) / 2
    yield _even_in_the_other_token()
    m, c = (sympy.Symbol(s, integer=True, nonnegative=True) for s in ("m", "c"))
    # With 3^L = 2C + 1: degree 2j pairs with 2C+1-2j, and 2j+1 with 2C-2j.
    yield nonnegative("an even degree 2j <= C is the smaller one of its pair", (2 * (2 * m + c) + 1 - 2 * m) - 2 * m)
    yield nonnegative("an odd degree 2j+1 <= C is the smaller one of its pair (k = C - j)", 2 * (2 * m + 1 + c - m) - (2 * m + 1))
    yield vanish("so the smaller degrees are 0, ..., C, each once: C/2 + 1 even and C/2 odd ones for even C",
                 (m + 1) + m - (2 * m + 1))
    yield vanish("and (C+1)/2 of either kind for odd C", (m + 1) + (m + 1) - ((2 * m + 1) + 1))
    yield nonnegative("a form of the smaller degree has binom(degree + d - 1, d - 1) monomials, and fewer than one of larger degree",
                      (d + m) - (m + 1))
    yield from hockey_stick_steps()
    yield Step("the sum of binom(m+d-1, d-1) over m = 0, ..., C is the right side", _agrees(statement.rhs, sympy.binomial(d + C, C)))


def _agrees(left: Any, right: Any) -> bool:
    import sympy

    return isinstance(left, sympy.binomial) and all(sympy.expand(a - b) == 0 for a, b in zip(left.args, right.args, strict=True))


def _even_in_the_other_token() -> Step:
    """When z changes its sign, a layer leaves its output at x as it is and changes the sign of that at z; so does the next layer."""
    import numpy as np
    import sympy

    from .degree import positive_net, positive_symbols

    net, x, z = positive_net(1), positive_symbols("x", (2,)), positive_symbols("z", (2,))
    from .linear_attention import forward

    there, back = ([forward(net, np.array([x, sign * z], dtype=object), position=i, coordinate=p).item() for i in (0, 1) for p in (0, 1)]
                   for sign in (1, -1))
    return Step("when the other token changes its sign, so does a layer's output there, and the output at the token that is read stays",
                all(sympy.expand(a - sign * b) == 0 for a, b, sign in zip(there, back, (1, 1, -1, -1), strict=True)))


def two_tokens_deep_proof(statement: Any) -> Iterator[Step]:
    """binom(d+C, d) <= (e (d+C)/d)^d <= (3 e K/(2d))^d <= (2 sqrt(2) e K/d)^(2d) for K = 3^L >= d."""
    import sympy

    from ..glossary import symbol

    d, L, C = symbol("width"), symbol("depth"), (3 ** symbol("depth") - 1) / 2
    yield from two_tokens_upper_proof(sympy.Le(symbol("sep"), sympy.binomial(d + C, C, evaluate=False), evaluate=False))
    yield from factorial_steps()
    K, more = sympy.Symbol("K", positive=True), sympy.Symbol("more", nonnegative=True)
    yield nonnegative("d + C <= 3K/2 for d <= K", sympy.expand(sympy.Rational(3, 2) * (K + more) - (K + (K + more - 1) / 2)))
    yield logarithm_step(statement, "sep")
    log_k = L * sympy.log(3)
    recalled = sympy.log(d) + log_k + 2 * d * (1 + log_k + sympy.Rational(3, 2) * sympy.log(2) - sympy.log(d))
    yield equal("the right side is log_3 of d K (2 sqrt(2) e K/d)^(2d)", recalled, statement.rhs * sympy.log(3))
    yield Step("3/2 < 2 sqrt(2), and 2 sqrt(2) e K/d > 1", bool((2 * sympy.sqrt(2) - sympy.Rational(3, 2)).is_positive))


def corollary_1_proof(statement: Any) -> Iterator[Step]:
    """x^C(L') >= (n/k)^k means log_3 x >= 2 k log_3(n/k) / (3^L' - 1) > 2 k log_3(n/k) / 3^L'."""
    import sympy

    from ..glossary import symbol

    _, L, _, n, k = _chain()
    yield logarithm_step(statement, "widened")
    yield equal("2 k log_3(n/k) / 3^L' is the right side", 2 * k / 3 ** symbol("shallow_depth") * (sympy.log(n) - (L - 2) * sympy.log(3)),
                statement.rhs * sympy.log(3))
    t = sympy.Symbol("t", positive=True)
    yield nonnegative("1/(3^L' - 1) > 1/3^L', with 3^L' = 1 + t", sympy.together(1 / t - 1 / (1 + t)))


def reading_proof(statement: Any) -> Iterator[Step]:
    """3 to the right side is the width of the shallower net."""
    from ..glossary import symbol

    yield vanish("3^(log_3 d_x + beta_2) = 3^beta_2 d_x", 3**statement.rhs - 3 ** symbol("beta_two") * symbol("width"))


def beta_two_proof(statement: Any) -> Iterator[Step]:
    """n/k >= 3, so log_3 (n/k)^k >= k = 3^beta_2 d/9, which is at least D L >= log_3 S once 3^beta_2 >= 9 (d+1) L/2."""
    import sympy

    from ..glossary import symbol
    from .count_size import count_linear, linear_steps

    d, L = symbol("width"), symbol("depth")
    yield Step("the right side rounds up", isinstance(statement.rhs, sympy.ceiling))
    inner = statement.rhs.args[0] if statement.rhs.args else sympy.Integer(0)
    H, more = symbol("heads"), sympy.Symbol("t", nonnegative=True)
    wide = 3 * H + more  # 3^beta_2 d_x, as H <= d_x and beta_2 >= 1
    n, k = (wide - H) / 2, wide / 9
    yield nonnegative("H <= d_x <= 3^beta_2 d_x/3: n/k = (9/2)(1 - H/(3^beta_2 d_x)) >= 3", sympy.together(n / k - 3))
    yield equal("3 to the right side, times d/9, is D L", 3**inner * d / 9, d * (d + 1) * L / 2)
    yield from linear_steps(count_linear.statement)
