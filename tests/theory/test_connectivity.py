"""Connectivity: the formulas against searches, the networks against networkx and matrix powers, the verdicts against mutations."""
from __future__ import annotations

import dataclasses
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.connectivity import claims, graph_attention, layers_for_diameter, reach, universal_layers, universal_vertices
from depthlaw.theory.connectivity.graph_attention import (
    clipped_states,
    cycles_told_apart,
    directed_graph,
    directed_graphs,
    distances,
    doubling_layers,
    graph,
    graphs,
    integer_states,
    layer_at,
    minimal_depth,
    radii,
)
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}
FAMILIES = ("path", "cycle", "two cycles", "grid", "random tree", "Erdos-Renyi")


def verdicts(claim: Claim, suite: str = "quick") -> set[Verdict]:
    return {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases(suite)}


# --- formulas ----------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**200))
def test_layers_for_diameter_is_the_least_depth_that_reaches(diameter: int) -> None:
    depth = layers_for_diameter(diameter)
    assert reach(depth) >= diameter
    assert depth == 0 or reach(depth - 1) < diameter


@pytest.mark.parametrize("depth", [0, 1, 5, 40, 300])
def test_layers_for_diameter_at_exact_powers_where_float_logarithms_round(depth: int) -> None:
    assert [layers_for_diameter(3**depth + extra) for extra in (0, 1)] == [depth, depth + 1]


@given(st.integers(1, 10**40))
def test_universal_layers_and_vertices_are_inverse(vertices: int) -> None:
    depth = universal_layers(vertices)
    assert universal_vertices(depth) >= vertices
    assert depth == 18 or universal_vertices(depth - 2) < vertices


def test_corollary_as_printed_loses_a_factor_of_two_and_misses_the_examples() -> None:
    assert [universal_vertices(depth) for depth in (32, 80)] == [128, 2**31]
    assert [universal_vertices(depth, "printed") for depth in (32, 80)] == [64, 2**30]
    assert all(universal_vertices(depth) >= universal_vertices(depth, "printed") for depth in range(200))


def test_universal_vertices_printed_is_the_floor_of_a_square_root() -> None:
    for depth in range(20, 120):
        most = universal_vertices(depth, "printed")
        assert most**2 <= 2 ** (depth - 20) < (most + 1) ** 2


@pytest.mark.parametrize("bad", [-1, 2.5, "3", True, None, float("nan")])
@pytest.mark.parametrize("function", [reach, layers_for_diameter, universal_layers, universal_vertices])
def test_bad_numbers_are_refused_by_name(function: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match="accepted are whole numbers from"):
        function(bad)


def test_null_cases() -> None:
    assert (reach(0), layers_for_diameter(0), layers_for_diameter(1), universal_layers(1)) == (1, 0, 0, 18)
    assert universal_vertices(0) == universal_vertices(19, "printed") == 0
    with pytest.raises(ValueError, match="accepted are 'derived' and 'printed'"):
        universal_vertices(32, "recalled")  # type: ignore[arg-type]


# --- networks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_family_has_the_diameter_it_is_asked_for(family: str) -> None:
    for diameter in (2, 5, 8):
        g = graph(family, diameter, np.random.default_rng(0))
        assert sorted(g) == list(range(len(g)))
        assert max(nx.diameter(g.subgraph(c)) for c in nx.connected_components(g)) == diameter


def test_families_are_reproducible_and_refuse_what_they_lack() -> None:
    a, b = (graph("Erdos-Renyi", 6, np.random.default_rng(7)) for _ in range(2))
    assert set(a.edges) == set(b.edges)
    with pytest.raises(ValueError, match="accepted are path"):
        graph("wheel", 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="diameter 5"):
        graph("karate club", 4, np.random.default_rng(0))
    with pytest.raises(ValueError, match="from 1 on"):
        graph("path", 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="accepted are directed path"):
        directed_graph("wheel", 2, np.random.default_rng(0))


def test_distances_are_those_of_floyd_and_warshall() -> None:
    g = graph("Erdos-Renyi", 7, np.random.default_rng(1))
    other = np.asarray(nx.floyd_warshall_numpy(g, nodelist=range(len(g))))
    assert np.array_equal(distances(g), np.where(np.isinf(other), len(g), other).astype(int))


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_layers_are_matrix_powers(depth: int) -> None:
    g = graph("grid", 5, np.random.default_rng(2))
    start = (nx.to_numpy_array(g, nodelist=range(len(g)), dtype=int) + np.eye(len(g), dtype=int)).astype(object)
    assert (layer_at(integer_states(g), depth) == np.linalg.matrix_power(start, 3**depth)).all()


def test_residual_layer_adds_its_input() -> None:
    g = nx.path_graph(6)
    x = layer_at(integer_states(g), 0)
    assert (layer_at(integer_states(g, residual=True), 1) == x + x @ x @ x).all()


def test_entries_need_big_integers_and_clipping_keeps_the_support() -> None:
    edge = nx.path_graph(2)
    assert layer_at(integer_states(edge), 4).max() == 2**80 > np.iinfo(np.int64).max
    g = graph("random tree", 9, np.random.default_rng(3))
    for depth in range(4):
        assert ((layer_at(integer_states(g), depth) > 0) == (layer_at(clipped_states(g), depth) > 0)).all()


@given(st.integers(0, 2**21 - 1), st.integers(0, 2))
def test_support_is_a_ball_on_every_graph(edges: int, depth: int) -> None:
    pairs = [(u, v) for v in range(7) for u in range(v)]
    g = nx.empty_graph(7)
    g.add_edges_from(pair for bit, pair in enumerate(pairs) if edges >> bit & 1)
    largest = max(nx.diameter(g.subgraph(c)) for c in nx.connected_components(g))
    for residual in (False, True):
        assert radii(g, depth, residual=residual) == (min(3**depth, largest),) * 2


def test_a_graph_without_edges_needs_no_layer() -> None:
    g = nx.empty_graph(4)
    assert (minimal_depth(g), radii(g, 1)) == (0, (0, 0))


def test_components_are_named_by_the_least_index_once_all_pairs_are_seen() -> None:
    for seed in range(5):
        g = graph("Erdos-Renyi", 9, np.random.default_rng(seed))
        depth = minimal_depth(g)
        named = (layer_at(clipped_states(g), depth) > 0).argmax(axis=1)
        assert depth == 2
        assert all(named[v] == min(nx.node_connected_component(g, v)) for v in g)


def test_entries_tell_one_cycle_from_two_up_to_the_reach_and_rows_twice_as_far() -> None:
    def by_entries(m: int) -> bool:
        one, two = nx.cycle_graph(2 * m), nx.disjoint_union(nx.cycle_graph(m), nx.cycle_graph(m))
        return [(layer_at(integer_states(g), 1) > 0).all() for g in (one, two)] == [True, False]

    assert [[told(m) for m in (3, 4, 6, 7)] for told in (by_entries, lambda m: cycles_told_apart(m, 1))] == [
        [True, False, False, False], [True, True, True, False]]


def test_a_graph_of_another_maximum_degree_is_out_of_scope() -> None:
    claim, case = CLAIMS["connectivity/entry_bound"], Case(family="grid", diameter=6, max_degree=5, depth=1)
    decision = judge(claim, case, claim.measured(case, 0))
    assert (decision.verdict, decision.reason) == (
        Verdict.OUT_OF_SCOPE, "assumption broken: the graph has the maximum degree that the case names")


def test_doubling_takes_two_layers_per_doubling_of_the_longest_distance() -> None:
    for n in range(1, 20):
        line = nx.path_graph(n, create_using=nx.DiGraph)
        assert doubling_layers(line) == 2 * max(0, (max(n - 2, 0)).bit_length())


# --- claims ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key, claim in CLAIMS.items() if claim.awaited == "HOLDS"])
def test_quick_cases_hold(key: str) -> None:
    assert verdicts(CLAIMS[key]) == {Verdict.HOLDS}


def test_claims_of_the_submodules_are_offered() -> None:
    assert {"connectivity/relu_reach", "connectivity/mpc_rounds"} <= set(CLAIMS)


@pytest.mark.parametrize("base", [2, 4])
@pytest.mark.parametrize("name", ["reach", "one_vs_two_cycles_rows", "layers_for_diameter"])
def test_another_base_fails(name: str, base: int) -> None:
    from sympy import Integer

    claim = CLAIMS[f"connectivity/{name}"]
    mutated = dataclasses.replace(claim, statement=claim.statement.replace(lambda e: e == Integer(3), lambda _: Integer(base)))
    assert mutated.statement != claim.statement
    assert Verdict.FAILS in verdicts(mutated)


def test_an_entry_between_two_components_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, case = CLAIMS["connectivity/reach"], Case(family="two cycles", diameter=5, depth=1)
    monkeypatch.setattr("depthlaw.theory.connectivity.graph_attention.integer_states", lambda g, residual: iter([np.ones((len(g), len(g)))] * 2))
    assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS


def test_the_doubling_bound_is_attained_and_one_layer_less_fails() -> None:
    from sympy import Le, ceiling, floor, log

    claim = CLAIMS["connectivity/log_depth_uniform"]
    log2 = log(symbol("vertices")) / log(2)
    for tight in (Le(claim.statement.lhs, 2 * ceiling(log2) - 1), Le(claim.statement.lhs, 2 * floor(log2))):
        assert Verdict.FAILS in verdicts(dataclasses.replace(claim, statement=tight))


def test_one_claim_says_where_entries_are_positive() -> None:
    merged = {"support", "reach_residual", "one_vs_two_cycles", "components_log_depth"}
    assert not {f"connectivity/{name}" for name in merged} & set(CLAIMS)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("wrong", [(2, 3), (3, 4)], ids=["a pair within 3^L is missed", "a pair beyond it is seen"])
def test_a_support_that_is_no_ball_fails_with_and_without_the_residual(
        monkeypatch: pytest.MonkeyPatch, wrong: tuple[int, int], residual: bool) -> None:
    """The merged claim notices what only the withdrawn ones did: a gap inside the reach, and the residual network alone going wrong."""
    claim, case, right = CLAIMS["connectivity/reach"], Case(family="path", diameter=12, depth=1), graph_attention.radii
    monkeypatch.setattr(graph_attention, "radii", lambda g, depth, **kept: wrong if kept["residual"] == residual else right(g, depth, **kept))
    assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS


def is_two_edges_in_a_row(g: nx.DiGraph) -> bool:
    return len(g) == 3 and set(g.edges) == {(2, 0), (0, 1)}


def test_a_block_that_is_wrong_on_one_graph_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, right = CLAIMS["connectivity/log_depth_uniform"], graph_attention._with_loops
    monkeypatch.setattr(graph_attention, "_with_loops", lambda g: np.eye(3) if is_two_edges_in_a_row(g) else right(g))
    found = {case: judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick") if case.family == "all"}
    assert found == {case: Verdict.FAILS if case.vertices == 3 else Verdict.HOLDS for case in found}


def test_a_network_that_is_wrong_on_one_graph_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right, odd = graph_attention._with_loops, nx.path_graph(5)
    monkeypatch.setattr(graph_attention, "_with_loops", lambda g: np.eye(5, dtype=int) if nx.is_isomorphic(g, odd) else right(g))
    for name in ("reach", "layers_for_diameter"):
        claim = CLAIMS[f"connectivity/{name}"]
        case = next(c for c in claim.cases("quick") if c.family == "all" and c.diameter == 4 and c.get("depth", 1) == 1)
        assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS


def test_what_never_settles_is_later_than_any_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_attention, "_with_loops", lambda g: np.eye(len(g), dtype=int))
    line = nx.path_graph(4)
    assert (minimal_depth(line), doubling_layers(line.to_directed())) == (5, 10)


def test_small_graphs_are_all_there() -> None:
    rng = np.random.default_rng(0)
    assert sum(len(graphs("all", diameter, rng)) for diameter in range(6)) == 1 + 2 + 4 + 11 + 34 + 156
    assert len(graphs("path", 3, rng)) == len(directed_graphs("path", 3, rng)) == 1
    every = directed_graphs("all", 3, rng)
    assert len({frozenset(g.edges) for g in every}) == len(every) == 64


def test_proof_confirms_the_inverse_and_breaks_on_mutations() -> None:
    from sympy import Eq, Integer, floor

    claim, L, most = CLAIMS["connectivity/log_depth_vertices"], symbol("depth"), symbol("vertices_max")
    assert claim.proof is not None
    assert all(step.holds for step in claim.proof(claim.statement))
    for right in (Integer(2) ** floor((L - 17) / 2), Integer(2) ** floor((L - 19) / 2), Integer(3) ** floor((L - 18) / 2),
                  Integer(2) ** floor((L - 18) / 2) - 1, Integer(2) ** floor((L - 18) / 3)):
        assert not all(step.holds for step in claim.proof(Eq(most, right)))


def test_the_conditional_bound_says_what_it_rests_on() -> None:
    claim = CLAIMS["connectivity/lower_bound_conditional"]
    assert claim.kind == "conditional"
    assert "If no MPC protocol" in claim.text
    assert claim.note.startswith("Conditional on the one-versus-two-cycle conjecture (sanford2024, Conjecture 2.4)")
    assert "One network cannot test a bound over all transformers." in claim.text


def test_what_is_ours_is_credited_to_us() -> None:
    for claim in CLAIMS.values():
        assert (claim.source.key == "depthlaw") == (claim.wording == "derived"), claim.key
        assert claim.source.key != "depthlaw" or claim.source.place.startswith("after "), claim.key


@pytest.mark.parametrize("depth", [1, 2])
def test_the_numbers_of_positive_entries_tell_the_cycles_apart_as_far_as_the_rows_do(depth):
    """What the note of one_vs_two_cycles_rows says: no integers are needed."""
    for m in range(3, 2 * 3**depth + 4):
        pair = nx.cycle_graph(2 * m), nx.disjoint_union(nx.cycle_graph(m), nx.cycle_graph(m))
        one, two = ({int(n) for n in (layer_at(integer_states(g), depth) > 0).sum(axis=1)} for g in pair)
        assert (one, two) == ({min(2 * m, 2 * 3**depth + 1)}, {min(m, 2 * 3**depth + 1)})
        assert (one != two) == cycles_told_apart(m, depth)
    note = CLAIMS["connectivity/one_vs_two_cycles_rows"].note
    assert "min(2m, 2 3^L + 1) and min(m, 2 3^L + 1)" in note
    assert "no statement about supports" not in note
