"""What an audit found, in sentences of `words.toml`: each is made of values of `Audit`, and decides
nothing."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.rounding import interval

if TYPE_CHECKING:
    from depthlaw.empirics.audit.ladder import RungResult
    from depthlaw.empirics.audit.results import Audit, LeastBlock, Planted, Row, Search, Table
    from depthlaw.empirics.audit.statistics import Estimate, Telling

WORDS: dict[str, dict[str, str]] = tomllib.loads(
    files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
)
# How far rounding may move what a measure must say of a layer that was put in.
ROUNDING = 1e-6


def say(code: str, **known: object) -> str:
    """A sentence by its code."""
    return WORDS["say"][code].format(**known)


def number(estimate: Estimate) -> str:
    """A number with its interval.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> number(Estimate(1.25, 1.1934, 1.3099, 0.95, 64, "skewed"))
    '1.25 [1.19, 1.31]'
    >>> number(Estimate(0.016, 0.00807, 0.0237, 0.95, 64, "skewed"))
    '0.016 [0.008, 0.024]'
    """
    return _rounded(estimate.value, estimate.low, estimate.high)


def percent(estimate: Estimate) -> str:
    """A change of the loss, signed, with its interval in the same unit.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> percent(Estimate(0.013, 0.009, 0.018, 0.95, 64, "ratio"))
    '+1.3 % [0.9, 1.8]'
    >>> percent(Estimate(-0.0005, -0.00185, 0.000994, 0.95, 64, "ratio"))
    '-0.05 % [-0.19, 0.10]'
    """
    # 100 times a share, without the rounding of floats that an end would be widened by.
    shares = (estimate.value, estimate.low, estimate.high)
    value, low, high = (float(f"{100 * share:.12g}") for share in shares)
    return f"{'+' if value >= 0 else ''}{_rounded(value, low, high, ' %')}"


def _rounded(value: float, low: float, high: float, unit: str = "") -> str:
    """A value and its interval, with as many places as its width carries, and with so many that
    neither is 0 where the interval does not reach it; the ends are rounded outward. Without width
    four digits."""
    if not 0 < high - low < math.inf:
        return f"{value:.4g}{unit} {interval(low, high)}"
    least = [high - low] if low <= 0 <= high else [high - low, 5 * abs(low), 5 * abs(high)]
    places = max(0, *(math.ceil(math.log10(5 / size)) for size in least if size))
    said = (
        Decimal(f"{end:.12g}").quantize(Decimal(1).scaleb(-places), way)
        for end, way in ((value, ROUND_HALF_EVEN), (low, ROUND_FLOOR), (high, ROUND_CEILING))
    )
    # Of 0 the sign says nothing.
    middle, first, last = (f"{end if end else abs(end):f}" for end in said)
    return f"{middle}{unit} [{first}, {last}]"


def strict(level: float, *judged: int, what: str = "layers", half: str = "") -> str:
    """A level that is divided by how many are judged, and by two where half of the error is for
    something else.

    >>> strict(0.95, 6), strict(0.95, 1)
    ('99.2 % (1 - 0.05/6), because 6 layers are judged', '95 %')
    >>> strict(0.95, 6, half="the search")
    '99.6 % (1 - 0.05/12), because 6 layers are judged. Half of the error is for the search'
    """
    some = [count for count in dict.fromkeys(judged) if count > 1 or half]
    parts = []
    for count in some:
        by = 2 * count if half else count
        parts.append(f"{share(1 - (1 - level) / by)} (1 - {1 - level:g}/{by})")
    if not parts:
        return share(level)
    number = " and ".join(map(str, some))
    why = f"{number} {what} are judged" if some != [1] else f"one {what[:-1]} is judged"
    more = f". Half of the error is for {half}" if half else ""
    return f"{' and '.join(parts)}, because {why}{more}"


def share(level: float) -> str:
    """A level in percent, with a digit of what it lacks.

    >>> share(0.95), share(1 - 0.05 / 60)
    ('95 %', '99.92 %')
    """
    lacks = 100 * (1 - level)
    return f"{round(100 - lacks, max(1, -math.floor(math.log10(lacks)))):g} %"


def span(first: int, last: int) -> str:
    """Layers from 1.

    >>> span(4, 7), span(2, 2)
    ('5 to 8', '3')
    """
    return f"{first + 1}" if first == last else f"{first + 1} to {last + 1}"


def capital(said: str) -> str:
    """With a large first letter."""
    return said[:1].upper() + said[1:]


# Of tokens that a model is used on: a text, or words of a task.
_TEXTS = ("text", "words")


def kind(law: str) -> str:
    """What documents are of, by the law of their tokens."""
    named = {"text": "text", "words": "words of its task"}
    return named.get(law, f"random tokens, {law} law")


def on(audit: Audit) -> str:
    """What numbers are of, behind them: nothing of a text, else the law of random tokens."""
    return "" if audit.text.law in _TEXTS else f" on random tokens ({audit.text.law})"


def best_search(audit: Audit) -> Search | None:
    """The largest block that was found superfluous; else the search of single layers."""
    can_go = [search for search in audit.searches if search.call == "superfluous"]
    return next(iter([*can_go[::-1], *audit.searches]), None)


def answer(audit: Audit) -> str:
    """The first sentence, and the tolerance that it rests on."""
    search = best_search(audit)
    if search is None:
        climbs = ladder(audit.ladder, audit.changed)
        return " ".join([*climbs, say("unmeasured" if audit.model.objective else "no_head")])
    allowed = f"{100 * audit.tolerance:g}"
    if audit.fresh is not None and not audit.learnt:
        return say("unlearnt", fresh=_beside(audit.fresh), on=on(audit))
    row = spare(audit)
    if search.call != "superfluous" and row is not None and row.share is not None:
        known = {"layer": row.first + 1, "layers": audit.model.layers, "on": on(audit)}
        said = say("layer", cost=percent(row.share), allowed=allowed, **known)
        return f"{said} {_alone(audit)}"
    said = say(
        str(search.call),
        unit="single layer" if search.size == 1 else f"block of {search.size} layers",
        allowed=allowed,
        on=on(audit),
        **_facts(audit, search),
    )
    return f"{said} {_alone(audit)}".strip() if search.call == "superfluous" else said


def _alone(audit: Audit) -> str:
    """How many single layers are superfluous; "" where their calls are not known."""
    table = audit.table("removal", "loss")
    if table is None or not (many := calls(table)["superfluous"]):
        return ""
    return say("alone", many=many, layers=plural(audit.model.layers, "layer"))


def _beside(fresh: Estimate) -> str:
    """By how much a loss is higher or lower than another."""
    if fresh.value >= 0:
        return f"{percent(fresh).removeprefix('+')} higher"
    lower = replace(fresh, value=-fresh.value, low=-fresh.high, high=-fresh.low)
    return f"{percent(lower).removeprefix('+')} lower"


def called(audit: Audit, row: Row) -> str:
    """The call of a layer; "" where there is none, or the model is no better than fresh weights."""
    return row.call.value if row.call and audit.learnt else ""


def spare(audit: Audit) -> Row | None:
    """Of the single layers that were called superfluous, at a level divided by their number, the
    one whose cost is least at most."""
    table = audit.table("removal", "loss")
    calls = [row for row in table.rows if row.call == "superfluous"] if table else []
    return min(calls, key=lambda row: row.share.high if row.share else 0.0, default=None)


def headline(audit: Audit) -> list[str]:
    """The answer, what as many layers cost where nobody chose them, and the settling depth."""
    search = best_search(audit)
    return [answer(audit), _random(audit, search) if search else "", settling(audit)]


def _random(audit: Audit, search: Search) -> str:
    code = "random_all" if search.every else "random_many"
    if search.size == 1:
        return say("random_one", **_facts(audit, search))
    return " ".join(say(one, **_facts(audit, search)) for one in ("neighbours", code))


def _facts(audit: Audit, search: Search) -> dict[str, object]:
    ends = "" if search.size == 1 else "s"
    name = f"layer{ends} {span(search.first, search.last)}"
    which = f"{name} of {audit.model.layers}"
    return {
        "name": name,
        "which": which,
        "Which": capital(which),
        "size": search.size,
        "cost": percent(search.chosen.estimate),
        "random": percent(search.random),
        "neighbours": percent(search.neighbours),
        "sets": search.sets,
        "candidates": search.chosen.candidates,
        "Corrected": capital(corrected(search)),
    }


def corrected(*found: Search | LeastBlock) -> str:
    """How choices among candidates were corrected for, each way once."""
    said = (
        say(one.rule, level=share(one.estimate.level), **vars(one))
        for one in (each.chosen for each in found)
    )
    return "; ".join(dict.fromkeys(said))


def settling(audit: Audit) -> str:
    """The settling depth; "" where it was not measured."""
    table = audit.table("settling_depth", "mean")
    if table is None or not table.rows:
        return ""
    depth = number(table.rows[0].estimate)
    return say("settling", depth=depth, layers=plural(audit.model.layers, "layer"))


def lines(audit: Audit) -> list[tuple[str, str]]:
    """The first screen: a heading and a sentence or two each, of what there is."""
    brackets = say("brackets", level=f"{100 * audit.level:g}")
    found = [("Answer", answer(audit)), ("Sample", f"{sample(audit)} {brackets}")]
    for search in audit.searches:
        size = "One layer" if search.size == 1 else f"Block of {search.size}"
        said = say("searched", **_facts(audit, search))
        found.append((size, f"{said} {_random(audit, search)}"))
    found += [
        ("Changes", " ".join(changes(audit))),
        ("Settling", settling(audit)),
        ("Objectives", objectives(audit)),
        ("Copies", copies(audit)),
        ("Nulls", " ".join([*nulls(audit), planted(audit)]).strip()),
        ("Theory", theory(audit)),
        ("Ladder", " ".join(ladder(audit.ladder, audit.changed)) if audit.searches else ""),
        ("Limits", " ".join(limits(audit))),
    ]
    return [(name, said) for name, said in found if said]


def sample(audit: Audit) -> str:
    """The model, what it was measured on, and its loss."""
    text, model = audit.text, audit.model
    said = say(
        "sample",
        name=model.name,
        layers=plural(model.layers, "layer"),
        width=model.width,
        documents=text.documents,
        tokens=text.tokens,
        kind=kind(text.law),
    )
    if audit.loss is None:
        return said
    each = "label" if model.objective == "labels" else model.objective
    said = f"{said} {say('loss', loss=number(audit.loss), objective=each)}"
    return f"{said} {task(audit)}" if audit.task else said


def task(audit: Audit) -> str:
    """The second objective; "" where none was asked."""
    if audit.task is None:
        return ""
    asked = audit.task.sample
    source = f"the ladder {audit.task.ladder}" if audit.task.ladder else PurePath(asked.source).name
    questions = plural(asked.documents, "question")
    return say("task", source=source, questions=questions, loss=number(audit.task.loss))


def changes(audit: Audit) -> list[str]:
    """Of each change of the order of layers the block that it raises the loss least, of all sizes:
    their levels are divided by their number."""
    by_kind: dict[str, list[LeastBlock]] = {}
    for one in audit.least:
        if one.key != "angular_distance":
            by_kind.setdefault(f"{one.key}_{one.variant}", []).append(one)
    said = []
    for code, found in by_kind.items():
        best = min(found, key=lambda one: one.chosen.estimate.high)
        which = block(best)
        known = {
            "which": f"{'layers' if ' ' in which else 'layer'} {which} of {audit.model.layers}",
            "cost": percent(best.chosen.estimate),
            "candidates": sum(one.chosen.candidates for one in found),
        }
        said.append(say(code, **known))
        if audit.learnt:
            said.append(say({True: "gain", False: "no_gain", None: "few"}[best.gain]))
    return said


def block(least: LeastBlock) -> str:
    """Its layers from 1; of a swap both blocks."""
    if least.key != "swap":
        return span(least.first, least.last)
    half = least.first + least.size
    return f"{span(least.first, half - 1)} and {span(half, least.last)}"


def limits(audit: Audit) -> list[str]:
    """What the numbers do not say."""
    return [say("training"), say("other_text"), *([say("no_text")] if on(audit) else [])]


def objectives(audit: Audit) -> str:
    """How far two orders of the layers agree; "" without both."""
    if audit.objectives is None:
        return ""
    tau = audit.objectives
    code = "objectives" if tau.low > 0 or tau.high < 0 else "undecided_order"
    order = "a similar" if tau.value > 0 else "an opposite"
    said = say(code, order=order, tau=number(tau))
    if audit.task is None or audit.task.agreement is None:
        return said
    tau = audit.task.agreement
    code = "few_questions" if tau.low < 0 < tau.high else "objectives_task"
    questions = plural(audit.task.sample.documents, "question")
    return f"{said} {say(code, tau=number(tau), questions=questions)}"


def copies(audit: Audit) -> str:
    """Layers with equal weights; "" where there are none."""
    groups = "; ".join(
        f"layers {', '.join(str(layer + 1) for layer in group)}" for group in audit.model.shared
    )
    return say("copies", groups=groups) if groups else ""


def nulls(audit: Audit) -> list[str]:
    """Of each null model, how many measures tell the model from it, and how many would by chance
    were it one of the draws."""
    from depthlaw.empirics.audit.statistics import by_chance

    asked: dict[str, list[Telling]] = {}
    for table in audit.tables:
        for key, telling in table.told.items():
            if telling.told is not None:
                asked.setdefault(key, []).append(telling)
    found = []
    for key, tellings in asked.items():
        draws, law = tellings[0].draws, tellings[0].about == "law"
        code = "told" if law else "differ" if draws == 1 else "differ_each"
        known = {
            "told": sum(bool(telling.told) for telling in tellings),
            "all": len(tellings),
            "chance": f"{len(tellings) * by_chance(draws, audit.level):.2g}",
        }
        found.append(say(code, draws=draws, null=WORDS["null"][key], **known))
    if any(of[0].about != "law" and of[0].draws == 1 for of in asked.values()):
        # As many as allow a rank at the level; a float may lie just above a whole number.
        found.append(say("one_draw", draws=math.ceil(1 / (1 - audit.level) - 1e-9) - 1))
    return found


def cut(told: Mapping[str, int | str]) -> str:
    """How a text was cut into documents; "" of random tokens.

    >>> cut({"way": "windows", "short": 0, "ids left out": 17814, "not chosen": 67})
    'Cut by windows: 0 too short, 17,814 tokens unused, 67 not drawn.'
    """
    parts = (
        f"{value:,} {WORDS['cut'].get(name, name)}" for name, value in told.items() if name != "way"
    )
    return say("cut", way=told["way"], parts=", ".join(parts)) if "way" in told else ""


def drawn(audit: Audit, code: str = "drawn") -> str:
    """What numbers of null models are, behind a caption; "" where each was drawn once."""
    return say(code, draws=audit.draws, fewer=fewer(audit)) if audit.draws > 1 else ""


def fewer(audit: Audit) -> str:
    """Of how many orders of layers there are, where they are fewer than the draws; else ""."""
    orders = [table.told["permuted"].draws for table in audit.tables if "permuted" in table.told]
    some = min(orders, default=audit.draws)
    return say("fewer", draws=some) if some < audit.draws else ""


def planted(audit: Audit) -> str:
    """How many measures say of a layer that does nothing that it does, and whether the loss without
    a copy is that of the whole; "" where none was put in."""
    found = []
    for how in dict.fromkeys(one.how for one in audit.planted):
        layers = [one for one in audit.planted if one.how == how]
        must = [one for one in layers if one.identity is not None]
        seen, measures = sum(map(agrees, must)), plural(len(must), "measure")
        code = how if how == "zero" or seen else "copy_wrong" if must else "copy_unknown"
        known = {"seen": seen, "measures": measures}
        found.append(say(code, behind=layers[0].behind + 1, **known))
    return " ".join(found)


def agrees(planted: Planted) -> bool:
    """Whether a measure says of a layer that was put in what it must, but for rounding."""
    must = planted.identity
    return must is not None and abs(planted.estimate.value - must) <= ROUNDING


def theory(audit: Audit) -> str:
    """How many theorems speak of the model; "" where none was asked."""
    speak = sum(not row.reasons for row in audit.theory)
    known = {"speak": speak, "theorems": plural(len(audit.theory), "theorem")}
    return say("theory" if speak else "silent", **known) if audit.theory else ""


def calls(table: Table) -> Counter[str]:
    """How many layers are needed, superfluous or undecided."""
    return Counter(row.call.value for row in table.rows if row.call)


def climbed(rungs: Sequence[RungResult]) -> str:
    """How many rungs are above their baseline, and what a change of depth did to them.

    >>> climbed([])
    '0 of 0 rungs are above the baseline'
    """
    states = Counter(result.state for result in rungs if result.state)
    above = sum(result.had for result in rungs)
    parts = [f"{states[state]} {state}" for state in ("lost", "undecided", "kept") if states[state]]
    said = say("rungs", above=above, rungs=plural(len(rungs), "rung"))
    return f"{said}; after the change {', '.join(parts)}" if parts else said


def ladder(rungs: Sequence[RungResult], changed: Mapping[str, str]) -> list[str]:
    """How far the model climbs; after a change of depth, how many rungs were lost whose least depth
    in idealised nets is more than the layers that are left, and how many others."""
    if not rungs:
        return []
    said = [say("asked", climbed=capital(climbed(rungs)))]
    said += [say(how, layers=what) for how, what in changed.items()]
    had = [result for result in rungs if result.state not in (None, "never had")]
    if had:
        lost = [bool(result.beyond) for result in had if result.state == "lost"]
        beyond, both = sum(bool(result.beyond) for result in had), sum(lost)
        names = {"had": plural(len(had), "rung"), "beyond": beyond}
        said.append(say("predicted", **names, both=both, others=len(lost) - both))
    return said
