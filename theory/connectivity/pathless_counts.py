"""Shortcuts in data: counts that answer "connected?" without any path, and data without them."""

from __future__ import annotations

from functools import partial
from itertools import count

from flint import fmpz_mat

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import edges, quantity, vertices
from .graph_attention import one_and_two_cycles

components = quantity("components", "c", "number of connected components of a graph")
leaves = quantity("leaves", "n_1", "number of vertices of degree 1", "nonnegative integer")
cycle_length = quantity(
    "cycle_length", "m", "length of one of two equal cycles, against one cycle twice as long"
)
first_difference = quantity(
    "first_difference",
    "j^*",
    "least length at which the numbers of closed walks of two graphs differ",
)

_shortcut = partial(claim, source=Source("depthlaw", "after paccagnella, Parts I to III"))


@_shortcut(
    Eq(components, vertices - edges),
    assumes={"no cycle": lambda c: not c.get("closed", False)},
    cases={
        "quick": (*Case.grid(vertices=20, edges=(0, 7, 19)), *Case.grid(vertices=(1, 2), edges=0)),
        "theory": Case.grid(vertices=200, edges=(1, 100, 199)),
    },
    control=Control(Case(vertices=20, edges=7, closed=True), "a graph with one cycle"),
    supports="trained_depth/connectivity_least_depth",
)
def forest_components(case: Case, seed: int) -> Exact:
    """A forest has n - |E| components: counting edges decides.

    Every forest with n vertices and |E| edges has n - |E| components, so that a count of edges
    answers 'connected?' without any path.

    A hazard when chains or trees are used as data. The same count says nothing about cycles.
    """
    import networkx as nx

    rng = case.rng(seed)
    tree = nx.random_labeled_tree(case.vertices, seed=int(rng.integers(2**31)))
    kept = list(tree.edges)
    # As many edges in a graph that is no forest: one closes a cycle, one more is removed.
    closed = bool(case.get("closed", False))
    for at in rng.permutation(len(kept))[: len(kept) - case.edges + closed]:
        tree.remove_edge(*kept[at])
    if closed:
        part = max(nx.connected_components(tree), key=len)
        tree.add_edge(*next(iter(nx.non_edges(tree.subgraph(part)))))
    return Exact(nx.number_connected_components(tree))


@_shortcut(
    Eq(leaves, 2 * components),
    cases={"quick": Case.grid(components=(1, 2, 5, 12))},
    control=Control(Case(components=5), "one end per path", Eq(leaves, components)),
    supports="trained_depth/connectivity_least_depth",
)
def path_leaves(case: Case, seed: int) -> Exact:
    """A union of paths has two vertices of degree 1 per component.

    Every union of c paths of at least two vertices has 2c vertices of degree 1.

    So a count of degrees answers 'connected?' on such data, without any path.
    """
    import networkx as nx

    rng = case.rng(seed)
    paths = [nx.path_graph(int(rng.integers(2, 9))) for _ in range(case.components)]
    return Exact(sum(degree == 1 for _, degree in nx.disjoint_union_all(paths).degree))


@_shortcut(
    Eq(first_difference, cycle_length),
    cases={
        "quick": Case.grid(cycle_length=(3, 4, 7, 12)),
        "theory": Case.grid(cycle_length=(25, 40)),
    },
    control=Control(
        Case(cycle_length=7),
        "the longer cycle closes at 2m",
        Eq(first_difference, 2 * cycle_length),
    ),
    supports="trained_depth/cycles_wall",
)
def cycles_same_counts(case: Case) -> Exact:
    """Closed walks shorter than m do not tell the cycles apart.

    For every m >= 3, one 2m-cycle and two m-cycles have equally many closed walks of every length
    below m, and not of length m.

    Cycles against cycles leave no count of edges, degrees or short walks to read off: a test
    without that shortcut.
    """
    import networkx as nx

    one, two = (
        fmpz_mat(nx.to_numpy_array(g, dtype=int).tolist())
        for g in one_and_two_cycles(case.cycle_length)
    )
    x, y = one, two
    for j in count(1):
        if sum(x[i, i] - y[i, i] for i in range(2 * case.cycle_length)) != 0:
            return Exact(j)
        x, y = x * one, y * two
    raise AssertionError("unreachable")
