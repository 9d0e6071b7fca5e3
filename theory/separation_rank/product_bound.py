"""Products of linear forms: a lower bound that contradicts Theorem 2 of Levine et al. as recalled.

Explicit weights make every layer multiply the output by another linear form of the moments; the
product has a rank above the recalled upper bound from some depth on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import sympy
from flint import arb, fmpz
from sympy import Expr, Matrix, Min, Product, Rational, Symbol, expand, factor, log, symbols
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Source, Step, at, claim
from ..claims.proof_steps import equal, logarithm_step, nonnegative
from ..claims.relations import Gt
from ..claims.symbols import layer, quantity, stated
from ..exact.enclosure import ball, enclose
from .dimension_count import log3_dimension_count
from .rank_symbols import Eq, Ge, H, L, d, levine
from .upper_bounds import RECALLED
from .value_rank import measured_rank, sep

c = quantity("slope", "c", "an absolute constant in a supposed bound c d_x L", "positive real")
first = quantity(
    "first_violation",
    r"L_\times",
    "first depth beyond the threshold at which a lower bound exceeds a recalled "
    "upper bound; 0 if none",
    "nonnegative integer",
)

_OWN = Source("depthlaw", "weights whose layers multiply by linear forms of the moments")
_HEADS = {"$H$ divides $d_x$": lambda c: c.width % c.heads == 0}
_TOKENS = {r"$N \geq 2 (d_x + 1)$": lambda c: c.tokens >= 2 * c.width + 2}

# First depth of a violation by width, H = d_x.
FIRST_VIOLATION = {2: 0, 3: 0, 4: 62, 5: 32, 6: 30, 8: 36, 16: 67, 32: 130, 64: 258}
FIRST_VIOLATION_ONE_HEAD = {4: 32, 6: 9, 16: 6, 64: 6, 1024: 8, 12288: 10}

# Depth up to which a search for a violation goes on before it gives up with an error.
_DEEPEST = 10_000


# --- the product ----------------------------------------------------------------------------------


def _product(factor: Expr) -> Product:
    return Product(factor, (layer, 1, Min(L, H * (H + 1) / 2, evaluate=False)))


def _coordinate(**fields: Any) -> Case:
    tokens = 2 * fields["width"] + 2
    return Case(**{"tokens": tokens, "weights": "coordinate"} | fields)


@claim(
    Ge(sep, _product(3 ** (L - layer) + 1)),
    source=_OWN,
    holds_for="almost every",
    assumes={**_HEADS, **_TOKENS},
    cases={
        "quick": (
            *(_coordinate(width=2, depth=depth, heads=2) for depth in (1, 2, 3, 5)),
            *Case.grid(width=4, depth=(2, 3, 4), heads=(2, 4), tokens=10, weights="coordinate"),
            Case(width=2, depth=3, heads=2, tokens=6),
            # Twice as many inputs as the bound asks for.
            _coordinate(width=2, depth=2, heads=2, inputs=16),
            _coordinate(width=2, depth=3, heads=2, inputs=160),
            _coordinate(width=4, depth=3, heads=2, inputs=160),
            _coordinate(width=6, depth=20, heads=6),
        ),
        "theory": (
            _coordinate(width=16, depth=36, heads=8),
            _coordinate(width=10, depth=55, heads=10),
        ),
    },
    control=Control(
        Case(width=2, depth=2, heads=2, tokens=6),
        "two and a half times as much",
        Ge(sep, Rational(5, 2) * _product(3 ** (L - layer) + 1)),
    ),
    supports="separation_rank/no_linear_bound",
    formal=Formal(
        "Refutation.product_almost_all",
        "Refutation.product_value {heads} {depth}",
        "That the reals are an archimedean field, over which AlmostAll.v defines almost all; "
        "the theorem asks for H tokens on either side, which N >= 2 (d_x + 1) gives. "
        "That the explicit weights have no larger rank is not formal.",
    ),
)
def product_lower_bound(case: Case, seed: int) -> Exact:
    r"""The rank is at least the product of $3^{L-l} + 1$ over $l \leq \min(L, H (H+1)/2)$.

    For almost all weights with $H$ heads and without residual connections, $N \geq 2 (d_x + 1)$ and
    all $L$, $\operatorname{sep} \geq \prod_{l = 1}^{\min(L, D_H)} (3^{L-l} + 1)$ with $D_H =
    H (H+1)/2$.

    In the cases weights=coordinate only the product form, the exponents and the independence of the
    forms are checked; that the rank is then prod ($e + 1$) is an argument in words. With inputs the
    values of these weights are ranked; without weights, those of random ones. For $L \leq D_H$ the
    explicit weights have this rank; beyond, the last form is repeated, which makes it larger.
    """
    return measured_rank(case, seed)


@claim(
    Gt(log(sep, 3), c * d * L, evaluate=False),
    source=_OWN,
    holds_for="almost every",
    assumes={
        "$H = d_x$": lambda c: c.heads == c.width,
        **_TOKENS,
        "$L > 2 c d_x + 1$": lambda k: k.depth > 2 * k.rational("slope") * k.width + 1,
        r"$L \leq D$": lambda k: 2 * k.depth <= k.width * (k.width + 1),
    },
    cases={
        "quick": (
            _coordinate(width=4, depth=6, heads=4, slope="1/2"),
            _coordinate(width=6, depth=14, heads=6, slope="1"),
            _coordinate(width=10, depth=42, heads=10, slope="2"),
        ),
        "theory": (_coordinate(width=14, depth=86, heads=14, slope="3"),),
    },
    control=Control(
        Case(width=2, depth=2, heads=2, tokens=6, slope="1"), "$L$ below $2 c d_x + 1$"
    ),
    cited="Decides whether a larger constant in $c d_x L$ could mend the recalled Theorem 2.",
    formal=Formal(
        "Refutation.no_linear_almost_all",
        "Refutation.linear_value {slope.numerator} {slope.denominator} {width} {depth}",
        "That the reals are an archimedean field, over which AlmostAll.v defines almost all; "
        "that log_3 sep exceeds c d L is said without logarithm, as sep^v > 3^(u d L) "
        "for c = u/v and, for every c, as sep > 3^m for a whole m > c d L.",
    ),
)
def no_linear_bound(case: Case, seed: int) -> Exact:
    r"""Where $H = d_x$, no absolute constant $c$ makes $c d_x L$ an upper bound.

    For every $c > 0$, $H = d_x$, $2 c d_x + 1 < L \leq d_x (d_x + 1)/2$, $N \geq 2 (d_x + 1)$ and
    almost all weights without residual connections, $\log_3 \operatorname{sep} > c d_x L$: no
    absolute constant makes $c d_x L$ an upper bound.

    Says nothing for fewer heads or tokens, and nothing at one fixed depth.
    """
    return measured_rank(case, seed)


@no_linear_bound.argument(
    "The weights are checked on three coordinates, exponents and gap for all $c$, $d$ and $L$; "
    r"prose: $L \leq D$ forms can be independent, such a product has the rank prod ($e_j + 1$), "
    "and what one choice of weights reaches almost all reach."
)
def _(statement: Relational) -> Iterator[Step]:
    """log_3 sep >= sum_{l<=L} log_3(3^(L-l) + 1) > L (L-1)/2, which exceeds c d L for large L."""
    m, more = Symbol("m", integer=True, positive=True), Symbol("t", positive=True)
    yield logarithm_step(statement, "sep")
    yield _one_head_step()
    # Layer l multiplies the scalar c_l of M_l = c_l M into the output once, and into later layers
    # through c_{l+1} = c_l^3 f_l^2.
    yield equal(
        "the exponent of f_l in the output of L layers is 1 + sum_{m=1}^{L-l} 2 3^(m-1) = 3^(L-l)",
        1 + sympy.summation(2 * 3 ** (m - 1), (m, 1, L)),
        3**L,
    )
    yield equal(
        "log_3 of prod_{l<=L} 3^(L-l) is L (L-1)/2",
        sympy.summation(L - m, (m, 1, L)),
        L * (L - 1) / 2,
    )
    gap = expand((L * (L - 1) / 2 - statement.rhs).subs(L, 2 * c * d + 1 + more))
    yield Step(
        "L (L-1)/2 exceeds the right side for every L > 2 c d + 1", bool(factor(gap).is_positive)
    )
    yield nonnegative("the relation is strict or not, the gap is positive", gap)


def _one_head_step() -> Step:
    """e_h (v^T M k) e_h^T, added up over the heads, is (v^T M k) I; here with three coordinates."""
    v, k = (Matrix(3, 1, symbols(f"{name}:3")) for name in "vk")
    M = Matrix(3, 3, lambda a, b: Symbol(f"m{min(a, b)}{max(a, b)}"))
    units = [sympy.eye(3)[:, h] for h in range(3)]
    total = sum((e * v.T * M * k * e.T for e in units), sympy.zeros(3, 3))
    return Step(
        "heads W^O = e_h, W^Q = e_h^T, W^V = v^T, W^K = k^T give T(M) = (v^T M k) I",
        expand(total - (v.T * M * k)[0] * sympy.eye(3)) == sympy.zeros(3, 3),
    )


# --- against the recalled bound -------------------------------------------------------------------

AGAINST_THEOREM_2: dict[str, Any] = {
    "source": levine("Theorem 2, upper bound"),
    "kind": "threshold",
}


@claim(
    Eq(first, stated),
    **AGAINST_THEOREM_2,
    assumes={"$H = d_x$, for the product": lambda c: c.get("heads", c.width) == c.width},
    cases={
        "quick": (
            *(Case(width=w, heads=w, stated=n) for w, n in FIRST_VIOLATION.items() if w <= 16),
            *(
                Case(width=w, witness="count", stated=n)
                for w, n in FIRST_VIOLATION_ONE_HEAD.items()
                if w <= 1024
            ),
        ),
        "theory": (
            *(Case(width=w, heads=w, stated=n) for w, n in FIRST_VIOLATION.items() if w > 16),
            Case(width=12288, witness="count", stated=FIRST_VIOLATION_ONE_HEAD[12288]),
        ),
    },
    control=Control(Case(width=8, heads=8, stated=35), "the estimate $4 d_x + 3$ in place of 36"),
    supports="separation_rank/upper_bound_deep",
)
def first_violation(case: Case) -> Exact:
    r"""A product, and $S$, exceed the recalled bound first at the listed depths.

    With $H = d_x$, the first depth $L > \log_3 d_x$ at which
    $\prod_{l \leq \min(L, D)} (3^{L-l} + 1)$ exceeds the recalled upper bound is 62 at width 4, 32
    (5), 30 (6), 36 (8), 67 (16), 130 (32) and 258 (64); there is none (0) at widths 2 and 3. The
    first at which $S(d_x, L)$ exceeds it is 32 at width 4, 9 (6), 6 (16), 6 (64), 8 (1024) and 10
    (12288).

    The bound is as recalled; check against the paper. Repeating the last form at width 4 brings 62
    down to 61. With $H$ heads the product exceeds the recalled bound at some depth if and only if
    $H (H+1)/2 > 2 d_x + 1$, the slope of the bound, in the seven sizes that a test tries; the
    general argument is prose. At width 16 eight heads do, from depth 216 on.
    At $H = d_x$ the constant $b_2$ of the recalled lower bound is undefined; upper_bound_deep leads
    with a case of $2 H \leq d_x$. The product is a lower bound on the rank,
    and so contradicts the bound; $S$ is an upper bound, and contradicts nothing: that one head
    attains $S$ for all $d_x$ and $L$ is false, as $\operatorname{sep}(4, 3) = S - 4$
    (exact_below_count). Whether one head comes near enough to $S$ at these depths is open.
    """
    if "heads" in case:
        return Exact(first_of_product(case.width, case.heads))
    return Exact(first_of_count(case.width))


def first_of_product(width: int, heads: int) -> int:
    """The first depth at which the product of one form a layer exceeds the recalled bound, or 0.

    >>> first_of_product(16, 8), first_of_product(12288, 96)
    (216, 0)
    """
    forms = heads * (heads + 1) // 2

    def product(depth: int) -> arb:
        factors = (3 ** (depth - m) + 1 for m in range(1, min(depth, forms) + 1))
        return arb(fmpz(math.prod(factors))).log() / arb(3).log()

    return first_excess_of(width, product, forms)


def first_of_count(width: int) -> int:
    """The first depth at which S(d, L), an upper bound on the rank, exceeds the recalled bound.

    >>> first_of_count(16)
    6
    """

    def count(depth: int) -> arb:
        low, high = log3_dimension_count(width, depth)
        return ball(Fraction(float(low)), Fraction(float(high)))

    return first_excess_of(width, count)


def first_excess_of(width: int, log3_rank: Callable[[int], arb], forms: int | None = None) -> int:
    """The first L > log_3 d_x at which a rank exceeds the recalled upper bound; 0 if none does.

    Depth by depth, until the bound is exceeded or, for a product of at most so many factors 3^i + 1
    and powers of them, until that can happen no more: a layer more multiplies each factor by less
    than 3 and adds one of 2, so that the logarithm to base 3 grows by less than `forms`, and the
    bound grows by a constant. An ArithmeticError when neither has happened at depth `_DEEPEST`.
    """
    with flint.ctx.workprec(192):
        slope = _recalled(width, 2) - _recalled(width, 1)
        for depth in range(1, _DEEPEST + 1):
            if 3**depth <= width:
                continue
            value, bound = log3_rank(depth), _recalled(width, depth)
            if value > bound:
                return depth
            if not value <= bound:
                raise ArithmeticError("the enclosures of rank and bound overlap; use more bits")
            if forms and slope > forms:
                return 0
    raise ArithmeticError(
        f"width {width}: no violation up to depth {_DEEPEST}, and none excluded; "
        "try other heads or a larger _DEEPEST"
    )


def _recalled(width: int, depth: int) -> arb:
    """log_3 of the upper bound of Theorem 2 as recalled."""
    return enclose(at(RECALLED, Case(width=width, depth=depth)))
