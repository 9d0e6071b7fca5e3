"""The enumerations behind initialisation, on answers known by hand."""
import itertools
from fractions import Fraction

from depthlaw.theory.signal_propagation import initialisation_measured as measured
from depthlaw.theory.values import Case


def test_one_linear_layer_over_all_signs():
    rows = [(1 * a + 2 * b) ** 2 for a, b in itertools.product((-1, 1), repeat=2)]
    assert sum(rows) == 4 * (1 + 4)  # the cross term averages out
    assert measured.layer_variance(Case(width=2, layer=2, layer_growth="3"), 0, relu=False).value == 3


def test_kaiming_keeps_and_one_does_not():
    assert measured.layer_variance(Case(width=2, layer=3, layer_growth="2"), 0, relu=True).value == 1
    assert measured.layer_variance(Case(width=2, layer=3, layer_growth="1"), 0, relu=True).value == Fraction(1, 4)


def test_kept_layers_by_hand():
    # L = 2, p_L = 1/2: keep probabilities 3/4 and 1/2.
    assert measured.kept_layers(Case(depth=2, survival="1/2"), 0).value == Fraction(5, 4)
    assert measured.mean_of_dropped(Case(depth=2, survival="1/2", branch_slope="1"), 0, falling=True).value == Fraction(7, 4) * Fraction(3, 2)


def test_decay_and_uniform_variance():
    assert measured.decay(Case(depth=2), 0).value == Fraction(81, 100)
    assert measured.uniform_variance(Case(fan_in=1, fan_out=1), 0).value == 1


def test_xavier_forward_and_backward_gains_average_to_one():
    wide, narrow = (measured.xavier_gain(Case(fan_in=i, fan_out=o), 0).value for i, o in ((2, 4), (4, 2)))
    assert wide + narrow == 2
