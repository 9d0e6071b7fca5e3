"""Transformers against parallel machines and message passing: rounds per layer, what one layer must carry, when bounds are vacuous."""
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from ..values import Case

__all__ = ["claims", "rounds_per_layer"]

_SANFORD = "arXiv:2402.09268v1"


def rounds_per_layer(tokens: int, branching: int) -> int:
    """2 ceil(log_b N) + 3: rounds that the printed MPC protocol spends on one transformer layer with N tokens. Exact.

    For every mask; b = floor(s/(4 m H)) for machines of s words and H heads of width m.

    Args:
        tokens: N, at least 1.
        branching: b, at least 2.

    Raises:
        ValueError: for anything else.

    >>> rounds_per_layer(1000, 10), rounds_per_layer(1, 2)
    (9, 3)

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Theorem C.1.
    """
    def whole(name: str, value: int, low: int) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            number = low - 1
        if isinstance(value, bool) or number < low:
            raise ValueError(f"{name}={value!r}: accepted are whole numbers from {low} on")
        return number

    target, base, depth, width = whole("tokens", tokens, 1), whole("branching", branching, 2), 0, 1
    while width < target:
        depth, width = depth + 1, width * base
    return 2 * depth + 3


def claims() -> Iterator[Any]:
    """The claims of this module."""
    yield from _round_claims()
    yield from _one_layer_claims()


def _round_claims() -> Iterator[Any]:
    from sympy import Eq, Le, ceiling, log

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .parallel_computation_measured import rounds, tree_depth

    N, b, used = symbol("tokens"), symbol("branching"), symbol("rounds")
    alpha, gap, depth = symbol("token_excess"), symbol("memory_gap"), symbol("tree_depth")
    levels = ceiling(log(N) / log(b))
    after = f"after sanford2024, {_SANFORD}, "
    shared: dict[str, Any] = {"holds_for": "all", "measured": rounds,
                              "grid": {"quick": Case.grid(tokens=(2, 3, 8, 9), branching=(2, 3)),
                                       "theory": Case.grid(tokens=(16, 27, 28), branching=(2, 3, 5))}}
    yield Claim(
        key="connectivity/mpc_rounds_printed", title="machines simulate a layer in 2 ceil(log_b N) + 3 rounds",
        text="For every N and b, N^2 machines of s words, b = floor(s/(4 m H)), simulate one attention layer on N tokens exactly in at "
              "most 2 ceil(log_b N) + 3 rounds. Executed for one head of width 1 with weights 2^(q k).",
        statement=Le(used, 2 * levels + 3), source=Source("sanford2024", "Theorem C.1", _SANFORD), wording="printed", kind="construction",
        control=Control(Case(tokens=8, branching=2, capacity=1), "machines that send and receive one word in a round need 15"),
        note="Executed is the shorter protocol of connectivity/mpc_rounds, which shows the printed bound, not the printed protocol. A word "
             "holds one number, however large.", **shared)
    yield Claim(
        key="connectivity/mpc_rounds", title="two passes over a tree, 2 ceil(log_b N) rounds, are enough",
        text="For every N and b, N^2 machines of 4b words simulate one attention layer with one head of width 1 on N tokens exactly in "
              "2 ceil(log_b N) rounds, for weights 2^(q k): queries, keys and values go down, sums go up.",
        statement=Eq(used, 2 * levels), source=Source("depthlaw", after + "Theorem C.1"), wording="derived", kind="construction",
        control=Control(Case(tokens=8, branching=2, capacity=2), "less than the 3 words that the way down sends in a round"),
        note="The root of each tree is the token's own machine, which saves the printed three rounds. Executed message by message: what a "
             "machine sends it has received, and its words in a round are counted. A word holds one number, however large.", **shared)
    yield Claim(
        key="connectivity/mpc_depth_exponent", title="rounds per layer depend on exponents only: ceil((1 + alpha)/(delta' - delta))",
        text="For every alpha >= 0 and 0 < delta' - delta < 1, and every N for which the powers are whole, a tree of branching "
              "N^(delta' - delta) with N^(1 + alpha) leaves has depth ceil((1 + alpha)/(delta' - delta)), whatever N is.",
        statement=Eq(depth, ceiling((1 + alpha) / gap)), source=Source("depthlaw", after + "Theorems 3.4 and C.1"),
        wording="derived", kind="identity", holds_for="all", measured=tree_depth,
        grid={"quick": Case.grid(token_excess=("0", "1/2", "1"), memory_gap=("1/2", "1/3", "2/5", "1/10"))},
        control=Control(Case(token_excess="0", memory_gap="1/3"), "twice as deep", Eq(depth, ceiling(2 * (1 + alpha) / gap))),
        note="Hence L layers take O(L (1 + alpha)/(delta' - delta)) rounds, as printed. The constant 4 in b adds at most one level for "
             "large N.")


def _one_layer_claims() -> Iterator[Any]:
    from sympy import Eq, bell

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .parallel_computation_measured import edge_summaries, edges_min

    n, L, m, found = symbol("vertices"), symbol("depth"), symbol("width"), symbol("summaries")
    yield Claim(
        key="connectivity/one_layer_summaries", title="deciding connectivity needs Bell(n) summaries of a set of edges",
        text="For every n, a set of edges on n vertices needs Bell(n) different summaries, if connectivity of its union with any other "
              "set is to be decided from the summary and the other set. One layer passes on H (m + 1) sums of p bits, so H (m + 1) p >= "
              "log2 Bell(n) = Theta(n log n).",
        statement=Eq(found, bell(n)), source=Source("depthlaw", "after sanford2024graph, arXiv:2405.18512, Theorem 6"),
        wording="derived", kind="identity", holds_for="all", measured=edge_summaries, grid={"quick": Case.grid(vertices=(1, 2, 3, 4, 5))},
        control=Control(Case(vertices=4), "partitions of one vertex less", Eq(found, bell(n - 1))),
        note="Every pair of edge sets is tried. The theorem, as reported, says m H = Omega(N) up to logarithms for edge tokens and one "
             "layer; this is the part of it that can be executed, for a read-out at one token.")
    yield Claim(
        key="connectivity/message_passing_bound_vacuous", title="with constant 1, no GNN is excluded up to L^4 m^2 edges",
        text="If constant and logarithms are taken as 1, the least number of edges at which message passing with L layers of width m is "
              "excluded from deciding whether a subgraph is connected or a spanning tree is L^4 m^2 + 1.",
        statement=Eq(symbol("edges_min"), L**4 * m**2 + 1), source=Source("depthlaw", f"after sanford2024, {_SANFORD}, Theorem 5.1"),
        wording="derived", kind="threshold", holds_for="all", measured=edges_min, grid={"quick": Case.grid(depth=(1, 2, 6), width=(1, 16, 128))},
        control=Control(Case(depth=2, width=16), "the square of the square root", Eq(symbol("edges_min"), L**2 * m + 1)),
        note="The theorem gives neither the constant nor the logarithms; 1 is an assumption. A net of 4 layers and width 128 is excluded "
             "only beyond 4.2 million edges.")
