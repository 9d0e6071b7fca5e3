"""Gradients of the last feed-forward matrix at initialisation: pre-LN and post-LN nets after Xiong et al.'s Theorem 1.

Part of the topic signal_propagation. Measured by reverse mode in real nets (`backward`). Predicted at every width, in
the theorem's setting and for the loss of one position: in a pre-LN net of equal tokens log ||dl/dW^{2,L}||^2 has mean
c(d) - E log(1 + variance written by all branches), in other pre-LN nets it lies between that and the same without
attention, and in a post-LN net it has one law at every depth.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..claim import Ball, Case, Claim, Control, Source
from ..values import Measured
from . import gradients_measured as measured_by
from .measured import fraction

if TYPE_CHECKING:
    from sympy.core.relational import Relational

_STEM = "signal_propagation/"
_WHERE = Source("xiong2020", "Theorem 1, dependence on L", "arXiv:2002.04745")
_SETTING = ("Setting of Theorem 1: one head, W_Q = W_K = 0, so that attention is uniform, d_ff = d, all "
            "weights N(0, 1/d), Gaussian tokens, and a loss with bounded derivative, here of one position; "
            "the theorem's loss is the mean over positions, whose gradient is at most the mean of theirs. ")
_NOT_SHOWN = ("Not shown: the theorem's factor d sqrt(ln d), its constants and its probability, and the layers "
              "before the last, on which it is silent.")


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _slope_claims()
    yield from _size_claims()


def _net(*, pre: bool, attention: float = 1.0, slope: bool) -> Callable[[Case, int], Measured]:
    read = measured_by.gradient_slope if slope else measured_by.log_gradient
    return lambda case, seed: read(case, seed, pre=pre, attention=attention)


def _slope_claims() -> Iterator[Claim]:
    from sympy import Eq, Rational

    from ..glossary import symbol

    slope = symbol("gradient_slope")
    short: dict[str, int | str] = {"width": 32, "tokens": 4, "start": "equal", "shallow": 2, "deep": 16,
                                   "replicas": 512}
    long: dict[str, int | str] = {"width": 32, "tokens": 8, "start": "independent", "shallow": 4, "deep": 64,
                                  "replicas": 64}
    quick = (Case(**short, loss="linear"), Case(**long, loss="linear"))
    more = (Case(**long, loss="softmax"), Case(**(long | {"start": "equal", "replicas": 1024}), loss="linear"))
    yield Claim(
        key=_STEM + "pre_ln_gradient_slope", title="pre-LN gradients of the last layer fall about as L^(-1/2)",
        text="In random pre-LN nets the gradient of the last feed-forward matrix falls with depth, on log scales "
              "with mean slope -1/2 up to what a finite range of depths adds: for equal tokens it lies between -1/2 "
              "and the slope of a stream that grows by 1/2 per layer, for others within the slopes that Lemma 2's "
              "bracket [1 + l/2, 1 + 3 l/2] allows on the same depths.",
        statement=Eq(slope, -Rational(1, 2)), source=_WHERE, wording="derived", kind="rate", holds_for="typical",
        measured=_net(pre=True, slope=True), predicted=_pre_ln_range,
        note=_SETTING + "The bracket allows -0.67 to -0.24 on depths 4 to 64. Independent tokens, which attention "
             "aligns on the way, are measured near -0.53 there, steeper than -1/2. A larger attention branch moves "
             "the size and hardly the slope: pre_ln_gradient_lower is what fails for it. " + _NOT_SHOWN,
        grid={"quick": quick, "theory": more},
        control=Control(quick[1], "the other order: LayerNorm behind the branches", measured=_net(pre=False, slope=True)))
    yield Claim(
        key=_STEM + "post_ln_gradient_slope", title="post-LN gradients of the last layer do not fall with depth",
        text="In random post-LN nets the gradient of the last feed-forward matrix has mean slope 0 against depth on "
              "log scales, up to the least slope that Lemma 2's bracket allows a pre-LN net on the same depths.",
        statement=Eq(slope, 0), source=_WHERE, wording="derived", kind="rate", holds_for="typical",
        measured=_net(pre=False, slope=True), predicted=_post_ln_range,
        note=_SETTING + "The last branch starts from a LayerNormed row, whose norm is fixed, and fresh Gaussian weights "
             "do not see its direction, so the gradient has one law at every depth and with every attention branch, "
             "and its mean slope is 0. The tolerance, 0.24 on depths 4 to 64, is what sampling must resolve to tell "
             "this from pre-LN. " + _NOT_SHOWN,
        grid={"quick": (quick[1], Case(**(long | {"start": "equal"}), loss="linear")), "theory": more[:1]},
        control=Control(quick[1], "the other order: LayerNorm before the branches", measured=_net(pre=True, slope=True)))


def _size_claims() -> Iterator[Claim]:
    from sympy import Ge, Le, Rational, log

    from ..glossary import symbol

    size, depth, half = symbol("log_gradient"), symbol("depth"), Rational(1, 2)
    net: dict[str, int | str] = {"width": 32, "tokens": 8, "start": "independent"}
    quick = Case.grid(**net, loss="linear", depth=(4, 16), replicas=256)
    more = (*Case.grid(**net, loss="linear", depth=(1, 64), replicas=1024),
            Case(**(net | {"width": 64}), loss="linear", depth=16, replicas=512))
    note = _SETTING + ("The loss is u.y, u a random unit vector, for which c(d), the mean over the last layer's own "
                       "weights, is known exactly. Why both ends: E log of the stream's squared norm grows with the "
                       "variance that attention writes, since log ||x|| is subharmonic from two dimensions on. ")
    yield Claim(
        key=_STEM + "pre_ln_gradient_upper", title="pre-LN gradients of the last layer: upper bound",
        text="In random pre-LN nets of L layers the last feed-forward matrix has E log ||gradient||^2 <= c(d) - "
              "log(1 + L/2), c(d) its value where the sum before the last LayerNorm has variance 1; at finite width, "
              "read E log(1 + s_1^2 + ... + s_L^2) for log(1 + L/2), s_l^2 = ||ReLU(Z_l)||^2/d for Gaussian Z_l.",
        statement=Le(size, -log(1 + depth * half)), source=_WHERE, wording="derived", kind="upper", holds_for="typical",
        measured=_net(pre=True, slope=False), predicted=_finite_width, note=note + "It does not fix the constant: with twice the "
        "slope the samples are undecided. " + _NOT_SHOWN, grid={"quick": quick, "theory": more},
        control=Control(quick[0], "the other order: LayerNorm behind the branches", measured=_net(pre=False, slope=False)))
    yield Claim(
        key=_STEM + "pre_ln_gradient_lower", title="pre-LN gradients of the last layer: lower bound",
        text="In random pre-LN nets of L layers the last feed-forward matrix has E log ||gradient||^2 >= c(d) - "
              "log(1 + 3L/2), c(d) its value where the sum before the last LayerNorm has variance 1.",
        statement=Ge(size, -log(1 + 3 * depth * half)), source=_WHERE, wording="derived", kind="lower", holds_for="typical",
        measured=_net(pre=True, slope=False), grid={"quick": quick, "theory": more},
        note=note + "Equal tokens attain it up to O(1/(d L)), too close to be decided by samples. " + _NOT_SHOWN,
        control=Control(quick[0], "an attention branch 7 times as large", measured=_net(pre=True, attention=7.0, slope=False)))


# --- predictions: exact at every width --------------------------------------------------------------------------------------------

def slope_weights(count: int) -> list[Fraction]:
    """The weights of log2 y_k in the least-squares slope against k = 0, 1, ..., count - 1.

    >>> [str(w) for w in slope_weights(3)]
    ['-1/2', '0', '1/2']
    """
    middle = Fraction(count - 1, 2)
    squares = sum((k - middle) ** 2 for k in range(count))
    return [(k - middle) / squares for k in range(count)]


def _stream_slope(case: Case, rising: bool | None) -> Ball:
    """The slope of E log of the stream's variance against log L where that is at Lemma 2's upper end for deep and at its
    lower end for shallow nets (rising), the other way round, or at its lower end everywhere (None)."""
    import flint

    from ..exact.enclosure import from_fraction

    depths = measured_by.doublings(case)
    with flint.ctx.workprec(96):
        total = flint.arb(0)
        for weight, depth in zip(slope_weights(len(depths)), depths, strict=True):
            upper = rising is not None and (weight > 0) == rising
            total += from_fraction(weight) * measured_by.mean_log_variance(depth, case.width, attention=upper)
        return Ball.of(total / flint.arb(2).log()).widened()


def _pre_ln_range(statement: Relational, case: Case) -> Ball:
    """The stated power times the slopes of the stream's variance that a finite range of depths allows around 1."""
    power = fraction(statement.rhs)
    if case.start == "equal":
        ends = power, power * _stream_slope(case, None).low
    else:
        ends = power * _stream_slope(case, True).high, power * _stream_slope(case, False).low
    return Ball(min(ends), max(ends))


def _post_ln_range(statement: Relational, case: Case) -> Ball:
    """The stated slope, up to the least that pre-LN may have: half of that of the stream's variance."""
    exact, least = fraction(statement.rhs), _stream_slope(case, False).low / 2
    return Ball(exact - least, exact + least)


def _finite_width(statement: Relational, case: Case) -> Ball:
    """The right side plus what a finite width adds to -log(1 + L/2): little, and positive."""
    import flint

    from ..claim import at
    from ..exact.enclosure import enclose

    with flint.ctx.workprec(96):
        infinite = (1 + flint.arb(case.depth) / 2).log()
        finite = measured_by.mean_log_variance(case.depth, case.width, attention=False)
        return Ball.of(enclose(at(statement.rhs, case)) + infinite - finite).widened()
