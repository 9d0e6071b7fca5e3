"""Initial scales and layer products: answers known by hand."""

from fractions import Fraction

import pytest
from judging import claims

from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, judge

CLAIMS = claims("signal_propagation")


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("xavier_keeps_variance", {"fan_in": 2, "fan_out": 4}, Fraction(2, 3)),
        ("product_vanishes", {"depth": 100, "factors": "1 - 1/(i+1)^2"}, Fraction(102, 202)),
        ("residual_gradient_at_least_one", {"depth": 1, "branch_slope": "-1/2"}, Fraction(1, 2)),
        ("later_layers_smaller_rate", {"depth": 12, "layer": 1}, Fraction(10, 9)),
        (
            "stochastic_depth_unscaled",
            {"depth": 1, "survival": "9/10", "branch_slope": "1/4"},
            Fraction(49, 40),
        ),
    ],
)
def test_what_refutes_the_printed_statements(name, fields, expected):
    claim, case = CLAIMS[name], Case(**{"gradient_level": "1/2"} | fields)
    found = claim.measure(case)
    decision = judge(claim, case, found)
    assert found.value == expected
    assert decision.verdict is Verdict.FAILS
    assert decision.certain


def test_printed_powers_by_hand():
    claim = CLAIMS["printed_powers"]
    found = [claim.measure(case).value for case in claim.cases("quick")]
    assert found == [512, Fraction(1, 512), Fraction(9, 10) ** 100, 1024]
