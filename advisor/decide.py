"""Which depth a net gets and what decided it, as values: no sentence is read or written here.

The rule that chooses the depth and the interval around it come from published grids alone
(evidence); what every other law says stands beside them and is never averaged. Which demands
decided follows from the choice with and without each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any, Literal, NamedTuple, NoReturn

from . import laws, regimes
from .answer import Bound, LawNumber, Otherwise, Reason
from .architecture import Architecture
from .base.quantities import UsageError, plural, size
from .budgets import Budget, Resolved, resolve
from .claim_verdicts import about, verdict
from .counting import count
from .grids import STANDARD, NetKind, OtherRange, other_ranges, tokens_covered
from .latency import REACH
from .models import Model, models_near
from .question import BY_FIELD, OPTIONS, SPLIT, TRAINING, USED, flag, typed
from .rule_scores import (
    TOLERANCE,
    Interval,
    best_rule,
    contradicting,
    default_rule,
    depth_at_end,
    interval,
    table,
)
from .rules import Rule, rule, rules
from .shape_search import FARTHEST, WORTH_SAYING, Ladder
from .shapes import (
    CLOSE,
    DEEPEST,
    DEFAULTS,
    DIVIDING,
    EMBEDDING,
    Constraints,
    Measure,
    Shape,
    Target,
    demands_of,
    depth_at_aspect,
    legal_depths,
    measure,
    narrower,
    nearest,
    nearest_depth,
    resized,
    shapes,
    squares,
    template,
    undivided,
    width_steps,
    without,
)
from .trades import Layers, Trade, layers_of, trade

# What the number of a law does not repeat of its rule.
_OF_RULE_ALONE = {"law", "applies", "read_off", "error", "followed"} | {"compared", "compared_note"}
# How far from the budget a model may be whose depth is shown.
NEAR = 2
# d / L at which the layers' share of a size is counted; embeddings of narrower nets take less.
_ASPECT = 64
# A demand that moves the depth by more, as a logarithm, has decided it.
_MOVED = 0.1
# A demand that leaves the layers more or fewer parameters, as a logarithm, moves the depth by that.
_LEFT = 0.2
# Where latency matters, bounds are found for so many sizes in a factor e.
_PER_E = 16
# How many ladders are kept, whose shapes the same demands ask for again: one answer compares itself
# with those without some of its demands.
_LADDERS = 256
# The limits of a budget, as they are named.
LIMITS = {"milliseconds": "latency", "memory": "memory", "kv_bytes": "kv-cache"}


# --- what is asked --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Everything that stays the same while an answer is put together."""

    resolved: Resolved
    constraints: Constraints
    known_by: int | None
    model: Architecture | None = None  # the configuration that is judged

    @cached_property
    def chosen(self) -> Rule:
        """The rule that the advisor builds by."""
        return default_rule(self.kind, self.known_by, self.each)

    @property
    def each(self) -> float | None:
        """Training tokens for each parameter that a token uses, at which losses are read. None
        where they do not follow, and where comparisons of no size had so few: depth and range are
        then what they are without tokens."""
        each, covered = self.resolved.each, tokens_covered(None, self.known_by)
        reached = each is not None and covered is not None and each >= covered.least
        return each if reached else None

    @property
    def kind(self) -> NetKind:
        """For which nets evidence is asked."""
        return net_kind(self.constraints)

    @property
    def shares(self) -> bool:
        """Whether the configuration that is judged passes layers more than once: no grid compares
        depths of such nets, and another depth might share more, or less."""
        return self.model is not None and self.model.own_layers < self.model.layers

    def interval(self, a: Architecture) -> Interval | None:
        """The depths within 1 % at the size of a net."""
        if self.model is None:
            return depths_within(a, self.constraints, self.known_by, self.each)
        size, one, _ = layers_of(a)
        return interval(size, one, self.kind, known_by=self.known_by, each=self.each)

    def at(self, layers: int, a: Architecture, of: Measure) -> Architecture | None:
        """The shape of a depth and the size of a net, under the constraints or like the
        configuration."""
        if self.model is not None:
            return resized(self.model, layers, of) if layers > 0 else None
        # The defaults are those that the net has, whatever is equal: where classes of size meet, of
        # the budget or of one a little smaller or larger.
        budget = self.resolved.target
        every = [
            template(budget._replace(value=budget.value * near), self.constraints)
            for near in (1, 1 - FARTHEST, 1 + FARTHEST)
        ]
        alike = (t for t in every if (t.vocabulary, t.tied) == (a.vocabulary, a.tied))
        t = next(alike, every[0])
        shape = nearest(Target(measure(a, of), of), t, layers)
        return shape and shape.architecture

    def milliseconds(self, a: Architecture) -> tuple[float, float, float] | None:
        """Per token, by the measured points where they reach so far."""
        fit = self.resolved.budget.latency
        return fit.ms(a) if fit and not fit.outside(a, REACH) else None

    def trade(self, base: Architecture, other: Architecture) -> Trade:
        """What another net has against a base."""
        ranges = self.interval(base), self.interval(other)
        return trade(base, other, self.kind, self.known_by, *ranges, each=self.each)

    def choice(self, *dropped: str) -> Architecture | None:
        """What is chosen without some demands, and without limits; None where nothing is."""
        target = self.resolved.target
        try:
            c = without(self.constraints, *dropped)
            free = ladder_for(c, target.of, self.known_by, self.each)
            rung = free.at(target.value)
        except UsageError:  # what is left contradicts itself
            return None
        return rung and rung.architecture

    @cached_property
    def acts(self) -> dict[str, Literal["net", "steps", "depth"]]:
        """What each demand acts on, by comparison with what would be without it: on the rule's own
        depth at the size, as it asks for another kind of net; on how a layer is divided, and so on
        the steps in which sizes come; or on the depth that is chosen."""
        c, target = self.constraints, self.resolved.target

        def rules_depths(*dropped: str) -> tuple[float, ...]:
            other = without(c, "width", *dropped)
            kind = net_kind(other)
            template(target, other)
            built = default_rule(kind, self.known_by, self.each), best_rule(kind, self.known_by)
            ladders = (Ladder(other, rule.depth, target.of) for rule in built)
            return tuple(math.log(ladder.rule_depth(target)) for ladder in ladders)

        depths = rules_depths()
        acts: dict[str, Literal["net", "steps", "depth"]] = {}
        for name in demands_of(c):
            try:
                moved = rules_depths(name) != depths
            except UsageError:  # a part of a demand, such as the active experts
                moved = True
            acts[name] = "steps" if name in DIVIDING else "net" if moved else "depth"
        return acts

    def demands_on(self, what: Literal["net", "steps", "depth"]) -> tuple[str, ...]:
        """The demands that act on something."""
        return tuple(name for name, acted in self.acts.items() if acted == what)

    def near_rule(self, a: Architecture) -> bool:
        """Whether a net has the depth of the rule, as far as it can be built."""
        return abs(math.log(a.layers / self.seen(a).depth(self.chosen))) <= _MOVED

    def seen(self, a: Architecture) -> Layers:
        """What laws and grids see of a net. How the layers of a recommended one are divided, no
        grid compares: it is seen with the weights that a layer of its size usually has."""
        seen, c = layers_of(a), self.constraints
        if self.model is not None or c.width is not None:
            return seen
        one = squares(template(self.resolved.target, undivided(c)), a.layers, a.width)
        width = math.sqrt(seen.parameters / one / a.layers)
        return Layers(seen.parameters, one, width / a.layers)


def net_kind(c: Constraints) -> NetKind:
    """For which nets evidence is asked under constraints."""
    return NetKind(c.parametrisation, c.norm, c.residual)


@lru_cache(_LADDERS)
def ladder_for(
    constraints: Constraints,
    of: Measure,
    known_by: int | None = None,
    each: float | None = None,
) -> Ladder:
    """The shapes that `recommend` chooses from: on the rule that the evidence fixes, or, where
    latency matters, at the shallow end of what the evidence supports. `each`: training tokens for
    each parameter.
    """
    key, chosen = net_kind(constraints), default_rule(net_kind(constraints), known_by, each)

    def shallowest(parameters: float, per_layer: float) -> float:
        return shallow_depth(parameters, per_layer, key, known_by, each)[0]

    depth = shallowest if constraints.latency_matters else chosen.depth

    def inside(total: float) -> range:
        depths = _depths_of(total, constraints, known_by, each)
        if depths is None:
            return range(0)
        usual = math.floor(chosen.depth(*_usual_size(total, constraints)))
        low = min(depths.low, usual) if constraints.latency_matters else depths.low
        return range(low, depths.high + 1)

    return Ladder(constraints, depth, of, constraints.latency_matters, inside)


def shallow_depth(
    parameters: float,
    per_layer: float,
    key: NetKind,
    known_by: int | None,
    each: float | None = None,
) -> tuple[float, Bound]:
    """The depth where latency matters, and what bounds it: the shallowest that is within 1 % of
    the best loss, not below all listed models of about this size, and that the fewest sources
    speak against; at most that of the rule."""
    usual = default_rule(key, known_by, each).depth(parameters, per_layer)
    # Sizes in steps of 6 %: a search asks for many near each other.
    size = round(_PER_E * math.log(parameters)), round(_PER_E * math.log(per_layer))
    layers, bound = _shallowest(*size, key, known_by, each)
    return (layers, bound) if layers < usual else (usual, Bound("rule"))


@cache
def _shallowest(
    size: int, one: int, key: NetKind, known_by: int | None, each: float | None
) -> tuple[int, Bound]:
    parameters, per_layer = math.exp(size / _PER_E), math.exp(one / _PER_E)
    usual = max(1, math.floor(default_rule(key, known_by, each).depth(parameters, per_layer)))
    within = interval(parameters, per_layer, key, known_by=known_by, each=each)
    if within is None:
        return usual, Bound("no-grid")
    low, bound = within.low, Bound("interval")
    built = min((m.layers for m in models_near(parameters, NEAR, known_by)), default=0)
    if built > low:
        low, bound = built, Bound("models", built)

    def against(layers: int) -> set[str]:
        found = contradicting(parameters, layers, per_layer, known_by, each)
        return {contradiction.source for contradiction in found}

    # The deepest depth that may be taken is the rule's.
    sources = {layers: against(layers) for layers in range(low, max(low, usual) + 1)}
    best = min(sources, key=lambda layers: (len(sources[layers]), layers))
    if best > low:
        bound = Bound("comparisons", sources=tuple(sorted(sources[low] - sources[best])))
    return best, bound


def depths_within(
    a: Architecture,
    constraints: Constraints,
    known_by: int | None = None,
    each: float | None = None,
) -> Interval | None:
    """The depths that grids hold within 1 % of the best loss, for nets of the size of one under the
    constraints, after so many training tokens for each parameter. They follow from size, tokens and
    constraints alone, at the real widths of d = 64 L: the rounding of one shape is no property of
    its size, and ranges would jump with it.
    """
    return _depths_of(measure(a, "total"), constraints, known_by, each)


def _depths_of(
    total: float, constraints: Constraints, known_by: int | None, each: float | None
) -> Interval | None:
    size, one = _usual_size(total, constraints)
    return interval(size, one, net_kind(constraints), known_by=known_by, each=each)


def _usual_size(total: float, constraints: Constraints) -> tuple[float, float]:
    """The parameters of all layers, and those of one per squared width, of a net of d = 64 L of so
    many in all."""
    target = Target(total)
    # Neither a demanded depth nor how a layer is divided says anything about the size.
    t = template(target, without(undivided(constraints), "layers"))
    depth = depth_at_aspect(target, t, _ASPECT)
    one = squares(t, depth, _ASPECT * depth)
    return one * _ASPECT**2 * depth**3, one


# --- a size ---------------------------------------------------------------------------------------


class Leaning(NamedTuple):
    """The rule where a net has fewer layers, since extrapolated losses do not tell them apart."""

    layers: int  # of the rule
    at_end: bool  # the net is as deep as the rule at the largest measured size


class Other(NamedTuple):
    """One legal depth less, the same, or one more, with something in common."""

    equal: Literal["parameters", "FLOPs"]
    architecture: Architecture
    trade: Trade


@dataclass(frozen=True)
class Decision:
    """What an answer says, before it is said."""

    case: Case
    net: Architecture  # the recommended one, or the given configuration
    reason: Reason
    within: Interval | None
    leaning: Leaning | None
    alternatives: tuple[tuple[Architecture, Reason], ...]  # other shapes of the size
    neighbours: tuple[Other, ...]
    nearby: tuple[Model, ...]  # published models of about the size
    laws: tuple[LawNumber, ...]  # shallowest first
    # Where it leaves what the grids hold, and what a second source says.
    data: regimes.Tokens | None = None
    second: regimes.Second | None = None
    beyond: regimes.Beyond | None = None
    phone: regimes.Phone | None = None
    fast: Architecture | None = None  # where the rule chose: the choice were latency to matter
    # The layers that other rules ask for, which the sources do not tell from the one followed.
    alike: Mapping[str, int] = field(default_factory=dict)
    others: tuple[OtherRange, ...] = ()  # within 1 % by losses of nets that trade depth otherwise
    moved: Reason | None = None  # why its depth is not that of the budget alone
    # The choice without --tensor, where that has the same depth and width, and other heads.
    undivided: Architecture | None = None
    # Of a configuration: the net of equal size at the advised depth, and what is built instead.
    advised: Architecture | None = None
    instead: Architecture | None = None
    instead_reason: Reason | None = None
    far: bool = False  # no losses lie within a factor of 100 of its size: then it has no range

    @property
    def likely(self) -> bool:
        """Whether its range is carried over from nets of other sizes, or from trainings on other
        tokens: what is said of it is then no observation."""
        t, within = self.data, self.within
        moved = t is not None and (t.again or t.place in ("below", "above"))
        return moved or (within is not None and within.extrapolated)


def decide(budget: Budget, c: Constraints, known_by: int | None) -> Decision:
    """The net of a budget under constraints, and what decided its depth.

    Raises:
        UsageError: where the budget contradicts itself, or no shape can be built.
    """
    case = Case(resolve(budget, c), c, known_by)
    target = case.resolved.target
    ladder = ladder_for(c, target.of, known_by, case.each)
    rung = ladder.at(target.value)
    if rung is None:
        _refuse(case)
    free = a = rung.architecture
    if limits := broken_limits(case, a):
        a = _nearest_within_limits(case, a)
        reason = _with_price(case, a, Reason("limit", limits[0], limits), free)
    else:
        reason = _reason(case, a, rung.far)
    others = [name for name in demands_of(c) if name not in (*reason.demands, *reason.dropped)]
    choices = [(name, other) for name in others if (other := case.choice(name))]
    moving = [pair for pair in choices if _apart(pair[1], free) > _MOVED]
    moving.sort(key=lambda pair: -_apart(pair[1], free))
    if reason.kind == "rule":
        for name, other in moving:
            left, before = (count(net).nonembedding for net in (free, other))
            # A net of two stacks or of experts has more left, and is shallower all the same; of
            # another kind of net the rule is another.
            explains = (left > before) == (free.layers > other.layers)
            explains &= net_kind(without(c, name)) == case.kind
            if explains and abs(math.log(left / before)) > _LEFT:
                reason = Reason("rule", "rest-of-size", (name,), (name,), _shape(other))
                break
    also = tuple(
        Otherwise(name, typed(name, getattr(c, name)), *_shape(other))
        for name, other in moving
        if name not in reason.demands
    )
    moved = None if limits or c.width is not None else _moved(case, a, ladder)
    alike = dict(choices).get("tensor")
    divided = alike is not None and _shape(alike) == _shape(a) and alike.heads != a.heads
    more = {"moved": moved, "undivided": alike if divided else None}
    return _decision(case, a, replace(reason, also=also), **more)


def _moved(case: Case, a: Architecture, ladder: Ladder) -> Reason | None:
    """Why a net has another depth than its budget has: as no shape of that depth has the size, by
    the demands without one of which some has, or as a demanded vocabulary leaves too little or too
    much to the layers."""
    target, c = case.resolved.target, case.constraints
    budget = ladder.budget_depth(target.value)
    demands = tuple(n for n in (*DIVIDING, *EMBEDDING) if n in demands_of(c))
    alone = tuple(n for n in demands if (o := case.choice(n)) and o.layers == budget)
    named = tuple(n for n in demands if n in EMBEDDING)
    usual = without(c, *named)
    free = ladder_for(usual, target.of, case.known_by, case.each).budget_depth(target.value)
    # A vocabulary that leaves too little is the reason too why no depth near has the exact size.
    if free != budget and (a.layers == budget or not alone):
        against, code = nearest(target, template(target, usual), free), "rest-of-size"
    elif a.layers == budget:
        return None
    else:
        against = nearest(target, template(target, c), budget)
        # A shape may reach the size, and its own size be that of a budget of another depth.
        reached = against is not None and abs(against.mismatch) <= CLOSE
        code, named = "listed-size" if reached else "exact-size", alone or demands
    return against and Reason("step", code, named, against=_shape(against.architecture))


def _apart(one: Architecture, other: Architecture) -> float:
    """How far two depths are apart, as a logarithm."""
    return abs(math.log(one.layers / other.layers))


def _reason(case: Case, a: Architecture, far: bool) -> Reason:
    """What decided the depth of a choice that no limit forbids: the demands without which it would
    be another, those that move it most first, or else the rule."""
    steps, on_depth = case.demands_on("steps"), case.demands_on("depth")
    if far:
        reason = Reason("step", "coarse-widths", steps)
        return _with_price(case, a, reason, case.choice(*steps)) if steps else reason
    # What fixes the depth decides it, whatever else is demanded.
    fixed = tuple(name for name in on_depth if _fixes(case.constraints, name))
    alone = (name for name in fixed if (o := case.choice(name)) and _apart(o, a) > _MOVED)
    fixed = tuple(alone) or fixed
    groups = [fixed] if fixed else [*((name,) for name in on_depth), *([steps] if steps else [])]
    moved = [
        (_apart(other, a), names)
        for names in groups
        if (other := _free(case, names)[0] if fixed else case.choice(*names))
    ]
    most, names = max(moved, key=lambda pair: pair[0], default=(0.0, fixed))
    if most <= _MOVED and not fixed:
        # None of them moves it alone: of all together, those that are needed for it.
        every = tuple(dict.fromkeys((*on_depth, *steps)))
        if (apart := _apart_without(case, a, every)) > _MOVED:
            names, most = every, apart
            for name in every:
                fewer = tuple(other for other in names if other != name)
                if (apart := _apart_without(case, a, fewer)) > _MOVED:
                    names, most = fewer, apart
    free = _free(case, names)[0] if fixed else case.choice(*names)
    if most <= _MOVED:
        if fixed:
            return Reason("demand", _code(fixed), fixed)
        free = case.choice("latency_matters")
        if not case.constraints.latency_matters or (free and free.layers == a.layers):
            return Reason("rule", "rule")
        names = ("latency_matters",)
    reason = Reason("demand", _code(names), names)
    if names == steps:
        reason = Reason("step", "width-steps", steps)
    elif "latency_matters" in names:
        seen, known = case.seen(a), (case.kind, case.known_by, case.each)
        bound = shallow_depth(seen.parameters, seen.per_layer, *known)[1]
        reason = replace(reason, bound=bound)
    return _with_price(case, a, reason, free)


def _apart_without(case: Case, a: Architecture, names: tuple[str, ...]) -> float:
    """How far the depth is from that without these demands; 0 where nothing is legal without."""
    other = case.choice(*names) if names else None
    return _apart(other, a) if other else 0.0


def _code(names: tuple[str, ...]) -> str:
    return names[0].replace("_", "-")


def _fixes(c: Constraints, name: str) -> bool:
    """Whether a demand leaves one depth, or one that spends the size."""
    if name == "width":
        return True
    depths, others = (legal_depths(d, 1, DEEPEST) for d in (c, without(c, name)))
    return len(depths) == 1 < len(others)


def _free(case: Case, names: tuple[str, ...]) -> tuple[Architecture | None, tuple[str, ...]]:
    """The choice without these demands and without all that act on the depth, and which demands
    that leaves out: beside one of them, the price of another is not the price of the net. Where
    widths come in steps too coarse for that, without those too."""
    for more in ((), case.demands_on("steps")):
        dropped = tuple(dict.fromkeys([*names, *case.demands_on("depth"), *more]))
        if (free := case.choice(*dropped)) is None:
            continue
        for name in case.demands_on("depth"):  # what changes nothing may stay
            if name in names:
                continue
            rest = tuple(each for each in dropped if each != name)
            if (other := case.choice(*rest)) and _shape(other) == _shape(free):
                free, dropped = other, rest
        return free, dropped
    return None, ()


def _shape(a: Architecture) -> tuple[int, int]:
    return a.layers, a.width


def _with_price(case: Case, a: Architecture, reason: Reason, free: Architecture | None) -> Reason:
    """A reason with what would be chosen without it, and what the net costs against that."""
    names = () if reason.kind == "limit" else reason.demands
    other, dropped = _free(case, names)
    other = other or free
    if other is None:
        return reason
    return replace(reason, dropped=dropped, against=_shape(other), cost=case.trade(other, a))


def _nearest_within_limits(case: Case, free: Architecture) -> Architecture:
    """The shape that keeps the limits whose depth is nearest to that of the free choice.

    Which shapes are looked at, and their order, do not depend on the limits: so a looser limit
    never gives a worse one. Sizes within 2 % are equal, then those within an eighth.
    """
    target = case.resolved.target
    every = shapes(target, case.constraints, FARTHEST)
    kept = [shape for shape in every if case.resolved.keeps(shape.architecture)]
    if not kept:
        _refuse(case)
    sizes = (WORTH_SAYING, FARTHEST / 2, FARTHEST)

    def order(shape: Shape) -> tuple[int, float, float]:
        off = abs(shape.mismatch)
        return sum(off > most for most in sizes), _apart(shape.architecture, free), off

    return min(kept, key=order).architecture


def broken_limits(case: Case, a: Architecture) -> tuple[str, ...]:
    """The limits that a shape breaks, by name."""
    broken = []
    for name, code in LIMITS.items():
        others: dict[str, Any] = dict.fromkeys(LIMITS.keys() - {name})
        if not replace(case.resolved, budget=replace(case.resolved.budget, **others)).keeps(a):
            broken.append(code)
    return tuple(broken)


def _refuse(case: Case) -> NoReturn:
    """Raises: nothing can be recommended; which shape is nearest, and what keeps others away."""
    target, c = case.resolved.target, case.constraints
    # Says itself why there is no shape at all.
    known = [shape.architecture for shape in shapes(target, c, FARTHEST)]
    asked = f"{size(target.value)} parameters"
    for a in known:
        if excluded := case.resolved.excludes(a):
            raise UsageError(
                f"no shape near {asked} and near the recommended depth can be built: it "
                f"{excluded}; relax a constraint, or fix the depth by layers"
            )
    near = min(known, key=lambda a: abs(math.log(a.layers / case.seen(a).depth(case.chosen))))
    t = template(target, c)
    raise UsageError(
        f"no shape with {asked} has a depth that the evidence supports: widths come in steps "
        f"of {width_steps(t)}, and the nearest has {plural(near.layers, 'layer')} of width "
        f"{near.width:,}; try {narrower(t)}or demand {near.layers} layers"
    )


def _decision(case: Case, a: Architecture, reason: Reason, **more: Any) -> Decision:
    """What stands beside a decided net."""
    within, b, year = case.interval(a), case.resolved.budget, case.known_by
    seen, far = case.seen(a), within is not None and within.far(layers_of(a).parameters)
    within = None if far else within
    near = models_near(layers_of(a).parameters, NEAR, year)
    nearby = sorted(near, key=lambda m: abs(math.log(m.parameters / layers_of(a).parameters)))
    return Decision(
        case,
        a,
        reason,
        within,
        _leaning(case, a, reason),
        tuple(_alternatives(case, a, within, nearby)),
        tuple(_neighbours(case, a)),
        tuple(nearby),
        tuple(sorted(_laws(case, a), key=lambda law: law.depth)),
        regimes.tokens(seen, case.resolved.each, b.epochs, year),
        None if case.shares else regimes.second(seen, case.kind, case.resolved.each, year),
        regimes.beyond(seen, best_rule(case.kind, year), recipes(nearby), year),
        regimes.phone(seen, b, year),
        _fast(case, a, reason),
        _alike(case, seen) if reason.kind == "rule" else {},
        _others_within(case, seen),
        far=far,
        **more,
    )


def _fast(case: Case, a: Architecture, reason: Reason) -> Architecture | None:
    """What were chosen if latency mattered, where the rule chose and that is another depth."""
    c, target = case.constraints, case.resolved.target
    if reason.kind != "rule" or case.model is not None or c.latency_matters:
        return None
    shallow = replace(c, latency_matters=True)
    rung = ladder_for(shallow, target.of, case.known_by, case.each).at(target.value)
    other = rung and rung.architecture
    return other if other and other.layers < a.layers and not broken_limits(case, other) else None


def _others_within(case: Case, seen: Layers) -> tuple[OtherRange, ...]:
    """The depths within 1 % by further sources, which have nets of the usual kind alone."""
    if case.shares or case.kind != STANDARD:
        return ()
    return other_ranges(seen.parameters / seen.per_layer, TOLERANCE, case.known_by)


def _alike(case: Case, seen: Layers) -> dict[str, int]:
    """What every other rule asks for that the sources do not tell from the rule that is followed,
    least layers first."""
    made = table(known_by=case.known_by).choice
    if made is None or case.kind != NetKind(norm=case.kind.norm):
        return {}
    depths = {r.name: max(1, round(seen.depth(r))) for r in made.untold}
    return dict(sorted(depths.items(), key=lambda pair: pair[1]))


def depth_for(d: Decision, layers: int) -> tuple[int, tuple[str, ...]]:
    """The least legal depth of a net that has so many layers at least, and the demands that rule
    it out."""
    c = d.case.constraints
    if layers <= d.net.layers:
        return d.net.layers, ()
    most = {"layers": c.layers or DEEPEST, "most_layers": c.most_layers}
    against = [name for name, end in most.items() if end < layers]
    against += ["width"] if c.width is not None else []
    depths = legal_depths(c, layers, DEEPEST)
    return depths[0] if depths and not against else layers, tuple(against)


def _leaning(case: Case, a: Architecture, reason: Reason) -> Leaning | None:
    """The rule where it chose and the net has fewer layers."""
    if reason.kind != "rule" or case.model is not None or not case.near_rule(a):
        return None
    seen = case.seen(a)
    usual, depth = seen.depth(best_rule(case.kind, case.known_by)), seen.depth(case.chosen)
    end = depth_at_end(case.kind, case.known_by)
    fewer = usual > max(depth, a.layers) + 0.5
    return Leaning(round(usual), end is not None and depth < end + 1e-9) if fewer else None


def recipes(models: Iterable[Model]) -> list[Model]:
    """One of each shape, the first: copies of a recipe are no further evidence."""
    shapes_of: dict[tuple[int, int], Model] = {}
    for m in models:
        shapes_of.setdefault((m.layers, m.width), m)
    return list(shapes_of.values())


def middle_depth(models: Iterable[Model]) -> int:
    """The middle depth of published models, each shape once; of two the shallower."""
    depths = sorted(m.layers for m in recipes(models))
    return depths[(len(depths) - 1) // 2]


def _alternatives(
    case: Case, a: Architecture, within: Interval | None, nearby: list[Model]
) -> Iterator[tuple[Architecture, Reason]]:
    """Other shapes of the size, each with what it trades; none twice, and not the recommended."""
    shown = {_shape(a)}
    for other, code in _others(case, a, within, nearby):
        if other is not None and _shape(other) not in shown:
            shown.add(_shape(other))
            yield other, Reason("trade", code, cost=case.trade(a, other))


def _others(
    case: Case, a: Architecture, within: Interval | None, nearby: list[Model]
) -> Iterator[tuple[Architecture | None, str]]:
    c, target = case.constraints, case.resolved.target
    of = target.of
    if len(legal_depths(c, 1, DEEPEST)) == 1 or case.shares:
        return
    if case.model is not None and a.own_layers % c.pipeline:
        step = c.loops * c.pipeline
        for layers in (a.layers // step * step, (a.layers // step + 1) * step):
            if layers > c.dense_layers:
                yield case.at(layers, a, of), "even-stages"
    if within is not None and (inside := legal_depths(c, within.low, within.high)):
        yield case.at(inside[0], a, of), "shallowest"
        yield case.at(inside[-1], a, of), "deepest"
    nanochat = case.chosen if case.chosen.key == "nanochat" else rule("nanochat")
    for law, code in ((nanochat, "nanochat"), (case.chosen, "rule")):
        yield case.at(nearest_depth(c, case.seen(a).depth(law)), a, of), code
    if nearby:
        yield case.at(nearest_depth(c, middle_depth(nearby)), a, of), "models"
    if case.model is not None or c.width is not None:
        return
    # The nearest multiple of the power of two that is at most a quarter of the width.
    step = 1 << max(6, a.width.bit_length() - 3)
    wide = max(step, round(a.width / step) * step)
    legal = math.lcm(a.head_size * c.tensor * (c.kv_ratio or 1), c.multiple or 1)
    if wide != a.width and wide % legal == 0:
        size = measure(a, of)
        rung = Ladder(replace(c, width=wide), case.chosen.depth, of).at(size)
        if rung and abs(math.log(rung.size / size)) < WORTH_SAYING:
            yield rung.architecture, "usual-width"
    if c.pipeline == 1 and a.own_layers % 4:
        layers = max(1, round(a.own_layers / 4)) * 4 * c.loops
        if layers in legal_depths(c, 1, DEEPEST):
            yield case.at(layers, a, of), "divisible"


def _neighbours(case: Case, a: Architecture) -> Iterator[Other]:
    if case.shares:
        return
    free = without(case.constraints, "layers")
    depths = legal_depths(free, 1, 2 * a.layers + free.loops * free.pipeline)
    below, above = [n for n in depths if n < a.layers], [n for n in depths if n > a.layers]
    parameters = "total" if case.resolved.target.of == "flops" else case.resolved.target.of
    bases: dict[Literal["parameters", "FLOPs"], Measure]
    bases = {"parameters": parameters, "FLOPs": "flops"}
    for equal, of in bases.items():
        for layers in (*below[-1:], a.layers, *above[:1]):
            other = a if layers == a.layers else case.at(layers, a, of)
            if other is not None:
                yield Other(equal, other, case.trade(a, other))


def _laws(case: Case, a: Architecture) -> Iterator[LawNumber]:
    seen, own = case.seen(a), layers_of(a).per_layer
    for r in rules(case.known_by):
        depth = seen.depth(r)
        if depth < 1:
            continue
        layers = math.floor(depth) if r.meaning == "maximum" else round(depth)
        if r.key == "threshold":
            layers = laws.threshold_layers(round(12 * seen.parameters / own))
        yield LawNumber(
            layers=layers,
            depth=depth,
            width=round(math.sqrt(seen.parameters / own / layers)),
            extrapolated=r.extrapolates(seen.parameters, seen.per_layer),
            error=r.standard_error(seen.parameters, seen.per_layer),
            verdict=verdict(r.claim),
            claim_about=about(r.claim),
            **{name: said for name, said in vars(r).items() if name not in _OF_RULE_ALONE},
            **vars(r.applies),
        )


# --- a configuration ------------------------------------------------------------------------------

# The demands that no configuration answers itself.
_BESIDE = tuple(
    f.name
    for f in fields(Constraints)
    if f.name == "context" or BY_FIELD[f.name].metadata.get("heading") in (SPLIT, USED)
)
# What else can be said of its training, with --gpu.
_OF_TRAINING = ("gpus", *(o.name for o in OPTIONS if o.metadata.get("heading") == TRAINING))


def given_net(
    a: Architecture,
    have: Budget,
    c: Constraints,
    beside: tuple[str, ...] = _BESIDE,
    named: str = "--hf",
) -> tuple[Architecture, Resolved]:
    """A configuration, named so where it was typed, at the context that is asked for, and its size
    with the limits.

    Raises:
        UsageError: for a size, or a demand that the configuration answers itself.
    """
    if have.size is not None:
        raise UsageError(
            "a configuration and a number of parameters; give one of them: the configuration says "
            "how many it has"
        )
    for name in demands_of(c):
        if name not in beside:
            accepted = ", ".join(map(flag, (*beside, "gpu", *_OF_TRAINING)))
            raise UsageError(
                f"{named} and {typed(name, getattr(c, name))}: the shape, its depth too, is that "
                f"of the configuration; accepted beside it are {accepted}"
            )
    if "context" in demands_of(c):
        a = a.with_(context=c.context)
    counts = count(a)
    sized = replace(have, active=float(counts.active))
    resolved = resolve(
        replace(sized, memory=None, milliseconds=None, kv_bytes=None, layer_milliseconds=None),
        Constraints(),
        a,
    )
    return a, replace(resolved, target=Target(float(counts.total)), budget=sized)


def judge(
    a: Architecture, have: Budget, c: Constraints, known_by: int | None, named: str = "--hf"
) -> Decision:
    """What is known of the depth of a configuration, and what is built instead where that is known
    to be worse, or does not keep a demand. Arguments as of `given_net`, and raises as that."""
    a, resolved = given_net(a, have, c, named=named)
    dense = a.experts.dense_layers if a.experts else 0
    c = replace(c, loops=a.layers // a.own_layers, dense_layers=dense)
    case = Case(resolved, c, known_by, a)
    within, seen = None if case.shares else case.interval(a), layers_of(a)
    within = None if within and within.far(seen.parameters) else within
    reason, wanted = Reason("rule", "rule"), seen.depth(case.chosen)
    if c.latency_matters and within is not None:
        wanted, bound = shallow_depth(*seen[:2], case.kind, case.known_by, case.each)
        if bound.code == "interval":  # of this very size
            wanted = within.low
        reason = Reason("demand", "latency-matters", ("latency_matters",), bound=bound)
    # Another depth is offered where this one is known to be worse, or does not keep a demand.
    worse = within is not None and (
        c.latency_matters
        or (within.trained(a.layers) and not within.low <= a.layers <= within.high)
    )
    better = a
    # Stages of unequal length are legal; those of equal length are among the other shapes.
    if worse or (not case.shares and (not resolved.keeps(a) or a.own_layers < c.pipeline)):
        better = _instead(case, a, wanted if worse else a.layers)
    # Stages may leave no legal depth at the bound, and one below it is not what that supports.
    if not worse or (reason.bound is not None and better.layers < math.floor(wanted)):
        reason = Reason("demand", "nearest-legal-depth")
    depth = nearest_depth(c, seen.depth(case.chosen))
    return replace(
        _decision(case, a, Reason("given", "configuration")),
        within=within,
        advised=None if case.shares or depth == a.layers else resized(a, depth, "total"),
        instead=None if better is a else better,
        instead_reason=replace(reason, against=_shape(a), cost=case.trade(a, better)),
    )


def judge_shape(c: Constraints, have: Budget, known_by: int | None) -> Decision:
    """The same of a demanded depth and width, with the defaults of the size that they come to.

    Raises:
        UsageError: for demands that contradict each other.
    """
    sized = Target(12.0 * (c.layers or 1) * (c.width or 1) ** 2)
    for _ in DEFAULTS:  # until the class of the size stays
        demanded = replace(c, ff_factor=c.ff_factor or template(sized, c).ff_factor)
        a = shapes(sized, demanded, math.inf)[0].architecture
        sized = Target(float(count(a).total))
    beside = without(c, *(name for name in demands_of(c) if name not in _BESIDE))
    return judge(a, have, beside, known_by)


def _instead(case: Case, a: Architecture, wanted: float) -> Architecture:
    """The shape like a net, of the same size and the legal depth nearest to a wanted one, that
    keeps the limits; where no depth down to half of that does, the net itself."""
    c = case.constraints
    step = c.loops * c.pipeline
    depths = legal_depths(c, max(1, math.floor(wanted / 2)), math.ceil(wanted) + step)
    for layers in sorted(depths, key=lambda n: abs(math.log(n / wanted))):
        other = a if layers == a.layers else resized(a, layers, "total")
        if case.resolved.keeps(other):
            return other
    return a
