"""Blocks of layers that run twice or change places, and the best of them."""

import numpy as np
import pytest
import torch
from false_alarms import LAWS
from scipy import stats
from tiny_models import DEPTH, VOCABULARY, tiny

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.audit import audit, least_block
from depthlaw.empirics.audit.documents import loss, random_documents
from depthlaw.empirics.audit.layered import layered
from depthlaw.empirics.audit.measures import Values, measure
from depthlaw.empirics.audit.statistics import relative

SAMPLE = random_documents(VOCABULARY, tokens=8, documents=16)
CHANGES = ["repeat plain", "repeat damped", "swap loss"]


def reordered(order):
    """The net with its modules in that order, built anew."""
    net = tiny("GPT2LMHeadModel")
    net.transformer.h = torch.nn.ModuleList(net.transformer.h[layer] for layer in order)
    return layered(net)


@pytest.mark.parametrize(
    ("key", "size", "orders"),
    [
        ("swap", 1, {(0, 1): [1, 0, 2, 3], (1, 2): [0, 2, 1, 3], (2, 3): [0, 1, 3, 2]}),
        ("swap", 2, {(0, 3): [2, 3, 0, 1]}),
        ("repeat", 3, {(0, 2): [0, 1, 2, 0, 1, 2, 3], (1, 3): [0, 1, 2, 3, 1, 2, 3]}),
    ],
)
def test_a_block_that_is_changed_costs_what_a_net_built_so_does(key, size, orders):
    model = layered(tiny("GPT2LMHeadModel"))
    found = measure(model, SAMPLE, key, sizes=(size,))
    assert found.index == tuple(orders)
    for told, order in zip(found.per_document, orders.values(), strict=True):
        by_hand = loss(reordered(order), SAMPLE) - loss(model, SAMPLE)
        np.testing.assert_allclose(told, by_hand, rtol=1e-8, atol=1e-12)
        assert np.abs(by_hand).max() > 1e-3


def test_sizes_reach_every_measure_of_blocks_that_was_asked():
    model = layered(tiny("GPT2LMHeadModel"))
    groups = ["states", "removal", "changes"]
    found = audit(model, SAMPLE, groups=groups, blocks=[3, 2], nulls=())
    for size in (2, 3):
        for key, variant in (("removal", "loss"), ("repeat", "damped"), ("repeat", "plain")):
            table = found.table(key, variant, size)
            assert len(table.rows) == DEPTH - size + 1, (key, size)
            assert {row.last - row.first + 1 for row in table.rows} == {size}
    assert len(found.table("swap", size=2).rows) == 1
    assert found.table("swap", size=3) is None
    assert len(found.table("removal").rows) == DEPTH
    turned = measure(model, SAMPLE, "angular_distance", sizes=(2,)).per_document.mean(1)
    rows = found.table("angular_distance", size=2).rows
    assert [row.estimate.value for row in rows] == pytest.approx(list(turned))
    asked = [(f"{one.key} {one.variant}", one.size) for one in found.least]
    sizes = {"angular_distance last_token": 3, "swap loss": 2, "repeat plain": 3}
    assert {name: sum(of == name for of, _ in asked) for name in sizes} == sizes
    level = found.least[0].chosen.estimate.level
    assert level == pytest.approx(1 - 0.05 / len(asked))
    # Without the group there is none, and without sizes none of blocks.
    assert not audit(model, SAMPLE, groups=["removal"], blocks=[2], nulls=()).least
    alone = audit(model, SAMPLE, groups=groups, nulls=())
    assert [f"{one.key} {one.variant}" for one in alone.least] == ["swap loss", *CHANGES[:2]]
    assert {table.size for table in alone.tables} == {1}


def test_blocks_of_a_model_without_a_head_are_turned_alone():
    model = layered(tiny("GPT2LMHeadModel").transformer)
    found = audit(model, SAMPLE, blocks=[2], nulls=())
    assert [(one.key, one.size) for one in found.least] == [("angular_distance", n) for n in (1, 2)]
    assert [one.gain for one in found.least] == [None, None]
    assert not found.searches
    with pytest.raises(AuditError, match="returns no logits"):
        audit(model, SAMPLE, groups=["parts"], blocks=[2], nulls=())


def test_one_layer_has_no_neighbour():
    found = audit(reordered([0]), SAMPLE, groups=["changes"], nulls=())
    assert found.table("swap").absent == "one layer has no neighbour"
    assert [one.key for one in found.least] == ["repeat", "repeat"]


# --- whether the best of many repetitions is a gain ---

SEEDS, BLOCKS, FALSE_ALARM = 200, 12, 1e-3


def repeated(seed, law, gain=0.0, n=64):
    """Repetitions of blocks that are exchangeable: each changes the loss by nothing but noise."""
    rng = np.random.default_rng([seed, n])
    base = rng.lognormal(1.1, 0.3, n)
    change = 0.05 * (law(rng, (BLOCKS, n)) + law(rng, n)) - gain
    index = tuple((i, i + 1) for i in range(BLOCKS))
    return Values("repeat", "plain", index, change * base, "nats", 0.0, base)


def corrected(values, seed):
    return least_block(values, 2, 0.95, seed).gain


def uncorrected(values, seed):
    """The best of all documents, judged on the same documents as if it were the only one."""
    costs = values.per_document
    best = costs[costs.mean(1).argmin()]
    return relative(values.baseline + best, values.baseline).high < 0


@pytest.mark.parametrize("law", ["normal", "lognormal, sigma 1/2"])
def test_the_best_of_repetitions_that_change_nothing_is_no_gain(law):
    def alarms(rule):
        return sum(bool(rule(repeated(s, LAWS[law]), s)) for s in range(SEEDS))

    # A gain lies on one side of a two-sided interval at 95 %.
    chance = [stats.binom.sf(alarms(rule) - 1, SEEDS, 0.025) for rule in (corrected, uncorrected)]
    assert chance[0] > FALSE_ALARM > chance[1]


def test_few_documents_call_no_gain():
    """With 63 documents 32 judge, with 62 there are 31; so few call gains of skewed costs."""
    for documents, gain in ((64, True), (63, True), (62, None), (16, None)):
        values = repeated(0, LAWS["normal"], 0.15, documents)
        assert least_block(values, 2, 0.95, 0).gain is gain
    assert least_block(repeated(0, LAWS["normal"], 0.15, 64), 2, 0.95, 0, gains=False).gain is None


def test_a_gain_of_every_repetition_is_seen():
    assert all(corrected(repeated(s, LAWS["normal"], 0.15), s) for s in range(10))


def test_the_loss_of_an_exit_has_a_share_of_the_whole_by_document():
    net = tiny("GPT2LMHeadModel")
    found = audit(layered(net), SAMPLE, groups=["exits"], nulls=())
    *early, last = found.table("exit_loss", "loss").rows
    assert (last.share.low, last.share.value, last.share.high) == (0, 0, 0)
    base = loss(layered(net), SAMPLE)
    for kept, row in enumerate(early, 1):
        net = tiny("GPT2LMHeadModel")
        net.transformer.h = net.transformer.h[:kept]
        by_hand = relative(loss(layered(net), SAMPLE), base, 1 - 0.05 / DEPTH)
        shown = (row.share.value, row.share.low, row.share.high)
        wanted = (by_hand.value, by_hand.low, by_hand.high)
        np.testing.assert_allclose(shown, wanted, rtol=1e-6, atol=1e-9)
        assert row.call is None
    assert {row.share for row in found.table("exit_loss", "change").rows} == {None}
