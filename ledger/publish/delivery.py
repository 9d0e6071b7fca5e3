"""Moving a finished set of files into a folder of the user's, without ever touching a file that is
not ours."""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from pathlib import Path

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
    its files are replaced; at every moment each file there is whole and listed with its hash, so an
    interrupted delivery is repaired by the next. Returns the files now there, sorted.

    Raises:
        DeliveryError: when `target` is not such a folder or cannot be written; nothing in it was
            changed.
    """
    sums = {name: _sha256(source / name) for name in _files(source) if name != SUMS}
    listing = _HEADER + "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    (source / SUMS).write_text(listing, encoding="utf-8", newline="\n")
    try:
        target = target.expanduser().resolve()
        old = _ours(target)
        if target.exists():
            _replace(source, target, old, sorted(sums))
        else:
            _create(source, target)
    except OSError as error:
        raise DeliveryError(
            f"cannot write to {target} ({error.strerror}); choose another folder") from None
    return sorted(target / name for name in (*sums, SUMS))


def _create(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.parent / f"{_STAGING}{uuid.uuid4().hex}"
    try:
        _copy(source, staging)
        staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(source: Path, target: Path, old: list[str], new: list[str]) -> None:
    # Inside the target, because the target may be a file system of its own, where a move from
    # outside would be a copy.
    staging = target / f"{_STAGING}{uuid.uuid4().hex}"
    try:
        _copy(source, staging)
        for name in old:
            (target / name).unlink()
        os.replace(staging / SUMS, target / SUMS)
        for name in new:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / name, target / name)
        for folder in {(target / name).parent
                       for name in old} - {(target / name).parent for name in new} - {target}:
            folder.rmdir()
    finally:
        for path in target.iterdir():
            if _left(path.name):
                shutil.rmtree(path, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; `shutil.copytree` would go on after a full disk and not say why."""
    target.mkdir()
    for name in _files(source):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def _ours(target: Path) -> list[str]:
    """The files of an earlier delivery that are still there; nothing else may be there."""
    if not target.exists():
        return []
    if not target.is_dir():
        raise DeliveryError(f"{target} is a file; give the name of a folder")
    listed = _listed(target / SUMS)
    # Without our list a single look is enough: the folder may be somebody's home.
    names = (_files(target) if listed
             else (path.name for path in target.iterdir() if not _left(path.name)))
    found = [name for name in names if name != SUMS or not listed]
    for name in found:
        if name not in listed:
            raise DeliveryError(f"{target} holds {name}, which depthlaw did not write; choose a "
                                "new or empty folder")
        if _sha256(target / name) != listed[name]:
            raise DeliveryError(f"{target / name} was edited since depthlaw wrote it; move it away "
                                "or choose another folder")
    return found


def _listed(sums: Path) -> dict[str, str]:
    try:
        text = sums.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return {}
    if not text.startswith(_HEADER):  # somebody else's list of somebody else's files
        return {}
    return {match[2]: match[1] for line in text.splitlines()
            if (match := re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line))}


def _files(folder: Path) -> list[str]:
    """Every file below a folder by relative name, but for what a killed delivery left."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_symlink()
             or not path.is_dir())
    return sorted(path.as_posix() for path in found if not _left(path.parts[0]))


def _left(name: str) -> bool:
    """Whether a delivery that was killed left this behind."""
    return re.fullmatch(re.escape(_STAGING) + "[0-9a-f]{32}", name) is not None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
