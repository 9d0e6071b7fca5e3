"""Uniform attention and ReLU branches correlate tokens, query gradients vanish (Noci et al. 2022).

C is the squared norm of the sum of the tokens, N the sum of their squared norms. A case writes
tokens as "1 0; 0 1", one row each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb
from sympy import acos, cos, exp, limit, oo, pi, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq, Gt
from ..claims.symbols import layer, quantity, tokens, width
from ..exact.enclosure import from_fraction
from .signal_symbols import ROUNDS, before_rounding, nine_decimals, rounded_down

attention_square = quantity(
    "attention_square", "a^2", "squared weight of the attention branch", "nonnegative real"
)
mlp_square = quantity("mlp_square", "a_2^2", "squared weight of the MLP branch", "nonnegative real")
common_start = quantity(
    "common_start", "C_0", "squared norm of the sum of the input tokens", "nonnegative real"
)
total_start = quantity(
    "total_start", "N_0", "sum of the squared norms of the input tokens", "positive real"
)


def dot(x: Sequence[int], y: Sequence[int]) -> int:
    """The scalar product."""
    return sum(u * v for u, v in zip(x, y, strict=True))


def tokens_of(case: Case) -> list[list[int]]:
    """The tokens of a case."""
    return [[int(v) for v in row.split()] for row in case.rows.split(";")]


def token_case(rows: str, **more: Any) -> Case:
    """Tokens as a case, with the invariants that statements use."""
    tokens = tokens_of(Case(rows=rows))
    n, d = len(tokens), len(tokens[0])
    columns = list(zip(*tokens, strict=True))
    gram = [n * dot(x, y) - sum(x) * sum(y) for x in columns for y in columns]
    return Case(
        **more,
        rows=rows,
        tokens=n,
        width=d,
        common_start=sum(sum(c) ** 2 for c in columns),
        total_start=sum(dot(x, x) for x in tokens),
        gram_square=f"{dot(gram, gram)}/{n * n}",
    )


def spread_case(rows: str) -> Case:
    """Tokens as a case, with their mean square and mean correlation."""
    c = token_case(rows)
    return Case(
        **c.fields(),
        token_variance=f"{c.total_start}/{c.tokens * c.width}",
        start_correlation=f"{c.common_start - c.total_start}/{(c.tokens - 1) * c.total_start}",
    )


def _consistent(case: Case) -> bool:
    """Whether what a case says of its tokens is true of them."""
    true = spread_case(case.rows).fields()
    return all(
        case.rational(name) == Fraction(value)
        for name, value in true.items()
        if name in case and name != "rows"
    )


OF_TOKENS = {"sizes and norms are those of the tokens": _consistent}


def all_signs(width: int) -> Any:
    """Every square matrix of +-1."""
    signs = list(product((-1, 1), repeat=width * width))
    return np.array(signs, dtype=np.int64).reshape(-1, width, width)


token_square = quantity(
    "token_square",
    r"\mathbb{E}C_l,\ \mathbb{E}N_l",
    "after layer $l$: mean squared norm of the sum of the tokens, or mean sum of their squared "
    "norms",
    "nonnegative real",
)
square_start = quantity(
    "square_start", r"Q_0", "that of the input tokens: C_0 or N_0", "nonnegative real"
)
sharers = quantity(
    "sharers", "k", "1 for the norm of the sum, the number of tokens for the sum of norms"
)
correlation = quantity(
    "correlation",
    r"\rho_l",
    "$(E C_l - E N_l)/((n - 1) E N_l)$: mean correlation of distinct tokens after layer $l$",
    "real",
)
limit_correlation = quantity(
    "limit_correlation",
    r"\rho_\infty",
    "limit of the correlation for $a^2 = t^2/L$, $L$ to infinity, rounded down to nine decimals",
    "real",
)
scaled_square = quantity(
    "scaled_square", "t^2", "L times the squared weight of the attention branch", "positive real"
)

NOCI = "arXiv:2206.03126"
_ATTENTION, _MLP = 1 + attention_square, 1 + mlp_square
_POWER = _ATTENTION**layer
_GROWN = _MLP**layer * (square_start + common_start / sharers * (_POWER - 1))
COMMON = _GROWN.subs({square_start: common_start, sharers: 1})
TOTAL = _GROWN.subs({square_start: total_start, sharers: tokens})
_LINE = "2; -1; 3"


def rational_root(value: Fraction) -> Fraction:
    """The root of a rational square; anything else is refused."""
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    if root**2 != value:
        raise ValueError(f"{value} is no square of a rational number; choose a^2/d so that it is")
    return root


def moments(case: Case) -> tuple[Fraction, Fraction]:
    """(E C_l, E N_l) over all signs of weights: X + a A X W with A uniform, then X + a_2 X W."""
    X = np.array(tokens_of(case), dtype=np.int64)
    (n, d), scale = X.shape, Fraction(1)
    signs, states = all_signs(d), X[None]
    a, m = (rational_root(case.rational(name) / d) for name in ("attention_square", "mlp_square"))
    for _ in range(case.layer):
        written = states.sum(1)[:, None] @ signs[:, None, None]
        states = (n * a.denominator * states + a.numerator * written).reshape(-1, n, d)
        scale /= n * a.denominator
        if m:
            written = states @ signs[:, None]
            states = (m.denominator * states + m.numerator * written).reshape(-1, n, d)
            scale /= m.denominator
    if states.size * int(np.abs(states).max()) ** 2 * n >= 2**62:
        raise OverflowError("integers beyond 64 bits; take fewer layers or a smaller width")
    squares = ((states.sum(1) ** 2).sum(), (states**2).sum())
    common, total = (scale**2 * Fraction(int(square), len(states)) for square in squares)
    return common, total


def _growth_cases(rows: str, **fields: Any) -> tuple[Case, ...]:
    """The common part and the total norm of the same tokens."""
    case = token_case(rows, **fields)
    return (
        Case(**case.fields(), of="common", square_start=case.common_start, sharers=1),
        Case(**case.fields(), of="total", square_start=case.total_start, sharers=case.tokens),
    )


@claim(
    Eq(token_square, _GROWN),
    assumes=OF_TOKENS
    | {
        "$Q_0$ and $k$ are those of what is asked about": lambda case: (
            (case.square_start, case.sharers)
            == ((case.common_start, 1) if case.of == "common" else (case.total_start, case.tokens))
        )
    },
    source=Source("noci2022", "section 3, in the uniform-attention model; derived here", NOCI),
    cases={
        "quick": (
            *(
                case
                for rows in ("1 2; 3 -1", "1 0; 2 1; -1 2")
                for square in ("2", "1/2")
                for k in (0, 1, 2)
                for case in _growth_cases(rows, attention_square=square, mlp_square="0", layer=k)
            ),
            *(
                case
                for square in ("1", "1/4")
                for k in (1, 2, 3)
                for case in _growth_cases(_LINE, attention_square="4", mlp_square=square, layer=k)
            ),
        ),
        "theory": (
            *(
                case
                for k in (1, 2)
                for case in _growth_cases(
                    "1 2; 3 -1", attention_square="2", mlp_square="1/2", layer=k
                )
            ),
            *_growth_cases("1 0 2; 0 -1 1", attention_square="3", mlp_square="0", layer=1),
        ),
    },
    control=Control(
        _growth_cases(_LINE, attention_square="4", mlp_square="1", layer=2)[0],
        "another growth",
        Eq(token_square, (_ATTENTION + mlp_square) ** layer * square_start),
    ),
    supports="signal_propagation/scaled_correlation_limit",
)
def uniform_growth(case: Case) -> Exact:
    r"""Under uniform attention the common part grows geometrically, the norm by a closed form.

    In layers $X + a$ $A X W_V$ with uniform attention, each followed by a linear branch of weight
    $a_2$, weights of variance $1/d$, $E \|\sum_k X_k\|^2$ after $l$ layers is
    $((1 + a^2)(1 + a_2^2))^l$ times that of the input, $C_0$, and $E \|X\|_F^2$ is
    $(1 + a_2^2)^l (N_0 + C_0/n ((1 + a^2)^l - 1))$.

    Both are $(1 + a_2^2)^l (Q_0 + C_0/k ((1 + a^2)^l - 1))$, with $Q_0 = C_0$ and $k = 1$, or
    $Q_0 = N_0$ and $k = n$. Measured over all signs of weights +-1 times their scale, which have
    the second moments of Gaussian ones.
    """
    return Exact(moments(case)[case.of == "total"])


def _layer_by_layer(C: sympy.Expr, N: sympy.Expr) -> Iterator[Step]:
    """Induction on layers for the pair (E C, E N)."""
    d, y = sympy.symbols("d y", positive=True)
    yield Step(
        "E ||y W||^2 = ||y||^2 for independent entries of variance 1/d, and W has mean "
        "zero: d coordinates of ||y||^2/d each",
        simplify(d * (y / d) - y) == 0,
    )
    yield Step(
        "base: at l = 0 the pair is (C_0, N_0)",
        simplify(C.subs(layer, 0) - common_start) == 0
        and simplify(N.subs(layer, 0) - total_start) == 0,
    )
    moved = (_MLP * _ATTENTION * C, _MLP * (N + attention_square * C / tokens))
    gaps = [
        sympy.expand_power_exp(sympy.expand_power_base(after.subs(layer, layer + 1) - before))
        for after, before in zip((C, N), moved, strict=True)
    ]
    powers = {_POWER: sympy.Symbol("P"), _MLP**layer: sympy.Symbol("Q")}
    yield Step(
        "step: attention adds a^2 C to C and a^2 C/n to N, the MLP multiplies both by 1 + a_2^2",
        all(gap.subs(powers).expand() == 0 for gap in gaps),
    )


@uniform_growth.argument(
    "induction over layers for the pair $(C, N)$; prose: what one layer adds, from weights of "
    "mean zero and variance $1/d$"
)
def _(statement: Relational) -> Iterator[Step]:
    yield from _layer_by_layer(
        statement.rhs.subs({square_start: common_start, sharers: 1}),
        statement.rhs.subs({square_start: total_start, sharers: tokens}),
    )
    yield Step(
        "in the first case the right side is ((1 + a^2)(1 + a_2^2))^l C_0",
        simplify(COMMON - (_ATTENTION * _MLP) ** layer * common_start) == 0,
    )


def _at_power(power: sympy.Expr) -> sympy.Expr:
    """The correlation of orthogonal tokens when attention has multiplied C by a power."""
    return (power - 1) / (tokens - 1 + power)


UNIFORM_CORRELATION = _at_power(_POWER)


@claim(
    Eq(limit_correlation, nine_decimals(_at_power(exp(scaled_square)))),
    source=Source("noci2022", "section 3; derived here", NOCI),
    cases={
        "quick": Case.grid(scaled_square=("1", "1/2", "4"), tokens=(2, 8, 128)),
        "theory": Case.grid(scaled_square=("1", "2", "25"), tokens=(3, 1024)),
    },
    control=Control(
        Case(scaled_square="1", tokens=8), "$a = 1$: it tends to 1", Eq(limit_correlation, 1)
    ),
    cited=r"Decides whether branches scaled by $1/\sqrt{L}$ keep tokens apart at any depth.",
)
def scaled_correlation_limit(case: Case) -> Exact:
    r"""Residual scaling by $1/\sqrt{L}$ stops the correlation below 1.

    With $a = t/\sqrt{L}$ the correlation of orthogonal tokens tends, as $L$ grows, to
    $(e^{t^2} - 1)/(n - 1 + e^{t^2})$; for $t = 1$ that is $(e - 1)/(n + e - 1)$. To nine decimals,
    rounded down.

    After $l$ layers it is $((1 + a^2)^l - 1)/(n - 1 + (1 + a^2)^l)$, the ratio of the two
    expectations of uniform_growth, not the expectation of the ratio; for $a = 1$ it tends to 1.
    Measured at $L = 2^{100}$, whose correlation differs from the limit by less than $10^{-25}$.
    """
    with flint.ctx.workprec(512):
        n = case.tokens
        square = from_fraction(case.rational("scaled_square")) / arb(2) ** 100
        step = flint.arb_mat([[1 + square, 0], [square / n, 1]])
        for _ in range(100):
            step = step * step
        common, total = (entry[0] for entry in (step * flint.arb_mat([[n], [n]])).tolist())
        return rounded_down((common - total) / ((n - 1) * total))


@scaled_correlation_limit.argument(
    "the pair $(C, N)$ by induction, then algebra and one limit for symbolic $t^2$; prose: what "
    "one layer adds to the pair, and the correlation is continuous in the power $(1 + a^2)^l$"
)
def _(statement: Relational) -> Iterator[Step]:
    """(1 + t^2/L)^L tends to e^(t^2), in the exact correlation: the solved pair at C_0 = N_0, since
    orthogonal tokens have no common part, without an MLP."""
    yield from _layer_by_layer(COMMON, TOTAL)
    C, N = (e.subs({mlp_square: 0, common_start: total_start}) for e in (COMMON, TOTAL))
    yield Step(
        "(C - N)/((n - 1) N) is (P - 1)/(n - 1 + P) at P = (1 + a^2)^l",
        simplify((C - N) / ((tokens - 1) * N) - UNIFORM_CORRELATION) == 0,
    )
    grown = sympy.Symbol("P", positive=True)
    yield Step(
        "it tends to 1 as the power P = (1 + a^2)^l grows", limit(_at_power(grown), grown, oo) == 1
    )
    L, closed = sympy.Symbol("L", positive=True), before_rounding(statement)
    power = exp(scaled_square)
    yield Step(ROUNDS, closed is not sympy.nan)
    yield Step(
        "(1 + t^2/L)^L tends to e^(t^2)", limit((1 + scaled_square / L) ** L, L, oo) == power
    )
    yield Step(
        "the closed form is the correlation (P - 1)/(n - 1 + P) at P = e^(t^2)",
        simplify(_at_power(power) - closed) == 0,
    )


gram_square = quantity(
    "gram_square",
    r"\|X_c^\top X_c\|_F^2",
    "squared Frobenius norm of the Gram matrix of the centred tokens",
    "nonnegative real",
)
query = quantity(
    "query_gradient",
    r"\mathbb{E}\|\partial S/\partial W_Q\|_F^2",
    "mean squared derivative of attention with respect to the query weights",
    "nonnegative real",
)
value = quantity(
    "value_gradient",
    r"\|\partial S/\partial W_V\|_F^2",
    "squared derivative of attention with respect to the value weights",
    "nonnegative real",
)
token_variance = quantity(
    "token_variance", r"\sigma_x^2", "mean square of a token's coordinate", "positive real"
)
start_correlation = quantity(
    "start_correlation", r"\rho", "mean correlation of distinct input tokens", "real"
)

_TWO, _THREE, _SAME = "1 2; 3 -1", "1 0; 2 1; -1 2", "1 2; 1 2; 1 2"


@claim(
    Eq(query, total_start * gram_square / (tokens**2 * width)),
    source=Source("noci2022", "vanishing query and key gradients; derived here", NOCI),
    assumes=OF_TOKENS,
    cases={
        "quick": tuple(map(token_case, (_TWO, _THREE, _LINE, _SAME))),
        "theory": (token_case("2 1; 0 3; 1 1; -2 5"), token_case("3; 1; 4; 1; 5")),
    },
    control=Control(
        token_case(_TWO),
        r"not centred: $\|X^T X\|$",
        Eq(query, total_start * total_start**2 / (tokens**2 * width)),
    ),
    cited="Bears on whether slow starts may be explained by vanishing query gradients.",
)
def query_gradient(case: Case) -> Exact:
    r"""Query gradients vanish as tokens align.

    At $W_Q = 0$ with $W_K$ and $W_V$ of variance $1/d$ and logits over $\sqrt{d}$,
    $E \|dS/dW_Q\|^2 = \|X\|^2 {\|X_c^T X_c\|}^2/(n^2 d)$, $X_c$ the centred tokens: it is zero when
    all tokens are equal.

    Measured over all signs of weights +-1 times their scale, which have the second moments of
    Gaussian ones.
    """
    # The three factors 1/sqrt(d), of W_K, of W_V and of the logits, are taken out of the squares.
    X, d = tokens_of(case), case.width
    signs = all_signs(d).tolist()
    squares = Fraction(0)
    for key in signs:
        keys = [[dot(x, column) for column in zip(*key, strict=True)] for x in X]
        for a, b in product(range(d), repeat=2):
            for token in X:  # at W_Q = t E_ab its logits are t token[a] keys[j][b]
                tilt = softmax_derivative([token[a] * k[b] for k in keys])
                moved = [sum(w * x[k] for w, x in zip(tilt, X, strict=True)) for k in range(d)]
                for matrix in signs:
                    for column in zip(*matrix, strict=True):
                        squares += sum(v * c for v, c in zip(moved, column, strict=True)) ** 2
    return Exact(squares / len(signs) ** 2 / d**3)


def softmax_derivative(logits: list[int]) -> list[Fraction]:
    """d/dt of softmax(t z) at t = 0: numerators e^{t z} = 1 + t z over their sum n + t sum z."""
    n = len(logits)
    return [Fraction(z * n - sum(logits), n * n) for z in logits]


@claim(
    Eq(value, width**2 * token_variance * (1 + start_correlation * (tokens - 1))),
    source=Source("noci2022", "value gradient; derived here", NOCI),
    assumes=OF_TOKENS,
    cases={
        "quick": tuple(map(spread_case, (_TWO, _THREE, _LINE, _SAME, "1 2 0; 0 1 -1"))),
        "theory": (spread_case("2 1 0 1; 0 3 1 1; 1 1 -1 -4"),),
    },
    control=Control(spread_case(_TWO), "no other tokens", Eq(value, width**2 * token_variance)),
    supports="signal_propagation/query_gradient",
)
def value_gradient(case: Case) -> Exact:
    r"""Value gradients do not vanish.

    With uniform attention $\|dS/dW_V\|^2 = d^2 \sigma_x^2 (1 + \rho (n - 1))$, which grows with the
    correlation $\rho$ of the tokens.
    """
    # S is linear in W_V, so the derivative by an entry is S at that unit matrix.
    X, d = tokens_of(case), case.width
    n = len(X)
    means = [Fraction(sum(column), n) for column in zip(*X, strict=True)]
    squares = Fraction(0)
    for a, b in product(range(d), repeat=2):
        row = [means[a] if c == b else Fraction(0) for c in range(d)]
        squares += n * sum(v * v for v in row)
    return Exact(squares)


cosine = quantity("cosine", "c", "cosine of the angle between two vectors", "real")
kernel = quantity(
    "relu_kernel",
    "k(c)",
    r"twice the mean of $\mathrm{ReLU}(u) \mathrm{ReLU}(v)$ for standard Gaussians of "
    "correlation $c$",
    "nonnegative real",
)
kernel_digits = quantity(
    "relu_kernel_digits",
    r"\lfloor k(c)\rfloor_9",
    "the ReLU kernel $k(c)$, rounded down to nine decimals",
    "nonnegative real",
)

CLOSED_FORM = (sqrt(1 - cosine**2) + cosine * (pi - acos(cosine))) / pi
_POINTS = ("-99/100", "-1/2", "0", "1/5", "1/2", "4/5", "99/100", "9999/10000")


def relu_kernel_ball(c: arb) -> arb:
    """k(c) by the closed form; the ball of c is cut off at 1, which it exceeds by rounding only."""
    c = c.min(arb(1))
    return ((1 - c * c).max(arb(0)).sqrt() + c * (arb.pi() - c.acos())) / arb.pi()


def kernel_by_integral(c: arb) -> arb:
    """2 E ReLU(u) ReLU(v) in polar coordinates, over the arc where both u and v are positive."""
    theta, half = c.acos(), arb.pi() / 2
    arc = flint.acb.integral(lambda f, _: f.cos() * (f - theta).cos(), theta - half, half)
    return 2 * arc.real / arb.pi()


@claim(
    Eq(kernel_digits, nine_decimals(CLOSED_FORM)),
    source=Source("giorlandino2026", "ReLU MLP", "arXiv:2505.24333"),
    wording="printed",
    assumes={"-1 $< c < 1$": lambda case: -1 < case.rational("cosine") < 1},
    cases={
        "quick": Case.grid(cosine=_POINTS),
        "theory": Case.grid(cosine=[f"{k}/10" for k in (-9, -7, -3, -1, 1, 3, 6, 7, 9)]),
    },
    control=Control(Case(cosine="1/2"), "the cosine itself", Eq(kernel_digits, cosine)),
    supports="signal_propagation/block_contraction",
)
def relu_kernel(case: Case) -> Exact:
    r"""A closed form gives the ReLU kernel of correlated Gaussians.

    For standard Gaussians of correlation $c$, $2 \mathbb{E} \mathrm{ReLU}(u) \mathrm{ReLU}(v) =
    (\sqrt{1 - c^2} + c (\pi - \arccos c))/\pi$; to nine decimals, rounded down.
    """
    with flint.ctx.workprec(128):
        return rounded_down(kernel_by_integral(from_fraction(case.rational("cosine"))))


@relu_kernel.argument(
    "both integrals are symbolic; prose: a Gaussian pair in polar coordinates, "
    "and where both coordinates are positive"
)
def _(statement: Relational) -> Iterator[Step]:
    """The polar integral in closed form."""
    theta, r = (sympy.Symbol(name, positive=True) for name in ("theta", "r"))
    f = sympy.Symbol("f", real=True)
    arc = 2 * sympy.integrate(cos(f) * cos(f - theta), (f, theta - pi / 2, pi / 2)) / pi
    closed = before_rounding(statement)
    yield Step(
        "the radial integral of r^3 exp(-r^2/2) is 2",
        sympy.integrate(r**3 * exp(-(r**2) / 2), (r, 0, oo)) == 2,
    )
    yield Step(ROUNDS, closed is not sympy.nan)
    yield Step(
        "the closed form is (2/pi) times the integral over the arc at c = cos(theta)",
        simplify(arc.subs(theta, acos(cosine)) - closed) == 0,
    )


@claim(
    Gt(kernel, cosine),
    source=Source("noci2022", "correlation under a ReLU branch; derived here", NOCI),
    assumes={"$c < 1$": lambda case: -1 <= case.rational("cosine") < 1},
    cases={
        "quick": Case.grid(cosine=_POINTS),
        "theory": Case.grid(cosine=("-1", "999999/1000000")),
    },
    control=Control(Case(cosine="1/2"), "above 2c", Gt(kernel, 2 * cosine)),
    supports="signal_propagation/block_contraction",
)
def relu_kernel_above(case: Case) -> Ball:
    r"""A wide ReLU layer brings every two tokens closer.

    $k(c) > c$ for every $c$ in [-1, 1): in the limit of infinite width a He-initialised ReLU layer
    raises the cosine of any two vectors of different directions.

    So a He-initialised ReLU branch of weight $a_2$ multiplies $E \|\sum_k X_k\|^2$ by more than
    $1 + a_2^2$, its factor on $E \|X\|^2$, at any width, unless all tokens point the same way: it
    adds $a_2^2$ times the sum of $\|x\| \|y\| k(c)$ over all pairs. Near $c = 1$ the gap closes as
    $(1 - c)^{3/2}$, so samples alone could not decide the end of the interval; the proof does.
    """
    with flint.ctx.workprec(128):
        return Ball.of(kernel_by_integral(from_fraction(case.rational("cosine")))).widened()


@relu_kernel_above.argument(
    "the derivative is symbolic on the whole interval; "
    "prose: what falls strictly to 0 is positive before"
)
def _(statement: Relational) -> Iterator[Step]:
    """k - c falls strictly on [-1, 1] and is 0 at the end, so it is positive before."""
    gap = CLOSED_FORM - statement.rhs
    yield Step("k(1) - 1 = 0", gap.subs(cosine, 1) == 0)
    yield Step(
        "the derivative of k - c is -arccos(c)/pi, negative for every c < 1",
        simplify(gap.diff(cosine) + acos(cosine) / pi) == 0,
    )
    yield Step("the relation is strict and points upwards", statement.rel_op == ">")
