"""The audit of shortcuts: can a small decision tree answer a task from clues that need no search?

A net that solves a task says nothing about depth where a count of edges, the numbering of the
vertices or a look a few hops around does as well. For each kind of clue a tree is fitted on one
sample and scored on another, at one scored answer per example, so that the examples are
independent.
"""

from __future__ import annotations

import torch
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor
from torch.nn.functional import one_hot, pad

from depthlaw.empirics.tasks import Batch, Task
from depthlaw.empirics.tasks.graph_families import distances
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK, find
from depthlaw.theory.claims.values import Proportion

# Hops around: what one, and by powers of three (`theory.connectivity.reach`) one and two layers of
# linearised attention reach, at most.
HOPS = (1, 3, 9)

# The tree is small, and sees several answers of each training example.
LEAVES, LEAST, EACH = 256, 5, 8

# Degrees from here on are counted together.
DEGREES = 3


def audit(task: Task, seed: int, graphs: int = 2000) -> dict[str, Proportion]:
    """By kind of clue of a task, how many fresh examples a small decision tree gets right that is
    fitted to as many others.

    A tree that does the task from "h hops" says that the accuracy over all distances does not show
    any reach beyond h; the accuracy at each distance still does.
    """
    generator = torch.Generator().manual_seed(seed)
    (known, fitted), (answers, fresh) = (
        _sampled(task, generator, graphs, each) for each in (EACH, 1)
    )
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, min_samples_leaf=LEAST, random_state=seed)
    found = {}
    for name, seen in fresh.items():
        said = tree.fit(fitted[name].numpy(), known.numpy()).predict(seen.numpy())
        found[name] = Proportion(int((said == answers.numpy()).sum()), len(said))
    return found


def _sampled(
    task: Task, generator: torch.Generator, graphs: int, each: int
) -> tuple[Tensor, dict[str, Tensor]]:
    """Draw examples, and from each of them up to `each` of its scored answers: answers, and the
    clues to them."""
    batch = task.batch(generator, 1, graphs)
    scored = batch.scored[0].flatten(1)
    drawn = torch.rand(scored.shape, generator=generator).masked_fill_(~scored, -1)
    key, place = drawn.topk(min(each, scored.shape[1]), dim=-1)
    chosen = key >= 0
    answers = batch.targets[0].flatten(1).gather(-1, place)[chosen].long()
    clues = _graph_clues if isinstance(task, Connectivity) else _sequence_clues
    return answers, {name: seen[chosen] for name, seen in clues(task, batch, place).items()}


def _at(table: Tensor, place: Tensor) -> Tensor:
    """Rows of a table (examples, n) at places (examples, answers), with a last axis of one
    feature."""
    return table.gather(-1, place).float()[..., None]


def _everywhere(table: Tensor, place: Tensor) -> Tensor:
    """Features of whole examples (examples, features), repeated for each answer."""
    return table.float()[:, None].expand(-1, place.shape[1], -1)


def _graph_clues(task: Connectivity, batch: Batch, place: Tensor) -> dict[str, Tensor]:
    """By name, at places in the flattened targets of one example: "degrees" (of the two vertices,
    and how many vertices have degree 0, 1, 2, more), "index" (of the vertices, and their
    difference), "edges" (how many), the three together, and "h hops" (whether v is within h hops of
    u, how many vertices are, the smallest of them)."""
    adjacency = task.adjacency(batch.inputs[0])
    u, v = place // task.vertices, place % task.vertices  # that an answer is about
    degree = adjacency.sum(-1)
    kinds = torch.stack([degree == d for d in range(DEGREES)] + [degree >= DEGREES], dim=-1).sum(1)
    degrees = torch.cat([_at(degree, u), _at(degree, v), _everywhere(kinds, place)], dim=-1)
    index = torch.stack([u, v, (u - v).abs()], dim=-1).float()
    edges = _everywhere(degree.sum(-1, keepdim=True) // 2, place)
    found = {
        "degrees": degrees,
        "index": index,
        "edges": edges,
        "degrees, index, edges": torch.cat([degrees, index, edges], dim=-1),
    }
    far = distances(adjacency)
    for hops in HOPS:
        near = (far >= 0) & (far <= hops)
        seen = [
            _at(near.flatten(1), place),
            *(_at(near.sum(-1), w) for w in (u, v)),
            _at(near.byte().argmax(-1), u),
        ]
        found[f"{hops} hops"] = torch.cat(seen, dim=-1)
    return found


def _sequence_clues(task: HopK, batch: Batch, place: Tensor) -> dict[str, Tensor]:
    """By name: "position", "token" (the first and the current one), "counts" (of each token so
    far), "last w" tokens, and "h hops" (the answer to min(k, h) hops)."""
    ids = batch.inputs[0]
    first, k, symbols = _everywhere(ids[:, :1], place), ids[:, 0], ids[:, 1:]
    everywhere = place[..., None].expand(-1, -1, task.vocabulary)
    found = {
        "position": place.float()[..., None],
        "token": torch.cat([first, _at(ids, place)], dim=-1),
        "counts": one_hot(ids, task.vocabulary).cumsum(1).gather(1, everywhere).float(),
    }
    for h in HOPS:
        # Before the beginning stands -1.
        before = pad(ids, (h - 1, 0), value=-1).unfold(-1, h, 1)
        seen = before.gather(1, place[..., None].expand(-1, -1, h)).float()
        found[f"last {h}"] = torch.cat([first, seen], dim=-1)
        pointer = pad(find(symbols, k.clamp(max=h), h), (1, 0))
        answer = pad(symbols, (1, 0), value=task.missing).gather(-1, pointer)
        found[f"{h} hops"] = torch.cat([first, _at(answer, place)], dim=-1)
    return found
