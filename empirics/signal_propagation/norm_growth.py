"""Norms of the hidden states by layer in random nets with softmax attention.

Fresh weights write uncorrelated with the stream, so mean squares add, exactly and at every width:
on LayerNormed rows a two-layer ReLU MLP writes m = d h Var(W_1) Var(W_2)/2 in the mean, h its
hidden width, and softmax attention between 0 and a = d^2 Var(W_V) Var(W_O), whatever its scores,
since a weighted mean of rows of one norm is at most as long. Initialisations differ in a, m and in
what multiplies them with depth. Xiong et al.'s Lemma 2, of uniform attention, is a = 1, m = 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Integer, Rational, Sum, Symbol
from sympy.core.relational import Relational

from depthlaw.theory.claims.definition import Case, Claim, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Ge, Le
from depthlaw.theory.claims.symbols import layer, quantity
from depthlaw.theory.signal_propagation.norms import mean_square
from depthlaw.theory.signal_propagation.signal_symbols import Eq

from .exponents import doublings, exponents, sample, within

if TYPE_CHECKING:
    from ..nets.net import Shape

attention_write = quantity(
    "attention_write",
    "a",
    "largest mean square that attention writes on LayerNormed rows in the "
    "mean over its weights: d^2 Var(W_V) Var(W_O)",
    "positive real",
)
mlp_write = quantity(
    "mlp_write",
    "m",
    "mean square that a ReLU MLP writes on LayerNormed rows in the mean over its "
    "weights: d h Var(W_1) Var(W_2)/2",
    "positive real",
)
stream_exponent = quantity(
    "stream_exponent",
    r"\partial\log\|x_L\|^2/\partial\log L",
    "least-squares slope of the log mean square of the last hidden states against log L over "
    "depths that double",
    "real",
)
layer_exponent = quantity(
    "layer_exponent",
    r"\partial\log\|x_l\|^2/\partial\log l",
    "within one net, least-squares slope of the log mean square of the hidden states after layer l "
    "against log l over layers that double",
    "real",
)


def writes(scheme: str, width: int, mlp: int) -> tuple[Fraction, Fraction]:
    """(a, m) of a scheme, before what it multiplies with depth; of those with a standard deviation,
    at 1/sqrt(width).

    >>> writes("xavier", 8, 8), writes("gpt2", 8, 32)
    ((Fraction(1, 1), Fraction(1, 2)), (Fraction(1, 1), Fraction(2, 1)))
    """
    if scheme == "kaiming":
        return Fraction(4), Fraction(2)
    if scheme == "xavier":
        return Fraction(1), Fraction(2 * width * mlp, (width + mlp) ** 2)
    if scheme in ("plain", "gpt2", "layernorm-scaling"):
        return Fraction(1), Fraction(mlp, 2 * width)
    return Fraction(1), Fraction(1, 2)


def written(scheme: str, width: int, mlp: int, **more: Any) -> Case:
    """A case with the a and m of its scheme."""
    a, m = writes(scheme, width, mlp)
    return Case(
        scheme=scheme, width=width, mlp=mlp, attention_write=str(a), mlp_write=str(m), **more
    )


def _are_written(case: Case) -> bool:
    return writes(case.scheme, case.width, case.mlp) == (
        case.rational("attention_write"),
        case.rational("mlp_write"),
    )


OF_SCHEME = {"a and m are those of the scheme": _are_written}


def shape_of(case: Case, depth: int) -> Shape:
    """The net of a case, pre-norm, of 4 heads and with skips unless the case says otherwise."""
    from ..nets.net import Shape

    return Shape(
        width=case.width,
        depth=depth,
        heads=case.get("heads", 4),
        mlp=case.mlp,
        norm=case.get("norm", "pre"),
        activation="relu",
        residual=bool(case.get("skips", 1)),
    )


# Makes a claim of a function.
Maker = Callable[..., Callable[[Callable[..., Sample]], Claim]]
# Weights that are drawn at once, which bounds the memory.
WEIGHTS = 2**27


def in_blocks(
    measure: Callable[..., dict[str, np.ndarray]],
    case: Case,
    rng: np.random.Generator,
    depth: int,
    device: str,
    **more: Any,
) -> dict[str, np.ndarray]:
    """What `measure(shape, scheme, replicas=..., rng=..., device=..., ...)` finds in the nets of a
    case, with so many replicas at once as memory allows; axis 0 is that of the replicas."""
    shape, found, left = shape_of(case, depth), [], int(case.replicas)
    block = max(1, WEIGHTS // (depth * (4 * case.width**2 + 2 * case.width * case.mlp)))
    while left:
        found.append(
            measure(
                shape,
                case.scheme,
                replicas=min(block, left),
                rng=rng,
                device=device,
                tokens=case.tokens,
                std=case.width**-0.5,
                start=case.get("start", "independent"),
                **more,
            )
        )
        left -= min(block, left)
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def _last(*positional: Any, **named: Any) -> dict[str, np.ndarray]:
    from .profiles import activation_profile

    found = activation_profile(*positional, **named)
    return {"last": found[:, -1], "all": found}


def last_mean_squares(
    case: Case,
    seed: int,
    device: str = "cpu",
    *,
    branch: float = 1.0,
) -> Sample:
    """Mean squares of the last hidden states of nets of `layer` layers."""
    return sample(in_blocks(_last, case, case.rng(seed), case.layer, device, branch=branch)["last"])


def stream_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Least-squares slopes of the log mean square of the last hidden states against log L, from one
    net of each depth."""
    rng, depths = case.rng(seed), doublings(case.shallow, case.deep)
    return sample(
        exponents(depths, [in_blocks(_last, case, rng, depth, device)["last"] for depth in depths])
    )


def layer_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Least-squares slopes of the log mean square of the hidden states after layer l against log l,
    within each net of `deep` layers."""
    found = in_blocks(_last, case, case.rng(seed), case.deep, device)["all"]
    layers = doublings(case.shallow, case.deep)
    return sample(exponents(layers, found[:, list(layers)].T))


in_nets: Maker = partial(claim, holds_for="typical", weight="measurement", portable=False)
bracket: Maker = partial(in_nets, assumes=OF_SCHEME)

XIONG = Source("xiong2020", "Lemma 2, pre-LN, for softmax attention", "arXiv:2002.04745")
GPT2 = Source("radford2019", "residual weights over sqrt(N)")
SCALING = Source("sun2025", "LayerNorm scaling, at initialisation", "arXiv:2502.05795")
HUANG = Source("huang2016", "section 3, for transformers at initialisation", "arXiv:1603.09382")

_SMALL = partial(written, width=32, mlp=64, tokens=8, replicas=128)
_MIDDLE = partial(written, width=64, mlp=256, tokens=8, replicas=128)
_LARGE = partial(written, width=256, mlp=1024, tokens=8, replicas=32)
_WIDE = partial(written, width=1024, mlp=4096, tokens=16, replicas=24)


def _with(case: Case, **changed: Any) -> Case:
    return Case(**(case.fields() | changed))


def _suites(*schemes: str, also: tuple[str, ...] = ()) -> dict[str, tuple[Case, ...]]:
    return {
        "quick": tuple(_SMALL(scheme, layer=8) for scheme in schemes),
        "full": (
            *(_MIDDLE(scheme, layer=n) for scheme in (*schemes, *also) for n in (2, 16)),
            *(_LARGE(scheme, layer=12) for scheme in (*schemes, *also)),
        ),
        "gpu": tuple(_WIDE(scheme, layer=24) for scheme in schemes),
    }


def _other_end(case: Case, statement: Relational) -> Control:
    return Control(case, "the other end of the bracket", statement=statement)


_PRE = _suites("lecun", also=("xavier", "kaiming"))
_LEAST, _MOST = 1 + layer * mlp_write, 1 + layer * (attention_write + mlp_write)


@bracket(
    Ge(mean_square, _LEAST),
    source=XIONG,
    cases=_PRE,
    control=_other_end(_PRE["quick"][0], Ge(mean_square, _MOST)),
    supports="signal_propagation/pre_ln_norm_upper",
)
def softmax_pre_ln_norm_lower(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm softmax nets: the stream grows at least linearly.

    In random pre-norm nets with softmax attention the mean squared norm of the stream after l
    layers is at least (1 + l m) d, m what the MLP writes.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. LeCun's, Xavier's and Kaiming's weights. The bracket
    is exact at every width, up to LayerNorm's epsilon: the weights that write are independent of
    everything before. For trained nets nothing is shown.
    """
    return last_mean_squares(case, seed, device)


@bracket(
    Le(mean_square, _MOST),
    source=XIONG,
    cases=_PRE,
    control=_other_end(_PRE["quick"][0], Le(mean_square, _LEAST)),
    supports="signal_propagation/pre_ln_norm_upper",
)
def softmax_pre_ln_norm_upper(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm softmax nets: the stream grows at most linearly.

    In random pre-norm nets with softmax attention the mean squared norm of the stream after l
    layers is at most (1 + l (a + m)) d, a and m what attention and MLP write at most.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. LeCun's, Xavier's and Kaiming's weights. Equal
    tokens would attain it, so deep nets, whose tokens align, come close.
    """
    return last_mean_squares(case, seed, device)


_GPT2 = _suites("gpt2")


@bracket(
    Ge(mean_square, 1 + mlp_write / 2),
    source=GPT2,
    cases=_GPT2,
    control=_other_end(_GPT2["quick"][0], Ge(mean_square, 1 + (attention_write + mlp_write) / 2)),
    supports="signal_propagation/gpt2_norm_exponent",
)
def gpt2_norm_lower(case: Case, seed: int, device: str = "cpu") -> Sample:
    """GPT-2's scaling: the stream ends above 1 + m/2.

    In random pre-norm nets of L layers whose writing matrices are divided by sqrt(2L) the mean
    squared norm of the stream after the last layer is at least (1 + m/2) d, whatever L, m what
    the MLP writes before division.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. Standard deviation 1/sqrt(d), so m = h/(2d) for
    MLPs of hidden width h.
    """
    return last_mean_squares(case, seed, device)


@bracket(
    Le(mean_square, 1 + (attention_write + mlp_write) / 2),
    source=GPT2,
    cases=_GPT2,
    control=_other_end(_GPT2["quick"][0], Le(mean_square, 1 + mlp_write / 2)),
    supports="signal_propagation/gpt2_norm_exponent",
)
def gpt2_norm_upper(case: Case, seed: int, device: str = "cpu") -> Sample:
    """GPT-2's scaling: the stream ends below 1 + (a + m)/2.

    In random pre-norm nets of L layers whose writing matrices are divided by sqrt(2L) the mean
    squared norm of the stream after the last layer is at most (1 + (a + m)/2) d, whatever L, a
    and m what attention and MLP write before division.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. Standard deviation 1/sqrt(d).
    """
    return last_mean_squares(case, seed, device)


_k = Symbol("k", integer=True, positive=True)
_HARMONIC = Sum(1 / _k, (_k, 1, layer))
_SCALED = _suites("layernorm-scaling")


@bracket(
    Ge(mean_square, 1 + mlp_write * _HARMONIC),
    source=SCALING,
    cases=_SCALED,
    control=_other_end(
        _SCALED["quick"][0], Ge(mean_square, 1 + (attention_write + mlp_write) * _HARMONIC)
    ),
    supports="signal_propagation/layernorm_scaling_variance_upper",
)
def layernorm_scaling_norm_lower(case: Case, seed: int, device: str = "cpu") -> Sample:
    """LayerNorm scaling: the stream grows at least as the logarithm.

    In random pre-norm nets in which what enters the branches of layer l is divided by sqrt(l)
    the mean squared norm of the stream after l layers is at least 1 + m (1 + 1/2 + ... + 1/l),
    times d.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. Derived for ReLU, which is homogeneous. At
    initialisation alone, where writes are uncorrelated; see layernorm_scaling_variance_upper
    for writes that are not.
    """
    return last_mean_squares(case, seed, device)


@bracket(
    Le(mean_square, 1 + (attention_write + mlp_write) * _HARMONIC),
    source=SCALING,
    cases=_SCALED,
    control=_other_end(_SCALED["quick"][0], Le(mean_square, 1 + mlp_write * _HARMONIC)),
    supports="signal_propagation/layernorm_scaling_variance_upper",
)
def layernorm_scaling_norm_upper(case: Case, seed: int, device: str = "cpu") -> Sample:
    """LayerNorm scaling: the stream grows at most as the logarithm.

    In random pre-norm nets in which what enters the branches of layer l is divided by sqrt(l)
    the mean squared norm of the stream after l layers is at most 1 + (a + m) (1 + 1/2 + ... +
    1/l), times d.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. Derived for ReLU, which is homogeneous. At
    initialisation alone, where writes are uncorrelated; see layernorm_scaling_variance_upper
    for writes that are not.
    """
    return last_mean_squares(case, seed, device)


# Keep probabilities 1 - l/(2L) sum to (3L - 1)/4; their squares to L - (L + 1)/2 + (L + 1)(2L +
# 1)/(24 L).
_KEPT = (3 * layer - 1) * Rational(1, 4)
_KEPT_TWICE = layer - (layer + 1) * Rational(1, 2) + (layer + 1) * (2 * layer + 1) / (24 * layer)
_DROPPED, _TESTED = _suites("stochastic-depth"), _suites("stochastic-depth-test")


@bracket(
    Ge(mean_square, 1 + mlp_write * _KEPT),
    source=HUANG,
    cases=_DROPPED,
    control=_other_end(
        _DROPPED["quick"][0], Ge(mean_square, 1 + (attention_write + mlp_write) * layer)
    ),
    supports="signal_propagation/expected_depth",
)
def stochastic_depth_norm_lower(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Stochastic depth: lower bound on the stream by the expected depth.

    In random pre-norm nets of L layers of which layer l is kept with probability 1 - l/(2L) the
    mean squared norm of the stream, over weights and drops, is at least (1 + m (3L - 1)/4) d;
    (3L - 1)/4 is the expected depth.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. LeCun's weights. Attention and MLP of a layer are
    dropped together.
    The bracket is wide: nets of which no layer is dropped satisfy this bound too.
    """
    return last_mean_squares(case, seed, device)


@bracket(
    Le(mean_square, 1 + (attention_write + mlp_write) * _KEPT),
    source=HUANG,
    cases=_DROPPED,
    control=_other_end(_DROPPED["quick"][0], Le(mean_square, 1 + mlp_write * _KEPT)),
    supports="signal_propagation/expected_depth",
)
def stochastic_depth_norm_upper(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Stochastic depth: upper bound on the stream by the expected depth.

    In random pre-norm nets of L layers of which layer l is kept with probability 1 - l/(2L) the
    mean squared norm of the stream, over weights and drops, is at most (1 + (a + m)(3L - 1)/4)
    d; (3L - 1)/4 is the expected depth.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. LeCun's weights. Attention and MLP of a layer are
    dropped together.
    The bracket is wide: nets of few layers, none of them dropped, may satisfy this bound too.
    """
    return last_mean_squares(case, seed, device)


@bracket(
    Le(mean_square, 1 + (attention_write + mlp_write) * _KEPT_TWICE),
    source=HUANG,
    cases=_TESTED,
    control=_other_end(_TESTED["quick"][0], Le(mean_square, 1 + mlp_write * _KEPT_TWICE)),
    supports="signal_propagation/expected_depth",
)
def stochastic_depth_test_norm(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Stochastic depth when tested: upper bound on the stream.

    In random pre-norm nets of L layers whose branches are multiplied by p_l = 1 - l/(2L), as at
    test time, the mean squared norm of the stream is at most 1 + (a + m)(p_1^2 + ... + p_L^2),
    times d.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. LeCun's weights. The rule keeps the mean output
    of linear branches; the squared norm has p_l^2 where training has p_l, about 7/12 L in place
    of 3/4 L.
    """
    return last_mean_squares(case, seed, device)


rate: Maker = partial(in_nets, kind="rate", predicted=within)


def _depths(*schemes: str, replicas: int) -> dict[str, tuple[Case, ...]]:
    small = partial(Case, width=32, mlp=32, tokens=8, replicas=replicas)
    large = partial(Case, width=512, mlp=2048, tokens=64, shallow=12, deep=96, replicas=16)
    return {
        "full": (
            small(scheme=schemes[0], start="equal", shallow=4, deep=32),
            *(
                small(scheme=scheme, start="independent", shallow=16, deep=128)
                for scheme in schemes
            ),
        ),
        "gpu": (large(scheme=schemes[0], start="independent"),),
    }


_RISING = _depths("lecun", "xavier", "kaiming", replicas=192)
_FLAT = _depths("gpt2", replicas=128)
_FEW = Case(
    scheme="gpt2", width=32, mlp=32, tokens=8, replicas=32, start="equal", shallow=4, deep=32
)


@rate(
    Eq(layer_exponent, Integer(1)),
    source=XIONG,
    cases=_RISING,
    post_hoc=(
        "Layers of one net took the place of nets of several depths, of which 128 a depth had "
        "left it undecided."
    ),
    control=Control(_FEW, "GPT-2's scaling"),
    supports="signal_propagation/pre_ln_norm_upper",
)
def softmax_pre_ln_norm_exponent(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-norm streams: the variance grows with power 1 of the layer.

    In random pre-norm nets with softmax attention and LeCun's, Xavier's or Kaiming's weights the
    mean square of the stream after layer l grows as l^1.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and Gaussian
    tokens of variance 1, equal or independent. The mean of slopes over layers that double is asked
    to be within 1/8: what attention writes rises while independent tokens align, which makes them
    steeper at small depths, and the start of variance 1 makes them flatter.

    First measured between last hidden states of nets of different depths, as gpt2_norm_exponent is:
    undecided with 128 nets a depth, within 1/8 with 384 others. Layers of one net took their place,
    whose slopes scatter less and cost less.
    """
    return layer_exponents(case, seed, device)


@rate(
    Eq(stream_exponent, Integer(0)),
    source=GPT2,
    cases=_FLAT,
    control=Control(_with(_FEW, scheme="plain"), "not divided"),
    cited=(
        "Bears on whether dividing writing matrices by sqrt(2L) keeps the stream's size at "
        "every depth."
    ),
)
def gpt2_norm_exponent(case: Case, seed: int, device: str = "cpu") -> Sample:
    """GPT-2's scaling: the stream's variance is flat in depth.

    In random pre-norm nets with softmax attention whose writing matrices are divided by
    sqrt(2L) the mean square of the stream after the last layer grows as L^0.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    Gaussian tokens of variance 1, equal or independent. The mean of slopes over depths that
    double is asked to be within 1/8. Standard deviation 1/sqrt(d).
    """
    return stream_exponents(case, seed, device)
