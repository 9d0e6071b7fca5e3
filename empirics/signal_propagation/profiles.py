"""Activations and gradients of a net, layer by layer, by backpropagation.

The hidden states of all layers are kept and the graph of one layer at a time, so that memory grows
with one layer and not with depth times what a layer computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..nets.initialisations import initialised
from ..nets.net import Deviations, Factors, Net, NetShape

Array = np.ndarray[Any, np.dtype[np.float64]]
Loss = Literal["linear", "softmax"]
Start = Literal["independent", "equal"]
KINDS = ("qkv", "output", "mlp_in", "mlp_out")


class Gradients(NamedTuple):
    """What one pass forward and one backward say of each replica; norms are Frobenius norms.

    Attributes:
        loss: of each replica.
        mean_square: of the entries of the hidden states before the first layer and after each,
            shape (replicas, layers + 1).
        hidden: norms of the derivatives of the loss by those hidden states, of the same shape; nan
            below the lowest layer that was asked for.
        weights: norms of the derivatives by the matrices of each layer, shape (replicas, layers),
            under "qkv", "output", "mlp_in" and "mlp_out"; nan likewise.
    """

    loss: Array
    mean_square: Array
    hidden: Array
    weights: dict[str, Array]

    @property
    def layers(self) -> Array:
        """Norm of the derivatives by all matrices of each layer together, (replicas, layers)."""
        total = sum(norms**2 for norms in self.weights.values())
        return np.asarray(np.sqrt(total))


def net_gradients(
    net: Net,
    inputs: Tensor,
    loss: Callable[[Tensor], Tensor],
    mask: Tensor | None = None,
    *,
    lowest: int = 0,
) -> Gradients:
    """Backpropagation through a net that keeps the graph of one layer at a time.

    Args:
        net: of any shape that is not looped, and without dropout in training.
        inputs, mask: see `Net.hidden_states`.
        loss: from what `Net.forward` returns to one number per replica, shape (replicas,).
        lowest: index of the first layer whose gradients are asked for; those below cost nothing.

    Cost: two passes forward and one backward; memory for layers + 1 hidden states and what one
    layer computes.
    """
    if net.shape.loops > 1 or (net.training and net.shape.dropout):
        raise ValueError(
            "gradients by layer are those of nets without loops and, in training, without dropout; "
            f"got loops={net.shape.loops} and dropout={net.shape.dropout}"
        )
    depth, states = net.shape.depth, _hidden_states(net, inputs, mask)
    last = states[-1].detach().requires_grad_()
    value = loss(net.read(last))
    (upstream,) = torch.autograd.grad(value.sum(), last)
    mean_square = np.stack([_mean_square(state) for state in states], axis=1)
    kinds = [name for name in KINDS if len(getattr(net, name))]
    hidden = np.full((net.replicas, depth + 1), np.nan)
    weights = {name: np.full((net.replicas, depth), np.nan) for name in kinds}
    hidden[:, depth] = _norm(upstream)
    for layer in reversed(range(lowest, depth)):
        states.pop()
        below = states[-1].detach().requires_grad_()
        above = net.layer(layer, below, mask)
        upstream, *gradients = torch.autograd.grad(
            above, [below, *(getattr(net, name)[layer] for name in kinds)], upstream
        )
        hidden[:, layer] = _norm(upstream)
        for name, gradient in zip(kinds, gradients, strict=True):
            weights[name][:, layer] = _norm(gradient)
    return Gradients(value.detach().double().cpu().numpy(), mean_square, hidden, weights)


@torch.no_grad()
def _hidden_states(net: Net, inputs: Tensor, mask: Tensor | None) -> list[Tensor]:
    return net.hidden_states(inputs, mask)


def _norm(x: Tensor) -> Array:
    return np.asarray(x.detach().flatten(1).norm(dim=1).double().cpu().numpy())


def _mean_square(x: Tensor) -> Array:
    return np.asarray(x.square().flatten(1).mean(dim=1).double().cpu().numpy())


def one_position(direction: Tensor) -> Callable[[Tensor], Tensor]:
    """The loss u.y of the last position, summed over the batch, for u of shape (replicas, batch,
    width)."""
    return lambda output: (output[:, :, -1] * direction).sum((1, 2))


def mean_cross_entropy(labels: Tensor) -> Callable[[Tensor], Tensor]:
    """The mean of -log softmax(logits)_label over batch and positions, in nats, for labels of shape
    (replicas, batch, tokens)."""

    def loss(logits: Tensor) -> Tensor:
        chosen = torch.log_softmax(logits, dim=-1).gather(-1, labels[..., None])
        return -chosen.flatten(1).mean(dim=1)

    return loss


def keep_probabilities(layers: int, survival: float) -> Array:
    """Stochastic depth's 1 - l/L (1 - p_L) for l = 1, ..., L (Huang et al. 2016, arXiv:1603.09382,
    printed)."""
    return np.asarray(1 - np.arange(1, layers + 1) / layers * (1 - survival))


@torch.no_grad()
def drop_layers(net: Net, kept: np.ndarray) -> None:
    """Let layers add nothing, as stochastic depth does in training, where bool `kept` (replicas,
    layers) says so: zero the matrices that write. The net has skip connections and no biases."""
    if not net.shape.residual or net.shape.biases:
        raise ValueError(
            "a dropped layer is passed by its skip connection: nets with residual and "
            "without biases are accepted"
        )
    for name in ("output", "mlp_out"):
        for layer, weight in enumerate(getattr(net, name)):
            weight.mul_(torch.from_numpy(kept[:, layer]).to(weight)[:, None, None])


def drawn_net(
    shape: NetShape,
    scheme: str,
    *,
    replicas: int,
    rng: np.random.Generator,
    device: str = "cpu",
    tokens: int = 16,
    batch: int = 1,
    std: float = 0.02,
    start: Start = "independent",
    survival: float = 0.5,
    keep_last: bool = False,
) -> tuple[Net, Tensor]:
    """Random nets and inputs of a scheme.

    Args:
        shape: see `initialised`.
        scheme: one of those of `initialised`; or "admin": LeCun's weights, norm "post", and skips
            by ADMIN's profile; or "stochastic-depth": LeCun's weights, and layers dropped at
            random, by replica, or "stochastic-depth-test": branches times the probabilities
            instead.
        replicas, rng, device: see `Net`.
        tokens, batch: of the inputs, which differ between replicas: uniform token ids where the
            shape has a vocabulary, else Gaussian hidden states of variance 1.
        std: see `initialised`.
        start: whether all tokens of an input are equal.
        survival: p_L, the probability with which stochastic depth keeps the last layer.
        keep_last: whether it keeps the last layer always, as is asked for where gradients of the
            last layer are.

    Raises:
        ValueError: for an unknown scheme.
    """
    size = (replicas, batch, 1 if start == "equal" else tokens)
    if shape.vocabulary:
        inputs = torch.from_numpy(rng.integers(shape.vocabulary, size=size))
    else:
        inputs = torch.from_numpy(rng.normal(size=(*size, shape.width))).float()
    inputs = inputs.expand(*size[:2], tokens, *inputs.shape[3:]).contiguous().to(device)
    shape, stds = _scheme(shape, scheme, inputs, rng, std, survival)
    net = Net(shape, replicas=replicas, rng=rng, std=stds, device=device)
    if scheme == "stochastic-depth":
        kept = rng.random((replicas, shape.depth)) < keep_probabilities(shape.depth, survival)
        kept[:, -1] |= keep_last
        drop_layers(net, kept)
    return net, inputs


def _scheme(
    shape: NetShape,
    scheme: str,
    inputs: Tensor,
    rng: np.random.Generator,
    std: float,
    survival: float,
) -> tuple[NetShape, Deviations]:
    if scheme == "admin":
        from .parametrisations import admin_factors

        shape, stds = initialised("lecun", replace(shape, norm="post"))
        return replace(shape, factors=admin_factors(shape, stds, inputs, rng)), stds
    if scheme == "stochastic-depth":
        return initialised("lecun", shape)
    if scheme == "stochastic-depth-test":
        shape, stds = initialised("lecun", shape)
        factors = tuple(
            Factors(branch=keep)
            for keep in keep_probabilities(shape.depth, survival)
            for _ in range(shape.sublayers)
        )
        return replace(shape, factors=factors), stds
    return initialised(scheme, shape, std=std)


def activation_profile(
    shape: NetShape,
    scheme: str,
    *,
    replicas: int,
    rng: np.random.Generator,
    device: str = "cpu",
    **drawn: Any,
) -> Array:
    """Mean squares of the hidden states before the first layer and after each, shape (replicas,
    layers + 1). Arguments as of `drawn_net`."""
    net, inputs = drawn_net(shape, scheme, replicas=replicas, rng=rng, device=device, **drawn)
    with torch.no_grad():
        hidden = net.embed(inputs)
        squares = [_mean_square(hidden)]
        for layer in range(net.shape.layers):
            hidden = net.layer(layer % net.shape.depth, hidden)
            squares.append(_mean_square(hidden))
    return np.stack(squares, axis=1)


def gradient_profile(
    shape: NetShape,
    scheme: str,
    *,
    replicas: int,
    rng: np.random.Generator,
    device: str = "cpu",
    loss: Loss = "linear",
    lowest: int = 0,
    **drawn: Any,
) -> Gradients:
    """Gradients by layer of random nets of a scheme.

    Args:
        shape, scheme, replicas, rng, device: see `drawn_net`, and for further arguments.
        loss: "linear", u.y for the last position of the net's output and a random unit vector u, in
            the mean over the batch; or "softmax", the mean cross-entropy of all positions with
            random labels behind a random linear map to as many classes as the shape has outputs
            (or, where it has none, as its width).
        lowest: see `net_gradients`.
    """
    if loss == "softmax":
        shape = replace(shape, outputs=shape.outputs or shape.width)
    net, inputs = drawn_net(shape, scheme, replicas=replicas, rng=rng, device=device, **drawn)
    batch, tokens = inputs.shape[1:3]
    if loss == "softmax":
        labels = rng.integers(shape.outputs, size=(replicas, batch, tokens))
        return net_gradients(
            net, inputs, mean_cross_entropy(torch.from_numpy(labels).to(device)), lowest=lowest
        )
    direction = rng.normal(size=(replicas, batch, shape.outputs or shape.width))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True) * batch
    return net_gradients(
        net, inputs, one_position(torch.from_numpy(direction).float().to(device)), lowest=lowest
    )
