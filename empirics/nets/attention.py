"""Attention: scores become weights, and weights mix the values; dropout of the weights.

On a CPU torch's fused kernel pays for every row as if it were long, and does not fuse dropout. For
what is trained there, `attend` therefore has a forward and a backward of its own, from batched
products, a softmax and few passes over the weights.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

Attention = Literal["softmax", "linearised", "relu", "hard"]
# Keys up to which `SoftmaxRows` is faster than torch's fused kernel with any mask, and up to which
# its own passes beat torch.softmax.
SHORT, SHORTEST = 32, 16


class SoftmaxRows(torch.autograd.Function):
    """softmax(scale q k^T) v on a CPU with dropout of the weights, and a backward that keeps the
    weights.

    Up to rounding it is what `attend` gives otherwise, gradients included. There is no double
    backward: asking for one raises an error, as torch's fused kernel does.

    Arguments of `apply`: query, key, value of one shape (..., tokens, d_a); the scale; bool
    `allowed` that broadcasts to (..., tokens, tokens), or None; the probability of dropout. A row
    that allows nothing receives 0.

    Cost O(tokens^2 d_a) for each head and sequence, forward and backward; tokens^2 weights of each
    are kept, twice with dropout.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float,
        allowed: Tensor | None,
        dropout: float,
    ) -> Tensor:
        """The mixed values, shape of `query`."""
        q, k, v = (x.flatten(0, -3) for x in (query, key, value))
        weights = _scaled_product(scale, q, k.transpose(1, 2))
        rows = weights.view(*query.shape[:-1], -1)
        if allowed is not None:
            # Finite, so that a row that allows nothing stays a number until its weights are set to
            # 0. A sum is faster than a masked fill.
            rows.add_(
                torch.zeros(allowed.shape, dtype=weights.dtype).masked_fill_(
                    ~allowed, torch.finfo(weights.dtype).min / 2
                )
            )
        if weights.shape[-1] > SHORTEST:
            weights = torch.softmax(weights, dim=-1)
        else:
            weights.sub_(weights.amax(dim=-1, keepdim=True)).exp_()
            weights.div_(weights.sum(dim=-1, keepdim=True))
        if allowed is not None and not allowed.any(dim=-1).all():
            weights.view(*query.shape[:-1], -1).mul_(allowed)
        mixing, ctx.share = weights, 1.0
        if dropout:
            kept, ctx.share = _kept(weights.shape, dropout, weights.dtype)
            mixing = kept.mul_(weights)
        ctx.save_for_backward(q, k, v, weights, mixing)
        ctx.scale = scale
        return _scaled_product(1 / ctx.share, mixing, v).view(query.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        """Gradients of query, key and value; the scores' gradient is m g - w sum(m g) for weights
        w, of which m are left and have gradient g."""
        query, key, value, weights, mixing = ctx.saved_tensors
        size, gradient = gradient.shape, gradient.flatten(0, -3)
        by_value = _scaled_product(1 / ctx.share, mixing.transpose(1, 2), gradient)
        scores = _scaled_product(1 / ctx.share, gradient, value.transpose(1, 2)).mul_(mixing)
        scores.addcmul_(weights, scores.sum(dim=-1, keepdim=True), value=-1)
        by_query, by_key = (
            _scaled_product(ctx.scale, scores, key),
            _scaled_product(ctx.scale, scores.transpose(1, 2), query),
        )
        return by_query.view(size), by_key.view(size), by_value.view(size), None, None, None


class Projections(torch.autograd.Function):
    """Queries, keys and values on a CPU: hidden @ weight + bias, the columns in three equal parts,
    each in memory of its own.

    The gradient of one wide product is gathered by a copy, that of three products by sums of their
    parts; here the products add up what reaches the hidden states. There is no double backward:
    asking for one raises an error.

    Arguments of `apply`: hidden states (replicas, rows, width), weights (replicas, width, 3
    width'), bias (replicas, 1, 3 width') or None.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Three tensors (replicas, rows, width')."""
        ctx.save_for_backward(hidden, weight)
        ctx.biased = bias is not None
        if bias is None:
            return tuple(torch.bmm(hidden, part) for part in weight.chunk(3, dim=-1))
        return tuple(
            torch.baddbmm(shift, hidden, part)
            for shift, part in zip(bias.chunk(3, dim=-1), weight.chunk(3, dim=-1), strict=True)
        )

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Gradients of hidden states, weights and bias."""
        hidden, weight = ctx.saved_tensors
        first, *others = (
            (g, part.transpose(1, 2))
            for g, part in zip(gradients, weight.chunk(3, dim=-1), strict=True)
        )
        by_hidden = torch.bmm(*first)
        for pair in others:
            by_hidden.baddbmm_(*pair)
        by_weight = torch.cat([torch.bmm(hidden.transpose(1, 2), g) for g in gradients], dim=-1)
        return (
            by_hidden,
            by_weight,
            torch.cat([g.sum(dim=1, keepdim=True) for g in gradients], dim=-1)
            if ctx.biased
            else None,
        )


def _scaled_product(factor: float, left: Tensor, right: Tensor) -> Tensor:
    """factor * left @ right for batches of matrices; the factor costs no pass of its own."""
    out = left.new_empty(left.shape[0], left.shape[1], right.shape[2])
    return out.baddbmm_(left, right, beta=0, alpha=factor)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    attention: Attention = "softmax",
    scale: float | None = None,
    mask: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """Weighted sums of the values, with weights from the scores s = scale * query . key.

    softmax: exp(s) over its sum, scale 1/sqrt(d_a). linearised: s itself, scale 1, so that integers
    stay integers. relu: max(s, 0), scale 1/n for n keys, whatever the mask. hard: the same weight
    for every key of the largest s, 0 for the others, so ties are averaged; scores that differ by
    rounding do not tie, and no gradient reaches queries and keys. A token whose mask allows nothing
    receives 0.

    Args:
        query, key, value: shape (..., heads, tokens, d_a), which is that of the result.
        scale: instead of the above.
        mask: bool, broadcast to (..., heads, tokens, tokens); True where the row may attend to the
            column.
        causal: whether a token sees only itself and earlier tokens, besides the mask.
        dropout: probability with which a weight is set to 0 and the others scaled up, see
            `dropped`.

    >>> x = torch.tensor([[[1.0], [2.0]]])
    >>> attend(x, x, x, attention="linearised").flatten().tolist()
    [5.0, 10.0]

    References: Levine et al. 2020, arXiv:2006.12467v3, eq. (3), for linearised; Ye et al. 2025,
    arXiv:2510.19753 (as reported), for relu.
    """
    if (
        attention == "softmax"
        and _trained_here(query, key, value)
        and (dropout or key.shape[-2] <= SHORT)
    ):
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        return SoftmaxRows.apply(query, key, value, scale, _allowed(mask, causal, key), dropout)
    # On a CPU dropout inside the fused kernel is slower than outside.
    if attention == "softmax" and not (dropout and query.device.type == "cpu"):
        allowed = _allowed(mask, causal, key) if mask is not None else None
        return functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=allowed,
            is_causal=causal and mask is None,
            dropout_p=dropout,
            scale=scale,
        )
    if scale is None and attention in ("softmax", "relu"):
        scale = query.shape[-1] ** -0.5 if attention == "softmax" else 1 / key.shape[-2]
    scores = (query if scale is None else query * scale) @ key.transpose(-1, -2)
    return dropped(_weights(scores, attention, _allowed(mask, causal, key)), dropout) @ value


def _trained_here(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether `SoftmaxRows` applies: one shape, on a CPU, and a gradient is asked for.
    torch.compile has kernels of its own."""
    return (
        query.device.type == "cpu"
        and query.ndim > 2
        and query.shape == key.shape == value.shape
        and query.numel() > 0
        and torch.is_grad_enabled()
        and (query.requires_grad or key.requires_grad or value.requires_grad)
        and not torch.compiler.is_compiling()
    )


def _allowed(mask: Tensor | None, causal: bool, key: Tensor) -> Tensor | None:
    if not causal:
        return mask
    past = torch.ones(key.shape[-2], key.shape[-2], dtype=torch.bool, device=key.device).tril()
    return past if mask is None else mask & past


def _weights(scores: Tensor, attention: Attention, allowed: Tensor | None) -> Tensor:
    if attention in ("softmax", "hard"):
        # Finite, so that a row that allows nothing stays a number until its weights are set to 0.
        scores = (
            scores
            if allowed is None
            else scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        )
    if attention == "softmax":
        weights = torch.softmax(scores, dim=-1)
    elif attention == "hard":
        best = scores == scores.amax(dim=-1, keepdim=True)
        weights = best / best.sum(dim=-1, keepdim=True).to(scores.dtype)
    else:
        weights = functional.relu(scores) if attention == "relu" else scores
    return weights if allowed is None else weights * allowed


def dropped(x: Tensor, probability: float) -> Tensor:
    """Dropout: each entry is 0 with that probability, and divided by the probability of staying
    otherwise.

    The draw is from torch's global generator of the device. On a CPU it takes 16 bits for each
    entry, four times as fast as torch's own, so that there the probability is rounded to a multiple
    of 2^-16.
    """
    if not probability:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, probability)
    kept, share = _kept(x.shape, probability, x.dtype)
    return x * kept.div_(share)


def _kept(size: torch.Size, probability: float, dtype: torch.dtype) -> tuple[Tensor, float]:
    """Zeros, and ones where an entry stays, drawn on the CPU; and the probability of staying."""
    entries, cut = math.prod(size), min(round(probability * 2**16), 2**16 - 1)
    # Without an upper end random_ draws all 64 bits, which are four numbers from -2^15 to 2^15 - 1.
    drawn = (
        torch.empty(-(-entries // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    )
    return drawn[:entries].view(size).to(dtype).ge_(cut - 2**15), 1 - cut / 2**16
