"""Shares of right answers against a plain loop over examples, and what fresh examples depend on."""

import pytest
import torch
from torch import nn

from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.training.evaluation import DRAWN, accuracies, correct, draw, spot_checks

TASK = Connectivity(vertices=5)


class Guess(nn.Module):
    """Says that the pairs are connected whose rows have overlapping neighbourhoods, and replica 1
    the opposite."""

    def __init__(self):
        super().__init__()
        self.sign = nn.Parameter(torch.tensor([1.0, -1.0]))
        self.modes = []

    def forward(self, inputs):
        self.modes.append(self.training)
        return (inputs @ inputs.mT - 0.5) * self.sign[:, None, None, None]


def test_shares_equal_a_plain_loop():
    net, seeds = Guess(), [5, 3]
    found = accuracies(net, TASK, seeds, DRAWN + 11, "cpu", "test")
    right, total = [0, 0], [0, 0]
    for part, size in ((0, DRAWN), (1, 11)):
        batch = draw(TASK, seeds, size, "cpu", "test", part)
        answer = net(batch.inputs) > 0
        for r, b, u, v in batch.scored.nonzero().tolist():
            right[r] += bool(answer[r, b, u, v] == batch.targets[r, b, u, v])
            total[r] += 1
    assert found.tolist() == [hits / of for hits, of in zip(right, total, strict=True)]
    assert not any(net.modes[:2])
    assert net.training


def test_what_a_replica_sees_depends_on_its_seed_alone():
    alone, beside = (
        draw(TASK, [5], 6, "cpu", "training", 0),
        draw(TASK, [4, 5, 5], 6, "cpu", "training", 0),
    )
    for name in ("inputs", "targets", "group", "learned"):
        assert torch.equal(getattr(alone, name)[0], getattr(beside, name)[1])
        assert torch.equal(getattr(alone, name)[0], getattr(beside, name)[2])
    assert not torch.equal(beside.inputs[0], beside.inputs[1])


def test_draws_of_other_names_and_numbers_are_unrelated():
    drawn = [
        draw(TASK, [5], 6, "cpu", *parts).inputs
        for parts in (("training", 0), ("training", 1), ("validation", 0), ("test", 0))
    ]
    assert all(not torch.equal(a, b) for i, a in enumerate(drawn) for b in drawn[:i])


def test_nan_is_never_right():
    nan = torch.full((1, 1, 1, 2), float("nan"))
    assert not correct(nan, torch.tensor([[[[True, False]]]])).any()
    assert not correct(nan, torch.tensor([[[0]]])).any()
    assert correct(torch.tensor([[[[2.0, 1.0]]]]), torch.tensor([[[0]]])).all()


def test_no_examples_are_refused():
    with pytest.raises(ValueError, match="at least 1 example"):
        spot_checks(Guess(), TASK, seed=0, graphs=0)
