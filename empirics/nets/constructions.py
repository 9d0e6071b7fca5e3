"""Explicit weights for the nets of `nets`: reach in graphs, with the depth at which it stops."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .net import Net, NetShape


def cubing(vertices: int, depth: int) -> Callable[[Tensor], Tensor]:
    """Reach 3^L by linearised attention: identity weights and no skip connection map X = A + I to X
    X^T X, so L layers to (A + I)^(3^L), whose entries grow doubly exponentially in L.

    Returns:
        (batch, n, n) symmetric adjacency without loops -> (batch, n, n) bool, which pairs have a
        positive entry. It raises OverflowError where entries leave the range of float64.

    >>> path = torch.diag(torch.ones(29), 1) + torch.diag(torch.ones(29), -1)
    >>> [int(cubing(30, depth)(path[None])[0, 0].sum()) - 1 for depth in (1, 2, 3)]
    [3, 9, 27]
    """
    net = Net(
        NetShape(width=vertices, depth=depth, attention="linearised", residual=False),
        dtype=torch.float64,
    )
    for layer in range(depth):
        net.set_attention_weights(layer, *[torch.eye(vertices)] * 4)

    def connected(adjacency: Tensor) -> Tensor:
        with torch.no_grad():
            output = net((adjacency != 0).double()[None] + torch.eye(vertices).double())
        if not output.isfinite().all():
            raise OverflowError("entries grew beyond float64; use less depth")
        return output[0] > 0

    return connected
