"""Witnesses: minors, ranks modulo primes, and the depths that contradict the recalled bound, against direct evaluation."""
import dataclasses
import math

import pytest
import sympy

from depthlaw.theory.claim import Case
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.separation_rank import deep_upper_bound
from depthlaw.theory.separation_rank.measured import certified_rank, coordinate_net, linear_forms, measured_rank
from depthlaw.theory.separation_rank.witness import FIRST_VIOLATION, claims
from depthlaw.theory.separation_rank.witness_measured import (
    measured_conflict,
    measured_first_violation,
    measured_rank_loss,
    measured_zero_fraction,
)

CLAIMS = {c.key.split("/")[1]: c for c in claims()}


def excess(width: int, heads: int, depth: int) -> float:
    """log_3 of the product minus the recalled bound, in floats: far from zero except next to a crossing."""
    forms = heads * (heads + 1) // 2
    product = math.fsum(math.log(3 ** (depth - layer) + 1) for layer in range(1, min(depth, forms) + 1))
    return product / math.log(3) - float(deep_upper_bound(width, depth))


@pytest.mark.parametrize("width", [4, 5, 6, 8, 16])
def test_first_violation_changes_the_sign(width):
    first = measured_first_violation(Case(width=width, heads=width), 0).value
    assert first == FIRST_VIOLATION[width]
    assert excess(width, width, first) > 0 > excess(width, width, first - 1)


def test_repeating_the_last_form_is_one_layer_earlier_at_width_4():
    rank = certified_rank(coordinate_net(4, 61)).value
    assert math.log(rank, 3) > float(deep_upper_bound(4, 61))
    assert excess(4, 4, 61) < 0


def test_eight_of_sixteen_heads_contradict():
    assert measured_first_violation(Case(width=16, heads=8), 0).value == 216
    assert [measured_conflict(Case(width=w, heads=h), 0).value for w, h in ((16, 8), (14, 7), (3, 3), (4, 4), (4, 1))] == [1, 0, 0, 1, 0]


def test_fewer_heads_multiply_on_a_block():
    net = coordinate_net(4, 3, heads=2)
    assert len(set(linear_forms(net))) == 3  # M_11, M_12, M_22 of the block
    assert certified_rank(net).value == 10 * 4 * 2
    assert measured_rank(Case(width=4, depth=2, heads=2, tokens=10), 0).value >= certified_rank(coordinate_net(4, 2, heads=2)).value


def test_small_primes_lose_rank():
    losses = [measured_rank_loss(Case(width=2, depth=2, heads=1, minor_size=18, prime=p), 0).value for p in (2, 3, 2**31 - 1)]
    assert losses[0] > 0
    assert losses[2] == 0


def test_zero_fraction_counts_by_hand():
    # Width 1: o v k q x (x^2 + z^2) vanishes when one of four weights does.
    found = measured_zero_fraction(Case(width=1, depth=1, heads=1, minor_size=1, prime=7), 0).value
    assert found == 1 - sympy.Rational(6, 7) ** 4


@pytest.mark.parametrize("name", ["no_linear_bound", "conflict_heads"])
def test_arguments_hold(name):
    claim = CLAIMS[name]
    assert all(step.holds for step in claim.proof(claim.statement))


def test_arguments_refuse_another_constant():
    c, d, L = (symbol(n) for n in ("slope", "width", "depth"))
    linear = CLAIMS["no_linear_bound"]
    assert not all(step.holds for step in linear.proof(sympy.Gt(linear.statement.lhs, 2 * c * d * L, evaluate=False)))
    conflict = CLAIMS["conflict_heads"]
    H = symbol("heads")
    wrong = sympy.Piecewise((1, 2 * d < H * (H + 1) / 2), (0, True))
    assert not all(step.holds for step in conflict.proof(sympy.Eq(conflict.statement.lhs, wrong)))


def test_product_bound_fails_with_larger_exponents():
    claim = CLAIMS["product_lower_bound"]
    twin = claim.must_fail
    larger = dataclasses.replace(claim, statement=twin.statement)
    assert judge(larger, twin.case, claim.measured(twin.case, 0), force=True).verdict is Verdict.FAILS
