"""Several heads, residual connections and inputs of low rank: against symbolic computation."""

import itertools

import numpy as np
import pytest
import sympy

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import linear_attention as la, variants
from depthlaw.theory.separation_rank.value_rank import measured_rank


@pytest.mark.parametrize(
    ("width", "depth", "heads", "tokens"), [(2, 1, 1, 3), (2, 2, 2, 3), (2, 3, 2, 3), (4, 4, 2, 4)]
)
def test_a_residual_net_is_a_sum_over_the_subsets_of_layers(width, depth, heads, tokens):
    """Of the products of their matrices T_l(M_l) with the token, M_l those of the residual net."""
    rng = np.random.default_rng([width, depth])
    net = la.random_net(rng, width=width, depth=depth, heads=heads, prime=None, residual=True)
    x = la.random_tokens(rng, net, tokens)
    moment, matrices = la.moments(net, x), []
    for layer in range(depth):
        matrices.append(la.layer_matrix(net, layer, moment))
        step = np.eye(width, dtype=object) + matrices[-1]
        moment = step @ moment @ step.T
    paths = []
    for chosen in itertools.product((False, True), repeat=depth):
        token = x[0]
        for matrix in itertools.compress(matrices, chosen):
            token = matrix @ token
        paths.append(token[0])
    output = la.forward(net, x)[()]
    assert output == sum(paths)
    assert output != sum(paths[1:])


def test_rank_gain_needs_more_inputs_than_the_rank():
    with pytest.raises(ArithmeticError, match="take more"):
        variants.residual_gain.measure(Case(width=2, depth=2, heads=1, tokens=6, inputs=10))


def test_tokens_of_a_subspace_have_a_larger_degree_and_miss_more_often():
    """A token E w is of degree two in what is drawn."""
    free, bound = (
        measured_rank(Case(width=3, depth=2, heads=1, tokens=6, inputs=50, **more), 0)
        for more in ({}, {"input_rank": 2})
    )
    assert (free.value, bound.value) == (49, 18)
    misses = [50 * degree / (2**31 - 1) for degree in (25, 25 + 9)]
    assert [free.misses, bound.misses] == misses


@pytest.mark.parametrize(("heads", "tokens", "low"), [(1, 6, 18), (1, 4, 1), (2, 6, 1)])
def test_only_one_head_with_enough_tokens_must_attain_the_bottleneck(heads, tokens, low):
    claim = variants.vocabulary_bottleneck
    case = Case(width=4, depth=2, heads=heads, tokens=tokens, input_rank=2)
    assert claim.predict(case) == sympy.Tuple(low, 18)
    assert judge(claim, case, Exact(17)).verdict is (Verdict.FAILS if low == 18 else Verdict.HOLDS)
    assert judge(claim, case, Exact(19)).verdict is Verdict.FAILS
