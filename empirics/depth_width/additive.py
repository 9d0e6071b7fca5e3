"""The additive law of losses: E + A m^-a + B l^-b + C D^-c, with m the width, l the depth and D the
tokens, and the best depth that it implies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, lsq_linear, nnls

from .surface import TrainedLoss

Array = NDArray[np.float64]
# Exponents are looked for between these; one that ends there is not determined.
_LEAST, _MOST = 0.05, 4.0
_STARTS = (0.3, 1.0, 2.0)
# A variable with fewer values does not tell a power from a constant.
_VALUES = 3
# An exponent whose interval spans more than this factor is not determined.
_FACTOR = 4.0


class LawTerm(NamedTuple):
    """One of the law's terms, coefficient * variable^-exponent, and the interval of its exponent.

    `share` is the term at the middle of the file over the loss there.
    """

    variable: str
    coefficient: float
    exponent: float
    low: float
    high: float
    share: float
    determined: bool


@dataclass(frozen=True)
class Additive:
    """The fitted law.

    Attributes:
        floor: E, with its interval.
        terms: of width, depth and, where the file has several numbers of tokens, tokens.
        error: root mean square of the relative errors.
        shapes: how many different nets it rests on.
        starts: how many of the starting points came to the same fit, and how many there were.
        notes: what the file does not determine.
    """

    floor: float
    floor_interval: tuple[float, float]
    terms: tuple[LawTerm, ...]
    error: float
    shapes: int
    starts: tuple[int, int]
    notes: tuple[str, ...]
    _drawn: Array = field(repr=False)

    def depth(self, volume: float) -> tuple[float, float, float] | None:
        """The best depth of nets with L d^2 = volume, and its interval; None where the file
        does not determine the terms of width and of depth, or fewer than half of the starting
        points came to this fit.

        By Lagrange l^(b + a/2) = 2 b B / (a A) volume^(a/2).
        """
        of_width, of_depth = self.terms[:2]
        agreed, tried = self.starts
        if not of_width.determined or not of_depth.determined or 2 * agreed < tried:
            return None
        # Of the fits to drawn shapes a few may lack a term.
        drawn = self._drawn[(self._drawn[:, 1] > 0) & (self._drawn[:, 3] > 0)]
        low, high = np.quantile([_best_depth(volume, *row[1:5]) for row in drawn], (0.025, 0.975))
        best = _best_depth(volume, *of_width[1:3], *of_depth[1:3])
        return best, float(low), float(high)


def _best_depth(volume: float, width: float, a: float, depth: float, b: float) -> float:
    """The minimum of width (volume / l)^(-a/2) + depth l^-b.

    >>> round(_best_depth(64.0, 1.0, 2.0, 1.0, 1.0), 6)  # l / 64 + 1 / l
    8.0
    """
    return math.exp(
        (math.log(2 * b * depth / (a * width)) + a / 2 * math.log(volume)) / (b + a / 2)
    )


def additive(points: Sequence[TrainedLoss], *, draws: int = 100) -> Additive | None:
    """The law that fits best, by least squares of relative errors; None where a file has fewer than
    three widths, three depths, or no more shapes than the law has numbers.

    Given the exponents the coefficients are a linear fit without negative ones; exponents are
    looked for from several starting points. Intervals are of level 95 %: quantiles over fits to
    shapes that are drawn with replacement, each with all its nets, by one seed.

    >>> nets = [TrainedLoss(m, l, 12 * l * m**2, 1e9, 2 + 3 / m**0.5 + 1 / l)
    ...         for m in (64, 128, 256, 512) for l in (2, 4, 8, 16)]
    >>> fit = additive(nets, draws=20)
    >>> round(fit.floor, 4), [round(term.exponent, 3) for term in fit.terms]
    (2.0, [0.5, 1.0])
    """
    cells: dict[tuple[int, int, float], list[float]] = {}
    for p in points:
        cells.setdefault((p.width, p.depth, p.tokens), []).append(p.loss)
    keys = sorted(cells)
    variables = np.array([[float(v) for v in key] for key in keys])
    different = [len(set(column)) for column in variables.T]
    several = different[2] >= _VALUES
    count = 7 if several else 5
    shapes = sorted({key[:2] for key in keys})
    if min(different[:2]) < _VALUES or len(shapes) < count or len(keys) <= count:
        return None
    scale = np.exp(np.log(variables).mean(axis=0))
    used = np.log(variables / scale)[:, : 3 if several else 2]
    loss = np.array([math.fsum(cells[key]) / len(cells[key]) for key in keys])
    weight = np.sqrt([len(cells[key]) for key in keys]) / loss
    tried = [
        _fit(used, loss, weight, np.array(start))
        for start in product(_STARTS, repeat=used.shape[1])
    ]
    best = min(tried, key=lambda fit: fit[2])
    same = sum(bool(np.allclose(fit[0], best[0], rtol=0.01)) for fit in tried)
    generator = np.random.default_rng(0)
    of = np.unique(variables[:, :2], axis=0, return_inverse=True)[1].ravel()
    drawn = []
    for _ in range(draws):
        chosen = generator.integers(len(shapes), size=len(shapes))
        times = np.bincount(chosen, minlength=len(shapes))[of]
        keep = times > 0
        fit = _fit(used[keep], loss[keep], (weight * np.sqrt(times))[keep], best[0])
        drawn.append(_unscaled(fit, scale))
    rows, own = np.array(drawn), _unscaled(best, scale)
    ends = np.quantile(rows, (0.025, 0.975), axis=0)
    names = ("width", "depth", "tokens")[: used.shape[1]]
    terms = []
    for k, name in enumerate(names):
        low, high = (float(end[2 * k + 2]) for end in ends)
        positive = float(np.quantile(rows[:, 2 * k + 1], 0.025)) > 0 and own[2 * k + 1] > 0
        inside = low > 1.01 * _LEAST and high < 0.99 * _MOST and high < _FACTOR * low
        terms.append(
            LawTerm(
                name,
                float(own[2 * k + 1]),
                float(own[2 * k + 2]),
                low,
                high,
                float(best[1][k + 1]) / float(loss.mean()),
                bool(positive and inside),
            )
        )
    notes = [
        f"the exponent of {term.variable} is not determined by this file"
        for term in terms
        if not term.determined
    ]
    if not several:
        notes.append("fewer than three numbers of tokens: what more tokens give is part of E")
    return Additive(
        float(own[0]),
        (float(ends[0][0]), float(ends[1][0])),
        tuple(terms),
        math.sqrt(best[2] / float((weight * loss).dot(weight * loss))),
        len(shapes),
        (same, len(tried)),
        tuple(notes),
        rows,
    )


def _fit(logs: Array, loss: Array, weight: Array, start: Array) -> tuple[Array, Array, float]:
    """Exponents, coefficients (E first; of variables over their scale) and the sum of squares."""

    def linear(exponents: Array) -> tuple[Array, Array]:
        columns = np.concatenate([np.ones((len(loss), 1)), np.exp(-logs * exponents)], axis=1)
        design = columns * weight[:, None]
        try:
            coefficients, _ = nnls(design, loss * weight)
        except RuntimeError:  # it may not end where columns hardly differ or losses are equal
            coefficients = lsq_linear(design, loss * weight, bounds=(0, np.inf)).x
        return coefficients, design @ coefficients - loss * weight

    done = least_squares(
        lambda e: linear(np.exp(e))[1],
        np.log(start),
        x_scale=1.0,
        diff_step=1e-5,
        bounds=(math.log(_LEAST), math.log(_MOST)),
        max_nfev=60,
    )
    exponents = np.exp(done.x)
    coefficients, off = linear(exponents)
    return exponents, coefficients, float(off @ off)


def _unscaled(fit: tuple[Array, Array, float], scale: Array) -> Array:
    """E, then coefficient and exponent of each term."""
    exponents, coefficients, _ = fit
    own = coefficients[1:] * scale[: len(exponents)] ** exponents
    return np.concatenate([coefficients[:1], np.stack([own, exponents], 1).ravel()])
