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
from sympy import Rational, log
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Ball, Case, Control, Sample, Source, at, claim
from depthlaw.theory.claims.relations import Eq
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.exact.enclosure import enclose
from depthlaw.theory.signal_propagation.signal_symbols import expected_exponent

from .exponents import doublings, exponents, sample, within
from .norm_growth import IN_NETS, in_blocks, without

gradient_exponent = quantity(
    "gradient_exponent",
    r"\partial\log\|\nabla W\|/\partial\log L",
    r"least-squares slope against $\log L$, over depths that double, of the log norm of the "
    "gradient of the last MLP's second matrix, or of all matrices of all layers, or of the "
    "product of the former and the norm of the last hidden states",
    "real",
)
profile_exponent = quantity(
    "profile_exponent",
    r"\partial\log\|\nabla W^{2,l}\|/\partial\log\|x_l\|^2",
    "within one net, least-squares slope over its layers $l$ of the log norm of the gradient of "
    "the MLP's second matrix against the log mean square of the stream after that layer",
    "real",
)
decay_rate = quantity(
    "gradient_decay_rate",
    r"\partial\log\|\nabla W^{2,L}\|/\partial L",
    "least-squares slope of the log norm of the gradient of the last MLP's second matrix "
    "against $L$ over depths that double",
    "real",
)


def _parts(*positional: Any, **named: Any) -> dict[str, np.ndarray]:
    """Of each net: "last" and "all" gradients, "norm" of the last hidden states, and by layer
    "by_layer" and "stream"."""
    from .profiles import gradient_profile

    profile = gradient_profile(*positional, **named)
    second = profile.weights["mlp_out"]
    return {
        "last": second[:, -1],
        "all": np.sqrt((profile.layers**2).sum(axis=1)),
        "norm": np.sqrt(profile.mean_square[:, -1]),
        "by_layer": second,
        "stream": profile.mean_square[:, 1:],
    }


# What only chooses which of several numbers is read off a measurement.
_READ = ("of", "expected_exponent")


@lru_cache(maxsize=4)
def _found(case: Case, seed: int, device: str, whole: bool) -> dict[str, list[np.ndarray]]:
    rng, parts = case.rng(seed), []
    for depth in doublings(case.shallow, case.deep):
        parts.append(
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
    return {name: [part[name] for part in parts] for name in parts[0]}


def depth_slopes(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Slopes of log gradients, "last" or "all", or of "product", last times the stream's norm,
    against log L, from one net of each depth."""
    whole = ("all", case.scheme, case.get("norm", "")) in _EXPONENTS
    slopes = _found(without(case, *_READ), seed, device, whole)
    depths = doublings(case.shallow, case.deep)
    values = (
        [last * norm for last, norm in zip(slopes["last"], slopes["norm"], strict=True)]
        if case.of == "product"
        else slopes[case.of]
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
    profile = in_blocks(_parts, case, case.rng(seed), case.depth, device, loss=case.loss)
    x, y = np.log(profile["stream"]), np.log(profile["by_layer"])
    x = x - x.mean(axis=1, keepdims=True)
    return sample((x * y).sum(axis=1) / (x**2).sum(axis=1))


def _instead(
    cases: Mapping[str, tuple[Case, ...]],
    why: str,
    measured: Callable[..., Sample] = depth_slopes,
    **changed: Any,
) -> Control:
    """A control: the measurement on other nets in the place of the quick case's, and fewer."""
    return Control(
        Case(**(cases["quick"][0].fields() | {"replicas": 32})),
        why,
        measured=lambda case, seed: measured(Case(**(case.fields() | changed)), seed),
    )


HALF = Rational(1, 2)
EQUAL = {"start": "equal", "loss": "linear"}
INDEPENDENT = {"start": "independent", "loss": "linear"}
SOFTMAX = {"start": "independent", "loss": "softmax"}


# Powers of the depth, by what is asked about, scheme and norm; Xavier's and Kaiming's weights go as
# LeCun's.
_EXPONENTS = {
    ("last", "lecun", "pre"): "-1/2",
    ("last", "lecun", "post"): "0",
    ("last", "gpt2", "pre"): "0",
    ("last", "deepnorm", ""): "-1/2",
    ("last", "admin", ""): "-1/2",
    ("last", "stochastic-depth", "pre"): "-1/2",
    ("all", "deepnorm", ""): "0",
    ("product", "layernorm-scaling", ""): "-1/2",
    ("product", "lecun", "pre"): "0",
    ("product", "gpt2", "pre"): "0",
}


def _of_scheme(case: Case) -> bool:
    scheme = "lecun" if case.scheme in ("xavier", "kaiming") else case.scheme
    stated = _EXPONENTS[case.of, scheme, case.get("norm", "")]
    return bool(case.expected_exponent == stated)


def _cases(
    scheme: str, of: str, *, also: tuple[str, ...] = (), replicas: int = 128, **more: Any
) -> dict[str, tuple[Case, ...]]:
    """Equal tokens in quick nets; in larger suites independent tokens, also of other schemes, and
    cross-entropy, which scatters more, at larger depths."""
    more |= {"of": of, "expected_exponent": _EXPONENTS[of, scheme, more.get("norm", "")]}
    small = partial(Case, width=32, mlp=32, tokens=8, **more)
    middle = partial(Case, width=128, mlp=512, tokens=32, replicas=32, **more)
    return {
        "quick": (small(scheme=scheme, shallow=4, deep=32, replicas=replicas, **EQUAL),),
        "full": (
            *(
                small(scheme=name, shallow=16, deep=128, replicas=replicas, **INDEPENDENT)
                for name in (scheme, *also)
            ),
            small(scheme=scheme, shallow=16, deep=128, replicas=384, **SOFTMAX),
            middle(scheme=scheme, shallow=16, deep=128, **INDEPENDENT),
        ),
    }


_SCHEMES = (
    _cases("lecun", "last", also=("xavier", "kaiming"), norm="pre"),
    _cases("lecun", "last", also=("xavier", "kaiming"), norm="post"),
    _cases("gpt2", "last", norm="pre"),
    _cases("deepnorm", "last"),
    _cases("deepnorm", "all"),
)
# Of these none is quick.
_LATER = (
    _cases("admin", "last", replicas=80),
    _cases("stochastic-depth", "last", norm="pre", replicas=256),
    _cases("layernorm-scaling", "product"),
    _cases("lecun", "product", also=("gpt2",), norm="pre"),
)
_GRADIENTS = {
    "quick": tuple(case for scheme in _SCHEMES for case in scheme["quick"]),
    "full": (
        *(case for scheme in _SCHEMES for case in scheme["full"]),
        *(case for scheme in _LATER for case in (*scheme["quick"], *scheme["full"])),
    ),
}


@claim(
    Eq(gradient_exponent, expected_exponent),
    predicted=within,
    kind="rate",
    source=Source(
        "xiong2020",
        "Theorem 1, power of $L$, for softmax attention; other schemes derived here",
        "arXiv:2002.04745",
    ),
    cases=_GRADIENTS,
    assumes={"a case expects the exponent that is stated for its scheme": _of_scheme},
    post_hoc=(
        "Cross-entropy asks 384 other nets since a first run of 128 left pre- and post-norm "
        "undecided, stochastic depth 256 since it was, equal tokens."
    ),
    control=_instead(_GRADIENTS, "the other order: LayerNorm behind the branches", norm="post"),
    reads=_READ,
    cited=r"Bears on whether a last gradient of $1/\sqrt{L}$ tells against warm-up under pre-norm.",
    **IN_NETS,
)
def gradient_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""In softmax nets gradients fall as $L^{-1/2}$ or not, by scheme.

    In random nets with softmax attention the gradient of the last MLP's second matrix goes with
    depth as $L^{-1/2}$ under pre-norm with LeCun's, Xavier's or Kaiming's weights; as $L^0$ under
    post-norm with the same weights; as $L^0$ under pre-norm with writing matrices divided by
    $\sqrt{2 L}$ (GPT-2); as $L^{-1/2}$ with DeepNorm's $\alpha = (2 N)^{1/4}$ and
    $\beta = (8 N)^{-1/4}$; as $L^{-1/2}$ under post-norm with ADMIN's skips, profiled in one
    forward pass; and as $L^{-1/2}$, kept, under pre-norm where layer $l < L$ is dropped with
    probability $l/(2 L)$ (stochastic depth). The gradients of all matrices of all layers together
    go as $L^0$ with DeepNorm's $\alpha$ and $\beta$. The last gradient times the norm of the last
    hidden states goes as $L^0$ under pre-norm with LeCun's weights or GPT-2's, and as $L^{-1/2}$
    where what enters layer $l$ is divided by $\sqrt{l}$ (LayerNorm scaling).

    Four heads, random queries and keys, ReLU MLPs, Gaussian tokens, equal or independent; the loss
    is u.y of the last position, $u$ a random unit vector, or the mean cross-entropy of all
    positions with random labels. With u.y and independent tokens alone, at width 32: Xavier's and
    Kaiming's weights, and the product with GPT-2's. GPT-2 and LayerNorm scaling have standard
    deviation $1/\sqrt{d}$, ADMIN and stochastic depth LeCun's weights. The mean of slopes over
    depths that double is asked to be within 1/8. The schemes are those of radford2019,
    wang2022deepnet, liu2020admin, huang2016 and sun2025.

    Pre-norm: LayerNorm's derivative has the norm $\sqrt{d}/\|x\|$ (layernorm_jacobian), so the last
    gradient is inverse to the stream's norm. For uniform attention with one head
    last_gradient_slope derives the range of slopes; layers before the last:
    pre_norm_gradient_profile. Post-norm: for u.y the slope is exactly 0, since that gradient has
    one law at every depth. The others are derived here. GPT-2: the stream's norm does not grow.
    DeepNorm: the hidden units carry $\beta$, and LayerNorm divides by $\alpha$, up to
    ($1 + O(L^{-3/2})$); each of $L$ layers has gradients of squared norm of order
    $(\beta/\alpha)^2 = 1/(4 L)$, and what passes $\mathrm{LN}(\alpha x + F(x))$ backward keeps its
    norm up to a factor $1 + O(L^{-3/2})$. To first order an SGD step moves the loss by its rate
    times the squared norm of all gradients, so by as much at every depth. ADMIN: LayerNorm divides
    by the root of $\omega^2$ plus one branch, and $\omega^2$ is the variance of all branches
    before; nets that are run together share one profile, the mean over as many others, whose
    scatter, about a third of theirs, is not in the interval. Stochastic depth: the stream's
    variance grows with the expected depth, $(3 L - 1)/4$ without the condition that the last layer
    is kept. LayerNorm scaling: the last hidden units carry $1/\sqrt{L}$, and LayerNorm divides by
    the stream's norm, whose square grows as a logarithm.
    """
    return depth_slopes(case, seed, device)


_PROFILE = partial(Case, scheme="lecun", tokens=8, norm="pre", **EQUAL)
_PROFILES = {
    "quick": (_PROFILE(width=32, mlp=32, depth=24, replicas=96),),
    "full": (_PROFILE(width=64, mlp=256, depth=48, replicas=64),),
}


@claim(
    Eq(profile_exponent, -HALF),
    predicted=within,
    kind="rate",
    source=Source(
        "xiong2020", "Theorem 1, power of $L$, for softmax attention", "arXiv:2002.04745"
    ),
    cases=_PROFILES,
    wording="derived",
    control=_instead(
        _PROFILES,
        "LayerNorm scaling, whose hidden units fall too",
        profile_exponents,
        scheme="layernorm-scaling",
    ),
    cited="Bears on whether layers under pre-norm should get learning rates of their own.",
    **IN_NETS,
)
def pre_norm_gradient_profile(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm, equal tokens: in nets gradients are inverse to stream norm.

    In random pre-norm nets with softmax attention and equal tokens the gradient of an MLP's second
    matrix falls over the layers as the stream's variance to the power -1/2: the first layers have
    the largest gradients, the last ones the smallest.

    Derived for wide nets: what a branch adds to the stream's variance $q$, forward, and to the
    squared gradient, backward, is the same share w/q, so the squared gradient behind layer $l$ is
    $1/q_L$ times $q_L/q_l$. LeCun's weights, four heads, ReLU MLPs, the loss u.y of the last
    position; the slope is fitted over the layers of each net, and its mean asked to be within 1/8.
    Equal tokens pass softmax attention as they are, and their gradients add up.
    """
    return profile_exponents(case, seed, device)


_BARE = partial(Case, scheme="lecun", norm="none", tokens=4, **EQUAL)
_BARE_CASES = {
    "quick": (_BARE(width=32, mlp=32, shallow=4, deep=32, replicas=96),),
    "full": (_BARE(width=64, mlp=256, shallow=4, deep=64, replicas=128),),
}


def _less_by_width(statement: Relational, case: Case) -> Ball:
    """The right side, and up to 6/d below it: E log of the squared norm of a Gaussian vector of d
    entries of variance 1/d is at least -2/d, and there are three in a layer, beside the mean over
    at least d hidden units, of relative variance 5/d: about -(3 + 5/2)/(2 d) in all."""
    value = Ball.of(enclose(at(statement.rhs, case)))
    return Ball(value.low - Fraction(6, case.width), value.high)


@claim(
    Eq(decay_rate, log(HALF) / 2),
    predicted=_less_by_width,
    kind="rate",
    wording="derived",
    source=Source("depthlaw", "variance of LeCun's weights through ReLU"),
    cases=_BARE_CASES,
    control=Control(
        _BARE(width=32, mlp=32, shallow=4, deep=32, replicas=32),
        "with skips and pre-norm",
        measured=partial(decay_rates, residual=True),
    ),
    supports="exercises/gradients_vanish",
    **IN_NETS,
)
def gradient_without_skips(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Without skips and norms the last gradient falls exponentially in depth.

    In random nets with softmax attention of equal tokens, without skip connections and norms, and
    with LeCun's weights, the gradient of the last MLP's second matrix falls by the factor
    $2^{-1/2}$ with every layer, up to $e^{-6/d}$.

    Derived: every layer halves the mean square, in the ReLU; at finite width the mean of its
    logarithm is less by about $11/(2 d)$. With skips and pre-norm it falls as $L^{-1/2}$:
    gradient_exponents.
    """
    return decay_rates(case, seed, device)
