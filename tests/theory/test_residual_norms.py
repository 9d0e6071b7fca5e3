"""Norms and layer normalisation: exact functions by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claims.values import Ball, Case, Exact
from depthlaw.theory.rank_collapse import residual_norms as rn
from depthlaw.theory.rank_collapse.rational_matrices import rank, rational_array, root, squared_norm
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm

U = 2.0**-52


@pytest.mark.parametrize("n", [2, 16])
def test_the_composite_norm_violates_the_triangle_inequality_without_bound(n):
    """Ones in the first row: (|A + A^T| / (|A| + |A^T|))^2 = (n + 1)^2 / (4 n), |A| = |A^T|."""
    A = rational_array(np.eye(n, dtype=int)[:1].T @ np.ones((1, n), int))
    exact = squared_norm(A + A.T) / (4 * squared_norm(A))
    assert exact == Fraction((n + 1) ** 2, 4 * n) > 1
    ratio = composite_norm((A + A.T).astype(float)) / (2 * composite_norm(A.astype(float)))
    assert math.isclose(ratio**2, exact, rel_tol=8 * U)


def test_root_is_exact_where_it_can_be():
    assert root(Fraction(9, 4)) == Exact(Fraction(3, 2))
    ball = root(Fraction(2))
    assert isinstance(ball, Ball)
    assert ball.low**2 < 2 < ball.high**2


@pytest.mark.parametrize("row", [[1, 2, 4], [1, 1]])
def test_layer_norm_refuses_irrational_and_zero_deviations(row):
    with pytest.raises(ValueError, match="must be rational and positive"):
        rn.layer_norm(rational_array([row]))


@pytest.mark.parametrize(
    ("instance", "expected"), [("simplex", 3), ("multiples", 1), ("collinear", 2), ("shifted", 1)]
)
def test_layer_norm_keeps_the_rank_of_the_centred_tokens(instance, expected):
    """D^-1 X (I - 11^T/d) has the rank of X (I - 11^T/d): only rows are scaled, none by 0."""
    tokens = rn.token_set(Case(instance=instance))
    assert rank(tokens - tokens.mean(axis=1, keepdims=True)) == expected
    assert rank(rn.layer_norm(tokens)) == expected
    assert ((rn.layer_norm(tokens) ** 2).mean(axis=1) == 1).all()
    # e + 1 and 2e + 3 span a plane; without their feature means a line.
    assert instance != "shifted" or rank(tokens) == 2
