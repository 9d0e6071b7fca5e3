"""L layers of attention, X -> X X^T X on A + I, with or without ReLU, see exactly as far as 3^L."""

from __future__ import annotations

from sympy import Min, ceiling, log

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, diameter, quantity
from .graph_attention import (
    clipped_states,
    common,
    cycles_told_apart,
    graphs,
    integer_states,
    layer_at,
    minimal_depth,
    radius,
)
from .relu_attention import relu_support

reached_distance = quantity(
    "reached_distance",
    "r_+",
    "largest distance of two vertices with a positive output entry; $n$ for different components",
    "nonnegative integer",
)
row_distance = quantity(
    "row_distance",
    r"r_{row}",
    "largest distance of two vertices whose output rows have positive product",
    "nonnegative integer",
)
least_depth = quantity(
    "minimal_depth",
    r"L_{min}",
    "first layer after which every connected pair of vertices has a positive entry",
    "nonnegative integer",
)
longest_cycle = quantity(
    "cycle_length_max",
    r"m_{max}",
    "largest $m$ for which one $2 m$-cycle is told from two $m$-cycles",
)

# What is our own is credited to this project, and names what it was made after.
_PLAIN = Source("depthlaw", "after ye2025, arXiv:2510.19753, Theorems 4.3 and 4.5")
_PACCAGNELLA = Source("depthlaw", "after paccagnella, Part IV")
# The family "all" is every graph of at most 6 vertices.
_DIAMETERS = {
    "quick": (
        *Case.grid(
            family=("path", "two cycles", "grid"), diameter=(1, 2, 3, 4, 8, 9, 10, 26, 27, 28)
        ),
        *Case.grid(family="all", diameter=(1, 2, 3, 4, 5)),
    ),
    "theory": (
        *Case.grid(family=("path", "cycle"), diameter=(80, 81, 82)),
        *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(3, 4, 9, 10)),
    ),
    "full": Case.grid(family="path", diameter=(242, 243, 244, 729, 730)),
}
# What is claimed of other read-outs and networks is tried on these graphs.
GRAPHS = {
    "quick": (
        *Case.grid(
            family=("path", "cycle", "two cycles", "grid"), diameter=(3, 4, 10), depth=(0, 1, 2)
        ),
        *Case.grid(family="barbell", diameter=(3, 8), depth=(1, 2)),
        Case(family="star", diameter=2, depth=1),
    ),
    "theory": (
        *Case.grid(family=("path", "two cycles"), diameter=(18, 19, 28), depth=2),
        *Case.grid(family="all", diameter=(2, 4), depth=(0, 1)),
        Case(family="all", diameter=5, depth=1),
        *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(6, 8), depth=(1, 2)),
    ),
}


@claim(
    Eq(reached_distance, Min(3**depth, diameter)),
    source=_PLAIN,
    cases={
        "quick": (
            *Case.grid(
                family=("path", "cycle", "two cycles", "grid"),
                diameter=(2, 3, 5, 12),
                depth=(0, 1, 2),
            ),
            *Case.grid(family=("path", "two cycles"), diameter=(28,), depth=(2, 3)),
            *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(4, 8), depth=(1, 2)),
            *Case.grid(family="karate club", diameter=5, depth=(0, 1, 2)),
            *Case.grid(family="barbell", diameter=(3, 6), depth=1),
            Case(family="star", diameter=2, depth=1),
            *Case.grid(family="all", diameter=(2, 4), depth=(0, 1)),
            Case(family="all", diameter=5, depth=1),
            *(Case(network="ReLU", **case.fields()) for case in GRAPHS["quick"]),
        ),
        "theory": (
            *Case.grid(family="all", diameter=(1, 3), depth=(0, 1, 2)),
            *Case.grid(family=("path", "cycle", "grid"), diameter=(27, 30), depth=(2, 3, 4)),
            *Case.grid(
                family=("random tree", "Erdos-Renyi"), diameter=(6, 10, 11), depth=(1, 2, 3)
            ),
            *Case.grid(family="path", diameter=(81, 82), depth=(3, 4)),
            *(Case(network="ReLU", **case.fields()) for case in GRAPHS["theory"]),
        ),
    },
    control=Control(
        Case(family="path", diameter=12, depth=1),
        "with base 2 the reach at $L = 1$ would be 2, not 3",
        Eq(reached_distance, Min(2**depth, diameter)),
    ),
    supports="connectivity/layers_for_diameter",
    formal=Formal(
        "Reach.reached_distance_checked",
        "Reach.reach_value {depth} {diameter}",
        "The named theorem is the farthest pair of the plain layer; the pairs are reach, "
        "reach_residual and relu_reach, whose maximum follows but is not stated.",
    ),
)
def reach(case: Case, seed: int) -> Exact:
    r"""$L$ layers of attention with identity weights reach exactly $3^L$.

    For every graph with largest finite distance $D$, an entry after $L$ layers of $X \to X X^T X$
    on $A + I$ is positive exactly where two vertices of a component are at distance at most $3^L$,
    so the farthest such pair has distance $\min(3^L, D)$; with the residual connection,
    $X \to X + X X^T X$, as well; and so is the sum of blocks of ReLU attention
    $(1/n) \mathrm{ReLU}(h h^T) h$, its output appended to a stream $h$ that starts as $A + I$
    alone.

    Exact integers (rationals for ReLU) and identity weights, without softmax: $L$ layers give the
    power $m = 3^L$ of $A + I$, which is positive exactly within distance $m$. Nothing cancels,
    since all entries are non-negative; with signed weights a residual could. So 'all entries are
    positive' tells one $2 m$-cycle, of diameter $m$, from two $m$-cycles iff $m \leq 3^L$. With
    identity weights no score is negative, so ReLU never cuts. ye2025 proves reach $3^L$ for ReLU
    attention with non-negative weights and tokens of width $n$ (Theorem 4.3, as reported): the
    theorem itself was not read, and reported stream widths $2^{l+1} n$ may mean a stream that
    starts as two blocks (connectivity/relu_powers_reported).
    """
    if case.get("network") == "ReLU":
        return Exact(common(radius(g, relu_support(g, case.depth)) for g in graphs(case, seed)))
    return Exact(
        common(
            radius(g, layer_at(integer_states(g, residual=residual), case.depth) > 0)
            for g in graphs(case, seed)
            for residual in (False, True)
        )
    )


@claim(
    Eq(row_distance, Min(2 * 3**depth, diameter)),
    source=_PACCAGNELLA,
    cases=GRAPHS,
    control=Control(
        Case(family="path", diameter=10, depth=1),
        "not only the entries themselves",
        Eq(row_distance, Min(3**depth, diameter)),
    ),
    cited=(
        "Decides whether a read-out that compares rows reaches as far as single entries or "
        "twice as far."
    ),
    formal=Formal(
        "Reach.row_distance_checked",
        "Reach.row_reach_value {depth} {diameter}",
        "The named theorem is the farthest pair; that exactly the pairs within that distance "
        "have a positive product is row_reach.",
    ),
)
def row_reach(case: Case, seed: int) -> Exact:
    r"""Comparing rows of the output doubles the reach to $2 \cdot 3^L$.

    For every graph with largest finite distance $D$, two rows of the output of $L$ layers of
    $X \to X X^T X$ on $A + I$ have a positive inner product (cosine) exactly for vertices at
    distance at most $\min(2 \cdot 3^L, D)$.

    Both balls of radius $3^L$ must meet: the inner products are the power $2 \cdot 3^L$ of $A + I$,
    where connectivity/reach is the same for the entries themselves; what differs is the read-out.
    paccagnella, a student report, sees the wall of trained nets move to $2 \cdot 3^L$ with such a
    read-out.
    """
    outputs = ((g, layer_at(clipped_states(g), case.depth)) for g in graphs(case, seed))
    return Exact(common(radius(g, x @ x.T > 0) for g, x in outputs))


@claim(
    Eq(longest_cycle, 2 * 3**depth),
    source=_PACCAGNELLA,
    kind="threshold",
    cases={
        "quick": (Case(depth=1, longest=16), Case(depth=2, longest=24)),
        "theory": (Case(depth=3, longest=60),),
    },
    control=Control(
        Case(depth=2, longest=24),
        "$m = 3^L$ is where the entries stop to tell; the rows go on to twice that",
        Eq(longest_cycle, 3**depth),
    ),
    supports="connectivity/row_reach",
)
def one_vs_two_cycles_rows(case: Case) -> Exact:
    r"""Row read-outs tell the cycles apart iff $m \leq 2 \cdot 3^L$.

    For every $L \geq 1$, the rows after $L$ layers of $X \to X X^T X$ on $A + I$, each read as a
    multiset of entries, differ between one $2 m$-cycle and two $m$-cycles exactly when
    $3 \leq m \leq 2 \cdot 3^L$.

    From $m = 2 \cdot 3^L + 1$ on both graphs look like a line from every vertex. Up to there the
    numbers of positive entries in a row already differ, $\min(2 m, 2 \cdot 3^L + 1)$ and
    $\min(m, 2 \cdot 3^L + 1)$. It decides cycles, not connectivity. 'All entries are positive'
    stops at $m = 3^L$ (connectivity/reach). paccagnella, a student report, sees the same factor of
    two with a cosine read-out.
    """
    apart = [cycles_told_apart(length, case.depth) for length in range(3, case.longest + 1)]
    # A rule that fails and succeeds again further on has no threshold: -1.
    return Exact(2 + sum(apart) if apart == sorted(apart, reverse=True) else -1)


@claim(
    Eq(least_depth, ceiling(log(diameter, 3))),
    source=_PLAIN,
    kind="threshold",
    headline=(
        "A task whose least depth, for nets executed exactly, is known to the layer: reach triples."
    ),
    cases=_DIAMETERS,
    control=Control(
        Case(family="path", diameter=9),
        "base 2 would ask for 4 layers at $D = 9$",
        Eq(least_depth, ceiling(log(diameter, 2))),
    ),
    cited=r"Decides whether $\lceil \log_3 D \rceil$ may be quoted as the least depth with "
    "identity weights.",
    formal=Formal(
        "Reach.layers_for_diameter_checked",
        "Reach.layers_value {diameter}",
        "Nothing: the theorem asks for positive entries exactly at connected pairs, and by "
        "reach no other pair ever has one.",
    ),
)
def layers_for_diameter(case: Case, seed: int) -> Exact:
    r"""All pairs are decided by exactly $\lceil \log_3 D \rceil$ layers.

    For every graph whose largest finite distance is $D$, the least depth at which $X \to X X^T X$
    on $A + I$ has a positive entry for every connected pair of vertices is
    $\lceil \log_3 D \rceil$.

    The inverse of connectivity/reach, for the advice that quotes it. For this network only: tokens
    are rows of $A + I$, of width $n$, and the weights are the identity. From this layer on the
    least index in the support of a vertex's row names its component. Corollary 3.3 of sanford2024
    is about other networks: $m = O(N^\epsilon)$, $H = O(\log \log N)$ and $L = O(\log D)$ without a
    constant, which nothing finite can refute. Nor can the lower bound of its Corollary 3.5: if no
    MPC protocol tells one cycle from two in $o(\log N)$ rounds (the one-versus-two-cycle
    conjecture, for which there is no claim here), narrow transformers that decide connectivity need
    $\Omega(\log D)$ layers, with an unknown constant. That this one network, whose width $n$ lies
    outside the corollary's regime, needs $\log_3 D$ layers cannot test a bound over all
    transformers.
    """
    return Exact(common(minimal_depth(g) for g in graphs(case, seed)))
