"""Recording what has been trained, `.ci/record_trained.py`: nets of many updates are read, and
never trained on the way."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.training import depth_search, trainer
from depthlaw.empirics.training.permission import NotTrainedError, permission
from depthlaw.ledger.records.store import open_store
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import Case, Claim, find

SCRIPT = Path(__file__).parents[2] / ".ci/record_trained.py"


def _claim() -> Claim:
    """Of two nets, of which one takes more updates than are done on the way."""
    claim = find("trained_depth/wall_within")
    first = Case(**claim.control.case.fields() | {"shuffled": False, "updates": 30, "nets": 1})
    long = Case(**first.fields() | {"updates": 9_000})
    control = replace(claim.control, case=Case(**first.fields() | {"distance": 4}))
    return replace(claim, grid={"long": (first, long)}, control=control)


def test_what_is_not_trained_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = _claim()
    monkeypatch.setattr("depthlaw.theory.claims.definition.registry", lambda: {claim.key: claim})
    main: Any = runpy.run_path(str(SCRIPT))["main"]
    assert main(tmp_path) == 0
    assert "2 of 3 runs recorded, 1 not trained yet" in capsys.readouterr().out
    store = open_store(tmp_path, read_only=True)
    recorded = [run.case.updates for run in plan({claim.key: claim}, "long") if run.id in store]
    assert recorded == [30, 30], "the case of few updates and the control"


def test_a_run_that_fails_for_another_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = _claim()

    def broken(*_: Any, **__: Any) -> None:
        raise ArithmeticError("no answer")

    monkeypatch.setattr(wall_nets, "answers", broken)
    monkeypatch.setattr("depthlaw.theory.claims.definition.registry", lambda: {claim.key: claim})
    main: Any = runpy.run_path(str(SCRIPT))["main"]
    assert main(tmp_path) == 1
    assert "ArithmeticError: no answer" in capsys.readouterr().err


def test_permission_ends_with_its_context_and_waits_for_no_other_process(tmp_path: Path) -> None:
    before = trainer.TrainingRun
    with depth_search.alone(tmp_path / "net"), permission(5_000):
        assert trainer.TrainingRun is not before
        with (
            pytest.raises(NotTrainedError, match="another process"),
            depth_search.alone(tmp_path / "net"),
        ):
            pass
    assert trainer.TrainingRun is before
    with depth_search.alone(tmp_path / "net"):
        pass
