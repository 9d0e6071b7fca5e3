"""Teachers: linearised attention with integer weights, whose values on a grid of token ids are
exact integers.

A grid has one row for each choice of the tokens of side A, which holds the position that is read,
and one column for each choice of the tokens of side B. The rank of the matrix of values is at most
the teacher's separation rank, and its singular values say how well any function of smaller rank can
do on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthlaw.theory.claims.values import Case
from depthlaw.theory.separation_rank.linear_attention import (
    LinearAttentionNet,
    normal_form,
    random_net,
)

Array = NDArray[Any]

# Embeddings are the integer points nearest to random points of a sphere of this radius: equal norms
# keep a polynomial of high degree from being dominated by a few cells of the grid.
RADIUS = 32


@dataclass(frozen=True)
class Teacher:
    """A linearised net of one head, without residual connections, on a grid of inputs.

    Attributes:
        width, depth: of the net.
        vocabulary: number of token ids.
        tokens: tokens on each side of the partition; position 0 of side A is read.
        rows, columns: inputs of side A and of side B, drawn at random.
        seed: of weights, embedding and grid.

    Raises:
        ValueError: for a number below 1 (the seed: below 0), or more inputs of one token a side
            than there are ids.

    >>> Teacher(width=2, depth=2, rows=4, columns=3).vocabulary
    64
    """

    width: int
    depth: int
    vocabulary: int = 64
    tokens: int = 2
    rows: int = 128
    columns: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = (self.width, self.depth, self.vocabulary, self.tokens, self.rows, self.columns)
        if min(sizes) < 1 or self.seed < 0:
            raise ValueError(
                f"width, depth, vocabulary, tokens, rows and columns are {sizes} and "
                f"the seed is {self.seed}: accepted are sizes from 1 on and seeds "
                "from 0 on"
            )
        if self.tokens == 1 and max(self.rows, self.columns) > self.vocabulary:
            raise ValueError(
                f"{self.rows} x {self.columns} inputs of one token a side: accepted "
                f"are at most {self.vocabulary}, as many as there are ids"
            )

    def rng(self, what: str) -> np.random.Generator:
        """A generator for one part of the teacher: the others do not depend on its draws, and the
        weights do not depend on the grid."""
        fields = (
            {"width": self.width, "depth": self.depth}
            if what == "weights"
            else {"vocabulary": self.vocabulary, "width": self.width}
            if what == "embedding"
            else {"vocabulary": self.vocabulary, "tokens": self.tokens}
        )
        return Case(what=what, **fields).rng(self.seed)


def net(teacher: Teacher) -> LinearAttentionNet:
    """The weights: whole numbers of size 1 to 3.

    >>> net(Teacher(width=2, depth=3)).depth
    3
    """
    return random_net(teacher.rng("weights"), width=teacher.width, depth=teacher.depth, prime=None)


def embedding(teacher: Teacher) -> Array:
    """The token of each id: whole numbers, shape (vocabulary, width)."""
    points = teacher.rng("embedding").normal(size=(teacher.vocabulary, teacher.width))
    points *= RADIUS / np.linalg.norm(points, axis=1, keepdims=True)
    return np.rint(points).astype(np.int64).astype(object)


def grid(teacher: Teacher) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The token ids of both sides: shapes (rows, tokens) and (columns, tokens).

    With one token a side these are the first ids in turn, so that a grid as large as the vocabulary
    is the whole domain. Otherwise they are drawn; a smaller grid is the corner of a larger one.

    >>> left, right = grid(Teacher(width=2, depth=2, rows=4, columns=3))
    >>> left.shape, right.shape
    ((4, 2), (3, 2))
    """
    if teacher.tokens == 1:
        return np.arange(teacher.rows)[:, None], np.arange(teacher.columns)[:, None]
    sides = [
        teacher.rng(side).integers(0, teacher.vocabulary, (count, teacher.tokens))
        for side, count in (("rows", teacher.rows), ("columns", teacher.columns))
    ]
    return sides[0], sides[1]


@lru_cache(maxsize=16)
def values(teacher: Teacher) -> Array:
    """The teacher's exact values on the grid: Python integers, shape (rows, columns).

    By the normal form x . P(U + V) in the second moments U and V of the two sides.

    Cost: about 12 L d^3 operations with long integers for each cell.

    >>> made = Teacher(width=2, depth=1, rows=2, columns=2)
    >>> values(made).shape, type(values(made)[0, 0]).__name__
    ((2, 2), 'int')
    """
    tokens = embedding(teacher)
    left, right = (tokens[ids] for ids in grid(teacher))
    moments = [np.swapaxes(side, -1, -2) @ side for side in (left, right)]
    return normal_form(net(teacher), moments[0][:, None] + moments[1][None], left[:, None, 0])


def targets(teacher: Teacher) -> NDArray[np.float64]:
    """The values divided by their root mean square, in float64: what students are trained on.

    Raises:
        ValueError: where all values are 0.
    """
    exact = values(teacher)
    largest = max(abs(int(value)) for value in exact.flat)
    if not largest:
        raise ValueError(f"{teacher} is 0 on its whole grid: another seed would do")
    # Integers of any size, divided exactly before they are rounded.
    scaled = np.array([[int(value) / largest for value in row] for row in exact])
    return np.asarray(scaled / np.sqrt(np.mean(scaled**2)))
