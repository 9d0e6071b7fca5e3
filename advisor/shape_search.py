"""The ladder of shapes that the advisor recommends: what can be built near a rule, at any size.

Which shapes stand on the ladder depends on the constraints and on the rule, not on the budget; the
recommendation is the nearest to the budget among those of the budget's depth. So more parameters
never give a smaller net, and a recommended net's own size, asked for again, gives the same net. The
depth of a budget is that of the rule, whatever demands say of how a layer is divided and of the
vocabulary; where they leave no shape of that depth and size, shapes of other depths stand in.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .architecture import Architecture
from .shapes import (
    CLOSE,
    DEEPEST,
    DEFAULTS,
    EMBEDDING,
    MOST_ASPECT,
    Constraints,
    Measure,
    Shape,
    Target,
    Template,
    legal_depths,
    measure,
    nearest,
    nearest_depth,
    real_width,
    size_class,
    squares,
    template,
    terms,
    undivided,
    unlooped,
    without,
)

# Sizes that shapes are aimed at: this many for a factor e, so 0.8 % apart.
_STEPS = 128
# A shape of the budget's depth is taken where its size is so near, as a logarithm, though others
# are nearer; one whose size is further from the budget is worth a warning.
WORTH_SAYING = 0.02
# How far a shape on the ladder may be from the size that it was aimed at, as a logarithm.
_OFF = 0.1
# The first tier of rungs that have not the depth of a budget of their size.
_NEXT_TIER = 4
# How far a rung of each tier but the last may be from a size.
_WITHIN = tuple((tier, WORTH_SAYING) for tier in range(_NEXT_TIER + 2))
# How far a recommended shape may be from the size that was asked for, as a logarithm.
FARTHEST = 0.25
# Depths so near to a budget's, as a logarithm, but for the next ones no more than so many on each
# side, are tried before the shape of a layer is given up.
NEAR_RULE, _NEIGHBOURS, _NEXT = 0.1, 8, 0.03
# How far the depth of a budget may be from that of the rule for what a demanded vocabulary leaves
# to the layers, as a factor.
_LEFT = 1.2
# How many depths are tried where none near the rule can be built.
_MOST_DEPTHS = 32


# Whose template: that of the shapes, that without demands on how a layer is divided, or that
# without those on the embeddings either.
_Of = Literal["shapes", "layers", "budget"]


class Rung(NamedTuple):
    """A shape on the ladder, and its size by the count that the ladder is made for."""

    size: int
    architecture: Architecture
    # 0: of the depth of a budget of its size; 1 to 3: so too, with so many parts, or more, that
    # nobody built. Of another where that has no shape: 4: of one next to it, or within 3 %; 5: of
    # another; 6: it has not the size that it was aimed at.
    tier: int = 0
    far: bool = False  # the depth of a budget of its size is far from its own


@dataclass(frozen=True)
class Ladder:
    """The shapes under constraints that are nearest to a rule.

    Args:
        constraints: what the shapes must obey.
        depth: the rule, from the parameters of all layers and those of one per squared width. A
            token's own count: active ones, and looped layers as often as they are passed.
        of: the count that sizes are given by.
        at_least: take the next legal depth that is not below the rule, instead of the nearest, and
            none below those of `inside`, unless depth or width is demanded.
        inside: the depths of nets of so many parameters in all that may stand in where none near
            the rule can be built.
    """

    constraints: Constraints
    depth: Callable[[float, float], float]
    of: Measure = "total"
    at_least: bool = False
    inside: Callable[[float], range] = lambda total: range(0)
    _starts: dict[tuple[float, _Of], float] = field(default_factory=dict, compare=False, repr=False)
    _templates: dict[tuple[float, _Of], Template] = field(
        default_factory=dict, compare=False, repr=False
    )
    _depths: dict[int, int] = field(default_factory=dict, compare=False, repr=False)
    _built: dict[tuple[float, int], Shape | None] = field(
        default_factory=dict, compare=False, repr=False
    )
    _counting: dict[Rung, bool] = field(default_factory=dict, compare=False, repr=False)
    _rungs: dict[int, Rung | None] = field(default_factory=dict, compare=False, repr=False)

    def at(self, size: float) -> Rung | None:
        """The rung for a size: within 2 % the nearest of the budget's depth, with heads as somebody
        built them or else with others, or else of those next to it, or of all that have the size
        they were aimed at; or else the nearest of all within a quarter; by the ratio, and of
        equally near ones the smaller. None where there is none."""
        for tier, reach in (*_WITHIN, (_NEXT_TIER + 2, _OFF), (_NEXT_TIER + 2, FARTHEST)):
            if found := self._nearest(size, tier, reach):
                return found
        return None

    def budget_depth(self, size: float) -> int:
        """The depth of a budget: the legal one for the rule, whatever shapes there are."""
        return self._depth(_aim(size))

    def _of_its_depth(self, size: float, tier: int) -> Rung | None:
        here, found = _aim(size), []
        for step in (1, -1):
            for k in range(here, _aim(size, step * (WORTH_SAYING + CLOSE)) + 2 * step, step):
                if self._depth(k) != self._depth(here):
                    break
                found.append(self._rung(k))
        rungs = (rung for rung in found if rung and rung.tier <= tier)
        return _closest(filter(self._counts, rungs), size, WORTH_SAYING)

    def _nearest(self, size: float, tier: int, reach: float) -> Rung | None:
        """The nearest rung of all up to a tier."""
        if tier < _NEXT_TIER:
            return self._of_its_depth(size, tier)
        far = reach + (_OFF if tier > _NEXT_TIER + 1 else CLOSE)
        aims = range(_aim(size, -far) - 1, _aim(size, far) + 2)
        rungs = (rung for k in aims if (rung := self._rung(k)) and rung.tier <= tier)
        return _closest(filter(self._counts, rungs), size, reach)

    def _counts(self, rung: Rung) -> bool:
        """Whether no rung of a better tier is taken for its own size."""
        if rung not in self._counting:
            better = _WITHIN[: rung.tier]
            self._counting[rung] = not any(self._nearest(rung.size, *tier) for tier in better)
        return self._counting[rung]

    def _rung(self, k: int) -> Rung | None:
        if k not in self._rungs:
            self._rungs[k] = self._rung_aimed_at(k)
        return self._rungs[k]

    def _template(self, target: Target, of: _Of = "shapes") -> Template:
        """The template of the shapes, or of those without some demands."""
        key = size_class(target).below, of
        if key not in self._templates:
            c = self.constraints
            if of != "shapes" and c.width is None:
                c = undivided(c) if of == "layers" else without(undivided(c), *EMBEDDING)
            self._templates[key] = template(target, c)
        return self._templates[key]

    def _shape(self, target: Target, layers: int) -> Shape | None:
        """The nearest shape of so many layers, found once."""
        key = target.value, layers
        if key not in self._built:
            self._built[key] = nearest(target, self._template(target), layers)
        return self._built[key]

    def _depth(self, k: int) -> int:
        """The depth of a budget of the size of an aim; 0 where none can be built."""
        if k not in self._depths:
            self._depths[k] = self._legal_depth(_target(k, self.of))
        return self._depths[k]

    def _legal_depth(self, target: Target) -> int:
        self._template(target)  # which refuses what no net has
        depths = legal_depths(self.constraints, 1, DEEPEST)
        wanted = self._wanted(target, depths[0])
        place = (
            min(bisect_left(depths, wanted), len(depths) - 1)
            if self.at_least
            else depths.index(nearest_depth(self.constraints, wanted))
        )
        if self._shape(target, depths[place]) is None:
            # The deepest that can be built.
            place = bisect_left(
                depths, True, 0, place, key=lambda layers: self._shape(target, layers) is None
            )
            shape = self._shape(target, depths[place - 1]) if place else None
            # A net so wide would be none that anybody has built.
            if shape is None or shape.architecture.aspect > MOST_ASPECT:
                return 0
            place -= 1
        while place + 1 < len(depths):
            shape = self._shape(target, depths[place])
            if shape is None or not self._below(shape.architecture):
                break
            if self._shape(target, depths[place + 1]) is None:
                break
            place += 1
        return depths[place]

    def _below(self, a: Architecture) -> bool:
        """Whether a net is less deep than those that may stand in, and than legal ones, where none
        such is taken."""
        c = self.constraints
        if not self.at_least or c.width is not None or c.layers is not None:
            return False
        least, deepest = self.inside(measure(a, "total")).start, legal_depths(c, 1, DEEPEST)[-1]
        return a.layers < min(least, deepest)

    def _rung_aimed_at(self, k: int) -> Rung | None:
        target, budget = _target(k, self.of), self._depth(k)
        own = self._shape(target, budget) if budget else None
        if own is None:
            return None
        first, last = sorted((k, _aim(own.value)))
        stays = all(self._depth(aim) == budget for aim in range(first, last + 1))
        if _reached(own) and stays and not self._below(own.architecture):
            tier = min(own.unbuilt, _NEXT_TIER - 1)
            return Rung(round(own.value), own.architecture, tier)
        near, reached = [], False
        for shape in self._shapes(target, self._near(budget), budget):
            near.append(shape)
            if reached := _reached(shape):
                break
        if not reached and self.constraints.width is None:
            inside = self.inside(measure(own.architecture, "total") * target.value / own.value)
            depths = legal_depths(self.constraints, inside.start, inside.stop - 1)
            # Of hundreds every so many is enough.
            depths = depths[:: 1 + len(depths) // _MOST_DEPTHS]
            for shape in self._shapes(target, depths, budget):
                near.append(shape)
                if reached := _reached(shape):
                    break
        shape = near[-1] if reached else min(near, key=lambda shape: abs(shape.mismatch))
        a = shape.architecture
        far = a.layers not in self._near(budget)
        if self._below(a):
            return None
        if abs(math.log(shape.value / target.value)) > _OFF or (
            far and a.layers not in self.inside(measure(a, "total"))
        ):
            return None
        tier = _NEXT_TIER + 2 - reached - (reached and a.layers in self._near(budget, _NEXT))
        return Rung(round(shape.value), a, tier, far)

    def _near(self, budget: int, most: float = NEAR_RULE) -> list[int]:
        """The legal depths near a budget's: the next ones, or up to a distance."""
        depths = legal_depths(self.constraints, 1, DEEPEST)
        place = bisect_left(depths, budget)
        few = depths[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
        ends = depths[max(0, place - 1)], depths[min(place + 1, len(depths) - 1)]
        near = math.exp(most)
        return [n for n in few if n in ends or budget / near <= n <= budget * near]

    def _shapes(self, target: Target, depths: Iterable[int], budget: int) -> Iterator[Shape]:
        """The shapes of some depths, those nearest to the budget's first."""
        order = sorted(depths, key=lambda layers: abs(math.log(layers / budget)))
        return (shape for layers in order if (shape := self._shape(target, layers)))

    def rule_depth(self, target: Target) -> float:
        """The depth where the rule meets a size, whatever loops and stages divide: that of the
        usual vocabulary, as far as it is within a fifth of that for what a demanded one leaves."""
        return self._wanted(target, 1, held=False)

    def _wanted(self, target: Target, least: int, *, held: bool = True) -> float:
        def depth(of: _Of) -> float:
            crossing = self._crossing_depth(target, least, of)
            return max(crossing, self._held(target, least, of)) if held else crossing

        c = self.constraints
        if c.width is not None or without(c, *EMBEDDING) == c:
            return depth("layers")
        left = depth("layers")
        return min(max(depth("budget"), left / _LEFT), left * _LEFT)

    def _crossing_depth(self, target: Target, least: int, of: _Of) -> float:
        """The depth where the rule meets the size, or a demanded width does."""
        c, t = self.constraints, self._template(target, of)
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

    def _held(self, target: Target, least: int, of: _Of) -> float:
        """The depth that the rule asks for just below this size class, whose defaults are others:
        where a larger vocabulary leaves less for the layers, their number waits until it fits."""
        place = DEFAULTS.index(size_class(target))
        if place == 0 or self.constraints.width is not None:
            return 0.0
        start = DEFAULTS[place - 1].below * (2 if self.of == "flops" else 1)
        if (start, of) not in self._starts:
            end = target._replace(value=math.nextafter(start, 0))
            before = self._crossing_depth(end, least, of), self._held(end, least, of)
            self._starts[start, of] = max(before)
        return self._starts[start, of]


def _target(k: int, of: Measure) -> Target:
    """The size of an aim."""
    return Target(math.exp(k / _STEPS), of)


def _aim(size: float, further: float = 0.0) -> int:
    """The aim nearest to a size, or to one so much further on, as a logarithm."""
    return round(_STEPS * (math.log(size) + further))


def _reached(shape: Shape) -> bool:
    """Whether a shape has the size that it was aimed at."""
    return abs(shape.mismatch) <= CLOSE


def _closest(rungs: Iterable[Rung], size: float, reach: float) -> Rung | None:
    """The rung nearest to a size, in reach; of one size that of fewest heads, then words."""

    def order(rung: Rung) -> tuple[float, ...]:
        a = rung.architecture
        least = rung.size, a.layers, a.heads, a.key_heads, a.vocabulary
        return abs(math.log(rung.size / size)), *least

    found = min(rungs, key=order, default=None)
    return found if found and order(found)[0] <= reach else None


def _crossing(beyond: Callable[[float], bool], low: float) -> float:
    """The depth from which on something holds, at most the largest."""
    high = float(DEEPEST)
    for _ in range(40):
        between = (low + high) / 2
        low, high = (low, between) if beyond(between) else (between, high)
    return high
