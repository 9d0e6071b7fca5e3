"""Statements about published tables: which verdicts they get, and that a changed number turns them."""
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from depthlaw.theory import evidence
from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {c.key: c for c in evidence.claims()}


def failing(claim: Claim) -> list[Case]:
    assert claim.measured is not None
    return [case for case in claim.cases("theory") if judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS]


def test_one_printed_average_is_impossible() -> None:
    assert failing(CLAIMS["evidence/wide_table_averages"]) == [Case(attention="average", task="IMDb byte", net="wide")]


def test_no_rule_for_halves_gives_the_printed_averages() -> None:
    claim = CLAIMS["evidence/wide_table_rounding"]
    halves = [c for c in claim.cases("quick") if (2 * c.total_tenths) % (2 * c.entries) == c.entries]
    assert claim.measured is not None
    up = [claim.measured(c, 0).value > Fraction(c.total_tenths, c.entries) for c in halves]  # type: ignore[union-attr]
    even = [claim.measured(c, 0).value % 2 == 0 for c in halves]  # type: ignore[union-attr]
    assert any(up)
    assert not all(up)
    assert any(even)
    assert not all(even)


def test_the_gain_of_wide_attention_comes_from_listops() -> None:
    assert failing(CLAIMS["evidence/wide_attention_one_task"]) == [Case(without="ListOps")]
    assert {c.task for c in failing(CLAIMS["evidence/wide_attention_wins"])} == {"IMDb token", "IMDb byte"}
    assert Case(attention="all", task="all") in failing(CLAIMS["evidence/wide_attention_gain"])


def test_depth_does_not_always_win() -> None:
    assert {(c.group, c.depth) for c in failing(CLAIMS["evidence/depth_wins"])} == {("T5 at 223M", 18), ("95-117M", 36), ("475-543M", 28)}


def test_trend_breaks_at_llama_7b() -> None:
    assert [c.model for c in failing(CLAIMS["evidence/more_layers_more_parameters"])] == ["LLaMA 7B"]


def test_spread_fails_for_small_nets_and_compared_sizes_for_two_pairs() -> None:
    assert {c.group for c in failing(CLAIMS["evidence/gemstones_spread"])} == {"95-117M", "475-543M"}
    assert {c.pair for c in failing(CLAIMS["evidence/compared_sizes"])} == {"Kaplan, 6 and 48 layers", "iGSM, 4 and 16 layers"}


@pytest.mark.parametrize("key", [key for key, claim in CLAIMS.items() if claim.awaited == "HOLDS"])
def test_a_sound_statement_holds_and_its_negation_fails(key: str) -> None:
    claim = CLAIMS[key]
    assert failing(claim) == []
    assert isinstance(claim.statement, sympy.Eq)
    negation = replace(claim, statement=sympy.Ne(*claim.statement.args))
    assert failing(negation) == list(claim.cases("theory"))
