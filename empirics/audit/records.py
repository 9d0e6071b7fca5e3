"""Measurements on disk, so that an audit that was interrupted goes on where it stopped.

A measurement is one file of canonical JSON, named by the SHA-256 of all that decides its values:
measure, variant and options, the model (weights, class, configuration), the documents, the seed,
and the versions of torch, transformers and this package.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import AuditError
from .layered import LayeredModel, digest
from .measures import MEASURES, Values, groups, measure_all

if TYPE_CHECKING:
    from .documents import Documents

# Options that a measure depends on; the others do not enter its key.
_OPTIONS = {
    "angular_distance": ("sizes",),
    "removal": ("sizes",),
    "repeat": ("sizes", "times"),
    "path_length": ("draws", "seed"),
}


@functools.cache
def versions() -> dict[str, str]:
    """Of what computes: torch, transformers where it is installed, and this package."""
    found = {}
    for name in ("depthlaw", "torch", "transformers"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def model_hash(model: LayeredModel) -> str:
    """SHA-256 of a model: its weights, see `digest`, its class, configuration, and layers."""
    config: Any = getattr(model.net, "config", None)
    told = config.to_dict() if hasattr(config, "to_dict") else {}
    # Where it was loaded from, and by which version it was saved, change no number.
    for key in ("_name_or_path", "transformers_version", "use_cache", "architectures"):
        told.pop(key, None)
    what = [
        f"{type(model.net).__module__}.{type(model.net).__qualname__}",
        json.dumps(told, sort_keys=True, default=str),
        *(type(layer).__qualname__ for layer in model.layers),
        str(model.causal),
        digest(model.net),
    ]
    return hashlib.sha256("\n".join(what).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Store:
    """A folder of measurements. Nothing half-written stands under a measurement's name.

    Attributes:
        folder: is made when the first measurement is kept.
        damaged: files that did not read back; each was renamed to NAME.damaged and is made anew.
        hits, made: measurements that were read, and those that were run, since the store was
            opened.
    """

    folder: Path
    damaged: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def measured(
        self,
        model: LayeredModel,
        documents: Documents,
        asked: Sequence[tuple[str, str]],
        **options: Any,
    ) -> list[Values]:
        """What `measure_all` gives, read where it is known. What is not runs group by group, see
        `groups`, and each group is kept as soon as it is done.

        Raises:
            AuditError: as `measure_all` does, and for a folder that cannot be written.
        """
        weights, data = model_hash(model), documents.sha256
        inputs = [self.inputs(weights, data, key, variant, options) for key, variant in asked]
        keys = [key_of(one) for one in inputs]
        known = {key: self._read(key) for key in dict.fromkeys(keys)}
        self.hits.extend(key for key, values in known.items() if values is not None)
        missing = {
            pair: (key, one)
            for key, one, pair in zip(keys, inputs, asked, strict=True)
            if known[key] is None
        }
        for group in groups(list(missing)):
            for pair, values in zip(
                group, measure_all(model, documents, group, **options), strict=True
            ):
                key, one = missing[pair]
                self._write(key, one, values)
                self.made.append(key)
                known[key] = values
        return [found for key in keys if (found := known[key]) is not None]

    def inputs(
        self, weights: str, documents: str, key: str, variant: str, options: dict[str, Any]
    ) -> dict[str, Any]:
        """All that decides a measurement."""
        if key not in MEASURES:
            raise AuditError(f"measure {key!r} is not known; accepted are {', '.join(MEASURES)}")
        chosen: dict[str, Any] = {"sizes": [1], "times": 2, "draws": 4, "seed": 0} | options
        chosen["sizes"] = list(chosen["sizes"])
        return {
            "measure": key,
            "variant": variant or next(iter(MEASURES[key].variants)),
            "options": {name: chosen[name] for name in _OPTIONS.get(key, ())},
            "model": weights,
            "documents": documents,
            "versions": versions(),
        }

    def _read(self, key: str) -> Values | None:
        path = self.folder / f"{key}.json"
        try:
            stored = json.loads(path.read_bytes())
            body = {name: stored[name] for name in ("inputs", "values")}
            if stored["sha256"] != _sha256(body) or key_of(body["inputs"]) != key:
                raise ValueError
            return _values(body["values"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            aside = path.with_name(f"{path.name}.damaged")
            path.replace(aside)
            self.damaged.append(aside.name)
            return None
        except OSError as error:
            raise _unusable(self.folder, error) from None

    def _write(self, key: str, inputs: dict[str, Any], values: Values) -> None:
        body = {"inputs": inputs, "values": _plain(values)}
        text = canonical({**body, "sha256": _sha256(body)})
        path = self.folder / f"{key}.json"
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(text)
            part.replace(path)
        except OSError as error:
            raise _unusable(self.folder, error) from None


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and without spaces; every float reads back as it was."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def key_of(inputs: dict[str, Any]) -> str:
    """SHA-256 of all that decides a measurement."""
    return _sha256(inputs)


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _plain(values: Values) -> dict[str, Any]:
    told = asdict(values)
    for name in ("per_document", "baseline"):
        if told[name] is not None:
            told[name] = told[name].tolist()
    return told


def _values(told: dict[str, Any]) -> Values:
    index = tuple(tuple(what) if isinstance(what, list) else what for what in told["index"])
    arrays = {
        name: None if told[name] is None else np.array(told[name], dtype=np.float64)
        for name in ("per_document", "baseline")
    }
    return Values(**told | {"index": index} | arrays)


def _unusable(folder: Path, error: OSError) -> AuditError:
    reason = error.strerror or type(error).__name__
    return AuditError(f"{folder} cannot keep measurements: {reason}; give another folder")
