"""Where an answer leaves what published grids hold: other tokens, larger nets, phones.

Values alone; `words` says them. What texts of others say is a row of facts.csv.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple

from . import laws
from .budgets import TOKENS_PER_PARAMETER
from .grids import STANDARD, Covered, Grid, grids, loss_grids, sizes_compared, tokens_covered
from .hardware import devices, gpu
from .rule_scores import TOLERANCE
from .rules import rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .budgets import Budget
    from .grids import NetKind
    from .models import Model
    from .rules import Rule
    from .trades import Layers

# Whose nets were made for phones, in grids.csv.
_PHONES = "MobileLLM"
# How many standard errors of a fit are printed as the range of its depth.
_ERRORS = 2


class Fact(NamedTuple):
    """What a text of others says."""

    about: str
    says: str
    source: str
    wording: str  # printed, reported, recalled, or abstract where no more was read


@cache
def facts(about: str) -> tuple[Fact, ...]:
    """The rows of facts.csv on something: repeated data, or why deployed nets are shallow.

    >>> {fact.wording for fact in facts("shallow")}
    {'printed'}
    """
    with Path(__file__).with_name("facts.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Fact(**row) for row in csv.DictReader(file) if row["about"] == about)


# --- tokens ---------------------------------------------------------------------------------------


class Tokens(NamedTuple):
    """The training tokens of a question, and what grids of losses hold of so many."""

    each: float  # for each parameter that a token uses, as often as they are seen
    epochs: int  # how often each is seen
    covered: Covered | None  # by the grids nearest in size
    fewest: float | None  # for each parameter, by a grid of any size

    @property
    def place(self) -> str:
        """Where they lie: "inside" what grids cover, "below", "above", or "unknown"."""
        if self.covered is None:
            return "unknown"
        if self.covered.holds(self.each):
            return "inside"
        return "below" if self.each < self.covered.least else "above"

    @property
    def reached(self) -> bool:
        """Whether grids of some size have so few."""
        return self.fewest is not None and self.each >= self.fewest

    @property
    def again(self) -> bool:
        """Whether each is seen several times."""
        return self.epochs > 1

    @property
    def repeated(self) -> bool:
        """Whether what is known of repeated data concerns them: they are seen again, or are so few
        that no grid went as low."""
        return self.again or (self.fewest is not None and not self.reached)


def tokens(seen: Layers, each: float | None, epochs: int, known_by: int | None) -> Tokens | None:
    """The tokens of a question about a net; None where they do not follow."""
    if each is None:
        return None
    near, every = (tokens_covered(v, known_by) for v in (seen.parameters / seen.per_layer, None))
    return Tokens(each, epochs, near, every and every.least)


# --- a second source ------------------------------------------------------------------------------


class Second(NamedTuple):
    """What Liu's fit, of other nets than those of the grids, says of a size."""

    low: int  # the depths within 1 % of its least loss
    best: int  # whatever the tokens are
    high: int
    least: int  # the best depth within two standard errors of the fit, which are relative
    most: int
    extrapolated: bool  # it was fitted to nets of other sizes
    source: str
    wording: str


def second(seen: Layers, kind: NetKind, each: float | None, known_by: int | None) -> Second | None:
    """The depths that Liu's fit holds within 1 %, at 20 tokens for each parameter where none are
    given; None for nets of another kind, and before it was published."""
    fit = rule("added")
    if kind != STANDARD or (known_by is not None and known_by < fit.year):
        return None
    size = 12 * seen.parameters / seen.per_layer
    number = (each or TOKENS_PER_PARAMETER) * seen.parameters
    low, high = laws.added_range(size, number, TOLERANCE)
    best, error = fit.law(size), laws.added_depth_error(size)
    spread = math.exp(_ERRORS * error / best)
    return Second(
        max(1, math.ceil(low)),
        round(best),
        math.floor(high),
        max(1, round(best / spread)),
        round(best * spread),
        fit.extrapolates(size),
        fit.source,
        fit.wording,
    )


# --- beyond the grids -----------------------------------------------------------------------------


class Beyond(NamedTuple):
    """Two answers for a size above all grids of losses: what is built, and what the rule says."""

    low: int  # the middle half of the depths of published models, each shape once
    high: int
    shapes: int
    rule: int  # layers
    measured: float  # parameters without embeddings of the largest net whose loss was compared

    @property
    def apart(self) -> bool:
        """Whether the rule's depth lies outside what is built."""
        return not self.low <= self.rule <= self.high

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest of the two answers."""
        return min(self.low, self.rule), max(self.high, self.rule)


def beyond(
    seen: Layers, followed: Rule, recipes: Iterable[Model], known_by: int | None
) -> Beyond | None:
    """Practice and rule for the size of a net; None where a grid has nets so large, or fewer than
    two shapes are published.

    Args:
        followed: the rule as published, wherever what is built has fewer layers.
        recipes: published models of about the size, each shape once.
    """
    depths = sorted(m.layers for m in recipes)
    known = loss_grids(known_by)
    largest = max((g.volume for g in known), default=math.inf)
    if seen.parameters / seen.per_layer <= largest or len(depths) < 2:
        return None
    low, _, high = quantiles(depths, n=4, method="inclusive")
    measured = sizes_compared(known)[1]
    return Beyond(round(low), round(high), len(depths), round(seen.depth(followed)), measured)


# --- phones ---------------------------------------------------------------------------------------


class Phone(NamedTuple):
    """What nets that were made for phones have, of the size nearest to a net's."""

    source: str
    name: str  # of the comparison
    layers: int
    beaten: int
    wording: str


def phone(seen: Layers, b: Budget, known_by: int | None) -> Phone | None:
    """What is published of nets for phones, where one serves the net: where it is named, or where a
    limit of milliseconds comes with no more bandwidth than the fastest listed phone has."""
    phones = [device for device in devices() if device.memory is None]
    named = b.gpu is not None and gpu(b.gpu) in phones
    slow = max(device.bandwidth for device in phones)
    if not named and (b.milliseconds is None or not 0 < (b.bandwidth or 0) <= slow):
        return None
    volume = seen.parameters / seen.per_layer

    def far(grid: Grid) -> float:
        return abs(math.log(grid.volume / volume))

    own = (g for g in grids() if g.source == _PHONES and (known_by or g.year) >= g.year)
    grid = min((g for g in own if g.scored), key=far, default=None)
    if grid is None:
        return None
    beaten = max(grid.cells, key=lambda cell: cell.cost)
    return Phone(grid.source, grid.name, grid.best.layers, beaten.layers, grid.wording)
