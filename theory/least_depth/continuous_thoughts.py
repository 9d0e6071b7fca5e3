"""Directed reachability by continuous thoughts: nets of two layers, run exactly.

The prompt: a sink, then for each edge three tokens (its source, its target, a mark), then a start.
Tokens are vectors of whole numbers, in named blocks. Each layer has heads of averaging-hard
attention with a causal mask (the mean over all tokens of largest score) and an MLP of one hidden
layer of ReLUs, both added to the stream. A block of what the last token holds in the end is the
next thought: a token of its own, which is appended. All weights are whole numbers: values are
multiplied by the least common multiple of all numbers of tokens that may tie, so that means are
whole numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sympy import ceiling, log

from ..atlas.tasks import reachability
from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.attention import AttentionNet
from ..nets.builder import rows
from ..nets.classes import in_class
from ..nets.json_format import net_of
from ..nets.right import right_on
from .graphs import Edge, all_graphs, distances

thoughts_needed = quantity(
    "thoughts_needed",
    r"t^*",
    "least number of thoughts after which every question is answered; -1 for none",
    "integer",
)
distance = quantity("distance", "D", "largest distance of two vertices that is asked for")

Integers = NDArray[np.int64]

# Up to so many vertices a net of the class is run on all graphs as well.
WRITTEN = 3
# Drawn graphs have no more edges, so that all numbers stay below 2^63.
MOST_EDGES = 24


class IntegerHead(NamedTuple):
    """Matrices of one head, applied to row vectors; the score of a pair is (x query) . (y key)."""

    query: Integers
    key: Integers
    value: Integers
    output: Integers


class IntegerLayer(NamedTuple):
    """Heads side by side, then x + ReLU(x inward + bias) outward."""

    heads: tuple[IntegerHead, ...]
    inward: Integers
    bias: Integers
    outward: Integers


class IntegerNet(NamedTuple):
    """blocks: where the parts of a token stand; start: what the thoughts start from, one row for
    each start; layers; the next thought is the block "next", put where the block "thought" is."""

    blocks: dict[str, slice]
    start: Integers
    layers: tuple[IntegerLayer, ...]

    @property
    def width(self) -> int:
        """Numbers of a token."""
        return max(part.stop for part in self.blocks.values())


def _blocks(**sizes: int) -> dict[str, slice]:
    ends = np.cumsum(list(sizes.values())).tolist()
    parts = (slice(end - size, end) for size, end in zip(sizes.values(), ends, strict=True))
    return dict(zip(sizes, parts, strict=True))


# What every token has: whether it is an edge's mark, or the sink; a one, its position, its square.
_COMMON = {"edge": 1, "sink": 1, "one": 1, "place": 1, "square": 1}


def _zeros(*shape: int) -> Integers:
    return np.zeros(shape, dtype=np.int64)


def _copies(blocks: dict[str, slice], width: int) -> tuple[IntegerHead, IntegerHead]:
    """Two heads that copy names from two tokens before and from the one before.

    The score of the token at j for one at i is 2 (i - back) j - j^2, largest at j = i - back.
    """
    heads = []
    for back, block in ((2, "seen source"), (1, "seen target")):
        names = blocks["name"].stop - blocks["name"].start
        query, key = _zeros(width, 2), _zeros(width, 2)
        query[blocks["place"], 0], query[blocks["one"]] = 2, (-2 * back, -1)
        key[blocks["place"], 0], key[blocks["square"], 1] = 1, 1
        value, output = _zeros(width, names), _zeros(names, width)
        value[blocks["name"]] = output[:, blocks[block]] = np.eye(names)
        heads.append(IntegerHead(query, key, value, output))
    return heads[0], heads[1]


def vertex_thoughts(
    vertices: int, edges: int, *, sink: bool = True, threshold: bool = True, copying: bool = True
) -> IntegerNet:
    """The net whose thoughts have one number for each vertex: 1 where it has been reached.

    Layer 1: the mark of an edge copies its source and its target; ReLUs keep both at marks alone.
    Layer 2: a thought scores an edge 1, or 3 if it holds the source, and the sink 2; it finds the
    mean of the targets it attends to. ReLU(y) - ReLU(y - 1) of what it held and found is 0 or 1.

    The three switches take away the sink's score, the second ReLU, and layer 1.

    Cost of a run: for each head a score of each pair of tokens.
    """
    n, each = vertices, np.arange(vertices)
    names = ("name", "seen source", "seen target", "source", "target", "thought", "found", "next")
    blocks = _blocks(**dict.fromkeys(names, n), **_COMMON)
    width = max(part.stop for part in blocks.values())

    inward, outward = _zeros(width, 2 * n), _zeros(2 * n, width)
    for half, end in ((each, "source"), (n + each, "target")):
        inward[each + blocks["seen " + end].start, half] = 1
        inward[blocks["edge"], half] = 1
        outward[half, each + blocks[end].start] = 1
    copy = IntegerLayer(_copies(blocks, width), inward, -np.ones(2 * n, dtype=np.int64), outward)

    query, key = _zeros(width, n + 1), _zeros(width, n + 1)
    query[blocks["thought"], :n] = 2 * np.eye(n)
    key[blocks["source"], :n] = np.eye(n)
    query[blocks["one"], n], key[blocks["edge"], n] = 1, 1
    key[blocks["sink"], n] = 2 if sink else 0
    value, output = _zeros(width, n), _zeros(n, width)
    value[blocks["target"]] = lcm(*range(1, edges + 1)) * np.eye(n, dtype=np.int64)
    output[:, blocks["found"]] = np.eye(n)
    inward, outward = _zeros(width, 2 * n), _zeros(2 * n, width)
    for half, sign in ((each, 1), (n + each, -1 if threshold else 0)):
        inward[each + blocks["thought"].start, half] = 1
        inward[each + blocks["found"].start, half] = 1
        outward[half, each + blocks["next"].start] = sign
    follow = IntegerLayer(
        (IntegerHead(query, key, value, output),), inward, -np.repeat(np.arange(2), n), outward
    )
    return IntegerNet(blocks, np.eye(n, dtype=np.int64), (copy, follow) if copying else (follow,))


def pair_thoughts(vertices: int, edges: int) -> IntegerNet:
    """The net whose thoughts have one number for each pair: 1 where a path is known.

    Layer 1: the mark of an edge copies its source and its target, and ReLUs make the pair of both;
    n^3 ReLUs join paths of a thought: i to k and k to j. Layer 2: a thought finds the mean of all
    edges, and ReLU(y) - ReLU(y - 1) of what it held, joined and found is 0 or 1. The start knows
    the path from each vertex to itself.
    """
    n = vertices
    blocks = _blocks(
        **dict.fromkeys(("name", "seen source", "seen target"), n),
        **dict.fromkeys(("pair", "thought", "joined", "found", "next"), n * n),
        **_COMMON,
    )
    width = max(part.stop for part in blocks.values())

    def at(block: str, i: Integers, j: Integers) -> Integers:
        return blocks[block].start + n * i + j

    i, j = (index.ravel() for index in np.indices((n, n)))
    of_pairs, pair_bias = _zeros(width, n * n), np.full(n * n, -2)
    unit = np.arange(n * n)
    of_pairs[blocks["seen source"].start + i, unit] = 1
    of_pairs[blocks["seen target"].start + j, unit] = 1
    of_pairs[blocks["edge"], :] = 1
    to_pairs = _zeros(n * n, width)
    to_pairs[unit, at("pair", i, j)] = 1

    first, middle, last = (index.ravel() for index in np.indices((n, n, n)))
    of_paths, to_paths, unit3 = _zeros(width, n**3), _zeros(n**3, width), np.arange(n**3)
    np.add.at(of_paths, (at("thought", first, middle), unit3), 1)
    np.add.at(of_paths, (at("thought", middle, last), unit3), 1)
    to_paths[unit3, at("joined", first, last)] = 1
    join = IntegerLayer(
        _copies(blocks, width),
        np.hstack([of_pairs, of_paths]),
        np.concatenate([pair_bias, np.full(n**3, -1)]),
        np.vstack([to_pairs, to_paths]),
    )

    query, key = _zeros(width, 1), _zeros(width, 1)
    query[blocks["one"]], key[blocks["edge"]], key[blocks["sink"]] = 1, 2, 1
    value, output = _zeros(width, n * n), _zeros(n * n, width)
    value[blocks["pair"]] = lcm(*range(1, edges + 1)) * np.eye(n * n, dtype=np.int64)
    output[:, blocks["found"]] = np.eye(n * n)
    inward, outward = _zeros(width, 2 * n * n), _zeros(2 * n * n, width)
    for half, sign in ((unit, 1), (n * n + unit, -1)):
        for block in ("thought", "joined", "found"):
            inward[at(block, i, j), half] = 1
        outward[half, at("next", i, j)] = sign
    gather = IntegerLayer(
        (IntegerHead(query, key, value, output),), inward, -np.repeat(np.arange(2), n * n), outward
    )
    return IntegerNet(blocks, np.eye(n, dtype=np.int64).reshape(1, -1), (join, gather))


# --- running a net ---


def prompts(net: IntegerNet, graphs: Integers) -> Integers:
    """The tokens of graphs with equally many edges, each with every start.

    Args:
        graphs: graph, edge, (source, target).

    Returns: graph and start, token, number.
    """
    many, edges, _ = graphs.shape
    tokens = _zeros(many, len(net.start), 3 * edges + 2, net.width)
    name = net.blocks["name"].start
    for side in (0, 1):
        at = np.arange(edges) * 3 + 1 + side
        tokens[np.arange(many)[:, None], :, at, name + graphs[..., side]] = 1
    tokens[:, :, 3 : 3 * edges + 1 : 3, net.blocks["edge"]] = 1
    tokens[:, :, 0, net.blocks["sink"]] = 1
    tokens[:, :, -1, net.blocks["thought"]] = net.start
    tokens = tokens.reshape(-1, *tokens.shape[2:])
    return _placed(net, tokens, 0)


def _placed(net: IntegerNet, tokens: Integers, first: int) -> Integers:
    place = np.arange(first, first + tokens.shape[1])
    for block, number in (("one", place**0), ("place", place), ("square", place**2)):
        tokens[..., net.blocks[block].start] = number
    return tokens


def applied(layer: IntegerLayer, context: Integers, fresh: int) -> Integers:
    """What a layer makes of the last tokens, so many of them; each sees itself and those before.

    Raises:
        ValueError: when a mean is not a whole number.
    """
    x = context[:, -fresh:]
    tokens = context.shape[1]
    hidden = np.arange(tokens) > np.arange(tokens - fresh, tokens)[:, None]
    found = x.copy()
    for head in layer.heads:
        scores = _times(x, head.query) @ _times(context, head.key).swapaxes(1, 2)
        scores[:, hidden] = np.iinfo(np.int64).min
        best = (scores == scores.max(axis=-1, keepdims=True)).astype(np.int64)
        mean, rest = np.divmod(best @ _times(context, head.value), best.sum(-1, keepdims=True))
        if rest.any():
            raise ValueError("a mean is not a whole number")
        found += _times(mean, head.output)
    hidden_units = np.maximum(_times(found, layer.inward) + layer.bias, 0)
    return found + _times(hidden_units, layer.outward)


def _times(tokens: Integers, weights: Integers) -> Integers:
    """tokens @ weights, in floats where no sum reaches 2^53, so that none is rounded: quicker."""
    rows = np.flatnonzero(weights.any(axis=1))
    some, weights = tokens[..., rows], weights[rows]
    largest = int(np.abs(some).max(initial=0)) * int(np.abs(weights).sum(axis=0).max(initial=0))
    if largest >= 2**53:
        return some @ weights
    return (some.astype(float) @ weights.astype(float)).astype(np.int64)


def thoughts(net: IntegerNet, tokens: Integers) -> Iterator[Integers]:
    """The start and the thoughts after it, one after the other, for each prompt.

    Layers below the last are run once for each token, since none sees a later one; the last layer
    is run for the last token alone, since nothing else of it is read.
    """
    streams = [tokens]
    for layer in net.layers[:-1]:
        streams.append(applied(layer, streams[-1], tokens.shape[1]))
    yield tokens[:, -1, net.blocks["thought"]]
    while True:
        thought = applied(net.layers[-1], streams[-1], 1)[:, 0, net.blocks["next"]]
        yield thought
        fresh = _zeros(len(thought), 1, net.width)
        fresh[:, 0, net.blocks["thought"]] = thought
        fresh = _placed(net, fresh, streams[0].shape[1])
        streams[0] = np.concatenate([streams[0], fresh], axis=1)
        for k, layer in enumerate(net.layers[:-1]):
            fresh = applied(layer, streams[k], 1)
            streams[k + 1] = np.concatenate([streams[k + 1], fresh], axis=1)


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


def least_thoughts(
    net: IntegerNet, vertices: int, graphs: Iterable[Sequence[Edge]], far: int
) -> int:
    """The least number of thoughts after which a positive number says, of every pair of vertices at
    most so far apart, that a path leads there, and of no pair without a path; -1 if not after
    far + 1 thoughts.

    Raises:
        ValueError: when no two vertices are so far apart.
    """
    groups: dict[int, list[Sequence[Edge]]] = {}
    for graph in graphs:
        groups.setdefault(len(graph), []).append(graph)
    right, seen = [True] * (far + 2), False
    for edges, some in groups.items():
        apart = np.array([distances(vertices, graph) for graph in some])
        asked = apart <= far
        seen = seen or bool((apart == far).any())
        tokens = prompts(net, np.array(some, dtype=np.int64).reshape(len(some), edges, 2))
        for count, thought in zip(range(far + 2), thoughts(net, tokens), strict=False):
            says = thought.reshape(apart.shape) > 0
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
    vertices, steps = case.vertices, case.distance
    net = vertex_thoughts(vertices, most_edges(vertices))
    blocks, width = net.blocks, net.width

    def token(**at: int) -> list[int]:
        vector = [0] * (width - 2)
        for block, place in at.items():
            vector[blocks[block].start + place] = 1
        return vector

    names = [str(vertex + 1) for vertex in range(vertices)]
    embedding = {".": token(one=0, sink=0), "|": token(one=0, edge=0)}
    embedding |= {name: token(one=0, name=v) for v, name in enumerate(names)}
    embedding |= {f">{name}": token(one=0, thought=v) for v, name in enumerate(names)}
    thought = {blocks["thought"].start + v: blocks["next"].start + v for v in range(vertices)}
    made = net_of(
        {
            "family": "attention",
            "alphabet": [*names, "|", *(f">{name}" for name in names)],
            "start": ".",
            "embedding": embedding,
            "positions": ["i", "i^2"],
            "layers": [
                {
                    "heads": [
                        {
                            "attention": "average",
                            "mask": "causal",
                            **{
                                name: getattr(head, name).T.tolist()
                                for name in ("query", "key", "value", "output")
                            },
                        }
                        for head in layer.heads
                    ],
                    "mlp": {
                        "in": layer.inward.T.tolist(),
                        "bias": layer.bias.tolist(),
                        "out": layer.outward.T.tolist(),
                    },
                }
                for layer in net.layers
            ],
            "thoughts": {
                "steps": steps,
                "matrix": rows(
                    width, *({thought[i]: 1} if i in thought else {} for i in range(width - 2))
                ),
                "add": token(one=0),
            },
            "read": rows(width, {blocks["thought"].start: 1})[0],
        }
    )
    assert isinstance(made, AttentionNet)
    return made


def _thoughts(case: Case, seed: int, net: IntegerNet) -> Exact:
    if case.drawn:
        graphs = drawn_graphs(case.rng(seed), case.vertices, case.distance, case.drawn)
    else:
        graphs = all_graphs(case.vertices)
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
    of the target is positive. For up to three vertices the net of the class is
    run on all graphs; beyond, the class is words, since a net that is run whole for each thought
    takes too long. All graphs of up to four vertices (4,096 of four), and drawn ones of
    at most 24 edges in a drawn order. A factor as large as the least common multiple of $1, \dots,
    |E|$ keeps means whole; with rational means the number of edges would do. The weights are ours:
    the theorem of zhu2025 was not read; its abstract says that $D$ steps suffice, $D$ the diameter,
    and that a thought is a superposition of frontiers. That fewer thoughts fail is said of this net
    alone; with $n^2$ numbers fewer are enough (least_depth/thoughts_of_pairs). Without the sink a
    thought with no edge to follow attends to all edges; without layer 1 no edge is ever found
    (tests/theory/test_least_depth_thoughts.py). Without the second ReLU the net still does all
    graphs of three vertices, but not those of four.
    """
    if not case.drawn and case.vertices <= WRITTEN:
        net = vertex_net(case)
        right = right_on(net, reachability(case.vertices, case.distance))
        if not right or in_class(net, "continuous-thought"):
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

    So $D$ thoughts are no lower bound for two layers whose thoughts are vectors: the size of a
    thought decides. The start is the same for all questions, and the read-out asks for a pair. The
    first thought gathers the edges; each further one joins the paths that it holds two and two, so
    that thought $t$ holds the pairs at distance at most $2^{t-1}$. Without a bound on the number of
    ReLUs one thought is enough, which looks the gathered graph up in a table. That fewer thoughts
    fail is said of this net alone.
    """
    return _thoughts(case, seed, pair_thoughts(case.vertices, most_edges(case.vertices)))
