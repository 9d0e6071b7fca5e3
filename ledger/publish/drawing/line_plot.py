"""Pictures of measured curves: plain panels become a PNG, SVG or PDF whose bytes depend on the
panels alone."""

from __future__ import annotations

import io
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import fill as filled
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .panels import Number, Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

# What is written into a picture's file beside the picture: nothing. A note of when it was made, or
# by which release, would make equal figures differ.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Words with a hyphen stay whole.
fill = partial(filled, break_on_hyphens=False)
# Okabe and Ito's colours, the light yellow last but one; a shape for each, for prints without
# colour.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F4F24", "#6A51A3")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
# Of what a theory or a paper says: dashes, dark ones first.
_REFERENCES = ("#333333", "#8A8A8A")
_DASHES = ((4, 2), (1, 1.5), (6, 2, 1, 2))


# Inches of a panel's title, labels and room; of what is compact how high its axes are and how many
# letters a line holds, as factors.
_WORDS, _LOWER, _NARROW = 1.0, 0.6, 1.2


@dataclass(frozen=True)
class _Format:
    """One panel: inches, at a font that reads in a column of text; letters of a line of its title,
    of its vertical label and of its legend; where its legend stands, below the axes in shares of
    their height; inches of a place with a name."""

    wide: float
    high: float
    letters: int
    label: int
    legend: int
    below: float
    named: float = 0.24


# A panel alone, one of two in a row, one of three.
_FORMATS = {
    1: _Format(5.2, 3.7, 62, 38, 62, 0.17),
    2: _Format(3.7, 3.2, 42, 38, 42, 0.2),
    3: _Format(2.4, 2.35, 29, 30, 23, 0.3),
}
# Points of a line up to which each is marked; ticks of a logarithmic axis that stand apart.
_MARKED, _APART = 17, 0.09
# Names beside lines: letters at most, where lines must end at least, and what must lie between two,
# in shares of the axes.
_NAME, _AT_END, _BETWEEN = 18, 0.9, 0.075
# The share of a logarithmic axis that marked places cover at least; else round numbers are ticks.
_COVERED = 0.6
# Ticks of an axis over many powers of ten, and how many powers may lie between two.
_MOST_TICKS, _STEPS = 9, (2, 5, 10, 20, 50, 100)


def line_plot(
    panels: Sequence[Panel],
    form: str,
    *,
    columns: int = 2,
    compact: bool = False,
) -> bytes:
    """Draw panels side by side.

    Lines have a band, points have bars where their ends are given; curves that another one sums up
    are thin; what a theory or a paper says is dashed. Legends stand below their axes, where they
    hide nothing; one serves all panels where equal names mean equal looks. A logarithmic axis
    leaves out what is not positive.

    Args:
        panels: at least one.
        form: png, svg or pdf; letters: an SVG whose text stays text.
        columns: panels in a row, 2 or 3; a panel alone is wider.
        compact: for a page of text in a serif: lower axes, in a font like that of the text.

    Returns:
        The file; its bytes depend on the arguments and the version of matplotlib alone.

    Raises:
        ValueError: without a panel.
    """
    return stacked([panels], form, columns=columns, compact=compact)


def stacked(
    parts: Sequence[Sequence[Panel]],
    form: str,
    *,
    columns: int = 2,
    compact: bool = False,
) -> bytes:
    """Draw parts below each other, each as `line_plot` does alone: one does not narrow another."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    grids = [_grid(panels, columns, compact) for panels in parts if panels]
    if not grids:
        raise ValueError("nothing to draw: a picture has at least one panel")
    heights = [high for (_, high), _ in grids]
    inches = max(wide for (wide, _), _ in grids), sum(heights)

    def draw(figure: Figure) -> None:
        if len(grids) == 1:
            return grids[0][1](figure)
        below: Any = figure.subfigures(len(grids), 1, height_ratios=heights)
        for part, (_, drawn) in zip(below, grids, strict=True):
            drawn(part)

    look = "compact_plot" if compact else "line_plot"
    return picture(draw, form, look, inches, ConstrainedLayoutEngine(h_pad=0.09))


def alone(panel: Panel, settings: Mapping[str, Any]) -> str:
    """One panel as SVG, as wide as one of two in a row, with settings of matplotlib."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size = _FORMATS[2]
    legend = _lines(panel, size) * 0.17

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw(axes, panel, size, legend=False)
        if not _labelled(axes, panel):
            _legend(axes, panel, size)

    inches, layout = (size.wide, legend + _height(panel, size)), ConstrainedLayoutEngine()
    return picture(draw, "svg", "line_plot", inches, layout, settings).decode()


def _grid(
    panels: Sequence[Panel], columns: int, compact: bool
) -> tuple[tuple[float, float], Callable[[FigureBase], None]]:
    """How large panels in rows are, in inches, and how they are drawn."""
    columns = min(columns, len(panels))
    size = _FORMATS[columns]
    if compact:
        high = _WORDS + _LOWER * (size.high - _WORDS)
        letters = {"letters": int(_NARROW * size.letters), "label": int(0.55 * size.label)}
        # The legend stands below the axes by the same inches.
        below = size.below / _LOWER
        size = replace(size, high=high, below=below, named=0.7 * size.named, **letters)
    shared = _shared(panels)
    legend = 0.0 if shared else max(_lines(panel, size) for panel in panels) * 0.17
    heights = [
        legend + max(_height(panel, size) for panel in panels[at : at + columns])
        for at in range(0, len(panels), columns)
    ]
    rows = len(heights)
    free = rows * columns > len(panels)
    below = math.ceil(len(shared) / 3) * 0.22 if not free else 0.0

    def draw(figure: FigureBase) -> None:
        grid = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
        places = list(grid.flat)
        handles: dict[str, Any] = {}
        for i, (place, panel) in enumerate(zip(places, panels, strict=False)):
            # A row as high as many names need is not that much higher above its legends.
            room = (heights[i // columns] - legend - _WORDS) / (size.high - _WORDS)
            _draw(place, panel, replace(size, below=size.below / room), legend=not shared)
            if i % columns and not panel.x_names and panel.y_label == panels[i - 1].y_label:
                place.set_ylabel("")
            lines, labels = place.get_legend_handles_labels()
            handles |= dict(zip(labels, lines, strict=True))
        for place in places[len(panels) :]:
            place.set_axis_off()
        if shared:
            how: dict[str, Any] = {"loc": "outside lower center", "ncols": 3}
            how = {"loc": "center"} if free else how
            drawn, labels = [handles[label] for label in shared], [*map(_set, shared)]
            (places[-1] if free else figure).legend(drawn, labels, handlelength=2.6, **how)

    return (columns * size.wide, sum(heights) + below), draw


def picture(
    draw: Callable[[Figure], None],
    form: str,
    look: str,
    inches: tuple[float, float],
    layout: Any = "constrained",
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    """The file of a figure, whose bytes depend on what is drawn and on matplotlib's version; its
    `look` is a style sheet beside this module, and `settings` go before that."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = ("always", look, *(["letters"] if form == "letters" else []))
    form = "svg" if form == "letters" else form
    sheets = (Path(__file__).with_name(f"{name}.mplstyle") for name in names)
    with style.context(["default", *sheets, dict(settings)]):
        figure = Figure(figsize=inches, layout=layout)
        FigureCanvasAgg(figure)
        draw(figure)
        target = io.BytesIO()
        figure.savefig(target, format=form, metadata=_METADATA[form])
    return target.getvalue()


def _shared(panels: Sequence[Panel]) -> list[str]:
    """The labels of one legend for all panels: where some label is that of several panels, and
    labels and looks belong together one to one; else none."""
    looks: dict[str, tuple[bool, int, str]] = {}
    count = 0
    for panel in panels:
        named = _in_legend(panel)
        count += len(named)
        for measured in (True, False):
            own = _measured_of(panel) if measured else _references_of(panel)
            for place, series in enumerate(own):
                look = (measured, place, series.kind + series.like)
                if series in named and looks.setdefault(_label(series), look) != look:
                    return []
    one_to_one = len({look[:2] for look in looks.values()}) == len(looks)
    return list(looks) if one_to_one and len(looks) < count else []


def _height(panel: Panel, size: _Format) -> float:
    """Inches, more where many names stand below each other."""
    return max(size.high, _WORDS + size.named * len(panel.x_names))


def _lines(panel: Panel, size: _Format) -> int:
    """Rows of a panel's legend."""
    labels = [fill(series.label, size.legend) for series in _in_legend(panel)]
    if not labels:
        return 0
    columns = _legend_columns(labels, size)
    return sum(label.count("\n") + 1 for label in labels[::columns])


def _legend_columns(labels: Sequence[str], size: _Format) -> int:
    longest = max(len(line) for label in labels for line in label.splitlines())
    return max(1, min(3, len(labels), size.legend // (longest + 6)))


# A power, an index that is a number, or a letter's index, in the plain text of a label.
_SCRIPT = re.compile(r"(?<=[\w)])([_^])(\d+|(?<=\^)[A-Za-z]|(?<=\b[A-Za-z]_)[a-z])(?!\w)")


def _set(text: str) -> str:
    """Plain text with its powers raised and its indices lowered, as matplotlib sets them.

    >>> _set("12 L d^2"), _set("3^L"), _set("log_3 d_x")
    ('12 L d$^{2}$', '3$^{L}$', 'log$_{3}$ d$_{x}$')
    """
    return _SCRIPT.sub(r"$\1{\2}$", text)


def _draw(axes: Axes, panel: Panel, size: _Format, *, legend: bool = True) -> None:
    _curves(axes, panel)
    across, up = (panel.y_label, panel.x_label) if panel.x_names else (panel.x_label, panel.y_label)
    # Names stand to the left of the title too.
    letters = size.letters - max(map(len, panel.x_names), default=0) // 2
    axes.set_title(_set(fill(panel.title, letters)), loc="left")
    axes.set_xlabel(_set(fill(across, size.letters)))
    axes.set_ylabel(_set(fill(up, size.label)))
    if legend:
        _legend(axes, panel, size)


def _legend(axes: Axes, panel: Panel, size: _Format) -> None:
    """Names of the curves below the axes, where there are several."""
    if not (entries := _in_legend(panel)):
        return
    labels = [fill(series.label, size.legend) for series in entries]
    handles = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    look: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, -size.below)}
    look |= {"borderaxespad": 0, "handlelength": 2.2, "columnspacing": 1.2}
    drawn, columns = [handles[_label(s)] for s in entries], _legend_columns(labels, size)
    axes.legend(drawn, [*map(_set, labels)], ncols=columns, **look)


def _labelled(axes: Axes, panel: Panel) -> bool:
    """Write the names of all curves beside their right ends, if they are short and the ends stand
    apart there; else write none."""
    ends: list[tuple[float, str]] = []
    for series in _in_legend(panel):
        seen = panel.seen(series)
        if series.kind == "points" or panel.x_names or len(seen) < 2 or len(series.label) > _NAME:
            return False
        last = max(seen, key=lambda i: series.x[i])
        place = axes.transData.transform((series.x[last], series.y[last]))
        across, up = axes.transAxes.inverted().transform(place)
        if min(series.x) == max(series.x) or across < _AT_END:
            return False
        ends.append((float(up), series.label))
    ends.sort()
    if any(b - a < _BETWEEN for (a, _), (b, _) in itertools.pairwise(ends)):
        return False
    for up, label in ends:
        axes.text(1.02, up, _set(label), transform=axes.transAxes, va="center", fontsize=8.5)
    return True


def _beside(panel: Panel, series: Series, place: int, count: int) -> Series:
    """The points of one name lie beside each other, so that none hides another."""
    if not panel.x_names:
        return series
    return replace(series, x=tuple(x + 0.18 * (place - (count - 1) / 2) for x in series.x))


def _whole(panel: Panel) -> bool:
    """Whether all measured heights are whole numbers, or of intervals their ends."""
    drawn = [s for s in panel.series if s.kind != "reference"]
    heights = [y for s in drawn for part in (s.low or s.y, s.high or s.y) for y in part]
    return all(float(y).is_integer() for y in heights)


def _curves(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xscale(panel.x_scale)
    axes.set_yscale(panel.y_scale)
    measured = _measured_of(panel)
    colours = dict(zip((s.label for s in measured), itertools.cycle(_COLOURS), strict=False))
    for series in panel.series:
        if series.kind == "thin":
            xs, ys = _turned(panel, series.x, series.y)
            axes.plot(xs, ys, color="#555555", linewidth=0.8, alpha=0.6, zorder=3.1)
    for place, series in enumerate(measured):
        _measured(axes, panel, _beside(panel, series, place, len(measured)), place)
    for place, series in enumerate(_references_of(panel)):
        _reference(axes, panel, series, place, colours.get(series.like))
    if panel.x_names:
        axes.set_yticks(range(1, len(panel.x_names) + 1), map(_set, panel.x_names))
        axes.set_ylim(len(panel.x_names) + 0.5, 0.5)
        if panel.y_scale == "linear" and _whole(panel):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        _limits(axes, panel)
        _ticks(axes, panel)


def _turned(panel: Panel, xs: Sequence[Number], ys: Sequence[Number]) -> tuple[Any, Any]:
    """Places with names stand below each other, beside their values."""
    return (ys, xs) if panel.x_names else (xs, ys)


def _measured_of(panel: Panel) -> list[Series]:
    """What is measured, but for thin curves."""
    return [series for series in panel.series if series.kind in ("line", "points")]


def _references_of(panel: Panel) -> list[Series]:
    return [series for series in panel.series if series.kind == "reference"]


def _in_legend(panel: Panel) -> list[Series]:
    """The curves that a legend must name: none where there is one."""
    named = [series for series in panel.series if series.kind != "thin"]
    return named if len(named) > 1 else []


def _label(series: Series) -> str:
    return fill(series.label, 42)


def _reference(axes: Axes, panel: Panel, series: Series, place: int, colour: str | None) -> None:
    seen = panel.seen(series)
    colour = colour or _REFERENCES[place // len(_DASHES) % len(_REFERENCES)]
    # Where nothing is said the line has a gap.
    heights = [y if i in seen else math.nan for i, y in enumerate(series.y)]
    look: dict[str, Any] = {"linestyle": (0, _DASHES[place % len(_DASHES)]), "linewidth": 1.3}
    # A point with a gap on either side is no line.
    look["marker"] = "_" if len(seen) == 1 else "." if len(seen) < len(series.x) else ""
    look |= {"markersize": 14 if len(seen) == 1 else 3, "zorder": 3.5, "label": _label(series)}
    axes.plot(*_turned(panel, series.x, heights), color=colour, **look)


def _measured(axes: Axes, panel: Panel, series: Series, place: int) -> None:
    seen = panel.seen(series)
    xs, ys = [series.x[i] for i in seen], [series.y[i] for i in seen]
    colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
    look: dict[str, Any] = {"color": colour, "label": _label(series)}
    look |= {"markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.5}
    ends = _ends(panel, series, seen)
    if series.kind == "line":
        if ends is not None and len(seen) > 1:
            axes.fill_between(xs, *ends, color=colour, alpha=0.2, linewidth=0, zorder=2)
        few = len(seen) <= _MARKED
        axes.plot(xs, ys, "-", marker=marker if few else "", linewidth=1.6, zorder=3, **look)
    else:
        axes.plot(*_turned(panel, xs, ys), marker=marker, linestyle="", zorder=3.2, **look)
    if ends is not None and (series.kind == "points" or len(seen) == 1):
        bars = axes.hlines if panel.x_names else axes.vlines
        bars(xs, *ends, color=colour, linewidth=1.3, zorder=3.1)


def _ends(
    panel: Panel, series: Series, seen: list[int]
) -> tuple[list[Number], list[Number]] | None:
    """The ends of the intervals; None where there are none. One that reaches below the positive
    numbers ends, on a logarithmic axis, far below what is shown."""
    if series.low is None or series.high is None:
        return None
    low, high = [series.low[i] for i in seen], [series.high[i] for i in seen]
    if panel.y_scale == "log":
        least = min(panel.heights(), default=1.0) / 1e3
        low = [max(end, least) for end in low]
    return low, high


def _limits(axes: Axes, panel: Panel) -> None:
    """Room around everything that is shown."""
    if (ends := panel.extent()) is None:
        return
    low, high = ends
    if panel.y_scale == "log":
        room = math.pow(10, max(0.05, 0.04 * _decades(low, high)))
        axes.set_ylim(max(low / room, sys.float_info.min), high * room)
    else:
        room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        axes.set_ylim(low - room, high + room)


def _ticks(axes: Axes, panel: Panel) -> None:
    """Whole numbers where the measured places are whole; plain numbers where they are short."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    drawn = [s for s in panel.series if s.kind != "reference"]
    # A smooth curve, whose points are not marked, has no places of its own.
    marked = [s for s in drawn if s.kind == "points" or len(s.x) <= _MARKED] or drawn
    places = sorted({x for s in marked for x in s.x})
    whole = bool(places) and all(float(x).is_integer() for x in places)
    if panel.x_scale == "linear" and whole:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.y_scale == "linear" and _whole(panel):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.x_scale == "log" and any(x > 0 for x in places):
        apart = list(_apart([float(x) for x in places if x > 0]))
        low, high = axes.get_xlim()
        short = all(x == float(f"{x:.3g}") or float(x).is_integer() for x in apart)
        if not short or _decades(apart[0], apart[-1]) < _COVERED * _decades(low, high):
            # Fitted places have long numbers, and curves may go on far beyond what is marked.
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
            apart = [m * 10.0**n for n in powers for m in (1, 2, 5) if low <= m * 10.0**n <= high]
        axes.xaxis.set_major_locator(FixedLocator(apart))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 10**4 else f"{x:,.6g}")
    low, high = axes.get_ylim()
    if panel.y_scale == "log" and _decades(low, high) > _MOST_TICKS:
        first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
        step = next(s for s in _STEPS if (last - first) / s <= _MOST_TICKS)
        few = [10.0**n for n in range(first, last + 1) if n % step == 0]
        axes.yaxis.set_major_locator(FixedLocator(few))
        axes.yaxis.set_minor_locator(NullLocator())
    elif panel.y_scale == "log" and low >= 1e-3 and high <= 1e5 and high / low < 1e3:
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        # Ticks between powers of ten have a label where there are few powers.
        named = (2, 5) if high / low < 40 else ()
        axes.yaxis.set_minor_formatter(
            lambda y, _: f"{float(f'{y:.2g}'):g}" if _first_digit(y) in named else ""
        )


def _decades(low: float, high: float) -> float:
    """How many powers of ten lie between two numbers, whose ratio no float may hold."""
    return math.log10(high) - math.log10(low)


def _first_digit(y: float) -> int:
    return round(y / math.pow(10, math.floor(math.log10(y) + 1e-9)))


def _apart(places: Sequence[float]) -> Iterator[float]:
    """Places that stand far enough apart on a logarithmic axis for their numbers, both ends
    among them."""
    least = _APART * math.log(places[-1] / places[0]) if len(places) > 1 else 0.0
    last = -math.inf
    for x in places[:-1]:
        if math.log(x) - last >= least and math.log(places[-1] / x) >= least:
            yield x
            last = math.log(x)
    yield places[-1]
