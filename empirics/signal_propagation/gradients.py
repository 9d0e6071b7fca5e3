"""Gradients by layer in random nets with softmax attention, by backpropagation.

The gradient of the last feed-forward matrix is the product of its hidden units and of what comes
through the last LayerNorm, which divides by the norm of what it normalises. Fresh weights do not
see the direction of a row of fixed norm, so depth enters through that norm alone: L^(-1/2) behind a
pre-norm stream whose variance grows as L, L^0 where it does not grow and under post-norm.

Numbers of nets were settled after first runs of 128 nets: cross-entropy has 384 everywhere since
pre- and post-norm were undecided, stochastic depth 256 since it was. A case with another number
draws other nets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sympy import Integer, Rational, log
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Ball, Case, Control, Sample, Source, at, claim
from depthlaw.theory.claims.relations import Eq
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.exact.enclosure import enclose

from .exponents import doublings, exponents, sample, within
from .norm_growth import Maker, in_blocks

last_gradient = quantity(
    "last_gradient_exponent",
    r"\partial\log\|\nabla W^{2,L}\|/\partial\log L",
    "least-squares slope of the log norm of the gradient of the last MLP's second matrix against "
    "log L over depths that double, in nets with softmax attention",
    "real",
)
all_gradients = quantity(
    "all_gradients_exponent",
    r"\partial\log\|\nabla W\|/\partial\log L",
    "least-squares slope of the log norm of the gradients of all matrices of all layers together "
    "against log L over depths that double",
    "real",
)
normed_gradient = quantity(
    "normed_gradient_exponent",
    r"\partial\log(\|\nabla W^{2,L}\|\,\|x_L\|)/\partial\log L",
    "the same slope of the product of the gradient of the last MLP's second matrix and the norm of "
    "the last hidden states",
    "real",
)
profile_exponent = quantity(
    "profile_exponent",
    r"\partial\log\|\nabla W^{2,l}\|/\partial\log\|x_l\|^2",
    "within one net, least-squares slope over its layers l of the log norm of the gradient of the "
    "MLP's second matrix against the log mean square of the stream after that layer",
    "real",
)
decay_rate = quantity(
    "gradient_decay_rate",
    r"\partial\log\|\nabla W^{2,L}\|/\partial L",
    "least-squares slope of the log norm of the gradient of the last MLP's second matrix against L "
    "over depths that double",
    "real",
)

Array = np.ndarray


def _parts(*positional: Any, **named: Any) -> dict[str, Array]:
    """Of each net: "last" and "all" gradients, "norm" of the last hidden states, and by layer
    "by_layer" and "stream"."""
    from .profiles import gradient_profile

    found = gradient_profile(*positional, **named)
    second = found.weights["mlp_out"]
    return {
        "last": second[:, -1],
        "all": np.sqrt((found.layers**2).sum(axis=1)),
        "norm": np.sqrt(found.mean_square[:, -1]),
        "by_layer": second,
        "stream": found.mean_square[:, 1:],
    }


# Claims of one net read several numbers off one measurement.
@lru_cache(maxsize=4)
def _found(case: Case, seed: int, device: str, whole: bool) -> dict[str, list[Array]]:
    rng, found = case.rng(seed), []
    for depth in doublings(case.shallow, case.deep):
        found.append(
            in_blocks(
                _parts,
                case,
                rng,
                depth,
                device,
                loss=case.loss,
                lowest=0 if whole else depth - 1,
                keep_last=True,
            )
        )
    return {name: [each[name] for each in found] for name in found[0]}


def gradient_exponents(
    case: Case,
    seed: int,
    device: str = "cpu",
    *,
    of: str = "last",
) -> Sample:
    """Slopes of log gradients, "last" or "all", or of "product", last times the stream's norm,
    against log L, from one net of each depth."""
    found = _found(case, seed, device, of == "all")
    depths = doublings(case.shallow, case.deep)
    values = (
        [last * norm for last, norm in zip(found["last"], found["norm"], strict=True)]
        if of == "product"
        else found[of]
    )
    return sample(exponents(depths, values))


def decay_rates(case: Case, seed: int, device: str = "cpu", *, residual: bool = False) -> Sample:
    """Slopes of the log gradient of the last MLP's second matrix against L, of nets without norms
    and skips."""
    shaped = Case(**(case.fields() | ({"norm": "pre"} if residual else {"skips": 0})))
    depths = doublings(case.shallow, case.deep)
    logs = np.log(_found(shaped, seed, device, False)["last"])
    return sample(np.polynomial.polynomial.polyfit(depths, logs, 1)[1])


def profile_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Slopes within each net over its layers."""
    found = in_blocks(_parts, case, case.rng(seed), case.depth, device, loss=case.loss)
    x, y = np.log(found["stream"]), np.log(found["by_layer"])
    x = x - x.mean(axis=1, keepdims=True)
    return sample((x * y).sum(axis=1) / (x**2).sum(axis=1))


def _instead(
    cases: Mapping[str, tuple[Case, ...]],
    why: str,
    measured: Callable[..., Sample] = gradient_exponents,
    **changed: Any,
) -> Control:
    """A control: the measurement on other nets in the place of the quick case's, and fewer."""
    return Control(
        Case(**(cases["quick"][0].fields() | {"replicas": 32})),
        why,
        measured=lambda case, seed: measured(Case(**(case.fields() | changed)), seed),
    )


rate: Maker = partial(claim, kind="rate", holds_for="typical", weight="measurement", portable=False)
power: Maker = partial(rate, predicted=within)

XIONG = Source("xiong2020", "Theorem 1, dependence on L, for softmax attention", "arXiv:2002.04745")
GPT2 = Source("radford2019", "residual weights over sqrt(N); their gradients derived here")
DEEPNET = Source(
    "wang2022deepnet", "alpha and beta; their gradients derived here", "arXiv:2203.00555"
)
ADMIN = Source("liu2020admin", "section 4.3; its gradients derived here", "arXiv:2004.08249")
SCALING = Source("sun2025", "LayerNorm scaling; its gradients derived here", "arXiv:2502.05795")
HUANG = Source("huang2016", "section 3; its gradients derived here", "arXiv:1603.09382")

HALF = Rational(1, 2)
EQUAL = {"start": "equal", "loss": "linear"}
INDEPENDENT = {"start": "independent", "loss": "linear"}
SOFTMAX = {"start": "independent", "loss": "softmax"}


def _cases(
    scheme: str,
    *,
    also: tuple[str, ...] = (),
    replicas: int = 128,
    **more: Any,
) -> dict[str, tuple[Case, ...]]:
    """Equal tokens in quick nets; in larger suites independent tokens, also of other schemes, and
    cross-entropy, which scatters more, at larger depths."""
    small = partial(Case, width=32, mlp=32, tokens=8, **more)
    middle = partial(Case, width=128, mlp=512, tokens=32, replicas=32, **more)
    large = partial(Case, width=512, mlp=2048, tokens=64, replicas=16, **more)
    return {
        "quick": (small(scheme=scheme, shallow=4, deep=32, replicas=replicas, **EQUAL),),
        "full": (
            *(
                small(scheme=each, shallow=16, deep=128, replicas=replicas, **INDEPENDENT)
                for each in (scheme, *also)
            ),
            small(scheme=scheme, shallow=16, deep=128, replicas=384, **SOFTMAX),
            middle(scheme=scheme, shallow=16, deep=128, **INDEPENDENT),
        ),
        "gpu": (large(scheme=scheme, shallow=12, deep=96, **INDEPENDENT),),
    }


def _later(cases: dict[str, tuple[Case, ...]]) -> dict[str, tuple[Case, ...]]:
    """The same cases, none of them quick."""
    return {"full": (*cases["quick"], *cases["full"]), "gpu": cases["gpu"]}


_CROSS = (
    "Cross-entropy asks 384 other nets since a first run of 128 left pre- and post-norm undecided."
)
_PRE = _cases("lecun", also=("xavier", "kaiming"), norm="pre")
_POST = _cases("lecun", also=("xavier", "kaiming"), norm="post")


@power(
    Eq(last_gradient, -HALF),
    source=XIONG,
    cases=_PRE,
    post_hoc=_CROSS,
    control=_instead(_PRE, "the other order: LayerNorm behind the branches", norm="post"),
    cited=(
        "Bears on whether a last gradient of 1/sqrt(L) may be cited against warm-up under pre-norm."
    ),
)
def softmax_pre_ln_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm softmax nets: the last gradient falls as L^(-1/2).

    In random pre-norm nets with softmax attention and LeCun's, Xavier's or Kaiming's weights the
    gradient of the last MLP's second matrix falls with depth as L^(-1/2).

    Four heads, random queries and keys, ReLU MLPs, Gaussian tokens, equal or independent; the loss
    is u.y of the last position, u a random unit vector, or the mean cross-entropy of all positions
    with random labels. The mean of slopes over depths that double is asked to be within 1/8. For
    uniform attention with one head pre_ln_gradient_slope derives the range of slopes. Layers before
    the last: pre_norm_gradient_profile. Xavier's and Kaiming's weights with u.y alone. With
    cross-entropy a first run of 128 nets was undecided; 384 others are asked.
    """
    return gradient_exponents(case, seed, device)


@power(
    Eq(last_gradient, Integer(0)),
    source=XIONG,
    cases=_POST,
    post_hoc=_CROSS,
    control=_instead(_POST, "the other order: LayerNorm before the branches", norm="pre"),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def softmax_post_ln_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Post-norm softmax nets: the last gradient does not fall.

    In random post-norm nets with softmax attention and LeCun's, Xavier's or Kaiming's weights
    the gradient of the last MLP's second matrix goes as L^0.

    Four heads, random queries and keys, ReLU MLPs, Gaussian tokens, equal or independent; the
    loss is u.y of the last position, u a random unit vector, or the mean cross-entropy of all
    positions with random labels. The mean of slopes over depths that double is asked to be
    within 1/8; for u.y it is exactly 0, since that gradient has one law at every depth. Xavier's
    and Kaiming's weights with u.y alone. With cross-entropy a first run of 128 nets was undecided;
    384 others are asked.
    """
    return gradient_exponents(case, seed, device)


_GPT2 = _cases("gpt2", norm="pre")


@power(
    Eq(last_gradient, Integer(0)),
    source=GPT2,
    cases=_GPT2,
    post_hoc=_CROSS,
    control=_instead(_GPT2, "not divided by sqrt(2L)", scheme="plain"),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def gpt2_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """GPT-2's scaling: the last gradient does not fall.

    In random pre-norm nets with softmax attention whose writing matrices are divided by
    sqrt(2L) the gradient of the last MLP's second matrix goes as L^0, since the stream's norm
    does not grow.

    Four heads, random queries and keys, ReLU MLPs, standard deviation 1/sqrt(d), Gaussian
    tokens; the loss is u.y of the last position or the mean cross-entropy. The mean of slopes
    over depths that double is asked to be within 1/8.
    """
    return gradient_exponents(case, seed, device)


_DEEPNORM = _cases("deepnorm")


@power(
    Eq(last_gradient, -HALF),
    source=DEEPNET,
    cases=_DEEPNORM,
    post_hoc=_CROSS,
    control=_instead(_DEEPNORM, "post-norm without alpha and beta", scheme="xavier", norm="post"),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def deepnorm_last_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """DeepNorm: the gradient of one matrix falls as L^(-1/2).

    In random nets with softmax attention and DeepNorm's alpha = (2N)^(1/4) and beta =
    (8N)^(-1/4) the gradient of the last MLP's second matrix falls as beta/alpha, that is as
    L^(-1/2): like that of pre-norm, not like that of post-norm.

    Derived: the hidden units carry beta, and LayerNorm divides by alpha, up to (1 +
    O(L^(-3/2))). Flat is not one gradient but all together: deepnorm_gradients. Four heads,
    ReLU MLPs, Gaussian tokens; the loss is u.y of the last position or the mean cross-entropy.
    The mean of slopes over depths that double is asked to be within 1/8.
    """
    return gradient_exponents(case, seed, device)


@power(
    Eq(all_gradients, Integer(0)),
    source=DEEPNET,
    cases=_DEEPNORM,
    post_hoc=_CROSS,
    control=_instead(
        _DEEPNORM,
        "post-norm without alpha and beta",
        partial(gradient_exponents, of="all"),
        scheme="xavier",
        norm="post",
    ),
    supports="signal_propagation/deepnorm_update_flat",
)
def deepnorm_gradients(case: Case, seed: int, device: str = "cpu") -> Sample:
    """DeepNorm: the gradients of all layers together are flat.

    In random nets with softmax attention and DeepNorm's alpha and beta the norm of the
    gradients of all matrices of all layers together goes as L^0.

    Derived: each of L layers has gradients of squared norm of order (beta/alpha)^2 = 1/(4 L), and
    what passes LN(alpha x + F(x)) backward keeps its norm up to a factor 1 + O(L^(-3/2)). To first
    order an SGD step moves the loss by its rate times the squared norm, so by as much at every
    depth. Four heads, ReLU MLPs, Gaussian tokens; the loss is u.y of the last position or the
    mean cross-entropy. The mean of slopes over depths that double is asked to be within 1/8.
    """
    return gradient_exponents(case, seed, device, of="all")


_ADMIN = _cases("admin", replicas=80)


@power(
    Eq(last_gradient, -HALF),
    source=ADMIN,
    cases=_later(_ADMIN),
    post_hoc=_CROSS,
    control=_instead(_ADMIN, "omega = 1", scheme="lecun", norm="post"),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def admin_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """ADMIN: the last gradient falls as under pre-norm.

    In random post-norm nets with softmax attention and ADMIN's skips, profiled in one forward
    pass, the gradient of the last MLP's second matrix falls with depth as L^(-1/2).

    Derived: LayerNorm divides by the root of omega^2 plus one branch, and omega^2 is the
    variance of all branches before. LeCun's weights, four heads, ReLU MLPs, Gaussian tokens;
    the loss is u.y of the last position or the mean cross-entropy. The mean of slopes over
    depths that double is asked to be within 1/8. Nets that are run together share one profile, the
    mean over as many others, whose scatter, about a third of theirs, is not in the interval.
    """
    return gradient_exponents(case, seed, device)


_STOCHASTIC = _cases("stochastic-depth", norm="pre", replicas=256)


@power(
    Eq(last_gradient, -HALF),
    source=HUANG,
    cases=_later(_STOCHASTIC),
    post_hoc="256 other nets are asked since a first run of 128 was undecided, equal tokens.",
    control=_instead(_STOCHASTIC, "post-norm, no layer dropped", scheme="lecun", norm="post"),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def stochastic_depth_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Stochastic depth: the last gradient falls as without it.

    In random pre-norm nets with softmax attention of which layer l < L is dropped with
    probability l/(2L) the gradient of the last MLP's second matrix, kept, falls with depth as
    L^(-1/2).

    Derived: the stream's variance grows with the expected depth, (3L - 1)/4 without that
    condition. LeCun's weights, four heads, ReLU MLPs, Gaussian tokens; the loss is u.y of the
    last position or the mean cross-entropy. The mean of slopes over depths that double is asked
    to be within 1/8. A first run of 128 nets was undecided with equal tokens; 256 others are asked.
    """
    return gradient_exponents(case, seed, device)


_SCALED = _cases("layernorm-scaling")


@power(
    Eq(normed_gradient, -HALF),
    source=SCALING,
    cases=_later(_SCALED),
    post_hoc=_CROSS,
    control=_instead(
        _SCALED,
        "without scaling",
        partial(gradient_exponents, of="product"),
        scheme="plain",
        norm="pre",
    ),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def layernorm_scaling_gradient(case: Case, seed: int, device: str = "cpu") -> Sample:
    """LayerNorm scaling: the last gradient times the stream falls as L^(-1/2).

    In random pre-norm nets with softmax attention in which what enters layer l is divided by
    sqrt(l) the gradient of the last MLP's second matrix times the norm of the last hidden
    states goes as L^(-1/2).

    Derived: the last hidden units carry 1/sqrt(L), and LayerNorm divides by the stream's norm,
    whose square grows as a logarithm. Four heads, ReLU MLPs, standard deviation 1/sqrt(d),
    Gaussian tokens; the loss is u.y of the last position or the mean cross-entropy. The mean of
    slopes over depths that double is asked to be within 1/8.
    """
    return gradient_exponents(case, seed, device, of="product")


_PRODUCTS = _cases("lecun", also=("gpt2",), norm="pre")


@power(
    Eq(normed_gradient, Integer(0)),
    source=XIONG,
    cases=_later(_PRODUCTS),
    post_hoc=_CROSS,
    control=_instead(
        _PRODUCTS,
        "LayerNorm scaling",
        partial(gradient_exponents, of="product"),
        scheme="layernorm-scaling",
    ),
    supports="signal_propagation/softmax_pre_ln_gradient",
)
def gradient_times_norm(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm: the last gradient is inverse to the stream's norm.

    In random pre-norm nets with softmax attention and LeCun's weights or GPT-2's the gradient
    of the last MLP's second matrix times the norm of the last hidden states goes as L^0.

    Xiong et al.'s Lemma 3 says why: LayerNorm's derivative has the norm sqrt(d)/||x||. Four
    heads, ReLU MLPs, Gaussian tokens; the loss is u.y of the last position or the mean
    cross-entropy. The mean of slopes over depths that double is asked to be within 1/8.
    """
    return gradient_exponents(case, seed, device, of="product")


def _profiles(scheme: str, **more: Any) -> dict[str, tuple[Case, ...]]:
    net = partial(Case, scheme=scheme, tokens=8, **EQUAL, **more)
    return {
        "quick": (net(width=32, mlp=32, depth=24, replicas=96),),
        "full": (net(width=64, mlp=256, depth=48, replicas=64),),
        "gpu": (net(width=512, mlp=2048, depth=96, replicas=16),),
    }


_PROFILES = _profiles("lecun", norm="pre")


@power(
    Eq(profile_exponent, -HALF),
    source=XIONG,
    cases=_PROFILES,
    wording="derived",
    control=_instead(
        _PROFILES,
        "LayerNorm scaling, whose hidden units fall too",
        profile_exponents,
        scheme="layernorm-scaling",
    ),
    cited="Bears on whether layers under pre-norm should get learning rates of their own.",
)
def pre_norm_gradient_profile(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm, equal tokens: in nets gradients are inverse to stream norm.

    In random pre-norm nets with softmax attention and equal tokens the gradient of an MLP's
    second matrix falls over the layers as the stream's variance to the power -1/2: the first
    layers have the largest gradients, the last ones the smallest.

    Derived for wide nets: what a branch adds to the stream's variance q, forward, and to the
    squared gradient, backward, is the same share w/q, so the squared gradient behind layer l is
    1/q_L times q_L/q_l. LeCun's weights, four heads, ReLU MLPs, the loss u.y of the last
    position; the slope is fitted over the layers of each net, and its mean asked to be within
    1/8. Equal tokens pass softmax attention as they are, and their gradients add up.
    """
    return profile_exponents(case, seed, device)


_BARE = partial(Case, scheme="lecun", norm="none", tokens=4, **EQUAL)
_BARE_CASES = {
    "quick": (_BARE(width=32, mlp=32, shallow=4, deep=32, replicas=96),),
    "full": (_BARE(width=64, mlp=256, shallow=4, deep=64, replicas=128),),
    "gpu": (_BARE(width=512, mlp=2048, shallow=12, deep=96, replicas=16),),
}


def _less_by_width(statement: Relational, case: Case) -> Ball:
    """The right side, and up to 6/d below it: E log of the squared norm of a Gaussian vector of d
    entries of variance 1/d is at least -2/d, and there are three in a layer, beside the mean over
    at least d hidden units, of relative variance 5/d: about -(3 + 5/2)/(2 d) in all."""
    value = Ball.of(enclose(at(statement.rhs, case)))
    return Ball(value.low - Fraction(6, case.width), value.high)


@rate(
    Eq(decay_rate, log(HALF) / 2),
    predicted=_less_by_width,
    wording="derived",
    source=Source("depthlaw", "variance of LeCun's weights through ReLU"),
    cases=_BARE_CASES,
    control=Control(
        _BARE(width=32, mlp=32, shallow=4, deep=32, replicas=32),
        "with skips and pre-norm",
        measured=partial(decay_rates, residual=True),
    ),
    supports="exercises/gradients_vanish",
)
def gradient_without_skips(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Without skips and norms the last gradient falls exponentially in depth.

    In random nets with softmax attention of equal tokens, without skip connections and norms,
    and with LeCun's weights, the gradient of the last MLP's second matrix falls by the factor
    2^(-1/2) with every layer, up to e^(-6/d).

    Derived: every layer halves the mean square, in the ReLU; at finite width the mean of its
    logarithm is less by about 11/(2 d). With skips and pre-norm it falls as L^(-1/2):
    softmax_pre_ln_gradient.
    """
    return decay_rates(case, seed, device)
