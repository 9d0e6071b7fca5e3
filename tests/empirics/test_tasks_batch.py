"""What all tasks promise: shapes, ids in range, one seed one batch, fields that a record can hold,
and labels that another route confirms."""

import dataclasses
import json

import pytest
import torch
from task_labels import cross_check

from depthlaw.empirics.tasks import Batch
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.long_cycles import LongCycles
from depthlaw.empirics.tasks.sequences import HopK

TASKS = [
    Connectivity(vertices=7),
    Connectivity(vertices=9, family="paths", max_distance=3, index=True),
    Connectivity(vertices=9, family="forest", window=2),
    Connectivity(vertices=10, family="Erdos-Renyi", edge_probability=0.2),
    Connectivity(vertices=10, family="Erdos-Renyi", edge_probability=0.15, max_distance=3),
    HopK(symbols=20, k_max=5),
    HopK(symbols=12, alphabet=2, k_min=2, k_max=2, repeats=True, vocabulary=0),
    HopK(),
]
CYCLES = [LongCycles(2, 4), LongCycles(3, 5), LongCycles(2, 8)]


def drawn(task, seed=0, replicas=2, size=16):
    return task.batch(torch.Generator().manual_seed(seed), replicas, size)


def equal(one, two):
    return all(
        torch.equal(getattr(one, f.name), getattr(two, f.name))
        for f in dataclasses.fields(Batch)
        if getattr(one, f.name) is not None
    )


@pytest.mark.parametrize("task", TASKS + CYCLES, ids=lambda task: task.name)
def test_a_task_keeps_its_promises(task):
    batch = drawn(task)
    assert batch.kind == task.kind
    assert batch.targets.shape == (2, 16, task.length, task.length)[: batch.targets.ndim]
    if task.vocabulary:
        assert task.features == 0
        assert batch.inputs.dtype == torch.int64
        assert batch.inputs.shape == (2, 16, task.length)
        assert 0 <= batch.inputs.min() <= batch.inputs.max() < task.vocabulary
    else:
        assert batch.inputs.dtype == torch.float32
        assert batch.inputs.shape == (2, 16, task.length, task.features)
    if task.kind == "classes":
        assert 0 <= batch.targets.min() <= batch.targets.max() < task.outputs
    assert batch.scored.any()
    assert (batch.loss_mask | ~batch.scored).all(), "what is scored is learned"
    # Labels agree with another route, and those of other examples do not.
    compared, wrong = cross_check(task, batch)
    assert (compared, wrong) == (batch.scored.sum(), 0)
    others = dataclasses.replace(batch, inputs=batch.inputs.roll(1, dims=1))
    assert cross_check(task, others).wrong > 0
    # One seed one batch, replicas of their own, and fields that a record can hold.
    assert equal(batch, drawn(task))
    assert not equal(batch, drawn(task, seed=1))
    assert not torch.equal(batch.inputs[0], batch.inputs[1])
    assert type(task)(**json.loads(json.dumps(dataclasses.asdict(task)))) == task


@pytest.mark.parametrize("task", CYCLES, ids=lambda task: task.name)
def test_cycles_are_of_equal_length(task):
    far = drawn(task).group
    assert ((far == 1).sum(-1) == 2).all()
    assert ((far >= 0).sum(-1) == task.around).all()


def test_what_is_learned_is_what_is_scored_unless_stated():
    ids = torch.zeros(1, 1, 3, dtype=torch.int64)
    scored = torch.tensor([[[True, False, True]]])
    assert Batch(ids, ids, scored, ids).loss_mask is scored
    assert Batch(ids, ids, scored, ids, ~scored).loss_mask.equal(~scored)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": torch.zeros(1, 1, 3)}, "targets is torch.float32"),
        ({"scored": torch.ones(1, 1, 3, dtype=torch.int64)}, "scored is torch.int64"),
        ({"group": torch.zeros(1, 3, dtype=torch.int64)}, "group is torch.int64 of shape"),
        ({"learned": torch.zeros(1, 1, 4, dtype=torch.bool)}, "learned is torch.bool of shape"),
        ({"inputs": torch.zeros(1, 2, 3, dtype=torch.int64)}, "first three"),
    ],
)
def test_a_batch_of_parts_that_do_not_fit_is_refused(change, message):
    ids = torch.zeros(1, 1, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match=message):
        Batch(**{"inputs": ids, "targets": ids, "scored": ids == 0, "group": ids} | change)


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (Connectivity, {"vertices": 1}, "at least 2"),
        (Connectivity, {"family": "stars"}, "two paths, paths, forest, Erdos-Renyi"),
        (Connectivity, {"cut": 1.5}, "probabilities"),
        (Connectivity, {"vertices": 12, "max_distance": 4}, "at least 5"),
        (Connectivity, {"window": -1}, "accepted"),
        (HopK, {"symbols": 1}, "at least 2 symbols"),
        (HopK, {"alphabet": 1}, "at least 2 kinds"),
        (HopK, {"k_min": 5, "k_max": 4}, "k_min <= k_max"),
        (HopK, {"vocabulary": 22}, "at least 23"),
        (LongCycles, {"cycles": 1, "around": 8}, "at least"),
        (LongCycles, {"cycles": 2, "around": 2}, "at least"),
    ],
)
def test_options_out_of_range_are_refused(task, options, message):
    with pytest.raises(ValueError, match=message):
        task(**options)
