"""Steps of arguments: they hold for what is true and only for that."""

import pytest
from sympy import Ge, Integer, Le, Rational, Symbol, binomial, log, symbols

from depthlaw.theory.claims import proof_steps as ps
from depthlaw.theory.claims.definition import registry

n, k = symbols("n k", integer=True, positive=True)
x, y = Symbol("x", nonnegative=True), Symbol("y", positive=True)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (log(4 * n), 2 * log(2) + log(n), True),
        (log(4 * n), log(2) + log(n), False),
        (binomial(n + k, k) * (k + 1), binomial(n + k, k + 1) * n, False),
        (binomial(n + 1, n), n + 1, True),
    ],
)
def test_equal(left, right, same):
    assert ps.equal("", left, right).holds is same


def test_nonnegative_vanish_and_logarithm():
    assert [ps.nonnegative("", e).holds for e in (x**2 + x, x / (x + 1), Integer(0))] == [True] * 3
    assert not any(ps.nonnegative("", e).holds for e in (x - 1, (x + 1) / (x + 2) - 1, -1))
    assert ps.vanish("", (x + 1) ** 2 - x**2 - 2 * x - 1).holds
    assert not ps.vanish("", x).holds
    assert ps.logarithm_step(Le(log(n) / log(3), 1), "n").holds
    assert not ps.logarithm_step(Le(log(n) / log(2), 1), "n").holds
    assert not ps.logarithm_step(Le(log(n) / log(3), 1), "k").holds


def test_order_of_expressions_is_decided_by_algebra():
    assert ps.at_least(y**2 + y, y)
    assert not ps.at_least(y, y**2)  # false for large y, and not decided by sign alone


def test_the_machine_confirms_the_identity_of_the_best_approximation():
    """All else of that argument is squares and products of nonnegative numbers. A bound of another
    size breaks the identity; so does one in the place of the error, or from above."""
    claim = registry()["separation_rank/error_floor"]
    steps = list(claim.proof(claim.statement))
    assert (len(steps), len(ps.counted(steps))) == (4, 1)
    assert all(step.holds for step in steps)
    left, right = claim.statement.args
    for wrong in (
        Ge(left, 2 * right),
        Ge(left, right * Rational(101, 100)),
        Ge(left, right / 2),
        Ge(left, right**2),
        Le(left, right),
    ):
        assert [step.holds for step in ps.counted(claim.proof(wrong))] == [False]
