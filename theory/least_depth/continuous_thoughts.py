"""Directed reachability by continuous thoughts: nets of two layers, run exactly.

The prompt: a sink, then for each edge three tokens (its source, its target, a mark), then a start.
Each layer has heads of averaging-hard attention with a causal mask (the mean over all tokens of
largest score) and an MLP of one hidden layer of ReLUs, both added to the stream. A block of what
the last token holds in the end is the next thought: a token of its own, which is appended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, permutations, product
from typing import Any

import numpy as np
from sympy import ceiling, log

from ..atlas.tasks import reachability
from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.attention import AttentionNet
from ..nets.batched import thoughts
from ..nets.builder import Body, Stream
from ..nets.classes import in_class
from ..nets.right import right_on
from .graphs import Edge, all_graphs, distances

thoughts_needed = quantity(
    "thoughts_needed",
    r"t^*",
    "least number of thoughts after which every question is answered; -1 for none",
    "integer",
)
distance = quantity("distance", "D", "largest distance of two vertices that is asked for")

Unit = tuple[Mapping[str, Any], int, str | Mapping[str, int]]

# Up to so many vertices the net is also asked, on all graphs, as the task of the atlas has it.
WRITTEN = 3
# Drawn graphs have no more edges.
MOST_EDGES = 24


def _names(**sizes: int) -> list[str]:
    """Coordinates: of every token a one and whether it is an edge's mark, or the sink; and blocks
    of so many numbers."""
    return ["1", "edge", "sink", *(f"{name} {i}" for name in sizes for i in range(sizes[name]))]


def _copies(stream: Stream, vertices: int) -> list[Body]:
    """Two heads that copy names from two tokens before and from the one before.

    The score of the token at j for one at i is 2 (i - back) j - j^2, largest at j = i - back.
    """
    return [
        stream.head(
            "average",
            "causal",
            [{"i": 2, "1": -2 * back}, {"1": -1}],
            [{"i": 1}, {"i^2": 1}],
            {f"name {v}": f"{end} seen {v}" for v in range(vertices)},
        )
        for back, end in ((2, "source"), (1, "target"))
    ]


def _net(
    names: Sequence[str],
    vertices: int,
    starts: Mapping[str, Mapping[str, int]],
    layers: Callable[[Stream], Sequence[Body]],
    steps: int,
    target: int | None,
) -> AttentionNet:
    """The net whose next thought is its block "next", put where the block "thought" is. `starts` is
    what thoughts start from, by letter; it answers whether the number `target` of its last thought
    is positive, or is read off all of them."""
    stream = Stream(names, {"i": "i", "i^2": "i^2"})
    held = [name for name in names if name.startswith("thought")]
    letters = [str(vertex + 1) for vertex in range(vertices)]
    every = stream.matrix([{name: 1} for name in held])
    return stream.net(
        [*letters, "|", *starts],
        {".": {"1": 1, "sink": 1}, "|": {"1": 1, "edge": 1}}
        | {letter: {"1": 1, f"name {v}": 1} for v, letter in enumerate(letters)}
        | {start: {"1": 1, **row} for start, row in starts.items()},
        start=".",
        layers=layers(stream),
        thoughts={
            "steps": steps,
            "matrix": stream.matrix(
                [{name.replace("thought", "next"): int(name in held)} for name in names]
            ),
            "add": stream.matrix([{"1": 1}])[0][: len(names)],
        },
        **({"labels": held, "read": every} if target is None else {"read": every[target]}),
    )


def _one_or_none(names: Sequence[str], i: int, bent: int = -1) -> list[Unit]:
    """ReLU(y) - ReLU(y - 1) of the sum y of what several blocks hold: 1 where that is 1 or more."""
    summed = {f"{name} {i}": 1 for name in names}
    return [(summed, 0, f"next {i}"), (summed, -1, {f"next {i}": bent})]


@cache
def vertex_thoughts(
    vertices: int, edges: int, steps: int = 1, target: int | None = None, threshold: bool = True
) -> AttentionNet:
    """The net whose thoughts have one number for each vertex: 1 where it has been reached.

    Layer 1: the mark of an edge copies its source and its target; ReLUs keep both at marks alone.
    Layer 2: a thought scores an edge 1, or 3 if it holds the source, and the sink 2; it finds the
    mean of the targets it attends to, times the number of edges, so that each counts 1 or more.
    Without the threshold there is no second ReLU.
    """
    each, ends = range(vertices), ("source", "target")
    blocks = ("name", "source seen", "target seen", *ends, "thought", "found", "next")

    def layers(stream: Stream) -> list[Body]:
        marked = [
            ({f"{end} seen {v}": 1, "edge": 1}, -1, f"{end} {v}") for end in ends for v in each
        ]
        copy = {"heads": _copies(stream, vertices), "mlp": stream.mlp(marked)}
        found = stream.head(
            "average",
            "causal",
            [*({f"thought {v}": 2} for v in each), {"1": 1}],
            [*({f"source {v}": 1} for v in each), {"edge": 1, "sink": 2}],
            [({f"target {v}": edges}, f"found {v}") for v in each],
        )
        bent = -1 if threshold else 0
        units = [unit for v in each for unit in _one_or_none(("thought", "found"), v, bent)]
        return [copy, {"heads": [found], "mlp": stream.mlp(units)}]

    starts = {f">{v + 1}": {f"thought {v}": 1} for v in each}
    return _net(_names(**dict.fromkeys(blocks, vertices)), vertices, starts, layers, steps, target)


@cache
def pair_thoughts(vertices: int, edges: int) -> AttentionNet:
    """The net whose thoughts have one number for each pair: 1 where a path is known.

    Layer 1: the mark of an edge copies its source and its target, and ReLUs make the pair of both;
    n^3 ReLUs join paths of a thought: i to k and k to j. Layer 2: a thought finds the mean of all
    edges, times their number. The start knows the path from each vertex to itself.
    """
    n = vertices
    pairs, held = range(n * n), ("thought", "joined", "found")
    names = _names(
        **dict.fromkeys(("name", "source seen", "target seen"), n),
        **dict.fromkeys(("pair", *held, "next"), n * n),
    )

    def layers(stream: Stream) -> list[Body]:
        units: list[Unit] = [
            ({f"source seen {p // n}": 1, f"target seen {p % n}": 1, "edge": 1}, -2, f"pair {p}")
            for p in pairs
        ]
        for i, k, j in product(range(n), repeat=3):
            path = Counter((f"thought {n * i + k}", f"thought {n * k + j}"))
            units.append((path, -1, f"joined {n * i + j}"))
        found = stream.head(
            "average",
            "causal",
            [{"1": 1}],
            [{"edge": 2, "sink": 1}],
            [({f"pair {p}": edges}, f"found {p}") for p in pairs],
        )
        gathered = [unit for p in pairs for unit in _one_or_none(held, p)]
        return [
            {"heads": _copies(stream, n), "mlp": stream.mlp(units)},
            {"heads": [found], "mlp": stream.mlp(gathered)},
        ]

    known = {f"thought {n * v + v}": 1 for v in range(n)}
    return _net(names, n, {">": known}, layers, 1, None)


def prompts(net: AttentionNet, graph: Iterable[Edge]) -> list[tuple[str, ...]]:
    """The words of a graph, one for each start."""
    edges = [letter for u, v in graph for letter in (str(u + 1), str(v + 1), "|")]
    return [(*edges, start) for start in net.alphabet if start.startswith(">")]


# --- graphs ---


def drawn_graphs(
    rng: np.random.Generator, vertices: int, far: int, many: int
) -> Iterator[list[Edge]]:
    """Graphs with two vertices at this distance, names and edges in a drawn order.

    Every vertex has a level; 0 to `far` occur along a path. No edge goes up more than one level, so
    nothing is shorter than the path.
    """
    for _ in range(many):
        names = rng.permutation(vertices).tolist()
        levels = [*range(far + 1), *rng.integers(0, far + 1, vertices - far - 1).tolist()]
        path = [(i, i + 1) for i in range(far)]
        others = [
            (i, j)
            for i, j in permutations(range(vertices), 2)
            if levels[j] <= levels[i] + 1 and (i, j) not in path
        ]
        picked = [edge for edge in others if rng.random() < 1 / 6][: MOST_EDGES - far]
        edges = [(names[i], names[j]) for i, j in path + picked]
        yield [edges[k] for k in rng.permutation(len(edges))]


Said = tuple[np.ndarray[Any, Any], Iterable[np.ndarray[Any, Any]]]


def _said(net: AttentionNet, vertices: int, graphs: Iterable[Sequence[Edge]]) -> Iterator[Said]:
    """The distances of graphs with equally many edges, and after 0, 1, ... thoughts which numbers
    are positive."""
    groups: dict[int, list[Sequence[Edge]]] = {}
    for graph in graphs:
        groups.setdefault(len(graph), []).append(graph)
    words = [[word for graph in some for word in prompts(net, graph)] for some in groups.values()]
    for some, after in zip(groups.values(), thoughts(net, words), strict=True):
        apart = np.array([distances(vertices, graph) for graph in some])
        yield (
            apart,
            (np.reshape([[x > 0 for x in row] for row in held], apart.shape) for held in after),
        )


@lru_cache(4)
def _said_of_all(net: AttentionNet, vertices: int) -> list[Said]:
    """The same of all graphs, for as many thoughts as some distance asks for."""
    said = _said(net, vertices, all_graphs(vertices))
    return [(apart, [*islice(after, vertices + 1)]) for apart, after in said]


def least_thoughts(
    net: AttentionNet, vertices: int, graphs: Iterable[Sequence[Edge]] | None, far: int
) -> int:
    """The least number of thoughts after which a positive number says, of every pair of vertices at
    most so far apart, that a path leads there, and of no pair without a path, of these graphs or
    all; -1 if not after far + 1 thoughts. A ValueError where no two vertices are so far apart."""
    right, seen = [True] * (far + 2), False
    every = _said_of_all(net, vertices) if graphs is None else _said(net, vertices, graphs)
    for apart, after in every:
        asked = apart <= far
        seen = seen or bool((apart == far).any())
        for count, says in zip(range(far + 2), after, strict=False):
            right[count] &= bool((says == (apart >= 0))[asked].all())
    if not seen:
        raise ValueError(f"no two vertices are {far} apart")
    return right.index(True) if True in right else -1


# --- claims ---


def most_edges(vertices: int) -> int:
    """The most edges of a graph with so many vertices, all or drawn."""
    return min(vertices * (vertices - 1), MOST_EDGES)


def vertex_net(case: Case) -> AttentionNet:
    """`vertex_thoughts` with as many thoughts as the distance, read at the first vertex."""
    return vertex_thoughts(case.vertices, most_edges(case.vertices), case.distance, target=0)


def _thoughts(case: Case, seed: int, net: AttentionNet) -> Exact:
    graphs = None
    if case.drawn:
        graphs = drawn_graphs(case.rng(seed), case.vertices, case.distance, case.drawn)
    return Exact(least_thoughts(net, case.vertices, graphs, case.distance))


# The field `drawn` is the number of drawn graphs; 0 stands for all graphs of so many vertices.
_DRAWN = tuple(
    Case(distance=far, vertices=n, drawn=20)
    for far, n in ((1, 5), (2, 5), (3, 6), (4, 6), (5, 6), (6, 8), (7, 8))
)
_ALL = tuple(Case(distance=far, vertices=n, drawn=0) for n in (2, 3, 4) for far in range(1, n))
_CASES = {
    "quick": (*(case for case in _ALL if case.vertices < 4), *_DRAWN),
    "theory": (
        *(case for case in _ALL if case.vertices == 4),
        *Case.grid(distance=(5, 7), vertices=8, drawn=60),
        Case(distance=9, vertices=10, drawn=10),
    ),
    "full": (
        *Case.grid(distance=(1, 2, 3, 4, 6), vertices=8, drawn=60),
        Case(distance=8, vertices=10, drawn=10),
    ),
}


@claim(
    Eq(thoughts_needed, distance),
    source=Source("depthlaw", "after zhu2025, arXiv:2505.12514v3, abstract: $D$ steps"),
    kind="threshold",
    cases=_CASES,
    control=Control(
        Case(distance=3, vertices=4, drawn=40),
        "without the second ReLU a thought is no longer uniform over what it holds, and attends to "
        "the edges of its heaviest vertices alone",
        measured=lambda case, seed: _thoughts(
            case, seed, vertex_thoughts(case.vertices, most_edges(case.vertices), threshold=False)
        ),
    ),
    cited="Decides whether two layers search a graph breadth-first by thoughts that are vectors.",
)
def thoughts_of_vertices(case: Case, seed: int) -> Exact:
    r"""Thoughts of one number a vertex reach distance $D$ in $D$ thoughts.

    For every $n$ there are two layers of averaging-hard attention with ReLUs, of a width that is
    linear in $n$, whose thoughts are vectors of $n$ numbers 0 and 1, such that for every directed
    graph of $n$ vertices the least number of thoughts after which every pair of vertices at
    distance at most $D$ is told from every pair without a path is $D$, if some pair is that far
    apart.

    One net for all graphs of $n$ vertices and all starts, with whole numbers as weights, run token
    by token on a sink, three tokens for an edge, and a start; the read-out asks whether the number
    of the target is positive. Its weights break nothing of the class at any size that is run; that
    the width is linear in $n$ is words. All graphs of up to four vertices (4,096 of four), and
    drawn ones of at most 24 edges in a drawn order. A factor as large as the number of edges lets
    each vertex that is found count. The weights are ours: the theorem
    of zhu2025 was not read; its abstract says that $D$ steps suffice, $D$ the diameter, and that a
    thought is a superposition of frontiers. That fewer thoughts fail is said of this net alone;
    with $n^2$ numbers fewer are enough (least_depth/thoughts_of_pairs). Without the sink a thought
    with no edge to follow attends to all edges; without layer 1 no edge is ever found
    (tests/theory/test_least_depth_thoughts.py). Without the second ReLU the net still does all
    graphs of three vertices, but not those of four.
    """
    net = vertex_net(case)
    asked = not case.drawn and case.vertices <= WRITTEN
    wrong = asked and not right_on(net, reachability(case.vertices, case.distance))
    if wrong or in_class(net, "continuous-thought"):
        return Exact(-1)
    return _thoughts(case, seed, vertex_thoughts(case.vertices, most_edges(case.vertices)))


@claim(
    Eq(thoughts_needed, ceiling(log(distance, 2)) + 1),
    source=Source("depthlaw", "after zhu2025, arXiv:2505.12514v3, abstract: $D$ steps"),
    kind="threshold",
    cases=_CASES,
    control=Control(
        Case(distance=5, vertices=6, drawn=20),
        "an edge a thought, as where a thought has one number for each vertex",
        statement=Eq(thoughts_needed, distance),
    ),
    supports="least_depth/thoughts_of_vertices",
)
def thoughts_of_pairs(case: Case, seed: int) -> Exact:
    r"""Thoughts of one number a pair reach $D$ in $\lceil \log_2 D \rceil + 1$.

    For every $n$ there are two layers of averaging-hard attention with ReLUs, of a width of order
    $n^2$ and $n^3$ ReLUs, whose thoughts are vectors of $n^2$ numbers 0 and 1, such that for every
    directed graph of $n$ vertices the least number of thoughts after which every pair of vertices
    at distance at most $D$ is told from every pair without a path is
    $\lceil \log_2 D \rceil + 1$, if some pair is that far apart.

    The class is words, since weights do not show of what order a width is. So $D$ thoughts are no
    lower bound for two layers whose thoughts are vectors: the size of a thought decides. The start
    is the same for all questions, and the read-out asks for a pair. The first thought gathers the
    edges; each further one joins the paths that it holds two and two, so that thought $t$ holds the
    pairs at distance at most $2^{t-1}$. Without a bound on the number of ReLUs one thought is
    enough, which looks the gathered graph up in a table. That fewer thoughts fail is said of this
    net alone.
    """
    return _thoughts(case, seed, pair_thoughts(case.vertices, most_edges(case.vertices)))
