"""Softmax attention in float64 by (centre, residual), held against the plain forward pass in ball arithmetic."""
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.rank_collapse import softmax_attention as sa

U = 2.0**-53
integers = st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=2, max_size=5)


def product_of_norms(matrix):
    """The square of the composite norm, exactly, for integer or rational entries."""
    return max(sum(map(abs, c)) for c in zip(*matrix, strict=True)) * max(sum(map(abs, r)) for r in matrix)


@given(integers)
def test_composite_norm_is_the_root_of_the_exact_product(matrix):
    # Two roots and a product: three roundings of relative size U, the sums are exact.
    exact = math.sqrt(product_of_norms(matrix))
    assert abs(float(sa.composite_norm(np.array(matrix))) - exact) <= 4 * U * exact


def test_composite_norm_does_not_underflow_where_the_product_does():
    A = np.full((2, 2), 1e-200)
    assert np.abs(A).sum(0).max() * np.abs(A).sum(1).max() == 0.0
    assert abs(float(sa.composite_norm(A)) / 2e-200 - 1) <= 8 * U


def test_composite_norm_breaks_the_triangle_inequality():
    A = np.array([[1, 1], [0, 0]])
    assert product_of_norms((A + A.T).tolist()) == 9 > 8 == (2**2) * product_of_norms(A.tolist())


@given(integers, st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_the_mean_attains_the_smallest_norm_for_tokens_in_pairs(half, centre):
    tokens = half + [[-v for v in row] for row in half]
    moved = [[v - c for v, c in zip(row, centre, strict=True)] for row in tokens]
    assert product_of_norms(moved) >= product_of_norms(tokens)


@given(integers, st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_the_mean_is_within_its_factor_of_any_centre(tokens, centre):
    n = len(tokens)
    mean = [Fraction(sum(column), n) for column in zip(*tokens, strict=True)]

    def around(c):
        return product_of_norms([[v - m for v, m in zip(row, c, strict=True)] for row in tokens])

    assert around(mean) <= (2 - Fraction(2, n)) ** 2 * around(centre)


def test_the_factor_of_the_mean_is_attained_by_the_identity():
    n = 5
    identity = np.eye(n)
    ratio = float(sa.composite_norm(identity - identity.mean(axis=0)))
    assert abs(ratio - 2 * (1 - 1 / n)) <= 8 * n * U


@given(integers)
def test_gamma_is_at_most_the_root_of_the_tokens(rows):
    E = np.array(rows, dtype=float) @ np.array(rows, dtype=float).T
    assert sa.gamma(E) <= math.sqrt(len(rows)) * (1 + 8 * U)


def test_gamma_of_scaled_identities_and_of_nothing():
    assert sa.gamma(np.eye(16)) == 2.0
    assert sa.gamma(np.zeros((3, 3))) == 0.0
    assert sa.gamma(np.outer([1.0, 2.0], [1.0, 1.0])) == 0.0


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros(3), np.full((2, 2), np.nan)])
def test_gamma_refuses_what_is_not_a_finite_square_matrix(bad):
    with pytest.raises(ValueError, match="finite square matrix"):
        sa.gamma(bad)


def random_heads(rng, d, heads, *, bias):
    def matrix():
        return rng.normal(size=(d, d)) / d

    return [sa.Head(matrix(), matrix(), 4, rng.normal(size=d) if bias else None) for _ in range(heads)]


def in_balls(array):
    return arb_mat(np.atleast_2d(array).tolist())


def exact_step(state, heads):
    """One layer from exactly the float64 state, as the plain forward pass in balls: the residual around the mean."""
    n = len(state.residual)
    tokens = in_balls(state.residual) * arb(state.log_norm).exp() + in_balls(np.tile(state.centre, (n, 1)))
    balls = [h._replace(qk=in_balls(h.qk), value=in_balls(h.value), qk_bias=None if h.qk_bias is None else in_balls(h.qk_bias).transpose())
             for h in heads]
    return sa.centred(sa.attention(tokens, balls))


def relative_error_of_a_step(state, heads):
    """First-order bound on the relative error of the new norm: U times the operation counts, times the same step on absolute values."""
    (n, d), s = state.residual.shape, abs(state.log_norm)
    R, x, t, scale = np.abs(state.residual), np.abs(state.centre), math.exp(2 * state.log_norm), math.exp(state.log_norm)
    error, size = np.zeros((n, d)), np.zeros((n, d))
    for h in heads:
        root, W, V = math.sqrt(h.qk_width), np.abs(h.qk), np.abs(h.value)
        exact = state.residual @ h.qk @ state.residual.T / root
        D = exact.max(1, keepdims=True) - exact.min(1, keepdims=True)
        d_logits = (2 * d + 4) * U * (R @ W @ R.T / root).max(1, keepdims=True)
        shared = scale * (R @ (W.T @ x + (0 if h.qk_bias is None else np.abs(h.qk_bias)))).max() / root
        d_q = (4 * d + 2 * s + 20) * U * shared + (n + 8) * U
        d_y = 2 * d_logits + D * (4 * s + 10) * U
        d_z = d_y + D * ((n + 2) * U + d_q)
        r = state.residual @ (h.qk.T @ state.centre + (0 if h.qk_bias is None else h.qk_bias)) * scale / root
        q = np.exp(r - r.max()) / np.exp(r - r.max()).sum()
        growth = np.exp(2 * t * D)
        error += q * growth * ((d_y + d_z) * (1 + t * D) + D * (d_q + 8 * U)) @ R @ V
        size += (q * growth * D) @ R @ V
    error = error + 2 * (n + d) * U * size
    return error + error.mean(axis=0) + (n + 4) * U * size


@pytest.mark.parametrize("log10_norm", [0.3, -1, -3, -20, -120, -400])
@pytest.mark.parametrize(("heads", "bias"), [(1, False), (2, True)])
def test_a_step_agrees_with_the_plain_forward_pass_within_its_derived_error(log10_norm, heads, bias):
    rng = np.random.default_rng(7)
    n, d = 6, 5
    start = sa.propagate(rng.normal(size=d), rng.normal(size=(n, d)), [])[0]
    state = start._replace(log_norm=log10_norm * math.log(10))
    layer = random_heads(rng, d, heads, bias=bias)
    after = sa.step(state, layer)
    with flint.ctx.workprec(6000):
        exact = exact_step(state, layer)
        log_norm = sa.ball_composite_norm(exact).log()
        unit = np.array([[float(v / arb(3 * state.log_norm).exp()) for v in row] for row in exact.tolist()])
        distance = abs(float(log_norm - arb(after.log_norm)))
    errors = relative_error_of_a_step(state, layer)
    relative = max(errors.sum(0).max() / np.abs(unit).sum(0).max(), errors.sum(1).max() / np.abs(unit).sum(1).max())
    allowed = 2 * relative + (6 * abs(state.log_norm) + 10) * U  # twice for second order; the sum 3 s + log norm is rounded too
    assert allowed < 1e-10
    assert distance <= allowed


def test_a_pair_of_tokens_follows_its_closed_form_far_below_float64():
    depth, rho = 8, 0.5
    states = sa.propagate(np.zeros(1), np.array([[rho], [-rho]]), [[sa.Head(np.eye(1), np.eye(1))]] * depth)
    with flint.ctx.workprec(20000):
        exact, error = arb(rho), 0.0
        for layer in range(1, depth + 1):
            # Residual rho (1, -1) goes to rho tanh(rho^2) (1, -1): slope at most 3, so an error at most triples in a layer.
            error = 3 * error + (6 * abs(states[layer - 1].log_norm) + 64) * U
            exact = exact * (exact * exact).tanh()
            assert abs(float((exact * arb(2).sqrt()).log() - arb(states[layer].log_norm))) <= error
    assert states[-1].log_norm < -1000 * math.log(10)


def test_propagate_iterates_step_and_moves_the_mean_into_the_centre():
    rng = np.random.default_rng(1)
    layers = [random_heads(rng, 3, 2, bias=True) for _ in range(3)]
    x, R = rng.normal(size=3), rng.normal(size=(4, 3))
    states = sa.propagate(x, R, layers)
    for before, after, heads in zip(states, states[1:], layers, strict=False):
        again = sa.step(before, heads)
        assert (again.centre == after.centre).all()
        assert (again.residual == after.residual).all()
        assert again.log_norm == after.log_norm
    assert np.abs(states[0].centre - (x + R.mean(axis=0))).max() <= 8 * U * (np.abs(x).max() + np.abs(R).max())
    assert all(np.abs(s.residual.mean(axis=0)).max() <= 8 * U for s in states)


def test_equal_tokens_stay_equal():
    states = sa.propagate(np.ones(2), np.zeros((3, 2)), [[sa.Head(np.eye(2), 2 * np.eye(2))]] * 2)
    assert [s.log_norm for s in states] == [-math.inf] * 3
    assert states[-1].centre.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(("centre", "residual", "message"), [
    (np.zeros(2), np.zeros((3, 3)), "shape"), (np.zeros(2), np.zeros(2), "shape"), (np.array([np.inf]), np.zeros((2, 1)), "finite")])
def test_propagate_refuses_bad_input(centre, residual, message):
    with pytest.raises(ValueError, match=message):
        sa.propagate(centre, residual, [])


def test_growth_beyond_float64_is_reported():
    with pytest.raises(ValueError, match="scale the weights down"):
        sa.propagate(np.zeros(1), np.array([[1.0], [-1.0]]), [[sa.Head(np.eye(1), 1e80 * np.eye(1))]] * 4)


def test_a_layer_without_heads_is_refused():
    with pytest.raises(ValueError, match="at least one head"):
        sa.attention(arb_mat([[1], [2]]), [])


def test_softmax_rows_are_stochastic_and_perturbation_ranges_are_exact():
    rows = sa.softmax_rows(arb_mat([[1, 2, 3], [0, 0, 0]])).tolist()
    assert all(sum(row).contains(1) for row in rows)
    assert all(v.contains(arb(1) / 3) or v.overlaps(arb(1) / 3) for v in rows[1])
    E = sa.perturbation(arb_mat([[1], [-1]]), sa.Head(arb_mat([[6]]), arb_mat([[1]]), 9))
    assert [r.contains(4) for r in sa.row_ranges(E)] == [True, True]
