"""Several heads, four tokens and the causal mask: against counting, determinants and plain
loops."""

import numpy as np
import pytest
import sympy

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.separation_rank import heads, linear_attention as la
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.graded_pieces import PRIME, scaled_forms
from depthlaw.theory.separation_rank.piece_rank import graded_rank
from depthlaw.theory.separation_rank.value_rank import measured_rank, rank_mod

SHAPES = [(d, L, H) for d in range(1, 7) for L in (1, 2, 3) for H in range(1, d + 1) if d % H == 0]


def heads_rank(d, L, H):
    orders = range((3**L + 1) // 2)
    return sum(heads.heads_bounds(d, L, H, k)[heads.best_cut(d, L, H, k)] for k in orders)


@pytest.mark.parametrize(("d", "L", "H"), SHAPES)
def test_one_head_and_one_layer_reach_the_dimension_count_and_no_others(d, L, H):
    bound, whole = heads_rank(d, L, H), dimension_count(d, L)
    assert bound == whole if H == 1 or L == 1 else bound < whole


def test_three_layers_and_two_heads_at_width_two_have_a_smaller_rank_than_one_head():
    found = measured_rank(Case(width=2, depth=3, heads=2, tokens=6), 0).value
    assert found == heads_rank(2, 3, 2) == 215 < dimension_count(2, 3) == 232


@pytest.mark.parametrize("zeros", ["query", "key", "value", "output"])
def test_special_weights_stay_below_every_cut(zeros):
    net = la.random_net(np.random.default_rng(0), width=4, depth=2, heads=2, prime=PRIME)
    weights = {name: getattr(net, name).copy() for name in ("query", "key", "value", "output")}
    weights[zeros][0, 0, 0] = 0
    forms = scaled_forms(la.LinearAttentionNet(**weights, prime=PRIME))
    for k in range(5):
        found = graded_rank(forms, k)
        assert all(found <= bound for bound in heads.heads_bounds(4, 2, 2, k).values())


@pytest.mark.parametrize(("d", "L"), [(2, 2), (3, 2), (4, 2)])
def test_pieces_add_up_to_the_rank_of_values(d, L):
    shape = {"width": d, "depth": L, "heads": 1, "tokens": 4}
    cases = [Case(**shape, order=k) for k in range((3**L + 1) // 2)]
    ranks = [heads.four_tokens.measure(case).value for case in cases]
    assert sum(ranks) == measured_rank(Case(**shape), 0).value


def _masked(net, tokens):
    """The last position of a net of width 1 with a causal mask, by plain loops modulo the prime."""
    for layer in range(net.depth):
        query, key, value, output = (
            int(w[layer, 0, 0, 0]) for w in (net.query, net.key, net.value, net.output)
        )
        tokens = [
            output * sum(query * x * key * y * value * y for y in tokens[: i + 1]) % net.prime
            for i, x in enumerate(tokens)
        ]
    return tokens[-1]


@pytest.mark.parametrize(
    ("depth", "tokens", "alternating"),
    [(1, 4, True), (2, 2, True), (2, 4, True), (2, 4, False), (3, 2, True), (3, 4, False)],
)
def test_causal_rank_by_values(depth, tokens, alternating):
    case = Case(width=1, depth=depth, tokens=tokens, alternating=alternating)
    expected = heads.causal_alternating.measure(case).value
    net = la.random_net(np.random.default_rng(1), width=1, depth=depth)
    rng = np.random.default_rng(2)
    left, right = (
        la.random_tokens(rng, net, expected + 5, tokens // 2)[..., 0].tolist() for _ in range(2)
    )

    def inputs(a, b):
        return [t for pair in zip(a, b, strict=True) for t in pair] if alternating else a + b

    values = [[_masked(net, inputs(a, b)) for b in right] for a in left]
    assert rank_mod(np.array(values)) == expected


@pytest.mark.parametrize("h", [1, 2, 3, 4])
def test_the_parts_of_the_causal_proof(h):
    """The expansion that docs/separation-rank.md counts, of the output with a causal mask at width
    1 and depth 2."""
    a, b = [0, *sympy.symbols(f"a1:{h + 1}")], [0, *sympy.symbols(f"b1:{h + 1}")]
    steps = range(1, h + 1)
    output = (a[h] + b[h]) * sum(
        (a[i] - a[i - 1]) * (a[i] + b[i - 1]) ** 2 + (b[i] - b[i - 1]) * (a[i] + b[i]) ** 2
        for i in steps
    )
    alpha, beta = (sum((s[i] - s[i - 1]) * s[i] ** 2 for i in steps) for s in (a, b))
    left = [(a[i + 1] - a[i]) ** 2 for i in range(1, h)]
    right = [(b[i] - b[i - 1]) ** 2 for i in range(1, h)]
    last = (b[h] - b[h - 1]) ** 2
    parts = a[h] * alpha + b[h] * beta + (a[h] ** 3 + alpha) * b[h]
    parts += a[h] ** 2 * (last + 2 * b[h] ** 2) + a[h] * (b[h] * last + b[h] ** 3 + beta)
    for i in range(1, h):
        parts += a[h] * left[i - 1] * b[i] + a[h] * a[i] * right[i - 1]
        parts += left[i - 1] * b[h] * b[i] + a[i] * b[h] * right[i - 1]
    assert sympy.expand(output - parts) == 0
