"""The residual stream of looped nets, beside a net written with other operations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from depthlaw.theory.signal_propagation.looped_stream import stream_gain


@pytest.mark.parametrize("loops", [1, 3])
def test_the_gain_is_that_of_the_net_layer_by_layer(loops: int) -> None:
    width, own_layers, scale, tokens = 4, 2, 0.3, 3
    rng = np.random.default_rng(5)
    weights = [
        (rng.normal(0, width**-0.5, (width, 16)), rng.normal(0, 8**-0.5, (16, width)))
        for _ in range(4)
    ]
    gains = []
    for token in rng.normal(size=(tokens, width)):
        x = token / math.sqrt(token @ token / width)
        for first, second in weights * loops:
            scores = np.einsum("i,ij->j", x, first) / math.sqrt(x @ x / width)
            x = x + scale * np.einsum("j,ji->i", np.where(scores > 0, scores, 0), second)
        gains.append(x @ x / width - 1)
    measured = stream_gain(np.random.default_rng(5), width, own_layers, loops, scale, tokens)
    assert measured == pytest.approx(math.fsum(gains) / tokens, rel=1e-9)


def test_nothing_is_gained_without_writes() -> None:
    assert stream_gain(np.random.default_rng(0), 8, 2, 3, 0.0, 2) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("power", "bounded"), [(1.0, True), (0.8, False), (0.5, False)])
def test_only_the_scale_of_the_claim_keeps_the_gain_within_its_bounds(
    power: float, bounded: bool
) -> None:
    """1/(R^power sqrt(2 L)): below power 1 the gain grows with the loops, and leaves the bounds."""
    own_layers, loops = 2, 8
    scale = 1 / (loops**power * math.sqrt(2 * own_layers))
    gains = [
        stream_gain(np.random.default_rng(seed), 64, own_layers, loops, scale, 8)
        for seed in range(8)
    ]
    assert (0.75 < float(np.mean(gains)) < 1.25) == bounded
