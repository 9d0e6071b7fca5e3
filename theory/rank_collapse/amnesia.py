"""Causal amnesia: where the last tokens of a causal net have collapsed, it has forgotten them.

States are exact: attention averages the highest scores, or weighs by rational functions of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Le
from ..claims.symbols import quantity
from .rational_matrices import rational_array

# Arrays of fractions.
States = np.ndarray[Any, Any]

forgetting_ratio = quantity(
    "forgetting_ratio",
    r"\Delta/(\delta + \delta')",
    "distance of two last states over the sum of the diameters of the states from the last shared "
    "token on",
    "nonnegative real",
)
shared = quantity("shared_tokens", "t", "first tokens that two inputs have in common")


def attention_weights(scores: States, kind: str) -> States:
    """Weights of one token on those that it sees, which add up to one, over Q: `hardmax`, equal on
    the highest scores; `rational`, in proportion to 1 + score^2; or `uniform`.

    >>> [str(w) for w in attention_weights(rational_array([1, 3, 3]), "hardmax")]
    ['0', '1/2', '1/2']
    """
    if kind == "hardmax":
        scores = rational_array([int(score == scores.max()) for score in scores])
    elif kind == "rational":
        scores = 1 + scores * scores
    elif kind == "uniform":
        scores = rational_array([1] * len(scores))
    else:
        raise ValueError(f"attention {kind!r}: accepted are hardmax, rational and uniform")
    return scores / scores.sum()


def states(case: Case, word: Sequence[int], causal: bool = True) -> list[States]:
    """The states of all positions before the first layer and after each, arrays (n, width).

    A layer is attention with query and key matrices, then a value matrix, and with `residual` the
    layer's input is added; a ReLU block h + W' ReLU(W h) follows where the case has `mlp`. All are
    small integers over 3, drawn for the case, whatever its layer and shared tokens are.

    Cost: O(n^2) products of fractions, which grow with each layer of rational attention.
    """
    names = ("attention", "residual", "mlp", "width", "instance")
    rng = Case(**{name: case.get(name, 0) for name in names}).rng(0)

    def drawn(*shape: int) -> States:
        return rational_array(rng.integers(-3, 4, shape)) / 3

    letters, places = drawn(4, case.width), drawn(12, case.width)
    h = letters[list(word)] + places[: len(word)]
    found = [h]
    for _ in range(case.layer):
        query, key, value, inner, outer = (drawn(case.width, case.width) for _ in range(5))
        if case.attention == "uniform":
            value = rational_array(np.eye(case.width, dtype=int))
        scores = (h @ query) @ (h @ key).T
        rows = []
        for i in range(len(word)):
            seen = i + 1 if causal else len(word)
            rows.append(attention_weights(scores[i, :seen], case.attention) @ h[:seen])
        h = np.array(rows) @ value + (h if case.residual else 0)
        if case.get("mlp"):
            h = h + np.maximum(h @ inner, 0) @ outer
        found.append(h)
    return found


def diameter(points: States) -> Fraction:
    """The largest distance of two rows, in the maximum norm.

    >>> diameter(rational_array([[0, 0], [1, -3], [2, 1]]))
    Fraction(4, 1)
    """
    return max(
        (abs(a - b).max() for a, b in itertools.combinations(points, 2)), default=Fraction(0)
    )


def words_after(prefix: Sequence[int], letters: int, longest: int) -> Iterable[tuple[int, ...]]:
    """The prefix, and all words that continue it by at most so many letters.

    >>> list(words_after((0,), 2, 1))
    [(0,), (0, 0), (0, 1)]
    """
    for more in range(longest + 1):
        for rest in itertools.product(range(letters), repeat=more):
            yield (*prefix, *rest)


def largest_ratio(case: Case, causal: bool = True) -> Fraction:
    """Over all pairs of words that share their first t tokens, at the case's layer; an
    ArithmeticError when two last states differ although both diameters are zero."""
    prefix = [index * index % 3 for index in range(case.shared_tokens)]
    ends = []
    for word in words_after(prefix, case.letters, case.more):
        after = states(case, word, causal)[case.layer]
        ends.append((after[-1], diameter(after[case.shared_tokens - 1 :])))
    ratio = Fraction(0)
    for (a, spread), (b, other) in itertools.combinations(ends, 2):
        gap = abs(a - b).max()
        if gap and not spread + other:
            raise ArithmeticError(f"[{case}]: equal states, and last states {gap} apart")
        ratio = max(ratio, gap / (spread + other) if gap else Fraction(0))
    return ratio


def _nets(**axes: Any) -> tuple[Case, ...]:
    usual: dict[str, Any] = {"width": 2, "letters": 2, "more": 2, "shared_tokens": (1, 3)}
    return Case.grid(**usual | axes)


@claim(
    Le(forgetting_ratio, 1),
    source=Source("depthlaw", "triangle inequality at the last shared token"),
    cases={
        "quick": (
            *_nets(attention="hardmax", residual=0, layer=(1, 2)),
            *_nets(attention="hardmax", residual=1, layer=(1, 2, 4)),
            *_nets(attention="uniform", residual=(0, 1), layer=(1, 3, 6)),
            *_nets(attention="rational", residual=(0, 1), layer=(1, 2), mlp=1),
        ),
        "theory": (
            *_nets(
                attention="hardmax",
                residual=1,
                layer=(3, 6),
                mlp=1,
                instance=(1, 2, 3),
                width=3,
                letters=3,
            ),
            *_nets(attention="rational", residual=(0, 1), layer=3, instance=(1, 2)),
        ),
    },
    control=Control(
        _nets(attention="hardmax", residual=1, layer=2, shared_tokens=3)[0],
        "no mask: the state of the last shared token depends on what follows",
        measured=lambda case: Exact(largest_ratio(case, causal=False)),
    ),
    supports="rank_collapse/position_bias",
    formal=Formal(
        "Amnesia.causal_amnesia_checked",
        "1%N",
        "That the reals are an ordered field. That a transformer with causal masks, and embeddings "
        "that do not know the length, is a causal map is Bridges.causal_transformer, for states of "
        "one type.",
    ),
)
def causal_amnesia(case: Case) -> Exact:
    r"""A causal net forgets the tokens whose states have collapsed.

    If two inputs of any lengths share their first $t$ tokens, then in every layer of every causal
    net whose embeddings do not depend on the length the distance $\Delta$ of their last states is
    at most $\delta + \delta'$, the diameters of the states of either input from position $t$ on.

    A causal state at position $t$ is the same for both inputs, and each last state is within a
    diameter of it. The nets run here are instances, with and without residual connections and ReLU
    blocks, on all words that continue a prefix by at most two letters. Attained where one input is
    the shared prefix itself. If for both inputs the states from $t$ on agree up to $\epsilon$,
    their last states differ by at most $2 \epsilon$; a read-out with Lipschitz constant $K$ that
    tells two such inputs apart by a margin $m$ needs a diameter of at least $m/(2 K)$ for one of
    them. Without a mask the ratio has no bound: rational attention without residual connections has
    one above $10^{12}$ after three layers, and uniform attention makes all states equal in one
    layer.
    """
    return Exact(largest_ratio(case))
