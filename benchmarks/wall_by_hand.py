"""One point of the wall by a loop that uses nothing of depthlaw: torch's layers, optimiser and
schedule, its own graphs and its own questions. Prints the share of right answers in one row of a
cycle of 40, by distance, to be compared with `depthlaw show trained_depth/wall_within`.

    python benchmarks/wall_by_hand.py [softmax|linearised] [layers] [updates] [seed]

It printed, for softmax, two layers, 4,000 updates, at distances 4, 5, 6: .926 .753 .550; .978 .873
.621; .979 .860 .609 (three seeds). Four nets of the package: .978 .858 .601; .981 .873 .620; .979
.880 .629; .979 .936 .844. For linearised attention, one layer, 4,000 updates: 1.000 to 3, .508 at
4, where two nets of the package have .486 and .504.
"""

import math
import sys

import torch
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
given, usual = sys.argv[1:], ["linearised", "1", "60000", "0"]
kind, layers, updates, seed = given + usual[len(given) :]
n, width, batch = 40, 80, 16
torch.manual_seed(int(seed))


def cycles(count: int, *lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Adjacency and "same cycle" of graphs whose vertices stand in random order, and the order."""
    ring = torch.zeros(n, n)
    start = 0
    for length in lengths:
        for i in range(length):
            ring[start + i, start + (i + 1) % length] = 1
        start += length
    part = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    orders = torch.stack([torch.randperm(n) for _ in range(count)])
    edges = (ring + ring.T)[orders[:, :, None], orders[:, None, :]]
    return torch.cat([edges + torch.eye(n), torch.eye(n).expand(count, n, n)], 2), part[orders]


class Layer(nn.Module):
    """Attention with one head, before it a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of hidden states (graphs, vertices, width)."""
        y = self.norm(x)
        scores = self.q(y) @ self.k(y).mT
        if kind == "softmax":
            weights = (scores / math.sqrt(width)).softmax(-1)
        else:
            weights = scores / (n * math.sqrt(width))
        return x + self.o(weights @ self.v(y))


net = nn.Sequential(
    nn.Linear(2 * n, width, bias=False),
    *(Layer() for _ in range(int(layers))),
    nn.LayerNorm(width, elementwise_affine=False),
    nn.Linear(width, n, bias=False),
)
for weight in net.parameters():
    nn.init.normal_(weight, std=0.02)
steps, rate = int(updates), 1.5e-3 if kind == "softmax" else 1e-3
optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.01)
warm = steps // 10
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimiser, lambda t: t / warm if t < warm else (steps - t) / (steps - warm)
)
unequal = ~torch.eye(n, dtype=torch.bool)
for _ in range(steps):
    rows, part = cycles(batch, 20, 20)
    target = (part[:, :, None] == part[:, None, :]).float()
    loss = functional.binary_cross_entropy_with_logits(net(rows)[:, unequal], target[:, unequal])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
    schedule.step()

with torch.no_grad():
    rows, _ = cycles(4096, 40)
    logits = net(rows)
    near = rows[..., :n] - torch.eye(n)
    at, seen = torch.eye(n)[0].expand(4096, n).clone(), torch.eye(n)[0].expand(4096, n).clone()
    row = []
    for _ in range(14):
        at = ((at[:, None, :] @ near)[:, 0] > 0) * (1 - seen)
        seen = seen + at
        row.append(logits[:, 0].gather(1, at.multinomial(1))[:, 0])
    for distance, values in enumerate(row[:13], 1):
        sys.stdout.write(f"{distance} {(values > row[13]).float().mean().item():.3f}\n")
