"""Trained nets: the short training, explicit weights, and cases that say what is trained."""

import csv
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from judging import claims, verdict
from trainings import answered

from depthlaw.empirics.nets.net import gpt2
from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.empirics.trained_depth import net_answers, training_table
from depthlaw.empirics.trained_depth.hop_nets import right_hops
from depthlaw.empirics.trained_depth.recipes import training
from depthlaw.empirics.training.depth_search import LEVEL, Training
from depthlaw.ledger.records.run import Run
from depthlaw.theory.claims.definition import DEVICE_OF, Claim, registry
from depthlaw.theory.claims.values import FALSE_ALARM_BUDGET, Ball, Case, Proportion
from depthlaw.theory.claims.verdict import Verdict, judge

# Those on cycles of equal length have tests of their own.
CLAIMS = {
    name: claim
    for name, claim in claims("trained_depth").items()
    if not name.startswith(("cycles_", "reach_", "wall_", "third_", "larger_"))
}
WITHIN, WALL = (CLAIMS[f"connectivity_{name}"] for name in ("within", "one_layer_wall"))
NEAREST = CLAIMS["local_baseline"]


def fake(passing_from):
    """Answers of nets that pass from a depth on, by (task size) -> depth."""

    def made(training, device, folder):
        groups = (-1, *range(1, 24)) if training.task.kind == "pairs" else (1, 2, 4)
        least = (passing_from(training.task, group) for group in groups)
        row = [1 if training.shape.depth >= depth else 0.5 for depth in least]
        return answered(groups, *[row] * 5)

    return made


def test_every_case_of_every_suite_says_what_is_trained():
    for claim in CLAIMS.values():
        for case in claim.every_case:
            if "depth" not in case or case.get("net") in ("explicit", "bounded"):
                continue
            made = training(case, case.depth)
            assert made.shape.depth == case.depth
            assert made.shape.features == made.task.features
            assert made.shape.vocabulary == made.task.vocabulary


@pytest.mark.slow
def test_the_short_training_sees_the_wall():
    for claim in (WITHIN, WALL):
        for case in claim.grid["full"]:
            if case.vertices > 8:
                continue
            assert verdict(claim, case) is Verdict.HOLDS, case
    # A second seed would count the same nets twice.
    assert all(claim.seeds == 1 for claim in CLAIMS.values())


def choosing(right):
    """Answers of three nets that choose as often right as `right(distance)` says, of 10000 choices
    each."""
    places = range(1, 24)
    made = answered(places, *[[right(d) for d in places]] * 3, trials=10_000)
    chosen = {"distances": made.groups, "chosen": made.right, "choices": made.trials}
    return lambda training, device, folder: answered((1,), (1,), (1,), (1,), trials=1, **chosen)


@pytest.mark.parametrize(
    ("share", "reach", "verdict"),
    [
        (lambda d: 0.99 if d <= 2 else 0.9, (2, 2), Verdict.FAILS),
        (lambda d: 0.99 if d <= 3 else 0.9, (3, 3), Verdict.HOLDS),
        (lambda d: 0.99 if d <= 4 else 0.9, (4, 4), Verdict.FAILS),
        (lambda d: 0.99 if d <= 3 else 0.95, (3, 20), Verdict.UNDECIDED),
        (lambda d: 0.95 if d == 3 else 0.99 if d < 3 else 0.9, (2, 3), Verdict.UNDECIDED),
        # What lies beyond a gap does not count.
        (lambda d: 0.9 if d == 2 else 0.99 if d <= 3 else 0.9, (1, 1), Verdict.FAILS),
        (lambda d: 0.5, (0, 0), Verdict.FAILS),
    ],
)
def test_a_wall_is_right_at_three_to_the_depth_and_not_one_step_beyond(
    monkeypatch, share, reach, verdict
):
    monkeypatch.setattr(net_answers, "answers", choosing(share))
    case = next(c for c in WALL.grid["full"] if c.net == "softmax" and c.vertices == 24)
    value = WALL.measure(case)
    assert value == Ball(*map(Fraction, reach))
    assert judge(WALL, case, value).verdict is verdict


@pytest.mark.parametrize("succeeded", [0, 2, 3, 5])
def test_the_share_of_trainings_that_succeed(monkeypatch, succeeded):
    failed = ("not converged", "diverged", "not converged", "diverged", "not converged")
    status = ("success",) * succeeded + failed[succeeded:]
    found = answered((1,), *[(1,)] * 5, trials=1, status=status)
    monkeypatch.setattr(net_answers, "answers", lambda *_: found)
    claim = CLAIMS["convergence"]
    measured = claim.measure(claim.grid["full"][0])
    assert measured == Ball(Fraction(succeeded, 5), Fraction(succeeded, 5))
    expected = Verdict.HOLDS if succeeded >= 3 else Verdict.FAILS
    assert judge(claim, claim.grid["full"][0], measured).verdict is expected


def test_least_depths_of_nets_that_need_more(monkeypatch):
    monkeypatch.setattr(net_answers, "answers", fake(lambda task, group: 9))
    case = Case(
        task="connectivity", net="softmax", vertices=12, diameter=11, tried=4, seeds="median"
    )
    claim = CLAIMS["connectivity_least_depth"]
    assert claim.measure(case) == Ball(Fraction(5), Fraction(5))
    for depth, expected in ((5, "FAILS"), (3, "HOLDS"), (2, "FAILS")):
        value = Ball(Fraction(depth), Fraction(depth))
        assert judge(claim, case, value).verdict.value == expected
    monkeypatch.setattr(net_answers, "answers", fake(lambda task, group: 2 + 2 * (group == 4)))
    hops = Case(task="hop_k", symbols=24, alphabet=4, hops_max=4)
    least = CLAIMS["hops_enough"].measure
    assert least(Case(**hops.fields(), hops=2, tried=4, seeds="worst")) == Ball(
        Fraction(2), Fraction(2)
    )


def passing(shares):
    """Answers of three nets in one group, of which each is right as often as `shares[depth - 1]`
    says for its seed, of 4000."""
    return lambda training, device, folder: answered(
        (1,), *((share,) for share in shares[training.shape.depth - 1])
    )


@pytest.mark.parametrize(
    ("shares", "best", "median"),
    [
        ([(0.5, 0.5, 0.5), (0.99, 0.5, 0.5), (0.99, 0.99, 0.99)], (2, 2), (3, 3)),
        ([(0.5, 0.95, 0.5), (0.5, 0.5, 0.5), (0.5, 0.5, 0.99)], (1, 3), (4, 4)),
        ([(0.95, 0.5, 0.5), (0.95, 0.99, 0.5), (0.5, 0.5, 0.5)], (1, 2), (2, 4)),
        ([(0.5, 0.5, 0.5)] * 3, (4, 4), (4, 4)),
    ],
)
def test_the_best_seed_is_the_first_of_all(monkeypatch, shares, best, median):
    monkeypatch.setattr(net_answers, "answers", passing(shares))
    task = {"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4, "hops": 1, "tried": 3}
    least = CLAIMS["hops_needed"].measure
    assert least(Case(**task, seeds="best")) == Ball(*map(Fraction, best))
    assert least(Case(**task, seeds="median")) == Ball(*map(Fraction, median))


def test_a_lower_bound_is_not_asked_of_the_worst_seed_nor_an_upper_one_of_the_best(monkeypatch):
    for name, seeds in (
        ("hops_needed", {"best", "median"}),
        ("hops_enough", {"worst", "median"}),
        ("connectivity_least_depth", {"best", "worst", "median"}),
    ):
        assert {case.seeds for case in CLAIMS[name].every_case} == seeds
    # One seed of three that does without a layer refutes that it is needed.
    monkeypatch.setattr(
        net_answers, "answers", passing([(0.99, 0.5, 0.5), (0.99,) * 3, (0.99,) * 3, (0.99,) * 3])
    )
    claim = CLAIMS["hops_needed"]
    verdicts = {
        case.seeds: judge(claim, case, claim.measure(case)).verdict
        for case in claim.grid["full"]
        if case.hops == 1
    }
    assert verdicts == {"best": Verdict.FAILS, "median": Verdict.HOLDS}


@pytest.mark.slow
@pytest.mark.usefixtures("rules_once")
def test_the_nearest_radius_follows_the_nets(monkeypatch):
    like = {r: net_answers.by_rule("bounded", 24, 23, r) for r in (3, 6, 7, 8)}

    def of(r):
        return {d: like[r].chosen_at(d).mean for d in range(1, 21)}

    case = next(c for c in NEAREST.grid["full"] if (c.net, c.depth) == ("softmax", 2))
    for mixed, within in (([6], (5, 7)), ([3], (3, 3)), ([7, 8], (6, 9))):
        monkeypatch.setattr(
            net_answers,
            "answers",
            choosing(lambda d, mixed=mixed: sum(of(r).get(d, 1.0) for r in mixed) / len(mixed)),
        )
        found = NEAREST.measure(case)
        assert within[0] <= found.low <= found.high <= within[1]


ON, OFF = (CLAIMS[f"published_dropout_{state}"] for state in ("on", "off"))
CELL = next(case for case in ON.grid["gpu"] if (case.hops, case.depth) == (8, 3))


def with_dropout(share_on, share_off):
    """Answers of three nets that differ in what they answer with dropout left on."""
    on, off = (answered(range(17), *[[share] * 17] * 3) for share in (share_on, share_off))
    return lambda training, device, folder: replace(off, right_dropout=on.right)


def test_dropout_in_a_case_chooses_what_is_read_off_and_trains_nothing_anew(monkeypatch):
    monkeypatch.setattr(net_answers, "answers", with_dropout(0.5, 0.75))
    off = Case(**(CELL.fields() | {"dropout": False}))
    unsaid = Case(**{name: value for name, value in CELL.fields().items() if name != "dropout"})
    assert right_hops(CELL, "cpu", "") == Proportion(6000, 12000)
    assert right_hops(off, "cpu", "") == right_hops(unsaid, "cpu", "") == Proportion(9000, 12000)
    read = ("dropout", "published_error")
    within = Case(**{name: value for name, value in CELL.fields().items() if name not in read})
    assert training(CELL, 3) == training(off, 3) == training(within, 3)
    runs = (Run(ON, CELL), Run(OFF, off), Run(CLAIMS["hops_by_depth"], within))
    assert len({run.measurement for run in runs}) == 1


def test_published_claims_follow_the_answers_and_the_published_number(monkeypatch):
    for share_on, share_off, error, verdicts in (
        (0.54, 0.63, CELL.published_error, "HOLDS HOLDS"),
        (0.95, 0.40, CELL.published_error, "FAILS FAILS"),
        (0.54, 0.5436, CELL.published_error, "HOLDS UNDECIDED"),
        # The same answers beside other published numbers.
        (0.54, 0.63, "0.0100", "FAILS FAILS"),
        (0.54, 0.63, "0.9000", "FAILS HOLDS"),
    ):
        monkeypatch.setattr(net_answers, "answers", with_dropout(share_on, share_off))
        cases = (
            Case(**CELL.fields() | {"dropout": dropout, "published_error": error})
            for dropout in (True, False)
        )
        found = [
            judge(claim, case, claim.measure(case)).verdict.value
            for claim, case in zip((ON, OFF), cases, strict=True)
        ]
        assert found == verdicts.split(), (share_on, share_off, error)


def test_the_negative_controls_of_the_published_claims_train_a_small_net_and_fail():
    for claim in (ON, OFF):
        control = claim.control
        value = claim.measure(control.case)
        assert judge(claim, control.case, value, force=True).verdict is Verdict.FAILS
        # The same nets, beside what they do answer.
        right = Case(**control.case.fields() | {"published_error": f"{1 - value.mean + 0.05:.4f}"})
        assert judge(claim, right, value, force=True).verdict is Verdict.HOLDS
    assert not claim.assumes, "its control would be out of scope without being forced"


def test_the_small_experiment_is_the_published_one_in_small():
    large, small = training(CELL, 3), training(ON.control.case, 3)
    assert large.shape == gpt2(width=128, depth=3, heads=4, vocabulary=30, length=100)
    assert large.task == HopK()
    assert (large.settings.steps, large.settings.warmup, large.settings.evaluate_every) == (
        100_001,
        1000,
        10_000,
    )
    assert small.shape == replace(large.shape, width=32, mlp=128, length=10)
    assert small.settings == replace(large.settings, steps=60, warmup=10, evaluate_every=6)
    assert (small.rates, small.seeds) == (large.rates, large.seeds)


def test_nets_without_dropout_are_not_asked_with_dropout(monkeypatch):
    monkeypatch.setattr(net_answers, "answers", fake(lambda task, group: 2))
    case = Case(task="hop_k", symbols=24, alphabet=4, hops_max=4, depth=2, hops=2, dropout=True)
    with pytest.raises(ValueError, match="no dropout"):
        right_hops(case, "cpu", "")


def test_unknown_tasks_are_refused():
    with pytest.raises(ValueError, match="connectivity, induction and hop_k"):
        training(Case(task="sorting"), 1)


def test_the_page_says_how_nets_are_trained_today():
    """Pages are built without torch, from a table that was written with it."""
    written = Path(training_table.__file__).with_suffix(".csv").read_text(encoding="utf-8")
    assert [[str(cell) for cell in row] for row in training_table.trainings()] == [
        *csv.reader(written.splitlines())
    ]


def test_suite_quick_trains_no_net():
    """It holds what takes seconds: clues and look-alikes; a case that trains names a depth."""
    assert not {"depth", "tried"} & {
        name for claim in CLAIMS.values() for case in claim.cases("quick") for name in case.fields()
    }


# These two have intervals of another level, or none.
_OF_ANOTHER_LEVEL = ("published", "cycle_views")


def _most_intervals(claim: Claim, cases: Iterable[Case]) -> int:
    """At least as many different intervals of `LEVEL` as lie behind cases: for each net, one for
    each distance or number of hops that it is asked about, and one for no connection. Cases that
    differ in the seed they report read the same ones; a local baseline has some for each radius."""
    total = 0
    for fields in {tuple((k, v) for k, v in c.fields().items() if k != "seeds") for c in cases}:
        case = Case(**dict(fields))
        farthest = case.get("diameter") or case.get("hops_max") or case.get("hops")
        groups = (
            1
            if "distance" in case
            else 1 + (farthest or case.get("cycles", 1) * case.get("around", 1))
        )
        if claim.name == "local_baseline":
            groups *= 1 + case.vertices // 2
        total += case.get("nets", len(Training.seeds)) * case.get("tried", 1) * groups
    return total


def test_the_level_of_the_intervals_keeps_each_claim_within_its_false_alarms():
    """Not vacuous: a level ten times as high would break it."""
    most = {
        (key, on_gpu): _most_intervals(
            claim,
            {
                case
                for suite, listed in claim.grid.items()
                if (suite in DEVICE_OF) is on_gpu
                for case in listed
            },
        )
        for key, claim in registry().items()
        for on_gpu in (False, True)
        if claim.topic == "trained_depth"
        and claim.measured.__module__.rpartition(".")[2] not in _OF_ANOTHER_LEVEL
    }
    assert len(most) > 30
    assert LEVEL * max(most.values()) <= FALSE_ALARM_BUDGET < 10 * LEVEL * max(most.values())
