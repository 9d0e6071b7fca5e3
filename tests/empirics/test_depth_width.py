"""Language models of equal size and several depths: sizes and operations by hand, losses that are
stored, and what is made of records."""

import math

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from depthlaw.empirics.depth_width import by_updates, language_models
from depthlaw.empirics.depth_width.by_updates import points
from depthlaw.empirics.depth_width.fixed_budgets import training_operations, width_of
from depthlaw.empirics.exercises.language_model import Texts
from depthlaw.empirics.nets.net import Net
from depthlaw.empirics.tasks.text_windows import Text
from depthlaw.theory.claims.definition import Case, Sample, find

NETS = {"parameters": 400, "heads": 2, "attention": "softmax"}
TEXT = {"corpus": "-", "batch": 2, "length": 8, "vocabulary": 20}
TINY = Case(**NETS, **TEXT, steps=6, replicas=2)


@pytest.fixture(autouse=True)
def periodic(monkeypatch):
    """A text in which each token follows from the one before, in place of a corpus."""
    task = Text(np.arange(400) % 20, 8, 20)
    monkeypatch.setattr(language_models, "texts", lambda *_: Texts(task, task))
    language_models.final_losses.cache_clear()


# --- budgets --------------------------------------------------------------------------------------


def test_nets_of_one_size_differ_by_a_few_per_cent_and_are_claims_cases():
    claim = find("depth_width/losses_by_updates")
    for case in claim.every_case:
        width = width_of(case.parameters, case.depth, case.heads)
        assert width % case.heads == 0
        assert abs(12 * case.depth * width**2 / case.parameters - 1) < 0.06


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


def test_the_rate_is_searched_until_the_best_is_inside():
    assert language_models.next_rates({1 / 8: 3.0, 1 / 16: 2.0, 1 / 32: 1.0}) == [1 / 64]
    assert language_models.next_rates({1 / 64: 1.5, 1 / 16: 2.0, 1 / 32: 1.0}) == []
    assert language_models.next_rates({language_models.LARGEST_RATE: 1.0, 1 / 16: 2.0}) == []


@pytest.mark.parametrize(("updates", "tried"), [(1_000, 1_000), (4_000, 1_000), (18_000, 4_500)])
def test_rates_are_chosen_by_other_seeds_at_a_quarter_of_many_updates(monkeypatch, updates, tried):
    """And the schedule falls to zero over the updates of each training."""
    asked = []

    def fake(model, both, device, place):
        settings = model.settings
        asked.append((settings.steps, settings.warmup, settings.schedule, settings.seeds))
        # Best at 2^-8, for both seeds.
        return tuple(5 + abs(math.log2(rate) + 8) for rate in settings.learning_rates)

    monkeypatch.setattr(language_models, "_trained", fake)
    case = Case(**TINY.fields() | {"steps": updates})
    found = language_models.final_losses(case, 2)
    assert found.rate == 2.0**-8
    assert found.losses == (5.0, 5.0)
    assert asked == [
        (tried, tried // 10, "linear", (1000, 1001) * 3),
        (updates, updates // 10, "linear", (0, 1)),
    ]


def test_losses_are_stored_and_read(tmp_path, monkeypatch):
    found = language_models.final_losses(TINY, 2, folder=str(tmp_path))
    assert all(math.isfinite(loss) for loss in found.losses)
    monkeypatch.setattr(language_models, "train", None)
    language_models.final_losses.cache_clear()
    assert language_models.final_losses(TINY, 2, folder=str(tmp_path)) == found


# --- claims and what is shown ---------------------------------------------------------------------


def test_claims_measure_differences_of_logarithms_at_one_size(monkeypatch):
    """Losses e^(-width): a gain is the difference of widths, and of sizes times the exponent."""

    def losses(case, depth, steps, device, folder):
        width = width_of(case.parameters, depth, case.heads)
        return language_models.FinalLosses(2.0**-8, (), (math.exp(-width / 1000),) * 2)

    monkeypatch.setattr(by_updates, "_final", losses)
    case = by_updates._net(300, parameters=36_000, depth=6, other=12, larger=82_000)
    (gain,) = set(find("depth_width/depth_gains_by_updates").measured(case).values)
    sizes = [12 * depth * width**2 for depth, width in ((6, 22), (12, 16))]
    assert math.isclose(
        gain, (16 - 22) / 1000 + 0.076 * math.log(sizes[0] / sizes[1]), rel_tol=1e-4
    )
    larger = find("depth_width/depth_gains_more_when_larger").measured(case)
    assert set(larger.values) != {0.0}
    assert find("depth_width/chosen_rate").measured(case).value == -8


def test_points_are_the_recorded_losses_of_each_size_and_number_of_updates():
    claim = find("depth_width/losses_by_updates")
    found = {case: Sample((5.0,) * 8) for case in claim.cases("long")}
    by_budget = points(found)
    assert {key: len(there) for key, there in by_budget.items()} == {
        **{(82_000, steps): 48 for steps in (300, 1_000, 4_000)},
        (82_000, 18_000): 32,
        **{(size, 300): 32 for size in (36_000, 210_000)},
    }
    assert {p.tokens for p in by_budget[82_000, 300]} == {300 * 8 * 64}


@pytest.mark.parametrize("readout", [True, False])
def test_equal_operations_are_read_between_trainings(monkeypatch, readout):
    """Losses that fall as updates^-1: the net with dearer updates has the larger loss by as much as
    they cost more."""

    def losses(case, depth, steps, device, folder):
        return language_models.FinalLosses(1.0, (), (1000 / steps, 2000 / steps))

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
