"""Listed models and configurations side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from depthlaw.advisor import rule_scores
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.advisor.budgets import read_bytes
from depthlaw.advisor.counting import count, flops, kv_numbers, memory
from depthlaw.advisor.published import published
from depthlaw.advisor.rules import rules
from depthlaw.advisor.words import tensor_remarks

from .nets import net
from .report import Report, as_list

if TYPE_CHECKING:
    from depthlaw.advisor.checkpoint import Checkpoint

# Tokens at which all are compared, unless one of them takes fewer.
_CONTEXT = 4096
_MOST = 50
# What a conclusion is about, in its order.
_COMPARED = ("layers", "flops_training", "read_bytes")
# What mixes tokens, by the names of tensors, which do not tell one kind from the next.
_COARSE = {"linear attention", "state space", "recurrence", "convolution"}


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
        """Which nets have least and which most of layers, of operations to train on a token, and of
        bytes to read for one, and of which that is unknown; nothing of what all have alike."""
        found = []
        for what in _COMPARED:
            known = [net for net in self.nets if net[what] is not None]
            values = [net[what] for net in known] or [0]
            low, high = min(values), max(values)
            if low < high:
                ends = {"least": low, "most": high}
                found.append(
                    {"what": what, "low": low, "high": high}
                    | {e: [net["name"] for net in known if net[what] == n] for e, n in ends.items()}
                    | {"unknown": [net["name"] for net in self.nets if net[what] is None]}
                    | {"kinds": _alike(known) if what == "layers" else "alike"}
                )
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
        return ", ".join(
            f"{net['name']} {net['layers'] or 'unknown'} x "
            + (f"{net['width']:,}" if net["width"] else "unknown")
            for net in self.nets
        )


def compare(*models: str | Path | Iterable[str | Path]) -> Comparison:
    """Count models or configurations side by side: `depthlaw compare`.

    Args:
        models: names of published models in any spelling, or paths of a config.json, its folder, or
            a .safetensors file, one by one or in a list.

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
    names = [n for m in models for n in (as_list(m) if isinstance(m, Iterable) else [m])]
    for name in names:
        if not isinstance(name, str | Path):
            raise UsageError(
                f"{quoted(str(name))} is not a net; accepted are names of models and paths; try "
                "compare('llama-3-8b', 'qwen3-8b')"
            )
    if not 1 <= len(names) <= _MOST:
        how = f"give 1 to {_MOST} names of models or paths of a config.json"
        example = "compare llama-3-8b qwen3-8b"
        raise UsageError(f"{len(names)} nets to compare; {how}, such as: {example}")
    nets = [_net(str(name)) for name in names]
    shapes = [found.net for found in nets if isinstance(found.net, Architecture)]
    context = min([_CONTEXT, *(a.context for a in shapes)])
    return Comparison(context, tuple(_facts(found, context) for found in nets))


def _alike(nets: list[dict[str, Any]]) -> str:
    """Whether the layers of nets mix tokens by the same kinds: alike, different or unknown."""
    kinds = []
    for facts in nets:
        mixing = {k.replace("sliding-window", "attention") for k in facts["layer_kinds"]}
        # Layers without a mixer are a kind too.
        bare = mixing and sum(facts["layer_kinds"].values()) < facts["own_layers"]
        kinds.append(mixing | {"none"} if bare else mixing)
    if not all(kinds) or ({"attention"} not in kinds and _COARSE & set().union(*kinds)):
        return "unknown"
    return "alike" if all(each == kinds[0] for each in kinds) else "different"


class _Found(NamedTuple):
    """A net, or of one whose shape is not known its tensors; where it was read, how that is known,
    and what is said of it."""

    net: Architecture | Checkpoint
    source: str
    status: str
    remarks: list[str]


def _net(name: str) -> _Found:
    path = os.path.expanduser(name)
    # A path that exists comes first: a folder may be named as a listed model is. Of os.path, which
    # takes a name that is too long for one that does not exist.
    if name.strip() and (os.path.exists(path) or path.endswith((".json", ".safetensors"))):
        found = net(path)
        a = found.architecture or found.stored
        assert a is not None
        return _Found(a, name, "read", tensor_remarks(found))
    listed = published(name)
    return _Found(listed.architecture, listed.source, listed.mark, [])


def _fields(value: object, names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names.split()}


def _asked(layers: int | None, width: int | None) -> dict[str, Any]:
    """The depths that the evidence and each law ask for at L d^2 of a net, where that is known and
    they are of such nets."""
    named = [_fields(r, "key name meaning source wording") for r in rules()]
    if layers is None or width is None:
        unknown = {"depth": None, "extrapolated": False}
        return {"interval": None, "laws": [law | unknown for law in named]}
    volume = layers * width**2
    within = rule_scores.interval(volume, per_layer=1)
    interval = within and _fields(within, "low high started ended why sources") | {
        # Without its sources.
        "ends": within.ends.rpartition(" ")[0],
        "place": within.place(layers),
        "inside": within.low <= layers <= within.high,
        "extrapolated": within.extrapolated,
    }
    laws = [
        law
        | {"depth": r.depth(volume, per_layer=1)}
        | {"extrapolated": r.extrapolates(volume, per_layer=1)}
        for law, r in zip(named, rules(), strict=True)
    ]
    return {"interval": interval, "laws": laws}


def _facts(found: _Found, context: int) -> dict[str, Any]:
    """Everything that is compared."""
    told = {"source": found.source, "status": found.status}
    if isinstance(found.net, Architecture):
        facts = _facts_of(found.net, context)
        return facts | told | {"remarks": [*found.net.remarks, *found.remarks]}
    return _facts_of_tensors(found.net) | told | {"remarks": found.remarks}


def _facts_of_tensors(s: Checkpoint) -> dict[str, Any]:
    """What is known of a net of which the tensors alone are."""
    unknown = "kind head_width gated latent_attention flops_forward flops_training"
    experts = {"count": s.experts, "active": s.active_experts, "shared": None, "width": None}
    same = "name layers encoder_layers own_layers width heads kv_heads d_ff vocabulary tied context"
    return {
        **dict.fromkeys(f"{unknown} kv_bytes_per_token kv_bytes read_bytes state_bytes".split()),
        **_fields(s, f"{same} total nonembedding active layer_kinds"),
        "aspect": s.width / s.layers if s.width and s.layers else None,
        "experts": experts if s.experts else None,
        "weights_bytes": 2 * s.total,
        **_asked(None if s.mixed else s.layers, s.width),
    }


def _facts_of(a: Architecture, context: int) -> dict[str, Any]:
    counts, operations = count(a), flops(a, context)
    same = "kind layers encoder_layers own_layers width aspect heads d_ff gated"
    return {
        "name": a.name,
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
        **_asked(None if a.mixed else a.layers, a.width),
    }
