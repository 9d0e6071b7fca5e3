"""Model classes of Hugging Face: how the configuration of each is read, and how it is written.

The weights are those of the class in transformers; tests build each one and compare. A key that is
missing takes the default of its class only where the text of a reader says so; a missing size is an
error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from .architecture import Architecture, Experts, Latent
from .base.quantities import UsageError, quoted

_MOST_SIZE = 2**24
_MOST = {"layers": 10_000, "experts": 100_000}


class Config:
    """The values of a configuration, read one by one, each checked."""

    def __init__(self, values: dict[str, Any], kind: str) -> None:
        self.values, self.kind = values, kind
        self.remarks: list[str] = []

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raise a UsageError that names the class and the key."""
        raise UsageError(f"{self.kind} configuration, {key}: {why}")

    def size(
        self, *keys: str, default: int | None = None, most: int = _MOST_SIZE, least: int = 1
    ) -> int:
        """A whole number under one of several names of the same thing."""
        found = self.optional(*keys, most=most, least=least)
        if found is None:
            found = default
        if found is None:
            self.refuse(
                " or ".join(keys), f"the size is missing; give a whole number, {least} to {most:,}"
            )
        return found

    def optional(self, *keys: str, most: int = _MOST_SIZE, least: int = 1) -> int | None:
        """As `size`; None where it is missing or null."""
        found = {key: self.values[key] for key in keys if self.values.get(key) is not None}
        for key, value in found.items():
            if type(value) is not int or not least <= value <= most:
                shown = quoted(json.dumps(value))[1:-1]
                self.refuse(key, f"{shown} is not a whole number from {least} to {most:,}")
        if len(set(found.values())) > 1:
            self.refuse(
                " and ".join(found),
                "two names of one size have different values; remove one of them",
            )
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
            self.refuse(
                key,
                f"weights for {quoted(json.dumps(value))[1:-1]} are not described "
                f"here; accepted is {' or '.join(json.dumps(a) for a in accepted)}",
            )

    def part(self, key: str) -> Config:
        """The configuration below a key."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "it is missing, or no object with keys and values")
        return Config(value, self.kind)

    def without(self, *keys: str) -> Config:
        """The configuration less keys that the class ignores."""
        return Config({k: v for k, v in self.values.items() if k not in keys}, self.kind)

    def whole_numbers(self, key: str) -> list[int]:
        """A list of whole numbers; missing and null are the empty list."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or any(type(v) is not int for v in value):
            self.refuse(key, "it is not a list of whole numbers")
        return value

    def unless_null(self, key: str, default: int) -> int | None:
        """A size: missing it is the default of the class, and null is none."""
        return self.optional(key) if key in self.values else default

    def layers(self, *keys: str) -> int:
        """A number of layers."""
        return self.size(*keys, most=_MOST["layers"])

    def windows(
        self, layers: int, window: int | None, pattern: Callable[[int], bool]
    ) -> dict[str, Any]:
        """Fields for sliding windows: in the layers that `layer_types` lists, or the pattern."""
        types = self.values.get("layer_types")
        if types is None:
            count = sum(map(pattern, range(layers)))
        else:
            known = ("sliding_attention", "full_attention")
            if (
                not isinstance(types, list)
                or len(types) != layers
                or any(t not in known for t in types)
            ):
                self.refuse(
                    "layer_types", f"it is not a list of {layers} times {' or '.join(known)}"
                )
            count = types.count("sliding_attention")
        return {"window": window, "window_layers": count} if window and count else {}


def _llama_like(c: Config, grouped: bool = True, **fields: Any) -> Architecture:
    """What most classes share. Without num_key_value_heads every query head has a key head, unless
    the class has another default (`grouped`): then it must be given."""
    layers, heads = c.layers("num_hidden_layers"), c.size("num_attention_heads")
    keys = c.optional("num_key_value_heads")
    if keys is None and not grouped:
        c.size("num_key_value_heads")
    made: dict[str, Any] = {
        "head_width": c.optional("head_dim"),
        "tied": c.flag("tie_word_embeddings", False),
        **fields,
    }
    return Architecture(
        layers=layers,
        width=c.size("hidden_size"),
        heads=heads,
        kv_heads=keys,
        d_ff=made.pop("d_ff", None) or c.size("intermediate_size"),
        vocabulary=c.size("vocab_size"),
        context=c.size("max_position_embeddings"),
        **made,
    )


def _sizes(a: Architecture, **keys: Any) -> dict[str, Any]:
    """The keys of most classes, and more."""
    return {
        "num_hidden_layers": a.layers,
        "hidden_size": a.width,
        "num_attention_heads": a.heads,
        "vocab_size": a.vocabulary,
        "max_position_embeddings": a.context,
        "tie_word_embeddings": a.tied,
        **keys,
    }


def _grouped(a: Architecture, **keys: Any) -> dict[str, Any]:
    """The keys of most classes with a feed-forward network and grouped queries, and more."""
    return _sizes(a, intermediate_size=a.d_ff, num_key_value_heads=a.key_heads, **keys)


def _write_llama_like(a: Architecture, **keys: Any) -> dict[str, Any]:
    return _grouped(a, head_dim=a.head_size, **keys)


def _write_biased(a: Architecture, **keys: Any) -> dict[str, Any]:
    return _write_llama_like(a, attention_bias=a.qkv_bias, **keys)


def _biased(c: Config, default: bool = False) -> dict[str, bool]:
    bias = c.flag("attention_bias", default)
    return {"qkv_bias": bias, "output_bias": bias}


def _llama(c: Config) -> Architecture:
    return _llama_like(c, mlp_bias=c.flag("mlp_bias", False), **_biased(c))


def _write_llama(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, mlp_bias=a.mlp_bias)


def _mistral(c: Config) -> Architecture:
    windows = c.windows(
        c.layers("num_hidden_layers"), c.unless_null("sliding_window", 4096), lambda i: True
    )
    return _llama_like(c, grouped=False, **windows)


def _write_mistral(a: Architecture) -> dict[str, Any]:
    return _write_llama_like(a, sliding_window=a.window)


def _mixtral(c: Config) -> Architecture:
    layers, ff = c.layers("num_hidden_layers"), c.size("intermediate_size")
    experts = _experts(c, ("num_local_experts", "num_experts"), "num_experts_per_tok", ff)
    windows = c.windows(layers, c.optional("sliding_window"), lambda i: True)
    return _llama_like(c, grouped=False, experts=experts, **windows)


def _write_mixtral(a: Architecture) -> dict[str, Any]:
    return {**_write_mistral(a), **_write_experts(a, "num_local_experts", "intermediate_size")}


def _experts(c: Config, count: tuple[str, ...], active: str, width: int, **fields: Any) -> Experts:
    most = _MOST["experts"]
    return Experts(c.size(*count, most=most), c.size(active, most=most), width, **fields)


def _write_experts(a: Architecture, count: str, width: str) -> dict[str, Any]:
    e = a.experts
    return {count: e.count, "num_experts_per_tok": e.active, width: e.width} if e else {}


def _qwen(c: Config) -> Architecture:
    c.only("no_bias", True)
    if c.size("intermediate_size") % 2:
        c.refuse("intermediate_size", "it is not even; it counts both matrices of the gate")
    c.remarks.append("model_type qwen is read from memory of code outside transformers: unverified")
    return Architecture(
        layers=c.layers("num_hidden_layers"),
        width=c.size("hidden_size"),
        heads=c.size("num_attention_heads"),
        head_width=c.optional("kv_channels"),
        d_ff=c.size("intermediate_size") // 2,
        vocabulary=c.size("vocab_size"),
        context=c.optional("seq_length") or c.size("max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", False),
        qkv_bias=True,
    )


def _qwen_windows(c: Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    if not c.flag("use_sliding_window", False):
        return {}
    first = c.size("max_window_layers", least=0)
    return c.windows(layers, c.size("sliding_window"), lambda i: i >= first)


def _qwen2(c: Config) -> Architecture:
    return _llama_like(c, grouped=False, qkv_bias=True, **_qwen_windows(c))


def _write_qwen2(a: Architecture) -> dict[str, Any]:
    return _write_llama_like(a)


def _qwen3(c: Config) -> Architecture:
    # A missing head_dim is the default of the class, 128.
    return _llama_like(
        c,
        grouped=False,
        qk_norm="head",
        **_biased(c),
        head_width=c.size("head_dim", default=128),
        **_qwen_windows(c),
    )


def _write_qwen3(a: Architecture) -> dict[str, Any]:
    return _write_biased(a)


def _sparse_steps(c: Config) -> int:
    """Layers without experts: those listed, and all but every decoder_sparse_step-th."""
    layers, step = c.layers("num_hidden_layers"), c.size("decoder_sparse_step", default=1)
    listed = c.whole_numbers("mlp_only_layers")
    if len(set(listed)) < len(listed) or not all(0 <= i < layers for i in listed):
        c.refuse("mlp_only_layers", f"it is not a list of different layers from 0 to {layers - 1}")
    dense = [i for i in range(layers) if i in set(listed) or (i + 1) % step]
    if dense != list(range(len(dense))):
        c.remarks.append(f"{len(dense)} of the {layers} layers are dense, and not the first ones")
    return len(dense)


def _write_sparse(a: Architecture) -> dict[str, Any]:
    dense = a.experts.dense_layers if a.experts else 0
    return {
        **_write_experts(a, "num_experts", "moe_intermediate_size"),
        "decoder_sparse_step": 1,
        "mlp_only_layers": list(range(dense)),
    }


def _moe_windows(c: Config) -> None:
    if c.flag("use_sliding_window", False):
        c.refuse(
            "use_sliding_window",
            "sliding windows are not described for this class; "
            "set it to false to count at full context",
        )


def _qwen2_moe(c: Config) -> Architecture:
    _moe_windows(c)
    experts = _experts(
        c,
        ("num_experts", "num_local_experts"),
        "num_experts_per_tok",
        c.size("moe_intermediate_size"),
        shared=1,
        shared_gate=True,
        shared_width=c.size("shared_expert_intermediate_size"),
        dense_layers=_sparse_steps(c),
    )
    return _llama_like(c, grouped=False, qkv_bias=c.flag("qkv_bias", True), experts=experts)


def _write_qwen2_moe(a: Architecture) -> dict[str, Any]:
    shared = a.experts.shared_size if a.experts else None
    return _write_llama_like(
        a, **_write_sparse(a), shared_expert_intermediate_size=shared, qkv_bias=a.qkv_bias
    )


def _qwen3_moe(c: Config) -> Architecture:
    _moe_windows(c)
    experts = _experts(
        c,
        ("num_experts", "num_local_experts"),
        "num_experts_per_tok",
        c.size("moe_intermediate_size"),
        dense_layers=_sparse_steps(c),
    )
    return _llama_like(c, grouped=False, qk_norm="head", experts=experts, **_biased(c))


def _write_qwen3_moe(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, **_write_sparse(a))


def _gemma(c: Config, **fields: Any) -> Architecture:
    # tie_word_embeddings is absent from most files: the default of the classes is true.
    return _llama_like(
        c,
        grouped=False,
        **_biased(c),
        tied=c.flag("tie_word_embeddings", True),
        head_width=c.size("head_dim"),
        **fields,
    )


def _write_gemma(a: Architecture) -> dict[str, Any]:
    return _write_biased(a)


def _gemma2(c: Config) -> Architecture:
    # By default of the class the first, third, ... layer has a window of 4096.
    windows = c.windows(
        c.layers("num_hidden_layers"), c.size("sliding_window", default=4096), lambda i: i % 2 == 0
    )
    return _gemma(c, norms_per_layer=4, **windows)


def _write_windows(a: Architecture) -> dict[str, Any]:
    """For classes in which some layers have a window unless all are listed without."""
    if a.window:
        return {"sliding_window": a.window}
    return {"sliding_window": 4096, "layer_types": ["full_attention"] * a.layers}


def _write_gemma2(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, **_write_windows(a))


def _gemma3_text(c: Config) -> Architecture:
    # Published files of Gemma 3 with images leave out sizes that equal the defaults of the class.
    for key, default in (
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
        ("vocab_size", 262208),
        ("max_position_embeddings", 131072),
    ):
        if c.values.get(key) is None:
            c.values = {**c.values, key: default}
            c.remarks.append(f"{key} is missing; {default} is the default of Gemma3TextConfig")
    # By default of the class five layers of six have a window, of 4096.
    step = c.size("sliding_window_pattern", "_sliding_window_pattern", default=6)
    windows = c.windows(
        c.layers("num_hidden_layers"),
        c.size("sliding_window", default=4096),
        lambda i: (i + 1) % step != 0,
    )
    return _gemma(c, norms_per_layer=4, qk_norm="head", **windows)


def _gemma3(c: Config) -> Architecture:
    text = c.part("text_config")
    found = _gemma3_text(text)
    return found.with_(
        remarks=(
            *text.remarks,
            "the language model alone: vision tower and projector are not counted",
        )
    )


def _phi(c: Config) -> Architecture:
    return _llama_like(
        c,
        gated=False,
        norm="layernorm",
        norm_bias=True,
        norms_per_layer=1,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        head_bias=True,
        qk_norm="head" if c.flag("qk_layernorm", False) else "none",
    )


def _write_phi(a: Architecture) -> dict[str, Any]:
    return _grouped(a, qk_layernorm=a.qk_norm == "head")


def _phi3(c: Config) -> Architecture:
    windows = c.windows(c.layers("num_hidden_layers"), c.optional("sliding_window"), lambda i: True)
    return _llama_like(c, **windows)


def _falcon(c: Config) -> Architecture:
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
        layers=c.layers("num_hidden_layers", "n_layer"),
        width=width,
        heads=heads,
        kv_heads=keys,
        d_ff=c.size("ffn_hidden_size", default=4 * width),
        vocabulary=c.size("vocab_size"),
        context=c.size("max_position_embeddings", default=2048),
        gated=False,
        norm="layernorm",
        norm_bias=True,
        norms_per_layer=norms if parallel else 2,
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=bias,
        tied=c.flag("tie_word_embeddings", True),
    )


def _write_falcon(a: Architecture) -> dict[str, Any]:
    return _sizes(
        a,
        num_kv_heads=a.key_heads,
        ffn_hidden_size=a.d_ff,
        bias=a.mlp_bias,
        new_decoder_architecture=a.norms_per_layer == 2 or a.key_heads > 1,
        multi_query=True,
        parallel_attn=True,
        num_ln_in_parallel_attn=a.norms_per_layer,
    )


def _mpt(c: Config) -> Architecture:
    c.only("no_bias", True)
    c.only("expansion_ratio", 4)
    attention = c.part("attn_config") if c.values.get("attn_config") is not None else None
    if attention:
        attention.only("attn_type", "multihead_attention")
        attention.only("qk_ln", False)
        attention.only("alibi", True)
    width = c.size("d_model", "hidden_size")
    return Architecture(
        layers=c.layers("n_layers", "num_hidden_layers"),
        width=width,
        heads=c.size("n_heads", "num_attention_heads"),
        d_ff=4 * width,
        vocabulary=c.size("vocab_size"),
        context=c.size("max_seq_len"),
        gated=False,
        norm="layernorm",
        tied=c.flag("tie_word_embeddings", True),
    )


def _write_mpt(a: Architecture) -> dict[str, Any]:
    return {
        "n_layers": a.layers,
        "d_model": a.width,
        "n_heads": a.heads,
        "max_seq_len": a.context,
        "vocab_size": a.vocabulary,
        "tie_word_embeddings": a.tied,
    }


def _gpt2(c: Config) -> Architecture:
    c.only("add_cross_attention", False)
    width, rows = c.size("n_embd", "hidden_size"), c.size("n_positions", "max_position_embeddings")
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"),
        width=width,
        heads=c.size("n_head", "num_attention_heads"),
        d_ff=c.size("n_inner", default=4 * width),
        vocabulary=c.size("vocab_size"),
        context=rows,
        learned_positions=rows,
        tied=c.flag("tie_word_embeddings", True),
        **_GPT,
    )


def _write_gpt(a: Architecture) -> dict[str, Any]:
    return {
        "n_layer": a.layers,
        "n_embd": a.width,
        "n_head": a.heads,
        "n_inner": a.d_ff,
        "vocab_size": a.vocabulary,
        "n_positions": a.context,
        "tie_word_embeddings": a.tied,
    }


# Biases and LayerNorm everywhere, a plain feed-forward network.
_GPT: dict[str, Any] = {
    "gated": False,
    "norm": "layernorm",
    "norm_bias": True,
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
}


def _gpt_neox(c: Config) -> Architecture:
    # The class knows neither key heads nor a width of heads, and ignores what a file says of them.
    plain = c.without("num_key_value_heads", "head_dim")
    return _llama_like(plain, **{**_GPT, **_biased(c, True)})


def _write_gpt_neox(a: Architecture) -> dict[str, Any]:
    return _grouped(a, attention_bias=a.qkv_bias)


def _gpt_neo(c: Config) -> Architecture:
    layers = c.layers("num_layers", "num_hidden_layers")
    width, rows = c.size("hidden_size"), c.size("max_position_embeddings")
    local = _local_layers(c, layers)
    return Architecture(
        layers=layers,
        width=width,
        heads=c.size("num_heads", "num_attention_heads"),
        d_ff=c.size("intermediate_size", default=4 * width),
        vocabulary=c.size("vocab_size"),
        context=rows,
        learned_positions=rows,
        tied=c.flag("tie_word_embeddings", True),
        window=c.size("window_size", default=256) if local else None,
        window_layers=local,
        **{**_GPT, "qkv_bias": False},
    )


def _local_layers(c: Config, layers: int) -> int:
    """Layers with a window, from groups such as [["global", "local"], 12]."""
    groups = c.values.get("attention_types")
    if groups is None:
        groups = [[["global", "local"], 12]]
    if not isinstance(groups, list) or not all(
        isinstance(g, list)
        and len(g) == 2
        and isinstance(g[0], list)
        and type(g[1]) is int
        and g[1] > 0
        and all(kind in ("global", "local") for kind in g[0])
        for g in groups
    ):
        c.refuse("attention_types", 'it is not a list such as [[["global", "local"], 12]]')
    if sum(len(kinds) * times for kinds, times in groups) != layers:
        c.refuse("attention_types", f"it lists another number of layers than {layers}")
    return sum(kinds.count("local") * times for kinds, times in groups)


def _write_gpt_neo(a: Architecture) -> dict[str, Any]:
    local = a.window_layers
    groups = [[["global"], a.layers - local], [["local"], local]]
    if 2 * local == a.layers:
        groups = [[["global", "local"], local]]
    return {
        **_sizes(a, intermediate_size=a.d_ff, window_size=a.window or 256),
        "num_layers": a.layers,
        "num_heads": a.heads,
        "attention_types": [group for group in groups if group[1]],
    }


def _gptj(c: Config) -> Architecture:
    width = c.size("n_embd", "hidden_size")
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"),
        width=width,
        heads=c.size("n_head", "num_attention_heads"),
        d_ff=c.size("n_inner", default=4 * width),
        vocabulary=c.size("vocab_size"),
        context=c.size("n_positions", "max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", False),
        norms_per_layer=1,
        head_bias=True,
        **{**_GPT, "qkv_bias": False, "output_bias": False},
    )


def _bloom(c: Config) -> Architecture:
    width = c.size("hidden_size", "n_embed")
    # Its positions need no table, so that the files name no longest sequence.
    return Architecture(
        layers=c.layers("n_layer", "num_hidden_layers"),
        width=width,
        heads=c.size("n_head", "num_attention_heads"),
        d_ff=4 * width,
        vocabulary=c.size("vocab_size"),
        context=c.size("seq_length", default=2048),
        embedding_norm=True,
        tied=c.flag("tie_word_embeddings", True),
        **_GPT,
    )


def _write_bloom(a: Architecture) -> dict[str, Any]:
    return {
        "n_layer": a.layers,
        "hidden_size": a.width,
        "n_head": a.heads,
        "seq_length": a.context,
        "vocab_size": a.vocabulary,
        "tie_word_embeddings": a.tied,
    }


def _opt(c: Config) -> Architecture:
    bias, width = c.flag("enable_bias", True), c.size("hidden_size")
    affine = c.flag("layer_norm_elementwise_affine", True)
    table, rows = c.size("word_embed_proj_dim", default=width), c.size("max_position_embeddings")
    final = c.flag("do_layer_norm_before", True) and not c.flag("_remove_final_layer_norm", False)
    return Architecture(
        layers=c.layers("num_hidden_layers"),
        width=width,
        heads=c.size("num_attention_heads"),
        d_ff=c.size("ffn_dim"),
        vocabulary=c.size("vocab_size"),
        context=rows,
        # Two rows stand before the first position.
        learned_positions=rows + 2,
        embedding_width=None if table == width else table,
        final_norm=final,
        tied=c.flag("tie_word_embeddings", True),
        **{
            **_GPT,
            "norm": "layernorm" if affine else "none",
            "qkv_bias": bias,
            "output_bias": bias,
            "mlp_bias": bias,
        },
    )


def _write_opt(a: Architecture) -> dict[str, Any]:
    return _sizes(
        a,
        ffn_dim=a.d_ff,
        do_layer_norm_before=a.final_norm,
        enable_bias=a.mlp_bias,
        word_embed_proj_dim=a.embedding_width or a.width,
        layer_norm_elementwise_affine=a.norm != "none",
    )


def _olmo(c: Config) -> Architecture:
    return _llama_like(c, norm="none", **_biased(c))


def _write_olmo(a: Architecture) -> dict[str, Any]:
    return _write_biased(a)


def _olmo2(c: Config) -> Architecture:
    return _llama_like(c, qk_norm="width", **_biased(c))


def _olmoe(c: Config) -> Architecture:
    experts = _experts(
        c, ("num_experts", "num_local_experts"), "num_experts_per_tok", c.size("intermediate_size")
    )
    found = _llama_like(c, qk_norm="width", experts=experts, **_biased(c))
    if found.heads * found.head_size != found.width:
        c.refuse(
            "head_dim",
            "the heads together are not as wide as hidden_size, which its norms "
            "on queries and keys need",
        )
    return found


def _write_olmoe(a: Architecture) -> dict[str, Any]:
    return {**_write_biased(a), **_write_experts(a, "num_experts", "intermediate_size")}


def _smollm3(c: Config) -> Architecture:
    if c.flag("use_sliding_window", False):
        c.refuse("use_sliding_window", "sliding windows are not described for this class")
    return _llama_like(
        c,
        grouped=False,
        mlp_bias=c.flag("mlp_bias", False),
        tied=c.flag("tie_word_embeddings", True),
        **_biased(c),
    )


def _t5(c: Config) -> Architecture:
    activation = c.values.get("feed_forward_proj", "relu")
    if activation not in ("relu", "gated-gelu", "gated-silu", "gelu"):
        c.refuse(
            "feed_forward_proj",
            f"{quoted(json.dumps(activation))[1:-1]} is not described "
            "here; accepted are relu, gelu, gated-gelu and gated-silu",
        )
    c.only("is_encoder_decoder", True)
    layers = c.layers("num_layers", "num_hidden_layers")
    tied = c.flag("tie_word_embeddings", True)
    if not tied:
        c.remarks.append(
            "counted with an output layer of its own, as tie_word_embeddings = false "
            "and the published weights have it; transformers 5 builds a tied one"
        )
    if c.optional("n_positions") is None:
        c.remarks.append("n_positions is missing; 512 tokens is what T5 was trained with")
    return Architecture(
        layers=c.optional("num_decoder_layers", most=_MOST["layers"]) or layers,
        encoder_layers=layers,
        kind="encoder-decoder",
        width=c.size("d_model", "hidden_size"),
        heads=c.size("num_heads", "num_attention_heads"),
        head_width=c.size("d_kv", "head_dim"),
        d_ff=c.size("d_ff"),
        vocabulary=c.size("vocab_size"),
        context=c.size("n_positions", default=512),
        gated=activation.startswith("gated"),
        tied=tied,
        relative_buckets=c.size("relative_attention_num_buckets", default=32),
    )


def _write_t5(a: Architecture) -> dict[str, Any]:
    return {
        "num_layers": a.encoder_layers,
        "num_decoder_layers": a.layers,
        "d_model": a.width,
        "num_heads": a.heads,
        "d_kv": a.head_size,
        "d_ff": a.d_ff,
        "vocab_size": a.vocabulary,
        "n_positions": a.context,
        "is_encoder_decoder": True,
        "feed_forward_proj": "gated-gelu" if a.gated else "relu",
        "relative_attention_num_buckets": a.relative_buckets,
        "tie_word_embeddings": a.tied,
    }


# Of BERT and its kin, counted as masked language models.
_MASKED: dict[str, Any] = {
    "kind": "encoder",
    "embedding_norm": True,
    "final_norm": False,
    "head_transform": True,
    "head_bias": True,
    "tied": True,
    **_GPT,
}


def _encoder(c: Config, layers: int, rows: int, context: int, **fields: Any) -> Architecture:
    c.only("is_decoder", False)
    c.only("add_cross_attention", False)
    c.only("position_embedding_type", "absolute")
    c.only("tie_word_embeddings", True)
    c.remarks.append("counted as a masked language model: without the pooler")
    return Architecture(
        layers=layers,
        width=c.size("hidden_size"),
        heads=c.size("num_attention_heads"),
        d_ff=c.size("intermediate_size"),
        vocabulary=c.size("vocab_size"),
        context=context,
        learned_positions=rows,
        token_types=c.size("type_vocab_size"),
        **_MASKED,
        **fields,
    )


def _write_encoder(a: Architecture) -> dict[str, Any]:
    return _sizes(
        a,
        intermediate_size=a.d_ff,
        type_vocab_size=a.token_types,
        max_position_embeddings=a.learned_positions,
    )


def _bert(c: Config) -> Architecture:
    rows = c.size("max_position_embeddings")
    return _encoder(c, c.layers("num_hidden_layers"), rows, rows)


def _roberta(c: Config) -> Architecture:
    # Positions are counted from the row after the padding's on: by default the third.
    rows, padding = c.size("max_position_embeddings"), c.size("pad_token_id", default=1, least=0)
    if rows <= padding + 1:
        c.refuse("max_position_embeddings", f"{rows} rows leave no position after the padding's")
    return _encoder(c, c.layers("num_hidden_layers"), rows, rows - padding - 1)


def _albert(c: Config) -> Architecture:
    rows, inner = c.size("max_position_embeddings"), c.size("inner_group_num", default=1)
    layers = c.layers("num_hidden_layers")
    groups = c.size("num_hidden_groups", default=1, most=layers)
    return _encoder(
        c,
        layers * inner,
        rows,
        rows,
        unique_layers=groups * inner,
        embedding_width=c.size("embedding_size"),
        embedding_sum=True,
    )


def _write_albert(a: Architecture) -> dict[str, Any]:
    return {
        **_write_encoder(a),
        "embedding_size": a.embedding_width,
        "num_hidden_groups": a.own_layers,
        "inner_group_num": 1,
    }


def _distilbert(c: Config) -> Architecture:
    c.only("tie_word_embeddings", True)
    rows = c.size("max_position_embeddings")
    return Architecture(
        layers=c.layers("n_layers", "num_hidden_layers"),
        width=c.size("dim", "hidden_size"),
        heads=c.size("n_heads", "num_attention_heads"),
        d_ff=c.size("hidden_dim"),
        vocabulary=c.size("vocab_size"),
        context=rows,
        learned_positions=rows,
        **_MASKED,
    )


def _write_distilbert(a: Architecture) -> dict[str, Any]:
    return {
        "n_layers": a.layers,
        "dim": a.width,
        "n_heads": a.heads,
        "hidden_dim": a.d_ff,
        "vocab_size": a.vocabulary,
        "max_position_embeddings": a.context,
    }


def _modernbert(c: Config) -> Architecture:
    layers = c.layers("num_hidden_layers")
    # Files from before layer_types give the distance of the layers without a window.
    every = c.size("global_attn_every_n_layers", default=3)
    windows = c.windows(layers, c.size("local_attention", default=128), lambda i: i % every > 0)
    bias = c.flag("mlp_bias", False)
    fields: dict[str, Any] = {**windows, **_biased(c)}
    if c.flag("classifier_bias", False) != bias:
        c.refuse("classifier_bias", "another value than that of mlp_bias is not described here")
    # The first layer has no norm before its attention; the norm on the embeddings stands for it.
    return Architecture(
        layers=layers,
        width=c.size("hidden_size"),
        heads=c.size("num_attention_heads"),
        d_ff=c.size("intermediate_size"),
        vocabulary=c.size("vocab_size"),
        kind="encoder",
        context=c.size("max_position_embeddings"),
        tied=c.flag("tie_word_embeddings", True),
        norm="layernorm",
        norm_bias=c.flag("norm_bias", False),
        mlp_bias=bias,
        head_transform=True,
        head_bias=c.flag("decoder_bias", True),
        **fields,
    )


def _write_modernbert(a: Architecture) -> dict[str, Any]:
    windows = {"local_attention": a.window} if a.window else {"global_attn_every_n_layers": 1}
    return _sizes(
        a,
        intermediate_size=a.d_ff,
        norm_bias=a.norm_bias,
        attention_bias=a.qkv_bias,
        mlp_bias=a.mlp_bias,
        classifier_bias=a.mlp_bias,
        decoder_bias=a.head_bias,
        # The default of the class is no token of a smaller vocabulary.
        pad_token_id=None,
        **windows,
    )


def _latent(c: Config) -> Latent:
    return Latent(
        kv_rank=c.size("kv_lora_rank"),
        q_rank=c.optional("q_lora_rank"),
        nope_width=c.size("qk_nope_head_dim"),
        rope_width=c.size("qk_rope_head_dim"),
        value_width=c.size("v_head_dim"),
    )


def _write_latent(m: Latent | None) -> dict[str, Any]:
    return (
        {
            "kv_lora_rank": m.kv_rank,
            "q_lora_rank": m.q_rank,
            "qk_nope_head_dim": m.nope_width,
            "qk_rope_head_dim": m.rope_width,
            "v_head_dim": m.value_width,
        }
        if m
        else {}
    )


def _shared_experts(c: Config) -> Experts:
    """Those of DeepSeek and GLM 4.5."""
    if c.optional("num_nextn_predict_layers", least=0):
        c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    if c.kind != "deepseek_v2":
        c.remarks.append("the router's correction biases are a buffer, and not counted")
    return _experts(
        c,
        ("n_routed_experts", "num_local_experts", "num_experts"),
        "num_experts_per_tok",
        c.size("moe_intermediate_size"),
        shared=c.size("n_shared_experts", most=_MOST["experts"]),
        dense_layers=c.size("first_k_dense_replace", least=0, most=c.layers("num_hidden_layers")),
    )


def _write_shared_experts(a: Architecture) -> dict[str, Any]:
    e = a.experts
    return {
        **_write_experts(a, "n_routed_experts", "moe_intermediate_size"),
        "n_group": 1,
        "topk_group": 1,
        "n_shared_experts": e.shared if e else 0,
        "first_k_dense_replace": e.dense_layers if e else 0,
    }


def _deepseek(c: Config) -> Architecture:
    if "q_lora_rank" not in c.values:
        c.refuse("q_lora_rank", "it is missing; give a whole number, or null for none")
    c.only("moe_layer_freq", 1)
    if c.kind == "deepseek_v2" and c.flag("mlp_bias", False):
        c.refuse("mlp_bias", "biases of experts are not described for this class")
    # Keys are made from the latent for every head.
    plain = c.without("num_key_value_heads", "head_dim")
    return _llama_like(plain, experts=_shared_experts(c), latent=_latent(c), **_biased(c))


def _write_deepseek(a: Architecture) -> dict[str, Any]:
    return _grouped(
        a, attention_bias=a.qkv_bias, **_write_shared_experts(a), **_write_latent(a.latent)
    )


def _glm4_moe(c: Config) -> Architecture:
    return _llama_like(
        c,
        grouped=False,
        experts=_shared_experts(c),
        head_width=c.size("head_dim"),
        qkv_bias=c.flag("attention_bias", False),
        qk_norm="head" if c.flag("use_qk_norm", False) else "none",
    )


def _write_glm4_moe(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, use_qk_norm=a.qk_norm == "head", **_write_shared_experts(a))


def _glm(c: Config) -> Architecture:
    return _llama_like(
        c,
        grouped=False,
        norms_per_layer=4 if c.kind == "glm4" else 2,
        head_width=c.size("head_dim"),
        qkv_bias=c.flag("attention_bias", True),
    )


def _write_glm(a: Architecture) -> dict[str, Any]:
    # The padding token that is the default of the class is no token of a smaller vocabulary.
    return _write_biased(a, pad_token_id=None)


def _gpt_oss(c: Config) -> Architecture:
    layers, ff = c.layers("num_hidden_layers"), c.size("intermediate_size")
    # By default of the class the first, third, ... layer has a window of 128.
    windows = c.windows(layers, c.size("sliding_window", default=128), lambda i: i % 2 == 0)
    experts = _experts(
        c, ("num_local_experts", "num_experts"), "num_experts_per_tok", ff, router_bias=True
    )
    return _llama_like(
        c,
        grouped=False,
        head_width=c.size("head_dim"),
        experts=experts,
        sinks=True,
        mlp_bias=True,
        **_biased(c, True),
        **windows,
    )


def _write_gpt_oss(a: Architecture) -> dict[str, Any]:
    return {
        **_write_biased(a),
        **_write_windows(a),
        **_write_experts(a, "num_local_experts", "intermediate_size"),
    }


def _cohere(c: Config) -> Architecture:
    return _llama_like(
        c,
        norm="layernorm",
        norms_per_layer=1,
        tied=c.flag("tie_word_embeddings", True),
        qk_norm="width" if c.flag("use_qk_norm", False) else "none",
        **_biased(c),
    )


def _write_cohere(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, use_qk_norm=a.qk_norm == "width")


def _cohere2(c: Config) -> Architecture:
    # By default of the class three layers of four have a window, of 4096.
    step = c.size("sliding_window_pattern", default=4)
    windows = c.windows(
        c.layers("num_hidden_layers"),
        c.unless_null("sliding_window", 4096),
        lambda i: (i + 1) % step != 0,
    )
    return _llama_like(
        c,
        norm="layernorm",
        norms_per_layer=1,
        tied=c.flag("tie_word_embeddings", True),
        **_biased(c),
        **windows,
    )


def _write_cohere2(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, **_write_windows(a))


def _stablelm(c: Config) -> Architecture:
    c.only("qk_layernorm", False)
    return _llama_like(
        c.without("head_dim"),
        grouped=False,
        norm="layernorm",
        norm_bias=True,
        norms_per_layer=1 if c.flag("use_parallel_residual", False) else 2,
        qkv_bias=c.flag("use_qkv_bias", False),
    )


def _write_stablelm(a: Architecture) -> dict[str, Any]:
    return _grouped(a, use_qkv_bias=a.qkv_bias, use_parallel_residual=a.norms_per_layer == 1)


def _arcee(c: Config) -> Architecture:
    return _llama_like(c, gated=False, mlp_bias=c.flag("mlp_bias", False), **_biased(c))


def _write_arcee(a: Architecture) -> dict[str, Any]:
    return _write_biased(a, mlp_bias=a.mlp_bias)


class Class(NamedTuple):
    """How a configuration of a model_type is read; how one is written, for which model class."""

    read: Callable[[Config], Architecture]
    write: Callable[[Architecture], dict[str, Any]] | None = None
    model: str = ""


# To write, they are tried in this order: the plainest class that holds an architecture comes first.
CLASSES = {
    "llama": Class(_llama, _write_llama, "LlamaForCausalLM"),
    "qwen2": Class(_qwen2, _write_qwen2, "Qwen2ForCausalLM"),
    "qwen3": Class(_qwen3, _write_qwen3, "Qwen3ForCausalLM"),
    "mistral": Class(_mistral, _write_mistral, "MistralForCausalLM"),
    "mixtral": Class(_mixtral, _write_mixtral, "MixtralForCausalLM"),
    "qwen3_moe": Class(_qwen3_moe, _write_qwen3_moe, "Qwen3MoeForCausalLM"),
    "qwen2_moe": Class(_qwen2_moe, _write_qwen2_moe, "Qwen2MoeForCausalLM"),
    "glm4_moe": Class(_glm4_moe, _write_glm4_moe, "Glm4MoeForCausalLM"),
    "deepseek_v3": Class(_deepseek, _write_deepseek, "DeepseekV3ForCausalLM"),
    "deepseek_v2": Class(_deepseek, _write_deepseek, "DeepseekV2ForCausalLM"),
    "arcee": Class(_arcee, _write_arcee, "ArceeForCausalLM"),
    "gpt2": Class(_gpt2, _write_gpt, "GPT2LMHeadModel"),
    "gpt_neox": Class(_gpt_neox, _write_gpt_neox, "GPTNeoXForCausalLM"),
    "bert": Class(_bert, _write_encoder, "BertForMaskedLM"),
    "t5": Class(_t5, _write_t5, "T5ForConditionalGeneration"),
    "opt": Class(_opt, _write_opt, "OPTForCausalLM"),
    "bloom": Class(_bloom, _write_bloom, "BloomForCausalLM"),
    "gpt_oss": Class(_gpt_oss, _write_gpt_oss, "GptOssForCausalLM"),
    "olmo": Class(_olmo, _write_olmo, "OlmoForCausalLM"),
    "olmo2": Class(_olmo2, _write_olmo, "Olmo2ForCausalLM"),
    "olmoe": Class(_olmoe, _write_olmoe, "OlmoeForCausalLM"),
    "gemma": Class(_gemma, _write_gemma, "GemmaForCausalLM"),
    "gemma2": Class(_gemma2, _write_gemma2, "Gemma2ForCausalLM"),
    "gemma3_text": Class(_gemma3_text, _write_gemma2, "Gemma3ForCausalLM"),
    "falcon": Class(_falcon, _write_falcon, "FalconForCausalLM"),
    "mpt": Class(_mpt, _write_mpt, "MptForCausalLM"),
    "gptj": Class(_gptj, _write_gpt, "GPTJForCausalLM"),
    "gpt_neo": Class(_gpt_neo, _write_gpt_neo, "GPTNeoForCausalLM"),
    "phi": Class(_phi, _write_phi, "PhiForCausalLM"),
    "stablelm": Class(_stablelm, _write_stablelm, "StableLmForCausalLM"),
    "cohere": Class(_cohere, _write_cohere, "CohereForCausalLM"),
    "cohere2": Class(_cohere2, _write_cohere2, "Cohere2ForCausalLM"),
    "glm4": Class(_glm, _write_glm, "Glm4ForCausalLM"),
    "glm": Class(_glm, _write_glm, "GlmForCausalLM"),
    "roberta": Class(_roberta, _write_encoder, "RobertaForMaskedLM"),
    "distilbert": Class(_distilbert, _write_distilbert, "DistilBertForMaskedLM"),
    "albert": Class(_albert, _write_albert, "AlbertForMaskedLM"),
    "modernbert": Class(_modernbert, _write_modernbert, "ModernBertForMaskedLM"),
    # Written as one of those above.
    "gemma3": Class(_gemma3),
    "phi3": Class(_phi3),
    "qwen": Class(_qwen),
    "smollm3": Class(_smollm3),
    "xlm-roberta": Class(_roberta),
}

# Why well-known classes are not counted.
REFUSED = {
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
    "qwen3_next": "its linear attention layers are not described here",
    "rwkv": "recurrent layers are not described here",
    "umt5": "its relative positions in every layer are not described here",
}
