"""Architectures of `transformers`: nets by configuration with random weights, or from a folder.

Nothing is downloaded. This module can be imported without torch and without transformers; what
needs them says so in one line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError

if TYPE_CHECKING:
    from torch import nn

# Files that hold weights, as transformers names them: whole, or an index of parts.
_WEIGHT_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)


@dataclass(frozen=True)
class NetFamily:
    """One architecture: which classes of transformers build it, and where its layers stand.

    Attributes:
        name: what a user says; also `model_type` in a config.json.
        label: how people write it.
        config, net: names of the classes in transformers; the net has no head and no pooler.
        layers: (net) -> its layers in order, those that share weights once.
        mlp: hidden width of the MLP as a multiple of the width, as in a published size.
        key_value: heads of queries for one head of keys and values, as in a published size.
        hidden: (what a layer returns) -> hidden states (batch, tokens, width).
        options: what the configuration needs besides sizes.
        learned: whether positions are learned, so that there is a longest input.
        rotary: whether positions are rotations, so that a head's width must be even.
        norms_in_float32: whether its norms compute in float32 whatever the weights are.
    """

    name: str
    label: str
    config: str
    net: str
    layers: Callable[[Any], Sequence[nn.Module]]
    mlp: Fraction = Fraction(4)
    key_value: int = 1
    hidden: Callable[[Any], Any] = lambda output: output
    options: tuple[tuple[str, Any], ...] = ()
    learned: bool = False
    rotary: bool = False
    norms_in_float32: bool = False


def _decoder(name: str, label: str, mlp: Fraction, key_value: int) -> NetFamily:
    """LLaMA and those built like it; ratios are those of a published size."""
    return NetFamily(
        name,
        label,
        f"{label}Config",
        f"{label}Model",
        lambda net: net.layers,
        mlp=mlp,
        key_value=key_value,
        rotary=True,
        norms_in_float32=True,
    )


# Ratios of sizes: LLaMA 7B (11008 / 4096), Mistral 7B (14336 / 4096, 32 heads on 8), Qwen2 0.5B
# (4864 / 896, 14 heads on 2), Qwen3 0.6B (3072 / 1024, 16 heads on 8); ALBERT's activation and
# embedding are those of albert-base-v2; the others are the defaults of their configurations.
ARCHITECTURES: dict[str, NetFamily] = {
    family.name: family
    for family in (
        NetFamily(
            "bert", "BERT", "BertConfig", "BertModel", lambda net: net.encoder.layer, learned=True
        ),
        NetFamily(
            "albert",
            "ALBERT",
            "AlbertConfig",
            "AlbertModel",
            lambda net: net.encoder.albert_layer_groups,
            learned=True,
            options=(("embedding_size", 128), ("hidden_act", "gelu_new")),
        ),
        # Its layers work on (tokens, batch, width), and return two streams.
        NetFamily(
            "xlnet",
            "XLNet",
            "XLNetConfig",
            "XLNetModel",
            lambda net: net.layer,
            hidden=lambda output: (output[0] if isinstance(output, tuple) else output).transpose(
                0, 1
            ),
        ),
        NetFamily("gpt2", "GPT-2", "GPT2Config", "GPT2Model", lambda net: net.h, learned=True),
        _decoder("llama", "Llama", Fraction(43, 16), 1),
        _decoder("mistral", "Mistral", Fraction(7, 2), 4),
        _decoder("qwen2", "Qwen2", Fraction(38, 7), 7),
        _decoder("qwen3", "Qwen3", Fraction(3), 2),
        NetFamily(
            "t5",
            "T5 encoder",
            "T5Config",
            "T5EncoderModel",
            lambda net: net.encoder.block,
            hidden=lambda output: output[0] if isinstance(output, tuple) else output,
            norms_in_float32=True,
        ),
    )
}


def architecture(name: str) -> NetFamily:
    """The architecture of a name.

    Raises:
        UsageError: for a name that is not among `ARCHITECTURES`, with those that are.
    """
    if name not in ARCHITECTURES:
        raise UsageError(f"model {name!r} is not known; accepted are {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[name]


def random_net(
    model: NetFamily,
    *,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    tokens: int = 128,
    vocabulary: int | None = None,
    seed: int = 0,
) -> nn.Module:
    """A net with the initial weights that transformers draws, float32 on the CPU, for evaluation.

    Sizes are by default those of BERT-base, the vocabulary is the architecture's own. Where
    `tokens`, the longest input, needs them, learned positions beyond the usual ones are added. The
    seed is that of torch's generator, whose state outside is left as it was; the weights depend on
    the versions of torch and transformers.

    Raises:
        UsageError: when the extra hf is not installed, or the sizes do not fit each other.

    Cost: drawing the weights, 1.5 s for 12 layers of width 768.
    """
    transformers = library()
    values = _configuration(model, layers, width, heads, vocabulary)
    import torch

    with quiet(transformers), torch.random.fork_rng(devices=[]):
        try:
            config = getattr(transformers, model.config)(**values)
            if model.learned:
                config.max_position_embeddings = max(config.max_position_embeddings, tokens)
            torch.manual_seed(seed)
            net = getattr(transformers, model.net)(config, **_without_pooler(model))
        # The configurations check themselves by errors of several libraries.
        except Exception as error:
            raise UsageError(
                f"{model.label}: transformers cannot build it with {layers} layers, "
                f"width {width} and {heads} heads: {one_line(error)}"
            ) from None
    return _evaluated(net)


def stored_net(folder: Path) -> tuple[NetFamily, nn.Module]:
    """The architecture that a folder holds, and its net with the weights there, as
    `save_pretrained` writes them, float32 on the CPU.

    Raises:
        UsageError: when the extra hf is not installed; when the folder has no config.json, one that
            is not JSON, or one of an architecture that is not known; when weights are missing,
            damaged, or of other sizes than the configuration says. No weight is ever drawn anew.
    """
    config_file = folder / "config.json"
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give one that holds config.json and weights")
    if not config_file.is_file():
        raise UsageError(
            f"{folder} holds no config.json; give a folder as save_pretrained of "
            "transformers writes it"
        )
    try:
        told = json.loads(config_file.read_text(encoding="utf-8"))
        name = told.get("model_type") if isinstance(told, dict) else None
    except (OSError, ValueError) as error:
        raise UsageError(f"{config_file} cannot be read as JSON: {one_line(error)}") from None
    if name not in ARCHITECTURES:
        raise UsageError(
            f"{config_file}: model_type is {name!r}; accepted are {', '.join(ARCHITECTURES)}"
        )
    if not any((folder / file).is_file() for file in _WEIGHT_FILES):
        raise UsageError(
            f"{folder} holds no weights; expected is one of {', '.join(_WEIGHT_FILES)}"
        )
    model, transformers = ARCHITECTURES[name], library()
    import torch

    with quiet(transformers):
        try:
            net, report = getattr(transformers, model.net).from_pretrained(
                folder,
                local_files_only=True,
                output_loading_info=True,
                dtype=torch.float32,
                ignore_mismatched_sizes=True,
                **_without_pooler(model),
            )
        # Whatever a damaged file makes a reader of files raise.
        except Exception as error:
            reason = (
                "a file of weights is damaged, or holds more than weights"
                if "weights_only" in str(error)
                else one_line(error)
            )
            raise UsageError(f"{folder} cannot be loaded: {reason}") from None
    if not len(model.layers(net)):
        raise UsageError(f"{config_file}: a net without layers has nothing to measure")
    _check_fit(folder, net, report)
    return model, _evaluated(net)


def _check_fit(folder: Path, net: nn.Module, report: dict[str, Any]) -> None:
    """Refuse what transformers only warns of, or not at all: weights that it drew anew or left out,
    and those that are no numbers."""
    missing, other = (
        sorted(report["missing_keys"]),
        [
            f"{name}, {list(stored)} in place of {list(told)}"
            for name, stored, told in sorted(report["mismatched_keys"])
        ],
    )
    # Heads and poolers are left out; a weight below a part that the net has does not fit.
    prefix = f"{getattr(net, 'base_model_prefix', '')}."
    parts = {name for name, _ in net.named_children()}
    beyond = [
        key
        for key in sorted(report["unexpected_keys"])
        if key.removeprefix(prefix).partition(".")[0] in parts
    ]
    for what, keys in (
        ("are missing", missing),
        ("have another shape", other),
        ("have no place", beyond),
    ):
        if keys:
            raise UsageError(
                f"{folder}: the weights do not fit its config.json: {len(keys)} {what}"
                f", such as {keys[0]}"
            )
    for name, weight in net.named_parameters():
        if not weight.isfinite().all():
            raise UsageError(f"{folder}: {name} holds weights that are not finite")


def _configuration(
    model: NetFamily, layers: int, width: int, heads: int, vocabulary: int | None
) -> dict[str, Any]:
    """Arguments of the configuration's class, under the names that all of them accept."""
    if min(layers, width, heads) < 1 or (vocabulary is not None and vocabulary < 2):
        raise UsageError(
            f"layers={layers}, width={width}, heads={heads}: each must be at least 1"
            + ("" if vocabulary is None else f", and vocabulary={vocabulary} at least 2")
        )
    if width % heads:
        near = sorted({width - width % heads or heads, width + heads - width % heads})
        raise UsageError(
            f"width={width} is not a multiple of heads={heads}; take a width of "
            f"{' or '.join(map(str, near))}"
        )
    head = width // heads
    if (model.rotary and head % 2) or (model.name == "xlnet" and width % 2):
        what, has = ("width of its heads", head) if model.rotary else ("width", width)
        raise UsageError(
            f"{model.label} needs an even {what}; width={width} with heads={heads} gives {has}"
        )
    values: dict[str, Any] = {
        "num_hidden_layers": layers,
        "hidden_size": width,
        "num_attention_heads": heads,
        **dict(model.options),
    }
    mlp = {"xlnet": "d_inner", "gpt2": "n_inner", "t5": "d_ff"}.get(model.name, "intermediate_size")
    values[mlp] = max(1, round(model.mlp * width))
    if model.name in ("t5", "xlnet"):
        values["d_kv" if model.name == "t5" else "d_head"] = head
    if model.rotary:
        values["num_key_value_heads"] = (
            heads // model.key_value if heads % model.key_value == 0 else heads
        )
        values["head_dim"] = head
    if vocabulary is not None:
        # Special ids of the default vocabulary may lie outside of this one; none is used here.
        values |= {
            "vocab_size": vocabulary,
            "bos_token_id": None,
            "eos_token_id": None,
            "pad_token_id": None,
        }
    return values


def library() -> Any:
    """transformers, which takes seconds to import."""
    if not all(importlib.util.find_spec(name) for name in ("transformers", "torch")):
        raise UsageError(
            "real architectures need transformers and PyTorch: pip install 'depthlaw[hf]'"
        )
    import transformers

    return transformers


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Without the log lines and progress bars of transformers; what they say is said by us."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity(log.CRITICAL)
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def _without_pooler(model: NetFamily) -> dict[str, bool]:
    return {"add_pooling_layer": False} if model.name in ("bert", "albert") else {}


def _evaluated(net: Any) -> nn.Module:
    """For evaluation, and without the store of keys and values that grows with the layers."""
    evaluated: nn.Module = net.eval()
    net.config.use_cache = False
    return evaluated


def one_line(error: BaseException) -> str:
    """What an error says, as the start of one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
