"""What the exercises train on, and the nets that they train: corpus by hash, next-token task,
language models that are stored and go on; and how exercises are shown."""

import argparse
import inspect
import math
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from trainings import killed

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics import exercises as package
from depthlaw.empirics.exercises import corpus, language_model
from depthlaw.empirics.exercises.corpus import encoded, keep, own, standard_library
from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.empirics.exercises.language_model import recipe, texts, trained, validation_losses
from depthlaw.empirics.nets.net import Net
from depthlaw.empirics.tasks.text_windows import Text
from depthlaw.empirics.training import trainer
from depthlaw.theory.claims.definition import made_in

VOCABULARY = 300
TINY = recipe(2, steps=20, width=8, seeds=3, batch=4, vocabulary=VOCABULARY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def digest(folder):
    """A small corpus, stored as one of the user's."""
    file = corpus.Path(folder) / "text.py"
    file.write_text(inspect.getsource(inspect) + inspect.getsource(argparse), encoding="utf-8")
    found = own(file)
    keep(found, folder)
    return found.digest


# --- corpus --------------------------------------------------------------------------------------


def test_no_file_of_the_library_is_in_both_splits_and_its_digest_is_that_of_the_cases():
    found = standard_library()
    files = (*found.training, *found.validation)
    assert len(set(files)) == len(files) > 100
    assert corpus.SMALLEST < sum(len(text.encode()) for text in files) <= corpus.LARGEST
    assert 8 < len(files) / len(found.validation) < 12
    standard_library.cache_clear()
    assert standard_library().digest == found.digest == corpus.STANDARD
    assert not any("class Test" in text and "unittest.main()" in text for text in found.training)


def test_another_text_has_another_digest_and_the_last_tenth_validates(tmp_path):
    text, found = "".join(f"{i} green bottles\n" for i in range(20_000)), []
    for change in ("", "x"):
        (tmp_path / "text").write_text(text + change)
        found.append(own(tmp_path / "text"))
    assert found[0].digest != found[1].digest
    (training,), (validation,) = found[0].training, found[0].validation
    assert training + validation == text
    assert training.endswith("\n")
    assert 0.099 < len(validation) / len(text) < 0.101


def test_of_a_long_file_whole_characters_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "LARGEST", 300_001)
    (tmp_path / "text").write_text("é" * 200_000, encoding="utf-8")
    found = own(tmp_path / "text")
    assert "".join((*found.training, *found.validation)) == "é" * 150_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b" \n" * 200_000, "is empty"),
        (b"few words", "9 bytes"),
        (b"\xff\xfe" * 200_000, "no text"),
        (b"a\0" * 200_000, "no text"),
    ],
)
def test_what_is_no_corpus_is_one_line(tmp_path, content, said):
    if content is not None:
        (tmp_path / "text").write_bytes(content)
    with pytest.raises(UsageError, match=said) as raised:
        own(tmp_path / "text")
    assert "\n" not in str(raised.value)


def test_tokens_are_stored_and_made_again_where_they_are_damaged(folder, digest):
    made = encoded.__wrapped__(digest, VOCABULARY, folder)
    (file,) = (corpus.Path(folder) / "corpora").glob("*.npz")
    for spoil in (lambda data: data, lambda data: data[:1000], lambda data: b"other"):
        file.write_bytes(spoil(file.read_bytes()))
        again = encoded.__wrapped__(digest, VOCABULARY, folder)
        assert all(
            np.array_equal(getattr(made, split), getattr(again, split))
            for split in ("training", "validation")
        )
    # Every id occurs, and tokens are longer than a byte.
    assert made.training.max() == VOCABULARY - 1
    assert len(made.training) + len(made.validation) < corpus.SMALLEST


def test_a_corpus_that_is_not_here_or_says_little_is_one_line(folder, tmp_path):
    with pytest.raises(UsageError, match="--corpus FILE"):
        encoded.__wrapped__("0123456789abcdef", VOCABULARY, folder)
    (tmp_path / "text").write_text("a" * corpus.SMALLEST)  # one word
    found = own(tmp_path / "text")
    keep(found, str(tmp_path))
    with pytest.raises(UsageError, match="too little variety"):
        encoded.__wrapped__(found.digest, VOCABULARY, str(tmp_path))


# --- the next token ------------------------------------------------------------------------------


def test_windows_do_not_overlap_and_each_token_answers_with_the_next():
    task = Text(np.arange(41), length=8, vocabulary=41)
    every = task.windows(100)
    assert every.inputs.tolist() == [[list(range(i, i + 8)) for i in (0, 8, 16, 24, 32)]]
    assert torch.equal(every.targets, every.inputs + 1)
    assert every.group[0, 0].tolist() == list(range(8))
    assert [row[0] for row in task.windows(2).inputs[0].tolist()] == [0, 16]
    drawn = task.batch(torch.Generator().manual_seed(0), 1, 2000).inputs[0, :, 0]
    assert drawn.unique().tolist() == list(range(33))  # every start


def test_texts_are_told_apart_by_their_tokens():
    one, same, other = (
        Text(np.array(ids), length=2, vocabulary=9)
        for ids in ([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 5])
    )
    assert one == same != other


# --- language models -----------------------------------------------------------------------------


def test_losses_are_those_that_can_be_worked_out_by_hand(folder, digest):
    both = texts(digest, VOCABULARY, folder=folder)
    net = Net(TINY.shape, replicas=2)  # all weights are 0: every token has the same logits
    assert validation_losses(net, both.validation) == pytest.approx([math.log(VOCABULARY)] * 2)
    counts = np.bincount(encoded(digest, VOCABULARY, folder).training, minlength=VOCABULARY) + 1
    with torch.no_grad():
        net.read_out_bias[1, 0] = torch.from_numpy(np.log(counts / counts.sum()))
    asked = both.validation.windows(7).targets.flatten().numpy()
    unigram = -np.log(counts / counts.sum())[asked].mean()
    assert validation_losses(net, both.validation, windows=7)[1] == pytest.approx(unigram, rel=1e-5)


def test_a_killed_training_goes_on_and_what_is_stored_is_read(
    folder, digest, tmp_path, monkeypatch
):
    undisturbed = trained.__wrapped__(TINY, digest, folder=folder)
    assert max(undisturbed.losses) < math.log(VOCABULARY), "it learns"
    keep(own(corpus.Path(folder) / "text.py"), str(tmp_path))
    with killed(trainer.checkpoints, "write", 6):
        trained.__wrapped__(TINY, digest, folder=str(tmp_path))
    (place,) = (path for path in (tmp_path / language_model.FOLDER).iterdir() if path.is_dir())
    assert sorted(path.name for path in place.iterdir()) == [language_model.NEWS, "training"]
    resumed = trained.__wrapped__(TINY, digest, folder=str(tmp_path))
    assert [path.name for path in place.iterdir()] == ["net"]
    with monkeypatch.context() as patch:
        patch.setattr(language_model, "train", None)
        read = trained.__wrapped__(TINY, digest, folder=str(tmp_path))
    for other in (resumed, read):
        assert (other.losses, other.training_losses, other.diverged) == (
            undisturbed.losses,
            undisturbed.training_losses,
            (False,) * 3,
        )
        assert all(
            torch.equal(a, b)
            for a, b in zip(other.net.parameters(), undisturbed.net.parameters(), strict=True)
        )


def test_what_determines_a_net_is_in_its_name(folder, digest, monkeypatch):
    both = texts(digest, VOCABULARY, folder=folder)
    name = language_model._identity(TINY, both, "cpu")
    right = language_model.code_version
    with monkeypatch.context() as patch:
        patch.setattr(language_model, "code_version", lambda each: right(each) + "!")
        assert language_model._identity(TINY, both, "cpu") != name
    other = both._replace(validation=Text(np.arange(99), length=64, vocabulary=VOCABULARY))
    for change in (
        (replace(TINY, shuffled=True), both, "cpu"),
        (TINY, other, "cpu"),
        (TINY, both, "cuda"),
    ):
        assert language_model._identity(*change) != name


# --- what is shown -------------------------------------------------------------------------------


def test_every_claim_belongs_to_one_exercise():
    listed = [key for each in exercises().values() for key in each.claims]
    modules = (f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__))
    assert sorted(listed) == sorted(each.key for module in modules for each in made_in(module))
    assert [each.number for each in exercises().values()] == [1, 2, 3, 4, 5]
