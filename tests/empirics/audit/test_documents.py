"""Documents from a text and at random, and objectives on them."""

import numpy as np
import pytest
import torch
from tiny_models import DEPTH, VOCABULARY, Affine, tiny
from torch.nn.functional import cross_entropy, kl_div

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.documents import (
    IGNORED,
    Documents,
    divergence,
    from_text,
    loss,
    objective,
    outcomes,
    random_documents,
    shuffled,
    subset,
)
from depthlaw.empirics.audit.layered import layered, whole, without


def letters(text):
    return [ord(c) % 32 for c in text if c.strip()]


class Marked:
    """A tokenizer of letters that puts 50 and 51 around a text."""

    mask_token_id = 52
    cls_token_id = 50

    def encode(self, text):
        raise AssertionError

    def __call__(self, text, add_special_tokens=True, verbose=True):
        ids = letters(text)
        return {"input_ids": [50, *ids, 51] if add_special_tokens else ids}


def test_paragraphs_where_enough_are_long_and_windows_otherwise():
    parts = [chr(97 + i) * (4 + i % 3) for i in range(12)]
    found = from_text("\n \n".join(parts), letters, tokens=5, documents=20)
    assert found.cut == {
        "way": "paragraphs",
        "short": 4,
        "ids left out": 4 * 4 + 4,
        "not chosen": 0,
    }
    assert found.ids.tolist() == [[i + 1] * 5 for i in range(12) if i % 3]
    some = from_text("\n\n".join(parts), letters, tokens=7, documents=8, seed=1)
    assert (some.cut["way"], len(some), some.cut["not chosen"]) == ("windows", 8, 0)
    text = letters("".join(parts))
    assert some.ids.ravel().tolist() == text[: 8 * 7]
    assert some.cut["ids left out"] == len(text) - 56
    many = [from_text("ab" * 50, letters, tokens=4, documents=8, seed=s) for s in (1, 1, 2)]
    assert many[0].cut["not chosen"] == 17
    assert many[0].sha256 == many[1].sha256


def test_special_ids_stand_around_each_document(tmp_path):
    file = tmp_path / "text"
    file.write_text("abcdefgh" * 12)
    found = from_text(file, Marked(), tokens=6)
    assert found.ids[:, 0].tolist() == [50] * 24
    assert found.ids[:, -1].tolist() == [51] * 24
    assert (found.ends, found.mask, found.source) == ((1, 1), 52, str(file))
    mixed = shuffled(found, seed=3)
    assert np.array_equal(np.sort(mixed.ids), np.sort(found.ids))
    assert np.array_equal(mixed.ids[:, [0, -1]], found.ids[:, [0, -1]])
    assert not np.array_equal(mixed.ids, found.ids)
    assert mixed.sha256 != found.sha256


@pytest.mark.parametrize(
    ("text", "tokens", "said"),
    [
        (" \n\n ", 4, "the text is empty"),
        ("abc" * 10, 4, "gives 7 documents of 4 tokens; 8 are needed"),
        ("abc" * 10, 1, "tokens=1"),
    ],
)
def test_a_text_that_is_too_little(text, tokens, said):
    with pytest.raises(AuditError, match=said):
        from_text(text, letters, tokens=tokens)


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name, said in (("bytes", "not text in UTF-8"), ("none", "cannot be read")):
        with pytest.raises(AuditError, match=said):
            from_text(tmp_path / name, letters)
    with pytest.raises(AuditError, match="accepted are uniform, zipf"):
        random_documents(5, law="normal")


def test_random_ids_follow_their_law():
    uniform = random_documents(4, "uniform", tokens=100, documents=100, without=2)
    counts = np.bincount(uniform.ids.ravel(), minlength=4) / 10_000
    # Six standard deviations of a frequency of 1/3 in 10,000.
    assert np.allclose(counts, [1 / 3, 1 / 3, 0, 1 / 3], atol=0.03)
    zipf = random_documents(4, tokens=100, documents=100, without=0)
    counts = np.bincount(zipf.ids.ravel(), minlength=4) / 10_000
    assert np.allclose(counts, [0, 6 / 11, 3 / 11, 2 / 11], atol=0.03)


@pytest.mark.parametrize("route", [None, without(DEPTH, 1, 2)])
def test_loss_of_the_next_token(route):
    model, sample = layered(tiny("GPT2LMHeadModel")), random_documents(VOCABULARY, tokens=9)
    ids = torch.as_tensor(sample.ids)
    logits = model.logits(ids, route)
    by_hand = [
        cross_entropy(one[:-1], right[1:]).item() for one, right in zip(logits, ids, strict=True)
    ]
    assert objective(model, sample) == "next token"
    np.testing.assert_allclose(loss(model, sample, route), by_hand, rtol=1e-12)
    own = model.logits(ids)
    divergences = [
        kl_div(
            changed[:-1].log_softmax(-1), one[:-1].log_softmax(-1), reduction="sum", log_target=True
        ).item()
        / 8
        for changed, one in zip(logits, own, strict=True)
    ]
    found = divergence(model, sample, route or whole(DEPTH))
    np.testing.assert_allclose(found, divergences, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("mask", [None, 3])
def test_loss_of_hidden_tokens(mask):
    """The tokens that count are those that a model that repeats its input gets wrong."""
    read, net = [], tiny("AlbertForMaskedLM")
    model = layered(net)
    ids = np.tile(np.arange(4, 24), (9, 1))
    sample = Documents(ids, "x", "x", mask=mask, ends=(1, 1))
    hook = net.albert.embeddings.word_embeddings.register_forward_pre_hook(
        lambda _, args: read.append(args[0])
    )
    found = loss(model, sample)
    hook.remove()
    hidden = read[0] != torch.as_tensor(ids)
    assert hidden.sum(1).tolist() == [3] * 9
    assert not hidden[:, [0, -1]].any()
    assert mask is None or bool((read[0][hidden] == mask).all())
    logits = model.logits(read[0])
    by_hand = [
        cross_entropy(logits[i][hidden[i]], torch.as_tensor(ids[i])[hidden[i]]).item()
        for i in range(9)
    ]
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    np.testing.assert_array_equal(loss(model, sample), found)


def test_labels_are_scored_where_they_are():
    model = layered(Affine())
    ids = np.arange(24).reshape(8, 3) % 11
    labels = np.full((8, 3), IGNORED)
    labels[:, 1] = model.logits(ids)[:, 1].argmax(-1).numpy()
    sample = Documents(ids, "x", "x", labels=labels)
    told = outcomes(model, sample, [whole(3), ()], ("right", "loss"))
    assert told["right"][0].tolist() == [1] * 8
    assert told["right"][1].mean() < 1
    assert told["loss"].shape == (2, 8)
    assert subset(sample, [1, 3]).labels[:, 1].tolist() == labels[[1, 3], 1].tolist()
    with pytest.raises(AuditError, match="an answer is 11, but Affine has logits for 0 to 10"):
        loss(model, Documents(ids, "x", "x", labels=labels * 0 + 11))
    with pytest.raises(AuditError, match="answers depend on order"):
        shuffled(sample)
    with pytest.raises(AuditError, match="the loss of route 1 is not finite"):
        outcomes(model, Documents(ids, "x", "x", labels=np.full((8, 3), IGNORED)), [whole(3)])
    with pytest.raises(AuditError, match="accepted are loss"):
        outcomes(model, sample, [whole(3)], ("grace",))
