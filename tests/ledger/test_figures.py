"""Separation ranks in a picture: its points are the records, its curves the functions of theory."""

from __future__ import annotations

import math

import pytest

from depthlaw.empirics.separation_rank.frontier import RankEntry
from depthlaw.ledger.publish.drawing import rank_panels
from depthlaw.ledger.publish.drawing.line_plot import line_plot
from depthlaw.ledger.publish.drawing.panels import Panel
from depthlaw.ledger.records.store import Record, encode
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, Claim, Control, Source, find
from depthlaw.theory.claims.symbols import depth
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Decision, Verdict
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count
from depthlaw.theory.separation_rank.value_rank import sep

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


# --- ranks of random weights, for any number of heads ---------------------------------------------


def row(
    width: int,
    layers: int,
    heads: int,
    *ranks: int,
    tokens: int = 4,
    verdict: Verdict = Verdict.HOLDS,
) -> CaseResult:
    case = Case(width=width, depth=layers, heads=heads, tokens=tokens)
    records = tuple(
        Record({"case": case.fields(), "seed": seed, "device": "cpu"}, encode(Exact(rank)))
        for seed, rank in enumerate(ranks)
    )
    return CaseResult(case, Exact(ranks[0]) if ranks else None, Decision(verdict), records)


def result(*rows: CaseResult, key: str = "separation_rank/dimension_count") -> ClaimResult:
    from sympy import Le

    claim = Claim(
        key=key,
        title="t",
        text="W.",
        statement=Le(sep, depth),
        source=Source("depthlaw", "here"),
        wording="derived",
        kind="upper",
        holds_for="all",
        measured=None,
        grid={"quick": tuple(r.case for r in rows)},
        control=Control(Case(depth=1), "never"),
    )
    return ClaimResult(claim, rows, None, None)


def test_most_tokens_and_then_the_largest_draw() -> None:
    rows = [row(2, 2, 1, 15, tokens=2), row(2, 2, 1, 17, 18, 16), row(2, 2, 1, 14, tokens=2)]
    assert list(rank_panels.generic_ranks([result(*rows)])) == [rank_panels.RankPoint(2, 2, 1, 18)]


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        [result(row(2, 1, 1))],
        [result(row(2, 1, 1, 3, verdict=Verdict.UNDECIDED))],
        [result(row(2, 1, 1, 3, verdict=Verdict.OUT_OF_SCOPE))],
        [result(row(2, 1, 1, 3), key="separation_rank/degree")],
    ],
)
def test_without_a_measurement_there_is_no_point(nothing: list[ClaimResult]) -> None:
    assert list(rank_panels.generic_ranks(nothing)) == []
