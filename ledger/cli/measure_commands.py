"""`depthlaw measure`: what real architectures do, layer by layer; what a checkpoint gets wrong on
hop_k, beside the published errors."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import track

from depthlaw.advisor.base.quantities import UsageError, plural, quoted
from depthlaw.empirics.architectures.ablations import VARIANTS
from depthlaw.empirics.architectures.loading import ARCHITECTURES
from depthlaw.empirics.architectures.residuals import Residuals, measure_residuals
from depthlaw.theory.claims.values import Sample
from depthlaw.theory.hops.published_experiment import hop_errors as published_errors

from ..publish.drawing.panels import Panel, Series, Table
from ..records.environment import installing
from .plain import draw, dump, heading, notes, paragraph, picture_format, stdout
from .tables import data_table, names_table, print_table

if TYPE_CHECKING:
    from depthlaw.empirics.architectures.gpt2_weights import StoredNet
    from depthlaw.empirics.trained_depth.stored_hops import HopErrors

_MOST_SEEDS, _MOST_LAYERS = 1000, 10_000
# Intervals that tables and pictures show: Student's, over seeds.
_LEVEL = 0.05
# A residual is rounding where it is below so many units in the last place of what it is a residual
# of.
_UNITS = 8
# Layers that a law needs to be seen over.
_ENOUGH = 5
_MOST_HOPS, _MOST_SEQUENCES = 16, 10**6
# Width and heads of the nets that errors are listed of.
_PUBLISHED = (128, 4)
_SOURCE = "sanford2024, arXiv:2402.09268v1, Figures 2, 6 and 8"


def measure(json_output: bool) -> None:
    """List what can be measured: architectures, and what each variant removes."""
    models = {name: architecture.label for name, architecture in ARCHITECTURES.items()}
    if json_output:
        return dump({"models": models, "variants": {name: list(p) for name, p in VARIANTS.items()}})
    variants = {name: ", ".join(parts) or "nothing" for name, parts in VARIANTS.items()}
    for headings, rows in (("model architecture", models), ("variant removes", variants)):
        name, what = headings.split()
        print_table(stdout(), names_table(name, what, rows))
        print()
    paragraph(
        '"As published": by the code of the published measurement; the command says in '
        "words what that is in an architecture, and what stays."
    )
    print()
    paragraph(
        "depthlaw measure residual --model gpt2 --variant san --layers 24 measures how far "
        "tokens are from equal, layer by layer; depthlaw measure hops --checkpoint FOLDER what a "
        "checkpoint gets wrong on k hops."
    )


def residual(
    *, seeds: int, plot: Path | None, force: bool, json_output: bool, **asked: Any
) -> None:
    """Measure relative residuals by layer, of seeds 0, 1, ..., and print them, or JSON; draw them
    where a file is named. `asked`: what `measure_residuals` takes."""
    if not asked["model"] and asked["weights"] is None:
        raise UsageError(
            "no model: give --model NAME, or --weights FOLDER; `depthlaw measure` lists the names"
        )
    if not 1 <= seeds <= _MOST_SEEDS:
        raise UsageError(f"--seeds {seeds} is out of range; accepted are 1 to {_MOST_SEEDS}")
    form = picture_format(plot, force)
    if asked["weights"] is None and asked["model"] in ARCHITECTURES:
        _check_sizes(**asked)
    if asked["dtype"] not in ("float32", "float64"):
        raise UsageError(
            f"unknown --dtype {quoted(asked['dtype'])}; accepted are float32 and float64"
        )
    measured = _measured(seeds, asked, quiet=json_output)
    floor = rounding(measured)
    if plot is not None:
        draw(plot, [_panel(measured, floor)], form)
    data = _as_data(measured, floor)
    if json_output:
        dump(data)
    else:
        _print(measured, data)


def _check_sizes(
    model: str, layers: int | None, width: int | None, batch: int, tokens: int, **_: object
) -> None:
    """Refuse what cannot fit, before it is built until the memory of all is gone."""
    kind, layers, width = ARCHITECTURES[model], layers or 12, width or 768
    if layers > _MOST_LAYERS:
        raise UsageError(f"--layers {layers} is out of range; accepted are 1 to {_MOST_LAYERS}")
    # Of queries, outputs and the MLP, of 4 bytes; ALBERT has one layer that is run many times.
    weights = int(2 * (1 + kind.mlp) * width**2) * (1 if model == "albert" else layers)
    least = 4 * (weights + tokens * width) + 8 * batch * tokens
    try:
        here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return
    if least > here > 0:
        raise UsageError(
            f"{layers} layers of width {width} with {batch} x {tokens} tokens need at "
            f"least {least / 2**30:,.0f} GB of memory, and this machine has "
            f"{here / 2**30:,.0f}; take smaller sizes"
        )


# --- measuring -----------------------------------------------------------------------------------


def _measured(seeds: int, asked: dict[str, Any], *, quiet: bool) -> Residuals:
    """All seeds, one after the other, so that a terminal shows how far it is."""
    known = asked["weights"] is not None or asked["model"] in ARCHITECTURES
    if known and not all(map(importlib.util.find_spec, ("transformers", "torch"))):
        raise UsageError(f"real architectures need transformers and PyTorch; {installing('hf')}")
    console, parts = notes(), []
    silent = quiet or not console.is_terminal
    try:
        for seed in track(range(seeds), "seeds", console=console, transient=True, disable=silent):
            parts.append(measure_residuals(seeds=(seed,), **asked))
    # PyTorch says so by a RuntimeError of its own.
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        raise UsageError(
            "this net does not fit into the memory of this machine; take fewer layers, a smaller "
            "width, fewer tokens or a smaller batch"
        ) from None
    arrays = ("by_layer", "over_batch", "frobenius", "norms")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays
    }
    return replace(parts[0], seeds=tuple(range(seeds)), **joined)


# --- what was found ------------------------------------------------------------------------------


def rounding(residuals: Residuals) -> float:
    """The relative residual below which a measured one is rounding: some units in the last place
    of the numbers that the net computes in."""
    kind = ARCHITECTURES[residuals.model]
    single = residuals.dtype == "float32" or kind.norms_in_float32
    return _UNITS * float(np.finfo(np.float32 if single else np.float64).eps)


def _interval(values: np.ndarray) -> tuple[float, float] | None:
    """Student's interval of the mean over seeds; None where there is none, as for one seed."""
    low, high = Sample(tuple(map(float, values))).interval(_LEVEL)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _half(values: np.ndarray) -> float | None:
    ends = _interval(values)
    return None if ends is None else (ends[1] - ends[0]) / 2


def _panel(residuals: Residuals, floor: float) -> Panel:
    places = tuple(range(residuals.layers + 1))
    curves = []
    named = {"composite norm": residuals.by_layer, "Frobenius norm": residuals.frobenius}
    for label, values in named.items():
        means = tuple(map(float, values.mean(axis=0)))
        low, high = zip(
            *(_interval(values[:, layer]) or (means[layer],) * 2 for layer in places), strict=True
        )
        curves.append(Series(label, places, means, low, high))
    if min(min(curve.y) for curve in curves) < 10 * floor:
        curves.append(
            Series("below this: rounding", (0, residuals.layers), (floor, floor), kind="reference")
        )
    seeds = f"{len(residuals.seeds)} seeds, bands of 95 %" if len(residuals.seeds) > 1 else "1 seed"
    return Panel(
        f"{ARCHITECTURES[residuals.model].label}, {residuals.layers} x {residuals.width}, variant "
        f"{residuals.variant} ({seeds})",
        "layer",
        "relative residual",
        tuple(curves),
        y_scale="log",
    )


def seen(by_layer: np.ndarray, floor: float) -> str:
    """What the residuals show of a law, in words that go no further than they do.

    Args:
        by_layer: relative residuals, shape (seeds, layers + 1).
        floor: below it they are rounding.

    >>> seen(np.array([[0.9, 0.9, 0.9]]), 1e-6)
    'No collapse is seen: after 2 layers the residual is 1 times that of the embeddings.'
    """
    mean = by_layer.mean(axis=0)
    last = len(mean) - 1
    hidden = np.flatnonzero((by_layer < floor).any(axis=0))
    # A law can be seen up to the first residual that is rounding.
    above = int(hidden[0]) - 1 if len(hidden) else last
    if above < last:
        # Also where a net's residual comes out of the rounding again.
        start = f"At layer {above + 1} the residual is rounding"
        if above + 1 < _ENOUGH:
            return (
                f"{start}; the {above + 1} before, the embeddings among them, are too few to "
                "tell an exponential law from a doubly exponential one."
            )
    elif mean[-1] > mean[0] / 2:
        return (
            f"No collapse is seen: after {last} layers the residual is "
            f"{mean[-1] / mean[0]:.3g} times that of the embeddings."
        )
    else:
        start = (
            f"After {last} layers the residual is {mean[-1] / mean[0]:.2g} times that of the "
            "embeddings"
        )
        if last + 1 < _ENOUGH:
            return f"{start}; so few layers show no law."
    steps = [math.log(a / b) for a, b in pairwise(mean[: above + 1])]
    text = (
        f"{start}. Until layer {above} each layer divides it by "
        f"{math.exp(min(steps)):.2g} to {math.exp(max(steps)):.2g}; an exponential law divides "
        "by the same number each time"
    )
    small = [-math.log(r) for r in mean[: above + 1] if r < math.exp(-1)]
    if len(small) >= _ENOUGH:
        growth = [b / a for a, b in pairwise(small)]
        text += (
            f", and under the cubic law -log of it triples each time: here it grows by "
            f"{min(growth):.2f} to {max(growth):.2f} times"
        )
    return text + "."


def _as_data(residuals: Residuals, floor: float) -> dict[str, Any]:
    names = (
        "model variant what_is_removed weights layers width heads parameters batch tokens device "
        "dtype versions"
    )
    measured = (residuals.by_layer, residuals.frobenius, residuals.norms)
    columns = zip(*(values.mean(axis=0).tolist() for values in measured), strict=True)
    return {
        **{name: getattr(residuals, name) for name in names.split()},
        "seeds": list(residuals.seeds),
        "notes": list(residuals.notes),
        "rounding_below": floor,
        "interval_level": 1 - _LEVEL,
        "by_layer": [
            {
                "layer": layer,
                "residual": residual,
                "half_width": _half(residuals.by_layer[:, layer]),
                "frobenius": frobenius,
                "norm": norm,
                "rounding": residual < floor,
            }
            for layer, (residual, frobenius, norm) in enumerate(columns)
        ],
        "by_seed": residuals.by_layer.tolist(),
        "seen": seen(residuals.by_layer, floor),
    }


def _print(residuals: Residuals, data: dict[str, Any]) -> None:
    heading(f"{ARCHITECTURES[residuals.model].label}, variant {residuals.variant}")
    source = (
        "random weights as transformers draws them"
        if residuals.weights == "random"
        else f"weights of {residuals.weights}"
    )
    count = len(residuals.seeds)
    paragraph(
        f"{residuals.layers} layers x width {residuals.width:,}, {residuals.heads} heads, "
        f"{residuals.parameters:,} parameters; {source}; {residuals.batch} sequences of "
        f"{residuals.tokens} tokens by Zipf's law; {plural(count, 'seed')}; "
        f"{residuals.dtype} on {residuals.device}"
    )
    paragraph(f"Removed: {residuals.what_is_removed}")
    print()
    names = ("layer", "residual", "half_width", "frobenius")
    rows = (
        (*(row[name] for name in names), "rounding" if row["rounding"] else "")
        for row in data["by_layer"]
    )
    headings = ("layer", "relative residual", "+-", "Frobenius", "")
    print_table(stdout(), data_table(Table(headings, tuple(rows))))
    print()
    interval = "+-: 95 % over seeds." if count > 1 else "One seed has no interval; try --seeds 5."
    paragraph(
        "relative residual: the norm of what is left of the hidden states without their "
        "mean over tokens, over their norm; composite norm sqrt(largest column sum * "
        "largest row sum), mean over the batch; layer 0 is the embeddings. "
        f"{interval} Below {data['rounding_below']:.2g} a residual is rounding."
    )
    print()
    paragraph(f"Seen: {data['seen']}")
    for note in residuals.notes:
        paragraph(f"Note: {note}.")


# --- hops -----------------------------------------------------------------------------------------


def hops(
    *, checkpoint: Path, k: str, sequences: int, seed: int, device: str, json_output: bool
) -> None:
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
    data = _hops_data(stored, found, asked_of)
    if json_output:
        dump(data)
    else:
        _print_hops(data)


def _hops(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) <= _MOST_HOPS for word in words):
        raise UsageError(
            f"--k {quoted(text)} is not a list of hops; accepted are numbers from 0 to "
            f"{_MOST_HOPS} with commas between, such as 1,2,4"
        )
    return list(dict.fromkeys(map(int, words)))


def _hops_data(
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


def _print_hops(data: dict[str, Any]) -> None:
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
