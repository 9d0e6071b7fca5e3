"""Initial scales and layer products: answers known by hand, wrong constants against the claims."""

import itertools
import re
from fractions import Fraction

import pytest
from judging import claims, value

from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, judge

CLAIMS = claims("signal_propagation")


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("xavier_keeps_variance", {"fan_in": 2, "fan_out": 4}, Fraction(2, 3)),
        (
            "product_vanishes",
            {"depth": 100, "factors": "1 - 1/(i+1)^2", "gradient_level": "1/2"},
            Fraction(102, 202),
        ),
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
    claim, case = CLAIMS[name], Case(**fields)
    found = claim.measure(case)
    decision = judge(claim, case, found)
    assert found.value == expected
    assert decision.verdict is Verdict.FAILS
    assert decision.certain


def test_one_linear_layer_over_all_signs():
    rows = [(1 * a + 2 * b) ** 2 for a, b in itertools.product((-1, 1), repeat=2)]
    assert sum(rows) == 4 * (1 + 4)  # the cross term averages out
    variance = CLAIMS["kaiming_variance"]
    assert value(variance, activation="none", width=2, layer=2, layer_growth="3") == 3
    relu = [
        value(variance, activation="relu", width=2, layer=3, layer_growth=growth) for growth in "21"
    ]
    assert relu == [1, Fraction(1, 4)]


def test_kept_layers_by_hand():
    # L = 2, p_L = 1/2: keep probabilities 3/4 and 1/2.
    assert value(CLAIMS["expected_depth"], depth=2, survival="1/2") == Fraction(5, 4)
    mean = value(CLAIMS["stochastic_depth_rescaled"], depth=2, survival="1/2", branch_slope="1")
    assert mean == Fraction(7, 4) * Fraction(3, 2)


def test_every_claim_read_from_the_textbook_quotes_its_sentence():
    textbook = [claim for claim in CLAIMS.values() if claim.source.key == "deepnetworks63"]
    assert len(textbook) == 8
    for claim in textbook:
        assert re.search(r'Checked sentence: "[^"]{20,}"', claim.note), claim.key
