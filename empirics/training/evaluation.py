"""How often trained nets are right on fresh examples, by replica and group.

Targets inside one example (the pairs of one graph, the positions of one sequence) depend on each
other, so that an interval over them would be too narrow. What intervals are taken of is therefore
one target of each example.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from ..nets.net import Net
from ..tasks import Batch, Task

# Examples that are drawn at once. The drawn examples depend on it, so that it is no option.
DRAWN = 256


def source(*parts: int | str) -> int:
    """A 63-bit seed that depends on all parts, so that streams with different names or numbers are
    unrelated.
    """
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8], "big") >> 1


def generator(device: torch.device | str, *parts: int | str) -> torch.Generator:
    """A fresh torch generator on a device, seeded by `source`. CPU and GPU generators give
    different numbers for the same seed."""
    return torch.Generator(device).manual_seed(source(*parts))


def draw(
    task: Task, seeds: Sequence[int], size: int, device: torch.device | str, *parts: int | str
) -> Batch:
    """A batch with examples for each replica, from its own seed alone: what a replica sees does not
    depend on which others are drawn beside it.

    Replicas of one seed (say, at several learning rates) see the same examples, which are drawn
    once. `parts` name and number the draw; different ones give unrelated examples.
    """
    distinct = list(dict.fromkeys(seeds))
    drawn = [task.batch(generator(device, *parts, seed), 1, size) for seed in distinct]
    which = torch.tensor([distinct.index(seed) for seed in seeds], device=device)

    def gather(tensors: list[Tensor]) -> Tensor:
        joined = torch.cat(tensors)
        return joined if len(distinct) == len(seeds) else joined.index_select(0, which)

    return Batch(
        inputs=gather([b.inputs for b in drawn]),
        targets=gather([b.targets for b in drawn]),
        scored=gather([b.scored for b in drawn]),
        group=gather([b.group for b in drawn]),
        learned=gather([b.loss_mask for b in drawn]),
    )


def correct(logits: Tensor, targets: Tensor) -> Tensor:
    """Where logits say what the targets say, bool like `targets`: the largest logit for classes,
    the sign for pairs.

    A logit that is not a number is never right.

    >>> correct(torch.tensor([[[[0.2, -1.0]]]]), torch.tensor([[[[True, True]]]])).tolist()
    [[[[True, False]]]]
    """
    if targets.dtype == torch.bool:
        return ((logits > 0) == targets) & ~logits.isnan()
    return (logits.argmax(dim=-1) == targets) & ~logits.isnan().any(dim=-1)


def accuracies(
    net: Net,
    task: Task,
    seeds: Sequence[int],
    examples: int,
    device: torch.device | str,
    *parts: int | str,
) -> np.ndarray:
    """Share of the scored targets of fresh examples, so many for each replica, that each of the R
    replicas on the device gets right, shape (R,). `seeds` and `parts` as in `draw`."""
    mode = net.training
    net.eval()
    right, total = (torch.zeros(len(seeds), dtype=torch.int64) for _ in range(2))
    with torch.no_grad():
        for batch in _batches(task, seeds, examples, device, *parts):
            right += _right(net, batch).flatten(1).sum(dim=1).cpu()
            total += batch.scored.flatten(1).sum(dim=1).cpu()
    net.train(mode)
    return np.asarray(right.numpy() / np.maximum(1, total.numpy()))


def spot_checks(
    net: Net,
    task: Task,
    *,
    seed: int,
    graphs: int,
    device: torch.device | str = "cpu",
    dropout: bool = False,
) -> tuple[tuple[int, ...], np.ndarray]:
    """Ask about one scored target of each fresh example and group, drawn at random, so that the
    trials of a replica are independent.

    Args:
        net: R replicas, on `device`.
        task: what they are asked.
        seed: of the examples; the same seed gives the same examples, and none that training or
            validation draws.
        graphs: examples per replica (graphs, or sequences).
        dropout: leave dropout on, as some published numbers have it; its masks come from torch's
            global generator.

    Returns:
        The groups that occur, ascending, and int64 (2, R, G): how many of the targets drawn are
        right, and how many were drawn.

    Cost: of a forward pass on all examples, and G maxima over the targets.
    """
    mode = net.training
    net.train(dropout)
    try:
        with torch.no_grad():
            return spot_counts(
                lambda batch: _right(net, batch),
                task,
                replicas_of(net),
                seed=seed,
                graphs=graphs,
                device=device,
            )
    finally:
        net.train(mode)


def spot_counts(
    right: Callable[[Batch], Tensor],
    task: Task,
    replicas: int,
    *,
    seed: int,
    graphs: int,
    device: torch.device | str = "cpu",
) -> tuple[tuple[int, ...], np.ndarray]:
    """`spot_checks` of anything that says which targets of a batch it gets right, bool like the
    targets.

    >>> from ..tasks.graphs import Connectivity
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
        hits, scored, group = (
            part.flatten(2) for part in (right(batch), batch.scored, batch.group)
        )
        key = torch.rand(scored.shape, generator=keys, device=device).masked_fill_(~scored, -1.0)
        for g in group[scored].unique().tolist():
            best, where = key.masked_fill(group != g, -1.0).max(dim=2)
            hit = hits.gather(2, where[:, :, None])[:, :, 0] & (best >= 0)
            tallies[g] = (
                tallies.get(g, 0) + torch.stack([hit.sum(dim=1), (best >= 0).sum(dim=1)]).cpu()
            )
    groups = tuple(sorted(tallies))
    return groups, torch.stack([tallies[g] for g in groups], dim=2).numpy()


def forced_choices(
    logits: Callable[[Batch], Tensor],
    task: Task,
    replicas: int,
    *,
    seed: int,
    graphs: int,
    device: torch.device | str = "cpu",
) -> tuple[tuple[int, ...], np.ndarray]:
    """Which of two pairs of a graph is the connected one: for each distance, how often the
    connected pair has the larger logit.

    From each graph that has both, one pair at the distance and one pair that is not connected are
    drawn. Ties are settled by a coin and what is not a number is wrong, so chance is 1/2, and a net
    that says yes to everything does no better than chance.

    Args:
        logits: batch -> (R, B, N, N), of pairs.
        task: of kind "pairs", its groups distances, -1 where a pair is not connected.
        replicas, seed, graphs, device: as `spot_checks`, which asks about the same examples.

    Returns:
        The distances that occur, ascending, and int64 (2, R, G): right choices, and choices.
    """
    if graphs < 1 or task.kind != "pairs":
        raise ValueError(
            f"graphs={graphs} of a task of kind {task.kind}: accepted are at least 1 "
            "graph and kind pairs"
        )
    seeds = [source("test", seed, replica) for replica in range(replicas)]
    keys, tallies = generator(device, "forced choices", seed), dict[int, Tensor]()
    for batch in _batches(task, seeds, graphs, device, "test"):
        logit, scored, group = (
            part.flatten(2) for part in (logits(batch), batch.scored, batch.group)
        )
        key = torch.rand(scored.shape, generator=keys, device=device).masked_fill_(~scored, -1.0)
        coin = torch.rand(scored.shape[:2], generator=keys, device=device) < 0.5

        def drawn(
            g: int, key: Tensor = key, group: Tensor = group, logit: Tensor = logit
        ) -> tuple[Tensor, Tensor]:
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


def _batches(
    task: Task, seeds: Sequence[int], graphs: int, device: torch.device | str, *parts: int | str
) -> Iterator[Batch]:
    for index, start in enumerate(range(0, graphs, DRAWN)):
        yield draw(task, seeds, min(DRAWN, graphs - start), device, *parts, index)


def logits_of(net: Net, batch: Batch) -> Tensor:
    """What a net says of a batch, its inputs in the dtype of its weights."""
    return net(
        batch.inputs
        if batch.inputs.dtype == torch.int64
        else batch.inputs.to(next(net.parameters()).dtype)
    )


def _right(net: Net, batch: Batch) -> Tensor:
    return correct(logits_of(net, batch), batch.targets) & batch.scored
