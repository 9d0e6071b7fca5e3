"""The figure: its points are the records, its curves the functions of the theory, its bytes depend
on nothing else."""
import math

import matplotlib as mpl
import pytest

from depthlaw.ledger.publish import figures
from depthlaw.ledger.run.records import Record, encode
from depthlaw.ledger.verdicts.report import CaseResult, ClaimResult
from depthlaw.theory.claim import Case, Claim, Control, Source, find
from depthlaw.theory.judgement import Decision, Verdict
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count
from depthlaw.theory.separation_rank.value_rank import sep
from depthlaw.theory.symbols import depth
from depthlaw.theory.values import Exact

RANKS = {(2, 1, 1): 3, (2, 2, 1): 18, (2, 2, 2): 17, (3, 1, 1): 4, (4, 1, 1): 5, (4, 2, 1): 110}


def row(width, depth, heads, *ranks, tokens=4, verdict=Verdict.HOLDS):
    case = Case(width=width, depth=depth, heads=heads, tokens=tokens)
    records = tuple(Record({"case": case.fields(), "seed": seed, "device": "cpu"},
                           encode(Exact(rank))) for seed, rank in enumerate(ranks))
    return CaseResult(case, Exact(ranks[0]) if ranks else None, Decision(verdict), records)


def result(*rows, key="separation_rank/dimension_count"):
    from sympy import Le

    claim = Claim(key=key, title="t", text="W.", statement=Le(sep, depth),
                  source=Source("depthlaw", "here"), wording="derived", kind="upper",
                  holds_for="all", measured=None, grid={"quick": tuple(r.case for r in rows)},
                  control=Control(Case(depth=1), "never"))
    return ClaimResult(claim, rows, None, None)


@pytest.fixture
def usual():
    return [result(*(row(*shape, rank) for shape, rank in RANKS.items()))]


def lines(figure):
    """{(panel title, label): {depth: height}}, curves of one label joined."""
    found = {}
    for axes in figure.axes:
        for line in axes.get_lines():
            found.setdefault((axes.get_title(), line.get_label()),
                             {}).update(zip(line.get_xdata(), line.get_ydata(), strict=True))
    return found


def test_points_are_the_records_and_curves_the_functions(usual):
    points = list(figures.generic_ranks(usual))
    assert {(p.width, p.depth, p.heads): p.rank for p in points} == RANKS
    drawn = lines(figures._panels(points))
    assert drawn["$d_x = 2$", "measured, one head"] == {1: 1.0, 2: math.log(18) / math.log(3)}
    assert drawn["$d_x = 2$", "measured, several heads"] == {2: math.log(17) / math.log(3)}
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


def test_caption_says_where_the_points_come_from(usual, tmp_path):
    caption = figures.separation_rank(usual, tmp_path)
    assert caption.records == tuple(sorted(r.id[:8] for r in usual[0].records))
    assert (caption.widths, caption.heads, caption.points, caption.draws,
            caption.devices) == ((2, 3, 4), (1, 2), len(RANKS), 1, ("cpu",))
    assert caption.claims == (usual[0].claim.key,)
    assert (sorted(path.name for path in tmp_path.iterdir())
            == ["separation-rank.pdf", "separation-rank.png"])


def test_bytes_depend_on_the_points_alone(usual, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    figures.separation_rank(usual, tmp_path / "a")
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "savefig.dpi": 30,
                         "axes.facecolor": "red"}):
        figures.separation_rank(iter(usual), tmp_path / "b")
    for name in ("separation-rank.pdf", "separation-rank.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert b"Date" not in (tmp_path / "a" / "separation-rank.pdf").read_bytes()
    figures.separation_rank([result(*(row(*shape, rank + 1) for shape, rank in RANKS.items()))],
                            tmp_path / "b")
    assert ((tmp_path / "a" / "separation-rank.pdf").read_bytes()
            != (tmp_path / "b" / "separation-rank.pdf").read_bytes())


def test_most_tokens_and_then_the_largest_draw():
    rows = [row(2, 2, 1, 15, tokens=2), row(2, 2, 1, 17, 18, 16), row(2, 2, 1, 14, tokens=2)]
    (point,) = figures.generic_ranks([result(*rows)])
    assert (point.rank, point.draws) == (18, 3)
    assert point.records == tuple(r.id for r in rows[1].records)


@pytest.mark.parametrize("nothing",
                         [[], [result(row(2, 1, 1))],
                          [result(row(2, 1, 1, 3, verdict=Verdict.UNDECIDED))],
                          [result(row(2, 1, 1, 3, verdict=Verdict.OUT_OF_SCOPE))],
                          [result(row(2, 1, 1, 3), key="separation_rank/degree")]])
def test_without_a_measurement_there_is_no_figure(nothing, tmp_path):
    assert figures.separation_rank(nothing, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_ranks_beyond_floats_and_more_widths_than_columns(tmp_path):
    rows = [row(width, 1, 1, 3**2000 if width == 5 else width + 1) for width in (1, 2, 3, 4, 5)]
    points = list(figures.generic_ranks([result(*rows)]))
    assert max(p.height for p in points) == pytest.approx(2000, rel=1e-12)
    figure = figures._panels(points)
    assert ([axes.get_title() for axes in figure.axes if axes.get_visible()]
            == [f"$d_x = {width}$" for width in (1, 2, 3, 4, 5)])
    assert figures.separation_rank([result(*rows)], tmp_path).widths == (1, 2, 3, 4, 5)
