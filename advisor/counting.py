"""What a net costs: its weights one by one, three named counts, operations per token, memory.

Everything follows from the list of weights. The counts are those of the net with its output layer,
as Hugging Face transformers builds it (a causal, masked or sequence-to-sequence language model).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .architecture import Architecture
from .base.quantities import UsageError

Role = Literal[
    "embedding",
    "position",
    "attention",
    "mixer",
    "mlp",
    "expert",
    "router",
    "norm",
    "head",
    "other",
]
Place = Literal["input", "layers", "output"]
# The layers that a weight stands in: of the only stack or the decoder, of the encoder, or the
# decoder's attention to the encoder; none for tables and output.
LayerStack = Literal["none", "main", "encoder", "cross-attention"]
# What tensor parallelism cuts a weight by; "unknown" where no source here says it.
Cut = Literal["whole", "heads", "key heads", "width", "vocabulary", "unknown"]


class Weight(NamedTuple):
    """A weight tensor of the net.

    `copies` is how many of that shape are stored (0: it is another weight, used again); `active`,
    how many of them count as active; `passes`, how often a token is multiplied with one of them.
    Tensor parallelism cuts it by `cut`, into at most so many equal `pieces`. `kind` is what mixes
    tokens by it, a key of layer_kinds.json, or empty. The name is for people: nothing reads it.
    """

    name: str
    shape: tuple[int, ...]
    copies: int
    role: Role
    active: int
    passes: int
    stack: LayerStack
    cut: Cut
    pieces: int
    kind: str

    @property
    def stored(self) -> int:
        """Numbers stored in all copies."""
        return self.copies * math.prod(self.shape)

    @property
    def is_token_table(self) -> bool:
        """Whether it has a row for each token of the vocabulary, for the input."""
        return self.role == "embedding" and self.cut == "vocabulary"


class Count(NamedTuple):
    """The named counts of parameters, exact.

    `total`: everything stored, a tied table once. `nonembedding`: total without the tables of
    tokens, positions and token types and without an untied output layer (with its bias); norms,
    biases and projections of embeddings stay in. `active`: total without the routed experts that a
    token does not use; tables and output layer in full. `embedding`: the table of tokens.
    """

    total: int
    nonembedding: int
    active: int
    embedding: int


@dataclass(frozen=True)
class Flops:
    """Floating-point operations per token: two for a multiplication and an addition.

    Matrix products alone are counted: no softmax, norms, activations or residual sums.
    """

    weights: int  # forward, products with weights, the output layer included
    attention: int  # forward, attention scores and averages, and products with recurrent states
    context: int  # tokens of the sequence behind `attention`
    causal: bool  # whether scores after a token's position are left out

    @property
    def forward(self) -> int:
        """Of a forward pass."""
        return self.weights + self.attention

    @property
    def training(self) -> int:
        """Of a forward and a backward pass: three times the forward pass."""
        return 3 * self.forward


@dataclass(frozen=True)
class Memory:
    """Bytes. What only training needs is None for a precision in which nothing is trained;
    activations of hybrid and recurrent nets are not estimated."""

    weights: int
    gradients: int | None
    optimiser: dict[str, int] | None  # by what is stored
    activations: int | None  # stored by the forward for the backward pass
    kv_cache: int  # keys, values and recurrent states of a sequence at full context

    @property
    def training(self) -> int | None:
        """Weights, gradients, optimiser and activations together."""
        if self.gradients is None or self.optimiser is None or self.activations is None:
            return None
        return self.weights + self.gradients + sum(self.optimiser.values()) + self.activations

    @property
    def serving(self) -> int:
        """Weights and KV cache together."""
        return self.weights + self.kv_cache


# --- weights --------------------------------------------------------------------------------------


def weights(a: Architecture) -> tuple[Weight, ...]:
    """Every weight tensor of a net; those of equal layers are one entry with several copies.

    >>> [w.name for w in weights(Architecture(2, 8, 2, 16, 10, tied=True)) if w.role != "norm"]
    ['tokens', 'q', 'k', 'v', 'o', 'gate', 'up', 'down', 'output']
    """
    return tuple(w for place in by_place(a).values() for w in place)


def by_place(a: Architecture) -> dict[Place, tuple[Weight, ...]]:
    """The same by where they stand: before the layers, in them, after them."""
    return {"input": tuple(_inputs(a)), "layers": tuple(_stacks(a)), "output": tuple(_output(a))}


def count(a: Architecture) -> Count:
    """The named counts of the parameters of a net, exact.

    >>> count(Architecture(32, 4096, 32, 11008, 32000))
    Count(total=6738415616, nonembedding=6476271616, active=6738415616, embedding=131072000)
    """
    total = outside = active = embedding = 0
    for w in weights(a):
        size = math.prod(w.shape)
        total += w.copies * size
        active += w.active * size
        if w.role in ("embedding", "position", "head"):
            outside += w.copies * size
        if w.is_token_table:
            embedding += w.copies * size
    return Count(total, total - outside, active, embedding)


def passed(a: Architecture) -> int:
    """The parameters that a token uses, those of looped layers as often as it passes them.

    >>> once = Architecture(4, 8, 2, 16, 10, tied=True)
    >>> passed(once) == count(once).active == passed(once.with_(unique_layers=1))
    True
    """
    again = sum(
        (w.passes - w.active) * math.prod(w.shape)
        for w in by_place(a)["layers"]
        if w.passes > w.active
    )
    return count(a).active + again


def by_part(a: Architecture) -> dict[str, int]:
    """All parameters by what they are of: a role, or the kind of a part that mixes tokens.

    >>> sorted(by_part(Architecture(2, 8, 2, 16, 10, tied=True)).items())
    [('attention', 512), ('embedding', 80), ('mlp', 768), ('norm', 40)]
    """
    sizes: Counter[str] = Counter()
    for w in weights(a):
        if w.stored:
            sizes[w.kind or w.role] += w.stored
    return dict(sizes)


def per_layer(a: Architecture) -> int:
    """Parameters of one layer: of a decoder's, and with experts of a layer that has them; where
    layers are of several kinds, their mean, rounded down."""
    if a.mixed:
        return sum(w.stored for w in _layers(a)) // a.layers
    e = a.experts
    if e:
        e = None if e.dense_layers == a.own_layers else replace(e, dense_layers=0)
    return sum(w.stored for w in _layers(a.with_(layers=1, unique_layers=None, experts=e)))


# What cuts a weight, and into how many pieces.
_By = tuple[Cut, int]
_WHOLE: _By = ("whole", 1)


class _Matrix(NamedTuple):
    """A weight of a layer, without how often it is there."""

    name: str
    role: Role
    shape: tuple[int, ...]
    by: _By = _WHOLE
    kind: str = ""


def _inputs(a: Architecture) -> Iterator[Weight]:
    table = a.embedding_width or a.width
    summed = table if a.embedding_sum else a.width
    by_token: _By = ("vocabulary", a.vocabulary)
    yield from _copies([_Matrix("tokens", "embedding", (a.vocabulary, table), by_token)], 1, 0)
    if a.learned_positions:
        yield from _copies([_Matrix("positions", "position", (a.learned_positions, summed))], 1, 0)
    if a.token_types:
        yield from _copies([_Matrix("token types", "embedding", (a.token_types, summed))], 1, 0)
    if a.embedding_norm:
        yield from _copies(_norm(a, "embedding norm", summed))
    if a.embedding_width:
        yield from _copies(
            _linear("embedding projection", "other", table, a.width, a.embedding_sum)
        )
    yield from _copies(_Matrix(name, "other", (size,)) for name, size in a.extra)


def _output(a: Architecture) -> Iterator[Weight]:
    table = a.embedding_width or a.width
    if a.final_norm:
        yield from _copies(_norm(a, "final norm", a.width))
        if a.encoder_layers:
            yield from _copies(_norm(a, "final norm of the encoder", a.width))
    if a.head_transform:
        yield from _copies(_linear("transform", "other", a.width, table, a.mlp_bias))
        yield from _copies(_norm(a, "transform norm", table))
    elif a.embedding_width:
        yield from _copies(_linear("output projection", "other", a.width, table, False))
    by_token: _By = ("vocabulary", a.vocabulary)
    output = _Matrix("output", "head", (table, a.vocabulary), by_token)
    yield from _copies([output], 0 if a.tied else 1)
    if a.head_bias:
        yield from _copies([_Matrix("output bias", "head", (a.vocabulary,), by_token)])


def _stacks(a: Architecture) -> Iterator[Weight]:
    if a.relative_buckets:
        shape = (a.relative_buckets, a.heads)
        stacks = 2 if a.encoder_layers else 1
        yield from _copies([_Matrix("relative positions", "position", shape)], stacks, 0)
    if a.encoder_layers:
        encoder = a.with_(
            kind="encoder", encoder_layers=0, layers=a.encoder_layers, unique_layers=None
        )
        for w in _layers(encoder):
            yield w._replace(name="encoder " + w.name, stack="encoder")
    yield from _layers(a)


def _layers(a: Architecture) -> Iterator[Weight]:
    """The weights of all layers of a stack; of a decoder with an encoder, of the decoder."""
    own, depth, crossed = a.own_layers, a.layers, a.kind == "encoder-decoder"
    if a.attending:
        yield from _copies(_attention(a, ""), own - (depth - a.attending), a.attending, "main")
    for part in a.parts:
        role: Role = "mixer" if part.kind else "mlp"
        for name, shape in part.weights:
            named = f"{part.kind or 'channel'} {name}"
            weight = _Matrix(named, role, shape, ("unknown", 1), part.kind)
            yield from _copies([weight], part.layers, part.layers, "main")
    if crossed:
        yield from _copies(_attention(a, "cross-attention "), own, depth, "cross-attention")
    for i in range(a.norms_per_layer + crossed):
        yield from _copies(_norm(a, f"norm {i + 1}", a.width), own, depth, "main")
    e = a.experts
    # Where layers are looped, those with experts are: the dense ones come first and once.
    dense, bare = a.dense_mlps, own - a.own_mlps
    if dense:
        often = dense if e else depth - bare
        yield from _copies(_mlp(a, "", "mlp", a.d_ff), dense, often, "main")
    if e is None or dense == a.own_mlps:
        return
    sparse, passes = a.own_mlps - dense, depth - bare - dense
    router = _linear("router", "router", a.width, e.count, e.router_bias)
    yield from _copies(router, sparse, passes, "main")
    for w in _copies(_mlp(a, "expert ", "expert", e.width), sparse, passes * e.active, "main"):
        yield w._replace(copies=sparse * e.count, active=sparse * e.active)
    if e.shared_size:
        always = _mlp(a, "shared expert ", "mlp", e.shared_size)
        yield from _copies(always, sparse, passes, "main")
    if e.shared_gate:
        gate = _linear("shared expert's gate", "router", a.width, 1, False)
        yield from _copies(gate, sparse, passes, "main")


def _attention(a: Architecture, of: str) -> Iterator[_Matrix]:
    d, m = a.width, a.latent
    queries, keys = a.heads * a.head_size, a.key_heads * a.head_size
    by_head: _By = ("heads", a.heads)
    by_key: _By = ("key heads", a.key_heads)
    if m:
        # A bias stands on what compresses, not on what expands.
        if m.q_rank:
            yield from _linear(of + "q down", "attention", d, m.q_rank, a.qkv_bias)
            yield from _norm(a, of + "q norm", m.q_rank)
        yield from _linear(of + "q", "attention", m.q_rank or d, queries, False, by_head)
        yield from _linear(of + "kv down", "attention", d, m.kv_rank + m.rope_width, a.qkv_bias)
        yield from _norm(a, of + "kv norm", m.kv_rank)
        expanded = a.heads * (m.nope_width + m.value_width)
        yield from _linear(of + "kv", "attention", m.kv_rank, expanded, False, by_head)
    else:
        for name, size, by in (("q", queries, by_head), ("k", keys, by_key), ("v", keys, by_key)):
            yield from _linear(of + name, "attention", d, size, a.qkv_bias, by)
        if a.qk_norm != "none":
            for name, size in (("q norm", queries), ("k norm", keys)):
                yield from _norm(a, of + name, a.head_size if a.qk_norm == "head" else size)
    if a.attention_gate != "none":
        gates = a.heads * (1 if a.attention_gate == "head" else a.value_size)
        yield _Matrix(of + "attention gate", "attention", (d, gates), by_head)
    values = a.heads * a.value_size
    yield from _linear(of + "o", "attention", values, d, a.output_bias, by_head, _WHOLE)
    if a.sinks:
        yield _Matrix(of + "sinks", "attention", (a.heads,), by_head)


def _mlp(a: Architecture, of: str, role: Role, inner: int) -> Iterator[_Matrix]:
    by: _By = ("width", inner)
    for name in ("gate", "up") if a.gated else ("up",):
        yield from _linear(of + name, role, a.width, inner, a.mlp_bias, by)
    yield from _linear(of + "down", role, inner, a.width, a.mlp_bias, by, _WHOLE)


def _linear(
    name: str,
    role: Role,
    rows: int,
    columns: int,
    bias: bool,
    by: _By = _WHOLE,
    of_bias: _By | None = None,
) -> Iterator[_Matrix]:
    """A matrix and its bias. Where rows are cut, the bias is added to their sum, whole."""
    yield _Matrix(name, role, (rows, columns), by)
    if bias:
        yield _Matrix(name + " bias", role, (columns,), of_bias or by)


def _norm(a: Architecture, name: str, width: int) -> Iterator[_Matrix]:
    if a.norm != "none":
        yield _Matrix(name, "norm", (width,))
        if a.norm_bias:
            yield _Matrix(name + " bias", "norm", (width,))


def _copies(
    found: Iterable[_Matrix], copies: int = 1, passes: int = 1, stack: LayerStack = "none"
) -> Iterator[Weight]:
    return (
        Weight(m.name, m.shape, copies, m.role, copies, passes, stack, *m.by, m.kind) for m in found
    )


# --- operations -----------------------------------------------------------------------------------


def flops(a: Architecture, context: int | None = None, causal: bool = False) -> Flops:
    """Operations per token, mean over a sequence of `context` tokens (the net's own, if not given).

    A product with a weight of a layer counts as often as a token passes the layer. Attention takes
    2 heads (query width + value width) operations per layer and token attended to. By default all
    `context` tokens count, masked or not, as in what most programs report and many kernels do;
    with `causal` a decoder's token attends to itself and those before it, (context + 1) / 2 on
    average (rounded down in the sum). A sliding window limits the number of tokens. A recurrent
    layer takes two operations for each product with its state, as its recurrence is written;
    programs that work in chunks take more.
    Of an encoder-decoder it is one token of the input and one of the output, with equally long
    sequences; the encoder, and attention to it, are never masked.
    """
    n = a.context if context is None else context
    if n < 1:
        raise UsageError(f"a context of {n} tokens: accepted are whole numbers from 1 on")
    products = sum(w.passes * math.prod(w.shape) for w in weights(a) if len(w.shape) == 2)
    masked = causal and a.kind != "encoder"
    windows = _windows(a)
    attended = (a.attending - windows) * _attending_pairs(n, None, masked)
    attended += windows * _attending_pairs(n, a.window, masked)
    # The encoder's own layers, and the decoder's attention to the encoder.
    attended += (a.encoder_layers + a.layers) * n * n if a.encoder_layers else 0
    pair = 2 * a.heads * (a.head_size + a.value_size)
    recurrent = 2 * sum(part.layers * part.products for part in a.parts)
    return Flops(2 * products, pair * attended // n + recurrent, n, masked)


def _windows(a: Architecture) -> int:
    """Layers with a sliding window; a copy of a net at another depth may have fewer layers."""
    return min(a.window_layers, a.attending)


def _attending_pairs(n: int, window: int | None, causal: bool) -> int:
    """Pairs of tokens of which one attends to the other, in a sequence of n."""
    reach = min(n, window or n)
    if causal:
        return reach * (reach + 1) // 2 + (n - reach) * reach
    return n * reach


# --- memory ---------------------------------------------------------------------------------------


def memory(a: Architecture, bytes_per_weight: float = 2) -> Memory:
    """Bytes that training and serving one sequence at full context need, on all devices together.

    Keys and values take 2 bytes a number. Training with AdamW takes 16 bytes per parameter: for
    weights of 4 bytes as much for gradients and for each of two moments; in mixed precision, with
    weights of 2 bytes, 2 + 2, a 32-bit copy of the weights and two 32-bit moments (Rajbhandari et
    al. 2020, arXiv:1910.02054, section 3.1). In other precisions nothing is trained.
    """
    total, kv = count(a).total, 2 * kv_numbers(a, a.context)
    stored = math.ceil(bytes_per_weight * total)
    if bytes_per_weight not in (2, 4):
        return Memory(stored, None, None, None, kv)
    optimiser = {"first moment": 4 * total, "second moment": 4 * total}
    if bytes_per_weight == 2:
        optimiser = {"32-bit weights": 4 * total, **optimiser}
    kept = None if a.mixed else activations(a, int(bytes_per_weight))
    return Memory(stored, stored, optimiser, kept, kv)


def kv_numbers(a: Architecture, context: int) -> int:
    """Numbers that are stored of one sequence of `context` tokens to write its next token.

    A layer keeps keys and values of all key heads, or with latent attention the latent and the
    rotary part of the key; a sliding-window layer those of its window. A decoder with an encoder
    keeps as much for its attention to the encoder; an encoder alone keeps nothing. A recurrent
    layer keeps its state, whatever the context: all there is for a context of 0.
    """
    if a.kind == "encoder":
        return 0
    numbers_per_layer = 2 * a.key_heads * a.head_size
    if a.latent:
        numbers_per_layer = a.latent.kv_rank + a.latent.rope_width
    windows = _windows(a)
    seen = (a.attending - windows) * context + windows * min(context, a.window or context)
    if a.encoder_layers:
        seen += a.layers * context
    return numbers_per_layer * seen + sum(part.layers * part.state for part in a.parts)


class Stored(NamedTuple):
    """Numbers that a layer stores of a token for the backward pass, by what they are as wide as."""

    whole: int  # the net, or a latent
    queries: int  # queries and values of all heads together
    keys: int  # keys and values of all key heads
    inner: int  # the feed-forward network
    mixing: int = 0  # what mixes tokens otherwise than attention


def per_token(a: Architecture) -> Stored:
    """Numbers that a layer stores of a token for the backward pass.

    They are the inputs of its norms and matrix products, query, key and value, and what the
    activation function of the feed-forward network needs; the scores of attention are computed
    again. For a plain net with d_ff = 4 d and one key head per query head that is 16 d: 34 d bytes
    without the masks of two dropouts (Korthikanti et al. 2022, arXiv:2205.05198, section 4;
    recalled); for other nets the same list is summed, which is an estimate: programs differ in what
    they keep. A token's experts count as its feed-forward network; a decoder with an encoder has
    attention to it as well.
    """
    e = a.experts
    attention = kept_by_attention(a)
    mlp = kept_by_mlp(a, e.active * e.width + e.shared_size if e else a.d_ff)
    attentions = 2 if a.kind == "encoder-decoder" else 1
    return Stored(*(attentions * x + y for x, y in zip(attention, mlp, strict=True)))


def kept_by_attention(a: Architecture) -> Stored:
    """The numbers `per_token` of attention and the norm before it."""
    queries, values = a.heads * a.head_size, a.heads * a.value_size
    keys = 0 if a.latent else 2 * a.key_heads * a.head_size
    heads = 2 * (queries + values) if a.latent else queries + values
    latents = a.latent.kv_rank + (a.latent.q_rank or 0) if a.latent else 0
    return Stored(2 * a.width + 2 * latents, heads, keys, 0)


def kept_by_mlp(a: Architecture, inner: int) -> Stored:
    """The numbers `per_token` of a network with such an inner width and the norm before it."""
    return Stored(2 * a.width, 0, 0, (4 if a.gated else 2) * inner)


def activations(a: Architecture, size: int = 2) -> int:
    """Bytes stored by the forward for the backward pass of one sequence at full context, without
    parallelism and dropout, in numbers of `size` bytes: those `per_token` of every layer; the last
    norm and the output layer keep their inputs, and the logits are in 32 bits.
    """
    inside = a.layers * sum(per_token(a))
    if a.encoder_layers:
        encoder = a.with_(kind="encoder", encoder_layers=0)
        inside += a.encoder_layers * sum(per_token(encoder))
    return a.context * (size * (inside + 2 * a.width) + 4 * a.vocabulary)
