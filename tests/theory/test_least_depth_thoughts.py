"""Continuous thoughts and sorted words: independent routes, and what breaks the nets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import networkx
import numpy as np
import pytest

from depthlaw.theory.least_depth import continuous_thoughts as ct, two_heads
from depthlaw.theory.least_depth.chain_of_thought import least_steps, task
from depthlaw.theory.least_depth.graphs import Edge, all_graphs
from depthlaw.theory.nets.attention import AttentionNet
from depthlaw.theory.nets.batched import thoughts
from depthlaw.theory.nets.json_format import changed


def run(net: AttentionNet, edges: list[Edge], count: int) -> list[np.ndarray]:
    """The start and so many thoughts, from every start."""
    (after,) = thoughts(net, [ct.prompts(net, edges)])
    return [np.array(held) for held in islice(after, count + 1)]


def balls(vertices: int, edges: list[Edge], radius: int) -> np.ndarray:
    """Which vertices are within a radius of which, by networkx."""
    graph = networkx.DiGraph(edges)
    graph.add_nodes_from(range(vertices))
    near = dict(networkx.all_pairs_shortest_path_length(graph, cutoff=radius))
    return np.array([[v in near[u] for v in range(vertices)] for u in range(vertices)])


@pytest.mark.parametrize("seed", range(5))
def test_thought_t_holds_exactly_what_is_within_reach(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 6
    vertices, pairs = (make(n, ct.most_edges(n)) for make in (ct.vertex_thoughts, ct.pair_thoughts))
    for edges in ct.drawn_graphs(rng, n, 1 + seed, 4):
        one, two = run(vertices, edges, n), run(pairs, edges, 4)[1:]
        assert all((each == balls(n, edges, t)).all() for t, each in enumerate(one))
        assert all((m.reshape(n, n) == balls(n, edges, 2**t)).all() for t, m in enumerate(two))


def test_no_part_of_the_net_is_idle() -> None:
    """Vertex 0 leads nowhere; without a sink it finds all that any edge leads to."""
    edges, n = [(1, 2), (1, 3), (2, 3), (3, 0)], 4
    net = ct.vertex_thoughts(n, 12)
    assert (run(net, edges, 1)[1][0] == [1, 0, 0, 0]).all()
    no_sink = changed(net, "layers", 1, "heads", 0, "key", n, 2, to=0)
    assert (run(no_sink, edges, 1)[1][0] == [1, 0, 1, 1]).all()
    assert (run(replace(net, layers=net.layers[1:]), edges, 3)[3] == np.eye(4)).all()
    for far in (1, 2):
        loose = ct.vertex_thoughts(3, 6, threshold=False)
        assert ct.least_thoughts(loose, 3, all_graphs(3), far) == far


def test_without_the_second_relu_the_lighter_vertices_are_forgotten() -> None:
    """0 and 1 find each other again and again; they outweigh 2, so that 3 is never found."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3)]
    assert run(ct.vertex_thoughts(4, 12), edges, 3)[3][0].all()
    loose = run(ct.vertex_thoughts(4, 12, threshold=False), edges, 8)
    assert [bool(thought[0][2]) for thought in loose[:4]] == [False, False, True, True]
    assert not any(thought[0][3] for thought in loose)


def test_there_are_as_many_graphs_as_there_are_sets_of_edges() -> None:
    assert len({tuple(graph) for graph in all_graphs(4)}) == 2**12


def test_with_a_factor_below_the_number_of_edges_a_vertex_is_not_held_whole() -> None:
    for edges, held in ((1, "1/2"), (2, 1)):
        thought = run(ct.vertex_thoughts(3, edges), [(0, 1), (0, 2)], 1)[1][0]
        assert thought.tolist() == [1, Fraction(held), Fraction(held)]


def test_a_distance_that_no_pair_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no two vertices are 3 apart"):
        ct.least_thoughts(ct.vertex_thoughts(3, 6), 3, all_graphs(3), 3)


@pytest.mark.parametrize("length", [3, 5, 7])
def test_one_hard_head_takes_two_steps(length: int) -> None:
    the = task(lambda word: list(word) == sorted(word), length)
    assert [least_steps(the, heads) for heads in (1, 2)] == [2, 1]


def test_one_softmax_head_is_a_threshold_of_letters() -> None:
    inside, outside = [(0, 0, 0), (1, 1, 1)], [(0, 1, 0), (1, 0, 1)]
    assert two_heads.balanced(inside, outside)
    assert not two_heads.balanced([(0, 0), (0, 1), (1, 1)], [(1, 0)])
