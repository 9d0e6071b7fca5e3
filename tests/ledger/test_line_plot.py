"""Panels as pictures: what is measured is drawn with its intervals, and nothing hides it."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from depthlaw.ledger.publish.drawing import line_plot as plot
from depthlaw.ledger.publish.drawing.panels import Panel, Series, curve, pivot
from depthlaw.theory.claims.values import Exact, Outside, Sample

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
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plot._draw(axes, panel, plot._FORMATS[1])
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
    assert np.diff(np.log(ticks)).min() >= plot._APART * np.log(96) - 1e-9


def test_hundreds_of_powers_of_ten_have_few_ticks_and_what_is_not_positive_is_left_out() -> None:
    axes = drawn(COLLAPSE)
    assert [y for line in axes.get_lines() for y in line.get_ydata()] == list(
        COLLAPSE.series[0].y[:-1]
    )
    low, high = axes.get_ylim()
    assert 0 < low < 1e-300 < 1.1 < high < 1e20
    assert 4 <= len([tick for tick in axes.get_yticks() if low <= tick <= high]) <= 9


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_equal_panels_are_equal_files(form: str) -> None:
    first = plot.line_plot([LOSS], form)
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "axes.facecolor": "red"}):
        assert plot.line_plot([LOSS], form) == first
    assert b"date" not in first.lower()


def test_legends_hide_no_curve() -> None:
    """They stand below the axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    plot._draw(axes, LOSS, plot._FORMATS[1])
    figure.canvas.draw()
    legend, label = axes.get_legend().get_window_extent(), axes.xaxis.label.get_window_extent()
    assert legend.y1 <= label.y0 < axes.get_window_extent().y0
    assert legend.y0 >= 0


def test_a_picture_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one panel"):
        plot.line_plot([], "png")


def test_one_legend_serves_panels_in_which_equal_names_look_equal() -> None:
    other = Panel("Other", "x", "y", LOSS.series[:2])
    assert plot._shared([LOSS, other]) == ["narrow", "wide", "none"]
    assert plot._shared([LOSS]) == []
    swapped = Panel("Other", "x", "y", LOSS.series[1::-1])
    assert plot._shared([LOSS, swapped]) == []
    renamed = Panel("Other", "x", "y", (Series("thin", (2, 4), (3, 3)), LOSS.series[1]))
    assert plot._shared([LOSS, renamed]) == []


def test_what_is_said_of_a_curve_has_its_colour() -> None:
    floor = Series("floor", (2, 16), (2.0, 2.0), kind="reference", like="wide")
    lines = {
        line.get_label(): line
        for line in drawn(Panel("", "", "", (*LOSS.series, floor))).get_lines()
    }
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
