"""Scales that depend on depth: DeepNorm, ADMIN, depth-muP and CompleteP; and muP for the width.

The claims on exponents count powers in a scalar model; they are no statements about trained nets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import isqrt
from operator import mul

import sympy
from sympy import Rational, expand_log, log, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Case, Claim, Control, Exact, Source, Step, claim
from ..claims.symbols import depth, quantity
from ..exact.enclosure import enclose
from .signal_symbols import ROUNDS, UNITS, Eq, Ge, Le, before_rounding, nine_decimals

decoder_depth = quantity("decoder_depth", "M", "decoder layers of an encoder-decoder")
residual_scale = quantity(
    "residual_scale",
    r"\alpha",
    "DeepNorm's factor on the skip connection, alpha in LN(alpha x + "
    "G(x)), rounded down to nine decimals",
    "positive real",
)
init_scale = quantity(
    "init_scale",
    r"\beta",
    "DeepNorm's gain of the Xavier initialisation, rounded down to nine decimals",
    "positive real",
)
weight_scales = quantity(
    "weight_scales",
    "v_d^2+w_d^2",
    "sum of the squared initial scales of a decoder sublayer's two matrices",
    "positive real",
)

deepnet = partial(Source, "wang2022deepnet", version="arXiv:2203.00555")
QUARTER, SIXTEENTH = Rational(1, 4), Rational(1, 16)


def solution(exceeds: Callable[[Fraction], bool]) -> Exact:
    """The x > 0 beyond which `exceeds` holds, rounded down to nine decimals."""
    low, high = 0, 1
    while not exceeds(Fraction(high, UNITS)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if exceeds(Fraction(middle, UNITS)) else (middle, high)
    return Exact(Fraction(low, UNITS))


def _update_sum(case: Case, alpha_squared: Fraction, beta_squared: Fraction) -> Fraction:
    """The fourth power, which is rational, of the sum of 2 beta^2/alpha^2 over all sublayers.

    The sum has 2N equal terms in a stack of N layers and 3M in a decoder of M. In an encoder before
    a decoder it has 2N, each times M v_d w_d/alpha_d, where v_d = w_d = (12 M)^(-1/4) and
    alpha_d = (3 M)^(1/4) are the decoder's scales.
    """
    if "decoder" in case:
        terms = Fraction(3 * case.decoder_depth if case.decoder else 2 * case.depth) ** 4
    else:
        m = case.decoder_depth
        terms = Fraction((2 * case.depth * m) ** 4, (12 * m) ** 2 * 3 * m)
    return terms * (2 * beta_squared / alpha_squared) ** 4


def _alpha(case: Case) -> Exact:
    """The alpha at which the sum is 1 for beta^2 = 1/(2 alpha^2); the sum falls with alpha."""
    return solution(lambda alpha: _update_sum(case, alpha**2, 1 / (2 * alpha**2)) < 1)


def _beta(case: Case) -> Exact:
    """The beta at which the sum is 1 for alpha^2 = 1/(2 beta^2); the sum rises with beta."""
    return solution(lambda beta: _update_sum(case, 1 / (2 * beta**2), beta**2) > 1)


def _equations(
    terms: sympy.Expr,
    alpha: sympy.Symbol,
    beta: sympy.Symbol,
) -> tuple[sympy.Expr, sympy.Expr]:
    """What vanishes in the two equations: so many terms sum to 1, and 2 alpha^2 beta^2 = 1."""
    return terms * 2 * beta**2 / alpha**2 - 1, 2 * alpha**2 * beta**2 - 1


def _scale_steps(statement: Relational, *, terms: sympy.Expr) -> Iterator[Step]:
    """Eliminate the other scale; one equation is left, whose left side is monotone."""
    alpha, beta = sympy.symbols("alpha beta", positive=True)
    update, balance = _equations(terms, alpha, beta)
    solves_alpha = statement.lhs == residual_scale
    scale, other = (alpha, beta) if solves_alpha else (beta, alpha)
    found = sympy.solve(balance, other)
    yield Step(
        "2 alpha^2 beta^2 = 1 has one positive solution in the other scale",
        len(found) == 1 and bool(found[0].is_positive),
    )
    left = update.subs(other, found[0])
    moves = simplify(left.diff(scale) * scale)
    yield Step(
        "with it the update sum is monotone, so one scale makes it 1",
        bool(moves.is_negative if solves_alpha else moves.is_positive),
    )
    closed = before_rounding(statement)
    yield Step(ROUNDS, closed is not sympy.nan)
    yield Step("the closed form makes the update sum 1", simplify(left.subs(scale, closed)) == 0)


_RESTS = (
    "one scale is eliminated and the closed form put in, for every depth; "
    "prose: a monotone left side has one root"
)
_QUICK, _THEORY = (1, 2, 3, 5, 6, 12, 18, 24, 100), (8, 27, 48, 500, 1000)

in_a_stack = partial(
    claim,
    source=deepnet("figure 2 and section 4.3"),
    weight="arithmetic",
    cases={
        "quick": Case.grid(depth=_QUICK, decoder=False),
        "theory": Case.grid(depth=_THEORY, decoder=False),
    },
)
in_a_decoder = partial(
    claim,
    source=deepnet("figure 2 and section 4.3"),
    weight="arithmetic",
    cases={
        "quick": Case.grid(decoder_depth=_QUICK, decoder=True),
        "theory": Case.grid(decoder_depth=_THEORY, decoder=True),
    },
)
_ROOT = partial(Control, why="a square root")
_SIX_LAYERS, _SIX_DECODERS = Case(depth=6, decoder=False), Case(decoder_depth=6, decoder=True)


@in_a_stack(
    Eq(residual_scale, nine_decimals((2 * depth) ** QUARTER)),
    control=_ROOT(_SIX_LAYERS, statement=Eq(residual_scale, nine_decimals(sqrt(2 * depth)))),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_alpha(case: Case) -> Exact:
    """DeepNorm's alpha = (2N)^(1/4) solves two equations.

    In LN(alpha x + G(x)), where alpha multiplies the skip connection, the printed alpha =
    (2N)^(1/4) of an encoder-only or decoder-only stack is the only positive scale with 2N 2
    beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations that are derived here; to nine
    decimals, rounded down.

    Printed are the constants. The first equation makes the sum over sublayers in Theorem 4.2 one at
    v = w = beta; the second is what the constants satisfy besides. That they were chosen by these
    two is our reading. Nothing is shown on stability. The place in the source is to be checked
    against the paper.
    """
    return _alpha(case)


@in_a_stack(
    Eq(init_scale, nine_decimals((8 * depth) ** -QUARTER)),
    control=_ROOT(_SIX_LAYERS, statement=Eq(init_scale, nine_decimals(1 / sqrt(8 * depth)))),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_beta(case: Case) -> Exact:
    """DeepNorm's beta = (8N)^(-1/4) solves two equations.

    The printed beta = (8N)^(-1/4) of an encoder-only or decoder-only stack, a gain of the Xavier
    initialisation, is the only positive scale with 2N 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 =
    1, two equations that are derived here; to nine decimals, rounded down.

    Printed are the constants. The first equation makes the sum over sublayers in Theorem 4.2 one at
    v = w = beta; the second is what the constants satisfy besides. That they were chosen by these
    two is our reading. Nothing is shown on stability. The place in the source is to be checked
    against the paper.
    """
    return _beta(case)


@in_a_decoder(
    Eq(residual_scale, nine_decimals((3 * decoder_depth) ** QUARTER)),
    control=_ROOT(
        _SIX_DECODERS, statement=Eq(residual_scale, nine_decimals(sqrt(3 * decoder_depth)))
    ),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_decoder_alpha(case: Case) -> Exact:
    """DeepNorm's alpha = (3M)^(1/4) solves two equations.

    In LN(alpha x + G(x)), where alpha multiplies the skip connection, the printed alpha =
    (3M)^(1/4) of the decoder of an encoder-decoder is the only positive scale with 3M 2
    beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations that are derived here; to nine
    decimals, rounded down.

    Printed are the constants. The first equation makes the sum over sublayers in Theorem 4.2 one at
    v = w = beta; the second is what the constants satisfy besides. That they were chosen by these
    two is our reading. Nothing is shown on stability. The place in the source is to be checked
    against the paper.
    """
    return _alpha(case)


@in_a_decoder(
    Eq(init_scale, nine_decimals((12 * decoder_depth) ** -QUARTER)),
    control=_ROOT(
        _SIX_DECODERS, statement=Eq(init_scale, nine_decimals(1 / sqrt(12 * decoder_depth)))
    ),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_decoder_beta(case: Case) -> Exact:
    """DeepNorm's beta = (12M)^(-1/4) solves two equations.

    The printed beta = (12M)^(-1/4) of the decoder of an encoder-decoder, a gain of the Xavier
    initialisation, is the only positive scale with 3M 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 =
    1, two equations that are derived here; to nine decimals, rounded down.

    Printed are the constants. The first equation makes the sum over sublayers in Theorem 4.2 one at
    v = w = beta; the second is what the constants satisfy besides. That they were chosen by these
    two is our reading. Nothing is shown on stability. The place in the source is to be checked
    against the paper.
    """
    return _beta(case)


deepnorm_alpha.argument(_RESTS)(partial(_scale_steps, terms=2 * depth))
deepnorm_beta.argument(_RESTS)(partial(_scale_steps, terms=2 * depth))
deepnorm_decoder_alpha.argument(_RESTS)(partial(_scale_steps, terms=3 * decoder_depth))
deepnorm_decoder_beta.argument(_RESTS)(partial(_scale_steps, terms=3 * decoder_depth))

_SIZE = (depth**4 * decoder_depth) ** SIXTEENTH
_CROSS = decoder_depth * (12 * decoder_depth) ** Rational(-1, 2) / (3 * decoder_depth) ** QUARTER
in_an_encoder = partial(
    claim,
    source=deepnet("section 4.3, encoder-decoder; Theorem 4.3"),
    weight="arithmetic",
    cases={
        "quick": Case.grid(depth=(1, 2, 6, 18, 60), decoder_depth=(1, 6, 12)),
        "theory": Case.grid(depth=100, decoder_depth=(10, 100)),
    },
)
_NOT_ROUNDED = partial(
    Control, Case(depth=6, decoder_depth=6), "the printed coefficient, not rounded"
)


@in_an_encoder(
    Eq(residual_scale, nine_decimals(3 ** (-3 * SIXTEENTH) * _SIZE)),
    control=_NOT_ROUNDED(statement=Eq(residual_scale, nine_decimals(Rational(81, 100) * _SIZE))),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_encoder_alpha(case: Case) -> Exact:
    """DeepNorm's encoder alpha, before rounding.

    In LN(alpha x + G(x)), where alpha multiplies the skip connection, alpha = 3^(-3/16) (N^4
    M)^(1/16) is the only scale of an encoder of N layers before a decoder of M layers with (M v_d
    w_d/alpha_d) 2N 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations that are derived
    here; to nine decimals, rounded down.

    Printed are the coefficients 0.81 and 0.87; that these two equations stand behind them is our
    reading, which gives 3^(-3/16) = 0.8138 and 3^(3/16)/sqrt(2) = 0.8689. With the two printed
    digits the first sum is 2 (0.87/0.81)^2/3^(3/4) = 1.0122 for all N and M, in place of 1. Nothing
    is shown on stability. The place in the source is to be checked against the paper.
    """
    return _alpha(case)


@in_an_encoder(
    Eq(init_scale, nine_decimals(3 ** (3 * SIXTEENTH) / sqrt(2) / _SIZE)),
    control=_NOT_ROUNDED(statement=Eq(init_scale, nine_decimals(Rational(87, 100) / _SIZE))),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_encoder_beta(case: Case) -> Exact:
    """DeepNorm's encoder beta, before rounding.

    beta = 3^(3/16)/sqrt(2) (N^4 M)^(-1/16), a gain of the Xavier initialisation, is the only scale
    of an encoder of N layers before a decoder of M layers with (M v_d w_d/alpha_d) 2N 2
    beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations that are derived here; to nine
    decimals, rounded down.

    Printed are the coefficients 0.81 and 0.87; that these two equations stand behind them is our
    reading, which gives 3^(-3/16) = 0.8138 and 3^(3/16)/sqrt(2) = 0.8689. With the two printed
    digits the first sum is 2 (0.87/0.81)^2/3^(3/4) = 1.0122 for all N and M, in place of 1. Nothing
    is shown on stability. The place in the source is to be checked against the paper.
    """
    return _beta(case)


deepnorm_encoder_alpha.argument(_RESTS)(partial(_scale_steps, terms=_CROSS * 2 * depth))
deepnorm_encoder_beta.argument(_RESTS)(partial(_scale_steps, terms=_CROSS * 2 * depth))


@claim(
    Eq(weight_scales, sqrt(3 * decoder_depth)),
    wording="reported",
    known="FAILS",
    weight="arithmetic",
    source=deepnet("section 4.3, in a public transcription"),
    cases={"quick": Case.grid(decoder_depth=(3, 12, 27))},
    control=Control(Case(decoder_depth=3), "the exponent 1/2"),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_transcribed_exponent(case: Case) -> Exact:
    """v_d^2 + w_d^2 = (3M)^(1/2), as transcribed.

    With v_d = w_d = (12 M)^(-1/4), v_d^2 + w_d^2 = (3 M)^(1/2).

    It is (3 M)^(-1/2): the sign of the exponent was lost. Only with it does 3 M (v_d^2 +
    w_d^2)/alpha_d^2 = 1 hold.
    """
    root = isqrt(3 * case.decoder_depth)
    if root * root != 3 * case.decoder_depth:
        raise ValueError(f"3 M must be a square number, not M={case.decoder_depth}; try 3 or 12")
    return Exact(2 * Fraction(1, 2 * root))


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


amplified = partial(
    claim,
    source=liu("section 4, dependency on residual branches"),
    weight="step",
    cases={
        "quick": Case.grid(sublayers=(1, 2, 12, 96)),
        "theory": Case.grid(sublayers=(400, 1000)),
    },
)
_INDUCTION = (
    "induction on n, its step for every real n > 0; "
    "prose: what falls with n and tends to 0 is positive"
)


@amplified(
    Eq(amplification, sublayers / 2),
    control=Control(
        Case(sublayers=12),
        "logarithmic, as in pre-LN",
        statement=Eq(amplification, log(sublayers + 1)),
    ),
    supports="signal_propagation/admin_amplification",
)
def amplification_post_ln(case: Case) -> Exact:
    """Post-LN branch shares add up in proportion to depth.

    In the model of branches that each write variance 1, uncorrelated with a stream that starts at
    variance 1, every one of n branches of a post-LN net has share 1/2 of its own sum, so the shares
    add up to n/2.

    The paper's statement, as recalled, is O(N) (post-LN) and O(log N) (pre-LN) for the change of
    the output under a perturbation of all weights, which it takes as proportional to this sum;
    check against the paper. Checked is the sum alone, with constants that are derived; no net is
    perturbed.
    """
    return Exact(sum(_shares(case.sublayers, normalised=True), Fraction(0)))


@amplified(
    Ge(amplification, log(sublayers + 2) - Rational(3, 5)),
    control=Control(
        Case(sublayers=96), "by 8/5 more", statement=Ge(amplification, log(sublayers + 2) + 1)
    ),
    supports="signal_propagation/admin_amplification",
)
def amplification_pre_ln_lower(case: Case) -> Exact:
    """Pre-LN branch shares add up logarithmically: lower bound.

    In the model of branches that each write variance 1, uncorrelated with a stream that starts at
    variance 1, the shares of n branches of a pre-LN net in their own sums, 1/2 + ... + 1/(n + 1),
    add up to at least log(n + 2) - 3/5.

    The paper's statement, as recalled, is O(N) (post-LN) and O(log N) (pre-LN) for the change of
    the output under a perturbation of all weights, which it takes as proportional to this sum;
    check against the paper. Checked is the sum alone, with constants that are derived; no net is
    perturbed.
    """
    return Exact(sum(_shares(case.sublayers, normalised=False), Fraction(0)))


@amplified(
    Le(amplification, log(sublayers + 1)),
    control=Control(
        Case(sublayers=96), "another growth", statement=Le(amplification, log(sublayers + 2) / 2)
    ),
    supports="signal_propagation/admin_amplification",
)
def amplification_pre_ln_upper(case: Case) -> Exact:
    """Pre-LN branch shares add up logarithmically: upper bound.

    In the model of branches that each write variance 1, uncorrelated with a stream that starts at
    variance 1, the shares of n branches of a pre-LN net in their own sums, 1/2 + ... + 1/(n + 1),
    add up to at most log(n + 1).

    The paper's statement, as recalled, is O(N) (post-LN) and O(log N) (pre-LN) for the change of
    the output under a perturbation of all weights, which it takes as proportional to this sum;
    check against the paper. Checked is the sum alone, with constants that are derived; no net is
    perturbed.
    """
    return Exact(sum(_shares(case.sublayers, normalised=False), Fraction(0)))


def _harmonic_steps(statement: Relational, side: int) -> Iterator[Step]:
    """Induction on n: the bound grows by more (less) than the next share 1/(n + 2)."""
    x = sympy.Symbol("x", positive=True)
    bound = statement.rhs.subs(sublayers, x)
    gap = side * (bound.subs(x, x + 1) - bound - 1 / (x + 2))
    yield Step(
        "base: at one sublayer the bound admits the share 1/2",
        bool(enclose(side * (2 * bound.subs(x, 1) - 1)) > 0),
    )
    yield Step(
        "the gain of the bound minus the next share falls with n",
        bool(simplify(-simplify(gap.diff(x))).together().is_positive),
    )
    yield Step(
        "and tends to 0, so it is positive for every n",
        sympy.limit(simplify(expand_log(gap, force=True)), x, sympy.oo) == 0,
    )


amplification_pre_ln_lower.argument(_INDUCTION)(partial(_harmonic_steps, side=-1))
amplification_pre_ln_upper.argument(_INDUCTION)(partial(_harmonic_steps, side=1))


@claim(
    Eq(branch_share, 1 / (sublayers + 1)),
    source=liu("section 4.3, adaptive model initialization"),
    wording="reported",
    weight="step",
    cases={"quick": Case.grid(sublayers=(1, 2, 12)), "theory": Case.grid(sublayers=(96, 400))},
    control=Control(Case(sublayers=2), "omega = 1", statement=Eq(branch_share, Rational(1, 2))),
    supports="signal_propagation/admin_amplification",
)
def admin_share(case: Case) -> Exact:
    """ADMIN gives post-LN the branch shares of pre-LN.

    In the model of branches that each write variance 1, uncorrelated with the stream: with
    omega_i^2 the sum of the profiled variances before i, the embedding included, branch n of a
    post-LN net has share 1/(n + 1) of its sum, as in pre-LN.

    Reported is the rule for omega; that it reproduces pre-LN's shares is what it is for.
    """
    return Exact(list(_shares(case.sublayers, normalised=True, admin=True))[-1])


alpha = quantity(
    "depth_power", r"\alpha", "residual branches are multiplied by L^(-alpha)", "positive real"
)
variance_exponent = quantity(
    "variance_exponent", "e_{var}", "exponent of L in the variance that all branches write", "real"
)
adam_exponent = quantity(
    "adam_exponent",
    "e_{Adam}",
    "exponent of L in the Adam learning rate that makes the output's first-order change flat in L",
    "real",
)
sgd_exponent = quantity(
    "sgd_exponent",
    "e_{SGD}",
    "exponent of L in the SGD learning rate that makes the output's first-order change flat in L",
    "real",
)
gradient_exponent = quantity(
    "gradient_exponent",
    "e_{grad}",
    "exponent of L in the gradient of a weight inside a residual branch",
    "real",
)
second_order_exponent = quantity(
    "second_order_exponent",
    "e_2",
    "exponent of L in the ratio of second-order to linear response of one branch to one step",
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


dey = partial(Source, "dey2025", version="arXiv:2505.01618")
branches = partial(
    claim,
    kind="rate",
    weight="step",
    cases={"quick": Case.grid(depth_power=("1/2", "3/4", "1"))},
    source=dey("section 3, parameterizations with alpha in [1/2, 1]"),
)
_CONTROL = partial(Control, Case(depth_power="1/4"), "another exponent, below alpha = 1/2")


@branches(
    Eq(variance_exponent, 1 - 2 * alpha),
    control=_CONTROL(statement=Eq(variance_exponent, -2 * alpha)),
    supports="signal_propagation/completep_flat",
)
def branch_variance_exponent(case: Case) -> Exact:
    """Branches over L^alpha: power of L in the variance.

    L uncorrelated scalar branches of variance 1, multiplied by L^(-alpha), write a variance that
    goes as L^(1 - 2 alpha): bounded exactly for alpha >= 1/2.

    A scalar model, measured from L = 16 to 256: it shows where the power of L comes from, not that
    nets train alike at every depth. At alpha = 1/2 these are depth-muP's exponents: branches and
    Adam rate L^(-1/2), SGD rate 1, as recalled from yang2023tp6 and bordelon2023.
    """
    return Exact(
        slope(
            lambda depth: sum(
                (power(depth, -case.rational("depth_power")) ** 2 for _ in range(depth)),
                Fraction(0),
            )
        )
    )


@branches(
    Eq(gradient_exponent, -alpha),
    control=_CONTROL(statement=Eq(gradient_exponent, 1 - alpha)),
    supports="signal_propagation/completep_flat",
)
def depth_gradient_exponent(case: Case) -> Exact:
    """Branches over L^alpha: power of L in a gradient.

    In the scalar net h <- h + L^(-alpha) w_l h at w = 0, the gradient of a branch's weight goes as
    L^(-alpha), the power that CompleteP gives Adam's epsilon in the blocks.

    A scalar model, measured from L = 16 to 256: it shows where the power of L comes from, not that
    nets train alike at every depth. At alpha = 1/2 these are depth-muP's exponents: branches and
    Adam rate L^(-1/2), SGD rate 1, as recalled from yang2023tp6 and bordelon2023.
    """
    return Exact(slope(lambda depth: _gradients_at_zero(case, depth)[0]))


@branches(
    Eq(adam_exponent, alpha - 1),
    control=_CONTROL(statement=Eq(adam_exponent, -alpha)),
    supports="signal_propagation/adam_rate_exponent",
)
def completep_learning_rate(case: Case) -> Exact:
    """Branches over L^alpha: power of L in Adam's rate.

    In the scalar net h <- h + L^(-alpha) w_l h at w = 0, one sign step of size L^(alpha-1), the
    printed power of Adam's rate in the blocks, in every weight changes the output by an amount that
    does not depend on L, to first order.

    A scalar model, measured from L = 16 to 256: it shows where the power of L comes from, not that
    nets train alike at every depth. At alpha = 1/2 these are depth-muP's exponents: branches and
    Adam rate L^(-1/2), SGD rate 1, as recalled from yang2023tp6 and bordelon2023.
    """
    return Exact(-slope(lambda depth: sum(map(abs, _gradients_at_zero(case, depth)), Fraction(0))))


@branches(
    Eq(sgd_exponent, 2 * alpha - 1),
    control=_CONTROL(statement=Eq(sgd_exponent, alpha - 1)),
    supports="signal_propagation/adam_rate_exponent",
)
def depth_sgd_learning_rate(case: Case) -> Exact:
    """Branches over L^alpha: power of L in SGD's rate.

    In the scalar net h <- h + L^(-alpha) w_l h at w = 0, one SGD step of rate L^(2 alpha-1) in
    every weight changes the output by an amount that does not depend on L, to first order; at alpha
    = 1/2 the rate does not depend on L.

    A scalar model, measured from L = 16 to 256: it shows where the power of L comes from, not that
    nets train alike at every depth. At alpha = 1/2 these are depth-muP's exponents: branches and
    Adam rate L^(-1/2), SGD rate 1, as recalled from yang2023tp6 and bordelon2023.
    """
    return Exact(
        -slope(lambda depth: sum((g * g for g in _gradients_at_zero(case, depth)), Fraction(0)))
    )


@branches(
    Eq(second_order_exponent, alpha - 1),
    source=dey("equation 6 and figure 6"),
    control=Control(Case(depth_power="1/2"), "flat", statement=Eq(second_order_exponent, 0)),
    supports="signal_propagation/second_order_response",
)
def lazy_second_order(case: Case) -> Exact:
    """Branches over L^alpha: power of L in the second-order response.

    In the scalar branch L^(-alpha) u w h at u = w = 1, the second-order over the linear response to
    a step of L^(alpha-1) in both weights goes as L^(alpha-1): it is flat at alpha = 1 only, and
    L^(-1/2) at alpha = 1/2.

    A scalar model of one block; the power is reported for nets.
    """
    alpha = case.rational("depth_power")

    def ratio(depth: int) -> Fraction:
        eta, m = power(depth, alpha - 1), power(depth, -alpha)
        start, half, full = (m * (1 + step) ** 2 for step in (0, eta / 2, eta))
        quadratic = 2 * (full - 2 * half + start)  # from the second difference of a quadratic
        return quadratic / (full - start - quadratic)

    return Exact(slope(ratio))


def _count_powers(found: Claim, says: str, law: Callable[[sympy.Symbol], sympy.Expr]) -> None:
    """The exponent of a product of powers of L is the sum of their exponents."""

    def steps(statement: Relational) -> Iterator[Step]:
        L = sympy.Symbol("L", positive=True)
        exponent = simplify(expand_log(log(law(L)), force=True) / log(L))
        yield Step(says, simplify(exponent - statement.rhs) == 0)

    found.argument(
        "power counting: the law in L is typed in and the machine adds its exponents; "
        "the cases, scalar nets, decide",
        "checks",
    )(steps)


_count_powers(
    branch_variance_exponent,
    "one variance L^(-2 alpha) from each of L branches",
    lambda L: L * L ** (-2 * alpha),
)
_count_powers(
    depth_gradient_exponent,
    "one multiplier stands between the weight and the output",
    lambda L: L**-alpha,
)
_count_powers(
    completep_learning_rate,
    "L steps of one size, each multiplied by L^(-alpha)",
    lambda L: 1 / (L * L**-alpha),
)
_count_powers(
    depth_sgd_learning_rate,
    "L squared gradients of L^(-2 alpha) each",
    lambda L: 1 / (L * L ** (-2 * alpha)),
)
_count_powers(
    lazy_second_order,
    "a branch of two weights is quadratic in the step L^(alpha-1)",
    lambda L: L**-alpha * L ** (2 * alpha - 2) / (L**-alpha * L ** (alpha - 1)),
)


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
    """MuP's learning rates move one exact net equally at every width.

    In the net x -> u -> W -> v with |u_i| = 1, W a Hadamard matrix over sqrt(n) and v = u/n, the
    sizes of muP's initial weights, one step at muP's rate (Adam 1, 1/n, 1/n; SGD n, 1, 1/n for u,
    W, v) changes the next activation by an amount that does not depend on the width n.

    Reported are the rates. Measured from n = 16 to 256 on one input; the Hadamard matrix and a bent
    sign vector spread signals evenly, as random weights do on average. For random or trained nets
    nothing is shown.
    """

    def step(gradient: Fraction) -> Fraction:
        if case.optimiser == "sgd":
            return gradient
        return Fraction((gradient > 0) - (gradient < 0))

    def change(n: int) -> Fraction:
        """The mean square of the change; W u is spread evenly for u(i, j) = (-1)^(i.j)."""
        half = (n.bit_length() - 1) // 2
        u = [Fraction((-1) ** ((i >> half) & i & (2**half - 1)).bit_count()) for i in range(n)]
        rows = [[(-1) ** (i & j).bit_count() for j in range(n)] for i in range(n)]
        hidden = [_dot(row, u) / isqrt(n) for row in rows]
        v = [x / n for x in u]
        if case.matrix == "input":  # the gradient of u is W^T v times the input, which is 1
            moved = [step(_dot(row, v) / isqrt(n)) for row in rows]
        elif case.matrix == "hidden":  # the gradient of W is v u^T
            moved = [step(x) * sum(step(y) * y for y in u) for x in v]
        else:
            moved = [_dot([step(x) for x in hidden], hidden)]
        return _mup_rate(case, n) ** 2 * _dot(moved, moved) / len(moved)

    return Exact(slope(change) / 2)


def _dot(x: Sequence[Fraction | int], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
