"""What the separation rank becomes in other settings: graded pieces, several heads, residual connections, inputs of low rank.

The dimension count S(d, L) bounds all of them: residual connections only add lower degrees below the same staircase of coefficients, and
inputs from an r-dimensional space make the net one of width r.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..claim import Case, Claim, Control, Source
from ..values import Exact
from .linear_attention import AttentionNet, forward, layer_matrix, moments, random_net, random_tokens, value_matrix
from .measured import measured_rank, rank_mod
from .moment_forms import catalecticant, catalecticant_sum, moment_forms

if TYPE_CHECKING:
    import sympy

_NOTE = Source("depthlaw", "docs/separation-rank-dimension-count.md")
_ONE_HEAD = {"H = 1": lambda c: c.heads == 1}
_RESIDUAL = {"residual connections": lambda c: c.residual}


# --- measurements ----------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _forms(width: int, depth: int, heads: int, seed: int) -> list[dict[tuple[int, ...], int]]:
    rng = Case(width=width, depth=depth, heads=heads).rng(seed)
    return moment_forms(random_net(rng, width=width, depth=depth, heads=heads))


def measured_catalecticant(case: Case, seed: int) -> Exact:
    """The rank of the catalecticant of one order, at random weights: at most the generic rank, and equal to it with high probability."""
    matrix = catalecticant(_forms(case.width, case.depth, case.heads, seed), case.order)
    rank, most = rank_mod(matrix), min(matrix.shape)
    # A minor has degree 4 C(L) in the weights for each of its rows; no rank is larger than the matrix.
    return Exact(rank, misses=0.0 if rank == most else most * 2 * (3**case.depth - 1) / (2**31 - 1))


def measured_rank_gap(case: Case, seed: int) -> Exact:
    """The rank of the value matrix minus the sum of the ranks of the catalecticants, at the same weights."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads)
    graded = catalecticant_sum(net)
    return Exact(_value_rank(rng, net, case.tokens, graded + 4) - graded)


def measured_rank_gain(case: Case, seed: int) -> Exact:
    """The rank of the value matrix with residual connections minus without, at the same weights and inputs."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads)
    left, right = (random_tokens(rng, net, case.inputs, case.tokens // 2) for _ in range(2))
    with_, without = (rank_mod(value_matrix(_with_residual(net, on), left, right)) for on in (True, False))
    if max(with_, without) == case.inputs:
        raise ArithmeticError(f"[{case}]: the rank reaches the number of inputs; take more of them")
    return Exact(with_ - without)


def _value_rank(rng: np.random.Generator, net: AttentionNet, tokens: int, inputs: int) -> int:
    left, right = (random_tokens(rng, net, inputs, tokens // 2) for _ in range(2))
    return rank_mod(value_matrix(net, left, right))


def _with_residual(net: AttentionNet, on: bool) -> AttentionNet:
    return AttentionNet(net.query, net.key, net.value, net.output, net.prime, residual=on)


def measured_parts(case: Case, seed: int) -> Exact:
    """How many degrees occur in the output along a line through the origin, over Z[t]. A part may vanish there by chance."""
    import flint

    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None, residual=case.residual)
    direction = rng.integers(1, 2**40, (2, case.width))
    line = np.frompyfunc(lambda v: flint.fmpz_poly([0, int(v)]), 1, 1)(direction)
    output = forward(net, line).item()
    return Exact(sum(c != 0 for c in output.coeffs()), misses=2.0**-20)


def measured_path_defect(case: Case, seed: int) -> Exact:
    """The output with residual connections, by the recursion over tokens, minus the sum over the subsets of layers, over Z."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, heads=case.heads, prime=None, residual=True)
    tokens = random_tokens(rng, net, case.tokens)
    moment, matrices = moments(net, tokens), []
    identity = np.array(np.eye(case.width, dtype=int).tolist(), dtype=object)
    for layer in range(case.depth):
        matrices.append(layer_matrix(net, layer, moment))
        step = identity + matrices[-1]
        moment = step @ moment @ step.T
    total = sum(_path(matrices, tokens[0], subset) for subset in range(case.get("first", 0), 2**case.depth))
    return Exact(int(forward(net, tokens)[()] - total))


def _path(matrices: list[NDArray[Any]], token: NDArray[Any], subset: int) -> int:
    for layer, matrix in enumerate(matrices):
        if subset >> layer & 1:
            token = matrix @ token
    return int(token[0])


# --- claims ----------------------------------------------------------------------------------------------------------------------


def claims() -> Iterator[Claim]:
    """The claims of this module; they belong to separation_rank."""
    yield from _graded_claims()
    yield _heads_claim()
    yield from _residual_rank_claims()
    yield from _residual_form_claims()
    yield from _bottleneck_claims()


def _count(d: sympy.Expr) -> sympy.Expr:
    import sympy

    from ..glossary import symbol

    k, D, C = symbol("order"), d * (d + 1) / 2, (3 ** symbol("depth") - 1) / 2
    return sympy.Sum(sympy.Min(d * sympy.binomial(D + k - 1, k), sympy.binomial(D + C - k - 1, C - k)), (k, 0, C))


def _orders(width: int, depth: int, *orders: int) -> tuple[Case, ...]:
    return Case.grid(width=width, depth=depth, heads=1, order=orders or range((3**depth + 1) // 2))


def _graded_claims() -> Iterator[Claim]:
    from sympy import Eq, Max, Min, binomial

    from ..glossary import symbol

    d, L, k = symbol("width"), symbol("depth"), symbol("order")
    D, C = d * (d + 1) / 2, (3**L - 1) / 2
    sizes = d * binomial(D + k - 1, k), binomial(D + C - k - 1, C - k)
    yield Claim(
        key="separation_rank/catalecticants", title="one head: graded pieces as large as possible in small cases",
        text="For one head and almost all weights, in every case measured, the derivatives of order k of the d_x forms in the moments "
              "span min(d_x binom(D+k-1, k), binom(D+C-k-1, C-k)) dimensions, 0 <= k <= C; fails at (4, 3).",
        statement=Eq(symbol("catalecticant"), Min(*sizes)), source=_NOTE, wording="derived", kind="identity", holds_for="almost every",
        measured=measured_catalecticant, assumes=_ONE_HEAD,
        grid={"quick": (*_orders(2, 1), *_orders(2, 2), *_orders(2, 3), *_orders(3, 2), *_orders(4, 2)),
              "theory": (*_orders(3, 3), *_orders(5, 2))},
        control=Control(Case(width=2, depth=2, heads=1, order=2), "max in place of min", statement=Eq(symbol("catalecticant"), Max(*sizes))),
        note="Finer than generic_one_head, by another route: polynomials in the moments in place of values at tokens. Ranks modulo a "
             "prime prove the lower half for almost all weights; the upper half is the size of the matrix.")
    yield Claim(
        key="separation_rank/graded_rank", title="the rank is the sum of the catalecticant ranks",
        text="For N >= 2 (d_x + 1), at every choice of weights, the separation rank is the sum over k of the ranks of the catalecticants, "
              "in every case measured.",
        statement=Eq(symbol("rank_gap"), 0), source=_NOTE, wording="derived", kind="identity", holds_for="all", measured=measured_rank_gap,
        assumes={"N >= 2 (d_x + 1)": lambda c: c.tokens >= 2 * c.width + 2},
        grid={"quick": (*Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=6), *Case.grid(width=3, depth=2, heads=(1, 3), tokens=8)),
              "theory": Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=10)},
        control=Control(Case(width=2, depth=2, heads=1, tokens=2), "two tokens: the sides are not dense, and the rank is 15, not 18"),
        note="Checks steps 3 to 5 of the written proof at random weights modulo a prime, at several heads too.")


def _heads_claim() -> Claim:
    from sympy import Lt

    from ..glossary import symbol

    sep = symbol("sep")
    return Claim(
        key="separation_rank/several_heads", title="several heads have a smaller rank than one",
        text="For 2 <= H <= d_x, L >= 2 and all weights, sep < S(d_x, L), in every case measured.",
        statement=Lt(sep, _count(symbol("width"))), source=_NOTE, wording="derived", kind="upper", holds_for="all", measured=measured_rank,
        assumes={"H >= 2": lambda c: c.heads >= 2, "L >= 2": lambda c: c.depth >= 2},
        grid={"quick": (*Case.grid(width=2, depth=(2, 3), heads=2, tokens=6), Case(width=3, depth=2, heads=3, tokens=8),
                        *Case.grid(width=4, depth=2, heads=(2, 4), tokens=4)),
              "theory": (*Case.grid(width=5, depth=2, heads=5, tokens=4), *Case.grid(width=6, depth=2, heads=(2, 3, 6), tokens=4))},
        control=Control(Case(width=2, depth=2, heads=1, tokens=6), "one head: the rank is S"),
        note="Argued in words, for all shapes, on docs/separation-rank.md; no machine has checked that. Measured: 17 of 18 at d = 2, L = 2; 215 of "
             "232 at d = 2, L = 3; 43 of 49 at d = H = 3, L = 2; 107 and 85 of 110 at d = 4 with two and four heads. One head attains S in these "
             "cases (generic_one_head, exact). At L = 1 several heads attain S = d + 1.")


def _residual_rank_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    d, sep = symbol("width"), symbol("sep")
    yield Claim(
        key="separation_rank/residual_upper", title="the dimension count bounds residual nets too",
        text="With residual connections too, for all weights, heads and tokens, sep <= S(d_x, L).",
        statement=Le(sep, _count(d)), source=_NOTE, wording="derived", kind="upper", holds_for="all", measured=measured_rank,
        assumes=_RESIDUAL,
        grid={"quick": (*Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=6, residual=True),
                        *Case.grid(width=3, depth=(1, 2), heads=(1, 3), tokens=4, residual=True)),
              "theory": (*Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=(4, 6), residual=True),
                         *Case.grid(width=2, depth=3, heads=(1, 2), tokens=6, residual=True))},
        control=Control(Case(width=2, depth=2, heads=1, tokens=6, residual=True), "one less: the bound is attained here",
                       statement=Le(sep, _count(d) - 1)),
        note="The degrees in the two sides' moments add up to at most C in place of exactly C. A coefficient with order above m on one "
             "side has order at most C - m - 1 on the other, which bounds the rank by the closed form of S. This is an argument in words.")
    yield Claim(
        key="separation_rank/residual_gain", title="residual connections leave the measured ranks unchanged",
        text="For almost all weights the separation rank with residual connections equals that without, at the same weights, in every "
              "case measured.",
        statement=Eq(symbol("rank_gain"), 0), source=_NOTE, wording="derived", kind="identity", holds_for="almost every",
        measured=measured_rank_gain,
        grid={"quick": (*Case.grid(width=2, depth=(1, 2), heads=(1, 2), tokens=(2, 6), inputs=24),
                        *Case.grid(width=3, depth=2, heads=(1, 3), tokens=8, inputs=56)),
              "theory": (*Case.grid(width=2, depth=3, heads=(1, 2), tokens=6, inputs=240),
                         *Case.grid(width=4, depth=2, heads=(1, 2, 4), tokens=10, inputs=116))},
        control=Control(Case(width=2, depth=2, heads=2, tokens=6, inputs=24), "a gain of one", statement=Eq(symbol("rank_gain"), 1)),
        note="The coefficient matrix with residuals is block triangular with the catalecticants of the net without on its diagonal, so "
             "its rank is at least theirs, for all weights, if N >= 2 (d_x + 1): an argument in words. That nothing is gained follows from "
             "residual_upper where one head attains S; for several heads it is measured only.")


def _residual_form_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, parts = symbol("depth"), symbol("parts")
    source = Source("veit2016", "residual nets as ensembles, here for linearised attention")
    yield Claim(
        key="separation_rank/residual_parts", title="residual nets mix all odd degrees",
        text="For almost all weights an output coordinate of L layers with residual connections has parts of all odd degrees 1, 3, ..., "
              "3^L in the tokens, and no others: (3^L + 1)/2 of them.",
        statement=Eq(parts, (3**L + 1) / 2), source=source, wording="derived", kind="identity", holds_for="almost every",
        measured=measured_parts, assumes=_RESIDUAL,
        grid={"quick": Case.grid(width=(1, 2), depth=(1, 2, 3), heads=1, residual=True),
              "theory": Case.grid(width=4, depth=4, heads=(1, 2), residual=True)},
        control=Control(Case(width=2, depth=2, heads=1, residual=False), "no residual connections: one degree only"),
        note="Counted is how many degrees occur along a line through the origin. The part of degree 3^L is the net without residuals.")
    yield Claim(
        key="separation_rank/residual_paths", title="a residual net is a sum over the subsets of layers",
        text="For all weights and tokens the output with residual connections is the sum over the 2^L subsets of layers of the products "
              "of their matrices T_l(M_l) with the token, each M_l that of the residual net.",
        statement=Eq(symbol("path_defect"), 0), source=source, wording="derived", kind="identity", holds_for="all",
        measured=measured_path_defect,
        grid={"quick": Case.grid(width=2, depth=(1, 2, 3), heads=(1, 2), tokens=3),
              "theory": Case.grid(width=4, depth=(3, 4), heads=2, tokens=4)},
        control=Control(Case(width=2, depth=2, heads=1, tokens=3, first=1), "without the path that skips every layer"),
        note="There are binom(L, m) paths of m layers. They share their moments, so the sum is no ensemble of independent shallow nets.")


def _bottleneck_claims() -> Iterator[Claim]:
    from sympy import Eq, Le, Min

    from ..glossary import symbol

    d, r, sep = symbol("width"), symbol("input_rank"), symbol("sep")
    source = Source("wies2021", "vocabulary bottleneck", "arXiv:2105.03928v2")
    quick = (*Case.grid(width=3, depth=2, heads=1, tokens=6, input_rank=(1, 2)), Case(width=4, depth=2, heads=1, tokens=8, input_rank=3))
    deeper = Case(width=4, depth=3, heads=1, tokens=6, input_rank=2)
    yield Claim(
        key="separation_rank/vocabulary_bottleneck", title="inputs of rank r act like width r",
        text="If all tokens lie in a space of dimension r, then sep <= S(min(d_x, r), L) for all weights, heads and numbers of tokens.",
        statement=Le(sep, _count(Min(d, r))), source=source, wording="derived", kind="upper", holds_for="all", measured=measured_rank,
        grid={"quick": (*quick, *Case.grid(width=4, depth=2, heads=(2, 4), tokens=6, input_rank=2)),
              "theory": (deeper, Case(width=6, depth=2, heads=1, tokens=8, input_rank=3), Case(width=6, depth=2, heads=3, tokens=8, input_rank=4),
                         Case(width=2, depth=2, heads=1, tokens=6, input_rank=3))},
        control=Control(Case(width=3, depth=2, heads=1, tokens=6, input_rank=2), "the rank less one", statement=Le(sep, _count(Min(d,
            r) - 1))),
        note="Not the theorem of the paper, whose constants we have not read: it bounds log sep by orders of L min(r, d_x). Here both "
             "the number of moments and the number of forms become those of width r, since x = E w makes the output one of w.")
    yield Claim(
        key="separation_rank/bottleneck_one_head", title="one head attains the bottleneck",
        text="For one head, inputs x = E w with w of dimension r, N >= 2 (r + 1) and almost all E and weights, sep = S(min(d_x, r), L) in "
              "every case measured.",
        statement=Eq(sep, _count(Min(d, r))), source=source, wording="derived", kind="identity", holds_for="almost every",
        measured=measured_rank, assumes={**_ONE_HEAD, "N >= 2 (r + 1)": lambda c: c.tokens >= 2 * c.input_rank + 2},
        grid={"quick": quick,
              "theory": (deeper, Case(width=6, depth=2, heads=1, tokens=8, input_rank=3), Case(width=2, depth=2, heads=1, tokens=8, input_rank=3))},
        control=Control(Case(width=4, depth=2, heads=1, tokens=8, input_rank=3), "the full width", statement=Eq(sep, _count(d))),
        note="In the cases measured: widening beyond the input rank gains nothing in this measure, deepening does.")
