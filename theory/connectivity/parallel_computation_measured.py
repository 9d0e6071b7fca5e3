"""Evidence on translations between transformers and parallel machines: a simulated protocol, and what one layer of edges must carry."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..values import Case, Exact

# (i, j), which computes what token i gives to token j.
Machine = tuple[int, int]


class Machines:
    """Machines that exchange messages in rounds, none sending or receiving more than `capacity` words in one."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.rounds = capacity, 0

    def exchange(self, sent: Counter[Machine], received: Counter[Machine]) -> None:
        """Count the rounds for messages, given the words that each machine sends and receives: as many as the busiest needs.

        Messages of one word can be spread over ceil(load / capacity) rounds, the load the most words that a machine sends or
        receives: edge colouring of a bipartite multigraph (Koenig).
        """
        load = max([*sent.values(), *received.values()], default=0)
        self.rounds += -(-load // self.capacity)


def attention_rounds(tokens: int, branching: int, rng: np.random.Generator, capacity: int | None = None) -> int:
    """Rounds in which N^2 machines of 4b words compute one attention layer (width 1, one head, weights 2^(q k)) exactly.

    Machine (i, i) starts with token i. Machine (i, j) learns q_i from (i, i) and (k_j, v_j) from (j, j), down trees of branching b,
    both at the same time. Then sums of weights and of weighted values go up to (i, i). Every message is a word that one machine holds
    and another one receives; nothing else is read. The result is compared with attention computed directly.

    Args:
        tokens, branching: N and b.
        rng: source of q, k and v.
        capacity: words that a machine sends or receives in a round; 4b if not given. Fewer make more rounds.

    Raises:
        ArithmeticError: when the machines hold something else than attention in the end.

    >>> attention_rounds(4, 2, np.random.default_rng(0))
    4
    """
    q, k, v = rng.integers(-3, 4, (3, tokens)).tolist()
    machines = Machines(4 * branching if capacity is None else capacity)
    queries: dict[Machine, int] = {(i, i): q[i] for i in range(tokens)}
    pairs: dict[Machine, tuple[int, int]] = {(j, j): (k[j], v[j]) for j in range(tokens)}
    for edges in _levels(tokens, branching):
        sent: Counter[Machine] = Counter()
        received: Counter[Machine] = Counter()
        for line, (near, far) in ((line, edge) for line in range(tokens) for edge in edges):
            # Position r of row i is machine (i, i + r), position r of column j is machine (j + r, j), modulo N.
            source, target = (line, (line + near) % tokens), (line, (line + far) % tokens)
            queries[target] = queries[source]
            sent[source] += 1
            received[target] += 1
            source, target = source[::-1], target[::-1]
            pairs[target] = pairs[source]
            sent[source] += 2
            received[target] += 2
        machines.exchange(sent, received)
    sums = {at: (Fraction(2) ** (query * pairs[at][0]), Fraction(2) ** (query * pairs[at][0]) * pairs[at][1]) for at, query in queries.items()}
    for edges in reversed(list(_levels(tokens, branching))):
        sent, received = Counter(), Counter()
        for row, (near, far) in ((row, edge) for row in range(tokens) for edge in edges):
            target, source = (row, (row + near) % tokens), (row, (row + far) % tokens)
            weight, value = sums.pop(source)
            sums[target] = (sums[target][0] + weight, sums[target][1] + value)
            sent[source] += 2
            received[target] += 2
        machines.exchange(sent, received)
    direct = {(i, i): sum(Fraction(2) ** (q[i] * k[j]) * v[j] for j in range(tokens)) / sum(Fraction(2) ** (q[i] * k[j]) for j in range(tokens))
              for i in range(tokens)}
    if {at: value / weight for at, (weight, value) in sums.items()} != direct:
        raise ArithmeticError("the protocol computes something else than attention")
    return machines.rounds


def _levels(tokens: int, branching: int) -> Iterator[list[tuple[int, int]]]:
    """Edges of a tree on positions 0..N-1 with root 0, level by level: each position reached so far serves b - 1 new ones.

    >>> list(_levels(5, 3))
    [[(0, 1), (0, 2)], [(0, 3), (0, 4)]]
    """
    reached = 1
    while reached < tokens:
        new = range(reached, min(reached * branching, tokens))
        yield [((at - reached) // (branching - 1), at) for at in new]
        reached += len(new)


def rounds(case: Case, seed: int) -> Exact:
    """See `attention_rounds`."""
    return Exact(attention_rounds(case.tokens, case.branching, case.rng(seed), case.get("capacity")))


def tree_depth(case: Case, seed: int) -> Exact:
    """Levels of a tree of branching N^(delta' - delta) that holds N^(1 + alpha) leaves, for N = 2^(20 q), q a common denominator."""
    alpha, gap = case.rational("token_excess"), case.rational("memory_gap")
    bits = 20 * (alpha.denominator * gap.denominator)
    leaves, branching = 2 ** int((1 + alpha) * bits), 2 ** int(gap * bits)
    depth, width = 0, 1
    while width < leaves:
        depth, width = depth + 1, width * branching
    return Exact(depth)


def edge_summaries(case: Case, seed: int) -> Exact:
    """Sets of edges on n vertices that some other set of edges tells apart by 'is the union connected?': every pair of sets is tried."""
    n = case.vertices
    pairs = list(combinations(range(n), 2))
    connected = np.array([_connected(n, [e for bit, e in enumerate(pairs) if chosen >> bit & 1]) for chosen in range(2 ** len(pairs))])
    sets = np.arange(len(connected))
    table = connected[sets[:, None] | sets[None, :]]
    return Exact(len(np.unique(np.packbits(table, axis=1), axis=0)))


def _connected(n: int, edges: Sequence[tuple[int, int]]) -> bool:
    reached, old = {0}, 0
    while len(reached) > old:
        old = len(reached)
        reached |= {v for e in edges for v in e if e[0] in reached or e[1] in reached}
    return len(reached) == n


def edges_min(case: Case, seed: int) -> Exact:
    """The least number of edges N with N^(1/4) > L sqrt(m), by bisection on integers: N > (L^2 m)^2."""
    high = 1
    while not _exceeds(high, case.depth, case.width):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _exceeds(middle, case.depth, case.width) else (middle, high)
    return Exact(high)


def _exceeds(edges: int, depth: int, width: int) -> bool:
    """edges^(1/4) > depth width^(1/2), decided by squaring twice."""
    left, right = Fraction(edges), Fraction(depth) ** 2 * width
    return left > right * right
