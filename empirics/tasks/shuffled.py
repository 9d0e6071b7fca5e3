"""Labels that belong to other examples: the control that teaches a net nothing but how often each
answer occurs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from . import Batch, TargetKind, Task


@dataclass(frozen=True)
class Shuffled:
    """A task whose labels are handed around among the examples of a batch, all targets of an
    example together."""

    task: Task

    @property
    def name(self) -> str:
        """The task's, and that it is shuffled."""
        return f"{self.task.name}, labels shuffled"

    @property
    def kind(self) -> TargetKind:
        """The task's."""
        return self.task.kind

    @property
    def length(self) -> int:
        """The task's."""
        return self.task.length

    @property
    def vocabulary(self) -> int:
        """The task's."""
        return self.task.vocabulary

    @property
    def features(self) -> int:
        """The task's."""
        return self.task.features

    @property
    def outputs(self) -> int:
        """The task's."""
        return self.task.outputs

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Examples of the task, each with the labels of another one drawn at random."""
        batch = self.task.batch(generator, replicas, size)
        order = torch.rand(replicas, size, generator=generator, device=generator.device).argsort(
            dim=1
        )
        parts = {
            name: torch.stack([rows[order[r]] for r, rows in enumerate(getattr(batch, name))])
            for name in ("targets", "scored", "group", "learned")
            if getattr(batch, name) is not None
        }
        return replace(batch, **parts)
