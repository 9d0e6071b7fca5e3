"""Separation ranks in a picture: its points are the records, its curves the functions of theory."""

from __future__ import annotations

import math

import pytest

from depthlaw.empirics.separation_rank.frontier import RankEntry
from depthlaw.ledger.publish.drawing import rank_panels
from depthlaw.ledger.publish.drawing.line_plot import line_plot
from depthlaw.ledger.publish.drawing.panels import Panel
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count

EXACT = {(2, 1): 3, (2, 2): 18, (3, 1): 4, (4, 1): 5}


def entry(width: int, layers: int, rank: int, *, settled: bool = True, done: int = 2) -> RankEntry:
    return RankEntry(width, layers, done, 2, settled, rank, rank)


USUAL = [
    *(entry(*shape, rank) for shape, rank in EXACT.items()),
    entry(4, 2, 100, settled=False),
    entry(4, 3, 7, settled=False, done=1),
]


def lines(panels: tuple[Panel, ...]) -> dict[tuple[str, str], dict[float, float]]:
    """{(panel title, label): {depth: height}}."""
    return {
        (panel.title, series.label): dict(zip(series.x, series.y, strict=True))
        for panel in panels
        for series in panel.series
    }


def test_points_are_the_records_and_curves_the_functions() -> None:
    drawn = lines(rank_panels.rank_panels(USUAL))
    assert drawn["d_x = 2", "exact, one head"] == {1: 1.0, 2: math.log(18) / math.log(3)}
    assert drawn["d_x = 4", "at least, one head"] == {2: math.log(100) / math.log(3)}
    for width in (2, 3, 4):
        title = f"d_x = {width}"
        counts = {L: log3_dimension_count(width, L)[1] for L in (1, 2, 3)}
        assert drawn[title, "dimension count S(d_x, L)"] == counts
        for side in ("upper", "lower"):
            curve = drawn[title, f"{side} bound, Theorems 1 and 2"]
            # Neither theorem speaks at the threshold, where the line has a gap.
            assert math.isnan(curve.pop(math.log(width) / math.log(3)))
            assert set(curve) == {L for L in (1, 2, 3) if width != 3**L}
            for L, height in curve.items():
                regime = "shallow" if width > 3**L else "deep"
                claim = find(f"separation_rank/{side}_bound_{regime}")
                bound = float(claim.predict(Case(width=width, depth=int(L), heads=1)))
                left = claim.statement.lhs
                seen = left.subs(dict.fromkeys(left.free_symbols, 3.0**height))
                # A rank is at least 1: a negative bound says no more than that.
                assert float(seen) == pytest.approx(max(0.0, bound))


def test_panels_are_of_complete_entries_and_ranks_may_be_beyond_floats() -> None:
    assert rank_panels.rank_panels([]) == ()
    assert rank_panels.rank_panels([USUAL[-1], entry(5, 1, 6)], (2, 4)) == ()
    assert line_plot(rank_panels.rank_panels(USUAL), "svg")
    widths = (1, 2, 3, 4, 5)
    drawn = lines(
        rank_panels.rank_panels(
            (entry(width, 1, 3**2000 if width == 5 else width + 1) for width in widths), widths
        )
    )
    assert drawn["d_x = 5", "exact, one head"][1] == pytest.approx(2000, rel=1e-12)
    assert list(dict.fromkeys(title for title, _ in drawn)) == [f"d_x = {w}" for w in widths]
