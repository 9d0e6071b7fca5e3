"""The least depth of linearised attention for connectivity, over all weights: no width, number of
heads or training gets past distance 3^L with a linear read-out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
from flint import fmpz_mat
from sympy import ceiling, log

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import diameter, quantity
from .graph_attention import Array, distances, integer_states

least_layers = quantity(
    "least_layers",
    r"L_{all}",
    "least number of layers for which some weights decide in every labelling whether two given "
    "vertices are connected; $-1$ where that is not shown",
    "integer",
)

least_layers_rows = quantity(
    "least_layers_rows",
    r"L_{rows}",
    "the same for a threshold on a sum of products of two entries of the output",
    "integer",
)

Swaps = tuple[int, ...]
_DIAMETERS = {"quick": Case.grid(diameter=range(1, 11)), "theory": Case.grid(diameter=(11, 12))}


def swapped_paths(swaps: Swaps) -> tuple[Array, bool]:
    """A + I of two paths in one of 2^D labellings, and whether vertices 0 and 2D are connected.

    Labels 2j and 2j + 1 are at place j. Between places j and j + 1 the paths keep their sides, or
    cross over if swaps[j] is 1.

    >>> [swapped_paths((a, b))[1] for a, b in ((0, 0), (0, 1), (1, 0), (1, 1))]
    [True, False, False, True]
    """
    matrix = np.eye(2 * len(swaps) + 2, dtype=np.int64)
    for j, swap in enumerate(swaps):
        for side in (0, 1):
            u, v = 2 * j + side, 2 * j + 2 + (side ^ swap)
            matrix[u, v] = matrix[v, u] = 1
    return matrix, sum(swaps) % 2 == 0


def basis(functions: Array) -> Array:
    """Some of the rows that are linearly independent and span all. Exact.

    >>> basis(np.array([[1, 1], [2, 2], [0, 1]])).tolist()
    [[0, 1], [1, 1]]
    """
    rows = np.unique(functions, axis=0)
    echelon, _, rank = fmpz_mat(rows.T.tolist()).rref()
    return rows[[next(c for c in range(len(rows)) if echelon[r, c]) for r in range(rank)]]


def first_spaces(matrices: Array) -> tuple[Array, Array]:
    """What layer 0 holds on some graphs, given A + I of each: a basis of the entries of a state,
    and one of the inner products of two of its columns, as functions of the graph.

    A column of the affine embedding is a combination of columns of A + I and of constant ones. So
    an entry combines 1 and entries of A + I, and an inner product these and entries of (A + I)^2.
    """
    count = len(matrices)
    entries = basis(np.concatenate([np.ones((1, count), int), matrices.reshape(count, -1).T]))
    squares = (matrices @ matrices).reshape(count, -1).T
    return entries, basis(np.concatenate([entries, squares]))


def next_spaces(entries: Array, inner: Array) -> tuple[Array, Array]:
    """What spans the entries and the inner products of columns one layer on.

    A column of the next state combines columns times inner products of two columns, since
    (X Q X^T X V)_ic is the sum over a, b of Q_ab X_ia times column b of X times column c of X V.
    Every such combination is the column of a net, as nets side by side are one net.
    """
    chosen = combinations_with_replacement(inner, 3)
    triples = np.array([np.prod(three, axis=0) for three in chosen])
    return products(entries, inner), np.unique(triples, axis=0)


def products(some: Array, others: Array) -> Array:
    """All products of a row of one and a row of the other, each once."""
    return np.unique((some[:, None] * others).reshape(-1, some.shape[1]), axis=0)


def layers_for_swaps(family: Iterable[Swaps], enough: int, *, rows: bool = False) -> int:
    """The least number of layers for which some weights decide the pair on a family of swaps;
    `enough`, which is known to suffice, where no smaller one does.

    Args:
        family: swaps, the sum of any two of which is one of them, so that read-outs stay read-outs
            when all graphs are relabelled by one of them. Hence some read-out decides the pair
            exactly if one correlates with the answer: averaged over the family with alternating
            signs, it becomes a multiple of the answer. If none does, the equal weights on all
            labellings are a Farkas certificate that none decides.
        enough: a number of layers, at most 3.
        rows: read-outs are linear in products of two entries of the output, not in entries.
    """
    found = [swapped_paths(swaps) for swaps in family]
    answer = np.array([1 if connected else -1 for _, connected in found])
    entries, inner = first_spaces(np.array([matrix for matrix, _ in found]))
    for depth in range(enough):
        if depth > 1:
            entries, inner = next_spaces(entries, inner)
        # An entry is one of the layer before times an inner product.
        left, right = entries, inner if depth else np.ones((1, len(answer)), int)
        if rows:
            left = right = products(left, right)
        # Integers far below 2^53, which float64 holds exactly.
        if ((left * answer).astype(float) @ right.T.astype(float)).any():
            return depth
    return enough


@cache
def identity_layers(diameter: int, *, rows: bool = False) -> int:
    """The least number of layers of X -> X X^T X on A + I after which an entry, or the product of
    two rows, is positive exactly for connected vertices of two paths of diameter D: all pairs are
    all labellings of one pair."""
    import networkx as nx

    path = nx.path_graph(diameter + 1)
    paths = nx.disjoint_union(path, path)
    connected = distances(paths) < len(paths)
    seen = (x @ x.T if rows else x for x in integer_states(paths))
    return next(layer for layer, x in enumerate(seen) if np.array_equal(x > 0, connected))


def _both_ends(case: Case, *, rows: bool = False) -> Exact:
    suffices = identity_layers(case.diameter, rows=rows)
    needed = layers_for_swaps(product((0, 1), repeat=case.diameter), suffices, rows=rows)
    return Exact(suffices if needed == suffices else -1)


def _tied_swaps(case: Case) -> Exact:
    """Only labellings whose last two swaps are equal: they cancel."""
    family = [(*swaps, swaps[-1]) for swaps in product((0, 1), repeat=case.diameter - 1)]
    return Exact(layers_for_swaps(family, identity_layers(case.diameter)))


@claim(
    Eq(least_layers, ceiling(log(diameter, 3))),
    source=Source("depthlaw", "after minsky1969, on parity and connectedness, and ye2025"),
    kind="threshold",
    cases=_DIAMETERS,
    control=Control(
        Case(diameter=4),
        "the last two swaps tied: they cancel, and one layer decides all that are left",
        measured=_tied_swaps,
    ),
    cited=(
        "Decides whether width, heads or training can carry linearised attention past distance "
        "$3^L$."
    ),
    formal=Formal(
        "Reach.least_layers_all_weights_checked",
        "Reach.layers_value {diameter}",
        "Nothing: net, read-out, threshold and labellings are those of the theorem, with entries "
        "in any ordered domain.",
    ),
)
def least_layers_all_weights(case: Case) -> Exact:
    r"""Whatever the weights, linearised attention needs exactly $\lceil \log_3 D \rceil$ layers.

    For every $D \geq 1$ and any two different vertices $u$ and $v$ among $2 D + 2$, some net of $L$
    layers decides in every labelling of two paths of $D + 1$ vertices whether $u$ and $v$ are
    connected, exactly if $L \geq \lceil \log_3 D \rceil$. A layer is
    $X \to \sum_h X Q_h X^\top X V_h + X S + B$ with any width, number of heads, signs, skips and
    constants of each token; it starts with any affine embedding of the rows of $A + I$. The net
    answers yes where a linear functional of its whole output exceeds a threshold.

    Weights may depend on $D$, $u$ and $v$, and differ from vertex to vertex, which the identity
    weights of connectivity/layers_for_diameter do not. The argument against fewer layers is the one
    of minsky1969 against perceptrons of bounded order: the output has degree $3^L$ in the
    adjacency, each of $D$ crossings of the two paths changes entries of its own, and the answer is
    the parity of the crossings, which no polynomial of lower degree than $D$ has the sign of.
    Measured is something else: the functions on all $2^D$ crossings that nets of $L$ layers compute
    are a linear space, spanned from the adjacency matrices layer by layer without any degree; it is
    tested whether one of them correlates with the answer, and identity weights are run on all
    labellings. Softmax, layer norm and MLPs are not covered: yehudai2025 reports two layers for one
    cycle against two at width $O(n)$. Nor are read-outs that multiply entries, which reach twice as
    far (connectivity/least_layers_row_readout).
    """
    return _both_ends(case)


@claim(
    Eq(least_layers_rows, ceiling(log(ceiling(diameter / 2), 3))),
    source=Source("depthlaw", "after minsky1969, on parity and connectedness, and paccagnella"),
    kind="threshold",
    cases=_DIAMETERS,
    control=Control(
        Case(diameter=6),
        "as many layers as with a linear read-out: 2, where one is enough",
        Eq(least_layers_rows, ceiling(log(diameter, 3))),
    ),
    supports="connectivity/least_layers_all_weights",
    formal=Formal(
        "Reach.least_layers_row_readout_checked",
        "Reach.row_layers_value {diameter}",
        "Nothing: net, read-out, threshold and labellings are those of the theorem, with entries "
        "in any ordered domain.",
    ),
)
def least_layers_row_readout(case: Case) -> Exact:
    r"""Whatever the weights, a read-out that multiplies rows halves the distance.

    For every $D \geq 1$ and any two different vertices $u$ and $v$ among $2 D + 2$, some net of $L$
    layers of connectivity/least_layers_all_weights decides in every labelling of two paths of
    $D + 1$ vertices whether $u$ and $v$ are connected, exactly if
    $L \geq \lceil \log_3 \lceil D/2 \rceil \rceil$, where it answers yes if
    $\mathrm{tr}(C X C' X^\top)$ exceeds a threshold: a sum of products of two entries of its output
    $X$, with any matrices $C$ and $C'$.

    The product of rows $u$ and $v$ is one such read-out, and no other one of this form reaches
    farther: the gain of connectivity/row_reach is exactly two for all weights. Measured as there,
    on all products of two functions that an entry of the output may be.
    """
    return _both_ends(case, rows=True)
