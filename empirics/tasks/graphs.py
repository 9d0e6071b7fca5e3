"""Graph tasks: connectivity of all pairs, and one cycle against two.

A vertex is a token with its row of A + I, or the graph is the list of its edges. Vertices are
always in random order: the order in which a generator builds a graph would give its components
away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from . import Batch
from .graph_families import RandomGraphs, edge_tokens, permutations

Tokens = Literal["rows", "edges"]


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
    column v of the answer are the pair.

    Scored are all pairs u != v; the group is the distance of the pair, -1 where it is not
    connected.

    Args:
        index: append the one-hot index of the vertex to its row, so that two vertices with equal
            rows differ.

    >>> task = Connectivity(vertices=6)
    >>> batch = task.batch(torch.Generator().manual_seed(1), replicas=2, size=3)
    >>> batch.inputs.shape, batch.targets.shape, int(batch.group.max()) < 5
    (torch.Size([2, 3, 6, 6]), torch.Size([2, 3, 6, 6]), True)

    Cost: as `RandomGraphs.distances`. References: `theory.connectivity` has what L layers reach.
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


@dataclass(frozen=True)
class Cycles:
    """One cycle of 2m vertices against two cycles of m vertices, each with probability 1/2: class 1
    is two cycles.

    Every vertex has degree 2 and every graph 2m edges, so that nothing local tells them apart. With
    rows every token has the answer as its target and the first one is scored; with edges the last
    token has it. The group is the least number of hops after which the number of vertices reached
    differs, ceil(m / 2).

    Args:
        cycle: m, at least 3.
        tokens: "rows" (of A + I, one per vertex) or "edges" (two tokens per edge).

    Raises:
        ValueError: for other m or tokens.

    >>> batch = Cycles(cycle=4).batch(torch.Generator().manual_seed(0), replicas=1, size=3)
    >>> batch.inputs.sum(-1).unique().tolist(), int(batch.scored.sum()), int(batch.group.max())
    ([3.0], 3, 2)

    Cost: O(m^2) per graph. References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1,
    Conjecture 2.4.
    """

    cycle: int = 6
    tokens: Tokens = "rows"

    def __post_init__(self) -> None:
        """Refuse what is no cycle."""
        if self.cycle < 3 or self.tokens not in ("rows", "edges"):
            raise ValueError(
                f"cycle={self.cycle}, tokens={self.tokens!r}: accepted are at least "
                "3, and rows or edges"
            )

    @property
    def name(self) -> str:
        """Task and options."""
        return f"cycles: one of {2 * self.cycle} or two of {self.cycle}, {self.tokens}"

    @property
    def kind(self) -> Literal["classes"]:
        """One class per token."""
        return "classes"

    @property
    def length(self) -> int:
        """One token per vertex, or two per edge."""
        return self.cycle * (2 if self.tokens == "rows" else 4)

    @property
    def vocabulary(self) -> int:
        """The vertices, and the padding that no graph here needs; 0 for rows."""
        return 0 if self.tokens == "rows" else 2 * self.cycle + 1

    @property
    def features(self) -> int:
        """A row of A + I, or none."""
        return 2 * self.cycle if self.tokens == "rows" else 0

    @property
    def outputs(self) -> int:
        """One cycle, two cycles."""
        return 2

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw graphs; inputs (R, B, 2m, 2m) or (R, B, 4m)."""
        m, count, device = self.cycle, replicas * size, generator.device
        n, place = 2 * m, torch.arange(2 * m, device=device)
        two = torch.rand(count, 1, generator=generator, device=device) < 0.5
        vertex = permutations(count, n, generator)
        after = torch.stack([(place + 1) % n, place - place % m + (place + 1) % m]).index_select(
            0, two[:, 0].long()
        )
        following = vertex.gather(1, after)
        ones = torch.cat([vertex * n + following, following * n + vertex], dim=1)
        group = torch.full((count, 1), (m + 1) // 2, device=device)
        if self.tokens == "edges":
            edge = (
                torch.zeros(count, n * n, dtype=torch.bool, device=device)
                .scatter_(1, ones, True)
                .view(count, n, n)
            )
            return _at_last(edge_tokens(edge, n, generator), two, group, replicas, size)
        shape = (replicas, size, n)
        rows = torch.zeros(count, n * n, device=device).scatter_(1, ones, 1.0).view(*shape, n)
        rows.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        scored = (place == 0).expand(shape)
        return Batch(
            rows,
            two.long().view(replicas, size, 1).expand(shape),
            scored,
            group.view(replicas, size, 1).expand(shape),
            torch.ones_like(scored),
        )

    def adjacency(self, inputs: Tensor) -> Tensor:
        """The edges in the inputs, bool (..., 2m, 2m)."""
        return (
            _edges_of_rows(inputs)
            if self.tokens == "rows"
            else _edges_of_tokens(inputs, 2 * self.cycle)
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


def _at_last(tokens: Tensor, answer: Tensor, group: Tensor, replicas: int, size: int) -> Batch:
    """A batch that asks for the answer (graphs, 1) at the last of the tokens (graphs, N)."""
    shape = (replicas, size, tokens.shape[-1])
    last = torch.arange(shape[-1], device=tokens.device) == shape[-1] - 1
    return Batch(
        tokens.view(shape),
        (answer & last).long().view(shape),
        last.expand(shape),
        torch.where(last, group, -1).view(shape),
    )


def _edges_of_rows(rows: Tensor) -> Tensor:
    n = rows.shape[-2]
    return (rows[..., :n] > 0) & ~torch.eye(n, dtype=torch.bool, device=rows.device)


def _edges_of_tokens(tokens: Tensor, n: int) -> Tensor:
    u, v = tokens.unflatten(-1, (-1, 2)).unbind(-1)
    both = torch.zeros(*tokens.shape[:-1], (n + 1) ** 2, dtype=torch.bool, device=tokens.device)
    both.scatter_(-1, torch.cat([u * (n + 1) + v, v * (n + 1) + u], dim=-1), True)
    return both.unflatten(-1, (n + 1, n + 1))[..., :n, :n]
