"""Connectivity on cycles of equal length: every vertex looks like every other one, so that what
lies around two vertices says nothing about pairs that are farther apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from . import Batch, smallest_type
from .graph_families import permutations


@dataclass(frozen=True)
class LongCycles:
    """All-pairs connectivity of k `cycles`, at least 2, of c vertices `around` each, at least 3, in
    uniformly random order. Tokens are the rows of A + I with the one-hot index of the vertex; row
    u, column v of the answer say whether u and v lie on one cycle.

    Scored are all pairs u != v; the group is the distance of the pair, -1 where it is not
    connected. Of an even length c = 2 m the distances are 1 to m, of an odd one 1 to (c - 1) / 2.
    """

    cycles: int = 2
    around: int = 32
    index: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no cycle, or one alone."""
        if self.cycles < 2 or self.around < 3:
            raise ValueError(
                f"cycles={self.cycles}, around={self.around}: accepted are at least "
                "2 cycles of at least 3 vertices"
            )

    @property
    def vertices(self) -> int:
        """n = k c."""
        return self.cycles * self.around

    @property
    def name(self) -> str:
        """The task and its sizes."""
        return f"connectivity: {self.cycles} cycles of {self.around}" + ", with index" * self.index

    @property
    def kind(self) -> Literal["pairs"]:
        """A relation between vertices."""
        return "pairs"

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
        """A row of A + I, and the one-hot index."""
        return self.vertices * (2 if self.index else 1)

    @property
    def outputs(self) -> int:
        """One logit per vertex."""
        return self.vertices

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw graphs; inputs (R, B, n, 2n), targets (R, B, n, n)."""
        n, device = self.vertices, generator.device
        # The place of each vertex: cycle after cycle, each in its order.
        place = permutations(replicas * size, n, generator)
        far = self._apart(device)[place[:, :, None], place[:, None, :]].view(replicas, size, n, n)
        rows = ((far == 0) | (far == 1)).float()
        if self.index:
            rows = torch.cat([rows, torch.eye(n, device=device).expand(far.shape)], dim=-1)
        unequal = ~torch.eye(n, dtype=torch.bool, device=device)
        return Batch(rows, far >= 0, unequal.expand(far.shape), far.long())

    def _apart(self, device: torch.device) -> Tensor:
        """Distances between places, (n, n), -1 where they lie on different cycles."""
        n, c = self.vertices, self.around
        place = torch.arange(n, device=device)
        along = (place[:, None] - place).abs() % c
        shortest = torch.minimum(along, c - along)
        return shortest.masked_fill(place[:, None] // c != place // c, -1).to(smallest_type(n))

    def adjacency(self, inputs: Tensor) -> Tensor:
        """The edges in the inputs, bool (..., n, n)."""
        n = self.vertices
        return (inputs[..., :n] > 0) & ~torch.eye(n, dtype=torch.bool, device=inputs.device)
