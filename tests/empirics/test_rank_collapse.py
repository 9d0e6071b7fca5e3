"""The residuals of BERT at initialisation, and the claim they are attached to."""
import dataclasses

import numpy as np
import pytest

from depthlaw.empirics.rank_collapse import MEASURED, bert_embeddings, bert_residuals, relative_residual
from depthlaw.theory.claim import Case, registry
from depthlaw.theory.judgement import Verdict, judge

KEY = "rank_collapse/bert_init_collapse"
SMALL = {"tokens": 16, "width": 24, "heads": 2, "vocabulary": 50, "replicas": 3}
U = 2.0**-53


def test_every_measurement_belongs_to_a_claim_that_waits_for_it():
    for key in MEASURED:
        assert registry()[key].measured is None
        assert registry()[key].needs == "empirics"


def test_relative_residual_of_known_matrices():
    n = 4
    assert abs(float(relative_residual(np.eye(n))) - 2 * (1 - 1 / n)) <= 16 * U
    assert relative_residual(np.stack([np.ones((3, 2)), np.zeros((3, 2)) + 5])).tolist() == [0.0, 0.0]


def test_embeddings_are_normalised_and_equal_only_up_to_position():
    hidden = bert_embeddings(16, 24, 50, np.random.default_rng(0))
    assert hidden.shape == (16, 24)
    assert np.abs(hidden.mean(axis=1)).max() <= 64 * U
    assert len(np.unique(hidden, axis=0)) == 16


def test_measurement_is_reproducible_and_depends_on_the_seed():
    case = Case(**SMALL, layer=1)
    assert bert_residuals(case, 0) == bert_residuals(case, 0)
    assert bert_residuals(case, 0) != bert_residuals(case, 1)
    assert len(bert_residuals(case, 0).values) == 3


def test_each_layer_is_smaller_by_far():
    means = [np.mean(bert_residuals(Case(**SMALL, layer=layer), 0).values) for layer in (0, 1, 2)]
    assert means[0] > means[1] > means[2] > 0


def test_a_third_layer_is_refused():
    with pytest.raises(ValueError, match="only rounding"):
        bert_residuals(Case(**SMALL, layer=3), 0)


def test_the_published_curve_is_reproduced_and_a_wrong_one_is_not():
    claim = dataclasses.replace(registry()[KEY], measured=bert_residuals)
    case = claim.cases("quick")[0]
    value = bert_residuals(case, 0)
    assert judge(claim, case, value).verdict is Verdict.HOLDS
    wrong = dataclasses.replace(claim, statement=claim.control.statement)
    assert judge(wrong, case, value).verdict is Verdict.FAILS
