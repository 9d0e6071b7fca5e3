"""Parameters: exact published numbers, proofs against changed constants, listed shapes, and the
verdicts on printed sizes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import sympy

from depthlaw.advisor.models import models
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.counting import published_sizes as published
from depthlaw.theory.counting.counted_nets import (
    CountedNet,
    bert,
    counted,
    counted_weights,
    gpt2,
    llama,
    t5,
)


@pytest.mark.parametrize(
    ("net", "total"),
    [
        (gpt2(12, 768, 50257, 1024), 124_439_808),
        (gpt2(24, 1024, 50257, 1024), 354_823_168),
        (gpt2(36, 1280, 50257, 1024), 774_030_080),
        (gpt2(48, 1600, 50257, 1024), 1_557_611_200),
        (llama(32, 4096, 4096, 4096, 11008, 32000), 6_738_415_616),
        (llama(80, 8192, 8192, 1024, 28672, 32000), 68_976_648_192),
        (bert(12, 768, 30522, 512), 109_482_240),
        (t5(24, 1024, 128 * 128, 65536, 32128, 128), 11_307_321_344),
    ],
)
def test_nets_have_their_published_number_of_parameters(net: CountedNet, total: int) -> None:
    assert counted(net) == total


@pytest.mark.parametrize(
    "net", [gpt2(3, 4, 5, 6), llama(2, 3, 5, 7, 11, 13), t5(2, 4, 6, 8, 10, 2)]
)
def test_walking_through_tensors_agrees_with_the_sum_over_stacks(net: CountedNet) -> None:
    names = [name for name, _ in net.walk()]
    assert len(names) == len(set(names))
    assert counted(net) == net.parameters()
    assert counted_weights(net) == net.weights()


def test_tensors_of_a_net_like_llama_sum_to_its_formula() -> None:
    L, d, inner, kv, ff, V = sympy.symbols("L d inner kv ff V", positive=True)
    formula = L * d * (2 * inner + 2 * kv + 3 * ff + 2) + (2 * V + 1) * d
    assert sympy.expand(llama(L, d, inner, kv, ff, V).parameters() - formula) == 0


@pytest.mark.parametrize(("depth", "size"), [(1, 4), (5, 64), (12, 768), (24, 1024), (24, 2048)])
def test_layers_that_share_weights_can_be_wider_by_the_root_of_the_depth(
    depth: int, size: int
) -> None:
    """At L times the operations."""
    shared, budget = math.isqrt(depth * size**2), counted_weights(gpt2(depth, size))
    assert counted_weights(gpt2(1, shared)) <= budget < counted_weights(gpt2(1, shared + 1))


def test_listed_counts_follow_from_the_listed_shapes() -> None:
    """The two tables against each other: of our typing and not of the models, so it is no claim."""
    shapes = published.anatomies()
    listed = {m.name: m for m in models()}
    assert set(shapes) <= set(listed)
    for name, shape in shapes.items():
        m = listed[name]
        sizes = shape.sizes
        assert (m.layers, m.width, m.heads) == (sizes["layers"], sizes["width"], sizes["heads"])
        assert not shape.plain or m.parameters == shape.weights(), m.name
    assert shapes["GPT-2 small"].weights() == counted_weights(gpt2(12, 768))
    grouped = llama(80, 8192, 8192, 1024, 28672, 32000)
    assert shapes["Llama-2-70B"].weights() == counted_weights(grouped)


def test_every_listed_model_is_used_by_a_claim_or_named_in_the_coverage_table() -> None:
    asked = {
        case.get("model")
        for c in registry().values()
        if c.topic in ("counting", "depth_choice")
        for case in c.cases("theory")
    }
    docs = Path(__file__).parents[2] / "docs" / "coverage" / "counting.md"
    coverage = docs.read_text(encoding="utf-8")
    left = set(published.anatomies()) - asked
    assert left == {"ALBERT-base", "ALBERT-large", "ALBERT-xlarge", "T5-Small", "T5-v1.1-Small"}
    unsized = {name for name, a in published.anatomies().items() if not a.reported}
    assert all(name in coverage for name in left | unsized)


@pytest.mark.parametrize(
    ("text", "size"),
    [("124M", 124 * 10**6), ("6.7B", 67 * 10**8), ("117B (5.1B active, README)", 117 * 10**9)],
)
def test_reported_size(text: str, size: int) -> None:
    assert published.reported_size(text) == size


@pytest.mark.parametrize("text", ["12", "7X", "aB"])
def test_a_size_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        published.reported_size(text)


def test_rows_of_table_2_1_agree_with_the_listed_shapes() -> None:
    for name, sizes in published.GPT3_TABLE.items():
        listed = [
            a.sizes
            for a in published.anatomies().values()
            if a.name == name or a.name.startswith(name + " ")
        ]
        found = [(s["width"], s["heads"], s["head_width"]) for s in listed]
        assert found == ([] if name == "GPT-3 XL" else [sizes])


def test_every_listed_model_of_one_stack_with_a_size_is_asked_for_it() -> None:
    plain = {a.name for a in published.anatomies().values() if a.plain and a.reported}
    assert {case.model for case in published.reported_sizes.cases("theory")} == plain
