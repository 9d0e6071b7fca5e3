"""The figures of the appendix: what is drawn is recorded or follows from a statement, and so is
every number of a caption."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from depthlaw.advisor.layout import listed
from depthlaw.empirics.separation_rank.frontier import entries, table as frontier_table
from depthlaw.theory.claims.values import Case, Measured
from depthlaw.theory.claims.verdict import Verdict

from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import marked
from ..drawing.line_plot import line_plot
from ..drawing.panels import Panel
from ..drawing.rank_panels import rank_panels
from ..questions import QUESTIONS
from ..tables import texts
from .typesetting import verdict

# The font of the text, in the figures of the PDF; matplotlib lays letters out by one like it.
_DRAWN, _SET = "STIXGeneral", "Libertinus Serif"
# Panels of the first figure: widths below, at and above those that a bound says something of.
_WIDTHS = (2, 4, 10, 16)


@dataclass(frozen=True)
class Plate:
    """A figure of the appendix, drawn for the width of a page.

    Attributes:
        name: of its files, without ending.
        caption: what is drawn, in Markdown with maths between dollars.
        alt: what is seen, in plain text.
        claims: keys of what is drawn.
        drawn: (png, svg, pdf or letters) -> the file, in the last an SVG whose text is set in the
            font of the document; its bytes depend on the records and the version of
            matplotlib alone.
    """

    name: str
    caption: str
    alt: str
    claims: tuple[str, ...]
    drawn: Callable[[Literal["png", "svg", "pdf", "letters"]], bytes] = field(repr=False)


def plates(recorded: Recorded, keys: Collection[str] | None = None) -> list[Plate]:
    """The figures of which something is recorded, in their order.

    Args:
        keys: only figures that draw one of these claims; None: all.
    """

    def wanted(claims: Iterable[str]) -> bool:
        return keys is None or not set(keys).isdisjoint(claims)

    # What is not wanted is not judged either.
    drawn = [_separation_rank(recorded)] if wanted(on_frontier(recorded)) else []
    drawn += [_measured(recorded, name) for name in _FIGURES if wanted(_claims_of(name))]
    return [plate for plate in drawn if plate is not None and wanted(plate.claims)]


def _drawn(panels: Sequence[Panel], form: str, columns: int) -> bytes:
    """A figure in the look of the text."""
    # No legend names what is in no panel.
    seen = [replace(p, series=tuple(s for s in p.series if s.x)) for p in panels]
    drawn = line_plot(seen, form, columns=columns, compact=True)
    return drawn.replace(_DRAWN.encode(), _SET.encode()) if form == "letters" else drawn


# --- separation rank against depth ----------------------------------------------------------------


def on_frontier(recorded: Recorded) -> list[str]:
    """The claims whose cases are exact separation ranks."""
    return [key for key, claim in recorded.claims.items() if claim.table is frontier_table]


def _separation_rank(recorded: Recorded) -> Plate | None:
    keys = on_frontier(recorded)
    every = entries(recorded.rows(*keys))
    complete = [entry for entry in every if entry.complete and entry.width in _WIDTHS]
    if not complete:
        return None
    settled = [entry for entry in complete if entry.settled]
    below = [
        f"{entry.rank:,} in place of {entry.count:,} at $d_x = {entry.width}$, $L = {entry.depth}$"
        for entry in settled
        if entry.rank < entry.count
    ]
    equal = sum(entry.rank == entry.count for entry in settled)
    outside = sum(
        any(bound and bound.verdict is Verdict.FAILS for bound in entry.bounds) for entry in settled
    )
    bounds = [
        recorded.claims[f"separation_rank/{side}_bound_{regime}"]
        for side in ("upper", "lower")
        for regime in ("shallow", "deep")
    ]
    words = ", ".join(sorted({claim.wording for claim in bounds}))
    caption = (
        f"**Exact ranks lie on the dimension count or just below it.** Squares: sums of the graded "
        f"ranks of one head, exact in {len(settled)} of {len(complete)} entries; with "
        f"$N \\ge 2 (d_x + 1)$ tokens such a sum is the separation rank"
        f"{_word(recorded, 'separation_rank/graded_rank')}. {equal} of them equal the dimension "
        f"count $S(d_x, L)$ (solid), an upper bound for any number of heads"
        f"{_word(recorded, 'separation_rank/dimension_count')}"
        f"{'; the sum is ' + ' and '.join(below) if below else ''}. Dotted and dash-dotted: "
        f"upper and lower bounds of Theorems 1 and 2 of [@levine2020], {words}. Vertical: the "
        f"threshold $\\log_3 d_x$.{_refuted(recorded)}"
    )
    return Plate(
        "separation-rank",
        caption,
        f"Panels for widths {listed(sorted({entry.width for entry in complete}))}: "
        f"logarithm of the separation rank against depth. Of {len(settled)} exact ranks {equal} "
        f"lie on the curve of the dimension count and {len(settled) - equal} just below it; "
        f"{outside or 'none'} "
        f"{'lies' if outside == 1 else 'lie'} outside the lower and upper bounds.",
        tuple(keys),
        lambda form: _drawn(rank_panels(complete, _WIDTHS), form, 2),
    )


def _word(recorded: Recorded, key: str) -> str:
    """By which claim a caption says something, with its verdict; empty where it is not known."""
    result = recorded.judged(key)
    return f" (`{key}`, {verdict(marked(result))})" if result else ""


def _refuted(recorded: Recorded) -> str:
    """Where the recalled upper bound fails, which is beyond the depths that are drawn."""
    result = recorded.judged("separation_rank/upper_bound_deep")
    worst = result.counterexample if result else None
    if result is None or worst is None:
        return ""
    at_ = f"$d_x = {worst.case.width}$, $L = {worst.case.depth}$, $H = {worst.case.heads}$"
    return f" The upper bound {verdict(marked(result))} beyond the threshold, at {at_}."


# --- what is measured -----------------------------------------------------------------------------


_FIGURES = texts(__package__, "figures.toml")
# Panels side by side.
_PLACES = {2: ("Left", "Right"), 3: ("Left", "Middle", "Right")}


def _claims_of(name: str) -> Sequence[str]:
    figure = _FIGURES[name]
    every = [key for question in figure["questions"] for key in QUESTIONS[question].claims]
    return figure.get("claims") or every


def _measured(recorded: Recorded, name: str) -> Plate | None:
    figure = _FIGURES[name]
    says, asked = figure["says"], [QUESTIONS[question] for question in figure["questions"]]
    results = {key: part for key in _claims_of(name) if (part := _cases(recorded, key))}
    panels: dict[str, list[Panel]] = {}
    for panel in (panel for question in asked for panel in question.panels(results)):
        for start in (start for start in says if panel.title.startswith(start)):
            panels.setdefault(start, []).append(panel)
    if not panels:
        return None
    drawn = [panel for part in panels.values() for panel in part]
    # One text needs no name of its panel, and a panel alone is known by its place.
    places = _PLACES.get(len(panels), ()) if len(drawn) == len(panels) else ()
    names = [f"{place}: " for place in places] or [f"{start}: " for start in panels]
    names = names if len(panels) > 1 else [""]
    parts = (f"{place}{says[start]}." for place, start in zip(names, panels, strict=True))
    return Plate(
        name,
        " ".join((f"**{figure['finds']}.**", *parts)),
        figure["alt"],
        tuple(results),
        lambda form: _drawn(drawn, form, 3),
    )


def _cases(recorded: Recorded, key: str) -> dict[Case, Measured]:
    """The cases of a claim that were measured; none where it is not known."""
    result = recorded.judged(key)
    cases = (row for row in (result.in_scope if result else ()) if row.records)
    return {row.case: row.measured for row in cases if row.measured is not None}
