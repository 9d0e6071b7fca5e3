"""Looped nets of infinite width at initialisation, with pre-norm and post-norm, and what DeepNorm's
scales become where passes share weights.

Without transposed matrices, what one matrix makes of several inputs is jointly Gaussian in the
limit of infinite width, with the products of the inputs as covariances, even where a later input
depends on an earlier output. So streams are known by their products alone, and these exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint
import sympy
from flint import arb
from sympy import Rational, exp, simplify, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq, between
from ..claims.symbols import quantity
from ..exact.enclosure import enclose, from_fraction
from .depth_scaling import deepnorm_scale, solution
from .looped_stream import gained
from .signal_symbols import ROUNDS, before_rounding, nine_decimals
from .token_correlation import CLOSED_FORM, cosine, relu_kernel_ball

own_layers = quantity("own_layers", "L", "layers with weights of their own")
loops = quantity("loops", "R", "passes through the same layers")
post_growth = quantity(
    "post_growth",
    "g",
    "square of the ratio by which all branches lengthen a post-norm stream, norms left out: one "
    "over the squared cosine between the last stream and the first",
    "positive real",
)


def wide_square(own: int, passes: int, share: Fraction, *, post: bool = False) -> arb:
    """The mean square of a stream of infinite width after so many passes, 1 at the start.

    Of each own layer two branches write ReLU(W1 x/|x|) through a second matrix, so that a write has
    mean square 1, times the root of `share`; with post-norm, times the stream's own length besides:
    dividing by that length after each branch changes no direction.

    Cost: 8 (own passes)^2 passes products of balls.
    """
    period, scale = 2 * own, from_fraction(share).sqrt()
    products, sizes = [[arb(1)]], list[arb]()
    for now in range(period * passes):
        with_earlier, square = products[now], products[now][now]
        # The writes of the same branch in passes before, and how alike they are to this one.
        alike = {
            then: relu_kernel_ball(with_earlier[then] / (square * products[then][then]).sqrt())
            for then in range(now % period, now, period)
        }
        size = scale * square.sqrt() if post else scale
        moved, shared = list[arb](), arb(0)
        for then, known in enumerate(with_earlier):
            moved.append(known + size * shared)
            if then in alike:
                shared += sizes[then] * alike[then]
        sizes.append(size)
        products.append([*moved, square + 2 * size * shared + size**2])
    return products[-1][-1]


_SIZES = {
    "quick": Case.grid(own_layers=2, loops=(1, 2, 4, 8)),
    "theory": Case.grid(own_layers=8, loops=(1, 2, 4, 8)),
}


def _square(case: Case, power: int = 2, *, post: bool = False) -> arb:
    """With branches scaled by the root of 1/(2 L R^power): of sizes where that is exact."""
    share = Fraction(1, 2 * case.own_layers * case.loops**power)
    with flint.ctx.workprec(128):
        return wide_square(case.own_layers, case.loops, share, post=post)


def _kernel_steps() -> Iterator[Step]:
    yield Step(
        "k rises with the cosine, since its slope is arccos(-c)/pi, up to k(1) = 1",
        simplify(CLOSED_FORM.diff(cosine) - (sympy.pi - sympy.acos(cosine)) / sympy.pi) == 0
        and CLOSED_FORM.subs(cosine, 1) == 1,
    )
    positive = bool(CLOSED_FORM.subs(cosine, 0) > 0)
    yield Step("k(0) is positive, so that writes of one branch are never opposed", positive)


@claim(
    between(CLOSED_FORM.subs(cosine, 1 / sqrt(2)), gained, 1),
    source=Source("depthlaw", "after wang2026loops, v1, abstract: 1/(N sqrt(L)) for N loops of L"),
    cases=_SIZES,
    control=Control(
        Case(own_layers=2, loops=2),
        "scaled by 1/sqrt(2 R L), as if each pass had weights of its own: the gain is 1.9",
        measured=lambda case: Ball.of(_square(case, 1) - 1),
    ),
    supports="signal_propagation/looped_stream",
)
def looped_stream_limit(case: Case) -> Ball:
    r"""Infinitely wide pre-norm loops gain 0.755 to 1 in the stream.

    Of $R$ passes over $L$ layers of their own, with two pre-norm ReLU branches each, scaled by
    $1/(R\sqrt{2L})$, a net of infinite width at initialisation adds at most 1 to the mean square of
    its residual stream, 1 at the start, and at least $k(1/\sqrt{2}) = 0.755$, $k$ the ReLU kernel,
    for every $R$ and $L$.

    One pass adds 1. The limit of infinite width is where looped_stream samples nets of finite width
    from; it is taken as known that products of streams converge there (prose of the module). With
    $1/\sqrt{2 R L}$, the scale of $R L$ layers of their own, a net of 8 passes over 2 layers gains
    7.1. Nothing is said about attention or training.
    """
    return Ball.of(_square(case) - 1)


@looped_stream_limit.argument(
    "bounds on one sum for every $R$ and $L$; prose: products of streams at infinite width follow "
    "the kernel, and a sum of writes that are never opposed only grows"
)
def _(statement: Relational) -> Iterator[Step]:
    """Cauchy and Schwarz above; below, passes see streams of cosine 1/sqrt(2) or more."""
    least, most = statement.rhs
    yield from _kernel_steps()
    square = 1 / (2 * own_layers * loops**2)
    yield Step(
        "2 L branches write R times each: at most 2 L R^2 squares of the scale, where all R writes "
        "of a branch are alike",
        simplify(2 * own_layers * loops**2 * square - most) == 0,
    )
    yield Step(
        "so a stream's square lies between 1 and 2, and that of a later one holds all of an "
        "earlier one: their cosine is 1/sqrt(2) at least, and k of it the left side",
        simplify(CLOSED_FORM.subs(cosine, 1 / sqrt(1 + most)) - least) == 0,
    )


@claim(
    between(1 + CLOSED_FORM.subs(cosine, exp(-Rational(1, 2))), post_growth, exp(1)),
    source=Source("depthlaw", "for post-norm, after the argument of looped_stream_limit"),
    cases=_SIZES,
    control=Control(
        Case(own_layers=2, loops=4),
        "a skip of sqrt(2 R L), as if each pass had weights of its own",
        measured=lambda case: Ball.of(_square(case, 1, post=True)),
    ),
    supports="signal_propagation/looped_stream",
)
def looped_post_norm_limit(case: Case) -> Ball:
    r"""Infinitely wide post-norm loops keep a share of their input.

    Of $R$ passes over $L$ layers of their own, with two post-norm ReLU branches each, whose skip is
    $R\sqrt{2L}$ times as large as what they write, a net of infinite width at initialisation has
    between its last stream and its first a squared cosine of at least $1/e$, and at most $1/(1 +
    k(e^{-1/2})) = 0.59$, for every $R$ and $L$.

    A post-norm stream has mean square 1 by its norm, so what a scale can promise is how much of the
    input is left. DeepNorm's scales leave more: its $\beta$ makes writes small besides, for the
    sake of updates (looped_deepnorm_scales).
    """
    return Ball.of(_square(case, post=True))


@looped_post_norm_limit.argument(
    "bounds on one sum for every $R$ and $L$; prose: the discrete inequality of Gronwall, and what "
    "looped_stream_limit leaves to a reader"
)
def _(statement: Relational) -> Iterator[Step]:
    """Gronwall above; below, cosines of at least exp(-1/2)."""
    least, most = statement.rhs
    yield from _kernel_steps()
    n = sympy.Symbol("n", positive=True)
    yield Step(
        "(sum of R writes)^2 <= R times the sum of squares, so g_t <= 1 + (g_0 + ... + g_(t-1))/n "
        "with n = 2 R L, which gives g <= (1 + 1/n)^n; its logarithm is below 1",
        simplify(loops / (2 * own_layers * loops**2) - 1 / (2 * own_layers * loops)) == 0
        and bool(enclose(sympy.log(most)) >= 1)
        and sympy.limit((1 + 1 / n) ** n, n, sympy.oo) == most,
    )
    yield Step(
        "so cosines are exp(-1/2) at least, and n squares of 1/n times their kernel, alike in the "
        "R passes of a branch, are added to 1",
        simplify(1 + CLOSED_FORM.subs(cosine, 1 / sqrt(most)) - least) == 0,
    )


def _shared_update(case: Case, alpha_squared: Fraction) -> Fraction:
    """What one step along the gradient changes in the output of a net of scalars, to first order.

    Sublayers write v w x/alpha into a stream that a norm keeps at x = 1, v = w = beta, so that each
    pass adds beta/alpha to the gradient of a weight; beta^2 = 1/(2 alpha^2).
    """
    once_squared = 1 / (2 * alpha_squared) / alpha_squared
    change = Fraction(0)
    for _ in range(2 * case.own_layers * 2):  # weights
        passes = sum(1 for _ in range(case.loops))
        change += passes**2 * once_squared
    return change


@claim(
    Eq(deepnorm_scale, nine_decimals((2 * own_layers * loops**2) ** Rational(1, 4))),
    source=Source("depthlaw", "after wang2022deepnet, Theorem 4.2, and arXiv:2607.13491, abstract"),
    weight="arithmetic",
    cases={
        "quick": Case.grid(own_layers=(1, 2, 12), loops=(1, 2, 4, 8)),
        "theory": Case.grid(own_layers=(8, 24), loops=(1, 3, 16)),
    },
    control=Control(
        Case(own_layers=2, loops=4),
        "DeepNorm at the R L layers passed",
        Eq(deepnorm_scale, nine_decimals((2 * own_layers * loops) ** Rational(1, 4))),
    ),
    supports="signal_propagation/looped_stream",
)
def looped_deepnorm_scales(case: Case) -> Exact:
    r"""In DeepNorm's scales a loop counts twice, an own layer once.

    In a net of scalars of $R$ passes over $L$ layers of their own, whose passes add up in the
    gradient of a shared weight, $\alpha = (2 L R^2)^{1/4}$ is the only positive scale with $2 L$
    $R^2$ $2 \beta^2/\alpha^2 = 1$, the change of the output by one step, and
    $2 \alpha^2 \beta^2 = 1$, by which $\beta = (8 L R^2)^{-1/4}$. To nine decimals, rounded down.

    At $R = 1$ they are DeepNorm's. The abstract of arXiv:2607.13491 has $(2N)^{1/2}$ and
    $(8N)^{-1/2}$ and does not say what $N$ counts. With these the change is $L R^2/(4 N^2)$: 1/4
    for one layer passed $N$ times, $L/4$ where $N$ counts the passes alone, and $1/(4L)$ where it
    counts all layers passed. So the power 1/2 is that of $R$, and $N$ is safe as $R L$ only. That
    the passes' gradients agree is the worst case; softmax nets at initialisation come near it
    (looped_deepnorm_update).
    """
    return solution(lambda alpha: _shared_update(case, alpha**2) < 1)


@looped_deepnorm_scales.argument(
    "one scale is eliminated and the closed form put in, for every $L$ and $R$; prose: a monotone "
    "left side has one root"
)
def _(statement: Relational) -> Iterator[Step]:
    """2 alpha^2 beta^2 = 1 leaves one equation."""
    closed, alpha = before_rounding(statement), sympy.Symbol("alpha", positive=True)
    yield Step(ROUNDS, closed is not sympy.nan)
    update = 2 * own_layers * loops**2 * 2 / (2 * alpha**4)
    yield Step("the change falls with alpha", bool((update.diff(alpha)).is_negative))
    yield Step("the closed form makes it 1", simplify(update.subs(alpha, closed) - 1) == 0)
