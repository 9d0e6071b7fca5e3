"""Relative residuals of trained nets and of their attention alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.rank_collapse import trained
from depthlaw.theory.claims.definition import Case

SHAPE = NetShape(width=8, depth=3, heads=2, mlp=16, norm="pre", biases=True)
TINY = Case(task="connectivity", vertices=8, width=8, depth=2, steps=3, batch=4, replicas=2)


@pytest.fixture
def net():
    made = Net(SHAPE, replicas=2, rng=np.random.default_rng(0), std=0.3, dtype=torch.float64)
    with torch.no_grad():
        for number, parameter in enumerate(made.parameters()):
            parameter += 0.01 * number  # gains, shifts and biases that differ
    return made


def test_attention_alone_is_the_net_whose_skips_and_mlps_are_taken_out(net):
    hidden = torch.from_numpy(np.random.default_rng(1).normal(size=(2, 1, 5, 8)))
    found = trained.attention_alone(net).hidden_states(hidden)
    for layer in range(3):
        # What attention adds: the layer without MLP, minus what it was added to.
        single = Net(replace(SHAPE, mlp=0), replicas=2, dtype=torch.float64)
        for name, parameter in net.named_parameters():
            if not name.startswith("mlp"):
                owner, _, last = name.rpartition(".")
                setattr(single.get_submodule(owner), last, parameter)
        hidden = single.layer(layer, hidden) - hidden
        assert (found[layer + 1] - hidden).abs().max() < 1e-12


def test_relative_residuals_of_equal_tokens_are_the_floor(net):
    token = np.random.default_rng(2).normal(size=(1, 1, 1, 8))
    same = torch.from_numpy(np.repeat(token, 5, axis=2))
    assert (trained.relative_residuals(net, same) < 1e-13).all()
    apart = torch.from_numpy(np.random.default_rng(3).normal(size=(1, 4, 5, 8)))
    values = trained.relative_residuals(net, apart)
    assert values.shape == (4, 2)
    assert (values[0] > 0.1).all()


def test_nets_that_learn_start_where_the_others_stay():
    """At a rate of 0 nets stay as they are drawn, with the seeds of those that learn."""
    drawn, again = (trained._connectivity(TINY, False, "cpu", "")[0] for _ in range(2))
    longer, _ = trained._connectivity(Case(**TINY.fields() | {"steps": 9}), False, "cpu", "")
    learnt, inputs = trained._connectivity(TINY, True, "cpu", "")
    assert torch.equal(drawn.qkv[0], again.qkv[0])
    assert torch.equal(drawn.qkv[0], longer.qkv[0])
    assert not torch.equal(drawn.qkv[0], learnt.qkv[0])
    assert (drawn.qkv[0] - learnt.qkv[0]).abs().max() < 0.1
    assert inputs.shape[1] == trained.EXAMPLES


def test_all_layers_of_a_case_are_read_off_the_same_nets(monkeypatch):
    trained._curves.cache_clear()
    first = trained.curves(Case(**TINY.fields(), layer=1), False, "cpu", "")
    monkeypatch.setattr(trained, "_connectivity", None)
    assert trained.curves(Case(**TINY.fields(), layer=2), False, "cpu", "") is first
    assert first["full"].shape == first["pure"].shape == (3, 2)
    assert (first["pure"][1:] < first["full"][1:]).all()
