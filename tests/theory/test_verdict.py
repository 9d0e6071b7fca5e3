"""The comparison rule on values of every kind."""

import math
from fractions import Fraction

import made
import pytest
import sympy
from hypothesis import given, strategies as st

from depthlaw.ledger.verdicts.mutation import mutants
from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.relations import between
from depthlaw.theory.claims.symbols import depth as L
from depthlaw.theory.claims.values import Ball, Exact, Outside, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict, judge, log_base
from depthlaw.theory.exact.enclosure import ball, enclose, endpoints, sign

sep = sympy.Symbol("sep", integer=True, positive=True)
CASE = Case(depth=2)


def claim(statement, **changes) -> Claim:
    return made.claim(statement, CASE, **changes)


LE, GE, EQ = sympy.Le(sep, 3**L), sympy.Ge(sep, 3**L), sympy.Eq(sep, 3**L)
BETWEEN = between(L**2, sep, 3**L)  # 4 <= sep <= 9 at two layers


def of(value):
    """A whole number, or an interval by its ends."""
    if isinstance(value, tuple):
        return Ball(*map(Fraction, value))
    return Exact(value) if isinstance(value, int) else value


LOW = Sample((1.0, 1.5, 1.2, 1.1) * 4)


@pytest.mark.parametrize(
    ("statement", "holds", "fails", "undecided"),
    [
        (BETWEEN, [4, 9], [3, 10, (10, 11), Exact(10, 1.0)], [(8, 10), (3, 10), Exact(5, 1.0)]),
        (EQ, [9], [8, 10, (10, 11)], [(8, 10), Sample((1.0,)), Sample((9.0,) * 3)]),
        (LE, [9, (8, 9), LOW], [10, ("19/2", 10)], [(8, 10)]),
        (GE, [9, (10, 11)], [8, (7, 8), LOW], [(8, 10)]),
        (sympy.Lt(sep, 3**L), [8, (7, 8)], [9, (9, 10)], [(8, 9)]),
        (sympy.Gt(sep, 3**L), [10, (10, 11)], [9, (8, 9)], [(9, 10)]),
    ],
)
def test_rule(statement, holds, fails, undecided):
    for verdict, values in (("HOLDS", holds), ("FAILS", fails), ("UNDECIDED", undecided)):
        for value in map(of, values):
            assert judge(claim(statement), CASE, value).verdict == verdict, value


def test_equality_of_irrational_sides_is_decided_by_algebra():
    stated = claim(sympy.Le(sympy.log(sep) / sympy.log(3), L))
    assert judge(stated, CASE, Exact(9)).verdict is Verdict.HOLDS
    assert judge(stated, CASE, Exact(9)).slack == 0
    assert judge(stated, CASE, Exact(10)).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("statement", "decided", "undecided"),
    [
        # The bound is 9: full rank of 9 inputs could not have come out below it, that of 18 could.
        (GE, {18: "HOLDS"}, [8, 9, 17]),
        (LE, {10: "FAILS"}, [9]),
        (EQ, {10: "FAILS"}, [8, 9]),
    ],
)
def test_a_truncated_measurement_decides_only_what_more_inputs_could_not_change(
    statement, decided, undecided
):
    for value, verdict in (decided | dict.fromkeys(undecided, "UNDECIDED")).items():
        found = judge(claim(statement), CASE, Exact(value, misses=1.0, truncated=True))
        assert found.verdict == verdict
        assert ("measurement truncated" in found.reason) == (verdict == "UNDECIDED")


def test_a_truncated_measurement_inside_a_logarithm():
    stated = claim(sympy.Ge(sympy.log(sep) / sympy.log(3), L), holds_for="almost every")
    assert judge(stated, CASE, Exact(17, misses=1.0, truncated=True)).verdict is Verdict.UNDECIDED
    assert judge(stated, CASE, Exact(18, misses=1.0, truncated=True)).certain


def test_an_instance_outside_the_assumptions_is_out_of_scope_even_for_a_control():
    found = judge(claim(GE), CASE, Outside("gamma bounds the computed gamma"), force=True)
    assert found.verdict is Verdict.OUT_OF_SCOPE
    assert found.reason == "assumption broken: gamma bounds the computed gamma"


def test_rate_holds_only_when_the_measured_interval_lies_inside():
    stated = claim(EQ, predicted=lambda st, c: Ball(Fraction(8), Fraction(10)))
    assert judge(stated, CASE, Ball(Fraction(17, 2), Fraction(9))).verdict is Verdict.HOLDS
    assert judge(stated, CASE, Ball(Fraction(7), Fraction(9))).verdict is Verdict.UNDECIDED
    assert judge(stated, CASE, Ball(Fraction(1), Fraction(2))).verdict is Verdict.FAILS


def test_a_rank_that_may_have_missed_proves_only_in_its_safe_direction():
    rank, generic = Exact(9, misses=0.5), {"holds_for": "almost every"}
    assert judge(claim(GE, **generic), CASE, rank).certain
    assert judge(claim(LE, **generic), CASE, rank).verdict is Verdict.UNDECIDED
    assert judge(claim(EQ, **generic), CASE, Exact(10, misses=0.5)).verdict is Verdict.FAILS
    low = judge(claim(LE, **generic), CASE, Exact(9, misses=1e-9))
    assert (low.verdict, low.certain) == (Verdict.HOLDS, False)


@pytest.mark.parametrize(
    ("holds_for", "settled", "open_"),
    [
        ("all", [(LE, 10)], [(LE, 9), (EQ, 9)]),
        ("almost every", [(GE, 9), (LE, 10)], [(LE, 9)]),
        ("exists", [(EQ, 9)], [(EQ, 8)]),
        ("typical", [], [(GE, 9), (GE, 8)]),
    ],
)
def test_the_quantifier_says_what_one_observation_settles(holds_for, settled, open_):
    for statement, value in (*settled, *open_):
        found = judge(claim(statement, holds_for=holds_for), CASE, Exact(value))
        assert found.certain is ((statement, value) in settled)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        *((Exact, fields) for fields in ((1, math.nan), (1, -0.1), (9, 0.0, True))),
        (Ball, (Fraction(2), Fraction(1))),
        *((Sample, fields) for fields in (((),), ((math.inf,),))),
        *((Proportion, fields) for fields in ((2, 1), (0, 0), (-1, 3))),
    ],
)
def test_values_that_would_make_any_verdict_true_are_refused(kind, fields):
    with pytest.raises(ValueError, match=r"misses|interval|sample|proportion"):
        kind(*fields)


def test_broken_assumption_is_out_of_scope_and_can_be_forced():
    stated = claim(EQ, assumes={"never": lambda c: False})
    assert judge(stated, CASE, Exact(9)).verdict is Verdict.OUT_OF_SCOPE
    assert judge(stated, CASE, Exact(8), force=True).verdict is Verdict.FAILS


def test_what_no_run_can_decide_says_why():
    stated = claim(EQ, undecidable="no run can decide it: a missing digit")
    found = judge(stated, CASE, Ball(Fraction(8), Fraction(10)))
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, stated.plain.undecidable)


def test_slack_is_in_orders_of_magnitude():
    assert judge(claim(GE), CASE, Exact(27, misses=1.0)).slack is None  # it may be larger
    assert judge(claim(LE), CASE, Exact(3)).slack == pytest.approx(math.log10(3), rel=1e-12)
    huge = claim(sympy.Le(sep, 10 ** (10**4 * L)))
    assert judge(huge, CASE, Exact(1)).slack == pytest.approx(20000, rel=1e-12)
    logs = claim(sympy.Le(sympy.log(sep) / sympy.log(3), 10**L))
    assert judge(logs, CASE, Exact(1)).slack == pytest.approx(100 * math.log10(3), rel=1e-12)
    assert log_base(sep) is None


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40))
def test_clopper_pearson_contains_the_observed_rate(values):
    low, high = Proportion(int(sum(values)), len(values)).interval(1e-3)
    assert 0 <= low <= sum(values) / len(values) <= high <= 1


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_balls_contain_their_end_points(a, b):
    low, high = min(a, b), max(a, b)
    inner_low, inner_high = endpoints(ball(low, high))
    assert inner_low <= low <= high <= inner_high


def test_sign_is_told_of_numbers_close_to_zero_and_of_zero():
    assert sign(sympy.exp(1) - sympy.Rational(2718281828, 10**9)) == 1
    assert sign(sympy.log(27) - 3 * sympy.log(3)) == 0
    assert sign(4 * sympy.acos(sympy.Rational(1, 5)) - sympy.pi) == 1


def test_floats_are_refused():
    with pytest.raises(TypeError, match="float"):
        enclose(sympy.Float(0.5) * sympy.pi)
    with pytest.raises(TypeError, match="no rigorous rule"):
        enclose(sympy.erf(1))


def test_the_slack_between_two_bounds_is_that_of_the_nearer_one():
    for value, slack in ((5, math.log10(5 / 4)), (8, math.log10(9 / 8)), (3, math.log10(3 / 4))):
        assert judge(claim(BETWEEN), CASE, Exact(value)).slack == pytest.approx(slack)


def test_two_bounds_print_and_mutate_as_one_relation():
    assert str(BETWEEN) == "L**2 <= sep <= 3**L".replace("L", str(L))
    assert BETWEEN.func(*BETWEEN.args, evaluate=False) == BETWEEN
    changes = dict(mutants(BETWEEN))
    assert changes["3 -> 2 in 3^L"] == between(L**2, sep, 2**L)
    assert changes["2 -> 3 in L^2"] == between(L**3, sep, 3**L)
