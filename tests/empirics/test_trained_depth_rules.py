"""What nets are put beside: explicit weights, the local baseline, and small trees."""

import numpy as np
import pytest
import torch
from task_shortcuts import audit

from depthlaw.empirics.trained_depth import distances, net_answers, recipes
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.values import Case

NEAREST = find("trained_depth/local_baseline")
BOUNDED = {"task": "connectivity", "net": "bounded", "vertices": 24, "diameter": 23}


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_explicit_weights_are_right_up_to_three_to_the_depth_and_at_chance_beyond(depth):
    """What they compute is exact by connectivity/reach: this is about our graphs and choices."""
    answers = net_answers.by_rule("explicit", 24, 23, depth)
    for distance in range(1, 21):
        low, high = answers.chosen_at(distance).interval(1e-6)
        assert low <= (1 if distance <= 3**depth else 0.5) <= high, distance


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
@pytest.mark.parametrize(("depth", "radius"), [(1, 2), (1, 3), (2, 5), (2, 6)])
def test_what_answers_like_a_local_baseline_is_nearest_to_its_radius(depth, radius):
    found = NEAREST.measure(Case(**BOUNDED, depth=depth, radius=radius))
    assert found.low <= radius <= found.high
    assert found.high - found.low <= 2


def test_the_least_excess_is_no_more_than_at_any_point_of_the_box():
    rng = np.random.default_rng(5)
    for _ in range(50):
        ends = [[tuple(sorted(rng.random(2))) for _ in range(3)] for _ in range(3)]
        least_found = distances._least_excess(*ends)
        points = [
            [
                rng.choice([low, high, rng.uniform(low, high)], p=[0.4, 0.4, 0.2], size=400)
                for low, high in each
            ]
            for each in ends
        ]
        excess = sum((a - b) ** 2 - (a - c) ** 2 for a, b, c in zip(*points, strict=True))
        assert least_found <= excess.min()
    assert distances._least_excess([(0.5, 0.5)], [(0.4, 0.4)], [(0.2, 0.2)]) == pytest.approx(
        0.01 - 0.09
    )


@pytest.mark.parametrize("r", [1, 3, 6, 9])
def test_the_local_baseline_never_closes_a_path_that_goes_on_and_looks_no_further_than_it_says(r):
    task, n = recipes.paths(24, 23), 24
    batch = task.batch(torch.Generator().manual_seed(1), 1, 300)
    score, far = net_answers.bounded(n, r)(task.adjacency(batch.inputs)[0]), batch.group[0]
    closed = score < -2 * n - 1
    assert closed.any()
    assert not (closed & (far >= 0)).any()
    # Two graphs that look the same within r of u and of v: the middle edge of a long path, there or
    # not.
    chain = torch.diag(torch.ones(4 * r + 3, dtype=torch.bool), 1)
    chain = chain | chain.T
    cut = chain.clone()
    cut[2 * r + 1, 2 * r + 2] = cut[2 * r + 2, 2 * r + 1] = False
    whole, parts = net_answers.bounded(4 * r + 4, r)(torch.stack([chain, cut]))
    assert whole[r, 3 * r + 3] == parts[r, 3 * r + 3]
    assert whole[r + 1, 3 * r + 3] == parts[r + 1, 3 * r + 3]
    assert whole[r + 2, 3 * r + 3] != parts[r + 2, 3 * r + 3]


HOP_K = Case(task="hop_k", symbols=24, alphabet=4, hops_max=4)
INDUCTION = Case(task="induction", symbols=24, alphabet=8, hops_max=1)


ON_GRAPHS = {"degrees", "index", "edges", "degrees, index, edges", "1 hops", "3 hops"}
IN_SEQUENCES = {"position", "token", "counts", "last 1", "last 3", "last 9"}


@pytest.mark.parametrize(
    ("task", "missing"),
    [
        pytest.param(recipes.paths(12, 11), ON_GRAPHS, id="12 vertices"),
        pytest.param(recipes.sequences(HOP_K), IN_SEQUENCES, id="hop_k"),
        pytest.param(recipes.sequences(INDUCTION), IN_SEQUENCES, id="induction"),
        pytest.param(recipes.paths(24, 23), ON_GRAPHS, marks=pytest.mark.slow, id="24 vertices"),
    ],
)
def test_no_small_tree_does_the_tasks_that_nets_are_trained_on_without_search(task, missing):
    """Else nets that do them may have learned the clue. What is nearly all the search is no clue:
    nine hops on 12 vertices and in sequences."""
    found = audit(task, 0)
    for clue in missing:
        assert found[clue].interval(1e-4)[1] < 0.95, clue
    if task != recipes.paths(24, 23):
        assert found["9 hops"].interval(1e-4)[0] > 0.95
