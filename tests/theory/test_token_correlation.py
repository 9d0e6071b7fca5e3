"""Correlation of tokens: scope, enumerations and maps by hand, and what is refused."""

from fractions import Fraction

import flint
import pytest
from judging import claims

from depthlaw.theory.claims.values import Case
from depthlaw.theory.signal_propagation import mean_field as mf, token_correlation as tc

CLAIMS = claims("signal_propagation")


@pytest.mark.parametrize("name", ["uniform_growth", "query_gradient", "value_gradient"])
def test_a_case_that_misstates_its_tokens_is_out_of_scope(name):
    """A prediction reads these fields, a measurement the tokens: a typo would refute a theorem."""
    case = CLAIMS[name].cases("quick")[0]
    assert not CLAIMS[name].broken(case)
    assert CLAIMS[name].broken(Case(**case.fields() | {"total_start": 1 + case.total_start}))


def test_assumptions_look_at_the_activation():
    for case in CLAIMS["block_contraction"].cases("quick")[::13]:
        assert not CLAIMS["block_contraction"].broken(case)
        moved = Case(**(case.fields() | {"derivative_moment": "3"}))
        assert CLAIMS["block_contraction"].broken(moved)


def test_integrals_do_not_depend_on_what_was_integrated_before():
    """Flint keeps quadrature nodes of other precisions, which move the last bits of integrals."""
    claim = CLAIMS["relu_kernel_above"]
    cases = claim.cases("theory")
    before = [claim.measure(case) for case in cases]
    with flint.ctx.workprec(160):
        for n in range(1, 40):
            tc.kernel_by_integral(flint.arb(n) / 40)
    assert [claim.measure(case) for case in cases] == before


@pytest.mark.parametrize(
    ("pre_norm", "gain_controlled", "correlation"),
    [
        *((False, False, "0.3369"), (True, False, "0.3363")),
        *((False, True, "0.2047"), (True, True, "0.2047")),
    ],
)
def test_one_layer_of_the_reference_run_by_the_maps_of_the_paper(
    pre_norm, gain_controlled, correlation
):
    """q = 1, p = 0.2, sigma_v^2 = 1, sigma_w^2 = 0.2, sigma_b = 0.02, and beta = 0.1, which lies
    below beta_c, so that attention is uniform. The maps are printed, the values are ours."""
    sizes = map(flint.arb, ("1", "0.2", "0.2", "0.0004"))
    q, p = mf.next_moments(*sizes, pre_norm=pre_norm, gain_controlled=gain_controlled)
    assert f"{float(p / q):.4f}" == correlation
    assert 0.1 < (2 / (1 - 0.2)) ** 0.5


def test_one_layer_over_both_signs_by_hand():
    # Tokens 1 and 3 of width 1, a = 1: both get the mean 2 with one sign, so (3, 5) or (-1, 1).
    case = tc.token_case("1; 3", attention_square="1", mlp_square="0", layer=1)
    assert tc.moments(case) == (Fraction(64 + 0, 2), Fraction(34 + 2, 2))


def test_integers_that_would_overflow_are_refused():
    case = tc.token_case("1000000001; 1000000000", attention_square="1/4", mlp_square="0", layer=2)
    with pytest.raises(OverflowError, match="fewer layers"):
        tc.moments(case)
