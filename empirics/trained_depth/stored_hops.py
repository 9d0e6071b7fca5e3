"""What a net with given weights gets wrong on hop_k, with dropout off and left on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims.definition import Proportion

from ..nets.net import Net
from ..tasks import Batch
from ..tasks.sequences import HopK
from ..training.evaluation import correct, logits_of, source, spot_counts


@dataclass(frozen=True)
class OneHop(HopK):
    """hop_k of one k, with the token ids of the published task, whose k go up to 16.

    >>> OneHop(k=2).batch(torch.Generator().manual_seed(0), 1, 10).inputs.unique().tolist()
    [2, 17, 18, 19, 20]

    Args:
        k: at most k_max.
    """

    k: int = 1

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """As `HopK.batch`. The ids above k are those of a task that ends at k, moved up."""
        task = HopK(self.symbols, self.alphabet, self.k, self.k, self.repeats, vocabulary=0)
        batch = task.batch(generator, replicas, size)
        for ids in (batch.inputs, batch.targets):
            ids += (self.k_max - self.k) * (ids > self.k)
        return batch


@dataclass(frozen=True)
class HopErrors:
    """What a net gets wrong of one k.

    Attributes:
        k: hops.
        dropout: whether it was left on.
        right: of one position drawn from each sequence.
        error: share of wrong answers over all positions with an answer, sequences pooled.
    """

    k: int
    dropout: bool
    right: Proportion
    error: float


def check_net(net: Net) -> None:
    """Refuse a net that cannot have learnt the published task.

    Raises:
        UsageError: with what is accepted.
    """
    task, shape = HopK(), net.shape
    for size, least, what in (
        (shape.vocabulary, task.blank + 1, "token ids"),
        (shape.outputs or shape.width, task.blank + 1, "logits"),
        (shape.length, task.length, "positions"),
    ):
        if size < least:
            raise UsageError(
                f"the net has {size} {what}; hop_k as published needs at least {least}"
            )


def hop_errors(net: Net, k: int, dropout: bool, *, sequences: int, seed: int = 0) -> HopErrors:
    """Ask a net for hop_k on fresh sequences, drawn as published.

    The answer is the largest of all logits. The sequences are the same with dropout on and off. The
    masks of dropout depend on the seed, k and the version of torch, whose global generator is left
    as it was.

    Args:
        net: one replica.
        k: 0 to 16.
        dropout: whether it is left on, at the net's rate.
        sequences: how many.
        seed: of sequences and dropout.

    Cost: a forward pass of the sequences, of 99 tokens each.
    """
    device, pooled = next(net.parameters()).device, torch.zeros(2, dtype=torch.int64)

    def right(batch: Batch) -> Tensor:
        hits = correct(logits_of(net, batch), batch.targets) & batch.scored
        pooled.add_(torch.stack([hits.sum(), batch.scored.sum()]).cpu())
        return hits

    mode = net.training
    net.train(dropout)
    cards = [device] if device.type == "cuda" else []
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=cards):
            torch.manual_seed(source("dropout", seed, k))
            _, counts = spot_counts(
                right, OneHop(k=k), 1, seed=seed, graphs=sequences, device=device
            )
    finally:
        net.train(mode)
    hits, positions = pooled.tolist()
    asked = Proportion(*map(int, counts[:, 0, 0]))
    return HopErrors(k, dropout, asked, 1 - hits / positions)
