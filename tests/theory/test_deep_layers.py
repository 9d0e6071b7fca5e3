"""Deep networks: what is assumed of them is computed on them, and closed forms of a pair."""

import math

import flint
import pytest
from flint import arb

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.rank_collapse import deep_layers as dl

# One layer on two tokens +-rho of width one: gamma = sqrt(1/2) = 0.70710..., and the logits range
# over beta r_0^2 = beta.
PAIR = {"tokens": 2, "width": 1, "heads": 1, "qk_width": 1, "depth": 1}
PAIR |= {"gamma": "5/7", "residual": "1", "beta": "1/2"}
INSIDE, BEYOND = {"gamma": "7072/10000"}, {"gamma": "7071/10000"}
NARROW, WIDE = {"beta": "1255/1000"}, {"beta": "1257/1000"}
PLAIN, MLP, SMALL = {"lipschitz": "1", "mlp": False}, {"lipschitz": "1"}, {"beta": "1/4"}


@pytest.mark.parametrize(
    ("claim", "fields", "broken"),
    [
        (dl.layers_uniform, INSIDE | PLAIN, ""),
        (dl.layers_uniform, BEYOND | PLAIN, dl.GAMMA_BOUNDS),
        (dl.convergence_as_reported, INSIDE | SMALL, ""),
        (dl.convergence_as_reported, BEYOND | SMALL, dl.GAMMA_BOUNDS),
        (dl.layers_product, NARROW, ""),
        (dl.layers_product, WIDE, dl.SMALL_RANGES),
        (dl.layers_uniform, NARROW | PLAIN, ""),
        (dl.layers_uniform, WIDE | PLAIN, dl.SMALL_RANGES),
        (dl.layers_uniform, WIDE | MLP, dl.SMALL_RANGES),
        (dl.layers_product, {"gamma": "1/10"}, ""),
    ],
)
def test_what_is_assumed_of_the_network_is_computed_on_the_network(claim, fields, broken):
    """Just inside a bound a case is judged, just beyond it is out of scope; unnamed, unseen."""
    case = Case(**PAIR | fields)
    decision = judge(claim, case, claim.measure(case))
    assert decision.verdict is (Verdict.OUT_OF_SCOPE if broken else Verdict.HOLDS)
    assert broken in decision.reason


def test_gamma_and_range_of_a_pair_have_closed_forms():
    with flint.ctx.workprec(96):
        for what, value in (("gamma", arb(0.5).sqrt()), ("range", arb(0.5))):
            found = dl.largest_over_layers(Case(**PAIR), what)
            assert ball(found.low, found.high).overlaps(value)


def test_two_layers_of_a_pair_in_closed_form():
    """rho -> rho tanh(w rho^2), with the coefficient w / sqrt(2) in each layer."""
    rho, w = math.sqrt(1 / 2), 1 / 2
    for _ in range(2):
        rho *= math.tanh(w * rho**2)
    found = dl.layers_product.measure(Case(**PAIR | {"depth": 2}))
    assert float(found.low) == pytest.approx(math.sqrt(2) * rho / (w / math.sqrt(2)) ** 4)
