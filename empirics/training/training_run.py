"""The state of a training run of R replicas, one step of it, and its evaluation; `trainer.train`
drives it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..nets.net import Net, NetShape
from ..tasks import Task
from .adamw import AdamW, decay_mask, flatten, gradient_scale, rate_columns, schedule_factor
from .evaluation import accuracies, generator, source
from .settings import Settings


@dataclass(frozen=True)
class Evaluated:
    """One evaluation: after how many steps, and per replica the mean training loss since the last
    one (None after it stopped), the validation accuracy over all scored targets, and what the
    caller measures besides.
    """

    step: int
    loss: tuple[float | None, ...]
    accuracy: tuple[float, ...]
    measured: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Throughput:
    """What one process did: updates, and the seconds they took (monotonic clock), evaluations and
    checkpoints not counted."""

    steps: int
    seconds: float
    replicas: int
    batch: int

    @property
    def replica_steps_per_second(self) -> float:
        """Updates of single nets per second."""
        return self.steps * self.replicas / self.seconds if self.seconds else 0.0

    @property
    def examples_per_second(self) -> float:
        """Training examples per second, over all replicas."""
        return self.replica_steps_per_second * self.batch


def losses(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Each replica's loss, shape (R,): cross-entropy over classes, or binary cross-entropy of
    pairs, in nats, summed with weights.

    Args:
        logits: (R, B, N, classes) for int64 targets (R, B, N); (R, B, N, N) for real targets of
            that shape.
        targets: see above.
        weights: shape of targets; 1/number of learned targets where one is learned, 0 elsewhere,
            gives the mean.
    """
    if targets.dtype == torch.int64:
        per_entry = (
            functional.cross_entropy(
                logits.flatten(0, -2), targets.flatten(), reduction="none"
            ).view_as(targets)
            * weights
        )
    else:
        per_entry = functional.binary_cross_entropy_with_logits(
            logits, targets, weights, reduction="none"
        )
    return per_entry.flatten(1).sum(dim=1)


class Examples:
    """The training examples of each step, drawn for `settings.drawn` steps at once; the same at
    every start.

    A replica's examples are those of `evaluation.draw(task, [its seed], drawn * batch, device,
    "training", number of the block)`. They are written where the last block's were: fresh memory
    for every block costs as much as drawing.
    """

    def __init__(self, task: Task, settings: Settings, device: torch.device) -> None:
        self.task, self.settings, self.device = task, settings, device
        self.block = -1
        self.parts: tuple[Tensor, ...] = ()

    def at(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, targets and loss weights of a step."""
        block, index = divmod(step, self.settings.drawn)
        if block != self.block:
            self.draw(block)
        inputs, targets, weights = (part[index] for part in self.parts)
        return inputs, targets, weights

    def draw(self, block: int) -> None:
        """Draw the examples of a block, once for all replicas of a seed."""
        steps, size, seeds = self.settings.drawn, self.settings.batch, self.settings.seeds
        for seed in dict.fromkeys(seeds):
            batch = self.task.batch(
                generator(self.device, "training", block, seed), 1, steps * size
            )
            drawn = [
                t[0].unflatten(0, (steps, size))
                for t in (batch.inputs, batch.targets, batch.loss_mask)
            ]
            self.parts = self.parts or tuple(
                torch.empty(
                    steps,
                    len(seeds),
                    *t.shape[1:],
                    device=self.device,
                    dtype=torch.int64 if t.dtype == torch.int64 else self.settings.dtype,
                )
                for t in drawn
            )
            for r in (r for r, other in enumerate(seeds) if other == seed):
                for part, t in zip(self.parts, drawn, strict=True):
                    part[:, r].copy_(t)
        weights = self.parts[2]
        weights /= (
            weights.flatten(2).sum(dim=2).clamp(min=1).view(steps, -1, *(1,) * (weights.ndim - 2))
        )
        self.block = block


@dataclass
class ReplicaStates:
    """What the host knows of the replicas; in a checkpoint as it stands."""

    status: list[str]
    steps: list[int]
    above: list[bool]
    history: list[Evaluated] = field(default_factory=list)


def keep_freed_memory() -> None:
    """Let the C library keep up to 64 MB of freed memory for the next step, where it would return
    it: asking for it anew costs 5 % of a step.

    glibc keeps twice the largest block of less than 32 MB that was ever freed; this block is never
    written, so it takes no memory. Elsewhere it does nothing.
    """
    torch.empty(2**25 - 2**16, dtype=torch.uint8)


# Bytes of hidden states, about the second cache of a core: on a CPU replicas go through forward and
# backward in groups of that size.
CACHED = 3 * 2**19


class TrainingRun:
    """The state of a training run, and one step of it."""

    def __init__(
        self,
        shape: NetShape,
        task: Task,
        settings: Settings,
        device: torch.device,
        measure: Callable[[Net], Sequence[Any]] | None = None,
    ) -> None:
        check(shape, task, settings, device)
        self.measure = measure
        if device.type == "cpu":
            keep_freed_memory()
        self.task, self.settings, self.device, self.dropout = (
            task,
            settings,
            device,
            shape.dropout > 0,
        )
        R = settings.replicas
        self.net = Net(
            shape,
            replicas=R,
            rng=[np.random.default_rng(source("weights", seed)) for seed in settings.seeds],
            std=settings.std,
            output_std=settings.output_std,
            dtype=settings.dtype,
            device=device,
        )
        self.weights = flatten(self.net)
        self.optimiser = AdamW(
            self.weights,
            torch.tensor(settings.learning_rates, dtype=torch.float64),
            betas=settings.betas,
            epsilon=settings.epsilon,
            weight_decay=settings.weight_decay,
            decay=decay_mask(self.net, settings.decayed),
            columns=rate_columns(self.net, settings.rate_factors),
        )
        columns = self.optimiser.columns
        self.trained = None if columns is None else (columns > 0).to(self.weights)
        self.scalars = self.optimiser.scalars(
            [
                schedule_factor(
                    step, steps=settings.steps, warmup=settings.warmup, schedule=settings.schedule
                )
                for step in range(settings.steps)
            ]
        )
        self.gradient = torch.empty_like(self.weights)
        self.live = torch.ones(R, dtype=torch.bool, device=device)
        # Per replica, on the device: updates made, and the sum of losses since the last evaluation.
        self.updates = torch.zeros(R, dtype=torch.int64, device=device)
        self.loss = torch.zeros(R, dtype=torch.float64, device=device)
        self.step, self.since, self.started, self.seconds = 0, 0, 0, 0.0
        self.outcome = ReplicaStates(["training"] * R, [0] * R, [False] * R)
        self.examples = Examples(task, settings, device)
        self.groups = self._groups(shape.width)
        self.graph: Graph | None = Graph(self) if settings.graphed else None

    def _groups(self, width: int) -> list[tuple[slice, Callable[[Tensor], Tensor], list[Tensor]]]:
        """Which replicas go through forward and backward together, with their net and its
        parameters; all of them, but on a CPU."""
        settings, R = self.settings, self.settings.replicas
        size = R
        if self.device.type == "cpu" and not settings.compiled:
            count = -(
                -R
                // max(
                    1,
                    CACHED // (settings.batch * self.task.length * width * settings.dtype.itemsize),
                )
            )
            size = -(-R // count)
        if size == R:
            return [
                (
                    slice(None),
                    torch.compile(self.net) if settings.compiled else self.net,
                    list(self.net.parameters()),
                )
            ]
        groups: list[tuple[slice, Callable[[Tensor], Tensor], list[Tensor]]] = []
        for first in range(0, R, size):
            rows = slice(first, min(R, first + size))
            part = Net(
                self.net.shape, replicas=rows.stop - first, dtype=settings.dtype, device=self.device
            )
            for mine, whole in zip(part.parameters(), self.net.parameters(), strict=True):
                mine.data = whole.data[rows]
            groups.append((rows, part, list(part.parameters())))
        return groups

    @property
    def going(self) -> bool:
        """Whether any replica is still training, as far as the last evaluation knows."""
        return "training" in self.outcome.status

    def advance(self) -> None:
        """One update of every replica that is still training."""
        before = time.perf_counter()
        settings = self.settings
        parts = (*self.examples.at(self.step), self.scalars[self.step])
        if self.dropout:
            torch.manual_seed(source("dropout", self.step, *settings.seeds))
        if self.graph is None:
            self.update(*parts)
        else:
            self.graph.replay(parts)
        self.step, self.since = self.step + 1, self.since + 1
        self.seconds += time.perf_counter() - before

    def update(self, inputs: Tensor, targets: Tensor, weights: Tensor, scalars: Tensor) -> None:
        """Forward, backward, update; nothing in it waits for the device."""
        bf16 = (
            torch.autocast(self.device.type, torch.bfloat16)
            if self.settings.precision == "bf16"
            else nullcontext()
        )
        batch_losses = []
        for rows, forward, parameters in self.groups:
            with bf16:
                logits = forward(inputs[rows])
            batch_loss = losses(logits.to(self.settings.dtype), targets[rows], weights[rows])
            gradients = torch.autograd.grad(batch_loss.sum(), parameters)
            torch.cat(
                [g.reshape(g.shape[0], -1) for g in gradients], dim=1, out=self.gradient[rows]
            )
            batch_losses.append(batch_loss.detach())
        loss = torch.cat(batch_losses)
        if self.trained is not None:
            self.gradient.mul_(self.trained)
        norm, scale = gradient_scale(self.gradient, self.settings.clip)
        self.live &= loss.isfinite() & norm.isfinite()
        self.gradient.mul_(scale.unsqueeze(1))
        # A factor of 0 would leave nan: what is not finite is overwritten. To ask whether anything
        # is costs a GPU more than to do it.
        if self.device.type != "cpu" or not bool(self.live.all()):
            self.gradient.masked_fill_(~self.live.unsqueeze(1), 0.0)
        self.optimiser.update(self.gradient, self.live, scalars)
        self.updates += self.live
        self.loss += torch.where(self.live, loss, 0.0)

    def judge(self) -> None:
        """Evaluate every replica on fresh examples; find out which have diverged, and which have
        succeeded and stop."""
        before = time.perf_counter()
        live = self.live.tolist()
        self.seconds += time.perf_counter() - before  # the device has finished its steps only now
        outcome, settings = self.outcome, self.settings
        accuracy = accuracies(
            self.net,
            self.task,
            settings.seeds,
            settings.validation,
            self.device,
            "validation",
            self.step,
        )
        outcome.steps = self.updates.tolist()
        loss = [
            total / self.since if alive else None
            for total, alive in zip(self.loss.tolist(), live, strict=True)
        ]
        measured = () if self.measure is None else tuple(self.measure(self.net))
        outcome.history.append(
            Evaluated(self.step, tuple(loss), tuple(accuracy.tolist()), measured)
        )
        for r in range(settings.replicas):
            if outcome.status[r] == "training":
                above = settings.success is not None and bool(accuracy[r] >= settings.success)
                outcome.status[r] = (
                    "diverged"
                    if not live[r]
                    else "success"
                    if above and outcome.above[r]
                    else "training"
                )
                outcome.above[r] = above
        self.live.copy_(torch.tensor([status == "training" for status in outcome.status]))
        self.optimiser.clear(~self.live)
        self.loss.zero_()
        self.since = 0

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and counters of a checkpoint. Examples and dropout follow from seeds and step, so
        that no random state is kept."""
        tensors = {
            "weights": self.weights,
            "first_moments": self.optimiser.first,
            "second_moments": self.optimiser.second,
            "live": self.live,
            "updates": self.updates,
            "loss": self.loss,
        }
        return tensors, {"since": self.since, "outcome": asdict(self.outcome)}

    def restore(self, step: int, tensors: dict[str, Tensor], counters: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name, tensor in self.state()[0].items():
            tensor.copy_(tensors[name])
        self.step = self.started = step
        self.since = counters["since"]
        known = counters["outcome"]
        history = [
            Evaluated(e["step"], tuple(e["loss"]), tuple(e["accuracy"]), tuple(e["measured"]))
            for e in known.pop("history")
        ]
        self.outcome = ReplicaStates(**known, history=history)

    @property
    def throughput(self) -> Throughput:
        """Of this process so far."""
        return Throughput(
            self.step - self.started, self.seconds, self.settings.replicas, self.settings.batch
        )


class Graph:
    """The update of a run as a CUDA graph: captured at the first step, then replayed on new
    examples without launching kernels singly."""

    def __init__(self, run: TrainingRun) -> None:
        self.run, self.graph = run, torch.cuda.CUDAGraph()
        self.parts: tuple[Tensor, ...] | None = None

    def replay(self, parts: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
        """One update on these inputs, targets, loss weights and scalars."""
        if self.parts is None:
            self._capture(parts)
        for kept, new in zip(self.parts or (), parts, strict=True):
            kept.copy_(new)
        self.graph.replay()

    def _capture(self, parts: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
        inputs, targets, weights, scalars = self.parts = tuple(part.clone() for part in parts)
        tensors = self.run.state()[0].values()
        before = [tensor.clone() for tensor in tensors]
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            # Libraries allocate at their first calls, which a capture does not allow.
            for _ in range(3):
                self.run.update(inputs, targets, weights, scalars)
        torch.cuda.current_stream().wait_stream(aside)
        with torch.cuda.graph(self.graph):
            self.run.update(inputs, targets, weights, scalars)
        for tensor, old in zip(tensors, before, strict=True):
            tensor.copy_(old)


def check(shape: NetShape, task: Task, settings: Settings, device: torch.device) -> None:
    """Refuse what does not fit together.

    Raises:
        ValueError: saying what does not fit.
    """
    if (shape.vocabulary, shape.features) != (task.vocabulary, task.features):
        raise ValueError(
            f"the net reads vocabulary={shape.vocabulary} and features={shape.features}, the task "
            f"gives {task.vocabulary} and {task.features}: make the shape's equal to the task's"
        )
    logits = shape.outputs or shape.width
    if logits != task.outputs and not (
        task.kind == "classes" and shape.outputs == 0 and logits > task.outputs
    ):
        raise ValueError(
            f"the net gives {logits} logits per token, the task needs {task.outputs}: "
            f"set outputs={task.outputs}"
        )
    if device.type != "cuda" and (settings.precision == "bf16" or settings.graphed):
        raise ValueError(
            f"bf16 and CUDA graphs need a CUDA device; got {device}: use float32 and "
            "graphed=False there"
        )
