"""Measurements on disk."""

import json

import numpy as np
import pytest
import torch
from tiny_models import Affine, tiny

from depthlaw.empirics.audit import AuditError, documents
from depthlaw.empirics.audit.audit import audit
from depthlaw.empirics.audit.documents import random_documents
from depthlaw.empirics.audit.layered import layered, whole
from depthlaw.empirics.audit.records import Store, model_hash, named_code

ASKED = [("removal", ""), ("block_influence", "mean"), ("settling_depth", "share")]
SAMPLE = random_documents(11, tokens=6, documents=8)


def test_what_is_known_is_read_and_what_changed_is_made(tmp_path):
    net = Affine()
    first = Store(tmp_path / "kept")
    values = first.measured(layered(net), SAMPLE, ASKED[:2])
    assert (len(first.hits), len(first.made)) == (0, 2)
    again = Store(tmp_path / "kept")
    told = again.measured(layered(net), SAMPLE, ASKED)
    assert (len(again.hits), len(again.made)) == (2, 1)
    for one, two in zip(values, told, strict=False):
        assert (one.key, one.variant, one.index, one.unit) == (
            two.key,
            two.variant,
            two.index,
            two.unit,
        )
        assert np.array_equal(one.per_document, two.per_document)
    assert np.array_equal(values[0].baseline, told[0].baseline)
    assert told[1].baseline is None
    # The size of blocks decides removal, and nothing else here.
    again.measured(layered(net), SAMPLE, ASKED, sizes=(1, 2))
    assert (len(again.hits), len(again.made)) == (4, 2)
    other = random_documents(11, tokens=6, documents=8, seed=1)
    again.measured(layered(net), other, ASKED[:1])
    with torch.no_grad():
        net.head.bias[0] += 1e-6
    again.measured(layered(net), SAMPLE, ASKED[:1])
    assert (len(again.hits), len(again.made)) == (4, 4)
    assert not again.damaged


@pytest.fixture
def two_at_once(monkeypatch):
    """Batches of two documents, of which SAMPLE has four."""
    monkeypatch.setattr(documents, "_TOKENS_AT_ONCE", 12)


def interrupted(after):
    """Hears what is done, and stops at the call with this number."""
    heard = []

    def tick(*told):
        heard.append(told)
        if len(heard) == after:
            raise KeyboardInterrupt

    return tick, heard


@pytest.mark.parametrize("key", ["removal", "settling_depth", "skip_effect", "block_influence"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_measurement_that_was_stopped_goes_on_at_the_next_documents(
    tmp_path, two_at_once, monkeypatch, key, after
):
    model, asked = layered(Affine()), [(key, "")]
    (expected,) = Store(tmp_path / "whole").measured(model, SAMPLE, asked)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path / "parts").measured(model, SAMPLE, asked, tick=interrupted(after)[0])
    assert len(list((tmp_path / "parts").iterdir())) == after
    runs = []
    own = type(model)._calls
    monkeypatch.setattr(
        type(model), "_calls", lambda self, ids: runs.append(ids.tolist()) or own(self, ids)
    )
    again, (tick, heard) = Store(tmp_path / "parts"), interrupted(None)
    (values,) = again.measured(model, SAMPLE, asked, tick=tick)
    assert np.array_equal(values.per_document, expected.per_document)
    assert (len(again.resumed), len(again.hits), len(again.made)) == (after, 0, 1)
    # What is done is not run again, and progress still tells of all documents.
    read = {tuple(row) for ids in runs for row in ids}
    assert read == {tuple(row) for row in SAMPLE.ids[2 * after :].tolist()}
    assert [done for _, done, _ in heard] == [2, 4, 6, 8]
    # Of the whole and its parts the whole is left.
    names = [[file.name for file in (tmp_path / of).iterdir()] for of in ("parts", "whole")]
    assert names[0] == names[1]


def test_a_part_that_is_damaged_or_of_other_documents_is_not_read(tmp_path, two_at_once):
    model, asked = layered(Affine()), [("removal", "")]
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).measured(model, SAMPLE, asked, tick=interrupted(2)[0])
    other = Store(tmp_path)
    other.measured(model, random_documents(11, tokens=6, documents=8, seed=1), asked)
    other.measured(model, SAMPLE, asked, sizes=(2,))
    assert not other.resumed
    part = next(file for file in tmp_path.iterdir() if b"parts of" in file.read_bytes())
    part.write_bytes(part.read_bytes()[:-9])
    again = Store(tmp_path)
    (values,) = again.measured(model, SAMPLE, asked)
    assert (len(again.resumed), again.damaged) == (1, [f"{part.name}.damaged"])
    (expected,) = Store(tmp_path / "new").measured(model, SAMPLE, asked)
    assert np.array_equal(values.per_document, expected.per_document)


def test_sizes_and_routes_decide_what_is_read(tmp_path):
    model, store = layered(Affine(depth=4)), Store(tmp_path)
    for size in (1, 2):
        (swap,) = store.measured(model, SAMPLE, [("swap", "")], sizes=(size,))
        assert swap.index[0] == (0, 2 * size - 1)
    for route in (whole(4), whole(4)[1:]):
        found = store.losses(model, SAMPLE, [route])
        assert np.array_equal(found, documents.outcomes(model, SAMPLE, [route])["loss"])
    assert (len(store.hits), len(store.made)) == (0, 4)


class Two(torch.nn.Module):
    """A net with two lists of layers of one class, and a function of its caller's behind them."""

    def __init__(self, act=torch.tanh):
        super().__init__()
        torch.manual_seed(0)
        self.embed = torch.nn.Embedding(11, 6)
        self.a, self.b = (
            torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(3)) for _ in range(2)
        )
        self.act = act

    def forward(self, ids):
        hidden = self.embed(ids)
        for layer in (*self.a, *self.b):
            hidden = layer(hidden)
        return self.act(hidden)


def test_another_list_of_layers_is_another_model():
    one, other = (layered(Two(), layers=name, example=SAMPLE.ids[:2]) for name in "ab")
    assert model_hash(one) != model_hash(other)
    assert model_hash(one) == model_hash(layered(Two(), layers="a", example=SAMPLE.ids[:2]))
    assert not named_code(one)
    assert named_code(layered(tiny("GPT2LMHeadModel")))


def test_random_layers_are_kept_and_go_on_where_they_were_stopped(tmp_path, two_at_once):
    model, groups = layered(Affine()), {"groups": ["removal"], "blocks": [2], "nulls": ()}
    sample = random_documents(11, tokens=6, documents=16)
    (tmp_path / "whole").mkdir()
    expected = audit(model, sample, store=Store(tmp_path / "whole"), **groups)
    assert expected.to_json() == audit(model, sample, **groups).to_json()

    def stop(what, done, total):
        if (what, done) == ("random layers", 6):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(model, sample, store=Store(tmp_path / "parts"), tick=stop, **groups)
    again, third = Store(tmp_path / "parts"), Store(tmp_path / "parts")
    assert audit(model, sample, store=again, **groups).to_json() == expected.to_json()
    assert (len(again.resumed), len(again.hits), len(again.made)) == (3, 3, 1)
    audit(model, sample, store=third, **groups)
    assert (len(third.hits), third.made) == (4, [])


def test_what_was_done_before_an_interruption_is_kept(tmp_path):
    def stop(what, done, total):
        if what == "exits":
            raise KeyboardInterrupt

    model = layered(Affine())
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).measured(model, SAMPLE, ASKED, tick=stop)
    again = Store(tmp_path)
    again.measured(model, SAMPLE, ASKED)
    assert (len(again.hits), len(again.made)) == (2, 1)


@pytest.mark.parametrize("harm", ["truncated", "altered", "no JSON"])
def test_a_damaged_file_is_set_aside_and_named(tmp_path, harm):
    model = layered(Affine())
    values = Store(tmp_path).measured(model, SAMPLE, ASKED[:1])[0]
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    stored = json.loads(text)
    stored["values"]["per_document"][0][0] += 1e-9
    file.write_text({"truncated": text[:-9], "altered": json.dumps(stored), "no JSON": "{"}[harm])
    store = Store(tmp_path)
    again = store.measured(model, SAMPLE, ASKED[:1])[0]
    assert store.damaged == [f"{file.name}.damaged"]
    assert file.read_text() == text
    assert np.array_equal(values.per_document, again.per_document)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(AuditError, match="cannot keep measurements"):
        Store(tmp_path / "file" / "deeper").measured(layered(Affine()), SAMPLE, ASKED[:1])
