"""The best depth of a budget and laws of width against depth, fitted to losses, with intervals.

Within a budget (nets of equal parameters and tokens, or of equal FLOPs) ln loss is fitted by
c0 + A L^-p + B L^q: too few layers cost something that falls with depth, and so does too little
width, which at a fixed budget grows with depth. A quadratic in ln L is the limit of small p and q;
alone it misses how much more steeply losses rise towards few layers, and its intervals are then far
too short. The interval of the best depth is the set of depths at which the slope of some such
curve may vanish that is not too far from the best one (profile likelihood; for given p and q it is
Fieller's; recalled). It has its level also where the curve is hardly bent, and then is unbounded.
Depths beyond the trained ones are never named: there an end is 0 or infinite.

A curve has five numbers, p, q, c0, A and B. Through fewer depths pass many curves, with their
minima at different depths: then the range of these is named, and no single depth.

All nets of a budget share one error variance. A variance of each depth from three seeds has two
degrees of freedom, and weights by it make intervals that are too short. Where every depth has the
same seeds, a seed shifts all its nets by one number, which takes out what they share (data and its
order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from depthlaw.advisor.base.quantities import UsageError, plural
from depthlaw.advisor.grids import SIZE_EXPONENT

from .surface import TrainedLoss

BudgetKind = Literal["parameters", "flops", "hours"]
Array = NDArray[np.float64]
# Of all intervals.
LEVEL = 0.05
# Sizes of one budget differ by at most this, numbers of tokens by this.
TOLERANCE, _TOKENS = 0.10, 0.01
# Below it a test says that no curve fits all depths.
_MISFIT = 0.01
# Powers p and q of the curves; the smallest pair is close to a quadratic in ln L.
_POWERS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# In the order in which one is chosen among those that fit equally well: nearly a quadratic first.
_PAIRS = sorted(
    ((p, q) for p in _POWERS for q in _POWERS),
    key=lambda pair: (sum(pair), abs(pair[0] - pair[1]), pair),
)
_NEAR = 4.0
# The numbers of a curve, and so the depths that it takes to tell one curve from all others.
_NUMBERS = 5
# Sums of squares, over that of ln loss. Below the first two differ by rounding alone; up to the
# second, by no more than losses do that are printed with four digits.
_TIE, _EQUAL = 1e-20, 1e-9
# Depths are rounded to so many places: exp(log(6)) is 6 on each machine only then.
_PLACES = 9
# Curves of other kinds, such as an additive law under the logarithm, move the minimum by some
# percent (simulated): no interval is narrower than this factor each way.
FORM = 1.05
_DRAWS = 4000


# --- budgets --------------------------------------------------------------------------------------


def groups(
    points: Sequence[TrainedLoss], budget: BudgetKind = "parameters", tolerance: float = TOLERANCE
) -> tuple[tuple[TrainedLoss, ...], ...]:
    """The nets of each budget that has at least three depths, smallest budget first.

    A budget is an equal number of tokens (within 1 %) and of parameters, or an equal number of
    FLOPs, or equal hours on the clock; it is cut at the widest gaps until each part spans at most
    1 + tolerance. Of the checkpoints of one training in a budget the last counts.

    Raises:
        UsageError: where no budget has three depths.

    >>> nets = [TrainedLoss(64 * k, 36 // k**2, 12 * 36 * 64**2, 1e6, 3.0) for k in (1, 2, 3, 6)]
    >>> [sorted(p.depth for p in each) for each in groups(nets)]
    [[1, 4, 9, 36]]
    """
    if budget == "hours" and any(p.seconds is None for p in points):
        raise UsageError(
            "hours are not known of every row; give a column hours or seconds without empty cells, "
            "or another --budget"
        )
    if budget != "parameters":
        parts = _parted(points, "compute" if budget == "flops" else "seconds", tolerance)
    else:
        parts = [
            part
            for same in _parted(points, "tokens", _TOKENS)
            for part in _parted(same, "parameters", tolerance)
        ]
    parts = [_last(part) for part in parts]
    large = [tuple(part) for part in parts if len({p.depth for p in part}) > 2]
    if not large:
        depths = max((len({p.depth for p in part}) for part in parts), default=0)
        what = {"flops": "FLOPs", "hours": "hours"}.get(budget, "parameters and tokens")
        raise UsageError(
            f"no three depths have equal {what} within {tolerance:.0%}: at most "
            f"{depths} in one budget, of {len(parts)} budgets; a fit needs nets of three depths or "
            "more that cost the same; try depthlaw fit with a wider --tolerance"
        )
    key = {"flops": "compute", "hours": "seconds"}.get(budget, "parameters")
    return tuple(sorted(large, key=lambda part: (_mean(part, key), part[0].tokens)))


def _last(points: Sequence[TrainedLoss]) -> list[TrainedLoss]:
    """Without earlier checkpoints: nearly equal tokens are no further training."""
    most: dict[object, float] = {}
    for p in points:
        key = p.width, p.depth, p.parameters, p.seed
        most[key] = max(p.tokens, most.get(key, 0.0))
    return [p for p in points if p.tokens == most[p.width, p.depth, p.parameters, p.seed]]


def _parted(points: Sequence[TrainedLoss], key: str, tolerance: float) -> list[list[TrainedLoss]]:
    ordered = sorted(points, key=lambda p: (getattr(p, key), p.depth, p.width))
    logs = [math.log(getattr(p, key)) for p in ordered]
    done, waiting = [], [(0, len(ordered))]
    while waiting:
        start, end = waiting.pop()
        if logs[end - 1] - logs[start] <= math.log1p(tolerance) + 1e-12:
            done.append(ordered[start:end])
        else:
            # Of equal gaps the first, which without rounding the last digits would decide.
            gaps = np.round(np.diff(logs[start:end]), 9)
            cut = start + 1 + int(np.argmax(gaps))
            waiting += [(start, cut), (cut, end)]
    return done


def _mean(points: Sequence[TrainedLoss], key: str) -> float:
    values = [getattr(p, key) for p in points]
    # Of equal numbers that number, without rounding.
    return (
        values[0]
        if len(set(values)) == 1
        else math.exp(math.fsum(map(math.log, values)) / len(values))
    )


# --- the nets of one budget -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """Mean ln loss of each shape, and the error that all share.

    Attributes:
        x: ln L of each cell, increasing. y: means, at the mean size of the budget. n: how many.
        squares, free: of the differences between nets of one shape.
    """

    shapes: tuple[tuple[int, int], ...]
    x: Array
    y: Array
    n: Array
    squares: float
    free: int


def _cells(points: Sequence[TrainedLoss], exponent: float) -> _Cells:
    mean = _mean(points, "parameters")
    values: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for p in points:
        value = math.log(p.loss) + exponent * math.log(p.parameters / mean)
        values.setdefault((p.depth, p.width), []).append((-1 if p.seed is None else p.seed, value))
    shapes = tuple(sorted(values))
    seeds, table = (
        [[each[k] for each in sorted(values[shape])] for shape in shapes] for k in (0, 1)
    )
    means = np.array([math.fsum(row) / len(row) for row in table])
    # Each shape has the same seeds, each of them once.
    if 1 < len(set(seeds[0]) - {-1}) == len(seeds[0]) and all(each == seeds[0] for each in seeds):
        off = np.array(table) - means[:, None]
        off -= off.mean(axis=0)
        squares, free = float((off**2).sum()), (len(shapes) - 1) * (len(seeds[0]) - 1)
    else:
        squares = math.fsum((v - m) ** 2 for row, m in zip(table, means, strict=True) for v in row)
        free = sum(map(len, table)) - len(shapes)
    return _Cells(
        shapes,
        np.array([math.log(depth) for depth, _ in shapes]),
        means,
        np.array([float(len(row)) for row in table]),
        squares,
        free,
    )


class _Curve(NamedTuple):
    """c0 + A L^-p + B L^q through cells weighted by their nets.

    It is written as c0 + c1 s(u) + c2 r(u) with u = x - centre, where s is u and r is u^2 up to
    higher terms, so that small powers do no harm.
    """

    centre: float
    p: float
    q: float
    coefficients: Array
    root: Array  # root @ root.T, times the error variance, is the covariance
    squares: float  # between cell means and curve, times n

    def slope(self, x: Array) -> tuple[Array, Array]:
        """The slope, and its variance over the error variance."""
        rows = _basis(x - self.centre, self.p, self.q)[1]
        return rows @ self.coefficients, ((rows @ self.root) ** 2).sum(axis=1)

    def turn(self, coefficients: Array) -> Array:
        """Where curves of these coefficients, one in a column, have their minimum; nan where there
        is none."""
        _, c1, c2 = coefficients
        above, below = 2 * c2 - self.p * c1, 2 * c2 + self.q * c1
        fine = (above > 0) & (below > 0)
        ratio = np.where(fine, above, np.nan) / np.where(fine, below, 1.0)
        return self.centre + np.log(ratio) / (self.p + self.q)

    def __call__(self, x: Array) -> Array:
        return _basis(x - self.centre, self.p, self.q)[0] @ self.coefficients

    def minimum(self, first: float, last: float) -> float:
        """Where it is least between two ends; infinite where it still falls at one of them."""
        turn = float(self.turn(self.coefficients[:, None])[0])
        if first <= turn <= last:
            return turn
        ends = self(np.array([first, last]))
        return -math.inf if ends[0] < ends[1] else math.inf


def _basis(u: Array, p: float, q: float) -> tuple[Array, Array]:
    """The three functions whose sum a curve is, and their slopes, one row for each u."""
    falling, rising, one = np.exp(-p * u), np.exp(q * u), np.ones_like(u)
    both = p + q
    values = (one, (rising - falling) / both, 2 * ((p * rising + q * falling) / both - 1) / (p * q))
    slopes = (0 * one, (q * rising + p * falling) / both, 2 * (rising - falling) / both)
    return np.stack(values, 1), np.stack(slopes, 1)


def _curve(x: Array, y: Array, n: Array, p: float, q: float) -> _Curve:
    centre = float((x * n).sum() / n.sum())
    design = _basis(x - centre, p, q)[0]
    # Three depths or more: the columns are independent.
    orthogonal, triangle = np.linalg.qr(design * np.sqrt(n)[:, None])
    root: Array = np.linalg.inv(triangle)
    values: Array = root @ (orthogonal.T @ (np.sqrt(n) * y))
    return _Curve(centre, p, q, values, root, float((n * (y - design @ values) ** 2).sum()))


@dataclass(frozen=True)
class _Fit:
    """Curves through the nets of a budget.

    Attributes:
        used: the cells that they are fitted to.
        curves: one of each pair of powers. best: the one that fits best; among equals the first.
        variance, free: of the error, and its degrees of freedom.
        minima: ln of the least and the greatest depth at which a curve has its minimum that fits
            as well as the best one; infinite where one of them has none inside.
        sharp: whether there are depths enough to tell one curve from all others.
    """

    used: NDArray[np.intp]
    curves: tuple[_Curve, ...]
    best: _Curve
    variance: float
    free: int
    minima: tuple[float, float]
    sharp: bool
    notes: tuple[str, ...]

    def between(self, cells: _Cells) -> tuple[float, float]:
        """The depths between which the slope may vanish: it falls before them and rises after.

        Where curves do not tell, a trained depth that is significantly worse than the best one
        bounds the minimum all the same, if there is only one (Bonferroni over the shapes).
        """
        if not self.free:
            return 0.0, math.inf
        fine = np.linspace(cells.x[self.used][0], cells.x[self.used][-1], 2001)
        allowed = self.variance * _student(self.free) ** 2
        lows, highs = [], []
        for curve in self.curves:
            if (left := allowed - curve.squares + self.best.squares) < 0:
                continue
            slope, factor = curve.slope(fine)
            half = np.sqrt(left * factor)
            falls, rises = fine[slope + half < 0], fine[slope - half > 0]
            low, high = max(falls, default=-math.inf), min(rises, default=math.inf)
            lows.append(low if low <= high else -math.inf)
            highs.append(high if low <= high else math.inf)
        low, high = min(lows), max(highs)
        best = int(np.argmin(cells.y))
        worse = cells.y - cells.y[best] > _student(self.free, LEVEL / len(cells.y)) * np.sqrt(
            self.variance * (1 / cells.n + 1 / cells.n[best])
        )
        if low == -math.inf:
            low = max(cells.x[:best][worse[:best]], default=low)
        if high == math.inf:
            high = min(cells.x[best + 1 :][worse[best + 1 :]], default=high)
        first, last = float(cells.x[0]), float(cells.x[-1])
        return (
            _depth(max(low - math.log(FORM), first) if low > -math.inf else low),
            _depth(min(high + math.log(FORM), last) if high < math.inf else high),
        )

    def drawn(self, count: int, generator: np.random.Generator) -> Array:
        """ln of the best depth, inside the depths that were used, for curves drawn by their
        likelihood and with Student's errors."""
        off = np.array([curve.squares - self.best.squares for curve in self.curves])
        weights = np.exp(-off / (2 * self.variance))
        parts = []
        for curve, many in zip(
            self.curves, generator.multinomial(count, weights / weights.sum()), strict=True
        ):
            scale = np.sqrt(self.variance * self.free / generator.chisquare(self.free, many))
            parts.append(
                curve.turn(
                    curve.coefficients[:, None]
                    + curve.root @ generator.standard_normal((3, many)) * scale
                )
            )
        return generator.permutation(np.concatenate(parts))


def _depth(x: float) -> float:
    """A depth of which this is the logarithm; 0 and infinity are none."""
    return round(math.exp(x), _PLACES)


def _fitted(cells: _Cells) -> _Fit:
    """The curves, and what there is to say of them.

    They are fitted to depths within a factor of four of the best one, or to the five nearest: over
    a wider range no simple curve is right to the last digit, and far depths say little of where the
    minimum is. Where even the best curve misses the means by more than the nets of one shape
    differ, the cell farthest from the best one is left out, and so on, down to five depths.
    """
    # Rounded, so that of equal distances none is the greater one.
    away = np.round(np.abs(cells.x - cells.x[np.argmin(cells.y)]), 9)
    ordered = sorted({float(x): float(far) for x, far in zip(cells.x, away, strict=True)}.values())
    reach = max(math.log(_NEAR), ordered[:_NUMBERS][-1])
    used = np.flatnonzero(away <= reach + 1e-9)
    notes = []
    while True:
        x, y, n = cells.x[used], cells.y[used], cells.n[used]
        curves = tuple(_curve(x, y, n, p, q) for p, q in _PAIRS)
        least, scale = min(curve.squares for curve in curves), float((n * y**2).sum())
        best = next(curve for curve in curves if curve.squares <= least + _TIE * scale)
        free = max(len(used) - _NUMBERS, 0)
        depths = len(set(x))
        if depths <= _NUMBERS or _misfit(cells, best.squares, free) >= _MISFIT:
            break
        # Of two equally far cells the deeper one.
        used = np.delete(used, len(used) - 1 - int(np.argmax(away[used][::-1])))
    if left := len(cells.x) - len(used):
        notes.append(
            f"{left} of {len(cells.x)} shapes {'is' if left == 1 else 'are'} left out of "
            "the curve, too far from the best for it"
        )
    squares = best.squares + cells.squares
    if not cells.free and free < 2:
        # Too few nets to fit p and q as well: the error is what a quadratic in ln L leaves.
        free = max(len(used) - 3, 0)
        squares = next(c.squares for c in curves if c.p == c.q == _POWERS[0])
    free += cells.free
    if not free:
        notes.append("three nets and no seeds: nothing here can estimate an error")
    # Of equal losses, as of a formula, no error can be told either.
    variance = max(squares / free, 1e-20) if free else math.nan
    sharp = depths >= _NUMBERS
    equal = [best]
    if not sharp:
        allowed = _EQUAL * scale
        if free:  # p and q are the two numbers that these depths leave open
            allowed = max(allowed, 2 * variance * float(special.fdtri(2, free, 1 - LEVEL)))
        equal = [curve for curve in curves if curve.squares <= best.squares + allowed]
        notes.append(f"{depths} depths do not tell one such curve from all others: five do")
    minima = [curve.minimum(x[0], x[-1]) for curve in equal]
    return _Fit(used, curves, best, variance, free, (min(minima), max(minima)), sharp, tuple(notes))


def _misfit(cells: _Cells, squares: float, free: int) -> float:
    """The chance of a misfit at least so large if the curve were right (F test); 1 where nets of
    one shape do not tell an error."""
    if not free or not cells.free or not cells.squares:
        return 1.0
    ratio = (squares / free) / (cells.squares / cells.free)
    return float(special.fdtrc(free, cells.free, ratio))


# --- the best depth -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimum:
    """The best depth of one budget.

    Attributes:
        parameters, tokens, seconds: means of the budget; seconds None where not all are known.
        depth: where the fitted loss is least; None for fewer than five depths, which do not tell
            one curve from all others, and where the interval is not bounded.
        minima: between which depths the curves have their minima that fit as well as the best one;
            0 and infinity where such a curve still falls at the least or greatest depth. Of five
            depths and more a single one.
        low, high: an interval of it of level 1 - alpha; 0 and infinity where the trained depths
            do not bound it.
        best: the trained depth of the least mean loss.
        at_edge: all these curves fall towards the least, or all towards the greatest depth.
        equal: every net has the same loss, and no depth is better than another.
        width, volume: d and L d^2 at that depth, or at the best trained one.
        depths: the trained ones. shapes, losses, spread: their (L, d), mean losses and relative
            standard errors.
        seeds: nets of a shape, the least number.
        free: degrees of freedom of the error.
        notes: what to know of it.
    """

    parameters: float
    tokens: float
    seconds: float | None
    depth: float | None
    minima: tuple[float, float]
    low: float
    high: float
    best: int
    at_edge: bool
    equal: bool
    width: float
    volume: float
    alpha: float
    depths: tuple[int, ...]
    shapes: tuple[tuple[int, int], ...]
    losses: tuple[float, ...]
    spread: tuple[float, ...]
    seeds: int
    free: int
    notes: tuple[str, ...]
    _fit: _Fit = field(repr=False)
    _cells: _Cells = field(repr=False)

    @property
    def bounded(self) -> bool:
        """Whether both ends of the interval lie inside the trained depths."""
        return 0 < self.low <= self.high < math.inf

    @property
    def sharp(self) -> bool:
        """Whether there are depths enough to tell one curve from all others."""
        return self._fit.sharp

    @property
    def fitted(self) -> tuple[float, float]:
        """The least and the greatest depth that the curve is fitted to."""
        x = self._cells.x[self._fit.used]
        return math.exp(x[0]), math.exp(x[-1])

    def curve(self, depth: float) -> float:
        """The fitted loss at a depth."""
        return math.exp(float(self._fit.best(np.array([math.log(depth)]))[0]))

    def volume_at(self, depth: float) -> float:
        """L d^2 of the budget at a depth: between shapes ln(L d^2) is linear in ln L."""
        return math.exp(float(self._log_volume(np.array([math.log(depth)]))[0]))

    def _log_volume(self, x: Array) -> Array:
        logs = [math.log(layers * width**2) for layers, width in self.shapes]
        return np.interp(x, self._cells.x, logs)

    def excess(self, depth: float) -> tuple[float, float] | None:
        """An interval, of the level of this one, of ln(loss at a depth / least loss of a shape);
        None beyond the trained depths, or where no error is known.

        Between shapes the mean of ln loss is linear in ln L. Which shape is the best is not known:
        the upper end is the largest against any of them, the lower end is so at a level that holds
        against all at once (Bonferroni).
        """
        x, y, n = self._cells.x, self._cells.y, self._cells.n
        at = math.log(depth)
        if not x[0] <= at <= x[-1] or not self.free:
            return None
        right = min(max(int(np.searchsorted(x, at)), 1), len(x) - 1)
        here = np.zeros(len(x))
        gap = x[right] - x[right - 1]
        share = (at - x[right - 1]) / gap if gap else 1.0
        here[right], here[right - 1] = share, 1 - share
        weights = here - np.eye(len(x))
        middle = weights @ y
        error = np.sqrt(self._fit.variance * (weights**2 / n).sum(axis=1))
        low = middle - _student(self.free, LEVEL / len(x)) * error
        high = middle + _student(self.free) * error
        return max(0.0, float(low.max())), max(0.0, float(high.max()))

    def _drawn(self, count: int, generator: np.random.Generator) -> Array:
        """ln of the best depth, drawn with the errors of the fit, inside the trained depths."""
        x = self._cells.x
        draws = self._fit.drawn(count, generator)
        edge = x[0] if self.losses[0] < self.losses[-1] else x[-1]
        return np.where(np.isnan(draws), edge, np.clip(draws, x[0], x[-1]))


def optimum(points: Sequence[TrainedLoss], *, size_exponent: float = SIZE_EXPONENT) -> Optimum:
    """The best depth of the nets of one budget.

    Args:
        points: at least three depths, any number of seeds. The interval misses with probability
            `LEVEL` at most if the curve is right and errors are independent, equal and normal.
        size_exponent: losses are compared at the mean number of parameters by
            loss ~ N^-exponent; 0 takes them as they are, as for an equal number of FLOPs. How
            losses of a file fall with size is not known: the interval also holds those for half
            and for twice the exponent.

    Raises:
        ValueError: for fewer than three depths.

    >>> nets = [TrainedLoss(round(900 / L**0.5), L, 12 * 900**2, 1e9,
    ...               3 * math.exp(0.1 * math.log(L / 8) ** 2), seed)
    ...         for L in (2, 4, 8, 16, 32) for seed in (0, 1)]
    >>> found = optimum(nets)
    >>> round(found.depth, 6), found.at_edge
    (8.0, False)
    """
    if len({p.depth for p in points}) < 3:
        raise ValueError(
            f"{len({p.depth for p in points})} depths; a curve through its minimum needs three"
        )
    same_size = not size_exponent or len({p.parameters for p in points}) == 1
    tried = [
        (cells, _fitted(cells))
        for factor in ((1.0,) if same_size else (1.0, 0.5, 2.0))
        for cells in (_cells(points, factor * size_exponent),)
    ]
    cells, fit = tried[0]
    ends = [curve.between(its) for its, curve in tried]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    lows, highs = zip(
        *(curve.minima for _, curve in tried[: 1 if fit.sharp else None]), strict=True
    )
    minima = min(lows), max(highs)
    equal = len({p.loss for p in points}) == 1
    if equal:
        # What curves through them show is rounding, or the exponent that sizes are compared by.
        low, high, minima = 0.0, math.inf, (-math.inf, math.inf)
    at_edge = math.isinf(minima[0]) and minima[0] == minima[1]
    best = int(np.argmin(cells.y))
    notes = list(fit.notes)
    sizes = [math.log(p.parameters) for p in points]
    if fit.free and size_exponent * (max(sizes) - min(sizes)) > 2 * math.sqrt(
        fit.variance / cells.n.min()
    ):
        notes.append(
            "sizes differ so much that how losses are brought to one size matters more "
            "than the error: closer sizes are better"
        )
    if at_edge:
        place = fit.used[0 if minima[0] < 0 else -1]
        notes.append(f"the curve still falls at {plural(cells.shapes[place][0], 'layer')}")
    if equal:
        notes.append("the losses are equal: they tell no depth from another")
    depth = None
    if fit.sharp and not at_edge and 0 < low <= high < math.inf:
        depth = _depth(minima[0])
    logs = [math.log(layers * width**2) for layers, width in cells.shapes]
    volume = math.exp(float(np.interp(math.log(depth) if depth else cells.x[best], cells.x, logs)))
    spread = np.sqrt(fit.variance / cells.n)
    return Optimum(
        _mean(points, "parameters"),
        _mean(points, "tokens"),
        None if any(p.seconds is None for p in points) else _mean(points, "seconds"),
        depth,
        (_depth(minima[0]), _depth(minima[1])),
        low,
        high,
        cells.shapes[best][0],
        at_edge,
        equal,
        math.sqrt(volume / (depth or cells.shapes[best][0])),
        volume,
        LEVEL,
        tuple(sorted({layers for layers, _ in cells.shapes})),
        cells.shapes,
        tuple(map(float, np.exp(cells.y))),
        tuple(map(float, spread)),
        int(cells.n.min()),
        fit.free,
        tuple(notes),
        fit,
        cells,
    )


def _student(free: int, alpha: float = LEVEL) -> float:
    return float(special.stdtrit(free, 1 - alpha / 2))


# --- two depths against each other ----------------------------------------------------------------


class Difference(NamedTuple):
    """ln loss of the deeper net less that of the shallower one, at equal size."""

    mean: float
    low: float
    high: float
    parameters: float


def differences(points: Sequence[TrainedLoss]) -> dict[tuple[int, int], Difference]:
    """How much more the deeper of any two depths of a budget loses, by the shallower and the deeper
    one, as a difference of ln loss.

    The error is that of all nets of the budget (paired by seed where each shape has the same
    seeds); without repeated nets, of the curve through them; without either the interval is
    unbounded.

    >>> nets = [TrainedLoss(64, L, 1e6, 1e6, 3.0 - 0.1 * L + 0.01 * seed, seed)
    ...         for L in (2, 4) for seed in (0, 1, 2)]
    >>> differences(nets)[2, 4].mean < 0
    True
    """
    cells, size = _cells(points, SIZE_EXPONENT), _mean(points, "parameters")
    # Of several shapes of a depth the best one.
    best = {
        depth: min(at, key=lambda k: cells.y[k])
        for depth in sorted({depth for depth, _ in cells.shapes})
        for at in ([k for k, (layers, _) in enumerate(cells.shapes) if layers == depth],)
    }
    variance, free = cells.squares / max(cells.free, 1), cells.free
    if not free and len(best) > 3:
        fit = _fitted(cells)
        variance, free = fit.variance, fit.free
    found = {}
    for (shallow, first), (deep, second) in combinations(best.items(), 2):
        mean = float(cells.y[second] - cells.y[first])
        error = math.sqrt(variance * (1 / cells.n[first] + 1 / cells.n[second]))
        half = _student(free) * error if free else math.inf
        found[shallow, deep] = Difference(mean, mean - half, mean + half, size)
    return found


@dataclass(frozen=True)
class Transition:
    """The size from which the deeper of two depths wins at an equal number of parameters.

    Attributes:
        parameters: where the difference changes its sign, ln-linear between budgets; None where it
            does not change, or more than once.
        low, high: the shallower net is significantly better at all budgets up to low, the deeper
            one from high on; 0 and infinity where none says so.
    """

    shallow: int
    deep: int
    tokens: float
    parameters: float | None
    low: float
    high: float
    differences: tuple[Difference, ...]

    def width(self, depth: int) -> float | None:
        """d of that depth at the transition, for N = 12 L d^2."""
        return None if self.parameters is None else math.sqrt(self.parameters / (12 * depth))


def transitions(budgets: Sequence[Sequence[TrainedLoss]]) -> tuple[Transition, ...]:
    """Levine's transition size of every two depths that several budgets of equal tokens share.

    Args:
        budgets: as `groups` returns them.
    """
    found: dict[tuple[int, int, float], list[Difference]] = {}
    for points in budgets:
        tokens = float(f"{_mean(points, 'tokens'):.2g}")
        for pair, each in differences(points).items():
            found.setdefault((*pair, tokens), []).append(each)
    return tuple(
        _transition(*key, sorted(pairs, key=lambda d: d.parameters))
        for key, pairs in sorted(found.items())
        if len(pairs) > 1
    )


def _transition(
    shallow: int, deep: int, tokens: float, differences: list[Difference]
) -> Transition:
    signs = [d.mean < 0 for d in differences]
    size = None
    if signs == sorted(signs) and signs[0] != signs[-1]:
        before, after = differences[signs.index(True) - 1], differences[signs.index(True)]
        share = before.mean / (before.mean - after.mean)
        size = before.parameters * (after.parameters / before.parameters) ** share
    low = high = None
    for d in differences:
        if d.low > 0:
            low, high = d.parameters, None
        elif d.high < 0 and high is None:
            high = d.parameters
    return Transition(shallow, deep, tokens, size, low or 0.0, high or math.inf, tuple(differences))


# --- laws -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """Width as a function of the best depth: ln d = a + b L, or ln d = a + b ln L.

    Attributes:
        a, b: the fit; each end of its interval is a quantile of the fits to drawn optima.
        misfit: the chance of optima at least so far from the law if it were right; None for two.
        optima: how many it rests on.
    """

    form: Literal["exponential", "power"]
    a: float
    b: float
    a_interval: tuple[float, float]
    b_interval: tuple[float, float]
    covariance: tuple[tuple[float, ...], ...]
    misfit: float | None
    optima: int
    depths: tuple[float, float]

    def depth(self, parameters: float) -> tuple[float, float, float]:
        """Low, middle and high of the best depth at N = 12 L d^2, 95 % by the delta method in ln L;
        no more than the law itself is right beyond the depths that it was fitted to.

        >>> law = Law("power", 3.0, 1.0, (0, 0), (0, 0), ((0, 0), (0, 0)), None, 2, (1, 2))
        >>> [round(L, 6) for L in law.depth(12 * 8 * law.width(8) ** 2)]
        [8.0, 8.0, 8.0]
        """
        low, high = -30.0, 30.0  # of ln L: N grows with it as far as b > -1/2
        for _ in range(100):
            x = (low + high) / 2
            size = math.log(12) + x + 2 * (self.a + self.b * self._of(x))
            low, high = (x, high) if size < math.log(parameters) else (low, x)
        of = self._of(x)
        slope = 1 + 2 * self.b * (of if self.form == "exponential" else 1)
        (aa, ab), (_, bb) = self.covariance
        half = 1.96 * 2 / slope * math.sqrt(max(0.0, aa + 2 * of * ab + of**2 * bb))
        return math.exp(x - half), math.exp(x), math.exp(x + half)

    def _of(self, x: float) -> float:
        """What b stands before, of ln L: L or ln L."""
        return math.exp(x) if self.form == "exponential" else x

    @property
    def formula(self) -> str:
        """In words.

        >>> Law("power", 0, 1, (0, 0), (0, 0), ((0, 0), (0, 0)), None, 2, (1, 2)).formula
        'd = exp(0) L^1'
        """
        if self.form == "exponential":
            return f"d = exp({self.a:.4g} {'-' if self.b < 0 else '+'} {abs(self.b):.4g} L)"
        return f"d = exp({self.a:.4g}) L^{self.b:.4g}"

    def width(self, depth: float) -> float:
        """d at a depth L."""
        return math.exp(self.a + self.b * self._of(math.log(depth)))


def longest(budgets: Sequence[tuple[TrainedLoss, ...]]) -> tuple[tuple[TrainedLoss, ...], ...]:
    """Of budgets whose parameters differ by at most the tolerance the one with the most tokens, in
    the given order: checkpoints of one training are no further trainings."""
    kept: list[tuple[TrainedLoss, ...]] = []
    sizes: list[float] = []
    for group in sorted(budgets, key=lambda part: -_mean(part, "tokens")):
        size = math.log(_mean(group, "parameters"))
        if all(abs(size - other) > math.log1p(TOLERANCE) for other in sizes):
            kept.append(group)
            sizes.append(size)
    return tuple(group for group in budgets if group in kept)


def depth_laws(optima: Sequence[Optimum]) -> tuple[Law, ...]:
    """Both laws, fitted to the optima whose intervals are bounded; empty for fewer than two.

    Optima are of different trainings (`longest` sees to that).

    An error of ln L moves d the other way, at equal L d^2: ln d - a - b L moves by -(1/2 + b L)
    times it, by which it is divided. Intervals are quantiles over optima that are drawn with the
    errors of their own fits, and moved by up to the factor `FORM`, by one seed.
    """
    chosen = sorted((o for o in optima if o.depth and o.bounded), key=lambda o: o.volume)
    if len(chosen) < 2 or chosen[-1].volume < (1 + TOLERANCE) * chosen[0].volume:
        return ()
    generator = np.random.default_rng(0)
    form = math.log(FORM)
    drawn = np.stack(
        [o._drawn(_DRAWS, generator) + generator.uniform(-form, form, _DRAWS) for o in chosen]
    )
    x = np.array([math.log(o.depth or 1) for o in chosen])
    # Intervals are so many standard errors long.
    errors = np.array([math.log(o.high / o.low) / 2 / _student(o.free) + 1e-9 for o in chosen])
    return tuple(_law(form, chosen, x, drawn, errors) for form in ("exponential", "power"))


def _law(form: Any, chosen: list[Optimum], x: Array, drawn: Array, errors: Array) -> Law:
    def fit(logs: Array) -> tuple[Array, Array, Array]:
        """a and b for each column of ln L, and the squared residuals over their errors."""
        volumes = np.stack([o._log_volume(row) for o, row in zip(chosen, logs, strict=True)])
        width, of = (volumes - logs) / 2, np.exp(logs) if form == "exponential" else logs
        slope = np.exp(logs) if form == "exponential" else np.ones_like(logs)
        b = np.zeros(logs.shape[1])
        for _ in range(20):  # the weights depend on b
            w = (errors[:, None] * (0.5 + np.abs(b) * slope)) ** -2.0
            middle, level = (w * of).sum(0) / w.sum(0), (w * width).sum(0) / w.sum(0)
            spread = (w * (of - middle) ** 2).sum(0)
            b = (w * (of - middle) * (width - level)).sum(0) / np.where(spread > 0, spread, np.inf)
        a = level - b * middle
        return a, b, (w * (width - a - b * of) ** 2).sum(0)

    (a,), (b,), (squares,) = (value.tolist() for value in fit(x[:, None]))
    many_a, many_b, _ = fit(drawn)
    ends = (LEVEL / 2, 1 - LEVEL / 2)
    covariance = np.cov(many_a, many_b)
    free = len(chosen) - 2
    return Law(
        form,
        a,
        b,
        tuple(np.quantile(many_a, ends).tolist()),
        tuple(np.quantile(many_b, ends).tolist()),
        tuple(map(tuple, covariance.tolist())),
        float(special.chdtrc(free, squares)) if free else None,
        len(chosen),
        (math.exp(x.min()), math.exp(x.max())),
    )
