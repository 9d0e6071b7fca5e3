"""How often trained nets are right: counts by replica and group on fresh examples, and intervals over independent examples.

Targets inside one example (the pairs of one graph, the positions of one sequence) depend on each other, so that an interval over them
would be too narrow. Intervals are therefore taken over examples: an example counts as right in a group when all its targets there are.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from depthlaw.theory.values import Proportion

from .nets import Net
from .tasks import Batch, Task

__all__ = ["Counts", "correct", "draw", "evaluate", "forced_choices", "generator", "logits_of", "source", "spot_checks", "spot_counts"]

# Examples that are drawn at once. The drawn examples depend on it, so that it is no option.
DRAWN = 256


def source(*parts: int | str) -> int:
    """A 63-bit seed that depends on all parts, so that streams with different names or numbers are unrelated.

    >>> source("test", 0) == source("test", 0), source("test", 0) == source("test", 1)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8], "big") >> 1


def generator(device: torch.device | str, *parts: int | str) -> torch.Generator:
    """A fresh torch generator on a device, seeded by `source`. CPU and GPU generators give different numbers for the same seed."""
    return torch.Generator(device).manual_seed(source(*parts))


def draw(task: Task, seeds: Sequence[int], size: int, device: torch.device | str, *parts: int | str) -> Batch:
    """Examples for each replica, from its own seed alone: what a replica sees does not depend on which others are drawn beside it.

    Replicas of one seed (say, at several learning rates) see the same examples, which are drawn once.

    Args:
        task: what is drawn.
        seeds: one per replica.
        size: examples per replica.
        device: where.
        parts: name and number of the draw; different ones give unrelated examples.

    Returns:
        A batch with R = len(seeds).

    Cost: one call of `task.batch` per distinct seed.
    """
    distinct = list(dict.fromkeys(seeds))
    drawn = [task.batch(generator(device, *parts, seed), 1, size) for seed in distinct]
    which = torch.tensor([distinct.index(seed) for seed in seeds], device=device)

    def gather(tensors: list[Tensor]) -> Tensor:
        joined = torch.cat(tensors)
        return joined if len(distinct) == len(seeds) else joined.index_select(0, which)

    return Batch(inputs=gather([b.inputs for b in drawn]), targets=gather([b.targets for b in drawn]), scored=gather([b.scored for b in drawn]),
                 group=gather([b.group for b in drawn]), learned=gather([b.loss_mask for b in drawn]))


def correct(logits: Tensor, targets: Tensor) -> Tensor:
    """Where logits say what the targets say, bool like `targets`: the largest logit for classes, the sign for pairs.

    A logit that is not a number is never right.

    >>> correct(torch.tensor([[[[0.2, -1.0]]]]), torch.tensor([[[[True, True]]]])).tolist()
    [[[[True, False]]]]
    """
    if targets.dtype == torch.bool:
        return ((logits > 0) == targets) & ~logits.isnan()
    return (logits.argmax(dim=-1) == targets) & ~logits.isnan().any(dim=-1)


@dataclass(frozen=True)
class Counts:
    """What was right, for R replicas and G groups; all arrays are int64.

    Attributes:
        groups: labels of the groups (distances, numbers of hops), ascending; -1 for pairs that are not connected.
        right, total: scored targets that are right, and all scored targets, shape (R, G).
        exact, examples: examples whose scored targets in the group are all right, and examples that have any, shape (R, G).
        exact_whole: examples whose scored targets are all right, of `drawn` examples that have any, shape (R,) each.
        drawn: see above.
    """

    groups: tuple[int, ...]
    right: np.ndarray
    total: np.ndarray
    exact: np.ndarray
    examples: np.ndarray
    exact_whole: np.ndarray
    drawn: np.ndarray

    def accuracy(self) -> np.ndarray:
        """Share of scored targets that are right, over all groups, shape (R,)."""
        return np.asarray(self.right.sum(axis=1) / np.maximum(1, self.total.sum(axis=1)))

    def by_group(self) -> np.ndarray:
        """Share of scored targets that are right, shape (R, G); nan where a replica has none."""
        return np.where(self.total > 0, self.right / np.maximum(1, self.total), np.nan)

    def interval(self, replica: int, group: int | None = None, *, alpha: float = 0.05) -> tuple[float, float]:
        """Clopper-Pearson interval for the probability that a fresh example is right throughout in a group; None: throughout.

        Examples are independent and the net is fixed, so the coverage is at least 1 - alpha for this replica. Over replicas (seeds) the
        right unit is the replica.

        Raises:
            ValueError: for a group that does not occur.

        >>> one = np.array([[4]])
        >>> low, high = Counts((1,), one, one, one, one, one[0], one[0]).interval(0, 1)
        >>> round(low, 3), high
        (0.398, 1.0)
        """
        if group is None:
            k, n = int(self.exact_whole[replica]), int(self.drawn[replica])
        elif group in self.groups:
            k, n = (int(a[replica, self.groups.index(group)]) for a in (self.exact, self.examples))
        else:
            raise ValueError(f"no scored target belongs to group {group}: the groups are {self.groups}; draw more examples")
        if n == 0:
            return 0.0, 1.0
        return Proportion(k, n).interval(alpha)


def evaluate(net: Net, task: Task, *, seed: int, graphs: int, device: torch.device | str = "cpu", dropout: bool = False) -> Counts:
    """Count what each replica gets right on fresh examples; every replica has examples of its own, so that replicas are independent.

    Args:
        net: R replicas, on `device`.
        task: what they are asked.
        seed: of the examples; the same seed gives the same examples, and none that training or validation draws.
        graphs: examples per replica (graphs, or sequences).
        device: where.
        dropout: leave dropout on, as some published numbers have it; its masks come from torch's global generator.

    Returns:
        Counts for the groups that occur.

    Raises:
        ValueError: for no examples.
    """
    if graphs < 1:
        raise ValueError(f"graphs={graphs}: at least 1 example is needed")
    return count(net, task, [source("test", seed, replica) for replica in range(replicas_of(net))], graphs, device, "test", dropout=dropout)


def count(net: Net, task: Task, seeds: Sequence[int], graphs: int, device: torch.device | str, *parts: int | str,
          dropout: bool = False) -> Counts:
    """As `evaluate`, with one seed per replica and a named draw."""
    mode = net.training
    net.train(dropout)
    try:
        with torch.no_grad():
            tallies = [_tally(net, batch) for batch in _batches(task, seeds, graphs, device, *parts)]
    finally:
        net.train(mode)
    return _merged(tallies)


def spot_checks(net: Net, task: Task, *, seed: int, graphs: int, device: torch.device | str = "cpu",
                dropout: bool = False) -> tuple[tuple[int, ...], np.ndarray]:
    """As `evaluate`, but one scored target of each example and group, drawn at random, so that the trials of a replica are independent.

    Returns:
        The groups that occur, ascending, and int64 (2, R, G): how many of the targets drawn are right, and how many were drawn.

    Raises:
        ValueError: for no examples.

    Cost: of `evaluate`, and G maxima over the targets.
    """
    mode = net.training
    net.train(dropout)
    try:
        with torch.no_grad():
            return spot_counts(lambda batch: _right(net, batch), task, replicas_of(net), seed=seed, graphs=graphs, device=device)
    finally:
        net.train(mode)


def spot_counts(right: Callable[[Batch], Tensor], task: Task, replicas: int, *, seed: int, graphs: int,
                device: torch.device | str = "cpu") -> tuple[tuple[int, ...], np.ndarray]:
    """`spot_checks` of anything that says which targets of a batch it gets right, bool like the targets.

    >>> from .tasks.graphs import Connectivity
    >>> task = Connectivity(vertices=4, family="paths", cut=0.0)
    >>> groups, counts = spot_counts(lambda batch: batch.group < 3, task, 1, seed=0, graphs=5)
    >>> groups, counts[:, 0].tolist()
    ((1, 2, 3), [[5, 5, 0], [5, 5, 5]])
    """
    if graphs < 1:
        raise ValueError(f"graphs={graphs}: at least 1 example is needed")
    seeds = [source("test", seed, replica) for replica in range(replicas)]
    keys, tallies = generator(device, "spot checks", seed), dict[int, Tensor]()
    for batch in _batches(task, seeds, graphs, device, "test"):
        hits, scored, group = (part.flatten(2) for part in (right(batch), batch.scored, batch.group))
        key = torch.rand(scored.shape, generator=keys, device=device).masked_fill_(~scored, -1.0)
        for g in group[scored].unique().tolist():
            best, where = key.masked_fill(group != g, -1.0).max(dim=2)
            hit = hits.gather(2, where[:, :, None])[:, :, 0] & (best >= 0)
            tallies[g] = tallies.get(g, 0) + torch.stack([hit.sum(dim=1), (best >= 0).sum(dim=1)]).cpu()
    groups = tuple(sorted(tallies))
    return groups, torch.stack([tallies[g] for g in groups], dim=2).numpy()


def forced_choices(logits: Callable[[Batch], Tensor], task: Task, replicas: int, *, seed: int, graphs: int,
                   device: torch.device | str = "cpu") -> tuple[tuple[int, ...], np.ndarray]:
    """Which of two pairs of a graph is the connected one: for each distance, how often the connected pair has the larger logit.

    From each graph that has both, one pair at the distance and one pair that is not connected are drawn. Ties are settled by a coin and
    what is not a number is wrong, so chance is 1/2, and a net that says yes to everything does no better than chance.

    Args:
        logits: batch -> (R, B, N, N), of pairs.
        task: of kind "pairs", its groups distances, -1 where a pair is not connected.
        replicas, seed, graphs, device: as `evaluate`; the examples are those of `spot_checks`.

    Returns:
        The distances that occur, ascending, and int64 (2, R, G): right choices, and choices.

    Raises:
        ValueError: for no examples, or a task without pairs.

    >>> from .tasks.graphs import Connectivity
    >>> task = Connectivity(vertices=6)
    >>> distances, counts = forced_choices(lambda batch: (batch.group == 1).float(), task, 1, seed=0, graphs=200)
    >>> int(counts[0, 0, 0]) == int(counts[1, 0, 0]), 70 < int(counts[0, 0, 1]) < 130
    (True, True)
    """
    if graphs < 1 or task.kind != "pairs":
        raise ValueError(f"graphs={graphs} of a task of kind {task.kind}: accepted are at least 1 graph and kind pairs")
    seeds = [source("test", seed, replica) for replica in range(replicas)]
    keys, tallies = generator(device, "forced choices", seed), dict[int, Tensor]()
    for batch in _batches(task, seeds, graphs, device, "test"):
        logit, scored, group = (part.flatten(2) for part in (logits(batch), batch.scored, batch.group))
        key = torch.rand(scored.shape, generator=keys, device=device).masked_fill_(~scored, -1.0)
        coin = torch.rand(scored.shape[:2], generator=keys, device=device) < 0.5

        def drawn(g: int, key: Tensor = key, group: Tensor = group, logit: Tensor = logit) -> tuple[Tensor, Tensor]:
            best, where = key.masked_fill(group != g, -1.0).max(dim=2)
            return logit.gather(2, where[:, :, None])[:, :, 0], best >= 0

        apart, there = drawn(-1)
        for g in group[scored & (group > 0)].unique().tolist():
            joined, here = drawn(g)
            both = there & here
            hit = both & ((joined > apart) | ((joined == apart) & coin))
            tallies[g] = tallies.get(g, 0) + torch.stack([hit.sum(dim=1), both.sum(dim=1)]).cpu()
    groups = tuple(sorted(g for g, tally in tallies.items() if bool(tally[1].all())))
    return groups, torch.stack([tallies[g] for g in groups], dim=2).numpy()


def replicas_of(net: Net) -> int:
    """R: the first dimension of every parameter."""
    return int(next(net.parameters()).shape[0])


def _batches(task: Task, seeds: Sequence[int], graphs: int, device: torch.device | str, *parts: int | str) -> Iterator[Batch]:
    for index, start in enumerate(range(0, graphs, DRAWN)):
        yield draw(task, seeds, min(DRAWN, graphs - start), device, *parts, index)


def logits_of(net: Net, batch: Batch) -> Tensor:
    """What a net says of a batch, its inputs in the dtype of its weights."""
    return net(batch.inputs if batch.inputs.dtype == torch.int64 else batch.inputs.to(next(net.parameters()).dtype))


def _right(net: Net, batch: Batch) -> Tensor:
    return correct(logits_of(net, batch), batch.targets) & batch.scored


def _tally(net: Net, batch: Batch) -> tuple[int, Tensor]:
    """Smallest group, and int64 (4 kinds, R, G) of right, total, exact, examples; the last column is the whole example."""
    replicas, size = batch.targets.shape[:2]
    flat = (replicas, size, -1)
    right = _right(net, batch).reshape(flat)
    scored = batch.scored.reshape(flat)
    first, last = (int(v) for v in batch.group.aminmax())
    index = batch.group.reshape(flat) - first

    def by_group(what: Tensor) -> Tensor:
        zeros = torch.zeros(replicas, size, last - first + 1, dtype=torch.int64, device=what.device)
        grouped = zeros.scatter_add_(2, index, what.long())
        return torch.cat([grouped, what.sum(dim=2, keepdim=True)], dim=2)

    hits, total = by_group(right), by_group(scored)
    exact = (hits == total) & (total > 0)
    return first, torch.stack([t.sum(dim=1) for t in (hits, total, exact, total > 0)]).cpu()


def _merged(tallies: Sequence[tuple[int, Tensor]]) -> Counts:
    first = min(start for start, _ in tallies)
    last = max(start + t.shape[2] - 2 for start, t in tallies)
    sums = np.zeros((4, tallies[0][1].shape[1], last - first + 1), dtype=np.int64)
    whole = np.zeros(sums.shape[:2], dtype=np.int64)
    for start, t in tallies:
        array = t.numpy()
        sums[:, :, start - first:start - first + array.shape[2] - 1] += array[:, :, :-1]
        whole += array[:, :, -1]
    occurs = sums[1].sum(axis=0) > 0
    right, total, exact, examples = sums[:, :, occurs]
    return Counts(tuple(int(g) + first for g in np.flatnonzero(occurs)), right, total, exact, examples, whole[2], whole[3])
