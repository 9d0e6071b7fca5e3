"""Drawing tasks by the batch next to a loop over networkx graphs, in the same run, and next to a
training step.

Run with `pytest benchmarks/test_tasks.py --benchmark-only`. The loop draws the same distribution
one graph at a time: networkx builds and relabels the graph and finds all distances, NumPy makes the
rows. hop_k needs no graph, so it has two peers: "networkx" draws the pointers as a
networkx.DiGraph, one edge from each position to that after its last earlier copy, and follows k
edges from every position; "plain Python" is the loop over theory's pointers, lists without
networkx, and much the faster of the two. The training step is forward, backward and AdamW of a
pre-norm net on the very batch. Ratios are printed and stored, nothing depends on them.
BENCHMARK_DEVICE=cuda draws the batches on a GPU; the loop stays where networkx is.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
import torch
from torch import nn

from depthlaw.empirics.tasks import Task
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.theory.hops.pointers import hop_k

DEVICE = os.environ.get("BENCHMARK_DEVICE", "cpu")
BATCH = 1024
# Examples of the loop in each round. Of the rounds the fastest counts, on both sides: what else the
# machine does only adds time.
LOOP = 50
ROUNDS = 15


def rows_and_distances(
    g: nx.Graph, rng: random.Random
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One labelled example: vertices in random order, rows of A + I, reachability and distances."""
    order = list(range(len(g)))
    rng.shuffle(order)
    g = nx.relabel_nodes(g, dict(enumerate(order)))
    far = np.full((len(g), len(g)), -1)
    for u, found in nx.all_pairs_shortest_path_length(g):
        far[u, list(found)] = list(found.values())
    adjacency = nx.to_numpy_array(g, nodelist=range(len(g)), dtype=np.float32)
    return adjacency + np.eye(len(g), dtype=np.float32), far >= 0, far


def two_paths(n: int, rng: random.Random) -> nx.Graph:
    split = rng.randrange(1, n)
    return nx.disjoint_union(nx.path_graph(split), nx.path_graph(n - split))


def forest(n: int, rng: random.Random) -> nx.Graph:
    g = nx.empty_graph(n)
    g.add_edges_from((i, rng.randrange(i)) for i in range(1, n) if rng.random() >= 0.12)
    return g


def symbols_and_k(rng: random.Random) -> tuple[list[int], int]:
    symbols = [rng.randrange(4)]
    while len(symbols) < 98:
        symbols.append(rng.choice([s for s in range(4) if s != symbols[-1]]))
    return symbols, rng.randrange(17)


def hops_in_lists(symbols: list[int], k: int) -> list[int]:
    return hop_k(symbols, k, missing=21)


def hops_in_a_graph(symbols: list[int], k: int) -> list[int]:
    """Each position has one successor, or none; an answer is the symbol k successors away."""
    g, last = nx.empty_graph(len(symbols), create_using=nx.DiGraph), {}
    for i, symbol in enumerate(symbols):
        if symbol in last:
            g.add_edge(i, last[symbol] + 1)
        last[symbol] = i
    answers = []
    for at in g:
        for _ in range(k):
            at = next(g.successors(at), None)
            if at is None:
                break
        answers.append(21 if at is None else symbols[at])
    return answers


def peers_of_hops_agree() -> bool:
    rng = random.Random(0)
    drawn = [symbols_and_k(rng) for _ in range(LOOP)]
    return [hops_in_a_graph(*each) for each in drawn] == [hops_in_lists(*each) for each in drawn]


CASES: dict[str, tuple[Task, Callable[[random.Random], object]]] = {
    **{
        f"connectivity, two paths, n={n}": (
            Connectivity(vertices=n),
            lambda rng, n=n: rows_and_distances(two_paths(n, rng), rng),
        )
        for n in (12, 24, 64)
    },
    "connectivity, forest, n=24": (
        Connectivity(vertices=24, family="forest"),
        lambda rng: rows_and_distances(forest(24, rng), rng),
    ),
    "connectivity, Erdos-Renyi, n=20": (
        Connectivity(vertices=20, family="Erdos-Renyi", edge_probability=0.08),
        lambda rng: rows_and_distances(nx.gnp_random_graph(20, 0.08, seed=rng), rng),
    ),
    "hop_k, published, networkx": (HopK(), lambda rng: hops_in_a_graph(*symbols_and_k(rng))),
    "hop_k, published, plain Python": (HopK(), lambda rng: hops_in_lists(*symbols_and_k(rng))),
}


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call, the device's work included."""
    before = time.perf_counter()
    work()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - before


@pytest.mark.parametrize("case", CASES)
@pytest.mark.benchmark(group="tasks against a loop")
def test_batch_against_a_loop(benchmark, say, case: str) -> None:
    task, one = CASES[case]
    assert not isinstance(task, HopK) or peers_of_hops_agree()
    generator, rng = torch.Generator(DEVICE).manual_seed(0), random.Random(0)
    loops: list[float] = []
    mine: list[float] = []
    seconds(lambda: task.batch(generator, 1, BATCH))
    benchmark.pedantic(
        lambda: mine.append(seconds(lambda: task.batch(generator, 1, BATCH)) / BATCH),
        rounds=ROUNDS,
        setup=lambda: loops.append(seconds(lambda: [one(rng) for _ in range(LOOP)]) / LOOP),
    )
    loop, batched = min(loops), min(mine)
    benchmark.extra_info["loop / batch"] = loop / batched
    say(
        f"{case}: loop {1e6 * loop:.0f} us, batch of {BATCH} on {DEVICE} "
        f"{1e6 * batched:.2f} us an example, ratio {loop / batched:.0f}"
    )


def plain_net(task: Task, width: int, depth: int) -> nn.Module:
    """A pre-norm encoder of PyTorch's own layers, the read-in and read-out that the task asks
    for."""
    layer = nn.TransformerEncoderLayer(
        width, 1, 4 * width, dropout=0.0, norm_first=True, batch_first=True, device=DEVICE
    )
    read_in = (
        nn.Linear(task.features, width, device=DEVICE)
        if task.features
        else nn.Embedding(task.vocabulary, width, device=DEVICE)
    )
    stack = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
    return nn.Sequential(read_in, stack, nn.Linear(width, task.outputs, device=DEVICE))


@pytest.mark.parametrize(
    ("task", "width", "depth", "size"),
    [
        (Connectivity(vertices=12), 48, 2, 1024),
        (Connectivity(vertices=24), 64, 3, 256),
        (Connectivity(vertices=64), 64, 3, 64),
        (Connectivity(vertices=24, family="forest"), 64, 3, 256),
        (HopK(), 128, 4, 32),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
@pytest.mark.benchmark(group="tasks in a training step")
def test_share_of_a_training_step(
    benchmark, say, task: Task, width: int, depth: int, size: int
) -> None:
    generator = torch.Generator(DEVICE).manual_seed(0)
    torch.manual_seed(0)
    net = plain_net(task, width, depth)
    optimiser = torch.optim.AdamW(net.parameters())

    def step() -> None:
        batch = task.batch(generator, 1, size)
        logits = net(batch.inputs[0])[batch.loss_mask[0]]
        targets = batch.targets[0][batch.loss_mask[0]]
        if task.kind == "pairs":
            loss = nn.functional.binary_cross_entropy_with_logits(logits, targets.float())
        else:
            loss = nn.functional.cross_entropy(logits, targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    drawing: list[float] = []
    steps: list[float] = []
    step()
    benchmark.pedantic(
        lambda: steps.append(seconds(step)),
        rounds=5,
        setup=lambda: drawing.append(seconds(lambda: task.batch(generator, 1, size))),
    )
    share = min(drawing) / min(steps)
    benchmark.extra_info["share of the step"] = share
    say(
        f"{task.name}, width {width}, depth {depth}, batch {size}, {DEVICE}: "
        f"drawing {1e3 * min(drawing):.2f} ms of {1e3 * min(steps):.1f} ms, {share:.1%}"
    )
