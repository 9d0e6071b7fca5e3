"""One definition of a net of attention layers, batched over independent replicas.

Everything carries a leading axis of replicas, so that many initialisations or trainings run in one batch: weights have shape
(replicas, heads, ...) and hidden states (replicas, batch, tokens, width).
"""
from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["Attention", "Net", "Norm", "attention_layer", "layer_norm"]

Attention = Literal["softmax", "linearised"]
Norm = Literal["none", "pre", "post"]


def attention_layer(hidden: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, *, attention: Attention = "softmax",
                    causal: bool = False) -> Tensor:
    """Multi-head attention without biases: sum over heads of A(X) X W_V W_O.

    A = softmax(X W_Q (X W_K)^T / sqrt(d_a)) by rows, or linearised, A = X W_Q (X W_K)^T without scale: a polynomial of degree 3 with
    integer coefficients where the weights are integers.

    Args:
        hidden: X, shape (replicas, batch, tokens, width).
        query, key, value: shape (replicas, heads, width, head_width).
        output: shape (replicas, heads, head_width, width).
        attention: what turns logits into weights.
        causal: whether a token sees only itself and earlier tokens.

    Returns:
        shape of `hidden`.

    Raises:
        ValueError: for an unknown kind of attention or shapes that do not fit.

    >>> one = torch.ones(1, 1, 1, 1)
    >>> attention_layer(torch.tensor([[[[1.0], [2.0]]]]), one, one, one, one, attention="linearised").flatten().tolist()
    [5.0, 10.0]

    Cost O(replicas * batch * tokens * heads * head_width * (width + tokens)).
    """
    if hidden.ndim != 4 or query.ndim != 4 or hidden.shape[0] != query.shape[0] or hidden.shape[-1] != query.shape[-2]:
        raise ValueError(f"hidden states need shape (replicas, batch, tokens, width) and weights (replicas, heads, width, head_width) with "
                         f"equal replicas and width; got {tuple(hidden.shape)} and {tuple(query.shape)}")
    X = hidden.unsqueeze(2)
    q, k, v = (X @ weight.unsqueeze(1) for weight in (query, key, value))
    logits = q @ k.transpose(-1, -2)
    future = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).triu(1) if causal else None
    if attention == "softmax":
        logits = logits / query.shape[-1] ** 0.5
        weights = torch.softmax(logits if future is None else logits.masked_fill(future, -torch.inf), dim=-1)
    elif attention == "linearised":
        weights = logits if future is None else logits.masked_fill(future, 0)
    else:
        raise ValueError(f"unknown attention {attention!r}; choose softmax or linearised")
    return (weights @ v @ output.unsqueeze(1)).sum(dim=2)


def layer_norm(hidden: Tensor, epsilon: float = 1e-12) -> Tensor:
    """Each token minus its mean over the width, divided by its standard deviation; no gain and no bias. BERT's epsilon by default."""
    return nn.functional.layer_norm(hidden, hidden.shape[-1:], eps=epsilon)


class Net(nn.Module):
    """A stack of attention layers with normal weights, for `replicas` independent initialisations at once.

    Args:
        depth, width, heads: shape of the net; `heads` divides `width`.
        replicas: how many independent nets.
        attention: softmax or linearised.
        residual: whether each layer adds its input (a skip connection).
        norm: no layer normalisation, before the attention (pre), or after the skip connection (post).
        causal: whether a token sees only itself and earlier tokens.
        std: standard deviation of every weight.
        rng: the source of the initial weights; NumPy's, so that they do not depend on the PyTorch version or device.
        dtype: float64 for measurements, float32 for training.

    Raises:
        ValueError: where heads do not divide the width, or an option is unknown.

    >>> net = Net(depth=2, width=4, heads=2, replicas=3, rng=np.random.default_rng(0))
    >>> [tuple(h.shape) for h in net.hidden_states(torch.zeros(3, 5, 7, 4, dtype=torch.float64))]
    [(3, 5, 7, 4), (3, 5, 7, 4), (3, 5, 7, 4)]
    """

    def __init__(self, *, depth: int, width: int, heads: int, rng: np.random.Generator, replicas: int = 1,
                 attention: Attention = "softmax", residual: bool = False, norm: Norm = "none", causal: bool = False,
                 std: float = 0.02, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        if min(depth, width, heads, replicas) < 1 or width % heads:
            raise ValueError("depth, width, heads and replicas must be at least 1 and heads divide width; "
                             f"got {depth}, {width}, {heads}, {replicas}")
        if norm not in ("none", "pre", "post") or attention not in ("softmax", "linearised"):
            raise ValueError(f"norm is none, pre or post and attention softmax or linearised; got {norm!r} and {attention!r}")
        self.attention, self.residual, self.norm, self.causal = attention, residual, norm, causal
        head_width = width // heads
        inward, outward = (replicas, heads, width, head_width), (replicas, heads, head_width, width)

        def weights(shape: tuple[int, ...]) -> nn.ParameterList:
            return nn.ParameterList(torch.from_numpy(rng.normal(0, std, shape)).to(dtype) for _ in range(depth))

        self.query, self.key, self.value, self.output = weights(inward), weights(inward), weights(inward), weights(outward)

    def layer(self, index: int, hidden: Tensor) -> Tensor:
        """One layer: normalisation and skip connection around `attention_layer`."""
        entering = layer_norm(hidden) if self.norm == "pre" else hidden
        leaving = attention_layer(entering, self.query[index], self.key[index], self.value[index], self.output[index],
                                  attention=self.attention, causal=self.causal)
        if self.residual:
            leaving = leaving + hidden
        return layer_norm(leaving) if self.norm == "post" else leaving

    def hidden_states(self, hidden: Tensor) -> list[Tensor]:
        """The hidden states before the first layer and after each layer."""
        states = [hidden]
        for index in range(len(self.query)):
            states.append(self.layer(index, states[-1]))
        return states

    def forward(self, hidden: Tensor) -> Tensor:
        """The hidden states after the last layer, shape (replicas, batch, tokens, width) like the input."""
        return self.hidden_states(hidden)[-1]
