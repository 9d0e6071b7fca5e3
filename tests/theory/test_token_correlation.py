"""Token correlation: the functions against exact routes, wrong constants against the claims."""
import math
from dataclasses import replace

import flint
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.signal_propagation import token_correlation as tc
from depthlaw.theory.signal_propagation import token_correlation_measured as measured_by
from depthlaw.theory.values import Case

CLAIMS = {c.key.partition("/")[2]: c for c in tc.claims()}


@given(st.integers(0, 12), st.integers(2, 50), st.sampled_from([0.0, 0.125, 0.5, 1.0]))
def test_uniform_correlation_follows_the_recursion(layers, tokens, square):
    common = total = float(tokens)
    for _ in range(layers):
        common, total = (1 + square) * common, total + square * common / tokens
    found = tc.uniform_correlation(layers, tokens, square)
    # A sum of at most `layers` positive roundings on both sides, enlarged by the cancellation in C - N.
    assert abs(found - (common - total) / ((tokens - 1) * total)) <= 8 * (layers + 2) * 2.0**-52 * (1 + common / total)


def test_unit_weight_collapses_and_scaled_weight_does_not():
    assert tc.uniform_correlation(5000, 64, 1.0) == 1
    assert tc.uniform_correlation(10**6, 64, 1e-6) < (math.e - 1) / (64 + math.e - 1)
    assert tc.uniform_correlation(0, 64, 1.0) == 0


@given(st.floats(-1, 1))
def test_relu_kernel_lies_above_the_cosine(cosine):
    assert tc.relu_kernel(cosine) >= cosine - 4 * 2.0**-52
    assert tc.relu_kernel(cosine) + 4 * 2.0**-52 >= 0


def test_condensation_starts_at_beta_c():
    assert tc.condensation(1.0, 0.0, math.sqrt(2)) == 0
    assert tc.condensation(1.0, 0.0, 2 * math.sqrt(2)) == 0.5


@pytest.mark.parametrize(("name", "wrong"), [
    ("common_growth", lambda a, n: sympy.Eq(symbol("common"), (1 + 2 * a) ** symbol("layer") * symbol("common_start"))),
    ("total_growth", lambda a, n: sympy.Eq(symbol("total"), symbol("total_start") + symbol("common_start") * ((1 + a) ** symbol("layer") - 1))),
    ("uniform_correlation", lambda a, n: sympy.Eq(symbol("correlation"), ((1 + a) ** symbol("layer") - 1) / (n + (1 + a) ** symbol("layer")))),
    ("scaled_correlation_limit", lambda a, n: sympy.Eq(symbol("limit_correlation"), tc.nine_decimals(
        (sympy.exp(symbol("scaled_square")) - 1) / (n + sympy.exp(symbol("scaled_square")))))),
    ("relu_kernel", lambda a, n: sympy.Eq(symbol("relu_kernel_digits"), tc.nine_decimals(1 - sympy.acos(symbol("cosine")) / sympy.pi))),
    ("relu_kernel_above", lambda a, n: sympy.Gt(symbol("relu_kernel"), 1)),
    ("mlp_exponent", lambda a, n: sympy.Eq(symbol("contraction"), symbol("weight_square") * symbol("derivative_moment"))),
])
def test_a_wrong_constant_breaks_both_the_argument_and_the_evidence(name, wrong):
    mutated = replace(CLAIMS[name], statement=wrong(symbol("attention_square"), symbol("tokens")))
    assert not all(step.holds for step in mutated.proof(mutated.statement))
    assert Verdict.FAILS in [judge(mutated, case, mutated.measured(case, 0)).verdict for case in mutated.cases("quick")]


def test_equal_tokens_have_no_query_gradient():
    case = tc._case(((1, 2), (1, 2), (1, 2)))
    assert CLAIMS["query_gradient"].measured(case, 0).value == 0
    assert CLAIMS["value_gradient"].measured(case, 0).value > 0


def in_scope(name, case):
    return all(holds(case) for holds in CLAIMS[name].assumes.values())


@pytest.mark.parametrize("tokens", [((1, 2), (1, 2)), ((1, 2), (2, 4)), ((1, 2), (0, 0))])
def test_tokens_that_point_the_same_way_or_nowhere_are_out_of_scope(tokens):
    """Tokens of one direction and different length were in scope before, where the common part grows by 1 + a_2^2 exactly."""
    assert not in_scope("relu_branch_common", tc._case(tokens, mlp_square="1"))
    assert in_scope("relu_branch_common", tc._case(((1, 2), (-2, -4)), mlp_square="1"))


@pytest.mark.parametrize("name", ["common_growth", "total_growth", "query_gradient", "value_gradient", "uniform_correlation"])
def test_a_case_that_misstates_its_tokens_is_out_of_scope(name):
    """The prediction reads these fields, the measurement reads the tokens: before, a typo in a case refuted a theorem."""
    case = CLAIMS[name].cases("quick")[0]
    assert in_scope(name, case)
    assert not in_scope(name, Case(**(case.fields() | {"total_start": 1 + case.total_start})))


def test_assumptions_look_at_the_tokens_and_at_the_activation():
    pair = {"attention_square": "2", "mlp_square": "0", "layer": 1}
    assert in_scope("uniform_correlation", tc._case(((3, 0), (0, -3)), **pair))
    assert not in_scope("uniform_correlation", tc._case(((3, 1), (0, -3)), **pair))
    assert not in_scope("uniform_correlation", tc._case(((3, 0), (0, -2)), **pair))
    fields = CLAIMS["mlp_exponent"].cases("quick")[0].fields()
    assert not in_scope("mlp_exponent", Case(**(fields | {"derivative_moment": "1"})))


def test_what_holds_in_a_limit_says_so():
    assert "infinite width" in CLAIMS["relu_kernel_above"].text
    assert "infinite width" in CLAIMS["attention_exponent"].text
    assert CLAIMS["condensed_attention"].text.startswith("If the attention weights")


@pytest.mark.parametrize(("call", "words"), [
    (lambda: tc.uniform_correlation(3, 1, 1.0), "n >= 2"),
    (lambda: tc.relu_kernel(1.5), "a cosine lies in"),
    (lambda: tc.condensation(1.0, 1.0, 1.0), "p < q"),
])
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_integrals_do_not_depend_on_what_was_integrated_before():
    """Flint keeps quadrature nodes of other precisions, which move the last bits of later integrals."""
    claim = CLAIMS["relu_kernel_above"]
    cases = claim.cases("theory")
    before = [claim.measured(case, 0) for case in cases]
    with flint.ctx.workprec(160):
        for n in range(1, 40):
            measured_by.kernel_by_integral(flint.arb(n) / 40)
    assert [claim.measured(case, 0) for case in cases] == before


def test_the_reference_run_is_arithmetic_on_the_maps_of_the_paper():
    claim = CLAIMS["reference_first_layer"]
    assert claim.weight == "arithmetic"
    assert "maps of (q, p)" in claim.text
    assert "sigma_v^2 = 1" in claim.text
