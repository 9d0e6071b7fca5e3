"""Pictures: what is measured is drawn with its intervals, and nothing hides it; separation ranks
are the records, their curves the functions of theory; lines of `depthlaw sweep` are the laws, its
points the models, and names can be read."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from depthlaw.advisor import recommend
from depthlaw.advisor.answer import Answer
from depthlaw.advisor.grids import STANDARD, NetKind
from depthlaw.advisor.models import models
from depthlaw.advisor.rules import rules
from depthlaw.empirics.separation_rank.frontier import RankEntry
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.drawing import line_plot, sweep_plot
from depthlaw.ledger.publish.drawing.inline_svg import inline_svg
from depthlaw.ledger.publish.drawing.panels import Panel, Series, curve, pivot
from depthlaw.ledger.publish.drawing.rank_panels import exact_ranks_say, rank_panels
from depthlaw.ledger.records.environment import installing
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.claims.values import Exact, Outside, Sample
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count

# --- panels ---------------------------------------------------------------------------------------

LOSS = Panel(
    "Loss",
    "layers",
    "loss",
    (
        Series(
            "narrow",
            (2, 4, 8, 16),
            (3.1, 3.0, 2.9, 2.8),
            (3.0, 2.9, 2.8, 2.7),
            (3.2, 3.1, 3.0, 2.9),
        ),
        Series("wide", (4,), (2.95,), (2.9,), (3.0,), "points"),
        Series("none", (2, 16), (2.0, 2.0), kind="reference"),
    ),
    x_scale="log",
)
# Over hundreds of powers of ten, with a zero, and an interval that reaches below zero.
COLLAPSE = Panel(
    "Collapse",
    "layer",
    "residual",
    (
        Series(
            "residual",
            tuple(range(8)),
            (1.0, 1e-2, 1e-9, 1e-40, 1e-120, 1e-250, 1e-300, 0.0),
            (0.9, -1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            (1.1, *[0.1] * 7),
        ),
    ),
    y_scale="log",
)


def drawn(panel: Panel) -> Any:
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    line_plot._draw(axes, panel, line_plot._FORMATS[1])
    return axes


def test_every_point_and_every_interval_is_drawn() -> None:
    axes = drawn(LOSS)
    lines = {line.get_label(): line for line in axes.get_lines()}
    for series in LOSS.series:
        points = list(zip(series.x, series.y, strict=True))
        assert lines[series.label].get_xydata().tolist() == [list(map(float, p)) for p in points]
    assert lines["none"].is_dashed()
    assert not lines["narrow"].is_dashed()
    band, bars = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (2.7, 3.2)
    assert bars.get_segments()[0].tolist() == [[4, 2.9], [4, 3.0]]
    low, high = axes.get_ylim()
    assert low < 2.0 < 3.2 < high
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["narrow", "wide", "none"]


def test_ticks_of_a_logarithmic_axis_are_the_measured_places() -> None:
    assert drawn(LOSS).get_xticks().tolist() == [2, 4, 8, 16]
    many = Panel("", "", "", (Series("a", tuple(range(1, 97)), tuple(range(1, 97))),), "log", "log")
    ticks = drawn(many).get_xticks()
    assert {1, 96} <= set(ticks.tolist())
    assert np.diff(np.log(ticks)).min() >= line_plot._APART * np.log(96) - 1e-9


def test_hundreds_of_powers_of_ten_have_few_ticks_and_what_is_not_positive_is_left_out() -> None:
    axes = drawn(COLLAPSE)
    heights = [y for line in axes.get_lines() for y in line.get_ydata()]
    assert heights == list(COLLAPSE.series[0].y[:-1])
    low, high = axes.get_ylim()
    assert 0 < low < 1e-300 < 1.1 < high < 1e20
    assert 4 <= len([tick for tick in axes.get_yticks() if low <= tick <= high]) <= 9


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_equal_panels_are_equal_files(form: str) -> None:
    first = line_plot.line_plot([LOSS], form)
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "axes.facecolor": "red"}):
        assert line_plot.line_plot([LOSS], form) == first
    assert b"date" not in first.lower()


def test_legends_hide_no_curve() -> None:
    """They stand below the axes."""
    axes = drawn(LOSS)
    axes.figure.canvas.draw()
    legend, label = axes.get_legend().get_window_extent(), axes.xaxis.label.get_window_extent()
    assert legend.y1 <= label.y0 < axes.get_window_extent().y0
    assert legend.y0 >= 0


def test_a_picture_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        line_plot.line_plot([], "png")


def test_parts_are_as_high_as_alone_and_many_names_have_room() -> None:
    def size(parts: list[list[Panel]]) -> tuple[int, int]:
        """Of a PNG, whose header says it."""
        data = line_plot.stacked(parts, "png")
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])

    def listed(count: int) -> Panel:
        places = tuple(range(1, count + 1))
        shares = Series("share", places, places, kind="points")
        return Panel("Shares", "rung", "share", (shares,), x_names=tuple(map(str, places)))

    (wide, high), (_, many) = (size([[panel]]) for panel in (LOSS, listed(20)))
    assert size([[LOSS], [listed(20)], []]) == (wide, high + many)
    assert size([[listed(3)]]) == size([[listed(10)]]) < (wide, many)


def test_one_legend_serves_panels_in_which_equal_names_look_equal() -> None:
    other = Panel("Other", "x", "y", LOSS.series[:2])
    assert line_plot._shared([LOSS, other]) == ["narrow", "wide", "none"]
    assert line_plot._shared([LOSS]) == []
    swapped = Panel("Other", "x", "y", LOSS.series[1::-1])
    assert line_plot._shared([LOSS, swapped]) == []
    renamed = Panel("Other", "x", "y", (Series("thin", (2, 4), (3, 3)), LOSS.series[1]))
    assert line_plot._shared([LOSS, renamed]) == []


def test_what_is_said_of_a_curve_has_its_colour() -> None:
    floor = Series("floor", (2, 16), (2.0, 2.0), kind="reference", like="wide")
    axes = drawn(Panel("", "", "", (*LOSS.series, floor)))
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["floor"].get_color() == lines["wide"].get_color()
    assert lines["none"].get_color() not in (lines["wide"].get_color(), lines["narrow"].get_color())


def test_intervals_are_those_of_student_and_numbers_those_of_the_picture() -> None:
    sample = Sample((1.0, 2.0, 4.0, 5.0))
    assert curve("none", {1: Outside("no such net")}) is None
    drawn = curve("ours", {2: sample, 4: Exact(3)})
    assert drawn is not None
    assert drawn.high is not None
    # Two-sided 95 % quantile with three degrees of freedom, from a table.
    assert drawn.high[0] == pytest.approx(3 + 3.182 * math.sqrt(10 / 3 / 4), abs=0.01)
    law = Series("stated", (2, 4), (3, 5), kind="reference")
    bar = Series("bar", (2, 4), (1, 1), kind="reference")
    table = pivot(Panel("", "n", "", (drawn, law, bar)))
    assert table.columns == ("n", "ours", "stated")
    assert table.rows == ((2, "3 [0.0948, 5.91]", "3"), (4, "3", "5"))


def test_powers_in_a_page_are_runs_of_letters_that_a_phone_shows() -> None:
    line = Series("", (1, 2), (1e-40, 1.0))
    text = inline_svg(Panel("a", "L", "height", (line,), y_scale="log"), "n")
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", text)) >= 7.4
    power = r"<tspan[^>]*>10</tspan><tspan[^>]*>−40</tspan>"
    assert re.search(rf'text-anchor="end"[^>]*>{power}', text)


# --- separation ranks -----------------------------------------------------------------------------

EXACT = {(2, 1): 3, (2, 2): 18, (3, 1): 4, (4, 1): 5, (10, 1): 11, (10, 2): 1000}


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
    drawn = lines(rank_panels(USUAL))
    assert drawn["d_x = 2", "exact"] == {1: 1.0, 2: math.log(18) / math.log(3)}
    assert drawn["d_x = 4", "at least"] == {2: math.log(100) / math.log(3)}
    assert not any(title == "d_x = 3" for title, _ in drawn), "one entry is no curve"
    assert ("d_x = 2", "at least") not in drawn, "nothing to see, nothing in the legend"
    bounds = {2: ("upper",), 4: ("upper",), 10: ("upper", "lower")}
    for width, sides in bounds.items():
        title = f"d_x = {width}"
        counts = {L: log3_dimension_count(width, L)[1] for L in (1, 2, 3)}
        assert drawn[title, "count S(d_x, L)"] == counts
        # No lower bound of few layers and small width is above 1 at two depths.
        assert ((title, "lower bound") in drawn) is ("lower" in sides)
        for side in sides:
            curve = drawn[title, f"{side} bound"]
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
    assert rank_panels([]) == ()
    assert exact_ranks_say(USUAL[4:]) == "2 of 2 exact ranks equal the dimension count S."
    less = replace(USUAL[0], rank=2)
    assert exact_ranks_say([*USUAL, less]) == "6 of 7 exact ranks equal the dimension count S."
    assert exact_ranks_say(USUAL[6:]) == ""
    assert rank_panels([USUAL[-1], entry(5, 1, 6)], (2, 4)) == ()
    assert line_plot.line_plot(rank_panels(USUAL), "svg")
    widths = (1, 2, 3, 4, 5)
    ranks = [
        entry(width, layers, 3**2000 if width == 5 else width + 1)
        for width in widths
        for layers in (1, 2)
    ]
    drawn = lines(rank_panels(ranks, widths))
    assert drawn["d_x = 5", "exact"][1] == pytest.approx(2000, rel=1e-12)
    assert list(dict.fromkeys(title for title, _ in drawn)) == [f"d_x = {w}" for w in widths]


# --- depthlaw sweep -------------------------------------------------------------------------------


@cache
def answers() -> list[Answer]:
    return [recommend(10.0 ** (8 + i / 4)) for i in range(13)]


def sweep(key: NetKind = STANDARD, known_by: int | None = None) -> Any:
    axes = Figure(figsize=(12, 6.75)).subplots()
    sweep_plot._draw(axes, answers(), key, known_by)
    return axes


def named(drawn: Any) -> dict[str, float]:
    """The names at the right end, and their heights."""
    return {
        text.get_text().replace("\n", " "): text.xy[1] for text in drawn.texts if text.xy[0] == 1
    }


def test_every_law_for_such_nets_is_a_line_with_its_name() -> None:
    drawn, wanted = sweep(), [r for r in rules() if r.applies == STANDARD and r.meaning != "built"]
    names = {rule.name.removeprefix("threshold ") for rule in wanted}
    assert named(drawn).keys() == {"recommended"} | names
    ends = [line.get_ydata()[-1] for line in drawn.get_lines() if len(line.get_xdata()) > 100]
    end = drawn.get_xlim()[1]
    for rule in wanted:
        assert any(math.isclose(y, rule.depth(end), rel_tol=1e-9) for y in ends)


def test_laws_of_other_nets_are_drawn_where_they_are_asked_for() -> None:
    more = named(sweep(NetKind("mup"))).keys() - named(sweep()).keys()
    assert more == {rule.name for rule in rules() if rule.applies == NetKind("mup")} != set()


def test_names_do_not_overlap() -> None:
    drawn = sweep()
    figure = drawn.figure
    figure.canvas.draw()
    names = (text.get_window_extent() for text in drawn.texts if text.xy[0] == 1)
    boxes = sorted(names, key=lambda box: box.y0)
    assert all(above.y0 > below.y1 - 2 for below, above in pairwise(boxes))
    assert boxes[0].y0 > 0
    assert boxes[-1].y1 < figure.bbox.y1


def test_models_are_points_and_none_is_later_than_the_year() -> None:
    def points(known_by: int | None) -> set[tuple[float, int]]:
        return {
            point
            for line in sweep(known_by=known_by).get_lines()
            if line.get_marker() == "o"
            for point in zip(line.get_xdata(), line.get_ydata(), strict=True)
        }

    early, all_of_them = points(2021), points(None)
    assert early < all_of_them
    gpt = next(m for m in models() if m.name == "GPT-2 XL")
    assert (12.0 * gpt.layers * gpt.width**2, gpt.layers) in early


def test_equal_sweeps_are_equal_files() -> None:
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert starts.keys() == set(sweep_plot.FORMATS)
    for form, start in starts.items():
        drawn = sweep_plot.depth_plot(answers()[:2], form)
        assert drawn.startswith(start)
        assert form == "png" or drawn == sweep_plot.depth_plot(answers()[:2], form)


def test_without_the_extra_that_draws_a_picture_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep_plot, "find_spec", {"matplotlib": None}.__getitem__)
    for command in ("sweep --from 1B --to 2B", "fit TABLE.csv"):
        assert main([*command.split(), "--plot", "depth.png"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "matplotlib" in said.err
        assert installing("plot") in said.err
    assert list(tmp_path.iterdir()) == []
