"""Depth of formal languages: certificates of lower bounds, expressions, claims one off."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from depthlaw.theory.claims.definition import Case, Claim
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.formal_languages import counting_logic, hard_attention, star_free
from depthlaw.theory.formal_languages.automaton import block_language, minimal, words
from depthlaw.theory.formal_languages.temporal_logic import depth, kinds, run

CLAIMS = [
    claim
    for module in (counting_logic, hard_attention, star_free)
    for claim in vars(module).values()
    if isinstance(claim, Claim)
]


def verdicts(claim: Claim) -> set[Verdict]:
    return {judge(claim, case, claim.measure(case)).verdict for case in claim.cases("quick")}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.key)
def test_claims_hold_and_one_more_fails(claim: Claim) -> None:
    assert verdicts(claim) == {Verdict.HOLDS}
    more = sympy.Eq(claim.statement.lhs, claim.statement.rhs + 1, evaluate=False)
    assert verdicts(replace(claim, statement=more)) == {Verdict.FAILS}


def test_what_is_ours_is_credited_to_us_and_nothing_is_printed_that_was_not_read() -> None:
    """Of one source an abstract and a figure were read, of the other the numbers of a figure."""
    for claim in CLAIMS:
        assert (claim.source.key == "depthlaw") == (claim.wording == "derived"), claim.key
        assert claim.source.key != "yang2024masked", claim.key
    assert [claim.name for claim in CLAIMS if claim.wording == "printed"] == ["crasp_accuracy"]
    source = counting_logic.crasp_accuracy.source
    assert str(source) == "yang2025knee, arXiv:2506.16055v2, Figure 2"


def test_the_witness_of_the_mask_is_invariant_under_doubling_beyond_the_cases() -> None:
    pairs = hard_attention.non_strict_mask.measure
    assert [pairs(Case(depth=layers, longest=6)).value for layers in (6, 9)] == [0, 0]


@pytest.mark.parametrize("name", list(hard_attention.LANGUAGES))
def test_network_of_a_listed_language_accepts_its_regular_expression(name: str) -> None:
    layers, expression, formula = hard_attention.LANGUAGES[name]
    automaton = minimal(expression)
    assert all(run(formula, word) == (automaton.accepts(word), layers) for word in words(7))


def test_a_clash_is_a_pair_that_the_depth_cannot_tell_apart() -> None:
    accepts, listed = minimal("a*b*").accepts, list(words(6))
    first, second = hard_attention.clash(accepts, 1, listed) or ("", "")
    assert accepts(first) != accepts(second)
    assert kinds(first, 1) == kinds(second, 1)
    assert hard_attention.clash(accepts, 2, listed) is None


def test_a_wrong_network_and_a_wasteful_one_are_not_certified() -> None:
    at_least = hard_attention.at_least
    _, expression, right = hard_attention.LANGUAGES["ends in b"]
    two = at_least(2)
    formulas = (at_least(1), ("and", right, at_least(1)), ("and", right, ("or", two, ("not", two))))
    accepts = minimal(expression).accepts
    found = [hard_attention.least_layers(accepts, formula, 4).value for formula in formulas]
    assert found == [-1, 1, -1]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_blocks_formula_has_the_stated_depth(k: int) -> None:
    assert depth(hard_attention.blocks_formula(k)) == k // 2 + 1


def test_no_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one block"):
        block_language(0)


def test_modular_languages_count() -> None:
    automaton = minimal(star_free.modular(3))
    assert all(automaton.accepts(word) == (word.count("a") % 3 == 0) for word in words(7))


def test_star_free_difference_counts_words() -> None:
    differ = star_free.star_free_expressions.measure
    assert differ(Case(expression="(ab)*", star_free="(ab)*")).value == 0
    # The words a^i b^j with j > 0.
    assert differ(Case(expression="a*", star_free="a*b*")).value == sum(range(10))


def test_the_prediction_formula_is_wrong_on_words_that_are_not_of_k_blocks() -> None:
    prediction, case = counting_logic.crasp_prediction, Case(blocks=4, longest=3)
    assert not minimal(block_language(4)).accepts("bab")
    assert counting_logic.truths(counting_logic.in_block(4), "bab")[-1]
    assert prediction.measure(Case(blocks=4, longest=9)).value == 2
    assert prediction.measure(prediction.control.case, control=True).value == -1
    assert prediction.measure(case, control=True).value == -1


def test_depth_one_counting_defines_one_block_only() -> None:
    found = [counting_logic.crasp_depth_one.measure(Case(blocks=k, longest=8)) for k in (1, 2, 3)]
    assert [each.value for each in found] == [0, 1, 1]
