"""Measured milliseconds per token as a function of what a token has to pass through.

A token costs something whatever the net (starting kernels), something per layer, and the time to
read the weights of the layers, those of the output layer, and the keys and values of its context:

    ms = a + b L + c (weights in layers) + e (weights of the output layer) + f (KV cache),

    a, b, c, e, f >= 0.

So latency is never taken as proportional to L, and neither a fatter layer of the same width nor a
larger cache is free. What a table does not say of the measured nets is assumed, and `Fit.assumed`
says it. Intervals assume the formula: they hold noise around it, and only as much of a bend as
shows in the residuals.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from .architecture import Architecture
from .base.quantities import UsageError, parse_count, parse_milliseconds, plural, quoted, size
from .counting import kv_numbers, weights

# A table of measurements is small: more is the wrong file.
_MOST_BYTES, _MOST_POINTS = 1_000_000, 2_000
_COVERAGE = 0.95
# How far beyond the measured points a time is still given, as a factor.
REACH = 2
# Of a time: what the arithmetic of floats may leave of nothing.
_ROUNDING = 1e-9
# Repeated measurements of one shape may differ by so much.
_REPEATS = 2
# Columns with what people and configurations call them, beside their own names.
_COLUMNS = {
    "layers": ("l", "num_hidden_layers"),
    "width": ("d", "hidden_size"),
    "milliseconds": ("ms",),
    "d_ff": ("intermediate_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads",),
    "head_width": ("head_dim",),
    "vocabulary": ("vocab_size",),
    "gated": (),
    "context": (),
}
_NEEDED = ("layers", "width", "milliseconds")
_EXAMPLE = "a CSV file with the header L,d,ms and lines such as 24,2048,11.5"
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")
# Roles of the weights that make up the layers.
_IN_LAYERS = ("attention", "mixer", "mlp", "expert", "router")


class LatencyPoint(NamedTuple):
    """A measurement: a net as far as the table says, and milliseconds per token."""

    layers: int
    width: int
    milliseconds: Fraction
    d_ff: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_width: int | None = None
    vocabulary: int | None = None
    gated: bool | None = None
    context: int | None = None  # tokens in the cache when the token was timed

    @property
    def layer_weights(self) -> int:
        """Weights of the matrices of one layer: 12 d^2, unless more is known."""
        d = self.width
        head = self.head_width or d // (self.heads or 1)
        queries = self.heads * head if self.heads else d
        keys = self.kv_heads * head if self.kv_heads else queries
        matrices = 2 if self.gated is False else 3
        mlp = 8 * d * d if self.d_ff is None else matrices * d * self.d_ff
        return 2 * d * queries + 2 * d * keys + mlp

    @property
    def keys(self) -> int:
        """Width of the keys of one layer; that of the net, unless more is known."""
        head = self.head_width or self.width // (self.heads or 1)
        return self.kv_heads * head if self.kv_heads else self.width


class Load(NamedTuple):
    """What the time of a token is fitted on."""

    layers: int
    weights: int  # of all layers that a token passes
    output: int  # of the output layer; where no vocabulary is known, its width alone
    cache: float  # numbers in the KV cache; where no context is known, those of one token of it


# 1, and the four of Load.
_TERMS = range(5)


@dataclass(frozen=True)
class _Solution:
    """The least squares with some of the terms."""

    terms: tuple[int, ...]
    coefficients: tuple[float, ...]  # of 1 and of each entry of Load, in ms; may be negative
    inverse: tuple[tuple[float, ...], ...]  # of the normal equations' matrix of these terms
    excess: float  # sum of squares above the least that no negative coefficient gives

    @property
    def best(self) -> bool:
        """Whether no fit without negative coefficients has a smaller sum of squares."""
        return not self.excess and min(self.coefficients) >= 0


@dataclass(frozen=True)
class Fit:
    """A least-squares fit with what its residuals say of the next measurement."""

    points: tuple[LatencyPoint, ...]
    knows: _Known  # what the table names of every net
    solutions: tuple[_Solution, ...]  # of every set of terms that the points tell apart
    spread: float  # standard deviation of a measurement, as a share of its time
    freedom: int  # degrees of freedom of the spread

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken of the measured nets because the table does not say it."""
        columns = zip(LatencyPoint._fields, zip(*self.points, strict=True), strict=True)
        known = {name: None not in values for name, values in columns}
        taken = {
            "12 d^2 weights a layer": not (known["d_ff"] or known["kv_heads"]),
            "8 d^2 weights an MLP": known["kv_heads"] and not known["d_ff"],
            "a key head for each query head": known["d_ff"] and not known["kv_heads"],
            "gated MLPs": known["d_ff"] and not known["gated"],
            "a KV cache that grows with L d": not known["kv_heads"],
            "the answer's vocabulary": not known["vocabulary"],
            "the answer's context": not known["context"],
        }
        return tuple(what for what, is_taken in taken.items() if is_taken)

    @property
    def widths(self) -> tuple[int, int]:
        """The least and the greatest measured width."""
        return min(p.width for p in self.points), max(p.width for p in self.points)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """Milliseconds of every token, of a layer, of a weight in a layer, of one in the output, of
        a number in the cache; of the first where several fit equally well.
        """
        return next(s.coefficients for s in self.solutions if s.best)

    @property
    def ambiguous(self) -> bool:
        """Whether other coefficients fit the points equally well."""
        return len({s.coefficients for s in self.solutions if s.best}) > 1

    def loads(self, a: Architecture) -> tuple[Load, Load]:
        """The least and the most that a token of a net may pass through.

        Where the table names no key heads, what goes with L d may be a cache of full or of grouped
        keys, or something of the weights over d. The answer is then taken as the slowest of these.
        """
        matrices = (w for w in weights(a) if w.role in _IN_LAYERS and len(w.shape) == 2)
        inside = sum(w.passes * math.prod(w.shape) for w in matrices if w.stack != "encoder")
        knows = self.knows
        wide = (a.embedding_width or a.width) * (a.vocabulary if knows.vocabulary else 1)
        caches: list[float] = [kv_numbers(a, a.context)]
        if not knows.keys:
            fatness = inside / (12 * a.layers * a.width**2)
            caches.append(2 * a.layers * a.width * a.context * max(1.0, fatness))
        tokens = 1 if knows.context else a.context
        least, most = (Load(a.layers, inside, wide, n / tokens) for n in (min(caches), max(caches)))
        return least, most

    def outside(self, a: Architecture, factor: float = 1) -> str:
        """What of a net lies outside the measured points by more than a factor, in words; empty
        where nothing does."""
        if a.mixed:
            return "layers of other kinds than attention (measured: attention alone)"
        knows, (_, asked) = self.knows, self.loads(a)
        measured = [_load(p, knows) for p in self.points]
        texts = [
            "{} layers",
            "{} weights in layers",
            "{} weights in the output layer" if knows.vocabulary else "width {}",
            "{} numbers in the KV cache" + ("" if knows.context else " of one token"),
        ]
        checked: list[tuple[str, float, Sequence[float]]]
        checked = list(zip(texts, asked, zip(*measured, strict=True), strict=True))
        if knows.keys:
            # Wider than in any measured layer, even where fewer layers make up for it in the sum.
            wide = a.key_heads * a.head_size
            checked.append(("keys of width {}", wide, [p.keys for p in self.points]))
        elif not knows.context:  # the cache is L d once more
            checked.pop()
        sentences = []
        for text, value, known in checked:
            low, high = min(known), max(known)
            if not low / factor <= value <= high * factor:
                show = size if "weights" in text or "numbers" in text else "{:,}".format
                span = show(low) if low == high else f"{show(low)} to {show(high)}"
                sentences.append(f"{text.format(show(value))} (measured: {span})")
        return " and ".join(sentences)

    def ms(self, a: Architecture) -> tuple[float, float, float]:
        """Milliseconds per token: low, middle, high.

        The ends are at least a 95 % prediction interval of one more measurement, by Student's t;
        residuals are taken as independent, and as large a share of every time. What the points say
        of the mean is the span of all coefficients that are not negative and whose squares are not
        too much above the least: so what the points do not tell apart is read both ways. Up to
        twice the least is never too much, as the residuals of a formula that is wrong are no
        independent noise. Low is not negative.
        """
        least, most = self.loads(a)
        short = self._interval(least)
        return short if most == least else (short[0], *self._interval(most)[1:])

    def _interval(self, load: Load) -> tuple[float, float, float]:
        x = (1, *load)
        middle = max(_dot(s.coefficients, x) for s in self.solutions if s.best)
        share = student_quantile((1 + _COVERAGE) / 2, self.freedom) * self.spread
        means = [_dot(s.coefficients, x) for s in self.solutions if s.best]
        for s in self.solutions:
            # The ends of the ellipsoid of these terms; those of the span are among them.
            room = max(share**2, self.freedom * self.spread**2) - s.excess
            slope = [_dot(row, [x[i] for i in s.terms]) for row in s.inverse]
            leverage = _dot(slope, [x[i] for i in s.terms])
            if room < 0 or leverage <= 0:
                continue
            for step in (math.sqrt(room / leverage), -math.sqrt(room / leverage)):
                parts = [
                    (s.coefficients[i] + step * by) * x[i]
                    for i, by in zip(s.terms, slope, strict=True)
                ]
                if min(parts) >= -_ROUNDING * middle:
                    means.append(math.fsum(parts))
        noise = share * middle
        below, above = (math.hypot(end - middle, noise) for end in (min(means), max(means)))
        return max(0.0, middle - below), middle, middle + above


def _dot(coefficients: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(c * v for c, v in zip(coefficients, values, strict=True))


class _Known(NamedTuple):
    """What a table names of every net."""

    vocabulary: bool
    keys: bool  # how wide they are
    context: bool


def _load(p: LatencyPoint, knows: _Known) -> Load:
    wide = p.width * (p.vocabulary or 1) if knows.vocabulary else p.width
    keys = p.keys if knows.keys else p.width
    tokens = (p.context or 1) if knows.context else 1
    return Load(p.layers, p.layers * p.layer_weights, wide, 2 * p.layers * keys * tokens)


def fit(points: Sequence[LatencyPoint]) -> Fit:
    """The least-squares fit to measured points without negative coefficients, in exact arithmetic.

    Squares are those of relative residuals: a longer time is known no better than a shorter one, as
    a share of it. All sets of terms are tried, so the least squares are found, not approached.

    Raises:
        UsageError: for one depth alone, for no more points than what they tell apart, and where
            latency does not grow with depth.
    """
    if not points:
        raise UsageError(f"there are no measured points; give {_EXAMPLE}")
    if len({p.layers for p in points}) < 2:
        raise UsageError(
            "the measured points have one depth alone, which cannot tell what a layer "
            "takes from what every token takes; measure at least two depths"
        )
    told = zip(*((p.vocabulary, p.kv_heads, p.context) for p in points), strict=True)
    knows = _Known(*map(all, told))
    # Of every point 1, its load and its time, divided by its time, whose digits beyond those of a
    # float do not matter; then all in whole numbers, which take no common divisors.
    rows = []
    for p in points:
        share = Fraction(1 / float(p.milliseconds))
        rows.append([Fraction(v) * share for v in (1, *_load(p, knows), p.milliseconds)])
    unit = math.lcm(*(cell.denominator for row in rows for cell in row))
    columns = [[int(unit * cell) for cell in column] for column in zip(*rows, strict=True)]
    *matrix, times = ([sum(map(operator.mul, x, y)) for y in columns] for x in columns)
    tried: list[tuple[dict[int, Fraction], tuple[tuple[float, ...], ...], Fraction]] = []
    for terms in (t for number in range(5) for t in combinations(_TERMS, number + 1)):
        adjugate, determinant = _adjugate([[matrix[i][j] for j in terms] for i in terms])
        if determinant:
            right = [times[i] for i in terms]
            solved = [sum(map(operator.mul, row, right)) for row in adjugate]
            left = times[-1] * determinant - sum(map(operator.mul, solved, right))
            by_term = {i: Fraction(c, determinant) for i, c in zip(terms, solved, strict=True)}
            inverse = tuple(tuple(unit**2 * c / determinant for c in row) for row in adjugate)
            tried.append((by_term, inverse, Fraction(left, unit**2 * determinant)))
    legal = [(solved, left) for solved, _, left in tried if min(solved.values()) >= 0]
    least = min(left for _, left in legal)
    best = [{i for i, c in solved.items() if c} for solved, left in legal if left == least]
    if not all(terms & {1, 2, 4} for terms in best):
        raise UsageError(
            "by the measured points latency does not grow with depth; check that the "
            "columns are L, d, ms and that one sequence was measured"
        )
    used = max(map(len, best))
    if len(points) <= used:
        raise UsageError(
            f"{plural(len(points), 'measured point')} for {used} coefficients leave "
            f"nothing to judge the fit by; measure at least {used + 1} shapes"
        )
    freedom = len(points) - used
    solutions = []
    for by_term, inverse, left in tried:
        coefficients = tuple(float(by_term.get(i, 0)) for i in _TERMS)
        solutions.append(_Solution(tuple(by_term), coefficients, inverse, float(left - least)))
    return Fit(tuple(points), knows, tuple(solutions), math.sqrt(least / freedom), freedom)


def _adjugate(matrix: list[list[int]]) -> tuple[list[list[int]], int]:
    """The adjugate of a positive semi-definite matrix, and its determinant; where that is 0, none.
    By Bareiss: every quotient is whole, and at the end the diagonal holds the determinant."""
    n, last = len(matrix), 1
    rows = [[*row, *(int(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = rows[i][i]
        if not pivot:
            return [], 0
        for k in (k for k in range(n) if k != i):
            pairs = zip(rows[k], rows[i], strict=True)
            rows[k] = [(pivot * v - rows[k][i] * w) // last for v, w in pairs]
        last = pivot
    return [row[n:] for row in rows], last


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, by bisection of its distribution function.

    For n degrees of freedom and theta = atan(t / sqrt(n)), P(|T| <= t) is a finite sum: for odd n,
    2 / pi (theta + sin theta (cos theta + 2/3 cos^3 theta + ...)); for even n,
    sin theta (1 + 1/2 cos^2 theta + (1 3)/(2 4) cos^4 theta + ...), up to cos^(n-2) theta
    (Abramowitz and Stegun 26.7.3 and 26.7.4; recalled). The probability is at least one half.
    """

    def inside(theta: float) -> float:
        cosine = math.cos(theta)
        odd = freedom % 2
        term = total = cosine if odd else 1.0
        for k in range(2 + odd, freedom, 2):
            term *= (k - 1) / k * cosine**2
            total += term
        if odd:
            return 2 / math.pi * (theta + math.sin(theta) * (total if freedom > 1 else 0.0))
        return math.sin(theta) * total

    low, high = 0.0, math.pi / 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 2 * probability - 1 else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


# --- files ----------------------------------------------------------------------------------------


def read_latency(path: str | Path) -> Fit:
    """The fit to a table of measured points: a CSV file with the columns L, d and ms.

    The columns may also be called layers, width and milliseconds, and stand in any order. More
    columns say what a layer weighs: d_ff, heads, kv_heads, head_width, gated (yes or no) and
    vocabulary, or the names that configurations give them; and context, the tokens in the cache.
    Lines that are empty or start with # are passed over; a shape may be measured more than once.

    Raises:
        UsageError: for a file that cannot be read or is no such table, and where `fit` raises.
    """
    name = f"the table of latencies {quoted(Path(path).name)}"
    # A pipe that nobody writes to would be waited for.
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"cannot read {name}: it is not a regular file; give {_EXAMPLE}")
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
    # Measurements of one shape must not contradict each other.
    seen: dict[LatencyPoint, list[Fraction]] = {}
    for p in points:
        seen.setdefault(p._replace(milliseconds=Fraction()), []).append(p.milliseconds)
    for p, times in seen.items():
        if max(times) > _REPEATS * min(times):
            raise UsageError(
                f"{name} has {float(min(times)):g} and {float(max(times)):g} ms for "
                f"{p.layers:,} layers of width {p.width:,}; repeated measurements may "
                f"differ by a factor of {_REPEATS}: leave out what is wrong"
            )
    try:
        return fit(points)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _points(text: str, name: str) -> Iterator[LatencyPoint]:
    lines = [
        (i, line)
        for i, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise UsageError(f"{name} is empty; give {_EXAMPLE}")
    if len(lines) - 1 > _MOST_POINTS:
        raise UsageError(
            f"{name} has {len(lines) - 1:,} points; accepted are at most {_MOST_POINTS:,}"
        )
    columns = {name: column for column, others in _COLUMNS.items() for name in (column, *others)}
    head = [columns.get(cell.strip().lower()) for cell in _cells(lines[0][1])]
    named = [name for name in head if name]
    if len(named) > len(set(named)) or not set(_NEEDED) <= set(named):
        raise UsageError(
            f"{name} starts with {quoted(lines[0][1].strip())}, which does not name "
            f"the columns L, d and ms once each; give {_EXAMPLE}"
        )
    for number, line in lines[1:]:
        where = f"line {number} of {name}"
        cells = _cells(line)
        if len(cells) != len(head):
            raise UsageError(
                f"{where} has {len(cells)} cells, the header {len(head)}; give {_EXAMPLE}"
            )
        row = {key: cell.strip() for key, cell in zip(head, cells, strict=True) if key}
        try:
            yield _point(row)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None


def _point(row: dict[str, str]) -> LatencyPoint:
    values: dict[str, Any] = {"milliseconds": parse_milliseconds(row["milliseconds"])}
    if "gated" in row:
        if row["gated"].lower() not in _YES + _NO:
            raise UsageError(f"gated is {quoted(row['gated'])}; accepted are yes and no")
        values["gated"] = row["gated"].lower() in _YES
    for key, what, example, most in (
        ("layers", "number of layers", "24", 10**4),
        ("width", "width", "2048", 10**6),
        ("d_ff", "d_ff", "8192", 16 * 10**6),
        ("heads", "number of heads", "16", 10**6),
        ("kv_heads", "number of key heads", "4", 10**6),
        ("head_width", "head width", "128", 10**6),
        ("vocabulary", "vocabulary", "32000", 10**8),
        ("context", "context", "4096", 10**9),
    ):
        if key in row:
            number = values[key] = parse_count(row[key], what, example)
            if number > most:
                accepted = f"accepted are up to {most:,}"
                raise UsageError(f"the {what} {number:,} is out of range; {accepted}")
    p = LatencyPoint(**values)
    if p.kv_heads and not (p.heads or p.head_width):
        raise UsageError("kv_heads says nothing without heads or head_width; add that column")
    if p.heads and not p.head_width and p.width % p.heads:
        raise UsageError(
            f"{p.heads:,} heads do not divide the width {p.width:,}; add the column head_width"
        )
    return p


def _cells(line: str) -> list[str]:
    return re.split("[,;\t]", line)
