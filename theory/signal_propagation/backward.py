"""Real nets of Xiong et al.'s theorem, with uniform attention, in both orders, and a reverse mode.

Arrays carry any leading axes, then tokens, then width; matrices act from the right. LayerNorm has
no epsilon and no affine part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class LayerMatrices(NamedTuple):
    """The matrices of a layer, W_V and the feed-forward W^1 and W^2, or their gradients."""

    value: Array
    first: Array
    second: Array


class Sublayer(NamedTuple):
    """What entered the branch of a sublayer, the inner value, and the sublayer's LayerNorm."""

    inputs: Array
    inner: Array
    normed: Array
    scale: Array


def layer_norm(x: Array) -> tuple[Array, Array]:
    """(x minus its mean) over its root mean square, and that root mean square.

    >>> layer_norm(np.array([1.0, 3.0]))[0].tolist()
    [-1.0, 1.0]
    """
    centred = x - x.mean(-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(-1, keepdims=True))
    return centred / scale, scale


def layer_norm_backward(upstream: Array, normed: Array, scale: Array) -> Array:
    """The gradient before LayerNorm from that behind it."""
    along = (upstream * normed).mean(-1, keepdims=True)
    return np.asarray((upstream - upstream.mean(-1, keepdims=True) - normed * along) / scale)


def branch(h: Array, layer: LayerMatrices, attention: float | None) -> tuple[Array, Array]:
    """(output, inner value) of attention with its factor, or (None) of the feed-forward branch."""
    if attention is not None:
        mean = attention * h.mean(-2, keepdims=True)
        return np.broadcast_to(mean @ layer.value, h.shape), mean
    hidden = h @ layer.first
    return np.maximum(hidden, 0) @ layer.second, hidden


def forward(
    x: Array, layers: Sequence[LayerMatrices], *, pre: bool, attention: float = 1.0
) -> tuple[Array, list[Sublayer]]:
    """The output, LayerNormed at the end in both orders, and what the reverse mode needs.

    Tokens are of shape (..., tokens, width), matrices (..., width, width). `pre`: x + f(LN(x)) and
    a last LayerNorm; otherwise LN(x + f(x)). The attention branch has a factor, 1 in the theorem.
    """
    tape = []
    for layer in layers:
        for factor in (attention, None):
            h, scale = layer_norm(x) if pre else (x, x)
            write, inner = branch(h, layer, factor)
            x = x + write
            if not pre:
                x, scale = layer_norm(x)
            tape.append(Sublayer(h, inner, h if pre else x, scale))
    if pre:
        x, scale = layer_norm(x)
        tape.append(Sublayer(x, x, x, scale))
    return x, tape


def backward(
    upstream: Array,
    layers: Sequence[LayerMatrices],
    tape: Sequence[Sublayer],
    *,
    pre: bool,
    attention: float = 1.0,
) -> Iterator[LayerMatrices]:
    """The gradients of all matrices, layer by layer from the last to the first.

    `upstream` is the derivative of the loss by the output of `forward`, which returned `tape`.
    """
    places, g = list(tape), upstream
    if pre:
        last = places.pop()
        g = layer_norm_backward(g, last.normed, last.scale)
    for layer in reversed(layers):
        gradients = {}
        for factor in (None, attention):
            place = places.pop()
            if not pre:
                g = layer_norm_backward(g, place.normed, place.scale)
            if factor is None:
                hidden = np.maximum(place.inner, 0)
                gradients["second"] = hidden.swapaxes(-1, -2) @ g
                inner = (g @ layer.second.swapaxes(-1, -2)) * (place.inner > 0)
                gradients["first"] = place.inputs.swapaxes(-1, -2) @ inner
                into = inner @ layer.first.swapaxes(-1, -2)
            else:
                total = g.sum(-2, keepdims=True)
                gradients["value"] = place.inner.swapaxes(-1, -2) @ total
                back = total @ layer.value.swapaxes(-1, -2)
                into = factor / g.shape[-2] * np.broadcast_to(back, g.shape)
            g = g + (layer_norm_backward(into, place.normed, place.scale) if pre else into)
        yield LayerMatrices(**gradients)


def cross_entropy(output: Array, head: Array) -> tuple[Array, Array]:
    """-log softmax(y head)_0 of the first position, and its derivative by the output."""
    logits = output[..., :1, :] @ head
    logits = logits - logits.max(-1, keepdims=True)
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    wrong = chances - np.eye(1, logits.shape[-1])
    upstream = np.zeros_like(output)
    upstream[..., :1, :] = wrong @ head.swapaxes(-1, -2)
    return -np.log(chances[..., 0, 0]), upstream


def draw(rng: np.random.Generator, depth: int, width: int, replicas: int) -> list[LayerMatrices]:
    """Xavier's Gaussian weights, variance 1/d, for so many nets at once."""
    shape, std = (replicas, width, width), 1 / math.sqrt(width)
    return [LayerMatrices(*(rng.normal(0, std, shape) for _ in range(3))) for _ in range(depth)]
