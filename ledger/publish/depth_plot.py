"""The plot of `depthlaw sweep`: depth against size, with laws, intervals and real models."""
from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.models import Model, models
from depthlaw.advisor.quantities import UsageError, quoted

from .figures import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from depthlaw.advisor.recommendation import Answer, LawNumber

FORMATS = ("png", "svg", "pdf")
# Okabe and Ito's colours without black and yellow, then two greys that print well.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F4F24", "#6A51A3",
            "#4D4D4D", "#999999")
_OURS, _MODELS = "#000000", "#8C8C8C"
# A 16:9 slide, at sizes that the last row can read.
_SIZE = (12.0, 6.75)
_TALK: dict[str, Any] = STYLE | {
    "font.size": 13, "axes.labelsize": 15, "axes.titlesize": 17, "xtick.labelsize": 13,
    "ytick.labelsize": 13, "legend.fontsize": 12, "savefig.dpi": 160, "svg.hashsalt": "depthlaw"}
# Least ratio of the heights of two labels.
_APART = 1.085


def plot_format(suffix: str) -> str:
    """The format that the end of a file's name asks for.

    >>> plot_format(".PNG")
    'png'

    Raises:
        UsageError: for any other than png, svg and pdf.
    """
    found = suffix.lower().removeprefix(".")
    if found not in FORMATS:
        raise UsageError(f"no plot is written as {quoted(suffix or 'a file without an ending')}; "
                         "accepted are .png, .svg and .pdf; try --plot depth.png")
    return found


def depth_plot(answers: Sequence[Answer], form: str, known_by: int | None = None) -> bytes:
    """Draw layers against parameters without embeddings: the recommended depth with its interval,
    every law (solid where its source measured, dotted beyond) and the models of models.csv.

    Args:
        answers: recommendations over a range of sizes, smallest first.
        form: png, svg or pdf.
        known_by: year in which a model must have been released.

    Returns:
        The file; its bytes depend on the arguments and the version of matplotlib alone.
    """
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.context(["default", _TALK]):
        figure = Figure(figsize=_SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        _draw(figure.subplots(), answers, known_by)
        target = io.BytesIO()
        figure.savefig(target, format=form, metadata=_metadata(form))
    return target.getvalue()


def _metadata(form: str) -> dict[str, Any]:
    # A note of when a file was made, or by which release, would make equal figures differ.
    return {"png": {"Software": None}, "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None}}[form]


def _draw(axes: Axes, answers: Sequence[Answer], known_by: int | None) -> None:
    shown = [a for a in answers if a.shape is not None]
    sizes = [float(a.shape.counts.nonembedding) for a in shown if a.shape]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(sizes[0], sizes[-1])
    near = [m for m in models() if m.kind == "decoder" and sizes[0] <= m.parameters <= sizes[-1]
            and (known_by is None or m.year <= known_by)]
    ours = [a.shape.architecture.layers for a in shown if a.shape]
    axes.plot(sizes, ours, color=_OURS, linewidth=3, zorder=5)
    spans = [(x, a.interval.low, a.interval.high) for x, a in zip(sizes, shown, strict=True)
             if a.interval]
    if spans:
        axes.fill_between(*zip(*spans, strict=True), color=_OURS, alpha=0.12, linewidth=0,
                          zorder=1)
    axes.plot([m.parameters for m in near], [m.layers for m in near], "o", color=_MODELS,
              markersize=6, markeredgecolor="white", markeredgewidth=0.6, zorder=3)
    labels = [("recommended", float(ours[-1]), _OURS)]
    keys = list(dict.fromkeys(law.key for a in shown for law in a.laws))
    for key, colour in zip(keys, _COLOURS * (1 + len(keys) // len(_COLOURS)), strict=False):
        points = [(x, law) for x, a in zip(sizes, shown, strict=True) for law in a.laws
                  if law.key == key]
        _law(axes, points, colour)
        labels.append((points[-1][1].name, points[-1][1].depth, colour))
    heights = [*ours, *(m.layers for m in near), *(height for _, height, _ in labels)]
    axes.set_ylim(max(1, 0.7 * min(heights)), 1.25 * max(heights))
    _label_lines(axes, labels)
    _label_models(axes, near)
    _ticks(axes)
    axes.set_xlabel("parameters without embeddings")
    axes.set_ylabel("layers")


def _law(axes: Axes, points: list[tuple[float, LawNumber]], colour: str) -> None:
    """One law as a line: solid inside the sizes that its source measured, dotted outside."""
    heights = [law.depth for _, law in points]
    xs = [x for x, _ in points]
    inside = [h if not law.extrapolated else math.nan for h, (_, law) in
              zip(heights, points, strict=True)]
    axes.plot(xs, heights, linestyle=(0, (1, 2)), color=colour, linewidth=1.6, zorder=2)
    axes.plot(xs, inside, color=colour, linewidth=2.4, zorder=4, solid_capstyle="round")
    bands = [(x, law.depth - 2 * law.error, law.depth + 2 * law.error) for x, law in points
             if law.error is not None]
    if bands:
        axes.fill_between(*zip(*bands, strict=True), color=colour, alpha=0.25, linewidth=0,
                          zorder=2)


def _label_lines(axes: Axes, labels: list[tuple[str, float, str]]) -> None:
    """The name of each line at its right end, moved apart where they would overlap."""
    placed, least = [], 0.0
    for name, height, colour in sorted(labels, key=lambda label: label[1]):
        least = max(height, least * _APART)
        placed.append((name, least, colour))
    # What was pushed beyond the top comes down again, and pushes what is below it.
    most = axes.get_ylim()[1]
    for i in reversed(range(len(placed))):
        name, height, colour = placed[i]
        placed[i] = name, min(height, most), colour
        most = min(height, most) / _APART
    for name, height, colour in placed:
        axes.annotate(name, (1, height), xycoords=("axes fraction", "data"), xytext=(8, 0),
                      textcoords="offset points", color=colour, va="center", fontsize=12,
                      fontweight="bold" if colour == _OURS else "normal", annotation_clip=False)


def _label_models(axes: Axes, near: list[Model]) -> None:
    """In each decade of size the name of the deepest and of the shallowest model."""
    decades: dict[int, list[Model]] = {}
    for m in near:
        decades.setdefault(math.floor(math.log10(m.parameters)), []).append(m)
    for group in decades.values():
        ends = (max(group, key=lambda m: m.layers), min(group, key=lambda m: m.layers))
        for m, up in zip(dict.fromkeys(ends), (True, False), strict=False):
            axes.annotate(m.name, (m.parameters, m.layers), xytext=(0, 7 if up else -7),
                          textcoords="offset points", ha="center", va="bottom" if up else "top",
                          color="#555555", fontsize=10, zorder=6)


def _ticks(axes: Axes) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    from depthlaw.advisor.report import size

    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(FixedLocator(
        [y for y in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if low <= y <= high]))
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.xaxis.set_major_formatter(lambda x, _: size(x))
    axes.yaxis.set_minor_locator(NullLocator())
