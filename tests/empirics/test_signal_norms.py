"""Claims on norms and gradients of softmax nets: what they notice, and exact means by hand."""

from fractions import Fraction

import numpy as np
import pytest

from depthlaw.empirics.nets.initialisations import initialised
from depthlaw.empirics.nets.net import NetShape
from depthlaw.empirics.signal_propagation import norm_growth, profiles
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.claims.verdict import Verdict, judge


def claim(name):
    return find(f"signal_propagation/{name}")


@pytest.mark.parametrize("scheme", ["lecun", "xavier", "kaiming", "gpt2"])
def test_a_and_m_are_those_of_the_weights_that_nets_are_drawn_with(scheme):
    shape = NetShape(width=8, depth=2, mlp=24, norm="pre")
    stds = initialised(scheme, shape, std=8**-0.5)[1]
    writing = 4 if scheme == "gpt2" else 1  # divided by sqrt(2 L) there
    a, m = norm_growth.writes(scheme, 8, 24)
    assert 64 * stds.value**2 * stds.output**2 * writing == pytest.approx(float(a))
    assert 96 * stds.mlp_in**2 * stds.mlp_out**2 * writing == pytest.approx(float(m))


def test_equal_tokens_attain_the_upper_bound():
    shape = NetShape(width=16, depth=4, heads=4, mlp=32, norm="pre", activation="relu")
    found = profiles.activation_profile(
        shape, "lecun", replicas=600, start="equal", tokens=2, rng=np.random.default_rng(0)
    )
    mean, error = found.mean(axis=0), found.std(axis=0) / 600**0.5
    assert (abs(mean - (1 + 1.5 * np.arange(5))) < 5 * error).all()


def test_the_expected_number_of_layers_is_kept():
    keep = profiles.keep_probabilities(54, 0.5)
    assert keep.sum() == pytest.approx(40.25)
    assert norm_growth.layers_written("stochastic-depth", 54) == Fraction(161, 4)
    assert claim("expected_depth").predict(Case(depth=54, survival="1/2")) == Fraction(161, 4)
    _, most = claim("softmax_norm").predict(
        norm_growth.written("stochastic-depth-test", 8, 8, layer=54)
    )
    assert 1 + 1.5 * (keep**2).sum() == pytest.approx(float(most))


def test_a_case_with_other_writes_is_out_of_scope():
    found = claim("softmax_norm")
    case = norm_growth.written("lecun", 8, 16, layer=1, tokens=2, replicas=2)
    moved = type(case)(**(case.fields() | {"mlp_write": "3"}))
    assert judge(found, moved, found.measure(case)).verdict is Verdict.OUT_OF_SCOPE
    assert norm_growth.writes("kaiming", 8, 16) == (Fraction(4), Fraction(2))
