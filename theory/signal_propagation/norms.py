"""Norms at initialisation and the Jacobian of LayerNorm, after Xiong et al. 2020.

Weights that are +-1 times a common scale have the second moments and the symmetry of Gaussian ones,
and the mean squares here depend on nothing else, so an average over all signs is exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb, fmpq, fmpq_mat
from sympy import Rational, exp, log, pi, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq, Le, between
from ..claims.symbols import layer, quantity, width
from ..exact.enclosure import enclose, from_fraction
from .signal_symbols import fraction
from .token_correlation import relu_kernel_ball

input_variance = quantity(
    "input_variance",
    r"\sigma^2",
    "variance of every coordinate of a Gaussian input",
    "positive real",
)
squared_norm = quantity(
    "squared_norm",
    r"\mathbb{E}\|\mathrm{ReLU}(X)\|^2",
    "mean squared norm of ReLU applied to a Gaussian vector",
    "positive real",
)
mean_square = quantity(
    "mean_square",
    r"\mathbb{E}\|x_l\|^2/d_x",
    "mean square of a coordinate of the residual stream after layer $l$",
    "positive real",
)
sum_mean_square = quantity(
    "sum_mean_square",
    r"\mathbb{E}\|x_l^{post,5}\|^2/d_x",
    "mean square of a coordinate of the residual sum before a post-LN layer's last LayerNorm",
    "positive real",
)
relative_excess = quantity(
    "relative_excess",
    r"\epsilon",
    "how far a squared norm exceeds its mean, relative to the mean",
    "positive real",
)
excess_probability = quantity(
    "excess_probability",
    r"\Pr[\|X\|^2>(1+\epsilon)d_x]",
    "chance that a standard Gaussian vector has so large a squared norm",
    "positive real",
)

XIONG = "arXiv:2002.04745"
HALF = Rational(1, 2)


def half_gaussian_moment(variance: Any) -> Any:
    """The integral of x^2 against a centred Gaussian over x > 0, where ReLU is not zero."""
    x = sympy.Symbol("x", real=True)
    density = exp(-(x**2) / (2 * variance)) / sqrt(2 * pi * variance)
    return sympy.integrate(x**2 * density, (x, 0, sympy.oo))


@claim(
    Eq(squared_norm, input_variance * width / 2),
    source=Source("xiong2020", "Lemma 1", XIONG),
    cases={
        "quick": Case.grid(width=(1, 3), input_variance=("1", "1/3")),
        "theory": Case.grid(width=512, input_variance=("2", "7/5")),
    },
    control=Control(
        Case(width=3, input_variance="1"), "whole norm", Eq(squared_norm, input_variance * width)
    ),
    supports="signal_propagation/pre_ln_norm",
    wording="printed",
)
def relu_norm(case: Case) -> Exact:
    r"""ReLU halves the mean squared norm of a Gaussian.

    For $X$ with independent $N(0, \sigma^2)$ coordinates,
    $E \|\mathrm{ReLU}(X)\|^2 = \sigma^2 d/2$.
    """
    one = fraction(half_gaussian_moment(Rational(case.input_variance)))
    return Exact(sum((one for _ in range(case.width)), Fraction(0)))


@relu_norm.argument(
    "one integral with a symbolic variance; prose: the mean of a sum over $d$ coordinates is "
    "$d$ times one mean"
)
def _(statement: Relational) -> Iterator[Step]:
    yield Step(
        "the right side is d times the integral over one coordinate",
        simplify(statement.rhs - width * half_gaussian_moment(input_variance)) == 0,
    )


def _branches() -> Iterator[Step]:
    """What the two branches of a layer write on a LayerNormed row."""
    n, S1, S2 = sympy.symbols("n S1 S2", positive=True)
    yield Step(
        "a hidden unit sees N(0, ||x||^2/d) = N(0, 1), so its mean square after ReLU is 1/2 "
        "and the second matrix, of variance 1/d and mean zero, writes a mean square of 1/2 "
        "uncorrelated with the stream",
        half_gaussian_moment(Rational(1)) == HALF,
    )
    pairs = n * S2 - 2 * S1**2 + n * S2
    yield Step(
        "uniform attention writes the mean of n vectors of mean square 1: at least 0, and "
        "at most 1 since n sum x_i^2 - (sum x_i)^2 is half the sum of all (x_i - x_j)^2",
        (pairs / 2 - (n * S2 - S1**2)).expand() == 0,
    )


@claim(
    Eq(sum_mean_square, Rational(3, 2)),
    source=Source("xiong2020", "Lemma 2, post-LN", XIONG),
    cases={
        "quick": Case.grid(width=2, layer=(1, 2, 5)),
        "theory": Case.grid(width=3, layer=(1, 3, 8)),
    },
    control=Control(Case(width=2, layer=1), "without feed-forward branch", Eq(sum_mean_square, 1)),
    supports="signal_propagation/pre_ln_norm",
    wording="printed",
    formal=Formal(
        "Signal.post_ln_norm_checked",
        "Signal.post_ln_value",
        "Weights of one finite symmetric law, so that Gaussian ones are not formal; attention is "
        "any map of one drawn matrix and the tokens; LayerNorm is any map to rows of mean square "
        "1, defined on all rows.",
    ),
)
def post_ln_norm(case: Case, seed: int) -> Exact:
    r"""Post-LN residual sums have squared norm $3 d/2$ at every layer.

    At initialisation the residual sum that enters the last LayerNorm of a post-LN layer has mean
    squared norm $3 d/2$, for every layer $l > 0$ and every input whose rows LayerNorm is defined
    on.

    Needs of the weights only independence, symmetry and variance $1/d$, as Xavier's Gaussian
    weights have; $d_{\mathrm{ff}} = d$.
    """
    # One token; the last feed-forward sublayer over all signs of both matrices, those before at
    # random. LayerNorm gives s c, c integers that sum to zero, s^2 = d / ||c||^2; later maps are
    # homogeneous, so s comes out. Python's integers: c has more digits with every layer.
    rng, d = case.rng(seed), case.width
    signs = np.array(list(product((-1, 1), repeat=d * d)), dtype=object).reshape(-1, d, d)

    def drawn() -> Any:
        return signs[rng.integers(len(signs))]

    def layer_norm(row: Any) -> Any:
        row = d * row - row.sum()
        return row // max(math.gcd(*row), 1)

    x = layer_norm(np.array([3, 1, -5, 2, 7, -4][:d], dtype=object))
    for sublayer in range(2 * case.layer - 1):
        write = x @ drawn() if sublayer % 2 == 0 else np.maximum(x @ drawn(), 0) @ drawn()
        following = layer_norm(x + write)
        x = following if following.any() else x
    sums = d * x + np.maximum(x @ signs, 0) @ signs[:, None]
    mean = Fraction(int((sums**2).sum()), len(signs) ** 2 * d**2)
    return Exact(mean * Fraction(d, int((x**2).sum())) / d)


@post_ln_norm.argument(
    "the machine checks the Gaussian half moment; "
    "prose: LayerNorm fixes the norm, fresh weights write uncorrelated with it"
)
def _(statement: Relational) -> Iterator[Step]:
    """LayerNorm leaves mean square 1, the feed-forward branch adds a half."""
    yield from _branches()
    yield Step(
        "1 + 1/2 is the right side", bool(statement.rhs == 1 + half_gaussian_moment(Rational(1)))
    )


# Per layer attention writes between 0 (tokens cancel) and 1 (they are equal), feed-forward 1/2.
_LEAST, _MOST = 1 + layer * HALF, 1 + 3 * layer * HALF


@claim(
    between(_LEAST, mean_square, _MOST),
    wording="printed",
    source=Source("xiong2020", "Lemma 2, pre-LN", XIONG),
    cases={
        "quick": (
            *Case.grid(width=2, layer=(0, 1), tokens=2, start=("identical", "opposite")),
            Case(width=2, layer=2, tokens=2, start="identical"),
            *Case.grid(layer=(1, 10, 40), tokens=(2, 64), start="orthogonal"),
        ),
        "theory": (
            Case(width=2, layer=3, tokens=2, start="identical"),
            Case(width=2, layer=2, tokens=2, start="opposite"),
            *Case.grid(layer=200, tokens=(2, 1024), start="orthogonal"),
        ),
    },
    control=Control(
        Case(layer=10, tokens=2, start="orthogonal"),
        "attention writes at most 1/2, as if tokens stayed orthogonal",
        between(_LEAST, mean_square, 1 + layer),
    ),
    cited="Decides whether 3/2 per layer bounds the growth of an untrained pre-norm stream.",
    formal=Formal(
        "Signal.pre_ln_norm_checked",
        "Signal.pre_ln_norm_value {layer}",
        "Weights of one finite symmetric law, so that Gaussian ones are not formal; attention is "
        "uniform, the token starts with mean square 1, and LayerNorm is any map to rows of mean "
        "square 1, defined on all rows. That both bounds are attained.",
    ),
)
def pre_ln_norm(case: Case) -> Exact | Ball:
    """Pre-LN streams grow linearly, by 1/2 to 3/2 per layer.

    At initialisation the mean squared norm of a pre-LN stream after layer $l$ is at least
    $(1 + l/2) d$ and at most $(1 + 3 l/2) d$.

    Weights as in post_ln_norm. The lower bound is attained at $l = 1$ by tokens that cancel, the
    upper one by identical tokens. 'orthogonal' cases are of infinite width; the others average over
    all signs of all weights at width 2.
    """
    if case.start != "orthogonal":
        return Exact(mean_square_of_two(case.layer, identical=case.start == "identical"))
    with flint.ctx.workprec(128):
        return Ball.of(wide_mean_square(case.layer, case.tokens))


@pre_ln_norm.argument(
    "induction over layers; "
    "prose: fresh weights write uncorrelated with the stream, so that mean squares add"
)
def _(statement: Relational) -> Iterator[Step]:
    """Induction on layers: a layer adds between 1/2 and 3/2."""
    yield from _branches()
    for side, bound, extreme in zip((-1, 1), statement.rhs, (HALF, Rational(3, 2)), strict=True):
        step = simplify(bound.subs(layer, layer + 1) - bound)
        yield Step(
            "base: at l = 0 the bound admits mean square 1",
            bool((side * (bound.subs(layer, 0) - 1)).is_nonnegative),
        )
        yield Step(
            f"step: from l to l + 1 it moves by at {'least' if side > 0 else 'most'} {extreme}",
            bool((side * (step - extreme)).is_nonnegative),
        )


@claim(
    Le(excess_probability, exp(-width * relative_excess**2 / 8)),
    source=Source(
        "xiong2020", r"after the definition of $(\varepsilon, \delta)$-boundedness", XIONG
    ),
    assumes={
        r"$\varepsilon \leq 8/5$": lambda c: 0 < c.rational("relative_excess") <= Fraction(8, 5)
    },
    cases={
        "quick": Case.grid(width=(1, 8, 64), relative_excess=("1/100", "1/10", "1/2", "8/5")),
        "theory": Case.grid(width=(512, 4096), relative_excess=("1/10", "1", "8/5")),
    },
    control=Control(
        Case(width=64, relative_excess="1/100"),
        "a third of the bound",
        Le(excess_probability, exp(-width * relative_excess**2 / 8) / 3),
    ),
    supports="signal_propagation/gradient_exponents",
    wording="printed",
)
def norm_concentration(case: Case) -> Ball:
    r"""Squared norms of Gaussians rarely exceed their mean.

    For a standard Gaussian vector $X$ of width $d$ and $0 < \varepsilon \leq 8/5$, $P(\|X\|^2 > (1
    + \varepsilon) d) \leq \exp(-d \varepsilon^2/8)$.

    Needs a bound on $\varepsilon$ that the text does not state: from $\varepsilon = 1.6238$ on it
    is false for large $d$.
    """
    with flint.ctx.workprec(256):  # Gamma(d/2, (1 + eps) d/2) / Gamma(d/2)
        start = from_fraction((1 + case.rational("relative_excess")) * case.width / 2)
        return Ball.of(start.gamma_upper(arb(case.width) / 2, 1))


@norm_concentration.argument(
    "every inequality on the whole range; prose: Markov's inequality; "
    "that the slope has one root rests on SymPy's solver"
)
def _(statement: Relational) -> Iterator[Step]:
    """Chernoff at t = eps / (2 (1 + eps)), then one inequality on the whole of 0 < eps <= 8/5."""
    eps, d = relative_excess, width
    x, s, t = sympy.Symbol("x", real=True), sympy.Symbol("s", positive=True), eps / (2 * (1 + eps))
    gaussian = sympy.integrate(exp(-(x**2) / (2 * s**2)), (x, -sympy.oo, sympy.oo)) / sqrt(2 * pi)
    yield Step("E exp(t X^2) = s where 1 - 2 t = 1/s^2", simplify(gaussian - s) == 0)
    rate = (eps - log(1 + eps)) / 2
    yield Step(
        "Markov's inequality at t = eps/(2 (1 + eps)), where 1 - 2 t = 1/(1 + eps), gives "
        "exp(-d (eps - log(1 + eps))/2)",
        simplify((1 - 2 * t) * (1 + eps)) == 1
        and simplify(-t * (1 + eps) * d + d / 2 * log(1 + eps) + d * rate) == 0,
    )
    gap = simplify(rate + sympy.expand_log(log(statement.rhs), force=True) / d)
    free_of_width = d not in gap.free_symbols
    yield Step(
        "the gap between the exponents is d times a function of eps that is 0 at 0",
        free_of_width and bool(gap.subs(eps, 0) == 0),
    )
    if not free_of_width:
        return
    slope = simplify(gap.diff(eps))
    turning = [root for root in sympy.solve(slope, eps) if root.is_positive]
    rises = [
        bool(enclose(slope.subs(eps, point)) > 0)
        for point in (*(root / 2 for root in turning), Rational(1, 100))
    ]
    yield Step(
        "it rises from 0 and turns at most once, so on [0, 8/5] it is least at an end",
        len(turning) <= 1 and all(rises),
    )
    yield Step("it is positive at 8/5", bool(enclose(gap.subs(eps, Rational(8, 5))) > 0))


# A token of width 2 as (u + v sqrt(2))/5 per coordinate: u1, v1, u2, v2.
Token = tuple[int, int, int, int]
FIFTHS = 5


def mean_square_of_two(layers: int, *, identical: bool) -> Fraction:
    """E ||x_l||^2 / 2 for two tokens of width 2 that start identical or opposite."""
    first = (7, 0, -1, 0)
    states: Counter[tuple[Token, ...]] = Counter(
        {(first, first if identical else (-7, 0, 1, 0)): 1}
    )
    for _ in range(layers):
        states = _feed_forward(_attention(states))
    square = root = 0  # of square + 2 root sqrt(2)
    for ((u1, v1, u2, v2), _), count in states.items():
        square += count * (u1**2 + u2**2 + 2 * (v1**2 + v2**2))
        root += count * (u1 * v1 + u2 * v2)
    if root:
        raise ArithmeticError("the mean square is not rational; the enumeration lost its symmetry")
    return Fraction(square, 2 * FIFTHS**2 * states.total())


def _normed_sign(token: Token) -> int:
    """LayerNorm gives this sign, that of x1 - x2 = (u + v sqrt(2))/5 != 0, times (1, -1)."""
    u, v = token[0] - token[2], token[1] - token[3]
    if u * v >= 0:
        return 1 if u + v > 0 else -1
    return 1 if (u if u * u > 2 * v * v else v) > 0 else -1


def _attention(states: Counter[tuple[Token, ...]]) -> Counter[tuple[Token, ...]]:
    """All tokens get mu (w11 - w21, w12 - w22), mu the mean sign; differences are +-sqrt(2), 0."""
    after: Counter[tuple[Token, ...]] = Counter()
    for tokens, count in states.items():
        mu = FIFTHS * sum(map(_normed_sign, tokens)) // 2
        for a, b in product((-1, 0, 0, 1), repeat=2):
            after[tuple((u1, v1 + mu * a, u2, v2 + mu * b) for u1, v1, u2, v2 in tokens)] += count
    return after


def _feed_forward(states: Counter[tuple[Token, ...]]) -> Counter[tuple[Token, ...]]:
    """Hidden units ReLU(+-(w11 - w21)), 0 or sqrt(2), times a second matrix of +-1/sqrt(2)."""
    after: Counter[tuple[Token, ...]] = Counter()
    for tokens, count in states.items():
        for steps, times in _steps(tuple(map(_normed_sign, tokens))).items():
            moved = tuple(
                (u1 + a, v1, u2 + b, v2)
                for (u1, v1, u2, v2), (a, b) in zip(tokens, steps, strict=True)
            )
            after[moved] += count * times
    return after


@cache
def _steps(signs: tuple[int, ...]) -> Counter[tuple[tuple[int, int], ...]]:
    """What the feed-forward branch adds to tokens of these signs, over all of its matrices."""
    return Counter(
        tuple((h * w11 + k * w21, h * w12 + k * w22) for h, k in hidden)
        for a, b in product((-1, 0, 0, 1), repeat=2)
        for hidden in [[(FIFTHS * max(s * a, 0), FIFTHS * max(s * b, 0)) for s in signs]]
        for w11, w12, w21, w22 in product((-1, 1), repeat=4)
    )


def wide_mean_square(layers: int, tokens: int) -> arb:
    """The mean square q at infinite width; p, the mean product of two tokens, starts at 0."""
    q, p = arb(1), arb(0)
    for _ in range(layers):
        mean = (1 + (tokens - 1) * (p / q)) / tokens
        q, p = q + mean, p + mean
        q, p = q + arb(1) / 2, p + relu_kernel_ball(p / q) / 2
    return q


centred_square = quantity(
    "centred_square", r"\|y\|^2", "squared norm of a row vector minus its mean", "positive real"
)
jacobian_square = quantity(
    "jacobian_square",
    r"\|J_{LN}\|^2",
    "squared spectral or Frobenius norm of the Jacobian of LayerNorm at a point",
    "nonnegative real",
)
directions = quantity(
    "directions", "r", "1 for the spectral norm, d - 2 directions for the Frobenius norm"
)


def _centred(row: str) -> Case:
    """A row as a case, with its width and the squared norm of the centred row."""
    x = [int(v) for v in row.split()]
    d = len(x)
    return Case(row=row, width=d, centred_square=f"{d * sum(v * v for v in x) - sum(x) ** 2}/{d}")


def _both_norms(*rows: str) -> tuple[Case, ...]:
    return tuple(
        Case(**case.fields(), norm=norm, directions=1 if norm == "spectral" else case.width - 2)
        for case in map(_centred, rows)
        for norm in ("spectral", "Frobenius")
    )


def scaled_jacobian(row: list[int]) -> tuple[fmpq_mat, fmpq]:
    """(R, s) with J = sqrt(s) R, by dual numbers: y + t dy over the root of its squared norm."""
    d = len(row)
    y = [fmpq(d * v - sum(row), d) for v in row]
    square = sum((v * v for v in y), fmpq(0))
    columns = []
    for k in range(d):
        dy = [fmpq(d * (i == k) - 1, d) for i in range(d)]
        change = sum(2 * a * b for a, b in zip(y, dy, strict=True))
        columns.append([b - a * change / (2 * square) for a, b in zip(y, dy, strict=True)])
    return fmpq_mat(columns).transpose(), d / square


def _exact(value: fmpq) -> Exact:
    return Exact(Fraction(int(value.p), int(value.q)))


@claim(
    Eq(jacobian_square, directions * width / centred_square),
    source=Source("xiong2020", "Lemma 3 and its proof", XIONG),
    assumes={
        r"$d \geq 3$": lambda c: c.width >= 3,
        r"$\|y\|^2$ and directions are those of row and norm": lambda c: c in _both_norms(c.row),
    },
    cases={
        "quick": _both_norms("4 1 1", "3 -1 4 1", "2 7 1 8 2", "1 0 0"),
        "theory": _both_norms("5 3 5 8 9 7 9 3", "1 2 3 4 5 6 7 8 9 10"),
    },
    control=Control(
        _both_norms("4 1 1")[1],
        "a projection of rank $d - 1$",
        Eq(jacobian_square, (directions + 1) * width / centred_square),
    ),
    supports="signal_propagation/gradient_exponents",
)
def layernorm_jacobian(case: Case) -> Exact:
    r"""LayerNorm's Jacobian is $\sqrt{d}/\|y\|$ times a projection of rank $d - 2$.

    At every $x$ of width $d \geq 3$ that is not constant, $y$ the centred $x$, the Jacobian of
    LayerNorm has spectral norm $\sqrt{d}/\|y\|$ and $\|J\|_F^2 = d (d - 2)/\|y\|^2$: it removes the
    mean and the radial direction and scales the rest.

    Lemma 3 states $O(\sqrt{d}/\|x\|)$; its proof has the exact Jacobian, from which this follows.
    """
    R, scale = scaled_jacobian([int(v) for v in case.row.split()])
    gram = R * R.transpose()
    if case.norm == "Frobenius":
        return _exact(scale * sum((gram[i, i] for i in range(gram.nrows())), fmpq(0)))
    linear = [(f, count) for f, count in gram.charpoly().factor()[1] if f.degree() == 1]
    if sum(count for _, count in linear) < gram.nrows():
        raise ArithmeticError("an eigenvalue of J J^T is irrational")
    return _exact(scale * max(-f[0] / f[1] for f, _ in linear))


@layernorm_jacobian.argument(
    "the derivative and the projection algebra are symbolic; prose: $y$ is orthogonal to the "
    "ones, and what a trace counts"
)
def _(statement: Relational) -> Iterator[Step]:
    """J = sqrt(d)/||y|| (1 - a)(1 - b), a and b projections on y and on the ones."""
    t, y, h, p, q, a, b = sympy.symbols("t y h p q a b", real=True)
    n = sympy.Symbol("n", positive=True)
    quotient = ((y + t * h) / sqrt(n + 2 * t * p + t**2 * q)).diff(t).subs(t, 0)
    yield Step(
        "(y + t h)/||y + t h|| has derivative h/||y|| - y (y.h)/||y||^3 at t = 0",
        simplify(quotient - h / sqrt(n) + y * p / n ** Rational(3, 2)) == 0,
    )

    def reduced(expression: sympy.Expr) -> sympy.Expr:
        for old, new in ((a**2, a), (b**2, b), (a * b, 0)):
            expression = expression.expand().subs(old, new)
        return expression

    both = reduced((1 - a) * (1 - b))
    yield Step(
        "(1 - a)(1 - b) is a projection, since a a = a, b b = b, a b = 0",
        simplify(reduced(reduced(both**2)) - both) == 0,
    )
    rank = both.subs({a: 1, b: 1}) + width - 1
    yield Step("its rank, the trace of 1 - a - b, is d - 2", simplify(rank - (width - 2)) == 0)
    yield Step(
        "with r directions the right side is d/||y||^2 times r: times 1, its largest eigenvalue "
        "when d >= 3, and times the rank",
        all(
            simplify(statement.rhs.subs(directions, r) - r * width / centred_square) == 0
            for r in (1, width - 2)
        ),
    )
