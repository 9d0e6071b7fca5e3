"""What nets answer after training, by distance and by hops, and the least depth that passes: the measurements of `theory.trained_depth`.

A case names the task and the shape; what else a training needs (width, optimiser, budget) stands here, so that records depend on it
through the digest of this module. Trees and explicit weights run on the CPU whatever the device.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import torch
from torch import Tensor

from depthlaw.theory.values import Ball, Case, Measured, Proportion

from .constructions import cubing
from .depth_search import BAR, LEVEL, Answers, Training, answers, least_depth, slope
from .evaluation import forced_choices, spot_counts
from .nets import Shape, gpt2
from .settings import Settings
from .tasks import Batch, Task
from .tasks.graph_families import distances
from .tasks.graphs import Connectivity
from .tasks.sequences import HopK
from .tasks.shortcuts import Shortcut, audit

__all__ = ["MEASURED", "RULE_GRAPHS", "accuracy", "depth_slope", "least", "local_radius", "shortcut", "successes", "trained_reach", "training"]

# Updates, and the learning rates chosen between, by (vertices, diameter) of the graphs or by (symbols, largest k): found by trial on these
# tasks, with seeds that are among those reported. Half of the updates leave the deeper nets half trained, as their losses show; at 16e-3
# training breaks down, at 8e-3 some of the deeper nets on 12 vertices do, so that 4e-3 was added there after a first recording.
_STEPS = {(8, 7): 800, (12, 3): 1000, (12, 11): 2000, (24, 23): 5000, (64, 9): 40_000, (64, 27): 40_000, (82, 81): 60_000,
          (24, 1): 1500, (24, 4): 5000}
_RATES = {(12, 3): (4e-3, 8e-3), (12, 11): (4e-3, 8e-3), (24, 23): (8e-3,)}
# Fresh examples for each seed's answers, by the same sizes, where 4096 are too few: pairs far apart are rare, and so is each of many k.
_EXAMPLES = {(24, 23): 16_384, (82, 81): 16_384, (24, 1): 32_768, (24, 4): 32_768, (98, 16): 32_768}
# Graphs that a rule is asked about.
RULE_GRAPHS = 20_480
# hop_k as published, by symbols of a sequence: width, updates, and those of the warm-up. Of 98 is the published experiment; of 8 is one that a
# CPU trains in seconds, for the failing twins.
_PUBLISHED = {98: (128, 100_001, 1000), 8: (32, 60, 10)}


def training(case: Case, depth: int) -> Training:
    """The training of nets of a depth on a case's task.

    Connectivity: paths with every edge cut with probability 0.1 (2/n beyond 24 vertices), cut further after each D + 1 vertices; rows of
    A + I with the index, width 48 (2n beyond 24 vertices), batch 64, linearised scores over n sqrt(width). Hops: causal, learned positions,
    biases, width 64, batch 32. Both: one head, pre-LN without gains, MLP four times the width; AdamW, linear warm-up over a tenth of the
    updates, then linear decay.

    hop_k with 98 symbols is the published experiment: the shape of GPT-2 with width 128, four heads and dropout 0.1, k from 0 to 16, batch
    32, learning rate 1e-4 after a linear warm-up of 1000 updates, then linear decay, 100 001 updates without clipping, every position
    learned. With 8 symbols it is the same in small, which learns next to nothing: width 32 and 60 updates.

    Raises:
        ValueError: for a task that is not known.

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Appendix G, for the published experiment.
    """
    if case.task == "connectivity":
        return _graphs(case, case.vertices, case.diameter, depth)
    if case.task not in ("induction", "hop_k"):
        raise ValueError(f"task={case.task!r}: accepted are connectivity, induction and hop_k")
    if case.task == "hop_k" and case.symbols in _PUBLISHED:
        return _published(case, depth)
    task = _hops(case)
    shape = Shape(width=64, depth=depth, norm="pre", mlp=256, causal=True, positions="learned", length=task.length, biases=True,
                  vocabulary=task.vocabulary, outputs=task.outputs)
    size = (case.symbols, case.hops_max)
    return Training(shape, task, _settings(size, 32), (2e-3,), _seeds(case.task == "hop_k"), examples=_EXAMPLES.get(size, Training.examples),
                    shuffled=bool(case.get("shuffled", False)))


def _published(case: Case, depth: int) -> Training:
    width, steps, warmup = _PUBLISHED[case.symbols]
    # 30 token ids and two positions more than symbols are drawn for, as published.
    task = HopK(symbols=case.symbols, alphabet=case.alphabet, k_max=case.hops_max, vocabulary=30)
    settings = Settings(steps=steps, batch=32, warmup=warmup, schedule="linear", clip=0, evaluate_every=steps // 10, std=0.02,
                        output_std=0.02 / math.sqrt(2 * depth))
    shape = gpt2(width=width, depth=depth, heads=4, vocabulary=task.vocabulary, length=case.symbols + 2)
    return Training(shape, task, settings, (1e-4,), seeds=(0, 1, 2), examples=_EXAMPLES.get((case.symbols, case.hops_max), Training.examples))


def _graphs(case: Case, vertices: int, diameter: int, depth: int) -> Training:
    task, width = _paths(vertices, diameter), 48 if vertices <= 24 else 2 * vertices
    # The sums of linearised attention grow with the number of tokens: without 1/n two of five seeds learned nothing on 24 vertices.
    scale = 1 / (vertices * math.sqrt(width)) if case.net == "linearised" else None
    shape = Shape(width=width, depth=depth, attention=case.net, scale=scale, norm="pre", mlp=4 * width, features=task.features, outputs=task.outputs)
    size = (vertices, diameter)
    return Training(shape, task, _settings(size, 64), _RATES.get(size, (4e-3,)), _seeds(vertices == 24),
                    examples=_EXAMPLES.get(size, Training.examples), shuffled=bool(case.get("shuffled", False)))


def _paths(vertices: int, diameter: int) -> Connectivity:
    # Long paths would hardly ever stay whole: two cuts on average beyond 24 vertices.
    cut, limit = 0.1 if vertices <= 24 else 2 / vertices, 0 if diameter == vertices - 1 else diameter
    return Connectivity(vertices=vertices, family="paths", cut=cut, max_distance=limit, index=True)


def _hops(case: Case) -> HopK:
    return HopK(symbols=case.symbols, alphabet=case.alphabet, k_max=case.hops_max, k_min=1, vocabulary=0)


def _seeds(long: bool) -> tuple[int, ...]:
    """Five seeds, or three for trainings that take many minutes."""
    return tuple(range(3 if long else 5))


def _settings(size: tuple[int, int], batch: int) -> Settings:
    steps = _STEPS[size]
    return Settings(steps=steps, batch=batch, warmup=steps // 10, schedule="linear", evaluate_every=max(1, steps // 10), success=0.999)


def _answers(case: Case, depth: int, device: str) -> Answers:
    if case.get("net") in _RULES:
        # Explicit weights have a depth; what is local has a radius.
        return _by_rule(case.net, case.vertices, case.diameter, case.get("radius", depth))
    return answers(training(case, depth), device)


@lru_cache(maxsize=64)
def _by_rule(rule: str, vertices: int, diameter: int, size: int) -> Answers:
    """What a rule of a depth or radius answers on `RULE_GRAPHS` graphs of the same family, in the place of one seed."""
    task, score, graphs = _paths(vertices, diameter), _RULES[rule](vertices, size), RULE_GRAPHS

    def logits(batch: Batch) -> Tensor:
        return score(task.adjacency(batch.inputs)[0])[None]

    groups, counts = spot_counts(lambda batch: ((logits(batch) > 0) == batch.targets) & batch.scored, task, 1, seed=0, graphs=graphs)
    places, choices = forced_choices(logits, task, 1, seed=0, graphs=graphs)
    (right, trials), (chosen, drawn) = (tuple((tuple(row[0]),) for row in each.tolist()) for each in (counts, choices))
    return Answers(0.0, ("success",), (0,), groups, right, trials, places, chosen, drawn)


def _explicit(vertices: int, depth: int) -> Callable[[Tensor], Tensor]:
    """`constructions.cubing`: 1 for the pairs it calls connected, 0 for the others."""
    net = cubing(vertices, depth)
    return lambda adjacency: net(adjacency).float()


def _bounded(vertices: int, radius: int) -> Callable[[Tensor], Tensor]:
    """The local baseline on paths: positive up to distance r. Beyond it, no path leads on from a vertex that has both ends of its path in
    sight; for other pairs the score is the more negative, the fewer vertices lie within r of either.
    """
    def score(adjacency: Tensor) -> Tensor:
        far = distances(adjacency)
        near = (far >= 0) & (far <= radius)
        # An end is known by its neighbours, of which all but one would lie a step further.
        ends = (far == 1).sum(dim=-1) <= 1
        seen = (near & (far < radius) & ends[:, None, :]).sum(dim=-1)
        closed = (seen == 2) | ((far == 1).sum(dim=-1) == 0)
        around = torch.where(closed, -2.0 * vertices, near.sum(dim=-1).float())
        return torch.where(near, 1.0, around[:, :, None] + around[:, None, :] - 2.0 * vertices - 1.0)

    return score


# Low and high end of an interval.
_Ends = tuple[float, float]

# What stands in the place of a trained net: adjacency (graphs, n, n) -> a score of each pair, positive for "connected".
_RULES: dict[str, Callable[[int, int], Callable[[Tensor], Tensor]]] = {"explicit": _explicit, "bounded": _bounded}


def accuracy(case: Case, seed: int, device: str = "cpu") -> Proportion:
    """How often nets of the case's depth tell a pair at its distance from one that is not connected, or answer a position with its k:
    pooled over the nets of all seeds; with dropout left on where a case of hops says dropout=True. The local baseline has a radius
    instead of a depth.

    Raises:
        ValueError: for dropout that the nets do not have, and distances or hops that do not occur.
    """
    found = _answers(case, case.get("depth", 0), device)
    return found.chosen_at(case.distance) if case.task == "connectivity" else found.pooled(case.hops, dropout=bool(case.get("dropout", False)))


def trained_reach(case: Case, seed: int, device: str = "cpu") -> Ball:
    """The largest D such that nets of the case's depth, all seeds pooled, tell pairs at every distance up to D from pairs that are not
    connected with a probability of at least `BAR`: between the largest D of which that is sure and the largest of which it may be.

    Each distance is judged by a Clopper-Pearson interval of level 1 - `LEVEL` for independent choices; 0 where distance 1 is missed.
    Distances beyond n - 4 are not asked about, so that the high end is at most min(D, n - 4) of the task.

    Cost: of the training; then O(n).
    """
    found = _answers(case, case.depth, device)
    ends = [found.chosen_at(distance).interval(LEVEL) for distance in _asked(case)]
    sure, possible = (next((place for place, end in enumerate(ends) if end[side] < BAR), len(ends)) for side in (0, 1))
    return Ball(Fraction(sure), Fraction(possible))


def _asked(case: Case) -> range:
    """The distances that nets are asked about: pairs farther apart leave hardly any vertex that is not connected."""
    return range(1, min(case.diameter, case.vertices - 4) + 1)


def local_radius(case: Case, seed: int, device: str = "cpu") -> Ball:
    """The r in 1, ..., n // 2 with the least sum, over the distances asked about, of (accuracy of the nets - accuracy of the local baseline
    of radius r)^2: an interval of whole numbers.

    An r is left out where another s is nearer at every point of the box of the Clopper-Pearson intervals of level 1 - `LEVEL` around all
    accuracies, so that the r of the true accuracies lies in the interval unless one of its n (min(D, n - 4) + 2) / 2 intervals or fewer
    misses.

    Cost: of the training, and n / 2 rules on `RULE_GRAPHS` graphs each.
    """
    asked, radii = _asked(case), range(1, case.vertices // 2 + 1)
    nets = _answers(case, case.depth, device)
    rules = {r: _by_rule("bounded", case.vertices, case.diameter, r) for r in radii}
    ours = [nets.chosen_at(distance).interval(LEVEL) for distance in asked]
    theirs = {r: [rules[r].chosen_at(distance).interval(LEVEL) for distance in asked] for r in radii}
    open_ = [r for r in radii if all(_least_excess(ours, theirs[r], theirs[s]) <= 0 for s in radii if s != r)]
    return Ball(Fraction(min(open_)), Fraction(max(open_)))


def _least_excess(ours: Sequence[_Ends], first: Sequence[_Ends], second: Sequence[_Ends]) -> float:
    """The minimum of the sum of (a - b)^2 - (a - c)^2 over a, b, c in their intervals, place by place; rounded downwards.

    It is linear in a, so that a at an end will do; then b is as near to a as it can be and c as far.
    """
    def least(a: float, b: _Ends, c: _Ends) -> float:
        return float(max(b[0] - a, a - b[1], 0.0) ** 2 - max(abs(a - c[0]), abs(a - c[1])) ** 2)

    # Some sixty terms of size at most 1, each with an error of a few 1e-16.
    return math.fsum(min(least(a, b, c) for a in ends) for ends, b, c in zip(ours, first, second, strict=True)) - 1e-12


def shortcut(case: Case, seed: int, device: str = "cpu") -> Proportion:
    """Answers of a case's task that a small decision tree gives right from one kind of clue, see `tasks.shortcuts`.

    Raises:
        ValueError: for a clue that the task does not have.
    """
    found = {each.name: each for each in _audited(_paths(case.vertices, case.diameter) if case.task == "connectivity" else _hops(case), seed)}
    if case.clue not in found:
        raise ValueError(f"clue={case.clue!r}: accepted are {', '.join(found)}")
    each = found[case.clue]
    return Proportion(round(each.accuracy * each.examples), each.examples)


@lru_cache(maxsize=16)
def _audited(task: Task, seed: int) -> tuple[Shortcut, ...]:
    return tuple(audit(task, seed))


def least(case: Case, seed: int, device: str = "cpu") -> Ball:
    """The least depth whose worst, median or best seed answers every distance and what is not connected, or k hops."""
    return _least(case, case.tried, case.seeds, None if case.task == "connectivity" else (case.hops,), device)


def _least(case: Case, tried: int, seeds: str, groups: Sequence[int] | None, device: str) -> Ball:
    found = [_answers(case, depth, device) for depth in range(1, tried + 1)]
    passes = [[each.passes(s, groups) for s in range(len(each.right))] for each in found]
    if seeds == "best":
        # The first of all seeds: of each its own least depth, then the minimum of both ends.
        alone = [least_depth([[p] for p in of_seed], "worst") for of_seed in zip(*passes, strict=True)]
        return Ball(min(each.low for each in alone), min(each.high for each in alone))
    return least_depth(passes, seeds)


def successes(case: Case, seed: int, device: str = "cpu") -> Ball:
    """The share of the seeds whose training succeeded, at the rate that was chosen."""
    status = _answers(case, case.depth, device).status
    share = Fraction(status.count("success"), len(status))
    return Ball(share, share)


def depth_slope(case: Case, seed: int, device: str = "cpu") -> Ball:
    """The slope of the median seed's least depths against log_3 D, through the graphs of a case, or against log2 k, from k / 2 to k."""
    if case.task == "connectivity":
        graphs = [tuple(map(int, graph.split("/"))) for graph in case.graphs.split()]
        depths = [_least(Case(task=case.task, net=case.net, vertices=n, diameter=d), tried, "median", None, device) for n, d, tried in graphs]
        depths = [_opened(depth, tried, n) for depth, (n, _, tried) in zip(depths, graphs, strict=True)]
        return slope(depths, [math.log(d, 3) for _, d, _ in graphs])
    hops = [case.hops // 2, case.hops]
    tried = case.hops_max.bit_length() + 1
    depths = [_opened(_least(case, tried, "median", (k,), device), tried, case.symbols) for k in hops]
    return slope(depths, [math.log2(k) for k in hops])


def _opened(depth: Ball, tried: int, most: int) -> Ball:
    """A least depth for a slope: beyond the depths tried it may be any up to `most`."""
    return depth if depth.high <= tried else Ball(depth.low, Fraction(most))


# By claim, as `theory.trained_depth` declares them.
MEASURED: dict[str, Callable[..., Measured]] = {
    f"trained_depth/{name}": measure for measure, names in (
        (accuracy, ("connectivity_one_layer", "connectivity_within", "connectivity_far", "rules_within", "rules_beyond",
                    "look_around", "hops_within", "hops_wall", "published_dropout_on", "published_dropout_off")),
        (trained_reach, ("connectivity_one_layer_wall", "connectivity_wall")),
        (local_radius, ("local_baseline",)),
        (least, ("connectivity_enough", "connectivity_needed", "hops_enough", "hops_needed")),
        (successes, ("connectivity_converged", "hops_converged")),
        (shortcut, ("connectivity_shortcuts", "hops_shortcuts")),
        (depth_slope, ("connectivity_slope", "hops_slope"))) for name in names}
