"""Nets as lists of tensors: exact sizes of published checkpoints, and the table of anatomies."""
from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from depthlaw.theory import counting, depth_choice
from depthlaw.theory.claim import Case
from depthlaw.theory.counting import layer_weights
from depthlaw.theory.counting import measured as measured_by
from depthlaw.advisor.models import models


def test_bert_t5_and_mixtral_have_their_published_number_of_parameters() -> None:
    assert measured_by.counted(measured_by.bert(12, 768, 30522, 512)) == 109_482_240
    assert measured_by.counted(measured_by.t5(24, 1024, 128 * 128, 65536, 32128, 128)) == 11_307_321_344
    assert measured_by.counted(measured_by.mixture(32, 4096, 4096, 1024, 14336, 32000, 8)) == 46_702_792_704


def test_walking_through_tensors_agrees_with_the_sum_over_stacks() -> None:
    for net in (measured_by.gpt2(3, 4, 5, 6), measured_by.llama(2, 3, 5, 7, 11, 13), measured_by.t5(2, 4, 6, 8, 10, 2)):
        names = [name for name, _ in net.walk()]
        assert len(names) == len(set(names))
        assert measured_by.counted(net) == net.parameters()
        assert measured_by.counted_weights(net) == net.weights()


def test_one_layer_of_width_one() -> None:
    assert measured_by.gpt2(1, 1).weights() == 12
    assert measured_by.gpt2(1, 1, 1, 1).parameters() == 12 + 9 + 4 + 1 + 1 + 2


def test_every_listed_model_has_an_anatomy_of_the_same_shape() -> None:
    shapes = measured_by.anatomies()
    assert {m.name for m in models()} == set(shapes)
    for m in models():
        sizes = shapes[m.name].sizes
        assert (m.layers, m.width, m.heads) == (sizes["layers"], sizes["width"], sizes["heads"])


def test_listed_counts_follow_from_the_listed_shapes() -> None:
    """The two tables against each other: a check of our typing and not of the models, so it is no claim."""
    for m in models():
        shape = measured_by.anatomies()[m.name]
        if shape.plain:
            s = shape.sizes
            one = layer_weights(s["width"], s["heads"] * s["head_width"], s["kv_heads"] * s["head_width"], s["ff_width"], s["mlp_matrices"])
            assert m.parameters == s["layers"] * one == sum(rows * columns for rows, columns in measured_by.matrices(shape)), m.name


def test_every_listed_model_is_used_by_a_claim_or_named_in_the_coverage_table() -> None:
    asked = {case.get("model") for c in (*counting.claims(), *depth_choice.claims()) for case in c.cases("theory")}
    coverage = (Path(__file__).parents[2] / "docs" / "coverage" / "counting.md").read_text(encoding="utf-8")
    left = {name for name, a in measured_by.anatomies().items() if name not in asked}
    assert left == {"ALBERT-base", "ALBERT-large", "ALBERT-xlarge", "T5-Small", "T5-v1.1-Small"}
    assert all(name in coverage for name in left)
    unsized = {name for name, a in measured_by.anatomies().items() if not a.reported}
    assert all(name in coverage for name in unsized)


@pytest.mark.parametrize(("text", "size"), [("124M", 124 * 10**6), ("6.7B", 67 * 10**8), ("117B (5.1B active, README)", 117 * 10**9)])
def test_reported_size(text: str, size: int) -> None:
    assert measured_by.reported_size(text) == size


@pytest.mark.parametrize("text", ["12", "7X", "aB"])
def test_a_size_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        measured_by.reported_size(text)


def test_rule_error_is_exact() -> None:
    assert measured_by.rule_error("GPT-2 small").value == 0
    assert measured_by.rule_error("Gemma-1-7B").value == Fraction(13, 22)


def test_the_symbolic_tensors_that_a_token_passes_are_those_that_a_walk_keeps() -> None:
    for experts, active in ((5, 1), (4, 3), (8, 8)):
        case = Case(depth=2, width=6, attention_width=4, kv_width=2, ff_width=10, vocabulary=7, experts=experts, experts_active=active)
        assert measured_by.counted(measured_by.mixture_seen(2, 6, 4, 2, 10, 7, experts, active)) == measured_by.active(case).value


def test_all_experts_active_is_the_whole_net() -> None:
    case = Case(depth=2, width=3, attention_width=3, kv_width=3, ff_width=4, vocabulary=5, experts=3, experts_active=3)
    assert measured_by.active(case).value == measured_by.counted(measured_by.mixture(2, 3, 3, 3, 4, 5, 3))
