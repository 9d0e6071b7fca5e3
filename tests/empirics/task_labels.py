"""The labels of tasks by another route, one example at a time and from its inputs alone: networkx,
and theory's pointers."""

from typing import NamedTuple

import networkx as nx
import torch

from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.theory.hops.pointers import hop_k


class Agreement(NamedTuple):
    """How many scored labels were compared, and how many have another target or group."""

    compared: int
    wrong: int


def cross_check(task, batch):
    """Compare every scored label of a batch with `expected`."""
    compared = wrong = 0
    parts = (
        part.flatten(0, 1) for part in (batch.inputs, batch.targets, batch.group, batch.scored)
    )
    for example, targets, group, scored in zip(*parts, strict=True):
        right, by_distance = expected(task, example)
        compared += int(scored.sum())
        wrong += int((((targets != right) | (group != by_distance)) & scored).sum())
    return Agreement(compared, wrong)


def expected(task, example):
    """Targets and group of one example."""
    if isinstance(task, HopK):
        k, *ids = example.tolist()
        answers = hop_k(ids, k, missing=task.missing)
        groups = [-1 if a == task.missing else k for a in answers]
        return torch.tensor([task.blank, *answers]), torch.tensor([-1, *groups])
    return _connectivity(_networkx(task.adjacency(example)))


def _connectivity(g):
    targets = torch.zeros(len(g), len(g), dtype=torch.bool)
    far = torch.full((len(g), len(g)), -1)
    for component in nx.connected_components(g):
        for u in component:
            targets[u, list(component)] = True
    for u, found in nx.all_pairs_shortest_path_length(g):
        far[u, list(found)] = torch.tensor(list(found.values()))
    return targets, far


def _networkx(adjacency):
    g = nx.empty_graph(len(adjacency))
    g.add_edges_from(adjacency.nonzero().tolist())
    return g
