"""Nets trained on two cycles of 20, seed by seed, and what they are asked about single rows of
graphs whose cycles they have not been trained on."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from depthlaw.theory.claims.definition import Case

from ..nets.constructions import cubing
from ..nets.net import Net, NetShape
from ..tasks import Task
from ..tasks.graph_families import permutations
from ..tasks.long_cycles import LongCycles
from ..tasks.shuffled import Shuffled
from ..training.checkpoints import read, write
from ..training.depth_search import alone
from ..training.evaluation import generator
from ..training.recordings import name_of
from ..training.settings import Settings
from ..training.trainer import train

# Learning rates of all depths. In trials linearised nets of two layers learned nothing at 2e-3, and
# softmax nets of one layer were slower at 1e-3 and at 3e-3.
RATES = {"softmax": 1.5e-3, "linearised": 1e-3}
# Lengths of the cycles of the graphs that a net is asked about, the cycle of the source first. The
# first graphs are those of training; no net has seen the others.
GRAPHS: tuple[tuple[int, ...], ...] = ((20, 20), (40,), (30, 10), (28, 12))
# Graphs of each kind, with one source in each.
DRAWN = 4096
# Distances asked about, and the one that they are compared with in the row: the largest that every
# unseen cycle has, and beyond 3^L for two layers and any distance asked about.
DISTANCES, FAR = tuple(range(1, 14)), 14
# Updates between checkpoints: half a minute of one core.
EVERY = 5_000


class Right(NamedTuple):
    """How many of the questions of one kind a net answers rightly, and how many it was asked."""

    right: int
    asked: int


def training(case: Case, seed: int) -> tuple[NetShape, Task, Settings]:
    """The training of one net for `updates` updates, with a schedule of their own.

    Attention without MLP, one head, width 2n, rows of A + I with the index as features, a linear
    read-out, pre-norm without gains. AdamW, linear warm-up over a tenth of the updates, then linear
    decay, batch 16. Linearised scores are divided by n sqrt(width). A case may ask for a net that
    has an `mlp` of four times the width, or is taught the labels of other graphs (`shuffled`).
    """
    task = LongCycles(case.cycles, case.around)
    n, width = task.vertices, 2 * task.vertices
    shape = NetShape(
        width=width,
        depth=case.depth,
        attention=case.net,
        scale=1 / (n * math.sqrt(width)) if case.net == "linearised" else None,
        norm="pre",
        mlp=4 * width * case.get("mlp", 0),
        features=task.features,
        outputs=task.outputs,
    )
    settings = Settings(
        steps=case.updates,
        batch=16,
        learning_rates=(RATES[case.net],),
        seeds=(seed,),
        warmup=case.updates // 10,
        schedule="linear",
        validation=16,
    )
    return shape, Shuffled(task) if case.get("shuffled", False) else task, settings


def answers(
    case: Case, seed: int, device: str = "cpu", folder: str = ""
) -> dict[str, dict[int, Right]]:
    """What the net of a case and seed is asked, as in `asked`. A case whose net is "explicit" has
    the weights that cube A + I in place of trained ones, and its seed draws the graphs alone."""
    if case.net == "explicit":
        return _of_explicit(case.depth, seed)
    shape, task, settings = training(case, seed)
    return _of_trained(shape, task, settings, device, folder)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def _of_explicit(depth: int, seed: int) -> dict[str, dict[int, Right]]:
    n = sum(GRAPHS[0])
    net = cubing(n, depth)
    return asked(lambda rows: net(rows[..., :n] - torch.eye(n)).float(), seed)


@lru_cache(maxsize=64)
def _of_trained(
    shape: NetShape, task: Task, settings: Settings, device: str, folder: str
) -> dict[str, dict[int, Right]]:
    """Train and ask. A training is stored while it runs, its weights when it is done."""
    place = Path(folder) / "trainings" / named(shape, task, settings, device) if folder else None
    if place is None:
        net = _trained(shape, task, settings, device, None)
    else:
        with alone(place):
            stored = read(place, place.name)
            if stored is None:
                net = _trained(shape, task, settings, device, place / "training")
                weights = {key: p.detach().cpu() for key, p in net.named_parameters()}
                trained_with = {"torch": torch.__version__, "threads": torch.get_num_threads()}
                write(place, place.name, settings.steps, weights, trained_with)
                shutil.rmtree(place / "training", ignore_errors=True)
            else:
                net = Net(shape, dtype=settings.dtype, device=device)
                net.load_state_dict(stored[1])
    net.eval()
    with torch.no_grad():
        return asked(
            lambda rows: net(rows[None].to(device, settings.dtype))[0].cpu(), settings.seeds[0]
        )


def named(shape: NetShape, task: Task, settings: Settings, device: str) -> str:
    """The folder of a training below `trainings`."""
    return name_of(shape, settings, task.name, task, device=device)


def _trained(
    shape: NetShape, task: Task, settings: Settings, device: str, place: Path | None
) -> Net:
    return train(
        shape,
        task,
        settings,
        device=device,
        folder=place,
        checkpoint_every=min(EVERY, settings.steps),
    ).net


def asked(
    logits: Callable[[Tensor], Tensor], seed: int, graphs: int = DRAWN
) -> dict[str, dict[int, Right]]:
    """Which of two vertices has the larger logit in the row of one source: question -> distance ->
    how many of the answers are right. Ties are settled by a coin, so chance is one half.

    For each kind of `GRAPHS` the source lies on its first cycle. Questions "row 30+10": one of the
    two vertices at the distance against one at distance `FAR` on the same cycle, so that nothing is
    learned from where cycles end. Questions "other 30+10": the former against a vertex of another
    cycle. One question of each kind and distance is asked of each graph.

    Args:
        logits: rows of A + I with the index, (graphs, n, 2n), to logits (graphs, n, n).
        seed: of the graphs; other graphs than any training draws.
        graphs: of each kind.
    """
    found: dict[str, dict[int, Right]] = {}
    for cycles in GRAPHS:
        name = "+".join(map(str, cycles))
        draw = generator("cpu", "rows of fresh cycles", name, seed)
        place = permutations(graphs, sum(cycles), draw)
        logit = torch.cat([logits(part) for part in map(_inputs(cycles), place.split(256))])
        # The vertex at each place, and the logits of the first place's row in the order of places.
        vertex = place.argsort(dim=1)
        row = logit[torch.arange(graphs), vertex[:, 0]].gather(1, vertex)
        around = cycles[0]

        def at(
            distance: int, row: Tensor = row, draw: torch.Generator = draw, around: int = around
        ) -> Tensor:
            side = torch.randint(2, (graphs, 1), generator=draw)
            return row.gather(1, torch.where(side == 0, distance, around - distance))[:, 0]

        def compared(near: Tensor, far: Tensor, draw: torch.Generator = draw) -> Right:
            coin = torch.rand(graphs, generator=draw) < 0.5
            return Right(int(((near > far) | ((near == far) & coin)).sum()), graphs)

        if around // 2 >= FAR:
            found[f"row {name}"] = {d: compared(at(d), at(FAR)) for d in DISTANCES}
        if len(cycles) > 1:
            found[f"other {name}"] = {
                d: compared(
                    at(d),
                    row.gather(1, torch.randint(around, sum(cycles), (graphs, 1), generator=draw))[
                        :, 0
                    ],
                )
                for d in DISTANCES
                if d <= around // 2
            }
    return found


def _inputs(cycles: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    """From the place of each vertex, (graphs, n), to rows of A + I with the index."""
    n = sum(cycles)
    adjacent = torch.eye(n)
    start = 0
    for around in cycles:
        along = torch.arange(around)
        adjacent[start + along, start + (along + 1) % around] = 1.0
        adjacent[start + (along + 1) % around, start + along] = 1.0
        start += around

    def rows(place: Tensor) -> Tensor:
        near = adjacent[place[:, :, None], place[:, None, :]]
        return torch.cat([near, torch.eye(n).expand(near.shape)], dim=-1)

    return rows
