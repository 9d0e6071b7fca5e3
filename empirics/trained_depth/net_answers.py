"""What nets answer after training; and rules in their place, whatever the device: explicit weights,
and the local baseline."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from depthlaw.theory.claims.definition import Case

from ..nets.constructions import cubing
from ..tasks import Batch
from ..tasks.graph_families import distances
from ..training.depth_search import Answers, answers
from ..training.evaluation import forced_choices, spot_counts
from .recipes import paths, training

# Graphs that a rule is asked about.
RULE_GRAPHS = 20_480


def answers_of(case: Case, depth: int, device: str, folder: str) -> Answers:
    """What nets of a depth answer after training on a case's task, or a rule in their place:
    explicit weights have a depth; what is local has a radius."""
    if case.get("net") in RULES:
        return by_rule(case.net, case.vertices, case.diameter, case.get("radius", depth))
    return answers(training(case, depth), device, folder)


@lru_cache(maxsize=64)
def by_rule(rule: str, vertices: int, diameter: int, size: int) -> Answers:
    """What a rule of a depth or radius answers on `RULE_GRAPHS` graphs of the same family, in the
    place of one seed."""
    task, score = paths(vertices, diameter), RULES[rule](vertices, size)

    def logits(batch: Batch) -> Tensor:
        return score(task.adjacency(batch.inputs)[0])[None]

    def right(batch: Batch) -> Tensor:
        return ((logits(batch) > 0) == batch.targets) & batch.scored

    groups, counts = spot_counts(right, task, 1, seed=0, graphs=RULE_GRAPHS)
    places, choices = forced_choices(logits, task, 1, seed=0, graphs=RULE_GRAPHS)
    (hits, trials), (chosen, drawn) = (
        tuple((tuple(row[0]),) for row in tensor.tolist()) for tensor in (counts, choices)
    )
    return Answers(0.0, ("success",), (0,), groups, hits, trials, places, chosen, drawn)


def _explicit(vertices: int, depth: int) -> Callable[[Tensor], Tensor]:
    """`constructions.cubing`: 1 for the pairs it calls connected, 0 for the others."""
    net = cubing(vertices, depth)
    return lambda adjacency: net(adjacency).float()


def bounded(vertices: int, radius: int) -> Callable[[Tensor], Tensor]:
    """The local baseline on paths: positive up to distance r, and only there. Beyond it, a pair
    scores least where both ends of the path of one of its vertices are at a distance less than r
    from that vertex; other pairs score the less, the fewer vertices lie within r of either. The two
    balls are not intersected, which would decide up to 2r.
    """

    def score(adjacency: Tensor) -> Tensor:
        far = distances(adjacency)
        near = (far >= 0) & (far <= radius)
        # An end is known by its neighbours, of which all but one would lie a step further.
        ends = (far == 1).sum(dim=-1) <= 1
        seen = (near & (far < radius) & ends[:, None, :]).sum(dim=-1)
        closed = (seen == 2) | ((far == 1).sum(dim=-1) == 0)
        around = torch.where(closed, -2.0 * vertices, near.sum(dim=-1).float())
        both = around[:, :, None] + around[:, None, :]
        return torch.where(near, 1.0, both - 2.0 * vertices - 1.0)

    return score


# What stands in the place of a trained net: adjacency (graphs, n, n) -> a score of each pair,
# positive for "connected".
RULES: dict[str, Callable[[int, int], Callable[[Tensor], Tensor]]] = {
    "explicit": _explicit,
    "bounded": bounded,
}
