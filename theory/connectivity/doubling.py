"""Doublings: ceil(log2 n) rounds decide reachability (Merrill & Sabharwal 2025), and how far that
takes a net of so many layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Integer, Rational, Symbol, ceiling, diff, floor, log, simplify
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq, Ge, Le
from ..claims.symbols import depth, quantity, vertices
from ..depth_choice.inversion import first
from ..least_depth.graphs import all_graphs, distances
from .graph_attention import Array, with_loops

if TYPE_CHECKING:
    import networkx as nx

layers_used = quantity(
    "doubling_layers",
    r"L_{dbl}",
    "layers of doublings until every reachable pair is known; $2(n + 1)$ when never",
    "nonnegative integer",
)
length_max = quantity(
    "length_max",
    r"n_{len}",
    "largest input length, or number of vertices, that a layer count allows at depth $L$",
)
per_doubling = quantity("per_doubling", "r", "layers spent on one doubling")
fixed_layers = quantity("fixed_layers", "s", "layers before and after all doublings")

_VERSION = "arXiv:2503.03961"
# Layers (per doubling, beside the doublings) of regular languages with uniform and with
# non-uniform weights, and of s-t connectivity: 17 before the loop of Theorem 2 and 1 after it.
_COUNTS = ((8, 9), (4, 5), (2, 18))
_TWO = Integer(2)


def directed_graphs(family: str, vertices: int, rng: np.random.Generator) -> list[nx.DiGraph]:
    """Directed graphs with n vertices: "all" of them, labelled, or one "directed path", "directed
    cycle", "path" (both directions) or "random digraph"; a ValueError for another family."""
    import networkx as nx

    build = {
        "directed path": lambda: nx.path_graph(vertices, create_using=nx.DiGraph),
        "directed cycle": lambda: nx.cycle_graph(vertices, create_using=nx.DiGraph),
        "path": lambda: nx.path_graph(vertices).to_directed(),
        "random digraph": lambda: nx.fast_gnp_random_graph(
            vertices, 1.5 / vertices, seed=int(rng.integers(2**31)), directed=True
        ),
    }
    if family in build:
        return [build[family]()]
    if family != "all":
        raise ValueError(f"family={family!r}: accepted are all, {', '.join(build)}")
    graphs = []
    for edges in all_graphs(vertices):
        graphs.append(nx.empty_graph(vertices, create_using=nx.DiGraph))
        graphs[-1].add_edges_from(edges)
    return graphs


def doubling_layers(g: nx.DiGraph) -> int:
    """Layers of the repeated block, C(i,k,j) = B(i,k) and B(k,j) on n^3 padding tokens, then B(i,j)
    = or_k C(i,k,j), until every reachable pair is known; 2(n + 1) when never."""
    truth = np.array(distances(len(g), g.edges)) >= 0
    known: Array = with_loops(g) > 0
    layers = 0
    while (known != truth).any() and layers <= 2 * len(g):
        padding: Array = known[:, :, None] & known[None, :, :]
        known = np.asarray(padding.any(axis=1))
        layers += 2
    return layers


@claim(
    Le(layers_used, 2 * ceiling(log(vertices, 2))),
    source=Source("merrill2025", "Theorem 2", _VERSION),
    wording="printed",
    kind="construction",
    # "all": every labelled directed graph.
    cases={
        "quick": (
            *Case.grid(family="all", vertices=(1, 2, 3)),
            *Case.grid(
                family=("directed path", "directed cycle", "path"),
                vertices=(5, 7, 8, 9, 10, 16, 17, 32, 33),
            ),
        ),
        "theory": (
            Case(family="all", vertices=4),
            *Case.grid(
                family=("directed path", "random digraph"), vertices=(6, 12, 48, 64, 65, 100)
            ),
        ),
    },
    control=Control(
        Case(family="directed path", vertices=16),
        "one layer per doubling does not do the and and the or",
        Le(layers_used, ceiling(log(vertices, 2))),
    ),
    cited=(
        "Decides whether two layers per doubling do the one step of Theorem 2 that can be executed."
    ),
    formal=Formal(
        "Reach.log_depth_uniform_checked",
        "Reach.doubling_layers_value {vertices}",
        "The theorem counts doublings; that one takes two layers of averaging-hard attention, "
        "and the 18 layers around them, are as published and not formal.",
    ),
)
def log_depth_uniform(case: Case, seed: int) -> Exact:
    r"""$\lceil \log_2 n \rceil$ doublings decide $s$-$t$ connectivity; 18 other layers not run.

    For every $n$, $\lceil \log_2 n \rceil$ repetitions of the 2-layer block $C(i, k, j) = B(i, k)$
    and $B(k, j)$, then $B(i, j)$ = or over $k$ of $C(i, k, j)$, on $B = A + I$ find for every
    directed and undirected graph with $n$ vertices which vertex reaches which.

    Executed is the repeated block, on $n^3$ padding tokens in {0, 1}: repeated squaring. The 17
    layers before it and the 1 after it, which make $18 + 2 \lceil \log_2 n \rceil$, are neither
    executed nor formal, nor is it formal that one doubling takes two layers. A path needs
    $\lceil \log_2(n - 1) \rceil$ doublings, so $n = 2^t + 1$ has one to spare.
    """
    tried = directed_graphs(case.family, case.vertices, case.rng(seed))
    return Exact(max(doubling_layers(g) for g in tried))


def _longest(depth: int, per_doubling: int, fixed: int) -> Exact:
    """The largest n for which r layers per doubling of a length and s fixed ones fit into L; 1
    does."""

    def exceeds(n: int) -> bool:
        layers, covered = fixed, 1
        while covered < n:
            layers, covered = layers + per_doubling, 2 * covered
        return layers > depth

    return Exact(first(exceeds) - 1)


def _inverse_steps(r: int, s: int, right_at: Callable[[Any], Any]) -> Iterator[Step]:
    """For every L >= s the largest n with s + r ceil(log2 n) <= L is `right_at(L)`: one chain of
    equivalences for each remainder."""
    t, c = Symbol("t", integer=True, nonnegative=True), Symbol("c", integer=True)
    x, n = Symbol("x", real=True), Symbol("n", positive=True)
    yield Step("for whole c, c <= x means c <= floor(x)", (floor(x) >= c) == (x >= c))
    yield Step("for whole t, ceil(x) <= t means x <= t", (ceiling(x) <= t) == (x <= t))
    yield Step(
        "2^x grows with x and is n at x = log2 n, so log2 n <= t means n <= 2^t",
        bool(diff(2**x, x).is_positive) and simplify(2 ** log(n, 2) - n) == 0,
    )
    yield Step(
        "2^t is a whole number of at least 1", bool((2**t).is_integer) and bool((2**t).is_positive)
    )
    for spare in range(r):
        layers = s + r * t + spare
        here = f"at L = {s} + {r} t + {spare}"
        yield Step(
            f"{here} the c with {s} + {r} c <= L are those with c <= t",
            floor(simplify((layers - s) / r)) == t and Rational(1, r).is_positive,
        )
        yield Step(f"{here} the right side is 2^t", simplify(right_at(layers) - 2**t) == 0)


@claim(
    Eq(length_max, _TWO ** floor((depth - fixed_layers) / per_doubling)),
    source=Source("depthlaw", f"after merrill2025, {_VERSION}, Theorems 1, 2, Corollary 1.1"),
    assumes={r"$L \geq s$": lambda c: c.depth >= c.fixed_layers},
    cases={
        "quick": (
            *Case.grid(depth=(32, 33, 80), per_doubling=4, fixed_layers=5),
            *Case.grid(depth=(9, 24, 25, 80), per_doubling=8, fixed_layers=9),
            *Case.grid(depth=(18, 19, 20, 21, 32, 33, 80), per_doubling=2, fixed_layers=18),
        ),
        "theory": Case.grid(depth=(24, 48, 64, 96, 128), per_doubling=2, fixed_layers=18),
    },
    control=Control(
        Case(depth=32, per_doubling=4, fixed_layers=5),
        "the exponent is whole",
        Eq(length_max, floor(_TWO ** ((depth - fixed_layers) / per_doubling))),
    ),
    supports="connectivity/log_depth_lengths_printed",
)
def log_depth_lengths(case: Case) -> Exact:
    r"""$r$ layers per doubling and $s$ more reach $2^{\lfloor (L - s)/r \rfloor}$.

    For $(r, s) = (8, 9)$ and (4, 5), regular languages with uniform and with non-uniform weights,
    and for (2, 18), $s$-t connectivity of graphs with $n$ vertices, the largest $n$ with
    $r \lceil \log_2 n \rceil + s \leq L$ is $2^{\lfloor (L - s)/r \rfloor}$, for every $L \geq s$.

    So 32 and 80 layers give lengths 64 and 262,144 for regular languages, if the printed counts are
    right. For connectivity they give 128 and $2.1 \cdot 10^9$ vertices, as the paper's introduction
    says. Corollary 2.1 prints $2^{(L - 20)/2}$ vertices: true, and smaller than this by a factor of
    two for even $L$, $\sqrt{2}$ for odd $L$. Of Theorem 2 connectivity/log_depth_uniform executes
    the repeated block.
    """
    return _longest(case.depth, case.per_doubling, case.fixed_layers)


@log_depth_lengths.argument(
    r"about the printed counts of layers, not nets. Prose: every $L \geq s$ is $s + r t$ + a "
    "remainder below $r$; the steps chain; SymPy's rules for floor and ceil"
)
def _(statement: Relational) -> Iterator[Step]:
    yield Step("the statement is an equation", statement.rel_op == "==")
    for r, s in _COUNTS:
        right = statement.rhs.subs({per_doubling: r, fixed_layers: s})
        yield from _inverse_steps(r, s, partial(right.subs, depth))
    exponent, t = (depth - 20) / 2, Symbol("t", integer=True, nonnegative=True)
    yield Step(
        "the exponent (L - 20)/2 of Corollary 2.1 is below t at L = 18 + 2t and 19 + 2t",
        all((t - exponent.subs(depth, 18 + 2 * t + spare)).is_positive for spare in (0, 1)),
    )


@claim(
    Ge(length_max, floor(_TWO ** ((depth - 9) / 4 + 1))),
    wording="printed",
    known="FAILS",
    source=Source("merrill2025", "Corollary 1.2 and introduction", _VERSION),
    cases={"quick": Case.grid(depth=(29, 32, 33, 80), per_doubling=4, fixed_layers=5)},
    control=Control(
        Case(depth=33, per_doubling=4, fixed_layers=5),
        "even where the exponent is whole, twice as long fails",
        Ge(length_max, _TWO ** ((depth - 9) / 4 + 2)),
    ),
    cited="Decides whether 107 tokens for 32 layers and 440 thousand for 80 may be quoted.",
)
def log_depth_lengths_printed(case: Case) -> Exact:
    r"""Corollary 1.1 grants regular languages lengths up to $2^{(L-9)/4+1}$.

    For every $L \geq 9$ the lengths $n \leq 2^{(L - 9)/4 + 1}$, rounded down, fit into $L$ layers
    by $4 \lceil \log_2 n \rceil + 5 \leq L$, so that 32 layers reach 107 and 80 layers 440
    thousand.

    It drops the rounding up of $\log_2 n$: Corollary 1.1 gives 64 and 262,144. Right when 4 divides
    $L - 9$. What fails is the inference: other nets of $L$ layers may well reach these lengths.
    """
    return _longest(case.depth, case.per_doubling, case.fixed_layers)
