"""What a claim is: a statement with its source, what measures it, and how it is judged.

What a file of claims needs is here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .definition import Claim, Control, Source, claim
    from .symbols import quantity
    from .values import Ball, Case, Exact, Outside, Proportion, Sample, Step

__all__ = [
    "Ball",
    "Case",
    "Claim",
    "Control",
    "Exact",
    "Outside",
    "Proportion",
    "Sample",
    "Source",
    "Step",
    "claim",
    "quantity",
]

# Loaded when first asked for: records need the values, and no SymPy.
_HOMES = (
    dict.fromkeys(("Claim", "Control", "Source", "claim"), "definition")
    | dict.fromkeys(("Ball", "Case", "Exact", "Outside", "Proportion", "Sample", "Step"), "values")
    | {"quantity": "symbols"}
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
