"""Statements about published tables: which verdicts they get, and that a changed number turns them."""
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

from depthlaw.theory import counting, depth_choice, evidence
from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.evidence import measured as measured_by
from depthlaw.theory.judgement import Verdict, judge

DOCS = Path(__file__).parents[2] / "docs"
CLAIMS = {c.key: c for c in evidence.claims()}


def failing(claim: Claim) -> list[Case]:
    assert claim.measured is not None
    return [case for case in claim.cases("theory") if judge(claim, case, claim.measured(case, 0)).verdict is Verdict.FAILS]


def test_one_printed_average_is_impossible() -> None:
    assert failing(CLAIMS["evidence/wide_table_averages"]) == [Case(attention="average", task="IMDb byte", net="wide")]


def test_no_rule_for_halves_gives_the_printed_averages() -> None:
    """What the note of the table's one claim says of halves, which was a claim of its own."""
    up, even = [], []
    for case in CLAIMS["evidence/wide_table_averages"].cases("quick"):
        text, entries = measured_by._averaged(case)
        printed, mean = 10 * Fraction(text), 10 * sum(map(Fraction, entries)) / len(entries)
        if mean % 1 == Fraction(1, 2):
            up.append(printed > mean)
            even.append(printed % 2 == 0)
    assert {True, False} == set(up) == set(even)
    assert "evidence/wide_table_rounding" not in CLAIMS


def test_the_gain_is_asked_over_the_whole_table_only_and_rounding_leaves_it_open() -> None:
    claim = CLAIMS["evidence/wide_attention_gain"]
    assert [case.fields() for case in claim.cases("theory")] == [{"read_from": "40 pairs of entries"}, {"read_from": "bottom line"}]
    assert claim.measured is not None
    assert {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("theory")} == {Verdict.UNDECIDED}
    assert claim.known == "UNDECIDED"
    # A reported 0.3 stands for [0.25, 0.35): 0.25 is what the gain is held against.
    assert claim.statement.rhs == sympy.Rational(1, 4)


def test_the_gain_of_wide_attention_comes_from_listops() -> None:
    assert failing(CLAIMS["evidence/wide_attention_one_task"]) == [Case(without="ListOps")]
    assert {c.task for c in failing(CLAIMS["evidence/wide_attention_wins"])} == {"IMDb token", "IMDb byte"}


@pytest.mark.parametrize("key", ["wide_attention_one_task", "wide_attention_wins", "translation_deepest", "depth_wins", "more_layers_more_parameters",
                                 "compared_sizes", "deepnarrow_half", "critical_depth_exponent"])
def test_a_hardened_sentence_is_marked_and_quoted(key: str) -> None:
    claim = CLAIMS["evidence/" + key]
    assert claim.wording == "universal"
    assert claim.note.count('"') >= 2


def test_sixty_layers_beat_six_in_every_metric_against_both_nets_of_six() -> None:
    claim = CLAIMS["evidence/translation_all_metrics"]
    assert len(claim.cases("quick")) == 2 * 2 * 3
    assert not failing(claim)
    smallest = min(measured_by.improvement(c.over, c.language, c.metric).low for c in claim.cases("quick"))
    assert smallest == Fraction("1.4")


@pytest.mark.parametrize("key", ["article_threshold", "fit_layers_per_factor", "threshold_layers_per_factor"])
def test_what_only_repeated_another_claim_or_a_number_of_ours_is_gone(key: str) -> None:
    assert "evidence/" + key not in CLAIMS


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
    negation = replace(claim, statement=claim.statement.negated)
    assert failing(negation) == list(claim.cases("theory"))


@pytest.mark.parametrize("claim", [c for topic in (counting, depth_choice, evidence) for c in topic.claims()
                                   if c.source.key in ("deepnetworks63", "kdnuggets2020")], ids=lambda c: c.key)
def test_a_claim_on_a_text_without_numbered_statements_quotes_what_it_checks(claim: Claim) -> None:
    if claim.wording in ("printed", "universal") or claim.source.key == "deepnetworks63":
        assert "sentence" in claim.note
        assert claim.note.count('"') >= 2
    if claim.source.key == "deepnetworks63":
        assert claim.source.place.startswith("Section 6.3, ")
        assert claim.note.startswith("Checked sentence")


@pytest.mark.parametrize("sentence", [
    "two layers are enough, as shown in the universal approximation theorem",
    "mH might have to be linear in D",
    "The successful ALBERT",
    "using only a fraction of it for computation in each layer",
    "Representational power: Similar, Similar",
    "English to Setswana (123868), Sepedi (30777), and Afrikaans (53172)",
    "3 layers is better than the standard 6",
])
def test_a_sentence_of_the_texts_that_depthlaw_began_with_has_a_row(sentence: str) -> None:
    pages = [DOCS / "coverage.md", *(DOCS / "coverage").glob("*.md")]
    rows = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if sentence in line]
    assert rows, sentence
    # Sentence, place, and the claim or the reason why there is none.
    assert all(len(row.strip("| ").split(" | ")) == 3 for row in rows)
