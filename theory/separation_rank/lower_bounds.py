"""Levine's lower bounds: Theorems 1 and 2 from the rank of a witness, a multiset coefficient.

With n = (d_x - H)/2 and k = 3^(L-2), the witness of both has rank binom(n+k-1, k).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy
from sympy import Expr, Max, Rational, Symbol, binomial, gamma, log, sqrt, symbols, together
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Step, claim
from ..claims.proof_steps import equal, logarithm_step, nonnegative
from ..claims.symbols import quantity
from .rank_symbols import DEEP, SHALLOW, SPARE_WIDTH, Ge, H, L, d, levine
from .value_rank import measured_rank, sep

multiset = quantity(
    "multiset",
    r"\left(\!\binom{n}{k}\!\right)",
    r"multiset coefficient $\binom{n+k-1}{k}$, $n = (d_x-H)/2$, $k = 3^{L-2}$",
    "positive real",
)

N, K = (d - H) / 2, 3 ** (L - 2)
# log_3(n/k), and what the bound of Theorem 2 adds to its slope in d_x L.
LOG_RATIO = log(d - H, 3) - L + 2 - log(2, 3)
_CONSTANTS = -L * (H / 2 + 1) - d * (1 + log((d - H) / 2, 3) / 2)
DEEP_BOUND = d * L / 2 + _CONSTANTS

LAYERS = {r"$L \geq 2$": lambda c: c.depth >= 2}
RECALLED_BOUND: dict[str, Any] = {"wording": "recalled", "holds_for": "almost every"}


@claim(
    Ge(log(sep, 3), K * LOG_RATIO),
    **RECALLED_BOUND,
    source=levine("Theorem 1"),
    assumes={**SHALLOW, **SPARE_WIDTH},
    # The bound is at most 5 at depth 2; at depth 3 it is ((28 - H)/6)^3: 92, 82, 64 and 43 for 1,
    # 2, 4 and 7 heads.
    cases={
        "quick": (
            *Case.grid(width=(4, 6, 8), depth=1, heads=(1, 2), tokens=(2, 4)),
            *Case.grid(width=10, depth=2, heads=(1, 2), tokens=4, inputs=32),
            Case(width=28, depth=3, heads=7, tokens=4, inputs=100),
        ),
        "theory": Case.grid(width=28, depth=3, heads=(1, 2, 4), tokens=2, inputs=200),
        "full": Case.grid(width=28, depth=3, heads=(1, 2, 4), tokens=4, inputs=200),
    },
    control=Control(
        Case(width=4, depth=1, heads=1, tokens=4),
        "nine times as much",
        statement=Ge(log(sep, 3), 2 + 3 ** (L - 2) * LOG_RATIO),
    ),
    cited="Bears on whether the doubly exponential rank of Levine's Theorem 1 may be quoted.",
)
def lower_bound_shallow(case: Case, seed: int) -> Exact:
    r"""Below the threshold the rank reaches the recalled lower bound of Theorem 1.

    For $L < \log_3(d_x)$, $H < d_x$ and almost all weights, $\log_3 \operatorname{sep} \geq 3^{L-2}
    (\log_3(d_x - H) - L + 2 - \log_3 2)$.

    As recalled; check against the paper. A rank found modulo a prime at one choice of weights
    decides its case for almost all weights. Where the inputs are limited, they are at least twice
    what the bound asks for, so that a smaller rank would have shown.
    """
    return measured_rank(case, seed)


@claim(
    Ge(log(sep, 3), DEEP_BOUND),
    **RECALLED_BOUND,
    source=levine("Theorem 2, lower bound"),
    assumes={**DEEP, **SPARE_WIDTH},
    # The bounds of the cases with `inputs` are 15 and 39, then 228, 173 and 519.
    cases={
        "quick": (
            *Case.grid(width=2, depth=(1, 2, 3), heads=1, tokens=4),
            Case(width=8, depth=6, heads=1, tokens=4, inputs=60),
            Case(width=9, depth=6, heads=1, tokens=4, inputs=100),
        ),
        "full": (
            Case(width=8, depth=7, heads=1, tokens=4, inputs=480),
            Case(width=10, depth=7, heads=2, tokens=4, inputs=360),
            Case(width=12, depth=6, heads=1, tokens=2, inputs=1050),
        ),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=4),
        "the slope 2 d L of the upper bound",
        statement=Ge(log(sep, 3), 2 * d * L + _CONSTANTS),
    ),
    supports="separation_rank/upper_bound_deep",
)
def lower_bound_deep(case: Case, seed: int) -> Exact:
    r"""Beyond the threshold the rank reaches the recalled lower bound of Theorem 2.

    For $L > \log_3(d_x)$, $H < d_x$ and almost all weights,
    $\log_3 \operatorname{sep} \geq d_x L/2 + b_1 + b_2$ with $b_1 = -L (H/2 + 1)$ and
    $b_2 = -d_x (1 + \log_3((d_x - H)/2)/2)$.

    As recalled; check against the paper. Vacuous for $d_x \leq H + 2$: there the bound does not
    grow with depth. Where the inputs are limited, they are at least twice what the bound asks for,
    so that a smaller rank would have shown.
    """
    return measured_rank(case, seed)


@claim(
    Ge(sep, binomial(N + K - 1, K)),
    **RECALLED_BOUND,
    source=levine("proof of Theorems 1 and 2, lower bounds"),
    assumes={**SPARE_WIDTH, **LAYERS, "$d_x - H$ even": lambda c: (c.width - c.heads) % 2 == 0},
    # The bounds are 1, 3, 10, 20 and 55, then 20 and 220; where `inputs` is given it is twice that
    # or more, so that a rank below shows.
    cases={
        "quick": (
            Case(width=4, depth=2, heads=2, tokens=4),
            Case(width=8, depth=2, heads=2, tokens=4, inputs=32),
            Case(width=8, depth=3, heads=2, tokens=4, inputs=40),
            Case(width=10, depth=3, heads=2, tokens=4, inputs=80),
            Case(width=8, depth=4, heads=2, tokens=4, inputs=120),
        ),
        "theory": (Case(width=12, depth=3, heads=4, tokens=2, inputs=60),),
        "full": (Case(width=10, depth=4, heads=2, tokens=4, inputs=480),),
    },
    control=Control(
        Case(width=4, depth=2, heads=2, tokens=2),
        "the power $3^L$ and $n = d_x$",
        statement=Ge(sep, binomial(d + 3**L - 1, 3**L)),
    ),
    supports="separation_rank/lower_bound_shallow",
)
def lower_bound_multiset(case: Case, seed: int) -> Exact:
    r"""The rank is at least a multiset coefficient.

    For almost all weights, $\operatorname{sep} \geq \binom{n+k-1}{k}$ with $n = (d_x - H)/2$ and
    $k = 3^{L-2}$, for $L \geq 2$, $H < d_x$ and even $d_x - H$.

    As recalled; check against the paper. Each case has at least twice the inputs that the bound
    asks for, so that a smaller rank would have shown. A rank modulo a prime at one choice of
    weights decides its case for almost all weights, whatever is not seen.
    """
    return measured_rank(case, seed)


# --- from the multiset coefficient to the theorems ------------------------------------------------


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


@claim(
    Ge(log(multiset, 3), Max(K * log(N / K, 3), d * L / 2 + _CONSTANTS, evaluate=False)),
    source=levine("proofs of Theorems 1 and 2, lower bounds"),
    assumes={**SPARE_WIDTH, **LAYERS},
    cases={
        "quick": (
            *Case.grid(width=(3, 4, 8, 12, 30), depth=(2, 3, 4, 5), heads=(1, 2)),
            *Case.grid(width=2, depth=(2, 3), heads=1),
        ),
        "theory": (
            *Case.grid(width=(100, 1000), depth=(5, 6), heads=4),
            *Case.grid(width=100, depth=(5, 8), heads=1),
            Case(width=100, depth=8, heads=4),
        ),
    },
    control=Control(
        Case(width=4, depth=2, heads=1),
        r"$\sqrt{3}$ times as much",
        statement=Ge(log(multiset, 3), Rational(1, 2) + K * log(N / K, 3)),
    ),
    supports="separation_rank/lower_bound_shallow",
)
def multiset_bounds(case: Case) -> Exact:
    r"""The multiset coefficient implies the lower bounds of Theorems 1 and 2.

    For every $H < d_x$ and $L \geq 2$, with $n = (d_x - H)/2$ and $k = 3^{L-2}$, $\binom{n+k-1}{k}$
    is at least $(n/k)^k$, whose $\log_3$ is exactly the lower bound of Theorem 1 as recalled, and
    its $\log_3$ is at least $d_x L/2 + b_1 + b_2$, that of Theorem 2 as recalled: for $n \geq 1$
    since the coefficient is at least $(k/n)^{n-1}$, whose logarithm is this bound plus
    $(H/2 + 1)(2 + \log_3 n) \geq 0$.

    The step $\binom{n+k-1}{k} \geq (k/n)^{n-1}$ is false at $n = 1/2$, that is $d_x = H + 1$; there
    the dropped term makes up for it.
    """
    n, k = Fraction(case.width - case.heads, 2), 3 ** (case.depth - 2)
    return Exact(multiset_coefficient(n, k))


@multiset_bounds.argument(
    "Every factor and both bounds are checked for all $k$, for Theorem 1 for all $n > 0$; "
    "prose: the coefficient as a product of its $k$ factors, that $n = 1/2$, half-integers from "
    "3/2 on and whole $n$ are all cases, and the induction over $k$ at $n = 1/2$."
)
def _(statement: Relational) -> Iterator[Step]:
    """Two ways to bound the product of the factors (n+j)/(j+1)."""
    yield logarithm_step(statement, "multiset")
    both = statement.rhs.args if isinstance(statement.rhs, Max) else ()
    yield Step(
        "the right side is the larger of two bounds, the second of which has a slope in depth",
        sorted(bool(bound.is_Add) for bound in both) == [False, True],
    )
    for bound in both:
        yield from _deep_steps(bound) if bound.is_Add else _shallow_steps(bound)


def _shallow_steps(bound: Expr) -> Iterator[Step]:
    """binom(n+k-1, k) is a product of k factors (n+j)/(j+1), each at least n/k, for real n > 0."""
    yield equal("k log_3(n/k) is the first bound", K * (log(N) - log(K)), bound * log(3))
    yield equal("and that of Theorem 1", bound, K * LOG_RATIO)
    n, (j, more) = Symbol("n", positive=True), symbols("j more", integer=True, nonnegative=True)
    k = j + 1 + more  # j runs from 0 to k - 1
    yield nonnegative(
        "(n+j)/(j+1) >= n/k: multiplied out, n (k-1-j) + k j >= 0",
        sympy.expand(k * (n + j) - n * (j + 1)),
    )
    yield equal(
        "the product of the factors is the multiset coefficient: it starts at 1 and grows "
        "by (n+k)/(k+1)",
        sympy.gammasimp(gamma(n + j + 1) * gamma(j + 1) / (gamma(j + 2) * gamma(n + j))),
        (n + j) / (j + 1),
    )


def _deep_steps(bound: Expr) -> Iterator[Step]:
    """binom(n+k-1, k) >= (k/n)^(n-1) for n = 1, 3/2, 2, ...; the case n = 1/2 apart."""
    log3, half = log(3), Rational(1, 2)
    dropped = (H / 2 + 1) * (2 * log3 + log(N))
    yield equal(
        "(n-1) log_3(k/n) is the bound of Theorem 2 plus (H/2 + 1)(2 + log_3 n)",
        (N - 1) * ((L - 2) * log3 - log(N)),
        bound * log3 + dropped,
    )
    yield Step(
        "2 + log_3 n >= 2 - log_3 2 > 0, since n >= 1/2", bool((2 * log3 - log(2)).is_positive)
    )
    k = Symbol("k", integer=True, positive=True)
    j, more = symbols("j more", integer=True, nonnegative=True)
    yield nonnegative(
        "whole n: n - 1 factors (k+i)/i >= k/n for i = 1, ..., n - 1",
        together((k + j + 1) / (j + 1) - k / (j + 2 + more)),
    )
    yield Step(
        "c_k = binom(k-1/2, k) >= 1/(2 sqrt k): equal at k = 1", half == Rational(1, 2) / sqrt(1)
    )
    yield nonnegative(
        "c_(k+1)/c_k = (2k+1)/(2k+2) >= sqrt(k/(k+1)): squared and multiplied out",
        (2 * k + 1) ** 2 - 4 * k * (k + 1),
    )
    yield nonnegative(
        "n = m + 1/2, m >= 1: the factor (k+1/2)/(1/2) times 1/(2 sqrt k) is at "
        "least sqrt k >= sqrt(k/n)",
        (2 * k + 1) - 2 * k,
    )
    other, lower = j + 3 * half, k / (j + 5 * half + more)
    yield nonnegative(
        "n = m + 1/2: the m - 1 other factors (k+i-1/2)/(i-1/2), 2 <= i <= m, are at least k/n",
        together((k + other) / other - lower),
    )
    yield Step(
        "n = 1/2: log_3 c_k >= -log_3(2 sqrt k), above -log_3(2 k)/2 - (3/2)(2 - log_3 2), "
        "the bound at its largest",
        bool((-log(2) + log(2) / 2 + 3 * half * (2 * log3 - log(2))).is_positive),
    )
