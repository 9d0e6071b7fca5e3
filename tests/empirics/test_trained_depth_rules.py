"""Rules in the place of trained nets: explicit weights, the local baseline, and small trees."""

import numpy as np
import pytest
import torch

from depthlaw.empirics.trained_depth import distances, net_answers, recipes
from depthlaw.empirics.trained_depth.explicit_rules import RADII
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.values import Case
from depthlaw.theory.claims.verdict import Verdict, judge

CLAIMS = registry()
LOCAL, NEAREST = (
    CLAIMS[f"trained_depth/{name}"] for name in ("local_baseline_misses", "local_baseline")
)


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("depth", "distance", "share"), [(1, 3, 1.0), (1, 4, 0.5), (2, 9, 1.0), (2, 10, 0.5)]
)
def test_explicit_weights_stop_at_three_to_the_depth(depth, distance, share):
    found = CLAIMS["trained_depth/rules_within"].measure(
        Case(
            task="connectivity",
            net="explicit",
            vertices=24,
            diameter=23,
            depth=depth,
            distance=distance,
        )
    )
    low, high = found.interval(1e-6)
    assert low <= share <= high


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
def test_rules_hold_within_and_beyond_and_their_negative_controls_fail():
    for key in ("rules_within", "rules_beyond", "local_baseline_misses"):
        claim = CLAIMS[f"trained_depth/{key}"]
        case, control = claim.grid["full"][0], claim.control.case
        assert judge(claim, case, claim.measure(case)).verdict is Verdict.HOLDS
        assert judge(claim, control, claim.measure(control), force=True).verdict is Verdict.FAILS


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
def test_the_local_baseline_knows_what_is_near_and_much_beyond():
    def at(radius, distance):
        return LOCAL.measure(
            Case(
                task="connectivity",
                net="bounded",
                vertices=24,
                diameter=23,
                radius=radius,
                distance=distance,
            )
        ).mean

    assert at(3, 3) == at(9, 9) == 1.0
    assert 0.5 < at(3, 5) < 0.95
    assert at(3, 20) > 0.95
    assert at(9, 10) > 0.95
    # Beside which two trained layers are put.
    assert [round(at(6, distance), 2) for distance in range(7, 13)] == [
        0.92,
        0.90,
        0.88,
        0.86,
        0.85,
        0.85,
    ]


def test_the_local_baseline_is_asked_at_every_radius_and_every_distance_beyond():
    assert {(c.radius, c.distance) for c in LOCAL.grid["full"]} == {
        (r, d) for r in range(1, 10) for d in range(r + 1, 21)
    }
    assert set(RADII) >= set(range(3, 10))


@pytest.mark.usefixtures("rules_once")
@pytest.mark.slow
@pytest.mark.parametrize(("depth", "radius"), [(1, 2), (1, 3), (2, 5), (2, 6)])
def test_what_answers_like_a_local_baseline_is_nearest_to_its_radius(depth, radius):
    found = CLAIMS[NEAREST.key].measure(
        Case(
            task="connectivity", net="bounded", vertices=24, diameter=23, depth=depth, radius=radius
        ),
        0,
    )
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


def test_rules_are_asked_about_as_many_graphs_as_the_caption_says():
    net_answers.by_rule.cache_clear()
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("spot_counts", "forced_choices"):
            patch.setattr(
                net_answers, name, lambda *_, **seen: asked.append(seen["graphs"]) or counts(seen)
            )
        net_answers.by_rule("explicit", 24, 23, 1)
    net_answers.by_rule.cache_clear()
    assert asked == [net_answers.RULE_GRAPHS] * 2 == [20_480] * 2


def counts(seen):
    """One group in which everything is right."""
    return (1,), np.full((2, 1, 1), seen["graphs"])


def test_shortcuts_that_need_no_search_fail_and_nine_hops_do_not():
    for key in ("connectivity_shortcuts", "hops_shortcuts"):
        claim = CLAIMS[f"trained_depth/{key}"]
        for case in claim.grid["quick"]:
            if case.get("vertices") != 24:
                assert judge(claim, case, claim.measure(case)).verdict is Verdict.HOLDS, case
        assert (
            judge(claim, claim.control.case, claim.measure(claim.control.case)).verdict
            is Verdict.FAILS
        )
    with pytest.raises(ValueError, match="accepted are degrees"):
        CLAIMS["trained_depth/connectivity_shortcuts"].measure(
            Case(task="connectivity", vertices=12, diameter=11, clue="luck")
        )
