"""Every published rule that gives a depth for a budget: what it claims to be, where it was
measured, whose it is.

A floor, an optimum, a default, a maximum and a depth within some percent of the best are five
different things. No rule is an average of others.
"""

from __future__ import annotations

import csv
import math
from ast import literal_eval
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any, Literal, get_args

from . import laws
from .grids import STANDARD, NetKind, best_ratios, grids, least_ratio
from .models import models_near

Meaning = Literal[
    "floor",
    "knee",
    "optimum",
    "fit",
    "default",
    "maximum",
    "within 1 %",
    "within 3 %",
    "measured",
    "built",
]
# Meanings that name a depth to build: no bound; neither the best of the trained shapes nor what is
# built, which do not grow with the budget and restate the nets that grids are about.
_NAMED = ("optimum", "default", "fit")
# How it is known that a source compared depths at an equal budget: what it found was read there,
# read elsewhere, or is recalled; "stated": the source says so, and the losses were not read.
Compared = Literal["printed", "reported", "recalled", "stated", "none"]
# What a row of rules.csv says in words.
_TEXTS = (
    *("key", "name", "meaning", "source", "wording"),
    *("remark", "read_off", "compared", "compared_note"),
)
# Ratios d / L of the family from which the recommendation may be chosen as well: half octaves.
FAMILY = tuple(8 * 2 ** (k / 2) for k in range(11))


@dataclass(frozen=True)
class Rule:
    """A depth for a budget, and whose it is. `law` maps N = 12 L d^2 to a real depth."""

    key: str
    name: str
    formula: str
    meaning: Meaning
    law: Callable[[float], float]
    source: str  # bibliography key or name, version, place
    wording: str  # printed, reported, recalled, derived
    year: int
    domain: tuple[float, float] | None  # sizes 12 L d^2 that the source measured; None: theory
    applies: NetKind = STANDARD
    claim: str | None = None  # of the ledger, about it
    remark: str = ""
    read_off: str = ""  # the source of grids.csv that it describes, by which it is not scored
    error: Callable[[float], float] | None = None  # standard error of the depth
    compared: Compared = "none"  # how it is known that its source compared depths at one budget,
    compared_note: str = ""  # and which depths
    followed: str = ""  # the decision by which the advisor follows it

    def depth(self, parameters: float, per_layer: float = 12.0) -> float:
        """The depth, not rounded, of a net of N = c L d^2 parameters without embeddings.

        Args:
            parameters: N. per_layer: c, such as 12 for attention and an ungated MLP of factor 4.

        >>> [round(rule("nanochat").depth(c * 24 * 1536**2, c), 9) for c in (12, 16)]
        [24.0, 24.0]
        """
        return self.law(12 * parameters / per_layer)

    def standard_error(self, parameters: float, per_layer: float = 12.0) -> float | None:
        """Of the depth, where the source gives one: of its fit, not of its form or range."""
        return None if self.error is None else self.error(12 * parameters / per_layer)

    def extrapolates(self, parameters: float, per_layer: float = 12.0) -> bool:
        """Whether the size lies outside what the source measured."""
        size = 12 * parameters / per_layer
        return self.domain is not None and not self.domain[0] <= size <= self.domain[1]

    @property
    def fails(self) -> tuple[str, ...]:
        """The names of the predicates of `PREDICATES` that it does not satisfy.

        >>> rule("attnres").fails, rule("delusion").fails, rule("added").fails
        (('for plain residuals',), ('names a depth to build',), ())
        """
        return tuple(name for name, holds in PREDICATES.items() if not holds(self))

    @property
    def eligible(self) -> bool:
        """Whether the advisor may follow it: no score is asked."""
        return not self.fails


# What a rule must satisfy to be followed, by columns of rules.csv alone.
PREDICATES: dict[str, Callable[[Rule], bool]] = {
    "names a depth to build": lambda r: r.meaning in _NAMED,
    "for plain residuals": lambda r: r.applies.residual == "plain",
    "compared depths at an equal budget": lambda r: r.compared != "none",
}


def _aspect(ratio: float) -> Callable[[float], float]:
    return partial(laws.aspect_depth, aspect=ratio)


def _sloped(size: float, *, ratio: float, slope: float) -> float:
    return laws.aspect_depth(size, ratio * (size / 3e8) ** slope)


def _through(
    points: tuple[tuple[float, float], ...], size: float, *, goes_on: bool = False
) -> float:
    """The depth for ln(d / L) linear in ln N between published points. Beyond them d / L is
    constant, or the line of the last two points goes on."""
    sizes = [n for n, _ in points]
    place = bisect_right(sizes, size)
    if place in (0, len(points)) and not goes_on:
        return laws.aspect_depth(size, points[max(place - 1, 0)][1])
    place = min(max(place, 1), len(points) - 1)
    (low, start), (high, end) = points[place - 1], points[place]
    slope = math.log(end / start) / math.log(high / low)
    return laws.aspect_depth(size, start * (size / low) ** slope)


def _built(size: float) -> float:
    """The depth at the median d / L of the dense decoders in models.csv near this size."""
    factor = 2.0
    while not (near := models_near(size, factor)):
        factor *= 2
    return laws.aspect_depth(size, median(m.width / m.layers for m in near))


def gemstones_ratios() -> tuple[tuple[float, float], ...]:
    """(12 L d^2, d / L) of the best Gemstones nets after the longest training that was cooled down,
    one for each size class."""
    cooled = (g for g in grids() if g.source == "Gemstones" and g.cooled)
    longest = {g.nets: g for g in sorted(cooled, key=lambda g: g.each or 0.0)}.values()
    return tuple(sorted((12 * g.volume, (g.best.width or 0) / g.best.layers) for g in longest))


@cache
def rules(known_by: int | None = None) -> tuple[Rule, ...]:
    """All rules, oldest first; with a year, those known by then.

    >>> [r.key for r in rules(known_by=2022)]
    ['threshold', 'levine', 'kaplan']
    """
    mup, completep = NetKind("mup"), NetKind("completep")
    residuals = partial(best_ratios, "Attention Residuals")
    cells, least = gemstones_ratios(), {key: least_ratio(key) or 0.0 for key in (mup, completep)}
    depths: dict[str, Callable[[float], float]] = {
        "threshold": laws.threshold_depth,
        "levine": laws.transition_depth,
        "kaplan": _aspect(4288 / 6),
        "attnres": partial(_through, residuals(NetKind(residual="attnres"))),
        "prenorm": partial(_through, residuals(STANDARD)),
        "mup": partial(_through, best_ratios("CompleteP", mup), goes_on=True),
        "mup-least": _aspect(least[mup]),
        "completep-least": _aspect(least[completep]),
        "nanochat": _aspect(64),
        "marin": laws.marin_depth,
        "added": laws.added_depth,
        "delusion": partial(laws.logarithmic_depth, slope=2.43),
        "gemstones": partial(_through, cells),
        "knee": laws.knee_depth,
        "built": _built,
    }
    errors = {"levine": laws.transition_depth_error, "added": laws.added_depth_error}
    domains = {"levine": _levine_domain(), "gemstones": (cells[0][0], cells[-1][0])}
    with Path(__file__).with_name("rules.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    published = []
    for row in rows:
        kind: dict[str, Any] = {name: row[name] for name in ("parametrisation", "residual")}
        key, applies = row["key"], NetKind(**kind)
        sizes = [literal_eval(row[end]) for end in ("least", "most") if row[end]]
        made: dict[str, Any] = {name: row[name] for name in _TEXTS}
        made |= {"formula": row["formula"].format(least=least.get(applies))}
        made |= {"year": int(row["year"]), "claim": row["claim"] or None}
        made |= {"domain": tuple(sizes) or domains.get(key)}
        made |= {"error": errors.get(key), "followed": row["followed"]}
        if row["compared"] not in get_args(Compared):
            raise ValueError(f"rules.csv, {key}: compared is {row['compared']!r}")
        published.append(Rule(law=depths[key], applies=applies, **made))
    known = [r for r in published if known_by is None or r.year <= known_by]
    return tuple(sorted(known, key=lambda r: r.year))


def _levine_domain() -> tuple[float, float]:
    fewest, _ = laws.FIT_DEPTHS
    return 12 * fewest * math.exp(2 * (laws.FIT_A + laws.FIT_B * fewest)), laws.FIT_LARGEST


def rule(key: str) -> Rule:
    """The rule of that key.

    >>> round(rule("levine").depth(1e8), 1)
    24.1
    """
    return next(r for r in rules() if r.key == key)


@cache
def mup_held() -> Rule:
    """muP's rule with a constant d / L beyond the published sizes, for comparison."""
    points = best_ratios("CompleteP", NetKind("mup"))
    return replace(rule("mup"), key="mup-held", law=partial(_through, points))


@cache
def family(known_by: int | None = None) -> tuple[Rule, ...]:
    """Rules that nobody published, from which a recommendation may be chosen too: d / L = r, and
    d / L = r (N / 3e8)^s with the slope s of muP's best ratios (known since 2025), for r in half
    octaves from 8 to 256.
    """
    (small, start), *_, (large, end) = best_ratios("CompleteP", NetKind("mup"))
    slope = math.log(end / start) / math.log(large / small)

    def rule_at(kind: str, ratio: float, law: Callable[[float], float], **more: Any) -> Rule:
        steep = f" (N / 3e8)^{slope:.2f}" if kind == "slope" else ""
        formula = f"d / L = {ratio:.3g}{steep}"
        key, own = f"{kind}-{ratio:.3g}", "depthlaw, advisor/rules.py"
        return Rule(key, formula, formula, "default", law, own, "derived", 2026, None, **more)

    constant = [rule_at("ratio", r, _aspect(r)) for r in FAMILY]
    if known_by is not None and known_by < 2025:
        return tuple(constant)
    read: dict[str, Any]
    read = {"remark": "the slope is that of muP's best ratios", "read_off": "CompleteP"}
    sloped = partial(_sloped, slope=slope)
    return (*constant, *(rule_at("slope", r, partial(sloped, ratio=r), **read) for r in FAMILY))
