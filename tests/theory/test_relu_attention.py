"""ReLU attention: streams against matrix powers, powers by hand, weights that were tried."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from judging import value

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.connectivity import relu_attention as ra


def test_one_relu_layer_appends_a_cube() -> None:
    g = nx.path_graph(5)
    a = nx.to_numpy_array(g, dtype=int) + np.eye(5, dtype=int)
    first, second = ra.relu_stream(g, 1)
    assert [int(x) for x in first.entries()] == a.ravel().tolist()
    assert [int(5 * x) for x in second.entries()] == np.linalg.matrix_power(a, 3).ravel().tolist()


def test_powers_of_two_layers_by_hand() -> None:
    # h = [A, A^3], scores A^2 + A^6, output A^3 + A^7 and A^5 + A^9.
    assert [value(ra.relu_powers, depth=depth) for depth in (0, 1, 2)] == [1, 2, 5]
    # h = [I, A], scores I + A^2, output I + A^2 and A + A^3: even exponents up to 3^L - 1, odd ones
    # up to 3^L.
    for start, found in (("A", [1, 1, 1, 1]), ("I A", [1, 3, 9, 27])):
        said = [value(ra.relu_powers_reported, depth=depth, start=start) for depth in range(4)]
        assert said == found


def test_an_even_power_is_not_counted_as_an_odd_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(ra.relu_powers, depth=1, start="I A") == -1
    with pytest.raises(ValueError, match="start='B'.*accepted are 'A', 'I A'"):
        value(ra.relu_powers, depth=1, start="B")
    monkeypatch.setattr(ra, "_exponents", lambda case: {1, 2})
    assert value(ra.relu_powers, depth=1) == -1


def test_within_capacity_the_identity_survives() -> None:
    case = Case(depth=1, trials=1, labellings=3)
    assert ra.nonnegative_weights_fail.measure(case, control=True).value == 1
    every = Case(depth=1, weights="every", vertices=8, labellings=20)
    assert ra.nonnegative_weights_fail.measure(every).value == 1


def test_no_author_is_named_where_only_the_start_that_we_added_fails() -> None:
    claim = ra.relu_powers_reported
    failing = {case.start for case in claim.every_case if 3**case.depth > claim.measure(case).value}
    assert failing == {"A"}
    assert claim.source.key == "depthlaw"
    assert claim.wording == "derived"
