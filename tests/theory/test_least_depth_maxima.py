"""Maxima by ReLU nets: against direct evaluation, spoilt weights, and sampled points."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from depthlaw.theory.least_depth import relu_maxima as maxima


def by_fractions(blocks, x):
    """The weighted sum of blocks at one point, straight from its definition."""
    return sum(
        weight * max(sum(max(x[i], x[j]) for i, j in side) for side in sides)
        for sides, weight in blocks.items()
    )


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_identity_and_net_at_random_points_of_all_chambers(size):
    blocks, draw = maxima.weighted_blocks(size), random.Random(size)
    matrices, factor = maxima.network(size)
    for _ in range(40):
        x = [draw.randint(-9, 9) for _ in range(size)]
        assert by_fractions(blocks, [Fraction(v, 7) for v in x]) == Fraction(max(x), 7)
        assert maxima.outputs(matrices, np.array(x)) == factor * max(x)


def test_the_printed_identity_for_five():
    """Weights 1/30, 1/15 and -1/30 on 15, 15 and 30 blocks."""
    weights = maxima.weighted_blocks(5).values()
    counted = {weight: list(weights).count(weight) for weight in set(weights)}
    assert counted == {Fraction(1, 30): 15, Fraction(1, 15): 15, Fraction(-1, 30): 30}


@pytest.mark.parametrize("size", [5, 6])
def test_no_weight_may_change_and_no_family_may_go(size, monkeypatch):
    lines = maxima.IDENTITIES[size]
    for k, (weight, text) in enumerate(lines):
        doubled = [*lines[:k], (str(2 * Fraction(weight)), text), *lines[k + 1 :]]
        for spoilt in (doubled, [*lines[:k], *lines[k + 1 :]]):
            monkeypatch.setitem(maxima.IDENTITIES, size, spoilt)
            assert maxima.on_chamber(maxima.weighted_blocks(size), size) != {0: 1}
    monkeypatch.setitem(maxima.IDENTITIES, size, lines)
    assert maxima.on_chamber(maxima.weighted_blocks(size), size) == {0: 1}


def test_kinks_against_signs_on_the_chamber():
    """A difference of two forms bends iff it takes both signs on sampled points of the chamber."""
    draw = random.Random(1)
    points = [sorted((draw.random() ** 3 for _ in range(4)), reverse=True) for _ in range(2000)]
    for forms in itertools.combinations(itertools.combinations_with_replacement(range(4), 2), 2):
        values = [sum(x[i] for i in forms[0]) - sum(x[i] for i in forms[1]) for x in points]
        assert (min(values) < 0 < max(values)) == (maxima.kink(*forms, 4)[1] > 0)


@pytest.mark.parametrize(("size", "fits"), [(2, True), (3, False)])
def test_units_of_one_hidden_layer_fit_two_numbers_and_not_three(size, fits):
    """All units ReLU(w x) with weights -1, 0, 1 at once, by rank over Q."""
    points = list(itertools.product((-1, 0, 1), repeat=size))
    rows = [[max(0, int(np.dot(w, x))) for w in points] for x in points]
    units, target = sympy.Matrix(rows), sympy.Matrix([max(x) for x in points])
    assert (units.rank() == units.row_join(target).rank()) == fits
    assert maxima.excluded_depth(size) == (1 if fits else 2)


def test_sizes_without_a_listed_identity_are_refused():
    with pytest.raises(ValueError, match="3 <= n <= 6"):
        maxima.weighted_blocks(7)
