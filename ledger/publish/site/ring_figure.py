"""The figure `ring`: how far weights written by hand see on a ring, and how far trained nets do."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any

from depthlaw.advisor.laws import reach
from depthlaw.theory.claims.values import Ball

from ...verdicts.record_source import Recorded
from ..drawing.panels import split
from ..drawing.svg import Point, line, picture, tag

VERTICES = 40
_KEYS = ("wall_within", "wall_beyond", "third_layer_passes")
_LAYERS = {1: "one layer", 2: "two layers", 3: "three layers"}
# Of the panel of a number of layers: where it begins, its width and height, and its ends.
_LEFT, _APART, _WIDE, _HIGH, _FOOT = 42, 107, 96, 84, 254
_FARTHEST, _LEAST = 13, 0.4


def ring_data(recorded: Recorded) -> dict[str, Any]:
    """For the script: of every net that was trained longest, by distance, the interval of its share
    of right answers about pairs in a row."""
    rows = [
        (row.case, row.measured)
        for row in recorded.rows(*(f"trained_depth/{name}" for name in _KEYS))
        if row.case.asked == "row" and row.case.nets == 1 and isinstance(row.measured, Ball)
    ]
    nets = []
    for (net, layers, seed, updates), part in split(rows, "net", "depth", "first", "updates"):
        shares = {case.distance: value for case, value in part if isinstance(value, Ball)}
        ends = [[at, float(it.low), float(it.high)] for at, it in sorted(shares.items())]
        about = {"net": net, "layers": layers, "seed": seed, "updates": updates}
        nets.append(about | {"shares": ends})
    return {"vertices": VERTICES, "reach": [reach(layers) for layers in range(5)], "nets": nets}


def ring_still(data: dict[str, Any]) -> str:
    """Three rings above the curves of the trained nets."""
    alt = (
        "One layer written by hand sees 3 steps on a ring of 40 vertices, two see 9, three see 27, "
        "which is the whole ring. Below, trained nets of one layer are right up to distance 3 and "
        "at chance beyond, those of two layers up to 7 to 9."
    )
    parts = [tag("rect", width=360, height=318, class_="paper")]
    title = "One layer sees 3, two see 9, three see 27"
    parts += [tag("text", title, x=180, y=16, class_="title", text_anchor="middle")]
    parts += [tag("text", "Weights written by hand, on a ring of 40 vertices", x=8, y=36)]
    parts += [tag("text", "Trained nets: share of right answers, by distance", x=8, y=158)]
    for layers in _LAYERS:
        parts += [*_ring(layers), *_panel(layers, data["nets"])]
    for at, kind, said in (
        (8, "hand", "by hand"),
        (90, "softmax", "softmax"),
        (176, "linearised", "linearised"),
    ):
        parts.append(line([(at, 290), (at + 22, 290)], kind))
        parts.append(tag("text", said, x=at + 27, y=294))
    few = "Three layers: one net of each kind, from distance 10 on"
    parts.append(tag("text", few, x=8, y=310, class_="quiet"))
    return picture(360, 318, alt, parts)


def _ring(layers: int) -> Iterator[str]:
    """The ring with what some layers see of it."""
    x, y, radius = _LEFT + (layers - 1) * _APART + _WIDE / 2, 94, 44
    for vertex in range(VERTICES):
        distance = min(vertex, VERTICES - vertex)
        angle = 2 * pi * vertex / VERTICES
        cx, cy = x + radius * sin(angle), y - radius * cos(angle)
        if not vertex:
            yield tag("rect", x=cx - 4, y=cy - 4, width=8, height=8, class_="source")
        elif distance <= reach(layers):
            yield tag("circle", cx=cx, cy=cy, r=3, class_="seen")
        else:
            yield tag("circle", cx=cx, cy=cy, r=1.7, class_="unseen")
    said = {"class_": "large", "text_anchor": "middle"}
    yield tag("text", f"sees {reach(layers)}", x=x, y=y + 1, **said)
    yield tag("text", _LAYERS[layers], x=x, y=y + 15, text_anchor="middle")


def _panel(layers: int, nets: list[dict[str, Any]]) -> Iterator[str]:
    """The curves of the nets of some layers, and that of a rule that sees the same."""
    left = _LEFT + (layers - 1) * _APART

    def at(distance: float, share: float) -> Point:
        x = left + 3 + (distance - 1) * (_WIDE - 6) / (_FARTHEST - 1)
        return x, _FOOT - _HIGH * (share - _LEAST) / (1 - _LEAST)

    yield line([(left, _FOOT - _HIGH), (left, _FOOT), (left + _WIDE, _FOOT)], "rule")
    yield line([(left, at(1, 0.5)[1]), (left + _WIDE, at(1, 0.5)[1])], "rule")
    for share in (0.5, 1) if layers == 1 else ():
        name = f"{100 * share:.0f} %"
        yield tag("text", name, x=left - 4, y=at(1, share)[1] + 4, text_anchor="end")
    for distance in (1, 3, 9, 13):
        yield tag("text", f"{distance}", x=at(distance, 0)[0], y=_FOOT + 14, text_anchor="middle")
    for net in nets:
        if net["layers"] == layers:
            middle = [at(d, (low + high) / 2) for d, low, high in net["shares"]]
            yield line(middle, net["net"])
    last = min(reach(layers), _FARTHEST)
    beyond = [at(last, 0.5), at(_FARTHEST, 0.5)] if last < _FARTHEST else []
    yield line([at(1, 1), at(last, 1), *beyond], "hand")
