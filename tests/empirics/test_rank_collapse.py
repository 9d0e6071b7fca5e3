"""The residuals of BERT at initialisation, and the claim that measures them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.empirics.rank_collapse.bert import bert_embeddings, bert_init_collapse, collapse_ratio
from depthlaw.theory.claims.definition import Case

U = 2.0**-53


def test_relative_residual_of_known_matrices():
    n = 4
    assert abs(float(collapse_ratio(np.eye(n))) - 2 * (1 - 1 / n)) <= 16 * U
    equal = np.stack([np.ones((3, 2)), np.zeros((3, 2)) + 5])
    assert collapse_ratio(equal).tolist() == [0.0, 0.0]


def test_embeddings_are_normalised_and_equal_only_up_to_position():
    hidden = bert_embeddings(16, 24, 50, np.random.default_rng(0))
    assert hidden.shape == (16, 24)
    assert np.abs(hidden.mean(axis=1)).max() <= 64 * U
    assert len(np.unique(hidden, axis=0)) == 16


@pytest.mark.parametrize(("layer", "published"), [(0, "0.6118"), (1, "0.01758"), (2, "6.99e-7")])
def test_published_curve_is_the_prediction_at_its_layer(layer, published):
    interval, value = bert_init_collapse.predict(Case(layer=layer)), Fraction(published)
    assert interval.low < value < interval.high
    factor = interval.high / value
    assert abs(factor * interval.low - value) < value / 10**12
    assert f"{math.ceil(100 * factor) / 100:.2f}" in bert_init_collapse.text
