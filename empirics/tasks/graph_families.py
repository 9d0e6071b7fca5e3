"""Random graphs by the batch, drawn as their matrices of distances: paths, forests and Erdos-Renyi
graphs with vertices in random order.

The distances of paths and forests follow from how they are built, at O(1) per pair; those of
Erdos-Renyi graphs are searched for. No loop runs over graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, sqrt
from typing import Literal, get_args

import torch
from torch import Tensor

from . import smallest_type

Family = Literal["two paths", "paths", "forest", "Erdos-Renyi"]

# Rounds of drawing a whole batch until enough graphs satisfy the limits; below one graph in a
# thousand the family is the wrong one.
ROUNDS = 1000


def permutations(count: int, n: int, generator: torch.Generator) -> Tensor:
    """`count` independent uniform permutations of 0..n-1, int64 (count, n)."""
    return torch.rand(count, n, generator=generator, device=generator.device).argsort(-1)


def distances(adjacency: Tensor) -> Tensor:
    """Length of a shortest path between every two vertices, int16 (graphs, n, n), -1 where there is
    none (Floyd and Warshall: O(n^3) per graph). The adjacency is bool, symmetric or not; its
    diagonal is ignored.

    >>> distances(torch.tensor([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]]).bool()).tolist()
    [[[0, 1, -1], [1, 0, -1], [-1, -1, 0]]]
    """
    n = adjacency.shape[-1]
    far = torch.full((n, n, len(adjacency)), n, dtype=_unsigned(n), device=adjacency.device)
    return _graphs_first(_shortest(far.masked_fill_(adjacency.permute(1, 2, 0), 1))).to(torch.int16)


def _unsigned(n: int) -> torch.dtype:
    """What holds lengths up to n, which stands for no path, and sums of two: a byte while it does,
    since the work is bound by memory."""
    return torch.uint8 if n <= 127 else torch.int16


def _shortest(far: Tensor) -> Tensor:
    """Distances in place of edges, `_unsigned` (n, n, graphs): 1 for an edge, n or more for no
    path, before and after.

    The graphs come last, so that each step runs over contiguous small numbers.
    """
    far.diagonal().zero_()
    through = torch.empty_like(far)
    for k in range(len(far)):
        torch.add(far[:, k : k + 1], far[k : k + 1], out=through)
        torch.minimum(far, through, out=far)
    return far


def _graphs_first(far: Tensor) -> Tensor:
    """From `_unsigned` (n, n, graphs), n or more for no path, to (graphs, n, n), -1 for no path."""
    n = len(far)
    # Of two dimensions a transpose is copied in blocks, of three entry by entry.
    return _unreached(far, n).flatten(0, 1).t().contiguous().view(-1, n, n)


def _unreached(far: Tensor, n: int) -> Tensor:
    """What is n or more becomes -1, in place: n - 1 - far is negative there, and its sign, spread
    over all bits, is -1.

    Bytes without a sign, in which far is at most 2n, become bytes with one. A masked fill asks
    entry by entry, which on a CPU costs ten times as much.
    """
    signed = far.view(torch.int8) if far.dtype == torch.uint8 else far
    return signed.bitwise_or_((n - 1 - signed).bitwise_right_shift_(8 * signed.itemsize - 1))


@dataclass(frozen=True)
class RandomGraphs:
    """A distribution of graphs on n vertices, the vertices always in uniformly random order.

    Args:
        vertices: n, at least 2.
        family: "two paths" (one path cut at a uniformly random edge), "paths" (one path, every edge
            cut with probability `cut`), "forest" (vertex i hangs below one of the `window` vertices
            before it, every edge cut with probability `cut`), or "Erdos-Renyi" (every pair an edge
            with probability `edge_probability`).
        cut: for paths and forests, see above; other families ignore it.
        window: for forests: 1 gives paths, 0 (all vertices before) trees of depth about log n.
        edge_probability: for Erdos-Renyi graphs.
        max_distance: largest finite distance allowed, 0 for no limit. Two paths are cut so that
            both fit, evenly among such cuts; paths are cut further after each `max_distance` + 1
            vertices; forests and Erdos-Renyi graphs are drawn until they fit, which is the family
            conditioned on it.

    Raises:
        ValueError: for options outside these ranges, or a limit that two paths cannot meet.
    """

    vertices: int = 12
    family: Family = "two paths"
    cut: float = 0.12
    window: int = 0
    edge_probability: float = 0.1
    max_distance: int = 0

    def __post_init__(self) -> None:
        """Refuse what describes no graph."""
        if self.vertices < 2 or self.window < 0 or self.max_distance < 0:
            raise ValueError(
                f"vertices={self.vertices}, window={self.window}, "
                f"max_distance={self.max_distance}: accepted are at least 2, 0 and 0"
            )
        if self.family not in get_args(Family):
            raise ValueError(f"family={self.family!r}: accepted are {', '.join(get_args(Family))}")
        if not (0 <= self.cut <= 1 and 0 <= self.edge_probability <= 1):
            raise ValueError(
                f"cut={self.cut}, edge_probability={self.edge_probability}: accepted "
                "are probabilities from 0 to 1"
            )
        least = (self.vertices + 1) // 2 - 1
        if self.family == "two paths" and self.max_distance and self.max_distance < least:
            raise ValueError(
                f"max_distance={self.max_distance}: two paths on {self.vertices} vertices have one "
                f"of length {least} or more; take at least {least}, or the family paths"
            )

    @property
    def described(self) -> str:
        """The family with the options that it uses, for names."""
        used = {
            "two paths": (),
            "paths": (f"cut {self.cut:g}",),
            "forest": (f"window {self.window}", f"cut {self.cut:g}"),
            "Erdos-Renyi": (f"p {self.edge_probability:g}",),
        }[self.family]
        limit = (f"distances to {self.max_distance}",) if self.max_distance else ()
        return ", ".join((f"{self.family} n {self.vertices}", *used, *limit))

    @property
    def edge_capacity(self) -> int:
        """Edges there is room for in a list: all of a forest's; of an Erdos-Renyi graph four
        standard deviations above the mean."""
        pairs, p = comb(self.vertices, 2), self.edge_probability
        if self.family == "Erdos-Renyi":
            return max(1, min(pairs, ceil(pairs * p + 4 * sqrt(pairs * p * (1 - p)))))
        return self.vertices - (2 if self.family == "two paths" else 1)

    def distances(
        self, generator: torch.Generator, count: int, most_edges: int | None = None
    ) -> Tensor:
        """The distances of `count` random graphs, (count, n, n), -1 where there is no path; 1 where
        there is an edge; int8 for up to 127 vertices, int16 for more.

        Args:
            generator: source of the graphs; they lie on its device.
            count: how many.
            most_edges: draw graphs with more edges again; None: no limit.

        Raises:
            ValueError: where hardly any graph of the family fits the limits.
        """
        rejected = self.family in ("forest", "Erdos-Renyi") and self.max_distance > 0
        if not rejected and most_edges is None:
            return self._drawn(generator, count)
        kept: list[Tensor] = []
        for _ in range(ROUNDS):
            far = self._drawn(generator, count)
            fits = far.amax((1, 2)) <= min(self.max_distance or self.vertices, self.vertices - 1)
            if most_edges is not None:
                fits &= (far == 1).sum((1, 2)) <= 2 * most_edges
            kept.append(far[fits])
            if sum(map(len, kept)) >= count:
                return torch.cat(kept)[:count]
        raise ValueError(
            f"{self.described}: fewer than one graph in {ROUNDS} fits the limits; "
            "allow larger distances or change the family"
        )

    def _drawn(self, generator: torch.Generator, count: int) -> Tensor:
        if self.family == "forest":
            return self._forest(generator, count)
        if self.family == "Erdos-Renyi":
            return self._independent(generator, count)
        return self._paths(generator, count)

    def _paths(self, generator: torch.Generator, count: int) -> Tensor:
        """Vertices at places of a line that is cut into paths: on one path the distance is the
        difference of places."""
        n, device = self.vertices, generator.device
        if self.family == "two paths":
            longest = self.max_distance or n
            first, last = max(1, n - 1 - longest), min(n - 1, longest + 1)
            split = torch.randint(first, last + 1, (count, 1), generator=generator, device=device)
            place = permutations(count, n, generator)
            path = place >= split
        else:
            cut = torch.rand(count, n, generator=generator, device=device) < self.cut
            cut[:, 0] = False
            if self.max_distance:
                along = torch.arange(n, device=device)
                along = along - (cut * along).cummax(-1).values
                cut |= (along % (self.max_distance + 1) == 0) & (along > 0)
            place = permutations(count, n, generator)
            path = cut.cumsum(-1).gather(-1, place)
        # The farther path has the farther places, so that vertices of different paths come to lie n
        # or more apart.
        x, largest = place + (n - 1) * path, (n - 1) * (2 if self.family == "two paths" else n)
        x = x.to(smallest_type(largest))
        return _unreached((x[:, :, None] - x[:, None, :]).abs_(), n).to(smallest_type(n))

    def _independent(self, generator: torch.Generator, count: int) -> Tensor:
        """Every pair on its own; that leaves no order of the vertices to hide."""
        n, device = self.vertices, generator.device
        u, v = torch.triu_indices(n, n, 1, device=device)
        # 1 for an edge, n for none.
        step = (
            torch.rand(len(u), count, generator=generator, device=device)
            .ge_(self.edge_probability)
            .mul_(n - 1)
            .add_(1)
        )
        pair = torch.zeros(n, n, dtype=torch.int64, device=device)
        pair[u, v] = pair[v, u] = torch.arange(len(u), device=device)
        far = step.to(_unsigned(n)).index_select(0, pair.flatten())
        return _graphs_first(_shortest(far.view(n, n, count)))

    def _forest(self, generator: torch.Generator, count: int) -> Tensor:
        """Vertex after vertex, for all graphs at once: one more than its parent's distances, or no
        path at all."""
        n, device = self.vertices, generator.device
        # The rows of all graphs, those of the vertices i one after another; before them one for
        # what hangs below no vertex.
        rows = torch.empty(1 + n * count, n, dtype=_unsigned(n), device=device)
        rows[0] = n - 1
        far = rows[1:].view(n, count, n)
        number = torch.int32 if rows.numel() < 2**31 else torch.int64
        place, graph = (torch.arange(m, dtype=number, device=device) for m in (n, count))
        choices = place.clamp(max=self.window) if self.window else place
        up = (
            torch.rand(n, count, generator=generator, device=device)
            .mul_(choices[:, None])
            .to(number)
        )
        kept = torch.rand(n, count, generator=generator, device=device).ge_(self.cut).to(number)
        parent = (place[:, None] - 1 - up).mul_(count).add_(graph + 1).mul_(kept)
        far[0, :, 0] = 0
        for i in range(1, n):
            # What stands in columns from i on means nothing yet.
            row = far[i].copy_(rows.index_select(0, parent[i])).add_(1)
            row[:, i] = 0
            far[:i, :, i] = row[:, :i].t()
        # Rows in random order, then columns, as rows of the transpose, which is its own.
        order = permutations(count, n, generator)
        by_row = (
            rows[1:].index_select(0, (order * count + graph[:, None]).flatten()).view(count, n, n)
        )
        in_graph = (order + n * graph[:, None]).flatten()
        return _unreached(by_row.mT.reshape(-1, n).index_select(0, in_graph).view(count, n, n), n)
