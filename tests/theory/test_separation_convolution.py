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
