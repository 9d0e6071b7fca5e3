"""Explicit weights against the exact integers of theory, at every depth, and one layer short."""

import networkx as nx
import numpy as np
import pytest
import torch

from depthlaw.empirics.nets.constructions import cubing
from depthlaw.theory.connectivity.graph_attention import (
    distances,
    graph,
    integer_states,
    layer_at,
    minimal_depth,
)

FAMILIES = ["path", "cycle", "two cycles", "grid", "barbell", "random tree", "Erdos-Renyi"]


def support(g, depth):
    """The pairs of vertices that the weights call connected."""
    adjacency = torch.from_numpy(nx.to_numpy_array(g, nodelist=range(len(g)), weight=None))
    return cubing(len(g), depth)(adjacency.fill_diagonal_(0)[None])[0].numpy()


@pytest.mark.parametrize("family", FAMILIES)
def test_cubing_equals_the_exact_integers_and_stops_where_they_do(family):
    g = graph(family, 8, np.random.default_rng(1))
    needed = minimal_depth(g)
    for depth in range(1, needed + 1):
        assert (support(g, depth) == (layer_at(integer_states(g), depth) > 0)).all()
    connected = distances(g) < len(g)
    assert (support(g, needed) == connected).all()
    assert not (support(g, needed - 1) == connected).all()


def test_entries_beyond_the_dtype_are_refused():
    with pytest.raises(OverflowError, match="use less depth"):
        support(nx.complete_graph(30), 7)
