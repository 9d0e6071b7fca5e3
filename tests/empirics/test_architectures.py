"""Real architectures: parts removed, norms by layer, weights from a folder."""

import json
import math

import numpy as np
import pytest
import torch

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.architectures import ablations, loading, residuals
from depthlaw.empirics.architectures.ablations import VARIANTS, ablated, removed
from depthlaw.empirics.architectures.loading import (
    ARCHITECTURES,
    architecture,
    random_net,
    stored_net,
)
from depthlaw.empirics.architectures.residuals import layer_norms, measure_residuals, zipf_ids
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm

transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

TINY = {"layers": 2, "width": 16, "heads": 4, "vocabulary": 30}
IDS = np.array([[1, 2, 3, 1, 5, 6, 7], [8, 8, 9, 10, 11, 1, 2]])
U32 = 2.0**-24


@pytest.fixture(scope="module")
def nets():
    """One tiny net of each architecture, with weights large enough that every part matters."""
    made = {}
    for name, kind in ARCHITECTURES.items():
        net = random_net(kind, tokens=16, **TINY).double()
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.add_(
                    0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                )
        made[name] = net
    return made


# --- an independent forward pass: layers written out from their linear maps and norms ---


def _parts(name, net, layer):
    """(attention(x), norm 1, norm 2, MLP(x)) of a layer, each without skip."""
    tokens = IDS.shape[1]
    place = torch.arange(tokens)[None]
    if name == "bert":
        out = layer.attention.output
        return (
            lambda x: out.dense(layer.attention.self(x)[0]),
            out.LayerNorm,
            layer.output.LayerNorm,
            lambda x: layer.output.dense(layer.intermediate(x)),
        )
    if name == "albert":
        inner = layer.albert_layers[0]
        a = inner.attention

        def attention(x):
            query, key, value = (
                part(x).unflatten(-1, (4, 4)).transpose(1, 2) for part in (a.query, a.key, a.value)
            )
            weights = (query @ key.transpose(2, 3) / 2).softmax(-1)
            return a.dense((weights @ value).transpose(1, 2).flatten(2))

        return (
            attention,
            a.LayerNorm,
            inner.full_layer_layer_norm,
            lambda x: inner.ffn_output(inner.activation(inner.ffn(x))),
        )
    if name == "xlnet":
        a = layer.rel_attn

        def relative(x):
            """Scores of row i and column j with the sines of the distance i - j."""
            query, key, value = (torch.einsum("bih,hnd->bnid", x, w) for w in (a.q, a.k, a.v))
            rates = 1 / 10000 ** (torch.arange(0, 16, 2.0).double() / 16)
            distance = (place.T - place).double()
            sines = torch.cat(
                [(distance[..., None] * rates).sin(), (distance[..., None] * rates).cos()], dim=-1
            )
            by_place = torch.einsum("ijh,hnd->nijd", sines, a.r)
            scores = (
                (query + a.r_w_bias[:, None]) @ key.transpose(2, 3)
                + torch.einsum("bnid,nijd->bnij", query + a.r_r_bias[:, None], by_place)
            ) / 2
            return torch.einsum("bnij,bnjd,hnd->bih", scores.softmax(-1), value, a.o)

        return (
            relative,
            a.layer_norm,
            layer.ff.layer_norm,
            lambda x: layer.ff.layer_2(layer.ff.activation_function(layer.ff.layer_1(x))),
        )
    if name == "gpt2":
        return lambda x: layer.attn(x)[0], layer.ln_1, layer.ln_2, layer.mlp
    if name == "t5":
        first, last = layer.layer
        bias = net.encoder.block[0].layer[0].SelfAttention.compute_bias(tokens, tokens)
        return (
            lambda x: first.SelfAttention(x, position_bias=bias)[0],
            first.layer_norm,
            last.layer_norm,
            last.DenseReluDense,
        )
    turn = net.rotary_emb(torch.zeros(1, tokens, 16).double(), place)
    return (
        lambda x: layer.self_attn(x, position_embeddings=turn, attention_mask=None)[0],
        layer.input_layernorm,
        layer.post_attention_layernorm,
        layer.mlp,
    )


def _by_hand(name, net, variant, first):
    """Hidden states (layers + 1) by the words of the variant."""
    parts = VARIANTS[variant]
    a_skip, m_skip = "attention skip" not in parts, "MLP skip" not in parts
    states, layers = [first], list(ARCHITECTURES[name].layers(net))
    for index in range(TINY["layers"]):
        layer = layers[min(index, len(layers) - 1)]
        attention, one, two, mlp = _parts(name, net, layer)
        if "norms" in parts:
            one = two = lambda x: x
        x = states[-1]
        if name in ablations.PUBLISHED:
            x = one(attention(x) + a_skip * x)
            if "MLP as published" in parts and name == "albert":
                x = two(layer.albert_layers[0].activation(x) + x)
            elif not {"MLP", "MLP as published"} & set(parts):
                x = two(mlp(x) + m_skip * x)
        else:
            x = attention(one(x)) + a_skip * x
            if not {"MLP", "MLP as published"} & set(parts):
                x = mlp(two(x)) + m_skip * x
        states.append(x)
    return states


def _embedded(name, net):
    ids = torch.as_tensor(IDS)
    if name == "bert":
        return net.embeddings(ids)
    if name == "albert":
        return net.encoder.embedding_hidden_mapping_in(net.embeddings(ids))
    if name == "gpt2":
        return net.wte(ids) + net.wpe(torch.arange(IDS.shape[1]))
    return net.get_input_embeddings()(ids)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_variant_is_what_its_words_say(nets, name):
    """Against layers written out from the library's linear maps, norms and, but for ALBERT and
    XLNet, attention without skip."""
    net, seen = nets[name], set()
    whole = layer_norms(net, architecture(name), IDS)
    for variant in VARIANTS:
        with ablated(net, architecture(name), variant), torch.inference_mode():
            found = layer_norms(net, architecture(name), IDS)
        with torch.inference_mode():
            states = np.stack(
                [h.numpy() for h in _by_hand(name, net, variant, _embedded(name, net))]
            )
        moved = states - states.mean(axis=2, keepdims=True)
        # What norms in float32 round differently, where the order of sums differs.
        close = 200 * (U32 if architecture(name).norms_in_float32 or name == "xlnet" else U32**2)
        np.testing.assert_allclose(found.composite, composite_norm(states), rtol=close)
        np.testing.assert_allclose(found.composite_residual, composite_norm(moved), rtol=close)
        np.testing.assert_allclose(
            found.frobenius_residual, np.linalg.norm(moved, axis=(2, 3)), rtol=close
        )
        seen.add(found.composite_residual[1:].round(6).tobytes())
    # As many different nets as there are different lists of what goes; all is undone.
    words = (removed(architecture(name), variant) for variant in VARIANTS)
    assert len(seen) == len({said.partition(" (the published measurement")[0] for said in words})
    again = layer_norms(net, architecture(name), IDS)
    assert all(np.array_equal(a, b) for a, b in zip(whole, again, strict=True))


def test_chunks_do_not_change_what_is_measured(nets, monkeypatch):
    whole = layer_norms(nets["albert"], architecture("albert"), IDS)
    monkeypatch.setattr(residuals, "_TOKENS_AT_ONCE", 1)
    parts = layer_norms(nets["albert"], architecture("albert"), IDS)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert whole.composite.shape == (3, 2)


def test_an_unknown_variant_is_refused_and_what_was_not_published_is_said():
    assert "no such net" in removed(architecture("gpt2"), "san")
    with pytest.raises(UsageError, match="accepted are full, "):
        removed(architecture("bert"), "sans")


def test_measurement_is_reproducible_and_leaves_the_generator_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, two = (
        measure_residuals("gpt2", batch=2, tokens=8, seeds=(4, 5), **TINY) for _ in range(2)
    )
    assert torch.equal(before, torch.get_rng_state())
    assert np.array_equal(one.by_layer, two.by_layer)
    assert one.by_layer.shape == one.frobenius.shape == one.norms.shape == (2, 3)
    assert not np.array_equal(one.by_layer[0], one.by_layer[1])
    assert (one.batch, one.tokens, one.weights, one.notes) == (2, 8, "random", ())
    assert one.parameters == sum(
        p.numel() for p in random_net(architecture("gpt2"), **TINY).parameters()
    )


def test_zipf_law_and_the_id_of_padding():
    ids = zipf_ids(np.random.default_rng(0), 50, 400, 5, without=0)
    share = np.bincount(ids.ravel(), minlength=5) / ids.size
    law = np.array([0, 1, 1 / 2, 1 / 3, 1 / 4])
    np.testing.assert_allclose(share, law / law.sum(), atol=5 / math.sqrt(ids.size))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "bart"}, "accepted are bert, albert, xlnet, gpt2"),
        ({"model": "bert", "width": 10}, "not a multiple of heads=4"),
        ({"model": "llama", "width": 12}, "even width of its heads"),
        ({"model": "bert", "layers": 0}, "at least 1"),
        ({"model": "bert", "tokens": 1}, "its own mean"),
        ({"model": "bert", "seeds": ()}, "at least one"),
        ({"model": "bert", "dtype": "float16"}, "float32 and float64"),
        ({"model": "bert", "device": "tpu"}, "cpu and cuda"),
        ({"model": "bert", "ids": IDS + 100}, "vocabulary has 30"),
        ({"model": "bert", "ids": IDS / 2}, "integers of shape"),
    ],
)
def test_bad_arguments_get_one_line(given, said):
    with pytest.raises(UsageError, match=said) as caught:
        measure_residuals(**{**TINY, "batch": 1, "tokens": 4} | given)
    assert "\n" not in str(caught.value)


def test_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'depthlaw\[hf\]'"):
        measure_residuals("bert")


# --- weights from a folder ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A masked language model, whose head is not needed, as save_pretrained writes it."""
    where = tmp_path_factory.mktemp("stored")
    sizes = {"vocab_size": 30, "hidden_size": 16, "intermediate_size": 32}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 12}
    config = transformers.BertConfig(**sizes, **layers)
    torch.manual_seed(1)
    transformers.BertForMaskedLM(config).save_pretrained(where)
    return where


def test_weights_of_a_folder_are_those_measured(folder, capfd):
    found = measure_residuals(weights=folder, batch=1, ids=IDS, dtype="float64")
    own = transformers.BertForMaskedLM.from_pretrained(folder).double().eval().bert
    with torch.inference_mode():
        states = own(torch.as_tensor(IDS), output_hidden_states=True).hidden_states
    capfd.readouterr()
    states = np.stack([h.numpy() for h in states])
    ratio = composite_norm(states - states.mean(axis=2, keepdims=True)) / composite_norm(states)
    np.testing.assert_allclose(found.by_layer[0], ratio.mean(axis=1), rtol=1e-12)
    assert (found.model, found.layers, found.weights) == ("bert", 2, str(folder))
    stored_net(folder)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("albert", "AlbertForMaskedLM"),
        ("xlnet", "XLNetLMHeadModel"),
        ("gpt2", "GPT2LMHeadModel"),
        ("llama", "LlamaForCausalLM"),
        ("mistral", "MistralForCausalLM"),
        ("qwen2", "Qwen2ForCausalLM"),
        ("qwen3", "Qwen3ForCausalLM"),
        ("t5", "T5ForConditionalGeneration"),
    ],
)
def test_language_models_are_read_without_their_heads(nets, tmp_path, name, whole):
    config = nets[name].config.__class__(**nets[name].config.to_diff_dict())
    config.is_encoder_decoder = name == "t5"
    language_model = getattr(transformers, whole)(config)
    language_model.save_pretrained(tmp_path)
    kind, net = stored_net(tmp_path)
    stored, inside = net.state_dict(), language_model.state_dict()
    assert kind.name == name
    for key, weight in stored.items():
        original = inside.get(key, inside.get(f"{net.base_model_prefix}.{key}"))
        assert original is not None, key
        assert torch.equal(weight, original.float()), key


def _changed(folder, tmp_path, **changes):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | changes))
    return copy


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_hidden_layers": 3}, "are missing, such as encoder.layer.2"),
        ({"num_hidden_layers": 1}, "have no place, such as"),
        ({"hidden_size": 20}, "have another shape, such as"),
        ({"vocab_size": 31}, r"word_embeddings.weight, \[30, 16\] in place of \[31"),
        ({"hidden_size": "wide"}, "cannot be loaded: Validation error"),
        ({"num_attention_heads": 3}, "not a multiple of the number of attention heads"),
        ({"num_hidden_layers": 0}, "a net without layers"),
        ({"model_type": "bart"}, "model_type is 'bart'; accepted are"),
        ({"model_type": None}, "model_type is None"),
        ({"model_type": "gpt2"}, "are missing"),
    ],
)
def test_weights_that_do_not_fit_are_refused(folder, tmp_path, capfd, changes, said):
    with pytest.raises(UsageError, match=said) as caught:
        stored_net(_changed(folder, tmp_path, **changes))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_damaged_or_missing_files_get_one_line(folder, tmp_path):
    copy = _changed(folder, tmp_path)

    def refused(said, where=copy):
        with pytest.raises(UsageError, match=said):
            stored_net(where)

    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    refused("cannot be loaded")
    (copy / "model.safetensors").unlink()
    (copy / "pytorch_model.bin").write_bytes(b"no weights")
    refused("is damaged, or holds more than weights")
    state = stored_net(folder)[1].state_dict()
    torch.save(
        {key: math.nan * weight for key, weight in state.items()}, copy / "pytorch_model.bin"
    )
    refused("that are not finite")
    (copy / "pytorch_model.bin").unlink()
    refused("holds no weights; expected is one of")
    (copy / "config.json").write_text("{")
    refused("cannot be read as JSON")
    (copy / "config.json").unlink()
    refused(r"holds no config\.json")
    refused("is not a folder", tmp_path / "nowhere")


def test_a_folder_says_its_own_sizes(folder):
    with pytest.raises(UsageError, match="layers: a folder with weights says its own"):
        measure_residuals(weights=folder, layers=3)
    with pytest.raises(UsageError, match="holds a model of type bert, not gpt2"):
        measure_residuals("gpt2", weights=folder)
    with pytest.raises(UsageError, match="13 tokens, but this net has learned positions for 12"):
        measure_residuals(weights=folder, tokens=13)
