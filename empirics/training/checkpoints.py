"""Checkpoints of a training run: tensors as safetensors, the rest as JSON, each file written whole;
nothing is ever unpickled.

A folder holds `checkpoint.json` and the one `state-<step>.safetensors` that it names with its
SHA-256. The tensors are written first and
the JSON file is renamed last: a process that is killed at any moment leaves the older checkpoint or
the newer one, complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

FORMAT = "depthlaw-checkpoint-1"
_STATE = re.compile(r"state-\d{1,12}\.safetensors", re.ASCII)
_PART = re.compile(r"(state-\d{1,12}\.safetensors|checkpoint\.json)\.\d+\.part", re.ASCII)


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message is one line for people."""


def fingerprint(value: object) -> str:
    """SHA-256 of a JSON value with sorted keys: what a run is, so that no other run resumes from
    its checkpoint."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def write(
    folder: Path, run: str, step: int, tensors: Mapping[str, Tensor], counters: Mapping[str, Any]
) -> None:
    """Write a checkpoint of the run of that fingerprint, after so many steps, and remove the older
    one. Counters are JSON values without nan; floats come back bit for bit.

    Raises:
        CheckpointError: where the folder cannot be written; the older checkpoint stays.
    """
    data = save(
        {name: t.detach().to("cpu").contiguous() for name, t in tensors.items()},
        metadata={"format": FORMAT, "run": run},
    )
    name = f"state-{step}.safetensors"
    body = {
        "format": FORMAT,
        "run": run,
        "step": step,
        "state": name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "counters": dict(counters),
    }
    text = _sealed(body)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / name, data)
        _replace(folder / "checkpoint.json", text)
        for path in folder.iterdir():
            if path.name != name and (_STATE.fullmatch(path.name) or _PART.fullmatch(path.name)):
                path.unlink()
    except OSError as error:
        raise CheckpointError(
            f"cannot write a checkpoint to {folder} ({error.strerror}); an older one there is safe"
        ) from None


def read(folder: Path, run: str) -> tuple[int, dict[str, Tensor], dict[str, Any]] | None:
    """The checkpoint of a run: (steps done, tensors on the CPU, counters); None where the folder
    has none.

    Raises:
        CheckpointError: where there is one, but truncated, altered, or of another run.
    """
    path = folder / "checkpoint.json"
    if not path.exists():
        return None
    try:
        text = path.read_bytes()
        body = json.loads(text)
        del body["seal"]
        state = str(body["state"])
        if text != _sealed(body) or body["format"] != FORMAT or not _STATE.fullmatch(state):
            raise ValueError
        of_run, step, sha, counters = (
            str(body["run"]),
            int(body["step"]),
            str(body["sha256"]),
            dict(body["counters"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CheckpointError(
            f"{path} is truncated, altered or no checkpoint of this version; "
            "remove the folder to start again"
        ) from None
    if of_run != run:
        raise CheckpointError(
            f"{path} belongs to a run with another shape, task, settings or "
            "device; give each run a folder of its own"
        )
    return step, _tensors(folder / state, sha), counters


def _sealed(body: dict[str, Any]) -> bytes:
    return json.dumps(body | {"seal": fingerprint(body)}, allow_nan=False, indent=1).encode()


def _tensors(path: Path, sha: str) -> dict[str, Tensor]:
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() == sha:
            return load(data)
    except (OSError, SafetensorError, ValueError, KeyError):
        pass
    raise CheckpointError(
        f"{path} is missing, truncated or altered; remove the folder to start again"
    )


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole: temporary file, fsync, rename, fsync of the folder."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
