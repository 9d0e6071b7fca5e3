"""Convolutional arithmetic circuits: against loops, dense coefficients and attention's count."""

import itertools

import numpy as np
import pytest
import sympy

from depthlaw.theory.separation_rank import convolution
from depthlaw.theory.separation_rank.linear_attention import PRIME


def by_loops(weights, last, tokens):
    """One input, Python integers."""
    y = [[int(c) for c in token] for token in tokens]
    for matrix in weights.tolist():
        z = [[sum(w * c for w, c in zip(row, token, strict=True)) for row in matrix] for token in y]
        y = [[a * b for a, b in zip(z[i], z[i + 1], strict=True)] for i in range(0, len(z), 2)]
    return sum(a * b for a, b in zip(last.tolist(), y[0], strict=True)) % PRIME


@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 2), (3, 2), (2, 3)])
def test_circuit_by_loops(width, depth):
    rng = np.random.default_rng([width, depth])
    weights, last = rng.integers(0, PRIME, (depth, width, width)), rng.integers(0, PRIME, width)
    tokens = rng.integers(0, PRIME, (3, 2**depth, width))
    found = convolution.circuit(weights, last, tokens).tolist()
    assert found == [by_loops(weights, last, t) for t in tokens]


@pytest.mark.parametrize("alternating", [True, False])
def test_rank_over_the_rationals_of_the_expanded_output(alternating):
    x = sympy.symbols("x:8")
    weights, last = np.array([[[1, 2], [3, -1]], [[2, 1], [1, 5]]]), np.array([1, 4])
    y = [sympy.Matrix(x[i : i + 2]) for i in range(0, 8, 2)]
    for matrix in weights.tolist():
        z = [sympy.Matrix(matrix) * token for token in y]
        y = [z[i].multiply_elementwise(z[i + 1]) for i in range(0, len(z), 2)]
    output = sympy.Poly(sympy.expand((sympy.Matrix([last.tolist()]) * y[0])[0]), *x)
    own = (0, 2) if alternating else (0, 1)
    other = [i for i in range(4) if i not in own]
    pairs = list(itertools.product(range(2), repeat=2))

    def entry(i, j):
        places = zip((*own, *other), (*pairs[i], *pairs[j]), strict=True)
        return output.coeff_monomial(sympy.prod(x[2 * place + c] for place, c in places))

    dense = sympy.Matrix(4, 4, entry)
    assert dense.rank() == (4 if alternating else 2)
    found = convolution.coefficient_matrix(weights % PRIME, last, alternating)
    assert (found == np.array(dense.tolist(), dtype=object) % PRIME).all()


def test_tokens_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"accepted are 2\^L tokens"):
        convolution.circuit(*(np.ones(n, dtype=np.int64) for n in ((2, 2, 2), 2, (3, 2))))


@pytest.mark.parametrize(("width", "depth"), [(2, 2), (3, 2), (2, 3)])
def test_tensor_holds_the_values_at_unit_vectors(width, depth):
    rng = np.random.default_rng([width, depth])
    shared = rng.integers(0, PRIME, (depth, width, width))
    last = rng.integers(0, PRIME, width)
    layers = [np.broadcast_to(w, (2 ** (depth - k), width, width)) for k, w in enumerate(shared)]
    tensor = convolution.coefficient_tensor([*layers, last[None, None]])
    for letters in itertools.product(range(width), repeat=2**depth):
        tokens = np.eye(width, dtype=np.int64)[list(letters)]
        assert tensor[letters] == convolution.circuit(shared, last, tokens)


def cheapest_assignment(side, channels, features):
    """The cut over all ways to put every vertex on a side or to remove it."""
    tokens, best = 2 ** len(channels), None
    levels = range(1, len(channels) + 1)
    products = [(level, k) for level in levels for k in range(tokens >> level)]
    for states in itertools.product("ABx", repeat=len(products)):
        state, cost = dict(zip(products, states, strict=True)), 1
        for level, k in products:
            if state[level, k] == "x":
                cost *= channels[level - 1]
            for child in ((level - 1, 2 * k), (level - 1, 2 * k + 1)):
                below = state[child] if level > 1 else "A" if child[1] in side else "B"
                if "x" not in (below, state[level, k]) and below != state[level, k]:
                    # A token is removed; a product that is not may not stand beside another side.
                    cost *= features if level == 1 else 10**9
        best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize(("features", "channels"), [(2, (4, 4)), (3, (5, 2)), (3, (2, 3, 4))])
def test_cut_over_all_assignments(features, channels):
    for side in convolution.balanced(2 ** len(channels))[::4]:
        own = [int(token) - 1 for token in side]
        found = convolution.minimum_cut(own, channels, features)
        assert found == cheapest_assignment(own, channels, features)
        # The other side has the same cut.
        rest = [token for token in range(2 ** len(channels)) if token not in own]
        assert convolution.minimum_cut(rest, channels, features) == found


def test_rank_of_a_side_is_that_of_the_known_matrix():
    rng = np.random.default_rng(0)
    shared, last = rng.integers(0, PRIME, (2, 3, 3)), rng.integers(0, PRIME, 3)
    layers = [np.broadcast_to(w, (4 >> k, 3, 3)) for k, w in enumerate(shared)]
    tensor = convolution.coefficient_tensor([*layers, last[None, None]])
    for alternating, own in ((True, (0, 2)), (False, (0, 1))):
        matrix = convolution.coefficient_matrix(shared, last, alternating)
        assert convolution.matricised_rank(tensor, own) == convolution.rank_mod(matrix)


def test_layers_that_do_not_halve_are_refused():
    with pytest.raises(ValueError, match="halve down to one"):
        convolution.coefficient_tensor([np.ones((3, 2, 2), dtype=np.int64)])
