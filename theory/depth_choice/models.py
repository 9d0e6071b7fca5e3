"""Shapes of published models (models.csv), each with the source it was read in."""
from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Model(NamedTuple):
    """A published shape. `parameters` counts weight matrices without embeddings; `status` says how the row is known."""

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
    """The published shapes shipped with this package (models.csv).

    >>> models()[0].name, models()[0].layers
    ('GPT-2 small', 12)
    """
    with (Path(__file__).parent / "models.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Model(r["model"], r["family"], r["kind"], int(r["layers"]), int(r["width"]), int(r["heads"]),
                           int(r["params_nonembedding"]), r["status"], r["source"]) for r in csv.DictReader(file))


def models_near(parameters: float, factor: float = 2.0) -> list[Model]:
    """Dense decoders whose non-embedding count lies within a factor of the budget, shallowest first (may be empty).

    >>> [m.layers for m in models_near(1.74e11, 1.1)]
    [80, 96, 96]
    """
    if not 0 < parameters < float("inf") or factor < 1:
        raise ValueError(f"no models within a factor {factor} of {parameters} parameters; give a positive budget and a factor from 1")
    near = [m for m in models() if m.kind == "decoder" and parameters / factor <= m.parameters <= parameters * factor]
    return sorted(near, key=lambda m: (m.layers, m.parameters))


def model(name: str) -> Model:
    """The shipped shape of that name.

    >>> model("GPT-3 175B").layers
    96

    Raises:
        ValueError: when the table has no such model.
    """
    for row in models():
        if row.name == name:
            return row
    raise ValueError(f"models.csv has no model {name!r}; take a name from its first column")
