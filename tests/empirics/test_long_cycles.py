"""Cycles of equal length: the task against networkx."""

import networkx as nx
import pytest
import torch

from depthlaw.empirics.tasks.long_cycles import LongCycles


@pytest.mark.parametrize(("cycles", "around"), [(2, 4), (3, 5), (2, 8)])
def test_distances_are_those_of_networkx(cycles, around):
    task = LongCycles(cycles, around)
    batch = task.batch(torch.Generator().manual_seed(3), 2, 4)
    edges = task.adjacency(batch.inputs).flatten(0, 1)
    for adjacency, group, target in zip(
        edges, batch.group.flatten(0, 1), batch.targets.flatten(0, 1), strict=True
    ):
        graph = nx.from_numpy_array(adjacency.numpy())
        assert sorted(map(len, nx.connected_components(graph))) == [around] * cycles
        far = dict(nx.all_pairs_shortest_path_length(graph))
        expected = [[far[u].get(v, -1) for v in graph] for u in graph]
        assert group.tolist() == expected
        assert target.tolist() == [[d >= 0 for d in row] for row in expected]
    assert not (batch.inputs[0, 0] == batch.inputs[0, 1]).all(), "the order of vertices is random"
