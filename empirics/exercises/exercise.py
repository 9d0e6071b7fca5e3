"""What an exercise is: what the text predicts, which claims measure it, and how the answer is shown
as a table, a picture and a paragraph, all from what is recorded."""
from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from depthlaw.theory.claim import Case, Measured, Sample
from depthlaw.theory.symbols import quantity

from ..figures import Panel, Series, Table

__all__ = ["Exercise", "Found", "curve", "exercises", "half_width", "loss", "mean", "written"]

loss = quantity("loss", r"\ell", "validation loss of a language model in nats per token",
                "nonnegative real")

# By the name of a claim (the second part of its key): what is recorded of its cases. A case that
# is not recorded yet is missing.
Found = Mapping[str, Mapping[Case, Measured]]

# Of the intervals that tables and pictures show. Those of verdicts are wider: see
# `judgement.FALSE_ALARM_BUDGET`.
LEVEL = 0.05


@dataclass(frozen=True)
class Exercise:
    """One exercise of the text. Its module names it EXERCISE, by which it is found.

    Attributes:
        number: in the text.
        name: on the command line.
        title: in one line.
        predicts: one paragraph: what the text says, and where.
        claims: keys of the claims that measure it.
        table, panels, says: what was found, as a table, as a picture, and in one paragraph.
        trains: which of the claims train one net for each case. They are measured before the
            others, which would wait for each other's nets.
    """

    number: int
    name: str
    title: str
    predicts: str
    claims: tuple[str, ...]
    table: Callable[[Found], Table]
    panels: Callable[[Found], tuple[Panel, ...]]
    says: Callable[[Found], str]
    trains: tuple[str, ...] = ()


@cache
def exercises() -> dict[str, Exercise]:
    """Every exercise by name, in the order of the text.

    >>> list(exercises())[:2]
    ['depth-ablation', 'initialisation']
    """
    package = __package__ or ""
    modules = (import_module(f"{package}.{each.name}")
               for each in pkgutil.iter_modules(import_module(package).__path__))
    found = [module.EXERCISE for module in modules if hasattr(module, "EXERCISE")]
    return {each.name: each for each in sorted(found, key=lambda each: each.number)}


def mean(value: Measured | None) -> float | None:
    """The mean of a sample; None where nothing is recorded."""
    return value.mean if isinstance(value, Sample) else None


def half_width(value: Measured | None) -> float | None:
    """Half the 95 % Student interval of a sample's mean; None where there is none.

    >>> round(half_width(Sample((1.0, 2.0, 3.0))), 3)
    2.484
    """
    if not isinstance(value, Sample):
        return None
    low, high = value.interval(LEVEL)
    return (high - low) / 2 if math.isfinite(high) else None


def written(value: Measured | None, digits: int = 3) -> str:
    """A sample's mean with its 95 % interval, as sentences write it.

    >>> written(Sample((1.0, 2.0, 3.0))), written(None)
    ('2.000 +- 2.484', 'not recorded')
    """
    if not isinstance(value, Sample):
        return "not recorded"
    half = half_width(value)
    return f"{value.mean:.{digits}f}" + ("" if half is None else f" +- {half:.{digits}f}")


def curve(label: str, points: Mapping[int, Measured | None], *,
          kind: str = "line") -> Series | None:
    """Means against whole numbers, with their 95 % intervals; None where nothing is recorded."""
    there = {x: value for x, value in sorted(points.items()) if isinstance(value, Sample)}
    if not there:
        return None
    halves = [half_width(value) or 0.0 for value in there.values()]
    means = [value.mean for value in there.values()]
    return Series(label, tuple(there), tuple(means),
                  tuple(m - half for m, half in zip(means, halves, strict=True)),
                  tuple(m + half for m, half in zip(means, halves, strict=True)),
                  "points" if kind == "points" else "line")
