"""Hugging Face configurations: a config.json read as an architecture, and one written from it.

Offline, with the standard library alone. An architecture that is not described here is refused by
name. A key that is missing takes the default of its class in transformers only where the text of a
reader below says so; a missing size is an error.
"""
from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from .architecture import Architecture, Experts, Latent
from .counting import weights
from .quantities import UsageError, quoted

_MOST_BYTES = 1_000_000
_MOST_SIZE = 2**24
_MOST = {"layers": 10_000, "experts": 100_000}


def read_config(path: str | os.PathLike[str]) -> Architecture:
    """The architecture that a config.json describes.

    Args:
        path: the file, or a folder that holds a config.json.

    Raises:
        UsageError: where there is no such file, for what is no configuration, for one that
            contradicts itself or lacks a size, and for an architecture that is not known here.
    """
    text = os.fspath(path)
    values = _parsed(_contents(text), quoted(text))
    return architecture_of(values).with_(name=_name(Path(text)))


def architecture_of(values: dict[str, Any]) -> Architecture:
    """The architecture that the contents of a config.json describe.

    Raises:
        UsageError: as `read_config`.

    >>> a = architecture_of({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12,
    ...                      "vocab_size": 50257, "n_positions": 1024})
    >>> a.layers, a.d_ff, a.tied
    (12, 3072, True)
    """
    kind = values.get("model_type")
    if not isinstance(kind, str):
        raise UsageError(
            "the configuration names no model_type (a text), so its weights are unknown; "
            f"known are {', '.join(sorted(_READERS))}")
    if kind not in _READERS:
        missing = _REFUSED.get(kind, "its weights are not described here")
        raise UsageError(
            f"model_type {quoted(kind)} is not known: {missing}; "
            f"known are {', '.join(sorted(_READERS))}")
    config = _Config(values, kind)
    if config.values.get("pruned_heads"):
        config.refuse("pruned_heads", "pruned heads are not counted; remove them from the file")
    found = _READERS[kind](config)
    return found.with_(family=kind, remarks=(*found.remarks, *config.remarks, *_remarks(values)))


def config_of(a: Architecture) -> dict[str, Any]:
    """A config.json that transformers accepts, and that reads back to the same weights.

    The class is that of the architecture's `family`, or the first of those below that holds it:
    llama, qwen2, qwen3, mixtral, qwen3_moe, qwen2_moe, glm4_moe, deepseek_v3 and deepseek_v2, arcee
    (a plain feed-forward network with RMSNorm), gpt2, gpt_neox, bert, t5, opt, bloom, gpt_oss,
    olmo, olmo2, gemma, gemma2, gemma3_text, falcon, mpt, gptj, phi, stablelm, cohere, roberta,
    albert.

    Raises:
        UsageError: where no class holds it, such as looped layers.

    >>> config_of(Architecture(2, 64, 4, 256, 1000, kv_heads=2))["model_type"]
    'llama'
    """
    own = [a.family] if a.family in _WRITERS else []
    for kind in dict.fromkeys([*own, *_WRITERS]):
        if kind in _DIVIDING and a.width % a.heads:
            continue
        values = {"architectures": [_WRITERS[kind]], "model_type": kind, **_written(a, kind)}
        try:
            back = architecture_of(values)
        except UsageError:
            continue
        if all(getattr(back, field) == getattr(a, field) for field in _KEPT) and (
                sorted(w[1:] for w in weights(back)) == sorted(w[1:] for w in weights(a))):
            return values
    looped = "looped layers" if a.own_layers < a.layers else "this combination of parts"
    raise UsageError(f"no Hugging Face class that is known here holds {looped}; "
                     "leave out what is unusual, or write the configuration by hand")


# What the weights do not show and a written configuration must keep.
_KEPT = ("kind", "layers", "encoder_layers", "heads", "key_heads", "context", "window_layers",
         "gated", "latent")
# Classes that accept no number of heads that does not divide the width, whatever the head's width.
_DIVIDING = {"arcee", "deepseek_v2", "gemma2", "gemma3_text", "llama"}


# --- reading a file that may be anything ----------------------------------------------------------


def _contents(path: str) -> bytes:
    shown, accepted = quoted(path), "give a config.json, or its folder"
    try:
        file = os.path.join(path, "config.json") if os.path.isdir(path) else path
        # Without blocking, since it may be a pipe that nobody writes to.
        number = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise UsageError(f"{shown} is no regular file; {accepted}")
            with open(number, "rb", closefd=False) as opened:
                data = opened.read(_MOST_BYTES + 1)
        finally:
            os.close(number)
    except FileNotFoundError:
        why = "the folder has no config.json" if os.path.isdir(path) else "there is no such file"
        raise UsageError(f"cannot read {shown}: {why}; {accepted}") from None
    except (OSError, ValueError) as error:
        why = "no file has such a name"
        if isinstance(error, OSError):
            why = error.strerror or type(error).__name__
        raise UsageError(f"cannot read {shown}: {why}; {accepted}") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{shown} is larger than 1 MB, which no config.json is; "
                         "give the configuration, not the weights")
    return data


def _parsed(data: bytes, shown: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise UsageError(f"{shown} has the key {quoted(key)} twice; remove one of them")
            found[key] = value
        return found

    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise UsageError(f"{shown} holds {quoted(text)}, which is no finite number; "
                             "a configuration has none")
        return value

    try:
        values = json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique,
                            parse_constant=finite, parse_float=finite)
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not a text in UTF-8; give a config.json") from None
    except RecursionError:
        raise UsageError(f"{shown} is nested too deeply for a configuration") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{shown} is not JSON: {error.msg.lower()} (line {error.lineno}, column "
                         f"{error.colno}); give a config.json") from None
    except ValueError:  # Python limits the digits of an integer.
        raise UsageError(f"{shown} holds a number of thousands of digits; give a config.json"
                         ) from None
    if not isinstance(values, dict):
        raise UsageError(f"{shown} is JSON, but no object with keys and values; give a config.json")
    return values


def _name(path: Path) -> str:
    name = path.stem
    if path.name == "config.json" or path.is_dir():
        path = path.resolve()
        name = path.name if path.is_dir() else path.parent.name
    return "".join(c if c.isprintable() else "?" for c in name)


class _Config:
    """The values of a configuration, read one by one, each checked."""

    def __init__(self, values: dict[str, Any], kind: str) -> None:
        self.values, self.kind = values, kind
        self.remarks: list[str] = []

    def refuse(self, key: str, why: str) -> NoReturn:
        raise UsageError(f"{self.kind} configuration, {key}: {why}")

    def size(self, *keys: str, default: int | None = None, most: int = _MOST_SIZE,
             least: int = 1) -> int:
        """A whole number under one of several names of the same thing."""
        found = self.optional(*keys, most=most, least=least)
        if found is None:
            found = default
        if found is None:
            self.refuse(" or ".join(keys), f"the size is missing; give a whole number, "
                        f"{least} to {most:,}")
        return found

    def optional(self, *keys: str, most: int = _MOST_SIZE, least: int = 1) -> int | None:
        """As `size`; None where it is missing or null."""
        found = {key: self.values[key] for key in keys if self.values.get(key) is not None}
        for key, value in found.items():
            if type(value) is not int or not least <= value <= most:
                shown = quoted(json.dumps(value))[1:-1]
                self.refuse(key, f"{shown} is not a whole number from {least} to {most:,}")
        if len(set(found.values())) > 1:
            self.refuse(" and ".join(found), "two names of one size have different values; "
                        "remove one of them")
        return next(iter(found.values()), None)

    def flag(self, key: str, default: bool) -> bool:
        """True or false; null is the default, as in transformers."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(key, f"{quoted(json.dumps(value))[1:-1]} is not true or false")
        return value

    def only(self, key: str, *accepted: Any) -> None:
        """Refuse any value of a key but those whose weights are described here."""
        value = self.values.get(key, accepted[0])
        if not any(type(value) is type(a) and value == a for a in accepted):
            self.refuse(key, f"weights for {quoted(json.dumps(value))[1:-1]} are not described "
                        f"here; accepted is {' or '.join(json.dumps(a) for a in accepted)}")

    def part(self, key: str) -> _Config:
        """The configuration below a key."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "it is missing, or no object with keys and values")
        return _Config(value, self.kind)

    def without(self, *keys: str) -> _Config:
        """The configuration less keys that the class ignores."""
        return _Config({k: v for k, v in self.values.items() if k not in keys}, self.kind)

    def whole_numbers(self, key: str) -> list[int]:
        """A list of whole numbers; missing and null are the empty list."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or any(type(v) is not int for v in value):
            self.refuse(key, "it is not a list of whole numbers")
        return value

    def layers(self, *keys: str) -> int:
        return self.size(*keys, most=_MOST["layers"])

    def windows(self, layers: int, window: int | None, pattern: Callable[[int], bool]
                ) -> dict[str, Any]:
        """Fields for sliding windows: in the layers that `layer_types` lists, or the pattern."""
        types = self.values.get("layer_types")
        if types is None:
            count = sum(map(pattern, range(layers)))
        else:
            known = ("sliding_attention", "full_attention")
            if (not isinstance(types, list) or len(types) != layers
                    or any(t not in known for t in types)):
                self.refuse("layer_types", f"it is not a list of {layers} times "
                            f"{' or '.join(known)}")
            count = types.count("sliding_attention")
        return {"window": window, "window_layers": count} if window and count else {}


def _remarks(values: dict[str, Any]) -> list[str]:
    """What holds for every class."""
    found = []
    if values.get("quantization_config") is not None:
        found.append("counted before quantisation: scales and zero points are not counted")
    classes = values.get("architectures")
    if isinstance(classes, list) and classes and isinstance(classes[0], str):
        known = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
        if not classes[0].endswith(known):
            found.append(f"counted with the output layer of a language model; {quoted(classes[0])} "
                         "may have another")
    return found


# --- one reader for each class --------------------------------------------------------------------


def _llama_like(c: _Config, grouped: bool = True, **fields: Any) -> Architecture:
    """What most classes share. Without num_key_value_heads every query head has a key head, unless
    the class has another default (`grouped`): then it must be given."""
    layers, heads = c.layers("num_hidden_layers"), c.size("num_attention_heads")
    keys = c.optional("num_key_value_heads")
    if keys is None and not grouped:
        c.size("num_key_value_heads")
    made: dict[str, Any] = {
        "head_width": c.optional("head_dim"), "tied": c.flag("tie_word_embeddings", False),
        **fields}
    return Architecture(
        layers=layers, width=c.size("hidden_size"), heads=heads, kv_heads=keys,
        d_ff=made.pop("d_ff", None) or c.size("intermediate_size"),
        vocabulary=c.size("vocab_size"), context=c.size("max_position_embeddings"), **made)


def _biased(c: _Config, default: bool = False) -> dict[str, bool]:
    bias = c.flag("attention_bias", default)
    return {"qkv_bias": bias, "output_bias": bias}


def _llama(c: _Config) -> Architecture:
    return _llama_like(c, mlp_bias=c.flag("mlp_bias", False), **_biased(c))


def _mistral(c: _Config) -> Architecture:
    # A missing window is the default of the class, 4096; null is none.
    window = c.optional("sliding_window") if "sliding_window" in c.values else 4096
    windows = c.windows(c.layers("num_hidden_layers"), window, lambda i: True)
    return _llama_like(c, grouped=False, **windows)


def _mixtral(c: _Config) -> Architecture:
    layers, ff = c.layers("num_hidden_layers"), c.size("intermediate_size")
    experts = _experts(c, ("num_local_experts", "num_experts"), "num_experts_per_tok", ff)
    windows = c.windows(layers, c.optional("sliding_window"), lambda i: True)
    return _llama_like(c, grouped=False, experts=experts, **windows)


def _experts(c: _Config, count: tuple[str, ...], active: str, width: int,
             **fields: Any) -> Experts:
    most = _MOST["experts"]
    return Experts(c.size(*count, most=most), c.size(active, most=most), width, **fields)


def _qwen(c: _Config) -> Architecture:
    c.only("no_bias", True)
    if c.size("intermediate_size") % 2:
        c.refuse("intermediate_size", "it is not even; it counts both matrices of the gate")
    c.remarks.append("model_type qwen is read from memory of code outside transformers: unverified")
    return Architecture(
        layers=c.layers("num_hidden_layers"), width=c.size("hidden_size"),
        heads=c.size("num_attention_heads"), head_width=c.optional("kv_channels"),
        d_ff=c.size("intermediate_size") // 2, vocabulary=c.size("vocab_size"),
        context=c.optional("seq_length") or c.size("max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", False), qkv_bias=True)


def _qwen_windows(c: _Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    if not c.flag("use_sliding_window", False):
        return {}
    first = c.size("max_window_layers", least=0)
    return c.windows(layers, c.size("sliding_window"), lambda i: i >= first)


def _qwen2(c: _Config) -> Architecture:
    return _llama_like(c, grouped=False, qkv_bias=True, **_qwen_windows(c))


def _qwen3(c: _Config) -> Architecture:
    # A missing head_dim is the default of the class, 128.
    return _llama_like(c, grouped=False, qk_norm="head", **_biased(c),
                       head_width=c.size("head_dim", default=128), **_qwen_windows(c))


def _sparse_steps(c: _Config) -> int:
    """Layers without experts: those listed, and all but every decoder_sparse_step-th."""
    layers, step = c.layers("num_hidden_layers"), c.size("decoder_sparse_step", default=1)
    listed = set(c.whole_numbers("mlp_only_layers"))
    dense = [i for i in range(layers) if i in listed or (i + 1) % step]
    if dense != list(range(len(dense))):
        c.remarks.append(f"{len(dense)} of the {layers} layers are dense, and not the first ones")
    return len(dense)


def _moe_windows(c: _Config) -> None:
    if c.flag("use_sliding_window", False):
        c.refuse("use_sliding_window", "sliding windows are not described for this class; "
                 "set it to false to count at full context")


def _qwen2_moe(c: _Config) -> Architecture:
    _moe_windows(c)
    experts = _experts(c, ("num_experts", "num_local_experts"), "num_experts_per_tok",
                       c.size("moe_intermediate_size"), shared=1, shared_gate=True,
                       shared_width=c.size("shared_expert_intermediate_size"),
                       dense_layers=_sparse_steps(c))
    return _llama_like(c, grouped=False, qkv_bias=c.flag("qkv_bias", True), experts=experts)


def _qwen3_moe(c: _Config) -> Architecture:
    _moe_windows(c)
    experts = _experts(c, ("num_experts", "num_local_experts"), "num_experts_per_tok",
                       c.size("moe_intermediate_size"), dense_layers=_sparse_steps(c))
    return _llama_like(c, grouped=False, qk_norm="head", experts=experts, **_biased(c))


def _gemma(c: _Config, **fields: Any) -> Architecture:
    # tie_word_embeddings is absent from most files: the default of the classes is true.
    return _llama_like(c, grouped=False, **_biased(c), tied=c.flag("tie_word_embeddings", True),
                       head_width=c.size("head_dim"), **fields)


def _gemma2(c: _Config) -> Architecture:
    # By default of the class the first, third, ... layer has a window of 4096.
    windows = c.windows(c.layers("num_hidden_layers"), c.size("sliding_window", default=4096),
                        lambda i: i % 2 == 0)
    return _gemma(c, norms_per_layer=4, **windows)


def _gemma3_text(c: _Config) -> Architecture:
    # Published files of Gemma 3 with images leave out sizes that equal the defaults of the class.
    for key, default in (("num_attention_heads", 8), ("num_key_value_heads", 4), ("head_dim", 256),
                         ("vocab_size", 262208), ("max_position_embeddings", 131072)):
        if c.values.get(key) is None:
            c.values = {**c.values, key: default}
            c.remarks.append(f"{key} is missing; {default} is the default of Gemma3TextConfig")
    # By default of the class five layers of six have a window, of 4096.
    step = c.size("sliding_window_pattern", "_sliding_window_pattern", default=6)
    windows = c.windows(c.layers("num_hidden_layers"), c.size("sliding_window", default=4096),
                        lambda i: (i + 1) % step != 0)
    return _gemma(c, norms_per_layer=4, qk_norm="head", **windows)


def _gemma3(c: _Config) -> Architecture:
    text = c.part("text_config")
    found = _gemma3_text(text)
    return found.with_(remarks=(
        *text.remarks, "the language model alone: vision tower and projector are not counted"))


def _phi(c: _Config) -> Architecture:
    return _llama_like(
        c, gated=False, norm="layernorm", norm_bias=True, norms_per_layer=1, qkv_bias=True,
        output_bias=True, mlp_bias=True, head_bias=True,
        qk_norm="head" if c.flag("qk_layernorm", False) else "none")


def _phi3(c: _Config) -> Architecture:
    windows = c.windows(c.layers("num_hidden_layers"), c.optional("sliding_window"), lambda i: True)
    return _llama_like(c, **windows)


def _falcon(c: _Config) -> Architecture:
    width, heads = c.size("hidden_size"), c.size("num_attention_heads", "n_head")
    bias, parallel = c.flag("bias", False), c.flag("parallel_attn", True)
    new = c.flag("new_decoder_architecture", False)
    keys = 1 if c.flag("multi_query", True) else heads
    if new:
        keys = c.size("num_kv_heads", "n_head_kv", default=heads)
    norms = c.optional("num_ln_in_parallel_attn", most=2)
    if norms is None:
        norms = 2 if new else 1
    return Architecture(
        layers=c.layers("num_hidden_layers", "n_layer"), width=width, heads=heads, kv_heads=keys,
        d_ff=c.size("ffn_hidden_size", default=4 * width), vocabulary=c.size("vocab_size"),
        context=c.size("max_position_embeddings", default=2048), gated=False, norm="layernorm",
        norm_bias=True, norms_per_layer=norms if parallel else 2, qkv_bias=bias, output_bias=bias,
        mlp_bias=bias, tied=c.flag("tie_word_embeddings", True))


def _mpt(c: _Config) -> Architecture:
    c.only("no_bias", True)
    c.only("expansion_ratio", 4)
    attention = c.part("attn_config") if c.values.get("attn_config") is not None else None
    if attention:
        attention.only("attn_type", "multihead_attention")
        attention.only("qk_ln", False)
        attention.only("alibi", True)
    width = c.size("d_model", "hidden_size")
    return Architecture(
        layers=c.layers("n_layers", "num_hidden_layers"), width=width,
        heads=c.size("n_heads", "num_attention_heads"), d_ff=4 * width,
        vocabulary=c.size("vocab_size"), context=c.size("max_seq_len"), gated=False,
        norm="layernorm", tied=c.flag("tie_word_embeddings", True))


def _gpt2(c: _Config) -> Architecture:
    c.only("add_cross_attention", False)
    width, rows = c.size("n_embd", "hidden_size"), c.size("n_positions", "max_position_embeddings")
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"), width=width,
        heads=c.size("n_head", "num_attention_heads"), d_ff=c.size("n_inner", default=4 * width),
        vocabulary=c.size("vocab_size"), context=rows, learned_positions=rows,
        tied=c.flag("tie_word_embeddings", True), **_GPT)


# Biases and LayerNorm everywhere, a plain feed-forward network.
_GPT: dict[str, Any] = {
    "gated": False, "norm": "layernorm", "norm_bias": True, "qkv_bias": True, "output_bias": True,
    "mlp_bias": True}


def _gpt_neox(c: _Config) -> Architecture:
    # The class knows neither key heads nor a width of heads, and ignores what a file says of them.
    plain = c.without("num_key_value_heads", "head_dim")
    return _llama_like(plain, **{**_GPT, **_biased(c, True)})


def _gptj(c: _Config) -> Architecture:
    width = c.size("n_embd", "hidden_size")
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"), width=width,
        heads=c.size("n_head", "num_attention_heads"), d_ff=c.size("n_inner", default=4 * width),
        vocabulary=c.size("vocab_size"), context=c.size("n_positions", "max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", False), norms_per_layer=1, head_bias=True,
        **{**_GPT, "qkv_bias": False, "output_bias": False})


def _bloom(c: _Config) -> Architecture:
    width = c.size("hidden_size", "n_embed")
    # Its positions need no table, so that the files name no longest sequence.
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"), width=width,
        heads=c.size("n_head", "num_attention_heads"), d_ff=4 * width,
        vocabulary=c.size("vocab_size"), context=c.size("seq_length", default=2048),
        embedding_norm=True, tied=c.flag("tie_word_embeddings", True), **_GPT)


def _opt(c: _Config) -> Architecture:
    bias, width = c.flag("enable_bias", True), c.size("hidden_size")
    affine = c.flag("layer_norm_elementwise_affine", True)
    table, rows = c.size("word_embed_proj_dim", default=width), c.size("max_position_embeddings")
    final = c.flag("do_layer_norm_before", True) and not c.flag("_remove_final_layer_norm", False)
    return Architecture(
        layers=c.layers("num_hidden_layers"), width=width, heads=c.size("num_attention_heads"),
        d_ff=c.size("ffn_dim"), vocabulary=c.size("vocab_size"), context=rows,
        # Two rows stand before the first position.
        learned_positions=rows + 2, embedding_width=None if table == width else table,
        final_norm=final, tied=c.flag("tie_word_embeddings", True),
        **{**_GPT, "norm": "layernorm" if affine else "none", "qkv_bias": bias,
           "output_bias": bias, "mlp_bias": bias})


def _olmo(c: _Config) -> Architecture:
    return _llama_like(c, norm="none", **_biased(c))


def _olmo2(c: _Config) -> Architecture:
    return _llama_like(c, qk_norm="width", **_biased(c))


def _smollm3(c: _Config) -> Architecture:
    if c.flag("use_sliding_window", False):
        c.refuse("use_sliding_window", "sliding windows are not described for this class")
    return _llama_like(c, grouped=False, mlp_bias=c.flag("mlp_bias", False),
                       tied=c.flag("tie_word_embeddings", True), **_biased(c))


def _t5(c: _Config) -> Architecture:
    activation = c.values.get("feed_forward_proj", "relu")
    if activation not in ("relu", "gated-gelu", "gated-silu", "gelu"):
        c.refuse("feed_forward_proj", f"{quoted(json.dumps(activation))[1:-1]} is not described "
                 "here; accepted are relu, gelu, gated-gelu and gated-silu")
    c.only("is_encoder_decoder", True)
    layers = c.layers("num_layers", "num_hidden_layers")
    tied = c.flag("tie_word_embeddings", True)
    if not tied:
        c.remarks.append("counted with an output layer of its own, as tie_word_embeddings = false "
                         "and the published weights have it; transformers 5 builds a tied one")
    if c.optional("n_positions") is None:
        c.remarks.append("n_positions is missing; 512 tokens is what T5 was trained with")
    return Architecture(
        layers=c.optional("num_decoder_layers", most=_MOST["layers"]) or layers,
        encoder_layers=layers, kind="encoder-decoder", width=c.size("d_model", "hidden_size"),
        heads=c.size("num_heads", "num_attention_heads"), head_width=c.size("d_kv", "head_dim"),
        d_ff=c.size("d_ff"), vocabulary=c.size("vocab_size"),
        context=c.size("n_positions", default=512), gated=activation.startswith("gated"), tied=tied,
        relative_buckets=c.size("relative_attention_num_buckets", default=32))


def _encoder(c: _Config, layers: int, rows: int, context: int, **fields: Any) -> Architecture:
    c.only("is_decoder", False)
    c.only("add_cross_attention", False)
    c.only("position_embedding_type", "absolute")
    c.only("tie_word_embeddings", True)
    c.remarks.append("counted as a masked language model: without the pooler")
    return Architecture(
        layers=layers, width=c.size("hidden_size"), heads=c.size("num_attention_heads"),
        d_ff=c.size("intermediate_size"), vocabulary=c.size("vocab_size"), kind="encoder",
        context=context, learned_positions=rows, token_types=c.size("type_vocab_size"),
        embedding_norm=True, final_norm=False, head_transform=True, head_bias=True,
        tied=True, **_GPT, **fields)


def _bert(c: _Config) -> Architecture:
    rows = c.size("max_position_embeddings")
    return _encoder(c, c.layers("num_hidden_layers"), rows, rows)


def _roberta(c: _Config) -> Architecture:
    # Positions are counted from the row after the padding's on: by default the third.
    rows, padding = c.size("max_position_embeddings"), c.size("pad_token_id", default=1, least=0)
    if rows <= padding + 1:
        c.refuse("max_position_embeddings", f"{rows} rows leave no position after the padding's")
    return _encoder(c, c.layers("num_hidden_layers"), rows, rows - padding - 1)


def _albert(c: _Config) -> Architecture:
    rows, inner = c.size("max_position_embeddings"), c.size("inner_group_num", default=1)
    layers = c.layers("num_hidden_layers")
    groups = c.size("num_hidden_groups", default=1, most=layers)
    return _encoder(c, layers * inner, rows, rows, unique_layers=groups * inner,
                    embedding_width=c.size("embedding_size"), embedding_sum=True)


def _latent(c: _Config) -> Latent:
    return Latent(
        kv_rank=c.size("kv_lora_rank"), q_rank=c.optional("q_lora_rank"),
        nope_width=c.size("qk_nope_head_dim"), rope_width=c.size("qk_rope_head_dim"),
        value_width=c.size("v_head_dim"))


def _deepseek(c: _Config) -> Architecture:
    if "q_lora_rank" not in c.values:
        c.refuse("q_lora_rank", "it is missing; give a whole number, or null for none")
    c.only("moe_layer_freq", 1)
    layers, width = c.layers("num_hidden_layers"), c.size("moe_intermediate_size")
    experts = _experts(
        c, ("n_routed_experts", "num_local_experts", "num_experts"), "num_experts_per_tok", width,
        shared=c.size("n_shared_experts", most=_MOST["experts"]),
        dense_layers=c.size("first_k_dense_replace", least=0, most=layers))
    if c.optional("num_nextn_predict_layers", least=0):
        c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    if c.kind == "deepseek_v3":
        c.remarks.append("the router's correction biases are a buffer, and not counted")
    mlp_bias = c.kind == "deepseek_v2" and c.flag("mlp_bias", False)
    if mlp_bias:
        c.refuse("mlp_bias", "biases of experts are not described for this class")
    # Keys are made from the latent for every head.
    plain = c.without("num_key_value_heads", "head_dim")
    return _llama_like(plain, experts=experts, latent=_latent(c), **_biased(c))


def _glm4_moe(c: _Config) -> Architecture:
    layers = c.layers("num_hidden_layers")
    experts = _experts(
        c, ("n_routed_experts", "num_local_experts", "num_experts"), "num_experts_per_tok",
        c.size("moe_intermediate_size"), shared=c.size("n_shared_experts", most=_MOST["experts"]),
        dense_layers=c.size("first_k_dense_replace", least=0, most=layers))
    c.remarks.append("the router's correction biases are a buffer, and not counted")
    if c.optional("num_nextn_predict_layers", least=0):
        c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    return _llama_like(c, grouped=False, experts=experts, head_width=c.size("head_dim"),
                       qkv_bias=c.flag("attention_bias", False),
                       qk_norm="head" if c.flag("use_qk_norm", False) else "none")


def _gpt_oss(c: _Config) -> Architecture:
    layers, ff = c.layers("num_hidden_layers"), c.size("intermediate_size")
    # By default of the class the first, third, ... layer has a window of 128.
    windows = c.windows(layers, c.size("sliding_window", default=128), lambda i: i % 2 == 0)
    experts = _experts(c, ("num_local_experts", "num_experts"), "num_experts_per_tok", ff,
                       router_bias=True)
    return _llama_like(c, grouped=False, head_width=c.size("head_dim"), experts=experts, sinks=True,
                       mlp_bias=True, **_biased(c, True), **windows)


def _cohere(c: _Config) -> Architecture:
    return _llama_like(
        c, norm="layernorm", norms_per_layer=1, tied=c.flag("tie_word_embeddings", True),
        qk_norm="width" if c.flag("use_qk_norm", False) else "none", **_biased(c))


def _stablelm(c: _Config) -> Architecture:
    c.only("qk_layernorm", False)
    return _llama_like(
        c.without("head_dim"), grouped=False, norm="layernorm", norm_bias=True,
        norms_per_layer=1 if c.flag("use_parallel_residual", False) else 2,
        qkv_bias=c.flag("use_qkv_bias", False))


def _arcee(c: _Config) -> Architecture:
    return _llama_like(c, gated=False, mlp_bias=c.flag("mlp_bias", False), **_biased(c))


_READERS: dict[str, Callable[[_Config], Architecture]] = {
    "albert": _albert, "arcee": _arcee, "bert": _bert, "bloom": _bloom, "cohere": _cohere,
    "deepseek_v2": _deepseek, "deepseek_v3": _deepseek, "falcon": _falcon, "gemma": _gemma,
    "gemma2": _gemma2, "gemma3": _gemma3, "gemma3_text": _gemma3_text, "glm4_moe": _glm4_moe,
    "gpt2": _gpt2, "gpt_neox": _gpt_neox, "gpt_oss": _gpt_oss, "gptj": _gptj, "llama": _llama,
    "mistral": _mistral, "mixtral": _mixtral, "mpt": _mpt, "olmo": _olmo, "olmo2": _olmo2,
    "opt": _opt, "phi": _phi, "phi3": _phi3, "qwen": _qwen, "qwen2": _qwen2,
    "qwen2_moe": _qwen2_moe, "qwen3": _qwen3, "qwen3_moe": _qwen3_moe, "roberta": _roberta,
    "smollm3": _smollm3, "stablelm": _stablelm, "t5": _t5, "xlm-roberta": _roberta,
}

# What keeps well-known classes from being counted.
_REFUSED = {
    "dbrx": "clipped attention and nested sizes are not described here",
    "deepseek_v32": "its index over tokens is not described here",
    "gemma3n": "its per-layer embeddings are not described here",
    "gemma4": "its per-layer embeddings are not described here",
    "jamba": "state-space layers are not described here",
    "llama4": "its alternating experts are not described here",
    "llava": "vision towers are not described here; read the language model's own config.json",
    "mamba": "state-space layers are not described here",
    "mamba2": "state-space layers are not described here",
    "mllama": "cross-attention to images is not described here",
    "modernbert": "its first layer has a norm fewer, which is not described here",
    "qwen3_next": "its linear attention layers are not described here",
    "rwkv": "recurrent layers are not described here",
    "umt5": "its relative positions in every layer are not described here",
}


# --- writing --------------------------------------------------------------------------------------

# Tried in this order: the plainest class that holds an architecture comes first.
_WRITERS = {
    "llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
    "mistral": "MistralForCausalLM", "mixtral": "MixtralForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM", "qwen2_moe": "Qwen2MoeForCausalLM",
    "glm4_moe": "Glm4MoeForCausalLM", "deepseek_v3": "DeepseekV3ForCausalLM",
    "deepseek_v2": "DeepseekV2ForCausalLM", "arcee": "ArceeForCausalLM",
    "gpt2": "GPT2LMHeadModel", "gpt_neox": "GPTNeoXForCausalLM", "bert": "BertForMaskedLM",
    "t5": "T5ForConditionalGeneration", "opt": "OPTForCausalLM", "bloom": "BloomForCausalLM",
    "gpt_oss": "GptOssForCausalLM", "olmo": "OlmoForCausalLM", "olmo2": "Olmo2ForCausalLM",
    "gemma": "GemmaForCausalLM", "gemma2": "Gemma2ForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM", "falcon": "FalconForCausalLM", "mpt": "MptForCausalLM",
    "gptj": "GPTJForCausalLM", "phi": "PhiForCausalLM", "stablelm": "StableLmForCausalLM",
    "cohere": "CohereForCausalLM", "roberta": "RobertaForMaskedLM", "albert": "AlbertForMaskedLM",
}


def _written(a: Architecture, kind: str) -> dict[str, Any]:
    """The keys of a class, from the fields that it can hold; `config_of` reads them back and
    compares."""
    e, m = a.experts, a.latent
    if kind in ("gpt2", "gptj"):
        return {"n_layer": a.layers, "n_embd": a.width, "n_head": a.heads, "n_inner": a.d_ff,
                "vocab_size": a.vocabulary, "n_positions": a.learned_positions or a.context,
                "tie_word_embeddings": a.tied}
    if kind == "t5":
        return {"num_layers": a.encoder_layers, "num_decoder_layers": a.layers, "d_model": a.width,
                "num_heads": a.heads, "d_kv": a.head_size, "d_ff": a.d_ff,
                "vocab_size": a.vocabulary, "n_positions": a.context,
                "feed_forward_proj": "gated-gelu" if a.gated else "relu",
                "relative_attention_num_buckets": a.relative_buckets,
                "is_encoder_decoder": True, "tie_word_embeddings": a.tied}
    if kind in ("bloom", "mpt"):
        names = {"bloom": ("n_layer", "hidden_size", "n_head", "seq_length"),
                 "mpt": ("n_layers", "d_model", "n_heads", "max_seq_len")}[kind]
        sizes = dict(zip(names, (a.layers, a.width, a.heads, a.context), strict=True))
        return {**sizes, "vocab_size": a.vocabulary, "tie_word_embeddings": a.tied}
    values: dict[str, Any] = {
        "num_hidden_layers": a.layers, "hidden_size": a.width, "num_attention_heads": a.heads,
        "vocab_size": a.vocabulary, "max_position_embeddings": a.context,
        "tie_word_embeddings": a.tied}
    if kind == "falcon":
        return {**values, "num_kv_heads": a.key_heads, "ffn_hidden_size": a.d_ff,
                "new_decoder_architecture": a.norms_per_layer == 2 or a.key_heads > 1,
                "multi_query": True, "parallel_attn": True, "bias": a.mlp_bias,
                "num_ln_in_parallel_attn": a.norms_per_layer}
    if kind == "opt":
        return {**values, "ffn_dim": a.d_ff, "do_layer_norm_before": a.final_norm,
                "word_embed_proj_dim": a.embedding_width or a.width, "enable_bias": a.mlp_bias,
                "layer_norm_elementwise_affine": a.norm != "none"}
    values["intermediate_size"] = a.d_ff
    if kind in ("bert", "roberta", "albert"):
        values |= {"type_vocab_size": a.token_types, "max_position_embeddings": a.learned_positions}
        if kind == "albert":
            values |= {"embedding_size": a.embedding_width, "num_hidden_groups": a.own_layers,
                       "inner_group_num": 1}
        return values
    values["num_key_value_heads"] = a.key_heads
    if kind not in ("gpt_neox", "phi", "stablelm", "deepseek_v2", "deepseek_v3"):
        values["head_dim"] = a.head_size
    if kind in ("llama", "qwen3", "qwen3_moe", "glm4_moe", "deepseek_v2", "deepseek_v3", "arcee",
                "gpt_neox", "gpt_oss", "olmo", "olmo2", "gemma", "gemma2", "gemma3_text", "cohere"):
        values["attention_bias"] = a.qkv_bias
    if kind in ("llama", "arcee"):
        values["mlp_bias"] = a.mlp_bias
    if kind in ("mistral", "mixtral", "gemma2", "gemma3_text", "gpt_oss"):
        values["sliding_window"] = a.window
    if kind in ("gemma2", "gemma3_text", "gpt_oss") and a.window is None:
        values |= {"sliding_window": 4096, "layer_types": ["full_attention"] * a.layers}
    if kind == "cohere":
        values["use_qk_norm"] = a.qk_norm == "width"
    if kind == "stablelm":
        values |= {"use_qkv_bias": a.qkv_bias, "use_parallel_residual": a.norms_per_layer == 1}
    if e and kind in ("mixtral", "gpt_oss"):
        values |= {"num_local_experts": e.count, "num_experts_per_tok": e.active,
                   "intermediate_size": e.width}
    if e and kind in ("qwen2_moe", "qwen3_moe"):
        values |= {"num_experts": e.count, "num_experts_per_tok": e.active,
                   "moe_intermediate_size": e.width, "decoder_sparse_step": 1,
                   "mlp_only_layers": list(range(e.dense_layers))}
        if kind == "qwen2_moe":
            values |= {"shared_expert_intermediate_size": e.shared_size, "qkv_bias": a.qkv_bias}
    if e and kind in ("glm4_moe", "deepseek_v2", "deepseek_v3"):
        values |= {"n_routed_experts": e.count, "num_experts_per_tok": e.active,
                   "moe_intermediate_size": e.width, "n_shared_experts": e.shared,
                   "first_k_dense_replace": e.dense_layers, "n_group": 1, "topk_group": 1}
        if kind == "glm4_moe":
            values["use_qk_norm"] = a.qk_norm == "head"
    if m and kind in ("deepseek_v2", "deepseek_v3"):
        values |= {"kv_lora_rank": m.kv_rank, "q_lora_rank": m.q_rank,
                   "qk_nope_head_dim": m.nope_width, "qk_rope_head_dim": m.rope_width,
                   "v_head_dim": m.value_width}
    return values
