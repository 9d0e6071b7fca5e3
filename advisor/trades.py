"""What one net has against another: the change in loss by published grids, and its worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from .architecture import Architecture
from .counting import count, per_layer
from .grids import NetKind, losses_near, price
from .rule_scores import Interval
from .rules import Rule
from .shapes import measure

# Sizes further apart are not equal: by loss ~ N^-0.076 that alone is worth 0.15 % of the loss.
EQUAL = 0.02
# Below it the sign of a change is that of an interpolation, and no source tells such shapes apart.
NEGLIGIBLE = 0.001
# (L_inf, alpha) of the two fits L = L_inf + A C^-alpha by which Marin turns a loss into compute
# (marin-community/marin, threads on shapes; printed).
_MARIN = ((1.6, 0.0941), (1.2, 0.0842))

Range = tuple[float, float]


class Layers(NamedTuple):
    """What laws and grids see of a net: N = c L d^2, of what a token uses in the layers."""

    parameters: float
    per_layer: float  # c
    aspect: float  # d / L

    def depth(self, rule: Rule) -> float:
        """The depth of a rule at this size, not rounded."""
        return rule.depth(self.parameters, self.per_layer)


def layers_of(a: Architecture) -> Layers:
    """What laws and grids see of an architecture."""
    one = per_layer(a)
    if e := a.experts:
        one -= (e.count - e.active) * (3 if a.gated else 2) * a.width * e.width
    return Layers(float(one) * a.layers, one / a.width**2, a.aspect)


@dataclass(frozen=True)
class Trade:
    """What a net has against another."""

    loss: Range | None = None  # relative change by d / L alone; None: no published grid covers it
    sources: tuple[str, ...] = ()  # of that
    extrapolated: bool = False  # no grid is of this size; the nearest were asked
    larger: float = 0.0  # without embeddings, 0.01: 1 % larger; beyond 2 % no grid compares losses
    worth: Range | None = None  # factor of compute for equal loss, at equal sizes

    @property
    def equal(self) -> bool:
        """Whether both are of equal size, as grids compare them."""
        return abs(self.larger) <= EQUAL


def negligible(change: Range) -> bool:
    """Whether no source tells nets apart whose losses differ by so much."""
    return max(map(abs, change)) < NEGLIGIBLE


def no_higher(change: Range) -> bool:
    """Whether a change in loss may be a gain and is no loss, as far as it is printed.

    >>> no_higher((-0.004, 0.0)), no_higher((-0.002, 0.003)), no_higher((0.0, 0.0004))
    (True, False, False)
    """
    low, high = (round(100 * end, 1) for end in change)
    return not negligible(change) and low < 0 and high <= 0


def larger(base: Architecture, other: Architecture) -> float:
    """How much larger another net is without embeddings, 0.01 for 1 %: in all that is stored, or
    in what a token uses, whichever differs more."""
    stored = count(other).nonembedding / count(base).nonembedding
    used = layers_of(other).parameters / layers_of(base).parameters
    return max(stored - 1, used - 1, key=abs)


def trade(
    base: Architecture,
    other: Architecture,
    kind: NetKind,
    known_by: int | None,
    *ranges: Interval | None,
) -> Trade:
    """What another net has against a base.

    Args:
        kind: of both nets.
        known_by: a year; later sources are left out.
        ranges: depths within 1 %, of the size of each net. Nothing is known of a depth that no grid
            trained at its size, though grids of other sizes may hold its d / L.
    """
    more, start, end = larger(base, other), layers_of(base), layers_of(other)
    for a, within in zip((base, other), ranges, strict=True):
        if within is not None and not within.trained(a.layers):
            return Trade(larger=more)
    size, one = start.parameters, start.per_layer
    change = price(size, start.aspect, end.aspect, kind, per_layer=one, known_by=known_by)
    if change is None:
        return Trade(larger=more)
    loss = (change.low, change.high)
    factor = None
    _, outside = losses_near(size / one, known_by)
    if abs(more) <= EQUAL and not outside and (of_loss := worth(base, loss, known_by)):
        # The throughput is taken as inverse to the FLOPs of a token.
        faster = measure(base, "flops") / measure(other, "flops")
        factor = (of_loss[0] * faster, of_loss[1] * faster)
    return Trade(loss, change.sources, change.extrapolated, more, factor)


def worth(a: Architecture, change: Range, known_by: int | None) -> Range | None:
    """What a change of a net's loss is worth in compute:
    ((L_base - L_inf) / (L_var - L_inf))^(1 / alpha), by both pairs that Marin used. The loss of the
    net is that of its d / L in the grids near its size, or in the nearest ones."""
    seen = layers_of(a)
    near, _ = losses_near(seen.parameters / seen.per_layer, known_by)
    losses = [
        grid.best.cost * (1 + regret)
        for grid in near
        if grid.measure == "loss" and (regret := grid.regret_at(seen.aspect)) is not None
    ]
    factors = [
        ((base - limit) / (base * (1 + moved) - limit)) ** (1 / alpha)
        for base in losses
        for moved in change
        for limit, alpha in _MARIN
        if min(base, base * (1 + moved)) > limit
    ]
    return (min(factors), max(factors)) if factors else None


class Preferred(NamedTuple):
    """The depths that the grids nearest in size hold best, and what they lose less there."""

    depths: tuple[int, ...]
    change: Range  # in loss


def preferred(
    seen: Layers, deepest: int, at_stake: float, known_by: int | None
) -> Preferred | None:
    """What the grids nearest in size hold best, where one of them loses more than is at stake.

    Args:
        deepest: no deeper than the range reaches, which is of the size before its shape was
            rounded.
        at_stake: loss that is worth a word, 0.01 for 1 %.
    """
    volume = seen.parameters / seen.per_layer
    near, _ = losses_near(volume, known_by)
    known = [
        (grid.best.width / grid.best.layers, regret)
        for grid in near
        if grid.best.width and (regret := grid.regret_at(seen.aspect)) is not None
    ]
    if max((regret for _, regret in known), default=0.0) <= at_stake:
        return None
    depths = tuple(min(deepest, round(math.cbrt(volume / ratio**2))) for ratio, _ in known)
    change = sorted(1 / (1 + regret) - 1 for _, regret in known)
    return Preferred(depths, (change[0], change[-1]))
