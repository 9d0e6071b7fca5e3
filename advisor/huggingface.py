"""Hugging Face configurations: a config.json read as an architecture, and one written from it.

Offline, with the standard library alone. A class that model_classes.py does not describe is refused
by name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from typing import Any

from .architecture import Architecture
from .base.files import json_object, regular_file
from .base.quantities import UsageError, quoted
from .counting import weights
from .model_classes import CLASSES, REFUSED, Config

_MOST_BYTES = 1_000_000


def read_config(path: str | os.PathLike[str]) -> Architecture:
    """The architecture that a config.json, or the one in a folder, describes.

    Raises:
        UsageError: where there is no such file, for what is no configuration, for one that
            contradicts itself or lacks a size, and for an architecture that is not known here.
    """
    text = os.fspath(path)
    return architecture_of(config_values(text)).with_(name=net_name(Path(text)))


def architecture_of(values: dict[str, Any]) -> Architecture:
    """The architecture that the contents of a config.json describe. Raises as `read_config`."""
    kind = values.get("model_type")
    if not isinstance(kind, str):
        raise UsageError(
            "the configuration names no model_type (a text), so its weights are unknown; known "
            f"are {len(CLASSES)} types, such as llama, qwen3 and mamba2"
        )
    if kind not in CLASSES:
        missing = REFUSED.get(kind, "its weights are not described here")
        near = get_close_matches(kind, CLASSES, 3, 0.7)
        alike = f"; types like it are {', '.join(near)}" if near and kind not in REFUSED else ""
        raise UsageError(
            f"model_type {quoted(kind)} is not known: {missing}{alike}; to ask about its depth "
            "give its size and layers, as in depthlaw depth 7B --layers 32"
        )
    config = Config(values, kind)
    if config.values.get("pruned_heads"):
        config.refuse("pruned_heads", "pruned heads are not counted; remove them from the file")
    architecture = CLASSES[kind].read(config)
    if architecture.experts is None:
        for key in _EXPERTS.split():
            if isinstance(number := config.values.get(key), int) and number > 1:
                config.refuse(
                    key,
                    f"{kind} has no experts, and {number} of them are none of its weights; give "
                    "the model_type that has them, such as mixtral, or remove the key",
                )
    return architecture.with_(
        family=kind, remarks=(*architecture.remarks, *config.remarks, *_remarks(values))
    )


def config_of(a: Architecture) -> dict[str, Any]:
    """A config.json that transformers accepts, and that reads back to the same weights.

    The class is that of the architecture's `family`, or the first that holds it, the plainest ones
    before the others: llama, qwen2, qwen3, mistral, mixtral, and so on.

    Raises:
        UsageError: where no class holds it, with the part that none has, such as looped layers.

    >>> config_of(Architecture(2, 64, 4, 256, 1000, kv_heads=2))["model_type"]
    'llama'
    """
    if a.mixed:
        raise UsageError(
            "no class with layers of other kinds than attention is written here; copy the "
            "configuration that was read, and change it by hand"
        )
    if values := _held(a):
        return values
    raise UsageError(
        "no Hugging Face class that is known here holds such a net with "
        f"{_missing(a)}; leave that out, or write the configuration by hand"
    )


def _held(a: Architecture) -> dict[str, Any] | None:
    """The configuration of the first class that holds an architecture."""
    compared = attrgetter(*_COMPARED.split())
    stored = sorted(w[1:] for w in weights(a))
    for kind in dict.fromkeys([a.family, *CLASSES]):
        known = CLASSES.get(kind)
        if known is None or not known.model or (kind in _DIVIDING and a.width % a.heads):
            continue
        values = {"architectures": [known.model], "model_type": kind, **known.write(a)}
        try:
            back = architecture_of(values)
        except UsageError:
            continue
        if compared(back) == compared(a) and sorted(w[1:] for w in weights(back)) == stored:
            return values
    return None


def _missing(a: Architecture) -> str:
    """One or two parts without which there is a class, else all that are unusual."""
    parts = _unusual(a)
    for chosen in (*combinations(parts, 1), *combinations(parts, 2)):
        plainer = a
        for _, changed in chosen:
            plainer = changed(plainer)
        if _held(plainer):
            return " and ".join(name for name, _ in chosen)
    return ", ".join(name for name, _ in parts) or "these parts together"


_Change = Callable[[Architecture], Architecture]


def _unusual(a: Architecture) -> list[tuple[str, _Change]]:
    """Parts that not every class has, each with the change that leaves it out."""

    def net(**fields: Any) -> _Change:
        return lambda b: b.with_(**fields)

    def of_experts(**fields: Any) -> _Change:
        return lambda b: b.with_(experts=replace(b.experts, **fields)) if b.experts else b

    usual_norm = net(norm="rmsnorm", norm_bias=False)
    unbiased = net(qkv_bias=False, output_bias=False, mlp_bias=False, head_bias=False)
    one_head = net(heads=1, kv_heads=None, head_width=None)
    all_seen = net(window=None, window_layers=0)
    unshared = of_experts(shared=0, shared_width=None, shared_gate=False)
    e, stacks = a.experts, " in an encoder-decoder" if a.encoder_layers else ""
    mlp = "experts" if e else "a feed-forward network"
    alone = e is not None and not e.shared
    parts = [
        (a.attention_gate != "none", "a gate on attention", net(attention_gate="none")),
        (a.own_layers < a.layers, "looped layers", net(unique_layers=None)),
        (a.key_heads < a.heads, f"grouped queries{stacks}", net(kv_heads=None)),
        (not a.gated, f"{mlp} without a gate{stacks}", net(gated=True)),
        (a.norm != "rmsnorm" or a.norm_bias, f"other norms than RMSNorm{stacks}", usual_norm),
        (a.qk_norm != "none", "norms on queries and keys", net(qk_norm="none")),
        (a.qkv_bias or a.output_bias or a.mlp_bias or a.head_bias, "biases like these", unbiased),
        (a.heads * a.head_size != a.width, "heads that together are not as wide as it", one_head),
        (a.sinks, "sinks of attention", net(sinks=False)),
        (a.latent is not None, "latent attention", net(latent=None)),
        (a.window is not None, f"windows in {a.window_layers} of {a.layers} layers", all_seen),
        (a.learned_positions > 0, "learned positions", net(learned_positions=0)),
        (bool(a.extra), "weights outside all layers", net(extra=())),
        (
            a.encoder_layers > 0 and not a.relative_buckets,
            "two stacks without relative positions",
            net(relative_buckets=32),
        ),
        (
            e is not None and e.dense_layers > 0,
            f"dense layers beside those with experts{', none of which is shared' if alone else ''}",
            of_experts(dense_layers=0),
        ),
        (e is not None and e.shared > 0, "shared experts", unshared),
        (e is not None, f"experts{stacks}", net(experts=None)),
    ]
    return [(name, change) for there, name, change in parts if there]


# What configurations call the number of experts.
_EXPERTS = "num_local_experts num_experts n_routed_experts moe_num_experts num_routed_experts"
# What the weights do not show and a written configuration must repeat.
_COMPARED = "kind layers encoder_layers heads key_heads context window_layers gated latent"
# Classes that accept no number of heads that does not divide the width, whatever the head's width.
_DIVIDING = {"arcee", "deepseek_v2", "gemma2", "gemma3_text", "llama"}


def config_values(path: str) -> dict[str, Any]:
    """The contents of a config.json, or of the one in a folder. Raises as `read_config`."""
    folder, accepted = os.path.isdir(path), "give a config.json, or its folder"
    file = os.path.join(path, "config.json") if folder else path
    missing = "the folder has no config.json" if folder else "there is no such file"
    with regular_file(file, quoted(path), accepted, missing) as (opened, _):
        data = opened.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError(
            f"{quoted(path)} is larger than 1 MB, which no config.json is; "
            "give the configuration, not the weights"
        )
    name, what = quoted(path), "a configuration"
    return json_object(data, name, what, "give a config.json", infinite=True)


def net_name(path: Path) -> str:
    """What a net is called by the path of its configuration: its file, or its folder."""
    name = path.stem
    if path.name == "config.json" or os.path.isdir(path):
        path = path.resolve()
        name = path.name if os.path.isdir(path) else path.parent.name
    return "".join(c if c.isprintable() else "?" for c in name)


def _remarks(values: dict[str, Any]) -> list[str]:
    """What holds for every class."""
    remarks = []
    if values.get("quantization_config") is not None:
        remarks.append("counted before quantisation: scales and zero points are not counted")
    if own := values.get("auto_map"):
        code = own.get("AutoModelForCausalLM") if isinstance(own, dict) else None
        named = f" ({quoted(code)})" if isinstance(code, str) else ""
        remarks.append(
            f"auto_map: the net is built by code of its own{named}; counted as "
            f"{values['model_type']}, and what that code adds is not"
        )
    classes = values.get("architectures")
    if isinstance(classes, list) and classes and isinstance(classes[0], str):
        known = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
        if not classes[0].endswith(known):
            remarks.append(
                f"counted with the output layer of a language model; {quoted(classes[0])} "
                "may have another"
            )
    return remarks
