"""Depth of formal languages: the formulas, their bad input, and claims that a changed constant turns."""
from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from depthlaw.theory import formal_languages
from depthlaw.theory.claim import Claim
from depthlaw.theory.formal_languages.measured import block_layers, counting_depth, prediction_depth
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = list(formal_languages.claims())


def verdicts(claim: Claim) -> set[Verdict]:
    assert claim.measured is not None
    return {judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases("quick")}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_formulas_agree_with_executed_networks(k: int) -> None:
    assert formal_languages.hard_attention_layers(k) == block_layers(k, 7).value
    assert formal_languages.counting_layers(k) == counting_depth(k, 8).value
    if k >= 3:
        assert formal_languages.counting_layers(k, prediction=True) == prediction_depth(k, 8).value


@pytest.mark.parametrize("blocks", [0, -1, 1.5, True])
def test_blocks_must_be_a_positive_integer(blocks) -> None:
    with pytest.raises(ValueError, match="positive integer"):
        formal_languages.hard_attention_layers(blocks)


def test_prediction_is_stated_from_three_blocks_on() -> None:
    with pytest.raises(ValueError, match="from three blocks"):
        formal_languages.counting_layers(2, prediction=True)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.key)
def test_claims_hold_and_one_more_fails(claim: Claim) -> None:
    assert verdicts(claim) == {Verdict.HOLDS}
    one_more = replace(claim, statement=sympy.Eq(claim.statement.lhs, claim.statement.rhs + 1, evaluate=False))
    assert verdicts(one_more) == {Verdict.FAILS}


def test_what_is_ours_is_credited_to_us_and_nothing_is_printed_that_was_not_read() -> None:
    """Of yang2024masked the abstract and a figure were read, of yang2025knee a restatement and the numbers of one figure."""
    for claim in CLAIMS:
        assert (claim.source.key == "depthlaw") == (claim.wording == "derived"), claim.key
        assert claim.source.key != "yang2024masked", claim.key
    assert {claim.key for claim in CLAIMS if claim.wording == "printed"} == {"formal_languages/crasp_accuracy"}
    assert {claim.key: str(claim.source) for claim in CLAIMS}["formal_languages/crasp_accuracy"] == "yang2025knee, arXiv:2506.16055v2, Figure 2"


def test_the_witness_of_the_mask_is_invariant_under_doubling_beyond_the_cases() -> None:
    from depthlaw.theory.formal_languages.measured import stutter_pairs

    assert [stutter_pairs(layers, 6, strict=False).value for layers in (6, 9)] == [0, 0]
