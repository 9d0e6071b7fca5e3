"""Scaling rules on real nets: what optimiser steps move, ADMIN's factors, mean-field maps."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets.initialisations import initialised
from depthlaw.empirics.nets.net import Deviations, Factors, Net, NetShape, layer_norm
from depthlaw.empirics.signal_propagation import parametrisations, recursions
from depthlaw.empirics.signal_propagation.exponents import exponents, sample
from depthlaw.empirics.signal_propagation.parametrisations import RULES, ScalingRule, net_of
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge


def test_exponents_are_those_of_power_laws_net_by_net():
    sizes = (8, 16, 64)
    values = [[3 * size**-0.5, size, 5.0] for size in sizes]
    assert exponents(sizes, values) == pytest.approx([-0.5, 1, 0], abs=1e-12)
    assert sample([1 / 3]).values == (0.333333,)


def test_rules_agree_in_the_base_net_and_muP_shrinks_the_read_out():
    nets = {
        name: net_of(RULES[name], 32, 2, 1, np.random.default_rng(0))
        for name in ("standard", "mup", "completep")
    }
    for name in ("mup", "completep"):
        for mine, other in zip(nets["standard"].parameters(), nets[name].parameters(), strict=True):
            assert torch.equal(mine, other)
        assert nets[name].shape.scale == pytest.approx(8**-0.5)
    standard, mup = (
        net_of(RULES[name], 64, 2, 1, np.random.default_rng(0)) for name in ("standard", "mup")
    )
    assert torch.allclose(mup.read_out, standard.read_out * 0.5**0.5)
    assert mup.shape.scale == pytest.approx(0.5**0.5 * 16**-0.5)


def moved_by_one_step(rule, width, depth, moved="all"):
    rng = np.random.default_rng(1)
    batch = parametrisations.drawn_batch(1, rng)
    net = net_of(rule, width, depth, 1, rng, dtype=torch.float64)
    start = {name: p.detach().clone() for name, p in net.named_parameters()}
    parametrisations.changes(rule, net, batch, steps=1, moved=moved)
    return {
        name: float((p.detach() - start[name]).abs().max()) for name, p in net.named_parameters()
    }


def test_adams_first_step_has_the_rates_of_the_rule():
    # A first step has the size of the rate, where epsilon is small beside the gradient.
    steps = moved_by_one_step(ScalingRule(alpha=0.5, rate=-0.5), width=64, depth=8)
    for name, rate in (
        ("mlp_in.3", 1e-4 / 2 / 2),
        ("output_bias.0", 1e-4 / 2),
        ("read_out", 1e-4 / 2),
        ("embedding", 1e-4),
        ("final_gain", 1e-4),
    ):
        assert steps[name] == pytest.approx(rate, rel=0.02), name
    blocks = moved_by_one_step(RULES["mup"], width=32, depth=2, moved="blocks")
    assert blocks["embedding"] == blocks["read_out"] == 0 < blocks["qkv.1"]


def test_second_order_share_halves_with_the_step():
    shares = []
    for rate in (1e-4, 5e-5):
        rng = np.random.default_rng(3)
        batch = parametrisations.drawn_batch(1, rng)
        net = net_of(RULES["mup"], 32, 2, 1, rng, dtype=torch.float64)
        shares.append(parametrisations.second_order_share(RULES["mup"], net, batch, rate)[0])
    assert shares[0] / shares[1] == pytest.approx(2, rel=1e-3)


@torch.no_grad()
def test_admin_profiles_the_branches_of_a_post_ln_net():
    """Against the branches written out, for one replica."""
    shape, stds = initialised("lecun", NetShape(width=16, depth=2, mlp=24, norm="post"))
    x = torch.randn(1, 1, 5, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = parametrisations.admin_factors(shape, stds, x, np.random.default_rng(4))
    rng, hidden = np.random.default_rng(4), x
    written = float(x.square().mean())
    expected = []
    for _ in range(2):
        net = Net(replace(shape, depth=1), std=stds, rng=rng, dtype=torch.float64)
        query, key, value, output = (w[:, 0] for w in net.attention_weights(0))
        for place in ("attention", "mlp"):
            expected.append(written**0.5 if expected else 1.0)
            if place == "attention":
                scores = (hidden @ query) @ (hidden @ key).transpose(-1, -2) / 4
                added = scores.softmax(-1) @ hidden @ value @ output
            else:
                inner = torch.nn.functional.gelu(hidden @ net.mlp_in[0], approximate="tanh")
                added = inner @ net.mlp_out[0]
            written += float(added.square().mean())
            hidden = layer_norm(hidden + added, shape.epsilon)
    assert [f.skip for f in found] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="post"):
        parametrisations.admin_factors(
            replace(shape, norm="pre"), stds, x, np.random.default_rng(0)
        )


def test_branch_shares_of_a_net_without_branches_are_zero():
    shape = NetShape(
        width=8, depth=2, mlp=8, norm="pre", factors=(Factors(branch=0.0), Factors(skip=0.0)) * 2
    )
    shares = parametrisations.branch_shares(
        shape, Deviations.equal(0.3), torch.ones(1, 1, 3, 8).cumsum(-1), np.random.default_rng(0)
    )
    assert shares == pytest.approx([0, 1, 0, 1])


def test_tokens_start_with_the_stated_gram_matrix_and_spread_keeps_small_digits():
    x = torch.from_numpy(recursions.tokens_with(2, 5, 16, 1e-9, np.random.default_rng(0)))
    q, spread = recursions.spreads(x)
    assert q == pytest.approx([1, 1])
    assert spread == pytest.approx([1e-9, 1e-9], rel=1e-5)
    with pytest.raises(ValueError, match="fewer tokens"):
        recursions.tokens_with(1, 8, 8, 0.5, np.random.default_rng(0))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_nets_without_their_mlps_fail_where_mlp_weights_are_large(pre_norm):
    claim = recursions.mean_field_in_nets
    (case,) = (
        case
        for case in claim.cases("full")
        if "weight_square" in case and case.pre_norm == pre_norm
    )
    value = recursions.mapped_correlation(Case(**case.fields() | {"replicas": 32}), 0, mlp=0.0)
    assert judge(claim, case, value).verdict is Verdict.FAILS
