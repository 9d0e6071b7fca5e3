"""Tails of singular values against high precision and hand answers; ranks and widths of floors."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from depthlaw.theory.exact.singular_values import tails
from depthlaw.theory.separation_rank.error_floor import least_width, rank_bound
from depthlaw.theory.separation_rank.linear_attention import forward, random_net, random_tokens
from depthlaw.theory.separation_rank.value_rank import rank_mod


def test_known_singular_values():
    # Two orthogonal matrices of whole numbers around 8, 4, 2, 1: the product is 4 times unitary.
    h = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=object)
    found = tails(h @ np.diag([8, 4, 2, 1]).astype(object) @ h)
    for rank, left in enumerate((85, 21, 5, 1, 0)):
        ball = found.at(rank)
        assert ball.low**2 <= Fraction(left, 85) <= ball.high**2
        assert ball.high - ball.low < 1e-13


@pytest.mark.parametrize(("shape", "size"), [((7, 5), 9), ((4, 6), 10**30)])
def test_against_high_precision(shape, size):
    rng = np.random.default_rng(0)
    matrix = np.array([[int(x * size) for x in row] for row in rng.normal(size=shape)], object)
    with mpmath.workdps(60):
        values = sorted(
            mpmath.svd_r(mpmath.matrix(matrix.tolist()), compute_uv=False), reverse=True
        )
        total = sum(v**2 for v in values)
        exact = [
            mpmath.sqrt(sum((v**2 for v in values[r:]), mpmath.mpf(0)) / total)
            for r in range(len(values) + 1)
        ]
    found = tails(matrix)
    assert len(found.balls) == min(shape) + 1
    assert all(
        mpmath.mpf(b.low.numerator) / b.low.denominator <= e + mpmath.mpf(10) ** -50
        and e <= mpmath.mpf(b.high.numerator) / b.high.denominator + mpmath.mpf(10) ** -50
        for b, e in zip(found.balls, exact, strict=True)
    )


def test_a_tail_below_the_resolution_has_low_end_0():
    rng = np.random.default_rng(0)
    matrix = (rng.integers(-9, 10, (9, 2)) @ rng.integers(-9, 10, (2, 9))).astype(object)
    assert tails(matrix).at(1).low > 0
    assert tails(matrix).at(2).low == 0 < tails(matrix).at(2).high < 1e-12


@pytest.mark.parametrize(
    ("matrix", "error"),
    [([[0, 0]], ValueError), (np.zeros((0, 3), dtype=object), ValueError), ([[1.5]], TypeError)],
)
def test_what_has_no_tails(matrix, error):
    with pytest.raises(error):
        tails(matrix)


def test_rank_bounds():
    assert [rank_bound(d, 1, 2, 64) for d in (1, 5, 64, 500)] == [2, 6, 65, 65]
    assert [rank_bound(d, 2, 1, 64) for d in (1, 2, 3)] == [5, 15, 35]
    assert [least_width(goal, 1) for goal in (18, 49, 110)] == [17, 48, 109]
    assert [least_width(3102, depth) for depth in (2, 3)] == [12, 3]
    with pytest.raises(ValueError, match="from 1 on"):
        rank_bound(0, 1, 2, 64)


@pytest.mark.parametrize("tokens", [1, 2])
def test_nets_that_read_ids_stay_within_the_bound(tokens):
    # Values by the recursion over tokens, for a net that is wider than its two ids.
    rng = np.random.default_rng(0)
    net = random_net(rng, width=3, depth=2, heads=1)
    table = random_tokens(rng, net, 2)
    sides = [np.stack(np.meshgrid(*[[0, 1]] * tokens), -1).reshape(-1, tokens)] * 2
    values = np.array([[int(forward(net, table[np.r_[a, b]])) for b in sides[1]] for a in sides[0]])
    assert rank_mod(values) <= min(2**tokens, rank_bound(3, 2, tokens, 2))
