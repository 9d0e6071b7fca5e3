"""The toy tasks of Dong, Cordonnier and Loukas 2021: sorting, convex hull, circle.

Every label comes from an exact algorithm: a sort, a comparison of angles, a rotation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..tasks import Batch, TargetKind, TokenIds


@dataclass(frozen=True)
class Sorting(TokenIds):
    """Letters in any order, with repeats; token i answers with the i-th smallest.

    Letters are independent and uniform. All positions are scored; the group is the position.
    Published: 8 of 10 letters, 1000 training and 200 test sequences; here every step draws fresh
    ones.

    Args:
        symbols: N, how many.
        letters: different ones.

    Raises:
        ValueError: for no symbols, or fewer than two letters.

    >>> batch = Sorting(symbols=5, letters=3).batch(torch.Generator().manual_seed(0), 1, 1)
    >>> batch.inputs.tolist(), batch.targets.tolist()
    ([[[2, 0, 2, 0, 1]]], [[[0, 0, 1, 2, 2]]])

    References: run_sort.py of github.com/twistedcubic/attention-rank-collapse, commit 38b5df6.
    """

    symbols: int = 8
    letters: int = 10

    def __post_init__(self) -> None:
        """Refuse what is no sequence to sort."""
        if self.symbols < 1 or self.letters < 2:
            raise ValueError(
                f"symbols={self.symbols}, letters={self.letters}: accepted are at "
                "least 1 symbol of at least 2 letters"
            )

    @property
    def name(self) -> str:
        """Task and options."""
        return f"sorting: {self.symbols} symbols of {self.letters} letters"

    @property
    def length(self) -> int:
        """The symbols."""
        return self.symbols

    @property
    def vocabulary(self) -> int:
        """The letters."""
        return self.letters

    @property
    def outputs(self) -> int:
        """One class per letter."""
        return self.letters

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw sequences; inputs and targets (R, B, N)."""
        device = generator.device
        drawn = torch.randint(
            0, self.letters, (replicas, size, self.symbols), generator=generator, device=device
        )
        targets = drawn.sort(dim=-1).values
        places = torch.arange(self.symbols, device=device).expand_as(drawn)
        return Batch(drawn, targets, torch.ones_like(drawn, dtype=torch.bool), places)


@dataclass(frozen=True)
class ConvexHull:
    """Points of a square; each says whether it is a vertex of the convex hull of all.

    Points are uniform in [0, 10]^2 plus one normal shift of standard deviation 3.3 in either
    coordinate, common to all points of an example. Labels are decided in float64, see `on_hull`.
    Published: 10 points, 10 000 training and 300 test sets; here every step draws fresh ones.

    Args:
        points: N, at least 3.

    Raises:
        ValueError: for fewer points, all of which would be vertices.

    >>> batch = ConvexHull(points=6).batch(torch.Generator().manual_seed(1), 1, 2)
    >>> batch.targets.tolist()
    [[[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]]

    References: run_convex_hull.py of github.com/twistedcubic/attention-rank-collapse, commit
    38b5df6.
    """

    points: int = 10

    def __post_init__(self) -> None:
        """Refuse what has no points inside."""
        if self.points < 3:
            raise ValueError(f"points={self.points}: accepted are at least 3")

    @property
    def name(self) -> str:
        """Task and options."""
        return f"convex hull: {self.points} points"

    @property
    def kind(self) -> TargetKind:
        """One class per token."""
        return "classes"

    @property
    def length(self) -> int:
        """The points."""
        return self.points

    @property
    def vocabulary(self) -> int:
        """Points are features, no ids."""
        return 0

    @property
    def features(self) -> int:
        """Two coordinates."""
        return 2

    @property
    def outputs(self) -> int:
        """Inside, or on the hull."""
        return 2

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw point sets; inputs (R, B, N, 2), targets (R, B, N)."""
        device, shape = generator.device, (replicas, size, self.points)
        points = 10 * torch.rand(*shape, 2, generator=generator, device=device, dtype=torch.float64)
        points += 3.3 * torch.randn(
            *shape[:2], 1, 2, generator=generator, device=device, dtype=torch.float64
        )
        targets = on_hull(points).long()
        everywhere = torch.ones_like(targets, dtype=torch.bool)
        return Batch(points.float(), targets, everywhere, targets)


def on_hull(points: Tensor) -> Tensor:
    """Whether each point is a vertex of the convex hull, bool (..., N) for points (..., N, 2).

    A point is a vertex iff all others lie within less than a half turn around it, that is iff some
    gap between consecutive directions to them is more than pi. For points in general position; what
    is within rounding of a line through two others may go either way.

    >>> on_hull(torch.tensor([[0.0, 0], [4, 0], [4, 4], [0, 4], [1, 2]])).tolist()
    [True, True, True, True, False]

    Cost: O(N^2 log N) per set.
    """
    n = points.shape[-2]
    apart = points.unsqueeze(-3) - points.unsqueeze(-2)
    angles = torch.atan2(apart[..., 1], apart[..., 0])
    # A point has no direction to itself: it takes that to the next point, which opens no gap.
    own = torch.arange(n, device=points.device)
    angles[..., own, own] = angles[..., own, (own + 1) % n]
    turns = angles.sort(dim=-1).values
    last = 2 * math.pi - (turns[..., -1] - turns[..., 0])
    return torch.maximum(turns.diff(dim=-1).amax(dim=-1), last) > math.pi


def circle(points: int = 1000, radius: float = 0.3) -> tuple[Tensor, Tensor]:
    """All examples of the circle: pairs of points nearly half a turn apart, and where each point is
    one step later; both float64 (points / 2 - 1, 2, 2).

    Steps are turns by 2 pi / points. As published, the two points of a pair are points / 2 - 1
    steps apart.

    Raises:
        ValueError: for fewer than four points, or an odd number.

    >>> pairs, following = circle(points=8, radius=1.0)
    >>> pairs.shape, following[0].round(decimals=3).tolist()
    (torch.Size([3, 2, 2]), [[0.707, 0.707], [-1.0, 0.0]])

    References: run_circle.py of github.com/twistedcubic/attention-rank-collapse, commit 38b5df6.
    """
    if points < 4 or points % 2:
        raise ValueError(f"points={points}: accepted are even numbers from 4 on")
    angle = torch.arange(points, dtype=torch.float64) * (2 * math.pi / points)
    ring = radius * torch.stack([angle.cos(), angle.sin()], dim=-1)
    count = points // 2 - 1
    first = torch.arange(count)
    pairs = torch.stack([first, first + count], dim=-1)
    return ring[pairs], ring[pairs + 1]
