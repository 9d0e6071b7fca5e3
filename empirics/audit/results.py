"""What an audit found, as values: of these sentences and pages are made, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .statistics import Call, Chosen, Estimate, Telling
from .theory_beside import TheoryValue

if TYPE_CHECKING:
    from .ladder import RungResult


@dataclass(frozen=True)
class AuditedModel:
    """The model that was audited.

    Attributes:
        kinds: of each layer; shared: groups of layers that are one module or have equal weights.
        objective: "next token", "masked token", "labels", or "" without a head.
    """

    name: str
    kind: str
    layers: int
    width: int
    parameters: int
    vocabulary: int
    causal: bool
    kinds: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    objective: str
    sha256: str


@dataclass(frozen=True)
class AuditedText:
    """The sample: where it comes from, and the law of its tokens ("text" where it is a text)."""

    source: str
    law: str
    documents: int
    tokens: int
    cut: Mapping[str, Any]
    sha256: str


@dataclass(frozen=True)
class Row:
    """One layer or block in one measure.

    Attributes:
        first, last: the block, from 0; of a pair (skipped, later) these two.
        estimate: of the mean over documents.
        share: of the loss of the whole, where the measure is a change of it or the loss of an exit,
            by how much it is larger; its level is divided by the number of rows.
        call: of the removal of a layer, by `share`.
        nulls: by null model, on the documents that it ran on. Of one draw it is the mean, with an
            interval by document. Of several it is the mean of their means, and the interval goes
            from the least draw to the greatest: one more lies there at the level that it states,
            see `reach`.
    """

    first: int
    last: int
    estimate: Estimate
    share: Estimate | None = None
    call: Call | None = None
    nulls: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A measure of all layers or blocks.

    Attributes:
        told: by null model, whether the measure tells the model from it.
        absent: why there are no rows, in one line; "" where there are.
        missing: by null model, why it has no numbers here although it was drawn.
        size: layers of a block, where blocks of one size have a table of their own; 1 otherwise.
    """

    key: str
    variant: str
    unit: str
    identity: float | None
    rows: tuple[Row, ...]
    told: Mapping[str, Telling] = field(default_factory=dict)
    absent: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    size: int = 1


@dataclass(frozen=True)
class Search:
    """The cheapest block of one size to remove.

    Attributes:
        size: layers of a block.
        first, last: the block that was chosen, from 0.
        chosen: relative loss, and how the search was corrected for, at a level divided by the
            number of sizes.
        random: relative loss without as many layers, whichever they are. Where `sets` are all that
            there are, it is their mean and the interval is by document; otherwise sets were drawn
            at random, and they are the sample.
        sets: of layers, that `random` is the mean over.
        every: whether these are all.
        neighbours: relative loss without a block of as many neighbours, the mean over all blocks.
        call: of the chosen block against the tolerance; None where the model is not better than
            fresh weights.
    """

    size: int
    first: int
    last: int
    chosen: Chosen
    random: Estimate
    sets: int
    every: bool
    neighbours: Estimate
    call: Call | None


@dataclass(frozen=True)
class LeastBlock:
    """The block of one size of which a measure says least: whose repetition, or exchange with the
    block behind it, raises the loss least, or which turns the states least.

    Attributes:
        size: layers of a block.
        first, last: the block that was chosen, from 0; of a swap both blocks.
        chosen: relative change of the loss, or the angle, and how the search was corrected for, at
            a level divided by the number of such values in the audit.
        gain: whether the loss surely falls; None where the measure is not of the loss, fewer than
            32 documents judge, or the model is not better than fresh weights.
    """

    key: str
    variant: str
    size: int
    first: int
    last: int
    chosen: Chosen
    gain: bool | None


@dataclass(frozen=True)
class AuditedTask:
    """The second objective: answers to questions.

    Attributes:
        ladder: the name of the ladder of abilities that asks; "" where a file does.
        sample: the questions, each a document.
        loss: of the whole model, nats for each token of the answers.
        fresh: it relative to that of one net of the same shapes with fresh weights; None where that
            was not measured.
        agreement: of two orders of single layers, by loss on the text and on the task; None where
            removal was not asked for.
    """

    ladder: str
    sample: AuditedText
    loss: Estimate
    fresh: Estimate | None
    agreement: Estimate | None


@dataclass(frozen=True)
class Planted:
    """A layer that was put into the model on purpose: what a measure says of it.

    Attributes:
        how: "zero", a layer that adds zero, or "copy", one with the weights of `behind`.
        behind: the layer that it stands behind, from 0.
        estimate: on the documents that null models run on.
        identity: what the measure must say; None where that is not known. Without the copy the
            model is the whole again, so that the copy's removal must change the loss to that.
    """

    how: str
    key: str
    variant: str
    behind: int
    estimate: Estimate
    identity: float | None


@dataclass(frozen=True)
class Audit:
    """What was found; see the module.

    Attributes:
        loss: of the whole model, nats by scored token; None without a head.
        fresh: its loss relative to that of the same shapes with fresh weights, the mean of their
            draws, on the documents of null models: -0.5 is half as large; None without a head or
            that null model.
        searches: by size of the block.
        least: of other measures of blocks, by size and measure, where these were asked.
        planted: a layer that does nothing and a copy, see `Planted`.
        refused: null models that cannot be drawn of this model, and why.
        objectives: agreement of two orders of single layers, by loss and by divergence from the
            whole model; None without a head.
        task: a second objective; None where none was asked.
        changed: what the ladder was asked again after: without or repeat, with the layers, or
            against, with the name of the other model; empty without a change.
        tolerance, level, draws, seed: as asked.
    """

    model: AuditedModel
    text: AuditedText
    loss: Estimate | None
    fresh: Estimate | None
    tables: tuple[Table, ...]
    searches: tuple[Search, ...]
    least: tuple[LeastBlock, ...]
    planted: tuple[Planted, ...]
    refused: Mapping[str, str]
    objectives: Estimate | None
    task: AuditedTask | None
    theory: tuple[TheoryValue, ...]
    ladder: tuple[RungResult, ...]
    changed: Mapping[str, str]
    tolerance: float
    level: float
    draws: int
    seed: int
    versions: Mapping[str, str]

    @property
    def learnt(self) -> bool:
        """See `learnt`."""
        return learnt(self.fresh, self.tolerance)

    def table(self, key: str, variant: str = "", size: int = 1) -> Table | None:
        """The table of a measure, by layer or of blocks of one size; None where it was not
        asked."""
        for table in self.tables:
            if table.key == key and variant in ("", table.variant) and table.size == size:
                return table
        return None

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints: every number with its interval as {value, low, high, level, n,
        rule}: see `Estimate`."""
        found: dict[str, Any] = _plain(self)
        return found


def learnt(fresh: Estimate | None, tolerance: float) -> bool:
    """Whether a loss is surely below that of fresh weights, by more than the tolerance; True where
    that was not measured."""
    return fresh is None or fresh.high < -tolerance


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        names = ("value", "low", "high", "level", "n", "rule")
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, TheoryValue):
        return {name: _plain(part) for name, part in value._asdict().items()} | {
            "vacuous": value.vacuous
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
