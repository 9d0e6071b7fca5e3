"""What theorems say of a model of this size, beside what is measured of it.

A theorem may say nothing: its conditions are not met, or its bound is no better than what is true
of every model. Then the value stands with the reasons, as codes, and `vacuous` is true.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from depthlaw.theory.claims.definition import find
from depthlaw.theory.rank_collapse.softmax_perturbation import LARGEST_RANGE
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count, moments_degree

# What keeps a theorem from saying something here.
Reason = Literal[
    "skips",  # it is of layers without skip connections
    "class",  # it is of attention without softmax, MLP, norms and skips
    "logits",  # logits range over more than 1.256, or over what is not known
    "weights",  # norms of the weights that it needs are not known
    "trained",  # it is of weights at initialisation
    "scheme",  # it is not known how the weights were drawn, or where the norms stand
    "order",  # it is of causal models
    "counts",  # it counts, and does not say what each of those counted does
    "size",  # the bound is not below what holds for every model
    "unmeasured",  # it bounds what was not measured
]


class ModelFacts(NamedTuple):
    """What theorems ask of a model; None is not known.

    Attributes:
        skips, norm, attention, mlp: whether layers have skip connections; where the norm stands;
            "softmax" or "linear" attention; and whether there are MLPs.
        scaling: of weights that write to the stream at initialisation, "plain" or "divided", by
            sqrt(2 L), as in GPT-2.
        shared: all layers are one module.
        residual: composite norm of the embedded tokens less their mean.
        coefficient: 4 gamma beta H lambda / sqrt(d_qk), of all layers, and widest the range of
            logits, as in rank_collapse/layers_uniform.
        diameter: see `relative_diameter`.
    """

    depth: int
    width: int
    heads: int
    tokens: int
    vocabulary: int
    causal: bool
    skips: bool = True
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
        value, low, high: low and high where the theorem gives a range; None where there is none.
        unit: of the value.
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


def theory_beside(model: ModelFacts) -> tuple[TheoryValue, ...]:
    """Every theorem of the package on depth that an audit stands beside, at the size of a model.

    A ValueError for sizes below 1. Cost: milliseconds, and the import of the claims.
    """
    return tuple(_values(model))


def _values(m: ModelFacts) -> Iterator[TheoryValue]:
    def value(
        key: str,
        measure: str,
        number: float | None,
        unit: str,
        claim: str,
        reasons: dict[Reason, bool],
        ends: tuple[float, float] | tuple[None, None] = (None, None),
    ) -> TheoryValue:
        said = tuple(reason for reason, applies in reasons.items() if applies)
        source = str(find(claim).source)
        return TheoryValue(key, measure, number, *ends, unit, said, claim, source)

    end = None
    if m.coefficient and m.residual:
        third = 3.0**m.depth
        end = ((third - 1) / 2 * math.log(m.coefficient) + third * math.log(m.residual)) / _LN10
    yield value(
        "collapse",
        "residual",
        end,
        "log10 of the composite norm of the last residual, at most",
        "rank_collapse/layers_uniform",
        {
            "skips": m.skips,
            "weights": end is None,
            "logits": m.widest is None or m.widest > LARGEST_RANGE,
            "size": end is not None and end >= math.log10(m.residual or 1),
        },
    )
    yield value(
        "amnesia",
        "",
        None if m.diameter is None else 2 * m.diameter,
        "distance of two last states after a shared beginning, over the size of one, at most",
        "rank_collapse/causal_amnesia",
        {
            "order": not m.causal,
            "unmeasured": m.diameter is None,
            # Two states are never farther apart than both are long.
            "size": m.diameter is not None and m.diameter >= 1,
        },
    )
    exponent, claim = _growth(m)
    scheme = exponent is None or not m.skips
    reasons: dict[Reason, bool] = {"trained": m.trained, "scheme": scheme}
    unit = "power of the depth with which the size of the stream grows"
    yield value("growth", "growth", exponent, unit, claim, reasons)
    lengths = stats.binom(m.depth, m.heads / (m.heads + 1))
    yield value(
        "paths",
        "path_length",
        float(lengths.mean()),
        "mean number of heads on a path, and 95 % of all paths",
        "rank_collapse/path_count",
        {"counts": True, "class": m.mlp or not m.skips},
        (float(lengths.ppf(0.025)), float(lengths.ppf(0.975))),
    )
    softmax = m.attention != "linear" or m.mlp
    yield value(
        "degree",
        "",
        moments_degree(m.depth),
        "degree of the output in second moments of the tokens",
        "separation_rank/moments_degree",
        {"class": softmax or m.skips},
    )
    low, high = log3_dimension_count(m.width, m.depth)
    yield value(
        "dimension",
        "",
        high,
        "log3 of the separation rank between two halves of the tokens, at most",
        "separation_rank/dimension_count",
        # No function of half of the tokens has more values than there are such halves.
        {"class": softmax, "size": low >= m.tokens // 2 * math.log(m.vocabulary, 3)},
        (low, high),
    )
    yield value(
        "threshold",
        "",
        math.log(m.width, 3),
        "layers: log3 of the width",
        "depth_choice/threshold_budget",
        {"class": softmax or m.skips},
    )


_LN10 = math.log(10)


def _growth(m: ModelFacts) -> tuple[float | None, str]:
    """The power of the depth, and the claim: independent writes add in squares, and those of one
    module that runs again and again add up."""
    if m.norm == "post":
        return 0.0, "signal_propagation/post_ln_norm"
    if m.norm == "pre" and m.scaling is not None:
        if m.shared:
            power = {"plain": 1.0, "divided": 0.5}[m.scaling]
            return power, "signal_propagation/looped_stream"
        return {"plain": 0.5, "divided": 0.0}[m.scaling], "signal_propagation/norm_exponents"
    return None, "signal_propagation/norm_exponents"
