"""Every argument is confirmed, and neither it nor the quick cases let another constant pass.

Tried are up to three changes of one constant or function, spread over the statement;
`depthlaw mutate` tries all.
"""

import dataclasses
from functools import cache

import pytest

from depthlaw.ledger.verdicts.mutation import mutants
from depthlaw.theory.claims.definition import Claim, registry
from depthlaw.theory.claims.verdict import Verdict, judge

PROVED = {k: c for k, c in registry().items() if c.proof and c.evidence != "certificate"}
# How many of the changes leave a weaker bound, which the same argument proves.
WEAKER = {
    "least_depth/parity_uniform": 1,
    "rank_collapse/distance_to_equal": 1,
    "rank_collapse/gamma_bound": 1,
    "rank_collapse/layers_product": 1,
    "rank_collapse/mean_centre_factor": 2,
    "rank_collapse/one_layer_cubic": 1,
    "rank_collapse/position_bias": 1,
    "rank_collapse/softmax_perturbation": 2,
    "signal_propagation/amplification_pre_ln": 1,
    "signal_propagation/pre_ln_norm": 2,
}
JUDGED = PROVED | {
    k: c
    for k, c in registry().items()
    if c.statement.rel_op == "==" and not c.needs and c.cases("quick") and not c.certified
}
# How many changes an equality lets pass that is rounded, or that no case decides.
UNNOTICED = {
    "hops/construction_printed_hops": 1,
    "hops/experiment_dropout": 1,
    # Under a ceiling a quarter and a little less differ from many blocks on.
    "least_depth/blocks_both_ways": 1,
    # Under a ceiling a half and 99/200 differ from a hundred bits on.
    "least_depth/parity_readout_degree": 1,
    "least_depth/parity_two_layers": 1,
    "rank_collapse/real_heads_second_singular": 1,
    "separation_rank/knee": 1,
}
# Their quick cases take longer than two seconds.
LONG = {
    *("connectivity/layers_for_diameter", "connectivity/reach", "depth_choice/gpt3_projection"),
    *("formal_languages/blocks_hard_attention", "hops/depth_carried_symbols"),
    *("hops/depth_printed_floating", "hops/depth_printed_softmax", "hops/scored_positions"),
    *("hops/self_skip_subset_sums", "rank_collapse/real_heads_second_singular"),
    *("separation_rank/four_tokens", "separation_rank/generic_one_head"),
    *("separation_rank/graded_rank", "separation_rank/heads_exact"),
    *("signal_propagation/last_gradient_slope", "signal_propagation/mup_learning_rates"),
}
# What a changed statement may break off with, having no value or no form that the steps know.
NO_VALUE = (ArithmeticError, AttributeError, IndexError, TypeError, ValueError)


@cache
def changes(claim: Claim) -> list[Claim]:
    every = [other for _, other in mutants(claim.statement) if other.func is claim.statement.func]
    return [dataclasses.replace(claim, statement=other) for other in every]


def some(claim: Claim) -> list[Claim]:
    return changes(claim)[:: max(1, -(-len(changes(claim)) // 3))]


def passes(claim: Claim) -> bool:
    try:
        return all(step.holds for step in claim.proof(claim.statement))
    except NO_VALUE:
        return False


@pytest.mark.parametrize("claim", PROVED.values(), ids=PROVED)
def test_an_argument_is_confirmed_and_refuses_other_constants(claim: Claim):
    assert [step.says for step in claim.proof(claim.statement) if step.holds is not True] == []
    if claim.evidence == "argument":
        assert sum(map(passes, some(claim))) == WEAKER.get(claim.key, 0)


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(claim, id=key, marks=[pytest.mark.slow] if key in LONG else [])
        for key, claim in JUDGED.items()
    ],
)
def test_quick_cases_notice_other_constants(claim: Claim):
    """All of them where an equality is stated, at least one where a bound has room; and they refute
    no claim that holds."""
    if not (others := changes(claim)):
        return
    values = [(case, claim.measure(case)) for case in claim.cases("quick")]

    right = [judge(claim, case, value, force=True).verdict for case, value in values]
    assert claim.awaited == "FAILS" or Verdict.FAILS not in right

    def noticed(other: Claim) -> bool:
        try:
            return any(
                judge(other, case, value, force=True).verdict is not verdict
                for (case, value), verdict in zip(values, right, strict=True)
            )
        except NO_VALUE:
            return True

    if claim.statement.rel_op == "==":
        unnoticed = sum(not noticed(other) for other in some(claim))
        assert unnoticed == UNNOTICED.get(claim.key, 0)
    else:
        # All sizes for which the exponents can be counted lie far below their bound.
        assert any(map(noticed, others)) or claim.name == "exponent_count"
