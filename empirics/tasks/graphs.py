"""Connectivity of all pairs of vertices.

A vertex is a token with its row of A + I. Vertices are always in random order: the order in which a
generator builds a graph would give its components away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from . import Batch
from .graph_families import RandomGraphs


@dataclass(frozen=True)
class _VertexRows(RandomGraphs):
    """What tasks share whose tokens are the rows of A + I, one per vertex, and which answer with
    vertices."""

    index: bool = False

    @property
    def length(self) -> int:
        """One token per vertex."""
        return self.vertices

    @property
    def vocabulary(self) -> int:
        """Features, no ids."""
        return 0

    @property
    def features(self) -> int:
        """A row of A + I, and the one-hot index where asked for."""
        return self.vertices * (2 if self.index else 1)

    @property
    def outputs(self) -> int:
        """One logit per vertex."""
        return self.vertices

    @property
    def described(self) -> str:
        """The family with its options, and whether rows carry the index."""
        return super().described + ", with index" * self.index

    def adjacency(self, inputs: Tensor) -> Tensor:
        """The edges in the inputs, bool (..., n, n)."""
        return _edges_of_rows(inputs)


@dataclass(frozen=True)
class Connectivity(_VertexRows):
    """All-pairs connectivity: is there a path from u to v? Tokens are the rows of A + I; row u,
    column v of the answer are the pair. `theory.connectivity` has what L layers reach.

    Scored are all pairs u != v; the group is the distance of the pair, -1 where it is not
    connected.

    Args:
        index: append the one-hot index of the vertex to its row, so that two vertices with equal
            rows differ.
    """

    @property
    def name(self) -> str:
        """Task, family and options."""
        return f"connectivity: {self.described}"

    @property
    def kind(self) -> Literal["pairs"]:
        """A relation between vertices."""
        return "pairs"

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw graphs; inputs (R, B, n, n) or (R, B, n, 2n), targets (R, B, n, n)."""
        n = self.vertices
        far = self.distances(generator, replicas * size).view(replicas, size, n, n)
        unequal = ~torch.eye(n, dtype=torch.bool, device=far.device)
        # As far >= 0, which would be computed one by one.
        return Batch(
            _rows(far, self.index), (far + 1).bool(), unequal.expand(far.shape), far.long()
        )


def _rows(far: Tensor, index: bool) -> Tensor:
    """Rows of A + I from distances, with the one-hot index where asked for."""
    # 0 and 1 are the numbers without a bit besides the last; -1 has them all. Written as numbers at
    # once: bools would be one pass more.
    rows = torch.eq(far & -2, 0, out=torch.empty(far.shape, device=far.device))
    return (
        torch.cat([rows, torch.eye(far.shape[-1], device=far.device).expand_as(rows)], dim=-1)
        if index
        else rows
    )


def _edges_of_rows(rows: Tensor) -> Tensor:
    n = rows.shape[-2]
    return (rows[..., :n] > 0) & ~torch.eye(n, dtype=torch.bool, device=rows.device)
