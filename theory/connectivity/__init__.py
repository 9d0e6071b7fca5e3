"""Graph connectivity: softmax-free attention on A + I reaches distance 3^L after L layers, and doubling needs log2(n) rounds.

The formulas are exact integers and import nothing heavy. The networks that the claims execute are in `graph_attention`.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from ..claim import Case, Claim, Control, Exact, Measured, Outside, Source, Step

if TYPE_CHECKING:
    import sympy

# Layers outside the loop in Theorem 2 of merrill2025: 17 before it and 1 after it.
_FIXED_LAYERS = 18


def reach(depth: int) -> int:
    """3^L: two vertices see each other after L layers of linearised attention on A + I iff their distance is at most this.

    For every graph, with W_Q = W_K = W_V = W_O = I and no softmax, a layer is X -> X X^T X, so L layers give (A + I)^(3^L).

    Args:
        depth: L, a whole number; 0 gives 1, since A + I already joins neighbours.

    Raises:
        ValueError: for anything else.

    >>> [reach(depth) for depth in range(4)]
    [1, 3, 9, 27]

    References: Ye et al. 2025, arXiv:2510.19753, Theorem 4.3 (as reported), for ReLU attention.
    """
    return 3 ** _whole("depth", depth)


def layers_for_diameter(diameter: int) -> int:
    """ceil(log_3 D), the least L with 3^L >= D: layers until every pair of vertices of a component sees each other. Exact.

    Args:
        diameter: D, the largest distance within a component; 0 (no edges) and 1 (cliques) need no layer.

    Raises:
        ValueError: for anything but a whole number of at least 0.

    Cost: O(log D) multiplications.

    >>> [layers_for_diameter(diameter) for diameter in (0, 1, 3, 4, 9, 10, 81, 82)]
    [0, 0, 1, 2, 2, 3, 4, 5]
    """
    target, depth, reached = _whole("diameter", diameter), 0, 1
    while reached < target:
        depth, reached = depth + 1, 3 * reached
    return depth


def universal_layers(vertices: int) -> int:
    """18 + 2 ceil(log2 n): layers of fixed width, the same weights for all n, that decide s-t connectivity of every n-vertex graph.

    The model has averaging hard attention, log-precision, n^2 adjacency tokens and n^3 padding tokens.

    Args:
        vertices: n, at least 1.

    Raises:
        ValueError: for anything else.

    >>> [universal_layers(vertices) for vertices in (1, 2, 128, 129)]
    [18, 20, 32, 34]

    References: Merrill and Sabharwal 2025, arXiv:2503.03961, Theorem 2.
    """
    return _FIXED_LAYERS + 2 * (_whole("vertices", vertices, low=1) - 1).bit_length()


def universal_vertices(depth: int, reading: Literal["derived", "printed"] = "derived") -> int:
    """The most vertices for which Theorem 2 of merrill2025 fits into L layers.

    derived: 2^floor((L - 18)/2), the inverse of Theorem 2. printed: floor(2^((L - 20)/2)), Corollary 2.1, which is true but smaller
    by a factor of two (of sqrt 2 at odd L); the examples of the paper's introduction (32 -> 128) follow the theorem.

    Args:
        depth: L, a whole number; 0 is returned when the statement says nothing at that depth.
        reading: which of the two.

    Raises:
        ValueError: for another depth or reading.

    >>> universal_vertices(32), universal_vertices(32, "printed"), universal_vertices(80), universal_vertices(17)
    (128, 64, 2147483648, 0)
    """
    import math

    if reading not in ("derived", "printed"):
        raise ValueError(f"wording={reading!r}: accepted are 'derived' and 'printed'")
    spare = _whole("depth", depth) - (_FIXED_LAYERS if reading == "derived" else 20)
    if spare < 0:
        return 0
    return 2 ** (spare // 2) if reading == "derived" else math.isqrt(2**spare)


def _whole(name: str, value: int, low: int = 0) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = low - 1
    if isinstance(value, bool) or whole < low:
        raise ValueError(f"{name}={value!r}: accepted are whole numbers from {low} on")
    return whole


# --- claims ------------------------------------------------------------------------------------------------------------------

_FAMILIES = ("path", "cycle", "two cycles", "grid")
_QUICK = (*Case.grid(family=_FAMILIES, diameter=(2, 3, 5, 12), depth=(0, 1, 2)),
          *Case.grid(family=("path", "two cycles"), diameter=(28,), depth=(2, 3)),
          *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(4, 8), depth=(1, 2)),
          *Case.grid(family="karate club", diameter=5, depth=(0, 1, 2)),
          *Case.grid(family="barbell", diameter=(3, 6), depth=1), Case(family="star", diameter=2, depth=1),
          # "all": every graph of at most 6 vertices.
          *Case.grid(family="all", diameter=(2, 4), depth=(0, 1)), Case(family="all", diameter=5, depth=1))
_THEORY = (*Case.grid(family="all", diameter=(1, 3), depth=(0, 1, 2)),
           *Case.grid(family=("path", "cycle", "grid"), diameter=(27, 30), depth=(2, 3, 4)),
           *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(6, 10, 11), depth=(1, 2, 3)),
           *Case.grid(family="path", diameter=(81, 82), depth=(3, 4)))
_GRID = {"quick": _QUICK, "theory": _THEORY}
_DIAMETERS = {"quick": (*Case.grid(family=("path", "two cycles", "grid"), diameter=(1, 2, 3, 4, 8, 9, 10, 26, 27, 28)),
                        *Case.grid(family="all", diameter=(1, 2, 3, 4, 5))),
              "theory": (*Case.grid(family=("path", "cycle"), diameter=(80, 81, 82)),
                         *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(3, 4, 9, 10))),
              "full": Case.grid(family="path", diameter=(242, 243, 244, 729, 730))}
# What is our own is credited to this project, and names what it was made after.
_PLAIN = Source("depthlaw", "after ye2025, arXiv:2510.19753, Theorems 4.3 and 4.5")
_MERRILL = "arXiv:2503.03961"


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _reach_claims()
    yield from _entry_claims()
    yield from _depth_claims()
    yield from _cycle_claims()
    yield from _doubling_claims()
    yield from _inverse_claims()
    from . import graph_reach, parallel_computation

    yield from graph_reach.claims()
    yield from parallel_computation.claims()


def _reached(case: Case, seed: int) -> Exact:
    """The radius of the support where it is one ball on every graph, with and without the residual connection; otherwise -1."""
    from .graph_attention import radii

    return Exact(_common(radius for g in _graphs(case, seed) for residual in (False, True)
                         for radius in radii(g, case.depth, residual=residual)))


def _graphs(case: Case, seed: int) -> list[Any]:
    from .graph_attention import graphs

    return graphs(case.family, case.diameter, case.rng(seed))


def _common(values: Iterable[int]) -> int:
    """The one value that all graphs of a case have; -1 when they differ, which no equality here allows."""
    found = set(values)
    return found.pop() if len(found) == 1 else -1


def _reach_claims() -> Iterator[Claim]:
    from sympy import Eq, Min

    from ..glossary import symbol

    L, D, reached = symbol("depth"), symbol("diameter"), symbol("reached_distance")
    yield Claim(
        key="connectivity/reach", title="L layers of linearised attention see exactly as far as 3^L",
        text="For every graph with largest finite distance D, an entry after L layers of X -> X X^T X on A + I is positive exactly "
              "where two vertices of a component are at distance at most 3^L, so the farthest such pair has distance min(3^L, D); "
              "with the residual connection, X -> X + X X^T X, as well.",
        statement=Eq(reached, Min(3**L, D)), source=_PLAIN, wording="derived", kind="identity", holds_for="all",
        measured=_reached, grid=_GRID,
        control=Control(Case(family="path", diameter=12, depth=1), "with base 2 the reach at L = 1 would be 2, not 3",
                       Eq(reached, Min(2**L, D))),
        note="Exact integers and identity weights, without softmax: L layers give the power m = 3^L of A + I, which is positive exactly "
             "within distance m. Nothing cancels, since all entries are non-negative; with signed weights a residual could. So 'all "
             "entries are positive' tells one 2m-cycle, of diameter m, from two m-cycles iff m <= 3^L. ye2025 proves reach 3^L for "
             "ReLU attention with non-negative weights and tokens of width n, as reported: connectivity/relu_reach.")


def _largest_entry(build: Callable[[Case, int], Any]) -> Callable[[Case, int], Measured]:
    def measured(case: Case, seed: int) -> Exact | Outside:
        from .graph_attention import integer_states, layer_at

        g = build(case, seed)
        if max(degree for _, degree in g.degree) != case.max_degree:
            return Outside("the graph has the maximum degree that the case names")
        return Exact(int(layer_at(integer_states(g), case.depth).max()))
    return measured


def _family(case: Case, seed: int) -> Any:
    return _graphs(case, seed)[0]


def _complete(case: Case, seed: int) -> Any:
    import networkx as nx

    return nx.complete_graph(case.max_degree + 1)


def _entry_claims() -> Iterator[Claim]:
    from sympy import Eq, Le

    from ..glossary import symbol

    L, degree, entry = symbol("depth"), symbol("max_degree"), symbol("largest_entry")
    bound = (degree + 1) ** (3**L - 1)
    grid = (*Case.grid(family="path", diameter=1, max_degree=1, depth=(0, 1, 2, 3, 4)),
            *Case.grid(family=("path", "cycle"), diameter=6, max_degree=2, depth=(0, 1, 2, 3, 4)),
            *Case.grid(family="grid", diameter=6, max_degree=4, depth=(1, 2, 3)),
            *Case.grid(family="karate club", diameter=5, max_degree=17, depth=(1, 2, 3)))
    shared: dict[str, Any] = {"source": _PLAIN, "wording": "derived", "holds_for": "all"}
    yield Claim(
        key="connectivity/entry_bound", title="entries are at most (degree + 1)^(3^L - 1)",
        text="For every graph of maximum degree Delta, every entry after L layers of X -> X X^T X on A + I is at most "
              "(Delta + 1)^(3^L - 1).",
        statement=Le(entry, bound), kind="upper", measured=_largest_entry(_family), grid={"quick": grid},
        control=Control(Case(family="path", diameter=1, max_degree=1, depth=2), "a single edge gives 2^8 at L = 2",
                       Le(entry, (degree + 1) ** (3**L - 2))),
        note="Walks of length m between two vertices: the last step is forced, so at most (Delta + 1)^(m - 1). A single edge needs "
             "2^80 at L = 4, beyond 64-bit integers; clipping to {0, 1} after each layer keeps the support.", **shared)
    yield Claim(
        key="connectivity/entry_bound_attained", title="complete graphs attain the bound on the entries",
        text="On the complete graph with Delta + 1 vertices every entry after L layers of X -> X X^T X on A + I is "
              "(Delta + 1)^(3^L - 1).",
        statement=Eq(entry, bound), kind="identity", measured=_largest_entry(_complete),
        grid={"quick": Case.grid(max_degree=(1, 2, 4, 9), depth=(0, 1, 2, 3, 4))},
        control=Control(Case(max_degree=2, depth=1), "one walk too many per step", Eq(entry, (degree + 1) ** (3**L))), **shared)


def _least_depth(over_graphs: Callable[[Iterable[int]], int]) -> Callable[[Case, int], Measured]:
    def measured(case: Case, seed: int) -> Exact:
        from .graph_attention import minimal_depth

        return Exact(over_graphs([minimal_depth(g) for g in _graphs(case, seed)]))
    return measured


def _depth_claims() -> Iterator[Claim]:
    from sympy import Eq, Ge, ceiling, log

    from ..glossary import symbol

    D, least = symbol("diameter"), symbol("minimal_depth")
    log3 = log(D) / log(3)
    yield Claim(
        key="connectivity/layers_for_diameter", title="all pairs are decided by exactly ceil(log_3 D) layers",
        text="For every graph whose largest finite distance is D, the least depth at which X -> X X^T X on A + I has a positive entry "
              "for every connected pair of vertices is ceil(log_3 D).",
        statement=Eq(least, ceiling(log3)), source=_PLAIN, wording="derived", kind="threshold", holds_for="all",
        measured=_least_depth(_common), grid=_DIAMETERS,
        control=Control(Case(family="path", diameter=9), "base 2 would ask for 4 layers at D = 9", Eq(least, ceiling(log(D) / log(2)))),
        note="The inverse of connectivity/reach, for the advice that quotes it. For this network only: tokens are rows of A + I, of "
             "width n, and the weights are the identity. From this layer on the least index in the support of a vertex's row names its "
             "component. Corollary 3.3 of sanford2024 is about other networks: m = O(N^epsilon), H = O(log log N) and L = O(log D) "
             "without a constant, which nothing finite can refute.")
    yield Claim(
        key="connectivity/lower_bound_conditional", title="one network for connectivity does not beat log_3 D layers",
        text="If no MPC protocol tells one cycle from two in o(log N) rounds, narrow transformers that decide connectivity need "
              "Omega(log D) layers, with an unknown constant (Corollary 3.5). Tested is one network: for every graph, X -> X X^T X on "
              "A + I has a positive entry for every connected pair no earlier than layer log_3 D. One network cannot test a bound over all "
              "transformers.",
        statement=Ge(least, log3), wording="derived", kind="conditional", holds_for="all",
        source=Source("depthlaw", "after sanford2024, arXiv:2402.09268v1, Corollary 3.5"),
        measured=_least_depth(min), grid=_DIAMETERS,
        control=Control(Case(family="path", diameter=9), "twice as many layers are not needed", Ge(least, 2 * log3)),
        note="Conditional on the one-versus-two-cycle conjecture (sanford2024, Conjecture 2.4), for which there is no claim here. What "
             "is tested is unconditional and weaker than connectivity/layers_for_diameter: the constant log_3 is that of this network, "
             "whose width n lies outside the corollary's regime D >= N^epsilon, m H = O(D^(1 - epsilon)). The corollary is neither "
             "proved nor refuted.")


def _told_apart(case: Case, seed: int) -> Exact:
    from .graph_attention import cycles_told_apart

    told = [cycles_told_apart(length, case.depth) for length in range(3, case.longest + 1)]
    # A rule that fails and succeeds again further on has no threshold: -1.
    return Exact(2 + sum(told) if told == sorted(told, reverse=True) else -1)


def _cycle_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, length = symbol("depth"), symbol("cycle_length_max")
    grid = {"quick": (Case(depth=1, longest=16), Case(depth=2, longest=24)), "theory": (Case(depth=3, longest=60),)}
    yield Claim(
        key="connectivity/one_vs_two_cycles_rows", title="row read-outs tell the cycles apart iff m <= 2 3^L",
        text="For every L >= 1, the rows after L layers of X -> X X^T X on A + I, each read as a multiset of entries, differ between one "
              "2m-cycle and two m-cycles exactly when 3 <= m <= 2 3^L.",
        statement=Eq(length, 2 * 3**L), source=Source("depthlaw", "after paccagnella, Part IV"), wording="derived", kind="threshold",
        holds_for="all", measured=_told_apart, grid=grid,
        control=Control(Case(depth=2, longest=24), "m = 3^L is where the entries stop to tell; the rows go on to twice that", Eq(length, 3**L)),
        note="From m = 2 3^L + 1 on both graphs look like a line from every vertex. Up to there the "
             "numbers of positive entries in a row already differ, min(2m, 2 3^L + 1) and min(m, 2 3^L + 1). It decides cycles, not "
             "connectivity. 'All entries are positive' stops at m = 3^L (connectivity/reach). "
             "paccagnella, a student report, sees the same factor of two with a cosine read-out.")


def _doubling_layers(case: Case, seed: int) -> Exact:
    from .graph_attention import directed_graphs, doubling_layers

    return Exact(max(doubling_layers(g) for g in directed_graphs(case.family, case.vertices, case.rng(seed))))


def _largest_universal(case: Case, seed: int) -> Exact:
    """Search, not inversion: double n while Theorem 2 fits, then bisect. Rounds are counted by doubling a distance."""
    def fits(n: int) -> bool:
        rounds, covered = 0, 1
        while covered < n:
            rounds, covered = rounds + 1, 2 * covered
        return 17 + 2 * rounds + 1 <= case.depth

    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Exact(low)


def _inverse_proof(statement: sympy.core.relational.Relational) -> Iterable[Step]:
    from ..glossary import symbol
    from .graph_reach import length_steps

    yield Step("the statement is an equation", statement.rel_op == "==")
    yield from length_steps(2, _FIXED_LAYERS, lambda depth: statement.rhs.subs(symbol("depth"), depth))


def _doubling_claims() -> Iterator[Claim]:
    from sympy import Le, ceiling, log

    from ..glossary import symbol

    n, layers = symbol("vertices"), symbol("doubling_layers")
    log2 = log(n) / log(2)
    yield Claim(
        key="connectivity/log_depth_uniform", title="ceil(log2 n) doublings of two layers each decide s-t connectivity",
        text="For every n, ceil(log2 n) repetitions of the 2-layer block C(i,k,j) = B(i,k) and B(k,j), then B(i,j) = or over k of "
              "C(i,k,j), on B = A + I find for every directed and undirected graph with n vertices which vertex reaches which.",
        statement=Le(layers, 2 * ceiling(log2)), source=Source("merrill2025", "Theorem 2", _MERRILL), wording="printed",
        kind="construction", holds_for="all", measured=_doubling_layers,
        # "all": every labelled directed graph.
        grid={"quick": (*Case.grid(family="all", vertices=(1, 2, 3)),
                        *Case.grid(family=("directed path", "directed cycle", "path"), vertices=(5, 7, 8, 9, 10, 16, 17, 32, 33))),
              "theory": (Case(family="all", vertices=4),
                         *Case.grid(family=("directed path", "random digraph"), vertices=(6, 12, 48, 64, 65, 100)))},
        control=Control(Case(family="directed path", vertices=16), "one layer per doubling does not do the and and the or",
                       Le(layers, ceiling(log2))),
        note="Executed is the repeated block, on n^3 padding tokens in {0, 1}. The 17 layers before it and the 1 after it, which make 18 + "
             "2 ceil(log2 n), are not executed. A path needs ceil(log2(n - 1)) doublings, so n = 2^t + 1 has one to spare.")


def _inverse_claims() -> Iterator[Claim]:
    from sympy import Eq, Ge, Integer, floor

    from ..glossary import symbol

    L, most = symbol("depth"), symbol("vertices_max")
    shared: dict[str, Any] = {"holds_for": "all", "measured": _largest_universal}
    grid = {"quick": Case.grid(depth=(18, 19, 20, 21, 32, 33, 80)), "theory": Case.grid(depth=(24, 48, 64, 96, 128))}
    yield Claim(
        key="connectivity/log_depth_vertices", title="the printed count allows 2^floor((d - 18)/2) vertices at d layers",
        text="For every d >= 18, the largest n with 18 + 2 ceil(log2 n) <= d is 2^floor((d - 18)/2).",
        statement=Eq(most, Integer(2) ** floor((L - 18) / 2)), wording="derived", grid=grid, proof=_inverse_proof,
        rests_on="about the printed count of layers, not nets. Prose: every d >= 18 is 18 + 2t or 19 + 2t; the steps chain; "
                 "SymPy's rules for floor and ceil",
        source=Source("depthlaw", f"after merrill2025, {_MERRILL}, Theorem 2"),
        control=Control(Case(depth=32), "with 20 for 18 a factor of two is lost", Eq(most, Integer(2) ** floor((L - 20) / 2))),
        note="The examples of the paper's introduction (32 layers for 128 vertices, 80 for 2.1e9) follow this, not Corollary 2.1.",
        kind="identity", **shared)
    yield Claim(
        key="connectivity/log_depth_vertices_printed", title="Theorem 2 grants 2^((d-20)/2) vertices at d layers",
        text="For every d >= 18, every n <= 2^((d - 20)/2) fits into d layers by 18 + 2 ceil(log2 n) <= d, the count of Theorem 2 for s-t "
              "connectivity of all graphs with n vertices.",
        statement=Ge(most, Integer(2) ** ((L - 20) / 2)), source=Source("merrill2025", "Corollary 2.1", _MERRILL),
        wording="printed", grid=grid, kind="lower",
        control=Control(Case(depth=32), "four times as many vertices do not fit", Ge(most, Integer(2) ** ((L - 16) / 2))),
        note="True, and smaller than what Theorem 2 gives by a factor of two for even d, sqrt(2) for odd d. About the printed count: that so "
             "many layers decide connectivity is Theorem 2, of which connectivity/log_depth_uniform executes the repeated block.", **shared)
