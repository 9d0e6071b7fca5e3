"""All sentences of the advisor, made last: from a decision to an answer, its text, its citation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from . import budgets
from .answer import Answer, Built, Candidate, Neighbour, Reason
from .base.quantities import binary, plural, size
from .budgets import Resolved, idle_gpu, serving_note
from .claim_verdicts import about, title, verdict
from .counting import count, flops, memory, per_layer
from .decide import (
    NEAR,
    WORTH_SAYING,
    Decision,
    depth_for,
    depths_within,
    ladder_for,
    middle_depth,
    recipes,
)
from .grids import NetKind
from .hardware import gpu
from .initialisation_advice import Advice, advice
from .latency import REACH
from .layout import Row, columns, label_rows, listed, wrapped
from .question import BY_NAME, flag, typed
from .rule_scores import UNTOLD, Interval, contradicting, reason as rule_evidence
from .rules import rules
from .shapes import (
    DEFAULTS,
    NAMES,
    TRAINING_CONTEXT,
    measure,
    size_class,
    stages,
    template,
    width_steps,
)
from .trades import EQUAL, Range, Trade, larger, layers_of, negligible, no_higher, preferred, worth

if TYPE_CHECKING:
    from .answer import LawNumber
    from .architecture import Architecture
    from .counting import Count
    from .task_depths import TaskAnswer, TaskNumber

LEGEND = (
    "printed: read in the source; reported: read elsewhere; recalled: from memory, check it; "
    "derived: computed here; EXTRAPOLATED: outside what was measured. Memory is in powers of 1024 "
    "(MiB, GiB), rates in powers of 1000 (GB/s). Verdicts are those of `depthlaw show CLAIM`."
)
# How many of the nearest published models are named.
_NAMED = 3
# How the shapes of models.csv are known.
_WORDINGS = {
    "seen": "printed",
    "seen (secondary)": "reported",
    "mixed": "recalled",
    "recalled": "recalled",
}
# A grid that loses more by the depth of the rule is worth a doubt.
_AT_STAKE = 0.005
# So far from the laws' 12 d^2 weights of a layer is a warning where it was demanded, and no
# rounding; what it is, `--why` always says.
_FAR_FROM_12 = 0.25
# What a demand is called where it decided; others by their option.
_DEMANDS = {
    "layers": "the demanded {0:,} layer{1}",
    "width": "the demanded width {0:,}",
    "pipeline": "{0:,} pipeline stage{1}",
    "vocabulary": "a vocabulary of {0:,}",
    "kind": "--{0}",
}
_LIMITS = {"latency": "latency", "memory": "memory", "kv-cache": "the KV cache"}
# Why another shape is shown.
_ALTERNATIVES = {
    "even-stages": "its layers divide evenly among {stages} pipeline stages",
    "shallowest": "the shallowest within 1 %: least latency",
    "deepest": "the deepest within 1 %: the narrowest",
    "nanochat": "d = 64 L, what nanochat builds",
    "rule": "the depth of {rule}",
    "models": "the middle depth of published models of about its size",
    "usual-width": "a width that many nets have, {width:,}",
    "divisible": "its layers divide among 2 or 4 pipeline stages",
}
# What bounds the depth where latency matters.
_BOUNDS = {
    "rule": "the depth of the rule",
    "no-grid": "the depth of the rule, as no grid says how shallow is too shallow",
    "interval": "about the shallowest depth within 1 % of the best loss",
    "models": "no listed model of about this size has fewer than {layers} layers",
    "comparisons": "shallower nets are in the worse half of comparisons by {sources}",
}
# What a law may be for, where that is not the usual net.
_SPECIAL = {
    "mup": "muP",
    "completep": "CompleteP",
    "post": "post-norm",
    "lns": "scaled norms",
    "attnres": "attention residuals",
}


# What a sentence is about, and the sentence.
Coded = tuple[str, str]


# --- from a decision to an answer -----------------------------------------------------------------


def answer_of(d: Decision, tasks: tuple[TaskAnswer, ...] = ()) -> Answer:
    """A decision as an answer: its data, and its sentences."""
    case, a, resolved = d.case, d.net, d.case.resolved
    c, costed = case.constraints, d.net
    note = serving_note(resolved.budget, c, costed)
    built = _built(d)
    given = case.model is not None
    warnings, doubts = tuple(_warnings(d)), tuple(_doubts(d, built))
    answer = Answer(
        _asked_of(a) if given else _question(resolved),
        _candidate(d, a, d.reason, "the configuration" if given else _why(d, d.reason)),
        case.chosen.key,
        _rule_why(d),
        d.within,
        tuple(_alternatives(d)),
        tuple(_neighbours(d)),
        next((law for law in d.laws if law.key == "threshold"), None),
        d.laws,
        built,
        warnings=_texts(warnings),
        doubts=_texts(doubts),
        initialisation=tuple(map(str, _advice(d))),
        tokens=resolved.tokens,
        training_flops=resolved.flops,
        hours=resolved.hours,
        flops=flops(costed, min(costed.context, TRAINING_CONTEXT)),
        memory=memory(costed, resolved.budget.bytes_per_weight),
        stages=stages(a.own_layers, c.pipeline) if 1 < c.pipeline <= a.own_layers else (),
        limits=(*resolved.notes, *([note] if note else ())),
        tasks=tasks,
        rule_brief=_rule_brief(d),
        together=_together(d, tasks),
        rule_layers=d.leaning and d.leaning.layers,
        warning_codes=_codes(warnings),
        doubt_codes=_codes(doubts),
    )
    if not given:
        return answer
    instead = None
    if d.instead is not None and d.instead_reason is not None:
        r = d.instead_reason
        cost = f"; against the given net: {_cost(r.cost)}" if r.cost else ""
        instead = _candidate(d, d.instead, r, _why(d, replace(r, against=None, cost=None)) + cost)
    verdicts = tuple(_verdicts(d, built))
    return replace(
        answer,
        given=answer.shape,
        instead=instead,
        verdicts=_texts(verdicts),
        verdict_codes=_codes(verdicts),
    )


def _codes(said: tuple[Coded, ...]) -> tuple[str, ...]:
    return tuple(code for code, _ in said)


def _texts(said: tuple[Coded, ...]) -> tuple[str, ...]:
    return tuple(text for _, text in said)


def _candidate(d: Decision, a: Architecture, reason: Reason, why: str) -> Candidate:
    return Candidate(a, count(a), why, d.case.milliseconds(a), reason)


def _why(d: Decision, r: Reason) -> str:
    """Why a net has its depth, in one sentence."""
    c, target = d.case.constraints, d.case.resolved.target
    if r.code == "rule" and d.case.model is not None:
        return f"the legal depth nearest to that of {d.case.chosen.name}"
    if r.code == "rule":
        return f"{_by_rule_why(d)}{_also(r)}"
    if r.code == "rest-of-size" and r.against is not None:
        layers, width = r.against
        return (
            f"the depth that the evidence chooses for the {size(count(d.net).nonembedding)} "
            f"parameters that {_demand_names(d, r.demands)} leaves to the layers; otherwise "
            f"{layers:,} x {width:,}{_also(r)}"
        )
    if r.code == "coarse-widths":
        why = (
            f"the nearest to the rule inside the range: widths come in steps of "
            f"{width_steps(template(target, c))}, and none near the rule's depth has the size with "
            "the usual MLP"
        )
    elif r.code == "nearest-legal-depth":
        return "the nearest legal depth that keeps the demands"
    elif r.bound is not None:
        bound = _BOUNDS[r.bound.code].format(layers=r.bound.layers, sources=listed(r.bound.sources))
        why = f"as shallow as the evidence supports, as latency matters: {bound}"
    elif r.kind == "demand" and r.against is None:
        why = (
            f"{c.layers} layers were demanded"
            if c.layers is not None
            else f"the depth that spends the size at the demanded width {c.width:,}"
            if c.width is not None
            else f"{_demand_names(d, r.demands)} leave{'s' * (len(r.demands) < 2)} only one depth"
        )
    else:
        if r.kind == "limit":
            setting = " and ".join(f"the limit of {_LIMITS[limit]}" for limit in r.demands)
        elif r.kind == "step":
            setting = f"widths in steps of {width_steps(template(target, c))}"
        else:
            setting = _demand_names(d, r.demands)
        why = f"set by {setting}"
    return f"{why}{_against(r)}{_also(r)}"


def _demand_names(d: Decision, demands: tuple[str, ...]) -> str:
    """Demands as they are called."""
    names = []
    for name in demands:
        value = getattr(d.case.constraints, name)
        s = "" if value == 1 else "s"
        option = typed(name, value) + ("" if isinstance(value, bool) else f" {value}")
        names.append(_DEMANDS.get(name, option).format(value, s))
    return listed(names)


def _against(r: Reason) -> str:
    """What would be chosen otherwise, and what the net costs against that."""
    if r.against is None or r.cost is None:
        return ""
    names = [
        *(["it"] if r.kind == "limit" else []),
        *(flag(BY_NAME[name].name) for name in r.dropped),
    ]
    without = "otherwise" if len(names) < 2 else f"without {listed(names)}:"
    cost = _cost(r.cost)
    if r.cost.loss is not None and no_higher(r.cost.loss) and r.cost.equal:
        cost += "; the default keeps to the depth of the rule all the same"
    layers, width = r.against
    return f"; {without} {layers:,} x {width:,}; cost: {cost}"


def _also(r: Reason) -> str:
    """The other demands without one of which the depth would be another."""
    return "".join(
        f"; without {other.option}: {other.layers:,} x {other.width:,}" for other in r.also
    )


def _by_rule_why(d: Decision) -> str:
    """Why a net has the depth of the rule."""
    if d.leaning:
        return _leaning(d, d.case.chosen.name)
    return (
        f"the rung nearest in size on the ladder of shapes for {d.case.chosen.name}; rungs do not "
        "depend on the budget, so that a larger budget never gets a smaller net, and their depth "
        "may differ from the rule's by a few layers"
    )


def _alternatives(d: Decision) -> Iterator[Candidate]:
    c = d.case.constraints
    for other, code, traded in d.alternatives:
        why = _ALTERNATIVES[code].format(
            stages=c.pipeline, rule=d.case.chosen.name, width=other.width
        )
        reason = Reason("trade", code, cost=traded)
        yield _candidate(d, other, reason, f"{why}; {_loss_by(traded)}")


def _neighbours(d: Decision) -> Iterator[Neighbour]:
    for equal, other, traded in d.neighbours:
        change, source, speedup = traded.loss, _sources(traded), traded.worth
        if not traded.equal:
            change, speedup = None, None
            source = f"{_parameters(traded.larger)}, and grids compare equal sizes"
        if other.layers == d.net.layers:
            change, source, speedup = (0.0, 0.0), "the shape itself", (1.0, 1.0)
        time = d.case.milliseconds(other)
        yield Neighbour(other.layers, equal, other, count(other), change, source, speedup, time)


# --- prices ---------------------------------------------------------------------------------------


def percents(change: Range) -> str:
    """A relative change as an interval. Below 0.1 % the sign is that of an interpolation, and no
    source tells such shapes apart.

    >>> percents((-0.001, 0.0034)), percents((0.002, 0.002)), percents((-1e-6, 1e-4))
    ('-0.1 to +0.3 %', '+0.2 %', 'within 0.1 %')
    """
    if negligible(change):
        return "within 0.1 %"
    low, high = (f"{round(100 * x, 1) + 0.0:+.1f}" for x in change)
    low, high = (x.lstrip("+") if float(x) == 0 else x for x in (low, high))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _sources(t: Trade) -> str:
    """Whence a change in loss is known, or that it is not."""
    if t.loss is None:
        return "no published grid covers this"
    outside = ", EXTRAPOLATED from the nearest sizes" if t.extrapolated else ""
    return f"{' and '.join(t.sources)}{outside}"


def _loss_by(t: Trade) -> str:
    """The change in loss in words; where sizes differ without embeddings, that of d / L."""
    if t.loss is None:
        return f"loss: {_sources(t)}"
    if t.equal:
        return f"{_loss(t.loss)} ({_sources(t)})"
    return f"{_loss(t.loss)} by d / L alone ({_sources(t)}), with {_parameters(t.larger)}"


def _cost(t: Trade) -> str:
    """The change in loss in words, and what it is worth in compute."""
    if t.loss is None:
        return f"not known ({_sources(t)})"
    if t.worth is None or negligible(t.loss):
        return _loss_by(t)
    return f"{_loss_by(t)}, worth {_factors(t.worth)} of the compute"


def _parameters(more: float) -> str:
    which = "more" if more > 0 else "fewer"
    return f"{abs(more):.0%} {which} parameters without embeddings"


def _loss(change: Range) -> str:
    """A change in loss in words; one that may be a gain and is no loss is called so.

    >>> _loss((-0.004, 0.0)), _loss((-0.002, 0.003)), _loss((0.0, 0.0004))
    ('loss no higher (-0.4 to 0.0 %)', 'loss -0.2 to +0.3 %', 'loss within 0.1 %')
    """
    percent = percents(change)
    return f"loss no higher ({percent})" if no_higher(change) else f"loss {percent}"


# --- the rule -------------------------------------------------------------------------------------


def _rule_why(d: Decision) -> str:
    """By what evidence the rule is the one."""
    name, fewer = d.case.chosen.name, ""
    if d.case.chosen.formula not in name:
        name += f" ({d.case.chosen.formula})"
    if d.leaning:
        fewer = (
            f"; {plural(d.leaning.layers - d.net.layers, 'layer')} below the rule's "
            f"{d.leaning.layers}: beyond the grids, differences under {100 * UNTOLD:g} % cannot be "
            "resolved"
        )
    return f"{name}{_rule_outside(d)}: {rule_evidence(d.case.kind, d.case.known_by)}{fewer}"


def _rule_brief(d: Decision) -> str:
    """The same in a line or two."""
    chosen = d.case.chosen
    known = f"{chosen.source.split(',')[0]}, {chosen.wording}"
    named = f"{chosen.name}{_rule_outside(d)} ({known})"
    why = rule_evidence(d.case.kind, d.case.known_by, True)
    return f"{_leaning(d, named) if d.leaning else named}: {why}"


def _rule_outside(d: Decision) -> str:
    seen = layers_of(d.net)
    outside = d.case.chosen.extrapolates(seen.parameters, seen.per_layer)
    return ", EXTRAPOLATED" if outside else ""


def _leaning(d: Decision, name: str) -> str:
    """Why a net has fewer layers than the rule gives: as decision 0016 has it, in words."""
    assert d.leaning is not None
    which = (
        "as deep as the rule at the largest measured size, with an extrapolated loss"
        if d.leaning.at_end
        else "the shallowest whose extrapolated loss is"
    )
    return f"{which} within {100 * UNTOLD:g} % of that of the {d.leaning.layers} layers of {name}"


def _better_depths(d: Decision, within: Interval) -> str:
    """What the grids nearest in size hold best, in words, where one of them loses more than half a
    percent at the depth of the rule: there 0.1 % is not all that is at stake."""
    if d.case.kind != NetKind() or d.reason.kind != "rule" or not d.case.near_rule(d.net):
        return ""
    best = preferred(d.net, within.high, _AT_STAKE, d.case.known_by)
    if best is None or d.case.model is not None:
        return ""
    least, most = min(best.depths), max(best.depths)
    which = "deeper" if least > d.net.layers else "other"
    about = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"the nearest grids prefer {which} nets: {about} layers, loss {percents(best.change)}"


# --- published models -----------------------------------------------------------------------------


def _built(d: Decision) -> Built | None:
    if not d.nearby:
        return None
    shapes_of, a, near = recipes(d.nearby), d.net, d.nearby
    depths = [m.layers for m in shapes_of]
    known = Counter(_WORDINGS[m.status] for m in sorted(near, key=lambda m: m.layers)).most_common()
    middle, ratios = layers_of(a).parameters, sorted(m.width / m.layers for m in near)
    sizes = f"of {size(middle / NEAR)} to {size(middle * NEAR)} without embeddings"
    which = f"all {len(near)} published models" if len(near) > 1 else "the one published model"
    which = f"{which} {sizes}"
    theirs = f"(d / L {a.aspect:.0f}; theirs {ratios[0]:.0f} to {ratios[-1]:.0f})"
    fewer = sum(m.layers < a.layers for m in near)
    place, among = next(
        (place, sentence)
        for there, place, sentence in (
            (a.layers > max(depths), "deeper", f"deeper than {which}"),
            (a.layers < min(depths), "shallower", f"shallower than {which}"),
            (a.aspect < ratios[0], "narrower", f"deeper for its width than {which} {theirs}"),
            (a.aspect > ratios[-1], "wider", f"shallower for its width than {which} {theirs}"),
            (True, "among", f"deeper than {fewer} of {plural(len(near), 'model')} {sizes}"),
        )
        if there
    )
    return Built(
        min(depths),
        middle_depth(near),
        max(depths),
        len(near),
        len(shapes_of),
        NEAR,
        tuple((m.name, m.layers, m.width) for m in shapes_of[:_NAMED]),
        ", ".join(f"{number} {wording}" for wording, number in known),
        among,
        place != "among",
        place,
    )


# --- warnings and doubts --------------------------------------------------------------------------


def _advice(d: Decision) -> tuple[Advice, ...]:
    """What to set for a net of this depth."""
    a = d.net
    loops = a.layers // a.own_layers
    return advice(a.layers, d.case.kind, encoder_layers=a.encoder_layers, loops=loops)


def _warnings(d: Decision) -> Iterator[Coded]:
    case, a = d.case, d.net
    seen, target, c = layers_of(a), case.resolved.target, case.constraints
    off = measure(a, target.of) / target.value - 1
    if abs(off) > WORTH_SAYING and case.model is None:
        larger = "larger" if off > 0 else "smaller"
        yield (
            "size",
            f"the shape is {abs(off):.0%} {larger} than the budget",
        )
    if e := a.experts:
        yield (
            "experts",
            f"a mixture of experts: laws and grids are of dense nets, and are read at the "
            f"active parameters of its layers ({e.active + e.shared} of {e.count + e.shared} "
            "experts); memory follows from all of them",
        )
    elif abs(seen.per_layer / 12 - 1) > _FAR_FROM_12 and (
        case.model or not c.gated or c.ff_factor or c.kv_ratio
    ):
        yield (
            "layer-weights",
            f"a layer has {seen.per_layer:.3g} d^2 weights, not the laws' 12 d^2: "
            "read at equal L d^2",
        )
    if a.own_layers < a.layers:
        yield (
            "loops",
            f"{plural(a.own_layers, 'layer')} with weights of their own, passed "
            f"{a.layers // a.own_layers} times: no grid compares depths of looped nets; "
            "laws are read at the layers passed",
        )
    if a.kind != "decoder":
        yield "kind", f"the grids of losses are of decoders; this is an {a.kind}"
    yield from _untrainable(d)
    for each in _advice(d):
        if each.warns:
            yield "training", f"{each.says} ({each.source})"
    fit = case.resolved.budget.latency
    if fit and (far := fit.outside(a, REACH)):
        yield "no-time", f"no time is given, as the measured points are too far: {far}"
    elif fit and (far := fit.outside(a)):
        yield "time-extrapolated", f"the time is EXTRAPOLATED from the measured points: {far}"
    yield from _other_defaults(d)
    yield from (("configuration", remark) for remark in a.remarks)


def _other_defaults(d: Decision) -> Iterator[Coded]:
    """Where the class of a size has other defaults than the one below, so that its layers have
    fewer weights than those of a smaller net: why range and depth do not grow."""
    case, a = d.case, d.net
    c, target = case.constraints, case.resolved.target
    now, place = size_class(target), DEFAULTS.index(size_class(target))
    if case.model is not None or place == 0 or c.layers is not None or c.width is not None:
        return
    before = DEFAULTS[place - 1]
    start = before.below * (2 if target.of == "flops" else 1)
    rung = ladder_for(c, target.of, case.known_by).at(start * (1 - WORTH_SAYING))
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
        "defaults",
        f"from {size(before.below)} parameters on, other defaults apply "
        f"({'; '.join(changed) or 'heads'}), so layers are smaller: just below, the range is "
        f"{theirs.ends}{f', and the depth stays at {a.layers} until they have grown' * waits}",
    )


def _untrainable(d: Decision) -> Iterator[Coded]:
    """Where the GPUs that train a net cannot hold what training keeps of each weight."""
    case, a = d.case, d.net
    b, needed = case.resolved.budget, memory(a)
    if b.gpu is None or case.resolved.hours is None:
        return
    device = gpu(b.gpu)
    assert needed.gradients is not None
    assert needed.optimiser is not None
    state = needed.weights + needed.gradients + sum(needed.optimiser.values())
    if device.memory is not None and state > b.gpus * device.memory:
        yield (
            "training-memory",
            f"{b.gpus:,} x {device.name} have {binary(b.gpus * device.memory)}, and weights, "
            f"gradients and optimiser alone take {binary(state)} even if fully sharded (AdamW "
            f"in mixed precision, {state / count(a).total:.0f} bytes a parameter): more GPUs, "
            "or a smaller net",
        )


def _doubts(d: Decision, built: Built | None) -> Iterator[Coded]:
    case, a, within = d.case, d.net, d.case.interval(d.net)
    outside = built.among if built is not None and built.outside else ""
    if case.model is None and within is not None and not within.low <= a.layers <= within.high:
        yield "outside-range", _range_doubt(a, within)
    if within is None:
        yield "no-grid", "no published grid of losses says anything about this size"
    elif within.extrapolated:
        doubt = "no grid has nets of this size"
        if d.leaning:
            doubt += f"; the rule's {d.leaning.layers} layers do as well ({100 * UNTOLD:g} %)"
        else:
            doubt += ": depth and interval are extrapolated"
        yield "extrapolated", "; ".join(filter(None, (doubt, _better_depths(d, within), outside)))
    seen = layers_of(a)
    if against := contradicting(seen.parameters, a.layers, seen.per_layer, case.known_by):
        yield (
            "contradicted",
            f"some comparisons of this size point elsewhere: {'; '.join(map(str, against))}",
        )
    if outside and not (within and within.extrapolated):
        yield "unlike-models", outside
    choices = [law for law in d.laws if law.meaning in ("optimum", "default")]
    if choices:
        least, most = choices[0], choices[-1]
        yield (
            "laws-disagree",
            f"published laws disagree: from {plural(least.layers, 'layer')} ({least.name}, "
            f"{least.meaning}) to {most.layers} ({most.name}, {most.meaning})",
        )
    if case.kind.parametrisation != "standard" or case.kind.residual != "plain":
        yield (
            "one-source",
            "what is known of this parametrisation is one paper's optimum, not a grid",
        )
    yield (
        "one-run",
        "the grids compare losses of one run a shape; downstream tasks and reasoning may want "
        "another depth",
    )


def _range_doubt(a: Architecture, within: Interval) -> str:
    """What the range says of a recommended depth outside it, as it would of a configuration."""
    place = within.place(a.layers)
    deep = plural(a.layers, "layer")
    if not within.trained(a.layers):
        return (
            f"{deep}: {_beyond(a, within)} than any net of this size that was trained for a "
            "published grid, so its loss is not known"
        )
    shallow = f"{within.too_shallow:,} or fewer" if within.too_shallow else ""
    end = shallow if a.layers < within.low else f"{within.too_deep:,} or more"
    outside = ", EXTRAPOLATED" if within.extrapolated else ""
    return f"{deep}: {place}; {end} lose more than 1 % ({' and '.join(within.sources)}{outside})"


def _beyond(a: Architecture, within: Interval) -> str:
    return "shallower" if a.layers < within.low else "deeper"


# --- a configuration ------------------------------------------------------------------------------


def _asked_of(a: Architecture) -> str:
    return (
        f"Is the depth of {a.name or a.family or 'the given net'} right: "
        f"{plural(a.layers, 'layer')} of width {a.width:,}, {size(count(a).total)} parameters?"
    )


def _verdicts(d: Decision, built: Built | None) -> Iterator[Coded]:
    """On a configuration, most important first."""
    case, a, deep = d.case, d.net, plural(d.net.layers, "layer")
    yield "depth", f"{deep}: {_depth_verdict(d)}"
    if excluded := case.resolved.excludes(a):
        # Weights of equal size take the same memory at any depth.
        stuck = "; no other depth tried at its size keeps the limit, so there is no Instead"
        yield "limit", f"it {excluded}{stuck if d.instead is None and not case.shares else ''}"
    c = case.constraints
    if c.pipeline > a.own_layers:
        yield "stages", f"{deep}: too few for {c.pipeline} pipeline stages"
    elif a.own_layers % c.pipeline:
        below = a.own_layers // c.pipeline * c.pipeline
        split = sorted(Counter(stages(a.own_layers, c.pipeline)).items(), reverse=True)
        yield (
            "stages",
            f"{deep} do not divide among {c.pipeline} pipeline stages: "
            + " and ".join(f"{times} with {n}" for n, times in split)
            + f", at most {a.own_layers / c.pipeline / split[0][0]:.0%} of the speed of even "
            f"ones; {below} or {below + c.pipeline} would",
        )
    if a.heads % c.tensor:
        yield (
            "tensor",
            f"{plural(a.heads, 'head')} cannot be shared evenly among {c.tensor} devices",
        )
    if built:
        names = ", ".join(f"{name} ({n} x {d:,})" for name, n, d in built.nearest)
        which = "dense models of about its active size" if a.experts else "real models of this size"
        yield (
            "models",
            f"{which} have {built.low} to {built.high} layers; "
            f"{built.among}; nearest in size: {names}",
        )
    floor = next((law for law in d.laws if law.key == "threshold"), None)
    if floor:
        least = floor.layers
        bound = "below this depth" if a.layers >= least else "which the net does not reach"
        far = "far " if a.layers > 2 * least else ""
        yield (
            "floor",
            f"the floor of theory, L >= log_3(d), is {plural(least, 'layer')}, {far}{bound}",
        )


def _depth_verdict(d: Decision) -> str:
    """What the grids say of a depth: a number where they have one, and no more than they saw."""
    case, a, within = d.case, d.net, d.within
    if case.shares:
        return (
            f"not known; {a.own_layers} of them with weights of their own, and no grid "
            "compares depths of nets that share layers"
        )
    if within is None:
        return "not known; no published grid says which depths are good at this size"
    outside = ", EXTRAPOLATED" if within.extrapolated else ""
    sources = listed(within.sources)
    place = within.place(a.layers)
    lose = f"{within.ends} lose at most 1 %"
    if not within.trained(a.layers):
        return (
            f"{_beyond(a, within)} than any net of its size that was trained for a published "
            f"grid: not known; {lose} ({sources}{outside})"
        )
    traded = None if d.advised is None else case.trade(d.advised, a)
    compared = _loss_verdict(d, traded)
    if traded is None or not set(within.sources) <= set(traded.sources):
        lose += f" ({sources}{outside})"
    return f"{compared}; {lose}" if place == "inside" else f"{place}; {compared}; {lose}"


def _loss_verdict(d: Decision, t: Trade | None) -> str:
    """The loss of a net against that of the advised depth at equal parameters, and the compute that
    the difference is worth."""
    goal, a = d.advised, d.net
    if goal is None or t is None:
        return "the depth that is advised at this size"
    other = f"{goal.layers:,} x {goal.width:,}"
    if t.loss is None:
        return f"loss against {other} not known ({_sources(t)})"
    more = -larger(a, goal) / (1 + larger(a, goal))
    counted = "" if abs(more) <= EQUAL else f" by d / L alone, with {_parameters(more)}"
    if negligible(t.loss):
        return f"loss within 0.1 % of that of {other}{counted} ({_sources(t)})"
    sentence = f"loss {percents(t.loss)} against {other}{counted} ({_sources(t)})"
    if (factors := worth(goal, t.loss, d.case.known_by)) is None:
        return sentence
    low, high = sorted(round(100 * (factor - 1)) for factor in factors)
    if low == high == 0:
        return sentence
    if low < 0 < high:  # the grids do not agree which of the two is better
        return f"{sentence}, worth {low} to +{high} % of the training compute"
    least, most = sorted(map(abs, (low, high)))
    about = f"up to {most}" if not least else f"{most}" if least == most else f"{least} to {most}"
    return f"{sentence}, worth {about} % of the training compute"


# --- what was asked -------------------------------------------------------------------------------


def _question(resolved: Resolved) -> str:
    """What was asked, as it was understood."""
    b = resolved.budget
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
        parts.append(f"at most {budgets.milliseconds(b.milliseconds)} ms a token")
    for value, what in ((b.memory, "of memory"), (b.kv_bytes, "of KV cache")):
        if value is not None:
            parts.append(f"at most {binary(value)} {what}")
    return f"How deep should a net be: {', '.join(parts)}?"


def _together(d: Decision, tasks: tuple[TaskAnswer, ...]) -> str:
    """The depths that meet size and task, for each construction; or what rules them out."""
    deep, parts, met = d.net.layers, [], False
    numbers = [
        (label, number.layers)
        for task in tasks
        for label, number in zip(task.labels or [""] * len(task.numbers), task.numbers, strict=True)
        if number.meaning in ("exact", "suffices")
    ]
    for label, layers in numbers:
        depth, ruling_out = depth_for(d, layers)
        which = plural(depth, "layer")
        if ruling_out:
            which = f"none, as {which} are ruled out by {_demand_names(d, ruling_out)}"
        elif depth > max(deep, layers):
            which += f", the first legal depth above {layers}"
        met |= not ruling_out
        parts.append(f"{label} {which}".strip())
    if not parts:
        return ""
    greater = (
        f" (the greater of {deep} and what the task asks for: constructions of other nets, so a "
        "plan, not a theorem)"
    )
    return f"Depth that meets both: {', '.join(parts)}{greater * met}"


# --- for people -----------------------------------------------------------------------------------


def as_text(answer: Answer, width: int = 80) -> str:
    """The answer in some ten lines: the shape, why, its price, the biggest doubt.

    Args:
        answer: of `recommend`.
        width: columns; no line is longer unless a single word is.
    """
    return "\n".join(label_rows(_short(answer), width))


def explained(answer: Answer, width: int = 80) -> str:
    """Everything else there is to say, with sources: what `--why` adds to `as_text`."""
    parts = []
    for heading, rows in _sections(answer):
        if lines := label_rows(rows, width, "- "):
            parts.append("\n".join([*wrapped(heading, width), *lines]))
    if answer.neighbours:
        parts.insert(1, _around(answer.neighbours, width))
    return "\n\n".join([*parts, "\n".join(wrapped(LEGEND, width))])


def as_html(answer: Answer) -> str:
    """The answer for a notebook: what `as_text` says as a table, and below it, folded, what
    `explained` says."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(label)}</th>'
        f'<td style="text-align:left">{escape(line)}</td></tr>'
        for label, line in _short(answer)
    )
    return (
        f"<table>{rows}</table><details><summary>Why, with sources</summary>"
        f"<pre>{escape(explained(answer))}</pre></details>"
    )


def _short(answer: Answer) -> Iterator[Row]:
    yield "", answer.question
    given, proposed = answer.given, _proposal(answer)
    if given:
        yield "Given", f"{shape(given.architecture)}; {counted(given.counts)}{_speed(given)}"
        if (f := answer.flops) and (m := answer.memory):
            yield (
                "Costs",
                f"{size(f.forward)} FLOPs per token forward, {size(f.training)} in training (at "
                f"{f.context:,} tokens); weights {binary(m.weights)}, KV cache "
                f"{binary(m.kv_cache)} at {given.architecture.context:,}",
            )
        for place, verdict_text in enumerate(answer.verdicts):
            yield ("", f"- {verdict_text}") if place else ("Depth", verdict_text)
    if proposed:
        a = proposed.architecture
        tokens = f"{a.vocabulary:,} tokens{' (tied)' if a.tied else ''}"
        yield (
            "Instead" if given else "Answer",
            f"{shape(a)}; {tokens}; {counted(proposed.counts)}{_speed(proposed)}",
        )
        if given:
            yield "Why", proposed.why
    if answer.limits:
        yield "Budget", "; ".join(answer.limits)
    if not given:
        yield from _grounds(answer)
    if len(set(answer.stages)) > 1 and not given:
        parts = (f"{times} of {layers(n)}" for n, times in sorted(Counter(answer.stages).items()))
        yield "Stages", f"{len(answer.stages)} of unequal depth: {' and '.join(parts)}"
    if price := _price(answer):
        yield "Price", price
    for task in answer.tasks:
        if answer.shape:
            yield "Task", f"{task.question.removeprefix('Task: ')} {task.headline}."
        else:
            yield "Answer", task.headline
            yield from ((label, _task_number(number, label)) for label, number in _labels(task))
            yield from (("Note", remark) for remark in task.remarks)
    if answer.together:
        yield "Together", answer.together
    for warning in answer.warnings:
        yield "Warning", warning
    if answer.doubts:
        yield "Doubt", answer.doubts[0]
    if answer.floor and not given:
        least = layers(answer.floor.layers)
        yield "Floor", f"{least}: theory without softmax wants at least log_3(width) of them"


def _proposal(answer: Answer) -> Candidate | None:
    """The shape to build: the recommended one, or what stands in for a configuration."""
    return answer.instead if answer.given else answer.shape


def _grounds(answer: Answer) -> Iterator[Row]:
    """Why this depth, which others are as good, and what real models do."""
    if answer.shape:
        # The evidence for the rule, where it is the rule that chose.
        r = answer.shape.reason
        yield "Why", answer.rule_brief + _also(r) if r and r.code == "rule" else answer.shape.why
    if answer.interval:
        sources = ", ".join(answer.interval.sources)
        outside = "; EXTRAPOLATED" if answer.interval.extrapolated else ""
        yield "Range", f"{answer.interval.ends} lose at most 1 % ({sources}{outside})"
    if answer.built:
        b = answer.built
        among = b.among or plural(b.recipes, "shape")
        yield "Built", f"{b.low} to {b.high}, middle {b.middle}; {among}"


def _price(answer: Answer) -> str:
    """One legal depth less, and one more, at equal parameters; their sources once."""
    middle = answer.shape.architecture.layers if answer.shape else 0
    others = [n for n in answer.neighbours if n.equal == "parameters" and n.layers != middle]
    shapes: dict[str, list[str]] = {}  # by their effects
    for n in others:
        shapes.setdefault(_effects(n), []).append(f"{n.layers:,} x {n.architecture.width:,}")
    prices = "; ".join(f"{' or '.join(alike)}: {effects}" for effects, alike in shapes.items())
    sources = ", ".join(dict.fromkeys(n.loss_source for n in others if n.loss_change))
    return prices + (f" ({sources})" if sources else "")


def _effects(n: Neighbour) -> str:
    """What a neighbour costs or gains."""
    known = percents(n.loss_change) if n.loss_change else f"not known ({n.loss_source})"
    parts = [f"loss {known}"]
    # What compute is worth follows from the loss; of equal losses `--why` says the rest.
    if n.speedup and n.loss_change and not negligible(n.loss_change):
        worth = _factors(n.speedup)
        if worth != "1.00":
            parts.append(f"worth {worth} of the compute")
    if n.milliseconds:
        parts.append(milliseconds(n.milliseconds))
    return ", ".join(parts)


def _factors(ends: tuple[float, float]) -> str:
    low, high = (f"{factor:.2f}" for factor in ends)
    return low if low == high else f"{low} to {high}"


def _speed(candidate: Candidate) -> str:
    return f"; {milliseconds(candidate.milliseconds)}" if candidate.milliseconds else ""


def _sections(answer: Answer) -> Iterator[tuple[str, Iterable[Row | str]]]:
    """Headings and what stands under each, with a label or without."""
    given, proposed = answer.given, _proposal(answer)
    if given:
        yield "Counts of the configuration:", _costs(given, answer)
    if proposed:
        yield "Counts of the recommended shape:", _costs(proposed, None if given else answer)
    if answer.shape:
        yield (
            "Other shapes:",
            [
                f"{shape(c.architecture)}; {counted(c.counts)}{_speed(c)}. {c.why}"
                for c in answer.runners_up
            ],
        )
    if proposed:
        yield "Why this depth:", [proposed.why, answer.rule_why]
    elif answer.shape:
        yield "The advised depth:", [answer.rule_why]
    if answer.interval:
        outside = "; EXTRAPOLATED" if answer.interval.extrapolated else ""
        sources = "; ".join(answer.interval.sources)
        yield f"{answer.interval.ends}:", [f"{answer.interval.why}{outside} [{sources}]"]
    if b := answer.built:
        near = [f"{name}: {deep:,} x {wide:,}" for name, deep, wide in b.nearest]
        yield "Real models nearby:", [*near, f"{b.models} models, known: {b.wording}"]
    yield ("Who says what (never averaged):", [(str(law.layers), _law(law)) for law in answer.laws])
    for task in answer.tasks:
        numbers = [(at, _task_number(n, at, n.certainty)) for at, n in _labels(task)]
        yield task.question, [*numbers, *task.remarks]
    if answer.stages:
        yield "Layers of each pipeline stage:", [", ".join(map(str, answer.stages))]
    yield "Initialisation for this depth:", answer.initialisation
    yield "Doubts:", answer.doubts


def _around(neighbours: Sequence[Neighbour], width: int) -> str:
    """A table of the shapes with one legal depth less, the same, and one more."""
    rows = [("equal", "shape", "heads", "d_ff", "size", "loss %", "compute")]
    for n in neighbours:
        a = n.architecture
        rows.append(
            (
                n.equal,
                f"{a.layers:,} x {a.width:,}",
                f"{a.heads} ({a.key_heads})",
                f"{a.d_ff:,}",
                size(n.counts.total),
                percents(n.loss_change)[:-2] if n.loss_change else "not known",
                _factors(n.speedup) if n.speedup else "",
            )
        )
    sources = dict.fromkeys(n.loss_source for n in neighbours if n.loss_change)
    unknown = dict.fromkeys(n.loss_source for n in neighbours if not n.loss_change)
    loss = ". not known: ".join("; ".join(names) for names in (sources, unknown) if names)
    about = (
        f"One depth less, the same, one more. loss: {loss}. compute: effective "
        "speed-up, below 1 where the shape loses: by Marin's two fits, of other data, with "
        "the FLOPs of a token for its time; of equal losses the FLOPs alone."
    )
    timed = [
        f"{n.layers} layers, equal {n.equal}: {milliseconds(n.milliseconds)}"
        for n in neighbours
        if n.milliseconds
    ]
    return "\n".join(
        [
            *wrapped(about, width),
            columns(rows, width),
            *(line for text in timed for line in wrapped(text, width, "- ", "  ")),
        ]
    )


def _costs(candidate: Candidate, answer: Answer | None) -> Iterator[str]:
    """Everything counted of a net; of the one that the answer's costs are of, those too."""
    a, c = candidate.architecture, candidate.counts
    yield (
        f"{c.total:,} parameters in all, {c.nonembedding:,} without embeddings, "
        f"{c.active:,} active, {c.embedding:,} in the token table"
    )
    yield (
        f"{per_layer(a) / a.width**2:.3g} d^2 weights in a layer (laws count 12; they are "
        "read at equal L d^2)"
    )
    if answer is None:
        return
    if answer.tokens:
        cost = f"{answer.tokens / c.total:.3g} per parameter"
        yield f"{size(answer.tokens)} training tokens, {cost}"
    if answer.training_flops:
        yield f"{answer.training_flops:.3g} training FLOPs"
    if f := answer.flops:
        causal = ", causal half" if f.causal else ""
        yield (
            f"{size(f.forward)} FLOPs per token forward ({size(f.attention)} of them attention "
            f"scores at {f.context:,} tokens{causal}), {size(f.training)} in training"
        )
    if m := answer.memory:
        trained = ""
        if m.gradients is not None and m.optimiser is not None and m.activations is not None:
            trained = (
                f", gradients {binary(m.gradients)}, optimiser "
                f"{binary(sum(m.optimiser.values()))}, activations {binary(m.activations)}"
            )
        yield f"weights {binary(m.weights)}{trained}, KV cache {binary(m.kv_cache)}"


def _law(law: LawNumber) -> str:
    wide = f" (width {law.width:,})" if law.width else ""
    error = f" +- {law.error:.1f}" if law.error is not None else ""
    outside = " EXTRAPOLATED." if law.extrapolated else ""
    where = ""
    if law.domain:
        low, high = map(size, law.domain)
        where = f" Measured at {low if low == high else f'{low} to {high}'} parameters."
    special = [
        _SPECIAL[name] for name in (law.parametrisation, law.norm, law.residual) if name in _SPECIAL
    ]
    where += f" For {' and '.join(special)}." if special else ""
    remark = f" {law.remark[:1].upper()}{law.remark[1:]}." if law.remark else ""
    return (
        f"{law.meaning}{wide}: {law.name}, {law.formula}, L = {law.depth:.1f}{error}.{outside}"
        f"{where}{remark} "
        f"{_source_note(law.source, law.wording, law.claim, law.verdict, law.claim_about)}"
    )


def _labels(task: TaskAnswer) -> Iterator[tuple[str, TaskNumber]]:
    labels = task.labels or tuple(str(number.layers) for number in task.numbers)
    return zip(labels, task.numbers, strict=True)


def _task_number(number: TaskNumber, label: str, certainty: str = "") -> str:
    name, regime = number.name.removeprefix(label).strip(), number.regime
    outside = " EXTRAPOLATED." if number.extrapolated else ""
    certainty = f"; {certainty}" if certainty else ""
    known = _source_note(
        number.source, number.wording, number.claim, verdict(number.claim), about(number.claim)
    )
    return (
        f"{number.meaning}: {name}, {number.rule}.{outside} "
        f"{regime[:1].upper()}{regime[1:]}{certainty}. {known}"
    )


def _source_note(
    source: str, wording: str, claim: str | None, value: str | None, of: str = ""
) -> str:
    """Where a number is from, how that is known, and the verdict on the claim about it, after what
    of the number that claim checks."""
    if not claim:
        return f"[{source}; {wording}]"
    named = f" ({claim_title})" if (claim_title := title(claim)) else ""
    judged = f"{f'{of}: ' * bool(of)}claim {claim}{named}: {value or 'no verdict yet'}"
    named = f"claim {claim}"
    return (
        f"[{source.replace(named, judged)}; {wording}]"
        if named in source
        else f"[{source}; {wording}; {judged}]"
    )


# --- phrases --------------------------------------------------------------------------------------


def shape(a: Architecture) -> str:
    """An architecture in one phrase.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> shape(Architecture(32, 4096, 32, 14336, 128256, kv_heads=8))
    '32 layers x width 4,096; 32 heads of 128 on 8 key-value heads; d_ff 14,336'
    """
    deep = layers(a.layers)
    if a.unique_layers and a.unique_layers != a.layers:
        deep += f" ({a.unique_layers} of their own)"
    if a.encoder_layers and a.kind == "encoder-decoder":
        deep = f"{a.encoder_layers} + {deep}"
    keys = f" on {plural(a.key_heads, 'key-value head')}" if a.key_heads != a.heads else ""
    parts = [f"{deep} x width {a.width:,}", f"{plural(a.heads, 'head')} of {a.head_size}{keys}"]
    if not a.experts or a.experts.dense_layers:
        parts.append(f"d_ff {a.d_ff:,}")
    if not a.gated:
        parts.append("not gated")
    if e := a.experts:
        shared = f" and {e.shared} shared" if e.shared else ""
        parts.append(f"{e.count} experts of {e.width:,}, {e.active} active{shared}")
    return "; ".join(parts)


def counted(c: Count) -> str:
    """Three counts in one phrase, those that are equal once."""
    active = f", {size(c.active)} active" if c.active != c.total else ""
    return f"{size(c.total)} parameters ({size(c.nonembedding)} without embeddings{active})"


def layers(number: int) -> str:
    """So many layers."""
    return plural(number, "layer")


def milliseconds(interval: tuple[float, float, float]) -> str:
    """Milliseconds for one token with their interval."""
    low, middle, high = map(budgets.milliseconds, interval)
    return f"{middle} ms per token (95 %: {low} to {high})"


# --- in one sentence ------------------------------------------------------------------------------


def citation(answer: Answer, version: str) -> str:
    """One sentence that says what was recommended, by what, and from which sources."""
    known = {rule.read_off: rule.source for rule in rules() if rule.read_off}
    parts = []
    if proposed := _proposal(answer):
        a = proposed.architecture
        parts.append(
            f"recommends {layers(a.layers)} of width {a.width:,} "
            f"({size(proposed.counts.total)} parameters){_by_rule(answer, proposed)}"
        )
    if answer.interval:
        sources = "; ".join(known.get(name, name) for name in answer.interval.sources)
        where = (
            ", as extrapolated from published grids without such nets"
            if answer.interval.extrapolated
            else " in published grids"
        )
        parts.append(f"finds {answer.interval.ends} within 1 % of the best loss{where} ({sources})")
    for task in answer.tasks:
        sources = "; ".join(dict.fromkeys(number.source for number in task.numbers))
        parts.append(
            f"says of the task {task.task}: {task.headline}" + f" ({sources})" * bool(sources)
        )
    return f'depthlaw {version}, asked "{answer.question}", {", and ".join(parts)}.'


def _by_rule(answer: Answer, proposed: Candidate) -> str:
    """The rule that chose the depth, and its source, or else what set it. Where the answer has
    fewer layers than the rule, by what it differs."""
    law = next((law for law in answer.laws if law.key == answer.rule), None)
    if law is None or proposed.reason is None:
        return ""
    if proposed.reason.code != "rule":
        return f": {proposed.why}"
    reached = ""
    if law.extrapolated and law.domain:
        low, high = map(size, law.domain)
        reached = f", itself extrapolated beyond its {low} to {high}"
    known = f"({law.source}; {law.wording}{reached})"
    return f": {proposed.why} {known}" if answer.rule_layers else f" by {law.name} {known}"


def in_brief(answer: Answer) -> str:
    """The answer in one line, for a prompt.

    >>> from .recommendation import recommend
    >>> in_brief(recommend(task="hops", hops=16))
    '<Answer: 6 layers suffice for 16 hops: ceil(log_2 k) + 2>'
    """
    proposed = _proposal(answer) or answer.given
    parts = (
        [f"{proposed.architecture.layers:,} x {proposed.architecture.width:,}"] if proposed else []
    )
    parts += [task.headline for task in answer.tasks]
    return f"<Answer: {'; '.join(parts) or answer.question}>"
