"""The residual stream of a looped net at initialisation (Wang et al. 2026)."""

from __future__ import annotations

from functools import partial

import numpy as np
from sympy import Rational

from ..claims.definition import Case, Control, Sample, Source, claim
from ..claims.relations import between
from ..claims.symbols import quantity

gained = quantity(
    "stream_gain",
    r"\Delta v",
    "mean square of the residual stream after the last pass less that before the first, 1",
    "real",
)

# Of a hidden layer's inner width, in widths.
_INNER = 4


def stream_gain(
    rng: np.random.Generator, width: int, own_layers: int, loops: int, scale: float, tokens: int
) -> float:
    """What `loops` passes over `own_layers` layers add to the mean square of the stream.

    A layer has two branches, each x + scale W2 ReLU(W1 x/rms(x)) with Gaussian W1, W2 of variances
    1/width and 2/(4 width). Passes share the weights. Tokens are Gaussian, of mean square 1 each.

    Cost: 16 own_layers loops tokens width^2 products.
    """
    inner = _INNER * width
    branches = [
        (
            rng.normal(0, width**-0.5, (width, inner)),
            rng.normal(0, (2 / inner) ** 0.5, (inner, width)),
        )
        for _ in range(2 * own_layers)
    ]
    x = _normalised(rng.normal(size=(tokens, width)))
    for _ in range(loops):
        for first, second in branches:
            x = x + scale * np.maximum(_normalised(x) @ first, 0) @ second
    return float(np.square(x).mean()) - 1


def _normalised(x: np.ndarray) -> np.ndarray:
    return np.asarray(x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True)))


def _gains(case: Case, seed: int, scale: float) -> Sample:
    """One net each, of six digits: the rest depends on the order in which a machine adds."""
    rng = case.rng(seed)
    sizes = (case.width, case.own_layers, case.loops, scale, case.tokens)
    return Sample(tuple(float(f"{stream_gain(rng, *sizes):.6g}") for _ in range(case.replicas)))


_nets = partial(Case.grid, tokens=8, replicas=32)
_QUARTER = Rational(1, 4)


@claim(
    between(1 - _QUARTER, gained, 1 + _QUARTER),
    source=Source("depthlaw", "after wang2026loops, v1, abstract: 1/(N sqrt(L)) for N loops of L"),
    holds_for="typical",
    cases={
        "quick": _nets(width=64, own_layers=2, loops=(1, 2, 4, 8)),
        "theory": _nets(width=128, own_layers=8, loops=(1, 2, 4, 8)),
    },
    control=Control(
        _nets(width=64, own_layers=2, loops=2)[0],
        "scaled by 1/sqrt(2 R L), as if each pass had weights of its own: the gain is 1.9",
        measured=lambda case, seed: _gains(case, seed, (2 * case.own_layers * case.loops) ** -0.5),
    ),
    cited="How branches of a looped net are scaled at initialisation.",
    post_hoc="16 nets a case left two cases UNDECIDED, 32 do not; the control had 8 loops first.",
)
def looped_stream(case: Case, seed: int) -> Sample:
    r"""Looped branches scaled by $1/(R\sqrt{2L})$ gain about 1 in the stream.

    Of $R$ passes over $L$ layers of their own, with two pre-norm branches each, scaled by
    $1/(R\sqrt{2L})$, a net at initialisation typically adds between $3/4$ and $5/4$ to the mean
    square of its residual stream, 1 at the start, at every $R$ of the cases.

    Passes share weights, so the writes of one branch add up. $R$ writes of variance $s^2$ have at
    most variance $R^2 s^2$ (Cauchy and Schwarz), and nearly so much where the branch sees nearly
    the same input in each pass; writes of the $2L$ branches have weights of their own and hardly
    correlate. So the stream gains about $2 L R^2 s^2$: with $s = 1/(R\sqrt{2L})$ that is 1, with
    the $s = 1/\sqrt{2 R L}$ of as many layers with weights of their own it is $R$. The source
    prints $1/(N\sqrt L)$ for $N$ loops over $L$ residual blocks, of which a layer of a transformer
    has two; the quarter is ours. The branches are ReLU MLPs of inner width $4 d$ on normalised
    tokens, without attention; nothing is said about training. A trial with other nets, of widths
    128 and 384, had been looked at.
    """
    return _gains(case, seed, 1 / (case.loops * (2 * case.own_layers) ** 0.5))
