"""What theorems say of a model of this size, beside what is measured of it.

A theorem may say nothing: its conditions are not met, or its bound is no better than what is true
of every model. Then the value stands with the reasons, as codes, and `vacuous` is true.
"""

from __future__ import annotations

import contextlib
import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import special

from depthlaw.theory.claims.definition import find
from depthlaw.theory.rank_collapse.softmax_perturbation import LARGEST_RANGE
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count, moments_degree

from . import AuditError

if TYPE_CHECKING:
    from .documents import Documents
    from .layered import LayeredModel

# What keeps a theorem from saying something here.
Reason = Literal[
    "skips",  # it is of layers without skip connections, which this has, or may have
    "class",  # it is of attention without softmax, MLPs, and skip connections where it counts paths
    "logits",  # logits range over more than 1.256, or over what is not known
    "weights",  # norms of the weights that it needs are not known
    "trained",  # it is of weights at initialisation
    "scheme",  # it is not known how the weights were drawn, or where the norms stand
    "order",  # it is of causal models
    "counts",  # it counts, and does not say what each of those counted does
    "size",  # the bound is not below what holds for every model
    "unmeasured",  # it bounds what was not measured
]
Answer = tuple[str, float | None, tuple[float, float] | None, dict[Reason, bool]]


class ModelFacts(NamedTuple):
    """What theorems ask of a model; None is not known.

    Attributes:
        skips: whether layers have skip connections.
        norm: where the norm stands.
        attention: "softmax" or "linear".
        scaling: of weights that write to the stream at initialisation: "divided" by sqrt(2 L).
        shared: all layers are one module.
        residual: composite norm of the embedded tokens less their mean.
        coefficient: 4 gamma beta H lambda / sqrt(d_qk) of rank_collapse/layers_uniform.
        widest: the range of logits there.
        diameter: see `relative_diameter`.
    """

    depth: int
    width: int
    heads: int
    tokens: int
    vocabulary: int
    causal: bool
    skips: bool | None = None
    norm: Literal["pre", "post"] | None = None
    attention: str = "softmax"
    mlp: bool = True
    scaling: Literal["plain", "divided"] | None = None
    shared: bool = False
    trained: bool = True
    residual: float | None = None
    coefficient: float | None = None
    widest: float | None = None
    diameter: float | None = None


class TheoryValue(NamedTuple):
    """A number of a theorem.

    Attributes:
        key: "collapse", "amnesia", "growth", "paths", "degree", "dimension" or "threshold".
        measure: the key of `MEASURES` beside which it stands; "" for none.
        value, low, high: None where there is none; a range where the theorem gives one.
        reasons: why it says nothing here; empty where it does.
        claim, source: its key in this package, and where the theorem stands.
    """

    key: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    reasons: tuple[Reason, ...]
    claim: str
    source: str

    @property
    def vacuous(self) -> bool:
        """Whether the theorem says nothing of this model."""
        return bool(self.reasons)


def relative_diameter(states: np.ndarray, first: int) -> float:
    """How far apart the states from token `first` on are, over the size of the last one.

    states (documents, tokens, width); both in the maximum norm; the mean over documents. Cost: one
    look at each number.

    >>> relative_diameter(np.array([[[9.0, 9.0], [1.0, 4.0], [2.0, 4.0]]]), 1)
    0.25
    """
    spread = np.ptp(states[:, first:], axis=1).max(1)
    return float((spread / np.abs(states[:, -1]).max(1)).mean())


def facts_of(
    model: LayeredModel,
    documents: Documents,
    *,
    trained: bool = True,
    scaling: Literal["plain", "divided"] | None = None,
) -> ModelFacts:
    """What a model shows of itself on its first eight documents, and heads as its configuration
    says, 1 without.

    Where what attention and MLP add is found, and the next stream is its sum with the stream, the
    norm stands before them; where it is not the sum, behind. The diameter is that of the last
    states from the middle token on. Cost: two passes.
    """
    config, ids = getattr(model.net, "config", None), documents.ids[:8]
    names = ("num_attention_heads", "n_head", "n_heads")
    heads = next((found for name in names if (found := getattr(config, name, None))), 1)
    *_, before, last = model.states(ids)
    norm: Literal["pre", "post"] | None = None
    with contextlib.suppress(AuditError):
        *_, written = model.parts(ids)
        gap = (before + sum(written[part] for part in written if part != "stream") - last).abs()
        norm = "pre" if float(gap.max()) <= 1e-4 * float(last.abs().max()) else "post"
    return ModelFacts(
        model.depth,
        model.width,
        int(heads),
        documents.tokens,
        model.accepted,
        model.causal,
        norm=norm,
        skips=None if norm is None else True,
        shared=any(len(group) == model.depth for group in model.shared),
        trained=trained,
        scaling=scaling,
        diameter=relative_diameter(last.double().cpu().numpy(), documents.tokens // 2),
    )


def theory_beside(model: ModelFacts) -> tuple[TheoryValue, ...]:
    """Every theorem of the package on depth that an audit stands beside, at the size of a model.

    A ValueError for sizes below 1. Cost: milliseconds, and the import of the claims.
    """
    text = Path(__file__).with_suffix(".csv").read_text(encoding="utf-8")
    rows = {row["key"]: row for row in csv.DictReader(text.splitlines())}
    found = []
    for key, value, ends, broken in _answers(model):
        row, (low, high) = rows[key], ends or (None, None)
        reasons = tuple(reason for reason, applies in broken.items() if applies)
        claim, name = row["claim"], key.split()[0]
        told = (row["unit"], reasons, claim, str(find(claim).source))
        found.append(TheoryValue(name, row["measure"], value, low, high, *told))
    return tuple(found)


def _answers(m: ModelFacts) -> Iterator[Answer]:
    end = None
    if m.coefficient and m.residual:
        power = 3.0**m.depth
        end = (power - 1) / 2 * math.log10(m.coefficient) + power * math.log10(m.residual)
    # Of layers without skip connections is said what is known to have none.
    skips = m.skips is not False
    wide = m.widest is None or m.widest > LARGEST_RANGE
    no_better = end is not None and end >= math.log10(m.residual or 1)
    broken: dict[Reason, bool]
    broken = {"skips": skips, "weights": end is None, "logits": wide, "size": no_better}
    yield "collapse", end, None, broken
    twice = None if m.diameter is None else 2 * m.diameter
    # Two states are never farther apart than both are long.
    broken = {"order": not m.causal, "unmeasured": twice is None, "size": (twice or 0) >= 2}
    yield "amnesia", twice, None, broken
    key, growth = _growth(m)
    broken = {"trained": m.trained, "scheme": growth is None or not m.skips}
    yield key, growth, None, broken
    share = m.heads / (m.heads + 1)
    below = special.bdtr(np.arange(m.depth + 1), m.depth, share)
    most = (float(np.argmax(below >= 0.025)), float(np.argmax(below >= 0.975)))
    broken = {"counts": True, "class": m.mlp or not m.skips}
    yield "paths", m.depth * share, most, broken
    softmax = m.attention != "linear" or m.mlp
    broken = {"class": softmax or skips}
    yield "degree", moments_degree(m.depth), None, broken
    low, high = log3_dimension_count(m.width, m.depth)
    # No function of half of the tokens has more values than there are such halves.
    halves = m.tokens // 2 * math.log(m.vocabulary, 3)
    yield "dimension", high, (low, high), {"class": softmax, "size": low >= halves}
    yield "threshold", math.log(m.width, 3), None, broken


def _growth(m: ModelFacts) -> tuple[str, float | None]:
    """Independent writes add in squares; those of one module that runs again and again add up."""
    if m.norm == "post":
        return "growth post", 0.0
    if m.norm is None or m.scaling is None:
        return "growth", None
    if m.shared:
        return "growth shared", {"plain": 1.0, "divided": 0.5}[m.scaling]
    return "growth", {"plain": 0.5, "divided": 0.0}[m.scaling]
