"""Prescribed kernels: Cholesky factors against numpy, and correlations that fall with depth."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.rank_collapse import attention_kernels as kernels


def test_cholesky_agrees_with_numpy():
    def floats(matrix):
        return np.array([[float(v.p) / float(v.q) for v in row] for row in matrix.tolist()])

    exact = fmpq_mat([[fmpq(4, 5) ** abs(i - j) for j in range(4)] for i in range(4)])
    found = floats(kernels.cholesky(exact, kernels.rational_root))
    assert np.abs(found - np.linalg.cholesky(floats(exact))).max() < 1e-15


@pytest.mark.parametrize("levels", ["1/2", "1/10 1/2 9/10"])
def test_uniform_kernel_agrees_with_float64(levels):
    before, negative = np.eye(5), 0
    for rho in map(Fraction, levels.split()):
        after = np.linalg.cholesky((1 - float(rho)) * np.eye(5) + float(rho))
        negative += int((np.tril(after @ np.linalg.inv(before)) < -1e-12).sum())
        before = after
    measured = kernels.uniform_kernel.measure(Case(tokens=5, levels=levels))
    assert measured.value == negative == 0


@pytest.mark.parametrize("claim", [kernels.decay_kernel, kernels.uniform_kernel])
def test_falling_correlations_are_out_of_scope_and_fail_when_forced(claim):
    case = claim.control.case
    value = claim.measure(case)
    assert judge(claim, case, value).verdict is Verdict.OUT_OF_SCOPE
    assert judge(claim, case, value, force=True).verdict is Verdict.FAILS


def test_a_kernel_that_needs_irrational_factors_is_refused():
    with pytest.raises(ValueError, match="square of a rational"):
        kernels.decay_kernel.measure(Case(tokens=2, levels="1/2"))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_shaped_attention_starts_as_the_identity_where_it_is_centred(gamma):
    """alpha I + beta A(X) - gamma C with W_Q = 0 and alpha = beta = 1, C the uniform causal matrix:
    the identity for every input exactly if gamma = 1. Value-SkipInit, beta = gamma = 0, is the
    identity by definition."""
    tokens, key = np.random.default_rng(0).normal(size=(2, 5, 5))
    weights = np.tril(np.exp((tokens @ np.zeros((5, 5))) @ (tokens @ key).T))
    uniform = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    shaped = np.eye(5) + weights / weights.sum(axis=1, keepdims=True) - gamma * uniform
    assert bool(np.abs(shaped - np.eye(5)).max() < 1e-15) is (gamma == 1)
