"""The matrix behind a net, schedules and decay; test_trainer holds AdamW against torch's."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.training.adamw import AdamW, decay_mask, flatten, schedule_factor

U = 2.0**-53


def test_moments_of_stopped_rows_are_forgotten():
    optimiser = AdamW(torch.ones(3, 2), torch.full((3,), 0.1))
    live = torch.ones(3, dtype=torch.bool)
    optimiser.update(torch.ones(3, 2), live, optimiser.scalars([1.0])[0])
    optimiser.clear(torch.tensor([False, True, True]))
    for moments in (optimiser.first, optimiser.second):
        assert moments[0].all()
        assert not moments[1:].any()


def test_schedules_start_and_end_where_they_should():
    for name in ("constant", "linear", "cosine"):
        factors = [schedule_factor(s, steps=30, warmup=5, schedule=name) for s in range(31)]
        assert factors[:6] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        assert min(factors[5:]) >= 0
        assert factors[30] == (1.0 if name == "constant" else 0.0)
    middle = schedule_factor(50, steps=100, schedule="cosine")
    assert abs(middle - 0.5) <= 4 * U
    assert schedule_factor(25, steps=100, schedule="cosine") == 0.5 * (1 + math.cos(math.pi / 4))


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
