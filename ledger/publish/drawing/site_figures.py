"""Separation ranks against depth: points come from records, curves from the functions of `theory`,
and nothing else is drawn."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.empirics.separation_rank.frontier import Entry
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.values import Case, Exact
from depthlaw.theory.claims.verdict import Verdict

from ...records.store import decode
from ...verdicts.report import CaseResult, ClaimResult
from .style import STYLE, metadata

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The claims whose records hold the separation rank of nets with random weights.
GENERIC_RANK = ("separation_rank/generic_one_head", "separation_rank/dimension_count")
# Panels of the frontier.
FRONTIER_WIDTHS = (2, 3, 4, 6, 10, 16)
# How many layers the curves go on after the deepest point.
_BEYOND = 1
_COLUMNS = 3
# Okabe and Ito's colours, which readers with any colour vision tell apart.
COLOURS = {"S": "#000000", "upper": "#D55E00", "lower": "#0072B2", "exact": "#009E73"}


@dataclass(frozen=True)
class Point:
    """The largest rank found on one case, over its seeds."""

    width: int
    depth: int
    heads: int
    rank: int


def generic_ranks(results: Iterable[ClaimResult]) -> Iterator[Point]:
    """One point for each width, depth and number of heads, of nets without residual connections:
    the case with the most tokens, and of its seeds the largest rank."""
    best: dict[tuple[int, int, int], tuple[int, Point]] = {}
    for result in results:
        if result.claim.key not in GENERIC_RANK:
            continue
        for case in result.cases:
            if case.case.get("residual", False):
                continue
            shape = (
                int(case.case.get("width", 1)),
                int(case.case.get("depth", 1)),
                int(case.case.get("heads", 1)),
            )
            rank, tokens = _rank(case), case.case.get("tokens", 0)
            if rank and (
                shape not in best or (tokens, rank) > (best[shape][0], best[shape][1].rank)
            ):
                best[shape] = tokens, Point(*shape, rank)
    return (point for _, point in best.values())


def _rank(case: CaseResult) -> int:
    """The largest rank of a case; 0 where there is none."""
    # What leaves a claim undecided, such as a rank of too few inputs, is no measurement of the
    # separation rank.
    if (
        case.decision.verdict not in (Verdict.HOLDS, Verdict.FAILS)
        or not {"width", "depth"} <= case.case.fields().keys()
    ):
        return 0
    values = [decode(record.result) for record in case.records]
    return max((int(value.value) for value in values if isinstance(value, Exact)), default=0)


def exact_ranks(
    found: Iterable[Entry],
    form: str,
    widths: tuple[int, ...] = FRONTIER_WIDTHS,
    columns: int = _COLUMNS,
) -> bytes:
    """Draw the separation ranks of one head against depth, with the bounds, S, and both knees, one
    panel for each width.

    Args:
        found: entries of the frontier; those that are complete are drawn, as exact values or as
            lower bounds.
        form: png, svg or pdf.
        widths: which panels, of those that have an entry.
        columns: panels in a row.

    Returns:
        The file, whose bytes depend on the arguments and the version of matplotlib alone; empty
        where there is nothing to draw.
    """
    from matplotlib import style
    from matplotlib.lines import Line2D

    chosen = [entry for entry in found if entry.complete and entry.width in widths]
    if not chosen:
        return b""
    with style.context(["default", STYLE]):
        figure = _panels(chosen, columns)
        for axes, width in zip(figure.axes, sorted({e.width for e in chosen}), strict=False):
            for colour, place in (("upper", log(width) / log(3)), ("S", _knee(width))):
                axes.axvline(place, color=COLOURS[colour], linewidth=0.8, linestyle=(0, (1, 3)))
        knees = [
            Line2D([], [], color=COLOURS[c], linewidth=0.8, linestyle=(0, (1, 3)), label=text)
            for c, text in (("upper", "threshold $\\log_3 d_x$"), ("S", "knee of $S$: $C(L) = 2D$"))
        ]
        old = figure.legends.pop()
        handles = [*(h for h in old.legend_handles if h is not None), *knees]
        labels = [*(text.get_text() for text in old.texts), *(str(k.get_label()) for k in knees)]
        figure.legend(handles, labels, loc="outside lower center", ncols=_COLUMNS)
        target = io.BytesIO()
        figure.savefig(target, format=form, metadata=metadata(form))
    return target.getvalue()


def frontier(found: Iterable[Entry], file: Path, widths: tuple[int, ...] = FRONTIER_WIDTHS) -> bool:
    """Write `exact_ranks` into a file; returns whether there was anything to draw."""
    drawn = exact_ranks(found, file.suffix.removeprefix("."), widths)
    if drawn:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(drawn)
    return bool(drawn)


def _knee(width: int) -> float:
    """The depth from which each layer multiplies S by 3^D: C(L)/2 reaches D there."""
    return log(2 * width * (width + 1) + 1) / log(3)


def _panels(found: list[Entry], columns: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    widths = sorted({entry.width for entry in found})
    depths = range(1, max(entry.depth for entry in found) + _BEYOND + 1)
    columns, rows = min(columns, len(widths)), -(-len(widths) // columns)
    # No pyplot: it would keep the figure alive and choose a backend for the whole process.
    wide = 1.9 if columns <= _COLUMNS else 1.45
    figure = Figure(figsize=(1.2 + wide * columns, 0.9 + 2.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    named: dict[str, Any] = {}
    for axes, width in zip(panels, widths, strict=False):
        _panel(axes, width, [entry for entry in found if entry.width == width], depths)
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    for axes in panels[len(widths) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(widths) - columns) : len(widths)]:
        axes.set_xlabel("depth $L$")
        axes.xaxis.set_tick_params(labelbottom=True)
    figure.supylabel(r"$\log_3$ of the separation rank (logarithmic above 1)", fontsize="medium")
    # Linear up to 1, where bounds that say nothing lie at 0, and logarithmic above: ranks are
    # doubly exponential.
    panels[0].set_yscale("symlog", base=3, linthresh=1, linscale=0.5)
    panels[0].yaxis.set_major_formatter(lambda height, _: f"{height:g}")
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)
    return figure


def _panel(axes: Axes, width: int, found: list[Entry], depths: range) -> None:
    from matplotlib.ticker import MaxNLocator

    for label, colour, style, curve in _curves(width, depths):
        if curve:
            axes.plot(
                list(curve),
                list(curve.values()),
                style,
                color=COLOURS[colour],
                linewidth=1.2,
                marker=".",
                markersize=4,
                label=label,
            )
    # Open markers, so that a bound that is attained shows through.
    for marker, label, settled in (
        ("o", "exact, one head", True),
        ("^", "at least, one head", False),
    ):
        if shown := [entry for entry in found if entry.settled is settled]:
            axes.plot(
                [e.depth for e in shown],
                [log(e.rank) / log(3) for e in shown],
                marker,
                markersize=7,
                markerfacecolor="none",
                markeredgewidth=1.5,
                markeredgecolor=COLOURS["exact"],
                zorder=3,
                label=label,
            )
    axes.set_title(f"$d_x = {width}$")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _curves(width: int, depths: range) -> Iterator[tuple[str, str, str, dict[int, float]]]:
    """(label, colour, line style, height by depth) of the bounds for one head, each where its
    theorem applies."""
    from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count

    counts = {depth: log3_dimension_count(width, depth)[1] for depth in depths}
    yield "dimension count $S(d_x, L)$", "S", "-", counts
    # Two curves with one label: nothing connects the two theorems, and neither speaks about the
    # threshold itself.
    regimes = {
        "shallow": [depth for depth in depths if 3**depth < width],
        "deep": [depth for depth in depths if 3**depth > width],
    }
    for side, style in (("upper", "--"), ("lower", ":")) if width > 1 else (("upper", "--"),):
        for regime, part in regimes.items():
            heights = {depth: _bound(f"{side}_bound_{regime}", width, depth) for depth in part}
            yield f"{side} bound, Theorems 1 and 2", side, style, heights


def _bound(name: str, width: int, depth: int) -> float:
    """log_3 of what a claim says of the rank of one head, which is at least 1."""
    claim = find(f"separation_rank/{name}")
    bound = claim.predict(Case(width=width, depth=depth, heads=1))
    return max(0.0, log(bound) / log(3) if claim.statement.lhs.is_Symbol else float(bound))
