"""The figures of the appendix: what is drawn is recorded, and what is recorded is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from depthlaw.empirics.separation_rank.frontier import table as frontier_table
from depthlaw.ledger.publish.appendix.appendix_figures import plates
from depthlaw.ledger.publish.questions.question import keys
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.verdicts.record_source import Recorded

KEYS = (
    *keys(
        "rank_collapse",
        "doubly_exponential_slope slope_below_cubic cubic_drop slower_with_positions_or_mask "
        "bert_init_collapse bert_plateau_is_rounding bert_init_full_curve",
    ),
    *("trained_depth/wall_within", "trained_depth/wall_beyond"),
    *("trained_rank/floor_holds", "depth_width/losses_by_updates"),
)


def test_only_figures_that_draw_a_claim_asked_for(recorded: Recorded) -> None:
    some = Recorded({key: recorded.claims[key] for key in KEYS}, recorded.store)
    assert [p.name for p in plates(some)] == ["rank-collapse", "reach", "floors"]
    assert [p.name for p in plates(some, {"trained_rank/floor_holds"})] == ["floors"]
    assert plates(some, {"hops/doubling"}) == []


def test_without_records_there_are_no_figures(recorded: Recorded, tmp_path: Path) -> None:
    assert plates(Recorded(recorded.claims, Store(tmp_path))) == []


@pytest.mark.slow
def test_exact_ranks_are_counted_in_the_caption(recorded: Recorded) -> None:
    (plate,) = plates(recorded, {"separation_rank/exact"})
    shown = {
        (row.case.width, row.case.depth)
        for claim in recorded.claims.values()
        if claim.table is frontier_table
        for suite in claim.grid
        if (result := recorded.of(suite, claim.key))
        for row in result.cases
        if row.records and row.case.width in (2, 4, 10, 16)
    }
    assert f"in {len(shown)} of {len(shown)} entries" in plate.caption
    # By hand: the graded piece of order 6 at width 4 and depth 3 is short of 4.
    assert "31,456 in place of 31,460 at $d_x = 4$, $L = 3$" in plate.caption
    assert "FAILS, at $d_x = 4$, $L = 34$" in plate.caption
