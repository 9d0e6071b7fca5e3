"""Nets whose output is one monomial in the moments, and shifts that spread its exponents.

H heads of width b. The coordinates are (h, k), h modulo H and k modulo b, and each token lives in
one block k, so that M = sum y y^T vanishes between blocks. In layer l head h reads its b
coordinates (h, k) of the query token, (h + s_l, k + t_l) of all tokens as values and
(h + r_l, k + t_l) as keys, and writes (h, k). Between blocks there is nothing, so that T_l(M) is
the diagonal matrix of M[(h + s_l, k + t_l), (h + r_l, k + t_l)] and the output is a coordinate of
the token times one monomial, whatever the shifts. Its exponents follow from last layer to first in
Z[x, y]/(x^H - 1, y^b - 1): P_L = 1, and P_{l-1} = P_l (1 + (x^{s_l} + x^{r_l}) y^{t_l}); layer l
gives the coefficient of x^h y^k in P_l to the moment of (h + s_l, k + t_l) and (h + r_l, k + t_l).
They add up to C(L) = (3^L - 1)/2. On N >= 2 H b tokens, H in each block on each side, the moments
are independent, so that the separation rank is prod (e_j + 1) on these tokens. It is at least that
on all tokens, and for almost all weights of the shape. With residual connections the rank is
at least that without, for all weights (Residual.v). No softmax, no mask.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import Any

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray
from sympy import Min, Product, log

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Gt
from ..claims.symbols import layer, quantity, stated
from .linear_attention import PRIME
from .product_bound import c, first, first_excess_of
from .rank_symbols import DEEP, Eq, Ge, L, d, levine
from .upper_bounds import RECALLED
from .value_rank import measured_rank, sep

# The shifts of value and key within a block, and of the block, layer by layer from first to last.
Shifts = Sequence[tuple[int, int, int]]

m = quantity(
    "spreading",
    "m",
    "layers that spread the exponents, over 3^m heads",
    "nonnegative integer",
)
k = quantity(
    "doubling",
    "k",
    "layers that spread the exponents, over 2^k coordinates of each head",
    "nonnegative integer",
)

# The shifts that `search` found, beside this file, by (d_x, H, L); written out, so that code
# versions cover them.
STORED: Mapping[tuple[int, int, int], str] = {
    (16, 16, 9): "certificates/shifts-16-16-9.json",
    (16, 8, 10): "certificates/shifts-16-8-10.json",
    (16, 4, 21): "certificates/shifts-16-4-21.json",
    (64, 8, 11): "certificates/shifts-64-8-11.json",
    (512, 8, 12): "certificates/shifts-512-8-12.json",
    (768, 12, 12): "certificates/shifts-768-12-12.json",
    (768, 768, 12): "certificates/shifts-768-768-12.json",
    (1024, 16, 13): "certificates/shifts-1024-16-13.json",
    (4096, 32, 14): "certificates/shifts-4096-32-14.json",
    (12288, 96, 15): "certificates/shifts-12288-96-15.json",
}

_OWN = Source("depthlaw", "weights under which the output is one monomial in the moments")
_SHAPE = {
    "$H$ divides $d_x$": lambda c: c.width % c.heads == 0,
    r"$N \geq 2 d_x$": lambda c: c.tokens >= 2 * c.width,
}
_LAYERS = {
    r"$3^m \leq H$": lambda c: 3**c.spreading <= c.heads,
    r"$2^k \leq d_x/H$": lambda c: 2**c.doubling * c.heads <= c.width,
    "$m + k < L$": lambda c: c.spreading + c.doubling < c.depth,
}


# --- the exponents --------------------------------------------------------------------------------


def exponents(heads: int, blocks: int, shifts: Shifts) -> Counter[tuple[int, int, int]]:
    """The exponents of the moments (k, i, j) of coordinates i <= j of block k, in coordinate (0, 0)
    of the output.

    >>> sorted(exponents(3, 2, [(0, 1, 0), (0, 2, 1)]).items())
    [((0, 0, 1), 1), ((1, 0, 1), 1), ((1, 0, 2), 2)]
    """
    found, factors = Counter[tuple[int, int, int]](), {(0, 0): 1}
    for s, r, t in reversed(shifts):
        before = Counter(factors)
        for (h, block), times in factors.items():
            i, j, other = (h + s) % heads, (h + r) % heads, (block + t) % blocks
            found[other, min(i, j), max(i, j)] += times
            before[i, other] += times
            before[j, other] += times
        factors = before
    return found


def monomial_rank(heads: int, blocks: int, shifts: Shifts) -> Exact:
    """prod (e_j + 1), once the recursion over tokens has given the monomial modulo a prime.

    Raises:
        ArithmeticError: when it gives anything else.

    >>> monomial_rank(3, 1, [(0, 1, 0), (0, 2, 0)]).value
    9
    """
    found, rng = exponents(heads, blocks, shifts), np.random.default_rng(0)
    tokens = rng.integers(0, PRIME, (4, heads, blocks))
    moments = {
        j: (tokens * np.roll(tokens, -j, axis=1) % PRIME).sum(axis=0) % PRIME for j in range(heads)
    }
    monomial = int(tokens[0, 0, 0])
    for (block, i, j), times in found.items():
        monomial = monomial * pow(int(moments[j - i][i, block]), times, PRIME) % PRIME
    if monomial != int(attended(tokens, shifts)[0, 0, 0]):
        raise ArithmeticError("the recursion over tokens does not give the monomial")
    splits = Counter(times + 1 for times in found.values())
    return Exact(math.prod(base**power for base, power in splits.items()), misses=1.0)


def attended(tokens: NDArray[np.int64], shifts: Shifts) -> NDArray[np.int64]:
    """All tokens (n, H, b) after all layers, modulo PRIME; n tokens live in each of b blocks."""
    y = tokens
    for s, r, t in shifts:
        value, key = (np.roll(y, (-one, -t), axis=(1, 2)) for one in (s, r))
        y = y * ((value * key % PRIME).sum(axis=0) % PRIME) % PRIME
    return y


# --- shifts ---------------------------------------------------------------------------------------


def spreading_shifts(spreading: int, doubling: int, depth: int) -> list[tuple[int, int, int]]:
    """Shifts that spread the exponents evenly over 3^m heads, and over 2^k blocks.

    The last m layers have the shifts 3^i and 2 * 3^i: the product of 1 + x^(3^i) + x^(2 * 3^i) is
    1 + x + ... + x^(3^m - 1). The k before them shift the block by 2^i: the product of
    1 + 2 y^(2^i) has no coefficient below 1. So each layer below, i layers further down, adds 3^i
    or more to all moments of its difference of coordinates; the differences are 0, 1, ...,
    (3^m - 1)/2, the last repeated.

    >>> spreading_shifts(1, 1, 4)
    [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 0)]
    """
    below = depth - spreading - doubling
    if below < 0:
        raise ValueError(
            f"{spreading + doubling} layers cannot spread in a net of depth {depth}; give a depth "
            f"of at least {spreading + doubling}"
        )
    half = (3**spreading - 1) // 2
    return [
        *((0, min(i, half), 0) for i in range(below)),
        *((0, 0, 2**i) for i in reversed(range(doubling))),
        *((3**i, 2 * 3**i, 0) for i in reversed(range(spreading))),
    ]


def search(
    heads: int, blocks: int, depth: int, *, seed: int = 0, steps: int = 2000, warmth: float = 0
) -> Shifts:
    """The best shifts met by simulated annealing: one shift, or one layer, is drawn anew at a time.

    The temperature falls from `warmth`, in units of log_3 of the product, to 0 at the last step.
    Where a processor rounds a logarithm otherwise, the search may go another way.

    >>> search(4, 2, 2, steps=50) == search(4, 2, 2, steps=50)
    True
    """
    rng, ends = Random(seed), (heads, heads, blocks)

    def drawn() -> list[int]:
        return [int(rng.random() * end) for end in ends]

    layers = [drawn() for _ in range(depth)]
    now = highest = _log_product(heads, blocks, layers)
    best = layers
    for step in range(steps):
        other, layer, which = list(layers), int(rng.random() * depth), int(rng.random() * 4)
        new = drawn()
        # One of three shifts, or all of them.
        other[layer] = [new[i] if which in (i, 3) else layers[layer][i] for i in range(3)]
        value, heat = _log_product(heads, blocks, other), warmth * (1 - step / steps)
        if value >= now or (heat > 0 and rng.random() < math.exp((value - now) / heat)):
            layers, now = other, value
        if now > highest:
            best, highest = layers, now
    return [(s, r, t) for s, r, t in best]


def _log_product(heads: int, blocks: int, shifts: Sequence[Sequence[int]]) -> float:
    """log_3 of prod (e_j + 1), in floats: plane i of the exponents has the moments (h, h + i)."""
    planes = np.zeros((heads // 2 + 1, heads, blocks))
    factors = np.zeros((heads, blocks))
    factors[0, 0] = 1
    for s, r, t in reversed(shifts):
        apart = (r - s) % heads
        low, apart = (s, apart) if 2 * apart <= heads else (r, heads - apart)
        there = np.roll(factors, t, axis=1)
        planes[apart] += np.roll(there, low, axis=0)
        factors = factors + np.roll(there, s, axis=0) + np.roll(there, r, axis=0)
    if heads % 2 == 0:
        planes[-1, : heads // 2] += planes[-1, heads // 2 :]
        planes[-1, heads // 2 :] = 0
    return float(np.log1p(planes).sum() / math.log(3))


def stored_shifts(width: int, heads: int, depth: int) -> list[tuple[int, int, int]]:
    """The shifts of a certificate of `STORED`.

    >>> len(stored_shifts(16, 16, 9))
    9
    """
    if (width, heads, depth) not in STORED:
        known = "; ".join(f"{d}, {h} and {n}" for d, h, n in STORED)
        raise ValueError(
            f"no shifts are stored for width {width}, {heads} heads and {depth} layers; "
            f"stored are {known}"
        )
    text = (files(__package__) / STORED[width, heads, depth]).read_text(encoding="utf-8")
    return [(s, r, t) for s, r, t in json.loads(text)["shifts"]]


# --- depths ---------------------------------------------------------------------------------------


def log3_spread(spreading: int, doubling: int, depth: int) -> arb:
    """log_3 of the bound of `spread_lower_bound`, as a ball."""
    below = depth - spreading - doubling
    factors = (3 ** (below - i) + 1 for i in range(1, min(below, (3**spreading + 1) // 2) + 1))
    return 3**spreading * 2**doubling * arb(fmpz(math.prod(factors))).log() / arb(3).log()


def first_excess(width: int, heads: int) -> int:
    """The first depth at which `spread_lower_bound` exceeds the recalled bound; 0 if none does.

    >>> first_excess(81, 81)
    10
    """
    spreading = max(m for m in range(heads) if 3**m <= heads)
    doubling = (width // heads).bit_length() - 1
    forms = 3**spreading * 2**doubling * (3**spreading + 1) // 2
    return first_excess_of(width, lambda n: log3_spread(spreading, doubling, n), forms)


def searched_depth(width: int, heads: int) -> int:
    """The least depth of a certificate of `STORED` at this shape; 0 if none is stored.

    >>> searched_depth(768, 12)
    12
    """
    return min((n for d, h, n in STORED if (d, h) == (width, heads)), default=0)


# The first depth at which `spread_lower_bound` exceeds the recalled bound, by d_x and H.
FIRST_EXCESS = {
    (3, 3): 0,
    (27, 27): 10,
    (64, 64): 15,
    (64, 32): 11,
    (81, 81): 10,
    (324, 81): 13,
    (768, 768): 13,
    (512, 8): 0,
    (768, 12): 19,
    (1024, 16): 28,
    (4096, 32): 19,
    (12288, 96): 20,
    (729 * 32, 729): 18,
    (729 * 64, 729): 20,
}


# --- claims ---------------------------------------------------------------------------------------


def _measured(case: Case) -> Exact:
    """The rank of the monomial net of a case: spreading shifts where it names spreading."""
    if "spreading" in case:
        shifts = spreading_shifts(case.spreading, case.doubling, case.depth)
        return monomial_rank(3**case.spreading, 2**case.doubling, shifts)
    shifts = stored_shifts(case.width, case.heads, case.depth)
    return monomial_rank(case.heads, case.width // case.heads, shifts)


def _alone(case: Case) -> Exact:
    """The rank of the monomial net of a case, as no bound on other weights."""
    return Exact(_measured(case).value)


def _one_shift_off(case: Case) -> Exact:
    """The rank of that net alone, one shift of its fourth layer changed: of all changes of one
    shift the one that comes nearest to the bound from below."""
    shifts = stored_shifts(case.width, case.heads, case.depth)
    shifts[3] = *shifts[3][:2], 60
    return Exact(monomial_rank(case.heads, case.width // case.heads, shifts).value)


def _case(**fields: Any) -> Case:
    return Case(**fields | {"tokens": 2 * fields["width"]})


def _stored(width: int, heads: int) -> Case:
    return _case(width=width, heads=heads, depth=searched_depth(width, heads))


@claim(
    Gt(log(sep, 3), RECALLED),
    source=_OWN,
    holds_for="almost every",
    assumes={**DEEP, **_SHAPE},
    cases={
        "quick": tuple(map(_stored, (16, 16, 64, 512, 768, 16), (16, 8, 8, 8, 12, 4))),
        "theory": tuple(map(_stored, (768, 1024, 4096, 12288), (768, 16, 32, 96))),
    },
    control=Control(
        _case(width=768, heads=12, depth=12),
        "one of 36 shifts is another",
        measured=_one_shift_off,
    ),
    supports="separation_rank/upper_bound_deep",
)
def excess_at_ordinary_shapes(case: Case) -> Exact:
    r"""The recalled bound is exceeded at ordinary shapes.

    For almost all weights of linearised attention, with or without residual connections, and
    $N \geq 2 d_x$ tokens, the rank exceeds Theorem 2's upper bound as recalled at $d_x = 768$ with
    12 heads of width 64 and $L = 12$, the width, heads and layers of GPT-2 small; for $d_x$, $H$
    and $L$ also at 512, 8, 12; 1024, 16, 13; 4096, 32, 14; 12288, 96, 15; 768, 768, 12; 64, 8, 11;
    16, 16, 9; 16, 8, 10; 16, 4, 21.

    All positions attend, without softmax. Says nothing of fewer tokens; GPT-2 has 1,024, where
    1,536 are asked for. The excess stays at every greater depth: a last layer with shifts 0 triples
    every exponent, which multiplies the rank by prod (3 e + 1)/(e + 1) or more, a number that grows
    with e, and each certificate shows that this is at least $3^{2 d_x + 1}$. Smaller depths are not
    excluded. Weights of 0 and 1 have this rank on tokens that live in blocks: the output is one
    monomial. The shifts of its layers stand in certificates. The kernel
    has checked for all shifts that the rank is at least prod ($e + 1$), for almost all weights and
    with residual connections too (Spread.monomial_lower_bound); the exponents are Python's.
    """
    return _measured(case)


_SPREAD = Product(
    3 ** (L - m - k - layer) + 1,
    (layer, 1, Min(L - m - k, (3**m + 1) / 2, evaluate=False)),
) ** (3**m * 2**k)


@claim(
    Ge(sep, _SPREAD),
    source=_OWN,
    holds_for="almost every",
    assumes={**_LAYERS, **_SHAPE},
    cases={
        "quick": (
            *(_case(width=3, heads=3, depth=n, spreading=1, doubling=0) for n in (2, 3, 5)),
            _case(width=8, heads=4, depth=4, spreading=1, doubling=0),
            _case(width=12, heads=3, depth=5, spreading=1, doubling=2),
            _case(width=9, heads=9, depth=8, spreading=2, doubling=0),
            _case(width=54, heads=27, depth=17, spreading=3, doubling=1),
            _case(width=768, heads=12, depth=12, spreading=2, doubling=6),
        ),
        "theory": (
            _case(width=81, heads=81, depth=18, spreading=4, doubling=0),
            _case(width=216, heads=27, depth=15, spreading=3, doubling=3),
        ),
    },
    control=Control(
        _case(width=3, heads=3, depth=2, spreading=1, doubling=0),
        "six times as much",
        Ge(sep, 6 * _SPREAD),
        measured=measured_rank,
    ),
    supports="separation_rank/no_linear_bound_past_threshold",
    formal=Formal(
        "Spread.spread_almost_all",
        "Spread.spread_value {spreading} {doubling} {depth}",
        "That the reals are an archimedean field, over which AlmostAll.v defines almost all; "
        "the theorem asks for 3^m 2^k tokens on either side, which N >= 2 d_x gives.",
    ),
)
def spread_lower_bound(case: Case) -> Exact:
    r"""Exponents that are spread evenly bound the rank from below.

    For almost all weights with $H \geq 3^m$ heads of width at least $2^k$, with or without residual
    connections, $N \geq 2 d_x$ and $L > m + k$, $\operatorname{sep} \geq
    \prod_{l = 1}^{\min(L - m - k, (3^m + 1)/2)} (3^{L-m-k-l} + 1)^{3^m 2^k}$.

    All positions attend, without softmax. The last $m + k$ layers of an explicit net spread its
    exponents over $3^m$ heads and $2^k$ coordinates of each; each of the others adds a power of 3
    to $3^m 2^k$ moments.
    """
    return _measured(case)


@claim(
    Gt(log(sep, 3), c * d * L, evaluate=False),
    source=_OWN,
    holds_for="almost every",
    assumes={
        **_LAYERS,
        **_SHAPE,
        r"$2 (L - m - k) \leq 3^m + 1$": lambda c: 2 * _below(c) <= 3**c.spreading + 1,
        r"$3^m 2^k (L - m - k)(L - m - k - 1) \geq 2 c d_x L$": lambda c: (
            3**c.spreading * 2**c.doubling * _below(c) * (_below(c) - 1)
            >= 2 * c.rational("slope") * c.width * c.depth
        ),
    },
    cases={
        "quick": (
            _case(width=9, heads=9, depth=6, spreading=2, doubling=0, slope="1"),
            _case(width=27, heads=27, depth=11, spreading=3, doubling=0, slope="5/2"),
            _case(width=64, heads=64, depth=15, spreading=3, doubling=0, slope="5/3"),
            _case(width=108, heads=27, depth=19, spreading=3, doubling=2, slope="4"),
            _case(width=216, heads=27, depth=16, spreading=3, doubling=3, slope="14/5"),
        ),
        "theory": (
            _case(width=81, heads=81, depth=17, spreading=4, doubling=0, slope="4"),
            _case(width=768, heads=768, depth=14, spreading=6, doubling=0, slope="1.8"),
            _case(width=432, heads=27, depth=19, spreading=3, doubling=4, slope="10/3"),
        ),
    },
    control=Control(
        _case(width=9, heads=9, depth=5, spreading=2, doubling=0, slope="1"),
        "the rank of the net alone, a layer less than the claim asks for",
        measured=_alone,
    ),
    cited="Decides at which depth no bound $c d_x L$ can hold, whatever its constant.",
    formal=Formal(
        "Spread.no_linear_almost_all",
        "Refutation.linear_value {slope.numerator} {slope.denominator} {width} {depth}",
        "That the reals are an archimedean field, over which AlmostAll.v defines almost all; "
        "the theorem asks for 3^m 2^k tokens on either side, which N >= 2 d_x gives; "
        "that log_3 sep exceeds c d L is said without logarithm, as sep^v > 3^(u d L) for c = u/v "
        "and, for every c, as sep > 3^M for a whole M >= c d L; the last condition solved for L.",
    ),
)
def no_linear_bound_past_threshold(case: Case) -> Exact:
    r"""No absolute constant makes $c d_x L$ an upper bound just past $\log_3 d_x$.

    For every $c > 0$, $3^m \leq H$, $2^k \leq d_x/H$, $m + k < L$, $2 (L - m - k) \leq 3^m + 1$,
    $3^m 2^k (L - m - k)(L - m - k - 1) \geq 2 c d_x L$, $N \geq 2 d_x$ and almost all weights,
    with or without residual connections, $\log_3 \operatorname{sep} > c d_x L$. With $3^m$ heads of
    width $2^k$ and $d_x = 3^m 2^k$ the last condition is $L \geq m + k + (c + 1/2) +
    \sqrt{(c + 1/2)^2 + 2 c (m + k)}$, where $m + k$ is $\log_3 d_x$ plus at most $0.37 k$.

    For other shapes $3^m$ and $2^k$ are the largest powers that are not above $H$ and $d_x/H$, and
    $c d_x/(3^m 2^k)$ takes the place of $c$. All positions attend, without softmax. Says nothing
    for few heads: with $d_x = 3^m 2^k$ and $n = (3^m + 1)/2$, $c$ is at most $n (n - 1)/(2 (n + m +
    k))$, which is 0.77 for nine heads of width 64.
    """
    return _measured(case)


def _below(case: Case) -> int:
    """Layers below those that spread."""
    return int(case.depth - case.spreading - case.doubling)


def _first(*rows: tuple[int, int]) -> tuple[Case, ...]:
    return tuple(Case(width=w, heads=h, stated=FIRST_EXCESS[w, h]) for w, h in rows)


@claim(
    Eq(first, stated),
    source=levine("Theorem 2, upper bound"),
    kind="threshold",
    cases={
        "quick": _first(*(row for row in FIRST_EXCESS if row[0] <= 768)),
        "theory": _first(*(row for row in FIRST_EXCESS if row[0] > 768)),
    },
    control=Control(
        Case(width=27, heads=27, stated=11), "the depth after the first", Eq(first, stated)
    ),
    supports="separation_rank/upper_bound_deep",
)
def first_excess_of_spreading(case: Case) -> Exact:
    r"""Evenly spread exponents exceed the recalled bound first at the listed depths.

    The first depth $L > \log_3 d_x$ at which the bound of spread_lower_bound, with the largest $m$
    and $k$ such that $3^m \leq H$ and $2^k \leq d_x/H$, exceeds the upper bound of Theorem 2 as
    recalled is, for $d_x$ and $H$, 10 (27, 27), 15 (64, 64), 11 (64, 32), 10 (81, 81), 13
    (324, 81), 13 (768, 768), 19 (768, 12), 28 (1024, 16), 19 (4096, 32), 20 (12288, 96), and with
    729 heads of width 32 and 64, 18 (23328) and 20 (46656); there is none (0) at 3 and 3 and at
    512 and 8.

    The bound is as recalled; check against the paper. In first_violation the products of one form
    a layer exceed it at 130 layers for 32 heads of width 1, and at 258 for 64.
    """
    return Exact(first_excess(case.width, case.heads))
