"""What an audit found, in sentences: each is made of values of `Audit`, and decides nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.rounding import interval

if TYPE_CHECKING:
    from depthlaw.empirics.audit.audit import Audit, Planted, Search, Table
    from depthlaw.empirics.audit.ladder import RungResult
    from depthlaw.empirics.audit.statistics import Estimate

# How far rounding may move a measure of a layer that does nothing.
ROUNDING = 1e-6
# Of null models, in sentences.
NULLS = {
    "initialised": "the same shapes with fresh weights",
    "permuted": "the same layers in random order",
    "shuffled": "the same text with its tokens shuffled",
    "random_block": "a random block of equal length",
    "duplicated": "the model with a layer doubled on purpose",
}

# The same as heads of columns.
SHORT = {
    "initialised": "fresh weights",
    "permuted": "layers mixed",
    "shuffled": "tokens shuffled",
}
# What theorems are about, by the key of their row.
THEORY = {
    "collapse": "Tokens become alike, doubly exponentially in depth",
    "amnesia": "A causal model forgets what stands far behind",
    "growth": "The stream grows with depth",
    "paths": "Heads on a path through the layers",
    "degree": "Degree of the output as a polynomial",
    "dimension": "Separation rank of two halves of the tokens",
    "threshold": "Depth at which width, not depth, limits the separation rank",
}
# Why a theorem says nothing here, by code.
REASONS = {
    "skips": "it is of layers without skip connections",
    "class": "it is of attention without softmax and without MLPs",
    "logits": "its condition on the range of logits is not met or not known",
    "weights": "the norms of weights that it needs are not known",
    "trained": "it is of weights at initialisation",
    "scheme": "it is not known how the weights were drawn",
    "order": "it is of causal models",
    "counts": "it counts paths and does not say what each does",
    "size": "the bound is not below what holds for every model",
    "unmeasured": "it bounds what was not measured",
}


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
    value, low, high = (100 * x for x in (estimate.value, estimate.low, estimate.high))
    return f"{'+' if value >= 0 else ''}{_rounded(value, low, high)} % {interval(low, high)}"


def _rounded(value: float, low: float, high: float) -> str:
    """As many places as the width of its interval carries; without width four digits."""
    if not high > low:
        return f"{value:.4g}"
    return f"{value:.{max(0, math.ceil(math.log10(5 / (high - low))))}f}"


def block(first: int, last: int, layers: int) -> str:
    """A block of layers, counted from 1.

    >>> block(4, 7, 12), block(2, 2, 12)
    ('layers 5 to 8 of 12', 'layer 3 of 12')
    """
    return f"layer{'' if first == last else 's'} {span(first, last)} of {layers}"


def span(first: int, last: int) -> str:
    """Layers from 1.

    >>> span(4, 7), span(2, 2)
    ('5 to 8', '3')
    """
    return f"{first + 1}" if first == last else f"{first + 1} to {last + 1}"


def on(audit: Audit) -> str:
    """What numbers are of, behind them: nothing of a text, else the law of random tokens."""
    return "" if audit.text.law == "text" else f" on random tokens ({audit.text.law})"


def best_search(audit: Audit) -> Search | None:
    """The largest block that was found superfluous; else the search of single layers."""
    from depthlaw.empirics.audit.statistics import Call

    if not audit.searches:
        return None
    can_go = [search for search in audit.searches if search.call == Call.SUPERFLUOUS]
    return can_go[-1] if can_go else audit.searches[0]


def answer(audit: Audit) -> str:
    """The first sentence, and the tolerance that it rests on."""
    from depthlaw.empirics.audit.statistics import Call

    search, layers = best_search(audit), audit.model.layers
    if search is None:
        if not audit.model.objective:
            return (
                "The model has no head and so no loss. Nothing here says which of its "
                f"{plural(layers, 'layer')} can go."
            )
        return "The loss without a layer was not measured; ask for the measures removal."
    if untold(audit):
        return (
            "Removal does not tell this model from the same shapes with fresh weights"
            f"{on(audit)}. Nothing is said of which layer is used."
        )
    which = block(search.first, search.last, layers)
    cost = f"{percent(search.chosen.estimate)} of the loss"
    allowed = f"The tolerance is {100 * audit.tolerance:g} %."
    if search.call == Call.SUPERFLUOUS:
        return f"{capital(which)} can go for {cost}{on(audit)}. {allowed}"
    if search.call == Call.NEEDED:
        unit = "single layer" if search.size == 1 else f"block of {search.size} layers"
        return (
            f"No {unit} was found that can go: {which}, the cheapest, costs {cost}{on(audit)}. "
            f"{allowed}"
        )
    return (
        f"{capital(which)} costs least to remove: {cost}{on(audit)}. {allowed} The sample does "
        "not decide between the two; more documents would."
    )


def compared(audit: Audit) -> str:
    """What the same number of layers costs where nobody chose them; "" without a search."""
    search = best_search(audit)
    if search is None:
        return ""
    cost = f"{percent(search.random)} of the loss on average{on(audit)}."
    if search.size == 1:
        return f"One layer costs {cost}"
    return f"Any {search.size} layers, drawn at random, cost {cost}"


def untold(audit: Audit) -> bool:
    """Whether the loss without a layer does not tell the model from fresh weights."""
    table = audit.table("removal", "loss")
    telling = table.told.get("initialised") if table else None
    return telling is not None and telling.told is False


def settling(audit: Audit) -> str:
    """The settling depth; "" where it was not measured."""
    table = audit.table("settling_depth", "mean")
    if table is None or not table.rows:
        return ""
    depth = number(table.rows[0].estimate)
    return (
        f"The settling depth is {depth} of {plural(audit.model.layers, 'layer')}{on(audit)}: "
        "after so many, on average, the head's prediction stays."
    )


def lines(audit: Audit) -> list[tuple[str, str]]:
    """The first screen: a heading and a sentence or two each, of what there is."""
    found = [("Answer", answer(audit)), ("Sample", sample(audit))]
    found += [(_size(search.size), searched(audit, search)) for search in audit.searches]
    found += [
        ("Settling", settling(audit)),
        ("Objectives", objectives(audit)),
        ("Copies", copies(audit)),
        ("Nulls", " ".join([*nulls(audit), planted(audit)]).strip()),
        ("Theory", theory(audit)),
        ("Limits", " ".join(limits(audit))),
    ]
    return [(name, said) for name, said in found if said]


def sample(audit: Audit) -> str:
    """The model, what it was measured on, and its loss."""
    text, loss = audit.text, audit.loss
    kind = "text" if text.law == "text" else f"random tokens, {text.law} law"
    said = (
        f"{audit.model.name}: {plural(audit.model.layers, 'layer')}, width {audit.model.width:,}; "
        f"{text.documents} documents of {text.tokens} tokens ({kind})."
    )
    if loss is None:
        return said
    said += f" The loss is {number(loss)} nats for each {audit.model.objective}."
    return said.replace("each labels", "each label")


def limits(audit: Audit) -> list[str]:
    """What the numbers do not say."""
    said = [
        "Training without a layer was not tried: a layer that can go afterwards may be one that "
        "training needs.",
        "Another text or another task may order the layers otherwise.",
    ]
    if audit.text.law != "text":
        said.append("Random tokens are no text: give --text FILE for an answer about use.")
    return said


def _size(size: int) -> str:
    return "One layer" if size == 1 else f"Block of {size}"


def capital(said: str) -> str:
    """With a large first letter."""
    return said[:1].upper() + said[1:]


def corrected(search: Search) -> str:
    """How the choice among candidates was corrected for."""
    chosen = search.chosen
    if chosen.rule == "split":
        return (
            f"{chosen.chosen_on} documents chose it, and the other {chosen.judged_on} gave the cost"
        )
    return f"the level of its interval is divided by {chosen.candidates}"


def searched(audit: Audit, search: Search) -> str:
    """The cheapest block of one size, beside layers that nobody chose."""
    which = block(search.first, search.last, audit.model.layers)
    random = "A layer" if search.size == 1 else f"{search.size} random layers"
    costs = "costs" if search.size == 1 else "cost"
    return (
        f"{capital(which)}, the cheapest of {search.chosen.candidates}: "
        f"{percent(search.chosen.estimate)} of the loss{on(audit)} ({corrected(search)}). "
        f"{random} {costs} {percent(search.random)} on average."
    )


def objectives(audit: Audit) -> str:
    """How far two orders of the layers agree; "" without both."""
    if audit.objectives is None:
        return ""
    return (
        "Kendall's tau of two orders of the layers, by loss and by change of the output, is "
        f"{number(audit.objectives)}{on(audit)}. 1 is the same order, and -1 the reverse."
    )


def copies(audit: Audit) -> str:
    """Layers with equal weights; "" where there are none."""
    groups = "; ".join(
        f"layers {', '.join(str(layer + 1) for layer in group)}" for group in audit.model.shared
    )
    return f"These have equal weights: {groups}." if groups else ""


def nulls(audit: Audit) -> list[str]:
    """Of each null model, how many measures tell the model from it."""
    asked: dict[str, list[bool]] = {}
    for table in audit.tables:
        for key, telling in table.told.items():
            if telling.told is not None:
                asked.setdefault(key, []).append(telling.told)
    return [
        f"{sum(told)} of {len(told)} measures tell the model from {NULLS[key]}"
        f"{'' if place else on(audit)}."
        for place, (key, told) in enumerate(asked.items())
    ]


def planted(audit: Audit) -> str:
    """How many measures say of a layer that does nothing that it does; "" where none was put in."""
    if not audit.planted:
        return ""
    seen = sum(map(nothing, audit.planted))
    return (
        f"A layer that adds zero was put behind layer {audit.planted[0].behind + 1}: {seen} of "
        f"{plural(len(audit.planted), 'measure')} say that it does nothing."
    )


def theory(audit: Audit) -> str:
    """How many theorems speak of the model; "" where none was asked."""
    if not audit.theory:
        return ""
    speak = sum(not row.reasons for row in audit.theory)
    return (
        f"{speak} of {plural(len(audit.theory), 'theorem')} say something of a model of this size. "
        "The page gives their numbers, and why the others say nothing."
    )


def nothing(planted: Planted) -> bool:
    """Whether a measure says of a layer that does nothing what it must, but for rounding."""
    return abs(planted.estimate.value - planted.identity) <= ROUNDING


def calls(table: Table) -> Counter[str]:
    """How many layers are needed, superfluous or undecided."""
    return Counter(row.call.value for row in table.rows if row.call)


def climbed(rungs: Sequence[RungResult]) -> str:
    """How many rungs are above chance, and what a change of depth did to them.

    >>> climbed([])
    '0 of 0 rungs above chance'
    """
    above = sum(result.before.low > result.chance for result in rungs)
    states = Counter(result.state for result in rungs if result.state)
    parts = [f"{states[state]} {state}" for state in ("lost", "undecided", "kept") if states[state]]
    return f"{above} of {plural(len(rungs), 'rung')} above chance" + "".join(
        f", {part}" for part in parts
    )
