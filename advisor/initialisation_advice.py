"""Initial scales, branch multipliers and optimiser settings for a depth, by parametrisation and
norm: rows of advice.csv, by situation.

Each is one of several ways to make up for depth. They are alternatives: a net that divides its
branches by depth twice, say in the initialisation and by a multiplier, counts depth twice.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import laws
from .grids import STANDARD, NetKind

# Plain post-norm nets of more layers failed in translation.
_DEEPEST_PLAIN_POST = 12
# The name of advice that a first look must show.
_WARNING = "warning"
# Layers at which nanochat's weight decay is tuned.
_TUNED = 12


class Advice(NamedTuple):
    """One piece of advice, and whose it is."""

    what: str  # which setting
    says: str  # one sentence, with the number for this depth
    source: str
    wording: str  # printed, reported, recalled, derived
    claim: str  # of the ledger, about it; empty for none
    value: float | None = None  # that number, where there is one
    holds: str = ""  # under which conditions

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
    >>> advice(32, loops=4)[0].value
    0.00125
    >>> [a.what for a in advice(32, NetKind("completep"))][:2]
    ['branch multiplier', 'learning rate']
    """
    known = _numbers(layers, encoder_layers, loops)
    return tuple(
        Advice(
            row["what"],
            row["says"].format(**known),
            row["source"],
            row["wording"],
            row["claim"],
            known[row["value"]] if row["value"] else None,
            row["holds"].format(**known),
        )
        for situation in _situations(layers, key, encoder_layers, loops)
        for row in rows("advice")
        if row["situation"] == situation
    )


def snippet(
    layers: int,
    key: NetKind = STANDARD,
    *,
    loops: int = 1,
    encoder_layers: int = 0,
    experts: bool = False,
) -> str:
    """The advice for a depth as lines of Python for PyTorch, which stop before they set a weight
    where another number of matrices has the names than the layers ask for; empty where no scale is
    published.

    Args:
        layers, key, loops, encoder_layers: as in `advice`.
        experts: whether layers have experts, of which each has the matrices of an MLP.

    >>> snippet(32).splitlines()[-1].strip()
    'nn.init.normal_(weight, std=0.0025)'
    """
    table = json.loads(Path(__file__).with_name("snippets.json").read_text(encoding="utf-8"))
    # Experts and cross-attention have more matrices of a name.
    same = ">=" if experts or encoder_layers else "=="
    known = _numbers(layers, encoder_layers, loops) | {"encoder": encoder_layers}
    stored = layers // loops + encoder_layers
    situations = _situations(layers, key, encoder_layers, loops)
    lines: list[str] = next((table[name] for name in situations if name in table), [])
    return "\n".join(lines).format(**known, stored=stored, same=same)


@cache
def rows(table: str, known_by: int | None = None) -> tuple[dict[str, str], ...]:
    """The rows of a table as they stand there, perhaps without those of later years."""
    with Path(__file__).with_name(f"{table}.csv").open(encoding="utf-8", newline="") as file:
        every = tuple(csv.DictReader(file))
    return tuple(row for row in every if known_by is None or int(row["year"]) <= known_by)


def advised_claims() -> set[str]:
    """The keys of all claims that advice names."""
    return {row["claim"] for row in rows("advice") if row["claim"]}


def _numbers(layers: int, encoder_layers: int, loops: int) -> dict[str, float]:
    """What places of the tables stand for."""
    own = layers // loops
    if encoder_layers:
        alpha, beta, alpha_d, beta_d = laws.deepnorm_pair(encoder_layers, layers)
    else:
        alpha, beta = alpha_d, beta_d = laws.deepnorm_scales(own, loops)
    numbers = {"alpha": alpha, "beta": beta, "alpha_d": alpha_d, "beta_d": beta_d}
    numbers |= {"loops": loops, "own": own, "branches": 2 * own, "variance": 2 * own * loops**2}
    scale = laws.residual_scale(own, loops)
    numbers |= {"scale": scale, "deviation": 0.02 * scale, "last": layers**-0.5}
    return numbers | {"layers": layers, "decay": (_TUNED / layers) ** 2}


def _situations(layers: int, key: NetKind, encoder_layers: int, loops: int) -> list[str]:
    """The situations of advice.csv that a net is in, most important first."""
    post, situations = key.norm == "post", list[str]()
    if post:
        alone = "deepnorm in loops" if loops > 1 else "deepnorm"
        situations.append("deepnorm of two stacks" if encoder_layers else alone)
        situations += ["deep post-norm"] * (max(layers, encoder_layers) > _DEEPEST_PLAIN_POST)
    elif key.norm == "lns":
        situations.append("scaled norms")
    elif key.residual == "attnres":
        situations.append("attention residuals")
    elif key.parametrisation != "completep":
        # Passes share weights, so that the writes of one branch add up.
        situations.append("loops" if loops > 1 else "scaled branches")
    situations.append(key.parametrisation)
    situations += ["learning rate of loops"] * (loops > 1 and not post)
    situations += ["once"] * (key.residual == "plain")
    norm = "post-norm" if post else "pre-norm"
    return [*situations, norm, f"growing {norm}", "growth"]
