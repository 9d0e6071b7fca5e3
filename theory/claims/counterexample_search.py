"""Continuous families of instances in which `depthlaw falsify` looks for counterexamples.

An optimiser pushes the objective of a `Search`, a fast float estimate; the rigorous value at a
rational point alone can refute. The families of a claim are its field `search`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .values import Case, Measured

SearchPoint = tuple[Fraction, ...]


@dataclass(frozen=True)
class Search:
    """One case's instances, parametrised by `size` real numbers.

    Attributes:
        case: the case; its assumptions hold for every instance.
        size: how many real numbers fix an instance.
        objective: (vector) -> float estimate of the measured quantity; nan without an instance.
        measured: (rational point) -> the rigorous value there.
    """

    case: Case
    size: int
    objective: Callable[[np.ndarray], float]
    measured: Callable[[SearchPoint], Measured]
