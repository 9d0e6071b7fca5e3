"""Steps of the cubic law: claims against numpy and by hand, instances against their cases."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given, strategies as st

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.rank_collapse import cubic_step as cs
from depthlaw.theory.rank_collapse.softmax_attention import ball_norms, centred, composite_norm


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_gamma_free_bound_holds_in_float64(n, d, seed):
    rng = np.random.default_rng(seed)
    R, W, V = rng.normal(size=(n, d)), rng.normal(size=(d, d)), rng.normal(size=(d, d))
    R -= R.mean(axis=0)
    E = R @ W @ R.T
    X = R + rng.normal(size=d)
    P = np.exp(X @ W @ X.T - (X @ W @ X.T).max(axis=1, keepdims=True))
    after = P / P.sum(axis=1, keepdims=True) @ X @ V
    constant = cs.gamma_free_bound.statement.rhs.subs(cs.logit_max, np.abs(E).max())
    allowed = float(constant) * np.abs(E).sum(axis=0).max() * composite_norm(R) * composite_norm(V)
    # The mean is within 2 (1 - 1/n) of the best centre.
    assert composite_norm(after - after.mean(axis=0)) <= 2 * (1 - 1 / n) * allowed + 1e-12


def test_the_gamma_free_constant_crosses_four_at_the_claimed_digits():
    root, digit = Fraction(4563239156, 10**10), Fraction(1, 10**10)
    with flint.ctx.workprec(100):
        for size, below in ((root, True), (root + digit, False), (Fraction(4563, 10**4), True)):
            M = arb(size.numerator) / size.denominator
            assert (2 * M.exp() * (M.exp() - 1) / M < 4) is below


def test_the_scaled_layer_has_the_logits_its_case_names():
    norms = {"residual": "1", "qk_norm": "1", "value_norm": "1", "qk_width": 1}
    case = Case(tokens=4, width=3, bias=1, logit_max="3/7", **norms)
    with flint.ctx.workprec(128):
        tokens, head = cs.scaled_layer(case)
        sizes = [float(abs(entry)) for entry in head.perturbation(centred(tokens)).entries()]
        assert max(sizes) == pytest.approx(3 / 7, rel=2.0**-50)
        assert ball_norms(head.qk)[0] > 0


def test_head_sums_by_hand():
    """g = (8, 1), g' = (1/2, 1), gamma^2 = 4: (8 + 1/10) (1/20 + 1) against 4 (11/10)^2."""
    case = Case(step="heads", instance="identity/both signs", tokens=16, balance="1/10")
    by_hand = Fraction(81, 10) * Fraction(21, 20) - 4 * Fraction(121, 100)
    assert cs.steps_as_written.measure(case).value == by_hand
