"""Random attention: the statistics on matrices whose spectra are known."""

import numpy as np
import pytest

from depthlaw.theory.rank_collapse import random_attention as ra

FIRST = {"statistic": "first_singular", "limit": 1}


@pytest.mark.parametrize(
    ("statistic", "uniform", "identity"),
    [
        (ra.first_singular, 1, 1),
        (ra.second_singular, 0, 2),
        (ra.second_eigenvalue, 0, 2),
        (ra.stable_rank, 1, 4),
        (ra.first_without_mean, 0, 2),
    ],
)
def test_statistics_of_known_matrices(statistic, uniform, identity):
    assert abs(statistic(np.full((4, 4), 0.25)) - uniform) < 1e-14
    assert abs(statistic(np.eye(4)) - identity) < 1e-14


def test_single_logits_of_heads_are_normal_with_variance_log_2_and_rank_d():
    attention = ra.head_attention(np.random.default_rng(2), 40, 3)
    assert np.abs(attention.sum(axis=1) - 1).max() < 50 * 2.0**-52
    logits = np.log(attention)
    logits -= logits.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(logits, tol=1e-9) == 3
    wide = np.log(ra.head_attention(np.random.default_rng(3), 400, 2000))
    wide -= wide.mean(axis=1, keepdims=True)
    # The variance of 160 000 squares of variance 2 log(2)^2, dependent through 400 keys at most.
    assert abs(wide.var() - np.log(2)) < 5 * np.log(2) * np.sqrt(2 / 400)
