"""The first updates of every recorded training, against a table: what a recording of hours rests
on.

A record of a training is carried over to new code (`.ci/carry_records.py`) as long as these tests
pass: then the same trainers make the same nets of the same arguments. Each training is stopped
where it begins, and two of its updates are done in float64, at the largest rate: the last of one
draw of examples and the first of the next. Write the table again, after a change that is meant to
train other nets, by `python tests/empirics/test_short_trainings.py`; then those trainings have to
be recorded again, and `recordings.TRAINER` goes up.
"""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import _lru_cache_wrapper, partial
from pathlib import Path
from typing import Any

import pytest
import torch

from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.trained_rank import students
from depthlaw.empirics.training import checkpoints, trainer, training_run
from depthlaw.theory.claims.definition import AS_IT_COMES, DEVICE_OF, SUITES, registry

TABLE = Path(__file__).with_name("short_trainings.json")
TOPICS = ("depth_width", "exercises", "rank_collapse", "trained_depth", "trained_rank")
# Claims of these topics whose measurement takes long before it trains, or trains nothing.
UNTRAINED = {
    "exercises": ("first_layer_has_the_largest", "variance_is_not", "residual_scaling_keeps"),
    "rank_collapse": ("bert_", "published_guess", "path_products", "circle_", "paths_"),
}
# Sums in another order, as other processors do them, move losses by less than 1e-9 here.
TOLERANCE = 1e-7
Row = dict[str, Any]


class _Started(Exception):
    """A training that was about to begin: a row of the table."""


def _updates(shape: Any, task: Any, settings: Any) -> Row:
    """Losses of the first two replicas during two updates, and the norms of their weights."""
    few = replace(
        settings,
        learning_rates=settings.learning_rates[:2],
        seeds=settings.seeds[:2],
        precision="float64",
        compiled=False,
        graphed=False,
    )
    run = _begun(shape, task, few, torch.device("cpu"))
    # At the largest rate, where a block of examples ends.
    run.step = min((few.warmup // few.drawn + 1) * few.drawn - 1, few.steps - 2)
    losses = []
    for _ in range(2):
        before = run.loss.clone()
        run.advance()
        losses += (run.loss - before).tolist()
    norms = run.weights.norm(dim=1).tolist()
    return {
        "training": f"{task.name}; {shape.depth} layers of width {shape.width}",
        "settings": checkpoints.fingerprint([repr(shape), task.name, repr(settings)])[:12],
        "losses": losses,
        "norms": norms,
    }


def _fitted(recipe: Any) -> Row:
    """Errors of the first two students after two updates, and the norms of their weights."""
    few = replace(recipe, seeds=recipe.seeds[:2], rates=recipe.rates[:1], steps=3, marks=2)
    fitted = _fit(few, "cpu", None)
    return {
        "training": f"student; {recipe.depth} layers of width {recipe.width}, {recipe.attention}",
        "settings": checkpoints.fingerprint([repr(recipe)])[:12],
        "losses": fitted.errors.tolist(),
        "norms": fitted.snapshots[-1].norm(dim=1).tolist(),
    }


def _searched(recipe: Any, seed: int, iterations: int) -> Row:
    """The error of one start after three iterations of L-BFGS."""
    return {
        "training": f"L-BFGS; {recipe.depth} layers of width {recipe.width}",
        "settings": checkpoints.fingerprint([repr(recipe), seed, iterations])[:12],
        "losses": [_search(recipe, seed, 3)],
        "norms": [],
    }


_begun, _fit, _search = training_run.TrainingRun, students._trained, students.fit_by_lbfgs


def _stop_search(recipe: Any, *seed_and_iterations: int) -> None:
    raise _Started(recipe, seed_and_iterations)


def _stop(*arguments: Any, asked: int = 3) -> None:
    raise _Started(*arguments[:asked])


_MAKES: dict[int, Any] = {1: _fitted, 2: lambda recipe, more: _searched(recipe, *more), 3: _updates}


def _rows(topic: str) -> Iterator[tuple[str, Row]]:
    """The trainings that the claims of a topic begin with, each once: of the first case of each
    suite, by the first claim; and of suite long each shape."""
    known: set[str] = set()
    for key, claim in registry().items():
        if not key.startswith(f"{topic}/") or claim.portable:
            continue
        if key.partition("/")[2].startswith(UNTRAINED.get(topic, ("-",))):
            continue
        for suite in SUITES:
            if suite in DEVICE_OF or not claim.grid.get(suite):
                continue
            for number, case in enumerate(claim.grid[suite]):
                if number and suite not in AS_IT_COMES:
                    break
                try:
                    claim.measure(case)
                except _Started as started:
                    made = started.args
                    identity = repr(made[:2] if number else made)
                    if identity not in known:
                        known |= {identity, repr(made[:2])}
                        name = f"{key} in {suite}" + f", case {number}" * bool(number)
                        yield name, _MAKES[len(made)](*made)


@pytest.fixture
def _stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (training_run, trainer):
        monkeypatch.setattr(module, "TrainingRun", _stop)
    monkeypatch.setattr(students, "_trained", partial(_stop, asked=1))
    monkeypatch.setattr(students, "fit_by_lbfgs", _stop_search)
    # What another test of this process has trained would not begin again. What is frozen, as it
    # was imported, is passed over otherwise.
    gc.unfreeze()
    for found in gc.get_objects():
        if type(found) is _lru_cache_wrapper and "depthlaw.empirics" in str(found.__module__):
            found.cache_clear()


def _near(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("_stopped")
@pytest.mark.parametrize("topic", TOPICS)
def test_trainers_make_the_nets_that_were_recorded(topic: str) -> None:
    table = json.loads(TABLE.read_text())[topic]
    seen = dict(_rows(topic))
    assert set(seen) == set(table), "other trainings: write the table again, see above"
    for name, row in seen.items():
        expected = table[name]
        assert row["training"] == expected["training"], name
        assert row["settings"] == expected["settings"], f"{name}: other settings"
        for part in ("losses", "norms"):
            assert _near(row[part], expected[part]), f"{name}: other {part}"


@pytest.mark.slow
def test_another_trainer_is_seen() -> None:
    """The control: a second moment that decays faster, one update more of warm-up, or twice the
    weight decay moves losses by more than the tolerance."""
    made = wall_nets.training(registry()["trained_depth/wall_within"].grid["full"][0], 10)
    usual = _updates(*made)
    assert _near(_updates(*made)["losses"], usual["losses"])
    shape, task, settings = made
    for changed in (
        {"betas": (0.9, 0.99)},
        {"warmup": settings.warmup + 1},
        {"weight_decay": 0.02},
    ):
        other = _updates(shape, task, replace(settings, **changed))
        assert not _near(other["losses"], usual["losses"]), changed


if __name__ == "__main__":
    import sys

    patch = pytest.MonkeyPatch()
    _stopped.__wrapped__(patch)  # type: ignore[attr-defined]
    torch.set_num_threads(1)
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for asked in sys.argv[1:] or TOPICS:
        table[asked] = dict(_rows(asked))
    TABLE.write_text(json.dumps(table, indent=1) + "\n")
