"""What pages show of measurements: every panel from what is recorded, and nothing of nothing."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from importlib.resources import files

import pytest

from depthlaw.empirics.depth_width.by_updates import DEPTHS_AFTER, SIZE, UPDATES
from depthlaw.empirics.depth_width.fixed_budgets import width_of
from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.empirics.trained_rank.ranks_in_training import ATTENTIONS
from depthlaw.ledger.publish.drawing.panels import Found, written
from depthlaw.ledger.publish.questions import QUESTIONS
from depthlaw.ledger.publish.questions.hops import HOP_UPDATES
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.values import Ball, Case, Exact, Sample


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_names_claims_and_shows_nothing_of_nothing(name: str) -> None:
    asked = QUESTIONS[name]
    assert all(find(key) for key in (*asked.claims, *asked.beside))
    assert bool(asked.panels({})) is (not asked.claims)
    assert asked.table is None or asked.table({}).rows == ()


@pytest.mark.parametrize("name", [*exercises(), "wall-by-updates"])
def test_what_is_recorded_is_shown(name: str) -> None:
    asked = QUESTIONS[name]
    found = {
        key: {
            case: Sample(tuple(place / 7 + step / 100 for step in range(3)))
            for suite in ("exercises", "long")
            for place, case in enumerate(find(key).cases(suite))
        }
        for key in asked.claims
    }
    panels = asked.panels(found)
    tables = written(panels)
    assert [title for title, _ in tables] == [panel.title for panel in panels]
    assert all(
        any(cell is not None for cell in row[1:]) for _, table in tables for row in table.rows
    )
    some = {key: dict(list(values.items())[:1]) for key, values in found.items()}
    assert 0 < len(asked.panels(some)) <= len(panels)


def test_the_picture_of_the_law_needs_no_records() -> None:
    """Attention alone triples the orders of magnitude; a mask and a skip connection do not."""
    (panel,) = QUESTIONS["doubly-exponential"].panels({})
    alone, causal, skip, law = (series.y for series in panel.series)
    assert alone[-1] / alone[-2] == pytest.approx(3, rel=1e-3)
    assert alone[-1] > law[-1] * 0.9
    assert causal[-1] - causal[-2] < 1
    assert skip[-1] == pytest.approx(2, abs=0.1)


def student(**fields: int | str) -> Case:
    """A case of trained students of two layers and width two."""
    return next(
        Case(**case.fields() | {"width": 2, "depth": 2} | fields)
        for case in find("trained_rank/half_of_rank_matters").cases("training")
    )


def test_ranks_in_training() -> None:
    steps = (0, 8)
    found: Found = {
        "trained_rank/rank_stays_generic": {
            student(attention="linearised", step=step): Exact(18) for step in steps
        },
        "trained_rank/half_of_rank_matters": {
            student(attention=attention, step=step): Sample((1.0, rank))
            for attention in ATTENTIONS
            for rank, step in zip((2.0, 8.0), steps, strict=True)
        },
    }
    (panel,) = QUESTIONS["rank-in-training"].panels(found)
    exact, *others = panel.series
    assert (exact.x, exact.y) == ((1, 9), (18.0, 18.0))
    assert [each.y for each in others] == [(1.5, 4.5)] * 2


def test_the_wall_shows_the_longest_trainings_and_all_their_nets() -> None:
    """Of each number of layers and kind of attention, a line for each net, and their median in a
    band from the worst to the best."""
    asked = {"net": "softmax", "depth": 2, "asked": "row", "distance": 9}
    found: Found = {
        "trained_depth/wall_within": {
            Case(updates=240_000, first=10, **asked): Ball(Fraction("0.9"), Fraction("0.95")),
            Case(updates=240_000, first=12, **asked): Ball(Fraction("0.94"), Fraction("0.98")),
            Case(updates=4_000, first=10, **asked): Ball(Fraction("0.5"), Fraction("0.6")),
        }
    }
    (panel,) = QUESTIONS["walls"].panels(found)
    assert panel.title == "L = 2, softmax, 240,000 updates"
    middle, *nets, weights, _, _ = panel.series
    assert (middle.low, middle.high) == ((0.925,), (0.96,))
    assert middle.y == ((0.925 + 0.96) / 2,)
    assert list(QUESTIONS["walls"].says(found)) == []  # nothing is known of distance 10
    assert [(s.label, s.x, s.y, s.kind) for s in nets] == [
        ("seed 10", (9,), (0.925,), "thin"),
        ("seed 12", (9,), (0.96,), "thin"),
    ]
    assert weights.label == "explicit weights; rule of radius 3^L"
    assert (weights.x, weights.y) == ((9,), (1.0,))


def test_the_wall_says_how_many_nets_see_how_far() -> None:
    """One sees 9 and no farther, one stops before it; beside it, how far training went."""
    of_training = {"net": "softmax", "depth": 2, "updates": 240_000, "around": 20}
    shares = {10: ("0.9", "0.5"), 12: ("0.48", "0.47")}
    cases = {
        Case(**of_training, first=first, asked="row", distance=9 + step): Ball(
            Fraction(share), Fraction(share) + Fraction(3, 100)
        )
        for first, of_net in shares.items()
        for step, share in enumerate(of_net)
    }
    third = {
        Case(net=net, depth=3, updates=240_000, first=10, asked=asked, distance=12): Ball(
            Fraction(1, 2), Fraction(3, 5)
        )
        for net in ("softmax", "linearised")
        for asked in ("row", "other")
    }
    found: Found = {"trained_depth/wall_within": cases, "trained_depth/third_layer_passes": third}
    seen, blind = QUESTIONS["walls"].says(found)
    assert seen == (
        "After 240,000 updates 1 of 2 nets of two layers sees distance 9: it is right on more than "
        "55 % of the questions, the worst of them on 92 %."
    )
    assert blind == (
        "At distances 10 to 10 all 2 are right on at most 55 %, and a coin on 50 %; in training, "
        "on cycles of 20, nothing lay farther than 10."
    )
    *_, last = QUESTIONS["walls"].panels(found)
    assert [series.label for series in last.series] == [
        "linearised, against unconnected",
        "linearised, against distance 14",
        "softmax, against unconnected",
        "softmax, against distance 14",
        "95 %",
    ]


def test_the_table_tells_kinds_of_attention_apart_and_judges_each() -> None:
    cycles = {"task": "long cycles", "cycles": 2, "around": 20, "depth": 2, "distance": 9}
    found: Found = {
        "trained_rank/rank_stays_generic": {
            student(attention="linearised", step=step): Exact(18) for step in (0, 8)
        },
        "trained_rank/softmax_exceeds_count": {
            student(attention="softmax", step=8, tolerance="1/1000000"): Ball(
                Fraction(12), Fraction(13)
            )
        },
        "trained_depth/wall_within": {
            Case(net="softmax", **cycles): Ball(Fraction("0.7"), Fraction("0.8")),
            Case(net="linearised", **cycles): Ball(Fraction("0.94"), Fraction("0.96")),
        },
    }
    table = QUESTIONS["linearised-against-softmax"].table
    assert table is not None
    rows = {row[0]: row[1:] for row in table(found).rows}
    assert len(rows) == 2
    rank = rows["the rank is S, and never more"]
    assert rank[1:3] == ("HOLDS 2", "18")
    assert rank[4:] == ("FAILS 1", "12.5")
    wall = rows["L layers see 3^L steps"]
    assert wall[1:3] == ("UNDECIDED 1", "0.95")
    assert wall[4:] == ("FAILS 1", "0.75")


def test_the_best_depth_stands_beside_rules_and_moves_with_updates() -> None:
    """Losses that are a parabola in ln L about a best depth of each number of updates, and fall
    with the size as N^-0.076."""
    claim = find("depth_width/losses_by_updates")
    best = dict(zip(UPDATES, (2.0, 3.0, 4.0, 5.0), strict=True))
    learnt, rates = {}, {}
    for case in claim.cases("long"):
        if case.parameters == SIZE and "brackets" not in case.corpus:
            off = 12 * case.depth * width_of(SIZE, case.depth, 2) ** 2 / SIZE
            loss = 5 * math.exp(0.02 * math.log(case.depth / best[case.steps]) ** 2) * off**-0.076
            learnt[case] = Sample(tuple(loss + 0.001 * (-1) ** seed for seed in range(8)))
            rates[case] = Exact(-8)
    found: Found = {claim.key: learnt, "depth_width/chosen_rate": rates}
    asked = QUESTIONS["depth-by-updates"]
    losses, depths = asked.panels(found)
    assert [series.label for series in losses.series] == [f"{n:,} updates" for n in UPDATES]
    measured, *rules = depths.series
    # Of 18,000 updates no depth between 3 and 12 is trained, which bounds nothing near 5.
    assert [round(y) for y in measured.y] == [2, 3, 4]
    assert {series.kind for series in rules} == {"reference"}
    assert asked.table is not None
    rows = asked.table(found).rows
    assert len(rows) == sum(map(len, DEPTHS_AFTER.values()))
    assert {row[-1] for row in rows} == {"2^-8"}
    sizes, gaps, first, *_ = asked.says(found)
    assert sizes == (
        "Weights are equal in the layers; in all, the net of 12 layers is 2.3 times smaller than "
        "that of 1 layer."
    )
    assert gaps.startswith("Mean loss of two layers beside that of one: -1.0 % after 300, -2.1 %")
    assert first.startswith(
        "After 300 updates 2 layers had the lowest mean loss of depths 1, 2, 3, 4, 6, 12"
    )


def test_floors_are_those_that_the_claim_states() -> None:
    claim = find("trained_rank/floor_holds")
    case = Case(
        depth=1, width=1, steps=20, teacher_width=3, teacher_depth=2, tokens=1, vocabulary=8
    )
    (panel,) = QUESTIONS["rank-floor"].panels(
        {claim.key: {case: Ball(Fraction(1, 2), Fraction(1))}}
    )
    trained, floor = panel.series
    assert (trained.y, floor.kind, floor.like) == ((0.75,), "reference", trained.label)
    assert floor.y == (float(claim.predict(case).low),)


def test_hops_of_more_updates_stand_beside_those_of_fewer() -> None:
    """Those of `hops_enough` have the number of updates that the table of trainings gives."""
    text = files("depthlaw.empirics.trained_depth").joinpath("training_table.csv").read_text()
    (row,) = [row for row in csv.DictReader(text.splitlines()) if "k <= 4" in row["size"]]
    assert int(row["updates"]) == HOP_UPDATES
    few = find("trained_depth/hops_by_updates").cases("long")[1]
    more = Case(**{k: v for k, v in few.fields().items() if k != "updates"})
    found: Found = {
        "trained_depth/hops_by_updates": {few: Ball(Fraction(4), Fraction(5))},
        "trained_depth/hops_enough": {more: Ball(Fraction(3), Fraction(4))},
    }
    asked = QUESTIONS["least-depth-by-updates"]
    assert list(asked.says(found)) == [
        "Hops, k = 2: least depth 4 or more after 1,250, 3 or 4 after 5,000 updates."
    ]
    (panel,) = asked.panels(found)
    assert panel.series[0].x == (1250, 5000)
