"""Maps at infinite width, after Giorlandino & Goldt 2026 and Cowsik et al. 2024.

q is the mean square of a token's coordinate, p the mean product of two tokens' coordinates, and
their correlation p/q rises with depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb, prod

import flint
import numpy as np
import sympy
from flint import arb
from sympy import Integer, Max, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..exact.enclosure import from_fraction
from .signal_symbols import nine_decimals, rounded_down
from .token_correlation import CLOSED_FORM, cosine, relu_kernel_ball

overlap = quantity("overlap", "p", "mean product of coordinates of two distinct tokens", "real")
sharpness = quantity(
    "sharpness",
    r"\beta_{att}",
    r"scale of the query and key weights in units where scores grow as $\sqrt{\ln T}$",
    "positive real",
)
participation = quantity(
    "participation",
    "Y",
    "mean of the sum of squared attention weights for many tokens, rounded down to nine decimals",
    "nonnegative real",
)
branch_square = quantity(
    "branch_square",
    "a^2",
    "squared weight of a branch, beside sqrt(1 - a^2) of the stream",
    "positive real",
)
contraction = quantity(
    "contraction",
    r"e^{\lambda}",
    "factor by which a block multiplies $1 - p/q$ when $p$ is close to $q$",
    "positive real",
)
weight_square = quantity(
    "weight_square",
    "s^2",
    "width times the variance of a weight of the first MLP matrix",
    "positive real",
)
activation_moment = quantity(
    "activation_moment", r"\mathbb{E}\phi(sz)^2", "mean square of the activation", "positive real"
)
derivative_moment = quantity(
    "derivative_moment",
    r"\mathbb{E}\phi'(sz)^2",
    "mean square of the derivative of the activation",
    "positive real",
)

_GG = "arXiv:2505.24333"
_COWSIK = Source("cowsik2024", "angle exponent; derived here", "arXiv:2403.02579")


def next_moments(
    q: arb,
    p: arb,
    w2: arb,
    b2: arb,
    *,
    pre_norm: bool,
    gain_controlled: bool = False,
    participation: arb | int = 0,
    shared: arb | int = 0,
) -> tuple[arb, arb]:
    """(q, p) after one layer of attention and ReLU MLP, with skips of factor 1.

    Args:
        w2, b2: sigma_w^2 and sigma_b^2 of the MLP; sigma_v^2 = 1, and attention has no bias.
        pre_norm: whether LayerNorm stands before the branches, or behind the sums.
        gain_controlled: whether attention is without its common part.
        participation: Y, mean sum of squared attention weights; 0 up to the condensation point, for
            infinitely many tokens.
        shared: mean sum of products of two tokens' attention weights: 0 for infinitely many tokens,
            1/T for T of them with uniform weights.
    """
    inside = p / q if pre_norm else p
    spread = (1 if pre_norm else q) - inside
    common = 0 if gain_controlled else inside
    q, p = q + common + spread * participation, p + common + spread * shared
    if not pre_norm:
        q, p = arb(1), p / q
    c = p / q
    q1, p1 = w2 + b2, w2 * c + b2
    q, p = q + w2 * q1 / 2 + b2, p + w2 * q1 * relu_kernel_ball(p1 / q1) / 2 + b2
    return (q, p) if pre_norm else (arb(1), p / q)


def _condensed(beta_c: sympy.Expr) -> Relational:
    return Eq(participation, nine_decimals(Max(Integer(0), 1 - beta_c / sharpness)))


@claim(
    _condensed(sqrt(2 / (1 - overlap))),
    source=Source("giorlandino2026", r"$\beta_c$ and $Y$", _GG),
    wording="printed",
    assumes={"$p < 1$": lambda c: c.rational("overlap") < 1},
    cases={
        "quick": Case.grid(overlap=("0", "1/5", "1/2"), sharpness=("1/10", "2", "3", "7")),
        "theory": Case.grid(overlap=("-1/2", "9/10"), sharpness=("5", "100")),
    },
    control=Control(
        Case(overlap="0", sharpness="2"), r"$1/\sqrt{1 - p}$", _condensed(1 / sqrt(1 - overlap))
    ),
    supports="signal_propagation/participation_in_nets",
)
def condensed_attention(case: Case) -> Exact:
    r"""Poisson-Dirichlet attention condenses beyond $\beta_c$.

    If the attention weights of many LayerNormed tokens ($q = 1$) have the Poisson-Dirichlet law of
    parameter $\beta_c/\beta$, with $\beta_c = \sqrt{2/(1 - p)}$, then for $\beta > \beta_c$ their
    mean sum of squares is $1 - \beta_c/\beta$; at $p = 0$, $\beta = 2$ that is
    $1 - \sqrt{2}/2 = 0.293$. To nine decimals, rounded down; up to $\beta_c$ it is 0.

    Exponentials of many independent Gaussians have these weights in the limit; neither that limit
    theorem nor its use for the scores of attention is checked, and up to $\beta_c$ the 0 is taken
    as given. Finite numbers of tokens approach the limit slowly.
    """
    # E sum P_j^2 for the points of a Poisson process of intensity m x^(-m-1) over their sum,
    # m = beta_c/beta: E sum x^2/S^2 = integral of t E[sum x^2 e^(-tS)] dt
    # = integral of m Gamma(2-m) t^(m-1) exp(-Gamma(1-m) t^m) dt = Gamma(2-m)/Gamma(1-m).
    with flint.ctx.workprec(128):
        p, beta = (from_fraction(case.rational(name)) for name in ("overlap", "sharpness"))
        m = (2 / (1 - p)).sqrt() / beta
        return rounded_down((2 - m).gamma() / (1 - m).gamma()) if m < 1 else Exact(0)


def gaussian_moment(order: int) -> int:
    """E z^order for a standard Gaussian: (order - 1)!! for even orders, 0 for odd ones.

    >>> [gaussian_moment(k) for k in range(7)]
    [1, 0, 1, 0, 3, 0, 15]
    """
    return 0 if order % 2 else prod(range(1, order, 2))


def _moments_of_activation(case: Case) -> bool:
    """Whether a case's E phi(sz)^2 and E phi'(sz)^2 are those of its activation: ReLU or x^k; or,
    of attention, 1 and 0."""
    square, slope, s2 = (
        case.rational(name) for name in ("activation_moment", "derivative_moment", "weight_square")
    )
    if case.activation == "attention":
        return square == 1 and slope == 0
    if case.activation == "relu":
        return square == s2 / 2 and slope == Fraction(1, 2)
    k = int(case.activation[2:])
    return square == s2**k * gaussian_moment(2 * k) and slope == k * k * s2 ** (
        k - 1
    ) * gaussian_moment(2 * k - 2)


def kernel_at_one(activation: str, s2: Fraction) -> tuple[Fraction, Fraction]:
    """The value and slope at c = 1 of the kernel K(c) = E phi(s u) phi(s v) of "relu" or "x^k"."""
    if activation == "relu":
        kernel, scale = CLOSED_FORM, s2 / 2
    else:  # E u^k v^k with u = c v + sqrt(1 - c^2) w, c the cosine
        k = int(activation[2:])
        kernel, scale = (
            sum(
                comb(k, 2 * j)
                * cosine ** (k - 2 * j)
                * (1 - cosine**2) ** j
                * gaussian_moment(2 * j)
                * gaussian_moment(2 * k - 2 * j)
                for j in range(k // 2 + 1)
            ),
            s2**k,
        )
    slope = sympy.limit(simplify(kernel.diff(cosine)), cosine, 1, "-")
    return scale * int(kernel.subs(cosine, 1)), scale * int(slope)


# What attention writes is as large as a token, and does not tell them apart.
_ATTENTIONS = Case.grid(
    activation="attention",
    branch_square=("1/10", "1/2", "9/10"),
    weight_square="1",
    activation_moment="1",
    derivative_moment="0",
    tokens=(2, 64),
)
_FIELDS = ("activation", "branch_square", "weight_square", "activation_moment", "derivative_moment")
_MLPS = tuple(
    Case(**dict(zip(_FIELDS, values.split(), strict=True)))
    for values in (
        *("relu 1/2 2 1 1/2", "relu 1/10 1 1/2 1/2", "x^1 1/2 3 3 1", "x^2 1/2 1 3 4"),
        *("x^2 1/10 1/2 3/4 2", "x^3 1/3 1 15 27", "x^3 1/3 2 120 108", "x^4 1/5 1 105 240"),
    )
)
_SKIP = 1 - branch_square


@claim(
    Eq(
        contraction,
        (_SKIP + branch_square * weight_square * derivative_moment)
        / (_SKIP + branch_square * activation_moment),
    ),
    source=_COWSIK,
    cases={"quick": (*_MLPS, *_ATTENTIONS)},
    assumes={"the moments are those of the activation": _moments_of_activation},
    control=Control(
        _MLPS[3], "no skip", Eq(contraction, weight_square * derivative_moment / activation_moment)
    ),
    cited="Decides whether the scale of an MLP's weights can slow down token collapse.",
)
def block_contraction(case: Case) -> Exact:
    r"""Blocks near equal tokens: attention contracts them, a ReLU MLP does not.

    At infinite width the block $\sqrt{1 - a^2} x + a$ MLP(LN $x$) with first-layer weights of
    standard deviation $s/\sqrt{d}$ multiplies $1 - p/q$ by $(1 - a^2 + a^2 s^2 \mathbb{E}
    \phi'(sz)^2)/(1 - a^2 + a^2 \mathbb{E}
    \phi(sz)^2)$ when $p$ is close to $q$; for ReLU that is 1. The block $\sqrt{1 - a^2} x +
    a$ Attn(LN $x$) with uniform attention multiplies it by $1 - a^2$, as with moments 1 of what is
    written and 0 of its derivative.

    The exponent $\lambda$ is the logarithm, for attention $\ln(1 - a^2)$. The paper's exact
    formulas are not available to us; $q = 1$, infinite width. For every $\phi$ with a Hermite
    series. A ReLU MLP is marginal at every weight scale: its exponent is 0.
    """
    a2 = case.rational("branch_square")
    if case.activation == "attention":
        # (1 - p'/q')/(1 - p/q) at q = 1, p = 1 - e for e -> 0: values and e-derivatives.
        q, p = np.array([1, 0]), np.array([1, -1])
        mean = (q + (case.tokens - 1) * p) * Fraction(1, case.tokens)
        (q, dq), (p, dp) = (1 - a2) * q + a2 * mean, (1 - a2) * p + a2 * mean
        return Exact((p * dq - dp * q) / q**2)
    value, slope = kernel_at_one(case.activation, case.rational("weight_square"))
    return Exact((1 - a2 + a2 * slope) / (1 - a2 + a2 * value))


@block_contraction.argument(
    "one Hermite term, the mean of $n$ tokens and the ratios are symbolic; prose: Hermite "
    "polynomials are orthogonal, and the series may be differentiated"
)
def _(statement: Relational) -> Iterator[Step]:
    """For phi = sum_k h_k He_k, K(c) = sum_k h_k^2 k! c^k (s = 1): the slope at 1 is E phi'^2."""
    k = sympy.Symbol("k", integer=True, positive=True)
    c = sympy.Symbol("c", positive=True)
    h, K, e = sympy.symbols("h K e")
    slope = (h**2 * sympy.factorial(k) * c**k).diff(c).subs(c, 1)
    squares = h**2 * k**2 * sympy.factorial(k - 1)
    yield Step(
        "a term h He_k gives the kernel h^2 k! c^k, of slope h^2 k k! at c = 1; its "
        "derivative h k He_(k-1) has mean square h^2 k^2 (k-1)!",
        sympy.gammasimp((slope - squares).rewrite(sympy.gamma)) == 0,
    )
    q = _SKIP + branch_square * activation_moment
    p = _SKIP * (1 - e) + branch_square * (activation_moment - e * K)
    factor = ((1 - p / q) / e).simplify()
    yield Step(
        "with K'(1) = s^2 E phi'(sz)^2 the factor of 1 - p/q is the right side",
        simplify(factor.subs(K, weight_square * derivative_moment) - statement.rhs) == 0,
    )
    n = sympy.Symbol("n", positive=True)
    mean = (1 + (n - 1) * (1 - e)) / n  # of q = 1 and n - 1 times p = 1 - e
    q, p = _SKIP + branch_square * mean, _SKIP * (1 - e) + branch_square * mean
    moments = {activation_moment: 1, derivative_moment: 0, weight_square: 1}
    yield Step(
        "uniform attention adds the mean of n tokens to all: as e falls to 0, 1 - p/q is e times "
        "the right side at moments 1 and 0, which is 1 - a^2",
        simplify(sympy.limit((1 - p / q) / e, e, 0) - statement.rhs.subs(moments)) == 0
        and simplify(statement.rhs.subs(moments) - _SKIP) == 0,
    )
