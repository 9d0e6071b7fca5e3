"""Tasks with exact labels, drawn in batches on the device: graphs and sequences.

A task is a frozen dataclass of JSON-able fields. It draws as many batches as asked for, each from
the generator alone, so that the same seed gives the same batch; its labels come from exact
algorithms (breadth-first search, pointers), never from a net.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

TargetKind = Literal["classes", "pairs"]


@dataclass(frozen=True)
class Batch:
    """Inputs, labels and what counts, for R replicas with B examples of N tokens each; every
    replica has examples of its own.

    Args:
        inputs: token ids, int64 (R, B, N), or real features, float32 (R, B, N, F).
        targets: for "classes" int64 (R, B, N), one class per token; for "pairs" bool (R, B, N, N),
            row u and column v of a relation.
        scored: bool like targets: what counts in the accuracy. Targets elsewhere are valid classes
            or False, and mean nothing.
        group: int64 like targets: what the accuracy is broken down by (distance, k, level,
            position); -1 where there is none.
        learned: bool like targets: what the loss is taken over; None: what is scored.

    Raises:
        ValueError: for shapes or types that do not fit together.
    """

    inputs: Tensor
    targets: Tensor
    scored: Tensor
    group: Tensor
    learned: Tensor | None = None

    def __post_init__(self) -> None:
        expected = {
            "targets": torch.int64 if self.kind == "classes" else torch.bool,
            "scored": torch.bool,
            "group": torch.int64,
            "learned": torch.bool,
        }
        for name, dtype in expected.items():
            tensor = getattr(self, name)
            if tensor is not None and (tensor.dtype != dtype or tensor.shape != self.targets.shape):
                raise ValueError(
                    f"{name} is {tensor.dtype} of shape {tuple(tensor.shape)}: accepted is {dtype} "
                    f"of the shape of targets, {tuple(self.targets.shape)}"
                )
        if self.targets.shape[:3] != self.inputs.shape[:3]:
            raise ValueError(
                f"inputs have shape {tuple(self.inputs.shape)}, targets "
                f"{tuple(self.targets.shape)}: the first three dimensions (R, B, N) must agree"
            )

    @property
    def kind(self) -> TargetKind:
        """Which shape the targets have: one class per token, or a relation between tokens."""
        return "pairs" if self.targets.ndim == 4 else "classes"

    @property
    def loss_mask(self) -> Tensor:
        """What the loss is taken over: `learned`, or what is scored where that is None."""
        return self.scored if self.learned is None else self.learned


def smallest_type(largest: int) -> torch.dtype:
    """The smallest signed integers that hold `largest`: what is drawn in between is bound by
    memory.
    """
    return next(
        (
            small
            for small in (torch.int8, torch.int16, torch.int32)
            if largest <= torch.iinfo(small).max
        ),
        torch.int64,
    )


class Task(Protocol):
    """What a trainer needs to know of a task; the implementations are frozen dataclasses.

    `batch` is deterministic: the same state of the generator on the same kind of device gives the
    same batch.
    """

    @property
    def name(self) -> str:
        """The task and its options, short, for tables and records."""

    @property
    def kind(self) -> TargetKind:
        """Which targets its batches have."""

    @property
    def length(self) -> int:
        """N, tokens per example."""

    @property
    def vocabulary(self) -> int:
        """Number of token ids; 0: the inputs are features."""

    @property
    def features(self) -> int:
        """Features per token; 0: the inputs are token ids."""

    @property
    def outputs(self) -> int:
        """Logits per token: the number of classes, or N for pairs (one logit for each column of the
        relation)."""

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw `size` examples for each of the replicas, on the generator's device."""


@dataclass(frozen=True)
class TokenIds:
    """What tasks share whose tokens are ids and whose answers are classes."""

    @property
    def kind(self) -> Literal["classes"]:
        """One class per token."""
        return "classes"

    @property
    def features(self) -> int:
        """Ids, no features."""
        return 0
