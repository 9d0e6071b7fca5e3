"""The ladder of shapes that the advisor recommends: what can be built near a rule, at any size.

Which shapes stand on the ladder depends on the constraints and on the rule, not on the budget; the
recommendation is the one nearest to the budget. So more parameters never give a smaller net, and a
recommended net's own size, asked for again, gives the same net. Where widths are too coarse for any
shape near the rule, shapes of other depths fill the gap; they are fixed as well.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from .architecture import Architecture
from .shapes import (
    CLOSE,
    DEEPEST,
    DEFAULTS,
    LEAST_ASPECT,
    MOST_ASPECT,
    Constraints,
    Measure,
    Target,
    Template,
    depth_at_aspect,
    legal_depths,
    middle,
    nearest,
    nearest_depth,
    real_width,
    size_class,
    squares,
    template,
    terms,
    unlooped,
)

# Sizes that shapes are aimed at: this many for a factor e, so 0.8 % apart.
_STEPS = 128
# How far a shape on the ladder may be from the size that it was aimed at, as a logarithm.
_OFF = 0.1
# How far a recommended shape may be from the size that was asked for, as a logarithm.
FARTHEST = 0.25
# Rounding gives some net a layer less than one that is smaller by up to this, as a logarithm.
_TURNED, _MOST_TURNED = 0.02, 8
# How many depths are tried where none near the rule can be built.
_MOST_DEPTHS = 256


class Rung(NamedTuple):
    """A shape on the ladder, and its size by the count that the ladder is made for."""

    size: int
    architecture: Architecture
    on_rule: bool = True  # False: none near the rule can be built


@dataclass(frozen=True)
class Ladder:
    """The shapes under constraints that are nearest to a rule.

    Args:
        constraints: what the shapes must obey.
        depth: the rule, from the parameters of all layers and those of one per squared width. A
            token's own count: active ones, and looped layers as often as they are passed.
        of: the count that sizes are given by.
        at_least: take the next legal depth that is not below the rule, instead of the nearest.
        inside: which shapes may stand in where none near the rule can be built.
    """

    constraints: Constraints
    depth: Callable[[float, float], float]
    of: Measure = "total"
    at_least: bool = False
    inside: Callable[[Architecture], bool] = lambda architecture: False
    _starts: dict[float, float] = field(default_factory=dict, compare=False, repr=False)
    _templates: dict[float, Template] = field(default_factory=dict, compare=False, repr=False)
    _rungs: dict[tuple[int, bool], Rung | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def at(self, size: float) -> Rung | None:
        """The rung nearest to a size, by the ratio; of equally near ones the smaller. None where
        there is none within a quarter."""
        # Shapes off the rule are further from those on it than FARTHEST: so near, none is nearer.
        for reach in (0.01, FARTHEST / 2):
            rung = _closest(self._on_rule(size, size, reach), size, reach)
            if rung:
                return rung
        return _closest(self.around(size, size), size, FARTHEST)

    def around(self, low: float, high: float) -> list[Rung]:
        """All rungs from `low` to `high` and, as a logarithm, FARTHEST beyond, and some more;
        smallest first, one of each size."""
        rungs = self._on_rule(low, high, FARTHEST)
        if _gaps(rungs, low, high):
            rungs = self._on_rule(low, high, 2 * FARTHEST)
            between = (
                rung
                for gap in _gaps(rungs, low, high)
                for k in _aims(*gap, _OFF)
                if (rung := self._rung(k, False)) and gap[0] < rung.size < gap[1]
            )
            by_size = {rung.size: rung for rung in (*rungs, *between)}
            rungs = [by_size[size] for size in sorted(by_size)]
        return rungs

    def _on_rule(self, low: float, high: float, reach: float) -> list[Rung]:
        # No shape that was aimed at a size further away is so near.
        rungs = {
            rung.size: rung
            for k in _aims(low, high, reach + _TURNED + _OFF)
            if (rung := self._rung(k))
        }
        return _rising([rungs[size] for size in sorted(rungs)])

    def _rung(self, k: int, on_rule: bool = True) -> Rung | None:
        if (k, on_rule) not in self._rungs:
            target = Target(math.exp(k / _STEPS), self.of)
            self._rungs[k, on_rule] = (self._nearest_rung if on_rule else self._elsewhere)(target)
        return self._rungs[k, on_rule]

    def _template(self, target: Target) -> Template:
        below = size_class(target).below
        if below not in self._templates:
            self._templates[below] = template(target, self.constraints)
        return self._templates[below]

    def _nearest_rung(self, target: Target) -> Rung | None:
        t = self._template(target)
        depths = legal_depths(self.constraints, 1, DEEPEST)
        wanted = max(self._crossing_depth(target, t, depths[0]), self._held(target, depths[0]))
        place = (
            min(bisect_left(depths, wanted), len(depths) - 1)
            if self.at_least
            else depths.index(nearest_depth(self.constraints, wanted))
        )
        shape = nearest(target, t, depths[place])
        if shape is None:
            # The deepest that can be built.
            place = bisect_left(
                depths, True, 0, place, key=lambda layers: nearest(target, t, layers) is None
            )
            shape = nearest(target, t, depths[place - 1]) if place else None
            # A net so wide would be none that anybody has built.
            if shape is None or shape.architecture.aspect > MOST_ASPECT:
                return None
        if abs(math.log(shape.value / target.value)) > _OFF:
            return None
        return Rung(round(shape.value), shape.architecture)

    def _elsewhere(self, target: Target) -> Rung | None:
        """The shape inside that is nearest to the rule, among those that reach the size, or else
        that come near it."""
        t = self._template(target)
        if t.demanded.width is not None:
            return None
        least, most = (depth_at_aspect(target, t, d) for d in (MOST_ASPECT, LEAST_ASPECT))
        depths = legal_depths(self.constraints, math.ceil(least), math.floor(most))
        wanted = self._crossing_depth(target, t, legal_depths(self.constraints, 1, DEEPEST)[0])
        rung, outside = None, set()
        # Of thousands every so many is enough.
        depths = depths[:: 1 + len(depths) // _MOST_DEPTHS]
        for layers in sorted(depths, key=lambda n: abs(math.log(n / wanted))):
            shape, deeper = nearest(target, t, layers), layers > wanted
            off = abs(math.log(shape.value / target.value)) if shape else math.inf
            if not shape or off > _OFF or deeper in outside:
                continue
            if not self.inside(shape.architecture):
                outside.add(deeper)  # and so are those beyond it
            elif off <= CLOSE or rung is None:
                rung = Rung(round(shape.value), shape.architecture, False)
                if off <= CLOSE:
                    break
        return rung

    def rule_depth(self, target: Target) -> float:
        """The depth where the rule meets a size, whatever loops and stages divide."""
        return self._crossing_depth(target, self._template(target), 1)

    def _crossing_depth(self, target: Target, t: Template, least: int) -> float:
        """The depth where the rule meets the size, or a demanded width does."""
        c = self.constraints
        once = unlooped(t)
        passes = 1 if self.of == "flops" else c.loops

        def width(layers: float) -> float:
            return float(real_width(target.value, terms(once, layers / passes, self.of), t))

        if c.width is not None:
            demanded = c.width
            return _crossing(lambda layers: width(layers) < demanded, least)
        depth = float(least)
        for _ in range(60):
            d = width(depth)
            one = squares(t, depth, d)
            before, depth = depth, max(self.depth(one * depth * d * d, one), least)
            if abs(depth - before) <= 1e-6 * depth:
                break
        return depth

    def _held(self, target: Target, least: int) -> float:
        """The depth that the rule asks for just below this size class, whose defaults are others:
        where a larger vocabulary leaves less for the layers, their number waits until it fits."""
        place = DEFAULTS.index(size_class(target))
        if place == 0 or self.constraints.width is not None:
            return 0.0
        start = DEFAULTS[place - 1].below * (2 if self.of == "flops" else 1)
        if start not in self._starts:
            end = target._replace(value=math.nextafter(start, 0))
            self._starts[start] = max(
                self._crossing_depth(end, self._template(end), least), self._held(end, least)
            )
        return self._starts[start]


def _aims(low: float, high: float, reach: float) -> range:
    """The sizes that shapes are aimed at, from one to another and some further."""
    return range(
        math.floor(_STEPS * (math.log(low) - reach)),
        math.ceil(_STEPS * (math.log(high) + reach)) + 1,
    )


def _gaps(rungs: Sequence[Rung], low: float, high: float) -> list[tuple[float, float]]:
    """The ranges of sizes near `low` to `high` that are further than FARTHEST from all rungs."""
    far = math.exp(FARTHEST)
    first, last = low / far, high * far
    # From beyond one rung to before the next.
    starts = [first, *(max(first, rung.size * far) for rung in rungs)]
    ends = [*(min(rung.size / far, last) for rung in rungs), last]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _rising(rungs: Sequence[Rung]) -> list[Rung]:
    """Those that are no shallower than a slightly smaller one: what rounding turned round."""
    return [
        rung
        for i, rung in enumerate(rungs)
        if not any(
            below.architecture.layers > rung.architecture.layers
            for below in rungs[max(0, i - _MOST_TURNED) : i]
            if math.log(rung.size / below.size) <= _TURNED
        )
    ]


def _closest(rungs: Sequence[Rung], size: float, reach: float) -> Rung | None:
    # The sizes at which the nearest rung changes.
    middles = [middle(a.size, b.size) for a, b in pairwise(rungs)]
    rung = rungs[bisect_left(middles, size)] if rungs else None
    return rung if rung and abs(math.log(rung.size / size)) <= reach else None


def _crossing(beyond: Callable[[float], bool], low: float) -> float:
    """The depth from which on something holds, at most the largest."""
    high = float(DEEPEST)
    for _ in range(40):
        between = (low + high) / 2
        low, high = (low, between) if beyond(between) else (between, high)
    return high
