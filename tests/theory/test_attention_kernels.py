"""Prescribed kernels: Cholesky factors against numpy, and what happens when correlations fall with depth."""
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.rank_collapse import attention_kernels as ak
from depthlaw.theory.rank_collapse import attention_kernels_measured as measured

CLAIMS = {claim.key.partition("/")[2]: claim for claim in ak.claims()}


def test_cholesky_agrees_with_numpy():
    kernel = [[Fraction(4, 5) ** abs(i - j) for j in range(4)] for i in range(4)]
    assert np.abs(np.array(measured.cholesky(kernel), dtype=float) - np.linalg.cholesky(np.array(kernel, dtype=float))).max() < 1e-15


def test_cholesky_refuses_irrational_pivots():
    with pytest.raises(ValueError, match="square of a rational"):
        measured.cholesky([[Fraction(2)]])


@pytest.mark.parametrize("levels", ["1/2", "1/10 1/2 9/10"])
def test_uniform_kernel_agrees_with_float64(levels):
    before, negative = np.eye(5), 0
    for rho in map(Fraction, levels.split()):
        after = np.linalg.cholesky((1 - float(rho)) * np.eye(5) + float(rho))
        negative += int((np.tril(after @ np.linalg.inv(before)) < -1e-12).sum())
        before = after
    assert measured.uniform_kernel_errors(Case(tokens=5, levels=levels), 0).value == negative == 0


@pytest.mark.parametrize("name", ["decay_kernel", "uniform_kernel"])
def test_falling_correlations_are_out_of_scope_and_fail_when_forced(name):
    claim, case = CLAIMS[name], CLAIMS[name].control.case
    value = claim.measured(case, 0)
    assert judge(claim, case, value).verdict is Verdict.OUT_OF_SCOPE
    assert judge(claim, case, value, force=True).verdict is Verdict.FAILS


def test_a_kernel_that_needs_irrational_factors_is_refused():
    with pytest.raises(ValueError, match="square of a rational"):
        measured.kernel_errors(Case(tokens=2, levels="1/2"), 0)


def test_uncentred_attention_is_not_the_identity():
    assert measured.identity_errors(Case(variant="shaped", tokens=3, gamma="1"), 0).value == 0
    assert measured.identity_errors(Case(variant="shaped", tokens=3, gamma="1/2"), 0).value == 6
