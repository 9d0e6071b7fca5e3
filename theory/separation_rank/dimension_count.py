"""The dimension count S(d, L), exactly and as an enclosure of its logarithm at any size.

With M = U + V the moments of the two halves of the tokens, the output is x . P(U + V) for d forms
P_a of degree C = (3^L - 1)/2 in D = d(d+1)/2 variables. Its rank is that of all derivatives of the
P_a: of order k at most the number d binom(D+k-1, k) of derivatives, and at most the number
binom(D+C-k-1, C-k) of monomials of the degree that is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import flint
from flint import arb, fmpz

from ..exact.enclosure import endpoints

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
    """S(d, L) = sum_{k=0}^C min(d binom(D+k-1, k), binom(D+C-k-1, C-k)), exact.

    The first term of the minimum grows with k and the second falls, so the sum is two hockey sticks
    that meet where they cross: d binom(D+m, m) + binom(D+C-m-1, C-m-1), m the last k before that.

    Raises:
        ValueError: unless both are positive integers with D or C(L) at most 10^5.

    >>> [dimension_count(2, depth) for depth in (1, 2, 3)]
    [3, 18, 232]
    """
    d, C = _whole("width", width), moments_degree(_whole("depth", depth))
    D = d * (d + 1) // 2
    if min(C, D) > _EXACT_FACTORS:
        raise ValueError(
            f"S({width}, {depth}) has too many digits to write down; use log3_dimension_count"
        )

    def first_is_smaller(k: int) -> bool:
        return d * math.comb(D + k - 1, k) <= math.comb(D + C - k - 1, C - k)

    last, _ = _crossing(C, first_is_smaller, exact=True)
    rest = math.comb(D + C - last - 1, D) if last < C else 0
    return d * math.comb(D + last, last) + rest


def log3_dimension_count(width: int, depth: int) -> tuple[float, float]:
    """Proven bounds low <= log_3 S(d, L) <= high at any size, neighbours where sizes are moderate.

    The crossing m of `dimension_count` is found by bisection in balls, as far as they decide and to
    64 bits. With a <= m < b known, low sums the smaller term outside the gap (a, b) and high splits
    at a, which is an upper bound wherever one splits. Both are rounded outwards. A ValueError for
    sizes below 1.

    Cost: about 400 evaluations of log-gamma at O(L + log d) bits, milliseconds.

    >>> low, high = log3_dimension_count(10**6, 200)
    >>> 0 < high - low <= 1e-15 * high
    True
    """
    d, C = _whole("width", width), moments_degree(_whole("depth", depth))
    D = d * (d + 1) // 2
    if min(C, D) <= _QUICK_FACTORS:
        with flint.ctx.workprec(128):
            return _outward(arb(fmpz(dimension_count(d, depth))).log() / arb(3).log())

    def log_binomial(n: int, k: int) -> arb:
        top, *bottom = (arb(fmpz(m + 1)).lgamma() for m in (n, k, n - k))
        return top - bottom[0] - bottom[1]

    def first_is_smaller(k: int) -> bool | None:
        first = arb(fmpz(d)).log() + log_binomial(D + k - 1, k)
        gap = first - log_binomial(D + C - k - 1, C - k)
        return True if gap < 0 else False if gap > 0 else None

    def log3_split(last: int, rest: int) -> arb:
        """log_3 of the first terms up to `last` and the second terms from `rest` on."""
        total = arb(fmpz(d)).log() + log_binomial(D + last, last)
        if rest <= C:
            total += (log_binomial(D + C - rest, C - rest) - total).exp().log1p()
        return total / arb(3).log()

    # log-gamma of n has log2(n log n) bits before the point.
    bits = (C + D).bit_length()
    with flint.ctx.workprec(192 + bits + bits.bit_length()):
        low, high = _crossing(C, first_is_smaller)
        return _outward(log3_split(low, high))[0], _outward(log3_split(low, low + 1))[1]


def _crossing(
    C: int, first_is_smaller: Callable[[int], bool | None], *, exact: bool = False
) -> tuple[int, int]:
    # Keeps: the first term is the smaller one at `low` (true at k = 0, since d <= D), the second
    # one at `high` and beyond.
    low, high = 0, C + 1
    while high - low > 1 and (exact or high - low > low >> 64):
        middle = (low + high) // 2
        answer = first_is_smaller(middle)
        if answer is None:
            break
        low, high = (middle, high) if answer else (low, middle)
    return low, high


def _outward(ball: arb) -> tuple[float, float]:
    low, high = endpoints(ball)
    return math.nextafter(float(low), -math.inf), math.nextafter(float(high), math.inf)


def _whole(name: str, value: int, low: int = 1) -> int:
    whole = not isinstance(value, bool) and math.isfinite(value) and int(value) == value
    if not whole or value < low:
        raise ValueError(f"{name}={value}: accepted are whole numbers from {low} on")
    return int(value)
