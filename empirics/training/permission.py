"""Permission to train: recording what has been trained must not train for days on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TextIO
from unittest.mock import patch

from . import depth_search, trainer
from .training_run import TrainingRun


class NotTrainedError(Exception):
    """A net that is needed has not been trained."""


@contextmanager
def permission(updates: int) -> Iterator[None]:
    """Within it a training of at most so many updates, of all replicas together, is done; a larger
    one is not, and neither waits for another process that is doing it. What is stored is read.

    The trainer is replaced for that long and has no parameter for it: every net is known by the
    trainer's code, so that a parameter would have all of them trained again.

    Raises:
        NotTrainedError: from `train` and `alone`, for what is not trained.
    """

    class Permitted(TrainingRun):
        def __init__(self, shape: Any, task: Any, settings: Any, *more: Any) -> None:
            if settings.steps * settings.replicas > updates:
                raise NotTrainedError(f"{settings.steps} updates of {task.name}")
            super().__init__(shape, task, settings, *more)

    locks = depth_search._locks

    def lock(file: TextIO, operation: int) -> None:
        try:
            locks.flock(file, operation | locks.LOCK_NB)
        except BlockingIOError:
            raise NotTrainedError(f"another process holds {file.name}") from None

    at_once = locks and SimpleNamespace(LOCK_EX=locks.LOCK_EX, flock=lock)
    with (
        patch.object(trainer, "TrainingRun", Permitted),
        patch.object(depth_search, "_locks", at_once),
    ):
        yield
