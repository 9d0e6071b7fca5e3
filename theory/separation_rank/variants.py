"""What the separation rank becomes in other settings: graded pieces, residual connections, inputs
of low rank.

The dimension count S(d, L) bounds all of them: residual connections only add lower degrees below
the same staircase of coefficients, and inputs from an r-dimensional space make the net one of
width r.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import fmpz_poly
from sympy import Expr, Min, Piecewise

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Within, between
from ..claims.symbols import quantity, tokens as N
from .linear_attention import PRIME, forward, random_net, random_tokens, value_matrix
from .rank_at_weights import integer_net, modulo, rank_at
from .rank_symbols import COUNT_PAGE, Eq, Ge, H, L, d, dimension_sum
from .value_rank import measured_rank, rank_mod, sep

rank_gap = quantity(
    "rank_gap",
    r"\Delta r",
    "rank of the value matrix minus the sum of the ranks of the catalecticants, at "
    "the same weights",
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
r = quantity("input_rank", "r", "dimension of the space that holds the input tokens")


# --- graded pieces --------------------------------------------------------------------------------


@claim(
    Eq(rank_gap, 0),
    source=COUNT_PAGE,
    assumes={r"$N \geq 2 (d_x + 1)$": lambda c: c.tokens >= 2 * c.width + 2},
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
    r"""The rank is the sum of the catalecticant ranks.

    For $N \geq 2 (d_x + 1)$, at every choice of weights, the separation rank is the sum over $k$ of
    the ranks of the catalecticants, in every case measured.

    Checks steps 3 to 5 of the written proof at random whole weights, at several heads too: values
    modulo a prime, catalecticants modulo primes drawn at random.
    """
    rng = case.rng(seed)
    drawn = random_net(rng, width=case.width, depth=case.depth, heads=case.heads)
    net = integer_net(drawn.query, drawn.key, drawn.value, drawn.output)
    graded, reduced = rank_at(net, rng), modulo(net, PRIME)
    total = int(graded.value)
    left, right = (random_tokens(rng, reduced, total + 4, case.tokens // 2) for _ in range(2))
    return Exact(rank_mod(value_matrix(reduced, left, right)) - total, misses=graded.misses)


# --- residual connections -------------------------------------------------------------------------


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
        Case(width=2, depth=2, heads=2, tokens=6, inputs=24), "a gain of one", Eq(rank_gain, 1)
    ),
    cited="Bears on whether rank theory may leave skip connections out.",
)
def residual_gain(case: Case, seed: int) -> Exact:
    r"""Residual connections leave the measured ranks unchanged.

    For almost all weights the separation rank with residual connections equals that without, at the
    same weights, in every case measured.

    That the rank with them is at least that without is a theorem for all weights, tokens and sides,
    which the kernel has checked (Residual.residual_rank). That nothing is gained follows from
    dimension_count where one head attains $S$; for several heads it is measured only.
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
    source=Source("veit2016", "residual nets as ensembles, here for linearised attention"),
    holds_for="almost every",
    assumes={"residual connections": lambda c: c.residual},
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
    r"""Residual nets mix all odd degrees.

    For almost all weights an output coordinate of $L$ layers with residual connections has parts of
    all odd degrees 1, 3, ..., $3^L$ in the tokens, and no others: $(3^L + 1)/2$ of them.

    Counted is how many degrees occur along a line through the origin. The part of degree $3^L$ is
    the net without residuals. The output is the sum over the $2^L$ subsets of layers of the
    products of their matrices $T_l(M_l)$ with the token, each $M_l$ that of the residual net, as a
    test confirms: the $\binom{L}{m}$ paths of $m$ layers share their moments, so the sum is no
    ensemble of independent shallow nets.
    """
    rng = case.rng(seed)
    shape = {"width": case.width, "depth": case.depth, "heads": case.heads}
    net = random_net(rng, **shape, prime=None, residual=case.residual)
    direction = rng.integers(1, 2**40, (2, case.width))
    line = np.frompyfunc(lambda v: fmpz_poly([0, int(v)]), 1, 1)(direction)
    # A part may vanish on the line by chance.
    return Exact(sum(c != 0 for c in forward(net, line).item().coeffs()), misses=2.0**-20)


# --- inputs of low rank ---------------------------------------------------------------------------

_COUNT = dimension_sum(Min, Min(d, r), C=(3**L - 1) / 2)


def _attained(count: Expr) -> Within:
    """At most the count, and the count itself for one head and enough tokens."""
    enough = Eq(H, 1) & Ge(N, 2 * Min(d, r) + 2)
    return between(Piecewise((count, enough), (1, True)), sep, count)


@claim(
    _attained(_COUNT),
    source=Source("wies2021", "vocabulary bottleneck", "arXiv:2105.03928v2"),
    holds_for="almost every",
    cases={
        "quick": (
            *Case.grid(width=3, depth=2, heads=1, tokens=6, input_rank=(1, 2)),
            Case(width=4, depth=2, heads=1, tokens=8, input_rank=3),
            *Case.grid(width=4, depth=2, heads=(2, 4), tokens=6, input_rank=2),
        ),
        "theory": (
            Case(width=4, depth=3, heads=1, tokens=6, input_rank=2),
            Case(width=6, depth=2, heads=1, tokens=8, input_rank=3),
            Case(width=6, depth=2, heads=3, tokens=8, input_rank=4),
            *Case.grid(width=2, depth=2, heads=1, tokens=(6, 8), input_rank=3),
        ),
    },
    control=Control(
        Case(width=3, depth=2, heads=1, tokens=6, input_rank=2), "one less", _attained(_COUNT - 1)
    ),
    cited="Decides whether width beyond an embedding's rank $r$ can raise the rank past $S(r, L)$.",
    post_hoc=r"equality for $N \geq 2 (\min(d_x, r) + 1)$ was stated after $N \geq 2 (r + 1)$ had "
    "been seen",
)
def vocabulary_bottleneck(case: Case, seed: int) -> Exact:
    r"""Inputs of rank $r$ act like width $r$.

    If all tokens are $x = E w$ with $w$ of dimension $r$, then
    $\operatorname{sep} \leq S(\min(d_x, r), L)$ for all $E$, weights, heads and numbers of tokens,
    with equality for almost all $E$ and weights of one head and $N \geq 2 (\min(d_x, r) + 1)$, in
    every case measured.

    Judged for almost all: what bounds the rank there bounds it for all. Both the number of moments
    and the number of forms become those of width $r$, since $x = E w$ makes the output one of $w$.
    Not the theorem of the paper, whose constants we have not read: it bounds
    $\log \operatorname{sep}$ by orders of $L \min(r, d_x)$. In the cases measured widening beyond
    the input rank gains nothing in this measure, deepening does.
    """
    return measured_rank(case, seed)
