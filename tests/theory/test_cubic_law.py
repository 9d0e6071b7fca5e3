"""The cubic law: the closed form of a pair, and derivatives where tokens are equal."""

import flint
import numpy as np
import pytest
from flint import arb

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import cubic_law as cl

ONE = {"qk_norm": "1", "value_norm": "1", "qk_width": 1}


def attention(X, qk, value):
    logits = X @ qk @ X.T
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True) @ X @ value


def test_the_pair_of_tokens_meets_its_closed_form_as_an_instance():
    """r' = sqrt(2) rho tanh(w rho^2), independent of how the instance is built."""
    case = Case(tokens=2, width=1, residual="1", bias=0, **(ONE | {"qk_norm": "1/2"}))
    found = cl.one_layer_cubic_v1.measure(case)
    with flint.ctx.workprec(128):
        assert (arb(1) / 4).tanh().overlaps(ball(found.low, found.high))
    assert found.high - found.low < found.low / 2**50


@pytest.mark.parametrize("equal", [True, False])
def test_queries_and_keys_get_no_gradient_where_tokens_are_equal(equal):
    """By finite differences, at weights of any size."""
    rng, h = np.random.default_rng(0), 2.0**-20
    X, Wq, Wk, Wv = (rng.normal(size=(size, 2)) for size in (3, 2, 2, 2))
    X = X[:1].repeat(3, axis=0) if equal else X
    for entry in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[entry] = h
        for dq, dk in ((unit, 0), (0, unit)):
            up, down = (attention(X, (Wq + s * dq) @ (Wk + s * dk).T, Wv) for s in (1, -1))
            assert bool(np.abs(up - down).max() < 1e-14) is equal
