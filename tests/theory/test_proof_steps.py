"""Steps of arguments: they hold for what is true and only for that."""
import pytest
from sympy import Integer, Le, Symbol, binomial, log, symbols

from depthlaw.theory.proof_steps import (
    at_least,
    equal,
    factorial_steps,
    hockey_stick_steps,
    logarithm_step,
    nonnegative,
    sum_step,
    vanish,
)

n, k = symbols("n k", integer=True, positive=True)
x, y = Symbol("x", nonnegative=True), Symbol("y", positive=True)


def test_lemmas_hold():
    assert all(step.holds for step in (*factorial_steps(), *hockey_stick_steps()))


@pytest.mark.parametrize(("left", "right", "same"), [
    (log(4 * n), 2 * log(2) + log(n), True),
    (log(4 * n), log(2) + log(n), False),
    (binomial(n + k, k) * (k + 1), binomial(n + k, k + 1) * n, False),
    (binomial(n + 1, n), n + 1, True),
])
def test_equal(left, right, same):
    assert equal("", left, right).holds is same


@pytest.mark.parametrize(("expression", "holds"), [
    (x**2 + x, True), (x - 1, False), ((x + 1) / (x + 2) - 1, False), (x / (x + 1), True),
    (Integer(0), True), (-1, False)])
def test_nonnegative(expression, holds):
    assert nonnegative("", expression).holds is holds


def test_vanish_and_logarithm():
    assert vanish("", (x + 1) ** 2 - x**2 - 2 * x - 1).holds
    assert not vanish("", x).holds
    assert logarithm_step(Le(log(n) / log(3), 1), "n").holds
    assert not logarithm_step(Le(log(n) / log(2), 1), "n").holds
    assert not logarithm_step(Le(log(n) / log(3), 1), "k").holds


@pytest.mark.parametrize("sign", [1, -1])
def test_the_induction_over_terms_is_confirmed_on_both_sides(sign):
    assert sum_step("a sum", sign).holds


def test_order_of_expressions_is_decided_by_algebra():
    assert at_least(y**2 + y, y)
    assert not at_least(y, y**2)  # false for large y, and not decided by sign alone
