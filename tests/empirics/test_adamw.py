"""AdamW on rows against torch.optim.AdamW on each row alone, with the same gradients."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.training.adamw import (
    AdamW,
    decay_mask,
    flatten,
    gradient_scale,
    schedule_factor,
)

U = 2.0**-53
STEPS, ROWS, COLUMNS = 30, 4, 9
RATES = (0.0, 1e-3, 1e-2, 0.3)


def gradients():
    return torch.randn(
        STEPS, ROWS, COLUMNS, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    )


def start():
    return torch.randn(
        ROWS, COLUMNS, dtype=torch.float64, generator=torch.Generator().manual_seed(4)
    )


def by_torch(factors, *, betas=(0.9, 0.999), epsilon=1e-8, weight_decay=0.01):
    rows = [nn.Parameter(row.clone()) for row in start()]
    for r, row in enumerate(rows):
        optimiser = torch.optim.AdamW(
            [row], lr=RATES[r], betas=betas, eps=epsilon, weight_decay=weight_decay
        )
        for gradient, factor in zip(gradients(), factors, strict=True):
            optimiser.param_groups[0]["lr"] = RATES[r] * factor
            row.grad = gradient[r].clone()
            optimiser.step()
    return torch.stack([row.detach() for row in rows])


def by_rows(factors, live=None, **options):
    weights = start()
    optimiser = AdamW(weights, torch.tensor(RATES, dtype=torch.float64), **options)
    live = torch.ones(ROWS, dtype=torch.bool) if live is None else live
    for gradient, scalars in zip(gradients(), optimiser.scalars(factors), strict=True):
        optimiser.update(gradient, live, scalars)
    return weights


def bound(weights):
    # The moments are the same operations. The change and the shrunken weight each take fewer than 8
    # roundings that differ, of numbers no larger than the largest weight on the way, which is at
    # most the last or first one plus all changes (each below 4 rates).
    size = max(weights.abs().max().item(), start().abs().max().item()) + 4 * STEPS * max(RATES)
    return STEPS * 16 * U * size


SCHEDULES = {
    name: [schedule_factor(s, steps=STEPS, warmup=5, schedule=name) for s in range(STEPS)]
    for name in ("constant", "linear", "cosine")
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_each_row_moves_as_torch_moves_it_alone(schedule, weight_decay):
    expected = by_torch(SCHEDULES[schedule], weight_decay=weight_decay)
    assert (
        by_rows(SCHEDULES[schedule], weight_decay=weight_decay) - expected
    ).abs().max() <= bound(expected)


@pytest.mark.parametrize(
    "wrong",
    [{"betas": (0.9, 0.99)}, {"betas": (0.8, 0.999)}, {"epsilon": 1e-7}, {"weight_decay": 0.0101}],
)
def test_a_wrong_constant_is_noticed(wrong):
    expected = by_torch(SCHEDULES["linear"])
    assert (by_rows(SCHEDULES["linear"], **wrong) - expected).abs().max() > bound(expected)


def test_a_row_that_stopped_keeps_its_bits_and_the_others_theirs():
    live = torch.tensor([True, False, True, True])
    factors = SCHEDULES["constant"]
    found, undisturbed = by_rows(factors, live), by_rows(factors)
    assert torch.equal(found[1], start()[1])
    assert not torch.equal(undisturbed[1], start()[1])
    assert torch.equal(found[live], undisturbed[live])


def test_moments_of_stopped_rows_are_forgotten():
    optimiser = AdamW(start(), torch.tensor(RATES, dtype=torch.float64))
    optimiser.update(
        gradients()[0], torch.ones(ROWS, dtype=torch.bool), optimiser.scalars([1.0])[0]
    )
    kept = optimiser.first[0].clone()
    optimiser.clear(torch.tensor([False, True, True, True]))
    assert torch.equal(optimiser.first[0], kept)
    assert kept.abs().min() > 0
    assert not optimiser.first[1:].any()
    assert not optimiser.second[1:].any()


@pytest.mark.parametrize("clip", [0.5, 100.0])
def test_clipping_is_torchs_per_replica(clip):
    gradient = gradients()[0]
    norm, scale = gradient_scale(gradient, clip)
    for r in range(ROWS):
        p = nn.Parameter(torch.zeros(COLUMNS, dtype=torch.float64))
        p.grad = gradient[r].clone()
        expected = nn.utils.clip_grad_norm_([p], clip)
        assert abs(norm[r] - expected) <= 2 * COLUMNS * U * expected
        assert (gradient[r] * scale[r] - p.grad).abs().max() <= 4 * COLUMNS * U * expected
    assert bool((scale < 1).all()) == (clip == 0.5)


def test_schedules_start_and_end_where_they_should():
    for name, factors in SCHEDULES.items():
        assert factors[:6] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        assert min(factors[5:]) >= 0
        assert schedule_factor(STEPS, steps=STEPS, warmup=5, schedule=name) == (
            1.0 if name == "constant" else 0.0
        )
    middle = schedule_factor(50, steps=100, schedule="cosine")
    assert abs(middle - 0.5) <= 4 * U
    assert schedule_factor(25, steps=100, schedule="cosine") == 0.5 * (1 + math.cos(math.pi / 4))


def test_a_net_reads_and_writes_the_matrix():
    net = Net(
        NetShape(width=4, depth=2, mlp=8, norm="pre", biases=True, vocabulary=3, outputs=2),
        replicas=3,
        rng=np.random.default_rng(0),
    )
    before = [p.detach().clone() for p in net.parameters()]
    ids = torch.tensor([[[0, 1, 2, 1]]]).expand(3, -1, -1)
    with torch.no_grad():
        logits = net(ids)
        weights = flatten(net)
        assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
        again = net(ids)
        weights[1] += 1
        moved = net(ids)
    # The parameters are now strided, so that products may add in another order.
    assert (again - logits).abs().max() <= 2**-24 * 64 * logits.abs().max()
    assert torch.equal(moved[[0, 2]], again[[0, 2]])
    assert not torch.equal(moved[1], again[1])


def test_matrices_alone_decay_where_asked():
    net = Net(
        NetShape(width=4, depth=2, mlp=8, norm="pre", biases=True, features=1, outputs=1),
        replicas=2,
        rng=np.random.default_rng(0),
    )
    mask, start = decay_mask(net, "matrices"), 0
    assert decay_mask(net, "all") is None
    for name, p in net.named_parameters():
        columns, start = mask[start : start + p[0].numel()], start + p[0].numel()
        assert set(columns.tolist()) == {
            float(
                name.partition(".")[0]
                in ("qkv", "output", "mlp_in", "mlp_out", "read_in", "read_out")
            )
        }
    assert start == len(mask)


def test_decay_by_column():
    weights = torch.ones(1, 2, dtype=torch.float64)
    optimiser = AdamW(
        weights,
        torch.tensor([0.5]),
        weight_decay=0.5,
        decay=torch.tensor([1.0, 0.0], dtype=torch.float64),
    )
    optimiser.update(
        torch.zeros(1, 2, dtype=torch.float64), torch.tensor([True]), optimiser.scalars([1.0])[0]
    )
    assert weights.tolist() == [[0.75, 1.0]]


def test_parameters_without_replicas_are_refused():
    net = nn.Module()
    net.one, net.other = nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(3, 3))
    with pytest.raises(ValueError, match="as its first dimension"):
        flatten(net)
    with pytest.raises(ValueError, match="as its first dimension"):
        flatten(nn.Module())
