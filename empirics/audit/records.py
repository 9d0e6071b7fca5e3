"""Measurements on disk, so that an audit that was interrupted goes on where it stopped.

A measurement is one file of canonical JSON, named by the SHA-256 of all that decides its values:
measure, variant and options, routes or questions, the model (weights, class, configuration), the
documents, the seed, and the versions of torch, transformers and this package.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import AuditError
from .documents import outcomes
from .layered import LayeredModel, digest
from .measures import MEASURES, Values, groups, measure_all

if TYPE_CHECKING:
    from .documents import Documents
    from .layered import Route

Kind = TypeVar("Kind")

# Options that a measure depends on; the others do not enter its key.
_OPTIONS = {
    "angular_distance": ("sizes",),
    "removal": ("sizes",),
    "repeat": ("sizes", "times"),
    "swap": ("sizes",),
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
    names = {id(module): name for name, module in model.net.named_modules()}
    what = [
        f"{type(model.net).__module__}.{type(model.net).__qualname__}",
        json.dumps(told, sort_keys=True, default=str),
        *(f"{names.get(id(one))}: {type(one).__qualname__}" for one in model.layers),
        str(model.causal),
        digest(model.net),
    ]
    return hashlib.sha256("\n".join(what).encode()).hexdigest()


def named_code(model: LayeredModel) -> bool:
    """Whether `versions` names the code of the model, as that of transformers: what any other class
    computes may change while its name and weights stay."""
    return type(model.net).__module__.partition(".")[0] in ("transformers", "depthlaw")


@dataclass(frozen=True, eq=False)
class Store:
    """A folder of measurements. Nothing half-written stands under a measurement's name.

    While a measurement runs, what is done of it is kept for a few documents at a time, and removed
    when the whole is kept.

    Attributes:
        folder: is made when the first measurement is kept.
        damaged: files that did not read back; each was renamed to NAME.damaged and is made anew.
        hits, made: measurements that were read, and those that were run, since the store was
            opened.
        resumed: of those that were run, the parts that were read.
    """

    folder: Path
    damaged: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)

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
        known = {key: self._read(key, _values) for key in dict.fromkeys(keys)}
        self.hits.extend(key for key, values in known.items() if values is not None)
        missing = {
            pair: (key, one)
            for key, one, pair in zip(keys, inputs, asked, strict=True)
            if known[key] is None
        }
        for group in groups(list(missing)):
            parts = _Parts(self, {"parts of": [missing[pair][1] for pair in group]})
            ran = measure_all(model, documents, group, parts=parts, **options)
            for pair, values in zip(group, ran, strict=True):
                key, one = missing[pair]
                self._write(key, one, _plain(values))
                self.made.append(key)
                known[key] = values
            parts.remove()
        return [found for key in keys if (found := known[key]) is not None]

    def losses(
        self,
        model: LayeredModel,
        documents: Documents,
        routes: Sequence[Route],
        tick: Callable[[int], object] = lambda documents: None,
    ) -> np.ndarray:
        """The loss of each route on each document, see `outcomes`."""
        inputs = {
            "routes": [[(step.layer, step.scale) for step in route] for route in routes],
            "model": model_hash(model),
            "documents": documents.sha256,
            "versions": versions(),
        }
        parts = _Parts(self, {"parts of": [inputs]})
        found = self._kept(
            inputs, lambda: outcomes(model, documents, routes, ("loss",), tick, parts)["loss"]
        )
        parts.remove()
        return found

    def answers(
        self,
        weights: str,
        asked: str,
        route: Route | None,
        make: Callable[[], np.ndarray],
    ) -> np.ndarray:
        """Of each question whether it was answered right.

        Args:
            weights: hash of the model.
            asked: hash of the tokens of all questions and candidates.
            route: that the model ran on; None for the whole.
            make: asks them.
        """
        steps = None if route is None else [(step.layer, step.scale) for step in route]
        inputs = {"answers to": asked, "route": steps, "model": weights, "versions": versions()}
        return self._kept(inputs, make) > 0

    def _kept(self, inputs: dict[str, Any], make: Callable[[], np.ndarray]) -> np.ndarray:
        """An array, read where it is known."""
        key = key_of(inputs)
        found = self._read(key, _array)
        if found is not None:
            self.hits.append(key)
            return found
        found = np.asarray(make(), dtype=np.float64)
        self._write(key, inputs, found.tolist())
        self.made.append(key)
        return found

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

    def _read(self, key: str, made: Callable[[Any], Kind]) -> Kind | None:
        path = self.folder / f"{key}.json"
        try:
            stored = json.loads(path.read_bytes())
            body = {name: stored[name] for name in ("inputs", "values")}
            if stored["sha256"] != _sha256(body) or key_of(body["inputs"]) != key:
                raise ValueError
            return made(body["values"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            aside = path.with_name(f"{path.name}.damaged")
            path.replace(aside)
            self.damaged.append(aside.name)
            return None
        except OSError as error:
            raise _unusable(self.folder, error) from None

    def _write(self, key: str, inputs: dict[str, Any], values: Any) -> None:
        body = {"inputs": inputs, "values": values}
        text = canonical({**body, "sha256": _sha256(body)})
        path = self.folder / f"{key}.json"
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(text)
            part.replace(path)
        except OSError as error:
            raise _unusable(self.folder, error) from None


@dataclass(frozen=True, eq=False)
class _Parts:
    """Columns of a measurement that runs, a file for every few documents."""

    store: Store
    inputs: dict[str, Any]
    keys: list[str] = field(default_factory=list)

    def read(self, rows: slice) -> list[np.ndarray] | None:
        self.keys.append(key_of(self._of(rows)))
        found = self.store._read(self.keys[-1], lambda told: [_array(one) for one in told])
        if found is not None:
            self.store.resumed.append(self.keys[-1])
        return found

    def write(self, rows: slice, columns: list[np.ndarray]) -> None:
        # What is not finite is refused, or is of a part that not every layer has.
        if all(np.isfinite(one).all() for one in columns):
            inputs = self._of(rows)
            self.store._write(key_of(inputs), inputs, [one.tolist() for one in columns])

    def remove(self) -> None:
        for key in self.keys:
            (self.store.folder / f"{key}.json").unlink(missing_ok=True)

    def _of(self, rows: slice) -> dict[str, Any]:
        return self.inputs | {"rows": [rows.start, rows.stop]}


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


def _array(told: Any) -> np.ndarray:
    return np.array(told, dtype=np.float64)


def _values(told: dict[str, Any]) -> Values:
    index = tuple(tuple(what) if isinstance(what, list) else what for what in told["index"])
    arrays = {
        name: None if told[name] is None else _array(told[name])
        for name in ("per_document", "baseline")
    }
    return Values(**told | {"index": index} | arrays)


def _unusable(folder: Path, error: OSError) -> AuditError:
    reason = error.strerror or type(error).__name__
    return AuditError(f"{folder} cannot keep measurements: {reason}; give another folder")
