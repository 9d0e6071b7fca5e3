"""What loops are worth: the one published law, the loops that were published beside it, and the
depths in loops that the atlas has.

N_once parameters are passed once and N_rec in every one of r passes; the law makes of them
N_once + r^phi N_rec parameters of a plain net of equal loss, all without embeddings by our
reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from . import atlas
from .counting import count
from .initialisation_advice import rows

if TYPE_CHECKING:
    from .architecture import Architecture


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
    with_embeddings: bool  # so counted, unlike the parts of the looped net
    by: str  # in what: loss or benchmarks; empty for nothing
    exponent: float | None  # with which the law would say what was published
    extrapolated: bool
    source: str
    wording: str
    note: str


class LoopWorth(NamedTuple):
    """A net of loops beside plain ones."""

    loops: int
    own_layers: int
    recurrent: int  # parameters in the loop, without embeddings; none are outside
    cost: int  # parameters, so counted, of a plain net that takes as many operations
    values: tuple[LoopValue, ...]  # first that of the usual training; none before the law
    sources: int  # of the law
    published: tuple[PublishedLoop, ...]
    exact: tuple[tuple[str, str, str], ...]  # tasks of the atlas in loops: key, depth, verdict

    @property
    def others(self) -> tuple[PublishedLoop, ...]:
        """Loops beside plain nets that other sources than the law's call equal, sizes counted
        alike."""
        known = {value.source for value in self.values}
        return tuple(p for p in self.published if p.exponent and p.source not in known)


def worth_of(a: Architecture, known_by: int | None = None) -> LoopWorth:
    """What the loops of a net are worth, by what was published by a year.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> found = worth_of(Architecture(32, 1024, 16, 4096, 32000, unique_layers=8))
    >>> round(found.values[0].parameters / found.recurrent, 3), found.cost / found.recurrent
    (1.892, 4.0)
    """
    passes, within = a.layers // a.own_layers, count(a).nonembedding
    values = tuple(
        LoopValue(
            law["training"],
            phi := float(law["exponent"]),
            passes**phi * within,
            passes > int(law["most_loops"]),
            law["source"],
            law["wording"],
        )
        for law in rows("loop_laws", known_by)
    )
    sources = {value.source for value in values}
    published = published_loops(known_by) if values else ()
    return LoopWorth(
        passes,
        a.own_layers,
        within,
        within * passes,
        values,
        len(sources),
        published,
        tuple(
            (row.task.key, row.summary, row.checked)
            for row in atlas.atlas_rows(known_by=known_by)
            if "loops" in row.class_.unit
        ),
    )


def published_loops(known_by: int | None = None) -> tuple[PublishedLoop, ...]:
    """Every looped net of loops.csv by a year, with what the law says of it."""
    return tuple(map(_published, rows("loops", known_by)))


def implied_exponent(row: dict[str, str]) -> float | None:
    """The exponent with which the law says that a net equals a plain one of the size published, if
    one is in the count of the parts."""
    if not row["equal"] or row["counts"] == "with embeddings":
        return None
    gained = (float(row["equal"]) - float(row["once"])) / float(row["recurrent"])
    return math.log(gained) / math.log(float(row["loops"]))


def _published(row: dict[str, str]) -> PublishedLoop:
    law = next(law for law in rows("loop_laws") if law["key"] == row["law"])
    passes, size = int(row["loops"]), None
    if row["recurrent"]:
        size = float(row["once"]) + passes ** float(law["exponent"]) * float(row["recurrent"])
    tokens, equal = (float(row[name]) if row[name] else None for name in ("tokens", "equal"))
    whole = row["counts"] == "with embeddings"
    known = (tokens, size, equal, whole, row["by"], implied_exponent(row))
    last = (row["source"], row["wording"], row["note"])
    return PublishedLoop(row["name"], passes, *known, passes > int(law["most_loops"]), *last)
