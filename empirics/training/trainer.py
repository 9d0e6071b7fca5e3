"""Training of R nets together as one batched program: a seed and a learning rate per replica, each
stopping by itself.

The loss is the sum over replicas of each replica's mean, so that no gradient of one reaches
another; clipping, divergence and success are decided per replica. A replica draws its weights and
its examples from its own seed alone. So it trains beside others as it would train alone, up to the
order in which batched matrix products add; dropout is the exception, since one mask is drawn for
all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from ..nets.net import Net, NetShape
from ..tasks import Task
from . import checkpoints
from .evaluation import accuracies
from .settings import Settings
from .training_run import Evaluated, Throughput, TrainingRun

Status = Literal["success", "not converged", "diverged"]


@dataclass(frozen=True)
class Progress:
    """Handed to the progress callback: steps done of the budget, speed, and the seconds that the
    rest of the budget takes at that speed."""

    step: int
    steps: int
    steps_per_second: float
    examples_per_second: float
    eta: float
    last: Evaluated | None


@dataclass
class Trained:
    """R trained nets.

    Attributes:
        net: the weights: of a replica that succeeded, when it did; of one that diverged, before the
            step that was not finite.
        steps: updates that each replica made.
        status: "success"; "diverged": a loss or gradient was not finite; "not converged": the
            budget was over first, or there was no criterion of success.
        history: evaluations.
        throughput: of this process.
    """

    net: Net
    steps: tuple[int, ...]
    status: tuple[Status, ...]
    history: list[Evaluated]
    throughput: Throughput


@dataclass(frozen=True)
class Tuned:
    """The best learning rate, the validation accuracies it was chosen by, shape (rates, seeds), and
    all nets, rates outermost."""

    rate: float
    rates: tuple[float, ...]
    accuracy: np.ndarray
    trained: Trained


def train(
    shape: NetShape,
    task: Task,
    settings: Settings,
    *,
    device: torch.device | str = "cpu",
    folder: Path | None = None,
    checkpoint_every: int = 0,
    progress: Callable[[Progress], None] | None = None,
    measure: Callable[[Net], Sequence[Any]] | None = None,
) -> Trained:
    """Train R replicas of a net together on fresh examples at every step.

    Deterministic on the CPU for a given version of torch and number of threads; on a GPU as far as
    its kernels are. A replica that diverges or succeeds keeps its weights from then on and does not
    disturb the others, bit for bit.

    Args:
        shape: of each net; it must fit the task (vocabulary or features, outputs).
        task, settings, device: what is trained, how, and where.
        folder: for checkpoints. A run that was killed and is started again with the same arguments
            goes on from the last one and ends with the same weights, bit for bit.
        checkpoint_every: steps between checkpoints; 0: at every evaluation and at the end. It does
            not change the result.
        progress: called at every evaluation and whenever new examples are drawn.
        measure: called at every evaluation with the nets; one value for each replica, of what JSON
            can hold (lists, and None in place of nan), which `Trained.history` keeps. It changes
            nothing of the training, and a run that goes on from a checkpoint must be given the
            same.

    Raises:
        ValueError: where shape, task, settings and device do not fit together.
        checkpoints.CheckpointError: where the folder holds a checkpoint that is damaged or of
        another run, or cannot be written.

    Cost: memory 5 matrices (R, parameters) besides activations and `settings.drawn` batches.
    """
    run = TrainingRun(shape, task, settings, torch.device(device), measure)
    every = checkpoint_every or settings.evaluate_every or settings.steps
    identity = checkpoints.fingerprint(
        {
            "shape": asdict(shape),
            "task": [
                type(task).__qualname__,
                task.name,
                asdict(task),  # type: ignore[call-overload]
            ],
            "settings": asdict(settings),
            "device": run.device.type,
        }
    )
    if folder is not None and (stored := checkpoints.read(folder, identity)) is not None:
        run.restore(*stored)
    with torch.random.fork_rng(enabled=shape.dropout > 0):
        while run.step < settings.steps and run.going:
            if run.step % settings.drawn == 0 and progress is not None:
                progress(_progress(run))
            run.advance()
            judged = run.step == settings.steps or (
                settings.evaluate_every > 0 and run.step % settings.evaluate_every == 0
            )
            if judged:
                run.judge()
                if progress is not None:
                    progress(_progress(run))
            if folder is not None and (
                run.step % every == 0 or run.step == settings.steps or not run.going
            ):
                checkpoints.write(folder, identity, run.step, *run.state())
    return _trained(run)


def tuned(
    shape: NetShape,
    task: Task,
    settings: Settings,
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    device: torch.device | str = "cpu",
    folder: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Tuned:
    """Train every learning rate with every seed in one run, and choose the rate with the best
    median over seeds: replica i * len(seeds) + j has rates[i] and seeds[j], in place of those of
    the settings.

    The accuracy is measured after training on examples that neither training, nor early stopping,
    nor `spot_checks` draws. A replica that diverged counts as 0. Equal medians go to the rate whose
    worst seed is better, then to the smaller rate. The other arguments are those of `train`.
    """
    settings = replace(
        settings,
        learning_rates=tuple(float(rate) for rate in rates for _ in seeds),
        seeds=tuple(seeds) * len(rates),
    )
    trained = train(shape, task, settings, device=device, folder=folder, progress=progress)
    share = accuracies(trained.net, task, settings.seeds, settings.validation, device, "tuning")
    finite = np.array([status != "diverged" for status in trained.status])
    accuracy = np.where(finite, share, 0.0).reshape(len(rates), len(seeds))
    best = max(
        range(len(rates)),
        key=lambda i: (float(np.median(accuracy[i])), float(accuracy[i].min()), -rates[i]),
    )
    return Tuned(float(rates[best]), tuple(float(rate) for rate in rates), accuracy, trained)


def _progress(run: TrainingRun) -> Progress:
    done, history = run.throughput, run.outcome.history
    speed = done.steps / done.seconds if done.seconds else 0.0
    left = (run.settings.steps - run.step) / speed if speed else math.inf
    return Progress(
        run.step,
        run.settings.steps,
        speed,
        done.examples_per_second,
        left,
        history[-1] if history else None,
    )


def _trained(run: TrainingRun) -> Trained:
    names: dict[str, Status] = {"success": "success", "diverged": "diverged"}
    status = tuple(names.get(outcome, "not converged") for outcome in run.outcome.status)
    return Trained(run.net, tuple(run.outcome.steps), status, run.outcome.history, run.throughput)
