"""Paths through heads and skips: sums by length against paths one by one, and the toy tasks."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull as Qhull

from depthlaw.empirics.nets.net import Factors, Net, NetShape
from depthlaw.empirics.rank_collapse.path_effects import order_statistic_guess
from depthlaw.empirics.rank_collapse.path_scores import Toy, path_scores
from depthlaw.empirics.rank_collapse.paths import (
    draw_paths,
    frozen,
    isolated,
    product_gaps,
    read_isolated,
)
from depthlaw.empirics.rank_collapse.toy_tasks import ConvexHull, Sorting, circle, on_hull
from depthlaw.empirics.training.evaluation import generator

# Rounding: a few hundred operations on numbers below 1e3, with room.
CLOSE = 1e-9


def made(seed=0, **changes):
    """A net with every parameter drawn, biases and gains too, and inputs for it."""
    shape = NetShape(**{"width": 6, "depth": 2, "heads": 2, "features": 2, "outputs": 3} | changes)
    net = Net(shape, replicas=2, rng=np.random.default_rng(seed), std=0.6, dtype=torch.float64)
    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=draws, dtype=torch.float64)
    return net, torch.randn(2, 3, 4, 2, generator=draws, dtype=torch.float64)


SHAPES = [
    *({"norm": norm, "residual": False} for norm in ("none", "pre")),
    *({"norm": norm, "biases": True, "residual": True} for norm in ("none", "pre", "post")),
    {"loops": 2, "norm": "post"},
    {"causal": True},
    {"scale": 0.1},
    {"norm": "pre", "biases": True, "factors": (Factors(0.5, 0.7, 1.3), Factors(0.9, 1.1, 0.8))},
    {"norm": "post", "biases": True, "factors": (Factors(branch=0.0), Factors())},
]


@pytest.mark.parametrize("changes", SHAPES, ids=str)
def test_sums_by_length_are_those_of_all_paths_and_add_up_to_the_net(changes):
    net, inputs = made(**changes)
    kept = frozen(net, inputs)
    parts, depth = kept.by_length(), len(kept.layers)
    with torch.no_grad():
        assert (kept.logits(parts.sum(dim=0)) - net(inputs)).abs().max() < CLOSE
    choices = range(3 if net.shape.residual else 2)
    paths = torch.tensor(list(itertools.product(choices, repeat=depth)))[:, None]
    each, lengths = kept.along(paths), (paths[:, 0] < 2).sum(dim=-1)
    constants = dataclasses.replace(kept, start=torch.zeros_like(kept.start)).by_length()
    for length in range(depth + 1):
        listed = each[lengths == length].sum(dim=0) + constants[length]
        assert (parts[length] - listed).abs().max() < CLOSE


def test_paths_run_alone_do_not_add_up_to_the_net():
    net, inputs = made(norm="none", residual=True)
    paths = torch.tensor(list(itertools.product(range(3), repeat=2)))[:, None]
    with torch.no_grad():
        final = net.hidden_states(inputs)[-1]
    apart = (isolated(net, inputs, paths).sum(dim=0) - final).abs().max() / final.abs().max()
    assert (frozen(net, inputs).along(paths).sum(dim=0) - final).abs().max() < CLOSE
    assert apart > 0.01


def test_a_path_run_alone_is_heads_and_normalisations_by_hand():
    net, inputs = made(norm="post", biases=True)
    with torch.no_grad():
        states = net.embed(inputs)[1]
        for layer, head in ((0, 1), (1, 0)):
            query, key, value = net.qkv[layer][1].chunk(3, dim=1)
            b_q, b_k, b_v = net.qkv_bias[layer][1, 0].chunk(3)
            own = slice(3 * head, 3 * head + 3)
            q, k, v = (
                (states @ w + b)[..., own] for w, b in ((query, b_q), (key, b_k), (value, b_v))
            )
            P = torch.softmax(q @ k.transpose(1, 2) / 3**0.5, dim=-1)
            states = P @ v @ net.output[layer][1][own] + net.output_bias[layer][1]
            states = torch.nn.functional.layer_norm(states, (6,), eps=1e-5)
        found = isolated(net, inputs, torch.tensor([[[1, 0]], [[2, 2]]]))
        assert (found[0, 1] - states).abs().max() < CLOSE
        assert bool((found[1] == net.embed(inputs)).all()), "a path of skips changes nothing"
        logits = torch.nn.functional.layer_norm(states, (6,), eps=1e-5) @ net.read_out[1]
        assert (read_isolated(net, found[:1])[1] - logits - net.read_out_bias[1]).abs().max() < (
            CLOSE
        )


def test_product_gaps_by_hand_and_by_paths():
    net, inputs = made(norm="none")
    paths = torch.tensor([[[2, 2]], [[0, 2]], [[1, 0]]])
    gaps, kept = product_gaps(net, inputs, paths), frozen(net, inputs)
    assert torch.allclose(gaps[0], torch.tensor(0.75).double().sqrt()), "the identity of 4 tokens"
    product = kept.layers[1].attention[:, :, 0] @ kept.layers[0].attention[:, :, 1]
    values = np.linalg.svd(product.numpy(), compute_uv=False)
    right = np.sqrt((values[..., 1:] ** 2).sum(-1) / (values**2).sum(-1))
    assert np.abs(gaps[2].numpy() - right).max() < CLOSE
    along = product_gaps(net, inputs, paths, recomputed=True)
    assert torch.allclose(along[1], gaps[1]), "the first head reads what the net reads"
    assert not torch.allclose(along[2], gaps[2])


@pytest.mark.parametrize(
    "ask",
    [frozen, lambda net, inputs: isolated(net, inputs, torch.zeros(1, 1, 2, dtype=torch.int64))],
)
@pytest.mark.parametrize("changes", [{"mlp": 4}, {"attention": "relu"}])
def test_nets_that_are_no_sum_over_paths_are_refused(ask, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        ask(*made(**changes))


def test_drawn_paths_have_their_length_and_use_every_layer_and_head():
    paths = draw_paths(generator("cpu", 0), length=2, depth=4, heads=3, count=200, replicas=2)
    assert paths.shape == (200, 2, 4)
    assert ((paths < 3).sum(dim=-1) == 2).all()
    assert all(set(paths[:, 1, layer].tolist()) == {0, 1, 2, 3} for layer in range(4))
    with pytest.raises(ValueError, match="accepted are 0 to depth=4"):
        draw_paths(generator("cpu", 0), length=5, depth=4, heads=3, count=1)


def test_hull_vertices_are_those_of_qhull():
    batch = ConvexHull(points=10).batch(generator("cpu", 1), 1, 100)
    drawn = torch.Generator().manual_seed(generator("cpu", 1).initial_seed())
    points = 10 * torch.rand(1, 100, 10, 2, generator=drawn, dtype=torch.float64)
    for some, labels in zip(points[0].numpy(), batch.targets[0], strict=True):
        assert set(np.flatnonzero(labels)) == set(Qhull(some).vertices)
    assert on_hull(torch.tensor([[0.0, 0], [1, 0], [0, 1]])).all(), "a triangle has no inside"


def test_sorting_sorts_and_the_guess_is_that_of_enumeration():
    batch = Sorting(symbols=4, letters=3).batch(generator("cpu", 2), 2, 50)
    for word, answer in zip(batch.inputs.flatten(0, 1), batch.targets.flatten(0, 1), strict=True):
        assert answer.tolist() == sorted(word.tolist())
    words = [sorted(word) for word in itertools.product(range(3), repeat=4)]
    best = sum(
        max([word[i] for word in words].count(letter) for letter in range(3)) for i in range(4)
    )
    assert order_statistic_guess(4, 3) == Fraction(best, 4 * len(words))


def test_the_circle_turns_by_one_step():
    pairs, following = circle(points=12, radius=2.0)
    turned = torch.view_as_complex(pairs) * np.exp(2j * np.pi / 12)
    assert (torch.view_as_complex(following) - turned).abs().max() < CLOSE
    assert (pairs.norm(dim=-1) - 2).abs().max() < CLOSE
    with pytest.raises(ValueError, match="even numbers"):
        circle(points=7)


def test_scores_agree_with_the_net_and_its_parts():
    small = Toy("sorting", 3, width=8, depth=2, heads=2, steps=200, replicas=3, letters=3)
    found = path_scores(small)
    assert found.alone.shape == found.within.shape == found.residual.shape == (3, 3)
    assert np.allclose(found.within[-1], found.whole), "all paths are the net"
    assert np.allclose(found.within[0], found.alone[0])
    assert np.allclose(found.share.sum(axis=0), 1)
    assert np.abs(found.guess - float(order_statistic_guess(3, 3))).max() < 0.1
    assert (found.whole > found.guess).all()
