"""What the separation rank becomes in other settings: graded pieces, several heads, residual
connections, inputs of low rank.

The dimension count S(d, L) bounds all of them: residual connections only add lower degrees below
the same staircase of coefficients, and inputs from an r-dimensional space make the net one of
width r.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray
from sympy import Min

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.symbols import quantity
from .linear_attention import (
    AttentionNet,
    forward,
    layer_matrix,
    moments,
    random_net,
    random_tokens,
    value_matrix,
)
from .moment_forms import catalecticant, catalecticant_sum, moment_forms
from .rank_symbols import (
    COUNT_PAGE,
    LONGER,
    ONE_HEAD,
    SHORTER,
    Eq,
    L,
    Le,
    Lt,
    catalecticant_rank,
    d,
    dimension_sum,
)
from .value_rank import measured_rank, rank_mod, sep

rank_gap = quantity(
    "rank_gap",
    r"\Delta r",
    "rank of the value matrix minus the sum of the ranks of the catalecticants, at the same "
    "weights",
    "integer",
)
rank_gain = quantity(
    "rank_gain",
    r"\Delta_{res}",
    "separation rank with residual connections minus without, at the same weights",
    "integer",
)
parts = quantity(
    "parts",
    r"\#_{deg}",
    "number of degrees that occur in an output coordinate as a polynomial in the tokens",
)
path_defect = quantity(
    "path_defect",
    r"\varepsilon_{path}",
    "output with residual connections minus the sum over the 2^L paths",
    "integer",
)
r = quantity("input_rank", "r", "dimension of the space that holds the input tokens")

_RESIDUAL = {"residual connections": lambda c: c.residual}
_ENSEMBLES = Source("veit2016", "residual nets as ensembles, here for linearised attention")
_BOTTLENECK = Source("wies2021", "vocabulary bottleneck", "arXiv:2105.03928v2")
# S(d, L), by its first argument.
_count = partial(dimension_sum, Min, C=(3**L - 1) / 2)


def _orders(*shapes: tuple[int, int]) -> list[Case]:
    return [
        Case(width=d, depth=L, heads=1, order=k) for d, L in shapes for k in range((3**L + 1) // 2)
    ]


# --- graded pieces --------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _forms(width: int, depth: int, heads: int, seed: int) -> list[dict[tuple[int, ...], int]]:
    rng = Case(width=width, depth=depth, heads=heads).rng(seed)
    return moment_forms(random_net(rng, width=width, depth=depth, heads=heads))


@claim(
    Eq(catalecticant_rank, SHORTER),
    source=COUNT_PAGE,
    holds_for="almost every",
    assumes=ONE_HEAD,
    cases={
        "quick": _orders((2, 1), (2, 2), (2, 3), (3, 2), (4, 2)),
        "theory": _orders((3, 3), (5, 2)),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, order=2),
        "max in place of min",
        statement=Eq(catalecticant_rank, LONGER),
    ),
    supports="separation_rank/exact",
)
def catalecticants(case: Case, seed: int) -> Exact:
    """One head: graded pieces as large as possible in small cases.

    For one head and almost all weights, in every case measured, the derivatives of order k of the
    d_x forms in the moments span min(d_x binom(D+k-1, k), binom(D+C-k-1, C-k)) dimensions,
    0 <= k <= C; fails at (4, 3).

    Finer than generic_one_head, by another route: polynomials in the moments in place of values at
    tokens. Ranks modulo a prime prove the lower half for almost all weights; the upper half is the
    size of the matrix.
    """
    matrix = catalecticant(_forms(case.width, case.depth, case.heads, seed), case.order)
    rank, most = rank_mod(matrix), min(matrix.shape)
    # A minor has degree 4 C(L) in the weights for each of its rows; no rank exceeds the matrix.
    miss = most * 2 * (3**case.depth - 1) / (2**31 - 1)
    return Exact(rank, misses=0.0 if rank == most else miss)


@claim(
    Eq(rank_gap, 0),
    source=COUNT_PAGE,
    assumes={"N >= 2 (d_x + 1)": lambda c: c.tokens >= 2 * c.width + 2},
    cases={
        "quick": (
            *Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=6),
            *Case.grid(width=3, depth=2, heads=(1, 3), tokens=8),
        ),
        "theory": Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=10),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=2),
        "two tokens: the sides are not dense, and the rank is 15, not 18",
    ),
    supports="separation_rank/exact",
)
def graded_rank(case: Case, seed: int) -> Exact:
    """The rank is the sum of the catalecticant ranks.

    For N >= 2 (d_x + 1), at every choice of weights, the separation rank is the sum over k of the
    ranks of the catalecticants, in every case measured.

    Checks steps 3 to 5 of the written proof at random weights modulo a prime, at several heads too.
    """
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads)
    graded = catalecticant_sum(net)
    left, right = (random_tokens(rng, net, graded + 4, case.tokens // 2) for _ in range(2))
    return Exact(rank_mod(value_matrix(net, left, right)) - graded)


@claim(
    Lt(sep, _count(d)),
    source=COUNT_PAGE,
    assumes={"H >= 2": lambda c: c.heads >= 2, "L >= 2": lambda c: c.depth >= 2},
    cases={
        "quick": (
            *Case.grid(width=2, depth=(2, 3), heads=2, tokens=6),
            Case(width=3, depth=2, heads=3, tokens=8),
            *Case.grid(width=4, depth=2, heads=(2, 4), tokens=4),
        ),
        "theory": (
            *Case.grid(width=5, depth=2, heads=5, tokens=4),
            *Case.grid(width=6, depth=2, heads=(2, 3, 6), tokens=4),
        ),
    },
    control=Control(Case(width=2, depth=2, heads=1, tokens=6), "one head: the rank is S"),
    supports="separation_rank/heads_exact",
)
def several_heads(case: Case, seed: int) -> Exact:
    """Several heads have a smaller rank than one.

    For 2 <= H <= d_x, L >= 2 and all weights, sep < S(d_x, L), in every case measured.

    Argued in words, for all shapes, on docs/separation-rank.md; no machine has checked that.
    Measured: 17 of 18 at d = 2, L = 2; 215 of 232 at d = 2, L = 3; 43 of 49 at d = H = 3, L = 2;
    107 and 85 of 110 at d = 4 with two and four heads. One head attains S in these cases
    (generic_one_head, exact). At L = 1 several heads attain S = d + 1.
    """
    return measured_rank(case, seed)


# --- residual connections -------------------------------------------------------------------------


@claim(
    Le(sep, _count(d)),
    source=COUNT_PAGE,
    assumes=_RESIDUAL,
    cases={
        "quick": (
            *Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=6, residual=True),
            *Case.grid(width=3, depth=(1, 2), heads=(1, 3), tokens=4, residual=True),
        ),
        "theory": (
            *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=(4, 6), residual=True),
            *Case.grid(width=2, depth=3, heads=(1, 2), tokens=6, residual=True),
        ),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=6, residual=True),
        "one less: the bound is attained here",
        statement=Le(sep, _count(d) - 1),
    ),
    supports="separation_rank/residual_gain",
)
def residual_upper(case: Case, seed: int) -> Exact:
    """The dimension count bounds residual nets too.

    With residual connections too, for all weights, heads and tokens, sep <= S(d_x, L).

    The degrees in the two sides' moments add up to at most C in place of exactly C. A coefficient
    with order above m on one side has order at most C - m - 1 on the other, which bounds the rank
    by the closed form of S. This is an argument in words.
    """
    return measured_rank(case, seed)


@claim(
    Eq(rank_gain, 0),
    source=COUNT_PAGE,
    holds_for="almost every",
    cases={
        "quick": (
            *Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=(2, 6), inputs=24),
            *Case.grid(width=3, depth=2, heads=(1, 3), tokens=8, inputs=56),
        ),
        "theory": (
            *Case.grid(width=2, depth=3, heads=(1, 2), tokens=6, inputs=240),
            *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=10, inputs=116),
        ),
    },
    control=Control(
        Case(width=2, depth=2, heads=2, tokens=6, inputs=24),
        "a gain of one",
        statement=Eq(rank_gain, 1),
    ),
    cited="Bears on whether rank theory may leave skip connections out.",
)
def residual_gain(case: Case, seed: int) -> Exact:
    """Residual connections leave the measured ranks unchanged.

    For almost all weights the separation rank with residual connections equals that without, at the
    same weights, in every case measured.

    The coefficient matrix with residuals is block triangular with the catalecticants of the net
    without on its diagonal, so its rank is at least theirs, for all weights, if N >= 2 (d_x + 1):
    an argument in words. That nothing is gained follows from residual_upper where one head attains
    S; for several heads it is measured only.
    """
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads)
    left, right = (random_tokens(rng, net, case.inputs, case.tokens // 2) for _ in range(2))
    with_, without = (
        rank_mod(value_matrix(replace(net, residual=on), left, right)) for on in (True, False)
    )
    if max(with_, without) == case.inputs:
        raise ArithmeticError(f"[{case}]: the rank reaches the number of inputs; take more of them")
    return Exact(with_ - without)


@claim(
    Eq(parts, (3**L + 1) / 2),
    source=_ENSEMBLES,
    holds_for="almost every",
    assumes=_RESIDUAL,
    cases={
        "quick": Case.grid(width=(1, 2), depth=(1, 2, 3), heads=1, residual=True),
        "theory": Case.grid(width=4, depth=4, heads=(1, 2), residual=True),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, residual=False), "no residual connections: one degree only"
    ),
    supports="separation_rank/residual_gain",
)
def residual_parts(case: Case, seed: int) -> Exact:
    """Residual nets mix all odd degrees.

    For almost all weights an output coordinate of L layers with residual connections has parts of
    all odd degrees 1, 3, ..., 3^L in the tokens, and no others: (3^L + 1)/2 of them.

    Counted is how many degrees occur along a line through the origin. The part of degree 3^L is the
    net without residuals.
    """
    rng = case.rng(seed)
    net = _over_z(rng, case, case.residual)
    direction = rng.integers(1, 2**40, (2, case.width))
    line = np.frompyfunc(lambda v: fmpz_poly([0, int(v)]), 1, 1)(direction)
    # A part may vanish on the line by chance.
    return Exact(sum(c != 0 for c in forward(net, line).item().coeffs()), misses=2.0**-20)


@claim(
    Eq(path_defect, 0),
    source=_ENSEMBLES,
    cases={
        "quick": Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=3),
        "theory": Case.grid(width=4, depth=(3, 4), heads=2, tokens=4),
    },
    control=Control(
        Case(width=2, depth=2, heads=1, tokens=3, first=1),
        "without the path that skips every layer",
    ),
    supports="separation_rank/residual_gain",
)
def residual_paths(case: Case, seed: int) -> Exact:
    """A residual net is a sum over the subsets of layers.

    For all weights and tokens the output with residual connections is the sum over the 2^L subsets
    of layers of the products of their matrices T_l(M_l) with the token, each M_l that of the
    residual net.

    There are binom(L, m) paths of m layers. They share their moments, so the sum is no ensemble of
    independent shallow nets.
    """
    rng = case.rng(seed)
    net = _over_z(rng, case, residual=True)
    tokens = random_tokens(rng, net, case.tokens)
    moment, matrices = moments(net, tokens), []
    identity = np.array(np.eye(case.width, dtype=int).tolist(), dtype=object)
    for layer in range(case.depth):
        matrices.append(layer_matrix(net, layer, moment))
        step = identity + matrices[-1]
        moment = step @ moment @ step.T
    subsets = range(case.get("first", 0), 2**case.depth)
    total = sum(_path(matrices, tokens[0], subset) for subset in subsets)
    return Exact(int(forward(net, tokens)[()] - total))


def _over_z(rng: np.random.Generator, case: Case, residual: bool) -> AttentionNet:
    shape = {"width": case.width, "depth": case.depth, "heads": case.heads}
    return random_net(rng, **shape, prime=None, residual=residual)


def _path(matrices: list[NDArray[Any]], token: NDArray[Any], subset: int) -> int:
    for layer, matrix in enumerate(matrices):
        if subset >> layer & 1:
            token = matrix @ token
    return int(token[0])


# --- inputs of low rank ---------------------------------------------------------------------------

_NARROW = (
    *Case.grid(width=3, depth=2, heads=1, tokens=6, input_rank=(1, 2)),
    Case(width=4, depth=2, heads=1, tokens=8, input_rank=3),
)
_DEEPER = (
    Case(width=4, depth=3, heads=1, tokens=6, input_rank=2),
    Case(width=6, depth=2, heads=1, tokens=8, input_rank=3),
)


@claim(
    Le(sep, _count(Min(d, r))),
    source=_BOTTLENECK,
    cases={
        "quick": (*_NARROW, *Case.grid(width=4, depth=2, heads=(2, 4), tokens=6, input_rank=2)),
        "theory": (
            *_DEEPER,
            Case(width=6, depth=2, heads=3, tokens=8, input_rank=4),
            Case(width=2, depth=2, heads=1, tokens=6, input_rank=3),
        ),
    },
    control=Control(
        Case(width=3, depth=2, heads=1, tokens=6, input_rank=2),
        "one less",
        statement=Le(sep, _count(Min(d, r)) - 1),
    ),
    cited=(
        "Decides whether width beyond the rank r of an embedding can raise the rank past S(r, L)."
    ),
)
def vocabulary_bottleneck(case: Case, seed: int) -> Exact:
    """Inputs of rank r act like width r.

    If all tokens lie in a space of dimension r, then sep <= S(min(d_x, r), L) for all weights,
    heads and numbers of tokens.

    Not the theorem of the paper, whose constants we have not read: it bounds log sep by orders of
    L min(r, d_x). Here both the number of moments and the number of forms become those of width r,
    since x = E w makes the output one of w.
    """
    return measured_rank(case, seed)


@claim(
    Eq(sep, _count(Min(d, r))),
    source=_BOTTLENECK,
    holds_for="almost every",
    assumes={**ONE_HEAD, "N >= 2 (r + 1)": lambda c: c.tokens >= 2 * c.input_rank + 2},
    cases={
        "quick": _NARROW,
        "theory": (*_DEEPER, Case(width=2, depth=2, heads=1, tokens=8, input_rank=3)),
    },
    control=Control(
        Case(width=4, depth=2, heads=1, tokens=8, input_rank=3),
        "the full width",
        statement=Eq(sep, _count(d)),
    ),
    supports="separation_rank/vocabulary_bottleneck",
)
def bottleneck_one_head(case: Case, seed: int) -> Exact:
    """One head attains the bottleneck.

    For one head, inputs x = E w with w of dimension r, N >= 2 (r + 1) and almost all E and weights,
    sep = S(min(d_x, r), L) in every case measured.

    In the cases measured: widening beyond the input rank gains nothing in this measure, deepening
    does.
    """
    return measured_rank(case, seed)
