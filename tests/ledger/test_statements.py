"""Claims in print: what is said of them is what their records show."""

from __future__ import annotations

import re
from dataclasses import replace
from math import log10

import pytest

from depthlaw.ledger.publish.appendix import data
from depthlaw.ledger.publish.appendix.printed_claims import Statement
from depthlaw.ledger.publish.site import claim_pages, page_blocks
from depthlaw.ledger.verdicts import display, estimates
from depthlaw.ledger.verdicts.evidence_tree import grounds
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.sign_test import SignTest
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult
from depthlaw.theory.claims.rounding import interval
from depthlaw.theory.claims.values import Proportion, Sample
from depthlaw.theory.claims.verdict import Decision, Verdict

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
    return Statement(replace(result, cases=rows))


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
    whole = claim_pages.page(result, grounds(result, recorded.judged))
    for page in (page_blocks.values([SPREAD], recorded), whole):
        assert "95 %" in page
        assert re.search(r"decided by.*?at level", page, re.DOTALL)


def test_data_hold_the_interval_and_the_level_of_the_verdict(recorded: Recorded) -> None:
    """An undecided case never excludes what is stated, by the interval that is said to decide."""
    topics = ("depth_width", "rank_collapse", "trained_depth")
    asked = [key for key, claim in recorded.claims.items() if claim.topic in topics and claim.needs]
    outside = 0
    for result in filter(None, map(recorded.judged, asked)):
        for row, written in zip(result.cases, data.rows([result]), strict=True):
            if not isinstance(row.measured, Sample | Proportion):
                continue
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
    assert "Judged: within the interval" in where
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
