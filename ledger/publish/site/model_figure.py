"""The figure "my model among all listed ones": published shapes, the depths within 1 % of the best
loss at each size, and what we would build; a script moves the reader's model through it.

The picture is drawn here, as an SVG whose colours follow the page, and stands as it is where no
script runs. What the script says of a depth at a size was asked of the advisor here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape

from depthlaw.advisor.answer import Answer
from depthlaw.advisor.base.quantities import size
from depthlaw.advisor.grids import price
from depthlaw.advisor.models import Model, model, models
from depthlaw.advisor.trades import layers_of
from depthlaw.advisor.words import percents

from .front_page import advised, sizes

# The depths that the data hold: every one up to 64, then every second.
DEPTHS = (*range(1, 65), *range(66, 161, 2))
START = "Llama-3-8B"  # where the reader's model begins
NOT_KNOWN = "nobody has compared the two"
# The picture in its own units, of which a phone shows more than half a pixel each.
_WIDE, _HIGH, _LEFT, _RIGHT, _TOP, _BOTTOM = 600, 440, 52, 12, 14, 54
_WIDTHS, _LAYERS = (200, 24_000), (4, 180)
_X_TICKS, _Y_TICKS = (256, 1024, 4096, 16_384), (4, 8, 16, 32, 64, 128)
_PLACES = (1, 1)  # digits of a coordinate after the point


def listed() -> list[Model]:
    """The models that the figure shows: dense decoders, the narrowest first."""
    return sorted((m for m in models() if m.kind == "decoder"), key=lambda m: (m.width, m.layers))


def parameters(layers: int, width: int) -> int:
    """12 L d^2: the weights in the layers of a standard net, by which sizes are equal here.

    >>> parameters(32, 4096)
    6442450944
    """
    return 12 * layers * width**2


@cache
def _answers() -> tuple[tuple[int, Answer], ...]:
    """Every answer of the front page, by 12 L d^2 of its shape, smallest first; each size once."""
    found = {parameters(a.layers or 0, a.width or 0): a for a in map(advised, sizes())}
    return tuple(sorted(found.items()))


def says(answer: Answer, layers: int) -> tuple[str, str]:
    """Where a depth lies at the size of an answer, and its loss against the recommended depth at
    equal size, as the advisor says them; empty where there is no range.

    >>> says(advised("3B"), 31), says(advised("3B"), 400)[0], says(advised("1T"), 31)
    (('inside', 'within 0.1 %'), 'deeper than trained', ('', 'nobody has compared the two'))
    """
    within, shape = answer.interval, answer.shape
    if within is None or shape is None:
        return "", NOT_KNOWN
    place = within.place(layers)
    seen = layers_of(shape.architecture)
    volume = seen.parameters / seen.per_layer
    change = price(
        seen.parameters,
        seen.aspect,
        math.sqrt(volume / layers**3),
        per_layer=seen.per_layer,
    )
    if change is None or not within.trained(layers):
        return place, NOT_KNOWN
    return place, percents((change.low, change.high))


def data() -> str:
    """The script of data: sizes with range and recommended shape, and for each of `DEPTHS` which of
    the pairs of `says` is true of it.

    Cost: as much as that of the front page, and a second.
    """
    pairs: dict[tuple[str, str], int] = {}
    held = []
    for number, answer in _answers():
        told = [pairs.setdefault(says(answer, depth), len(pairs)) for depth in DEPTHS]
        within = answer.interval
        held.append(
            {
                "size": number,
                "reads": size(number),
                "layers": answer.layers,
                "width": answer.width,
                "range": within.ends if within else "",
                "beyond": bool(within and within.extrapolated),
                "says": told,
            }
        )
    known = {"depths": DEPTHS, "pairs": list(pairs), "sizes": held, "frame": _frame()}
    return f"const depthlawModel = {json.dumps(known, separators=(',', ':'))};\n"


# --- the picture ----------------------------------------------------------------------------------


def _frame() -> dict[str, tuple[float, float]]:
    """Where the ends of both axes lie, for the script."""
    return {
        "x": (_LEFT, _WIDE - _RIGHT),
        "y": (_HIGH - _BOTTOM, _TOP),
        "widths": _WIDTHS,
        "layers": _LAYERS,
    }


def _x(width: float) -> float:
    share = math.log(width / _WIDTHS[0]) / math.log(_WIDTHS[1] / _WIDTHS[0])
    return round(_LEFT + share * (_WIDE - _LEFT - _RIGHT), 1)


def _y(layers: float) -> float:
    share = math.log(layers / _LAYERS[0]) / math.log(_LAYERS[1] / _LAYERS[0])
    return round(_HIGH - _BOTTOM - share * (_HIGH - _TOP - _BOTTOM), 1)


def _path(points: Iterable[tuple[float, float]]) -> str:
    """Widths and depths as a path."""
    return "M" + "L".join(f"{_x(width)} {_y(layers)}" for width, layers in points)


def _width(number: float, layers: float) -> float:
    """The width at which 12 L d^2 is so large."""
    return math.sqrt(number / (12 * layers))


def _band() -> str:
    known = [(number, a.interval) for number, a in _answers() if a.interval]
    low = [(_width(number, within.low), within.low) for number, within in known]
    high = [(_width(number, within.high), within.high) for number, within in known]
    return _path([*low, *reversed(high)]) + "Z"


def _axes() -> Iterator[str]:
    bottom, right = _HIGH - _BOTTOM, _WIDE - _RIGHT
    for width in _X_TICKS:
        yield f'<line class="grid" x1="{_x(width)}" x2="{_x(width)}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text x="{_x(width)}" y="{bottom + 20}" text-anchor="middle">{width:,}</text>'
    for layers in _Y_TICKS:
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{_y(layers)}" y2="{_y(layers)}"/>'
        yield f'<text x="{_LEFT - 7}" y="{_y(layers) + 5}" text-anchor="end">{layers}</text>'
    yield f'<text x="{right}" y="{bottom + 44}" text-anchor="end">width d</text>'
    yield f'<text x="{_LEFT + 6}" y="{_TOP + 16}">layers L</text>'


def _dots() -> Iterator[str]:
    """A dot for each shape, named by all models that have it."""
    shapes: dict[tuple[int, int], list[str]] = {}
    for m in listed():
        shapes.setdefault((m.layers, m.width), []).append(m.name)
    for place, ((layers, width), names) in enumerate(shapes.items()):
        name = escape(f"{', '.join(names)}: {layers} layers, width {width:,}")
        yield (
            f'<circle class="model" cx="{_x(width)}" cy="{_y(layers)}" r="5" role="img" '
            f'tabindex="{-(place > 0)}" aria-label="{name}" data-layers="{layers}" '
            f'data-width="{width}"><title>{name}</title></circle>'
        )


def still() -> str:
    """The picture, with `START` in the place of the reader's model."""
    mine = model(START)
    number = parameters(mine.layers, mine.width)
    equal = _path((_width(number, depth), depth) for depth in _LAYERS)
    clip = (
        f'x="{_LEFT}" y="{_TOP}" width="{_WIDE - _LEFT - _RIGHT}" height="{_HIGH - _TOP - _BOTTOM}"'
    )
    advice = [(a.width or 0, a.layers or 0) for _, a in _answers()]
    name = "Published models by width and layers, the depths within 1 % of the best loss, ours"
    labels = (
        f'<text class="band" x="{_x(300)}" y="{_y(20)}">within 1 %</text>'
        f'<text class="advice" x="{_x(15_000)}" y="{_y(152)}" text-anchor="end">we would build'
        "</text>"
    )
    x, y = _x(mine.width), _y(mine.layers)
    return f"""<svg viewBox="0 0 {_WIDE} {_HIGH}" role="group" aria-label="{name}">
<clipPath id="model-clip"><rect {clip}/></clipPath>
{"".join(_axes())}
<g clip-path="url(#model-clip)"><path class="band" d="{_band()}"/>
<path class="equal" d="{equal}"/><path class="advice" d="{_path(advice)}"/></g>
{"".join(_dots())}{labels}
<path class="best" d="M-7 0H7M0-7V7" transform="translate(-99 -99)"/>
<g class="mine" transform="translate({x} {y})"><circle r="9"/><text x="14" y="-8">mine</text></g>
</svg>"""


def figure(root: str = "", *, data: bool = True) -> str:
    """The figure as HTML, with its fields, which a script shows.

    Args:
        root: from the page to the root of the site, such as "../".
        data: whether the page loads the script of data from there, or has it already.
    """
    mine = model(START)
    read = f'<script src="{root}_static/figures/model.data.js" defer></script>\n'
    options = "".join(f"<option>{escape(m.name)}</option>" for m in listed())
    return f"""<figure class="interactive" id="model">
<form class="controls" hidden aria-label="My model">
<label>Layers <input type="number" name="layers" min="1" max="160" value="{mine.layers}"></label>
<label>Width <input type="number" name="width" min="64" max="32768" step="64"
 value="{mine.width}"></label>
<label>or a listed one <select name="listed"><option value="">choose</option>{options}</select>
</label>
</form>
<p class="says" role="status"></p>
{still()}
<p class="named" aria-hidden="true"></p>
<figcaption>Each dot is a published shape: point at it, or walk the dots with the arrow keys, for
its names. Nets on the dashed line have equal size 12 L d<sup>2</sup>. The band holds the depths
that should lose at most 1 % of the best loss; + and -: deeper and shallower nets were not
trained.</figcaption>
</figure>
{read if data else ""}<script src="{root}_static/figures/model.js" defer></script>"""
