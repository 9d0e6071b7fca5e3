"""Parameters: exact published numbers, listed shapes, and what names say of sizes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from depthlaw.advisor.models import models
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.counting import published_sizes as published
from depthlaw.theory.counting.counted_nets import CountedNet, bert, gpt2, llama, t5


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
    assert net.parameters() == total


def test_layers_that_share_weights_can_be_wider_by_the_root_of_the_depth() -> None:
    """At L times the operations."""
    depth, size = 24, 2048
    shared, budget = math.isqrt(depth * size**2), gpt2(depth, size).weights()
    assert gpt2(1, shared).weights() <= budget < gpt2(1, shared + 1).weights()


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
    assert shapes["GPT-2 small"].weights() == gpt2(12, 768).weights()
    grouped = llama(80, 8192, 8192, 1024, 28672, 32000)
    assert shapes["Llama-2-70B"].weights() == grouped.weights()


def test_every_listed_model_is_used_by_a_claim_or_named_on_a_page() -> None:
    asked = {
        case.get("model")
        for c in registry().values()
        if c.topic in ("counting", "depth_choice")
        for case in c.cases("theory")
    }
    page = Path(__file__).parents[2] / "docs" / "papers" / "kaplan2020.md"
    named = " ".join(page.read_text(encoding="utf-8").split())
    left = set(published.anatomies()) - asked
    assert left == {"ALBERT-base", "ALBERT-large", "ALBERT-xlarge", "T5-Small", "T5-v1.1-Small"}
    unsized = {name for name, a in published.anatomies().items() if not a.reported}
    assert all(name in named for name in left | unsized)


def test_rows_of_table_2_1_agree_with_the_listed_shapes() -> None:
    for name, sizes in published.GPT3_TABLE.items():
        listed = [
            a.sizes
            for a in published.anatomies().values()
            if a.name == name or a.name.startswith(name + " ")
        ]
        found = [(s["width"], s["heads"], s["head_width"]) for s in listed]
        assert found == ([] if name == "GPT-3 XL" else [sizes])


def test_a_name_gives_the_size_of_a_listed_model_but_for_some() -> None:
    """Within 5 % of weights, embeddings, positions and read-out; both are our lists. Names are
    rounded, or name another count; relative positions and heads of vision are not listed."""
    far = set()
    for a in published.anatomies().values():
        if a.plain and a.reported:
            number, unit = a.reported.split()[0][:-1], a.reported.split()[0][-1]
            s, size = a.sizes, float(number) * {"M": 10**6, "B": 10**9}[unit]
            outside = s["width"] * (s["vocab"] * (1 if a.tied else 2) + s["positions"])
            if abs(size / (a.weights() + outside) - 1) > 1 / 20:
                far.add(a.name)
    assert len(far) == 11
    assert {"Falcon3-1B", "MPT-1B", "Qwen1.5-7B"} <= far
