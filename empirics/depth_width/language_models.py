"""Language models of equal size and several depths. Each number of updates is a training of its
own, with its own learning rate, warm-up and decay."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from depthlaw.theory.claims.definition import Case

from ..exercises.language_model import LanguageModelRecipe, Texts, recipe, texts, validation_losses
from ..tasks.made_text import made_text
from ..tasks.text_windows import Text
from ..training import checkpoints
from ..training.depth_search import alone
from ..training.recordings import name_of
from ..training.trainer import train
from .fixed_budgets import width_of

# The corpus of cases on the text that is made here.
MADE = "chains and brackets"
# Where losses are stored in a results cache, and in the project's recordings.
FOLDER = "trainings"
# Windows of the validation text that a loss is the mean over.
WINDOWS = 64
# Learning rates are powers of 2. These are tried first, and then the next one on the side of the
# best, until the best has a neighbour on both sides, but none beyond the ends.
FIRST_RATES, LEAST_RATE, LARGEST_RATE = (2.0**-9, 2.0**-8, 2.0**-7), 2.0**-14, 2.0**-3
# Seeds that learning rates are chosen with; no reported net has them.
TUNING_SEEDS = (1000, 1001)
# Rates are tried at a quarter of the updates, and at all of them where they are no more than these.
TRIED_WHOLE = 1_000


@dataclass(frozen=True)
class FinalLosses:
    """What nets of one depth end with.

    Attributes:
        rate: the learning rate, chosen by `tried`.
        tried: (rate, mean validation loss of the tuning seeds) of every rate, ascending in the
            rate; infinite where one is not finite.
        losses: of each replica on the validation windows, nats per token; nan where not finite.
    """

    rate: float
    tried: tuple[tuple[float, float], ...]
    losses: tuple[float, ...]


def made(
    case: Case, depth: int, rates: Sequence[float], seeds: Sequence[int], device: str = "cpu"
) -> LanguageModelRecipe:
    """The nets of a case at a depth: causal, pre-norm, learned positions, biases, MLP four times
    the width, GPT-2's initialisation, as in the exercises.

    AdamW with betas 0.9 and 0.95 and weight decay 0.1 of matrices, gradient norm at most 1, linear
    warm-up over a tenth of the updates, then linear decay to zero. On a GPU matrix products are in
    bfloat16.

    Args:
        case: parameters, heads, steps, batch, length, vocabulary, attention.
        depth: layers; the width follows from `width_of`.
        rates, seeds: one of each for each replica.
        device: where they will be trained.
    """
    model = recipe(
        depth,
        steps=case.steps,
        width=width_of(case.parameters, depth, case.heads),
        heads=case.heads,
        seeds=len(seeds),
        batch=case.batch,
        vocabulary=case.vocabulary,
        scheme="gpt2",
        length=case.length,
        attention=case.attention,
    )
    settings = replace(
        model.settings,
        learning_rates=tuple(rates),
        seeds=tuple(seeds),
        schedule="linear",
        evaluate_every=0,
    )
    if torch.device(device).type == "cuda":
        settings = replace(settings, precision="bf16")
    return LanguageModelRecipe(model.shape, settings)


@lru_cache(maxsize=256)
def final_losses(case: Case, depth: int, *, device: str = "cpu", folder: str = "") -> FinalLosses:
    """Choose the learning rate of a case's nets of a depth, then train its replicas; or read what
    an earlier process found. A training that was killed goes on from its last checkpoint.

    Args:
        case: as `made` takes it, with replicas and corpus; seeds are 0 to replicas - 1.
        depth: layers.
        device: where.
        folder: losses are stored in `folder`/trainings; "": nowhere.

    Raises:
        UsageError: as `corpus.encoded`.
        checkpoints.CheckpointError: where what is stored is damaged, or cannot be written.

    Cost: of `trainer.train` for replicas nets, and of a quarter of six or more on the way to the
    learning rate, or of all of them up to `TRIED_WHOLE` updates.
    """
    both = _texts(case, folder)
    updates = case.steps if case.steps <= TRIED_WHOLE else case.steps // 4
    trial = Case(**case.fields() | {"steps": updates})
    mean_by_rate: dict[float, float] = {}
    ask = list(FIRST_RATES)
    while ask:
        several = [rate for rate in ask for _ in TUNING_SEEDS]
        losses = _losses(
            made(trial, depth, several, TUNING_SEEDS * len(ask), device), both, device, folder
        )
        of_rates = np.array(losses).reshape(len(ask), -1).mean(axis=1)
        mean_by_rate |= {
            rate: loss if math.isfinite(loss) else math.inf
            for rate, loss in zip(ask, of_rates.tolist(), strict=True)
        }
        ask = next_rates(mean_by_rate)
    rate = min(mean_by_rate, key=lambda rate: mean_by_rate[rate])
    seeds = range(case.replicas)
    losses = _losses(made(case, depth, [rate] * len(seeds), seeds, device), both, device, folder)
    return FinalLosses(rate, tuple(sorted(mean_by_rate.items())), losses)


def next_rates(found: dict[float, float]) -> list[float]:
    """The rate beyond the end that is best so far; none where the best lies inside."""
    best = min(found, key=lambda rate: found[rate])
    beyond = {min(found): best / 2, max(found): 2 * best}.get(best)
    return [beyond] if beyond and LEAST_RATE <= beyond <= LARGEST_RATE else []


def _texts(case: Case, folder: str) -> Texts:
    """The corpus of a case, or the text that is made here."""
    if case.corpus != MADE:
        return texts(case.corpus, case.vocabulary, case.length, folder)
    training, validation = (Text(part, case.length, case.vocabulary) for part in made_text())
    return Texts(training, validation)


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
