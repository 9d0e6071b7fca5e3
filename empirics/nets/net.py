"""One definition of the nets that are measured and trained, batched over independent replicas.

Everything carries a leading axis of replicas, so that many initialisations or trainings run as one
program: every parameter has shape (replicas, ...), hidden states have shape (replicas, batch,
tokens, width).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import Attention, Projections, attend, dropped

Activation = Literal["gelu", "relu"]
Norm = Literal["none", "pre", "post"]
Positions = Literal["none", "learned", "sinusoidal"]


class Factors(NamedTuple):
    """Constants in one sublayer, attention or MLP: skip * x + branch * F(entering * norm(x)).

    Attributes:
        entering: on what enters, behind a norm "pre" (LayerNorm scaling has 1/sqrt(layer)).
        branch: on what attention or MLP add (depth-muP and CompleteP; stochastic depth when
            tested).
        skip: on what they add it to (DeepNorm's alpha, ADMIN's omega).
    """

    entering: float = 1.0
    branch: float = 1.0
    skip: float = 1.0


class Deviations(NamedTuple):
    """Standard deviations of the initial weights, one for each kind; see `Net` for the names."""

    query: float
    key: float
    value: float
    output: float
    mlp_in: float
    mlp_out: float
    embedding: float
    position: float
    read_in: float
    read_out: float

    @classmethod
    def equal(cls, std: float, output_std: float | None = None) -> Deviations:
        """One for all, but for the matrices that write to the hidden states, if theirs is given."""
        writing = std if output_std is None else output_std
        return cls(*[std] * 10)._replace(output=writing, mlp_out=writing)


@dataclass(frozen=True)
class NetShape:
    """Everything about a net except its weights.

    A layer is x + attention(x), then x + MLP(x), each without the `x +` where `residual` is false,
    and with constants where there are `factors`.
    Norm "pre" normalises what enters attention and MLP, and what leaves the last layer (as in
    GPT-2); "post" normalises what leaves attention and MLP, after the skip.

    Attributes:
        width: of the hidden states; `heads` divides it.
        depth: number of layers with weights of their own.
        heads: attention heads in a layer, each of width `width / heads`.
        attention: how scores become weights, see `attend`.
        scale: factor on the scores; None for the usual one of that attention, see `attend`.
        residual: whether attention and MLP add their input (skip connections).
        mlp: hidden width of a two-layer MLP after each attention; 0 for none.
        norm: where layer normalisation stands; with `biases` it has a gain and a shift.
        epsilon: what it adds to the variance.
        causal: whether a token sees only itself and earlier tokens.
        positions: what is added to the tokens at the start.
        length: the most tokens; learned positions need it.
        biases: whether every linear map has one.
        loops: how often the whole stack is run, with the same weights (looped net).
        vocabulary: number of token ids, read through an embedding; 0 where the input is real.
        features: width of real inputs, read through a linear map; 0 where the input is token ids,
            or hidden states as they are.
        outputs: logits per token, by a linear map; 0 returns hidden states.
        dropout: probability in training, on the embedded tokens, the attention weights, and what
            attention and MLP add.
        activation: of the MLP; GELU in its tanh form.
        factors: of each sublayer in turn, attention before MLP; () where all are 1.

    Raises:
        ValueError: where a number is out of range, heads do not divide the width, or an option is
            unknown.
    """

    width: int
    depth: int
    heads: int = 1
    attention: Attention = "softmax"
    scale: float | None = None
    residual: bool = True
    mlp: int = 0
    norm: Norm = "none"
    epsilon: float = 1e-5
    causal: bool = False
    positions: Positions = "none"
    length: int = 0
    biases: bool = False
    loops: int = 1
    vocabulary: int = 0
    features: int = 0
    outputs: int = 0
    dropout: float = 0.0
    activation: Activation = "gelu"
    factors: tuple[Factors, ...] = ()

    def __post_init__(self) -> None:
        # From JSON they come as lists.
        object.__setattr__(self, "factors", tuple(Factors(*factor) for factor in self.factors))
        if min(self.width, self.depth, self.heads, self.loops) < 1 or self.width % self.heads:
            raise ValueError(
                "width, depth, heads and loops must be at least 1 and heads divide "
                f"width; got {self.width}, {self.depth}, {self.heads}, {self.loops}"
            )
        for name, accepted in (
            ("attention", Attention),
            ("norm", Norm),
            ("positions", Positions),
            ("activation", Activation),
        ):
            if getattr(self, name) not in get_args(accepted):
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: accepted are {', '.join(get_args(accepted))}"
                )
        if (
            min(self.mlp, self.length, self.vocabulary, self.features, self.outputs) < 0
            or not 0 <= self.dropout < 1
        ):
            raise ValueError(
                "mlp, length, vocabulary, features and outputs must be at least 0 and dropout in "
                f"[0, 1); got {self.mlp}, {self.length}, {self.vocabulary}, {self.features}, "
                f"{self.outputs} and {self.dropout}"
            )
        if self.vocabulary and self.features:
            raise ValueError(
                f"vocabulary={self.vocabulary} and features={self.features}: a net "
                "reads token ids or features; set one to 0"
            )
        if self.positions == "learned" and not self.length:
            raise ValueError("learned positions need length, the most tokens of an input")
        if self.factors and len(self.factors) != self.depth * self.sublayers:
            raise ValueError(
                f"{len(self.factors)} factors for {self.depth * self.sublayers} "
                "sublayers: give one for each, or none"
            )

    @property
    def sublayers(self) -> int:
        """Attention, and MLP where there is one: 1 or 2 in a layer."""
        return 2 if self.mlp else 1

    @property
    def layers(self) -> int:
        """Layers that an input passes: depth times loops."""
        return self.depth * self.loops


def gpt2(
    width: int, depth: int, heads: int, vocabulary: int, length: int, dropout: float = 0.1
) -> NetShape:
    """GPT-2 without a language-model head: the logits are the `width` hidden states after the final
    normalisation.

    It has vocabulary m + length m + 2 m + L (12 m^2 + 13 m) parameters. Hugging Face initialises it
    with `std` 0.02 and `output_std` 0.02 / sqrt(2 L), see `Net`.

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Appendix G, for this use of it.
    """
    return NetShape(
        width=width,
        depth=depth,
        heads=heads,
        mlp=4 * width,
        norm="pre",
        causal=True,
        positions="learned",
        length=length,
        biases=True,
        vocabulary=vocabulary,
        dropout=dropout,
    )


def layer_norm(hidden: Tensor, epsilon: float = 1e-12) -> Tensor:
    """Each token minus its mean over the width, divided by its standard deviation; no gain and no
    shift. BERT's epsilon by default."""
    return functional.layer_norm(hidden, hidden.shape[-1:], eps=epsilon)


def sinusoids(length: int, width: int) -> Tensor:
    """Sinusoidal positions, shape (length, width), float64: sin and cos of position / 10000^(2 i /
    width) in turn (Vaswani et al. 2017, arXiv:1706.03762, section 3.5)."""
    column = torch.arange(width, dtype=torch.float64)
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000.0 ** (
        2 * (column // 2) / width
    )
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class Net(nn.Module):
    """Independent nets of one shape, run together.

    Parameters are lists over the layers, with the replicas in front; heads lie side by side in the
    columns that are called width' here: `qkv` (replicas, width, 3 width'), `output` (replicas,
    width', width), `mlp_in`, `mlp_out`; with biases the same names with `_bias`, shape (replicas,
    1, ...), and gains and shifts of the normalisations; further `embedding`, `position`, `read_in`,
    `read_out`.

    Args:
        shape: of each net.
        replicas: how many nets.
        rng: source of the weights, NumPy's, so that they depend neither on the device nor on the
            version of torch: one generator for all replicas, or one for each, so that a replica
            does not depend on the others. None: all weights are 0, to be set by hand.
        std: standard deviation of every weight, or of each kind. Biases start at 0, gains at 1.
        output_std: of the matrices that write attention and MLP to the hidden states, if another
            one than `std`, which must then be a number.
        dtype, device: of the parameters.

    Raises:
        ValueError: for no replicas, another number of generators, or `output_std` beside
            deviations of each kind.

    Dropout draws from torch's global generator. What a CPU computes has first derivatives alone,
    see `attention`.

    >>> net = Net(NetShape(width=4, depth=2, heads=2), replicas=3, rng=np.random.default_rng(0))
    >>> [tuple(h.shape) for h in net.hidden_states(torch.zeros(1, 5, 7, 4))]
    [(3, 5, 7, 4), (3, 5, 7, 4), (3, 5, 7, 4)]
    """

    embedding: nn.Parameter
    position: nn.Parameter
    read_in: nn.Parameter
    read_out: nn.Parameter
    _sinusoids: Tensor

    def __init__(
        self,
        shape: NetShape,
        *,
        replicas: int = 1,
        rng: np.random.Generator | Sequence[np.random.Generator] | None = None,
        std: float | Deviations = 0.02,
        output_std: float | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if replicas < 1 or (isinstance(rng, Sequence) and len(rng) != replicas):
            raise ValueError(
                f"replicas={replicas}: at least 1 is accepted, with one generator for "
                "all or exactly one for each"
            )
        if isinstance(std, Deviations) and output_std is not None:
            raise ValueError("output_std beside deviations of each kind: say it among them")
        self.shape, self.replicas = shape, replicas
        stds = std if isinstance(std, Deviations) else Deviations.equal(std, output_std)

        def normal(deviation: float, *size: int) -> Tensor:
            if rng is None:
                return torch.zeros(replicas, *size, dtype=dtype, device=device)
            drawn = (
                np.stack([generator.normal(0, deviation, size) for generator in rng])
                if isinstance(rng, Sequence)
                else rng.normal(0, deviation, (replicas, *size))
            )
            return torch.from_numpy(drawn).to(device, dtype)

        def constant(value: float, *size: int) -> nn.Parameter:
            return nn.Parameter(torch.full((replicas, *size), value, dtype=dtype, device=device))

        self._draw_layers(normal, stds)
        self._draw_ends(normal, stds)
        if shape.biases:
            self._add_biases(constant)
        table = (
            sinusoids(shape.length, shape.width).to(device, dtype)
            if shape.positions == "sinusoidal"
            else None
        )
        self.register_buffer("_sinusoids", table, persistent=False)

    def _draw_layers(self, normal: Callable[..., Tensor], stds: Deviations) -> None:
        width, heads, depth, mlp = (
            self.shape.width,
            self.shape.heads,
            self.shape.depth,
            self.shape.mlp,
        )
        inward, outward = (heads, width, width // heads), (heads, width // heads, width)
        query, key, value = (
            [normal(std, *inward) for _ in range(depth)]
            for std in (stds.query, stds.key, stds.value)
        )
        output = [normal(stds.output, *outward) for _ in range(depth)]
        self.qkv = nn.ParameterList(
            torch.cat([_side_by_side(w) for w in parts], dim=-1)
            for parts in zip(query, key, value, strict=True)
        )
        self.output = nn.ParameterList(weight.flatten(1, 2) for weight in output)
        self.mlp_in = nn.ParameterList(
            normal(stds.mlp_in, width, mlp) for _ in range(depth if mlp else 0)
        )
        self.mlp_out = nn.ParameterList(
            normal(stds.mlp_out, mlp, width) for _ in range(depth if mlp else 0)
        )

    def _draw_ends(self, normal: Callable[..., Tensor], stds: Deviations) -> None:
        shape = self.shape
        sizes = {
            "embedding": (shape.vocabulary, shape.width),
            "read_in": (shape.features, shape.width),
            "position": (shape.length if shape.positions == "learned" else 0, shape.width),
            "read_out": (shape.width, shape.outputs),
        }
        for name, size in sizes.items():
            self.register_parameter(
                name, nn.Parameter(normal(getattr(stds, name), *size)) if min(size) else None
            )

    def _add_biases(self, constant: Callable[..., nn.Parameter]) -> None:
        shape, width = self.shape, self.shape.width

        def every_layer(value: float, *size: int, present: bool = True) -> nn.ParameterList:
            return nn.ParameterList(
                constant(value, *size) for _ in range(shape.depth if present else 0)
            )

        normed, mlp = shape.norm != "none", shape.mlp > 0
        self.qkv_bias, self.output_bias = every_layer(0, 1, 3 * width), every_layer(0, 1, width)
        self.mlp_in_bias, self.mlp_out_bias = (
            every_layer(0, 1, shape.mlp, present=mlp),
            every_layer(0, 1, width, present=mlp),
        )
        self.attention_gain, self.attention_shift = (
            every_layer(value, 1, width, present=normed) for value in (1, 0)
        )
        self.mlp_gain, self.mlp_shift = (
            every_layer(value, 1, width, present=normed and mlp) for value in (1, 0)
        )
        if shape.norm == "pre":
            self.final_gain, self.final_shift = constant(1, 1, width), constant(0, 1, width)
        if shape.features:
            self.read_in_bias = constant(0, 1, width)
        if shape.outputs:
            self.read_out_bias = constant(0, 1, shape.outputs)

    def attention_weights(self, layer: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Query, key and value weights (replicas, heads, width, head_width) and output weights
        (replicas, heads, head_width, width)."""
        heads = self.shape.heads
        query, key, value = self.qkv[layer].unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        return query, key, value, self.output[layer].unflatten(1, (heads, -1))

    @torch.no_grad()
    def set_attention_weights(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, output: Tensor
    ) -> None:
        """Set what `attention_weights` returns; shapes broadcast to those there, so (width,
        head_width) serves all heads and replicas."""
        for place, given in zip(
            self.attention_weights(layer), (query, key, value, output), strict=True
        ):
            place.copy_(given)

    def embed(self, inputs: Tensor) -> Tensor:
        """The hidden states before the first layer, (replicas, batch, tokens, width).

        Raises:
            ValueError: where the inputs do not fit the shape of the net.
        """
        shape, tokens = self.shape, inputs.shape[2] if inputs.ndim > 2 else 0
        read, axes = (None, 3) if shape.vocabulary else (shape.features or shape.width, 4)
        if (
            inputs.ndim != axes
            or inputs.shape[0] not in (1, self.replicas)
            or (read and inputs.shape[-1] != read)
        ):
            raise ValueError(
                f"inputs have shape {tuple(inputs.shape)}; accepted is (replicas or 1, batch, "
                f"tokens{f', {read}' if read else ''}) with {self.replicas} replicas"
            )
        if shape.positions == "learned" and tokens > shape.length:
            raise ValueError(
                f"{tokens} tokens, but the learned positions end at length={shape.length}"
            )
        if shape.vocabulary:
            table = self.embedding
            first = (
                torch.arange(self.replicas, device=inputs.device)[:, None, None] * shape.vocabulary
            )
            hidden = functional.embedding(inputs + first, table.flatten(0, 1))
        else:
            hidden = inputs.expand(self.replicas, *inputs.shape[1:])
            if shape.features:
                hidden = self._linear("read_in", None, hidden.flatten(1, 2)).unflatten(
                    1, inputs.shape[1:3]
                )
        if shape.positions != "none":
            hidden = hidden + self._positions(tokens)
        return self._dropped(hidden)

    def hidden_states(self, inputs: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        """The hidden states before the first layer and after each, without the final normalisation.

        Args:
            inputs: ids (replicas, batch, tokens), features (replicas, batch, tokens, features), or
                hidden states; 1 replica serves all.
            mask: bool (tokens, tokens) or (replicas, batch, tokens, tokens), axes of 1 allowed;
                True where the row may attend to the column.
        """
        hidden = self.embed(inputs)
        if mask is not None and mask.ndim == 4:
            mask = mask.expand(self.replicas, hidden.shape[1], -1, -1).flatten(0, 1).unsqueeze(1)
        states = [hidden]
        for layer in range(self.shape.layers):
            hidden = self.layer(layer % self.shape.depth, states[-1], mask)
            states.append(hidden)
        return states

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The logits (replicas, batch, tokens, outputs), or the last hidden states, normalised for
        norm "pre". Arguments as above."""
        return self.read(self.hidden_states(inputs, mask)[-1])

    def read(self, hidden: Tensor) -> Tensor:
        """What `forward` makes of the last of the hidden states, or of earlier ones in its place,
        (replicas, batch, tokens, width): final normalisation and logits."""
        size, normalised = hidden.shape[1:3], None
        if self.shape.norm == "pre":
            hidden = layer_norm(hidden, self.shape.epsilon)
            if self.shape.biases:
                normalised = self.final_gain, self.final_shift
        if self.shape.outputs:
            return self._linear("read_out", None, hidden.flatten(1, 2), normalised).unflatten(
                1, size
            )
        return (
            hidden
            if normalised is None
            else torch.addcmul(normalised[1].unsqueeze(1), hidden, normalised[0].unsqueeze(1))
        )

    def layer(self, layer: int, hidden: Tensor, mask: Tensor | None = None) -> Tensor:
        """The hidden states (replicas, batch, tokens, width) after the layer of this index, from 0,
        with these before it."""
        size = (hidden.shape[1], hidden.shape[2])
        hidden = self._block(
            layer,
            "attention",
            hidden.flatten(1, 2),
            lambda x, n: self._attention(layer, x, n, size, mask),
        )
        if self.shape.mlp:
            hidden = self._block(layer, "mlp", hidden, lambda x, n: self._mlp(layer, x, n))
        return hidden.unflatten(1, size)

    def _block(
        self,
        layer: int,
        name: str,
        hidden: Tensor,
        inside: Callable[[Tensor, tuple[Tensor, Tensor] | None], Tensor],
    ) -> Tensor:
        """Normalisation and skip connection around attention or MLP; hidden states here are
        (replicas, batch * tokens, width)."""
        norm = self.shape.norm
        normalised = None
        if norm != "none" and self.shape.biases:
            normalised = getattr(self, name + "_gain")[layer], getattr(self, name + "_shift")[layer]
        entering = layer_norm(hidden, self.shape.epsilon) if norm == "pre" else hidden
        inner = normalised if norm == "pre" else None
        factors = Factors()
        if self.shape.factors:
            factors = self.shape.factors[layer * self.shape.sublayers + (name == "mlp")]
            entering = entering * factors.entering
            if inner is not None:  # the gain stands behind what was multiplied, the shift too
                inner = inner[0], inner[1] * factors.entering
        leaving = self._dropped(inside(entering, inner))
        if factors.branch != 1:
            leaving = leaving * factors.branch
        if self.shape.residual:
            # In place: a fresh product, which no gradient needs.
            leaving = leaving.add_(hidden, alpha=factors.skip)
        if norm == "post":
            leaving = layer_norm(leaving, self.shape.epsilon)
            leaving = (
                leaving
                if normalised is None
                else torch.addcmul(normalised[1], leaving, normalised[0])
            )
        return leaving

    def _attention(
        self,
        layer: int,
        hidden: Tensor,
        normalised: tuple[Tensor, Tensor] | None,
        size: tuple[int, int],
        mask: Tensor | None,
    ) -> Tensor:
        shape = self.shape
        rows = (self.replicas * size[0], size[1])
        weight, bias = self._map("qkv", layer, normalised)
        if hidden.device.type == "cpu" and not torch.compiler.is_compiling():
            parts = tuple(
                part.view(*rows, shape.heads, -1)
                for part in Projections.apply(hidden, weight, bias)
            )
        else:
            parts = _affine(hidden, weight, bias).view(*rows, 3, shape.heads, -1).unbind(2)
        query, key, value = (part.transpose(1, 2) for part in parts)
        mixed = attend(
            query,
            key,
            value,
            attention=shape.attention,
            scale=shape.scale,
            mask=mask,
            causal=shape.causal,
            dropout=shape.dropout if self.training else 0.0,
        )
        return self._linear("output", layer, mixed.transpose(1, 2).reshape(hidden.shape))

    def _mlp(self, layer: int, hidden: Tensor, normalised: tuple[Tensor, Tensor] | None) -> Tensor:
        inner = self._linear("mlp_in", layer, hidden, normalised)
        inner = (
            functional.relu(inner)
            if self.shape.activation == "relu"
            else functional.gelu(inner, approximate="tanh")
        )
        return self._linear("mlp_out", layer, inner)

    def _linear(
        self,
        name: str,
        layer: int | None,
        hidden: Tensor,
        normalised: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        return _affine(hidden, *self._map(name, layer, normalised))

    def _map(
        self, name: str, layer: int | None, normalised: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Weight and bias of x -> (gain * x + shift) @ weight + bias. Gain and shift go into the
        weights, which are smaller than x."""
        weight: Tensor = getattr(self, name) if layer is None else getattr(self, name)[layer]
        if not self.shape.biases:
            return weight, None
        bias: Tensor = (
            getattr(self, name + "_bias") if layer is None else getattr(self, name + "_bias")[layer]
        )
        if normalised is None:
            return weight, bias
        gain, shift = normalised
        return gain.transpose(1, 2) * weight, torch.baddbmm(bias, shift, weight)

    def _positions(self, tokens: int) -> Tensor:
        if self.shape.positions == "learned":
            return self.position[:, None, :tokens]
        if tokens > len(self._sinusoids):
            self._sinusoids = sinusoids(tokens, self.shape.width).to(self._sinusoids)
        return self._sinusoids[:tokens]

    def _dropped(self, hidden: Tensor) -> Tensor:
        return dropped(hidden, self.shape.dropout) if self.training else hidden


def _side_by_side(weight: Tensor) -> Tensor:
    """(replicas, heads, width, head_width) -> (replicas, width, heads * head_width)."""
    return weight.transpose(1, 2).flatten(2)


def _affine(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.bmm(hidden, weight) if bias is None else torch.baddbmm(bias, hidden, weight)
