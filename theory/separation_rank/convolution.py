"""Convolutional arithmetic circuits beside attention: who owns which tokens decides their rank.

A layer multiplies every token by one matrix and then neighbours by each other, coordinate by
coordinate, which halves the number of tokens; after L layers one is left of N = 2^L. The output is
linear in each token, so its separation rank is that of the matrix of its coefficients, which are
its values at the unit vectors. For every partition that rank is a minimum cut of the pooling tree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Piecewise
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, at, claim
from ..claims.relations import Eq, Lt
from ..claims.symbols import quantity, tokens as N
from .linear_attention import PRIME, forward, random_net, random_tokens
from .rank_symbols import d
from .value_rank import rank_mod, sep

Residues = NDArray[np.int64]


def circuit(weights: Residues, last: Residues, tokens: Residues) -> Residues:
    """The output modulo `PRIME`: y_i = (W y_{2i}) * (W y_{2i+1}) layer by layer, then last . y_1.

    Args:
        weights: array (L, d, d) of residues, one matrix for each layer, shared by all positions.
        last: array (d,), which reads the token that is left.
        tokens: array (..., 2^L, d).

    Raises:
        ValueError: when the tokens are not 2^L in number.

    >>> circuit(np.array([[[1, 2], [3, 4]]]), np.array([1, 1]), np.eye(2, dtype=int)).item()
    14
    """
    y = np.asarray(tokens)
    if y.shape[-2] != 2 ** len(weights):
        raise ValueError(f"{y.shape[-2]} tokens and {len(weights)} layers: accepted are 2^L tokens")
    for matrix in weights:
        y = _times(matrix, y)
        y = y[..., ::2, :] * y[..., 1::2, :] % PRIME
    return _times(last[None], y)[..., 0, 0]


def _times(matrix: Residues, y: Residues) -> Residues:
    # Products of residues stay below 2^62; they are reduced before they are added.
    return (matrix * y[..., None, :] % PRIME).sum(axis=-1) % PRIME


def coefficient_matrix(weights: Residues, last: Residues, alternating: bool) -> Residues:
    """The coefficients, monomials of one side against those of the other: (d^(N/2), d^(N/2)).

    Args:
        weights, last: as in `circuit`.
        alternating: whether the sides own the tokens in turn, otherwise the first and second half.

    Cost: d^N values of the circuit.
    """
    half, width = 2 ** (len(weights) - 1), len(last)
    side = np.eye(width, dtype=np.int64)[list(itertools.product(range(width), repeat=half))]
    tokens = np.empty((len(side), 2 * half, width), dtype=np.int64)
    own, other = slice(0, half), slice(half, None)
    if alternating:
        own, other = slice(0, None, 2), slice(1, None, 2)
    tokens[:, other] = side
    values = np.empty((len(side), len(side)), dtype=np.int64)
    for row, left in enumerate(side):
        tokens[:, own] = left
        values[row] = circuit(weights, last, tokens)
    return values


SHAPES = {
    "quick": ((2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (4, 2), (3, 3)),
    "theory": ((4, 3), (8, 2), (16, 2)),
}
in_turn = quantity(
    "alternating", "a", "1 where the sides own the tokens in turn, else 0", "nonnegative integer"
)


@claim(
    Eq(sep, Piecewise((d ** (N / 2), Eq(in_turn, 1)), (d, True))),
    source=Source(
        "cohen2016",
        "convolutional arithmetic circuits with shared weights and windows of two tokens",
    ),
    holds_for="almost every",
    assumes={"$N = 2^L$": lambda c: c.tokens == 2 ** c.get("depth", c.tokens.bit_length() - 1)},
    cases={
        suite: [
            Case(width=d, depth=L, tokens=2**L, alternating=alternating)
            for alternating in (True, False)
            for d, L in shapes
        ]
        for suite, shapes in SHAPES.items()
    },
    control=Control(
        Case(width=2, depth=2, tokens=4, alternating=False),
        "the first half and the second, by the rank of sides in turn",
        Eq(sep, d ** (N / 2)),
    ),
    cited="Decides which rank of a convolutional circuit a comparison with attention may use.",
)
def convolution_sides(case: Case, seed: int) -> Exact:
    r"""Sides decide a convolutional circuit's rank: the largest, or the width.

    For a convolutional arithmetic circuit of width $d_x$ and depth $L$ on $N = 2^L$ tokens and
    almost all weights, $\operatorname{sep} = d_x^{N/2}$ if the sides own the tokens in turn, and
    $\operatorname{sep} = d_x$ if they are the first and the second half, in every case measured.

    No function that is linear in each token has a larger rank than $d_x^{N/2}$: the matrix is no
    larger, so that only a smaller rank could show. The halves meet in the last layer only, in a sum
    of $d_x$ products, so that $\operatorname{sep} \leq d_x$ for all weights. Attention without a
    mask has the same rank for all sides of equal size. In turn it grows exponentially with $N$,
    while that of attention never exceeds $S(d_x, L)$, whatever $N$ is and whichever tokens a side
    owns (dimension_count). At equal width and depth $L = \log_2 N$ it is the smaller one all the
    same until $N$ is large: 4, 16 and 256 at $d_x = 2$, $N = 4$, 8 and 16, where $S$ is 18, 232 and
    4538.
    """
    rng, width = case.rng(seed), case.width
    weights = rng.integers(0, PRIME, (case.depth, width, width))
    matrix = coefficient_matrix(weights, rng.integers(0, PRIME, width), case.alternating)
    rank = rank_mod(matrix)
    # A minor has degree 2 N - 1 in the weights for each of its rows.
    miss = (rank + 1) * (2 * 2**case.depth - 1) / PRIME
    return Exact(rank, misses=0.0 if rank == len(matrix) else miss)


# --- partition by partition -----------------------------------------------------------------------


def coefficient_tensor(weights: Sequence[Residues]) -> Residues:
    """The coefficients of a circuit modulo `PRIME`: array of N axes of length M, one for a token.

    Args:
        weights: one array (positions, channels out, channels in) for each layer, the first with N
            positions and M channels in, the last with one position and one channel out. Equal
            matrices are shared weights.

    Raises:
        ValueError: when the numbers of positions do not halve down to one.

    >>> coefficient_tensor([np.array([[[1, 2], [3, 4]]] * 2), np.array([[[1, 1]]])]).tolist()
    [[10, 14], [14, 20]]
    """
    if [len(matrices) for matrices in weights] != [2**k for k in range(len(weights))][::-1]:
        raise ValueError(
            f"{[len(matrices) for matrices in weights]} positions in the layers: accepted are "
            "powers of two that halve down to one"
        )
    # Of every position the channels, as tensors over the tokens below it.
    nodes = [matrix % PRIME for matrix in weights[0]]
    for matrices in weights[1:]:
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        nodes = [
            _times(matrix, (a[:, :, None] * b[:, None, :] % PRIME).reshape(len(a), -1).T).T
            for matrix, (a, b) in zip(matrices, pairs, strict=True)
        ]
    return nodes[0].reshape([weights[0].shape[2]] * len(weights[0]))


def random_circuit(
    rng: np.random.Generator, channels: Sequence[int], features: int, shared: bool
) -> list[Residues]:
    """Uniform weights for `coefficient_tensor`: r_0, ..., r_{L-1} channels of the layers' products,
    M features of a token, N = 2^L; `shared`: all positions of a layer have the same matrix.

    >>> [w.shape for w in random_circuit(np.random.default_rng(0), (3, 2), 2, shared=False)]
    [(4, 3, 2), (2, 2, 3), (1, 1, 2)]
    """
    weights = []
    for level, (inner, outer) in enumerate(itertools.pairwise((features, *channels, 1))):
        positions = 2 ** (len(channels) - level)
        drawn = rng.integers(0, PRIME, (1 if shared else positions, outer, inner))
        weights.append(np.broadcast_to(drawn, (positions, outer, inner)))
    return weights


def minimum_cut(side: Collection[int], channels: Sequence[int], features: int) -> int:
    """The least product of capacities of vertices whose removal parts the sides of the pooling
    tree; `side`: the tokens of one, from 0; channels and features as in `random_circuit`.

    A token has capacity M and belongs to a side; a product of level l has capacity r_{l-1}, two
    children, and may be removed or put on either side. No edge may join the two sides.

    >>> minimum_cut((0, 1), (2, 2), 2), minimum_cut((0, 2), (3, 2), 3)
    (2, 9)
    """

    def costs(level: int, place: int) -> tuple[int, int, int]:
        """Of the subtree with its vertex on the one side, on the other, or removed."""
        if level == 0:
            return (1, features, features) if place in side else (features, 1, features)
        below = [costs(level - 1, 2 * place + child) for child in (0, 1)]
        # A removed child may stand below any vertex, and all children below a removed one.
        one, other = (math.prod(min(cost[s], cost[2]) for cost in below) for s in (0, 1))
        return one, other, channels[level - 1] * math.prod(min(cost) for cost in below)

    return min(costs(len(channels), 0))


def matricised_rank(tensor: Residues, side: Sequence[int]) -> int:
    """The rank modulo `PRIME` of a tensor as a matrix, the axes of one side against all others.

    >>> matricised_rank(np.eye(2, dtype=np.int64), (0,))
    2
    """
    others = [axis for axis in range(tensor.ndim) if axis not in side]
    rows = math.prod(tensor.shape[axis] for axis in side)
    return rank_mod(np.transpose(tensor, [*side, *others]).reshape(rows, -1))


def _side(case: Case) -> list[int]:
    """The tokens of the side that owns the first one, such as "1357", from 0."""
    return [int(token) - 1 for token in case.side]


def _channels(case: Case) -> tuple[int, ...]:
    return tuple(map(int, case.channels.split("-")))


def balanced(tokens: int) -> list[str]:
    """All partitions of the tokens into two sides of equal size, by the side that owns the first.

    >>> balanced(4)
    ['12', '13', '14']
    """
    others = itertools.combinations(range(2, tokens + 1), tokens // 2 - 1)
    return ["".join(map(str, (1, *rest))) for rest in others]


def symmetric_capacities(channels: Sequence[int], features: int) -> tuple[int, ...]:
    """How many channels count where all positions of a layer share one matrix: then channels are
    symmetric products of e functions, of which there are at most e (e + 1)/2.

    >>> symmetric_capacities((4, 4), 2), symmetric_capacities((2, 2), 2)
    ((3, 4), (2, 2))
    """
    capacities, below = [], features
    for inner in channels:
        below = min(inner, below * (below + 1) // 2)
        capacities.append(below)
    return tuple(capacities)


cut = quantity(
    "minimum_cut",
    r"\operatorname{cut}",
    "least product of capacities of the vertices of the pooling tree whose removal parts the sides",
)


def _cut(statement: Relational, case: Case) -> Any:
    channels = _channels(case)
    if case.shared:
        channels = symmetric_capacities(channels, case.features)
    value = minimum_cut(_side(case), channels, case.features)
    return at(statement.rhs.subs(cut, value), case)


def _circuit_rank(case: Case, seed: int, shared: bool | None = None) -> Exact:
    channels = _channels(case)
    weights = random_circuit(
        case.rng(seed), channels, case.features, case.shared if shared is None else shared
    )
    rank = matricised_rank(coefficient_tensor(weights), _side(case))
    full = case.features ** (2 ** len(channels) // 2)
    # As for `convolution_sides`; with one matrix for each position the degree is the same.
    miss = (rank + 1) * (2 * 2 ** len(channels) - 1) / PRIME
    return Exact(rank, misses=0.0 if rank == full else miss)


def _circuits(*shapes: tuple[int, str], shared: bool) -> tuple[Case, ...]:
    return tuple(
        case
        for features, channels in shapes
        for case in Case.grid(
            features=features,
            channels=channels,
            side=balanced(2 ** len(channels.split("-"))),
            shared=shared,
        )
    )


_AFTER = Source(
    "depthlaw", "after cohen2017, arXiv:1605.06743, Theorem 1, with windows of two tokens"
)


@claim(
    Eq(sep, cut),
    predicted=_cut,
    kind="identity",
    source=_AFTER,
    holds_for="almost every",
    cases={
        "quick": _circuits(
            (2, "4-4"), (3, "3-2"), (2, "2-2-2"), (2, "4-3-2"), (3, "2-3-4"), shared=False
        ),
        "theory": _circuits((3, "3-3-3"), (2, "3-1-5"), (3, "5-7-2"), shared=False),
    },
    control=Control(
        Case(features=2, channels="4-4", side="12", shared=False),
        "one matrix for all positions of a layer: symmetric products are too few",
        measured=lambda case, seed: _circuit_rank(case, seed, shared=True),
    ),
    supports="separation_rank/convolution_sides",
)
def convolution_cut(case: Case, seed: int) -> Exact:
    r"""A convolutional circuit's rank is the minimum cut of its tree.

    For every partition of $N = 4$ or 8 tokens into sides of equal size, and almost all weights, no
    matrix shared by two positions, the separation rank of a convolutional arithmetic circuit with
    windows of two tokens is $\operatorname{cut}$: the least product of capacities of vertices of
    the pooling tree whose removal parts the sides, in every case measured. The capacity of a token
    is its number of features, that of a product its number of channels.

    Measured on each partition, 35 of eight tokens, for a few lists of channels. No weights exceed
    the cut: the values of the removed vertices are summed over, and for fixed ones the circuit is a
    product of the sides. Theorem 1 of cohen2017 has bounds from below and above in place of the
    cut. With shared weights, as in convolutional nets, products have smaller capacities:
    separation_rank/convolution_shared.
    """
    return _circuit_rank(case, seed)


@claim(
    Eq(sep, cut),
    predicted=_cut,
    kind="identity",
    source=_AFTER,
    holds_for="almost every",
    cases={
        "quick": _circuits(
            (2, "2-2"),
            (2, "4-4"),
            (3, "3-2"),
            (2, "2-2-2"),
            (2, "4-3-2"),
            (2, "4-4-4"),
            shared=True,
        ),
        "theory": _circuits((3, "3-3-3"), (3, "5-7-2"), (2, "5-9-24"), shared=True),
    },
    control=Control(
        Case(features=2, channels="4-4", side="12", shared=True),
        "the capacities of weights that are not shared",
        measured=lambda case, seed: _circuit_rank(case, seed, shared=False),
    ),
    supports="separation_rank/convolution_sides",
)
def convolution_shared(case: Case, seed: int) -> Exact:
    r"""With shared weights the cut counts symmetric products.

    For every partition of $N = 4$ or 8 tokens into sides of equal size, and almost all weights that
    the positions of a layer share, the separation rank of a convolutional arithmetic circuit with
    windows of two tokens is the minimum cut of separation_rank/convolution_cut, where a product of
    $r$ channels above vertices of capacity $e$ has the capacity $\min(r, e (e + 1)/2)$, in every
    case measured.

    For two features and channels 4, 4 the halves of four tokens give 3; the number of channels
    would give 4. Equal numbers of channels and features make no difference. The capacities are
    derived here: the children of a product are the same functions of different tokens, so that its
    channels lie in the symmetric square of theirs.
    """
    return _circuit_rank(case, seed)


rank_ratio = quantity(
    "rank_ratio",
    r"\operatorname{sep}_{CNN}/\operatorname{sep}_{att}",
    "separation rank of a convolutional circuit over that of linearised attention, of the same "
    "partition",
    "positive real",
)


def _attention_rank(case: Case, seed: int, depth: int) -> Exact:
    """The rank of linearised attention, read at the first token, from its values at random inputs
    of both sides."""
    rng, width, tokens = case.rng(seed), _channels(case)[0], 2 ** len(_channels(case))
    net, own = random_net(rng, width=width, depth=depth), _side(case)
    other = [token for token in range(tokens) if token not in own]
    left, right = (random_tokens(rng, net, case.inputs, len(part)) for part in (own, other))
    values = np.empty((case.inputs, case.inputs), dtype=np.int64)
    x = np.empty((case.inputs, tokens, width), dtype=np.int64)
    x[:, other] = right
    for row, part in enumerate(left):
        x[:, own] = part
        values[row] = forward(net, x)
    rank = rank_mod(values)
    if rank == case.inputs:
        raise ValueError(f"[{case}]: the rank needs more inputs of each side")
    return Exact(rank)


def _beside_attention(case: Case, seed: int, layers: int | None = None) -> Exact:
    """The ratio, with attention of as many layers as the circuit, or of `layers`."""
    circuits = _circuit_rank(case, seed)
    depth = len(_channels(case)) if layers is None else layers
    attention = _attention_rank(case, seed, depth)
    # The rank of attention is a lower bound on its separation rank, so that it may make the ratio
    # too large only.
    return Exact(Fraction(int(circuits.value), int(attention.value)), misses=circuits.misses)


def _compared(features: int, channels: str, sides: Iterable[str], inputs: int) -> tuple[Case, ...]:
    return Case.grid(
        features=features, channels=channels, side=tuple(sides), shared=True, inputs=inputs
    )


# One partition of eight tokens of each type up to symmetries of the tree.
_TYPES = ("1234", "1256", "1235", "1257", "1357")


@claim(
    Lt(rank_ratio, 1),
    source=Source("depthlaw", "after cohen2016 and levine2020, at equal width and depth"),
    kind="upper",
    holds_for="almost every",
    assumes={
        "width of the circuit is the number of features": lambda c: (
            set(_channels(c)) == {c.features}
        )
    },
    cases={
        "quick": (
            *_compared(2, "2-2", balanced(4), 24),
            *_compared(3, "3-3", balanced(4), 60),
            *_compared(4, "4-4", balanced(4), 140),
            *_compared(2, "2-2-2", _TYPES, 240),
        ),
        "full": _compared(2, "2-2-2", (s for s in balanced(8) if s not in _TYPES), 240),
    },
    control=Control(
        Case(features=2, channels="2-2-2", side="1357", shared=True, inputs=240),
        "attention of one layer in place of three",
        measured=lambda case, seed: _beside_attention(case, seed, layers=1),
    ),
    supports="separation_rank/convolution_sides",
)
def convolution_below_attention(case: Case, seed: int) -> Exact:
    r"""At width 2 no sides of eight tokens outrank attention.

    For every partition of $N = 4$ or 8 tokens into sides of equal size, a convolutional arithmetic
    circuit with shared weights has a smaller separation rank than linearised attention of the same
    width $d_x$ and depth $L = \log_2 N$, for almost all weights: $d_x = 2$, 3 and 4 for four
    tokens, 2 for eight.

    The seminar notes say that "convolutional neural networks have high separation rank" and
    transformers "have low separation rank". At these sizes it is the other way round on each
    partition: for eight tokens 2 (halves), 4, 8 or 16 (sides in turn) against 232, the same for all
    sides. Of the 35 partitions of eight tokens suite quick has one of each type up to symmetries of
    the tree, suite full all. The notes name no sizes: the ratio for sides in turn is $2^{N/2}/S(2,
    L)$ and passes 1 at $N = 64$; for the halves it only falls. The circuit is linear in each token,
    so that $d_x^{N/2}$ is the most it can have; attention is of degree $3^L$.
    """
    return _beside_attention(case, seed)
