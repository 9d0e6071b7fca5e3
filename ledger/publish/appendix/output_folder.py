"""Moving a finished set of files into a folder of the user's, without ever touching a file that is
not ours."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

# Names every file delivered, in the form that `sha256sum --check` reads: it tells our files from
# others, and unedited from edited ones.
SUMS = "SHA256SUMS"
_HEADER = "# written by depthlaw, which replaces these files as long as nobody has edited them\n"
_STAGING = ".depthlaw-"


class DeliveryError(Exception):
    """A folder that files cannot be moved into; the message is one line for people."""


def deliver(source: Path, target: Path) -> list[Path]:
    """Move every file below `source` into `target`, together with a list of their hashes.

    A new folder appears whole. In one that holds an earlier delivery, unedited, and nothing else,
    its files are replaced one by one, and those that are no longer wanted go last; at every moment
    each file there is whole, old or new, and listed with its hash, so an interrupted delivery is
    repaired by the next. Returns the files now there, sorted.

    Raises:
        DeliveryError: when `target` is not such a folder or cannot be written; nothing in it was
            changed.
    """
    sums = {name: _sha256(source / name) for name in _files(source) if name != SUMS}
    _write_sums(source / SUMS, sums.items())
    with _writing(target := target.expanduser().resolve()):
        old = _ours(target)
        if target.exists():
            _replace(source, target, old, sums)
        else:
            _create(source, target)
    return sorted(target / name for name in (*sums, SUMS))


def check_folder(target: Path) -> None:
    """Refuse, before any work, a folder that `deliver` would refuse after it.

    Raises:
        DeliveryError: as `deliver` does.
    """
    with _writing(target := target.expanduser().resolve()):
        _ours(target)
        there = next(parent for parent in (target, *target.parents) if parent.exists())
        TemporaryDirectory(prefix=_STAGING, dir=there).cleanup()


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """What the system refuses becomes a DeliveryError."""
    try:
        yield
    except OSError as error:
        why = f"cannot write to {target} ({error.strerror}); choose another folder"
        raise DeliveryError(why) from None


def _create(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.parent / f"{_STAGING}{uuid.uuid4().hex}"
    try:
        _copy(source, staging)
        staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(source: Path, target: Path, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    # Inside the target, because the target may be a file system of its own, where a move from
    # outside would be a copy.
    staging = target / f"{_STAGING}{uuid.uuid4().hex}"
    known = {*_listed(target / SUMS), *old}
    try:
        _copy(source, staging)
        # Until all are moved, the list holds what is there and what will be, so that whatever an
        # interruption leaves is known as ours.
        both = staging / f"{SUMS}.both"
        _write_sums(both, {*old.items(), *new.items()})
        os.replace(both, target / SUMS)
        for name in new:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / name, target / name)
        for name in old.keys() - new.keys():
            (target / name).unlink()
        before, now = ({(target / name).parent for name in names} for names in (known, new))
        for folder in before - now - {target}:
            with suppress(OSError):  # gone already, or a folder of the user's stands in it
                folder.rmdir()
        os.replace(staging / SUMS, target / SUMS)
    finally:
        for path in target.iterdir():
            if _left(path.name):
                shutil.rmtree(path, ignore_errors=True)


def _write_sums(path: Path, sums: Iterable[tuple[str, str]]) -> None:
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums))
    path.write_text(_HEADER + lines, encoding="utf-8", newline="\n")


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; `shutil.copytree` would go on after a full disk and not say why."""
    target.mkdir()
    for name in _files(source):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def _ours(target: Path) -> dict[str, str]:
    """The files of an earlier delivery that are still there, with their hashes; nothing else may be
    there."""
    if not target.exists():
        return {}
    if not target.is_dir():
        raise DeliveryError(f"{target} is a file; give the name of a folder")
    listed = _listed(target / SUMS)
    # Without our list a single look is enough: the folder may be somebody's home.
    names = _files(target) if listed else [path.name for path in target.iterdir()]
    hashes = {}
    for name in (name for name in names if not _left(name) and (name != SUMS or not listed)):
        if name not in listed:
            raise DeliveryError(
                f"{target} holds {name}, which depthlaw did not write; choose a new or empty folder"
            )
        hashes[name] = _sha256(target / name)
        if hashes[name] not in listed[name]:
            raise DeliveryError(
                f"{target / name} was edited since depthlaw wrote it; move it away "
                "or choose another folder"
            )
    return hashes


def _listed(sums: Path) -> dict[str, set[str]]:
    """The hashes that a file of ours may have, by its name: two during a delivery."""
    try:
        text = sums.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return {}
    if not text.startswith(_HEADER):  # somebody else's list of somebody else's files
        return {}
    listed: dict[str, set[str]] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line):
            listed.setdefault(match[2], set()).add(match[1])
    return listed


def _files(folder: Path) -> list[str]:
    """Every file below a folder by relative name, but for what a killed delivery left."""
    every = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    files = (path.relative_to(folder) for path in every)
    return sorted(path.as_posix() for path in files if not _left(path.parts[0]))


def _left(name: str) -> bool:
    """Whether a delivery that was killed left this behind."""
    return re.fullmatch(re.escape(_STAGING) + "[0-9a-f]{32}", name) is not None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
