"""A transformer as its configuration describes it: every count of the advisor follows from it."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["decoder", "encoder", "encoder-decoder"]


@dataclass(frozen=True)
class Experts:
    """A mixture of experts in place of the feed-forward network of a layer."""

    count: int  # routed experts of a layer
    active: int  # routed experts that a token uses
    width: int  # inner width of one expert
    shared: int = 0  # experts that every token uses
    shared_width: int | None = None  # inner width of all shared experts together; None: shared * width
    dense_layers: int = 0  # first layers that keep the dense network of width `d_ff`
    router_bias: bool = False
    shared_gate: bool = False  # a weight vector that scales the shared expert (Qwen MoE)


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention (DeepSeek): keys and values pass through a narrow latent."""

    kv_rank: int
    q_rank: int | None  # None: queries are not compressed
    nope_width: int  # width of a head's query and key without positions
    rope_width: int  # width of the shared rotary part
    value_width: int  # width of a head's value


@dataclass(frozen=True)
class Architecture:
    """The shape of a transformer; by default that of LLaMA (gated, RMSNorm, rotary, no biases).

    `layers` is the depth a token passes through (of the decoder, where there are two stacks);
    `unique_layers` is how many of them have weights of their own.
    """

    layers: int
    width: int  # d, of the residual stream
    heads: int
    d_ff: int
    vocabulary: int
    kind: Kind = "decoder"
    name: str = ""
    family: str = ""  # model_type of the Hugging Face configuration
    kv_heads: int | None = None  # None: heads
    head_width: int | None = None  # None: width / heads
    gated: bool = True
    tied: bool = False
    context: int = 4096
    unique_layers: int | None = None  # None: layers; fewer where layers are looped or shared
    encoder_layers: int = 0  # of an encoder-decoder
    experts: Experts | None = None
    latent: Latent | None = None

    norm: Literal["rmsnorm", "layernorm", "none"] = "rmsnorm"
    norm_bias: bool = False
    norms_per_layer: int = 2
    final_norm: bool = True
    qk_norm: Literal["none", "head", "width"] = "none"  # on each head, or on all of them together
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False  # of the output layer
    learned_positions: int = 0  # rows of a learned position table
    window: int | None = None  # of sliding-window layers
    window_layers: int = 0  # how many layers have it
    extra: tuple[tuple[str, int], ...] = ()  # further weights (name, count), in no layer

    def with_(self, **changes: object) -> Architecture:
        """A copy with other fields."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def key_heads(self) -> int:
        """Heads of the keys and values."""
        return self.kv_heads or self.heads

    @property
    def head_size(self) -> int:
        """Width of one head."""
        return self.head_width or self.width // self.heads

    @property
    def aspect(self) -> float:
        """d / L."""
        return self.width / self.layers
