"""Prescribed kernels: what is refused, and attention shaped to start as the identity."""

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.rank_collapse import attention_kernels as kernels


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
