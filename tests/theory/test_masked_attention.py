"""Masks by hand, attention matrices that respect them, and undecided starts."""

from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.rank_collapse import masked_attention as ma

MASKS = [
    Case(mask=mask, instance=kind, tokens=5, window=3, position=3, least_weight="1/10")
    for mask in ("causal", "prefix", "window", "chain", "star", "full")
    for kind in ("tight", "random")
]


@pytest.mark.parametrize("case", MASKS, ids=str)
def test_attention_matrices_are_stochastic_and_respect_their_mask(case):
    for layer in range(3):
        matrix, seen = ma.attention_matrix(case, layer), ma.mask(case)
        assert (matrix.sum(axis=1) == 1).all()
        assert (matrix[seen] >= Fraction(1, 10)).all()
        assert (matrix[~seen] == 0).all()


def test_masks_by_hand():
    def seen(mask, **fields):
        rows = ma.mask(Case(mask=mask, tokens=4, **fields))
        return [np.flatnonzero(row).tolist() for row in rows]

    assert seen("causal") == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert seen("window", window=2) == seen("chain") == [[0], [0, 1], [1, 2], [2, 3]]
    assert seen("prefix", position=3) == [[0, 1], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert seen("star") == [[0], [0, 1], [0, 2], [0, 3]]


def test_an_undecided_start_is_reported(monkeypatch):
    monkeypatch.setattr(ma, "_steps", lambda a, b, gain, layers: (a, b))
    with pytest.raises(ArithmeticError, match="not decided"):
        ma.unit_rows_basin.measure(Case(feature_gain="2", start_angles=10))
