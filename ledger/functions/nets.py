"""Nets by their configuration: by the advisor's tables, by headers, else by transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.advisor.checkpoint import GivenNet
    from depthlaw.advisor.headers import Tensor


def net(path: str | Path) -> GivenNet:
    """The net of a config.json, its folder, a .safetensors file or an index of several, as the
    advisor reads them; what no table knows and no header counts is built without weights, where
    transformers is installed. Raises as `advisor.checkpoint.read_net` and `read_stored`."""
    from depthlaw.advisor.checkpoint import read_net, read_stored

    if str(path).endswith((".safetensors", ".safetensors.index.json")):
        return read_stored(Path(path))
    return read_net(Path(path), _built)


def with_net(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a question, with the configuration that they name read."""
    return {
        name: net(value) if name == "hf" and isinstance(value, str | Path) else value
        for name, value in options.items()
    }


def _built(values: dict[str, Any]) -> tuple[Sequence[Tensor], dict[str, Any]] | None:
    from depthlaw.advisor.base.quantities import UsageError, quoted

    for key, value in values.items():
        if key.endswith("_config") and not isinstance(value, dict | None):
            raise UsageError(
                f"the configuration's {quoted(key)} is not an object with keys and values; correct "
                "it, or give its folder with the .safetensors files, whose headers are counted"
            )
    # Loads torch and transformers, where they are installed.
    from depthlaw.empirics.architectures.meta_device import parameters_of

    return parameters_of(values)
