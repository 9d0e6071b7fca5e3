"""Nets whose output is one monomial: exponents, the recursion over tokens, shifts, certificates."""

import json
import math

import numpy as np
import pytest
from judging import verdicts

from depthlaw.theory.certificates.recheck import _grows, recheck
from depthlaw.theory.separation_rank import monomial_net as mn
from depthlaw.theory.separation_rank.linear_attention import PRIME, LinearAttentionNet, forward
from depthlaw.theory.separation_rank.value_rank import rank_mod, value_matrix

SHIFTS = [(0, 1, 1), (2, 2, 0), (1, 0, 1), (0, 2, 0)]


def as_weights(heads: int, blocks: int, shifts, residual: bool = False) -> LinearAttentionNet:
    """Coordinate (h, k) is h * blocks + k."""
    width = heads * blocks
    shape = (len(shifts), heads, blocks, width)
    query, key, value = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    for layer, (s, r, t) in enumerate(shifts):
        for h in range(heads):
            for k in range(blocks):
                there = (k + t) % blocks
                query[layer, h, k, h * blocks + k] = 1
                value[layer, h, k, (h + s) % heads * blocks + there] = 1
                key[layer, h, k, (h + r) % heads * blocks + there] = 1
    return LinearAttentionNet(query, key, value, np.swapaxes(query, -1, -2), PRIME, residual)


def in_blocks(rng, count: int, heads: int, blocks: int):
    """Random tokens (n, H, b), and as n * b tokens (., H b) that live in one block each."""
    some = rng.integers(0, PRIME, (count, heads, blocks))
    each = np.zeros((count, blocks, heads, blocks), dtype=np.int64)
    for k in range(blocks):
        each[:, k, :, k] = some[:, :, k]
    return some, each.reshape(count * blocks, heads * blocks)


def stored(width: int, heads: int, depth: int) -> dict:
    file = mn.files("depthlaw.theory.separation_rank") / mn.STORED[width, heads, depth]
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_recursion_is_that_of_linearised_attention():
    net = as_weights(3, 2, SHIFTS)
    some, tokens = in_blocks(np.random.default_rng(1), 4, 3, 2)
    assert mn.attended(some, SHIFTS)[0, 0, 0] == forward(net, tokens)
    assert mn.attended(some, SHIFTS[::-1])[0, 0, 0] != forward(net, tokens)
    tokens[1, 0] += 1  # now in two blocks
    assert mn.attended(some, SHIFTS)[0, 0, 0] != forward(net, tokens)


def test_the_rank_of_values_is_the_product_of_the_exponents():
    for blocks, shifts in ((1, [(0, 1, 0), (2, 2, 0)]), (2, [(0, 1, 1), (2, 2, 1)])):
        net, rng = as_weights(3, blocks, shifts), np.random.default_rng(2)
        left, right = (
            np.stack([in_blocks(rng, 3, 3, blocks)[1] for _ in range(40)]) for _ in range(2)
        )
        rank = mn.monomial_rank(3, blocks, shifts).value
        assert rank == math.prod(e + 1 for e in mn.exponents(3, blocks, shifts).values())
        assert rank_mod(value_matrix(net, left, right)) == rank < 40


def test_residual_connections_do_not_lower_the_rank():
    shifts = [(0, 1, 1), (2, 2, 1)]
    net, rng = as_weights(3, 2, shifts, residual=True), np.random.default_rng(2)
    left, right = (np.stack([in_blocks(rng, 3, 3, 2)[1] for _ in range(40)]) for _ in range(2))
    assert rank_mod(value_matrix(net, left, right)) >= mn.monomial_rank(3, 2, shifts).value


def test_a_recursion_that_differs_is_an_error(monkeypatch):
    monkeypatch.setattr(mn, "attended", lambda tokens, shifts: tokens)
    with pytest.raises(ArithmeticError, match="does not give the monomial"):
        mn.monomial_rank(3, 2, SHIFTS)


@pytest.mark.parametrize(("heads", "blocks"), [(3, 1), (4, 2), (5, 3), (6, 1)])
def test_exponents_add_up_and_the_search_counts_the_same(heads, blocks):
    for seed in range(5):
        shifts = mn.search(heads, blocks, 5, seed=seed, steps=3)
        found = mn.exponents(heads, blocks, shifts)
        assert sum(found.values()) == (3**5 - 1) // 2
        exact = math.log(math.prod(e + 1 for e in found.values()), 3)
        assert mn._log_product(heads, blocks, shifts) == pytest.approx(exact)


@pytest.mark.parametrize("doubling", [0, 2])
@pytest.mark.parametrize(("spreading", "depth"), [(m, n) for m in (1, 2, 3) for n in (3, 5, 9)])
def test_spreading_shifts_reach_the_bound(spreading, doubling, depth):
    """Each layer below those that spread adds a power of 3 to moments of its own."""
    w, b, below = 3**spreading, 2**doubling, depth - spreading
    shifts = mn.spreading_shifts(spreading, doubling, depth + doubling)
    found = mn.exponents(w, b, shifts)
    for i in range(min(below, (w + 1) // 2)):
        apart = [e for (_, low, high), e in found.items() if i in (high - low, w + low - high)]
        assert len(apart) == w * b
        assert min(apart) >= 3 ** (below - 1 - i)
    found = mn.exponents(w, b, [*shifts[:-1], (0, 0, 0)])
    if spreading < depth and w > 3:
        assert len({e for (k, low, high), e in found.items() if low == high and k == 0}) > 1


def test_too_few_layers_and_shapes_without_a_certificate():
    with pytest.raises(ValueError, match="2 layers cannot spread in a net of depth 1"):
        mn.spreading_shifts(1, 1, 1)
    with pytest.raises(ValueError, match="no shifts are stored for width 5, 5 heads and 3 layers"):
        mn.stored_shifts(5, 5, 3)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_what_certificates_hold(seed):
    """Not the same shifts: the way of the search hangs on the last digits of logarithms."""
    found = mn.search(16, 1, 9, seed=seed, steps=1500, warmth=0.4)
    data = stored(16, 16, 9) | {"shifts": [list(layer) for layer in found]}
    assert [step.says for step in recheck(data) if not step.holds] == []


@pytest.mark.parametrize("shape", sorted(mn.STORED))
def test_certificates_stand(shape):
    data = stored(*shape)
    assert (data["width"], data["heads"], data["depth"]) == shape
    assert [step.says for step in recheck(data) if not step.holds] == []
    data["shifts"] = [data["shifts"][0]] * shape[2]
    assert not all(step.holds for step in recheck(data))


def test_the_excess_stays_at_a_layer_more():
    """What a certificate's last step says, at the next depth: a layer on top multiplies by 3."""
    shifts = [*mn.stored_shifts(16, 8, 10), (0, 0, 0)]
    before, after = (mn.exponents(8, 2, some) for some in (shifts[:-1], shifts))
    assert all(after[at] >= 3 * times for at, times in before.items())
    (step,) = (s for s in recheck(stored(16, 8, 10)) if s.says.startswith("so it does at every"))
    assert step.holds
    assert _grows(16, [10**30] * 34)
    assert not _grows(16, [10**30] * 32)


def test_a_certificate_of_another_form_is_refused():
    data = stored(16, 8, 10)
    for shifts in ([[0, 8, 0]] * 10, [[0, 0, 2]] * 10, [[0, -1, 0]] * 10, [[0, 0]] * 10, [0.5], {}):
        with pytest.raises(ValueError, match="two from 0 to 7 and one from 0 to 1"):
            recheck(data | {"shifts": shifts})
    assert not all(step.holds for step in recheck(data | {"depth": 9}))
    assert not all(step.holds for step in recheck(data | {"width": 17}))


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
    equal = mn.monomial_rank(16, 1, case.depth * mn.stored_shifts(16, 16, 9)[:1])
    found = mn.monomial_rank(16, 1, mn.stored_shifts(16, 16, 9))
    bound = float(mn.excess_at_ordinary_shapes.predict(case))
    assert math.log(equal.value, 3) < bound < math.log(found.value, 3)
