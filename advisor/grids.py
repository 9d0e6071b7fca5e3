"""Published comparisons of depths at an equal budget (grids.csv), and what they say of a shape.

A grid is a group of trained nets that differ in depth and cost the same. Its budget is what they
have in common: parameters (all, or without embeddings), training FLOPs or time; "dominated" where
the better net is also the smaller. Grids of budget "none" compare something else: they are data
that is never scored.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

Parametrisation = Literal["standard", "mup", "completep"]
Norm = Literal["pre", "post", "lns"]
Residual = Literal["plain", "attnres"]
# Loss falls as N^-0.076 (Kaplan et al. 2020; recalled): what a difference in size is worth. Kaplan
# et al. correct the shapes of one size by their fit too.
SIZE_EXPONENT = 0.076
_LOSSES = ("loss", "bits per byte", "perplexity")
_LOWER_IS_BETTER = (*_LOSSES, "rank")
_OPTIMUM, _LEAST = "best d/L", "least d/L within 1 %"
_PARAMETERS = ("total", "nonembedding")
# Depths of a grid that make a curve.
_CURVE = 4
# A grid speaks for budgets up to this factor away.
NEAR = 4


@dataclass(frozen=True)
class NetKind:
    """For which nets evidence is asked: how learning rates and branches scale, norm, residuals."""

    parametrisation: Parametrisation = "standard"
    norm: Norm = "pre"
    residual: Residual = "plain"


STANDARD = NetKind()


class Cell(NamedTuple):
    """One net of a grid; `cost` is lower for better nets, at the mean size of the grid: the loss,
    which of a perplexity is its logarithm."""

    layers: int
    width: int | None
    value: str  # as published
    cost: float
    size: float | None  # in the budget's count


class Price(NamedTuple):
    """Relative change in loss, low and high over the grids that cover both shapes: 0.01 is 1 %."""

    low: float
    high: float
    sources: tuple[str, ...]
    extrapolated: bool  # no grid is of this size; the nearest were asked


@dataclass(frozen=True)
class Grid:
    """Nets of one budget, shallowest first. `volume` is L d^2: the weights of the layers over c in
    N = c L d^2, which is what rules of depth depend on; `cooled`: the learning rate was let down
    before the loss was taken; `each`: training tokens for each parameter, at the mean size, where
    both are published.
    """

    source: str
    year: int
    name: str
    budget: str
    key: NetKind
    kind: str
    measure: str
    volume: float
    cells: tuple[Cell, ...]
    wording: str
    place: str
    cooled: bool
    each: float | None = None

    @property
    def scored(self) -> bool:
        """Whether it says which of several depths is best at an equal budget."""
        return self.budget != "none" and len(self.cells) > 1

    @property
    def is_loss(self) -> bool:
        """Whether relative differences of its values are relative differences in loss."""
        return self.measure in _LOSSES

    @property
    def nets(self) -> tuple[tuple[int, int | None], ...]:
        """Layers and width of its cells."""
        return tuple((cell.layers, cell.width) for cell in self.cells)

    @property
    def has_widths(self) -> bool:
        """Whether depth was traded for width, not for something else or unknown."""
        return all(cell.width for cell in self.cells)

    @cached_property
    def best(self) -> Cell:
        """The cell of the lowest cost."""
        return min(self.cells, key=lambda cell: cell.cost)

    def nearest(self, depth: float) -> Cell:
        """The cell whose depth is nearest on a logarithmic scale."""
        return min(self.cells, key=lambda cell: abs(math.log(cell.layers / depth)))

    def at(self, depth: float, value: Callable[[Cell], float]) -> float:
        """What a number of the cells is at a depth: linear in ln L between cells, and that of the
        first or last cell beyond them. Cells of equal depth count by their mean."""
        losses: dict[int, list[float]] = {}
        for cell in self.cells:
            losses.setdefault(cell.layers, []).append(value(cell))
        points = [(math.log(layers), fmean(values)) for layers, values in losses.items()]
        x = min(max(math.log(depth), points[0][0]), points[-1][0])
        for (left, low), (right, high) in pairwise(points):
            if x <= right:
                return low + (high - low) * (x - left) / (right - left)
        return points[-1][1]

    def loss_regret(self, cell: Cell) -> float:
        """How much more it costs than the best cell, relative to that one's cost."""
        return (cell.cost - self.best.cost) / abs(self.best.cost)

    def share(self, cell: Cell) -> float:
        """Its regret as a share of the grid's range: 0 for the best cell, 1 for the worst."""
        span = max(cell.cost for cell in self.cells) - self.best.cost
        return (cell.cost - self.best.cost) / span if span else 0.0

    @cached_property
    def _curve(self) -> list[tuple[float, float]]:
        """ln(d / L) and the relative regret of every cell, deepest first."""
        return sorted(
            (math.log(cell.width / cell.layers), self.loss_regret(cell))
            for cell in self.cells
            if cell.width
        )

    def regret_at(self, ratio: float) -> float | None:
        """The relative regret at d / L, linear in ln(d / L) between cells; None outside them."""
        x = math.log(ratio)
        for (left, low), (right, high) in pairwise(self._curve):
            if left - 1e-9 <= x <= right + 1e-9:
                return low + (high - low) * (x - left) / (right - left)
        return None

    def within(self, tolerance: float) -> tuple[tuple[float, bool], tuple[float, bool]]:
        """The least and the greatest d / L around the best cell with at most this regret; each with
        True where the regret is crossed, and False where the grid ends before.
        """
        return _ends(self._curve, tolerance)

    def depths_within(self, tolerance: float) -> tuple[tuple[float, bool], tuple[float, bool]]:
        """The same of the depth, whatever it was traded for: linear in ln L between cells."""
        curve = [(math.log(cell.layers), self.loss_regret(cell)) for cell in self.cells]
        return _ends(curve, tolerance)


def _ends(
    curve: Sequence[tuple[float, float]], tolerance: float
) -> tuple[tuple[float, bool], tuple[float, bool]]:
    """Where a regret first exceeds a tolerance on either side of its least, as exp(x)."""
    best = min(range(len(curve)), key=lambda place: curve[place][1])

    def end(step: int) -> tuple[float, bool]:
        inside = best
        while 0 <= inside + step < len(curve):
            (x, low), (further, high) = curve[inside], curve[inside + step]
            if high > tolerance:
                return math.exp(x + (further - x) * (tolerance - low) / (high - low)), True
            inside += step
        return math.exp(curve[inside][0]), False

    return end(-1), end(1)


@cache
def rows() -> tuple[dict[str, str], ...]:
    """The rows of grids.csv as printed."""
    with (Path(__file__).parent / "grids.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def grids(size_exponent: float = SIZE_EXPONENT) -> tuple[Grid, ...]:
    """All grids, scored or not, in the order of grids.csv; without single published optima.

    Args:
        size_exponent: losses are compared at the mean size of their grid by loss ~ N^-exponent;
            0 takes them as published.

    >>> len([g for g in grids() if g.scored]), len([g for g in grids() if not g.scored])
    (37, 19)
    """
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows():
        if row["measure"] not in (_OPTIMUM, _LEAST):
            groups.setdefault((row["source"], row["grid"]), []).append(row)
    return tuple(_grid(group, size_exponent) for group in groups.values())


def _grid(group: Sequence[dict[str, str]], exponent: float) -> Grid:
    first = group[0]
    budget, measure = first["budget"], first["measure"]
    sizes = [float(r[budget]) if r.get(budget) else None for r in group]
    known = [size for size in sizes if size]
    mean = _mean(known) if known else None
    sign = 1 if measure in _LOWER_IS_BETTER else -1
    cells = []
    for row, size in zip(group, sizes, strict=True):
        value = float(row["value"])
        cost = sign * (math.log(value) if measure == "perplexity" else value)
        if size and mean and measure in _LOSSES:
            cost *= (size / mean) ** exponent
        cells.append(
            Cell(
                int(row["layers"] or 0),
                int(row["width"]) if row["width"] else None,
                row["value"],
                cost,
                size,
            )
        )
    volumes = [_volume(row) for row in group]
    totals = [float(row["total"]) for row in group if row["total"]]
    each = float(first["tokens"]) / _mean(totals) if first["tokens"] and totals else None
    return Grid(
        first["source"],
        int(first["year"]),
        first["grid"],
        budget,
        _key(first),
        first["kind"],
        measure,
        _mean([v for v in volumes if v]) if any(volumes) else math.nan,
        tuple(sorted(cells, key=lambda cell: cell.layers)),
        first["wording"],
        first["place"],
        first["schedule"] == "cooldown",
        each,
    )


def _volume(row: dict[str, str]) -> float | None:
    """L d^2, from the width or from the parameters."""
    if row["width"]:
        return int(row["layers"]) * float(row["width"]) ** 2
    return float(row["nonembedding"]) / float(row["per_layer"]) if row["nonembedding"] else None


def _mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def _key(row: dict[str, str]) -> NetKind:
    return NetKind(
        row["parametrisation"] or "standard",  # type: ignore[arg-type]
        row["norm"] or "pre",  # type: ignore[arg-type]
        row["residual"] or "plain",  # type: ignore[arg-type]
    )


def best_ratios(source: str, key: NetKind) -> tuple[tuple[float, float], ...]:
    """Published optima: (12 L d^2, best d / L), smallest net first.

    >>> best_ratios("CompleteP", NetKind("mup"))
    ((50000000.0, 40.0), (300000000.0, 50.0), (1500000000.0, 62.0))
    """
    return _ratios(_OPTIMUM, source, key)


def least_ratio(key: NetKind) -> float | None:
    """The least d / L that was published as within 1 % of the best loss; None where there is none.

    >>> least_ratio(NetKind("completep")), least_ratio(STANDARD)
    (11.8, None)
    """
    ratios = _ratios(_LEAST, "CompleteP", key)
    return ratios[0][1] if ratios else None


def _ratios(measure: str, source: str, key: NetKind) -> tuple[tuple[float, float], ...]:
    return tuple(
        sorted(
            (12 * float(row["nonembedding"]) / float(row["per_layer"]), float(row["value"]))
            for row in rows()
            if row["measure"] == measure and row["source"] == source and _key(row) == key
        )
    )


@cache
def loss_grids(
    known_by: int | None = None, without: str | None = None, each: float | None = None
) -> tuple[Grid, ...]:
    """The grids of losses at an equal number of parameters without embeddings, with widths, as
    known by a year and without a source.

    Args:
        each: training tokens for each parameter, at which nets that were cooled down at several
            counts of tokens are read: ln loss is linear in ln tokens between two of them, and that
            of the least below all. None, or more than the longest: the longest trained of the same
            nets, and those that were not cooled down.

    >>> {grid.source for grid in loss_grids()}, loss_grids(known_by=2024)
    ({'Gemstones'}, ())
    >>> [max(loss_grids(each=n), key=lambda g: g.volume).best.layers for n in (6, 20, 60)]
    [27, 27, 50]
    """
    by_nets: dict[object, list[Grid]] = {}
    for grid in grids():
        known = (known_by is None or grid.year <= known_by) and grid.source != without
        if known and _compares_losses(grid):
            by_nets.setdefault((grid.source, grid.nets), []).append(grid)
    return tuple(g for same in by_nets.values() for g in _at_tokens(same, each))


def sizes_compared(known: Iterable[Grid]) -> tuple[float, float]:
    """The least and the greatest net of grids, in parameters as their budget counts them.

    Raises:
        ValueError: for grids without sizes.

    >>> sizes_compared(loss_grids())
    (22621952.0, 1769627136.0)
    """
    sizes = [cell.size for grid in known for cell in grid.cells if cell.size]
    return min(sizes), max(sizes)


class OtherRange(NamedTuple):
    """The depths within a tolerance by a source whose nets traded depth for something else than
    width, or for what is not said."""

    source: str
    low: int
    high: int
    started: bool  # nothing shallower was trained
    ended: bool  # nothing deeper was trained
    size: float  # 12 L d^2 of its nets, from which d / L is carried over


def other_ranges(
    volume: float, tolerance: float, known_by: int | None = None
) -> tuple[OtherRange, ...]:
    """What other sources of losses than those of `loss_grids` say of a volume L d^2: of each the
    grid nearest in size, at most a factor 4 away, of at least four depths at an equal number of
    parameters.

    >>> [(o.source, o.low, o.high) for o in other_ranges(1e8 / 12, 0.01)]
    [('Narang et al.', 8, 25), ('Petty et al.', 7, 27)]
    """
    own = {grid.source for grid in loss_grids(known_by)}
    near: dict[str, Grid] = {}
    for grid in grids():
        curve = grid.scored and grid.is_loss and len(grid.cells) >= _CURVE and not grid.has_widths
        known = known_by is None or grid.year <= known_by
        if not (curve and known) or grid.source in own or grid.budget not in _PARAMETERS:
            continue
        best = near.get(grid.source, grid)
        if 1 / NEAR <= grid.volume / volume <= NEAR:
            near[grid.source] = min(best, grid, key=lambda g: abs(math.log(g.volume / volume)))
    found = []
    for source, grid in near.items():
        (low, under), (high, over) = grid.depths_within(tolerance)
        stretch = math.cbrt(volume / grid.volume)
        least = max(1, math.ceil(low * stretch - 1e-9))
        most = max(least, math.floor(high * stretch + 1e-9))
        found.append(OtherRange(source, least, most, not under, not over, 12 * grid.volume))
    return tuple(found)


def _compares_losses(grid: Grid) -> bool:
    return grid.scored and grid.is_loss and grid.budget == "nonembedding" and grid.has_widths


def _at_tokens(same: Sequence[Grid], each: float | None) -> Iterable[Grid]:
    """Grids of the same nets at so many tokens for each parameter."""
    cooled = sorted((g for g in same if g.cooled and g.each), key=lambda g: g.each or 0.0)
    longest = max((g.each or 0.0 for g in cooled), default=0.0)
    if each is None or each >= longest:
        return [g for g in same if not g.cooled or g.each == longest or g.each is None]
    for low, high in pairwise(cooled):
        start, end = low.each or 0.0, high.each or 0.0
        if each < end:
            part = max(0.0, math.log(each / start) / math.log(end / start))
            cells = tuple(
                one._replace(cost=one.cost ** (1 - part) * other.cost**part)
                for one, other in zip(low.cells, high.cells, strict=True)
            )
            return [replace(low, cells=cells, each=max(each, start))]
    return cooled


class Covered(NamedTuple):
    """The training tokens for each parameter of published grids."""

    least: float
    most: float
    sources: tuple[str, ...]

    def holds(self, each: float) -> bool:
        """Whether a number of tokens for each parameter lies among them."""
        return self.least <= each <= self.most


def tokens_covered(volume: float | None, known_by: int | None = None) -> Covered | None:
    """The tokens for each parameter at which the grids of losses nearest in size were trained, or
    those of all sizes without one; None where no grid is known.

    >>> covered = tokens_covered(1.1e8)
    >>> f"{covered.least:.1f} to {covered.most:.0f}", covered.sources
    ('5.7 to 290', ('Gemstones',))
    """
    those = losses_near(volume, known_by)[0] if volume else loss_grids(known_by)
    near = {g.nets for g in those}
    trained = [g for g in grids() if _compares_losses(g) and g.nets in near and g.each]
    if not trained:
        return None
    sizes = [g.each for g in trained if g.each]
    return Covered(min(sizes), max(sizes), tuple(dict.fromkeys(g.source for g in trained)))


def losses_near(
    volume: float, known_by: int | None = None, each: float | None = None
) -> tuple[tuple[Grid, ...], bool]:
    """The grids of losses at an equal number of parameters without embeddings that speak for nets
    of this volume L d^2: those at most a factor 4 away in size, else the nearest of every source;
    and whether the size lies outside those of all grids. (At an equal total, small nets of
    different width differ in the weights of their layers by as much as a factor 3.) `each`: tokens
    for each parameter, as `loss_grids` has it.
    """
    known = loss_grids(known_by, each=each)
    near = tuple(g for g in known if 1 / NEAR <= g.volume / volume <= NEAR)
    volumes = [g.volume for g in known]
    outside = not known or not min(volumes) <= volume <= max(volumes)
    if near or not known:
        return near, outside
    best = {g.source: g for g in sorted(known, key=lambda g: -abs(math.log(g.volume / volume)))}
    return tuple(best.values()), True


def price(
    parameters: float,
    ratio_from: float,
    ratio_to: float,
    key: NetKind = STANDARD,
    *,
    per_layer: float = 12.0,
    known_by: int | None = None,
    each: float | None = None,
) -> Price | None:
    """What another shape changes in loss at an equal number of parameters: between the grids of
    this size, each linear in ln(d / L) between its cells; None where no grid covers both shapes.

    Only for the standard parametrisation with plain pre-norm residuals are losses published cell
    by cell: for other keys None.

    Args:
        parameters: without embeddings. per_layer: c of N = c L d^2.
        ratio_from, ratio_to: d / L.
        known_by: a year; later sources are left out.
        each: training tokens for each parameter.

    >>> deeper = price(1.6e9, 75, 50)
    >>> deeper.low < deeper.high < 0, deeper.sources
    (True, ('Gemstones',))
    >>> price(1.6e9, 75, 10) is None
    True
    """
    if key != STANDARD:
        return None
    near, extrapolated = losses_near(parameters / per_layer, known_by, each)
    changes = []
    for grid in near:
        start, end = grid.regret_at(ratio_from), grid.regret_at(ratio_to)
        if start is not None and end is not None:
            changes.append(((1 + end) / (1 + start) - 1, grid.source))
    if not changes:
        return None
    values, sources = zip(*changes, strict=True)
    return Price(min(values), max(values), tuple(dict.fromkeys(sources)), extrapolated)
