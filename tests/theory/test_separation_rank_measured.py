"""Exact ranks against coefficient matrices, explicit weights against value matrices, and arguments against false statements."""
import math
from itertools import product

import numpy as np
import pytest
import sympy

from depthlaw.theory.glossary import symbol
from depthlaw.theory.separation_rank import measured as separation_rank_measured
from depthlaw.theory.separation_rank.linear_attention import PRIME, AttentionNet, forward, random_net, random_tokens, value_matrix
from depthlaw.theory.separation_rank.measured import (
    certified_rank,
    coordinate_net,
    degree_proof,
    measured_degree,
    measured_rank,
    measured_threshold,
    moments_degree_proof,
    rank_mod,
    separation_rank,
    threshold_proof,
)
from depthlaw.theory.values import Ball, Case

L = symbol("depth")


def coefficient_rank(net: AttentionNet, tokens: int) -> int:
    """Rank over Q of the coefficients of the output, monomials of one half against monomials of the other."""
    x = sympy.symbols(f"x:{tokens * net.width}")
    output = forward(net, np.array(x, dtype=object).reshape(tokens, net.width))[()]
    half = len(x) // 2
    terms = {(m[:half], m[half:]): c for m, c in sympy.Poly(output, *x).terms()}
    rows, columns = (sorted({m[side] for m in terms}) for side in (0, 1))
    return sympy.Matrix(len(rows), len(columns), [terms.get(key, 0) for key in product(rows, columns)]).rank()


@pytest.mark.parametrize(("width", "depth", "heads", "tokens"), [
    (1, 1, 1, 2), (1, 2, 1, 2), (2, 1, 1, 2), (2, 1, 2, 4), (3, 1, 1, 2), (2, 2, 1, 2),
])
def test_rank_of_values_is_the_rank_of_coefficients(width, depth, heads, tokens):
    net = random_net(np.random.default_rng(5), width=width, depth=depth, heads=heads, prime=None)
    found = separation_rank(np.random.default_rng(1), width=width, depth=depth, heads=heads, tokens=tokens)
    assert found.value == coefficient_rank(net, tokens)
    assert 0 < found.misses < 1e-6  # at most 20 inputs times degree 25, over the prime


def test_rank_modulo_a_prime():
    rng = np.random.default_rng(0)
    low = rng.integers(0, 9, (12, 5)) @ rng.integers(0, 9, (5, 12))
    assert rank_mod(low) == sympy.Matrix(low.tolist()).rank() == 5
    assert [rank_mod(m) for m in (np.zeros((3, 2), dtype=int), np.eye(3, dtype=int), np.eye(3, dtype=int) * PRIME)] == [0, 3, 0]


def test_few_inputs_certify_a_lower_bound_only():
    few = measured_rank(Case(width=2, depth=3, heads=1, tokens=4, inputs=20), 0)
    assert (few.value, few.misses) == (20, 1.0)
    # More inputs than the rank: nothing is cut off, and the chance of a miss is as small as without a limit.
    many = measured_rank(Case(width=2, depth=2, heads=1, tokens=4, inputs=30), 0)
    assert many.value == 18
    assert many.misses == 30 * (3**3 - 2) / PRIME


def test_separation_rank_refuses():
    rng = np.random.default_rng(0)
    for tokens in (0, 3):
        with pytest.raises(ValueError, match="even"):
            separation_rank(rng, width=2, depth=1, tokens=tokens)
    with pytest.raises(ValueError, match="reaches the prime"):
        separation_rank(rng, width=2, depth=19)


@pytest.mark.parametrize(("width", "depth"), [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_explicit_weights_have_the_rank_they_certify(width, depth):
    rng = np.random.default_rng(0)
    net, certified = coordinate_net(width, depth, PRIME), certified_rank(coordinate_net(width, depth))
    left, right = (random_tokens(rng, net, certified.value + 8, width + 1) for _ in range(2))
    assert rank_mod(value_matrix(net, left, right)) == certified.value
    assert certified.misses == 1.0  # almost all weights have at least this rank, most a larger one


def test_explicit_weights_multiply_powers_of_different_moments():
    assert certified_rank(coordinate_net(6, 5)).value == math.prod(3 ** (5 - layer) + 1 for layer in range(1, 6))
    # Width 2 has three moments: the last two of four layers share one, whose exponent is 3 + 1.
    assert certified_rank(coordinate_net(2, 4)).value == (27 + 1) * (9 + 1) * (4 + 1)


def test_certificate_refuses_each_broken_premise(monkeypatch):
    with pytest.raises(ArithmeticError, match="one linear form"):
        certified_rank(random_net(np.random.default_rng(0), width=2, depth=1, prime=None))
    dependent = coordinate_net(2, 2)
    dependent.key[1], dependent.value[1] = dependent.key[0], 2 * dependent.value[0]
    with pytest.raises(ArithmeticError, match="only 1 dim"):
        certified_rank(dependent)
    monkeypatch.setattr(separation_rank_measured, "form_exponents", lambda forms, distinct: [2] * len(distinct))
    with pytest.raises(ArithmeticError, match="differs"):
        certified_rank(coordinate_net(2, 2))


def test_explicit_weights_need_their_shape():
    for shape in ({"heads": 3, "tokens": 6}, {"heads": 2, "tokens": 4}):
        with pytest.raises(ValueError, match="heads that divide width"):
            measured_rank(Case(width=2, depth=2, weights="coordinate", **shape), 0)


def test_residual_connections_leave_no_degree():
    assert measured_degree(Case(width=2, depth=2), 0).value == 9
    mixed = measured_degree(Case(width=2, depth=2, residual=True), 0)
    assert isinstance(mixed, Ball)
    assert math.floor(mixed.low) == math.floor(mixed.high) < mixed.low


def test_threshold_by_tripling():
    assert [measured_threshold(Case(width=w), 0).value for w in (1, 3, 27)] == [0, 1, 3]
    with pytest.raises(ValueError, match="no power of three"):
        measured_threshold(Case(width=10), 0)


@pytest.mark.parametrize(("proof", "name", "true", "false"), [
    (degree_proof, "degree", 3**L, (2**L, 3**L - 1, 3 * L, 3 ** (L + 1), 3 ** (L - 1))),
    (moments_degree_proof, "moments_degree", (3**L - 1) / 2, (3**L / 2, (2**L - 1) / 2, (3**L + 1) / 2, L)),
    (threshold_proof, "threshold", sympy.log(symbol("width")) / sympy.log(3), (sympy.log(symbol("width")) / sympy.log(2), symbol("width"))),
])
def test_arguments_prove_the_true_statement_and_no_other(proof, name, true, false):
    def confirmed(right):
        return [step.holds for step in proof(sympy.Eq(symbol(name), right, evaluate=False))]

    assert set(confirmed(true)) == {True}
    assert all(False in confirmed(right) for right in false)


def test_the_normal_form_is_a_step_of_the_degree_in_the_moments(monkeypatch):
    """Moments that are not the sum of x x^T break it."""
    statement, moments = sympy.Eq(symbol("moments_degree"), (3**L - 1) / 2, evaluate=False), separation_rank_measured.moments
    assert all(step.holds for step in moments_degree_proof(statement))
    monkeypatch.setattr(separation_rank_measured, "moments", lambda net, tokens: 2 * moments(net, tokens))
    assert not all(step.holds for step in moments_degree_proof(statement))
