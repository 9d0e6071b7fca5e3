"""The search for the least depth: nets of growing depth trained on a task, and what they answer.

A training is fixed by what goes in: shape, task, settings, learning rates, seeds. Its answers are
counted on fresh examples, one target of each example and group, so that the intervals of Clopper
and Pearson mean what they say. Trainings are stored in the folder that is given: one that was
killed goes on from its last checkpoint, one that is done is read.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

try:
    import fcntl

    _locks: Any = fcntl
except ImportError:  # no such locks on Windows
    _locks = None

from depthlaw.theory.claims.values import Ball, Proportion

from ..nets.net import Net, NetShape
from ..tasks import Task
from ..tasks.shuffled import Shuffled
from .checkpoints import CheckpointError, fingerprint
from .evaluation import forced_choices, logits_of, replicas_of, source, spot_checks
from .recordings import name_of
from .settings import Settings
from .trainer import Progress, tuned

_log = logging.getLogger(__name__)

# A net answers a group where at least this share of it is right. The state-tracking experiments of
# Merrill and Sabharwal 2025 (arXiv:2503.03961) count a length as solved from there on.
BAR = Fraction(95, 100)

# Each interval behind a least depth misses with at most this probability, half of it on either
# side: ten thousand of them for a claim stay within `verdict.FALSE_ALARM_BUDGET`.
LEVEL = 1e-7


@dataclass(frozen=True)
class Training:
    """R = len(rates) * len(seeds) nets of one shape on one task; the rate with the best median
    accuracy over seeds is reported.

    Attributes:
        shape, task: see `nets.Shape` and `tasks.Task`.
        settings: of the trainer; its rates and seeds are replaced.
        rates: learning rates, chosen between on examples that neither training nor the answers use.
        seeds: of each rate.
        examples: fresh examples for each seed's answers.
        shuffled: train on labels that belong to other examples, which should teach nothing.
    """

    shape: NetShape
    task: Task
    settings: Settings
    rates: tuple[float, ...] = (1e-3,)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    examples: int = 4096
    shuffled: bool = False


@dataclass(frozen=True)
class Answers:
    """What the nets of the chosen rate answer.

    Attributes:
        rate: chosen.
        status: of each seed's training: "success", "not converged", "diverged".
        steps: of each seed's training.
        groups: distances, or hops, ascending; -1 where pairs are not connected.
        right, trials: by seed and group; one target of each example that has any in the group.
        distances, chosen, choices: of tasks on pairs, by seed and distance:
            `evaluation.forced_choices`.
        right_dropout: as `right`, of the very same targets with dropout left on; empty for nets
            without dropout.
    """

    rate: float
    status: tuple[str, ...]
    steps: tuple[int, ...]
    groups: tuple[int, ...]
    right: tuple[tuple[int, ...], ...]
    trials: tuple[tuple[int, ...], ...]
    distances: tuple[int, ...] = ()
    chosen: tuple[tuple[int, ...], ...] = ()
    choices: tuple[tuple[int, ...], ...] = ()
    right_dropout: tuple[tuple[int, ...], ...] = ()

    def of_seed(self, seed: int, group: int, *, dropout: bool = False) -> Proportion:
        """What one seed's net answers in a group, with dropout off, or left on."""
        if dropout and not self.right_dropout:
            raise ValueError(
                "these nets have no dropout that could be left on; ask with "
                "dropout=False, or train a shape with dropout above 0"
            )
        if group not in self.groups or not self.trials[seed][(column := self.groups.index(group))]:
            raise ValueError(
                f"no example has a target in group {group}: the groups are {self.groups}"
            )
        return Proportion(
            (self.right_dropout if dropout else self.right)[seed][column], self.trials[seed][column]
        )

    def pooled(self, group: int, *, dropout: bool = False) -> Proportion:
        """What all seeds' nets answer in a group; estimates the mean probability over these nets
        (and over dropout's masks, left on)."""
        by_seed = [self.of_seed(seed, group, dropout=dropout) for seed in range(len(self.right))]
        return Proportion(sum(p.right for p in by_seed), sum(p.trials for p in by_seed))

    def chosen_at(self, distance: int) -> Proportion:
        """How often all seeds' nets tell a pair at a distance from one that is not connected."""
        if distance not in self.distances:
            raise ValueError(
                f"no graph has pairs at distance {distance} and pairs that are not "
                f"connected: the distances are {self.distances}"
            )
        column = self.distances.index(distance)
        return Proportion(
            sum(row[column] for row in self.chosen), sum(row[column] for row in self.choices)
        )

    def passes(self, seed: int, groups: Sequence[int] | None = None) -> bool | None:
        """Whether one seed's net reaches `BAR` in every group (or in those given): True, False, or
        None where the examples do not say."""
        asked = [
            self.of_seed(seed, g).interval(LEVEL)
            for g in self.groups
            if groups is None or g in groups
        ]
        if any(high < BAR for _, high in asked):
            return False
        return True if all(low >= BAR for low, _ in asked) else None


def least_depth(passes: Sequence[Sequence[bool | None]], seeds: str) -> Ball:
    """The least depth that passes, between the least that may pass and the least that surely does.

    Args:
        passes: for depth 1, 2, ..., whether each seed passes.
        seeds: "worst": every seed passes; "median": at least half of them.

    Returns:
        An interval of whole numbers; one more than the depths tried stands for any depth beyond
        them.

    >>> least_depth([[False, False, False], [True, True, None], [True, True, True]], "worst")
    Ball(low=Fraction(2, 1), high=Fraction(3, 1))
    """
    if seeds not in ("worst", "median") or not passes:
        raise ValueError(
            f"seeds={seeds!r} of {len(passes)} depths: accepted are worst and median "
            "of at least one depth"
        )

    def first(sure: bool) -> int:
        for depth, passed in enumerate(passes, start=1):
            count = sum(p is True or (p is None and not sure) for p in passed)
            if count == len(passed) or (seeds == "median" and 2 * count >= len(passed)):
                return depth
        return len(passes) + 1

    return Ball(Fraction(first(sure=False)), Fraction(first(sure=True)))


@lru_cache(maxsize=256)
def answers(training: Training, device: str = "cpu", folder: str = "") -> Answers:
    """Train, choose the rate, and count; or read what an earlier process stored in
    `folder`/trainings.

    Deterministic for a given machine and number of threads; elsewhere the counts differ as rounding
    lets trainings diverge.

    Cost: of `trainer.tuned` with len(rates) * len(seeds) replicas, and `examples` forward passes
    per replica, twice as many for pairs and for nets with dropout.
    """
    if not folder:
        return Answers(**trained(training, device, None))
    place = _place(training, device, folder)
    file = place.with_suffix(".json")
    with alone(place):
        counted = _read(file)
        if counted is None:
            counted = Answers(**trained(training, device, place))
            _write(file, counted)
            shutil.rmtree(place, ignore_errors=True)
    return counted


def trained(training: Training, device: str, place: Path | None) -> dict[str, Any]:
    """The fields of `Answers`: train, choose the rate, and count."""
    task = Shuffled(training.task) if training.shuffled else training.task
    winner = tuned(
        training.shape,
        task,
        training.settings,
        training.rates,
        training.seeds,
        device=device,
        folder=place,
        progress=_logged(training),
    )
    chosen, count = winner.rates.index(winner.rate), len(training.seeds)
    best = slice(chosen * count, (chosen + 1) * count)
    return {
        "rate": winner.rate,
        "status": winner.trained.status[best],
        "steps": winner.trained.steps[best],
        **_counted(winner.trained.net, training, best, device),
    }


def _counted(net: Net, training: Training, best: slice, device: str) -> dict[str, Any]:
    """Groups, right and trials, for pairs distances, chosen and choices, and for nets with dropout
    right_dropout, of the replicas of the chosen rate."""
    seen: dict[str, Any] = {"seed": 0, "graphs": training.examples, "device": device}
    body: dict[str, Any] = {}

    def put(names: Sequence[str], groups: tuple[int, ...], counts: np.ndarray) -> None:
        rows = (tuple(map(tuple, row)) for row in counts[:, best].tolist())
        body.update(zip(names, (groups, *rows), strict=True))

    put(("groups", "right", "trials"), *spot_checks(net, training.task, **seen))
    if training.task.kind == "pairs":
        net.eval()
        with torch.no_grad():
            put(
                ("distances", "chosen", "choices"),
                *forced_choices(
                    lambda batch: logits_of(net, batch), training.task, replicas_of(net), **seen
                ),
            )
    if training.shape.dropout:
        # Masks come from the global generator, which is left as it was found.
        devices = [device] if torch.device(device).type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(source("dropout of spot checks", 0))
            _, counts = spot_checks(net, training.task, **seen, dropout=True)
            body["right_dropout"] = tuple(map(tuple, counts[0, best].tolist()))
    return body


def _logged(training: Training) -> Callable[[Progress], None]:
    """Progress as log messages of level INFO, at most one a minute."""
    last = time.monotonic()

    def log(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last > 60:
            last = time.monotonic()
            _log.info(
                "training %s, depth %d: step %d of %d, %.0f examples/s, %.0f min left",
                training.task.name,
                training.shape.depth,
                progress.step,
                progress.steps,
                progress.examples_per_second,
                progress.eta / 60,
            )

    return log


def _place(training: Training, device: str, folder: str) -> Path:
    """Where a training is stored, by what is trained and asked: see `recordings.name_of`."""
    asked = [*training.rates], [*training.seeds], training.examples, training.shuffled
    task = training.task.name, training.task
    name = name_of(training.shape, training.settings, *task, *asked, device=device)
    return Path(folder) / "trainings" / name


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """While others train what is stored at a place, wait: they would write over each other's
    checkpoints. The lock ends with its process."""
    if _locks is None:
        yield
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = place.with_suffix(".lock").open("w")
    except OSError as error:
        raise _unwritable(place, error) from None
    with file:
        _locks.flock(file, _locks.LOCK_EX)
        yield
    place.with_suffix(".lock").unlink(missing_ok=True)


def _unwritable(place: Path, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"cannot store a training in {place.parent} ({error.strerror}); free "
        "space, or choose another folder with --results DIR"
    )


def _read(path: Path) -> Answers | None:
    """Answers as they were written; None where there are none, or the file is damaged, so that they
    are made again."""
    try:
        body = json.loads(path.read_bytes())
        if fingerprint(body["answers"]) != body["seal"]:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Answers(**{name: _tuples(value) for name, value in body["answers"].items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _write(path: Path, made: Answers) -> None:
    fields = asdict(made)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(
            json.dumps({"answers": fields, "seal": fingerprint(fields)}), encoding="utf-8"
        )
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
