"""Evidence on the depth of hop_k: searches over all networks of a kind, the reduction from cycles, and the gaps of the printed heads."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..values import Ball, Case, Exact
from . import hop_k

if TYPE_CHECKING:
    from flint import arb

State = tuple[frozenset[int], frozenset[int]]
# Directions are searched among integer vectors up to this size; one that is found is an exact certificate.
_DIRECTIONS = 7
_BITS = 192
# Gaps are measured over all sequences up to so many tokens.
_ALL_SEQUENCES = 6


def lookup_depth(hops: int, mask: str) -> int:
    """The least number of layers, over all networks in which every layer is one lookup at a pointer that the tokens already hold.

    A token holds pointers find^p and symbols hop_s; a lookup at find^p adds find^(p + q) and hop_(p + s) for all that the token found
    there holds. Before the first pointer, a causal mask spends a layer on the previous token; a strict mask finds the last earlier copy,
    hence the pointer find^1, but not yet the symbol there.

    >>> [lookup_depth(k, "causal") for k in (1, 2, 3, 4)], [lookup_depth(k, "strict") for k in (1, 2, 3, 4)]
    ([2, 3, 4, 4], [2, 3, 3, 4])
    """
    start = (frozenset({0, 1}), frozenset({0, 1} if mask == "causal" else {0}))
    depth, states = (2 if mask == "causal" else 1), {start}
    while not any(hops in symbols for _, symbols in states):
        states = {_look_up(state, pointer) for state in states for pointer in state[0] if pointer}
        depth += 1
    return depth


def _look_up(state: State, at: int) -> State:
    pointers, symbols = state
    return pointers | {at + p for p in pointers}, symbols | {at + s for s in symbols}


def lookups(case: Case, seed: int) -> Exact:
    """See `lookup_depth`."""
    return Exact(lookup_depth(case.hops, case.mask))


def prefix_in_one_number(sequence: Sequence[int], base: int, hops: int) -> list[Any]:
    """hop_k by ONE causal layer with one head of width 1: uniform attention over base^j X_j, read by an index-specific map.

    Exact with rational numbers when the base is at least the alphabet: token i holds its whole prefix, in about N log2(base) bits.

    >>> prefix_in_one_number([0, 1, 0, 1, 1], 2, 1) == hop_k([0, 1, 0, 1, 1], 1)
    True
    """
    answers = []
    for i in range(1, len(sequence) + 1):
        average = Fraction(sum(base**j * sequence[j - 1] for j in range(1, i + 1)), i)
        digits, prefix = int(average * i) // base, []
        for _ in range(i):
            digits, digit = divmod(digits, base)
            prefix.append(digit)
        answers.append(hop_k(prefix, hops)[-1])
    return answers


def prefix_errors(base_short: int = 0) -> Any:
    """Wrong tokens of `prefix_in_one_number` over all sequences; a base that is too short by `base_short` sabotages it."""
    def measured(case: Case, seed: int) -> Exact:
        wrong = 0
        for sequence in product(range(case.alphabet), repeat=case.tokens):
            answers = prefix_in_one_number(sequence, case.alphabet - base_short, case.hops)
            wrong += sum(a != b for a, b in zip(answers, hop_k(sequence, case.hops), strict=True))
        return Exact(wrong)
    return measured


def key_steps(tokens: int, width: int, size: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Steps d_j = k_j - k_(j-1), entries up to `size`, between keys by which every token can skip itself with a causal mask.

    For every i <= N some query ranks i-1 above ... above 1 above the start token above i itself: q d_j > 0 for j < i and
    q (d_1 + ... + d_i) < 0. Queries are searched among small integer vectors, steps exhaustively.
    """
    directions = np.array(list(product(range(-_DIRECTIONS, _DIRECTIONS + 1), repeat=width)))
    vectors = [v for v in product(range(-size, size + 1), repeat=width) if any(v)]

    def extend(steps: tuple[tuple[int, ...], ...], rising: Any, total: Any) -> Iterator[tuple[tuple[int, ...], ...]]:
        if len(steps) == tokens:
            yield steps
            return
        for step in vectors:
            along = directions @ np.array(step)
            if (rising & (total + along < 0)).any() and (rising & (along > 0)).any():
                yield from extend((*steps, step), rising & (along > 0), total + along)

    yield from extend((), np.ones(len(directions), dtype=bool), np.zeros(len(directions), dtype=int))


def subset_sums(case: Case, seed: int) -> Exact:
    """The least number of different subset sums over all key steps of `key_steps`."""
    least = 2**case.tokens + 1
    for steps in key_steps(case.tokens, case.width, case.key_size):
        sums = {(0,) * case.width}
        for step in steps:
            sums |= {tuple(a + b for a, b in zip(s, step, strict=True)) for s in sums}
        least = min(least, len(sums))
    if least > 2**case.tokens:
        raise ValueError(f"no keys of this size skip {case.tokens} tokens; take larger keys or fewer tokens")
    return Exact(least)


def any_subset_sums(case: Case, seed: int) -> Exact:
    """The same for keys that need not skip anything: equal steps, for instance, have few sums."""
    return Exact(case.tokens + 1)


# --- one cycle against two ---------------------------------------------------------------------------------------------------


def edge_sequence(edges: Sequence[tuple[int, int]], start: int, copies: int) -> list[Any]:
    """The reduction of Corollary 4.3: nine tokens for each edge, the list repeated, and the start vertex at the end.

    >>> "".join(map(str, edge_sequence([(1, 2)], 1, 1)))
    '*1+21+2*_1'
    """
    once: list[Any] = []
    for u, v in edges:
        once += ["*", u, "+", v, u, "+", v, "*", "_"]
    return once * copies + [start]


def _instances(case: Case, rng: np.random.Generator) -> Iterator[tuple[list[tuple[int, int]], list[int], list[list[int]]]]:
    """Edge lists in cyclic order, reversed, and shuffled with random orientation; the start vertices; the cycles themselves.

    With `exhaustive` every order and orientation; a symmetry of the cycles takes any edge, either way round, to the first place.
    """
    k = case.hops
    if case.get("exhaustive"):
        yield from _all_instances(k, case.cycles)
        return
    for trial in range(case.get("trials", 6)):
        order = rng.permutation(k).tolist()
        rings = [order] if case.cycles == 1 else [order[:k // 2], order[k // 2:]]
        edges = [(ring[i], ring[(i + 1) % len(ring)]) for ring in rings for i in range(len(ring))]
        if trial == 1:
            edges = edges[::-1]
        elif trial > 1:
            edges = [edges[i] if rng.integers(2) else edges[i][::-1] for i in rng.permutation(len(edges))]
        yield edges, order, rings


def _all_instances(k: int, cycles: int) -> Iterator[tuple[list[tuple[int, int]], list[int], list[list[int]]]]:
    order = list(range(k))
    rings = [order] if cycles == 1 else [order[:k // 2], order[k // 2:]]
    first, *others = [(ring[i], ring[(i + 1) % len(ring)]) for ring in rings for i in range(len(ring))]
    for rest in permutations(others):
        for turned in product((False, True), repeat=k - 1):
            yield [first, *((v, u) if turn else (u, v) for (u, v), turn in zip(rest, turned, strict=True))], order, rings


def _walked(edges: Sequence[tuple[int, int]], start: int, rings: list[list[int]], hops: int, copies: int) -> int:
    end = hop_k(edge_sequence(edges, start, copies), hops)[-1]
    ring = next(r for r in rings if start in r)
    if end not in ring:
        return -1
    apart = (ring.index(end) - ring.index(start)) % len(ring)
    return min(apart, len(ring) - apart)


def walked(case: Case, seed: int) -> Exact:
    """How far hop_k walks on the sequence of k/2 copies, from every start vertex; -1 when that is not one distance."""
    found = {_walked(edges, start, rings, case.hops, case.hops // 2)
             for edges, order, rings in _instances(case, case.rng(seed)) for start in order}
    return Exact(found.pop() if len(found) == 1 else -1)


def tokens_needed(case: Case, seed: int) -> Exact:
    """Tokens of the shortest sequence of whole copies on which hop_k walks as far as it can for every instance and start."""
    k = case.hops
    instances = list(_instances(case, case.rng(seed)))
    for copies in range(1, k + 1):
        if all(_walked(edges, start, rings, k, copies) == k // 2 for edges, order, rings in instances for start in order):
            return Exact(len(edge_sequence(instances[0][0], 0, copies)))
    raise ValueError(f"no repetition of the edge list lets hop_{k} walk {k // 2} steps; accepted are one cycle and even k from 6 on")


# --- scores of the printed heads ---------------------------------------------------------------------------------------------


def _angle(turns: Fraction) -> arb:
    from ..exact.enclosure import from_fraction

    return (2 * from_fraction(turns)).cos_pi()


def _gap(scores: Sequence[Fraction]) -> arb:
    """Best minus next score, where a score is the cosine of that many turns; fewer turns mean a larger cosine."""
    nearest = sorted({min(t % 1, 1 - t % 1) for t in scores})
    return _angle(nearest[0]) - _angle(nearest[1])


def lookup_gap(case: Case, seed: int) -> Exact:
    """Smallest gap of the lookup head over all queries, with N + 1 angles for the tokens 0..N."""
    n = case.tokens
    return _scaled([[Fraction(q - k, n + 1) for k in range(n + 1)] for q in range(n + 1)])


def last_match_gap(start: str = "-1/2") -> Any:
    """Smallest gap of the last-occurrence head at spacing 2N: over all sequences up to N = 6, beyond from below.

    A query sees the keys of a sequence, and the start token at a distance of its own. Beyond N = 6 every distance that is no larger than
    the start token's is taken for the best key's, and the next larger one that any key can have for the next key's. No sequence has a
    smaller gap, since the start token is always there.

    Args:
        start: the start token's distance in steps, less N; another than -1/2 sabotages it.

    Cost: O(|Sigma|^N N^2) up to N = 6, then O(N^2 |Sigma|).
    """
    def measured(case: Case, seed: int) -> Exact:
        n, a = case.tokens, case.alphabet
        first = n + Fraction(start)
        return _scaled([[d / (2 * n * a) for d in pair] for pair in (_seen_pairs if n <= _ALL_SEQUENCES else _next_pairs)(n, a, first)])
    return measured


def _steps(symbols: int, positions: int, n: int, a: int) -> Fraction:
    """The circular distance, in steps, of a key so many symbols and positions before its query, at spacing 2N."""
    apart = (2 * n * symbols + positions) % (2 * n * a)
    return Fraction(min(apart, 2 * n * a - apart))


def _seen_pairs(n: int, a: int, first: Fraction) -> set[tuple[Fraction, Fraction]]:
    """Least and next distance of the keys of every query of every sequence; key j bears the symbol before it."""
    pairs = set()
    for sequence in product(range(a), repeat=n):
        for i in range(2, n + 1):
            keys = [_steps(sequence[i - 1] - sequence[j - 2], i - j, n, a) for j in range(2, i + 1)]
            best, following, *_ = sorted([first, *keys])
            pairs.add((best, following))
    return pairs


def _next_pairs(n: int, a: int, first: Fraction) -> set[tuple[Fraction, Fraction]]:
    """Every distance up to the start token's, with the next larger one that a key can have."""
    every = sorted({first, *(_steps(symbols, positions, n, a) for symbols in range(a) for positions in range(n - 1))})
    return {(best, following) for best, following in pairwise(every) if best <= first}


def _scaled(rows: Iterable[Sequence[Fraction]]) -> Exact:
    import flint

    with flint.ctx.workprec(_BITS):
        least = min((_gap(row) for row in rows), key=lambda gap: float(gap.mid()))
        scaled = (least * 10**9).floor().unique_fmpz()
    if scaled is None:
        raise ArithmeticError("the gap lies too close to a multiple of 10^-9; use more bits")
    return Exact(int(scaled))


def distinct_keys(more: int = 0, step: int = 1) -> Any:
    """Different keys (cos, sin)(2 pi j / N) of the tokens j = 0..N: angles are equal when they differ by whole turns.

    Args:
        more: angles beyond N, one of which repairs the head.
        step: angles from one token to the next; more than one sabotages it.
    """
    def measured(case: Case, seed: int) -> Exact:
        return Exact(len({Fraction(step * j, case.tokens + more) % 1 for j in range(case.tokens + 1)}))
    return measured


def softmax_error(weaker: int = 1) -> Any:
    """Weight that the lookup head leaves to other tokens, at most over all queries, at the scale log(N / epsilon) / gap."""
    def measured(case: Case, seed: int) -> Ball:
        import flint

        from ..exact.enclosure import from_fraction

        n = case.tokens
        with flint.ctx.workprec(_BITS):
            gap = 1 - _angle(Fraction(1, n))
            scale = (n / from_fraction(case.rational("epsilon"))).log() / gap / weaker
            # By rotation every query leaves the same weight to the other tokens.
            others = sum(((_angle(Fraction(t, n)) - 1) * scale).exp() for t in range(1, n))
            return Ball.of(others / (1 + others))
    return measured
