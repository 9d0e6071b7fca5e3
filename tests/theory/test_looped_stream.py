"""The residual stream of looped nets, beside a net written with other operations."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from depthlaw.theory.signal_propagation.looped_limits import wide_square
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


@pytest.mark.parametrize("post", [False, True])
@pytest.mark.parametrize("loops", [1, 4])
def test_the_limit_is_that_of_wide_nets(loops: int, post: bool) -> None:
    """Nets of width 256, whose post-norm streams are divided by their length as they go."""
    own_layers, width, squares = 2, 256, []
    share = Fraction(1, 2 * own_layers * loops**2)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        weights = [
            (rng.normal(0, width**-0.5, (4 * width, width)), rng.normal(size=(width, 4 * width)))
            for _ in range(2 * own_layers)
        ]
        start = rng.normal(size=width)
        x = start = start * (width**0.5 / np.linalg.norm(start))
        for first, second in weights * loops:
            hidden = np.maximum(first @ (x * (width**0.5 / np.linalg.norm(x))), 0)
            x = x + math.sqrt(share / (2 * width)) * (second @ hidden)
            x = x * (width**0.5 / np.linalg.norm(x)) if post else x
        squares.append(1 / (start @ x / width) ** 2 if post else x @ x / width)
    with flint.ctx.workprec(64):
        limit = float(wide_square(own_layers, loops, share, post=post))
    assert float(np.median(squares)) == pytest.approx(limit, rel=0.1)
    assert loops > 1 or limit == pytest.approx((1 + 1 / 4) ** 4 if post else 2)
