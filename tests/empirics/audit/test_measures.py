"""Measures against the same by hand: hooks on the model itself, and arithmetic in numpy."""

import itertools

import numpy as np
import pytest
import torch
from tiny_models import DEPTH, VOCABULARY, Affine, runs, tiny
from torch.nn.functional import cross_entropy

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.documents import random_documents, subset
from depthlaw.empirics.audit.layered import layered
from depthlaw.empirics.audit.measures import MEASURES, _halfway, measure, measure_all
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm

NAMES = ("GPT2LMHeadModel", "LlamaForCausalLM", "AlbertForMaskedLM")
SAMPLE = random_documents(VOCABULARY, tokens=10, documents=8, without=0)


@pytest.fixture(scope="module")
def nets():
    return {name: tiny(name) for name in NAMES}


def by_hand(net, name, ids, skipped=None, until=None):
    """States (layers + 1, documents, tokens, width) and logits, by hooks, where the call with
    number `skipped` returns what it received, at the first `until` tokens alone."""
    states, calls = [], itertools.count()

    def hook(layer, args, output):
        if not states:
            states.append(args[0])
        if next(calls) == skipped:
            output = torch.cat([args[0][:, :until], output[:, len(ids[0]) :]], dim=1)
            if until is not None:
                output = torch.cat([args[0][:, :until], kept[0][:, until:]], dim=1)
        states.append(output)
        return output

    kept = []
    hooks = []
    if until is not None:
        own = by_hand(net, name, ids)[0]
        kept.append(own[skipped + 1])
    hooks = [layer.register_forward_hook(hook) for layer in dict.fromkeys(runs(net, name))]
    with torch.no_grad():
        logits = net(input_ids=ids).logits
    for one in hooks:
        one.remove()
    return torch.stack(states), logits


def read_ids(net, model, sample):
    """What the model reads when its loss is measured, and which tokens are scored."""
    if model.causal:
        ids = torch.as_tensor(sample.ids)
        scored = torch.ones_like(ids, dtype=torch.bool)
        scored[:, -1] = False
        return ids, scored, torch.roll(ids, -1, dims=1)
    read = []
    hook = net.albert.embeddings.word_embeddings.register_forward_pre_hook(
        lambda _, args: read.append(args[0])
    )
    measure(model, sample, "removal")
    hook.remove()
    ids = torch.as_tensor(sample.ids)
    return read[0], read[0] != ids, ids


def mean_over(per_token, scored):
    return [float(row[keep].mean()) for row, keep in zip(per_token, scored, strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_hidden_states_by_hand(nets, name):
    model = layered(nets[name])
    ids, _, _ = read_ids(nets[name], model, SAMPLE)
    states = by_hand(nets[name], name, ids)[0].numpy()
    unit = states / np.linalg.norm(states, axis=-1, keepdims=True)
    cosine = (unit[:-1] * unit[1:]).sum(-1)
    values = dict(
        zip(
            asked := [
                ("block_influence", "mean"),
                ("growth", "rms"),
                ("growth", "variance"),
                ("residual", "composite"),
                ("residual", "frobenius_factor"),
                ("contribution", "layer"),
            ],
            measure_all(model, SAMPLE, asked),
            strict=True,
        )
    )
    moved = states - states.mean(axis=2, keepdims=True)
    frobenius = np.linalg.norm(moved, axis=(2, 3)) / np.linalg.norm(states, axis=(2, 3))
    steps = np.linalg.norm(np.diff(states, axis=0), axis=-1)
    composite = [
        [composite_norm(moved[i, d]) / composite_norm(states[i, d]) for d in range(8)]
        for i in range(1, DEPTH + 1)
    ]
    expected = {
        ("block_influence", "mean"): 1 - cosine.mean(-1),
        ("growth", "rms"): np.sqrt((states[1:] ** 2).mean((2, 3))),
        ("growth", "variance"): states[1:].var((2, 3)),
        ("residual", "composite"): composite,
        ("residual", "frobenius_factor"): frobenius[1:] / frobenius[:-1],
        ("contribution", "layer"): (steps / np.linalg.norm(states[:-1], axis=-1)).mean(-1),
    }
    for pair, one in expected.items():
        np.testing.assert_allclose(values[pair].per_document, one, rtol=1e-8, err_msg=str(pair))
    for variant in ("last_token", "all_tokens"):
        found = measure(model, SAMPLE, "angular_distance", variant, sizes=(3, 1))
        assert found.index == ((0, 2), (1, 3), (0, 0), (1, 1), (2, 2), (3, 3))
        for (first, last), told in zip(found.index, found.per_document, strict=True):
            angle = np.arccos(np.clip((unit[first] * unit[last + 1]).sum(-1), -1, 1)) / np.pi
            one = angle[:, -1] if variant == "last_token" else angle.mean(-1)
            np.testing.assert_allclose(told, one, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_removal_and_skip_effect_by_hand(nets, name):
    net, model = nets[name], layered(nets[name])
    ids, scored, right = read_ids(net, model, SAMPLE)
    states, logits = by_hand(net, name, ids)

    def losses(found):
        return cross_entropy(found.transpose(1, 2), right, reduction="none")

    later = {(v, i): [] for v in ("later_max", "later_mean") for i in range(DEPTH)}
    loss, largest, mean = [], [], []
    for skipped in range(DEPTH):
        other, changed = by_hand(net, name, ids, skipped)
        loss.append(mean_over(losses(changed) - losses(logits), scored))
        change = (changed.softmax(-1) - logits.softmax(-1)).norm(dim=-1)
        mean.append(mean_over(change, scored))
        largest.append([float(c[s].max()) for c, s in zip(change, scored, strict=True)])
        ratio = (other.diff(dim=0) - states.diff(dim=0)).norm(dim=-1) / states.diff(dim=0).norm(
            dim=-1
        )
        for number in range(skipped + 1, DEPTH):
            later["later_max", skipped].append(ratio[number].amax(1).tolist())
            later["later_mean", skipped].append(ratio[number].mean(1).tolist())
    pairs = tuple(itertools.combinations(range(DEPTH), 2))
    for variant in ("later_max", "later_mean"):
        found = measure(model, SAMPLE, "skip_effect", variant)
        assert found.index == pairs
        expected = [row for i in range(DEPTH) for row in later[variant, i]]
        np.testing.assert_allclose(found.per_document, expected, rtol=1e-7)
    for key, variant, expected in (
        ("removal", "loss", loss),
        ("skip_effect", "output_max", largest),
        ("skip_effect", "output_mean", mean),
    ):
        found = measure(model, SAMPLE, key, variant)
        np.testing.assert_allclose(found.per_document, expected, rtol=1e-7, atol=1e-11)
        if key == "removal":
            whole = mean_over(losses(logits), scored)
            np.testing.assert_allclose(found.baseline, whole, rtol=1e-10)
    if model.causal:
        found = measure(model, SAMPLE, "skip_effect", "future_max")
        for skipped in range(DEPTH):
            _, changed = by_hand(net, name, ids, skipped, until=5)
            change = (changed.softmax(-1) - logits.softmax(-1)).norm(dim=-1)[:, 5:-1]
            np.testing.assert_allclose(
                found.per_document[skipped], change.amax(1), rtol=1e-7, atol=1e-12
            )
        assert found.per_document[-1].max() < 1e-12
        assert found.per_document[0].min() > 1e-6
    else:
        with pytest.raises(AuditError, match="no token has a future"):
            measure(model, SAMPLE, "skip_effect", "future_max")


def test_exits_by_hand(nets):
    model = layered(nets["GPT2LMHeadModel"])
    ids = torch.as_tensor(SAMPLE.ids)
    read = [model.read_out(state, ids)[:, :-1] for state in model.states(ids)]
    told = torch.stack(read).argmax(-1).numpy()
    depths = np.empty(told.shape[1:])
    for place in np.ndindex(depths.shape):
        column = told[(slice(None), *place)]
        depths[place] = min(s for s in range(DEPTH + 1) if (column[s:] == column[-1]).all())
    assert len(np.unique(depths)) > 2
    found = measure_all(
        model,
        SAMPLE,
        [("settling_depth", "mean"), ("settling_depth", "share"), ("exit_loss", "loss")],
    )
    np.testing.assert_allclose(found[0].per_document, [depths.mean(1)], rtol=1e-12)
    shares = [(depths <= i + 1).mean(1) for i in range(DEPTH)]
    np.testing.assert_allclose(found[1].per_document, shares, rtol=1e-12)
    loss = [
        cross_entropy(one.transpose(1, 2), ids[:, 1:], reduction="none").mean(1) for one in read[1:]
    ]
    np.testing.assert_allclose(found[2].per_document, torch.stack(loss), rtol=1e-10)


def test_path_length_ends_at_the_whole():
    curves = np.array([[4.0, 4, 0], [1, 3, -1], [0, 1, 1], [0, 0, 0]])
    np.testing.assert_allclose(_halfway(curves), [2 / 3, 1.5, 0], rtol=1e-14)
    model = layered(Affine())
    sample = random_documents(11, tokens=6, documents=8)
    found = measure(model, sample, "path_length", draws=6)
    assert found.index == (0, 1, 2, 3)
    assert not found.per_document[3].any()
    single = np.stack([measure(model, sample, "removal", sizes=(s,)).per_document for s in (1,)])
    # With 2 of 3 layers kept, a mean over draws of what removal gives layer by layer.
    low, high = single[0].min(0), single[0].max(0)
    assert ((low - 1e-12 <= found.per_document[2]) & (found.per_document[2] <= high + 1e-12)).all()


def test_sets_of_layers_are_of_the_document_and_the_seed_alone():
    model = layered(tiny("GPT2LMHeadModel"))
    sample = random_documents(VOCABULARY, tokens=6, documents=9)
    found = measure(model, sample, "path_length", draws=1).per_document
    part = measure(model, subset(sample, slice(4, 9)), "path_length", draws=1).per_document
    np.testing.assert_allclose(part, found[:, 4:], rtol=1e-9, atol=1e-12)
    other = measure(model, sample, "path_length", draws=1, seed=1).per_document
    assert np.abs(other - found)[1:-1].max(1).min() > 1e-3
    # With all but one of four layers kept, documents differ in the layer that is left out.
    without_one = measure(model, sample, "removal").per_document
    left_out = np.abs(without_one - found[DEPTH - 1]).argmin(0)
    assert len(set(left_out.tolist())) > 1


def test_a_layer_that_adds_nothing_has_the_identity_everywhere(nets):
    net = tiny("GPT2LMHeadModel")
    with torch.no_grad():
        for part in (net.transformer.h[1].attn.c_proj, net.transformer.h[1].mlp.c_proj):
            part.weight.zero_()
            part.bias.zero_()
    model = layered(net)
    asked = [
        (measure.key, name)
        for measure in MEASURES.values()
        for name, variant in measure.variants.items()
        if variant.identity is not None
    ]
    assert len(asked) > 20
    for values in measure_all(model, SAMPLE, asked):
        idle = [
            row
            for row, what in enumerate(values.index)
            if what in (1, (1, 1))
            or (values.key in ("skip_effect", "swap") and 1 in np.ravel(what))
        ]
        rest = [row for row in range(len(values.index)) if row not in idle]
        last_has_no_future = values.variant.startswith("future")
        assert idle, values.key
        found = values.per_document
        np.testing.assert_allclose(found[idle], values.identity, rtol=0, atol=1e-12)
        if last_has_no_future:
            rest = rest[:-1]
        assert (np.abs(found[rest] - values.identity) > 1e-9).any(axis=1).all(), values.key


def test_what_is_not_accepted(nets):
    model = layered(nets["GPT2LMHeadModel"].transformer)
    assert measure(model, SAMPLE, "block_influence").per_document.shape == (DEPTH, 8)
    with pytest.raises(AuditError, match="GPT2Model returns no logits"):
        measure(model, SAMPLE, "removal")
    for key, variant, options, said in (
        ("speed", "", {}, "measure 'speed' is not known; accepted are residual"),
        ("growth", "max", {}, "growth has no variant 'max'; accepted are rms, variance"),
        ("growth", "", {"sizes": (5,)}, "accepted are sizes from 1 to 4"),
    ):
        with pytest.raises(AuditError, match=said):
            measure(model, SAMPLE, key, variant, **options)
