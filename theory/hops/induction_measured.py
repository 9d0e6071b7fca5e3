"""Evidence on one layer: how many summaries of a half sequence are needed, what a layer of few bits forgets, exact small searches."""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from ..values import Case, Exact
from . import hop_k

_COPIED = 2


def index_sequence(bits: Sequence[int], index: int) -> list[int]:
    """The reduction from INDEX with 3 symbols: bits at even positions, symbol 2 before the bit asked for (else 0) and at the end.

    The answer of hop_1 at the last token is that bit. The one half of the positions depends on the bits alone, the other on the index.

    >>> hop_k(index_sequence([0, 1, 1], 1), 1)[-1]
    1
    """
    sequence = []
    for j, bit in enumerate(bits):
        sequence += [_COPIED if j == index else 0, bit]
    return [*sequence, _COPIED]


def hops_index_sequence(bits: Sequence[int], index: int, hops: int) -> list[int]:
    """The same for hop_k: k - 1 forced hops lead from the last token to the symbol 2 at the end of `index_sequence`.

    The tail lists pairs (3, 2), (4, 3), ..., and the last token is the largest symbol: each hop goes from a symbol to the next smaller
    one. It depends on neither the bits nor the index, and adds 2k - 2 tokens.

    >>> hops_index_sequence([0, 1], 1, 3)
    [0, 0, 2, 1, 3, 2, 4, 3, 4]
    >>> hop_k(_, 3)[-1]
    1
    """
    first, *tail = [_COPIED + j for j in range(hops)]
    sequence = index_sequence(bits, index)[:-1]
    for before, symbol in zip([first, *tail], tail, strict=False):
        sequence += [symbol, before]
    return [*sequence, [first, *tail][-1]]


@cache
def hops_ask_for_every_bit(hops: int, count: int = 4) -> bool:
    """Whether hop_k at the last token of `hops_index_sequence` is the bit asked for, for all words of `count` bits and all indices."""
    return all(hop_k(hops_index_sequence(bits, i, hops), hops)[-1] == bits[i] for bits in product((0, 1), repeat=count) for i in range(count))


def summaries(case: Case, seed: int) -> Exact:
    """Different rows of answers, one row for each word of bits, one column for each index: no two may share a summary."""
    n = (case.tokens - 1) // 2
    rows = {tuple(hop_k(index_sequence(bits, i), 1)[-1] for i in range(n)) for bits in product((0, 1), repeat=n)}
    return Exact(len(rows))


def _state(bits: Sequence[int], weights: Sequence[Sequence[int]], precision: int) -> Hashable:
    """What a one-layer head adds up over the positions of the bits, rounded to `precision` bits each: numerator and denominator."""
    scores, values = weights
    mass = [2 ** scores[2 * j + bit] for j, bit in enumerate(bits)]
    total = sum(mass)
    top = sum(m * values[2 * j + bit] for j, (m, bit) in enumerate(zip(mass, bits, strict=True)))
    levels = 2**precision
    # Both are scaled by the largest value they can take, so that each is one of 2^precision levels.
    highest = sum(max(2 ** scores[2 * j + b] for b in (0, 1)) for j in range(len(bits)))
    return total * (levels - 1) // highest, top * (levels - 1) // (highest * max(values))


def failing_inputs(bits_more: int = 0) -> Callable[[Case, int], Exact]:
    """Words of bits on which a random one-layer head errs for some index, although every index has the best read-out of its own.

    The read-out sees the rounded sums over the positions of the bits and the whole rest of the input.
    """
    def measured(case: Case, seed: int) -> Exact:
        n, rng = (case.tokens - 1) // 2, case.rng(seed)
        weights = rng.integers(0, 5, 2 * n).tolist(), rng.integers(1, 2**n, 2 * n).tolist()
        words = list(product((0, 1), repeat=n))
        shared: dict[Hashable, list[tuple[int, ...]]] = defaultdict(list)
        for word in words:
            shared[_state(word, weights, case.precision + bits_more)].append(word)
        # At most one word of each group is answered rightly for every index: two words differ at some index.
        return Exact(sum(len(group) - _all_right(group) for group in shared.values()))
    return measured


def _all_right(group: Sequence[tuple[int, ...]]) -> int:
    majority = tuple(Counter(column).most_common(1)[0][0] for column in zip(*group, strict=True))
    return sum(word == majority for word in group)


def composition_error(more: int = 0) -> Callable[[Case, int], Exact]:
    """Least error of reading f(x) off a summary of f with 2^B values, over all summaries, f and x uniform: an exhaustive search.

    A summary's best read-out is one function for each value, so the error is the mean Hamming distance to the nearest of 2^B functions.

    Args:
        more: bits of the summary beyond those of the case, which sabotage it.
    """
    def measured(case: Case, seed: int) -> Exact:
        n, size = case.domain_size, 2 ** (case.summary_bits + more)
        functions = list(product(range(n), repeat=n))
        distance = [[sum(a != b for a, b in zip(f, g, strict=True)) for g in functions] for f in functions]
        # Relabelling the values at each point maps any function to any other: one of the chosen may be the first.
        best = min(sum(map(min, zip(*(distance[c] for c in (0, *chosen)), strict=True)))
                   for chosen in combinations(range(1, len(functions)), size - 1))
        return Exact(Fraction(best, len(functions) * n))
    return measured


def prompt_min(case: Case, seed: int) -> Exact:
    """The least n whose 2^(4L)-th root is at least H d p, by bisection over the bits of n with repeated integer square roots."""
    from math import isqrt

    def reaches(n: int) -> bool:
        for _ in range(4 * case.depth):
            n = isqrt(n)
        return n >= case.state_bits

    return Exact(_least(reaches))


def tokens_min(case: Case, seed: int) -> Exact:
    """The least N with N/k^6 > m, by bisection."""
    return Exact(_least(lambda n: Fraction(n, case.hops**6) > case.width))


def _least(holds: Callable[[int], bool]) -> int:
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
