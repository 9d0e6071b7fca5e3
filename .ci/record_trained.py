"""Record the runs of suite long whose nets have been trained, and leave out the others.

    .venv/bin/python .ci/record_trained.py RESULTS

What takes a day is declared beforehand and recorded as it comes: nets lie in
RESULTS/cache/trainings and are only asked. Controls train for a minute or two.
"""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from depthlaw.empirics.depth_width import language_models
from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.training import depth_search, trainer
from depthlaw.empirics.training.training_run import TrainingRun
from depthlaw.ledger.records.store import open_store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import AS_IT_COMES, registry

# Updates of all nets of one training that are few enough to be done at once.
FEW = 5_000


class NotTrainedError(Exception):
    """A net that a run needs has not been trained."""


class Few(TrainingRun):
    """A training of few updates; others are refused."""

    def __init__(self, shape: Any, task: Any, settings: Any, *more: Any) -> None:
        if settings.steps * settings.replicas > FEW:
            raise NotTrainedError(f"{settings.steps} updates of {task.name}")
        super().__init__(shape, task, settings, *more)


@contextmanager
def free(place: Path) -> Iterator[None]:
    """As `depth_search.alone`, but what another process is training counts as not trained."""
    lock = place.with_suffix(".lock")
    with lock.open("w") if lock.exists() else nullcontext() as file:
        if file is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise NotTrainedError(f"another process trains {place.name}") from None
        yield


def main(results: Path) -> int:
    """Record what can be; returns the exit code: 1 where a run failed for another reason."""
    torch.set_num_threads(1)
    trainer.TrainingRun = Few  # type: ignore[misc]
    for module in (depth_search, wall_nets, language_models):
        module.alone = free  # type: ignore[attr-defined]
    store, claims = open_store(results), registry()
    runs = [run for suite in AS_IT_COMES for run in plan(claims, suite)]
    failures = execute(runs, store, Inline())
    left = [failure for failure in failures if NotTrainedError.__name__ in failure.why]
    print(f"{len(runs) - len(failures)} of {len(runs)} runs recorded, {len(left)} not trained yet")
    wrong = [failure for failure in failures if failure not in left]
    for failure in wrong:
        print(f"{failure.run.claim.key} [{failure.run.case}]: {failure.why}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
