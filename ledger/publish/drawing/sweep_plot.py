"""The plot of `depthlaw sweep`: depth against size, with laws, intervals and real models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from textwrap import fill
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.advisor.grids import STANDARD, NetKind
from depthlaw.advisor.models import Model, models
from depthlaw.advisor.rules import Rule, rules

from ...records.environment import installing
from .line_plot import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from depthlaw.advisor.answer import Answer

FORMATS = ("png", "svg", "pdf")
# Okabe and Ito's colours without black and yellow, then two greys that print well.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"),
    *("#E69F00", "#7F4F24", "#6A51A3", "#4D4D4D", "#999999"),
)
_OURS, _MODELS = "#000000", "#8C8C8C"
# A 16:9 slide.
_SIZE = (12.0, 6.75)
# Points of a curve; rows of labels that there is room for, and letters of each; the share of the
# width that a letter takes.
_STEPS, _ROWS, _LETTERS, _LETTER = 200, 25, 26, 0.0115


def plot_format(suffix: str) -> str:
    """The format that the end of a file's name asks for.

    >>> plot_format(".PNG")
    'png'

    Raises:
        UsageError: for any other than png, svg and pdf, and where the extra that draws is missing.
    """
    extension = suffix.lower().removeprefix(".")
    if extension not in FORMATS:
        raise UsageError(
            f"no plot is written as {quoted(suffix or 'a file without an ending')}; "
            "accepted are .png, .svg and .pdf; try --plot depth.png"
        )
    if find_spec("matplotlib") is None:
        raise UsageError(
            f"pictures are drawn by matplotlib, not installed here; {installing('plot')}"
        )
    return extension


def depth_plot(
    answers: Sequence[Answer], form: str, key: NetKind = STANDARD, known_by: int | None = None
) -> bytes:
    """Draw layers against 12 L d^2: the recommended depth with its interval, every law for such
    nets (solid where its source measured, dotted beyond, dashed where it is theory alone), and the
    decoders of models.csv.

    Args:
        answers: recommendations over a range of sizes.
        form: png, svg or pdf.
        key: parametrisation, norm and residuals; laws for others are left out.
        known_by: year by which laws and models must have been published.

    Returns:
        The file; its bytes depend on the arguments and the version of matplotlib alone.
    """
    return picture(
        lambda fig: _draw(fig.subplots(), answers, key, known_by), form, "sweep_plot", _SIZE
    )


def _draw(axes: Axes, answers: Sequence[Answer], key: NetKind, known_by: int | None) -> None:
    # Two sizes may have nets of one depth and width, and other inner widths.
    nets = ((a.shape.architecture, a.interval) for a in answers if a.shape)
    points = ((_layers(net.layers, net.width), net.layers, within) for net, within in nets)
    ours = sorted(points, key=lambda point: point[:2])
    sizes = [x for x, _, _ in ours]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(sizes[0], sizes[-1])
    axes.plot(sizes, [deep for _, deep, _ in ours], color=_OURS, linewidth=3.5, zorder=5)
    # Light where no published grid has nets of the size.
    for alpha, wanted in ((0.06, (False, True)), (0.1, (False,))):
        if spans := [(x, i.low, i.high) for x, _, i in ours if i and i.extrapolated in wanted]:
            xs, low, high = zip(*spans, strict=True)
            axes.fill_between(xs, low, high, color=_OURS, alpha=alpha, linewidth=0, zorder=1)
    known = (m for m in models() if m.kind == "decoder" and m.year <= (known_by or math.inf))
    near = [m for m in known if sizes[0] <= _layers(m.layers, m.width) <= sizes[-1]]
    look: dict[str, Any] = {"markersize": 7, "markeredgecolor": "white", "markeredgewidth": 0.7}
    places = [_layers(m.layers, m.width) for m in near]
    axes.plot(places, [m.layers for m in near], "o", color=_MODELS, zorder=3, **look)
    labels = [("recommended", float(ours[-1][1]), _OURS)]
    drawn = [r for r in rules(known_by) if r.applies in (STANDARD, key) and r.meaning != "built"]
    for rule, colour in zip(drawn, _COLOURS * len(drawn), strict=False):
        labels.append(
            (rule.name.removeprefix("threshold "), _law(axes, rule, sizes, colour), colour)
        )
    heights = [height for _, height, _ in labels]
    heights += [deep for _, deep, _ in ours] + [m.layers for m in near]
    axes.set_ylim(max(2, 0.8 * min(heights)), 1.6 * max(heights))
    _label_lines(axes, labels)
    _label_models(axes, near)
    _legend(axes)
    _ticks(axes)
    axes.set_xlabel("parameters of the layers, counted as 12 L d²")
    axes.set_ylabel("layers L")
    axes.set_title("How deep? Laws, evidence, and what is built", loc="left")


def _layers(layers: int, width: int) -> float:
    """The count that laws are written in, so that every net and every law has one place."""
    return 12.0 * layers * width**2


def _law(axes: Axes, rule: Rule, sizes: list[float], colour: str) -> float:
    """One law as a line, with twice its standard error where there is one; its last height."""
    low, high = sizes[0], sizes[-1]
    xs = [low * (high / low) ** (i / _STEPS) for i in range(_STEPS + 1)]
    heights = [rule.depth(x) for x in xs]
    inside = [math.nan if rule.extrapolates(x) else y for x, y in zip(xs, heights, strict=True)]
    if rule.domain:
        axes.plot(xs, heights, linestyle=(0, (1, 2)), color=colour, linewidth=1.8, zorder=2)
    axes.plot(xs, inside, "-" if rule.domain else "--", color=colour, linewidth=2.6, zorder=4)
    points = zip(xs, heights, map(rule.standard_error, xs), strict=True)
    if bands := [(x, y - 2 * e, y + 2 * e) for x, y, e in points if e is not None]:
        inner, below, above = zip(*bands, strict=True)
        axes.fill_between(inner, below, above, color=colour, alpha=0.25, linewidth=0, zorder=2)
    return heights[-1]


def _label_lines(axes: Axes, labels: list[tuple[str, float, str]]) -> None:
    """The name of each line at its right end, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    row = math.log(high / low) / _ROWS
    placed: list[tuple[str, float, float, str]] = []  # text, half its height, where, colour
    for name, height, colour in sorted(labels, key=lambda label: label[1]):
        text = fill(name, _LETTERS)
        half = row * (text.count("\n") + 1) / 2
        least = placed[-1][2] + placed[-1][1] + half if placed else -math.inf
        placed.append((text, half, max(math.log(height), least), colour))
    # What was pushed beyond the top comes down again, and pushes what is below it.
    most = math.log(high)
    for i in reversed(range(len(placed))):
        text, half, where, colour = placed[i]
        placed[i] = text, half, min(where, most - half), colour
        most = placed[i][2] - half
    for text, _, where, colour in placed:
        axes.annotate(
            text,
            (1, math.exp(where)),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=12,
            fontweight="bold" if colour == _OURS else "normal",
            annotation_clip=False,
        )


def _label_models(axes: Axes, near: list[Model]) -> None:
    """The names of the deepest and the shallowest model of each decade, where there is room."""
    from matplotlib.patheffects import withStroke

    decades: dict[int, list[Model]] = {}
    for m in near:
        decades.setdefault(math.floor(math.log10(_layers(m.layers, m.width))), []).append(m)
    placed: list[tuple[float, float, float]] = []
    for group in decades.values():
        shallow, *_, deep = sorted(group, key=lambda m: m.layers) * (1 + (len(group) == 1))
        for m, up in ((deep, True), (shallow, False)):
            # In shares of the axes; a letter takes about so much of their width.
            x, y = axes.transAxes.inverted().transform(
                axes.transData.transform((_layers(m.layers, m.width), m.layers))
            )
            half = len(m.name) * _LETTER / 2
            y += 0.03 if up else -0.03
            if half < x < 1 - half and all(
                abs(x - other) > half + width or abs(y - height) > 0.04
                for other, height, width in placed
            ):
                placed.append((x, y, half))
                axes.annotate(
                    m.name,
                    (x, y),
                    xycoords="axes fraction",
                    ha="center",
                    va="center",
                    color="#333333",
                    fontsize=11,
                    zorder=6,
                    path_effects=[withStroke(linewidth=3, foreground="white")],
                )


def _legend(axes: Axes) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    law = _COLOURS[0]
    drawn: tuple[tuple[str, str, float, Any], ...] = (
        ("recommended shape", _OURS, 3.5, "-"),
        ("law, at sizes its source measured", law, 2.6, "-"),
        ("law, extrapolated", law, 1.8, (0, (1, 2))),
        ("theory alone", law, 2.6, "--"),
    )
    ours, *laws = (
        Line2D([], [], color=colour, linewidth=width, linestyle=dash, label=label)
        for label, colour, width, dash in drawn
    )
    within = "within 1 % of the best loss (light: no grid of this size)"
    band = Patch(color=_OURS, alpha=0.16, linewidth=0, label=within)
    built = Line2D(
        [], [], color=_MODELS, marker="o", linestyle="", markersize=7, label="published decoders"
    )
    axes.legend(loc="upper left", handles=[ours, band, *laws, built])


def _ticks(axes: Axes) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    from depthlaw.advisor.base.quantities import size

    low, high = axes.get_ylim()
    powers = [2**n for n in range(10) if low <= 2**n <= high]
    axes.yaxis.set_major_locator(FixedLocator(powers))
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.xaxis.set_major_formatter(lambda x, _: size(x))
    axes.yaxis.set_minor_locator(NullLocator())
