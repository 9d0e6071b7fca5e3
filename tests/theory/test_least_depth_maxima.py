"""Maxima by ReLU nets: against direct evaluation, spoilt weights, and sampled points."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from depthlaw.theory.least_depth import relu_maxima as maxima


def by_definition(lines, x):
    """The mean over relabellings of weighted blocks at one point, straight from its definition."""
    orders, total = list(itertools.permutations(x)), Fraction(0)
    for weight, block in lines:
        of_sides = ([sum(max(y[i], y[j]) for i, j in side) for side in block] for y in orders)
        total += weight * sum(map(max, of_sides))
    return total / len(orders)


@pytest.mark.parametrize(("size", "points"), [(3, 30), (4, 30), (5, 20), (6, 5), (7, 1)])
def test_identity_and_net_at_random_points_of_all_chambers(size, points):
    draw = random.Random(size)
    for _ in range(points):
        x = [draw.randint(-9, 9) for _ in range(size)]
        assert by_definition(maxima.identity(size), x) == max(x)
        assert maxima.output(size, np.array(x)) == (max(x), 2)


def test_net_for_eight():
    for x in np.random.default_rng(8).integers(-99, 100, (5, 8)):
        assert maxima.output(8, x) == (x.max(), 2)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_no_weight_may_change_and_no_line_may_go(size):
    lines = list(maxima.identity(size))
    parts = [maxima.on_chamber([line], size) for line in lines]
    assert maxima.on_chamber(lines, size) == {0: 1}
    for k, part in enumerate(parts):
        assert part, "a line without effect could change its weight"
        if size < 7:
            assert maxima.on_chamber(lines[:k] + lines[k + 1 :], size) != {0: 1}


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
    assert maxima.excluded_depth(1) == 0


def test_sizes_without_a_listed_identity_are_refused():
    with pytest.raises(ValueError, match="3 <= n <= 8"):
        maxima.identity(9)
