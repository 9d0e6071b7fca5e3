"""Initial scales: the functions against exact routes, and wrong constants against the claims."""
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.signal_propagation import initialisation as init
from depthlaw.theory.signal_propagation import initialisation_measured as measured
from depthlaw.theory.values import Case, Exact

CLAIMS = {c.key.partition("/")[2]: c for c in init.claims()}


@given(st.integers(1, 60), st.integers(1, 10))
def test_expected_depth_is_the_sum_of_the_keep_probabilities(depth, tenths):
    last = tenths / 10
    total = math.fsum(init.survival_probability(layer, depth, last) for layer in range(1, depth + 1))
    assert math.isclose(init.expected_depth(depth, last), total, rel_tol=8 * 2.0**-52)


def test_scales_agree_with_their_variances():
    assert init.xavier_std(512, 2048) ** 2 == pytest.approx(2 / 2560, rel=4 * 2.0**-52)
    assert init.kaiming_std(512) == 1 / 16
    assert init.residual_std(8) * 4 == 0.02


@pytest.mark.parametrize(("name", "fields", "value"), [
    ("printed_layer_ten", {"layer": 10, "layer_growth": "2"}, 512),
    ("printed_layer_ten", {"layer": 10, "layer_growth": "1/2"}, Fraction(1, 512)),
    ("xavier_keeps_variance", {"fan_in": 2, "fan_out": 4}, Fraction(2, 3)),
    ("printed_decay", {"depth": 100}, Fraction(9, 10) ** 100),
    ("product_vanishes", {"depth": 100, "factors": "1 - 1/(i+1)^2", "gradient_level": "1/2"}, Fraction(102, 202)),
    ("residual_gradient_at_least_one", {"depth": 1, "branch_slope": "-1/2"}, Fraction(1, 2)),
    ("later_layers_smaller_rate", {"depth": 12, "layer": 1}, Fraction(10, 9)),
    ("stochastic_depth_unscaled", {"depth": 1, "survival": "9/10", "branch_slope": "1/4"}, Fraction(49, 40)),
])
def test_what_refutes_the_printed_statements(name, fields, value):
    claim, case = CLAIMS[name], Case(**fields)
    found = claim.measured(case, 0)
    decision = judge(claim, case, found)
    assert found.value == value
    assert decision.verdict is Verdict.FAILS
    assert decision.certain


@pytest.mark.parametrize("depth", [1, 5, 50])
def test_the_slowly_rising_factors_stay_above_a_half(depth):
    found = measured.shrinking_product(Case(depth=depth, factors="1 - 1/(i+1)^2"), 0).value
    assert found == Fraction(depth + 2, 2 * (depth + 1)) > Fraction(1, 2)


@pytest.mark.parametrize(("name", "wrong"), [
    ("linear_variance", sympy.Eq(symbol("layer_variance"), symbol("layer_growth") ** symbol("layer"))),
    ("kaiming_variance", sympy.Eq(symbol("layer_variance"), (symbol("layer_growth") / 3) ** (symbol("layer") - 1))),
    ("xavier_uniform", sympy.Eq(symbol("weight_variance"), 3 / (symbol("fan_in") + symbol("fan_out")))),
    ("residual_scaled", sympy.Eq(symbol("stream_variance"), 2 + symbol("branch_variance"))),
    ("residual_unscaled", sympy.Eq(symbol("stream_variance"), 1 + symbol("depth") * symbol("branch_variance"))),
    ("expected_depth", sympy.Eq(symbol("expected_depth"), (3 * symbol("depth") + 1) / 4)),
])
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong)
    assert not all(step.holds for step in mutated.proof(wrong))
    assert Verdict.FAILS in [judge(mutated, case, mutated.measured(case, 0)).verdict for case in mutated.cases("quick")]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: init.xavier_std(0, 3), "fan_in must be"),
    (lambda: init.kaiming_std(0), "from 1 on"),
    (lambda: init.residual_std(0), "depth must be"),
    (lambda: init.survival_probability(5, 4), "accepted are layers"),
    (lambda: init.expected_depth(4, 0.0), "a probability in"),
])
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_every_claim_read_from_the_textbook_quotes_its_sentence():
    read = [c for c in CLAIMS.values() if c.source.key == "deepnetworks63"]
    assert len(read) == 10
    for claim in read:
        assert re.search(r'Checked sentence: "[^"]{20,}"', claim.note), claim.key


def test_a_sentence_that_was_hardened_is_marked_and_a_derived_value_is_not_called_printed():
    readings = {name: claim.wording for name, claim in CLAIMS.items() if claim.source.key == "deepnetworks63"}
    assert {name for name, reading in readings.items() if reading == "universal"} == {
        "printed_layer_ten", "xavier_keeps_variance", "product_vanishes", "residual_gradient_at_least_one",
        "later_layers_smaller_rate", "stochastic_depth_unscaled"}
    assert {name for name, reading in readings.items() if reading == "printed"} == {"xavier_uniform", "printed_decay"}


@pytest.mark.parametrize(("name", "case", "value", "verdict"), [
    ("printed_decay", Case(depth=100), Fraction(264, 10**7), Verdict.HOLDS),
    ("printed_decay", Case(depth=100), Fraction(266, 10**7), Verdict.FAILS),
    ("printed_layer_ten", Case(layer=10, layer_growth="1/2"), Fraction(1, 1024), Verdict.HOLDS),
    ("printed_layer_ten", Case(layer=10, layer_growth="2"), Fraction(1023), Verdict.FAILS)])
def test_a_number_printed_with_few_digits_stands_for_what_rounds_to_it(name, case, value, verdict):
    assert judge(CLAIMS[name], case, Exact(value)).verdict is verdict


def test_variances_that_add_are_not_a_proof():
    assert {CLAIMS[name].evidence for name in ("residual_scaled", "residual_unscaled")} == {"checks"}
