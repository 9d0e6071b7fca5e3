"""Curves of signal propagation at initialisation: gradients against depth and by layer, and norms
of hidden states by layer."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..figures import Panel, Series
from ..nets import Norm, Shape
from .profiles import activation_profile, gradient_profile
from .scaling_curves import curve, power_law

__all__ = ["signal_panels"]

DEPTHS, LAYERS, REPLICAS = (4, 8, 16, 32), 24, 16
# Label, scheme, norm; LayerNorm scaling and DeepNorm set their own.
SCHEMES: tuple[tuple[str, str, Norm], ...] = (
    ("pre-norm", "lecun", "pre"), ("post-norm", "lecun", "post"),
    ("GPT-2's scaling", "gpt2", "pre"), ("DeepNorm", "deepnorm", "post"),
    ("LayerNorm scaling", "layernorm-scaling", "pre"))
_WIDTH = 64


def signal_panels(device: str = "cpu") -> tuple[Panel, ...]:
    """Four pictures: the gradient of the last MLP's second matrix against depth, with and without
    skips; gradients of the MLPs' second matrices by layer; mean squares of the hidden states by
    layer. Random nets with softmax attention; geometric means over nets with 99 % Student
    intervals.

    Args:
        device: on which nets are run.

    Cost: about ten seconds on one core.
    """
    def shape(depth: int, norm: Norm, residual: bool = True) -> Shape:
        return Shape(width=_WIDTH, depth=depth, heads=4, mlp=2 * _WIDTH, norm=norm,
                     residual=residual, activation="relu")

    def drawn(depth: int) -> dict[str, Any]:
        return {"replicas": REPLICAS, "rng": np.random.default_rng(depth), "device": device,
                "tokens": 16, "std": _WIDTH**-0.5}

    def last(label: str, scheme: str, norm: Norm, residual: bool = True) -> Series:
        logs = np.log([gradient_profile(shape(depth, norm, residual), scheme, lowest=depth - 1,
                                        **drawn(depth)).weights["mlp_out"][:, -1]
                       for depth in DEPTHS])
        return curve(label, DEPTHS, logs - logs[0].mean())

    def by_layer(label: str, scheme: str, norm: Norm, residual: bool = True) -> Series:
        found = gradient_profile(shape(LAYERS, norm, residual), scheme, loss="softmax",
                                 **drawn(LAYERS))
        return curve(label, range(1, LAYERS + 1), np.log(found.weights["mlp_out"]).T)

    def stream(label: str, scheme: str) -> Series:
        found = activation_profile(shape(LAYERS, "pre"), scheme, **drawn(LAYERS))
        return curve(label, range(LAYERS + 1), np.log(found).T)

    lengths = tuple(range(LAYERS + 1))
    halved = tuple(2 ** ((DEPTHS[0] - depth) / 2) for depth in DEPTHS)
    return (
        Panel("Gradient of the last MLP against depth", "layers", "over that of 4 layers",
              (*(last(*each) for each in SCHEMES), power_law("1/sqrt(layers)", DEPTHS, -0.5),
               power_law("flat", DEPTHS, 0.0)), x_scale="log", y_scale="log"),
        Panel("The same with and without skips and norms", "layers", "over that of 4 layers",
              (last("no skips, no norms", "lecun", "none", False), last(*SCHEMES[0]),
               Series("2^(-layers/2)", DEPTHS, halved, kind="reference")), y_scale="log"),
        Panel(f"Gradients of the MLPs by layer, {LAYERS} layers", "layer", "norm of the gradient",
              (*(by_layer(*each) for each in SCHEMES),
               by_layer("no skips, no norms", "lecun", "none", False),
               by_layer("no skips, post-norm", "lecun", "post", False)), y_scale="log"),
        Panel("Mean square of the hidden states by layer", "layer", "mean square",
              (stream("pre-norm", "lecun"), stream("GPT-2's scaling", "gpt2"),
               stream("LayerNorm scaling", "layernorm-scaling"),
               stream("stochastic depth", "stochastic-depth"),
               Series("1 + 3 l/2", lengths, tuple(1 + 1.5 * n for n in lengths), kind="reference"),
               Series("1 + l/2", lengths, tuple(1 + 0.5 * n for n in lengths), kind="reference")),
              y_scale="log"))
