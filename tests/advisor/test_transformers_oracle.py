"""Every configuration is built by transformers on the meta device: our count is its count."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor.counting import count
from depthlaw.advisor.huggingface import architecture_of, config_of, read_config

torch = pytest.importorskip("torch", reason="the extra hf is not installed")
# Imported by the tests, not wherever tests are collected: it takes seconds.
if find_spec("transformers") is None:
    pytest.skip("the extra hf is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")

CONFIGS = Path(__file__).parent / "configs"
with (CONFIGS / "sources.csv").open(newline="", encoding="utf-8") as _file:
    SOURCES = {row["file"]: row for row in csv.DictReader(_file)}
# Its code is outside transformers, which knows no such class.
FOREIGN = {"qwen-7b.json"}


def built(values: dict[str, Any], kind: str) -> int:
    """The parameters of the model that transformers builds without storing it; tied ones once."""
    import transformers

    transformers.logging.set_verbosity_error()
    values = dict(values)
    model_type = values.pop("model_type")
    if model_type == "gemma3":  # the language model alone, as our count
        values = dict(values["text_config"])
        model_type = values.pop("model_type")
    # What is quantised holds other tensors; the precision does not matter.
    for key in ("quantization_config", "torch_dtype"):
        values.pop(key, None)
    head = {"encoder": "AutoModelForMaskedLM", "encoder-decoder": "AutoModelForSeq2SeqLM"}
    auto = getattr(transformers, head.get(kind, "AutoModelForCausalLM"))
    with torch.device("meta"):
        model = auto.from_config(transformers.AutoConfig.for_model(model_type, **values))
    total = sum(p.numel() for p in model.parameters())
    # transformers 5 ties the output layer of T5 whatever the configuration says, 4.57 does not; the
    # published weights of T5 v1.1 have a layer of their own.
    if (
        model_type == "t5"
        and values.get("tie_word_embeddings") is False
        and model.lm_head.weight is model.shared.weight
    ):
        total += model.lm_head.weight.numel()
    return total


@pytest.mark.parametrize("file", sorted(SOURCES.keys() - FOREIGN))
def test_count_is_what_transformers_allocates(file: str) -> None:
    a = read_config(CONFIGS / file)
    values = json.loads((CONFIGS / file).read_text())
    total = built(values, a.kind)
    assert count(a).total == total
    assert int(SOURCES[file]["total"]) == total


# A toy of each class, with every option that changes its weights at another value than in the
# published files.
TOY = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 101,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT = {"n_layer": 3, "n_embd": 24, "n_head": 4, "n_inner": 40, "n_positions": 32, "vocab_size": 101}
MOE = {"moe_intermediate_size": 8, "num_experts_per_tok": 2}
MLA = {
    "kv_lora_rank": 6,
    "qk_nope_head_dim": 4,
    "qk_rope_head_dim": 2,
    "v_head_dim": 5,
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 2,
    **MOE,
}


def toy(kind: str, base: dict = TOY, **values: Any) -> tuple[str, dict]:
    return kind, {**base, **values}


NEO = {
    "hidden_size": 24,
    "num_layers": 3,
    "num_heads": 4,
    "vocab_size": 101,
    "max_position_embeddings": 32,
}
TOYS = [
    toy("llama", attention_bias=True, mlp_bias=True, head_dim=10),
    toy("llama", tie_word_embeddings=True, num_key_value_heads=None),
    toy("mistral", head_dim=10, sliding_window=8),
    toy("mixtral", num_local_experts=3, num_experts_per_tok=1, head_dim=10),
    toy(
        "qwen2_moe",
        **MOE,
        num_experts=4,
        shared_expert_intermediate_size=9,
        decoder_sparse_step=2,
        mlp_only_layers=[1],
        qkv_bias=False,
    ),
    toy("qwen3", head_dim=10, attention_bias=True),
    toy("qwen3_moe", **MOE, num_experts=4, mlp_only_layers=[0], head_dim=10),
    toy("gemma", head_dim=10, attention_bias=True, tie_word_embeddings=False),
    toy("gemma2", head_dim=10, attention_bias=True),
    toy("gemma3_text", head_dim=10, attention_bias=True),
    toy("phi", qk_layernorm=True),
    toy("falcon", parallel_attn=False, bias=True, multi_query=False),
    toy(
        "falcon",
        new_decoder_architecture=True,
        num_kv_heads=2,
        num_ln_in_parallel_attn=1,
        ffn_hidden_size=50,
    ),
    toy("gpt2", GPT, tie_word_embeddings=False),
    toy("gpt_neox", attention_bias=False, tie_word_embeddings=True),
    toy("gptj", GPT, n_inner=40, rotary_dim=2),
    toy("opt", ffn_dim=40, enable_bias=False, word_embed_proj_dim=24),
    toy("opt", ffn_dim=40, layer_norm_elementwise_affine=False, word_embed_proj_dim=10),
    toy("olmo", attention_bias=True),
    toy("olmo2", attention_bias=True),
    toy("qwen2", head_dim=10),
    toy("phi3", head_dim=10),
    toy("smollm3", attention_bias=True, mlp_bias=True),
    toy(
        "t5",
        {},
        d_model=24,
        d_kv=5,
        d_ff=40,
        num_layers=2,
        num_decoder_layers=3,
        num_heads=4,
        vocab_size=101,
        relative_attention_num_buckets=8,
        feed_forward_proj="gated-silu",
    ),
    toy("bert", type_vocab_size=3),
    toy("albert", embedding_size=10, num_hidden_groups=2, inner_group_num=2, type_vocab_size=2),
    toy("albert", embedding_size=24, type_vocab_size=2),
    toy(
        "deepseek_v2",
        **MLA,
        n_shared_experts=2,
        q_lora_rank=7,
        topk_method="greedy",
        attention_bias=True,
    ),
    toy("deepseek_v3", **MLA, n_shared_experts=1, q_lora_rank=None),
    toy(
        "glm4_moe",
        **MOE,
        n_routed_experts=4,
        n_shared_experts=2,
        head_dim=10,
        use_qk_norm=True,
        first_k_dense_replace=1,
    ),
    toy("gpt_oss", head_dim=10, num_local_experts=3, num_experts_per_tok=2, attention_bias=False),
    toy("cohere", use_qk_norm=True, attention_bias=True),
    toy("stablelm", use_parallel_residual=True, use_qkv_bias=True),
    toy("arcee", mlp_bias=True, attention_bias=True, head_dim=10),
    toy("olmoe", num_experts=4, num_experts_per_tok=2, attention_bias=True),
    toy(
        "olmoe",
        num_experts=4,
        num_experts_per_tok=2,
        num_key_value_heads=None,
        tie_word_embeddings=True,
    ),
    toy("gpt_neo", NEO, attention_types=[[["global", "local"], 1], [["local"], 1]]),
    toy(
        "gpt_neo",
        NEO,
        attention_types=[[["global", "local", "global"], 1]],
        intermediate_size=40,
        tie_word_embeddings=False,
    ),
    toy("modernbert"),
    toy(
        "modernbert",
        norm_bias=True,
        attention_bias=True,
        mlp_bias=True,
        classifier_bias=True,
        decoder_bias=False,
    ),
    toy("modernbert", norm_bias=True, tie_word_embeddings=False),
    toy("cohere2", attention_bias=True, tie_word_embeddings=False),
    toy("glm4", head_dim=10),
    toy("glm4", head_dim=6, attention_bias=False, tie_word_embeddings=True),
    toy("glm", head_dim=6, attention_bias=False),
    toy(
        "distilbert",
        {},
        dim=24,
        hidden_dim=40,
        n_layers=3,
        n_heads=4,
        vocab_size=101,
        max_position_embeddings=32,
    ),
]


@pytest.mark.parametrize(("kind", "values"), TOYS, ids=lambda v: v if isinstance(v, str) else "")
def test_options_change_the_count_as_they_change_the_model(kind: str, values: dict) -> None:
    values = {"model_type": kind, **values}
    a = architecture_of(values)
    assert count(a).total == built(values, a.kind)
    written = config_of(a)
    assert built(written, a.kind) == count(a).total
