"""Scales that depend on depth: DeepNorm, ADMIN, depth-muP and CompleteP; and muP for the width.

The claims on exponents count powers in a scalar model; they are no statements about trained nets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, product
from math import isqrt
from operator import mul
from typing import Any

import sympy
from sympy import Rational, expand_log, log, simplify
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.formal import Formal
from ..claims.relations import Eq, between
from ..claims.symbols import depth, quantity
from ..depth_choice.inversion import first
from ..exact.enclosure import enclose
from .signal_symbols import ROUNDS, UNITS, before_rounding, nine_decimals

deepnorm_scale = quantity(
    "deepnorm_scale",
    r"\alpha, \beta",
    r"DeepNorm's factor on the skip connection, $\alpha$ in $\mathrm{LN}(\alpha x + G(x))$, or "
    r"its gain of the Xavier initialisation, $\beta$, rounded down to nine decimals",
    "positive real",
)
scale_factor = quantity(
    "scale_factor", "c", "number in DeepNorm's formula for a scale", "positive real"
)
scale_power = quantity("scale_power", "e", "exponent in DeepNorm's formula: 1/4 or -1/4", "real")
cross_term = quantity(
    "cross_term", "x", "M/27 in an encoder before a decoder of M layers, else 1", "positive real"
)

QUARTER = Rational(1, 4)


def solution(exceeds: Callable[[Fraction], bool]) -> Exact:
    """The x > 0 beyond which `exceeds` holds, rounded down to nine decimals."""
    return Exact(Fraction(first(lambda k: exceeds(Fraction(k, UNITS))) - 1, UNITS))


def _update_sum(case: Case, alpha_squared: Fraction, beta_squared: Fraction) -> Fraction:
    """The fourth power, which is rational, of the sum of 2 beta^2/alpha^2 over all sublayers.

    The sum has 2N equal terms in a stack of N layers and 3M in a decoder of M. In an encoder before
    a decoder it has 2N, each times M v_d w_d/alpha_d, where v_d = w_d = (12 M)^(-1/4) and
    alpha_d = (3 M)^(1/4) are the decoder's scales.
    """
    if case.stack == "encoder":
        m = case.decoder_depth
        terms = Fraction((2 * case.depth * m) ** 4, (12 * m) ** 2 * 3 * m)
    else:
        terms = Fraction({"alone": 2, "decoder": 3}[case.stack] * case.depth) ** 4
    return terms * (2 * beta_squared / alpha_squared) ** 4


def _constants(stack: str, *, alpha: bool) -> tuple[int, str]:
    """The number in DeepNorm's formula, and the exponent."""
    terms = {"alone": 2, "decoder": 3, "encoder": 1}[stack]
    return (terms, "1/4") if alpha else (4 * terms, "-1/4")


def deepnorm_cases(stack: str, **sizes: Any) -> tuple[Case, ...]:
    """Both scales of stacks "alone", of a "decoder", or of an "encoder" with a `decoder_depth`."""
    return tuple(
        Case(
            **case.fields(),
            stack=stack,
            scale="alpha" if power == "1/4" else "beta",
            scale_factor=number,
            scale_power=power,
            cross_term=f"{case.decoder_depth}/27" if stack == "encoder" else "1",
        )
        for number, power in (_constants(stack, alpha=True), _constants(stack, alpha=False))
        for case in Case.grid(**sizes)
    )


_QUICK, _THEORY = (1, 2, 3, 5, 6, 12, 18, 24, 100), (8, 27, 48, 500, 1000)


@claim(
    Eq(deepnorm_scale, nine_decimals((scale_factor * depth * cross_term**QUARTER) ** scale_power)),
    source=Source("wang2022deepnet", "figure 2, section 4.3 and Theorem 4.3", "arXiv:2203.00555"),
    weight="arithmetic",
    assumes={
        "the constants of a scale are those printed for its stack": lambda c: (
            (c.scale_factor, c.scale_power) == _constants(c.stack, alpha=c.scale == "alpha")
            and c.cross_term == (f"{c.decoder_depth}/27" if c.stack == "encoder" else "1")
        )
    },
    cases={
        "quick": (
            *deepnorm_cases("alone", depth=_QUICK),
            *deepnorm_cases("decoder", depth=_QUICK),
            *deepnorm_cases("encoder", depth=(1, 2, 6, 18, 60), decoder_depth=(1, 6, 12)),
        ),
        "theory": (
            *deepnorm_cases("alone", depth=_THEORY),
            *deepnorm_cases("decoder", depth=_THEORY),
            *deepnorm_cases("encoder", depth=100, decoder_depth=(10, 100)),
        ),
    },
    control=Control(
        deepnorm_cases("encoder", depth=6, decoder_depth=6)[0],
        "the printed coefficient, not rounded",
        Eq(
            deepnorm_scale,
            nine_decimals(Rational(81, 100) * (27 * depth**4 * cross_term) ** Rational(1, 16)),
        ),
    ),
    supports="signal_propagation/deepnorm_update_exponents",
    formal=Formal(
        "DepthScales.deepnorm_scales_checked",
        "DepthScales.root_value ({scale_power.numerator}) {scale_factor} {depth} "
        "{cross_term.numerator} {cross_term.denominator}",
        "Nothing of the two equations and their solutions, which the theorem rounds down to nine "
        "decimals; that DeepNorm's scales were chosen by them. What the printed digits give is "
        "deepnorm_encoder_digits, without the number 1.0122.",
    ),
)
def deepnorm_scales(case: Case) -> Exact:
    r"""DeepNorm's $\alpha$ and $\beta$ solve two equations.

    In $\mathrm{LN}(\alpha x + G(x))$, where $\alpha$ multiplies the skip connection and $\beta$ is
    a gain of the Xavier initialisation, the printed $\alpha = (2 N)^{1/4}$ and
    $\beta = (8 N)^{-1/4}$ of an encoder-only or decoder-only stack of $N$ layers are the only
    positive scales with $2 N$ $2 \beta^2/\alpha^2 = 1$ and $2 \alpha^2 \beta^2 = 1$, two equations
    that are derived here. The printed $\alpha = (3 M)^{1/4}$ and $\beta = (12 M)^{-1/4}$ of the
    decoder of $M$ layers of an encoder-decoder are so with 3M in the place of $2 N$; and in an
    encoder of $N$ layers before it $\alpha = 3^{-3/16} (N^4 M)^{1/16}$ and
    $\beta = 3^{3/16}/\sqrt{2} (N^4 M)^{-1/16}$ are so with ($M v_d w_d/\alpha_d$) $2 N$. To nine
    decimals, rounded down.

    Printed are the constants, of the encoder with coefficients 0.81 and 0.87. The first equation
    makes the sum over sublayers in Theorem 4.2 one at $v = w = \beta$; the second is what the
    constants satisfy besides. That they were chosen by these two is our reading, which gives
    $3^{-3/16} = 0.8138$ and $3^{3/16}/\sqrt{2} = 0.8689$; with the two printed digits the encoder's
    first sum is $2 (0.87/0.81)^2/3^{3/4} = 1.0122$ for all $N$ and $M$, in place of 1.
    $v_d = w_d = (12 M)^{-1/4}$ make $v_d^2 + w_d^2 = (3 M)^{-1/2}$; a public transcription has
    $(3 M)^{1/2}$, from which the sign of the exponent was lost. Nothing is shown on stability. The
    place in the source is to be checked against the paper.
    """
    # The sum falls with alpha, where beta^2 = 1/(2 alpha^2), and rises with beta, where alpha^2 =
    # 1/(2 beta^2); at the scale it is 1.
    if case.scale == "alpha":
        return solution(lambda alpha: _update_sum(case, alpha**2, 1 / (2 * alpha**2)) < 1)
    return solution(lambda beta: _update_sum(case, 1 / (2 * beta**2), beta**2) > 1)


@deepnorm_scales.argument(
    "one scale is eliminated and the closed form put in, for every depth; "
    "prose: a monotone left side has one root"
)
def _(statement: Relational) -> Iterator[Step]:
    """Eliminate the other scale; one equation is left, whose left side is monotone."""
    closed = before_rounding(statement)
    yield Step(ROUNDS, closed is not sympy.nan)
    alpha, beta, m = sympy.symbols("alpha beta M", positive=True)
    decoder = m * (12 * m) ** Rational(-1, 2) / (3 * m) ** QUARTER
    terms = {"alone": 2 * depth, "decoder": 3 * depth, "encoder": decoder * 2 * depth}
    for (stack, count), solves_alpha in product(terms.items(), (True, False)):
        update, balance = count * 2 * beta**2 / alpha**2 - 1, 2 * alpha**2 * beta**2 - 1
        scale, other = (alpha, beta) if solves_alpha else (beta, alpha)
        solved = sympy.solve(balance, other)
        yield Step(
            f"{stack}, {scale}: 2 alpha^2 beta^2 = 1 has one positive solution in the other scale",
            len(solved) == 1 and bool(solved[0].is_positive),
        )
        left = update.subs(other, solved[0])
        moves = simplify(left.diff(scale) * scale)
        yield Step(
            "with it the update sum is monotone, so one scale makes it 1",
            bool(moves.is_negative if solves_alpha else moves.is_positive),
        )
        number, power = _constants(stack, alpha=solves_alpha)
        formula = closed.subs(
            {
                scale_factor: number,
                scale_power: Rational(power),
                cross_term: m / 27 if stack == "encoder" else 1,
            }
        )
        yield Step(
            f"the closed form with {number} and {power} makes the update sum 1",
            simplify(left.subs(scale, formula)) == 0,
        )


sublayers = quantity("sublayers", "n", "number of residual sublayers")
amplification = quantity(
    "amplification",
    r"\sum_i\beta_{i,i}^2",
    "sum over sublayers of the share that each has in its own output's variance",
    "positive real",
)
branch_share = quantity(
    "branch_share",
    r"\beta_{i,i}^2",
    "share of a residual branch in the variance of the sum it is added to",
    "positive real",
)

accumulates = quantity(
    "accumulates",
    "s",
    "1 where the skip carries the variance of all branches before, 0 where it carries 1",
    "nonnegative integer",
)

liu = partial(Source, "liu2020admin", version="arXiv:2004.08249")


def _shares(branches: int, *, normalised: bool, admin: bool = False) -> Iterator[Fraction]:
    """The share of branch i, of variance 1, in omega_i x + f_i.

    The stream starts with variance 1 and is reset to 1 where it is normalised. ADMIN: omega_i^2 is
    the variance of the start and of all branches before i, else 1.
    """
    stream = written = Fraction(1)
    for _ in range(branches):
        total = stream * (written if admin else 1) + 1
        yield 1 / total
        stream, written = Fraction(1) if normalised else total, written + 1


_INDUCTION = (
    "induction on $n$, its step for every real $n > 0$; prose: what falls with $n$ and tends to "
    "0 is positive"
)


@claim(
    between(log(sublayers + 2) - Rational(3, 5), amplification, log(sublayers + 1)),
    source=liu("section 4, dependency on residual branches"),
    weight="step",
    cases={
        "quick": Case.grid(sublayers=(1, 2, 12, 96)),
        "theory": Case.grid(sublayers=(400, 1000)),
    },
    control=Control(
        Case(sublayers=96),
        "another growth",
        between(log(sublayers + 2) / 4, amplification, log(sublayers + 2) / 2),
    ),
    supports="signal_propagation/admin_amplification",
)
def amplification_pre_ln(case: Case) -> Exact:
    r"""Pre-LN branch shares add up logarithmically.

    In the model of branches that each write variance 1, uncorrelated with a stream that starts at
    variance 1, the shares of $n$ branches of a pre-LN net in their own sums, 1/2 + ... +
    $1/(n + 1)$, add up to at least $\log(n + 2) - 3/5$ and at most $\log(n + 1)$.

    The paper's statement, as recalled, is $O(N)$ (post-LN) and $O(\log N)$ (pre-LN) for the change
    of the output under a perturbation of all weights, which it takes as proportional to this sum;
    check against the paper. Checked is the sum alone, with constants that are derived; no net is
    perturbed. The shares one by one, and the sum for post-LN: branch_shares.
    """
    return Exact(sum(_shares(case.sublayers, normalised=False), Fraction(0)))


@amplification_pre_ln.argument(_INDUCTION)
def _(statement: Relational) -> Iterator[Step]:
    for side, bound in zip((-1, 1), statement.rhs, strict=True):
        yield from _harmonic_steps(bound, side)


def _harmonic_steps(bound: sympy.Expr, side: int) -> Iterator[Step]:
    """Induction on n: the upper (lower) bound grows by more (less) than the next share
    1/(n + 2)."""
    x = sympy.Symbol("x", positive=True)
    bound = bound.subs(sublayers, x)
    gap = side * (bound.subs(x, x + 1) - bound - 1 / (x + 2))
    yield Step(
        "base: at one sublayer the bound admits the share 1/2",
        bool(enclose(side * (2 * bound.subs(x, 1) - 1)) > 0),
    )
    yield Step(
        "the gain of the bound minus the next share falls with n",
        bool(sympy.factor(-gap.diff(x)).is_positive),
    )
    yield Step(
        "and tends to 0, so it is positive for every n",
        sympy.limit(sympy.logcombine(gap, force=True), x, sympy.oo) == 0,
    )


@claim(
    Eq(branch_share, 1 / (1 + sublayers**accumulates)),
    source=liu("section 4, dependency on residual branches; section 4.3, model initialization"),
    weight="step",
    assumes={
        "a case has $s = 0$ for post-LN, else 1": lambda c: c.accumulates == int(c.scheme != "post")
    },
    cases={
        "quick": (
            *Case.grid(scheme="post", accumulates=0, sublayers=(1, 2, 12, 96)),
            *Case.grid(scheme=("pre", "admin"), accumulates=1, sublayers=(1, 2, 12)),
        ),
        "theory": (
            *Case.grid(scheme="post", accumulates=0, sublayers=(400, 1000)),
            *Case.grid(scheme=("pre", "admin"), accumulates=1, sublayers=(96, 400)),
        ),
    },
    control=Control(
        Case(scheme="admin", accumulates=1, sublayers=2),
        r"$\omega = 1$",
        Eq(branch_share, Rational(1, 2)),
    ),
    supports="signal_propagation/admin_amplification",
    formal=Formal(
        "DepthScales.branch_shares_checked",
        "DepthScales.branch_share_value {sublayers} {accumulates}",
        "That the n shares of a post-LN net add up to n/2; a branch is assumed to write in ADMIN's "
        "net what it wrote when profiled; LayerNorm is a rescaling to variance 1; the stream is "
        "one number with a law of finitely many outcomes, and the same branches are uncorrelated "
        "with all three streams.",
    ),
)
def branch_shares(case: Case) -> Exact:
    r"""ADMIN gives post-LN the branch shares of pre-LN.

    In the model of branches that each write variance 1, uncorrelated with a stream that starts at
    variance 1, every branch of a post-LN net has share 1/2 of its own sum, so that $n$ shares add
    up to $n/2$. Branch $n$ of a pre-LN net has share $1/(n + 1)$, and so it has in a post-LN net
    with $\omega_n^2$ the sum of the profiled variances before $n$, the embedding included.

    For the paper's statement see amplification_pre_ln. Reported is the rule for $\omega$; that it
    reproduces pre-LN's shares is what it is for.
    """
    shares = _shares(case.sublayers, normalised=case.scheme != "pre", admin=case.scheme == "admin")
    return Exact(list(shares)[-1])


alpha = quantity(
    "depth_power", r"\alpha", "residual branches are multiplied by L^(-alpha)", "positive real"
)
depth_exponent = quantity(
    "depth_exponent", "e", "exponent of $L$ in what a scalar net is asked about", "real"
)
power_offset = quantity("power_offset", "c", "exponent of L at alpha = 0", "real")
power_multiple = quantity(
    "power_multiple", "k", "how often alpha stands in an exponent of L", "real"
)
second_order_exponent = quantity(
    "second_order_exponent",
    "e_2",
    "exponent of $L$ in the ratio of second-order to linear response of one branch to one step",
    "real",
)
width_exponent = quantity(
    "width_exponent",
    "e_{width}",
    "exponent of the width in the change of an activation by one step at muP's learning rate",
    "real",
)


def power(base: int, exponent: Fraction) -> Fraction:
    """base^exponent for a base that is a power of 16 and an exponent in quarters."""
    fourth = isqrt(isqrt(base))
    if fourth**4 != base or (4 * exponent).denominator != 1:
        raise ValueError(f"{base}^({exponent}) is not rational; use powers of 16, and quarters")
    return Fraction(fourth) ** int(4 * exponent)


def slope(of: Callable[[int], Fraction]) -> Fraction:
    """The exponent e of a quantity that goes as n^e, from n = 16 to n = 256, a multiple of 1/4."""
    ratio = of(256) / of(16)
    exponent = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    if ratio != Fraction(2) ** exponent:
        raise ArithmeticError("the quantity is not a power law on this grid")
    return Fraction(exponent, 4)


def gradients(weights: Sequence[Fraction], multiplier: Fraction) -> list[Fraction]:
    """dh_L/dw_l of the net h <- h + multiplier w_l h for all l, by the chain rule."""
    factors = [1 + multiplier * w for w in weights]
    before = [*accumulate(factors, mul, initial=Fraction(1))]
    after = [*accumulate(reversed(factors), mul, initial=Fraction(1))][::-1]
    return [multiplier * x * dx for x, dx in zip(before[:-1], after[1:], strict=True)]


def _gradients_at_zero(case: Case, depth: int) -> list[Fraction]:
    return gradients([Fraction(0)] * depth, power(depth, -case.rational("depth_power")))


# What is asked about, the exponent of L at alpha = 0, and how often alpha stands in it.
EXPONENTS = {
    "variance": (1, -2),
    "gradient": (0, -1),
    "adam": (-1, 1),
    "sgd": (-1, 2),
    "response": (-1, 1),
}


@claim(
    Eq(depth_exponent, power_offset + power_multiple * alpha),
    kind="rate",
    weight="step",
    source=Source(
        "dey2025", r"section 3, $\alpha$ in $[1/2, 1]$; equation 6 and figure 6", "arXiv:2505.01618"
    ),
    assumes={
        "$c$ and $k$ are those of what is asked": lambda c: (
            EXPONENTS[c.of] == (c.power_offset, c.power_multiple)
        )
    },
    cases={
        "quick": tuple(
            case
            for of, (start, times) in EXPONENTS.items()
            for case in Case.grid(
                of=of, power_offset=start, power_multiple=times, depth_power=("1/2", "3/4", "1")
            )
        )
    },
    control=Control(
        Case(of="response", power_offset=0, power_multiple=0, depth_power="1/2"), "flat"
    ),
    supports="signal_propagation/rate_exponents",
)
def depth_exponents(case: Case) -> Exact:
    r"""Scalar nets with branches over $L^\alpha$ follow the stated powers of $L$.

    $L$ uncorrelated scalar branches of variance 1, multiplied by $L^{-\alpha}$, write a variance
    that goes as $L^{1 - 2 \alpha}$: bounded exactly for $\alpha \geq 1/2$. In the scalar net
    $h \leftarrow h + L^{-\alpha} w_l h$ at $w = 0$, the gradient of a branch's weight goes as
    $L^{-\alpha}$, the power that CompleteP gives Adam's $\epsilon$ in the blocks; one sign step of
    size $L^{\alpha-1}$, the printed power of Adam's rate in the blocks, in every weight changes the
    output by an amount that does not depend on $L$, to first order; so does one SGD step of rate
    $L^{2 \alpha-1}$, which at $\alpha = 1/2$ does not depend on $L$. In the scalar branch
    $L^{-\alpha} u w h$ at $u = w = 1$ the second-order over the linear response to a step of
    $L^{\alpha-1}$ in both weights goes as $L^{\alpha-1}$: it is flat at $\alpha = 1$ only, and
    $L^{-1/2}$ at $\alpha = 1/2$.

    Scalar models, measured from $L = 16$ to 256: they show where the powers of $L$ come from, not
    that nets train alike at every depth. At $\alpha = 1/2$ these are depth-muP's exponents:
    branches and Adam rate $L^{-1/2}$, SGD rate 1, as recalled from yang2023tp6 and bordelon2023.
    The power of the second-order response is reported for nets.
    """
    alpha = case.rational("depth_power")

    def variance(depth: int) -> Fraction:
        return sum((power(depth, -alpha) ** 2 for _ in range(depth)), Fraction(0))

    def moved(depth: int) -> Fraction:
        sizes = (abs(g) if case.of == "adam" else g * g for g in _gradients_at_zero(case, depth))
        return sum(sizes, Fraction(0))

    def response(depth: int) -> Fraction:
        eta, m = power(depth, alpha - 1), power(depth, -alpha)
        start, half, full = (m * (1 + step) ** 2 for step in (0, eta / 2, eta))
        quadratic = 2 * (full - 2 * half + start)  # from the second difference of a quadratic
        return quadratic / (full - start - quadratic)

    if case.of == "gradient":
        return Exact(slope(lambda depth: _gradients_at_zero(case, depth)[0]))
    if case.of in ("adam", "sgd"):
        return Exact(-slope(moved))
    return Exact(slope(variance if case.of == "variance" else response))


@depth_exponents.argument(
    "power counting: the laws in $L$ are typed in and the machine adds their exponents; the "
    "cases, scalar nets, decide",
    "checks",
)
def _(statement: Relational) -> Iterator[Step]:
    """The exponent of a product of powers of L is the sum of their exponents."""
    L = sympy.Symbol("L", positive=True)
    laws = {
        "variance": ("one variance L^(-2 alpha) from each of L branches", L * L ** (-2 * alpha)),
        "gradient": ("one multiplier stands between the weight and the output", L**-alpha),
        "adam": ("L steps of one size, each multiplied by L^(-alpha)", 1 / (L * L**-alpha)),
        "sgd": ("L squared gradients of L^(-2 alpha) each", 1 / (L * L ** (-2 * alpha))),
        "response": (
            "a branch of two weights is quadratic in the step L^(alpha-1)",
            L**-alpha * L ** (2 * alpha - 2) / (L**-alpha * L ** (alpha - 1)),
        ),
    }
    for of, (says, law) in laws.items():
        start, times = EXPONENTS[of]
        exponent = simplify(expand_log(log(law), force=True) / log(L))
        stated = statement.rhs.subs({power_offset: start, power_multiple: times})
        yield Step(says, simplify(exponent - stated) == 0)


def _mup_rate(case: Case, n: int) -> Fraction:
    """muP's learning rates (Table 3) for input, hidden and output weights, or one rate for all."""
    if case.get("rates") == "standard":
        return Fraction(1)
    power = {
        "adam": {"input": 0, "hidden": -1, "output": -1},
        "sgd": {"input": 1, "hidden": 0, "output": -1},
    }
    return Fraction(n) ** power[case.optimiser][case.matrix]


@claim(
    Eq(width_exponent, 0),
    source=Source("yang2022tp5", "Table 3", "arXiv:2203.03466"),
    kind="rate",
    weight="step",
    cases={"quick": Case.grid(matrix=("input", "hidden", "output"), optimiser=("adam", "sgd"))},
    control=Control(
        Case(matrix="hidden", optimiser="adam", rates="standard"),
        "one rate for all widths: exponent 1",
    ),
    supports="signal_propagation/mup_width_flat",
)
def mup_learning_rates(case: Case) -> Exact:
    r"""MuP's learning rates move one exact net equally at every width.

    In the net $x \to u \to W \to v$ with $|u_i| = 1$, $W$ a Hadamard matrix over $\sqrt{n}$ and
    $v = u/n$, the sizes of muP's initial weights, one step at muP's rate (Adam 1, $1/n$, $1/n$; SGD
    $n$, 1, $1/n$ for $u$, $W$, $v$) changes the next activation by an amount that does not depend
    on the width $n$.

    Reported are the rates. Measured from $n = 16$ to 256 on one input; the Hadamard matrix and a
    bent sign vector spread signals evenly, as random weights do on average. For random or trained
    nets nothing is shown.
    """

    def step(gradient: Fraction) -> Fraction:
        if case.optimiser == "sgd":
            return gradient
        return Fraction((gradient > 0) - (gradient < 0))

    def change(n: int) -> Fraction:
        """The mean square of the change; W u is spread evenly for u(i, j) = (-1)^(i.j)."""
        half = (n.bit_length() - 1) // 2
        u = [(-1) ** ((i >> half) & i & (2**half - 1)).bit_count() for i in range(n)]
        rows = [[(-1) ** (i & j).bit_count() for j in range(n)] for i in range(n)]
        sums = [sum(map(mul, row, u)) for row in rows]
        hidden = [Fraction(x, isqrt(n)) for x in sums]
        if case.matrix == "input":  # the gradient of u is W^T v times the input, which is 1
            moved = [step(Fraction(x, n * isqrt(n))) for x in sums]
        elif case.matrix == "hidden":  # the gradient of W is v u^T
            spread = sum(step(Fraction(y)) * y for y in u)
            moved = [step(Fraction(x, n)) * spread for x in u]
        else:
            moved = [_dot([step(x) for x in hidden], hidden)]
        return _mup_rate(case, n) ** 2 * _dot(moved, moved) / len(moved)

    return Exact(slope(change) / 2)


def _dot(x: Sequence[Fraction | int], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
