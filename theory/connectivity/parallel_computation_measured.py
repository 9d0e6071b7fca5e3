"""Evidence on translations between transformers and parallel machines: a simulated protocol, and what one layer of edges must carry."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..measurement import Case, Exact


class Machines:
    """Machines that exchange messages in rounds and refuse to send or receive more than `capacity` words in one."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.rounds = capacity, 0

    def exchange(self, sent: Sequence[int], received: Sequence[int]) -> None:
        """One round, given the words that each machine sends and receives.

        Raises:
            ValueError: when some machine would exceed its capacity.
        """
        if max([*sent, *received]) > self.capacity:
            raise ValueError(f"a machine handles {max([*sent, *received])} words in a round; its capacity is {self.capacity}")
        self.rounds += 1


def attention_rounds(tokens: int, branching: int, rng: np.random.Generator) -> int:
    """Rounds in which N^2 machines of 4b words simulate one attention layer (width 1, one head, weights 2^(q k)) exactly.

    Machine (i, j) must learn q_i from token i and (k_j, v_j) from token j; both are broadcast down trees of branching b at the same time.
    Then sums of weights and of weighted values go up such trees. The result is compared with attention computed directly.

    >>> attention_rounds(4, 2, np.random.default_rng(0))
    4
    """
    q, k, v = rng.integers(-3, 4, (3, tokens)).tolist()
    machines = Machines(capacity=4 * branching)
    level = 1
    while level < tokens:
        wide = min(level * branching, tokens)
        most = -(-wide // level)
        machines.exchange(sent=[most + 2 * most], received=[1 + 2])
        level = wide
    rows = [[(Fraction(2) ** (q[i] * k[j]), Fraction(2) ** (q[i] * k[j]) * v[j]) for j in range(tokens)] for i in range(tokens)]
    while len(rows[0]) > 1:
        parts = [[row[at:at + branching] for at in range(0, len(row), branching)] for row in rows]
        machines.exchange(sent=[2], received=[2 * len(part) for row in parts for part in row])
        rows = [[(sum(w for w, _ in part), sum(x for _, x in part)) for part in row] for row in parts]
    direct = [sum(Fraction(2) ** (q[i] * k[j]) * v[j] for j in range(tokens)) / sum(Fraction(2) ** (q[i] * k[j]) for j in range(tokens))
              for i in range(tokens)]
    if [row[0][1] / row[0][0] for row in rows] != direct:
        raise ArithmeticError("the protocol computes something else than attention")
    return machines.rounds


def rounds(case: Case, seed: int) -> Exact:
    """See `attention_rounds`."""
    return Exact(attention_rounds(case.tokens, case.branching, case.rng(seed)))


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
