"""Language models of equal size and several depths: sizes and budgets by hand, curves that are
stored and go on, and what is shown of records."""

import math

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from depthlaw.empirics.depth_width import (
    ablation,
    by_updates,
    language_models,
    predictions,
    schedules,
)
from depthlaw.empirics.depth_width.ablation import (
    COUNTED,
    DEPTHS,
    SIZES,
    case_of,
    points,
)
from depthlaw.empirics.depth_width.fixed_budgets import (
    interpolated,
    training_operations,
    width_of,
)
from depthlaw.empirics.exercises.language_model import Texts
from depthlaw.empirics.nets.net import Net
from depthlaw.empirics.tasks.text_windows import Text
from depthlaw.empirics.training import training_run
from depthlaw.theory.claims.definition import Case, Sample, find, made_in

NETS = {"parameters": 400, "heads": 2, "parametrisation": "standard", "attention": "softmax"}
TEXT = {"corpus": "-", "batch": 2, "length": 8, "vocabulary": 20}
TINY = Case(**NETS, **TEXT, steps=6, marks=3, replicas=2)


@pytest.fixture(autouse=True)
def periodic(monkeypatch):
    """A text in which each token follows from the one before, in place of a corpus."""
    task = Text(np.arange(400) % 20, 8, 20)
    for module in (language_models, schedules):
        monkeypatch.setattr(module, "texts", lambda *_: Texts(task, task))
    language_models.curves.cache_clear()
    schedules.final_losses.cache_clear()


# --- budgets --------------------------------------------------------------------------------------


def test_nets_of_one_size_differ_by_a_few_per_cent_and_are_claims_cases():
    for suite, sizes in SIZES.items():
        for size in sizes:
            case = case_of(suite, size)
            for depth in DEPTHS[suite]:
                width = width_of(size, depth, case.heads)
                assert width % case.heads == 0
                assert abs(12 * depth * width**2 / size - 1) < 0.04
    aspects = [width_of(36_000, depth, 2) / depth for depth in DEPTHS["training"]]
    assert max(aspects) / min(aspects) > 40


@pytest.mark.slow
def test_operations_are_those_that_torch_counts():
    """Of products with weights, by torch's own count of one sequence more; attention by hand."""
    shape = language_models.made(TINY, 2, [1e-3], [0]).shape
    net, counted = Net(shape), []
    for sequences in (1, 2):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            net(torch.zeros(1, sequences, 8, dtype=torch.int64))
        counted.append(counter.get_total_flops())
    pairs = sum(range(1, 9)) / 8  # tokens that a token attends to, itself included
    attention = shape.depth * pairs * 2 * (2 * shape.width)  # scores, and averages
    assert training_operations(2, shape.width, 2, 20, 8) == 3 * (
        (counted[1] - counted[0]) / 8 + attention
    )


# --- trainings ------------------------------------------------------------------------------------


def test_parametrisations_agree_at_their_base_and_differ_elsewhere():
    def recipe(name, parameters, depth):
        case = Case(**TINY.fields() | {"parametrisation": name, "parameters": parameters})
        return language_models.made(case, depth, [1e-2], [0])

    base = 12 * 2 * 32**2
    assert recipe("mup", base, 2) == recipe("completep", base, 2)
    deep = recipe("completep", base, 6)
    assert {each.branch for each in deep.shape.factors} == {1 / 3}
    assert {each.branch for each in recipe("mup", base, 6).shape.factors} == {1.0}
    (_, factor), *_ = deep.settings.rate_factors
    assert factor == 32 / deep.shape.width
    # muP's read-out shrinks by the width, GPT-2's output matrices by the depth.
    wide = recipe("mup", 4 * base, 2)
    assert math.isclose(wide.settings.std.read_out, wide.shape.width**-0.5 * 0.5**0.5)
    assert recipe("standard", base, 8).settings.std.output == 0.02 / 4


def test_the_rate_is_searched_until_the_best_is_inside():
    assert language_models.next_rates({1 / 8: 3.0, 1 / 16: 2.0, 1 / 32: 1.0}) == [1 / 64]
    assert language_models.next_rates({1 / 64: 1.5, 1 / 16: 2.0, 1 / 32: 1.0}) == []
    assert language_models.next_rates({language_models.LARGEST_RATE: 1.0, 1 / 16: 2.0}) == []
    inside = language_models.Curves(0.5, ((0.25, 2.0), (0.5, 1.0), (1.0, 3.0)), (1,), ((1.0,),))
    assert inside.bracketed == 1


def test_a_curve_is_stored_and_one_that_was_killed_goes_on(tmp_path, monkeypatch):
    here, measured = str(tmp_path / "here"), language_models.validation_losses
    whole = language_models.curves(TINY, 1, folder=str(tmp_path / "other"))
    assert whole.steps == (2, 4, 6)
    assert len(whole.losses) == 2
    assert whole.rate in [rate for rate, _ in whole.tried]

    calls = []

    def killed(*given, **options):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measured(*given, **options)

    monkeypatch.setattr(language_models, "validation_losses", killed)
    with pytest.raises(KeyboardInterrupt):
        language_models.curves(TINY, 1, folder=here)
    monkeypatch.setattr(language_models, "validation_losses", measured)
    resumed, restore = [], training_run.TrainingRun.restore
    monkeypatch.setattr(
        training_run.TrainingRun,
        "restore",
        lambda run, step, *rest: (resumed.append(step), restore(run, step, *rest))[1],
    )
    language_models.curves.cache_clear()
    assert language_models.curves(TINY, 1, folder=here) == whole
    assert resumed == [2]

    monkeypatch.delattr(training_run.TrainingRun, "advance")  # nothing is trained again
    language_models.curves.cache_clear()
    assert language_models.curves(TINY, 1, folder=here) == whole


def test_budgets_are_read_off_one_curve(tmp_path):
    folder, case = str(tmp_path), Case(**TINY.fields() | {"steps": 12, "marks": 6})
    found = language_models.curves(case, 1, folder=folder)
    last = language_models.budget_losses(case, 1, "updates", (1, 2), folder=folder)
    assert last.tolist() == [each[-1] for each in found.losses]
    cost = {
        depth: training_operations(depth, width_of(400, depth, 2), 2, 20, 8) for depth in (1, 2)
    }
    dear = max(cost, key=cost.get)
    updates = 12 * min(cost.values()) / cost[dear]
    read = language_models.budget_losses(case, dear, "operations", (1, 2), folder=folder)
    curve = language_models.curves(case, dear, folder=folder)
    assert read.tolist() == [interpolated(curve.steps, each, updates) for each in curve.losses]
    seconds = language_models.update_seconds(case, (1, 2), folder=folder)
    assert all(len(each) == language_models.ROUNDS and min(each) > 0 for each in seconds.values())
    language_models.update_seconds.cache_clear()
    assert language_models.update_seconds(case, (1, 2), folder=folder) == seconds


# --- claims and what is shown ---------------------------------------------------------------------


def test_claims_measure_differences_of_logarithms_at_one_size(monkeypatch):
    """Losses e^(-width): a gain is the difference of widths, and of sizes times the exponent."""
    monkeypatch.setattr(
        language_models,
        "budget_losses",
        lambda case, depth, *rest, **more: np.exp(
            [-width_of(case.parameters, depth, case.heads) / 1000] * case.replicas
        ),
    )
    claims = {
        each.name: each for module in (ablation, predictions) for each in made_in(module.__name__)
    }
    case = case_of("training", 36_000, depth=6, other=12)
    (gain,) = set(claims["depth_is_neutral_from_threshold"].measured(case).values)
    sizes = [12 * depth * width**2 for depth, width in ((6, 22), (12, 16))]
    assert math.isclose(
        gain, (16 - 22) / 1000 + 0.076 * math.log(sizes[0] / sizes[1]), rel_tol=1e-4
    )
    larger = claims["depth_gains_more_when_larger"].measured(
        case_of("training", 36_000, depth=6, other=12, larger=82_000)
    )
    assert set(larger.values) != {0.0}
    for budget in ("operations", "seconds"):
        equal = case_of("training", 36_000, depth=6, other=12, budget=budget)
        assert set(claims["equal_cost_gain"].measured(equal).values) == {0.0}


def test_a_rule_is_read_at_the_nearest_trained_depth_and_not_below_the_fewest():
    # (36,000 / 12 / 11.8^2)^(1/3) = 2.8 layers: nearer to 2 than to 6 in ln L.
    narrow = case_of("training", 36_000, "completep", rule="completep-least")
    assert predictions._ruled_depth(narrow) == 2
    claims = {each.name: each for each in made_in(predictions.__name__)}
    # Levine's fit asks for 0.1, 0.3 and 0.7 layers: that of the largest size alone is one.
    cases = claims["rules_cost_little"].grid["training"]
    levine = [case for case in cases if case.rule == "levine"]
    assert {case.parameters for case in levine} == {210_000}
    assert {case.other for case in levine} == {2, 3, 6, 12}
    assert len({case.rule for case in cases}) == 6


def test_points_are_the_recorded_losses_at_a_budget():
    found = {
        case_of("training", size, depth=depth, budget=budget): Sample((5.0,) * 8)
        for size in SIZES["training"]
        for depth in DEPTHS["training"]
        for budget in COUNTED
    }
    assert [len(each) for each in points(found)] == [40, 40, 40]
    updates, operations = (points(found, each)[0] for each in COUNTED)
    assert len({p.tokens for p in updates}) == 1
    spent = [p.flops for p in operations]
    assert math.isclose(max(spent), min(spent))


# --- by number of updates -------------------------------------------------------------------------


def test_rates_are_chosen_at_a_quarter_of_the_updates_by_other_seeds(monkeypatch):
    """And the schedule falls to zero over the updates of each training."""
    asked = []

    def fake(model, both, device, place):
        settings = model.settings
        asked.append((settings.steps, settings.warmup, settings.schedule, settings.seeds))
        # Best at 2^-8, for both seeds.
        return tuple(5 + abs(math.log2(rate) + 8) for rate in settings.learning_rates)

    monkeypatch.setattr(schedules, "_trained", fake)
    case = Case(**TINY.fields() | {"steps": 400})
    found = schedules.final_losses(case, 2)
    assert found.rate == 2.0**-8
    assert found.losses == (5.0, 5.0)
    assert asked == [(100, 10, "linear", (1000, 1001) * 3), (400, 40, "linear", (0, 1))]


def test_losses_are_stored_and_read(tmp_path, monkeypatch):
    found = schedules.final_losses(TINY, 2, folder=str(tmp_path))
    assert all(math.isfinite(loss) for loss in found.losses)
    monkeypatch.setattr(schedules, "train", None)
    schedules.final_losses.cache_clear()
    assert schedules.final_losses(TINY, 2, folder=str(tmp_path)) == found


@pytest.mark.parametrize("readout", [True, False])
def test_equal_operations_are_read_between_trainings(monkeypatch, readout):
    """Losses that fall as updates^-1: the net with dearer updates has the larger loss by as much as
    they cost more."""

    def losses(case, depth, steps, device, folder):
        return schedules.FinalLosses(1.0, (), (1000 / steps, 2000 / steps))

    monkeypatch.setattr(by_updates, "_final", losses)
    claim = find("depth_width/depth_gains_at_equal_operations")
    case = by_updates._net(4_000, depth=1, other=12, readout=readout)
    costs = [
        training_operations(L, width_of(82_000, L, 2), 2, 2000, 64)
        - (0 if readout else 6 * 2000 * width_of(82_000, L, 2))
        for L in (1, 12)
    ]
    off = by_updates.off_size(case, 1) - by_updates.off_size(case, 12)
    expected = math.log(costs[0] / costs[1]) + off
    assert claim.measure(case).values == pytest.approx((expected,) * 2, abs=1e-5)
