"""The table of shapes: rows are consistent, names are found, and shapes become nets."""

from __future__ import annotations

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import count
from depthlaw.advisor.models import architecture, model, models

STATUS = {"seen", "seen (secondary)", "mixed", "recalled"}


def test_rows_are_unique_complete_and_marked() -> None:
    rows = models()
    assert len({m.name for m in rows}) == len(rows) == 182
    assert {m.status for m in rows} == STATUS
    assert {m.year_status for m in rows} == {"seen", "recalled"}
    assert all(m.source and m.family and m.kind and m.type for m in rows)
    assert all(min(m.layers, m.width, m.heads, m.parameters) > 0 for m in rows)
    assert all(2018 <= m.year <= 2026 for m in rows)
    assert [m.name for m in rows if not m.complete] == ["SoViT-400m/14", "SoViT-150m/14"]


@pytest.mark.parametrize(
    "name", ["Llama-3-8B", "llama-3-8b", "LLAMA 3 8B", "llama_3_8b", "meta-llama/Llama-3-8B"]
)
def test_spelling_does_not_matter(name: str) -> None:
    assert model(name).name == "Llama-3-8B"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("llama-3-9b", "Llama-3-8B"),
        ("mistral-7b", "Mistral-7B-v0.1, Mistral-7B-v0.3"),
        ("llama-31-8b", "Llama-3.1-8B"),
        ("", "Llama-3-8B"),
        ("no such thing", "Llama-3-8B"),
        ("\x1b[31m" + "x" * 10**5, "Llama-3-8B"),
    ],
)
def test_an_unknown_name_is_one_line_with_names_like_it(name: str, near: str) -> None:
    with pytest.raises(UsageError, match="no model") as caught:
        model(name)
    said = str(caught.value)
    assert near in said
    assert said.isprintable()
    assert len(said) < 300


# What Hugging Face's hub prints of the checkpoints, as recalled.
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("GPT-2 small", 124_439_808),
        ("OPT-350M", 331_196_416),
        ("BLOOM-176B", 176_247_271_424),
        ("Pythia-12B", 11_846_072_320),
        ("Llama-3.1-405B", 405_853_388_800),
        ("Mistral-7B-v0.1", 7_241_732_096),
        ("Gemma-1-2B", 2_506_172_416),
        ("Gemma-2-9B", 9_241_705_984),
        ("Qwen3-8B", 8_190_735_360),
        ("Phi-3-mini", 3_821_079_552),
        ("Falcon-7B", 6_921_720_704),
        ("OLMoE-1B-7B", 6_919_161_856),
        ("DeepSeek-V2-Lite", 15_706_484_224),
        ("gpt-oss-20b", 20_914_757_184),
        ("T5-Small", 60_506_624),
        ("ModernBERT-base", 149_655_232),
    ],
)
def test_nets_have_the_parameters_of_their_checkpoints(name: str, parameters: int) -> None:
    assert count(architecture(model(name))).total == parameters
