"""`depthlaw measure hops`: what a checkpoint gets wrong on hop_k, beside the published errors."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import track

from depthlaw.advisor.base.quantities import UsageError, plural, quoted
from depthlaw.theory.hops.published_experiment import hop_errors as published_errors

from ..publish.drawing.panels import Table
from ..records.environment import installing
from .output import dump, heading, notes, stdout
from .plain import paragraph
from .tables import data_table, print_table

if TYPE_CHECKING:
    from depthlaw.empirics.architectures.gpt2_weights import StoredNet
    from depthlaw.empirics.trained_depth.stored_hops import HopErrors

_MOST_HOPS, _MOST_SEQUENCES = 16, 10**6
_LEVEL = 0.05
# Width and heads of the nets that errors are listed of.
_PUBLISHED = (128, 4)
_SOURCE = "sanford2024, arXiv:2402.09268v1, Figures 2, 6 and 8"


def hops(
    *, checkpoint: Path, k: str, sequences: int, seed: int, device: str, json_output: bool
) -> int:
    """Ask a checkpoint for hop_k on fresh sequences, with dropout off and on."""
    asked = _hops(k)
    if not 1 <= sequences <= _MOST_SEQUENCES:
        raise UsageError(
            f"--sequences {sequences} is out of range; accepted are 1 to {_MOST_SEQUENCES}"
        )
    if seed < 0:
        raise UsageError(f"--seed {seed} is negative; accepted is 0 or more")
    if not all(importlib.util.find_spec(name) for name in ("safetensors", "torch")):
        raise UsageError(f"checkpoints need PyTorch; {installing('empirics')}")
    from depthlaw.empirics.architectures.gpt2_weights import stored_gpt2
    from depthlaw.empirics.architectures.residuals import check_device
    from depthlaw.empirics.trained_depth.stored_hops import check_net, hop_errors

    check_device(device)
    stored = stored_gpt2(checkpoint)
    check_net(stored.net)
    net, console, found = stored.net.to(device), notes(), []
    pairs = [(each, dropout) for each in asked for dropout in (False, True)]
    silent = json_output or not console.is_terminal
    for each, dropout in track(pairs, "k", console=console, transient=True, disable=silent):
        found.append(hop_errors(net, each, dropout, sequences=sequences, seed=seed))
    asked_of = {"sequences": sequences, "seed": seed, "device": device}
    data = _as_data(stored, found, asked_of)
    if json_output:
        dump(data)
    else:
        _print(data)
    return 0


def _hops(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) <= _MOST_HOPS for word in words):
        raise UsageError(
            f"--k {quoted(text)} is no list of hops; accepted are numbers from 0 to {_MOST_HOPS} "
            "with commas between, such as 1,2,4"
        )
    return list(dict.fromkeys(map(int, words)))


def _as_data(
    stored: StoredNet, found: Sequence[HopErrors], asked: dict[str, Any]
) -> dict[str, Any]:
    shape = stored.net.shape
    # A head that is the embedding, and the bias that no head of GPT-2 has.
    no_parameters = {"read_out_bias", "read_out" if stored.logits == "wte.weight" else ""}
    return {
        "weights": str(stored.file),
        "logits": stored.logits,
        "layers": shape.depth,
        "width": shape.width,
        "heads": shape.heads,
        "parameters": sum(
            weight.numel()
            for name, weight in stored.net.named_parameters()
            if name not in no_parameters
        ),
        "dropout": shape.dropout,
        **asked,
        "interval_level": 1 - _LEVEL,
        "source": _SOURCE,
        "errors": [_row(errors, shape.depth, (shape.width, shape.heads)) for errors in found],
    }


def _row(errors: HopErrors, depth: int, size: tuple[int, int]) -> dict[str, Any]:
    low, high = errors.right.interval(_LEVEL)
    dropout = "on" if errors.dropout else "off"
    cells = {
        row.status: float(row.error)
        for row in (published_errors() if size == _PUBLISHED else ())
        if (row.hops, row.depth, row.dropout) == (errors.k, depth, dropout)
    }
    return {
        "hops": errors.k,
        "dropout": dropout,
        "wrong": errors.right.trials - errors.right.right,
        "asked": errors.right.trials,
        "error": 1 - errors.right.mean,
        "interval": [1 - high, 1 - low],
        "all_positions": errors.error,
        "published": cells.get("printed"),
        "reported": cells.get("reported"),
    }


def _print(data: dict[str, Any]) -> None:
    heading(f"hop_k, a net of {plural(data['layers'], 'layer')}")
    paragraph(
        f"{data['layers']} layers x width {data['width']:,}, {data['heads']} heads, "
        f"{data['parameters']:,} parameters; logits: {data['logits']}; "
        f"dropout {data['dropout']:g}; {plural(data['sequences'], 'sequence')} for each k, "
        f"seed {data['seed']}, on {data['device']}; weights of {data['weights']}"
    )
    print()
    names = "hops dropout error interval all_positions published reported"
    rows = tuple(
        tuple(row[name] for name in names.split())
        for row in (
            row | {"interval": "{:.4f} to {:.4f}".format(*row["interval"])}
            for row in data["errors"]
        )
    )
    columns = ("k", "dropout", "wrong", "95 %", "all positions", "published", "reported")
    print_table(stdout(), data_table(Table(columns, rows)))
    print()
    paragraph(
        "wrong: the share of wrong answers, of one position drawn from each sequence, with its "
        "interval of Clopper and Pearson; all positions: of all with an answer, which depend on "
        "each other. Sequences are drawn as published: 98 symbols of 4 kinds, token ids up to 22."
    )
    if any(row["published"] is not None for row in data["errors"]):
        paragraph(
            "published: printed by Sanford, Hsu and Telgarsky (2024) for their net of this shape "
            "that was trained on fresh sequences, from 100 sequences for each k, with dropout left "
            "on. reported: of their weights, measured outside this project on 100 or 200."
        )
    else:
        paragraph(
            "No published errors are listed here for this shape and these k: they are of 2 to 6 "
            "layers of width 128 with 4 heads, at k = 1, 2, 4, 8, 16."
        )
    if not data["dropout"]:
        paragraph("Note: this net's dropout is 0, so that on and off are the same.")
