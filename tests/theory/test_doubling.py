"""Doublings: the repeated block on small graphs, and layer counts by search and by proof."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from judging import verdicts
from sympy import Le, ceiling, floor, log

from depthlaw.theory.claims.symbols import vertices
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.connectivity import doubling
from depthlaw.theory.connectivity.doubling import (
    directed_graphs,
    doubling_layers,
    log_depth_uniform,
)


def test_directed_graphs_are_all_there() -> None:
    rng = np.random.default_rng(0)
    assert len(directed_graphs("path", 3, rng)) == 1
    every = directed_graphs("all", 3, rng)
    assert len({frozenset(g.edges) for g in every}) == len(every) == 64
    with pytest.raises(ValueError, match="accepted are all, directed path"):
        directed_graphs("wheel", 2, rng)


def test_what_never_settles_is_later_than_any_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubling, "with_loops", lambda g: np.eye(len(g), dtype=int))
    assert doubling_layers(nx.path_graph(4).to_directed()) == 10


def test_the_doubling_bound_is_attained_and_one_layer_less_fails() -> None:
    left, log2 = log_depth_uniform.statement.lhs, log(vertices, 2)
    for tight in (Le(left, 2 * ceiling(log2) - 1), Le(left, 2 * floor(log2))):
        found = verdicts(dataclasses.replace(log_depth_uniform, statement=tight))
        assert Verdict.FAILS in found.values()


def test_a_block_that_is_wrong_on_one_graph_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = doubling.with_loops

    def faulty(g: nx.DiGraph) -> doubling.Array:
        return np.eye(3) if len(g) == 3 and set(g.edges) == {(2, 0), (0, 1)} else right(g)

    monkeypatch.setattr(doubling, "with_loops", faulty)
    found = {c.vertices: v for c, v in verdicts(log_depth_uniform).items() if c.family == "all"}
    assert found == {1: Verdict.HOLDS, 2: Verdict.HOLDS, 3: Verdict.FAILS}
