"""One attention layer: formulas against numpy, instances against their cases, derivatives against finite differences."""
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
from depthlaw.theory.rank_collapse import cubic_step_measured as measured
from depthlaw.theory.rank_collapse.residual_norms_measured import random_matrix
from depthlaw.theory.rank_collapse.softmax_attention import Head, ball_norms, centred, composite_norm, perturbation, propagate

CLAIMS = {claim.key.partition("/")[2]: claim for claim in cs.claims()}


@pytest.mark.parametrize("bad", [-1.0, math.inf, math.nan])
def test_gamma_free_constant_refuses_bad_sizes(bad):
    with pytest.raises(ValueError, match="logit_max"):
        cs.gamma_free_constant(bad)


def test_gamma_free_constant_grows_from_two_and_crosses_four_at_the_claimed_digits():
    sizes = np.linspace(0, 2, 41)
    values = [cs.gamma_free_constant(float(M)) for M in sizes]
    assert values[0] == 2.0
    assert (np.diff(values) > 0).all()
    root = measured.gamma_free_digits(Case(), 0).value / 10**10
    assert cs.gamma_free_constant(root) < 4 < cs.gamma_free_constant(root + 2e-10)


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_gamma_free_bound_holds_for_float_propagation(n, d, seed):
    rng = np.random.default_rng(seed)
    R, W, V = rng.normal(size=(n, d)), rng.normal(size=(d, d)), rng.normal(size=(d, d))
    R -= R.mean(axis=0)
    E = R @ W @ R.T
    after = math.exp(propagate(rng.normal(size=d), R, [[Head(W, V)]])[-1].log_norm)
    allowed = cs.gamma_free_constant(float(np.abs(E).max())) * np.abs(E).sum(axis=0).max() * composite_norm(R) * composite_norm(V)
    # propagate measures about the mean, which is within 2 (1 - 1/n) of the best centre.
    assert after <= 2 * (1 - 1 / n) * allowed


def test_the_scaled_layer_has_the_logits_its_case_names():
    case = Case(tokens=4, width=3, residual="1", qk_norm="1", value_norm="1", qk_width=1, bias=1, logit_max="3/7")
    with flint.ctx.workprec(128):
        tokens, head = measured._scaled_layer(case)
        sizes = [abs(entry) for row in perturbation(centred(tokens), head).tolist() for entry in row]
        assert max(float(v) for v in sizes) == pytest.approx(3 / 7, rel=2.0**-50)
        assert ball_norms(head.qk)[0] > 0


@pytest.mark.parametrize(("half", "weight"), [("1/3", "1"), ("2", "1/7")])
def test_the_pair_meets_its_closed_form(half, weight):
    digits = measured.pair_digits(Case(pair_half=half, qk_weight=weight), 0).value
    assert abs(digits / 10**12 - cs.pair_step(float(Fraction(half)), float(Fraction(weight)))) < 2e-12
    after = propagate(np.zeros(1), np.array([[1.0], [-1.0]]) * float(Fraction(half)), [[Head(np.eye(1) * float(Fraction(weight)), np.eye(1))]])[1]
    assert math.isclose(math.exp(after.log_norm) / math.sqrt(2), cs.pair_step(float(Fraction(half)), float(Fraction(weight))),
                        rel_tol=32 * 2.0**-52)


def test_the_signed_step_fails_just_beyond_the_lemma():
    claim = CLAIMS["signed_step"]
    for D, verdict in (("1.2564", Verdict.HOLDS), ("1.2566", Verdict.FAILS)):
        case = Case(instance="two tokens", range=D)
        assert judge(claim, case, claim.measured(case, 0), force=True).verdict is verdict


def test_small_logits_put_larger_ones_out_of_scope():
    large = Case(tokens=2, width=1, residual="1", qk_norm="1/2", value_norm="1", qk_width=1, bias=0)
    claim = CLAIMS["one_layer_small_logits"]
    assert judge(claim, large, claim.measured(large, 0)).verdict is Verdict.OUT_OF_SCOPE
    with flint.ctx.workprec(100):
        M = arb(cs.SMALL_LOGITS.numerator) / cs.SMALL_LOGITS.denominator
        assert 2 * M.exp() * (M.exp() - 1) / M < 4


def test_head_sums_by_hand():
    """g = (8, 1), g' = (1/2, 1), gamma^2 = 4: (8 + 1/10) (1/20 + 1) / (4 (11/10)^2)."""
    case = Case(instance="identity/both signs", tokens=16, balance="1/10")
    assert measured.head_sum_ratio(case, 0).value == Fraction(81, 10) * Fraction(21, 20) / (4 * Fraction(121, 100))


def attention(X, Wq, Wk, Wv):
    logits = X @ Wq @ (X @ Wk).T
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True) @ X @ Wv


def test_gradients_agree_with_finite_differences():
    case = Case(instance="generic", tokens=3, width=2)
    X, Wk, Wv = (np.array(random_matrix(case, r, 2, s), dtype=float) for r, s in ((3, 0), (2, 2), (2, 3)))
    Wq, nonzero, h = np.zeros((2, 2)), 0, 2.0**-20
    for entry in np.ndindex(2, 2):
        unit = np.zeros((2, 2))
        unit[entry] = h
        for dq, dk in ((unit, 0), (0, unit)):
            slope = (attention(X, Wq + dq, Wk + dk, Wv) - attention(X, Wq - dq, Wk - dk, Wv)) / (2 * h)
            nonzero += int((np.abs(slope) > h).sum())
    assert measured.nonzero_gradients(case, 0).value == nonzero > 0


def test_bias_widens_by_the_factor_of_the_mean():
    value = measured._best_centre(arb(1), Case(tokens=4, bias=1))
    with flint.ctx.workprec(64):
        assert ball(value.low, value.high).contains(arb(2) / 3)
    assert measured._best_centre(arb(1), Case(tokens=4, bias=0)).low == 1
