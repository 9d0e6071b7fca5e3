"""How deep nets are initialised, by name: norm, constants in skips and branches, deviations of
weights."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

from .net import Deviations, Factors, NetShape, Norm

Scheme = Literal[
    "plain",
    "gpt2",
    "lecun",
    "xavier",
    "kaiming",
    "deepnorm",
    "layernorm-scaling",
    "depth-mup",
    "completep",
]


def deepnorm_constants(layers: int) -> tuple[float, float]:
    """DeepNorm's alpha = (2 N)^(1/4) and beta = (8 N)^(-1/4) of an encoder or a decoder of N layers
    (Wang et al. 2022, arXiv:2203.00555, figure 2, printed)."""
    return (2 * layers) ** 0.25, (8 * layers) ** -0.25


def initialised(
    scheme: str, shape: NetShape, *, std: float = 0.02, base_depth: int = 1
) -> tuple[NetShape, Deviations]:
    """A shape with the norm and constants of a scheme, and its standard deviations, for `Net`.

    Query, key, value and output count as matrices width x width, whatever the number of heads.
    Embeddings and positions have `std`, but 1 for "lecun", "depth-mup" and "completep". Biases
    start at 0 always.

    Args:
        scheme: one of these, with N layers.
            "plain": every weight N(0, std^2).
            "gpt2": the same, output matrices of attention and MLP divided by sqrt(2 N).
            "xavier": variance 2 / (fan-in + fan-out). "kaiming": 2 / fan-in. "lecun": 1 / fan-in.
            "deepnorm": Xavier, with value, output and MLP times beta; norm "post"; skips times
            alpha.
            "layernorm-scaling": plain, norm "pre", divided by sqrt(l) in layer l = 1, ..., N.
            "depth-mup", "completep": LeCun, branches times (N / base_depth)^-a, a = 1/2 and 1.
        shape: the net; its norm stays but for "deepnorm" and "layernorm-scaling".
        std: for those that name it.
        base_depth: depth at which branches have factor 1.

    Raises:
        ValueError: for an unknown scheme.

    References: Radford et al. 2019 (printed: 1/sqrt(N), N "residual layers"; nanoGPT counts 2 a
    layer); Wang et al. 2022, arXiv:2203.00555 (printed); Sun et al. 2025, arXiv:2502.05795
    (reported); Yang et al. 2023, arXiv:2310.02244 (recalled); Dey et al. 2025, arXiv:2505.01618
    (printed).
    """
    if scheme not in get_args(Scheme):
        raise ValueError(f"{scheme!r}: accepted schemes are {', '.join(get_args(Scheme))}")
    N = shape.layers
    norm: Norm = shape.norm
    factors: tuple[Factors, ...] = ()
    stds = Deviations.equal(std)
    if scheme == "gpt2":
        stds = Deviations.equal(std, std / math.sqrt(2 * N))
    elif scheme in ("xavier", "kaiming", "lecun", "deepnorm", "depth-mup", "completep"):
        stds = _by_fan(shape, scheme, std)
    if scheme == "layernorm-scaling":
        norm = "pre"
        factors = _each_sublayer(
            shape, [Factors(entering=1 / math.sqrt(layer)) for layer in range(1, shape.depth + 1)]
        )
    elif scheme == "deepnorm":
        norm, (alpha, beta) = "post", deepnorm_constants(N)
        factors = _each_sublayer(shape, [Factors(skip=alpha)] * shape.depth)
        stds = stds._replace(
            value=beta * stds.value,
            output=beta * stds.output,
            mlp_in=beta * stds.mlp_in,
            mlp_out=beta * stds.mlp_out,
        )
    elif scheme in ("depth-mup", "completep"):
        exponent = 0.5 if scheme == "depth-mup" else 1.0
        factors = _each_sublayer(
            shape, [Factors(branch=(N / base_depth) ** -exponent)] * shape.depth
        )
    return replace(shape, norm=norm, factors=factors), stds


def _each_sublayer(shape: NetShape, by_layer: list[Factors]) -> tuple[Factors, ...]:
    return tuple(std for std in by_layer for _ in range(shape.sublayers))


def _by_fan(shape: NetShape, scheme: str, std: float) -> Deviations:
    def of(fan_in: int, fan_out: int) -> float:
        if scheme in ("xavier", "deepnorm"):
            return math.sqrt(2 / (fan_in + fan_out))
        return math.sqrt((2 if scheme == "kaiming" else 1) / fan_in)

    width, mlp = shape.width, shape.mlp or 1
    square = of(width, width)
    table = std if scheme in ("xavier", "kaiming", "deepnorm") else 1.0
    return Deviations(
        query=square,
        key=square,
        value=square,
        output=square,
        mlp_in=of(width, mlp),
        mlp_out=of(mlp, width),
        embedding=table,
        position=table,
        read_in=of(shape.features or 1, width),
        read_out=of(width, shape.outputs or 1),
    )
