"""Layers found by structure, and routes through them."""

import numpy as np
import pytest
import torch
from tiny_models import DEPTH, VOCABULARY, WIDTH, Affine, runs, tiny
from torch import nn

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.layered import (
    Step,
    digest,
    layered,
    repeated,
    swapped,
    whole,
    without,
)

IDS = torch.randint(1, VOCABULARY, (3, 9), generator=torch.Generator().manual_seed(3))
NAMES = ("GPT2LMHeadModel", "LlamaForCausalLM", "AlbertForMaskedLM")


@pytest.fixture(autouse=True)
def _no_gradients():
    """Kernels of attention differ by rounding where gradients are wanted."""
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def nets():
    return {name: tiny(name) for name in (*NAMES, "JambaForCausalLM", "T5EncoderModel")}


@pytest.mark.parametrize("name", [*NAMES, "JambaForCausalLM"])
def test_the_whole_is_the_model_itself(nets, name):
    net, model = nets[name], layered(nets[name])
    own = net(input_ids=IDS).logits
    assert torch.equal(model.logits(IDS), own)
    assert torch.equal(model.logits(IDS, whole(DEPTH)), own)
    *_, last = model.states(IDS)
    assert torch.equal(model.read_out(last, IDS), own)
    assert not torch.equal(model.logits(IDS, without(DEPTH, 1, 1)), own)
    assert (model.depth, model.width, model.vocabulary) == (DEPTH, WIDTH, VOCABULARY)
    assert model.causal == (name != "AlbertForMaskedLM")
    assert all("forward" not in vars(layer) for layer in model.layers)


@pytest.mark.parametrize("name", NAMES)
def test_states_are_what_hooks_see(nets, name):
    net, seen = nets[name], []
    hooks = [
        layer.register_forward_hook(lambda _, args, out: seen.append((args[0], out)))
        for layer in dict.fromkeys(runs(net, name))
    ]
    net(input_ids=IDS)
    for hook in hooks:
        hook.remove()
    found = list(layered(net).states(IDS))
    assert len(found) == DEPTH + 1
    for state, expected in zip(found, [seen[0][0], *(out for _, out in seen)], strict=True):
        assert torch.equal(state, expected)


def test_a_bias_that_the_first_layer_makes_reaches_the_others(nets):
    """T5 computes the bias of positions in its first layer and hands it on."""
    net, model = nets["T5EncoderModel"], layered(nets["T5EncoderModel"])
    *_, last = model.states(IDS)
    assert not model.head
    assert torch.equal(model.read_out(last, IDS), net(input_ids=IDS).last_hidden_state)
    with pytest.raises(AuditError, match="no logits"):
        model.logits(IDS)


def test_routes_are_products_of_matrices():
    """On affine layers every route is computed by hand."""
    net = Affine(4)
    model = layered(net)
    ids = torch.tensor([[1, 2, 10], [3, 3, 0]])
    start = net.embed.weight.detach().numpy()[ids]
    maps = [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in net.layers]

    def by_hand(steps):
        hidden = start
        for layer, scale in steps:
            hidden = hidden + scale * (hidden @ maps[layer][0] + maps[layer][1] - hidden)
        return hidden @ net.head.weight.detach().numpy().T + net.head.bias.detach().numpy()

    routes = {
        whole(4): [(0, 1), (1, 1), (2, 1), (3, 1)],
        without(4, 1, 2): [(0, 1), (3, 1)],
        swapped(4, 2): [(0, 1), (1, 1), (3, 1), (2, 1)],
        repeated(4, 1, 2): [(0, 1), (1, 1), (2, 1), (1, 1), (2, 1), (3, 1)],
        repeated(4, 1, 1, times=3, damped=True): [(0, 1), *[(1, 1 / 3)] * 3, (2, 1), (3, 1)],
        (Step(3, 0.5), Step(0)): [(3, 0.5), (0, 1)],
        (): [],
    }
    for route, steps in routes.items():
        np.testing.assert_allclose(model.logits(ids, route).numpy(), by_hand(steps), atol=1e-12)
    for index, hidden in model.outcomes(ids, list(routes)):
        expected = by_hand(list(routes.values())[index])
        np.testing.assert_allclose(model.read_out(hidden, ids).numpy(), expected, atol=1e-12)
    with pytest.raises(AuditError, match="layers 4 to 5: the model has layers 1 to 4"):
        without(4, 3, 4)


def test_one_module_and_copied_weights_are_named(nets):
    assert layered(nets["AlbertForMaskedLM"]).shared == (tuple(range(DEPTH)),)
    net = Affine(4)
    assert layered(net).shared == ()
    before = digest(net)
    net.layers[3].load_state_dict(net.layers[1].state_dict())
    assert layered(net).shared == ((1, 3),)
    assert digest(net) != before


def test_kinds_of_a_hybrid(nets):
    mamba, attention, *rest = layered(nets["JambaForCausalLM"]).kinds
    assert "mamba" in mamba
    assert "self_attn" in attention
    assert rest == [mamba, attention]
    assert layered(nets["GPT2LMHeadModel"]).kinds == ("GPT2Block",) * DEPTH


@pytest.mark.parametrize("name", [*NAMES, "JambaForCausalLM"])
def test_parts_sum_to_the_layer(nets, name):
    model = layered(nets[name])
    states = list(model.states(IDS))
    for index, parts in enumerate(model.parts(IDS)):
        total = parts["stream"] + parts["attention"] + parts["mlp"]
        assert torch.equal(parts["stream"], states[index])
        if name != "AlbertForMaskedLM":
            torch.testing.assert_close(total, states[index + 1], rtol=0, atol=1e-10)
    if name == "AlbertForMaskedLM":
        layer = nets[name].albert.encoder.albert_layer_groups[0].albert_layers[0]
        middle = layer.attention.LayerNorm(parts["stream"] + parts["attention"])
        after = layer.full_layer_layer_norm(middle + parts["mlp"])
        torch.testing.assert_close(after, states[-1], rtol=0, atol=1e-10)


def test_the_model_is_left_as_it_was():
    net = Affine()
    net.train()
    net.layers[1].eval()
    model = layered(net)
    with pytest.raises(AuditError, match="layers 8 to 8"):
        model.logits([[1, 2]], (Step(7),))
    model.logits([[1, 2]])
    assert [m.training for m in (net, *net.layers)] == [True, True, False, True]
    assert all("forward" not in vars(layer) for layer in net.layers)
    assert all(not layer._forward_hooks for layer in net.layers)
    # New weights are seen, though arguments on the same ids were kept.
    before = next(iter(model.states([[1, 2]])))
    net.embed.weight.mul_(2)
    assert torch.equal(next(iter(model.states([[1, 2]]))), 2 * before)


def _broken(weight):
    net = Affine()
    net.layers[1].weight[0, 0] = weight
    return net


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tiny("T5ForConditionalGeneration"), "an encoder and a decoder"),
        (lambda: tiny("XLNetModel"), r"XLNetModel: no list of layers passes one stream"),
        (lambda: Affine(between=0.5), r"layer 2 \(layers\) does not receive what layer 1"),
        (lambda: _broken(float("nan")), "layers.1.weight holds weights that are not finite"),
        (lambda: _broken(float("inf")), "layers.1.weight holds weights that are not finite"),
        (lambda: Affine().to("meta"), "has no values; load the weights first"),
        (lambda: nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5)), "has no list of layers"),
        (lambda: nn.Linear(3, 3), "has no embedding of ids"),
        (lambda: nn.ModuleList([nn.Embedding(4, 2)]), "does not run on ids"),
    ],
)
def test_hostile_models_are_refused_in_one_line(make, said):
    with pytest.raises(AuditError, match=said) as caught:
        layered(make())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([[1, VOCABULARY]], "take the tokenizer that belongs to the model"),
        ([[-1, 2]], "accepts 0 to 39"),
        ([1, 2], "of shape"),
        ([[1.0, 2.0]], "accepted are integers"),
        ([[1] * 33], "accepts at most 32"),
    ],
)
def test_ids_that_do_not_fit(nets, ids, said):
    with pytest.raises(AuditError, match=said):
        layered(nets["GPT2LMHeadModel"]).logits(ids)
