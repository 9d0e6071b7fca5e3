"""Null models of a small GPT-2, and numbers of theorems against their claims."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AlbertConfig, AlbertForMaskedLM, GPT2Config, GPT2LMHeadModel

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.documents import random_documents
from depthlaw.empirics.audit.layered import digest, layered
from depthlaw.empirics.audit.measures import measure
from depthlaw.empirics.audit.nulls import (
    NULLS,
    duplicated,
    initialised,
    permuted,
    random_routes,
    told_from,
)
from depthlaw.empirics.audit.statistics import Call, call, mean
from depthlaw.empirics.audit.theory_beside import (
    ModelFacts,
    facts_of,
    relative_diameter,
    theory_beside,
)
from depthlaw.theory.claims.definition import Case, find

DEPTH = 4


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"n_layer": DEPTH, "n_embd": 16, "n_head": 2, "vocab_size": 40, "n_positions": 16}
    net = GPT2LMHeadModel(GPT2Config(**sizes, initializer_range=0.3))
    return layered(net, name="small")


@pytest.fixture(scope="module")
def texts(model):
    return random_documents(40, tokens=12, documents=12)


def weights(model):
    return [digest(layer) for layer in model.layers]


def test_a_null_is_of_the_same_shapes_and_leaves_the_model_as_it_was(model, texts):
    before = digest(model.net)
    for make in (initialised, permuted):
        one, other, again = (make(model, texts, seed)[0] for seed in (1, 2, 1))
        shapes = [{k: t.shape for k, t in m.net.state_dict().items()} for m in (model, one)]
        assert shapes[0] == shapes[1]
        assert digest(one.net) == digest(again.net)
        assert len({digest(m.net) for m in (model, one, other)}) == 3
    assert sorted(weights(one)) == sorted(weights(model))
    assert weights(one) != weights(model)
    shuffled = NULLS["shuffled"].make(model, texts, 0)[1]
    assert (np.sort(shuffled.ids) == np.sort(texts.ids)).all()
    assert digest(model.net) == before


def test_a_layer_that_adds_zero_is_superfluous_and_a_copy_is_named(model, texts):
    zero, copied = (duplicated(model, texts, how=how, index=1)[0] for how in ("zero", "copy"))
    costs = measure(zero, texts, "removal").per_document
    assert (costs[2] == 0).all()
    calls = [call(mean(row), 0.0) for row in costs]
    assert calls[2] is Call.SUPERFLUOUS
    assert torch.equal(zero.logits(texts.ids), model.logits(texts.ids))
    assert copied.shared == ((1, 2),)
    twice = measure(model, texts, "repeat").per_document[1]
    back = measure(copied, texts, "removal").per_document[2]
    assert twice == pytest.approx(-back, abs=1e-6)


def test_a_measure_tells_a_model_from_its_nulls_or_says_that_it_does_not(model, texts):
    values = measure(model, texts, "block_influence")
    draws = [measure(initialised(model, texts, s)[0], texts, "block_influence") for s in range(20)]
    assert told_from(draws[0], draws[1:]).told is False
    with torch.no_grad():
        model.layers[2].mlp.c_proj.weight.mul_(30)
        wild = measure(model, texts, "block_influence")
        model.layers[2].mlp.c_proj.weight.div_(30)
    told = told_from(wild, draws[1:])
    assert (told.told, told.about) == (True, "law")
    assert told_from(values, values).told is False
    more = measure(duplicated(model, texts)[0], texts, "block_influence")
    assert told_from(values, more).told is None


class Loop(nn.Module):
    """One module as three layers, and weights that nothing draws again."""

    def __init__(self):
        super().__init__()
        self.embed, self.bias = nn.Embedding(9, 4), nn.Parameter(torch.arange(4.0))
        self.layers = nn.ModuleList([nn.Linear(4, 4)] * 3)

    def forward(self, ids):
        h = self.embed(ids) + self.bias
        for layer in self.layers:
            h = layer(h)
        return h


def test_what_is_no_null_of_a_model_is_refused(model):
    texts = random_documents(9, tokens=6, documents=8)
    loop = layered(Loop())
    fresh = initialised(loop, texts, 3)[0].net
    assert sorted(fresh.bias.tolist()) == [0, 1, 2, 3]
    assert not torch.equal(fresh.embed.weight, loop.net.embed.weight)
    for make, said in ((permuted, "every order"), (duplicated, "none can be put between")):
        with pytest.raises(AuditError, match=said):
            make(loop, texts, 0)


def test_random_routes_leave_out_what_is_asked_each_once():
    blocks = random_routes(6, 2, 99)
    left = {tuple(sorted({*range(6)} - {s.layer for s in route})) for route in blocks}
    assert left == {(i, i + 1) for i in range(5)}
    sets = random_routes(6, 2, 99, together=False)
    assert len({*sets}) == len(sets) == math.comb(6, 2)
    with pytest.raises(AuditError, match="accepted are 1 draw or more, of 1 to 5 layers"):
        random_routes(6, 6, 1)


# --- theory ---

GPT = ModelFacts(12, 768, 12, 256, 50257, causal=True, skips=True, norm="pre", scaling="divided")
BARE = GPT._replace(skips=False, mlp=False, attention="linear", trained=False)


def numbers(facts):
    return {value.key: value for value in theory_beside(facts)}


def test_a_model_shows_where_its_norms_stand(model, texts):
    facts = facts_of(model, texts)
    assert facts[:7] == (DEPTH, 16, 2, 12, 40, True, True)
    assert (facts.norm, facts.shared) == ("pre", False)
    states = list(model.states(texts.ids[:8]))[-1].numpy()
    assert facts.diameter == pytest.approx(relative_diameter(states, 6))
    sizes = {"hidden_size": 16, "embedding_size": 8, "num_attention_heads": 4, "vocab_size": 40}
    looped = AlbertConfig(**sizes, num_hidden_layers=3, intermediate_size=32)
    facts = facts_of(layered(AlbertForMaskedLM(looped)), texts)
    assert (facts.norm, facts.skips, facts.shared, facts.heads) == ("post", True, True, 4)
    facts = facts_of(layered(Loop()), random_documents(9, tokens=6, documents=8))
    assert (facts.norm, facts.skips, facts.heads) == (None, None, 1)


def test_every_number_is_of_a_claim_and_says_where_it_is_vacuous():
    found = numbers(GPT)
    assert all(str(find(value.claim).source) == value.source for value in found.values())
    assert {key: value.reasons for key, value in found.items()} == {
        "collapse": ("skips", "weights", "logits"),
        "amnesia": ("unmeasured",),
        "growth": ("trained",),
        "paths": ("counts", "class"),
        "degree": ("class",),
        "dimension": ("class", "size"),
        "threshold": ("class",),
    }
    assert not numbers(BARE)["degree"].vacuous
    # S(4, 2) = 1296 is of use where a half has more values, and not where it has 3^4.
    small = BARE._replace(width=4, depth=2, tokens=16, vocabulary=3)
    assert not numbers(small)["dimension"].vacuous
    assert numbers(small._replace(tokens=8))["dimension"].reasons == ("size",)


def test_numbers_are_those_of_the_claims():
    found = numbers(BARE._replace(depth=3, heads=2, residual=0.5, coefficient=0.25, widest=1.0))
    small = Case(depth=3, residual="1/2", gamma="1/16", beta="1", heads=1, lipschitz="1")
    bound = find("rank_collapse/layers_uniform").predict(Case(**small.fields(), qk_width=1))
    assert found["collapse"].value * math.log(10) == pytest.approx(float(bound))
    assert not found["collapse"].vacuous
    lengths = [sum(p > 0 for p in path) for path in itertools.product(range(3), repeat=3)]
    paths = found["paths"]
    assert paths.value == pytest.approx(np.mean(lengths))
    assert (paths.low, paths.high) == tuple(
        np.quantile(lengths, [0.025, 0.975], method="inverted_cdf")
    )
    assert found["degree"].value == 13


@pytest.mark.parametrize(
    ("changes", "power"),
    [
        ({"scaling": "plain"}, 0.5),
        ({"scaling": "divided"}, 0.0),
        ({"scaling": "plain", "shared": True}, 1.0),
        ({"scaling": "divided", "shared": True}, 0.5),
        ({"norm": "post"}, 0.0),
        ({"norm": None}, None),
    ],
)
def test_the_stream_grows_as_independent_or_equal_writes_add(changes, power):
    found = numbers(GPT._replace(trained=False, **changes))["growth"]
    assert found.value == power
    assert found.vacuous == (power is None)
    if power is None or "norm" in changes:
        return
    rng, sizes = np.random.default_rng(0), (16, 256)
    ends = []
    for depth in sizes:
        writes = rng.normal(size=(1 if changes.get("shared") else depth, 4096))
        scale = (2 * depth) ** -0.5 if changes["scaling"] == "divided" else 1.0
        ends.append(np.sqrt(np.mean((scale * np.resize(writes, (depth, 4096)).sum(0)) ** 2)))
    assert np.log(ends[1] / ends[0]) / np.log(16) == pytest.approx(power, abs=0.02)


def test_what_a_collapsed_model_has_forgotten_is_bounded_by_its_diameter():
    states = np.random.default_rng(1).normal(size=(3, 7, 5))
    loops = [
        max(abs(p - q).max() for p, q in itertools.combinations(text[2:], 2)) / abs(text[-1]).max()
        for text in states
    ]
    assert relative_diameter(states, 2) == pytest.approx(np.mean(loops))
    near, far = (numbers(GPT._replace(diameter=d))["amnesia"] for d in (0.25, 1.5))
    assert (near.value, near.vacuous, far.reasons) == (0.5, False, ("size",))
    assert numbers(GPT._replace(causal=False, diameter=0.1))["amnesia"].reasons == ("order",)
