"""Separation ranks against depth: points come from records, curves from the functions of `theory`,
and nothing else is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import log, nan

from depthlaw.empirics.separation_rank.frontier import RankEntry
from depthlaw.theory.claims.definition import Claim, find
from depthlaw.theory.claims.values import Case
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count

from .panels import Panel, Series, stated, upright

# Panels of the frontier.
FRONTIER_WIDTHS = (2, 4, 10, 16)


def rank_panels(
    listed: Iterable[RankEntry], widths: tuple[int, ...] = FRONTIER_WIDTHS
) -> tuple[Panel, ...]:
    """log_3 of the separation ranks of one head against depth, with the bounds, S and the
    threshold: a panel for each width that has entries of two depths.

    Args:
        listed: entries of the frontier; those that are complete are shown, as exact values or as
            lower bounds.
    """
    complete = [entry for entry in listed if entry.complete and entry.width in widths]
    found: dict[int, set[int]] = {}
    for entry in complete:
        found.setdefault(entry.width, set()).add(entry.depth)
    chosen = [entry for entry in complete if len(found[entry.width]) > 1]
    # Curves go on for a layer after the deepest point.
    depths = range(1, max((entry.depth for entry in chosen), default=0) + 2)
    return tuple(
        _panel(width, [entry for entry in chosen if entry.width == width], depths)
        for width in sorted({entry.width for entry in chosen})
    )


def exact_ranks_say(listed: Iterable[RankEntry]) -> str:
    """How many of the exact ranks are as large as the dimension count; empty where none is exact.

    Args:
        listed: entries of the frontier, of all widths.
    """
    exact = [entry for entry in listed if entry.complete and entry.settled]
    equal = sum(entry.rank == entry.count for entry in exact)
    return f"{equal} of {len(exact)} exact ranks equal the dimension count S." if exact else ""


def _panel(width: int, listed: list[RankEntry], depths: range) -> Panel:
    counts = {depth: log3_dimension_count(width, depth)[1] for depth in depths}
    points = []
    for label, settled in (("exact", True), ("at least", False)):
        part = {e.depth: log(e.rank) / log(3) for e in listed if e.settled is settled}
        if part:
            points.append(Series(label, tuple(part), tuple(part.values()), kind="points"))
    threshold = log(width) / log(3)
    bounds = (_bounds(side, width, depths) for side in ("upper", "lower"))
    ends = min(counts.values()), max(counts.values())
    return Panel(
        f"d_x = {width}",
        "depth L",
        "log_3 of the separation rank",
        (
            Series("count S(d_x, L)", tuple(counts), tuple(counts.values())),
            *points,
            # First, as a dash goes by the place among what is stated.
            upright("log_3 d_x", threshold, *ends),
            # A logarithmic axis has no 0, and no line joins single points.
            *(line for line in bounds if any(a > 0 < b for a, b in pairwise(line.y))),
        ),
        y_scale="log",
    )


def _bounds(side: str, width: int, depths: range) -> Series:
    """The bound for one head on a side: nothing connects the two theorems, and neither speaks about
    the threshold itself."""
    heights: dict[float, float] = {log(width) / log(3): nan}
    for depth in depths if width > 1 or side == "upper" else ():
        if 3**depth != width:
            regime = "shallow" if 3**depth < width else "deep"
            claim = find(f"separation_rank/{side}_bound_{regime}")
            heights[depth] = log3_bound(claim, Case(width=width, depth=depth, heads=1))
    return stated(f"{side} bound", heights)


def log3_bound(claim: Claim, case: Case) -> float:
    """log_3 of what a claim says of a separation rank, which is at least 1."""
    bound = claim.predict(case)
    return max(0.0, log(bound) / log(3) if claim.statement.lhs.is_Symbol else float(bound))
