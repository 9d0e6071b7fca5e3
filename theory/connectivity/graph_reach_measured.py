"""Evidence on reach beyond the plain network of `graph_attention`: ReLU attention with a growing stream, row read-outs, shortcuts."""
from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..values import Case, Exact
from .graph_attention import Array, clipped_states, distances, graphs, layer_at

if TYPE_CHECKING:
    import networkx as nx
    from flint import fmpq_mat


def relu_stream(g: nx.Graph, depth: int) -> list[fmpq_mat]:
    """Blocks of width n after L layers of ReLU attention (1/n) ReLU(h h^T) h, W = I, whose output is APPENDED to the stream h. Exact.

    The stream starts as one block, the adjacency matrix with self-loops, so after L layers it holds 2^L blocks.

    >>> import networkx as nx
    >>> len(relu_stream(nx.path_graph(3), 2))
    4
    """
    from flint import fmpq, fmpq_mat, fmpz_mat

    n = len(g)
    blocks = [fmpq_mat(fmpz_mat(np.asarray(next(clipped_states(g))).astype(int).tolist()))]
    for _ in range(depth):
        scores = fmpq_mat(n, n)
        for block in blocks:
            scores = scores + block * block.transpose()
        positive = fmpq_mat(n, n, [max(entry, fmpq(0)) / n for entry in scores.entries()])
        blocks = [*blocks, *(positive * block for block in blocks)]
    return blocks


def relu_reach(case: Case, seed: int) -> Exact:
    """Radius of the support of the sum of all blocks: distance reached, if every pair within it is reached, otherwise -1."""
    def seen(g: nx.Graph) -> Array:
        blocks = relu_stream(g, case.depth)
        total = blocks[0]
        for block in blocks[1:]:
            total = total + block
        return np.array([entry > 0 for entry in total.entries()], dtype=bool).reshape(len(g), len(g))
    return _radius(case, seed, seen)


def row_reach(case: Case, seed: int) -> Exact:
    """The same for pairs of vertices whose rows of the plain network's output have a positive inner product."""
    def seen(g: nx.Graph) -> Array:
        x = layer_at(clipped_states(g), case.depth)
        return np.asarray(x @ x.T > 0)
    return _radius(case, seed, seen)


def _radius(case: Case, seed: int, seen_by: Callable[[nx.Graph], Array]) -> Exact:
    """The radius of what is seen, if on every graph of the case it is a ball of the same radius; otherwise -1."""
    found = set()
    for g in graphs(case.family, case.diameter, case.rng(seed)):
        far, seen = distances(g), seen_by(g)
        reached = int(far[seen].max())
        found.add(reached if bool(seen[far <= reached].all()) else -1)
    return Exact(found.pop() if len(found) == 1 else -1)


def relu_powers(case: Case, seed: int) -> Exact:
    """How many powers of A occur, if they are the first odd ones A, A^3, A^5, ...; otherwise -1."""
    found = _exponents(case)
    return Exact(len(found) if found == set(range(1, 2 * len(found), 2)) else -1)


def relu_unbroken(case: Case, seed: int) -> Exact:
    """The largest J for which each of A, A^2, ..., A^J occurs."""
    found = _exponents(case)
    return Exact(next(j for j in count(1) if j not in found) - 1)


def _exponents(case: Case) -> set[int]:
    """Exponents j with a positive coefficient of A^j in some block of the stream, by running the network on polynomials in A.

    The stream starts as A, or as the two blocks I and A where the case says start="I A".
    """
    from flint import fmpq_poly

    starts = {"A": [fmpq_poly([0, 1])], "I A": [fmpq_poly([1]), fmpq_poly([0, 1])]}
    start = case.get("start", "A")
    if start not in starts:
        raise ValueError(f"start={start!r}: accepted are {', '.join(map(repr, starts))}")
    blocks = starts[start]
    for _ in range(case.depth):
        scores = fmpq_poly([0])
        for block in blocks:
            scores = scores + block * block
        blocks = [*blocks, *(scores * block for block in blocks)]
    return {j for block in blocks for j, c in enumerate(block.coeffs()) if c > 0}


def survivors(longest: int = 1) -> Callable[[Case, int], Exact]:
    """Non-negative weights tried for which one threshold on the output reads off reachability on every labelled graph tried.

    The graphs are two paths of diameter 3^L + `longest` each, in random labellings; the read-out adds up all blocks. The first choice of
    weights is the identity in every layer; no choice is tried twice.
    """
    def measured(case: Case, seed: int) -> Exact:
        rng = case.rng(seed)
        diameter = 3**case.depth + longest
        half = np.eye(diameter + 1, dtype=int) + np.eye(diameter + 1, k=1, dtype=int) + np.eye(diameter + 1, k=-1, dtype=int)
        n = 2 * len(half)
        adjacency = np.kron(np.eye(2, dtype=int), half).astype(object)
        together = np.kron(np.eye(2, dtype=int), np.ones_like(half)) > 0
        labellings = [rng.permutation(n) for _ in range(case.labellings)]
        alive = 0
        tried: set[tuple[Any, ...]] = set()
        while len(tried) < case.trials:
            weights = [_weight(n * 2**layer, int(rng.integers(6)) if tried else 0, rng) for layer in range(case.depth)]
            name = tuple(tuple(weight.ravel()) for weight in weights)
            if name in tried:
                continue
            tried.add(name)
            outputs = [_signed_output(adjacency[np.ix_(p, p)], weights) for p in labellings]
            joined = [together[np.ix_(p, p)] for p in labellings]
            least = min(out[same].min() for out, same in zip(outputs, joined, strict=True))
            most = max(out[~same].max() for out, same in zip(outputs, joined, strict=True))
            alive += bool(least > most)
        return Exact(alive)
    return measured


def surviving_supports(case: Case, seed: int) -> Exact:
    """Extremal supports of one layer's weights that no labelling of two paths refutes: the identity, and each single entry elsewhere.

    The identity is refuted by a pair of one component with entry 0, a single entry by a pair of two components with a positive one.
    """
    rng, n = case.rng(seed), case.vertices
    half = np.eye(n // 2, dtype=int) + np.eye(n // 2, k=1, dtype=int) + np.eye(n // 2, k=-1, dtype=int)
    alike = np.kron(np.eye(2, dtype=int), np.ones_like(half)) > 0
    orders = [rng.permutation(n) for _ in range(case.labellings)]
    tried = [(np.kron(np.eye(2, dtype=int), half)[np.ix_(p, p)], alike[np.ix_(p, p)]) for p in orders]
    alive = int(all((a @ a.T @ a)[same].all() for a, same in tried))
    for at in range(n * n):
        weight = np.zeros(n * n, dtype=int)
        weight[at] = 1
        weight = weight.reshape(n, n)
        if not np.trace(weight):
            alive += not any((a @ weight @ a.T @ a)[~same].any() for a, same in tried)
    return Exact(alive)


def _weight(size: int, kind: int, rng: np.random.Generator) -> Any:
    """Non-negative integer weights of kind 0 to 5: identity, diagonal, identity plus one entry, sparse, dense, constant."""
    eye = np.eye(size, dtype=int)
    lone = np.zeros((size, size), dtype=int)
    lone[rng.integers(size), rng.integers(size)] = 1
    kinds = [eye, eye * rng.integers(0, 3, size), 5 * eye + lone, rng.integers(0, 30, (size, size)) // 29, rng.integers(0, 4, (size, size)),
             np.ones((size, size), dtype=int)]
    return kinds[kind].astype(object)


def _signed_output(adjacency: Any, weights: list[Any]) -> Any:
    stream = adjacency
    for weight in weights:
        scores = stream @ weight @ stream.T
        stream = np.concatenate([stream, np.where(scores > 0, scores, 0) @ stream], axis=1)
    n = len(adjacency)
    return sum(stream[:, at:at + n] for at in range(0, stream.shape[1], n))


# --- shortcuts and layer counts ----------------------------------------------------------------------------------------------


def forest_components(case: Case, seed: int) -> Exact:
    """Components of a random forest, found by search: a random tree from which edges are removed at random.

    A case with closed=True has as many edges, but one of them closes a cycle: one tree edge more is removed.
    """
    import networkx as nx

    rng = case.rng(seed)
    tree = nx.random_labeled_tree(case.vertices, seed=int(rng.integers(2**31)))
    edges = list(tree.edges)
    closed = bool(case.get("closed", False))
    for at in rng.permutation(len(edges))[: len(edges) - case.edges + closed]:
        tree.remove_edge(*edges[at])
    if closed:
        part = max(nx.connected_components(tree), key=len)
        tree.add_edge(*next(iter(nx.non_edges(tree.subgraph(part)))))
    return Exact(nx.number_connected_components(tree))


def path_leaves(case: Case, seed: int) -> Exact:
    """Vertices of degree 1 in a union of paths of random lengths from 2 vertices on."""
    import networkx as nx

    rng = case.rng(seed)
    g = nx.disjoint_union_all([nx.path_graph(int(rng.integers(2, 9))) for _ in range(case.components)])
    return Exact(sum(degree == 1 for _, degree in g.degree))


def first_difference(case: Case, seed: int) -> Exact:
    """The least j at which the numbers of closed walks of length j differ between one 2m-cycle and two m-cycles."""
    import networkx as nx
    from flint import fmpz_mat

    m = case.cycle_length
    one, two = nx.cycle_graph(2 * m), nx.disjoint_union(nx.cycle_graph(m), nx.cycle_graph(m))
    a, b = (fmpz_mat(nx.to_numpy_array(g, dtype=int).tolist()) for g in (one, two))
    x, y = a, b
    for j in count(1):
        if sum(x[i, i] for i in range(2 * m)) != sum(y[i, i] for i in range(2 * m)):
            return Exact(j)
        x, y = x * a, y * b
    raise AssertionError("unreachable")


def length_max(case: Case, seed: int) -> Exact:
    """The largest n for which r layers per doubling of a length and s fixed layers fit into L, by search."""
    def fits(n: int) -> bool:
        layers, covered = case.fixed_layers, 1
        while covered < n:
            layers, covered = layers + case.per_doubling, 2 * covered
        return layers <= case.depth

    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Exact(low)
