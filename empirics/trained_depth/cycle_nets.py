"""Nets trained on cycles of equal length, by several numbers of updates; and rules in their
place."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.claims.definition import Ball, Case

from ..nets.constructions import cubing
from ..nets.net import NetShape
from ..tasks import Batch
from ..tasks.graph_families import distances
from ..tasks.long_cycles import LongCycles
from ..tasks.shuffled import Shuffled
from ..training.checkpoints import fingerprint, read, write
from ..training.depth_search import LEVEL, Answers, Training, alone
from ..training.evaluation import forced_choices, logits_of, replicas_of
from ..training.settings import Settings
from ..training.trainer import train
from .net_answers import bounded
from .recipes import paths

# Graphs that each seed's net is asked about, and a rule; and the seeds.
GRAPHS, RULE_GRAPHS = 1024, 4096
SEEDS = (0, 1, 2, 3, 4)
# Learning rates of all depths. In trials linearised nets of two layers learned nothing at 2e-3, and
# softmax nets of one layer were slower at 1e-3 and at 3e-3.
RATES = {"softmax": 1.5e-3, "linearised": 1e-3}


def training(case: Case) -> Training:
    """The training of a case's nets: `updates` of them, with a schedule of their own.

    Attention without MLP, one head, width 2n, rows of A + I with the index as features, a linear
    read-out, pre-norm without gains. AdamW, linear warm-up over a tenth of the updates, then linear
    decay, batch 16. Linearised scores are divided by n sqrt(width).
    """
    task = LongCycles(case.cycles, case.around)
    n, width = task.vertices, 2 * task.vertices
    rate, scale = RATES[case.net], 1 / (n * math.sqrt(width)) if case.net == "linearised" else None
    shape = NetShape(
        width=width,
        depth=case.depth,
        attention=case.net,
        scale=scale,
        norm="pre",
        features=task.features,
        outputs=task.outputs,
    )
    settings = Settings(
        steps=case.updates,
        batch=16,
        learning_rates=(rate,) * len(SEEDS),
        seeds=SEEDS,
        warmup=case.updates // 10,
        schedule="linear",
        validation=16,
    )
    return Training(
        shape, task, settings, (rate,), SEEDS, GRAPHS, bool(case.get("shuffled", False))
    )


def answers_of(case: Case, device: str = "cpu", folder: str = "") -> Answers:
    """What a case's nets choose after training; or a rule in their place: explicit weights
    (net=explicit) have a depth, local baselines (bounded, intersecting) a radius."""
    if case.net in RULES:
        return _by_rule(
            case.net,
            case.get("cycles", 0),
            case.get("around", 0),
            case.get("vertices", 0),
            case.get("radius", case.get("depth")),
        )
    return _of_nets(training(case), device, folder)


@lru_cache(maxsize=256)
def _of_nets(made: Training, device: str, folder: str) -> Answers:
    """Choices alone, where `depth_search.answers` counts every pair besides, at five times the
    cost. A training is stored while it runs, what was counted when it is done."""
    if not folder:
        return _trained(made, device, None)
    name = fingerprint(
        [
            asdict(made),
            made.task.name,
            device,
            torch.get_num_threads(),
            code_version(_trained),
            torch.__version__,
        ]
    )
    place = Path(folder) / "trainings" / name
    with alone(place):
        stored = read(place / "answers", name)
        if stored is None:
            made_now = _trained(made, device, place / "training")
            write(place / "answers", name, made.settings.steps, {}, asdict(made_now))
            shutil.rmtree(place / "training", ignore_errors=True)
            return made_now
    return Answers(**{name: _tuples(value) for name, value in stored[2].items()})


def _tuples(value: Any) -> Any:
    """Lists as JSON has them."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _trained(made: Training, device: str, place: Path | None) -> Answers:
    task = Shuffled(made.task) if made.shuffled else made.task
    models = train(
        made.shape,
        task,
        made.settings,
        device=device,
        folder=place,
        checkpoint_every=max(1, made.settings.steps // 10),
    )
    net = models.net
    net.eval()
    with torch.no_grad():
        places, counts = forced_choices(
            lambda batch: logits_of(net, batch),
            made.task,
            replicas_of(net),
            seed=0,
            graphs=made.examples,
            device=device,
        )
    chosen, choices = (tuple(map(tuple, count)) for count in counts.tolist())
    return Answers(made.rates[0], models.status, models.steps, (), (), (), places, chosen, choices)


def effective_reaches(case: Case, device: str = "cpu", folder: str = "") -> np.ndarray:
    """The effective reach of each seed's net: the sum over distances of 2 a - 1 for the share a of
    right choices at a distance.

    What is right up to a distance r and at chance beyond has r, up to the noise of the choices.
    Seeds and graphs are the same for either attention, so that differences are paired.
    """
    answers = answers_of(case, device, folder)
    shares = np.asarray(answers.chosen) / np.asarray(answers.choices)
    return np.asarray((2 * shares - 1).sum(axis=1))


def pooled_reach(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """The effective reach of all seeds' nets together: the sum over distances of what the interval
    of Clopper and Pearson of each share leaves open, each at `depth_search.LEVEL`."""
    answers = answers_of(case, device, folder)
    ends = [answers.chosen_at(distance).interval(LEVEL) for distance in answers.distances]
    low, high = (math.fsum(2 * end[side] - 1 for end in ends) for side in (0, 1))
    return Ball(Fraction(str(round(low - 1e-9, 9))), Fraction(str(round(high + 1e-9, 9))))


# --- rules ----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _by_rule(rule: str, cycles: int, around: int, vertices: int, size: int) -> Answers:
    """What a rule of a depth or radius chooses on `RULE_GRAPHS` graphs, in the place of one seed:
    on equal cycles or, where there are none, on the random paths of so many vertices."""
    task = LongCycles(cycles, around) if cycles else paths(vertices, vertices - 1)
    score = RULES[rule](task.vertices, size)

    def logits(batch: Batch) -> Tensor:
        return score(task.adjacency(batch.inputs)[0])[None]

    places, counts = forced_choices(logits, task, 1, seed=0, graphs=RULE_GRAPHS)
    chosen, drawn = ((tuple(row[0]),) for row in counts.tolist())
    return Answers(0.0, ("success",), (0,), (), (), (), places, chosen, drawn)


def _explicit(vertices: int, depth: int) -> Callable[[Tensor], Tensor]:
    net = cubing(vertices, depth)
    return lambda adjacency: net(adjacency).float()


def intersecting(vertices: int, radius: int) -> Callable[[Tensor], Tensor]:
    """The local baseline that intersects the two balls of radius r: 1 where they meet, which is up
    to distance 2r."""

    def score(adjacency: Tensor) -> Tensor:
        far = distances(adjacency)
        return ((far >= 0) & (far <= 2 * radius)).float()

    return score


RULES: dict[str, Callable[[int, int], Callable[[Tensor], Tensor]]] = {
    "explicit": _explicit,
    "bounded": bounded,
    "intersecting": intersecting,
}
