"""Reach beyond the plain network: streams against matrix powers, radii against distances, shortcuts against search, the verdicts."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case
from depthlaw.theory.connectivity import graph_reach_measured
from depthlaw.theory.connectivity.graph_attention import graph
from depthlaw.theory.connectivity.graph_reach import claims
from depthlaw.theory.connectivity.graph_reach_measured import (
    first_difference,
    forest_components,
    length_max,
    relu_powers,
    relu_stream,
    relu_unbroken,
    row_reach,
    surviving_supports,
    survivors,
)
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {claim.key: claim for claim in claims()}


@pytest.mark.parametrize("key", [key for key, claim in CLAIMS.items() if claim.awaited == "HOLDS"])
def test_quick_cases_hold(key: str) -> None:
    claim = CLAIMS[key]
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")} == {Verdict.HOLDS}


def test_what_is_printed_or_reported_fails_where_it_should() -> None:
    powers, lengths = CLAIMS["connectivity/relu_powers_reported"], CLAIMS["connectivity/log_depth_lengths_printed"]
    assert {(c.start, c.depth): judge(powers, c, powers.measured(c, 0)).verdict for c in powers.cases("quick")} == {
        ("A", 0): Verdict.HOLDS, **{("A", depth): Verdict.FAILS for depth in (1, 2, 3)},
        **{("I A", depth): Verdict.HOLDS for depth in (0, 1, 2, 3)}}
    # That every start must do is our hardening, so it does not head the refutations of theorems.
    assert powers.wording == "universal"
    assert {c.depth: judge(lengths, c, lengths.measured(c, 0)).verdict for c in lengths.cases("quick")} == {
        29: Verdict.HOLDS, 32: Verdict.FAILS, 33: Verdict.HOLDS, 80: Verdict.FAILS}


def test_one_relu_layer_appends_a_cube() -> None:
    g = nx.path_graph(5)
    a = nx.to_numpy_array(g, dtype=int) + np.eye(5, dtype=int)
    first, second = relu_stream(g, 1)
    assert [int(x) for x in first.entries()] == a.ravel().tolist()
    assert [int(5 * x) for x in second.entries()] == np.linalg.matrix_power(a, 3).ravel().tolist()


def test_powers_of_two_layers_by_hand() -> None:
    # h = [A, A^3], scores A^2 + A^6, output A^3 + A^7 and A^5 + A^9.
    assert [relu_powers(Case(depth=depth), 0).value for depth in (0, 1, 2)] == [1, 2, 5]
    assert [relu_unbroken(Case(depth=depth), 0).value for depth in (0, 1, 2)] == [1, 1, 1]
    # h = [I, A], scores I + A^2, output I + A^2 and A + A^3: even exponents up to 3^L - 1, odd ones up to 3^L.
    assert [relu_unbroken(Case(depth=depth, start="I A"), 0).value for depth in (0, 1, 2, 3)] == [1, 3, 9, 27]


def test_an_even_power_is_not_counted_as_an_odd_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert relu_powers(Case(depth=1, start="I A"), 0).value == -1
    monkeypatch.setattr(graph_reach_measured, "_exponents", lambda case: {1, 2})
    assert relu_powers(Case(depth=1), 0).value == -1
    monkeypatch.undo()
    with pytest.raises(ValueError, match="start='B'.*accepted are 'A', 'I A'"):
        relu_powers(Case(depth=1, start="B"), 0)


def test_the_stream_that_a_claim_starts_from_stands_in_its_words() -> None:
    for name in ("relu_reach", "relu_powers", "relu_powers_reported", "nonnegative_weights_fail"):
        assert "starts as A" in CLAIMS[f"connectivity/{name}"].text


def test_weights_tried_differ_and_are_as_many_as_the_words_say(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, seen, right = CLAIMS["connectivity/nonnegative_weights_fail"], [], graph_reach_measured._signed_output

    def recorded(adjacency: Any, weights: Any) -> Any:
        seen.append(tuple(tuple(w.ravel()) for w in weights))
        return right(adjacency, weights)

    monkeypatch.setattr(graph_reach_measured, "_signed_output", recorded)
    for case in claim.cases("theory"):
        seen.clear()
        claim.measured(case, 0)
        assert len(set(seen)) == case.trials
        assert len(seen) == case.trials * case.labellings
        assert str(case.trials) in claim.text
    # Layers get kinds of their own: some choice is the identity below and something else above.
    assert any(np.array_equal(np.reshape(low, (22, 22)), np.eye(22)) and not np.array_equal(np.reshape(high, (44, 44)), np.eye(44))
               for low, high in seen)


def test_a_cycle_breaks_the_count_of_a_forest() -> None:
    control = CLAIMS["connectivity/forest_components"].control
    assert control.statement is None
    assert forest_components(control.case, 0).value == 14  # not 20 - 7


@given(st.integers(3, 40))
def test_rows_of_a_path_meet_within_twice_the_reach(diameter: int) -> None:
    assert row_reach(Case(family="path", diameter=diameter, depth=1), 0).value == min(6, diameter)


def test_barbells_and_stars_lie_within_capacity() -> None:
    rng = np.random.default_rng(0)
    assert nx.diameter(graph("barbell", 7, rng)) == 7
    assert nx.diameter(graph("star", 2, rng)) == 2
    with pytest.raises(ValueError, match="a barbell 3 or more"):
        graph("barbell", 2, rng)


def test_one_wrong_graph_of_the_atlas_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that is blind on the path of 6 vertices alone is caught by the case that tries every small graph."""
    for key, module in (("connectivity/relu_reach", "relu_stream"), ("connectivity/row_reach", "clipped_states")):
        claim, case = CLAIMS[key], Case(family="all", diameter=5, depth=1)
        assert case in claim.cases("theory")
        right = getattr(graph_reach_measured, module)

        def blind(g: nx.Graph, *rest: int, right: Callable[..., Any] = right) -> Any:
            return right(nx.empty_graph(6) if nx.is_isomorphic(g, nx.path_graph(6)) else g, *rest)

        assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.HOLDS
        monkeypatch.setattr(graph_reach_measured, module, blind)
        assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS


def test_within_capacity_the_identity_survives() -> None:
    assert survivors(longest=0)(Case(depth=1, trials=1, labellings=3), 0).value == 1
    assert surviving_supports(Case(vertices=8, labellings=20), 0).value == 1


def test_first_difference_counts_the_closing_walks() -> None:
    assert [first_difference(Case(cycle_length=m), 0).value for m in (3, 5, 8)] == [3, 5, 8]


@pytest.mark.parametrize("depth", [5, 8, 9, 32])
def test_lengths_by_search_are_powers_of_two(depth: int) -> None:
    most = length_max(Case(depth=depth, per_doubling=4, fixed_layers=5), 0).value
    assert most == 2 ** ((depth - 5) // 4)


def test_proof_confirms_the_inverse_and_breaks_on_mutations() -> None:
    from depthlaw.ledger.verdicts.mutation import mutants

    claim = CLAIMS["connectivity/log_depth_lengths"]
    assert claim.proof is not None
    assert all(step.holds for step in claim.proof(claim.statement))
    for change, statement in mutants(claim.statement):
        assert not all(step.holds for step in claim.proof(statement)), change
