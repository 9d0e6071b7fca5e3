"""`depthlaw compare`: listed models and configurations side by side."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from depthlaw.advisor import evidence
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.counting import count, flops, kv_numbers, memory
from depthlaw.advisor.huggingface import read_config
from depthlaw.advisor.models import architecture, model
from depthlaw.advisor.quantities import UsageError, size
from depthlaw.advisor.report import binary
from depthlaw.advisor.rules import rules

from ..text import clean
from .output import dump, say, stdout
from .tables import plain_table, print_table

__all__ = ["compare"]

# Tokens at which all are compared, unless one of them takes fewer.
_CONTEXT = 4096
_MOST = 50


class _Net(NamedTuple):
    """A net, where its shape was read, and how that is known."""

    architecture: Architecture
    source: str
    status: str


def compare(names: list[str], as_json: bool) -> int:
    """Print the costs of nets side by side, and what the evidence and each law say of their depth.

    Args:
        names: listed models in any spelling, or paths of a config.json or its folder.

    Raises:
        UsageError: for none or too many, an unknown name, and a configuration that cannot be read.
    """
    if not 1 <= len(names) <= _MOST:
        raise UsageError(f"{len(names)} nets to compare; give 1 to {_MOST} names of models or "
                         "paths of a config.json, such as: compare llama-3-8b qwen3-8b")
    nets = [_net(name) for name in names]
    context = min(_CONTEXT, *(net.architecture.context for net in nets))
    found = [_facts(net, context) for net in nets]
    if as_json:
        dump({"context": context, "nets": found})
        return 0
    out = stdout()
    table = plain_table(gap=2)
    table.add_column("", overflow="fold", min_width=24)
    for facts in found:
        table.add_column(clean(facts["name"]), overflow="fold", min_width=12)
    for label, *cells in zip(*(_cells(facts) for facts in found), strict=True):
        table.add_row(label[0], *(text for _, text in (label, *cells)))
    print_table(out, table)
    _print_notes(out, found, context)
    return 0


def _print_notes(out: Console, found: list[dict[str, Any]], context: int) -> None:
    say(out, "")
    say(out, f"FLOPs: {context:,} tokens attended to, masked ones included; bytes: 16 bits.")
    say(out, "Evidence and laws: the depth they ask for at this net's own L d^2.")
    say(out, "* outside the sizes that the source measured")
    for facts in found:
        for remark in (f"{facts['status']}: {facts['source']}", *facts["remarks"]):
            say(out, f"{facts['name']}: {remark}")


def _net(name: str) -> _Net:
    path = Path(name).expanduser()
    # A path that exists comes first: a folder may be named as a listed model is.
    if name.strip() and (path.exists() or path.suffix == ".json"):
        return _Net(read_config(path), name, "read")
    listed = model(name)
    return _Net(architecture(listed), listed.source, listed.status)


def _facts(net: _Net, context: int) -> dict[str, Any]:
    a = net.architecture
    counts, operations = count(a), flops(a, context)
    volume = a.layers * a.width**2
    within = evidence.interval(volume, per_layer=1)
    return {
        "name": a.name, "source": net.source, "status": net.status, "kind": a.kind,
        "layers": a.layers, "encoder_layers": a.encoder_layers, "own_layers": a.own_layers,
        "width": a.width, "aspect": a.aspect, "heads": a.heads, "kv_heads": a.key_heads,
        "head_width": a.head_size, "d_ff": a.d_ff, "gated": a.gated,
        "experts": a.experts and {"count": a.experts.count, "active": a.experts.active,
                                  "shared": a.experts.shared, "width": a.experts.width},
        "latent_attention": a.latent is not None,
        "vocabulary": a.vocabulary, "tied": a.tied, "context": a.context,
        "total": counts.total, "nonembedding": counts.nonembedding, "active": counts.active,
        "flops_forward": operations.forward, "flops_training": operations.training,
        "weights_bytes": memory(a).weights, "kv_bytes_per_token": 2 * kv_numbers(a, 1),
        "kv_bytes": 2 * kv_numbers(a, a.context),
        "interval": within and {
            "low": within.low, "high": within.high, "inside": within.low <= a.layers <= within.high,
            "why": within.why, "sources": within.sources, "extrapolated": within.extrapolated},
        "laws": [{"key": r.key, "name": r.name, "meaning": r.meaning,
                  "depth": r.depth(volume, per_layer=1),
                  "extrapolated": r.extrapolates(volume, per_layer=1),
                  "source": r.source, "wording": r.wording} for r in rules()],
        "remarks": a.remarks}


def _cells(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The rows of one column: label and text."""
    f, e = facts, facts["experts"]
    layers = f"{f['encoder_layers']} + {f['layers']}" if f["encoder_layers"] else f"{f['layers']}"
    own = "" if f["own_layers"] == f["layers"] else f", {f['own_layers']} stored"
    yield "layers L", layers + own
    yield "width d", f"{f['width']}"
    yield "d / L", f"{f['aspect']:.0f}"
    yield "heads", f"{f['heads']}"
    yield "key heads", "latent" if f["latent_attention"] else f"{f['kv_heads']}"
    yield "head width", f"{f['head_width']}"
    yield "feed-forward width", f"{f['d_ff']} {'gated' if f['gated'] else 'plain'}"
    shared = f" + {e['shared']}" if e and e["shared"] else ""
    yield "experts", f"{e['active']}{shared} of {e['count']}, {e['width']} wide" if e else "none"
    yield "vocabulary", f"{f['vocabulary']} {'tied' if f['tied'] else 'untied'}"
    yield "context", f"{f['context']}"
    yield "parameters", size(f["total"])
    yield "without embeddings", size(f["nonembedding"])
    yield "active", size(f["active"])
    yield "forward FLOPs per token", size(f["flops_forward"])
    yield "training FLOPs per token", size(f["flops_training"])
    yield "weights", binary(f["weights_bytes"])
    yield "KV cache per token", f"{f['kv_bytes_per_token']:,} B"
    yield "KV cache, full context", binary(f["kv_bytes"])
    found = f["interval"]
    if found is None:
        yield "evidence: within 1 %", "no grid"
    else:
        where = "inside" if found["inside"] else (
            "shallower" if f["layers"] < found["low"] else "deeper")
        yield ("evidence: within 1 %",
               f"{found['low']} to {found['high']}{'*' * found['extrapolated']}: {where}")
    for law in f["laws"]:
        said = "" if law["meaning"] in law["name"] else f" ({law['meaning']})"
        yield law["name"] + said, f"{law['depth']:.0f}{'*' * law['extrapolated']}"
