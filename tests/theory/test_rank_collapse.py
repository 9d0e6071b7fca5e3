"""Rank collapse: the formulas against exact arithmetic, and every claim's verdicts, also under mutation."""
import dataclasses
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from depthlaw.ledger.verdicts.mutation import mutants
from depthlaw.theory import rank_collapse as rc
from depthlaw.theory.claim import Case, at
from depthlaw.theory.exact.enclosure import ball
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.rank_collapse import measured
from depthlaw.theory.rank_collapse.softmax_attention import Head, composite_norm, gamma, propagate
from depthlaw.theory.values import Ball, Exact

U = 2.0**-53
CLAIMS = {claim.key.partition("/")[2]: claim for claim in rc.claims()}
MEASURABLE = [name for name, claim in CLAIMS.items() if claim.measured]


# --- formulas ---


def test_softmax_constant_is_the_lambert_root():
    root = rc.softmax_constant()
    with flint.ctx.workprec(100):
        closed = -(-(arb(-0.5).exp()) / 2).lambertw(-1) - arb(0.5)
        assert closed.overlaps(ball(root.low, root.high))
    assert root.high - root.low <= Fraction(1, 10**40)
    assert root.low > rc.LARGEST_RANGE > root.high - Fraction(1, 1000)


norms = st.fractions(Fraction(1, 100), 100, max_denominator=100)


@given(norms, norms, norms, st.integers(1, 4), st.integers(1, 64), st.integers(0, 5))
def test_layers_bound_is_the_power_that_it_says(beta, gamma, residual, heads, width, depth):
    c = 4 * gamma * beta * heads
    log_c = rc.log_coefficient(float(beta), 1.0, width, heads=heads, gamma=float(gamma))
    with flint.ctx.workprec(256):
        exact_c = (arb(c.numerator) / c.denominator / arb(width).sqrt()).log()
        exact_r = (arb(residual.numerator) / residual.denominator).log()
        bound = (3**depth - 1) // 2 * exact_c + 3**depth * exact_r
        # Each logarithm is a few roundings of numbers below 20 in size; the exponents multiply their errors.
        error = abs(float(bound - arb(float(rc.layers_bound(math.log(residual), log_c, depth)))))
    assert error <= 3**depth * 300 * U


def test_layers_bound_is_finite_at_two_hundred_layers_and_vectorised():
    bounds = rc.layers_bound(math.log(0.1), math.log(4.0), np.arange(0, 201, 50))
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds) < 0).all()
    assert float(bounds[-1]) < -(3.0**199)


def test_one_layer_and_product_are_special_cases():
    assert float(rc.one_layer_bound(-2.0, 0.5)) == float(rc.layers_bound(-2.0, 0.5, 1)) == rc.product_bound(-2.0, [0.5])
    assert rc.product_bound(-2.0, [0.5, 0.25]) == 0.25 + 3 * (0.5 + 3 * -2.0)


def test_null_cases():
    assert float(rc.log_coefficient(0, 1)) == -math.inf
    assert rc.layers_bound(-1.0, -math.inf, [0, 1]).tolist() == [-1.0, -math.inf]
    assert rc.layers_bound(-math.inf, 1.0, [0, 3]).tolist() == [-math.inf, -math.inf]


@pytest.mark.parametrize("call", [
    lambda: rc.log_coefficient(-1, 1), lambda: rc.log_coefficient(math.nan, 1), lambda: rc.log_coefficient(1, 1, 0),
    lambda: rc.log_coefficient(1, 1, heads=0), lambda: rc.layers_bound(0.0, 0.0, -1), lambda: rc.layers_bound(0.0, 0.0, 1.5),
    lambda: rc.layers_bound(math.nan, 0.0, 1), lambda: rc.layers_bound(math.inf, 0.0, 1)])
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


@given(st.fractions(Fraction(1, 10), 10, max_denominator=10), st.fractions(Fraction(1, 10), 10, max_denominator=10))
def test_collapses_says_whether_the_recurrence_shrinks(c, r):
    if c * r * r != 1:
        assert bool(rc.collapses(math.log(r), math.log(c))) == (c * r**3 < r)


@pytest.mark.parametrize("seed", range(5))
def test_product_bound_lies_above_float_propagation(seed):
    rng = np.random.default_rng(seed)
    n, d, depth = 6, 4, 5
    layers = [Head(rng.normal(size=(d, d)) / d, rng.normal(size=(d, d)) / d) for _ in range(depth)]
    half = rng.normal(size=(n // 2, d)) / 5
    states = propagate(np.zeros(d), np.vstack([half, -half]), [[h] for h in layers])
    log_cs = [float(rc.log_coefficient(np.abs(h.qk).sum(0).max(), composite_norm(h.value), gamma=gamma(s.residual @ h.qk @ s.residual.T)))
              for h, s in zip(layers, states, strict=False)]
    for layer in range(1, depth + 1):
        bound = rc.product_bound(states[0].log_norm, log_cs[:layer])
        assert states[layer].log_norm < bound


# --- claims ---


def test_every_proof_says_what_it_rests_on():
    for name, claim in CLAIMS.items():
        assert bool(claim.proof) == bool(claim.rests_on), name
        assert len(claim.rests_on) <= 160, name
        assert claim.rests_on.startswith({"argument": "Argument", "checks": "Checks"}[claim.evidence]) or not claim.proof, name


def test_a_limit_that_its_statement_only_samples_is_no_argument():
    """The steps are about n to infinity, the statement compares digits at n = 2^480."""
    assert CLAIMS["long_context"].evidence == "checks"


def test_hardened_sentences_are_universal_readings_and_quoted():
    assert {name for name, claim in CLAIMS.items() if claim.wording == "universal"} == {"convergence_as_reported", "layernorm_affine_rank"}
    assert 'is guaranteed "when 4 gamma beta H < sqrt(d_qk)"' in CLAIMS["convergence_as_reported"].note
    assert '"preserves the affine rank of the token representation set exactly"' in CLAIMS["layernorm_affine_rank"].note


@pytest.mark.parametrize(("name", "restriction"), [
    ("cluster_rate_sa", "equiangular tokens"), ("cluster_rate_usa", "equiangular tokens"), ("layers_uniform", "logit ranges at most 1.256"),
    ("mlp_lipschitz", "logit ranges at most 1.256"), ("one_layer_cubic", "gamma = sqrt(|D1|_1 |D1|_inf) / (2 |E|_1)"),
    ("unit_rows_fixed_point", "from starts near it")])
def test_words_carry_the_conditions_of_their_evidence(name, restriction):
    assert restriction in CLAIMS[name].text


def in_scope(claim, suite="quick"):
    return [case for case in claim.cases(suite) if all(holds(case) for holds in claim.assumes.values())]


@pytest.mark.parametrize("name", MEASURABLE)
def test_quick_cases_are_decided_as_expected(name):
    claim = CLAIMS[name]
    verdicts = {judge(claim, case, claim.measured(case, 0)).verdict for case in in_scope(claim)}
    assert verdicts == ({Verdict.HOLDS} if claim.awaited == "HOLDS" else {Verdict.HOLDS, Verdict.FAILS})


@pytest.mark.parametrize("name", MEASURABLE)
def test_every_quick_case_is_in_scope(name):
    """By its fields; `test_quick_cases_are_decided_as_expected` sees that the network of no case is outside either."""
    assert in_scope(CLAIMS[name]) == list(CLAIMS[name].cases("quick"))


def mutations():
    """(claim, mutated statement): a constant, an exponent or a factor changed."""
    names = ("depth", "residual", "residual_end", "residual_scaled", "qk_norm", "value_norm", "cubic_coefficient", "cubic_slope")
    L, r, end, scaled, qk, value, c, slope = (symbol(name) for name in names)
    beta, gamma_, H, width = (symbol(name) for name in ("beta", "gamma", "heads", "qk_width"))
    log, Rational = sympy.log, sympy.Rational
    base = log(4 * gamma_ * beta * H / sympy.sqrt(width))
    yield "softmax_perturbation", sympy.Le(symbol("softmax_excess"), Rational(199, 100))
    yield "softmax_perturbation_below", sympy.Le(symbol("softmax_shortfall"), Rational(99, 100))
    yield "softmax_constant", sympy.Eq(symbol("softmax_root"), Rational("1.25643120862"))
    for name, left in (("one_layer_cubic", symbol("residual_per_gamma")), ("one_layer_cubic_v1", symbol("residual_next"))):
        yield name, sympy.Le(left, Rational(2, 5) * qk * value / sympy.sqrt(width) * r**3)
        yield name, sympy.Le(left, 4 * qk * value / sympy.sqrt(width) * r**2)
        yield name, sympy.Le(left, 4 * qk * value / sympy.sqrt(width) * r**4)
    yield "layers_product", sympy.Le(log(scaled), (3**L - 1) / 2 * log(4) + 2**L * log(r))
    yield "layers_product", sympy.Le(log(scaled), (3**L - 1) / 2 * log(4) + 4**L * log(r))
    yield "layers_uniform", sympy.Le(log(end), (3**L - 1) / 2 * base + 2**L * log(r))
    yield "layers_uniform", sympy.Le(log(end), (4**L - 1) / 3 * base + 4**L * log(r))
    yield "layers_uniform", sympy.Le(log(end), (3**L + 1) / 2 * base + 3**L * log(r))
    yield "cubic_rate", sympy.Eq(slope, Rational(29, 10))
    yield "collapse_condition", sympy.Eq(end, c ** ((3**L + 1) / 2) * r ** (3**L))


@pytest.mark.parametrize(("name", "statement"), list(mutations()))
def test_a_mutated_constant_turns_a_verdict(name, statement):
    claim = dataclasses.replace(CLAIMS[name], statement=statement)
    verdicts = [judge(claim, case, claim.measured(case, 0)).verdict for case in in_scope(claim)]
    assert Verdict.FAILS in verdicts


def proof_breaks(claim, statement):
    try:
        return not all(step.holds for step in claim.proof(statement))
    except (ValueError, TypeError, AttributeError, IndexError, ZeroDivisionError):
        return True


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.proof])
def test_proof_is_confirmed_and_breaks_under_mutation(name):
    claim = CLAIMS[name]
    assert all(step.holds for step in claim.proof(claim.statement))
    mutated = [statement for other, statement in mutations() if other == name] or [
        claim.statement.func(claim.statement.lhs, 2 * claim.statement.rhs), *(statement for _, statement in mutants(claim.statement))]
    assert any(proof_breaks(claim, statement) for statement in mutated)


IDENTITIES = [name for name in MEASURABLE if CLAIMS[name].statement.rel_op == "==" and CLAIMS[name].predicted is None]


@pytest.mark.parametrize("name", IDENTITIES)
def test_every_mutant_of_an_identity_turns_a_verdict_or_the_proof(name):
    claim = CLAIMS[name]
    values = [(case, claim.measured(case, 0)) for case in claim.cases("quick")]
    before = [judge(claim, case, value, force=True).verdict for case, value in values]
    for change, statement in mutants(claim.statement):
        mutated = dataclasses.replace(claim, statement=statement)
        try:
            turned = [judge(mutated, case, value, force=True).verdict for case, value in values] != before
        except (ValueError, TypeError):
            turned = True  # the mutated statement has no value at a case
        assert turned or (claim.proof and proof_breaks(claim, statement)), change


def test_the_softmax_lemma_fails_just_beyond_its_constant():
    claim = CLAIMS["softmax_perturbation"]
    root = rc.softmax_constant()
    for D, verdict in ((root.low - Fraction(1, 10**6), Verdict.HOLDS), (root.high + Fraction(1, 10**6), Verdict.FAILS)):
        case = Case(instance="two tokens", range=str(D))
        assert judge(claim, case, claim.measured(case, 0), force=True).verdict is verdict


def test_assumptions_put_cases_out_of_scope():
    large = Case(tokens=2, width=1, residual="1", qk_norm="1", value_norm="1", qk_width=1, bias=0)
    assert judge(CLAIMS["one_layer_cubic"], large, Exact(1)).verdict is Verdict.OUT_OF_SCOPE


# One layer on two tokens +-rho of width one: gamma = sqrt(1/2) = 0.70710..., and the logits range over beta r_0^2 = beta.
PAIR = {"tokens": 2, "width": 1, "heads": 1, "gamma": "5/7", "residual": "1", "beta": "1/2", "qk_width": 1, "depth": 1}
SMALL_RANGES, GAMMA_BOUNDS = measured.SMALL_RANGES, measured.GAMMA_BOUNDS


@pytest.mark.parametrize(("name", "fields", "broken"), [
    ("layers_uniform", {"gamma": "7072/10000"}, ""), ("layers_uniform", {"gamma": "7071/10000"}, GAMMA_BOUNDS),
    ("mlp_lipschitz", {"gamma": "7072/10000", "lipschitz": "1"}, ""), ("mlp_lipschitz", {"gamma": "7071/10000", "lipschitz": "1"}, GAMMA_BOUNDS),
    ("convergence_as_reported", {"beta": "1/4", "gamma": "7072/10000"}, ""),
    ("convergence_as_reported", {"beta": "1/4", "gamma": "7071/10000"}, GAMMA_BOUNDS),
    ("layers_product", {"beta": "1255/1000"}, ""), ("layers_product", {"beta": "1257/1000"}, SMALL_RANGES),
    ("layers_uniform", {"beta": "1255/1000"}, ""), ("layers_uniform", {"beta": "1257/1000"}, SMALL_RANGES),
    ("mlp_lipschitz", {"beta": "1255/1000", "lipschitz": "1"}, ""), ("mlp_lipschitz", {"beta": "1257/1000", "lipschitz": "1"}, SMALL_RANGES),
    ("layers_product", {"gamma": "1/10"}, "")])
def test_what_is_assumed_of_the_network_is_computed_on_the_network(name, fields, broken):
    """Just inside a bound a case is judged, just beyond it is out of scope; a claim that does not name gamma does not look at it."""
    claim, case = CLAIMS[name], Case(**{**PAIR, **fields})
    decision = judge(claim, case, claim.measured(case, 0))
    assert decision.verdict is (Verdict.OUT_OF_SCOPE if broken else Verdict.HOLDS)
    assert broken in decision.reason


@pytest.mark.parametrize(("condition", "verdict"), [("2001/1000", Verdict.HOLDS), ("1999/1000", Verdict.OUT_OF_SCOPE)])
def test_the_condition_of_the_first_order_term_is_computed_on_the_network(condition, verdict):
    """It is 2 for two opposite tokens of width one."""
    claim, case = CLAIMS["cubic_rate"], Case(tokens=2, width=1, condition=condition, residual="1/20", qk_norm="1", value_norm="1", qk_width=1)
    assert judge(claim, case, claim.measured(case, 0)).verdict is verdict


def test_a_bound_within_the_enclosure_is_no_verdict():
    assert not measured._above(Ball(Fraction(1), Fraction(1)), Fraction(1))
    with pytest.raises(ArithmeticError, match="choose a case"):
        measured._above(Ball(Fraction(1), Fraction(2)), Fraction(1))


@pytest.mark.parametrize(("name", "fields"), [
    ("causal_exponential", {"qk_weight": "1", "token_bound": "1", "difference": "3", "depth": 1}),
    ("equiangular_sa", {"flow": "SA", "tokens": 4, "common_cosine": "-1/2", "exp_beta": "4"}),
    ("equiangular_usa", {"flow": "USA", "tokens": 4, "common_cosine": "-1/2", "exp_beta": "4"}),
    ("long_context", {"common_cosine": "1/2", "logit_growth": "239/120"}),
    ("mask_exponential", {"mask": "chain", "instance": "tight", "tokens": 3, "radius": 1, "least_weight": "1/3", "depth": 1}),
    ("rescaled_tokens", {"tokens": 4, "width": 3, "time": "2/3", "scale": 2}),
    ("path_decomposition", {"tokens": 3, "width": 2, "depth": 2, "heads": 2, "order": "reversed"}),
    ("skip_existence", {"instance": "none", "tokens": 4, "width": 3, "depth": 1, "heads": 2, "beta": "1/10"}),
    ("zero_query_key_gradient", {"instance": "generic", "tokens": 3, "width": 2}),
    ("identity_attention", {"variant": "shaped", "tokens": 3, "gamma": "0"})])
def test_an_instance_beyond_the_words_is_out_of_scope(name, fields):
    claim, case = CLAIMS[name], Case(**fields)
    assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.OUT_OF_SCOPE


@pytest.mark.parametrize("name", MEASURABLE)
def test_the_negative_control_fails(name):
    claim, control = CLAIMS[name], CLAIMS[name].control
    wrong = dataclasses.replace(claim, statement=control.statement if control.statement is not None else claim.statement)
    value = (control.measured or claim.measured)(control.case, control.seed)
    assert judge(wrong, control.case, value, force=True).verdict is Verdict.FAILS


def test_the_pair_of_tokens_meets_its_closed_form():
    """r' = sqrt(2) rho tanh(w rho^2), independent of how the instance is built."""
    case = Case(tokens=2, width=1, residual="1", qk_norm="1/2", value_norm="1", qk_width=1, bias=0)
    measured = CLAIMS["one_layer_cubic_v1"].measured(case, 0)
    with flint.ctx.workprec(128):
        assert (arb(1) / 4).tanh().overlaps(ball(measured.low, measured.high))
    assert measured.high - measured.low < measured.low / 2**50


def test_published_curve_is_the_prediction_at_its_layer():
    claim = CLAIMS["bert_init_collapse"]
    for layer, published in enumerate(("0.6118", "0.01758", "6.99e-7")):
        interval = claim.predict(Case(layer=layer))
        assert isinstance(interval, Ball)
        assert interval.low < Fraction(published) < interval.high
        factor = interval.high / Fraction(published)
        assert abs(factor * interval.low - Fraction(published)) < Fraction(published) / 10**12
        assert f"{math.ceil(100 * factor) / 100:.2f}" in claim.text
    assert claim.measured is None
    assert claim.needs == "empirics"
    assert "neither a fit nor evidence for a rate" in claim.note


# --- labels no stronger than the evidence -----------------------------------------------------------------------------------


def test_figures_are_arithmetic_and_name_what_they_rest_on():
    assert CLAIMS["equiangular_figures"].premises == ("rank_collapse/equiangular_sa",)
    assert CLAIMS["equiangular_figures"].weight == CLAIMS["path_length_figures"].weight == "arithmetic"
    assert "uniformly drawn path" in CLAIMS["path_length_figures"].text


@pytest.mark.parametrize("name", ["unit_rows_basin", "distance_values", "layernorm_centred_rank"])
def test_the_controls_miss_by_little_and_fail(name):
    claim = CLAIMS[name]
    control = claim.control
    assert control.case in claim.cases("quick")
    assert judge(claim, control.case, claim.measured(control.case, 0)).verdict is Verdict.HOLDS
    assert judge(dataclasses.replace(claim, statement=control.statement), control.case, claim.measured(control.case, 0)).verdict is Verdict.FAILS
    gap = claim.predict(control.case) - at(control.statement.rhs, control.case)
    assert 0 < abs(gap) <= (1 if claim.kind == "identity" else Fraction(1, 10))
    # The border of the basin lies 0.002 spacings from a start, so that one start more would be the next smallest error.
    assert name != "unit_rows_basin" or (gap == -1 and "60037" in control.case.feature_gain)


def test_the_constant_four_of_the_l2_bound_is_not_tested_as_the_note_says():
    claim = CLAIMS["l2_attention_infinity"]
    found = [(float(claim.measured(c, 0).high), float(claim.predict(c)), c.width) for c in claim.cases("theory")]
    assert f"1/{min(bound / norm for norm, bound, _ in found):.2f}" in claim.note
    assert all(norm <= 3 / 4 * (bound - width**-0.5) + width**-0.5 for norm, bound, width in found)
