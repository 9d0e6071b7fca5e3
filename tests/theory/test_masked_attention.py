"""Masks and positions: products of attention matrices against numpy, and the counterexample with rows of unit norm."""
import math
from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claim import Case
from depthlaw.theory.rank_collapse import masked_attention as ma
from depthlaw.theory.rank_collapse import masked_attention_measured as measured
from depthlaw.theory.values import Exact, Outside

MASKS = [Case(mask=mask, instance=kind, tokens=5, window=3, position=3, least_weight="1/10")
         for mask in ("causal", "prefix", "window", "chain", "star", "full") for kind in ("tight", "random")]


@pytest.mark.parametrize("case", MASKS, ids=str)
def test_attention_matrices_are_stochastic_and_respect_their_mask(case):
    for layer in range(3):
        matrix = measured.attention_matrix(case, layer)
        for i, row in enumerate(matrix):
            seen = measured._seen(case, i)
            assert sum(row) == 1
            assert all(row[k] >= Fraction(1, 10) for k in seen)
            assert all(row[k] == 0 for k in set(range(5)) - set(seen))


def test_masks_by_hand():
    def seen(mask, **fields):
        return [measured._seen(Case(mask=mask, tokens=4, **fields), i) for i in range(4)]

    assert seen("causal") == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert seen("window", window=2) == seen("chain") == [[0], [0, 1], [1, 2], [2, 3]]
    assert seen("prefix", position=3) == [[0, 1], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert seen("star") == [[0], [0, 1], [0, 2], [0, 3]]


def test_an_impossible_least_weight_is_refused():
    with pytest.raises(ValueError, match="cannot pay"):
        measured.attention_matrix(Case(mask="causal", instance="tight", tokens=3, least_weight="1/2"), 0)


def test_radius_is_computed_on_the_mask():
    case = {"mask": "chain", "instance": "tight", "tokens": 4, "least_weight": "1/4", "depth": 1}
    assert measured._radius(Case(**case)) == 3
    assert measured.spread_ratio(Case(**case, radius=2), 0) == Outside("all tokens reach the centre within r steps")
    assert isinstance(measured.spread_ratio(Case(**case, radius=3), 0), Exact)


def test_tail_mass_agrees_with_numpy():
    case = Case(mask="causal", instance="random", tokens=5, position=3, least_weight="1/10", depth=4)
    total = np.eye(5)
    for layer in range(4):
        total = np.array(measured.attention_matrix(case, layer), dtype=float) @ total
    assert math.isclose(float(measured.tail_mass(case, 0).value), total[:, 2:].sum(axis=1).max(), rel_tol=64 * 2.0**-52)


def test_causal_differences_halve_when_small_and_never_vanish():
    case = {"qk_weight": "1", "token_bound": "1", "difference": "1/1000000"}
    first, second = (measured.causal_difference(Case(**case, depth=k), 0) for k in (10, 11))
    assert abs(float(second.low / first.low) - 0.5) < 1e-6
    assert second.low > 0


def test_position_logits_by_hand():
    case = Case(first_weight="3/4", second_weight="1/4", difference="2", depth=3)
    assert measured.position_difference(case, 0).value == Fraction(1, 4)


@pytest.mark.parametrize(("eta", "published"), [("3/2", 77), ("2", 83), ("3", 89)])
def test_basin_count_is_the_published_one_and_near_the_fraction(eta, published):
    assert measured.basin_count(Case(feature_gain=eta, start_angles=200), 0).value == published
    assert abs(200 * ma.basin_fraction(float(Fraction(eta))) - published) <= 1


def test_basin_fraction_limits_and_bad_input():
    assert ma.basin_fraction(1) == 0.25
    assert ma.basin_fraction(1e300) == 0.5
    for bad in (0.5, math.nan):
        with pytest.raises(ValueError, match="at least 1"):
            ma.basin_fraction(bad)


def test_an_undecided_start_is_reported(monkeypatch):
    monkeypatch.setattr(measured, "_steps", lambda a, b, eta, layers: (a, b))
    with pytest.raises(ArithmeticError, match="not decided"):
        measured.basin_count(Case(feature_gain="2", start_angles=10), 0)
