"""Initial scales and layer products: answers known by hand, wrong constants against the claims."""

import itertools
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from judging import claims, value
from sympy import Eq

from depthlaw.theory.claims.symbols import depth, layer
from depthlaw.theory.claims.values import Case, Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.signal_propagation import initialisation as init

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


def test_no_printed_power_is_what_its_sentence_says_and_1024_is_that_of_layer_11():
    claim = CLAIMS["printed_powers"]
    found = [claim.measure(case) for case in claim.cases("quick")]
    assert [exact.value for exact in found] == [512, Fraction(1, 512), Fraction(9, 10) ** 100, 1024]
    decisions = [
        judge(claim, case, exact) for case, exact in zip(claim.cases("quick"), found, strict=True)
    ]
    assert [decision.verdict.value for decision in decisions] == ["FAILS"] * 3 + ["HOLDS"]
    assert all(decision.certain for decision in decisions[:3])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("kaiming_variance", Eq(init.layer_variance, (init.layer_growth / 3) ** (layer - 1))),
        (
            "kaiming_variance",
            Eq(init.layer_variance, (init.layer_growth * init.kept_share) ** layer),
        ),
        ("xavier_uniform", Eq(init.weight_variance, 3 / (init.fan_in + init.fan_out))),
        ("residual_stream", Eq(init.stream_variance, 2 + init.branch_variance)),
        (
            "residual_stream",
            Eq(init.stream_variance, 1 + depth * init.branch_factor * init.branch_variance),
        ),
        ("expected_depth", Eq(init.kept, (3 * depth + 1) / 4)),
        ("stochastic_depth_rescaled", Eq(init.mean_output, (1 + init.branch_slope) ** depth)),
    ],
)
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong)
    assert not all(step.holds for step in mutated.proof(wrong))
    assert Verdict.FAILS in [
        judge(mutated, case, mutated.measure(case)).verdict for case in mutated.cases("quick")
    ]


@pytest.mark.parametrize(
    ("number", "found", "verdict"),
    [
        (2, Fraction(264, 10**7), Verdict.HOLDS),
        (2, Fraction(266, 10**7), Verdict.FAILS),
        (1, Fraction(1, 1024), Verdict.HOLDS),
        (0, Fraction(1023), Verdict.FAILS),
    ],
)
def test_a_number_printed_with_few_digits_stands_for_what_rounds_to_it(number, found, verdict):
    claim = CLAIMS["printed_powers"]
    assert judge(claim, claim.cases("quick")[number], Exact(found)).verdict is verdict


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


def test_xavier_forward_and_backward_gains_average_to_one():
    wide = value(CLAIMS["xavier_keeps_variance"], fan_in=2, fan_out=4)
    assert wide + value(CLAIMS["xavier_keeps_variance"], fan_in=4, fan_out=2) == 2


def test_every_claim_read_from_the_textbook_quotes_its_sentence():
    textbook = [claim for claim in CLAIMS.values() if claim.source.key == "deepnetworks63"]
    assert len(textbook) == 8
    for claim in textbook:
        assert re.search(r'Checked sentence: "[^"]{20,}"', claim.note), claim.key


def test_a_hardened_sentence_is_marked_and_a_derived_value_is_not_called_printed():
    textbook = {n: c for n, c in CLAIMS.items() if c.source.key == "deepnetworks63"}
    assert {name for name, claim in textbook.items() if claim.wording == "universal"} == {
        "printed_powers",
        "xavier_keeps_variance",
        "product_vanishes",
        "residual_gradient_at_least_one",
        "later_layers_smaller_rate",
        "stochastic_depth_unscaled",
    }
    assert {name for name, claim in textbook.items() if claim.wording == "printed"} == {
        "xavier_uniform"
    }
