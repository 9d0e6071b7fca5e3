"""Clustering: attention as a flow on the sphere, where equiangular tokens follow one equation.

Tokens move by x_i' = Proj_{x_i} sum_j w_ij x_j with w_ij = e^{beta <x_i, x_j>}, divided by sum_j
w_ij (SA) or by n (USA). The Gram matrix follows a closed system, rational where e^beta = b^q.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import sympy
from sympy import Expr, KroneckerDelta, Piecewise, Rational, Symbol, floor, simplify
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import vanish
from ..claims.relations import Eq
from ..claims.symbols import quantity, tokens as n
from .rational_matrices import rational_array, row_stochastic

rho = quantity(
    "common_cosine", r"\rho", "cosine of every two of a set of equiangular tokens", "real"
)
rate = quantity("cosine_rate", r"\dot\rho", "time derivative of the common cosine", "real")
B = quantity("exp_beta", r"e^\beta", "exponential of the inverse temperature", "positive real")
sums = quantity(
    "by_row_sums",
    r"\nu",
    "1 where weights are divided by the sums of their rows (SA), 0 where by n (USA)",
    "nonnegative integer",
)
g = quantity(
    "logit_growth", "g", "inverse temperature over log n, n the number of tokens", "positive real"
)
rounded_cosine = quantity(
    "rounded_cosine",
    r"\rho'",
    "cosine of two tokens after one step, in millionths, rounded",
    "integer",
)

# --- the flow of equiangular tokens ---

RATE = (
    2
    * B**rho
    * (1 - rho)
    * ((n - 1) * rho + 1)
    / ((B + (n - 1) * B**rho) ** sums * n ** (1 - sums))
)


def _rate_steps(by_row_sums: int, stated: Expr) -> Iterator[Step]:
    """<x_i', x_j> = <y_i, x_j> - <y_i, x_i> rho with y_i = sum_k w_ik x_k / Z, for a symbolic n."""
    many, k = Symbol("others", integer=True, positive=True) + 1, Symbol("k", integer=True)
    far, first, second = B**rho, KroneckerDelta(k, 1), KroneckerDelta(k, 2)
    # That token 1 gives to token k; any other token gives the same ones, permuted.
    weight = far + (B - far) * first

    def total(term: Expr) -> Expr:
        return sympy.summation(sympy.expand(term), (k, 1, many))

    Z = total(weight) if by_row_sums else many
    yield Step(
        "the weights of a row sum to e^beta + (n - 1) e^(beta rho) for every n",
        sympy.expand(total(weight) - B - (many - 1) * far) == 0,
    )
    own, other = (total(weight * (rho + (1 - rho) * to)) / Z for to in (first, second))
    yield Step(
        "every pair has the same derivative 2 (<y_i, x_j> - rho <y_i, x_i>), and it is the "
        "stated one, for all n, beta and rho",
        simplify(2 * (other - rho * own) - stated.subs({sums: by_row_sums, n: many})) == 0,
    )


@claim(
    Eq(rate, RATE),
    wording="reported",
    source=Source("geshkovski2023perspective", "equiangular dynamics, SA, USA", "arXiv:2312.10794"),
    cases={
        "quick": (
            *Case.grid(
                by_row_sums=(1, 0), tokens=(2, 5), common_cosine="1/2", exp_beta=("1", "4", "1/9")
            ),
            *Case.grid(
                by_row_sums=(1, 0), tokens=4, common_cosine=("-1/3", "0", "2/3"), exp_beta="27"
            ),
        )
    },
    # Only for these cosines is the Gram matrix, which is all that is measured, one of unit vectors.
    assumes={
        r"$n$ unit vectors with this cosine exist: $-1/(n - 1) \leq \rho \leq 1$": lambda c: (
            -1 <= (c.tokens - 1) * c.rational("common_cosine") <= c.tokens - 1
        )
    },
    control=Control(
        Case(by_row_sums=1, tokens=5, common_cosine="1/2", exp_beta="4"),
        "without the factor 2",
        Eq(rate, RATE / 2),
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def equiangular_flow(case: Case) -> Exact:
    r"""Equiangular tokens stay so under SA and USA, and closed forms give their cosine's rate.

    Equiangular unit tokens with cosine $\rho$ on the sphere stay equiangular for all $n$ and
    $\beta$, and d rho/dt is $2 e^{\beta \rho} (1 - \rho) ((n - 1) \rho + 1)$ over
    $e^\beta + (n - 1) e^{\beta \rho}$ under SA, over $n$ under USA; so $1 - \rho$ decays near the
    single cluster like $e^{-2 t}$ under SA, and like $e^{-2 e^\beta t}$ under USA.

    Exact: $e^\beta$ and $\rho$ are chosen so that $e^{\beta \rho}$ is rational.
    """
    # All off-diagonal entries of the Gram matrix must have the same derivative.
    count, cosine, base = case.tokens, case.rational("common_cosine"), case.rational("exp_beta")
    far, same = rational_power(base, cosine), rational_array(np.eye(count, dtype=int))
    G, weights = cosine + (1 - cosine) * same, far + (base - far) * same
    # <y_i, x_j> for y_i = sum_k P_ik x_k
    towards = (row_stochastic(weights) if case.by_row_sums else weights / count) @ G
    projected = towards - towards.diagonal()[:, None] * G
    rates = (projected + projected.T)[same == 0]
    if (rates != rates[0]).any() or projected.diagonal().any():
        raise ArithmeticError(f"the tokens of [{case}] do not stay equiangular on the sphere")
    return Exact(rates[0])


@equiangular_flow.argument(
    "Argument: inner products summed for a symbolic $n$. Prose: equal derivatives of all pairs "
    r"keep tokens equiangular; near $\rho = 1$ the rate is $f(1)$."
)
def _(statement: Relational) -> Iterator[Step]:
    """The equation of the cosine, and the limit f(1) of f(rho) = rho' / (1 - rho)."""
    for by_row_sums, last in ((1, 2), (0, 2 * B)):
        yield from _rate_steps(by_row_sums, statement.rhs)
        pull = simplify(statement.rhs.subs(sums, by_row_sums) / (1 - rho))
        yield Step(
            f"rho' / (1 - rho) tends to {last} at the cluster",
            simplify(pull.subs(rho, 1) - last) == 0,
        )


def rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent where that is rational.

    >>> rational_power(Fraction(4), Fraction(-1, 2))
    Fraction(1, 2)
    """
    power = Rational(base) ** Rational(exponent)
    if not power.is_Rational:
        raise ValueError(f"{base}^({exponent}) is irrational; choose a base that is a power")
    return Fraction(int(power.p), int(power.q))


# --- one step with many tokens ---


def _near_limit(case: Case) -> bool:
    """Whether tau = n^(g (1 - rho) - 1) is 1, or at n = 2^480 at least 2^40 away from it."""
    cosine = case.rational("common_cosine")
    exponent = case.rational("logit_growth") * (1 - cosine) - 1
    return 0 < cosine < 1 and (exponent == 0 or abs(exponent) * 480 >= 40)


LIMIT = Piecewise(
    (1, g < 1 / (1 - rho)), (4 * rho / (1 + 3 * rho), Eq(g, 1 / (1 - rho))), (rho, True)
)


@claim(
    Eq(rounded_cosine, floor(10**6 * LIMIT + Rational(1, 2))),
    kind="threshold",
    wording="reported",
    source=Source("rigollet2025", "long-context limit", "arXiv:2512.01868"),
    cases={
        "quick": (
            *Case.grid(common_cosine="1/2", logit_growth=("1", "2", "3")),
            *Case.grid(common_cosine="1/4", logit_growth=("1", "4/3", "2")),
            # Two whose limits end in just less and just more than half a millionth.
            Case(common_cosine="303/383", logit_growth="383/80"),
            Case(common_cosine="121/241", logit_growth="241/120"),
        )
    },
    assumes={r"$0 < \rho < 1$, and $n = 2^{480}$ is close to the limit": _near_limit},
    control=Control(
        Case(common_cosine="1/2", logit_growth="2"),
        "no exception at the border",
        Eq(rounded_cosine, floor(10**6 * rho + Rational(1, 2))),
    ),
    cited=r"Bears on the factor before $\log n$ by which long-context code should multiply its "
    "logits.",
)
def long_context(case: Case) -> Exact:
    r"""Long context: the critical growth of $\beta$ is $\log n/(1 - \rho)$.

    For $\beta = g \log n$ and $n$ -> infinity one step takes equiangular tokens of cosine
    $0 < \rho < 1$ to the cosine 1 if $g < 1/(1 - \rho)$, $4 \rho/(1 + 3 \rho)$ at equality and
    $\rho$ above; the statement compares millionths at $n = 2^{480}$, where $g$ is $1/(1 - \rho)$ or
    $n^{|g (1 - \rho) - 1|} \geq 2^{40}$.

    Read as one normalised attention step; that reading reproduces the reported critical value.
    """
    growth, cosine, bits = case.rational("logit_growth"), case.rational("common_cosine"), 480
    if (growth * bits).denominator != 1 or (growth * cosine * bits).denominator != 1:
        raise ValueError(f"n^g and n^(g rho) must be whole: use denominators that divide {bits}")
    count, own, other = (Fraction(2 ** int(power * bits)) for power in (1, growth, growth * cosine))
    # y_i = (own - other) x_i + other s, s the sum of all tokens: <x_i, s> = S and <s, s> = n S.
    S = 1 + (count - 1) * cosine
    far = 2 * (own - other) * other * S + other**2 * count * S
    square, mixed = (own - other) ** 2 + far, (own - other) ** 2 * cosine + far
    return Exact((2 * 10**6 * mixed / square + 1).__floor__() // 2)


@long_context.argument(
    r"Checks: the limits are taken one after the other, $n$ and then $\tau$, and the statement "
    "compares digits at one $n$; the cases decide.",
    evidence="checks",
)
def _(statement: Relational) -> Iterator[Step]:
    """The cosine depends on tau = (n^g - n^(g rho)) / n^(1 + g rho), which goes to 0, 1 or oo."""
    m, tau = sympy.symbols("n tau", positive=True)
    own, far = tau**2 * m**2, (2 * tau * m + m) * (1 + (m - 1) * rho)
    limit = sympy.limit(sympy.together((own * rho + far) / (own + far)), m, sympy.oo)
    yield vanish(
        "for n -> infinity at fixed tau the cosine tends to rho (1 + tau)^2 / (tau^2 + 2 "
        "tau rho + rho)",
        limit - rho * (1 + tau) ** 2 / (tau**2 + 2 * tau * rho + rho),
    )
    pieces = statement.rhs.find(Piecewise).pop().args
    limits = [limit.subs(tau, 0), limit.subs(tau, 1), sympy.limit(limit, tau, sympy.oo)]
    yield Step(
        "its values at tau = 0, 1 and infinity are the stated ones",
        all(simplify(a - b) == 0 for a, (b, _) in zip(limits, pieces, strict=True)),
    )
    border, (first, second, _) = 1 / (1 - rho), (condition for _, condition in pieces)
    yield Step(
        "tau is n^(g (1 - rho) - 1) up to a factor that tends to 1, and the exponent is 0 "
        "at the stated border, negative below it",
        first == (g < border) and second == Eq(g, border) and simplify(border * (1 - rho) - 1) == 0,
    )
