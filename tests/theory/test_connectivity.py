"""Connectivity: networks against networkx and matrix powers, verdicts against wrong networks and
wrong statements, shortcuts in data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest
from judging import claims, verdict, verdicts
from sympy import Le, ceiling, floor, log

from depthlaw.advisor import laws
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.symbols import vertices
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.connectivity import doubling, graph_attention as ga, reach, relu_attention

CLAIMS = claims("connectivity")


def wrong_on(monkeypatch: pytest.MonkeyPatch, odd: nx.Graph) -> None:
    """Attention that sees no edge of one graph, however it is labelled."""
    right = ga.with_loops

    def blind(g: nx.Graph) -> ga.Array:
        return right(nx.empty_graph(len(g)) if nx.is_isomorphic(g, odd) else g)

    for module in (ga, doubling, relu_attention):
        monkeypatch.setattr(module, "with_loops", blind)


# --- laws ---------------------------------------------------------------------------------------


def test_what_is_no_size_is_refused() -> None:
    for law, bad in ((laws.layers_for_diameter, -1), (laws.universal_layers, 0)):
        with pytest.raises(ValueError, match="accepted are whole numbers from"):
            law(bad)


# --- graphs -------------------------------------------------------------------------------------


def test_families_are_reproducible_and_refuse_what_they_lack() -> None:
    a, b = (ga.graph("Erdos-Renyi", 6, np.random.default_rng(7)) for _ in range(2))
    assert set(a.edges) == set(b.edges)
    for family, diameter, message in (
        ("wheel", 2, "accepted are path"),
        ("karate club", 4, "diameter 5"),
        ("barbell", 2, "a barbell 3 or more"),
        ("path", 0, "from 1 on"),
    ):
        with pytest.raises(ValueError, match=message):
            ga.graph(family, diameter, np.random.default_rng(0))


def test_distances_are_those_of_floyd_and_warshall() -> None:
    g = ga.graph("Erdos-Renyi", 7, np.random.default_rng(1))
    other = np.asarray(nx.floyd_warshall_numpy(g, nodelist=range(len(g))))
    assert np.array_equal(ga.distances(g), np.where(np.isinf(other), len(g), other).astype(int))


# --- networks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_layers_are_matrix_powers(depth: int) -> None:
    g = ga.graph("grid", 5, np.random.default_rng(2))
    start = nx.to_numpy_array(g, nodelist=range(len(g)), dtype=int) + np.eye(len(g), dtype=int)
    power = np.linalg.matrix_power(start.astype(object), 3**depth)
    assert (ga.layer_at(ga.integer_states(g), depth) == power).all()


def test_residual_layer_adds_its_input() -> None:
    g = nx.path_graph(6)
    x = ga.layer_at(ga.integer_states(g), 0)
    assert (ga.layer_at(ga.integer_states(g, residual=True), 1) == x + x @ x @ x).all()


def test_entries_need_big_integers_and_clipping_keeps_the_support() -> None:
    assert (
        ga.layer_at(ga.integer_states(nx.path_graph(2)), 4).max() == 2**80 > np.iinfo(np.int64).max
    )
    g = ga.graph("random tree", 9, np.random.default_rng(3))
    for depth in range(4):
        exact, clipped = (
            ga.layer_at(ga.integer_states(g), depth),
            ga.layer_at(ga.clipped_states(g), depth),
        )
        assert ((exact > 0) == (clipped > 0)).all()


def test_a_support_that_is_no_ball_has_no_radius() -> None:
    g = nx.path_graph(6)
    seen = ga.layer_at(ga.integer_states(g), 1) > 0
    assert ga.radius(g, seen) == 3
    seen[0, 2] = False
    assert ga.radius(g, seen) == -1
    assert ga.radius(nx.disjoint_union(g, g), np.ones((12, 12), dtype=bool)) == 12
    assert (ga.common([3, 3]), ga.common([3, 4])) == (3, -1)


def test_what_never_settles_is_later_than_any_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    line = nx.path_graph(4)
    wrong_on(monkeypatch, line)
    assert ga.minimal_depth(line) == 5


def test_components_are_named_by_the_least_index_once_all_pairs_are_seen() -> None:
    for seed in range(5):
        g = ga.graph("Erdos-Renyi", 9, np.random.default_rng(seed))
        depth = ga.minimal_depth(g)
        named = (ga.layer_at(ga.clipped_states(g), depth) > 0).argmax(axis=1)
        assert depth == 2
        assert all(named[v] == min(nx.node_connected_component(g, v)) for v in g)


@pytest.mark.parametrize("depth", [1, 2])
def test_numbers_of_positive_entries_tell_the_cycles_apart_as_far_as_rows_do(depth: int) -> None:
    """What the note of one_vs_two_cycles_rows says: no integers are needed."""
    for m in range(3, 2 * 3**depth + 4):
        one, two = (
            {int(n) for n in (ga.layer_at(ga.integer_states(g), depth) > 0).sum(axis=1)}
            for g in ga.one_and_two_cycles(m)
        )
        assert (one, two) == ({min(2 * m, 2 * 3**depth + 1)}, {min(m, 2 * 3**depth + 1)})
        assert (one != two) == ga.cycles_told_apart(m, depth)


# --- claims -------------------------------------------------------------------------------------


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("wrong", [2, 4], ids=["a pair within 3^L missed", "a pair beyond it seen"])
def test_a_wrong_support_fails_with_and_without_the_residual(
    monkeypatch: pytest.MonkeyPatch, wrong: int, residual: bool
) -> None:
    right = ga.integer_states

    def faulty(g: nx.Graph, **options: bool) -> Iterator[ga.Array]:
        for x in right(g, **options):
            yield ga.distances(g) <= wrong if options["residual"] == residual else x

    monkeypatch.setattr(reach, "integer_states", faulty)
    case = Case(family="path", diameter=12, depth=1)
    assert verdict(reach.reach, case) is Verdict.FAILS


@pytest.mark.parametrize(
    ("name", "network", "odd"),
    [
        ("reach", None, 5),
        ("layers_for_diameter", None, 5),
        ("row_reach", None, 6),
        ("reach", "ReLU", 6),
    ],
)
def test_a_network_that_is_wrong_on_one_graph_is_caught(
    name: str, network: str | None, odd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = CLAIMS[name]
    case = next(
        c
        for c in claim.cases("theory")
        if (c.family, c.diameter, c.get("depth", 1)) == ("all", odd - 1, 1)
        and c.get("network") == network
    )
    assert verdict(claim, case) is Verdict.HOLDS
    wrong_on(monkeypatch, nx.path_graph(odd))
    assert verdict(claim, case) is Verdict.FAILS


# --- doublings ----------------------------------------------------------------------------------


def test_directed_graphs_are_all_there() -> None:
    rng = np.random.default_rng(0)
    assert len(doubling.directed_graphs("path", 3, rng)) == 1
    every = doubling.directed_graphs("all", 3, rng)
    assert len({frozenset(g.edges) for g in every}) == len(every) == 64
    with pytest.raises(ValueError, match="accepted are all, directed path"):
        doubling.directed_graphs("wheel", 2, rng)


def test_a_doubling_that_never_settles_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "with_loops", lambda g: np.eye(len(g), dtype=int))
    assert doubling.doubling_layers(nx.path_graph(4).to_directed()) == 10


def test_the_doubling_bound_is_attained_and_one_layer_less_fails() -> None:
    left, log2 = doubling.log_depth_uniform.statement.lhs, log(vertices, 2)
    for tight in (Le(left, 2 * ceiling(log2) - 1), Le(left, 2 * floor(log2))):
        found = verdicts(dataclasses.replace(doubling.log_depth_uniform, statement=tight))
        assert Verdict.FAILS in found.values()


def test_a_block_that_is_wrong_on_one_graph_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = doubling.with_loops

    def faulty(g: nx.DiGraph) -> doubling.Array:
        return np.eye(3) if len(g) == 3 and set(g.edges) == {(2, 0), (0, 1)} else right(g)

    monkeypatch.setattr(doubling, "with_loops", faulty)
    found = {
        c.vertices: v for c, v in verdicts(doubling.log_depth_uniform).items() if c.family == "all"
    }
    assert found == {1: Verdict.HOLDS, 2: Verdict.HOLDS, 3: Verdict.FAILS}


# --- shortcuts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 17, 60])
@pytest.mark.parametrize("seed", range(5))
def test_edges_of_a_forest_and_ends_of_paths_count_components(size: int, seed: int) -> None:
    """Two counts that answer "connected?" without any path; one more edge breaks the first."""
    rng = np.random.default_rng(seed)
    forest = nx.random_labeled_tree(size, seed=seed)
    forest.remove_edges_from([edge for edge in list(forest.edges) if rng.integers(2)])
    assert nx.number_connected_components(forest) == size - forest.number_of_edges()
    paths = nx.disjoint_union_all([nx.path_graph(int(n)) for n in rng.integers(2, 9, size)])
    assert sum(degree == 1 for _, degree in paths.degree) == 2 * size
    ring = nx.cycle_graph(size + 1)
    assert nx.number_connected_components(ring) != len(ring) - ring.number_of_edges()


@pytest.mark.parametrize("m", [3, 4, 12])
def test_closed_walks_shorter_than_m_do_not_tell_the_cycles_apart(m: int) -> None:
    """Cycles against cycles leave no count of edges, degrees or short walks to read off."""
    one, two = (nx.to_numpy_array(g, dtype=int).astype(object) for g in ga.one_and_two_cycles(m))
    x, y = one, two
    for length in range(1, m + 1):
        assert (np.trace(x) == np.trace(y)) == (length < m)
        x, y = x @ one, y @ two
