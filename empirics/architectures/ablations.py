"""Parts of a layer removed, while the forward pass of `transformers` stays in charge.

Modules are replaced by the identity, and hooks feed a module what it would have received without a
skip connection. Nothing is subtracted afterwards, so that removal costs no digits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError

from .loading import NetFamily

if TYPE_CHECKING:
    from torch import Tensor, nn

# Variant -> the parts that it removes. The last three are those of the published measurement.
VARIANTS: dict[str, tuple[str, ...]] = {
    "full": (),
    "no-attention-skip": ("attention skip",),
    "no-mlp-skip": ("MLP skip",),
    "no-mlp": ("MLP",),
    "no-norms": ("norms",),
    "pure-attention": ("norms", "attention skip", "MLP"),
    "san": ("attention skip", "MLP as published"),
    "san+mlp": ("attention skip",),
    "san+skip": ("MLP as published",),
}
PUBLISHED = ("bert", "albert", "xlnet")

_Undo = Callable[[], object]
_Removal = Callable[[Any], list[_Undo]]


def removed(model: NetFamily, variant: str) -> str:
    """What a variant removes in an architecture, in words.

    Raises:
        UsageError: for an unknown variant, with those that are known.
    """
    if variant not in VARIANTS:
        raise UsageError(f"variant {variant!r} is not known; accepted are {', '.join(VARIANTS)}")
    parts = VARIANTS[variant]
    words = "; ".join(_words(model, part, alone="norms" not in parts) for part in parts)
    if variant.startswith("san") and model.name not in PUBLISHED:
        words += " (the published measurement has no such net; removed is what its words say)"
    return words or "nothing"


def _words(model: NetFamily, part: str, alone: bool) -> str:
    post = model.name in PUBLISHED
    side = "behind" if post else "before"
    if part == "attention skip":
        return "the skip connection around attention" + (
            f" (the norm {side} it stays)" if alone else ""
        )
    if part == "MLP skip":
        return f"the skip connection around the MLP (the norm {side} it stays)"
    if part == "norms":
        kind = "RMS" if model.norms_in_float32 else "layer"
        stays = {
            "bert": " (that of the embeddings stays)",
            "albert": " (that of the embeddings stays)",
            "qwen3": " (those of queries and keys stay)",
        }.get(model.name, "")
        return f"both {kind} norms of every layer{stays}"
    if model.name == "albert" and part == "MLP as published":
        return (
            "both linear maps of the MLP (its activation, its skip connection and the norm "
            "behind it stay)"
        )
    return f"the MLP, its skip connection and the norm {side} it"


@contextlib.contextmanager
def ablated(net: nn.Module, model: NetFamily, variant: str) -> Iterator[nn.Module]:
    """The net without the parts that a variant removes; afterwards it is as it was. It is in
    evaluation mode: dropout is taken for the identity.

    Raises:
        UsageError: for an unknown variant.
    """
    removed(model, variant)
    undo: list[_Undo] = []
    try:
        for layer in model.layers(net):
            # An ALBERT group may hold several layers.
            for block in getattr(layer, "albert_layers", [layer]):
                for part in VARIANTS[variant]:
                    undo += _REMOVE[model.name, part](block)
        yield net
    finally:
        for step in reversed(undo):
            step()


# --- how hooks and replaced modules do it ---


def _replaced(parent: Any, name: str, module: nn.Module) -> _Undo:
    before = getattr(parent, name)
    setattr(parent, name, module)
    return lambda: setattr(parent, name, before)


def _identity() -> nn.Module:
    """Returns what is given first, whatever else is given."""
    from torch import nn

    class First(nn.Identity):
        def forward(self, input: Tensor, *_: object) -> Tensor:
            return input

    return First()


def _nothing() -> nn.Module:
    """Returns a zero, to be added."""
    from torch import nn

    class Zero(nn.Module):
        def forward(self, hidden: Tensor) -> Tensor:
            return hidden.new_zeros(()).expand_as(hidden)

    return Zero()


class _Held:
    """A tensor on its way from one hook to another."""

    def __init__(self) -> None:
        self.value: Any = None

    def take(self, module: nn.Module, args: Any, output: Any) -> None:
        """Forward hook: keep what a module returns."""
        self.value = output

    def take_input(self, module: nn.Module, args: Any) -> Any:
        """Forward pre-hook: keep what comes in, and let zeros in for it."""
        self.value = args[0]
        return (args[0].new_zeros(()).expand_as(args[0]), *args[1:])

    def give(self, module: nn.Module, args: Any, output: Any = None) -> Any:
        """Forward hook or pre-hook: what was kept instead, which is then let go."""
        value, self.value = self.value, None
        return value


def _feed(source: nn.Module, target: nn.Module) -> list[_Undo]:
    """`target` receives what `source` returned, and nothing added to it."""
    held = _Held()
    return [
        source.register_forward_hook(held.take).remove,
        target.register_forward_pre_hook(held.give).remove,
    ]


def _return(
    source: nn.Module, target: nn.Module, wrap: Callable[[Any], Any] = lambda output: output
) -> list[_Undo]:
    """`target` returns what `source`, inside it, returned; `wrap` picks the hidden states."""
    held = _Held()
    return [
        source.register_forward_hook(lambda m, a, output: held.take(m, a, wrap(output))).remove,
        target.register_forward_hook(held.give).remove,
    ]


def _no_second_input(module: nn.Module) -> list[_Undo]:
    """The module adds zero in place of its second argument."""

    def zero(module: nn.Module, args: Any) -> Any:
        return args[0], args[1].new_zeros(())

    return [module.register_forward_pre_hook(zero).remove]


def _passed(*names: str) -> _Removal:
    """Modules of a layer, by dotted names, return what they are given."""

    def remove(layer: Any) -> list[_Undo]:
        places = (name.rpartition(".") for name in names)
        return [_replaced(layer.get_submodule(at), name, _identity()) for at, _, name in places]

    return remove


def _albert_mlp(layer: Any) -> list[_Undo]:
    maps = _passed("ffn", "ffn_output")(layer)
    return [*maps, *_return(layer.attention, layer, lambda output: output[0])]


def _xlnet_attention_skip(layer: Any) -> list[_Undo]:
    attention = layer.rel_attn
    attention.post_attention = partial(attention.post_attention, residual=False)
    return [partial(delattr, attention, "post_attention")]


def _pre_attention_skip(norm: str, layer: Any) -> list[_Undo]:
    """The layer receives zeros, which its attention is then added to; the norm in front of
    attention receives what the layer should have."""
    held = _Held()
    return [
        layer.register_forward_pre_hook(held.take_input).remove,
        getattr(layer, norm).register_forward_pre_hook(held.give).remove,
    ]


def _pre_mlp(norm: str, layer: Any) -> list[_Undo]:
    # The norm need not run before a zero.
    return [_replaced(layer, "mlp", _nothing()), _replaced(layer, norm, _identity())]


def _t5_attention_skip(layer: Any) -> list[_Undo]:
    """Each sublayer is a module that ends with dropout."""
    held, sublayer = _Held(), layer.layer[0]

    def first(module: nn.Module, args: Any, output: Any) -> Any:
        return (held.give(module, args), *output[1:])

    return [
        sublayer.dropout.register_forward_hook(held.take).remove,
        sublayer.register_forward_hook(first).remove,
    ]


def _removals() -> dict[tuple[str, str], _Removal]:
    by_part: dict[str, dict[str, _Removal]] = {
        "bert": {
            "norms": _passed("attention.output.LayerNorm", "output.LayerNorm"),
            "MLP": _passed("intermediate", "output"),
            "attention skip": lambda layer: _no_second_input(layer.attention.output),
            "MLP skip": lambda layer: _no_second_input(layer.output),
        },
        "albert": {
            "norms": _passed("attention.LayerNorm", "full_layer_layer_norm"),
            "MLP": _albert_mlp,
            "MLP as published": _passed("ffn", "ffn_output"),
            "attention skip": lambda layer: _feed(
                layer.attention.output_dropout, layer.attention.LayerNorm
            ),
            "MLP skip": lambda layer: _feed(layer.ffn_output, layer.full_layer_layer_norm),
        },
        "xlnet": {
            "norms": _passed("rel_attn.layer_norm", "ff.layer_norm"),
            "attention skip": _xlnet_attention_skip,
            "MLP": _passed("ff"),
            "MLP skip": lambda layer: _feed(layer.ff.layer_2, layer.ff.layer_norm),
        },
        "t5": {
            "norms": _passed("layer.0.layer_norm", "layer.1.layer_norm"),
            "attention skip": _t5_attention_skip,
            "MLP": _passed("layer.1"),
            "MLP skip": lambda layer: _return(layer.layer[-1].dropout, layer.layer[-1]),
        },
    }
    for name, first, second in (
        ("gpt2", "ln_1", "ln_2"),
        *(
            (family, "input_layernorm", "post_attention_layernorm")
            for family in ("llama", "mistral", "qwen2", "qwen3")
        ),
    ):
        by_part[name] = {
            "norms": _passed(first, second),
            "attention skip": partial(_pre_attention_skip, first),
            "MLP skip": lambda layer: _return(layer.mlp, layer),
            "MLP": partial(_pre_mlp, second),
        }
    return {
        (name, part): remove
        for name, parts in by_part.items()
        for part, remove in ({"MLP as published": parts["MLP"]} | parts).items()
    }


# (architecture, part) -> (layer) -> how to undo it.
_REMOVE = _removals()
