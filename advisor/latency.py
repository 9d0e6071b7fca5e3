"""Measured milliseconds per token as a function of shape: ms = a + b L + c L d^2.

A token costs something whatever the depth (embeddings, output layer, starting kernels), something
per layer and something per weight of a layer. So latency is never taken as proportional to L.
"""
from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from .quantities import UsageError, parse_count, parse_milliseconds, quoted

# A table of measurements is small: more is the wrong file.
_MOST_BYTES, _MOST_POINTS = 1_000_000, 2_000
_MOST_LAYERS, _MOST_WIDTH = 10**4, 10**6
_COVERAGE = 0.95
# Repeated measurements of one shape may differ by so much.
_REPEATS = 2
_HEADERS = {"l": "L", "layers": "L", "d": "d", "width": "d", "ms": "ms", "milliseconds": "ms"}
_EXAMPLE = "a CSV file with the header L,d,ms and lines such as 24,2048,11.5"


class Point(NamedTuple):
    """A measurement: depth, width, milliseconds per token."""

    layers: int
    width: int
    milliseconds: Fraction


@dataclass(frozen=True)
class Fit:
    """A least-squares fit with what its residuals say of the next measurement."""

    points: tuple[Point, ...]
    terms: tuple[str, ...]  # of "1", "L" and "L d^2", those whose coefficients were fitted
    coefficients: tuple[float, ...]
    spread: float  # standard deviation of the residuals, in ms
    inverse: tuple[tuple[float, ...], ...]  # of the normal equations' matrix

    @property
    def formula(self) -> str:
        """The fitted model in words.

        >>> fit([Point(8, 512, Fraction(6)), Point(16, 512, Fraction(10)),
        ...      Point(32, 512, Fraction(18))]).formula
        'ms = 2 + 0.5 L (width 512 alone)'
        """
        parts = [f"{c:.4g}" if t == "1" else f"{c:.4g} {t}"
                 for t, c in zip(self.terms, self.coefficients, strict=True)]
        only = "" if self.widths[0] < self.widths[1] else f" (width {self.widths[0]:,} alone)"
        return "ms = " + " + ".join(parts) + only

    @property
    def depths(self) -> tuple[int, int]:
        """The least and the greatest measured depth."""
        return min(p.layers for p in self.points), max(p.layers for p in self.points)

    @property
    def widths(self) -> tuple[int, int]:
        """The least and the greatest measured width."""
        return min(p.width for p in self.points), max(p.width for p in self.points)

    def covers(self, width: int) -> bool:
        """Whether the fit speaks of a width: of any, or of the only measured one."""
        return self.widths[0] < self.widths[1] or width == self.widths[0]

    def extrapolated(self, layers: int, width: int) -> bool:
        """Whether a shape is deeper, shallower, wider or narrower than all measured ones."""
        return not (self.depths[0] <= layers <= self.depths[1]
                    and self.widths[0] <= width <= self.widths[1])

    def ms(self, layers: int, width: int) -> tuple[float, float, float]:
        """Milliseconds per token: low, middle, high.

        The ends are a 95 % prediction interval of one more measurement, by Student's t with as many
        degrees of freedom as there are points beyond the coefficients; residuals are taken as
        independent and equally large. Low is not negative.

        Raises:
            UsageError: for another width than the only measured one.

        >>> line = fit([Point(8, 512, Fraction(6)), Point(16, 512, Fraction(10)),
        ...             Point(24, 512, Fraction(14)), Point(32, 512, Fraction(18))])
        >>> line.ms(20, 512)
        (12.0, 12.0, 12.0)
        """
        if not self.covers(width):
            raise UsageError(f"the measured points have the width {self.widths[0]:,} alone and say "
                             f"nothing of {width:,}; measure a second width")
        x = [float(_TERMS[t](layers, width)) for t in self.terms]
        middle = math.fsum(c * v for c, v in zip(self.coefficients, x, strict=True))
        leverage = math.fsum(u * v * w for u, row in zip(x, self.inverse, strict=True)
                             for v, w in zip(x, row, strict=True))
        free = len(self.points) - len(self.terms)
        half = student_quantile((1 + _COVERAGE) / 2, free) * self.spread * math.sqrt(1 + leverage)
        return max(0.0, middle - half), middle, middle + half


_TERMS: dict[str, Callable[[int, int], int]] = {
    "1": lambda layers, width: 1,
    "L": lambda layers, width: layers,
    "L d^2": lambda layers, width: layers * width**2,
}


def fit(points: Sequence[Point]) -> Fit:
    """The least-squares fit to measured points, in exact arithmetic.

    All of 1, L and L d^2 are fitted where there are two widths or more, else 1 and L. A term whose
    coefficient comes out negative is left out, for no layer takes less than no time.

    Raises:
        UsageError: for one depth alone, for no more points than coefficients, and where latency
            does not grow with depth.

    >>> f = fit([Point(l, d, Fraction(3 + l + l * d * d, 100)) for l in (4, 8) for d in (10, 20)])
    >>> f.terms, f.coefficients
    (('1', 'L', 'L d^2'), (0.03, 0.01, 0.01))
    """
    depths, widths = ({getattr(p, name) for p in points} for name in ("layers", "width"))
    if not points:
        raise UsageError(f"there are no measured points; give {_EXAMPLE}")
    if len(depths) < 2:
        raise UsageError("the measured points have one depth alone, which cannot tell what a layer "
                         "takes from what every token takes; measure at least two depths")
    several = len(widths) > 1
    tried = (("1", "L", "L d^2"), ("1", "L d^2"), ("1", "L")) if several else (("1", "L"),)
    if len(points) <= len(tried[0]):
        raise UsageError(f"{len(points)} measured points for {len(tried[0])} coefficients leave "
                         "nothing to judge the fit by; measure at least "
                         f"{len(tried[0]) + 1} shapes")
    found = [f for f in (_least_squares(points, terms) for terms in tried) if f]
    possible = [f for f in found if all(c >= 0 for c in f.coefficients[1:])]
    if not possible:
        raise UsageError("by the measured points latency does not grow with depth; check that the "
                         "columns are L, d, ms and that one sequence was measured")
    return min(possible, key=lambda f: f.spread) if len(possible[0].terms) < 3 else possible[0]


def _least_squares(points: Sequence[Point], terms: tuple[str, ...]) -> Fit | None:
    """None where the points do not tell the terms apart."""
    rows = [[Fraction(_TERMS[t](p.layers, p.width)) for t in terms] for p in points]
    size = range(len(terms))
    matrix = [[sum((r[i] * r[j] for r in rows), Fraction()) for j in size] for i in size]
    inverse = _inverted(matrix)
    if inverse is None:
        return None
    right = [sum((r[i] * p.milliseconds for r, p in zip(rows, points, strict=True)), Fraction())
             for i in size]
    found = [sum((inverse[i][j] * right[j] for j in size), Fraction()) for i in size]
    off = sum(((sum((c * v for c, v in zip(found, r, strict=True)), Fraction())
                - p.milliseconds) ** 2 for r, p in zip(rows, points, strict=True)), Fraction())
    spread = math.sqrt(off / (len(points) - len(terms)))
    return Fit(tuple(points), terms, tuple(map(float, found)), spread,
               tuple(tuple(map(float, row)) for row in inverse))


def _inverted(matrix: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """The inverse of a positive semi-definite matrix, None where it is singular."""
    n = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        if not rows[i][i]:
            return None
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [v - rows[k][i] * w for v, w in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, by bisection of its distribution function.

    For n degrees of freedom and theta = atan(t / sqrt(n)), P(|T| <= t) is a finite sum: for odd n,
    2 / pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ...)); for even n,
    sin theta (1 + 1/2 cos^2 theta + (1 3)/(2 4) cos^4 theta + ...), up to cos^(n-2) theta
    (Abramowitz and Stegun 26.7.3 and 26.7.4; recalled).

    Args:
        probability: at least one half and less than one.
        freedom: degrees of freedom, from 1 on.

    >>> [round(student_quantile(0.975, n), 3) for n in (1, 2, 5, 30)]
    [12.706, 4.303, 2.571, 2.042]
    """
    def inside(theta: float) -> float:
        cosine = math.cos(theta)
        odd = freedom % 2
        term = total = cosine if odd else 1.0
        for k in range(2 + odd, freedom, 2):
            term *= (k - 1) / k * cosine**2
            total += term
        if odd:
            total = theta + math.sin(theta) * (total if freedom > 1 else 0.0)
            return 2 / math.pi * total
        return math.sin(theta) * total

    low, high = 0.0, math.pi / 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 2 * probability - 1 else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


# --- files ----------------------------------------------------------------------------------------


def read_latency(path: str | Path) -> Fit:
    """The fit to a table of measured points: a CSV file with the columns L, d and ms.

    The columns may also be called layers, width and milliseconds, and stand in any order. Lines
    that are empty or start with # are passed over; a shape may be measured more than once.

    Raises:
        UsageError: for a file that cannot be read or is no such table, and where `fit` raises.
    """
    name = f"the table of latencies {quoted(Path(path).name)}"
    # A pipe that nobody writes to would be waited for.
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"cannot read {name}: it is no regular file; give {_EXAMPLE}")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "bad name"
        raise UsageError(f"cannot read {name}: {reason}; give {_EXAMPLE}") from None
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{name} is larger than {_MOST_BYTES:,} bytes; give {_EXAMPLE}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not text in UTF-8; give {_EXAMPLE}") from None
    points = tuple(_points(text, name))
    _check_repeats(points, name)
    try:
        return fit(points)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _points(text: str, name: str) -> Iterator[Point]:
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1)
             if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise UsageError(f"{name} is empty; give {_EXAMPLE}")
    if len(lines) - 1 > _MOST_POINTS:
        raise UsageError(f"{name} has {len(lines) - 1:,} points; accepted are at most "
                         f"{_MOST_POINTS:,}")
    head = [_HEADERS.get(cell.strip().lower()) for cell in _cells(lines[0][1])]
    if sorted(filter(None, head)) != ["L", "d", "ms"]:
        raise UsageError(f"{name} starts with {quoted(lines[0][1].strip())}, which does not name "
                         f"the columns L, d and ms once each; give {_EXAMPLE}")
    for number, line in lines[1:]:
        where = f"line {number} of {name}"
        cells = _cells(line)
        if len(cells) != len(head):
            raise UsageError(f"{where} has {len(cells)} cells, the header {len(head)}; "
                             f"give {_EXAMPLE}")
        row = {key: cell.strip() for key, cell in zip(head, cells, strict=True) if key}
        try:
            layers = parse_count(row["L"], "number of layers", "24")
            width = parse_count(row["d"], "width", "2048")
            milliseconds = parse_milliseconds(row["ms"])
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        if layers > _MOST_LAYERS or width > _MOST_WIDTH:
            raise UsageError(f"{where}: {layers:,} layers of width {width:,} are out of range; "
                             f"accepted are up to {_MOST_LAYERS:,} and {_MOST_WIDTH:,}")
        yield Point(layers, width, milliseconds)


def _cells(line: str) -> list[str]:
    return re.split("[,;\t]", line)


def _check_repeats(points: Sequence[Point], name: str) -> None:
    """Raises where measurements of one shape contradict each other."""
    seen: dict[tuple[int, int], list[Fraction]] = {}
    for p in points:
        seen.setdefault((p.layers, p.width), []).append(p.milliseconds)
    for (layers, width), times in seen.items():
        if max(times) > _REPEATS * min(times):
            raise UsageError(f"{name} has {float(min(times)):g} and {float(max(times)):g} ms for "
                             f"{layers:,} layers of width {width:,}; repeated measurements may "
                             f"differ by a factor of {_REPEATS}: leave out what is wrong")
