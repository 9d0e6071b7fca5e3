"""Clustering with normalisation: layers against NumPy, and each law under the other's net."""

import flint
import numpy as np
import pytest
from flint import arb_mat

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Outside
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.rank_collapse import normalised_clustering as nc

POST, PRE = nc.post_norm_clusters, nc.pre_norm_clusters
CASE = Case(tokens=4, width=3, inverse_temperature="3/2", step="1/2", centre=20)


def floats(matrix):
    return np.array([[float(v) for v in row] for row in matrix.tolist()])


@pytest.mark.parametrize("post", [False, True])
def test_a_layer_agrees_with_numpy(post):
    with flint.ctx.workprec(128):
        tokens = nc.start(CASE) * 2
        found = floats(nc.layer(tokens, CASE, post=post))
    X = floats(tokens)
    T = X / np.linalg.norm(X, axis=1, keepdims=True)
    P = np.exp(1.5 * T @ T.T)
    expected = X + 0.5 * P / P.sum(axis=1, keepdims=True) @ T
    if post:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 1e-14


def test_the_diameter_is_twice_one_minus_the_least_cosine():
    tokens = arb_mat([[2, 0], [0, 3], [1, 1]])
    assert abs(float(nc.squared_diameter(tokens)) - 2) < 1e-15


@pytest.mark.parametrize("claim", [POST, PRE])
def test_the_interval_is_narrow_and_left_by_the_other_net(claim):
    case = claim.grid["quick"][-1]
    interval, value = claim.predict(case), claim.measure(case)
    assert float(interval.high - interval.low) < 0.02
    wide = Case(**case.fields() | {"spread": "4"})
    other = nc._measured(wide, post=claim is PRE, rate=claim is POST)
    assert judge(claim, case, value).verdict is Verdict.HOLDS
    assert judge(claim, case, other).verdict is Verdict.FAILS


def test_large_angles_are_out_of_scope():
    far = Case(**PRE.grid["quick"][0].fields() | {"centre": 0})
    assert isinstance(PRE.measure(far), Outside)
