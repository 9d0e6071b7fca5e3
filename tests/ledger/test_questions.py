"""What pages show of measurements: every panel from what is recorded, and nothing of nothing; the
numbers and verdicts that records fill into them."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from depthlaw.empirics.depth_width.by_updates import DEPTHS_AFTER, SIZE, UPDATES
from depthlaw.empirics.depth_width.fixed_budgets import width_of
from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.empirics.trained_rank.ranks_in_training import ATTENTIONS
from depthlaw.ledger.publish.drawing.panels import Found, Panel, Series, same_scale, written
from depthlaw.ledger.publish.questions import QUESTIONS
from depthlaw.ledger.publish.questions.hops import HOP_UPDATES
from depthlaw.ledger.publish.site import inline, page_blocks
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Record, Store, encode
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult, results
from depthlaw.ledger.verdicts.undecided_advice import remedies
from depthlaw.theory.claims.definition import Claim, find, registry
from depthlaw.theory.claims.values import Ball, Case, Exact, Measured, Proportion, Sample


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_names_claims_and_shows_nothing_of_nothing(name: str) -> None:
    asked = QUESTIONS[name]
    assert all(find(key) for key in (*asked.claims, *asked.beside))
    assert bool(asked.panels({})) is (not asked.claims)
    assert asked.table is None or asked.table({}).rows == ()


def headline(name: str, found: Found) -> str:
    return next(iter(QUESTIONS[name].says(found)), "")


def other(value: Measured, turned: bool) -> Measured:
    """Another value of the same kind; enclosures in the same order, or turned round."""
    if isinstance(value, Ball) and turned:
        return Ball(5 - value.high / 3, 5 - value.low / 3)
    if isinstance(value, Ball):
        return Ball(value.low / 3, value.high / 3)
    if isinstance(value, Proportion):
        return Proportion(value.right // 3, value.trials)
    if isinstance(value, Sample):
        return Sample(tuple(1 / 3 - 2 * v * (1 + n % 2) for n, v in enumerate(value.values)))
    return Exact(3 * value.value) if isinstance(value, Exact) else value


# The one that no page shows.
@pytest.mark.parametrize("name", sorted({*QUESTIONS} - {"rank-collapse"}))
def test_the_headline_of_a_question_is_short_and_made_of_its_records(name: str) -> None:
    asked = QUESTIONS[name]
    recorded = Recorded({key: find(key) for key in (*asked.claims, *asked.beside)}, shipped())
    found = {
        key: {row.case: row.measured for row in recorded.rows(key) if row.measured is not None}
        for key in recorded.claims
    }
    said = headline(name, found)
    if name == "published-errors":
        assert said == "", "its cases are those of another device"
        case = next(iter(find(asked.claims[0]).grid["gpu"]))
        found = {asked.claims[0]: {case: Proportion(1580, 2000)}}
        said = headline(name, found)
    assert 5 < len(said.split()) <= 20, said
    assert said.endswith(".")
    assert said != f"{asked.title}."
    if asked.claims:
        changed = [
            {key: {c: other(v, turned) for c, v in part.items()} for key, part in found.items()}
            for turned in (False, True)
        ]
        assert {headline(name, records) for records in changed} != {said}
        assert headline(name, {}) == "", "nothing is said of nothing"


def test_panels_that_compare_have_one_scale() -> None:
    one, two = (Panel("", "L", "", (Series("", (1, 2), heights),)) for heights in ((1, 2), (5, 9)))
    assert [panel.extent() for panel in same_scale([one, two])] == [(1, 9)] * 2
    assert [panel.extent() for panel in (one, two)] == [(1, 2), (5, 9)]


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
    assert weights.label == "radius 3^L"
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
    seen, right, blind = QUESTIONS["walls"].says(found)
    assert seen == "After 240,000 updates 1 of 2 nets of two layers sees distance 9."
    assert right == "It is right on more than 55 % of the questions, the worst of them on 92 %."
    assert blind == (
        "At distances 10 to 10 all 2 are right on at most 55 %, and a coin on 50 %; in training, "
        "on cycles of 20, nothing lay farther than 10."
    )
    (last,) = QUESTIONS["third-layer"].panels(found)
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
    # Relative to the net of one layer of the same seed.
    assert {series.y[0] for series in losses.series} == {0.0}
    measured, *rules = depths.series
    # Of 18,000 updates no depth between 3 and 12 is trained, which bounds nothing near 5.
    assert [round(y) for y in measured.y] == [2, 3, 4]
    assert {series.kind for series in rules} == {"reference"}
    assert asked.table is not None
    rows = asked.table(found).rows
    assert len(rows) == sum(map(len, DEPTHS_AFTER.values()))
    assert {row[-1] for row in rows} == {"2^-8"}
    deepest, sizes, gaps, first, *_ = asked.says(found)
    assert deepest.startswith("After 18,000 updates the mean loss of 12 layers is ")
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
        "With more updates the least depth clearly falls in 0 of 1 kinds of nets.",
        "Hops, k = 2: least depth 4 or more after 1,250, 3 or 4 after 5,000 updates.",
    ]
    (panel,) = asked.panels(found)
    assert panel.series[0].x == (1250, 5000)


# --- pages ----------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[2] / "docs"
DEGREE = "separation_rank/degree"


def test_every_mark_names_a_claim_or_a_question() -> None:
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    marks = re.findall(r"<!-- (measured|numbers|values|verdicts): (\S+) -->", "".join(pages))
    assert sum("<!-- measured: " in page for page in pages) >= 3
    for kind, names in marks:
        known = QUESTIONS if kind in ("measured", "numbers") else registry()
        assert set(names.split(",")) <= set(known), names


def test_no_result_is_typed_by_hand() -> None:
    """Decimal numbers and percentages of results come from records."""
    page = (DOCS / "what-training-finds.md").read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)", "", inline.unfilled(page))
    assert re.findall(r"\d*\.\d+", text) == []


def test_the_page_of_exercises_has_all_of_them_in_order() -> None:
    text = (DOCS / "exercises.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- measured: (\S+) -->", text) == list(exercises())


def recorded(claim: Claim, store: Store, wrong: int = 0) -> None:
    """Records of suite quick, with one value that is not what is stated."""
    for n, run in enumerate(r for r in plan({claim.key: claim}, "quick") if r.case is not None):
        made = run.execute()
        assert isinstance(made, Record)
        store.put(made if n or not wrong else Record(made.inputs, encode(Exact(wrong))))


def test_values_and_verdicts_are_those_of_the_records(tmp_path: Path) -> None:
    claim, store = find(DEGREE), Store(tmp_path / "r")
    claims = {DEGREE: claim}
    assert page_blocks.values([DEGREE], Recorded(claims, store)) == ""
    assert page_blocks.verdicts([DEGREE], Recorded(claims, store)) == ""
    assert page_blocks.data([DEGREE], Recorded(claims, store), tmp_path / "x.csv") == ""
    recorded(claim, store, wrong=12345)
    here = Recorded(claims, store)
    table = page_blocks.values([DEGREE], here).splitlines()
    assert len(table) == 2 + len(claim.cases("quick"))
    assert sum("FAILS" in row for row in table) == 1
    assert "| $12345$ |" in next(row for row in table if "FAILS" in row)
    assert "| FAILS (as recalled) |" in page_blocks.verdicts([DEGREE], here)
    file = tmp_path / "data" / "page.csv"
    assert "(/data/page.csv)" in page_blocks.data([DEGREE], here, file)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(claim.cases("quick"))
    assert all(row["records"] in store and row["device"] == "cpu" for row in rows)
    assert [row["measured"] for row in rows if row["verdict"] == "FAILS"] == ["12345"]


GRAPH = {"task": "connectivity", "vertices": 24, "diameter": 23}
FAR, SPREAD = "trained_depth/connectivity_far", "exercises/deeper_is_better"
WITHIN, LOCAL = "trained_depth/connectivity_within", "trained_depth/local_baseline_misses"


def of(name: str, store: Store) -> Recorded:
    """The claims that a question shows numbers of."""
    asked = QUESTIONS[name]
    return Recorded({key: find(key) for key in (*asked.claims, *asked.beside)}, store)


def whole(name: str, recorded: Recorded, folder: Path) -> str:
    return page_blocks.question(name, recorded, folder) + page_blocks.numbers(name, recorded)


def put(store: Store, key: str, case: Case, value: Measured) -> str:
    made = Record(Run(find(key), case).inputs, encode(value), {})
    store.put(made)
    return made.id


def test_a_question_is_a_picture_its_numbers_as_a_file_and_verdicts(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "short-paths"
    assert page_blocks.question(name, of(name, store), tmp_path) == ""
    for distance, right in (*((d, 3900) for d in range(1, 7)), (7, 3700), (9, 3600), (10, 3400)):
        case = Case(**GRAPH, net="softmax", depth=2, distance=distance)
        put(store, WITHIN if distance <= 9 else FAR, case, Proportion(right, 4000))
    title, drawn, files, level = page_blocks.question(name, of(name, store), tmp_path).split("\n\n")
    assert title == "**At their worst distance nets are right on 85 % (two layers).**"
    assert level.startswith("*Bars and bands of means and shares: 95 % intervals.")
    assert drawn.count("<svg ") == drawn.count("</svg>") == 1
    assert "(/figures/short-paths.svg)" in files
    assert "(/figures/short-paths.csv)" in files
    assert (tmp_path / "short-paths.svg").read_bytes().startswith(b"<svg ")
    with (tmp_path / "short-paths.csv").open(encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    (last,) = (row for row in points if row["kind"] == "line" and row["x"] == "10")
    assert float(last["y"]) == 0.85
    assert 0.838 < float(last["low"]) < 0.839 < 0.86 < float(last["high"]) < 0.861
    text = page_blocks.numbers(name, of(name, store))
    row = next(line for line in text.splitlines() if f"claims/{WITHIN}.md" in line)
    assert row.split(" | ")[0] == "| FAILS\\*", "the verdict is in the first column"
    assert row.split(" | ")[2] == "HOLDS", "as expected before"
    assert all(key not in text for key in (record.id[:12] for record in store))


def test_the_first_sentence_of_a_finding_is_the_title_of_its_picture(tmp_path: Path) -> None:
    recorded = Recorded({key: find(key) for key in QUESTIONS["walls"].claims}, shipped())
    title, *_ = page_blocks.question("walls", recorded, tmp_path).split("\n\n")
    assert title.startswith("**After 60,000 updates 16 of 16 nets of one layer see distance 3.**")


def test_nets_stand_beside_rules_of_the_nearest_radius_and_of_their_own(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "local-baseline"
    for radius in (5, 6, 9):
        case = Case(**GRAPH, net="bounded", radius=radius, distance=12)
        put(store, LOCAL, case, Proportion(3000 + radius, 4000))
    net = Case(**GRAPH, net="linearised", depth=2)
    put(store, FAR, Case(**net.fields(), distance=12), Proportion(3200, 4000))
    put(store, "trained_depth/local_baseline", net, Ball(Fraction(6), Fraction(6)))
    text = whole(name, of(name, store), tmp_path)
    drawn = (tmp_path / "local-baseline.csv").read_text()
    assert ",linearised,line," in drawn
    assert "local baseline, radius 6" in drawn
    assert "radius 9" in drawn
    assert "radius 5" not in drawn
    assert f"claims/{FAR}.md" not in text, "its verdict is elsewhere"


def test_cases_of_another_device_stand_below_in_a_block_of_their_own(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "published-errors"
    key = "trained_depth/published_dropout_on"
    case = next(c for c in find(key).grid["gpu"] if (c.hops, c.depth) == (8, 4))
    put(store, key, case, Proportion(1580, 2000))
    text = whole(name, of(name, store), tmp_path)
    assert text.startswith("**Larger, on cuda (suite gpu).**")
    assert ",8,,0.2163," in (tmp_path / "published-errors-gpu.csv").read_text()
    assert (tmp_path / "published-errors-gpu.svg").is_file()


def alone(key: str, case: Case, value: Measured, folder: Path) -> ClaimResult:
    """A claim with one case."""
    store, claim = Store(folder / "r"), replace(find(key), grid={"full": (case,)})
    put(store, key, case, value)
    return results({key: claim}, "full", store)[0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Sample((0.10, -0.08, 0.09, -0.07)), "4 seeds leave it open; about "),
        (Sample((0.5, -0.5)), "2 seeds leave it open; no number of them would"),
        (Sample((0.5,)), "one seed gives no interval; two would give one"),
    ],
)
def test_an_undecided_case_says_how_many_seeds_would_decide(
    tmp_path: Path, value: Sample, words: str
) -> None:
    result = alone(SPREAD, find(SPREAD).grid["exercises"][0], value, tmp_path)
    (found,) = remedies(result)
    assert words in str(found)
    if found.enough:
        many = Sample(value.values * (found.enough // len(value.values) + 1))
        assert many.interval(result.alpha(result.cases[0]))[0] > -0.002


def test_an_undecided_share_says_how_many_examples_would_decide(tmp_path: Path) -> None:
    case = Case(**GRAPH, net="softmax", depth=1, distance=9)
    result = alone(FAR, case, Proportion(940, 1000), tmp_path)
    (found,) = remedies(result)
    assert (found.there, found.what) == (1000, "examples")
    enough, alpha = found.enough, result.alpha(result.cases[0])
    assert Proportion(round(0.94 * enough), enough).interval(alpha)[1] < 0.95
    assert Proportion(round(0.94 * enough * 0.9), round(enough * 0.9)).interval(alpha)[1] > 0.95


def test_many_undecided_cases_of_a_claim_are_one_line(tmp_path: Path) -> None:
    store, claim = Store(tmp_path / "r"), find(FAR)
    for distance in (9, 10, 11):
        case = Case(**GRAPH, net="softmax", depth=1, distance=distance)
        put(store, FAR, case, Proportion(94 * distance, 100 * distance))
    text = page_blocks.verdicts([FAR], Recorded({FAR: claim}, store))
    (line,) = re.findall(r"\* `connectivity_far`, .*", text)
    would = r"about [\d,]+ to [\d,]+ would"
    assert re.search(rf"3 of \d+ cases: 900 to 1,100 examples do not decide; {would}", line)
