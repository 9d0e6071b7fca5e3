"""The forms in the moments: against the normal form at random points, and catalecticants against
derivatives by SymPy."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
import sympy

from depthlaw.theory.separation_rank.linear_attention import (
    PRIME,
    normal_form,
    random_net,
    random_tokens,
)
from depthlaw.theory.separation_rank.moment_forms import (
    catalecticant,
    catalecticant_sum,
    moment_forms,
)
from depthlaw.theory.separation_rank.value_rank import rank_mod


@pytest.mark.parametrize(("width", "depth", "heads"), [(1, 2, 1), (2, 1, 1), (2, 2, 2), (3, 2, 1)])
def test_forms_are_the_normal_form(width, depth, heads):
    rng = np.random.default_rng(3)
    net = random_net(rng, width=width, depth=depth, heads=heads)
    forms = moment_forms(net)
    half = rng.integers(0, PRIME // 2, (width, width))
    moment, token = half + half.T, random_tokens(rng, net)
    entries = [int(moment[a, b]) for a in range(width) for b in range(a, width)]
    total = 0
    for form, x in zip(forms, token, strict=True):
        for exponents, c in form.items():
            term = c * int(x)
            for entry, e in zip(entries, exponents, strict=True):
                term = term * pow(entry, e, PRIME) % PRIME
            total += term
    assert total % PRIME == int(normal_form(net, moment % PRIME, token))


@pytest.mark.parametrize("order", range(5))
def test_catalecticant_holds_the_derivatives(order):
    forms = moment_forms(random_net(np.random.default_rng(0), width=2, depth=2, heads=2))
    m = sympy.symbols("m:3")
    polys = [sympy.Poly(form, *m, domain="ZZ") for form in forms]
    derivatives = []
    for poly in polys:
        for mu in [(a, b, order - a - b) for a in range(order + 1) for b in range(order + 1 - a)]:
            derivatives.append(poly.diff(*zip(m, mu, strict=True)) if order else poly)
    monomials = [(a, b, 4 - order - a - b) for a in range(5 - order) for b in range(5 - order - a)]
    by_sympy = np.array(
        [[int(p.coeff_monomial(nu)) % PRIME for nu in monomials] for p in derivatives]
    )
    matrix = catalecticant(forms, order)
    assert matrix.shape == by_sympy.shape == (2 * comb(order + 2, 2), comb(6 - order, 2))
    assert rank_mod(matrix) == rank_mod(by_sympy)


def test_bad_input_is_refused():
    rng = np.random.default_rng(0)
    net = random_net(rng, width=2, depth=1)
    for wrong in (replace(net, residual=True), replace(net, prime=None)):
        with pytest.raises(ValueError, match="without residual"):
            moment_forms(wrong)
    for order in (-1, 2):
        with pytest.raises(ValueError, match="accepted are orders"):
            catalecticant(moment_forms(net), order)
    assert catalecticant_sum(random_net(rng, width=1, depth=2)) == 5  # x M^4: C + 1 powers
