"""Claims in print, and the data beside an appendix, one row for each case: what is said of them is
what their records show, the same in CSV and in Parquet."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import log10

import made
import pyarrow.parquet as parquet
import pytest
from sympy import Eq, Le, log

from depthlaw.ledger.publish.appendix import data
from depthlaw.ledger.publish.appendix.printed_claims import Statement
from depthlaw.ledger.publish.appendix.typesetting import prose
from depthlaw.ledger.publish.site import claim_pages, page_blocks
from depthlaw.ledger.verdicts import display, estimates
from depthlaw.ledger.verdicts.card import card
from depthlaw.ledger.verdicts.evidence_tree import grounds
from depthlaw.ledger.verdicts.failing_case import failing_instance, in_words, own_fields
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.sign_test import SignTest
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, find, registry
from depthlaw.theory.claims.printing import latex, text
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.rounding import interval
from depthlaw.theory.claims.symbols import depth, width
from depthlaw.theory.claims.values import Ball, Exact, Proportion, Sample
from depthlaw.theory.claims.verdict import Decision, Verdict
from depthlaw.theory.separation_rank.value_rank import sep

SPREAD = "exercises/deeper_is_better"


def judged(recorded: Recorded, key: str) -> ClaimResult:
    result = recorded.judged(key)
    assert result is not None
    return result


def with_slacks(result: ClaimResult, *slacks: float) -> Statement:
    rows = tuple(
        replace(row, decision=Decision(Verdict.HOLDS, slack))
        for row, slack in zip(result.cases, slacks, strict=False)
    )
    return Statement(replace(result, cases=tuple(rows)))


def test_cases_in_which_both_sides_meet_are_counted(recorded: Recorded) -> None:
    result = judged(recorded, "separation_rank/dimension_count")
    meet = sum(row.decision.slack == 0 for row in result.decided)
    assert 1 < meet < len(result.decided)
    assert Statement(result).slack == f"in {meet} of them the sides meet"
    assert with_slacks(result, 0.0, 1.0, 2.0).slack == "in 1 of them the sides meet"
    assert with_slacks(result, 0.0, 0.0).slack == "in all of them the sides meet"
    assert with_slacks(result, 0.0).slack == "the sides meet"


def test_factors_that_are_at_least_so_large_are_rounded_down(recorded: Recorded) -> None:
    result = judged(recorded, "rank_collapse/one_layer_cubic")
    for exact, shown in ((5.6569, "5.65"), (1.9179, "1.91"), (2.0, "2"), (1.011, "1.01")):
        found = re.search(r"times|\$([\d.]+)\$ apart", with_slacks(result, log10(exact)).slack)
        assert found
        assert found[1] == shown
    assert with_slacks(result, 1e-9).slack == "the sides come within 1 % of each other"
    for step in range(400):
        printed = float(display.slack(step / 161).removeprefix("x"))
        assert printed <= 10 ** (step / 161) * (1 + 1e-5) <= printed * 1.01


def test_every_interval_in_print_names_its_level_or_its_seeds(recorded: Recorded) -> None:
    result = judged(recorded, SPREAD)
    worst = result.counterexample
    assert worst is not None
    assert isinstance(worst.measured, Sample)
    ends = [
        interval(*worst.measured.interval(level)).strip("[]").split(", ")
        for level in (0.05, result.alpha(worst))
    ]
    text = Statement(result).counterexample
    many, seeds = f"{len(worst.measured.values)} observations", "8 of 8 seeds, p = .008"
    parts = (many, "95 % interval", *ends[0], "decided by", *ends[1], f"if normal; {seeds}")
    assert [part for part in parts if part not in text] == []
    table = page_blocks.values([SPREAD], recorded)
    assert "95 %" in table
    assert re.search(r"decided by.*?at level", table, re.DOTALL)
    # The page of a claim prints one interval, by its level, and links the rest.
    fewer = judged(recorded, "depth_width/losses_by_updates")
    page = claim_pages.page(fewer, grounds(fewer, recorded.judged))
    assert re.findall(r"(\S+ % \S+) \$\\left\[", page) == ["(95 % interval"]


def test_whatever_fails_says_input_expected_and_got(recorded: Recorded) -> None:
    word, number = "hops/construction_printed_depth", "connectivity/relu_powers_reported"
    for key, line in (
        (word, r"input: `ababa`, $\mathrm{hop}_2$ at the last letter; expected: `a`; got: `b`"),
        (
            number,
            "input: 1 layer, started at $A$; expected: largest $J$ for which each power $A$, "
            r"$A^2$, ..., $A^J$ of the adjacency matrix has a positive coefficient, "
            r"$J_{\mathrm{pow}}$ >= 3; got: 1",
        ),
        (
            "evidence/compared_sizes",
            "input: Kaplan, 6 and 48 layers; expected: parameters of one net over those of "
            r"another, $\rho$ within [19/20, 21/20]; got: 0.8978",
        ),
    ):
        result = judged(recorded, key)
        assert str(failing_instance(result)) == line
        assert ("fails at", readable(line)) in card(result).lead
        assert prose(line) in claim_pages.page(result, grounds(result, recorded.judged))
        # Of what is only ours the page of findings gives the number.
        listed = prose(line) in claim_pages.findings([result], "")
        assert listed == (result.claim.wording != "derived")
    assert prose(r"$\mathrm{hop}_2$") in Statement(judged(recorded, word)).counterexample
    holds = judged(recorded, "separation_rank/degree")
    assert failing_instance(holds) is None
    assert "expected" not in claim_pages.page(holds, grounds(holds, recorded.judged))


def test_a_phrase_is_for_every_field_of_a_failing_case(recorded: Recorded) -> None:
    """So a reader is not shown names of fields; a field without a phrase is shown by its name."""
    bare = {}
    for result in filter(None, map(recorded.judged, recorded.claims)):
        failing = [row for row in result.cases if row.decision.verdict is Verdict.FAILS]
        cases = [row.case for row in result.cases]
        for row in () if result.claim.instance else (*failing, *result.undecided):
            own = own_fields(result.claim.key, row.case, cases)
            said, left = in_words(result.claim.key, own)
            bare[result.claim.key, said] = left
    assert len(bare) > 300
    assert {case: names for case, names in bare.items() if names} == {}
    assert in_words("hops/one", {"depth": 1, "colour": "red"}) == (
        "1 layer, colour red",
        ["colour"],
    )


def test_data_hold_the_interval_and_the_level_of_the_verdict(recorded: Recorded) -> None:
    """An undecided case never excludes what is stated, by the interval that is said to decide."""
    topics, outside = ("depth_width", "rank_collapse", "trained_depth"), 0
    keys = [key for key, c in recorded.claims.items() if c.topic in topics and c.needs]
    for result in filter(None, map(recorded.judged, keys)):
        rows = [row for row in result.cases if isinstance(row.measured, Sample | Proportion)]
        for row, written in zip(rows, data.rows([replace(result, cases=tuple(rows))]), strict=True):
            if written["decision_low"] is None:
                assert written["verdict"] != "HOLDS"
                continue
            ends = row.measured.interval(result.alpha(row))
            assert (written["decision_low"], written["decision_high"]) == ends
            assert written["decision_level"] == result.alpha(row)
            if written["verdict"] == "UNDECIDED" and result.claim.statement.lhs.is_Symbol:
                stated = written["predicted_low"], written["predicted_high"]
                assert ends[0] <= stated[1], row.case
                assert stated[0] <= ends[1], row.case
                outside += written["low"] > stated[1] or written["high"] < stated[0]
    # So the interval of 95 % alone would contradict verdicts.
    assert outside > 0


def test_a_rank_test_is_printed_where_there_is_one(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = judged(recorded, SPREAD)
    monkeypatch.setattr(estimates, "sign_test", lambda claim, row: SignTest(9, 9, 0.0123, 0.0))
    assert "; 9 of 9 seeds, p = .01)" in Statement(result).counterexample
    assert data.rows([result])[0]["sign_test_p"] == 0.0123
    assert "if normal; 9 of 9 seeds, $p$ = .01" in page_blocks.values([SPREAD], recorded)
    # With seeds enough the level stands, and the test beside it.
    monkeypatch.setattr(estimates, "normality", lambda result, row: False)
    assert "at level" in Statement(result).counterexample
    assert "sign test p = $0.012$" in Statement(result).counterexample


def test_what_is_proved_names_its_cases(recorded: Recorded) -> None:
    result = judged(recorded, "separation_rank/exact")
    assert result.verdict is Verdict.PROVED
    shapes = {(row.case.width, row.case.depth) for row in result.cases}
    domain = Statement(result).domain
    named = re.findall(r"\((\d+), (\d+), 0 \\ldots (\d+)\)", domain)
    assert {(int(d), int(depth)) for d, depth, _ in named} == shapes
    assert all(int(most) == (3 ** int(depth) - 1) // 2 for _, depth, most in named)
    assert f"the {len(shapes)} shapes" in domain
    assert domain in claim_pages.page(result, grounds(result, recorded.judged))
    assert Statement(judged(recorded, SPREAD)).domain == ""


def test_sizes_of_trained_nets_are_beside_the_title(recorded: Recorded) -> None:
    def sizes(key: str) -> str:
        return Statement(judged(recorded, key)).sizes

    # The largest number of updates grows with what is recorded.
    assert re.fullmatch(
        r"2 cycles of 20 vertices, 1,000 to [\d,]+ updates", sizes("trained_depth/wall_by_updates")
    )
    assert sizes(SPREAD) == "width 48, 450 updates"
    assert sizes("separation_rank/exact") == ""


def test_a_sentence_of_ours_is_not_put_into_the_mouth_of_a_source(recorded: Recorded) -> None:
    for key, claim in recorded.claims.items():
        if claim.wording != "derived":
            continue
        shown = Statement(ClaimResult(claim, (), None, None))
        assert shown.place_of_source.startswith("derived here"), key
        assert shown.brief.startswith("here"), key


def test_the_case_of_a_judged_interval_is_written_as_the_statement_writes_it(
    recorded: Recorded,
) -> None:
    where = Statement(judged(recorded, "rank_collapse/doubly_exponential_slope")).where()
    assert "The verdict compares with an interval" in where
    assert "bias=" not in where
    assert "$H = 1$" in where


def test_means_that_contradict_a_claim_are_counted(recorded: Recorded) -> None:
    result = judged(recorded, SPREAD)
    means = [row.measured for row in result.in_scope if isinstance(row.measured, Sample)]
    below = sum(value.mean < 0 for value in means)
    excluded = sum(value.interval(0.05)[1] <= 0 for value in means)
    assert below == excluded == len(means) == 4
    assert Statement(result).against == ("4 of 4 means contradict it, 4 by their 95 % intervals")
    assert Statement(judged(recorded, "trained_rank/half_of_rank_matters")).against == ""


# --- data -----------------------------------------------------------------------------------------

CASE = Case(depth=2, width=9)
row, result = partial(made.row, CASE), made.result
RESULTS = [
    result(Le(log(sep) / log(3), width**depth / 2), row(Exact(27), seeds=2)),
    result(
        Eq(sep, 3**depth),
        row(Ball(Fraction(1, 2), Fraction(3, 2))),
        row(Exact(Fraction(1, 3))),
        row(Exact(10**200)),
        row(Exact(10**400)),
    ),
    result(
        Le(sep, width),
        row(Sample((1.0, 2.0, 3.0)), seeds=3),
        row(Proportion(98, 100)),
        row(Sample((1.0,)), Verdict.UNDECIDED, reason="too few seeds"),
        row(None, Verdict.UNDECIDED, reason="no record"),
        row(Exact(4), Verdict.OUT_OF_SCOPE, reason="assumption broken: a, b"),
    ),
]


@pytest.fixture(scope="module")
def rows() -> list[data.Row]:
    return data.rows(RESULTS)


def test_a_row_says_what_was_measured_and_predicted(rows: list[data.Row]) -> None:
    first = rows[0]
    assert list(first) == list(data.COLUMNS)
    # The measured quantity is the rank; the left side is its logarithm to base 3.
    assert (first["measured"], first["exact"], first["left"]) == (27.0, "27", "3")
    assert (first["relation"], first["predicted"]) == ("<=", "81/2")
    assert (first["predicted_low"], first["predicted_high"]) == (40.5, 40.5)
    assert (first["claim"], first["suite"]) == ("topic/name", "quick")
    assert first["case"] == "depth=2 width=9"
    assert (first["seed_ids"], first["device"], first["code"]) == ([0, 1], "cpu", "c0de")
    assert first["records"] == [record.id for record in RESULTS[0].cases[0].records]
    assert (first["verdict"], first["slack_log10"]) == ("HOLDS", 0.5)


def test_intervals_are_named(rows: list[data.Row]) -> None:
    ball, third, large, larger, sample, share, one = rows[1:8]
    assert (ball["measured"], ball["low"], ball["high"]) == (1.0, 0.5, 1.5)
    assert ball["interval"] == "enclosure"
    # Only exact kernels enclose; what is read off nets or papers is an interval of another kind.
    fit = replace(RESULTS[1], claim=replace(RESULTS[1].claim, weight="measurement"))
    kinds = [each["interval"] for each in data.rows([fit])]
    assert kinds == ["interval (see the claim)", None, None, None]
    assert data.rigorous(find("rank_collapse/position_decay"))
    assert not data.rigorous(find("evidence/depth_wins"))
    assert not data.rigorous(find("trained_depth/wall_within"))
    assert (third["exact"], third["interval"], third["predicted"]) == ("1/3", None, "9")
    assert (large["measured"], large["exact"]) == (1e200, None)
    # Beyond floats nothing is written; the record holds it.
    assert (larger["measured"], larger["exact"]) == (None, None)
    # 2 +- t(0.975, 2) / sqrt(3), from a table of Student's distribution.
    assert (sample["low"], sample["high"]) == pytest.approx(
        (2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), rel=1e-5
    )
    assert (sample["interval"], sample["observations"]) == ("95 % Student", 3)
    assert sample["decision_low"] < sample["low"] < sample["high"] < sample["decision_high"]
    assert (share["low"], share["high"]) == pytest.approx((0.9296, 0.9976), abs=1e-4)
    assert (share["interval"], share["observations"]) == ("95 % Clopper-Pearson", 100)
    assert (one["measured"], one["low"], one["interval"]) == (1.0, None, None)


def test_what_has_no_record_or_breaks_an_assumption_predicts_nothing(rows: list[data.Row]) -> None:
    missing, outside = rows[-2:]
    assert (missing["verdict"], missing["records"], missing["seed_ids"]) == ("not run", [], [])
    assert (outside["verdict"], outside["reason"]) == ("OUT_OF_SCOPE", "assumption broken: a, b")
    assert missing["predicted"] is outside["predicted"] is None


def test_where_an_interval_is_judged_no_equality_is_printed() -> None:
    tolerant = [c for c in registry().values() if display.interval(c)]
    assert len(tolerant) > 30
    for claim in tolerant:
        # The sign that is replaced is the relation's: neither side of it holds another one.
        assert "=" not in latex(claim.statement.lhs) + text(claim.statement.lhs)
        assert display.statement_latex(claim).count(r"\approx") == 1
        assert "≈" in display.statement_text(claim)
        assert display.judged(claim).startswith("judged: within the interval that the words")
    equal = find("separation_rank/width_without_floor")
    assert equal.predicted
    assert (display.judged(equal), display.statement_latex(equal)) == ("", latex(equal.statement))
    chance = find("trained_depth/wall_beyond")
    assert display.statement_text(chance) == "a ≈ 1/2"
    case = CaseResult(chance.grid["long"][0], Proportion(50, 100), Decision(Verdict.HOLDS))
    assert display.stated(chance, case) == "within [0.45, 0.55]"
    (written,) = data.rows([ClaimResult(chance, (case,), None, None)])
    assert written["relation"] == "≈"
    assert (written["predicted_low"], written["predicted_high"]) == (0.45, 0.55)


def test_csv_and_parquet_hold_the_same(rows: list[data.Row]) -> None:
    written = data.results_csv(rows)
    assert written == data.results_csv(data.rows(RESULTS))
    read = list(csv.DictReader(io.StringIO(written.decode())))
    made = data.results_parquet(rows)
    assert made == data.results_parquet(rows)
    table = parquet.read_table(io.BytesIO(made)).to_pylist()
    assert table == rows
    assert [line["records"].split() for line in read] == [line["records"] for line in table]
    assert [line["case"] for line in read] == [line["case"] for line in table]
    for line, typed in zip(read, table, strict=True):
        for name in ("measured", "low", "predicted_high"):
            value = typed[name]
            assert line[name] == "" if value is None else float(line[name]) == pytest.approx(value)
