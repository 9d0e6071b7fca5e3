"""A folder of the user's receives our files whole, and no file that is not ours is ever touched."""

import errno
import hashlib
import os
import shutil

import pytest

from depthlaw.ledger.publish.appendix import output_folder
from depthlaw.ledger.publish.appendix.output_folder import SUMS, DeliveryError, deliver


def made(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def ours(folder):
    return {name: text for name, text in contents(folder).items() if name != SUMS}


@pytest.fixture
def source(tmp_path):
    return tmp_path / "source"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "deep" / "target"


def test_new_folder_appears_with_everything_and_hashes(source, target):
    written = deliver(made(source, {"a": "1", "sub/b": "2"}), target)
    assert ours(target) == {"a": "1", "sub/b": "2"}
    assert written == sorted(p for p in target.rglob("*") if p.is_file())
    lines = (target / SUMS).read_text().splitlines()[1:]
    hashes = {name: hashlib.sha256(text.encode()) for name, text in ours(target).items()}
    assert lines == [f"{of.hexdigest()}  {name}" for name, of in sorted(hashes.items())]
    assert list(target.parent.iterdir()) == [target]


def test_existing_folder_keeps_its_place_and_loses_what_is_gone(source, target):
    target.mkdir(parents=True)
    before = target.stat().st_ino
    deliver(made(source, {"a": "1", "sub/b": "2"}), target)
    deliver(made(source, {"a": "3", "c": "4"}), target)
    assert ours(target) == {"a": "3", "c": "4"}
    assert not (target / "sub").exists()
    assert target.stat().st_ino == before


@pytest.mark.parametrize("name", ["sub/mine.txt", ".hidden"])
def test_foreign_file_stops_it(source, target, name):
    deliver(made(source, {"a": "1", "sub/b": "2"}), target)
    (target / name).write_text("mine")
    before = contents(target)
    with pytest.raises(DeliveryError, match="did not write"):
        deliver(made(source, {"a": "3", "sub/b": "4"}), target)
    assert contents(target) == before


def test_folder_of_somebody_else_is_refused_even_with_hashes(source, target):
    target.mkdir(parents=True)
    (target / "data").write_text("x")
    (target / SUMS).write_text(f"{hashlib.sha256(b'x').hexdigest()}  data\n")
    with pytest.raises(DeliveryError, match="did not write"):
        deliver(made(source, {"data": "y"}), target)
    assert (target / "data").read_text() == "x"


def test_edited_file_stops_it(source, target):
    deliver(made(source, {"a": "1", "b": "2"}), target)
    (target / "b").write_text("my words")
    with pytest.raises(DeliveryError, match="edited"):
        deliver(made(source, {"a": "3", "b": "4"}), target)
    assert ours(target) == {"a": "1", "b": "my words"}
    (target / "b").unlink()
    deliver(made(source, {"a": "3", "b": "4"}), target)
    assert ours(target) == {"a": "3", "b": "4"}


def test_target_that_is_no_folder(source, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DeliveryError, match="is a file"):
        deliver(made(source, {"a": "1"}), tmp_path / "file")
    with pytest.raises(DeliveryError, match="cannot write") as error:
        deliver(made(source, {"a": "1"}), tmp_path / "file" / "below")
    assert "\n" not in str(error.value)
    assert (tmp_path / "file").read_text() == "x"


OLD = {"a": "old" * 1000, "sub/b": "old", "gone/c": "old"}
NEW = {"a": "new" * 1000, "sub/b": "new", "d": "new"}
# List of both, three files, one removed, list of the new ones.
MOVES = 6


@pytest.mark.parametrize("next_texts", [NEW, {"a": "third", "e": "third"}], ids=["same", "other"])
@pytest.mark.parametrize("killed", [False, True], ids=["interrupted", "killed"])
@pytest.mark.parametrize("moment", range(MOVES + 1))
def test_stopped_after_any_move_leaves_whole_files_and_is_repaired(
    source, target, monkeypatch, moment, killed, next_texts
):
    """Nothing that stays is missing for a moment, whatever the next delivery brings."""

    def stopping(function):
        def move(*arguments, **options):
            if len(moves) == moment:
                raise KeyboardInterrupt
            function(*arguments, **options)
            moves.append(function)
            if len(moves) == moment:
                raise KeyboardInterrupt

        return move

    moves = []
    deliver(made(source, OLD), target)
    made(source, NEW)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopping(os.replace))
        patch.setattr(output_folder.Path, "unlink", stopping(output_folder.Path.unlink))
        if killed:  # nothing is cleaned up
            patch.setattr(shutil, "rmtree", lambda *a, **k: None)
        with pytest.raises(KeyboardInterrupt):
            deliver(source, target)
    assert len(moves) == moment
    left = {name: text for name, text in ours(target).items() if not name.startswith(".depthlaw-")}
    assert killed or left == ours(target)
    assert OLD.keys() & NEW.keys() <= left.keys() <= OLD.keys() | NEW.keys()
    assert all(text in (OLD.get(name), NEW.get(name)) for name, text in left.items())
    assert left.keys() >= OLD.keys() or left.items() >= NEW.items()
    if moment == MOVES:
        assert left == NEW
    deliver(made(source, next_texts), target)
    assert ours(target) == next_texts
    assert {path.name for path in target.iterdir() if path.is_dir()} == {
        name.partition("/")[0] for name in next_texts if "/" in name
    }


def test_a_full_disk_is_named_and_leaves_nothing(source, target, monkeypatch):
    """At the second file of several, into a new folder and into one of ours."""
    made(source, {"a": "1", "b": "2", "c": "3"})
    target.mkdir(parents=True)
    real, copied = shutil.copyfile, []

    def copy(here, there):
        copied.append(there)
        if len(copied) % 2 == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(there))
        return real(here, there)

    monkeypatch.setattr(shutil, "copyfile", copy)
    for place in (target.parent / "new", target):
        said = r"^cannot write to .* \(No space left on device\); choose another folder$"
        with pytest.raises(DeliveryError, match=said):
            deliver(source, place)
    assert list(target.parent.iterdir()) == [target]
    assert list(target.iterdir()) == []
