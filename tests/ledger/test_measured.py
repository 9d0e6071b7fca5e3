"""What records fill into the pages of exercises and of what was measured."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.ledger.publish.questions import QUESTIONS
from depthlaw.ledger.publish.site import page_blocks
from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Record, Store, encode
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult, results
from depthlaw.ledger.verdicts.undecided_advice import remedies
from depthlaw.theory.claims.definition import Claim, find, registry
from depthlaw.theory.claims.values import Ball, Case, Exact, Measured, Proportion, Sample

DOCS = Path(__file__).parents[2] / "docs"
DEGREE = "separation_rank/degree"


def test_every_mark_names_a_claim_or_a_question() -> None:
    """The claims of questions are those of tests/ledger/test_questions.py."""
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    marks = re.findall(r"<!-- (measured|numbers|values|verdicts): (\S+) -->", "".join(pages))
    assert sum("<!-- measured: " in page for page in pages) >= 3
    for kind, names in marks:
        known = QUESTIONS if kind in ("measured", "numbers") else registry()
        assert set(names.split(",")) <= set(known), names


def test_no_result_is_typed_by_hand() -> None:
    """Decimal numbers and percentages of results come from records."""
    page = (DOCS / "what-training-finds.md").read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)", "", page)
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


# --- questions -----------------------------------------------------------------------------------

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


def test_a_question_is_a_picture_folded_tables_and_verdicts(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "short-paths"
    assert page_blocks.question(name, of(name, store), tmp_path) == ""
    for distance, right in (*((d, 3900) for d in range(1, 7)), (7, 3700), (9, 3600), (10, 3400)):
        case = Case(**GRAPH, net="softmax", depth=2, distance=distance)
        put(store, WITHIN if distance <= 9 else FAR, case, Proportion(right, 4000))
    picture, level = page_blocks.question(name, of(name, store), tmp_path).split("\n\n")
    assert level.startswith("*Bars and bands of means and shares: 95 % intervals.")
    text = page_blocks.numbers(name, of(name, store))
    assert picture.endswith("(/figures/short-paths.png)")
    assert (tmp_path / "short-paths.png").read_bytes()[:4] == b"\x89PNG"
    assert text.startswith("<details><summary>Numbers</summary>")
    assert "| 10 | 0.85 \\[0.838, 0.861\\] |" in text
    row = next(line for line in text.splitlines() if f"claims/{WITHIN}.md" in line)
    assert row.split(" | ")[2:5] == ["HOLDS", "FAILS", "FAILS\\*"]
    assert "`connectivity_within`: Distances beyond $n - 4$ were taken out" in text
    assert all(key not in text for key in (record.id[:12] for record in store))


def test_nets_stand_beside_rules_of_the_nearest_radius_and_of_their_own(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "local-baseline"
    for radius in (5, 6, 9):
        case = Case(**GRAPH, net="bounded", radius=radius, distance=12)
        put(store, LOCAL, case, Proportion(3000 + radius, 4000))
    net = Case(**GRAPH, net="linearised", depth=2)
    put(store, FAR, Case(**net.fields(), distance=12), Proportion(3200, 4000))
    put(store, "trained_depth/local_baseline", net, Ball(Fraction(6), Fraction(6)))
    text = whole(name, of(name, store), tmp_path)
    heads = "trained, linearised | local baseline, radius 6"
    assert f"| distance of the connected pair | {heads} | " in text
    assert "radius 9" in text
    assert "radius 5" not in text
    assert f"claims/{FAR}.md" not in text, "its verdict is elsewhere"


def test_cases_of_another_device_stand_below_in_a_block_of_their_own(tmp_path: Path) -> None:
    store, name = Store(tmp_path / "r"), "published-errors"
    key = "trained_depth/published_dropout_on"
    case = next(c for c in find(key).grid["gpu"] if (c.hops, c.depth) == (8, 4))
    put(store, key, case, Proportion(1580, 2000))
    text = whole(name, of(name, store), tmp_path)
    assert text.startswith("**Larger, on cuda (suite gpu).**")
    assert "| 8 | 0.21 \\[0.192, 0.229\\] | 0.2163 |" in text
    assert (tmp_path / "published-errors-gpu.png").is_file()


def alone(key: str, case: Case, value: Measured, folder: Path) -> ClaimResult:
    """A claim with one case."""
    store, claim = Store(folder / "r"), replace(find(key), grid={"full": (case,)})
    put(store, key, case, value)
    return results({key: claim}, "full", store)[0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Sample((0.10, -0.08, 0.09, -0.07)), "4 seeds do not decide; about "),
        (Sample((0.5, -0.5)), "2 seeds do not decide; no number of them would"),
        (Sample((0.5,)), "one seed has no interval; two have one"),
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
