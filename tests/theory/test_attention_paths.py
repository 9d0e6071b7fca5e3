"""Paths: distributions against enumeration and scipy, sums against forward passes."""
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from depthlaw.theory.claim import Case
from depthlaw.theory.rank_collapse import attention_paths as ap
from depthlaw.theory.rank_collapse import attention_paths_measured as measured
from depthlaw.theory.values import Exact


@given(st.integers(0, 9), st.integers(0, 5))
def test_distribution_agrees_with_counts_layer_by_layer(depth, heads):
    counts = measured.length_counts(depth, heads)
    assert sum(counts) == (heads + 1) ** depth
    assert ap.path_length_distribution(depth, heads) == [Fraction(c, sum(counts)) for c in counts]


@pytest.mark.parametrize("length", range(5))
def test_enumeration_agrees_with_counts(length):
    assert measured.enumerated_paths(Case(depth=4, heads=2, path_length=length), 0).value == measured.length_counts(4, 2)[length]


def test_bert_base_agrees_with_scipy():
    shares = ap.path_length_distribution(12, 12)
    law = binom(12, 12 / 13)
    assert all(abs(float(share) - law.pmf(length)) < 1e-12 for length, share in enumerate(shares))
    assert shares[11] == shares[12]


@pytest.mark.parametrize("bad", [(-1, 2), (2, -1)])
def test_negative_counts_are_refused(bad):
    with pytest.raises(ValueError, match="must not be negative"):
        ap.path_length_distribution(*bad)


def test_null_cases():
    assert ap.path_length_distribution(0, 5) == [1]
    assert ap.path_length_distribution(3, 0) == [1, 0, 0, 0]


def test_the_wrong_order_of_layers_is_seen():
    case = {"tokens": 3, "width": 2, "depth": 2, "heads": 2}
    assert measured.path_errors(Case(**case), 0) == Exact(0)
    assert measured.path_errors(Case(**case, order="reversed"), 0).value > 0


def test_skips_keep_the_residual_and_pure_attention_does_not():
    shape = {"tokens": 4, "width": 3, "depth": 2, "heads": 1}
    assert measured.residual_growth(Case(instance="zero", **shape), 0) == Exact(1)
    assert measured.residual_growth(Case(instance="orthogonal", beta="1/100", **shape), 0).low > 1
    assert measured.residual_growth(Case(instance="none", beta="1/100", **shape), 0).high < Fraction(1, 10)
