"""Gradients of the last feed-forward matrix at initialisation, after Xiong et al. 2020, Theorem 1.

Measured by reverse mode in real nets (`backward`). Predicted at every width, in the theorem's
setting and for the loss of one position: in a pre-LN net of equal tokens log ||dl/dW^{2,L}||^2 has
mean c(d) - E log(1 + variance written by all branches), in other pre-LN nets it lies between that
and the same without attention, and in a post-LN net it has one law at every depth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import flint
import numpy as np
import sympy
from flint import acb, arb
from sympy import Rational, log
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Outside, Sample, Source, at, claim
from ..claims.relations import Eq, between
from ..claims.symbols import depth, quantity
from ..exact.enclosure import enclose, from_fraction
from .backward import Array, backward, cross_entropy, draw, forward
from .signal_symbols import expected_exponent, fraction

slope = quantity(
    "gradient_slope",
    r"\partial\log\|\nabla W^{2,L}\|/\partial\log L",
    r"least-squares slope of the log size of the last feed-forward gradient against $\log L$ "
    "over depths that double",
    "real",
)
size = quantity(
    "log_gradient",
    "G_L",
    r"$\mathbb{E} \log \|\mathrm{gradient}\|^2$ of the last feed-forward matrix, less $c(d)$, "
    "its value where the last LayerNorm sees variance 1",
    "real",
)

# Records keep six digits: the rest depends on the order in which a machine's linear algebra adds.
DIGITS = 6
# Nets that are drawn at once, which bounds the memory.
BLOCK = 32
# A net whose last layer has no active unit has a zero gradient, which has no logarithm.
DEAD = "some unit of the last layer is active at the first token (not so by chance 2^-width)"


def last_gradients(
    case: Case, rng: np.random.Generator, depth: int, *orders: bool, attention: float = 1.0
) -> Array:
    """||dl/dW^{2,L}||_F of `replicas` nets of a depth, with Gaussian tokens, equal or independent,
    in each of the orders (pre-LN or not): shape (orders, replicas).

    The loss, of the first position, is u.y for a random unit vector u ("linear") or cross-entropy
    behind a random linear head with d classes ("softmax").
    """
    d = case.width
    norms: list[list[Array]] = [[] for _ in orders]
    for start in range(0, case.replicas, BLOCK):
        count = min(BLOCK, case.replicas - start)
        drawn = rng.normal(size=(count, 1 if case.start == "equal" else case.tokens, d))
        layers = draw(rng, depth, d, count)
        x = drawn + np.zeros((count, case.tokens, d))
        if case.loss == "softmax":
            head = rng.normal(0, d**-0.5, (count, d, d))
        else:
            u = rng.normal(size=(count, d))
        for pre, found in zip(orders, norms, strict=True):
            output, tape = forward(x, layers, pre=pre, attention=attention)
            if case.loss == "softmax":
                upstream = cross_entropy(output, head)[1]
            else:
                upstream = np.zeros_like(output)
                upstream[:, 0] = u / np.linalg.norm(u, axis=-1, keepdims=True)
            last = next(backward(upstream, layers, tape, pre=pre, attention=attention))
            found.append(np.linalg.norm(last.second, axis=(-2, -1)))
    return np.array([np.concatenate(found) for found in norms])


def _doublings(case: Case) -> list[int]:
    """The depths of a fit: shallow, 2 shallow, ... up to deep."""
    return [case.shallow << k for k in range((case.deep // case.shallow).bit_length())]


def _sample(values: Array) -> Sample:
    return Sample(tuple(float(f"{v:.{DIGITS}g}") for v in values))


def slopes(case: Case, seed: int, *, pre: bool) -> Sample | Outside:
    """Least-squares slopes of log ||dl/dW^{2,L}|| against log L, from one net of each depth."""
    depths, sizes = _doublings(case), _sizes(case, seed)[:, int(pre)]
    if not sizes.all():
        return Outside(DEAD)
    return _sample(np.polynomial.polynomial.polyfit(np.log(depths), np.log(sizes), 1)[1])


# Most of the time goes into drawing the nets, which both orders share.
@lru_cache(maxsize=4)
def _sizes(case: Case, seed: int) -> Array:
    """Of every depth, in both orders: shape (depths, orders, replicas)."""
    rng = case.rng(seed)
    return np.array([last_gradients(case, rng, depth, False, True) for depth in _doublings(case)])


def log_sizes(case: Case, seed: int, *, pre: bool, attention: float = 1.0) -> Sample | Outside:
    """log ||dl/dW^{2,L}||^2 less c(d)."""
    (sizes,) = last_gradients(case, case.rng(seed), case.depth, pre, attention=attention)
    if not sizes.all():
        return Outside(DEAD)
    return _sample(2 * np.log(sizes) - last_layer_mean(case.width))


def last_layer_mean(width: int) -> float:
    """c(d), the mean over the last layer alone: the sum before the last LayerNorm has variance 1.

    c(d) = log d + E log||ReLU(Z)||^2 + E log||P u||^2 - E log chi^2_(d-1), for a standard Gaussian
    Z that is not all negative (of chance 2^-d), a random unit vector u, and P the projection off
    two directions, so that ||P u||^2 has the law Beta((d - 2)/2, 1).

    >>> round(last_layer_mean(32) - math.log(32 / 2), 2)
    -0.08
    """
    from scipy.special import digamma

    active = math.fsum(
        math.comb(width, k) * (float(digamma(k / 2)) + math.log(2)) for k in range(1, width + 1)
    ) / (2**width - 1)
    last_norm = float(digamma((width - 1) / 2))
    return math.log(width) + active - 2 / (width - 2) - last_norm - math.log(2)


def mean_log_variance(depth: int, width: int, *, attention: bool) -> arb:
    """E log(1 + a L + s_1^2 + ... + s_L^2), a = 1 or 0, for independent s_l^2 = ||ReLU(Z_l)||^2/d.

    That is the variance of the stream at equal tokens, or without attention. By log v = integral
    over t > 0 of (e^(-t) - e^(-tv))/t, with E e^(-t s^2) = ((1 + (1 + 2t/d)^(-1/2))/2)^d; the ends
    are bounded by hand.
    """
    near, far = arb(2) ** -50, arb(80)
    linear = depth if attention else 0

    def integrand(t: Any, analytic: bool) -> Any:
        one = ((1 + (1 + 2 * t / width).rsqrt(analytic)) / 2) ** width
        return (-t).exp() * (1 - (-t * linear).exp() * one**depth) / t

    with flint.ctx.workprec(96):
        middle = acb.integral(integrand, near, far).real
        # On (0, near) the integrand lies between 0 and E v - 1; beyond `far` between 0 and e^(-t).
        ends = near * (linear + arb(depth) / 2) + (-far).exp()
        return middle + ends.union(0)


def _stream_slope(case: Case, rising: bool | None) -> Ball:
    """The slope of E log of the stream's variance against log L: a variance at Lemma 2's upper end
    for deep and lower for shallow nets (rising), the other way round, or at the lower (None)."""
    depths = _doublings(case)
    places = [Fraction(2 * k + 1 - len(depths), 2) for k in range(len(depths))]
    with flint.ctx.workprec(96):
        total = arb(0)
        for place, depth in zip(places, depths, strict=True):
            upper = rising is not None and (place > 0) == rising
            total += from_fraction(place / sum(k * k for k in places)) * mean_log_variance(
                depth, case.width, attention=upper
            )
        return Ball.of(total / arb(2).log()).widened()


def _slope_range(statement: Relational, case: Case) -> Ball:
    """Pre-LN: the stated power times the slopes of the stream's variance that these depths allow.
    Post-LN: the stated slope, up to the least that pre-LN may have, half of the stream's."""
    power = fraction(at(statement.rhs, case))
    if case.norm == "post":
        least = _stream_slope(case, False).low / 2
        return Ball(power - least, power + least)
    if case.start == "equal":
        ends = power, power * _stream_slope(case, None).low
    else:
        ends = power * _stream_slope(case, True).high, power * _stream_slope(case, False).low
    return Ball(min(ends), max(ends))


def _finite_width(statement: Relational, case: Case) -> sympy.Tuple:
    """The two ends; the upper one plus what a finite width adds to -log(1 + L/2): little, and
    positive."""
    low, high = at(statement.rhs, case)
    with flint.ctx.workprec(96):
        infinite = (1 + arb(case.depth) / 2).log()
        finite = mean_log_variance(case.depth, case.width, attention=False)
        upper = Ball.of(enclose(high) + infinite - finite).widened()
    return sympy.Tuple(low, Rational(upper.low.numerator, upper.low.denominator))


_SHORT = {"width": 32, "tokens": 4, "shallow": 2, "deep": 16, "replicas": 512}
_LONG = partial(Case, width=32, tokens=8, shallow=4, deep=64)
_PRE = {"norm": "pre", "expected_exponent": "-1/2"}
_POST = {"norm": "post", "expected_exponent": "0"}
_EQUAL, _LINEAR, _SOFTMAX = (
    {"start": start, "loss": loss}
    for start, loss in (("equal", "linear"), ("independent", "linear"), ("independent", "softmax"))
)


_READ = ("norm", "expected_exponent")


def _as_drawn(case: Case) -> Case:
    """A case without what does not choose its nets, which are those of its other fields."""
    return Case(**{name: value for name, value in case.fields().items() if name not in _READ})


@claim(
    Eq(slope, expected_exponent),
    source=Source("xiong2020", "Theorem 1, dependence on $L$", "arXiv:2002.04745"),
    holds_for="typical",
    kind="rate",
    predicted=_slope_range,
    cases={
        "quick": (
            Case(**_SHORT, **_EQUAL, **_PRE),
            _LONG(replicas=64, **_LINEAR, **_PRE),
            _LONG(replicas=64, **_LINEAR, **_POST),
            _LONG(replicas=64, **_EQUAL, **_POST),
        ),
        "theory": (_LONG(replicas=64, **_SOFTMAX, **_PRE), _LONG(replicas=64, **_SOFTMAX, **_POST)),
        "full": (_LONG(replicas=1024, **_EQUAL, **_PRE),),
    },
    control=Control(
        _LONG(replicas=64, **_LINEAR, **_PRE),
        "the other order: LayerNorm behind the branches",
        measured=lambda case, seed: slopes(_as_drawn(case), seed, pre=False),
    ),
    reads=_READ,
    supports="signal_propagation/gradient_exponents",
)
def last_gradient_slope(case: Case, seed: int) -> Sample | Outside:
    r"""Last-layer gradients fall about as $L^{-1/2}$ in pre-LN, not in post-LN.

    In random pre-LN nets the gradient of the last feed-forward matrix falls with depth, on log
    scales with mean slope -1/2 up to what a finite range of depths adds: for equal tokens it lies
    between -1/2 and the slope of a stream that grows by 1/2 per layer, for others within the slopes
    that Lemma 2's bracket $[1 + l/2, 1 + 3 l/2]$ allows on the same depths. In random post-LN nets
    it has mean slope 0, up to the least slope that the bracket allows a pre-LN net on the same
    depths.

    Setting of Theorem 1: one head, $W_Q = W_K = 0$, so that attention is uniform,
    $d_{\mathrm{ff}} = d$, all weights $N(0, 1/d)$, Gaussian tokens, and a loss with bounded
    derivative, here of one position; the theorem's loss is the mean over positions, whose gradient
    is at most the mean of theirs. The bracket allows -0.67 to -0.24 on depths 4 to 64. Independent
    tokens, which attention aligns on the way, are measured near -0.53 there, steeper than -1/2. A
    larger attention branch moves the size and hardly the slope: pre_ln_gradient_size is what fails
    for it. Under post-LN the last branch starts from a LayerNormed row, whose norm is fixed, and
    fresh Gaussian weights do not see its direction, so the gradient has one law at every depth and
    with every attention branch. The tolerance, 0.24 on depths 4 to 64, is what sampling must
    resolve to tell this from pre-LN. Not shown: the theorem's factor $d \sqrt{\ln d}$, its
    constants and its probability, and the layers before the last, on which it is silent.
    """
    return slopes(_as_drawn(case), seed, pre=case.norm == "pre")


_NETS = partial(Case.grid, tokens=8, start="independent", loss="linear")
_QUICK = _NETS(width=32, depth=(4, 16), replicas=256)


@claim(
    between(-log(1 + 3 * depth * Rational(1, 2)), size, -log(1 + depth * Rational(1, 2))),
    source=Source("xiong2020", "Theorem 1, dependence on $L$", "arXiv:2002.04745"),
    holds_for="typical",
    predicted=_finite_width,
    cases={
        "quick": _QUICK,
        "theory": (
            *_NETS(width=32, depth=1, replicas=1024),
            *_NETS(width=64, depth=16, replicas=512),
        ),
        "full": _NETS(width=32, depth=64, replicas=1024),
    },
    control=Control(
        _QUICK[0], "the bracket's other end", between(-log(1 + depth * Rational(1, 2)), size, 0)
    ),
    supports="signal_propagation/gradient_exponents",
)
def pre_ln_gradient_size(case: Case, seed: int) -> Sample | Outside:
    r"""Pre-LN gradients of the last layer lie in a bracket.

    In random pre-LN nets of $L$ layers the last feed-forward matrix has $c(d) - \log(1 + 3 L/2)
    \leq \mathbb{E} \log \|\mathrm{gradient}\|^2 \leq c(d) - \log(1 + L/2)$, $c(d)$ its value where
    the sum before the last LayerNorm has variance 1; in the upper bound, at finite width, read
    $\mathbb{E} \log(1 + s_1^2 + \ldots + s_L^2)$ for $\log(1 + L/2)$,
    $s_l^2 = \|\mathrm{ReLU}(Z_l)\|^2/d$ for Gaussian $Z_l$.

    Nets, and what is not shown: last_gradient_slope. The loss is u.y, $u$ a random unit vector, for
    which $c(d)$, the mean over the last layer's own weights, is known exactly. Why both ends: $E$
    log of the stream's squared norm grows with the variance that attention writes, since
    $\log \|x\|$ is subharmonic from two dimensions on. The upper end does not fix the constant:
    with twice the slope the samples are undecided. Equal tokens attain the lower one up to
    $O(1/(d L))$, too close to be decided by samples.
    """
    return log_sizes(case, seed, pre=True)
