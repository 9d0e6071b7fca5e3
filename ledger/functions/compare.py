"""Listed models and configurations side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthlaw.advisor import rule_scores
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import read_bytes
from depthlaw.advisor.counting import count, flops, kv_numbers, memory
from depthlaw.advisor.huggingface import read_config
from depthlaw.advisor.published import published
from depthlaw.advisor.rules import rules

from .report import Report, as_list

# Tokens at which all are compared, unless one of them takes fewer.
_CONTEXT = 4096
_MOST = 50
# What a conclusion is about, in its order.
_COMPARED = ("layers", "flops_training", "read_bytes")


@dataclass(frozen=True, repr=False)
class Comparison(Report):
    """Nets, counted side by side.

    Attributes:
        context: tokens attended to, in FLOPs.
        nets: what is known of each: shape, parameters, FLOPs, memory, the depths that the evidence
            and each law ask for at its own L d^2.
    """

    context: int
    nets: tuple[dict[str, Any], ...]

    @property
    def conclusion(self) -> list[dict[str, Any]]:
        """Which net has least and which most of layers, of operations to train on a token, and of
        bytes to read for one; nothing of what all have alike."""
        found = []
        for what in _COMPARED if len(self.nets) > 1 else ():
            least, *_, most = sorted(self.nets, key=lambda net: net[what])
            if least[what] < most[what]:
                ends = {"least": least["name"], "most": most["name"]}
                found.append({"what": what, **ends, "low": least[what], "high": most[what]})
        return found

    def rows(self) -> list[dict[str, Any]]:
        """One for each net; the depth of each law under its key."""
        return [
            {name: v for name, v in net.items() if not isinstance(v, dict | list | tuple)}
            | {f"experts_{name}": number for name, number in (net["experts"] or {}).items()}
            | {end: (net["interval"] or {}).get(end) for end in ("low", "high")}
            | {f"law {law['key']}": law["depth"] for law in net["laws"]}
            for net in self.nets
        ]

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw compare --json` prints."""
        nets = list(self.nets)
        return {"context": self.context, "conclusion": self.conclusion, "nets": nets}

    def summary(self) -> str:
        """Names and depths."""
        return ", ".join(f"{net['name']} {net['layers']} x {net['width']:,}" for net in self.nets)


def compare(*models: str | Path | Iterable[str | Path]) -> Comparison:
    """Count models or configurations side by side: `depthlaw compare`.

    Args:
        models: names of published models in any spelling, or paths of a config.json or its folder;
            one by one or in a list.

    Raises:
        UsageError: for none or more than 50, an unknown name, with the nearest ones, and a
            configuration that cannot be read.

    Cost: milliseconds; loads neither NumPy nor SymPy.

    >>> both = compare("llama-3-8b", "qwen3-8b")
    >>> both
    <Comparison: Llama-3-8B 32 x 4,096, Qwen3-8B 36 x 4,096>
    >>> [(row["name"], row["total"]) for row in both.rows()]
    [('Llama-3-8B', 8030261248), ('Qwen3-8B', 8190735360)]
    """
    names = [name for given in models for name in as_list(given)]
    if not 1 <= len(names) <= _MOST:
        how = f"give 1 to {_MOST} names of models or paths of a config.json"
        example = "compare llama-3-8b qwen3-8b"
        raise UsageError(f"{len(names)} nets to compare; {how}, such as: {example}")
    nets = [_net(str(name)) for name in names]
    context = min(_CONTEXT, *(net.context for net, _, _ in nets))
    return Comparison(context, tuple(_facts(*net, context) for net in nets))


def _net(name: str) -> tuple[Architecture, str, str]:
    """A net, where its shape was read, and how that is known."""
    path = os.path.expanduser(name)
    # A path that exists comes first: a folder may be named as a listed model is. Of os.path, which
    # takes a name that is too long for one that does not exist.
    if name.strip() and (os.path.exists(path) or path.endswith(".json")):
        return read_config(Path(path)), name, "read"
    net = published(name)
    return net.architecture, net.source, net.mark


def _fields(value: object, names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names.split()}


def _facts(a: Architecture, source: str, status: str, context: int) -> dict[str, Any]:
    counts, operations = count(a), flops(a, context)
    volume, hybrid = a.layers * a.width**2, a.mixed
    within = None if hybrid else rule_scores.interval(volume, per_layer=1)
    interval = within and _fields(within, "low high started ended why sources") | {
        # Without its sources.
        "ends": within.ends.rpartition(" ")[0],
        "place": within.place(a.layers),
        "inside": within.low <= a.layers <= within.high,
        "extrapolated": within.extrapolated,
    }
    same = "kind layers encoder_layers own_layers width aspect heads d_ff gated"
    return {
        "name": a.name,
        "source": source,
        "status": status,
        **_fields(a, f"{same} vocabulary tied context"),
        "kv_heads": a.key_heads,
        "head_width": a.head_size,
        "experts": a.experts and _fields(a.experts, "count active shared width"),
        "latent_attention": a.latent is not None,
        **_fields(counts, "total nonembedding active"),
        "flops_forward": operations.forward,
        "flops_training": operations.training,
        "weights_bytes": memory(a).weights,
        "kv_bytes_per_token": 2 * (kv_numbers(a, 1) - kv_numbers(a, 0)),
        "kv_bytes": 2 * kv_numbers(a, a.context),
        "read_bytes": round(read_bytes(a, 2)) + 2 * kv_numbers(a, context),
        "state_bytes": 2 * kv_numbers(a, 0),
        "layer_kinds": a.layer_kinds,
        "interval": interval,
        "laws": [
            _fields(r, "key name meaning source wording")
            | {"depth": None if hybrid else r.depth(volume, per_layer=1)}
            | {"extrapolated": not hybrid and r.extrapolates(volume, per_layer=1)}
            for r in rules()
        ],
        "remarks": a.remarks,
    }
