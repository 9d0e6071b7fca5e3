"""Replicas trained together against single nets trained alone, and what becomes of those that
diverge, succeed, or are killed."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from depthlaw.empirics.nets.net import Net, NetShape
from depthlaw.empirics.tasks import Batch
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.training import training_run
from depthlaw.empirics.training.adamw import schedule_factor
from depthlaw.empirics.training.checkpoints import CheckpointError
from depthlaw.empirics.training.evaluation import draw, source, spot_checks
from depthlaw.empirics.training.trainer import Settings, train, tuned
from depthlaw.empirics.training.training_run import TrainingRun, losses
from depthlaw.theory.claims.values import Proportion

pytestmark = pytest.mark.train
U = 2.0**-53


@dataclass(frozen=True)
class Recall:
    """One token; the answer is its letter, or, with shuffled labels, another draw."""

    shuffled: bool = False
    name: str = "recall"
    kind: str = "classes"
    length: int = 1
    vocabulary: int = 8
    features: int = 0
    outputs: int = 8

    def batch(self, generator, replicas, size):
        ids, coins = torch.randint(0, self.outputs, (2, replicas, size, 1), generator=generator)
        everywhere = torch.ones_like(ids, dtype=torch.bool)
        return Batch(ids, coins if self.shuffled else ids, everywhere, torch.zeros_like(ids))


RECALL = NetShape(width=8, depth=1, vocabulary=8, outputs=8)
GRAPHS = Connectivity(vertices=4)
PAIRS = NetShape(width=6, depth=2, features=GRAPHS.features, outputs=GRAPHS.outputs)
WILD = replace(PAIRS, attention="linearised")
REPLICAS = {"learning_rates": (1e-2, 3e-2, 1e-2), "seeds": (3, 3, 8), "std": 0.3}
PATH = {"steps": 12, "warmup": 3, "schedule": "cosine", "clip": 0.5}
SMALL = Settings(**REPLICAS, **PATH, batch=4, drawn=5, evaluate_every=4, validation=8)


def weights(trained):
    return weights_of(trained.net)


def weights_of(net):
    return torch.cat([p.detach().flatten(1) for p in net.parameters()], dim=1)


class Killed(Exception):
    pass


# --- together as alone ----------------------------------------------------------------------------


def alone(shape, task, settings, r):
    """One replica as one trains a single net: torch's optimiser, clipping and losses, step by
    step."""
    rate, seed, size = settings.learning_rates[r], settings.seeds[r], settings.batch
    drawn = [np.random.default_rng(source("weights", seed))]
    net = Net(shape, rng=drawn, std=settings.std, dtype=settings.dtype)
    constants = {"eps": settings.epsilon, "weight_decay": settings.weight_decay}
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, **constants)
    path = {name: getattr(settings, name) for name in ("steps", "warmup", "schedule")}
    for step in range(settings.steps):
        block, index = divmod(step, settings.drawn)
        batch = draw(task, [seed], size * settings.drawn, "cpu", "training", block)
        rows = (0, slice(index * size, (index + 1) * size))
        inputs, targets, learned = batch.inputs[rows], batch.targets[rows], batch.learned[rows]
        optimiser.param_groups[0]["lr"] = rate * schedule_factor(step, **path)
        optimiser.zero_grad()
        logits = net((inputs if shape.vocabulary else inputs.to(settings.dtype))[None])[0][learned]
        targets = targets[learned]
        loss = (
            functional.cross_entropy(logits, targets)
            if task.kind == "classes"
            else functional.binary_cross_entropy_with_logits(logits, targets.to(settings.dtype))
        )
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), settings.clip)
        optimiser.step()
    return weights_of(net)[0]


# A gradient of at most 1 is wrong by fewer than 2^10 roundings; Adam divides it by at least
# epsilon; the factor 2^6 is for the weights' errors, which come back through the gradients of the
# 12 steps.
ALONE = replace(SMALL, precision="float64", epsilon=1e-3, clip=0.05)
BOUND = 2**6 * ALONE.steps * max(ALONE.learning_rates) * 2**10 * U / ALONE.epsilon


# Gradients that are clipped at some steps.
OTHER = {"schedule": "linear", "weight_decay": 0.0, "clip": 0.9}


@pytest.mark.parametrize(
    ("shape", "task", "settings"),
    [(PAIRS, GRAPHS, ALONE), (RECALL, Recall(), replace(ALONE, **OTHER))],
    ids=["pairs", "classes"],
)
def test_a_replica_trains_as_it_would_alone_with_torchs_optimiser(shape, task, settings):
    together = weights(train(shape, task, settings))
    for r in range(3):
        assert (together[r] - alone(shape, task, settings, r)).abs().max() <= BOUND


def test_another_constant_is_noticed():
    right = alone(PAIRS, GRAPHS, ALONE, 0)
    for wrong in (
        {"epsilon": 1.01e-3},
        {"weight_decay": 0.011},
        {"clip": 0.051},
        {"warmup": 4},
        {"betas": (0.9, 0.99)},
        {"learning_rates": (1.0001e-2,) * 3},
    ):
        together = weights(train(PAIRS, GRAPHS, replace(ALONE, **wrong)))
        assert (together[0] - right).abs().max() > BOUND, wrong


@pytest.mark.parametrize("size", [1, 2])
def test_replicas_that_pass_in_groups_train_as_all_at_once(monkeypatch, size):
    whole = train(PAIRS, GRAPHS, ALONE)
    monkeypatch.setattr(
        training_run, "CACHED", size * ALONE.batch * GRAPHS.length * PAIRS.width * 8
    )
    groups = TrainingRun(PAIRS, GRAPHS, ALONE, torch.device("cpu")).groups
    assert [rows for rows, *_ in groups] == [
        slice(first, min(3, first + size)) for first in range(0, 3, size)
    ]
    assert (weights(train(PAIRS, GRAPHS, ALONE)) - weights(whole)).abs().max() <= BOUND


def test_each_loss_is_the_mean_over_what_is_learned():
    logits = torch.tensor(
        [[[[0.0, 0.0], [9.0, 0.0]]], [[[0.0, 1.0], [0.0, 1.0]]]], dtype=torch.float64
    )
    targets = torch.tensor([[[0, 1]], [[1, 1]]])
    found = losses(logits, targets, torch.tensor([[[1.0, 0.0]], [[0.5, 0.5]]], dtype=torch.float64))
    assert abs(found[0] - math.log(2)) <= 4 * U
    assert abs(found[1] - math.log(1 + math.exp(-1))) <= 8 * U


# --- divergence and success -------------------------------------------------------------------


def test_a_replica_that_diverges_leaves_the_others_bit_for_bit():
    settings = replace(SMALL, weight_decay=0.0, warmup=0, seeds=(3, 4, 8))
    calm = replace(settings, learning_rates=(1e-2, 1e-3, 1e-2))
    settings = replace(settings, learning_rates=(1e-2, 1e6, 1e-2))
    disturbed, undisturbed = train(WILD, GRAPHS, settings), train(WILD, GRAPHS, calm)
    assert disturbed.status == ("not converged", "diverged", "not converged")
    assert disturbed.steps[1] < disturbed.steps[0] == settings.steps
    assert torch.equal(weights(disturbed)[[0, 2]], weights(undisturbed)[[0, 2]])
    assert weights(disturbed).isfinite().all()
    assert disturbed.history[-1].loss[1] is None
    # Its weights are those before the step that was not finite.
    settings = replace(settings, schedule="constant")
    shorter = train(WILD, GRAPHS, replace(settings, steps=disturbed.steps[1]))
    longer = train(WILD, GRAPHS, settings)
    assert longer.steps[1] == shorter.steps[1]
    assert torch.equal(weights(longer)[1], weights(shorter)[1])


def test_a_run_in_which_all_diverge_ends():
    settings = replace(SMALL, learning_rates=(1e6,) * 3, weight_decay=0.0, warmup=0, steps=10_000)
    trained = train(WILD, GRAPHS, settings)
    assert trained.status == ("diverged",) * 3
    assert trained.throughput.steps < settings.steps


GOALS = {"learning_rates": (0.05, 0.05, 1e-6), "seeds": (0, 1, 2), "std": 0.3, "success": 0.99}
LEARN = Settings(**GOALS, steps=60, batch=16, evaluate_every=10, validation=64)


def test_replicas_stop_when_they_succeed_twice_in_a_row():
    trained = train(RECALL, Recall(), LEARN)
    assert trained.status == ("success", "success", "not converged")
    assert trained.steps[2] == LEARN.steps
    for r in range(2):
        good = [entry.step for entry in trained.history if entry.accuracy[r] >= 0.99]
        first = next(step for step in good if step + 10 in good)
        assert trained.steps[r] == first + 10 < LEARN.steps
        assert trained.history[-1].loss[r] is None
    ended = train(RECALL, Recall(), replace(LEARN, learning_rates=(0.05, 0.05), seeds=(0, 1)))
    assert ended.throughput.steps == max(trained.steps[:2])


def test_frozen_parameters_stay_and_a_factor_is_another_rate():
    settings = replace(LEARN, success=None, steps=3, clip=0.0, weight_decay=0.1)
    start = TrainingRun(RECALL, Recall(), settings, torch.device("cpu")).net.state_dict()
    frozen = train(RECALL, Recall(), replace(settings, rate_factors=(("*", 0), ("output.*", 1))))
    moved = {name for name, p in frozen.net.named_parameters() if not torch.equal(p, start[name])}
    assert moved == {name for name in start if name.startswith("output.")} != set()
    half = train(RECALL, Recall(), replace(settings, rate_factors=(("*", 0.5),)))
    rates = tuple(rate / 2 for rate in settings.learning_rates)
    other = train(RECALL, Recall(), replace(settings, learning_rates=rates))
    whole = train(RECALL, Recall(), settings)
    assert torch.allclose(weights(half), weights(other), rtol=1e-5, atol=1e-7)
    assert not torch.allclose(weights(half), weights(whole), rtol=1e-3, atol=1e-5)


def test_clipping_does_not_see_what_is_frozen():
    factors = (("*", 0), ("read_out", 1))
    settings = replace(LEARN, success=None, steps=1, clip=1e-3, rate_factors=factors)
    run = TrainingRun(RECALL, Recall(), settings, torch.device("cpu"))
    run.advance()
    assert torch.allclose(run.gradient.norm(dim=1), torch.tensor(1e-3), rtol=1e-2)
    assert (run.gradient != 0).sum() <= run.net.read_out.numel()


def test_the_rate_is_chosen_by_the_median_over_seeds():
    settings = replace(LEARN, success=None)
    choice = tuned(RECALL, Recall(), settings, rates=(1e-6, 0.05, 1e-5), seeds=(0, 1, 2))
    assert choice.rate == 0.05
    assert choice.accuracy.shape == (3, 3)
    assert (choice.accuracy[1] == 1).all()
    assert np.median(choice.accuracy[0]) < 1
    assert choice.trained.net.replicas == 9
    equal = tuned(RECALL, Recall(), replace(settings, steps=1), (2e-12, 1e-12), seeds=(0,))
    assert equal.rate == 1e-12
    settings = replace(SMALL, weight_decay=0.0, warmup=0)
    wild = tuned(WILD, GRAPHS, settings, rates=(1e6, 1e-2), seeds=(0, 1, 2))
    assert wild.rate == 1e-2
    assert (wild.accuracy[0] == 0).all()


# --- killed and resumed ---------------------------------------------------------------------------


def same(resumed, undisturbed):
    """Whether weights and news agree in every bit."""
    return torch.equal(weights(resumed), weights(undisturbed)) and all(
        getattr(resumed, name) == getattr(undisturbed, name)
        for name in ("history", "steps", "status")
    )


def norms(net):
    return [float(row.norm()) for row in weights_of(net)]


def test_killed_at_any_step_and_resumed_it_ends_with_the_same_bits(tmp_path, monkeypatch):
    shape = replace(PAIRS, dropout=0.2)
    undisturbed, advance = train(shape, GRAPHS, SMALL, measure=norms), TrainingRun.advance
    for step in (1, 3, 4, 5, 8, 12):
        folder = tmp_path / str(step)

        def killed(self, step=step):
            advance(self)
            if self.step == step:
                raise Killed

        monkeypatch.setattr(TrainingRun, "advance", killed)
        with pytest.raises(Killed):
            train(shape, GRAPHS, SMALL, folder=folder, checkpoint_every=3, measure=norms)
        monkeypatch.setattr(TrainingRun, "advance", advance)
        resumed = train(shape, GRAPHS, SMALL, folder=folder, checkpoint_every=3, measure=norms)
        assert same(resumed, undisturbed)
        assert resumed.history[-1].measured == tuple(norms(resumed.net))
        # Nothing is trained again before the last checkpoint.
        assert resumed.throughput.steps == SMALL.steps - max(0, 3 * ((step - 1) // 3))


def test_killed_when_the_first_has_succeeded_it_ends_with_the_same_bits(tmp_path):
    undisturbed = train(RECALL, Recall(), LEARN)

    def killed(at):
        if at.step >= undisturbed.steps[0]:
            raise Killed

    with pytest.raises(Killed):
        train(RECALL, Recall(), LEARN, folder=tmp_path, progress=killed)
    assert same(train(RECALL, Recall(), LEARN, folder=tmp_path), undisturbed)


def test_a_finished_run_is_not_trained_again(tmp_path):
    first, second = (train(PAIRS, GRAPHS, SMALL, folder=tmp_path) for _ in range(2))
    assert (first.throughput.steps, second.throughput.steps) == (SMALL.steps, 0)
    assert same(first, second)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    one = replace(SMALL, steps=1)
    train(PAIRS, GRAPHS, one, folder=tmp_path)
    for shape, task, settings in (
        (PAIRS, GRAPHS, SMALL),
        (PAIRS, replace(GRAPHS, cut=0.5), one),
        (replace(PAIRS, depth=1), GRAPHS, one),
    ):
        with pytest.raises(CheckpointError, match="belongs to a run with another"):
            train(shape, task, settings, folder=tmp_path)


# --- around it ------------------------------------------------------------------------------------


def test_progress_says_how_far_how_fast_and_how_long():
    said = []
    train(PAIRS, GRAPHS, SMALL, progress=said.append)
    assert [at.step for at in said] == [0, 4, 5, 8, 10, 12]
    assert said[0].eta == math.inf
    assert said[-1].eta == 0
    for at in said[1:]:
        assert at.steps_per_second > 0
        assert at.examples_per_second == pytest.approx(
            at.steps_per_second * 3 * SMALL.batch, rel=8 * U
        )
        assert at.eta == pytest.approx((SMALL.steps - at.step) / at.steps_per_second, rel=8 * U)
    assert said[-1].last.step == 12


def test_the_loss_of_an_evaluation_is_the_mean_since_the_last_one():
    (once,) = train(PAIRS, GRAPHS, replace(SMALL, steps=4)).history
    often = train(PAIRS, GRAPHS, replace(SMALL, steps=4, evaluate_every=1)).history
    assert once.loss == pytest.approx(np.mean([each.loss for each in often], axis=0))


def test_torchs_global_generator_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    dropped = train(replace(PAIRS, dropout=0.5), GRAPHS, SMALL)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(weights(dropped), weights(train(replace(PAIRS, dropout=0.5), GRAPHS, SMALL)))
    assert not torch.equal(weights(dropped), weights(train(PAIRS, GRAPHS, SMALL)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps=0: at least 1"),
        ({"seeds": (1,)}, "one of each per replica"),
        ({"learning_rates": (1e-2, float("nan"), 1.0)}, "between 0 and 1e6"),
        ({"learning_rates": (1e-2, 1e3, 1.0)}, "at most 1/rate"),
        ({"weight_decay": -1.0}, "weight decay"),
        ({"betas": (0.9, 1.0)}, "betas lie in"),
        ({"clip": -1.0}, "clip at least 0"),
        ({"schedule": "step"}, "accepted are constant, linear, cosine"),
        ({"rate_factors": (("*", -1.0),)}, "at least 0"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **options)


@pytest.mark.parametrize(
    ("shape", "settings", "message"),
    [
        (RECALL, SMALL, "make the shape's equal to the task's"),
        (replace(PAIRS, outputs=3), SMALL, "set outputs=4"),
        (PAIRS, replace(SMALL, rate_factors=(("qvk.*", 0.5),)), r"'qvk\.\*' matches no parameter"),
        (PAIRS, replace(SMALL, precision="bf16"), "need a CUDA device"),
        (PAIRS, replace(SMALL, graphed=True), "need a CUDA device"),
    ],
)
def test_what_does_not_fit_is_refused(shape, settings, message):
    with pytest.raises(ValueError, match=message) as error:
        train(shape, GRAPHS, settings)
    assert "\n" not in str(error.value)


def test_shuffled_labels_give_chance_and_true_ones_do_not():
    settings = replace(LEARN, learning_rates=(0.05,) * 3, success=None, steps=60)
    shape = replace(RECALL, vocabulary=2, outputs=2)
    shuffled, true = (Recall(shuffled=each, vocabulary=2, outputs=2) for each in (True, False))
    (_, chance), (_, learned) = (
        spot_checks(train(shape, task, settings).net, task, seed=7, graphs=1000)
        for task in (shuffled, true)
    )
    for r in range(3):
        # Level 1 - 1e-6 each: a false alarm in 300,000 changes of the seeds.
        low, high = Proportion(*chance[:, r, 0].tolist()).interval(1e-6)
        assert low <= 0.5 <= high
        assert high - low < 0.2
        assert Proportion(*learned[:, r, 0].tolist()).interval(1e-6)[0] > 0.9
