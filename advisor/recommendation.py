"""How deep a net should be for what somebody has: one buildable shape, and what speaks for it.

The rule that chooses the depth and the interval around it come from published grids alone
(evidence); what every other law says stands beside them and is never averaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from . import laws
from .answer import Answer, Built, Candidate, LawNumber, Neighbour, percents
from .architecture import Architecture
from .base.quantities import UsageError, binary, plural, size
from .budgets import Budget, Resolved, idle_gpu, milliseconds, resolve, serving_note
from .claim_verdicts import about, verdict
from .counting import count, flops, memory, per_layer
from .grids import NetKind, losses_near, price
from .hardware import gpu
from .initialisation_advice import Advice, advice
from .latency import REACH
from .models import Model, models_near
from .question import BY_NAME, Question, flag
from .rule_scores import (
    UNTOLD,
    Interval,
    best_rule,
    contradicting,
    default_rule,
    depth_at_end,
    interval,
    reason,
)
from .rules import Rule, rule, rules
from .shape_search import FARTHEST, Ladder
from .shapes import (
    DEFAULTS,
    NAMES,
    TRAINING_CONTEXT,
    Constraints,
    Measure,
    Shape,
    Target,
    depth_at_aspect,
    legal_depths,
    measure,
    narrower,
    nearest,
    nearest_depth,
    resized,
    shapes,
    size_class,
    squares,
    stages,
    template,
    width_steps,
)
from .task_depths import OPTIONS as TASK_OPTIONS, TaskAnswer, answer_task, refuse_options

# What the number of a law does not repeat of its rule.
_OF_RULE_ALONE = {"law", "applies", "read_off", "error"}
# How far from the budget a model may be whose depth is shown, and how many of them are named.
_NEAR, _NAMED = 2, 3
# (L_inf, alpha) of the two fits L = L_inf + A C^-alpha by which Marin turns a loss into compute
# (marin-community/marin, threads on shapes; printed).
_MARIN = ((1.6, 0.0941), (1.2, 0.0842))
# How the shapes of models.csv are known.
_WORDINGS = {
    "seen": "printed",
    "seen (secondary)": "reported",
    "mixed": "recalled",
    "recalled": "recalled",
}
# A shape whose size is further from the budget is worth a warning.
_WORTH_SAYING = 0.02
# d / L at which the layers' share of a size is counted; embeddings of narrower nets take less.
_ASPECT = 64
# Sizes further apart are not equal: by loss ~ N^-0.076 that alone is worth 0.15 % of the loss.
_EQUAL = 0.02
# A demand that moves the depth by more, as a logarithm, has decided it.
_MOVED = 0.1
# A grid that loses more by the depth of the rule is worth a doubt.
_AT_STAKE = 0.005
# Demands that make widths come in steps, and those that fix or bound the depth.
_STEPS = ("tensor", "head_width", "multiple", "kv_ratio")
_ON_DEPTH = ("layers", "width", "pipeline", "latency_matters")
# What says for which nets evidence is asked.
_TRAINED = ("parametrisation", "norm", "residual")
# Where latency matters, bounds are found for so many sizes in a factor e.
_PER_E = 16
# How many ladders are kept, whose shapes the same demands ask for again: one answer compares itself
# with those without some of its demands.
_LADDERS = 256
# So far from the laws' 12 d^2 weights of a layer is a warning where it was demanded, and no
# rounding; what it is, `--why` always says.
_FAR_FROM_12 = 0.25


def recommend(
    budget: str | float | Budget | None = None,
    *,
    constraints: Constraints | None = None,
    **options: Any,
) -> Answer:
    """How deep a net should be for what somebody has, in one buildable shape, with the evidence.

    Args:
        budget: all parameters, as a number or as it is typed ("3B"); or a Budget.
        constraints: what the shape must obey; by default what nets of this size have.
        options: those of a Question, as numbers or as they are typed: what there is to spend
            (gpu="H100", gpus=64, hours="2 weeks"), what the shape must obey (pipeline=4), `config`,
            a net to judge (an Architecture, or the path of a config.json), a `task` with what it
            needs, or `known_by`, a year: rules, grids and models of later years are left out.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when nothing is asked, something contradicts,
            or no shape can be built, in one line with what to try.

    Cost: some 30 ms the first time; loads neither NumPy nor SymPy.

    >>> answer = recommend("3B", pipeline=4)
    >>> answer.shape.architecture.layers % 4, answer.floor.layers, answer.floor.meaning
    (0, 8, 'floor')
    >>> recommend(task="hops", hops=16).tasks[0].headline
    '6 layers suffice for 16 hops: ceil(log_2 k) + 2'
    """
    if isinstance(budget, Budget):
        return answer_to(Question.read(**options), budget, constraints)
    return answer_to(Question.read(budget=budget, **options), constraints=constraints)


def answer_to(
    question: Question, budget: Budget | None = None, constraints: Constraints | None = None
) -> Answer:
    """The answer to a question, whose options come before those of a Budget and of Constraints."""
    spent, known_by, config = question.of(Budget), question.known_by, question.hf
    have = replace(budget or Budget(), **spent) if budget or spent else None
    demanded = replace(constraints or Constraints(), **question.of(Constraints))
    if have is not None or config is not None:
        oldest = min(r.year for r in rules() if r.recommends)
        if known_by is not None and known_by < oldest:
            raise UsageError(
                f"no listed rule named a depth by {known_by}: the oldest is of {oldest}; "
                f"try --known-by {oldest}"
            )
    typed = {
        name: None if (value := getattr(question, name)) is None else str(value)
        for name in TASK_OPTIONS
    }
    if question.task is None:
        refuse_options(typed)
    tasks = (
        () if question.task is None else (answer_task(question.task, question.known_by, **typed),)
    )
    if config is not None:
        answer = _judged(config, have, demanded, known_by)
    elif have is not None:
        answer = _sized(have, demanded, known_by)
    elif tasks:
        return Answer(tasks[0].question, tasks=tasks)
    else:
        raise UsageError(
            "nothing to answer: give a size (3B, 350M, 7e9), FLOPs, GPUs and hours, a "
            "config.json or a task; try depthlaw depth 3B, or --task hops --hops 16"
        )
    return replace(answer, tasks=tasks, together=_together(answer, tasks)) if tasks else answer


def _key(c: Constraints) -> NetKind:
    return NetKind(c.parametrisation, c.norm, c.residual)


class _Layers(NamedTuple):
    """What laws and grids see of a net: N = c L d^2, of what a token uses in the layers."""

    parameters: float
    per_layer: float  # c
    aspect: float  # d / L

    def by(self, rule: Rule) -> float:
        """The depth of a rule at this size, not rounded."""
        return rule.depth(self.parameters, self.per_layer)


def _layers(a: Architecture) -> _Layers:
    one = per_layer(a)
    if e := a.experts:
        one -= (e.count - e.active) * (3 if a.gated else 2) * a.width * e.width
    return _Layers(float(one) * a.layers, one / a.width**2, a.aspect)


# --- a size ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """Everything that stays the same while an answer is put together."""

    resolved: Resolved
    constraints: Constraints
    known_by: int | None
    chosen: Rule
    model: Architecture | None = None  # the configuration that is judged

    @property
    def key(self) -> NetKind:
        return _key(self.constraints)

    @property
    def shares(self) -> bool:
        """Whether the configuration that is judged passes layers more than once: no grid compares
        depths of such nets, and another depth might share more, or less."""
        return self.model is not None and self.model.own_layers < self.model.layers

    def interval(self, a: Architecture) -> Interval | None:
        if self.model is None:
            return depths_within(a, self.constraints, self.known_by)
        seen = _layers(a)
        return interval(seen.parameters, seen.per_layer, self.key, known_by=self.known_by)

    def at(self, layers: int, a: Architecture, of: Measure) -> Architecture | None:
        """The shape of a depth and the size of a net, under the constraints or like the
        configuration."""
        if self.model is not None:
            return resized(self.model, layers, of) if layers > 0 else None
        # The defaults are those that the net has, whatever is equal: those of the budget, or, where
        # classes of size meet, those of its own size.
        counted = self.resolved.target.of
        own = Target(measure(a, counted), counted)
        t = template(self.resolved.target, self.constraints)
        if (same := nearest(own, t, a.layers)) is None or same.architecture != a:
            t = template(own, self.constraints)
        shape = nearest(Target(measure(a, of), of), t, layers)
        return shape and shape.architecture

    def candidate(self, a: Architecture, why: str) -> Candidate:
        return Candidate(a, count(a), why, self.milliseconds(a))

    def milliseconds(self, a: Architecture) -> tuple[float, float, float] | None:
        """Per token, by the measured points where they reach so far."""
        fit = self.resolved.budget.latency
        return fit.ms(a) if fit and not fit.outside(a, REACH) else None

    def change(
        self, base: Architecture, other: Architecture
    ) -> tuple[tuple[float, float] | None, str]:
        """What is known of the change in loss from one net to another of equal size, and whence.
        Without embeddings, as the grids count; nothing is known where these sizes differ."""
        if abs(more := _larger(base, other)) > _EQUAL:
            return None, f"{_parameters(more)}, and grids compare equal sizes"
        return self.traded(base, other)

    def trained(self, a: Architecture) -> bool:
        """Whether grids of its size reach the depth of a net."""
        within = self.interval(a)
        return within is None or not within.place(a.layers).endswith("than trained")

    def traded(
        self, base: Architecture, other: Architecture
    ) -> tuple[tuple[float, float] | None, str]:
        """The same of their d / L alone, whatever their sizes. Nothing is known of a depth that no
        grid trained at its size, though grids of other sizes may hold its d / L."""
        start, end = _layers(base), _layers(other)
        if not (self.trained(base) and self.trained(other)):
            return None, "no published grid covers this"
        price_range = price(
            start.parameters,
            start.aspect,
            end.aspect,
            self.key,
            per_layer=start.per_layer,
            known_by=self.known_by,
        )
        if price_range is None:
            return None, "no published grid covers this"
        outside = ", EXTRAPOLATED from the nearest sizes" if price_range.extrapolated else ""
        return (price_range.low, price_range.high), f"{' and '.join(price_range.sources)}{outside}"

    def said(self, base: Architecture, other: Architecture) -> str:
        """The change in loss in words; where sizes differ without embeddings, that of d / L."""
        change, source = self.traded(base, other)
        if change is None:
            return f"loss: {source}"
        if abs(more := _larger(base, other)) <= _EQUAL:
            return f"{_loss(change)} ({source})"
        return f"{_loss(change)} by d / L alone ({source}), with {_parameters(more)}"


def _parameters(more: float) -> str:
    which = "more" if more > 0 else "fewer"
    return f"{abs(more):.0%} {which} parameters without embeddings"


def _loss(change: tuple[float, float]) -> str:
    """A change in loss in words; one that may be a gain and is no loss is called so.

    >>> _loss((-0.004, 0.0)), _loss((-0.002, 0.003)), _loss((0.0, 0.0004))
    ('loss no higher (-0.4 to 0.0 %)', 'loss -0.2 to +0.3 %', 'loss within 0.1 %')
    """
    percent = percents(change)
    return (
        f"loss no higher ({percent})"
        if percent[0] == "-" and "+" not in percent
        else f"loss {percent}"
    )


def _larger(base: Architecture, other: Architecture) -> float:
    """How much larger another net is without embeddings, 0.01 for 1 %: in all that is stored, or
    in what a token uses, whichever differs more."""
    stored = count(other).nonembedding / count(base).nonembedding
    used = _layers(other).parameters / _layers(base).parameters
    return max(stored - 1, used - 1, key=abs)


@lru_cache(_LADDERS)
def ladder_for(constraints: Constraints, of: Measure, known_by: int | None = None) -> Ladder:
    """The shapes that `recommend` chooses from: on the rule that the evidence fixes, or, where
    latency matters, at the shallow end of what the evidence supports.
    """
    key, chosen = _key(constraints), default_rule(_key(constraints), known_by)

    def shallowest(parameters: float, per_layer: float) -> float:
        return _fast(parameters, per_layer, key, known_by)[0]

    depth = shallowest if constraints.latency_matters else chosen.depth

    def inside(a: Architecture) -> bool:
        depths = depths_within(a, constraints, known_by)
        return depths is not None and depths.low <= a.layers <= depths.high

    return Ladder(constraints, depth, of, constraints.latency_matters, inside)


def _fast(
    parameters: float, per_layer: float, key: NetKind, known_by: int | None
) -> tuple[float, str]:
    """The depth where latency matters, and what bounds it: the shallowest that is within 1 % of
    the best loss, not below all listed models of about this size, and that the fewest sources
    speak against; at most that of the rule."""
    usual = default_rule(key, known_by).depth(parameters, per_layer)
    # Sizes in steps of 6 %: a search asks for many near each other.
    size = round(_PER_E * math.log(parameters)), round(_PER_E * math.log(per_layer))
    layers, bound = _bounded(*size, key, known_by)
    return (layers, bound) if layers < usual else (usual, "the depth of the rule")


@cache
def _bounded(size: int, one: int, key: NetKind, known_by: int | None) -> tuple[int, str]:
    parameters, per_layer = math.exp(size / _PER_E), math.exp(one / _PER_E)
    usual = max(1, math.floor(default_rule(key, known_by).depth(parameters, per_layer)))
    within = interval(parameters, per_layer, key, known_by=known_by)
    if within is None:
        return usual, "the depth of the rule, as no grid says how shallow is too shallow"
    low, bound = within.low, "the shallowest depth within 1 % of the best loss"
    built = min((m.layers for m in models_near(parameters, _NEAR, known_by)), default=0)
    if built > low:
        low, bound = built, f"no listed model of about this size has fewer than {built} layers"

    def against(layers: int) -> set[str]:
        return {
            why_not.split(":")[0]
            for why_not in contradicting(parameters, layers, per_layer, known_by)
        }

    # The deepest depth that may be taken is the rule's.
    reasons = {layers: against(layers) for layers in range(low, max(low, usual) + 1)}
    best = min(reasons, key=lambda layers: (len(reasons[layers]), layers))
    if best > low:
        names = " and ".join(sorted(reasons[low] - reasons[best]))
        bound = f"shallower nets are in the worse half of comparisons by {names}"
    return best, bound


def depths_within(
    a: Architecture, constraints: Constraints, known_by: int | None = None
) -> Interval | None:
    """The depths that grids hold within 1 % of the best loss, for nets of the size of one under the
    constraints. They follow from size and constraints alone, at the real widths of d = 64 L: the
    rounding of one shape is no property of its size, and ranges would jump with it.
    """
    target = Target(measure(a, "total"))
    # A demanded width or depth says nothing about the size.
    t = template(target, replace(constraints, width=None, layers=None))
    depth = depth_at_aspect(target, t, _ASPECT)
    one = squares(t, depth, _ASPECT * depth)
    return interval(one * _ASPECT**2 * depth**3, one, _key(constraints), known_by=known_by)


def _sized(budget: Budget, c: Constraints, known_by: int | None) -> Answer:
    resolved = resolve(budget, c)
    target = resolved.target
    case = _Case(resolved, c, known_by, default_rule(_key(c), known_by))
    rung = ladder_for(c, target.of, known_by).at(target.value)
    if rung is None:
        raise UsageError(_none_near(case))
    a = rung.architecture
    if broken := _broken(case, a):
        a = _limited(case, a)
        why = f"forced by {broken}{_against(case, a, rung.architecture, 'it')}"
    elif rung.on_rule:
        why = _why(case, a)
    else:
        why = (
            f"the nearest to the rule inside the range: widths come in steps of "
            f"{width_steps(template(target, c))}, and none near the rule's depth can be built"
        )
        if free := _without(case, *_STEPS):
            why += _against(case, a, free, *_demanded(case, _STEPS))
    return _filled(case, a, why, _question(budget, resolved))


def _limited(case: _Case, free: Architecture) -> Architecture:
    """The shape that keeps the limits whose depth is nearest to that of the free choice.

    Which shapes are looked at, and their order, do not depend on the limits: so a looser limit
    never gives a worse one. Sizes within 2 % are equal, then those within an eighth.
    """
    target = case.resolved.target
    kept = [
        shape
        for shape in shapes(target, case.constraints, FARTHEST)
        if case.resolved.excludes(shape.architecture) is None
    ]
    if not kept:
        raise UsageError(_none_near(case))
    sizes = (_WORTH_SAYING, FARTHEST / 2, FARTHEST)

    def order(shape: Shape) -> tuple[int, float, float]:
        off = abs(shape.mismatch)
        return (
            sum(off > most for most in sizes),
            abs(math.log(shape.architecture.layers / free.layers)),
            off,
        )

    return min(kept, key=order).architecture


def _broken(case: _Case, a: Architecture) -> str:
    """The limits that a shape breaks, by name."""
    b = case.resolved.budget
    limits = {"milliseconds": "latency", "memory": "memory", "kv_bytes": "the KV cache"}
    broken = []
    for name, what in limits.items():
        others: dict[str, Any] = dict.fromkeys(limits.keys() - {name})
        if replace(case.resolved, budget=replace(b, **others)).excludes(a):
            broken.append(f"the limit of {what}")
    return " and ".join(broken)


def _demanded(case: _Case, names: Iterable[str]) -> list[str]:
    """Which of some demands were made, as options."""
    usual = Constraints()
    return [
        flag(BY_NAME[name].name)
        for name in names
        if getattr(case.constraints, name) != getattr(usual, name)
    ]


def _against(case: _Case, a: Architecture, free: Architecture, *dropped: str) -> str:
    """The free choice, and what a net costs against it. All demands on the depth are dropped for
    that: beside one of them, the price of another is not the price of the net."""
    others = _demanded(case, _ON_DEPTH)
    if others and (wholly := _wholly_free(case)):
        free, also = wholly
        dropped = tuple(dict.fromkeys([*dropped, *others, *also]))
    without = (
        "otherwise" if len(dropped) < 2 else f"without {', '.join(dropped[:-1])} and {dropped[-1]}"
    )
    cost = _cost(case, free, a)
    if cost.startswith("loss no higher"):
        cost += "; the default keeps to the depth of the rule all the same"
    return f"; {without} {free.layers:,} x {free.width:,}; cost: {cost}"


def _wholly_free(case: _Case) -> tuple[Architecture, list[str]] | None:
    """What would be chosen without any demand on the depth; where widths come in steps too coarse
    for that, without those too, which are returned as options."""
    if free := _without(case, *_ON_DEPTH):
        return free, []
    steps = _demanded(case, _STEPS)
    free = _without(case, *_ON_DEPTH, *_STEPS) if steps else None
    return None if free is None else (free, steps)


def _cost(case: _Case, base: Architecture, other: Architecture) -> str:
    """The change in loss from one net to another in words, and what it is worth in compute."""
    if case.traded(base, other)[0] is None:
        return f"not known ({case.traded(base, other)[1]})"
    label, (change, _) = case.said(base, other), case.change(base, other)
    worth = _speedup(case, base, other, change) if change else None
    if worth is None or label.startswith("loss within"):
        return label
    low, high = (f"{factor:.2f}" for factor in worth)
    return f"{label}, worth {low if low == high else f'{low} to {high}'} of the compute"


def _none_near(case: _Case) -> str:
    """Why nothing can be recommended: which shape is nearest, and what keeps others away."""
    target, c = case.resolved.target, case.constraints
    # Says itself why there is no shape at all.
    known = [shape.architecture for shape in shapes(target, c, FARTHEST)]
    asked = f"{size(target.value)} parameters"
    for a in known:
        if excluded := case.resolved.excludes(a):
            return (
                f"no shape near {asked} and near the recommended depth can be built: it "
                f"{excluded}; relax a constraint, or fix the depth by layers"
            )
    near = min(known, key=lambda a: abs(math.log(a.layers / _layers(a).by(case.chosen))))
    t = template(target, c)
    return (
        f"no shape with {asked} has a depth that the evidence supports: widths come in steps "
        f"of {width_steps(t)}, and the nearest has {plural(near.layers, 'layer')} of width "
        f"{near.width:,}; try {narrower(t)}or demand {near.layers} layers"
    )


def _why(case: _Case, a: Architecture) -> str:
    c = case.constraints
    if case.model is None and (decided := _decided(case, a)):
        return decided
    if c.layers is not None:
        return f"{c.layers} layers were demanded"
    if c.width is not None:
        return f"the depth that spends the size at the demanded width {c.width:,}"
    if c.latency_matters:
        bound = _fast(*_layers(a)[:2], case.key, case.known_by)[1]
        sentence = f"as shallow as the evidence supports, as latency matters: {bound}"
        free = _without(case, "latency_matters")
        if case.model is None and free is not None and free.layers != a.layers:
            sentence += _against(case, a, free)
        return sentence
    if usual := _leaned(case, a):
        return _leaning(case, a, usual, case.chosen.name)
    return (
        f"the rung nearest in size on the ladder of shapes for {case.chosen.name}; rungs do not "
        "depend on the budget, so that a larger budget never gets a smaller net, and their depth "
        "may differ from the rule's by a few layers"
    )


def _without(case: _Case, *demands: str) -> Architecture | None:
    """The choice without some demands, and without limits; None where nothing is one."""
    usual = Constraints()
    free = replace(case.constraints, **{name: getattr(usual, name) for name in demands})
    target = case.resolved.target
    if free == case.constraints:
        return None
    try:
        rung = ladder_for(free, target.of, case.known_by).at(target.value)
    except UsageError:  # what is left contradicts itself
        return None
    return rung and rung.architecture


def _decided(case: _Case, a: Architecture) -> str | None:
    """Which demand moves the depth most, and what that costs against the choice without any demand
    on the depth; None where none moves it by more than a tenth."""
    c = case.constraints
    wholly = _wholly_free(case)
    names: dict[tuple[str, ...], str] = {
        ("layers",): f"the demanded {plural(c.layers or 0, 'layer')}",
        ("width",): f"the demanded width {c.width or 0:,}",
        ("pipeline",): plural(c.pipeline, "pipeline stage"),
        _STEPS: f"widths in steps of {width_steps(template(case.resolved.target, c))}",
        ("vocabulary",): f"a vocabulary of {c.vocabulary or 0:,}",
    }
    free = {demands: other for demands in names if (other := _without(case, *demands))}
    # What fixes the depth decides it, whatever else is demanded.
    for name in ("layers", "width"):
        if getattr(c, name) is not None and wholly:
            free = {(name,): wholly[0]}
            break
    moved = {demands: abs(math.log(other.layers / a.layers)) for demands, other in free.items()}
    most = max(moved, key=moved.__getitem__, default=())
    if moved.get(most, 0) <= _MOVED:
        return None
    if most == ("vocabulary",):  # the rule decides still, on what is left
        return (
            f"the depth that the evidence chooses for the {size(count(a).nonembedding)} "
            f"parameters that {names[most]} leaves to the layers; otherwise "
            f"{free[most].layers:,} x {free[most].width:,}"
        )
    options = _demanded(case, [name for name in most if name in _STEPS])
    return f"forced by {names[most]}{_against(case, a, free[most], *options)}"


def _filled(case: _Case, a: Architecture, why: str, question: str) -> Answer:
    """The answer around a recommended shape."""
    c, resolved, within = case.constraints, case.resolved, case.interval(a)
    laws_by_depth = tuple(sorted(_laws(a, case.known_by), key=lambda law: law.depth))
    built, costed = _built(a, case.known_by), case.model or a
    note = serving_note(resolved.budget, c, costed)
    return Answer(
        question,
        case.candidate(a, why),
        case.chosen.key,
        _rule_why(case, a, False),
        within,
        tuple(_runners_up(case, a, within)),
        tuple(_neighbours(case, a)),
        next((law for law in laws_by_depth if law.key == "threshold"), None),
        laws_by_depth,
        built,
        warnings=tuple(_warnings(case, a)),
        doubts=tuple(_doubts(case, a, within, laws_by_depth, built)),
        initialisation=tuple(map(str, _initialised(case, a))),
        tokens=resolved.tokens,
        training_flops=resolved.flops,
        hours=resolved.hours,
        flops=flops(costed, min(costed.context, TRAINING_CONTEXT)),
        memory=memory(costed, resolved.budget.bytes_per_weight),
        stages=stages(a.own_layers, c.pipeline) if 1 < c.pipeline <= a.own_layers else (),
        limits=(*resolved.notes, *([note] if note else ())),
        rule_brief=_rule_why(case, a, True),
        rule_layers=_leaned(case, a) or None,
    )


def _rule_why(case: _Case, a: Architecture, brief: bool) -> str:
    chosen, seen = case.chosen, _layers(a)
    name = chosen.name
    if not brief and chosen.formula not in name:
        name += f" ({chosen.formula})"
    outside = ", EXTRAPOLATED" if chosen.extrapolates(seen.parameters, seen.per_layer) else ""
    usual = _leaned(case, a)
    if brief:
        known = f"{chosen.source.split(',')[0]}, {chosen.wording}"
        why = reason(case.key, case.known_by, brief)
        named = f"{name}{outside} ({known})"
        return f"{_leaning(case, a, usual, named) if usual else named}: {why}"
    fewer = ""
    if usual:
        fewer = (
            f"; {plural(usual - a.layers, 'layer')} below the rule's {usual}: beyond the grids, "
            f"differences under {100 * UNTOLD:g} % cannot be resolved"
        )
    return f"{name}{outside}: {reason(case.key, case.known_by)}{fewer}"


def _leaning(case: _Case, a: Architecture, usual: int, name: str) -> str:
    """Why a net has fewer layers than the rule gives: as decision 0016 has it, in words."""
    end = depth_at_end(case.key, case.known_by)
    at_end = end is not None and _layers(a).by(case.chosen) < end + 1e-9
    which = (
        "as deep as the rule at the largest measured size, with an extrapolated loss"
        if at_end
        else "the shallowest whose extrapolated loss is"
    )
    return f"{which} within {100 * UNTOLD:g} % of that of the {usual} layers of {name}"


def _leaned(case: _Case, a: Architecture) -> int:
    """The layers of the rule where a net has fewer, since extrapolated losses do not tell them
    apart; else 0, also where something else than the rule chose the depth."""
    rule, seen = best_rule(case.key, case.known_by), _layers(a)
    usual, depth = seen.by(rule), seen.by(case.chosen)
    return round(usual) if _ruled(case, a) and usual > max(depth, a.layers) + 0.5 else 0


def _ruled(case: _Case, a: Architecture) -> bool:
    """Whether a recommended net has the depth of the rule, as far as it can be built."""
    c = case.constraints
    if case.model is not None or c.layers or c.width or c.latency_matters:
        return False
    return abs(math.log(a.layers / _layers(a).by(case.chosen))) <= _MOVED


def _preferred(case: _Case, a: Architecture, within: Interval) -> str:
    """What the grids nearest in size hold best, in words, where one of them loses more than half a
    percent at the depth of the rule: there 0.1 % is not all that is at stake."""
    seen = _layers(a)
    if case.key != NetKind() or not _ruled(case, a):
        return ""
    volume = seen.parameters / seen.per_layer
    near, _ = losses_near(volume, case.known_by)
    known = [
        (grid.best.width / grid.best.layers, regret)
        for grid in near
        if grid.best.width and (regret := grid.regret_at(seen.aspect)) is not None
    ]
    if max((regret for _, regret in known), default=0.0) <= _AT_STAKE:
        return ""
    # No deeper than the range reaches, which is of the size before its shape was rounded.
    depths = [min(within.high, round(math.cbrt(volume / ratio**2))) for ratio, _ in known]
    change = sorted(1 / (1 + regret) - 1 for _, regret in known)
    which = "deeper" if min(depths) > a.layers else "other"
    least, most = min(depths), max(depths)
    about = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return (
        f"the nearest grids prefer {which} nets: {about} layers, "
        f"loss {percents((change[0], change[-1]))}"
    )


def _runners_up(case: _Case, a: Architecture, within: Interval | None) -> Iterator[Candidate]:
    """Other shapes of the size, each with what it trades; none twice, and not the recommended."""
    seen = {(a.layers, a.width)}
    for other, why in _others(case, a, within):
        if other is not None and (other.layers, other.width) not in seen:
            seen.add((other.layers, other.width))
            yield case.candidate(other, f"{why}; {case.said(a, other)}")


def _others(
    case: _Case, a: Architecture, within: Interval | None
) -> Iterator[tuple[Architecture | None, str]]:
    c, target = case.constraints, case.resolved.target
    of = target.of
    if c.layers is not None or case.shares:
        return
    if case.model is not None and a.own_layers % c.pipeline:
        step = c.loops * c.pipeline
        for layers in (a.layers // step * step, (a.layers // step + 1) * step):
            if layers > c.dense_layers:
                yield (
                    case.at(layers, a, of),
                    f"its layers divide evenly among {c.pipeline} pipeline stages",
                )
    if within is not None and (inside := legal_depths(c, within.low, within.high)):
        yield case.at(inside[0], a, of), "the shallowest within 1 %: least latency"
        yield case.at(inside[-1], a, of), "the deepest within 1 %: the narrowest"
    nanochat = case.chosen if case.chosen.key == "nanochat" else rule("nanochat")
    for ruled, why in (
        (nanochat, "d = 64 L, what nanochat builds"),
        (case.chosen, f"the depth of {case.chosen.name}"),
    ):
        yield case.at(nearest_depth(case.constraints, _layers(a).by(ruled)), a, of), why
    if built := _built(a, case.known_by):
        yield (
            case.at(nearest_depth(case.constraints, built.middle), a, of),
            "the middle depth of published models of about its size",
        )
    if case.model is not None or c.width is not None:
        return
    # The nearest multiple of the power of two that is at most a quarter of the width.
    step = 1 << max(6, a.width.bit_length() - 3)
    wide = max(step, round(a.width / step) * step)
    if wide != a.width and wide % (a.head_size * c.tensor) == 0:
        size = measure(a, of)
        rung = Ladder(replace(c, width=wide), case.chosen.depth, of).at(size)
        if rung and abs(math.log(rung.size / size)) < _WORTH_SAYING:
            yield rung.architecture, f"a width that many nets have, {wide:,}"
    if c.pipeline == 1 and a.own_layers % 4:
        layers = max(1, round(a.own_layers / 4)) * 4 * c.loops
        yield case.at(layers, a, of), "its layers divide among 2 or 4 pipeline stages"


def _neighbours(case: _Case, a: Architecture) -> Iterator[Neighbour]:
    if case.shares:
        return
    free = replace(case.constraints, layers=None)
    depths = legal_depths(free, 1, 2 * a.layers + free.loops * free.pipeline)
    below, above = [n for n in depths if n < a.layers], [n for n in depths if n > a.layers]
    parameters = "total" if case.resolved.target.of == "flops" else case.resolved.target.of
    bases: dict[Literal["parameters", "FLOPs"], Measure]
    bases = {"parameters": parameters, "FLOPs": "flops"}
    for equal, of in bases.items():
        for layers in (*below[-1:], a.layers, *above[:1]):
            other = a if layers == a.layers else case.at(layers, a, of)
            if other is None:
                continue
            change, source = case.change(a, other)
            speedup = change and _speedup(case, a, other, change)
            if layers == a.layers:
                change, source, speedup = (0.0, 0.0), "the shape itself", (1.0, 1.0)
            time, counts = case.milliseconds(other), count(other)
            yield Neighbour(layers, equal, other, counts, change, source, speedup, time)


def _speedup(
    case: _Case, a: Architecture, other: Architecture, change: tuple[float, float]
) -> tuple[float, float] | None:
    """What another shape is worth in compute: that of its loss, times the ratio of throughputs;
    None where no grid of this size gives a loss. The throughput is taken as inverse to the FLOPs of
    a token."""
    seen = _layers(a)
    _, outside = losses_near(seen.parameters / seen.per_layer, case.known_by)
    if outside or (worth := _worth(case, a, change)) is None:
        return None
    faster = measure(a, "flops") / measure(other, "flops")
    return worth[0] * faster, worth[1] * faster


def _worth(case: _Case, a: Architecture, change: tuple[float, float]) -> tuple[float, float] | None:
    """What a change of a net's loss is worth in compute:
    ((L_base - L_inf) / (L_var - L_inf))^(1 / alpha), by both pairs that Marin used. The loss of the
    net is that of its d / L in the grids near its size, or in the nearest ones."""
    seen = _layers(a)
    near, _ = losses_near(seen.parameters / seen.per_layer, case.known_by)
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


def _laws(a: Architecture, known_by: int | None) -> Iterator[LawNumber]:
    seen = _layers(a)
    for r in rules(known_by):
        depth = seen.by(r)
        if depth < 1:
            continue
        layers = math.floor(depth) if r.meaning == "maximum" else round(depth)
        if r.key == "threshold":
            layers = laws.threshold_layers(round(12 * seen.parameters / seen.per_layer))
        yield LawNumber(
            layers=layers,
            depth=depth,
            width=round(math.sqrt(seen.parameters / seen.per_layer / layers)),
            extrapolated=r.extrapolates(seen.parameters, seen.per_layer),
            error=r.standard_error(seen.parameters, seen.per_layer),
            verdict=verdict(r.claim),
            claim_about=about(r.claim),
            **{name: said for name, said in vars(r).items() if name not in _OF_RULE_ALONE},
            **vars(r.applies),
        )


def _built(a: Architecture, known_by: int | None) -> Built | None:
    middle = _layers(a).parameters
    near = models_near(middle, _NEAR, known_by)
    if not near:
        return None
    # One of each shape, the nearest in size: copies of a recipe are no further evidence.
    by_distance = sorted(near, key=lambda m: abs(math.log(m.parameters / middle)))
    recipes: dict[tuple[int, int], Model] = {}
    for m in by_distance:
        recipes.setdefault((m.layers, m.width), m)
    depths = sorted(m.layers for m in recipes.values())
    known = Counter(_WORDINGS[m.status] for m in near).most_common()
    return Built(
        depths[0],
        depths[(len(depths) - 1) // 2],
        depths[-1],
        len(near),
        len(recipes),
        _NEAR,
        tuple((m.name, m.layers, m.width) for m in [*recipes.values()][:_NAMED]),
        ", ".join(f"{number} {wording}" for wording, number in known),
        *_among(a, near, middle),
    )


def _among(a: Architecture, near: list[Model], middle: float) -> tuple[str, bool]:
    """Where a depth stands among published models of about its size, and whether outside all."""
    sizes = f"of {size(middle / _NEAR)} to {size(middle * _NEAR)} without embeddings"
    which = f"all {len(near)} published models" if len(near) > 1 else "the one published model"
    which = f"{which} {sizes}"
    ratios = sorted(m.width / m.layers for m in near)
    theirs = f"(d / L {a.aspect:.0f}; theirs {ratios[0]:.0f} to {ratios[-1]:.0f})"
    for outside, said in (
        (a.layers > max(m.layers for m in near), f"deeper than {which}"),
        (a.layers < min(m.layers for m in near), f"shallower than {which}"),
        (a.aspect < ratios[0], f"deeper for its width than {which} {theirs}"),
        (a.aspect > ratios[-1], f"shallower for its width than {which} {theirs}"),
    ):
        if outside:
            return said, True
    fewer = sum(m.layers < a.layers for m in near)
    return f"deeper than {fewer} of {plural(len(near), 'model')} {sizes}", False


def _initialised(case: _Case, a: Architecture) -> tuple[Advice, ...]:
    """What to set for a net of this depth."""
    loops = a.layers // a.own_layers
    return advice(a.layers, case.key, encoder_layers=a.encoder_layers, loops=loops)


def _warnings(case: _Case, a: Architecture) -> Iterator[str]:
    seen, target, c = _layers(a), case.resolved.target, case.constraints
    off = measure(a, target.of) / target.value - 1
    if abs(off) > _WORTH_SAYING and case.model is None:
        larger = "larger" if off > 0 else "smaller"
        yield f"the nearest shape that can be built is {abs(off):.0%} {larger} than the budget"
    if e := a.experts:
        yield (
            f"a mixture of experts: laws and grids are of dense nets, and are read at the "
            f"active parameters of its layers ({e.active + e.shared} of {e.count + e.shared} "
            "experts); memory follows from all of them"
        )
    elif abs(seen.per_layer / 12 - 1) > _FAR_FROM_12 and (
        case.model or not c.gated or c.ff_factor or c.kv_ratio
    ):
        yield (
            f"a layer has {seen.per_layer:.3g} d^2 weights, not the laws' 12 d^2: "
            "read at equal L d^2"
        )
    if a.own_layers < a.layers:
        yield (
            f"{plural(a.own_layers, 'layer')} with weights of their own, passed "
            f"{a.layers // a.own_layers} times: no grid compares depths of looped nets; "
            "laws are read at the layers passed"
        )
    if a.kind != "decoder":
        yield f"the grids of losses are of decoders, this is an {a.kind}"
    yield from _untrainable(case, case.model or a)
    yield from (f"{each.says} ({each.source})" for each in _initialised(case, a) if each.warns)
    fit = case.resolved.budget.latency
    if fit and (far := fit.outside(case.model or a, REACH)):
        yield f"no time is given, as the measured points are too far: {far}"
    elif fit and (far := fit.outside(case.model or a)):
        yield f"the time is EXTRAPOLATED from the measured points: {far}"
    yield from _other_defaults(case, a)
    yield from a.remarks


def _other_defaults(case: _Case, a: Architecture) -> Iterator[str]:
    """Where the class of a size has other defaults than the one below, so that its layers have
    fewer weights than those of a smaller net: why range and depth do not grow."""
    c, target = case.constraints, case.resolved.target
    now, place = size_class(target), DEFAULTS.index(size_class(target))
    if case.model is not None or place == 0 or c.layers is not None or c.width is not None:
        return
    before = DEFAULTS[place - 1]
    start = before.below * (2 if target.of == "flops" else 1)
    rung = ladder_for(c, target.of, case.known_by).at(start * (1 - _WORTH_SAYING))
    mine = depths_within(a, c, case.known_by)
    theirs = rung and depths_within(rung.architecture, c, case.known_by)
    if (
        rung is None
        or mine is None
        or theirs is None
        or not (mine.high < theirs.high or mine.low < theirs.low)
    ):
        return
    changed = []
    if c.vocabulary is None and now.vocabulary != before.vocabulary:
        changed.append(f"vocabulary {now.vocabulary:,}, below {before.vocabulary:,}")
    if c.tied is None and now.tied != before.tied:
        names = {True: "tied", False: "untied"}
        changed.append(f"{names[now.tied]}, below {names[before.tied]}")
    if c.ff_factor is None and c.gated and now.ff_factor != before.ff_factor:
        changed.append(f"d_ff {now.ff_factor:.3g} d, below {before.ff_factor:.3g} d")
    waits = rung.architecture.layers == a.layers
    yield (
        f"from {size(before.below)} parameters on the defaults are others "
        f"({'; '.join(changed) or 'heads'}), so layers are smaller: just below, the range is "
        f"{theirs.ends}{f', and the depth stays at {a.layers} until they have grown' * waits}"
    )


def _untrainable(case: _Case, a: Architecture) -> Iterator[str]:
    """Where the GPUs that train a net cannot hold what training keeps of each weight."""
    b, needed = case.resolved.budget, memory(a)
    if b.gpu is None or case.resolved.hours is None:
        return
    device = gpu(b.gpu)
    assert needed.gradients is not None
    assert needed.optimiser is not None
    state = needed.weights + needed.gradients + sum(needed.optimiser.values())
    if device.memory is not None and state > b.gpus * device.memory:
        yield (
            f"{b.gpus:,} x {device.name} have {binary(b.gpus * device.memory)}, and weights, "
            f"gradients and optimiser alone take {binary(state)} even if fully sharded (AdamW "
            f"in mixed precision, {state / count(a).total:.0f} bytes a parameter): more GPUs, "
            "or a smaller net"
        )


def _doubts(
    case: _Case,
    a: Architecture,
    within: Interval | None,
    said: tuple[LawNumber, ...],
    built: Built | None,
) -> Iterator[str]:
    outside = built.among if built is not None and built.outside else ""
    if case.model is None and within is not None and (place := within.place(a.layers)) != "inside":
        yield _misplaced(a, within, place)
    if within is None:
        yield "no published grid of losses says anything about this size"
    elif within.extrapolated:
        doubt = "no grid has nets of this size"
        if usual := _leaned(case, a):
            doubt += f"; the rule's {usual} layers do as well ({100 * UNTOLD:g} %)"
        else:
            doubt += ": depth and interval are extrapolated"
        yield "; ".join(filter(None, (doubt, _preferred(case, a, within), outside)))
    seen = _layers(a)
    if against := contradicting(seen.parameters, a.layers, seen.per_layer, case.known_by):
        yield f"some comparisons of this size point elsewhere: {'; '.join(against)}"
    if outside and not (within and within.extrapolated):
        yield outside
    choices = [law for law in said if law.meaning in ("optimum", "default")]
    if choices:
        least, most = choices[0], choices[-1]
        yield (
            f"published laws disagree: from {plural(least.layers, 'layer')} ({least.name}, "
            f"{least.meaning}) to {most.layers} ({most.name}, {most.meaning})"
        )
    if case.key.parametrisation != "standard" or case.key.residual != "plain":
        yield "what is known of this parametrisation is one paper's optimum, not a grid"
    yield (
        "the grids compare losses of one run a shape; downstream tasks and reasoning may want "
        "another depth"
    )


def _misplaced(a: Architecture, within: Interval, place: str) -> str:
    """What the range says of a recommended depth outside it, as it would of a configuration."""
    deep = plural(a.layers, "layer")
    if place.endswith("than trained"):
        return (
            f"{deep}: {place.split()[0]} than any net of this size that was trained for a "
            "published grid, so its loss is not known"
        )
    shallow = f"{within.too_shallow:,} or fewer" if within.too_shallow else ""
    end = shallow if place == "too shallow" else f"{within.too_deep:,} or more"
    outside = ", EXTRAPOLATED" if within.extrapolated else ""
    return f"{deep}: {place}; {end} lose more than 1 % ({' and '.join(within.sources)}{outside})"


# --- a configuration ------------------------------------------------------------------------------

_FOR_CONFIGS = ("pipeline", "tensor", "context", *_TRAINED, "latency_matters")


def _judged(a: Architecture, have: Budget | None, c: Constraints, known_by: int | None) -> Answer:
    have = have or Budget()
    if (have.total, have.nonembedding, have.active) != (None, None, None):
        raise UsageError(
            "a configuration and a number of parameters; give one of them: the configuration says "
            "how many it has"
        )
    for field in fields(Constraints):
        if getattr(c, field.name) != field.default and field.name not in _FOR_CONFIGS:
            raise UsageError(
                f"a configuration and a demand on its shape ({field.name}); give one of them; "
                f"accepted beside a configuration are {', '.join(_FOR_CONFIGS)}"
            )
    if c.context != Constraints().context:
        a = a.with_(context=c.context)
    counts = count(a)
    sized = replace(have, active=float(counts.active))
    resolved = resolve(
        replace(sized, memory=None, milliseconds=None, kv_bytes=None, layer_milliseconds=None),
        Constraints(),
    )
    resolved = replace(resolved, target=Target(float(counts.total)), budget=sized)
    dense = a.experts.dense_layers if a.experts else 0
    c = replace(c, loops=a.layers // a.own_layers, dense_layers=dense)
    case = _Case(resolved, c, known_by, default_rule(_key(c), known_by), a)
    within, seen = None if case.shares else case.interval(a), _layers(a)
    place = within.place(a.layers) if within else "unknown"
    wanted = seen.by(case.chosen)
    if c.latency_matters and within is not None:
        wanted = _fast(*seen[:2], case.key, known_by)[0]
    # Another depth is offered where this one is known to be worse, or does not keep a demand.
    worse = place in ("too shallow", "too deep") or (c.latency_matters and within is not None)
    better = a
    # Stages of unequal length are legal; those of equal length are among the other shapes.
    if worse or (not case.shares and (case.resolved.excludes(a) or a.own_layers < c.pipeline)):
        better = _instead(case, a, wanted if worse else a.layers)
    why = "the nearest legal depth that keeps the demands" if not worse else _why(case, better)
    why += f"; against the given net: {_cost(case, a, better)}"
    question = (
        f"Is the depth of {a.name or a.family or 'the given net'} right: "
        f"{plural(a.layers, 'layer')} of width {a.width:,}, {size(counts.total)} parameters?"
    )
    filled = _filled(case, a, "the configuration", question)
    return replace(
        filled,
        given=case.candidate(a, "the configuration"),
        interval=within,
        instead=None if better is a else case.candidate(better, why),
        verdicts=tuple(_verdicts(case, a, within, filled, better)),
    )


def _instead(case: _Case, a: Architecture, wanted: float) -> Architecture:
    """The shape like a net, of the same size and the legal depth nearest to a wanted one, that
    keeps the limits; where no depth down to half of that does, the net itself."""
    c = case.constraints
    step = c.loops * c.pipeline
    depths = legal_depths(c, max(1, math.floor(wanted / 2)), math.ceil(wanted) + step)
    for layers in sorted(depths, key=lambda n: abs(math.log(n / wanted))):
        other = a if layers == a.layers else resized(a, layers, "total")
        if case.resolved.excludes(other) is None:
            return other
    return a


def _verdicts(
    case: _Case, a: Architecture, within: Interval | None, answer: Answer, better: Architecture
) -> Iterator[str]:
    """On a configuration, most important first."""
    deep = plural(a.layers, "layer")
    yield f"{deep}: {_depth_verdict(case, a, within)}"
    if excluded := case.resolved.excludes(a):
        # Weights of equal size take the same memory at any depth.
        stuck = "; no other depth tried at its size keeps the limit, so there is no Instead"
        yield f"it {excluded}{stuck if better is a and not case.shares else ''}"
    c = case.constraints
    if c.pipeline > a.own_layers:
        yield f"{deep} are too few for {c.pipeline} pipeline stages"
    elif a.own_layers % c.pipeline:
        below = a.own_layers // c.pipeline * c.pipeline
        split = sorted(Counter(stages(a.own_layers, c.pipeline)).items(), reverse=True)
        yield (
            f"{deep} do not divide among {c.pipeline} pipeline stages: "
            + " and ".join(f"{times} with {n}" for n, times in split)
            + f", at most {a.own_layers / c.pipeline / split[0][0]:.0%} of the speed of even "
            f"ones; {below} or {below + c.pipeline} would"
        )
    if a.heads % c.tensor:
        yield f"{a.heads} heads do not divide among {c.tensor} devices"
    if answer.built:
        names = ", ".join(f"{name} ({n} x {d:,})" for name, n, d in answer.built.nearest)
        which = "dense models of about its active size" if a.experts else "real models of this size"
        yield (
            f"{which} have {answer.built.low} to {answer.built.high} layers; "
            f"{answer.built.among}; nearest in size: {names}"
        )
    if answer.floor:
        least = answer.floor.layers
        bound = "below it" if a.layers >= least else "which it does not reach"
        far = "far " if a.layers > 2 * least else ""
        yield f"the floor of theory, L >= log_3(d), is {plural(least, 'layer')}, {far}{bound}"


def _depth_verdict(case: _Case, a: Architecture, within: Interval | None) -> str:
    """What the grids say of a depth: a number where they have one, and no more than they saw."""
    if case.shares:
        return (
            f"not known; {a.own_layers} of them with weights of their own, and no grid "
            "compares depths of nets that share layers"
        )
    if within is None:
        return "not known; no published grid says which depths are good at this size"
    outside = ", EXTRAPOLATED" if within.extrapolated else ""
    sources = " and ".join(within.sources)
    place = within.place(a.layers)
    lose = f"{within.ends} lose at most 1 %"
    if place in ("deeper than trained", "shallower than trained"):
        return (
            f"{place.split()[0]} than any net of its size that was trained for a published "
            f"grid: not known; {lose} ({sources}{outside})"
        )
    compared = _compared(case, a)
    if sources not in compared:
        lose += f" ({sources}{outside})"
    return f"{compared}; {lose}" if place == "inside" else f"{place}; {compared}; {lose}"


def _compared(case: _Case, a: Architecture) -> str:
    """The loss of a net against that of the advised depth at equal parameters, and the compute that
    the difference is worth."""
    ruled = nearest_depth(case.constraints, _layers(a).by(case.chosen))
    if ruled == a.layers:
        return "the depth that is advised at this size"
    goal = resized(a, ruled, "total")
    change, source = case.traded(goal, a)
    other = f"{goal.layers:,} x {goal.width:,}"
    if change is None:
        return f"loss against {other} not known ({source})"
    more = -_larger(a, goal) / (1 + _larger(a, goal))
    counted = ""
    if abs(more) > _EQUAL:
        counted = f" by d / L alone, with {_parameters(more)}"
    if percents(change).startswith("within"):
        return f"the loss of {other} within 0.1 %{counted} ({source})"
    sentence = f"loss {percents(change)} against {other}{counted} ({source})"
    if (worth := _worth(case, goal, change)) is None:
        return sentence
    low, high = sorted(round(100 * (factor - 1)) for factor in worth)
    if low == high == 0:
        return sentence
    if low < 0 < high:  # the grids do not agree which of the two is better
        return f"{sentence}, worth {low} to +{high} % of the training compute"
    least, most = sorted(map(abs, (low, high)))
    about = f"up to {most}" if not least else f"{most}" if least == most else f"{least} to {most}"
    return f"{sentence}, worth {about} % of the training compute"


# --- words ----------------------------------------------------------------------------------------


def _question(b: Budget, resolved: Resolved) -> str:
    """What was asked, as it was understood."""
    target, parts = resolved.target, []
    parts.append(f"{size(target.value)} {NAMES[target.of]}")
    # A GPU that nothing is computed from is no part of the question; the notes say so.
    if b.gpu is not None and not idle_gpu(b):
        time = "" if b.hours is None else f" for {b.hours:g} hours"
        parts.append(f"{b.gpus:,} x {b.gpu}{time}")
    if b.flops is not None:
        parts.append(f"{b.flops:.3g} training FLOPs")
    if b.tokens is not None:
        parts.append(f"{size(b.tokens)} training tokens")
    if b.milliseconds is not None:
        parts.append(f"at most {milliseconds(b.milliseconds)} ms a token")
    for value, what in ((b.memory, "of memory"), (b.kv_bytes, "of KV cache")):
        if value is not None:
            parts.append(f"at most {binary(value)} {what}")
    return f"How deep should a net be: {', '.join(parts)}?"


def _together(answer: Answer, tasks: tuple[TaskAnswer, ...]) -> str:
    """The depths that meet size and task, for each construction."""
    assert answer.shape is not None
    deep = answer.shape.architecture.layers
    parts = [
        f"{label} {plural(max(deep, number.layers), 'layer')}".strip()
        for task in tasks
        for label, number in zip(task.labels or [""] * len(task.numbers), task.numbers, strict=True)
        if number.meaning in ("exact", "suffices")
    ]
    if not parts:
        return ""
    return (
        f"Depth that meets both: {', '.join(parts)} (the greater of {deep} and what the task "
        "asks for: constructions of other nets, so a plan, not a theorem)"
    )
