"""The dimension count S(d, L): an upper bound on the separation rank of linearised attention for all weights, heads and tokens.

With M = U + V the moments of the two halves of the tokens, the output is x . P(U + V) for d forms P_a of degree C = (3^L - 1)/2 in
D = d(d+1)/2 variables. Its rank is the dimension of the span of all partial derivatives of the P_a: for each order k at most the
number d binom(D+k-1, k) of derivatives, and at most the number binom(D+C-k-1, C-k) of monomials of the degree that is left.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..claim import Case, Claim, Control, Source
from ..values import Ball
from . import dimension_count_measured as measured_by

if TYPE_CHECKING:
    import sympy
    from flint import arb

# Beyond this many factors an exact binomial coefficient is a number that nobody reads.
_EXACT_FACTORS = 10**5
# Up to this many the exact integer is the quickest way to its logarithm.
_QUICK_FACTORS = 300


def moments_degree(depth: int) -> int:
    """C(L) = (3^L - 1)/2: the degree of the output in the second moments of the tokens, exact.

    >>> [moments_degree(depth) for depth in range(4)]
    [0, 1, 4, 13]
    """
    return (3 ** _whole("depth", depth, low=0) - 1) // 2


def dimension_count(width: int, depth: int) -> int:
    """S(d, L) = sum_{k=0}^C min(d binom(D+k-1, k), binom(D+C-k-1, C-k)) >= sep, for all weights, heads and tokens; exact.

    The first term of the minimum grows with k and the second falls, so the sum is two hockey sticks that meet where they cross:
    d binom(D+m, m) + binom(D+C-m-1, C-m-1) with m the last k at which the first term is not the larger one.

    Args:
        width, depth: positive integers with D or C(L) at most 10^5; beyond that use `log3_dimension_count`.

    Raises:
        ValueError: for other values.

    Cost: O(L) binomial coefficients.

    >>> [dimension_count(2, depth) for depth in (1, 2, 3)]
    [3, 18, 232]
    """
    d, C = _whole("width", width), moments_degree(_whole("depth", depth))
    D = d * (d + 1) // 2
    if min(C, D) > _EXACT_FACTORS:
        raise ValueError(f"S({width}, {depth}) has too many digits to write down; use log3_dimension_count")
    last, _ = _crossing(C, lambda k: d * math.comb(D + k - 1, k) <= math.comb(D + C - k - 1, C - k), exact=True)
    return d * math.comb(D + last, last) + (math.comb(D + C - last - 1, D) if last < C else 0)


def log3_dimension_count(width: ArrayLike, depth: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Proven bounds low <= log_3 S(d, L) <= high, for arrays of any size: at L = 200, d = 10^6 as at L = 1, d = 2.

    The crossing m of `dimension_count` is found by bisection in balls, as far as they decide and to 64 bits. With a <= m < b known,
    low sums the smaller term outside the gap (a, b) and high splits at a, which is an upper bound wherever one splits. Both are
    evaluated with enough bits for the cancellation in log-gamma and rounded outwards.

    Args:
        width, depth: positive integers, which broadcast.

    Returns:
        low and high; when d and L are moderate they are neighbouring floats.

    Raises:
        ValueError: for a value that is not a positive integer.

    Cost: about 400 evaluations of log-gamma at O(L + log d) bits for each element, some milliseconds.

    >>> low, high = log3_dimension_count([2, 10**6], [2, 200])
    >>> bool(low[0] <= np.log(18) / np.log(3) <= high[0]), bool(high[1] - low[1] <= 1e-15 * high[1])
    (True, True)
    """
    pairs = np.broadcast(np.asarray(width, dtype=object), np.asarray(depth, dtype=object))
    bounds = [_log3_count(_whole("width", d), _whole("depth", layers)) for d, layers in pairs]
    low, high = (np.array([bound[side] for bound in bounds], dtype=np.float64).reshape(pairs.shape) for side in (0, 1))
    return low, high


def two_token_rank(width: int, depth: int) -> int:
    """binom(d + C, C): an upper bound on the separation rank with one token on each side, reached by one head in all cases measured.

    >>> [two_token_rank(2, depth) for depth in (1, 2, 3)]
    [3, 15, 105]
    """
    C = moments_degree(_whole("depth", depth))
    return math.comb(_whole("width", width) + C, C)


def _crossing(C: int, first_is_smaller: Callable[[int], bool | None], *, exact: bool = False) -> tuple[int, int]:
    # Keeps: the first term is the smaller one at `low` (true at k = 0, since d <= D), the second one at `high` and beyond.
    low, high = 0, C + 1
    while high - low > 1 and (exact or high - low > low >> 64):
        middle = (low + high) // 2
        answer = first_is_smaller(middle)
        if answer is None:
            break
        low, high = (middle, high) if answer else (low, middle)
    return low, high


def _log3_count(d: int, depth: int) -> tuple[float, float]:
    import flint
    from flint import arb, fmpz

    C, D = moments_degree(depth), d * (d + 1) // 2
    if min(C, D) <= _QUICK_FACTORS:
        with flint.ctx.workprec(128):
            return _outward(arb(fmpz(dimension_count(d, depth))).log() / arb(3).log())

    def log_binomial(n: int, k: int) -> arb:
        return arb(fmpz(n + 1)).lgamma() - arb(fmpz(k + 1)).lgamma() - arb(fmpz(n - k + 1)).lgamma()

    def first_is_smaller(k: int) -> bool | None:
        gap = arb(fmpz(d)).log() + log_binomial(D + k - 1, k) - log_binomial(D + C - k - 1, C - k)
        return True if gap < 0 else False if gap > 0 else None

    def log3_split(last: int, rest: int) -> arb:
        """log_3 of the first terms up to `last` and the second terms from `rest` on."""
        total = arb(fmpz(d)).log() + log_binomial(D + last, last)
        if rest <= C:
            total += (log_binomial(D + C - rest, C - rest) - total).exp().log1p()
        return total / arb(3).log()

    # log-gamma of n has log2(n log n) bits before the point.
    with flint.ctx.workprec(192 + (C + D).bit_length() + (C + D).bit_length().bit_length()):
        low, high = _crossing(C, first_is_smaller)
        return _outward(log3_split(low, high))[0], _outward(log3_split(low, low + 1))[1]


def _outward(ball: arb) -> tuple[float, float]:
    exact = Ball.of(ball)
    return math.nextafter(float(exact.low), -math.inf), math.nextafter(float(exact.high), math.inf)


def _whole(name: str, value: Any, low: int = 1) -> int:
    if isinstance(value, bool) or value != value or value in (math.inf, -math.inf) or int(value) != value or value < low:
        raise ValueError(f"{name}={value}: accepted are whole numbers from {low} on")
    return int(value)


# --- claims ----------------------------------------------------------------------------------------------------------------------

_SOURCE = Source("depthlaw", "docs/separation-rank-dimension-count.md")


def claims() -> Iterator[Claim]:
    """The claims on S(d, L) itself; that it bounds the separation rank is a claim of separation_rank."""
    yield from _value_claims()
    yield from _size_claims()
    yield from _growth_claims()
    yield from _slope_claims()
    yield _knee_claim()


def _symbols() -> tuple[sympy.Symbol, sympy.Symbol, sympy.Expr, sympy.Expr]:
    """d, D, C and S, in the notation of the statements."""
    import sympy

    from ..glossary import symbol

    d = symbol("width")
    return d, d * (d + 1) / 2, sympy.Mul(sympy.Rational(1, 2), 3 ** symbol("depth") - 1, evaluate=False), symbol("count")


_SPLIT = ("Hockey sticks and the lengths of both sums are checked for all sizes, for odd and even C; prose: a sum of minima is at most "
          "any split of it.")


def _value_claims() -> Iterator[Claim]:
    from sympy import Eq, Max, Min, Sum, binomial

    from ..glossary import symbol

    d, D, C, S = _symbols()
    k = symbol("order")
    terms = d * binomial(D + k - 1, k), binomial(D + C - k - 1, C - k)
    yield Claim(
        key="separation_rank/count_closed_form", title="the dimension count is two hockey sticks",
        text="For every d and L, S(d, L) = sum_k min(d binom(D+k-1, k), binom(D+C-k-1, C-k)) equals d binom(D+m, m) + binom(D+C-m-1, "
              "C-m-1), with m the last k at which the first term is not the larger one.",
        statement=Eq(S, Sum(Min(*terms), (k, 0, C))), source=_SOURCE, wording="derived", kind="identity", holds_for="all",
        measured=measured_by.measured_count, proof=measured_by.closed_form_proof,
        rests_on="Monotone terms and hockey sticks are checked for all sizes; prose: that the terms therefore cross once.",
        grid={"quick": Case.grid(width=(1, 2, 3, 5), depth=(1, 2, 3)), "theory": Case.grid(width=(2, 4, 7, 12), depth=(4, 5))},
        control=Control(Case(width=2, depth=2), "max in place of min", statement=Eq(S, Sum(Max(*terms), (k, 0, C)))),
        note="Measured is the closed form, by binary search for m; predicted is the sum.")


def _size_claims() -> Iterator[Claim]:
    from sympy import Ge, Le, binomial, floor

    d, D, C, S = _symbols()
    grid = {"quick": Case.grid(width=(1, 2, 3, 6, 20), depth=(1, 2, 3, 4)),
            "theory": Case.grid(width=(4, 11, 40, 100), depth=(1, 2, 5, 6, 7))}
    middle = binomial(D + floor(C / 2), D)
    yield Claim(
        key="separation_rank/count_lower", title="lower bound on the dimension count",
        text="For every d and L, S(d, L) >= binom(D + floor(C/2), D).",
        statement=Ge(S, middle), source=_SOURCE, wording="derived", kind="lower", holds_for="all", measured=measured_by.measured_count,
        grid=grid, proof=measured_by.count_lower_proof,
        rests_on="Monotone terms and hockey sticks are checked for all sizes; prose: C - k >= k for k <= C/2, term by term.",
        control=Control(Case(width=3, depth=3), "the whole of C in place of half", statement=Ge(S, binomial(D + C, D))))
    yield Claim(
        key="separation_rank/count_upper", title="the dimension count up to a factor d + 1",
        text="For every d and L, S(d, L) <= (d + 1) binom(D + floor(C/2), D), so the binomial coefficient is S up to a factor d + 1.",
        statement=Le(S, (d + 1) * middle), source=_SOURCE, wording="derived", kind="upper", holds_for="all",
        measured=measured_by.measured_count, grid=grid, proof=measured_by.count_upper_proof,
        rests_on=_SPLIT,
        control=Control(Case(width=3, depth=1), "without the factor", statement=Le(S, middle)))
    yield Claim(
        key="separation_rank/count_below_theorem_1", title="the count implies the upper bound of Theorem 1",
        text="For every d and L, S(d, L) <= (d + 1)^C(L), which is the upper bound of Theorem 1, as recalled, with H replaced by 1.",
        statement=Le(S, (d + 1) ** C), source=_SOURCE, wording="derived", kind="upper", holds_for="all",
        measured=measured_by.measured_count, proof=measured_by.count_below_theorem_1_proof,
        rests_on=_SPLIT + " The factors of the binomial are compared one by one, for all sizes.",
        grid={"quick": Case.grid(width=(1, 2, 3, 6, 20), depth=(1, 2, 3)), "theory": Case.grid(width=(4, 11, 40), depth=(4, 5))},
        control=Control(Case(width=3, depth=1), "d in place of d + 1", statement=Le(S, d**C)),
        note="With sep <= S (separation_rank/dimension_count) it gives sep <= (d + 1)^C <= (d + H)^C, the upper bound of Theorem 1, at every "
             "depth, for all weights and any number of heads.")


def _growth_claims() -> Iterator[Claim]:
    from sympy import E, Ge, Le, floor, log

    from ..glossary import symbol

    d, D, C, S = _symbols()
    L, half = symbol("depth"), floor(C / 2)
    before = {"floor(C/2) <= D": lambda c: moments_degree(c.depth) // 2 <= c.width * (c.width + 1) // 2}
    after = {"floor(C/2) >= D": lambda c: moments_degree(c.depth) // 2 >= c.width * (c.width + 1) // 2}
    yield Claim(
        key="separation_rank/growth_before_knee", title="doubly exponential growth before the knee",
        text="While floor(C(L)/2) <= D, S(d, L) >= 2^floor(C(L)/2), which is doubly exponential in the depth.",
        statement=Ge(S, 2**half), source=_SOURCE, wording="derived", kind="lower", holds_for="all", assumes=before,
        measured=measured_by.measured_count, proof=measured_by.before_knee_proof,
        rests_on="The lower bound of count_lower, whose steps are repeated, and each factor of the binomial, for all sizes; prose: their "
                 "product.",
        grid={"quick": (*Case.grid(width=(1, 2, 5, 9), depth=1), *Case.grid(width=(2, 5, 9), depth=2), *Case.grid(width=(5, 9), depth=3),
                        Case(width=9, depth=4)),
              "theory": (*Case.grid(width=(30, 100), depth=6), *Case.grid(width=100, depth=(7, 8)))},
        control=Control(Case(width=2, depth=5), "past the knee: D = 3 and C/2 = 60"))
    yield Claim(
        key="separation_rank/growth_after_knee", title="slope d(d+1)/2 after the knee",
        text="Once floor(C(L)/2) >= D, log_3 S(d, L) <= D L + D log_3(e / (d (d + 1))) + log_3(d + 1): linear in depth.",
        statement=Le(log(S) / log(3), D * L + D * log(E / (d * (d + 1))) / log(3) + log(d + 1) / log(3)), source=_SOURCE,
        wording="derived", kind="upper", holds_for="all", assumes=after, measured=measured_by.measured_count,
        proof=measured_by.after_knee_proof,
        rests_on=_SPLIT + " The chain from there to the right side is checked inequality by inequality.",
        grid={"quick": (*Case.grid(width=(1, 2), depth=(3, 5, 20)), *Case.grid(width=(5, 9), depth=(5, 8, 20))),
              "theory": Case.grid(width=(12, 20), depth=(7, 40, 90))},
        control=Control(Case(width=5, depth=20), "the slope 2 d of Theorem 2", statement=Le(log(S) / log(3),
            2 * d * L + log(d + 1) / log(3))))


def _slope_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    d, D, _, S = _symbols()
    L, slope = symbol("depth"), symbol("late_slope")
    yield Claim(
        key="separation_rank/count_linear", title="the count never exceeds 3^(D L)",
        text="For every d and L, S(d, L) <= 3^(D L) with D = d(d+1)/2.",
        statement=Le(S, 3 ** (D * L)), source=_SOURCE, wording="derived", kind="upper", holds_for="all",
        measured=measured_by.measured_count, proof=measured_by.count_linear_proof,
        rests_on=_SPLIT + " The chain from there to 3^(D L) is checked inequality by inequality.",
        grid={"quick": Case.grid(width=(1, 2, 5), depth=(1, 2, 5, 30))},
        control=Control(Case(width=5, depth=30), "the slope 2 d + 1 of Theorem 2", statement=Le(S, 3 ** ((2 * d + 1) * L))))
    yield Claim(
        key="separation_rank/late_slope", title="late slope of the dimension count",
        text="Far beyond the knee each layer adds D = d(d+1)/2 to log_3 S(d, L), to the nearest integer, in every case measured.",
        statement=Eq(slope, D), source=_SOURCE, wording="derived", kind="rate", holds_for="all", measured=measured_by.measured_late_slope,
        grid={"quick": Case.grid(width=(1, 2, 3, 6, 10), depth=(40, 100)), "theory": Case.grid(width=(30, 100), depth=(60, 200))},
        control=Control(Case(width=6, depth=40), "2 d, the slope of Theorem 2", statement=Eq(slope, 2 * d)),
        note="The reason: by count_lower and count_upper, S is binom(D + floor(C/2), D) up to a factor d + 1, a polynomial of degree D in "
             "3^L. From which depth on it is so is not claimed.")


def _knee_claim() -> Claim:
    from sympy import Eq, ceiling, log

    from ..glossary import symbol

    d, knee = symbol("width"), symbol("knee")
    return Claim(
        key="separation_rank/knee", title="the knee of the dimension count",
        text="The first depth at which C(L)/2 >= D is ceil(log_3(2 d^2 + 2 d + 1)), where log_3(2 d^2 + 2 d + 1) = 2 log_3 d + log_3 2 "
              "+ log_3(1 + 1/d + 1/(2 d^2)): about twice log_3 d.",
        statement=Eq(knee, ceiling(log(2 * d**2 + 2 * d + 1) / log(3))), source=_SOURCE, wording="derived", kind="threshold",
        holds_for="all", measured=measured_by.measured_knee, proof=measured_by.knee_proof,
        rests_on="C/2 = D at the depth that is rounded up, and C grows with L; prose: so the first whole depth is that one rounded up.",
        grid={"quick": Case.grid(width=(1, 2, 3, 6, 11, 100, 1000)), "theory": Case.grid(width=(10**6, 10**12))},
        control=Control(Case(width=1000), "log_3 d", statement=Eq(knee, ceiling(log(d) / log(3)))),
        note="The knee of this measure of expressivity; whether a task needs it is another question. At d = 12288 it is 18.")
