"""Counts against a plain loop over examples, and what fresh examples depend on."""
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from depthlaw.empirics.evaluation import DRAWN, Counts, correct, count, draw, evaluate, source
from depthlaw.empirics.tasks import Batch
from depthlaw.empirics.tasks.graphs import Connectivity

TASK = Connectivity(vertices=5)


class Guess(nn.Module):
    """Says that the pairs are connected whose rows have overlapping neighbourhoods, and replica 1 the opposite."""

    def __init__(self):
        super().__init__()
        self.sign = nn.Parameter(torch.tensor([1.0, -1.0]))
        self.modes = []

    def forward(self, inputs):
        self.modes.append(self.training)
        return (inputs @ inputs.mT - 0.5) * self.sign[:, None, None, None]


def test_counts_equal_a_plain_loop():
    graphs = DRAWN + 11
    net = Guess()
    counts = evaluate(net, TASK, seed=3, graphs=graphs)
    seeds = [source("test", 3, r) for r in range(2)]
    right, total, exact, examples, whole = {}, {}, {}, {}, {0: 0, 1: 0}
    for part, size in ((0, DRAWN), (1, 11)):
        batch = draw(TASK, seeds, size, "cpu", "test", part)
        answer = net(batch.inputs) > 0
        for r in range(2):
            for b in range(size):
                failed, seen = set(), set()
                for u in range(5):
                    for v in range(5):
                        if batch.scored[r, b, u, v]:
                            key = (r, int(batch.group[r, b, u, v]))
                            good = bool(answer[r, b, u, v] == batch.targets[r, b, u, v])
                            right[key], total[key] = right.get(key, 0) + good, total.get(key, 0) + 1
                            seen.add(key)
                            failed |= set() if good else {key}
                for key in seen:
                    examples[key], exact[key] = examples.get(key, 0) + 1, exact.get(key, 0) + (key not in failed)
                whole[r] += not failed
    assert counts.groups == tuple(sorted({g for _, g in total}))
    for i, group in enumerate(counts.groups):
        for r in range(2):
            found = counts.right[r, i], counts.total[r, i], counts.exact[r, i], counts.examples[r, i]
            assert found == tuple(d[r, group] for d in (right, total, exact, examples))
    assert counts.exact_whole.tolist() == [whole[0], whole[1]]
    assert counts.drawn.tolist() == [graphs, graphs]
    assert not any(net.modes[:2])
    assert net.training


def test_intervals_are_clopper_pearson_over_examples():
    counts = evaluate(Guess(), TASK, seed=3, graphs=40)
    for i, group in enumerate(counts.groups):
        k, n = int(counts.exact[0, i]), int(counts.examples[0, i])
        low, high = counts.interval(0, group, alpha=0.1)
        if 0 < k < n:
            # The defining equations: each tail has probability alpha/2 at its end; binom and betaincinv agree to about 1e-12.
            assert abs(stats.binom.sf(k - 1, n, low) - 0.05) <= 1e-9
            assert abs(stats.binom.cdf(k, n, high) - 0.05) <= 1e-9
        assert low <= k / n <= high
    low, high = counts.interval(1)
    assert low <= counts.exact_whole[1] / 40 <= high
    with pytest.raises(ValueError, match="the groups are"):
        counts.interval(0, 99)


def test_an_interval_over_pairs_would_be_too_narrow():
    counts = evaluate(Guess(), TASK, seed=3, graphs=40)
    assert (counts.examples < counts.total).all()


def test_no_example_gives_no_information():
    none = np.zeros((1, 1), dtype=np.int64)
    counts = Counts((0,), none, none, none, none, none[0], none[0])
    assert counts.interval(0) == (0.0, 1.0)
    assert np.isnan(counts.by_group()).all()


def test_accuracy_is_the_share_of_scored_targets():
    counts = evaluate(Guess(), TASK, seed=1, graphs=30)
    assert (counts.right[0] + counts.right[1] == counts.total[0]).sum() < len(counts.groups)  # other graphs for each replica
    assert counts.accuracy()[0] == counts.right[0].sum() / counts.total[0].sum()
    assert counts.by_group()[0, 0] == counts.right[0, 0] / counts.total[0, 0]


def test_what_a_replica_sees_depends_on_its_seed_alone():
    alone, beside = draw(TASK, [5], 6, "cpu", "training", 0), draw(TASK, [4, 5, 5], 6, "cpu", "training", 0)
    for name in ("inputs", "targets", "group", "learned"):
        assert torch.equal(getattr(alone, name)[0], getattr(beside, name)[1])
        assert torch.equal(getattr(alone, name)[0], getattr(beside, name)[2])
    assert not torch.equal(beside.inputs[0], beside.inputs[1])


def test_draws_of_other_names_and_numbers_are_unrelated():
    drawn = [draw(TASK, [5], 6, "cpu", *parts).inputs for parts in (("training", 0), ("training", 1), ("validation", 0), ("test", 0))]
    assert all(not torch.equal(a, b) for i, a in enumerate(drawn) for b in drawn[:i])


def test_nan_is_never_right():
    nan = torch.full((1, 1, 1, 2), float("nan"))
    assert not correct(nan, torch.tensor([[[[True, False]]]])).any()
    assert not correct(nan, torch.tensor([[[0]]])).any()
    assert correct(torch.tensor([[[[2.0, 1.0]]]]), torch.tensor([[[0]]])).all()


@dataclass(frozen=True)
class Late:
    """Groups that only later draws have."""

    name: str = "late"

    def batch(self, generator, replicas, size):
        ids = torch.zeros(replicas, size, 2, dtype=torch.int64)
        first = int(torch.randint(0, 5, (1,), generator=generator))
        group = torch.tensor([first, first + 2]).expand(ids.shape)
        return Batch(ids, ids, torch.ones_like(ids, dtype=torch.bool), group)


class Zero(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2, 1))

    def forward(self, inputs):
        return torch.stack([torch.ones(inputs.shape), torch.zeros(inputs.shape)], dim=-1)


def test_groups_of_different_draws_are_merged():
    counts = count(Zero(), Late(), [1, 2], 3 * DRAWN, "cpu", "test")
    assert counts.total.sum() == 2 * 2 * 3 * DRAWN
    assert (counts.right == counts.total).all()
    assert len(counts.groups) > 2
    assert counts.exact_whole.tolist() == [3 * DRAWN] * 2


def test_no_examples_are_refused():
    with pytest.raises(ValueError, match="at least 1 example"):
        evaluate(Guess(), TASK, seed=0, graphs=0)
