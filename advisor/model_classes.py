"""Model classes of Hugging Face: how the configuration of each is read, and how it is written.

A class is a row of model_classes.json: what it calls the fields of an Architecture, with their
defaults, and which fields are the same in all its nets. What does not fit a row is a function here,
with the classes it is for. The weights are those of the class in transformers; tests build each one
and compare. A key that is missing takes the default of its class only where the text of a reader
says so; a missing size is an error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from .architecture import Architecture, Experts, Latent
from .base.quantities import UsageError, quoted
from .layer_kinds import further_weights, mixed_layers

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
            known = ("sliding_attention", "full_attention", "chunked_attention")
            listed = isinstance(types, list) and len(types) == layers
            if not listed or any(t not in known for t in types):
                why = f"it is not a list of {layers} times {' or '.join(known[:2])}"
                self.refuse("layer_types", why)
            count = layers - types.count("full_attention")
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
        names = self.names.split()
        named = next((name for name in names if c.values.get(name) is not None), names[0])
        if isinstance(default, tuple):
            return default[1 + c.flag(named, default[0])]
        if isinstance(default, bool):
            return c.flag(named, default)
        most = _MOST.get(name.removeprefix("encoder_"), _MOST_SIZE)
        if default is None:
            return c.optional(*names, most=most)
        return c.size(*names, most=most, default=None if default is ... else default)

    def written(self, a: Architecture, name: str) -> Any:
        """What stands for the field in a configuration."""
        value = attrgetter(_DERIVED.get(name, name))(a)
        return value == self.default[2] if isinstance(self.default, tuple) else value


class Window(NamedTuple):
    """Sliding windows: their size, and how many layers have one where no layer types are listed:
    all but every n-th of them."""

    key: str
    default: int | None = None
    every: int = 0
    by: str = ""  # keys that give n
    first: bool = False  # whether the first layer is one without
    null: bool = False  # whether null is none, and not the default

    def read(self, c: Config, layers: int) -> dict[str, Any]:
        """The fields of an Architecture."""
        every = c.size(*self.by.split(), default=self.every) if self.by else self.every
        without = layers / every if every else 0
        window = c.optional(self.key)
        if window is None and not (self.null and self.key in c.values):
            window = self.default
        full = math.ceil(without) if self.first else math.floor(without)
        return c.windows(layers, window, layers - full)


class Class(NamedTuple):
    """How a configuration of a model_type is read; how one is written, for which model class."""

    kind: str  # the model_type
    model: str  # empty: it is written as another class
    keys: dict[str, Key]  # by fields of Architecture, and those of its parts, such as experts.count
    fixed: dict[str, Any]  # fields of all nets of the class, or functions of those read
    window: Window | None
    only: dict[str, list[Any]]  # what else a configuration may say
    text: str  # where the language model stands, beside one of images
    written: dict[str, Any]  # what else is written: a value, or {"of": an attribute of the net}
    blocks: dict[str, Any]  # what says which layers attend, of a hybrid or recurrent class
    mixers: list[dict[str, Any]]  # what stands in the other layers
    further: dict[str, str]  # weights outside the layers, as formulas

    def read(self, c: Config) -> Architecture:
        """The architecture that a configuration describes."""
        if self.text:
            inner = c.part(self.text)
            architecture = self._replace(text="").read(inner)
            c.remarks += [
                *inner.remarks,
                "the language model alone: vision tower and projector are not counted",
            ]
            return architecture
        fields: dict[str, Any] = {}
        for name, key in self.keys.items():
            fields[name] = key.read(c, name, fields)  # perhaps by the fields before it
            given = any(c.values.get(known) is not None for known in key.names.split())
            if name == "context" and not given and not self.blocks:
                c.remarks.append(f"no context is given: the default, {fields[name]:,}, is taken")
        if self.window:
            fields |= self.window.read(c, fields["layers"])
        for said, accepted in self.only.items():
            part, _, inner_key = said.rpartition(".")
            if not part or c.values.get(part) is not None:
                (c.part(part) if part else c).only(inner_key, *accepted)
        if self.kind in _READ:
            fields |= _READ[self.kind](c)
        if self.blocks:
            fields |= mixed_layers(c, fields, self.blocks, self.mixers)
        for name, value in self.fixed.items():
            fields[name] = value(fields) if callable(value) else value
        if self.further:
            fields["extra"] = further_weights(c, fields, self.further)
        if fields.get("experts.dense_layers") == fields.get("mlp_layers", -1):
            fields = {name: value for name, value in fields.items() if name[:8] != "experts."}
        for name in ("attention_layers", "mlp_layers"):
            if fields.get(name) == fields["layers"]:
                del fields[name]
        for part, kind in (("experts", Experts), ("latent", Latent)):
            names = [name for name in fields if name.startswith(f"{part}.")]
            if names:
                fields[part] = kind(**{n.partition(".")[2]: fields.pop(n) for n in names})
        return Architecture(**fields)

    def usual(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Fields of a net of these ones, such as sizes, and otherwise with what all nets of the
        class have and the defaults of its flags; without parts such as experts."""
        values: dict[str, Any] = {}
        for name, flag in ((name, key.default) for name, key in self.keys.items()):
            if isinstance(flag, bool | tuple):
                values[name] = flag[1 + flag[0]] if isinstance(flag, tuple) else flag
        values |= fields
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
        values = {key.names.split()[0]: key.written(a, name) for name, key in there.items()}
        for said, value in self.written.items():
            values[said] = attrgetter(value["of"])(a) if isinstance(value, dict) else value
        return values | (_WRITE[self.kind](a) if self.kind in _WRITE else {})


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
_Function = TypeVar("_Function", bound=Callable[[Any], dict[str, Any]])
# What a row says of its class, beside the fields.
_ABOUT = ("model", "window", "only", "text", "written", "parts", "note")
_ABOUT_LAYERS = ("blocks", "mixers", "further")
# By model_type: further fields, where what is not described is refused; and further keys.
_READ: dict[str, Callable[[Config], dict[str, Any]]] = {}
_WRITE: dict[str, Callable[[Architecture], dict[str, Any]]] = {}


def _for(table: dict[str, Any], *kinds: str) -> Callable[[_Function], _Function]:
    """Decorator: reads or writes what no row holds, for classes of these model_types."""

    def listed(function: _Function) -> _Function:
        table.update(dict.fromkeys(kinds, function))
        return function

    return listed


def _cell(cell: Any) -> Any:
    """A field of a row: a Key, a function of other fields, such as four times the width, or the
    value that all nets of the class have."""
    if not isinstance(cell, dict):
        return cell
    if "of" in cell:
        name, times = cell["of"], cell.get("times")
        return lambda fields: fields[name] * times if times else fields[name]
    default = _cell(cell.get("default", ...))
    return Key(cell["key"], tuple(default) if isinstance(default, list) else default)


def _class(kind: str, row: dict[str, Any], parts: dict[str, dict[str, Any]]) -> Class:
    """A class, from parts that several share and its own fields; null: a key it does not have."""
    shared = [parts[name] for name in row.get("parts", "").split()]
    cells = {name: cell for part in (*shared, row) for name, cell in part.items()}
    about = {name: cells.pop(name, "") for name in (*_ABOUT, *_ABOUT_LAYERS)}
    keys: dict[str, Key] = dict(_KEYS)
    fixed: dict[str, Any] = {}
    for name, value in ((name, _cell(cell)) for name, cell in cells.items()):
        if isinstance(value, Key):
            keys[name] = value
            continue
        keys.pop(name, None)
        if value is not None:
            fixed[name] = value
    window = Window(**about["window"]) if about["window"] else None
    only, written = about["only"] or {}, about["written"] or {}
    mixed = about["blocks"] or {}, about["mixers"] or [], about["further"] or {}
    return Class(kind, about["model"], keys, fixed, window, only, about["text"], written, *mixed)


# --- windows --------------------------------------------------------------------------------------


@_for(_WRITE, "gpt_oss", "gemma2", "gemma3_text", "cohere2")
def _write_windows(a: Architecture) -> dict[str, Any]:
    """For classes in which some layers have a window unless all are listed without."""
    if a.window:
        return {"sliding_window": a.window}
    return {"sliding_window": 4096, "layer_types": ["full_attention"] * a.layers}


@_for(_READ, "qwen2", "qwen3")
def _qwen_windows(c: Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    if not c.flag("use_sliding_window", False):
        return {}
    first = c.size("max_window_layers", least=0)
    return c.windows(layers, c.size("sliding_window"), max(0, layers - first))


# --- experts --------------------------------------------------------------------------------------


@_for(_READ, "qwen3_moe", "qwen2_moe", "qwen3_next")
def _qwen_moe(c: Config) -> dict[str, Any]:
    if c.flag("use_sliding_window", False):
        why = "sliding windows are not described for this class"
        c.refuse("use_sliding_window", f"{why}; set it to false to count at full context")
    # Layers without experts: those listed, and all but every decoder_sparse_step-th.
    layers, step = c.layers("num_hidden_layers"), c.size("decoder_sparse_step", default=1)
    listed = c.whole_numbers("mlp_only_layers")
    if len(set(listed)) < len(listed) or not all(0 <= i < layers for i in listed):
        c.refuse("mlp_only_layers", f"it is not a list of different layers from 0 to {layers - 1}")
    dense = [i for i in range(layers) if i in set(listed) or (i + 1) % step]
    if dense != list(range(len(dense))):
        c.remarks.append(f"{len(dense)} of the {layers} layers are dense, and not the first ones")
    return {"experts.dense_layers": len(dense)}


@_for(_WRITE, "qwen3_moe", "qwen2_moe")
def _write_sparse(a: Architecture) -> dict[str, Any]:
    dense = a.experts.dense_layers if a.experts else 0
    return {"decoder_sparse_step": 1, "mlp_only_layers": list(range(dense))}


@_for(_READ, "olmoe")
def _olmoe(c: Config) -> dict[str, Any]:
    head = c.optional("head_dim")
    if head and head * c.size("num_attention_heads") != c.size("hidden_size"):
        wide = "the heads together are not as wide as hidden_size"
        c.refuse("head_dim", f"{wide}, which its norms on queries and keys need")
    return {}


@_for(_READ, "glm4_moe")
def _shared_experts(c: Config) -> dict[str, Any]:
    """Those of DeepSeek and GLM 4.5."""
    if c.optional("num_nextn_predict_layers", least=0):
        c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    if c.kind != "deepseek_v2":
        c.remarks.append("the router's correction biases are a buffer, and not counted")
    most = c.layers("num_hidden_layers")
    return {"experts.dense_layers": c.size("first_k_dense_replace", least=0, most=most)}


@_for(_WRITE, "glm4_moe")
def _write_shared_experts(a: Architecture) -> dict[str, Any]:
    dense = a.experts.dense_layers if a.experts else 0
    return {"n_group": 1, "topk_group": 1, "first_k_dense_replace": dense}


# Layers without experts, the first ones, where a configuration does not say how many.
_DENSE = {"dots1": 0, "solar_open": 0, "bailing_hybrid": 2}


@_for(_READ, "dots1", "hy_v3", "sarvam_moe", "solar_open", "exaone_moe", "glm4_moe_lite", "axk1")
@_for(_READ, "kimi_linear", "bailing_hybrid")
def _experts_after(c: Config) -> dict[str, Any]:
    """Experts in all layers but those listed as dense, or but the first."""
    for key in ("num_nextn_predict_layers", "num_mtp_layers"):
        if c.optional(key, least=0):
            c.remarks.append("the module that predicts further tokens (MTP) is not counted")
    c.remarks.append("the router's correction biases are a buffer, and not counted")
    layers, listed = c.layers("num_hidden_layers"), c.values.get("mlp_layer_types")
    if listed is None:
        default = _DENSE.get(c.kind, 1)
        return {"experts.dense_layers": c.size("first_k_dense_replace", default=default, least=0)}
    kinds = ("dense", "sparse")
    if not isinstance(listed, list) or len(listed) != layers or any(k not in kinds for k in listed):
        c.refuse("mlp_layer_types", f"it is not a list of {layers} times dense or sparse")
    return {"experts.dense_layers": listed.count("dense")}


@_for(_READ, "jamba")
def _jamba(c: Config) -> dict[str, Any]:
    layers, step = c.layers("num_hidden_layers"), c.size("expert_layer_period", default=2)
    offset = c.size("expert_layer_offset", default=1, least=0)
    sparse = sum(i % step == offset for i in range(layers))
    if c.size("num_experts", "num_local_experts") == 1:
        sparse = 0
    return {"experts.dense_layers": layers - sparse, "mlp_layers": layers}


@_for(_READ, "granitemoehybrid")
def _granite_hybrid(c: Config) -> dict[str, Any]:
    """Experts beside a shared network, or that network alone."""
    shared, count = c.size("shared_intermediate_size"), c.optional("num_local_experts", least=0)
    if not count:
        return {"d_ff": shared}
    width, active = c.size("intermediate_size"), c.size("num_experts_per_tok")
    values = {"count": count, "active": active, "width": width, "shared": 1}
    return {f"experts.{name}": n for name, n in (values | {"shared_width": shared}).items()}


@_for(_READ, "ernie4_5_moe")
def _ernie(c: Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    start = c.size("moe_layer_start_index", default=1, least=0, most=layers)
    end = c.values.get("moe_layer_end_index", layers - 1)
    end = layers - 1 if end == -1 else c.size("moe_layer_end_index", default=layers - 1)
    return {"experts.dense_layers": layers - max(0, min(end, layers - 1) - start + 1)}


@_for(_READ, "llama4_text", "llama4")
def _llama4(c: Config) -> dict[str, Any]:
    layers, step = c.layers("num_hidden_layers"), c.size("interleave_moe_layer_step", default=1)
    sparse = c.whole_numbers("moe_layers") or list(range(step - 1, layers, step))
    rotary = c.whole_numbers("no_rope_layers") or [(i + 1) % 4 for i in range(layers)]
    c.remarks.append("attention in chunks is counted as attention in a window of that size")
    window = c.size("attention_chunk_size", default=8192)
    near = sum(map(bool, rotary[:layers]))
    return {
        "experts.dense_layers": layers - len(set(sparse)),
        "window": window,
        "window_layers": near,
    }


@_for(_READ, "flint")
def _flint(c: Config) -> dict[str, Any]:
    layers = c.layers("num_hidden_layers")
    dense = (
        [0, 1] if c.values.get("mlp_only_layers") is None else c.whole_numbers("mlp_only_layers")
    )
    near = sum(i > 1 and i % 4 != 1 and i != layers - 1 for i in range(layers))
    windows = c.windows(layers, c.size("sliding_window", default=513), near)
    return windows | {"experts.dense_layers": len(set(dense))}


@_for(_READ, "deepseek_v2", "deepseek_v3")
def _deepseek(c: Config) -> dict[str, Any]:
    if "q_lora_rank" not in c.values:
        c.refuse("q_lora_rank", "it is missing; give a whole number, or null for none")
    if c.kind == "deepseek_v2" and c.flag("mlp_bias", False):
        c.refuse("mlp_bias", "biases of experts are not described for this class")
    return _shared_experts(c)


@_for(_WRITE, "deepseek_v2", "deepseek_v3")
def _write_deepseek(a: Architecture) -> dict[str, Any]:
    return {"num_key_value_heads": a.key_heads, **_write_shared_experts(a)}


# --- what else no table holds ---------------------------------------------------------------------


@_for(_READ, "qwen")
def _qwen(c: Config) -> dict[str, Any]:
    if c.size("intermediate_size") % 2:
        c.refuse("intermediate_size", "it is not even; it counts both matrices of the gate")
    c.remarks.append("model_type qwen is read from memory of code outside transformers: unverified")
    return {
        "d_ff": c.size("intermediate_size") // 2,
        "context": c.optional("seq_length") or c.size("max_position_embeddings"),
    }


@_for(_READ, "gemma3_text", "gemma3")
def _gemma3_text(c: Config) -> dict[str, Any]:
    # Published files of Gemma 3 with images leave out sizes that equal the defaults of the class.
    for name in ("heads", "kv_heads", "head_width", "vocabulary", "context"):
        key = CLASSES["gemma3_text"].keys[name]
        if c.values.get(key.names) is None:
            why = f"{key.names} is missing; {key.default} is the default of Gemma3TextConfig"
            c.remarks.append(why)
    return {}


@_for(_READ, "falcon")
def _falcon(c: Config) -> dict[str, Any]:
    heads, new = c.size("num_attention_heads", "n_head"), c.flag("new_decoder_architecture", False)
    keys = 1 if c.flag("multi_query", True) else heads
    if new:
        keys = c.size("num_kv_heads", "n_head_kv", default=heads)
    norms = c.optional("num_ln_in_parallel_attn", most=2) or (2 if new else 1)
    parallel = c.flag("parallel_attn", True)
    return {"kv_heads": keys, "norms_per_layer": norms if parallel else 2}


@_for(_WRITE, "falcon")
def _write_falcon(a: Architecture) -> dict[str, Any]:
    return {
        "num_kv_heads": a.key_heads,
        "new_decoder_architecture": a.norms_per_layer == 2 or a.key_heads > 1,
        "multi_query": True,
        "parallel_attn": True,
        "num_ln_in_parallel_attn": a.norms_per_layer,
    }


@_for(_READ, "gpt_neo")
def _gpt_neo(c: Config) -> dict[str, Any]:
    layers, groups = c.layers("num_layers", "num_hidden_layers"), c.values.get("attention_types")
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
    local = sum(kinds.count("local") * times for kinds, times in groups)
    window = c.size("window_size", default=256) if local else None
    return {"window": window, "window_layers": local}


@_for(_WRITE, "gpt_neo")
def _write_gpt_neo(a: Architecture) -> dict[str, Any]:
    local = a.window_layers
    groups = [[["global"], a.layers - local], [["local"], local]]
    if 2 * local == a.layers:
        groups = [[["global", "local"], local]]
    groups = [group for group in groups if group[1]]
    return {"window_size": a.window or 256, "attention_types": groups}


@_for(_READ, "opt")
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


@_for(_WRITE, "opt")
def _write_opt(a: Architecture) -> dict[str, Any]:
    return {"word_embed_proj_dim": a.embedding_width or a.width}


@_for(_READ, "smollm3")
def _smollm3(c: Config) -> dict[str, Any]:
    if c.flag("use_sliding_window", False):
        c.refuse("use_sliding_window", "sliding windows are not described for this class")
    return {}


@_for(_READ, "t5")
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


@_for(_WRITE, "t5")
def _write_t5(a: Architecture) -> dict[str, Any]:
    return {"feed_forward_proj": "gated-gelu" if a.gated else "relu"}


@_for(_READ, "bart", "whisper")
def _bart(c: Config) -> dict[str, Any]:
    """The decoder's sizes, which the encoder must share; tables of positions of each stack."""
    for name in ("attention_heads", "ffn_dim"):
        if c.size(f"encoder_{name}") != c.size(f"decoder_{name}"):
            c.refuse(f"encoder_{name}", "another value than the decoder's is not described here")
    if c.kind == "bart":  # two rows stand before the first position
        return {"learned_positions": c.size("max_position_embeddings") + 2}
    c.remarks.append("operations of the convolutions before the encoder are not counted")
    d, bins = c.size("d_model"), c.size("num_mel_bins", default=80)
    attentions = c.layers("encoder_layers") + 2 * c.layers("decoder_layers")
    return {
        "extra": (
            ("convolutions of the input", 3 * d * (bins + d) + 2 * d),
            ("positions of the encoder", c.size("max_source_positions", default=1500) * d),
            ("biases of queries and values", 2 * d * attentions),
        )
    }


@_for(_READ, "ouro")
def _ouro(c: Config) -> dict[str, Any]:
    own, times = c.layers("num_hidden_layers"), c.size("total_ut_steps", default=4, most=1000)
    return {"layers": own * times, "unique_layers": own}


@_for(_READ, "hrm_text")
def _hrm_text(c: Config) -> dict[str, Any]:
    """Two stacks: H_cycles times, the low one is passed L_cycles times and the high one once."""
    own = c.layers(
        "num_layers_per_stack" if "num_layers_per_stack" in c.values else "num_hidden_layers"
    )
    high, low = (
        c.size(f"{stack}_cycles", default=n, most=100) for stack, n in (("H", 2), ("L", 3))
    )
    return {"layers": own * high * (low + 1), "unique_layers": 2 * own}


@_for(_READ, "bert")
def _bert(c: Config) -> dict[str, Any]:
    c.remarks.append("counted as a masked language model: without the pooler")
    return {"context": c.size("max_position_embeddings")}


@_for(_READ, "roberta", "xlm-roberta", "camembert")
def _roberta(c: Config) -> dict[str, Any]:
    # Positions are counted from the row after the padding's on: by default the third.
    rows, padding = c.size("max_position_embeddings"), c.size("pad_token_id", default=1, least=0)
    if rows <= padding + 1:
        c.refuse("max_position_embeddings", f"{rows} rows leave no position after the padding's")
    return {**_bert(c), "context": rows - padding - 1}


@_for(_READ, "albert")
def _albert(c: Config) -> dict[str, Any]:
    layers, inner = c.layers("num_hidden_layers"), c.size("inner_group_num", default=1)
    groups = c.size("num_hidden_groups", default=1, most=layers)
    return {**_bert(c), "layers": layers * inner, "unique_layers": groups * inner}


@_for(_READ, "modernbert")
def _modernbert(c: Config) -> dict[str, Any]:
    if c.flag("classifier_bias", False) != c.flag("mlp_bias", False):
        c.refuse("classifier_bias", "another value than that of mlp_bias is not described here")
    return {}


@_for(_WRITE, "modernbert")
def _write_modernbert(a: Architecture) -> dict[str, Any]:
    return {"local_attention": a.window} if a.window else {"global_attn_every_n_layers": 1}


@_for(_READ, "phi")
def _phi(c: Config) -> dict[str, Any]:
    return {"head_width": c.optional("head_dim")}


_TABLE = json.loads(Path(__file__).with_name("model_classes.json").read_text(encoding="utf-8"))
# To write, they are tried in this order: the plainest class that holds an architecture comes first.
CLASSES: dict[str, Class] = {
    kind: _class(kind, row, _TABLE["parts"]) for kind, row in _TABLE["classes"].items()
}
# Why well-known classes are not counted.
REFUSED: dict[str, str] = _TABLE["refused"]
