"""Gradients by layer through real nets, against autograd on the whole net."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets.initialisations import initialised
from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.signal_propagation import profiles

KIND = {"norm": "pre", "activation": "relu", "positions": "learned", "causal": True}
SHAPE = NetShape(width=8, depth=3, heads=2, mlp=16, vocabulary=5, outputs=5, length=6, **KIND)


def drawn(shape, replicas=2, **more):
    net = Net(
        shape,
        replicas=replicas,
        rng=np.random.default_rng(1),
        dtype=torch.float64,
        std=initialised("lecun", shape)[1],
    )
    ids = torch.from_numpy(np.random.default_rng(2).integers(5, size=(replicas, 3, 6)))
    return net, ids


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_layer_by_layer_is_autograd_on_the_whole_net(norm, residual):
    net, ids = drawn(replace(SHAPE, norm=norm, residual=residual))
    loss = profiles.mean_cross_entropy(ids)
    found = profiles.net_gradients(net, ids, loss)
    states = net.hidden_states(ids)
    value = loss(net.read(states[-1]))
    whole = torch.autograd.grad(value.sum(), [*states, *net.mlp_out, *net.qkv])
    norms = np.stack([g.flatten(1).norm(dim=1).numpy() for g in whole], axis=1)
    np.testing.assert_allclose(found.hidden, norms[:, :4], rtol=1e-9)
    np.testing.assert_allclose(found.weights["mlp_out"], norms[:, 4:7], rtol=1e-9)
    np.testing.assert_allclose(found.weights["qkv"], norms[:, 7:], rtol=1e-9)
    np.testing.assert_allclose(
        found.loss,
        torch.nn.functional.cross_entropy(
            net(ids).flatten(1, 2).transpose(1, 2), ids.flatten(1), reduction="none"
        )
        .mean(1)
        .detach(),
    )
    total = sum(found.weights[name] ** 2 for name in found.weights)
    np.testing.assert_allclose(found.layers**2, total)


def test_only_the_last_layers_are_asked_for():
    net, ids = drawn(SHAPE)
    loss = profiles.mean_cross_entropy(ids)
    all_layers, last = (profiles.net_gradients(net, ids, loss, lowest=k) for k in (0, 2))
    assert np.isnan(last.weights["qkv"][:, :2]).all()
    assert np.isnan(last.hidden[:, :2]).all()
    np.testing.assert_array_equal(last.weights["qkv"][:, 2], all_layers.weights["qkv"][:, 2])


def test_the_linear_loss_is_about_the_last_position():
    output = torch.arange(12.0).view(1, 2, 3, 2)
    assert profiles.one_position(torch.ones(1, 2, 2))(output).tolist() == [4 + 5 + 10 + 11]


def test_a_dropped_layer_passes_its_input_and_loops_are_refused():
    net, ids = drawn(SHAPE)
    kept = np.array([[True, False, True], [True, True, True]])
    profiles.drop_layers(net, kept)
    states = net.hidden_states(ids)
    assert torch.equal(states[1][0], states[2][0])
    assert not torch.equal(states[1][1], states[2][1])
    with pytest.raises(ValueError, match="biases"):
        profiles.drop_layers(Net(replace(SHAPE, biases=True)), kept)
    with pytest.raises(ValueError, match="loops"):
        profiles.net_gradients(Net(replace(SHAPE, loops=2)), ids, profiles.mean_cross_entropy(ids))
