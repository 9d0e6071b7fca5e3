"""Tiny language models on a corpus: one recipe, nets that are stored when they are trained, and
their loss on text that they were not trained on."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from depthlaw.theory.claims.code_version import code_version

from ..nets.initialisations import initialised
from ..nets.net import Net, NetShape
from ..tasks.shuffled import Shuffled
from ..tasks.text_windows import Text
from ..training import checkpoints
from ..training.adamw import RateFactors, flatten
from ..training.depth_search import alone
from ..training.settings import Settings
from ..training.trainer import Progress, train
from ..training.training_run import losses
from .corpus import encoded

# Tokens of a window, and windows of the validation text that a loss is the mean over.
CONTEXT, WINDOWS = 64, 256
# Where nets are stored in a results cache; what each training says of itself while it runs.
FOLDER, NEWS = "language_models", "progress.json"


@dataclass(frozen=True)
class LanguageModelRecipe:
    """Which nets are trained, and how; with a corpus and a device it determines them.

    Attributes:
        shape, settings: see `nets.Shape` and `Settings`; one replica per seed.
        shuffled: train on answers that belong to other windows, which teaches nothing but how
            often each token occurs.
    """

    shape: NetShape
    settings: Settings
    shuffled: bool = False


class Texts(NamedTuple):
    """The two splits of a corpus as tasks."""

    training: Text
    validation: Text


@dataclass(frozen=True)
class Models:
    """Trained language models, one replica per seed.

    Attributes:
        recipe: what they were trained by.
        net: their weights; of a replica that diverged, before the step that was not finite.
        losses: of each replica on the validation windows, nats per token; nan where they are not
            finite.
        training_losses: of each replica over the last tenth of its steps; None where it diverged.
        diverged: of each replica, whether a loss or gradient was not finite.
        validation: the text that they were not trained on.
    """

    recipe: LanguageModelRecipe
    net: Net
    losses: tuple[float, ...]
    training_losses: tuple[float | None, ...]
    diverged: tuple[bool, ...]
    validation: Text


def recipe(
    depth: int,
    *,
    steps: int,
    width: int = 48,
    heads: int = 4,
    seeds: int = 8,
    batch: int = 16,
    vocabulary: int = 512,
    scheme: str = "gpt2",
    std: float = 0.02,
    rate: float = 3e-3,
    rate_factors: RateFactors = (),
    shuffled: bool = False,
    **changes: Any,
) -> LanguageModelRecipe:
    """The nets of the exercises: causal, pre-norm, learned positions, biases, MLP four times the
    width, context `CONTEXT`.

    AdamW with betas 0.9 and 0.95 and weight decay 0.1 of matrices, gradient norm at most 1, linear
    warm-up over a tenth of the steps, then half a cosine. One learning rate for all depths, widths
    and initialisations: none is tuned.

    Args:
        depth, width, heads: see `nets.Shape`.
        steps, batch: updates, and windows per replica in each.
        seeds: replicas; replica r has seed r, so that replicas of two recipes see the same text.
        vocabulary: token ids.
        scheme, std: see `initialised`.
        rate, rate_factors: learning rate, and factors by parameter, see `Settings`.
        shuffled: see `LanguageModelRecipe`.
        changes: any other field of `nets.Shape`.

    >>> made = recipe(depth=2, steps=10)
    >>> made.shape.mlp, made.settings.replicas
    (192, 8)
    """
    fields: dict[str, Any] = {
        "norm": "pre",
        "mlp": 4 * width,
        "causal": True,
        "positions": "learned",
        "length": CONTEXT,
        "biases": True,
        "vocabulary": vocabulary,
        "outputs": vocabulary,
    }
    shape, stds = initialised(
        scheme, NetShape(width=width, depth=depth, heads=heads, **(fields | changes)), std=std
    )
    return LanguageModelRecipe(
        shape,
        Settings(
            steps=steps,
            batch=batch,
            learning_rates=(rate,) * seeds,
            seeds=tuple(range(seeds)),
            weight_decay=0.1,
            decayed="matrices",
            betas=(0.9, 0.95),
            warmup=steps // 10,
            schedule="cosine",
            evaluate_every=max(1, steps // 10),
            validation=1,
            std=stds,
            rate_factors=rate_factors,
        ),
        shuffled,
    )


@lru_cache(maxsize=4)
def texts(corpus: str, vocabulary: int = 512, length: int = CONTEXT, folder: str = "") -> Texts:
    """The tasks of a corpus, which is known by its digest; see `corpus.encoded` for what is
    raised, and the cost."""
    tokens = encoded(corpus, vocabulary, folder)
    return Texts(
        Text(tokens.training, length, vocabulary), Text(tokens.validation, length, vocabulary)
    )


def validation_losses(
    net: Net, text: Text, device: torch.device | str = "cpu", *, windows: int = WINDOWS
) -> tuple[float, ...]:
    """The mean loss of each replica over windows of a text, nats per token: the same windows at
    every call, so that the losses of two nets are paired.

    Cost: a forward pass over `windows` windows for each replica.
    """
    asked, mode = text.windows(windows, device), net.training
    net.eval()
    count, total = asked.targets.numel(), torch.zeros(net.replicas, dtype=torch.float64)
    with torch.no_grad():
        for inputs, targets in zip(
            asked.inputs.split(16, 1), asked.targets.split(16, 1), strict=True
        ):
            expanded = targets.expand(net.replicas, -1, -1)
            weights = torch.ones((), device=device).expand(expanded.shape)
            total += losses(net(inputs).float(), expanded, weights).double().cpu()
    net.train(mode)
    return tuple((total / count).tolist())


@lru_cache(maxsize=32)
def trained(
    made: LanguageModelRecipe, corpus: str, *, device: str = "cpu", folder: str = ""
) -> Models:
    """Train the nets of a recipe on a corpus, or read those that an earlier process trained.

    A training that was killed goes on from its last checkpoint, and ends with the same weights. Two
    processes that ask for the same nets do not train them twice: one waits.

    Args:
        made: shape, settings, replicas.
        corpus: digest, see `corpus.encoded`.
        device: where.
        folder: nets are stored in `folder`/language_models, 4 bytes per parameter; "": nowhere.

    Raises:
        UsageError: as `corpus.encoded`.
        checkpoints.CheckpointError: where what is stored is damaged, or cannot be written.

    Cost: of `trainer.train`; of reading its weights where it is stored.
    """
    both = texts(corpus, made.shape.vocabulary, made.shape.length, folder)
    if not folder:
        return _trained(made, both, device, None)
    identity = _identity(made, both, device)
    place = Path(folder) / FOLDER / identity
    with alone(place):
        stored = checkpoints.read(place / "net", identity)
        if stored is None:
            models = _trained(made, both, device, place)
            # JSON has no nan.
            finite = [loss if math.isfinite(loss) else None for loss in models.losses]
            body: dict[str, Any] = {
                "losses": finite,
                "training_losses": models.training_losses,
                "diverged": models.diverged,
            }
            checkpoints.write(
                place / "net", identity, made.settings.steps, {"weights": flatten(models.net)}, body
            )
            shutil.rmtree(place / "training", ignore_errors=True)
            (place / NEWS).unlink(missing_ok=True)
            return models
    _, tensors, counters = stored
    net = Net(made.shape, replicas=made.settings.replicas, dtype=made.settings.dtype, device=device)
    flatten(net).copy_(tensors["weights"])
    return Models(
        made,
        net,
        tuple(math.nan if loss is None else loss for loss in counters["losses"]),
        tuple(counters["training_losses"]),
        tuple(counters["diverged"]),
        both.validation,
    )


def _trained(made: LanguageModelRecipe, both: Texts, device: str, place: Path | None) -> Models:
    task = Shuffled(both.training) if made.shuffled else both.training
    models = train(
        made.shape,
        task,
        made.settings,
        device=device,
        folder=place / "training" if place else None,
        progress=_news(made, place) if place else None,
    )
    last = models.history[-1].loss if models.history else (None,) * made.settings.replicas
    return Models(
        made,
        models.net,
        validation_losses(models.net, both.validation, device),
        last,
        tuple(status == "diverged" for status in models.status),
        both.validation,
    )


def _identity(made: LanguageModelRecipe, both: Texts, device: str) -> str:
    """What nets are known by: everything that their weights and losses depend on, the code that
    trains and torch included."""
    code = [code_version(definition) for definition in (_trained, Text, NetShape, Settings)]
    return checkpoints.fingerprint(
        [
            asdict(made),
            both.training.digest,
            both.validation.digest,
            device,
            torch.get_num_threads(),
            code,
            torch.__version__,
        ]
    )


def _news(made: LanguageModelRecipe, place: Path) -> Callable[[Progress], None]:
    """Progress as a small file, at most twice a second, for whoever watches from another
    process."""
    said, shape = 0.0, made.shape
    place.mkdir(exist_ok=True)
    label = (
        f"{shape.layers} layers, width {shape.width}, "
        f"{'no' if shape.norm == 'none' else shape.norm} norm"
    )

    def tell(progress: Progress) -> None:
        nonlocal said
        if time.monotonic() - said < 0.5:
            return
        said = time.monotonic()
        part = place / f"{NEWS}.{os.getpid()}.part"
        with suppress(OSError):  # a full disk stops the training at its next checkpoint
            part.write_text(
                json.dumps(
                    {
                        "label": label,
                        "step": progress.step,
                        "steps": progress.steps,
                        "process": os.getpid(),
                    }
                )
            )
            part.replace(place / NEWS)

    return tell
