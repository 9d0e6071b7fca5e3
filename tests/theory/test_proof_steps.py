"""Steps of arguments: they hold for what is true and only for that."""
import pytest
import sympy

from depthlaw.theory.glossary import symbol
from depthlaw.theory.proof_steps import equal, factorial_steps, hockey_stick_steps, logarithm_step, nonnegative, vanish

n, k = sympy.symbols("n k", integer=True, positive=True)
x = sympy.Symbol("x", nonnegative=True)


def test_lemmas_hold():
    assert all(step.holds for step in (*factorial_steps(), *hockey_stick_steps()))


@pytest.mark.parametrize(("left", "right", "same"), [
    (sympy.log(4 * n), 2 * sympy.log(2) + sympy.log(n), True),
    (sympy.log(4 * n), sympy.log(2) + sympy.log(n), False),
    (sympy.binomial(n + k, k) * (k + 1), sympy.binomial(n + k, k + 1) * n, False),
    (sympy.binomial(n + 1, n), n + 1, True),
])
def test_equal(left, right, same):
    assert equal("", left, right).holds is same


@pytest.mark.parametrize(("expression", "holds"), [(x**2 + x, True), (x - 1, False), ((x + 1) / (x + 2) - 1, False), (x / (x + 1), True),
                                                   (sympy.Integer(0), True), (-1, False)])
def test_nonnegative(expression, holds):
    assert nonnegative("", expression).holds is holds


def test_vanish_and_logarithm():
    assert vanish("", (x + 1) ** 2 - x**2 - 2 * x - 1).holds
    assert not vanish("", x).holds
    sep = symbol("sep")
    assert logarithm_step(sympy.Le(sympy.log(sep) / sympy.log(3), 1), "sep").holds
    assert not logarithm_step(sympy.Le(sympy.log(sep) / sympy.log(2), 1), "sep").holds
