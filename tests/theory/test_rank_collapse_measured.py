"""The instances behind the rank-collapse claims have the norms that their cases name."""
from fractions import Fraction

import flint
import pytest
from flint import arb

from depthlaw.theory.claim import Case
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import measured as ce
from depthlaw.theory.rank_collapse.softmax_attention import ball_composite_norm, ball_norms, centred

CASE = Case(tokens=4, width=3, residual="1/7", qk_norm="3/5", value_norm="2", heads=2, depth=2, bias=1)


def test_instance_has_the_norms_of_its_case():
    with flint.ctx.workprec(128):
        tokens, layers = ce.instance(CASE)
        assert ball_composite_norm(centred(tokens)).overlaps(arb(1) / 7)
        assert [len(heads) for heads in layers] == [2, 2]
        for head in (head for heads in layers for head in heads):
            assert ball_norms(head.qk)[0].overlaps(arb(3) / 5)
            assert ball_composite_norm(head.value).overlaps(arb(2))
            assert head.qk_bias is not None


def test_beta_is_the_product_of_the_norms():
    case = Case(tokens=2, width=2, residual="1", beta="1/10", value_norm="4")
    with flint.ctx.workprec(128):
        head = ce.instance(case)[1][0][0]
        assert (ball_norms(head.qk)[0] * ball_composite_norm(head.value)).overlaps(arb(1) / 10)


def test_instance_depends_on_the_case_alone_and_shrinks():
    with flint.ctx.workprec(128):
        assert str(ce.instance(CASE)) == str(ce.instance(CASE))
        halved = ball_composite_norm(centred(ce.instance(CASE, 2)[0]))
        assert halved.overlaps(arb(1) / 14)


def test_an_odd_number_of_tokens_is_refused():
    with pytest.raises(ValueError, match="must be even"):
        ce.instance(Case(tokens=3, width=2, residual="1", qk_norm="1"))


def test_what_no_precision_resolves_is_reported():
    with pytest.raises(ArithmeticError, match="do not resolve"):
        ce.resolved(lambda: arb(0, 1))


def test_resolved_raises_the_precision_until_the_digits_are_there():
    value = ce.resolved(lambda: (1 + arb(2) ** -1000) - 1)
    with flint.ctx.workprec(96):
        assert value.overlaps(arb(2) ** -1000)


def test_a_bias_widens_the_residual_by_the_factor_of_the_mean():
    case = Case(tokens=4, width=3, residual="1/10", qk_norm="1", value_norm="1", qk_width=1, bias=1)
    value = ce.residual_after_one_layer(case, 0, per_gamma=False)
    assert value.high / value.low >= Fraction(3, 2)
    assert value.high / value.low < Fraction(3, 2) * (1 + Fraction(1, 2**28))  # a ball's radius has 30 bits


def test_gamma_and_range_of_a_pair_have_closed_forms():
    case = Case(tokens=2, width=1, heads=1, residual="1", beta="1/2", qk_width=1, depth=1)
    with flint.ctx.workprec(96):
        largest_gamma, largest_range = (ce.largest_over_layers(case, what) for what in ("gamma", "range"))
        assert ball(largest_gamma.low, largest_gamma.high).overlaps(arb(0.5).sqrt())
        assert ball(largest_range.low, largest_range.high).overlaps(arb(0.5))


def test_recurrence_in_rational_numbers():
    assert ce.cubic_recurrence(Case(cubic_coefficient="3", residual="1/2", depth=2), 0).value == 3 * Fraction(3, 8) ** 3
