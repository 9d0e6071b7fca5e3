"""One attention layer: claims against numpy, instances against their cases, closed forms."""
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.claim import Case
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.rank_collapse import cubic_step as cs
from depthlaw.theory.rank_collapse.rational_matrices import random_matrix
from depthlaw.theory.rank_collapse.softmax_attention import ball_norms, centred, composite_norm
from depthlaw.theory.values import Exact

ONE = {"qk_norm": "1", "value_norm": "1", "qk_width": 1}


def attention(X, qk, value):
    logits = X @ qk @ X.T
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True) @ X @ value


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_gamma_free_bound_holds_in_float64(n, d, seed):
    rng = np.random.default_rng(seed)
    R, W, V = rng.normal(size=(n, d)), rng.normal(size=(d, d)), rng.normal(size=(d, d))
    R -= R.mean(axis=0)
    E = R @ W @ R.T
    after = attention(R + rng.normal(size=d), W, V)
    constant = cs.gamma_free_bound.statement.rhs.subs(cs.logit_max, np.abs(E).max())
    allowed = float(constant) * np.abs(E).sum(axis=0).max() * composite_norm(R) * composite_norm(V)
    # The mean is within 2 (1 - 1/n) of the best centre.
    assert composite_norm(after - after.mean(axis=0)) <= 2 * (1 - 1 / n) * allowed + 1e-12


def test_the_gamma_free_constant_crosses_four_at_the_claimed_digits():
    root, digit = Fraction(cs.gamma_free_range.measure(Case()).value, 10**10), Fraction(1, 10**10)
    with flint.ctx.workprec(100):
        for size, below in ((root, True), (root + digit, False), (cs.SMALL_LOGITS, True)):
            M = arb(size.numerator) / size.denominator
            assert (2 * M.exp() * (M.exp() - 1) / M < 4) is below


def test_the_scaled_layer_has_the_logits_its_case_names():
    case = Case(tokens=4, width=3, residual="1", bias=1, logit_max="3/7", **ONE)
    with flint.ctx.workprec(128):
        tokens, head = cs.scaled_layer(case)
        sizes = [float(abs(entry)) for entry in head.perturbation(centred(tokens)).entries()]
        assert max(sizes) == pytest.approx(3 / 7, rel=2.0**-50)
        assert ball_norms(head.qk)[0] > 0


@pytest.mark.parametrize(("half", "weight"), [("1/3", "1"), ("2", "1/7")])
def test_the_pair_meets_its_closed_form(half, weight):
    digits = cs.pair_tanh.measure(Case(pair_half=half, qk_weight=weight)).value
    rho, w = float(Fraction(half)), float(Fraction(weight))
    assert abs(digits / 10**12 - rho * math.tanh(w * rho**2)) < 2e-12


def test_the_pair_of_tokens_meets_its_closed_form_as_an_instance():
    """r' = sqrt(2) rho tanh(w rho^2), independent of how the instance is built."""
    case = Case(tokens=2, width=1, residual="1", bias=0, **(ONE | {"qk_norm": "1/2"}))
    found = cs.one_layer_cubic_v1.measure(case)
    with flint.ctx.workprec(128):
        assert (arb(1) / 4).tanh().overlaps(ball(found.low, found.high))
    assert found.high - found.low < found.low / 2**50


@pytest.mark.parametrize(("claim", "qk_norm"), [
    (cs.one_layer_cubic, "1"), (cs.one_layer_small_logits, "1/2")])
def test_larger_logits_are_out_of_scope(claim, qk_norm):
    large = Case(tokens=2, width=1, residual="1", bias=0, **(ONE | {"qk_norm": qk_norm}))
    assert judge(claim, large, Exact(1)).verdict is Verdict.OUT_OF_SCOPE


@pytest.mark.parametrize(("condition", "verdict"), [
    ("2001/1000", Verdict.HOLDS), ("1999/1000", Verdict.OUT_OF_SCOPE)])
def test_the_condition_of_the_first_order_term_is_computed_on_the_network(condition, verdict):
    """It is 2 for two opposite tokens of width one."""
    case = Case(tokens=2, width=1, condition=condition, residual="1/20", **ONE)
    assert judge(cs.cubic_rate, case, cs.cubic_rate.measure(case)).verdict is verdict


def test_head_sums_by_hand():
    """g = (8, 1), g' = (1/2, 1), gamma^2 = 4: (8 + 1/10) (1/20 + 1) / (4 (11/10)^2)."""
    case = Case(instance="identity/both signs", tokens=16, balance="1/10")
    by_hand = Fraction(81, 10) * Fraction(21, 20) / (4 * Fraction(121, 100))
    assert cs.heads_common_gamma.measure(case).value == by_hand


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
    assert cs.zero_query_key_gradient.measure(case).value == nonzero > 0
