"""The claims of the topic: scope, and statements with another exponent."""

import pytest
from judging import claims, failing, verdict
from sympy import Le, log, sqrt

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.symbols import beta, depth, heads, residual
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.rank_collapse.cubic_law import qk_norm, qk_width, residual_next, value_norm
from depthlaw.theory.rank_collapse.deep_layers import gamma, lipschitz, residual_end

CLAIMS = claims("rank_collapse")


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("decay_kernel", Case(tokens=4, levels="4/5 3/5")),
        ("uniform_kernel", Case(tokens=4, levels="1/2 1/10")),
        (
            "one_layer_cubic",
            Case(tokens=2, width=1, residual="1", qk_norm="1", value_norm="1", qk_width=1, bias=0),
        ),
        ("equiangular_flow", Case(by_row_sums=1, tokens=4, common_cosine="-1/2", exp_beta="4")),
        ("long_context", Case(common_cosine="1/2", logit_growth="239/120")),
        (
            "mask_exponential",
            Case(mask="chain", instance="tight", tokens=3, radius=1, least_weight="1/3", depth=1),
        ),
        (
            "path_decomposition",
            Case(skips=False, tokens=3, width=2, depth=2, heads=2, order="reversed"),
        ),
        ("skip_existence", Case(instance="none", tokens=4, width=3, depth=1, heads=2, beta="1/10")),
    ],
)
def test_an_instance_beyond_the_words_is_out_of_scope(name, case):
    assert verdict(CLAIMS[name], case) is Verdict.OUT_OF_SCOPE


L, POWER, NORMS = depth, log(residual), 4 * qk_norm * value_norm / sqrt(qk_width)
BASE = log(4 * gamma * beta * heads * lipschitz / sqrt(qk_width))


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        *(("one_layer_cubic_v1", Le(residual_next, NORMS * residual**n)) for n in (2, 4)),
        ("layers_uniform", Le(log(residual_end), (3**L - 1) / 2 * BASE + 2**L * POWER)),
        ("layers_uniform", Le(log(residual_end), (4**L - 1) / 3 * BASE + 4**L * POWER)),
        ("layers_uniform", Le(log(residual_end), (3**L + 1) / 2 * BASE + 3**L * POWER)),
    ],
)
def test_a_mutated_exponent_turns_a_verdict(name, statement):
    """Of claims without an argument; those with one: test_arguments."""
    assert failing(CLAIMS[name], statement=statement)
