"""What loops are worth: the one published law, the loops that were published beside it, and the
depths in loops that the atlas has.

N_once parameters are passed once and N_rec in every one of r passes; the law makes of them
N_once + r^phi N_rec parameters of a plain net of equal loss, all without embeddings.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import atlas
from .base.quantities import UsageError
from .counting import count

if TYPE_CHECKING:
    from .architecture import Architecture

# Losses between which a published net is read: of the parameters passed once, of the looped net,
# and of a plain net with as many layers as it passes.
_LOSSES = ("loss_once", "loss", "loss_unrolled")


class LoopValue(NamedTuple):
    """What a loop is worth by one variant of the law."""

    training: str  # how the nets of the variant were trained
    exponent: float  # phi
    parameters: float  # without embeddings, of a plain net of equal loss
    extrapolated: bool  # more passes than the variant was fitted at
    source: str
    wording: str


class PublishedLoop(NamedTuple):
    """A looped net that was published, with what the law says of it."""

    name: str
    loops: int
    tokens: float | None
    parameters: float | None  # by the law; None where its parts are not published
    equal: float | None  # of the plain net that its source calls equal
    by: str  # in what: loss or benchmarks; empty for nothing
    exponent: float | None  # with which the law would say what was published
    extrapolated: bool
    source: str
    wording: str
    note: str


@dataclass(frozen=True)
class LoopWorth:
    """A net of loops beside plain ones."""

    loops: int
    own_layers: int
    once: int  # parameters passed once, without embeddings
    recurrent: int  # parameters in the loop
    cost: int  # parameters, so counted, of a plain net that takes as many operations
    values: tuple[LoopValue, ...]  # first that of the usual training
    sources: int  # of the law
    published: tuple[PublishedLoop, ...]
    exact: tuple[tuple[str, str, str], ...]  # tasks of the atlas in loops: key, depth, verdict

    @property
    def elsewhere(self) -> tuple[float, float] | None:
        """Between which exponents the losses of other sources than the law's lie, if any do."""
        ours = {value.source for value in self.values}
        others = (p for p in self.published if p.by == "loss" and p.source not in ours)
        found = [p.exponent for p in others if p.exponent is not None]
        return (min(found), max(found)) if found else None


def worth_of(a: Architecture, known_by: int | None = None) -> LoopWorth:
    """What the loops of a net are worth.

    Raises:
        UsageError: for a net without loops.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> net = Architecture(32, 1024, 16, 4096, 32000, unique_layers=8)
    >>> found = worth_of(net)
    >>> round(found.values[0].parameters / found.recurrent, 3), found.cost / found.recurrent
    (1.892, 4.0)
    """
    passes, rest = divmod(a.layers, a.own_layers)
    if passes < 2 or rest:
        raise UsageError("a net of one pass has no loops; try --loops 4")
    within = count(a).nonembedding
    values = tuple(
        LoopValue(
            law["training"],
            float(law["exponent"]),
            effective(0, within, passes, float(law["exponent"])),
            passes > int(law["most_loops"]),
            law["source"],
            law["wording"],
        )
        for law in _table("loop_laws", known_by)
    )
    exact = tuple(
        (row.task.key, row.summary, row.checked)
        for row in atlas.atlas_rows(known_by=known_by)
        if "loops" in row.class_.unit
    )
    sources = len({value.source for value in values})
    published = published_loops(known_by) if values else ()
    cost = within * passes
    return LoopWorth(passes, a.own_layers, 0, within, cost, values, sources, published, exact)


def effective(once: float, recurrent: float, passes: int, exponent: float) -> float:
    """Parameters of a plain net of equal loss, by the law.

    >>> round(effective(213e6, 197e6, 4, 0.46) / 1e6)
    586
    """
    return once + passes**exponent * recurrent


def implied_exponent(row: dict[str, str]) -> float | None:
    """The exponent with which the law says what was published of a net, if that says one: from the
    size of the plain net that it equals, or else from losses, which are taken as a straight line
    between the net passed once and that of as many layers of their own, in logarithms."""
    passes = float(row["loops"])
    if row["equal"]:
        gained = (float(row["equal"]) - float(row["once"])) / float(row["recurrent"])
        return math.log(gained) / math.log(passes)
    if row["loss"]:
        once, loss, unrolled = (math.log(float(row[name])) for name in _LOSSES)
        return (once - loss) / (once - unrolled)
    return None


def published_loops(known_by: int | None = None) -> tuple[PublishedLoop, ...]:
    """Every published loop that names sizes or tokens, with the law's number."""
    laws = {law["key"]: law for law in _table("loop_laws")}
    found = []
    for row in _table("loops", known_by):
        law, passes, size = laws[row["law"]], int(row["loops"]), None
        if row["recurrent"]:
            parts = float(row["once"]), float(row["recurrent"])
            size = effective(*parts, passes, float(law["exponent"]))
        found.append(
            PublishedLoop(
                row["name"],
                passes,
                float(row["tokens"]) if row["tokens"] else None,
                size,
                float(row["equal"]) if row["equal"] else None,
                row["by"],
                implied_exponent(row),
                passes > int(law["most_loops"]),
                *(row[name] for name in ("source", "wording", "note")),
            )
        )
    return tuple(found)


@cache
def _table(name: str, known_by: int | None = None) -> list[dict[str, str]]:
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if known_by is None or int(row["year"]) <= known_by]
