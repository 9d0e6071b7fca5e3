"""Bounds on the separation rank: the formulas at every size, the verdicts, and what a wrong constant does to them."""
import dataclasses
import math

import numpy as np
import pytest
import sympy

from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.separation_rank import (
    claims,
    deep_lower_bound,
    deep_upper_bound,
    depth_threshold,
    log3_dimension_count,
    shallow_lower_bound,
    shallow_upper_bound,
    width_threshold,
)

CLAIMS = {c.key.split("/")[1]: c for c in claims()}
L, SEP = symbol("depth"), symbol("sep")
SIZES = [(4, 1, 1), (12, 2, 3), (768, 12, 12), (12288, 96, 96), (10**6, 200, 64), (10**6, 200, 999_999)]


def verdicts(claim: Claim, *cases: Case) -> set[Verdict]:
    return {judge(claim, case, claim.measured(case, 0)).verdict for case in cases or claim.cases("quick")}


def mutated(name: str, right: sympy.Expr, *cases: Case) -> set[Verdict]:
    claim = CLAIMS[name]
    return verdicts(dataclasses.replace(claim, statement=claim.statement.func(claim.statement.lhs, right, evaluate=False)), *cases)


# --- the formulas ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "depth", "heads"), SIZES)
def test_bounds_are_the_statements_at_every_size(width, depth, heads):
    """Floats against balls of the statements; off by at most 8 units in the last place of the largest summand."""
    from depthlaw.theory.claim import at
    from depthlaw.theory.exact.enclosure import enclose

    case, log3 = Case(width=width, depth=depth, heads=heads), math.log(3)
    spare = abs(math.log((width - heads) / 2)) / log3 + depth + 2
    shallow = (3.0**depth / 2) * math.log(width + heads) / log3
    for found, name, largest in (
        (shallow_lower_bound(width, depth, heads), "lower_bound_shallow", 3.0 ** (depth - 2) * spare),
        (deep_lower_bound(width, depth, heads), "lower_bound_deep", width * (depth + spare) + depth * heads),
        (deep_upper_bound(width, depth), "upper_bound_deep", width * (4 * depth + 2 * math.log(width) + 4)),
        (shallow_upper_bound(width, depth, heads), "upper_bound_shallow", shallow),
    ):
        right = CLAIMS[name].statement.rhs
        if name == "upper_bound_shallow":  # stated before the logarithm
            base, degree = right.as_base_exp()
            right = degree * sympy.log(base) / sympy.log(3)
        exact = enclose(at(right, case), precision=1024)
        assert math.isfinite(found)
        assert abs(exact - float(found)) <= 8 * np.spacing(largest), name


def test_bounds_broadcast():
    width, depth = np.array([10**6, 12288])[:, None], np.array([1, 50, 200])
    bounds = [shallow_lower_bound(width, depth, 1), shallow_upper_bound(width, depth, 1), deep_lower_bound(width, depth, 1),
              deep_upper_bound(width, depth), *log3_dimension_count(width, depth)]
    assert {b.shape for b in bounds} == {(2, 3)}
    assert all(np.isfinite(b).all() for b in bounds)


def test_threshold_and_its_inverse():
    depths = np.arange(0, 201)
    assert np.abs(depth_threshold(width_threshold(depths)) - depths).max() <= 4 * np.spacing(200.0)
    assert depth_threshold(1) == 0
    # No power of three: 10^4096 lies between two neighbouring powers, so log_3(10) is known to 1/4096 without a logarithm.
    power = next(m for m in range(10**5) if 3 ** (m + 1) > 10**4096)
    assert power / 4096 <= depth_threshold(10) <= (power + 1) / 4096


def test_lower_bounds_stay_below_the_count():
    for depth in range(1, 9):
        for width in (4, 10, 30, 100, 1000):
            count = log3_dimension_count(width, depth)[0]
            lower = shallow_lower_bound if 3**depth < width else deep_lower_bound
            assert lower(width, depth, 1) <= count


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_bad_input_is_refused(bad):
    for function, arguments in ((depth_threshold, (bad,)), (shallow_upper_bound, (8, bad, 1)), (shallow_lower_bound, (bad, 1, 1)),
                                (deep_lower_bound, (8, 3, bad)), (deep_upper_bound, ([8, bad], 3))):
        with pytest.raises(ValueError, match="accepted are"):
            function(*arguments)


def test_out_of_range_is_refused():
    for function in (shallow_lower_bound, deep_lower_bound):
        with pytest.raises(ValueError, match="fewer heads than the width"):
            function(8, 2, 8)
    for overflow in (lambda: width_threshold(641), lambda: shallow_upper_bound(8, 641, 1)):
        with pytest.raises(ValueError, match="to 640"):
            overflow()


# --- the verdicts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_quick_verdicts(name):
    claim = CLAIMS[name]
    found = verdicts(claim)
    assert (Verdict.FAILS in found) == (claim.awaited == "FAILS" and bool(claim.cases("quick")))
    assert found <= {Verdict.HOLDS, Verdict(claim.awaited)}


@pytest.mark.parametrize(("width", "depth", "rank"), [(2, 1, 3), (2, 2, 18), (2, 3, 232), (3, 1, 4), (3, 2, 49), (4, 2, 110)])
def test_one_head_attains_the_count(width, depth, rank):
    claim = CLAIMS["generic_one_head"]
    case = Case(width=width, depth=depth, heads=1, tokens=4)
    assert claim.measured(case, 0).value == claim.predict(case) == rank


def test_wrong_constants_turn_verdicts():
    assert mutated("degree", 2**L) == {Verdict.FAILS}
    assert mutated("moments_degree", 3**L / 2) == {Verdict.FAILS}
    assert mutated("threshold", sympy.log(symbol("width")) / sympy.log(2)) == {Verdict.FAILS}
    count = CLAIMS["generic_one_head"].statement.rhs
    assert mutated("generic_one_head", count.replace(sympy.Min, sympy.Max)) == {Verdict.FAILS}
    # 2^L in place of 3^L makes C = (2^L - 1)/2 no integer; 2^L - 1 is the count of a net that doubles its degree.
    assert mutated("generic_one_head", count.subs(3**L, 2 ** (L + 1) - 1), Case(width=2, depth=3, heads=1, tokens=4)) == {Verdict.FAILS}
    half = CLAIMS["dimension_count"].statement.rhs / 2
    assert Verdict.FAILS in mutated("dimension_count", half)


def test_residual_connections_are_out_of_scope_and_fail_when_forced():
    claim, case = CLAIMS["degree"], Case(width=2, depth=3, residual=True)
    value = claim.measured(case, 0)
    assert judge(claim, case, value).verdict is Verdict.OUT_OF_SCOPE
    assert judge(claim, case, value, force=True).verdict is Verdict.FAILS


def test_several_heads_have_at_most_the_rank_of_one():
    measured = CLAIMS["dimension_count"].measured
    for width, depth in ((2, 3), (3, 2), (4, 2)):
        one, most = (measured(Case(width=width, depth=depth, heads=h, tokens=4), 0).value for h in (1, width))
        assert most < one


# --- the upper bound of Theorem 2 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "depth"), [(6, 30), (4, 61)])
def test_explicit_weights_exceed_the_recalled_bound(width, depth):
    claim = CLAIMS["upper_bound_deep"]
    case = Case(width=width, depth=depth, heads=width, tokens=2 * width + 2, weights="coordinate")
    value = claim.measured(case, 0)
    decision = judge(claim, case, value)
    assert decision.verdict is Verdict.FAILS
    assert decision.certain
    # One layer less in the same family is not yet a counterexample.
    shorter = Case(**{**case.fields(), "depth": depth - 1})
    assert judge(claim, shorter, claim.measured(shorter, 0)).verdict is not Verdict.FAILS


def test_depths_at_which_the_recalled_bound_gives_way():
    def first(width: int) -> int | None:
        # Distinct moments only; when the last one is used again, as for width 4, the bound gives way a little earlier.
        moments, depths = width * (width + 1) // 2, np.arange(math.floor(math.log(width, 3)) + 1, 400)
        reached = [sum(math.log(3 ** (n - layer) + 1, 3) for layer in range(1, min(n, moments) + 1)) for n in depths.tolist()]
        over = depths[np.array(reached) > deep_upper_bound(width, depths)]
        return int(over[0]) if over.size else None

    assert [first(width) for width in (2, 3, 4, 5, 6, 8, 16, 32, 64)] == [None, None, 62, 32, 30, 36, 67, 130, 258]
