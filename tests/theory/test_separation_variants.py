"""Several heads, residual connections and inputs of low rank: against symbolic computation."""

import numpy as np
import pytest
import sympy

from depthlaw.theory.claims.definition import Case, at
from depthlaw.theory.separation_rank import variants
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.linear_attention import forward, random_net
from depthlaw.theory.separation_rank.value_rank import measured_rank


def measured(name, **case):
    return getattr(variants, name).measure(Case(width=case.pop("width", 2), **case)).value


def test_one_residual_layer_written_out():
    net = random_net(np.random.default_rng(0), width=2, depth=1, prime=None, residual=True)
    x = np.array(sympy.symbols("x:4"), dtype=object).reshape(2, 2)
    output = sympy.Poly(forward(net, x)[()], *x.ravel())
    assert {sum(m) for m in output.monoms()} == {1, 3}
    assert output.coeff_monomial(x[0, 0]) == 1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_odd_degrees(depth):
    assert measured("residual_parts", depth=depth, heads=1, residual=True) == (3**depth + 1) // 2
    assert measured("residual_parts", depth=depth, heads=1, residual=False) == 1


def test_leaving_out_a_path_is_seen():
    assert measured("residual_paths", depth=3, heads=2, tokens=3) == 0
    assert measured("residual_paths", depth=3, heads=2, tokens=3, first=1) != 0


@pytest.mark.parametrize("heads", [1, 2])
def test_residual_rank_by_two_routes(heads):
    """The gain at equal weights is zero, and the generic ranks at other weights agree with that."""
    assert measured("residual_gain", depth=2, heads=heads, tokens=6, inputs=24) == 0
    plain, residual = (
        measured_rank(Case(width=2, depth=2, heads=heads, tokens=6, residual=on), 0).value
        for on in (False, True)
    )
    assert plain == residual == {1: 18, 2: 17}[heads]


def test_rank_gain_needs_more_inputs_than_the_rank():
    with pytest.raises(ArithmeticError, match="take more"):
        measured("residual_gain", depth=2, heads=1, tokens=6, inputs=10)


def test_two_tokens_are_no_sum_of_catalecticants():
    assert measured("graded_rank", depth=2, heads=1, tokens=6) == 0
    assert measured("graded_rank", depth=2, heads=1, tokens=2) == 15 - 18


def test_catalecticants_add_up_to_the_count():
    ranks = [measured("catalecticants", width=3, depth=2, heads=1, order=k) for k in range(5)]
    assert ranks == [3, 18, 21, 6, 1]
    assert sum(ranks) == dimension_count(3, 2)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_inputs_of_low_rank_act_like_a_narrow_net(rank):
    bottleneck = measured_rank(Case(width=4, depth=2, heads=1, tokens=8, input_rank=rank), 0)
    narrow = measured_rank(Case(width=rank, depth=2, heads=1, tokens=8), 0)
    assert bottleneck.value == narrow.value == dimension_count(rank, 2)


def test_tokens_of_a_subspace_have_a_larger_degree_and_miss_more_often():
    """A token E w is of degree two in what is drawn."""
    free, bound = (
        measured_rank(Case(width=3, depth=2, heads=1, tokens=6, inputs=50, **more), 0)
        for more in ({}, {"input_rank": 2})
    )
    assert (free.value, bound.value) == (49, 18)
    misses = [50 * degree / (2**31 - 1) for degree in (25, 25 + 9)]
    assert [free.misses, bound.misses] == misses


def test_the_control_of_the_residual_bound_is_off_by_one():
    claim = variants.residual_upper
    case = claim.control.case
    assert case in claim.cases("quick")
    assert claim.predict(case) - at(claim.control.statement.rhs, case) == 1
    assert claim.measure(case).value == claim.predict(case)
