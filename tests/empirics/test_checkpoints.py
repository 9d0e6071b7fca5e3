"""Checkpoints come back bit for bit, or are refused with one line."""

import json
import os
from pathlib import Path

import pytest
import torch
from trainings import killed

from depthlaw.empirics.training import checkpoints
from depthlaw.empirics.training.checkpoints import CheckpointError, fingerprint, read, write

TENSORS = {
    "weights": torch.tensor([[0.1, float("-inf")], [1e-45, -0.0]]),
    "live": torch.tensor([True, False]),
    "steps": torch.tensor([3, 2**62]),
}
COUNTERS = {"loss": [0.1 + 0.2, None], "nested": {"a": [1, 2]}}


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


def names(folder: Path):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_read_is_what_was_written(tmp_path):
    assert read(tmp_path / "new", "run") is None
    write(tmp_path / "new", "run", 7, TENSORS, COUNTERS)
    step, tensors, counters = read(tmp_path / "new", "run")
    assert (step, counters) == (7, COUNTERS)
    assert tensors.keys() == TENSORS.keys()
    assert all(same_bits(tensors[name], TENSORS[name]) for name in TENSORS)


def test_the_newer_replaces_the_older_and_leaves_other_files_alone(tmp_path):
    (tmp_path / "notes.part").write_text("mine")
    (tmp_path / "state-1.safetensors.99.part").write_text("left by a process that was killed")
    write(tmp_path, "run", 1, TENSORS, {})
    write(tmp_path, "run", 2, TENSORS, {})
    assert names(tmp_path) == ["checkpoint.json", "notes.part", "state-2.safetensors"]
    assert read(tmp_path, "run")[0] == 2


@pytest.mark.parametrize("replacement", [1, 2])
def test_killed_before_a_rename_the_older_one_stands(tmp_path, replacement):
    write(tmp_path, "run", 1, TENSORS, COUNTERS)
    with killed(Path, "replace", replacement):
        write(tmp_path, "run", 2, TENSORS, COUNTERS)
    assert read(tmp_path, "run")[0] == 1
    write(tmp_path, "run", 2, TENSORS, COUNTERS)
    assert names(tmp_path) == ["checkpoint.json", "state-2.safetensors"]


def test_every_truncation_and_a_flipped_bit_are_refused(tmp_path):
    write(tmp_path, "run", 1, TENSORS, COUNTERS)
    for name in names(tmp_path):
        path, whole = tmp_path / name, (tmp_path / name).read_bytes()
        for end in range(0, len(whole), 19):
            path.write_bytes(whole[:end])
            with pytest.raises(CheckpointError, match="truncated"):
                read(tmp_path, "run")
        for place in range(0, len(whole), 13):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(CheckpointError, match="truncated"):
                read(tmp_path, "run")
        path.write_bytes(whole)
    assert read(tmp_path, "run")[0] == 1


def test_a_checkpoint_of_another_run_is_refused_in_one_line(tmp_path):
    write(tmp_path, fingerprint({"steps": 1}), 1, TENSORS, {})
    with pytest.raises(CheckpointError, match="another shape, task, settings or device") as error:
        read(tmp_path, fingerprint({"steps": 2}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["[]", "null", "{}", '{"seal": 1}', "[" * 5000, "\xff"])
def test_a_foreign_file_is_refused(tmp_path, content):
    (tmp_path / "checkpoint.json").write_text(content, encoding="latin-1")
    with pytest.raises(CheckpointError, match="no checkpoint of this version"):
        read(tmp_path, "run")


@pytest.mark.parametrize(
    "state", ["../state-1.safetensors", "/etc/passwd", "state-1.safetensors/..", "other.bin"]
)
def test_a_state_outside_the_folder_is_never_opened(tmp_path, state):
    write(tmp_path, "run", 1, TENSORS, {})
    path = tmp_path / "checkpoint.json"
    body = json.loads(path.read_text()) | {"state": state}
    body.pop("seal")
    path.write_bytes(checkpoints._sealed(body))
    with pytest.raises(CheckpointError, match="altered"):
        read(tmp_path, "run")


def test_a_folder_that_cannot_be_written_says_so(tmp_path, monkeypatch):
    write(tmp_path, "run", 1, TENSORS, {})

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        write(tmp_path, "run", 2, TENSORS, {})
    monkeypatch.undo()
    assert read(tmp_path, "run")[0] == 1


def test_nothing_is_unpickled():
    source = Path(checkpoints.__file__).read_text()
    assert "import pickle" not in source
    assert "torch.load" not in source
