"""The softmax lemma and its constant."""

from fractions import Fraction

import flint
import pytest
from flint import arb

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import softmax_perturbation as sp
from depthlaw.theory.rank_collapse.cubic_step import cubic_steps

# The positive root of e^x = 1 + 2x, as the paper cuts it and to eleven decimals.
ROOT = Fraction("1.25643120863")


def test_the_constant_is_the_lambert_root_cut_after_three_decimals():
    with flint.ctx.workprec(100):
        closed = -(-(arb(-0.5).exp()) / 2).lambertw(-1) - arb(0.5)
        half = Fraction(5, 10**12)
        assert ball(ROOT - half, ROOT + half).contains(closed)
    assert int(1000 * ROOT) == 1000 * sp.LARGEST_RANGE


@pytest.mark.parametrize(
    ("claim", "fields", "step"),
    [
        (sp.softmax_perturbation, {"lemma_side": 1}, Fraction(1, 10**6)),
        (cubic_steps, {"step": "signed", "step_factor": 2}, Fraction(1, 10**4)),
    ],
)
def test_the_lemma_fails_just_beyond_its_constant(claim, fields, step):
    for D, verdict in ((ROOT - step, Verdict.HOLDS), (ROOT + step, Verdict.FAILS)):
        case = Case(instance="two tokens", range=str(D), **fields)
        assert judge(claim, case, claim.measure(case), force=True).verdict is verdict
