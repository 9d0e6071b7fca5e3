"""The data beside an appendix: one row for each case, the same in CSV and in Parquet."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from functools import partial

import made
import pyarrow.parquet as parquet
import pytest
from sympy import Eq, Le, log

from depthlaw.ledger.publish.appendix import data
from depthlaw.ledger.verdicts import display
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, find, registry
from depthlaw.theory.claims.printing import latex, text
from depthlaw.theory.claims.symbols import depth, width
from depthlaw.theory.claims.values import Ball, Exact, Proportion, Sample
from depthlaw.theory.claims.verdict import Decision, Verdict
from depthlaw.theory.separation_rank.value_rank import sep

CASE = Case(depth=2, width=9)
row = partial(made.row, CASE)


result = made.result
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
