"""Teachers and students of known separation rank: values, training, resuming, enclosed errors."""

import shutil
from fractions import Fraction

import numpy as np
import pytest
import torch
from trainings import killed

from depthlaw.empirics.trained_rank import floors, many_starts, students, teachers
from depthlaw.empirics.trained_rank.students import StudentRecipe, enclosed_error, outputs, trained
from depthlaw.empirics.trained_rank.teachers import Teacher
from depthlaw.empirics.training import checkpoints
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.separation_rank.dimension_count import dimension_count
from depthlaw.theory.separation_rank.error_floor import rank_bound
from depthlaw.theory.separation_rank.linear_attention import forward
from depthlaw.theory.separation_rank.value_rank import rank_mod

SMALL = Teacher(width=2, depth=2, vocabulary=6, tokens=1, rows=6, columns=6)
RECIPE = StudentRecipe(SMALL, width=2, depth=2, seeds=(0, 1), rates=(0.05, 0.1), steps=12, marks=4)


def test_values_are_those_of_the_net_token_by_token():
    teacher = Teacher(width=3, depth=2, vocabulary=5, rows=3, columns=2)
    net, table = teachers.net(teacher), teachers.embedding(teacher)
    left, right = teachers.grid(teacher)
    for r, a in enumerate(left):
        for c, b in enumerate(right):
            assert teachers.values(teacher)[r, c] == forward(net, table[np.r_[a, b]])
    assert np.mean(teachers.targets(teacher) ** 2) == pytest.approx(1)
    larger = teachers.values(Teacher(width=3, depth=2, vocabulary=5, rows=4, columns=3))
    assert (larger[:3, :2] == teachers.values(teacher)).all()


def test_a_teacher_has_the_rank_of_its_count_on_a_grid_with_room():
    teacher = Teacher(width=2, depth=2, rows=24, columns=24)
    assert rank_mod(teachers.values(teacher)) == dimension_count(2, 2) == 18
    one_token = Teacher(2, 2, tokens=1, rows=24, columns=24)
    assert rank_mod(teachers.values(one_token)) == 15


@pytest.mark.parametrize("attention", ["linearised", "softmax"])
@pytest.mark.parametrize(("depth", "tokens"), [(1, 1), (2, 2), (3, 1), (3, 2)])
def test_outputs_are_those_of_the_net(attention, depth, tokens):
    teacher = Teacher(width=2, depth=1, vocabulary=5, tokens=tokens, rows=4, columns=3)
    recipe = StudentRecipe(teacher, width=3, depth=depth, attention=attention, seeds=(0, 1))
    net = students._initial(recipe)
    left, right = (torch.from_numpy(ids) for ids in teachers.grid(teacher))
    cells = torch.stack([torch.cat((a, b)) for a in left for b in right])[None]
    expected = net(cells)[:, :, 0, 0].view(2, 4, 3)
    assert torch.allclose(outputs(net, left, right), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("attention", ["linearised", "softmax"])
def test_students_learn_and_their_errors_are_their_values(attention):
    found = trained(
        StudentRecipe(SMALL, 3, 1, attention, seeds=(0, 1), rates=(0.1,), steps=60, marks=3)
    )
    assert (found.errors < 0.6 * found.history[0]).all()
    target = teachers.targets(SMALL)
    for step, errors in found.curve:
        again = [np.linalg.norm(v - target) / np.linalg.norm(target) for v in found.values(step)]
        assert errors == pytest.approx(again, rel=1e-9)
    with pytest.raises(ValueError, match="not marked"):
        found.weights(59)


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path):
    whole = trained(RECIPE)
    with killed(checkpoints, "write", 5):
        trained(RECIPE, folder=str(tmp_path))
    resumed = trained(RECIPE, folder=str(tmp_path))
    assert torch.equal(resumed.snapshots, whole.snapshots)
    assert (resumed.history == whole.history).all()
    students.trained.cache_clear()
    assert (trained(RECIPE, folder=str(tmp_path)).history == whole.history).all()


@pytest.mark.parametrize("loose", [1e-5, 0.0])
def test_the_enclosed_error_holds_the_exact_one(loose, monkeypatch):
    """The exact error by rational arithmetic, from the weights as they are."""
    monkeypatch.setattr(students, "_LOOSE", loose)
    found = trained(RECIPE)
    ball, weights = enclosed_error(found, 1), found.weights()
    exact = {
        name: np.vectorize(Fraction, otypes=[object])(value[1]) for name, value in weights.items()
    }
    net = type(teachers.net(SMALL))(
        exact["query"], exact["key"], exact["value"], exact["output"], prime=None
    )
    values = [
        sum(
            w * forward(net, exact["embedding"][[a, b]], coordinate=p)
            for p, w in enumerate(exact["read_out"])
        )
        for a in range(6)
        for b in range(6)
    ]
    goal = [Fraction(int(v)) for v in teachers.values(SMALL).flat]
    # Targets are the values over their root mean square, up to a factor that no error sees.
    norm = sum(v**2 for v in goal)
    scale = Fraction(float(np.sqrt(float(norm) / 36)))
    square = sum((v - scale * y) ** 2 for v, y in zip(goal, values, strict=True)) / norm
    assert float(ball.low) ** 2 <= float(square) <= float(ball.high) ** 2
    assert 0 < ball.high - ball.low < 1e-9
    softmax = trained(StudentRecipe(SMALL, 2, 1, "softmax", seeds=(0,), steps=2, marks=2))
    with pytest.raises(ValueError, match="softmax"):
        enclosed_error(softmax, 0)


def test_trained_values_have_no_more_rank_than_the_bound():
    found = trained(StudentRecipe(SMALL, 1, 2, seeds=(0,), steps=5, marks=2))
    values = found.values()[0]
    assert np.linalg.svd(values, compute_uv=False)[rank_bound(1, 2, 1, 6)] < 1e-12
    assert rank_mod(teachers.values(SMALL)) == 6


# --- many starts ----------------------------------------------------------------------------------


def test_starts_of_lbfgs_are_stored_one_by_one_and_go_on(tmp_path, monkeypatch):
    case = Case(**many_starts._tiny.fields() | {"starts": 3})
    many_starts.errors.cache_clear()
    whole = many_starts.errors(case, str(tmp_path / "whole"))
    with killed(students, "fit_by_lbfgs", 3):
        many_starts.errors(case, str(tmp_path / "cut"))
    shutil.copytree(tmp_path / "cut", tmp_path / "moved")
    asked, fitted = [], students.fit_by_lbfgs
    monkeypatch.setattr(
        students, "fit_by_lbfgs", lambda *recipe: asked.append(recipe[1]) or fitted(*recipe)
    )
    assert many_starts.errors(case, str(tmp_path / "moved")) == whole
    assert asked == [102], "two starts are stored"
    # As near as Adam comes, or nearer, and never below the floor.
    assert min(whole) <= min(floors.trained_errors(case, "cpu", "")) * 1.01
    assert min(whole) >= float(floors.floor_of(case).low)
