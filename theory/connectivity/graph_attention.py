"""Softmax-free attention with identity weights on graphs, executed in exact arithmetic, and pointer doubling on padding tokens.

Evidence for `connectivity`: distances come from breadth-first search, outputs from integers, never from 3^L.
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx

Array = NDArray[Any]

# Draws until a random graph has the diameter asked for; the sizes below accept about one draw in four.
_DRAWS = 10_000


def graph(family: str, diameter: int, rng: np.random.Generator) -> nx.Graph:
    """A graph whose largest finite distance is `diameter`, with randomly permuted vertices 0..n-1.

    Args:
        family: "path", "cycle" (odd), "two cycles", "grid", "barbell" (two 5-cliques joined by a path, from diameter 3 on), "star" (of
            diameter 2), "random tree" and "Erdos-Renyi" (drawn until they have the diameter), or "karate club" (of diameter 5).
        diameter: at least 1.
        rng: source of the vertex order and of the random families.

    Raises:
        ValueError: for an unknown family, or a diameter that the family does not have.

    >>> len(graph("two cycles", 3, np.random.default_rng(0)))
    14
    """
    import networkx as nx

    if diameter < 1:
        raise ValueError(f"diameter={diameter}: accepted are whole numbers from 1 on")
    # Sizes at which the diameter is a common one: trees have diameter about 2 sqrt(n), sparse random graphs some 8 at n = 40.
    build = {
        "path": lambda: nx.path_graph(diameter + 1),
        "cycle": lambda: nx.cycle_graph(2 * diameter + 1),
        "two cycles": lambda: nx.disjoint_union(nx.cycle_graph(2 * diameter + 1), nx.cycle_graph(2 * diameter + 1)),
        "grid": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(diameter // 2 + 1, diameter - diameter // 2 + 1)),
        "barbell": lambda: nx.barbell_graph(5, max(diameter - 3, 0)),
        "star": lambda: nx.star_graph(6),
        "random tree": lambda: nx.random_labeled_tree(max(diameter + 1, diameter**2 // 4), seed=int(rng.integers(2**31))),
        "Erdos-Renyi": lambda: nx.fast_gnp_random_graph(5 * diameter, 0.4 / diameter, seed=int(rng.integers(2**31))),
        "karate club": nx.karate_club_graph,
    }
    if family not in build:
        raise ValueError(f"family={family!r}: accepted are {', '.join(build)}")
    for _ in range(_DRAWS if family in ("random tree", "Erdos-Renyi") else 1):
        found = build[family]()
        if _largest_finite(distances(found)) == diameter:
            order = rng.permutation(len(found)).tolist()
            return nx.relabel_nodes(found, dict(enumerate(order)))
    raise ValueError(f"no {family} graph with diameter {diameter} was found; the karate club has diameter 5, a star 2, a barbell 3 or more")


def graphs(family: str, diameter: int, rng: np.random.Generator) -> list[nx.Graph]:
    """The graphs of a case: for the family "all" every graph of at most 6 vertices, up to isomorphism, otherwise one from `graph`.

    >>> [len(graphs("all", diameter, np.random.default_rng(0))) for diameter in (1, 2, 3, 4, 5)]
    [23, 111, 57, 10, 1]
    """
    return [g for g, largest in _atlas() if largest == diameter] if family == "all" else [graph(family, diameter, rng)]


@cache
def _atlas() -> list[tuple[nx.Graph, int]]:
    import networkx as nx

    return [(g, _largest_finite(distances(g))) for g in nx.graph_atlas_g() if 1 <= len(g) <= 6]


def distances(g: nx.Graph) -> Array:
    """All distances by breadth-first search; n, which is longer than any path, between different components.

    >>> import networkx as nx
    >>> distances(nx.path_graph(3)).tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    import networkx as nx

    table = np.full((len(g), len(g)), len(g))
    for source, row in nx.all_pairs_shortest_path_length(g):
        for target, distance in row.items():
            table[source, target] = distance
    return table


def integer_states(g: nx.Graph, *, residual: bool = False) -> Iterator[Array]:
    """X = A + I and then X -> X X^T X (plus X with the residual) without end, in Python integers: entries count walks.

    Cost: two n x n products a layer of integers whose length triples with every layer.

    >>> import networkx as nx
    >>> layer_at(integer_states(nx.path_graph(2)), 4).max() == 2**80
    True
    """
    from flint import fmpz_mat

    x = fmpz_mat(_with_loops(g).tolist())
    while True:
        yield np.array([[int(v) for v in row] for row in x.tolist()], dtype=object)
        y = x * x.transpose() * x
        x = x + y if residual else y


def clipped_states(g: nx.Graph) -> Iterator[Array]:
    """The same without residual, with every positive entry set to 1 after each layer, which keeps the support.

    Sums stay below n^2, so float64 is exact for n < 2^26.
    """
    x = _with_loops(g).astype(float)
    while True:
        yield x
        x = (x @ x.T @ x > 0).astype(float)


def layer_at(states: Iterator[Array], depth: int) -> Array:
    """The state after `depth` layers."""
    return next(islice(states, depth, None))


def radii(g: nx.Graph, depth: int, *, residual: bool = False) -> tuple[int, int]:
    """How far `depth` layers see: (every pair up to this distance has a positive entry, no pair beyond this distance has one).

    The support is a ball of the metric exactly when the two agree.

    >>> import networkx as nx
    >>> radii(nx.path_graph(20), 1)
    (3, 3)
    """
    far, seen = distances(g), layer_at(integer_states(g, residual=residual), depth) > 0
    finite = far < len(g)
    missed = far[finite & ~seen]
    return (int(missed.min()) - 1 if missed.size else _largest_finite(far)), int(far[seen].max())


def minimal_depth(g: nx.Graph) -> int:
    """The first layer after which every two vertices of a component have a positive entry; n + 1 when n layers are not enough.

    >>> import networkx as nx
    >>> [minimal_depth(nx.path_graph(n)) for n in (1, 2, 4, 5)]
    [0, 0, 1, 2]
    """
    connected = distances(g) < len(g)
    # Every layer sees at least one step farther, so a network that is right is right by layer n.
    layers = enumerate(islice(clipped_states(g), len(g) + 1))
    return next((layer for layer, x in layers if (x > 0)[connected].all()), len(g) + 1)


def cycles_told_apart(length: int, depth: int) -> bool:
    """Whether the rows after `depth` layers, read as multisets of integers, differ between one 2m-cycle and two m-cycles.

    Args:
        length: m, at least 3.
        depth: L.

    >>> [cycles_told_apart(m, 1) for m in (6, 7)]
    [True, False]
    """
    import networkx as nx

    one = nx.cycle_graph(2 * length)
    two = nx.disjoint_union(nx.cycle_graph(length), nx.cycle_graph(length))
    a, b = (layer_at(integer_states(g), depth) for g in (one, two))
    rows_of_a, rows_of_b = (sorted(sorted(row) for row in x.tolist()) for x in (a, b))
    return rows_of_a != rows_of_b


def directed_graph(family: str, vertices: int, rng: np.random.Generator) -> nx.DiGraph:
    """A directed graph with n vertices: "directed path", "directed cycle", "path" (both directions) or "random digraph".

    Raises:
        ValueError: for another family.
    """
    import networkx as nx

    build = {
        "directed path": lambda: nx.path_graph(vertices, create_using=nx.DiGraph),
        "directed cycle": lambda: nx.cycle_graph(vertices, create_using=nx.DiGraph),
        "path": lambda: nx.path_graph(vertices).to_directed(),
        "random digraph": lambda: nx.fast_gnp_random_graph(vertices, 1.5 / vertices, seed=int(rng.integers(2**31)), directed=True),
    }
    if family not in build:
        raise ValueError(f"family={family!r}: accepted are {', '.join(build)}")
    return build[family]()


def directed_graphs(family: str, vertices: int, rng: np.random.Generator) -> list[nx.DiGraph]:
    """The graphs of a case: for the family "all" every labelled directed graph with n vertices, otherwise one from `directed_graph`.

    Undirected graphs are among them, with every edge in both directions.

    >>> [len(directed_graphs("all", n, np.random.default_rng(0))) for n in (1, 2, 3)]
    [1, 4, 64]
    """
    import networkx as nx

    if family != "all":
        return [directed_graph(family, vertices, rng)]
    pairs, found = list(permutations(range(vertices), 2)), []
    for chosen in range(2 ** len(pairs)):
        g = nx.empty_graph(vertices, create_using=nx.DiGraph)
        g.add_edges_from(pair for bit, pair in enumerate(pairs) if chosen >> bit & 1)
        found.append(g)
    return found


def doubling_layers(g: nx.DiGraph) -> int:
    """Layers of the repeated block of merrill2025 until every reachable pair is known: two per doubling; 2(n + 1) when never.

    The first layer of the block sets C(i,k,j) = B(i,k) and B(k,j) on n^3 padding tokens, the second B(i,j) = or_k C(i,k,j).

    >>> import networkx as nx
    >>> doubling_layers(nx.path_graph(5, create_using=nx.DiGraph))
    4
    """
    import networkx as nx

    truth = np.eye(len(g), dtype=bool)
    for source in g:
        truth[source, list(nx.descendants(g, source))] = True
    known: Array = _with_loops(g) > 0
    layers = 0
    while (known != truth).any() and layers <= 2 * len(g):
        padding: Array = known[:, :, None] & known[None, :, :]
        layers += 1
        known = np.asarray(padding.any(axis=1))
        layers += 1
    return layers


def _with_loops(g: nx.Graph) -> Array:
    matrix = np.eye(len(g), dtype=int)
    for u, v in g.edges:
        matrix[u, v] = 1
        if not g.is_directed():
            matrix[v, u] = 1
    return matrix


def _largest_finite(far: Array) -> int:
    return int(far[far < len(far)].max())
