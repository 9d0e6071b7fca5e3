"""Language models of equal size and several depths, each trained once at its own learning rate: a
curve of validation losses, from which the loss at any smaller budget is read.

The learning rate is constant after its warm-up, so that a training that is stopped early is the
training of fewer updates, and not a part of another schedule.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.claims.definition import Case

from ..exercises.language_model import LanguageModelRecipe, Texts, recipe, texts, validation_losses
from ..nets.net import Factors, Net, NetShape
from ..signal_propagation.parametrisations import BASE_DEPTH, BASE_WIDTH, MATRICES, RULES
from ..tasks.text_windows import Text
from ..training import checkpoints
from ..training.depth_search import alone
from ..training.settings import Settings
from ..training.trainer import train
from ..training.training_run import TrainingRun
from .fixed_budgets import BudgetName, equal_updates, interpolated, training_operations, width_of

# Parameters whose learning rate muP divides by the width.
_BY_WIDTH = (*(f"{name}.*" for name in MATRICES), "read_out")
# Where curves are stored in a results cache.
FOLDER = "depth_width"
# Windows of the validation text that a loss is the mean over.
WINDOWS = 64
# Learning rates are powers of 2. These are tried first, and then the next one on the side of the
# best, until the best has a neighbour on both sides, but none beyond the ends.
FIRST_RATES, LEAST_RATE, LARGEST_RATE = (2.0**-9, 2.0**-8, 2.0**-7), 2.0**-14, 2.0**-3
# The seed that rates are chosen with; no reported replica has it.
TUNING_SEED = 1000
# Updates of each shape that are timed, after one that is not.
ROUNDS = 8


@dataclass(frozen=True)
class Curves:
    """Validation losses of the replicas of one shape while they are trained.

    Attributes:
        rate: the learning rate, chosen by `tried`.
        tried: (rate, validation loss of the tuning seed after all updates) of every rate, ascending
            in the rate; infinite where it is not finite.
        steps: updates after which the losses were measured.
        losses: of each replica, nats per token, one for each of `steps`; nan where not finite.
    """

    rate: float
    tried: tuple[tuple[float, float], ...]
    steps: tuple[int, ...]
    losses: tuple[tuple[float, ...], ...]

    @property
    def bracketed(self) -> int:
        """Rates between the chosen one and the nearer end of those tried, the end included: 0 where
        the best rate is the least or the largest."""
        rates = [rate for rate, _ in self.tried]
        place = rates.index(self.rate)
        return min(place, len(rates) - 1 - place)


def made(
    case: Case, depth: int, rates: Sequence[float], seeds: Sequence[int]
) -> LanguageModelRecipe:
    """The nets of a case at a depth: causal, pre-norm, learned positions, biases, MLP four times
    the width, as in the exercises.

    AdamW with betas 0.9 and 0.95 and weight decay 0.1 of matrices, gradient norm at most 1, linear
    warm-up over a tenth of the updates, then a constant rate. "standard" is GPT-2's initialisation
    and one rate. "mup" and "completep" have the deviations, rates, attention scale and branches of
    `parametrisations.RULES`, relative to 2 layers of width 32; Adam's epsilon stays as it is, and
    weight decay is multiplied by the rates.

    Args:
        case: parameters, heads, steps, marks (evaluations), batch, length, vocabulary,
            parametrisation, attention.
        depth: layers; the width follows from `width_of`.
        rates, seeds: one of each for each replica.
    """
    width, rule = width_of(case.parameters, depth, case.heads), RULES[case.parametrisation]
    m_N, m_L = width / BASE_WIDTH, depth / BASE_DEPTH
    wide = case.parametrisation != "standard"
    model = recipe(
        depth,
        steps=case.steps,
        width=width,
        heads=case.heads,
        seeds=len(seeds),
        batch=case.batch,
        vocabulary=case.vocabulary,
        scheme="lecun" if wide else "gpt2",
        rate_factors=tuple((name, 1 / m_N) for name in _BY_WIDTH) if wide else (),
        length=case.length,
        attention=case.attention,
        scale=(BASE_WIDTH / case.heads) ** 0.5 / (width / case.heads) if wide else None,
    )
    shape, std = model.shape, model.settings.std
    if wide:
        shape = replace(shape, factors=(Factors(branch=m_L**-rule.alpha),) * (2 * depth))
        std = std._replace(read_out=std.read_out * m_N**-0.5)  # type: ignore[union-attr]
    return LanguageModelRecipe(
        shape,
        replace(
            model.settings,
            learning_rates=tuple(rates),
            seeds=tuple(seeds),
            schedule="constant",
            evaluate_every=max(1, case.steps // case.marks),
            std=std,
        ),
    )


@lru_cache(maxsize=128)
def curves(case: Case, depth: int, *, device: str = "cpu", folder: str = "") -> Curves:
    """Tune the learning rate of a case's nets of a depth, then train its replicas, each once; or
    read what an earlier process found.

    Every rate trains one replica of the seed `TUNING_SEED` for all updates. A training that was
    killed goes on from its last checkpoint.

    Args:
        case: as `made` takes it, with replicas and corpus; seeds are 0 to replicas - 1.
        depth: layers.
        device: where; on a GPU matrix products are in bfloat16.
        folder: curves are stored in `folder`/depth_width; "": nowhere.

    Raises:
        UsageError: as `corpus.encoded`.
        checkpoints.CheckpointError: where what is stored is damaged, or cannot be written.

    Cost: of `trainer.train` for replicas + 3 or more nets; 8 nets of 36 000 weights and 300 updates
    take a minute or two.
    """
    both = texts(case.corpus, case.vocabulary, case.length, folder)
    losses_by_rate: dict[float, float] = {}
    ask = list(FIRST_RATES)
    while ask:
        steps, losses = _trained(
            _on(made(case, depth, ask, [TUNING_SEED] * len(ask)), device), both, device, folder
        )
        losses_by_rate |= {
            rate: loss[-1] if math.isfinite(loss[-1]) else math.inf
            for rate, loss in zip(ask, losses, strict=True)
        }
        ask = next_rates(losses_by_rate)
    rate = min(losses_by_rate, key=lambda rate: losses_by_rate[rate])
    seeds = range(case.replicas)
    steps, losses = _trained(
        _on(made(case, depth, [rate] * len(seeds), seeds), device), both, device, folder
    )
    return Curves(rate, tuple(sorted(losses_by_rate.items())), steps, losses)


def initial_losses(
    case: Case, depth: int, *, device: str = "cpu", folder: str = ""
) -> tuple[float, ...]:
    """Validation losses of a case's nets as they are initialised. Arguments as `curves`."""
    both = texts(case.corpus, case.vocabulary, case.length, folder)
    once = Case(**case.fields() | {"steps": 1, "marks": 1})
    seeds = range(case.replicas)
    models = made(once, depth, [0.0] * len(seeds), seeds)
    return tuple(losses[-1] for losses in _trained(_on(models, device), both, device, folder)[1])


def next_rates(found: dict[float, float]) -> list[float]:
    """The rate beyond the end that is best so far; none where the best lies inside."""
    best = min(found, key=lambda rate: found[rate])
    beyond = {min(found): best / 2, max(found): 2 * best}.get(best)
    return [beyond] if beyond and LEAST_RATE <= beyond <= LARGEST_RATE else []


def _on(made: LanguageModelRecipe, device: str) -> LanguageModelRecipe:
    if torch.device(device).type != "cuda":
        return made
    return replace(made, settings=replace(made.settings, precision="bf16"))


Measured = tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]


def _trained(made: LanguageModelRecipe, both: Texts, device: str, folder: str) -> Measured:
    """Steps and losses of each replica; stored in the folder, if there is one."""
    if not folder:
        return _curve(made, both, device, None)
    place = Path(folder) / FOLDER / _identity(made, both, device)
    file = place.with_suffix(".json")
    with alone(place):
        if (stored := _read(file)) is not None:
            return stored
        steps, losses = _curve(made, both, device, place)
        _write(
            file,
            {
                "steps": steps,
                "losses": [
                    [loss if math.isfinite(loss) else None for loss in value] for value in losses
                ],
            },
        )
        shutil.rmtree(place, ignore_errors=True)
    return steps, losses


def _curve(made: LanguageModelRecipe, both: Texts, device: str, place: Path | None) -> Measured:
    def measure(net: Net) -> list[float | None]:
        # JSON, and so a checkpoint, has no nan.
        return [
            loss if math.isfinite(loss) else None
            for loss in validation_losses(net, both.validation, device, windows=WINDOWS)
        ]

    history = train(
        made.shape, both.training, made.settings, device=device, folder=place, measure=measure
    ).history
    losses = tuple(
        tuple(
            math.nan if entry.measured[r] is None else float(entry.measured[r]) for entry in history
        )
        for r in range(made.settings.replicas)
    )
    return tuple(entry.step for entry in history), losses


def _identity(made: LanguageModelRecipe, both: Texts, device: str) -> str:
    """Everything that losses depend on, the code that trains and torch included."""
    code = [code_version(definition) for definition in (_curve, Text, NetShape, Settings)]
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


def _write(file: Path, body: dict[str, Any]) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(body | {"seal": checkpoints.fingerprint(body)}))
        part.replace(file)
    except OSError as error:
        raise checkpoints.CheckpointError(
            f"cannot store a curve in {file.parent} ({error.strerror}); free space, or choose "
            "another folder with --results DIR"
        ) from None


def _sealed(file: Path) -> dict[str, Any] | None:
    """What is stored; None where there is nothing, or something damaged, which is made again."""
    try:
        body: dict[str, Any] = json.loads(file.read_text())
        seal = body.pop("seal")
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return body if seal == checkpoints.fingerprint(body) else None


def _read(file: Path) -> Measured | None:
    body = _sealed(file)
    if body is None:
        return None
    return tuple(body["steps"]), tuple(
        tuple(math.nan if loss is None else loss for loss in value) for value in body["losses"]
    )


# --- budgets --------------------------------------------------------------------------------------


def budget_losses(
    case: Case,
    depth: int,
    budget: BudgetName,
    depths: Sequence[int],
    *,
    device: str = "cpu",
    folder: str = "",
) -> np.ndarray:
    """Validation losses of the replicas of a depth at a budget that is the same for all depths,
    shape (replicas,), in nats per token.

    Args:
        case: as `curves` takes it.
        depth: one of the depths.
        budget: "updates": all of them; "operations", "seconds": so many updates as cost the same,
            see `equal_updates`, by `training_operations`, or by `update_seconds`.
        depths: nets that the budget is shared with.
        device, folder: as `curves`.
    """
    curve = curves(case, depth, device=device, folder=folder)
    updates = float(curve.steps[-1])
    if budget == "operations":
        updates = equal_updates(
            {
                layers: training_operations(
                    layers,
                    width_of(case.parameters, layers, case.heads),
                    case.heads,
                    case.vocabulary,
                    case.length,
                )
                for layers in depths
            },
            curve.steps[-1],
        )[depth]
    elif budget == "seconds":
        seconds = update_seconds(case, tuple(depths), device=device, folder=folder)
        updates = equal_updates(
            {layers: median(seconds[layers]) for layers in depths}, curve.steps[-1]
        )[depth]
    return np.array([interpolated(curve.steps, losses, updates) for losses in curve.losses])


@lru_cache(maxsize=32)
def update_seconds(
    case: Case, depths: tuple[int, ...], *, device: str = "cpu", folder: str = ""
) -> dict[int, tuple[float, ...]]:
    """Seconds of an update of all replicas, of each depth: `ROUNDS` measurements.

    One process times all depths in turn, so that what else the machine does slows all of them; and
    stores what it found in the folder, since another time would be another budget.

    Cost: of `ROUNDS` + 1 updates of each depth.
    """
    both = texts(case.corpus, case.vocabulary, case.length, folder)
    recipes = [
        _on(made(case, depth, [FIRST_RATES[0]] * case.replicas, range(case.replicas)), device)
        for depth in depths
    ]
    if not folder:
        return _timed(recipes, both, device)
    identity = checkpoints.fingerprint(
        [[_identity(net, both, device) for net in recipes], code_version(_timed)]
    )
    file = Path(folder) / FOLDER / f"seconds-{identity}.json"
    with alone(file):
        body = _sealed(file)
        if body is None:
            body = {"seconds": list(_timed(recipes, both, device).values())}
            _write(file, body)
    return {depth: tuple(seconds) for depth, seconds in zip(depths, body["seconds"], strict=True)}


def _timed(
    recipes: Sequence[LanguageModelRecipe], both: Texts, device: str
) -> dict[int, tuple[float, ...]]:
    """Seconds of an update by depth; a round of one update of each is not counted."""
    where = torch.device(device)
    runs = [TrainingRun(net.shape, both.training, net.settings, where) for net in recipes]
    times_of_runs: list[list[float]] = [[] for _ in runs]
    for _ in range(min(ROUNDS + 1, *(net.settings.steps for net in recipes))):
        for run, seconds in zip(runs, times_of_runs, strict=True):
            before = time.perf_counter()
            run.advance()
            if where.type == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - before)
    return {
        run.net.shape.depth: tuple(times[1:])
        for run, times in zip(runs, times_of_runs, strict=True)
    }
