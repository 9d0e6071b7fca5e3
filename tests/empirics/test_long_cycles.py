"""Cycles of equal length: the task against networkx, and what rules see there."""

import networkx as nx
import numpy as np
import pytest
import torch

from depthlaw.empirics.tasks.long_cycles import LongCycles
from depthlaw.empirics.trained_depth import cycle_nets
from depthlaw.empirics.training.depth_search import Answers
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, judge

CLAIMS = registry()
SHOWN = [key for key in CLAIMS if key.startswith(("trained_depth/cycles_", "trained_depth/reach_"))]


@pytest.mark.parametrize(("cycles", "around"), [(2, 4), (3, 5), (2, 8)])
def test_distances_are_those_of_networkx(cycles, around):
    task = LongCycles(cycles, around)
    batch = task.batch(torch.Generator().manual_seed(3), 2, 4)
    edges = task.adjacency(batch.inputs).flatten(0, 1)
    for adjacency, group, target in zip(
        edges, batch.group.flatten(0, 1), batch.targets.flatten(0, 1), strict=True
    ):
        graph = nx.from_numpy_array(adjacency.numpy())
        assert sorted(map(len, nx.connected_components(graph))) == [around] * cycles
        far = dict(nx.all_pairs_shortest_path_length(graph))
        expected = [[far[u].get(v, -1) for v in graph] for u in graph]
        assert group.tolist() == expected
        assert target.tolist() == [[d >= 0 for d in row] for row in expected]
    assert not (batch.inputs[0, 0] == batch.inputs[0, 1]).all(), "the order of vertices is random"


@pytest.mark.parametrize(
    ("cycles", "around", "rule", "size", "sight"),
    [
        (2, 12, "explicit", 1, 3),
        (2, 12, "bounded", 3, 3),
        (2, 12, "intersecting", 2, 4),
        pytest.param(3, 22, "explicit", 2, 9, marks=pytest.mark.slow),
    ],
)
def test_rules_are_right_in_their_sight_and_at_chance_beyond(cycles, around, rule, size, sight):
    """Explicit weights of L layers and local baselines, on graphs that nets are trained on too; so
    the way in which nets are asked finds 100 % and a coin where they are due."""
    found = cycle_nets._by_rule(rule, cycles, around, 0, size)
    shares = np.array(found.chosen[0]) / np.array(found.choices[0])
    assert (shares[:sight] == 1).all()
    assert (abs(shares[sight:] - 0.5) < 0.04).all()


def fake(share):
    """Answers of five nets that choose as often right as `share(distance, case)` says."""

    def made(case, device="cpu", folder=""):
        places = tuple(range(1, case.around // 2 + 1))
        row = tuple(round(10_000 * share(d, case)) for d in places)
        choices = (10_000,) * len(places)
        trained = (1e-3, ("not converged",) * 5, (1,) * 5)
        return Answers(*trained, (), (), (), places, (row,) * 5, (choices,) * 5)

    return made


NETS = Case(task="long cycles", net="softmax", cycles=3, around=22, depth=2, updates=1800)


@pytest.mark.parametrize("right", [9, 7])
def test_the_reach_of_nets_that_are_right_up_to_a_distance(monkeypatch, right):
    monkeypatch.setattr(cycle_nets, "answers_of", fake(lambda d, case: 1 if d <= right else 0.5))
    pooled = CLAIMS["trained_depth/reach_falls_short"].measure(NETS)
    assert pooled.low < right < pooled.high
    assert pooled.high - pooled.low < 0.5


def test_growth_is_judged_by_updates_and_by_layers(monkeypatch):
    monkeypatch.setattr(
        cycle_nets,
        "answers_of",
        fake(lambda d, case: 1 if d <= 3 * case.depth - (case.updates < 1800) else 0.5),
    )
    for name, expected in (("reach_grows", 1), ("reach_grows_with_depth", 3)):
        claim = CLAIMS[f"trained_depth/{name}"]
        found = claim.measure(NETS)
        assert found.low < expected < found.high
        assert judge(claim, NETS, found).verdict is Verdict.HOLDS


def test_every_case_says_what_is_trained_within_what_it_assumes():
    for key in SHOWN:
        claim = CLAIMS[key]
        for case in (c for cases in claim.grid.values() for c in cases):
            assert all(holds(case) for holds in claim.assumes.values()), (key, case)
            if "updates" in case and "net" in case:
                made = cycle_nets.training(case)
                assert made.settings.seeds == (0, 1, 2, 3, 4)
                assert made.settings.steps == case.updates
