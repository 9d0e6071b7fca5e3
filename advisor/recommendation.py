"""How deep a net should be for what somebody has: one buildable shape, and what speaks for it.

The rule that chooses the depth and the interval around it come from published grids alone
(evidence); what every other law says stands beside them and is never averaged.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from . import laws
from .answer import Answer, Built, Candidate, LawNumber, Neighbour, percents
from .architecture import Architecture
from .budgets import Budget, Resolved, resolve, serving_note
from .counting import Count, Memory, count, flops, memory, per_layer
from .evidence import Interval, best_rule, contradicting, interval, reason
from .grids import Key, losses_near, price
from .hardware import gpu
from .initialisation import advice
from .ladder import FARTHEST, Ladder
from .models import Model, models_near
from .quantities import (
    UsageError,
    binary,
    parse_bandwidth,
    parse_budget,
    parse_bytes,
    parse_flops,
    parse_hours,
    parse_milliseconds,
    parse_share,
    parse_tokens,
    plural,
    quoted,
    size,
)
from .rules import Rule, rule, rules
from .shapes import (
    TRAINING_CONTEXT,
    Constraints,
    Measure,
    Target,
    legal_depths,
    measure,
    narrower,
    nearest,
    resized,
    shapes,
    stages,
    template,
    width_steps,
)
from .tasks import TaskAnswer, answer_task, refuse_options
from .verdicts import verdict

# How far from the budget a model may be whose depth is shown, and how many of them are named.
_NEAR, _NAMED = 2, 3
# (L_inf, alpha) of the two fits L = L_inf + A C^-alpha by which Marin turns a loss into compute
# (marin-community/marin, threads on shapes; printed).
_MARIN = ((1.6, 0.0941), (1.2, 0.0842))
# How the shapes of models.csv are known.
_WORDINGS = {"seen": "printed", "seen (secondary)": "reported", "mixed": "recalled",
             "recalled": "recalled"}
# A shape whose size is further from the budget is worth a warning.
_WORTH_SAYING = 0.02
# Sizes further apart are not equal: by loss ~ N^-0.076 that alone is worth 0.15 % of the loss.
_EQUAL = 0.02
# Where latency matters, bounds are found for so many sizes in a factor e.
_PER_E = 16
# So far from the laws' 12 d^2 weights of a layer is a warning; what it is, `--why` always says.
_FAR_FROM_12 = 0.25


def recommend(
        budget: str | float | Budget | None = None, *, constraints: Constraints | None = None,
        config: Architecture | str | Path | None = None, known_by: int | None = None,
        task: str | None = None, diameter: int | str | None = None,
        vertices: int | str | None = None, hops: int | str | None = None,
        length: int | str | None = None, **options: Any) -> Answer:
    """How deep a net should be for what somebody has, in one buildable shape, with the evidence.

    Args:
        budget: all parameters, as a number or as it is typed ("3B"); or a Budget.
        constraints: what the shape must obey; by default what nets of this size have.
        config: a net to judge: an Architecture, or the path of a config.json. The budget may then
            hold limits, and no size.
        known_by: answer as of a year: rules, grids and models of later years are left out.
        task: "connectivity" with `diameter` and perhaps `vertices`, "hops" with `hops`, or
            "regular" with `length`: what is known of the depth that the task needs.
        options: fields of Budget (gpu="H100", gpus=64, hours="2 weeks") and of Constraints
            (pipeline=4) by name; quantities as numbers or as they are typed.

    Raises:
        UsageError: (depthlaw.advisor.quantities) when nothing is asked, something contradicts, or
            no shape can be built, in one line with what to try.

    Cost: some 30 ms the first time; loads neither NumPy nor SymPy.

    >>> answer = recommend("3B", pipeline=4)
    >>> answer.shape.architecture.layers % 4, answer.floor.layers, answer.floor.meaning
    (0, 8, 'floor')
    >>> recommend(task="hops", hops=16).tasks[0].headline
    '6 layers suffice for 16 hops: ceil(log2 k) + 2'
    """
    have, demanded = _read(budget, constraints, options)
    if have is not None or config is not None:
        _check_year(known_by)
    typed = {name: None if value is None else str(value) for name, value in (
        ("diameter", diameter), ("vertices", vertices), ("hops", hops), ("length", length))}
    if task is None:
        refuse_options(typed)
    tasks = () if task is None else (answer_task(task, **typed),)
    if isinstance(config, str | Path):
        from .huggingface import read_config

        config = read_config(config)
    if config is not None:
        answer = _judged(config, have, demanded, known_by)
    elif have is not None:
        answer = _sized(have, demanded, known_by)
    elif tasks:
        return Answer(tasks[0].question, tasks=tasks)
    else:
        raise UsageError("nothing to answer: give a size (3B, 350M, 7e9), FLOPs, GPUs and hours, a "
                         "config.json or a task; try depthlaw depth 3B, or --task hops --hops 16")
    return replace(answer, tasks=tasks, together=_together(answer, tasks)) if tasks else answer


# --- what was asked -------------------------------------------------------------------------------

_READERS: dict[str, Callable[[str], Any]] = {
    "total": parse_budget, "nonembedding": parse_budget, "active": parse_budget,
    "flops": parse_flops, "tokens": parse_tokens, "hours": parse_hours, "memory": parse_bytes,
    "kv_bytes": parse_bytes, "bandwidth": parse_bandwidth, "milliseconds": parse_milliseconds,
    "utilisation": parse_share}
_OF_BUDGET, _OF_CONSTRAINTS = ({field.name for field in fields(kind)}
                               for kind in (Budget, Constraints))


def _read(budget: str | float | Budget | None, constraints: Constraints | None,
          options: dict[str, Any]) -> tuple[Budget | None, Constraints]:
    for name in options:
        if name not in _OF_BUDGET | _OF_CONSTRAINTS:
            raise UsageError(f"no option {quoted(name)}; accepted are the fields of Budget and "
                             "Constraints, such as gpus=64 or pipeline=4; try tokens=3e11")
    spent = {name: _READERS[name](value) if isinstance(value, str) and name in _READERS else value
             for name, value in options.items() if name in _OF_BUDGET and value is not None}
    demands = {name: value for name, value in options.items() if name in _OF_CONSTRAINTS}
    if isinstance(budget, str | int | float):
        budget = Budget(total=float(
            parse_budget(budget) if isinstance(budget, str) else budget))
    have = replace(budget or Budget(), **spent) if budget or spent else None
    return have, replace(constraints or Constraints(), **demands)


def _check_year(known_by: int | None) -> None:
    oldest = min(r.year for r in rules() if r.recommends)
    if known_by is not None and known_by < oldest:
        raise UsageError(f"no listed rule named a depth by {known_by}: the oldest is of {oldest}; "
                         f"try --known-by {oldest}")


def _key(c: Constraints) -> Key:
    return Key(c.parametrisation, c.norm, c.residual)


class _Layers(NamedTuple):
    """What laws and grids see of a net: N = c L d^2, of what a token uses in the layers."""

    parameters: float
    per_layer: float  # c
    aspect: float  # d / L

    @property
    def depth(self) -> float:
        """L, from N and d / L."""
        return math.cbrt(self.parameters / self.per_layer / self.aspect**2)


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
    def key(self) -> Key:
        return _key(self.constraints)

    def interval(self, a: Architecture) -> Interval | None:
        return depths_within(a, self.constraints, self.known_by)

    def at(self, layers: int, a: Architecture, of: Measure) -> Architecture | None:
        """The shape of a depth and the size of a net, under the constraints or like the
        configuration."""
        if self.model is not None:
            return resized(self.model, layers, of) if layers > 0 else None
        # The defaults are those of the budget, whatever is equal.
        counted = self.resolved.target.of
        t = template(Target(measure(a, counted), counted), self.constraints)
        shape = nearest(Target(measure(a, of), of), t, layers)
        return shape and shape.architecture

    def candidate(self, a: Architecture, why: str) -> Candidate:
        return Candidate(a, count(a), why, self.milliseconds(a))

    def milliseconds(self, a: Architecture) -> tuple[float, float, float] | None:
        """Per token, by the measured points where they speak of the width."""
        fit = self.resolved.budget.latency
        return fit.ms(a.layers, a.width) if fit and fit.covers(a.width) else None

    def change(self, base: Architecture, other: Architecture) -> tuple[
            tuple[float, float] | None, str]:
        """What is known of the change in loss from one net to another of equal size, and whence.
        Without embeddings, as the grids count; nothing is known where these sizes differ."""
        if abs(_larger(base, other)) > _EQUAL:
            return None, "sizes differ: not known"
        return self.traded(base, other)

    def traded(self, base: Architecture, other: Architecture) -> tuple[
            tuple[float, float] | None, str]:
        """The same of their d / L alone, whatever their sizes."""
        start, end = _layers(base), _layers(other)
        found = price(start.parameters, start.aspect, end.aspect, self.key,
                      per_layer=start.per_layer, known_by=self.known_by)
        if found is None:
            return None, "no published grid covers this"
        outside = ", EXTRAPOLATED from the nearest sizes" if found.extrapolated else ""
        return (found.low, found.high), f"{' and '.join(found.sources)}{outside}"


    def said(self, base: Architecture, other: Architecture) -> str:
        """The change in loss in words; where sizes differ without embeddings, that of d / L."""
        change, source = self.traded(base, other)
        if change is None:
            return f"loss: {source}"
        if abs(more := _larger(base, other)) <= _EQUAL:
            return f"loss {percents(change)} ({source})"
        return (f"loss {percents(change)} by d / L alone ({source}), with {abs(more):.0%} "
                f"{'more' if more > 0 else 'fewer'} parameters without embeddings")


def _larger(base: Architecture, other: Architecture) -> float:
    """How much larger another net is without embeddings, 0.01 for 1 %: in all that is stored, or
    in what a token uses, whichever differs more."""
    stored = count(other).nonembedding / count(base).nonembedding
    used = _layers(other).parameters / _layers(base).parameters
    return max(stored - 1, used - 1, key=abs)


def ladder_for(constraints: Constraints, of: Measure, known_by: int | None = None,
           allowed: Callable[[Architecture], bool] | None = None) -> Ladder:
    """The shapes that `recommend` chooses from: on the rule that the evidence fixes, or, where
    latency matters, at the shallow end of what the evidence supports.

    >>> rung = ladder_for(Constraints(), "total").at(3e9)
    >>> rung.architecture == recommend("3B").shape.architecture
    True
    """
    key, chosen = _key(constraints), best_rule(_key(constraints), known_by)

    def shallowest(parameters: float, per_layer: float) -> float:
        return _fast(parameters, per_layer, key, known_by)[0]

    depth = shallowest if constraints.latency_matters else chosen.depth
    def inside(a: Architecture) -> bool:
        found = depths_within(a, constraints, known_by)
        return found is not None and found.low <= a.layers <= found.high

    return Ladder(constraints, depth, of, allowed or (lambda architecture: True),
                  constraints.latency_matters, inside)


def _fast(parameters: float, per_layer: float, key: Key, known_by: int | None) -> tuple[
        float, str]:
    """The depth where latency matters, and what bounds it: the shallowest that is within 1 % of
    the best loss, not below all listed models of about this size, and that the fewest sources
    speak against; at most that of the rule."""
    usual = best_rule(key, known_by).depth(parameters, per_layer)
    # Sizes in steps of 6 %: a search asks for many near each other.
    size = round(_PER_E * math.log(parameters)), round(_PER_E * math.log(per_layer))
    layers, bound = _bounded(*size, key, known_by)
    return (layers, bound) if layers < usual else (usual, "the depth of the rule")


@cache
def _bounded(size: int, one: int, key: Key, known_by: int | None) -> tuple[int, str]:
    parameters, per_layer = math.exp(size / _PER_E), math.exp(one / _PER_E)
    usual = max(1, math.floor(best_rule(key, known_by).depth(parameters, per_layer)))
    within = interval(parameters, per_layer, key, known_by=known_by)
    if within is None:
        return usual, "the depth of the rule, as no grid says how shallow is too shallow"
    low, bound = within.low, "the shallowest depth within 1 % of the best loss"
    built = min((m.layers for m in models_near(parameters, _NEAR, known_by)), default=0)
    if built > low:
        low, bound = built, f"no listed model of about this size has fewer than {built} layers"

    def against(layers: int) -> set[str]:
        return {said.split(":")[0] for said in contradicting(
            parameters, layers, per_layer, known_by)}

    # The deepest depth that may be taken is the rule's.
    said = {layers: against(layers) for layers in range(low, max(low, usual) + 1)}
    best = min(said, key=lambda layers: (len(said[layers]), layers))
    if best > low:
        names = " and ".join(sorted(said[low] - said[best]))
        bound = f"shallower nets are in the worse half of comparisons by {names}"
    return best, bound


def depths_within(a: Architecture, constraints: Constraints,
                  known_by: int | None = None) -> Interval | None:
    """The depths that grids hold within 1 % of the best loss, for nets of the size of one.

    >>> found = depths_within(Architecture(32, 4096, 32, 11008, 32000), Constraints())
    >>> found.low < 32 < found.high
    True
    """
    seen = _layers(a)
    return interval(seen.parameters, seen.per_layer, _key(constraints), known_by=known_by)


def _sized(budget: Budget, c: Constraints, known_by: int | None) -> Answer:
    resolved = resolve(budget, c)
    target = resolved.target
    limited = any(x is not None for x in (budget.memory, budget.milliseconds, budget.kv_bytes))
    rung = ladder_for(c, target.of, known_by, (
        lambda a: resolved.excludes(a) is None) if limited else None).at(target.value)
    case = _Case(resolved, c, known_by, best_rule(_key(c), known_by))
    if rung is None:
        raise UsageError(_none_near(case))
    why = _why(case, rung.architecture)
    if not rung.on_rule:
        t = template(target, c)
        why = (f"the nearest to the rule inside the range: widths come in steps of "
               f"{width_steps(t)}, and none near the rule's depth can be built")
    return _filled(case, rung.architecture, why, _question(budget, resolved))


def _none_near(case: _Case) -> str:
    """Why nothing can be recommended: which shape is nearest, and what keeps others away."""
    target, c = case.resolved.target, case.constraints
    # Says itself why there is no shape at all.
    found = [shape.architecture for shape in shapes(target, c, FARTHEST)]
    asked = f"{size(target.value)} parameters"
    for a in found:
        if said := case.resolved.excludes(a):
            return (f"no shape near {asked} and near the recommended depth can be built: it "
                    f"{said}; relax a constraint, or fix the depth by layers")
    seen = [_layers(a) for a in found]
    _, place = min((abs(math.log(a.layers / case.chosen.depth(s.parameters, s.per_layer))), i)
                 for i, (a, s) in enumerate(zip(found, seen, strict=True)))
    near = found[place]
    t = template(target, c)
    return (f"no shape with {asked} has a depth that the evidence supports: widths come in steps "
            f"of {width_steps(t)}, and the nearest has {plural(near.layers, 'layer')} of width "
            f"{near.width:,}; try {narrower(t)}or demand {near.layers} layers")


def _why(case: _Case, a: Architecture) -> str:
    c = case.constraints
    if c.layers is not None:
        return f"{c.layers} layers were demanded"
    if c.width is not None:
        return f"the depth that spends the size at the demanded width {c.width:,}"
    if c.latency_matters:
        seen = _layers(a)
        bound = _fast(seen.parameters, seen.per_layer, case.key, case.known_by)[1]
        return f"as shallow as the evidence supports, as latency matters: {bound}"
    return f"the nearest depth to {case.chosen.name} that can be built"


def _filled(case: _Case, a: Architecture, why: str, question: str) -> Answer:
    """The answer around a recommended shape."""
    c, resolved, within = case.constraints, case.resolved, case.interval(a)
    said = tuple(sorted(_laws(a, case.known_by), key=lambda law: law.depth))
    built, costed = _built(a, case.known_by), case.model or a
    note = serving_note(resolved.budget, c, costed)
    return Answer(
        question, case.candidate(a, why), case.chosen.key, _rule_why(case, a, False), within,
        tuple(_runners_up(case, a, within)), tuple(_neighbours(case, a)),
        next((law for law in said if law.key == "threshold"), None), said,
        built, warnings=tuple(_warnings(case, a)),
        doubts=tuple(_doubts(case, a, within, said, built)), initialisation=tuple(
            map(str, advice(a.layers, case.key, encoder_layers=a.encoder_layers))),
        tokens=resolved.tokens, training_flops=resolved.flops, hours=resolved.hours,
        flops=flops(costed, min(costed.context, TRAINING_CONTEXT)),
        memory=_memory(costed, resolved.budget.bytes_per_weight),
        stages=stages(a.own_layers, c.pipeline) if c.pipeline > 1 else (),
        limits=(*resolved.notes, *([note] if note else ())), rule_brief=_rule_why(case, a, True))


def _memory(a: Architecture, bytes_per_weight: float) -> Memory:
    """The memory of a net; its cache is in 16 bits, as limits of memory are kept."""
    precision = {2.0: "bf16", 4.0: "fp32"}.get(bytes_per_weight, "int8")
    found = memory(a, precision, cache="bf16")
    return replace(found, weights=math.ceil(bytes_per_weight * count(a).total))


def _rule_why(case: _Case, a: Architecture, brief: bool) -> str:
    chosen, seen = case.chosen, _layers(a)
    name = chosen.name
    if not brief and chosen.formula not in name:
        name += f" ({chosen.formula})"
    outside = ", EXTRAPOLATED" if chosen.extrapolates(seen.parameters, seen.per_layer) else ""
    return f"{name}{outside}: {reason(case.key, case.known_by, brief)}"


def _runners_up(case: _Case, a: Architecture, within: Interval | None) -> Iterator[Candidate]:
    """Other shapes of the size, each with what it trades; none twice, and not the recommended."""
    seen = {(a.layers, a.width)}
    for other, why in _others(case, a, within):
        if other is not None and (other.layers, other.width) not in seen:
            seen.add((other.layers, other.width))
            yield case.candidate(other, f"{why}; {case.said(a, other)}")


def _others(case: _Case, a: Architecture,
            within: Interval | None) -> Iterator[tuple[Architecture | None, str]]:
    c, target = case.constraints, case.resolved.target
    of = target.of
    if c.layers is not None:
        return
    if case.model is not None and a.own_layers % c.pipeline:
        step = c.loops * c.pipeline
        for layers in (a.layers // step * step, (a.layers // step + 1) * step):
            if layers > c.dense_layers:
                yield (case.at(layers, a, of),
                       f"its layers divide evenly among {c.pipeline} pipeline stages")
    if within is not None and (inside := legal_depths(c, within.low, within.high)):
        yield case.at(inside[0], a, of), "the shallowest within 1 %: least latency"
        yield case.at(inside[-1], a, of), "the deepest within 1 %: the narrowest"
    seen = _layers(a)
    for key, why in (("nanochat", "d = 64 L, what nanochat builds"),
                     (case.chosen.key, f"the depth of {case.chosen.name}")):
        ruled = rule(key) if key != case.chosen.key else case.chosen
        layers = _legal(case, ruled.depth(seen.parameters, seen.per_layer))
        yield case.at(layers, a, of), why
    if case.model is not None or c.width is not None:
        return
    wide = _common_width(a.width)
    if wide != a.width and wide % (a.head_size * c.tensor) == 0:
        size = measure(a, of)
        rung = Ladder(replace(c, width=wide), case.chosen.depth, of).at(size)
        if rung and abs(math.log(rung.size / size)) < _WORTH_SAYING:
            yield rung.architecture, f"a width that many nets have, {wide:,}"
    if c.pipeline == 1 and a.own_layers % 4:
        layers = max(1, round(a.own_layers / 4)) * 4 * c.loops
        yield case.at(layers, a, of), "its layers divide among 2 or 4 pipeline stages"


def _common_width(width: int) -> int:
    """The nearest multiple of the power of two that is at most a quarter of the width."""
    step = 1 << max(6, width.bit_length() - 3)
    return max(step, round(width / step) * step)


def _legal(case: _Case, depth: float) -> int:
    """The legal depth nearest by the ratio."""
    c = case.constraints
    depths = legal_depths(c, 1, 2 * math.ceil(depth) + 2 * c.loops * c.pipeline + c.dense_layers)
    return min(depths, key=lambda layers: abs(math.log(layers / depth)))


def _neighbours(case: _Case, a: Architecture) -> Iterator[Neighbour]:
    free = replace(case.constraints, layers=None)
    depths = legal_depths(free, 1, 2 * a.layers + free.loops * free.pipeline)
    around = [*[n for n in depths if n < a.layers][-1:], a.layers,
              *[n for n in depths if n > a.layers][:1]]
    parameters = "total" if case.resolved.target.of == "flops" else case.resolved.target.of
    bases: tuple[tuple[Literal["parameters", "FLOPs"], Measure], ...] = (
        ("parameters", parameters), ("FLOPs", "flops"))
    for equal, of in bases:
        for layers in around:
            if layers == a.layers:
                yield Neighbour(layers, equal, a, count(a), (0.0, 0.0), "the shape itself",
                                (1.0, 1.0), case.milliseconds(a))
            elif (other := case.at(layers, a, of)) is not None:
                change, source = case.change(a, other)
                yield Neighbour(layers, equal, other, count(other), change, source,
                                change and _speedup(case, a, other, change),
                                case.milliseconds(other))


def _speedup(case: _Case, a: Architecture, other: Architecture,
             change: tuple[float, float]) -> tuple[float, float] | None:
    """What another shape is worth in compute: ((L_base - L_inf) / (L_var - L_inf))^(1 / alpha)
    times the ratio of throughputs, by both pairs that Marin used; None where no grid of this size
    gives a loss. The throughput is taken as inverse to the FLOPs of a token."""
    seen = _layers(a)
    near, outside = losses_near(seen.parameters / seen.per_layer, case.known_by)
    losses = [] if outside else [
        grid.best.cost * (1 + regret) for grid in near
        if grid.measure == "loss" and (regret := grid.regret_at(seen.aspect)) is not None]
    faster = measure(a, "flops") / measure(other, "flops")
    found = [((base - limit) / (base * (1 + moved) - limit)) ** (1 / alpha) * faster
             for base in losses for moved in change for limit, alpha in _MARIN
             if min(base, base * (1 + moved)) > limit]
    return (min(found), max(found)) if found else None


def _laws(a: Architecture, known_by: int | None) -> Iterator[LawNumber]:
    seen = _layers(a)
    for r in rules(known_by):
        depth = r.depth(seen.parameters, seen.per_layer)
        if depth < 1:
            continue
        layers = math.floor(depth) if r.meaning == "maximum" else round(depth)
        if r.key == "threshold":
            layers = laws.threshold_layers(round(12 * seen.parameters / seen.per_layer))
        yield LawNumber(
            r.key, r.name, layers, depth,
            round(math.sqrt(seen.parameters / seen.per_layer / layers)), r.meaning, r.formula,
            r.source, r.wording, r.extrapolates(seen.parameters, seen.per_layer), r.domain,
            r.standard_error(seen.parameters, seen.per_layer), r.claim, verdict(r.claim),
            r.applies.parametrisation, r.applies.norm, r.applies.residual, r.year, r.remark)


def _built(a: Architecture, known_by: int | None) -> Built | None:
    size = _layers(a).parameters
    near = models_near(size, _NEAR, known_by)
    if not near:
        return None
    # One of each shape, the nearest in size: copies of a recipe are no further evidence.
    by_distance = sorted(near, key=lambda m: abs(math.log(m.parameters / size)))
    recipes: dict[tuple[int, int], Model] = {}
    for m in by_distance:
        recipes.setdefault((m.layers, m.width), m)
    depths = sorted(m.layers for m in recipes.values())
    known = Counter(_WORDINGS[m.status] for m in near).most_common()
    return Built(
        depths[0], depths[(len(depths) - 1) // 2], depths[-1], len(near), len(recipes), _NEAR,
        tuple((m.name, m.layers, m.width) for m in [*recipes.values()][:_NAMED]),
        ", ".join(f"{number} {wording}" for wording, number in known))


def _warnings(case: _Case, a: Architecture) -> Iterator[str]:
    seen, target = _layers(a), case.resolved.target
    off = measure(a, target.of) / target.value - 1
    if abs(off) > _WORTH_SAYING and case.model is None:
        yield f"the nearest shape that can be built is {abs(off):.0%} " + (
            "larger" if off > 0 else "smaller") + " than the budget"
    if e := a.experts:
        yield (f"a mixture of experts: laws and grids are of dense nets, and are read at the "
               f"active parameters of its layers ({e.active + e.shared} of {e.count + e.shared} "
               "experts); memory follows from all of them")
    elif abs(seen.per_layer / 12 - 1) > _FAR_FROM_12:
        yield (f"a layer has {seen.per_layer:.3g} d^2 weights, not the laws' 12 d^2: "
               "read at equal L d^2")
    if a.own_layers < a.layers:
        yield (f"{plural(a.own_layers, 'layer')} with weights of their own, passed "
               f"{a.layers // a.own_layers} times: no grid compares depths of looped nets; "
               "laws are read at the layers passed")
    if a.kind != "decoder":
        yield f"the grids of losses are of decoders, this is an {a.kind}"
    yield from _untrainable(case, case.model or a)
    yield from a.remarks


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
        yield (f"{b.gpus:,} x {device.name} have {binary(b.gpus * device.memory)}, and weights, "
               f"gradients and optimiser alone take {binary(state)} even if fully sharded (AdamW "
               f"in mixed precision, {state / count(a).total:.0f} bytes a parameter): more GPUs, "
               "or a smaller net")


def _doubts(case: _Case, a: Architecture, within: Interval | None, said: tuple[LawNumber, ...],
            built: Built | None) -> Iterator[str]:
    outside = ""
    if built is not None and not built.low <= a.layers <= built.high:
        which, end = ("deep", built.high) if a.layers > built.high else ("shallow", built.low)
        outside = (f"no listed model of about this size is so {which}: the {which}est has "
                   f"{plural(end, 'layer')}")
    if within is None:
        yield "no published grid of losses says anything about this size"
    elif within.extrapolated:
        yield ("no grid has nets of this size: depth and interval are extrapolated"
               f"{'; ' + outside if outside else ''}")
    seen = _layers(a)
    if against := contradicting(seen.parameters, a.layers, seen.per_layer, case.known_by):
        yield f"some comparisons of this size point elsewhere: {'; '.join(against)}"
    if outside and not (within and within.extrapolated):
        yield outside
    choices = [law for law in said if law.meaning in ("optimum", "default")]
    if choices:
        least, most = choices[0], choices[-1]
        yield (f"published laws disagree: from {plural(least.layers, 'layer')} ({least.name}, "
               f"{least.meaning}) to {most.layers} ({most.name}, {most.meaning})")
    if case.key.parametrisation != "standard" or case.key.residual != "plain":
        yield "what is known of this parametrisation is one paper's optimum, not a grid"
    yield ("the grids compare losses of one run a shape; downstream tasks and reasoning may want "
           "another depth")


# --- a configuration ------------------------------------------------------------------------------

_FOR_CONFIGS = ("pipeline", "tensor", "context", "parametrisation", "norm", "residual",
                "latency_matters")


def _judged(a: Architecture, have: Budget | None, c: Constraints, known_by: int | None) -> Answer:
    have = have or Budget()
    for name in ("total", "nonembedding", "active"):
        if getattr(have, name) is not None:
            raise UsageError("a configuration and a number of parameters; give one of them: the "
                             "configuration says how many it has")
    for field in fields(Constraints):
        if getattr(c, field.name) != field.default and field.name not in _FOR_CONFIGS:
            raise UsageError(f"a configuration and a demand on its shape ({field.name}); give one "
                             f"of them; accepted beside a configuration are "
                             f"{', '.join(_FOR_CONFIGS)}")
    if c.context != Constraints().context:
        a = a.with_(context=c.context)
    counts = count(a)
    size = replace(have, active=float(counts.active))
    resolved = resolve(replace(size, memory=None, milliseconds=None, kv_bytes=None), Constraints())
    resolved = replace(resolved, target=Target(float(counts.total)), budget=size)
    dense = a.experts.dense_layers if a.experts else 0
    c = replace(c, loops=a.layers // a.own_layers, dense_layers=dense)
    case = _Case(resolved, c, known_by, best_rule(_key(c), known_by), a)
    within, seen = case.interval(a), _layers(a)
    inside = within is not None and within.low <= a.layers <= within.high
    wanted = case.chosen.depth(seen.parameters, seen.per_layer)
    if c.latency_matters and within is not None:
        wanted = _fast(seen.parameters, seen.per_layer, case.key, known_by)[0]
    better = a
    # Stages of unequal length are legal; those of equal length are among the other shapes.
    if not inside or c.latency_matters or case.resolved.excludes(a) or a.own_layers < c.pipeline:
        better = _instead(case, a, a.layers if inside and not c.latency_matters else wanted)
    why = ("inside the interval: at most 1 % from the best loss by published grids"
           if better is a else "the nearest legal depth inside the interval"
           if inside and not c.latency_matters else _why(case, better))
    filled = _filled(case, better, why, _about(a, counts))
    return replace(filled, given=case.candidate(a, "the configuration"), interval=within,
                   verdicts=tuple(_verdicts(case, a, within, better, filled)))


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


def _verdicts(case: _Case, a: Architecture, within: Interval | None, better: Architecture,
              answer: Answer) -> Iterator[str]:
    """On a configuration, most important first."""
    deep = plural(a.layers, "layer")
    if within is None:
        yield f"no published grid says which depths are good at this size; it has {deep}"
    else:
        inside = within.low <= a.layers <= within.high
        far = "" if inside else (", too shallow" if a.layers < within.low else ", too deep")
        yield (f"{deep}: {'inside' if inside else 'outside'} the {within.low} to {within.high} "
               f"that {' and '.join(within.sources)} put{'' if len(within.sources) > 1 else 's'} "
               f"within 1 % of the best loss{far}")
    if excluded := case.resolved.excludes(a):
        yield f"it {excluded}"
    seen = _layers(a)
    ruled = _legal(case, case.chosen.depth(seen.parameters, seen.per_layer))
    goal = better if better.layers != a.layers else (
        a if ruled == a.layers else resized(a, ruled, "total"))
    if goal is a:
        yield f"it has the depth of {case.chosen.name}"
    else:
        yield (f"moving to {goal.layers} layers of width {goal.width:,} at equal parameters: "
               f"{case.said(a, goal)}")
    c = case.constraints
    if c.pipeline > a.own_layers:
        yield f"{deep} are too few for {c.pipeline} pipeline stages"
    elif a.own_layers % c.pipeline:
        below = a.own_layers // c.pipeline * c.pipeline
        split = sorted(Counter(stages(a.own_layers, c.pipeline)).items(), reverse=True)
        yield (f"{deep} do not divide among {c.pipeline} pipeline stages: "
               + " and ".join(f"{times} with {n}" for n, times in split)
               + f", at most {a.own_layers / c.pipeline / split[0][0]:.0%} of the speed of even "
               f"ones; {below} or {below + c.pipeline} would")
    if a.heads % c.tensor:
        yield f"{a.heads} heads do not divide among {c.tensor} devices"
    if answer.built:
        names = ", ".join(f"{name} ({n} x {d:,})" for name, n, d in answer.built.nearest)
        which = ("dense models of about its active size" if a.experts
                 else "real models of this size")
        yield (f"{which} have {answer.built.low} to {answer.built.high} layers; "
               f"nearest in size: {names}")
    if answer.floor:
        bound = "far below it" if a.layers > 2 * answer.floor.layers else (
            "below it" if a.layers >= answer.floor.layers else "which it does not reach")
        yield f"the floor {answer.floor.name} asks for {answer.floor.layers}, {bound}"


# --- words ----------------------------------------------------------------------------------------


def _question(b: Budget, resolved: Resolved) -> str:
    """What was asked, as it was understood."""
    target, parts = resolved.target, []
    names = {"total": "parameters", "nonembedding": "parameters without embeddings",
             "active": "active parameters", "flops": "FLOPs per token"}
    parts.append(f"{size(target.value)} {names[target.of]}")
    if b.gpu is not None:
        time = "" if b.hours is None else f" for {b.hours:g} hours"
        parts.append(f"{b.gpus:,} x {b.gpu}{time}")
    for value, what in ((b.flops, "training FLOPs"), (b.tokens, "training tokens")):
        if value is not None:
            parts.append(f"{value:.3g} {what}" if "F" in what else f"{size(value)} {what}")
    if b.milliseconds is not None:
        parts.append(f"at most {b.milliseconds:.3g} ms a token")
    for value, what in ((b.memory, "of memory"), (b.kv_bytes, "of KV cache")):
        if value is not None:
            parts.append(f"at most {binary(value)} {what}")
    return f"How deep should a net be: {', '.join(parts)}?"


def _about(a: Architecture, counts: Count) -> str:
    name = a.name or a.family or "the given net"
    return (f"Is {name} sane: {plural(a.layers, 'layer')} of width {a.width:,}, "
            f"{size(counts.total)} parameters?")


def _together(answer: Answer, tasks: tuple[TaskAnswer, ...]) -> str:
    """The depths that meet size and task, for each construction."""
    assert answer.shape is not None
    deep, parts = answer.shape.architecture.layers, []
    for task in tasks:
        for place, number in enumerate(task.numbers):
            if number.meaning in ("exact", "suffices"):
                label = f"{task.labels[place]} " if task.labels else ""
                parts.append(f"{label}{plural(max(deep, number.layers), 'layer')}")
    return (f"Depth that meets both: {', '.join(parts)} (the greater of {deep} and what the task "
            "asks for: constructions of other nets, so a plan, not a theorem)")
