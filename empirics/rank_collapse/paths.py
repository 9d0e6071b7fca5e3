"""Paths through the heads and skips of a net, and what those of each length give alone.

Two readings of "alone" differ. In the path decomposition the attention matrices, and the scales of
the normalisations, are those of the unmodified forward pass: then the terms of all paths add up to
it, exactly. In the published measurement each path runs as a net of its own: attention is computed
from the states on the path, which are normalised after each head; then they do not add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..nets.net import Factors, Net, layer_norm


class FrozenNorm(NamedTuple):
    """Layer normalisation with the scales of one forward pass: linear in x, plus a shift.

    Attributes:
        scale: 1 / standard deviation of each token, (R, B, N, 1).
        gain, shift: (R, 1, 1, width), or None for 1 and 0.
    """

    scale: Tensor
    gain: Tensor | None
    shift: Tensor | None

    def linear(self, states: Tensor) -> Tensor:
        """Without the shift, of (..., R, B, N, width)."""
        moved = (states - states.mean(dim=-1, keepdim=True)) * self.scale
        return moved if self.gain is None else moved * self.gain


class FrozenLayer(NamedTuple):
    """An attention layer with the weights and scales of one forward pass.

    Attributes:
        attention: P, (R, B, H, N, N).
        value, output: (R, H, width, head_width) and (R, H, head_width, width).
        bias: what attention adds that does not depend on the tokens, (R, 1, 1, width); None for 0.
        before, after: norms "pre" and "post", or None.
        factors: of the sublayer.
    """

    attention: Tensor
    value: Tensor
    output: Tensor
    bias: Tensor | None
    before: FrozenNorm | None
    after: FrozenNorm | None
    factors: Factors

    def heads(self, states: Tensor, chosen: Tensor | None = None) -> Tensor:
        """What the heads add to the hidden states (..., R, B, N, width), without constants.

        Args:
            states: where they read.
            chosen: weights of the heads, (..., R, H); None: 1 each.
        """
        entering = states if self.before is None else self.before.linear(states)
        values = torch.einsum("...rbnw,rhwv->...rbhnv", entering, self.value)
        if chosen is not None:
            values = values * chosen[..., None, :, None, None]
        mixed = torch.einsum("rbhmn,...rbhnv->...rbhmv", self.attention, values)
        added = torch.einsum("...rbhmv,rhvw->...rbmw", mixed, self.output)
        return self._left(added * (self.factors.entering * self.factors.branch))

    def skip(self, states: Tensor) -> Tensor:
        """What the skip connection hands on, without constants."""
        return self._left(states * self.factors.skip)

    def _left(self, states: Tensor) -> Tensor:
        return states if self.after is None else self.after.linear(states)

    def constants(self) -> tuple[Tensor | None, Tensor | None]:
        """What is added whatever the tokens are: by the norm behind the layer, and by attention."""
        norm = None if self.after is None else self.after.shift
        added = self.bias
        if self.before is not None and self.before.shift is not None:
            # Rows of P sum to 1, so that a vector that all tokens have passes unmixed.
            through = torch.einsum(
                "rabw,rhwv,rhvu->rabu", self.before.shift, self.value, self.output
            )
            through = through * self.factors.entering
            added = through if added is None else added + through
        if added is not None:
            added = added * self.factors.branch
            added = added if self.after is None else self.after.linear(added)
        return norm, added


@dataclass(frozen=True)
class FrozenPass:
    """One forward pass of a net without MLP, as a linear function of the hidden states at its
    start.

    Attributes:
        start: hidden states before the first layer with heads, (R, B, N, width).
        layers: those from there on, in order; leading ones whose branch has the factor 0 have no
            heads, and belong to the start.
        residual: whether there are skip connections.
        final: the norm behind the last layer, or None.
        read_out, read_out_bias: (R, width, outputs) and (R, 1, outputs), or None.
    """

    start: Tensor
    layers: tuple[FrozenLayer, ...]
    residual: bool
    final: FrozenNorm | None
    read_out: Tensor | None
    read_out_bias: Tensor | None

    def by_length(self) -> Tensor:
        """The sum over all paths of each length 0..L, (L + 1, R, B, N, width), before the final
        norm; over the lengths it sums to the hidden states of the forward pass.

        A path of length l passes l heads and L - l skips. By distributivity
        X_{i+1}^{(l)} = skip(X_i^{(l)}) + heads(X_i^{(l-1)}): no path is enumerated. A vector that a
        norm adds starts paths of length 0 there; one that attention adds has passed a head.

        Cost: L + 1 forward passes, with L + 1 times their memory.
        """
        states = torch.zeros(
            len(self.layers) + 1,
            *self.start.shape,
            dtype=self.start.dtype,
            device=self.start.device,
        )
        states[0] = self.start
        for layer in self.layers:
            following = layer.skip(states) if self.residual else torch.zeros_like(states)
            following[1:] += layer.heads(states[:-1])
            for length, constant in enumerate(layer.constants()):
                if constant is not None:
                    following[length] += constant
            states = following
        return states

    def along(self, paths: Tensor) -> Tensor:
        """The term P_path X W_path of each path, without constants: (M, R, B, N, width).

        Args:
            paths: (M, R, L) or (M, 1, L), heads 0..H-1, or H for the skip; see `draw_paths`.

        Cost: M forward passes.
        """
        paths = paths.expand(-1, self.start.shape[0], -1)
        states = self.start.expand(len(paths), *self.start.shape)
        for index, layer in enumerate(self.layers):
            states = self._step(layer, states, paths[:, :, index])
        return states

    def _step(self, layer: FrozenLayer, states: Tensor, taken: Tensor) -> Tensor:
        count = layer.value.shape[1]
        chosen = functional.one_hot(taken, count + 1).to(states)
        skipped = layer.skip(states) * chosen[..., -1, None, None, None]
        return skipped + layer.heads(states, chosen[..., :-1])

    def logits(self, states: Tensor) -> Tensor:
        """What the read-out says of hidden states (..., R, B, N, width), such as a sum over some
        paths; the final norm has the scales of the forward pass."""
        if self.final is not None:
            states = self.final.linear(states)
            states = states if self.final.shift is None else states + self.final.shift
        return _read_out(states, self.read_out, self.read_out_bias)


def frozen(net: Net, inputs: Tensor) -> FrozenPass:
    """Run a net, and keep what makes it linear: attention matrices and scales of normalisations.

    Args:
        net: R replicas of softmax attention without MLP.
        inputs: as `Net.embed`.

    Raises:
        ValueError: for a net with MLPs, which no choice of scales makes linear, or other attention.

    >>> import numpy as np
    >>> from depthlaw.empirics.nets.net import NetShape
    >>> shape = NetShape(width=4, depth=2, heads=2, norm="post")
    >>> net = Net(shape, rng=np.random.default_rng(0), std=1.0, dtype=torch.float64)
    >>> inputs = torch.arange(12, dtype=torch.float64).reshape(1, 1, 3, 4).sin()
    >>> parts = frozen(net, inputs).by_length()
    >>> parts.shape, bool((parts.sum(dim=0) - net(inputs)).abs().max() < 1e-12)
    (torch.Size([3, 1, 1, 3, 4]), True)

    References: dong2021, arXiv:2103.03404, Theorem 2.1 and section 3.1; scales of normalisations
    are held fixed here as attention is there.
    """
    shape = net.shape
    if shape.mlp or shape.attention != "softmax":
        raise ValueError(
            f"mlp={shape.mlp}, attention={shape.attention!r}: only softmax attention "
            "without MLP is a sum over paths"
        )
    with torch.no_grad():
        start, headed = _start(net, inputs)
        states, layers = start, []
        for layer in headed:
            states, kept = _frozen_layer(net, layer, states)
            layers.append(kept)
        final = None
        if shape.norm == "pre":
            affine = (net.final_gain, net.final_shift) if shape.biases else None
            final = _norm(states, affine, shape.epsilon)
        read_out = (
            (net.read_out, net.read_out_bias if shape.biases else None)
            if (shape.outputs)
            else (None, None)
        )
        return FrozenPass(start, tuple(layers), shape.residual, final, *read_out)


def _start(net: Net, inputs: Tensor) -> tuple[Tensor, list[int]]:
    """The hidden states before the first layer with heads, and the layers from there on.

    Leading layers whose branch has the factor 0 only normalise: with norm "post" one of them is the
    normalisation that BERT has behind its embeddings.
    """
    shape = net.shape
    states, layers = net.embed(inputs), [index % shape.depth for index in range(shape.layers)]
    while layers and shape.factors and shape.factors[layers[0] * shape.sublayers].branch == 0:
        states = net.layer(layers.pop(0), states)
    return states, layers


def _frozen_layer(net: Net, layer: int, states: Tensor) -> tuple[Tensor, FrozenLayer]:
    """The states after a layer, and the layer made linear."""
    shape = net.shape
    affine = (
        (net.attention_gain[layer], net.attention_shift[layer])
        if (shape.biases and shape.norm != "none")
        else None
    )
    factors = shape.factors[layer * shape.sublayers] if shape.factors else Factors()
    before = _norm(states, affine, shape.epsilon) if shape.norm == "pre" else None
    entering = states
    if before is not None:
        entering = before.linear(states)
        entering = entering if before.shift is None else entering + before.shift
    attention, bias = _attention(net, layer, entering * factors.entering)
    _, _, value, output = net.attention_weights(layer)
    kept = FrozenLayer(attention, value, output, bias, before, None, factors)
    _, constant = kept.constants()
    leaving = kept.heads(states)
    leaving = leaving if constant is None else leaving + constant
    if shape.residual:
        leaving = leaving + factors.skip * states
    if shape.norm == "post":
        after = _norm(leaving, affine, shape.epsilon)
        kept, leaving = kept._replace(after=after), after.linear(leaving)
        leaving = leaving if after.shift is None else leaving + after.shift
    return leaving, kept


def _norm(states: Tensor, affine: tuple[Tensor, Tensor] | None, epsilon: float) -> FrozenNorm:
    scale = (states.var(dim=-1, unbiased=False, keepdim=True) + epsilon).rsqrt()
    gain, shift = (entry.unsqueeze(1) for entry in affine) if affine else (None, None)
    return FrozenNorm(scale, gain, shift)


def _attention(net: Net, layer: int, entering: Tensor) -> tuple[Tensor, Tensor | None]:
    """Attention matrices (R, B, H, N, N), and what value and output biases add, (R, 1, 1,
    width)."""
    shape = net.shape
    query, key, _, output = net.attention_weights(layer)
    parts, bias = [query, key], None
    reading = [torch.einsum("rbnw,rhwv->rbhnv", entering, part) for part in parts]
    if shape.biases:
        shifts = net.qkv_bias[layer].unflatten(-1, (3, shape.heads, -1))[:, 0]  # (R, 3, H, v)
        reading = [part + shifts[:, i, None, :, None] for i, part in enumerate(reading)]
        through = torch.einsum("rhv,rhvw->rw", shifts[:, 2], output)
        bias = (through[:, None] + net.output_bias[layer]).unsqueeze(1)
    width = shape.width // shape.heads
    scale = width**-0.5 if shape.scale is None else shape.scale
    scores = scale * reading[0] @ reading[1].transpose(-1, -2)
    if shape.causal:
        tokens = scores.shape[-1]
        later = torch.ones(tokens, tokens, dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(dim=-1), bias


def _read_out(states: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is None:
        return states
    logits = torch.einsum("...rbnw,rwo->...rbno", states, weight)
    return logits if bias is None else logits + bias.unsqueeze(1)


def draw_paths(
    generator: torch.Generator,
    *,
    length: int,
    depth: int,
    heads: int,
    count: int,
    replicas: int = 1,
) -> Tensor:
    """Random paths of one length: `length` layers drawn without replacement, in each a uniform
    head; the other layers are skipped.

    Returns:
        int64 (count, replicas, depth): heads 0..heads-1, or `heads` for the skip.

    Raises:
        ValueError: for a length that is not between 0 and the depth.

    >>> paths = draw_paths(torch.Generator().manual_seed(0), length=2, depth=5, heads=3, count=4)
    >>> (paths < 3).sum(dim=-1).flatten().tolist()
    [2, 2, 2, 2]
    """
    if not 0 <= length <= depth:
        raise ValueError(f"length={length}: accepted are 0 to depth={depth}")
    size = (count, replicas, depth)
    taken = torch.rand(size, generator=generator, device=generator.device).argsort(dim=-1) < length
    which = torch.randint(0, heads, size, generator=generator, device=generator.device)
    return torch.where(taken, which, heads)


def isolated(net: Net, inputs: Tensor, paths: Tensor) -> Tensor:
    """Hidden states (M, R, B, N, width) at the end of each path, run as the published measurement
    does.

    Along a path attention is computed from the states on that path. After each head its output
    (with the biases of values and output) is layer-normalised without gain and shift, and nothing
    else is added: the skip inside the layer and the norm's own gain and shift are dropped. A
    skipped layer leaves the states as they are. The authors then add the states of 5 or 20 paths,
    normalise the sum, and read it out; see `read_isolated`.

    So each path counts the same however small its term is, and the sum over all paths is not the
    forward pass.

    Args:
        net: R replicas without MLP, of norm "post" or "none".
        inputs: as `Net.embed`.
        paths: see `draw_paths`.

    Raises:
        ValueError: for a net with MLPs or norm "pre", which no published net has.

    Cost: M forward passes.
    References: modeling_san.py with --no_sub_path, github.com/twistedcubic/attention-rank-collapse,
    commit 759fb45.
    """
    shape = net.shape
    if shape.mlp or shape.attention != "softmax" or shape.norm == "pre":
        raise ValueError(
            f"mlp={shape.mlp}, attention={shape.attention!r}, norm={shape.norm!r}: "
            "accepted are mlp=0, softmax, and post or none"
        )
    with torch.no_grad():
        start, layers = _start(net, inputs)
        ends = []
        for path in paths.expand(-1, start.shape[0], -1):
            states = start
            for index, layer in enumerate(layers):
                states, _ = _isolated_layer(net, layer, states, path[:, index])
            ends.append(states)
        return torch.stack(ends)


def _isolated_layer(net: Net, layer: int, states: Tensor, taken: Tensor) -> tuple[Tensor, Tensor]:
    """States after the head that each replica takes, or the skip, int64 (R,); and its attention
    matrix (R, B, N, N), the identity for the skip."""
    shape = net.shape
    attention, _ = _attention(net, layer, states)
    _, _, value, output = net.attention_weights(layer)
    chosen = functional.one_hot(taken, shape.heads + 1).to(states)
    kept = FrozenLayer(attention, value, output, None, None, None, Factors())
    leaving = kept.heads(states, chosen[:, :-1])
    if shape.biases:
        shifts = net.qkv_bias[layer].unflatten(-1, (3, shape.heads, -1))[:, 0, 2]
        through = torch.einsum("rh,rhv,rhvw->rw", chosen[:, :-1], shifts, output)
        leaving = leaving + (through[:, None] + net.output_bias[layer]).unsqueeze(1)
    skipped = (taken == shape.heads)[:, None, None, None]
    return (
        torch.where(skipped, states, layer_norm(leaving, shape.epsilon)),
        _taken(attention, chosen),
    )


def _taken(attention: Tensor, chosen: Tensor) -> Tensor:
    """The attention matrix of the chosen head, or the identity, (R, B, N, N), for one-hot (R,
    H + 1)."""
    one = torch.eye(attention.shape[-1]).to(attention)
    skipped = chosen[:, -1, None, None, None]
    return torch.einsum("rbhmn,rh->rbmn", attention, chosen[:, :-1]) + skipped * one


def read_isolated(net: Net, ends: Tensor) -> Tensor:
    """Logits (R, B, N, outputs) of the normalised sum over isolated paths (M, R, B, N, width)."""
    total = layer_norm(ends.sum(dim=0), net.shape.epsilon)
    weight = net.read_out if net.shape.outputs else None
    bias = net.read_out_bias if net.shape.outputs and net.shape.biases else None
    with torch.no_grad():
        return _read_out(total, weight, bias)


def product_gaps(net: Net, inputs: Tensor, paths: Tensor, *, recomputed: bool = False) -> Tensor:
    """How far the product of the attention matrices on each path is from rank one: (M, R, B).

    The Frobenius distance of P_path = P^L ... P^1 from its best approximation of rank one, divided
    by its Frobenius norm; on a skipped layer P is the identity.

    Args:
        net, inputs, paths: as `isolated`; other norms are accepted where nothing is recomputed.
        recomputed: attention is computed from the states on the path, see `isolated`, in place of
            those of the unmodified forward pass.

    Raises:
        ValueError: as `frozen`, or as `isolated`.

    >>> from depthlaw.empirics.nets.net import NetShape
    >>> net = Net(NetShape(width=4, depth=2, heads=2), dtype=torch.float64)  # attention is uniform
    >>> paths = torch.tensor([[[2, 2]], [[0, 2]]])
    >>> product_gaps(net, torch.zeros(1, 1, 4, 4, dtype=torch.float64), paths).flatten().round(
    ...     decimals=3).tolist()
    [0.866, 0.0]

    Cost: M products of L matrices (N, N), and their singular values.
    References: single-path experiment of walking_casual_transformers.ipynb, commit 38b5df6, which
    multiplies in increasing order of layers.
    """
    kept = frozen(net, inputs)
    if recomputed:
        isolated(net, inputs[:, :1], paths[:1])  # refuses what has no such paths
    gaps = []
    with torch.no_grad():
        _, layers = _start(net, inputs)
        for path in paths.expand(-1, kept.start.shape[0], -1):
            states, product = kept.start, torch.eye(kept.start.shape[2]).to(kept.start)
            for index, layer in enumerate(layers):
                if recomputed:
                    states, matrix = _isolated_layer(net, layer, states, path[:, index])
                else:
                    matrix = _taken(
                        kept.layers[index].attention,
                        functional.one_hot(path[:, index], net.shape.heads + 1).to(states),
                    )
                product = matrix @ product
            values = torch.linalg.svdvals(product).square()
            gaps.append((values[..., 1:].sum(dim=-1) / values.sum(dim=-1)).sqrt())
    return torch.stack(gaps)
