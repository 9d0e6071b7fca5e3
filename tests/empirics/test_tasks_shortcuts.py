"""The audit: leaky tasks are flagged with the clue that leaks, fair ones are not, and search is
never called a shortcut."""

from dataclasses import dataclass, replace

import pytest
import torch
from task_shortcuts import BAR, Shortcut, audit

from depthlaw.empirics.tasks import Batch, graph_families
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK

CHEAP = {"degrees", "index", "edges", "degrees, index, edges"}


def flagged(found):
    return {s.name for s in found if s.flagged}


def by_name(found):
    return {s.name: s for s in found}


@dataclass(frozen=True)
class PathOrNothing(Connectivity):
    """Leaky on purpose: one path or no edge, which the number of edges tells, and degrees."""

    def batch(self, generator, replicas, size):
        n = self.vertices
        far = graph_families.RandomGraphs(n, "paths", cut=0.0).distances(generator, replicas * size)
        empty = torch.rand(replicas * size, 1, 1, generator=generator) < 0.5
        far = far.masked_fill((far > 0) & empty, -1).view(replicas, size, n, n).long()
        scored = (~torch.eye(n, dtype=torch.bool)).expand(far.shape)
        return Batch(((far == 0) | (far == 1)).float(), far >= 0, scored, far)


def test_a_path_against_nothing_is_flagged_by_edges_and_degrees():
    found = audit(PathOrNothing(vertices=24), seed=0, graphs=400)
    assert {"edges", "degrees"} <= flagged(found)
    assert "index" not in flagged(found)
    assert by_name(found)["edges"].accuracy == 1


HALVES = Connectivity(vertices=16, max_distance=7)


def test_vertices_in_the_order_of_the_generator_are_flagged(monkeypatch):
    assert "index" not in flagged(audit(HALVES, seed=0, graphs=400))
    monkeypatch.setattr(
        graph_families, "permutations", lambda count, n, generator: torch.arange(n).expand(count, n)
    )
    assert "index" in flagged(audit(HALVES, seed=0, graphs=400))


@pytest.mark.parametrize(
    "task",
    [
        Connectivity(vertices=24),
        Connectivity(vertices=24, family="paths"),
        Connectivity(vertices=16, family="forest"),
        Connectivity(vertices=20, family="Erdos-Renyi", edge_probability=0.08),
    ],
    ids=lambda t: t.name,
)
def test_nothing_cheap_answers_connectivity(task):
    assert flagged(audit(task, seed=0, graphs=500)) & CHEAP == set()


def test_nine_hops_are_flagged_where_few_pairs_are_farther_and_are_search_where_none_is():
    found = by_name(audit(Connectivity(vertices=12), seed=0, graphs=500))
    assert found["9 hops"].flagged
    assert not found["3 hops"].flagged
    near = by_name(
        audit(
            Connectivity(vertices=12, family="paths", max_distance=9, cut=0.05), seed=0, graphs=500
        )
    )
    assert near["9 hops"].search
    assert near["9 hops"].accuracy == 1
    assert not near["9 hops"].flagged
    assert near["component sizes"].search
    assert not near["3 hops"].search


def test_copying_the_symbol_gains_on_published_hops_what_theory_says():
    # hop_2 is the current symbol itself with probability near one half; the tree has only that to
    # go by.
    found = by_name(audit(HopK(k_min=2, k_max=2), seed=0, graphs=2000))
    assert found["token"].low < 0.5041 < found["token"].high
    assert not found["token"].flagged


def test_hops_and_tokens_that_cover_the_task_are_search():
    assert by_name(audit(HopK(symbols=30, k_max=3), seed=0, graphs=100))["3 hops"].search
    assert not by_name(audit(HopK(symbols=30, k_max=4), seed=0, graphs=100))["3 hops"].search
    assert by_name(audit(HopK(symbols=8, k_max=3), seed=0, graphs=100))["last 9"].search


def test_a_tree_sees_fresh_examples_and_intervals_are_clopper_pearson():
    found = audit(HALVES, seed=3, graphs=300)
    assert found == audit(HALVES, seed=3, graphs=300)
    assert found != audit(HALVES, seed=4, graphs=300)
    assert all(s.examples == 300 and s.low <= s.accuracy <= s.high for s in found)
    certain = by_name(found)["9 hops"]
    # 300 of 300: the lower end p solves p^300 = 0.025.
    assert certain.accuracy == 1
    assert abs(certain.low**300 - 0.025) < 1e-9


def test_the_bar_lies_between_the_majority_and_one():
    base = Shortcut("edges", 0.0, 0.0, 1.0, 0.8, 100, search=False)
    above, below = 0.8 + 0.2 * (BAR + 0.01), 0.8 + 0.2 * (BAR - 0.01)
    assert replace(base, accuracy=above).flagged
    assert not replace(base, accuracy=below).flagged
    assert not replace(base, accuracy=above, search=True).flagged
    assert replace(base, accuracy=1.0, majority=1.0).flagged, "a constant answer"


def test_a_task_that_scores_nothing_and_too_few_graphs_are_refused():
    with pytest.raises(ValueError, match="at least 2"):
        audit(HALVES, seed=0, graphs=1)
    with pytest.raises(ValueError, match="nothing is scored"):
        audit(HopK(symbols=2, k_min=5, k_max=5), seed=0, graphs=10)
