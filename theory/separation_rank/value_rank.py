"""The rank of a matrix of values of a net, which is its separation rank or a lower bound on it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..claims.symbols import quantity
from ..claims.values import Case, Exact
from .explicit_weights import certified_rank, coordinate_net
from .leading_monomial import GRADING, graded_net, leading_rank
from .linear_attention import PRIME, random_net, random_tokens, value_matrix

Array = NDArray[Any]

sep = quantity(
    "sep",
    r"\operatorname{sep}",
    "separation rank of one output coordinate with respect to a balanced partition of the tokens",
)

# Chance of a miss that is small enough for a suite with thousands of comparisons.
_RARE = 1e-6


def rank_mod(matrix: Array, prime: int = PRIME) -> int:
    """The exact rank of an integer matrix modulo a prime.

    >>> rank_mod(np.array([[1, 2], [2, 4]]))
    1
    """
    rows, columns = matrix.shape
    return int(flint.nmod_mat(rows, columns, (matrix % prime).ravel().tolist(), prime).rank())


def separation_rank(
    rng: np.random.Generator,
    *,
    width: int,
    depth: int,
    heads: int = 1,
    tokens: int = 2,
    inputs: int | None = None,
    residual: bool = False,
    input_rank: int | None = None,
) -> Exact:
    """The separation rank of a random net for two halves of the tokens, or a lower bound on it.

    A minor of the value matrix modulo p that is non-zero at random weights and inputs is a non-zero
    polynomial in the weights, so the rank is a lower bound for almost all real weights. Inputs are
    added until the rank no longer grows with them, or up to `inputs` of them on each side.

    `misses` is the chance that the separation rank is larger. With fewer inputs than the separation
    rank it is 1. Otherwise, an entry has degree 3^(L+1) - 2 in weights and tokens together, and 3^L
    more where the tokens are products with the basis of a subspace, so by Schwartz and Zippel a
    minor of size up to R that is not the zero polynomial modulo p vanishes with probability at most
    R times that degree, over p.

    Args:
        tokens: N, even, else a ValueError; the halves have N/2 tokens and position 0 is read.
        inputs: how many inputs for each side; None for as many as it takes.
        input_rank: r, when tokens are drawn from a random subspace of that dimension; None for all.

    Cost: O(R^2) forward passes and one elimination of an R x R matrix for each growth step, where R
    is 1.25 times the rank.

    >>> separation_rank(np.random.default_rng(0), width=2, depth=2, tokens=4).value
    18
    """
    if tokens < 2 or tokens % 2:
        raise ValueError(
            f"tokens={tokens}: a balanced partition needs an even number of tokens, at least 2"
        )
    degree = 3 ** (depth + 1) - 2 + (0 if input_rank is None else 3**depth)
    if degree >= PRIME:
        raise ValueError(
            f"depth={depth}: the degree {degree} reaches the prime {PRIME}, "
            "so the rank modulo it would be too small"
        )
    net = random_net(rng, width=width, depth=depth, heads=heads, residual=residual)
    embedding = None if input_rank is None else random_tokens(rng, net, input_rank).astype(object)

    def drawn(count: int) -> Array:
        """Random tokens, of the whole space or of the row space of the embedding."""
        if embedding is None:
            return random_tokens(rng, net, count, tokens // 2)
        factors = rng.integers(0, PRIME, (count, tokens // 2, len(embedding))).astype(object)
        return (factors @ embedding % PRIME).astype(np.int64)

    left = right = np.empty((0, tokens // 2, width), dtype=np.int64)
    values, rank = np.empty((0, 0), dtype=np.int64), 0
    while len(values) == rank and (inputs is None or len(values) < inputs):
        more = max(16, len(values) // 4) if inputs is None else inputs
        new_left, new_right = drawn(more), drawn(more)
        beside = np.hstack([values, value_matrix(net, left, new_right)])
        left, right = np.concatenate([left, new_left]), np.concatenate([right, new_right])
        values = np.vstack([beside, value_matrix(net, new_left, right)])
        rank = rank_mod(values)
    full = rank == len(values)
    misses = 1.0 if full else min(1.0, len(values) * degree / PRIME)
    return Exact(rank, misses=misses, truncated=full)


def measured_rank(case: Case, seed: int) -> Exact:
    """The separation rank of a random net, or a lower bound on it by explicit weights.

    A case names width, depth, heads and tokens, and may name what `separation_rank` takes besides.
    `weights=coordinate` are those of `coordinate_net`, whose rank is certified, or with `inputs`
    that of their values at so many random inputs on each side; `graded` those of `graded_net`.
    """
    if case.get("weights") == "graded":
        if (case.width, case.heads) != (4, 2) or case.tokens < 10:
            raise ValueError(
                f"[{case}]: the graded weights are of width 4 with two heads, "
                "and need at least 10 tokens"
            )
        return leading_rank(graded_net(case.depth), GRADING)
    if case.get("weights") == "coordinate":
        if case.width % case.heads or case.tokens < 2 * case.width + 2:
            raise ValueError(
                f"[{case}]: the explicit weights need heads that divide width "
                "and at least 2 width + 2 tokens"
            )
        if not case.get("inputs"):
            return certified_rank(coordinate_net(case.width, case.depth, heads=case.heads))
        rng, net = case.rng(seed), coordinate_net(case.width, case.depth, PRIME, case.heads)
        left, right = (random_tokens(rng, net, case.inputs, case.tokens // 2) for _ in range(2))
        value = rank_mod(value_matrix(net, left, right))
        return Exact(value, misses=1.0, truncated=value == case.inputs)
    return _random_rank(case, seed)


# Cached, because several claims ask about the same net.
@lru_cache(maxsize=1024)
def _random_rank(case: Case, seed: int) -> Exact:
    rng, names = case.rng(seed), ("width", "depth", "heads", "tokens", "input_rank")
    shape = {name: case.get(name) for name in names}
    shape["residual"] = bool(case.get("residual", False))
    value = separation_rank(rng, inputs=case.get("inputs"), **shape)
    if not _RARE < value.misses < 1:
        return value
    # Other weights and inputs miss independently of the first.
    again = separation_rank(rng, inputs=int(value.value) + 1, **shape)
    return Exact(max(value.value, again.value), misses=value.misses * again.misses)
