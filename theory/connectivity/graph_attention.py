"""Softmax-free attention with identity weights on graphs, executed in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from ..claims.values import Case
from ..least_depth.graphs import distances as directed_distances

if TYPE_CHECKING:
    import networkx as nx

Array = NDArray[Any]

# Draws until a random graph has the diameter asked for; the sizes below accept about one in four.
_DRAWS = 10_000


def graph(family: str, diameter: int, rng: np.random.Generator) -> nx.Graph:
    """A graph whose largest finite distance is `diameter`, with randomly permuted vertices 0..n-1.

    Families: "path", "cycle" (odd), "two cycles", "grid", "barbell" (two 5-cliques joined by a
    path, from diameter 3 on), "star" (of diameter 2), "random tree" and "Erdos-Renyi" (drawn until
    they have the diameter), "karate club" (of diameter 5). A ValueError for any other.

    >>> len(graph("two cycles", 3, np.random.default_rng(0)))
    14
    """
    import networkx as nx

    def seed() -> int:
        return int(rng.integers(2**31))

    # Sizes at which the diameter is a common one: trees have diameter about 2 sqrt(n), sparse
    # random graphs some 8 at n = 40.
    d, half = diameter, diameter // 2
    build = {
        "path": lambda: nx.path_graph(d + 1),
        "cycle": lambda: nx.cycle_graph(2 * d + 1),
        "two cycles": lambda: one_and_two_cycles(2 * d + 1)[1],
        "grid": lambda: nx.convert_node_labels_to_integers(
            nx.grid_2d_graph(half + 1, d - half + 1)
        ),
        "barbell": lambda: nx.barbell_graph(5, max(d - 3, 0)),
        "star": lambda: nx.star_graph(6),
        "random tree": lambda: nx.random_labeled_tree(max(d + 1, d**2 // 4), seed=seed()),
        "Erdos-Renyi": lambda: nx.fast_gnp_random_graph(5 * d, 0.4 / d, seed=seed()),
        "karate club": nx.karate_club_graph,
    }
    if family not in build or d < 1:
        raise ValueError(f"{family!r} of diameter {d}: accepted are {', '.join(build)} from 1 on")
    for _ in range(_DRAWS if family in ("random tree", "Erdos-Renyi") else 1):
        adjacency = build[family]()
        if _largest_finite(distances(adjacency)) == diameter:
            order = rng.permutation(len(adjacency)).tolist()
            return nx.relabel_nodes(adjacency, dict(enumerate(order)))
    raise ValueError(
        f"no {family} graph with diameter {diameter} was found; "
        "the karate club has diameter 5, a star 2, a barbell 3 or more"
    )


def graphs(case: Case, seed: int) -> list[nx.Graph]:
    """The graphs of a case: for the family "all" every graph of at most 6 vertices, up to
    isomorphism, with the diameter of the case; otherwise one from `graph`.

    >>> [len(graphs(Case(family="all", diameter=diameter), 0)) for diameter in (1, 2, 3, 4, 5)]
    [23, 111, 57, 10, 1]
    """
    if case.family == "all":
        return [g for g, largest in _atlas() if largest == case.diameter]
    return [graph(case.family, case.diameter, case.rng(seed))]


@cache
def _atlas() -> list[tuple[nx.Graph, int]]:
    import networkx as nx

    return [(g, _largest_finite(distances(g))) for g in nx.graph_atlas_g() if 1 <= len(g) <= 6]


def common(values: Iterable[int]) -> int:
    """The one value that all graphs of a case have; -1 when they differ, which no claim allows."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else -1


def distances(g: nx.Graph) -> Array:
    """All distances by breadth-first search; n, longer than any path, between components."""
    far = np.array(
        directed_distances(len(g), [pair for u, v in g.edges for pair in ((u, v), (v, u))])
    )
    return np.where(far < 0, len(g), far)


def _largest_finite(far: Array) -> int:
    return int(far[far < len(far)].max())


def with_loops(g: nx.Graph) -> Array:
    """A + I, in integers."""
    import networkx as nx

    return nx.to_numpy_array(g, range(len(g)), dtype=int) + np.eye(len(g), dtype=int)


def integer_states(g: nx.Graph, *, residual: bool = False) -> Iterator[Array]:
    """X = A + I and then X -> X X^T X (plus X with the residual) without end, in Python integers,
    which count walks: their length triples with every layer."""
    x = fmpz_mat(with_loops(g).tolist())
    while True:
        yield np.array([[int(v) for v in row] for row in x.tolist()], dtype=object)
        y = x * x.transpose() * x
        x = x + y if residual else y


def clipped_states(g: nx.Graph) -> Iterator[Array]:
    """The same without residual, positive entries set to 1 after each layer: the same support. Sums
    stay below n^2, so float64 is exact for n < 2^26."""
    x = with_loops(g).astype(float)
    while True:
        yield x
        x = (x @ x.T @ x > 0).astype(float)


def layer_at(states: Iterator[Array], depth: int) -> Array:
    """The state after `depth` layers."""
    return next(islice(states, depth, None))


def radius(g: nx.Graph, seen: Array) -> int:
    """The largest distance of two vertices that see each other, if all within it do; else -1."""
    far = distances(g)
    reached = int(far[seen].max())
    return reached if seen[far <= reached].all() else -1


def minimal_depth(g: nx.Graph) -> int:
    """The first layer after which every two vertices of a component have a positive entry; n + 1
    when n layers are not enough.

    >>> import networkx as nx
    >>> [minimal_depth(nx.path_graph(n)) for n in (1, 2, 4, 5)]
    [0, 0, 1, 2]
    """
    connected = distances(g) < len(g)
    # Every layer sees at least one step farther, so a network that is right is right by layer n.
    layers = enumerate(islice(clipped_states(g), len(g) + 1))
    return next((layer for layer, x in layers if (x > 0)[connected].all()), len(g) + 1)


def one_and_two_cycles(length: int) -> tuple[nx.Graph, nx.Graph]:
    """One cycle of 2m vertices, and two of m."""
    import networkx as nx

    return (
        nx.cycle_graph(2 * length),
        nx.disjoint_union(nx.cycle_graph(length), nx.cycle_graph(length)),
    )


def cycles_told_apart(length: int, depth: int) -> bool:
    """Whether the rows after `depth` layers, read as multisets of integers, differ between one
    2m-cycle and two m-cycles, m at least 3."""
    states = (layer_at(integer_states(g), depth).tolist() for g in one_and_two_cycles(length))
    one, two = (sorted(sorted(row) for row in state) for state in states)
    return one != two
