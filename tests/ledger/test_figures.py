"""Separation ranks in a picture: its points are the records, its curves the functions of theory,
its bytes depend on nothing else."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import pytest

from depthlaw.empirics.separation_rank.frontier import Entry
from depthlaw.ledger.publish.drawing import site_figures
from depthlaw.ledger.records.store import Record, encode
from depthlaw.ledger.verdicts.report import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, Claim, Control, Source, find
from depthlaw.theory.claims.symbols import depth
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Decision, Verdict
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count
from depthlaw.theory.separation_rank.value_rank import sep

EXACT = {(2, 1): 3, (2, 2): 18, (3, 1): 4, (4, 1): 5}


def entry(width: int, layers: int, rank: int, *, settled: bool = True, done: int = 2) -> Entry:
    return Entry(width, layers, done, 2, settled, rank, rank)


USUAL = [
    *(entry(*shape, rank) for shape, rank in EXACT.items()),
    entry(4, 2, 100, settled=False),
    entry(4, 3, 7, settled=False, done=1),
]


def lines(figure: Any) -> dict[tuple[str, str], dict[int, float]]:
    """{(panel title, label): {depth: height}}, curves of one label joined."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for axes in figure.axes:
        for line in axes.get_lines():
            found.setdefault((axes.get_title(), line.get_label()), {}).update(
                zip(line.get_xdata(), line.get_ydata(), strict=True)
            )
    return found


def test_points_are_the_records_and_curves_the_functions() -> None:
    drawn = lines(site_figures._panels([e for e in USUAL if e.complete], 3))
    assert drawn["$d_x = 2$", "exact, one head"] == {1: 1.0, 2: math.log(18) / math.log(3)}
    assert drawn["$d_x = 4$", "at least, one head"] == {2: math.log(100) / math.log(3)}
    for width in (2, 3, 4):
        title = f"$d_x = {width}$"
        counts = {L: log3_dimension_count(width, L)[1] for L in (1, 2, 3)}
        assert drawn[title, "dimension count $S(d_x, L)$"] == counts
        for side in ("upper", "lower"):
            curve = drawn[title, f"{side} bound, Theorems 1 and 2"]
            assert set(curve) == {L for L in (1, 2, 3) if width != 3**L}
            for L, height in curve.items():
                regime = "shallow" if width > 3**L else "deep"
                claim = find(f"separation_rank/{side}_bound_{regime}")
                bound = float(claim.predict(Case(width=width, depth=L, heads=1)))
                left = claim.statement.lhs
                seen = left.subs(dict.fromkeys(left.free_symbols, 3.0**height))
                # A rank is at least 1: a negative bound says no more than that.
                assert float(seen) == pytest.approx(max(0.0, bound))


@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_bytes_depend_on_the_entries_alone(form: str) -> None:
    first = site_figures.exact_ranks(USUAL, form)
    with mpl.rc_context(
        {"lines.linewidth": 9, "font.size": 20, "savefig.dpi": 30, "axes.facecolor": "red"}
    ):
        assert site_figures.exact_ranks(iter(USUAL), form) == first
    assert b"Date" not in first
    assert site_figures.exact_ranks(USUAL[1:], form) != first


def test_without_a_complete_entry_of_these_widths_there_is_no_picture() -> None:
    assert site_figures.exact_ranks([], "svg") == b""
    assert site_figures.exact_ranks([USUAL[-1], entry(5, 1, 6)], "svg", widths=(2, 4)) == b""


def test_ranks_beyond_floats_and_more_widths_than_columns() -> None:
    figure = site_figures._panels(
        [entry(width, 1, 3**2000 if width == 5 else width + 1) for width in (1, 2, 3, 4, 5)], 3
    )
    drawn = lines(figure)
    assert drawn["$d_x = 5$", "exact, one head"][1] == pytest.approx(2000, rel=1e-12)
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == [
        f"$d_x = {width}$" for width in (1, 2, 3, 4, 5)
    ]


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
    assert list(site_figures.generic_ranks([result(*rows)])) == [site_figures.Point(2, 2, 1, 18)]


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
    assert list(site_figures.generic_ranks(nothing)) == []
