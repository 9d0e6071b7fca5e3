"""The figure `model`, a reader's own model among all listed ones: published shapes, the depths
within 1 % of the best loss at each size, and what we would build.

What the script says of a depth at a size was asked of the advisor here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from depthlaw.advisor.answer import Answer
from depthlaw.advisor.base.quantities import size
from depthlaw.advisor.grids import price
from depthlaw.advisor.models import Model, model, models
from depthlaw.advisor.trades import layers_of
from depthlaw.advisor.words import percents

from ...verdicts.record_source import Recorded
from ..drawing.svg import Point, line, picture, tag
from .front_page import advised, sizes

# The depths that the data hold: every one up to 64, then every second.
DEPTHS = (*range(1, 65), *range(66, 161, 2))
START = "Llama-3-8B"  # where the reader's model begins
NOT_KNOWN = "nobody has compared the two"
_WIDE, _HIGH, _LEFT, _RIGHT, _TOP, _BOTTOM = 360, 270, 26, 6, 6, 34
_WIDTHS, _LAYERS = (200, 24_000), (4, 180)  # the ends of both axes, which are logarithmic
_X_TICKS, _Y_TICKS = (256, 1024, 4096, 16_384), (4, 8, 16, 32, 64, 128)


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
def answers() -> tuple[tuple[int, Answer], ...]:
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
    aspect = math.sqrt(volume / layers**3)
    change = price(seen.parameters, seen.aspect, aspect, per_layer=seen.per_layer)
    if change is None or not within.trained(layers):
        return place, NOT_KNOWN
    return place, percents((change.low, change.high))


def model_data(_: Recorded) -> dict[str, Any]:
    """For the script: listed shapes; sizes with range and recommended shape, and for each of
    `DEPTHS` which of the pairs of `says` is true of it.

    Cost: as much as that of the front page, and a second.
    """
    shapes: dict[tuple[int, int], list[str]] = {}
    for m in listed():
        shapes.setdefault((m.layers, m.width), []).append(m.name)
    pairs: dict[tuple[str, str], int] = {}
    held = []
    for number, answer in answers():
        within = answer.interval
        held.append(
            {
                "size": number,
                "reads": size(number),
                "layers": answer.layers,
                "width": answer.width,
                "range": within.ends if within else "",
                "ends": (within.low, within.high) if within else (),
                "beyond": bool(within and within.extrapolated),
                "says": [pairs.setdefault(says(answer, depth), len(pairs)) for depth in DEPTHS],
            }
        )
    return {
        "start": START,
        "models": [(*shape, names) for shape, names in shapes.items()],
        "depths": DEPTHS,
        "pairs": list(pairs),
        "sizes": held,
        "widths": _WIDTHS,
        "layers": _LAYERS,
        # Where the ends of both axes lie.
        "x": (_LEFT, _WIDE - _RIGHT),
        "y": (_HIGH - _BOTTOM, _TOP),
    }


def model_still(data: dict[str, Any]) -> str:
    """The picture, with `START` in the place of the reader's model."""
    mine = model(START)
    alt = (
        "Published models by width and layers. Most lie in the band of depths that should come "
        f"within 1 % of the best loss; so does {START} with {mine.layers} layers of width "
        f"{mine.width:,}."
    )
    number = parameters(mine.layers, mine.width)
    parts = [
        tag("rect", width=_WIDE, height=_HIGH, class_="paper"),
        *_axes(),
        tag("clipPath", _frame(), id="model-clip"),
        tag("g", "".join(_regions(data["sizes"], number)), clip_path="url(#model-clip)"),
    ]
    for layers, width, names in data["models"]:
        said = tag("title", f"{', '.join(names)}: {layers} layers, width {width:,}")
        at = {"cx": _at(width, layers)[0], "cy": _at(width, layers)[1], "r": 3}
        parts.append(tag("circle", said, class_="shape", **at))
    x, y = _at(300, 20)
    parts.append(tag("text", "within 1 %", x=x, y=y, class_="advised"))
    x, y = _at(15_000, 152)
    parts.append(tag("text", "we would build", x=x, y=y, class_="advised", text_anchor="end"))
    x, y = _at(mine.width, mine.layers)
    ring = tag("circle", r=5.5) + tag("text", "mine", x=8, y=-5)
    parts += [
        tag("path", d="M-5 0H5M0-5V5", class_="best", transform="translate(-99 -99)"),
        tag("g", ring, class_="mine", transform=f"translate({x} {y})"),
    ]
    return picture(_WIDE, _HIGH, alt, parts)


def _at(width: float, layers: float) -> Point:
    """Where a shape lies in the picture."""
    across = math.log(width / _WIDTHS[0]) / math.log(_WIDTHS[1] / _WIDTHS[0])
    up = math.log(layers / _LAYERS[0]) / math.log(_LAYERS[1] / _LAYERS[0])
    x = _LEFT + across * (_WIDE - _LEFT - _RIGHT)
    return round(x, 1), round(_HIGH - _BOTTOM - up * (_HIGH - _TOP - _BOTTOM), 1)


def _frame() -> str:
    wide, high = _WIDE - _LEFT - _RIGHT, _HIGH - _TOP - _BOTTOM
    return tag("rect", x=_LEFT, y=_TOP, width=wide, height=high)


def _axes() -> Iterator[str]:
    bottom, right = _HIGH - _BOTTOM, _WIDE - _RIGHT
    for width in _X_TICKS:
        x, _ = _at(width, 4)
        yield line([(x, _TOP), (x, bottom)], "rule")
        yield tag("text", f"{width:,}", x=x, y=bottom + 13, text_anchor="middle", class_="quiet")
    for layers in _Y_TICKS:
        _, y = _at(256, layers)
        yield line([(_LEFT, y), (right, y)], "rule")
        yield tag("text", f"{layers}", x=_LEFT - 4, y=y + 3, text_anchor="end", class_="quiet")
    yield tag("text", "width d", x=right, y=bottom + 28, text_anchor="end", class_="quiet")
    yield tag("text", "layers L", x=_LEFT + 4, y=_TOP + 10, class_="quiet")


def _regions(held: list[dict[str, Any]], equal: float) -> Iterator[str]:
    """The band, the shapes that are recommended, and the shapes of one size."""

    def ends(place: int) -> list[Point]:
        known = ((one["size"], one["ends"][place]) for one in held if one["ends"])
        return [_at(math.sqrt(number / (12 * depth)), depth) for number, depth in known]

    band = " ".join(f"{x:g},{y:g}" for x, y in [*ends(0), *reversed(ends(1))])
    yield tag("polygon", points=band, class_="band")
    yield line([_at(math.sqrt(equal / (12 * depth)), depth) for depth in _LAYERS], "equal")
    yield line([_at(one["width"], one["layers"]) for one in held], "advised")
