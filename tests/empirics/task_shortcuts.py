"""The audit of shortcuts: can a small decision tree answer a task from clues that need no search?

A net that solves a task says nothing about depth where a count of edges, the numbering of the
vertices or a look a few hops around does as well. For each kind of clue a tree is fitted on one
sample and scored on another, at one scored answer per example, so that the examples are independent
and the interval means what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad

from depthlaw.empirics.tasks import Batch, Task
from depthlaw.empirics.tasks.graph_families import distances
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK, find
from depthlaw.theory.claims.values import Proportion

# A shortcut is flagged where it closes this part of the gap between always giving the most frequent
# answer and being right always. Nets are called successful near 0.99: a task on which a shortcut
# gets within a twentieth of the gap cannot tell such a net from the shortcut.
BAR = 0.95

# Hops around: what one, and by powers of three (`theory.connectivity.reach`) one and two layers of
# linearised attention reach, at most.
HOPS = (1, 3, 9)

# Two-sided intervals of level 1 - ALPHA.
ALPHA = 0.05

# The tree is small, and sees several answers of each training example.
LEAVES, LEAST, EACH = 256, 5, 8

# Degrees from here on are counted together.
DEGREES = 3


class Clue(NamedTuple):
    """What a shortcut sees, float32 (examples, answers, features), and whether seeing it takes all
    the search that the task asks for."""

    seen: Tensor
    search: bool = False


@dataclass(frozen=True)
class Shortcut:
    """How well a task is answered from one kind of clue: the share of right answers, one per fresh
    example, with its Clopper-Pearson interval of level 0.95; the share of the most frequent answer
    on the same examples; and whether the clue takes all the search that the task asks for, so that
    it is no shortcut and never flagged."""

    name: str
    accuracy: float
    low: float
    high: float
    majority: float
    examples: int
    search: bool

    @property
    def gained(self) -> float:
        """The part of the gap between the most frequent answer and 1 that the shortcut closes; 1
        where that answer is always right."""
        return 1.0 if self.majority == 1 else (self.accuracy - self.majority) / (1 - self.majority)

    @property
    def flagged(self) -> bool:
        """Whether a net that solves the task may have done no more than this."""
        return not self.search and self.gained >= BAR


def audit(task: Task, seed: int, graphs: int = 2000) -> list[Shortcut]:
    """Fit a small decision tree to every kind of clue of a task and score it on fresh examples, as
    many as it is fitted on.

    A flag on "h hops" says that the accuracy over all distances does not show any reach beyond h;
    the accuracy at each distance still does.
    """
    from sklearn.tree import DecisionTreeClassifier

    if graphs < 2:
        raise ValueError(f"graphs={graphs}: accepted are at least 2")
    generator = torch.Generator().manual_seed(seed)
    fitted, scored = (_sampled(task, generator, graphs, each) for each in (EACH, 1))
    _, counts = scored.answers.unique(return_counts=True)
    majority = counts.max().item() / len(scored.answers)
    found = []
    for name, (seen, search) in scored.clues.items():
        tree = DecisionTreeClassifier(
            max_leaf_nodes=LEAVES, min_samples_leaf=LEAST, random_state=seed
        )
        tree.fit(fitted.clues[name].seen.numpy(), fitted.answers.numpy())
        right = tree.predict(seen.numpy()) == scored.answers.numpy()
        low, high = Proportion(int(right.sum()), len(right)).interval(ALPHA)
        search |= fitted.clues[name].search
        share = float(right.mean())
        found.append(Shortcut(name, share, low, high, majority, len(right), search))
    return found


def clues(task: Task, batch: Batch, place: Tensor) -> dict[str, Clue]:
    """Every kind of clue of a task, at the given answers of a batch of one replica.

    Graphs: "degrees" (of the two vertices, and how many vertices have degree 0, 1, 2, more),
    "index" (of the vertices, and their difference), "edges" (how many), the three together, "h
    hops" for h = 1, 3, 9 (whether v is within h hops of u, how many vertices are, the smallest of
    them), "component sizes" (of the two vertices, the largest, and how many components).
    Tokens: "position", "token" (the first and the current one), "counts" (of each token so far),
    "last w" tokens for w = 1, 3, 9; for hop_k "h hops" (the answer to min(k, h) hops).

    Hops and tokens that cover all that the task asks for are search, and so are component sizes,
    since finding the size of one's component is finding the component.

    The batch holds one replica; `place` are indices into the flattened targets of one example.
    """
    if isinstance(task, Connectivity):
        return _graph_clues(task, batch, place)
    found = _token_clues(batch.inputs[0], place, task.vocabulary)
    if isinstance(task, HopK):
        found |= _pointer_clues(task, batch, place)
    return found


class _Sampled(NamedTuple):
    answers: Tensor
    clues: dict[str, Clue]


def _sampled(task: Task, generator: torch.Generator, graphs: int, each: int) -> _Sampled:
    """Draw examples, and from each of them up to `each` of its scored answers."""
    batch = task.batch(generator, 1, graphs)
    scored = batch.scored[0].flatten(1)
    drawn = torch.rand(scored.shape, generator=generator).masked_fill_(~scored, -1)
    key, place = drawn.topk(min(each, scored.shape[1]), dim=-1)
    chosen = key >= 0
    if not bool(chosen.any()):
        raise ValueError(f"{task.name}: nothing is scored in {graphs} examples; take longer ones")
    answers = batch.targets[0].flatten(1).gather(-1, place)[chosen].long()
    every = clues(task, batch, place).items()
    return _Sampled(answers, {name: Clue(seen[chosen], search) for name, (seen, search) in every})


def _at(table: Tensor, place: Tensor) -> Tensor:
    """Rows of a table (examples, n) at places (examples, answers), with a last axis of one
    feature."""
    return table.gather(-1, place).float()[..., None]


def _everywhere(table: Tensor, place: Tensor) -> Tensor:
    """Features of whole examples (examples, features), repeated for each answer."""
    return table.float()[:, None].expand(-1, place.shape[1], -1)


def _graph_clues(task: Connectivity, batch: Batch, place: Tensor) -> dict[str, Clue]:
    adjacency = task.adjacency(batch.inputs[0])
    u, v = place // task.vertices, place % task.vertices  # that an answer is about
    degree = adjacency.sum(-1)
    kinds = torch.stack([degree == d for d in range(DEGREES)] + [degree >= DEGREES], dim=-1).sum(1)
    degrees = torch.cat([_at(degree, u), _at(degree, v), _everywhere(kinds, place)], dim=-1)
    index = torch.stack([u, v, (u - v).abs()], dim=-1).float()
    edges = _everywhere(degree.sum(-1, keepdim=True) // 2, place)
    found = {
        "degrees": Clue(degrees),
        "index": Clue(index),
        "edges": Clue(edges),
        "degrees, index, edges": Clue(torch.cat([degrees, index, edges], dim=-1)),
    }
    far = distances(adjacency)
    n, needed = far.shape[-1], int(batch.group[batch.scored].max())
    for hops in HOPS:
        near = (far >= 0) & (far <= hops)
        smallest = near.byte().argmax(-1)
        seen = [
            near.flatten(1).gather(-1, u * n + v).float()[..., None],
            *(_at(near.sum(-1), w) for w in (u, v)),
            _at(smallest, u),
        ]
        found[f"{hops} hops"] = Clue(torch.cat(seen, dim=-1), search=hops >= needed)
    size, own = (far >= 0).sum(-1), (far >= 0).byte().argmax(-1)
    number = (own == torch.arange(n)).sum(-1)
    whole = torch.stack([size.amax(-1), number], dim=-1)
    found["component sizes"] = Clue(
        torch.cat([_at(size, u), _at(size, v), _everywhere(whole, place)], dim=-1), search=True
    )
    return found


def _token_clues(ids: Tensor, place: Tensor, vocabulary: int) -> dict[str, Clue]:
    length = ids.shape[1]
    token = torch.cat([_everywhere(ids[:, :1], place), _at(ids, place)], dim=-1)
    everywhere = place[..., None].expand(-1, -1, vocabulary)
    counts = one_hot(ids, vocabulary).cumsum(1).gather(1, everywhere).float()
    position = place.float()[..., None]
    found = {"position": Clue(position), "token": Clue(token), "counts": Clue(counts)}
    for width in HOPS:
        # Before the beginning stands -1.
        before = pad(ids, (width - 1, 0), value=-1).unfold(-1, width, 1)
        seen = before.gather(1, place[..., None].expand(-1, -1, width)).float()
        found[f"last {width}"] = Clue(
            torch.cat([token[..., :1], seen], dim=-1), search=width >= length
        )
    return found


def _pointer_clues(task: HopK, batch: Batch, place: Tensor) -> dict[str, Clue]:
    ids = batch.inputs[0]
    k, symbols, needed = ids[:, 0], ids[:, 1:], int(batch.group[batch.scored].max())
    found = {}
    for hops in HOPS:
        pointer = pad(find(symbols, k.clamp(max=hops), hops), (1, 0))
        answer = pad(symbols, (1, 0), value=task.missing).gather(-1, pointer)
        found[f"{hops} hops"] = Clue(
            torch.cat([_everywhere(ids[:, :1], place), _at(answer, place)], dim=-1),
            search=hops >= needed,
        )
    return found
