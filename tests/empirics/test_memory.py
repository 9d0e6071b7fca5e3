"""What is measured of the amnesia bound agrees with loops over tokens, and keeps the bound."""

from itertools import combinations

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.rank_collapse.memory import forgetting_ratios

SHARED, TOKENS = 3, 7


def pairs(**options):
    rng = np.random.default_rng(5)
    shape = NetShape(width=6, depth=3, positions="learned", length=TOKENS, vocabulary=5, **options)
    net = Net(shape, rng=rng, replicas=2, std=0.3)
    first = torch.from_numpy(rng.integers(0, 5, (1, 40, TOKENS)))
    second = torch.from_numpy(rng.integers(0, 5, (1, 40, TOKENS)))
    second[..., :SHARED] = first[..., :SHARED]
    return net, first, second


def by_loops(net, first, second):
    """The distance of the last states of every pair, and the sum of both diameters, each
    (layers + 1, nets, pairs)."""
    with torch.no_grad():
        one, other = (
            np.stack([h.numpy() for h in net.double().hidden_states(ids)])
            for ids in (first, second)
        )
    gaps, diameters = np.empty(one.shape[:3]), np.empty(one.shape[:3])
    for place in np.ndindex(gaps.shape):
        gaps[place] = abs(one[place][-1] - other[place][-1]).max()
        diameters[place] = sum(
            max(abs(p - q).max() for p, q in combinations(each[place][SHARED - 1 :], 2))
            for each in (one, other)
        )
    return gaps, diameters


def test_ratios_agree_with_loops_and_keep_the_bound():
    net, first, second = pairs(causal=True, norm="pre", mlp=8)
    gaps, diameters = by_loops(net, first, second)
    each = gaps / diameters
    assert forgetting_ratios(net, first, second, SHARED) == pytest.approx(each.mean(-1))
    assert 0.1 < each.max() <= 1


def test_without_a_mask_the_bound_may_break():
    """Attention without residual connections makes the tokens of an input alike, up to equal, and
    those of two inputs different: the distance is more than the diameters, which may be 0."""
    net, first, second = pairs(causal=False, residual=False)
    gaps, diameters = by_loops(net, first, second)
    assert (gaps > 2 * diameters).any()
