"""Counts of parameters: exact published numbers, bad input, and the verdicts on printed sizes."""
from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from depthlaw.theory import counting
from depthlaw.theory.claim import Case, Claim
from depthlaw.theory.counting.measured import GPT3_TABLE, anatomies, counted, gpt2, llama, widest_shared
from depthlaw.theory.glossary import symbol
from depthlaw.theory.judgement import Verdict, judge

CLAIMS = {c.key: c for c in counting.claims()}


def verdicts(claim: Claim, suite: str = "quick") -> dict[Case, Verdict]:
    return {case: judge(claim, case, claim.measured(case, 0)).verdict for case in claim.cases(suite)}  # type: ignore[misc]


@pytest.mark.parametrize(("shape", "total"), [
    ((12, 768), 124_439_808), ((24, 1024), 354_823_168), ((36, 1280), 774_030_080), ((48, 1600), 1_557_611_200)])
def test_gpt2_has_its_published_number_of_parameters(shape: tuple[int, int], total: int) -> None:
    assert counting.gpt2_parameters(*shape, 50257, 1024) == counted(gpt2(*shape, 50257, 1024)) == total


@pytest.mark.parametrize(("shape", "total"), [
    ((32, 4096, 4096, 4096, 11008), 6_738_415_616), ((80, 8192, 8192, 1024, 28672), 68_976_648_192)])
def test_llama_has_its_published_number_of_parameters(shape: tuple[int, ...], total: int) -> None:
    assert counting.llama_parameters(*shape, 32000) == counted(llama(*shape, 32000)) == total


def test_layer_weights_of_gated_and_grouped_layers() -> None:
    assert counting.layer_weights(4096, 4096, 1024, 14336, 3) == 2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336
    assert counting.layer_weights(3, 3, 3, 8, 3) == 12 * 3**2, "a gate with d_ff = 8 d / 3 costs as much as none with 4 d"


@pytest.mark.parametrize("call", [
    lambda: counting.gpt2_parameters(0, 768, 50257, 1024), lambda: counting.gpt2_parameters(12, 768.0, 50257, 1024),  # type: ignore[arg-type]
    lambda: counting.llama_parameters(1, 1, 1, 1, 1, -1), lambda: counting.layer_weights(True, 1, 1, 1),
    lambda: counting.active_parameters(10, 1, 1, 1, 2, 0)])
def test_sizes_must_be_positive_integers(call) -> None:
    with pytest.raises(ValueError, match="positive integer"):
        call()


def test_more_active_experts_than_experts_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 2"):
        counting.active_parameters(100, 1, 1, 1, 2, 3)


def test_all_experts_active_means_all_parameters() -> None:
    assert counting.active_parameters(100, 1, 1, 1, 4, 4) == 100


@pytest.mark.parametrize("key", ["gpt2_total", "llama_total", "nemo_formula", "kaplan_weights", "twelve"])
def test_identities_are_proved_and_a_changed_constant_breaks_the_proof(key: str) -> None:
    claim = CLAIMS["counting/" + key]
    assert claim.proof is not None
    assert claim.evidence == "argument"
    assert 0 < len(claim.rests_on) <= 160
    assert all(step.holds for step in claim.proof(claim.statement))
    wrong = sympy.Eq(claim.statement.lhs, claim.statement.rhs + symbol("width"), evaluate=False)
    assert not all(step.holds for step in claim.proof(wrong))
    assert Verdict.FAILS in verdicts(replace(claim, statement=wrong)).values()


def test_textbook_sizes_fail_at_gpt2_xl_and_llama_70b_only() -> None:
    found = verdicts(CLAIMS["counting/textbook_sizes"])
    assert {case.model for case, v in found.items() if v is Verdict.FAILS} == {"GPT-2 XL", "LLaMA 70B"}


def test_both_options_of_the_textbook_have_302_million_weights() -> None:
    found = verdicts(CLAIMS["counting/textbook_options"])
    assert list(found.values()) == [Verdict.FAILS, Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS]
    assert 12 * 6 * 2048**2 == 12 * 24 * 1024**2 == 301_989_888


def test_both_rows_of_gpt3_whose_heads_do_not_make_the_width_are_found() -> None:
    found = verdicts(CLAIMS["counting/gpt3_heads"])
    assert len(found) == 8
    assert [case.model for case, v in found.items() if v is Verdict.FAILS] == ["GPT-3 XL", "GPT-3 13B"]


def test_rows_of_table_2_1_agree_with_the_listed_shapes() -> None:
    for name, sizes in GPT3_TABLE.items():
        listed = [a.sizes for a in anatomies().values() if a.name == name or a.name.startswith(name + " ")]
        assert [(s["width"], s["heads"], s["head_width"]) for s in listed] == ([] if name == "GPT-3 XL" else [sizes])


def test_every_listed_model_of_one_stack_with_a_size_is_asked_for_it() -> None:
    found = verdicts(CLAIMS["counting/reported_sizes"], "theory")
    assert {case.model for case in found} == {a.name for a in anatomies().values() if a.plain and a.reported}
    failing = {case.model for case, v in found.items() if v is Verdict.FAILS}
    assert len(failing) == 11
    assert "SoViT-150m/14" in failing, "an encoder that fails is not left out"


def test_layers_that_share_weights_cost_operations_in_place_of_weights() -> None:
    assert [case.depth for case, v in verdicts(CLAIMS["counting/shared_layers"]).items() if v is Verdict.HOLDS] == [1, 4, 12, 24, 24]
    assert widest_shared(4, 64) == 128
    assert gpt2(1, 128).weights() == gpt2(4, 64).weights()
    assert gpt2(1, 129).weights() > gpt2(4, 64).weights()


@pytest.mark.parametrize("key", ["rule_of_twelve", "textbook_sizes", "textbook_flops", "textbook_memory"])
def test_approximations_read_as_equalities_are_marked(key: str) -> None:
    assert CLAIMS["counting/" + key].wording == "universal"


def test_rule_of_twelve_fails_for_gated_and_grouped_models_only() -> None:
    found = verdicts(CLAIMS["counting/rule_of_twelve"], "theory")
    failing = {case.model for case, v in found.items() if v is Verdict.FAILS}
    assert "Gemma-1-7B" in failing
    assert not {m for m in failing if m.startswith(("GPT-", "OPT-", "Pythia"))}
