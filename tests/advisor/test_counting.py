"""What a net costs: counts beside the claims' formulas and hand answers, operations and bytes."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.architecture import Architecture, Experts, Latent
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import (
    activations,
    count,
    flops,
    kv_numbers,
    memory,
    per_layer,
    weights,
)
from depthlaw.advisor.huggingface import read_config
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.counting.counted_nets import llama

CONFIGS = Path(__file__).parent / "configs"
PLAIN = Architecture(12, 768, 12, 3072, 50257, gated=False, tied=True, context=1024)
BIASES = dict.fromkeys(("norm_bias", "qkv_bias", "output_bias", "mlp_bias"), True)
GPT2 = PLAIN.with_(norm="layernorm", learned_positions=1024, **BIASES)
LLAMA = Architecture(32, 4096, 32, 11008, 32000)
MIXTRAL = LLAMA.with_(d_ff=14336, kv_heads=8, experts=Experts(8, 2, 14336))
LATENT, MANY = Latent(512, 1536, 128, 64, 128), Experts(256, 8, 2048, shared=1, dense_layers=3)
DEEPSEEK = Architecture(61, 7168, 128, 18432, 129280, latent=LATENT, experts=MANY)
STACKS = {"kind": "encoder-decoder", "encoder_layers": 6, "relative_buckets": 32}
T5 = Architecture(6, 512, 8, 2048, 32128, gated=False, tied=True, **STACKS)


def stated(key: str, **case: int | str) -> int:
    """What a claim says for a case."""
    return int(find(key).predict(Case(**case)))


def published() -> dict[str, int]:
    with (CONFIGS / "sources.csv").open(newline="", encoding="utf-8") as file:
        return {row["file"]: int(row["total"]) for row in csv.DictReader(file)}


@st.composite
def architectures(draw: st.DrawFn) -> Architecture:
    """Decoders of every kind of part, small."""
    small = st.integers(1, 9)
    kv, group, layers = draw(small), draw(small), draw(small)
    flags = ("gated", "tied", "qkv_bias", "mlp_bias", "norm_bias")
    experts = draw(
        st.none()
        | st.builds(
            Experts,
            count=st.integers(4, 9),
            active=st.integers(1, 4),
            width=small,
            shared=st.integers(0, 2),
            dense_layers=st.integers(0, layers),
            router_bias=st.booleans(),
            shared_gate=st.booleans(),
        )
    )
    return Architecture(
        layers,
        draw(small),
        kv * group,
        draw(small),
        draw(small),
        kv_heads=kv,
        head_width=draw(small),
        experts=experts,
        latent=draw(st.none() | st.builds(Latent, small, st.none() | small, small, small, small)),
        norm=draw(st.sampled_from(["rmsnorm", "none"])),
        qk_norm=draw(st.sampled_from(["none", "head", "width"])),
        context=draw(small),
        window=draw(st.none() | small),
        window_layers=draw(st.integers(0, layers)),
        learned_positions=draw(small),
        unique_layers=None if experts else draw(st.integers(1, layers)),
        **{flag: draw(st.booleans()) for flag in flags},
    )


# --- counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(published()))
def test_published_configurations_have_their_recorded_count(file: str) -> None:
    assert count(read_config(CONFIGS / file)).total == published()[file]


@pytest.mark.parametrize(("layers", "width", "rows"), [(12, 768, 1024), (3, 40, 7)])
def test_count_is_that_of_the_claim_for_gpt2(layers: int, width: int, rows: int) -> None:
    a = GPT2.with_(layers=layers, width=width, heads=4, d_ff=4 * width, learned_positions=rows)
    assert count(a).total == stated(
        "counting/nemo_formula", depth=layers, width=width, vocabulary=50257, positions=rows
    )


@pytest.mark.parametrize(
    ("layers", "width", "heads", "kv", "ff"),
    [(32, 4096, 32, 32, 11008), (80, 8192, 64, 8, 28672), (3, 40, 4, 2, 7)],
)
def test_count_is_that_of_the_tensors_for_llama(
    layers: int, width: int, heads: int, kv: int, ff: int
) -> None:
    a = Architecture(layers, width, heads, ff, 32000, kv_heads=kv)
    assert count(a).total == llama(layers, width, width, kv * a.head_size, ff, 32000).parameters()
    # A token meets the router and 2 of 8 experts; embedding and read-out count in full.
    mixed = a.with_(experts=Experts(8, 2, ff))
    rest = 2 * width + 2 * kv * a.head_size + 8 + 2
    active = layers * width * (rest + 3 * 2 * ff) + (2 * 32000 + 1) * width
    assert count(mixed).active == active
    assert count(mixed).total == active + layers * width * 3 * 6 * ff


def test_kaplans_weights_are_the_matrices_of_the_layers() -> None:
    inside = sum(
        w.stored for w in weights(GPT2) if len(w.shape) == 2 and w.role in ("attention", "mlp")
    )
    assert inside == stated(
        "counting/kaplan_weights", depth=12, width=768, attention_width=768, ff_width=3072
    )
    # 12 d^2 with a gate, too, when its width is 8 d / 3.
    gated = per_layer(Architecture(1, 96, 4, 256, 10, norm="none"))
    assert gated == 12 * 96**2


def test_named_counts_differ_by_what_they_leave_out() -> None:
    c = count(GPT2)
    assert c.total - c.nonembedding == (50257 + 1024) * 768
    assert c.embedding == 50257 * 768
    assert c.active == c.total
    untied = count(GPT2.with_(tied=False, head_bias=True))
    assert untied.nonembedding == c.nonembedding
    assert untied.total == c.total + 50257 * 768 + 50257
    m = count(MIXTRAL)
    assert m.total - m.active == 32 * 6 * 3 * 4096 * 14336


def test_what_is_published_of_active_parameters() -> None:
    assert round(count(MIXTRAL).active, -7) == 12_880_000_000
    assert round(count(DEEPSEEK).active, -8) == 37_600_000_000  # with the embedding; printed: 37B


def test_shared_layers_are_stored_once_and_passed_often() -> None:
    once = LLAMA.with_(layers=12, unique_layers=1)
    assert count(once).total == count(LLAMA.with_(layers=1)).total
    assert flops(once, 64) == flops(LLAMA.with_(layers=12), 64)


def test_what_stands_in_no_layer_and_biases_of_a_latent_count() -> None:
    assert count(LLAMA.with_(extra=(("memory", 7),))).total == count(LLAMA).total + 7
    # Queries and keys are compressed with a bias, and expanded without.
    biased = count(DEEPSEEK.with_(qkv_bias=True)).total - count(DEEPSEEK).total
    assert biased == 61 * (1536 + 512 + 64)


@settings(max_examples=30)
@given(architectures())
def test_counts_agree_with_each_other(a: Architecture) -> None:
    c, listed = count(a), weights(a)
    assert c.total == sum(w.stored for w in listed)
    assert 0 < c.nonembedding < c.total
    assert c.nonembedding + c.embedding <= c.total
    assert c.active <= c.total
    assert len({w.name for w in listed}) == len(listed)
    assert count(a.with_(vocabulary=a.vocabulary + 1)).nonembedding == c.nonembedding
    assert per_layer(a) > 0
    if a.experts is None or a.experts.active == a.experts.count:
        assert c.active == c.total


PARTS = """
q bias, o bias, up bias, down bias, norm 1, norm 1 bias, norm 2, final norm, final norm bias,
final norm of the encoder, q norm, k norm, kv norm, sinks, router, router bias, expert up,
expert up bias, shared expert down, shared expert's gate, positions, token types, embedding
norm, embedding projection, embedding projection bias, output projection, transform, transform
norm bias, output, output bias, relative positions, cross-attention k, encoder norm 2, norm 3,
norm 4, kv down, q down, gate
"""


# A mistake in counting.py that some configuration above shows: what is dropped, or counted twice.
@pytest.mark.parametrize("part", " ".join(PARTS.split()).split(", "))
def test_a_forgotten_weight_is_noticed(part: str) -> None:
    def total(file: str) -> int:
        return sum(w.stored for w in weights(read_config(CONFIGS / file)) if w.name != part)

    assert any(total(file) != size for file, size in published().items())


def test_sizes_that_no_net_has_are_refused() -> None:
    numbers = {
        "layers": [0],
        "width": [-1],
        "heads": [5],
        "kv_heads": [3, 0],
        "encoder_layers": [2],
    }
    experts = [Experts(4, 5, 8), Experts(4, 2, 8, dense_layers=33)]
    others = {"unique_layers": [33, 0], "kind": ["encoder-decoder"], "experts": experts}
    for field, value in ((field, v) for field, vs in (numbers | others).items() for v in vs):
        with pytest.raises(UsageError, match="accepted|give"):
            LLAMA.with_(**{field: value})


# --- operations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [1, 5, 1024])
def test_operations_are_those_of_the_claims(context: int) -> None:
    # The claims count a whole sequence through layers of width d, without an output layer.
    def stated_operations(per_product: int, seen: int | str) -> int:
        case = {"depth": 12, "width": 768, "tokens": context}
        return stated("counting/pass_operations", per_product=per_product, seen=seen, **case)

    output = 2 * 50257 * 768
    full, masked = flops(PLAIN, context), flops(PLAIN, context, causal=True)
    assert context * (full.forward - output) == stated_operations(2, context)
    assert context * (full.training - 3 * output) == stated_operations(6, context)
    causal = stated_operations(2, f"{context + 1}/2")
    assert context * (masked.forward - output) == pytest.approx(causal, abs=context)
    assert full.weights == 2 * (count(PLAIN.with_(norm="none")).total)


def test_operations_follow_experts_windows_and_encoders() -> None:
    moe = flops(MIXTRAL, 100)
    assert moe.weights == 2 * (count(MIXTRAL).active - 65 * 4096 - 32000 * 4096)
    windows = LLAMA.with_(window=10, window_layers=32)
    assert flops(windows, 100).attention == flops(LLAMA, 10).attention
    assert flops(windows, 5) == flops(LLAMA, 5)
    # A window of 2 in a sequence of 3 under a mask: 1 + 2 + 2 pairs.
    tiny = Architecture(1, 8, 1, 8, 8, window=2, window_layers=1)
    assert flops(tiny, 3, causal=True).attention == 2 * (8 + 8) * 5 // 3
    # Encoder, decoder and cross-attention, 6 layers each.
    assert flops(T5, 8).attention == 18 * 4 * 512 * 8
    assert flops(T5, 8, causal=True).attention == 12 * 4 * 512 * 8 + 6 * 4 * 512 * 9 // 2
    encoder = PLAIN.with_(kind="encoder")
    assert flops(encoder, 8, causal=True) == flops(encoder, 8)
    assert flops(DEEPSEEK, 2).attention == 2 * 61 * 128 * (192 + 128) * 2
    with pytest.raises(UsageError, match="context"):
        flops(LLAMA, 0)


@settings(max_examples=30)
@given(architectures(), st.integers(1, 12))
def test_a_mask_saves_operations_and_a_longer_context_costs_some(a: Architecture, n: int) -> None:
    full, masked = flops(a, n), flops(a, n, causal=True)
    assert masked.weights == full.weights
    assert 0 < masked.attention <= full.attention <= flops(a, n + 1).attention
    assert full.training == 3 * full.forward


# --- memory ---------------------------------------------------------------------------------------


def test_training_takes_16_bytes_per_parameter() -> None:
    total = count(LLAMA).total
    for size in (2, 4):
        m = memory(LLAMA, size)
        assert m.weights + m.gradients + sum(m.optimiser.values()) == 16 * total
        assert m.training == 16 * total + m.activations
        assert m.serving == m.weights + m.kv_cache


@pytest.mark.parametrize("size", [1, 0.5])
def test_nothing_is_trained_in_eight_bits(size: float) -> None:
    m = memory(LLAMA, size)
    assert (m.gradients, m.optimiser, m.activations, m.training) == (None,) * 4
    assert m.weights == math.ceil(count(LLAMA).total * size)
    assert m.kv_cache == memory(LLAMA).kv_cache == 2**31


def test_kv_cache_by_hand() -> None:
    # Keys and values of 8 heads of 128 in 32 layers.
    grouped = LLAMA.with_(kv_heads=8)
    assert kv_numbers(grouped, 100) == 2 * 8 * 128 * 32 * 100
    assert memory(grouped).kv_cache == 2 * kv_numbers(grouped, 4096)
    # 512 + 64 numbers per layer and token.
    assert kv_numbers(DEEPSEEK, 10) == 576 * 61 * 10
    windows = grouped.with_(window=16, window_layers=31)
    assert kv_numbers(windows, 100) == 2 * 8 * 128 * (100 + 31 * 16)
    assert kv_numbers(T5, 10) == 2 * 512 * 6 * 20
    assert kv_numbers(PLAIN.with_(kind="encoder"), 10) == 0


@pytest.mark.parametrize(("tokens", "heads"), [(3, 1), (128, 12)])
def test_activations_are_those_recalled(tokens: int, heads: int) -> None:
    a = PLAIN.with_(heads=heads, context=tokens)
    outside = tokens * (4 * 768 + 4 * 50257)
    # Korthikanti et al. 2022, section 4: 34 d bytes a token in a layer, two of them of dropout.
    assert activations(a) - outside == 12 * tokens * (34 - 2) * 768
    # Attention to the encoder: its inputs, query, key, value, and the input of its projection.
    both = PLAIN.with_(kind="encoder-decoder", encoder_layers=12, context=tokens)
    more = activations(both) - activations(PLAIN.with_(layers=24, context=tokens))
    assert more == 12 * tokens * 2 * 6 * 768


def test_a_gate_keeps_both_of_its_factors_and_what_each_was_made_of() -> None:
    gated = activations(LLAMA) - activations(LLAMA.with_(gated=False))
    assert gated == 32 * 4096 * 2 * 2 * 11008
