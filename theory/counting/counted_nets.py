"""Nets written down as lists of their tensors, the way checkpoints store them.

Sizes may be integers, which gives a count, or symbols, which gives the count of a family at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

Tensor = tuple[str, tuple[Any, ...]]


class CountedNet(NamedTuple):
    """The tensors outside the layers, and per stack the number of layers and those of one layer."""

    outside: list[Tensor]
    stacks: list[tuple[Any, list[Tensor]]]

    def parameters(self) -> Any:
        """All numbers in all tensors."""
        return _numbers(self.outside) + sum(n * _numbers(tensors) for n, tensors in self.stacks)

    def weights(self) -> Any:
        """Entries of weight matrices inside layers: no embeddings, positions, norms or biases."""
        return sum(
            n * _numbers([t for t in tensors if len(t[1]) == 2]) for n, tensors in self.stacks
        )


def _numbers(tensors: Iterable[Tensor]) -> Any:
    return sum(math.prod(shape) for _, shape in tensors)


def _norm(name: str, width: Any, bias: bool) -> list[Tensor]:
    return [(name + ".weight", (width,))] + ([(name + ".bias", (width,))] if bias else [])


def _linear(name: str, rows: Any, columns: Any, bias: bool) -> list[Tensor]:
    return [(name + ".weight", (rows, columns))] + ([(name + ".bias", (columns,))] if bias else [])


def _attention(name: str, width: Any, inner: Any, kv: Any, bias: bool) -> list[Tensor]:
    return [
        *_linear(name + ".query", width, inner, bias),
        *_linear(name + ".key", width, kv, bias),
        *_linear(name + ".value", width, kv, bias),
        *_linear(name + ".output", inner, width, bias),
    ]


def gpt2(
    depth: Any,
    width: Any,
    vocabulary: Any = 1,
    positions: Any = 1,
    ff: Any = None,
    inner: Any = None,
) -> CountedNet:
    """GPT-2: biases everywhere, two LayerNorms per layer and a last one, learned positions, tied
    read-out."""
    ff, inner = 4 * width if ff is None else ff, width if inner is None else inner
    layer = [
        *_norm("ln_1", width, True),
        *_attention("attn", width, inner, inner, True),
        *_norm("ln_2", width, True),
        *_linear("mlp.in", width, ff, True),
        *_linear("mlp.out", ff, width, True),
    ]
    outside: list[Tensor] = [("wte", (vocabulary, width)), ("wpe", (positions, width))]
    return CountedNet(outside + _norm("ln_f", width, True), [(depth, layer)])


def llama(depth: Any, width: Any, inner: Any, kv: Any, ff: Any, vocabulary: Any) -> CountedNet:
    """LLaMA: no biases, RMSNorm, gated feed-forward of three matrices, rotary positions, untied
    read-out, grouped queries."""
    layer = [
        *_norm("norm_1", width, False),
        *_attention("attn", width, inner, kv, False),
        *_norm("norm_2", width, False),
        *_linear("mlp.gate", width, ff, False),
        *_linear("mlp.up", width, ff, False),
        *_linear("mlp.down", ff, width, False),
    ]
    return CountedNet(
        [("embed", (vocabulary, width)), ("head", (width, vocabulary)), ("norm", (width,))],
        [(depth, layer)],
    )


def bert(depth: int, width: int, vocabulary: int, positions: int) -> CountedNet:
    """BERT: post-norm encoder with biases, token types, a norm on the embeddings and a pooler."""
    layer = gpt2(depth, width, vocabulary, positions).stacks[0][1]
    outside: list[Tensor] = [
        ("words", (vocabulary, width)),
        ("positions", (positions, width)),
        ("types", (2, width)),
    ]
    return CountedNet(
        [*outside, *_norm("norm", width, True), *_linear("pooler", width, width, True)],
        [(depth, layer)],
    )


def t5(depth: int, width: int, inner: int, ff: int, vocabulary: int, heads: int) -> CountedNet:
    """T5 1.0: `depth` layers in each stack, no biases, 32 relative-position buckets per stack, one
    tied embedding."""
    mlp = [
        *_norm("norm_ff", width, False),
        *_linear("wi", width, ff, False),
        *_linear("wo", ff, width, False),
    ]
    attention = partial(_attention, width=width, inner=inner, kv=inner, bias=False)
    encoder = [*_norm("norm_1", width, False), *attention("self"), *mlp]
    decoder = [*encoder, *_norm("norm_2", width, False), *attention("cross")]
    outside: list[Tensor] = [
        ("shared", (vocabulary, width)),
        ("encoder.bias", (32, heads)),
        ("decoder.bias", (32, heads)),
        ("encoder.norm", (width,)),
        ("decoder.norm", (width,)),
    ]
    return CountedNet(outside, [(depth, encoder), (depth, decoder)])
