"""What `depthlaw verify` printed of a suite, kept beside the records: while they, the code, the
libraries and what was typed are the very same, it is printed again, without SymPy and unjudged.

It is derived from the records, and may be deleted at any time.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from ..records.environment import installing, packages
from ..records.store import Store, StoreError, canonical, digest, open_store
from . import reference_ledger
from .shipped_answers import sources

_FILE = "verify.json"
# Where a statement, a judgement or a word of a report comes from.
_CODE = ("advisor", "theory", "empirics", "ledger")
# What says how a terminal prints.
_FORM = ("COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TERM", "TTY_COMPATIBLE")


@dataclass(frozen=True)
class SuiteAnswer:
    """What was printed on the standard output, and said beside it; the exit code, the number of
    runs in the suite, and the hash of their results."""

    text: str
    code: int
    runs: int
    manifest: str
    notes: tuple[str, ...] = ()


def recorded_answer(folder: Path | None, asked: Mapping[str, Any]) -> SuiteAnswer | None:
    """The answer to what was typed, if its records are still those in the folder, every one of
    which is read and verified; else None.

    Cost: that of reading the records, and 50 ms for hashing the sources.
    """
    try:
        store = open_store(folder, read_only=True, lazy=True)
        kept = json.loads((store.root / "cache" / _FILE).read_bytes())
        if kept["seal"] != digest(kept["answer"]) or kept["asked"] != _ground(asked, store):
            return None
        answer = SuiteAnswer(**kept["answer"])
        store = open_store(folder, read_only=True)
    except (OSError, StoreError, ValueError, KeyError, TypeError):
        return None
    listed = (store.root / "manifests" / f"{answer.manifest}.json").is_file()
    same = listed and not store.set_aside and kept["records"] == _state(store)
    return answer if same and os.access(store.root, os.W_OK) else None


class _Copied:
    """A stream that copies what is printed, and is otherwise the one that it prints to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._copy = stream, io.StringIO()
        self.getvalue = self._copy.getvalue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._copy.write(text)
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))


@contextmanager
def copied() -> Iterator[_Copied]:
    """Copy what is printed inside."""
    with redirect_stdout(_Copied(sys.stdout)) as stream:
        yield stream


def keep_answer(store: Store, asked: Mapping[str, Any], answer: SuiteAnswer) -> None:
    """Keep what was printed, but for what is said once: which files are not trusted. A folder that
    cannot be written costs only time."""
    if store.set_aside:
        return
    kept: dict[str, Any] = {"asked": _ground(asked, store), "records": _state(store)}
    kept |= {"answer": asdict(answer), "seal": digest(asdict(answer))}
    with suppress(OSError):
        (store.root / "cache").mkdir(exist_ok=True)
        store.write(store.root / "cache" / _FILE, canonical(kept))


def _ground(asked: Mapping[str, Any], store: Store) -> str:
    """A hash over what the answer rests on besides records: code, libraries, the place of the
    folder, and how it is printed."""
    form = [sys.stdout.isatty(), sys.stdout.encoding, *shutil.get_terminal_size()]
    form += [os.environ.get(name) for name in _FORM]
    reference = reference_ledger.SHIPPED
    compared = sha256(reference.read_bytes()).hexdigest() if reference.is_file() else ""
    printing = [version(name) for name in ("automata-lib", "mpmath", "rich")]
    code = [sources(_CODE), compared, sys.version, packages(), printing]
    return digest([dict(asked), str(store.root), code, installing(), form])


def _state(store: Store) -> str:
    return digest(sorted([record.id, record.result_hash] for record in store))
