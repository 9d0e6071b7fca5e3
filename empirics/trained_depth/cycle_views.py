"""On cycles of equal length what lies around two vertices says nothing beyond.

On random paths a rule that sees 9 steps far answers pairs at any distance
(`local_baselines.local_baseline_misses`), so that no wall could show there. On cycles every vertex
looks like every other one: rules that see r steps far are at chance beyond r, or beyond 2r where
they compare what they see vertex by vertex. Nets that are right farther than that see farther, or
use which vertex is which: they are given the index, which such rules do not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.laws import reach
from depthlaw.theory.claims.definition import Case, Control, Exact, Source, claim
from depthlaw.theory.claims.relations import Eq
from depthlaw.theory.claims.symbols import quantity

if TYPE_CHECKING:
    import networkx as nx

views = quantity(
    "views", "t", "number of ways in which two vertices look to a rule that sees $r$ steps far"
)

SOURCE = Source("depthlaw", "after ye2025, arXiv:2510.19753, Theorems 4.3 and 4.5")


def _sight(rule: str, radius: int) -> int:
    """Up to which distance a rule of a radius sees whether two vertices are connected."""
    return 2 * radius if rule == "intersecting" else radius


# Cycles, vertices of each, and layers whose reach is the radius.
_NETS_ON = (
    (2, 8, 1), (2, 20, 1), (2, 20, 2), (2, 32, 1), (2, 32, 2), (2, 64, 3),
    (3, 22, 1), (3, 22, 2), (3, 22, 3),
)  # fmt: skip


def _looks(graphs: Iterable[tuple[int, int, Iterable[int]]]) -> list[Case]:
    """Cases of both rules with pairs out of their sight, from cycles, vertices of each, radii."""
    return [
        Case(net=rule, cycles=k, around=c, radius=r)
        for k, c, radii in graphs
        for rule in ("bounded", "intersecting")
        for r in radii
        if _sight(rule, r) < c // 2
    ]


_LOOKS = {"quick": _looks((k, c, (1, 2, 3)) for k, c in ((2, 7), (2, 8), (3, 5), (3, 22)))}
_LOOKS["training"] = [
    case
    for case in _looks((k, c, (reach(L),)) for k, c, L in _NETS_ON)
    if case not in _LOOKS["quick"]
]


@claim(
    Eq(views, 1),
    source=Source("depthlaw", "symmetry of unions of equal cycles"),
    weight="step",
    cases=_LOOKS,
    assumes={
        "$r$, or $2 r$ where balls are compared, is less than the largest distance": lambda c: (
            _sight(c.net, c.radius) < c.around // 2
        )
    },
    control=Control(
        Case(net="intersecting", cycles=2, around=16, radius=3, beyond=3),
        "between $r$ and $2 r$ the balls meet",
    ),
    supports="trained_depth/wall_beyond",
)
def cycles_look_alike(case: Case) -> Exact:
    """Around vertices of equal cycles everything looks alike.

    In $k$ cycles of $c$ vertices each, all pairs of vertices at a distance above $r$, on one cycle
    or on two, look alike to a rule that sees the two balls of radius $r$ up to isomorphism; and all
    pairs at a distance above $2 r$ to a rule that knows besides which vertices the two balls share.

    So such a rule, whatever it computes, gives a pair at such a distance and one that is not
    connected the same score; with ties settled by a coin the chance to be right is one half,
    exactly. That says nothing of rules that know vertices by their index. Counted are classes of
    isomorphic pairs of rooted balls, and of unions of two rooted balls, over all pairs of a first
    vertex with another one; rotations and exchanges of cycles take every pair to one of these. A
    rule that also sees edges between its balls sees one step more.
    """
    import networkx as nx

    k, c, r = case.cycles, case.around, case.radius
    graph = nx.disjoint_union_all([nx.cycle_graph(c)] * k)
    far = nx.single_source_shortest_path_length(graph, 0)
    least = case.get("beyond", _sight(case.net, r))
    kinds: list[Any] = []
    for v in range(1, len(graph)):
        if far.get(v, len(graph)) > least:
            seen = _seen(graph, v, r, joined=case.net == "intersecting")
            if not any(nx.is_isomorphic(seen, known, node_match=_same_root) for known in kinds):
                kinds.append(seen)
    return Exact(len(kinds))


def _seen(graph: nx.Graph, v: int, radius: int, *, joined: bool) -> nx.Graph:
    """The balls around vertex 0 and v, their centres marked: united, or side by side."""
    import networkx as nx

    balls = [nx.Graph(nx.ego_graph(graph, centre, radius)) for centre in (0, v)]
    for ball, centre, name in zip(balls, (0, v), ("first", "second"), strict=True):
        nx.set_node_attributes(ball, {centre: name}, "root")
    return nx.compose(*balls) if joined else nx.disjoint_union(*balls)


def _same_root(one: dict[str, str], other: dict[str, str]) -> bool:
    return one.get("root") == other.get("root")
