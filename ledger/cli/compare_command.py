"""`depthlaw compare`: listed models and configurations side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from depthlaw.advisor import rule_scores
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError, binary, quoted, size
from depthlaw.advisor.counting import count, flops, kv_numbers, memory
from depthlaw.advisor.huggingface import read_config
from depthlaw.advisor.layout import wrapped
from depthlaw.advisor.models import architecture, model, models
from depthlaw.advisor.rules import rules

from ..text import clean
from . import depth_command, plain
from .output import dump

# Tokens at which all are compared, unless one of them takes fewer.
_CONTEXT = 4096
_MOST = 50
# Between columns.
_GAP = "  "


def compare(names: list[str] | None, json_output: bool, listed: bool = False) -> int:
    """Print the costs of nets side by side, and what the evidence and each law say of their depth.

    Args:
        names: listed models in any spelling, or paths of a config.json or its folder.
        listed: print the names of all listed models, and nothing else.

    Raises:
        UsageError: for none or too many, an unknown name, and a configuration that cannot be read.
    """
    names = names or []
    if listed:
        if names or json_output:
            raise UsageError("--list prints nothing else; give it alone")
        print("\n".join(sorted((m.name for m in models()), key=str.lower)))
        return 0
    if not 1 <= len(names) <= _MOST:
        raise UsageError(
            f"{len(names)} nets to compare; give 1 to {_MOST} names of models or "
            "paths of a config.json, such as: compare llama-3-8b qwen3-8b"
        )
    nets = [_net(name) for name in names]
    context = min(_CONTEXT, *(net.context for net, _, _ in nets))
    facts = [_facts(*net, context) for net in nets]
    if json_output:
        dump({"context": context, "nets": facts})
        return 0
    width = plain.columns()
    print("\n\n".join("\n".join(lines) for lines in _tables(facts, width)), end="\n\n")
    print("\n".join(_notes(facts, context, width)))
    return 0


def _tables(answers: list[dict[str, Any]], width: int) -> Iterator[list[str]]:
    """As many nets side by side as there is room for; then the next ones."""
    labels = ["", *(label for label, _ in _cells(answers[0]))]
    texts = [[clean(facts["name"]), *(text for _, text in _cells(facts))] for facts in answers]
    first = min(max(map(len, labels)), width * 2 // 5)
    sizes = [min(max(map(len, text)), width - first - len(_GAP)) for text in texts]
    while texts:
        number, room = 1, width - first - len(_GAP) - sizes[0]
        while number < len(texts) and room >= len(_GAP) + sizes[number]:
            room -= len(_GAP) + sizes[number]
            number += 1
        # What the nets leave is for the labels.
        widths = [min(first + room, max(map(len, labels))), *sizes[:number]]
        yield [
            line for row in zip(labels, *texts[:number], strict=True) for line in _row(row, widths)
        ]
        texts, sizes = texts[number:], sizes[number:]


def _row(cells: tuple[str, ...], widths: list[int]) -> Iterator[str]:
    """The lines of one row, each cell wrapped to its width."""
    for line in zip_longest(*map(wrapped, cells, widths), fillvalue=""):
        yield _GAP.join(map(str.ljust, line, widths)).rstrip()


def _notes(answers: list[dict[str, Any]], context: int, width: int) -> Iterator[str]:
    every = [
        f"FLOPs: {context:,} tokens attended to, masked ones included; bytes: 16 bits a number, "
        "MiB and GiB in powers of 1024.",
        "Evidence and laws: the depth they ask for at this net's own L d^2.",
        "+, -: training ended there; the loss of deeper (+) or shallower (-) nets is not known.",
        "* extrapolated: outside the sizes that the source measured.",
    ]
    every += [
        f"{facts['name']}: {remark}"
        for facts in answers
        for remark in (f"{facts['status']}: {facts['source']}", *facts["remarks"])
    ]
    for text in dict.fromkeys(every):
        yield from wrapped(clean(text), width, rest="  ")


def _net(name: str) -> tuple[Architecture, str, str]:
    """A net, where its shape was read, and how that is known."""
    path = os.path.expanduser(name)
    # A path that exists comes first: a folder may be named as a listed model is. Of os.path, which
    # takes a name that is too long for one that does not exist.
    if name.strip() and (os.path.exists(path) or path.endswith(".json")):
        return read_config(Path(path)), name, "read"
    try:
        listed = model(name)
    except UsageError as error:
        nearest = str(error).rpartition("; try ")[2]
        raise UsageError(
            f"no model {quoted(name)} among the {len(models())} listed; nearest are "
            f"{nearest}; `depthlaw compare --list` prints all names, and the path of "
            "a config.json is accepted too"
        ) from None
    return architecture(listed), listed.source, listed.status


def _facts(a: Architecture, source: str, status: str, context: int) -> dict[str, Any]:
    counts, operations = count(a), flops(a, context)
    volume = a.layers * a.width**2
    within = rule_scores.interval(volume, per_layer=1)
    of_interval = "low high started ended why sources"
    interval = within and {
        **{name: getattr(within, name) for name in of_interval.split()},
        "ends": depth_command.ends(within),
        "place": within.place(a.layers),
        "inside": within.low <= a.layers <= within.high,
        "extrapolated": within.extrapolated,
    }
    same = "kind layers encoder_layers own_layers width aspect heads d_ff gated"
    return {
        "name": a.name,
        "source": source,
        "status": status,
        **{name: getattr(a, name) for name in same.split()},
        **{name: getattr(a, name) for name in ("vocabulary", "tied", "context")},
        "kv_heads": a.key_heads,
        "head_width": a.head_size,
        "experts": a.experts
        and {name: getattr(a.experts, name) for name in ("count", "active", "shared", "width")},
        "latent_attention": a.latent is not None,
        **{name: getattr(counts, name) for name in ("total", "nonembedding", "active")},
        "flops_forward": operations.forward,
        "flops_training": operations.training,
        "weights_bytes": memory(a).weights,
        "kv_bytes_per_token": 2 * kv_numbers(a, 1),
        "kv_bytes": 2 * kv_numbers(a, a.context),
        "interval": interval,
        "laws": [
            {name: getattr(r, name) for name in ("key", "name", "meaning", "source", "wording")}
            | {"depth": r.depth(volume, per_layer=1)}
            | {"extrapolated": r.extrapolates(volume, per_layer=1)}
            for r in rules()
        ],
        "remarks": a.remarks,
    }


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
    i = f["interval"]
    near = f"{i['ends']}{'*' * i['extrapolated']}: {i['place']}" if i else "no grid"
    yield "evidence: within 1 %", near
    for law in f["laws"]:
        meaning = "" if law["meaning"] in law["name"] else f" ({law['meaning']})"
        # A floor is met by the next layer, a maximum kept by the last one.
        whole = {"floor": math.ceil, "maximum": math.floor}.get(law["meaning"], round)
        yield law["name"] + meaning, f"{whole(law['depth'])}{'*' * law['extrapolated']}"
