"""Linearised attention: the batched exact routes against plain loops over scalars, and the degree
against known polynomials."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from depthlaw.theory.claims.values import Ball
from depthlaw.theory.separation_rank import linear_attention as la


def by_loops(net: la.LinearAttentionNet, tokens: np.ndarray, position: int, coordinate: int):
    """The layer written out, entry by entry, in Python integers."""

    def dot(a, b):
        return sum(int(u) * int(v) for u, v in zip(a, b, strict=True))

    y = [[int(v) for v in token] for token in tokens]
    for layer in range(net.depth):
        following = []
        for asking in y:
            update = list(asking) if net.residual else [0] * net.width
            for h in range(net.heads):
                q = [dot(row, asking) for row in net.query[layer, h]]
                for token in y:
                    score = dot(q, [dot(row, token) for row in net.key[layer, h]])
                    v = [score * dot(row, token) for row in net.value[layer, h]]
                    added = [dot(row, v) for row in net.output[layer, h]]
                    update = [u + x for u, x in zip(update, added, strict=True)]
            following.append(update)
        y = following
    return y[position][coordinate]


shapes = st.tuples(
    st.sampled_from([(1, 1), (2, 1), (2, 2), (3, 1), (4, 2)]),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)


@given(shapes, st.booleans())
def test_token_recursion_is_the_layer_written_out(shape, residual):
    (width, heads), depth, n, seed = shape
    rng = np.random.default_rng(seed)
    exact = la.random_net(rng, width=width, depth=depth, heads=heads, prime=None, residual=residual)
    tokens = la.random_tokens(rng, exact, 2, n)
    weights = exact.query, exact.key, exact.value, exact.output
    modular = la.LinearAttentionNet(
        *((w % la.PRIME).astype(np.int64) for w in weights), residual=residual
    )
    position, coordinate = n - 1, width - 1
    truth = [by_loops(exact, x, position, coordinate) for x in tokens]
    where = {"position": position, "coordinate": coordinate}
    assert la.forward(exact, tokens, **where).tolist() == truth
    residues = la.forward(modular, (tokens % la.PRIME).astype(np.int64), **where)
    assert residues.tolist() == [v % la.PRIME for v in truth]


@given(shapes)
def test_normal_form_is_the_token_recursion(shape):
    (width, heads), depth, n, seed = shape
    rng = np.random.default_rng(seed)
    for prime in (la.PRIME, None):
        net = la.random_net(rng, width=width, depth=depth, heads=heads, prime=prime)
        tokens = la.random_tokens(rng, net, 3, n)
        found = la.normal_form(net, la.moments(net, tokens), tokens[:, 0], coordinate=width - 1)
        assert found.tolist() == la.forward(net, tokens, coordinate=width - 1).tolist()


def test_largest_residues_do_not_overflow():
    shape = 3 * [(2, 1, 16, 16)] + [(2, 1, 16, 16)]
    net = la.LinearAttentionNet(*(np.full(s, la.PRIME - 1) for s in shape))
    minus_one = la.LinearAttentionNet(*(np.full(s, -1, dtype=object) for s in shape), prime=None)
    tokens = np.full((6, 16), la.PRIME - 1)
    expected = by_loops(minus_one, np.full((6, 16), -1, dtype=object), 0, 0) % la.PRIME
    assert int(la.forward(net, tokens)) == expected


def test_value_matrix_holds_the_forward_passes_whatever_the_piece(monkeypatch):
    rng = np.random.default_rng(0)
    net = la.random_net(rng, width=2, depth=2)
    left, right = la.random_tokens(rng, net, 3, 2), la.random_tokens(rng, net, 4, 1)
    values = la.value_matrix(net, left, right)
    assert values.tolist() == [
        [int(la.forward(net, np.concatenate([u, v]))) for v in right] for u in left
    ]
    monkeypatch.setattr(la, "_CHUNK", 1)
    assert la.value_matrix(net, left, right).tolist() == values.tolist()


ONE, TWO = np.array([1], dtype=object), np.array([2], dtype=object)


def test_degree_of_known_polynomials():
    assert la.measured_degree(lambda v: 7 * v[0] ** 5, TWO, ONE).value == 5
    assert la.measured_degree(lambda v: 0 * v[0] + 3, TWO, ONE).value == 0
    mixed = la.measured_degree(lambda v: v[0] ** 3 + v[0], TWO, ONE)
    assert isinstance(mixed, Ball)
    assert 2 < mixed.low <= mixed.high < 3


def test_degree_refuses_what_says_nothing():
    with pytest.raises(ArithmeticError, match="vanishes"):
        la.measured_degree(lambda v: v[0] - v[0], TWO, ONE)
    with pytest.raises(ArithmeticError, match="degree along a line is 3"):
        # f(2) = 4 f(1), yet no form of degree 2.
        la.measured_degree(lambda v: v[0] ** 3 + 2 * v[0], TWO, ONE)


def test_bad_input_is_refused():
    rng = np.random.default_rng(0)
    for width, depth, heads in ((0, 1, 1), (2, 0, 1), (4, 1, 3), (2, 1, 0)):
        with pytest.raises(ValueError, match="heads must divide width"):
            la.random_net(rng, width=width, depth=depth, heads=heads)
    with pytest.raises(ValueError, match="below 2\\^31"):
        la.random_net(rng, width=2, depth=1, prime=2**61 - 1)
    net = la.random_net(rng, width=2, depth=1)
    for tokens in (np.ones(2, dtype=int), np.ones((3, 4), dtype=int)):
        with pytest.raises(ValueError, match="reads"):
            la.forward(net, tokens)
    with pytest.raises(ValueError, match="overflow"):
        la.forward(net, np.ones((2**15, 2), dtype=int))
    with pytest.raises(ValueError, match="residual"):
        la.normal_form(replace(net, residual=True), np.eye(2, dtype=int), np.ones(2, dtype=int))
