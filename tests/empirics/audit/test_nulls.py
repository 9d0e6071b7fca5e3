"""Null models of a small GPT-2, and numbers of theorems against their claims."""

import gc
import itertools
import math
import weakref

import numpy as np
import pytest
import torch
from fresh_nets import NULLS as RANDOM, VOCABULARY, Net, alarms, doctored, in_order, told
from scipy import stats
from torch import nn
from transformers import AlbertConfig, AlbertForMaskedLM, GPT2Config, GPT2LMHeadModel

from depthlaw.empirics.audit import AuditError, audit as audits, nulls
from depthlaw.empirics.audit.documents import random_documents
from depthlaw.empirics.audit.layered import LayeredModel, digest, layered
from depthlaw.empirics.audit.measures import measure
from depthlaw.empirics.audit.nulls import (
    NULLS,
    draws_of,
    duplicated,
    initialised,
    permuted,
    random_routes,
    told_from,
)
from depthlaw.empirics.audit.records import Store
from depthlaw.empirics.audit.statistics import Call, call, mean, reach
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


# --- several draws ---


def test_draws_of_a_null_differ_and_the_first_is_the_only_one_of_one(model, texts):
    for key in RANDOM:
        drawn = [make() for make in draws_of(key, model, texts, 4, seed=5)]
        (alone,) = draws_of(key, model, texts, 1, seed=5)
        told = [(digest(net.net), documents.sha256) for net, documents in (*drawn, alone())]
        assert len(set(told[:4])) == 4
        assert told[4] == told[0]


def test_random_orders_are_each_drawn_once_and_none_is_the_models_own(texts):
    net = layered(Net(0))
    own = tuple(weights(net))
    found = [tuple(weights(make()[0])) for make in draws_of("permuted", net, texts_of(0), 99)]
    assert set(found) == set(itertools.permutations(own)) - {own}
    assert len(found) == math.factorial(4) - 1
    # Two layers with equal weights are one choice less.
    net.net.layers[1].load_state_dict(net.net.layers[0].state_dict())
    assert len(draws_of("permuted", layered(net.net), texts_of(0), 99)) == 12 - 1


def texts_of(seed):
    return random_documents(VOCABULARY, "uniform", 8, 8, seed)


def test_an_audit_with_many_draws_speaks_of_the_law_and_is_kept(tmp_path):
    def ran(draws, level=0.95):
        store, heard = Store(tmp_path), []
        asked = {"groups": ["states"], "draws": draws, "level": level, "store": store}
        told = lambda what, done, total: heard.append(what)  # noqa: E731
        found = audits.audit(layered(doctored(1)), texts_of(1), tick=told, **asked)
        return found, store, heard

    few, _, heard = ran(2)
    assert {t.about for table in few.tables for t in table.told.values()} == {"nets"}
    assert "initialised, draw 2 of 2: hidden states" in heard
    many, store, _ = ran(19)
    influence = many.table("block_influence")
    assert {t.about for t in influence.told.values()} == {"law"}
    assert influence.told["initialised"] == (True, "law", 1 / 20, 19)
    assert influence.told["shuffled"].told is False
    # Of the whole, of two draws of three null models, and of the net with a copy; and the loss.
    assert list(many.refused) == ["zero"]
    assert len(store.hits) == 6 * (1 + 2 * 3 + 1) + 1
    assert len(store.made) == 6 * 17 * 3
    again, store, _ = ran(19)
    assert again == many
    assert store.made == []
    # What stands beside a row is the mean and the reach of the draws.
    draws = draws_of("initialised", layered(doctored(1)), texts_of(1), 19, audits._NULL_SEED)
    by_hand = [measure(*make(), "block_influence").per_document[2].mean() for make in draws]
    assert influence.rows[2].nulls["initialised"] == reach(by_hand)
    assert influence.rows[2].nulls["initialised"].level == 0.9


def test_one_null_model_is_in_memory_at_a_time(monkeypatch):
    alive, most, again = [], [], nulls._again

    def counted(model, net, documents):
        alive.append(weakref.ref(net))
        most.append(sum(ref() is not None for ref in alive))
        return again(model, net, documents)

    monkeypatch.setattr(nulls, "_again", counted)
    gc.disable()
    try:
        audits.audit(layered(Net(0)), texts_of(0), draws=3)
    finally:
        gc.enable()
    assert len(most) == 3 + 3 + 1
    assert max(most) == 1


# Chance that an exact rule fails one of the counts here.
FALSE_ALARM = 1e-4


@pytest.mark.parametrize("stride", [nulls._STRIDE, 0])
def test_a_net_that_is_a_draw_of_its_null_is_told_at_the_level(stride, monkeypatch):
    """At 80 %, with 4 draws. Draws that are all equal fail, as every net differs from them."""
    monkeypatch.setattr(nulls, "_STRIDE", stride)
    seeds, named = (10, RANDOM) if stride else (6, ["initialised"])
    for hits in alarms(seeds, 4, 0.8, named).values():
        honest = [stats.binom.sf(count - 1, seeds, 0.2) > FALSE_ALARM for count in hits]
        assert all(honest) == (stride > 0), hits


@pytest.mark.slow
def test_false_alarms_of_nineteen_draws_are_as_many_as_the_level():
    for hits in alarms(200).values():
        for count in hits:
            interval = stats.binomtest(int(count), 200).proportion_ci(1 - FALSE_ALARM, "exact")
            assert interval.low <= 0.05 <= interval.high, hits


def test_what_was_changed_on_purpose_is_told():
    for seed in range(2):
        (found,) = told(doctored(seed), texts_of(seed), 19, 0.95, seed, ["initialised"]).values()
        assert found[4].told
    (found,) = told(Net(5), in_order(5), 19, 0.95, 5, ["shuffled"]).values()
    assert found[4].told


# --- parts, and layers that are put in ---


def test_what_parts_add_stands_beside_null_models_or_says_why_not(model, texts, monkeypatch):
    asked = {"groups": ["states", "parts"], "nulls": ["initialised", "zero", "copy"]}
    found = audits.audit(model, texts, **asked)
    for variant in ("attention", "mlp"):
        null, _ = initialised(model, texts, audits._NULL_SEED)
        by_hand = measure(null, texts, "contribution", variant).per_document
        rows = found.table("contribution", variant).rows
        told = [row.nulls["initialised"] for row in rows]
        assert told == [mean(own) for own in by_hand]
    zero = [one for one in found.planted if (one.how, one.key) == ("zero", "contribution")]
    assert [(one.estimate.value, one.identity) for one in zero] == [(0, 0), (0, 0)]
    parts = LayeredModel.parts

    def of_the_model(self, ids):
        if self is not model:
            raise AuditError("they cannot be told apart")
        return parts(self, ids)

    monkeypatch.setattr(LayeredModel, "parts", of_the_model)
    less = audits.audit(model, texts, **asked)
    table = less.table("contribution", "mlp")
    assert table.missing == dict.fromkeys(asked["nulls"], "they cannot be told apart")
    assert table.told == table.rows[0].nulls == less.refused == {}
    assert table.rows[0].estimate == found.table("contribution", "mlp").rows[0].estimate
    assert less.table("growth") == found.table("growth")
    assert not less.table("growth").missing


def test_without_a_copied_layer_the_model_is_the_whole_again(model, texts):
    found = audits.audit(model, texts, groups=["states", "removal"])
    zero, copied = ([p for p in found.planted if p.how == how] for how in ("zero", "copy"))
    behind = copied[0].behind
    made, _ = duplicated(model, texts, how="copy", index=behind)
    again = audits.audit(made, texts, groups=["removal"], nulls=())
    assert again.model.shared == ((behind, behind + 1),)
    assert found.model.shared == ()
    known = [one for one in copied if one.identity is not None]
    assert [(one.key, one.variant) for one in known] == [("removal", "loss")]
    assert known[0].identity == pytest.approx(found.loss.value - again.loss.value, abs=1e-9)
    assert known[0].estimate.value == pytest.approx(known[0].identity, abs=1e-6)
    assert abs(known[0].identity) > 1e-3
    assert {(one.key, one.variant) for one in copied} > {(one.key, one.variant) for one in zero}
    assert all(one.identity is not None for one in zero)


def test_any_block_is_the_mean_over_all_blocks_of_neighbours(model):
    texts = random_documents(VOCABULARY, tokens=8, documents=16)
    found = audits.audit(model, texts, groups=["removal"], blocks=(2,), nulls=())
    one, two = found.searches
    assert one.neighbours == one.random
    by_hand = measure(model, texts, "removal", sizes=(2,))
    cost = by_hand.per_document.mean() / by_hand.baseline.mean()
    assert len(by_hand.per_document) == DEPTH - 1
    assert two.neighbours.value == pytest.approx(cost)
    assert two.neighbours.value != pytest.approx(two.random.value)
    assert two.neighbours.n == len(texts)


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
    sets = random_routes(6, 2, 99)
    assert len({*sets}) == len(sets) == math.comb(6, 2)
    assert {len(route) for route in sets} == {4}
    some = random_routes(6, 2, 5)
    assert len({*some}) == 5
    assert set(some) < set(sets)
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
