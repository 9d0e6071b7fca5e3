"""Records: one canonical-JSON file per run, written whole, named by the hash of its inputs, sealed by a hash of its content.

A results folder holds `runs/<first two>/<id>.json`, `manifests/`, `certificates/`, `cache/` (decisions, derived), `tmp/` (writes in
flight) and `set-aside/` (files that could not be trusted; they are moved there, named in a message, and never deleted). Nothing else
is touched, and a folder without depthlaw's marker whose `runs/` is not empty is refused.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from depthlaw.theory.measurement import Ball, Exact, Measured, Sample, Step

from .budget import UsageError

SCHEMA = 1
MARKER = "depthlaw-results"
FOLDERS = ("runs", "tmp", "manifests", "set-aside", "cache", "certificates")
# No record comes near this; a larger file is not read into memory to find out.
LARGEST = 64 * 2**20
_NAME = re.compile(r"[0-9a-f]{64}\.json")

Result = Measured | tuple[Step, ...]


class StoreError(UsageError):
    """A results folder that cannot be used; the message is one line for people."""


def canonical(value: object) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8, no NaN.

    >>> canonical({"b": 1, "a": [True, "x"]})
    b'{"a":[true,"x"],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest(value: object) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def encode(result: Result) -> dict[str, Any]:
    """A measured value, or the steps of a machine-checked argument, as JSON. Exact numbers become decimal strings.

    >>> encode(Exact(Fraction(1, 3)))
    {'exact': '1/3'}
    """
    if isinstance(result, Exact):
        return {"exact": _written(result.value)} | ({"misses": result.misses} if result.misses else {})
    if isinstance(result, Ball):
        return {"ball": [_written(result.low), _written(result.high)]}
    if isinstance(result, Sample):
        return {"sample": list(result.values), "statistic": result.statistic}
    return {"proof": [[step.says, step.holds] for step in result]}


def decode(data: Mapping[str, Any]) -> Result:
    """The inverse of `encode`.

    Raises:
        ValueError, KeyError, TypeError: when the data are not of that form.

    >>> decode({"exact": "12", "misses": 1e-9})
    Exact(value=12, misses=1e-09)
    """
    if "exact" in data:
        value = _read(data["exact"])
        return Exact(int(value) if value.denominator == 1 else value, float(data.get("misses", 0.0)))
    if "ball" in data:
        low, high = data["ball"]
        return Ball(_read(low), _read(high))
    if "sample" in data:
        return Sample(tuple(float(v) for v in data["sample"]), data["statistic"])
    return tuple(Step(str(says), holds) for says, holds in data["proof"])


_NUMBER = re.compile(r"-?(\d{1,4000}|0x[0-9a-f]+)(/(\d{1,4000}|0x[0-9a-f]+))?", re.ASCII)


def _written(value: Fraction | int) -> str:
    """A rational number as text: decimal, or hexadecimal where Python refuses to print so many decimal digits."""
    parts = (value.numerator, value.denominator)[: 1 if value.denominator == 1 else 2]
    return "/".join(str(n) if n.bit_length() < 13000 else hex(n) for n in parts)


def _read(text: str) -> Fraction:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise ValueError("not a rational number in the form of a record")
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 16 if "x" in top else 10), int(bottom, 16 if "x" in bottom else 10) if bottom else 1)


@dataclass(frozen=True)
class Record:
    """What one run found.

    Attributes:
        inputs: claim key, case, seed, what is run, code digest, device class: everything that determines the result.
        result: the encoded result.
        facts: environment and timing; never part of the id, of the result hash, or of a manifest.
    """

    inputs: Mapping[str, Any]
    result: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """SHA-256 of the inputs."""
        return digest(self.inputs)

    @property
    def result_hash(self) -> str:
        """SHA-256 of the id and the result."""
        return digest([self.id, self.result])

    def to_bytes(self) -> bytes:
        """The file's content."""
        body = {"schema": SCHEMA, "id": self.id, "inputs": self.inputs, "result": self.result,
                "result_hash": self.result_hash, "facts": self.facts}
        return canonical(body | {"seal": digest(body)}) + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Record:
        """Read a record and verify every hash in it.

        Raises:
            ValueError: with the reason, when the file is truncated, edited, foreign, or from another schema.
        """
        try:
            body = json.loads(data)
            seal = body.pop("seal")
            schema = body["schema"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ValueError("not a record: truncated or foreign") from None
        if schema != SCHEMA:
            raise ValueError(f"schema {schema!r}; this version of depthlaw reads schema {SCHEMA}")
        if seal != digest(body):
            raise ValueError("edited or damaged: its content does not match its seal")
        try:
            record = cls(body["inputs"], body["result"], body["facts"])
            decode(record.result)
        except (ValueError, KeyError, TypeError, ZeroDivisionError, OverflowError):
            raise ValueError("sealed, but its result is not of a known form") from None
        if body["id"] != record.id or body["result_hash"] != record.result_hash or name != f"{record.id}.json":
            raise ValueError("its id, its result hash or its file name does not match its content")
        if data != record.to_bytes():
            raise ValueError("not in canonical form")
        return record


@dataclass(frozen=True)
class SetAside:
    """A file that was moved out of `runs/` because it could not be trusted."""

    name: str
    moved_to: Path
    why: str


class Store:
    """The records of one results folder.

    Opening a store creates the folder, checks that it can be written, verifies every record in it (cost: one read and three hashes per
    record), and sets aside what does not verify. With `read_only` nothing is created, written or moved: what does not verify is only
    named, and a folder that does not exist has no records.

    Raises:
        StoreError: when the folder cannot be used, or is not a results folder of depthlaw.
    """

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        self.root = root
        self.read_only = read_only
        self.set_aside: list[SetAside] = []
        self._records: dict[str, Record] = {}
        self._check_ownership()
        if not read_only:
            self._prepare()
        self._load()

    def _check_ownership(self) -> None:
        """Refuse a folder whose `runs` belongs to another program, and links that lead out of it: files are moved in here."""
        for name in FOLDERS:
            if (self.root / name).is_symlink():
                raise StoreError(f"{self.root / name} is a link; a results folder holds real folders, choose another with --results DIR")
        runs = self.root / "runs"
        try:
            foreign = runs.is_dir() and any(runs.iterdir()) and not (self.root / MARKER).is_file()
        except OSError as error:
            raise StoreError(f"the results folder {self.root} cannot be read ({error.strerror}); choose another with --results DIR") from None
        if foreign:
            raise StoreError(f"{runs} holds files of another program (no {MARKER} beside it); choose another folder with --results DIR")

    def _prepare(self) -> None:
        try:
            for folder in ("runs", "tmp", "manifests"):
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            self.write(self.root / MARKER, b"A results folder of depthlaw.\n")
        except OSError as error:
            raise StoreError(f"the results folder {self.root} cannot be written ({error.strerror}); choose another with --results DIR") from None

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def get(self, run_id: str) -> Record | None:
        """The verified record of a run, or None."""
        return self._records.get(run_id)

    def put(self, record: Record) -> None:
        """Write a record whole: temporary file, fsync, rename. A run that is already recorded keeps its first record.

        Raises:
            StoreError: when the disk is full or the folder has become unwritable; nothing half-written remains in `runs/`.
        """
        if record.id in self._records:
            return
        path = self._path(record.id)
        try:
            path.parent.mkdir(exist_ok=True)
            self.write(path, record.to_bytes())
        except OSError as error:
            raise StoreError(f"cannot write a record to {self.root} ({error.strerror}); the records already there are safe") from None
        self._records[record.id] = record

    def write_manifest(self, manifest: Mapping[str, Any]) -> Path:
        """Store a manifest under its own hash."""
        path = self.root / "manifests" / f"{manifest['hash']}.json"
        try:
            self.write(path, canonical(manifest) + b"\n")
        except OSError as error:
            raise StoreError(f"cannot write the manifest to {self.root} ({error.strerror})") from None
        return path

    def _path(self, run_id: str) -> Path:
        return self.root / "runs" / run_id[:2] / f"{run_id}.json"

    def write(self, path: Path, data: bytes) -> None:
        """Write a file of this folder whole: temporary file, fsync, rename, fsync of the folder."""
        temporary = self.root / "tmp" / f"{os.getpid()}-{uuid.uuid4().hex}"
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        # Without syncing the folder a power cut can lose the new name although the content is safe.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _load(self) -> None:
        for path in sorted((self.root / "runs").rglob("*")):
            if path.is_dir() and not path.is_symlink():
                continue
            try:
                if path.is_symlink() or not path.is_file():
                    raise ValueError("not a regular file")
                if not _NAME.fullmatch(path.name):
                    raise ValueError("not a record: foreign name")
                if path.stat().st_size > LARGEST:
                    raise ValueError("not a record: too large")
                record = Record.from_bytes(path.read_bytes(), path.name)
                if path != self._path(record.id):
                    raise ValueError("a copy outside its place")
            except FileNotFoundError:
                # Another driver on the same folder has just set it aside.
                continue
            except OSError as error:
                raise StoreError(f"cannot read {path} ({error.strerror}); fix its permissions or choose another --results DIR") from None
            except ValueError as reason:
                self._move_aside(path, str(reason))
                continue
            self._records[record.id] = record

    def _move_aside(self, path: Path, why: str) -> None:
        name = str(path.relative_to(self.root))
        target = self.root / "set-aside" / uuid.uuid4().hex[:8] / path.relative_to(self.root)
        if self.read_only:
            self.set_aside.append(SetAside(name, path, why))
            return
        try:
            target.parent.mkdir(parents=True)
            path.replace(target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{name} is not to be trusted ({why}) and cannot be set aside ({error.strerror})") from None
        self.set_aside.append(SetAside(name, target, why))


def manifest(records: Iterable[Record]) -> dict[str, Any]:
    """What a paper cites: the sorted (id, result hash) pairs of a suite's runs, and a hash over them. No times, no machine facts.

    >>> manifest([])["hash"][:8]
    '4f53cda1'
    """
    runs = sorted([record.id, record.result_hash] for record in records)
    return {"schema": SCHEMA, "runs": runs, "hash": digest(runs)}
