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

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Eq, between
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.signal_propagation.norms import mean_square
from depthlaw.theory.signal_propagation.signal_symbols import expected_exponent

from .exponents import doublings, exponents, sample, within

if TYPE_CHECKING:
    from ..nets.net import NetShape

attention_write = quantity(
    "attention_write",
    "a",
    "largest mean square that attention writes on LayerNormed rows in the mean over its "
    r"weights: $d^2 \mathrm{Var}(W_V) \mathrm{Var}(W_O)$",
    "positive real",
)
mlp_write = quantity(
    "mlp_write",
    "m",
    "mean square that a ReLU MLP writes on LayerNormed rows in the mean over its weights: "
    r"$d h \mathrm{Var}(W_1) \mathrm{Var}(W_2)/2$",
    "positive real",
)
effective_depth = quantity(
    "effective_depth",
    "S",
    "sum over the layers of the mean squared factor on what they write: their number, if none",
    "positive real",
)
stream_exponent = quantity(
    "stream_exponent",
    r"\partial\log\|x_l\|^2/\partial\log l",
    "least-squares slope of the log mean square of hidden states against the log of"
    " the depth: after layers of one net, or at the ends of nets, that double",
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


def layers_written(scheme: str, layers: int) -> Fraction:
    """The effective depth of so many layers: the mean squared factors on what they write, summed.

    >>> layers_written("lecun", 6), layers_written("gpt2", 6), layers_written("stochastic-depth", 6)
    (Fraction(6, 1), Fraction(1, 2), Fraction(17, 4))
    """
    if scheme == "gpt2":
        return Fraction(1, 2)
    numbers = range(1, layers + 1)
    if scheme == "layernorm-scaling":
        return sum((Fraction(1, number) for number in numbers), Fraction(0))
    if scheme in ("stochastic-depth", "stochastic-depth-test"):
        kept = [1 - Fraction(number, 2 * layers) for number in numbers]
        return sum((p * p if scheme.endswith("test") else p for p in kept), Fraction(0))
    return Fraction(layers)


def written(scheme: str, width: int, mlp: int, layer: int, **more: Any) -> Case:
    """A case with the a, m and effective depth of its scheme."""
    a, m = writes(scheme, width, mlp)
    return Case(
        scheme=scheme,
        width=width,
        mlp=mlp,
        layer=layer,
        attention_write=str(a),
        mlp_write=str(m),
        effective_depth=str(layers_written(scheme, layer)),
        **more,
    )


OF_SCHEME = {
    "a, $m$ and effective depth are those of the scheme": lambda c: (
        written(c.scheme, c.width, c.mlp, c.layer).fields().items() <= c.fields().items()
    )
}


def shape_of(case: Case, depth: int) -> NetShape:
    """The net of a case, pre-norm, of 4 heads and with skips unless the case says otherwise."""
    from ..nets.net import NetShape

    return NetShape(
        width=case.width,
        depth=depth,
        heads=case.get("heads", 4),
        mlp=case.mlp,
        norm=case.get("norm", "pre"),
        activation="relu",
        residual=bool(case.get("skips", 1)),
    )


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
    shape, parts, left = shape_of(case, depth), [], int(case.replicas)
    block = max(1, WEIGHTS // (depth * (4 * case.width**2 + 2 * case.width * case.mlp)))
    while left:
        parts.append(
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
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _last(*positional: Any, **named: Any) -> dict[str, np.ndarray]:
    from .profiles import activation_profile

    profile = activation_profile(*positional, **named)
    return {"last": profile[:, -1], "all": profile}


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
    profile = in_blocks(_last, case, case.rng(seed), case.deep, device)["all"]
    layers = doublings(case.shallow, case.deep)
    return sample(exponents(layers, profile[:, list(layers)].T))


IN_NETS: dict[str, Any] = {"holds_for": "typical", "weight": "measurement", "portable": False}

_SMALL = partial(written, width=32, mlp=64, tokens=8, replicas=128)
_MIDDLE = partial(written, width=64, mlp=256, tokens=8, replicas=128)
_LARGE = partial(written, width=256, mlp=1024, tokens=8, replicas=32)
_SCHEMES = ("lecun", "gpt2", "layernorm-scaling", "stochastic-depth", "stochastic-depth-test")
_ALSO = ("xavier", "kaiming")


def without(case: Case, *names: str) -> Case:
    """A case without fields that choose no nets, which are those that its other fields draw."""
    return Case(**{name: value for name, value in case.fields().items() if name not in names})


@claim(
    between(
        1 + mlp_write * effective_depth,
        mean_square,
        1 + (attention_write + mlp_write) * effective_depth,
    ),
    source=Source("xiong2020", "Lemma 2, pre-LN, for softmax attention", "arXiv:2002.04745"),
    assumes=OF_SCHEME,
    cases={
        "quick": tuple(_SMALL(scheme, layer=8) for scheme in _SCHEMES),
        "full": (
            *(_MIDDLE(scheme, layer=n) for scheme in (*_SCHEMES, *_ALSO) for n in (2, 16)),
            *(_LARGE(scheme, layer=12) for scheme in (*_SCHEMES, *_ALSO)),
        ),
    },
    control=Control(
        _SMALL("gpt2", layer=8),
        "the bracket's other end",
        between(1, mean_square, 1 + mlp_write * effective_depth),
    ),
    supports="signal_propagation/pre_ln_norm",
    post_hoc="the lower end of stochastic depth at test time was stated after its data were seen",
    **IN_NETS,
)
def softmax_norm(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""Pre-norm softmax nets: each scheme's stream lies in its bracket.

    In random pre-norm nets with softmax attention the mean squared norm of the stream after $l$
    layers is at least $(1 + m S) d$ and at most $(1 + (a + m) S) d$, $m$ what the MLP writes, $a$
    what attention writes at most, and $S$ the sum over layers of the mean squared factor on what
    they write: $S = l$ with LeCun's, Xavier's and Kaiming's weights; 1/2 after all $L$ layers,
    whatever $L$, where writing matrices are divided by $\sqrt{2 L}$ (GPT-2); 1 + 1/2 + ... + $1/l$
    where what enters the branches of layer $l$ is divided by $\sqrt{l}$ (LayerNorm scaling); the
    expected depth $(3 L - 1)/4$ after $L$ layers of which layer $l$ is kept with probability
    $p_l = 1 - l/(2 L)$, over weights and drops (stochastic depth); and $p_1^2$ + ... + $p_L^2$
    where branches are multiplied by $p_l$, as at its test time.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and
    independent Gaussian tokens of variance 1. The bracket is exact at every width, up to
    LayerNorm's $\epsilon$: the weights that write are independent of everything before. Equal
    tokens would attain the upper end, so deep nets, whose tokens align, come close. GPT-2's and
    LayerNorm scaling's standard deviation is $1/\sqrt{d}$, so $m = h/(2 d)$ for MLPs of hidden
    width $h$; stochastic depth has LeCun's weights, and drops attention and MLP of a layer
    together. LayerNorm scaling is derived for ReLU, which is homogeneous, and at initialisation
    alone, where writes are uncorrelated; see layernorm_scaling_variance for writes that are not.
    The bracket of stochastic depth is wide: nets of few layers, none of them dropped, may satisfy
    it too. When tested, its rule keeps the mean output of linear branches; the squared norm has
    $p_l^2$ where training has $p_l$, about $7/12 L$ in place of $3/4 L$. For trained nets nothing
    is shown.
    """
    nets = without(case, "effective_depth")
    return sample(in_blocks(_last, nets, nets.rng(seed), nets.layer, device)["last"])


def _depths(*schemes: str, **fields: int | str) -> tuple[Case, ...]:
    small = partial(Case, width=32, mlp=32, tokens=8, **fields)
    return (
        small(scheme=schemes[0], start="equal", shallow=4, deep=32),
        *(small(scheme=scheme, start="independent", shallow=16, deep=128) for scheme in schemes),
    )


@claim(
    Eq(stream_exponent, expected_exponent),
    predicted=within,
    kind="rate",
    assumes={
        "a case expects 0 for GPT-2, else 1": lambda c: (
            c.expected_exponent == ("0" if c.scheme == "gpt2" else "1")
        )
    },
    source=Source(
        "radford2019", r"residual weights over $\sqrt{N}$; without them xiong2020, Lemma 2"
    ),
    cases={
        "full": (
            *_depths("lecun", *_ALSO, replicas=192, over="layers", expected_exponent="1"),
            *_depths("gpt2", replicas=128, over="nets", expected_exponent="0"),
        )
    },
    post_hoc=(
        "Of undivided weights: layers of one net took the place of nets of several depths, of "
        "which 128 a depth had left it undecided."
    ),
    control=Control(
        Case(
            scheme="plain",
            width=32,
            mlp=32,
            tokens=8,
            replicas=32,
            start="equal",
            shallow=4,
            deep=32,
            over="nets",
            expected_exponent="0",
        ),
        "not divided",
    ),
    cited=r"Bears on whether writing matrices over $\sqrt{2 L}$ keep the stream's size at any "
    "depth.",
    **IN_NETS,
)
def norm_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""GPT-2's scaling makes the stream's variance flat, else linear in depth.

    In random pre-norm nets with softmax attention whose writing matrices are divided by
    $\sqrt{2 L}$ the mean square of the stream after the last layer grows as $L^0$. With LeCun's,
    Xavier's or Kaiming's weights, not divided, the mean square after layer $l$ grows as $l^1$.

    Random nets with softmax attention of 4 heads, random queries and keys, ReLU MLPs and Gaussian
    tokens of variance 1, equal or independent; GPT-2's standard deviation is $1/\sqrt{d}$.
    Exponents are slopes between nets of depths that double, or, of weights that are not divided,
    within one net over layers that double; their mean is asked to be within 1/8. What attention
    writes rises while independent tokens align, which makes slopes steeper at small depths, and the
    start of variance 1 makes them flatter.
    """
    exponents_of = layer_exponents if case.over == "layers" else stream_exponents
    return exponents_of(without(case, "over", "expected_exponent"), seed, device)
