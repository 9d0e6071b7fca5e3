"""Configurations of Hugging Face: what is read, what is written, and what is refused, on one
line."""

from __future__ import annotations

import csv
import json
import os
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from depthlaw.advisor.architecture import Architecture, Experts, Latent
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import count, kv_numbers
from depthlaw.advisor.huggingface import architecture_of, config_of, read_config
from depthlaw.advisor.models import architecture, models
from depthlaw.advisor.shapes import Constraints, Target, shapes

CONFIGS = Path(__file__).parent / "configs"
FILES = sorted(path.name for path in CONFIGS.glob("*.json"))
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "vocab_size": 100,
    "max_position_embeddings": 128,
}


GPT_NEO: dict[str, Any] = {
    "model_type": "gpt_neo",
    "hidden_size": 64,
    "num_layers": 4,
    "num_heads": 4,
    "vocab_size": 100,
    "max_position_embeddings": 128,
    "attention_types": [[["global", "local"], 2]],
}
MODERNBERT = {**LLAMA, "model_type": "modernbert"}
OLMOE = {**LLAMA, "model_type": "olmoe", "num_experts": 4, "num_experts_per_tok": 2}


def values_of(name: str) -> dict[str, Any]:
    """A published configuration."""
    return json.loads((CONFIGS / f"{name}.json").read_text())


def refused(path: Any) -> str:
    """The one line that says why."""
    with pytest.raises(UsageError) as caught:
        read_config(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.isascii()
    assert len(message) < 1000
    return message


# --- what is read ---------------------------------------------------------------------------------


def test_every_configuration_has_a_source_with_a_mark() -> None:
    with (CONFIGS / "sources.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["file"] for row in rows) == FILES
    assert {row["wording"] for row in rows} <= {"printed", "reported", "recalled", "derived"}
    assert all(row["source"] and row["known_from"] for row in rows)


def test_a_file_and_its_folder_are_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "my-net"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "other.json").write_text("\ufeff" + json.dumps(LLAMA))
    by_folder, by_file = read_config(folder), read_config(str(folder / "config.json"))
    assert by_folder == by_file
    assert by_folder.name == "my-net"
    assert by_folder.with_(name="other") == read_config(tmp_path / "other.json")
    os.symlink(folder / "config.json", tmp_path / "link.json")
    assert count(read_config(tmp_path / "link.json")) == count(by_folder)


def test_a_limit_of_steps_may_be_infinite(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**LLAMA, "time_step_limit": [0.0, float("inf")]}))
    assert count(read_config(file)) == count(architecture_of(LLAMA))


def test_parts_that_only_some_classes_have() -> None:
    def read(name: str, *fields: str) -> Any:
        return attrgetter(*fields)(architecture_of(values_of(name)))

    assert read("albert-xlarge-v2", "layers", "own_layers") == (24, 1)
    assert read("deepseek-v3", "latent") == Latent(512, 1536, 128, 64, 128)
    assert read("deepseek-v3", "experts") == Experts(256, 8, 2048, shared=1, dense_layers=3)
    assert read("falcon-7b", "key_heads", "norms_per_layer") == (1, 1)
    assert read("gemma-3-1b", "window", "window_layers") == (512, 22)
    assert read("opt-350m", "embedding_width", "final_norm") == (512, False)
    assert read("t5-v1.1-base", "encoder_layers", "tied") == (12, False)
    assert read("qwen1.5-moe-a2.7b", "experts").shared_size == 5632
    assert read("gpt-oss-20b", "window", "window_layers") == (128, 12)
    assert read("mistral-7b-v0.1", "window_layers") == 32
    assert read("roberta-base", "context") == 512


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("gemma-3-12b", "vision tower"),
        ("gemma-3-12b", "num_attention_heads|vocab_size is missing"),
        ("deepseek-v3", "MTP"),
        ("deepseek-v3", "before quantisation"),
        ("qwen-7b", "unverified"),
        ("t5-v1.1-base", "output layer of its own"),
        ("bert-base-uncased", "without the pooler"),
    ],
)
def test_what_is_not_counted_is_said(name: str, remark: str) -> None:
    assert re.search(remark, " / ".join(architecture_of(values_of(name)).remarks))


@pytest.mark.parametrize("key", ["num_local_experts", "num_experts", "n_routed_experts"])
def test_experts_of_a_class_that_has_none_are_refused(key: str) -> None:
    with pytest.raises(UsageError, match=f"llama configuration, {key}: llama has no experts"):
        architecture_of({**LLAMA, key: 8})
    for none in (0, 1, None):
        assert architecture_of({**LLAMA, key: none}) == architecture_of(LLAMA)


def test_code_of_its_own_is_named() -> None:
    own = {**LLAMA, "auto_map": {"AutoModelForCausalLM": "modeling_mine.MineForCausalLM"}}
    said = " ".join(architecture_of(own).remarks)
    assert "code of its own ('modeling_mine.MineForCausalLM'); counted as llama" in said
    assert architecture_of({**LLAMA, "auto_map": None}).remarks == ()


def test_windows_follow_the_listed_layers() -> None:
    base = values_of("gemma-2-2b")
    assert architecture_of(base).window_layers == 13
    listed = ["sliding_attention"] * 3 + ["full_attention"] * 23
    few = architecture_of({**base, "layer_types": listed})
    assert (few.window, few.window_layers) == (4096, 3)
    assert kv_numbers(few, 8192) > kv_numbers(architecture_of(base), 8192)
    qwen = {**values_of("qwen2-0.5b"), "sliding_window": 512, "max_window_layers": 20}
    assert architecture_of(qwen).window_layers == 0
    assert architecture_of({**qwen, "use_sliding_window": True}).window_layers == 4


def test_some_layers_of_these_classes_have_windows() -> None:
    cohere = {**LLAMA, "model_type": "cohere2", "num_hidden_layers": 9}
    modern = {**MODERNBERT, "num_hidden_layers": 7}
    for base, change, windows in (
        (GPT_NEO, {}, (256, 2)),
        (GPT_NEO, {"num_layers": 24, "attention_types": None}, (256, 12)),
        (GPT_NEO, {"attention_types": [[["global"], 4]]}, (None, 0)),
        (cohere, {}, (4096, 7)),
        (cohere, {"sliding_window_pattern": 3}, (4096, 6)),
        (cohere, {"sliding_window": None}, (None, 0)),
        (modern, {}, (128, 4)),
        (modern, {"global_attn_every_n_layers": 1}, (None, 0)),
    ):
        a = architecture_of({**base, **change})
        assert (a.window, a.window_layers) == windows, change


def test_null_is_the_default() -> None:
    nulls = dict.fromkeys(
        ("num_key_value_heads", "head_dim", "tie_word_embeddings", "attention_bias")
    )
    assert architecture_of({**LLAMA, **nulls}) == architecture_of(LLAMA)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not JSON"),
        (b"{}{}", "not JSON"),
        (b"null", "is JSON, but not an object"),
        (b"[1, 2]", "not an object"),
        (b"{}", "no model_type"),
        (b'{"model_type": ["llama"]}', "no model_type"),
        (b'{"model_type": "zamba2"}', "two streams is not described.*depth 7B --layers 32"),
        (b'{"model_type": "lama"}', "types like it are llama"),
        (b'{"model_type": "\\u0007' + b"x" * 5000 + b'"}', "not known"),
        (b'{"model_type": "llama", "model_type": "gpt2"}', "twice"),
        (b'{"model_type": "llama", "rope_scaling": {"a": 1, "a": 1}}', "twice"),
        (b'{"model_type": "llama", "hidden_size": NaN}', "not a finite number"),
        (b'{"model_type": "llama", "deep": [[{"a": -Infinity}]]}', "not a finite number"),
        (b'{"model_type": "llama", "rope_theta": 1e999}', "not a finite number"),
        (b'{"model_type": "llama", "hidden_size": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b"[" * 500_000, "nested"),
        (b"\x80\x04pickle", "UTF-8"),
        (b"PK\x03\x04" + bytes(range(256)), "UTF-8"),
        (b" " * 1_000_001, "1 MB"),
        ('{"model_type": "llama"}'.encode("utf-16"), "UTF-8"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: bytes, why: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text)
    assert re.search(why, refused(path))


def test_paths_without_a_configuration_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "missing.json")
    assert "no such file" in refused("")
    assert "no config.json" in refused(tmp_path)
    assert "no file has such a name" in refused("a\0b")
    for name in ("a.json", "b.json"):
        os.symlink(tmp_path / name, tmp_path / ("b.json" if name == "a.json" else "a.json"))
    assert "symbolic links" in refused(tmp_path / "a.json")
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused(tmp_path / "pipe")
    assert "not a regular file" in refused("/dev/zero")
    (tmp_path / "folder" / "config.json").mkdir(parents=True)
    assert "not a regular file" in refused(tmp_path / "folder")
    assert "Not a directory" in refused("/dev/null/config.json")


@pytest.mark.parametrize("key", [key for key in LLAMA if key != "model_type"])
def test_a_size_that_is_missing_or_no_size_is_named(key: str) -> None:
    lacking = {k: v for k, v in LLAMA.items() if k != key}
    for change in ({}, {key: None}):
        if key == "max_position_embeddings":  # what transformers takes is known
            net = architecture_of({**lacking, **change})
            assert net == architecture_of({**LLAMA, key: 2048}).with_(remarks=net.remarks)
            assert net.remarks == ("no context is given: the default, 2,048, is taken",)
            continue
        with pytest.raises(UsageError, match=f"{key}: the size is missing"):
            architecture_of({**lacking, **change})
    for wrong in (0, -1, True, "64", 64.0, 1.5, [64], {"size": 64}, 10**9, -(10**30)):
        with pytest.raises(UsageError, match=f"{key}: .* is not a whole number"):
            architecture_of({**LLAMA, key: wrong})


@pytest.mark.parametrize(
    ("base", "change", "why"),
    [
        (LLAMA, {"num_attention_heads": 7}, "do not divide the width"),
        (LLAMA, {"num_key_value_heads": 3}, "do not divide 8 query heads"),
        (LLAMA, {"num_key_value_heads": 0}, "num_key_value_heads"),
        (LLAMA, {"num_hidden_layers": 20_000}, "whole number"),
        (LLAMA, {"tie_word_embeddings": "yes"}, "not true or false"),
        (LLAMA, {"pruned_heads": {"0": [1]}}, "pruned"),
        ("mixtral-8x7b", {"num_experts_per_tok": 9}, "9 active experts of 8"),
        ("mixtral-8x7b", {"num_local_experts": None}, "num_local_experts or num_experts: the size"),
        ("mixtral-8x7b", {"num_experts": 4}, "different values"),
        ("deepseek-v3", {"first_k_dense_replace": 62}, "whole number from 0 to 61"),
        ("deepseek-v3", {"moe_layer_freq": 2}, "not described"),
        ("deepseek-v3", {"kv_lora_rank": None}, "kv_lora_rank: the size is missing"),
        ("qwen3-30b-a3b", {"mlp_only_layers": "none"}, "list of whole numbers"),
        ("qwen3-30b-a3b", {"mlp_only_layers": [1, 1]}, "different layers from 0 to 47"),
        ("qwen1.5-moe-a2.7b", {"mlp_only_layers": [10**30]}, "different layers from 0 to 23"),
        ("qwen3-30b-a3b", {"use_sliding_window": True}, "not described"),
        ("gemma-2-2b", {"layer_types": ["full_attention"]}, "list of 26"),
        ("gemma-3-12b", {"text_config": None}, "text_config"),
        ("mpt-7b", {"no_bias": False}, "no_bias"),
        ("mpt-7b", {"attn_config": {"attn_type": "multiquery_attention"}}, "attn_type"),
        ("mpt-7b", {"expansion_ratio": 8}, "expansion_ratio"),
        ("t5-small", {"feed_forward_proj": "swish-squared"}, "feed_forward_proj"),
        ("bert-base-uncased", {"is_decoder": True}, "is_decoder"),
        ("bert-base-uncased", {"tie_word_embeddings": False}, "tie_word_embeddings"),
        ("roberta-base", {"max_position_embeddings": 2}, "no position"),
        ("albert-base-v2", {"num_hidden_groups": 13}, "whole number from 1 to 12"),
        ("gpt2", {"add_cross_attention": True}, "add_cross_attention"),
        ("gpt2", {"hidden_size": 769}, "n_embd and hidden_size"),
        ("qwen-7b", {"intermediate_size": 22015}, "not even"),
        ("stablelm-3b-4e1t", {"qk_layernorm": True}, "qk_layernorm"),
        ("smollm3-3b", {"use_sliding_window": True}, "use_sliding_window"),
        (GPT_NEO, {"attention_types": [[["global", "local"], 12]]}, "another number of layers"),
        (GPT_NEO, {"attention_types": [[["global"], 10**30]]}, "another number of layers than 4"),
        (GPT_NEO, {"attention_types": [[["global"], 5], [["local"], -1]]}, "not a list such as"),
        (GPT_NEO, {"attention_types": [["global", 4]]}, "not a list such as"),
        (MODERNBERT, {"classifier_bias": True}, "classifier_bias: another value than"),
        (OLMOE, {"head_dim": 10}, "head_dim: the heads together"),
        (LLAMA, {"model_type": "glm4", "head_dim": 8}, "num_key_value_heads: the size"),
    ],
)
def test_what_contradicts_itself_or_is_not_described_is_refused(
    base: Any, change: dict[str, Any], why: str
) -> None:
    values = {**(base if isinstance(base, dict) else values_of(base)), **change}
    with pytest.raises(UsageError, match=why):
        architecture_of(values)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(st.sampled_from([*FILES, GPT_NEO, MODERNBERT]), st.data())
def test_any_value_is_read_or_refused(base: Any, data: st.DataObject) -> None:
    values = base if isinstance(base, dict) else values_of(base.removesuffix(".json"))
    key = data.draw(st.sampled_from([k for k in values if k != "model_type"]))
    try:
        total = count(architecture_of({**values, key: data.draw(anything)})).total
    except UsageError as error:
        total = len(str(error).splitlines())
    assert total > 0


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_a_configuration_written_again_has_the_same_counts(file: str) -> None:
    a = read_config(CONFIGS / file)
    again = architecture_of(json.loads(json.dumps(config_of(a))))
    assert count(again) == count(a)
    assert (again.layers, again.width, again.heads) == (a.layers, a.width, a.heads)
    assert kv_numbers(again, 1000) == kv_numbers(a, 1000)


def test_the_plainest_class_that_fits_is_written() -> None:
    a = Architecture(3, 64, 8, 160, 100, kv_heads=2)
    moe = Experts(4, 2, 16)
    shared = Experts(4, 2, 16, shared=1, dense_layers=1)
    for kind, net in {
        "llama": a,
        "qwen2": a.with_(qkv_bias=True),
        "qwen3": a.with_(qk_norm="head"),
        "mistral": a.with_(window=64, window_layers=3),
        "mixtral": a.with_(experts=moe),
        "qwen3_moe": a.with_(experts=moe, qk_norm="head"),
        "arcee": a.with_(gated=False),
        "glm4_moe": a.with_(experts=shared),
        "deepseek_v3": a.with_(experts=shared, kv_heads=None, latent=Latent(8, 9, 4, 2, 4)),
        "olmo": a.with_(norm="none"),
        "olmo2": a.with_(qk_norm="width"),
    }.items():
        assert config_of(net)["model_type"] == kind
        assert count(architecture_of(config_of(net))) == count(net)


@pytest.mark.parametrize("gated", [True, False])
def test_shapes_with_two_stacks_are_written_as_t5(gated: bool) -> None:
    demanded = Constraints(kind="encoder-decoder", kv_ratio=1, gated=gated)
    for shape in shapes(Target(3e9), demanded):
        values = config_of(shape.architecture)
        assert values["model_type"] == "t5"
        assert count(architecture_of(values)).total == shape.value


MOE = Experts(4, 2, 16)
STACKS = {"kind": "encoder-decoder", "encoder_layers": 4, "relative_buckets": 32}


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"unique_layers": 2}, "looped layers"),
        ({"extra": (("memory", 5),)}, "weights outside all layers"),
        ({"gated": False, "norm": "none"}, "a feed-forward network without a gate"),
        ({"kind": "encoder-decoder", "encoder_layers": 4}, "two stacks without relative positions"),
        (
            {**STACKS, "experts": MOE, "kv_heads": 2, "unique_layers": 2},
            "looped layers, grouped queries in an encoder-decoder, experts in an encoder-decoder",
        ),
        ({"experts": MOE, "gated": False}, "experts without a gate"),
        ({"window": 8, "window_layers": 1}, "windows in 1 of 4 layers"),
    ],
)
def test_a_part_that_no_class_has_is_named(change: dict[str, Any], missing: str) -> None:
    a = Architecture(4, 64, 8, 160, 100).with_(**change)
    with pytest.raises(UsageError, match=f"no Hugging Face class .* with {missing}; leave"):
        config_of(a)


def test_listed_models_of_every_class_are_written_as_it() -> None:
    found = set()
    for m in models():
        if m.complete and m.type not in ("gopher", "nanochat", "palm", "parameter_golf"):
            a = architecture(m)
            if m.type == "gpt2" and a.heads * a.head_size != a.width:
                with pytest.raises(UsageError, match="with heads that together are not as wide"):
                    config_of(a)
                continue
            values = config_of(a)
            assert count(architecture_of(values)) == count(a)
            found.add(values["model_type"])
    assert {"olmoe", "gpt_neo", "modernbert", "t5", "deepseek_v3"} <= found
