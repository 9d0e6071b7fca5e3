"""Nets of equal size and several depths: their widths, what an update costs, and the loss between
two numbers of updates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from depthlaw.advisor import laws
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.counting import flops


def width_of(parameters: float, depth: int, heads: int) -> int:
    """The width of a net of N = 12 L d^2 weights in its layers: the multiple of the number of heads
    that is nearest to sqrt(N / (12 L)).

    >>> [width_of(36_000, depth, heads=2) for depth in (1, 2, 3, 6, 12)]
    [54, 38, 32, 22, 16]
    """
    return max(1, round(laws.width_at(parameters, depth) / heads)) * heads


def weights_in_all(depth: int, width: int, vocabulary: int, length: int) -> int:
    """Weights of layers, embedding, learned positions and read-out; without biases and gains.

    >>> weights_in_all(1, 82, vocabulary=2000, length=64)
    413936
    """
    return 12 * depth * width**2 + (2 * vocabulary + length) * width


def times_smaller_in_all(parameters: int, shallow: int, deep: int) -> float:
    """How many times fewer weights the deeper of two nets has in all, to one decimal, where those
    of the layers are equal: two heads, 2,000 tokens, windows of 64.

    >>> times_smaller_in_all(82_000, 1, 12)
    2.3
    """
    one, other = (
        weights_in_all(depth, width_of(parameters, depth, heads=2), vocabulary=2000, length=64)
        for depth in (shallow, deep)
    )
    return round(one / other, 1)


def training_operations(depth: int, width: int, heads: int, vocabulary: int, length: int) -> int:
    """Floating-point operations of training per token, forward and backward.

    Six for each weight in the layers and in the read-out, and attention to the token itself and
    those before it; reading an embedding takes none. Counted by `advisor.counting.flops`.

    >>> training_operations(1, 2, 1, 5, 3) == 6 * (12 * 2**2 + 2 * 5) + 3 * 4 * 2 * 2
    True
    """
    net = Architecture(depth, width, heads, 4 * width, vocabulary, gated=False, context=length)
    return flops(net, length, causal=True).training


def interpolated(steps: Sequence[int], losses: Sequence[float], updates: float) -> float:
    """The loss after a number of updates between those at which it was measured: ln loss is taken
    as linear in ln updates between neighbours.

    Args:
        steps: where it was measured, ascending.
        losses: positive, one for each.
        updates: from the first to the last of the steps.

    Raises:
        ValueError: outside of the steps, where nothing was measured.

    >>> round(interpolated([10, 40], [8.0, 2.0], 20), 9)
    4.0
    """
    if not steps[0] <= updates <= steps[-1]:
        raise ValueError(
            f"{updates:g} updates: the loss was measured from {steps[0]} to {steps[-1]} updates"
        )
    place = next(k for k in range(len(steps)) if steps[k] >= updates)
    if steps[place] == updates:
        return losses[place]
    low, high = steps[place - 1], steps[place]
    share = math.log(updates / low) / math.log(high / low)
    return losses[place - 1] ** (1 - share) * losses[place] ** share
