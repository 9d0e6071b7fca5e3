"""Transformers against parallel machines and message passing (Sanford, Hsu & Telgarsky 2024):
rounds per layer, what one layer must carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from operator import add, mul

import numpy as np
from sympy import bell, ceiling, log

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq, Le
from ..claims.symbols import quantity, summaries, tokens, vertices

branching = quantity(
    "branching", "b", "children of a node of the tree by which machines broadcast and add up"
)
rounds = quantity(
    "rounds", r"R_{mpc}", "communication rounds in which machines simulate one layer of attention"
)
_VERSION = "arXiv:2402.09268v1"
_AFTER = f"after sanford2024, {_VERSION}, "
_LEVELS = ceiling(log(tokens, branching))
_TREES = {
    "quick": Case.grid(tokens=(2, 3, 8, 9), branching=(2, 3)),
    "theory": Case.grid(tokens=(16, 27, 28), branching=(2, 3, 5)),
}

# (i, j), which computes what token i gives to token j.
Machine = tuple[int, int]


def message_rounds(messages: Iterable[tuple[Machine, Machine, int]], capacity: int) -> int:
    """Rounds for messages (from, to, words) when no machine sends or receives more words in one.

    Words can be spread over ceil(load / capacity) rounds, the load the most that a machine sends or
    receives: edge colouring of a bipartite multigraph (Koenig).

    >>> message_rounds([((0, 0), (0, 1), 4)], 4), message_rounds([((0, 0), (0, 1), 5)], 4)
    (1, 2)
    """
    sent: Counter[Machine] = Counter()
    received: Counter[Machine] = Counter()
    for source, target, words in messages:
        sent[source] += words
        received[target] += words
    return -(-max([*sent.values(), *received.values()], default=0) // capacity)


def attention_rounds(case: Case, seed: int) -> int:
    """Rounds in which N^2 machines of 4b words, or of the capacity that the case gives, compute one
    attention layer (width 1, one head, weights 2^(q k)) exactly.

    Machine (i, i) starts with token i. Machine (i, j) learns q_i from (i, i) and (k_j, v_j) from
    (j, j), down trees of branching b, both at the same time. Then sums of weights and of weighted
    values go up to (i, i). Every message is a word that one machine holds and another one receives;
    nothing else is read. An ArithmeticError when the result is not attention computed directly.
    """
    n, capacity = case.tokens, case.get("capacity", 4 * case.branching)
    q, k, v = case.rng(seed).integers(-3, 4, (3, n)).tolist()
    queries = {(i, i): q[i] for i in range(n)}
    pairs = {(j, j): (k[j], v[j]) for j in range(n)}
    levels, rounds = list(_levels(n, case.branching)), 0
    for level in levels:
        down = []
        for line, (near, far) in product(range(n), level):
            # Position r of row i is machine (i, i + r), of column j machine (j + r, j), modulo N.
            source, target = (line, (line + near) % n), (line, (line + far) % n)
            queries[target] = queries[source]
            pairs[target[::-1]] = pairs[source[::-1]]
            down += [(source, target, 1), (source[::-1], target[::-1], 2)]
        rounds += message_rounds(down, capacity)
    sums = {}
    for at, query in queries.items():
        key, value = pairs[at]
        sums[at] = Fraction(2) ** (query * key), Fraction(2) ** (query * key) * value
    for level in reversed(levels):
        up = []
        for row, (near, far) in product(range(n), level):
            source, target = (row, (row + far) % n), (row, (row + near) % n)
            sums[target] = tuple(map(add, sums[target], sums.pop(source)))
            up.append((source, target, 2))
        rounds += message_rounds(up, capacity)
    direct = {}
    for i in range(n):
        weights = [Fraction(2) ** (q[i] * key) for key in k]
        direct[i, i] = sum(map(mul, weights, v)) / sum(weights)
    if {at: weighted / weight for at, (weight, weighted) in sums.items()} != direct:
        raise ArithmeticError("the protocol computes something else than attention")
    return rounds


def _levels(tokens: int, branching: int) -> Iterator[list[tuple[int, int]]]:
    """Edges of a tree on positions 0..N-1 with root 0, level by level: each position reached so far
    serves b - 1 new ones."""
    reached = 1
    while reached < tokens:
        new = range(reached, min(reached * branching, tokens))
        yield [((at - reached) // (branching - 1), at) for at in new]
        reached += len(new)


@claim(
    Le(rounds, 2 * _LEVELS),
    kind="construction",
    assumes={r"$b \geq 2$": lambda c: c.branching >= 2},
    cases=_TREES,
    source=Source("depthlaw", _AFTER + "Theorem C.1"),
    control=Control(
        Case(tokens=16, branching=4, capacity=8),
        "8 words in place of 16, where the way down sends 9 in a round",
    ),
    cited="Decides with which constant a bound on MPC rounds becomes a bound on layers.",
)
def mpc_rounds(case: Case, seed: int) -> Exact:
    r"""Two passes over a tree, $2 \lceil \log_b N \rceil$ rounds, are enough.

    For every $N$ and $b \geq 2$, $N^2$ machines of 4b words simulate one attention layer with one
    head of width 1 on $N$ tokens exactly in at most $2 \lceil \log_b N \rceil$ rounds, for weights
    $2^{q k}$: queries, keys and values go down, sums go up.

    The root of each tree is the token's own machine, which saves three rounds: Theorem C.1 prints
    $2 \lceil \log_b N \rceil + 3$ for machines of $s$ words, $b = \lfloor s/(4 m H) \rfloor$, a
    bound that this shorter protocol keeps; the printed protocol is not executed. Executed message
    by message: what a machine sends it has received, and its words in a round are counted. A word
    holds one number, however large. On exponents: a tree of branching $N^{\delta' - \delta}$ with
    $N^{1 + \alpha}$ leaves is $\lceil (1 + \alpha)/(\delta' - \delta) \rceil$ deep, whatever $N$
    is, hence the $O(L (1 + \alpha)/(\delta' - \delta))$ rounds of Theorem 3.4; the constant 4 in
    $b$ adds at most one level for large $N$.
    """
    return Exact(attention_rounds(case, seed))


@claim(
    Eq(summaries, bell(vertices)),
    cases={"quick": Case.grid(vertices=(1, 2, 3, 4, 5))},
    source=Source("depthlaw", "after sanford2024graph, arXiv:2405.18512, Theorem 6"),
    control=Control(
        Case(vertices=4), "partitions of one vertex less", Eq(summaries, bell(vertices - 1))
    ),
    cited=r"Decides whether $\log_2 \mathrm{Bell}(n)$ bits may be quoted as what one layer must "
    "carry.",
)
def one_layer_summaries(case: Case) -> Exact:
    r"""Deciding connectivity needs $\mathrm{Bell}(n)$ summaries of a set of edges.

    For every $n$, a set of edges on $n$ vertices needs $\mathrm{Bell}(n)$ different summaries, if
    connectivity of its union with any other set is to be decided from the summary and the other
    set. One layer passes on $H (m + 1)$ sums of $p$ bits, so
    $H (m + 1) p \geq \log_2 \mathrm{Bell}(n) = \Theta(n \log n)$.

    Every pair of edge sets is tried. The theorem, as reported, says $m H = \Omega(N)$ up to
    logarithms for edge tokens and one layer; this is the part of it that can be executed, for a
    read-out at one token.
    """
    import networkx as nx

    pairs = list(combinations(range(case.vertices), 2))
    sets = np.arange(2 ** len(pairs))
    connected = np.zeros(len(sets), dtype=bool)
    for chosen in range(len(sets)):
        g = nx.empty_graph(case.vertices)
        g.add_edges_from(pair for bit, pair in enumerate(pairs) if chosen >> bit & 1)
        connected[chosen] = nx.is_connected(g)
    unions = connected[sets[:, None] | sets[None, :]]
    return Exact(len(np.unique(np.packbits(unions, axis=1), axis=0)))
