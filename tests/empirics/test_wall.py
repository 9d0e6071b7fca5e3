"""What nets on cycles are asked about single rows, against networkx and explicit weights; and a
training that was killed and moved."""

from __future__ import annotations

import shutil
from functools import cache, partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor
from trainings import killed

from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.trained_depth.wall import FARTHEST
from depthlaw.empirics.training import checkpoints
from depthlaw.theory.claims.definition import Case, find

TINY = Case(task="long cycles", net="linearised", cycles=2, around=20, depth=1, updates=40)


@cache
def _known(edges: bytes) -> np.ndarray:
    """Minus the distances of 40 vertices, by networkx; minus 100 between cycles."""
    logits = np.full((40, 40), -100, dtype=np.float32)
    graph = nx.from_numpy_array(np.frombuffer(edges, dtype=np.float32).reshape(40, 40) - np.eye(40))
    for u, far in nx.all_pairs_shortest_path_length(graph):
        logits[u, list(far)] = [-distance for distance in far.values()]
    return logits


def _near(rows: Tensor) -> Tensor:
    edges = rows[..., :40].numpy()
    return torch.from_numpy(np.stack([_known(adjacency.tobytes()) for adjacency in edges]))


def test_the_nearer_vertex_stands_at_its_distance() -> None:
    """Who knows all distances is right everywhere; who turns them round, nowhere."""
    graphs = 20
    answered = wall_nets.asked(_near, 0, graphs)
    assert set(answered) == {
        "other 20+20", "row 40", "row 30+10", "other 30+10", "row 28+12", "other 28+12"
    }  # fmt: skip
    for question, by_distance in answered.items():
        expected = range(1, 11 if question == "other 20+20" else FARTHEST + 1)
        assert by_distance == dict.fromkeys(expected, (graphs, graphs)), question
    turned = wall_nets.asked(lambda rows: -_near(rows), 0, graphs)
    assert {count for by in turned.values() for count in by.values()} == {(0, graphs)}


@pytest.mark.parametrize("distance", [3, 12])
def test_a_rule_that_sees_one_distance_is_right_there_alone(distance: int) -> None:
    """Each question is about its own distance, and ties are settled by a coin."""
    answered = wall_nets.asked(lambda rows: (_near(rows) == -distance).float(), 1, 100)
    for question, by_distance in answered.items():
        for asked, (right, count) in by_distance.items():
            assert right == count if asked == distance else 25 < right < 75, question


@pytest.mark.parametrize("depth", [1, 2])
def test_explicit_weights_are_right_up_to_the_wall(depth: int) -> None:
    """The yardstick: 1 up to 3^L, a coin beyond."""
    for by_distance in wall_nets.answers(Case(net="explicit", depth=depth), 0).values():
        for distance, (right, asked) in by_distance.items():
            within = distance <= 3**depth
            assert right == asked if within else abs(right / asked - 0.5) < 0.05


def test_the_index_alone_tells_nothing() -> None:
    """A net that looks at no edge is at chance, whatever it makes of the indices."""
    logits = torch.randn(1, 40, 40, generator=torch.Generator().manual_seed(0))
    answered = wall_nets.asked(lambda rows: logits.expand(len(rows), 40, 40), 0)
    shares = [right / asked for by in answered.values() for right, asked in by.values()]
    assert max(abs(share - 0.5) for share in shares) < 0.05


def test_killed_copied_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on from its last checkpoint in another folder and ends with the same weights."""
    monkeypatch.setattr(wall_nets, "EVERY", 10)
    monkeypatch.setattr(wall_nets, "asked", partial(wall_nets.asked, graphs=256))
    whole, before, after = tmp_path / "whole", tmp_path / "before", tmp_path / "after"
    expected = wall_nets.answers(TINY, 0, folder=str(whole))
    with killed(checkpoints, "write", 3):
        wall_nets.answers(TINY, 0, folder=str(before))
    shutil.copytree(before, after)
    assert wall_nets.answers(TINY, 0, folder=str(after)) == expected
    name = wall_nets.named(*wall_nets.training(TINY, 0), "cpu")
    stored = [checkpoints.read(where / "trainings" / name, name) for where in (whole, after)]
    assert stored[0] is not None
    assert stored[1] is not None
    assert all(torch.equal(stored[0][1][key], stored[1][1][key]) for key in stored[0][1])
    # What is there is read, not trained: of other weights other answers come.
    changed = {key: torch.zeros_like(value) for key, value in stored[0][1].items()}
    other = tmp_path / "other"
    checkpoints.write(other / "trainings" / name, name, 40, changed, {})
    assert wall_nets.answers(TINY, 0, folder=str(other)) != expected


def test_each_net_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of several nets decides, not their mean."""
    monkeypatch.setattr(wall_nets, "asked", partial(wall_nets.asked, graphs=256))
    monkeypatch.setattr(wall_nets, "_of_trained", cache(wall_nets._of_trained.__wrapped__))
    claim = find("trained_depth/wall_within")
    case = Case(**claim.control.case.fields() | {"shuffled": False, "updates": 40, "distance": 1})
    value = claim.measure(case)
    singles = [claim.measure(Case(**case.fields() | {"first": n, "nets": 1})) for n in (10, 11)]
    assert value.low == min(single.low for single in singles)
    assert value.high == min(single.high for single in singles)
