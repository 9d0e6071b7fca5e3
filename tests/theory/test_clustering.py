"""The flow on the sphere: values by Runge and Kutta, and rescaled tokens."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.rank_collapse import clustering as cl, rational_matrices as rm


def test_rational_powers():
    assert cl.rational_power(Fraction(27, 8), Fraction(2, 3)) == Fraction(9, 4)
    with pytest.raises(ValueError, match="irrational"):
        cl.rational_power(Fraction(2), Fraction(1, 2))


def test_rounded_values_at_times_8_and_10():
    """n = 16, beta = 2, rho(0) = 0.1 under SA: 1 - rho = 1.0609e-6 and 1.9431e-8, from the stated
    equation by Runge and Kutta, in u = -log(1 - rho)."""
    stated = cl.equiangular_flow.statement.rhs.subs({cl.sums: 1, cl.n: 16, cl.B: math.exp(2)})
    pull = sympy.lambdify(cl.rho, stated / (1 - cl.rho))

    def slope(u):
        return pull(1 - math.exp(-u))

    u, h, found = -math.log(0.9), 2**-10, {}
    for step in range(1, 10 * 2**10 + 1):
        a = slope(u)
        b = slope(u + h / 2 * a)
        c = slope(u + h / 2 * b)
        u += h / 6 * (a + 2 * b + 2 * c + slope(u + h * c))
        found[step * h] = math.exp(-u)
    assert f"{found[8]:.4e}" == "1.0609e-06"
    assert f"{found[10]:.4e}" == "1.9431e-08"


@pytest.mark.parametrize("time", ["0", "2/3"])
def test_rescaled_tokens_follow_differences_alone(time):
    """z_i = e^(-tV) x_i and dx_i/dt = sum_j P_ij V x_j with row-stochastic P give dz_i/dt = sum_j
    P_ij V (z_j - z_i), as in the authors' code: exact, with a nilpotent V."""
    case, t = Case(tokens=4, width=3), Fraction(time)
    P = rm.row_stochastic(np.abs(rm.random_matrix(case, 4, 4)) + 1)
    V, X = np.triu(rm.random_matrix(case, 3, 3, 1), 1), rm.random_matrix(case, 4, 3, 2)
    flow = rm.rational_array(np.eye(3, dtype=int)) - t * V + t**2 * V @ V / 2
    Z = X @ flow.T
    moved = (P @ X @ V.T - X @ V.T) @ flow.T
    assert (moved == P @ Z @ V.T - Z @ V.T).all()
