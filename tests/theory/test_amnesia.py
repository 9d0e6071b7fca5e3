"""Causal amnesia: states against powers of a matrix and other continuations; no mask, no bound."""

from fractions import Fraction

import numpy as np
import pytest

from depthlaw.theory.claims.values import Case
from depthlaw.theory.rank_collapse import amnesia

NET = {"width": 2, "letters": 2, "more": 2, "shared_tokens": 3}


def test_uniform_attention_is_a_power_of_the_averaging_matrix():
    case = Case(attention="uniform", residual=0, layer=4, **NET)
    found = amnesia.states(case, (0, 1, 1, 0, 1))
    average = np.array([[Fraction(int(j <= i), i + 1) for j in range(5)] for i in range(5)])
    assert (found[4] == np.linalg.matrix_power(average, 4) @ found[0]).all()


@pytest.mark.parametrize("attention", ["hardmax", "rational"])
@pytest.mark.parametrize("residual", [0, 1])
def test_what_follows_does_not_reach_back_through_the_mask(attention, residual):
    case = Case(attention=attention, residual=residual, layer=2, mlp=1, **NET)
    short, long = (amnesia.states(case, word) for word in ((0, 1, 1), (0, 1, 1, 0, 1)))
    assert all((a == b[:3]).all() for a, b in zip(short, long, strict=True))
    open_short, open_long = (amnesia.states(case, w, False) for w in ((0, 1, 1), (0, 1, 1, 0, 1)))
    assert (open_short[2] != open_long[2][:3]).any()


def test_without_a_mask_states_collapse_and_still_differ():
    case = Case(attention="uniform", residual=0, layer=1, **NET)
    assert amnesia.largest_ratio(case) == 1
    with pytest.raises(ArithmeticError, match="equal states"):
        amnesia.largest_ratio(case, causal=False)
    case = Case(attention="rational", residual=0, layer=3, instance=1, **NET)
    assert amnesia.largest_ratio(case) <= 1
    assert amnesia.largest_ratio(case, causal=False) > 10**12


def test_unknown_attention_is_refused():
    with pytest.raises(ValueError, match="hardmax, rational and uniform"):
        amnesia.attention_weights(np.array([Fraction(1)]), "softmax")
