"""Families of 2024 to 2026: configurations counted to the last parameter, layers by kind, caches
and states; hybrid, recurrent and looped nets by name; what is refused, and what is said."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.atlas import classes
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import by_part, count, flops, kv_numbers, memory, per_layer
from depthlaw.advisor.huggingface import architecture_of, config_of
from depthlaw.advisor.latency import LatencyPoint, fit
from depthlaw.advisor.layer_kinds import layer_kinds
from depthlaw.advisor.model_classes import CLASSES, REFUSED
from depthlaw.advisor.published import hybrids, published, published_names
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.training_memory import ParallelPlan, training_memory
from depthlaw.advisor.words import as_text, citation

# Each with its count, and by what it was counted.
ROWS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("families.json").read_text(encoding="utf-8")
)


def net_of(row: dict[str, Any]) -> Architecture:
    """The net of a row."""
    return architecture_of(row.get("config") or hybrids()[row["what"]]["config"])


# --- counts ---------------------------------------------------------------------------------------


def test_every_configuration_has_its_count() -> None:
    assert [r["what"] for r in ROWS if count(net_of(r)).total != r["total"]] == []
    mixed = [r for r in ROWS if net_of(r).mixed or net_of(r).unique_layers]
    assert len(ROWS) >= 150
    assert len(mixed) >= 80
    # Each class that is hybrid, recurrent or looped stands there; those around one stand for it.
    kinds = {net_of(r).family for r in ROWS} | {"qwen3_5", "qwen3_5_moe"}
    assert {kind for kind, row in CLASSES.items() if row.blocks} - kinds == set()


@pytest.mark.parametrize(
    ("around", "text"),
    [
        ("llama4", "llama4_text"),
        ("mistral3", "ministral3"),
        ("qwen3_5", "qwen3_5_text"),
        ("qwen3_5_moe", "qwen3_5_moe_text"),
    ],
)
def test_the_language_model_of_a_net_with_images_is_counted_alone(around: str, text: str) -> None:
    row = next(r for r in ROWS if r.get("config", {}).get("model_type") == text)
    a = architecture_of({"model_type": around, "text_config": row["config"]})
    assert count(a).total == row["total"]
    assert any("vision tower" in remark for remark in a.remarks)


def test_named_nets_have_about_their_reported_size_and_a_source_with_a_mark() -> None:
    assert len(hybrids()) >= 30
    for name, row in hybrids().items():
        a = published(name).architecture
        assert row["mark"] in ("printed", "reported", "recalled"), name
        assert row["source"], name
        number = re.fullmatch(r"([\d.,]+)([MB]?)", row["reported"] or "0")
        size = float(number[1].replace(",", "")) * {"M": 1e6, "B": 1e9, "": 1}[number[2]]
        assert not size or abs(math.log(count(a).total / size)) < 0.07, name
        assert a.parts or a.own_layers < a.layers, name


@pytest.mark.parametrize("row", ROWS[::7], ids=lambda r: r.get("config", {}).get("model_type"))
def test_parts_add_up_and_layers_of_all_kinds_fill_the_depth(row: dict[str, Any]) -> None:
    a = net_of(row)
    assert sum(by_part(a).values()) == count(a).total
    kinds = Counter(a.layer_kinds)
    assert a.layers <= kinds.total() + (a.layers - a.attending) * (a.norms_per_layer == 1)
    assert set(kinds) <= {"attention", "sliding-window", *layer_kinds()}
    assert per_layer(a) > 0
    # A full cache of attention alone, and states that do not grow.
    growth = kv_numbers(a, 64) - kv_numbers(a, 32)
    assert (growth == 0) == (a.attending == 0 or a.kind == "encoder")


# --- kinds, caches and states ---------------------------------------------------------------------


def test_layers_of_known_nets_by_kind() -> None:
    for name, kinds in {
        "qwen3-next": {"attention": 12, "gated-deltanet": 36},
        "Jamba-v0.1": {"attention": 4, "mamba": 28},
        "granite-4.0-h-small": {"attention": 4, "mamba2": 36},
        "kimi-linear": {"attention": 7, "kimi-delta": 20},
        "nemotron-h-8b": {"attention": 4, "mamba2": 24},
        "falcon-h1-7b": {"attention": 44, "mamba2": 44},
        "minimax-text-01": {"attention": 10, "lightning": 70},
        "recurrentgemma-2b": {"sliding-window": 8, "rg-lru": 18},
        "mamba-2.8b": {"mamba": 64},
        "rwkv-7-1.5b": {"rwkv7": 24},
        "lfm2-1.2b": {"attention": 6, "short-conv": 10},
        "ouro-1.4b": {"attention": 96},
    }.items():
        assert published(name).architecture.layer_kinds == kinds, name
    # Two Mamba blocks are about one layer of a transformer of that width.
    mamba, neox = (per_layer(published(n).architecture) for n in ("mamba-2.8b", "pythia-2.8b"))
    assert 0.48 < mamba / neox < 0.56


def test_caches_and_states_by_hand() -> None:
    def numbers(name: str, tokens: int) -> int:
        return kv_numbers(published(name).architecture, tokens)

    # 12 layers of 2 key heads of 256; 36 states of 32 x 128 x 128, and 3 tokens of 8,192 channels.
    state = 36 * (32 * 128 * 128 + 3 * 8192)
    assert numbers("qwen3-next", 0) == state
    assert numbers("qwen3-next", 1000) == state + 12 * 2 * 2 * 256 * 1000
    # The shapes of Falcon-H1-0.5B as a program that loads it has them: keys (2, tokens, 64), a
    # state (24, 64, 128), and 1,792 channels of a convolution over 4 tokens, the last one given.
    assert numbers("falcon-h1-0.5b", 10) == 36 * (2 * 2 * 64 * 10 + 24 * 64 * 128 + 1792 * 3)
    # Latent attention in 7 layers; windows of 2,048 tokens in 12, beside 26 states of 4,096.
    assert numbers("kimi-linear", 5) - numbers("kimi-linear", 0) == 7 * 5 * (512 + 64)
    assert numbers("recurrentgemma-9b", 10**6) == 12 * 2 * 256 * 2048 + 26 * 4 * 4096
    # Every pass through a looped layer has keys of its own.
    assert numbers("ouro-1.4b", 3) == 96 * 2 * 2048 * 3
    assert memory(published("mamba-2.8b").architecture).kv_cache == 2 * 64 * (16 + 3) * 5120


def test_operations_of_states_do_not_grow_and_training_memory_is_not_guessed() -> None:
    a = published("mamba-2.8b").architecture
    # Products with all matrices and the output layer, and two with each number of the state.
    matrices = 64 * 2560 * (3 * 5120) + 64 * 5120 * (4 + 192 + 160) + 50280 * 2560
    assert flops(a, 10).forward == flops(a, 10**6).forward == 2 * (matrices + 64 * 2 * 5120 * 16)
    assert memory(a).activations is None
    assert memory(a).training is None
    with pytest.raises(UsageError, match="layers of rwkv7 is not known here"):
        training_memory(published("rwkv-7-1.5b").architecture, ParallelPlan(8))
    with pytest.raises(
        UsageError, match="tensor parallelism for layers of mamba: .* accepted is 1"
    ):
        training_memory(a, ParallelPlan(8, tensor=8))
    near = fit([LatencyPoint(n, 2560, n / 2) for n in (12, 36)])
    assert "other kinds than attention" in near.outside(a)


def test_a_kind_has_a_class_of_the_atlas_or_none() -> None:
    for kind, row in layer_kinds().items():
        assert row.name, kind
        assert row.differs, kind
        assert row.mark in ("printed", "reported", "recalled", "derived"), kind
        assert not row.atlas or row.atlas in classes(), kind


# --- what is said ---------------------------------------------------------------------------------


def test_a_hybrid_is_counted_and_its_depth_is_not_judged() -> None:
    a = published("qwen3-next").architecture
    found = recommend(hf=a, memory=80e9)
    assert found.given.layer_kinds == {"attention": 12, "gated-deltanet": 36}
    assert sum(found.given.by_part.values()) == count(a).total
    assert found.verdict_codes == ("depth", "kinds", "by-part", "state", "class", "limit")
    assert (found.laws, found.interval, found.instead, found.built) == ((), None, None, None)
    said = " ".join(as_text(found).split())
    assert "48 layers: not judged; no published rule is fitted to depths of nets with gated" in said
    assert "12 layers of attention and 36 layers of gated DeltaNet" in said
    mamba = " ".join(as_text(recommend(hf=published("mamba-130m").architecture)).split())
    assert "None of them has a feed-forward network, so two hold about as many parameters" in mamba
    # What has no attention has no cache that grows with the tokens.
    held = " ".join(as_text(recommend(hf=published("rwkv-7-1.5b").architecture)).split())
    assert ", state " in held.partition(" Cost ")[2].partition(" Note ")[0]
    assert "KV cache" not in held + mamba
    assert "KV cache" in said
    accepted = "beside it are --context, --gpu, --gpus, --zero.*--expert-parallel"
    with pytest.raises(UsageError, match=f"^--hf and --pipeline: the shape.*{accepted}"):
        recommend(hf=a, pipeline=4)
    for name in ("jamba", "GPT2"):
        with pytest.raises(UsageError, match=f"^'{name}' and --loops: the shape"):
            recommend(name, loops=2)
    recommend("jamba", gpu="H100", gpus=64, zero=1, expert_parallel=8)
    for name in ("qwen3-next", "mamba-130m"):
        with pytest.raises(UsageError, match="layers of other kinds than attention"):
            config_of(published(name).architecture)
    assert f"counts {count(a).total:,} parameters in 48 layers" in citation(found, "1")


def test_names_that_people_type() -> None:
    for typed, name in {
        "gpt2": "GPT-2 small",
        "openai-community/gpt2-xl": "GPT-2 XL",
        "llama-3-8b": "Llama-3-8B",
        "meta-llama/Meta-Llama-3-8B-Instruct": "Llama-3-8B",
        "meta-llama/Llama-2-7b-chat-hf": "Llama-2-7B",
        "google/gemma-2b": "Gemma-1-2B",
        "bert-base-uncased": "BERT-Base",
        "state-spaces/mamba-2.8b-hf": "Mamba-2.8B",
        "mamba2-2.7b": "Mamba-2-2.7B",
        "Qwen/Qwen3-Next-80B-A3B-Instruct": "Qwen3-Next-80B-A3B",
        "SoViT-400m/14": "SoViT-400m/14",
    }.items():
        if "SoViT" in typed:
            with pytest.raises(UsageError, match="without vocabulary"):
                published(typed)
            continue
        assert published(typed).architecture.name == name
    assert len(published_names()) == len({n.lower() for n in published_names()})
    with pytest.raises(UsageError, match="nearest are Qwen3-Next-80B-A3B"):
        published("qwen3-nex")


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_a_refused_type_says_why_and_what_to_type(kind: str) -> None:
    assert kind not in CLASSES
    with pytest.raises(UsageError, match=re.escape(REFUSED[kind])) as caught:
        architecture_of({"model_type": kind})
    assert "depthlaw depth 7B --layers 32" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("qwen3-next", {"layer_types": ["linear_attention"] * 3}, "layer_types: .* 48 kinds"),
        ("qwen3-next", {"layer_types": ["full_attention", "x"] * 24}, "layer_types"),
        ("qwen3-next", {"layer_types": ["full_attention", "moe"] * 24}, "layer_types"),
        ("qwen3-next", {"attention_bias": True}, "attention_bias"),
        ("olmo-hybrid-7b", {"linear_key_head_dim": "wide"}, "linear_key_head_dim"),
        ("nemotron-h-8b", {"hybrid_override_pattern": "MX"}, "hybrid_override_pattern"),
        ("nemotron-h-8b", {"hybrid_override_pattern": None}, "missing, and no default"),
        ("nemotron-h-8b", {"moe_latent_size": 1024}, "moe_latent_size"),
        ("bamba-9b", {"attn_layer_indices": [9, 9]}, "different layers"),
        ("bamba-9b", {"attn_layer_indices": [32]}, "different layers"),
        ("recurrentgemma-2b", {"block_types": ["conv", "spiral"]}, "block_types"),
        ("recurrentgemma-2b", {"lru_width": 2561}, "do not divide"),
        ("kimi-linear", {"linear_attn_config": {}}, "missing, and no default"),
        ("mamba-130m", {"time_step_rank": 0}, "time_step_rank"),
        ("gla-1.3b", {"expand_k": 1.0}, "expand_k"),
        ("rwkv-7-0.1b", {"attn": {"layers": [1]}}, "attn"),
        ("ouro-1.4b", {"total_ut_steps": 0}, "total_ut_steps"),
        ("mamba-2-130m", {"head_dim": 60}, "num_heads and head_dim: .* 1,440 and .* is 1,536; acc"),
        ("bamba-9b", {"mamba_d_head": 32}, "mamba_n_heads and mamba_d_head: .* 4,096 and .* 8,192"),
        ("falcon-h1-7b", {"mamba_n_heads": 25}, "do not divide"),
        ("rwkv-7-0.1b", {"head_dim": 100}, "head_dim and num_heads: .* are 700 and .* is 768"),
        ("rwkv-7-0.1b", {"num_heads": 11}, "head_dim and num_heads: .* are 704 and .* is 768"),
        ("ling-3.0-flash", {"mlp_layer_types": ["dense"]}, "mlp_layer_types"),
    ],
)
def test_hybrids_that_contradict_themselves_are_refused(
    name: str, change: dict[str, Any], why: str
) -> None:
    found = next(row for key, row in hybrids().items() if published(name).architecture.name == key)
    with pytest.raises(UsageError, match=why):
        architecture_of({**found["config"], **change})


@settings(max_examples=50)
@given(st.sampled_from([r["config"] for r in ROWS if r["what"] == "options"]), st.data())
def test_any_value_is_counted_or_refused(base: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from([k for k in base if k != "model_type"]))
    odd = st.none() | st.booleans() | st.integers(-2, 99) | st.text(max_size=3)
    value = data.draw(odd | st.lists(odd, max_size=3) | st.dictionaries(st.text(max_size=2), odd))
    try:
        total = count(architecture_of({**base, key: value})).total
    except UsageError as error:
        total = len(str(error).splitlines())
    assert total > 0
