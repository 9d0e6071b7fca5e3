"""The search for the least depth: three answers per net, intervals of depths and slopes, trainings
that are stored and go on."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from trainings import answered, killed

from depthlaw.empirics.nets.net import Net, NetShape, gpt2
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.empirics.tasks.shuffled import Shuffled
from depthlaw.empirics.training import depth_search, trainer
from depthlaw.empirics.training.depth_search import BAR, Training, answers, least_depth
from depthlaw.empirics.training.evaluation import source, spot_checks
from depthlaw.empirics.training.settings import Settings
from depthlaw.theory.claims.values import Proportion

TASK = Connectivity(vertices=5, family="paths", cut=0.3, index=True)
SHAPE = NetShape(
    width=16, depth=1, norm="pre", mlp=16, features=TASK.features, outputs=TASK.outputs
)
TINY = Training(
    SHAPE,
    TASK,
    Settings(steps=12, batch=8, evaluate_every=4, validation=16),
    rates=(1e-3, 1e-2),
    seeds=(0, 1, 2),
    examples=300,
)


@pytest.fixture(scope="module")
def tiny():
    return answers.__wrapped__(TINY)


def made(*shares, trials=4000):
    """Answers of one group per share, the same for two seeds."""
    return answered(range(1, len(shares) + 1), shares, shares, trials=trials)


@pytest.mark.parametrize(
    ("shares", "passes"),
    [
        ((1.0, 0.99), True),
        ((1.0, 0.90), False),
        ((1.0, float(BAR)), None),
        ((0.90, float(BAR)), False),
        ((1.0, 1.0), True),
    ],
)
def test_a_net_passes_fails_or_the_examples_do_not_say(shares, passes):
    assert made(*shares).passes(0) is passes


def test_few_examples_say_nothing_and_one_group_can_be_asked_about():
    assert made(1.0, trials=20).passes(0) is None
    assert made(1.0, 0.5).passes(0, groups=(1,)) is True


def test_counts_of_seeds_are_added_and_missing_groups_are_named():
    assert made(1.0, 0.5).pooled(2) == Proportion(4000, 8000)
    with pytest.raises(ValueError, match="group 7"):
        made(1.0).pooled(7)
    with pytest.raises(ValueError, match="distance 3"):
        made(1.0).chosen_at(3)


three = st.sampled_from([True, False, None])


@settings(max_examples=30)
@given(
    st.lists(st.lists(three, min_size=5, max_size=5), min_size=1, max_size=4),
    st.sampled_from(["worst", "median"]),
)
def test_the_interval_of_depths_holds_whatever_the_undecided_nets_do(passes, seeds):
    found = least_depth(passes, seeds)
    open_places = [(i, j) for i, row in enumerate(passes) for j, p in enumerate(row) if p is None]
    seen = set()
    for values in itertools.islice(itertools.product([True, False], repeat=len(open_places)), 64):
        settled = [list(row) for row in passes]
        for (i, j), value in zip(open_places, values, strict=True):
            settled[i][j] = value
        enough = [sum(row) >= (5 if seeds == "worst" else 3) for row in settled]
        seen.add(enough.index(True) + 1 if True in enough else len(passes) + 1)
    assert all(found.low <= depth <= found.high for depth in seen)


def test_worst_and_median_differ_and_other_words_are_refused():
    one_fails = [[True, True, True, True, False], [True] * 5]
    assert least_depth(one_fails, "median").high == 1
    assert least_depth(one_fails, "worst").low == 2
    with pytest.raises(ValueError, match="worst and median"):
        least_depth(one_fails, "best")


def test_training_counts_what_it_says(tiny):
    assert tiny.groups == (-1, 1, 2, 3, 4)
    assert all(trials <= 300 for row in tiny.trials for trials in row)
    assert tiny.distances == (1, 2, 3)  # at distance 4 the path is whole and nothing is apart
    assert tiny.right_dropout == ()
    with pytest.raises(ValueError, match="no dropout"):
        tiny.pooled(1, dropout=True)


def test_a_killed_training_goes_on_and_ends_the_same(tmp_path, monkeypatch, tiny):
    folder, stored = str(tmp_path), tmp_path / "trainings"
    with killed(trainer.checkpoints, "write", 3):
        answers.__wrapped__(TINY, folder=folder)
    (unfinished,) = (path for path in stored.iterdir() if path.is_dir())
    assert json.loads((unfinished / "checkpoint.json").read_bytes())["step"] == 8
    assert answers.__wrapped__(TINY, folder=folder) == tiny
    (file,) = stored.iterdir()
    assert file.suffix == ".json"
    with monkeypatch.context() as patch:
        patch.setattr(depth_search, "tuned", None)
        assert answers.__wrapped__(TINY, folder=folder) == tiny
    # A damaged file is made again, and another training has another name.
    file.write_text(file.read_text().replace('"rate": 0.0', '"rate": 0.1'))
    assert answers.__wrapped__(TINY, folder=folder) == tiny
    assert answers.__wrapped__(replace(TINY, shuffled=True), folder=folder) != tiny
    assert len(list(stored.iterdir())) == 2


LONGER = replace(
    TINY, settings=replace(TINY.settings, steps=60, evaluate_every=1), seeds=(0, 1), examples=50
)
ONE_OF_TWO = """
import sys
sys.path[:0] = sys.argv[2:]
import test_depth_search as here
here.torch.set_num_threads(1)
print(here.answers(here.LONGER, folder=sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.train
def test_two_processes_at_one_training_take_turns(tmp_path):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_OF_TWO, str(tmp_path), *sys.path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    (first, error), (second, other) = (process.communicate() for process in both)
    assert (error, other) == ("", "")
    assert first == second != ""
    assert [path.suffix for path in (tmp_path / "trainings").iterdir()] == [".json"]


def test_what_is_stored_depends_on_what_is_trained_and_asked(tmp_path):
    places = {
        depth_search._place(training, "cpu", str(tmp_path))
        for training in (
            TINY,
            replace(TINY, rates=(1e-4,)),
            replace(TINY, seeds=(7,)),
            replace(TINY, examples=17),
            replace(TINY, shuffled=True),
            replace(TINY, shape=replace(TINY.shape, depth=TINY.shape.depth + 1)),
            replace(TINY, settings=replace(TINY.settings, steps=TINY.settings.steps + 1)),
        )
    }
    assert len(places) == 7
    assert depth_search._place(TINY, "cpu", str(tmp_path)) in places


def test_counting_with_dropout_asks_the_same_targets_and_leaves_the_generator_as_it_was():
    hops = HopK(symbols=8, alphabet=3, k_max=1, k_min=1, vocabulary=0)
    shape = gpt2(32, 2, 2, vocabulary=hops.vocabulary, length=hops.length, dropout=0.3)
    training = Training(shape, hops, TINY.settings, examples=300)
    net = Net(shape, replicas=3, rng=np.random.default_rng(0), std=0.3)
    before = torch.get_rng_state()
    found = depth_search._counted(net, training, slice(1, 3), "cpu")
    assert torch.equal(torch.get_rng_state(), before)
    assert found["right_dropout"] != found["right"]
    for dropout, name in ((False, "right"), (True, "right_dropout")):
        torch.manual_seed(source("dropout of spot checks", 0))
        groups, counts = spot_checks(net, hops, seed=0, graphs=300, dropout=dropout)
        right = [tuple(map(tuple, rows)) for rows in counts[:, 1:].tolist()]
        assert [groups, *right] == [found["groups"], found[name], found["trials"]]


def test_shuffled_labels_belong_to_other_examples_of_the_batch():
    task = HopK(symbols=8, alphabet=3)
    true, shuffled = (
        each.batch(torch.Generator().manual_seed(0), 2, 64) for each in (task, Shuffled(task))
    )
    for r in range(2):
        order = [row.tolist() for row in true.targets[r]]
        assert sorted(order) == sorted(row.tolist() for row in shuffled.targets[r])
        assert (true.targets[r] != shuffled.targets[r]).any()
    for name in ("kind", "length", "vocabulary", "features", "outputs"):
        assert getattr(Shuffled(task), name) == getattr(task, name)
    assert Shuffled(task).name.endswith("labels shuffled")
