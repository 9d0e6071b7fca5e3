"""Records: one canonical-JSON file per run, written whole, named by the hash of its inputs, sealed
by a hash of its content.

A results folder holds `runs/<first two>/<id>.json`, `manifests/`, `certificates/`, `cache/`
(decisions, derived), `tmp/` (writes in flight) and `set-aside/` (files that could not be trusted;
they are moved there, named in a message, and never deleted). Nothing else is touched, and a folder
without depthlaw's marker whose `runs/` is not empty is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.values import Ball, Exact, Measured, Outside, Proportion, Sample, Step

SCHEMA = 1
MARKER = "depthlaw-results"
FOLDERS = ("runs", "tmp", "manifests", "set-aside", "cache", "certificates")
# No record comes near this; a larger file is not read into memory to find out.
LARGEST = 64 * 2**20
# What reading what is not of a known form may raise.
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
_ANOTHER = "; choose another with --results DIR"
_NAME = re.compile(r"[0-9a-f]{64}\.json")

Result = Measured | tuple[Step, ...]


class StoreError(UsageError):
    """A results folder that cannot be used; the message is one line for people."""


@contextmanager
def _refusals(what: str, advice: str = "") -> Iterator[None]:
    """What the system refuses becomes a StoreError: what cannot be done, the reason, and advice."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{what} ({error.strerror}){advice}") from None


# One for all: building it costs as much as a record.
_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: object) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8, no NaN.

    >>> canonical({"b": 1, "a": [True, "x"]})
    b'{"a":[true,"x"],"b":1}'
    """
    return _encoder.encode(value).encode()


def digest(value: object) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return _sha256(canonical(value))


def encode(result: Result) -> dict[str, Any]:
    """A measured value, or the steps of a machine-checked argument, as JSON. Exact numbers become
    decimal strings.

    >>> encode(Exact(Fraction(1, 3)))
    {'exact': '1/3'}
    """
    match result:
        case Exact(value, misses, truncated):
            rare = {"misses": misses, "truncated": truncated}
            return {"exact": _written(value)} | {k: v for k, v in rare.items() if v}
        case Ball(low, high):
            return {"ball": [_written(low), _written(high)]}
        case Sample(values):
            return {"sample": list(values), "statistic": "mean"}
        case Proportion(right, trials):
            return {"proportion": [right, trials]}
        case Outside(broken):
            return {"outside": broken}
        case tuple() if all(isinstance(step, Step) for step in result):
            return {"proof": [[step.says, step.holds] for step in result]}
    raise TypeError(
        f"a measurement returned {type(result).__name__}; accepted are Exact, "
        "Ball, Sample, Proportion and Outside"
    )


def decode(data: Mapping[str, Any]) -> Result:
    """The inverse of `encode`.

    Raises:
        ValueError, KeyError, TypeError: when the data are not of that form.

    >>> decode({"exact": "12", "misses": 1e-9})
    Exact(value=12, misses=1e-09, truncated=False)
    """
    if "exact" in data:
        value = _read(data["exact"])
        whole = int(value) if value.denominator == 1 else value
        return Exact(whole, float(data.get("misses", 0.0)), bool(data.get("truncated", False)))
    if "ball" in data:
        low, high = data["ball"]
        return Ball(_read(low), _read(high))
    if "sample" in data:
        if data["statistic"] != "mean":
            raise ValueError("a sample is of a mean")
        return Sample(tuple(float(v) for v in data["sample"]))
    if "proportion" in data:
        right, trials = data["proportion"]
        if not type(right) is type(trials) is int:
            raise TypeError("counts are integers")
        return Proportion(right, trials)
    if "outside" in data:
        return Outside(str(data["outside"]))
    return tuple(Step(str(says), holds) for says, holds in data["proof"])


_NUMBER = re.compile(r"-?(\d{1,4000}|0x[0-9a-f]+)(/(\d{1,4000}|0x[0-9a-f]+))?", re.ASCII)


def _written(value: Fraction | int) -> str:
    """A rational number: decimal, or hexadecimal where Python refuses so many digits."""
    if not hasattr(value, "denominator"):
        raise TypeError(
            "Exact and Ball take an int, a Fraction or another exact rational number; got "
            f"{value!r}"
        )
    parts = (value.numerator, value.denominator)[: 1 if value.denominator == 1 else 2]
    return "/".join(str(n) if n.bit_length() < 13000 else hex(n) for n in parts)


def _read(text: str) -> Fraction:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise ValueError("not a rational number in the form of a record")
    return Fraction(*(int(part, 16 if "x" in part else 10) for part in text.split("/")))


@dataclass(frozen=True)
class Record:
    """What one run found.

    Attributes:
        inputs: claim key, case, seed, whether it is a negative control, code digest, device class:
            everything that determines the result.
        result: the encoded result.
        facts: environment and timing; never part of the id, of the result hash, or of a manifest.
    """

    inputs: Mapping[str, Any]
    result: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """SHA-256 of the inputs."""
        return _sha256(self._canonical_inputs)

    @cached_property
    def result_hash(self) -> str:
        """SHA-256 of the id and the result."""
        return _sha256(b'["%s",%s]' % (self.id.encode(), self._canonical_result))

    @cached_property
    def _canonical_inputs(self) -> bytes:
        return canonical(self.inputs)

    @cached_property
    def _canonical_result(self) -> bytes:
        return canonical(self.result)

    def encoded_as(self, inputs: bytes, result: bytes) -> None:
        """Spare it encoding its parts, whose canonical form is known."""
        self.__dict__.update(_canonical_inputs=inputs, _canonical_result=result)

    def to_bytes(self) -> bytes:
        """The file's content: one canonical JSON object, put together from parts that are each
        encoded only once."""
        body = b'{"facts":%s,"id":"%s","inputs":%s,"result":%s,"result_hash":"%s","schema":%d' % (
            canonical(self.facts),
            self.id.encode(),
            self._canonical_inputs,
            self._canonical_result,
            self.result_hash.encode(),
            SCHEMA,
        )
        return b'%s,"seal":"%s"}\n' % (body, _sha256(body + b"}").encode())

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Record:
        """Read a record and verify every hash in it.

        Raises:
            ValueError: with the reason, when the file is truncated, edited, foreign, or of another
                schema.
        """
        try:
            body = json.loads(data)
            schema, seal = body["schema"], body["seal"]
        except MALFORMED:
            raise ValueError("not a record: truncated or foreign") from None
        check_schema(schema)
        try:
            record = cls(body["inputs"], body["result"], body["facts"])
            # The comparison covers every hash and the canonical form at once.
            if data != record.to_bytes() or name != f"{record.id}.json":
                raise ValueError(_what_is_wrong(body, seal, record, name))
        except (KeyError, TypeError, RecursionError, UnicodeEncodeError):
            raise ValueError("edited or damaged: parts of it are missing or malformed") from None
        try:
            decode(record.result)
        except MALFORMED:
            raise ValueError("sealed, but its result is not of a known form") from None
        return record


def check_schema(schema: object) -> None:
    """Refuse records of another schema than today's, by a ValueError."""
    if type(schema) is not int or schema != SCHEMA:
        newer = type(schema) is int and schema > SCHEMA
        advice = "; a newer depthlaw wrote it: upgrade, then move it back" if newer else ""
        known = f"while this version of depthlaw reads schema {SCHEMA}"
        raise ValueError(f"schema {schema!r}, {known}{advice}")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _what_is_wrong(body: dict[str, Any], seal: object, record: Record, name: str) -> str:
    """Why a file that reads as a record is not the record's file."""
    if seal != digest({key: value for key, value in body.items() if key != "seal"}):
        return "edited or damaged: its content does not match its seal"
    names = body.get("id"), body.get("result_hash"), name
    if names != (record.id, record.result_hash, f"{record.id}.json"):
        return "its id, its result hash or its file name does not match its content"
    return "not in canonical form"


@dataclass(frozen=True)
class SetAside:
    """A file that was moved out of `runs/` because it could not be trusted."""

    name: str
    moved_to: Path
    why: str


class Store:
    """The records of one results folder.

    Opening a store creates the folder, checks that it can be written, verifies every record in it
    (cost: one read and three hashes per record), and sets aside what does not verify. With
    `read_only` nothing is created, written or moved: what does not verify is only named, and a
    folder that does not exist has no records.

    Attributes:
        lacks: what is said of a case without a record; empty: what a run here would need.

    Raises:
        StoreError: when the folder cannot be used, or is not a results folder of depthlaw.
    """

    lacks = ""

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        self.root = root
        self.read_only = read_only
        self.set_aside: list[SetAside] = []
        self._records: dict[str, Record] = {}
        self._unsettled: list[Path] = []
        self._check_ownership()
        if not read_only:
            with _refusals(f"the results folder {root} cannot be written", _ANOTHER):
                for folder in ("runs", "tmp", "manifests"):
                    (root / folder).mkdir(parents=True, exist_ok=True)
                self.write(root / MARKER, b"A results folder of depthlaw.\n")
        self._load()

    def _check_ownership(self) -> None:
        """Refuse a folder of another program, and links out of it."""
        for link in (self.root / name for name in FOLDERS if (self.root / name).is_symlink()):
            raise StoreError(f"{link} is a link; a results folder holds real folders{_ANOTHER}")
        runs = self.root / "runs"
        with _refusals(f"the results folder {self.root} cannot be read", _ANOTHER):
            ours = (self.root / MARKER).is_file()
            foreign = runs.is_dir() and any(runs.iterdir()) and not ours
            held = [] if ours or self.read_only or not self.root.is_dir() else self.root.iterdir()
            other = next((path.name for path in held if path.name not in FOLDERS), "")
        if foreign:
            why = f"{runs} holds files of another program (no {MARKER} beside it)"
            raise StoreError(f"{why}{_ANOTHER}")
        if other:
            why = f"{self.root} holds {quoted(other)}, which depthlaw did not write"
            raise StoreError(f"{why}; choose a new or empty folder with --results DIR")

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def get(self, run_id: str) -> Record | None:
        """The verified record of a run, or None."""
        return self._records.get(run_id)

    def file_of(self, run_id: str) -> Path:
        """Where the record of a run lies."""
        return self.root / "runs" / run_id[:2] / f"{run_id}.json"

    def put(self, record: Record, *, settle: bool = True) -> None:
        """Write a record whole: temporary file, fsync, rename. A run that is already recorded keeps
        its first record.

        Args:
            settle: wait for the disk; otherwise `settle` does, later and for many at once. Until
                then the record survives whatever ends this process, and no power cut: a file that
                one damages is set aside, and its run done again.

        Raises:
            StoreError: when it cannot be written; nothing half-written remains in `runs/`.
        """
        if record.id in self._records:
            return
        path = self.file_of(record.id)
        safe = "; the records already there are safe"
        with _refusals(f"cannot write a record to {self.root}", safe):
            path.parent.mkdir(exist_ok=True)
            self.write(path, record.to_bytes(), settle=settle)
        self._records[record.id] = record

    def write_manifest(self, manifest: Mapping[str, Any]) -> Path:
        """Store a manifest under its own hash."""
        path = self.root / "manifests" / f"{manifest['hash']}.json"
        with _refusals(f"cannot write the manifest to {self.root}"):
            self.write(path, canonical(manifest) + b"\n")
        return path

    def write(self, path: Path, data: bytes, *, settle: bool = True) -> None:
        """Write a file of this folder whole: temporary file, fsync, rename, fsync of the folder."""
        temporary = self.root / "tmp" / f"{os.getpid()}-{uuid.uuid4().hex}"
        _write_whole(path, temporary, data, settle=settle)
        if settle:
            # Without it a power cut can lose the new name although the content is safe.
            _sync(path.parent)
        else:
            self._unsettled.append(path)

    def settle(self) -> None:
        """Wait until all that was written is on the disk; a StoreError where it is full or
        fails."""
        unsettled, self._unsettled = self._unsettled, []
        with _refusals(f"cannot write records to {self.root}"):
            folders = {folder for path in unsettled for folder in list(path.parents)[:2]}
            for path in (*unsettled, *sorted(folders)):
                with suppress(FileNotFoundError):  # set aside meanwhile
                    _sync(path)

    def _load(self) -> None:
        self._read(_files_below(str(self.root / "runs")))

    def _read(self, paths: Iterable[str]) -> None:
        """Verify and keep the records in these files; what is not there is passed over."""
        runs = str(self.root / "runs")
        for path in paths:
            name = os.path.basename(path)
            try:
                if not _NAME.fullmatch(name) and not os.path.islink(path):
                    raise ValueError("not a record: foreign name")
                record = Record.from_bytes(_content(path), name)
                if path != os.path.join(runs, name[:2], name):
                    raise ValueError("a copy outside its place")
            except FileNotFoundError:
                # Another driver on the same folder has just set it aside.
                continue
            except OSError as error:
                raise _unreadable(error, path) from None
            except ValueError as reason:
                self._move_aside(Path(path), str(reason))
                continue
            self._records[record.id] = record

    def _move_aside(self, path: Path, why: str) -> None:
        name = str(path.relative_to(self.root))
        target = self.root / "set-aside" / uuid.uuid4().hex[:8] / path.relative_to(self.root)
        if self.read_only:
            self.set_aside.append(SetAside(name, path, why))
            return
        with (
            _refusals(f"{name} is not to be trusted ({why}) and cannot be set aside"),
            suppress(FileNotFoundError),
        ):
            target.parent.mkdir(parents=True)
            path.replace(target)
            self.set_aside.append(SetAside(name, target, why))


class LazyStore(Store):
    """A results folder of which a record is read, and verified, only when it is asked for by its
    run's id; nothing is written. For commands that look at one claim."""

    def __init__(self, root: Path) -> None:
        self._seen: set[str] = set()
        super().__init__(root, read_only=True)

    def _load(self) -> None:
        pass

    def get(self, run_id: str) -> Record | None:
        """The verified record of a run, or None."""
        if run_id not in self._seen:
            self._seen.add(run_id)
            self._read([str(self.file_of(run_id))])
        return super().get(run_id)

    def __contains__(self, run_id: str) -> bool:
        return self.get(run_id) is not None


def open_store(folder: Path | None, *, read_only: bool = False, lazy: bool = False) -> Store:
    """The store of a results folder; by default depthlaw's folder among the user's data.

    Args:
        lazy: read only what is asked for, and write nothing.

    Raises:
        StoreError: when the folder cannot be used, or is to be read and does not exist although
            somebody named it.
    """
    if folder is not None and (read_only or lazy) and not folder.is_dir():
        what = f"the results folder {folder} {'is a file' if folder.exists() else 'does not exist'}"
        raise StoreError(f"{what}; give one that `depthlaw verify --results DIR` has written")
    if folder is None:
        from platformdirs import user_data_path

        folder = user_data_path("depthlaw") / "results"
    return LazyStore(folder) if lazy else Store(folder, read_only=read_only)


def write_file(file: Path, data: bytes) -> None:
    """Write a file outside a results folder whole, or not at all with a StoreError."""
    with _refusals(f"{file} cannot be written"):
        _write_whole(file, file.with_name(f".{file.name}.{uuid.uuid4().hex}"), data)


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_whole(file: Path, temporary: Path, data: bytes, *, settle: bool = True) -> None:
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            if settle:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def manifest(records: Iterable[Record]) -> dict[str, Any]:
    """What a paper cites: the sorted (id, result hash) pairs of a suite's runs, and a hash over
    them. No times, no machine facts.

    >>> manifest([])["hash"][:8]
    '4f53cda1'
    """
    runs = sorted([record.id, record.result_hash] for record in records)
    return {"schema": SCHEMA, "runs": runs, "hash": digest(runs)}


def broken_manifests(store: Store) -> list[list[str]]:
    """Manifests that do not match their hash or the records."""
    broken = []
    for path in sorted((store.root / "manifests").glob("*")):
        name = path.relative_to(store.root).as_posix()
        try:
            body = json.loads(path.read_bytes())
            runs = dict(body["runs"])
            if digest(body["runs"]) != body["hash"] or path.name != f"{body['hash']}.json":
                raise ValueError("its content does not match its hash")
            known = {run: r.result_hash for run in runs if (r := store.get(run))}
            wrong = next((run for run, result in known.items() if runs[run] != result), "")
            if wrong and body["schema"] == SCHEMA:
                raise ValueError(f"it lists another result for the recorded run {wrong[:10]}")
        except (OSError, KeyError, TypeError, AttributeError, RecursionError):
            broken.append([name, "not a manifest: truncated, foreign or unreadable"])
        except (json.JSONDecodeError, UnicodeDecodeError):
            broken.append([name, "not a manifest"])
        except ValueError as reason:
            broken.append([name, str(reason)])
    return broken


def _files_below(folder: str) -> Iterator[str]:
    """Every file and link below a folder, in a fixed order, as plain strings: there may be a
    hundred thousand. A StoreError where one cannot be listed: its records are not missing."""

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise _unreadable(error, error.filename) from None

    for here, folders, files in os.walk(folder, onerror=unreadable):
        folders.sort()
        # Links to folders are not followed, and are as foreign as any other link.
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        yield from (os.path.join(here, name) for name in sorted([*files, *links]))


def _unreadable(error: OSError, path: str) -> StoreError:
    advice = "fix its permissions or choose another --results DIR"
    return StoreError(f"cannot read {path} ({error.strerror}); {advice}")


def _content(path: str) -> bytes:
    """The content of a regular file; links are not followed, and a pipe is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise ValueError("not a regular file") from None
        raise error
    try:
        # Of what was opened: another file may stand under its name by now.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("not a regular file")
        if facts.st_size > LARGEST:
            raise ValueError("not a record: too large")
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(descriptor)
