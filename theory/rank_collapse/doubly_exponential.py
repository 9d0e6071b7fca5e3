"""The doubly exponential law over thousands of orders of magnitude, and what breaks it.

Tokens are kept as the pair of their mean x and their residual R, X = 1 x^T + R. Where logits come
from tokens alone, P = 1 q^T + a deviation that `expm1` gives without cancellation, so that R keeps
its digits however small it is; python-flint's balls have exponents without limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import flint
import numpy as np
import sympy
from flint import arb, arb_mat
from sympy import Expr, Integer, Piecewise, Rational, log, simplify
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Outside, Source, Step, at, claim
from ..claims.proof_steps import at_least, vanish
from ..claims.relations import Eq, Ge, Lt
from ..claims.symbols import depth as L, quantity, residual, tokens as n
from ..exact.enclosure import enclose, from_fraction
from .deep_layers import residual_end
from .softmax_attention import (
    SoftmaxHead,
    ball_composite_norm,
    ball_norms,
    centred,
    instance,
    largest,
    resolved,
    row_ranges,
)

fitted_slope = quantity(
    "fitted_slope",
    r"\hat s",
    r"least-squares slope of $\log(-\log r_l)$ against the layer $l$, over the layers named",
    "real",
)
residual_decay = quantity(
    "residual_decay", r"\Lambda", r"mean fall of $\log r_l$ per layer", "positive real"
)
decay_per_position = quantity(
    "decay_per_position",
    "a",
    "factor that one more position of distance puts on the weights of "
    "attention; 0 for the causal mask",
    "nonnegative real",
)
skip_loss = quantity(
    "skip_loss",
    r"\varepsilon",
    "largest share of the residual that attention takes from it in one layer",
    "positive real",
)

_HERE = "theory/rank_collapse/doubly_exponential.py, "


# --- nets as pairs of mean and residual ---


def next_pair(
    mean: arb_mat,
    residual: arb_mat,
    heads: Sequence[SoftmaxHead],
    weights: arb_mat | None = None,
    skip: bool = False,
) -> tuple[arb_mat, arb_mat]:
    """One attention layer on the tokens 1 x^T + R, as a pair again.

    Args:
        mean, residual: x, shape (1, d), and R, shape (n, d), columns of sum 0.
        weights: positions and masks, shape (n, n): P_ij is proportional to weights_ij e^logit_ij;
            None where logits come from tokens alone.
        skip: whether the tokens are added to what attention gives.

    Cost: n^2 (d + n) products of balls and n^2 exponentials per head. Without `weights` no
    digits are lost, since P - 1 q^T is never formed as a difference.

    >>> one = SoftmaxHead(arb_mat([[1]]), arb_mat([[1]]))
    >>> _, R = next_pair(arb_mat([[0]]), arb_mat([["1e-1000"], ["-1e-1000"]]), [one])
    >>> abs(R[0, 0] / arb("1e-3000") - 1) < 1e-14
    True
    """
    count = residual.nrows()
    after, moved = 0 * mean, 0 * residual
    if skip:
        after, moved = mean, residual
    for head in heads:
        E, shared = head.perturbation(residual), _shared_logits(head, mean, residual)
        if weights is None:
            q = [value.exp() for value in shared]
            q = [value / sum(q) for value in q]
            rows = []
            for row in E.tolist():
                grown = [entry.expm1() for entry in row]
                z = sum((a * b for a, b in zip(q, grown, strict=True)), arb(0))
                rows.append([a * (b - z) / (1 + z) for a, b in zip(q, grown, strict=True)])
            after = after + (mean + arb_mat([q]) * residual) * head.value
        else:
            rows = []
            for row, allowed in zip(E.tolist(), weights.tolist(), strict=True):
                sizes = [w * (e + r).exp() for e, r, w in zip(row, shared, allowed, strict=True)]
                rows.append([size / sum(sizes) for size in sizes])
            after = after + mean * head.value
        moved = moved + arb_mat(rows) * residual * head.value
    shift = arb_mat(1, count, [arb(1) / count] * count) * moved
    return after + shift, centred(moved)


def _shared_logits(head: SoftmaxHead, mean: arb_mat, residual: arb_mat) -> list[arb]:
    """r = R (W_QK^T x + b) / sqrt(d_qk): the part of the logits that is the same in every row."""
    towards = head.qk.transpose() * mean.transpose()
    if head.qk_bias is not None:
        towards = towards + head.qk_bias
    return [row[0] for row in (residual * towards * arb(head.qk_width).rsqrt()).tolist()]


def _pairs(
    tokens: arb_mat,
    layers: Sequence[Sequence[SoftmaxHead]],
    weights: arb_mat | None = None,
    skip: bool = False,
) -> Iterator[tuple[arb_mat, arb_mat]]:
    """The pair before the first layer and after each."""
    R = centred(tokens)
    x = arb_mat([(tokens - R).tolist()[0]])
    yield x, R
    for layer in layers:
        x, R = next_pair(x, R, layer, weights, skip)
        yield x, R


def _position_weights(case: Case, logits: str) -> arb_mat | None:
    """What masks and positions put on attention: a^|i - j|, or 1 for j <= i under a causal mask."""
    if logits not in ("causal", "positions"):
        return None
    i, j = np.indices((case.tokens, case.tokens))
    if logits == "causal":
        return arb_mat((j <= i).astype(int).tolist())
    a = from_fraction(case.rational("decay_per_position"))
    return arb_mat([[a ** int(far) for far in row] for row in abs(i - j)])


# --- the slope of log(-log r) ---

COEFFICIENTS = "r_(l+1) / r_l^3 lies between `coefficient_least` and 1 at every layer"


def fit(values: Sequence[arb]) -> arb:
    """The least-squares slope of numbers at equal steps of 1.

    >>> abs(fit([arb(1), arb(3), arb(5)]) - 2) < 1e-15
    True
    """
    return sum(
        (w * value for w, value in zip(_fit_weights(len(values)), values, strict=True)), arb(0)
    )


def _fit_weights(points: int) -> list[arb]:
    centre = Fraction(points - 1, 2)
    total = sum((i - centre) ** 2 for i in range(points))
    return [from_fraction((i - centre) / total) for i in range(points)]


def _slope(case: Case, logits: str = "tokens") -> Ball:
    def slope() -> arb:
        pairs = _pairs(*instance(case), _position_weights(case, logits), skip=logits == "skip")
        sizes = [ball_composite_norm(R) for _, R in pairs][case.first :]
        return fit([(-size.log()).log() for size in sizes])

    return Ball.of(resolved(slope))


def _coefficients(case: Case) -> Ball:
    """All ratios r_(l+1) / r_l^3 of the case's net, enclosed without its softmax.

    To first order in E the layer is F = sum_h (q (E - E q)) R W. The second t-derivative of
    softmax(tE) is at most q_j e^D D^2, so what is left is at most e^D D^2 q^T |R W| / 2 in every
    row, and twice that after centring.
    """

    def ratios() -> list[arb]:
        series = []
        for (x, R), layer in zip(_pairs(*(drawn := instance(case))), drawn[1], strict=False):
            first, rest = 0 * R, arb_mat(1, case.width)
            for head in layer:
                q = [value.exp() for value in _shared_logits(head, x, R)]
                q = [value / sum(q) for value in q]
                E, RW = head.perturbation(R), R * head.value
                means = (E * arb_mat([[value] for value in q])).tolist()
                first += (
                    arb_mat(
                        [
                            [a * (b - mean[0]) for a, b in zip(q, row, strict=True)]
                            for row, mean in zip(E.tolist(), means, strict=True)
                        ]
                    )
                    * RW
                )
                D = largest(row_ranges(E))
                sizes = arb_mat([[abs(entry) for entry in row] for row in RW.tolist()])
                rest += arb_mat([q]) * sizes * (D * D * D.exp())
            one, infinity = ball_norms(centred(first))
            bound = [entry for row in rest.tolist() for entry in row]
            spread = (case.tokens * largest(bound) / one).max(sum(bound, arb(0)) / infinity)
            cubed = ball_composite_norm(R) ** 3
            size = ball_composite_norm(centred(first)) / cubed
            series.append((size * (1 - spread)).union(size * (1 + spread)))
        return series

    with flint.ctx.workprec(256):
        series = ratios()
        joined = series[0]
        for ratio in series[1:]:
            joined = joined.union(ratio)
        return Ball.of(joined)


def slope_interval(statement: Relational, case: Case) -> Ball:
    """The interval of fitted slopes that coefficients between `coefficient_least` and 1 allow.

    With a_l = -log r_l and base b, a_(l+1) = b a_l - log c_l, so that log a_l is
    log a_m + (l - m) log b + d_l, d_l = log(1 + sum_k b^-(k+1) (-log c_(m+k)) / a_m), and
    a_m >= b^m a_0. The least-squares slope is linear in d.
    """
    with flint.ctx.workprec(128):
        step = enclose(statement.rhs)
        b = step.exp()
        start = b**case.first * -from_fraction(case.rational("residual")).log()
        most = -from_fraction(case.rational("coefficient_least")).log()
        steps = range(case.depth - case.first + 1)
        deviations = [(1 + most * (1 - b**-k) / (b - 1) / start).log() for k in steps]
        low = high = step
        for weight, deviation in zip(_fit_weights(len(steps)), deviations, strict=True):
            low, high = (
                (low, high + weight * deviation) if weight > 0 else (low + weight * deviation, high)
            )
        return Ball(Ball.of(low).low, Ball.of(high).high)


_net = partial(Case, residual="1/100", beta="1", qk_width=1)


def _nets(depths: Sequence[int], **more: str | int) -> tuple[Case, ...]:
    shapes = ((2, 1, 1, 0), (4, 3, 1, 1), (6, 4, 3, 0), (8, 8, 1, 0), (8, 8, 4, 1))
    return tuple(
        _net(tokens=count, width=d, heads=h, bias=bias, first=3, depth=k, **more)
        for count, d, h, bias in shapes
        for k in depths
    )


_PLAIN = {
    "quick": _nets((8,), coefficient_least="1/1000000"),
    "theory": _nets((10, 12), coefficient_least="1/1000000"),
}


@claim(
    Eq(fitted_slope, log(3)),
    kind="rate",
    predicted=slope_interval,
    post_hoc="The least coefficient $c = 10^{-6}$ was chosen after a first look at such nets.",
    headline="The doubly exponential law itself: the exponent triples with each layer: base 3.",
    source=Source("depthlaw", "after dong2021, Theorem 2.3: " + _HERE + "slope"),
    assumes={
        r"coefficient_least $\leq 1$ and $r_0 < 1$": lambda c: (
            c.rational("coefficient_least") <= 1 and c.rational("residual") < 1
        )
    },
    cases=_PLAIN,
    control=Control(
        _PLAIN["quick"][0], r"slope $\log(32/11)$", Eq(fitted_slope, log(Rational(32, 11)))
    ),
    cited=r"Decides which slope of $\log(-\log \text{residual})$ a net must show where each layer "
    "cubes.",
)
def doubly_exponential_slope(case: Case) -> Ball | Outside:
    r"""Where each layer cubes, $\log(-\log \text{residual})$ grows by $\log 3$ per layer.

    For every net of softmax attention alone, with any number of heads, in which the residual before
    layer $l$ and after it satisfy $c r_l^3 \leq r_{l+1} \leq r_l^3$ at every layer, the
    least-squares slope of $\log(-\log r_l)$ over the layers $m$ to $L$ is $\log 3$ within the
    interval that $c$ and $r_0$ leave open.

    That every layer cubes, up to a constant, is assumed: what is argued is the algebra of that
    recurrence, not that attention does it. Six layers or more, down by more than ten thousand
    orders of magnitude (quick), and by more than a million at twelve layers (theory). The interval
    is derived: $a_l = -\log r_l$ follows $a_{l+1} = 3 a_l - \log c_l$, so $\log a_l$ deviates from
    a line by less than $\log(1 + \log(1/c)/(2 a_m))$. That the coefficients lie in the range is
    checked on the net that is drawn, from its cubic part and the remainder of the softmax, not from
    the residuals that are measured; one that does not is out of scope. The upper end 1 is below the
    theorem's $4 \gamma \beta H$, and true of these nets.
    """
    coefficients = _coefficients(case)
    if not (coefficients.low >= case.rational("coefficient_least") and coefficients.high <= 1):
        return Outside(COEFFICIENTS)
    return _slope(case)


@doubly_exponential_slope.argument(
    r"Argument: the recurrence of $-\log r$ is solved. Prose: coefficients of cubic part and "
    "remainder lie between $c$ and 1; a fitted slope is linear."
)
def _(statement: Relational) -> Iterator[Step]:
    """a_(m+k) = b^k (a_m + s_k) solves the recursion, with s_k between 0 and (1 - b^-k)/(b-1) u."""
    b = sympy.exp(statement.rhs)
    a, s, u, k = sympy.symbols("a s u k", positive=True)
    yield vanish(
        "log of r_(l+1) = c_l r_l^3 with a = -log r, u = -log c_l: a' = 3 a + u, which is "
        "base b of the stated slope",
        b * a + u - (3 * a + u),
    )
    yield vanish(
        "a_(m+k) = b^k (a_m + s_k) with s_(k+1) = s_k + b^-(k+1) u_k",
        b * b**k * (a + s) + u - b ** (k + 1) * (a + s + b ** (-k - 1) * u),
    )
    total = u * (1 - b**-k) / (b - 1)
    yield Step(
        "s_k is at most u (1 - b^-k)/(b - 1) where every u_k is at most u: 0 at k = 0, and "
        "it grows by b^-(k+1) u",
        total.subs(k, 0) == 0 and simplify(total.subs(k, k + 1) - total - b ** (-k - 1) * u) == 0,
    )
    yield Step(
        "log(1 + s/a_m) grows with s and falls with a_m",
        bool(sympy.diff(log(1 + s / a), s).is_positive)
        and bool(simplify(sympy.diff(log(1 + s / a), a)).is_negative),
    )


# --- masks, positions and skips ---


_BROKEN = {
    suite: tuple(
        case
        for more in (
            {"logits": "causal"},
            {"logits": "positions", "decay_per_position": "9/10"},
            {"logits": "skip"},
        )
        for case in _nets((depth,), **more)
    )
    for suite, depth in (("quick", 8), ("theory", 12))
}


@claim(
    Lt(fitted_slope, log(3)),
    source=Source("depthlaw", _HERE + "slope, masks, positions and skips"),
    holds_for="these nets",
    cases=_BROKEN,
    supports="rank_collapse/doubly_exponential_slope",
    control=Control(
        _BROKEN["quick"][-1], "the same nets without skips", measured=lambda case: _slope(case)
    ),
)
def slope_below_cubic(case: Case) -> Ball:
    r"""In these masked, positional, skip nets $\log(-\log \text{residual})$ grows below $\log 3$.

    In these nets of softmax attention alone with a causal mask, or with logits that are lowered in
    proportion to the distance $|i - j|$, and in these nets with skip connections, drawn at random,
    the least-squares slope of $\log(-\log r_l)$ against the layer is below $\log 3$, the slope of
    the same nets without mask, positions or skips.

    Several heads and any value matrices. Only an upper bound is stated; the slopes found lie far
    below it. The control lies just above it, as it would under a mask or positions: coefficients
    below 1 put the slope of the cubic law a little above $\log 3$. Logits by distance are those of
    ALiBi without its causal mask; relative biases of T5 or XLNet are other functions of $i - j$.
    The laws themselves: position_decay, skip_keeps_residual.
    """
    return _slope(case, case.logits)


# Content of logits that the laws of masks and positions neglect.
SMALL_CONTENT = Fraction(1, 10**12)
_SECOND = Piecewise(
    (Rational(1, 2), Eq(decay_per_position, 0)),
    ((1 - decay_per_position) / (1 + decay_per_position), Eq(n, 2)),
    ((1 - decay_per_position**2) / (1 + decay_per_position + decay_per_position**2), True),
)


def _decay(case: Case) -> Ball | Outside:
    """log(r_0 / r_L) / L of tokens 1 c^T + e I and heads with signed permutations as W_V."""
    rng, count, start = case.rng(0), case.tokens, case.rational("residual")
    epsilon = start / (2 - Fraction(2, count))
    centre = [int(v) for v in rng.integers(-3, 4, count)]
    drawn = [
        (
            rng.integers(-9, 10, (count, count)).tolist(),
            (
                np.eye(count, dtype=int)[rng.permutation(count)] * rng.choice([-1, 1], count)
            ).tolist(),
        )
        for _ in range(case.depth)
    ]

    def fall() -> arb:
        tokens = arb_mat([centre] * count) + arb_mat(
            [[from_fraction(epsilon * int(i == j)) for j in range(count)] for i in range(count)]
        )
        layers = [
            [SoftmaxHead(arb_mat(qk) * (arb(1) / (9 * count)), arb_mat(value))]
            for qk, value in drawn
        ]
        states = list(_pairs(tokens, layers, _position_weights(case, case.logits)))
        for (x, R), [head] in zip(states, layers, strict=False):
            shared = _shared_logits(head, x, R)
            content = head.perturbation(R) + arb_mat([shared] * count)
            widest, most = largest(row_ranges(content)), from_fraction(SMALL_CONTENT)
            if widest > most:
                raise _TooMuchContent
            if not widest <= most:
                return arb("nan")  # more bits decide
        sizes = [ball_composite_norm(R) for _, R in (states[0], states[-1])]
        fallen: arb = (sizes[0] / sizes[1]).log() / case.depth
        return fallen

    try:
        return Ball.of(resolved(fall))
    except _TooMuchContent:
        return Outside("what tokens add to logits ranges over at most 1e-12")


class _TooMuchContent(Exception):
    """A net breaks the assumption of `_decay`."""


def _near(statement: Relational, case: Case) -> Ball:
    """The interval of mean falls that transients leave open after L layers.

    P the attention matrix of positions alone, u a left eigenvector of its second eigenvalue s: u is
    orthogonal to 1, so |R_L| >= |u X_L| / |u| = s^L e in the spectral norm, which the composite
    norm is not below, and r_0 = 2 (1 - 1/n) e. Above, a causal row i gives at most (i - 1) / 2^L to
    all positions but the first (the product is a Hausdorff matrix), so r_L / r_0 <=
    (n - 1) sqrt(n) / 2^L. With symmetric a^|i-j| over row sums, which differ by a factor 2 at most,
    r_L <= sqrt(n) sqrt(2) s^L e.
    """
    with flint.ctx.workprec(128):
        count, stated = case.tokens, enclose(at(statement.rhs, case))
        start = from_fraction(2 - Fraction(2, count))
        above = (
            arb(2 * count).sqrt() / start
            if case.logits == "positions"
            else (count - 1) * arb(count).sqrt()
        )
        # What the content that is neglected changes in a rate.
        slack = from_fraction(Fraction(1, 10**6))
        low = stated - above.log() / case.depth - slack
        high = stated + start.log() / case.depth + slack
        return Ball(Ball.of(low).low, Ball.of(high).high)


_long = partial(Case.grid, residual="1/100000000000000000000")
_causal = partial(_long, logits="causal", decay_per_position="0")
_placed = partial(_long, logits="positions", tokens=(2, 3))


@claim(
    Eq(residual_decay, -log(_SECOND)),
    kind="rate",
    predicted=_near,
    source=Source("depthlaw", _HERE + "causal mask, relative positions"),
    cases={
        "quick": (
            *_causal(tokens=(2, 3, 6), depth=(64, 128)),
            *_placed(depth=(64, 128), decay_per_position="1/2"),
        ),
        "theory": (*_causal(tokens=8, depth=512), *_placed(depth=256, decay_per_position="1/10")),
    },
    assumes={
        "a causal mask, or 2 or 3 tokens and $0 < a < 1$": lambda c: (
            c.rational("decay_per_position") == 0
            if c.logits == "causal"
            else c.tokens in (2, 3) and 0 < c.rational("decay_per_position") < 1
        )
    },
    control=Control(
        _placed(depth=128, decay_per_position="1/2")[1],
        "a factor of 59/25 per layer, not 7/3",
        Eq(residual_decay, log(Rational(59, 25))),
    ),
    cited="Decides whether late collapse with a mask is estimated by a cube or a factor per layer.",
)
def position_decay(case: Case) -> Ball | Outside:
    r"""Under causal masks the residual halves per layer; positions give other factors.

    For every net of one-head softmax attention alone, orthogonal value matrices that permute and
    reflect the features, and tokens so near each other that what they add to logits is negligible,
    $-\log r_l$ grows per layer by $\log 2$ under a causal mask, with any number of tokens, and with
    weights $a^{|i-j|}$, for two or three tokens, by -log of $(1-a)/(1+a)$, or of
    $(1-a^2)/(1+a+a^2)$: $r_0/r_L$ is that power up to a factor that depends on the number of tokens
    alone.

    So $\log r$ is linear in depth and not in $3^L$. The rate is the second eigenvalue of the
    attention matrix that is left when tokens are equal, under a causal mask $1/i$ in row $i$; it
    does not depend on the length there. For two tokens whose rows are fixed, $(p, 1 - p)$ and
    $(q, 1 - q)$, it is $p - q$, whatever their difference: a causal mask has $p = 1$, $q = 1/2$.
    With other value matrices their singular values come on top. No value of a in (0, 1) gives a
    doubly exponential law, $a = 1$ (no positions) does. In the formula $a = 0$ stands for the
    causal mask.
    """
    return _decay(case)


@position_decay.argument(
    "Argument: the second eigenvalue and its left eigenvector are checked. Prose: the "
    "transients of `_near`; logits within $10^{-12}$ move no sixth digit."
)
def _(statement: Relational) -> Iterator[Step]:
    """A left eigenvector of the stated eigenvalue, orthogonal to 1."""
    yield from _eigen_steps("causal", statement.rhs.subs(decay_per_position, 0))
    yield from _eigen_steps("positions", statement.rhs)


def _eigen_steps(logits: str, stated: Expr) -> Iterator[Step]:
    a = decay_per_position
    for count in (2, 3):
        far = sympy.Matrix(
            count,
            count,
            lambda i, j: Integer(1 if j <= i else 0) if logits == "causal" else a ** abs(i - j),
        )
        P = sympy.Matrix(count, count, lambda i, j, m=far: m[i, j] / sum(m.row(i)))
        # Where a is positive, and not the 0 of the causal mask.
        second = sympy.exp(-stated.subs(n, count).subs(Eq(a, 0), False))
        u = (
            sympy.Matrix([[-1, 1, *[0] * (count - 2)]])
            if logits == "causal"
            else sympy.Matrix([[1, *[0] * (count - 2), -1]])
        )
        yield Step(
            f"{logits}, {count} tokens: u P = s u with the stated s, and u is orthogonal to 1",
            simplify(u * P - second * u) == sympy.zeros(1, count) and sum(u) == 0,
        )
        others = sum(P[i, i] for i in range(count)) - 1 - second
        yield Step(
            f"{logits}, {count} tokens: what is left of the trace is at most s",
            at_least(1, simplify(others / second)),
        )


_SKIPS = {
    "quick": tuple(
        _net(tokens=count, width=d, heads=h, bias=0, depth=k, logits="skip", skip_loss="1/100")
        for count, d, h in ((2, 1, 1), (6, 4, 3), (8, 8, 4))
        for k in (8, 24)
    )
}


@claim(
    Ge(log(residual_end), log(residual) + L * log(1 - skip_loss)),
    source=Source("depthlaw", _HERE + "skips"),
    cases=_SKIPS,
    control=Control(
        _SKIPS["quick"][0], "this net without skips", measured=lambda case: _last(case, skip=False)
    ),
    supports="rank_collapse/skips_keep_more",
)
def skip_keeps_residual(case: Case) -> Ball | Outside:
    r"""With skips a layer takes a small share of the residual.

    For every net of softmax attention with skip connections on tokens $x$, $-x$, $\log r_L$ is at
    least $\log r_0 + L \log(1 - e)$, where $e$ is at least $2 e^M (e^M - 1) |W_V|$ summed over
    heads at every layer, in the norms $\|.\|_1$ and $\|.\|_\infty$, and $M$ is the largest logit.

    So residuals fall exponentially at the fastest, and small ones hardly at all, since $M$ falls
    with $r^2$: attention gives what skip_existence says of some weights for all small ones. The sum
    is computed on the net that is drawn; where it exceeds $e$ the case is out of scope.
    """
    return _last(case, skip=True)


def _last(case: Case, skip: bool) -> Ball | Outside:
    tokens, layers = instance(case)
    most = from_fraction(case.rational("skip_loss"))

    def lost(R: arb_mat, layer: Sequence[SoftmaxHead]) -> arb:
        """The sum over heads of 2 e^M (e^M - 1) |W_V|, the larger of the two norms."""
        both = [arb(0), arb(0)]
        for head in layer:
            M = largest([abs(entry) for row in head.perturbation(R).tolist() for entry in row])
            for side, norm in enumerate(ball_norms(head.value)):
                both[side] += 2 * M.exp() * M.expm1() * norm
        return largest(both)

    states = [R for _, R in _pairs(tokens, layers, skip=skip)]
    if not all(lost(R, layer) <= most for R, layer in zip(states, layers, strict=False)):
        return Outside("a layer takes at most `skip_loss` of the residual")
    return Ball.of(
        resolved(
            lambda: [ball_composite_norm(R) for _, R in _pairs(*instance(case), skip=skip)][-1]
        )
    )


@skip_keeps_residual.argument(
    r"Argument. Prose: $|P - 1 q^T| \leq e^M (e^M - 1)/M (|E| + |E| q)$ entrywise "
    "(gamma_free_bound); the triangle inequality; tokens stay $x$, $-x$."
)
def _(statement: Relational) -> Iterator[Step]:
    """|R'| >= |R| - |A| |R| |W| in both norms, so their geometric mean loses the same share."""
    e, one, infinity = sympy.symbols("e one infinity", positive=True)
    yield Step(
        "the root of two norms that each keep the share 1 - e keeps it too",
        simplify(
            sympy.sqrt((1 - e) * one * (1 - e) * infinity) ** 2
            - ((1 - e) * sympy.sqrt(one * infinity)) ** 2
        )
        == 0,
    )
    yield Step(
        "base: with no layer the bound is that of the input",
        simplify(statement.rhs.subs(L, 0) - log(residual)) == 0,
    )
    yield Step(
        "step: a layer more lowers the bound by log(1 - e)",
        simplify(statement.rhs.subs(L, L + 1) - statement.rhs - log(1 - skip_loss)) == 0,
    )
