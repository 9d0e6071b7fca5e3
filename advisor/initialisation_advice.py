"""Initial scales, branch multipliers and optimiser settings for a depth, by parametrisation and
norm: rows of advice.csv, by situation.

Each is one of several ways to make up for depth. They are alternatives: a net that divides its
branches by depth twice, say in the initialisation and by a multiplier, counts depth twice.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import laws
from .grids import STANDARD, NetKind

# Plain post-norm nets of more layers failed in translation.
_DEEPEST_PLAIN_POST = 12
# The name of advice that a first look must show.
_WARNING = "warning"


class Advice(NamedTuple):
    """One piece of advice, and whose it is."""

    what: str  # which setting
    says: str  # one sentence, with the number for this depth
    source: str
    wording: str  # printed, reported, recalled, derived
    claim: str  # of the ledger, about it; empty for none

    @property
    def warns(self) -> bool:
        """Whether it says that the demanded net may not train as it is."""
        return self.what == _WARNING

    def __str__(self) -> str:
        claim = f"; claim {self.claim}" if self.claim else ""
        return f"{self.what}: {self.says} [{self.source}; {self.wording}{claim}]"


def advice(
    layers: int, key: NetKind = STANDARD, *, encoder_layers: int = 0, loops: int = 1
) -> tuple[Advice, ...]:
    """What to set for a net of this depth, most important first.

    Args:
        layers: that a token passes; of the decoder, where there are two stacks.
        key: parametrisation, norm and kind of residual connection.
        encoder_layers: of an encoder-decoder, else 0.
        loops: R, how often a token passes the same layers, of which there are layers / R.

    >>> print(advice(32)[0].says)
    output projections of a layer with standard deviation 0.02 / sqrt(2 L) = 0.0025
    >>> advice(32, loops=4)[0].says.partition("deviation ")[2]
    '0.02 / (R sqrt(2 L)) = 0.00125, R = 4, L = 8'
    >>> [a.what for a in advice(32, NetKind("completep"))][:2]
    ['branch multiplier', 'learning rate']
    """
    own = layers // loops
    if encoder_layers:
        alpha, beta, alpha_d, beta_d = laws.deepnorm_pair(encoder_layers, layers)
    else:
        alpha, beta = alpha_d, beta_d = laws.deepnorm_scales(layers)
    numbers = {"alpha": alpha, "beta": beta, "alpha_d": alpha_d, "beta_d": beta_d}
    numbers |= {"loops": loops, "own": own, "branches": 2 * own, "variance": 2 * own * loops**2}
    numbers |= {"deviation": 0.02 * laws.residual_scale(own, loops), "last": layers**-0.5}
    situations = []
    if key.norm == "post":
        situations.append("deepnorm of two stacks" if encoder_layers else "deepnorm")
        situations += ["deepnorm in loops"] * (loops > 1)
        situations += ["deep post-norm"] * (max(layers, encoder_layers) > _DEEPEST_PLAIN_POST)
    elif key.norm == "lns":
        situations.append("scaled norms")
    elif key.residual == "attnres":
        situations.append("attention residuals")
    elif key.parametrisation != "completep":
        # Passes share weights, so that the writes of one branch add up.
        situations.append("loops" if loops > 1 else "scaled branches")
    situations.append(key.parametrisation)
    situations += ["once"] * (key.residual == "plain")
    return tuple(
        each._replace(says=each.says.format(**numbers))
        for situation in situations
        for each in _rows().get(situation, ())
    )


@cache
def _rows() -> dict[str, list[Advice]]:
    """The advice for each situation, numbers still to be filled in."""
    by_situation: dict[str, list[Advice]] = {}
    with Path(__file__).with_name("advice.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            by_situation.setdefault(row.pop("situation"), []).append(Advice(**row))
    return by_situation
