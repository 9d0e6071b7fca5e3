"""Model classes of Hugging Face: how the configuration of each is read, and how it is written.

A class is a row of a table: what it calls the fields of an Architecture, with their defaults, and
which fields are the same in all its nets. What does not fit a table is a function beside the row.
The weights are those of the class in transformers; tests build each one and compare. A key that is
missing takes the default of its class only where the text of a reader says so; a missing size is an
error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, NoReturn

from .architecture import Architecture, Experts, Latent
from .base.quantities import UsageError, quoted

_MOST_SIZE = 2**24
_MOST = {"layers": 10_000} | dict.fromkeys(
    ("experts.count", "experts.active", "experts.shared"), 100_000
)
# What is written for fields that may be None.
_DERIVED = {
    "kv_heads": "key_heads",
    "head_width": "head_size",
    "experts.shared_width": "experts.shared_size",
}


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
        size = self.optional(*keys, most=most, least=least)
        if size is None:
            size = default
        if size is None:
            accepted = f"give a whole number, {least} to {most:,}"
            self.refuse(" or ".join(keys), f"the size is missing; {accepted}")
        return size

    def optional(self, *keys: str, most: int = _MOST_SIZE, least: int = 1) -> int | None:
        """As `size`; None where it is missing or null."""
        values = {key: self.values[key] for key in keys if self.values.get(key) is not None}
        for key, value in values.items():
            if type(value) is not int or not least <= value <= most:
                printed = quoted(json.dumps(value))[1:-1]
                self.refuse(key, f"{printed} is not a whole number from {least} to {most:,}")
        if len(set(values.values())) > 1:
            self.refuse(
                " and ".join(values),
                "two names of one size have different values; remove one of them",
            )
        return next(iter(values.values()), None)

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

    def whole_numbers(self, key: str) -> list[int]:
        """A list of whole numbers; missing and null are the empty list."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or any(type(v) is not int for v in value):
            self.refuse(key, "it is not a list of whole numbers")
        return value

    def layers(self, *keys: str) -> int:
        """A number of layers."""
        return self.size(*keys, most=_MOST["layers"])

    def windows(self, layers: int, window: int | None, count: int) -> dict[str, Any]:
        """Fields for sliding windows, in so many layers unless `layer_types` lists others."""
        types = self.values.get("layer_types")
        if types is not None:
            known = ("sliding_attention", "full_attention")
            listed = isinstance(types, list) and len(types) == layers
            if not listed or any(t not in known for t in types):
                why = f"it is not a list of {layers} times {' or '.join(known)}"
                self.refuse("layer_types", why)
            count = types.count("sliding_attention")
        return {"window": window, "window_layers": count} if window and count else {}


class Key(NamedTuple):
    """What configurations call a field of an Architecture."""

    names: str  # of one thing, with spaces between them; the first is written
    # What a missing key means: a size or a flag, None (the field's own default), a function of the
    # fields before it, or a flag with the values of the field for false and true. ...: it is given.
    default: Any = ...

    def read(self, c: Config, name: str, fields: dict[str, Any]) -> Any:
        """The value of the field."""
        default = self.default(fields) if callable(self.default) else self.default
        if isinstance(default, tuple):
            return default[1 + c.flag(self.names, default[0])]
        if isinstance(default, bool):
            return c.flag(self.names, default)
        most = _MOST.get(name.removeprefix("encoder_"), _MOST_SIZE)
        if default is None:
            return c.optional(*self.names.split(), most=most)
        return c.size(*self.names.split(), most=most, default=None if default is ... else default)

    def written(self, a: Architecture, name: str) -> Any:
        """What stands for the field in a configuration."""
        value = attrgetter(_DERIVED.get(name, name))(a)
        return value == self.default[2] if isinstance(self.default, tuple) else value


class Window(NamedTuple):
    """Sliding windows: their size, and how many layers have one where no layer types are listed."""

    key: str
    default: int | None
    having: Callable[[Config, int], int] = lambda c, layers: layers
    null: bool = False  # whether null is none, and not the default

    def read(self, c: Config, layers: int) -> dict[str, Any]:
        """The fields of an Architecture."""
        count, window = self.having(c, layers), c.optional(self.key)
        if window is None and not (self.null and self.key in c.values):
            window = self.default
        return c.windows(layers, window, count)


class Class(NamedTuple):
    """How a configuration of a model_type is read; how one is written, for which model class."""

    model: str  # empty: it is written as another class
    keys: dict[str, Key]  # by fields of Architecture, and those of its parts, such as experts.count
    fixed: dict[str, Any]  # fields of all nets of the class, or functions of those read
    window: Window | None
    more: Callable[[Config], dict[str, Any]]  # further fields; refuses what is not described
    and_write: Callable[[Architecture], dict[str, Any]]  # further keys

    def read(self, c: Config) -> Architecture:
        """The architecture that a configuration describes."""
        fields: dict[str, Any] = {}
        for name, key in self.keys.items():
            fields[name] = key.read(c, name, fields)  # perhaps by the fields before it
        if self.window:
            fields |= self.window.read(c, fields["layers"])
        fields |= self.more(c)
        for name, value in self.fixed.items():
            fields[name] = value(fields) if callable(value) else value
        for part, kind in (("experts", Experts), ("latent", Latent)):
            inner = [name for name in fields if name.startswith(f"{part}.")]
            if inner:
                fields[part] = kind(**{n.partition(".")[2]: fields.pop(n) for n in inner})
        return Architecture(**fields)

    def usual(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Fields of a net of these ones, such as sizes, and otherwise with what all nets of the
        class have and the defaults of its flags; without parts such as experts."""
        flags = {name: key.default for name, key in self.keys.items()}
        values = {
            name: flag[1 + flag[0]] if isinstance(flag, tuple) else flag
            for name, flag in flags.items()
            if isinstance(flag, bool | tuple)
        } | fields
        for name, value in self.fixed.items():
            if "." not in name:
                values[name] = value(values) if callable(value) else value
        return values

    def write(self, a: Architecture) -> dict[str, Any]:
        """The configuration of an architecture, less model_type and the name of the class."""
        there = {
            name: key
            for name, key in self.keys.items()
            if "." not in name or getattr(a, name.partition(".")[0])
        }
        return {
            **{key.names.split()[0]: key.written(a, name) for name, key in there.items()},
            **self.and_write(a),
        }


# Of most classes. Without num_key_value_heads every query head has a key head; classes with another
# default demand it.
_KEYS: dict[str, Key] = {
    "layers": Key("num_hidden_layers"),
    "width": Key("hidden_size"),
    "heads": Key("num_attention_heads"),
    "vocabulary": Key("vocab_size"),
    "context": Key("max_position_embeddings"),
    "tied": Key("tie_word_embeddings", False),
    "d_ff": Key("intermediate_size"),
    "kv_heads": Key("num_key_value_heads", None),
    "head_width": Key("head_dim", None),
}


def _nothing(_: Any) -> dict[str, Any]:
    return {}


def _class(
    model: str,
    *parts: dict[str, Any],
    window: Window | None = None,
    read: Callable[[Config], dict[str, Any]] = _nothing,
    write: Callable[[Architecture], dict[str, Any]] = _nothing,
    **fields: Any,
) -> Class:
    """A class, from parts that several share and its own fields: a Key, a value of all its nets, or
    None for a key that it does not have."""
    keys, fixed = dict(_KEYS), {}
    for name, value in {k: v for part in (*parts, fields) for k, v in part.items()}.items():
        if isinstance(value, Key):
            keys[name] = value
            continue
        keys.pop(name, None)
        if value is not None:
            fixed[name] = value
    return Class(model, keys, fixed, window, read, write)


def _four_widths(fields: dict[str, Any]) -> int:
    return 4 * fields["width"]


_GROUPED = {"kv_heads": Key("num_key_value_heads")}
_TIED = {"tied": Key("tie_word_embeddings", True)}
_BIASED = {"qkv_bias": Key("attention_bias", False), "output_bias": itemgetter("qkv_bias")}
_MLP_BIAS = {"mlp_bias": Key("mlp_bias", False)}
_HEAD = {"head_width": Key("head_dim")}
# Every head has a key head, and together they are as wide as the net.
_PLAIN_HEADS: dict[str, Any] = {"kv_heads": None, "head_width": None}
_EXPERTS = {
    "experts.count": Key("num_experts num_local_experts"),
    "experts.active": Key("num_experts_per_tok"),
    "experts.width": Key("moe_intermediate_size"),
}
# As wide as the layers of other classes.
_WIDE_EXPERTS = {
    **_EXPERTS,
    "experts.count": Key("num_local_experts num_experts"),
    "experts.width": Key("intermediate_size"),
}
# Of DeepSeek and GLM 4.5.
_SHARED_EXPERTS = {
    **_EXPERTS,
    "experts.count": Key("n_routed_experts num_local_experts num_experts"),
    "experts.shared": Key("n_shared_experts"),
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
# The names of GPT-2.
_GPT_KEYS: dict[str, Any] = {
    **_PLAIN_HEADS,
    "layers": Key("n_layer num_hidden_layers"),
    "width": Key("n_embd hidden_size"),
    "heads": Key("n_head num_attention_heads"),
    "context": Key("n_positions max_position_embeddings"),
    "d_ff": Key("n_inner", _four_widths),
}
# BERT and its kin, counted as masked language models.
_MASKED: dict[str, Any] = {
    **_PLAIN_HEADS,
    **_GPT,
    "kind": "encoder",
    "embedding_norm": True,
    "final_norm": False,
    "head_transform": True,
    "head_bias": True,
}
_BERT: dict[str, Any] = {
    **_MASKED,
    **_TIED,
    "context": None,
    "learned_positions": Key("max_position_embeddings"),
    "token_types": Key("type_vocab_size"),
}


# --- windows --------------------------------------------------------------------------------------


def _first_of_two(_: Config, layers: int) -> int:
    return layers - layers // 2


def _all_but_every(default: int, *keys: str) -> Callable[[Config, int], int]:
    return lambda c, layers: layers - layers // c.size(*keys, default=default)


def _every_third(c: Config, layers: int) -> int:
    # Files from before layer_types give the distance of the layers without a window: the first is.
    return layers - math.ceil(layers / c.size("global_attn_every_n_layers", default=3))


def _write_window(a: Architecture) -> dict[str, Any]:
    return {"sliding_window": a.window}


def _write_windows(a: Architecture) -> dict[str, Any]:
    """For classes in which some layers have a window unless all are listed without."""
    if a.window:
        return {"sliding_window": a.window}
    return {"sliding_window": 4096, "layer_types": ["full_attention"] * a.layers}


def _qwen_windows(c: Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    if not c.flag("use_sliding_window", False):
        return {}
    first = c.size("max_window_layers", least=0)
    return c.windows(layers, c.size("sliding_window"), max(0, layers - first))


# --- experts --------------------------------------------------------------------------------------


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
    return {"decoder_sparse_step": 1, "mlp_only_layers": list(range(dense))}


def _qwen_moe(c: Config) -> dict[str, Any]:
    if c.flag("use_sliding_window", False):
        why = "sliding windows are not described for this class"
        c.refuse("use_sliding_window", f"{why}; set it to false to count at full context")
    return {"experts.dense_layers": _sparse_steps(c)}


def _olmoe(c: Config) -> dict[str, Any]:
    head = c.optional("head_dim")
    if head and head * c.size("num_attention_heads") != c.size("hidden_size"):
        wide = "the heads together are not as wide as hidden_size"
        c.refuse("head_dim", f"{wide}, which its norms on queries and keys need")
    return {}


def _shared_experts(c: Config) -> dict[str, Any]:
    """Those of DeepSeek and GLM 4.5."""
    if c.optional("num_nextn_predict_layers", least=0):
        c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    if c.kind != "deepseek_v2":
        c.remarks.append("the router's correction biases are a buffer, and not counted")
    most = c.layers("num_hidden_layers")
    return {"experts.dense_layers": c.size("first_k_dense_replace", least=0, most=most)}


def _write_shared_experts(a: Architecture) -> dict[str, Any]:
    dense = a.experts.dense_layers if a.experts else 0
    return {"n_group": 1, "topk_group": 1, "first_k_dense_replace": dense}


def _deepseek(c: Config) -> dict[str, Any]:
    if "q_lora_rank" not in c.values:
        c.refuse("q_lora_rank", "it is missing; give a whole number, or null for none")
    c.only("moe_layer_freq", 1)
    if c.kind == "deepseek_v2" and c.flag("mlp_bias", False):
        c.refuse("mlp_bias", "biases of experts are not described for this class")
    return _shared_experts(c)


def _write_deepseek(a: Architecture) -> dict[str, Any]:
    return {"num_key_value_heads": a.key_heads, **_write_shared_experts(a)}


# --- what else no table holds ---------------------------------------------------------------------


def _qwen(c: Config) -> dict[str, Any]:
    c.only("no_bias", True)
    if c.size("intermediate_size") % 2:
        c.refuse("intermediate_size", "it is not even; it counts both matrices of the gate")
    c.remarks.append("model_type qwen is read from memory of code outside transformers: unverified")
    return {
        "d_ff": c.size("intermediate_size") // 2,
        "context": c.optional("seq_length") or c.size("max_position_embeddings"),
    }


def _gemma3_text(c: Config) -> dict[str, Any]:
    # Published files of Gemma 3 with images leave out sizes that equal the defaults of the class.
    c.remarks += [
        f"{key.names} is missing; {key.default} is the default of Gemma3TextConfig"
        for key in _OF_GEMMA3.values()
        if c.values.get(key.names) is None
    ]
    return {}


_OF_GEMMA3 = {
    "heads": Key("num_attention_heads", 8),
    "kv_heads": Key("num_key_value_heads", 4),
    "head_width": Key("head_dim", 256),
    "vocabulary": Key("vocab_size", 262208),
    "context": Key("max_position_embeddings", 131072),
}


def _falcon(c: Config) -> dict[str, Any]:
    heads, new = c.size("num_attention_heads", "n_head"), c.flag("new_decoder_architecture", False)
    keys = 1 if c.flag("multi_query", True) else heads
    if new:
        keys = c.size("num_kv_heads", "n_head_kv", default=heads)
    norms = c.optional("num_ln_in_parallel_attn", most=2) or (2 if new else 1)
    parallel = c.flag("parallel_attn", True)
    return {"kv_heads": keys, "norms_per_layer": norms if parallel else 2}


def _write_falcon(a: Architecture) -> dict[str, Any]:
    return {
        "num_kv_heads": a.key_heads,
        "new_decoder_architecture": a.norms_per_layer == 2 or a.key_heads > 1,
        "multi_query": True,
        "parallel_attn": True,
        "num_ln_in_parallel_attn": a.norms_per_layer,
    }


def _mpt(c: Config) -> dict[str, Any]:
    c.only("no_bias", True)
    c.only("expansion_ratio", 4)
    if c.values.get("attn_config") is not None:
        attention = c.part("attn_config")
        attention.only("attn_type", "multihead_attention")
        attention.only("qk_ln", False)
        attention.only("alibi", True)
    return {}


def _only(key: str, accepted: Any) -> Callable[[Config], dict[str, Any]]:
    def read(c: Config) -> dict[str, Any]:
        c.only(key, accepted)
        return {}

    return read


def _gpt_neo(c: Config) -> dict[str, Any]:
    local = _local_layers(c, c.layers("num_layers", "num_hidden_layers"))
    window = c.size("window_size", default=256) if local else None
    return {"window": window, "window_layers": local}


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
        "num_hidden_layers": a.layers,
        "num_attention_heads": a.heads,
        "window_size": a.window or 256,
        "attention_types": [group for group in groups if group[1]],
    }


def _opt(c: Config) -> dict[str, Any]:
    width = c.size("hidden_size")
    table = c.size("word_embed_proj_dim", default=width)
    before, no_final = c.flag("do_layer_norm_before", True), "_remove_final_layer_norm"
    return {
        # Two rows stand before the first position.
        "learned_positions": c.size("max_position_embeddings") + 2,
        "embedding_width": None if table == width else table,
        "final_norm": before and not c.flag(no_final, False),
    }


def _write_opt(a: Architecture) -> dict[str, Any]:
    return {
        "do_layer_norm_before": a.final_norm,
        "word_embed_proj_dim": a.embedding_width or a.width,
    }


def _smollm3(c: Config) -> dict[str, Any]:
    if c.flag("use_sliding_window", False):
        c.refuse("use_sliding_window", "sliding windows are not described for this class")
    return {}


def _t5(c: Config) -> dict[str, Any]:
    activation = c.values.get("feed_forward_proj", "relu")
    if activation not in ("relu", "gated-gelu", "gated-silu", "gelu"):
        c.refuse(
            "feed_forward_proj",
            f"{quoted(json.dumps(activation))[1:-1]} is not described "
            "here; accepted are relu, gelu, gated-gelu and gated-silu",
        )
    c.only("is_encoder_decoder", True)
    if not c.flag("tie_word_embeddings", True):
        c.remarks.append(
            "counted with an output layer of its own, as tie_word_embeddings = false "
            "and the published weights have it; transformers 5 builds a tied one"
        )
    if c.optional("n_positions") is None:
        c.remarks.append("n_positions is missing; 512 tokens is what T5 was trained with")
    layers = c.optional("num_decoder_layers", most=_MOST["layers"])
    return {
        "layers": layers or c.layers("num_layers", "num_hidden_layers"),
        "gated": activation.startswith("gated"),
    }


def _write_t5(a: Architecture) -> dict[str, Any]:
    return {
        "num_decoder_layers": a.layers,
        "is_encoder_decoder": True,
        "feed_forward_proj": "gated-gelu" if a.gated else "relu",
    }


def _bert(c: Config) -> dict[str, Any]:
    c.only("is_decoder", False)
    c.only("add_cross_attention", False)
    c.only("position_embedding_type", "absolute")
    c.only("tie_word_embeddings", True)
    c.remarks.append("counted as a masked language model: without the pooler")
    return {"context": c.size("max_position_embeddings")}


def _roberta(c: Config) -> dict[str, Any]:
    # Positions are counted from the row after the padding's on: by default the third.
    rows, padding = c.size("max_position_embeddings"), c.size("pad_token_id", default=1, least=0)
    if rows <= padding + 1:
        c.refuse("max_position_embeddings", f"{rows} rows leave no position after the padding's")
    return {**_bert(c), "context": rows - padding - 1}


def _albert(c: Config) -> dict[str, Any]:
    layers, inner = c.layers("num_hidden_layers"), c.size("inner_group_num", default=1)
    groups = c.size("num_hidden_groups", default=1, most=layers)
    return {**_bert(c), "layers": layers * inner, "unique_layers": groups * inner}


def _modernbert(c: Config) -> dict[str, Any]:
    if c.flag("classifier_bias", False) != c.flag("mlp_bias", False):
        c.refuse("classifier_bias", "another value than that of mlp_bias is not described here")
    return {}


def _write_modernbert(a: Architecture) -> dict[str, Any]:
    return {
        "classifier_bias": a.mlp_bias,
        **_without_padding(a),
        **({"local_attention": a.window} if a.window else {"global_attn_every_n_layers": 1}),
    }


def _without_padding(_: Architecture) -> dict[str, Any]:
    """The padding token that is the default of the class is no token of a smaller vocabulary."""
    return {"pad_token_id": None}


class _WithImages(Class):
    """A language model in the configuration of a net that sees images too."""

    def read(self, c: Config) -> Architecture:
        """The language model alone."""
        text = c.part("text_config")
        architecture = super().read(text)
        c.remarks += [
            *text.remarks,
            "the language model alone: vision tower and projector are not counted",
        ]
        return architecture


# --- the table ------------------------------------------------------------------------------------

_GEMMA = {**_GROUPED, **_TIED, **_HEAD, **_BIASED}
_GEMMA2 = {**_GEMMA, "norms_per_layer": 4}
_GEMMA3 = _class(
    "Gemma3ForCausalLM",
    _GEMMA2,
    _OF_GEMMA3,
    qk_norm="head",
    window=Window(
        "sliding_window",
        4096,
        _all_but_every(6, "sliding_window_pattern", "_sliding_window_pattern"),
    ),
    read=_gemma3_text,
    write=_write_windows,
)
_GLM = {**_GROUPED, **_HEAD, "qkv_bias": Key("attention_bias", True)}
_COHERE = {**_TIED, **_BIASED, "norm": "layernorm", "norms_per_layer": 1}
_DEEPSEEK: dict[str, Any] = {
    **_PLAIN_HEADS,
    **_BIASED,
    **_SHARED_EXPERTS,
    "latent.kv_rank": Key("kv_lora_rank"),
    "latent.q_rank": Key("q_lora_rank", None),
    "latent.nope_width": Key("qk_nope_head_dim"),
    "latent.rope_width": Key("qk_rope_head_dim"),
    "latent.value_width": Key("v_head_dim"),
}
_ROWS = itemgetter("context")

# To write, they are tried in this order: the plainest class that holds an architecture comes first.
CLASSES: dict[str, Class] = {
    "llama": _class("LlamaForCausalLM", _BIASED, _MLP_BIAS),
    "qwen2": _class("Qwen2ForCausalLM", _GROUPED, qkv_bias=True, read=_qwen_windows),
    "qwen3": _class(
        "Qwen3ForCausalLM",
        {**_GROUPED, **_BIASED},
        qk_norm="head",
        head_width=Key("head_dim", 128),
        read=_qwen_windows,
    ),
    "mistral": _class(
        "MistralForCausalLM",
        _GROUPED,
        window=Window("sliding_window", 4096, null=True),
        write=_write_window,
    ),
    "mixtral": _class(
        "MixtralForCausalLM",
        {**_GROUPED, **_WIDE_EXPERTS},
        window=Window("sliding_window", None),
        write=_write_window,
    ),
    "qwen3_moe": _class(
        "Qwen3MoeForCausalLM",
        {**_GROUPED, **_BIASED, **_EXPERTS},
        qk_norm="head",
        read=_qwen_moe,
        write=_write_sparse,
    ),
    "qwen2_moe": _class(
        "Qwen2MoeForCausalLM",
        {**_GROUPED, **_EXPERTS},
        {"experts.shared": 1, "experts.shared_gate": True},
        {"experts.shared_width": Key("shared_expert_intermediate_size")},
        qkv_bias=Key("qkv_bias", True),
        read=_qwen_moe,
        write=_write_sparse,
    ),
    "glm4_moe": _class(
        "Glm4MoeForCausalLM",
        {**_GROUPED, **_HEAD, **_SHARED_EXPERTS},
        qkv_bias=Key("attention_bias", False),
        qk_norm=Key("use_qk_norm", (False, "none", "head")),
        read=_shared_experts,
        write=_write_shared_experts,
    ),
    "deepseek_v3": _class(
        "DeepseekV3ForCausalLM", _DEEPSEEK, read=_deepseek, write=_write_deepseek
    ),
    "deepseek_v2": _class(
        "DeepseekV2ForCausalLM", _DEEPSEEK, read=_deepseek, write=_write_deepseek
    ),
    "arcee": _class("ArceeForCausalLM", _BIASED, _MLP_BIAS, gated=False),
    "gpt2": _class(
        "GPT2LMHeadModel",
        _GPT_KEYS,
        _GPT,
        _TIED,
        learned_positions=_ROWS,
        read=_only("add_cross_attention", False),
    ),
    # The class knows neither key heads nor a width of heads, and ignores what a file says of them.
    "gpt_neox": _class(
        "GPTNeoXForCausalLM",
        _PLAIN_HEADS,
        _GPT,
        _BIASED,
        qkv_bias=Key("attention_bias", True),
        write=lambda a: {"num_key_value_heads": a.key_heads},
    ),
    "bert": _class("BertForMaskedLM", _BERT, read=_bert),
    "t5": _class(
        "T5ForConditionalGeneration",
        _TIED,
        layers=None,
        encoder_layers=Key("num_layers num_hidden_layers"),
        kind="encoder-decoder",
        width=Key("d_model hidden_size"),
        heads=Key("num_heads num_attention_heads"),
        kv_heads=None,
        head_width=Key("d_kv head_dim"),
        d_ff=Key("d_ff"),
        context=Key("n_positions", 512),
        relative_buckets=Key("relative_attention_num_buckets", 32),
        read=_t5,
        write=_write_t5,
    ),
    "opt": _class(
        "OPTForCausalLM",
        {**_PLAIN_HEADS, **_GPT, **_TIED},
        d_ff=Key("ffn_dim"),
        norm=Key("layer_norm_elementwise_affine", (True, "none", "layernorm")),
        mlp_bias=Key("enable_bias", True),
        qkv_bias=itemgetter("mlp_bias"),
        output_bias=itemgetter("mlp_bias"),
        read=_opt,
        write=_write_opt,
    ),
    # Its positions need no table, so that the files name no longest sequence.
    "bloom": _class(
        "BloomForCausalLM",
        {**_GPT_KEYS, **_GPT, **_TIED},
        width=Key("hidden_size n_embed"),
        d_ff=_four_widths,
        context=Key("seq_length", 2048),
        embedding_norm=True,
    ),
    "gpt_oss": _class(
        "GptOssForCausalLM",
        {**_GROUPED, **_HEAD, **_BIASED, **_WIDE_EXPERTS, "experts.router_bias": True},
        qkv_bias=Key("attention_bias", True),
        mlp_bias=True,
        sinks=True,
        window=Window("sliding_window", 128, _first_of_two),
        write=_write_windows,
    ),
    "olmo": _class("OlmoForCausalLM", _BIASED, norm="none"),
    "olmo2": _class("Olmo2ForCausalLM", _BIASED, qk_norm="width"),
    "olmoe": _class(
        "OlmoeForCausalLM",
        {**_BIASED, **_WIDE_EXPERTS, "experts.count": Key("num_experts num_local_experts")},
        qk_norm="width",
        read=_olmoe,
    ),
    "gemma": _class("GemmaForCausalLM", _GEMMA),
    "gemma2": _class(
        "Gemma2ForCausalLM",
        _GEMMA2,
        window=Window("sliding_window", 4096, _first_of_two),
        write=_write_windows,
    ),
    "gemma3_text": _GEMMA3,
    "falcon": _class(
        "FalconForCausalLM",
        {**_PLAIN_HEADS, **_GPT, **_TIED},
        layers=Key("num_hidden_layers n_layer"),
        heads=Key("num_attention_heads n_head"),
        d_ff=Key("ffn_hidden_size", _four_widths),
        context=Key("max_position_embeddings", 2048),
        mlp_bias=Key("bias", False),
        qkv_bias=itemgetter("mlp_bias"),
        output_bias=itemgetter("mlp_bias"),
        read=_falcon,
        write=_write_falcon,
    ),
    "mpt": _class(
        "MptForCausalLM",
        {**_PLAIN_HEADS, **_TIED},
        layers=Key("n_layers num_hidden_layers"),
        width=Key("d_model hidden_size"),
        heads=Key("n_heads num_attention_heads"),
        context=Key("max_seq_len"),
        d_ff=_four_widths,
        gated=False,
        norm="layernorm",
        read=_mpt,
    ),
    "gptj": _class(
        "GPTJForCausalLM",
        {**_GPT_KEYS, **_GPT},
        norms_per_layer=1,
        head_bias=True,
        qkv_bias=False,
        output_bias=False,
    ),
    "gpt_neo": _class(
        "GPTNeoForCausalLM",
        {**_PLAIN_HEADS, **_GPT, **_TIED},
        layers=Key("num_layers num_hidden_layers"),
        heads=Key("num_heads num_attention_heads"),
        d_ff=Key("intermediate_size", _four_widths),
        learned_positions=_ROWS,
        qkv_bias=False,
        read=_gpt_neo,
        write=_write_gpt_neo,
    ),
    "phi": _class(
        "PhiForCausalLM",
        _GPT,
        head_width=None,
        norms_per_layer=1,
        head_bias=True,
        qk_norm=Key("qk_layernorm", (False, "none", "head")),
        read=lambda c: {"head_width": c.optional("head_dim")},
    ),
    "stablelm": _class(
        "StableLmForCausalLM",
        _GROUPED,
        head_width=None,
        norm="layernorm",
        norm_bias=True,
        norms_per_layer=Key("use_parallel_residual", (False, 2, 1)),
        qkv_bias=Key("use_qkv_bias", False),
        read=_only("qk_layernorm", False),
    ),
    "cohere": _class(
        "CohereForCausalLM", _COHERE, qk_norm=Key("use_qk_norm", (False, "none", "width"))
    ),
    "cohere2": _class(
        "Cohere2ForCausalLM",
        _COHERE,
        window=Window(
            "sliding_window", 4096, _all_but_every(4, "sliding_window_pattern"), null=True
        ),
        write=_write_windows,
    ),
    "glm4": _class("Glm4ForCausalLM", _GLM, norms_per_layer=4, write=_without_padding),
    "glm": _class("GlmForCausalLM", _GLM, write=_without_padding),
    "roberta": _class("RobertaForMaskedLM", _BERT, read=_roberta),
    "distilbert": _class(
        "DistilBertForMaskedLM",
        _MASKED,
        layers=Key("n_layers num_hidden_layers"),
        width=Key("dim hidden_size"),
        heads=Key("n_heads num_attention_heads"),
        d_ff=Key("hidden_dim"),
        learned_positions=_ROWS,
        tied=True,
        read=_only("tie_word_embeddings", True),
    ),
    "albert": _class(
        "AlbertForMaskedLM",
        _BERT,
        embedding_width=Key("embedding_size"),
        embedding_sum=True,
        read=_albert,
        write=lambda a: {"num_hidden_groups": a.own_layers, "inner_group_num": 1},
    ),
    # The first layer has no norm before its attention; the norm on the embeddings stands for it.
    "modernbert": _class(
        "ModernBertForMaskedLM",
        {**_PLAIN_HEADS, **_TIED, **_BIASED, **_MLP_BIAS},
        kind="encoder",
        norm="layernorm",
        norm_bias=Key("norm_bias", False),
        head_transform=True,
        head_bias=Key("decoder_bias", True),
        window=Window("local_attention", 128, _every_third),
        read=_modernbert,
        write=_write_modernbert,
    ),
    # Written as one of those above.
    "gemma3": _WithImages(*_GEMMA3._replace(model="")),
    "phi3": _class("", window=Window("sliding_window", None)),
    "qwen": _class(
        "",
        kv_heads=None,
        head_width=Key("kv_channels", None),
        context=None,
        qkv_bias=True,
        read=_qwen,
    ),
    "smollm3": _class("", {**_GROUPED, **_TIED, **_BIASED, **_MLP_BIAS}, read=_smollm3),
    "xlm-roberta": _class("", _BERT, read=_roberta),
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
