"""Graph tasks against SciPy and networkx, their distributions, and generators that are broken."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.sparse import csgraph
from task_labels import cross_check

from depthlaw.empirics.tasks import graph_families
from depthlaw.empirics.tasks.graph_families import RandomGraphs, distances, permutations
from depthlaw.empirics.tasks.graphs import Connectivity

# Probability that a statistical test here fails although the distribution is right, at a seed not
# yet fixed.
FALSE_ALARM = 1e-6


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def fits(counts, expected):
    return stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def binomial(count, n, p):
    return stats.binomtest(count, n, p).pvalue > FALSE_ALARM


# --- distances ------------------------------------------------------------------------------------


def searched(adjacency):
    """By SciPy, of each graph."""
    far = [csgraph.shortest_path(each.numpy().astype(float), unweighted=True) for each in adjacency]
    return torch.from_numpy(np.stack(far)).nan_to_num(posinf=-1)


@settings(max_examples=30)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_distances_are_those_of_scipy(rows):
    adjacency = torch.tensor([rows])
    assert (distances(adjacency) == searched(adjacency)).all()


@pytest.mark.parametrize("vertices", [40, 64, 65, 127, 128, 181, 182])
@pytest.mark.parametrize(
    "options",
    [
        {"family": "two paths"},
        {"family": "paths", "cut": 0.9},
        {"family": "forest", "window": 1, "cut": 0.02},
        {"family": "forest", "cut": 0.5},
        {"family": "Erdos-Renyi", "edge_probability": 0.01},
    ],
    ids=str,
)
def test_distances_are_those_of_the_edges_in_numbers_as_small_as_they_can_be(vertices, options):
    far = RandomGraphs(vertices, **options).distances(seeded(), 5)
    assert far.dtype == (torch.int8 if vertices <= 127 else torch.int16)
    assert (far == searched(far == 1)).all()


@pytest.mark.parametrize(
    ("family", "name"), [("paths", "smallest_type"), ("Erdos-Renyi", "_unsigned")]
)
def test_smaller_ones_do(monkeypatch, family, name):
    monkeypatch.setattr(graph_families, name, lambda n: torch.int8)
    far = RandomGraphs(100, family, cut=0.1, edge_probability=0.01).distances(seeded(), 10)
    assert (far != searched(far == 1)).any()


# --- broken generators ----------------------------------------------------------------------------


def test_a_search_that_stops_too_early_is_caught(monkeypatch):
    task = Connectivity(vertices=12, family="Erdos-Renyi", edge_probability=0.15)
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong == 0

    right = graph_families._shortest

    def early(far):
        far = right(far)
        return far.masked_fill_(far > 3, len(far))

    monkeypatch.setattr(graph_families, "_shortest", early)
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong > 0


def test_an_edge_lost_from_the_inputs_is_caught():
    task = Connectivity(vertices=9, family="paths", cut=0.0)
    batch = task.batch(seeded(), 1, 50)
    assert cross_check(task, batch).wrong == 0
    batch.inputs[..., 0, 1:9] = batch.inputs[..., 1:9, 0] = 0
    assert cross_check(task, batch).wrong > 0


# --- distributions --------------------------------------------------------------------------------


def test_permutations_are_uniform():
    drawn = permutations(6000, 3, seeded())
    assert drawn.sort().values.equal(torch.arange(3).expand(6000, 3))
    assert fits(
        drawn.mv(torch.tensor([9, 3, 1])).unique(return_counts=True)[1].tolist(), [1000] * 6
    )


@pytest.mark.parametrize(
    "task",
    [Connectivity(vertices=9), Connectivity(vertices=9, family="forest")],
    ids=lambda t: t.name,
)
def test_every_pair_of_vertices_is_an_edge_equally_often(task):
    batch = task.batch(seeded(), 1, 4000)
    count = task.adjacency(batch.inputs)[0].sum(0)[*torch.triu_indices(task.length, task.length, 1)]
    # Pairs of one graph exclude each other, which only makes the counts more even than independent
    # ones.
    assert fits(count.tolist(), [count.double().mean().item()] * len(count))


def test_without_permutation_they_are_not(monkeypatch):
    monkeypatch.setattr(
        graph_families, "permutations", lambda count, n, generator: torch.arange(n).expand(count, n)
    )
    task = Connectivity(vertices=9)
    edges = task.adjacency(task.batch(seeded(), 1, 4000).inputs)[0].sum(0)
    count = edges[*torch.triu_indices(9, 9, 1)]
    assert not fits(count.tolist(), [count.double().mean().item()] * len(count))


@pytest.mark.parametrize(
    ("limit", "lengths"), [(0, [1, 2, 3, 4, 5, 6, 7]), (5, [2, 3, 4, 5, 6]), (3, [4])]
)
def test_two_paths_are_cut_evenly(limit, lengths):
    far = RandomGraphs(vertices=8, max_distance=limit).distances(seeded(), 7000)
    found, counts = (far[:, 0] >= 0).sum(-1).unique(return_counts=True)
    assert found.tolist() == lengths
    # Vertex 0 lies on the path of s vertices with probability s / 8, and s and 8 - s are equally
    # likely.
    assert len(lengths) == 1 or fits(counts.tolist(), [7000 * s / sum(lengths) for s in lengths])


@pytest.mark.parametrize("family", ["paths", "forest", "Erdos-Renyi"])
def test_the_limit_on_distances_is_kept_and_reached(family):
    task = RandomGraphs(vertices=14, family=family, window=2, edge_probability=0.12, max_distance=4)
    far = task.distances(seeded(), 300)
    assert far.shape == (300, 14, 14)
    assert far.max() == 4


def test_cuts_and_edges_are_as_frequent_as_stated():
    for family, p in (("paths", 0.88), ("forest", 0.88), ("Erdos-Renyi", 0.1)):
        far = RandomGraphs(vertices=10, family=family).distances(seeded(), 1000)
        places = 1000 * (math.comb(10, 2) if family == "Erdos-Renyi" else 9)
        assert binomial(int((far == 1).sum()) // 2, places, p)


def test_every_vertex_before_is_the_parent_equally_often():
    # Vertices 2 and 3 both hang below 0 with probability 1/2 * 1/3, and so below 1: a star.
    far = RandomGraphs(vertices=4, family="forest", cut=0.0).distances(seeded(), 1000)
    assert binomial(int(((far == 1).sum(-1) == 3).sum()), 1000, 1 / 3)


def test_limits_that_no_graph_fits_are_reported(monkeypatch):
    monkeypatch.setattr(graph_families, "ROUNDS", 10)
    task = Connectivity(vertices=30, family="forest", cut=0.0, window=1, max_distance=5)
    with pytest.raises(ValueError, match="fewer than one graph"):
        task.batch(seeded(), 1, 2)
