"""Shapes of published models (models.csv), each with the source it was read in."""
from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Model(NamedTuple):
    """A published shape: `parameters` without embeddings; `status` says how it is known."""

    name: str
    family: str
    kind: str
    layers: int
    width: int
    heads: int
    parameters: int
    status: str
    source: str


@cache
def models() -> tuple[Model, ...]:
    """The rows of models.csv.

    >>> models()[0].name, models()[0].layers
    ('GPT-2 small', 12)
    """
    with (Path(__file__).parent / "models.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return tuple(
        Model(name, family, kind, int(layers), int(width), int(heads), int(size), status, source)
        for name, family, kind, layers, width, heads, size, status, source in rows)


def model(name: str) -> Model:
    """The published shape of that name.

    >>> model("GPT-3 175B").layers
    96
    """
    return next(m for m in models() if m.name == name)


def models_near(parameters: float, factor: float) -> list[Model]:
    """Dense decoders whose size lies within a factor of the budget, shallowest first; there may be
    none.

    >>> [m.layers for m in models_near(1.74e11, 1.1)]
    [80, 96, 96]
    """
    near = [m for m in models()
            if m.kind == "decoder" and parameters / factor <= m.parameters <= parameters * factor]
    return sorted(near, key=lambda m: (m.layers, m.parameters))
