"""What an audit found of each layer and rung, as tables of text for a screen and a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from . import sentences
from .sentences import WORDS, number, percent

if TYPE_CHECKING:
    from depthlaw.empirics.audit.ladder import RungResult
    from depthlaw.empirics.audit.results import Audit, Row
    from depthlaw.empirics.audit.statistics import Estimate

# Columns by layer: heading, measure, variant.
_COLUMNS = {
    "removal": (
        ("loss", "removal", "loss"),
        ("KL", "removal", "divergence"),
        ("task", "removal", "task"),
    ),
    "states": (
        ("influence", "block_influence", "mean"),
        ("angle", "angular_distance", "last_token"),
        ("residual", "residual", "composite"),
        ("size", "growth", "rms"),
    ),
    "reads": (
        ("settled", "settling_depth", "share"),
        ("exit loss", "exit_loss", "loss"),
        ("attention", "contribution", "attention"),
        ("MLP", "contribution", "mlp"),
    ),
    "changes": (
        ("swapped with next", "swap", "loss"),
        ("run twice", "repeat", "plain"),
        ("damped", "repeat", "damped"),
    ),
    "skips": (
        ("output", "skip_effect", "output_mean"),
        ("at most", "skip_effect", "output_max"),
    ),
}

Cell = Callable[["Estimate"], str]


class Shown(NamedTuple):
    """A table.

    Attributes:
        key: of its title and caption in `words.toml`.
        heads: of columns; one that ends in a colon stands over numbers.
        known: what the caption says beside.
    """

    key: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    known: Mapping[str, object]


def by_layer(audit: Audit, cell: Cell = number) -> Iterator[Shown]:
    """The tables with rows, in the order in which they are read.

    Args:
        cell: how a mean is written where a table has many.
    """
    made = (
        *_removal(audit, cell),
        _layers(audit, "states", lambda row: cell(row.estimate)),
        _layers(audit, "reads", lambda row: cell(row.estimate)),
        _layers(audit, "changes", lambda row: percent(row.share) if row.share else ""),
        _skips(audit),
        _paths(audit),
    )
    yield from (table for table in made if table.rows)


def ladder(audit: Audit) -> Shown:
    """A row for each rung."""
    key = "changed" if any(result.after for result in audit.ladder) else "ladder"
    rows = [list(_rung(result)) for result in audit.ladder]
    return Shown(key, WORDS["heads"][key].split(" | "), rows, {})


def _removal(audit: Audit, cell: Cell) -> Iterator[Shown]:
    """The objectives side by side, and null models beside the loss."""
    from depthlaw.empirics.audit.audit import NULL_DOCUMENTS

    table = audit.table("removal", "loss")
    if table is None or not table.rows:
        return
    key, (layer, *heads), listed, known = _layers(audit, "removal", lambda row: cell(row.estimate))
    rows = [
        [name, percent(row.share) if row.share else "", sentences.called(audit, row), *others]
        for (name, *others), row in zip(listed, table.rows, strict=True)
    ]
    split = any(of.size == 1 and of.chosen.rule == "split" for of in audit.searches)
    known = {
        "allowed": f"{100 * audit.tolerance:g}",
        "split": f" {sentences.say('all_documents')}" if split else "",
        **known,
    }
    yield Shown(key, [layer, "share of loss", "call", *heads], rows, known)
    if nulls := list(table.rows[0].nulls):
        heads = [layer, "this model", *(WORDS["short"][null] for null in nulls)]
        models = [[row.estimate, *row.nulls.values()] for row in table.rows]
        beside = [[line[0], *map(cell, of)] for line, of in zip(rows, models, strict=True)]
        few = min(table.rows[0].estimate.n, NULL_DOCUMENTS)
        yield Shown("beside", heads, beside, {"few": few})


def _layers(audit: Audit, key: str, cell: Callable[[Row], str]) -> Shown:
    """Measures by layer, of which there is what was asked."""
    found, judged = {}, []
    for head, measure, variant in _COLUMNS[key]:
        table = audit.table(measure, variant)
        if table and table.rows:
            found[head] = {row.first: cell(row) for row in table.rows}
            judged.append(len(table.rows))
    layers = range(audit.model.layers) if found else ()
    rows = [[_layer(audit, n), *(of.get(n, "") for of in found.values())] for n in layers]
    said = " ".join(WORDS["column"][head] for head in found)
    half = "the search" if key == "removal" else ""
    known = {"columns": said, "strict": sentences.strict(audit.level, *judged, half=half)}
    return Shown(key, ["layer:", *found], rows, known)


def _skips(audit: Audit) -> Shown:
    """Effects on the output, and of the effects on later layers the mean and the largest."""
    key, heads, rows, known = _layers(audit, "skips", lambda row: number(row.estimate))
    table, wider = audit.table("skip_effect", "later_mean"), []
    for skipped, row in enumerate(rows):
        later = [each for each in table.rows if each.first == skipped] if table else []
        most = max(later, key=lambda each: each.estimate.value, default=None)
        mean = f"{fmean(each.estimate.value for each in later):.3g}" if later else ""
        wider.append([*row, mean, f"{most.estimate.value:.3g} in {most.last + 1}" if most else ""])
    return Shown(key, [*heads, "later", "most"], wider, known)


def _paths(audit: Audit) -> Shown:
    kept, half = audit.table("path_length", "kept"), audit.table("path_length", "half")
    rows = [[f"{row.first}", number(row.estimate)] for row in kept.rows] if kept else []
    known = {"half": number(half.rows[0].estimate) if half and half.rows else ""}
    return Shown("paths", WORDS["heads"]["paths"].split(" | "), rows, known)


def _layer(audit: Audit, layer: int) -> str:
    """Its number, and its kind where layers differ."""
    kinds = audit.model.kinds
    return f"{layer + 1}" + (f" {kinds[layer]}" if len(set(kinds)) > 1 else "")


def _rung(result: RungResult) -> Iterator[str]:
    rung = result.rung
    yield f"{rung.ladder} {rung.level}"
    yield f"{result.baseline.share:.2f}"
    yield _share(result.before)
    if result.after:
        yield from (_share(result.after), result.state or "")
    yield ("" if rung.least is None else f"{rung.least:g}") + (" *" if result.beyond else "")


def _share(estimate: Estimate) -> str:
    """Two digits, and an interval that is rounded outward."""
    low, high = math.floor(100 * estimate.low) / 100, math.ceil(100 * estimate.high) / 100
    return f"{estimate.value:.2f} [{low:.2f}, {high:.2f}]"
