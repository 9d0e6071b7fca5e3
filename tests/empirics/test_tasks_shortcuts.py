"""The audit finds the clue that gives a leaky task away, and what theory says a fair one gives."""

from dataclasses import dataclass

import torch
from task_shortcuts import audit

from depthlaw.empirics.tasks import Batch, graph_families
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK


def shares(task, graphs=400):
    return {clue: float(found.mean) for clue, found in audit(task, 0, graphs).items()}


@dataclass(frozen=True)
class PathOrNothing(Connectivity):
    """Leaky on purpose: one path or no edge, which the number of edges tells, and degrees."""

    def batch(self, generator, replicas, size):
        n = self.vertices
        far = graph_families.RandomGraphs(n, "paths", cut=0.0).distances(generator, replicas * size)
        empty = torch.rand(replicas * size, 1, 1, generator=generator) < 0.5
        far = far.masked_fill((far > 0) & empty, -1).view(replicas, size, n, n).long()
        scored = (~torch.eye(n, dtype=torch.bool)).expand(far.shape)
        return Batch(((far == 0) | (far == 1)).float(), far >= 0, scored, far)


def test_a_path_against_nothing_is_given_away_by_edges_and_degrees():
    found = shares(PathOrNothing(vertices=24))
    assert found["edges"] == found["degrees"] == 1
    assert found["index"] < 0.6


def test_vertices_in_the_order_of_the_generator_are_given_away_by_their_index(monkeypatch):
    halves = Connectivity(vertices=16, max_distance=7)
    assert shares(halves)["index"] < 0.6
    monkeypatch.setattr(
        graph_families, "permutations", lambda count, n, generator: torch.arange(n).expand(count, n)
    )
    assert shares(halves)["index"] > 0.95


def test_copying_the_symbol_gains_on_published_hops_what_theory_says():
    # hop_2 is the current symbol itself with probability near one half; the tree has only that to
    # go by.
    low, high = audit(HopK(k_min=2, k_max=2), 0, 1000)["token"].interval(0.05)
    assert low < 0.5041 < high
