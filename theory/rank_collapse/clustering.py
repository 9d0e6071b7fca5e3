"""Clustering: attention as a flow on the sphere, where equiangular tokens follow one equation.

Tokens move by x_i' = Proj_{x_i} sum_j w_ij x_j with w_ij = e^{beta <x_i, x_j>}, divided by sum_j
w_ij (SA) or by n (USA). Only inner products enter, so the Gram matrix follows a closed system; with
e^beta = b^q and cosines p/q it stays rational.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import flint
import numpy as np
import sympy
from flint import acb
from sympy import Expr, KroneckerDelta, Piecewise, Rational, Symbol, floor, simplify
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import vanish
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..claims.symbols import tokens as n
from ..exact.enclosure import from_fraction
from .attention_kernels import wrong_entries
from .attention_paths import figure
from .rational_matrices import random_matrix, rational_array, row_stochastic

rho = quantity(
    "common_cosine", r"\rho", "cosine of every two of a set of equiangular tokens", "real"
)
rate = quantity("cosine_rate", r"\dot\rho", "time derivative of the common cosine", "real")
B = quantity("exp_beta", r"e^\beta", "exponential of the inverse temperature", "positive real")
decay = quantity(
    "cluster_rate", r"\lambda", "rate at which 1 - cosine decays near the single cluster", "real"
)
time = quantity("time", "t", "time of the flow", "nonnegative real")
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

_PULL = 2 * B**rho * (1 - rho) * ((n - 1) * rho + 1)
SA, USA = _PULL / (B + (n - 1) * B**rho), _PULL / n


def _rate_steps(flow: str, statement: Relational) -> Iterator[Step]:
    """<x_i', x_j> = <y_i, x_j> - <y_i, x_i> rho with y_i = sum_k w_ik x_k / Z, for a symbolic n."""
    many, k = Symbol("others", integer=True, positive=True) + 1, Symbol("k", integer=True)
    far, first, second = B**rho, KroneckerDelta(k, 1), KroneckerDelta(k, 2)
    # That token 1 gives to token k; any other token gives the same ones, permuted.
    weight = far + (B - far) * first

    def total(term: Expr) -> Expr:
        return sympy.summation(sympy.expand(term), (k, 1, many))

    Z = total(weight) if flow == "SA" else many
    yield Step(
        "the weights of a row sum to e^beta + (n - 1) e^(beta rho) for every n",
        sympy.expand(total(weight) - B - (many - 1) * far) == 0,
    )
    own, other = (total(weight * (rho + (1 - rho) * to)) / Z for to in (first, second))
    yield Step(
        "every pair has the same derivative 2 (<y_i, x_j> - rho <y_i, x_i>), and it is the "
        "stated one, for all n, beta and rho",
        simplify(2 * (other - rho * own) - statement.rhs.subs(n, many)) == 0,
    )


def _decay_steps(flow: str, equation: Expr, statement: Relational) -> Iterator[Step]:
    """The equation of the cosine, and the limit of rho' / (1 - rho) at rho = 1."""
    yield from _rate_steps(flow, Eq(rate, equation))
    yield Step(
        "rho' / (1 - rho) tends to the stated rate at the cluster",
        simplify(simplify(equation / (1 - rho)).subs(rho, 1) - statement.rhs) == 0,
    )


equiangular = partial(
    claim,
    wording="reported",
    # Only for these cosines is the Gram matrix, which is all that is measured, one of unit vectors.
    assumes={
        "n unit vectors with this cosine exist: -1/(n - 1) <= rho <= 1": lambda c: (
            -1 <= (c.tokens - 1) * c.rational("common_cosine") <= c.tokens - 1
        )
    },
    rests_on="Argument: inner products summed for a symbolic n. Prose: equal derivatives of all "
    "pairs keep the tokens equiangular (uniqueness).",
)
last_approach = partial(
    claim,
    wording="reported",
    kind="rate",
    rests_on="Argument: the equation of the cosine is derived first. Prose: near rho = 1, "
    "rho' = (1 - rho) f(rho) decays at the rate f(1).",
)


def _source(flow: str) -> Source:
    return Source("geshkovski2023perspective", f"equiangular dynamics, {flow}", "arXiv:2312.10794")


def _cosines(flow: str) -> dict[str, tuple[Case, ...]]:
    return {
        "quick": (
            *Case.grid(flow=flow, tokens=(2, 5), common_cosine="1/2", exp_beta=("1", "4", "1/9")),
            *Case.grid(flow=flow, tokens=4, common_cosine=("-1/3", "0", "2/3"), exp_beta="27"),
        )
    }


def _clusters(flow: str) -> dict[str, tuple[Case, ...]]:
    return {"quick": Case.grid(flow=flow, tokens=(2, 5, 16), exp_beta=("1", "4", "1/3"))}


@equiangular(
    Eq(rate, SA),
    source=_source("SA"),
    cases=_cosines("SA"),
    proof=partial(_rate_steps, "SA"),
    control=Control(
        Case(flow="SA", tokens=5, common_cosine="1/2", exp_beta="4"),
        "without the factor 2",
        statement=Eq(rate, SA / 2),
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def equiangular_sa(case: Case) -> Exact:
    """Equation of the common cosine under SA.

    Equiangular unit tokens with cosine rho under SA on the sphere stay equiangular for all n and
    beta, and d rho/dt = 2 e^(beta rho) (1 - rho) ((n - 1) rho + 1) / (e^beta + (n - 1) e^(beta
    rho)).

    Exact: e^beta and rho are chosen so that e^(beta rho) is rational.
    """
    return cosine_rate(case)


@equiangular(
    Eq(rate, USA),
    source=_source("USA"),
    cases=_cosines("USA"),
    proof=partial(_rate_steps, "USA"),
    control=Control(
        Case(flow="USA", tokens=5, common_cosine="1/2", exp_beta="4"),
        "without the factor 2",
        statement=Eq(rate, USA / 2),
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def equiangular_usa(case: Case) -> Exact:
    """Equation of the common cosine under USA.

    Equiangular unit tokens with cosine rho under USA on the sphere stay equiangular for all n and
    beta, and d rho/dt = 2 e^(beta rho) (1 - rho) ((n - 1) rho + 1) / n.

    Exact: e^beta and rho are chosen so that e^(beta rho) is rational.
    """
    return cosine_rate(case)


def cosine_rate(case: Case) -> Exact:
    """The derivative of all off-diagonal entries of the Gram matrix; they must be the same."""
    count, cosine, base = case.tokens, case.rational("common_cosine"), case.rational("exp_beta")
    far, same = rational_power(base, cosine), rational_array(np.eye(count, dtype=int))
    G, weights = cosine + (1 - cosine) * same, far + (base - far) * same
    # <y_i, x_j> for y_i = sum_k P_ik x_k
    towards = (row_stochastic(weights) if case.flow == "SA" else weights / count) @ G
    projected = towards - towards.diagonal()[:, None] * G
    rates = (projected + projected.T)[same == 0]
    if (rates != rates[0]).any() or projected.diagonal().any():
        raise ArithmeticError(f"the tokens of [{case}] do not stay equiangular on the sphere")
    return Exact(rates[0])


def rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent where that is rational.

    >>> rational_power(Fraction(4), Fraction(-1, 2))
    Fraction(1, 2)
    """
    power = Rational(base) ** Rational(exponent)
    if not power.is_Rational:
        raise ValueError(f"{base}^({exponent}) is irrational; choose a base that is a power")
    return Fraction(int(power.p), int(power.q))


@last_approach(
    Eq(decay, 2),
    source=_source("SA"),
    cases=_clusters("SA"),
    proof=partial(_decay_steps, "SA", SA),
    control=Control(
        Case(flow="SA", tokens=5, exp_beta="4"), "half the rate", statement=Eq(decay, 1)
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def cluster_rate_sa(case: Case) -> Exact:
    """Exponential rate of the last approach under SA.

    For equiangular tokens under SA, 1 - rho decays near the single cluster like e^(-2t) for all n
    and beta: -d log(1 - rho)/dt tends to 2 as rho tends to 1.

    Measured on the linearised flow of all tokens, not on the equation of the cosine.
    """
    return cluster_rate(case)


@last_approach(
    Eq(decay, 2 * B),
    source=_source("USA"),
    cases=_clusters("USA"),
    proof=partial(_decay_steps, "USA", USA),
    control=Control(
        Case(flow="USA", tokens=5, exp_beta="4"), "half the rate", statement=Eq(decay, B)
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def cluster_rate_usa(case: Case) -> Exact:
    """Exponential rate of the last approach under USA.

    For equiangular tokens under USA, 1 - rho decays near the single cluster like e^(-2 e^beta t)
    for all n and beta: -d log(1 - rho)/dt tends to 2 e^beta as rho tends to 1.

    Measured on the linearised flow of all tokens, not on the equation of the cosine.
    """
    return cluster_rate(case)


def cluster_rate(case: Case) -> Exact:
    """The rate of 1 - cosine at the single cluster, from tokens (1, eps u_i) to first order in eps.

    There <x_i, x_j> - 1 is of second order, so the weights are e^beta, a rational number by choice;
    1 - cosine is half of the squared distance, whose rate is twice that of the differences
    u_i - u_j.
    """
    count, base = case.tokens, case.rational("exp_beta")
    u = rational_array([1, -1, *[0] * (count - 2)])
    x, dx = (np.stack(columns, axis=1) for columns in ((u**0, 0 * u), (0 * u, u)))
    if (x @ dx.T + dx @ x.T).any():
        raise ArithmeticError("inner products at the cluster must not change to first order")
    share = base / (base * count if case.flow == "SA" else count)
    y, dy = share * x.sum(axis=0), share * dx.sum(axis=0)
    slopes = (dy - (x @ dy + dx @ y)[:, None] * x - (x @ y)[:, None] * dx)[:, 1]
    if (slopes != slopes[0] * u).any():
        raise ArithmeticError("the differences of the tokens do not decay at one rate")
    return Exact(-2 * slopes[0])


PRINTED = Piecewise((10609, Eq(time, 8)), (19431, Eq(time, 10)))
_start = partial(Case, tokens=16, inverse_temperature=2, common_cosine="1/10")


@claim(
    Eq(figure, PRINTED),
    weight="arithmetic",
    premises=("rank_collapse/equiangular_sa",),
    source=Source("depthlaw", "theory/rank_collapse/clustering.py, from geshkovski2023perspective"),
    cases={"quick": (_start(time=8, digits=10), _start(time=10, digits=12))},
    control=Control(
        _start(time=8, digits=10), "the last digit off by one", statement=Eq(figure, PRINTED + 1)
    ),
    checks="The integral of equiangular_sa's equation with two rounded values of 1 - rho of ours.",
)
def equiangular_figures(case: Case) -> Exact:
    """16 tokens from cosine 0.1, at times 8 and 10.

    Under SA with n = 16, beta = 2 and rho(0) = 0.1, 1 - rho = 1.0609e-6 at t = 8 and 1.9431e-8 at
    t = 10; the statement holds the rounded digits.

    Measured is the equation of the premise, not 16 tokens: it is separable, and the time to a
    cosine is an integral that arb encloses rigorously.
    """
    count, beta = case.tokens, case.inverse_temperature

    def density(s: acb, _: bool) -> acb:
        """dt/ds with 1 - rho = e^-s: (1 - rho) over rho'."""
        cosine = 1 - (-s).exp()
        far = (beta * cosine).exp()
        return (acb(beta).exp() + (count - 1) * far) / (2 * far * ((count - 1) * cosine + 1))

    def later(one_minus: Fraction) -> bool:
        """Whether 1 - rho reaches a value only after the case's time."""
        gap = acb.integral(density, acb(start), acb(-from_fraction(one_minus).log())).real - end
        if not (gap > 0 or gap < 0):
            raise ArithmeticError(f"{gap} does not say on which side of the value the cosine lies")
        return bool(gap > 0)

    end = from_fraction(case.rational("time"))
    with flint.ctx.workprec(96):
        start = -(1 - from_fraction(case.rational("common_cosine"))).log()
        low, high = 0, 10**case.digits
        while high - low > 1:
            middle = (low + high) // 2
            # Time grows with s, so 1 - rho(t) is above a value exactly when that is reached later.
            reached_later = later(Fraction(2 * middle - 1, 2 * 10**case.digits))
            low, high = (middle, high) if reached_later else (low, middle)
    return Exact(low)


# --- one step with many tokens, and rescaled tokens ---


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
    assumes={"0 < rho < 1, and n = 2^480 is close to the limit": _near_limit},
    control=Control(
        Case(common_cosine="1/2", logit_growth="2"),
        "no exception at the border",
        statement=Eq(rounded_cosine, floor(10**6 * rho + Rational(1, 2))),
    ),
    cited="Bears on the factor before log n by which long-context code should multiply its logits.",
)
def long_context(case: Case) -> Exact:
    """Long context: the critical growth of beta is log n/(1 - rho).

    For beta = g log n and n -> infinity one step takes equiangular tokens of cosine 0 < rho < 1 to
    the cosine 1 if g < 1/(1 - rho), 4 rho/(1 + 3 rho) at equality and rho above; the statement
    compares millionths at n = 2^480, where g is 1/(1 - rho) or n^|g (1 - rho) - 1| >= 2^40.

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
    "Checks: the limits are taken one after the other, n and then tau, and the statement compares "
    "digits at one n; the cases decide.",
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


@claim(
    Eq(wrong_entries, 0),
    wording="printed",
    source=Source("geshkovski2023clusters", "code borjanG/2023-transformers", "arXiv:2305.05465"),
    cases={"quick": Case.grid(tokens=4, width=(2, 3), time=("0", "2/3"))},
    assumes={"the rows of P sum to 1": lambda c: c.get("scale", 1) == 1},
    control=Control(Case(tokens=4, width=3, time="2/3", scale=2), "rows of P that sum to 2"),
    supports="rank_collapse/pre_norm_clusters",
)
def rescaled_tokens(case: Case) -> Exact:
    """Rescaled tokens follow differences alone.

    For z_i = e^(-tV) x_i and dx_i/dt = sum_j P_ij V x_j with row-stochastic P, dz_i/dt = sum_j P_ij
    V (z_j - z_i).

    Exact, over the rationals, with a nilpotent V whose exponential is a polynomial.
    """
    count, d, t = case.tokens, case.width, case.rational("time")
    raw, V, X = (
        random_matrix(case, rows, columns, salt)
        for salt, (rows, columns) in enumerate(((count, count), (d, d), (count, d)))
    )
    P, V = row_stochastic(np.abs(raw) + 1) * case.get("scale", 1), np.triu(V, 1)
    power = flow = rational_array(np.eye(d, dtype=int))
    for k in range(1, d):
        power = -t * power @ V / k
        flow = flow + power
    VX, VZ = X @ V.T, X @ flow.T @ V.T
    moved = (P @ VX - VX) @ flow.T
    return Exact(int((moved != P @ VZ - P.sum(axis=1, keepdims=True) * VZ).sum()))
