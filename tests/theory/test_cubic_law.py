"""The cubic law: closed forms, scope, the slope's condition, derivatives at rank one."""

import flint
import numpy as np
import pytest
from flint import arb

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import cubic_law as cl
from depthlaw.theory.rank_collapse.rational_matrices import random_matrix

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


def test_larger_logits_are_out_of_scope():
    large = Case(tokens=2, width=1, residual="1", bias=0, **ONE)
    assert judge(cl.one_layer_cubic, large, Exact(1)).verdict is Verdict.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("condition", "verdict"), [("2001/1000", Verdict.HOLDS), ("1999/1000", Verdict.OUT_OF_SCOPE)]
)
def test_the_condition_of_the_first_order_term_is_computed_on_the_network(condition, verdict):
    """It is 2 for two opposite tokens of width one."""
    case = Case(tokens=2, width=1, condition=condition, residual="1/20", **ONE)
    assert judge(cl.cubic_rate, case, cl.cubic_rate.measure(case)).verdict is verdict


def test_gradients_agree_with_finite_differences():
    case = Case(instance="generic", tokens=3, width=2)
    X, Wk, Wv = (random_matrix(case, r, 2, s).astype(float) for r, s in ((3, 0), (2, 2), (2, 3)))
    Wq, nonzero, h = np.zeros((2, 2)), 0, 2.0**-20
    for entry in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[entry] = h
        for dq, dk in ((unit, 0), (0, unit)):
            up, down = (attention(X, (Wq + s * dq) @ (Wk + s * dk).T, Wv) for s in (1, -1))
            nonzero += int((np.abs(up - down) / (2 * h) > h).sum())
    assert cl.zero_query_key_gradient.measure(case).value == nonzero > 0
