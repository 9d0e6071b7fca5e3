"""Random attention: the statistics on matrices whose spectra are known, and the claims' allowance."""
import numpy as np
import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.rank_collapse import random_attention as ra

UNIFORM = np.full((4, 4), 0.25)


def test_rows_are_distributions():
    matrix = ra.random_attention(np.random.default_rng(0), 50)
    assert (matrix > 0).all()
    assert np.abs(matrix.sum(axis=1) - 1).max() < 50 * 2.0**-52


def test_the_logits_have_deviation_equal_to_mean():
    weights = np.exp(np.random.default_rng(1).normal(0, np.sqrt(np.log(2)), 400_000))
    # Standard error of the ratio is about 0.006, from the eighth moment of the log-normal law; five of them.
    assert abs(weights.std() / weights.mean() - 1) < 0.05


def test_no_tokens_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        ra.random_attention(np.random.default_rng(0), 0)


@pytest.mark.parametrize(("statistic", "uniform", "identity"), [
    (ra.first_singular, 1, 1), (ra.second_singular, 0, 2), (ra.second_eigenvalue, 0, 2), (ra.stable_rank, 1, 4), (ra.first_without_mean, 0, 2)])
def test_statistics_of_known_matrices(statistic, uniform, identity):
    assert abs(statistic(UNIFORM) - uniform) < 1e-14
    assert abs(statistic(np.eye(4)) - identity) < 1e-14


def test_the_allowance_shrinks_around_the_limit():
    claim = next(iter(ra.claims()))
    widths = []
    for tokens in (64, 192, 512):
        interval = claim.predict(Case(tokens=tokens))
        assert interval.low < 1 < interval.high
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths, reverse=True)


def test_samples_depend_on_the_case_alone():
    claim = next(iter(ra.claims()))
    assert claim.measured(Case(tokens=8), 0) == claim.measured(Case(tokens=8), 0)
    assert len(claim.measured(Case(tokens=8), 0).values) == ra.REPLICAS
