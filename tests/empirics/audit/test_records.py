"""Measurements on disk."""

import json

import numpy as np
import pytest
import torch
from tiny_models import Affine

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.documents import random_documents
from depthlaw.empirics.audit.layered import layered
from depthlaw.empirics.audit.records import Store

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
