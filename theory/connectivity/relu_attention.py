"""ReLU attention with a growing stream (Ye et al. 2025): what it holds, and what non-negative
weights cannot do."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq, Ge
from ..claims.symbols import depth, quantity
from .graph_attention import Array, with_loops

if TYPE_CHECKING:
    import networkx as nx

powers = quantity(
    "powers",
    r"\#_{pow}",
    "powers of the adjacency matrix with a positive coefficient in the output",
)
unbroken_powers = quantity(
    "unbroken_powers",
    r"J_{pow}",
    "largest $J$ for which each power $A$, $A^2$, ..., $A^J$ of the adjacency matrix has a "
    "positive coefficient",
    "nonnegative integer",
)
survivors = quantity(
    "survivors",
    r"\#_{surv}",
    "weights tried, or extremal supports of weights, that no labelling of two paths refutes",
    "nonnegative integer",
)

_VERSION = "arXiv:2510.19753"


def relu_stream(g: nx.Graph, depth: int) -> list[fmpq_mat]:
    """Blocks of width n after L layers of ReLU attention (1/n) ReLU(h h^T) h, W = I, whose output
    is APPENDED to the stream h, which starts as A + I alone. Exact.

    >>> import networkx as nx
    >>> len(relu_stream(nx.path_graph(3), 2))
    4
    """
    n = len(g)
    blocks = [fmpq_mat(fmpz_mat(with_loops(g).tolist()))]
    for _ in range(depth):
        scores = fmpq_mat(n, n)
        for block in blocks:
            scores = scores + block * block.transpose()
        positive = fmpq_mat(n, n, [max(entry, fmpq(0)) / n for entry in scores.entries()])
        blocks = [*blocks, *(positive * block for block in blocks)]
    return blocks


def relu_support(g: nx.Graph, depth: int) -> Array:
    """Where the sum of the blocks of `relu_stream` is positive: a boolean (n, n) array."""
    total, *blocks = relu_stream(g, depth)
    for block in blocks:
        total = total + block
    return np.array([entry > 0 for entry in total.entries()]).reshape(len(g), len(g))


def _exponents(case: Case) -> set[int]:
    """Exponents j with a positive coefficient of A^j in some block of the stream, by running the
    network on polynomials in A. It starts as A, or as the blocks I and A for start="I A"."""
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


@claim(
    Ge(unbroken_powers, 3**depth),
    known="FAILS",
    source=Source("depthlaw", f"after ye2025, {_VERSION}, Theorem 4.3 as restated"),
    cases={
        "quick": Case.grid(start=("A", "I A"), depth=(0, 1, 2, 3)),
        "theory": Case.grid(start=("A", "I A"), depth=(4, 5)),
    },
    control=Control(
        Case(start="I A", depth=1),
        "the degree of the stream is $3^L$",
        Ge(unbroken_powers, 3**depth + 1),
    ),
    cited="Decides from which start every power of $A$ may be used.",
    formal=Formal(
        "Reach.relu_powers_reported_fails",
        "1%N",
        "That the powers up to the first one that is missing are at most 1 where the second is "
        "missing; that the stream's polynomial in A, at A, is the matrix stream; ReLU and the "
        "factor 1/n are left out of it.",
        refutes=Case.grid(start="A", depth=(1, 2, 3)),
        bound="at most",
    ),
)
def relu_powers_reported(case: Case) -> Exact:
    r"""Powers up to $3^L$ are held, whether the stream starts as $A$ or as $[I, A]$.

    For every $L$, with identity weights, every power $A^j$, $1 \leq j \leq 3^L$, of the adjacency
    matrix $A$ with self-loops has a positive coefficient in the stream after $L$ layers of ReLU
    attention, whether the stream starts as $A$ or as $[I, A]$.

    Holds at every case that starts as $[I, A]$, and fails at those that start as $A$, which hold
    odd powers only (connectivity/relu_powers). The sentence, in a restatement of the theorem, which
    was not read: "it computes $\sum_{j \leq 3^L} \alpha_j A^j$, $\alpha_j > 0$, with all
    $W_l = I$". That the start does not matter is ours and not the source's: the reported width
    $2^{l+1} n$ means $[I, A]$ if $l$ counts finished layers. The reach is $3^L$ either way: with
    self-loops the support of $A^j$ grows with $j$.
    """
    exponents = _exponents(case)
    return Exact(next(j for j in count(1) if j not in exponents) - 1)


@claim(
    Eq(powers, (3**depth + 1) / 2),
    source=Source("depthlaw", f"after ye2025, {_VERSION}, Theorem 4.3"),
    cases={"quick": Case.grid(depth=(0, 1, 2, 3)), "theory": Case.grid(depth=(4, 5))},
    control=Control(
        Case(depth=2, start="I A"), "a stream that starts as $[I, A]$ holds even powers too"
    ),
    supports="connectivity/relu_powers_reported",
    formal=Formal(
        "Reach.relu_powers_checked",
        "Reach.relu_powers_value {depth}",
        "The named theorem counts; which powers is relu_powers. ReLU and the factor 1/n are "
        "left out of the polynomial stream, and that its value at A is the matrix stream is not "
        "formal.",
    ),
)
def relu_powers(case: Case) -> Exact:
    r"""The output holds exactly the $(3^L + 1)/2$ odd powers of $A$.

    For every $L$, with identity weights, the blocks of the stream after $L$ layers of ReLU
    attention, as polynomials in $A$ on a stream that starts as $A$, hold exactly the powers $A^j$
    with odd $j \leq 3^L$, $(3^L + 1)/2$ of them.

    A layer multiplies a block by a sum of squares of blocks, so every exponent stays odd. Measured
    is the number of powers if they are the first odd ones, otherwise -1.
    """
    exponents = _exponents(case)
    return Exact(len(exponents) if exponents == set(range(1, 2 * len(exponents), 2)) else -1)


def _two_paths(length: int) -> tuple[Array, Array]:
    """A + I of two paths of so many vertices, and which vertices are connected."""
    half = sum(np.eye(length, k=k, dtype=int) for k in (-1, 0, 1))
    both = np.eye(2, dtype=int)
    return np.kron(both, half), np.kron(both, np.ones_like(half)) > 0


def _survivors(case: Case, seed: int, beyond: int) -> Exact:
    """Choices of weights for which one threshold on the sum of blocks reads off reachability on two
    paths of diameter 3^L + `beyond`, in every labelling. The first choice is the identity in every
    layer; none is tried twice."""
    rng = case.rng(seed)
    adjacency, together = _two_paths(3**case.depth + beyond + 1)
    adjacency = adjacency.astype(object)
    labellings = [rng.permutation(len(adjacency)) for _ in range(case.labellings)]
    alive = 0
    tried: set[tuple[Any, ...]] = set()
    while len(tried) < case.trials:
        weights = [
            _weight(len(adjacency) * 2**layer, int(rng.integers(6)) if tried else 0, rng)
            for layer in range(case.depth)
        ]
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


def _weight(size: int, kind: int, rng: np.random.Generator) -> Any:
    """Non-negative integer weights of kind 0 to 5: identity, diagonal, identity plus one entry,
    sparse, dense, constant."""
    eye = np.eye(size, dtype=int)
    lone = np.zeros((size, size), dtype=int)
    lone[rng.integers(size), rng.integers(size)] = 1
    kinds = [
        eye,
        eye * rng.integers(0, 3, size),
        5 * eye + lone,
        rng.integers(0, 30, (size, size)) // 29,
        rng.integers(0, 4, (size, size)),
        np.ones_like(eye),
    ]
    return kinds[kind].astype(object)


def _signed_output(adjacency: Any, weights: list[Any]) -> Any:
    """The sum of blocks, with weights W_l in the scores h W_l h^T."""
    stream = adjacency
    for weight in weights:
        scores = stream @ weight @ stream.T
        stream = np.concatenate([stream, np.where(scores > 0, scores, 0) @ stream], axis=1)
    n = len(adjacency)
    return sum(stream[:, at : at + n] for at in range(0, stream.shape[1], n))


def _surviving_supports(case: Case, seed: int) -> Exact:
    """Extremal supports of the weights of one layer (the whole diagonal, one entry off it) for
    which no labelling of two paths shows a wrong support of the output."""
    rng, n = case.rng(seed), case.vertices
    adjacency, together = _two_paths(n // 2)
    orders = [rng.permutation(n) for _ in range(case.labellings)]
    tried = [(adjacency[np.ix_(p, p)], together[np.ix_(p, p)]) for p in orders]
    # The identity is refuted by a pair of one component with entry 0, a single entry by a pair of
    # two components with a positive one.
    alive = int(all((a @ a.T @ a)[same].all() for a, same in tried))
    for at in range(n * n):
        weight = np.zeros(n * n, dtype=int)
        weight[at] = 1
        weight = weight.reshape(n, n)
        if not np.trace(weight):
            alive += not any((a @ weight @ a.T @ a)[~same].any() for a, same in tried)
    return Exact(alive)


@claim(
    Eq(survivors, 0),
    kind="upper",
    source=Source("ye2025", "Theorem 4.5", _VERSION),
    wording="reported",
    cases={
        "quick": (
            Case(depth=1, trials=12, labellings=12),
            Case(depth=1, weights="every", vertices=10, labellings=24),
        ),
        "theory": (Case(depth=1, trials=60, labellings=40), Case(depth=2, trials=24, labellings=6)),
    },
    control=Control(
        Case(depth=1, trials=6, labellings=6),
        "within $3^L$ the identity works",
        measured=lambda case, seed: _survivors(case, seed, beyond=0),
    ),
    cited=(
        "Bears on whether $3^L$ may be quoted as a limit of ReLU attention with non-negative "
        "weights."
    ),
    formal=Formal(
        "Reach.nonnegative_weights_checked",
        "0%N",
        "The theorem holds no number, 0 is the claim's; a factor of the outputs is allowed, too. "
        "For all non-negative weights of the scores, thresholds and pairs of vertices it gives a "
        "labelling on which the model errs. That the labellings drawn hold one, and how each "
        "extremal support is refuted.",
    ),
)
def nonnegative_weights_fail(case: Case, seed: int) -> Exact:
    """No non-negative weights decide every labelling at diameter $3^L + 1$.

    For every $L$ and all non-negative weights of the scores of $L$ layers of ReLU attention, on a
    stream that starts as $A$ and to which outputs are appended, no threshold on the sum of blocks
    reads off reachability in every labelling of two paths of diameter $3^L + 1$.

    Reported: for every choice of non-negative weights there is a graph of that diameter on which
    the model errs. Two paths in all labellings are ours, as are weights of the scores alone; a
    theorem of the kernel, Reach.nonnegative_weights_fail, allows other ones too. Measured
    are 12 and 60 different weights at depth 1 and 24 at depth 2, in the labellings that are drawn:
    a weight that none of these refutes might still be refuted by another. For one layer and two
    paths of 5 vertices every weight matrix is covered, with the threshold 0: supports only grow
    with the weights, the largest diagonal support leaves distance 4 at 0, and every single entry
    off the diagonal joins two components in some labelling, hence so does every matrix that
    contains it. The graph has two components, so that answering yes everywhere fails too.
    """
    if case.get("weights") == "every":
        return _surviving_supports(case, seed)
    return _survivors(case, seed, beyond=1)
