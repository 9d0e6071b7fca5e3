"""What an audit found, in sentences: each is made of values of `Audit`, and decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.rounding import centre, interval

if TYPE_CHECKING:
    from depthlaw.empirics.audit.audit import Audit, Search, Table
    from depthlaw.empirics.audit.statistics import Estimate

# Of null models, in sentences.
NULLS = {
    "initialised": "the same shapes with fresh weights",
    "permuted": "the same layers in random order",
    "shuffled": "the same text with its tokens shuffled",
    "random_block": "a random block of equal length",
    "duplicated": "the model with a layer doubled on purpose",
}


def number(estimate: Estimate) -> str:
    """A number with its interval.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> number(Estimate(1.25, 1.19, 1.31, 0.95, 64, "skewed"))
    '1.250 [1.19, 1.31]'
    """
    ends = (estimate.low, estimate.high)
    return f"{centre(estimate.value, ends)} {interval(*ends)}"


def percent(estimate: Estimate) -> str:
    """A change of the loss, signed, with its interval in the same unit.

    >>> from depthlaw.empirics.audit.statistics import Estimate
    >>> percent(Estimate(0.013, 0.009, 0.018, 0.95, 64, "ratio"))
    '+1.3 % [0.9, 1.8]'
    """
    low, high = 100 * estimate.low, 100 * estimate.high
    places = 0
    while places < 6 and high > low and 10**-places > (high - low) / 5:
        places += 1
    sign = "+" if estimate.value >= 0 else ""
    return f"{sign}{100 * estimate.value:.{places}f} % {interval(low, high)}"


def block(first: int, last: int, layers: int) -> str:
    """A block of layers, counted from 1.

    >>> block(4, 7, 12), block(2, 2, 12)
    ('layers 5 to 8 of 12', 'layer 3 of 12')
    """
    if first == last:
        return f"layer {first + 1} of {layers}"
    return f"layers {first + 1} to {last + 1} of {layers}"


def where(audit: Audit) -> str:
    """What the numbers are of: a text, or random tokens under a named law."""
    if audit.text.law == "text":
        return "on this text"
    return f"on random tokens ({audit.text.law} law), not on text"


def best_search(audit: Audit) -> Search | None:
    """The largest block that was found superfluous; else the search of single layers."""
    from depthlaw.empirics.audit.statistics import Call

    if not audit.searches:
        return None
    can_go = [search for search in audit.searches if search.call == Call.SUPERFLUOUS]
    return can_go[-1] if can_go else audit.searches[0]


def answer(audit: Audit) -> str:
    """The first sentence."""
    from depthlaw.empirics.audit.statistics import Call

    search = best_search(audit)
    if search is None:
        if not audit.model.objective:
            layers = plural(audit.model.layers, "layer")
            return (
                f"The model has {layers} and no head, so it has no loss; nothing here says which "
                "layer can go."
            )
        return "The loss without a layer was not measured; ask for the measures removal."
    if untold(audit):
        return (
            f"Removal does not tell this model from one with fresh weights {where(audit)}, so "
            "nothing is said of which layer is used."
        )
    which = block(search.first, search.last, audit.model.layers)
    which = f"{which[0].upper()}{which[1:]}"
    cost = percent(search.chosen.estimate)
    allowed = f"{100 * audit.tolerance:g} %"
    if search.call == Call.SUPERFLUOUS:
        return (
            f"{which} can go {where(audit)}: the loss changes by {cost}, and {allowed} is allowed."
        )
    if search.call == Call.NEEDED:
        unit = "single layer" if search.size == 1 else f"block of {search.size} layers"
        return (
            f"No {unit} can go {where(audit)}: {which[0].lower()}{which[1:]} costs least, and "
            f"changes the loss by {cost}; {allowed} is allowed."
        )
    return (
        f"{which} costs least to remove {where(audit)}: {cost} of the loss. The sample does not "
        f"decide whether that is within {allowed}; more documents would."
    )


def untold(audit: Audit) -> bool:
    """Whether the loss without a layer does not tell the model from fresh weights."""
    table = audit.table("removal", "loss")
    telling = table.told.get("initialised") if table else None
    return telling is not None and telling.told is False


def lines(audit: Audit) -> list[tuple[str, str]]:
    """The first screen: a heading and a sentence each."""
    found = [("Answer", answer(audit)), ("Sample", sample(audit))]
    for search in audit.searches:
        found.append((_size(search.size), _searched(audit, search)))
    if (table := audit.table("settling_depth", "mean")) and table.rows:
        depth = number(table.rows[0].estimate)
        found.append(
            (
                "Settling",
                f"The read-out of the stream agrees with the last one after {depth} of "
                f"{audit.model.layers} layers, and stays.",
            )
        )
    if audit.objectives is not None:
        found.append(("Objectives", _objectives(audit.objectives)))
    if audit.model.shared:
        groups = "; ".join(
            f"layers {', '.join(str(layer + 1) for layer in group)}" for group in audit.model.shared
        )
        found.append(("Copies", f"These have equal weights: {groups}."))
    if nulls := _nulls(audit):
        found.append(("Nulls", nulls))
    found.append(("Limits", limits(audit)))
    return found


def sample(audit: Audit) -> str:
    """The model and what it was measured on."""
    text, loss = audit.text, audit.loss
    kind = "text" if text.law == "text" else f"random tokens, {text.law} law"
    said = (
        f"{audit.model.name}: {plural(audit.model.layers, 'layer')}, width {audit.model.width:,}; "
        f"{text.documents} documents of {text.tokens} tokens ({kind})"
    )
    if loss is None:
        return said + "."
    return f"{said}; {audit.model.objective} loss {number(loss)} nats."


def limits(audit: Audit) -> str:
    """What the numbers do not say."""
    said = (
        "A layer that can be removed after training was not shown to be one that training could "
        "do without. Another text or task may order the layers otherwise."
    )
    if audit.text.law != "text":
        said += " Random tokens are no text: give --text for an answer about use."
    return said


def _size(size: int) -> str:
    return "One layer" if size == 1 else f"Block of {size}"


def _searched(audit: Audit, search: Search) -> str:
    chosen = search.chosen
    which = block(search.first, search.last, audit.model.layers)
    how = (
        f"chosen on {chosen.chosen_on} documents and judged on the other {chosen.judged_on}"
        if chosen.rule == "split"
        else f"judged at the level divided by {chosen.candidates}"
    )
    random = "the mean layer" if search.size == 1 else f"{search.size} random layers"
    return (
        f"{which[0].upper()}{which[1:]} is the cheapest of {chosen.candidates} ({how}): "
        f"{percent(chosen.estimate)}. Removing {random} costs {percent(search.random)}."
    )


def _objectives(agreement: Estimate) -> str:
    return (
        "The orders of layers by loss and by divergence from the whole model agree with Kendall's "
        f"tau {number(agreement)}."
    )


def not_told(table: Table) -> list[str]:
    """Null models that a measure does not tell from the model."""
    return [key for key, telling in table.told.items() if telling.told is False]


def _nulls(audit: Audit) -> str:
    """How many measures tell the model from each null model, and which do not."""
    asked: dict[str, list[bool]] = {}
    for table in audit.tables:
        for key, telling in table.told.items():
            if telling.told is not None:
                asked.setdefault(key, []).append(telling.told)
    return " ".join(
        f"{sum(told)} of {len(told)} measures tell the model from {NULLS[key]}."
        for key, told in asked.items()
    )
