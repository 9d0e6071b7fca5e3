"""The plot of `depthlaw sweep`: lines are the laws, points the models, and names can be read."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor import recommend
from depthlaw.advisor.answer import Answer
from depthlaw.advisor.grids import STANDARD, NetKind
from depthlaw.advisor.models import models
from depthlaw.advisor.rules import rules
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.drawing import sweep_plot as plot
from depthlaw.ledger.records.environment import installing


@cache
def answers() -> list[Answer]:
    return [recommend(10.0 ** (8 + i / 4)) for i in range(13)]


def axes(key: NetKind = STANDARD, known_by: int | None = None) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.75))
    drawn = figure.subplots()
    plot._draw(drawn, answers(), key, known_by)
    return drawn


def named(drawn: Any) -> dict[str, float]:
    """The names at the right end, and their heights."""
    return {
        text.get_text().replace("\n", " "): text.xy[1] for text in drawn.texts if text.xy[0] == 1
    }


def test_every_law_for_such_nets_is_a_line_with_its_name() -> None:
    drawn, wanted = axes(), [r for r in rules() if r.applies == STANDARD and r.meaning != "built"]
    assert named(drawn).keys() == {"recommended"} | {
        rule.name.removeprefix("threshold ") for rule in wanted
    }
    ends = [line.get_ydata()[-1] for line in drawn.get_lines() if len(line.get_xdata()) > 100]
    end = drawn.get_xlim()[1]
    for rule in wanted:
        assert any(math.isclose(y, rule.depth(end), rel_tol=1e-9) for y in ends)


def test_laws_of_other_nets_are_drawn_where_they_are_asked_for() -> None:
    more = named(axes(NetKind("mup"))).keys() - named(axes()).keys()
    assert more == {rule.name for rule in rules() if rule.applies == NetKind("mup")} != set()


def test_names_do_not_overlap() -> None:
    drawn = axes()
    figure = drawn.figure
    figure.canvas.draw()
    boxes = sorted(
        (text.get_window_extent() for text in drawn.texts if text.xy[0] == 1),
        key=lambda box: box.y0,
    )
    assert all(above.y0 > below.y1 - 2 for below, above in pairwise(boxes))
    assert boxes[0].y0 > 0
    assert boxes[-1].y1 < figure.bbox.y1


def test_models_are_points_and_none_is_later_than_the_year() -> None:
    def points(known_by: int | None) -> set[tuple[float, int]]:
        return {
            point
            for line in axes(known_by=known_by).get_lines()
            if line.get_marker() == "o"
            for point in zip(line.get_xdata(), line.get_ydata(), strict=True)
        }

    early, all_of_them = points(2021), points(None)
    assert early < all_of_them
    gpt = next(m for m in models() if m.name == "GPT-2 XL")
    assert (12.0 * gpt.layers * gpt.width**2, gpt.layers) in early


def test_equal_sweeps_are_equal_files() -> None:
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert starts.keys() == set(plot.FORMATS)
    for form, start in starts.items():
        drawn = plot.depth_plot(answers()[:2], form)
        assert drawn.startswith(start)
        assert form == "png" or drawn == plot.depth_plot(answers()[:2], form)


def test_without_the_extra_that_draws_a_picture_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plot, "find_spec", {"matplotlib": None}.__getitem__)
    for command in ("sweep --from 1B --to 2B", "fit TABLE.csv"):
        assert main([*command.split(), "--plot", "depth.png"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "matplotlib" in said.err
        assert installing("plot") in said.err
    assert list(tmp_path.iterdir()) == []
