"""Checkpoints of GPT-2's shape read into a net of this package, without transformers.

Nothing in a checkpoint is run: weights are safetensors, or tensors that torch unpickles with
`weights_only`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from depthlaw.advisor.base.quantities import UsageError, plural

from ..nets.net import Activation, Net, NetShape, gpt2

# Names of a layer's weights here, and below h.<layer> in a checkpoint, where matrices stand as x @
# weight too.
_LAYER = {
    "attention_gain": "ln_1.weight",
    "attention_shift": "ln_1.bias",
    "qkv": "attn.c_attn.weight",
    "qkv_bias": "attn.c_attn.bias",
    "output": "attn.c_proj.weight",
    "output_bias": "attn.c_proj.bias",
    "mlp_gain": "ln_2.weight",
    "mlp_shift": "ln_2.bias",
    "mlp_in": "mlp.c_fc.weight",
    "mlp_in_bias": "mlp.c_fc.bias",
    "mlp_out": "mlp.c_proj.weight",
    "mlp_out_bias": "mlp.c_proj.bias",
}
_ENDS = {
    "embedding": "wte.weight",
    "position": "wpe.weight",
    "final_gain": "ln_f.weight",
    "final_shift": "ln_f.bias",
    "read_out": "lm_head.weight",
}
_HEAD = _ENDS["read_out"]
# Masks, which older versions of transformers stored beside the weights.
_NO_WEIGHT = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")
_VECTOR = re.compile(r"\.bias$|\bln_\w+\.")
_ACTIVATIONS: dict[str, Activation] = {
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "relu": "relu",
}
_LARGEST = 10**7
_DROPOUTS = ("embd_pdrop", "attn_pdrop", "resid_pdrop")
# What a configuration of transformers leaves out is this.
_DEFAULTS: dict[str, Any] = {
    "vocab_size": 50257,
    "n_positions": 1024,
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "n_inner": None,
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
    "architectures": None,
    **dict.fromkeys(_DROPOUTS, 0.1),
}


class StoredNet(NamedTuple):
    """A net from a folder.

    Attributes:
        net: one replica, float32 on the CPU, for evaluation.
        logits: where they come from: "hidden states", "lm_head.weight", or "wte.weight" where the
            head is the embedding.
        file: of the weights.
    """

    net: Net
    logits: str
    file: Path


def stored_gpt2(folder: Path) -> StoredNet:
    """The net of a checkpoint of GPT-2's shape.

    The folder holds `config.json` with `model.safetensors` or `pytorch_model.bin`, as
    `save_pretrained` of transformers writes them; or `config.yaml` with one `model_<step>.pt`, as
    Sanford, Hsu and Telgarsky published theirs. Before the names of the weights any prefix may
    stand. A `GPT2Model` has no head: its logits are the hidden states after the last norm. Those of
    a `GPT2LMHeadModel` are read by `lm_head.weight`, which is the embedding where it is not stored.

    Raises:
        UsageError: where the folder, its configuration or its weights are missing, cannot be read,
            are not of GPT-2, do not fit each other, or are not finite.

    References: github.com/chsanford/hop-induction-heads, commit fe393eb, src/models.py, for the
    second layout.
    """
    config_file, config = _configuration(folder)
    file = _weight_file(folder)
    weights = _named(file, _tensors(file))
    tied = _HEAD not in weights and "GPT2LMHeadModel" in str(config["architectures"])
    if tied:
        if not config["tie_word_embeddings"]:
            raise UsageError(f"{file} lacks {_HEAD}, and {config_file} says that it is not tied")
        weights[_HEAD] = weights["wte.weight"]
    shape = _shape(config_file, config, weights)
    net = Net(shape, device="meta")
    net.load_state_dict(
        _fitted(net, weights, f"{file} does not fit {config_file.name}"), assign=True
    )
    logits = "wte.weight" if tied else _HEAD if _HEAD in weights else "hidden states"
    return StoredNet(net.eval(), logits, file)


# --- configurations -------------------------------------------------------------------------------


def _configuration(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The configuration's file, and what it says with the defaults of transformers."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give one that holds config.json and weights")
    file = next(
        (f for name in ("json", "yaml") if (f := folder / f"config.{name}").is_file()), None
    )
    if file is None:
        raise UsageError(
            f"{folder} holds no config.json, and no config.yaml as the authors of hop_k wrote it; "
            "give a folder as save_pretrained of transformers writes it"
        )
    try:
        text = file.read_text(encoding="utf-8")
        config = json.loads(text) if file.suffix == ".json" else _published(text)
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {_one_line(error)}") from None
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "gpt2":
        raise UsageError(f"{file}: the model is {kind!r}; accepted is 'gpt2'")
    return file, _DEFAULTS | config


def _published(text: str) -> dict[str, Any]:
    """The same from a config.yaml of the authors, whose models have the defaults of GPT-2."""
    numbers = dict(re.findall(r"^ +(\w+): (\w+)\s*$", text, re.MULTILINE))
    try:
        return {
            "model_type": "gpt2" if numbers["family"] == "gpt2_model" else numbers["family"],
            "vocab_size": int(numbers["vocab_size"]),
            "n_positions": int(numbers["seq_len"]),
            "n_embd": int(numbers["dim_embedding"]),
            "n_layer": int(numbers["depth"]),
            "n_head": int(numbers["headcount"]),
        }
    except KeyError as error:
        raise ValueError(f"{error.args[0]} is missing") from None


def _shape(file: Path, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> NetShape:
    """The net's shape, where this package has one like it."""
    sizes = [config[name] for name in ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")]
    sizes.append(sizes[2] if config["n_inner"] is None else config["n_inner"])
    if not all(isinstance(size, int) and 0 < size <= _LARGEST for size in sizes):
        raise UsageError(f"{file}: sizes are {sizes}; accepted are whole numbers up to {_LARGEST}")
    vocabulary, length, width, depth, heads, inner = sizes
    stored = len({name.split(".")[1] for name in weights if name.startswith("h.")})
    if stored != depth:
        raise UsageError(
            f"{file}: n_layer is {depth}, and the weights have {plural(stored, 'layer')}"
        )
    if len({str(config[name]) for name in _DROPOUTS}) > 1:
        raise UsageError(
            f"{file}: {', '.join(_DROPOUTS)} differ; accepted is the same rate for all three"
        )
    activation = _ACTIVATIONS.get(str(config["activation_function"]))
    if activation is None:
        raise UsageError(
            f"{file}: activation_function is {config['activation_function']!r}; accepted are "
            + ", ".join(_ACTIVATIONS)
        )
    for option in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if config[option]:
            raise UsageError(f"{file}: {option} is set; accepted are nets without it")
    try:
        return replace(
            gpt2(width, depth, heads, vocabulary, length, float(config["attn_pdrop"])),
            mlp=4 * width if config["n_inner"] is None else inner,
            epsilon=float(config["layer_norm_epsilon"]),
            scale=None if config["scale_attn_weights"] else 1.0,
            activation=activation,
            outputs=len(weights[_HEAD]) if _HEAD in weights else 0,
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"{file}: {_one_line(error)}") from None


# --- weights --------------------------------------------------------------------------------------


def _weight_file(folder: Path) -> Path:
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return folder / name
    steps = sorted(folder.glob("model_*.pt"))
    if not steps:
        raise UsageError(
            f"{folder} holds no weights in one file; accepted are model.safetensors, "
            "pytorch_model.bin and model_<step>.pt"
        )
    if len(steps) > 1:
        raise UsageError(
            f"{folder} holds {len(steps)} files model_<step>.pt; keep the one to be measured there"
        )
    return steps[0]


def _tensors(file: Path) -> Any:
    """What a file of weights holds."""
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(file)
        return torch.load(file, map_location="cpu", weights_only=True)
    # Whatever a damaged file makes a reader of files raise.
    except Exception as error:
        why = "it is damaged, or holds more than weights"
        why = (error.strerror or why) if isinstance(error, OSError) else why
        raise UsageError(f"{file} cannot be loaded: {why}; take another copy") from None


def _named(file: Path, stored: Any) -> dict[str, Tensor]:
    """Weights by their names, without the prefix before them."""
    if not isinstance(stored, dict) or not all(
        isinstance(name, str) and isinstance(weight, Tensor) for name, weight in stored.items()
    ):
        raise UsageError(f"{file} holds no weights by name; accepted is a state_dict alone")
    word = next((name for name in stored if name.endswith("wte.weight")), None)
    if word is None:
        raise UsageError(
            f"{file} holds no wte.weight; accepted are weights under the names that transformers "
            "gives those of GPT-2"
        )
    prefix = word.removesuffix("wte.weight")
    named = {name.removeprefix(prefix): weight for name, weight in stored.items()}
    return {name: weight for name, weight in named.items() if not _NO_WEIGHT.fullmatch(name)}


def _fitted(net: Net, weights: Mapping[str, Tensor], complaint: str) -> dict[str, Tensor]:
    """The weights in the places of a net, after a look that none is missing, of another shape, left
    over, or not finite."""
    places = {own: _stored_name(own) for own, _ in net.named_parameters()}
    fitted, other = dict[str, Tensor](), []
    for own, parameter in net.named_parameters():
        place = places[own]
        if own == "read_out_bias":
            fitted[own] = torch.zeros(parameter.shape)
        elif (weight := weights.get(place)) is not None:
            # Here the replica comes first, and before a vector one more axis.
            needed = list(parameter.shape[2 if _VECTOR.search(place) else 1 :])
            needed = needed[::-1] if own == "read_out" else needed
            if list(weight.shape) == needed:
                weight = weight.T if own == "read_out" else weight
                fitted[own] = weight.to(torch.float32).reshape(parameter.shape).contiguous()
            else:
                other.append(f"{place}, {list(weight.shape)} in place of {needed}")
    missing = [places[own] for own in places.keys() - fitted.keys() if places[own] not in weights]
    for what, names in (
        ("missing", missing),
        ("of another shape", other),
        ("without a place", weights.keys() - places.values()),
    ):
        if names:
            count = plural(len(names), "weight")
            raise UsageError(f"{complaint}: {count} {what}, such as {min(names)}")
    for own, weight in fitted.items():
        if not weight.isfinite().all():
            raise UsageError(f"{complaint}: {places[own]} holds weights that are not finite")
    return fitted


def _stored_name(own: str) -> str:
    stem, _, layer = own.partition(".")
    return f"h.{layer}.{_LAYER[stem]}" if layer else _ENDS.get(stem, "")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
