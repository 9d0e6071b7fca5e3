"""Nets whose output is one monomial: exponents, the recursion over tokens, shifts, certificates."""

import json
import math

import numpy as np
import pytest
from judging import verdicts

from depthlaw.theory.certificates.recheck import recheck
from depthlaw.theory.separation_rank import monomial_net as mn
from depthlaw.theory.separation_rank.linear_attention import PRIME, LinearAttentionNet, forward
from depthlaw.theory.separation_rank.value_rank import rank_mod, value_matrix

SHIFTS = [(0, 1), (2, 2), (1, 0), (0, 2)]


def as_weights(width: int, heads: int, shifts) -> LinearAttentionNet:
    shape = (len(shifts), heads, width // heads, width)
    query, key, value = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for layer, (s, r) in enumerate(shifts):
        for a in range(heads):
            query[layer, a, 0, a] = 1
            value[layer, a, 0, (a + s) % heads] = key[layer, a, 0, (a + r) % heads] = 1
    return LinearAttentionNet(query, key, value, np.swapaxes(query, -1, -2), PRIME)


def stored(heads: int, depth: int) -> dict:
    file = mn.files("depthlaw.theory.separation_rank") / mn.STORED[heads, depth]
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_recursion_is_that_of_linearised_attention():
    net, rng = as_weights(6, 3, SHIFTS), np.random.default_rng(1)
    tokens = rng.integers(0, PRIME, (5, 6))
    assert mn.attended(tokens[:, :3], SHIFTS)[0, 0] == forward(net, tokens)
    assert mn.attended(tokens[:, :3], SHIFTS[::-1])[0, 0] != forward(net, tokens)


def test_the_rank_of_values_is_the_product_of_the_exponents():
    shifts = [(0, 1), (2, 2)]
    net, rng = as_weights(3, 3, shifts), np.random.default_rng(2)
    left, right = (rng.integers(0, PRIME, (40, 3, 3)) for _ in range(2))
    rank = mn.monomial_rank(3, shifts).value
    assert rank == math.prod(e + 1 for e in mn.exponents(3, shifts).values())
    assert rank_mod(value_matrix(net, left, right)) == rank < 40


def test_a_recursion_that_differs_is_an_error(monkeypatch):
    monkeypatch.setattr(mn, "attended", lambda tokens, shifts: tokens)
    with pytest.raises(ArithmeticError, match="does not give the monomial"):
        mn.monomial_rank(3, SHIFTS)


@pytest.mark.parametrize("width", [3, 4, 5, 6])
def test_exponents_add_up_and_the_search_counts_the_same(width):
    for seed in range(5):
        shifts = mn.search(width, 5, seed=seed, steps=3)
        found = mn.exponents(width, shifts)
        assert sum(found.values()) == (3**5 - 1) // 2
        exact = math.log(math.prod(e + 1 for e in found.values()), 3)
        assert mn._log_product(width, shifts) == pytest.approx(exact)


@pytest.mark.parametrize(("spreading", "depth"), [(m, n) for m in (1, 2, 3) for n in (3, 5, 9)])
def test_spreading_shifts_reach_the_bound(spreading, depth):
    """Each layer below the last m adds a power of 3 to w moments of its own."""
    w, below = 3**spreading, depth - spreading
    found = mn.exponents(w, mn.spreading_shifts(spreading, depth))
    for k in range(min(below, (w + 1) // 2)):
        apart = [e for (a, b), e in found.items() if k in ((b - a) % w, (a - b) % w)]
        assert len(apart) == w
        assert min(apart) >= 3 ** (below - 1 - k)
    found = mn.exponents(w, [*mn.spreading_shifts(spreading, depth)[:-1], (0, 0)])
    if spreading < depth and w > 3:
        assert len({e for (a, b), e in found.items() if a == b}) > 1


def test_too_few_layers_for_the_spreading():
    with pytest.raises(ValueError, match="2 layers cannot spread in a net of depth 1"):
        mn.spreading_shifts(2, 1)


def test_certificates_are_what_the_search_finds():
    assert [list(t) for t in mn.search(16, 9, steps=3000)] == stored(16, 9)["shifts"]
    with pytest.raises(ValueError, match="no shifts are stored for 5 heads at 3 layers"):
        mn.stored_shifts(5, 3)


@pytest.mark.parametrize("shape", sorted(mn.STORED))
def test_certificates_stand(shape):
    data = stored(*shape)
    assert (data["heads"], data["depth"]) == shape
    assert [step.says for step in recheck(data) if not step.holds] == []
    data["shifts"] = [data["shifts"][0]] * shape[1]
    assert not all(step.holds for step in recheck(data))


def test_a_certificate_of_another_form_is_refused():
    for shifts in ([[0, 16]] * 9, [[0, -1]] * 9, [[0]] * 9, [0.5, 1], {}):
        with pytest.raises(ValueError, match="shifts must be pairs of whole numbers from 0 to 15"):
            recheck(stored(16, 9) | {"shifts": shifts})
    assert not all(step.holds for step in recheck(stored(16, 9) | {"depth": 8}))


CLAIMS = [
    mn.excess_at_ordinary_shapes,
    mn.spread_lower_bound,
    mn.no_linear_bound_past_threshold,
    mn.first_excess_of_spreading,
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_claims_hold_at_their_quick_cases(claim):
    assert set(verdicts(claim).values()) == {"HOLDS"}


def test_equal_shifts_do_not_exceed_the_bound():
    """The same moments in every layer: the product grows by one factor of 3 for each."""
    case = next(iter(mn.excess_at_ordinary_shapes.cases("quick")))
    equal = mn.monomial_rank(case.heads, case.depth * mn.stored_shifts(16, 9)[:1])
    found = mn.monomial_rank(case.heads, mn.stored_shifts(16, 9))
    bound = float(mn.excess_at_ordinary_shapes.predict(case))
    assert math.log(equal.value, 3) < bound < math.log(found.value, 3)
