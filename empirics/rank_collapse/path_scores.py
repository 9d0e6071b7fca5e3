"""Nets trained on the toy tasks, and what paths of each length answer there."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm

from ..nets.net import Deviations, Factors, Net, NetShape
from ..tasks import Task
from ..training.checkpoints import fingerprint
from ..training.depth_search import alone
from ..training.evaluation import correct, draw, generator, source
from ..training.settings import Settings
from ..training.trainer import train
from .bert import collapse_ratio
from .paths import draw_paths, frozen, isolated, product_gaps, read_isolated
from .toy_tasks import ConvexHull, Sorting, circle

TrainingChoice = Literal["ours", "published", "none"]

# Paths that are drawn at once in the published measurement.
COUNTS = (5, 20)
# Fresh examples for each net: for exact sums, and for paths run one by one.
EXAMPLES, FEW = 256, 64
RATE = 1e-3
# Where the authors' code leaves value and output at uniform weights in +-1/sqrt(width).
BERT_STD = 0.02


@dataclass(frozen=True)
class Toy:
    """A toy task and the nets for it: attention with norm "post", and as published a normalisation
    behind the embeddings (not where there are no skips).

    Attributes:
        task: "sorting", "hull" or "circle".
        size: tokens; of the circle its points.
        letters: of sorting.
        width, depth, heads: of each net.
        mlp, residual: MLP and skips; only nets without MLP are sums over paths.
        std: of the initial weights, near 1/sqrt(width).
        steps, batch: updates, and examples in each.
        replicas: nets, one for each seed 0, 1, ....
        training: "ours": AdamW at 1e-3, warmed up over a tenth of the steps and then falling
            linearly; "published": the learning rate 1e-5, constant, and the authors' initial
            weights; "none": as initialised.

    >>> Toy("hull", size=10, width=84, depth=6, heads=3, steps=500, replicas=16).shape.depth
    7
    """

    task: Literal["sorting", "hull", "circle"]
    size: int
    width: int
    depth: int
    heads: int
    steps: int
    replicas: int
    letters: int = 10
    mlp: int = 0
    residual: bool = True
    std: float = 0.1
    batch: int = 32
    training: TrainingChoice = "ours"

    @property
    def made(self) -> Task:
        """The task, where it has classes."""
        return Sorting(self.size, self.letters) if self.task == "sorting" else ConvexHull(self.size)

    @property
    def shape(self) -> NetShape:
        """Of each net."""
        # A first layer without heads stands for the normalisation behind the embeddings.
        blocks, normed = 1 + bool(self.mlp), int(self.residual)
        factors = (Factors(branch=0.0),) * blocks + (Factors(),) * (blocks * self.depth)
        points = NetShape(
            width=self.width,
            depth=self.depth + normed,
            heads=self.heads,
            norm="post",
            biases=True,
            features=2,
            outputs=2,
            mlp=self.mlp,
            residual=self.residual,
            factors=factors if normed else (),
        )
        if self.task != "sorting":
            return points
        return replace(
            points,
            features=0,
            positions="learned",
            length=self.size,
            vocabulary=self.letters,
            outputs=self.letters,
        )

    @property
    def settings(self) -> Settings:
        """Of the trainer."""
        ours = self.training != "published"
        uniform = 1 / math.sqrt(3 * self.width)
        theirs = Deviations.equal(BERT_STD)._replace(value=uniform, output=uniform)
        return Settings(
            steps=self.steps,
            batch=self.batch,
            seeds=tuple(range(self.replicas)),
            learning_rates=(RATE if ours else 1e-5,) * self.replicas,
            weight_decay=0.01 if ours else 0.0,
            warmup=self.steps // 10 if ours else 0,
            schedule="linear" if ours else "constant",
            clip=1.0 if ours else 0.0,
            std=self.std if ours else theirs,
        )


@dataclass(frozen=True)
class PathScores:
    """What paths of each length 0..L give, for each of R nets.

    A score is the share of right answers; on the circle the mean cosine of the angle between the
    point that is said and the true one.

    Attributes:
        whole, guess: of the unmodified net, and of the best answer that does not look at the
            example: the commonest one, at each position where positions are known; 0 on the circle.
            Shape (R,).
        alone, within: of the exact sum over all paths of length l, or of at most l, (L + 1, R).
        isolated: for each count of paths, of that many drawn paths of length l as published.
        residual: log10 of the relative residual of the exact sum over length l, mean over examples.
        share: Frobenius norm of that sum, divided by the sum of these norms over all lengths.
    """

    whole: np.ndarray
    guess: np.ndarray
    alone: np.ndarray
    within: np.ndarray
    isolated: dict[int, np.ndarray]
    residual: np.ndarray
    share: np.ndarray


def toy_net(toy: Toy, device: str = "cpu", folder: str = "") -> Net:
    """The trained nets; with a folder, trained once and then read.

    Args:
        toy: which.
        device: where.
        folder: trainings are stored in `folder`/toy-tasks; "": nowhere.

    Cost: of `steps` updates of R nets.
    """
    return _trained(toy, device, folder).eval().requires_grad_(False)


def _trained(toy: Toy, device: str, folder: str) -> Net:
    if toy.training == "none":
        return Net(toy.shape, replicas=toy.replicas, std=toy.std, device=device, rng=_rngs(toy))
    if toy.task == "circle":
        return _on_circle(toy, device)
    shape, settings = toy.shape, toy.settings
    if not folder:
        return train(shape, toy.made, settings, device=device).net
    code = [code_version(definition) for definition in (train, type(toy.made))]
    name = fingerprint(
        [repr(toy), repr(settings), device, torch.get_num_threads(), code, torch.__version__]
    )
    place = Path(folder) / "toy-tasks" / name
    with alone(place):
        return train(
            shape, toy.made, settings, device=device, folder=place, checkpoint_every=100
        ).net


def _rngs(toy: Toy) -> list[np.random.Generator]:
    return [np.random.default_rng(source("weights", seed)) for seed in range(toy.replicas)]


def _on_circle(toy: Toy, device: str) -> Net:
    """Nets that say where each point of a pair is one step later: least squares, in random batches
    of pairs."""
    pairs, following = (part.float().to(device) for part in circle(toy.size))
    net = Net(toy.shape, replicas=toy.replicas, std=toy.std, device=device, rng=_rngs(toy))
    # Elementwise, so that replicas do not see each other.
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / toy.steps)
    order = generator(device, "circle", toy.steps)
    for _ in range(toy.steps):
        rows = torch.randint(len(pairs), (toy.batch,), generator=order, device=device)
        loss = (net(pairs[rows][None]) - following[rows]).square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
    return net


def _examples(toy: Toy, device: str) -> tuple[Tensor, Tensor]:
    """Inputs and targets that no training has drawn; of the circle all pairs."""
    if toy.task == "circle":
        pairs, following = (part.float().to(device)[None] for part in circle(toy.size))
        return pairs[:, ::2], following[:, ::2]
    batch = draw(toy.made, range(toy.replicas), EXAMPLES, device, "paths")
    return batch.inputs, batch.targets


def _scores(toy: Toy, logits: Tensor, targets: Tensor) -> np.ndarray:
    """Score of each replica, (..., R) for logits (..., R, B, N, outputs)."""
    if toy.task == "circle":
        right = torch.cosine_similarity(logits, targets.expand_as(logits), dim=-1)
    else:
        right = correct(logits, targets.expand(logits.shape[:-1])).double()
    return right.double().mean(dim=(-1, -2)).cpu().numpy()


def _guess(toy: Toy, targets: Tensor) -> np.ndarray:
    if toy.task == "circle":
        return np.zeros(toy.replicas)
    rows = targets if toy.task == "sorting" else targets.flatten(1)[..., None]
    counts = torch.nn.functional.one_hot(rows).sum(dim=1)
    return (counts.amax(dim=-1) / rows.shape[1]).mean(dim=-1).cpu().numpy()


@lru_cache(maxsize=8)
def path_scores(toy: Toy, device: str = "cpu", folder: str = "") -> PathScores:
    """Train, and measure what paths of each length give on fresh examples.

    Args:
        toy, device, folder: see `toy_net`.

    Cost: of the training, of L + 1 forward passes for the exact sums, and of 20 (L + 1) on a
    quarter of the examples for the published measurement.
    """
    net = toy_net(toy, device, folder)
    inputs, targets = _examples(toy, device)
    kept = frozen(net, inputs)
    parts = kept.by_length()
    few, asked = inputs[:, :FEW], targets[:, :FEW]
    drawn: dict[int, list[np.ndarray]] = {count: [] for count in COUNTS}
    for length in range(toy.depth + 1):
        paths = draw_paths(
            generator(device, "paths", length),
            length=length,
            depth=toy.depth,
            heads=toy.heads,
            count=max(COUNTS),
            replicas=toy.replicas,
        )
        ends = isolated(net, few, paths)
        for count, scores in drawn.items():
            scores.append(_scores(toy, read_isolated(net, ends[:count]), asked))
    norms = parts.double().square().sum(dim=(2, 3, 4)).sqrt().cpu().numpy()
    residual = np.log10(collapse_ratio(parts[:, :, :FEW].double().cpu().numpy()))
    return PathScores(
        whole=_scores(toy, net(inputs), targets),
        guess=_guess(toy, targets),
        alone=_scores(toy, kept.logits(parts), targets),
        within=_scores(toy, kept.logits(parts.cumsum(dim=0)), targets),
        isolated={count: np.array(scores) for count, scores in drawn.items()},
        residual=residual.mean(axis=-1),
        share=norms / norms.sum(axis=0),
    )


@lru_cache(maxsize=8)
def gap_logarithms(toy: Toy, recomputed: bool, device: str = "cpu", folder: str = "") -> np.ndarray:
    """Mean natural logarithm of `product_gaps` over ten random paths of each length 1..L and eight
    examples, (L, R), in float64.

    Args:
        toy, device, folder: see `toy_net`.
        recomputed: see `product_gaps`.
    """
    net = toy_net(toy, device, folder).double()
    inputs = _examples(toy, device)[0][:, :8]
    inputs = inputs.double() if inputs.is_floating_point() else inputs
    gap_logs = []
    for length in range(1, toy.depth + 1):
        paths = draw_paths(
            generator(device, "products", length),
            length=length,
            depth=toy.depth,
            heads=toy.heads,
            count=10,
            replicas=toy.replicas,
        )
        gaps = product_gaps(net, inputs, paths, recomputed=recomputed)
        gap_logs.append(gaps.log().mean(dim=(0, 2)))
    return torch.stack(gap_logs).cpu().numpy()


@lru_cache(maxsize=8)
def circle_distances(toy: Toy, rounds: int, device: str = "cpu") -> np.ndarray:
    """Relative residual of the pair of points by rounds of the recurrence X -> net(X), from 1 at
    the start, (rounds + 1, R).

    The composite norm of the pair minus its mean, divided by that at the start.
    """
    net = toy_net(toy, device)
    states = circle(toy.size)[0][:1].float().to(device)[None].expand(toy.replicas, 1, 2, 2)
    sizes = []
    for _ in range(rounds + 1):
        points = states.double().cpu().numpy()
        sizes.append(composite_norm(points - points.mean(axis=-2, keepdims=True))[:, 0])
        states = net(states)
    return np.array(sizes) / sizes[0]
