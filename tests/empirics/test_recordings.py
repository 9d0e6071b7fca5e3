"""Names of trainings that are kept for years: pinned, and changed by what changes a net alone."""

from __future__ import annotations

from dataclasses import replace

from depthlaw.empirics.depth_width import by_updates, language_models
from depthlaw.empirics.nets.net import NetShape
from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.training.recordings import name_of
from depthlaw.empirics.training.settings import Settings
from depthlaw.theory.claims.definition import Case, find

SHAPE, SETTINGS = NetShape(width=4, depth=2), Settings(steps=10)


def test_names_are_those_under_which_nets_are_kept() -> None:
    """Where this fails, folders in recordings/ are lost unless they are renamed."""
    claim = find("trained_depth/wall_within")
    case = claim.grid["long"][0]
    assert wall_nets.named(*wall_nets.training(case, 10), "cpu")[:12] == "65776c90104e"
    larger = Case(**case.fields() | {"mlp": 1})
    assert wall_nets.named(*wall_nets.training(larger, 10), "cpu")[:12] == "772a05ffeb84"
    model = language_models.made(by_updates._net(300), 2, [2.0**-7], [0])
    assert name_of(model.shape, model.settings, device="cpu")[:12] == "469ecfc67d6c"


def test_a_default_that_is_written_out_renames_nothing() -> None:
    plain = name_of(SHAPE, SETTINGS, device="cpu")
    assert name_of(replace(SHAPE, heads=1), replace(SETTINGS, batch=64), device="cpu") == plain
    for other in (
        (replace(SHAPE, heads=2), SETTINGS),
        (SHAPE, replace(SETTINGS, batch=32)),
        (SHAPE, replace(SETTINGS, seeds=(1,))),
    ):
        assert name_of(*other, device="cpu") != plain
    assert name_of(SHAPE, SETTINGS, device="cuda") != plain
