"""Trainings that are declared, `.ci/train_declared.py`: what is chosen on which windows, and that
another checkout goes on from what is committed."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from depthlaw.empirics.depth_width import language_models
from depthlaw.empirics.depth_width.fixed_budgets import weights_in_all, width_of
from depthlaw.empirics.exercises.language_model import Texts
from depthlaw.empirics.tasks.text_windows import Text
from depthlaw.empirics.trained_depth import wall, wall_nets
from depthlaw.empirics.training import trainer
from depthlaw.empirics.training.training_run import TrainingRun

SCRIPT = Path(__file__).parents[2] / ".ci/train_declared.py"


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script with a short text in place of the corpus, and no recordings."""
    spec = importlib.util.spec_from_file_location("train_declared", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "train_declared", module)
    spec.loader.exec_module(module)
    draw = np.random.default_rng(0)
    both = Texts(*(Text(draw.integers(0, 2000, 66 * 64), 64, 2000) for _ in range(2)))
    monkeypatch.setattr(language_models, "_texts", lambda *_: both)
    for where, name in ((trainer, "TrainingRun"), (wall_nets, "alone"), (language_models, "alone")):
        monkeypatch.setattr(where, name, getattr(where, name))  # restored after the test
    (tmp_path / "recordings").mkdir()
    monkeypatch.setattr(module, "RECORDINGS", tmp_path / "recordings")
    return module


class _Stopped(Exception):
    pass


def _counted(monkeypatch: pytest.MonkeyPatch, last: int = 10**9) -> list[int]:
    """The updates that are made from now on; stops before one later than the last."""
    made: list[int] = []
    advance = TrainingRun.advance

    def counted(run: TrainingRun) -> None:
        if run.step >= last:
            raise _Stopped
        advance(run)
        made.append(run.step)

    monkeypatch.setattr(TrainingRun, "advance", counted)
    return made


def test_another_checkout_goes_on_from_what_is_committed(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = declared.language_model(2, 4, 8, 2.0**-7, (3, 4))
    expected = declared.window_losses(model, tmp_path / "whole")
    assert expected.shape == (2, 65)
    (name,) = (path.name for path in (tmp_path / "whole/trainings").iterdir() if path.is_dir())
    monkeypatch.setattr(declared, "possible", lambda _: {name})
    with monkeypatch.context() as patch:
        _counted(patch, last=5)
        with pytest.raises(_Stopped):
            declared.window_losses(model, tmp_path / "one")
    assert declared.keep(tmp_path / "one", declared.RECORDINGS) == [name]
    assert declared.keep(tmp_path / "one", declared.RECORDINGS) == [], "no further than there"
    declared.fetch(declared.RECORDINGS, tmp_path / "other")
    with monkeypatch.context() as patch:
        made = _counted(patch)
        assert torch.equal(declared.window_losses(model, tmp_path / "other"), expected)
        assert made == [6, 7, 8]
        # The control: another rate is another training.
        declared.window_losses(
            declared.language_model(2, 4, 8, 2.0**-8, (3, 4)), tmp_path / "other"
        )
        assert made == [6, 7, 8, *range(1, 9)]
    # What is done takes the place of the state, is read, and is not replaced by a state.
    assert declared.keep(tmp_path / "other", declared.RECORDINGS) == [name]
    assert not (declared.RECORDINGS / name / "training").exists()
    assert declared.keep(tmp_path / "one", declared.RECORDINGS) == []
    declared.fetch(declared.RECORDINGS, tmp_path / "third")
    made = _counted(monkeypatch)
    assert torch.equal(declared.window_losses(model, tmp_path / "third"), expected)
    assert made == []


def test_a_large_state_is_left_out(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = tmp_path / "cache/trainings/x/training"
    begun.mkdir(parents=True)
    (begun / "checkpoint.json").write_text('{"step": 1}')
    (begun / "state-1.safetensors").write_bytes(bytes(100))
    monkeypatch.setattr(declared, "possible", lambda _: {"x"})
    for largest, copied in ((99, []), (1_000, ["x"])):
        monkeypatch.setattr(declared, "LARGEST", largest)
        assert declared.keep(tmp_path / "cache", declared.RECORDINGS) == copied


def test_the_rate_is_chosen_on_windows_that_are_not_reported_on(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One rate is better on the reported windows by far, the other on all others by little."""
    ours = declared.reported(2102)
    both = language_models._texts(None, "")  # type: ignore[arg-type]
    asked, every = both.validation.windows(64), both.validation.windows(10**9)
    assert torch.equal(every.inputs[:, declared.reported(65)], asked.inputs)
    assert int(ours.sum()) == 64

    def losses(model: Any, _: Path) -> torch.Tensor:
        assert model.settings.seeds == language_models.TUNING_SEEDS
        better = model.settings.learning_rates[0] == 2.0**-7
        return torch.where(ours, 9.0 if better else 1.0, 3.9 if better else 4.0).expand(2, -1)

    monkeypatch.setattr(declared, "window_losses", losses)
    assert declared.chosen(12, 24, 18_000, declared.RATES[12], tmp_path) == 2.0**-7


@pytest.mark.parametrize("rate", [2.0**-7, 2.0**-6])
def test_losses_are_recorded_ones_where_the_rate_is(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rate: float
) -> None:
    monkeypatch.setattr(declared, "recorded", lambda *_: (2.0**-6, torch.ones(8)))
    monkeypatch.setattr(declared, "chosen", lambda *_: rate)
    monkeypatch.setattr(declared, "losses_at", lambda *_: torch.zeros(8))
    assert bool(declared.at_its_best(12, tmp_path).all()) is (rate == 2.0**-6)


def test_reading_trains_nothing(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(declared, "recorded", lambda *_: (2.0**-6, torch.ones(8)))
    made = _counted(monkeypatch)
    assert declared.main("read", tmp_path, []) == 1
    assert capsys.readouterr().out.count("not trained yet") == len(declared.PARTS)
    assert made == []


def test_what_is_declared_is_what_it_says(declared: Any) -> None:
    """Seeds of choices and reports differ, whole nets are of equal size, and what can be named is
    what can be trained."""
    assert not set(declared.SEEDS) & set(language_models.TUNING_SEEDS)
    assert declared.TRIAL_SEED not in declared.CYCLE_SEEDS
    sizes = {
        layers: weights_in_all(layers, width, 2000, 64) for layers, width in declared.WHOLE.items()
    }
    assert max(sizes.values()) < 1.01 * min(sizes.values())
    assert declared.WHOLE[3] == width_of(82_000, 3, heads=2)
    assert sizes[3] > 1.5 * weights_in_all(12, width_of(82_000, 12, heads=2), 2000, 64)
    # Rates and shapes with five pairs of seeds each; of both attentions two layers from four seeds
    # for either number of updates, and three layers from four.
    assert len(declared.possible(Path())) == (9 + 12) * 5 + 2 * (2 * 4 + 4)
    far = declared.LONGER["FAR"]
    assert far == declared.AROUND // 2
    assert all(cycles[0] // 2 >= far for cycles in declared.LONGER["GRAPHS"])
    assert {sum(cycles) for cycles in declared.LONGER["GRAPHS"]} == {2 * declared.AROUND}


def test_other_distances_are_asked_and_then_the_usual_ones(
    declared: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case = declared._on_cycles("linearised", 1, declared.AROUND, 2)
    monkeypatch.setattr(wall_nets, "asked", partial(wall_nets.asked, graphs=16))
    with declared.asking(**declared.LONGER):
        found = declared.shares(case, 0, tmp_path)
    assert list(found) == list(range(1, 16))
    assert {share.trials for share in found.values()} == {3 * 16}
    assert tuple(range(1, wall.FARTHEST + 1)) == wall_nets.DISTANCES
    assert wall_nets.GRAPHS[0] == (20, 20)
