"""A transformer as its configuration describes it: every count of the advisor follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .base.quantities import UsageError

ArchitectureKind = Literal["decoder", "encoder", "encoder-decoder"]


@dataclass(frozen=True)
class Experts:
    """A mixture of experts in place of the feed-forward network of a layer.

    Where the architecture has `mlp_bias`, every expert has biases too.
    """

    count: int  # routed experts of a layer
    active: int  # routed experts that a token uses
    width: int  # inner width of one expert
    shared: int = 0  # experts that every token uses
    shared_width: int | None = None  # inner width of all shared ones together; None: shared * width
    dense_layers: int = 0  # layers that keep the dense network of width `d_ff`, usually the first
    router_bias: bool = False
    shared_gate: bool = False  # a weight vector that scales the shared expert (Qwen MoE)

    @property
    def shared_size(self) -> int:
        """Inner width of all shared experts together."""
        return self.shared * self.width if self.shared_width is None else self.shared_width


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention (DeepSeek): keys and values pass through a narrow latent."""

    kv_rank: int
    q_rank: int | None  # None: queries are not compressed
    nope_width: int  # width of a head's query and key without positions
    rope_width: int  # width of the shared rotary part
    value_width: int  # width of a head's value


@dataclass(frozen=True)
class Part:
    """What some layers have beside attention and feed-forward network, or in their place."""

    kind: str  # what mixes the tokens there, a key of layer_kinds.json; empty: it mixes none
    layers: int  # layers that have it
    weights: tuple[tuple[str, tuple[int, ...]], ...]  # names and shapes, those of one layer
    state: int = 0  # numbers that a layer keeps of a sequence, however long
    products: int = 0  # multiplications of a token with numbers of that state
    kept: int | None = None  # numbers kept of a token for the backward pass; None: not known


@dataclass(frozen=True)
class Architecture:
    """The shape of a transformer; by default that of LLaMA (gated, RMSNorm, rotary, no biases).

    `layers` is the depth a token passes through (of the decoder, where there are two stacks);
    `unique_layers` is how many of them have weights of their own. A net with `parts` is a hybrid or
    recurrent one: `attention_layers` of its layers attend.

    Raises:
        UsageError: for sizes that no net can have.

    >>> Architecture(32, 4096, 32, 11008, 32000).head_size
    128
    """

    layers: int
    width: int  # d, of the residual stream
    heads: int
    d_ff: int  # inner width of the feed-forward network
    vocabulary: int  # rows of the embedding table
    kind: ArchitectureKind = "decoder"
    name: str = ""
    family: str = ""  # model_type of the Hugging Face configuration
    kv_heads: int | None = None  # None: heads
    head_width: int | None = None  # None: width / heads
    gated: bool = True
    tied: bool = False  # the output layer uses the embedding table
    context: int = 4096  # longest sequence
    unique_layers: int | None = None  # None: layers; fewer where layers are looped or shared
    encoder_layers: int = 0  # of an encoder-decoder
    experts: Experts | None = None
    latent: Latent | None = None

    norm: Literal["rmsnorm", "layernorm", "none"] = "rmsnorm"  # none: without weights
    norm_bias: bool = False
    norms_per_layer: int = 2  # a decoder with an encoder has one more, before its cross-attention
    final_norm: bool = True
    qk_norm: Literal["none", "head", "width"] = "none"  # on each head, or on all of them together
    qkv_bias: bool = False
    output_bias: bool = False  # of the projection after attention
    mlp_bias: bool = False
    head_bias: bool = False  # of the output layer
    sinks: bool = False  # one learned number per head in the softmax (gpt-oss)
    learned_positions: int = 0  # rows of a learned position table
    relative_buckets: int = 0  # rows of the relative position table, one per stack (T5)
    token_types: int = 0  # rows of the table of token types (BERT)
    embedding_width: int | None = None  # of a table that a projection widens; None: width
    embedding_sum: bool = False  # positions and types are added before that projection (ALBERT)
    embedding_norm: bool = False  # a norm on the embeddings (BERT, BLOOM)
    head_transform: bool = False  # a layer (its bias is mlp_bias) and a norm before the output
    window: int | None = None  # of sliding-window layers
    window_layers: int = 0  # how many layers have it
    extra: tuple[tuple[str, int], ...] = ()  # further weights (name, count), in no layer
    remarks: tuple[str, ...] = ()  # what the counts leave out, and what was assumed
    attention_gate: Literal["none", "head", "width"] = "none"  # a gate on heads, or on all numbers
    attention_layers: int | None = None  # None: layers
    mlp_layers: int | None = None  # with a feed-forward network or experts; None: layers
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        there = {
            "heads": self.attending > 0,
            "key_heads": self.attending > 0,
            "d_ff": self.dense_mlps > 0,
        }
        for what in ("layers", "width", "heads", "d_ff", "vocabulary", "context", "key_heads"):
            if getattr(self, what) < there.get(what, True):
                raise UsageError(
                    f"{what.replace('_', ' ')} = {getattr(self, what)}: "
                    "accepted are whole numbers from 1 on"
                )
        for what in ("attention_layers", "mlp_layers"):
            if not 0 <= (getattr(self, what) or 0) <= self.layers:
                raise UsageError(
                    f"{what.replace('_', ' ')} = {getattr(self, what)} of {self.layers} layers: "
                    f"accepted are 0 to {self.layers}"
                )
        whole = self.head_width is not None or self.latent is not None
        if self.attending and not whole and self.width % self.heads:
            raise UsageError(
                f"{self.heads} heads do not divide the width {self.width}; "
                "give a divisor, or the width of a head"
            )
        if self.attending and self.heads % self.key_heads:
            raise UsageError(
                f"{self.key_heads} key heads do not divide {self.heads} query heads; give a divisor"
            )
        if not 1 <= self.own_layers <= self.layers:
            raise UsageError(
                f"{self.own_layers} layers with weights of their own among "
                f"{self.layers} layers: accepted are 1 to {self.layers}"
            )
        if (self.kind == "encoder-decoder") != (self.encoder_layers > 0):
            raise UsageError(
                f"{self.encoder_layers} encoder layers in a net of kind {self.kind}: "
                "accepted is at least one in an encoder-decoder, none elsewhere"
            )
        e = self.experts
        if e and not 1 <= e.active <= e.count:
            raise UsageError(f"{e.active} active experts of {e.count}: accepted are 1 to {e.count}")
        if e and not 0 <= e.dense_layers <= self.own_mlps:
            raise UsageError(
                f"{e.dense_layers} dense layers among {self.own_mlps}: "
                f"accepted are 0 to {self.own_mlps}"
            )

    def with_(self, **changes: object) -> Architecture:
        """A copy with other fields."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def key_heads(self) -> int:
        """Heads of the keys and values."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def head_size(self) -> int:
        """Width of one head, of its query and key."""
        if self.latent:
            return self.latent.nope_width + self.latent.rope_width
        return self.head_width or (self.width // self.heads if self.heads else 0)

    @property
    def value_size(self) -> int:
        """Width of the value of one head."""
        return self.latent.value_width if self.latent else self.head_size

    @property
    def own_layers(self) -> int:
        """Layers with weights of their own."""
        return self.layers if self.unique_layers is None else self.unique_layers

    @property
    def attending(self) -> int:
        """Layers that attend."""
        return self.layers if self.attention_layers is None else self.attention_layers

    @property
    def own_mlps(self) -> int:
        """Layers with a feed-forward network or experts of their own."""
        return self.own_layers if self.mlp_layers is None else self.mlp_layers

    @property
    def dense_mlps(self) -> int:
        """Those of them without experts."""
        return self.experts.dense_layers if self.experts else self.own_mlps

    @property
    def mixed(self) -> bool:
        """True if layers are of several kinds, or of another one than attention."""
        partial = self.attending < self.layers or self.own_mlps < self.own_layers
        return partial or bool(self.parts)

    @property
    def layer_kinds(self) -> dict[str, int]:
        """Layers by what mixes tokens in them; one with two kinds counts for both.

        >>> Architecture(4, 8, 2, 16, 10, window=4, window_layers=3).layer_kinds
        {'attention': 1, 'sliding-window': 3}
        """
        near = min(self.window_layers, self.attending) if self.window else 0
        kinds = {"attention": self.attending - near, "sliding-window": near}
        for part in self.parts:
            if part.kind:
                kinds[part.kind] = max(part.layers, kinds.get(part.kind, 0))
        return {kind: layers for kind, layers in kinds.items() if layers}

    @property
    def kinds_unknown(self) -> list[str]:
        """Kinds of layers, keys of layer_kinds.json, of which it is not known what they keep for
        the backward pass."""
        return list(dict.fromkeys(p.kind for p in self.parts if p.kind and p.kept is None))

    @property
    def aspect(self) -> float:
        """d / L."""
        return self.width / self.layers
