"""How far apart the scores of the printed heads lie, and what softmax makes of such a gap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

import flint
from flint import arb
from sympy import cos, floor, pi

from ..claims.definition import Ball, Case, Control, Exact, Source, claim
from ..claims.relations import Eq, Ge, Le
from ..claims.symbols import quantity, tokens
from ..exact.enclosure import from_fraction
from .construction import SANFORD, ours

gap_scaled = quantity(
    "gap_scaled",
    r"\lfloor10^9\xi\rfloor",
    "smallest gap between the best and the next score of a head, in units of $10^{-9}$, rounded "
    "down",
    "nonnegative integer",
)
angles = quantity("angles", "n_a", "equally spaced angles at which the keys of a head lie")
distinct_keys = quantity(
    "distinct_keys", r"\#_{keys}", r"different keys of the tokens $0 \ldots N$"
)
error = quantity(
    "softmax_error",
    r"\varepsilon_{soft}",
    "largest weight that a softmax head leaves to tokens other than the best",
    "positive real",
)
epsilon = quantity("epsilon", r"\varepsilon", "error that is allowed", "positive real")

_UNITS = 10**9
_BITS = 192
# Gaps are measured over all sequences up to so many tokens.
_ALL_SEQUENCES = 6


def _cosine(turns: Fraction) -> arb:
    return (2 * from_fraction(turns)).cos_pi()


def _least_gap(rows: Iterable[Sequence[Fraction]]) -> Exact:
    """The smallest gap between best and next score of a row, scaled and rounded down. Scores are
    cosines of so many turns, which fall with the distance from 0."""
    with flint.ctx.workprec(_BITS):
        nearest = (sorted({min(t % 1, 1 - t % 1) for t in row})[:2] for row in rows)
        gaps = [_cosine(best) - _cosine(following) for best, following in nearest]
        least = min(gaps, key=lambda gap: float(gap.mid()))
        scaled = (least * _UNITS).floor().unique_fmpz()
    if scaled is None:
        raise ArithmeticError("the gap lies too close to a multiple of 10^-9; use more bits")
    return Exact(int(scaled))


def gap_of_last_match(case: Case, start: Fraction = Fraction(-1, 2)) -> Exact:
    """Smallest gap of the last-occurrence head at spacing 2N, for all sequences up to N = 6.

    A query sees the keys of a sequence, and the start token N + `start` steps away. Beyond N = 6
    every distance that is no larger than the start token's is taken for the best key's, and the
    next larger one that any key can have for the next key's. No sequence has a smaller gap, since
    the start token is always there.
    """
    n, a = case.tokens, case.alphabet
    pairs = _seen_pairs if n <= _ALL_SEQUENCES else _next_pairs
    return _least_gap([[d / (2 * n * a) for d in pair] for pair in pairs(n, a, n + start)])


def _steps(symbols: int, positions: int, n: int, a: int) -> Fraction:
    """The circular distance, in steps, of a key so many symbols and positions before its query."""
    apart = (2 * n * symbols + positions) % (2 * n * a)
    return Fraction(min(apart, 2 * n * a - apart))


def _seen_pairs(n: int, a: int, first: Fraction) -> set[tuple[Fraction, Fraction]]:
    """Least and next distance of the keys of every query; key j bears the symbol before it."""
    pairs = set()
    for sequence in product(range(a), repeat=n):
        for i in range(2, n + 1):
            keys = [_steps(sequence[i - 1] - sequence[j - 2], i - j, n, a) for j in range(2, i + 1)]
            best, following, *_ = sorted([first, *keys])
            pairs.add((best, following))
    return pairs


def _next_pairs(n: int, a: int, first: Fraction) -> set[tuple[Fraction, Fraction]]:
    """Every distance up to the start token's, with the next larger one that a key can have."""
    every = {first, *(_steps(symbols, back, n, a) for symbols in range(a) for back in range(n - 1))}
    return {(best, next_) for best, next_ in pairwise(sorted(every)) if best <= first}


@claim(
    Eq(gap_scaled, floor(_UNITS * (1 - cos(2 * pi / angles)))),
    source=ours("Appendix F.4"),
    cases={
        "quick": (
            *(Case(head="lookup", tokens=n, angles=n + 1) for n in (4, 7, 16)),
            *(
                Case(head="last occurrence", tokens=n, alphabet=a, angles=2 * n * a)
                for n in (3, 5, 8)
                for a in (2, 3)
            ),
        ),
        "theory": (
            *(Case(head="lookup", tokens=n, angles=n + 1) for n in (40, 99)),
            *(
                Case(head="last occurrence", tokens=n, alphabet=a, angles=2 * n * a)
                for n in (12, 20)
                for a in (2, 5)
            ),
        ),
    },
    # At N - 2 and a hundredth steps: just beyond the farthest match.
    control=Control(
        Case(head="last occurrence", tokens=5, alphabet=2, angles=20),
        "the start token a hundredth of a step beyond the farthest match",
        measured=lambda case: gap_of_last_match(case, Fraction(-199, 100)),
    ),
    supports="hops/depth_corrected",
)
def head_gaps(case: Case) -> Exact:
    r"""Both heads separate scores by one angular step.

    The best and the next score of a head whose keys lie at so many angles differ by at least
    $1 - \cos(2 \pi/\text{angles})$, with equality; checked to $10^{-9}$: for every $N \geq 2$ and
    every query of the lookup head, with $N + 1$ angles; and for every $N \geq 3$, every alphabet of
    at least two symbols and every sequence for the last-occurrence head with symbols $2 N$ steps
    apart, of $2 N |\Sigma|$ angles.

    $1 - \cos x \geq 2 x^2/\pi^2$ on $[0, \pi]$, so this is at least $8/(N + 1)^2$ and
    $2/(N |\Sigma|)^2$, the printed margins $\Omega(N^{-2})$ and $\Omega(N^{-2} |\Sigma|^{-2})$. The
    last-occurrence head is measured over all sequences up to $N = 6$; beyond, over every pair of a
    distance $d_0 \leq N - 1/2$ of the best key (the start token is never farther) and the next
    larger distance $d$ that a key can have, which no sequence falls short of. With steps of
    $s = \pi/(N |\Sigma|)$ the gap is
    $\cos(d_0 s) - \cos(d s) \geq 2 \sin((d_0 + 1/2) s) \sin(s/2)$, as $d \geq d_0 + 1$. This grows
    with $d_0$ while $(d_0 + 1/2) s \leq N s \leq \pi/2$, so it is least at $d_0 = 0$: $1 - \cos s$,
    which (0, 0, 0) attains.
    """
    if case.head != "lookup":
        return gap_of_last_match(case)
    number = case.tokens + 1
    return _least_gap([[Fraction(q - k, number) for k in range(number)] for q in range(number)])


def different_keys(n: int, angles: int, step: int = 1) -> Exact:
    """Different keys of the tokens 0..N: angles are equal when they differ by whole turns."""
    return Exact(len({Fraction(step * j, angles) % 1 for j in range(n + 1)}))


@claim(
    Ge(distinct_keys, tokens + 1),
    source=Source("sanford2024", "Appendix F.4", SANFORD),
    wording="universal",
    known="FAILS",
    weight="step",
    cases={"quick": Case.grid(tokens=(1, 2, 5, 100))},
    control=Control(
        Case(tokens=5),
        "$N + 1$ angles, which do separate the tokens, in steps of two",
        measured=lambda case: different_keys(case.tokens, case.tokens + 1, step=2),
    ),
    supports="hops/construction_printed_spacing",
)
def lookup_angles_printed(case: Case) -> Exact:
    r"""$N$ angles separate the tokens $0 \ldots N$ of the lookup head.

    If the start token 0 is keyed by the same printed formula, for every $N$ the keys (cos,
    sin)($2 \pi j/N$) of the tokens $0 \ldots N$ are different.

    Printed are the keys "$K_j = (\cos 2 \pi j/N, \sin 2 \pi j/N)$", the margin $\Omega(N^{-2})$ and
    an optional start token; that its key is $K_0$, and for every $N$, is our hardening. Token $N$
    and the start token share a key, so token $N$ averages the two when it has no match to look up,
    or points to itself. $N + 1$ angles repair it. The source makes the start token optional; it
    needs one, for tokens without a match.
    """
    return different_keys(case.tokens, case.tokens)


def _left_to_others(case: Case, seed: int, *, weaker: int = 1) -> Ball:
    n = case.tokens
    with flint.ctx.workprec(_BITS):
        gap = 1 - _cosine(Fraction(1, n))
        scale = (n / from_fraction(case.rational("epsilon"))).log() / gap / weaker
        # By rotation every query leaves the same weight to the other tokens.
        others = sum(((_cosine(Fraction(t, n)) - 1) * scale).exp() for t in range(1, n))
        return Ball.of(others / (1 + others))


@claim(
    Le(error, epsilon),
    source=ours("Lemma A.2"),
    cases={
        "quick": Case.grid(tokens=(2, 8, 100), epsilon=("1/10", "1/1000")),
        "theory": Case.grid(tokens=1000, epsilon="1/10"),
    },
    control=Control(
        Case(tokens=8, epsilon="1/10"),
        "a third of the scale",
        measured=partial(_left_to_others, weaker=3),
    ),
    supports="hops/depth_corrected",
)
def softmax_scale(case: Case, seed: int) -> Ball:
    r"""Logit scale $\log(N/\epsilon)/\text{gap}$ makes a softmax lookup exact to $\epsilon$.

    For every $N \geq 2$ and $\epsilon$ in (0, 1), a softmax lookup head over $N$ tokens with logits
    scaled by $\log(N/\epsilon)/(1 - \cos(2 \pi/N))$ leaves at most $\epsilon$ of its weight to all
    tokens but the right one.

    ($N - 1$) exp(-scale gap) $< \epsilon$. At $N = 100$ and $\epsilon = 1/100$ the scale is 4,670.
    """
    return _left_to_others(case, seed)
