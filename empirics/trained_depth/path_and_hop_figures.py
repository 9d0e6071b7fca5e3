"""What docs/trained-depth.md asks of nets trained on random paths and on hops, and how the answers
are shown."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from importlib.resources import files

from depthlaw.advisor.laws import layers_for_diameter, layers_for_hops, reach
from depthlaw.theory.claims.definition import Ball, Case, Measured, Proportion

from ..figure_data import Found, Panel, Question, Series, Table, curve, written
from .experiment import NETS

__all__ = ["DISTANCES", "HOPS", "LAYERS", "PUBLISHED", "SIGHT", "trainings"]

_BY_DISTANCE = ("connectivity_within", "connectivity_far")
_LOCAL = "local_baseline_misses"
_LEAST = {
    "connectivity": ("connectivity_least_depth",),
    "hops": ("hops_enough", "hops_needed"),
}

_Curve = dict[int, Measured]


def _keys(*names: str) -> tuple[str, ...]:
    return tuple(f"trained_depth/{name}" for name in names)


def _each(found: Found, *names: str) -> Iterator[tuple[Case, Measured]]:
    for name in names:
        yield from found.get(name, {}).items()


def _of_largest(found: Found, *names: str) -> Iterator[tuple[Case, Measured]]:
    """What is recorded on the largest graphs."""
    rows = list(_each(found, *names))
    largest = max(((case.vertices, case.diameter) for case, _ in rows), default=None)
    return ((case, value) for case, value in rows if (case.vertices, case.diameter) == largest)


def _by_distance(found: Found) -> dict[tuple[int, str], _Curve]:
    """By depth and attention: the accuracy at each distance."""
    curves: dict[tuple[int, str], _Curve] = {}
    for case, value in _of_largest(found, *_BY_DISTANCE):
        curves.setdefault((case.depth, case.net), {})[case.distance] = value
    return curves


def _local(found: Found) -> dict[int, _Curve]:
    """By radius: the accuracy of the local baseline at each distance beyond."""
    curves: dict[int, _Curve] = {}
    for case, value in _of_largest(found, _LOCAL):
        curves.setdefault(case.radius, {})[case.distance] = value
    return curves


def _share(value: Measured | None) -> float | None:
    return value.mean if isinstance(value, Proportion) else None


def _and(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else ""


# --- accuracy by distance ------------------------------------------------------------------------


def _distance_panels(found: Found) -> tuple[Panel, ...]:
    curves, panels = _by_distance(found), []
    for net in NETS:
        depths = sorted(depth for depth, other in curves if other == net)
        series = [made for depth in depths if (made := curve(f"L = {depth}", curves[depth, net]))]
        walls = [
            Series(
                f"3^{depth} = {reach(depth)}",
                (reach(depth), reach(depth)),
                (0.5, 1.0),
                kind="reference",
                like=f"L = {depth}",
            )
            for depth in depths
        ]
        if series:
            panels.append(
                Panel(
                    f"Trained, {net}",
                    "distance of the connected pair",
                    "share of choices right",
                    (*series, *walls),
                )
            )
    return tuple(panels)


def _both(values: dict[tuple[int, str], str]) -> str:
    """By depth, what softmax and linearised attention have."""
    depths = sorted({depth for depth, _ in values})
    return _and(
        [
            f"{_and([values[depth, net] for net in NETS if (depth, net) in values])} at "
            f"L = {depth} (3^L = {reach(depth)})"
            for depth in depths
        ]
    )


def _distance_says(found: Found) -> str:
    curves = _by_distance(found)
    # Where 3^L + 1 is asked about too: elsewhere a reach could not end at 3^L.
    reaches = {
        name: str(_reach(curves[name]))
        for name in sorted(curves, key=lambda name: (name[0], NETS.index(name[1])))
        if reach(name[0]) + 1 in curves[name]
    }
    sentences = []
    if reaches:
        sentences.append(
            f"Nets are right on 95 % up to distance (softmax and linearised) {_both(reaches)}."
        )
        edge = reach(max(depth for depth, _ in reaches))
        sides = [
            f"{before:.3f} and {after:.3f} ({net})"
            for (depth, net) in reaches
            if reach(depth) == edge
            and (before := _share(curves.get((depth, net), {}).get(edge))) is not None
            and (after := _share(curves.get((depth, net), {}).get(edge + 1))) is not None
        ]
        if sides:
            sentences.append(
                f"At distances {edge} and {edge + 1}, the two sides of the widest of "
                f"these walls, they are right on {_and(sides)}."
            )
    deepest = max((depth for depth, net in curves if net in NETS), default=0)
    least = [
        f"{min(shares):.3f} ({net})"
        for net in NETS
        if (shares := _shares(curves.get((deepest, net), {})))
    ]
    if least:
        sentences.append(
            f"With {deepest} layers they are right on at least {_and(least)} at every distance."
        )
    return " ".join(sentences)


def _reach(points: _Curve) -> int:
    """Up to which distance 95 % are right at every distance, by the shares themselves."""
    place = 0
    while (_share(points.get(place + 1)) or 0.0) >= 0.95:
        place += 1
    return place


def _shares(points: _Curve) -> list[float]:
    return [value.mean for value in points.values() if isinstance(value, Proportion)]


def _distance_table(found: Found) -> Table:
    curves = _by_distance(found)
    names = sorted(curves, key=lambda each: (each[0], NETS.index(each[1])))
    places = sorted({place for points in curves.values() for place in points})
    return Table(
        ("distance", *(f"L = {depth}, {net}" for depth, net in names)),
        tuple((place, *(_share(curves[name].get(place)) for name in names)) for place in places),
    )


DISTANCES = Question(
    "short-paths",
    "Share of choices right against distance, nets of L layers on short paths",
    _keys(*_BY_DISTANCE, "connectivity_one_layer_wall"),
    _distance_panels,
    _distance_says,
    _distance_table,
)


# --- the local baseline --------------------------------------------------------------------------


def _nets(found: Found) -> dict[tuple[int, str], _Curve]:
    return dict(sorted(_by_distance(found).items()))


def _baseline(local: dict[int, _Curve], radius: int, place: int) -> float | None:
    """How often the local baseline is right: always up to its radius."""
    return 1.0 if place <= radius else _share(local[radius].get(place))


def _nearest(points: _Curve, local: dict[int, _Curve]) -> tuple[int, float, float, int] | None:
    """The radius nearest by the sum of squares, the root of the mean square difference, and the
    largest difference with its distance; of radii that are recorded at every distance."""
    best = None
    for radius in sorted(local):
        gaps = {
            place: ours - theirs
            for place, value in points.items()
            if (ours := _share(value)) is not None
            and (theirs := _baseline(local, radius, place)) is not None
        }
        if not gaps or len(gaps) < len(points):
            continue
        root = math.sqrt(math.fsum(gap**2 for gap in gaps.values()) / len(gaps))
        worst = max(gaps, key=lambda place: abs(gaps[place]))
        if best is None or root < best[1]:
            best = radius, root, gaps[worst], worst
    return best


def _sight_panels(found: Found) -> tuple[Panel, ...]:
    local, nets, panels = _local(found), _nets(found), []
    for depth in sorted({depth for depth, _ in nets}):
        own = {net: nets[depth, net] for net in NETS if (depth, net) in nets}
        near = {best[0] for points in own.values() if (best := _nearest(points, local))}
        radii = sorted(near | ({reach(depth)} & set(local)))
        if reach(depth) not in local:
            continue
        trained = [
            made
            for net, points in own.items()
            if (made := curve(f"trained, {net}", points, kind="points"))
        ]
        rules = [
            made
            for radius in radii
            if (made := curve(f"local baseline, radius {radius}", local[radius]))
        ]
        panels.append(
            Panel(
                f"L = {depth}, 3^L = {reach(depth)}",
                "distance of the connected pair",
                "share of choices right",
                (*trained, *rules),
            )
        )
    return tuple(panels)


def _sight_says(found: Found) -> str:
    local, nets = _local(found), _nets(found)
    radii = {
        (case.depth, case.net): written(value)
        for case, value in _of_largest(found, "local_baseline")
    }
    sentences = [f"The nearest radius is (softmax and linearised) {_both(radii)}."] if radii else []
    far = {
        name: f"{best[1]:.3f}"
        for name, points in nets.items()
        if name in radii and (best := _nearest(points, local))
    }
    if far:
        sentences.append(
            f"From it nets differ by (root of the mean square over distances) {_both(far)}."
        )
    edges = {reach(depth) for depth, _ in radii} & set(local)
    if edges:
        widest = max(edges)
        sentences.append(
            f"The local baseline of radius {widest} is right on at least "
            f"{min(_shares(local[widest])):.3f} at every distance beyond."
        )
    return " ".join(sentences)


def _sight_table(found: Found) -> Table:
    local, nets = _local(found), _nets(found)
    places = sorted({place for points in nets.values() for place in points})
    return Table(
        (
            "distance",
            *(f"r = {radius}" for radius in sorted(local)),
            *(f"L = {depth}, {net}" for depth, net in nets),
        ),
        tuple(
            (
                place,
                *(_baseline(local, radius, place) for radius in sorted(local)),
                *(_share(points.get(place)) for points in nets.values()),
            )
            for place in places
        ),
    )


SIGHT = Question(
    "local-baseline",
    "Nets of L layers beside rules that look r steps around both vertices",
    _keys("local_baseline", _LOCAL),
    _sight_panels,
    _sight_says,
    _sight_table,
    beside=_keys(*_BY_DISTANCE),
)


# --- least depths --------------------------------------------------------------------------------


def _depths(value: Measured, tried: int) -> str:
    """A least depth in words: one more than those tried stands for any beyond."""
    if not isinstance(value, Ball):
        return written(value)
    low, high = (
        f"more than {tried}" if end > tried else str(end) for end in (value.low, value.high)
    )
    return low if low == high else f"{low} to {high}"


def _median(found: Found, task: str, net: str | None = None) -> dict[int, tuple[Case, Ball]]:
    """By diameter or by hops: the least depth of the median seed."""
    rows = {}
    for case, value in _each(found, *_LEAST[task]):
        if (
            case.seeds == "median"
            and case.get("net") == net
            and isinstance(value, Ball)
            and case.task != "induction"
        ):
            rows[case.diameter if task == "connectivity" else case.hops] = case, value
    return dict(sorted(rows.items()))


def _least_series(label: str, rows: dict[int, tuple[Case, Ball]]) -> Series | None:
    if not rows:
        return None
    low = tuple(float(value.low) for _, value in rows.values())
    high = tuple(float(value.high) for _, value in rows.values())
    return Series(
        label, tuple(rows), tuple((a + b) / 2 for a, b in zip(low, high, strict=True)), low, high
    )


def _layers_panels(found: Found) -> tuple[Panel, ...]:
    series = [
        made
        for net in NETS
        if (made := _least_series(f"trained, {net}", _median(found, "connectivity", net)))
    ]
    if not series:
        return ()
    sizes = sorted({x for each in series for x in each.x})
    law = Series(
        "ceil(log_3 D)",
        tuple(sizes),
        tuple(layers_for_diameter(int(x)) for x in sizes),
        kind="reference",
    )
    return (
        Panel(
            "Least depth by the median seed",
            "largest distance D",
            "layers (one more than tried: beyond)",
            (*series, law),
            x_scale="log",
        ),
    )


def _layers_says(found: Found) -> str:
    said = []
    for net in NETS:
        own = [
            f"{_depths(value, case.tried)} at D = {place}"
            for place, (case, value) in _median(found, "connectivity", net).items()
        ]
        if own:
            said.append(f"of {net} attention {', '.join(own)}")
    sizes = sorted({case.diameter for case, _ in _each(found, *_LEAST["connectivity"])})
    if not said:
        return ""
    law = ", ".join(str(layers_for_diameter(size)) for size in sizes)
    failed = [
        f"{case.net} with {case.depth} layers on {case.vertices} vertices"
        for case, value in _each(found, "convergence")
        if case.task == "connectivity" and isinstance(value, Ball) and value.high < 1 / 2
    ]
    return f"By the median seed the least depth is, {'; '.join(said)}; ceil(log_3 D) is {law}. " + (
        f"Less than half of the trainings succeed for {_and(failed)}."
        if failed
        else "At least half of the trainings succeed wherever depth allows it."
    )


def _layers_table(found: Found) -> Table:
    return Table(
        ("vertices", "D", "attention", "by seed", "least depth", "ceil(log_3 D)"),
        tuple(
            sorted(
                {
                    (
                        case.vertices,
                        case.diameter,
                        case.net,
                        case.seeds,
                        _depths(value, case.tried),
                        layers_for_diameter(case.diameter),
                    )
                    for case, value in _each(found, *_LEAST["connectivity"])
                }
            )
        ),
    )


LAYERS = Question(
    "least-depth",
    "Least depth at which all pairs up to distance D are answered",
    _keys(*_LEAST["connectivity"], "convergence"),
    _layers_panels,
    _layers_says,
    _layers_table,
)


# --- hops ----------------------------------------------------------------------------------------


def _by_hops(found: Found) -> dict[int, _Curve]:
    """By hops: the share of positions answered at each depth."""
    curves: dict[int, _Curve] = {}
    for case, value in _each(found, "hops_by_depth"):
        if case.task == "hop_k":
            curves.setdefault(case.hops, {})[case.depth] = value
    return dict(sorted(curves.items()))


def _hops_panels(found: Found) -> tuple[Panel, ...]:
    shares = [
        made
        for k, points in _by_hops(found).items()
        if (made := curve(f"k = {k}, expected at L = {layers_for_hops(k)}", points))
    ]
    least = _least_series("trained", _median(found, "hops"))
    panels = []
    if shares:
        depths = sorted({x for each in shares for x in each.x})
        bar = Series("95 %", (depths[0], depths[-1]), (0.95, 0.95), kind="reference")
        panels.append(Panel("Positions answered", "layers", "share right", (*shares, bar)))
    if least:
        law = Series(
            "ceil(log2 k) + 2",
            least.x,
            tuple(layers_for_hops(int(k)) for k in least.x),
            kind="reference",
        )
        panels.append(
            Panel(
                "Least depth by the median seed",
                "hops k",
                "layers (one more than tried: beyond)",
                (least, law),
                x_scale="log",
            )
        )
    return tuple(panels)


def _hops_says(found: Found) -> str:
    least = [
        f"{_depths(value, case.tried)} for k = {k}"
        for k, (case, value) in _median(found, "hops").items()
    ]
    enough = [
        f"{written(value)} at k = {case.hops}, L = {case.depth}"
        for case, value in _each(found, "hops_by_depth")
        if case.task == "hop_k" and case.depth == layers_for_hops(case.hops)
    ]
    short = [
        value.mean
        for case, value in _each(found, "hops_by_depth")
        if isinstance(value, Proportion) and case.depth < layers_for_hops(case.hops)
    ]
    sentences = []
    if least:
        sentences.append(f"By the median seed the least depth is {', '.join(least)}.")
    if enough:
        sentences.append(
            f"With ceil(log2 k) + 2 layers the share of positions answered is {'; '.join(enough)}."
        )
    if short:
        sentences.append(
            f"With fewer than floor(log2 k) + 2 layers it is at most {max(short):.3f}."
        )
    return " ".join(sentences)


def _hops_table(found: Found) -> Table:
    rows = []
    for case, value in _each(found, "hops_by_depth"):
        if isinstance(value, Proportion):
            low, high = value.interval(0.05)
            rows.append(
                (
                    case.task,
                    case.hops,
                    case.depth,
                    value.mean,
                    low,
                    high,
                    layers_for_hops(case.hops),
                )
            )
    return Table(
        ("task", "k", "layers", "share right", "from", "to", "ceil(log2 k) + 2"),
        tuple(sorted(rows)),
    )


HOPS = Question(
    "hops",
    "Share of positions answered by depth, and least depth, for k hops",
    _keys("hops_by_depth", *_LEAST["hops"]),
    _hops_panels,
    _hops_says,
    _hops_table,
)


# --- published errors ----------------------------------------------------------------------------

_DROPOUT = {True: "published_dropout_on", False: "published_dropout_off"}


def _errors(found: Found, dropout: bool) -> dict[tuple[int, int], tuple[float, Proportion]]:
    """By hops and depth: the published error, and our share of right answers."""
    return {
        (case.hops, case.depth): (float(case.published_error), value)
        for case, value in _each(found, _DROPOUT[dropout])
        if isinstance(value, Proportion)
    }


def _published_panels(found: Found) -> tuple[Panel, ...]:
    panels = []
    for dropout, word in ((True, "left on"), (False, "off")):
        rows = _errors(found, dropout)
        series: list[Series] = []
        for depth in sorted({depth for _, depth in rows}):
            own = {k: rows[k, at] for k, at in sorted(rows) if at == depth}
            ends = [value.interval(0.05) for _, value in own.values()]
            series.append(
                Series(
                    f"L = {depth}",
                    tuple(own),
                    tuple(1 - value.mean for _, value in own.values()),
                    tuple(1 - high for _, high in ends),
                    tuple(1 - low for low, _ in ends),
                )
            )
            if dropout:
                series.append(
                    Series(
                        f"published, L = {depth}",
                        tuple(own),
                        tuple(error for error, _ in own.values()),
                        kind="reference",
                        like=f"L = {depth}",
                    )
                )
        if series:
            panels.append(
                Panel(
                    f"Dropout {word}",
                    "hops k",
                    "share of positions wrong",
                    tuple(series),
                    x_scale="log",
                )
            )
    return tuple(panels)


def _published_says(found: Found) -> str:
    on, off = _errors(found, dropout=True), _errors(found, dropout=False)
    sentences = []
    if on:
        gaps = {place: 1 - value.mean - error for place, (error, value) in on.items()}
        (k, depth), gap = max(gaps.items(), key=lambda each: abs(each[1]))
        sentences.append(
            f"With dropout left on our errors differ from the published ones by at "
            f"most {abs(gap):.3f}, at k = {k} and L = {depth}."
        )
    if off:
        less = sum(1 - value.mean <= error for error, value in off.values())
        sentences.append(
            f"With dropout off {less} of {len(off)} are at most as large as published."
        )
    return " ".join(sentences)


def _published_table(found: Found) -> Table:
    sides = [_errors(found, dropout) for dropout in (True, False)]
    rows = []
    for k, depth in sorted({place for rows in sides for place in rows}):
        error = next(rows[k, depth][0] for rows in sides if (k, depth) in rows)
        ours = [1 - rows[k, depth][1].mean if (k, depth) in rows else None for rows in sides]
        rows.append((k, depth, error, *ours))
    return Table(
        ("k", "layers", "published error", "ours, dropout on", "ours, dropout off"), tuple(rows)
    )


PUBLISHED = Question(
    "published-errors",
    "Errors of hop_k: ours beside the published ones",
    _keys(*_DROPOUT.values()),
    _published_panels,
    _published_says,
    _published_table,
)


# --- how they are trained ------------------------------------------------------------------------


def trainings() -> Table:
    """How the nets of every size are trained, as `training_table` wrote it: pages are built
    where there is no torch."""
    text = files(__package__).joinpath("training_table.csv").read_text(encoding="utf-8")
    heading, *rows = csv.reader(text.splitlines())
    return Table(
        tuple(heading),
        tuple(tuple(int(cell) if cell.isdigit() else cell for cell in row) for row in rows),
    )
