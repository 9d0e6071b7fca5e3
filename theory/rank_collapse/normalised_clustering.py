"""Clustering with normalisation: post-norm nets cluster exponentially, pre-norm nets like 1/l^2.

Tokens are rows; attention is A_i = sum_j P_ij t_j with P = softmax of beta <t_i, t_j> and t_i the
token over its norm. Post-norm: x_i <- (x_i + h A_i) / |x_i + h A_i|. Pre-norm: x_i <- x_i + h A_i.
Nets are run in balls, with all tokens; nothing is linearised and no flow stands in for layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import flint
import sympy
from flint import arb, arb_mat
from sympy import Rational, log, simplify
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Outside, Source, Step, at, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, quantity
from ..exact.enclosure import enclose, from_fraction
from .softmax_attention import largest, resolved, softmax_rows

step = quantity("step", "h", "factor on what attention adds to a token", "positive real")
post_norm_rate = quantity(
    "post_norm_rate",
    r"\lambda",
    "mean fall of log(1 - least cosine of two tokens) per layer of a post-norm net",
    "positive real",
)
pre_norm_exponent = quantity(
    "pre_norm_exponent",
    r"\alpha",
    r"$e$ of 1 - least cosine of two tokens ~ $\mathrm{depth}^{-e}$ between two depths of a "
    "pre-norm net",
    "positive real",
)

first = quantity("first", "m", "layer from which clustering is counted", "positive integer")

SPREAD = "the squared distance of two tokens' directions is at most `spread` where counting starts"


def start(case: Case) -> arb_mat:
    """Unit vectors near one another: (K, 0, ..., 0) and integers from -9 to 9, normalised."""
    drawn = case.rng(0).integers(-9, 10, (case.tokens, case.width))
    drawn[:, 0] += case.centre
    return directions(arb_mat(drawn.tolist()))


def directions(tokens: arb_mat) -> arb_mat:
    """Each row over its norm."""
    rows = tokens.tolist()
    norms = [sum((entry * entry for entry in row), arb(0)).sqrt() for row in rows]
    return arb_mat([[entry / norm for entry in row] for row, norm in zip(rows, norms, strict=True)])


def layer(tokens: arb_mat, case: Case, *, post: bool) -> arb_mat:
    """One layer with a skip connection, normalised after it or, what attention reads, before it."""
    unit = directions(tokens)
    logits = unit * unit.transpose() * from_fraction(case.rational("inverse_temperature"))
    moved = tokens + softmax_rows(logits) * unit * from_fraction(case.rational("step"))
    return directions(moved) if post else moved


def squared_diameter(tokens: arb_mat) -> arb:
    """The largest squared distance of two tokens' directions: 2 (1 - least cosine)."""
    rows = directions(tokens).tolist()
    return largest(
        [
            sum(((a - b) ** 2 for a, b in zip(one, other, strict=True)), arb(0))
            for place, one in enumerate(rows)
            for other in rows[:place]
        ]
    )


def _diameters(case: Case, layers: Sequence[int], *, post: bool) -> list[arb]:
    """The squared diameters after these layers, ascending."""
    tokens, diameters = start(case), []
    for place in range(layers[-1] + 1):
        if place in layers:
            diameters.append(squared_diameter(tokens))
        if place < layers[-1]:
            tokens = layer(tokens, case, post=post)
    return diameters


def _measured(case: Case, *, post: bool, rate: bool) -> Ball | Outside:
    """log of the first over the last squared diameter, per layer or per log of the depths."""

    def fall() -> arb:
        first, last = _diameters(case, (case.first, case.depth), post=post)
        fallen: arb = (first / last).log()
        return fallen / (
            arb(case.depth - case.first) if rate else (arb(case.depth) / case.first).log()
        )

    def widest() -> arb:
        counted = case.first if rate else 0
        return _diameters(case, (counted,), post=post)[0]

    if Ball.of(resolved(widest)).high > case.rational("spread"):
        return Outside(SPREAD)
    return Ball.of(resolved(fall))


def _rate_interval(statement: Relational, case: Case) -> Ball:
    """The rates that squared diameters of at most s leave open.

    With y_i = x_i + h A_i: |A_i - A_j| <= g d for g = e^(2 beta s) - 1 and d the diameter, since
    logits of two rows differ by beta s at most, up to constants of a row. 1 + h (1 - s/2) <= |y_i|
    <= 1 + h. Normalising shrinks distances by the least norm or more, and takes from the squared
    distance the squared difference of norms, at most (h s / 2)^2 <= h^2 s d^2 / 4, d^2 the largest.
    """
    with flint.ctx.workprec(128):
        stated = enclose(at(statement.rhs, case))
        h, s = (from_fraction(case.rational(name)) for name in ("step", "spread"))
        g = (2 * from_fraction(case.rational("inverse_temperature")) * s).expm1()
        exact = 2 * (1 + h).log()
        slowest = 2 * (1 + h * (1 - s / 2)).log() - 2 * (1 + h * g).log() - exact
        fastest = -((1 - h * g) ** 2 - h * h * s / 4).log()
        return Ball(Ball.of(stated + slowest).low, Ball.of(stated + fastest).high)


class _Envelope(NamedTuple):
    """Bounds after a layer: norms, squared diameter of directions, difference of two norms."""

    least: arb
    most: arb
    squared: arb
    uneven: arb


def _exponent_interval(statement: Relational, case: Case) -> Ball:
    """The exponents that a squared diameter of at most s at the start leaves open.

    Norms start at 1 and grow by h (1 - d_l^2 / 2) to h per layer. Differences x_i - x_j change by
    the factor 1 +- h (e^(2 beta d_l^2) - 1) / r_l at most, r_l the least norm, and the diameter of
    directions lies between (D^2 - (difference of norms)^2) / (largest norm)^2 and D^2 / (least
    norm)^2, D the largest difference.
    """
    with flint.ctx.workprec(128):
        h, s, beta = (
            from_fraction(case.rational(name)) for name in ("step", "spread", "inverse_temperature")
        )
        now, grown, shrunk = _Envelope(arb(1), arb(1), s, arb(0)), arb(1), arb(1)
        above, below, before, least_added = arb(1), arb(1), now, arb(0)
        for place in range(case.depth):
            if place == case.first:
                above, below, before, least_added = arb(1), arb(1), now, arb(0)
            change = h * (2 * beta * now.squared).expm1() / now.least
            grown, shrunk = grown * (1 + change), shrunk * (1 - change)
            above, below = above * (1 + change), below * (1 - change)
            added = h * (1 - now.squared / 2)
            least_added += added
            least = now.least + added
            now = _Envelope(
                least, now.most + h, s * (grown / least) ** 2, now.uneven + h * now.squared / 2
            )
        # Of the pair that is farthest apart at the start, whose difference stays above shrunk times
        # s^(1/2).
        uneven = (now.uneven / shrunk) ** 2 / s
        # A pair that is farthest apart later has larger directions than that one, and so, but for
        # the norms it is multiplied with, a larger difference.
        alike = (before.least / before.most).min(now.least / now.most)
        uneven = uneven * above**2 / ((1 - uneven) * alike**2)
        # Of the tokens that are farthest apart at either end, one may have a larger norm.
        ratios = (
            (before.most - before.uneven + least_added) / before.most,
            (before.least + before.uneven + h * (case.depth - case.first)) / before.least,
        )
        span = (arb(case.depth) / case.first).log()
        law = 2 * ((1 + h * case.depth) / (1 + h * case.first)).log() / span
        off = enclose(at(statement.rhs, case)) - law
        low = (2 * (ratios[0] / above).log() + (1 - uneven).log()) / span
        high = (2 * (ratios[1] / below).log() - (1 - uneven).log()) / span
        return Ball(Ball.of(low + off).low, Ball.of(high + off).high)


_near = partial(Case, centre=400, spread="1/100")
_POST = {
    "quick": tuple(
        Case(
            tokens=count,
            width=d,
            inverse_temperature=beta,
            step=h,
            centre=40,
            first=first,
            depth=2 * first,
            spread="1/10000",
        )
        for count, d in ((2, 2), (6, 4))
        for beta in ("0", "3")
        for h, first in (("1", 16), ("1/10", 64))
    )
}
_PRE = {
    "quick": tuple(
        _near(tokens=count, width=d, inverse_temperature=beta, step=h, first=first, depth=4 * first)
        for count, d in ((2, 2), (5, 3))
        for beta in ("0", "3")
        for h, first in (("1", 32), ("1/4", 64))
    ),
    "theory": (_near(tokens=8, width=4, inverse_temperature="2", step="1", first=128, depth=1024),),
}
# The exponent of (d / (1 + h l))^2 between two depths.
_LAW = 2 * log((1 + step * depth) / (1 + step * first)) / log(depth / first)


@claim(
    Eq(post_norm_rate, 2 * log(1 + step)),
    kind="rate",
    source=Source("depthlaw", "after karagodin2025, arXiv:2510.22026, post-LN is exponential"),
    cases=_POST,
    predicted=_rate_interval,
    control=Control(
        _POST["quick"][0],
        "a rate higher by 1/10000",
        Eq(post_norm_rate, 2 * log(1 + step) + Rational(1, 10_000)),
    ),
    supports="rank_collapse/pre_norm_clusters",
)
def post_norm_clusters(case: Case) -> Ball | Outside:
    r"""Post-norm: tokens cluster exponentially with depth.

    For all unit tokens and $\beta \geq 0$, once the squared distance of any two is at most $s$, 1
    minus the least cosine falls per layer of a post-norm net with $V = I$ and step h by the factor
    $(1 + h)^2$, up to what $s$ leaves open.

    Reported is that it is exponential, without constants; the rate is ours. For small $h$ this is
    the rate $e^{-2 t}$ of the flow (equiangular_flow) at time $t = h l$; a whole step per layer
    clusters more slowly than that. Normalisation is to unit norm, without the mean over the width.
    """
    return _measured(case, post=True, rate=True)


@post_norm_clusters.argument(
    "Argument. Prose: the inequalities of `_rate_interval`; with equal tokens "
    "$x + h A = (1 + h) x$."
)
def _(statement: Relational) -> Iterator[Step]:
    """Two tokens at equal weights: x +- e d move to the mean plus e d / (1 + h) to first order."""
    e, h = sympy.symbols("e h", positive=True)
    # Tokens (cos e, +- sin e): with equal weights attention gives (cos e, 0) to both.
    x, y = (1 + h) * sympy.cos(e), sympy.sin(e)
    after = 1 - (x**2 - y**2) / (x**2 + y**2)
    before = 1 - sympy.cos(2 * e)
    factor = simplify(sympy.limit(sympy.trigsimp(sympy.together(after / before)), e, 0))
    yield Step(
        "1 - cosine of two tokens falls by (1 + h)^2 in the limit",
        simplify(factor * (1 + h) ** 2 - 1) == 0,
    )
    yield Step(
        "which is the stated rate", simplify(statement.rhs.subs(step, h) + log(factor)).equals(0)
    )
    yield Step(
        "the difference of norms takes (|y_i| - |y_j|)^2 from the squared distance: "
        "|y_i - y_j|^2 = (|y_i| - |y_j|)^2 + |y_i| |y_j| |t_i - t_j|^2",
        _chord(),
    )


def _chord() -> bool:
    a, b, c = sympy.symbols("a b c", real=True)
    return bool(
        sympy.expand(a**2 + b**2 - 2 * a * b * c - ((a - b) ** 2 + a * b * (2 - 2 * c))) == 0
    )


@claim(
    Eq(pre_norm_exponent, _LAW),
    kind="rate",
    source=Source("depthlaw", "after karagodin2025, arXiv:2510.22026, pre-LN, about $1/t^2$"),
    cases=_PRE,
    predicted=_exponent_interval,
    control=Control(
        _PRE["quick"][0],
        "an exponent higher by 1/80",
        Eq(pre_norm_exponent, _LAW + Rational(1, 80)),
    ),
    cited="Decides whether a power of depth may be quoted as the rate of pre-norm clustering.",
)
def pre_norm_clusters(case: Case) -> Ball | Outside:
    r"""Pre-norm: tokens cluster like $(1 + h l)^{-2}$.

    For all unit tokens of squared distance at most $s$ and $\beta \geq 0$, 1 minus the least cosine
    falls between the layers $m$ and $L$ of a pre-norm net with $V = I$ like $(1 + h l)^{-2}$, up to
    what $s$ leaves open.

    Reported is a polynomial, "about $1/t^2$". The exponent of the law tends to 2 and is below it at
    every finite depth, since norms are $1 + h l$ rather than $h l$; so is the measured one, whose
    intervals do not hold 2. The reason for the law: attention adds nearly the same vector to all
    tokens, so that their differences stay and their norms grow like $h l$; the distance of
    directions is one over the other. Normalisation is to unit norm, without the mean over the
    width; value matrices that differ by layer make norms grow more slowly.
    """
    return _measured(case, post=False, rate=False)


@pre_norm_clusters.argument("Argument. Prose: the inequalities of `_exponent_interval`.")
def _(statement: Relational) -> Iterator[Step]:
    """Differences stay and norms grow by h per layer: squared distances go as (1 + h l)^-2."""
    d = sympy.symbols("d", positive=True)
    before, after = ((d / (1 + step * place)) ** 2 for place in (first, depth))
    fall = sympy.expand_log(log(before) - log(after), force=True)
    stated = sympy.expand_log(statement.rhs * log(depth / first), force=True)
    yield Step(
        "the exponent of (d / (1 + h l))^2 between m and L is the stated one",
        simplify(fall - stated) == 0,
    )
    slope = -depth * sympy.diff(log(after), depth)
    yield Step("it tends to 2", simplify(sympy.limit(slope, depth, sympy.oo) - 2) == 0)
    yield Step(
        "the squared distance of directions is (|x_i - x_j|^2 - (|x_i| - |x_j|)^2) over the "
        "product of norms",
        _chord(),
    )
