"""Trained nets: the quick training, its twins, explicit weights, and cases that say what is trained."""
from fractions import Fraction

import pytest

from depthlaw.empirics import trained_depth
from depthlaw.empirics.depth_search import Answers
from depthlaw.empirics.evaluation import forced_choices
from depthlaw.empirics.trained_depth import MEASURED, accuracy, depth_slope, least, training
from depthlaw.ledger.suite import load_claims
from depthlaw.theory.claim import registry
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.measurement import Ball, Case, Proportion
from depthlaw.theory.trained_depth import layers_at_least, slope_ends

CLAIMS = {key: claim for key, claim in load_claims().items() if claim.stem == "trained_depth"}
WITHIN, WALL = CLAIMS["trained_depth/connectivity_one_layer"], CLAIMS["trained_depth/connectivity_wall"]


def fake(passing_from):
    """Answers of nets that pass from a depth on, by (task size) -> depth."""
    def made(training, device):
        depth = training.shape.depth
        groups = (-1, *range(1, 24)) if training.task.kind == "pairs" else (1, 2, 4)
        right = tuple(4000 if depth >= passing_from(training.task, g) else 2000 for g in groups)
        return Answers(1e-3, ("success",) * 5, (1,) * 5, groups, (right,) * 5, ((4000,) * len(groups),) * 5)

    return made


def test_every_claim_is_measured_and_every_measurement_is_claimed():
    assert set(MEASURED) == {key for key, claim in registry().items() if claim.stem == "trained_depth"}
    assert all(claim.needs == "empirics" for claim in CLAIMS.values())


def test_every_case_of_every_suite_says_what_is_trained():
    for claim in CLAIMS.values():
        for case in (c for cases in claim.grid.values() for c in cases if "depth" in c and c.get("net") not in ("explicit", "bounded")):
            made = training(case, case.depth)
            assert made.shape.depth == case.depth
            assert (made.shape.features, made.shape.vocabulary) == (made.task.features, made.task.vocabulary)


def test_the_quick_training_sees_the_wall_and_its_twin_with_shuffled_labels_does_not_pass():
    for claim in (WITHIN, WALL):
        for case in claim.grid["quick"]:
            assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.HOLDS, case
        twin = claim.must_fail
        assert judge(claim, twin.case, claim.measured(twin.case, 0), force=True).verdict is Verdict.FAILS
    shuffled = WITHIN.measured(WITHIN.must_fail.case, 0)
    # Nets that know nothing of a pair can still favour vertices, one net for all graphs of its seed: not half to within the trials.
    assert 0.4 < shuffled.mean < 0.6
    assert all(claim.seeds == 1 for claim in CLAIMS.values()), "a second seed would count the same nets twice"


@pytest.mark.parametrize(("depth", "distance", "share"), [(1, 3, 1.0), (1, 4, 0.5), (2, 9, 1.0), (2, 10, 0.5)])
def test_explicit_weights_stop_at_three_to_the_depth(depth, distance, share):
    found = accuracy(Case(task="connectivity", net="explicit", vertices=24, diameter=23, depth=depth, distance=distance), 0)
    low, high = found.interval(1e-6)
    assert low <= share <= high


CASES = [(key, claim.must_fail) for key, claim in CLAIMS.items() if claim.must_fail.statement is not None]


@pytest.mark.parametrize(("key", "twin"), CASES, ids=[key for key, _ in CASES])
def test_the_twins_with_other_constants_fail_where_nets_do_what_theory_expects(key, twin, monkeypatch):
    """Judged on nets that pass exactly from the depth expected on."""
    from dataclasses import replace

    from depthlaw.theory.connectivity import layers_for_diameter
    from depthlaw.theory.hops import layers_for_hops

    def needed(task, group):
        if hasattr(task, "vertices"):
            return layers_for_diameter(task.max_distance or task.vertices - 1)
        return layers_for_hops(group)

    monkeypatch.setattr(trained_depth, "answers", fake(needed))
    claim = CLAIMS[key]
    value = MEASURED[key](twin.case, 0)
    assert judge(claim, twin.case, value).verdict is Verdict.HOLDS
    assert judge(replace(claim, statement=twin.statement), twin.case, value, force=True).verdict is Verdict.FAILS


def test_least_depths_and_slopes_of_nets_that_need_more(monkeypatch):
    monkeypatch.setattr(trained_depth, "answers", fake(lambda task, group: 9))
    case = Case(task="connectivity", net="softmax", vertices=12, diameter=11, tried=4, seeds="median")
    assert least(case, 0) == Ball(Fraction(5), Fraction(5))
    monkeypatch.setattr(trained_depth, "answers", fake(lambda task, group: 2 + 2 * (group == 4)))
    hops = Case(task="hop_k", symbols=24, alphabet=4, hops_max=4)
    assert least(Case(**hops.fields(), hops=2, tried=4, seeds="worst"), 0) == Ball(Fraction(2), Fraction(2))
    assert depth_slope(hops, 0) == Ball(Fraction(1), Fraction(1))


def test_a_look_around_knows_what_is_near_and_guesses_from_sizes_beyond():
    def at(depth, distance):
        return accuracy(Case(task="connectivity", net="bounded", vertices=24, diameter=23, depth=depth, distance=distance), 0).mean

    assert at(1, 3) == at(2, 9) == 1.0
    assert 0.5 < at(1, 5) < 0.95
    assert 0.5 < at(2, 10) < 0.95
    assert at(2, 20) > 0.85


def test_every_distance_asked_about_occurs_often_enough_to_be_decided():
    from depthlaw.theory.trained_depth import claims

    graphs = {(c.vertices, c.diameter): max(d.distance for claim in claims() for cases in claim.grid.values() for d in cases
                                            if d.get("vertices") == c.vertices and d.get("diameter") == c.diameter and "distance" in d)
              for claim in claims() for cases in claim.grid.values() for c in cases if "distance" in c}
    for (vertices, diameter), farthest in graphs.items():
        task = trained_depth._paths(vertices, diameter)
        places, counts = forced_choices(lambda batch: batch.group.float(), task, 1, seed=0, graphs=4096)
        # An answer that is always right is told from 95 % by 300 choices at a level of 1e-6.
        seeds = 3 if vertices == 24 else 5
        assert seeds * counts[1, 0][places.index(farthest)] >= 300, (vertices, diameter, farthest)


def test_slopes_leave_open_what_was_not_tried(monkeypatch):
    monkeypatch.setattr(trained_depth, "answers", fake(lambda task, group: 9))
    found = depth_slope(Case(task="hop_k", symbols=24, alphabet=4, hops_max=4), 0)
    assert found.low < -5
    assert found.high > 5


def test_hops_pool_the_positions_of_all_seeds(monkeypatch):
    monkeypatch.setattr(trained_depth, "answers", fake(lambda task, group: 2))
    case = Case(task="hop_k", net="softmax", symbols=24, alphabet=4, hops_max=4, depth=1, hops=2)
    assert accuracy(case, 0) == Proportion(10000, 20000)


def test_shortcuts_that_need_no_search_fail_and_nine_hops_do_not():
    for key in ("connectivity_shortcuts", "hops_shortcuts"):
        claim = CLAIMS[f"trained_depth/{key}"]
        for case in claim.grid["quick"]:
            if case.get("vertices") != 24:
                assert judge(claim, case, claim.measured(case, 0)).verdict is Verdict.HOLDS, case
        assert judge(claim, claim.must_fail.case, claim.measured(claim.must_fail.case, 0)).verdict is Verdict.FAILS
    with pytest.raises(ValueError, match="accepted are degrees"):
        MEASURED["trained_depth/connectivity_shortcuts"](Case(task="connectivity", vertices=12, diameter=11, clue="luck"), 0)


def test_unknown_tasks_hops_and_slopes_are_refused():
    with pytest.raises(ValueError, match="connectivity, induction and hop_k"):
        training(Case(task="sorting"), 1)
    with pytest.raises(ValueError, match="at least 1"):
        layers_at_least(0)
    with pytest.raises(ValueError, match="two different"):
        slope_ends([1.0, 1.0])
