"""The softmax lemma and its constant."""

from fractions import Fraction

import flint
import pytest
from flint import arb

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import softmax_perturbation as sp
from depthlaw.theory.rank_collapse.cubic_step import signed_step

ROOT = sp.softmax_constant.measure(Case(decimals=11))


def test_the_constant_is_the_lambert_root():
    with flint.ctx.workprec(100):
        closed = -(-(arb(-0.5).exp()) / 2).lambertw(-1) - arb(0.5)
        assert closed.overlaps(ball(ROOT.low, ROOT.high))
    assert ROOT.high - ROOT.low <= Fraction(1, 10**40)
    assert ROOT.low > sp.LARGEST_RANGE > ROOT.high - Fraction(1, 1000)


@pytest.mark.parametrize(
    ("claim", "step"),
    [(sp.softmax_perturbation, Fraction(1, 10**6)), (signed_step, Fraction(1, 10**4))],
)
def test_the_lemma_fails_just_beyond_its_constant(claim, step):
    for D, verdict in ((ROOT.low - step, Verdict.HOLDS), (ROOT.high + step, Verdict.FAILS)):
        case = Case(instance="two tokens", range=str(D))
        assert judge(claim, case, claim.measure(case), force=True).verdict is verdict
