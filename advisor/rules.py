"""Every published rule that gives a depth for a budget: what it claims to be, where it was
measured, whose it is.

A floor, an optimum, a default, a maximum and a depth within some percent of the best are five
different things. No rule is an average of others.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import median
from typing import Literal

from . import laws
from .grids import STANDARD, NetKind, best_ratios, grids, least_ratio
from .models import models_near

Meaning = Literal[
    "floor",
    "knee",
    "optimum",
    "default",
    "maximum",
    "within 1 %",
    "within 3 %",
    "measured",
    "built",
]
# What may be recommended: no bound; and neither the best of the trained shapes nor what is built,
# which do not grow with the budget and restate the nets that grids are about.
_CHOICES = ("optimum", "default")
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
    def recommends(self) -> bool:
        """Whether it names a depth to build: not a bound, and not what others built."""
        return self.meaning in _CHOICES


def _aspect(ratio: float) -> Callable[[float], float]:
    return partial(_at_ratio, ratio)


def _at_ratio(ratio: float, size: float) -> float:
    return laws.aspect_depth(size, ratio)


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
    """(12 L d^2, d / L) of the best Gemstones nets after cooling down, one for each size class."""
    return tuple(
        sorted(
            (12 * grid.volume, (grid.best.width or 0) / grid.best.layers)
            for grid in grids()
            if grid.source == "Gemstones" and grid.cooled
        )
    )


@cache
def rules(known_by: int | None = None) -> tuple[Rule, ...]:
    """All rules, oldest first; with a year, those known by then.

    >>> [r.key for r in rules(known_by=2022)]
    ['threshold', 'levine', 'kaplan']
    """
    mup, attention = NetKind("mup"), NetKind(residual="attnres")
    residuals = partial(best_ratios, "Attention Residuals")
    cells = gemstones_ratios()
    published = [
        Rule(
            "threshold",
            "threshold L >= log_3(d)",
            "12 L 9^L = N",
            "floor",
            laws.threshold_depth,
            "levine2020, arXiv:2006.12467v1, abstract; inverted here",
            "printed; theorems recalled",
            2020,
            None,
            claim="depth_choice/threshold_budget",
            remark="theory without softmax, feed-forward layers and residuals; it does not bind "
            "real nets above 1e8 parameters",
        ),
        Rule(
            "levine",
            "Levine's fit",
            "ln d = 5.039 + 0.0555 L",
            "optimum",
            laws.transition_depth,
            "bigscience, math/README.md, after levine2020, arXiv:2006.12467v3",
            "reported; errors recalled",
            2020,
            _levine_domain(),
            claim="depth_choice/levine_fit_depth",
            remark="the depth up to which deeper nets of equal size won; fitted on 6 to 48 "
            "layers, up to about 6e8 parameters (recalled)",
            error=laws.transition_depth_error,
        ),
        Rule(
            "kaplan",
            "Kaplan's flatness",
            "d / L = 4288 / 6",
            "within 3 %",
            _aspect(4288 / 6),
            "kaplan2020, arXiv:2001.08361, Figure 5",
            "printed",
            2020,
            (1.3e9, 1.5e9),
            remark="6 x 4288 within 3 % of the loss of 48 x 1600: a least depth, not an optimum; "
            "the losses are not tabulated",
        ),
        Rule(
            "attnres",
            "d / L = 45, best with attention residuals",
            "d / L = 45",
            "optimum",
            partial(_through, residuals(attention)),
            "arXiv:2603.15031, 25 shapes at 6.5e19 FLOPs",
            "printed",
            2026,
            (2.3e8, 2.3e8),
            attention,
            remark="a mixture of experts of 2.3e8 active parameters",
            read_off="Attention Residuals",
        ),
        Rule(
            "prenorm",
            "d / L = 60, best without attention residuals",
            "d / L = 60",
            "optimum",
            partial(_through, residuals(STANDARD)),
            "arXiv:2603.15031, 25 shapes at 6.5e19 FLOPs",
            "printed",
            2026,
            (2.3e8, 2.3e8),
            remark="a mixture of experts of 2.3e8 active parameters",
            read_off="Attention Residuals",
        ),
        Rule(
            "mup",
            "muP's best d / L",
            "40, 50, 62 at 50M, 300M, 1.5B parameters, and so on",
            "optimum",
            partial(_through, best_ratios("CompleteP", mup), goes_on=True),
            "dey2025, arXiv:2505.01618",
            "reported",
            2025,
            (5e7, 1.5e9),
            mup,
            remark="read in a summary: check against the paper; beyond these sizes d / L is made "
            "to grow on at the same rate",
            read_off="CompleteP",
        ),
        *(
            Rule(
                f"{key.parametrisation}-least",
                f"{name}, least d / L within 1 %",
                f"d / L = {least}",
                "within 1 %",
                _aspect(least),
                "dey2025, arXiv:2505.01618",
                "reported",
                2025,
                (1.5e9, 1.5e9),
                key,
                remark="the narrowest shape whose loss is within 1 % of the best, not an optimum",
                read_off="CompleteP",
            )
            for name, key in (("muP", mup), ("CompleteP", NetKind("completep")))
            if (least := least_ratio(key))
        ),
        Rule(
            "nanochat",
            "nanochat",
            "d = 64 L",
            "default",
            _aspect(64),
            "nanochat, commit 92d63d4, scripts/base_train.py",
            "printed",
            2025,
            (12 * 12 * 768**2, 12 * 26 * 1664**2),
            remark="a default tuned at 12 layers",
            read_off="nanochat",
        ),
        Rule(
            "marin",
            "Marin",
            "L = d / (55 + 4 log_2 d)",
            "default",
            laws.marin_depth,
            "marin-community/marin, experiments/grug/moe",
            "printed",
            2026,
            (12 * 6 * 512**2, 12 * 21 * 2048**2),
            remark="checked by its authors at one layer more and less, widths 512 and 768",
        ),
        Rule(
            "delusion",
            "Depth Delusion",
            "L <= 2.43 ln d",
            "maximum",
            lambda size: laws.logarithmic_depth(size, 2.43),
            "fahim2026, arXiv:2601.20994v1, as restated on themoonlight.io",
            "reported",
            2026,
            (17e6, 7e9),
            claim="evidence/critical_depth_exponent",
            remark="one seed and one learning rate for all shapes, which may favour shallow nets; "
            "its own best net of 7B, 32 x 4096, is deeper than 2.43 ln 4096 = 20",
            read_off="Depth Delusion",
        ),
        Rule(
            "gemstones",
            "best Gemstones nets",
            "d / L of the best net of each size class",
            "measured",
            partial(_through, cells),
            "mcleish2025, arXiv:2502.06857, released losses",
            "derived",
            2025,
            (cells[0][0], cells[-1][0]),
            claim="evidence/best_depth",
            remark="3 or 4 shapes in a class, one run each",
            read_off="Gemstones",
        ),
        Rule(
            "knee",
            "knee of the dimension count",
            "3^L = 2 d^2 + 2 d + 1",
            "knee",
            laws.knee_depth,
            "depthlaw, docs/separation-rank-dimension-count.md",
            "derived",
            2026,
            None,
            claim="separation_rank/knee",
            remark="up to it depth raises a bound on expressivity doubly exponentially; whether a "
            "task needs that is another question",
        ),
        Rule(
            "built",
            "what is built",
            "median d / L of real models near the size",
            "built",
            _built,
            "depthlaw, advisor/models.csv",
            "derived",
            2026,
            None,
            remark="chosen for speed and hardware too; shapes copy each other",
        ),
    ]
    return tuple(
        sorted(
            (r for r in published if known_by is None or r.year <= known_by), key=lambda r: r.year
        )
    )


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

    def sloped(ratio: float) -> Callable[[float], float]:
        return lambda size: laws.aspect_depth(size, ratio * (size / 3e8) ** slope)

    rule_at = partial(
        Rule,
        meaning="default",
        source="depthlaw, advisor/rules.py",
        wording="derived",
        year=2026,
        domain=None,
    )
    constant = (
        rule_at(f"ratio-{r:.3g}", f"d / L = {r:.3g}", f"d / L = {r:.3g}", law=_aspect(r))
        for r in FAMILY
    )
    if known_by is not None and known_by < 2025:
        return tuple(constant)
    return (
        *constant,
        *(
            rule_at(
                f"slope-{r:.3g}",
                f"d / L = {r:.3g} (N / 3e8)^{slope:.2f}",
                f"d / L = {r:.3g} (N / 3e8)^{slope:.2f}",
                law=sloped(r),
                remark="the slope is that of muP's best ratios",
                read_off="CompleteP",
            )
            for r in FAMILY
        ),
    )
