"""What nets answer after training, by distance and by hops, and the least depth that passes: the measurements of `theory.trained_depth`.

A case names the task and the shape; what else a training needs (width, optimiser, budget) stands here, so that records depend on it
through the digest of this module.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from torch import Tensor

from depthlaw.theory.measurement import Ball, Case, Measured, Proportion

from .constructions import cubing
from .depth_search import Answers, Training, answers, least_depth, slope
from .evaluation import forced_choices, spot_counts
from .nets import Shape
from .settings import Settings
from .tasks import Batch
from .tasks.graphs import Connectivity
from .tasks.sequences import HopK

__all__ = ["MEASURED", "accuracy", "depth_slope", "least", "training"]

# Updates, and the learning rates chosen between, by (vertices, diameter) of the graphs or by (symbols, largest k): found by trial before
# anything was recorded. Half of the updates leave the deeper nets half trained, as their losses show; at 16e-3 training breaks down.
_STEPS = {(8, 7): 800, (12, 3): 1000, (12, 11): 2000, (24, 23): 4000, (64, 9): 40_000, (64, 27): 40_000, (82, 81): 60_000,
          (24, 1): 1500, (24, 4): 5000, (98, 16): 100_000}
_RATES = {"softmax": {12: (4e-3, 8e-3), 24: (8e-3,)}, "linearised": {12: (2e-3, 8e-3), 24: (8e-3,)}}


def training(case: Case, depth: int) -> Training:
    """The training of nets of a depth on a case's task.

    Connectivity: paths with every edge cut with probability 0.1, cut further after each D + 1 vertices; rows of A + I with the index,
    width 48, one head, pre-LN without gains, MLP of width 192, no biases. Hops: causal, learned positions, width 64, one head, pre-LN, MLP of
    width 256. AdamW, linear warm-up over a tenth of the steps, then linear decay; batch 64, for hops 32.

    Raises:
        ValueError: for a task that is not known.
    """
    if case.task == "connectivity":
        return _graphs(case, case.vertices, case.diameter, depth)
    if case.task not in ("induction", "hop_k"):
        raise ValueError(f"task={case.task!r}: accepted are connectivity, induction and hop_k")
    task = HopK(symbols=case.symbols, alphabet=case.alphabet, k_max=case.hops_max, k_min=1, vocabulary=0)
    shape = Shape(width=64, depth=depth, norm="pre", mlp=256, causal=True, positions="learned", length=task.length, biases=True,
                  vocabulary=task.vocabulary, outputs=task.outputs)
    return Training(shape, task, _settings((case.symbols, case.hops_max), 32), (2e-3,), shuffled=bool(case.get("shuffled", False)))


def _graphs(case: Case, vertices: int, diameter: int, depth: int) -> Training:
    task = Connectivity(vertices=vertices, family="paths", cut=0.1, max_distance=0 if diameter == vertices - 1 else diameter, index=True)
    shape = Shape(width=48, depth=depth, attention=case.net, norm="pre", mlp=192, features=task.features, outputs=task.outputs)
    return Training(shape, task, _settings((vertices, diameter), 64), _RATES[case.net].get(vertices, (4e-3,)),
                    shuffled=bool(case.get("shuffled", False)))


def _settings(size: tuple[int, int], batch: int) -> Settings:
    steps = _STEPS[size]
    return Settings(steps=steps, batch=batch, warmup=steps // 10, schedule="linear", evaluate_every=max(1, steps // 10), success=0.999)


def _answers(case: Case, depth: int) -> Answers:
    return _explicit(case.vertices, case.diameter, depth) if case.get("net") == "explicit" else answers(training(case, depth))


@lru_cache(maxsize=16)
def _explicit(vertices: int, diameter: int, depth: int) -> Answers:
    """What `constructions.cubing` answers on graphs of the same family, in the place of one seed."""
    task = Connectivity(vertices=vertices, family="paths", cut=0.1, max_distance=0 if diameter == vertices - 1 else diameter)
    net = cubing(vertices, depth)

    def connected(batch: Batch) -> Tensor:
        return net(task.adjacency(batch.inputs)[0])[None]

    counted = (spot_counts(lambda batch: (connected(batch) == batch.targets) & batch.scored, task, 1, seed=0, graphs=Training.examples),
               forced_choices(lambda batch: connected(batch).float(), task, 1, seed=0, graphs=Training.examples))
    parts = [part for groups, counts in counted for part in (groups, *((tuple(row[0]),) for row in counts.tolist()))]
    return Answers(0.0, ("success",), (0,), *parts)


def accuracy(case: Case, seed: int) -> Proportion:
    """How often nets of the case's depth tell a pair at its distance from one that is not connected, or answer a position with its k:
    pooled over the nets of all seeds."""
    found = _answers(case, case.depth)
    return found.chosen_at(case.distance) if case.task == "connectivity" else found.pooled(case.hops)


def least(case: Case, seed: int) -> Ball:
    """The least depth whose worst or median seed answers every distance and what is not connected, or k hops."""
    return _least(case, case.tried, case.seeds, None if case.task == "connectivity" else (case.hops,))


def _least(case: Case, tried: int, seeds: str, groups: Sequence[int] | None) -> Ball:
    found = [_answers(case, depth) for depth in range(1, tried + 1)]
    return least_depth([[each.passes(s, groups) for s in range(len(each.right))] for each in found], seeds)


def depth_slope(case: Case, seed: int) -> Ball:
    """The slope of the median seed's least depths against log_3 D, or log2 k."""
    if case.task == "connectivity":
        graphs = [tuple(map(int, graph.split("/"))) for graph in case.graphs.split()]
        depths = [_least(Case(task=case.task, net=case.net, vertices=n, diameter=d), tried, "median", None) for n, d, tried in graphs]
        return slope(depths, [math.log(d, 3) for _, d, _ in graphs])
    hops = [2**i for i in range(case.hops_max.bit_length())]
    depths = [_least(case, case.hops_max.bit_length() + 1, "median", (k,)) for k in hops]
    return slope(depths, [math.log2(k) for k in hops])


# By claim, as `theory.trained_depth` declares them.
MEASURED: dict[str, Callable[[Case, int], Measured]] = {
    f"trained_depth/{name}": measure for measure, names in (
        (accuracy, ("connectivity_within", "connectivity_wall", "connectivity_far", "hops_within", "hops_wall")),
        (least, ("connectivity_enough", "connectivity_needed", "hops_enough", "hops_needed")),
        (depth_slope, ("connectivity_slope", "hops_slope"))) for name in names}
