"""All sentences of the advisor, made last: from a decision to an answer, its text, its citation.

They stand in words.json, each under its code. Here is decided which of them are said, and of what.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import budgets
from .answer import Answer, Built, Candidate, Neighbour, OwnLosses, Reason, Said
from .base.quantities import binary, few_digits, plural, size
from .budgets import idle_gpu, serving_note, trains
from .claim_verdicts import about, title, verdict
from .counting import by_part, count, flops, kv_numbers, memory, per_layer
from .decide import (
    NEAR,
    Decision,
    depth_for,
    depths_within,
    ladder_for,
    middle_depth,
    recipes,
)
from .grids import STANDARD, NetKind, OtherRange
from .hardware import gpu
from .initialisation_advice import advice, snippet
from .latency import REACH
from .layer_kinds import layer_kinds
from .layout import Row, Sentences, columns, label_rows, listed, wrapped
from .practice import unbuilt
from .question import BY_FIELD, flag, typed
from .regimes import facts
from .rule_scores import (
    CARRIED,
    LEVEL,
    UNTOLD,
    Contradiction,
    Interval,
    best_rule,
    contradicting,
    contradicting_range,
    gain,
    interval,
    table,
)
from .rules import rules
from .shape_search import WORTH_SAYING
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
    from .budgets import Resolved
    from .checkpoint import Checkpoint, GivenNet
    from .counting import Count
    from .hybrids import HybridAdvice
    from .loops import LoopWorth
    from .shapes import Constraints
    from .task_depths import TaskAnswer, TaskNumber
    from .training_cost import TrainingCost

# So many layers of a hybrid are named one by one.
_NAMED_LAYERS = 12
# How many of the nearest published models are named.
_NAMED = 3
# How the shapes of models.csv are known, where not from memory.
_WORDINGS = {"seen": "printed", "seen (secondary)": "reported"}
# A grid that loses more by the depth of the rule is worth a doubt.
_AT_STAKE = 0.005
# A rule that has so many times the layers of the recommended net is named on the first screen.
_FEWER = 1.25
# So far from the laws' 12 d^2 weights of a layer is a warning where it was demanded, and no
# rounding; what it is, `--why` always says.
_FAR_FROM_12 = 0.25
# Differences of losses that are not told apart, in percent.
_UNTOLD = 100 * UNTOLD

# Fewer tokens a parameter are printed as less than this.
_TINY = 0.01

# What a sentence is about, and the sentence.
Coded = tuple[str, str]


# --- the table of sentences -----------------------------------------------------------------------


_TABLE: dict[str, str] = json.loads(
    Path(__file__).with_name("words.json").read_text(encoding="utf-8")
)


def say(code: str, **known: Any) -> str:
    """The sentence of a code, with what its places name."""
    return _SENTENCES.format(_TABLE[code], **known)


def _coded(code: str, **known: Any) -> Coded:
    """The same after the last part of its code, which the JSON of an answer carries."""
    return code.partition(".")[2], say(code, **known)


def _parted(said: Iterable[Coded]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Codes and sentences."""
    pairs = tuple(said)
    return tuple(code for code, _ in pairs), tuple(text for _, text in pairs)


# --- from a decision to an answer -----------------------------------------------------------------


def answer_of(d: Decision, tasks: tuple[TaskAnswer, ...] = (), mixer: str | None = None) -> Answer:
    """A decision as an answer: its data, and its sentences."""
    case, a, resolved = d.case, d.net, d.case.resolved
    c, given = case.constraints, case.model is not None
    note, training = serving_note(resolved.budget, c, a), _training(a, resolved, c, case.known_by)
    built = _built(d)
    screen = tuple(_screen(d, built))
    said = list(_warnings(d))
    if training is not None:
        # States that all GPUs together cannot hold are said already.
        hopeless = "training-memory" in dict(said)
        said += _plan_warnings(training, hopeless)
    warning_codes, warnings = _parted(said)
    doubt_codes, doubts = _parted(_doubts(d, built))
    advised = advice(**_seen(d))
    answer = Answer(
        _question(d),
        _candidate(d, a, d.reason, say("why.given") if given else _why(d, d.reason)),
        case.chosen.key,
        _rule_why(d),
        d.within,
        tuple(_alternatives(d)),
        tuple(_neighbours(d)),
        next((law for law in d.laws if law.key == "threshold"), None),
        d.laws,
        built,
        warnings=warnings,
        doubts=doubts,
        initialisation=tuple(map(str, advised)),
        tokens=resolved.tokens,
        training_flops=resolved.flops,
        **_hours_of(resolved, training),
        flops=flops(a, min(a.context, TRAINING_CONTEXT)),
        memory=memory(a, resolved.budget.bytes_per_weight),
        stages=stages(a.own_layers, c.pipeline) if 1 < c.pipeline <= a.own_layers else (),
        limits=(*resolved.notes, *([note] if note else ())),
        tasks=tasks,
        together=_together(d, tasks),
        rule_layers=d.leaning and d.leaning.layers,
        training=training,
        warning_codes=warning_codes,
        doubt_codes=doubt_codes,
        data=d.data,
        second=d.second,
        others=d.others,
        beyond=d.beyond,
        phone=d.phone,
        screen=screen,
        rule_brief=" ".join(said.text for said in screen if said.slot == "sure"),
        budget=resolved.target.value,
        recipe=advised,
        snippet=snippet(**_seen(d), experts=bool(a.experts)),
        loops=_loops(d),
    )
    if mixer:
        from .hybrids import hybrid_advice

        hybrid = hybrid_advice(a, mixer, case.known_by)
        known = {"several": hybrid.most > hybrid.least, "looped": a.own_layers < a.layers}
        mixed = _line("answer.hybrid", h=hybrid, **known)
        unlike = _line("sure.attention"), _line("note.attention")
        answer = replace(answer, hybrid=hybrid, screen=(screen[0], mixed, *screen[1:], *unlike))
    if not given:
        return answer
    instead = None
    if d.instead is not None and d.instead_reason is not None:
        r = d.instead_reason
        cost = say("why.instead", cost=_cost(r.cost)) if r.cost else ""
        instead = _candidate(d, d.instead, r, _why(d, replace(r, against=None, cost=None)) + cost)
    codes, verdicts = _parted(_verdicts(d, built))
    return replace(
        answer, given=answer.shape, instead=instead, verdicts=verdicts, verdict_codes=codes
    )


def _hours_of(resolved: Resolved, training: TrainingCost | None) -> dict[str, Any]:
    """The hours of a training, and by what they are counted."""
    if training is not None:
        return {"hours": training.hours[1], "hours_by": "training"}
    return {"hours": resolved.hours, "hours_by": None if resolved.hours is None else "operations"}


def _candidate(d: Decision, a: Architecture, reason: Reason, why: str) -> Candidate:
    return Candidate(a, count(a), why, d.case.milliseconds(a), reason, a.layer_kinds, by_part(a))


def hybrid_answer(
    a: Architecture,
    resolved: Resolved,
    c: Constraints,
    tasks: tuple[TaskAnswer, ...],
    known_by: int | None = None,
) -> Answer:
    """What is counted of a configuration with layers of other kinds than attention, whose depth no
    rule speaks of."""
    given = Reason("given", "configuration")
    net = Candidate(a, count(a), say("why.given"), None, given, a.layer_kinds, by_part(a))
    codes, verdicts = _parted(_hybrid_verdicts(a, resolved))
    note = serving_note(resolved.budget, c, a)
    coded = [("configuration", remark) for remark in a.remarks]
    if a.kinds_unknown and trains(resolved.budget):
        names = [layer_kinds()[kind].name for kind in a.kinds_unknown]
        coded.append(_coded("warning.training-kinds", names=names))
    training = None if a.kinds_unknown else _training(a, resolved, c, known_by)
    if training is not None:
        coded += _untrainable(a, resolved)
        coded += _plan_warnings(training, "training-memory" in dict(coded))
    warning_codes, warnings = _parted(coded)
    name = a.name or a.family or "the given net"
    return Answer(
        say("question.net", name=name, a=a, parameters=net.counts.total),
        net,
        given=net,
        verdicts=verdicts,
        verdict_codes=codes,
        warnings=warnings,
        warning_codes=warning_codes,
        tokens=resolved.tokens,
        training_flops=resolved.flops,
        **_hours_of(resolved, None),
        flops=flops(a, min(a.context, TRAINING_CONTEXT)),
        memory=memory(a, resolved.budget.bytes_per_weight),
        limits=(*resolved.notes, *([note] if note else ())),
        training=training,
        tasks=tasks,
        screen=(_line("answer.mixed", said=verdicts[0]), _line("more.why")),
    )


def _hybrid_verdicts(a: Architecture, resolved: Resolved) -> Iterator[Coded]:
    """On a configuration with layers of other kinds than attention."""
    kinds, known = a.layer_kinds, layer_kinds()
    named = {kind: _kind_name(kind) for kind in kinds}
    others = [named[kind] for kind in kinds if kind in known] or [say("kind.single")]
    yield _coded("verdict.depth", layers=a.layers, said=say("depth.hybrid", kinds=others))
    by_kind = [say("hybrid.kind", name=named[kind], layers=n) for kind, n in kinds.items()]
    both = sum(kinds.values()) > a.layers
    bare = a.layers - a.own_mlps if all(part.kind for part in a.parts) else 0
    lacking = say("hybrid.bare", layers=bare, whole=bare == a.layers) if bare else ""
    yield _coded("verdict.kinds", kinds=by_kind, both=both, bare=lacking)
    sizes = sorted(by_part(a).items(), key=lambda item: -item[1])
    named |= {part: say(f"part.{part}") for part, _ in sizes if part not in named}
    parts = [f"{named[part]} {size(number)}" for part, number in sizes]
    yield _coded("verdict.by-part", parts=parts)
    state, token = 2 * kv_numbers(a, 0), 2 * (kv_numbers(a, 1) - kv_numbers(a, 0))
    yield _coded("verdict.state", state=state, token=token, windows=a.window)
    for kind in filter(known.get, kinds):
        if known[kind].atlas:
            yield _coded("verdict.class", kind=known[kind])
    if excluded := resolved.excludes(a):
        yield _coded("verdict.limit", excluded=excluded, stuck=False)


def _why(d: Decision, r: Reason) -> str:
    """Why a net has its depth, in one sentence."""
    c, rule = d.case.constraints, d.case.chosen.name
    if r.code == "rule" and d.case.model is not None:
        return say("why.nearest-to-rule", rule=rule)
    if r.code == "rule":
        return (_leaning(d, rule) if d.leaning else say("why.rung", rule=rule)) + _also(r)
    if r.kind == "limit":
        why = say("why.limits", limits=" and ".join(say(f"limit.{name}") for name in r.demands))
        return why + _against(r) + _also(r)
    demands = _demand_names(d, r.demands)
    if r.code == "rest-of-size":
        left = count(d.net).nonembedding
        why = say("why.rest-of-size", left=left, demands=demands, against=r.against)
    elif r.kind == "step":
        steps = width_steps(template(d.case.resolved.target, c))
        why = say(f"why.{r.code}", steps=steps, demands=demands)
    elif r.code == "nearest-legal-depth":
        why = say("why.nearest-legal-depth")
    elif r.bound is not None:
        why = say("why.latency", bound=say(f"bound.{r.bound.code}", bound=r.bound))
    elif r.against is not None:
        why = say("why.demands", demands=demands)
    elif c.layers is not None:
        why = say("why.fixed-layers", layers=c.layers)
    elif c.width is not None:
        why = say("why.fixed-width", width=c.width)
    else:
        why = say("why.fixed", demands=demands, several=len(r.demands) > 1)
    return why + _against(r) + _also(r)


def _demand_names(d: Decision, demands: tuple[str, ...]) -> str:
    """Demands as they are called."""
    names = []
    for name in demands:
        value = getattr(d.case.constraints, name)
        code = f"demand.{name}" if f"demand.{name}" in _TABLE else "demand.other"
        option = typed(name, value)
        names.append(option if isinstance(value, bool) else say(code, option=option, value=value))
    return listed(names)


def _against(r: Reason) -> str:
    """What would be chosen otherwise, and what the net costs against that."""
    if r.against is None or r.cost is None:
        return ""
    names = ["it"] * (r.kind == "limit") + [flag(BY_FIELD[name].name) for name in r.dropped]
    gains = r.cost.loss is not None and no_higher(r.cost.loss) and r.cost.equal
    known = {"against": r.against, "cost": _cost(r.cost), "gains": gains}
    return say("why.against", several=len(names) > 1, names=names, **known)


def _also(r: Reason) -> str:
    """The other demands without one of which the depth would be another."""
    return "".join(say("why.also", other=other) for other in r.also)


def _alternatives(d: Decision) -> Iterator[Candidate]:
    known = {"stages": d.case.constraints.pipeline, "rule": d.case.chosen.name}
    for other, reason in d.alternatives:
        why = say(f"alternative.{reason.code}", width=other.width, **known)
        if reason.cost:
            why += f"; {_loss_by(reason.cost)}"
        yield _candidate(d, other, reason, why)


def _neighbours(d: Decision) -> Iterator[Neighbour]:
    for equal, other, traded in d.neighbours:
        change, source, speedup = traded.loss, _sources(traded), traded.worth
        if not traded.equal:
            change, speedup = None, None
            source = say("loss.other-size", larger=_parameters(traded.larger))
        if other.layers == d.net.layers:
            change, source, speedup = (0.0, 0.0), "the shape itself", (1.0, 1.0)
        known = change, source, speedup, d.case.milliseconds(other), traded.second
        yield Neighbour(other.layers, equal, other, count(other), *known)


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
    return _span(*(x.lstrip("+") if float(x) == 0 else x for x in (low, high))) + " %"


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _factors(ends: Range) -> str:
    return _span(*(f"{factor:.2f}" for factor in ends))


def _sources(t: Trade) -> str:
    """Whence a change in loss is known, or that it is not."""
    if t.loss is None:
        return say("loss.no-grid")
    return say("loss.sources", sources=" and ".join(t.sources), trade=t)


def _loss_by(t: Trade) -> str:
    """The change in loss in words; where sizes differ without embeddings, that of d / L; one that
    may be a gain and is no loss is called so.

    >>> _loss_by(Trade((-0.004, 0.0), ("A", "B")))
    'loss no higher (-0.4 to 0.0 %) (A and B)'
    """
    if t.loss is None:
        return say("loss.not-known", sources=_sources(t))
    known = {"loss": percents(t.loss), "gains": no_higher(t.loss), "sources": _sources(t)}
    return say("loss.known", equal=t.equal, larger=_parameters(t.larger), **known)


def _cost(t: Trade) -> str:
    """The change in loss in words, and what it is worth in compute."""
    if t.loss is None:
        return say("loss.cost-not-known", sources=_sources(t))
    if t.worth is None or negligible(t.loss):
        return _loss_by(t)
    return say("loss.cost", loss=_loss_by(t), trade=t)


def _parameters(more: float) -> str:
    which = "more" if more > 0 else "fewer"
    return f"{abs(more):.0%} {which} parameters without embeddings"


# --- the rule -------------------------------------------------------------------------------------


def _rule_why(d: Decision) -> str:
    """By what evidence the rule is the one."""
    named, fewer = d.case.chosen.name, ""
    if d.case.chosen.formula not in named:
        named += f" ({d.case.chosen.formula})"
    if d.leaning:
        rest = d.leaning.layers - d.net.layers
        fewer = say("rule.fewer", fewer=rest, layers=d.leaning.layers, untold=_UNTOLD)
    evidence = rule_evidence(d.case.kind, d.case.known_by)
    return say("rule.why", named=named, outside=_rule_outside(d), evidence=evidence) + fewer


def rule_evidence(key: NetKind = STANDARD, known_by: int | None = None) -> str:
    """Why `best_rule` is the one, with the numbers."""
    rule, scores = best_rule(key, known_by), table(known_by=known_by)
    if NetKind(key.parametrisation, residual=key.residual) != STANDARD != rule.applies:
        return say("rule.of-kind", rule=rule)
    if (c := scores.choice) is None:
        return say("rule.no-grid", known=rule in rules(known_by))
    least, default = scores.of(c.best.key), scores.default
    return say(
        "rule.choice" if len(scores.choices) > 1 else "rule.only",
        c=c,
        alike="; ".join(r.name for r in c.alike),
        eligible=len(scores.choices),
        sources=len(scores.rows),
        percent=100 * LEVEL,
        regret=scores.best.mean,
        least=None if c.rule == c.best else least.mean,
        against=str(gain(least, scores.best)),
        default=None if rule == default.rule else default.mean,
        by_scores=scores.by_scores,
    )


def _rule_outside(d: Decision) -> bool:
    seen = d.case.seen(d.net)
    return d.case.chosen.extrapolates(seen.parameters, seen.per_layer)


def _leaning(d: Decision, rule: str) -> str:
    """Why a net has fewer layers than the rule gives: as decision 0016 has it, in words."""
    assert d.leaning is not None
    code = "why.at-end" if d.leaning.at_end else "why.shallowest"
    return say(code, layers=d.leaning.layers, rule=rule, untold=_UNTOLD)


def _better_depths(d: Decision, within: Interval, at_stake: float = _AT_STAKE) -> str:
    """What the grids nearest in size hold best, in words, where one of them loses more at the depth
    of the rule than what is worth a word: half a percent, as losses are extrapolated."""
    if d.case.kind != NetKind() or d.reason.kind != "rule" or not d.case.near_rule(d.net):
        return ""
    best = preferred(d.case.seen(d.net), within.high, at_stake, d.case.known_by, d.case.each)
    if best is None or d.case.model is not None:
        return ""
    least, most = min(best.depths), max(best.depths)
    depths = _span(f"{least:,}", f"{most:,}")
    return say("range.better", deeper=least > d.net.layers, depths=depths, change=best.change)


# --- the first screen -----------------------------------------------------------------------------

# Its slots in their order, and how they are labelled. A sentence falls into the slot that its code
# begins with. Those after "more" stand below, beside the shape.
SLOTS = {
    "answer": "Answer",
    "sure": "How sure",
    "change": "Changes",
    "floor": "Floor",
    "more": "More",
    "cost": "Cost",
    "near": "Nearby",
    "note": "Note",
}
# Warnings that open a slot, by their codes; the others stand below.
_WARNINGS_IN = {
    "beyond": "answer",
    "tokens-below": "sure",
    "tokens-above": "sure",
    "repeated": "sure",
    "kind": "sure",
    "training": "sure",
}


def _line(code: str, **known: Any) -> Said:
    slot, _, rest = code.partition(".")
    return Said(slot, rest, say(code, **known))


def answer_to_task(task: TaskAnswer) -> Answer:
    """The answer where a task alone is asked."""
    lines = [_line("answer.task", headline=task.headline)]
    lines += [_line("sure.task", sure=task.sure)] if task.sure else []
    lines += [_line("change.task", changes=task.changes)] if task.changes else []
    return Answer(task.question, tasks=(task,), screen=(*lines, _line("more.task")))


def _screen(d: Decision, built: Built | None) -> Iterator[Said]:
    """The sentences of the first screen, in any order of slots."""
    a = d.net
    if d.case.model is not None:
        yield from _judged(d)
    else:
        encoder = a.encoder_layers if a.kind == "encoder-decoder" else 0
        # Where two numbers stand before it.
        below = any(code == "beyond" for code, _ in _outside_grids(d))
        loops = a.layers // a.own_layers
        yield _line("answer.shape", a=a, encoder=encoder, loops=loops, below=below)
        if (fewer := d.leaning) and (below or fewer.layers > _FEWER * a.layers):
            rule = fewer.layers
            yield _line("answer.fewer", end=fewer.at_end, layers=rule, untold=_UNTOLD)
        place = d.within.place(a.layers).replace(" ", "-") if d.within else "inside"
        if place != "inside":
            yield _line(f"answer.asked-{place}")
    yield from _sure(d, built)
    yield from _changes(d)
    for law in d.laws:
        if law.key == "threshold":
            reached, passed = a.layers >= law.layers, a.layers > a.own_layers
            moved = d.moved if d.moved and d.moved.code == "rest-of-size" else None
            short = "" if reached or not moved else _demand_names(d, moved.demands)
            below = d.within is not None and d.within.low < law.layers
            lack = {"reached": reached, "short": short, "below": below}
            yield _line("floor.layers", layers=law.layers, passed=passed, **lack)
    steps = {
        other.layers: traded.loss
        for equal, other, traded in d.neighbours
        if equal == "parameters" and other.layers != a.layers
    }
    if steps and None not in steps.values() and not d.far:
        ends = [end for change in steps.values() for end in change or ()]
        change, depths = (min(ends), max(ends)), " or ".join(f"{n:,}" for n in steps)
        known = {"depths": depths, "loss": change, "alike": negligible(change)}
        yield _line("near.step", likely=d.likely, **known)
    yield _line("more.why")


def _judged(d: Decision) -> Iterator[Said]:
    """Whether the depth of a configuration is right, and what we would build."""
    a, within = d.net, d.within
    if d.case.shares or within is None:
        code = "loops" if d.case.shares else "far" if d.far else "no-data"
        yield _line(f"answer.{code}", own=a.own_layers, carried=CARRIED)
    elif d.case.kind.norm != "pre":
        yield _line("answer.norm")
    else:
        place = within.place(a.layers).replace(" ", "-")
        yield _line(f"answer.{place}", layers=a.layers, likely=d.likely)
    if (other := d.instead or d.advised) is not None:
        yield _line("change.advised", other=other)
        yield _moved(d.case.trade(other, a))


def _moved(traded: Trade) -> Said:
    """What the net that was just named has against the one that is answered: the other way round
    than the trade."""
    if traded.loss is None:
        return _line("change.loss-unknown")
    known = {"unequal": not traded.equal, "likely": traded.extrapolated}
    least, most = (round(100 / (1 + end) - 100, 1) for end in reversed(traded.loss))
    if negligible(traded.loss):
        return _line("change.loss-alike", **known)
    if least < 0 < most:
        return _line("change.loss-either", loss=(least / 100, most / 100), **known)
    size = _span(*(f"{end:.1f}" for end in sorted(map(abs, (least, most)))))
    return _line("change.loss", higher=least < 0, size=size, **known)


def _sure(d: Decision, built: Built | None) -> Iterator[Said]:
    """How far the depth can be trusted."""
    a, within, case, seen = d.net, d.within, d.case, layers_of(d.net)
    if d.far:
        if case.model is None:  # of which the answer says it
            yield _line("sure.far", carried=CARRIED)
    elif within is None and not case.shares:
        yield _line("sure.no-data")
        yield from _other_ranges(d.others)
    elif within is not None:
        yield from _ranged(within, seen.parameters, d.others, likely=d.likely)
        if case.kind.norm != "pre" and case.model is None:  # of which the answer says it
            yield _line("sure.norm")
    if (second := d.second) is not None and not second.low <= a.layers <= second.high:
        yield _line("sure.second", s=second)
    of_depth, of_range = _against_depths(d)
    if best := sorted({each.best for each in (*of_depth, *of_range)}):
        beaten = {each.beaten for each in of_range}
        one = not of_depth and len(beaten) == 1
        depths = listed(best) if len(best) < 3 else _span(*map(str, (best[0], best[-1])))
        known = {"beaten": min(beaten, default=0), "depths": depths}
        yield _line("sure.contradicted", one=one, **known)
    if built:
        depths = _span(f"{built.low:,}", f"{built.high:,}")
        # Models are as large as the net with each of its passes counted.
        passed = seen.parameters if a.own_layers < a.layers else None
        yield _line("sure.built", depths=depths, dense=a.experts, passed=passed)
        if built.outside:
            known = {"models": built.models, "several": built.models > 1, "passed": passed}
            yield _line(f"sure.{built.place}", **known)


def _against_depths(d: Decision) -> tuple[tuple[Contradiction, ...], tuple[Contradiction, ...]]:
    """What other comparisons have against the depth of a net, and against its range alone."""
    a, year = d.net, d.case.known_by
    seen = layers_of(a)
    of_depth = contradicting(seen.parameters, a.layers, seen.per_layer, year)
    every = contradicting_range(d.within, *seen[:2], year) if d.within else ()
    return of_depth, tuple(each for each in every if each not in of_depth)


def _ranged(
    within: Interval,
    parameters: float,
    others: Sequence[OtherRange] = (),
    *,
    likely: bool = False,
) -> Iterator[Said]:
    """The depths within 1 % for a net of so many parameters without embeddings, and those that
    other sources have."""
    tried = ["shallowest"] * within.started + ["deepest"] * within.ended
    known = {
        "range": _span(f"{within.low:,}", f"{within.high:,}"),
        "one": len(within.sources) == 1,
    }
    if within.extrapolated:
        least, most = within.sizes or (0, math.inf)
        # Grids are near by L d^2: a net of lighter layers may lie above larger ones.
        heavier, lighter = parameters < most, parameters > least
        told = {"least": least, "most": most, "heavier": heavier, "lighter": lighter}
        farther = ["shallower"] * within.started + ["deeper"] * within.ended
        end = say(f"end.{within.side}", **told)
        yield _line("sure.beyond", **known, tried=" or ".join(farther), end=end)
        yield from _other_ranges(others)
    else:
        ranges = _ranges(others)
        more = {"tried": listed([] if others else tried), "others": len(ranges), "ranges": ranges}
        yield _line("sure.range", **known, **more, likely=likely)


def _other_ranges(others: Sequence[OtherRange]) -> Iterator[Said]:
    if others:
        yield _line("sure.others", others=len(others), ranges=_ranges(others))


def _ranges(others: Sequence[OtherRange]) -> list[str]:
    return [_span(f"{o.low:,}", f"{o.high:,}") for o in others]


def _changes(d: Decision) -> Iterator[Said]:
    """What would change the depth: another demand, another rule, a measurement."""
    r = d.reason
    names = [say(f"limit.{name}") for name in r.demands] if r.kind == "limit" else []
    dropped = r.dropped or (r.demands if r.kind == "demand" else ())
    names += [typed(name, getattr(d.case.constraints, name)) for name in dropped]
    if names and r.against:
        yield _line("change.without", names=names, against=r.against)
    elif names and d.undivided is None:
        yield _line("change.same", names=names)
    if r.cost is not None:
        yield _moved(r.cost)
    yield from (_line("change.also", other=also) for also in r.also)
    if a := d.undivided:
        option = typed("tensor", d.case.constraints.tensor)
        yield _line("change.heads", option=option, a=a, grouped=a.key_heads != a.heads)
    if d.fast is not None:
        yield _line("change.fast", layers=d.fast.layers)
    if d.alike:
        asked, within = d.alike.values(), d.within
        out = [f"{n:,}" for n in asked if within and within.place(n) != "inside"]
        layers = _span(f"{min(asked):,}", f"{max(asked):,}")
        kept = bool(d.case.chosen.followed)
        of = {"rules": len(d.alike), "one": len(d.alike) == 1}
        yield _line("change.rule", **of, layers=layers, out=out, kept=kept)
    if d.within is None or d.within.extrapolated:
        yield _line("change.measure")


# --- published models -----------------------------------------------------------------------------


def _built(d: Decision) -> Built | None:
    if not d.nearby:
        return None
    shapes_of, a, near = recipes(d.nearby), d.net, d.nearby
    depths = [m.layers for m in shapes_of]
    by_depth = sorted(near, key=lambda m: m.layers)
    known = Counter(_WORDINGS.get(m.status, "recalled") for m in by_depth).most_common()
    middle, ratios = layers_of(a).parameters, sorted(m.width / m.layers for m in near)
    places = {
        "deeper": a.layers > max(depths),
        "shallower": a.layers < min(depths),
        "narrower": a.aspect < ratios[0],
        "wider": a.aspect > ratios[-1],
        "among": True,
    }
    place = next(place for place, there in places.items() if there)
    sized = {"number": len(near), "least": middle / NEAR, "most": middle * NEAR}
    shaped = {"aspect": a.aspect, "narrow": ratios[0], "wide": ratios[-1]}
    models = say("built.models", several=len(near) > 1, **sized)
    fewer = sum(m.layers < a.layers for m in near)
    among = say(f"built.{place}", models=models, fewer=fewer, **sized, **shaped)
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


def _seen(d: Decision) -> dict[str, Any]:
    """What advice asks of a net."""
    a = d.net
    stacks = {"layers": a.layers, "encoder_layers": a.encoder_layers}
    return stacks | {"key": d.case.kind, "loops": a.layers // a.own_layers}


def _loops(d: Decision) -> LoopWorth | None:
    """What the loops of a net are worth, if it has any."""
    plain = d.net.own_layers == d.net.layers or d.net.layers % d.net.own_layers
    if plain or d.net.kind != "decoder":  # the law is of decoders
        return None
    from .loops import worth_of

    return worth_of(d.net, d.case.known_by)


def _outside_grids(d: Decision) -> Iterator[Coded]:
    """Where the question leaves what published grids hold."""
    b, t, p = d.beyond, d.data, d.phone
    apart = b is not None and b.apart
    there = {
        "warning.beyond": apart and d.reason.kind == "rule",
        "warning.tokens-below": t is not None and t.place == "below",
        "warning.tokens-above": t is not None and t.place == "above",
        "warning.repeated": t is not None and t.repeated,
        "warning.phone": p is not None,
    }
    known = {"b": b, "t": t, "p": p, "recalled": p is not None and p.wording == "recalled"}
    known["tiny"] = t is not None and t.each < _TINY
    yield from (_coded(code, **known) for code, so in there.items() if so)


def _of_tokens(d: Decision) -> Iterator[Coded]:
    """What the number of tokens changes, by whom; and what makers say of shallow nets."""
    b, t = d.beyond, d.data
    there = {
        "doubt.tokens-inside": t is not None and t.place == "inside",
        "doubt.tokens-law": t is not None and d.second is not None,
        "doubt.repeated": t is not None and t.repeated,
        "doubt.shallow": b is not None and b.rule > b.high,
    }
    for code, so in there.items():
        said = "; ".join(say("fact", fact=fact) for fact in facts(code.partition(".")[2]))
        if so:
            yield _coded(code, t=t, s=d.second, facts=said)


def _warnings(d: Decision) -> Iterator[Coded]:
    case, a = d.case, d.net
    yield from _outside_grids(d)
    seen, target, c = layers_of(a), case.resolved.target, case.constraints
    off = measure(a, target.of) / target.value - 1
    if abs(off) > WORTH_SAYING and case.model is None:
        yield _coded("warning.size", off=abs(off), larger=off > 0)
    if (moved := d.moved) and moved.against:
        known = {"layers": moved.against[0], "size": target.value, "of": NAMES[target.of]}
        demands, left = _demand_names(d, moved.demands), count(a).nonembedding
        yield _coded(f"warning.{moved.code}", **known, a=a, demands=demands, left=left)
    if case.model is None and (parts := unbuilt(a)):
        named = listed([say(f"unbuilt.{each.part}", value=each.value) for each in parts])
        yield _coded("warning.unbuilt", parts=named)
    if e := a.experts:
        active, experts = e.active + e.shared, e.count + e.shared
        yield _coded("warning.experts", active=active, experts=experts)
    elif abs(seen.per_layer / 12 - 1) > _FAR_FROM_12 and (
        case.model or not c.gated or c.ff_factor or c.kv_ratio
    ):
        yield _coded("warning.layer-weights", weights=seen.per_layer)
    if a.own_layers < a.layers:
        yield _coded("warning.loops", own=a.own_layers, times=a.layers // a.own_layers)
    if (worth := _loops(d)) and worth.values:
        yield _coded("warning.loop-worth", worth=worth, usual=worth.values[0])
        several, usual = worth.sources > 1, worth.values[0]
        other = next(iter(worth.others), None)
        beside: dict[str, Any] = {"other": other, "fits": other and f"{other.exponent:.2f}"}
        yield _coded("warning.loop-source", worth=worth, several=several, usual=usual, **beside)
    if a.kind != "decoder":
        yield _coded("warning.kind", kind=a.kind)
    yield from _untrainable(d.net, d.case.resolved)
    for each in advice(**_seen(d)):
        if each.warns:
            yield _coded("warning.training", advice=each)
    fit = case.resolved.budget.latency
    if fit and (far := fit.outside(a, REACH)):
        yield _coded("warning.no-time", far=far)
    elif fit and (far := fit.outside(a)):
        yield _coded("warning.time-extrapolated", far=far)
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
    rung = ladder_for(c, target.of, case.known_by, case.each).at(start * (1 - WORTH_SAYING))
    mine = depths_within(a, c, case.known_by, case.each)
    theirs = rung and depths_within(rung.architecture, c, case.known_by, case.each)
    if rung is None or mine is None or theirs is None:
        return
    if mine.high >= theirs.high and mine.low >= theirs.low:
        return
    changed = [
        say(f"defaults.{name}", now=now, before=before)
        for name in ("vocabulary", "tied", "ff_factor")
        if getattr(c, name) is None and getattr(now, name) != getattr(before, name)
        if name != "ff_factor" or c.gated
    ]
    waits = rung.architecture.layers == a.layers
    known = {"start": before.below, "changed": "; ".join(changed) or "heads", "ends": theirs.ends}
    yield _coded("warning.defaults", waits=waits, layers=a.layers, **known)


def _untrainable(a: Architecture, resolved: Resolved) -> Iterator[Coded]:
    """Where the GPUs that train a net cannot hold what training keeps of each weight."""
    b, needed = resolved.budget, memory(a)
    if b.gpu is None or resolved.hours is None:
        return
    device = gpu(b.gpu)
    assert needed.gradients is not None
    assert needed.optimiser is not None
    state = needed.weights + needed.gradients + sum(needed.optimiser.values())
    if device.memory is not None and state > b.gpus * device.memory:
        held, each = b.gpus * device.memory, state / count(a).total
        known = {"gpus": b.gpus, "device": device, "memory": held, "state": state, "each": each}
        yield _coded("warning.training-memory", **known)


def _training(
    a: Architecture, resolved: Resolved, c: Constraints, known_by: int | None
) -> TrainingCost | None:
    """What training takes, where GPUs to train on are given."""
    if resolved.budget.gpu is None:
        return None
    # Tables of published trainings, which most answers do not need.
    from .training_cost import training_cost

    return training_cost(a, resolved, c, known_by)


def _plan_warnings(cost: TrainingCost, hopeless: bool) -> Iterator[Coded]:
    """What a plan does not fit, unless no plan would, and what it does not divide."""
    if cost.fits is False and not hopeless:
        parts = "tensor", "pipeline", "zero", "recompute"
        kept = [f"--{name}" for name in parts if name not in cost.chosen]
        kept += ["--microbatch"] * (cost.plan.microbatch > 1)
        yield _coded("warning.training-plan", cost=cost, kept=kept)
    if cost.plan.gpus >= 8 and cost.plan.tensor == 1 and cost.lost_over_8:
        losses = [f"{100 * share:.0f} % on the {name}" for name, share in cost.lost_over_8.items()]
        yield _coded("warning.plan-machine", losses=losses)
    for name, lost in cost.lost.items():
        by = cost.plan.pipeline if name == "layers" else cost.plan.tensor
        yield _coded("warning.plan-divides", name=name, lost=lost, by=by)


def _doubts(d: Decision, built: Built | None) -> Iterator[Coded]:
    case, a, within = d.case, d.net, None if d.far else d.case.interval(d.net)
    outside = built.among if built is not None and built.outside else ""
    if case.model is None and within is not None and not within.low <= a.layers <= within.high:
        yield "outside-range", _range_doubt(a, within)
    if d.far:
        yield _coded("doubt.far", carried=CARRIED)
    elif within is None:
        yield _coded("doubt.no-grid")
    elif within.extrapolated:
        usual, better = d.leaning and d.leaning.layers, _better_depths(d, within)
        known = {"usual": usual, "untold": _UNTOLD, "better": better, "outside": outside}
        yield _coded("doubt.extrapolated", **known)
    elif d.data is not None and (better := _better_depths(d, within, UNTOLD)):
        yield "tokens-prefer", better
    seen = case.seen(a)
    if against := contradicting(seen.parameters, a.layers, seen.per_layer, case.known_by):
        yield _coded("doubt.contradicted", comparisons="; ".join(map(str, against)))
    if of_range := _against_depths(d)[1]:
        yield _coded("doubt.range-contradicted", comparisons="; ".join(map(str, of_range)))
    if outside and not (within and within.extrapolated):
        yield "unlike-models", outside
    choices = [law for law in d.laws if law.meaning in ("optimum", "default")]
    if choices:
        yield _coded("doubt.laws-disagree", least=choices[0], most=choices[-1])
    yield from _of_tokens(d)
    if case.kind.parametrisation != "standard" or case.kind.residual != "plain":
        yield _coded("doubt.one-source")
    yield _coded("doubt.one-run")


def _range_doubt(a: Architecture, within: Interval) -> str:
    """What the range says of a recommended depth outside it, as it would of a configuration."""
    shallow = a.layers < within.low
    if not within.trained(a.layers):
        return say("range.not-trained", layers=a.layers, shallow=shallow)
    fewer = f"{within.too_shallow:,} or fewer" if within.too_shallow else ""
    end = fewer if shallow else f"{within.too_deep:,} or more"
    known = {"place": within.place(a.layers), "sources": " and ".join(within.sources)}
    return say("range.outside", layers=a.layers, end=end, within=within, **known)


# --- a configuration ------------------------------------------------------------------------------


def _verdicts(d: Decision, built: Built | None) -> Iterator[Coded]:
    """On a configuration, most important first."""
    case, a, c = d.case, d.net, d.case.constraints
    yield _coded("verdict.depth", layers=a.layers, said=_depth_verdict(d))
    if excluded := case.resolved.excludes(a):
        # Weights of equal size take the same memory at any depth.
        stuck = d.instead is None and not case.shares
        yield _coded("verdict.limit", excluded=excluded, stuck=stuck)
    if c.pipeline > a.own_layers:
        yield "stages", say("verdict.too-few-layers", layers=a.layers, pipeline=c.pipeline)
    elif a.own_layers % c.pipeline:
        below = a.own_layers // c.pipeline * c.pipeline
        split = sorted(Counter(stages(a.own_layers, c.pipeline)).items(), reverse=True)
        known = {"speed": a.own_layers / c.pipeline / split[0][0], "pipeline": c.pipeline}
        named = " and ".join(f"{times} with {n}" for n, times in split)
        legal = {"below": below, "above": below + c.pipeline}
        yield _coded("verdict.stages", layers=a.layers, split=named, **known, **legal)
    if a.heads % c.tensor:
        yield _coded("verdict.tensor", heads=a.heads, tensor=c.tensor)
    if built:
        names = ", ".join(f"{name} ({n} x {d:,})" for name, n, d in built.nearest)
        yield _coded("verdict.models", experts=a.experts, built=built, names=names)
    for law in d.laws:
        if law.key == "threshold":
            far, reached = a.layers > 2 * law.layers, a.layers >= law.layers
            yield _coded("verdict.floor", least=law.layers, far=far, reached=reached)


def _depth_verdict(d: Decision) -> str:
    """What the grids say of a depth: a number where they have one, and no more than they saw."""
    case, a, within = d.case, d.net, d.within
    if case.shares:
        return say("depth.shares", own=a.own_layers)
    if d.far:
        return say("depth.far", carried=CARRIED)
    if within is None:
        return say("depth.no-grid")
    if not within.trained(a.layers):
        lose = say("depth.lose", within=within, named=True)
        return say("depth.not-trained", shallow=a.layers < within.low, lose=lose)
    traded = None if d.advised is None else case.trade(d.advised, a)
    named = traded is None or not set(within.sources) <= set(traded.sources)
    parts = [_loss_verdict(d, traded), say("depth.lose", within=within, named=named)]
    place = within.place(a.layers)
    return "; ".join(parts if place == "inside" else [place, *parts])


def _loss_verdict(d: Decision, t: Trade | None) -> str:
    """The loss of a net against that of the advised depth at equal parameters, and the compute that
    the difference is worth."""
    goal, a = d.advised, d.net
    if goal is None or t is None:
        return say("depth.advised")
    if t.loss is None:
        return say("depth.loss-not-known", goal=goal, sources=_sources(t))
    more = -larger(a, goal) / (1 + larger(a, goal))
    unequal = "" if abs(more) <= EQUAL else _parameters(more)
    known = {"goal": goal, "larger": unequal, "sources": _sources(t)}
    if negligible(t.loss):
        return say("depth.loss-alike", **known)
    factors = worth(goal, t.loss, d.case.known_by, d.case.each) or (1.0, 1.0)
    low, high = sorted(round(100 * (factor - 1)) for factor in factors)
    least, most = sorted(map(abs, (low, high)))
    worth_of = _span(f"{least}", f"{most}") if least else f"up to {most}"
    if low < 0 < high:  # the grids do not agree which of the two is better
        worth_of = f"{low} to +{high}"
    return say("depth.loss", loss=t.loss, worth=worth_of if most else "", **known)


# --- what was asked -------------------------------------------------------------------------------


def _question(d: Decision) -> str:
    """What was asked, as it was understood."""
    if a := d.case.model:
        name = a.name or a.family or "the given net"
        return say("question.net", name=name, a=a, parameters=count(a).total)
    b, target = d.case.resolved.budget, d.case.resolved.target
    parts = [say("question.size", of=target.value, counted=NAMES[target.of])]
    # A GPU that nothing is computed from is no part of the question; the notes say so.
    if b.gpu is not None and not idle_gpu(b):
        parts.append(say("question.gpu", b=b, timed=b.hours is not None))
    parts += [
        say(f"question.{name}", of=value, b=b, again=b.epochs > 1, one=value == 1)
        for name in ("flops", "tokens", "milliseconds", "memory", "kv_bytes")
        if (value := getattr(b, name)) is not None
    ]
    return f"How deep should a net be: {', '.join(parts)}?"


def _together(d: Decision, tasks: tuple[TaskAnswer, ...]) -> str:
    """The depths that meet size and task, for each construction; or what rules them out."""
    deep, parts, met = d.net.layers, [], False
    for task in tasks:
        numbers = zip(task.labels or [""] * len(task.numbers), task.numbers, strict=True)
        for label, number in numbers:
            if number.meaning not in ("exact", "suffices"):
                continue
            asked = number.layers
            depth, ruling_out = depth_for(d, asked)
            met |= not ruling_out
            known = {"label": label, "layers": depth, "asked": asked}
            if ruling_out:
                demands = _demand_names(d, ruling_out)
                parts.append(say("together.ruled-out", demands=demands, **known))
            else:
                parts.append(say("together.met", more=depth > max(deep, asked), **known))
    depths = ", ".join(part.strip() for part in parts)
    return say("together", depths=depths, met=met, layers=deep) if parts else ""


# --- a net by its tensors -------------------------------------------------------------------------

# Kinds of layers that the short answer names.
_KINDS = 4


def of_tensors(
    net: GivenNet, tasks: tuple[TaskAnswer, ...] = (), known_by: int | None = None
) -> Answer:
    """What is known of a net of which the tensors alone are: counts, layers and width, and what
    grids say of such a depth."""
    s, within, said = net.stored, None, say("tensors.no-depth")
    assert s is not None
    others = [kind for kind in s.layer_kinds if kind != "attention"]
    if s.mixed and s.stacks:
        known = others or s.recognised
        said = say("depth.hybrid", kinds=others or [say("kind.single")])
        said = said if known else say("tensors.no-parts")
    elif s.layers and s.width:
        within = interval(s.layers * s.width**2, per_layer=1, known_by=known_by)
    if within and s.layers and s.width and within.far(12 * s.layers * s.width**2):
        within, said = None, say("depth.far", carried=CARRIED)
    if within and s.layers:
        lose = say("depth.lose", within=within, named=True)
        said = "; ".join([within.place(s.layers)] * (within.place(s.layers) != "inside") + [lose])
    other = within and (s.encoder_layers or s.experts)
    codes, doubts = _parted([_coded("tensors.other-nets")] if other else [])
    answer = Answer(say("question.tensors", s=s), interval=within, tasks=tasks, doubts=doubts)
    verdict = say("tensors.depth", s=s, said=said)
    screen = [_line("more.why")]
    if within and s.layers and s.width:
        place = within.place(s.layers).replace(" ", "-")
        screen += [_line(f"answer.{place}", layers=s.layers, likely=within.extrapolated)]
        screen += _ranged(within, 12 * s.layers * s.width**2)
    else:
        screen += [_line("answer.mixed", said=_capital(verdict))]
    answer = replace(answer, verdicts=(verdict,), verdict_codes=("depth",), doubt_codes=codes)
    return with_tensors(replace(answer, screen=tuple(screen)), net)


def with_tensors(answer: Answer, net: GivenNet) -> Answer:
    """An answer about a net with what its tensors say."""
    codes, warnings = _parted(_coded(f"tensors.{code}", **known) for code, known in net.remarks)
    return replace(
        answer,
        stored=net.stored,
        warnings=(*answer.warnings, *warnings),
        warning_codes=(*answer.warning_codes, *codes),
    )


def tensor_remarks(net: GivenNet) -> list[str]:
    """What a reader must know of the counts of a net by its tensors."""
    return [say(f"tensors.{code}", **known) for code, known in net.remarks]


def _tensor_rows(s: Checkpoint, alone: bool) -> Iterator[Row]:
    """What tensors say; of a net whose shape is known, how many there are."""
    kinds = s.stacks[0].kinds if s.stacks and alone else ()
    if len(kinds) > 1:
        named = [say("tensors.kind", kind=kind) for kind in kinds[:_KINDS]]
        more = max(0, len(kinds) - _KINDS)
        yield "Layers", say("tensors.kinds", kinds="; ".join(named), more=more)
    dtypes = [name for name, _ in zip(s.dtypes, range(3), strict=False)]
    yield "Counted", say("tensors.counted", s=s, dtypes=dtypes)
    if alone:
        unknown = [name for name in ("heads", "context", "d_ff") if getattr(s, name) is None]
        yield "Unknown", say("tensors.unknown", names=[*unknown, "costs of a token"])


def _tensor_lines(s: Checkpoint) -> Iterator[str]:
    """Everything that tensors say."""
    yield say(
        "tensors.stored", s=s, dtypes=[f"{size(n)} in {name}" for name, n in s.dtypes.items()]
    )
    for stack in s.stacks:
        kinds = "; ".join(say("tensors.each", kind=kind) for kind in stack.kinds)
        yield say("tensors.stack", stack=stack, kinds=kinds)
    yield from (say("tensors.shared", names=names) for names in s.shared)


# --- for people -----------------------------------------------------------------------------------


def as_text(answer: Answer, width: int = 80) -> str:
    """The first screen: the answer, how sure it is, what would change it, the floor of theory and
    where to read more; below, the shape, its costs and what is to be minded.

    Args:
        answer: of `recommend`.
        width: columns; no line is longer unless a single word is.
    """
    parts = (label_rows(rows(answer), width) for rows in (_short, _below))
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def explained(answer: Answer, width: int = 80) -> str:
    """Everything else there is to say, with sources: what `--why` adds to `as_text`."""
    parts = []
    for heading, rows in _sections(answer):
        if lines := label_rows(rows, width, "- "):
            parts.append("\n".join([*wrapped(heading, width), *lines]))
    if answer.neighbours:
        parts.insert(1, _around(answer.neighbours, width))
    return "\n\n".join([*parts, "\n".join(wrapped(say("legend"), width))])


def as_html(answer: Answer) -> str:
    """The answer for a notebook: what `as_text` says as a table, and below it, folded, what
    `explained` says."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(label)}</th>'
        f'<td style="text-align:left">{escape(line)}</td></tr>'
        for label, line in (*_short(answer), *_below(answer))
    )
    return (
        f"<table>{rows}</table><details><summary>Why, with sources</summary>"
        f"<pre>{escape(explained(answer))}</pre></details>"
    )


def _short(answer: Answer) -> Iterator[Row]:
    """What opens the first screen: a row for each slot, after what was asked."""
    yield "", answer.question
    yield from _slots(answer, "answer", "sure", "change", "floor", "more")


def _slots(answer: Answer, *slots: str) -> Iterator[Row]:
    for slot in slots:
        texts = [text for code, text in _warned(answer) if _WARNINGS_IN.get(code) == slot]
        texts += [said.text for said in answer.screen if said.slot == slot]
        if texts:
            yield SLOTS[slot], " ".join(texts)


def _warned(answer: Answer) -> Iterator[Coded]:
    """Warnings as sentences, with their codes."""
    for code, text in zip(answer.warning_codes, answer.warnings, strict=True):
        yield code, f"{_capital(text)}."


def _below(answer: Answer) -> Iterator[Row]:
    """What stands below that: the shape, its costs, and what is to be minded."""
    given, proposed = answer.given, _proposal(answer)
    if answer.stored and not given:
        s = answer.stored
        own, active = s.own_layers != s.layers, s.active not in (None, s.total)
        known = {"own": own, "active": active, "unknown": s.active is None}
        yield "Given", say("tensors.given", s=s, **known)
        yield from _tensor_rows(s, alone=True)
    if given:
        yield "Given", _net(given)
        if (f := answer.flops) and (m := answer.memory):
            net = given.architecture
            yield "Cost", say("cost.net", f=f, m=m, context=net.context, attends=net.attending)
    if proposed:
        yield "Instead" if given else "Shape", _net(proposed)
    yield from _slots(answer, "cost", "near", "note")
    if answer.losses:
        yield "Losses", next_net(answer.losses)
    if answer.limits:
        yield "Budget", " ".join(f"{_capital(limit)}." for limit in answer.limits)
    if cost := answer.training:
        assert answer.shape is not None
        unlike = [say("training.attention")] if answer.hybrid else []
        yield "Training", " ".join([*_training_time(cost, answer.shape.architecture), *unlike])
        if cost.kinds:
            yield "", " ".join(_hybrid_training(cost))
        held = [f"{part} {binary(number)}" for part, number in cost.memory.items() if number]
        said = say("training.memory", cost=cost, parts=", ".join(held), plan=_plan(cost))
        yield "Memory", " ".join([said, *unlike])
    if len(set(answer.stages)) > 1 and not given:
        split = sorted(Counter(answer.stages).items())
        parts = " and ".join(f"{times} of {layers(n)}" for n, times in split)
        yield "Stages", say("short.stages", number=len(answer.stages), parts=parts)
    for task in answer.tasks:
        if answer.shape:
            question = _capital(task.question.removeprefix("Task: "))
            yield "Task", say("short.task", question=question, headline=task.headline)
        else:
            for at, n in _labels(task):
                yield at, say("short.number", number=n, name=n.name.removeprefix(at).strip())
            for place, remark in enumerate(() if task.numbers else task.remarks):
                yield "" if place else "Known", remark
    for code, text in zip(answer.verdict_codes, answer.verdicts, strict=True):
        if code not in ("depth", "models", "floor"):
            yield "Note", f"{_capital(text)}."
    if answer.together:
        yield "Together", answer.together
    if h := answer.hybrid:
        places = listed(h.places) if len(h.places) <= _NAMED_LAYERS else ""
        looped = h.layers != answer.layers
        yield SLOTS["note"], say("note.hybrid", h=h, places=places, looped=looped)
    if answer.stored and given:
        yield from _tensor_rows(answer.stored, alone=False)
    yield from (("Warning", text) for code, text in _warned(answer) if code not in _WARNINGS_IN)


def _net(candidate: Candidate) -> str:
    """A shape with its counts, in sentences."""
    a, c = candidate.architecture, candidate.counts
    parts = [shape(a), say("short.vocabulary", a=a), counted(c) + _speed(candidate)]
    return " ".join(f"{_capital(part)}." for part in parts)


def _loop_rows(worth: LoopWorth) -> Iterator[str]:
    """The law in its variants, every published loop beside it, and exact depths in loops."""
    for value in worth.values:
        yield say("loops.law", value=value, worth=worth)
    for published in worth.published:
        implied = published.exponent and f"{published.exponent:.2f}"
        yield say("loops.published", p=published, implied=implied)
    for task, depth, checked in worth.exact:
        yield say("loops.exact", task=task, depth=depth, checked=checked)


def _hybrid_rows(h: HybridAdvice) -> Iterator[str]:
    yield say("hybrid.mixer", h=h)
    for reason in h.reasons:
        yield say(f"hybrid.{reason.code}", h=h) + " " + _source_note(*reason[1:], None, None)


def recipe(answer: Answer, width: int = 80) -> str:
    """What to set for a net of this depth, each with its source, verdict and conditions, and the
    same as lines of PyTorch.

    Args:
        answer: of `recommend`, about a net.
        width: columns; lines of PyTorch are left whole.
    """
    rows = []
    for each in answer.recipe:
        known = _source_note(each.source, each.wording, each.claim, verdict(each.claim))
        rows.append(say("recipe.line", advice=each, known=known))
    code = [say("recipe.code"), "", *answer.snippet.splitlines()] if answer.snippet else []
    heading = "recipe.hybrid" if answer.hybrid else "recipe.heading"
    said = say(heading, layers=answer.layers, h=answer.hybrid)
    return "\n".join([*wrapped(said, width), *label_rows(rows, width, "- "), "", *code])


def _hours(cost: TrainingCost) -> str:
    """How long a training takes, in seconds, minutes, hours, or days from two on.

    >>> from types import SimpleNamespace
    >>> _hours(SimpleNamespace(hours=(8.2, 12.4, 17.0))), _hours(SimpleNamespace(hours=(70,) * 3))
    ('12 hours (8.2 to 17)', '2.9 days')
    """
    unit, per = _unit(cost.hours[1])
    low, middle, high = (few_digits(hours / per) for hours in cost.hours)
    return f"{middle} {unit}" + (f" ({low} to {high})" if low != high else "")


def _unit(hours: float) -> tuple[str, float]:
    """The unit in which so long a time is said, and its hours."""
    if hours < 1 / 60:
        return "seconds", 1 / 3600
    if hours < 1:
        return "minutes", 1 / 60
    return ("hours", 1.0) if hours < 48 else ("days", 24.0)


def _lasting(hours: float, digits: int = 2) -> str:
    unit, per = _unit(hours)
    number = few_digits(hours / per, digits)
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def _training_time(cost: TrainingCost, a: Architecture) -> Iterator[str]:
    """How long a training takes, by what that is known, and whether the time given is kept."""
    yield say("training.time", cost=cost, hours=_hours(cost), by=_times_by(cost))
    if cost.given is not None and cost.over is not None:
        over = next((hours for hours in cost.over[1:] if hours > 0), 0.0)
        known = {"given": _lasting(cost.given, 3), "over": _lasting(over)}
        yield say(f"kept.{cost.kept}", **known)
        published, apart = cost.efficiencies is not None, cost.hours[0] < cost.hours[2]
        of = {"looped": a.own_layers < a.layers, "active": a.experts is not None}
        measured = apart and not published
        yield say("training.differs", published=published, measured=measured, **of)
    if a.context > cost.context:
        yield say("training.context", cost=cost, a=a)


def _hybrid_training(cost: TrainingCost) -> Iterator[str]:
    """What the time of a net with layers of several kinds rests on."""
    everything = sum(part.operations for part in cost.kinds.values())
    most = sorted(cost.kinds.items(), key=lambda item: -item[1].operations)[:_KINDS]
    shares = [f"{_kind_name(kind)} {part.operations / everything:.0%}" for kind, part in most]
    yield say("training.kinds", shares=shares, known=cost.efficiencies)
    yield say("training.beside" if cost.nearest else "training.alone", near=cost.nearest)


def _kind_name(kind: str) -> str:
    """A kind of layer, or a role of weights, as sentences call it."""
    known = layer_kinds()
    return known[kind].name if kind in known else _TABLE.get(f"kind.{kind}", kind)


def _times_by(cost: TrainingCost) -> str:
    """By what the times of a training are known."""
    if cost.efficiencies:
        e = cost.efficiencies
        span = e.high if round(100 * e.high) > round(100 * e.low) else None
        return say("training.published", e=e, span=span, alone=len(e.sources) == 1)
    low, middle, high = cost.utilisation
    code = "training.stated" if low == high else "training.measured"
    return say(code, share=middle, kernels=cost.step.kernels / cost.step.seconds or None)


def _plan(cost: TrainingCost) -> str:
    """How the GPUs are divided."""
    plan = cost.plan
    degrees = {
        name: number for name in ("tensor", "pipeline") if (number := getattr(plan, name)) > 1
    }
    return say(
        "training.plan",
        plan=plan,
        cost=cost,
        tensor=degrees.get("tensor"),
        pipeline=degrees.get("pipeline"),
        zero=plan.zero or None,
        full=plan.recompute == "full",
        none=plan.recompute == "none",
        bubble=cost.step.bubble / cost.step.seconds or None,
        reductions=cost.step.reductions / cost.step.seconds or None,
    )


def _proposal(answer: Answer) -> Candidate | None:
    """The shape to build: the recommended one, or what stands in for a configuration."""
    return answer.instead if answer.given else answer.shape


def _speed(candidate: Candidate) -> str:
    return f"; {milliseconds(candidate.milliseconds)}" if candidate.milliseconds else ""


def _sections(answer: Answer) -> Iterator[tuple[str, Iterable[Row | str]]]:
    """Headings and what stands under each, with a label or without."""
    given, proposed = answer.given, _proposal(answer)
    if given:
        yield "The depth of the configuration:", answer.verdicts
        yield "Counts of the configuration:", _costs(given, answer)
    if proposed:
        yield "Counts of the recommended shape:", _costs(proposed, None if given else answer)
    if answer.shape:
        others = [
            f"{shape(c.architecture)}; {counted(c.counts)}{_speed(c)}. {c.why}"
            for c in answer.runners_up
        ]
        yield "Other shapes:", others
    if proposed:
        yield "Why this depth:", [proposed.why, answer.rule_why]
    elif answer.rule_why:
        yield "The advised depth:", [answer.rule_why]
    if within := answer.interval:
        sources = "; ".join(within.sources)
        second = say("range.second", s=answer.second) if answer.second else ""
        second += "".join(say("range.other", o=o) for o in answer.others)
        said = say("long.range", within=within, sources=sources, second=second)
        yield f"{within.ends} lose at most 1 %:", [said]
    if b := answer.built:
        near = [f"{name}: {deep:,} x {wide:,}" for name, deep, wide in b.nearest]
        spread = say("long.built", b=b)
        yield "Real models nearby:", [spread, *near, f"{b.models} models, known: {b.wording}"]
    yield ("Who says what (never averaged):", [(str(law.layers), _law(law)) for law in answer.laws])
    for task in answer.tasks:
        numbers = [(at, _task_number(n, at, n.certainty)) for at, n in _labels(task)]
        yield task.question, filter(None, [*numbers, task.sure, task.changes, *task.remarks])
        far = [(at, _capital(n.certainty)) for at, n in _labels(task) if n.certainty]
        if answer.shape:
            yield task.question, [*numbers, *task.remarks]
        else:  # the answer has said the rest
            yield "How far this goes:", far
    if s := answer.stored:
        yield "Tensors:", _tensor_lines(s)
    if answer.stages:
        yield "Layers of each pipeline stage:", [", ".join(map(str, answer.stages))]
    if answer.training:
        yield "Training on these GPUs:", _training_grounds(answer.training)
    yield "Initialisation for this depth:", answer.initialisation
    if worth := answer.loops:
        yield "Loops:", _loop_rows(worth)
    if hybrid := answer.hybrid:
        yield "Attention layers:", _hybrid_rows(hybrid)
    yield "Doubts:", answer.doubts


def _training_grounds(cost: TrainingCost) -> Iterator[str]:
    """What stands behind memory and hours of a training."""
    step, (low, _, high) = cost.step, cost.seconds
    yield say("long.step", step=step, low=low, high=high, recompute=cost.plan.recompute)
    if cost.chosen:
        yield say("long.plan", cost=cost)
    if e := cost.efficiencies:
        yield say("long.efficiencies", e=e)
    for kind, part in cost.kinds.items():
        yield say("long.kind-cost", name=_kind_name(kind), part=part)
    if cost.nearest:
        yield say("long.nearest", near=cost.nearest)


def _around(neighbours: Sequence[Neighbour], width: int) -> str:
    """A table of the shapes with one legal depth less, the same, and one more."""
    rows = [("equal", "shape", "heads", "d_ff", "size", "loss %", "compute")]
    for n in neighbours:
        a = n.architecture
        loss = percents(n.loss_change)[:-2] if n.loss_change else "not known"
        net = f"{a.layers:,} x {a.width:,}", f"{a.heads} ({a.key_heads})", f"{a.d_ff:,}"
        compute = _factors(n.speedup) if n.speedup else ""
        rows.append((n.equal, *net, size(n.counts.total), loss, compute))
    sources = dict.fromkeys(n.loss_source for n in neighbours if n.loss_change)
    unknown = dict.fromkeys(n.loss_source for n in neighbours if not n.loss_change)
    losses = ". not known: ".join("; ".join(names) for names in (sources, unknown) if names)
    timed = [
        f"{n.layers} layers, equal {n.equal}: {milliseconds(n.milliseconds)}"
        for n in neighbours
        if n.milliseconds
    ]
    lines = [*wrapped(say("long.neighbours", loss=losses), width), columns(rows, width)]
    return "\n".join([*lines, *label_rows(timed, width, "- ")])


def _costs(candidate: Candidate, answer: Answer | None) -> Iterator[str]:
    """Everything counted of a net; of the one that the answer's costs are of, those too."""
    a, c = candidate.architecture, candidate.counts
    yield say("long.counts", c=c)
    if not a.mixed:
        yield say("long.layer-weights", weights=per_layer(a) / a.width**2)
    if answer is None:
        return
    if answer.tokens:
        yield say("long.tokens", tokens=answer.tokens, each=answer.tokens / c.total)
    if answer.training_flops:
        yield say("long.training-flops", flops=answer.training_flops)
    if answer.flops:
        yield say("long.flops", f=answer.flops, mixed=a.mixed)
    if m := answer.memory:
        optimiser = sum((m.optimiser or {}).values())
        yield say("long.memory", m=m, optimiser=optimiser, attends=a.attending)


def _law(law: LawNumber) -> str:
    kinds = (law.parametrisation, law.norm, law.residual)
    special = [say(f"special.{name}") for name in kinds if f"special.{name}" in _TABLE]
    return say(
        "long.law",
        law=law,
        domain=_span(*map(size, law.domain)) if law.domain else "",
        special=" and ".join(special),
        remark=_capital(law.remark),
        known=_source_note(law.source, law.wording, law.claim, law.verdict, law.claim_about),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _labels(task: TaskAnswer) -> Iterator[tuple[str, TaskNumber]]:
    labels = task.labels or tuple(str(number.layers) for number in task.numbers)
    return zip(labels, task.numbers, strict=True)


def _task_number(number: TaskNumber, label: str, certainty: str = "") -> str:
    claim = number.claim
    return say(
        "long.task",
        number=number,
        name=number.name.removeprefix(label).strip(),
        regime=_capital(number.regime),
        certainty=certainty,
        known=_source_note(number.source, number.wording, claim, verdict(claim), about(claim)),
    )


def _source_note(
    source: str, wording: str, claim: str | None, value: str | None, of: str = ""
) -> str:
    """Where a number is from, how that is known, and the verdict on the claim about it, after what
    of the number that claim checks."""
    if not claim:
        return f"[{source}; {wording}]"
    named = f" ({claim_title})" if (claim_title := title(claim)) else ""
    judged = f"{f'{of}: ' if of else ''}claim {claim}{named}: {value or 'no verdict yet'}"
    if (named := f"claim {claim}") in source:
        return f"[{source.replace(named, judged)}; {wording}]"
    return f"[{source}; {wording}; {judged}]"


# --- phrases --------------------------------------------------------------------------------------


def shape(a: Architecture) -> str:
    """An architecture in one phrase.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> shape(Architecture(32, 4096, 32, 14336, 128256, kv_heads=8))
    '32 layers x width 4,096; 32 heads of 128 on 8 key-value heads; feed-forward width 14,336'
    """
    own = a.unique_layers if a.unique_layers != a.layers else None
    encoder = a.encoder_layers if a.kind == "encoder-decoder" else 0
    parts = [
        say("shape.layers", a=a, own=own, encoder=encoder),
        *([say("shape.heads", a=a, grouped=a.key_heads != a.heads)] if a.attending else []),
    ]
    if a.dense_mlps and a.d_ff:
        parts.append(say("shape.d_ff", a=a))
    if not a.gated and a.own_mlps:
        parts.append(say("shape.plain"))
    if a.experts:
        parts.append(say("shape.experts", e=a.experts))
    return "; ".join(parts)


def counted(c: Count) -> str:
    """Three counts in one phrase, those that are equal once."""
    return say("shape.counts", c=c, fewer=c.active != c.total)


def layers(number: int) -> str:
    """So many layers."""
    return plural(number, "layer")


def with_losses(answer: Answer, found: OwnLosses) -> Answer:
    """The answer with what somebody's own losses say of its net, in place of the advice to measure
    some."""
    laws = " or ".join(say("fit.brief", law=law.layers) for law in found.laws)
    known = {"laws": laws, "several": len(found.laws) > 1, "beyond": found.beyond > 1}
    known["hours"] = found.budget == "hours"
    code = "sure.own" if laws else "sure.own-nearest" if found.nearest else "sure.own-none"
    near = found.nearest
    own = [_line(code, **known, nearest=near, bounded=near and None not in near.layers)]
    if (layers := answer.layers) and found.laws:
        ends = [(round(law.layers[0]), round(law.layers[2])) for law in found.laws]
        if not any(low <= layers <= high for low, high in ends):
            own.append(_line("sure.own-apart", layers=layers, both=len(ends) > 1))
    kept = [said for said in answer.screen if (said.slot, said.code) != ("change", "measure")]
    return replace(answer, screen=(*own, *kept), losses=found)


def next_net(found: OwnLosses) -> str:
    """What the laws of somebody's own losses say of a net, beside published grids."""
    laws = [say(f"fit.{law.form}", law=law.layers) for law in found.laws]
    known = {**found._asdict(), "laws": " or ".join(laws), "hours": found.budget == "hours"}
    said = [say("next.laws" if laws else "next.none", **known)]
    if laws and found.beyond > 1:
        said.append(say("next.beyond", **known))
    return " ".join([*said, say("next.published", **known)])


def compared(
    what: str,
    least: list[str],
    most: list[str],
    low: int,
    high: int,
    kinds: str = "alike",
    unknown: Sequence[str] = (),
    context: int = 0,
) -> str:
    """Which of several nets have least and which most of something, of what is not known; `kinds`:
    whether their layers are alike, different, or unknown.

    >>> compared("layers", ["A"], ["B", "C"], 32, 36)
    'B and C are deepest, with 36 layers; A has 32.'
    """
    code = f"compare.{what}" if kinds == "alike" else f"compare.{what}.{kinds}"
    known = {"least": least, "most": most, "low": low, "high": high, "context": context}
    few, many = len(least) > 1, len(most) > 1
    times = high / low if high >= 2 * low > 0 else None
    text = say(code, **known, few=few, many=many, times=times, saved=1 - low / high)
    return " ".join(filter(None, (text, say("compare.unknown", names=unknown) if unknown else "")))


def milliseconds(interval: tuple[float, float, float]) -> str:
    """Milliseconds for one token with their interval."""
    low, middle, high = map(budgets.milliseconds, interval)
    return f"{middle} ms per token (95 %: {low} to {high})"


_SENTENCES = Sentences(
    few=few_digits,
    three=lambda number: few_digits(number, 3),
    percent=lambda share: f"{100 * share:.0f} %",
    factors=_factors,
    milliseconds=budgets.milliseconds,
    percents=percents,
)


# --- in one sentence ------------------------------------------------------------------------------


def citation(answer: Answer, version: str) -> str:
    """One sentence that says what was recommended, by what, and from which sources."""
    known = {rule.read_off: rule.source for rule in rules() if rule.read_off}
    parts, why = [], ""
    if proposed := _proposal(answer):
        by, why = _by_rule(answer, proposed)
        a, parameters = proposed.architecture, proposed.counts.total
        parts.append(say("cite.shape", a=a, parameters=parameters, by=by))
    if within := answer.interval:
        sources = "; ".join(known.get(name, name) for name in within.sources)
        parts.append(say("cite.range", within=within, sources=sources))
    for task in answer.tasks:
        sources = "; ".join(dict.fromkeys(number.source for number in task.numbers))
        parts.append(say("cite.task", task=task, sources=sources))
    if answer.given and not parts:
        net = answer.given
        parts.append(say("cite.counted", a=net.architecture, c=net.counts))
    says = ", and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
    return say("cite", version=version, question=answer.question, parts=says, why=why)


def _by_rule(answer: Answer, proposed: Candidate) -> tuple[str, str]:
    """The rule that chose the depth, with its source, or else in words of its own what set it, such
    as by what it differs where the answer has fewer layers than the rule."""
    law = next((law for law in answer.laws if law.key == answer.rule), None)
    if law is None or proposed.reason is None:
        return "", ""
    if proposed.reason.code != "rule":
        return "", proposed.why
    reached = " to ".join(map(size, law.domain)) if law.extrapolated and law.domain else ""
    known = say("cite.source", law=law, reached=reached)
    return (
        ("", f"{proposed.why} {known}") if answer.rule_layers else (f" by {law.name} {known}", "")
    )


def in_brief(answer: Answer) -> str:
    """The answer in one line, for a prompt.

    >>> from .recommendation import recommend
    >>> in_brief(recommend(task="hops", hops=16))
    '<Answer: 6 layers suffice for 16 hops: ceil(log_2 k) + 2>'
    """
    parts = [task.headline for task in answer.tasks]
    if proposed := _proposal(answer) or answer.given:
        a = proposed.architecture
        parts.insert(0, f"{a.layers:,} x {a.width:,}")
    return f"<Answer: {'; '.join(parts) or answer.question}>"
