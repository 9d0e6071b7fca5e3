"""Least depth over all weights: the spaces of read-outs against nets that are run, thresholds
against linear programs with rational certificates, labellings one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from flint import nmod_mat
from scipy.optimize import linprog

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.connectivity import all_weights as aw

PRIME = 32_003


def all_swaps(length: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=length))


def on_all_swaps(length: int) -> tuple[Any, Any]:
    """All A + I, and 1 where vertices 0 and 2D are connected, else -1."""
    found = [aw.swapped_paths(swaps) for swaps in all_swaps(length)]
    return np.array([m for m, _ in found]), np.array([1 if yes else -1 for _, yes in found])


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_swapped_paths_are_two_paths_and_the_answer_is_that_of_a_search(length: int) -> None:
    path = nx.path_graph(length + 1)
    for swaps in all_swaps(length):
        matrix, connected = aw.swapped_paths(swaps)
        g = nx.from_numpy_array(matrix - np.eye(len(matrix), dtype=int))
        assert nx.is_isomorphic(g, nx.disjoint_union(path, path))
        assert connected == nx.has_path(g, 0, 2 * length)
        assert not connected or nx.shortest_path_length(g, 0, 2 * length) == length


@pytest.mark.parametrize("length", [1, 2])
def test_identity_weights_decide_every_labelling(length: int) -> None:
    matrix, _ = aw.swapped_paths((0,) * length)
    right = set()
    for order in permutations(range(len(matrix))):
        x = matrix[np.ix_(order, order)]
        connected = nx.has_path(nx.from_numpy_array(x), 0, 1)
        depth = 0
        while (x[0, 1] > 0) != connected:
            x, depth = x @ x.T @ x, depth + 1
        right.add(depth)
    assert max(right) == aw.identity_layers(length)


def random_states(matrices: Any, depth: int, rng: np.random.Generator) -> Any:
    """States of a net with three heads, skips and constants of each token, modulo a prime."""
    n = matrices.shape[1]

    def drawn(*shape: int) -> Any:
        return rng.integers(PRIME, size=shape)

    x = (matrices @ drawn(n, 5) + drawn(n, 5)) % PRIME
    for _ in range(depth):
        y = x @ drawn(5, 5) % PRIME + drawn(n, 5)
        for _head in range(3):
            scores = (x @ drawn(5, 5) % PRIME) @ x.transpose(0, 2, 1) % PRIME
            y += (scores @ x % PRIME) @ drawn(5, 5) % PRIME
        x = y % PRIME
    return x


def rank(*functions: Any) -> int:
    return int(nmod_mat((np.concatenate(functions) % PRIME).tolist(), PRIME).rank())


@pytest.mark.parametrize(("length", "depth"), [(3, 0), (4, 1), (5, 1), (6, 1)])
def test_entries_of_drawn_nets_span_what_the_layers_span(length: int, depth: int) -> None:
    matrices, _ = on_all_swaps(length)
    entries, inner = aw.first_spaces(matrices)
    if depth:
        entries, _ = aw.next_spaces(entries, inner)
    rng = np.random.default_rng(0)
    drawn = [random_states(matrices, depth, rng) for _ in range(4)]
    seen = np.concatenate([x.reshape(len(x), -1).T for x in drawn])
    assert rank(seen) == rank(entries) == rank(entries, seen)
    assert (rank(entries) == 2**length) == (length <= 3**depth)


def test_inner_products_of_drawn_nets_span_what_the_layers_span() -> None:
    matrices, _ = on_all_swaps(7)
    _, inner = aw.next_spaces(*aw.first_spaces(matrices))
    rng = np.random.default_rng(0)
    drawn = [random_states(matrices, 1, rng) for _ in range(20)]
    seen = np.concatenate([(x.transpose(0, 2, 1) @ x).reshape(len(x), -1).T for x in drawn])
    assert rank(seen) == rank(inner) == rank(inner, seen) < 2**7


def threshold(functions: Any, answer: Any) -> tuple[str, list[Fraction]]:
    """Coefficients whose combination has the signs of the answer, or non-negative weights of the
    points under which no function correlates with it: each found by a linear program and checked in
    rationals."""
    signed = functions * answer
    found = linprog(np.zeros(len(signed)), -signed.T, -np.ones(len(answer)), bounds=(None, None))
    if found.status == 0:
        values = [Fraction(v).limit_denominator(1000) for v in found.x]
        assert (np.array(values) @ signed > 0).all()
        return "read-out", values
    equal = np.concatenate([signed, np.ones((1, len(answer)))])
    found = linprog(np.zeros(len(answer)), A_eq=equal, b_eq=[*[0] * len(signed), 1])
    values = [Fraction(v).limit_denominator(1000) for v in found.x]
    assert min(values) >= 0
    assert sum(values) == 1
    assert not (signed @ np.array(values)).any()
    return "certificate", values


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_parity_of_the_swaps_has_the_sign_of_no_polynomial_of_lower_degree(length: int) -> None:
    """The theorem of Minsky and Papert, degree by degree."""
    _, answer = on_all_swaps(length)
    swaps = np.array(all_swaps(length))
    for degree in range(length + 1):
        chosen = [c for k in range(degree + 1) for c in combinations(range(length), k)]
        polynomials = np.array([swaps[:, list(c)].prod(axis=1) for c in chosen])
        kind, _ = threshold(polynomials, answer)
        assert kind == ("read-out" if degree == length else "certificate")


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_linear_programs_find_a_read_out_exactly_where_one_correlates(length: int) -> None:
    matrices, answer = on_all_swaps(length)
    entries, inner = aw.first_spaces(matrices)
    one = aw.next_spaces(entries, inner)[0]
    decided = [threshold(space, answer)[0] == "read-out" for space in (entries, one)]
    assert decided == [length <= 1, length <= 3]
    assert aw.layers_for_swaps(all_swaps(length), 2) == [*decided, True].index(True)


def test_products_of_two_entries_reach_twice_as_far() -> None:
    """One layer with an explicit read-out: the inner product of rows 0 and 2D."""
    for length in (4, 5, 6, 7):
        matrices, answer = on_all_swaps(length)
        rows = matrices @ matrices.transpose(0, 2, 1) @ matrices
        products = (rows[:, 0] * rows[:, -2]).sum(axis=1)
        assert np.array_equal(products > 0, answer > 0) == (length <= 6)
        assert aw.layers_for_swaps(all_swaps(length), 2, rows=True) == (1 if length <= 6 else 2)


def test_a_gap_between_the_ends_is_no_least_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "depthlaw.theory.connectivity.all_weights"
    monkeypatch.setattr(f"{module}.identity_layers", lambda diameter, rows: 2)
    assert aw.least_layers_all_weights.measure(Case(diameter=3)).value == -1
    assert aw.least_layers_all_weights.measure(Case(diameter=4)).value == 2
