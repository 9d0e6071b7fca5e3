"""What an audit found, in sentences of `words.toml`: each is made of values of `Audit`, and decides
nothing."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
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
ROUNDING = 1e-5


def say(code: str, **known: object) -> str:
    """A sentence by its code."""
    return WORDS["say"][code].format(**known)


def number(estimate: Estimate) -> str:
    """A number with its interval.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> number(Estimate(1.25, 1.1934, 1.3099, 0.95, 64, "skewed"))
    '1.25 [1.19, 1.31]'
    """
    low, high = estimate.low, estimate.high
    return f"{_rounded(estimate.value, low, high)} {interval(low, high)}"


def percent(estimate: Estimate) -> str:
    """A change of the loss, signed, with its interval in the same unit.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> percent(Estimate(0.013, 0.009, 0.018, 0.95, 64, "ratio"))
    '+1.3 % [0.9, 1.8]'
    """
    # 100 times a share, without the rounding of floats that an end would be widened by.
    shares = (estimate.value, estimate.low, estimate.high)
    value, low, high = (float(f"{100 * share:.12g}") for share in shares)
    return f"{'+' if value >= 0 else ''}{_rounded(value, low, high)} % {interval(low, high)}"


def _rounded(value: float, low: float, high: float) -> str:
    """As many places as the width of its interval carries; without width four digits."""
    if not 0 < high - low < math.inf:
        return f"{value:.4g}"
    return f"{value:.{max(0, math.ceil(math.log10(5 / (high - low))))}f}"


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
        return say("unmeasured" if audit.model.objective else "no_head")
    allowed = f"{100 * audit.tolerance:g}"
    if audit.fresh is not None and not audit.learnt:
        return say("unlearnt", fresh=percent(audit.fresh), on=on(audit))
    row = spare(audit)
    if search.call != "superfluous" and row is not None and row.share is not None:
        known = {"layer": row.first + 1, "layers": audit.model.layers, "on": on(audit)}
        return say("layer", cost=percent(row.share), allowed=allowed, **known)
    return say(
        str(search.call),
        unit="single layer" if search.size == 1 else f"block of {search.size} layers",
        allowed=allowed,
        **_facts(audit, search),
    )


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
        "on": on(audit),
    }


def corrected(search: Search) -> str:
    """How the choice among candidates was corrected for."""
    return say(search.chosen.rule, **vars(search.chosen))


def settling(audit: Audit) -> str:
    """The settling depth; "" where it was not measured."""
    table = audit.table("settling_depth", "mean")
    if table is None or not table.rows:
        return ""
    depth = number(table.rows[0].estimate)
    return say("settling", depth=depth, layers=plural(audit.model.layers, "layer"), on=on(audit))


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
        ("Ladder", " ".join(ladder(audit.ladder, audit.changed))),
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
            "on": on(audit),
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
    said = say(code, order=order, tau=number(tau), on=on(audit))
    if audit.task is None or audit.task.agreement is None:
        return said
    more = say("objectives_task", tau=number(audit.task.agreement), on=on(audit))
    return f"{said} {more}"


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
        found.append(say(code, draws=draws, null=WORDS["null"][key], on=on(audit), **known))
    return found


def drawn(audit: Audit, code: str = "drawn") -> str:
    """What numbers of null models are, behind a caption; "" where each was drawn once."""
    return say(code, draws=audit.draws) if audit.draws > 1 else ""


def planted(audit: Audit) -> str:
    """How many measures say of a layer that does nothing that it does, and whether the loss without
    a copy is that of the whole; "" where none was put in."""
    found = []
    for how in dict.fromkeys(one.how for one in audit.planted):
        layers = [one for one in audit.planted if one.how == how]
        must = [one for one in layers if one.identity is not None]
        seen, measures = sum(map(agrees, must)), plural(len(must), "measure")
        code = how if how == "zero" or seen else "copy_wrong" if must else "copy_unknown"
        known = {"seen": seen, "measures": measures, "on": on(audit)}
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
    '0 of 0 rungs above the baseline'
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
