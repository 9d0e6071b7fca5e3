"""Language models of equal size and several depths by number of updates: each number is a training
of its own, with its own learning rate, warm-up and decay."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from depthlaw.theory.claims.definition import Case

from ..exercises.language_model import LanguageModelRecipe, Texts, texts, validation_losses
from ..tasks.made_text import made_text
from ..tasks.text_windows import Text
from ..training import checkpoints
from ..training.depth_search import alone
from ..training.recordings import name_of
from ..training.trainer import train
from .language_models import FIRST_RATES, WINDOWS, made, next_rates

# The corpus of cases on the text that is made here.
MADE = "chains and brackets"
# Where losses are stored in a results cache, and in the project's recordings.
FOLDER = "trainings"
# Seeds that learning rates are chosen with, at a quarter of the updates; no reported net has them.
TUNING_SEEDS = (1000, 1001)


@dataclass(frozen=True)
class FinalLosses:
    """What nets of one depth end with.

    Attributes:
        rate: the learning rate, chosen by `tried`.
        tried: (rate, mean validation loss of the tuning seeds after a quarter of the updates) of
            every rate, ascending in the rate; infinite where one is not finite.
        losses: of each replica on the validation windows, nats per token; nan where not finite.
    """

    rate: float
    tried: tuple[tuple[float, float], ...]
    losses: tuple[float, ...]


@lru_cache(maxsize=256)
def final_losses(case: Case, depth: int, *, device: str = "cpu", folder: str = "") -> FinalLosses:
    """Choose the learning rate of a case's nets of a depth, then train its replicas; or read what
    an earlier process found. A training that was killed goes on from its last checkpoint.

    Args:
        case: as `language_models.made` takes it, with replicas and corpus; seeds are 0 to
            replicas - 1.
        depth: layers.
        device: where.
        folder: losses are stored in `folder`/trainings; "": nowhere.

    Raises:
        UsageError: as `corpus.encoded`.
        checkpoints.CheckpointError: where what is stored is damaged, or cannot be written.

    Cost: of `trainer.train` for replicas nets, and of one and a half or more on the way to the
    learning rate.
    """
    both = _texts(case, folder)
    quarter = Case(**case.fields() | {"steps": max(1, case.steps // 4)})
    mean_by_rate: dict[float, float] = {}
    ask = list(FIRST_RATES)
    while ask:
        several = [rate for rate in ask for _ in TUNING_SEEDS]
        losses = _losses(
            _falling(quarter, depth, several, TUNING_SEEDS * len(ask)), both, device, folder
        )
        of_rates = np.array(losses).reshape(len(ask), -1).mean(axis=1)
        mean_by_rate |= {
            rate: loss if math.isfinite(loss) else math.inf
            for rate, loss in zip(ask, of_rates.tolist(), strict=True)
        }
        ask = next_rates(mean_by_rate)
    rate = min(mean_by_rate, key=lambda rate: mean_by_rate[rate])
    seeds = range(case.replicas)
    losses = _losses(_falling(case, depth, [rate] * len(seeds), seeds), both, device, folder)
    return FinalLosses(rate, tuple(sorted(mean_by_rate.items())), losses)


def _texts(case: Case, folder: str) -> Texts:
    """The corpus of a case, or the text that is made here."""
    if case.corpus != MADE:
        return texts(case.corpus, case.vocabulary, case.length, folder)
    training, validation = (Text(part, case.length, case.vocabulary) for part in made_text())
    return Texts(training, validation)


def _falling(
    case: Case, depth: int, rates: Sequence[float], seeds: Sequence[int]
) -> LanguageModelRecipe:
    """The nets of `language_models.made` with linear decay in place of a constant rate, judged at
    the end alone."""
    model = made(case, depth, rates, seeds)
    return replace(model, settings=replace(model.settings, schedule="linear", evaluate_every=0))


def _losses(model: LanguageModelRecipe, both: Texts, device: str, folder: str) -> tuple[float, ...]:
    """Validation losses of each replica at the end; stored in the folder, if there is one."""
    if not folder:
        return _trained(model, both, device, None)
    digests = both.training.digest, both.validation.digest
    name = name_of(model.shape, model.settings, *digests, WINDOWS, device=device)
    place = Path(folder) / FOLDER / name
    with alone(place):
        stored = checkpoints.read(place, name)
        if stored is not None:
            listed = stored[2]["losses"]
            return tuple(math.nan if loss is None else float(loss) for loss in listed)
        losses = _trained(model, both, device, place / "training")
        # JSON has no nan.
        listed = [loss if math.isfinite(loss) else None for loss in losses]
        checkpoints.write(place, name, model.settings.steps, {}, {"losses": listed})
        shutil.rmtree(place / "training", ignore_errors=True)
    return losses


def _trained(
    model: LanguageModelRecipe, both: Texts, device: str, place: Path | None
) -> tuple[float, ...]:
    net = train(
        model.shape,
        both.training,
        model.settings,
        device=device,
        folder=place,
        checkpoint_every=max(1, model.settings.steps // 20),
    ).net
    return validation_losses(net, both.validation, device, windows=WINDOWS)
