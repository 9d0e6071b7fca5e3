"""Ranks of values against coefficient matrices, and explicit weights against value matrices."""

from itertools import product

import numpy as np
import pytest
import sympy

from depthlaw.theory.claims.values import Case
from depthlaw.theory.separation_rank import explicit_weights, linear_attention as la
from depthlaw.theory.separation_rank.explicit_weights import certified_rank, coordinate_net
from depthlaw.theory.separation_rank.value_rank import measured_rank, rank_mod, separation_rank


def coefficient_rank(net: la.LinearAttentionNet, tokens: int) -> int:
    """Rank over Q of the output's coefficients, monomials of one half against the other's."""
    x = sympy.symbols(f"x:{tokens * net.width}")
    output = la.forward(net, np.array(x, dtype=object).reshape(tokens, net.width))[()]
    half = len(x) // 2
    terms = {(m[:half], m[half:]): c for m, c in sympy.Poly(output, *x).terms()}
    rows, columns = (sorted({m[side] for m in terms}) for side in (0, 1))
    entries = [terms.get(key, 0) for key in product(rows, columns)]
    return sympy.Matrix(len(rows), len(columns), entries).rank()


@pytest.mark.parametrize(
    ("width", "depth", "heads", "tokens"),
    [(1, 1, 1, 2), (1, 2, 1, 2), (2, 1, 1, 2), (2, 1, 2, 4), (3, 1, 1, 2), (2, 2, 1, 2)],
)
def test_rank_of_values_is_the_rank_of_coefficients(width, depth, heads, tokens):
    shape = {"width": width, "depth": depth, "heads": heads}
    net = la.random_net(np.random.default_rng(5), prime=None, **shape)
    found = separation_rank(np.random.default_rng(1), tokens=tokens, **shape)
    assert found.value == coefficient_rank(net, tokens)
    assert 0 < found.misses < 1e-6  # at most 20 inputs times degree 25, over the prime


def test_few_inputs_certify_a_lower_bound_only():
    few = measured_rank(Case(width=2, depth=3, heads=1, tokens=4, inputs=20), 0)
    assert (few.value, few.misses) == (20, 1.0)
    # More inputs than the rank: nothing is cut off; a miss is as rare as without a limit.
    many = measured_rank(Case(width=2, depth=2, heads=1, tokens=4, inputs=30), 0)
    assert many.value == 18
    assert many.misses == 30 * (3**3 - 2) / la.PRIME


def test_separation_rank_refuses():
    rng = np.random.default_rng(0)
    for tokens in (0, 3):
        with pytest.raises(ValueError, match="even"):
            separation_rank(rng, width=2, depth=1, tokens=tokens)
    with pytest.raises(ValueError, match="reaches the prime"):
        separation_rank(rng, width=2, depth=19)


@pytest.mark.parametrize(("width", "depth"), [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_explicit_weights_have_the_rank_they_certify(width, depth):
    rng, net = np.random.default_rng(0), coordinate_net(width, depth, la.PRIME)
    certified = certified_rank(coordinate_net(width, depth))
    left, right = (la.random_tokens(rng, net, certified.value + 8, width + 1) for _ in range(2))
    assert rank_mod(la.value_matrix(net, left, right)) == certified.value
    assert certified.misses == 1.0  # almost all weights have at least this rank, most a larger one


def test_certificate_refuses_each_broken_premise(monkeypatch):
    with pytest.raises(ArithmeticError, match="one linear form"):
        certified_rank(la.random_net(np.random.default_rng(0), width=2, depth=1, prime=None))
    dependent = coordinate_net(2, 2)
    dependent.key[1], dependent.value[1] = dependent.key[0], 2 * dependent.value[0]
    with pytest.raises(ArithmeticError, match="only 1 dim"):
        certified_rank(dependent)
    monkeypatch.setattr(explicit_weights, "form_exponents", lambda _, distinct: [2] * len(distinct))
    with pytest.raises(ArithmeticError, match="differs"):
        certified_rank(coordinate_net(2, 2))


@pytest.mark.parametrize("shape", [{"heads": 3, "tokens": 6}, {"heads": 2, "tokens": 4}])
def test_explicit_weights_need_their_shape(shape):
    with pytest.raises(ValueError, match="heads that divide width"):
        measured_rank(Case(width=2, depth=2, weights="coordinate", **shape), 0)
