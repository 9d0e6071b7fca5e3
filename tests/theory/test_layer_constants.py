"""Layers at real shapes: float64 pairs against plain attention and against balls."""

import math

import flint
import numpy as np
import pytest
from flint import arb_mat

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Outside
from depthlaw.theory.rank_collapse import layer_constants as lc, softmax_attention as sa
from depthlaw.theory.rank_collapse.doubly_exponential import next_pair

N, D, H = 6, 8, 2
SMALL = Case(tokens=8, width=8, heads=2, std="1/10", replicas=3)


@pytest.fixture
def net():
    rng = np.random.default_rng(0)
    return lc.normal_weights(rng, D, H, 0.4), rng.normal(size=(N, D))


def plain(weights, X):
    total = 0
    for query, key, value, output in zip(*weights, strict=True):
        logits = X @ query @ (X @ key).T / math.sqrt(D // H)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        total = total + P / P.sum(axis=1, keepdims=True) @ X @ value @ output
    return total


def heads(weights):
    exact = ([arb_mat(matrix.tolist()) for matrix in part] for part in weights)
    return [
        sa.SoftmaxHead(query * key.transpose(), value * output, D // H)
        for query, key, value, output in zip(*exact, strict=True)
    ]


def test_a_layer_is_plain_attention(net):
    weights, X = net
    now = lc.advanced(weights, lc.state(X))
    again = now.mean + math.exp(now.log_size) * now.direction
    assert np.abs(again - plain(weights, X)).max() < 1e-13
    assert abs(sa.composite_norm(now.direction) - 1) < 1e-14
    assert np.abs(now.direction.sum(axis=0)).max() < 1e-14


def test_five_layers_agree_with_balls_beyond_the_range_of_floats(net):
    weights, X = net
    now = lc.state(0.1 * X)
    with flint.ctx.workprec(256):
        x = arb_mat([now.mean.tolist()])
        R = arb_mat(now.direction.tolist()) * flint.arb(now.log_size).exp()
        for _ in range(7):
            now = lc.advanced(weights, now)
            x, R = next_pair(x, R, heads(weights))
        log_size = float(sa.ball_composite_norm(R).log())
    assert log_size < -1000
    assert abs(now.log_size / log_size - 1) < 1e-12


def test_constants_are_norms_of_the_products(net):
    weights, X = net
    now = lc.state(0.3 * X)
    found = lc.constants(weights, now)
    with flint.ctx.workprec(128):
        R = arb_mat(now.direction.tolist()) * flint.arb(now.log_size).exp()
        columns = rows = beta = gamma = 0
        for head in heads(weights):
            one, infinity = (float(g) for g in head.gammas(R))
            qk = float(sa.ball_norms(head.qk)[0])
            a, b = (float(norm) for norm in sa.ball_norms(head.value))
            columns, rows = columns + one * qk * a, rows + infinity * qk * b
            beta, gamma = max(beta, qk * math.sqrt(a * b)), max(gamma, math.sqrt(one * infinity))
    root = math.sqrt(D // H)
    assert found.repaired == pytest.approx(math.sqrt(columns * rows) / root, rel=1e-12)
    assert found.uniform == pytest.approx(gamma * beta * H / root, rel=1e-12)
    assert found.gamma == pytest.approx(gamma, rel=1e-12)
    after = lc.state(plain(weights, 0.3 * X))
    assert found.coefficient == pytest.approx(math.exp(after.log_size - 3 * now.log_size), rel=1e-9)


def test_logits_that_range_too_far_are_out_of_scope():
    wide = Case(**SMALL.fields() | {"std": "2"}, layer=0)
    assert isinstance(lc.layer_constant.measure(wide), Outside)
    near = Case(**SMALL.fields(), layer=1, bound="repaired")
    assert not isinstance(lc.layer_constant.measure(near), Outside)
