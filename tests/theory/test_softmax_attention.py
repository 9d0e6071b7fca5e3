"""Softmax attention in balls, and instances that have the norms their cases name."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, arb_mat

from depthlaw.theory.claims.definition import Ball, Case
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import softmax_attention as sa

U = 2.0**-53
CASE = Case(
    tokens=4, width=3, residual="1/7", qk_norm="3/5", value_norm="2", heads=2, depth=2, bias=1
)


def test_composite_norm_does_not_underflow_where_the_product_does():
    A = np.full((2, 2), 1e-200)
    assert np.abs(A).sum(0).max() * np.abs(A).sum(1).max() == 0.0
    assert abs(float(sa.composite_norm(A)) / 2e-200 - 1) <= 8 * U


def test_attention_agrees_with_float64():
    rng = np.random.default_rng(7)
    X, bias, *weights = (rng.normal(size=shape) for shape in ((5, 3), (3, 1), *[(3, 3)] * 4))
    layer = [
        (qk, value, b)
        for qk, value, b in zip(weights[::2], weights[1::2], (bias, np.zeros((3, 1))), strict=True)
    ]
    expected = np.zeros((5, 3))
    for qk, value, b in layer:
        P = np.exp((X @ qk @ X.T + np.ones((5, 1)) @ (X @ b).T) / 2)
        expected += P / P.sum(axis=1, keepdims=True) @ X @ value
    balls = [[arb_mat(array.tolist()) for array in head] for head in layer]
    heads = [sa.SoftmaxHead(qk, value, 4, b) for qk, value, b in balls]
    found = sa.attention(arb_mat(X.tolist()), heads)
    assert np.abs(np.array(found.tolist(), dtype=float) - expected).max() < 1e-13


def test_what_no_precision_resolves_is_reported():
    with pytest.raises(ArithmeticError, match="do not resolve"):
        sa.resolved(lambda: arb(0, 1))


def test_resolved_raises_the_precision_until_the_digits_are_there():
    value = sa.resolved(lambda: (1 + arb(2) ** -1000) - 1)
    with flint.ctx.workprec(96):
        assert value.overlaps(arb(2) ** -1000)


def test_a_bound_within_the_enclosure_is_no_verdict():
    assert not sa.lies_above(Ball(Fraction(1), Fraction(1)), Fraction(1))
    with pytest.raises(ArithmeticError, match="choose a case"):
        sa.lies_above(Ball(Fraction(1), Fraction(2)), Fraction(1))


def test_instance_has_the_norms_of_its_case():
    with flint.ctx.workprec(128):
        tokens, layers = sa.instance(CASE)
        assert sa.residual_norm(tokens).overlaps(arb(1) / 7)
        assert [len(heads) for heads in layers] == [2, 2]
        for head in (head for heads in layers for head in heads):
            assert sa.ball_norms(head.qk)[0].overlaps(arb(3) / 5)
            assert sa.ball_composite_norm(head.value).overlaps(arb(2))
            assert head.qk_bias is not None


def test_bias_widens_by_the_factor_of_the_mean():
    value = sa.about_best_centre(arb(1), Case(tokens=4, bias=1))
    with flint.ctx.workprec(64):
        assert ball(value.low, value.high).contains(arb(2) / 3)
    assert value.high / value.low < Fraction(3, 2) * (1 + Fraction(1, 2**28))  # 30-bit radius
    assert sa.about_best_centre(arb(1), Case(tokens=4, bias=0)).low == 1
