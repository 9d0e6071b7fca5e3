"""Nets against a plain loop over replicas and heads, and against exact integers."""
import math

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets import Net, attention_layer, layer_norm

U = 2.0**-53


def one_replica(X, query, key, value, output, *, softmax, causal):
    """Multi-head attention of one sequence, one head at a time, in NumPy."""
    total = np.zeros_like(X)
    for q, k, v, o in zip(query, key, value, output, strict=True):
        logits = (X @ q) @ (X @ k).T
        seen = np.tril(np.ones(logits.shape, dtype=bool)) if causal else np.ones(logits.shape, dtype=bool)
        if softmax:
            logits = np.where(seen, logits / math.sqrt(q.shape[1]), -np.inf)
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            weights = weights / weights.sum(axis=1, keepdims=True)
        else:
            weights = np.where(seen, logits, 0.0)
        total = total + weights @ X @ v @ o
    return total


def normalised(X):
    return (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.var(axis=1, keepdims=True) + 1e-12)


def loop(net, replica, X):
    for query, key, value, output in zip(net.query, net.key, net.value, net.output, strict=True):
        weights = [w[replica].detach().numpy() for w in (query, key, value, output)]
        Y = one_replica(normalised(X) if net.norm == "pre" else X, *weights, softmax=net.attention == "softmax", causal=net.causal)
        Y = Y + X if net.residual else Y
        X = normalised(Y) if net.norm == "post" else Y
    return X


@pytest.mark.parametrize("norm", ["none", "pre", "post"])
@pytest.mark.parametrize("attention", ["softmax", "linearised"])
@pytest.mark.parametrize(("residual", "causal"), [(False, False), (True, False), (True, True)])
def test_replicas_equal_a_plain_loop(norm, attention, residual, causal):
    rng = np.random.default_rng(5)
    net = Net(depth=2, width=6, heads=3, replicas=4, attention=attention, residual=residual, norm=norm, causal=causal, std=0.3, rng=rng)
    X = rng.normal(size=(4, 2, 5, 6))
    with torch.no_grad():
        found = net(torch.from_numpy(X)).numpy()
    expected = np.stack([[loop(net, r, X[r, b]) for b in range(2)] for r in range(4)])
    # Both sides make the same few hundred roundings in another order; layer normalisation of short rows may magnify them.
    assert np.abs(found - expected).max() <= 2**16 * U * np.abs(expected).max()


def exact_linearised(X, query, key, value, output):
    """Linearised attention of one sequence over Python's integers: sum over heads of (X Q)(X K)^T X V O."""
    def times(A, B):
        return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A]

    total = [[0] * len(X[0]) for _ in X]
    for q, k, v, o in zip(query, key, value, output, strict=True):
        logits = times(times(X, q), [list(c) for c in zip(*times(X, k), strict=True)])
        head = times(logits, times(times(X, v), o))
        total = [[a + b for a, b in zip(r, s, strict=True)] for r, s in zip(total, head, strict=True)]
    return total


def test_linearised_attention_of_integers_is_exact_in_float64():
    rng = np.random.default_rng(11)
    replicas, heads, width, head_width, tokens = 3, 2, 4, 2, 5
    X = rng.integers(-3, 4, (replicas, 1, tokens, width))
    query, key, value = (rng.integers(-3, 4, (replicas, heads, width, head_width)) for _ in range(3))
    output = rng.integers(-3, 4, (replicas, heads, head_width, width))
    found = attention_layer(*(torch.from_numpy(a).double() for a in (X, query, key, value, output)), attention="linearised")
    assert found.abs().max() < 2**53
    for r in range(replicas):
        assert found[r, 0].tolist() == exact_linearised(*(a.tolist() for a in (X[r, 0], query[r], key[r], value[r], output[r])))


def test_softmax_of_equal_tokens_returns_the_value():
    X = torch.ones(1, 1, 4, 1, dtype=torch.float64)
    one = torch.ones(1, 1, 1, 1, dtype=torch.float64)
    assert attention_layer(X, one, one, 3 * one, one).flatten().tolist() == [3.0] * 4


def test_a_causal_net_does_not_look_ahead():
    rng = np.random.default_rng(2)
    net = Net(depth=2, width=4, heads=2, causal=True, std=1.0, rng=rng)
    X = torch.from_numpy(rng.normal(size=(1, 1, 5, 4)))
    changed = X.clone()
    changed[..., 3:, :] += 1
    with torch.no_grad():
        before, after = net(X), net(changed)
    assert torch.equal(before[..., :3, :], after[..., :3, :])
    assert not torch.equal(before[..., 3:, :], after[..., 3:, :])


def test_hidden_states_dtype_and_gradients():
    net = Net(depth=3, width=4, heads=2, dtype=torch.float32, norm="pre", residual=True, rng=np.random.default_rng(0))
    states = net.hidden_states(torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(0)))
    assert [s.dtype for s in states] == [torch.float32] * 4
    assert torch.equal(states[-1], net(states[0]))
    states[-1].square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())


def test_the_same_generator_gives_the_same_net():
    first, second = (Net(depth=1, width=4, heads=1, rng=np.random.default_rng(9)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_layer_norm_has_mean_zero_and_unit_variance():
    out = layer_norm(torch.arange(8.0, dtype=torch.float64).reshape(1, 1, 2, 4))
    assert out.mean(-1).abs().max() <= 8 * U
    assert (out.var(-1, correction=0) - 1).abs().max() <= 1e-12  # epsilon over the variance 1.25


@pytest.mark.parametrize(("options", "message"), [
    ({"width": 5, "heads": 2}, "heads divide width"), ({"depth": 0}, "at least 1"), ({"norm": "middle"}, "none, pre or post"),
    ({"attention": "hard"}, "softmax or linearised")])
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Net(**{"depth": 1, "width": 4, "heads": 2, "rng": np.random.default_rng(0)} | options)


def test_bad_shapes_and_kinds_are_refused():
    X, w = torch.zeros(1, 1, 2, 3), torch.zeros(1, 1, 3, 3)
    with pytest.raises(ValueError, match="need shape"):
        attention_layer(X[0], w, w, w, w)
    with pytest.raises(ValueError, match="need shape"):
        attention_layer(X, w[..., :2, :], w, w, w)
    with pytest.raises(ValueError, match="unknown attention"):
        attention_layer(X, w, w, w, w, attention="hard")
