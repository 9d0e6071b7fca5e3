"""Steps of the cubic law by hand, and instances against their cases."""

from fractions import Fraction

import flint
import pytest

from depthlaw.theory.claims.definition import Case, Exact
from depthlaw.theory.rank_collapse import cubic_step as cs
from depthlaw.theory.rank_collapse.softmax_attention import ball_norms, centred


def test_the_scaled_layer_has_the_logits_its_case_names():
    norms = {"residual": "1", "qk_norm": "1", "value_norm": "1", "qk_width": 1}
    case = Case(tokens=4, width=3, bias=1, logit_max="3/7", **norms)
    with flint.ctx.workprec(128):
        tokens, head = cs.scaled_layer(case)
        sizes = [float(abs(entry)) for entry in head.perturbation(centred(tokens)).entries()]
        assert max(sizes) == pytest.approx(3 / 7, rel=2.0**-50)
        assert ball_norms(head.qk)[0] > 0


def test_sums_by_hand():
    """g = (8, 1), g' = (1/2, 1), gamma^2 = 4: (8 + 1/10) (1/20 + 1) against 4 (11/10)^2."""
    case = Case(step="heads", instance="identity/both signs", tokens=16, balance="1/10")
    by_hand = Fraction(81, 10) * Fraction(21, 20) - 4 * Fraction(121, 100)
    assert cs.steps_as_written.measure(case).value == by_hand
    assert cs.steps_as_written.measure(
        Case(step="columns", instance="identity", tokens=3)
    ) == Exact(1)
