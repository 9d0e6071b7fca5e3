"""Configurations of any class that `transformers` has, built without weights, for their shapes.

This module can be imported without torch and without transformers.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import warnings
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.advisor.headers import Tensor

# What is built in a loop, and the most of it.
_LOOPED = re.compile(r"layers?$|blocks?$|stages$|depths?$|codebooks$|experts$|groups$")
_MOST = 2_000
# What says how a net computes, or where its code is: never looked at.
_IGNORED = re.compile(r"^_|^auto_map$|^quantization_config$|dtype$|_implementation$|^model_type$")


def parameters_of(values: dict[str, Any]) -> tuple[list[Tensor], dict[str, Any]] | None:
    """The parameters of the net that transformers builds of a configuration on the meta device:
    no weight is stored, nothing is downloaded, and no code outside transformers runs. Tied ones
    have one place. Beside them the configuration with what it leaves out.

    Args:
        values: the contents of a config.json; its model_type is a text.

    Returns:
        None where torch or transformers is not installed.

    Raises:
        UsageError: for a model_type that transformers does not know, and a configuration of which
            it makes no net.

    Cost: seconds for the import of transformers, then milliseconds a layer.
    """
    if not all(importlib.util.find_spec(name) for name in ("transformers", "torch")):
        return None
    kind = str(values["model_type"])
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    if kind not in transformers.CONFIG_MAPPING:
        raise UsageError(
            f"model_type {quoted(kind)} is known neither here nor to transformers "
            f"{transformers.__version__}; give its folder with the .safetensors files, whose "
            "headers are counted"
        )
    log: Any = transformers.utils.logging
    level = log.get_verbosity()
    log.set_verbosity(log.CRITICAL)
    try:
        with warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")
            text = json.dumps({k: v for k, v in values.items() if not _IGNORED.search(k)})
            for key, number in re.findall(r'"(\w+)": (\d+)', text):
                if _LOOPED.search(key) and int(number) > _MOST:
                    raise ValueError(f"{key} is {number}, more than {_MOST:,}")
            config = transformers.AutoConfig.for_model(kind, **json.loads(text, object_hook=_plain))
            net = _built(transformers, config)
    # The configurations check themselves by errors of several libraries.
    except Exception as error:
        said = " ".join(str(error).split())[:200] or type(error).__name__
        why = "".join(c if c.isprintable() else "?" for c in said)
        raise UsageError(
            f"{kind} configuration: transformers builds no net of it: {why}; give its folder with "
            "the .safetensors files, whose headers are counted"
        ) from None
    finally:
        log.set_verbosity(level)
    named = net.named_parameters(remove_duplicate=False)
    return [Tensor(name, "F32", tuple(p.shape), (id(p),)) for name, p in named], config.to_dict()


def _built(transformers: Any, config: Any) -> Any:
    """The net of a configuration: of the class that it names, else of the first that has it."""
    for name in getattr(config, "architectures", None) or ():
        named: Any = getattr(transformers, name, None) if isinstance(name, str) else None
        if getattr(named, "config_class", None) is type(config):
            return named(config)
    tried = ["ForCausalLM", "ForSeq2SeqLM", "ForMaskedLM", "ForImageTextToText", ""]
    if getattr(config, "is_encoder_decoder", False):
        tried = ["ForSeq2SeqLM", "ForSpeechSeq2Seq", *tried]
    every = [getattr(transformers, f"AutoModel{kind}") for kind in tried]
    return next(auto for auto in every if type(config) in auto._model_mapping).from_config(config)


def _plain(value: dict[str, Any]) -> Any:
    """An object of a configuration, as transformers reads it: it writes infinities as objects."""
    return float(value["__float__"]) if value.keys() == {"__float__"} else value
