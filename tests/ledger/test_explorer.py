"""What the explorer shows: against hand answers, and against what it must agree with."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor.recommendation import recommend
from depthlaw.ledger.publish.site import explorer
from depthlaw.ledger.verdicts.record_source import Recorded

KEPT = explorer.kept(Path(__file__).parents[2] / "docs/explorer")
# Judging the reference ledger takes seconds.
pytestmark = pytest.mark.slow


@cache
def layers_of(task: str, size: int) -> dict[str, int]:
    """What the advisor says of a task, by the curve that shows it."""
    said = recommend(task=task, **{explorer.OPTIONS[task]: size}).tasks[0]
    found = {
        said.labels[place] if said.labels else number.meaning: number.layers
        for place, number in enumerate(said.numbers)
    }
    return found if task != "hops" else {"claimed": found["suffices"]} | found


@pytest.fixture(scope="module")
def tasks(recorded: Recorded) -> dict[str, Any]:
    """The panel of tasks."""
    return explorer.tasks(recorded)


def test_steps_stand_where_a_task_needs_a_layer_more(tasks: dict[str, Any]) -> None:
    wrong = []
    for task in explorer.SIZES:
        for key, line in tasks["series"][task].items():
            for (_, before), (at, after) in pairwise(zip(line["x"], line["y"], strict=True)):
                step = "text" not in line and before != after
                if step and layers_of(task, at - 1)[key] != before:
                    wrong.append((task, key, at))
    assert wrong == []


def test_tasks_by_hand(tasks: dict[str, Any]) -> None:
    def at(task: str, key: str, size: int) -> int:
        line = tasks["series"][task][key]
        return line["y"][line["x"].index(size)]

    assert [at("connectivity", "(a)", size) for size in (1, 3, 4, 81, 82)] == [0, 1, 2, 4, 5]
    assert [at("hops", "suffices", size) for size in (1, 2, 3, 16, 17)] == [2, 3, 4, 6, 7]
    assert [at("hops", "claimed", size) for size in (3, 4, 16)] == [3, 4, 6]
    assert [at("regular", "(a)", size) for size in (64, 65)] == [29, 33]
    # 4.8 * 6 - 15.8, a line; none below one layer.
    assert [at("regular", "(c)", size) for size in (4, 64)] == [None, pytest.approx(13)]


@pytest.fixture(scope="module")
def thresholds(recorded: Recorded) -> dict[str, Any]:
    """The panel of width and depth."""
    return explorer.thresholds(recorded)


def test_thresholds_by_hand(thresholds: dict[str, Any]) -> None:
    lines = thresholds["series"]
    threshold = dict(zip(lines["threshold"]["x"], lines["threshold"]["y"], strict=True))
    knee = dict(zip(lines["knee"]["x"], lines["knee"]["y"], strict=True))
    assert (threshold[3], threshold[9]) == (1, 2)
    # 2 * 2^2 + 2 * 2 + 1 = 13; the fit in the form d = 154.3 * 1.057^L.
    assert knee[2] == pytest.approx(math.log(13, 3), rel=1e-5)
    assert lines["levine"]["x"][0] == pytest.approx(154.3 * 1.057**6, rel=5e-3)
    first = thresholds["equal"][0]
    sizes = {d * L * d * 12 for d, L in zip(first["x"], first["y"], strict=True)}
    assert all(size == pytest.approx(10**7, rel=1e-4) for size in sizes)
    at = lines["models"]["text"].index("GPT-2 small")
    assert (lines["models"]["x"][at], lines["models"]["y"][at]) == (768, 12)


def test_curves_are_those_that_the_claims_and_exact_nets_have() -> None:
    """Where it fails: `make transcripts`."""
    assert json.loads(json.dumps(explorer.curves())) == KEPT


def test_ranks_by_hand_and_within_the_count(recorded: Recorded) -> None:
    frames = explorer.ranks(recorded, KEPT["ranks"])["frames"]
    one = frames["2,1"]
    assert [round(3**height) for height in one["S"][:3]] == [3, 18, 232]
    # (d + H)^((3^L - 1)/2) at d = 4, L = 1, and where its theorem does not apply.
    assert round(3 ** frames["4,1"]["upper_bound_shallow"][0]) == 5
    assert frames["4,1"]["upper_bound_shallow"][1] is None
    assert frames["4,1"]["upper_bound_deep"][0] is None
    # (3 + 1) (1 + 1) at L = 2 and two heads; one factor for one head; H divides d_x.
    assert round(3 ** frames["4,2"]["product_lower_bound"][1]) == 8
    assert round(3 ** frames["4,1"]["product_lower_bound"][1]) == 4
    assert frames["5,2"]["product_lower_bound"] == [None] * explorer.LAYERS
    assert frames["4,1"]["exact"]["text"] == ["rank 31,456"]
    # The case with the most tokens, and of its seeds the largest rank; one head has exact ranks.
    assert frames["2,2"]["measured"]["text"] == ["rank 3", "rank 17", "rank 215"]
    assert "measured" not in one
    points = 0
    for frame in frames.values():
        for curve in (frame[n] for n in ("exact", "certified", "measured") if n in frame):
            for depth, height in zip(curve["x"], curve["y"], strict=True):
                assert height <= frame["S"][depth - 1] * (1 + 1e-5)
                points += 1
    assert points > 30


def test_residuals_stay_below_their_bound_and_skips_keep_them(recorded: Recorded) -> None:
    panel, drawn = explorer.collapse(recorded, KEPT["collapse"]), 0
    for name, frame in panel["frames"].items():
        start = -math.log10(Fraction(name.split(",")[0]))
        assert frame["alone"][0] == frame["skip"][0] == pytest.approx(start, abs=1e-5)
        assert abs(frame["skip"][-1] - start) < 2
        assert frame["alone"][-1] > 100 * max(frame["causal"][-1], 1)
        for orders, bound in zip(frame["alone"], frame["bound"], strict=True):
            if bound is not None:
                assert orders >= bound * (1 - 1e-5)
                drawn += 1
        # log 3 per layer, in the last of them.
        assert frame["alone"][-1] / frame["alone"][-2] == pytest.approx(3, rel=1e-2)
    assert drawn > 300
    # Without room for collapse the bound says nothing.
    assert all(each is None for each in panel["frames"]["1,4,16"]["bound"][1:])


def test_no_verdict_stands_beside_a_curve_that_it_is_not_about(
    thresholds: dict[str, Any], tasks: dict[str, Any]
) -> None:
    """The algebra of inverting a rule is argued, not that the rule is right; what is measured is
    compared with a claim, and is not itself what holds or fails."""
    rules = {rule.key: rule for rule in explorer.rules()}
    drawn = [
        *thresholds["curves"],
        *(curve for curves in tasks["curves"].values() for curve in curves),
    ]
    by_key = {curve["key"]: curve for curve in drawn}
    related = {"levine": "depth_choice/levine_fit_depth", "threshold": "separation_rank/degree"}
    for key, claim in related.items():
        assert (by_key[key]["claims"], by_key[key]["related"]) == ((), [claim])
    assert rules["levine"].claim == related["levine"]
    for curve in drawn:
        assert curve["claims"] or curve["basis"], curve["key"]
        if curve["label"].startswith("least depth that trained nets needed"):
            assert not curve["claims"]
            assert curve["related"]
            assert all(key.startswith("trained_depth/") for key in curve["related"])
