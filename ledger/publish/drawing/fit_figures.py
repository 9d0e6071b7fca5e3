"""Losses against depth at fixed budgets, and width against depth, as plain data for pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from depthlaw.advisor.base.quantities import size
from depthlaw.advisor.rules import rules
from depthlaw.empirics.depth_width.fits import Law, Optimum

from .panels import Panel, Series, SeriesKind

# Panels of budgets; more are passed over evenly.
_MOST = 5
# Rules that are drawn, as curves of d against L: of theory dashed, of practice in colours.
_THEORY, _PRACTICE = ("threshold", "knee", "levine"), ("nanochat", "marin", "mup")


def panels(optima: Sequence[Optimum], laws: Sequence[Law]) -> tuple[Panel, ...]:
    """A panel for each of at most five budgets (losses at its mean size with standard errors, the
    fitted curve, the interval of the best depth), then width against depth: best shapes, laws,
    rules."""
    count = min(len(optima), _MOST)
    places = sorted({round(k * (len(optima) - 1) / max(count - 1, 1)) for k in range(count)})
    return (*(_losses(optima[k]) for k in places), _shapes(optima, laws))


def _losses(best: Optimum) -> Panel:
    depths = tuple(layers for layers, _ in best.shapes)
    bars = not any(math.isnan(error) for error in best.spread)
    pairs = [*zip(best.losses, best.spread, strict=True)]
    low, high = (
        tuple(loss * math.exp(sign * error) for loss, error in pairs) if bars else None
        for sign in (-1, 1)
    )
    fine = tuple(np.geomspace(*best.fitted, 60).tolist())
    label = "trained, with standard errors" if bars else "trained"
    curves = [
        Series(label, depths, best.losses, low, high, "points"),
        Series("fitted", fine, tuple(map(best.curve, fine))),
    ]
    ends = (min(best.losses), max(best.losses))
    if best.depth is not None:
        curves.append(
            Series(f"best: {best.depth:.1f} layers", (best.depth,) * 2, ends, kind="reference")
        )
    if inside := [end for end in (best.low, best.high) if 0 < end < math.inf]:
        x = tuple(end for end in inside for _ in ends)
        y = (*ends, *ends[::-1])[: len(x)]
        curves.append(Series(f"interval of {1 - best.alpha:.0%}", x, y, kind="reference"))
    title = f"{size(best.parameters)} parameters, {size(best.tokens)} tokens"
    return Panel(title, "layers", "loss", tuple(curves), x_scale="log")


def _shapes(optima: Sequence[Optimum], laws: Sequence[Law]) -> Panel:
    curves = []
    if known := sorted((o for o in optima if o.depth is not None), key=lambda o: o.depth or 0):
        # At an equal budget a deeper net is narrower, so that the ends change places.
        ends = [
            (math.sqrt(o.volume_at(deep) / deep), math.sqrt(o.volume_at(few) / few))
            for o in known
            for few, deep in [(max(o.low, o.depths[0]), min(o.high, o.depths[-1]))]
        ]
        depths, widths = tuple(o.depth or 0.0 for o in known), tuple(o.width for o in known)
        label = "best shapes; intervals cut at trained depths"
        low, high = zip(*ends, strict=True)
        curves.append(Series(label, depths, widths, low, high, "points"))
    for law in laws:
        fine = tuple(np.geomspace(*law.depths, 40).tolist())
        curves.append(Series(f"fit: {law.formula}", fine, tuple(map(law.width, fine))))
    volumes = np.geomspace(min(o.volume for o in optima) / 2, max(o.volume for o in optima) * 2, 40)
    for rule in rules():
        if rule.key in _THEORY + _PRACTICE:
            depths = tuple(rule.depth(12 * volume) for volume in volumes)
            widths = tuple(map(math.sqrt, volumes / np.array(depths)))
            kind: SeriesKind = "reference" if rule.key in _THEORY else "line"
            curves.append(Series(rule.name, depths, widths, kind=kind))
    title = "Best shapes against laws and rules"
    return Panel(title, "layers", "width", tuple(curves), x_scale="log", y_scale="log")
