"""The doubly exponential law: the pair (x, R) against plain attention, and its interval."""

import math

import flint
import numpy as np
import pytest
from flint import arb, arb_mat

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Outside
from depthlaw.theory.rank_collapse import doubly_exponential as de, softmax_attention as sa

CASE = Case(
    tokens=4, width=3, heads=2, residual="1/2", beta="1", qk_width=1, bias=1, depth=2, first=0
)


def drawn():
    """Tokens, the pair x and R of them, and a layer."""
    tokens, (layer, _) = sa.instance(CASE)
    R = sa.centred(tokens)
    return tokens, arb_mat([(tokens - R).tolist()[0]]), R, layer


@pytest.mark.parametrize("skip", [False, True])
def test_the_pair_is_plain_attention(skip):
    with flint.ctx.workprec(256):
        tokens, x, R, layer = drawn()
        plain = sa.attention(tokens, layer)
        after, moved = de.next_pair(x, R, layer, skip=skip)
        whole = arb_mat([after.tolist()[0]] * 4) + moved - (plain + tokens if skip else plain)
        assert sa.ball_norms(whole)[0] < 1e-60


def test_weights_are_a_mask_and_positions():
    with flint.ctx.workprec(256):
        tokens, x, R, layer = drawn()
        free = de.next_pair(x, R, layer)[1]
        ones = de.next_pair(x, R, layer, weights=arb_mat(4, 4, [1] * 16))[1]
        assert sa.ball_norms(free - ones)[0] < 1e-60
        # Causal, equal logits: averages of the tokens so far.
        none = sa.SoftmaxHead(0 * layer[0].qk, arb_mat(np.eye(3, dtype=int).tolist()))
        mask = arb_mat(np.tril(np.ones((4, 4), int)).tolist())
        after, moved = de.next_pair(x, R, [none], weights=mask)
        means = np.cumsum([[float(v) for v in row] for row in tokens.tolist()], axis=0)
        means /= np.arange(1, 5)[:, None]
        found = np.array([[float(v) for v in row] for row in moved.tolist()])
        assert np.abs(found + [float(v) for v in after.tolist()[0]] - means).max() < 1e-14


def test_two_tokens_follow_the_closed_form():
    """rho -> rho tanh(w rho^2), of which w rho^3 is left a thousand digits below 1."""
    x, R = arb_mat([[0]]), arb_mat([["1e-500"], ["-1e-500"]])
    head = sa.SoftmaxHead(arb_mat([[2]]), arb_mat([[1]]))
    for power in (1500, 4500):
        x, R = de.next_pair(x, R, [head])
        assert abs((R[0, 0].log() / arb(10).log()) + power) < 2


def test_every_net_of_exact_coefficient_lies_in_the_interval():
    """The recurrence itself, with coefficients at either end and alternating."""
    case = de.doubly_exponential_slope.grid["quick"][0]
    interval = de.doubly_exponential_slope.predict(case)
    least = math.log(1e6)
    for pattern in ([0.0], [least], [0.0, least], [least, 0.0, 0.0]):
        a = [math.log(100)]
        for layer in range(case.depth):
            a.append(3 * a[-1] + pattern[layer % len(pattern)])
        slope = np.polyfit(range(case.first, case.depth + 1), np.log(a[case.first :]), 1)[0]
        assert interval.low - 1e-12 < slope < interval.high + 1e-12


def test_a_coefficient_out_of_range_is_out_of_scope():
    case = Case(
        **de.doubly_exponential_slope.grid["quick"][1].fields() | {"coefficient_least": "1/10"}
    )
    assert isinstance(de.doubly_exponential_slope.measure(case), Outside)
