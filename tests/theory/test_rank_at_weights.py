"""Separation ranks at given weights against other routes, and what makes them smaller."""

import numpy as np
import pytest

from depthlaw.theory.separation_rank import linear_attention as la, rank_at_weights as at
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.graded_pieces import scaled_forms
from depthlaw.theory.separation_rank.value_rank import rank_mod


def floats(width, depth, heads=1, seed=0):
    """Query, key, value and output of shapes as in `LinearAttentionNet`, and a read-out."""
    rng = np.random.default_rng(seed)
    inward, outward = (depth, heads, width // heads, width), (depth, heads, width, width // heads)
    parts = [rng.normal(size=inward) for _ in range(3)] + [rng.normal(size=outward)]
    return [*parts, rng.normal(size=width)]


def found(weights):
    return at.rank_at(at.integer_net(*weights), np.random.default_rng(7))


@pytest.mark.parametrize(("width", "depth", "heads"), [(2, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 2)])
def test_rank_is_that_of_values_at_random_tokens(width, depth, heads):
    weights = floats(width, depth, heads)
    net = at.modulo(at.integer_net(*weights), la.PRIME)
    rank = found(weights).value
    left, right = (
        la.random_tokens(np.random.default_rng(side), net, rank + 8, width + 1) for side in (1, 2)
    )
    assert rank == rank_mod(la.value_matrix(net, left, right))
    if heads == 1:
        assert rank == dimension_count(width, depth)


def test_a_matrix_of_zeros_leaves_nothing_and_a_query_of_rank_one_leaves_one_form(monkeypatch):
    *parts, read_out = floats(2, 1)
    query = parts[0].copy()
    parts[0][:] = 0
    assert found([*parts, read_out]).value == 0
    # y = (a . (U + V) k) (q . x): the functions of the other side are a . V k and 1.
    query[:, :, 1] = 2 * query[:, :, 0]
    parts[0] = query
    drawn, bits = at._drawn_prime, []
    monkeypatch.setattr(at, "_drawn_prime", lambda rng, size: bits.append(size) or drawn(rng, size))
    smaller = found([*parts, read_out])
    # The first prime is a quick look that counts for nothing.
    assert bits == [22, 26, 26]
    assert (smaller.value, smaller.misses < 1e-6) == (2, True)
    assert smaller.misses > 0


def test_integers_give_what_floats_give_up_to_a_constant():
    *parts, read_out = floats(2, 2, seed=3)
    net = at.integer_net(*parts, read_out)
    tokens = np.random.default_rng(0).integers(-3, 4, (2, 4, 2))
    exact = [int(la.forward(net, each.astype(object))) for each in tokens]

    def by_floats(y):
        for query, key, value, output in zip(*(p[:, 0] for p in parts), strict=True):
            scores = (y @ query.T) @ (y @ key.T).T
            y = scores @ (y @ value.T) @ output.T
        return y[0] @ read_out

    floated = [by_floats(each.astype(float)) for each in tokens]
    assert exact[0] / exact[1] == pytest.approx(floated[0] / floated[1], rel=1e-9)


def test_a_prime_that_divides_the_weights_is_found_out(monkeypatch):
    bad, primes = 67108859, iter([67108859, 67108837, 67108819])
    monkeypatch.setattr(at, "_drawn_prime", lambda rng, bits: next(primes))
    net = la.random_net(np.random.default_rng(0), width=2, depth=2, prime=None)
    multiple = type(net)(bad * net.query, net.key, net.value, net.output, None)
    assert at.rank_at(multiple, np.random.default_rng(0)).value == 18
    assert next(primes) == 67108819


def test_coefficients_stay_within_the_bits_that_are_counted():
    net = la.random_net(np.random.default_rng(5), width=2, depth=2, prime=None)
    most = abs(scaled_forms(at.modulo(net, 67108859)).scaled).max()
    assert most < 2 ** at._entry_bits(net) < la.PRIME * 2**10


def test_weights_that_are_not_finite_and_nets_modulo_a_prime_are_refused():
    with pytest.raises(ValueError, match="diverged"):
        at.whole_numbers(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="over Z"):
        at.rank_at(
            la.random_net(np.random.default_rng(0), width=2, depth=1), np.random.default_rng(0)
        )
