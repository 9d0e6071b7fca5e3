"""An audit as panels of curves: removal, hidden states, early exits, and the ladder of abilities.
A title states what is seen; beside a measure stand its null models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError, plural

from ..drawing.panels import Panel, Series, SeriesKind
from . import sentences

if TYPE_CHECKING:
    from depthlaw.empirics.audit.ladder import RungResult
    from depthlaw.empirics.audit.results import Audit, Table
    from depthlaw.empirics.audit.statistics import Estimate

# Groups of measures that have a panel.
DRAWN = ("states", "removal", "exits")
# Rungs of a panel.
_RUNGS = 14


def panels(audit: Audit) -> list[list[Panel]]:
    """What there is to draw, a panel for each question: of layers, and of the ladder.

    Raises:
        UsageError: where no measure of layers was asked, and no ladder.
    """
    found = [layer_panels(audit), ladder_panels(audit)]
    if not any(found):
        raise UsageError(
            "nothing to draw: no measure has a number for each layer; ask for the measures usual"
        )
    return found


def layer_panels(audit: Audit) -> list[Panel]:
    """A panel for each of the main measures by layer."""
    drawn = (
        _measure(audit, "removal", "loss", _removal, "rise of loss, nats"),
        _measure(audit, "block_influence", "mean", _influence, "block influence"),
        _measure(audit, "angular_distance", "last_token", _angle, "angle over pi"),
        _measure(audit, "exit_loss", "loss", _exit, "exit loss, nats"),
        _measure(audit, "settling_depth", "share", _settled, "share settled"),
    )
    return [panel for panel in drawn if panel]


def ladder_panels(audit: Audit) -> list[Panel]:
    """The rungs below each other; none where the ladder was not climbed."""
    rungs = audit.ladder
    return [_ladder(rungs[at : at + _RUNGS]) for at in range(0, len(rungs), _RUNGS)]


def _measure(
    audit: Audit,
    key: str,
    variant: str,
    title: Callable[[Audit, Table], str],
    label: str,
) -> Panel | None:
    table = audit.table(key, variant)
    if table is None or not table.rows:
        return None
    layers = [row.first + 1 for row in table.rows]
    curves = [
        _intervals(sentences.WORDS["short"][null], layers, [row.nulls[null] for row in table.rows])
        for null in table.rows[0].nulls
    ]
    # The last is drawn on top.
    curves.append(_intervals("this model", layers, [row.estimate for row in table.rows]))
    if table.identity is not None:
        ends = (table.rows[0].first + 1, table.rows[-1].last + 1)
        same = (table.identity, table.identity)
        curves.append(Series("a layer that does nothing", ends, same, kind="reference"))
    below = "layer" + sentences.on(audit).replace(" on ", ", ")
    return Panel(title(audit, table), below, label, tuple(curves))


def _removal(audit: Audit, table: Table) -> str:
    if not audit.learnt:
        return "The loss is not surely below that of fresh weights"
    counts = sentences.calls(table)
    superfluous, needed = counts["superfluous"], counts["needed"]
    return (
        f"{needed} of {plural(len(table.rows), 'layer')} needed, {superfluous} superfluous, at a "
        f"tolerance of {100 * audit.tolerance:g} %"
    )


def _influence(audit: Audit, table: Table) -> str:
    return _least(table, "changes the hidden states", "change of the hidden states")


def _angle(audit: Audit, table: Table) -> str:
    return _least(table, "turns the last token", "turn of the last token")


def _least(table: Table, verb: str, noun: str) -> str:
    """Which layer does least, where its interval is below all others."""
    least = min(table.rows, key=lambda row: row.estimate.value)
    near = sum(row.estimate.low <= least.estimate.high for row in table.rows)
    if near == 1:
        return f"Layer {least.first + 1} {verb} least"
    return f"{near} layers are not told apart in the least {noun}"


def _exit(audit: Audit, table: Table) -> str:
    """The first exit as good as the end, within the tolerance, by the difference by document."""
    for row in table.rows[:-1]:
        if row.share and row.share.high <= audit.tolerance:
            return f"Read after layer {row.first + 1}, the loss is within the tolerance"
    return "No early exit is shown to keep the loss within the tolerance"


def _settled(audit: Audit, table: Table) -> str:
    half = next(row.first + 1 for row in table.rows if row.estimate.value >= 0.5)
    return f"Half of the predictions are settled after layer {half} of {audit.model.layers}"


def _ladder(rungs: Sequence[RungResult]) -> Panel:
    places = range(1, len(rungs) + 1)
    before = [result.before for result in rungs]
    after = [result.after for result in rungs if result.after]
    curves = [_intervals("whole model", places, before, "points")]
    curves += [_intervals("after the change", places, after, "points")] if after else []
    unsolved = tuple(result.baseline.share for result in rungs)
    curves.append(Series("baseline", tuple(places), unsolved, kind="points"))
    names = []
    for result in rungs:
        least = "" if result.rung.least is None else f" ({result.rung.least:g})"
        names.append(f"{result.rung.ladder} {result.rung.level}{least}")
    title, label = sentences.climbed(rungs), "rung (least depth in idealised nets)"
    return Panel(title, label, "share right", tuple(curves), x_names=tuple(names))


def _intervals(
    label: str, places: Iterable[int], found: Sequence[Estimate], kind: SeriesKind = "line"
) -> Series:
    values, low, high = zip(*((one.value, one.low, one.high) for one in found), strict=True)
    return Series(label, tuple(places), values, low, high, kind)
